//! Reasons why a difference may be allowed: the first function leaves open what it computes.
//!
//! The interpreter makes one choice where the language leaves several. It computes as if fast-math
//! flags were absent, gives zero for `freeze` of poison, runs parallel iterations in order and
//! makes up addresses. If the first function depends on such a choice, the second may rightly
//! choose otherwise.

use hashbrown::HashMap;
use loomir_dialects::interfaces::ParallelLike;
use loomir_dialects::interp::{self, ArgSpec, Cause, Datum, Event, Fault, FaultKind, Limits};
use loomir_ir::text::attr_to_string;
use loomir_ir::{Body, Name, OpRef};

use super::difference::{Difference, Place};
use super::input::{Argument, Contents, Input};
use super::{CALL_DEPTH, MEMORY, Side};

mod races;
mod rounding;

/// Words of fast-math flags that let a result vary.
const LOOSE: [&str; 6] = ["reassoc", "contract", "arcp", "afn", "nsz", "fast"];
/// The multiplication and addition that may be rounded once or twice.
const FUSED: &str = "llvm.intr.fmuladd";
/// Attributes of accesses that promise that they do not overlap.
const PROMISES: [&str; 3] = ["alias_scopes", "noalias_scopes", "tbaa"];
/// The attribute of accesses that may run in any order with those of other iterations.
const ANY_ORDER: &str = "access_groups";
/// The most steps of a run whose operations are looked at one by one.
const TRACED: u64 = 400_000;

/// Marks of a function that leaves results open.
#[derive(Default)]
struct Choices {
    flags: bool,
    fused: bool,
    freeze: bool,
    undefined: bool,
    addresses: bool,
    promises: bool,
    distinct: bool,
    parallel: bool,
    any_order: bool,
}

/// Returns a reason why `before` allows the difference, if there is one.
pub(super) fn about(before: Side<'_>, input: &Input, difference: &Difference) -> Option<String> {
    let mut choices = Choices::default();
    each_op(before, &mut |op| choices.note(op));
    if choices.addresses {
        return Some("the program computes with addresses, which are made up".into());
    }
    if choices.any_order {
        return Some("accesses promise that iterations may run in any order".into());
    }
    if choices.undefined && difference.place != Place::Ending {
        return Some("the program uses `undef`".into());
    }
    let is_shared = |argument: &Argument| matches!(argument, Argument::Buffer(own) if matches!(own.contents, Contents::Shared(..)));
    let shares = input.arguments.iter().any(is_shared);
    if shares && (choices.promises || choices.distinct) {
        return Some("the program promises that buffers do not overlap".into());
    }
    if !(choices.flags || choices.fused || choices.freeze || choices.parallel) {
        return None;
    }
    let Some(trace) = trace(before, &input.to_texts()) else {
        return Some("the run is too long to look for what the first program leaves open".into());
    };
    if (choices.flags || choices.fused) && !rounding::is_exact(before, &trace) {
        return Some(match choices.flags {
            true => "fast-math flags allow results to vary".into(),
            false => "`fmuladd` may be rounded once or twice".into(),
        });
    }
    if choices.freeze && trace.iter().any(freezes_poison) {
        return Some("`freeze` of poison may give any value".into());
    }
    let races = choices.parallel && races::may_race(before, &trace);
    races.then(|| "parallel iterations may race".into())
}

/// True unless a run with these arguments, as `loomir run` takes them, shows that iterations of its
/// outermost parallel loops do not race. Each operation of the run is looked at.
pub fn may_race(function: Side<'_>, arguments: &[String]) -> bool {
    trace(function, arguments).is_none_or(|trace| races::may_race(function, &trace))
}

/// Returns a reason why a fault of the second function is no difference for certain.
///
/// The interpreter takes undefined bits for poison as a whole. A rewritten program may read more
/// bytes than it uses, and drop those that were never written.
pub(super) fn about_fault(fault: &Fault) -> Option<String> {
    let undefined = [Cause::Undefined, Cause::Uninitialised].map(|cause| cause.to_string());
    let names = |cause: &String| fault.diagnostic.notes.iter().any(|(_, note)| note.contains(cause.as_str()));
    match fault.kind {
        FaultKind::Undefined if undefined.iter().any(names) => {
            Some("the second program uses undefined bits".into())
        }
        FaultKind::Limit if !fault.diagnostic.message.starts_with(STEP_LIMIT) => {
            Some(format!("the second program needs too much: {}", fault.diagnostic.message))
        }
        _ => None,
    }
}

/// The fault of a run that takes too many steps, as the interpreter words it.
const STEP_LIMIT: &str = "step limit";

impl Choices {
    fn note(&mut self, op: OpRef<'_>) {
        let name = op.name();
        self.freeze |= name.ends_with(".freeze");
        self.fused |= name == FUSED;
        self.undefined |= name == "llvm.mlir.undef";
        self.addresses |= ["llvm.ptrtoint", "memref.extract_aligned_pointer_as_index"].contains(&name);
        self.distinct |= name == "memref.distinct_objects";
        self.parallel |= op.info().interface::<dyn ParallelLike>().is_some();
        self.any_order |= op.attr(ANY_ORDER).is_some();
        self.promises |= PROMISES.iter().any(|promise| op.attr(promise).is_some());
        self.flags |= is_loose(op);
    }
}

/// True if flags of an operation let its result vary.
fn is_loose(op: OpRef<'_>) -> bool {
    has_flag(op, &LOOSE)
}

/// True if an operation has one of these fast-math flags.
fn has_flag(op: OpRef<'_>, wanted: &[&str]) -> bool {
    let flags = op.attr("fastmath").or_else(|| op.attr("fastmathFlags"));
    flags.is_some_and(|flags| {
        let text = attr_to_string(op.ctx(), flags);
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        words.any(|word| wanted.contains(&word))
    })
}

/// Calls `f` on each operation that a run of the function may reach.
fn each_op(side: Side<'_>, f: &mut dyn FnMut(OpRef<'_>)) {
    let Some(symbols) = side.symbols else {
        side.module.walk(&mut |body, op| f(body.op_ref(op)));
        return;
    };
    for symbol in symbols {
        match side.module.nested(*symbol) {
            Some(body) => body.walk(&mut |body, op| f(body.op_ref(op))),
            None => side.module.preorder(*symbol).for_each(|op| f(side.module.op_ref(op))),
        }
    }
}

/// Returns the body of a function of the module, by its name.
fn body_of<'s>(side: Side<'s>, function: &str) -> Option<&'s Body> {
    loomir_ir::symbols::lookup(side.module, function).and_then(|op| side.module.nested(op))
}

/// Returns the operation of each event; `None` if a function is not known.
fn operations<'t>(side: Side<'t>, trace: &'t [Event]) -> Option<Vec<(OpRef<'t>, &'t Event)>> {
    let mut bodies: HashMap<Name, &Body> = HashMap::new();
    let operation = |event: &'t Event| {
        let body = match bodies.get(&event.function) {
            Some(body) => *body,
            None => {
                let body = body_of(side, side.module.ctx().str(event.function))?;
                bodies.insert(event.function, body);
                body
            }
        };
        Some((body.op_ref(event.op), event))
    };
    trace.iter().map(operation).collect()
}

fn trace(before: Side<'_>, arguments: &[String]) -> Option<Vec<Event>> {
    let ctx = before.module.ctx();
    let specs = arguments.iter().map(|text| ArgSpec::parse(ctx, text)).collect::<Result<Vec<_>, _>>();
    let limits = Limits { steps: TRACED, call_depth: CALL_DEPTH, memory: MEMORY };
    interp::run_tracing(before.module, before.name, &specs.ok()?, &limits).ok().map(|(_, trace)| trace)
}

/// True if an operation made a value of poison, as only `freeze` does of its one operand.
fn freezes_poison(event: &Event) -> bool {
    let is_poison = |datum: &Datum| datum.find_poison().is_some();
    event.operands.len() == 1
        && event.operands.iter().any(is_poison)
        && event.results.len() == 1
        && !event.results.iter().any(is_poison)
}
