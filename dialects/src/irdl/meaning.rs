//! The meaning of loaded operations: functions of the same file.
//!
//! `loomir.meaning = @f` says that an operation computes what `@f` computes of its operands, and of
//! its typed attributes behind them. [`lower`] replaces operations by the bodies of their
//! functions. This is how they are executed, and how they become code. Folding and memory effects
//! follow from the bodies too. An operation with the trait `ConstantLike` needs no function: its
//! attribute `value` is its result.
//!
//! A context owns the models of its operations, and a function needs a context. So the models hold
//! the functions weakly, and the caller of [`Meanings::new`] owns them. Without them an operation
//! has no meaning, and may do anything that it does not declare.
//!
//! **Invariants.** A function has one block, refers to no symbol, and no longer contains operations
//! with a meaning of the same file. Effects that an operation declares contain those of its
//! functions.
//!
//! **Cost.** A function has at most [`MAX_SIZE`] operations after all are replaced in it.

use std::sync::{Arc, OnceLock, Weak};

use hashbrown::HashMap;
use loomir_ir::opdef::{Folded, OpDef};
use loomir_ir::symbols::{SymbolUser, lookup};
use loomir_ir::verifier::op_error;
use loomir_ir::{
    Attr, Block, Body, Context, Diagnostic, Diagnostics, Import, Loc, Op, OpRef, OperationState, Registry,
    Trait, Type, Value,
};

use super::extensions::{DeclaredEffects, Extensions, Storage};
use super::verify::symbol;
use super::{DialectOp, OperationOp, TypeOp};
use crate::interfaces::{CallLike, Effect, EffectKind, MemoryEffects, Resource};
use crate::pdl::{self, LoadedPattern};
use crate::{arith, func};
use effects::FunctionEffects;
use storage::Storages;

pub(super) mod constants;
mod effects;
mod storage;

/// The most operations that a function has after all operations with a meaning are replaced in it.
pub const MAX_SIZE: usize = 10_000;

/// The place of the meanings of a file.
#[derive(Clone, Debug, Default)]
pub struct MeaningCell(Arc<OnceLock<Weak<Meanings>>>);

impl MeaningCell {
    fn get(&self) -> Option<Arc<Meanings>> {
        self.0.get().and_then(Weak::upgrade)
    }
}

/// The dialects that were loaded from one file.
#[derive(Debug, Default)]
pub struct Loaded {
    /// The names of the dialects.
    pub dialects: Vec<String>,
    /// The operations with the trait `ConstantLike`, by their full names.
    pub constants: Vec<String>,
    /// The operations with a meaning.
    pub declared: Vec<Declared>,
    /// The types with a storage, by their full names.
    pub storages: Vec<(String, Storage)>,
    /// The place of the meanings, which are filled in when there is a context.
    pub cell: MeaningCell,
}

/// The declarations of an operation about its effects and meaning.
#[derive(Clone, Debug)]
pub struct Declared {
    name: String,
    functions: Vec<String>,
    effects: Option<DeclaredEffects>,
    is_pure: bool,
    /// The names of the operands and attributes, in the order of a function's arguments.
    operands: Vec<String>,
    attributes: Vec<String>,
}

impl Declared {
    /// Reads the declarations in the definition `op`, and checks them against its table.
    pub(super) fn of(op: OpRef<'_>, def: &OpDef, extensions: &Extensions) -> Result<Declared, Diagnostic> {
        let names = |list: &[loomir_ir::opdef::OperandDef]| -> Vec<String> {
            list.iter().map(|entry| entry.name.to_string()).collect()
        };
        let declared = Declared {
            name: def.name.to_string(),
            functions: extensions.meaning.clone(),
            effects: extensions.effects.clone(),
            is_pure: def.traits.has(Trait::Pure),
            operands: names(&def.operands),
            attributes: def.attrs.iter().map(|attr| attr.name.to_string()).collect(),
        };
        let results = names(&def.results);
        let is_value = |name: &String| declared.operands.contains(name) || results.contains(name);
        let effects = declared.effects.iter().flat_map(|own| &own.effects);
        if let Some((_, name)) = effects.clone().find(|(_, name)| !is_value(name)) {
            let error = op_error(op, format!("'loomir.effects' names '{name}', which it does not have"));
            return Err(error.help("name an operand or a result"));
        }
        if declared.is_pure && effects.count() > 0 {
            let error = op_error(op, "has memory effects and the trait 'Pure'");
            return Err(error.help("remove the trait, or the effects"));
        }
        if declared.is_pure && declared.effects.as_ref().is_some_and(|own| own.may_be_undefined) {
            let error = op_error(op, "may be undefined, and has the trait 'Pure'");
            return Err(error.help("remove the trait: pure operations run where they would not have run"));
        }
        if declared.has_meaning() && (!def.regions.is_empty() || def.traits.has(Trait::Terminator)) {
            let error = op_error(op, "has a meaning, and regions or the trait 'IsTerminator'");
            return Err(error.help("only operations without regions that end no block can have a meaning"));
        }
        Ok(declared)
    }

    /// True if functions say what the operation computes.
    pub(super) fn has_meaning(&self) -> bool {
        !self.functions.is_empty()
    }

    /// Attaches the models that follow.
    pub(super) fn attach(&self, registry: &mut Registry, def: &mut OpDef, cell: &MeaningCell) {
        if self.effects.is_none() && !self.has_meaning() {
            return;
        }
        if self.has_meaning() && self.is_pure {
            def.fold = Some(fold);
        }
        let model = LoadedEffects { declared: self.clone(), cell: cell.clone() };
        registry.attach::<dyn MemoryEffects>(&self.name, Box::new(model));
    }
}

/// The effects of a loaded operation: those it declares, or those of its function.
struct LoadedEffects {
    declared: Declared,
    cell: MeaningCell,
}

impl LoadedEffects {
    /// Asks the function of an operation. Without a function the answer is `worst`.
    fn ask<T>(&self, op: OpRef<'_>, worst: T, answer: impl FnOnce(&FunctionEffects) -> T) -> T {
        let meanings = self.cell.get();
        let function = meanings.as_ref().and_then(|own| own.function_of(op));
        function.map_or(worst, |function| answer(&function.effects))
    }
}

impl MemoryEffects for LoadedEffects {
    fn effects(&self, op: OpRef<'_>) -> Vec<Effect> {
        let world = || {
            let kinds = [EffectKind::Read, EffectKind::Write, EffectKind::Allocate, EffectKind::Free];
            kinds.map(|kind| Effect { kind, on: Resource::World }).to_vec()
        };
        if self.declared.is_pure {
            return Vec::new();
        }
        if let Some(declared) = &self.declared.effects {
            let values = |name: &str| op.operand_group(name).into_iter().chain(op.result_group(name));
            let on = |(kind, name): &(EffectKind, String)| {
                let kind = *kind;
                values(name).map(move |value| Effect { kind, on: Resource::Value(value) }).collect::<Vec<_>>()
            };
            return declared.effects.iter().flat_map(on).collect();
        }
        self.ask(op, world(), |effects| {
            if effects.is_unknown {
                return world();
            }
            let operands = effects.on_arguments.iter().filter(|(_, at)| *at < op.num_operands());
            operands.map(|(kind, at)| Effect { kind: *kind, on: Resource::Value(op.operand(*at)) }).collect()
        })
    }

    fn may_not_return(&self, op: OpRef<'_>) -> bool {
        let is_declared = self.declared.is_pure || self.declared.effects.is_some();
        !is_declared && self.ask(op, true, |effects| effects.may_not_return)
    }

    fn may_be_undefined(&self, op: OpRef<'_>) -> bool {
        let declared = self.declared.effects.as_ref();
        declared.is_some_and(|own| own.may_be_undefined)
            || self.declared.has_meaning() && self.ask(op, true, |effects| effects.may_be_undefined)
    }
}

/// A function that says what an operation computes for some types.
#[derive(Debug)]
struct Function {
    /// Its name.
    name: String,
    loc: Loc,
    body: Body,
    /// Types of arguments and results, as they are written.
    inputs: Vec<Type>,
    results: Vec<Type>,
    effects: FunctionEffects,
}

impl Function {
    fn entry(&self) -> Option<Block> {
        entry(&self.body)
    }
}

fn entry(body: &Body) -> Option<Block> {
    body.own_regions(body.root()).next().and_then(|region| body.entry_block(region))
}

/// An operation with a meaning.
#[derive(Debug)]
struct Operation {
    declared: Declared,
    /// The numbers of its functions.
    functions: Vec<usize>,
}

/// The meanings of the operations of one file. Operations forget them when this is dropped.
#[derive(Debug)]
pub struct Meanings {
    functions: Vec<Function>,
    operations: HashMap<String, Operation>,
    /// The names of the operations that are constants, sorted.
    constants: Vec<String>,
    storages: Storages,
    patterns: Vec<LoadedPattern>,
}

impl Meanings {
    /// Returns the patterns of the file.
    pub fn patterns(&self) -> &[LoadedPattern] {
        &self.patterns
    }

    /// Makes the meanings of what was loaded: `module` is the whole file, read and verified in the
    /// context that knows it.
    ///
    /// # Errors
    /// Functions that cannot be meanings.
    pub fn new(module: &Body, loaded: &Loaded) -> Result<Arc<Meanings>, Diagnostics> {
        let ctx = module.ctx();
        let mut builder = Builder { module, locs: locations(module), errors: Diagnostics::new() };
        let place = |name: &String| builder.locs.get(name).copied().unwrap_or(Loc::UNKNOWN);
        let storages = Storages::of(ctx, &loaded.storages)
            .map_err(|wrong| Diagnostics::from(wrong.diagnostic(place(&wrong.name))))?;
        let patterns = pdl::compile(module)?;
        let mut constants = loaded.constants.clone();
        constants.sort();
        let mut meanings =
            Meanings { functions: Vec::new(), operations: HashMap::new(), constants, storages, patterns };
        for declared in &loaded.declared {
            builder.operation(&mut meanings, declared);
        }
        if !builder.errors.has_errors() {
            builder.expand(&mut meanings);
        }
        if !builder.errors.has_errors() {
            builder.check_effects(&mut meanings);
        }
        if builder.errors.has_errors() {
            return Err(builder.errors);
        }
        let meanings = Arc::new(meanings);
        // A second file with this cell does not exist.
        let _ = loaded.cell.0.set(Arc::downgrade(&meanings));
        Ok(meanings)
    }

    /// Returns the number of the function for the types of an operation.
    fn number_of(&self, op: OpRef<'_>) -> Option<usize> {
        let operation = self.operations.get(op.name())?;
        let ctx = op.ctx();
        let mut inputs: Vec<Type> = op.operands().map(|value| op.type_of(value)).collect();
        inputs.extend(arguments(op, &operation.declared).map_while(|attr| attr.ty(ctx)));
        let results: Vec<Type> = op.results().map(|value| op.type_of(value)).collect();
        let is_exact = |at: &&usize| {
            let function = &self.functions[**at];
            is_prefix(&function.inputs, &inputs, op.num_operands()) && function.results == results
        };
        let lowered =
            |types: &[Type]| -> Vec<Type> { types.iter().map(|ty| self.storages.lower(ctx, *ty)).collect() };
        let (low_inputs, low_results) = (lowered(&inputs), lowered(&results));
        let is_equal = |at: &&usize| {
            let function = &self.functions[**at];
            is_prefix(&lowered(&function.inputs), &low_inputs, op.num_operands())
                && lowered(&function.results) == low_results
        };
        let mut numbers = operation.functions.iter();
        numbers.clone().find(is_exact).or_else(|| numbers.find(is_equal)).copied()
    }

    fn function_of(&self, op: OpRef<'_>) -> Option<&Function> {
        self.number_of(op).map(|at| &self.functions[at])
    }

    /// Replaces an operation by the body of a function.
    fn replace(&self, body: &mut Body, op: Op, function: &Function) {
        let Some((block, end)) = function.entry().and_then(|b| Some((b, function.body.last_op(b)?))) else {
            return;
        };
        let loc = body.loc(op);
        let mut values: Vec<Value> = body.operands(op).collect();
        let wanted = function.body.num_arguments(block);
        if let Some(operation) = self.operations.get(body.op_ref(op).name()) {
            let rest: Vec<Attr> = arguments(body.op_ref(op), &operation.declared).collect();
            for attr in rest.into_iter().take(wanted.saturating_sub(values.len())) {
                values.push(constant(body, op, attr));
            }
        }
        let mut import = Import::new(&function.body);
        for (argument, value) in function.body.arguments(block).zip(values) {
            import.map(argument, value);
        }
        import.ops_before(body, block, op, &mut |_| loc);
        let computed: Vec<Option<Value>> =
            function.body.operands(end).map(|value| import.value(value)).collect();
        let results: Vec<Value> = body.results(op).collect();
        for (result, value) in results.into_iter().zip(computed) {
            if let Some(value) = value {
                body.replace_all_uses(result, value);
            }
        }
        body.erase(op);
    }
}

/// Makes an `arith.constant` before an operation. Its type is the attribute's.
fn constant(body: &mut Body, before: Op, attr: Attr) -> Value {
    let ctx = body.ctx().clone();
    let ty = attr.ty(&ctx).unwrap_or(Type::NONE);
    let state = OperationState::of(&ctx, arith::ConstantOp::DEF, body.loc(before));
    let op = body.create(state.attr(&ctx, "value", attr).results(&[ty]));
    body.insert_before(before, op);
    body.result(op, 0)
}

/// Returns the attributes of an operation that are arguments of its functions, if they have types.
fn arguments<'o>(op: OpRef<'o>, declared: &'o Declared) -> impl Iterator<Item = Attr> + 'o {
    declared.attributes.iter().filter_map(move |name| op.attr(name))
}

/// True if a function takes all operands, and then some or none of the attributes.
fn is_prefix(function: &[Type], inputs: &[Type], operands: usize) -> bool {
    function.len() >= operands && inputs.starts_with(function)
}

/// Returns the places of the operations and types that a file defines.
fn locations(module: &Body) -> HashMap<String, Loc> {
    let mut locs = HashMap::new();
    for dialect in module.all_ops().filter_map(|op| module.nested(op)) {
        if !dialect.is(dialect.root(), DialectOp::DEF) {
            continue;
        }
        let is_named = |op: &Op| [OperationOp::DEF, TypeOp::DEF].iter().any(|def| dialect.is(*op, def));
        for op in dialect.all_ops().filter(is_named) {
            let name = format!("{}.{}", symbol(dialect.root_ref()), symbol(dialect.op_ref(op)));
            locs.insert(name, dialect.loc(op));
        }
    }
    locs
}

struct Builder<'m> {
    module: &'m Body,
    locs: HashMap<String, Loc>,
    errors: Diagnostics,
}

impl Builder<'_> {
    /// Adds the functions of an operation.
    fn operation(&mut self, meanings: &mut Meanings, declared: &Declared) {
        let loc = self.locs.get(&declared.name).copied().unwrap_or(Loc::UNKNOWN);
        let mut numbers = Vec::new();
        for name in &declared.functions {
            match self.function(name, declared, loc) {
                Ok(function) => {
                    let known = meanings.functions.iter().position(|own| own.name == function.name);
                    numbers.push(known.unwrap_or(meanings.functions.len()));
                    if known.is_none() {
                        meanings.functions.push(function);
                    }
                }
                Err(error) => self.errors.push(error),
            }
        }
        let operation = Operation { declared: declared.clone(), functions: numbers };
        meanings.operations.insert(declared.name.clone(), operation);
    }

    /// Reads and checks a function.
    fn function(&self, name: &str, declared: &Declared, loc: Loc) -> Result<Function, Diagnostic> {
        let ctx = self.module.ctx();
        let found = lookup(self.module, name).and_then(|op| self.module.nested(op));
        let Some(body) = found.filter(|body| body.is(body.root(), func::FuncOp::DEF)) else {
            let error =
                Diagnostic::error(loc, format!("'{}': the file has no function '@{name}'", declared.name));
            return Err(error.help("define it beside 'irdl.dialect', with 'func.func'"));
        };
        let wrong = |loc: Loc, what: &str, help: &str| {
            Diagnostic::error(loc, format!("'@{name}' cannot be the meaning of '{}': {what}", declared.name))
                .help(help)
        };
        let own = body.loc(body.root());
        let Some(block) = entry(body) else {
            return Err(wrong(own, "it has no body", "write the body"));
        };
        if body.own_regions(body.root()).any(|region| body.blocks(region).nth(1).is_some()) {
            return Err(wrong(
                own,
                "it has several blocks",
                "use 'scf.if' and 'scf.for' in place of branches",
            ));
        }
        for op in body.all_ops().filter(|op| *op != body.root()).map(|op| body.op_ref(op)) {
            let info = op.info();
            if info.interface::<dyn CallLike>().is_some() || info.interface::<dyn SymbolUser>().is_some() {
                let what = format!("'{}' refers to a symbol", op.name());
                return Err(wrong(op.loc(), &what, "write the body of the function in place of the call"));
            }
            if body.nested(op.op()).is_some() {
                let what = format!("'{}' is isolated from it", op.name());
                return Err(wrong(op.loc(), &what, "leave the operation out"));
            }
        }
        let signature = body.root_ref().attr("function_type").and_then(|attr| attr.as_type(ctx));
        let (inputs, results) = signature.and_then(|ty| ty.function(ctx)).unwrap_or_default();
        debug_assert_eq!(inputs.len(), body.num_arguments(block));
        Ok(Function {
            name: name.to_owned(),
            loc: own,
            body: body.duplicate(),
            inputs: inputs.to_vec(),
            results: results.to_vec(),
            effects: FunctionEffects::default(),
        })
    }

    /// Replaces operations with a meaning in all functions, those without first.
    fn expand(&mut self, meanings: &mut Meanings) {
        // All types are looked at before any changes.
        let uses: Vec<Vec<(Op, usize)>> = meanings
            .functions
            .iter()
            .map(|function| {
                let body = &function.body;
                body.all_ops().filter_map(|op| Some((op, meanings.number_of(body.op_ref(op))?))).collect()
            })
            .collect();
        let Some(order) = self.order(meanings, &uses) else { return };
        let ctx = self.module.ctx();
        for function in &mut meanings.functions {
            constants::lower(&meanings.constants, &meanings.storages, &mut function.body, &mut self.errors);
            meanings.storages.lower_body(ctx, &mut function.body);
        }
        for at in order {
            let sizes = uses[at].iter().map(|(_, used)| meanings.functions[*used].body.all_ops().count());
            let size: usize = sizes.sum::<usize>() + meanings.functions[at].body.all_ops().count();
            if size > MAX_SIZE {
                let function = &meanings.functions[at];
                let message = format!("'@{}' has more than {MAX_SIZE} operations", function.name);
                let note = "operations with a meaning count as the bodies of their functions";
                return self.errors.push(Diagnostic::error(function.loc, message).help(note));
            }
            // A snapshot has the handles of the original, which it replaces.
            let mut body = meanings.functions[at].body.snapshot();
            for (op, used) in &uses[at] {
                meanings.replace(&mut body, *op, &meanings.functions[*used]);
            }
            meanings.functions[at].body = body;
        }
    }

    /// Returns the functions in an order in which each comes behind those it uses. `None` after an
    /// error.
    fn order(&mut self, meanings: &Meanings, uses: &[Vec<(Op, usize)>]) -> Option<Vec<usize>> {
        let mut state = vec![State::New; uses.len()];
        let mut order = Vec::new();
        for root in 0..uses.len() {
            let mut stack = vec![(root, 0)];
            while let Some((at, next)) = stack.pop() {
                if next == 0 && state[at] != State::New {
                    continue;
                }
                state[at] = State::Open;
                let Some((op, used)) = uses[at].get(next) else {
                    state[at] = State::Done;
                    order.push(at);
                    continue;
                };
                if state[*used] == State::Open {
                    let function = &meanings.functions[at];
                    let (name, own) = (function.body.op_ref(*op).name(), &function.name);
                    let message = format!("the meaning of '{name}' in '@{own}' is recursive");
                    let error = Diagnostic::error(function.body.loc(*op), message);
                    self.errors
                        .push(error.help("a meaning uses other operations; use a loop in place of itself"));
                    return None;
                }
                stack.push((at, next + 1));
                if state[*used] == State::New {
                    stack.push((*used, 0));
                }
            }
        }
        Some(order)
    }

    /// Finds the effects of all functions, and compares them with those declared.
    fn check_effects(&mut self, meanings: &mut Meanings) {
        for function in &mut meanings.functions {
            function.effects = FunctionEffects::of(&function.body);
        }
        let operations: Vec<&Declared> = {
            let mut all: Vec<_> = meanings.operations.values().map(|own| &own.declared).collect();
            all.sort_by(|a, b| a.name.cmp(&b.name));
            all
        };
        for declared in operations {
            for at in &meanings.operations[&declared.name].functions {
                let function = &meanings.functions[*at];
                if let Some(what) = function.effects.undeclared(declared) {
                    let message =
                        format!("'{}' does not declare that '@{}' {what}", declared.name, function.name);
                    let help = match declared.is_pure {
                        true => "declare all effects in 'loomir.effects', in place of the trait 'Pure'",
                        false => "declare all effects in 'loomir.effects'",
                    };
                    self.errors.push(Diagnostic::error(function.loc, message).help(help));
                }
            }
        }
    }
}

/// The progress of a function in a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Open,
    Done,
}

/// Folds an operation with a meaning, all of whose operands are constants.
fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<Vec<Folded>> {
    let ctx = op.ctx();
    let meanings = files(ctx).find(|own| own.operations.contains_key(op.name()))?;
    let function = meanings.function_of(op)?;
    let body = &function.body;
    let block = function.entry()?;
    let mut known: HashMap<Value, Attr> = HashMap::new();
    let operation = meanings.operations.get(op.name())?;
    let values = constants.iter().copied().chain(arguments(op, &operation.declared).map(Some));
    for (argument, value) in body.arguments(block).zip(values) {
        let is_stored = |value: &Attr| value.ty(ctx) == Some(body.value_type(argument));
        known.insert(argument, value.filter(is_stored)?);
    }
    let end = body.last_op(block)?;
    for inner in body.ops(block).filter(|inner| *inner != end).map(|inner| body.op_ref(inner)) {
        let folded = if inner.info().has_trait(Trait::ConstantLike) {
            vec![Folded::Constant(inner.attr("value")?)]
        } else {
            let operands: Vec<Option<Attr>> = inner.operands().map(|v| known.get(&v).copied()).collect();
            (inner.def()?.fold?)(inner, &operands)?
        };
        for (result, folded) in inner.results().zip(folded) {
            let attr = match folded {
                Folded::Constant(attr) => attr,
                Folded::Value(value) => *known.get(&value)?,
            };
            known.insert(result, attr);
        }
    }
    body.operands(end).map(|value| known.get(&value).copied().map(Folded::Constant)).collect()
}

/// Returns the meanings of all files that a context knows and somebody owns.
pub fn files(ctx: &Context) -> impl Iterator<Item = Arc<Meanings>> + '_ {
    ctx.tables::<MeaningCell>().filter_map(MeaningCell::get)
}

/// True if operations or types of a context were loaded with a meaning.
pub fn has_meanings(ctx: &Context) -> bool {
    files(ctx).next().is_some()
}

/// Replaces the operations of a module that have a meaning by it, and types by their storage.
/// Returns the number of operations replaced.
///
/// # Errors
/// Operations for whose types there is no function.
pub fn lower(module: &mut Body) -> Result<usize, Diagnostics> {
    let ctx = module.ctx().clone();
    let files: Vec<Arc<Meanings>> = files(&ctx).collect();
    let mut errors = Diagnostics::new();
    let mut count = 0;
    // A file may use the operations of those before it.
    for meanings in files.iter().rev() {
        module.for_each_body(&mut |body| {
            count += constants::lower(&meanings.constants, &meanings.storages, body, &mut errors);
            let ops: Vec<Op> = body.all_ops().collect();
            let uses: Vec<(Op, Option<usize>)> = ops
                .into_iter()
                .filter(|op| meanings.operations.contains_key(body.op_ref(*op).name()))
                .map(|op| (op, meanings.number_of(body.op_ref(op))))
                .collect();
            for (op, number) in uses {
                match number {
                    Some(at) => meanings.replace(body, op, &meanings.functions[at]),
                    None => errors.push(without_function(body.op_ref(op))),
                }
                count += 1;
            }
        });
    }
    if errors.has_errors() {
        return Err(errors);
    }
    for meanings in &files {
        module.for_each_body(&mut |body| meanings.storages.lower_body(&ctx, body));
    }
    Ok(count)
}

fn without_function(op: OpRef<'_>) -> Diagnostic {
    let ctx = op.ctx();
    let types: Vec<String> =
        op.operands().map(|value| loomir_ir::text::type_to_string(ctx, op.type_of(value))).collect();
    let error = op_error(op, format!("has no meaning for operands of type ({})", types.join(", ")));
    error.help("add a function for these types to 'loomir.meaning'")
}
