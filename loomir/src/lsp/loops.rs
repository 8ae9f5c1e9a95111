//! The loops of functions, as far as something asked about them.

use hashbrown::HashMap;
use loomir_ir::{Body, Op};
use loomir_transforms::listing::loops::TripCount;

use crate::Around;

/// The loops of the functions of a program, as far as something asked for them.
#[derive(Default)]
pub(super) struct Loops {
    pub(super) around: Option<Around>,
    pub(super) known: HashMap<usize, Option<FunctionLoops>>,
}

/// The loops of a function.
pub(super) struct FunctionLoops {
    /// The function with structured control flow, if it is of the `llvm` dialect.
    pub(super) raised: Option<Body>,
    /// The loops, in the order of the text.
    pub(super) all: Vec<LoopAt>,
}

/// A loop in a document.
pub(super) struct LoopAt {
    pub(super) op: Op,
    /// The byte where it begins: its name, or the label of its first block.
    pub(super) start: u32,
    /// The trip count of each dimension.
    pub(super) counts: Vec<TripCount>,
}
