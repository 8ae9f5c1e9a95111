//! The places of items after an edit.
//!
//! A [`Followed`] edit says where the items of the old tree are in the new one. Where an edit makes
//! copies of an item, or takes it apart, there is no one place.
//!
//! **Cost.** Constant for an edit, and linear in the length of a path for each place.

use super::{Change, Edit, Separation};
use crate::tree::green::{Green, Node, TreeStore};
use crate::tree::red::Red;

/// An edit that was applied. See the [module](self).
#[derive(Clone, Debug)]
pub struct Followed {
    edit: Edit,
    /// The number of items that the edit replaced.
    replaced: usize,
    /// The number of items in their place.
    made: usize,
    /// For fusion: the number of the fused loop among the new items, and of the items of the first
    /// body.
    fused: (usize, usize),
}

impl Followed {
    /// Compares the trees before and after an edit.
    pub fn new(edit: Edit, trees: &TreeStore, before: Green, after: Green) -> Option<Followed> {
        let (&at, parent) = edit.place.split_last()?;
        let (old, new) = (Red::at(trees, before, parent)?, Red::at(trees, after, parent)?);
        let replaced = match &edit.change {
            Change::Fuse { .. } => 2,
            _ => 1,
        };
        let made = (new.children(trees).count() + replaced).checked_sub(old.children(trees).count())?;
        let mut fused = (0, 0);
        if let Change::Fuse { .. } = edit.change {
            let is_fused = |item: &usize| match new.child(trees, *item).map(|item| trees.get(item)) {
                Some(Node::Loop { header, .. }) => trees.header(header).mark.is_none(),
                _ => false,
            };
            let Node::Loop { body, .. } = trees.get(old.child(trees, at)?) else { return None };
            fused = ((at..at + made).find(is_fused)? - at, trees.items_in(body));
        }
        Some(Followed { edit, replaced, made, fused })
    }

    /// Returns the place of the edit.
    pub fn place(&self) -> &[usize] {
        &self.edit.place
    }

    /// Returns the change.
    pub fn change(&self) -> &Change {
        &self.edit.change
    }

    /// Returns the numbers of replaced and of new items there.
    pub fn counts(&self) -> (usize, usize) {
        (self.replaced, self.made)
    }

    /// Returns the place of the loop that two loops were fused to.
    pub fn fused(&self) -> Vec<usize> {
        let mut place = self.edit.place.to_vec();
        if let Some(last) = place.last_mut() {
            *last += self.fused.0;
        }
        place
    }

    /// Returns the place of an item after the edit, if there is exactly one.
    pub fn follow(&self, place: &[usize]) -> Option<Vec<usize>> {
        let (&at, parent) = self.edit.place.split_last()?;
        let Some([own, rest @ ..]) = place.strip_prefix(parent) else { return Some(place.to_vec()) };
        let (own, new) = match &self.edit.change {
            Change::Move { to } => (moved(*own, at, *to), rest.to_vec()),
            _ if *own < at => (*own, rest.to_vec()),
            _ if *own >= at + self.replaced => (*own - self.replaced + self.made, rest.to_vec()),
            change => {
                let (index, rest) = self.inside(change, *own - at, rest)?;
                (at + index, rest)
            }
        };
        Some([parent, &[own], &new].concat())
    }

    /// Returns the place of something inside of the replaced items: the number of the new item, and
    /// the path from there.
    fn inside(&self, change: &Change, item: usize, rest: &[usize]) -> Option<(usize, Vec<usize>)> {
        let own = rest.to_vec();
        Some(match (change, rest) {
            (Change::Fuse { .. }, []) => (self.fused.0, own),
            // Remainders have copies of the body.
            (Change::Fuse { .. }, _) if self.made > 1 => return None,
            (Change::Fuse { .. }, [first, rest @ ..]) => {
                let first = if item == 0 { *first } else { first + self.fused.1 };
                (self.fused.0, [&[first], rest].concat())
            }
            (Change::Flatten, [0, rest @ ..]) => (0, rest.to_vec()),
            (Change::Flatten | Change::StripMine { .. }, []) => (0, own),
            (Change::StripMine { .. }, rest) => (0, [&[0], rest].concat()),
            (Change::Reverse | Change::Skew { .. }, _) => (0, own),
            (Change::Permute { order }, rest) => {
                // The loop at a depth of the nest moves to another depth; what is inside stays.
                match (rest.len() < order.len()).then(|| order.iter().position(|old| *old == rest.len())) {
                    Some(depth) => (0, vec![0; depth?]),
                    None => (0, own),
                }
            }
            // Tiles of both kinds have copies of the body.
            (Change::Tile { separate: Separation::FullTiles | Separation::Everywhere, .. }, _)
            | (Change::Separate { .. }, _) => return None,
            (Change::Tile { sizes, .. }, rest) => {
                let blocks = |sizes: &[i64]| sizes.iter().filter(|size| **size != 0).count();
                match sizes.get(rest.len()) {
                    // The loop over blocks.
                    Some(1..) => (0, vec![0; blocks(&sizes[..rest.len()])]),
                    _ => (0, [&vec![0; blocks(sizes)][..], rest].concat()),
                }
            }
            // The loops over tiles.
            (Change::Hilbert { .. }, [] | [_]) => (0, own),
            (Change::Hilbert { .. }, rest) => (0, [&[0, 0], rest].concat()),
            (Change::Distribute { .. } | Change::Wavefront { .. } | Change::Morton { .. }, []) => {
                return None;
            }
            (Change::Distribute { at }, [first, rest @ ..]) => match first.checked_sub(*at) {
                Some(first) => (1, [&[first], rest].concat()),
                None => (0, own),
            },
            (_, _)
                if self.made == 1
                    && !matches!(
                        change,
                        Change::Unroll { .. }
                            | Change::UnrollAndJam { .. }
                            | Change::Vectorize { .. }
                            | Change::Unswitch { .. }
                            | Change::Wavefront { .. }
                            | Change::Morton { .. }
                    ) =>
            {
                (0, own)
            }
            _ => return None,
        })
    }
}

/// Returns the number of an item after one item moved in its sequence.
fn moved(item: usize, from: usize, to: usize) -> usize {
    if item == from {
        to
    } else if from < item && item <= to {
        item - 1
    } else if to <= item && item < from {
        item + 1
    } else {
        item
    }
}
