//! Red cursors: a node of a tree together with its place.
//!
//! A green node knows no parent and no place, because it may be in many trees. A cursor is a tree
//! and the path to a node in it. It is made for a walk and dropped afterwards. It moves up, down
//! and sideways, returns the surrounding loops, and edits. An edit makes the nodes on the path
//! anew, and the cursor is then in the new tree. The old tree is unchanged.
//!
//! The children of a sequence, a loop and a guard are its items; those of a versioned node its two
//! sequences.
//!
//! **Cost.** Down and sideways are logarithmic in the length of a sequence, up is constant. An edit
//! makes a logarithmic number of nodes in each surrounding sequence, and the loops and guards
//! there.
//!
//! ```
//! # use loomir_transforms::affine::AffineForm;
//! # use loomir_transforms::tree::{TreeStore, Header, Red, Span, StatementId};
//! # let mut trees = TreeStore::default();
//! # let none = trees.make_map(Box::new([]));
//! # let [a, b, c] = [0, 1, 2].map(|i| trees.leaf(StatementId(i), none));
//! # let span = || Span::range(1, vec![AffineForm::constant(0)], vec![AffineForm::constant(8)]);
//! # let header = || Header { span: span(), origins: Box::new([]), parallel: false, mark: None };
//! let body = trees.sequence(&[a, b]);
//! let nest = trees.make_loop(header(), body);
//! let tree = trees.sequence(&[nest, c]);
//!
//! let mut cursor = Red::at(&trees, tree, &[0, 1]).ok_or("there is such a node")?;
//! assert_eq!((cursor.node(), cursor.depth(&trees)), (b, 1));
//! // In the place of the second statement the first runs again.
//! cursor.replace(&mut trees, &[a]);
//! assert_eq!((cursor.node(), cursor.index()), (a, Some(1)));
//!
//! let body = trees.sequence(&[a, a]);
//! let twice = trees.make_loop(header(), body);
//! assert_eq!(cursor.root(), trees.sequence(&[twice, c]));
//! assert!(cursor.up() && cursor.right(&trees));
//! assert_eq!(cursor.node(), c);
//! # Ok::<(), &str>(())
//! ```

use std::ops::Range;

use super::green::{Green, HeaderId, Node, TreeStore};
use super::program::Program;
use crate::access::LoopContext;

/// A place in a tree. See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Red {
    root: Green,
    /// The path from the root: the number of each child, and the node.
    steps: Vec<(usize, Green)>,
}

impl Red {
    /// Returns the place of a whole tree.
    pub fn of(root: Green) -> Red {
        Red { root, steps: Vec::new() }
    }

    /// Returns the place with this path of child numbers from the root, if it exists.
    pub fn at(trees: &TreeStore, root: Green, path: &[usize]) -> Option<Red> {
        let mut cursor = Red::of(root);
        path.iter().all(|at| cursor.down(trees, *at)).then_some(cursor)
    }

    /// Returns the whole tree.
    pub fn root(&self) -> Green {
        self.root
    }

    /// Returns the node at the cursor.
    pub fn node(&self) -> Green {
        self.steps.last().map_or(self.root, |(_, node)| *node)
    }

    /// Returns the path: the child number of each node on the way, from the outside.
    pub fn path(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.steps.iter().map(|(at, _)| *at)
    }

    /// Returns the number of the node among its parent's children; `None` for the root.
    pub fn index(&self) -> Option<usize> {
        self.steps.last().map(|(at, _)| *at)
    }

    /// Returns the ancestors, from the outside.
    pub fn around(&self) -> impl Iterator<Item = Green> + '_ {
        let inner = self.steps.iter().map(|(_, node)| *node);
        [self.root].into_iter().chain(inner).take(self.steps.len())
    }

    /// Returns the surrounding loops, from the outside: one for each level.
    pub fn loops(&self, trees: &TreeStore) -> impl Iterator<Item = HeaderId> {
        self.around().filter_map(|node| match trees.get(node) {
            Node::Loop { header, .. } => Some(header),
            _ => None,
        })
    }

    /// Returns the number of loops around.
    pub fn depth(&self, trees: &TreeStore) -> usize {
        self.loops(trees).count()
    }

    /// Returns the surrounding loops and conditions as constraints on the levels.
    pub fn loop_context(&self, program: &Program, trees: &TreeStore) -> LoopContext {
        self.around().fold(LoopContext::outside(&program.surroundings), |loop_context, node| {
            match trees.get(node) {
                Node::Loop { header, .. } => loop_context.inside(program, trees, header),
                Node::Guard { of, map, holds, .. } => loop_context.guarded(program, trees, (of, map), holds),
                _ => loop_context,
            }
        })
    }

    /// Returns the children of the node.
    pub fn children(&self, trees: &TreeStore) -> impl Iterator<Item = Green> {
        let sides = match trees.get(self.node()) {
            Node::Versioned { fast, fallback, .. } => Some([fast, fallback]),
            _ => None,
        };
        sides.into_iter().flatten().chain(trees.items(items_of(trees, self.node())))
    }

    /// Returns the child of this number.
    pub fn child(&self, trees: &TreeStore, at: usize) -> Option<Green> {
        match trees.get(self.node()) {
            Node::Versioned { fast, fallback, .. } => [fast, fallback].get(at).copied(),
            _ => trees.item(items_of(trees, self.node()), at),
        }
    }

    /// Moves to a child, if there is one of this number.
    pub fn down(&mut self, trees: &TreeStore, at: usize) -> bool {
        let child = self.child(trees, at);
        self.steps.extend(child.map(|child| (at, child)));
        child.is_some()
    }

    /// Moves to the parent, if there is one.
    pub fn up(&mut self) -> bool {
        self.steps.pop().is_some()
    }

    /// Moves to the next child of the parent, if there is one.
    pub fn right(&mut self, trees: &TreeStore) -> bool {
        self.sideways(trees, |at| at.checked_add(1))
    }

    /// Moves to the child of the parent before this one, if there is one.
    pub fn left(&mut self, trees: &TreeStore) -> bool {
        self.sideways(trees, |at| at.checked_sub(1))
    }

    fn sideways(&mut self, trees: &TreeStore, to: impl Fn(usize) -> Option<usize>) -> bool {
        let Some(here) = self.steps.pop() else { return false };
        let moved = to(here.0).is_some_and(|at| self.down(trees, at));
        if !moved {
            self.steps.push(here);
        }
        moved
    }

    /// Moves to the next node in the order of the text: the first child, or the node behind. It
    /// returns to the root at the end.
    pub fn onwards(&mut self, trees: &TreeStore) -> bool {
        if self.down(trees, 0) {
            return true;
        }
        while !self.right(trees) {
            if !self.up() {
                return false;
            }
        }
        true
    }

    /// Replaces the node, which is one of a sequence, by other items. The cursor is then at the
    /// first of them; without any, at their parent. The root is replaced by the sequence of the
    /// items.
    pub fn replace(&mut self, trees: &mut TreeStore, items: &[Green]) {
        let Some(at) = self.index() else {
            self.root = trees.sequence(items);
            return;
        };
        self.up();
        self.splice(trees, at..at + 1, items);
        if !items.is_empty() {
            self.down(trees, at);
        }
    }

    /// Replaces some children of the node by other items. In a versioned node one of the two trees
    /// is replaced by the sequence of the items. A leaf has no children, and stays.
    pub fn splice(&mut self, trees: &mut TreeStore, range: Range<usize>, items: &[Green]) {
        let mut new = match trees.get(self.node()) {
            Node::Leaf { .. } => return,
            Node::Versioned { .. } => {
                let side = trees.sequence(items);
                with_side(trees, self.node(), range.start, side)
            }
            _ => {
                let sequence = trees.splice(items_of(trees, self.node()), range, items);
                with_items(trees, self.node(), sequence)
            }
        };
        for step in (0..self.steps.len()).rev() {
            let at = self.steps[step].0;
            self.steps[step].1 = new;
            let parent = step.checked_sub(1).map_or(self.root, |above| self.steps[above].1);
            new = match trees.get(parent) {
                Node::Versioned { .. } => with_side(trees, parent, at, new),
                _ => {
                    let sequence = trees.splice(items_of(trees, parent), at..at + 1, &[new]);
                    with_items(trees, parent, sequence)
                }
            };
        }
        self.root = new;
    }
}

/// Returns the sequence of a node's items.
fn items_of(trees: &TreeStore, node: Green) -> Green {
    match trees.get(node) {
        Node::Loop { body, .. } | Node::Guard { body, .. } => body,
        Node::Empty | Node::Sequence { .. } => node,
        Node::Versioned { .. } | Node::Leaf { .. } => TreeStore::EMPTY,
    }
}

/// Returns a node with other items.
fn with_items(trees: &mut TreeStore, node: Green, items: Green) -> Green {
    match trees.get(node) {
        Node::Loop { header, .. } => trees.with_header(header, items),
        Node::Guard { of, map, holds, .. } => trees.guard(of, map, holds, items),
        Node::Empty | Node::Sequence { .. } | Node::Versioned { .. } | Node::Leaf { .. } => items,
    }
}

/// Returns a versioned node with another sequence on one side.
fn with_side(trees: &mut TreeStore, node: Green, at: usize, side: Green) -> Green {
    let Node::Versioned { assumption, fast, fallback } = trees.get(node) else { return node };
    let (fast, fallback) = if at == 0 { (side, fallback) } else { (fast, side) };
    trees.node(Node::Versioned { assumption, fast, fallback })
}
