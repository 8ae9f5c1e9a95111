//! Reasons why a difference may be allowed: the first function leaves open what it computes.
//!
//! The interpreter makes one choice where the language leaves several. It computes as if fast-math
//! flags were absent, gives zero for `freeze` of poison, runs parallel iterations in order and
//! makes up addresses. If the first function depends on such a choice, the second may rightly
//! choose otherwise.

use hashbrown::HashMap;
use loomir_dialects::interfaces::{CallLike, MemoryAccess, MemoryEffects, ParallelLike};
use loomir_dialects::interp::{self, ArgSpec, Cause, Datum, Event, Fault, FaultKind, Limits};
use loomir_ir::text::attr_to_string;
use loomir_ir::{Body, Op, OpRef, Value};

use super::difference::{Difference, Place};
use super::input::{Argument, Contents, Input};
use super::{CALL_DEPTH, MEMORY, Side};

/// Words of fast-math flags that let a result vary.
const LOOSE: [&str; 6] = ["reassoc", "contract", "arcp", "afn", "nsz", "fast"];
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
    calls: bool,
}

/// Returns a reason why `before` allows the difference, if there is one.
pub(super) fn about(before: Side<'_>, input: &Input, difference: &Difference) -> Option<String> {
    let mut choices = Choices::default();
    each_op(before, &mut |op| choices.note(op));
    if choices.flags {
        return Some("fast-math flags allow results to vary".into());
    }
    if choices.fused {
        return Some("`fmuladd` may be rounded once or twice".into());
    }
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
    if !choices.freeze && !choices.parallel {
        return None;
    }
    if choices.parallel && choices.calls {
        return Some("parallel iterations call functions, and may race".into());
    }
    let Some(trace) = trace(before, input) else {
        return Some("the run is too long to look for races and frozen poison".into());
    };
    if choices.freeze && trace.iter().any(freezes_poison) {
        return Some("`freeze` of poison may give any value".into());
    }
    let races = choices.parallel && body_of(before).is_none_or(|body| may_race(body, &trace));
    races.then(|| "parallel iterations may race".into())
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
        let ctx = op.ctx();
        let name = op.name();
        self.freeze |= name.ends_with(".freeze");
        self.fused |= name == "llvm.intr.fmuladd";
        self.undefined |= name == "llvm.mlir.undef";
        self.addresses |= ["llvm.ptrtoint", "memref.extract_aligned_pointer_as_index"].contains(&name);
        self.distinct |= name == "memref.distinct_objects";
        self.parallel |= op.info().interface::<dyn ParallelLike>().is_some();
        self.calls |= op.info().interface::<dyn CallLike>().is_some();
        self.any_order |= op.attr(ANY_ORDER).is_some();
        self.promises |= PROMISES.iter().any(|promise| op.attr(promise).is_some());
        let flags = op.attr("fastmath").or_else(|| op.attr("fastmathFlags"));
        self.flags |= flags.is_some_and(|flags| {
            let text = attr_to_string(ctx, flags);
            let mut words = text.split(|c: char| !c.is_alphanumeric());
            words.any(|word| LOOSE.contains(&word))
        });
    }
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

fn body_of(side: Side<'_>) -> Option<&Body> {
    loomir_ir::symbols::lookup(side.module, side.name).and_then(|op| side.module.nested(op))
}

fn trace(before: Side<'_>, input: &Input) -> Option<Vec<Event>> {
    let ctx = before.module.ctx();
    let specs = input.to_texts().iter().map(|text| ArgSpec::parse(ctx, text)).collect::<Result<Vec<_>, _>>();
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

/// True unless no two iterations of a parallel loop touch one element, one of them writing.
///
/// The function calls nothing, so all events are its own. The terminator of a parallel body ends an
/// iteration. Iterations of inner loops belong to the one of the outermost parallel loop.
fn may_race(body: &Body, trace: &[Event]) -> bool {
    let mut touched: HashMap<(u64, u64), (u64, bool)> = HashMap::new();
    let (mut iteration, mut of) = (0u64, None);
    for event in trace {
        let Some(outer) = outermost_parallel(body, event.op) else {
            if of.take().is_some() {
                touched.clear();
            }
            continue;
        };
        if of != Some(outer) {
            touched.clear();
            of = Some(outer);
        }
        let op = body.op_ref(event.op);
        if op.successors().len() > 0 {
            return true;
        }
        if body.parent_op(event.op) == Some(outer) && body.next_op(event.op).is_none() {
            iteration += 1;
            continue;
        }
        let Some(access) = op.info().interface::<dyn MemoryAccess>().map(|model| model.access(op)) else {
            let effects = op.info().interface::<dyn MemoryEffects>().map(|model| model.effects(op));
            let recurses = op.regions().len() > 0;
            if !recurses && effects.is_none_or(|effects| !effects.is_empty()) && !is_pure(op) {
                return true;
            }
            continue;
        };
        let operand =
            |value: Value| op.operands().position(|own| own == value).and_then(|i| event.operands.get(i));
        let subscripts: Option<Vec<i64>> = access
            .subscripts
            .operands
            .iter()
            .map(|value| operand(*value)?.as_bits().map(|bits| bits as i64))
            .collect();
        let at = subscripts.and_then(|own| access.subscripts.map.evaluate(op.ctx(), &own));
        let (Some(at), Some(Datum::MemRef(memref))) = (at, operand(access.memref)) else { return true };
        let steps = at.iter().zip(&memref.dims).map(|(index, dim)| index.wrapping_mul(dim.stride));
        let linear = steps.fold(memref.offset, i64::wrapping_add) as u64;
        let writes = access.stored.is_some();
        let own = touched.entry((memref.aligned.address, linear)).or_insert((iteration, writes));
        if own.0 != iteration && (own.1 || writes) {
            return true;
        }
        *own = (iteration, own.1 || writes);
    }
    false
}

fn is_pure(op: OpRef<'_>) -> bool {
    op.info().has_trait(loomir_ir::Trait::Pure)
}

fn outermost_parallel(body: &Body, op: Op) -> Option<Op> {
    let parents = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    parents.filter(|op| body.op_ref(*op).info().interface::<dyn ParallelLike>().is_some()).last()
}
