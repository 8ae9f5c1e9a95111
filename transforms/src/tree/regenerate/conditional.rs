//! Guards: an `if` of the program again, with the sides that are there.
//!
//! The condition is that of the program's operation, in the instance at hand: an `i1` value where one was computed, or the set of an
//! `affine.if`. A side that stands alone becomes an `if` whose other side does nothing, so no condition is ever negated.

use loomir_ir::{Builder, InsertPoint, OperationState, Value};

use super::super::sides::If;
use super::Emit;

impl Emit<'_> {
    pub(super) fn conditional(&mut self, If { of, map, bodies }: If, at: InsertPoint) {
        let (program, forest) = (self.program, self.forest);
        let old = program.if_info(of).op;
        let around = std::mem::replace(&mut self.loc, self.body.loc(old));
        let operands: Vec<Value> = self.body.operands(old).collect();
        let mut state = OperationState::named(self.body.op_name(old), self.loc).regions(2);
        state.operands = operands.into_iter().map(|value| self.resolve(value, forest.map(map), at)).collect();
        state.properties = self.body.properties(old);
        state.attributes = self.body.attributes(old);
        let op = Builder::new(self.body, at).insert(state);
        let is_outermost = self.outermost.is_none();
        self.outermost.get_or_insert(op);
        for (index, tree) in bodies.into_iter().enumerate() {
            // The first region has a block in any case.
            if index > 0 && tree.is_none() {
                continue;
            }
            let region = self.body.region(op, index);
            let block = self.body.append_block(region, &[]);
            let end = InsertPoint::End(block);
            self.known.open();
            if let Some(tree) = tree {
                self.sequence(tree, end);
            }
            self.known.close();
            let own = [index, 0].map(|index| self.body.entry_block(self.body.region(old, index)));
            let like = own.into_iter().flatten().find_map(|block| self.body.terminator(block));
            if let Some(terminator) = like {
                self.terminator(terminator, Vec::new(), end);
            }
        }
        self.loc = around;
        if is_outermost {
            self.outermost = None;
        }
    }
}
