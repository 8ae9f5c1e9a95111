//! Remarks of passes on functions.

use loomir_ir::{Body, Diagnostic, Loc};

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
