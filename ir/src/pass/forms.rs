//! Forms: what passes may ask of a body before they run, and leave behind.
//!
//! A form is a name, a check that says what is not in form, and a pass that brings a body into it.
//! Passes say which forms they [need](Pass::requires), [make](Pass::makes) and
//! [keep](Pass::preserves); the manager remembers which hold, checks those of which it does not
//! know, and runs what makes the ones that don't, with what that needs in turn. A pass that says
//! nothing is taken to break every form; the check, which is linear, then decides.
//!
//! Where what passes leave is verified ([`VerifyEach`](super::VerifyEach)), every form that should
//! hold by what they say is checked after each of them.

use super::{Checks, Pass, PassInstrumentor, Report, Scope, run_instrumented};
use crate::body::Body;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::symbols::SymbolTable;

/// A form that bodies can be in.
#[derive(Debug)]
pub struct CanonicalForm {
    /// Its name, which is that of the pass that makes it.
    pub name: &'static str,
    /// Says if a body is in it. The symbols are those that a pass on the body sees.
    ///
    /// # Errors
    /// The first thing that is not in form.
    pub check: fn(&Body, &SymbolTable) -> Result<(), Diagnostic>,
    /// The pass that brings any body into it.
    pub make: fn() -> Box<dyn Pass>,
}

/// Deepest chain of forms that need each other.
const MAX_DEPTH: usize = 16;

/// Which forms a body is known to be in.
#[derive(Default)]
pub(super) struct Held(Vec<&'static CanonicalForm>);

impl Held {
    fn has(&self, form: &CanonicalForm) -> bool {
        self.0.iter().any(|own| own.name == form.name)
    }

    /// True if a body is in a form, looked at if that isn't known.
    fn holds(&mut self, form: &'static CanonicalForm, scope: &Scope<'_>) -> bool {
        if !self.has(form) && (form.check)(scope.body(), scope.symbols()).is_ok() {
            self.0.push(form);
        }
        self.has(form)
    }

    /// Takes in that a pass has run.
    fn after(&mut self, pass: &dyn Pass) {
        let keeps = |form: &&CanonicalForm| pass.preserves().iter().any(|own| own.name == form.name);
        self.0.retain(keeps);
        for form in pass.makes() {
            if !self.has(form) {
                self.0.push(form);
            }
        }
    }

    /// Forgets everything: the body may have changed in any way.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Runs a pass, on a body in the forms that it needs.
pub(super) fn run(
    pass: &dyn Pass,
    scope: &mut Scope<'_>,
    instrumentor: &PassInstrumentor,
    held: &mut Held,
) -> Report {
    run_nested(pass, scope, instrumentor, held, 0)
}

/// Runs a pass that is needed for another one, `depth` times over.
fn run_nested(
    pass: &dyn Pass,
    scope: &mut Scope<'_>,
    instrumentor: &PassInstrumentor,
    held: &mut Held,
    depth: usize,
) -> Report {
    let mut report = Report::default();
    let loc = scope.body().root_ref().loc();
    if depth > MAX_DEPTH {
        let message = format!("the forms that pass '{}' makes or needs need each other", pass.name());
        report.diagnostics.push(Diagnostic::error(loc, message).note(loc, "this is a defect in the passes"));
        return report;
    }
    // What makes one form may break another; a second round finds those that can't hold together.
    for _ in 0..2 {
        for form in pass.requires() {
            if !held.holds(form, scope) {
                report.append(run_nested(&*(form.make)(), scope, instrumentor, held, depth + 1));
                if !report.succeeded() {
                    return report;
                }
            }
        }
    }
    let missing = pass.requires().iter().find(|form| !held.has(form));
    if let Some(form) = missing {
        let message =
            format!("pass '{}' needs form '{}', which is not there once it is made", pass.name(), form.name);
        report.diagnostics.push(Diagnostic::error(loc, message).note(loc, "this is a defect in the passes"));
        return report;
    }
    report.append(run_instrumented(pass, scope, instrumentor));
    held.after(pass);
    if instrumentor.checks() >= Checks::Forms && report.succeeded() {
        report.diagnostics.append(broken(pass, scope, held));
    }
    report
}

/// Returns the forms that should hold after a pass and do not.
fn broken(pass: &dyn Pass, scope: &Scope<'_>, held: &Held) -> Diagnostics {
    let body = scope.body();
    let mut errors = Diagnostics::new();
    for form in &held.0 {
        if let Err(found) = (form.check)(body, scope.symbols()) {
            let message =
                format!("pass '{}' left an operation that is not in form '{}'", pass.name(), form.name);
            errors.error(body.root_ref().loc(), message);
            errors.push(found);
        }
    }
    errors
}
