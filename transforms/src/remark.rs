//! Remarks of passes on functions: text that begins with the function, and the same as data.
//!
//! A refusal has a name in brackets, which is the name of the remark. Names are those of LLVM's
//! remarks if it has one for the reason. Arguments are added with [`Diagnostic::arg`].

use loomir_ir::diagnostics::{Arg, Remark, RemarkKind};
use loomir_ir::pass::PassContext;
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc, Op, Value};

use crate::access::base::AliasMode;
use crate::assumption::Assumption;

/// Makes the remarks of a pass on a function.
#[derive(Clone, Copy, Debug)]
pub struct Remarks<'b> {
    /// The function.
    pub body: &'b Body,
    /// The pass.
    pub pass: &'static str,
}

impl Remarks<'_> {
    /// Something that was done.
    pub fn passed(self, name: &'static str, loc: Loc, text: &str) -> Diagnostic {
        self.said(RemarkKind::Passed, name, loc, text)
    }

    /// Something that was found out.
    pub fn analysis(self, name: &'static str, loc: Loc, text: &str) -> Diagnostic {
        self.said(RemarkKind::Analysis, name, loc, text)
    }

    /// Returns the remark about a change that was not made in the end.
    pub fn left(self, name: &'static str, loc: Loc, text: &str) -> Diagnostic {
        self.said(RemarkKind::Missed, name, loc, text)
    }

    /// Returns a remark about a missed transformation, with the reason.
    pub fn missed(self, name: &'static str, loc: Loc, what: &str, why: &str) -> Diagnostic {
        self.said(RemarkKind::Missed, name, loc, &format!("{what} [{name}]: {why}"))
    }

    /// Returns a remark about code that is no candidate, with the reason.
    pub fn unfit(self, name: &'static str, loc: Loc, what: &str, why: &str) -> Diagnostic {
        self.said(RemarkKind::Analysis, name, loc, &format!("{what} [{name}]: {why}"))
    }

    fn said(self, kind: RemarkKind, name: &'static str, loc: Loc, text: &str) -> Diagnostic {
        let function = self.name().unwrap_or_default().to_owned();
        let remark = Remark { kind, pass: self.pass, name, function, args: Vec::new() };
        Diagnostic::remark(loc, format!("{}{text}", self.function())).telling(remark)
    }

    /// `[name]: `, after the function.
    pub fn function(self) -> String {
        self.name().map(|name| format!("[{name}]: ")).unwrap_or_default()
    }

    fn name(&self) -> Option<&str> {
        self.body.attr(self.body.root(), "sym_name").and_then(|attr| attr.as_str(self.body.ctx()))
    }

    /// Returns the remarks about the assumptions made in a function for its changed loops, given a
    /// name for each value.
    pub(crate) fn assumed(
        self,
        assumed: &[Assumption],
        mode: AliasMode,
        loops: &'static str,
        called: &dyn Fn(Value) -> String,
    ) -> Vec<Diagnostic> {
        let body = self.body;
        let place = body.loc(body.root());
        let texts = |some: Vec<&Assumption>| -> Option<Vec<String>> {
            let texts: Vec<String> =
                some.into_iter().map(|assumption| assumption.text_by(body, called)).collect();
            (!texts.is_empty()).then_some(texts)
        };
        let (pairs, numbers) =
            assumed.iter().partition(|assumption| matches!(assumption, Assumption::Apart(..)));
        let of_pairs = texts(pairs).map(|pairs| {
            let joined = pairs.join(", ");
            let remark = match mode {
                AliasMode::Version => self.passed(
                    "Versioned",
                    place,
                    &format!(
                        "{loops} loops run if the memory of these does not overlap, the original ones if it does: {joined}"
                    ),
                ),
                _ => self.analysis(
                    "Assumed",
                    place,
                    &format!("Assumed that the memory of these does not overlap: {joined}"),
                ),
            };
            remark.arg("apart", pairs.into_iter().collect::<Arg>())
        });
        let of_numbers = texts(numbers).map(|numbers| {
            let joined = numbers.join(", ");
            let text = format!("{loops} loops run if this holds, the original ones if it does not: {joined}");
            self.passed("Versioned", place, &text).arg("holds", numbers.into_iter().collect::<Arg>())
        });
        [of_pairs, of_numbers].into_iter().flatten().collect()
    }
}

/// Tells the end of a pass over a function: one edit if the function changed, and all remarks.
pub(crate) fn tell(
    cx: &mut PassContext<'_>,
    pass: &'static str,
    body: &Body,
    has_changed: bool,
    remarks: Diagnostics,
) {
    if has_changed {
        cx.edits.made(pass, body.root_ref().loc());
    }
    remarks.into_iter().for_each(|remark| cx.remark(remark));
}

/// Returns an operation and its location, as data.
pub fn op(body: &Body, op: Op) -> Arg {
    vec![("op", body.op_ref(op).name().into()), ("at", body.loc(op).into())].into()
}
