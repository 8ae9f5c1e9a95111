//! The text of verdicts: the operations at fault, with their iterations.
//!
//! **Assumptions.**
//! - Nothing is decided here: a verdict becomes text.

use loomir_dialects::interfaces::{Conditional, LoopLike, ParallelLike};
use loomir_ir::{Body, Diagnostic, Loc, Op, Value, ValueDef};

use super::{Cause, Element, Instance, Iteration, Verdict, Witness};
use crate::access::base::Base;
use crate::access::callees::callee;
use crate::naming::{called, called_in_full};

mod data;

/// See [`Verdict::explain`].
pub(super) fn explain(verdict: &Verdict, body: &Body, remark: Diagnostic, then: &str) -> Diagnostic {
    let remark = match data::fault(verdict, body, then) {
        Some(fault) => remark.listing("faults", fault),
        None => remark,
    };
    let (witness, certain) = match verdict {
        Verdict::Legal { .. } => return remark,
        Verdict::Illegal(witness) => (witness, true),
        Verdict::MayBeIllegal(witness) => (witness, false),
        Verdict::Unknown { accesses: (a, b) } => {
            return remark
                .note(body.loc(*a), "the solver's limit was reached between this access")
                .note(body.loc(*b), "and this one");
        }
    };
    let would = if certain { "would" } else { "could" };
    let of_instance = |remark: Diagnostic, instance: &Instance, what: &str| {
        let (when, name) = (when(&instance.iteration), named(body, instance.op));
        let symbols = symbols(body, &[&instance.symbols]);
        remark.note(body.loc(instance.op), format!("{when}{name} {would} {what}{symbols}"))
    };
    match witness {
        Witness::Order { first, second, writes, cause } => {
            order(body, remark, [first, second], *writes, cause, would, then)
        }
        Witness::Lost(instance) => of_instance(remark, instance, "not run"),
        Witness::Repeated(instance) => of_instance(remark, instance, "run more than once"),
        Witness::Added(instance) => of_instance(remark, instance, "run and did not"),
        Witness::Extent(op) => {
            let is_decided = body.info(*op).interface::<dyn Conditional>().is_some();
            let what = match is_decided {
                true => {
                    "this condition is known only at run time, and the edit runs code without it or under it"
                }
                false => "the trip count of this loop is not known, and the edit takes its body apart",
            };
            remark.note(body.loc(*op), what)
        }
        Witness::Carried(op) => {
            let is_parallel = body.info(*op).interface::<dyn ParallelLike>().is_some();
            let what = match is_parallel {
                true => {
                    "this loop combines values of its iterations, and does not run whole in one operation"
                }
                false => {
                    "this loop hands values on to its next iteration, and does not run whole and in order"
                }
            };
            remark.note(body.loc(*op), what)
        }
        Witness::Unavailable { value, user } => unavailable(body, remark, *value, *user),
    }
}

/// Adds the note that an operation uses a value before it is computed, and the place of the latter.
fn unavailable(body: &Body, remark: Diagnostic, value: Value, user: Op) -> Diagnostic {
    let by = body.defining_op(value);
    let what = by.map(|op| match body.info(op).interface::<dyn LoopLike>() {
        Some(_) => "the result of a loop".to_owned(),
        None => format!("the result of '{}'", body.op_ref(op).name()),
    });
    let what = what.unwrap_or_else(|| called(body, value));
    let uses = format!("'{}' uses {what}, which is not there", body.op_ref(user).name());
    let remark = remark.note(body.loc(user), uses);
    match by.map(|op| body.loc(op)).filter(|loc| *loc != Loc::UNKNOWN) {
        Some(loc) => remark.note(loc, "it is computed here"),
        None => remark,
    }
}

fn order(
    body: &Body,
    remark: Diagnostic,
    [first, second]: [&Instance; 2],
    writes: [bool; 2],
    cause: &Cause,
    would: &str,
    then: &str,
) -> Diagnostic {
    let does = |writes: bool| if writes { "writes" } else { "reads" };
    let (here, there) = match cause {
        Cause::Element(element) => {
            (format!("{} {}", does(writes[0]), of_element(body, element)), format!("{} it", does(writes[1])))
        }
        Cause::Object => (
            format!("{} an element", does(writes[0])),
            format!("{} one that may be the same", does(writes[1])),
        ),
        Cause::MayOverlap(_) => {
            (format!("{} memory", does(writes[0])), format!("{} memory that may overlap it", does(writes[1])))
        }
        Cause::World => ("runs".to_owned(), "may not be reordered with it".to_owned()),
    };
    let in_first = format!("{}{} {here}", when(&first.iteration), named(body, first.op));
    let of_element: &[_] = if let Cause::Element(element) = cause { &element.symbols } else { &[] };
    let symbols = symbols(body, &[&first.symbols, of_element, &second.symbols]);
    let in_second = format!(
        "{}{} {there}; {then}, this {would} be first",
        when(&second.iteration),
        named(body, second.op)
    );
    let in_first = in_first + &symbols;
    let remark = remark.note(body.loc(first.op), in_first).note(body.loc(second.op), in_second);
    match cause {
        Cause::MayOverlap(Some((a, b))) => remark.help(format!(
            "if arguments {} and {} never overlap, say so with --alias=distinct or the attribute llvm.noalias",
            called(body, *a),
            called(body, *b)
        )),
        _ => remark,
    }
}

/// Returns the beginning of a note about an iteration: the values of the induction variables, or
/// the iteration's number if these are unknown. Empty if there is no iteration, or it is unknown.
fn when(iteration: &[Iteration]) -> String {
    let is_numbered = iteration.iter().all(|own| matches!(own, Iteration::Number(_)));
    match iteration {
        [] => String::new(),
        _ if is_numbered => {
            let number = |own: &Iteration| match own {
                Iteration::Variable(number) | Iteration::Number(number) => *number,
            };
            format!("in iteration ({}), ", joined(&iteration.iter().map(number).collect::<Vec<_>>()))
        }
        _ => format!("at {}, ", iterations(iteration)),
    }
}

/// Returns the text of the iterations of nested loops. Values of induction variables are plain
/// numbers; iteration numbers are marked as such.
pub(crate) fn iterations(all: &[Iteration]) -> String {
    let told = |own: &Iteration| match own {
        Iteration::Variable(value) => value.to_string(),
        Iteration::Number(number) => format!("iteration {number}"),
    };
    format!("({})", all.iter().map(told).collect::<Vec<_>>().join(", "))
}

/// Returns the text about the values of parameters in an example.
pub(crate) fn symbols(body: &Body, all: &[&[(Value, i64)]]) -> String {
    let mut told: Vec<(Value, i64)> = Vec::new();
    for symbol in all.iter().copied().flatten() {
        if !told.contains(symbol) {
            told.push(*symbol);
        }
    }
    let told: Vec<String> =
        told.into_iter().map(|(value, at)| format!("{} is {at}", called_in_full(body, value))).collect();
    if told.is_empty() { String::new() } else { format!(", where {}", told.join(" and ")) }
}

/// Returns the name of an operation in a note; for a call, also its callee.
fn named(body: &Body, op: Op) -> String {
    let name = body.op_ref(op).name();
    match callee(body, op) {
        Some(callee) => format!("'{name}' of @{}", body.ctx().str(callee)),
        None => format!("'{name}'"),
    }
}

/// Returns the text of an element, with the memref of its subscripts if that has a name.
fn of_element(body: &Body, element: &Element) -> String {
    let memref = object(body, element).map(|name| format!(" of {name}")).unwrap_or_default();
    format!("element [{}]{memref}", joined(&element.subscripts))
}

/// Returns the memref that the subscripts of an element refer to, if it has a name.
pub(crate) fn object(body: &Body, Element { base, origin, .. }: &Element) -> Option<String> {
    match (base, origin) {
        (Base::Global(name), None) => Some(format!("@{}", body.ctx().str(*name))),
        (Base::Argument(argument), Some(origin)) if argument == origin => Some(called_in_full(body, *origin)),
        (_, Some(origin)) if matches!(body.def(*origin), ValueDef::OpResult { .. }) => {
            Some(called(body, *origin))
        }
        _ => None,
    }
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}
