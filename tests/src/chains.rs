//! Programs of any length for tests of scaling: functions of N neighbouring loops.

use std::fmt::Write;
use std::time::Duration;

/// The dependence pattern between the loops of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Chain {
    /// `affine.for` loop k reads the elements that loop k - 1 wrote: all fuse into one.
    AffineProducers,
    /// The same with `scf.for`.
    ScfProducers,
    /// The same with `scf.parallel`.
    ParallelProducers,
    /// The same with `scf.forall`.
    ForallProducers,
    /// All read one buffer, and each writes a buffer of its own, which is passed to another
    /// function.
    Siblings,
    /// All loops update one buffer in place. All fuse, and each depends on all others.
    InPlace,
    /// The same with `scf.parallel`.
    ParallelInPlace,
    /// In place; the trip count of each loop is one more than that of the loop before.
    Lengthening,
    /// All loops read one element ahead in the buffer that they all write. Two neighbours fuse if
    /// the second is shifted by one iteration.
    ReadAhead,
}

impl Chain {
    /// All chains.
    pub const ALL: [Chain; 9] = [
        Chain::AffineProducers,
        Chain::ScfProducers,
        Chain::ParallelProducers,
        Chain::ForallProducers,
        Chain::Siblings,
        Chain::InPlace,
        Chain::ParallelInPlace,
        Chain::Lengthening,
        Chain::ReadAhead,
    ];

    /// Returns a function of `loops` loops over `trip` elements, before any pass.
    pub fn to_mlir(self, loops: usize, trip: usize) -> String {
        let more = match self {
            Chain::ReadAhead => 1,
            Chain::Lengthening => loops,
            _ => 0,
        };
        let ty = format!("memref<{}xf32>", trip + more);
        let own = match self {
            Chain::Siblings => 1..loops + 1,
            _ if self.is_in_place() => 0..0,
            _ => 1..loops,
        };
        let last = if self == Chain::Siblings { "out".to_owned() } else { loops.to_string() };
        let mut out = String::new();
        if self == Chain::Siblings {
            let _ = write!(
                out,
                "func.func private @use(%t: {ty}, %out: {ty}) {{\n  affine.for %i = 0 to {trip} {{\n    %v = affine.load %t[%i] : {ty}\n    %w = affine.load %out[%i] : {ty}\n    %r = arith.addf %w, %v : f32\n    affine.store %r, %out[%i] : {ty}\n  }}\n  return\n}}\n"
            );
        }
        let _ = writeln!(out, "func.func @f(%t0: {ty}, %t{last}: {ty} {{llvm.noalias}}) {{");
        out += "  %cst = arith.constant 1.500000e+00 : f32\n";
        if matches!(self, Chain::ScfProducers | Chain::ParallelProducers | Chain::ParallelInPlace) {
            let _ = write!(
                out,
                "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %cn = arith.constant {trip} : index\n"
            );
        }
        for k in own.clone() {
            let _ = writeln!(out, "  %t{k} = memref.alloc() : {ty}");
        }
        let ahead = if self == Chain::ReadAhead { " + 1" } else { "" };
        for k in 0..loops {
            let (from, to) = match self {
                Chain::Siblings => (0, k + 1),
                _ if self.is_in_place() => (0, 0),
                _ => (k, k + 1),
            };
            let (prefix, header) = match self {
                Chain::ScfProducers => ("memref", "scf.for %i = %c0 to %cn step %c1".to_owned()),
                Chain::ParallelProducers | Chain::ParallelInPlace => {
                    ("memref", "scf.parallel (%i) = (%c0) to (%cn) step (%c1)".to_owned())
                }
                Chain::ForallProducers => ("memref", format!("scf.forall (%i) in ({trip})")),
                Chain::Lengthening => ("affine", format!("affine.for %i = 0 to {}", trip + k)),
                Chain::AffineProducers | Chain::Siblings | Chain::InPlace | Chain::ReadAhead => {
                    ("affine", format!("affine.for %i = 0 to {trip}"))
                }
            };
            let _ = write!(
                out,
                "  {header} {{\n    %v = {prefix}.load %t{from}[%i{ahead}] : {ty}\n    %r = arith.addf %v, %cst : f32\n    {prefix}.store %r, %t{to}[%i] : {ty}\n  }}\n"
            );
        }
        for k in own.filter(|_| self == Chain::Siblings) {
            let _ = writeln!(out, "  func.call @use(%t{k}, %t{last}) : ({ty}, {ty}) -> ()");
        }
        out + "  return\n}\n"
    }

    /// True if all loops write one buffer.
    fn is_in_place(self) -> bool {
        matches!(self, Chain::InPlace | Chain::ParallelInPlace | Chain::Lengthening | Chain::ReadAhead)
    }

    /// True if the buffer is live-out, by its name in the printed function.
    pub fn is_live_out(self, buffer: &str) -> bool {
        buffer.starts_with("%arg") || self == Chain::Siblings
    }

    /// Checks that work on loops grows linearly. `time` measures the work on a number of loops.
    /// Eight times the loops must cost at most sixteen times as much, far below the factor 64 of
    /// quadratic work. The factor 16 allows for a busy machine. Measures up to five times, with
    /// pauses.
    ///
    /// # Panics
    /// If eight times the loops cost more.
    pub fn grows_linearly(self, time: impl Fn(usize) -> Duration) {
        let grows = |pause| {
            std::thread::sleep(Duration::from_secs(pause));
            time(8 * 300).as_secs_f64() / time(300).as_secs_f64()
        };
        let factor = (0..4).map(grows).find(|f| *f <= 14.0).unwrap_or_else(|| grows(4));
        assert!(factor <= 16.0, "{self:?}: eight times the loops cost {factor:.1} times the time");
    }
}
