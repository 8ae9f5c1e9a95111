//! Parallel loops with results: each iteration contributes a value, combined in any order.
//!
//! Such a loop must run whole, each iteration once, in one operation: its dimensions are a perfect
//! nest of parallel loops, and other loops may share them. Then all contributions are there, and
//! the results are visible behind the outermost dimension. An operation that runs twice combines
//! the same values twice, each time from the initial values.
//!
//! **Assumptions.**
//! - The combination of two values has no effects and uses nothing else, by
//!   [`Structure::of`](crate::access::structure::Structure::of). Tried with
//!   `fixtures/fusion/parallel_reductions.mlir`.

use loomir_dialects::scf;
use loomir_ir::{Op, Type};

use super::Scope;
use crate::affine::AffineForm;
use crate::legality::{Verdict, Witness};
use crate::tree::program::LoopInfo;
use crate::tree::{Green, Header, HeaderId, Node, Origin, Span};

impl Scope<'_> {
    /// Checks that all dimensions of the parallel loops with results that begin or go on at this
    /// loop are in one operation. Remembers the inner ones. Linear in the dimensions.
    pub(super) fn begin_reductions(&mut self, id: HeaderId, inside: Green) -> Result<(), Verdict> {
        let part = self.part;
        for origin in &part.trees.header(id).origins {
            let info = part.program.loop_info(origin.of);
            if info.reduced == 0 {
                continue;
            }
            let nest = match info.dimension {
                Some(0) => self.nest_of(info, id, inside),
                _ => self.reducing.contains(&id).then(Vec::new),
            };
            self.reducing.extend(nest.ok_or(Verdict::MayBeIllegal(Witness::Carried(info.op)))?);
        }
        Ok(())
    }

    /// Returns the loops of the tree that run the inner dimensions of an operation, if all are in
    /// one operation.
    fn nest_of(&self, info: &LoopInfo, id: HeaderId, inside: Green) -> Option<Vec<HeaderId>> {
        let (program, trees) = (self.part.program, self.part.trees);
        let count = self.part.body.num_arguments(info.block);
        let (mut next, mut body) = (id, inside);
        let mut nest: Vec<HeaderId> = Vec::new();
        let mut around: Option<Vec<AffineForm>> = None;
        let lead = program.loop_info(trees.header(id).origins.first()?.of).op;
        for dimension in 0..count {
            if dimension > 0 {
                let Node::Loop { header, body: own } = trees.get(trees.only_item(body)?) else { return None };
                (next, body) = (header, own);
                nest.push(next);
            }
            let header = trees.header(next);
            let mut own = header.origins.iter().filter(|own| program.loop_info(own.of).op == info.op);
            let origin = own.next().filter(|_| own.next().is_none())?;
            let has_place = program.loop_info(origin.of).dimension == Some(dimension);
            let map = self.levels(&origin.map, self.loop_context.depth + 1 + dimension as u32).ok()?;
            let follows = around.is_none_or(|around| map[..map.len() - 1] == around[..]);
            let is_whole = header.parallel && header.span == Span::Whole;
            if !has_place || !follows || !is_whole || !self.is_written_so(header, (lead, dimension), count) {
                return None;
            }
            around = Some(map.to_vec());
        }
        Some(nest)
    }

    /// True if a loop is written as a dimension of an `scf.parallel` with `count` dimensions, the
    /// first origin's.
    fn is_written_so(&self, header: &Header, (lead, dimension): (Op, usize), count: usize) -> bool {
        let (program, body) = (self.part.program, self.part.body);
        let mut infos = header.origins.iter().map(|own| program.loop_info(own.of));
        infos.clone().all(|info| {
            let becomes_parallel = body.is(info.op, scf::ForOp::DEF)
                && count == 1
                && info.carried == 0
                && !info.space.unsigned
                && body.value_type(info.variable) == Type::INDEX;
            becomes_parallel
                || body.is(info.op, scf::ParallelOp::DEF)
                    && body.num_arguments(info.block) == count
                    && info.dimension == Some(dimension)
        }) && infos.next().is_some_and(|info| info.op == lead)
    }

    /// Checks that each iteration of a parallel loop with results runs here, and that what it
    /// contributes is visible at its end.
    pub(super) fn end_reduction(&mut self, header: &Header, origin: &Origin) -> Result<(), Verdict> {
        let info = self.part.program.loop_info(origin.of);
        if !header.parallel || !self.runs_whole(header, origin) {
            return Err(Verdict::MayBeIllegal(Witness::Carried(info.op)));
        }
        let innermost = self.part.body.num_arguments(info.block).checked_sub(1);
        if info.dimension != innermost {
            return Ok(());
        }
        let map = self.levels(&origin.map, self.loop_context.depth)?;
        self.handed_on(info.block, &map)
    }
}
