//! The memory that a part of a program accesses behind a pointer, at the most.
//!
//! A run-time check that accesses through two pointers do not overlap compares two ranges of bytes.
//! Each range covers all accesses through its pointer in the outermost loops and statements that a
//! versioned node contains. Subscripts are bounded by forms over values known before the node: each
//! constraint of the access's domain that bounds an induction variable may replace it.
//!
//! **Assumptions.**
//! - A byte offset is exact, and its address is the pointer plus the offset, modulo 2^64
//!   ([`pointers`](crate::access)). Loops that do not run may give any range.
//!
//! **Cost.** Each outermost loop is visited once a [`Reached`]; a bound tries at most [`MAX_TRIED`]
//! constraints.

use std::collections::BTreeSet;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::{Body, Op, Value};

use crate::access::base::Named;
use crate::access::{Class, Domain};
use crate::affine::{AffineForm, Atom};
use crate::assumption::is_computed_by;
use crate::legality::scheduled::{Purpose, leaves};
use crate::tree::{Arm, Green, LoopId, Node, Program, StatementId, TreeStore};

/// The maximal number of constraints tried to bound a form.
const MAX_TRIED: u32 = 64;
/// The maximal number of bounds of a range, on each side.
const MAX_BOUNDS: usize = 4;
/// The number of bits in which a range is computed.
pub(crate) const BITS: u32 = 128;

/// A range of elements behind a pointer. It begins at the least of the lower bounds, and ends
/// before the greatest of the upper bounds. The bounds are sums of products of values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    /// The bytes of an element.
    pub(crate) unit: i64,
    pub(crate) lower: Vec<AffineForm>,
    pub(crate) upper: Vec<AffineForm>,
    /// The range is valid if none of these forms is negative.
    pub(crate) conditions: Vec<AffineForm>,
}

impl Extent {
    /// Adds another range. `None` if its elements have another size, or there are too many bounds.
    fn add(&mut self, other: &Extent) -> Option<()> {
        other.lower.iter().for_each(|bound| insert(&mut self.lower, bound, -1));
        other.upper.iter().for_each(|bound| insert(&mut self.upper, bound, 1));
        for condition in &other.conditions {
            if !self.conditions.contains(condition) {
                self.conditions.push(condition.clone());
            }
        }
        let few = self.lower.len() <= MAX_BOUNDS && self.upper.len() <= MAX_BOUNDS;
        (few && self.unit == other.unit).then_some(())
    }

    /// True if the bounds, and their differences, are computed without wrapping.
    fn fits(&self, body: &Body) -> bool {
        let most = |bounds: &[AffineForm]| {
            let all = bounds.iter().map(|bound| greatest_number(body, bound));
            all.collect::<Option<Vec<u128>>>().map(|all| all.into_iter().max().unwrap_or(0))
        };
        let sum = most(&self.lower).zip(most(&self.upper)).and_then(|(a, b)| a.checked_add(b));
        sum.is_some_and(|sum| sum < 1 << (BITS - 1))
    }

    fn each_parameter(&self, f: &mut dyn FnMut(Value)) {
        let all = self.lower.iter().chain(&self.upper).chain(&self.conditions);
        all.for_each(|form| form.each_parameter(f));
    }
}

/// Returns a number that the amount of a sum of products never exceeds. `None` if that has too many
/// bits, or for quotients.
fn greatest_number(body: &Body, form: &AffineForm) -> Option<u128> {
    let mut sum = u128::from(form.constant_part().unsigned_abs());
    for (atom, coefficient) in form.terms() {
        let mut product = u128::from(coefficient.unsigned_abs());
        for factor in atom.factors()? {
            let width = body.value_type(*factor).integer_width(body.ctx()).unwrap_or(64);
            product = product.checked_mul(1u128.checked_shl(width.checked_sub(1)?)?)?;
        }
        sum = sum.checked_add(product)?;
    }
    Some(sum)
}

/// True if an object is behind an address, and not a memref.
pub(crate) fn is_pointer(body: &Body, object: Named) -> bool {
    let ty = object.value().map(|value| LlvmType::of(body.ctx(), body.value_type(value)));
    matches!(ty, None | Some(Some(LlvmType::Pointer { .. })))
}

/// Adds a bound. Of two that differ by a constant, the one further out is kept.
fn insert(bounds: &mut Vec<AffineForm>, bound: &AffineForm, outwards: i64) {
    for known in bounds.iter_mut() {
        if let Some(gap) = bound.minus(known).and_then(|gap| gap.as_constant()) {
            if gap.signum() == outwards {
                *known = bound.clone();
            }
            return;
        }
    }
    bounds.push(bound.clone());
}

/// Remembers the accesses of loops behind pointers.
#[derive(Default)]
pub(crate) struct Reached {
    of_loops: HashMap<LoopId, Rc<Extents>>,
}

/// The extents of objects. `None` if a range is unknown.
type Extents = HashMap<Named, Option<Extent>>;

impl Reached {
    /// Returns the bytes that the outermost loops and statements with a part in `items` access
    /// behind a pointer or in a global, in terms of values known before all of them. `None` if that
    /// is unknown.
    pub(crate) fn behind(
        &mut self,
        (body, program, trees): (&Body, &Program, &TreeStore),
        items: &[Green],
        object: Named,
    ) -> Option<Extent> {
        let Parts { loops, statements } = Parts::of(program, trees, items);
        let mut all: Option<Extent> = None;
        let mut add = |own: Option<&Extent>| match &mut all {
            Some(all) => all.add(own?),
            none => {
                *none = Some(own?.clone());
                Some(())
            }
        };
        for of in &loops {
            let extents = self.of_loops.entry(*of);
            let extents = extents.or_insert_with(|| Rc::new(of_loop(body, program, trees, *of)));
            if let Some(extent) = extents.get(&object) {
                add(extent.as_ref())?;
            }
        }
        for of in &statements {
            for (class, _) in &program.statement(*of).effects.classes {
                if class.base.named_by() == Some(object) {
                    add(of_class(class, 0).as_ref())?;
                }
            }
        }
        let all = all?;
        let mut own: HashSet<Op> = loops.iter().map(|of| program.loop_info(*of).op).collect();
        own.extend(statements.iter().flat_map(|of| &program.statement(*of).ops));
        let mut is_early = true;
        let mut visit = |value: Value| {
            let is_known = program.is_known(&AffineForm::atom(Atom::Param(value)), 0);
            is_early &= is_known && !is_computed_by(body, value, &own);
        };
        object.value().into_iter().for_each(&mut visit);
        all.each_parameter(&mut visit);
        (is_early && all.fits(body)).then_some(all)
    }
}

/// The outermost loops and statements of a program that parts of a tree belong to.
#[derive(Default)]
struct Parts {
    loops: BTreeSet<LoopId>,
    statements: BTreeSet<StatementId>,
}

impl Parts {
    fn of(program: &Program, trees: &TreeStore, items: &[Green]) -> Parts {
        let mut parts = Parts::default();
        let mut pending: Vec<Green> = items.to_vec();
        while let Some(item) = pending.pop() {
            match trees.get(item) {
                Node::Empty => {}
                Node::Sequence { .. } => pending.extend(trees.items(item)),
                Node::Loop { body, .. } | Node::Guard { body, .. } => pending.push(body),
                Node::Versioned { fast, fallback, .. } => pending.extend([fast, fallback]),
                Node::Leaf { statement, .. } => match program.path(program.statement(statement).parent)[..] {
                    [outermost, ..] => _ = parts.loops.insert(outermost),
                    [] => _ = parts.statements.insert(statement),
                },
            }
        }
        parts
    }
}

/// Returns the extents of all pointers in an outermost loop.
fn of_loop(body: &Body, program: &Program, trees: &TreeStore, of: LoopId) -> Extents {
    let mut extents = Extents::new();
    let items = [program.loop_info(of).green];
    let Ok(found) = leaves(body, program, trees, &items, 0, Arm::Fast, Purpose::Order) else {
        // A loop without a form accesses unknown bytes of each object.
        let is_inside = |parent| program.path(parent).first() == Some(&of);
        let statements = program.statements().filter(|own| is_inside(own.parent));
        let classes = statements.flat_map(|own| &own.effects.classes);
        return classes.filter_map(|(class, _)| Some((class.base.named_by()?, None))).collect();
    };
    for leaf in &found {
        for (class, _) in &leaf.classes {
            let Some(object) = class.base.named_by() else { continue };
            let own = of_class(class, leaf.domain.levels);
            let all = extents.entry(object).or_insert_with(|| own.clone());
            let joined = all.as_mut().zip(own).and_then(|(all, own)| all.add(&own));
            if joined.is_none() {
                *all = None;
            }
        }
    }
    extents
}

/// Returns the extent of an access behind its object's pointer, in a statement inside of `depth`
/// loops.
fn of_class(class: &Class, depth: u32) -> Option<Extent> {
    let is_relative = class.origin == class.base.named_by()?.value();
    if class.unit <= 0 || !is_relative {
        return None;
    }
    let subscripts = class.subscripts.as_ref()?;
    let known = subscripts.first().and_then(Option::as_ref).filter(|_| {
        // Subscripts of the other dimensions are below their sizes, unless an access covers several
        // elements.
        let is_grid = subscripts.len() == 1 || class.domain.levels <= depth;
        subscripts.len() == class.sizes.len() + 1 && is_grid
    });
    let certain = known.and_then(|first| extent(class, first, &class.sizes));
    certain.or_else(|| {
        let own = class.conditional.as_ref()?;
        let extent = extent(class, own.subscripts.first()?, &own.sizes)?;
        Some(Extent { conditions: own.conditions.clone(), ..extent })
    })
}

/// Returns the extent of an access in rows of these sizes, given the number of the row.
fn extent(class: &Class, first: &AffineForm, sizes: &[AffineForm]) -> Option<Extent> {
    let row = sizes.iter().try_fold(AffineForm::constant(1), |row, size| row.product(size))?;
    let lower = greatest(&first.times(-1)?, &class.domain, &mut { MAX_TRIED })?.times(-1)?;
    let upper = greatest(first, &class.domain, &mut { MAX_TRIED })?.plus(&AffineForm::constant(1), 1)?;
    let (lower, upper) = (vec![lower.product(&row)?], vec![upper.product(&row)?]);
    Some(Extent { unit: class.unit, lower, upper, conditions: Vec::new() })
}

/// Returns a form over parameters that a form over the levels of a domain never exceeds. Recurses
/// once for each level in it.
fn greatest(form: &AffineForm, domain: &Domain, left: &mut u32) -> Option<AffineForm> {
    let innermost =
        |form: &AffineForm| (0..domain.levels).rev().find(|at| form.coefficient_of_level(*at) != 0);
    let Some(level) = innermost(form) else {
        let is_plain = |atom: &Atom| matches!(atom, Atom::Param(_) | Atom::Product(_));
        return form.all_atoms(&is_plain).then(|| form.clone());
    };
    let factor = form.coefficient_of_level(level);
    for constraint in &domain.constraints {
        let own = constraint.coefficient_of_level(level);
        let may_cancel = own != 0 && own.signum() == -factor.signum() && factor % own == 0;
        if !may_cancel || innermost(constraint) != Some(level) {
            continue;
        }
        *left = left.checked_sub(1)?;
        // What is not negative was added.
        let bound = form.plus(constraint, factor.checked_div(own)?.checked_neg()?);
        if let Some(found) = bound.and_then(|bound| greatest(&bound, domain, left)) {
            return Some(found);
        }
    }
    None
}
