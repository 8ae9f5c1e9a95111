//! Pictures of control flow: loops in each other, coloured by depth, with the roles of their
//! blocks; backedges, exiting edges and the edges of guards marked, and cycles that are entered at
//! several places.
//!
//! The contents are collected once and written as a graph for Graphviz or drawn. Blocks have the
//! names that `print<loops>` gives them. Several edges between two blocks are one; unreachable
//! blocks are left out, and counted.
//!
//! **Cost.** Linear in the blocks times the depth of nests, and for the drawing in the layers that
//! edges pass too; it is refused if that is more than anybody would look at.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::llvm;
use loomir_ir::graph::ControlFlow;
use loomir_ir::graph::cycles::CycleForest;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Diagnostics, OpRef};

use super::Analysis;
use super::guards::guard;
use super::roles::Roles;
use crate::ll::block_labels;

mod dot;
mod layered;
mod nested;
mod svg;

/// The formats of pictures of control flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A graph in Graphviz's language for each function.
    Dot,
    /// A drawing of all functions, one below the other.
    Svg,
}

/// Draws every function with a body in a module of the `llvm` dialect.
///
/// # Errors
/// If a function is too large to draw.
pub fn picture(module: &Body, format: Format) -> Result<String, Diagnostics> {
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let functions = blocks.flat_map(|block| module.ops(block)).filter_map(|op| module.nested(op));
    let functions = functions.filter(|function| function.is(function.root(), llvm::FuncOp::DEF));
    let pictures: Vec<Picture> = functions.filter_map(Picture::of).collect();
    match format {
        Format::Dot => Ok(pictures.iter().map(dot::text).collect()),
        Format::Svg => Ok(svg::text(&pictures)?),
    }
}

/// The content of a picture of a function.
struct Picture {
    /// The name of the function, and the location of its text.
    name: String,
    loc: loomir_ir::Loc,
    /// All blocks, in the order of the text. The entry comes first.
    blocks: Vec<Shown>,
    edges: Vec<Edge>,
    /// The loops, each after its parents.
    loops: Vec<Nest>,
    /// The number of unreachable blocks.
    left_out: usize,
}

/// A block.
struct Shown {
    name: String,
    roles: Vec<String>,
    /// The innermost loop around it.
    home: Option<usize>,
    is_header: bool,
    /// True if the block is in an irreducible cycle.
    is_irreducible: bool,
}

/// An edge between blocks.
struct Edge {
    from: usize,
    to: usize,
    kind: Kind,
}

/// The role of an edge in loops.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Kind {
    Plain,
    /// Leads back to the header of a loop.
    Back,
    /// Leads out of a loop.
    Exiting,
    /// An edge of a guard that skips its loop.
    Guard,
    /// Leads to an entry of an irreducible cycle from inside.
    Irreducible,
}

/// All distinguished kinds, with their names and their looks: colour and dashes.
const KINDS: [(Kind, &str, &str, bool); 4] = [
    (Kind::Back, "backedge", "#1f77b4", false),
    (Kind::Exiting, "exiting edge", "#d62728", false),
    (Kind::Guard, "guard edge", "#2ca02c", true),
    (Kind::Irreducible, "edge around an irreducible cycle", "#9467bd", true),
];

/// The colour of other edges.
const PLAIN: &str = "#555555";

/// The background colours of loops, by depth. Deeper loops reuse them.
const DEPTHS: [&str; 6] = ["#e8f1fa", "#fdf0dd", "#e6f4e4", "#f3e9f7", "#fde8e6", "#e4f5f5"];

impl Kind {
    /// Returns the colour, and true if it is dashed.
    fn look(self) -> (&'static str, bool) {
        let known = KINDS.iter().find(|(kind, ..)| *kind == self);
        known.map_or((PLAIN, false), |(_, _, colour, dashed)| (*colour, *dashed))
    }
}

/// A loop.
struct Nest {
    header: usize,
    depth: u32,
    parent: Option<usize>,
}

impl Nest {
    fn colour(&self) -> &'static str {
        DEPTHS[(self.depth as usize - 1) % DEPTHS.len()]
    }
}

impl Picture {
    /// `None` for a function without a body.
    fn of(function: &Body) -> Option<Picture> {
        let root = function.root();
        let region = function.region(root, 0);
        function.entry_block(region)?;
        let analysis = Analysis::with_all_loops(function);
        let flow = ControlFlow::of(function, region);
        let numbers = block_labels(function);
        let name = OpRef::new(function, root).attr("sym_name");
        let name = name.and_then(|name| name.as_str(function.ctx())).unwrap_or_default().to_owned();
        // The positions among the shown blocks.
        let nodes: Vec<u32> =
            (0..flow.blocks().len() as u32).filter(|n| analysis.dominators().is_reachable(*n)).collect();
        let places: HashMap<u32, usize> = nodes.iter().copied().zip(0..).collect();
        let order = analysis.loops().outer_first();
        let loop_places: HashMap<LoopId, usize> = order.iter().copied().zip(0..).collect();
        let nest = |id: &LoopId| {
            let own = analysis.loops().get(*id);
            let parent = own.parent.map(|parent| loop_places[&parent]);
            Nest { header: places[&own.header()], depth: own.depth, parent }
        };
        let loops: Vec<Nest> = order.iter().map(nest).collect();
        let block_name = |node: u32| format!("%{}", numbers[flow.block(node).index()]);
        let shown = |node: &u32| {
            let innermost = analysis.loops().innermost(*node);
            Shown {
                name: block_name(*node),
                roles: Vec::new(),
                home: innermost.map(|id| loop_places[&id]),
                is_header: innermost.is_some_and(|id| analysis.loops().get(id).header() == *node),
                is_irreducible: false,
            }
        };
        let mut picture = Picture {
            name,
            loc: function.loc(root),
            blocks: nodes.iter().map(shown).collect(),
            edges: Vec::new(),
            loops,
            left_out: flow.blocks().len() - nodes.len(),
        };
        let mut kinds: HashMap<(usize, usize), Kind> = HashMap::new();
        picture.name_roles(function, &analysis, &order, &places, &mut kinds);
        picture.mark_cycles(&flow, &places, &mut kinds);
        // The roles of a block in its own loop come first.
        picture.blocks.iter_mut().for_each(|block| block.roles.sort_by_key(|role| role.contains(" of %")));
        for from in &nodes {
            let mut seen = HashSet::new();
            for to in flow.graph().successors(*from).iter().filter(|to| seen.insert(**to)) {
                let (from, to) = (places[from], places[to]);
                let kind = kinds.get(&(from, to)).copied().unwrap_or(Kind::Plain);
                picture.edges.push(Edge { from, to, kind });
            }
        }
        Some(picture)
    }

    /// Names blocks by their roles in loops, and classifies edges. Being a backedge has priority.
    fn name_roles(
        &mut self,
        function: &Body,
        analysis: &Analysis,
        order: &[LoopId],
        places: &HashMap<u32, usize>,
        kinds: &mut HashMap<(usize, usize), Kind>,
    ) {
        let is_only = order.len() == 1;
        for (at, id) in order.iter().enumerate() {
            let roles = Roles::of(analysis, *id);
            let guard = guard(function, analysis, *id);
            let guard_block =
                guard.and_then(|guard| function.block_of(guard.branch)).map(|block| analysis.number(block));
            let header = self.blocks[places[&roles.header]].name.clone();
            let mut name = |nodes: &[u32], role: &str| {
                for node in nodes {
                    let block = &mut self.blocks[places[node]];
                    let is_plain = is_only || block.home == Some(at);
                    let of = if is_plain { String::new() } else { format!(" of {header}") };
                    block.roles.push(format!("{role}{of}"));
                }
            };
            name(&guard_block.into_iter().collect::<Vec<_>>(), "guard");
            name(&roles.preheader.into_iter().collect::<Vec<_>>(), "preheader");
            name(&[roles.header], "header");
            name(&roles.latches, "latch");
            name(&roles.exiting, "exiting");
            let exits: Vec<u32> =
                roles.exits.iter().copied().filter(|exit| places.contains_key(exit)).collect();
            name(&exits, "exit");
            for latch in &roles.latches {
                kinds.insert((places[latch], places[&roles.header]), Kind::Back);
            }
            for (from, to) in &roles.exit_edges {
                kinds.entry((places[from], places[to])).or_insert(Kind::Exiting);
            }
            if let (Some(guard), Some(from)) = (guard, guard_block) {
                kinds.entry((places[&from], places[&guard.skips_to])).or_insert(Kind::Guard);
            }
        }
    }

    /// Marks irreducible cycles.
    fn mark_cycles(
        &mut self,
        flow: &ControlFlow,
        places: &HashMap<u32, usize>,
        kinds: &mut HashMap<(usize, usize), Kind>,
    ) {
        let cycles = CycleForest::new(flow.graph(), flow.reversed(), 0);
        let mut pending = cycles.top().to_vec();
        while let Some(id) = pending.pop() {
            let cycle = cycles.get(id);
            pending.extend(&cycle.children);
            if cycle.is_reducible() {
                continue;
            }
            let inside: HashSet<u32> = cycle.nodes.iter().copied().collect();
            for node in &cycle.nodes {
                self.blocks[places[node]].is_irreducible = true;
            }
            for entry in &cycle.entries {
                self.blocks[places[entry]].roles.push("entry of a cycle".to_owned());
                for from in flow.reversed().successors(*entry).iter().filter(|from| inside.contains(*from)) {
                    kinds.entry((places[from], places[entry])).or_insert(Kind::Irreducible);
                }
            }
        }
    }
}
