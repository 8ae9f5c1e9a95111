//! The fused loops of a text in LLVM IR: by Loomir's fusion, and by that of `opt`.
//!
//! Both are matched by names. Names survive the fusion of `opt`: two loops were fused if values of
//! both are computed in one loop afterwards, according to `print<loops>`. Loomir keeps locations
//! instead: its remarks name the branches of the latches. Therefore values must have names, and
//! every operation must have a line of its own.
//!
//! Cost: linear in the text.

use std::collections::BTreeMap;

use loomir::ir::diagnostics::{Arg, Remark};
use loomir::ir::{Context, Diagnostics, Loc};

use crate::peers::Peer;

pub mod compared;
pub mod turned;

/// A loop of a function as written in the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// The name of its header.
    pub header: String,
    /// The line of the latch's branch.
    line: u32,
    /// The values defined in the loop but in no loop inside it.
    values: Vec<String>,
}

/// The groups of fused loops of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Groups(Vec<usize>);

impl Groups {
    fn apart(loops: usize) -> Groups {
        Groups((0..loops).collect())
    }

    fn join(&mut self, a: usize, b: usize) {
        let [from, to] = [a, b].map(|index| self.0[index]);
        self.0.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
    }

    /// Returns the fused pairs: each loop with the next one of its group.
    pub fn pairs(&self) -> Vec<(usize, usize)> {
        let next = |a: usize| (a + 1..self.0.len()).find(|b| self.0[*b] == self.0[a]);
        (0..self.0.len()).filter_map(|a| Some((a, next(a)?))).collect()
    }

    /// True if two loops were fused.
    pub fn are_one(&self, (a, b): (usize, usize)) -> bool {
        self.0[a] == self.0[b]
    }
}

/// The time limit of `opt` for one text. It does not terminate on some.
const MAX_SECONDS: u64 = 10;

/// The result of `opt` on a text.
#[derive(Clone, Debug)]
pub struct Theirs {
    /// The text afterwards.
    pub text: String,
    /// The original loops of each function, in the order of the text.
    pub loops: BTreeMap<String, Vec<Loop>>,
    /// The groups of loops that it fused.
    pub groups: BTreeMap<String, Groups>,
}

impl Theirs {
    /// Lets `opt` fuse with at most `peel` peeled iterations.
    ///
    /// # Errors
    /// The error message of `opt`, or that it did not terminate.
    pub fn of(text: &str, opt: &Peer, peel: u32) -> Result<Theirs, String> {
        let peel = format!("-loop-fusion-peel-max-count={peel}");
        let options = ["-passes=print<loops>,loop-fusion,print<loops>", &peel, "-S", "-o", "-"];
        let output = opt.output_within(MAX_SECONDS, text, &options)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if !output.status.success() {
            return Err(said);
        }
        let after = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut theirs = Theirs { text: after, loops: BTreeMap::new(), groups: BTreeMap::new() };
        let (source, result) = (Text::of(text), Text::of(&theirs.text));
        for (name, nests) in printed(&said) {
            let Some([before, after]) = nests.get(..2) else { continue };
            let (Some(blocks), Some(results)) = (source.functions.get(&name), result.functions.get(&name))
            else {
                continue;
            };
            let loops = before.loops(blocks);
            let mut groups = Groups::apart(loops.len());
            let place = |own: &Loop| {
                let is_kept = |block: &&Block| block.values.iter().any(|value| own.values.contains(value));
                after.innermost(&results.iter().find(is_kept)?.label)
            };
            let places: Vec<Option<usize>> = loops.iter().map(place).collect();
            for (b, place) in places.iter().enumerate().filter(|(_, place)| place.is_some()) {
                if let Some(a) = places[..b].iter().position(|other| other == place) {
                    groups.join(b, a);
                }
            }
            theirs.loops.insert(name.clone(), loops);
            theirs.groups.insert(name, groups);
        }
        Ok(theirs)
    }
}

/// Returns the loops of the functions of a text in its order, as `opt` finds them.
///
/// # Errors
/// The error message of `opt`.
pub fn written(text: &str, opt: &Peer) -> Result<BTreeMap<String, Vec<Loop>>, String> {
    let said = opt.said(text, &["-passes=print<loops>", "-disable-output"])?;
    let source = Text::of(text);
    let loops = |(name, nests): (String, Vec<Nest>)| {
        let loops = nests.first()?.loops(source.functions.get(&name)?);
        Some((name, loops))
    };
    Ok(printed(&said).into_iter().filter_map(loops).collect())
}

/// Returns the groups of these loops that Loomir fused, by its remarks.
pub fn ours(
    loops: &BTreeMap<String, Vec<Loop>>,
    ctx: &Context,
    remarks: &Diagnostics,
) -> BTreeMap<String, Groups> {
    let apart = |loops: &Vec<Loop>| Groups::apart(loops.len());
    let mut ours: BTreeMap<String, Groups> =
        loops.iter().map(|(name, loops)| (name.clone(), apart(loops))).collect();
    for remark in remarks.iter() {
        let Some(Remark { name: "Fused", function, args, .. }) = remark.remark.as_deref() else { continue };
        let first = args.iter().find_map(|(key, value)| match value {
            Arg::Place(place) if *key == "first" => Some(*place),
            _ => None,
        });
        let (Some(groups), Some(loops)) = (ours.get_mut(function), loops.get(function)) else { continue };
        let at = |place: Loc| {
            let (_, line, _) = place.file_line_col(ctx)?;
            loops.iter().position(|own| own.line == line)
        };
        if let (Some(a), Some(b)) = (first.and_then(at), at(remark.loc)) {
            groups.join(b, a);
        }
    }
    ours
}

/// A block of a function as written in the text.
#[derive(Debug)]
struct Block {
    label: String,
    /// The line of its terminator.
    last: u32,
    values: Vec<String>,
}

/// The blocks of the functions of a text.
struct Text {
    functions: BTreeMap<String, Vec<Block>>,
}

impl Text {
    fn of(text: &str) -> Text {
        let mut functions: BTreeMap<String, Vec<Block>> = BTreeMap::new();
        let mut current: Option<String> = None;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(name) = line.strip_prefix("define ").and_then(|rest| rest.split_once('@')) {
                let name: String = name.1.chars().take_while(|c| *c != '(').collect();
                functions.entry(name.clone()).or_default();
                current = Some(name);
                continue;
            }
            let Some(blocks) = current.as_ref().and_then(|name| functions.get_mut(name)) else { continue };
            let code = line.split(';').next().unwrap_or_default().trim_end();
            if code == "}" {
                current = None;
            } else if let Some(label) = code.strip_suffix(':').filter(|label| !label.starts_with(' ')) {
                blocks.push(Block { label: label.to_owned(), last: number, values: Vec::new() });
            } else if !code.trim().is_empty() {
                if blocks.is_empty() {
                    blocks.push(Block { label: String::new(), last: number, values: Vec::new() });
                }
                let Some(block) = blocks.last_mut() else { continue };
                block.last = number;
                let value = code.trim_start().strip_prefix('%').and_then(|rest| rest.split_once(" = "));
                block.values.extend(value.map(|(name, _)| name.to_owned()));
            }
        }
        Text { functions }
    }
}

/// The loops of a function in the output of `opt`: for each its depth and its blocks, the header
/// first.
#[derive(Debug, Default)]
struct Nest(Vec<(usize, Vec<String>)>);

impl Nest {
    /// Returns the number of the innermost loop around a block.
    fn innermost(&self, label: &str) -> Option<usize> {
        let around =
            self.0.iter().enumerate().filter(|(_, (_, blocks))| blocks.iter().any(|own| own == label));
        around.max_by_key(|(_, (depth, _))| *depth).map(|(index, _)| index)
    }

    /// Returns the loops, in the order of their headers in the text.
    fn loops(&self, blocks: &[Block]) -> Vec<Loop> {
        let header = |block: &Block| self.0.iter().position(|(_, own)| own.first() == Some(&block.label));
        let headers = blocks.iter().filter_map(|block| Some((header(block)?, block)));
        let of = |(index, header): (usize, &Block)| {
            let own = blocks.iter().filter(|block| self.innermost(&block.label) == Some(index));
            let values = own.clone().flat_map(|block| block.values.clone()).collect();
            // In a loop with a single latch, the last block is the latch. Only such loops are
            // fused.
            let line = own.map(|block| block.last).max().unwrap_or(header.last);
            Loop { header: header.label.clone(), line, values }
        };
        headers.map(of).collect()
    }
}

/// Parses the output of `print<loops>`, for each function in order.
fn printed(said: &str) -> BTreeMap<String, Vec<Nest>> {
    let mut all: BTreeMap<String, Vec<Nest>> = BTreeMap::new();
    let mut current: Option<String> = None;
    for line in said.lines() {
        if let Some(name) = line.strip_prefix("Loop info for function '") {
            let name = name.trim_end_matches(':').trim_end_matches('\'').to_owned();
            all.entry(name.clone()).or_default().push(Nest::default());
            current = Some(name);
            continue;
        }
        let nests = current.as_ref().and_then(|name| all.get_mut(name));
        let (Some(Nest(loops)), Some((head, blocks))) =
            (nests.and_then(|nests| nests.last_mut()), line.split_once(" containing: "))
        else {
            continue;
        };
        let Some(depth) = head.rsplit(' ').next().and_then(|depth| depth.parse().ok()) else { continue };
        let label =
            |block: &str| block.trim_start_matches('%').split('<').next().unwrap_or_default().to_owned();
        loops.push((depth, blocks.split(',').map(label).collect()));
    }
    all
}
