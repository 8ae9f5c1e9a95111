//! Parallel loops: consecutive dimensions become one operation.
//!
//! A dimension that is not the whole body of the one before is an operation of its own inside of
//! it.

use loomir_dialects::scf::forall::{self, Number};
use loomir_dialects::{affine, scf};
use loomir_ir::opdef::OPERAND_SEGMENTS;
use loomir_ir::{AttrKind, Block, Body, Builder, Dict, InsertPoint, Op, OperationState, Type, Value};

use super::{Emit, outside};
use crate::affine::AffineForm;
use crate::tree::Program;
use crate::tree::{Green, Header, Node, Span, TreeStore};

impl Emit<'_> {
    /// Creates the operation, without its block, of a loop that was a dimension of `old` and is no
    /// longer parallel.
    pub(super) fn dimension_shell(
        &mut self,
        old: Op,
        dimension: usize,
        around: &[AffineForm],
        at: InsertPoint,
    ) -> OperationState {
        let (ctx, loc) = (self.body.ctx().clone(), self.body.loc(old));
        let view = self.body.op_ref(old);
        if self.body.is(old, scf::ForallOp::DEF) {
            let numbers = forall::dimensions(view).get(dimension).copied();
            let numbers = numbers.into_iter().flatten().collect::<Vec<Number>>();
            let mut state = OperationState::of(&ctx, scf::ForOp::DEF, loc).regions(1);
            let value = |number| match number {
                Number::Value(value) => self.resolve(value, around, at),
                Number::Constant(number) => self.number(number, Type::INDEX, at),
            };
            state.operands = numbers.into_iter().map(value).collect();
            return state;
        }
        if !self.body.is(old, affine::ParallelOp::DEF) {
            let mut state = OperationState::of(&ctx, scf::ForOp::DEF, loc).regions(1);
            let groups = ["lowerBound", "upperBound", "step"].map(|group| view.operand_group(group));
            let values: Vec<Value> =
                groups.iter().filter_map(|group| group.get(dimension)).copied().collect();
            state.operands = values.into_iter().map(|value| self.resolve(value, around, at)).collect();
            return state;
        }
        let mut state = OperationState::of(&ctx, affine::ForOp::DEF, loc).regions(1);
        let (for_lower, for_upper) = affine::parallel::bound_operands(view);
        let segments = [for_lower.len() as i64, for_upper.len() as i64, 0];
        let (bounds, steps) = (affine::parallel::bounds(view), affine::parallel::steps(view));
        if let (Some((lower, upper)), Some(step)) = (bounds.get(dimension), steps.get(dimension)) {
            state.set_attr(&ctx, "lowerBoundMap", ctx.attr(AttrKind::AffineMap(*lower)));
            state.set_attr(&ctx, "upperBoundMap", ctx.attr(AttrKind::AffineMap(*upper)));
            state.set_attr(&ctx, "step", ctx.index_attr(*step));
        }
        state.set_attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &segments));
        let values = for_lower.into_iter().chain(for_upper);
        state.operands = values.map(|value| self.resolve(value, around, at)).collect();
        state
    }

    /// Ends the block of a loop `op` that is of another kind than the program's.
    pub(super) fn end_of_kind(&mut self, op: Op, block: Block, yielded: &[Value]) {
        let ends = [
            (scf::ParallelOp::DEF, scf::ReduceOp::DEF),
            (affine::ParallelOp::DEF, affine::YieldOp::DEF),
            (affine::ForOp::DEF, affine::YieldOp::DEF),
            (scf::ForOp::DEF, scf::YieldOp::DEF),
        ];
        let end = ends.into_iter().find(|(own, _)| self.body.is(op, own));
        let Some((_, end)) = end else { return };
        let mut builder = Builder::new(self.body, InsertPoint::End(block));
        builder.set_loc(self.loc);
        let state = builder.state(end).operands(yielded);
        builder.insert(state);
    }

    /// Writes a loop with its first origin's form, with the dimensions of that origin's operation
    /// that fill its body.
    pub(super) fn parallel(&mut self, header: &Header, inside: Green, at: InsertPoint) {
        let (program, trees) = (self.program, self.trees);
        let Some(lead) = header.origins.first() else { return };
        let old = program.loop_info(lead.of).op;
        let around = std::mem::replace(&mut self.loc, self.body.loc(old));
        let (mut levels, mut inside) = (vec![header], inside);
        while let Some((next, body)) =
            levels.last().and_then(|last| next_dimension(program, trees, last, inside))
            && self.is_of_one_kind(next)
        {
            levels.push(next);
            inside = body;
        }
        let leads: Vec<_> = levels.iter().filter_map(|level| level.origins.first()).collect();

        let ctx = self.body.ctx().clone();
        let mut state = OperationState::named(self.body.op_name(old), self.loc).regions(1);
        state.properties = self.body.properties(old);
        let map = outside(&lead.map);
        let picked: Vec<usize> =
            leads.iter().filter_map(|lead| program.loop_info(lead.of).dimension).collect();
        let operands: Vec<Value> = if self.body.is(old, affine::ParallelOp::DEF) {
            affine::parallel::set_dimensions(self.body.op_ref(old), &picked, &mut state);
            self.body.operands(old).collect()
        } else if self.body.is(old, scf::ForallOp::DEF) {
            forall::set_dimensions(self.body.op_ref(old), &picked, &mut state);
            std::mem::take(&mut state.operands)
        } else {
            let groups =
                ["lowerBound", "upperBound", "step"].map(|group| self.body.op_ref(old).operand_group(group));
            let count = picked.len() as i64;
            let segments = ctx.dense_ints_attr(Type::I32, &[count, count, count, 0]);
            state.set_attr(&ctx, OPERAND_SEGMENTS, segments);
            groups
                .iter()
                .flat_map(|group| picked.iter().filter_map(|dimension| group.get(*dimension)))
                .copied()
                .collect()
        };
        state.operands = operands.into_iter().map(|value| self.resolve(value, &map, at)).collect();
        let dimensions = self.body.num_arguments(program.loop_info(lead.of).block);
        let same = leads.len() == dimensions && levels.iter().all(|level| level.origins.len() == 1);
        state.attributes = if same { self.body.attributes(old) } else { Dict::EMPTY };
        self.mark(header, &mut state);
        self.begin_reductions(&levels, &mut state, at);

        let op = Builder::new(self.body, at).insert(state);
        self.written.insert(op, old);
        self.loops.extend(leads.iter().map(|_| Some(op)));
        let is_outermost = self.outermost.is_none();
        self.outermost.get_or_insert(op);
        let region = self.body.region(op, 0);
        let block = self.body.append_block(region, &[]);
        for (lead, level) in leads.iter().zip(&levels) {
            let old = program.loop_info(lead.of).variable;
            let (ty, loc) = (self.body.value_type(old), self.body.argument_loc(old));
            let variable = self.body.add_argument(block, ty);
            self.body.set_argument_loc(variable, loc);
            let meaning = self.meaning(lead);
            self.open_scope((level, lead), variable, meaning, None);
        }
        self.known.open();
        self.sequence(inside, InsertPoint::End(block));
        let reduces = levels.last().is_some_and(|innermost| self.end_reductions(innermost, block));
        self.known.close();
        self.scopes.truncate(self.scopes.len() - leads.len());
        if reduces {
            let results: Vec<Value> = self.body.results(op).collect();
            self.end_with(header, &results);
        } else if let Some(terminator) = self.body.terminator(program.loop_info(lead.of).block) {
            let end = self.body.copy_op(terminator, &mut self.mapping);
            Builder::new(self.body, InsertPoint::End(block)).place(end);
        }
        self.loc = around;
        if is_outermost {
            self.outermost = None;
        }
    }
}

/// Makes the state of a new loop that of a parallel loop. A loop that carries values, as lanes may,
/// or whose induction variable is no index, or is compared without a sign, stays as it is: its
/// order is one of those allowed.
pub(super) fn in_any_order(body: &Body, state: &mut OperationState) {
    let ctx = body.ctx();
    if !state.result_types.is_empty() {
        return;
    }
    if state.name == ctx.op_name_of(affine::ForOp::DEF) {
        affine::parallel::of_loop(ctx, state);
        return;
    }
    let is_index = state.operands.len() == 3 && body.value_type(state.operands[0]) == Type::INDEX;
    let is_unsigned = state.properties.get(ctx, "unsignedCmp").is_some();
    if state.name == ctx.op_name_of(scf::ForOp::DEF) && is_index && !is_unsigned {
        state.name = ctx.op_name_of(scf::ParallelOp::DEF);
        state.properties = Dict::EMPTY;
        state.set_segments(ctx, &[1, 1, 1, 0]);
    }
}

/// Returns the loop that fills `body` and is the next dimension after `header`'s, and its body.
fn next_dimension<'a>(
    program: &Program,
    trees: &'a TreeStore,
    header: &Header,
    body: Green,
) -> Option<(&'a Header, Green)> {
    let only = trees.only_item(body)?;
    let Node::Loop { header: next, body } = trees.get(only) else { return None };
    let next = trees.header(next);
    let [own, other] = [header, next].map(|header| header.origins.first());
    let (own, other) = (program.loop_info(own?.of), program.loop_info(other?.of));
    let follows = own.op == other.op && other.dimension == own.dimension.map(|index| index + 1);
    (follows && next.parallel && next.span == Span::Whole).then_some((next, body))
}
