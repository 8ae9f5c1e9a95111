//! Dialects that are loaded at run time: their types, attributes and rules.
//!
//! The table of an operation ([`OpDef`](crate::OpDef)) can be made at run time as well as compiled
//! in. A table in Rust has functions for what it cannot say. A loaded one has objects:
//!
//! - [`ParametricDef`] is a type or attribute with a list of attributes as its parameters, written
//!   `!cmath.complex<f32>` or `#cmath.unit<3 : i32>`.
//! - [`OperationRule`] is an interface of operations: what the verifier asks after the table.
//!
//! A registry owns them, and then the context. They are freed with it.

use crate::attributes::{Attr, AttrKind};
use crate::body::OpRef;
use crate::context::{Context, Registry};
use crate::diagnostics::Diagnostics;
use crate::text::{Delimiter, OpParser, OpPrinter, ParseResult};
use crate::types::Type;

/// A type or an attribute that was loaded at run time.
pub struct ParametricDef {
    /// Its full name, `cmath.complex`.
    pub name: String,
    /// The names of its parameters, in order.
    pub parameters: Vec<String>,
    /// The rule that its parameters obey.
    pub rule: Box<dyn ParameterRule>,
}

/// A rule for the parameters of a type or an attribute.
pub trait ParameterRule: Send + Sync {
    /// Returns what is wrong with parameters, if anything is.
    fn violation(&self, ctx: &Context, parameters: &[Attr]) -> Option<String>;
}

/// A rule for operations, as an interface. The verifier asks it after the tables.
pub trait OperationRule: Send + Sync {
    /// Reports what is wrong with an operation that has the right numbers of values and regions.
    fn verify(&self, op: OpRef<'_>, out: &mut Diagnostics);
}

impl std::fmt::Debug for ParametricDef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ParametricDef").field(&self.name).field(&self.parameters).finish()
    }
}

impl ParametricDef {
    /// Reads the parameters behind the name, `<f32, 3 : i32>` or nothing.
    pub(crate) fn parse(&self, p: &mut OpParser<'_, '_>) -> ParseResult<Vec<Attr>> {
        let loc = p.loc();
        let parameters = p.parse_list(Delimiter::OptionalLessGreater, |p| p.parse_attr(None))?;
        let (expected, found) = (self.parameters.len(), parameters.len());
        let violation = match expected == found {
            true => self.rule.violation(p.ctx(), &parameters),
            false => Some(format!("'{}' takes {expected} parameters, and has {found}", self.name)),
        };
        match violation {
            Some(message) => Err(p.error(loc, message)),
            None => Ok(parameters),
        }
    }

    /// Writes the parameters as [`Self::parse`] reads them.
    pub(crate) fn print(p: &mut OpPrinter<'_>, parameters: impl ExactSizeIterator<Item = Attr>) {
        if parameters.len() > 0 {
            p.write("<");
            p.comma_separated(parameters, OpPrinter::attr);
            p.write(">");
        }
    }

    /// Returns the attribute with these parameters.
    pub(crate) fn attr(&self, ctx: &Context, parameters: &[Attr]) -> Attr {
        let named = self.parameters.iter().map(|name| ctx.name(name)).zip(parameters.iter().copied());
        let params = ctx.dict(named.collect());
        ctx.attr(AttrKind::Dialect { name: ctx.name(&self.name), params })
    }

    /// Returns the parameters of an attribute of this definition, in order.
    pub fn parameters_of(&self, ctx: &Context, attr: Attr) -> Option<Vec<Attr>> {
        match attr.kind(ctx) {
            AttrKind::Dialect { name, params } if ctx.str(*name) == self.name => {
                self.parameters.iter().map(|name| params.get(ctx, name)).collect()
            }
            _ => None,
        }
    }
}

impl Context {
    /// Returns a type that was loaded at run time, with these parameters. `None` if there is no
    /// such type, or the parameters break its rule.
    pub fn parametric(&self, name: &str, parameters: &[Attr]) -> Option<Type> {
        let def = self.parametric_type(self.name(name))?;
        let is_valid =
            def.parameters.len() == parameters.len() && def.rule.violation(self, parameters).is_none();
        is_valid.then(|| self.dialect_type(name, parameters))
    }
}

impl Registry {
    /// Registers a type that was loaded at run time.
    pub fn parametric_type(&mut self, def: ParametricDef) -> &mut Self {
        self.parametric_types.push(def);
        self
    }

    /// Registers an attribute that was loaded at run time.
    pub fn parametric_attr(&mut self, def: ParametricDef) -> &mut Self {
        self.parametric_attrs.push(def);
        self
    }
}
