//! Distribution: a loop becomes several.

pub(crate) mod pieces;
