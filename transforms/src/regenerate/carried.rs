//! Carried values of a new loop: initial values, yielded values and results, for each of its
//! origins in turn.
//!
//! A loop that runs in parts starts each part with the results of the one before. Its own results
//! are those of the last part.

use loomir_dialects::interfaces::LoopLike;
use loomir_ir::{InsertPoint, Value};

use super::{Emit, outside};
use crate::tree::{Header, Origin};

impl Emit<'_> {
    /// Returns the initial values of the loops.
    pub(super) fn inits(&mut self, header: &Header, at: InsertPoint) -> Vec<Value> {
        let mut inits = Vec::new();
        for origin in &header.origins {
            let op = self.program.loop_info(origin.of).op;
            let view = self.body.op_ref(op);
            let own = if self.begun.contains(&origin.of) {
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
        let arguments: Vec<Value> =
            header.origins.iter().flat_map(|origin| self.carried_by(origin)).collect();
        for (argument, init) in arguments.into_iter().zip(self.inits(header, at)) {
            self.mapping.map(argument, init);
        }
    }

    /// Returns the values yielded at the end of an iteration.
    pub(super) fn yielded_by(&mut self, header: &Header, at: InsertPoint) -> Vec<Value> {
        let mut yielded = Vec::new();
        for origin in &header.origins {
            let terminator = self.body.terminator(self.program.loop_info(origin.of).block);
            let own = terminator.map(|terminator| self.body.operands(terminator).collect::<Vec<_>>());
            yielded.extend(own.into_iter().flatten().map(|value| self.resolve(value, &origin.map, at)));
        }
        yielded
    }

    /// Maps the loops' results to these values, for now.
    pub(super) fn end_with(&mut self, header: &Header, values: &[Value]) {
        let mut values = values.iter();
        for origin in &header.origins {
            self.begun.insert(origin.of);
            let results = self.body.results(self.program.loop_info(origin.of).op);
            results.zip(values.by_ref()).for_each(|(result, value)| self.mapping.map(result, *value));
        }
    }

    /// Returns the carried values of a loop of the program.
    pub(super) fn carried_by(&self, origin: &Origin) -> Vec<Value> {
        let info = self.program.loop_info(origin.of);
        // All arguments of a parallel loop are induction variables.
        self.body.arguments(info.block).skip(1).take(info.carried).collect()
    }
}
