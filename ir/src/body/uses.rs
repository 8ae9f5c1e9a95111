//! Operands and successors, and the use lists they are links of.

use super::{Body, NONE, SuccessorData, UseData};
use crate::entity::{Block, Op, Value};
use crate::opdef::{OpDef, Trait, segment, sized_segment};

/// One use of a value: operand `index` of `op`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Use {
    /// The operation that uses the value.
    pub op: Op,
    /// Which operand.
    pub index: usize,
}

impl Body {
    pub(super) fn init_operands(&mut self, op: u32, operands: &[Value]) {
        if operands.is_empty() {
            return;
        }
        let start = self.uses.allocate(operands.len());
        self.ops[op as usize].operands = start;
        self.ops[op as usize].num_operands = operands.len() as u32;
        for (i, value) in operands.iter().enumerate() {
            self.link_use(start + i as u32, op, value.raw(self.arena));
        }
    }

    pub(super) fn link_use(&mut self, u: u32, owner: u32, value: u32) {
        let head = self.values[value].first_use;
        self.uses[u] = UseData { value, owner, prev: NONE, next: head };
        if head != NONE {
            self.uses[head].prev = u;
        }
        self.values[value].first_use = u;
    }

    fn unlink_use(&mut self, u: u32) {
        let UseData { value, prev, next, .. } = self.uses[u];
        if prev == NONE {
            self.values[value].first_use = next;
        } else {
            self.uses[prev].next = next;
        }
        if next != NONE {
            self.uses[next].prev = prev;
        }
    }

    pub(super) fn clear_operands(&mut self, op: Op) {
        let (start, count) = (self.data(op).operands, self.data(op).num_operands);
        if count == 0 {
            return;
        }
        for u in start..start + count {
            self.unlink_use(u);
        }
        self.uses.free(start, count as usize);
        self.data_mut(op).num_operands = 0;
    }

    /// The number of operands an operation has.
    #[inline]
    pub fn num_operands(&self, op: Op) -> usize {
        self.data(op).num_operands as usize
    }

    /// The operands of an operation.
    pub fn operands(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + '_ {
        let (start, count) = (self.data(op).operands, self.data(op).num_operands);
        (start..start + count).map(|u| self.value(self.uses[u].value))
    }

    /// Operand `index`.
    ///
    /// # Panics
    /// If there is no such operand.
    #[inline]
    pub fn operand(&self, op: Op, index: usize) -> Value {
        let data = self.data(op);
        assert!(index < data.num_operands as usize, "{op:?} has no operand {index}");
        self.value(self.uses[data.operands + index as u32].value)
    }

    /// Replaces operand `index`.
    pub fn set_operand(&mut self, op: Op, index: usize, value: Value) {
        assert!(index < self.num_operands(op), "{op:?} has no operand {index}");
        let u = self.data(op).operands + index as u32;
        self.unlink_use(u);
        self.link_use(u, op.raw(self.arena), value.raw(self.arena));
    }

    /// Replaces all operands, whatever their number.
    pub fn set_operands(&mut self, op: Op, operands: &[Value]) {
        if operands.len() == self.num_operands(op) {
            for (i, value) in operands.iter().enumerate() {
                self.set_operand(op, i, *value);
            }
        } else {
            self.clear_operands(op);
            self.init_operands(op.raw(self.arena), operands);
        }
    }

    /// The uses of a value, the latest made first.
    pub fn uses(&self, value: Value) -> impl Iterator<Item = Use> + '_ {
        let mut u = self.values[value.raw(self.arena)].first_use;
        std::iter::from_fn(move || {
            if u == NONE {
                return None;
            }
            let UseData { owner, next, .. } = self.uses[u];
            let index = (u - self.ops[owner as usize].operands) as usize;
            u = next;
            Some(Use { op: self.op(owner), index })
        })
    }

    /// True if a value has any use.
    #[inline]
    pub fn is_used(&self, value: Value) -> bool {
        self.values[value.raw(self.arena)].first_use != NONE
    }

    /// True if a value has exactly one use.
    pub fn has_one_use(&self, value: Value) -> bool {
        let first = self.values[value.raw(self.arena)].first_use;
        first != NONE && self.uses[first].next == NONE
    }

    /// True if any result of an operation is used.
    pub fn has_used_results(&self, op: Op) -> bool {
        self.results(op).any(|v| self.is_used(v))
    }

    /// Makes every use of `from` a use of `to`. Linear in the uses of `from`.
    pub fn replace_all_uses(&mut self, from: Value, to: Value) {
        self.trace_replaced(from, to);
        self.replace_uses_if(from, to, |_| true);
    }

    /// Makes the uses of `from` for which `which` holds uses of `to`.
    pub fn replace_uses_if(&mut self, from: Value, to: Value, mut which: impl FnMut(Use) -> bool) {
        if from == to {
            return;
        }
        let (to_raw, mut u) = (to.raw(self.arena), self.values[from.raw(self.arena)].first_use);
        while u != NONE {
            let UseData { owner, next, .. } = self.uses[u];
            let index = (u - self.ops[owner as usize].operands) as usize;
            if which(Use { op: self.op(owner), index }) {
                self.unlink_use(u);
                self.link_use(u, owner, to_raw);
            }
            u = next;
        }
    }

    /// Writes into `out` what the tables of a definition speak of: the numbers of the name, the
    /// attributes and the types, and how many values, regions and successors there are. For an
    /// operation whose regions are in this body.
    pub(crate) fn signature(&self, op: Op, out: &mut Vec<u32>) {
        let data = self.data(op);
        let (regions, successors) =
            self.extra(op).map_or((0, 0), |extra| (extra.num_regions, extra.num_successors));
        let own = [data.name.0, data.properties.0, data.attributes.0];
        let counts = [data.num_operands, data.num_results, regions, successors];
        out.clear();
        out.extend(own);
        out.extend(counts);
        let operands = self.uses.run(data.operands, data.num_operands);
        out.extend(operands.iter().map(|used| self.values[used.value].ty.0));
        let results = self.values.run(data.results, data.num_results);
        out.extend(results.iter().map(|value| value.ty.0));
    }

    /// Operands of entry `index` of the definition's operands.
    pub fn operand_group(&self, op: Op, def: &OpDef, index: usize) -> std::ops::Range<usize> {
        let total = self.num_operands(op);
        if total == 0 {
            return 0..0;
        }
        let segmented = def.traits.has(Trait::AttrSizedOperandSegments);
        let group = match segmented.then(|| self.segments(op, false)).flatten() {
            Some(sizes) => sized_segment(sizes, index, total),
            None => segment(&def.operands, index, total),
        };
        group.unwrap_or(0..0)
    }

    /// Results of entry `index` of the definition's results.
    pub fn result_group(&self, op: Op, def: &OpDef, index: usize) -> std::ops::Range<usize> {
        let total = self.num_results(op);
        if total == 0 {
            return 0..0;
        }
        let segmented = def.traits.has(Trait::AttrSizedResultSegments);
        let group = match segmented.then(|| self.segments(op, true)).flatten() {
            Some(sizes) => sized_segment(sizes, index, total),
            None => segment(&def.results, index, total),
        };
        group.unwrap_or(0..0)
    }

    // Successors.

    pub(super) fn init_successors(&mut self, op: Op, blocks: &[Block]) {
        let start = self.successors.allocate(blocks.len());
        let extra = self.extra_or_new(op);
        extra.successors = start;
        extra.num_successors = blocks.len() as u32;
        for (i, block) in blocks.iter().enumerate() {
            let s = start + i as u32;
            self.successors[s].owner = op.raw(self.arena);
            self.link_successor(s, block.raw(self.arena));
        }
    }

    fn link_successor(&mut self, s: u32, block: u32) {
        let head = self.blocks[block as usize].first_use;
        let owner = self.successors[s].owner;
        self.successors[s] = SuccessorData { block, owner, prev: NONE, next: head };
        if head != NONE {
            self.successors[head].prev = s;
        }
        self.blocks[block as usize].first_use = s;
    }

    fn unlink_successor(&mut self, s: u32) {
        let SuccessorData { block, prev, next, .. } = self.successors[s];
        if prev == NONE {
            self.blocks[block as usize].first_use = next;
        } else {
            self.successors[prev].next = next;
        }
        if next != NONE {
            self.successors[next].prev = prev;
        }
    }

    pub(super) fn clear_successors(&mut self, op: Op) {
        let Some(extra) = self.extra(op) else { return };
        let (start, count) = (extra.successors, extra.num_successors);
        if count == 0 {
            return;
        }
        for s in start..start + count {
            self.unlink_successor(s);
        }
        self.successors.free(start, count as usize);
        self.extra_or_new(op).num_successors = 0;
    }

    /// The successors of an operation.
    pub fn successors(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Block> + DoubleEndedIterator + Clone + '_ {
        let (start, count) = self.extra(op).map_or((0, 0), |e| (e.successors, e.num_successors));
        (start..start + count).map(|s| Block::new(self.successors[s].block, self.arena))
    }

    /// Successor `index`.
    ///
    /// # Panics
    /// If there is no such successor.
    pub fn successor(&self, op: Op, index: usize) -> Block {
        let (start, count) = self.extra(op).map_or((0, 0), |e| (e.successors, e.num_successors));
        assert!(index < count as usize, "{op:?} has no successor {index}");
        Block::new(self.successors[start + index as u32].block, self.arena)
    }

    /// Replaces successor `index`.
    pub fn set_successor(&mut self, op: Op, index: usize, block: Block) {
        let (start, count) = self.extra(op).map_or((0, 0), |e| (e.successors, e.num_successors));
        assert!(index < count as usize, "{op:?} has no successor {index}");
        self.unlink_successor(start + index as u32);
        self.link_successor(start + index as u32, block.raw(self.arena));
    }

    /// The edges into a block: the operation and which of its successors; the latest made first.
    pub fn predecessor_edges(&self, block: Block) -> impl Iterator<Item = (Op, usize)> + '_ {
        let mut s = self.blocks[block.raw(self.arena) as usize].first_use;
        std::iter::from_fn(move || {
            if s == NONE {
                return None;
            }
            let SuccessorData { owner, next, .. } = self.successors[s];
            let op = self.op(owner);
            let start = self.extra(op).map_or(s, |e| e.successors);
            let index = (s - start) as usize;
            s = next;
            Some((op, index))
        })
    }
}
