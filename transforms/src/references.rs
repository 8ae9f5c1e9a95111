//! References to symbols in attributes.

use hashbrown::HashSet;
use loomir_ir::{Attr, AttrKind, Context, Name};

/// The search for the symbols that attributes name. Each attribute is searched once.
pub(crate) struct References {
    ctx: Context,
    seen: HashSet<Attr>,
}

impl References {
    pub(crate) fn new(ctx: &Context) -> References {
        References { ctx: ctx.clone(), seen: HashSet::new() }
    }

    /// Calls `found` with the symbol references in attributes that were not searched before, those
    /// inside arrays, dictionaries and texts included.
    pub(crate) fn search(
        &mut self,
        attributes: impl IntoIterator<Item = Attr>,
        found: &mut dyn FnMut(Name, &[Name]),
    ) {
        let mut open: Vec<Attr> = attributes.into_iter().collect();
        while let Some(attr) = open.pop() {
            if !self.seen.insert(attr) {
                continue;
            }
            match attr.kind(&self.ctx) {
                AttrKind::Symbol { root, nested } => found(*root, nested),
                AttrKind::Array(elements) => open.extend(elements.iter().copied()),
                AttrKind::Dictionary(dict) | AttrKind::Dialect { params: dict, .. } => {
                    open.extend(dict.entries(&self.ctx).iter().map(|(_, attr)| *attr));
                }
                AttrKind::String(text) => {
                    let text = std::str::from_utf8(text).unwrap_or_default();
                    names_in(text).for_each(|name| found(self.ctx.name(name), &[]));
                }
                _ => {}
            }
        }
    }
}

/// Returns the symbols that a constant of LLVM IR names, as it is kept in attributes: `ptr @f`. In
/// other texts there may be more.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "$._-".contains(c);
    text.split('@').skip(1).map(move |rest| match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => rest.split(|c| !is_part(c)).next().unwrap_or_default(),
    })
}
