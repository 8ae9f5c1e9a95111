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
    /// inside arrays and dictionaries included.
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
                _ => {}
            }
        }
    }
}
