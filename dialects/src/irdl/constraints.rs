//! Constraints on attributes and types, and whether an attribute satisfies them.
//!
//! Each constraint is a variable as well. The first attribute that satisfies it is its value, and
//! all others must be equal: two operands with one constraint have one type. A search through
//! alternatives keeps the values that a failed alternative set, as in MLIR.
//!
//! **Invariant.** A constraint refers to constraints before it, so there are no cycles.
//!
//! **Cost.** At most [`MAX_STEPS`] constraints are looked at for one operation or type. Nesting is
//! at most [`MAX_DEPTH`] deep.

use std::sync::OnceLock;

use loomir_ir::text::{attr_to_string, parse_attr};
use loomir_ir::{Attr, AttrKind, Context, Type, TypeKind};

/// The most constraints that are looked at for one operation or type.
pub const MAX_STEPS: usize = 10_000;

/// The deepest nesting of constraints.
pub const MAX_DEPTH: usize = 64;

/// A constraint. It refers to others by their numbers.
#[derive(Debug)]
pub enum Constraint {
    /// One attribute, as text. The handle belongs to the one context that owns the constraint.
    Is(String, OnceLock<Option<Attr>>),
    /// A kind of attribute of MLIR's own.
    Builtin(&'static Base),
    /// An attribute or type of a dialect, and constraints on its parameters.
    Named {
        /// The full name, `cmath.complex`.
        name: String,
        /// True for a type.
        is_type: bool,
        /// The constraints on its parameters, if they are constrained.
        parameters: Option<Vec<usize>>,
    },
    /// Everything.
    Any,
    /// Attributes that at least one constraint accepts.
    AnyOf(Vec<usize>),
    /// Attributes that all constraints accept.
    AllOf(Vec<usize>),
}

/// A kind of attribute or type of MLIR's own.
#[derive(Debug)]
pub struct Base {
    /// The name, `builtin.integer`.
    pub name: &'static str,
    /// True if an attribute is of the kind. A type comes as an attribute.
    pub accepts: fn(&Context, Attr) -> bool,
}

/// The constraints of one definition.
#[derive(Debug, Default)]
pub struct Constraints(pub Vec<Constraint>);

impl Constraints {
    /// Returns a search without values.
    pub fn search<'c>(&'c self, ctx: &'c Context) -> Search<'c> {
        Search { ctx, constraints: &self.0, values: vec![None; self.0.len()], steps: MAX_STEPS }
    }
}

/// A search for values of constraints.
pub struct Search<'c> {
    ctx: &'c Context,
    constraints: &'c [Constraint],
    values: Vec<Option<Attr>>,
    steps: usize,
}

impl Search<'_> {
    /// Checks an attribute against the constraint of a number.
    ///
    /// # Errors
    /// The reason why it is not satisfied.
    pub fn check(&mut self, attr: Attr, number: usize) -> Result<(), String> {
        self.satisfies(attr, number).then_some(()).ok_or_else(|| self.reason(attr, number))
    }

    /// Checks a type against the constraint of a number.
    ///
    /// # Errors
    /// The reason why it is not satisfied.
    pub fn check_type(&mut self, ty: Type, number: usize) -> Result<(), String> {
        self.check(self.ctx.type_attr(ty), number)
    }

    fn satisfies(&mut self, attr: Attr, number: usize) -> bool {
        if let Some(value) = self.values[number] {
            return value == attr;
        }
        let Some(steps) = self.steps.checked_sub(1) else { return false };
        self.steps = steps;
        let ctx = self.ctx;
        let constraints = self.constraints;
        let is_satisfied = match &constraints[number] {
            Constraint::Is(..) => constraints[number].expected(ctx) == Some(attr),
            Constraint::Builtin(base) => (base.accepts)(ctx, attr),
            Constraint::Named { name, is_type, parameters } => {
                match (parameters_of(ctx, attr, name, *is_type), parameters) {
                    (None, _) => false,
                    (Some(_), None) => true,
                    (Some(found), Some(wanted)) => {
                        found.len() == wanted.len()
                            && found.into_iter().zip(wanted).all(|(attr, own)| self.satisfies(attr, *own))
                    }
                }
            }
            Constraint::Any => true,
            Constraint::AnyOf(choices) => choices.iter().any(|own| self.satisfies(attr, *own)),
            Constraint::AllOf(parts) => parts.iter().all(|own| self.satisfies(attr, *own)),
        };
        if is_satisfied {
            self.values[number] = Some(attr);
        }
        is_satisfied
    }

    /// Tells why an attribute does not satisfy a constraint.
    fn reason(&self, attr: Attr, number: usize) -> String {
        let found = attr_to_string(self.ctx, attr);
        if self.steps == 0 {
            return format!("'{found}' needs more than {MAX_STEPS} steps to check");
        }
        match self.values[number] {
            Some(value) => format!("expected '{}' but got '{found}'", attr_to_string(self.ctx, value)),
            None => format!("expected {}, but got '{found}'", self.describe(number)),
        }
    }

    /// Describes the attributes that a constraint accepts.
    fn describe(&self, number: usize) -> String {
        match (&self.constraints[number], self.values[number]) {
            (_, Some(value)) => format!("'{}'", attr_to_string(self.ctx, value)),
            (Constraint::Is(text, _), _) => format!("'{text}'"),
            (Constraint::Builtin(base), _) => format!("a '{}'", base.name),
            (Constraint::Named { name, is_type, parameters }, _) => {
                let sign = if *is_type { '!' } else { '#' };
                let of = if parameters.is_some() { " with the right parameters" } else { "" };
                format!("a '{sign}{name}'{of}")
            }
            (Constraint::Any, _) => "anything".into(),
            (Constraint::AnyOf(choices), _) if choices.len() <= SHOWN => self.list(choices, " or "),
            (Constraint::AllOf(parts), _) if parts.len() <= SHOWN => self.list(parts, " and "),
            _ => "what its constraint accepts".into(),
        }
    }

    fn list(&self, numbers: &[usize], between: &str) -> String {
        let is_plain =
            |own: &usize| !matches!(self.constraints[*own], Constraint::AnyOf(_) | Constraint::AllOf(_));
        if !numbers.iter().all(is_plain) {
            return "what its constraint accepts".into();
        }
        let texts: Vec<String> = numbers.iter().map(|own| self.describe(*own)).collect();
        texts.join(between)
    }
}

/// The most alternatives that a diagnostic lists.
const SHOWN: usize = 8;

impl Constraint {
    /// Returns the one attribute that the constraint accepts.
    fn expected(&self, ctx: &Context) -> Option<Attr> {
        match self {
            Constraint::Is(text, attr) => *attr.get_or_init(|| parse_attr(ctx, text).ok()),
            _ => None,
        }
    }
}

/// Returns the parameters of an attribute or type of a dialect, if it has this name.
fn parameters_of(ctx: &Context, attr: Attr, name: &str, is_type: bool) -> Option<Vec<Attr>> {
    if is_type {
        return attr.as_type(ctx)?.dialect_params(ctx, name).map(<[Attr]>::to_vec);
    }
    match ctx.parametric_attr(ctx.name(name)) {
        Some(def) => def.parameters_of(ctx, attr),
        None => {
            let is_named = matches!(attr.kind(ctx), AttrKind::Dialect { name: own, .. } | AttrKind::Enum { name: own, .. } if ctx.str(*own) == name);
            is_named.then(Vec::new)
        }
    }
}

/// Returns the kind of MLIR's own that a name with its sign names.
pub fn builtin(name: &str) -> Option<&'static Base> {
    let (list, name) = match name.strip_prefix('!') {
        Some(name) => (TYPES, name),
        None => (ATTRS, name.strip_prefix('#')?),
    };
    list.iter().find(|base| base.name == name)
}

/// A kind of types.
macro_rules! types {
    ($($name:literal: $kind:pat,)*) => {
        &[$(Base {
            name: concat!("builtin.", $name),
            accepts: |ctx, attr| attr.as_type(ctx).is_some_and(|ty| matches!(ty.kind(ctx), $kind)),
        },)*]
    };
}

/// A kind of attributes.
macro_rules! attrs {
    ($($name:literal: $kind:pat,)*) => {
        &[$(Base {
            name: concat!("builtin.", $name),
            accepts: |ctx, attr| matches!(attr.kind(ctx), $kind),
        },)*]
    };
}

/// MLIR's own types, by the names of their classes.
const TYPES: &[Base] = types! {
    "integer": TypeKind::Integer { .. },
    "index": TypeKind::Index,
    "none": TypeKind::None,
    "f16": TypeKind::Float(loomir_ir::FloatKind::F16),
    "bf16": TypeKind::Float(loomir_ir::FloatKind::BF16),
    "f32": TypeKind::Float(loomir_ir::FloatKind::F32),
    "f64": TypeKind::Float(loomir_ir::FloatKind::F64),
    "f80": TypeKind::Float(loomir_ir::FloatKind::F80),
    "f128": TypeKind::Float(loomir_ir::FloatKind::F128),
    "complex": TypeKind::Complex(_),
    "function": TypeKind::Function { .. },
    "tuple": TypeKind::Tuple(_),
    "vector": TypeKind::Vector { .. },
    "tensor": TypeKind::Tensor { shape: Some(_), .. },
    "unranked_tensor": TypeKind::Tensor { shape: None, .. },
    "memref": TypeKind::MemRef { shape: Some(_), .. },
    "unranked_memref": TypeKind::MemRef { shape: None, .. },
};

/// MLIR's own attributes, by the names of their classes.
const ATTRS: &[Base] = attrs! {
    "integer": AttrKind::Integer { .. } | AttrKind::WideInteger { .. },
    "float": AttrKind::Float { .. },
    "string": AttrKind::String(_) | AttrKind::TypedString { .. },
    "unit": AttrKind::Unit,
    "array": AttrKind::Array(_),
    "dictionary": AttrKind::Dictionary(_),
    "type": AttrKind::Type(_),
    "symbol_ref": AttrKind::Symbol { .. },
    "affine_map": AttrKind::AffineMap(_),
    "integer_set": AttrKind::IntegerSet(_),
    "dense_array": AttrKind::DenseArray { .. },
    "dense_intorfp_elements": AttrKind::DenseElements { .. },
    "strided_layout": AttrKind::Strided { .. },
};
