//! Programs of many loops, for fusion.

use std::fmt::Write;

/// The way in which the loops of a program depend on each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loops {
    /// `affine.for` loop k reads what loop k - 1 wrote.
    Chain,
    /// The same with `scf.for`.
    ScfChain,
    /// All read one array and write one of their own.
    Siblings,
    /// All update one array in place.
    InPlace,
    /// All read one element ahead in the one array they write: neighbours fuse only if the second
    /// is shifted.
    ReadAhead,
    /// Functions of two loops, of which the second reads what the first wrote.
    Functions,
}

/// Iterations of each loop.
const TRIP: usize = 64;

impl Loops {
    /// The name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Loops::Chain => "chain, affine",
            Loops::ScfChain => "chain, scf",
            Loops::Siblings => "siblings",
            Loops::InPlace => "in place",
            Loops::ReadAhead => "read ahead",
            Loops::Functions => "functions of two loops",
        }
    }

    /// A program of `count` loops; of `count` functions, if it is of functions.
    pub fn program(self, count: usize) -> String {
        let mut text = String::new();
        match self {
            Loops::Functions => {
                (0..count).for_each(|f| Loops::Chain.function(&format!("f{f}"), 2, &mut text))
            }
            _ => self.function("f", count, &mut text),
        }
        text
    }

    fn function(self, name: &str, count: usize, text: &mut String) {
        let ahead = if self == Loops::ReadAhead { " + 1" } else { "" };
        let ty = format!("memref<{}xf32>", TRIP + usize::from(self == Loops::ReadAhead));
        let _ = writeln!(text, "func.func @{name}(%a: {ty}, %b: {ty}) {{\n  %cst = arith.constant 1.5 : f32");
        if self == Loops::ScfChain {
            let _ = writeln!(text, "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index");
            let _ = writeln!(text, "  %cn = arith.constant {TRIP} : index");
        }
        let own = match self {
            Loops::InPlace | Loops::ReadAhead => 0,
            Loops::Siblings => count,
            _ => count - 1,
        };
        for array in 0..own {
            let _ = writeln!(text, "  %t{array} = memref.alloc() : {ty}");
        }
        for k in 0..count {
            let from = match self {
                Loops::Chain | Loops::ScfChain if k > 0 => format!("%t{}", k - 1),
                _ => "%a".to_owned(),
            };
            let to = match self {
                Loops::InPlace | Loops::ReadAhead => "%a".to_owned(),
                _ if k < own => format!("%t{k}"),
                _ => "%b".to_owned(),
            };
            let (dialect, head) = match self {
                Loops::ScfChain => ("memref", "scf.for %i = %c0 to %cn step %c1".to_owned()),
                _ => ("affine", format!("affine.for %i = 0 to {TRIP}")),
            };
            let _ = writeln!(text, "  {head} {{\n    %v = {dialect}.load {from}[%i{ahead}] : {ty}");
            let _ = writeln!(
                text,
                "    %r = arith.addf %v, %cst : f32\n    {dialect}.store %r, {to}[%i] : {ty}\n  }}"
            );
        }
        // What siblings write is looked at by somebody.
        if self == Loops::Siblings {
            let names: Vec<String> = (0..own).map(|array| format!("%t{array}")).collect();
            let types = vec![ty.as_str(); own].join(", ");
            let _ = writeln!(text, "  \"test.use\"({}) : ({types}) -> ()", names.join(", "));
        }
        text.push_str("  return\n}\n");
    }
}
