//! Attributes: the compile-time data of operations.
//!
//! An [`Attr`] is a handle into its [`Context`]; equal attributes have equal handles. A [`Dict`] is
//! a dictionary of them, sorted by name, uniqued too: an operation holds two of those in eight
//! bytes.

use smallvec::SmallVec;

use crate::affine::{AffineMap, IntegerSet};
use crate::context::{Context, Name};
use crate::location::Loc;
use crate::types::Type;

/// A uniqued attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Attr(pub(crate) u32);

/// A uniqued dictionary: name–attribute pairs sorted by the name's text, each name once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dict(pub(crate) u32);

/// The content of an [`Attr`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum AttrKind {
    /// `unit`.
    Unit,
    /// `4 : i32`, and `true` and `false`, which are of type `i1`. The value is kept sign-extended
    /// (zero-extended for `uiN`), in the range of its type. For types of at most 128 bits.
    Integer {
        /// The value.
        value: i128,
        /// An integer type or `index`.
        ty: Type,
    },
    /// An integer of a type wider than 128 bits: two's complement, least significant byte first.
    WideInteger {
        /// The bytes, as many as the type needs.
        bytes: Box<[u8]>,
        /// An integer type.
        ty: Type,
    },
    /// `1.5 : f32`: the bits in the type's own format.
    Float {
        /// The bits, in the low end.
        bits: u128,
        /// A floating-point type.
        ty: Type,
    },
    /// `"text"`; MLIR lets it be bytes that are no UTF-8.
    String(Box<[u8]>),
    /// `"text" : type`.
    TypedString {
        /// The bytes.
        value: Box<[u8]>,
        /// The type.
        ty: Type,
    },
    /// `[…]`.
    Array(Box<[Attr]>),
    /// `{…}`.
    Dictionary(Dict),
    /// A type as an attribute.
    Type(Type),
    /// `@root::@nested`.
    Symbol {
        /// The outermost name.
        root: Name,
        /// The names below.
        nested: Box<[Name]>,
    },
    /// `affine_map<…>`.
    AffineMap(AffineMap),
    /// `affine_set<…>`.
    IntegerSet(IntegerSet),
    /// `strided<[…], offset: …>`, [`DYNAMIC`](crate::DYNAMIC) for `?`.
    Strided {
        /// Offset in elements.
        offset: i64,
        /// Strides in elements.
        strides: Box<[i64]>,
    },
    /// `array<i64: 1, 2>`: elements in little-endian bytes, as wide as the type (`i1` one byte).
    DenseArray {
        /// `i1`, `i8`, `i16`, `i32`, `i64`, `f32` or `f64`, any integer or float of whole bytes.
        element: Type,
        /// All elements.
        bytes: Box<[u8]>,
    },
    /// `dense<…> : type`: elements in little-endian bytes, each in whole bytes (`i1` one byte); one
    /// element only if it is a splat.
    DenseElements {
        /// A vector, tensor or memref type with static shape.
        ty: Type,
        /// True if `bytes` holds one element that stands for all.
        splat: bool,
        /// The elements, in row-major order.
        bytes: Box<[u8]>,
    },
    /// `dense<"…"> : tensor<…x!t>`, elements that are strings.
    DenseStrings {
        /// The shaped type.
        ty: Type,
        /// One (a splat) or all strings.
        values: Box<[Box<[u8]>]>,
    },
    /// `sparse<indices, values> : type`.
    Sparse {
        /// The shaped type.
        ty: Type,
        /// Indices, dense `i64`.
        indices: Attr,
        /// Values, dense.
        values: Attr,
    },
    /// `dense_resource<key> : type`.
    DenseResource {
        /// Key in the file's resource section.
        key: Name,
        /// The shaped type.
        ty: Type,
    },
    /// `loc(…)`.
    Location(Loc),
    /// A case, or a set of flags, of a registered enumeration: `#arith.fastmath<fast>`.
    Enum {
        /// `arith.fastmath`.
        name: Name,
        /// The case's number, or the union of the flags' bits.
        value: u64,
    },
    /// A structured attribute of a registered dialect: `#llvm.loop_unroll<disable = true>`.
    Dialect {
        /// `llvm.loop_unroll`.
        name: Name,
        /// Named parameters.
        params: Dict,
    },
    /// An attribute of a dialect that nobody registered, kept as written: `#dialect.body` or
    /// `#dialect<"body">`.
    Opaque {
        /// The dialect's name.
        dialect: Name,
        /// All that follows the dot, or what stands between `<` and `>` when `pretty` is false.
        body: Box<str>,
        /// True if it is written with a dot.
        pretty: bool,
        /// The type behind a colon, if any.
        ty: Option<Type>,
    },
    /// `distinct[4]<attr>`.
    Distinct {
        /// The number that sets it apart.
        id: u64,
        /// The attribute it wraps.
        inner: Attr,
    },
}

impl Attr {
    /// `unit`.
    pub const UNIT: Attr = Attr(0);
    /// `false`.
    pub const FALSE: Attr = Attr(1);
    /// `true`.
    pub const TRUE: Attr = Attr(2);

    /// Returns the content of the attribute.
    #[inline]
    pub fn kind(self, ctx: &Context) -> &AttrKind {
        ctx.attr_kind(self)
    }

    /// The value of an integer attribute that fits.
    pub fn as_int(self, ctx: &Context) -> Option<i64> {
        match self.kind(ctx) {
            AttrKind::Integer { value, .. } => i64::try_from(*value).ok(),
            _ => None,
        }
    }

    /// The text of a string attribute that is UTF-8.
    pub fn as_str(self, ctx: &Context) -> Option<&str> {
        match self.kind(ctx) {
            AttrKind::String(bytes) | AttrKind::TypedString { value: bytes, .. } => {
                std::str::from_utf8(bytes).ok()
            }
            _ => None,
        }
    }

    /// The type inside a type attribute.
    pub fn as_type(self, ctx: &Context) -> Option<Type> {
        match self.kind(ctx) {
            AttrKind::Type(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The elements of an array attribute.
    pub fn as_array(self, ctx: &Context) -> Option<&[Attr]> {
        match self.kind(ctx) {
            AttrKind::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The location inside a location attribute.
    pub fn as_loc(self, ctx: &Context) -> Option<Loc> {
        match self.kind(ctx) {
            AttrKind::Location(loc) => Some(*loc),
            _ => None,
        }
    }

    /// The map inside an affine map attribute.
    pub fn as_affine_map(self, ctx: &Context) -> Option<AffineMap> {
        match self.kind(ctx) {
            AttrKind::AffineMap(map) => Some(*map),
            _ => None,
        }
    }

    /// The set inside an integer set attribute.
    pub fn as_integer_set(self, ctx: &Context) -> Option<IntegerSet> {
        match self.kind(ctx) {
            AttrKind::IntegerSet(set) => Some(*set),
            _ => None,
        }
    }

    /// The name of a flat symbol reference (`@f`).
    pub fn as_flat_symbol(self, ctx: &Context) -> Option<Name> {
        match self.kind(ctx) {
            AttrKind::Symbol { root, nested } if nested.is_empty() => Some(*root),
            _ => None,
        }
    }

    /// The numbers of a dense array of integers.
    pub fn as_dense_ints(self, ctx: &Context) -> Option<Vec<i64>> {
        Some(self.dense_ints(ctx)?.collect())
    }

    /// The numbers of a dense array of integers, one after the other.
    pub fn dense_ints(self, ctx: &Context) -> Option<impl ExactSizeIterator<Item = i64> + '_> {
        match self.kind(ctx) {
            AttrKind::DenseArray { element, bytes } => {
                let width = element.integer_width(ctx)?.div_ceil(8) as usize;
                (width <= 8).then(|| bytes.chunks_exact(width.max(1)).map(sign_extended))
            }
            _ => None,
        }
    }

    /// The type of a typed attribute.
    pub fn ty(self, ctx: &Context) -> Option<Type> {
        match self.kind(ctx) {
            AttrKind::Integer { ty, .. }
            | AttrKind::WideInteger { ty, .. }
            | AttrKind::Float { ty, .. }
            | AttrKind::TypedString { ty, .. }
            | AttrKind::DenseElements { ty, .. }
            | AttrKind::DenseStrings { ty, .. }
            | AttrKind::Sparse { ty, .. }
            | AttrKind::DenseResource { ty, .. } => Some(*ty),
            AttrKind::Opaque { ty, .. } => *ty,
            _ => None,
        }
    }
}

/// The signed number in at most 8 little-endian bytes.
fn sign_extended(bytes: &[u8]) -> i64 {
    // What sizes of segments are.
    if let Ok(four) = bytes.try_into() {
        return i32::from_le_bytes(four).into();
    }
    let mut wide = if bytes.last().is_some_and(|b| b & 0x80 != 0) { [0xff; 8] } else { [0; 8] };
    wide[..bytes.len()].copy_from_slice(bytes);
    i64::from_le_bytes(wide)
}

impl Dict {
    /// `{}`.
    pub const EMPTY: Dict = Dict(0);

    /// The pairs, sorted by name.
    #[inline]
    pub fn entries(self, ctx: &Context) -> &[(Name, Attr)] {
        ctx.dict_entries(self)
    }

    /// True if there is no entry.
    pub fn is_empty(self) -> bool {
        self == Dict::EMPTY
    }

    /// The attribute called `name`. Dictionaries are short: linear in their length.
    pub fn get(self, ctx: &Context, name: &str) -> Option<Attr> {
        if self.is_empty() {
            return None;
        }
        self.entries(ctx).iter().find(|(own, _)| ctx.str(*own) == name).map(|(_, attr)| *attr)
    }

    /// The attribute called `name`, where the name is uniqued already.
    pub(crate) fn get_named(self, ctx: &Context, name: Name) -> Option<Attr> {
        if self.is_empty() {
            return None;
        }
        self.entries(ctx).iter().find(|(own, _)| *own == name).map(|(_, attr)| *attr)
    }

    /// This dictionary with `name` set to `attr`.
    #[must_use]
    pub fn with(self, ctx: &Context, name: &str, attr: Attr) -> Dict {
        self.with_named(ctx, ctx.name(name), attr)
    }

    /// This dictionary with `name` set to `attr`, where the name is uniqued already.
    pub(crate) fn with_named(self, ctx: &Context, name: Name, attr: Attr) -> Dict {
        if self.is_empty() {
            return ctx.sorted_dict(&[(name, attr)]);
        }
        self.with_all(ctx, &[(name, attr)])
    }

    /// This dictionary with more entries, which replace those of their names; of two with one name
    /// the later wins.
    pub(crate) fn with_all(self, ctx: &Context, new: &[(Name, Attr)]) -> Dict {
        let own = self.entries(ctx);
        if new.len() > Self::FEW {
            return ctx.dict([own, new].concat());
        }
        let mut all: SmallVec<[(Name, Attr); 2 * Self::FEW]> = SmallVec::from_slice(own);
        for entry in new {
            let name = ctx.str(entry.0);
            let place = all.partition_point(|(other, _)| ctx.str(*other) < name);
            match all.get_mut(place).filter(|(other, _)| *other == entry.0) {
                Some(old) => *old = *entry,
                None => all.insert(place, *entry),
            }
        }
        ctx.sorted_dict(&all)
    }

    /// As many entries are put into their places one by one; more are sorted.
    const FEW: usize = 8;

    /// This dictionary without `name`.
    #[must_use]
    pub fn without(self, ctx: &Context, name: &str) -> Dict {
        if self.get(ctx, name).is_none() {
            return self;
        }
        ctx.dict(self.entries(ctx).iter().copied().filter(|(own, _)| ctx.str(*own) != name).collect())
    }
}
