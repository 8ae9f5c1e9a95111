//! All that a context knows of the operations of one name.

use std::any::{Any, TypeId};
use std::sync::OnceLock;

use hashbrown::HashMap;

use super::{Context, Name};
use crate::attributes::{Attr, Dict};
use crate::opdef::runtime::DefRef;
use crate::opdef::{OPERAND_SEGMENTS, OpDef, RESULT_SEGMENTS, Trait, TraitSet};
use crate::text::{DefaultAttr, Format};

/// The models attached to one operation, by the type of their interface.
pub(super) type Interfaces = HashMap<TypeId, Box<dyn Any + Send + Sync>>;

/// All that is known of the operations of one name.
#[derive(Debug)]
pub struct OpInfo {
    name: Name,
    dialect: Name,
    def: Option<DefRef>,
    /// The traits of the definition.
    traits: TraitSet,
    /// The definition's assembly format, parsed when it is first asked for: most programs use few
    /// operations.
    format: OnceLock<Option<Format>>,
    /// The names of the definition's attributes, in its order.
    attr_names: Box<[Name]>,
    defaults: OnceLock<Defaults>,
    /// A handful at most, so they are looked through.
    interfaces: Vec<(TypeId, Box<dyn Any + Send + Sync>)>,
    owns_arena: bool,
}

/// The attributes of a definition that text may leave out.
#[derive(Debug)]
struct Defaults {
    attrs: Vec<DefaultAttr>,
    /// The inherent attributes of an operation that sets none.
    properties: Dict,
}

impl OpInfo {
    pub(super) fn new(ctx: &Context, full_name: &str, def: Option<DefRef>, interfaces: Interfaces) -> Self {
        let attrs = def.as_ref().map_or(&[][..], |def| &def.attrs);
        OpInfo {
            name: ctx.name(full_name),
            dialect: ctx.name(full_name.split_once('.').map_or("", |(dialect, _)| dialect)),
            attr_names: attrs.iter().map(|attr| ctx.name(&attr.name)).collect(),
            owns_arena: def.as_ref().is_some_and(|def| def.owns_arena()),
            traits: def.as_ref().map_or(TraitSet::NONE, |def| def.traits),
            def,
            format: OnceLock::new(),
            defaults: OnceLock::new(),
            interfaces: interfaces.into_iter().collect(),
        }
    }

    /// The full name, `arith.addi`.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The dialect's name: what stands before the first dot, or nothing.
    pub fn dialect(&self) -> Name {
        self.dialect
    }

    /// The definition, if the operation is registered.
    pub fn def(&self) -> Option<&OpDef> {
        self.def.as_deref()
    }

    /// The parsed declarative assembly format.
    ///
    /// # Panics
    /// If that of a compiled-in definition doesn't parse. [`Context::new`] finds that in a debug
    /// build.
    pub fn format(&self, ctx: &Context) -> Option<&Format> {
        let parse = || {
            let def = self.def.as_deref().filter(|def| def.format.is_some())?;
            // A large dialect may come in several tables.
            let dialect = ctx.str(self.dialect);
            let tables = ctx.dialects().iter().filter(|table| table.name == dialect);
            let directives: Vec<_> = tables.flat_map(|table| table.directives.iter().copied()).collect();
            match Format::parse(def, &directives) {
                Ok(format) => Some(format),
                Err(error) => panic!("assembly format of {}: {error}", def.name),
            }
        };
        self.format.get_or_init(parse).as_ref()
    }

    /// The values of its inherent attributes that have defaults.
    pub fn default_attrs(&self, ctx: &Context) -> &[DefaultAttr] {
        &self.defaults(ctx).attrs
    }

    /// True if an inherent attribute has the value that nothing written stands for.
    pub(crate) fn is_default(&self, ctx: &Context, name: Name, attr: Attr) -> bool {
        self.default_attrs(ctx).iter().any(|default| default.name == name && default.value == attr)
    }

    /// The inherent attributes of an operation of which none is given.
    pub(crate) fn default_properties(&self, ctx: &Context) -> Dict {
        self.defaults(ctx).properties
    }

    fn defaults(&self, ctx: &Context) -> &Defaults {
        self.defaults.get_or_init(|| {
            let attrs = self.def().map_or_else(Vec::new, |def| crate::text::default_attrs_of(ctx, def));
            let set = attrs.iter().filter(|default| default.is_set);
            let properties = ctx.dict(set.map(|default| (default.name, default.value)).collect());
            Defaults { attrs, properties }
        })
    }

    /// The name of attribute `index` of the definition.
    pub(crate) fn attr_name(&self, index: usize) -> Name {
        self.attr_names[index]
    }

    /// The name of an inherent attribute, uniqued. `None` if the definition has no such attribute,
    /// see [`OpDef::is_inherent`].
    pub(crate) fn inherent_name(&self, name: &str) -> Option<Name> {
        let def = self.def()?;
        if let Some(index) = def.attrs.iter().position(|attr| attr.name == name) {
            return Some(self.attr_names[index]);
        }
        let segments = [(OPERAND_SEGMENTS, Name::OPERAND_SEGMENTS), (RESULT_SEGMENTS, Name::RESULT_SEGMENTS)];
        let uniqued = segments.into_iter().find(|(own, _)| *own == name)?.1;
        def.is_inherent(name).then_some(uniqued)
    }

    /// True if it is the operation of this compiled-in definition.
    #[inline]
    pub fn is(&self, def: &'static OpDef) -> bool {
        matches!(self.def, Some(DefRef::Static(own)) if std::ptr::eq(own, def))
    }

    /// The definition, if it is compiled in.
    pub(super) fn compiled_in(&self) -> Option<&'static OpDef> {
        match self.def {
            Some(DefRef::Static(def)) => Some(def),
            _ => None,
        }
    }

    /// True if its definition was loaded at run time.
    #[inline]
    pub fn is_loaded(&self) -> bool {
        matches!(self.def, Some(DefRef::Owned(_)))
    }

    /// True if it is registered and has the trait. Of what is not registered nothing is known.
    #[inline]
    pub fn has_trait(&self, t: Trait) -> bool {
        self.traits.has(t)
    }

    /// True if operations of this name own an arena (a [`Body`](crate::Body)) of their own.
    #[inline]
    pub fn owns_arena(&self) -> bool {
        self.owns_arena
    }

    /// The implementation of interface `I` (a `dyn Trait`) attached to the operation.
    ///
    /// ```
    /// # use loomir_ir::{Context, Registry};
    /// trait Cost: Send + Sync { fn cycles(&self) -> u32; }
    /// struct Flat(u32);
    /// impl Cost for Flat { fn cycles(&self) -> u32 { self.0 } }
    /// let mut registry = Registry::new();
    /// registry.attach::<dyn Cost>("my.op", Box::new(Flat(3)));
    /// let ctx = Context::new(registry);
    /// let name = ctx.op_name("my.op");
    /// assert_eq!(ctx.op_info(name).interface::<dyn Cost>().unwrap().cycles(), 3);
    /// ```
    pub fn interface<I: ?Sized + 'static>(&self) -> Option<&I> {
        let wanted = TypeId::of::<Box<I>>();
        let (_, any) = self.interfaces.iter().find(|(id, _)| *id == wanted)?;
        any.downcast_ref::<Box<I>>().map(|boxed| &**boxed)
    }
}
