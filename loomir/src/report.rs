//! The report page: one file that shows a program's loops, the decisions about them, and why.
//!
//! A page is made from the source, the remarks as JSON, and the transformed program. The source is
//! read again for outlines, samples of dependences and costs, so that a page can be made behind any
//! subcommand. Everything a page says about a decision comes from the JSON of its remark.
//!
//! **Invariant.** Text of a program is never markup: see [`html`].
//!
//! **Cost.** Linear in the program; steps, pictures and lists of dependences have limits.

use loomir_ir::{Body, Context, Diagnostics};
use loomir_transforms::fusion::Options as FuseOptions;
use serde_json::Value;

pub(crate) use origin::Origins;
use outline::Outline;
use source::{Place, Source};

mod advice;
mod card;
mod dependences;
mod gather;
mod grid;
mod html;
mod listing;
mod origin;
mod outline;
mod page;
mod picture;
mod source;
mod tree;

/// A program and the decisions about it.
pub(crate) struct Seen<'s> {
    /// The context of all programs.
    pub(crate) ctx: &'s Context,
    /// The name of the source, and its text.
    pub(crate) source: (&'s str, &'s str),
    /// The subcommand.
    pub(crate) command: &'s str,
    /// Returns a remark as JSON.
    pub(crate) json: fn(&Context, &loomir_ir::Diagnostic) -> Value,
    /// The remarks, in order.
    pub(crate) remarks: &'s Diagnostics,
    /// Reads the source again.
    pub(crate) read: &'s dyn Fn() -> Option<Body>,
    /// The transformed program. It is not changed.
    pub(crate) after: &'s mut Body,
    /// The options of fusion that the decisions were made with.
    pub(crate) options: &'s FuseOptions,
    /// Repeats the transformations, with so many edits at most.
    pub(crate) repeat: Option<&'s dyn Fn(u64) -> Option<Repeated>>,
}

/// The program after some edits.
pub(crate) struct Repeated {
    /// The program.
    pub(crate) program: Body,
    /// The number of edits.
    pub(crate) edits: u64,
    /// The pass that made the last one.
    pub(crate) pass: String,
}

/// Returns the page as a text.
pub(crate) fn page(seen: Seen<'_>) -> String {
    page::text(&gather::shown(seen))
}

/// The contents of a page.
struct Shown<'s> {
    source: Source<'s>,
    command: &'s str,
    functions: Vec<Function>,
    remarks: Vec<Value>,
    /// The number of remarks that are left out.
    left_out: usize,
    /// The drawing of the control flow of LLVM IR.
    control_flow: Option<html::ControlFlowDrawing>,
    /// The number of operations.
    ops: usize,
}

/// A function on a page.
#[derive(Default)]
struct Function {
    before: Outline,
    /// The outline after each edit, with the number of the edit and its pass.
    steps: Vec<(u64, String, Outline)>,
    after: Outline,
    /// True if a run-time test was added.
    is_tested: bool,
    /// The names that the source gives to its arguments, if they are known.
    names: Vec<String>,
    /// The positions of its remarks.
    remarks: Vec<usize>,
    /// The picture of each of these remarks.
    pictures: Vec<Option<picture::Pair>>,
    /// The dependences inside of nests.
    nests: Vec<picture::Nest>,
    dependences: dependences::Listed,
}

impl Function {
    /// True if the transformed function has the same loops and operations.
    fn is_unchanged(&self) -> bool {
        let shape = |outline: &Outline| {
            let nodes = outline.nodes.iter().map(|node| (node.kind, node.depth, node.place));
            nodes.collect::<Vec<_>>()
        };
        self.steps.is_empty() && shape(&self.before) == shape(&self.after)
    }

    /// Returns the loops of the source with their numbers, by place.
    fn loop_at(&self, place: Place) -> Option<usize> {
        let mut loops = self.before.nodes.iter().filter(|node| node.is_loop());
        loops.position(|node| node.place == Some(place)).map(|at| at + 1)
    }

    /// Returns the place in another language that the loop at a place comes from.
    fn origin_at(&self, place: Place) -> Option<&str> {
        let mut loops = self.before.nodes.iter().filter(|node| node.is_loop());
        loops.find(|node| node.place == Some(place))?.origin.as_deref()
    }
}
