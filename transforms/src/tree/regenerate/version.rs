//! Versioned nodes: an `scf.if` on a test of where memrefs lie.
//!
//! Two memrefs of the identity layout do not overlap if one ends where, or before, the other begins. Addresses are compared as unsigned
//! numbers. The product of a memref's sizes does not wrap if it has an element, and is zero if it has none, in wrapping arithmetic too.

use loomir_dialects::{arith, memref, scf};
use loomir_ir::{Builder, DYNAMIC, InsertPoint, Type, TypeKind, Value};

use super::super::green::{Assumption, Forest, Green, Node};
use super::super::program::LoopId;
use super::Emit;
use crate::dependence::base::bytes_of_element;

/// The first byte of a memref, and the first behind it.
type Bytes = (Value, Value);

impl Emit<'_> {
    pub(super) fn versioned(
        &mut self,
        assumption: &Assumption,
        fast: Green,
        fallback: Green,
        at: InsertPoint,
    ) {
        let condition = self.test(assumption, at);
        // What loops of the program result in, whichever version runs.
        let mut loops = Vec::new();
        origins(self.forest, fast, &mut loops);
        let program = self.program;
        let old: Vec<Value> = loops
            .into_iter()
            .flat_map(|of| self.body.results(program.loop_info(of).op).collect::<Vec<_>>())
            .collect();
        let types: Vec<Type> = old.iter().map(|v| self.body.value_type(*v)).collect();
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let state = builder.state(scf::IfOp::DEF).operands(&[condition]).results(&types);
        let version = builder.insert(state);
        for (region, tree) in [fast, fallback].into_iter().enumerate() {
            let region = self.body.region(version, region);
            let block = self.body.append_block(region, &[]);
            let end = InsertPoint::End(block);
            // Values computed in one version are not there in the other, nor behind both.
            let (outside, outermost) = (self.known.open_outside(), self.outermost.take());
            self.sequence(tree, end);
            self.known.close_outside(outside);
            self.outermost = outermost;
            let results: Vec<Value> = old.iter().map(|value| self.mapping.value(*value)).collect();
            let mut builder = Builder::new(self.body, end);
            builder.set_loc(self.loc);
            let state = builder.state(scf::YieldOp::DEF).operands(&results);
            builder.insert(state);
        }
        for (i, value) in old.into_iter().enumerate() {
            self.mapping.map(value, self.body.result(version, i));
        }
    }

    /// Whether no pair of memrefs overlaps.
    fn test(&mut self, assumption: &Assumption, at: InsertPoint) -> Value {
        let ctx = self.body.ctx().clone();
        let mut known: Vec<(Value, Bytes)> = Vec::new();
        let mut all: Option<Value> = None;
        for (a, b) in assumption {
            let [a, b] = [*a, *b].map(|value| match known.iter().find(|(own, _)| *own == value) {
                Some((_, bytes)) => *bytes,
                None => {
                    let bytes = self.bytes(value, at);
                    known.push((value, bytes));
                    bytes
                }
            });
            let before = self.at_most(a.1, b.0, at);
            let behind = self.at_most(b.1, a.0, at);
            let apart = self.make(arith::OrIOp::DEF, &[before, behind], at);
            all = Some(match all {
                Some(others) => self.make(arith::AndIOp::DEF, &[others, apart], at),
                None => apart,
            });
        }
        // What assumes nothing holds.
        let always = ctx.int_type(1);
        all.unwrap_or_else(|| self.number(1, always, at))
    }

    fn bytes(&mut self, value: Value, at: InsertPoint) -> Bytes {
        let ctx = self.body.ctx().clone();
        let value = self.mapping.value(value);
        let TypeKind::MemRef { shape: Some(shape), element, .. } = self.body.value_type(value).kind(&ctx)
        else {
            unreachable!("only ranked memrefs are tested")
        };
        let fixed: i64 = shape.iter().filter(|size| **size != DYNAMIC).fold(1, |a, b| a.wrapping_mul(*b));
        let bytes = bytes_of_element(&ctx, *element).unwrap_or(1);
        let mut size = self.number(fixed.wrapping_mul(bytes), Type::INDEX, at);
        for dim in (0..shape.len()).filter(|i| shape[*i] == DYNAMIC) {
            let index = self.number(dim as i64, Type::INDEX, at);
            let extent = self.make(memref::DimOp::DEF, &[value, index], at);
            size = self.make(arith::MulIOp::DEF, &[size, extent], at);
        }
        let first = self.make(memref::ExtractAlignedPointerAsIndexOp::DEF, &[value], at);
        let behind = self.make(arith::AddIOp::DEF, &[first, size], at);
        (first, behind)
    }

    fn at_most(&mut self, a: Value, b: Value, at: InsertPoint) -> Value {
        let ctx = self.body.ctx().clone();
        let mut builder = Builder::new(self.body, at);
        builder.set_loc(self.loc);
        let predicate = arith::CMPI_PREDICATE.attr(&ctx, arith::CMPI_PREDICATE.value_of("ule").unwrap_or(0));
        let state = builder.state(arith::CmpIOp::DEF).operands(&[a, b]).attr(&ctx, "predicate", predicate);
        builder.value(state)
    }
}

/// The loops of the program that the items of a sequence run whole, once each.
fn origins(forest: &Forest, sequence: Green, loops: &mut Vec<LoopId>) {
    for item in forest.items(sequence) {
        if let Node::Loop { header, .. } = forest.get(item) {
            for origin in &forest.header(header).origins {
                if !loops.contains(&origin.of) {
                    loops.push(origin.of);
                }
            }
        }
    }
}
