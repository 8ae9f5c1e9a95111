//! Dialects that are loaded at run time: their types, attributes and rules.
//!
//! The table of an operation ([`OpDef`]) can be made at run time as well as compiled
//! in. A table in Rust has functions for what it cannot say. A loaded one has objects:
//!
//! - [`ParametricDef`] is a type or attribute with a list of attributes as its parameters, written
//!   `!cmath.complex<f32>` or `#cmath.unit<3 : i32>`.
//! - [`OperationRule`] is an interface of operations: what the verifier asks after the table.
//!
//! A registry owns them, and then the context. They are freed with it.

use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::attributes::{Attr, AttrKind};
use crate::body::OpRef;
use crate::context::{Context, Name, Registry};
use crate::diagnostics::Diagnostics;
use crate::opdef::OpDef;
use crate::text::{Delimiter, OpParser, OpPrinter, ParseResult};

/// An operation's definition: compiled in, or loaded at run time.
#[derive(Clone, Debug)]
pub enum DefRef {
    /// Made by the `dialect!` macro.
    Static(&'static OpDef),
    /// Loaded at run time.
    Owned(Arc<OpDef>),
}

impl Deref for DefRef {
    type Target = OpDef;

    fn deref(&self) -> &OpDef {
        match self {
            DefRef::Static(def) => def,
            DefRef::Owned(def) => def,
        }
    }
}

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

/// The dialects of a registry that are loaded at run time.
#[derive(Debug, Default)]
pub(crate) struct RuntimeDialects {
    names: Vec<String>,
    ops: Vec<OpDef>,
    types: Vec<ParametricDef>,
    attrs: Vec<ParametricDef>,
}

impl RuntimeDialects {
    /// Returns the names of the dialects, and the dialects of operations.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let of_ops = self.ops.iter().map(|def| def.name.split('.').next().unwrap_or_default());
        self.names.iter().map(String::as_str).chain(of_ops)
    }

    /// Takes the definitions of the operations out.
    pub(crate) fn take_ops(&mut self) -> Vec<OpDef> {
        std::mem::take(&mut self.ops)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }

    /// Returns the types and attributes by name.
    pub(crate) fn into_tables(self, name: impl Fn(&str) -> Name) -> RuntimeTables {
        let by_name = |list: Vec<ParametricDef>| list.into_iter().map(|def| (name(&def.name), def)).collect();
        RuntimeTables { types: by_name(self.types), attrs: by_name(self.attrs) }
    }
}

/// The types and attributes of a context that were loaded at run time.
#[derive(Debug, Default)]
pub(crate) struct RuntimeTables {
    types: HashMap<Name, ParametricDef>,
    attrs: HashMap<Name, ParametricDef>,
}

impl Context {
    /// The type of this full name, if it was loaded at run time.
    pub fn parametric_type(&self, name: Name) -> Option<&ParametricDef> {
        self.runtime().types.get(&name)
    }

    /// The attribute of this full name, if it was loaded at run time.
    pub fn parametric_attr(&self, name: Name) -> Option<&ParametricDef> {
        self.runtime().attrs.get(&name)
    }
}

impl Registry {
    /// Registers the name of a dialect that is loaded at run time. It has no operations besides
    /// those that are registered.
    pub fn runtime_dialect(&mut self, name: &str) -> &mut Self {
        self.runtime.names.push(name.to_owned());
        self
    }

    /// True if a dialect of this name is registered, compiled in or loaded at run time.
    pub fn has_dialect(&self, name: &str) -> bool {
        self.dialects.iter().any(|own| own.name == name) || self.runtime.has(name)
    }

    /// Registers one operation defined at run time. Its dialect stands before the first dot of its
    /// name.
    ///
    /// # Panics
    /// If a constraint or the format uses a name that the definition does not have. (For a
    /// [`dialect!`](crate::dialect!) that is a compile error.)
    pub fn operation(&mut self, def: OpDef) -> &mut Self {
        assert!(def.has_known_names(), "'{}': a constraint or the format uses an unknown name", def.name);
        self.runtime.ops.push(def);
        self
    }

    /// Registers a type that was loaded at run time.
    pub fn parametric_type(&mut self, def: ParametricDef) -> &mut Self {
        self.runtime.types.push(def);
        self
    }

    /// Registers an attribute that was loaded at run time.
    pub fn parametric_attr(&mut self, def: ParametricDef) -> &mut Self {
        self.runtime.attrs.push(def);
        self
    }
}
