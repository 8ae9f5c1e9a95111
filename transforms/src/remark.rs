//! Remarks of passes on functions.

use loomir_ir::{Body, Diagnostic, Loc};

use crate::assumption::Assumption;
use crate::dependence::base::AliasMode;

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

/// The remarks for a function in which this was assumed, for loops that are now like this.
pub(crate) fn assumed(
    body: &Body,
    assumed: &[Assumption],
    mode: AliasMode,
    loops: &'static str,
) -> Vec<Diagnostic> {
    let place = body.loc(body.root());
    let words = |some: Vec<&Assumption>| {
        let words: Vec<String> = some.into_iter().map(|assumption| assumption.text(body)).collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    let (pairs, numbers) = assumed.iter().partition(|assumption| matches!(assumption, Assumption::Apart(..)));
    let function = function(body);
    let of_pairs = words(pairs).map(|pairs| match mode {
        AliasMode::Version => format!(
            "{function}{loops} loops run if these memref arguments do not overlap, the original ones if they do: {pairs}"
        ),
        _ => format!("{function}Assumed of the memref arguments that these do not overlap: {pairs}"),
    });
    let of_numbers = words(numbers).map(|numbers| {
        format!("{function}{loops} loops run if this holds, the original ones if it does not: {numbers}")
    });
    [of_pairs, of_numbers].into_iter().flatten().map(|message| Diagnostic::remark(place, message)).collect()
}
