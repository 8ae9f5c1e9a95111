//! This machine, as its operating system and its processor describe it.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use crate::transforms::cost::{Cache, Machine};

/// Linux describes the caches of a core here.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Linux describes its processors here.
const PROCESSORS: &str = "/proc/cpuinfo";

/// Processors of a maker: their family and models, and the core that they have.
type Processors = (&'static str, u32, RangeInclusive<u32>, &'static str);

/// The processors with known cores.
const KNOWN: [Processors; 10] = [
    ("AuthenticAMD", 25, 0x00..=0x0f, "znver3"),
    ("AuthenticAMD", 25, 0x10..=0x1f, "znver4"),
    ("AuthenticAMD", 25, 0x20..=0x5f, "znver3"),
    ("AuthenticAMD", 25, 0x60..=0xaf, "znver4"),
    ("AuthenticAMD", 26, 0x00..=0xff, "znver5"),
    ("GenuineIntel", 6, 0x55..=0x55, "skylake-avx512"),
    ("GenuineIntel", 6, 0x6a..=0x6a, "icelake-server"),
    ("GenuineIntel", 6, 0x6c..=0x6c, "icelake-server"),
    ("GenuineIntel", 6, 0x8f..=0x8f, "sapphirerapids"),
    ("GenuineIntel", 6, 0xcf..=0xcf, "sapphirerapids"),
];

/// Returns the description of this machine. What cannot be found is that of its core, if it is a
/// known one, or else of the default.
pub(super) fn read() -> Machine {
    let processors = fs::read_to_string(PROCESSORS).unwrap_or_default();
    let usual = core_of(&processors).and_then(Machine::named).unwrap_or_default();
    let (vector, registers) = vectors().unwrap_or((usual.vector, usual.registers));
    let caches = match caches(Path::new(CACHES)) {
        found if found.is_empty() => usual.caches.clone(),
        found => found,
    };
    let same_place = if compares_in_full(&processors) { 0.0 } else { usual.same_place };
    Machine { vector, registers, caches, same_place, ..usual }
}

/// True if this machine's processor is known not to confuse places in different pages: it is not
/// made by Intel.
fn compares_in_full(processors: &str) -> bool {
    cfg!(target_arch = "aarch64") || processors.contains("AuthenticAMD")
}

/// Returns the name of the core that the first of some processors has, if it is a known one.
fn core_of(processors: &str) -> Option<&'static str> {
    let property = |name: &str| {
        let lines = processors.lines().filter_map(|line| line.split_once(':'));
        let mut values = lines.filter(|(own, _)| own.trim() == name).map(|(_, value)| value.trim());
        values.next()
    };
    let number = |name: &str| property(name)?.parse::<u32>().ok();
    let (maker, family, model) = (property("vendor_id")?, number("cpu family")?, number("model")?);
    let is_this = |(own_maker, own_family, models, _): &&Processors| {
        *own_maker == maker && *own_family == family && models.contains(&model)
    };
    KNOWN.iter().find(is_this).map(|own| own.3)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_known_by_family_and_model() {
        let text = |maker: &str, family: u32, model: u32| {
            format!("vendor_id\t: {maker}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: A: B\n")
        };
        let cores = [(25, 1), (25, 17), (25, 33), (26, 2), (23, 49)]
            .map(|(family, model)| core_of(&text("AuthenticAMD", family, model)));
        assert_eq!(cores, [Some("znver3"), Some("znver4"), Some("znver3"), Some("znver5"), None]);
        assert_eq!(core_of(&text("GenuineIntel", 6, 143)), Some("sapphirerapids"));
        assert_eq!(core_of("CPU implementer\t: 0x41\n"), None);
        assert!(KNOWN.iter().all(|own| Machine::named(own.3).is_some()));
    }
}
