//! The set of touched objects, organised so that objects which cannot overlap are not compared.

use smallvec::SmallVec;

use super::base::Base;

pub(crate) const ANYWHERE: usize = 0;
pub(crate) const NAMED: usize = 1;
pub(crate) const ALLOCATED: usize = 2;

/// Objects in order of first appearance, by how much is known of where they are.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// The objects by rank. Globals have a list of their own at the end.
    lists: [SmallVec<[Base; 2]>; 4],
}

/// The list of globals, which are apart from each other.
const GLOBALS: usize = 3;

impl Objects {
    /// Adds an object that is not there yet.
    pub fn push(&mut self, base: Base) {
        let is_global = matches!(base, Base::Global(_));
        self.lists[if is_global { GLOBALS } else { rank(base) }].push(base);
    }

    /// Returns all objects.
    pub fn iter(&self) -> impl Iterator<Item = Base> + '_ {
        self.lists.iter().flatten().copied()
    }

    /// Returns the objects that `base` may overlap, and perhaps some others. An allocation is
    /// distinct from every other known object, a global from other globals. `is_there` is true if
    /// `base` itself is in the set.
    pub fn near(&self, base: Base, is_there: bool) -> impl Iterator<Item = Base> + '_ {
        let [anywhere, arguments, allocated, globals] = &self.lists;
        let same = is_there.then_some(base);
        let (arguments, globals, allocated, same): (&[Base], &[Base], &[Base], _) = match base {
            Base::Global(_) => (arguments, &[], &[], same),
            _ => match rank(base) {
                ANYWHERE => (arguments, globals, allocated, None),
                NAMED => (arguments, globals, &[], None),
                _ => (&[], &[], &[], same),
            },
        };
        let known = arguments.iter().chain(globals).chain(allocated);
        anywhere.iter().chain(known).copied().chain(same)
    }
}

/// Returns the rank of an object by the knowledge of its origin.
pub(crate) fn rank(base: Base) -> usize {
    match base {
        Base::World | Base::Unknown(_) | Base::Distinct(_) => ANYWHERE,
        Base::Argument(_) | Base::Global(_) => NAMED,
        Base::Allocation(_) | Base::Carried(_) | Base::Exit => ALLOCATED,
    }
}
