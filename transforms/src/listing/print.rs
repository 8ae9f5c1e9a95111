//! Dependences as text, and the pass that prints them.
//!
//! Statements are numbered in the order of the text. Under each are its outgoing dependences, a
//! line each: the kind, the sink, the medium, the directions, and two instances. A distance is a
//! number, `<`, `=` and `>` are directions, `*` is any. `perhaps` marks an approximation.

use std::fmt::Write;

use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Body, Diagnostics, Op, ValueDef};
use loomir_polyhedra::Limits;

use super::{Dependence, Dependences, Entry, Options, Through};
use crate::access::base::{AliasMode, Bases};
use crate::access::callees::Callees;
use crate::access::survey;
use crate::access::{Analyses, INTERFACES};
use crate::legality::{Cause, iterations, object, symbols};
use crate::naming::{called, called_in_full};
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Program, StatementId, TreeStore};

/// The pass `print-loop-dependences`.
pub const PASS: PassInfo = PassInfo {
    name: "print-loop-dependences",
    anchor: Some("func.func"),
    summary: "Print the dependences out of each statement",
    options: &[
        ("alias", "may", "what to assume of memrefs nothing is known of: may, distinct; version is distinct"),
        INTERFACES[0].option(),
        INTERFACES[1].option(),
        INTERFACES[2].option(),
        INTERFACES[3].option(),
        INTERFACES[4].option(),
    ],
    make: |options| {
        let alias = options.parse("alias", AliasMode::May)?;
        Ok(Box::new(PrintDependences { alias, analyses: Analyses::of_options(options)? }))
    },
};

struct PrintDependences {
    alias: AliasMode,
    analyses: Analyses,
}

impl Pass for PrintDependences {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let name = body.attr(body.root(), "sym_name").and_then(|name| name.as_str(body.ctx()));
        let title = format!("Dependences of @{}", name.unwrap_or_default());
        let analyses = self.analyses.with_callees(&Callees::around(cx.surveys));
        let text = print(body, self.alias, &analyses);
        cx.print(title, text);
        Ok(())
    }
}

/// Prints the dependences of a function.
pub fn print(body: &Body, alias: AliasMode, analyses: &Analyses) -> String {
    let (mut text, limits, mut first) = (String::new(), Limits::default(), 0);
    for block in roots(body, analyses) {
        let mut trees = TreeStore::default();
        let program = raise_by(analyses, body, block, &mut trees, alias);
        let bases = Bases::new(body, alias);
        let options = Options { bases: &bases, dependence: &*analyses.dependence, limits: &limits };
        let all = Dependences::of(body, &program, &trees, &options);
        Printer { body, program: &program, first }.all(&all, &mut text);
        first += program.statements().count();
    }
    text
}

struct Printer<'p> {
    body: &'p Body,
    program: &'p Program,
    /// The number of statements before those of the program.
    first: usize,
}

impl Printer<'_> {
    fn all(&self, all: &Dependences, text: &mut String) {
        for (info, id) in self.program.statements().zip(0..) {
            let statement = StatementId(id);
            let ops: Vec<String> = info.ops.iter().map(|op| self.op(*op)).collect();
            let _ = writeln!(text, "{}: {}", self.statement(statement), ops.join(", "));
            for one in all.leaving(statement) {
                self.one(one, text);
            }
        }
    }

    fn statement(&self, StatementId(id): StatementId) -> String {
        format!("S{}", self.first + id as usize)
    }

    fn op(&self, op: Op) -> String {
        named(self.body, op)
    }

    fn one(&self, one: &Dependence, text: &mut String) {
        let Words { kinds, through, directions, example } = Words::of(self.body, one);
        let perhaps = if one.is_certain { "" } else { "perhaps " };
        let _ = write!(text, "  {perhaps}{kinds} to {}", self.statement(one.sink.statement));
        let _ = write!(text, " through {through}");
        if !directions.is_empty() {
            let _ = write!(text, ", {directions}");
        }
        if one.reduction.is_some() {
            text.push_str(", updates in any order");
        }
        if !example.is_empty() {
            let _ = write!(text, ": {example}");
        }
        text.push('\n');
    }
}

/// A dependence in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Words {
    /// Its kinds.
    pub kinds: String,
    /// The medium.
    pub through: String,
    /// A distance or a direction for each common loop. Empty without one.
    pub directions: String,
    /// Two instances, as far as they are known.
    pub example: String,
}

impl Words {
    /// Describes a dependence of a program that was raised from `body`.
    pub fn of(body: &Body, one: &Dependence) -> Words {
        let kinds: Vec<&str> = one.kinds.iter().map(|kind| kind.name()).collect();
        let vector: Vec<String> = one.vector.iter().map(entry).collect();
        Words {
            kinds: kinds.join(" and "),
            through: through(body, &one.through, one.source.op),
            directions: if vector.is_empty() { String::new() } else { format!("({})", vector.join(", ")) },
            example: example(body, one),
        }
    }
}

fn named(body: &Body, op: Op) -> String {
    let name = body.op_ref(op).name();
    match body.loc(op).file_line_col(body.ctx()) {
        Some((_, line, column)) => format!("{name} at {line}:{column}"),
        None => name.to_owned(),
    }
}

fn example(body: &Body, one: &Dependence) -> String {
    let Some([source, sink]) = one.example.as_deref() else { return String::new() };
    let element = match &one.through {
        Through::Memory(Cause::Element(element)) => Some(element),
        _ => None,
    };
    let numbers = |all: &[i64]| all.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let mut parts = Vec::new();
    parts.extend(element.map(|own| format!("element [{}]", numbers(&own.subscripts))));
    if !source.iteration.is_empty() {
        parts.push(format!("from {}", iterations(&source.iteration)));
    }
    if !sink.iteration.is_empty() {
        parts.push(format!("to {}", iterations(&sink.iteration)));
    }
    let of_element = element.map_or(&[][..], |own| &own.symbols);
    parts.join(" ") + &symbols(body, &[&source.symbols, of_element, &sink.symbols])
}

fn through(body: &Body, through: &Through, source: Op) -> String {
    match through {
        Through::Memory(Cause::Element(element)) => {
            object(body, element).unwrap_or_else(|| "memory".to_owned())
        }
        Through::Memory(Cause::Object) => "some element".to_owned(),
        Through::Memory(Cause::MayOverlap(Some((a, b)))) => {
            let [a, b] = [a, b].map(|value| called_in_full(body, *value));
            format!("{a} if {b} overlaps it")
        }
        Through::Memory(Cause::MayOverlap(None)) => "memory that may overlap".to_owned(),
        Through::Memory(Cause::World) => "the world".to_owned(),
        Through::Value(value) if body.defining_op(*value) == Some(source) => "its value".to_owned(),
        Through::Value(value) => called(body, *value),
        Through::Carried(value) => {
            let of = match body.def(*value) {
                ValueDef::OpResult { op, .. } => op,
                ValueDef::BlockArgument { block, .. } => body.region_parent(body.block_region(block)),
            };
            format!("what {} carries", named(body, of))
        }
    }
}

fn entry(entry: &Entry) -> String {
    match entry.distance {
        Some(0) => "=".to_owned(),
        Some(distance) => distance.to_string(),
        None => entry.directions.to_string(),
    }
}
