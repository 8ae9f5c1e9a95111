//! Changed programs: whatever the text, an answer; and if it is a program, one that prints and
//! reads back as itself.
#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use loomir_fuzz::tokens;
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::verifier;

fuzz_target!(|data: &[u8]| {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let ctx = loomir_dialects::context();
    let Ok(body) = text::parse(&ctx, source, "input") else { return };
    let is_valid = verifier::verify(&body).is_empty();
    // The custom form is promised for what is valid.
    for (generic, debug_info) in [(true, false), (false, true)] {
        if !generic && !is_valid {
            continue;
        }
        let options = PrintOptions { generic, debug_info, ..PrintOptions::default() };
        let printed = text::print(&body, &options);
        match text::parse(&ctx, &printed, "printed") {
            Ok(again) => {
                assert_eq!(text::print(&again, &options), printed, "printed differently the second time")
            }
            Err(diagnostics) => panic!("does not read back:\n{printed}\n{}", diagnostics.to_text(&ctx)),
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(16) {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = tokens::mutate(&data[..size], seed, tokens::MLIR);
    tokens::put(&changed, &mut data[..max_size])
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    tokens::put(&tokens::splice(first, second, seed), out)
});
