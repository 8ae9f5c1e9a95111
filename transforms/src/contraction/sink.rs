//! Sinking of allocations: if only the branches of one conditional use an allocation, it moves into
//! these branches, where all of its uses are visible.
//!
//! An example is a versioned loop: the fused loops are one branch, the originals the other. If the
//! fused loops need no array any more, none is allocated for them.
//!
//! # Assumptions
//!
//! - Only operations that do nothing but allocate are moved: `memref.realloc` frees its source.
//!   Tried in `fixtures/contraction/not_forwarded.mlir`.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{Conditional, EffectKind, MemoryEffects};
use loomir_dialects::memref;
use loomir_ir::{Block, Body, Mapping, Op, Region, Value};

use crate::access::locals::Locals;

/// Moves local allocations into the sides of conditionals. Returns true if it moved any. Linear in
/// their uses.
pub(super) fn sink(body: &mut Body, locals: &Locals) -> bool {
    let mut last = HashMap::new();
    for allocation in locals.local_allocations().collect::<Vec<_>>() {
        if let Some(uses) = Uses::of(body, allocation) {
            uses.split(body, allocation, &mut last);
        }
    }
    !last.is_empty()
}

/// The uses of an allocation that can be moved.
struct Uses {
    /// The sides, and for each use its side.
    sides: Vec<Region>,
    of_op: HashMap<Op, Region>,
    /// The frees behind the conditional.
    frees: Vec<Op>,
}

impl Uses {
    fn of(body: &Body, allocation: Value) -> Option<Uses> {
        let block = body.value_block(allocation)?;
        // An operation that does more than allocate, such as `memref.realloc`, must run once at its
        // place.
        let op = body.defining_op(allocation)?;
        let effects = body.info(op).interface::<dyn MemoryEffects>()?.effects(body.op_ref(op));
        if effects.iter().any(|effect| effect.kind != EffectKind::Allocate) {
            return None;
        }
        let mut uses = Uses { sides: Vec::new(), of_op: HashMap::new(), frees: Vec::new() };
        let mut conditional = None;
        for used in body.uses(allocation) {
            let item = body.ancestor_in_block(used.op, block)?;
            if item == used.op {
                if !body.is(used.op, memref::DeallocOp::DEF) {
                    return None;
                }
                uses.frees.push(used.op);
                continue;
            }
            let decides = body.info(item).interface::<dyn Conditional>().is_some();
            if !decides || *conditional.get_or_insert(item) != item {
                return None;
            }
            let side = body.own_regions(item).find(|region| {
                body.single_block(*region)
                    .is_some_and(|block| body.ancestor_in_block(used.op, block).is_some())
            })?;
            uses.of_op.insert(used.op, side);
            if !uses.sides.contains(&side) {
                uses.sides.push(side);
            }
        }
        let conditional = conditional?;
        let after = |free: &Op| body.is_before_in_block(conditional, *free);
        uses.frees.iter().all(after).then_some(uses)
    }

    /// Makes a copy of the allocation in each branch, behind those already moved there. `last`
    /// holds the last one of each block.
    fn split(self, body: &mut Body, allocation: Value, last: &mut HashMap<Block, Op>) {
        let Some(op) = body.defining_op(allocation) else { return };
        for side in &self.sides {
            let Some(block) = body.single_block(*side) else { continue };
            let mut mapping = Mapping::default();
            let copy = body.copy_op(op, &mut mapping);
            match last.insert(block, copy) {
                Some(last) => body.insert_after(last, copy),
                None => body.prepend_op(block, copy),
            }
            body.replace_uses_if(allocation, mapping.value(allocation), |used| {
                self.of_op.get(&used.op) == Some(side)
            });
            for free in &self.frees {
                let copy = body.copy_op(*free, &mut mapping);
                match body.terminator(block) {
                    Some(terminator) => body.insert_before(terminator, copy),
                    None => body.append_op(block, copy),
                }
            }
        }
        self.frees.into_iter().chain([op]).for_each(|op| body.erase(op));
    }
}
