//! What a verdict says to people: the operations at fault, with their iterations.

use loomir_ir::{Body, Diagnostic, Loc, Op, Value, ValueDef};

use super::{Cause, Element, Instance, Verdict, Witness};
use crate::dependence::base::Base;

/// See [`Verdict::explain`].
pub(super) fn explain(verdict: &Verdict, body: &Body, remark: Diagnostic, then: &str) -> Diagnostic {
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
        let name = body.op_ref(instance.op).name();
        let when = when(&instance.iteration);
        remark.note(body.loc(instance.op), format!("{when}'{name}' {would} {what}"))
    };
    match witness {
        Witness::Order { first, second, writes, cause } => {
            order(body, remark, [first, second], *writes, cause, would, then)
        }
        Witness::Lost(instance) => of_instance(remark, instance, "not run"),
        Witness::Repeated(instance) => of_instance(remark, instance, "run more than once"),
        Witness::Added(instance) => of_instance(remark, instance, "run and did not"),
        Witness::Extent(op) => remark
            .note(body.loc(*op), "how often what is inside runs is not known, and it does not stay together"),
        Witness::Carried(op) => remark.note(
            body.loc(*op),
            "this loop hands values on to its next iteration, and does not run whole and in order",
        ),
        Witness::Unavailable { value, user } => remark.note(
            body.loc(*user),
            format!("'{}' uses {}, which is not there", body.op_ref(*user).name(), called(body, *value)),
        ),
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
    let name = |op: Op| body.op_ref(op).name();
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
    let in_first = format!("{}'{}' {here}", when(&first.iteration), name(first.op));
    let in_second =
        format!("{}'{}' {there}; {then}, this {would} be first", when(&second.iteration), name(second.op),);
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

/// How a note begins that is about an iteration. Nothing if there is none, or it is not known.
fn when(iteration: &[i64]) -> String {
    if iteration.is_empty() { String::new() } else { format!("in iteration ({}), ", joined(iteration)) }
}

/// An element, with the memref that its subscripts are of where that has a name.
fn of_element(body: &Body, Element { base, origin, subscripts }: &Element) -> String {
    let memref = match (base, origin) {
        (Base::Global(name), None) => format!(" of @{}", body.ctx().str(*name)),
        (Base::Argument(argument), Some(origin)) if argument == origin => {
            format!(" of argument {}", called(body, *origin))
        }
        (_, Some(origin)) if matches!(body.def(*origin), ValueDef::OpResult { .. }) => {
            format!(" of {}", called(body, *origin))
        }
        _ => String::new(),
    };
    format!("element [{}]{memref}", joined(subscripts))
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// How a value is called in a remark.
pub(crate) fn called(body: &Body, value: Value) -> String {
    match body.def(value) {
        ValueDef::BlockArgument { index, .. } => format!("#{index}"),
        ValueDef::OpResult { op, .. } => match body.loc(op) {
            Loc::UNKNOWN => format!("the result of '{}'", body.op_ref(op).name()),
            loc => match loc.file_line_col(body.ctx()) {
                Some((_, line, column)) => format!("the result at {line}:{column}"),
                None => format!("the result of '{}'", body.op_ref(op).name()),
            },
        },
    }
}
