//! Metadata that two modules number in their own ways.

use loomir_ir::{Body, OpRef, text};

/// The attribute of a module with its metadata.
const TABLE: &str = "llvm.metadata";

/// True if one number may stand for different metadata in two modules.
pub(crate) fn differs(modules: [&Body; 2]) -> bool {
    let [a, b] = modules.map(|module| module.root_ref().attr(TABLE));
    a != b
}

/// True if a text refers to metadata by a number.
pub(crate) fn is_named_in(text: &str) -> bool {
    text.split('!').skip(1).any(|behind| behind.starts_with(|c: char| c.is_ascii_digit()))
}

/// True if an operation, or one inside, refers to metadata by a number.
pub(crate) fn is_used(function: OpRef<'_>) -> bool {
    let (body, ctx) = (function.body(), function.ctx());
    body.all_ops().map(|op| body.op_ref(op)).any(|op| {
        let dicts = [op.properties(), op.attributes()];
        let mut attrs = dicts.iter().flat_map(|dict| dict.entries(ctx));
        attrs.any(|(_, attr)| is_named_in(&text::attr_to_string(ctx, *attr)))
    })
}
