//! The handles of what lives in a [`Body`](crate::Body): operations, blocks, regions and values.
//!
//! A handle is a 32-bit index into the arena that made it, and means nothing elsewhere. Debug
//! builds carry the arena's number beside the index, so that a handle used on the wrong arena is
//! caught where it happens; release builds carry the index alone (asserted below). Handles are
//! `Eq + Hash` and, on purpose, not `Ord`.

use std::fmt;

/// "No entity" in packed storage.
pub(crate) const NONE: u32 = u32::MAX;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name {
            index: u32,
            #[cfg(debug_assertions)]
            arena: u32,
        }

        impl $name {
            #[cfg_attr(not(debug_assertions), allow(unused_variables))]
            pub(crate) fn new(index: u32, arena: u32) -> Self {
                $name {
                    index,
                    #[cfg(debug_assertions)]
                    arena,
                }
            }

            /// The index in its arena: dense, for side tables.
            pub fn index(self) -> usize {
                self.index as usize
            }

            /// The raw index, after checking (in debug builds) that the handle belongs to `arena`.
            #[cfg_attr(not(debug_assertions), allow(unused_variables))]
            #[inline]
            pub(crate) fn raw(self, arena: u32) -> u32 {
                #[cfg(debug_assertions)]
                assert_eq!(self.arena, arena, "{self:?} belongs to another body");
                self.index
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.index)
            }
        }
    };
}

entity!(
    /// An operation.
    Op,
    "op"
);
entity!(
    /// A block: a list of operations with arguments.
    Block,
    "bb"
);
entity!(
    /// A region: a list of blocks owned by an operation.
    Region,
    "region"
);
entity!(
    /// An SSA value: a result of an operation or an argument of a block.
    Value,
    "v"
);

#[cfg(not(debug_assertions))]
const _: () = assert!(size_of::<Op>() == 4 && size_of::<Value>() == 4 && size_of::<Block>() == 4);
