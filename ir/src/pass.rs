//! Passes and the manager that runs them.
//!
//! A [`Pass`] changes one body: a module's, a function's. A [`PassManager`] is a list of passes and of managers for the bodies inside, as
//! MLIR's textual pipelines write it: `builtin.module(func.func(canonicalize,loop-fusion{max-depth=2}),cse)`. Bodies at one level
//! are independent, so a nested manager runs over them in parallel; what a pass may see of its siblings is a frozen
//! [`SymbolTable`]. Diagnostics, remarks, statistics and dumps come back merged in the order of the bodies, whatever the
//! threads did.
//!
//! Passes are found by name and anchor in a [`PassRegistry`]: one name may mean different passes on different operations
//! (`loop-fusion` on `func.func` and on `llvm.func`).

use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::body::Body;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::symbols::SymbolTable;
use crate::text::{PrintOptions, print};
use crate::verifier;

pub mod pipeline;

pub use pipeline::{Options, PassInfo, PassRegistry, PipelineError};

/// A change to one body.
pub trait Pass: Send + Sync {
    /// Its name in pipelines.
    fn name(&self) -> &str;

    /// Changes `body`, whose root is of the kind the pass is anchored on.
    ///
    /// # Errors
    /// What kept it from doing its work. The pipeline stops there.
    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics>;
}

/// What a running pass sees besides its body, and where it reports to.
#[derive(Debug)]
pub struct PassContext<'a> {
    /// The symbols of the operation around the body, as they were before the pipeline entered it.
    pub symbols: &'a SymbolTable,
    /// Remarks and warnings, in order.
    pub remarks: Diagnostics,
    /// Counts by name.
    pub statistics: Vec<(&'static str, u64)>,
}

impl PassContext<'_> {
    /// Reports what the pass did or did not do.
    pub fn remark(&mut self, remark: Diagnostic) {
        self.remarks.push(remark);
    }

    /// Adds to a count.
    pub fn count(&mut self, name: &'static str, by: u64) {
        match self.statistics.iter_mut().find(|(own, _)| *own == name) {
            Some((_, count)) => *count += by,
            None => self.statistics.push((name, by)),
        }
    }
}

/// What to do around passes.
#[derive(Clone, Debug, Default)]
pub struct Instrumentation {
    /// Verify after each pass.
    pub verify_each: bool,
    /// Keep the text of the body after each pass.
    pub print_after_all: bool,
    /// Measure each pass.
    pub timing: bool,
}

/// What came of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// Remarks and warnings of the passes and, behind them, the errors of the one that failed.
    pub diagnostics: Diagnostics,
    /// Title and text of each dump.
    pub dumps: Vec<(String, String)>,
    /// Pass, statistic, count: summed over all bodies, in order of first appearance.
    pub statistics: Vec<(String, &'static str, u64)>,
    /// Pass and time: summed over all bodies, in order of first appearance.
    pub timing: Vec<(String, Duration)>,
}

impl Report {
    /// Whether every pass did its work and what it left is well formed.
    pub fn succeeded(&self) -> bool {
        !self.diagnostics.has_errors()
    }

    fn merge(&mut self, other: Report) {
        self.diagnostics.append(other.diagnostics);
        self.dumps.extend(other.dumps);
        for (pass, name, count) in other.statistics {
            match self.statistics.iter_mut().find(|(p, n, _)| *p == pass && *n == name) {
                Some(entry) => entry.2 += count,
                None => self.statistics.push((pass, name, count)),
            }
        }
        for (pass, time) in other.timing {
            match self.timing.iter_mut().find(|(p, _)| *p == pass) {
                Some(entry) => entry.1 += time,
                None => self.timing.push((pass, time)),
            }
        }
    }
}

/// Passes to run on bodies of one kind of operation.
pub struct PassManager {
    anchor: String,
    elements: Vec<Element>,
}

enum Element {
    Pass(Box<dyn Pass>),
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
        self.elements.push(Element::Pass(pass));
        self
    }

    /// Adds passes to run on the bodies inside.
    pub fn nest(&mut self, manager: PassManager) -> &mut Self {
        self.elements.push(Element::Nested(manager));
        self
    }

    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// Runs all passes on `body`. Stops at the first that fails; the report then ends with its errors.
    pub fn run(&self, body: &mut Body, instrumentation: &Instrumentation) -> Report {
        let mut report = Report::default();
        let root = body.root_ref();
        if self.anchor != "any" && root.name() != self.anchor {
            let message = format!("can't run a pipeline for '{}' on '{}'", self.anchor, root.name());
            let help = format!("nest it: {}({}(…))", root.name(), self.anchor);
            report.diagnostics.push(Diagnostic::error(root.loc(), message).help(help));
            return report;
        }
        self.run_elements(body, &SymbolTable::default(), instrumentation, &mut report);
        report
    }

    fn run_elements(&self, body: &mut Body, outer: &SymbolTable, how: &Instrumentation, report: &mut Report) {
        for element in &self.elements {
            match element {
                Element::Pass(pass) => run_pass(&**pass, body, outer, how, report),
                Element::Nested(manager) => manager.run_nested(body, how, report),
            }
            if !report.succeeded() {
                return;
            }
        }
    }

    fn run_nested(&self, parent: &mut Body, how: &Instrumentation, report: &mut Report) {
        let symbols = SymbolTable::of(parent);
        let bodies: Vec<&mut Body> = parent
            .nested_in_order()
            .into_iter()
            .filter(|body| self.anchor == "any" || body.root_ref().name() == self.anchor)
            .collect();
        let reports: Vec<Report> = bodies
            .into_par_iter()
            .map(|body| {
                let mut report = Report::default();
                self.run_elements(body, &symbols, how, &mut report);
                report
            })
            .collect();
        for inner in reports {
            report.merge(inner);
        }
    }
}

fn run_pass(
    pass: &dyn Pass,
    body: &mut Body,
    symbols: &SymbolTable,
    how: &Instrumentation,
    report: &mut Report,
) {
    let mut cx = PassContext { symbols, remarks: Diagnostics::new(), statistics: Vec::new() };
    let start = how.timing.then(Instant::now);
    let outcome = pass.run(body, &mut cx);
    let mut own = Report { diagnostics: cx.remarks, ..Report::default() };
    own.statistics =
        cx.statistics.into_iter().map(|(name, count)| (pass.name().into(), name, count)).collect();
    own.timing = start.map(|start| (pass.name().to_owned(), start.elapsed())).into_iter().collect();
    match outcome {
        Err(errors) => {
            own.diagnostics.append(errors);
            if !own.diagnostics.has_errors() {
                let message = format!("pass '{}' failed without saying why", pass.name());
                own.diagnostics.error(body.root_ref().loc(), message);
            }
        }
        Ok(()) if how.verify_each => {
            let errors = verifier::verify(body);
            if errors.has_errors() {
                let message = format!("pass '{}' left IR that is not well formed", pass.name());
                own.diagnostics.error(body.root_ref().loc(), message);
            }
            own.diagnostics.append(errors);
        }
        Ok(()) => {}
    }
    if how.print_after_all {
        let title = format!("IR Dump After {}", pass.name());
        own.dumps.push((title, print(body, &PrintOptions::default())));
    }
    report.merge(own);
}
