//! What variants of a program cost in the loop tree: time and memory of an edit, a million variants held at once, and a thousand of
//! them written as IR and verified.
//!
//! The program is a function of a thousand loops; a variant is one with two neighbours in the other's place. Run it with
//! `cargo xtask bench --bench variants`.
#![allow(clippy::print_stdout)]

use std::time::{Duration, Instant};

use loomir::AliasMode;
use loomir::ir::{Block, Body, text, verifier};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::regenerate::{Rewrite, regenerate};
use loomir::transforms::tree::{Forest, Green, Node, Red};
use loomir_benches::loops::Loops;

const LOOPS: usize = 1000;
const VARIANTS: usize = 1_000_000;
/// So many first edits are told by themselves: what they make is still in the caches.
const FEW: usize = 10_000;
const WRITTEN: usize = 1000;
const EDITS_INSIDE: usize = 100_000;

fn main() {
    let function = function();
    let mut forest = Forest::default();
    let block = block_of(&function);
    let original = raise(&function, block, &mut forest, AliasMode::May).root;
    let is_loop = |item: Green| matches!(forest.get(item), Node::Loop { .. });
    let first = forest.items(original).position(is_loop).unwrap_or_default();
    let (nodes, bytes) = (forest.len(), forest.bytes());

    // Each variant is made of the one before by one edit.
    let start = Instant::now();
    let mut variants: Vec<Green> = Vec::with_capacity(VARIANTS);
    let (mut tree, mut state) = (original, 1_u64);
    let mut first_edits = start.elapsed();
    for number in 0..VARIANTS {
        if number == FEW {
            first_edits = start.elapsed() / FEW as u32;
        }
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let at = first + ((state >> 33) as usize) % (LOOPS - 1);
        let pair = [at + 1, at].map(|i| forest.item(tree, i).unwrap_or(Forest::EMPTY));
        tree = forest.splice(tree, at..at + 2, &pair);
        variants.push(tree);
    }
    let edit = start.elapsed() / VARIANTS as u32;
    let (made, grown) = (forest.len() - nodes, forest.bytes() - bytes);
    let mut seen = vec![false; forest.len()];
    let different = variants.iter().filter(|tree| !std::mem::replace(&mut seen[tree.index()], true)).count();

    // Inside a nest, where a cursor stands: the first two statements of its body in the other order.
    let (nodes_before, bytes_before) = (forest.len(), forest.bytes());
    let start = Instant::now();
    let mut inside = original;
    for turn in 0..EDITS_INSIDE {
        let mut cursor = Red::of(inside);
        cursor.down(&forest, first + turn * 7 % LOOPS);
        let pair: Vec<Green> = cursor.children(&forest).take(2).collect();
        cursor.splice(&mut forest, 0..2, &[pair[1], pair[0]]);
        inside = cursor.root();
    }
    let edit_inside = start.elapsed() / EDITS_INSIDE as u32;
    let (made_inside, grown_inside) = (forest.len() - nodes_before, forest.bytes() - bytes_before);

    let start = Instant::now();
    let mut verified = 0;
    for variant in variants.iter().step_by(VARIANTS / WRITTEN) {
        let mut copy = function.duplicate();
        // In the same forest the same program has the same nodes.
        let block = block_of(&copy);
        let own = raise(&copy, block, &mut forest, AliasMode::May);
        assert_eq!(own.root, original);
        assert_eq!(regenerate(&mut copy, &own, &forest, *variant, Rewrite::Changed), Ok(()));
        verified += usize::from(!verifier::verify(&copy).has_errors());
    }
    let written = start.elapsed() / WRITTEN as u32;

    println!("| what | figure |");
    println!("| --- | --- |");
    println!("| loops in the program | {LOOPS} |");
    println!("| a copy of the tree | a number of {} bytes |", size_of::<Green>());
    let (nodes, bytes) = (made / VARIANTS, grown / VARIANTS);
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("| an edit, of the first {FEW} | {:.2} µs |", micros(first_edits));
    println!("| an edit, of all | {:.2} µs, {nodes} nodes, {bytes} bytes |", micros(edit));
    let (nodes, bytes) = (made_inside / EDITS_INSIDE, grown_inside / EDITS_INSIDE);
    println!(
        "| an edit inside a loop, by a cursor | {:.2} µs, {nodes} nodes, {bytes} bytes |",
        micros(edit_inside)
    );
    println!("| variants held | {VARIANTS}, {different} of them different |");
    println!("| memory for all | {:.0} MiB |", forest.bytes() as f64 / 1_048_576.0);
    let each = written.as_secs_f64() * 1e3;
    println!("| copied, written and verified | {verified} of {WRITTEN}, {each:.2} ms each |");
}

/// The function of the benchmark.
fn function() -> Body {
    let ctx = loomir::context();
    let source = Loops::InPlace.program(LOOPS);
    let mut module = text::parse(&ctx, &source, "bench.mlir").expect("the program is well formed");
    let bodies = module.nested_in_order();
    bodies.first().map(|body| body.duplicate()).expect("there is a function")
}

fn block_of(body: &Body) -> Block {
    body.entry_block(body.region(body.root(), 0)).expect("a function has a block")
}
