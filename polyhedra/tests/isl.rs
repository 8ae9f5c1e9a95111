//! Answers against isl's, through its Python binding: random parametric sets and relations, and the
//! classic hard ones.
//!
//! `LOOMIR_ISLPY` names a Python interpreter that has `islpy`; without it nothing is compared, and
//! `cargo xtask test` lists the test as skipped. `LOOMIR_ISL_CASES` and `LOOMIR_ISL_SEED` set the
//! number of random relations and the seed, `LOOMIR_ISL_FROM` the first of them, so that a long run
//! can be had in parts; with `LOOMIR_ISL_PATIENT` isl takes its time to compare.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what was compared is part of the result")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::peers;
use crate::random::Random;
use loomir_polyhedra::{Emptiness, Error, Limits, Relation, Set};

/// One line of the comparison.
fn line(out: &mut String, operation: &str, operands: &[&str], answer: Result<String, Error>) {
    let answer = answer.unwrap_or_else(|error| match error {
        Error::Unbounded => "error: unbounded".to_string(),
        other => format!("error: {other}"),
    });
    let _ = writeln!(out, "{operation}\t{}\t{answer}", operands.join("\t"));
}

fn emptiness(answer: Emptiness) -> Result<String, Error> {
    match answer {
        Emptiness::Empty => Ok("true".to_string()),
        Emptiness::NonEmpty(_) => Ok("false".to_string()),
        Emptiness::Unknown(limit) => Err(Error::Limit(limit)),
    }
}

/// Every question about one or two relations.
fn relations(out: &mut String, a: &str, b: &str, limits: &Limits) {
    let (first, second): (Relation, Relation) = match (a.parse(), b.parse()) {
        (Ok(first), Ok(second)) => (first, second),
        (first, second) => panic!("{a}: {first:?}\n{b}: {second:?}"),
    };
    let text = |answer: Result<Relation, Error>| answer.map(|relation| relation.to_string());
    line(out, "same", &[a], Ok(first.to_string()));
    line(out, "empty", &[a], emptiness(first.is_empty(limits)));
    line(out, "subset", &[a, b], first.is_subset(&second, limits).map(|answer| answer.to_string()));
    line(out, "lexmin", &[a], text(first.lexmin(limits)));
    line(out, "lexmax", &[a], text(first.lexmax(limits)));
    line(out, "subtract", &[a, b], text(first.subtract(&second, limits)));
    line(out, "intersect", &[a, b], text(first.intersect(&second)));
    line(out, "inverse", &[a], Ok(first.inverse().to_string()));
    line(out, "domain", &[a], Ok(first.domain().to_string()));
    line(out, "range", &[a], Ok(first.range().to_string()));
    line(
        out,
        "coalesce",
        &[a],
        text(
            first
                .union(&second)
                .and_then(|both| both.coalesce(limits))
                .and_then(|both| both.intersect(&first)),
        ),
    );
    line(out, "gist", &[a, b], text(first.gist(&second, limits)));
    if first.input().arity() == first.output().arity() {
        // isl takes differences within one tuple only.
        let same = a.replace("S[", "A[");
        let deltas = same.parse::<Relation>().map(|relation| relation.deltas());
        line(
            out,
            "deltas",
            &[&same],
            deltas.unwrap_or_else(|error| panic!("{same}: {error}")).map(|set| set.to_string()),
        );
    }
    line(out, "then", &[a, &second.inverse().to_string()], text(first.then(&second.inverse())));
}

/// A random affine expression over `names`.
fn affine(random: &mut Random, names: &[&str]) -> String {
    let mut out = random.range(-6, 6).to_string();
    for name in names {
        if random.chance(45) {
            let _ = write!(out, " + {}*{name}", random.range(-4, 4));
        }
    }
    if random.chance(25) {
        let name = names[random.range(0, names.len() as i64 - 1) as usize];
        let divisor = random.range(2, 5);
        let _ = if random.chance(50) {
            write!(out, " + (({name} + {}) mod {divisor})", random.range(0, 3))
        } else {
            write!(out, " + floor((2*{name} + {})/{divisor})", random.range(-3, 3))
        };
    }
    out
}

/// A random relation `S[i, j] -> A[a, b]` or `S[i] -> A[a]` with parameters `n` and `m`.
fn relation(random: &mut Random, arity: usize) -> String {
    let (inputs, outputs) = (&["i", "j"][..arity], &["a", "b"][..arity]);
    let all: Vec<&str> = ["n", "m"].iter().chain(inputs).chain(outputs).copied().collect();
    let mut parts = Vec::new();
    for _ in 0..1 + random.chance(25) as usize {
        let mut constraints = Vec::new();
        for name in inputs.iter().chain(outputs) {
            if random.chance(85) {
                let bound = ["n", "m", "8", "20"][random.range(0, 3) as usize];
                constraints.push(format!("{} <= {name} < {bound}", random.range(-2, 2)));
            }
        }
        for name in outputs {
            if random.chance(50) {
                let known: Vec<&str> = ["n"].iter().chain(inputs).copied().collect();
                constraints.push(format!("{}*{name} = {}", random.range(1, 3), affine(random, &known)));
            }
        }
        for _ in 0..random.range(0, 2) {
            let operator = [">=", ">=", "=", "<"][random.range(0, 3) as usize];
            constraints.push(format!("{} {operator} {}", affine(random, &all), affine(random, &all)));
        }
        if random.chance(25) {
            let (name, other) =
                (all[random.range(0, 3) as usize], all[random.range(2, all.len() as i64 - 1) as usize]);
            constraints.push(format!(
                "exists (e: {name} + {other} <= {}*e <= {name} + {})",
                random.range(2, 5),
                affine(random, &[other])
            ));
        }
        if constraints.is_empty() {
            constraints.push("true".to_string());
        }
        parts.push(format!(
            "S[{}] -> A[{}] : {}",
            inputs.join(", "),
            outputs.join(", "),
            constraints.join(" and ")
        ));
    }
    format!("[n, m] -> {{ {} }}", parts.join("; "))
}

/// The classic hard ones.
const SETS: [&str; 22] = [
    "{ [x, y] : 6x + 10y = 15 }",
    "{ [x, y, z] : 6x + 10y + 15z = 1 }",
    "{ [x] : exists (a, b: x = 7a and x = 11b and 1 <= x <= 76) }",
    "{ [x, y] : 27 <= 11x + 13y <= 45 and -10 <= 7x - 9y <= 4 }",
    "{ [x, y] : 0 <= x and 2x <= 3y - 1 and 3y <= 2x + 1 + 0*y }",
    "{ [x, y] : 3 <= 5x - 7y <= 4 and 0 <= x <= 1000 and 10y >= 3 }",
    "{ [x, y] : 1099511627776x - 1099511627775y = 1 and 0 <= x <= 1099511627775 }",
    "{ [x, y] : 1 <= 1099511627776x - 1099511627774y <= 1 }",
    "{ [x, y] : 1099511627777x + 1099511627779y = 1099511627776000000 and x >= 0 and y >= 0 }",
    "{ [x, y] : 1099511627777x + 1099511627779y >= 12089258196146291747061760 and 1099511627777x + 1099511627779y <= 12089258196146291747061761 and x >= 0 and y >= 0 }",
    "{ [x, y, z] : 2 <= 3x + 5y - 7z <= 2 and 0 <= x <= 4 and 0 <= y <= 4 and 4z = 4x + 2y + 1 }",
    "{ [x, y] : 2000001x - 1999999y >= 1 and 2000001x - 1999999y <= 1999998 and 0 <= x <= 999998 and y >= x }",
    "{ [x, y, z] : 12x + 21y + 33z >= 1 and 12x + 21y + 33z <= 2 }",
    "{ [x, y, z, w] : 31x + 41y - 59z + 26w = 53 and 0 <= x, y, z, w <= 3 }",
    "{ [x, y, z] : 0 <= 97x - 89y + 3z <= 1 and 1 <= 89x + 83y - 101z <= 2 and 0 <= x, y, z <= 5 and x + y + z >= 1 }",
    "{ [i, j] : 0 <= i, j <= 100 and 3i + 2 = 6j + 1 }",
    "{ [i, j] : 4i - 6j = 3 mod 2 }",
    "{ [x, y] : 2x >= 1 + 2y and 2x <= 1 + 2y }",
    "{ [x, y, z] : x >= 1 and y >= 1 and z >= 1 and 5x + 7y + 11z = 23 }",
    "{ [x, y, z] : 4x + 6y + 10z = 2 and 3 <= x + y <= 4 and z >= 1000000000000 }",
    "{ [] : 1 = 0 }",
    "{ [x] : x >= 9223372036854775808 and x <= 9223372036854775809 }",
];

const RELATIONS: [(&str, &str); 11] = [
    ("[n] -> { S[i] -> A[a] : 2a = i and 0 <= i < n }", "[n] -> { S[i] -> A[a] : 4a = 2i }"),
    ("[n] -> { S[i] -> A[a] : 3a >= i and 5a <= 2i + n }", "[n] -> { S[i] -> A[a] : 3a >= i }"),
    ("[n] -> { S[i] -> A[a] : 7a >= 2i + n and 0 <= i <= n }", "[n] -> { S[i] -> A[a] : a >= 0 }"),
    (
        "[n] -> { S[i] -> A[a] : exists (e, f: a = 3e + 5f and 0 <= e <= i and 0 <= f <= n) }",
        "[n] -> { S[i] -> A[a] : a >= 0 }",
    ),
    (
        "[n, m] -> { S[i, j] -> A[a, b] : 0 <= i < n and 0 <= j < m and a = i + j and 2b = i - j }",
        "[n, m] -> { S[i, j] -> A[a, b] : b <= a }",
    ),
    ("[n] -> { S[i] -> A[a] : 1099511627776a = i and 0 <= i < n }", "[n] -> { S[i] -> A[a] : a >= 0 }"),
    (
        "[n] -> { S[i] -> A[a] : 1099511627777a >= 1099511627775i and a <= n }",
        "[n] -> { S[i] -> A[a] : a >= i }",
    ),
    (
        "[n] -> { S[i, j] -> A[a, b] : a = floor(i/4) and b = i mod 4 and 0 <= j < n }",
        "[n] -> { S[i, j] -> A[a, b] : i = 4a + b and 0 <= b <= 3 }",
    ),
    // Minima with many quotients that few parameters determine.
    (
        "[n, m] -> { S[i, j] -> A[a, b] : -1 <= j < 20 and 1 <= a < 20 and 2 <= b < m and i - j - 3a - 4b + (b mod 3) = 7 - 2a + b + (a mod 5) }",
        "[n, m] -> { S[i, j] -> A[a, b] : a >= 0 }",
    ),
    (
        "[n, m] -> { S[i, j] -> A[a, b] : 2 <= i < 20 and 1 <= a < n and -2 <= b < 20 and 2b = 2 - 3i + 3j + ((j + 2) mod 3) and a >= 5i + j - 3b - 1 - a + ((m + 2) mod 5) and 3n + 3j = 4i + 4a - ((i + 3) mod 4) and exists (e: m + b <= 2e <= m - 6 + 4b) }",
        "[n, m] -> { S[i, j] -> A[a, b] : a >= 0 }",
    ),
    (
        "[n, m] -> { S[i, j] -> A[a, b] : 2 <= i < 20 and 2 <= a < m and 0 <= b < n and 6m - 4n + i + j + floor((2i + 1)/2) >= 4 and 2m - 2i - a - 2b - n + 6 < ((b + 3) mod 4) }",
        "[n, m] -> { S[i, j] -> A[a, b] : 2 <= i < 20 and 1 <= a < n and -2 <= b < 20 and 2b = 2 - 3i + 3j + ((j + 2) mod 3) and 3n + 3j = 4i + 4a - ((i + 3) mod 4) }",
    ),
];

fn hard_ones(out: &mut String, limits: &Limits) {
    for text in SETS {
        let set: Set = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        line(out, "same", &[text], Ok(set.to_string()));
        line(out, "empty", &[text], emptiness(set.is_empty(limits)));
        line(out, "complement", &[text], set.complement(limits).map(|set| set.to_string()));
        line(out, "lexmin", &[text], set.lexmin(limits).map(|set| set.to_string()));
        match set.count(limits) {
            Err(Error::Unbounded) => {}
            count => line(out, "count", &[text], count.map(|count| count.to_string())),
        }
    }
    for (a, b) in RELATIONS {
        relations(out, a, b, limits);
        relations(out, b, a, limits);
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn answers_agree_with_isl() {
    let Some(python) = peers::islpy() else { return };
    let limits = Limits::default();
    let mut lines = String::new();
    hard_ones(&mut lines, &limits);
    let (cases, seed) = (number("LOOMIR_ISL_CASES", 120), number("LOOMIR_ISL_SEED", 1));
    let first = number("LOOMIR_ISL_FROM", 0);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/isl_compare.py");
    let mut child = Command::new(python)
        .arg(script)
        .args(std::env::var_os("LOOMIR_ISL_PATIENT").map(|_| "patient"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("LOOMIR_ISLPY: {error}"));
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let _ = input.write_all(lines.as_bytes());
        for case in first..first + cases {
            let mut lines = String::new();
            let random = &mut Random(seed.wrapping_mul(0x1000_0000_01b3) ^ case);
            let arity = 1 + random.chance(50) as usize;
            let (a, b) = (relation(random, arity), relation(random, arity));
            let start = std::time::Instant::now();
            relations(&mut lines, &a, &b, &limits);
            let spent = start.elapsed().as_secs_f64();
            if spent > 2.0 {
                println!("case {case} took {spent:.1} s: {a} and {b}");
            }
            if input.write_all(lines.as_bytes()).is_err() {
                return;
            }
        }
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let report = String::from_utf8_lossy(&output.stdout);
    println!(
        "{cases} random relations from {first} on, seed {seed}, {} hard ones\n{report}",
        SETS.len() + 2 * RELATIONS.len()
    );
    assert!(output.status.success(), "isl disagrees:\n{report}");
}
