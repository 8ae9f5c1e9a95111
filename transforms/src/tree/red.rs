//! Red cursors: a node of a tree together with where it stands.
//!
//! A green node knows no parent and no place, for it stands in many trees. A cursor is a tree and
//! the path to a node in it, made when one wants to walk about and forgotten afterwards; there is
//! none for a node that nobody looks at. It moves up, down and sideways, says which loops are
//! around, and edits: an edit makes the nodes on the path anew, and the cursor stands in the new
//! tree then. The old one is what it was.
//!
//! The children of a sequence, a loop and a guard are its items; those of a versioned node its two
//! sequences.
//!
//! **Cost.** Down and sideways are logarithmic in the length of a sequence, up is constant. An edit
//! makes a logarithmic number of nodes in each sequence around, and the loops and guards there.
//!
//! ```
//! # use loomir_transforms::affine::Form;
//! # use loomir_transforms::tree::{Forest, Header, Red, Span, StatementId};
//! # let mut forest = Forest::default();
//! # let none = forest.make_map(Box::new([]));
//! # let [a, b, c] = [0, 1, 2].map(|i| forest.leaf(StatementId(i), none));
//! # let span = || Span::range(1, vec![Form::constant(0)], vec![Form::constant(8)]);
//! # let header = || Header { span: span(), origins: Box::new([]), parallel: false, mark: None };
//! let body = forest.sequence(&[a, b]);
//! let nest = forest.make_loop(header(), body);
//! let tree = forest.sequence(&[nest, c]);
//!
//! let mut cursor = Red::at(&forest, tree, &[0, 1]).ok_or("there is such a node")?;
//! assert_eq!((cursor.node(), cursor.depth(&forest)), (b, 1));
//! // In the place of the second statement the first runs again.
//! cursor.replace(&mut forest, &[a]);
//! assert_eq!((cursor.node(), cursor.index()), (a, Some(1)));
//!
//! let body = forest.sequence(&[a, a]);
//! let twice = forest.make_loop(header(), body);
//! assert_eq!(cursor.root(), forest.sequence(&[twice, c]));
//! assert!(cursor.up() && cursor.right(&forest));
//! assert_eq!(cursor.node(), c);
//! # Ok::<(), &str>(())
//! ```

use std::ops::Range;

use super::green::{Forest, Green, HeaderId, Node};
use super::program::Program;
use crate::access::Frame;

/// A place in a tree. See the [module](self).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Red {
    root: Green,
    /// From the root downwards: which child, and what it is.
    steps: Vec<(usize, Green)>,
}

impl Red {
    /// The place of a whole tree.
    pub fn of(root: Green) -> Red {
        Red { root, steps: Vec::new() }
    }

    /// The place to which these numbers of children lead from the root, if there is one.
    pub fn at(forest: &Forest, root: Green, path: &[usize]) -> Option<Red> {
        let mut cursor = Red::of(root);
        path.iter().all(|at| cursor.down(forest, *at)).then_some(cursor)
    }

    /// The whole tree.
    pub fn root(&self) -> Green {
        self.root
    }

    /// What stands here.
    pub fn node(&self) -> Green {
        self.steps.last().map_or(self.root, |(_, node)| *node)
    }

    /// The number of the child that each node on the way is of the one around it, from the outside.
    pub fn path(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.steps.iter().map(|(at, _)| *at)
    }

    /// Which child of its parent the node is; nothing for the root.
    pub fn index(&self) -> Option<usize> {
        self.steps.last().map(|(at, _)| *at)
    }

    /// The nodes around, from the outside.
    pub fn around(&self) -> impl Iterator<Item = Green> + '_ {
        let inner = self.steps.iter().map(|(_, node)| *node);
        [self.root].into_iter().chain(inner).take(self.steps.len())
    }

    /// The loops around, from the outside: what each level is.
    pub fn loops(&self, forest: &Forest) -> impl Iterator<Item = HeaderId> {
        self.around().filter_map(|node| match forest.get(node) {
            Node::Loop { header, .. } => Some(header),
            _ => None,
        })
    }

    /// The number of loops that are around.
    pub fn depth(&self, forest: &Forest) -> usize {
        self.loops(forest).count()
    }

    /// The loops and conditions around, as what they say of the levels.
    pub fn frame(&self, program: &Program, forest: &Forest) -> Frame {
        self.around().fold(Frame::outside(&program.surroundings), |frame, node| match forest.get(node) {
            Node::Loop { header, .. } => frame.inside(program, forest, header),
            Node::Guard { of, map, holds, .. } => frame.guarded(program, forest, (of, map), holds),
            _ => frame,
        })
    }

    /// The children of the node.
    pub fn children(&self, forest: &Forest) -> impl Iterator<Item = Green> {
        let sides = match forest.get(self.node()) {
            Node::Versioned { fast, fallback, .. } => Some([fast, fallback]),
            _ => None,
        };
        sides.into_iter().flatten().chain(forest.items(items_of(forest, self.node())))
    }

    /// Returns the child of this number.
    pub fn child(&self, forest: &Forest, at: usize) -> Option<Green> {
        match forest.get(self.node()) {
            Node::Versioned { fast, fallback, .. } => [fast, fallback].get(at).copied(),
            _ => forest.item(items_of(forest, self.node()), at),
        }
    }

    /// Moves to a child, if there is one of this number.
    pub fn down(&mut self, forest: &Forest, at: usize) -> bool {
        let child = self.child(forest, at);
        self.steps.extend(child.map(|child| (at, child)));
        child.is_some()
    }

    /// Moves to the parent, if there is one.
    pub fn up(&mut self) -> bool {
        self.steps.pop().is_some()
    }

    /// Moves to the next child of the parent, if there is one.
    pub fn right(&mut self, forest: &Forest) -> bool {
        self.sideways(forest, |at| at.checked_add(1))
    }

    /// Moves to the child of the parent before this one, if there is one.
    pub fn left(&mut self, forest: &Forest) -> bool {
        self.sideways(forest, |at| at.checked_sub(1))
    }

    fn sideways(&mut self, forest: &Forest, to: impl Fn(usize) -> Option<usize>) -> bool {
        let Some(here) = self.steps.pop() else { return false };
        let moved = to(here.0).is_some_and(|at| self.down(forest, at));
        if !moved {
            self.steps.push(here);
        }
        moved
    }

    /// Moves to the node that comes next in the order of the text: the first child, or what is
    /// behind. It is back at the root at the end.
    pub fn onwards(&mut self, forest: &Forest) -> bool {
        if self.down(forest, 0) {
            return true;
        }
        while !self.right(forest) {
            if !self.up() {
                return false;
            }
        }
        true
    }

    /// Other items in the place of the node, which is one of a sequence. The cursor then stands on
    /// the first of them; without any, on what they were taken out of. The root is replaced by the
    /// sequence of the items.
    pub fn replace(&mut self, forest: &mut Forest, items: &[Green]) {
        let Some(at) = self.index() else {
            self.root = forest.sequence(items);
            return;
        };
        self.up();
        self.splice(forest, at..at + 1, items);
        if !items.is_empty() {
            self.down(forest, at);
        }
    }

    /// Other items in the place of some children of the node. One of the two sides of a versioned
    /// node is replaced by the sequence of the items; a leaf has no children, and stays.
    pub fn splice(&mut self, forest: &mut Forest, range: Range<usize>, items: &[Green]) {
        let mut new = match forest.get(self.node()) {
            Node::Leaf { .. } => return,
            Node::Versioned { .. } => {
                let side = forest.sequence(items);
                with_side(forest, self.node(), range.start, side)
            }
            _ => {
                let sequence = forest.splice(items_of(forest, self.node()), range, items);
                with_items(forest, self.node(), sequence)
            }
        };
        for step in (0..self.steps.len()).rev() {
            let at = self.steps[step].0;
            self.steps[step].1 = new;
            let parent = step.checked_sub(1).map_or(self.root, |above| self.steps[above].1);
            new = match forest.get(parent) {
                Node::Versioned { .. } => with_side(forest, parent, at, new),
                _ => {
                    let sequence = forest.splice(items_of(forest, parent), at..at + 1, &[new]);
                    with_items(forest, parent, sequence)
                }
            };
        }
        self.root = new;
    }
}

/// The sequence of a node's items.
fn items_of(forest: &Forest, node: Green) -> Green {
    match forest.get(node) {
        Node::Loop { body, .. } | Node::Guard { body, .. } => body,
        Node::Empty | Node::Sequence { .. } => node,
        Node::Versioned { .. } | Node::Leaf { .. } => Forest::EMPTY,
    }
}

/// A node with other items.
fn with_items(forest: &mut Forest, node: Green, items: Green) -> Green {
    match forest.get(node) {
        Node::Loop { header, .. } => forest.with_header(header, items),
        Node::Guard { of, map, holds, .. } => forest.guard(of, map, holds, items),
        Node::Empty | Node::Sequence { .. } | Node::Versioned { .. } | Node::Leaf { .. } => items,
    }
}

/// A versioned node with another sequence on one of its sides.
fn with_side(forest: &mut Forest, node: Green, at: usize, side: Green) -> Green {
    let Node::Versioned { assumption, fast, fallback } = forest.get(node) else { return node };
    let (fast, fallback) = if at == 0 { (side, fallback) } else { (fast, side) };
    forest.node(Node::Versioned { assumption, fast, fallback })
}
