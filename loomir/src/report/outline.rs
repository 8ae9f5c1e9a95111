//! The loops of a program as an outline: loops, conditionals and the operations that touch memory.
//!
//! The text of a node is the user's where the source has one, and the printed operation otherwise.
//! Operations that only compute are left out.

use hashbrown::HashMap;
use loomir_ir::text::{self, ParseOptions, PrintOptions};
use loomir_ir::{Body, Op, Trait};
use loomir_transforms::access::structure::Structure;
use loomir_transforms::effects::Summary;

use super::Place;
use super::source::{Source, shortened};

/// The deepest nodes that are shown.
const MAX_DEPTH: usize = 32;

/// The most nodes of a function that are shown.
const MAX_NODES: usize = 1000;

/// The outline of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Outline {
    /// The name of the function.
    pub(super) name: String,
    /// Its place in the source.
    pub(super) place: Option<Place>,
    /// The last line with an operation of the function.
    pub(super) last_line: u32,
    /// The number of arguments.
    pub(super) arguments: usize,
    /// The number of operations.
    pub(super) ops: usize,
    /// The nodes, each before its children.
    pub(super) nodes: Vec<Node>,
    /// True if there are more.
    pub(super) is_cut: bool,
}

/// The program that an outline shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The source.
    Before,
    /// A transformed program.
    After,
}

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A counted loop, or a parallel one.
    Loop,
    /// Another loop, or an operation with code inside.
    Region,
    /// A conditional.
    If,
    /// The other branch of a conditional.
    Else,
    /// An operation.
    Op,
}

/// A node of an outline.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) depth: usize,
    pub(super) text: String,
    /// Its place in the source.
    pub(super) place: Option<Place>,
    /// The place of a loop in the language that LLVM IR was made from.
    pub(super) origin: Option<String>,
}

impl Node {
    /// True if the node is a loop of any kind.
    pub(super) fn is_loop(&self) -> bool {
        matches!(self.kind, Kind::Loop | Kind::Region)
    }
}

impl Outline {
    /// Returns the outline of a function. Linear.
    pub(super) fn of(function: &Body, source: &Source<'_>, stage: Stage) -> Outline {
        let root = function.root_ref();
        let name = root.attr("sym_name").and_then(|name| name.as_str(function.ctx())).unwrap_or_default();
        let mut outline = Outline {
            name: name.to_owned(),
            place: source.place(function.ctx(), root.loc()),
            ..Outline::default()
        };
        let region = function.own_regions(function.root()).next();
        let entry = region.and_then(|region| function.entry_block(region));
        outline.arguments = entry.map_or(0, |block| function.num_arguments(block));
        outline.last_line = outline.place.map_or(0, |place| place.line);
        let printed = Printed::of(function);
        let mut depths: HashMap<Op, usize> = HashMap::new();
        for op in function.all_ops() {
            outline.ops += 1;
            let place = source.place(function.ctx(), function.loc(op));
            outline.last_line = outline.last_line.max(place.map_or(0, |place| place.line));
            let parent = function.parent_op(op);
            let depth = parent.and_then(|parent| depths.get(&parent)).map_or(0, |depth| depth + 1);
            depths.insert(op, depth);
            outline.add_else(function, op, depth);
            let Some(kind) = kind(function, op) else { continue };
            if outline.nodes.len() >= MAX_NODES || depth > MAX_DEPTH {
                outline.is_cut = true;
                continue;
            }
            // Loops of LLVM IR have no text, and bounds change.
            let is_source = if source.is_ll { kind == Kind::Op } else { stage == Stage::Before };
            let own = place.filter(|_| is_source).and_then(|place| source.snippet(place));
            let text =
                own.or_else(|| printed.text(op)).unwrap_or_else(|| function.op_ref(op).name().to_owned());
            let is_loop = matches!(kind, Kind::Loop | Kind::Region);
            let origin = place.filter(|_| is_loop).and_then(|place| source.origin(place));
            outline.nodes.push(Node { kind, depth, text, place, origin });
        }
        outline
    }

    /// Adds a node before the first operation of an `else`.
    fn add_else(&mut self, function: &Body, op: Op, depth: usize) {
        let Some(block) = function.block_of(op) else { return };
        let region = function.block_region(block);
        let parent = function.region_parent(region);
        let is_second = function.own_regions(parent).nth(1) == Some(region);
        let is_first = function.ops(block).next() == Some(op) && function.terminator(block) != Some(op);
        if is_second && is_first && kind(function, parent) == Some(Kind::If) && self.nodes.len() < MAX_NODES {
            let (text, depth) = ("else".to_owned(), depth.saturating_sub(1));
            self.nodes.push(Node { kind: Kind::Else, depth, text, place: None, origin: None });
        }
    }

    /// The number of loops.
    pub(super) fn loops(&self) -> usize {
        self.nodes.iter().filter(|node| node.is_loop()).count()
    }

    /// The number of loops in no other loop.
    pub(super) fn nests(&self) -> usize {
        let mut inside = None;
        let mut nests = 0;
        for node in &self.nodes {
            if inside.is_some_and(|depth| node.depth <= depth) {
                inside = None;
            }
            if node.is_loop() && inside.is_none() {
                inside = Some(node.depth);
                nests += 1;
            }
        }
        nests
    }
}

/// Returns the kind of an operation's node. `None` if it is left out.
fn kind(function: &Body, op: Op) -> Option<Kind> {
    match Structure::of(function, op) {
        Some(Structure::Loop { .. } | Structure::Parallel { .. }) => return Some(Kind::Loop),
        Some(Structure::If { .. }) => return Some(Kind::If),
        None => {}
    }
    if function.own_regions(op).len() > 0 {
        return Some(Kind::Region);
    }
    let only_computes = Summary::of_itself(function.op_ref(op)).only_computes();
    (!only_computes && !function.has_trait(op, Trait::Terminator)).then_some(Kind::Op)
}

/// The printed text of operations.
struct Printed {
    lines: Vec<String>,
    /// The line of each operation, from 0.
    line_of: HashMap<Op, usize>,
}

impl Printed {
    /// Prints a function, and reads the text again to find the lines of its operations.
    fn of(function: &Body) -> Printed {
        let text = text::print(function, &PrintOptions::default());
        let mut printed = Printed { lines: Vec::new(), line_of: HashMap::new() };
        let options = ParseOptions { allow_unregistered_dialects: true, ..ParseOptions::default() };
        let Ok(mut again) = text::parse_with(function.ctx(), &text, "printed", &options) else {
            return printed;
        };
        let Some(twin) = again.nested_in_order().into_iter().next() else { return printed };
        let line = |op: Op| Some(twin.loc(op).file_line_col(twin.ctx())?.1 as usize);
        for (own, other) in function.all_ops().zip(twin.all_ops()) {
            printed.line_of.extend(line(other).and_then(|line| Some((own, line.checked_sub(1)?))));
        }
        printed.lines = text.lines().map(str::to_owned).collect();
        printed
    }

    fn text(&self, op: Op) -> Option<String> {
        let line = self.lines.get(*self.line_of.get(&op)?)?;
        Some(shortened(line))
    }
}
