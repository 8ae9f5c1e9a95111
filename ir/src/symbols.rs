//! Symbol tables: names of operations, and looking them up.
//!
//! A [`SymbolTable`] is a frozen view: for each symbol the operation's name and attributes as they
//! were when the view was made. All of that is uniqued data, so a view is cheap, can be shared
//! between threads, and lets a pass over one function see the signatures of the others while those
//! are being changed.

use hashbrown::HashMap;

use crate::attributes::{Attr, AttrKind, Dict};
use crate::body::{Body, OpRef};
use crate::context::{Context, Name, OpName};
use crate::diagnostics::Diagnostics;
use crate::entity::Op;
use crate::location::Loc;
use crate::opdef::Trait;

/// The attribute that names a symbol.
pub const SYMBOL_NAME: &str = "sym_name";

/// The attribute that says who may refer to a symbol: `public` (if absent), `private` or `nested`.
pub const SYMBOL_VISIBILITY: &str = "sym_visibility";

/// One symbol of a view.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// The operation, in the body the table was made of.
    pub op: Op,
    /// Its name.
    pub name: OpName,
    /// Its inherent attributes.
    pub properties: Dict,
    /// Its discardable attributes.
    pub attributes: Dict,
    /// Its location.
    pub loc: Loc,
    /// True if a region of it has a block: it is defined here, not only declared.
    pub has_body: bool,
}

impl Symbol {
    /// The attribute called `name`.
    pub fn attr(&self, ctx: &Context, name: &str) -> Option<Attr> {
        self.properties.get(ctx, name).or_else(|| self.attributes.get(ctx, name))
    }
}

/// The symbols directly inside one operation.
#[derive(Clone, Debug)]
pub struct SymbolTable {
    symbols: HashMap<Name, Symbol>,
    /// Attributes of the operation around the symbols: inherent ones, then others.
    own: [Dict; 2],
}

impl Default for SymbolTable {
    fn default() -> SymbolTable {
        SymbolTable { symbols: HashMap::new(), own: [Dict::EMPTY; 2] }
    }
}

impl SymbolTable {
    /// The symbols directly inside the root of `body`. Linear in the operations there. Of two equal
    /// names the first counts.
    pub fn of(body: &Body) -> SymbolTable {
        let mut symbols = HashMap::new();
        for region in body.own_regions(body.root()) {
            for block in body.blocks(region) {
                for op in body.ops(block) {
                    if let Some(name) = symbol_name(body, op) {
                        symbols.entry(name).or_insert_with(|| Symbol {
                            op,
                            name: body.op_name(op),
                            properties: body.properties(op),
                            attributes: body.attributes(op),
                            loc: body.loc(op),
                            has_body: has_body(body.op_ref(op)),
                        });
                    }
                }
            }
        }
        SymbolTable { symbols, own: [body.properties(body.root()), body.attributes(body.root())] }
    }

    /// The attribute called `name` of the operation around the symbols, as it was when the view was
    /// made: its data layout, for example.
    pub fn own_attr(&self, ctx: &Context, name: &str) -> Option<Attr> {
        self.own.iter().find_map(|attributes| attributes.get(ctx, name))
    }

    /// The symbol called `name`.
    pub fn get(&self, name: Name) -> Option<&Symbol> {
        self.symbols.get(&name)
    }

    /// Returns all symbols with their names, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (Name, &Symbol)> {
        self.symbols.iter().map(|(name, symbol)| (*name, symbol))
    }

    /// The symbol a flat reference names.
    pub fn resolve(&self, ctx: &Context, reference: Attr) -> Option<&Symbol> {
        self.get(reference.as_flat_symbol(ctx)?)
    }
}

/// An operation that refers to symbols by name, as an interface attached to it: what it asks of
/// them.
pub trait SymbolUser: Send + Sync {
    /// Reports references to symbols that are not in `table`, the nearest around the operation, or
    /// are not what the operation needs.
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics);
}

fn has_body(op: OpRef<'_>) -> bool {
    op.regions().any(|region| op.body().entry_block(region).is_some())
}

/// The name of a symbol operation.
pub fn symbol_name(body: &Body, op: Op) -> Option<Name> {
    let ctx = body.ctx();
    Some(ctx.name(symbol_attr(body, op)?.as_str(ctx)?))
}

/// The name of a symbol operation as the attribute it is: equal names are one attribute.
pub(crate) fn symbol_attr(body: &Body, op: Op) -> Option<Attr> {
    if !body.has_trait(op, Trait::Symbol) {
        return None;
    }
    let attr = body.attr_named(op, Name::SYMBOL_NAME)?;
    matches!(attr.kind(body.ctx()), AttrKind::String(text) if std::str::from_utf8(text).is_ok())
        .then_some(attr)
}

/// The operation called `name` directly inside the root of `body`. Linear.
pub fn lookup(body: &Body, name: &str) -> Option<Op> {
    let name = body.ctx().name(name);
    body.own_regions(body.root())
        .flat_map(|region| body.blocks(region))
        .flat_map(|block| body.ops(block))
        .find(|op| symbol_name(body, *op) == Some(name))
}
