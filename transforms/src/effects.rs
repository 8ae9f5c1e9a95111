//! Effects of operations together with everything inside them, for a whole body at once.
//!
//! A pass that erases, merges or moves operations asks one question of each: what may running it
//! change, and may it run more or less often? [`Effects`] answers it in constant time after one
//! walk. The answers come from [`MemoryEffects`] and from traits, so they hold for every dialect.
//! An operation that declares nothing may do anything.
//!
//! **Assumptions.**
//! - A loop runs its body at least once only if its bounds are constants. Tried in
//!   `fixtures/simplify/licm.mlir`.
//! - A region with several blocks may contain an endless loop. Tried in
//!   `fixtures/simplify/dce.mlir`.
//! - An operation may be erased although it traps or is undefined for some operands: a program
//!   that reaches it with these operands has no meaning. It may not be erased if it may never
//!   return, because everything after it would then run. Tried in `fixtures/simplify/dce.mlir`.

use loomir_dialects::interfaces::{
    Bound, EffectKind, LoopBounds, LoopLike, MemoryEffects, ParallelLike, Resource, Step,
};
use loomir_dialects::scf;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{AffineExprKind, Body, Op, OpRef, Trait};

/// The effects of one operation and of all operations inside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Summary(u8);

impl Summary {
    const NONE: Summary = Summary(0);
    const READS: Summary = Summary(1);
    const WRITES: Summary = Summary(2);
    const MAKES_OBJECTS: Summary = Summary(4);
    const MAY_NOT_RETURN: Summary = Summary(8);
    const MAY_BE_UNDEFINED: Summary = Summary(16);
    const ALL: Summary = Summary(31);

    /// Returns the effects of `op` without those of the operations inside it.
    pub fn of_itself(op: OpRef<'_>) -> Summary {
        let info = op.info();
        let model = info.interface::<dyn MemoryEffects>();
        let is_known =
            model.is_some() || info.has_trait(Trait::Pure) || info.has_trait(Trait::RecursiveMemoryEffects);
        if !is_known || op.body().nested(op.op()).is_some() {
            return Summary::ALL;
        }
        let mut own = Summary::NONE;
        if info.has_trait(Trait::DistinctResults) {
            own = own.and(Summary::MAKES_OBJECTS);
        }
        if op.regions().any(|region| op.body().blocks(region).nth(1).is_some()) {
            own = own.and(Summary::MAY_NOT_RETURN);
        }
        let Some(model) = model else { return own };
        if !info.has_trait(Trait::Pure) {
            for effect in model.effects(op) {
                let is_own_object =
                    matches!(effect.on, Resource::Value(value) if op.results().any(|own| own == value));
                own = own.and(match effect.kind {
                    EffectKind::Read => Summary::READS,
                    EffectKind::Allocate if is_own_object => Summary::MAKES_OBJECTS,
                    EffectKind::Allocate | EffectKind::Write | EffectKind::Free => Summary::WRITES,
                });
            }
        }
        if model.may_not_return(op) {
            own = own.and(Summary::MAY_NOT_RETURN);
        }
        if model.may_be_undefined(op) {
            own = own.and(Summary::MAY_BE_UNDEFINED);
        }
        own
    }

    fn and(self, other: Summary) -> Summary {
        Summary(self.0 | other.0)
    }

    fn has(self, any_of: Summary) -> bool {
        self.0 & any_of.0 != 0
    }

    /// True if the operation changes memory or the outside world.
    pub fn writes(self) -> bool {
        self.has(Summary::WRITES)
    }

    /// True if the operation reads memory.
    pub fn reads(self) -> bool {
        self.has(Summary::READS)
    }

    /// True if the operation may be left out where its results are not used.
    pub fn is_removable(self) -> bool {
        !self.writes() && !self.may_not_return()
    }

    /// True if a second, equal operation computes the same, provided that memory has not changed.
    pub fn is_repeatable(self) -> bool {
        !self.writes() && !self.has(Summary::MAKES_OBJECTS)
    }

    /// True if the operation may never return.
    pub fn may_not_return(self) -> bool {
        self.has(Summary::MAY_NOT_RETURN)
    }

    /// True if the operation makes an object, such as an allocation.
    pub fn makes_objects(self) -> bool {
        self.has(Summary::MAKES_OBJECTS)
    }

    /// True if the operation touches no memory, makes no object, and returns.
    pub fn only_computes(self) -> bool {
        self.is_repeatable() && !self.reads() && !self.may_not_return()
    }

    /// True if the operation [only computes](Self::only_computes), and may run where it would not
    /// have run.
    pub fn is_speculatable(self) -> bool {
        self.only_computes() && !self.has(Summary::MAY_BE_UNDEFINED)
    }
}

/// The effects of all operations of a body.
///
/// **Invariant.** It describes the body at the time of [`Effects::of`]. Erased and moved operations
/// leave it valid, if conservative; new operations are not in it.
pub struct Effects(Vec<Summary>);

impl Effects {
    /// Computes the effects of every operation of `body`. Linear.
    pub fn of(body: &Body) -> Effects {
        let mut all = vec![Summary::NONE; body.num_op_slots()];
        for op in body.preorder(body.root()) {
            let own = Summary::of_itself(body.op_ref(op));
            all[op.index()] = own;
            // What is around an operation has all effects that it has. There are few kinds of them,
            // so few operations hand something new on.
            let mut around = body.parent_op(op);
            while let Some(parent) =
                around.filter(|parent| all[parent.index()].and(own) != all[parent.index()])
            {
                all[parent.index()] = all[parent.index()].and(own);
                around = body.parent_op(parent);
            }
        }
        Effects(all)
    }

    /// Returns the effects of an operation and of everything inside it.
    pub fn get(&self, op: Op) -> Summary {
        self.0.get(op.index()).copied().unwrap_or(Summary::ALL)
    }

    /// Adds an operation that is new in the body. Linear in the operations inside it.
    pub fn add(&mut self, body: &Body, op: Op) {
        let inside = body.preorder(op).map(|op| Summary::of_itself(body.op_ref(op)));
        let own = inside.fold(Summary::NONE, Summary::and);
        self.0.resize(self.0.len().max(body.num_op_slots()), Summary::ALL);
        self.0[op.index()] = own;
    }
}

/// The number of operations inside another that [`is_removable`] looks at.
const MAX_INSIDE: usize = 64;

/// True if `op` may be erased: nothing refers to it, and neither it nor anything inside has an
/// effect. Looks at a bounded number of operations; if there are more, the answer is false.
pub fn is_removable(body: &Body, op: Op) -> bool {
    if !is_unneeded(body, op) {
        return false;
    }
    let mut inside = body.preorder(op);
    let is_free = |op: Op| Summary::of_itself(body.op_ref(op)).is_removable();
    inside.by_ref().take(MAX_INSIDE).all(is_free) && inside.next().is_none()
}

/// True if nothing refers to `op`: it has no used result, ends no block, and is no symbol.
pub(crate) fn is_unneeded(body: &Body, op: Op) -> bool {
    !body.has_used_results(op) && !body.has_trait(op, Trait::Terminator) && !body.has_trait(op, Trait::Symbol)
}

/// True if a loop certainly runs its body: its bounds are constants, or it tests its condition
/// behind its first region.
pub fn runs_at_least_once(body: &Body, op: Op) -> bool {
    let view = body.op_ref(op);
    let info = view.info();
    let runs = |bounds: &LoopBounds| {
        let step = matches!(bounds.step, Step::Constant(1..));
        let ends =
            constant_bound(body, &bounds.lower, i64::max).zip(constant_bound(body, &bounds.upper, i64::min));
        step && ends.is_some_and(|(lower, upper)| lower < upper)
    };
    if let Some(model) = info.interface::<dyn LoopLike>() {
        return !model.is_unsigned(view) && runs(&model.bounds(view));
    }
    if let Some(model) = info.interface::<dyn ParallelLike>() {
        return model.dimensions(view).iter().all(runs);
    }
    body.is(op, scf::WhileOp::DEF)
}

/// Returns a bound that is a constant; `pick` chooses among the results of a map.
fn constant_bound(body: &Body, bound: &Bound, pick: fn(i64, i64) -> i64) -> Option<i64> {
    let ctx = body.ctx();
    match bound {
        Bound::Value(value) => constant_of(body, *value)?.as_int(ctx),
        Bound::Map(subscripts) => {
            let results = subscripts.map.data(ctx).results.iter().map(|expr| match expr.kind(ctx) {
                AffineExprKind::Constant(number) => Some(number),
                _ => None,
            });
            results.collect::<Option<Vec<i64>>>()?.into_iter().reduce(pick)
        }
    }
}
