//! Random control flow graphs, including irreducible ones, as LLVM IR. A campaign compares Loomir's
//! analyses of them with the output of `opt`.

use std::fmt::Write;

use loomir::dialects::interp::Limits;
use loomir::ir::graph::Digraph;
use loomir::ir::graph::dominators::DominatorTree;
use loomir::ir::{Body, Op};
use loomir::lowering::cfg::FORMS;
use loomir::lowering::cfg::edit::erase_unreachable;
use loomir::lowering::cfg::picture::{Format, picture};
use loomir::lowering::cfg::print::{Printed, print};

use crate::behaviour::{Ending, call, show};
use crate::check::Checker;
use crate::peers::Peer;
use crate::random::Random;

/// The statistics of a campaign.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions.
    pub cases: u64,
    /// Blocks.
    pub blocks: u64,
    /// Natural loops.
    pub loops: u64,
    /// Functions with an irreducible cycle.
    pub irreducible: u64,
    /// Functions that each form changed, in the order of [`FORMS`].
    pub changed: [u64; FORMS.len()],
    /// Runs compared.
    pub runs: u64,
}

/// The number of functions in one run of `opt`.
const BATCH: u64 = 250;

/// The compared analyses, with the names of `opt`'s printers.
const PRINTERS: [(Printed, &str); 4] = [
    (Printed::Loops, "print<loops>"),
    (Printed::Cycles, "print<cycles>"),
    (Printed::Dominators, "print<domtree>"),
    (Printed::PostDominators, "print<postdomtree>"),
];

/// Returns a function called `name` of a few blocks. Branches lead anywhere but to the first block.
/// Each block computes a number from three inputs: a number of the predecessor that entered it, its
/// own previous number in some cases, and a number of a block that dominates it. Some functions
/// also load one from memory. The number decides the branch.
pub fn function(random: &mut Random, name: &str) -> String {
    let ends = ends(random);
    let edges = |(from, end): (usize, &End)| {
        end.targets().into_iter().map(move |to| (from as u32, to as u32)).collect::<Vec<_>>()
    };
    let edges: Vec<(u32, u32)> = ends.iter().enumerate().flat_map(edges).collect();
    let tree = DominatorTree::new(&Digraph::new(ends.len(), &edges), 0);
    let progress = if random.chance(50) { " mustprogress" } else { "" };
    let mut text = format!("define i32 @{name}(i32 %x){progress} {{\n  %v0 = add i32 %x, 1\n");
    let slots = if random.chance(30) { 1 + random.below(3) } else { 0 };
    for slot in 0..slots {
        let _ = writeln!(text, "  %m{slot}s = alloca i32\n  store i32 %v0, ptr %m{slot}s");
    }
    let writer = Blocks { ends, tree, slots };
    for block in 0..writer.ends.len() {
        if block > 0 {
            writer.numbers(block, random, &mut text);
        }
        writer.terminator(block, random, &mut text);
    }
    text + "}\n"
}

/// The graph of a function whose blocks are written.
struct Blocks {
    ends: Vec<End>,
    tree: DominatorTree,
    /// The number of cells in memory.
    slots: usize,
}

impl Blocks {
    fn dominates(&self, above: usize, block: usize) -> bool {
        self.tree.dominates(above as u32, block as u32)
    }

    fn is_reachable(&self, block: usize) -> bool {
        self.tree.is_reachable(block as u32)
    }

    /// Returns the block in which each edge to `block` begins.
    fn entries(&self, block: usize) -> Vec<usize> {
        let into = |(from, end): (usize, &End)| {
            let times = end.targets().iter().filter(|to| **to == block).count();
            std::iter::repeat_n(from, times)
        };
        self.ends.iter().enumerate().flat_map(into).collect()
    }

    /// Writes the numbers that a block computes, up to `%v{block}`.
    fn numbers(&self, block: usize, random: &mut Random, text: &mut String) {
        let _ = writeln!(text, "b{block}:");
        let is_entered = self.phis(block, random, text);
        let number = if is_entered { format!("%p{block}") } else { format!("{block}") };
        let _ = writeln!(text, "  %m{block} = mul i32 {number}, 1103515245");
        let above = random.below(self.ends.len());
        let kept = if is_entered { format!("%q{block}") } else { "1".to_owned() };
        let mut above = if above != block && self.is_reachable(block) && self.dominates(above, block) {
            format!("%v{above}")
        } else {
            "5".to_owned()
        };
        if let Some(slot) = self.some_slot(random) {
            let _ = writeln!(text, "  %l{block} = load i32, ptr %m{slot}s");
            let _ = writeln!(text, "  %k{block} = add i32 %l{block}, {above}");
            above = format!("%k{block}");
        }
        if let Some(slot) = self.some_slot(random) {
            let _ = writeln!(text, "  store i32 %m{block}, ptr %m{slot}s");
        }
        let _ = writeln!(text, "  %a{block} = xor i32 {kept}, {above}");
        let _ = writeln!(text, "  %n{block} = add i32 %m{block}, {}", 12345 + block);
        let _ = writeln!(text, "  %v{block} = add i32 %n{block}, %a{block}");
    }

    /// Writes the phis of a block. Returns false if no edge leads to it.
    fn phis(&self, block: usize, random: &mut Random, text: &mut String) -> bool {
        let entries = self.entries(block);
        if entries.is_empty() {
            return false;
        }
        let label = |from: usize| if from == 0 { "%0".to_owned() } else { format!("%b{from}") };
        let phi = |value: &dyn Fn(usize) -> String| {
            let entry = |from: &usize| format!("[ {}, {} ]", value(*from), label(*from));
            entries.iter().map(entry).collect::<Vec<_>>().join(", ")
        };
        let keeps: Vec<bool> = (0..self.ends.len()).map(|_| random.chance(50)).collect();
        let kept = |from| match keeps[from] && from != 0 && self.dominates(block, from) {
            true => format!("%q{block}"),
            false => format!("%v{from}"),
        };
        let _ = writeln!(text, "  %p{block} = phi i32 {}", phi(&|from| format!("%v{from}")));
        let _ = writeln!(text, "  %q{block} = phi i32 {}", phi(&kept));
        true
    }

    fn some_slot(&self, random: &mut Random) -> Option<usize> {
        (self.slots > 0 && random.chance(40)).then(|| random.below(self.slots))
    }

    /// Writes the end of a block, with the number or the condition that decides it.
    fn terminator(&self, block: usize, random: &mut Random, text: &mut String) {
        let end = &self.ends[block];
        if !matches!(end, End::Branch(_) | End::Return | End::Unreachable) {
            let (shift, bits) = (8 + random.below(12), 1 + random.below(2));
            let _ = writeln!(text, "  %s{block} = lshr i32 %v{block}, {shift}");
            let _ = writeln!(text, "  %d{block} = and i32 %s{block}, {}", (1 << bits) - 1);
        }
        let _ = match end {
            End::Branch(to) => writeln!(text, "  br label %b{to}"),
            End::Conditional(yes, no) => {
                let predicate = ["eq", "ult", "sgt", "ne"][random.below(4)];
                let _ = writeln!(text, "  %c{block} = icmp {predicate} i32 %d{block}, {}", random.below(5));
                // Sometimes a value that is available there, or a constant.
                let above = random.below(self.ends.len());
                let is_known = self.is_reachable(block) && self.dominates(above, block);
                let condition = match (&self.ends[above], random.below(10)) {
                    (_, 0) => "true".to_owned(),
                    (End::Conditional(..), 1..4) if is_known => format!("%c{above}"),
                    _ => format!("%c{block}"),
                };
                writeln!(text, "  br i1 {condition}, label %b{yes}, label %b{no}")
            }
            End::Switch(default, cases) => {
                let _ = write!(text, "  switch i32 %d{block}, label %b{default} [");
                for (case, to) in cases.iter().enumerate() {
                    let _ = write!(text, " i32 {case}, label %b{to}");
                }
                writeln!(text, " ]")
            }
            End::Return => writeln!(text, "  ret i32 %v{block}"),
            End::Unreachable => writeln!(text, "  unreachable"),
        };
    }
}

/// The terminator of a block.
enum End {
    Branch(usize),
    Conditional(usize, usize),
    Switch(usize, Vec<usize>),
    Return,
    Unreachable,
}

impl End {
    fn targets(&self) -> Vec<usize> {
        match self {
            End::Branch(to) => vec![*to],
            End::Conditional(yes, no) => vec![*yes, *no],
            End::Switch(default, cases) => [*default].iter().chain(cases).copied().collect(),
            End::Return | End::Unreachable => Vec::new(),
        }
    }
}

fn ends(random: &mut Random) -> Vec<End> {
    let blocks = 1 + random.below(14);
    let mut ends = Vec::new();
    for block in 0..blocks {
        // Most targets are near, so that cycles nest.
        let target = |random: &mut Random| {
            let near = block as i64 + random.range(-3, 4);
            let far = 1 + random.below(blocks - 1) as i64;
            let to = if random.chance(70) { near.clamp(1, blocks as i64 - 1) } else { far };
            to as usize
        };
        let kind = if blocks == 1 { 3 } else { random.weighted(&[25, 60, 8, 6, 1]) };
        ends.push(match kind {
            0 => End::Branch(target(random)),
            1 => End::Conditional(target(random), target(random)),
            2 => {
                let default = target(random);
                End::Switch(default, (0..random.below(4)).map(|_| target(random)).collect())
            }
            3 => End::Return,
            _ => End::Unreachable,
        });
    }
    ends
}

/// Runs `cases` functions of the campaign of `seed`, from number `first` on.
///
/// # Errors
/// The first difference, with the program.
pub fn run(seed: u64, first: u64, cases: u64, opt: &Peer, tally: &mut Tally) -> Result<(), String> {
    let mut at = first;
    while at < first + cases {
        let end = (at + BATCH).min(first + cases);
        let text: String =
            (at..end).map(|case| function(&mut Random::of_case(seed, case), &format!("f{case}"))).collect();
        compare(&text, opt, tally)?;
        tally.cases += end - at;
        at = end;
    }
    Ok(())
}

/// Checks the drawing of a module's functions. No two boxes overlap partially, no blocks overlap,
/// and every block is drawn.
fn check_drawing(module: &Body, blocks: u64) -> Result<(), String> {
    let drawn = picture(module, Format::Svg).map_err(|errors| errors.to_text(module.ctx()))?;
    let mut shown = 0;
    for function in drawn.split("<g ").skip(1) {
        let number = |line: &str, name: &str| -> Option<i64> {
            line.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0.parse().ok()
        };
        // Left, top, right and bottom, and true for a loop.
        let rectangle = |line: &str| {
            let [x, y, width, height, round] =
                ["x", "y", "width", "height", "rx"].map(|name| number(line, name));
            Some(([x?, y?, x? + width?, y? + height?], round? == 10))
        };
        let boxes: Vec<([i64; 4], bool)> =
            function.lines().filter(|line| line.starts_with("<rect")).filter_map(rectangle).collect();
        shown += boxes.iter().filter(|(_, is_loop)| !is_loop).count() as u64;
        let inside = |a: &[i64; 4], b: &[i64; 4]| a[0] > b[0] && a[1] > b[1] && a[2] < b[2] && a[3] < b[3];
        for (at, (a, a_is_loop)) in boxes.iter().enumerate() {
            for (b, b_is_loop) in &boxes[..at] {
                let apart = a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
                let nested = (*b_is_loop && inside(a, b)) || (*a_is_loop && inside(b, a));
                if !apart && !nested {
                    return Err(format!("boxes {a:?} and {b:?} are drawn over each other\n{drawn}"));
                }
            }
        }
    }
    if shown == blocks { Ok(()) } else { Err(format!("{shown} of {blocks} blocks are drawn\n{drawn}")) }
}

/// Compares the analyses of every function of a module with those of `opt`, before and after it is
/// brought into each form and simplified. Also compares the results of the functions before and
/// after.
fn compare(text: &str, opt: &Peer, tally: &mut Tally) -> Result<(), String> {
    let ctx = loomir::context();
    let module = loomir::parse(&ctx, text, "graphs.ll").map_err(|errors| errors.to_text(&ctx))?;
    let counts = compare_printed(&module, opt)?;
    tally.loops += counts.loops;
    tally.irreducible += counts.irreducible;
    tally.blocks += counts.blocks;
    check_drawing(&module, counts.blocks)?;
    compare_nests(&module, opt)?;
    for (place, form) in FORMS.iter().enumerate() {
        let after = in_form(&module, form.name).map_err(|error| format!("{}: {error}", form.name))?;
        let pairs = printed(&module).into_iter().zip(printed(&after));
        tally.changed[place] += pairs.filter(|(before, after)| before != after).count() as u64;
        let compared = compare_printed(&after, opt).and_then(|_| compare_runs(&module, &after, tally));
        compared.map_err(|difference| format!("after {}: {difference}", form.name))?;
    }
    for passes in ORDINARY {
        let after = in_form(&module, passes).map_err(|error| format!("{passes}: {error}"))?;
        let compared = compare_printed(&after, opt).and_then(|_| compare_runs(&module, &after, tally));
        compared.map_err(|difference| format!("after {passes}: {difference}"))?;
    }
    Ok(())
}

/// Ordinary passes. The last pipeline must keep the forms that its earlier passes establish; this
/// is checked.
const ORDINARY: [&str; 3] = [
    "mem2reg",
    "mem2reg,simplify-cfg",
    "mem2reg,fix-irreducible,unify-loop-exits,lcssa,simplify-cfg{keep-loops=true}",
];

/// Compares the loops after loop-simplify, which separates loops that share a header, with those of
/// `opt`. Unreachable blocks are removed first. Otherwise `opt` separates fewer loops, because it
/// looks at the values of unreachable blocks before it erases them.
fn compare_nests(module: &Body, opt: &Peer) -> Result<(), String> {
    let mut reached = module.duplicate();
    for op in functions(&reached) {
        reached.nested_mut(op).map(erase_unreachable);
    }
    let written = loomir::lowering::to_ll(&reached).map_err(|errors| errors.to_text(module.ctx()))?;
    let passes = "-passes=loop-simplify,print<loops>";
    let theirs = opt.said(&written, &["-disable-output", passes])?;
    let ours = print(&in_form(module, "loop-simplify")?, Printed::Loops);
    let ours = ours.map_err(|errors| errors.to_text(module.ctx()))?;
    let nests = |text: &str| {
        let depth = |line: &str| line.split(" containing").next().unwrap_or_default().to_owned();
        let mut functions: Vec<Vec<String>> = Vec::new();
        for line in text.lines() {
            if line.starts_with("Loop info") {
                functions.push(Vec::new());
            }
            functions.last_mut().into_iter().for_each(|lines| lines.push(depth(line)));
        }
        functions
    };
    match nests(&ours).into_iter().zip(nests(&theirs)).find(|(ours, theirs)| ours != theirs) {
        Some((ours, theirs)) => {
            Err(format!("loops: {}\nthose of opt: {}\n{written}", ours.join("\n"), theirs.join("\n")))
        }
        None => Ok(()),
    }
}

/// Returns a module whose functions were brought into a form. Loops and dominators are compared
/// after each step, and a second run must change nothing.
fn in_form(module: &Body, form: &str) -> Result<Body, String> {
    let checker = Checker { ctx: module.ctx().clone(), passes: loomir::passes() };
    let pipeline = format!("builtin.module(llvm.func({form}))");
    let mut after = module.duplicate();
    checker.run(&pipeline, &mut after).map_err(|errors| checker.lines(&errors))?;
    let mut again = after.duplicate();
    checker.run(&pipeline, &mut again).map_err(|errors| checker.lines(&errors))?;
    match printed(&after).into_iter().zip(printed(&again)).find(|(once, twice)| once != twice) {
        Some((once, twice)) => Err(format!("another time it is\n{twice}\nbut it was\n{once}")),
        None => Ok(after),
    }
}

/// Returns the functions of a module as text.
fn printed(module: &Body) -> Vec<String> {
    functions(module).into_iter().filter_map(|op| module.nested(op)).map(loomir::print).collect()
}

fn functions(module: &Body) -> Vec<Op> {
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    blocks.flat_map(|block| module.ops(block)).collect()
}

/// Calls every function of two modules with a few numbers.
fn compare_runs(before: &Body, after: &Body, tally: &mut Tally) -> Result<(), String> {
    let limits = Limits { steps: 2_000, ..Limits::default() };
    for op in functions(before) {
        let name = before.op_ref(op).attr("sym_name").and_then(|name| name.as_str(before.ctx()));
        let name = name.unwrap_or_default();
        for number in ["0", "1", "77"] {
            let input = vec![number.to_owned()];
            let first = call(before, name, &input, &limits)?;
            if !matches!(first, Ending::Returned(_)) {
                continue;
            }
            tally.runs += 1;
            let longer = Limits { steps: 20_000, ..Limits::default() };
            let second = call(after, name, &input, &longer)?;
            if first != second {
                return Err(format!("@{name}({number}): {} is now {}", show(&first), show(&second)));
            }
        }
    }
    Ok(())
}

/// Counts of loops, irreducible cycles and blocks.
struct Counts {
    loops: u64,
    irreducible: u64,
    blocks: u64,
}

fn compare_printed(module: &Body, opt: &Peer) -> Result<Counts, String> {
    let ctx = module.ctx();
    let written = loomir::lowering::to_ll(module).map_err(|errors| errors.to_text(ctx))?;
    let mut counts = Counts { loops: 0, irreducible: 0, blocks: 0 };
    for (what, pass) in PRINTERS {
        let theirs = opt.said(&written, &["-disable-output", &format!("-passes={pass}")])?;
        let ours = print(module, what).map_err(|errors| errors.to_text(ctx))?;
        if let Some(line) = ours.lines().zip(theirs.lines()).position(|(a, b)| a != b) {
            let of = |text: &str| text.lines().nth(line).unwrap_or_default().to_owned();
            let head = |line: &&str| line.contains("unction");
            let function = ours.lines().take(line + 1).filter(head).last().unwrap_or_default();
            let (ours, theirs) = (of(&ours), of(&theirs));
            return Err(format!("{pass}, {function}\nours:   {ours}\ntheirs: {theirs}\n{written}"));
        }
        if ours.lines().count() != theirs.lines().count() {
            return Err(format!("{pass}: lines are missing\n{ours}\n{theirs}"));
        }
        let many = |function: &&str| {
            let entries = |line: &str| Some(line.split_once('(')?.1.split_once(')')?.0.contains(' '));
            function.lines().any(|line| entries(line) == Some(true))
        };
        match what {
            Printed::Loops => counts.loops = ours.matches("Loop at depth").count() as u64,
            Printed::Cycles => counts.irreducible = ours.split("CycleInfo").filter(many).count() as u64,
            Printed::PostDominators | Printed::ScalarEvolution | Printed::Accesses => {}
            Printed::Dominators => counts.blocks = ours.matches("} [").count() as u64,
        }
    }
    Ok(counts)
}
