//! Regeneration: from the tree back to IR.
//!
//! Unchanged parts of the tree are moved, not rebuilt: an unedited tree changes nothing. A new loop
//! has the form of its first origin (`affine.for`, `scf.for`), with that loop's induction variable.
//! Induction variables of its other origins are computed from it where they are used. Statements
//! are copied into it, once for each leaf. Guards become their original `if`s. Consecutive
//! dimensions of a parallel loop become one operation.
//!
//! Steps of [reordered](Reordered) reductions lose the flags that need not hold there, and only
//! these.
//!
//! A reversed loop is written with an induction variable that counts upwards over the same values.
//! The program's induction variable is computed from it. If one of the fused loops is `affine`, so
//! is the new one.
//!
//! The tree must keep the order of computations and uses. It must run a loop with carried values in
//! order, its parts in one sequence. A tree that cannot be written is refused with the [`Reason`].
//!
//! **Cost.** Linear in the operations of the block and in the copied operations.
//!
//! # Limits
//!
//! - Almost every legal tree can be written. The others have a `Reason`: a loop whose trip count is
//!   not affine is split, a value may leave its type, or an `affine` operation would use a value
//!   that is neither dimension nor symbol.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{affine, llvm, scf};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::{
    Attr, Block, Body, Builder, Dict, InsertPoint, Loc, Mapping, Op, OperationState, Type, Value,
};
use smallvec::SmallVec;

use crate::access::updates::reduction::drop_poison_flags;
use crate::affine::range::fits;
use crate::affine::{AffineForm, Atom};
use crate::legality::Approved;
use crate::marks;
use crate::tree::edit::counted;
use crate::tree::levels::absolute;
use crate::tree::{
    Arm, Green, Header, If, Item, LoopId, Mark, Node, Origin, Program, Reordered, Span, StatementId,
    TreeStore,
};
use crate::unrolling::annotation;
use bounds::Range;
use expression::{Expression, Sum};
use instances::Instances;
use known::{Computed, Known};
use reach::Between;

mod apply;
mod bounds;
mod carried;
mod conditional;
mod curve;
mod expression;
pub(crate) mod extents;
mod extents_apart;
pub(crate) mod guard;
mod instances;
mod known;
mod loops;
pub(crate) mod overlap;
mod parallel;
mod reach;
mod reductions;
mod tested_apart;
mod unwritable;
mod version;

use loops::WrittenItem;
pub use loops::regenerate_loops;
pub use unwritable::{Reason, Unwritable};

/// The parts of the block to rewrite.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rewrite {
    /// The parts that the tree changes.
    #[default]
    Changed,
    /// Rewrites everything. The result is the same.
    All,
}

/// Makes the operations of the program's block run in the order of an approved tree.
///
/// # Errors
///
/// The block stays unchanged if a loop cannot be written. The error names that loop of the program,
/// or one of its origins.
///
/// # Panics
///
/// Panics if the tree was approved for another program.
pub fn regenerate(
    body: &mut Body,
    program: &Program,
    trees: &TreeStore,
    approved: &Approved,
    rewrite: Rewrite,
) -> Result<(), Unwritable> {
    if approved.written() == program.root && rewrite == Rewrite::Changed {
        return Ok(());
    }
    written(body, program, trees, approved, rewrite).map(|_| ())
}

/// See [`regenerate`]. Returns the items of the tree, with their loops.
fn written(
    body: &mut Body,
    program: &Program,
    trees: &TreeStore,
    approved: &Approved,
    rewrite: Rewrite,
) -> Result<Vec<WrittenItem>, Unwritable> {
    assert!(approved.is_of(program), "the tree was approved for another program");
    let (root, reordered) = (approved.written(), approved.reordered());
    let mut items = Vec::new();
    let end = match body.terminator(program.block) {
        Some(terminator) => InsertPoint::Before(terminator),
        None => InsertPoint::End(program.block),
    };
    let loops = program.loops().map(|of| program.loop_info(of));
    let unchanged: HashMap<Green, Op> =
        loops.filter(|info| info.parent.is_none()).map(|info| (info.green, info.op)).collect();
    let replaced: Vec<Op> =
        body.ops(program.block).filter(|op| Some(*op) != body.terminator(program.block)).collect();
    let mut kept: HashSet<Op> = HashSet::new();
    let mut emit = Emit {
        body,
        program,
        trees,
        reordered,
        arm: None,
        begun: HashSet::new(),
        mapping: Mapping::default(),
        instances: Instances::default(),
        scopes: Vec::new(),
        known: Known::new(),
        outermost: None,
        loc: Loc::UNKNOWN,
        written: HashMap::new(),
        loops: Vec::new(),
        unwritable: None,
        in_remainder: false,
    };
    for item in trees.with_ifs(root) {
        let own: &[Op] = match item {
            Item::If(If { of, bodies, .. }) => {
                let info = program.if_info(of);
                if info.bodies == bodies { std::slice::from_ref(&info.op) } else { &[] }
            }
            Item::Other(item) => match trees.get(item) {
                Node::Leaf { statement, .. } => &program.statement(statement).ops,
                _ => unchanged.get(&item).map_or(&[], std::slice::from_ref),
            },
        };
        if own.is_empty() || rewrite == Rewrite::All || own.iter().any(|op| kept.contains(op)) {
            emit.item(item, end);
            items.push(WrittenItem::New(std::mem::take(&mut emit.loops)));
            continue;
        }
        for op in own {
            kept.insert(*op);
            emit.body.detach(*op);
            Builder::new(emit.body, end).place(*op);
        }
        items.extend(loops::kept(trees, item));
    }
    emit.check_operands(&replaced);
    let Emit { mapping, unwritable, .. } = emit;
    if let Some(unwritable) = unwritable {
        restore(body, program.block, &replaced, end);
        return Err(unwritable);
    }
    erase(body, replaced.into_iter().filter(|op| !kept.contains(op)), &mapping);
    if !reordered.is_empty() {
        let inside = |op: &Op| body.preorder(*op).collect::<Vec<_>>();
        let moved: Vec<Op> =
            kept.iter().flat_map(inside).filter(|op| reordered.contains(*op, None)).collect();
        moved.into_iter().for_each(|op| drop_poison_flags(body, op));
    }
    Ok(items)
}

/// Erases operations from the last to the first. Uses of their results get the new values.
fn erase(body: &mut Body, ops: impl DoubleEndedIterator<Item = Op>, mapping: &Mapping) {
    for op in ops.rev() {
        for result in body.results(op).collect::<Vec<_>>() {
            if let Some(new) = mapping.get(result) {
                body.replace_all_uses(result, new);
            }
        }
        body.erase(op);
    }
}

/// Restores a block to exactly `ops`, in this order before `end`.
fn restore(body: &mut Body, block: Block, ops: &[Op], end: InsertPoint) {
    let known: HashSet<Op> = ops.iter().copied().collect();
    let terminator = body.terminator(block);
    let new: Vec<Op> = body.ops(block).filter(|op| !known.contains(op) && Some(*op) != terminator).collect();
    new.into_iter().rev().for_each(|op| body.erase(op));
    for op in ops {
        body.detach(*op);
        Builder::new(body, end).place(*op);
    }
}

/// A new loop that is being written.
struct Scope {
    /// Its variable.
    variable: Value,
    /// The value of the induction variable as a form over the levels down to this one, with `scale`
    /// as its own level's coefficient. `None`: the level is the variable itself.
    meaning: Option<(AffineForm, i64)>,
    /// The bounds of the induction variable.
    between: Between,
    /// True if values in the loop are computed by `affine.apply`.
    affine: bool,
    /// The loops of the program whose iterations run in it.
    runs: Vec<LoopId>,
}

struct Emit<'a> {
    body: &'a mut Body,
    program: &'a Program,
    trees: &'a TreeStore,
    reordered: &'a Reordered,
    /// The tree of the versioned node that is being written.
    arm: Option<Arm>,
    /// Loops with an earlier part in the current sequence, in an iteration of the loops around.
    /// Their results are currently the values passed on by that part.
    begun: HashSet<(LoopId, Vec<AffineForm>)>,
    /// The current replacements of the program's values.
    mapping: Mapping,
    /// The replacements where a value has several.
    instances: Instances,
    scopes: Vec<Scope>,
    /// Values that are computed.
    known: Known,
    /// The outermost new loop or `if` that is being written.
    outermost: Option<Op>,
    /// The location for operations computed for a loop: the loop's.
    loc: Loc,
    /// The written loops, each with the original loop that gives it its form.
    written: HashMap<Op, Op>,
    /// The operation of each loop of the item that is being written, in the order of the text.
    loops: Vec<Option<Op>>,
    /// A loop that cannot be written. Everything written afterwards is discarded.
    unwritable: Option<Unwritable>,
    /// True inside a remainder of one iteration, which is written without a loop.
    in_remainder: bool,
}

impl Emit<'_> {
    fn sequence(&mut self, sequence: Green, at: InsertPoint) {
        let around = std::mem::take(&mut self.begun);
        for item in self.trees.with_ifs(sequence) {
            self.item(item, at);
        }
        self.begun = around;
    }

    /// Recurses once for each loop or guard. Raising bounds their nesting depth.
    fn item(&mut self, item: Item, at: InsertPoint) {
        let trees = self.trees;
        let item = match item {
            Item::If(conditional) => return self.conditional(conditional, at),
            Item::Other(item) => item,
        };
        match trees.get(item) {
            Node::Empty | Node::Sequence { .. } => self.sequence(item, at),
            Node::Guard { of, map, holds, body } => self.conditional(If::side(of, map, holds, body), at),
            Node::Loop { header, body } => self.loop_or_curve(trees.header(header), body, at),
            Node::Versioned { assumption, fast, fallback } => {
                self.versioned(trees.assumptions(assumption), fast, fallback, at);
            }
            Node::Leaf { statement, map } => self.statement(statement, trees.map(map), at),
        }
    }

    fn statement(&mut self, id: StatementId, map: &[AffineForm], at: InsertPoint) {
        if let Some(conditional) = self.program.statement(id).yields_for(self.body) {
            return self.yielded(conditional, self.program.statement(id).op(), map, at);
        }
        for op in &self.program.statement(id).ops {
            let mut used: SmallVec<[Value; 8]> = SmallVec::new();
            for inside in self.body.preorder(*op) {
                used.extend(self.body.operands(inside));
            }
            for value in used {
                self.resolve(value, map, at);
            }
            let copy = self.body.copy_op(*op, &mut self.mapping);
            Builder::new(self.body, at).place(copy);
            if self.instances.is_open() {
                for (index, old) in self.body.results(*op).collect::<Vec<_>>().into_iter().enumerate() {
                    let new = self.body.result(copy, index);
                    self.define(old, new, map, self.scopes.len() as u32);
                }
            }
            self.drop_flags(*op);
        }
    }

    /// Drops invalid flags in the copies of an operation's contents.
    fn drop_flags(&mut self, original: Op) {
        if self.reordered.is_empty() {
            return;
        }
        let (reordered, arm) = (self.reordered, self.arm);
        let steps = self.body.preorder(original).filter(|op| reordered.contains(*op, arm));
        for step in steps.collect::<Vec<_>>() {
            let copy = self.mapping.value(self.body.result(step, 0));
            if let Some(copy) = self.body.defining_op(copy) {
                drop_poison_flags(self.body, copy);
            }
        }
    }

    /// Returns the replacement of a value of the program here, in the iteration `map` of the
    /// surrounding loops. Records it in the mapping.
    fn resolve(&mut self, value: Value, map: &[AffineForm], at: InsertPoint) -> Value {
        let new = match self.program.loop_of_argument(self.body, value) {
            Some((of, 0)) => self.variable(of, value, map, at),
            _ if self.instances.is_open() => self.instance(value, map, at),
            _ => return self.mapping.value(value),
        };
        self.mapping.map(value, new);
        new
    }

    /// Returns the new value of the induction variable of a loop of the program.
    fn variable(&mut self, of: LoopId, old: Value, map: &[AffineForm], at: InsertPoint) -> Value {
        let depth = self.scopes.len() as u32;
        let info = self.program.loop_info(of);
        let ty = self.body.value_type(old);
        if let Some(form) = &info.space.variable {
            if self.instances.is_open() {
                let mut parameters: SmallVec<[Value; 4]> = SmallVec::new();
                form.each_parameter(&mut |value| parameters.push(value));
                parameters.into_iter().for_each(|value| _ = self.resolve(value, map, at));
            }
            let form = form.substitute(&mut |level| absolute(map.get(level as usize)?, depth));
            let form = form.ok_or(Reason::NotAffine).and_then(|form| self.here(&form));
            let affine = self.scopes.iter().any(|scope| scope.affine);
            return match form.and_then(|form| self.computed(&form, ty, affine, at)) {
                Ok(value) => value,
                Err(reason) => self.anything(of, reason, ty, at),
            };
        }
        // The induction variable has no form, but the loop is whole: the new loop's variable
        // replaces it.
        let own = map.get(info.depth as usize).and_then(|form| absolute(form, depth));
        match own.as_ref().map(|own| (own.terms(), own.constant_part())) {
            Some(([(Atom::Level(level), 1)], 0)) => self.scopes[*level as usize].variable,
            _ => self.anything(of, Reason::NotCounted, ty, at),
        }
    }

    /// Gives up, and returns an arbitrary number in place of a value that cannot be computed.
    fn anything(&mut self, of: LoopId, reason: Reason, ty: Type, at: InsertPoint) -> Value {
        self.give_up(of, reason);
        self.value_of(Sum::constant(0), ty, at)
    }

    /// Records that a loop cannot be written.
    fn give_up(&mut self, of: LoopId, reason: Reason) {
        self.unwritable.get_or_insert(Unwritable { op: self.program.loop_info(of).op, reason });
    }

    /// Fails if a written operation of the `affine` dialect has an invalid operand. Linear in the
    /// written operations.
    fn check_operands(&mut self, replaced: &[Op]) {
        let known: HashSet<Op> = replaced.iter().copied().collect();
        let block = self.program.block;
        let new = self.body.ops(block).filter(|op| !known.contains(op));
        if let Some(op) = new.into_iter().find_map(|op| self.misused(op)) {
            let mut around = std::iter::successors(Some(op), |op| self.body.parent_op(*op));
            let origin = around.find_map(|op| self.written.get(&op)).copied();
            let op = origin.unwrap_or(self.body.region_parent(self.body.block_region(block)));
            self.unwritable.get_or_insert(Unwritable { op, reason: Reason::NoOperand });
        }
    }

    /// Returns a form over the levels around as one over values.
    fn here(&self, form: &AffineForm) -> Result<AffineForm, Reason> {
        self.in_values(form, self.scopes.len() as u32).ok_or(Reason::NotAffine)
    }

    /// Returns a form over values of the program as a sum over their replacements.
    fn sum(&self, form: &AffineForm) -> Result<Sum, Reason> {
        let width = |form: &AffineForm| bounds::bits(self.range_of(form));
        Sum::of(form, &self.mapping, &width).ok_or(Reason::TooWide)
    }

    /// Returns the value of a form over values of the program, which is in range. Computes it here
    /// unless it is known. With `affine`, uses `affine.apply` if its operands allow that.
    fn computed(
        &mut self,
        form: &AffineForm,
        ty: Type,
        affine: bool,
        at: InsertPoint,
    ) -> Result<Value, Reason> {
        let sum = self.sum(form)?;
        let is_there = matches!(sum.as_offset(), Some((None, _) | (_, 0)));
        let key = Computed::Sum(sum.clone(), ty);
        if affine
            && !is_there
            && ty == Type::INDEX
            && self.known.get(&key).is_none()
            && let Some(value) = self.applied(form, at)
        {
            self.known.insert(key, value, false);
        }
        Ok(self.value_of(sum, ty, at))
    }

    /// Returns a form over levels as a form over values. A level is expressed by its loop's
    /// induction variable.
    fn in_values(&self, form: &AffineForm, depth: u32) -> Option<AffineForm> {
        let mut form = form.clone();
        for level in (0..depth).rev() {
            let scope = &self.scopes[level as usize];
            let coefficient = form.coefficient_of_level(level);
            let Some((meaning, scale)) = &scope.meaning else { continue };
            if coefficient != 0 && coefficient % scale == 0 {
                let times = coefficient / scale;
                let variable = AffineForm::atom(Atom::Param(scope.variable));
                form = form.plus(meaning, times.checked_neg()?)?.plus(&variable, times)?;
            }
        }
        form.substitute(&mut |level| {
            let scope = &self.scopes[level as usize];
            let (meaning, scale) = scope.meaning.as_ref()?;
            let rest = meaning.plus(&AffineForm::level(level), scale.checked_neg()?)?;
            let rest = self.in_values(&rest, level)?;
            AffineForm::atom(Atom::Param(scope.variable)).minus(&rest)?.floor_div(*scale)
        })
    }

    /// Returns the value of a sum. Computes it at `at` unless it is available.
    fn value_of(&mut self, sum: Sum, ty: Type, at: InsertPoint) -> Value {
        if let Some((Some(value), 0)) = sum.as_offset()
            && self.body.value_type(value) == ty
        {
            return value;
        }
        let is_number = sum.as_constant().is_some();
        let key = Computed::Sum(sum.clone(), ty);
        if let Some(known) = self.known.get(&key) {
            return known;
        }
        // A number is written once, before the outermost new loop or `if`.
        let outside = self.outermost.filter(|_| is_number);
        let at = outside.map_or(at, InsertPoint::Before);
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let value = Expression { builder }.value(&sum, ty);
        self.known.insert(key, value, outside.is_some());
        value
    }

    /// Returns the result of a new operation whose type its operands determine.
    fn make(&mut self, def: &'static OpDef, operands: &[Value], at: InsertPoint) -> Value {
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(def).operands(operands);
        builder.value(state)
    }

    fn new_loop(&mut self, header: &Header, inside: Green, at: InsertPoint) {
        let program = self.program;
        let Some(lead) = self.lead(header) else { return };
        let info = program.loop_info(lead.of);
        // A sequential loop is one of the allowed orders of a parallel loop.
        let of_one_kind = self.is_of_one_kind(header);
        if header.parallel && header.span == Span::Whole && info.dimension.is_some() && of_one_kind {
            return self.parallel(header, inside, at);
        }
        let around = std::mem::replace(&mut self.loc, self.body.loc(info.op));
        let meaning = self.meaning(lead);
        let range = match self.range(header, lead, meaning.as_ref()) {
            Ok(range) => range,
            Err(reason) => {
                self.give_up(lead.of, reason);
                None
            }
        };
        if let Some((range, value)) = range.as_ref().and_then(|range| Some((range, range.only_value()?))) {
            // One iteration needs no loop.
            self.loops.push(None);
            let variable = self.only_variable(lead, range, value, at);
            let range = Some(range);
            let mark = self.open_instances(header, self.scopes.len() as u32 + 1);
            self.begin_with(header, at);
            self.open_scope((header, lead), variable, meaning, range);
            self.known.open();
            let was_in_remainder = self.in_remainder;
            self.in_remainder |= header.mark == Some(Mark::Remainder);
            self.sequence(inside, at);
            self.in_remainder = was_in_remainder;
            let yielded = self.yielded_by(header, at);
            self.known.close();
            self.scopes.pop();
            self.close_instances(mark);
            self.end_with(header, &yielded);
            self.loc = around;
            return;
        }
        let mut state = match &range {
            Some(range) => self.bounded_shell(header, lead, range, at),
            None => self.shell(header, lead, at),
        };
        // A parallel loop that shares its iterations with one of another kind has one dimension.
        if header.parallel && (info.dimension.is_none() || header.span == Span::Whole && !of_one_kind) {
            parallel::in_any_order(self.body, &mut state);
        }
        self.begin_reductions(&[header], &mut state, at);
        self.mark(header, &mut state);
        let op = Builder::new(self.body, at).insert(state);
        self.written.insert(op, info.op);
        self.loops.push(Some(op));
        let is_outermost = self.outermost.is_none();
        self.outermost.get_or_insert(op);
        let mark = self.open_instances(header, self.scopes.len() as u32 + 1);
        let block = self.new_block(header, lead, op);
        let variable = self.body.argument(block, 0);
        self.open_scope((header, lead), variable, meaning, range.as_ref());
        self.known.open();
        self.sequence(inside, InsertPoint::End(block));
        let yielded = self.yielded_by(header, InsertPoint::End(block));
        let reduces = self.end_reductions(header, block);
        self.known.close();
        self.scopes.pop();
        self.close_instances(mark);
        if reduces {
            // Its end is written.
        } else if info.dimension.is_some() || self.body.is(op, scf::ParallelOp::DEF) {
            self.end_of_kind(op, block, &yielded);
        } else if let Some(terminator) = self.body.terminator(info.block) {
            self.terminator(terminator, yielded, InsertPoint::End(block));
        }
        let results: Vec<Value> = self.body.results(op).collect();
        self.end_with(header, &results);
        self.loc = around;
        if is_outermost {
            self.outermost = None;
        }
    }

    /// Returns the induction variable of a loop with one iteration.
    fn only_variable(&mut self, lead: &Origin, range: &Range, value: &AffineForm, at: InsertPoint) -> Value {
        let info = self.program.loop_info(lead.of);
        let ty = self.counter_type(lead);
        if let Some(value) = value.as_constant() {
            let width = ty.integer_width(self.body.ctx()).unwrap_or(64);
            if !fits((value.into(), value.into()), width) {
                self.give_up(lead.of, Reason::StartMayWrap);
            }
            return self.value_of(Sum::constant(value), ty, at);
        }
        if let Some(reason) = self.overflow(lead, range, ty) {
            self.give_up(lead.of, reason);
        }
        let is_affine = affine::is_loop(self.body, info.op);
        match self.here(value).and_then(|form| self.computed(&form, ty, is_affine, at)) {
            Ok(value) => value,
            Err(reason) => self.anything(lead.of, reason, ty, at),
        }
    }

    /// Marks a loop by its header's mark. Loops inside a remainder without a loop of its own are
    /// marked as remainders.
    fn mark(&self, header: &Header, state: &mut OperationState) {
        let ctx = self.body.ctx();
        let name = match header.mark {
            _ if self.in_remainder => marks::REMAINDER,
            Some(Mark::Remainder) => marks::REMAINDER,
            Some(Mark::Distributed) => marks::DISTRIBUTED,
            Some(Mark::Unrolled) => return self.keep(header, annotation::UNROLL, state),
            Some(Mark::Jammed) => return self.keep(header, annotation::JAM, state),
            Some(Mark::Flattened | Mark::Vectorized) => return self.keep(header, "", state),
            Some(Mark::Lanes { count, masked }) => return marks::set_lanes(ctx, (count, masked), state),
            Some(Mark::Copies | Mark::Hilbert { .. }) | None => return,
        };
        state.set_attr(ctx, name, Attr::UNIT);
    }

    /// Keeps the attributes of a loop, but for the directives that were obeyed. What is said of the
    /// iterations of a loop need not hold for those of a flattened one.
    fn keep(&self, header: &Header, obeyed: &str, state: &mut OperationState) {
        let ctx = self.body.ctx();
        let Some(first) = header.origins.first() else { return };
        let lead = self.program.loop_info(first.of).op;
        let is_flat = header.mark == Some(Mark::Flattened);
        if is_flat || header.origins.iter().all(|own| own.of == first.of) {
            state.attributes = self.body.attributes(lead);
        }
        if is_flat {
            for said in [annotation::ANNOTATION, llvm::METADATA] {
                state.attributes = state.attributes.without(ctx, said);
            }
        }
        if let Some(own) = self.body.attr(lead, annotation::ANNOTATION).filter(|_| !obeyed.is_empty()) {
            match annotation::done(ctx, own, obeyed) {
                Some(done) => state.set_attr(ctx, annotation::ANNOTATION, done),
                None => state.attributes = state.attributes.without(ctx, annotation::ANNOTATION),
            }
        }
    }

    /// Returns the origin that determines the form of a loop: the first `affine` one, because
    /// operations in it need that; else the first.
    fn lead<'h>(&self, header: &'h Header) -> Option<&'h Origin> {
        let is_affine = |origin: &&Origin| affine::is_loop(self.body, self.program.loop_info(origin.of).op);
        header.origins.iter().find(is_affine).or(header.origins.first())
    }

    /// Returns true if all origins of a loop are of one kind.
    fn is_of_one_kind(&self, header: &Header) -> bool {
        let mut names = header.origins.iter().map(|own| self.body.op_name(self.program.loop_info(own.of).op));
        let first = names.next();
        names.all(|name| Some(name) == first)
    }

    /// Returns the range of the induction variable of a new loop. `None` if the loop runs the
    /// iterations of its first origin.
    fn range(
        &self,
        header: &Header,
        lead: &Origin,
        meaning: Option<&(AffineForm, i64)>,
    ) -> Result<Option<Range>, Reason> {
        let of_one_kind = self.is_of_one_kind(header);
        // All iterations of the program's loop are those of a loop without skipped iterations.
        let in_order = lead.iteration().is_some_and(|own| own.coefficient_of_level(0) == 1);
        let is_as_first = of_one_kind || header.origins.first() == Some(lead);
        if header.span == Span::Whole && is_as_first && in_order {
            return Ok(None);
        }
        let counted = counted(self.program, header).ok_or(match of_one_kind {
            true => Reason::NotCounted,
            false => Reason::TwoKinds,
        })?;
        let depth = self.scopes.len() as u32;
        let is_counted = self.program.loop_info(lead.of).space.is_counted();
        let meaning = meaning.filter(|_| is_counted || in_order).ok_or(Reason::NotCounted)?;
        Range::of(&counted.span, meaning, depth).map(Some).ok_or(Reason::NotAffine)
    }

    /// Returns the induction variable of a new loop, as a form over the levels down to it, and the
    /// positive coefficient of its own level. It is the variable of the program's loop. If that
    /// counts down, it is another one that counts up from the lower bound. If a flattened loop runs
    /// another iteration of it only now and then, it counts from zero.
    fn meaning(&self, lead: &Origin) -> Option<(AffineForm, i64)> {
        let depth = self.scopes.len() as u32;
        let space = &self.program.loop_info(lead.of).space;
        let form = self.around(lead, space.variable.as_ref()?)?;
        if is_flattened(lead) {
            return Some((AffineForm::level(depth), 1));
        }
        let scale = form.coefficient_of_level(depth);
        let (form, scale) = match scale < 0 {
            true => {
                let scale = scale.checked_neg()?;
                (self.around(lead, space.lower.as_ref()?)?.plus(&AffineForm::level(depth), scale)?, scale)
            }
            false => (form, scale),
        };
        let rest = form.plus(&AffineForm::level(depth), scale.checked_neg()?)?;
        let is_outside = rest.all_atoms(&|atom| *atom != Atom::Level(depth));
        (scale > 0 && is_outside).then_some((form, scale))
    }

    /// Returns the type of the induction variable of a new loop: that of the program's. One that
    /// counts the iterations of a flattened loop has 64 bits.
    fn counter_type(&self, lead: &Origin) -> Type {
        let ty = self.body.value_type(self.program.loop_info(lead.of).variable);
        match is_flattened(lead) && ty != Type::INDEX {
            true => self.body.ctx().int_type(64),
            false => ty,
        }
    }

    /// Enters a loop with this induction variable, and with its meaning over the levels.
    fn open_scope(
        &mut self,
        (header, lead): (&Header, &Origin),
        variable: Value,
        meaning: Option<(AffineForm, i64)>,
        range: Option<&Range>,
    ) {
        let info = self.program.loop_info(lead.of);
        let affine = affine::is_loop(self.body, info.op);
        let here = |form: &AffineForm| self.here(form).ok();
        let program = |form: &AffineForm| self.around(lead, form).and_then(|form| here(&form));
        let space = &info.space;
        let (lower, upper) = match range {
            Some(range) => {
                (range.lower.iter().filter_map(here).collect(), range.upper.iter().filter_map(here).collect())
            }
            None if space.unsigned => Default::default(),
            None => {
                let upper = space.uppers.iter().flatten().filter_map(program).collect();
                (space.lower.iter().filter_map(program).collect(), upper)
            }
        };
        let between = self.between(lower, upper, space.step);
        let runs = header.origins.iter().map(|own| own.of).collect();
        self.scopes.push(Scope { variable, meaning, between, affine, runs });
    }

    /// Creates a terminator like `old` that yields other values.
    fn terminator(&mut self, old: Op, yielded: Vec<Value>, at: InsertPoint) {
        let mut state = OperationState::named(self.body.op_name(old), self.body.loc(old));
        state.operands = yielded;
        state.properties = self.body.properties(old);
        state.attributes = self.body.attributes(old);
        let new = Builder::new(self.body, at).insert(state);
        self.body.was_copied(old, new);
    }

    /// Creates the loop operation without its block, with the bounds of its first origin.
    fn shell(&mut self, header: &Header, lead: &Origin, at: InsertPoint) -> OperationState {
        let program = self.program;
        let info = program.loop_info(lead.of);
        let ctx = self.body.ctx().clone();
        if let Some(dimension) = info.dimension {
            return self.dimension_shell(info.op, dimension, &outside(&lead.map), at);
        }
        let mut state = OperationState::named(self.body.op_name(info.op), self.body.loc(info.op)).regions(1);
        state.properties = self.body.properties(info.op);
        // An attribute of one loop, such as an unroll factor, need not hold for another loop.
        let same = header.origins.len() == 1 && header.span == Span::Whole;
        state.attributes = if same { self.body.attributes(info.op) } else { Dict::EMPTY };
        let inits = self.inits(header, at);
        state.result_types = inits.iter().map(|value| self.body.value_type(*value)).collect();
        let around = outside(&lead.map);
        let own_inits = self.body.num_results(info.op);
        let bounds: Vec<Value> = self.body.operands(info.op).collect();
        let bounds = &bounds[..bounds.len() - own_inits];
        state.operands = bounds.iter().map(|value| self.resolve(*value, &around, at)).collect();
        state.operands.extend_from_slice(&inits);
        // The carried values are the last operands of a loop.
        if let Some(mut segments) = self.body.segments(info.op, false).map(Vec::from_iter) {
            if let Some(last) = segments.last_mut() {
                *last = inits.len() as i64;
            }
            state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
        }
        state
    }

    /// Returns the block of a new loop. Its arguments are the induction variable, then the carried
    /// values of each origin.
    fn new_block(&mut self, header: &Header, lead: &Origin, op: Op) -> Block {
        let region = self.body.region(op, 0);
        let block = self.body.append_block(region, &[]);
        let add = |emit: &mut Self, old: Value| {
            let (ty, loc) = (emit.body.value_type(old), emit.body.argument_loc(old));
            let new = emit.body.add_argument(block, ty);
            emit.body.set_argument_loc(new, loc);
            new
        };
        let variable = add(self, self.program.loop_info(lead.of).variable);
        let ty = self.counter_type(lead);
        self.body.set_value_type(variable, ty);
        let depth = self.scopes.len() as u32 + 1;
        for (first, _) in header.runs() {
            for old in self.carried_by(first) {
                let new = add(self, old);
                self.define(old, new, &first.map, depth);
            }
        }
        block
    }
}

/// Returns an origin's map outside of its loop: without the loop's own iteration, which no map
/// there refers to.
fn outside(map: &[AffineForm]) -> Vec<AffineForm> {
    let around = &map[..map.len().saturating_sub(1)];
    let seen =
        |form: &AffineForm| form.substitute(&mut |level| Some(AffineForm::level(level.checked_sub(1)?)));
    around.iter().filter_map(seen).collect()
}

/// True if the iteration of a loop is a quotient of the new loop's: it was flattened.
fn is_flattened(lead: &Origin) -> bool {
    let divides = |atom: &Atom| match atom {
        Atom::FloorDiv(form, _) => form.coefficient_of_level(0) != 0,
        _ => false,
    };
    lead.iteration().is_some_and(|own| own.terms().iter().any(|(atom, _)| divides(atom)))
}
