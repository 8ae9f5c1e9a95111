//! The conversion of types.
//!
//! | type | becomes |
//! | --- | --- |
//! | `index` | `i64` |
//! | integers, floats LLVM has | themselves, without a sign |
//! | floats of 8 bits and fewer | an integer of that width |
//! | `vector<…xT>` | itself, or arrays of vectors if it has several dimensions |
//! | `complex<T>` | `struct<(T, T)>` |
//! | function types | `ptr` |
//! | ranked memref of rank r | `struct<(ptr, ptr, i64, array<r x i64>, array<r x i64>)>`: allocated and aligned pointer, offset, sizes, strides |
//! | unranked memref | `struct<(i64, ptr)>`: rank and pointer to a descriptor of that rank |
//! | types of `llvm` | themselves |
//!
//! Arguments and results of a function that takes bare pointers are different: a memref whose
//! sizes, strides and offset are all static is one pointer.
//!
//! Results are cached, so a type is converted once.

use hashbrown::HashMap;
use loomir_dialects::llvm::types::{array, function, is_compatible, literal_struct, pointer_in, void};
use loomir_ir::{AttrKind, Context, DYNAMIC, FloatKind, Type, TypeKind};

/// Converts types and caches the results.
#[derive(Debug)]
pub struct TypeConverter {
    ctx: Context,
    known: HashMap<Type, Option<Type>>,
}

impl TypeConverter {
    /// Creates an empty converter.
    pub fn new(ctx: &Context) -> Self {
        TypeConverter { ctx: ctx.clone(), known: HashMap::new() }
    }

    /// Converts `ty`; `None` if it has no counterpart.
    pub fn convert(&mut self, ty: Type) -> Option<Type> {
        if let Some(known) = self.known.get(&ty) {
            return *known;
        }
        let ctx = self.ctx.clone();
        let converted = match ty.kind(&ctx) {
            TypeKind::Index => Some(Type::I64),
            TypeKind::Integer { width, .. } => Some(ctx.int_type(*width)),
            TypeKind::Float(kind) => convert_float(&ctx, ty, *kind),
            TypeKind::Complex(element) => {
                self.convert_scalar(*element).map(|element| literal_struct(&ctx, &[element, element]))
            }
            TypeKind::Vector { shape, scalable, element } => self
                .convert_scalar(*element)
                .and_then(|element| convert_vector(&ctx, shape, scalable, element)),
            TypeKind::Function { .. } => Some(pointer_in(&ctx, 0)),
            TypeKind::MemRef { shape, memory_space, element, .. } => {
                let element_converts = self.convert_element(*element).is_some();
                address_space(&ctx, *memory_space).filter(|_| element_converts).and_then(|space| {
                    let pointer = pointer_in(&ctx, space);
                    match shape {
                        None => Some(literal_struct(&ctx, &[Type::I64, pointer])),
                        Some(shape) if ty.strides_and_offset(&ctx).is_some() => {
                            let mut fields = vec![pointer, pointer, Type::I64];
                            if !shape.is_empty() {
                                let numbers = array(&ctx, shape.len() as u64, Type::I64);
                                fields.extend([numbers, numbers]);
                            }
                            Some(literal_struct(&ctx, &fields))
                        }
                        Some(_) => None,
                    }
                })
            }
            TypeKind::Dialect { .. } if is_compatible(&ctx, ty) => Some(ty),
            _ => None,
        };
        self.known.insert(ty, converted);
        converted
    }

    /// Converts a type without parts.
    fn convert_scalar(&mut self, ty: Type) -> Option<Type> {
        match ty.kind(&self.ctx) {
            TypeKind::Index | TypeKind::Integer { .. } | TypeKind::Float(_) => self.convert(ty),
            TypeKind::Dialect { .. } => self.convert(ty),
            _ => None,
        }
    }

    /// Converts an element of a memref. Memrefs nest only as deep as their text.
    pub fn convert_element(&mut self, ty: Type) -> Option<Type> {
        self.convert(ty)
    }

    /// Returns the types of the values that an argument of type `ty` is passed as. The parts of a
    /// memref are separate values, or one pointer if pointers are `bare`.
    pub fn convert_argument(&mut self, ty: Type, bare: bool) -> Option<Vec<Type>> {
        let converted = self.convert(ty)?;
        let ctx = &self.ctx;
        if bare && matches!(ty.kind(ctx), TypeKind::MemRef { .. }) {
            return Some(vec![bare_pointer(ctx, ty)?]);
        }
        let TypeKind::MemRef { shape, memory_space, .. } = ty.kind(ctx) else { return Some(vec![converted]) };
        let pointer = pointer_in(ctx, address_space(ctx, *memory_space)?);
        Some(match shape {
            None => vec![Type::I64, pointer],
            Some(shape) => {
                let mut parts = vec![pointer, pointer];
                parts.resize(3 + 2 * shape.len(), Type::I64);
                parts
            }
        })
    }

    /// Returns the type of all results of a function: void, the one result, or a struct. A memref
    /// is its descriptor, or one pointer if pointers are `bare`.
    pub fn pack_results(&mut self, results: &[Type], bare: bool) -> Option<Type> {
        let converted: Option<Vec<Type>> = results.iter().map(|ty| self.convert_result(*ty, bare)).collect();
        Some(match converted?.as_slice() {
            [] => void(&self.ctx),
            [one] => *one,
            several => literal_struct(&self.ctx, several),
        })
    }

    /// Returns the type of one result of a function.
    pub fn convert_result(&mut self, ty: Type, bare: bool) -> Option<Type> {
        let converted = self.convert(ty)?;
        match ty.kind(&self.ctx) {
            TypeKind::MemRef { .. } if bare => bare_pointer(&self.ctx, ty),
            _ => Some(converted),
        }
    }

    /// Converts a function type to the type of an `llvm.func`. Also returns the number of arguments
    /// that each input becomes.
    pub fn convert_signature(
        &mut self,
        inputs: &[Type],
        results: &[Type],
        variadic: bool,
        bare: bool,
    ) -> Option<(Type, Vec<usize>)> {
        let (mut params, mut counts) = (Vec::new(), Vec::new());
        for input in inputs {
            let parts = self.convert_argument(*input, bare)?;
            counts.push(parts.len());
            params.extend(parts);
        }
        let result = self.pack_results(results, bare)?;
        Some((function(&self.ctx, result, &params, variadic), counts))
    }
}

/// Returns the pointer that a memref is passed as, if its sizes, strides and offset are all static.
pub fn bare_pointer(ctx: &Context, ty: Type) -> Option<Type> {
    let TypeKind::MemRef { shape: Some(shape), memory_space, .. } = ty.kind(ctx) else { return None };
    let (strides, offset) = ty.strides_and_offset(ctx)?;
    let is_static = shape.iter().chain(&strides).chain([&offset]).all(|number| *number != DYNAMIC);
    if is_static { Some(pointer_in(ctx, address_space(ctx, *memory_space)?)) } else { None }
}

/// Returns the address space of a memory space: none is 0, an integer itself.
pub fn address_space(ctx: &Context, space: Option<loomir_ir::Attr>) -> Option<u32> {
    match space.map(|space| space.kind(ctx)) {
        None => Some(0),
        Some(AttrKind::Integer { value, .. }) => u32::try_from(*value).ok(),
        Some(_) => None,
    }
}

fn convert_float(ctx: &Context, ty: Type, kind: FloatKind) -> Option<Type> {
    use FloatKind as F;
    match kind {
        F::F16 | F::BF16 | F::F32 | F::F64 | F::F80 | F::F128 => Some(ty),
        F::TF32 => None,
        _ => Some(ctx.int_type(kind.width())),
    }
}

fn convert_vector(ctx: &Context, shape: &[i64], scalable: &[bool], element: Type) -> Option<Type> {
    let (outer, last) = match shape.split_last() {
        Some((last, outer)) => (outer, *last),
        None => (&[][..], 1),
    };
    let scales = scalable.last().copied().unwrap_or(false);
    if scalable.iter().rev().skip(1).any(|s| *s) {
        return None;
    }
    let mut ty = ctx.ty(TypeKind::Vector { shape: [last].into(), scalable: [scales].into(), element });
    for size in outer.iter().rev() {
        ty = array(ctx, u64::try_from(*size).ok()?, ty);
    }
    Some(ty)
}
