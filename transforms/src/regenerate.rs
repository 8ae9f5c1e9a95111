//! From the tree back to IR.
//!
//! What the tree leaves alone is moved, not made again: if the tree is the one that was raised, nothing happens. A loop that is new is
//! written in the form of its first origin (`affine.for`, `scf.for`), with that loop's variable as its own; variables of the others
//! are computed from it where they are used. Statements are copied into it, once for each leaf; guards become the `if`s they
//! were, dimensions of a parallel loop that follow one another one operation.
//!
//! Steps of reductions that run in [another order](Reordered) lose the flags that need not hold there, and only these.
//!
//! The tree must keep the order in which values are computed and used, and run a loop that carries values in order, its parts in one sequence. What cannot be
//! written is refused: a loop with a range of its own that does not count upwards in its first origin, or with a bound that is neither a number nor one value
//! and a number; and one loop of two kinds.
//!
//! **Cost.** Linear in the operations of the block and in what is copied.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::{affine, scf};
use loomir_ir::opdef::{OPERAND_SEGMENTS, OpDef};
use loomir_ir::{
    Attr, Block, Body, Builder, Dict, InsertPoint, Loc, Mapping, Op, OperationState, Type, Value,
};
use smallvec::SmallVec;

use crate::dependence::form::{Atom, Form};
use crate::dependence::nest::absolute;
use crate::dependence::updates::reduction::drop_poison_flags;
use crate::legality::Approved;
use crate::marks;
use crate::tree::{
    Arm, Forest, Green, Header, If, Item, LoopId, Mark, Node, Origin, Program, Reordered, Span, StatementId,
};
use bounds::Range;
use expression::{Expression, Sum};
use known::{Computed, Known};

mod bounds;
mod carried;
mod conditional;
mod expression;
mod known;
mod parallel;
mod version;

/// What is written again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rewrite {
    /// What the tree changes.
    #[default]
    Changed,
    /// Everything. The result is the same.
    All,
}

/// Makes the operations of the program's block run in the order of an approved tree.
///
/// # Errors
///
/// The block stays as it was if a loop cannot be written (see the [module](self)): that loop of the program, or the first of those it is made of.
///
/// # Panics
///
/// Panics if the tree was approved for another program.
pub fn regenerate(
    body: &mut Body,
    program: &Program,
    forest: &Forest,
    approved: &Approved,
    rewrite: Rewrite,
) -> Result<(), Op> {
    assert!(approved.is_of(program), "the tree was approved for another program");
    let (root, reordered) = (approved.root(), approved.reordered());
    if root == program.root && rewrite == Rewrite::Changed {
        return Ok(());
    }
    let end = match body.terminator(program.block) {
        Some(terminator) => InsertPoint::Before(terminator),
        None => InsertPoint::End(program.block),
    };
    let loops = (0..program.num_loops() as u32).map(|id| program.loop_info(LoopId(id)));
    let unchanged: HashMap<Green, Op> =
        loops.filter(|info| info.parent.is_none()).map(|info| (info.green, info.op)).collect();
    let replaced: Vec<Op> =
        body.ops(program.block).filter(|op| Some(*op) != body.terminator(program.block)).collect();
    let mut kept: HashSet<Op> = HashSet::new();
    let mut emit = Emit {
        body,
        program,
        forest,
        reordered,
        arm: None,
        begun: HashSet::new(),
        mapping: Mapping::default(),
        scopes: Vec::new(),
        known: Known::new(),
        outermost: None,
        loc: Loc::UNKNOWN,
        unwritable: None,
        in_remainder: false,
    };
    for item in forest.with_ifs(root) {
        let own: &[Op] = match item {
            Item::If(If { of, bodies, .. }) => {
                let info = program.if_info(of);
                if info.bodies == bodies { std::slice::from_ref(&info.op) } else { &[] }
            }
            Item::Other(item) => match forest.get(item) {
                Node::Leaf { statement, .. } => &program.statement(statement).ops,
                _ => unchanged.get(&item).map_or(&[], std::slice::from_ref),
            },
        };
        if own.is_empty() || rewrite == Rewrite::All || own.iter().any(|op| kept.contains(op)) {
            emit.item(item, end);
            continue;
        }
        for op in own {
            kept.insert(*op);
            emit.body.detach(*op);
            Builder::new(emit.body, end).place(*op);
        }
    }
    let Emit { mapping, unwritable, .. } = emit;
    if let Some(op) = unwritable {
        restore(body, program.block, &replaced, end);
        return Err(op);
    }
    for op in replaced.into_iter().rev().filter(|op| !kept.contains(op)) {
        for result in body.results(op).collect::<Vec<_>>() {
            if let Some(new) = mapping.get(result) {
                body.replace_all_uses(result, new);
            }
        }
        body.erase(op);
    }
    if !reordered.is_empty() {
        let inside = |op: &Op| body.preorder(*op).collect::<Vec<_>>();
        let moved: Vec<Op> =
            kept.iter().flat_map(inside).filter(|op| reordered.contains(*op, None)).collect();
        moved.into_iter().for_each(|op| drop_poison_flags(body, op));
    }
    Ok(())
}

/// Makes `ops` all there is in a block again, in this order before `end`.
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
    /// What the variable is, as a form over the levels down to this one; the own level's coefficient is `scale`. None: the level is the
    /// variable, and nothing is computed from it.
    meaning: Option<(Form, i64)>,
    /// Whether values in it are computed by `affine.apply`.
    affine: bool,
}

struct Emit<'a> {
    body: &'a mut Body,
    program: &'a Program,
    forest: &'a Forest,
    reordered: &'a Reordered,
    /// Of which tree of a versioned node we are inside.
    arm: Option<Arm>,
    /// Loops of which a part stands in the sequence at hand, before what is written next: what it hands on is what the results are, so far.
    begun: HashSet<LoopId>,
    /// What values of the program are where we are.
    mapping: Mapping,
    scopes: Vec<Scope>,
    /// Values that are computed.
    known: Known,
    /// The new loop or `if` that is being written and stands in no other.
    outermost: Option<Op>,
    /// Where what is computed for a loop is said to come from: the loop.
    loc: Loc,
    /// A loop that cannot be written. What is written from then on is thrown away.
    unwritable: Option<Op>,
    /// True inside a remainder of one iteration, which is written without a loop.
    in_remainder: bool,
}

impl Emit<'_> {
    fn sequence(&mut self, sequence: Green, at: InsertPoint) {
        let around = std::mem::take(&mut self.begun);
        for item in self.forest.with_ifs(sequence) {
            self.item(item, at);
        }
        self.begun = around;
    }

    /// Recurses once a loop or guard, and these nest at most as deep as they are raised.
    fn item(&mut self, item: Item, at: InsertPoint) {
        let forest = self.forest;
        let item = match item {
            Item::If(conditional) => return self.conditional(conditional, at),
            Item::Other(item) => item,
        };
        match forest.get(item) {
            Node::Empty | Node::Sequence { .. } => self.sequence(item, at),
            Node::Guard { of, map, holds, body } => self.conditional(If::side(of, map, holds, body), at),
            Node::Loop { header, body } => self.new_loop(forest.header(header), body, at),
            Node::Versioned { assumption, fast, fallback } => {
                self.versioned(forest.assumptions(assumption), fast, fallback, at);
            }
            Node::Leaf { statement, map } => self.statement(statement, forest.map(map), at),
        }
    }

    fn statement(&mut self, id: StatementId, map: &[Form], at: InsertPoint) {
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
            self.drop_flags(*op);
        }
    }

    /// Drops the flags that do not hold here of copies of what is inside an operation.
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

    /// What a value of the program is here, in the iteration `map` of the loops around. It is in the mapping from then on.
    fn resolve(&mut self, value: Value, map: &[Form], at: InsertPoint) -> Value {
        let Some((of, 0)) = self.program.loop_of_argument(self.body, value) else {
            return self.mapping.value(value);
        };
        let new = self.variable(of, value, map, at);
        self.mapping.map(value, new);
        new
    }

    /// The variable of a loop of the program.
    fn variable(&mut self, of: LoopId, old: Value, map: &[Form], at: InsertPoint) -> Value {
        let depth = self.scopes.len() as u32;
        let info = self.program.loop_info(of);
        let form = info
            .space
            .variable
            .as_ref()
            .and_then(|form| form.substitute(&mut |level| absolute(map.get(level as usize)?, depth)));
        if info.space.variable.is_some() {
            let sum = form.and_then(|form| self.sum_of(&form)).unwrap_or_else(|| self.give_up(of));
            return self.value_of(sum, self.body.value_type(old), at);
        }
        // Nothing is known of the variable but that the loop is whole: it is the new loop's.
        let own = map.get(info.depth as usize).and_then(|form| absolute(form, depth));
        match own.as_ref().map(Form::terms) {
            Some([(Atom::Level(level), 1)]) => self.scopes[*level as usize].variable,
            _ => {
                let anything = self.give_up(of);
                self.value_of(anything, self.body.value_type(old), at)
            }
        }
    }

    /// A loop cannot be written: any number will do in its place.
    fn give_up(&mut self, of: LoopId) -> Sum {
        self.unwritable.get_or_insert(self.program.loop_info(of).op);
        Sum::constant(0)
    }

    /// A form over the levels around as one over values that are there.
    fn sum_of(&self, form: &Form) -> Option<Sum> {
        Sum::of(&self.in_values(form, self.scopes.len() as u32)?, &self.mapping)
    }

    /// A form over levels as one over values: a level is what the variable of its loop says.
    fn in_values(&self, form: &Form, depth: u32) -> Option<Form> {
        let mut form = form.clone();
        for level in (0..depth).rev() {
            let scope = &self.scopes[level as usize];
            let coefficient = form.coefficient_of_level(level);
            let Some((meaning, scale)) = &scope.meaning else { continue };
            if coefficient != 0 && coefficient % scale == 0 {
                let times = coefficient / scale;
                let variable = Form::atom(Atom::Param(scope.variable));
                form = form.plus(meaning, times.checked_neg()?)?.plus(&variable, times)?;
            }
        }
        form.substitute(&mut |level| {
            let scope = &self.scopes[level as usize];
            let (meaning, scale) = scope.meaning.as_ref()?;
            let rest = meaning.plus(&Form::level(level), scale.checked_neg()?)?;
            let rest = self.in_values(&rest, level)?;
            Form::atom(Atom::Param(scope.variable)).minus(&rest)?.floor_div(*scale)
        })
    }

    /// The value of a sum, computed where we are unless it is there already.
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
        let affine = self.scopes.iter().any(|scope| scope.affine);
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let value = Expression { builder, affine }.value(&sum, ty);
        self.known.insert(key, value, outside.is_some());
        value
    }

    /// The result of a new operation whose type its operands give.
    fn make(&mut self, def: &'static OpDef, operands: &[Value], at: InsertPoint) -> Value {
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(def).operands(operands);
        builder.value(state)
    }

    fn new_loop(&mut self, header: &Header, inside: Green, at: InsertPoint) {
        let program = self.program;
        let Some(lead) = header.origins.first() else { return };
        let info = program.loop_info(lead.of);
        // What counts upwards runs its iterations in one of the orders, too.
        if header.parallel && header.span == Span::Whole && info.dimension.is_some() {
            return self.parallel(header, inside, at);
        }
        let around = std::mem::replace(&mut self.loc, self.body.loc(info.op));
        let depth = self.scopes.len() as u32;
        let meaning = self.meaning(lead);
        let range = match (&header.span, &meaning) {
            (Span::Range { scale: own, lower, upper }, Some((meaning, scale))) if own == scale => {
                Range::of(lower, upper, meaning, *scale, depth)
            }
            _ => None,
        };
        // What is affine in one kind of loop need not be in another.
        let name = |of: LoopId| self.body.op_name(program.loop_info(of).op);
        let of_one_kind = header.origins.iter().all(|origin| name(origin.of) == name(lead.of));
        // All iterations of the program's loop are those of a loop that does not leap over any.
        let leaps = || lead.iteration().is_none_or(|own| own.coefficient_of_level(0) != 1);
        let is_written = match header.span {
            Span::Whole => meaning.is_none() || !leaps(),
            Span::Range { .. } => range.is_some() && (info.space.is_counted() || !leaps()),
        };
        if !is_written || !of_one_kind {
            self.give_up(lead.of);
        }
        if let Some(value) = range.as_ref().and_then(Range::only_value) {
            // One iteration needs no loop.
            let ty = self.body.value_type(info.variable);
            let variable = self.value_of(Sum::constant(value), ty, at);
            self.begin_with(header, at);
            self.open_scope(lead, variable, meaning);
            self.known.open();
            let was_in_remainder = self.in_remainder;
            self.in_remainder |= header.mark == Some(Mark::Remainder);
            self.sequence(inside, at);
            self.in_remainder = was_in_remainder;
            let yielded = self.yielded_by(header, at);
            self.known.close();
            self.scopes.pop();
            self.end_with(header, &yielded);
            self.loc = around;
            return;
        }
        let mut state = match &range {
            Some(range) => self.bounded_shell(header, lead, range, at),
            None => self.shell(header, lead, at),
        };
        self.mark(header, &mut state);
        let op = Builder::new(self.body, at).insert(state);
        let is_outermost = self.outermost.is_none();
        self.outermost.get_or_insert(op);
        let block = self.new_block(header, op);
        let variable = self.body.argument(block, 0);
        self.open_scope(lead, variable, meaning);
        self.known.open();
        self.sequence(inside, InsertPoint::End(block));
        let yielded = self.yielded_by(header, InsertPoint::End(block));
        self.known.close();
        self.scopes.pop();
        if info.dimension.is_some() {
            let mut builder = Builder::new(self.body, InsertPoint::End(block));
            builder.set_loc(self.loc);
            let is_affine = builder.body().is(op, affine::ForOp::DEF);
            let state = builder.state(if is_affine { affine::YieldOp::DEF } else { scf::YieldOp::DEF });
            builder.insert(state);
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

    /// Marks a loop as its header says, or as what it stands in: a remainder without a loop.
    fn mark(&self, header: &Header, state: &mut OperationState) {
        let name = match header.mark {
            _ if self.in_remainder => marks::REMAINDER,
            Some(Mark::Remainder) => marks::REMAINDER,
            Some(Mark::Distributed) => marks::DISTRIBUTED,
            None => return,
        };
        state.set_attr(self.body.ctx(), name, Attr::UNIT);
    }

    /// What the variable of a loop that is about to be opened is, over the levels down to it; the coefficient of its own.
    fn meaning(&self, lead: &Origin) -> Option<(Form, i64)> {
        let depth = self.scopes.len() as u32;
        let form = self.program.loop_info(lead.of).space.variable.as_ref()?;
        let form = form.substitute(&mut |level| absolute(lead.map.get(level as usize)?, depth + 1))?;
        let scale = form.coefficient_of_level(depth);
        (scale > 0).then_some((form, scale))
    }

    /// Enters a loop whose variable this is, and is this over the levels.
    fn open_scope(&mut self, lead: &Origin, variable: Value, meaning: Option<(Form, i64)>) {
        let affine = affine::is_loop(self.body, self.program.loop_info(lead.of).op);
        self.scopes.push(Scope { variable, meaning, affine });
    }

    /// A terminator like `old` that yields other values.
    fn terminator(&mut self, old: Op, yielded: Vec<Value>, at: InsertPoint) {
        let mut state = OperationState::named(self.body.op_name(old), self.body.loc(old));
        state.operands = yielded;
        state.properties = self.body.properties(old);
        state.attributes = self.body.attributes(old);
        Builder::new(self.body, at).insert(state);
    }

    /// The loop's operation without its block, with the bounds of its first origin.
    fn shell(&mut self, header: &Header, lead: &Origin, at: InsertPoint) -> OperationState {
        let program = self.program;
        let info = program.loop_info(lead.of);
        let ctx = self.body.ctx().clone();
        if let Some(dimension) = info.dimension {
            return self.dimension_shell(info.op, dimension, &outside(&lead.map), at);
        }
        let mut state = OperationState::named(self.body.op_name(info.op), self.body.loc(info.op)).regions(1);
        state.properties = self.body.properties(info.op);
        // What was stated of one loop (that it is parallel, how to unroll it) need not hold for another.
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

    /// The block of a new loop: the variable, then what each origin carries.
    fn new_block(&mut self, header: &Header, op: Op) -> Block {
        let program = self.program;
        let region = self.body.region(op, 0);
        let block = self.body.append_block(region, &[]);
        for (i, origin) in header.origins.iter().enumerate() {
            let info = program.loop_info(origin.of);
            let arguments: Vec<Value> = match info.dimension {
                Some(_) => vec![info.variable],
                None => self.body.arguments(info.block).collect(),
            };
            for (j, old) in arguments.into_iter().enumerate() {
                if i > 0 && j == 0 {
                    continue;
                }
                let (ty, loc) = (self.body.value_type(old), self.body.argument_loc(old));
                let new = self.body.add_argument(block, ty);
                self.body.set_argument_loc(new, loc);
                if j > 0 {
                    self.mapping.map(old, new);
                }
            }
        }
        block
    }
}

/// An origin's map as seen from outside of its loop: without the loop's own iteration, which nothing there refers to.
fn outside(map: &[Form]) -> Vec<Form> {
    let around = &map[..map.len().saturating_sub(1)];
    let seen = |form: &Form| form.substitute(&mut |level| Some(Form::level(level.checked_sub(1)?)));
    around.iter().filter_map(seen).collect()
}
