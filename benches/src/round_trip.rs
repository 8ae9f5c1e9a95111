//! The stages of a program between reading and printing, each timed.

use std::time::{Duration, Instant};

use loomir::ir::rewrite::{Limits, Pattern, Rewriter, apply_patterns_greedily};
use loomir::ir::{Attr, Op, text, verifier};

/// The stages, in order.
pub const STAGES: [&str; 5] = ["parse", "verify", "print", "copy", "rewrite"];

/// Bytes: more than the caches hold.
const SWEEP: usize = 128 << 20;
/// Copies a run: one takes half a millisecond, too little to be sure of.
const COPIES: usize = 8;
/// Bytes that a cache loads at once.
const LINE: usize = 64;
/// Bytes: near the largest block that the C library may keep when it is freed.
const BLOCK: usize = 31 << 20;
/// The number of blocks that hold everything made of the largest program.
const BLOCKS: usize = 16;

/// Room in the allocator for programs of all sizes, as long as the result lives.
///
/// The C library keeps freed blocks up to the size of the largest that was freed so far, and gives
/// back what is free at the end of its heap: a larger program would pay for fresh pages in every
/// run, a smaller one in the first only. So one large block is freed first, and what is free lies
/// below one in use.
fn room() -> Vec<u8> {
    let block = || std::hint::black_box(Vec::with_capacity(BLOCK));
    drop(block());
    let free = [(); BLOCKS].map(|()| block());
    let end = block();
    drop(free);
    end
}

/// The least of `runs` times of each stage.
///
/// Programs of all sizes find the machine in one state: memory comes from pages that are there
/// already, and the copy, which takes no longer than reaching what is copied, begins with caches
/// full of something else.
///
/// # Panics
/// If the program isn't well formed.
pub fn least_of(runs: usize, source: &str) -> [Duration; STAGES.len()] {
    let _room = room();
    let mut sweep = vec![0; SWEEP];
    let mut least = [Duration::MAX; STAGES.len()];
    for _ in 0..runs {
        let times = stages(source, &mut sweep);
        least = std::array::from_fn(|stage| least[stage].min(times[stage]));
    }
    least
}

fn stages(source: &str, sweep: &mut [u8]) -> [Duration; STAGES.len()] {
    let ctx = loomir::context();
    let mut clock = Instant::now();
    let mut lap = || std::mem::replace(&mut clock, Instant::now()).elapsed();
    let module = text::parse(&ctx, source, "round-trip.mlir")
        .unwrap_or_else(|error| panic!("{}", error.to_text(&ctx)));
    let parse = lap();
    assert!(!verifier::verify(&module).has_errors());
    let verify = lap();
    let printed = loomir::print(&module);
    let print = lap();
    assert!(printed.lines().count() + 1 >= source.lines().count());
    let mut copied = Duration::MAX;
    for _ in 0..COPIES {
        fill_caches(sweep);
        lap();
        let copy = module.duplicate();
        copied = copied.min(lap());
        drop(copy);
    }
    let mut copy = module.duplicate();
    lap();
    let mut rewritten = 0;
    copy.for_each_body(&mut |body| {
        rewritten += apply_patterns_greedily(body, &[&Mark], Limits::default()).rewritten;
    });
    let rewrite = lap();
    assert!(rewritten > 0);
    [parse, verify, print, copied, rewrite]
}

/// Makes the caches hold `sweep`, by loads: a `fill` of so much goes past them.
fn fill_caches(sweep: &mut [u8]) {
    for line in std::hint::black_box(sweep).chunks_mut(LINE) {
        line[0] = line[0].wrapping_add(1);
    }
}

/// Marks every operation: a rewrite that changes them all, once.
struct Mark;

impl Pattern for Mark {
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let is_new = rewriter.body().attr(op, "mark").is_none();
        if is_new {
            rewriter.body_mut().set_attr(op, "mark", Attr::UNIT);
        }
        is_new
    }
}
