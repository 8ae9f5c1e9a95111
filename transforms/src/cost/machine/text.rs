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
//! Properties without a line are those of the default. A file that names caches names all of them.

use std::fmt;
use std::str::FromStr;

use super::{Cache, Machine};

/// A property: its name, its meaning, and its value.
type Property = (&'static str, &'static str, Value);

/// The place of a value.
enum Value {
    /// A number that is whole and not 0.
    Whole(fn(&mut Machine) -> &mut u64),
    /// A number of things.
    Count(fn(&mut Machine) -> &mut usize),
    /// A number.
    Real(fn(&mut Machine) -> &mut f64),
}

/// The properties that are numbers, in the order of the text.
const PROPERTIES: [Property; 10] = [
    ("line", "bytes of a cache line", Value::Whole(|own| &mut own.line)),
    ("vector", "bytes of a vector register", Value::Whole(|own| &mut own.vector)),
    ("registers", "vector registers", Value::Count(|own| &mut own.registers)),
    ("issue", "operations begun in a cycle", Value::Real(|own| &mut own.issue)),
    ("latency", "cycles of a floating-point operation", Value::Real(|own| &mut own.latency)),
    ("integer-latency", "cycles of an integer operation", Value::Real(|own| &mut own.integer_latency)),
    (
        "overlap",
        "the part of the lesser of computing and fetching that costs nothing",
        Value::Real(|own| &mut own.overlap),
    ),
    ("start", "cycles to enter and leave a loop", Value::Real(|own| &mut own.start)),
    ("spill", "cycles of a spilled value in an iteration", Value::Real(|own| &mut own.spill)),
    ("memory", "cycles to get a line from memory", Value::Real(|own| &mut own.memory)),
];

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut own = self.clone();
        for (name, meaning, value) in &PROPERTIES {
            match value {
                Value::Whole(of) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
                Value::Count(of) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
                Value::Real(of) => writeln!(f, "# {meaning}\n{name} {}", of(&mut own))?,
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
        let mut caches = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let own = line.split('#').next().unwrap_or_default();
            let words: Vec<&str> = own.split_whitespace().collect();
            let read = match words[..] {
                [] => Ok(()),
                ["cache", name, bytes, cycles] => cache(name, bytes, cycles).map(|own| caches.push(own)),
                ["cache", ..] => Err("a cache is written 'cache NAME BYTES CYCLES'".to_owned()),
                [name, value] => set(&mut machine, name, value),
                _ => Err(format!("a line is a name and a value, and '{}' is not", own.trim())),
            };
            read.map_err(|error| format!("line {}: {error}", number + 1))?;
        }
        let sizes: Vec<u64> = caches.iter().map(|own: &Cache| own.bytes).collect();
        if !sizes.is_sorted() {
            return Err("a cache is smaller than the one before it; the nearest comes first".to_owned());
        }
        if !caches.is_empty() {
            machine.caches = caches;
        }
        Ok(machine)
    }
}

fn set(machine: &mut Machine, name: &str, text: &str) -> Result<(), String> {
    let Some((_, _, value)) = PROPERTIES.iter().find(|own| own.0 == name) else {
        let names: Vec<&str> = PROPERTIES.iter().map(|own| own.0).chain(["cache"]).collect();
        return Err(format!("a machine has no '{name}'; it has: {}", names.join(", ")));
    };
    match value {
        Value::Whole(of) => *of(machine) = whole(name, text)?,
        Value::Count(of) => *of(machine) = whole(name, text)?.try_into().unwrap_or(usize::MAX),
        Value::Real(of) => *of(machine) = real(name, text)?,
    }
    Ok(())
}

fn cache(name: &str, bytes: &str, cycles: &str) -> Result<Cache, String> {
    Ok(Cache { name: name.to_owned(), bytes: whole("bytes", bytes)?, cycles: real("cycles", cycles)? })
}

fn whole(name: &str, text: &str) -> Result<u64, String> {
    let is_size = |own: &u64| (1..=1 << 50).contains(own);
    text.parse()
        .ok()
        .filter(is_size)
        .ok_or_else(|| format!("'{name}' is a whole number from 1 on, not '{text}'"))
}

fn real(name: &str, text: &str) -> Result<f64, String> {
    let is_cost = |own: &f64| (0.0..=1e9).contains(own);
    text.parse().ok().filter(is_cost).ok_or_else(|| format!("'{name}' is a number from 0 on, not '{text}'"))
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
        assert_eq!(wrong("vector 0"), "line 1: 'vector' is a whole number from 1 on, not '0'");
        assert_eq!(wrong("memory NaN"), "line 1: 'memory' is a number from 0 on, not 'NaN'");
        assert_eq!(wrong("cache L1"), "line 1: a cache is written 'cache NAME BYTES CYCLES'");
        assert_eq!(
            wrong("cache L1 64 0\ncache L2 32 1"),
            "a cache is smaller than the one before it; the nearest comes first"
        );
    }
}
