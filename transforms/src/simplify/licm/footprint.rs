//! The memory that a loop touches, for motion of loads and stores out of it.
//!
//! An operation with invariant operands does the same in every iteration if nothing in the loop,
//! itself included, writes the memory that it reads. It may run once, before the loop, if no other
//! operation of the loop touches the memory that it writes either.
//!
//! **Cost.** Linear in the operations of the loop. An operation is compared with at most
//! [`MAX_TOUCHED`] pieces of memory.

use loomir_dialects::interfaces::{EffectKind, MemoryEffects, Resource};
use loomir_ir::{Body, Op, Trait};

use crate::access::base::{AliasMode, Base, Bases, Overlap};

/// The number of pieces of memory that are remembered of one loop. In a loop with more, nothing
/// that touches memory moves.
const MAX_TOUCHED: usize = 64;

/// An object that an operation touches.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Touched {
    /// The operation directly in the loop that holds the access.
    by: Op,
    base: Base,
    writes: bool,
}

/// The memory that the operations of a loop touch.
pub(crate) struct Footprint {
    /// `None` if there is too much.
    touched: Option<Vec<Touched>>,
}

impl Footprint {
    /// Returns the memory that the operations in `loop_op` touch.
    pub(crate) fn of(body: &Body, loop_op: Op) -> Footprint {
        let mut bases = Bases::new(body, AliasMode::May);
        let mut touched = Vec::new();
        for region in body.own_regions(loop_op) {
            for by in body.blocks(region).flat_map(|block| body.ops(block)) {
                for op in body.preorder(by) {
                    touch(body, &mut bases, by, op, &mut touched);
                    if touched.len() > MAX_TOUCHED {
                        return Footprint { touched: None };
                    }
                }
            }
        }
        Footprint { touched: Some(touched) }
    }

    /// True if running `op`, which stands directly in the loop, once before the loop leaves the
    /// same memory and the same results as running it in every iteration.
    pub(crate) fn lets_move(&self, body: &Body, op: Op) -> bool {
        let Some(touched) = &self.touched else { return false };
        let bases = Bases::new(body, AliasMode::May);
        let mut own = touched.iter().filter(|own| own.by == op);
        own.all(|own| {
            touched.iter().all(|other| {
                let is_harmless = !own.writes && !other.writes;
                // Equal writes of one operation leave what the last of them wrote.
                let is_repeated = other.by == op && own.writes && other.writes;
                is_harmless || is_repeated || bases.overlap(own.base, other.base) == Overlap::Apart
            })
        })
    }
}

/// Adds the memory that an operation touches, without the operations inside it.
fn touch(body: &Body, bases: &mut Bases<'_>, by: Op, op: Op, touched: &mut Vec<Touched>) {
    let mut add = |base: Base, writes: bool| {
        let new = Touched { by, base, writes };
        let is_known = touched.iter().rev().take_while(|own| own.by == by).any(|own| *own == new);
        if !is_known {
            touched.push(new);
        }
    };
    let view = body.op_ref(op);
    let info = view.info();
    let model = info.interface::<dyn MemoryEffects>();
    let is_pure = info.has_trait(Trait::Pure);
    let is_known = model.is_some() || is_pure || info.has_trait(Trait::RecursiveMemoryEffects);
    if !is_known || body.nested(op).is_some() {
        return add(Base::World, true);
    }
    for effect in model.filter(|_| !is_pure).map(|model| model.effects(view)).into_iter().flatten() {
        let base = match effect.on {
            // A new object is touched by nothing before it.
            Resource::Value(value) if view.results().any(|own| own == value) => continue,
            Resource::Value(value) => bases.of(value).0,
            Resource::Global(name) => Base::Global(name),
            Resource::World => Base::World,
        };
        match effect.kind {
            EffectKind::Read => add(base, false),
            EffectKind::Write => add(base, true),
            EffectKind::Allocate | EffectKind::Free => add(Base::World, true),
        }
    }
}
