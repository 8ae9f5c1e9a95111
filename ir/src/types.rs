//! Types: MLIR's builtin ones, and those that dialects add.
//!
//! A [`Type`] is a handle into its [`Context`]; two types of one context are equal iff their
//! handles are. The types that every program uses have fixed handles (`Type::INDEX`, `Type::F32`,
//! …).

use crate::attributes::{Attr, AttrKind};
use crate::context::{Context, Name};

/// The size of a dimension that is known at run time only (`?`).
pub const DYNAMIC: i64 = i64::MIN;

/// The widest integer type MLIR accepts.
pub const MAX_INTEGER_WIDTH: u32 = (1 << 24) - 1;

/// A uniqued type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Type(pub(crate) u32);

/// The signedness of an integer type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signedness {
    /// `iN`: the operation decides.
    Signless,
    /// `siN`.
    Signed,
    /// `uiN`.
    Unsigned,
}

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum FloatKind {
    F16,
    BF16,
    F32,
    F64,
    F80,
    F128,
    TF32,
    F8E5M2,
    F8E4M3,
    F8E4M3FN,
    F8E5M2FNUZ,
    F8E4M3FNUZ,
    F8E4M3B11FNUZ,
    F8E3M4,
    F8E8M0FNU,
    F6E2M3FN,
    F6E3M2FN,
    F4E2M1FN,
}

impl FloatKind {
    /// Every format with its name in text and its width in bits.
    pub const ALL: [(FloatKind, &'static str, u32); 18] = [
        (FloatKind::F16, "f16", 16),
        (FloatKind::BF16, "bf16", 16),
        (FloatKind::F32, "f32", 32),
        (FloatKind::F64, "f64", 64),
        (FloatKind::F80, "f80", 80),
        (FloatKind::F128, "f128", 128),
        (FloatKind::TF32, "tf32", 19),
        (FloatKind::F8E5M2, "f8E5M2", 8),
        (FloatKind::F8E4M3, "f8E4M3", 8),
        (FloatKind::F8E4M3FN, "f8E4M3FN", 8),
        (FloatKind::F8E5M2FNUZ, "f8E5M2FNUZ", 8),
        (FloatKind::F8E4M3FNUZ, "f8E4M3FNUZ", 8),
        (FloatKind::F8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8),
        (FloatKind::F8E3M4, "f8E3M4", 8),
        (FloatKind::F8E8M0FNU, "f8E8M0FNU", 8),
        (FloatKind::F6E2M3FN, "f6E2M3FN", 6),
        (FloatKind::F6E3M2FN, "f6E3M2FN", 6),
        (FloatKind::F4E2M1FN, "f4E2M1FN", 4),
    ];

    /// The name in text, such as `bf16`.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The width in bits.
    pub fn width(self) -> u32 {
        Self::ALL[self as usize].2
    }
}

/// The content of a [`Type`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// `none`.
    None,
    /// `index`: an integer as wide as the target's pointers.
    Index,
    /// `i32`, `si8`, `ui1`, …
    Integer {
        /// Width in bits, at most [`MAX_INTEGER_WIDTH`].
        width: u32,
        /// The meaning of the sign bit.
        signedness: Signedness,
    },
    /// `f32`, …
    Float(FloatKind),
    /// `complex<T>`.
    Complex(Type),
    /// `(inputs) -> results`.
    Function {
        /// Types of the arguments.
        inputs: Box<[Type]>,
        /// Types of the results.
        results: Box<[Type]>,
    },
    /// `tuple<…>`.
    Tuple(Box<[Type]>),
    /// `vector<4x[8]xf32>`.
    Vector {
        /// Sizes; never [`DYNAMIC`].
        shape: Box<[i64]>,
        /// For each dimension whether it is multiplied by the machine's vector scale. As long as
        /// `shape`.
        scalable: Box<[bool]>,
        /// Type of an element.
        element: Type,
    },
    /// `tensor<4x?xf32, encoding>`, or `tensor<*xf32>`.
    Tensor {
        /// Sizes, `None` for an unranked tensor.
        shape: Option<Box<[i64]>>,
        /// Type of an element.
        element: Type,
        /// The encoding attribute, if any.
        encoding: Option<Attr>,
    },
    /// `memref<4x?xf32, layout, space>`, or `memref<*xf32, space>`.
    MemRef {
        /// Sizes, `None` for an unranked memref.
        shape: Option<Box<[i64]>>,
        /// Type of an element.
        element: Type,
        /// An affine map or strided layout; `None` for the identity, which is never stored.
        layout: Option<Attr>,
        /// The memory space; `None` for the default one.
        memory_space: Option<Attr>,
    },
    /// A type of a dialect, `!llvm.array<4 x f32>`: its full name and its parameters.
    Dialect {
        /// `llvm.array`.
        name: Name,
        /// The parameters, as the dialect lays them out.
        params: Box<[Attr]>,
    },
    /// A type of a dialect that nobody registered, kept as it was written: `!dialect.body` or
    /// `!dialect<"body">`.
    Opaque {
        /// The dialect's name.
        dialect: Name,
        /// All that follows the dot, or what stands between `<` and `>` when `pretty` is false.
        body: Box<str>,
        /// True if it is written with a dot.
        pretty: bool,
    },
}

macro_rules! well_known {
    ($($name:ident = $index:literal => $kind:expr, $doc:literal;)*) => {
        impl Type {
            $(#[doc = $doc] pub const $name: Type = Type($index);)*
        }
        /// The types with fixed handles, in the order of their handles. What they are is asked more
        /// often than of all others, so it stands here too.
        pub(crate) static WELL_KNOWN: [TypeKind; [$($index),*].len()] = [$($kind),*];
    };
}

const fn signless(width: u32) -> TypeKind {
    TypeKind::Integer { width, signedness: Signedness::Signless }
}

well_known! {
    INDEX = 0 => TypeKind::Index, "`index`";
    NONE = 1 => TypeKind::None, "`none`";
    I1 = 2 => signless(1), "`i1`";
    I8 = 3 => signless(8), "`i8`";
    I16 = 4 => signless(16), "`i16`";
    I32 = 5 => signless(32), "`i32`";
    I64 = 6 => signless(64), "`i64`";
    F16 = 7 => TypeKind::Float(FloatKind::F16), "`f16`";
    BF16 = 8 => TypeKind::Float(FloatKind::BF16), "`bf16`";
    F32 = 9 => TypeKind::Float(FloatKind::F32), "`f32`";
    F64 = 10 => TypeKind::Float(FloatKind::F64), "`f64`";
}

impl Type {
    /// Returns the content of the type.
    #[inline]
    pub fn kind(self, ctx: &Context) -> &TypeKind {
        ctx.type_kind(self)
    }

    /// True if it is `index`.
    pub fn is_index(self) -> bool {
        self == Type::INDEX
    }

    /// The width of an integer type of any signedness.
    pub fn integer_width(self, ctx: &Context) -> Option<u32> {
        match self.kind(ctx) {
            TypeKind::Integer { width, .. } => Some(*width),
            _ => None,
        }
    }

    /// True if it is `iN`.
    pub fn is_signless_integer(self, ctx: &Context) -> bool {
        matches!(self.kind(ctx), TypeKind::Integer { signedness: Signedness::Signless, .. })
    }

    /// True if it is a floating-point type.
    pub fn is_float(self, ctx: &Context) -> bool {
        matches!(self.kind(ctx), TypeKind::Float(_))
    }

    /// The element type of a vector, tensor, memref or complex type.
    pub fn element(self, ctx: &Context) -> Option<Type> {
        match self.kind(ctx) {
            TypeKind::Vector { element, .. }
            | TypeKind::Tensor { element, .. }
            | TypeKind::MemRef { element, .. }
            | TypeKind::Complex(element) => Some(*element),
            _ => None,
        }
    }

    /// The sizes of a vector, ranked tensor or ranked memref type.
    pub fn shape(self, ctx: &Context) -> Option<&[i64]> {
        match self.kind(ctx) {
            TypeKind::Vector { shape, .. } => Some(shape),
            TypeKind::Tensor { shape, .. } | TypeKind::MemRef { shape, .. } => shape.as_deref(),
            _ => None,
        }
    }

    /// The element type of a vector or tensor, else the type itself: what an elementwise operation
    /// computes on.
    pub fn scalar(self, ctx: &Context) -> Type {
        match self.kind(ctx) {
            TypeKind::Vector { element, .. } | TypeKind::Tensor { element, .. } => *element,
            _ => self,
        }
    }

    /// `self` with its element type replaced when it is a vector or tensor, else `scalar`: the type
    /// of an elementwise comparison of `self`, for one.
    pub fn with_scalar(self, ctx: &Context, scalar: Type) -> Type {
        match self.kind(ctx) {
            TypeKind::Vector { shape, scalable, .. } => {
                ctx.ty(TypeKind::Vector { shape: shape.clone(), scalable: scalable.clone(), element: scalar })
            }
            TypeKind::Tensor { shape, encoding, .. } => {
                ctx.ty(TypeKind::Tensor { shape: shape.clone(), element: scalar, encoding: *encoding })
            }
            _ => scalar,
        }
    }

    /// Inputs and results of a function type.
    pub fn function(self, ctx: &Context) -> Option<(&[Type], &[Type])> {
        match self.kind(ctx) {
            TypeKind::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    /// The parameters of the dialect type called `name` (`llvm.array`).
    pub fn dialect_params<'c>(self, ctx: &'c Context, name: &str) -> Option<&'c [Attr]> {
        match self.kind(ctx) {
            TypeKind::Dialect { name: own, params } if ctx.str(*own) == name => Some(params),
            _ => None,
        }
    }

    /// Offset and strides, in elements, of a ranked memref whose layout is the identity, a strided
    /// layout, or an affine map that is strided; [`DYNAMIC`] where they are not known. `None` for
    /// any other layout or type.
    pub fn strides_and_offset(self, ctx: &Context) -> Option<(Vec<i64>, i64)> {
        let TypeKind::MemRef { shape: Some(shape), layout, .. } = self.kind(ctx) else { return None };
        let Some(layout) = layout else { return Some((row_major_strides(shape)?, 0)) };
        match layout.kind(ctx) {
            AttrKind::Strided { offset, strides } => Some((strides.to_vec(), *offset)),
            AttrKind::AffineMap(map) => map.strides_and_offset(ctx, shape),
            _ => None,
        }
    }
}

/// Returns the strides, in elements, of the row-major layout of a shape. A stride is [`DYNAMIC`] if
/// an inner size is. `None` if a stride overflows.
pub fn row_major_strides(shape: &[i64]) -> Option<Vec<i64>> {
    let mut strides = vec![1; shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = match (strides[d], shape[d]) {
            (DYNAMIC, _) | (_, DYNAMIC) => DYNAMIC,
            (stride, size) => stride.checked_mul(size)?,
        };
    }
    Some(strides)
}
