//! What functions touch, known to their callers.
//!
//! A call does what the function does that is called. The [`Summary`] of a function says what that is: which arguments and globals it reads and writes, and
//! which elements of them, as affine forms over its arguments; where it is called these become the forms of the operands. Memory that it makes itself is
//! not in it: nobody can know it before the call, and who does afterwards was told by what the call returned or wrote. A function of which more is
//! not known touches the world, as does one that may not return; why is kept, to be said.
//!
//! **Functions that change meanwhile.** [`SURVEY`] is taken before passes run on functions in parallel, and says of each what it touched then. That holds
//! on: for whoever calls it, a function is one step from what memory holds before to what it holds behind, and no pass changes what that step
//! computes. A step that depends on no element but those, and changes none but those, may change places with others for that reason alone,
//! whatever it touches on the way.
//!
//! # Assumptions
//!
//! - A name that is defined twice, or whose linkage lets others replace it, touches the world. No
//!   function is known by its name alone. Tried with a function of a module inside another one.
//!
//! **Cost.** Each function is looked at twice, once for what it calls and, if somebody calls it, once for what it touches, those that it calls first;
//! a summary has at most [`MAX_CLASSES`](summary::MAX_CLASSES) classes. A module without calls costs a look at each of its operations.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::func;
use loomir_dialects::interfaces::CallLike;
use loomir_ir::pass::{Survey, Surveys};
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Body, Diagnostic, Name, Op};

use crate::analyses::Analyses;
use summary::{Reason, Summary};

pub mod summary;

/// What the functions touch that stand directly inside a body.
pub static SURVEY: Survey = Survey { name: "callees", take: |body| Arc::new(Callees::of(body)) };

/// What passes ask for that look at calls.
pub static SURVEYS: &[&Survey] = &[&SURVEY];

/// What functions touch, by their names: of those that are called. Of none, where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Callees {
    summaries: HashMap<Name, Summary>,
}

impl Callees {
    /// What was found of the functions around a body that a pass runs on.
    pub fn around(surveys: &Surveys) -> Arc<Callees> {
        surveys.get(&SURVEY).unwrap_or_default()
    }

    /// The functions directly inside the root of `module` that are called there.
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
        // Of a name that there is twice, in a scope of its own for one, it is not known whose it is.
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
        // Until it is known what a function does, those that call it and are called by it take it to call itself.
        let unfinished = |name: &Name| (*name, Summary::unknown(Reason::Recursive));
        let callees = Callees { summaries: order.iter().map(unfinished).collect() };
        let mut analyses = Analyses::default().knowing(&Arc::new(callees));
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

    /// What is known of the function that a call in `body` calls.
    pub fn called_by(&self, body: &Body, call: Op) -> Option<&Summary> {
        self.summaries.get(&callee(body, call)?)
    }

    /// Adds to a remark on an operation that touches the world why it does, if it is a call.
    pub fn explain(&self, body: &Body, op: Op, remark: Diagnostic) -> Diagnostic {
        if body.info(op).interface::<dyn CallLike>().is_none() {
            return remark;
        }
        let Some(name) = callee(body, op) else {
            return remark.note(body.loc(op), "what is called here is known when the program runs only");
        };
        let name = format!("@{}", body.ctx().str(name));
        match self.called_by(body, op) {
            Some(summary) => summary.explain(body.loc(op), &name, remark),
            None => remark.note(body.loc(op), format!("what {name} does is not known here")),
        }
    }
}

/// The function that an operation calls by its name.
pub fn callee(body: &Body, op: Op) -> Option<Name> {
    let view = body.op_ref(op);
    view.info().interface::<dyn CallLike>()?.callee(view)?.as_flat_symbol(body.ctx())
}

/// The functions that a function calls by their names.
fn called_in(function: &Body) -> Vec<Name> {
    function.all_ops().filter_map(|op| callee(function, op)).collect()
}

/// The functions that are called, each behind those that it calls, but for those that may call themselves.
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
