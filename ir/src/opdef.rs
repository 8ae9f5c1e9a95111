//! Operations as data: an [`OpDef`] says what an operation looks like, and the parser, printer,
//! verifier, builder and documentation *interpret* it.
//!
//! Definitions written in Rust are `static` tables made by the [`dialect!`](crate::dialect!) macro
//! and are identified by address; definitions loaded at run time fill the same struct. Hooks that a
//! table cannot express (a verifier of its own, a fold, a custom syntax) are plain functions in it.

use std::borrow::Cow;

use crate::attributes::{Attr, AttrKind};
use crate::body::OpRef;
use crate::builder::OperationState;
use crate::context::{Context, Name, Registry};
use crate::diagnostics::Diagnostics;
use crate::entity::Value;
use crate::text::{DirectiveDef, OpParser, OpPrinter, ParseResult};
use crate::types::{Type, TypeKind};

mod names;
pub mod runtime;

/// Text that is static in a compiled definition and owned in one loaded at run time.
pub type Str = Cow<'static, str>;
/// A list that is static in a compiled definition and owned in one loaded at run time.
pub type List<T> = Cow<'static, [T]>;

/// The definition of an operation.
#[derive(Clone, Debug)]
pub struct OpDef {
    /// Full name, `arith.addi`.
    pub name: Str,
    /// Its documentation, in Markdown.
    pub doc: Str,
    /// Operands in order.
    pub operands: List<OperandDef>,
    /// Results in order.
    pub results: List<OperandDef>,
    /// Inherent attributes (MLIR's properties), printed between `<{` and `}>` in generic form.
    pub attrs: List<AttrDef>,
    /// Regions in order.
    pub regions: List<RegionDef>,
    /// Successors in order.
    pub successors: List<SuccessorDef>,
    /// Traits.
    pub traits: TraitSet,
    /// The declarative assembly format; `None` for operations with hooks of their own or in generic
    /// form only.
    pub format: Option<Str>,
    /// Reads the custom form, after the operation's name.
    pub parse: Option<ParseHook>,
    /// Writes the custom form, after the operation's name.
    pub print: Option<PrintHook>,
    /// Checks what the tables cannot say, by the attributes, the types and the numbers of values
    /// alone: of operations that have the same, one is asked. Called when the tables hold.
    pub verify_signature: Option<VerifyHook>,
    /// Checks everything else. Called when all other checks of the operation hold.
    pub verify: Option<VerifyHook>,
    /// Simplifies to values or constants without creating operations.
    pub fold: Option<FoldHook>,
}

/// Reads the named parameters of a structured attribute.
pub type ParseParams = fn(&mut OpParser<'_, '_>) -> ParseResult<Vec<(Name, Attr)>>;
/// Makes an operation that yields a constant of a type, if the dialect has one.
pub type MaterializeHook = fn(&Context, Attr, Type) -> Option<OperationState>;
/// Reads a custom form into the state.
pub type ParseHook = fn(&mut OpParser<'_, '_>, &mut OperationState) -> ParseResult<()>;
/// Writes a custom form.
pub type PrintHook = fn(&mut OpPrinter<'_>, OpRef<'_>);
/// Reports what is wrong with an operation.
pub type VerifyHook = fn(OpRef<'_>, &mut Diagnostics);
/// Given the operation and, for each operand, its constant if known, yields a replacement for every
/// result.
pub type FoldHook = fn(OpRef<'_>, &[Option<Attr>]) -> Option<Vec<Folded>>;

/// A result behind folding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// A value that is there already.
    Value(Value),
    /// A constant of the result's type.
    Constant(Attr),
}

/// The number of values an operand or result stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand or result of a definition.
#[derive(Clone, Debug)]
pub struct OperandDef {
    /// Its name.
    pub name: Str,
    /// The number of values.
    pub arity: Arity,
    /// Their type.
    pub ty: TypeConstraint,
}

/// An inherent attribute of a definition.
#[derive(Clone, Debug)]
pub struct AttrDef {
    /// Its name.
    pub name: Str,
    /// The values it may have.
    pub constraint: AttrConstraint,
    /// Its presence: required, optional or with a default.
    pub presence: Presence,
}

/// The presence of an attribute.
#[derive(Clone, Debug)]
pub enum Presence {
    /// It must.
    Required,
    /// It need not.
    Optional,
    /// If absent it is set to this value, given as attribute text.
    Default(Str),
    /// If absent it stays so and means this value, given as attribute text; custom form leaves the
    /// value out.
    Implied(Str),
}

/// A region of a definition.
#[derive(Clone, Debug)]
pub struct RegionDef {
    /// Its name.
    pub name: Str,
    /// The number of blocks it may hold.
    pub kind: RegionKind,
    /// True if there may be any number of such regions; only the last region of a definition may
    /// say so.
    pub variadic: bool,
    /// The operation that ends the single block if the format's text has no other, and which is not
    /// written if it has nothing to say.
    pub terminator: Option<&'static OpDef>,
}

/// The number of blocks a region may hold.
#[derive(Clone, Debug)]
pub enum RegionKind {
    /// Any number, none included.
    Any,
    /// At least one.
    NonEmpty,
    /// Exactly one.
    SingleBlock,
    /// None or exactly one.
    AtMostOneBlock,
}

/// A successor of a definition.
#[derive(Clone, Debug)]
pub struct SuccessorDef {
    /// Its name.
    pub name: Str,
    /// True if there may be any number; only the last may say so.
    pub variadic: bool,
}

/// The types that a value may have. `…Like` also admits vectors and tensors of them.
#[derive(Clone, Debug)]
pub enum TypeConstraint {
    /// Anything.
    Any,
    /// Exactly this well-known type.
    Exactly(Type),
    /// `iN`.
    SignlessInteger,
    /// `iN` or `index`, or a shape of them.
    SignlessIntegerLike,
    /// `iN` or a shape of them, not `index`.
    SignlessFixedWidthIntegerLike,
    /// `iN` or `index`.
    SignlessIntegerOrIndex,
    /// A float, or a shape of them.
    FloatLike,
    /// `i1`, or a shape of them.
    BoolLike,
    /// `index` or a shape of them.
    IndexLike,
    /// Any integer, `index` or float.
    IntegerIndexOrFloat,
    /// A ranked or unranked memref.
    MemRef,
    /// A ranked memref.
    RankedMemRef,
    /// A vector.
    Vector,
    /// A ranked or unranked tensor.
    Tensor,
    /// A dialect type of this full name.
    Dialect(Str),
    /// The dialect type of this full name, which has no parameters.
    Plain(Str),
    /// The type of the operand or result of this name.
    SameAs(Str),
    /// The element type of the operand or result of this name.
    ElementOf(Str),
    /// `i1`, in the shape of the operand or result of this name.
    BoolShapedAs(Str),
    /// One of these.
    AnyOf(List<TypeConstraint>),
    /// Whatever the function accepts; the text completes "must be …".
    Where(Str, fn(&Context, Type) -> bool),
}

/// The values that an attribute may have.
#[derive(Clone, Debug)]
pub enum AttrConstraint {
    /// Anything.
    Any,
    /// `unit`.
    Unit,
    /// `true` or `false`.
    Bool,
    /// A signless integer of this width; 0 stands for `index`.
    Integer(u32),
    /// A number of this floating-point type.
    Float(Type),
    /// A string.
    String,
    /// A symbol reference.
    Symbol,
    /// A symbol reference without nesting.
    FlatSymbol,
    /// A type.
    Type,
    /// A function type.
    FunctionType,
    /// An affine map.
    AffineMap,
    /// An integer set.
    IntegerSet,
    /// An array.
    Array,
    /// A dictionary.
    Dictionary,
    /// `array<iN: …>`.
    DenseArray(Type),
    /// An attribute with a type: integer, float, elements.
    Typed,
    /// Dense or other elements of a shaped type.
    Elements,
    /// A case of this enumeration.
    Enum(&'static EnumDef),
    /// A structured attribute of a dialect, of this full name.
    Dialect(Str),
    /// Attributes that the first accepts and the function too, written as the first is; the text
    /// describes both.
    Confined(&'static AttrConstraint, Str, fn(&Context, Attr) -> bool),
    /// Whatever the function accepts; the text completes "must be …".
    Where(Str, fn(&Context, Attr) -> bool),
}

/// An enumeration: named cases, as one number or as a set of flags.
#[derive(Debug)]
pub struct EnumDef {
    /// Full name of the attribute, `arith.fastmath`.
    pub name: &'static str,
    /// Names and numbers (bits, when they are flags). For flags, unions (`fast`) stand after the
    /// bits they contain, and the case of value 0 (`none`) is printed when no bit is set.
    pub cases: &'static [(&'static str, u64)],
    /// True if the value is a set of flags.
    pub flags: bool,
    /// The text between the flags of a set: `,`, `, ` or `|`. Of no matter to others.
    pub separator: &'static str,
    /// The form in which the attribute is kept.
    pub storage: EnumStorage,
}

/// The form in which an enumeration's attribute is kept and written generically.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EnumStorage {
    /// `2 : i64`.
    Integer(u32),
    /// `#arith.fastmath<none>`; in a custom form `<none>`.
    Attribute,
    /// `#index<cmp_predicate slt>`; in a custom form `slt`.
    BareAttribute,
}

impl EnumDef {
    /// The number of the case (or single flag) called `name`.
    pub fn value_of(&self, name: &str) -> Option<u64> {
        self.cases.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    /// The name of a case, or the names of the flags of a set, fewest first found: a union that
    /// fits stands for its bits.
    pub fn text_of(&self, value: u64) -> Option<String> {
        if let Some((name, _)) = self.cases.iter().rev().find(|(_, own)| *own == value) {
            return Some((*name).into());
        }
        if !self.flags {
            return None;
        }
        let mut rest = value;
        let mut names = Vec::new();
        for (name, bits) in self.cases.iter().filter(|(_, bits)| bits.is_power_of_two()) {
            if rest & bits == *bits {
                names.push(*name);
                rest &= !bits;
            }
        }
        (rest == 0).then(|| names.join(self.separator))
    }

    /// True if it is the number of a case, or of a set of flags.
    fn is_valid(&self, value: u64) -> bool {
        let flags = self.cases.iter().filter(|(_, bits)| bits.is_power_of_two());
        self.cases.iter().any(|(_, own)| *own == value)
            || (self.flags && value & !flags.fold(0, |all, (_, bits)| all | bits) == 0)
    }

    /// The attribute of a value.
    pub fn attr(&self, ctx: &Context, value: u64) -> Attr {
        match self.storage {
            EnumStorage::Integer(width) => ctx.int_attr(ctx.int_type(width), value as i64),
            EnumStorage::Attribute | EnumStorage::BareAttribute => {
                ctx.attr(AttrKind::Enum { name: ctx.name(self.name), value })
            }
        }
    }

    /// The value of an attribute of this enumeration.
    pub fn value(&self, ctx: &Context, attr: Attr) -> Option<u64> {
        let value = match (attr.kind(ctx), self.storage) {
            (AttrKind::Integer { value, ty }, EnumStorage::Integer(width)) => {
                (ty.integer_width(ctx) == Some(width)).then(|| u64::try_from(*value).ok())??
            }
            (AttrKind::Enum { name, value }, EnumStorage::Attribute | EnumStorage::BareAttribute) => {
                (ctx.str(*name) == self.name).then_some(*value)?
            }
            _ => return None,
        };
        self.is_valid(value).then_some(value)
    }
}

macro_rules! traits {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A property of an operation that is either there or not.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Trait {
            $($(#[$doc])* $name,)*
        }
    };
}

traits! {
    /// Ends its block; nothing may follow it there.
    Terminator,
    /// Its regions use no value defined outside. With no operands, results and successors it owns
    /// an arena.
    IsolatedFromAbove,
    /// No memory effect; safe to run again, or not at all, where it would have run. It is safe to
    /// run elsewhere too,
    /// unless an interface says that some operands make it undefined.
    Pure,
    /// No memory effect of its own; what its regions hold decides.
    RecursiveMemoryEffects,
    /// Its operands may be swapped.
    Commutative,
    /// A constant: its attribute `value` is its one result.
    ConstantLike,
    /// Its body is a table of symbols.
    SymbolTable,
    /// Its attribute `sym_name` names it in the table above.
    Symbol,
    /// All operands and results have one type.
    SameOperandsAndResultType,
    /// All operands have one type.
    SameTypeOperands,
    /// `operandSegmentSizes` says how many operands belong to each variadic operand of its
    /// definition.
    AttrSizedOperandSegments,
    /// `resultSegmentSizes` says how many results belong to each variadic result of its definition.
    AttrSizedResultSegments,
    /// Values used in its regions need not be defined before, in the order of operations.
    GraphRegion,
    /// Its single-block regions need no terminator.
    NoTerminator,
    /// Symbols of `affine` operations may be defined at the top of its regions.
    AffineScope,
    /// Memory allocated on the stack inside it is released when it ends.
    AutomaticAllocationScope,
    /// Returns control to the operation around it (`return`, `yield`).
    ReturnLike,
    /// Two equal ones are one computation only if they are one operation (`alloc`).
    DistinctResults,
    /// Elementwise on vectors and tensors.
    Elementwise,
    /// A terminator whose results are defined only on the edge to its first successor.
    ResultsOnFirstEdge,
}

/// A set of [`Trait`]s.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraitSet(u64);

impl TraitSet {
    /// The empty set.
    pub const NONE: TraitSet = TraitSet(0);

    /// The set with one more.
    #[must_use]
    pub const fn with(self, t: Trait) -> Self {
        TraitSet(self.0 | 1 << t as u32)
    }

    /// True if it holds a trait.
    pub const fn has(self, t: Trait) -> bool {
        self.0 & (1 << t as u32) != 0
    }
}

impl OpDef {
    /// A definition with a name and nothing else: the base of the macro's tables and of those
    /// loaded at run time.
    pub const fn named(name: Str, doc: Str) -> OpDef {
        OpDef {
            name,
            doc,
            operands: Cow::Borrowed(&[]),
            results: Cow::Borrowed(&[]),
            attrs: Cow::Borrowed(&[]),
            regions: Cow::Borrowed(&[]),
            successors: Cow::Borrowed(&[]),
            traits: TraitSet::NONE,
            format: None,
            parse: None,
            print: None,
            verify_signature: None,
            verify: None,
            fold: None,
        }
    }

    /// The definition of the inherent attribute called `name`.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|a| a.name == name)
    }

    /// True if `name` is inherent: an attribute of the definition, or the segment sizes its traits
    /// call for.
    pub fn is_inherent(&self, name: &str) -> bool {
        self.attr(name).is_some()
            || (name == OPERAND_SEGMENTS && self.traits.has(Trait::AttrSizedOperandSegments))
            || (name == RESULT_SEGMENTS && self.traits.has(Trait::AttrSizedResultSegments))
    }

    /// True if an operation of this definition owns an arena of its own.
    pub fn owns_arena(&self) -> bool {
        self.traits.has(Trait::IsolatedFromAbove)
            && self.operands.is_empty()
            && self.results.is_empty()
            && self.successors.is_empty()
    }
}

/// Name of the attribute that holds the sizes of operand segments.
pub const OPERAND_SEGMENTS: &str = "operandSegmentSizes";
/// Name of the attribute that holds the sizes of result segments.
pub const RESULT_SEGMENTS: &str = "resultSegmentSizes";

/// The range of values that entry `index` stands for, among `total`, if entries have these sizes.
/// `None` if the counts don't fit.
pub fn sized_segment(
    mut sizes: impl Iterator<Item = i64>,
    index: usize,
    total: usize,
) -> Option<std::ops::Range<usize>> {
    let after = |start: usize, size: i64| start.checked_add(usize::try_from(size).ok()?);
    let start = sizes.by_ref().take(index).try_fold(0, after)?;
    let end = after(start, sizes.next()?)?;
    (end <= total).then_some(start..end)
}

/// The range of values that entry `index` of `defs` stands for, among `total`: the optional and
/// variadic entries share equally what the others leave. `None` if the counts don't fit.
pub fn segment(defs: &[OperandDef], index: usize, total: usize) -> Option<std::ops::Range<usize>> {
    // As many as there are entries: one each, whatever the arities.
    if total == defs.len() {
        return (index < total).then_some(index..index + 1);
    }
    let is_flexible = |d: &&OperandDef| d.arity != Arity::One;
    let flexible = defs.iter().filter(is_flexible).count();
    let spare = total.checked_sub(defs.len() - flexible)?;
    let each = spare.checked_div(flexible).unwrap_or(0);
    if each * flexible != spare {
        return None;
    }
    let flexible_before = defs.get(..index)?.iter().filter(is_flexible).count();
    let start = index - flexible_before + flexible_before * each;
    let len = if defs.get(index).is_some_and(|d| d.arity != Arity::One) { each } else { 1 };
    (start + len <= total).then_some(start..start + len)
}

/// Position of `name` in a static list of operand definitions, for the accessors the macro makes.
pub const fn position(names: &[&str], name: &str) -> usize {
    let mut i = 0;
    while i < names.len() {
        if equal(names[i].as_bytes(), name.as_bytes()) {
            return i;
        }
        i += 1;
    }
    panic!("no such name in the definition")
}

const fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

impl TypeConstraint {
    /// The one type that satisfies it, if there is just one whatever the other types are.
    pub fn buildable(&self) -> Option<Type> {
        match self {
            TypeConstraint::Exactly(ty) => Some(*ty),
            _ => None,
        }
    }

    /// The type that follows from the types of other operands and results, which `of` finds by
    /// name.
    pub fn infer(&self, ctx: &Context, of: &dyn Fn(&str) -> Option<Type>) -> Option<Type> {
        match self {
            TypeConstraint::Exactly(ty) => Some(*ty),
            TypeConstraint::Plain(name) => Some(ctx.dialect_type(name, &[])),
            TypeConstraint::SameAs(name) => of(name),
            TypeConstraint::ElementOf(name) => of(name)?.element(ctx),
            TypeConstraint::BoolShapedAs(name) => Some(of(name)?.with_scalar(ctx, Type::I1)),
            _ => None,
        }
    }

    /// True if `ty` satisfies it; `of` finds the types of other operands and results by name.
    pub fn accepts(&self, ctx: &Context, ty: Type, of: &dyn Fn(&str) -> Option<Type>) -> bool {
        use TypeConstraint as C;
        let scalar = ty.scalar(ctx);
        match self {
            C::Any => true,
            C::Exactly(own) => ty == *own,
            C::SignlessInteger => ty.is_signless_integer(ctx),
            C::SignlessIntegerLike => scalar.is_signless_integer(ctx) || scalar.is_index(),
            C::SignlessFixedWidthIntegerLike => scalar.is_signless_integer(ctx),
            C::SignlessIntegerOrIndex => ty.is_signless_integer(ctx) || ty.is_index(),
            C::FloatLike => scalar.is_float(ctx),
            C::BoolLike => scalar == Type::I1,
            C::IndexLike => scalar.is_index(),
            C::IntegerIndexOrFloat => ty.integer_width(ctx).is_some() || ty.is_index() || ty.is_float(ctx),
            C::MemRef => matches!(ty.kind(ctx), TypeKind::MemRef { .. }),
            C::RankedMemRef => matches!(ty.kind(ctx), TypeKind::MemRef { shape: Some(_), .. }),
            C::Vector => matches!(ty.kind(ctx), TypeKind::Vector { .. }),
            C::Tensor => matches!(ty.kind(ctx), TypeKind::Tensor { .. }),
            C::Dialect(name) | C::Plain(name) => ty.dialect_params(ctx, name).is_some(),
            C::SameAs(_) | C::ElementOf(_) | C::BoolShapedAs(_) => {
                self.infer(ctx, of).is_none_or(|expected| expected == ty)
            }
            C::AnyOf(choices) => choices.iter().any(|c| c.accepts(ctx, ty, of)),
            C::Where(_, accepts) => accepts(ctx, ty),
        }
    }

    /// Completes "must be …".
    pub fn describe(&self) -> String {
        use TypeConstraint as C;
        match self {
            C::Any => "any type".into(),
            C::Exactly(Type::INDEX) => "index".into(),
            C::Exactly(Type::I1) => "1-bit signless integer".into(),
            C::Exactly(Type::I8) => "8-bit signless integer".into(),
            C::Exactly(Type::I16) => "16-bit signless integer".into(),
            C::Exactly(Type::I32) => "32-bit signless integer".into(),
            C::Exactly(Type::I64) => "64-bit signless integer".into(),
            C::Exactly(Type::F32) => "32-bit float".into(),
            C::Exactly(Type::F64) => "64-bit float".into(),
            C::Exactly(_) => "one given type".into(),
            C::SignlessInteger => "signless integer".into(),
            C::SignlessIntegerLike => "signless-integer-like".into(),
            C::SignlessFixedWidthIntegerLike => "signless-fixed-width-integer-like".into(),
            C::SignlessIntegerOrIndex => "signless integer or index".into(),
            C::FloatLike => "floating-point-like".into(),
            C::BoolLike => "bool-like".into(),
            C::IndexLike => "index-like".into(),
            C::IntegerIndexOrFloat => "integer, index or floating-point".into(),
            C::MemRef => "ranked or unranked memref of any type values".into(),
            C::RankedMemRef => "memref of any type values".into(),
            C::Vector => "vector of any type values".into(),
            C::Tensor => "tensor of any type values".into(),
            C::Dialect(name) | C::Plain(name) => format!("!{name}"),
            C::SameAs(name) => format!("of the type of '{name}'"),
            C::ElementOf(name) => format!("of the element type of '{name}'"),
            C::BoolShapedAs(name) => format!("i1 in the shape of '{name}'"),
            C::AnyOf(choices) => choices.iter().map(|c| c.describe()).collect::<Vec<_>>().join(" or "),
            C::Where(text, _) => text.to_string(),
        }
    }
}

impl AttrConstraint {
    /// True if `attr` satisfies it.
    pub fn accepts(&self, ctx: &Context, attr: Attr) -> bool {
        use AttrConstraint as C;
        let kind = attr.kind(ctx);
        match self {
            C::Any => true,
            C::Unit => attr == Attr::UNIT,
            C::Bool => attr == Attr::TRUE || attr == Attr::FALSE,
            C::Integer(0) => matches!(kind, AttrKind::Integer { ty: Type::INDEX, .. }),
            C::Integer(width) => match kind {
                AttrKind::Integer { ty, .. } => {
                    ty.is_signless_integer(ctx) && ty.integer_width(ctx) == Some(*width)
                }
                _ => false,
            },
            C::Float(float) => matches!(kind, AttrKind::Float { ty, .. } if ty == float),
            C::String => matches!(kind, AttrKind::String(_)),
            C::Symbol => matches!(kind, AttrKind::Symbol { .. }),
            C::FlatSymbol => attr.as_flat_symbol(ctx).is_some(),
            C::Type => matches!(kind, AttrKind::Type(_)),
            C::FunctionType => attr.as_type(ctx).is_some_and(|t| t.function(ctx).is_some()),
            C::AffineMap => matches!(kind, AttrKind::AffineMap(_)),
            C::IntegerSet => matches!(kind, AttrKind::IntegerSet(_)),
            C::Array => matches!(kind, AttrKind::Array(_)),
            C::Dictionary => matches!(kind, AttrKind::Dictionary(_)),
            C::DenseArray(ty) => matches!(kind, AttrKind::DenseArray { element, .. } if element == ty),
            C::Typed => attr.ty(ctx).is_some(),
            C::Elements => matches!(
                kind,
                AttrKind::DenseElements { .. }
                    | AttrKind::DenseStrings { .. }
                    | AttrKind::Sparse { .. }
                    | AttrKind::DenseResource { .. }
            ),
            C::Enum(def) => def.value(ctx, attr).is_some(),
            C::Dialect(name) => match kind {
                AttrKind::Dialect { name: own, .. } | AttrKind::Enum { name: own, .. } => {
                    ctx.str(*own) == name
                }
                _ => false,
            },
            C::Confined(base, _, accepts) => base.accepts(ctx, attr) && accepts(ctx, attr),
            C::Where(_, accepts) => accepts(ctx, attr),
        }
    }

    /// Completes "attribute … failed to satisfy constraint: …".
    pub fn describe(&self) -> String {
        use AttrConstraint as C;
        match self {
            C::Any => "any attribute".into(),
            C::Unit => "unit attribute".into(),
            C::Bool => "bool attribute".into(),
            C::Integer(0) => "index attribute".into(),
            C::Integer(width) => format!("{width}-bit signless integer attribute"),
            C::Float(Type::F32) => "32-bit float attribute".into(),
            C::Float(Type::F64) => "64-bit float attribute".into(),
            C::Float(_) => "float attribute of a certain type".into(),
            C::String => "string attribute".into(),
            C::Symbol => "symbol reference attribute".into(),
            C::FlatSymbol => "flat symbol reference attribute".into(),
            C::Type => "any type attribute".into(),
            C::FunctionType => "type attribute of function type".into(),
            C::AffineMap => "AffineMap attribute".into(),
            C::IntegerSet => "IntegerSet attribute".into(),
            C::Array => "array attribute".into(),
            C::Dictionary => "dictionary of named attribute values".into(),
            C::DenseArray(_) => "dense array attribute".into(),
            C::Typed => "TypedAttr instance".into(),
            C::Elements => "constant vector/tensor attribute".into(),
            C::Enum(def) => {
                let names: Vec<_> = def.cases.iter().map(|(name, _)| *name).collect();
                format!("one of {} ({})", names.join(", "), def.name)
            }
            C::Dialect(name) => format!("#{name}"),
            C::Confined(_, text, _) | C::Where(text, _) => text.to_string(),
        }
    }
}

/// A type that a dialect adds: how its parameters are read and written.
#[derive(Clone, Copy, Debug)]
pub struct TypeDef {
    /// Full name, `llvm.array`.
    pub name: &'static str,
    /// Reads what follows the name.
    pub parse: fn(&mut OpParser<'_, '_>) -> ParseResult<Vec<Attr>>,
    /// Writes what follows the name.
    pub print: fn(&mut OpPrinter<'_>, &[Attr]),
}

/// A structured attribute that a dialect adds.
#[derive(Clone, Copy, Debug)]
pub struct StructAttrDef {
    /// Full name, `llvm.loop_unroll`.
    pub name: &'static str,
    /// The name of its aliases, `loop_unroll` for `#loop_unroll1`, if it has them.
    pub alias: Option<&'static str>,
    /// Reads what follows the name.
    pub parse: ParseParams,
    /// Writes what follows the name.
    pub print: fn(&mut OpPrinter<'_>, &[(Name, Attr)]),
}

/// A dialect: its name and what it defines.
#[derive(Debug)]
pub struct DialectDef {
    /// Its name, `arith`.
    pub name: Str,
    /// Its documentation.
    pub doc: Str,
    /// Its operations.
    pub ops: List<&'static OpDef>,
    /// Its enumerations kept as attributes.
    pub enums: List<&'static EnumDef>,
    /// Its types.
    pub types: List<TypeDef>,
    /// Its structured attributes.
    pub attrs: List<StructAttrDef>,
    /// True if it may have operations that are not in its table, of which nothing is known.
    pub allows_unknown_ops: bool,
    /// Its custom directives of assembly formats.
    pub directives: List<DirectiveDef>,
    /// Makes an operation that yields a constant of a type, for folding.
    pub materialize_constant: Option<MaterializeHook>,
    /// Attaches the interfaces of its operations.
    pub interfaces: fn(&mut Registry),
}
