//! Metadata of LLVM as texts that can be compared between modules.
//!
//! A module numbers its metadata in its own way. A reference `!5` is replaced by what it stands
//! for.

use loomir_ir::{Attr, AttrKind, Body, text};

/// The longest text.
const MAX_LENGTH: usize = 4096;
/// The deepest nesting of references.
const MAX_DEPTH: usize = 12;

/// Returns the text of an attribute with what its references stand for. A reference that is left,
/// or the word `distinct`, says that the text cannot be compared.
pub(super) fn resolved(module: &Body, attr: Attr) -> String {
    let ctx = module.ctx();
    let mut text = text::attr_to_string(ctx, attr);
    let table = module.root_ref().attr("llvm.metadata");
    let Some(AttrKind::Dictionary(table)) = table.map(|table| table.kind(ctx)) else { return text };
    for _ in 0..MAX_DEPTH {
        let Some(next) = replaced(&text, &|number| table.get(ctx, number).and_then(|attr| attr.as_str(ctx)))
        else {
            break;
        };
        text = next;
        if text.len() > MAX_LENGTH {
            break;
        }
    }
    // Strings and lists of metadata begin with the same sign as references.
    text.replace("!\\22", "'").replace("!\"", "'").replace("!{", "{")
}

/// Replaces each reference; `None` if there is none.
fn replaced<'t>(text: &str, node: &dyn Fn(&str) -> Option<&'t str>) -> Option<String> {
    let (mut out, mut rest, mut is_new) = (String::new(), text, false);
    while let Some(at) = rest.find('!') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        out.push_str(before);
        match node(&behind[..digits]).filter(|_| digits > 0) {
            Some(text) => {
                out.push_str(text);
                is_new = true;
            }
            None => {
                out.push('!');
                out.push_str(&behind[..digits]);
            }
        }
        rest = &behind[digits..];
    }
    out.push_str(rest);
    is_new.then_some(out)
}
