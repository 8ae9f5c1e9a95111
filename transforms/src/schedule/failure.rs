//! Failures of schedules.

use loomir_ir::{Body, Diagnostic, Loc};

use crate::legality::Verdict;

/// The failure of an operation of a schedule.
#[derive(Debug)]
pub(super) enum Failure {
    /// The program is as it was. Another way may be tried.
    Silenceable(Box<Diagnostic>),
    /// The schedule is wrong, or the program is no longer as it was.
    Definite(Box<Diagnostic>),
}

impl Failure {
    /// Returns a failure after which another way may be tried.
    pub(super) fn silenceable(diagnostic: Diagnostic) -> Failure {
        Failure::Silenceable(Box::new(diagnostic))
    }

    /// Returns a failure that ends the schedule.
    pub(super) fn definite(diagnostic: Diagnostic) -> Failure {
        Failure::Definite(Box::new(diagnostic))
    }

    /// Returns the failure of the step `name` at `loc` that the judge refuses. `then` is the
    /// participle for changed loops, such as "interchanged".
    pub(super) fn refused(verdict: &Verdict, body: &Body, loc: Loc, [name, then]: [&str; 2]) -> Failure {
        let (why, help) = match verdict {
            Verdict::Illegal(_) => ("it changes what the loops compute", None),
            Verdict::MayBeIllegal(_) => ("it may change what the loops compute", None),
            Verdict::Unknown { .. } => ("it is not proved legal", None),
            Verdict::Legal { assumed } => {
                let assumed: Vec<String> = assumed.iter().map(|own| own.text(body)).collect();
                let text = format!("the condition: {}", assumed.join(" and "));
                ("it is legal only under a condition", Some(text))
            }
        };
        let error = Diagnostic::error(loc, format!("'{name}' is refused: {why}"));
        let error = help.into_iter().fold(error, |error, help| error.help(help));
        Failure::silenceable(verdict.explain(body, error, then))
    }

    /// Returns the failure of using a handle at `user` after `by` made it invalid.
    pub(super) fn used_after(user: Loc, by: Loc, why: &'static str) -> Failure {
        const WHAT: &str = "op uses a handle invalidated by a previously executed transform op";
        Failure::definite(Diagnostic::error(user, WHAT).note(by, why))
    }

    /// Returns the diagnostic.
    pub(super) fn into_diagnostic(self) -> Diagnostic {
        match self {
            Failure::Silenceable(diagnostic) | Failure::Definite(diagnostic) => *diagnostic,
        }
    }

    /// True if another way may be tried.
    pub(super) fn is_silenceable(&self) -> bool {
        matches!(self, Failure::Silenceable(_))
    }
}
