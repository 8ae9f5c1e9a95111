//! Passes and the manager that runs them.
//!
//! A [`Pass`] changes one body: a module's, a function's. A [`PassManager`] is a list of passes and
//! of managers for the bodies inside, as MLIR's textual pipelines write it:
//! `builtin.module(func.func(canonicalize,loop-fusion{max-depth=2}),cse)`. Bodies at one level are
//! independent, so a nested manager runs over them in parallel; what a pass may see of its siblings
//! is frozen: a [`SymbolTable`], and the [`Survey`]s it asks for. What is done around passes
//! (verifying, printing) is a [`PassInstrumentation`]. Diagnostics, dumps, times and statistics
//! come back in a [`Report`], merged in the order of the bodies, whatever the threads did.
//!
//! A pass may need a [`CanonicalForm`] of its body and gets it. Passes are found by name and anchor
//! in a
//! [`PassRegistry`]: one name may mean different passes on different operations (`loop-fusion` on
//! `func.func` and on `llvm.func`). A pass that panics fails, with a diagnostic that says whose
//! defect it is.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use rayon::prelude::*;

use crate::body::{Body, OpRef};
use crate::diagnostics::{Diagnostic, Diagnostics, Severity};
use crate::location::Loc;
use crate::symbols::{SYMBOL_NAME, SymbolTable};
use forms::Held;

pub mod edits;
pub mod forms;
pub mod instrumentation;
pub mod pipeline;
pub mod progress;
pub mod report;
pub mod survey;

pub use edits::EditLimit;
pub use forms::CanonicalForm;
use instrumentation::Around;
pub use instrumentation::{
    Checks, PassInstrumentation, PassInstrumentor, PassSelection, PrintIr, Scope, VerifyAnalyses, VerifyEach,
};
pub use pipeline::{Options, PassInfo, PassRegistry, PipelineError};
pub use progress::Progress;
pub use report::{Record, Report};
pub use survey::{Survey, Surveys};

/// A change to one body.
pub trait Pass: Send + Sync {
    /// Its name in pipelines.
    fn name(&self) -> &str;

    /// The forms that a body must be in for it. The manager brings it into them.
    fn requires(&self) -> &[&'static CanonicalForm] {
        &[]
    }

    /// The forms that a body is in when it is done.
    fn makes(&self) -> &[&'static CanonicalForm] {
        &[]
    }

    /// The forms that a body is in when it is done if it was before.
    fn preserves(&self) -> &[&'static CanonicalForm] {
        &[]
    }

    /// Returns the surveys that it needs of the body around those it runs on.
    fn surveys(&self) -> &[&'static Survey] {
        &[]
    }

    /// Changes `body`, whose root is of the kind the pass is anchored on.
    ///
    /// # Errors
    /// What kept it from doing its work. The pipeline stops there.
    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics>;
}

/// Says of operations of a kind that passes anchored on them leave some alone, as an interface
/// attached to
/// it: functions that are not to be optimised.
pub trait LeftAlone: Send + Sync {
    /// True if no pass may change this one.
    fn is_left_alone(&self, op: OpRef<'_>) -> bool;
}

/// The surroundings of a running pass besides its body, and the place it reports to.
#[derive(Debug)]
pub struct PassContext<'a> {
    /// The symbols of the operation around the body, as they were before the pipeline entered it.
    pub symbols: &'a SymbolTable,
    /// The results of its surveys.
    pub surveys: &'a Surveys,
    /// True if passes compare what they keep true on the way with what is.
    pub checks: bool,
    /// The bound on edits that the pass shares with all others of the run.
    pub edits: EditLimit,
    /// Remarks and warnings, in order.
    pub remarks: Diagnostics,
    /// Counts by name.
    pub statistics: Vec<(&'static str, u64)>,
    /// Texts to print, each with a title.
    pub dumps: Vec<(String, String)>,
    /// True if the pass says that it left its body as it was. Nothing is verified then.
    pub unchanged: bool,
}

impl PassContext<'_> {
    /// Reports what the pass did or did not do.
    pub fn remark(&mut self, remark: Diagnostic) {
        self.remarks.push(remark);
    }

    /// Prints something beside the program, under a title.
    pub fn print(&mut self, title: impl Into<String>, text: impl Into<String>) {
        self.dumps.push((title.into(), text.into()));
    }

    /// Adds to a count.
    pub fn count(&mut self, name: &'static str, by: u64) {
        report::add_count(&mut self.statistics, name, by);
    }
}

/// Passes to run on bodies of one kind of operation. Its text is the pipeline it was read from; in
/// the alternate form (`{:#}`) with a line for each pass.
pub struct PassManager {
    anchor: String,
    elements: Vec<Element>,
}

/// The operations that passes of one name run on, or [`pipeline::ANY`].
type Anchors = Vec<&'static str>;

enum Element {
    Pass(Box<dyn Pass>, Options, Anchors),
    Nested(PassManager),
}

impl PassManager {
    /// A manager without passes for operations of this full name, or for all if it is `any`.
    pub fn new(anchor: &str) -> Self {
        PassManager { anchor: anchor.into(), elements: Vec::new() }
    }

    /// The name of the operations it runs on.
    pub fn anchor(&self) -> &str {
        &self.anchor
    }

    /// Adds a pass.
    pub fn add(&mut self, pass: Box<dyn Pass>) -> &mut Self {
        self.add_with_options(pass, Options::default())
    }

    /// Adds a pass that was made from options.
    pub fn add_with_options(&mut self, pass: Box<dyn Pass>, options: Options) -> &mut Self {
        self.add_known(pass, options, Anchors::new())
    }

    /// Adds a pass that was made from options, with the operations that passes of its name run on.
    fn add_known(&mut self, pass: Box<dyn Pass>, options: Options, anchors: Anchors) -> &mut Self {
        self.elements.push(Element::Pass(pass, options, anchors));
        self
    }

    /// Adds passes to run on the bodies inside.
    pub fn nest(&mut self, manager: PassManager) -> &mut Self {
        self.elements.push(Element::Nested(manager));
        self
    }

    /// True if there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Splits the pipeline into pipelines of one pass each, with the names of the passes. To run
    /// one after the other is to run all.
    pub fn into_steps(self) -> Vec<(String, PassManager)> {
        let mut steps = Vec::new();
        for element in self.elements {
            let anchor = self.anchor.clone();
            match element {
                Element::Pass(pass, options, anchors) => {
                    let name = pass.name().to_owned();
                    let elements = vec![Element::Pass(pass, options, anchors)];
                    steps.push((name, PassManager { anchor, elements }));
                }
                // Pipelines are nested a few levels deep at most.
                Element::Nested(inner) => steps.extend(inner.into_steps().into_iter().map(|(name, step)| {
                    (name, PassManager { anchor: anchor.clone(), elements: vec![Element::Nested(step)] })
                })),
            }
        }
        steps
    }

    /// Runs all passes on `body`. Stops at the first that fails, on whichever body; the report then
    /// has its errors.
    pub fn run(&self, body: &mut Body, instrumentor: &PassInstrumentor) -> Report {
        let mut report = Report::default();
        let root = body.root_ref();
        if !self.runs_on(body) {
            let message = format!("can't run a pipeline for '{}' on '{}'", self.anchor, root.name());
            let help =
                format!("to run it on operations inside, nest it: {}({}(…))", root.name(), self.anchor);
            report.diagnostics.push(Diagnostic::error(root.loc(), message).help(help));
            return report;
        }
        let around = Around::default();
        self.run_elements(&mut Scope::new(body, &around), instrumentor, &mut report, true);
        report
    }

    fn runs_on(&self, body: &Body) -> bool {
        self.anchor == pipeline::ANY || body.root_ref().name() == self.anchor
    }

    /// Runs all elements on a body; on the outermost one, warns of those that have nothing to run
    /// on.
    fn run_elements(
        &self,
        scope: &mut Scope<'_>,
        instrumentor: &PassInstrumentor,
        report: &mut Report,
        outermost: bool,
    ) {
        let mut held = Held::default();
        for element in &self.elements {
            match element {
                Element::Pass(pass, ..) => report.append(forms::run(&**pass, scope, instrumentor, &mut held)),
                Element::Nested(manager) => {
                    held.clear();
                    if outermost {
                        report.diagnostics.append(manager.idle_on(scope.body()));
                    }
                    report.append(manager.run_nested(scope, instrumentor));
                }
            }
            if !report.succeeded() {
                return;
            }
        }
    }

    /// Warns of passes that have nothing to run on, since nothing in `body` is what they run on.
    fn idle_on(&self, body: &Body) -> Diagnostics {
        let inside = body.all_ops().filter_map(|op| body.nested(op));
        let names: BTreeSet<&str> = inside.map(|own| own.root_ref().name()).collect();
        let mut warnings = Diagnostics::new();
        if names.contains(self.anchor.as_str())
            || self.anchor == pipeline::ANY
            || body.all_ops().next().is_none()
        {
            return warnings;
        }
        for element in &self.elements {
            let Element::Pass(pass, _, anchors) = element else { continue };
            let name = pass.name();
            let message = format!("pass '{name}' runs on '{}', and the program has none", self.anchor);
            let warning = Diagnostic::new(Severity::Warning, subject(body).0, message);
            let known = names.iter().filter(|own| anchors.contains(own) || anchors.contains(&pipeline::ANY));
            let ways: Vec<String> = known.map(|own| format!("{own}({name})")).collect();
            warnings.push(match ways.is_empty() {
                true => warning,
                false => warning.help(format!("run it on what the program has: {}", ways.join(" or "))),
            });
        }
        warnings
    }

    /// Returns the surveys that its own passes need.
    fn surveys(&self) -> impl Iterator<Item = &'static Survey> + '_ {
        let of = |element: &Element| match element {
            Element::Pass(pass, ..) => pass.surveys().to_vec(),
            Element::Nested(_) => Vec::new(),
        };
        self.elements.iter().flat_map(of)
    }

    /// Runs on the bodies inside, on all of them even if one fails.
    fn run_nested(&self, scope: &mut Scope<'_>, instrumentor: &PassInstrumentor) -> Report {
        let start = Instant::now();
        let around = Around::of(scope.body(), self.surveys());
        let run = |mut scope: Scope<'_>| {
            let start = Instant::now();
            let mut report = Report::default();
            self.run_elements(&mut scope, instrumentor, &mut report, false);
            (report, start.elapsed())
        };
        let reports: Vec<_> = if instrumentor.is_threaded() {
            let mut bodies = scope.body_mut().nested_in_order();
            bodies.retain(|body| self.runs_on(body) && !is_left_alone(body));
            bodies.into_par_iter().map(|body| run(Scope::new(body, &around))).collect()
        } else {
            let nested = |op| Some((op, scope.body().nested(op)?));
            let bodies = scope.body().all_ops().filter_map(nested);
            let ops: Vec<_> = bodies
                .filter(|(_, body)| self.runs_on(body) && !is_left_alone(body))
                .map(|(op, _)| op)
                .collect();
            ops.into_iter().map(|op| run(scope.enter(op, &around))).collect()
        };
        Report::of_pipeline(&self.anchor, reports, start.elapsed())
    }
}

impl fmt::Display for PassManager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl PassManager {
    /// Writes the pipeline, each pass on a line of its own if `f` asks for the alternate form.
    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let line =
            |depth: usize| if f.alternate() { format!("\n{:1$}", "", 2 * depth) } else { String::new() };
        let (inner, last) = (line(depth + 1), line(depth));
        write!(f, "{}(", self.anchor)?;
        for (i, element) in self.elements.iter().enumerate() {
            write!(f, "{}{inner}", if i > 0 { "," } else { "" })?;
            match element {
                Element::Pass(pass, options, _) => write!(f, "{}{options}", pass.name())?,
                Element::Nested(manager) => manager.write(f, depth + 1)?,
            }
        }
        write!(f, "{last})")
    }
}

fn is_left_alone(body: &Body) -> bool {
    let root = body.root_ref();
    root.info().interface::<dyn LeftAlone>().is_some_and(|model| model.is_left_alone(root))
}

/// A pass with all that is done around it.
fn run_instrumented(pass: &dyn Pass, scope: &mut Scope<'_>, instrumentor: &PassInstrumentor) -> Report {
    let mut report = Report::default();
    let (loc, subject) = subject(scope.body());
    let how = (instrumentor.checks() == Checks::Analyses, instrumentor.edits());
    let mut run =
        |pass: &dyn Pass, scope: &mut Scope<'_>, report: &mut Report| run_pass(pass, scope, report, how);
    // After a panic nobody looks at the body again: the run has failed.
    let run = AssertUnwindSafe(|| instrumentor.run(pass, scope, &mut report, &mut run));
    let outcome = catch_unwind(run).unwrap_or_else(|panic| {
        let what = panic.downcast_ref::<&str>().copied();
        let what = what.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let what = what.unwrap_or("no reason given");
        let message = format!("pass '{}' panicked on {subject}: {what}", pass.name());
        Err(Diagnostic::error(loc, message).note(loc, "this is a defect in the pass").into())
    });
    if let Err(errors) = outcome {
        let silent = !errors.has_errors();
        report.diagnostics.append(errors);
        if silent {
            report.diagnostics.error(loc, format!("pass '{}' failed without saying why", pass.name()));
        }
    }
    report
}

/// The operation a pass runs on: a place for it in the text, and its name.
fn subject(body: &Body) -> (Loc, String) {
    let root = body.root_ref();
    let symbol = root.attr(SYMBOL_NAME).and_then(|name| name.as_str(body.ctx()));
    let name = symbol.map_or(String::new(), |name| format!(" @{name}"));
    // A module that the text leaves out stands nowhere; what is in it does.
    let is_written = |loc: &Loc| loc.file_line_col(body.ctx()).is_some_and(|(_, line, _)| line > 0);
    let mut places = std::iter::once(root.loc()).chain(body.all_ops().map(|op| body.loc(op)));
    (places.find(is_written).unwrap_or(root.loc()), format!("'{}'{name}", root.name()))
}

/// The pass itself.
fn run_pass(
    pass: &dyn Pass,
    scope: &mut Scope<'_>,
    report: &mut Report,
    (checks, edits): (bool, &EditLimit),
) -> Result<(), Diagnostics> {
    let (symbols, surveys) = (scope.symbols(), scope.surveys());
    let mut cx = PassContext {
        symbols,
        surveys,
        checks,
        edits: edits.clone(),
        remarks: Diagnostics::new(),
        statistics: Vec::new(),
        dumps: Vec::new(),
        unchanged: false,
    };
    let start = Instant::now();
    let outcome = pass.run(scope.body_mut(), &mut cx);
    report.diagnostics.append(cx.remarks);
    report.dumps.extend(cx.dumps);
    report.unchanged = cx.unchanged;
    report.records.push(Record::of_pass(pass.name(), start.elapsed(), cx.statistics));
    outcome
}
