//! Remarks on fusion for people: one block for each loop that comes of several, and how many nests
//! became how many.
//!
//! Fusion says of each loop what it was fused with. Where three or more loops became one, these
//! remarks become one, at
//! the first loop, with a note for each of the others. Everything else stays as it is, in its
//! order.

use std::iter;

use crate::dialects::interfaces::{LoopLike, ParallelLike};
use crate::dialects::linalg::Structured;
use crate::ir::diagnostics::{Arg, Remark};
use crate::ir::{Body, Diagnostic, Diagnostics, Loc};
use hashbrown::{HashMap, HashSet};

/// The name of remarks on two loops that were fused.
const FUSED: &str = "Fused";

/// Returns the place of the first of two loops that were fused, if that is what the diagnostic
/// says.
fn first_of(said: &Diagnostic) -> Option<Loc> {
    argument(said.remark.as_deref().filter(|remark| remark.name == FUSED)?, "first").and_then(|arg| match arg
    {
        Arg::Place(loc) => Some(*loc),
        _ => None,
    })
}

fn argument<'r>(remark: &'r Remark, key: &str) -> Option<&'r Arg> {
    remark.args.iter().find(|(own, _)| *own == key).map(|(_, arg)| arg)
}

/// Returns the diagnostics with the remarks on loops that became one as one. Linear.
pub(super) fn by_loop(said: Diagnostics) -> Diagnostics {
    let mut blocks: Vec<Vec<Diagnostic>> = Vec::new();
    let mut block_of: HashMap<Loc, usize> = HashMap::new();
    for own in said {
        let Some(first) = first_of(&own) else {
            blocks.push(vec![own]);
            continue;
        };
        let block = *block_of.entry(first).or_insert(blocks.len());
        block_of.insert(own.loc, block);
        match blocks.get_mut(block) {
            Some(known) => known.push(own),
            None => blocks.push(vec![own]),
        }
    }
    let mut all = Diagnostics::new();
    blocks.into_iter().for_each(|block| all.push(one(block)));
    all
}

/// Returns one remark for those on loops that became one.
fn one(mut block: Vec<Diagnostic>) -> Diagnostic {
    if block.len() == 1 {
        return block.remove(0);
    }
    let function = block[0].remark.as_ref().map_or("", |remark| &remark.function).to_owned();
    let loc = first_of(&block[0]).unwrap_or(block[0].loc);
    let mut all = Diagnostic::remark(loc, String::new());
    // The loops of an operation of `linalg` have one place.
    let mut places: HashSet<Loc> = [loc].into_iter().collect();
    for own in block {
        let how = own.message.split_once("Loops fused").map_or("", |(_, how)| how);
        places.insert(own.loc);
        let with = (own.loc, format!("with this loop{}", of_this(how)));
        for note in iter::once(with).chain(own.notes.into_iter().skip(1)) {
            if !all.notes.contains(&note) {
                all.notes.push(note);
            }
        }
        all.help = all.help.or(own.help);
    }
    all.message = match places.len() {
        0..=2 => format!("[{function}]: Loops fused"),
        loops => format!("[{function}]: {loops} loops fused into one"),
    };
    all
}

/// Returns how the second of two loops was fused, said of that loop.
fn of_this(how: &str) -> String {
    let how = how.replace("the loops of the second", "its loops").replace("part of the second", "part of it");
    how.replace(", the second ", ", ")
}

/// The nests of each function, by the places of their outermost loops.
pub(super) struct Nests(Vec<(String, Vec<Loc>)>);

impl Nests {
    /// Finds the nests of a module. Linear.
    pub(super) fn of(module: &Body) -> Nests {
        let mut found = Vec::new();
        let mut bodies = vec![module];
        while let Some(body) = bodies.pop() {
            let name = body.attr(body.root(), "sym_name").and_then(|attr| attr.as_str(body.ctx()));
            let is_loop = |op| {
                let info = body.op_ref(op).info();
                info.interface::<dyn LoopLike>().is_some()
                    || info.interface::<dyn ParallelLike>().is_some()
                    || Structured::of(body.op_ref(op)).is_some()
            };
            let mut outermost = Vec::new();
            let mut pending = vec![body.root()];
            while let Some(op) = pending.pop() {
                if op != body.root() && is_loop(op) {
                    outermost.push(body.loc(op));
                    continue;
                }
                let blocks = body.own_regions(op).flat_map(|region| body.blocks(region));
                pending.extend(blocks.flat_map(|block| body.ops(block)));
            }
            found.push((name.unwrap_or_default().to_owned(), outermost));
            let mark = bodies.len();
            bodies.extend(body.all_ops().filter_map(|op| body.nested(op)));
            bodies[mark..].reverse();
        }
        Nests(found)
    }

    /// Returns a line for each function some of whose nests were fused. A nest of which only a part
    /// was fused counts.
    pub(super) fn summary(&self, said: &Diagnostics) -> String {
        let mut fused: HashSet<Loc> = HashSet::new();
        for own in said.iter().filter(|own| first_of(own).is_some()) {
            let how = own.remark.as_ref().and_then(|remark| argument(remark, "reshaped"));
            let in_part =
                matches!(how, Some(Arg::Fields(fields)) if fields.contains(&("how", "distributed".into())));
            if !in_part {
                fused.insert(own.loc);
            }
        }
        let line = |(name, nests): &(String, Vec<Loc>)| {
            let gone = nests.iter().filter(|loc| fused.contains(*loc)).count();
            (gone > 0).then(|| format!("[{name}]: {} nests → {}\n", nests.len(), nests.len() - gone))
        };
        let lines: String = self.0.iter().filter_map(line).collect();
        if lines.is_empty() { lines } else { lines + "\n" }
    }
}
