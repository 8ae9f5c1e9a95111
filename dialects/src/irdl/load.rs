//! Definitions become tables: a program of the dialect `irdl` is loaded into a registry.
//!
//! The tables own all that they hold. They are freed with the registry, or with the context made of
//! it.

use std::borrow::Cow;
use std::sync::OnceLock;

use hashbrown::HashMap;
use loomir_ir::opdef::runtime::{OperationRule, ParametricDef};
use loomir_ir::opdef::{
    Arity, AttrConstraint, AttrDef, OpDef, OperandDef, Presence, RegionDef, RegionKind, TypeConstraint,
};
use loomir_ir::symbols::SYMBOL_NAME;
use loomir_ir::text::{Format, attr_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{Body, Diagnostic, Diagnostics, Op, OpRef, Registry, Trait, Type, Value};

use super::constraints::{Constraint, Constraints, MAX_DEPTH, builtin};
use super::extensions::{self, Extensions};
use super::meaning::{Declared, Loaded};
use super::rules::{Operation, Parameters, RegionRule};
use super::verify::{reference, reference_text, symbol};
use super::{
    AllOfOp, AnyOfOp, AnyOp, AttributeOp, AttributesOp, BaseOp, CPredOp, DialectOp, IsOp, OperandsOp,
    OperationOp, ParametersOp, ParametricOp, RegionOp, RegionsOp, ResultsOp, TypeOp, variadicities,
};
use crate::syntax::texts;

/// Loads the dialects that a verified module defines.
///
/// # Errors
/// All definitions that cannot be loaded. Then the registry is of no use.
pub fn load(registry: &mut Registry, module: &Body) -> Result<Loaded, Diagnostics> {
    let dialects: Vec<&Body> =
        module.all_ops().filter_map(|op| module.nested(op)).filter(|body| is_dialect(body)).collect();
    let mut loader =
        Loader { registry, types: HashMap::new(), loaded: Loaded::default(), errors: Diagnostics::new() };
    for dialect in &dialects {
        loader.declare(dialect);
    }
    if loader.errors.has_errors() {
        return Err(loader.errors);
    }
    for dialect in &dialects {
        for op in definitions(dialect) {
            let op = dialect.op_ref(op);
            if let Err(error) = loader.definition(symbol(dialect.root_ref()), op) {
                loader.errors.push(error);
            }
        }
    }
    let Loader { registry, loaded, errors, .. } = loader;
    registry.keep_table(loaded.cell.clone());
    if errors.has_errors() { Err(errors) } else { Ok(loaded) }
}

fn is_dialect(body: &Body) -> bool {
    body.is(body.root(), DialectOp::DEF)
}

/// Returns the operations directly inside a dialect.
fn definitions(dialect: &Body) -> Vec<Op> {
    let blocks = dialect.own_regions(dialect.root()).flat_map(|region| dialect.blocks(region));
    blocks.flat_map(|block| dialect.ops(block)).collect()
}

/// Returns the operations of one definition.
fn parts(op: OpRef<'_>) -> impl Iterator<Item = OpRef<'_>> {
    let body = op.body();
    let blocks = op.regions().flat_map(|region| body.blocks(region));
    blocks.flat_map(|block| body.ops(block)).map(|own| body.op_ref(own))
}

/// Returns the operation of this kind in a definition.
fn part<'b>(op: OpRef<'b>, def: &'static OpDef) -> Option<OpRef<'b>> {
    parts(op).find(|own| own.is(def))
}

struct Loader<'r> {
    registry: &'r mut Registry,
    /// All types and attributes of the file by their full names.
    types: HashMap<String, Kind>,
    loaded: Loaded,
    errors: Diagnostics,
}

/// The kind of a definition that constraints can refer to.
#[derive(Clone, Copy)]
struct Kind {
    is_type: bool,
    has_parameters: bool,
}

/// The constraints of a definition, and the number of each by its value.
#[derive(Default)]
struct Numbered {
    constraints: Constraints,
    numbers: HashMap<Value, usize>,
    /// The kinds of attributes that each accepts; `None` for any kind.
    bases: Vec<Option<Vec<String>>>,
}

impl Numbered {
    /// Returns the kinds of attributes that a constraint accepts. Single attributes have none.
    fn bases_of(&self, constraint: &Constraint) -> Option<Vec<String>> {
        match constraint {
            Constraint::Is(..) => Some(Vec::new()),
            Constraint::Builtin(base) => Some(vec![base.name.to_owned()]),
            // As in MLIR, a kind by itself does not exclude the kind with parameters.
            Constraint::Named { name, parameters: None, .. } => Some(vec![name.clone()]),
            Constraint::Named { name, .. } => Some(vec![format!("{name}<…>")]),
            Constraint::Any => None,
            Constraint::AnyOf(choices) => {
                let lists: Option<Vec<_>> = choices.iter().map(|own| self.bases[*own].clone()).collect();
                Some(lists?.concat())
            }
            Constraint::AllOf(parts) => self.bases[*parts.first()?].clone(),
        }
    }

    /// Checks that alternatives exclude each other, so that the first that is satisfied is the only
    /// one.
    fn check_alternatives(&self, op: OpRef<'_>, constraint: &Constraint) -> Result<(), Diagnostic> {
        if !matches!(constraint, Constraint::AnyOf(_)) {
            return Ok(());
        }
        let Some(bases) = self.bases_of(constraint) else {
            let error = op_error(op, "has an alternative that accepts everything");
            return Err(error.help("use 'irdl.any' alone, or leave the alternative out"));
        };
        let mut seen = hashbrown::HashSet::new();
        match bases.iter().find(|base| !seen.insert(*base)) {
            Some(base) => {
                let error = op_error(op, format!("has two alternatives of the kind '{base}'"));
                Err(error.help("keep one, with 'irdl.any_of' around its parameters"))
            }
            None => Ok(()),
        }
    }

    /// Returns the numbers of the constraints that an operation uses.
    fn used_by(&self, op: OpRef<'_>) -> Vec<usize> {
        op.operands().filter_map(|value| self.numbers.get(&value).copied()).collect()
    }
}

impl Loader<'_> {
    /// Makes the names of a dialect known.
    fn declare(&mut self, dialect: &Body) {
        let root = dialect.root_ref();
        let name = symbol(root);
        if self.registry.has_dialect(name) {
            let error = op_error(root, format!("has the name of another dialect, '{name}'"));
            return self.errors.push(error.help("give the dialect another name"));
        }
        self.registry.runtime_dialect(name);
        self.loaded.dialects.push(name.to_owned());
        for op in definitions(dialect).into_iter().map(|op| dialect.op_ref(op)) {
            if op.is(TypeOp::DEF) || op.is(AttributeOp::DEF) {
                let has_parameters = part(op, ParametersOp::DEF).is_some_and(|list| list.num_operands() > 0);
                let kind = Kind { is_type: op.is(TypeOp::DEF), has_parameters };
                self.types.insert(format!("{name}.{}", symbol(op)), kind);
            }
        }
    }

    /// Loads a definition.
    fn definition(&mut self, dialect: &str, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let name = format!("{dialect}.{}", symbol(op));
        if op.is(OperationOp::DEF) {
            return self.operation(name, op);
        }
        if !(op.is(TypeOp::DEF) || op.is(AttributeOp::DEF)) {
            return Ok(());
        }
        extensions::summary(op)?;
        let numbered = self.constraints(op)?;
        let list = part(op, ParametersOp::DEF);
        let numbers = list.map(|list| numbered.used_by(list)).unwrap_or_default();
        let names = list.map(|list| texts(list, "names")).unwrap_or_default();
        let parameters: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if let Some(storage) = extensions::storage(op, &parameters)? {
            self.loaded.storages.push((name.clone(), storage));
        }
        let rule = Box::new(Parameters { constraints: numbered.constraints, numbers });
        let def = ParametricDef { name, parameters, rule };
        match op.is(TypeOp::DEF) {
            true => self.registry.parametric_type(def),
            false => self.registry.parametric_attr(def),
        };
        Ok(())
    }

    /// Reads the constraints of a definition.
    fn constraints(&self, definition: OpRef<'_>) -> Result<Numbered, Diagnostic> {
        let mut numbered = Numbered::default();
        let mut depths: Vec<usize> = Vec::new();
        for op in parts(definition) {
            let Some(constraint) = self.constraint(op, &numbered)? else { continue };
            let below = numbered.used_by(op).into_iter().map(|own| depths[own]).max();
            let depth = below.map_or(0, |depth| depth + 1);
            if depth > MAX_DEPTH {
                let error = op_error(op, format!("nests constraints more than {MAX_DEPTH} deep"));
                return Err(error.help("list all alternatives in one 'irdl.any_of'"));
            }
            numbered.check_alternatives(op, &constraint)?;
            let bases = numbered.bases_of(&constraint);
            numbered.bases.push(bases);
            depths.push(depth);
            numbered.numbers.insert(op.result(0), numbered.constraints.0.len());
            numbered.constraints.0.push(constraint);
        }
        Ok(numbered)
    }

    /// Reads a constraint; `None` if the operation is none.
    fn constraint(&self, op: OpRef<'_>, numbered: &Numbered) -> Result<Option<Constraint>, Diagnostic> {
        let ctx = op.ctx();
        if op.is(CPredOp::DEF) {
            let error = op_error(op, "is a predicate in C++, which cannot be loaded");
            return Err(error.help("say it with 'irdl.is', 'irdl.base', 'irdl.any_of' and 'irdl.all_of'"));
        }
        Ok(Some(if op.is(IsOp::DEF) {
            let text = op.attr("expected").map(|attr| attr_to_string(ctx, attr)).unwrap_or_default();
            Constraint::Is(text, OnceLock::new())
        } else if op.is(AnyOp::DEF) {
            Constraint::Any
        } else if op.is(AnyOfOp::DEF) {
            Constraint::AnyOf(numbered.used_by(op))
        } else if op.is(AllOfOp::DEF) {
            Constraint::AllOf(numbered.used_by(op))
        } else if op.is(ParametricOp::DEF) {
            self.named(op, Some(numbered.used_by(op)))?
        } else if op.is(BaseOp::DEF) {
            self.base(op)?
        } else {
            return Ok(None);
        }))
    }

    /// Reads a constraint that refers to a definition.
    fn named(&self, op: OpRef<'_>, parameters: Option<Vec<usize>>) -> Result<Constraint, Diagnostic> {
        let (dialect, own) = reference(op).unwrap_or_default();
        let name = format!("{dialect}.{own}");
        match self.types.get(&name) {
            Some(kind) => Ok(Constraint::Named { name, is_type: kind.is_type, parameters }),
            None => {
                let error = op_error(op, format!("symbol '{}' not found", reference_text(op)));
                Err(error.help("define the type or attribute in an 'irdl.dialect' of this file"))
            }
        }
    }

    /// Returns the types that a constraint accepts, as far as a table can say. The rule of the
    /// operation says the rest.
    fn type_constraint(&self, constraints: &Constraints, number: usize) -> TypeConstraint {
        match &constraints.0[number] {
            Constraint::Is(text, _) => well_known(text).map_or(TypeConstraint::Any, TypeConstraint::Exactly),
            Constraint::Named { name, is_type: true, .. } => {
                let has_parameters = self.types.get(name).is_none_or(|kind| kind.has_parameters);
                let name = Cow::Owned(name.clone());
                if has_parameters { TypeConstraint::Dialect(name) } else { TypeConstraint::Plain(name) }
            }
            Constraint::AnyOf(choices) => {
                let is_leaf = |own: &usize| {
                    matches!(constraints.0[*own], Constraint::Is(..) | Constraint::Named { .. })
                };
                if !choices.iter().all(is_leaf) {
                    return TypeConstraint::Any;
                }
                let types: Vec<TypeConstraint> =
                    choices.iter().map(|own| self.type_constraint(constraints, *own)).collect();
                match types.iter().any(|ty| matches!(ty, TypeConstraint::Any)) {
                    true => TypeConstraint::Any,
                    false => TypeConstraint::AnyOf(Cow::Owned(types)),
                }
            }
            _ => TypeConstraint::Any,
        }
    }

    /// Reads a constraint on the kind of an attribute or type.
    fn base(&self, op: OpRef<'_>) -> Result<Constraint, Diagnostic> {
        let ctx = op.ctx();
        let Some(name) = op.attr("base_name").and_then(|name| name.as_str(ctx)) else {
            return self.named(op, None);
        };
        if let Some(base) = builtin(name) {
            return Ok(Constraint::Builtin(base));
        }
        let (is_type, full) = (name.starts_with('!'), &name[1..]);
        let own = ctx.name(full);
        let is_known = match is_type {
            true => ctx.type_def(own).is_some(),
            false => ctx.struct_attr_def(own).is_some() || ctx.enum_def(own).is_some(),
        };
        if is_known {
            return Ok(Constraint::Named { name: full.to_owned(), is_type, parameters: None });
        }
        let what = if is_type { "type" } else { "attribute" };
        let error = op_error(op, format!("no registered {what} with name {name}"));
        Err(error.help("types of this file are named by reference: irdl.base @dialect::@type"))
    }

    /// Loads an operation.
    fn operation(&mut self, name: String, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let extensions = Extensions::of(op)?;
        let numbered = self.constraints(op)?;
        let mut def = OpDef::named(Cow::Owned(name.clone()), Cow::Owned(extensions.summary.clone()));
        let mut rule = Operation::default();
        let (operands, results) = (entries(op, OperandsOp::DEF), entries(op, ResultsOp::DEF));
        rule.operands = part(op, OperandsOp::DEF).map(|list| numbered.used_by(list)).unwrap_or_default();
        rule.results = part(op, ResultsOp::DEF).map(|list| numbered.used_by(list)).unwrap_or_default();
        let types = Types::of(&operands, &results, &rule, |number| {
            self.type_constraint(&numbered.constraints, number)
        });
        def.operands = types.entries(&operands, &rule.operands, 0);
        def.results = types.entries(&results, &rule.results, operands.len());
        rule.attributes = attributes(op, &numbered);
        let attrs = rule.attributes.iter().map(|(name, number)| AttrDef {
            name: Cow::Owned(name.clone()),
            constraint: attr_constraint(&numbered.constraints.0[*number]),
            presence: Presence::Required,
        });
        def.attrs = attrs.collect();
        let regions = regions(op, &numbered);
        def.regions = regions
            .iter()
            .map(|(name, _)| RegionDef {
                name: Cow::Owned(name.clone()),
                kind: RegionKind::Any,
                variadic: false,
                terminator: None,
            })
            .collect();
        rule.regions = regions.into_iter().map(|(_, rule)| rule).collect();
        rule.constraints = numbered.constraints;
        def.traits = extensions.traits;
        let is_segmented =
            |list: &[OperandDef]| list.iter().filter(|entry| entry.arity != Arity::One).count() > 1;
        if is_segmented(&def.operands) {
            def.traits = def.traits.with(Trait::AttrSizedOperandSegments);
        }
        if is_segmented(&def.results) {
            def.traits = def.traits.with(Trait::AttrSizedResultSegments);
        }
        def.format = extensions.format.clone().map(Cow::Owned);
        check_traits(op, &def)?;
        check_format(op, &def)?;
        self.meaning(op, &mut def, &extensions)?;
        self.registry.operation(def);
        self.registry.attach::<dyn OperationRule>(&name, Box::new(rule));
        Ok(())
    }

    /// Declares the effects and the meaning of an operation.
    fn meaning(&mut self, op: OpRef<'_>, def: &mut OpDef, extensions: &Extensions) -> Result<(), Diagnostic> {
        let declared = Declared::of(op, def, extensions)?;
        declared.attach(self.registry, def, &self.loaded.cell);
        if declared.has_meaning() {
            self.loaded.declared.push(declared);
        }
        if def.traits.has(Trait::ConstantLike) {
            self.loaded.constants.push(def.name.to_string());
        }
        Ok(())
    }
}

/// Returns the names and arities of a list of values, as entries that accept any type.
fn entries(op: OpRef<'_>, def: &'static OpDef) -> Vec<OperandDef> {
    let Some(list) = part(op, def) else { return Vec::new() };
    let arities = list.attr("variadicity").and_then(|attr| variadicities(op.ctx(), attr)).unwrap_or_default();
    let entry = |(name, arity): (&str, Arity)| OperandDef {
        name: Cow::Owned(name.to_owned()),
        arity,
        ty: TypeConstraint::Any,
    };
    texts(list, "names").into_iter().zip(arities).map(entry).collect()
}

/// The types that follow from constraints without the text saying them.
struct Types {
    /// For each operand and then each result the type's constraint.
    types: Vec<TypeConstraint>,
}

impl Types {
    /// Finds the types that are fixed, and those that are equal to another.
    fn of(
        operands: &[OperandDef],
        results: &[OperandDef],
        rule: &Operation,
        of_constraint: impl Fn(usize) -> TypeConstraint,
    ) -> Types {
        let mut first: HashMap<usize, &str> = HashMap::new();
        let mut types = Vec::new();
        let numbers = rule.operands.iter().chain(&rule.results);
        for (entry, number) in operands.iter().chain(results).zip(numbers) {
            types.push(match (of_constraint(*number), first.get(number)) {
                (ty @ (TypeConstraint::Exactly(_) | TypeConstraint::Plain(_)), _) => ty,
                (_, Some(name)) => TypeConstraint::SameAs(Cow::Owned((*name).to_owned())),
                (ty, None) => ty,
            });
            if entry.arity == Arity::One {
                first.entry(*number).or_insert(&entry.name);
            }
        }
        Types { types }
    }

    fn entries(
        &self,
        list: &[OperandDef],
        numbers: &[usize],
        from: usize,
    ) -> loomir_ir::opdef::List<OperandDef> {
        let types = self.types[from..].iter().take(numbers.len());
        list.iter().zip(types).map(|(entry, ty)| OperandDef { ty: ty.clone(), ..entry.clone() }).collect()
    }
}

/// Returns the type of this text if its handle is the same in each context.
fn well_known(text: &str) -> Option<Type> {
    let list = [
        ("index", Type::INDEX),
        ("none", Type::NONE),
        ("i1", Type::I1),
        ("i8", Type::I8),
        ("i16", Type::I16),
        ("i32", Type::I32),
        ("i64", Type::I64),
        ("f16", Type::F16),
        ("bf16", Type::BF16),
        ("f32", Type::F32),
        ("f64", Type::F64),
    ];
    list.into_iter().find(|(own, _)| *own == text).map(|(_, ty)| ty)
}

/// Returns the form of an attribute in assembly formats. The rule says which values it may have.
fn attr_constraint(constraint: &Constraint) -> AttrConstraint {
    match constraint {
        Constraint::Builtin(base) => match base.name {
            "builtin.string" => AttrConstraint::String,
            "builtin.symbol_ref" => AttrConstraint::Symbol,
            "builtin.unit" => AttrConstraint::Unit,
            _ => AttrConstraint::Any,
        },
        _ => AttrConstraint::Any,
    }
}

/// Returns the attributes of an operation with their constraints. Of two of one name the later
/// counts.
fn attributes(op: OpRef<'_>, numbered: &Numbered) -> Vec<(String, usize)> {
    let Some(list) = part(op, AttributesOp::DEF) else { return Vec::new() };
    let mut attributes: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (name, number) in texts(list, "attributeValueNames").into_iter().zip(numbered.used_by(list)) {
        match places.get(name) {
            Some(place) => attributes[*place].1 = number,
            None => {
                places.insert(name, attributes.len());
                attributes.push((name.to_owned(), number));
            }
        }
    }
    attributes
}

/// Returns the regions of an operation with their rules.
fn regions(op: OpRef<'_>, numbered: &Numbered) -> Vec<(String, RegionRule)> {
    let Some(list) = part(op, RegionsOp::DEF) else { return Vec::new() };
    let body = op.body();
    let rule = |value: Value| {
        let region = body.defining_op(value).map(|own| body.op_ref(own)).filter(|own| own.is(RegionOp::DEF));
        let Some(region) = region else { return RegionRule::default() };
        let is_constrained = region.attr("constrainedArguments").is_some();
        let blocks = region.attr("numberOfBlocks").and_then(|number| number.as_int(op.ctx()));
        RegionRule {
            arguments: is_constrained.then(|| numbered.used_by(region)),
            blocks: blocks.and_then(|number| usize::try_from(number).ok()),
        }
    };
    let names = texts(list, "names").into_iter().map(str::to_owned);
    names.zip(list.operands().map(rule)).collect()
}

/// Checks that the traits fit the rest of the definition.
fn check_traits(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    if def.traits.has(Trait::ReturnLike) && !def.traits.has(Trait::Terminator) {
        let error = op_error(op, "has the trait 'ReturnLike', and not 'IsTerminator'");
        return Err(error.help("add the trait 'IsTerminator'"));
    }
    if def.traits.has(Trait::IsolatedFromAbove) && def.regions.is_empty() {
        let error = op_error(op, "has the trait 'IsolatedFromAbove' and no regions");
        return Err(error.help("remove the trait, or add 'irdl.regions'"));
    }
    if def.traits.has(Trait::Terminator) && !def.results.is_empty() {
        let error = op_error(op, "has the trait 'IsTerminator' and results, which nothing can use");
        return Err(error.help("remove the results"));
    }
    check_symbol(op, def)?;
    check_constant(op, def)
}

/// Checks a definition with the trait `Symbol`.
fn check_symbol(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    if !def.traits.has(Trait::Symbol) {
        return Ok(());
    }
    let is_name = |own: &AttrDef| own.name == SYMBOL_NAME && matches!(own.constraint, AttrConstraint::String);
    if !def.attrs.iter().any(is_name) {
        let error = op_error(op, "has the trait 'Symbol' and no attribute 'sym_name' that is a string");
        let help = "add irdl.attributes {\"sym_name\" = %name}, with irdl.base \"#builtin.string\"";
        return Err(error.help(help));
    }
    if !def.results.is_empty() {
        let error = op_error(op, "has the trait 'Symbol', and results");
        return Err(error.help("remove the results: a symbol is used by its name"));
    }
    Ok(())
}

/// Checks a definition with the trait `ConstantLike`: its attribute `value` is its one result.
fn check_constant(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    if !def.traits.has(Trait::ConstantLike) {
        return Ok(());
    }
    let wrong = |what: &str, help: &str| {
        Err(op_error(op, format!("has the trait 'ConstantLike' and {what}")).help(help))
    };
    if !def.attrs.iter().any(|own| own.name == "value") {
        return wrong("no attribute 'value'", "add irdl.attributes {\"value\" = …}");
    }
    let is_one = def.results.len() == 1 && def.results[0].arity == Arity::One;
    if !is_one || !def.operands.is_empty() || !def.regions.is_empty() {
        return wrong("is not one result alone", "remove operands and regions, and keep one result");
    }
    if !def.traits.has(Trait::Pure) {
        return wrong("not the trait 'Pure'", "add the trait 'Pure'");
    }
    if op.attr("loomir.meaning").is_some() {
        return wrong("a meaning", "leave out 'loomir.meaning': the attribute 'value' is the result");
    }
    Ok(())
}

/// Checks the assembly format.
fn check_format(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    let checked = match def.has_known_names() {
        true => Format::parse(def, &[]).map(|_| ()),
        false => Err("a name is no operand, result, attribute or region".to_owned()),
    };
    match &def.format {
        Some(format) => checked.map_err(|why| {
            let end = if format.chars().nth(40).is_some() { "…" } else { "" };
            let message = format!("'loomir.format' \"{format:.40}{end}\" is wrong: {why}");
            op_error(op, message).help("the format is MLIR's: \"$lhs `,` $rhs attr-dict `:` type($lhs)\"")
        }),
        None => Ok(()),
    }
}
