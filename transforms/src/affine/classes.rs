//! Classes of equal values that are not affine. Each class has one name, so forms built from its
//! members compare equal.
//!
//! A value that is not affine is known by the operation that computes it. Sums, differences and
//! products of words are equal if they are equal as polynomials modulo 2 to the power of the width.
//! Other pure operations are equal if they agree in kind and attributes and their operands are
//! equal. The first member met is the name of a class, if its block surrounds the other member.
//! Forms are requested in the order of the text, so the name is computed before each use.
//!
//! Remaining values are passed to equality saturation ([`Saturation`]), if a few sample inputs
//! suggest that the value equals another value, one of its own operands or a number. Nearly every
//! attempted proof therefore succeeds.
//!
//! Poison: a name may replace the value, so it must not be poison where the value is not. Every
//! cause that may make the name's expression poison (including flags) must be a certain cause of
//! poison for the value. For a selection only the condition is a certain cause.
//!
//! # Assumptions
//!
//! - A frozen value is another number each time, so it has a class of its own.
//!
//! **Cost.** A value's expression is walked to at most 32 operations. At most 24 proofs are tried,
//! each within the limits of a saturation.
//!
//! # Limits
//!
//! - Expressions are compared by proofs of bounded size, at most 24 for each block.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{LoopLike, ParallelLike};
use loomir_dialects::{llvm, memref, ub};
use loomir_ir::attributes::Dict;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AttrKind, Body, Name, Op, Trait, Type, Value, ValueDef};

use super::operation::{Binary, Operation, has_flags};
use super::range::{Range, fits, width};
use super::saturation::Saturation;
use super::word::{Expression, Word};
use super::{AffineForm, Atom, Forms};

/// The maximal number of operations of an expression to examine.
const MAX_EXPRESSION: usize = 32;

/// The computation of a value: equal keys are equal values.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Key {
    /// A polynomial modulo 2 to the power of a width.
    Ring(AffineForm, u32),
    /// An operation, by its name, with attributes, the type of its result and operands.
    Alike(Name, [Dict; 2], Type, Vec<Operand>),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Operand {
    Word(AffineForm, u32),
    Other(Value),
}

/// Most proofs that are tried.
const MAX_PROOFS: usize = 24;
/// The number of inputs on which expressions are evaluated before a proof is tried.
const TRIALS: u64 = 4;
/// The distance of the greatest sample of a leaf from the least one, at most.
const MOST_SAMPLED: i128 = 96;

/// The values of an expression of some width for a few sample inputs.
type Print = (u32, [Option<i64>; TRIALS as usize]);

/// The names of the classes. See the [module](self).
#[derive(Default)]
pub(super) struct Classes {
    names: HashMap<Key, Vec<Member>>,
    /// Forms of expressions.
    printed: HashMap<Print, Vec<(Member, Expression)>>,
    /// Shared with other blocks, because its rules are parsed once.
    pub(super) saturation: Arc<Saturation>,
    proofs: usize,
}

/// The representative of a class, and its causes of poison.
#[derive(Clone)]
struct Member {
    form: AffineForm,
    /// The values that may make it poison: it is poison only if one of these is.
    may: HashSet<Value>,
    /// The values that certainly make it poison: if one of these is poison, so is it.
    must: HashSet<Value>,
}

impl Forms<'_> {
    /// Returns the form of a value that is a parameter and does not look affine: the name of its
    /// class, or a proved equal form.
    pub(super) fn name(&mut self, value: Value, fuel: usize) -> AffineForm {
        let body = self.body;
        let own = AffineForm::atom(Atom::Param(value));
        let key = body.defining_op(value).filter(|_| fuel > 0).and_then(|op| self.key(op, value, fuel - 1));
        let Some(key) = key else {
            self.named.push(value);
            return own;
        };
        let member = Member::of(body, value, own.clone());
        let names = self.classes.names.get(&key);
        if let Some(name) =
            names.into_iter().flatten().find(|name| name.stands_for(value, &member.must, body))
        {
            return name.form.clone();
        }
        let expression = self.expression(value, fuel);
        let found = expression.and_then(|expression| self.proved(value, expression, member.clone(), fuel));
        let form = found.unwrap_or_else(|| {
            self.named.push(value);
            own
        });
        let member = Member { form: form.clone(), ..member };
        self.classes.names.entry(key).or_default().push(member);
        form
    }

    /// Records that a value has a form made of other values' names, as a candidate for equality
    /// proofs.
    pub(super) fn note(&mut self, value: Value, form: &AffineForm, fuel: usize) {
        let body = self.body;
        let is_computed = |value: &Value| {
            let op = body.defining_op(*value).and_then(|op| Operation::of(body, op));
            matches!(op, Some(Operation::Binary(_)))
        };
        let mut names = HashSet::new();
        form.each_parameter(&mut |name| _ = names.insert(name));
        let is_sum = form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)));
        if form.terms().len() + form.constant_part().signum().unsigned_abs() as usize > 1
            && is_sum
            && names.iter().any(is_computed)
            && fuel > 0
            && let Some(expression) = self.expression(value, fuel)
        {
            let mut member = Member::of(body, value, form.clone());
            form.each_parameter(&mut |name| member.may.extend(leaves(body, name, Poison::Possible)));
            self.proved(value, expression, member, fuel);
        }
    }

    fn expression(&mut self, value: Value, fuel: usize) -> Option<Expression> {
        let body = self.body;
        let look_into = |op: Op| !may_make_poison(body, op);
        // The form of the value itself is just being computed.
        let mut form_of = |other: Value| match other == value {
            true => self.memo.get(&other).cloned().flatten(),
            false => self.form(other, fuel.saturating_sub(1)),
        };
        Expression::of(body, value, &look_into, &mut form_of)
    }

    /// Returns the form that an expression is proved equal to: a number, one of its leaves, or an
    /// earlier expression. If there is none, the expression becomes a candidate for later ones.
    fn proved(
        &mut self,
        value: Value,
        expression: Expression,
        member: Member,
        fuel: usize,
    ) -> Option<AffineForm> {
        let leaves: Vec<Value> = expression.leaves.clone();
        // A leaf of another width that does not fit is truncated.
        let whole = (-(1i128 << (expression.width - 1)), (1i128 << (expression.width - 1)) - 1);
        let range =
            |leaf: &Value| Some(self.range(*leaf, fuel)).filter(|range| fits(*range, expression.width));
        let known: Vec<Option<Range>> = leaves.iter().map(range).collect();
        let ranges: Vec<Range> = known.iter().map(|range| range.unwrap_or(whole)).collect();
        let sample = |trial: u64, leaf: u32| sample(leaves[leaf as usize], ranges[leaf as usize], trial);
        let trials: [u64; TRIALS as usize] = std::array::from_fn(|trial| trial as u64);
        let print = trials.map(|trial| expression.evaluate(&|leaf| sample(trial, leaf)));
        let first = print[0]?;
        if print.iter().all(|found| *found == Some(first))
            && self.are_equal(&expression, vec![Word::Number(first)], &ranges)
        {
            return Some(AffineForm::constant(first));
        }
        let body = self.body;
        let leaves_of = |leaf: u32| self::leaves(body, leaves[leaf as usize], Poison::Possible);
        for leaf in 0..leaves.len() as u32 {
            let form = AffineForm::atom(Atom::Param(leaves[leaf as usize]));
            let is_it = trials.iter().all(|trial| print[*trial as usize] == Some(sample(*trial, leaf)));
            let fits = known[leaf as usize].is_some();
            if is_it
                && fits
                && form != member.form
                && leaves_of(leaf).is_subset(&member.must)
                && self.are_equal(&expression, vec![Word::Leaf(leaf)], &ranges)
            {
                return self.form(leaves[leaf as usize], fuel);
            }
        }
        let key = (expression.width, print);
        let mut candidates = self.classes.printed.remove(&key).unwrap_or_default();
        let found = candidates.iter().find(|(name, other)| {
            let stands = name.stands_for(value, &member.must, body);
            let nodes = stands.then(|| other.over(&expression.leaves)).flatten();
            nodes.is_some_and(|nodes| name.form == member.form || self.are_equal(&expression, nodes, &ranges))
        });
        let found = found.map(|(name, _)| name.form.clone());
        if found.is_none() {
            candidates.push((member, expression));
        }
        self.classes.printed.insert(key, candidates);
        found
    }

    fn are_equal(&mut self, a: &Expression, b: Vec<Word>, leaves: &[Range]) -> bool {
        if self.classes.proofs >= MAX_PROOFS {
            return false;
        }
        self.classes.proofs += 1;
        self.classes.saturation.are_equal(a, &b.into(), leaves.to_vec())
    }

    fn key(&mut self, op: Op, value: Value, fuel: usize) -> Option<Key> {
        let body = self.body;
        if is_ring(Operation::of(body, op)) {
            return Some(Key::Ring(self.congruent(value, fuel)?, width(body, value)));
        }
        if !is_computed(body, op) {
            return None;
        }
        let mut operands = Vec::with_capacity(body.num_operands(op));
        for operand in body.operands(op) {
            let is_word = super::operation::width(body, operand).is_some();
            let form = if is_word { self.congruent(operand, fuel) } else { None };
            operands
                .push(form.map_or(Operand::Other(operand), |form| Operand::Word(form, width(body, operand))));
        }
        if body.has_trait(op, Trait::Commutative) {
            operands.sort_by(Operand::order);
        }
        Some(Key::Alike(
            body.info(op).name(),
            [body.properties(op), body.attributes(op)],
            body.value_type(value),
            operands,
        ))
    }
}

impl Member {
    fn of(body: &Body, value: Value, form: AffineForm) -> Member {
        let [may, must] = [Poison::Possible, Poison::Certain].map(|how| leaves(body, value, how));
        Member { form, may, must }
    }

    /// True if it may replace an equal value that is poison if one of `must` is.
    fn stands_for(&self, other: Value, must: &HashSet<Value>, body: &Body) -> bool {
        let outwards = |block: &_| body.block_of(body.region_parent(body.block_region(*block)));
        let mut around = true;
        self.form.each_parameter(&mut |name| {
            let block = body.value_block(name);
            let mut blocks = std::iter::successors(body.value_block(other), outwards);
            around &= blocks.any(|outer| Some(outer) == block);
        });
        around && self.may.is_subset(must)
    }
}

/// Returns a sample number for a leaf: one near zero if possible, so that little wraps.
fn sample(leaf: Value, (lower, upper): Range, trial: u64) -> i64 {
    let least = if upper < 0 { lower.max(upper - MOST_SAMPLED) } else { lower.max(0) };
    let mixed = (leaf.index() as u64 * 31 + trial + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let most = (upper - least).min(MOST_SAMPLED);
    (least + i128::from(mixed >> 33) % (most + 1)) as i64
}

impl Operand {
    fn order(&self, other: &Operand) -> std::cmp::Ordering {
        match (self, other) {
            (Operand::Word(a, _), Operand::Word(b, _)) => a.order(b),
            (Operand::Other(a), Operand::Other(b)) => a.index().cmp(&b.index()),
            (Operand::Word(..), Operand::Other(_)) => std::cmp::Ordering::Less,
            (Operand::Other(_), Operand::Word(..)) => std::cmp::Ordering::Greater,
        }
    }
}

fn is_ring(operation: Option<Operation>) -> bool {
    matches!(operation, Some(Operation::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl)))
}

/// True if an operation has one result that depends on its operands alone. A `freeze` does not
/// qualify: it gives another number each time.
fn is_computed(body: &Body, op: Op) -> bool {
    let is_pure = body.has_trait(op, Trait::Pure) || body.is(op, memref::DimOp::DEF);
    is_pure
        && !body.is(op, llvm::FreezeOp::DEF)
        && body.num_results(op) == 1
        && body.num_operands(op) > 0
        && body.own_regions(op).len() == 0
}

/// The way in which the leaves of a value make it poison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Poison {
    /// Values that may make it poison.
    Possible,
    /// Values that certainly make it poison.
    Certain,
}

/// True if a value may be poison. Exempt are constants, induction variables, arguments with
/// `noundef` and, if `trusts_arguments`, all arguments of the function, and values computed from
/// these alone without flags.
pub fn may_be_poison(body: &Body, value: Value, trusts_arguments: bool) -> bool {
    let is_number = |leaf: Value| {
        let ValueDef::BlockArgument { block, index } = body.def(leaf) else { return false };
        let parent = body.region_parent(body.block_region(block));
        let info = body.info(parent);
        (info.interface::<dyn LoopLike>().is_some() && index == 0)
            || info.interface::<dyn ParallelLike>().is_some()
            || (parent == body.root()
                && body.is_entry(block)
                && (trusts_arguments || is_defined(body, index)))
    };
    leaves(body, value, Poison::Possible).into_iter().any(|leaf| !is_number(leaf))
}

/// True if an argument of the function has the attribute `noundef`.
fn is_defined(body: &Body, index: usize) -> bool {
    let ctx = body.ctx();
    let dicts = body.attr(body.root(), "arg_attrs").and_then(|dicts| dicts.as_array(ctx));
    let own = dicts.and_then(|dicts| dicts.get(index)).map(|dict| dict.kind(ctx));
    matches!(own, Some(AttrKind::Dictionary(dict)) if dict.get(ctx, "llvm.noundef").is_some())
}

/// True if `value` can be poison only where `cause` is.
pub fn is_poison_only_with(body: &Body, value: Value, cause: Value) -> bool {
    leaves(body, value, Poison::Possible).is_subset(&leaves(body, cause, Poison::Certain))
}

/// Returns the leaves of a value that may make it poison, or are certain to, according to `how`.
fn leaves(body: &Body, value: Value, how: Poison) -> HashSet<Value> {
    let mut leaves = HashSet::new();
    let mut open = vec![value];
    for looked_at in 0.. {
        let Some(next) = open.pop() else { break };
        let op = body.defining_op(next).filter(|op| is_computed(body, *op));
        match op {
            _ if constant_of(body, next).is_some_and(|own| !ub::is_poison(body.ctx(), own)) => {}
            Some(op) if looked_at < MAX_EXPRESSION => {
                let is_source = may_make_poison(body, op);
                if is_source {
                    leaves.insert(next);
                }
                // An operation on words is poison if an operand is. The side of a selection that is
                // not taken does no harm, and neither does another element of an aggregate.
                let followed = match (how, Operation::of(body, op)) {
                    (Poison::Certain, Some(Operation::Select)) => 1,
                    (Poison::Certain, None) if is_source => 0,
                    (Poison::Possible, _) if is_source => 0,
                    _ => usize::MAX,
                };
                open.extend(body.operands(op).take(followed));
            }
            _ => _ = leaves.insert(next),
        }
    }
    leaves
}

/// True if an operation may be poison although its operands are not, because of a flag or a shift
/// amount that is too large.
fn may_make_poison(body: &Body, op: Op) -> bool {
    let shifts = [Binary::Shl, Binary::ShrS, Binary::ShrU].map(Operation::Binary);
    match Operation::of(body, op) {
        Some(operation) if shifts.contains(&operation) => {
            let width = i64::from(width(body, body.result(op, 0)));
            let by = constant_of(body, body.operand(op, 1)).and_then(|by| by.as_int(body.ctx()));
            has_flags(body, op) || by.is_none_or(|by| !(0..width).contains(&by))
        }
        Some(_) => has_flags(body, op),
        None => !body.is(op, memref::DimOp::DEF),
    }
}
