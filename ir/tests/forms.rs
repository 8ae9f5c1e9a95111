//! Forms that passes need: the manager supplies them, remembers them, and finds out who lies about
//! them.

use insta::assert_snapshot;
use loomir_ir::pass::{CanonicalForm, Pass, PassContext, PassInstrumentor, PassManager, Report, VerifyEach};
use loomir_ir::{Attr, Body, Context, Diagnostic, Diagnostics, OperationState, Registry, dialect};

dialect! {
    /// A module, as far as forms care.
    pub MINI = "mini" {}

    /// Holds anything.
    ModuleOp = "module" {
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, NoTerminator, SymbolTable]
    }
}

/// A pass that marks the body, or takes a mark away, and says whatever it is told to say.
#[derive(Clone, Copy)]
struct Marks {
    name: &'static str,
    sets: &'static [&'static str],
    removes: &'static [&'static str],
    requires: &'static [&'static CanonicalForm],
    makes: &'static [&'static CanonicalForm],
    preserves: &'static [&'static CanonicalForm],
}

const NOTHING: Marks = Marks { name: "", sets: &[], removes: &[], requires: &[], makes: &[], preserves: &[] };

impl Pass for Marks {
    fn name(&self) -> &str {
        self.name
    }

    fn requires(&self) -> &[&'static CanonicalForm] {
        self.requires
    }

    fn makes(&self) -> &[&'static CanonicalForm] {
        self.makes
    }

    fn preserves(&self) -> &[&'static CanonicalForm] {
        self.preserves
    }

    fn run(&self, body: &mut Body, _: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        for mark in self.sets {
            body.set_attr(body.root(), mark, Attr::UNIT);
        }
        for mark in self.removes {
            body.remove_attr(body.root(), mark);
        }
        Ok(())
    }
}

fn has(body: &Body, mark: &str) -> Result<(), Diagnostic> {
    match body.attr(body.root(), mark) {
        Some(_) => Ok(()),
        None => Err(Diagnostic::error(body.loc(body.root()), format!("there is no '{mark}'"))),
    }
}

/// `closed` needs `simple`, and making it keeps that.
static SIMPLE: CanonicalForm = CanonicalForm {
    name: "simple",
    check: |body, _| has(body, "mini.simple"),
    make: || Box::new(MAKE_SIMPLE),
};
static CLOSED: CanonicalForm = CanonicalForm {
    name: "closed",
    check: |body, _| has(body, "mini.closed"),
    make: || Box::new(MAKE_CLOSED),
};
static OPEN: CanonicalForm =
    CanonicalForm { name: "open", check: |body, _| has(body, "mini.open"), make: || Box::new(MAKE_OPEN) };
static ROUND: CanonicalForm =
    CanonicalForm { name: "round", check: |body, _| has(body, "mini.round"), make: || Box::new(MAKE_ROUND) };

const MAKE_SIMPLE: Marks = Marks { name: "simple", sets: &["mini.simple"], makes: &[&SIMPLE], ..NOTHING };
const MAKE_CLOSED: Marks = Marks {
    name: "closed",
    sets: &["mini.closed"],
    removes: &["mini.open"],
    requires: &[&SIMPLE],
    makes: &[&CLOSED],
    preserves: &[&SIMPLE],
};
/// The opposite of `closed`.
const MAKE_OPEN: Marks =
    Marks { name: "open", sets: &["mini.open"], removes: &["mini.closed"], makes: &[&OPEN], ..NOTHING };
/// Needs itself.
const MAKE_ROUND: Marks = Marks { name: "round", requires: &[&ROUND], ..NOTHING };

const USES: Marks =
    Marks { name: "uses", requires: &[&CLOSED, &SIMPLE], preserves: &[&CLOSED, &SIMPLE], ..NOTHING };

/// Returns the passes that ran, and the complaints.
fn run(passes: &[Marks]) -> String {
    let mut registry = Registry::new();
    registry.dialect(&MINI);
    let ctx = Context::new(registry);
    let state = OperationState::new(&ctx, "mini.module", loomir_ir::Loc::UNKNOWN).regions(1);
    let mut body = Body::new(&ctx, state);
    let region = body.region(body.root(), 0);
    body.append_block(region, &[]);
    let mut manager = PassManager::new("mini.module");
    for pass in passes {
        manager.add(Box::new(*pass));
    }
    let report = manager.run(&mut body, &PassInstrumentor::new().with(VerifyEach));
    told(&report, &ctx)
}

fn told(report: &Report, ctx: &Context) -> String {
    let names =
        report.records.iter().map(|record| record.name.as_str()).filter(|name| !name.starts_with('('));
    let ran = names.collect::<Vec<_>>().join(", ");
    format!("ran: {ran}").trim_end().to_owned() + &format!("\n{}", report.diagnostics.to_text(ctx))
}

#[test]
fn what_is_missing_is_made_once_with_what_that_needs() {
    assert_snapshot!(run(&[USES, USES]), @"ran: simple, closed, uses, uses");
}

#[test]
fn a_form_that_holds_is_not_made() {
    const BY_HAND: Marks = Marks { name: "by-hand", sets: &["mini.simple"], ..NOTHING };
    assert_snapshot!(run(&[BY_HAND, USES]), @"ran: by-hand, closed, uses");
}

#[test]
fn what_a_pass_does_not_keep_is_looked_at_again() {
    const BREAKS: Marks =
        Marks { name: "breaks", removes: &["mini.simple"], preserves: &[&CLOSED], ..NOTHING };
    const SILENT: Marks = Marks { name: "says-nothing", ..NOTHING };
    assert_snapshot!(run(&[USES, BREAKS, USES, SILENT, USES]), @"ran: simple, closed, uses, breaks, simple, uses, says-nothing, uses");
}

#[test]
fn who_breaks_what_it_should_keep_is_named() {
    const LIES: Marks =
        Marks { name: "lies", removes: &["mini.closed"], preserves: &[&CLOSED, &SIMPLE], ..NOTHING };
    assert_snapshot!(run(&[USES, LIES, USES]), @r"
    ran: simple, closed, uses, lies
    error: pass 'lies' left an operation that is not in form 'closed'
    error: there is no 'mini.closed'
    ");
}

#[test]
fn forms_that_exclude_each_other_are_refused() {
    const BOTH: Marks = Marks { name: "both", requires: &[&OPEN, &CLOSED], ..NOTHING };
    assert_snapshot!(run(&[BOTH]), @r"
    ran: open, simple, closed, open, closed
    error: pass 'both' needs form 'open', which is not there once it is made
    note: this is a defect in the passes
    ");
}

#[test]
fn forms_that_need_themselves_are_refused() {
    const TURNS: Marks = Marks { name: "turns", requires: &[&ROUND], ..NOTHING };
    assert_snapshot!(run(&[TURNS]), @r"
    ran:
    error: the forms that pass 'round' makes or needs need each other
    note: this is a defect in the passes
    ");
}
