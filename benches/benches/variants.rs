//! The cost of variants of a program in the loop tree: time and memory of an edit, a million
//! variants held at once, and a thousand of them written as IR and verified. A thousand edits of a
//! hundred nests are proposed and judged.
//!
//! The program is a function of a thousand loops that do not depend on each other; a variant is one
//! with two neighbours in the other's place. Run it with `cargo xtask bench --bench variants`.
#![allow(clippy::print_stdout)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use loomir::AliasMode;
use loomir::ir::{Block, Body, text, verifier};
use loomir::transforms::legality::Checker;
use loomir::transforms::regenerate::{Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Green, Node, Red, TreeStore};
use loomir_benches::loops::Loops;
use loomir_benches::nests;

const LOOPS: usize = 1000;
const VARIANTS: usize = 1_000_000;
/// So many edits are measured where no variants are held but these.
const FEW: usize = 10_000;
const WRITTEN: usize = 1000;
/// Nests of which edits are judged.
const NESTS: usize = 100;
/// So many edits.
const JUDGED: usize = 1000;
/// The time that they may take.
const JUDGED_WITHIN: Duration = Duration::from_secs(1);
/// Copies of a tree that are measured at once.
const COPIES: usize = 10_000_000;
/// Nanoseconds that a copy may take.
const LIMIT: f64 = 100.0;

/// A copy of a tree is a copy of a number: the compiler lets nothing be `Copy` that allocates when
/// it is copied.
const _: () = {
    const fn allocates_nothing<T: Copy>() {}
    allocates_nothing::<Green>();
    assert!(size_of::<Green>() == 4);
};

fn main() {
    let function = function();
    let mut trees = TreeStore::default();
    let block = block_of(&function);
    let original = raise(&function, block, &mut trees, AliasMode::May).root;
    let is_loop = |item: Green| matches!(trees.get(item), Node::Loop { .. });
    let first = trees.items(original).position(is_loop).unwrap_or_default();

    let copy = copy(original);
    assert!(copy < LIMIT, "a copy of a tree takes {copy:.1} ns");

    // Inside a nest, where a cursor stands: the first two statements of its body in the other
    // order.
    let inside = Edits::measure(&mut trees, original, FEW, &mut Vec::new(), |trees, tree, random| {
        let mut cursor = Red::of(tree);
        cursor.down(trees, first + random % LOOPS);
        let pair: Vec<Green> = cursor.children(trees).take(2).collect();
        cursor.splice(trees, 0..2, &[pair[1], pair[0]]);
        cursor.root()
    });
    // Between nests: two neighbours in the other order.
    let mut swap = |trees: &mut TreeStore, tree: Green, random: usize| {
        let at = first + random % (LOOPS - 1);
        let pair = [at + 1, at].map(|i| trees.item(tree, i).unwrap_or(TreeStore::EMPTY));
        trees.splice(tree, at..at + 2, &pair)
    };
    let few = Edits::measure(&mut trees, original, FEW, &mut Vec::new(), &mut swap);
    let mut variants: Vec<Green> = Vec::with_capacity(VARIANTS);
    let all = Edits::measure(&mut trees, original, VARIANTS, &mut variants, &mut swap);
    let mut seen = vec![false; trees.len()];
    let different = variants.iter().filter(|tree| !std::mem::replace(&mut seen[tree.index()], true)).count();

    let start = Instant::now();
    let mut verified = 0;
    for variant in variants.iter().step_by(VARIANTS / WRITTEN) {
        let mut copy = function.duplicate();
        // In the same trees the same program has the same nodes.
        let block = block_of(&copy);
        let own = raise(&copy, block, &mut trees, AliasMode::May);
        assert_eq!(own.root, original);
        let checker = Checker::new(&copy, &own, AliasMode::May, Default::default());
        let Ok(approved) = checker.judge(&mut trees, *variant) else { continue };
        let outcome = regenerate(&mut copy, &own, &trees, &approved, Rewrite::Changed);
        assert_eq!(outcome, Ok(()));
        verified += usize::from(!verifier::verify(&copy).has_errors());
    }
    let written = start.elapsed() / WRITTEN as u32;
    assert_eq!(verified, WRITTEN, "variants that are written and well formed");

    let nests = nests::function(NESTS);
    let judged = nests::judge(&nests, JUDGED);
    assert!(judged.time < JUDGED_WITHIN, "{JUDGED} edits of {NESTS} nests: {judged:?}");

    println!("| what | figure |");
    println!("| --- | --- |");
    println!("| loops in the program | {LOOPS} |");
    println!(
        "| a copy of the tree | {copy:.1} ns, a number of {} bytes, nothing allocated |",
        size_of::<Green>()
    );
    println!("| an edit inside a loop, by a cursor | {inside} |");
    println!("| an edit between loops | {few} |");
    println!("| an edit, with a million variants held | {all} |");
    println!("| variants held | {VARIANTS}, {different} of them different |");
    println!("| memory for all | {:.0} MiB |", trees.bytes() as f64 / 1_048_576.0);
    let each = written.as_secs_f64() * 1e3;
    println!("| copied, written and verified | {verified} of {WRITTEN}, {each:.2} ms each |");
    let nests::Judged { time, edits, legal, illegal } = judged;
    println!(
        "| edits of {NESTS} nests, proposed and judged | {edits} of {JUDGED}, {} ms |",
        time.as_millis()
    );
    println!("| of these | {legal} legal, {illegal} illegal for certain |");
}

/// Nanoseconds that a copy of a tree takes, the loop around it included.
fn copy(tree: Green) -> f64 {
    let start = Instant::now();
    for _ in 0..COPIES {
        let copy = *black_box(&tree);
        black_box(copy);
    }
    start.elapsed().as_secs_f64() * 1e9 / COPIES as f64
}

/// The cost of one edit, by kind.
struct Edits {
    time: Duration,
    nodes: usize,
    bytes: usize,
}

impl Edits {
    /// `count` edits, each of what the one before made.
    fn measure(
        trees: &mut TreeStore,
        original: Green,
        count: usize,
        variants: &mut Vec<Green>,
        mut edit: impl FnMut(&mut TreeStore, Green, usize) -> Green,
    ) -> Edits {
        let (nodes, bytes) = (trees.len(), trees.bytes());
        let (mut tree, mut state) = (original, 1_u64);
        let start = Instant::now();
        for _ in 0..count {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            tree = edit(trees, tree, (state >> 33) as usize);
            variants.push(tree);
        }
        let time = start.elapsed() / count as u32;
        Edits { time, nodes: (trees.len() - nodes) / count, bytes: (trees.bytes() - bytes) / count }
    }
}

impl std::fmt::Display for Edits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Edits { time, nodes, bytes } = self;
        write!(f, "{:.2} µs, {nodes} nodes, {bytes} bytes", time.as_secs_f64() * 1e6)
    }
}

/// The function of the benchmark.
fn function() -> Body {
    let ctx = loomir::context();
    let source = Loops::Siblings.program(LOOPS);
    let mut module = text::parse(&ctx, &source, "bench.mlir").expect("the program is well formed");
    let bodies = module.nested_in_order();
    bodies.first().map(|body| body.duplicate()).expect("there is a function")
}

fn block_of(body: &Body) -> Block {
    body.entry_block(body.region(body.root(), 0)).expect("a function has a block")
}
