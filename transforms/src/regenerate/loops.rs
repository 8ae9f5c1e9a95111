//! The operations of the loops of a tree that was written.

use loomir_ir::{Body, Op};

use super::{Rewrite, Unwritable, written};
use crate::legality::Approved;
use crate::tree::{Green, If, Item, Node, Program, TreeStore};

/// Does what [`regenerate`](super::regenerate) does, and returns the operation of each loop of the
/// tree, in the order of the text, a loop before its inner loops. `None` stands for a loop of one
/// iteration that is written without one. Also linear in the tree.
///
/// # Errors
///
/// As for [`regenerate`](super::regenerate).
///
/// # Panics
///
/// As for [`regenerate`](super::regenerate).
pub fn regenerate_loops(
    body: &mut Body,
    program: &Program,
    trees: &TreeStore,
    approved: &Approved,
) -> Result<Vec<Option<Op>>, Unwritable> {
    let mut loops = Vec::new();
    for item in written(body, program, trees, approved, Rewrite::Changed)? {
        match item {
            WrittenItem::New(own) => loops.extend(own),
            WrittenItem::Kept(item) => loops_of(program, trees, item, &mut loops),
        }
    }
    Ok(loops)
}

/// An item of the block after writing.
pub(super) enum WrittenItem {
    /// A written item, with the operations of its loops.
    New(Vec<Option<Op>>),
    /// An item that was moved as it is.
    Kept(Green),
}

/// Returns an item that was moved as it is.
pub(super) fn kept(trees: &TreeStore, item: Item) -> Vec<WrittenItem> {
    match item {
        Item::If(If { bodies, .. }) => {
            let items = bodies.into_iter().flatten().flat_map(|side| trees.items(side));
            items.map(WrittenItem::Kept).collect()
        }
        Item::Other(item) => vec![WrittenItem::Kept(item)],
    }
}

/// Adds the operations of the loops of a part of the program's tree. Recurses once for each loop or
/// guard. Raising bounds their nesting depth.
fn loops_of(program: &Program, trees: &TreeStore, tree: Green, loops: &mut Vec<Option<Op>>) {
    let body = match trees.get(tree) {
        Node::Loop { header, body } => {
            let lead = trees.header(header).origins.first();
            loops.push(lead.map(|lead| program.loop_info(lead.of).op));
            body
        }
        Node::Guard { body, .. } => body,
        Node::Empty | Node::Sequence { .. } | Node::Leaf { .. } | Node::Versioned { .. } => return,
    };
    trees.items(body).for_each(|item| loops_of(program, trees, item, loops));
}
