//! The difference between a program and a tree: two sequences in the same loops.

use std::rc::Rc;

use hashbrown::HashMap;

use super::changed_region::Alone;
use crate::access::LoopContext;
use crate::tree::{Green, LoopId};

/// Two sequences in the same loops: one of the program, one of the tree.
pub(super) struct Difference<'a> {
    /// These loops.
    pub(super) loop_context: LoopContext,
    /// The innermost of the common loops.
    pub(super) inside: Option<LoopId>,
    /// The items of the program.
    pub(super) old: Vec<Green>,
    /// The items of the tree.
    pub(super) new: Vec<Green>,
    /// The numbers of equal items at the start and at the end.
    pub(super) same: (usize, usize),
    /// Set if a loop is judged separately.
    pub(super) alone: Option<Alone<'a>>,
}

impl Difference<'_> {
    /// Returns the items of the tree that replace items of the program.
    pub(super) fn changed(&self) -> &[Green] {
        &self.new[self.same.0..self.new.len() - self.same.1]
    }

    /// Returns the items of the program that the tree replaces.
    pub(super) fn replaced(&self) -> &[Green] {
        &self.old[self.same.0..self.old.len() - self.same.1]
    }

    /// Returns, for each changed item, its place among the replaced items, if it occurs there
    /// exactly once.
    pub(super) fn places(&self) -> Rc<[Option<usize>]> {
        // A whole loop replaces others where loops are fused.
        if let ([_, ..], [new]) = (self.replaced(), self.changed())
            && !self.replaced().contains(new)
        {
            return Rc::new([None]);
        }
        let mut places: HashMap<Green, Option<usize>> = HashMap::new();
        for (place, item) in self.replaced().iter().enumerate() {
            places.entry(*item).and_modify(|known| *known = None).or_insert(Some(place));
        }
        let mut times: HashMap<Green, u32> = HashMap::new();
        self.changed().iter().for_each(|item| *times.entry(*item).or_default() += 1);
        let place = |item: &Green| places.get(item).copied().flatten().filter(|_| times[item] == 1);
        self.changed().iter().map(place).collect()
    }
}
