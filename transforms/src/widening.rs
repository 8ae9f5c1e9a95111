//! Widening: the iterations of a parallel loop, all at once, as operations on vectors.
//!
//! ```text
//!     parallel l in 0..4 {                 %x = vector.load %a[%i] : vector<4xf32>
//!       %x = load %a[%i + l]        =>     %y = arith.mulf %x, %x : vector<4xf32>
//!       %y = mulf %x, %x                   vector.store %y, %b[%i]
//!       store %y, %b[%i + l] }
//! ```
//!
//! Each iteration is a *lane*. What depends on no lane stays as it is, and is computed once. What
//! does is a vector with an element for each lane. Loads and stores at neighbouring elements become
//! those of a vector; others become one load or store for each lane, or a [gather](gathers) or
//! scatter. Loops and conditions inside stay, if all lanes run them together. A condition that
//! differs from lane to lane becomes a [mask](masks), and so do the iterations left over, if that
//! is [asked for](last_block). Values that iterations combine are combined in
//! [each lane](reductions).
//!
//! The loop says itself that its iterations may run at the same time, so nothing is asked here.
//! [`obstacle`] says beforehand if a loop can be widened.
//!
//! **Assumptions.**
//! - Iterations of a parallel loop do not conflict. Only the judge writes loops with the
//!   [mark](marks::LANES).
//! - An operation of `arith` or `math` with the trait `Elementwise` computes each element by
//!   itself, of scalars and of vectors with the same attributes. Tried with
//!   `fixtures/vectorize/elementwise.mlir`.
//! - An operation that all lanes execute may be executed once for all of them, also if it may be
//!   undefined. Tried with `fixtures/vectorize/conditions.mlir`.
//! - Neighbouring subscripts are neighbouring elements only in memrefs whose last dimension is
//!   dense, and whose elements fill their bytes: bits are packed in vectors, and not in memory.
//!   Tried with `fixtures/vectorize/layouts.mlir`.
//!
//! **Cost.** Linear in the operations of the loop, times the lanes for loads and stores that are
//! not neighbours.
//!
//! # Limits
//!
//! - The bounds of loops inside depend on no lane.
//! - Loads and stores with promises (`nontemporal`, `alignment`) stay as they are.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{Access, Conditional, LoopLike, MemoryAccess, is_speculatable};
use loomir_dialects::{affine, memref};
use loomir_ir::{Block, Body, Op, Trait, Type, TypeKind, Value};

use crate::access::updates::{Combined, combined};
use crate::marks;

mod gathers;
mod lanes;
mod last_block;
mod masks;
mod reductions;
mod write;

/// The accesses, not to neighbours, that become gathers and scatters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gathers {
    /// None.
    Never,
    /// Accesses that some lanes need not run.
    #[default]
    Masked,
    /// All.
    Always,
}

/// The role of an operation in a loop whose iterations run at once.
enum Role {
    /// It is the same for all lanes.
    Same,
    /// It has a vector for its result.
    Wide,
    /// It computes indices, for each lane when they are needed.
    PerLane,
    /// It loads or stores an element of each lane.
    Access(Box<Access>),
    /// It runs its regions for all lanes together.
    Around,
    /// It is a condition that differs from lane to lane.
    Masked,
    /// It combines a carried value with what the iteration contributes.
    Step(Combined),
}

/// Returns the reason why the iterations of a loop cannot run at once as vectors, if there is one.
/// `variable` is its induction variable. If it `is_masked`, some lanes of the last block do not
/// run. Linear.
pub(crate) fn obstacle(body: &Body, block: Block, variable: Value, is_masked: bool) -> Option<&'static str> {
    varying(body, block, variable, is_masked).err()
}

/// Returns the values that differ from lane to lane, or the reason why there are no lanes.
fn varying(
    body: &Body,
    block: Block,
    variable: Value,
    is_masked: bool,
) -> Result<HashSet<Value>, &'static str> {
    let steps = steps(body, block)?;
    let varying = HashSet::from_iter([variable]);
    let mut values = Values { body, varying, depths: HashMap::new(), steps, is_masked };
    values.visit(block)?;
    Ok(values.varying)
}

/// Returns the steps of reductions in a loop with this block.
///
/// # Errors
///
/// The reason why carried values are in the way.
fn steps(body: &Body, block: Block) -> Result<HashMap<Op, Combined>, &'static str> {
    let all = combined(body, block).ok_or("it carries values from one iteration to the next")?;
    match all.iter().all(|own| is_element(body, body.value_type(own.carried))) {
        true => Ok(all.into_iter().map(|own| (own.step, own)).collect()),
        false => Err("a value in it is no number"),
    }
}

/// Removes the [marks](marks::LANES) of a program that was read. They mean nothing. Linear.
pub(crate) fn forget_marks(body: &mut Body) {
    for op in marked(body) {
        body.remove_attr(op, marks::LANES);
        body.remove_attr(op, marks::MASKED);
    }
}

/// Widens all loops with the [mark](marks::LANES). Linear.
pub(crate) fn widen_marked(body: &mut Body, gathers: Gathers) {
    for op in marked(body) {
        let lanes = body.attr(op, marks::LANES).and_then(|own| own.as_int(body.ctx()));
        let is_masked = body.attr(op, marks::MASKED).is_some();
        body.remove_attr(op, marks::LANES);
        body.remove_attr(op, marks::MASKED);
        let lanes = lanes.and_then(|own| usize::try_from(own).ok()).filter(|own| *own <= MAX_LANES);
        let is_widened = lanes.is_some_and(|lanes| write::widen(body, op, (lanes, is_masked), gathers));
        debug_assert!(is_widened, "a loop was proposed that cannot be widened");
    }
}

/// Returns the operations with a mark, inner ones before those around.
fn marked(body: &Body) -> Vec<Op> {
    let mut all: Vec<Op> = body.all_ops().filter(|op| body.attr(*op, marks::LANES).is_some()).collect();
    all.reverse();
    all
}

/// The most lanes: the bytes of the longest vector registers.
pub(crate) const MAX_LANES: usize = 256;

/// The most operations one after the other that compute an integer. Writing recurses once for each.
const MAX_DEPTH: usize = 256;

/// Functions that LLVM has for single numbers alone.
const SINGLE: [&str; 10] = [
    "math.acosh",
    "math.asinh",
    "math.atanh",
    "math.cbrt",
    "math.erf",
    "math.erfc",
    "math.expm1",
    "math.fpowi",
    "math.log1p",
    "math.sincos",
];

/// The values that differ from lane to lane.
struct Values<'a> {
    body: &'a Body,
    varying: HashSet<Value>,
    /// The numbers of operations, one after the other, that compute integers.
    depths: HashMap<Value, usize>,
    /// The steps of reductions.
    steps: HashMap<Op, Combined>,
    /// True if some lanes need not run.
    is_masked: bool,
}

impl Values<'_> {
    fn varies(&self, value: Value) -> bool {
        self.varying.contains(&value)
    }

    /// Visits the operations of a block. Recurses once for each region; verified programs bound
    /// their nesting.
    ///
    /// # Errors
    ///
    /// The reason why one of them cannot be widened.
    fn visit(&mut self, block: Block) -> Result<(), &'static str> {
        let body = self.body;
        for op in body.ops(block).filter(|op| body.terminator(block) != Some(*op)) {
            let role = self.role(op)?;
            match role {
                Role::Same | Role::Step(_) => {}
                Role::Access(_) => self.varying.extend(body.results(op)),
                Role::Wide | Role::PerLane => {
                    self.note_depth(op)?;
                    self.varying.extend(body.results(op));
                }
                Role::Around | Role::Masked => {
                    // What a region yields, or a loop carries, may differ.
                    self.varying.extend(body.results(op));
                    let around = self.is_masked;
                    self.is_masked |= matches!(role, Role::Masked);
                    for region in body.own_regions(op) {
                        for block in body.blocks(region) {
                            let skipped = usize::from(is_loop(body, op));
                            self.varying.extend(body.arguments(block).skip(skipped));
                            self.visit(block)?;
                        }
                    }
                    self.is_masked = around;
                }
            }
        }
        Ok(())
    }

    /// Notes the number of operations, one after the other, that compute the integers that an
    /// operation results in.
    ///
    /// # Errors
    ///
    /// There are too many.
    fn note_depth(&mut self, op: Op) -> Result<(), &'static str> {
        let body = self.body;
        let depth_of = |own: Value| self.depths.get(&own).copied().unwrap_or_default();
        let depth = 1 + body.operands(op).map(depth_of).max().unwrap_or_default();
        let is_float = |own: &Value| body.value_type(*own).is_float(body.ctx());
        let integers = body.results(op).filter(|own| !is_float(own));
        self.depths.extend(integers.map(|own| (own, depth)));
        if depth > MAX_DEPTH { Err("a number in it is computed by too many operations") } else { Ok(()) }
    }

    /// Returns the role of an operation, whose operands are known.
    ///
    /// # Errors
    ///
    /// The reason why it has none.
    fn role(&self, op: Op) -> Result<Role, &'static str> {
        let body = self.body;
        let view = body.op_ref(op);
        if let Some(own) = self.steps.get(&op) {
            return Ok(Role::Step(*own));
        }
        if body.own_regions(op).next().is_some() {
            return self.role_around(op);
        }
        if let Some(model) = view.info().interface::<dyn MemoryAccess>() {
            return self.role_of_access(op, model.access(view));
        }
        // All of these only compute, though a division may be undefined.
        let is_elementwise = body.has_trait(op, Trait::Elementwise)
            && (view.name().starts_with("arith.") || view.name().starts_with("math."));
        if !body.operands(op).any(|own| self.varies(own)) {
            let is_pure = body.has_trait(op, Trait::Pure) || body.has_trait(op, Trait::ConstantLike);
            return match is_pure || is_elementwise {
                true => Ok(Role::Same),
                false => Err("an operation in it does more than to compute"),
            };
        }
        if SINGLE.contains(&view.name()) {
            return Err("LLVM has a function in it for single numbers alone");
        }
        if is_elementwise {
            let mut types = body.operands(op).chain(body.results(op)).map(|own| body.value_type(own));
            return match types.all(|own| is_element(body, own)) {
                true if self.is_masked && !masks::is_safe(view) => {
                    Err("an operation that not all lanes run may be undefined")
                }
                true => Ok(Role::Wide),
                false => Err("a value in it is no number"),
            };
        }
        let is_index = body.results(op).all(|own| body.value_type(own) == Type::INDEX);
        match is_index && is_speculatable(view) {
            true => Ok(Role::PerLane),
            false => Err("an operation in it has no form for vectors"),
        }
    }

    fn role_around(&self, op: Op) -> Result<Role, &'static str> {
        let body = self.body;
        let view = body.op_ref(op);
        let is_conditional = view.info().interface::<dyn Conditional>().is_some();
        if !is_loop(body, op) && !is_conditional {
            return Err("an operation in it with regions is neither a loop nor a condition");
        }
        let differs = body.operands(op).take(num_bounds(body, op)).any(|own| self.varies(own));
        if differs && !is_conditional {
            return Err("the bounds of a loop in it depend on the iteration");
        }
        if differs && !masks::is_mask(view) {
            return Err("a condition in it that depends on the iteration has no form for vectors");
        }
        match body.results(op).all(|own| is_element(body, body.value_type(own))) {
            true if differs => Ok(Role::Masked),
            true => Ok(Role::Around),
            false => Err("a value in it is no number"),
        }
    }

    fn role_of_access(&self, op: Op, access: Access) -> Result<Role, &'static str> {
        let body = self.body;
        if self.varies(access.memref) {
            return Err("it loads from, or stores to, another memref in each iteration");
        }
        let simple = [affine::LoadOp::DEF, affine::StoreOp::DEF, memref::LoadOp::DEF, memref::StoreOp::DEF];
        if !simple.iter().any(|def| body.is(op, def)) {
            return Err("an access in it is neither a load nor a store");
        }
        let promises = ["nontemporal", "alignment"];
        if promises
            .iter()
            .any(|name| body.attr(op, name).is_some_and(|own| own != body.ctx().bool_attr(false)))
        {
            return Err("a load or store in it promises something of memory");
        }
        let varies = access.subscripts.operands.iter().any(|own| self.varies(*own));
        let stored = access.stored.or(body.results(op).next());
        if !stored.is_some_and(|own| is_element(body, body.value_type(own))) {
            return Err("an element in it is no number");
        }
        match (varies, access.stored) {
            (true, _) => Ok(Role::Access(Box::new(access))),
            (false, None) => Ok(Role::Same),
            (false, Some(_)) => Err("all iterations store to one element"),
        }
    }
}

/// Returns the number of operands that are the bounds of a loop, or the condition of another
/// operation: the first ones. Initial values are the last operands of a loop.
fn num_bounds(body: &Body, op: Op) -> usize {
    let inits = if is_loop(body, op) { body.num_results(op) } else { 0 };
    body.num_operands(op) - inits
}

/// True if an operation is a loop that runs its iterations in order.
fn is_loop(body: &Body, op: Op) -> bool {
    body.info(op).interface::<dyn LoopLike>().is_some()
}

/// True if vectors hold values of a type.
fn is_element(body: &Body, ty: Type) -> bool {
    matches!(ty.kind(body.ctx()), TypeKind::Integer { .. } | TypeKind::Index | TypeKind::Float(_))
}
