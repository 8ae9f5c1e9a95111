//! Agreement of Loomir and `mlir-opt` on the set of valid programs. Wrong programs have their
//! diagnostics in a snapshot; right programs include some that look wrong. Requirements of single
//! operations are checked with their dialects.

use crate::support;
use crate::support::{both_forms, fixture, rejections};
use insta::assert_snapshot;

/// Values, blocks, terminators, symbols, counts, attributes, types and literals.
#[test]
fn wrong_structure() {
    assert_snapshot!(rejections(&fixture("structure.errors.mlir")));
}

/// Custom forms with a word too few, too many or another.
#[test]
fn wrong_syntax() {
    assert_snapshot!(rejections(&fixture("syntax.errors.mlir")));
}

/// Such programs print as `mlir-opt` prints them, in every form.
#[test]
fn near_misses() {
    let source = fixture("near.accepted.mlir");
    let programs: Vec<&str> = source.split(support::SEPARATOR).collect();
    std::thread::scope(|scope| {
        for part in programs.chunks(programs.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(|program| drop(both_forms(program))));
        }
    });
}
