//! `memref`: accesses to elements, and questions about shapes.
//!
//! | module | holds |
//! | --- | --- |
//! | this one | the address of an element; loads, stores, atomics, prefetches; `dim`, `rank` |
//! | `alloc` | making and freeing objects |
//! | `views` | other descriptors of the same object |
//! | `copy` | copying |
//! | [`global`] | globals and their addresses |
//!
//! Subscripts are in bounds, or the access is undefined. Offsets are not negative, by the rules of
//! the type. An address computation therefore does not wrap and stays inside its object, which its
//! flags state. Strides that are unknown are taken to be positive, as MLIR does; with a negative
//! one, nothing is said of unsigned numbers.

use loomir_dialects::llvm::attributes::{ATOMIC_BIN_OP, ATOMIC_ORDERING};
use loomir_dialects::{arith, llvm, memref};
use loomir_ir::{Attr, DYNAMIC, Diagnostic, OpRef, Registry, Type, TypeKind, Value};

use super::build::{ICmp, INBOUNDS, INBOUNDS_NUW, Index, NONE, NSW, NUW};
use super::descriptor::{self, Shape};
use super::function::FunctionConverter;
use super::{Converted, attach};

mod alloc;
mod copy;
pub(super) mod global;
mod views;

pub(super) fn register(registry: &mut Registry) {
    attach(registry, "memref.load", load);
    attach(registry, "memref.store", store);
    attach(registry, "memref.prefetch", prefetch);
    attach(registry, "memref.atomic_rmw", atomic_rmw);
    attach(registry, "memref.dim", dim);
    attach(registry, "memref.rank", rank);
    alloc::register(registry);
    copy::register(registry);
    global::register(registry);
    views::register(registry);
}

/// Returns the shape of a ranked memref with strides.
pub(super) fn shape_of(cx: &FunctionConverter<'_>, op: OpRef<'_>, ty: Type) -> Result<Shape, Diagnostic> {
    Shape::of(cx, ty).ok_or_else(|| cx.unsupported(op, "on a memref without strides"))
}

/// Returns the pointer to the element at the offset.
fn base_pointer(cx: &mut FunctionConverter<'_>, descriptor: Value, shape: &Shape, element: Type) -> Value {
    let aligned = descriptor::aligned(cx, descriptor);
    if shape.offset == 0 {
        return aligned;
    }
    let offset = descriptor::offset(cx, descriptor, shape);
    cx.gep(aligned, element, &[Index::Value(offset)], NONE)
}

/// The assumptions of an address computation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bounds {
    /// The element is inside the memref.
    Inside,
    /// None: the address may never be accessed.
    Unknown,
}

impl FunctionConverter<'_> {
    /// Returns the address of an element of `memref`, which must be inside. Memref and indices are
    /// old values.
    ///
    /// # Errors
    /// A memref that has no descriptor, or another number of indices than dimensions.
    pub fn element_address(
        &mut self,
        op: OpRef<'_>,
        memref: Value,
        indices: &[Value],
    ) -> Result<Value, Diagnostic> {
        element_address(self, op, memref, indices, Bounds::Inside)
    }
}

/// Returns the address of an element of the memref `old`.
fn element_address(
    cx: &mut FunctionConverter<'_>,
    op: OpRef<'_>,
    old: Value,
    indices: &[Value],
    bounds: Bounds,
) -> Result<Value, Diagnostic> {
    let ty = op.type_of(old);
    let shape = shape_of(cx, op, ty)?;
    let element = cx.element_type(ty)?;
    let descriptor = cx.value(old)?;
    let indices = cx.values(indices)?;
    if indices.len() != shape.rank() {
        return Err(cx.malformed(op));
    }
    Ok(address(cx, descriptor, &shape, element, &indices, bounds))
}

/// Returns the address of the element at `indices` of a descriptor.
pub(super) fn address(
    cx: &mut FunctionConverter<'_>,
    descriptor: Value,
    shape: &Shape,
    element: Type,
    indices: &[Value],
    bounds: Bounds,
) -> Value {
    let goes_back = shape.strides.iter().any(|stride| *stride != DYNAMIC && *stride < 0);
    let (wrap, flags) = match bounds {
        Bounds::Inside if goes_back => (NSW, INBOUNDS),
        Bounds::Inside => (NSW | NUW, INBOUNDS_NUW),
        Bounds::Unknown => (NONE, NONE),
    };
    let base = base_pointer(cx, descriptor, shape, element);
    let mut linear = None;
    for (dimension, index) in indices.iter().enumerate() {
        let term = if shape.strides[dimension] == 1 {
            *index
        } else {
            let stride = descriptor::stride(cx, descriptor, shape, dimension);
            cx.mul(*index, stride, wrap)
        };
        linear = Some(match linear {
            Some(sum) => cx.add(sum, term, wrap),
            None => term,
        });
    }
    match linear {
        Some(linear) => cx.gep(base, element, &[Index::Value(linear)], flags),
        None => base,
    }
}

/// Gives a load or store the attributes of the access.
fn access_attributes(cx: &FunctionConverter<'_>, op: OpRef<'_>, state: &mut loomir_ir::OperationState) {
    let ctx = cx.ctx();
    if op.attr("nontemporal") == Some(Attr::TRUE) {
        state.set_attr(&ctx, "nontemporal", Attr::UNIT);
    }
    if let Some(alignment) = op.attr("alignment") {
        state.set_attr(&ctx, "alignment", alignment);
    }
}

fn load(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::LoadOp(op.op());
    let address = element_address(cx, op, old.memref(op.body()), &old.indices(op.body()), Bounds::Inside)?;
    let ty = cx.convert_type(op.result_type(0))?;
    let mut state = cx.state(llvm::LoadOp::DEF).operands(&[address]).results(&[ty]);
    access_attributes(cx, op, &mut state);
    let new = cx.emit(state);
    cx.set(op.result(0), new);
    Ok(())
}

fn store(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::StoreOp(op.op());
    let address = element_address(cx, op, old.memref(op.body()), &old.indices(op.body()), Bounds::Inside)?;
    let value = cx.value(old.value(op.body()))?;
    let mut state = cx.state(llvm::StoreOp::DEF).operands(&[value, address]);
    access_attributes(cx, op, &mut state);
    cx.insert(state);
    Ok(())
}

fn prefetch(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let old = memref::PrefetchOp(op.op());
    let address = element_address(cx, op, old.memref(op.body()), &old.indices(op.body()), Bounds::Unknown)?;
    let flag = |name: &str| ctx.int_attr(Type::I32, i64::from(op.attr(name) == Some(Attr::TRUE)));
    let mut state = cx
        .state(llvm::PrefetchOp::DEF)
        .operands(&[address])
        .attr(&ctx, "rw", flag("isWrite"))
        .attr(&ctx, "cache", flag("isDataCache"));
    if let Some(hint) = op.attr("localityHint") {
        state.set_attr(&ctx, "hint", hint);
    }
    cx.insert(state);
    Ok(())
}

fn atomic_rmw(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let ctx = cx.ctx();
    let old = memref::AtomicRMWOp(op.op());
    let kind = op.attr("kind").and_then(|kind| arith::ATOMIC_RMW_KIND.value(&ctx, kind));
    let kind = kind.and_then(|kind| arith::ATOMIC_RMW_KIND.text_of(kind)).unwrap_or_default();
    let bin_op = match kind.as_str() {
        "addf" => "fadd",
        "addi" => "add",
        "andi" => "_and",
        "assign" => "xchg",
        "maximumf" => "fmaximum",
        "maxnumf" => "fmax",
        "maxs" => "max",
        "maxu" => "umax",
        "minimumf" => "fminimum",
        "minnumf" => "fmin",
        "mins" => "min",
        "minu" => "umin",
        "ori" => "_or",
        "xori" => "_xor",
        _ => return Err(cx.unsupported(op, &format!("of kind '{kind}'"))),
    };
    let address = element_address(cx, op, old.memref(op.body()), &old.indices(op.body()), Bounds::Inside)?;
    let value = cx.value(old.value(op.body()))?;
    let ty = cx.type_of(value);
    let case = |def: &'static loomir_ir::EnumDef, name| def.attr(&ctx, def.value_of(name).unwrap_or(0));
    let state = cx
        .state(llvm::AtomicRMWOp::DEF)
        .operands(&[address, value])
        .results(&[ty])
        .attr(&ctx, "bin_op", case(&ATOMIC_BIN_OP, bin_op))
        .attr(&ctx, "ordering", case(&ATOMIC_ORDERING, "acq_rel"));
    let new = cx.emit(state);
    cx.set(op.result(0), new);
    Ok(())
}

fn dim(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let old = memref::DimOp(op.op());
    let (source, index) = (old.source(op.body()), old.index(op.body()));
    let ty = op.type_of(source);
    let descriptor = cx.value(source)?;
    let new = match (ty.shape(&cx.ctx()).map(<[i64]>::len), cx.constant_of(index)) {
        (None, _) => unranked_dim(cx, descriptor, index)?,
        (Some(rank), Some(index)) => {
            // An absent dimension is undefined behaviour, so any value will do.
            let Some(dimension) = usize::try_from(index).ok().filter(|d| *d < rank) else {
                let poison = cx.poison(Type::I64);
                cx.set(op.result(0), poison);
                return Ok(());
            };
            let shape = shape_of(cx, op, ty)?;
            descriptor::size(cx, descriptor, &shape, dimension)
        }
        (Some(rank), None) => {
            let shape = shape_of(cx, op, ty)?;
            let index = cx.value(index)?;
            let mut size = None;
            for dimension in 0..rank {
                let this = descriptor::size(cx, descriptor, &shape, dimension);
                size = Some(match size {
                    None => this,
                    Some(others) => {
                        let number = cx.index(dimension as i64);
                        let is_this = cx.icmp(ICmp::Eq, index, number);
                        cx.select(is_this, this, others)
                    }
                });
            }
            match size {
                Some(size) => size,
                None => cx.poison(Type::I64),
            }
        }
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Returns a size of an unranked memref, read from the descriptor that it points to.
fn unranked_dim(
    cx: &mut FunctionConverter<'_>,
    descriptor: Value,
    index: Value,
) -> Result<Value, Diagnostic> {
    let ctx = cx.ctx();
    let index = cx.value(index)?;
    let (_, pointer) = descriptor::unranked_parts(cx, descriptor);
    let p = cx.type_of(pointer);
    let head = llvm::types::literal_struct(&ctx, &[p, p, Type::I64]);
    let offset = cx.gep(pointer, head, &[Index::Constant(0), Index::Constant(2)], NONE);
    let one = cx.index(1);
    let position = cx.add(one, index, NONE);
    let address = cx.gep(offset, Type::I64, &[Index::Value(position)], NONE);
    Ok(cx.load(address, Type::I64))
}

fn rank(cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
    let source = memref::RankOp(op.op()).memref(op.body());
    let new = match op.type_of(source).kind(op.ctx()) {
        TypeKind::MemRef { shape: Some(shape), .. } => cx.index(shape.len() as i64),
        _ => {
            let descriptor = cx.value(source)?;
            descriptor::unranked_parts(cx, descriptor).0
        }
    };
    cx.set(op.result(0), new);
    Ok(())
}

/// Returns mixed numbers and values: an entry [`DYNAMIC`] of `statics` stands for the next of
/// `dynamics`.
fn mixed(
    cx: &mut FunctionConverter<'_>,
    statics: &[i64],
    dynamics: &[Value],
) -> Result<Vec<Value>, Diagnostic> {
    let mut dynamics = dynamics.iter();
    let mut values = Vec::with_capacity(statics.len());
    for n in statics {
        values.push(match *n {
            DYNAMIC => match dynamics.next() {
                Some(old) => cx.value(*old)?,
                None => return Err(Diagnostic::error(cx.loc(), "a dynamic entry has no operand")),
            },
            known => cx.index(known),
        });
    }
    Ok(values)
}
