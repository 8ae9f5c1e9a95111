//! The loop tree: programs as immutable, shared trees of loops, guards and statements.
//!
//! A block of the IR is *raised* to a [`Program`] and to a green node of a [`TreeStore`]. The
//! program holds the original loops, `if`s and statements; the node holds their order. An edit
//! makes a new green node that shares every unchanged part with the old one. A thousand variants of
//! a program therefore cost little more than one, and copying a tree copies a number. The final
//! tree is [regenerated](crate::regenerate::regenerate) as IR.
//!
//! ```text
//!     block ──raise──> (program, root) ──edits──> root' ──regenerate──> block'
//! ```
//!
//! A [`Red`] cursor walks through a tree. It knows the nodes around its place and can edit there.
//!
//! A leaf is one statement of the program with an affine map from the loops around the leaf to the
//! statement's iterations. Loops step by one; strides, shifts and reversals are in the maps.
//! Induction variables have no names: an index counts loops outwards, 0 is the innermost. Equal
//! bodies are therefore equal nodes at any place.

pub mod access_summary;
pub mod edit;
pub mod green;
mod ids;
pub mod levels;
pub mod program;
pub mod raise;
pub mod red;
mod reordered;
pub(crate) mod runs;
mod sequence;
mod sides;

pub use edit::{Change, Edit, Separation};
pub(crate) use edit::{MAX_CONDITIONS, MAX_LEVELS, Parts, Times, Together};
pub(crate) use green::trip_count;
pub use green::{AssumptionId, Green, Header, HeaderId, Map, Mark, Node, Origin, Span, TreeStore};
pub use ids::{IfId, LoopId, Path, StatementId};
pub use program::Program;
pub use red::Red;
pub use reordered::{Arm, Reordered};
pub use sides::{If, Item};
