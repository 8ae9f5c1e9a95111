//! Sets and relations in isl's notation, one a line: whatever the text, each question has an answer
//! within its limit or an error, and what is printed reads back as the same set.
#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use loomir_fuzz::tokens;
use loomir_polyhedra::Limits;

#[path = "../../polyhedra/tests/questions/mod.rs"]
mod questions;

/// Lines of an input that are read: a limit for each keeps an input short.
const LINES: usize = 16;

fuzz_target!(|data: &[u8]| {
    let Ok(source) = std::str::from_utf8(data) else { return };
    for line in source.lines().take(LINES) {
        questions::read(line, &Limits::steps(50_000));
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(16) {
        return fuzzer_mutate(data, size, max_size);
    }
    tokens::put(&tokens::mutate(&data[..size], seed, tokens::MLIR), &mut data[..max_size])
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    tokens::put(&tokens::splice(first, second, seed), out)
});
