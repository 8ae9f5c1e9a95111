//! Interfaces of the operations of the `llvm` dialect.

use loomir_ir::pass::LeftAlone;
use loomir_ir::symbols::SymbolUser;
use loomir_ir::{Attr, OpRef, Registry, Value};

use super::control::addresses::{BlockAddress, has_fixed_blocks};
use super::control::calls::Call;
use super::globals::{AddressOf, Resolver};
use super::inlining;
use super::memory::{Order, order, promote, split};
use crate::branch::{Branch, CondBranch, Indirect, Invoke, Switch};
use crate::interfaces::{BranchLike, Effect, EffectKind, MemoryEffects, Resource, ViewLike};

/// Effects on the memory that one operand points to.
struct Touch {
    kinds: &'static [EffectKind],
    pointer: usize,
}

impl MemoryEffects for Touch {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let on = Resource::Value(op.operand(self.pointer));
        let mut effects: Vec<Effect> = self.kinds.iter().map(|kind| Effect { kind: *kind, on }).collect();
        match order(op) {
            Order::Plain => {}
            // Two reads of one place also keep their order, as if they wrote.
            Order::OfLocation => effects.push(Effect { kind: EffectKind::Write, on }),
            Order::OfAll => effects.extend(world()),
        }
        if op.attr("isVolatile") == Some(Attr::TRUE) {
            effects.extend(world());
        }
        effects
    }

    fn may_be_undefined(&self, _op: OpRef<'_>) -> bool {
        true
    }
}

/// Reads and writes anything.
fn world() -> [Effect; 2] {
    [EffectKind::Read, EffectKind::Write].map(|kind| Effect { kind, on: Resource::World })
}

/// `llvm.alloca` makes an object.
struct Allocates;

impl MemoryEffects for Allocates {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        vec![Effect { kind: EffectKind::Allocate, on: Resource::Value(op.result(0)) }]
    }
}

/// Copies between the memory that two operands point to.
struct Copies;

impl MemoryEffects for Copies {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let mut effects = vec![
            Effect { kind: EffectKind::Write, on: Resource::Value(op.operand(0)) },
            Effect { kind: EffectKind::Read, on: Resource::Value(op.operand(1)) },
        ];
        if op.attr("isVolatile") == Some(Attr::TRUE) {
            effects.extend(world());
        }
        effects
    }

    fn may_be_undefined(&self, _op: OpRef<'_>) -> bool {
        true
    }
}

/// Division: no effect on memory, but undefined for a divisor of zero and, if signed, on overflow.
struct Divides {
    signed: bool,
}

impl MemoryEffects for Divides {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        Vec::new()
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let divisor = loomir_ir::rewrite::constant_of(op.body(), op.operand(1));
        match divisor.and_then(|divisor| divisor.as_int(op.ctx())) {
            Some(divisor) => divisor == 0 || (self.signed && divisor == -1),
            None => true,
        }
    }
}

/// An operation without relevant effects that must stay in place.
struct Barrier {
    /// True if the operation may not reach the next one.
    ends: bool,
    /// True if some operands are undefined behaviour.
    undefined: bool,
}

impl MemoryEffects for Barrier {
    fn effects(&self, _op: OpRef<'_>) -> Vec<Effect> {
        world().to_vec()
    }

    fn may_not_return(&self, _op: OpRef<'_>) -> bool {
        self.ends
    }

    fn may_be_undefined(&self, _op: OpRef<'_>) -> bool {
        self.undefined
    }
}

/// Functions that say `optnone`, and those with blocks whose address is taken.
struct Untouchable;

impl LeftAlone for Untouchable {
    fn is_left_alone(&self, op: OpRef<'_>) -> bool {
        op.attr("optimize_none").is_some() || has_fixed_blocks(op.body())
    }
}

/// Its first operand, seen otherwise.
struct View;

impl ViewLike for View {
    fn source(&self, op: OpRef<'_>) -> Value {
        op.operand(0)
    }
}

pub(super) fn register(registry: &mut Registry) {
    use EffectKind::{Read, Write};
    registry.attach_to::<dyn BranchLike>(crate::llvm::BrOp::DEF, Box::new(Branch));
    registry.attach_to::<dyn BranchLike>(crate::llvm::CondBrOp::DEF, Box::new(CondBranch));
    registry.attach_to::<dyn BranchLike>(crate::llvm::SwitchOp::DEF, Box::new(Switch));
    registry.attach_to::<dyn BranchLike>(crate::llvm::InvokeOp::DEF, Box::new(Invoke));
    for name in ["indirectbr", "callbr", "catchswitch", "catchret", "cleanupret"] {
        registry.attach::<dyn BranchLike>(&format!("llvm.{name}"), Box::new(Indirect));
    }
    registry.attach_to::<dyn SymbolUser>(crate::llvm::BlockAddressOp::DEF, Box::new(BlockAddress));
    promote::register(registry);
    split::register(registry);
    inlining::register(registry);
    registry.attach_to::<dyn LeftAlone>(crate::llvm::FuncOp::DEF, Box::new(Untouchable));
    registry.attach_to::<dyn SymbolUser>(crate::llvm::CallOp::DEF, Box::new(Call));
    registry.attach_to::<dyn SymbolUser>(crate::llvm::InvokeOp::DEF, Box::new(Call));
    registry.attach_to::<dyn SymbolUser>(crate::llvm::AddressOfOp::DEF, Box::new(AddressOf));
    registry.attach_to::<dyn SymbolUser>(crate::llvm::IFuncOp::DEF, Box::new(Resolver));
    for name in ["llvm.getelementptr", "llvm.addrspacecast", "llvm.bitcast"] {
        registry.attach::<dyn ViewLike>(name, Box::new(View));
    }
    let mut effects = |name: &str, model: Box<dyn MemoryEffects>| {
        registry.attach::<dyn MemoryEffects>(name, model);
    };
    effects("llvm.alloca", Box::new(Allocates));
    effects("llvm.load", Box::new(Touch { kinds: &[Read], pointer: 0 }));
    effects("llvm.store", Box::new(Touch { kinds: &[Write], pointer: 1 }));
    effects("llvm.atomicrmw", Box::new(Touch { kinds: &[Read, Write], pointer: 0 }));
    effects("llvm.cmpxchg", Box::new(Touch { kinds: &[Read, Write], pointer: 0 }));
    effects("llvm.intr.memset", Box::new(Touch { kinds: &[Write], pointer: 0 }));
    for name in ["llvm.intr.memcpy", "llvm.intr.memmove", "llvm.intr.memcpy.inline"] {
        effects(name, Box::new(Copies));
    }
    for (name, signed) in
        [("llvm.udiv", false), ("llvm.sdiv", true), ("llvm.urem", false), ("llvm.srem", true)]
    {
        effects(name, Box::new(Divides { signed }));
    }
    let stays = ["llvm.fence", "llvm.intr.stacksave", "llvm.intr.stackrestore", "llvm.intr.lifetime.start"];
    for name in stays.into_iter().chain(["llvm.intr.lifetime.end", "llvm.intr.prefetch"]) {
        effects(name, Box::new(Barrier { ends: false, undefined: false }));
    }
    for (name, kinds, pointer) in [
        ("load", &[Read], 0),
        ("store", &[Write], 1),
        ("expandload", &[Read], 0),
        ("compressstore", &[Write], 1),
    ] {
        effects(&format!("llvm.intr.masked.{name}"), Box::new(Touch { kinds, pointer }));
    }
    // The pointers of a vector need not point into one object.
    for name in ["llvm.intr.masked.gather", "llvm.intr.masked.scatter"] {
        effects(name, Box::new(Barrier { ends: false, undefined: true }));
    }
    effects("llvm.va_arg", Box::new(Touch { kinds: &[Read, Write], pointer: 0 }));
    effects("llvm.intr.assume", Box::new(Barrier { ends: false, undefined: true }));
    effects("llvm.intr.trap", Box::new(Barrier { ends: true, undefined: false }));
    effects("llvm.intr.debugtrap", Box::new(Barrier { ends: true, undefined: false }));
    effects("llvm.unreachable", Box::new(Barrier { ends: true, undefined: true }));
}
