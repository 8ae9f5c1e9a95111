//! Work around passes: verifying, printing, whatever one likes.
//!
//! A [`PassInstrumentation`] stands around a pass and runs it. What it must remember from before to
//! after is a local variable of its own, so nothing is shared between the bodies that are worked on
//! at a time.

use std::time::Instant;

use super::Pass;
use super::edits::EditLimit;
use super::report::{Record, Report};
use super::survey::{Survey, Surveys};
use crate::body::Body;
use crate::diagnostics::Diagnostics;
use crate::entity::Op;
use crate::symbols::{SYMBOL_NAME, SymbolTable};
use crate::text::{PrintOptions, print};
use crate::verifier;

/// The operation around a body, as it was before the pipeline entered it.
#[derive(Debug, Default)]
pub(super) struct Around {
    symbols: SymbolTable,
    surveys: Surveys,
}

impl Around {
    /// Describes the inside of `body`, with these surveys of it.
    pub(super) fn of(body: &Body, wanted: impl IntoIterator<Item = &'static Survey>) -> Around {
        Around { symbols: SymbolTable::of(body), surveys: Surveys::of(body, wanted) }
    }
}

/// The body a pass runs on and, without threads, those around it.
pub struct Scope<'a> {
    top: &'a mut Body,
    /// Leads from the outermost body to the pass's.
    path: Vec<Op>,
    around: &'a Around,
}

impl<'a> Scope<'a> {
    pub(super) fn new(body: &'a mut Body, around: &'a Around) -> Scope<'a> {
        Scope { top: body, path: Vec::new(), around }
    }

    /// The scope of a body directly inside.
    pub(super) fn enter<'b>(&'b mut self, op: Op, around: &'b Around) -> Scope<'b> {
        let path = self.path.iter().copied().chain([op]).collect();
        Scope { top: self.top, path, around }
    }

    /// The symbols around the body.
    pub fn symbols(&self) -> &'a SymbolTable {
        &self.around.symbols
    }

    /// Returns the surveys of the surroundings of the body.
    pub fn surveys(&self) -> &'a Surveys {
        &self.around.surveys
    }

    /// The body the pass runs on.
    pub fn body(&self) -> &Body {
        self.path.iter().fold(&*self.top, |body, op| body.nested(*op).expect(PATH))
    }

    /// The body the pass runs on, to change.
    pub fn body_mut(&mut self) -> &mut Body {
        self.path.iter().fold(&mut *self.top, |body, op| body.nested_mut(*op).expect(PATH))
    }

    /// The outermost body that is at rest: the module without threads, with threads the pass's own
    /// body.
    pub fn top(&self) -> &Body {
        self.top
    }
}

/// Nothing changes the bodies around one while a pass works on it.
const PATH: &str = "a path leads through operations that own a body";

/// Runs a pass on the body in a scope.
pub type RunPass<'r> = dyn FnMut(&dyn Pass, &mut Scope<'_>, &mut Report) -> Result<(), Diagnostics> + 'r;

/// The extent to which claims of passes are checked while they run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Checks {
    /// Nothing.
    #[default]
    Nothing,
    /// After each pass, the forms that should hold.
    Forms,
    /// That, and within passes what they keep true on the way.
    Analyses,
}

/// Something done around every pass.
pub trait PassInstrumentation: Send + Sync {
    /// Does what is to be done before, runs the pass with `run`, and does what is to be done after;
    /// nothing but that, unless it says otherwise.
    ///
    /// # Errors
    /// Those of the pass, or what is wrong with what it left. The pipeline stops there.
    fn around(
        &self,
        pass: &dyn Pass,
        scope: &mut Scope<'_>,
        report: &mut Report,
        run: &mut RunPass<'_>,
    ) -> Result<(), Diagnostics> {
        run(pass, scope, report)
    }

    /// Returns the checks that run beside it.
    fn checks(&self) -> Checks {
        Checks::Nothing
    }
}

/// The settings of a [`PassManager`](super::PassManager): the work around each pass, and whether in
/// threads.
#[derive(Default)]
pub struct PassInstrumentor {
    instrumentations: Vec<Box<dyn PassInstrumentation>>,
    sequential: bool,
    edits: EditLimit,
}

impl PassInstrumentor {
    /// Nothing is done around passes; bodies are worked on in threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds something to do around each pass, inside of what was added before.
    #[must_use]
    pub fn with(mut self, instrumentation: impl PassInstrumentation + 'static) -> Self {
        self.instrumentations.push(Box::new(instrumentation));
        self
    }

    /// Bounds the edits of all passes together, and works on one body after the other.
    #[must_use]
    pub fn with_edit_limit(mut self, edits: EditLimit) -> Self {
        self.sequential |= edits.is_set();
        self.edits = edits;
        self
    }

    /// The bound on edits.
    pub(super) fn edits(&self) -> &EditLimit {
        &self.edits
    }

    /// Works on one body after the other, in this thread, so that instrumentations see the whole
    /// module.
    #[must_use]
    pub fn without_threads(mut self) -> Self {
        self.sequential = true;
        self
    }

    pub(super) fn is_threaded(&self) -> bool {
        !self.sequential
    }

    pub(super) fn checks(&self) -> Checks {
        self.instrumentations.iter().map(|instrumentation| instrumentation.checks()).max().unwrap_or_default()
    }

    /// Runs a pass, with `run`, inside of everything.
    pub(super) fn run(
        &self,
        pass: &dyn Pass,
        scope: &mut Scope<'_>,
        report: &mut Report,
        run: &mut RunPass<'_>,
    ) -> Result<(), Diagnostics> {
        run_inside(&self.instrumentations, pass, scope, report, run)
    }
}

fn run_inside(
    instrumentations: &[Box<dyn PassInstrumentation>],
    pass: &dyn Pass,
    scope: &mut Scope<'_>,
    report: &mut Report,
    run: &mut RunPass<'_>,
) -> Result<(), Diagnostics> {
    match instrumentations.split_first() {
        None => run(pass, scope, report),
        Some((outermost, inner)) => outermost.around(pass, scope, report, &mut |pass, scope, report| {
            run_inside(inner, pass, scope, report, run)
        }),
    }
}

/// Verifies what each pass leaves.
#[derive(Clone, Copy, Debug)]
pub struct VerifyEach;

impl PassInstrumentation for VerifyEach {
    fn checks(&self) -> Checks {
        Checks::Forms
    }

    fn around(
        &self,
        pass: &dyn Pass,
        scope: &mut Scope<'_>,
        report: &mut Report,
        run: &mut RunPass<'_>,
    ) -> Result<(), Diagnostics> {
        run(pass, scope, report)?;
        if report.unchanged {
            return Ok(());
        }
        let start = Instant::now();
        let found = verifier::verify(scope.body());
        report.records.push(Record::new("(V) verifier", start.elapsed()));
        if !found.has_errors() {
            report.diagnostics.append(found);
            return Ok(());
        }
        let mut errors = Diagnostics::new();
        let message = format!("pass '{}' left IR that is not well formed", pass.name());
        errors.error(scope.body().root_ref().loc(), message);
        errors.append(found);
        Err(errors)
    }
}

/// Lets passes compare what they keep true on the way, as dominators and loops, with what one made
/// anew would say: after every step of a small function, now and then in a large one. That costs
/// many times what the passes do.
#[derive(Clone, Copy, Debug)]
pub struct VerifyAnalyses;

impl PassInstrumentation for VerifyAnalyses {
    fn checks(&self) -> Checks {
        Checks::Analyses
    }
}

/// Some passes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PassSelection {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The passes of these names.
    Named(Vec<String>),
}

impl PassSelection {
    fn contains(&self, pass: &dyn Pass) -> bool {
        match self {
            PassSelection::None => false,
            PassSelection::All => true,
            PassSelection::Named(names) => names.iter().any(|name| name == pass.name()),
        }
    }
}

/// Prints the body around passes, as dumps of the [`Report`].
#[derive(Clone, Debug, Default)]
pub struct PrintIr {
    /// In front of which passes.
    pub before: PassSelection,
    /// Behind which passes.
    pub after: PassSelection,
    /// Behind a pass only if it changed something. Costs another text in front of it.
    pub only_on_change: bool,
    /// Behind a pass only if it failed.
    pub only_on_failure: bool,
    /// The outermost body that is at rest, instead of the pass's.
    pub module_scope: bool,
    /// How.
    pub options: PrintOptions,
}

impl PrintIr {
    fn dump(&self, title: String, scope: &Scope<'_>, report: &mut Report) {
        let body = scope.body();
        // What a failed pass left may be anything, which only the generic form is sure to show.
        let generic = self.options.generic || verifier::verify(body).has_errors();
        let options = PrintOptions { generic, ..self.options.clone() };
        if !self.module_scope {
            return report.dumps.push((title, print(body, &options)));
        }
        let root = body.root_ref();
        let symbol = root.attr(SYMBOL_NAME).and_then(|name| name.as_str(body.ctx()));
        let symbol = symbol.map_or(String::new(), |name| format!(": @{name}"));
        let title = format!("{title} ('{}' operation{symbol})", root.name());
        report.dumps.push((title, print(scope.top(), &options)));
    }

    /// Everything about a body, locations too.
    fn fingerprint(&self, scope: &Scope<'_>) -> String {
        let options = PrintOptions { generic: true, debug_info: true, ..PrintOptions::default() };
        print(scope.body(), &options)
    }
}

impl PassInstrumentation for PrintIr {
    fn around(
        &self,
        pass: &dyn Pass,
        scope: &mut Scope<'_>,
        report: &mut Report,
        run: &mut RunPass<'_>,
    ) -> Result<(), Diagnostics> {
        if self.before.contains(pass) {
            self.dump(format!("IR Dump Before {}", pass.name()), scope, report);
        }
        let after = self.after.contains(pass);
        let before = (after && self.only_on_change).then(|| self.fingerprint(scope));
        let outcome = run(pass, scope, report);
        let changed = || before.is_none_or(|before| before != self.fingerprint(scope));
        match outcome.is_ok() {
            true if after && !self.only_on_failure && changed() => {
                self.dump(format!("IR Dump After {}", pass.name()), scope, report);
            }
            false if after => self.dump(format!("IR Dump After {} Failed", pass.name()), scope, report),
            _ => {}
        }
        outcome
    }
}
