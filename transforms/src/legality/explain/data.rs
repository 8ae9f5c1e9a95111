//! The failure of a verdict as data: operations, places, elements and iterations as fields.

use loomir_ir::Body;
use loomir_ir::diagnostics::{Arg, Fields};

use super::super::{Cause, Instance, Iteration, Verdict, Witness};
use super::object;
use crate::naming::{called, called_in_full};
use crate::remark;

/// Returns the failure; `None` if the verdict is legal.
pub(super) fn fault(verdict: &Verdict, body: &Body, then: &str) -> Option<Fields> {
    let (witness, certain) = match verdict {
        Verdict::Legal { .. } => return None,
        Verdict::Illegal(witness) => (witness, true),
        Verdict::MayBeIllegal(witness) => (witness, false),
        Verdict::Unknown { accesses: (a, b) } => {
            let [a, b] = [a, b].map(|op| remark::op(body, *op));
            return Some(vec![("kind", "unknown".into()), ("first", a), ("second", b)]);
        }
    };
    let start = |kind: &str| vec![("kind", kind.into()), ("certain", certain.into())];
    Some(match witness {
        Witness::Order { first, second, writes, cause } => {
            let mut fields = start("order");
            fields.push(("when", then.into()));
            fields.extend(because(body, cause));
            fields.push(("first", of_instance(body, first, Some(writes[0]))));
            fields.push(("second", of_instance(body, second, Some(writes[1]))));
            let of_element: &[_] = if let Cause::Element(element) = cause { &element.symbols } else { &[] };
            let mut symbols: Vec<(String, i64)> = Vec::new();
            for (value, at) in first.symbols.iter().chain(of_element).chain(&second.symbols) {
                let own = (called_in_full(body, *value), *at);
                if !symbols.contains(&own) {
                    symbols.push(own);
                }
            }
            let symbols = symbols.into_iter().map(|(name, at)| -> Arg {
                let fields: Fields = vec![("name", name.into()), ("value", at.into())];
                fields.into()
            });
            fields.push(("where", symbols.collect()));
            fields
        }
        Witness::Lost(instance) => of_one(body, start("lost"), instance),
        Witness::Repeated(instance) => of_one(body, start("repeated"), instance),
        Witness::Added(instance) => of_one(body, start("added"), instance),
        Witness::Extent(op) => [start("extent"), vec![("of", remark::op(body, *op))]].concat(),
        Witness::Carried(op) => [start("carried"), vec![("of", remark::op(body, *op))]].concat(),
        Witness::Unavailable { value, user } => {
            let value = ("value", called(body, *value).into());
            [start("unavailable"), vec![value, ("of", remark::op(body, *user))]].concat()
        }
    })
}

fn of_one(body: &Body, mut fields: Fields, instance: &Instance) -> Fields {
    fields.push(("of", of_instance(body, instance, None)));
    fields
}

/// Returns the reason why two operations are assumed to touch one location.
fn because(body: &Body, cause: &Cause) -> Fields {
    match cause {
        Cause::Element(element) => vec![
            ("cause", "element".into()),
            ("memref", object(body, element).into()),
            ("element", element.subscripts.iter().copied().collect()),
        ],
        Cause::Object => vec![("cause", "object".into())],
        Cause::MayOverlap(Some((a, b))) => {
            let memrefs = [a, b].map(|value| called_in_full(body, *value));
            vec![("cause", "overlap".into()), ("memrefs", memrefs.into_iter().collect())]
        }
        Cause::MayOverlap(None) => vec![("cause", "overlap".into())],
        Cause::World => vec![("cause", "world".into())],
    }
}

fn of_instance(body: &Body, instance: &Instance, writes: Option<bool>) -> Arg {
    let iteration = instance.iteration.iter().map(|own| -> Arg {
        match own {
            Iteration::Variable(value) => (*value).into(),
            Iteration::Number(number) => Arg::Fields(vec![("number", (*number).into())]),
        }
    });
    let mut fields = vec![
        ("op", body.op_ref(instance.op).name().into()),
        ("at", body.loc(instance.op).into()),
        ("iteration", iteration.collect()),
    ];
    fields.extend(writes.map(|writes| ("writes", writes.into())));
    fields.into()
}
