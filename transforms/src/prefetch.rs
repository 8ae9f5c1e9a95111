//! Software prefetch: innermost loops ask ahead for memory that they read in large strides.
//!
//! Hardware fetches lines ahead that are read one after the other. A loop that reads one element of
//! each row waits for every row. With a prefetch, iteration `i` asks for what iteration
//! `i + distance` reads.
//!
//! ```text
//!     for i { x = a[i, 0]; … }    ──>    for i {
//!                                          prefetch a[i + 8 < n ? i + 8 : i, 0]
//!                                          x = a[i, 0]; …
//!                                        }
//! ```
//!
//! # Assumptions
//!
//! - A prefetch outside of its memref is undefined. The last iterations therefore ask for what they
//!   read themselves, only loads that run in each iteration are asked for, and a loop whose
//!   iterations may not return stays. Tried with `fixtures/prefetch/prefetch.mlir`.
//! - `i + distance` does not wrap: the loop begins at a constant that is not negative, and the
//!   comparison is with the upper bound less the distance.
//!
//! **Cost.** Linear in the operations.
//!
//! # Limits
//!
//! - Subscripts are sums and products of constants, the loop's variable and values from outside.
//! - A prefetch counts as a write for other passes, so this one comes last.
//!
//! **Never illegal.** A prefetch computes nothing.
//!
//! **Never conditional.** A prefetch computes nothing.
//!
//! In LLVM IR, [schedules](crate::schedule) prefetch with `loomir.prefetch`.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<16x64xf64>, %b: memref<16xf64>) {
//!   affine.for %i = 0 to 16 {
//!     %x = affine.load %a[%i, 0] : memref<16x64xf64>
//!     affine.store %x, %b[%i] : memref<16xf64>
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-prefetch --remarks=text -o new.mlir
//! $ cat new.mlir
//! ```
//!
//! No iteration moves, so there is nothing to draw.

use loomir_dialects::interfaces::{Access, LoopBounds, LoopLike, MemoryAccess, Step, Subscripts};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::{arith, llvm, memref};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{AffineExpr, AffineExprKind, Attr, Block, Body, Builder, Diagnostics, InsertPoint, Op};
use loomir_ir::{Type, Value};

use crate::access::base::bytes_of_element;
use crate::access::loop_bounds::{constant, constant_bound, operand_of, value_bound};
use crate::effects::Effects;
use addresses::Address;

mod addresses;

/// The pass `loop-prefetch`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "loop-prefetch",
    anchor: None,
    summary: "Ask ahead for memory that innermost loops read in large strides",
    options: &[
        ("distance", "8", "by how many iterations to ask ahead, at least 1"),
        ("min-stride", "64", "the least distance in bytes of elements that are asked for"),
    ],
    make: |options| {
        let (distance, min_stride) = (options.parse("distance", 8)?, options.parse("min-stride", 64)?);
        match distance {
            1..=MAX_DISTANCE => Ok(Box::new(Prefetch { distance, min_stride })),
            _ => Err(format!("'{distance}' is not from 1 to {MAX_DISTANCE}")),
        }
    },
};

/// The largest distance.
pub const MAX_DISTANCE: i64 = 4096;

/// The most streams of one loop.
const MAX_STREAMS: usize = 8;

struct Prefetch {
    distance: i64,
    min_stride: i64,
}

impl Pass for Prefetch {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| {
            let made = prefetch(body, self.distance, self.min_stride);
            cx.count("Streams prefetched", made as u64);
        });
        Ok(())
    }
}

/// Adds prefetches to the innermost loops of a body. Returns their number.
pub fn prefetch(body: &mut Body, distance: i64, min_stride: i64) -> usize {
    prefetch_within(body, body.root(), (distance, min_stride), None)
}

/// The same for innermost loops inside of an operation, or the loop itself. With a data layout,
/// loads through pointers count too.
pub fn prefetch_within(
    body: &mut Body,
    around: Op,
    numbers: (i64, i64),
    layout: Option<&DataLayout>,
) -> usize {
    let effects = Effects::of(body);
    let loops = body.preorder(around).filter(|op| !effects.get(*op).may_not_return());
    let found: Vec<Candidate> = loops.filter_map(|op| Candidate::of(body, op, numbers, layout)).collect();
    let streams = found.iter().map(|own| own.streams.len()).sum();
    found.into_iter().for_each(|own| own.write(body));
    streams
}

/// An innermost loop that reads streams.
struct Candidate {
    op: Op,
    block: Block,
    bounds: LoopBounds,
    /// The distance of two values of the variable that are `distance` iterations apart.
    ahead: i64,
    streams: Vec<Stream>,
}

/// Memory that a loop reads in strides.
#[derive(PartialEq, Eq)]
enum Stream {
    Elements(Access),
    Address(Address),
}

impl Candidate {
    fn of(
        body: &Body,
        op: Op,
        (distance, min_stride): (i64, i64),
        layout: Option<&DataLayout>,
    ) -> Option<Candidate> {
        let view = body.op_ref(op);
        let model = view.info().interface::<dyn LoopLike>().filter(|model| !model.is_unsigned(view))?;
        let (bounds, block) = (model.bounds(view), body.single_block(model.body(view))?);
        let variable = body.argument(block, 0);
        let step = match bounds.step {
            Step::Constant(step) => step,
            Step::Value(value) => constant(body, value)?,
        };
        let lower = constant_bound(body, &bounds.lower).filter(|lower| *lower >= 0)?;
        let ahead = step.checked_mul(distance).filter(|ahead| *ahead > 0)?;
        let is_short = constant_bound(body, &bounds.upper)
            .is_some_and(|upper| upper.checked_sub(lower).is_none_or(|extent| extent <= ahead));
        let is_innermost = body.ops(block).all(|own| body.own_regions(own).len() == 0);
        let has_bound =
            constant_bound(body, &bounds.upper).is_some() || value_bound(body, &bounds.upper).is_some();
        let has_some = body
            .ops(block)
            .any(|own| [memref::PrefetchOp::DEF, llvm::PrefetchOp::DEF].iter().any(|def| body.is(own, def)));
        if is_short || !is_innermost || !has_bound || has_some || body.value_type(variable) != Type::INDEX {
            return None;
        }
        let is_far = |stride: i64| stride.saturating_mul(step) >= min_stride;
        let through_pointer = |own: Op| {
            let (address, stride) = Address::of(body, own, (op, variable), layout?)?;
            is_far(stride).then_some(Stream::Address(address))
        };
        let of_elements = |own: Op| {
            let own = body.op_ref(own);
            let access = own.info().interface::<dyn MemoryAccess>()?.access(own);
            let is_known = |value: &Value| *value == variable || !body.is_defined_within(*value, op);
            let is_stream = access.stored.is_none()
                && stride(body, &access, variable).is_some_and(is_far)
                && access.subscripts.operands.iter().all(is_known)
                && !body.is_defined_within(access.memref, op);
            is_stream.then_some(Stream::Elements(access))
        };
        let mut streams: Vec<Stream> = Vec::new();
        for stream in body.ops(block).filter_map(|own| through_pointer(own).or_else(|| of_elements(own))) {
            if streams.len() < MAX_STREAMS && !streams.contains(&stream) {
                streams.push(stream);
            }
        }
        (!streams.is_empty()).then_some(Candidate { op, block, bounds, ahead, streams })
    }

    /// Writes the prefetches at the start of the body.
    fn write(self, body: &mut Body) {
        let mut b = Builder::before(body, self.op);
        let upper = match constant_bound(b.body(), &self.bounds.upper) {
            Some(upper) => number(&mut b, upper),
            None => match value_bound(b.body(), &self.bounds.upper) {
                Some(upper) => upper,
                None => return,
            },
        };
        let ahead = number(&mut b, self.ahead);
        let state = b.state(arith::SubIOp::DEF).operands(&[upper, ahead]);
        let limit = b.value(state);
        b.set_point(InsertPoint::Start(self.block));
        let (ctx, variable) = (b.ctx(), b.body().argument(self.block, 0));
        let less = ctx.int_attr(Type::I64, 2);
        let compare = b.state(arith::CmpIOp::DEF).operands(&[variable, limit]).results(&[Type::I1]);
        let compare = b.value(compare.attr(&ctx, "predicate", less));
        let state = b.state(arith::AddIOp::DEF).operands(&[variable, ahead]);
        let next = b.value(state);
        let state =
            b.state(arith::SelectOp::DEF).operands(&[compare, next, variable]).results(&[Type::INDEX]);
        let next = b.value(state);
        for stream in self.streams {
            let stream = match stream {
                Stream::Elements(access) => access,
                Stream::Address(address) => {
                    address.write(&mut b, (variable, next));
                    continue;
                }
            };
            let mut at = stream.subscripts.clone();
            at.operands.iter_mut().filter(|value| **value == variable).for_each(|value| *value = next);
            let exprs = at.map.results(&ctx).to_vec();
            let place: Option<Vec<Value>> =
                exprs.into_iter().map(|expr| value_of(&mut b, &at, expr)).collect();
            let Some(place) = place else { continue };
            let attrs = [
                ("isWrite", Attr::FALSE),
                ("localityHint", ctx.int_attr(Type::I32, 3)),
                ("isDataCache", Attr::TRUE),
            ];
            b.build(memref::PrefetchOp::DEF, &[&[stream.memref], &place], &attrs, &[]);
        }
    }
}

/// Returns the distance in bytes of the elements of two values of the variable that differ by one,
/// counted along rows. `None` if the subscripts do not depend on it, or are no sums and products.
fn stride(body: &Body, access: &Access, variable: Value) -> Option<i64> {
    let (ctx, at) = (body.ctx(), &access.subscripts);
    let bytes = bytes_of_element(ctx, body.value_type(access.memref).element(ctx)?)?;
    let shape = body.value_type(access.memref).shape(ctx)?;
    let exprs = at.map.results(ctx);
    if !exprs.iter().all(|expr| is_linear(body, *expr)) {
        return None;
    }
    let values =
        |of: i64| at.operands.iter().map(|value| i64::from(*value == variable) * of).collect::<Vec<_>>();
    let (here, there) = (at.map.evaluate(ctx, &values(0))?, at.map.evaluate(ctx, &values(1))?);
    let mut stride: i64 = 0;
    for (dimension, (here, there)) in here.into_iter().zip(there).enumerate() {
        // A size that is not known is a large one.
        let size = shape.get(dimension).copied().filter(|size| *size >= 0).unwrap_or(i64::from(u16::MAX));
        stride = stride.saturating_mul(size).saturating_add(there.saturating_sub(here));
    }
    (stride != 0).then_some(stride.saturating_abs().saturating_mul(bytes))
}

/// True if an expression has sums and products only. Recurses once for each part.
fn is_linear(body: &Body, expr: AffineExpr) -> bool {
    match expr.kind(body.ctx()) {
        AffineExprKind::Dim(_) | AffineExprKind::Symbol(_) | AffineExprKind::Constant(_) => true,
        AffineExprKind::Add(a, b) | AffineExprKind::Mul(a, b) => is_linear(body, a) && is_linear(body, b),
        _ => false,
    }
}

/// Writes the value of an expression of subscripts. `None` if it has other than sums and products.
/// Recurses once for each part.
fn value_of(b: &mut Builder<'_>, at: &Subscripts, expr: AffineExpr) -> Option<Value> {
    let ctx = b.ctx();
    let (def, left, right) = match expr.kind(&ctx) {
        AffineExprKind::Constant(value) => return Some(number(b, value)),
        AffineExprKind::Add(left, right) => (arith::AddIOp::DEF, left, right),
        AffineExprKind::Mul(left, right) => (arith::MulIOp::DEF, left, right),
        _ => return operand_of(b.body(), at, expr),
    };
    let operands = [value_of(b, at, left)?, value_of(b, at, right)?];
    let state = b.state(def).operands(&operands);
    Some(b.value(state))
}

fn number(b: &mut Builder<'_>, number: i64) -> Value {
    let ctx = b.ctx();
    let state = b.state(arith::ConstantOp::DEF).results(&[Type::INDEX]);
    b.value(state.attr(&ctx, "value", ctx.index_attr(number)))
}
