//! Random legal variants of a function, each with the cycles that are estimated for it.
//!
//! ```text
//! legal_variants IN.ll|IN.mlir MACHINE COUNT SEED FOLDER
//! ```
//!
//! The first function with loops is changed as a search would change it: mostly, its loops are
//! distributed into perfect nests first. Then up to four edits permute loops, tile them, unroll and
//! jam them, distribute, fuse or reverse them. The judge approves each of them. Each variant is a
//! file of LLVM IR in `FOLDER`; a line of the output has its name, its cycles, and its edits. The
//! first variant is the program as it is. Equal variants are written once, so there may be fewer
//! than `COUNT`. `MACHINE` is a file that `loomir machine` wrote.
//!
//! `benches/native/order.py` measures them.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use loomir::dialects::interp::layout::DataLayout;
use loomir::ir::symbols::SymbolTable;
use loomir::ir::{Body, text};
use loomir::lowering::linalg_to_loops::convert_computations;
use loomir::lowering::ll::{from_ll, is_ll};
use loomir::lowering::raising::{self, Facts};
use loomir::transforms::cost::{self, CostSource, Machine, OnMachine};
use loomir::transforms::distribution::distribute;
use loomir::transforms::legality::Checker;
use loomir::transforms::nest_sinking::sink_into_nests;
use loomir::transforms::promotion::promote;
use loomir::transforms::regenerate::{Rewrite, regenerate};
use loomir::transforms::simplify::{cse::cse, licm::hoist_invariant};
use loomir::transforms::tree::raise::raise_by;
use loomir::transforms::tree::{Change, Green, Node, Red, Separation, TreeStore};
use loomir::{AliasMode, Analyses, DistributeOptions, PromotionOptions};
use loomir_testing::random::Random;

/// The most edits of a variant.
const EDITS: usize = 4;

/// The most times in a row that loops are distributed.
const CUTS: usize = 4;

/// The most variants that are drawn for each one that is written.
const DRAWN: usize = 20;

/// The sizes of tiles and blocks, and the counts of copies, that a person would try.
const SIZES: [i64; 6] = [4, 8, 16, 32, 64, 128];
const COUNTS: [usize; 4] = [2, 4, 8, 16];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match write_variants(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Writes the variants that the arguments ask for.
fn write_variants(words: &[String]) -> Result<(), String> {
    let [input, machine, count, seed, folder] = words else {
        return Err("usage: legal_variants IN MACHINE COUNT SEED FOLDER".into());
    };
    let count: usize = count.parse().map_err(|error| format!("COUNT: {error}"))?;
    let seed: u64 = seed.parse().map_err(|error| format!("SEED: {error}"))?;
    let source = std::fs::read_to_string(input).map_err(|error| format!("{input}: {error}"))?;
    let machine = std::fs::read_to_string(machine).map_err(|error| format!("{machine}: {error}"))?;
    let machine: Machine = machine.parse().map_err(|error| format!("MACHINE: {error}"))?;
    let program = Program::of(&source, input)?;
    let (mut seen, mut written) = (BTreeSet::new(), 0);
    for number in 0..count * DRAWN {
        if written == count {
            break;
        }
        let mut random = Random::of_case(seed, number as u64);
        let (mut body, mut edits) = (program.function.duplicate(), Vec::new());
        if number > 0 {
            if random.chance(65) {
                cut(&mut body, &program.analyses);
                edits.push("Cut".to_owned());
            }
            let (most, mut is_tiled) = (1 + random.below(EDITS), false);
            edits.extend(
                (0..most).filter_map(|_| edit(&mut body, &program.analyses, &mut random, &mut is_tiled)),
            );
            cse(&mut body);
            hoist_invariant(&mut body);
        }
        let cycles = estimate(&body, &program.analyses, machine.clone());
        let text = program.with(body)?;
        if seen.insert(text.clone()) {
            let name = format!("{written}.ll");
            std::fs::write(Path::new(folder).join(&name), text)
                .map_err(|error| format!("{folder}: {error}"))?;
            println!("{name}\t{cycles}\t{}", edits.join(", "));
            written += 1;
        }
    }
    Ok(())
}

/// A program, and a function of it on regions.
struct Program {
    module: Body,
    /// The place of the function among the operations of the module.
    at: usize,
    function: Body,
    is_raised: bool,
    /// With the sizes of types.
    analyses: Analyses,
}

impl Program {
    fn of(source: &str, name: &str) -> Result<Program, String> {
        let ctx = loomir::context();
        let is_raised = is_ll(source);
        let read = if is_raised { from_ll(&ctx, source, name) } else { text::parse(&ctx, source, name) };
        let mut module = read.map_err(|errors| loomir::render(&ctx, &errors, &[], false))?;
        let symbols = SymbolTable::of(&module);
        let layout = Arc::new(DataLayout::of_symbols(&ctx, &symbols));
        let analyses = Analyses::default().with_module(&layout, &Arc::default());
        for (at, op) in module.all_ops().collect::<Vec<_>>().into_iter().enumerate() {
            let Some(own) = module.nested_mut(op) else { continue };
            let function = if is_raised {
                let Ok(own) = raising::raise(own, &symbols) else { continue };
                own.body
            } else {
                let mut own = own.duplicate();
                convert_computations(&mut own);
                own
            };
            return Ok(Program { module, at, function, is_raised, analyses });
        }
        Err(format!("{name}: no function can be raised"))
    }

    /// Returns the program with another form of its function, as LLVM IR.
    fn with(&self, mut function: Body) -> Result<String, String> {
        let mut module = self.module.duplicate();
        let said = |errors| loomir::render(self.module.ctx(), &errors, &[], false);
        if self.is_raised {
            raising::lower(&mut function, Facts::Told).map_err(said)?;
        } else {
            // Estimates take for granted what `loomir optimize` does at its end.
            let options = PromotionOptions { alias: AliasMode::Distinct, ..PromotionOptions::default() };
            promote(&mut function, &options);
        }
        let at = module.all_ops().nth(self.at);
        *at.and_then(|at| module.nested_mut(at)).ok_or("the function is gone")? = function;
        if self.is_raised {
            raising::convert_raised(&mut module).map_err(said)?;
        }
        loomir::to_ll(&module).map_err(said)
    }
}

/// Returns the cycles that are estimated for a function.
fn estimate(body: &Body, analyses: &Analyses, machine: Machine) -> f64 {
    let cost = CostSource::Static.cost(machine);
    cost::cycles(body, (analyses, AliasMode::Distinct), &OnMachine::of_function(&*cost, body))
}

/// Distributes loops into perfect nests.
fn cut(body: &mut Body, analyses: &Analyses) {
    let options = DistributeOptions {
        alias: AliasMode::Distinct,
        analyses: analyses.clone(),
        ..DistributeOptions::default()
    };
    for _ in 0..CUTS {
        if distribute(body, &options).distributed == 0 {
            break;
        }
    }
    sink_into_nests(body);
}

/// Makes one legal edit of the function. Returns its description. Loops are not permuted behind
/// tiling: a loop over tiles inside of one over elements is of no use.
fn edit(body: &mut Body, analyses: &Analyses, random: &mut Random, is_tiled: &mut bool) -> Option<String> {
    let block = body.entry_block(body.region(body.root(), 0))?;
    let mut trees = TreeStore::default();
    let program = raise_by(analyses, body, block, &mut trees, AliasMode::Distinct);
    let mut places = Vec::new();
    loops(&trees, program.root, &mut Vec::new(), &mut places);
    if places.is_empty() {
        return None;
    }
    // Most of the time is spent in deep nests.
    let weights = places.iter().map(|place| depth_of_nest(&trees, program.root, place).unwrap_or(0).pow(2));
    let place = places[random.weighted(&weights.map(|own| own as i64).collect::<Vec<i64>>())].clone();
    let change = change(&trees, program.root, &place, random)?;
    let tiles = matches!(change, Change::Tile { .. } | Change::StripMine { .. });
    if *is_tiled && (tiles || matches!(change, Change::Permute { .. })) {
        return None;
    }
    *is_tiled |= tiles;
    let said = format!("{change:?} at {place:?}");
    let tree = change.at(place).apply(&program, &mut trees, program.root)?;
    if tree == program.root {
        return None;
    }
    let approved = {
        let checker = Checker::new(body, &program, AliasMode::Distinct, Default::default());
        checker.judge(&mut trees, tree).ok()?
    };
    regenerate(body, &program, &trees, &approved, Rewrite::Changed).ok()?;
    Some(said)
}

/// Adds the paths of the loops of a sequence, and of those inside of them.
fn loops(trees: &TreeStore, sequence: Green, path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
    for (at, item) in trees.items(sequence).enumerate() {
        path.push(at);
        match trees.get(item) {
            Node::Loop { body, .. } => {
                found.push(path.clone());
                loops(trees, body, path, found);
            }
            Node::Guard { body, .. } => loops(trees, body, path, found),
            _ => {}
        }
        path.pop();
    }
}

/// Returns a random change of a loop.
fn change(trees: &TreeStore, root: Green, place: &[usize], random: &mut Random) -> Option<Change> {
    let depth = depth_of_nest(trees, root, place)?;
    let sizes = |random: &mut Random| -> Box<[i64]> {
        let size = |_| if random.chance(30) { 0 } else { *random.pick(&SIZES) };
        (0..depth).map(size).collect()
    };
    let (count, size) = (*random.pick(&COUNTS), *random.pick(&SIZES));
    let is_nest = depth > 1;
    Some(match random.weighted(&[30, 20, 25, 5, 3, 5, 8, 4]) {
        0 if is_nest => {
            let mut left: Vec<usize> = (0..depth).collect();
            let order = (0..depth).map(|_| left.remove(random.below(left.len())));
            Change::Permute { order: order.collect() }
        }
        1 if is_nest => Change::Tile { sizes: sizes(random), separate: Separation::Nowhere },
        2 if is_nest => Change::UnrollAndJam { count },
        3 => Change::Unroll { count },
        4 => Change::StripMine { size },
        5 => Change::Distribute { at: 1 + random.below(4) },
        6 => Change::Fuse { shift: 0 },
        7 => Change::Reverse,
        _ => return None,
    })
}

/// Returns the number of loops of the perfect nest that begins at a place.
fn depth_of_nest(trees: &TreeStore, root: Green, place: &[usize]) -> Option<usize> {
    let mut at = Red::at(trees, root, place)?.node();
    let mut depth = 0;
    while let Node::Loop { body, .. } = trees.get(at) {
        depth += 1;
        let mut items = trees.items(body);
        match (items.next(), items.next()) {
            (Some(only), None) => at = only,
            _ => break,
        }
    }
    Some(depth)
}
