//! The parameters of a function, as far as inputs can be made for them.

use loomir_dialects::interfaces::FunctionLike;
use loomir_ir::types::DYNAMIC;
use loomir_ir::{AttrKind, Body, Context, FloatKind, Op, OpRef, Type, TypeKind, Value};

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// An integer of this width; `index` has 64 bits.
    Integer {
        /// Its width.
        width: u32,
    },
    /// A float of this format.
    Float(FloatKind),
    /// A buffer.
    Buffer(BufferType),
}

/// The type of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BufferType {
    /// Its text, with a `?` for each size that is open.
    pub ty: String,
    /// The type of its elements, as text: only buffers of one element type are made to overlap.
    pub element: String,
    /// True if the elements are floats.
    pub is_float: bool,
    /// The width of an element.
    pub width: u32,
    /// The size of each dimension; `None` if it is open.
    pub shape: Vec<Option<i64>>,
    /// True if an argument must name its type though no size is open.
    pub typed: bool,
    /// True if the open size is no size of the program: of the memory behind a bare pointer.
    pub is_bare: bool,
    /// True if the function says that nothing else reaches the buffer.
    pub is_alone: bool,
}

/// Returns the parameters of a function of a module.
///
/// # Errors
/// The first parameter for which no inputs can be made.
pub fn of(module: &Body, function: Op) -> Result<Vec<Parameter>, String> {
    let own = module.nested(function);
    let op = own.map_or_else(|| module.op_ref(function), Body::root_ref);
    let Some(model) = op.info().interface::<dyn FunctionLike>() else {
        return Err(format!("`{}` is no function", op.name()));
    };
    let (types, _) = model.signature(op);
    let block = op.body().entry_block(model.body(op));
    let parameter = |(i, ty): (usize, &Type)| {
        let value = block.filter(|b| i < op.body().num_arguments(*b)).map(|b| op.body().argument(b, i));
        parameter(op, i, *ty, value).ok_or_else(|| {
            let text = loomir_ir::text::type_to_string(op.ctx(), *ty);
            format!("no inputs are made for parameter {i} of type {text}")
        })
    };
    types.iter().enumerate().map(parameter).collect()
}

fn parameter(op: OpRef<'_>, index: usize, ty: Type, value: Option<Value>) -> Option<Parameter> {
    let ctx = op.ctx();
    let is_alone = has_attribute(op, index, "llvm.noalias");
    let text = |ty: Type| loomir_ir::text::type_to_string(ctx, ty);
    match ty.kind(ctx) {
        TypeKind::MemRef { shape, element, .. } => {
            let (is_float, width) = scalar(ctx, *element)?;
            let own =
                shape.as_ref().map(|shape| shape.iter().map(|n| (*n != DYNAMIC).then_some(*n)).collect());
            let (ty, shape) = match own {
                Some(shape) => (text(ty), shape),
                None => (format!("memref<?x{}>", text(*element)), vec![None]),
            };
            let element = text(*element);
            let of =
                BufferType { ty, element, is_float, width, shape, typed: false, is_bare: false, is_alone };
            Some(Parameter::Buffer(of))
        }
        _ if ty.dialect_params(ctx, "llvm.ptr").is_some() => {
            let element = value.and_then(|value| element_behind(op.body(), value)).unwrap_or(Type::I8);
            let (is_float, width) = scalar(ctx, element)?;
            let element = text(element);
            let (ty, shape) = (format!("memref<?x{element}>"), vec![None]);
            let of = BufferType { ty, element, is_float, width, shape, typed: true, is_bare: true, is_alone };
            Some(Parameter::Buffer(of))
        }
        _ => match scalar(ctx, ty)? {
            (true, _) => {
                let TypeKind::Float(kind) = ty.kind(ctx) else { return None };
                Some(Parameter::Float(*kind))
            }
            (false, width) => Some(Parameter::Integer { width }),
        },
    }
}

/// Returns true for a float, and the width of a number.
fn scalar(ctx: &Context, ty: Type) -> Option<(bool, u32)> {
    match ty.kind(ctx) {
        TypeKind::Index => Some((false, 64)),
        TypeKind::Integer { width, .. } if *width <= 128 => Some((false, *width)),
        TypeKind::Float(kind @ (FloatKind::F16 | FloatKind::BF16 | FloatKind::F32 | FloatKind::F64)) => {
            Some((true, kind.width()))
        }
        _ => None,
    }
}

/// True if argument `index` of a function has an attribute.
fn has_attribute(op: OpRef<'_>, index: usize, name: &str) -> bool {
    let Some(AttrKind::Array(all)) = op.attr("arg_attrs").map(|attr| attr.kind(op.ctx())) else {
        return false;
    };
    all.get(index).is_some_and(|own| match own.kind(op.ctx()) {
        AttrKind::Dictionary(dict) => dict.get(op.ctx(), name).is_some(),
        _ => false,
    })
}

/// The most operations that are looked at for the type behind a pointer.
const MOST_USES: usize = 256;

/// Returns the type of the numbers that a pointer leads to: of the first load or store through it.
fn element_behind(body: &Body, pointer: Value) -> Option<Type> {
    let is_number = |ty: &Type| scalar(body.ctx(), *ty).is_some();
    let (mut pending, mut seen) = (vec![pointer], 0);
    while let Some(value) = pending.pop() {
        for user in body.uses(value) {
            seen += 1;
            if seen > MOST_USES {
                return None;
            }
            let op = body.op_ref(user.op);
            let found = match op.name() {
                "llvm.load" => Some(op.result_type(0)),
                "llvm.store" if user.index == 1 => Some(op.operand_type(0)),
                "llvm.getelementptr" | "llvm.select" => {
                    pending.push(op.result(0));
                    None
                }
                _ => None,
            };
            if let Some(found) = found.filter(is_number) {
                return Some(found);
            }
        }
    }
    None
}
