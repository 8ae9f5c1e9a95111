//! Machines as text: a line for each property, and for each cache.
//!
//! ```text
//! # A comment.
//! vector 64
//! registers 32
//! cache L1 49152 0
//! cache L2 2097152 2
//! ```
//!
//! Properties without a line are those of the default. A file that names caches names all of them,
//! the nearest first: each is at least as large and as slow as the one before it.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::{Cache, Machine};

/// A property: its name, its meaning, and its value.
type Property = (&'static str, &'static str, Value);

/// The place of a value, and its least and greatest.
enum Value {
    /// A whole number.
    Whole(fn(&mut Machine) -> &mut u64, RangeInclusive<u64>),
    /// A number of things.
    Count(fn(&mut Machine) -> &mut usize, RangeInclusive<u64>),
    /// A number.
    Real(fn(&mut Machine) -> &mut f64, RangeInclusive<f64>),
}

/// Cycles of an event.
const CYCLES: RangeInclusive<f64> = 0.0..=1e6;

/// Bytes of a cache.
const BYTES: RangeInclusive<u64> = 1..=1 << 50;

/// The properties that are numbers, in the order of the text.
const PROPERTIES: [Property; 13] = [
    ("line", "bytes of a cache line", Value::Whole(|own| &mut own.line, 1..=1 << 16)),
    ("vector", "bytes of a vector register", Value::Whole(|own| &mut own.vector, 1..=1 << 16)),
    ("registers", "vector registers", Value::Count(|own| &mut own.registers, 1..=1 << 16)),
    ("issue", "operations begun in a cycle", Value::Real(|own| &mut own.issue, 0.01..=1e6)),
    ("latency", "cycles of a floating-point operation", Value::Real(|own| &mut own.latency, CYCLES)),
    (
        "integer-latency",
        "cycles of an integer operation",
        Value::Real(|own| &mut own.integer_latency, CYCLES),
    ),
    (
        "overlap",
        "the part of the lesser of computing and fetching that costs nothing",
        Value::Real(|own| &mut own.overlap, 0.0..=1.0),
    ),
    ("start", "cycles to enter and leave a loop", Value::Real(|own| &mut own.start, CYCLES)),
    ("spill", "cycles of a spilled value in an iteration", Value::Real(|own| &mut own.spill, CYCLES)),
    (
        "same-place",
        "cycles that a load waits for a store at the same place of another page",
        Value::Real(|own| &mut own.same_place, CYCLES),
    ),
    ("pages", "pages of 4096 bytes whose places are known", Value::Count(|own| &mut own.pages, 1..=1 << 32)),
    ("page", "cycles to look up the place of another page", Value::Real(|own| &mut own.page, CYCLES)),
    ("memory", "cycles to get a line from memory", Value::Real(|own| &mut own.memory, CYCLES)),
];

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut own = self.clone();
        for (name, meaning, value) in &PROPERTIES {
            match value {
                Value::Whole(of, _) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
                Value::Count(of, _) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
                Value::Real(of, _) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
            }
        }
        writeln!(f, "# caches: name, bytes, cycles to get a line")?;
        self.caches.iter().try_for_each(|own| writeln!(f, "cache {} {} {}", own.name, own.bytes, own.cycles))
    }
}

impl FromStr for Machine {
    type Err = String;

    /// Reads a description. The error names the line.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut machine = Machine::default();
        let mut caches: Vec<(usize, Cache)> = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let own = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = own.split_whitespace().collect();
            let read = match words[..] {
                [] => Ok(()),
                ["cache", name, bytes, cycles] => {
                    cache(name, bytes, cycles).map(|own| caches.push((number, own)))
                }
                ["cache", ..] => Err("a cache is written 'cache NAME BYTES CYCLES'".to_owned()),
                [name, _] if given.contains(&name) => Err(format!("'{name}' is given a second time")),
                [name, value] => set(&mut machine, name, value).map(|()| given.push(name)),
                _ => Err(format!("a line is a name and a value, and '{}' is not", own.trim())),
            };
            read.map_err(|error| at(number, &error))?;
        }
        check_order(&machine, &caches)?;
        if !caches.is_empty() {
            machine.caches = caches.into_iter().map(|(_, own)| own).collect();
        }
        Ok(machine)
    }
}

/// Returns an error with its line.
fn at(number: usize, error: &str) -> String {
    format!("line {number}: {error}")
}

/// Checks that caches become larger and slower, and that memory is slower still.
fn check_order(machine: &Machine, caches: &[(usize, Cache)]) -> Result<(), String> {
    for (index, (number, own)) in caches.iter().enumerate() {
        let name = &own.name;
        let error = match caches[..index].last() {
            _ if caches[..index].iter().any(|(_, before)| before.name == *name) => {
                format!("cache '{name}' is given a second time")
            }
            Some((_, before)) if before.bytes > own.bytes => {
                format!("cache '{name}' is smaller than '{}'; the nearest comes first", before.name)
            }
            Some((_, before)) if before.cycles > own.cycles => {
                format!("cache '{name}' is faster than '{}'; the nearest comes first", before.name)
            }
            None if own.bytes < machine.line => {
                format!("cache '{name}' is smaller than a line of {} bytes", machine.line)
            }
            _ if own.cycles > machine.memory => {
                format!("cache '{name}' is slower than memory, which takes {} cycles", machine.memory)
            }
            _ => continue,
        };
        return Err(at(*number, &error));
    }
    Ok(())
}

fn set(machine: &mut Machine, name: &str, text: &str) -> Result<(), String> {
    let Some((_, _, value)) = PROPERTIES.iter().find(|own| own.0 == name) else {
        let names: Vec<&str> = PROPERTIES.iter().map(|own| own.0).chain(["cache"]).collect();
        return Err(format!("a machine has no '{name}'; it has: {}", names.join(", ")));
    };
    match value {
        Value::Whole(of, range) => *of(machine) = number(name, text, range, "a whole number")?,
        Value::Count(of, range) => {
            *of(machine) = number(name, text, range, "a whole number")?.try_into().unwrap_or(usize::MAX);
        }
        Value::Real(of, range) => *of(machine) = number(name, text, range, "a number")?,
    }
    Ok(())
}

fn cache(name: &str, bytes: &str, cycles: &str) -> Result<Cache, String> {
    let bytes = number("bytes", bytes, &BYTES, "a whole number")?;
    Ok(Cache { name: name.to_owned(), bytes, cycles: number("cycles", cycles, &CYCLES, "a number")? })
}

/// Reads a number in a range.
fn number<T: FromStr + PartialOrd + fmt::Display>(
    name: &str,
    text: &str,
    range: &RangeInclusive<T>,
    kind: &str,
) -> Result<T, String> {
    let (least, most) = (range.start(), range.end());
    let read = text.parse().ok().filter(|own| range.contains(own));
    read.ok_or_else(|| format!("'{name}' is {kind} from {least} to {most}, not '{text}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_machine_is_read_as_it_is_written() {
        for name in Machine::names() {
            let machine = Machine::named(name).unwrap_or_else(|| panic!("'{name}' is known"));
            assert_eq!(machine.to_string().parse(), Ok(machine), "{name}");
        }
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let wrong = |text: &str| text.parse::<Machine>().unwrap_err();
        assert!(wrong("vector 32\nlanes 4").starts_with("line 2: a machine has no 'lanes'; it has: line, "));
        assert_eq!(wrong("vector 0"), "line 1: 'vector' is a whole number from 1 to 65536, not '0'");
        assert_eq!(wrong("memory NaN"), "line 1: 'memory' is a number from 0 to 1000000, not 'NaN'");
        assert_eq!(wrong("cache L1"), "line 1: a cache is written 'cache NAME BYTES CYCLES'");
        assert_eq!(
            wrong("cache L1 64 0\ncache L2 32 1"),
            "line 2: cache 'L2' is smaller than 'L1'; the nearest comes first"
        );
    }

    #[test]
    fn values_that_no_machine_has_are_refused() {
        let wrong = |text: &str| text.parse::<Machine>().unwrap_err();
        assert_eq!(wrong("issue 0"), "line 1: 'issue' is a number from 0.01 to 1000000, not '0'");
        assert_eq!(wrong("\noverlap 7"), "line 2: 'overlap' is a number from 0 to 1, not '7'");
        assert_eq!(wrong("line 0"), "line 1: 'line' is a whole number from 1 to 65536, not '0'");
        assert!(wrong("registers 18446744073709551615").starts_with("line 1: 'registers' is"));
        assert!(wrong("cache L1 0 0").starts_with("line 1: 'bytes' is a whole number from 1 to"));
        assert!(wrong("start -1").starts_with("line 1: 'start' is a number from 0 to"));
        assert_eq!(wrong("start 1\nstart 2"), "line 2: 'start' is given a second time");
        let two = "cache L1 64 0\ncache ";
        assert_eq!(wrong(&format!("{two}L1 64 0")), "line 2: cache 'L1' is given a second time");
        assert_eq!(
            wrong(&format!("{two}L2 64 99")),
            "line 2: cache 'L2' is slower than memory, which takes 16 cycles"
        );
        assert_eq!(
            wrong("cache L1 64 5\ncache L2 64 4"),
            "line 2: cache 'L2' is faster than 'L1'; the nearest comes first"
        );
        assert_eq!(wrong("cache L1 32 0"), "line 1: cache 'L1' is smaller than a line of 64 bytes");
    }
}
