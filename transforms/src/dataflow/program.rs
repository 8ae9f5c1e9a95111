//! A program as data-flow analyses see it: its bodies, and the calls between its functions.
//!
//! The callers of a function are known if it is private and no attribute names it except as the
//! callee of calls. Everything else may be called from anywhere with any arguments.
//!
//! **Assumptions.**
//! - A function that nothing outside may replace has the body that is written: its linkage, if it
//!   has one, is `external`, `internal` or `private`. Tried in `fixtures/simplify/sccp.mlir`.
//!
//! **Cost.** Linear in the operations and their attributes.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::control::is_unreachable;
use loomir_dialects::interfaces::{CallLike, FunctionLike};
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_ir::pass::LeftAlone;
use loomir_ir::symbols::{SYMBOL_VISIBILITY, symbol_name};
use loomir_ir::{Attr, Block, Body, Name, Op, Trait, Value};

use crate::marks::THREADS;
use crate::references::References;

/// The number of a body in a [`Program`]: bodies are in the order of
/// [`Body::for_each_body`].
pub type Unit = usize;

/// The bodies of a program, with the calls between its functions.
pub struct Program<'b> {
    units: Vec<UnitData<'b>>,
    /// The called function of each call that is resolved.
    callees: HashMap<(Unit, Op), Unit>,
}

struct UnitData<'b> {
    body: &'b Body,
    /// True if no pass may change the body.
    is_left_alone: bool,
    /// The function, if the body is that of one with known returns.
    function: Option<Function>,
}

/// A function whose body is known.
#[derive(Clone, Debug)]
pub struct Function {
    /// The entry block, whose arguments are those of the function.
    pub entry: Block,
    /// The terminators that give results to the caller.
    pub returns: Vec<Op>,
    /// The calls that are resolved.
    pub calls: Vec<(Unit, Op)>,
    /// True if there are no other calls.
    pub has_all_calls: bool,
}

impl<'b> Program<'b> {
    /// Collects the bodies in `root`, which is the first. Linear.
    pub fn of(root: &'b Body) -> Program<'b> {
        let mut program = Program { units: Vec::new(), callees: HashMap::new() };
        let mut tables: HashMap<(Unit, Name), Unit> = HashMap::new();
        // The nearest symbol table around each body, or the body itself if it is one.
        let mut table_of: Vec<Option<Unit>> = Vec::new();
        let mut stack = vec![(root, None)];
        while let Some((body, table)) = stack.pop() {
            let unit = program.units.len();
            if let Some(table) = table
                && let Some(name) = symbol_name(body, body.root())
            {
                tables.entry((table, name)).or_insert(unit);
            }
            let view = body.root_ref();
            let is_left_alone =
                view.info().interface::<dyn LeftAlone>().is_some_and(|model| model.is_left_alone(view));
            let own = if body.has_trait(body.root(), Trait::SymbolTable) { Some(unit) } else { table };
            table_of.push(own);
            let function = Function::of(body).filter(|_| !is_left_alone);
            program.units.push(UnitData { body, is_left_alone, function });
            let mark = stack.len();
            stack.extend(body.all_ops().filter_map(|op| body.nested(op)).map(|nested| (nested, own)));
            stack[mark..].reverse();
        }
        program.resolve(&tables, &table_of);
        program
    }

    /// Finds the calls of each function.
    fn resolve(&mut self, tables: &HashMap<(Unit, Name), Unit>, table_of: &[Option<Unit>]) {
        let mut references = References::new(self.units[0].body.ctx());
        let mut named: HashSet<Name> = HashSet::new();
        for (unit, table) in table_of.iter().enumerate() {
            let UnitData { body, is_left_alone, .. } = self.units[unit];
            let own = std::iter::once(body.root());
            for op in own.chain(body.all_ops().filter(|op| body.nested(*op).is_none())) {
                let mut attributes: Vec<Attr> = [body.properties(op), body.attributes(op)]
                    .into_iter()
                    .flat_map(|dict| dict.entries(body.ctx()))
                    .map(|(_, attr)| *attr)
                    .collect();
                if let Some(callee) = callee(body, op)
                    && let Some(name) = callee.as_flat_symbol(body.ctx())
                    && let Some(table) = *table
                    && let Some(to) = tables.get(&(table, name)).copied()
                    && !is_left_alone
                    && let Some(at) = attributes.iter().position(|attr| *attr == callee)
                    && let Some(function) = &mut self.units[to].function
                {
                    attributes.swap_remove(at);
                    function.calls.push((unit, op));
                    self.callees.insert((unit, op), to);
                }
                references.search(attributes, &mut |root, nested| {
                    named.insert(root);
                    named.extend(nested);
                });
            }
        }
        for unit in 1..self.units.len() {
            let UnitData { body, function, .. } = &self.units[unit];
            let Some(function) = function else { continue };
            let is_named = symbol_name(body, body.root()).is_none_or(|name| named.contains(&name));
            let arguments = body.num_arguments(function.entry);
            let fits = function.calls.iter().all(|(caller, call)| {
                let caller = self.units[*caller].body;
                let results = caller.num_results(*call);
                call_arguments(caller, *call).len() == arguments
                    && function.returns.iter().all(|end| body.num_operands(*end) == results)
            });
            // Its wrapper for C is made later, and calls it.
            let has_wrapper = body.attr(body.root(), "llvm.emit_c_interface").is_some();
            let has_all_calls = is_private(body) && !is_named && !has_wrapper && fits;
            if let Some(function) = &mut self.units[unit].function {
                function.has_all_calls = has_all_calls;
            }
        }
    }

    /// Returns the bodies by number.
    pub fn units(&self) -> std::ops::Range<Unit> {
        0..self.units.len()
    }

    /// Returns a body.
    pub fn body(&self, unit: Unit) -> &'b Body {
        self.units[unit].body
    }

    /// True if no pass may change a body.
    pub fn is_left_alone(&self, unit: Unit) -> bool {
        self.units[unit].is_left_alone
    }

    /// Returns the function that a body is, if its returns are known.
    pub fn function(&self, unit: Unit) -> Option<&Function> {
        self.units[unit].function.as_ref()
    }

    /// Returns the function that an operation calls, if that is known.
    pub fn callee(&self, unit: Unit, op: Op) -> Option<Unit> {
        self.callees.get(&(unit, op)).copied()
    }
}

/// Returns the symbol that an operation calls. `None` if control may return to another place, or if
/// calls with other operands may take its place.
fn callee(body: &Body, op: Op) -> Option<Attr> {
    let view = body.op_ref(op);
    if view.successors().len() > 0 || view.regions().len() > 0 || view.attr(THREADS).is_some() {
        return None;
    }
    body.info(op).interface::<dyn CallLike>()?.callee(body.op_ref(op))
}

/// Returns the arguments of a call.
pub fn call_arguments(body: &Body, op: Op) -> Vec<Value> {
    let model = body.info(op).interface::<dyn CallLike>();
    model.map_or_else(Vec::new, |model| model.arguments(body.op_ref(op)))
}

fn is_private(body: &Body) -> bool {
    let visibility = body.attr(body.root(), SYMBOL_VISIBILITY);
    visibility.and_then(|attr| attr.as_str(body.ctx())) == Some("private")
}

impl Function {
    /// Returns the function that a body is. `None` if something else may take its place, or if it
    /// may end in an unknown way.
    fn of(body: &Body) -> Option<Function> {
        let view = body.root_ref();
        let model = view.info().interface::<dyn FunctionLike>()?;
        let region = model.body(view);
        let entry = body.entry_block(region)?;
        let linkage = view.attr("linkage").or(view.attr("llvm.linkage"));
        let linkage = linkage.and_then(|attr| LINKAGE.value(body.ctx(), attr));
        let linkage = linkage.and_then(|linkage| LINKAGE.text_of(linkage));
        let is_exact = linkage.is_none_or(|name| matches!(&*name, "external" | "internal" | "private" | ""));
        if !is_exact || model.is_variadic(view) || view.regions().len() != 1 {
            return None;
        }
        let mut returns = Vec::new();
        for block in body.blocks(region) {
            let end = body.op_ref(body.terminator(block)?);
            if end.successors().len() > 0 || is_unreachable(end) {
                continue;
            }
            if !end.info().has_trait(Trait::ReturnLike) {
                return None;
            }
            returns.push(end.op());
        }
        Some(Function { entry, returns, calls: Vec::new(), has_all_calls: false })
    }
}
