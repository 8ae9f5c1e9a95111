//! Sequences as balanced trees, so that an edit in a wide one costs little.
//!
//! A sequence of items is the treap in which the order is the items' order and the heap is the items'
//! [priority](Forest::priority), among equal ones the leftmost above. There is one such tree for each sequence, whatever edits led to it, so equal
//! sequences are one green node. Its depth is logarithmic as long as items differ, and they do: a leaf names its statement.
//!
//! **Cost.** Getting, splitting, joining, replacing: logarithmic, making as many nodes. Nothing here recurses.

use super::green::{Forest, Green, Node};

impl Forest {
    /// The sequence of these items, loops and leaves. Linear.
    pub fn sequence(&mut self, items: &[Green]) -> Green {
        // The right spine of the tree so far: items whose right side is open, with their left sides.
        let mut spine: Vec<(Green, Green)> = Vec::new();
        for item in items {
            let mut left = Forest::EMPTY;
            while let Some(&(top, before)) = spine.last()
                && Forest::priority(top) < Forest::priority(*item)
            {
                spine.pop();
                left = self.node(Node::Sequence { left: before, item: top, right: left });
            }
            spine.push((*item, left));
        }
        let mut right = Forest::EMPTY;
        while let Some((item, left)) = spine.pop() {
            right = self.node(Node::Sequence { left, item, right });
        }
        right
    }

    /// The items of a sequence in order.
    pub fn items(&self, sequence: Green) -> Items<'_> {
        let mut items = Items { forest: self, stack: Vec::new() };
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

    /// The first `at` items, and the others.
    pub fn split(&mut self, sequence: Green, at: usize) -> (Green, Green) {
        let mut path: Vec<(Node, bool)> = Vec::new();
        let (mut tree, mut at) = (sequence, at);
        while let node @ Node::Sequence { left, right, .. } = self.get(tree) {
            let before = self.items_in(left);
            let goes_left = at <= before;
            path.push((node, goes_left));
            tree = if goes_left { left } else { right };
            at = if goes_left { at } else { at - before - 1 };
        }
        let (mut first, mut second) = (Forest::EMPTY, Forest::EMPTY);
        while let Some((node, went_left)) = path.pop() {
            let Node::Sequence { left, item, right } = node else { continue };
            if went_left {
                second = self.node(Node::Sequence { left: second, item, right });
            } else {
                first = self.node(Node::Sequence { left, item, right: first });
            }
        }
        (first, second)
    }

    /// The items of `a`, then those of `b`.
    pub fn join(&mut self, a: Green, b: Green) -> Green {
        let mut path: Vec<(Node, bool)> = Vec::new();
        let (mut a, mut b) = (a, b);
        let mut joined = loop {
            let (x, y) = (self.get(a), self.get(b));
            let (Node::Sequence { item: p, right, .. }, Node::Sequence { item: q, left, .. }) = (x, y) else {
                break if a == Forest::EMPTY { b } else { a };
            };
            if Forest::priority(p) >= Forest::priority(q) {
                path.push((x, true));
                a = right;
            } else {
                path.push((y, false));
                b = left;
            }
        };
        while let Some((node, is_left)) = path.pop() {
            let Node::Sequence { left, item, right } = node else { continue };
            joined = self.node(if is_left {
                Node::Sequence { left, item, right: joined }
            } else {
                Node::Sequence { left: joined, item, right }
            });
        }
        joined
    }

    /// A sequence with the items in `range` replaced by others. Logarithmic in its length, linear in the new items.
    ///
    /// ```
    /// # use loomir_transforms::tree::{Forest, StatementId};
    /// let mut forest = Forest::default();
    /// let none = forest.make_map(Box::new([]));
    /// let [a, b, c] = [0, 1, 2].map(|i| forest.leaf(StatementId(i), none));
    /// let before = forest.sequence(&[a, b, b]);
    /// let after = forest.splice(before, 1..3, &[c]);
    /// assert_eq!(forest.items(after).collect::<Vec<_>>(), [a, c]);
    /// assert_eq!(after, forest.sequence(&[a, c]));
    /// ```
    pub fn splice(&mut self, sequence: Green, range: std::ops::Range<usize>, items: &[Green]) -> Green {
        let (before, rest) = self.split(sequence, range.start);
        let (_, after) = self.split(rest, range.end.saturating_sub(range.start));
        let new = self.sequence(items);
        let before = self.join(before, new);
        self.join(before, after)
    }
}

/// The items of a sequence in order.
#[derive(Clone, Debug)]
pub struct Items<'f> {
    forest: &'f Forest,
    /// Items that are still to come, each with what is on its right; the next one is on top.
    stack: Vec<(Green, Green)>,
}

impl Items<'_> {
    fn descend(&mut self, mut tree: Green) {
        while let Node::Sequence { left, item, right } = self.forest.get(tree) {
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
