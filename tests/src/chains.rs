//! Programs of any length: functions of N neighbouring loops, for tests of scaling.

use std::fmt::Write;
use std::time::Duration;

/// How the loops of a chain hang together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chain {
    /// `affine.for` loop k reads what loop k - 1 wrote: all fuse into one.
    AffineProducers,
    /// The same with `scf.for`.
    ScfProducers,
    /// All update one buffer in place: all fuse, and everything depends on everything.
    InPlace,
    /// The same, each loop one iteration longer than the one before.
    Lengthening,
    /// All read one element ahead in the one buffer they write: two neighbours fuse if the second runs one iteration later.
    ReadAhead,
}

impl Chain {
    /// All of them.
    pub const ALL: [Chain; 5] =
        [Chain::AffineProducers, Chain::ScfProducers, Chain::InPlace, Chain::Lengthening, Chain::ReadAhead];

    /// A function of `loops` loops over `trip` elements, at first.
    pub fn to_mlir(self, loops: usize, trip: usize) -> String {
        let shared = matches!(self, Chain::InPlace | Chain::Lengthening | Chain::ReadAhead);
        let more = match self {
            Chain::ReadAhead => 1,
            Chain::Lengthening => loops,
            Chain::AffineProducers | Chain::ScfProducers | Chain::InPlace => 0,
        };
        let ty = format!("memref<{}xf32>", trip + more);
        let mut out = format!("func.func @f(%t0: {ty}, %t{loops}: {ty} {{llvm.noalias}}) {{\n");
        out += "  %cst = arith.constant 1.500000e+00 : f32\n";
        if self == Chain::ScfProducers {
            let _ = write!(
                out,
                "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %cn = arith.constant {trip} : index\n"
            );
        }
        for k in (1..loops).filter(|_| !shared) {
            let _ = writeln!(out, "  %t{k} = memref.alloc() : {ty}");
        }
        for k in 0..loops {
            let (from, to) = if shared { (0, 0) } else { (k, k + 1) };
            let (prefix, header, ahead) = match self {
                Chain::ScfProducers => ("memref", "scf.for %i = %c0 to %cn step %c1".to_owned(), ""),
                Chain::ReadAhead => ("affine", format!("affine.for %i = 0 to {trip}"), " + 1"),
                Chain::Lengthening => ("affine", format!("affine.for %i = 0 to {}", trip + k), ""),
                Chain::AffineProducers | Chain::InPlace => {
                    ("affine", format!("affine.for %i = 0 to {trip}"), "")
                }
            };
            let _ = write!(
                out,
                "  {header} {{\n    %v = {prefix}.load %t{from}[%i{ahead}] : {ty}\n    %r = arith.addf %v, %cst : f32\n    {prefix}.store %r, %t{to}[%i] : {ty}\n  }}\n"
            );
        }
        out + "  return\n}\n"
    }

    /// Demands of `time`, which says what work on so many loops took, that eight times the loops cost well below what anything quadratic would:
    /// sixty-four times as much. What is linear stays below sixteen, on a machine that has other things to do too. Measures up to five times.
    ///
    /// # Panics
    /// If they cost more.
    pub fn grows_linearly(self, time: impl Fn(usize) -> Duration) {
        let grows = || time(8 * 300).as_secs_f64() / time(300).as_secs_f64();
        let factor = (0..4).map(|_| grows()).find(|f| *f <= 14.0).unwrap_or_else(grows);
        assert!(factor <= 16.0, "{self:?}: eight times the loops cost {factor:.1} times the time");
    }
}
