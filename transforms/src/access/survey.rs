//! The survey of a module: the effects of each called function.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::func;
use loomir_dialects::llvm::attributes::LINKAGE;
use loomir_ir::pass::{Survey, Surveys};
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Block, Body, Name, Op};

use super::Analyses;
use super::base::AliasMode;
use super::callees::summary::{Arguments, MAX_CLASSES, Reason, Summary, Touched};
use super::callees::{Callees, callee};
use super::reader::Reader;

/// The effects of the functions directly inside a body.
pub static SURVEY: Survey = Survey { name: "callees", take: |body| Arc::new(Callees::of(body)) };

/// The surveys for passes that look at calls.
pub static SURVEYS: &[&Survey] = &[&SURVEY];

impl Callees {
    /// Returns the summaries of the functions around a body that a pass runs on.
    pub fn around(surveys: &Surveys) -> Arc<Callees> {
        surveys.get(&SURVEY).unwrap_or_default()
    }

    /// Summarises the called functions directly inside the root of `module`.
    pub fn of(module: &Body) -> Callees {
        let mut calls: HashMap<Name, Vec<Name>> = HashMap::new();
        let mut called = Vec::new();
        for op in module.all_ops() {
            let own: Vec<Name> = module.nested(op).map(called_in).unwrap_or_default();
            called.extend_from_slice(&own);
            if let Some(name) = symbol_name(module, op).filter(|_| !own.is_empty()) {
                calls.entry(name).or_insert(own);
            }
        }
        if called.is_empty() {
            return Callees::default();
        }
        // A name may be defined twice, for example in a nested symbol table. Such a name stays
        // unresolved.
        let mut functions: HashMap<Name, Option<Op>> = HashMap::new();
        for op in module.all_ops() {
            let Some(name) = symbol_name(module, op) else { continue };
            let is_one = module.is(op, func::FuncOp::DEF) && module.parent_op(op) == Some(module.root());
            let others = functions.contains_key(&name);
            functions.insert(name, Some(op).filter(|_| is_one && !others));
        }
        functions.retain(|_, op| op.is_some());
        let mut order = bottom_up(&called, &calls);
        order.retain(|name| functions.contains_key(name));
        // Until a summary is computed, the callers and callees of a function assume that it is
        // recursive.
        let unfinished = |name: &Name| (*name, Summary::unknown(Reason::Recursive));
        let callees = Callees { summaries: order.iter().map(unfinished).collect() };
        let mut analyses = Analyses::default().with_callees(&Arc::new(callees));
        for name in order {
            let function = functions.get(&name).copied().flatten();
            let summary = match function.and_then(|op| module.nested(op)) {
                Some(body) => Summary::of(body, &analyses),
                None => Summary::unknown(Reason::Declared),
            };
            Arc::make_mut(&mut analyses.callees).summaries.insert(name, summary);
        }
        Arc::unwrap_or_clone(analyses.callees)
    }
}

impl Summary {
    /// Summarises a function by its body. Callees without a summary touch the world.
    pub fn of(function: &Body, analyses: &Analyses) -> Summary {
        let region = function.own_regions(function.root()).next();
        let Some(entry) = region.and_then(|region| function.entry_block(region)) else {
            return Summary::unknown(Reason::Declared);
        };
        if is_replaceable(function) {
            return Summary::unknown(Reason::Replaceable);
        }
        let arguments = function.arguments(entry).enumerate().map(|(at, value)| (value, at)).collect();
        let touched = match region.and_then(|region| function.single_block(region)) {
            Some(block) => touched(function, block, &arguments, analyses),
            None => Err(Reason::Branches),
        };
        Summary { arguments, touched }
    }
}

/// True if the linker may put another function of this name in its place.
fn is_replaceable(function: &Body) -> bool {
    let linkage = function.attr(function.root(), "llvm.linkage");
    let is_kept = |linkage| {
        let word = LINKAGE.value(function.ctx(), linkage).and_then(|value| LINKAGE.text_of(value));
        word.is_some_and(|word| matches!(&*word, "external" | "internal" | "private"))
    };
    linkage.is_some_and(|linkage| !is_kept(linkage))
}

/// Returns the accesses of a function of one block, each class once.
fn touched(
    function: &Body,
    block: Block,
    arguments: &Arguments,
    analyses: &Analyses,
) -> Result<Vec<Touched>, Reason> {
    let mut reader = Reader::new(function, block, AliasMode::May, analyses).from_outside();
    let (mut all, mut seen) = (Vec::new(), HashSet::new());
    for op in function.ops(block) {
        let does = |op| Reason::Does(function.op_ref(op).name().to_owned(), function.loc(op));
        let effects = reader.effects(op, 0);
        if let Some(op) = effects.world {
            let called = analyses.callees.called_by(function, op);
            let recursive = called.is_some_and(|own| own.touched == Err(Reason::Recursive));
            return Err(if recursive { Reason::Recursive } else { does(op) });
        }
        for (class, op) in effects.classes {
            let own = Touched::of(&class, arguments).ok_or_else(|| does(op))?;
            if seen.insert(own.clone()) {
                all.push(own);
            }
        }
    }
    if all.len() > MAX_CLASSES {
        seen.clear();
        all = all.iter().map(Touched::whole).filter(|own| seen.insert(own.clone())).collect();
    }
    if all.len() > MAX_CLASSES { Err(Reason::TooMuch) } else { Ok(all) }
}

/// Returns the names of the functions that a function calls.
fn called_in(function: &Body) -> Vec<Name> {
    function.all_ops().filter_map(|op| callee(function, op)).collect()
}

/// Returns the called functions, callees first, except in recursive cycles.
fn bottom_up(called: &[Name], calls: &HashMap<Name, Vec<Name>>) -> Vec<Name> {
    let callees = |name: Name| calls.get(&name).map_or(&[][..], |own| own).iter();
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    for root in called {
        let mut stack = Vec::new();
        if seen.insert(*root) {
            stack.push((*root, callees(*root)));
        }
        while let Some((name, rest)) = stack.last_mut() {
            match rest.next() {
                Some(next) if seen.insert(*next) => stack.push((*next, callees(*next))),
                Some(_) => {}
                None => {
                    order.push(*name);
                    stack.pop();
                }
            }
        }
    }
    order
}
