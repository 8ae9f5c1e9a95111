//! Alias scopes that a loop declares.
//!
//! Such a scope is a new one in each iteration. Copies of the iteration would need scopes of their
//! own, as would parts of it that run apart. So what a function says with these scopes is removed
//! before its loops change. Scopes that are declared elsewhere, or nowhere, stay.
//!
//! **Assumptions.**
//! - A scope without a declaration is one for each call of the function, and so is one that is
//!   declared outside of all loops. Tried with `fixtures/raising/scopes.ll`.
//!
//! **Cost.** Linear, if a loop declares scopes. Else that of looking for declarations.

use hashbrown::HashSet;
use loomir_dialects::llvm::METADATA;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Attr, AttrKind, Body, Context, Op};

use super::Analysis;
use super::calls::declares_scopes;
use crate::ll::METADATA_ARGUMENTS;

/// The attachments that name scopes.
const KINDS: [&str; 2] = ["alias.scope", "noalias"];

/// The attributes that name scopes in the `llvm` dialect.
const ATTRIBUTES: [&str; 2] = ["alias_scopes", "noalias_scopes"];

/// Removes the declarations in loops, and what names their scopes. The symbols are those of the
/// function's module.
pub(crate) fn forget_in_loops(function: &mut Body, analysis: &Analysis, symbols: &SymbolTable) {
    let ctx = function.ctx().clone();
    let blocks: Vec<_> = function.blocks(function.region(function.root(), 0)).collect();
    let in_loop = |block| analysis.loops().innermost(analysis.number(block)).is_some();
    let inside = blocks.into_iter().filter(|block| in_loop(*block)).flat_map(|block| function.ops(block));
    let declarations: Vec<Op> = inside.filter(|op| declares_scopes(function, *op)).collect();
    if declarations.is_empty() {
        return;
    }
    let nodes = Nodes { ctx: &ctx, all: symbols.own_attr(&ctx, METADATA) };
    let mut scopes: HashSet<&str> = HashSet::new();
    for op in &declarations {
        let arguments = function.attr(*op, METADATA_ARGUMENTS).and_then(|all| all.as_array(&ctx));
        scopes.extend(arguments.into_iter().flatten().flat_map(|own| nodes.names(*own)));
    }
    for op in function.all_ops().collect::<Vec<_>>() {
        ATTRIBUTES.into_iter().for_each(|name| function.remove_attr(op, name));
        let Some(AttrKind::Dictionary(all)) = function.attr(op, METADATA).map(|own| own.kind(&ctx)) else {
            continue;
        };
        let is_gone = |kind: &&str| {
            all.get(&ctx, kind).is_some_and(|list| nodes.names(list).any(|name| scopes.contains(name)))
        };
        let left = KINDS.into_iter().filter(is_gone).fold(*all, |left, kind| left.without(&ctx, kind));
        if left != *all {
            function.set_attr(op, METADATA, ctx.attr(AttrKind::Dictionary(left)));
        }
    }
    declarations.into_iter().for_each(|op| function.erase(op));
}

/// The nodes of a module's metadata.
struct Nodes<'c> {
    ctx: &'c Context,
    all: Option<Attr>,
}

impl<'c> Nodes<'c> {
    /// Returns the nodes that a list names: `!{!1, !2}`, or `!0` if that is such a list.
    fn names(&self, list: Attr) -> impl Iterator<Item = &'c str> + use<'c> {
        let text = list.as_str(self.ctx).unwrap_or_default();
        let node = text.strip_prefix('!').and_then(|name| match self.all?.kind(self.ctx) {
            AttrKind::Dictionary(all) => all.get(self.ctx, name)?.as_str(self.ctx),
            _ => None,
        });
        let words = node.unwrap_or(text).split(['{', '}', ',', ' ']);
        words.filter(|word| word.len() > 1 && word.starts_with('!'))
    }
}
