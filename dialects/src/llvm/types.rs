//! Types of the dialect, and queries about any type of LLVM IR.
//!
//! Integers, floats and vectors are the builtin types. The dialect adds opaque pointers, structs,
//! arrays, function types and the types of values that are no data. [`LlvmType`] is a view of them;
//! the functions here make them.
//!
//! A named struct carries its body in every mention, so two mentions of one name are equal iff
//! their bodies are. A mention of a struct inside its own body is its name alone.

use hashbrown::HashSet;
use loomir_ir::{Attr, AttrKind, Context, Name, Type, TypeKind};

/// A view of a type of the dialect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LlvmType {
    /// `!llvm.ptr<space>`.
    Pointer {
        /// The address space.
        space: u32,
    },
    /// `!llvm.array<length x element>`.
    Array {
        /// The number of elements.
        length: u64,
        /// Their type.
        element: Type,
    },
    /// `!llvm.struct<(…)>`.
    Struct(Struct),
    /// `!llvm.func<result (params, ...)>`.
    Function {
        /// The type of the result, [`void`] if there is none.
        result: Type,
        /// The types of the parameters.
        params: Vec<Type>,
        /// True if more arguments may follow.
        variadic: bool,
    },
    /// `!llvm.void`.
    Void,
    /// `!llvm.token`.
    Token,
    /// `!llvm.label`.
    Label,
    /// `!llvm.metadata`.
    Metadata,
    /// `!llvm.x86_amx`.
    X86Amx,
    /// `!llvm.ppc_fp128`.
    PpcFp128,
    /// `!llvm.target<"name", types…, numbers…>`.
    Target,
}

/// A struct type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Struct {
    /// The name of an identified struct.
    pub name: Option<Name>,
    /// True if elements follow each other without padding.
    pub packed: bool,
    /// The types of the elements; `None` for an opaque struct and for a mention of a struct inside
    /// itself.
    pub body: Option<Vec<Type>>,
    /// True if it is opaque.
    pub opaque: bool,
}

/// `!llvm.ptr`.
pub fn pointer(ctx: &Context) -> Type {
    pointer_in(ctx, 0)
}

/// `!llvm.ptr<space>`.
pub fn pointer_in(ctx: &Context, space: u32) -> Type {
    match space {
        0 => ctx.dialect_type("llvm.ptr", &[]),
        _ => ctx.dialect_type("llvm.ptr", &[ctx.int_attr(Type::I32, space)]),
    }
}

/// `!llvm.array<length x element>`.
pub fn array(ctx: &Context, length: u64, element: Type) -> Type {
    ctx.dialect_type("llvm.array", &[ctx.int_attr(Type::I64, length), ctx.type_attr(element)])
}

/// `!llvm.struct<(body)>`.
pub fn literal_struct(ctx: &Context, body: &[Type]) -> Type {
    struct_type(ctx, &Struct { name: None, packed: false, body: Some(body.to_vec()), opaque: false })
}

/// Returns a struct type of any kind.
pub fn struct_type(ctx: &Context, s: &Struct) -> Type {
    let mut params = Vec::new();
    if let Some(name) = s.name {
        params.push(ctx.string_attr(ctx.str(name)));
    }
    match &s.body {
        Some(body) => params.extend([ctx.bool_attr(s.packed), type_list(ctx, body)]),
        None if s.opaque => params.push(Attr::UNIT),
        None => {}
    }
    ctx.dialect_type("llvm.struct", &params)
}

/// `!llvm.func<result (params, ...)>`.
pub fn function(ctx: &Context, result: Type, params: &[Type], variadic: bool) -> Type {
    let params = [ctx.type_attr(result), type_list(ctx, params), ctx.bool_attr(variadic)];
    ctx.dialect_type("llvm.func", &params)
}

/// `!llvm.void`.
pub fn void(ctx: &Context) -> Type {
    ctx.dialect_type("llvm.void", &[])
}

fn type_list(ctx: &Context, types: &[Type]) -> Attr {
    let types: Vec<Attr> = types.iter().map(|ty| ctx.type_attr(*ty)).collect();
    ctx.array_attr(&types)
}

fn types_of(ctx: &Context, list: Attr) -> Option<Vec<Type>> {
    list.as_array(ctx)?.iter().map(|ty| ty.as_type(ctx)).collect()
}

impl LlvmType {
    /// Returns the view of `ty`, or `None` if it is no type of this dialect.
    pub fn of(ctx: &Context, ty: Type) -> Option<LlvmType> {
        let TypeKind::Dialect { name, params } = ty.kind(ctx) else { return None };
        Some(match (ctx.str(*name).strip_prefix("llvm.")?, &**params) {
            ("ptr", []) => LlvmType::Pointer { space: 0 },
            ("ptr", [space]) => LlvmType::Pointer { space: u32::try_from(space.as_int(ctx)?).ok()? },
            ("array", [length, element]) => {
                LlvmType::Array { length: integer(ctx, *length)?, element: element.as_type(ctx)? }
            }
            ("struct", params) => LlvmType::Struct(Struct::of(ctx, params)?),
            ("func", [result, list, variadic]) => LlvmType::Function {
                result: result.as_type(ctx)?,
                params: types_of(ctx, *list)?,
                variadic: *variadic == Attr::TRUE,
            },
            ("void", []) => LlvmType::Void,
            ("token", []) => LlvmType::Token,
            ("label", []) => LlvmType::Label,
            ("metadata", []) => LlvmType::Metadata,
            ("x86_amx", []) => LlvmType::X86Amx,
            ("ppc_fp128", []) => LlvmType::PpcFp128,
            ("target", _) => LlvmType::Target,
            _ => return None,
        })
    }
}

impl Struct {
    fn of(ctx: &Context, params: &[Attr]) -> Option<Struct> {
        let (name, rest) = match params {
            [first, rest @ ..] if first.as_str(ctx).is_some() => (Some(ctx.name(first.as_str(ctx)?)), rest),
            rest => (None, rest),
        };
        Some(match rest {
            [] => Struct { name, packed: false, body: None, opaque: false },
            [Attr::UNIT] => Struct { name, packed: false, body: None, opaque: true },
            [packed, body] => Struct {
                name,
                packed: *packed == Attr::TRUE,
                body: Some(types_of(ctx, *body)?),
                opaque: false,
            },
            _ => return None,
        })
    }
}

/// Why a position leads nowhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// An index beyond the elements.
    OutOfBounds(i64),
    /// A type without parts.
    NoAggregate(Type),
}

/// Returns the type of the part of a struct or array at a position, one index for each level.
///
/// # Errors
/// If the position is invalid.
pub fn part(ctx: &Context, container: Type, position: &[i64]) -> Result<Type, Step> {
    position.iter().try_fold(container, |ty, index| {
        let within = usize::try_from(*index).ok();
        let element = match LlvmType::of(ctx, ty) {
            Some(LlvmType::Array { length, element }) => {
                within.filter(|index| (*index as u64) < length).map(|_| element)
            }
            Some(LlvmType::Struct(s)) => {
                let body = s.body.unwrap_or_default();
                within.and_then(|index| body.get(index).copied())
            }
            _ => return Err(Step::NoAggregate(ty)),
        };
        element.ok_or(Step::OutOfBounds(*index))
    })
}

fn integer(ctx: &Context, attr: Attr) -> Option<u64> {
    match attr.kind(ctx) {
        AttrKind::Integer { value, .. } => Some(*value as u64),
        _ => None,
    }
}

/// True if a type is a pointer.
pub fn is_pointer(ctx: &Context, ty: Type) -> bool {
    ty.dialect_params(ctx, "llvm.ptr").is_some()
}

/// True if a type is a struct or array.
pub fn is_aggregate(ctx: &Context, ty: Type) -> bool {
    ty.dialect_params(ctx, "llvm.struct").is_some() || ty.dialect_params(ctx, "llvm.array").is_some()
}

/// True if a type is a floating-point type of LLVM IR.
pub fn is_float(ctx: &Context, ty: Type) -> bool {
    use loomir_ir::FloatKind as F;
    match ty.kind(ctx) {
        TypeKind::Float(kind) => matches!(kind, F::F16 | F::BF16 | F::F32 | F::F64 | F::F80 | F::F128),
        TypeKind::Dialect { name, .. } => ctx.str(*name) == "llvm.ppc_fp128",
        _ => false,
    }
}

/// True if a type is a one-dimensional vector of integers, floats or pointers.
pub fn is_vector(ctx: &Context, ty: Type) -> bool {
    match ty.kind(ctx) {
        TypeKind::Vector { shape, element, .. } => {
            shape.len() == 1
                && (element.is_signless_integer(ctx) || is_float(ctx, *element) || is_pointer(ctx, *element))
        }
        _ => false,
    }
}

/// True if a type is a type of LLVM IR. Linear in the types that it is made of.
pub fn is_compatible(ctx: &Context, ty: Type) -> bool {
    let mut work = vec![ty];
    // A struct may be in another one in many places.
    let mut known: HashSet<Type> = HashSet::new();
    while let Some(ty) = work.pop() {
        match LlvmType::of(ctx, ty) {
            Some(LlvmType::Array { element, .. }) => work.push(element),
            Some(LlvmType::Struct(_)) if !known.insert(ty) => {}
            Some(LlvmType::Struct(s)) => work.extend(s.body.into_iter().flatten()),
            Some(LlvmType::Function { result, params, .. }) => {
                work.push(result);
                work.extend(params);
            }
            Some(_) => {}
            None if ty.is_signless_integer(ctx) || is_float(ctx, ty) || is_vector(ctx, ty) => {}
            None => return false,
        }
    }
    true
}

/// True if values may have a type and be parts of other values: it is neither void nor a function
/// type.
pub fn is_primitive(ctx: &Context, ty: Type) -> bool {
    is_compatible(ctx, ty)
        && !matches!(LlvmType::of(ctx, ty), Some(LlvmType::Void | LlvmType::Function { .. }))
}

/// True if the type has a size, so that its values may be loaded and stored.
pub fn is_loadable(ctx: &Context, ty: Type) -> bool {
    is_compatible(ctx, ty)
        && match LlvmType::of(ctx, ty) {
            Some(LlvmType::Void | LlvmType::Function { .. } | LlvmType::Token | LlvmType::Label) => false,
            Some(LlvmType::Metadata | LlvmType::X86Amx) => false,
            Some(LlvmType::Struct(s)) => !s.opaque,
            _ => true,
        }
}
