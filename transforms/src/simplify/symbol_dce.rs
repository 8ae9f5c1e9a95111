//! Dead symbol elimination: erases private symbols that nothing refers to.
//!
//! A symbol is live if it is public, or if an attribute of the symbol table's own operation, of an
//! operation that is no symbol, or of a live symbol names it. References are found in all
//! attributes, those inside arrays, dictionaries and texts included, but for metadata. Nested
//! tables are handled from the inside out.
//!
//! **Cost.** Linear in the operations and their attributes, once for each nested symbol table.

use hashbrown::HashMap;
use loomir_dialects::llvm::METADATA;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::symbols::{SYMBOL_VISIBILITY, symbol_name};
use loomir_ir::{Body, Diagnostics, Name, Op, Trait};

use crate::references::References;

/// The pass `symbol-dce`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "symbol-dce",
    anchor: None,
    summary: "Erase private symbols that nothing refers to",
    options: &[],
    make: |_| Ok(Box::new(SymbolDce)),
};

struct SymbolDce;

impl Pass for SymbolDce {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        body.for_each_body(&mut |body| cx.count("Symbols erased", erase_dead_symbols(body) as u64));
        Ok(())
    }
}

/// Erases the dead symbols of a symbol table. Returns their number.
pub fn erase_dead_symbols(body: &mut Body) -> usize {
    erase_dead_symbols_if(body, |_, _| true)
}

/// Erases the dead symbols of a symbol table that `may_go` accepts. Returns their number.
pub(crate) fn erase_dead_symbols_if(body: &mut Body, may_go: impl Fn(&Body, Op) -> bool) -> usize {
    if !body.has_trait(body.root(), Trait::SymbolTable) {
        return 0;
    }
    let mut named = HashMap::new();
    let mut live: Vec<Op> = vec![body.root()];
    for op in top_level(body) {
        match symbol_name(body, op) {
            Some(name) if is_private(body, op) && may_go(body, op) => {
                named.insert(name, op);
            }
            _ => live.push(op),
        }
    }
    let mut found = Found { references: References::new(body.ctx()), names: Vec::new() };
    while let Some(op) = live.pop() {
        found.collect(body, op);
        live.extend(found.names.drain(..).filter_map(|name| named.remove(&name)));
    }
    let mut dead: Vec<Op> = named.into_values().collect();
    dead.sort_by_key(|op| op.index());
    let count = dead.len();
    dead.into_iter().for_each(|op| body.erase(op));
    count
}

/// Returns the operations of a table's own regions.
pub(super) fn top_level(body: &Body) -> Vec<Op> {
    let blocks = body.own_regions(body.root()).flat_map(|region| body.blocks(region));
    blocks.flat_map(|block| body.ops(block)).collect()
}

pub(crate) fn is_private(body: &Body, op: Op) -> bool {
    let visibility = body.attr(op, SYMBOL_VISIBILITY).and_then(|attr| attr.as_str(body.ctx()));
    visibility == Some("private")
}

/// The names that attributes refer to.
struct Found {
    references: References,
    names: Vec<Name>,
}

impl Found {
    /// Collects the references of an operation and of everything inside it. The root of a symbol
    /// table counts without what it holds.
    fn collect(&mut self, body: &Body, op: Op) {
        if op == body.root() {
            return self.attributes_of(body, op);
        }
        for op in body.preorder(op) {
            match body.nested(op) {
                Some(nested) => nested.walk(&mut |body, op| self.attributes_of(body, op)),
                None => self.attributes_of(body, op),
            }
        }
    }

    fn attributes_of(&mut self, body: &Body, op: Op) {
        let dicts = [body.properties(op), body.attributes(op)];
        let all = dicts.iter().flat_map(|dict| dict.entries(body.ctx()));
        // Metadata is no use.
        let used = all.filter(|(name, _)| body.ctx().str(*name) != METADATA);
        let attributes = used.map(|(_, attr)| *attr);
        self.references.search(attributes, &mut |root, _| self.names.push(root));
    }
}
