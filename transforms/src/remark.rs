//! Remarks of passes on functions.

use loomir_ir::{Body, Diagnostic, Loc, Value};

use crate::dependence::base::AliasMode;
use crate::legality::called;

/// A remark that says first which function it is about.
pub(crate) fn remark(body: &Body, loc: Loc, message: &str) -> Diagnostic {
    Diagnostic::remark(loc, format!("{}{message}", function(body)))
}

/// `[name]: `, after the function.
pub(crate) fn function(body: &Body) -> String {
    match body.attr(body.root(), "sym_name").and_then(|attr| attr.as_str(body.ctx())) {
        Some(name) => format!("[{name}]: "),
        None => String::new(),
    }
}

/// The remark for a function whose arguments were taken not to overlap, for loops that are now like this.
pub(crate) fn assumed(
    body: &Body,
    pairs: &[(Value, Value)],
    mode: AliasMode,
    loops: &'static str,
) -> Diagnostic {
    let pairs: Vec<String> =
        pairs.iter().map(|(a, b)| format!("{} and {}", called(body, *a), called(body, *b))).collect();
    let (function, pairs) = (function(body), pairs.join(", "));
    let message = match mode {
        AliasMode::Version => format!(
            "{function}{loops} loops run if these memref arguments do not overlap, the original ones if they do: {pairs}"
        ),
        _ => format!("{function}Assumed of the memref arguments that these do not overlap: {pairs}"),
    };
    Diagnostic::remark(body.loc(body.root()), message)
}
