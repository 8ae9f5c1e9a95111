//! The machines that are known by name. Names are those of LLVM's `-mcpu`.
//!
//! Sizes of caches, widths and numbers of registers are those that the makers publish. Cycles to
//! get a line are those of the usual server; `loomir machine --measure` measures them. Only Intel's
//! processors are known to compare no more than the last 12 bits of two addresses.

use super::{BY_AMD, Cache, Machine};

/// A core: its name, the KiB of its three caches, the bytes of a vector register, the number of
/// these registers, and the operations that begin in a cycle.
type Core = (&'static str, [u64; 3], u64, usize, f64);

/// The known cores.
const CORES: [Core; 12] = [
    ("x86-64-v2", [32, 256, 8 << 10], 16, 16, 4.0),
    ("x86-64-v3", [32, 1 << 10, 16 << 10], 32, 16, 4.0),
    ("x86-64-v4", [32, 1 << 10, 16 << 10], 64, 32, 4.0),
    ("skylake-avx512", [32, 1 << 10, 16 << 10], 32, 32, 4.0),
    ("icelake-server", [48, 1280, 24 << 10], 64, 32, 5.0),
    ("sapphirerapids", [48, 2 << 10, 32 << 10], 64, 32, 6.0),
    ("znver3", [32, 512, 32 << 10], 32, 16, 6.0),
    ("znver4", [32, 1 << 10, 32 << 10], 32, 32, 6.0),
    ("znver5", [48, 1 << 10, 32 << 10], 64, 32, 8.0),
    ("neoverse-n1", [64, 1 << 10, 32 << 10], 16, 32, 4.0),
    ("neoverse-v2", [64, 2 << 10, 64 << 10], 16, 32, 8.0),
    ("apple-m1", [128, 4 << 10, 12 << 10], 16, 32, 8.0),
];

impl Machine {
    /// Returns the machine with a name: of a [known](Machine::names) core, or `generic` for the
    /// [default](Machine::default).
    pub fn named(name: &str) -> Option<Machine> {
        let usual = Machine::default();
        if name == GENERIC {
            return Some(usual);
        }
        let (_, sizes, vector, registers, issue) = *CORES.iter().find(|core| core.0 == name)?;
        let sized = |(cache, size): (Cache, u64)| Cache { bytes: size << 10, ..cache };
        let caches = usual.caches.into_iter().zip(sizes).map(sized).collect();
        let compares_in_full = [BY_AMD, "neoverse", "apple"].iter().any(|maker| name.starts_with(maker));
        let same_place = if compares_in_full { 0.0 } else { usual.same_place };
        Some(Machine { caches, vector, registers, issue, same_place, ..usual })
    }

    /// Returns the names that [`named`](Machine::named) knows.
    pub fn names() -> impl Iterator<Item = &'static str> {
        [GENERIC].into_iter().chain(CORES.iter().map(|core| core.0))
    }
}

/// The name of the default.
const GENERIC: &str = "generic";
