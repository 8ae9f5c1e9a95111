//! Benchmarks of Loomir against its peers.
//!
//! This library makes the programs: loops that scale, many in one function or few in many functions, and straight-line code ([`shapes`]);
//! and times what several of the benchmarks and tests ask for ([`process`], [`round_trip`]). The benchmarks
//! themselves are in `benches/`, their results in `results/`.
#![forbid(unsafe_code)]

pub mod process;
pub mod round_trip;
pub mod shapes;

use std::fmt::Write;

/// A kind of program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One function, `affine.for` loops, each reading what the one before wrote, through local buffers.
    AffineChain,
    /// The same with `scf.for`.
    ScfChain,
    /// One function, `affine.for` loops that all update one buffer in place.
    AffineInPlace,
    /// Functions of two `affine.for` loops each.
    AffineFunctions,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 4] =
        [Kind::AffineChain, Kind::ScfChain, Kind::AffineInPlace, Kind::AffineFunctions];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::AffineChain => "affine chain",
            Kind::ScfChain => "scf chain",
            Kind::AffineInPlace => "affine in place",
            Kind::AffineFunctions => "affine functions",
        }
    }
}

/// The program of a kind with `count` loops (or functions), each of 1024 iterations.
pub fn program(kind: Kind, count: usize) -> String {
    let mut text = String::new();
    match kind {
        Kind::AffineChain => chain(&mut text, "f", count, "affine", false),
        Kind::ScfChain => chain(&mut text, "f", count, "scf", false),
        Kind::AffineInPlace => chain(&mut text, "f", count, "affine", true),
        Kind::AffineFunctions => {
            for f in 0..count {
                chain(&mut text, &format!("f{f}"), 2, "affine", false);
            }
        }
    }
    text
}

fn chain(text: &mut String, name: &str, loops: usize, dialect: &str, in_place: bool) {
    const TYPE: &str = "memref<1024xf32>";
    let (head, access) = if dialect == "affine" {
        ("affine.for %i = 0 to 1024", "affine")
    } else {
        ("scf.for %i = %c0 to %c1024 step %c1", "memref")
    };
    let _ = writeln!(text, "func.func @{name}(%first: {TYPE}, %last: {TYPE}) {{");
    text.push_str("  %cst = arith.constant 1.500000e+00 : f32\n");
    if dialect == "scf" {
        for number in [0, 1, 1024] {
            let _ = writeln!(text, "  %c{number} = arith.constant {number} : index");
        }
    }
    if !in_place {
        for k in 1..loops {
            let _ = writeln!(text, "  %t{k} = memref.alloc() : {TYPE}");
        }
    }
    let buffer = |k: usize| match k {
        0 => "%first".to_owned(),
        _ if in_place => "%first".to_owned(),
        k if k == loops => "%last".to_owned(),
        k => format!("%t{k}"),
    };
    for k in 0..loops {
        let _ = writeln!(text, "  {head} {{");
        let _ = writeln!(text, "    %v = {access}.load {}[%i] : {TYPE}", buffer(k));
        let _ = writeln!(text, "    %r = arith.addf %v, %cst : f32");
        let _ = writeln!(text, "    {access}.store %r, {}[%i] : {TYPE}", buffer(k + 1));
        text.push_str("  }\n");
    }
    text.push_str("  return\n}\n");
}
