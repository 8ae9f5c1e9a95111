//! The loops, conditionals and statements of a program, by number.

use smallvec::SmallVec;

/// A loop of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub u32);

/// Loops inside each other, from the outside.
pub type Path = SmallVec<[LoopId; 8]>;

/// An `if` of the program: a conditional.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct IfId(pub u32);

/// A statement of the program. Statements are numbered in program order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StatementId(pub u32);
