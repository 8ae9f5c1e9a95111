//! This machine, as its operating system and its processor describe it.

use std::fs;
use std::path::Path;

use crate::transforms::cost::{Cache, Machine};

/// Linux describes the caches of a core here.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Linux describes its processors here.
const PROCESSORS: &str = "/proc/cpuinfo";

/// Returns the description of this machine. What cannot be found is as in the default.
pub(super) fn read() -> Machine {
    let usual = Machine::default();
    let (vector, registers) = vectors().unwrap_or((usual.vector, usual.registers));
    let caches = match caches(Path::new(CACHES)) {
        found if found.is_empty() => usual.caches.clone(),
        found => found,
    };
    let same_place = if compares_in_full() { 0.0 } else { usual.same_place };
    Machine { vector, registers, caches, same_place, ..usual }
}

/// True if this machine's processor is known not to confuse places in different pages: it is not
/// made by Intel.
fn compares_in_full() -> bool {
    let by_amd = || fs::read_to_string(PROCESSORS).is_ok_and(|text| text.contains("AuthenticAMD"));
    cfg!(target_arch = "aarch64") || by_amd()
}

/// Returns the bytes and the number of vector registers.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn vectors() -> Option<(u64, usize)> {
    Some(match () {
        () if std::arch::is_x86_feature_detected!("avx512vl") => (64, 32),
        () if std::arch::is_x86_feature_detected!("avx") => (32, 16),
        () => (16, 16),
    })
}

#[cfg(target_arch = "aarch64")]
fn vectors() -> Option<(u64, usize)> {
    Some((16, 32))
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn vectors() -> Option<(u64, usize)> {
    None
}

/// Reads the data caches that a folder describes. Cycles are those of the usual server's caches, by
/// level.
fn caches(folder: &Path) -> Vec<Cache> {
    let usual = Machine::default().caches;
    let mut found: Vec<(u64, u64)> = (0..8).filter_map(|index| cache(folder, index)).collect();
    found.sort_unstable();
    found.dedup_by_key(|(level, _)| *level);
    let known = |(level, bytes): (u64, u64)| {
        let like = usual.get(level.saturating_sub(1) as usize).or(usual.last());
        Cache { name: format!("L{level}"), bytes, cycles: like.map_or(0.0, |own| own.cycles) }
    };
    let caches: Vec<Cache> = found.into_iter().map(known).collect();
    if caches.is_sorted_by_key(|own| own.bytes) { caches } else { Vec::new() }
}

/// Returns the level and the bytes of a cache that holds data.
fn cache(folder: &Path, index: usize) -> Option<(u64, u64)> {
    let property = |name: &str| fs::read_to_string(folder.join(format!("index{index}")).join(name)).ok();
    if property("type")?.trim() == "Instruction" {
        return None;
    }
    let level = property("level")?.trim().parse().ok()?;
    let size = property("size")?;
    let kib: u64 = size.trim().strip_suffix('K')?.parse().ok()?;
    (kib > 0).then_some((level, kib << 10))
}
