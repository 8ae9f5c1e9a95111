//! The types that types become in a conversion, and the casts between both.

use crate::attributes::AttrKind;
use crate::body::OpRef;
use crate::builder::Builder;
use crate::context::Context;
use crate::entity::Value;
use crate::types::{Type, TypeKind};

/// A rule: `None` if it is not about the type, `Some(None)` if the type has no counterpart.
type Rule<'a> = Box<dyn Fn(&TypeConverter<'_>, Type) -> Option<Option<Vec<Type>>> + 'a>;
/// Makes values of some types from values of other types, before the place of the builder.
type Materialization<'a> = Box<dyn Fn(&mut Builder<'_>, &[Value], &[Type]) -> Option<Vec<Value>> + 'a>;

/// The types that types become in a conversion, and the casts between both.
///
/// Rules are tried in the reverse order of their addition, and the first that is about a type
/// decides. A type that no rule is about has no counterpart, so a conversion that keeps types says
/// so first ([`TypeConverter::keep_others`]). A type may become one type, several, or none.
///
/// ```
/// use loomir_ir::rewrite::TypeConverter;
/// use loomir_ir::{Context, Registry, Type};
///
/// let ctx = Context::new(Registry::new());
/// let mut types = TypeConverter::new(&ctx);
/// types.keep_others();
/// types.rule(|_, ty| (ty == Type::INDEX).then_some(Type::I64));
/// types.rule_many(|_, ty| (ty == Type::F64).then(|| vec![Type::F32, Type::F32]));
/// assert_eq!(types.convert(Type::INDEX), Some(vec![Type::I64]));
/// assert_eq!(types.convert(Type::F64), Some(vec![Type::F32, Type::F32]));
/// assert!(types.is_legal(Type::I1));
/// ```
pub struct TypeConverter<'a> {
    ctx: Context,
    rules: Vec<Rule<'a>>,
    sources: Vec<Materialization<'a>>,
    targets: Vec<Materialization<'a>>,
    keeps_casts: bool,
}

impl std::fmt::Debug for TypeConverter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TypeConverter({} rules)", self.rules.len())
    }
}

impl<'a> TypeConverter<'a> {
    /// Returns a converter without rules.
    pub fn new(ctx: &Context) -> TypeConverter<'a> {
        let (rules, sources, targets) = (Vec::new(), Vec::new(), Vec::new());
        TypeConverter { ctx: ctx.clone(), rules, sources, targets, keeps_casts: false }
    }

    /// The context.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// Keeps all types, unless a rule that is added later is about them.
    pub fn keep_others(&mut self) -> &mut Self {
        self.rule(|_, ty| Some(ty))
    }

    /// Adds a rule: the type that a type becomes, or `None` if the rule is not about it. The rule
    /// may ask the converter for the types inside a type.
    pub fn rule(&mut self, rule: impl Fn(&TypeConverter<'_>, Type) -> Option<Type> + 'a) -> &mut Self {
        self.rules.push(Box::new(move |types, ty| rule(types, ty).map(|ty| Some(vec![ty]))));
        self
    }

    /// Adds a rule for types that become any number of types, or none.
    pub fn rule_many(
        &mut self,
        rule: impl Fn(&TypeConverter<'_>, Type) -> Option<Vec<Type>> + 'a,
    ) -> &mut Self {
        self.rules.push(Box::new(move |types, ty| rule(types, ty).map(Some)));
        self
    }

    /// Adds a rule for types that have no counterpart.
    pub fn refuse(&mut self, rule: impl Fn(&TypeConverter<'_>, Type) -> bool + 'a) -> &mut Self {
        self.rules.push(Box::new(move |types, ty| rule(types, ty).then_some(None)));
        self
    }

    /// Adds a materialisation from converted values to the original type, for users that are not
    /// converted. It gets the values and the type, or returns `None` to let another one try.
    pub fn source_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, &[Value], &[Type]) -> Option<Vec<Value>> + 'a,
    ) -> &mut Self {
        self.sources.push(Box::new(make));
        self
    }

    /// Adds a materialisation from a value that is not converted to the converted types. It gets
    /// the value and the types, or returns `None` to let another one try.
    pub fn target_materialization(
        &mut self,
        make: impl Fn(&mut Builder<'_>, &[Value], &[Type]) -> Option<Vec<Value>> + 'a,
    ) -> &mut Self {
        self.targets.push(Box::new(make));
        self
    }

    /// Keeps `builtin.unrealized_conversion_cast` where no materialisation makes a cast. Otherwise
    /// the conversion fails there.
    pub fn keep_casts(&mut self) -> &mut Self {
        self.keeps_casts = true;
        self
    }

    /// Returns the types that a type becomes, or `None` if it has no counterpart.
    pub fn convert(&self, ty: Type) -> Option<Vec<Type>> {
        self.rules.iter().rev().find_map(|rule| rule(self, ty)).flatten()
    }

    /// Returns the type that a type becomes, if it becomes exactly one.
    pub fn convert_one(&self, ty: Type) -> Option<Type> {
        match self.convert(ty)?[..] {
            [ty] => Some(ty),
            _ => None,
        }
    }

    /// Returns the types that several types become, in order.
    pub fn convert_all(&self, types: impl IntoIterator<Item = Type>) -> Option<Vec<Type>> {
        let mut all = Vec::new();
        for ty in types {
            all.extend(self.convert(ty)?);
        }
        Some(all)
    }

    /// Returns the type that the type in an attribute becomes. Arguments and results of a function
    /// type are converted one by one.
    pub fn convert_attribute(&self, ty: Type) -> Option<Type> {
        match ty.kind(&self.ctx) {
            TypeKind::Function { inputs, results } => {
                let inputs = self.convert_all(inputs.iter().copied())?;
                let results = self.convert_all(results.iter().copied())?;
                Some(self.ctx.function_type(&inputs, &results))
            }
            _ => self.convert_one(ty),
        }
    }

    /// True if a type stays as it is.
    pub fn is_legal(&self, ty: Type) -> bool {
        self.convert(ty).is_some_and(|types| types == [ty])
    }

    /// True if all types of an operation stay: of its operands, of its results, of the arguments of
    /// its blocks, and in its attributes. This is the usual test for functions, calls and branches.
    pub fn is_legal_op(&self, op: OpRef<'_>) -> bool {
        let body = op.body();
        let mut values = op.operands().chain(op.results());
        let arguments = op
            .regions()
            .flat_map(|region| body.blocks(region).collect::<Vec<_>>())
            .flat_map(|block| body.arguments(block).collect::<Vec<_>>());
        let dicts = [op.properties(), op.attributes()];
        let mut attributes = dicts.iter().flat_map(|dict| dict.entries(&self.ctx));
        values.all(|value| self.is_legal(op.type_of(value)))
            && arguments.into_iter().all(|value| self.is_legal(op.type_of(value)))
            && attributes.all(|(_, attr)| match attr.kind(&self.ctx) {
                AttrKind::Type(ty) => self.convert_attribute(*ty) == Some(*ty),
                _ => true,
            })
    }

    pub(super) fn materialize(
        &self,
        builder: &mut Builder<'_>,
        to_source: bool,
        values: &[Value],
        types: &[Type],
    ) -> Option<Vec<Value>> {
        let rules = if to_source { &self.sources } else { &self.targets };
        rules.iter().rev().find_map(|make| make(builder, values, types))
    }

    pub(super) fn keeps_casts(&self) -> bool {
        self.keeps_casts
    }
}
