//! Sequences as balanced trees, so that an edit in a wide one costs little.
//!
//! A sequence of items is a treap. Its order is the items' order, and its heap is ordered by the
//! items' [priority](TreeStore::priority), with the leftmost of equal ones on top. Each sequence
//! has exactly one such tree, whatever edits led to it, so equal sequences are one green node. Its
//! depth is logarithmic as long as items differ, and they do: a leaf names its statement.
//!
//! **Cost.** Getting, splitting, joining, replacing: logarithmic, creating as many nodes. Nothing
//! here recurses.

use smallvec::SmallVec;

use super::green::{Green, Node, TreeStore};

/// One side of a sequence cut at a place: the nodes above the cut from the root down, each an item
/// with its subtree on the far side. Even for sequences of thousands it rarely needs an allocation.
type Spine = SmallVec<[(Green, Green); 32]>;

/// The side of a cut.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Before,
    After,
}

impl TreeStore {
    /// Returns the sequence of these items, loops and leaves. Linear.
    pub fn sequence(&mut self, items: &[Green]) -> Green {
        self.assemble(Spine::new(), items, &[])
    }

    /// Returns the items of a sequence in order.
    pub fn items(&self, sequence: Green) -> Items<'_> {
        let mut items = Items { trees: self, stack: SmallVec::new() };
        items.descend(sequence);
        items
    }

    /// Item `index` of a sequence. Logarithmic.
    pub fn item(&self, sequence: Green, index: usize) -> Option<Green> {
        let (mut tree, mut index) = (sequence, index);
        while let Node::Sequence { left, item, right } = self.get(tree) {
            let before = self.items_in(left);
            if index == before {
                return Some(item);
            }
            tree = if index < before { left } else { right };
            index = if index < before { index } else { index - before - 1 };
        }
        None
    }

    /// Returns the item of a sequence of one. Logarithmic.
    pub(crate) fn only_item(&self, sequence: Green) -> Option<Green> {
        self.item(sequence, 0).filter(|_| self.items_in(sequence) == 1)
    }

    /// Returns the first `at` items and the other items.
    pub fn split(&mut self, sequence: Green, at: usize) -> (Green, Green) {
        let (before, after) = (self.cut(sequence, at, Side::Before), self.cut(sequence, at, Side::After));
        (self.assemble(before, &[], &[]), self.assemble(Spine::new(), &[], &after))
    }

    /// Returns the items of `a`, then those of `b`.
    pub fn join(&mut self, a: Green, b: Green) -> Green {
        let (before, after) = (self.cut(a, self.items_in(a), Side::Before), self.cut(b, 0, Side::After));
        self.assemble(before, &[], &after)
    }

    /// Replaces the items of a sequence in `range`. Logarithmic in its length, linear in the new
    /// items. All new nodes are in the result.
    ///
    /// ```
    /// # use loomir_transforms::tree::{TreeStore, StatementId};
    /// let mut trees = TreeStore::default();
    /// let none = trees.make_map(Box::new([]));
    /// let [a, b, c] = [0, 1, 2].map(|i| trees.leaf(StatementId(i), none));
    /// let before = trees.sequence(&[a, b, b]);
    /// let after = trees.splice(before, 1..3, &[c]);
    /// assert_eq!(trees.items(after).collect::<Vec<_>>(), [a, c]);
    /// assert_eq!(after, trees.sequence(&[a, c]));
    /// ```
    pub fn splice(&mut self, sequence: Green, range: std::ops::Range<usize>, items: &[Green]) -> Green {
        let before = self.cut(sequence, range.start, Side::Before);
        let after = self.cut(sequence, range.end.max(range.start), Side::After);
        self.assemble(before, items, &after)
    }

    /// Returns one side of a cut before item `at`.
    fn cut(&self, sequence: Green, at: usize, side: Side) -> Spine {
        let mut spine = Spine::new();
        let (mut tree, mut at) = (sequence, at);
        while let Node::Sequence { left, item, right } = self.get(tree) {
            let on_left = self.items_in(left);
            let (own_side, beyond, inside) =
                if at <= on_left { (Side::After, right, left) } else { (Side::Before, left, right) };
            if own_side == side {
                spine.push((item, beyond));
            }
            at = at.checked_sub(on_left + 1).unwrap_or(at);
            tree = inside;
        }
        spine
    }

    /// Returns the sequence of the left side of a cut, some items, and the right side of a cut.
    fn assemble(&mut self, before: Spine, items: &[Green], after: &[(Green, Green)]) -> Green {
        // Each new item takes the nodes with a lower priority on its left below itself.
        let mut spine = before;
        for item in items {
            let mut left = TreeStore::EMPTY;
            while let Some(&(top, own)) = spine.last()
                && TreeStore::priority(top) < TreeStore::priority(*item)
            {
                spine.pop();
                left = self.node(Node::Sequence { left: own, item: top, right: left });
            }
            spine.push((*item, left));
        }
        // From below: the node of lower priority, of equal ones the right one, is deeper.
        let (mut i, mut j) = (spine.len(), after.len());
        let mut tree = TreeStore::EMPTY;
        while i + j > 0 {
            let takes_left = i > 0
                && (j == 0 || TreeStore::priority(spine[i - 1].0) < TreeStore::priority(after[j - 1].0));
            if takes_left {
                i -= 1;
                let (item, left) = spine[i];
                tree = self.node(Node::Sequence { left, item, right: tree });
            } else {
                j -= 1;
                let (item, right) = after[j];
                tree = self.node(Node::Sequence { left: tree, item, right });
            }
        }
        tree
    }
}

/// The items of a sequence in order.
#[derive(Clone, Debug)]
pub struct Items<'f> {
    trees: &'f TreeStore,
    /// The items still to come, each with its right subtree; the next one is on top.
    stack: SmallVec<[(Green, Green); 8]>,
}

impl Items<'_> {
    fn descend(&mut self, mut tree: Green) {
        while let Node::Sequence { left, item, right } = self.trees.get(tree) {
            self.stack.push((item, right));
            tree = left;
        }
    }
}

impl Iterator for Items<'_> {
    type Item = Green;

    fn next(&mut self) -> Option<Green> {
        let (item, right) = self.stack.pop()?;
        self.descend(right);
        Some(item)
    }
}
