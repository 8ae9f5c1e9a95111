//! Changed LLVM IR: whatever the text, an answer; and if it is a module, one that is written, and
//! read back as itself.
#![no_main]

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use loomir_fuzz::tokens;
use loomir_ir::verifier;
use loomir_lowering::{from_ll, to_ll};

fuzz_target!(|data: &[u8]| {
    let Ok(source) = std::str::from_utf8(data) else { return };
    let ctx = loomir_dialects::context();
    let Ok(module) = from_ll(&ctx, source, "input") else { return };
    if verifier::verify(&module).has_errors() {
        return;
    }
    let Ok(written) = to_ll(&module) else { return };
    match from_ll(&ctx, &written, "written") {
        Ok(again) => {
            assert_eq!(to_ll(&again).ok().as_ref(), Some(&written), "written differently the second time")
        }
        Err(diagnostics) => panic!("does not read back:\n{written}\n{}", diagnostics.to_text(&ctx)),
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(16) {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = tokens::mutate(&data[..size], seed, tokens::LLVM_IR);
    tokens::put(&changed, &mut data[..max_size])
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    tokens::put(&tokens::splice(first, second, seed), out)
});
