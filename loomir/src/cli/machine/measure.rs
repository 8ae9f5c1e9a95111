//! Measures how many cycles it takes to get a line from each cache and from memory, when many lines
//! in a row are fetched together, and to look up the place of a page.

use std::hint::black_box;
use std::time::Instant;

use crate::transforms::cost::Machine;

/// The times that each measurement is repeated; the least one counts.
const RUNS: usize = 7;

/// The steps of the chain that measures a cycle.
const STEPS: u64 = 4_000_000;

/// Cycles of a step of the chain: a product takes three, and the sum after it one.
const CYCLES_OF_STEP: f64 = 4.0;

/// The sums that are computed side by side, so that none waits for another.
const SUMS: usize = 8;

/// Bytes of a page.
const PAGE: usize = 4096;

/// The most pages of which a word is read.
const MOST_PAGES: usize = 1 << 15;

/// The least words that are read again and again.
const WORDS: usize = 1 << 20;

/// The most bytes that are read to get past all caches.
const MOST: u64 = 256 << 20;

/// Replaces the cycles to get a line and to look up a page by what is measured on this machine.
pub(super) fn cycles(machine: &mut Machine) {
    let cycle = cycle();
    lines(machine, cycle);
    page(machine, cycle);
}

/// Replaces the cycles of a machine's caches and memory by what is measured on this one.
fn lines(machine: &mut Machine, cycle: f64) {
    let line = machine.line.max(8);
    let nearest = machine.caches.first().map_or(16 << 10, |own| own.bytes / 2).min(MOST);
    let least = of_line(nearest, line, cycle);
    let further = |bytes: u64| ((of_line(bytes, line, cycle) - least).max(0.0) * 100.0).round() / 100.0;
    let mut before = 0.0_f64;
    let mut inner = 0;
    for cache in &mut machine.caches {
        // Half of a cache leaves the ones inside it behind, and room for what else is there.
        let own = if inner == 0 { 0.0 } else { further((cache.bytes / 2).max(inner * 2).min(MOST)) };
        before = before.max(own);
        cache.cycles = before;
        inner = cache.bytes;
    }
    machine.memory = before.max(further((inner * 4).clamp(64 << 20, MOST)));
}

/// Replaces the cycles to look up a page by what is measured: a word in each of many
/// pages, less a word in each of many lines. The words of pages are in different lines of a cache.
/// Where the system has made the pages greater, the place of nearly all of them is known.
fn page(machine: &mut Machine, cycle: f64) {
    let line = machine.line.max(8) as usize;
    let pages = (2 * machine.pages).clamp(64, MOST_PAGES);
    let near = of_word(pages, line, cycle);
    let apart = of_word(pages, PAGE + line, cycle);
    machine.page = ((apart - near).max(0.0) * 100.0).round() / 100.0;
}

/// Returns the seconds of a cycle.
fn cycle() -> f64 {
    let chain = || {
        let factor = black_box(0x9E37_79B9_7F4A_7C15_u64);
        let sum = (0..STEPS).fold(black_box(1_u64), |own, step| own.wrapping_mul(factor).wrapping_add(step));
        _ = black_box(sum);
    };
    least(chain) / (STEPS as f64 * CYCLES_OF_STEP)
}

/// Returns the cycles to read a line, of so many bytes that are read one line after the other. All
/// words of a line are read: a word of each line is so little that the second cache seems free.
fn of_line(bytes: u64, line: u64, cycle: f64) -> f64 {
    let bytes = bytes.max(line);
    let words = vec![1_u64; bytes.div_ceil(8) as usize];
    let rounds = (32_u64 << 20).div_ceil(bytes).max(1);
    let read = || {
        for _ in 0..rounds {
            let mut sums = [0_u64; SUMS];
            for own in black_box(&words).chunks_exact(SUMS) {
                sums.iter_mut().zip(own).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            }
            _ = black_box(sums);
        }
    };
    least(read) / (rounds * (bytes / line).max(1)) as f64 / cycle
}

/// Returns the cycles to read each of so many words, which are that many bytes apart, again and
/// again.
fn of_word(count: usize, apart: usize, cycle: f64) -> f64 {
    let step = apart / 8;
    let words = vec![1_u64; count * step];
    let rounds = WORDS.div_ceil(count);
    let read = || {
        for _ in 0..rounds {
            let words = black_box(&words);
            _ = black_box(words.iter().step_by(step).fold(0_u64, |sum, word| sum.wrapping_add(*word)));
        }
    };
    least(read) / (rounds * count) as f64 / cycle
}

/// Returns the seconds of the fastest of some runs.
fn least(mut work: impl FnMut()) -> f64 {
    let timed = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(timed).fold(f64::INFINITY, f64::min)
}
