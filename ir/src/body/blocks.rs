//! Blocks and regions: their arguments, and the order of operations in them.

use super::{ArgumentData, BlockData, Body, ERASED, IS_ARGUMENT, NONE, STRIDE, ValueData, ValueDef};
use crate::entity::{Block, Op, Region, Value};
use crate::location::Loc;
use crate::opdef::Trait;
use crate::types::Type;

impl Body {
    fn block(&self, index: u32) -> Block {
        Block::new(index, self.arena)
    }

    fn maybe_block(&self, index: u32) -> Option<Block> {
        (index != NONE).then(|| self.block(index))
    }

    #[inline]
    fn block_data(&self, block: Block) -> &BlockData {
        let data = &self.blocks[block.raw(self.arena) as usize];
        debug_assert_ne!(data.region, ERASED, "{block:?} was erased");
        data
    }

    #[inline]
    fn block_data_mut(&mut self, block: Block) -> &mut BlockData {
        let data = &mut self.blocks[block.raw(self.arena) as usize];
        debug_assert_ne!(data.region, ERASED, "{block:?} was erased");
        data
    }

    // Regions.

    /// True of an operation that has neither regions nor successors nor a body of its own.
    #[inline]
    pub(crate) fn is_plain(&self, op: Op) -> bool {
        self.data(op).extra == NONE
    }

    /// The regions of an operation that are stored in this body: none for one that owns a body.
    pub fn own_regions(
        &self,
        op: Op,
    ) -> impl ExactSizeIterator<Item = Region> + DoubleEndedIterator + Clone + use<> {
        let (start, count) = self.extra(op).map_or((0, 0), |e| (e.regions, e.num_regions));
        let arena = self.arena;
        (0..count).map(move |i| Region::new(start + i, arena))
    }

    /// Region `index` of an operation.
    ///
    /// # Panics
    /// If there is no such region in this body.
    pub fn region(&self, op: Op, index: usize) -> Region {
        let regions = self.own_regions(op);
        assert!(index < regions.len(), "{op:?} has no region {index}");
        Region::new(self.extra(op).map_or(0, |e| e.regions) + index as u32, self.arena)
    }

    /// The operation that holds a region.
    pub fn region_parent(&self, region: Region) -> Op {
        self.op(self.regions[region.raw(self.arena)].parent)
    }

    /// Position of a region among those of its operation.
    pub fn region_index(&self, region: Region) -> usize {
        let parent = self.region_parent(region);
        region.index() - self.extra(parent).map_or(0, |e| e.regions as usize)
    }

    /// The blocks of a region in order.
    pub fn blocks(&self, region: Region) -> impl Iterator<Item = Block> + '_ {
        let mut block = self.regions[region.raw(self.arena)].first;
        std::iter::from_fn(move || {
            let current = self.maybe_block(block)?;
            block = self.blocks[block as usize].next;
            Some(current)
        })
    }

    /// The first block of a region.
    pub fn entry_block(&self, region: Region) -> Option<Block> {
        self.maybe_block(self.regions[region.raw(self.arena)].first)
    }

    /// The block of a region that has exactly one.
    pub fn single_block(&self, region: Region) -> Option<Block> {
        let data = self.regions[region.raw(self.arena)];
        if data.first == data.last { self.maybe_block(data.first) } else { None }
    }

    /// Moves all blocks of `from` to the end of `to`. Linear in the number of blocks.
    pub fn move_blocks(&mut self, from: Region, to: Region) {
        for block in self.blocks(from).collect::<Vec<_>>() {
            self.unlink_block(block);
            self.link_block(block, to, None);
        }
    }

    // Blocks.

    /// A new block at the end of a region.
    pub fn append_block(&mut self, region: Region, arguments: &[Type]) -> Block {
        self.create_block(region, None, arguments)
    }

    /// A new block in a region, after `after` or, if that is `None`, at the end.
    pub fn create_block(&mut self, region: Region, after: Option<Block>, arguments: &[Type]) -> Block {
        let data = BlockData {
            region: NONE,
            prev: NONE,
            next: NONE,
            first_op: NONE,
            last_op: NONE,
            first_use: NONE,
            arguments: Vec::new(),
        };
        let index = match self.free_blocks.pop() {
            Some(index) => {
                self.blocks[index as usize] = data;
                index
            }
            None => {
                if self.blocks.is_empty() {
                    self.blocks.reserve_exact(1);
                }
                self.blocks.push(data);
                (self.blocks.len() - 1) as u32
            }
        };
        let block = self.block(index);
        self.link_block(block, region, after);
        for ty in arguments {
            self.add_argument(block, *ty);
        }
        block
    }

    fn link_block(&mut self, block: Block, region: Region, after: Option<Block>) {
        let (index, r) = (block.raw(self.arena), region.raw(self.arena));
        let prev = after.map_or(self.regions[r].last, |b| b.raw(self.arena));
        let next = if prev == NONE { self.regions[r].first } else { self.blocks[prev as usize].next };
        let data = &mut self.blocks[index as usize];
        (data.region, data.prev, data.next) = (r, prev, next);
        if prev == NONE {
            self.regions[r].first = index;
        } else {
            self.blocks[prev as usize].next = index;
        }
        if next == NONE {
            self.regions[r].last = index;
        } else {
            self.blocks[next as usize].prev = index;
        }
    }

    fn unlink_block(&mut self, block: Block) {
        let data = self.block_data(block);
        let (r, prev, next) = (data.region, data.prev, data.next);
        if prev == NONE {
            self.regions[r].first = next;
        } else {
            self.blocks[prev as usize].next = next;
        }
        if next == NONE {
            self.regions[r].last = prev;
        } else {
            self.blocks[next as usize].prev = prev;
        }
    }

    /// Moves a block to the end of a region, or after a block of it.
    pub fn move_block(&mut self, block: Block, region: Region, after: Option<Block>) {
        debug_assert_ne!(after, Some(block));
        self.unlink_block(block);
        self.link_block(block, region, after);
    }

    /// Erases a block with its operations. It may be no successor of an operation elsewhere, and
    /// its arguments and results may be used only inside.
    pub fn erase_block(&mut self, block: Block) {
        // Operations may use each other in any order, so all operands go first.
        for op in self.ops(block).collect::<Vec<_>>() {
            self.clear_operands(op);
            self.clear_successors(op);
        }
        for op in self.ops(block).collect::<Vec<_>>().into_iter().rev() {
            self.erase(op);
        }
        self.unlink_block(block);
        self.free_block(block);
    }

    /// Erases several blocks with their operations, which may use each other's values and branch to
    /// each other. Nothing else may use or branch to them.
    pub fn erase_blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            for op in self.ops(*block).collect::<Vec<_>>() {
                for inside in self.preorder(op).collect::<Vec<_>>() {
                    self.clear_operands(inside);
                }
                self.clear_successors(op);
            }
        }
        for block in blocks {
            self.erase_block(*block);
        }
    }

    pub(super) fn free_block(&mut self, block: Block) {
        let index = block.raw(self.arena);
        let arguments = std::mem::take(&mut self.blocks[index as usize].arguments);
        for ArgumentData { value, .. } in arguments {
            debug_assert_eq!(
                self.values[value].first_use, NONE,
                "erased {block:?} while an argument is in use"
            );
            self.values.free(value, 1);
        }
        debug_assert_eq!(
            self.blocks[index as usize].first_use, NONE,
            "erased {block:?} while it is a successor"
        );
        self.blocks[index as usize].region = ERASED;
        self.free_blocks.push(index);
    }

    /// The region a block stands in.
    pub fn block_region(&self, block: Block) -> Region {
        Region::new(self.block_data(block).region, self.arena)
    }

    /// The block after a block in its region.
    pub fn next_block(&self, block: Block) -> Option<Block> {
        self.maybe_block(self.block_data(block).next)
    }

    /// True if a block is the first of its region.
    pub fn is_entry(&self, block: Block) -> bool {
        self.block_data(block).prev == NONE
    }

    /// The blocks a block may branch to: the successors of its last operation.
    pub fn block_successors(&self, block: Block) -> impl ExactSizeIterator<Item = Block> + '_ {
        let (start, count) = match self.last_op(block).and_then(|op| self.extra(op)) {
            Some(extra) => (extra.successors, extra.num_successors),
            None => (0, 0),
        };
        (start..start + count).map(|s| self.block(self.successors[s].block))
    }

    /// The blocks that may branch to a block, once an edge, the latest made edge first.
    pub fn predecessors(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        self.predecessor_edges(block).filter_map(|(op, _)| self.block_of(op))
    }

    // Arguments.

    /// Adds an argument behind the others.
    pub fn add_argument(&mut self, block: Block, ty: Type) -> Value {
        let value = self.values.allocate(1);
        let index = self.block_data(block).arguments.len() as u32 | IS_ARGUMENT;
        self.values[value] = ValueData { ty, def: block.raw(self.arena), index, first_use: NONE };
        self.block_data_mut(block).arguments.push(ArgumentData { value, loc: Loc::UNKNOWN });
        self.value(value)
    }

    /// Inserts an argument at `index`. Linear in the number of arguments.
    pub fn insert_argument(&mut self, block: Block, index: usize, ty: Type) -> Value {
        let value = self.add_argument(block, ty);
        self.block_data_mut(block).arguments[index..].rotate_right(1);
        self.renumber_arguments(block);
        value
    }

    /// Erases argument `index`, which may have no uses. Linear in the number of arguments.
    pub fn erase_argument(&mut self, block: Block, index: usize) {
        let ArgumentData { value, .. } = self.block_data_mut(block).arguments.remove(index);
        debug_assert_eq!(self.values[value].first_use, NONE, "erased an argument in use");
        self.values.free(value, 1);
        self.renumber_arguments(block);
    }

    /// Takes all arguments from a block. They keep their uses, so each has to be freed by
    /// [`Body::free_argument`] when it has none any more.
    pub(crate) fn take_arguments(&mut self, block: Block) -> Vec<(Value, Loc)> {
        let arguments = std::mem::take(&mut self.block_data_mut(block).arguments);
        arguments.into_iter().map(|argument| (self.value(argument.value), argument.loc)).collect()
    }

    /// Frees an argument that was taken from its block. It may have no uses.
    pub(crate) fn free_argument(&mut self, value: Value) {
        let raw = value.raw(self.arena);
        debug_assert_eq!(self.values[raw].first_use, NONE, "freed an argument in use");
        self.values.free(raw, 1);
    }

    fn renumber_arguments(&mut self, block: Block) {
        for i in 0..self.block_data(block).arguments.len() {
            let ArgumentData { value, .. } = self.block_data(block).arguments[i];
            self.values[value].index = i as u32 | IS_ARGUMENT;
        }
    }

    /// The arguments of a block.
    pub fn arguments(
        &self,
        block: Block,
    ) -> impl ExactSizeIterator<Item = Value> + DoubleEndedIterator + Clone + '_ {
        self.block_data(block).arguments.iter().map(|argument| self.value(argument.value))
    }

    /// Argument `index`.
    ///
    /// # Panics
    /// If there is no such argument.
    pub fn argument(&self, block: Block, index: usize) -> Value {
        self.value(self.block_data(block).arguments[index].value)
    }

    /// Where a block argument is written; unknown unless it was set, and for results of operations.
    pub fn argument_loc(&self, value: Value) -> Loc {
        match self.def(value) {
            ValueDef::BlockArgument { block, index } => self.block_data(block).arguments[index].loc,
            ValueDef::OpResult { .. } => Loc::UNKNOWN,
        }
    }

    /// Says where a block argument is written.
    pub fn set_argument_loc(&mut self, value: Value, loc: Loc) {
        let ValueDef::BlockArgument { block, index } = self.def(value) else { return };
        self.block_data_mut(block).arguments[index].loc = loc;
    }

    /// The number of arguments a block has.
    pub fn num_arguments(&self, block: Block) -> usize {
        self.block_data(block).arguments.len()
    }

    // Operations in blocks.

    /// The operations of a block in order.
    pub fn ops(&self, block: Block) -> impl Iterator<Item = Op> + '_ {
        let mut op = self.block_data(block).first_op;
        std::iter::from_fn(move || {
            let current = self.maybe_op(op)?;
            op = self.ops[op as usize].next;
            Some(current)
        })
    }

    /// The first operation of a block.
    pub fn first_op(&self, block: Block) -> Option<Op> {
        self.maybe_op(self.block_data(block).first_op)
    }

    /// The last operation of a block.
    pub fn last_op(&self, block: Block) -> Option<Op> {
        self.maybe_op(self.block_data(block).last_op)
    }

    /// The last operation of a block, if it is a terminator or not registered.
    pub fn terminator(&self, block: Block) -> Option<Op> {
        self.last_op(block)
            .filter(|op| self.has_trait(*op, Trait::Terminator) || self.info(*op).def().is_none())
    }

    /// The operation after an operation in its block.
    pub fn next_op(&self, op: Op) -> Option<Op> {
        self.maybe_op(self.data(op).next)
    }

    /// The operation before an operation in its block.
    pub fn prev_op(&self, op: Op) -> Option<Op> {
        self.maybe_op(self.data(op).prev)
    }

    /// The block an operation stands in; `None` for the root and for operations that stand nowhere.
    pub fn block_of(&self, op: Op) -> Option<Block> {
        self.maybe_block(self.data(op).block)
    }

    /// The region an operation stands in.
    pub fn region_of(&self, op: Op) -> Option<Region> {
        self.block_of(op).map(|block| self.block_region(block))
    }

    /// The operation around an operation, in this body.
    pub fn parent_op(&self, op: Op) -> Option<Op> {
        self.region_of(op).map(|region| self.region_parent(region))
    }

    /// The ancestor of `op` (or `op` itself) that stands in `block`. Linear in the depth.
    pub fn ancestor_in_block(&self, op: Op, block: Block) -> Option<Op> {
        let mut op = op;
        while self.block_of(op)? != block {
            op = self.parent_op(op)?;
        }
        Some(op)
    }

    /// True if a value is defined inside `op`, as an argument or as a result of an operation there.
    /// Linear in the depth.
    pub fn is_defined_within(&self, value: Value, op: Op) -> bool {
        let block = self.value_block(value);
        block.is_some_and(|block| self.is_within(self.region_parent(self.block_region(block)), op))
    }

    /// True if `op` is `ancestor` or stands inside it. Linear in the depth.
    pub fn is_within(&self, op: Op, ancestor: Op) -> bool {
        let mut current = Some(op);
        while let Some(op) = current {
            if op == ancestor {
                return true;
            }
            current = self.parent_op(op);
        }
        false
    }

    /// True if `a` stands before `b` in the block they share. One comparison.
    #[inline]
    pub fn is_before_in_block(&self, a: Op, b: Op) -> bool {
        debug_assert_eq!(self.data(a).block, self.data(b).block);
        self.data(a).order < self.data(b).order
    }

    /// Puts an operation that stands nowhere at the end of a block.
    pub fn append_op(&mut self, block: Block, op: Op) {
        let last = self.block_data(block).last_op;
        self.link_op(block, op, last);
    }

    /// Puts an operation that stands nowhere before another.
    pub fn insert_before(&mut self, before: Op, op: Op) {
        let data = self.data(before);
        let (block, prev) = (self.block(data.block), data.prev);
        self.link_op(block, op, prev);
    }

    /// Puts an operation that stands nowhere after another.
    pub fn insert_after(&mut self, after: Op, op: Op) {
        let block = self.block(self.data(after).block);
        self.link_op(block, op, after.raw(self.arena));
    }

    /// Puts an operation that stands nowhere at the start of a block.
    pub fn prepend_op(&mut self, block: Block, op: Op) {
        self.link_op(block, op, NONE);
    }

    /// Moves an operation before another.
    pub fn move_before(&mut self, op: Op, before: Op) {
        if op != before {
            self.detach(op);
            self.insert_before(before, op);
        }
    }

    /// Moves an operation to the end of a block.
    pub fn move_to_end(&mut self, op: Op, block: Block) {
        self.detach(op);
        self.append_op(block, op);
    }

    fn link_op(&mut self, block: Block, op: Op, prev: u32) {
        debug_assert!(self.data(op).block == NONE && op.index() != 0, "{op:?} stands somewhere already");
        let (b, index) = (block.raw(self.arena), op.raw(self.arena));
        let next = if prev == NONE { self.blocks[b as usize].first_op } else { self.ops[prev as usize].next };
        let below = if prev == NONE { 0 } else { self.ops[prev as usize].order };
        let order = match next {
            NONE => below.checked_add(STRIDE),
            next => {
                let above = self.ops[next as usize].order;
                (above - below > 1).then(|| below + (above - below) / 2)
            }
        };
        let data = &mut self.ops[index as usize];
        (data.block, data.prev, data.next, data.order) = (b, prev, next, order.unwrap_or(below));
        if prev == NONE {
            self.blocks[b as usize].first_op = index;
        } else {
            self.ops[prev as usize].next = index;
        }
        if next == NONE {
            self.blocks[b as usize].last_op = index;
        } else {
            self.ops[next as usize].prev = index;
        }
        if order.is_none() {
            self.renumber_ops(b, index);
        }
    }

    /// Makes room after `op`, whose order number equals its predecessor's. Numbers ascend again
    /// from there with growing steps until they meet larger ones, so a block is renumbered whole
    /// only when it is dense.
    fn renumber_ops(&mut self, block: u32, op: u32) {
        let mut order = self.ops[op as usize].order;
        let mut current = op;
        let mut step = STRIDE;
        while current != NONE {
            match order.checked_add(step) {
                Some(next) => order = next,
                None => return self.renumber_block(block),
            }
            self.ops[current as usize].order = order;
            current = self.ops[current as usize].next;
            if current != NONE && self.ops[current as usize].order > order {
                return;
            }
            step = step.saturating_add(STRIDE).min(1 << 16);
        }
    }

    /// Spreads the order numbers of a block over half of their range. The other half is for
    /// operations that are appended.
    fn renumber_block(&mut self, block: u32) {
        let (mut current, mut count) = (self.blocks[block as usize].first_op, 1);
        while current != NONE {
            count += 1;
            current = self.ops[current as usize].next;
        }
        // A block of 2^28 operations would not fit the arena's other limits.
        let step = (u32::MAX / 2 / count).max(1);
        let mut current = self.blocks[block as usize].first_op;
        let mut order = step;
        while current != NONE {
            self.ops[current as usize].order = order;
            order = order.saturating_add(step);
            current = self.ops[current as usize].next;
        }
    }

    /// Takes an operation out of its block. It keeps everything else.
    pub fn detach(&mut self, op: Op) {
        let data = self.data(op);
        let (b, prev, next) = (data.block, data.prev, data.next);
        if b == NONE {
            return;
        }
        if prev == NONE {
            self.blocks[b as usize].first_op = next;
        } else {
            self.ops[prev as usize].next = next;
        }
        if next == NONE {
            self.blocks[b as usize].last_op = prev;
        } else {
            self.ops[next as usize].prev = prev;
        }
        let data = self.data_mut(op);
        (data.block, data.prev, data.next) = (NONE, NONE, NONE);
    }

    /// Splits a block: `op` and all after it go to a new block that follows. Linear in what moves.
    pub fn split_block(&mut self, op: Op) -> Option<Block> {
        let block = self.block_of(op)?;
        let region = self.block_region(block);
        let tail = self.create_block(region, Some(block), &[]);
        let mut current = Some(op);
        while let Some(op) = current {
            current = self.next_op(op);
            self.move_to_end(op, tail);
        }
        Some(tail)
    }

    /// Moves the operations of `from` before `before` (or to the end of `block`), with its
    /// arguments replaced by `arguments`, and erases `from`, which may be no successor any more.
    pub fn inline_block(&mut self, from: Block, block: Block, before: Option<Op>, arguments: &[Value]) {
        for (argument, value) in self.arguments(from).collect::<Vec<_>>().into_iter().zip(arguments) {
            self.replace_all_uses(argument, *value);
        }
        match before {
            Some(before) => {
                self.ops(from).collect::<Vec<_>>().into_iter().for_each(|op| self.move_before(op, before));
            }
            None => self.move_ops_to_end(from, block),
        }
        self.unlink_block(from);
        self.free_block(from);
    }

    /// Moves all operations of a block to the end of another, without taking them apart.
    fn move_ops_to_end(&mut self, from: Block, to: Block) {
        let (from, to) = (from.raw(self.arena) as usize, to.raw(self.arena) as usize);
        let (first, last) = (self.blocks[from].first_op, self.blocks[from].last_op);
        if first == NONE {
            return;
        }
        (self.blocks[from].first_op, self.blocks[from].last_op) = (NONE, NONE);
        let before = std::mem::replace(&mut self.blocks[to].last_op, last);
        let mut order = Some(0);
        match before {
            NONE => self.blocks[to].first_op = first,
            before => {
                self.ops[before as usize].next = first;
                order = Some(self.ops[before as usize].order);
            }
        }
        self.ops[first as usize].prev = before;
        let mut current = first;
        while current != NONE {
            order = order.and_then(|own: u32| own.checked_add(STRIDE));
            let data = &mut self.ops[current as usize];
            (data.block, data.order) = (to as u32, order.unwrap_or(u32::MAX));
            current = data.next;
        }
        if order.is_none() {
            self.renumber_block(to as u32);
        }
    }
}
