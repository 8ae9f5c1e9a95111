//! Carried values of a new loop: initial values, yielded values and results, for each of its
//! origins in turn.
//!
//! A loop that runs in parts starts each part with the results of the one before. Its own results
//! are those of the last part.

use loomir_dialects::interfaces::LoopLike;
use loomir_ir::{InsertPoint, Value};

use super::{Emit, outside};
use crate::affine::AffineForm;
use crate::tree::{Header, LoopId, Mark, Origin};

impl Emit<'_> {
    /// Returns the initial values of the loops.
    pub(super) fn inits(&mut self, header: &Header, at: InsertPoint) -> Vec<Value> {
        let mut inits = Vec::new();
        for (origin, _) in header.runs() {
            if header.are_lanes() {
                let Some(first) = origin.of_lane(0) else { continue };
                let own = self.carried_by(origin);
                inits.extend(own.into_iter().map(|value| self.resolve(value, &first.map, at)));
                continue;
            }
            let op = self.program.loop_info(origin.of).op;
            let view = self.body.op_ref(op);
            let own = if self.begun.contains(&self.instance_of(origin)) {
                self.body.results(op).collect()
            } else {
                view.info().interface::<dyn LoopLike>().map(|model| model.inits(view)).unwrap_or_default()
            };
            let around = outside(&origin.map);
            inits.extend(own.into_iter().map(|value| self.resolve(value, &around, at)));
        }
        inits
    }

    /// Maps the carried values to the initial values, for the first iteration.
    pub(super) fn begin_with(&mut self, header: &Header, at: InsertPoint) {
        let mut inits = self.inits(header, at).into_iter();
        let depth = self.scopes.len() as u32 + 1;
        for (origin, _) in header.runs() {
            for (argument, init) in self.carried_by(origin).into_iter().zip(inits.by_ref()) {
                self.define(argument, init, &origin.map, depth);
            }
        }
    }

    /// Returns the values yielded at the end of an iteration.
    pub(super) fn yielded_by(&mut self, header: &Header, at: InsertPoint) -> Vec<Value> {
        let mut yielded = Vec::new();
        for (_, origin) in header.runs() {
            if self.program.loop_info(origin.of).reduced > 0 {
                continue;
            }
            let terminator = self.body.terminator(self.program.loop_info(origin.of).block);
            let own = terminator.map(|terminator| self.body.operands(terminator).collect::<Vec<_>>());
            yielded.extend(own.into_iter().flatten().map(|value| self.resolve(value, &origin.map, at)));
        }
        yielded
    }

    /// Maps the loops' results to these values, for now.
    pub(super) fn end_with(&mut self, header: &Header, values: &[Value]) {
        let mut values = values.iter();
        let depth = self.scopes.len() as u32;
        for (origin, _) in header.runs() {
            let info = self.program.loop_info(origin.of);
            if let (Some(Mark::Lanes { count, .. }), Some(end)) =
                (header.mark, self.body.terminator(info.block))
            {
                // The lanes yield what the last of them does, to the loop around. If the last
                // does not run, no block is behind this one.
                let Some(last) = origin.of_lane(i64::from(count) - 1) else { continue };
                let yielded: Vec<Value> = self.body.operands(end).collect();
                for (own, value) in yielded.into_iter().zip(values.by_ref()) {
                    self.define(own, *value, &last.map, depth);
                }
                continue;
            }
            if info.carried > 0 {
                let instance = self.instance_of(origin);
                self.begun.insert(instance);
            }
            let around = outside(&origin.map);
            let results: Vec<Value> = self.body.results(info.op).collect();
            for (result, value) in results.into_iter().zip(values.by_ref()) {
                self.define(result, *value, &around, depth);
            }
        }
    }

    /// Returns the loop of an origin with the iteration of the loops around it.
    fn instance_of(&self, origin: &Origin) -> (LoopId, Vec<AffineForm>) {
        (origin.of, outside(&origin.map))
    }

    /// Returns the carried values of a loop of the program.
    pub(super) fn carried_by(&self, origin: &Origin) -> Vec<Value> {
        let info = self.program.loop_info(origin.of);
        // All arguments of a parallel loop are induction variables.
        self.body.arguments(info.block).skip(1).take(info.carried).collect()
    }
}
