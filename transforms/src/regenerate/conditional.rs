//! Guards: an `if` of the program, written with the branches that exist.
//!
//! The condition is that of the program's operation, in the current instance: an `i1` value, or the
//! set of an `affine.if`. A branch alone becomes an `if` with an empty other branch, so no
//! condition is ever negated.
//!
//! Before a loop of the program that is around the `if`, the condition is frozen if it may be
//! poison: the loop need not run.
//!
//! After a yield in a branch, the yielded values replace the conditional's results inside that
//! branch. The new `if` has the results that both its branches yield: those of several merged
//! `if`s, and none if the yields moved elsewhere.

use hashbrown::HashSet;
use loomir_ir::{Builder, InsertPoint, Op, OperationState, Type, Value};

use super::Emit;
use crate::access::Effects;
use crate::access::base::Base;
use crate::affine::AffineForm;
use crate::affine::classes::may_be_poison;
use crate::tree::{Green, If, Map, Node};

impl Emit<'_> {
    pub(super) fn conditional(&mut self, If { of, map, bodies }: If, at: InsertPoint) {
        let (program, trees) = (self.program, self.trees);
        let old = program.if_info(of).op;
        let around = std::mem::replace(&mut self.loc, self.body.loc(old));
        let operands: Vec<Value> = self.body.operands(old).collect();
        let mut state = OperationState::named(self.body.op_name(old), self.loc).regions(2);
        let is_outside = program.is_decided_earlier(self.body, of, trees.map(map));
        let may_be_new = is_outside && !self.is_certain(old);
        for value in operands {
            let new = self.resolve(value, trees.map(map), at);
            let may_be_poison = may_be_new && may_be_poison(self.body, value, false);
            state.operands.push(if may_be_poison { self.frozen(value, &[], at) } else { new });
        }
        state.properties = self.body.properties(old);
        state.attributes = self.body.attributes(old);
        let results = self.results_of(bodies);
        state.result_types =
            results.iter().map(|(value, _)| self.body.value_type(*value)).collect::<Vec<Type>>();
        let op = Builder::new(self.body, at).insert(state);
        self.body.was_copied(old, op);
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
                let mut yielded = Vec::with_capacity(results.len());
                for (value, map) in &results {
                    yielded.push(self.resolve(*value, trees.map(*map), end));
                }
                self.terminator(terminator, yielded, end);
            }
        }
        for (index, (old, map)) in results.into_iter().enumerate() {
            let new = self.body.result(op, index);
            self.define(old, new, trees.map(map), self.scopes.len() as u32);
        }
        self.loc = around;
        if is_outermost {
            self.outermost = None;
        }
    }

    /// True if the program certainly decides a conditional: the loops around run, and nothing keeps
    /// it from getting there. Linear in the statements.
    fn is_certain(&self, conditional: Op) -> bool {
        let program = self.program;
        let returns = |effects: &Effects| {
            let exits = effects.classes.iter().any(|(class, _)| class.base == Base::Exit && class.writes);
            effects.world.is_none() && !exits
        };
        let mut block = self.body.block_of(conditional);
        while let Some(own) = block.filter(|own| *own != program.block) {
            let runs = |of| program.loop_info(of).trip_count().is_some_and(|count| count > 0);
            if !program.loop_of(own).is_some_and(|of| program.path(Some(of)).into_iter().all(runs)) {
                return false;
            }
            block = self.body.block_of(self.body.region_parent(self.body.block_region(own)));
        }
        program.statements().all(|own| returns(&own.effects))
    }

    /// Maps the results of a conditional of the program to the values yielded in a branch, for the
    /// rest of the branch.
    pub(super) fn yielded(&mut self, conditional: Op, terminator: Op, map: &[AffineForm], at: InsertPoint) {
        let values: Vec<Value> = self.body.operands(terminator).collect();
        for (index, value) in values.into_iter().enumerate() {
            let new = self.resolve(value, map, at);
            let result = self.body.result(conditional, index);
            self.define(result, new, map, self.scopes.len() as u32);
        }
    }

    /// Returns the results of original conditionals that both sides yield, with their iterations.
    /// Linear in the items of both sides.
    fn results_of(&self, sides: [Option<Green>; 2]) -> Vec<(Value, Map)> {
        let conditionals =
            |side: Option<Green>| side.map(|side| self.conditionals_yielded(side)).unwrap_or_default();
        let (mut both, others) = (conditionals(sides[0]), conditionals(sides[1]));
        let others: HashSet<(Op, Map)> = others.into_iter().collect();
        both.retain(|conditional| others.contains(conditional));
        let results = |(of, map): (Op, Map)| self.body.results(of).map(move |result| (result, map));
        both.into_iter().flat_map(results).collect()
    }

    /// Returns the original conditionals whose results a side yields, with their iterations. Linear
    /// in its items.
    pub(super) fn conditionals_yielded(&self, side: Green) -> Vec<(Op, Map)> {
        let yielding = self.trees.items(side).filter_map(|item| match self.trees.get(item) {
            Node::Leaf { statement, map } => {
                let of = self.program.statement(statement).yields_for(self.body)?;
                Some((of, map))
            }
            _ => None,
        });
        yielding.collect()
    }
}
