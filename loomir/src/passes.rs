//! All passes, by name.

use loomir_ir::pass::PassRegistry;

/// The passes Loomir has.
///
/// ```
/// let passes = loomir::passes();
/// assert!(passes.parse("builtin.module(func.func(loop-fusion{alias=distinct}))").is_ok());
/// assert!(passes.parse("func.func(no-such-pass)").is_err());
/// ```
pub fn passes() -> PassRegistry {
    let mut registry = crate::schedule::passes();
    registry.add(crate::schedule::PASS);
    registry.add(crate::directives::PASS);
    registry
}
