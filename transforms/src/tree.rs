//! The loop tree: programs as immutable, shared trees of loops, guards and statements.
//!
//! A block of the IR is *raised* to a [`Program`], its loops, `if`s and statements as they were,
//! and to a green node of a [`TreeStore`], the order in which they run. An edit makes a new green
//! node that shares everything it leaves alone with the old one, so a thousand variants of a
//! program cost little more than one; a copy is the copy of a number. The tree one settles on is
//! [regenerated](crate::regenerate::regenerate) as IR.
//!
//! ```text
//!     block ──raise──> (program, root) ──edits──> root' ──regenerate──> block'
//! ```
//!
//! Who walks about in a tree does so with a [`Red`] cursor, which knows what is around and can edit
//! where it stands.
//!
//! A leaf is one statement of the program with an affine map from the loops around the leaf to the
//! statement's iterations. Loops step by one; strides, shifts and reversals are in the maps. Loop
//! variables have no names: an index counts loops outwards, 0 is the innermost, so equal bodies are
//! equal wherever they stand.

pub mod access_summary;
pub mod edit;
pub mod green;
mod ids;
pub mod levels;
pub mod program;
pub mod raise;
pub mod red;
mod reordered;
mod sequence;
mod sides;

pub use edit::{Change, Edit};
pub(crate) use edit::{Parts, Times, Together};
pub use green::{AssumptionId, Green, Header, HeaderId, Map, Mark, Node, Origin, Span, TreeStore};
pub use ids::{IfId, LoopId, StatementId};
pub use program::Program;
pub use red::Red;
pub use reordered::{Arm, Reordered};
pub use sides::{If, Item};
