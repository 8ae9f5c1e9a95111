//! The loop counts of `opt`, compared with ours and with runs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use loomir_dialects::interp::integer::{mask, signed};
use loomir_ir::Body;
use loomir_lowering::cfg::scev::print::print;
use loomir_lowering::to_ll;

use crate::watch::watch;
use crate::{context, functions, peers, read};

/// The result of comparing our counts with `opt`'s.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// Equal, or equal wherever the expression is defined.
    Equal,
    /// We have a count that `opt` lacks, or a lesser maximum.
    More,
    /// `opt` has a count that we lack, with its text.
    Less(String),
}

/// The counts of a loop as text: exact, constant maximum, symbolic maximum.
type Said = [Option<String>; 3];

const KINDS: [&str; 3] = [
    "backedge-taken count is ",
    "constant max backedge-taken count is ",
    "symbolic max backedge-taken count is ",
];

/// Returns the counts of each loop of each function.
fn said(text: &str) -> BTreeMap<String, BTreeMap<String, Said>> {
    let mut all: BTreeMap<String, BTreeMap<String, Said>> = BTreeMap::new();
    let mut function = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("Determining loop execution counts for: @") {
            function = name.to_owned();
            all.entry(function.clone()).or_default();
        }
        let Some((header, rest)) = line.strip_prefix("Loop ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        let rest = rest.strip_prefix("<multiple exits> ").unwrap_or(rest);
        let own = all.entry(function.clone()).or_default().entry(header.to_owned()).or_default();
        for (kind, own) in KINDS.iter().zip(own) {
            if let Some(count) = rest.strip_prefix(kind) {
                *own = Some(count.trim().to_owned());
            }
        }
    }
    all
}

/// Returns the output of `opt`; `None` if it is not installed.
fn opt(source: &str) -> Option<String> {
    let mut command = Command::new(peers::tool("opt")?);
    command.args(["-passes=print<scalar-evolution>", "-disable-output", "-"]);
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("opt");
    let mut stdin = child.stdin.take().expect("a pipe");
    let text = source.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("its output");
    let _ = writer.join();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    Some(text)
}

/// Returns our output for a module.
pub(crate) fn printed(module: &Body) -> String {
    let mut text = String::new();
    for (_, function) in functions(module) {
        print(module, function, &mut text)
            .unwrap_or_else(|errors| panic!("{}", errors.to_text(module.ctx())));
    }
    text
}

/// Compares the counts of each function of a text; `None` without `opt`. `calls` returns arguments
/// for the n-th function.
pub(crate) fn compare(
    source: &str,
    calls: &dyn Fn(usize) -> Vec<Vec<u128>>,
) -> Option<Vec<(String, Verdict)>> {
    let ctx = context();
    let module = read(&ctx, source);
    let written = to_ll(&module).unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    let theirs = said(&opt(&written)?);
    let ours = said(&printed(&module));
    let mut verdicts = Vec::new();
    for (index, (name, function)) in functions(&module).into_iter().enumerate() {
        let (ours, theirs) = (&ours[&name], &theirs[&name]);
        assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>(), "loops of {name}");
        let mut verdict = Verdict::Equal;
        for (header, ours) in ours {
            let own = of_loop(header, ours, &theirs[header], &|count| {
                against_runs(&module, &name, function, header, count, &calls(index))
            });
            verdict = match (verdict, own) {
                (Verdict::Less(a), Verdict::Less(b)) => Verdict::Less(format!("{a}; {b}")),
                (Verdict::Less(a), _) | (_, Verdict::Less(a)) => Verdict::Less(a),
                (Verdict::More, _) | (_, Verdict::More) => Verdict::More,
                _ => Verdict::Equal,
            };
        }
        verdicts.push((name, verdict));
    }
    Some(verdicts)
}

fn of_loop(header: &str, ours: &Said, theirs: &Said, check: &dyn Fn(&str) -> Result<(), String>) -> Verdict {
    let mut more = false;
    let mut less = String::new();
    for ((kind, ours), theirs) in KINDS.iter().zip(ours).zip(theirs) {
        match (ours, theirs) {
            (None, Some(theirs)) => _ = write!(less, "{header}: {kind}{theirs} "),
            (Some(_), None) => more = true,
            (Some(ours), Some(theirs)) if ours != theirs => {
                let number =
                    |text: &str| text.split_once(' ').and_then(|(_, number)| number.parse::<i128>().ok());
                match (number(ours), number(theirs)) {
                    (Some(a), Some(b)) if kind.starts_with("constant") => {
                        let width = |text: &str| {
                            text[1..].split(' ').next().and_then(|width| width.parse().ok()).unwrap_or(64)
                        };
                        let unsigned = |number: i128, text: &str| number as u128 & mask(width(text));
                        let (a, b) = (unsigned(a, ours), unsigned(b, theirs));
                        more |= a < b;
                        if a > b {
                            let _ = write!(less, "{header}: {kind}{theirs}, not {ours} ");
                        }
                    }
                    // A number says more than an expression.
                    (Some(_), None) => more = true,
                    _ if kind.starts_with("backedge") => {
                        if let Err(error) = check(theirs) {
                            let _ = write!(less, "{header}: {ours}, {error} ");
                        }
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    if !less.is_empty() {
        Verdict::Less(less)
    } else if more {
        Verdict::More
    } else {
        Verdict::Equal
    }
}

/// Checks that a count of `opt`, in terms of arguments alone, is the number of backedges taken in
/// runs.
fn against_runs(
    module: &Body,
    name: &str,
    function: &Body,
    header: &str,
    count: &str,
    calls: &[Vec<u128>],
) -> Result<(), String> {
    let entry = function.entry_block(function.region(function.root(), 0)).expect("an entry");
    let widths: Vec<u32> = function
        .arguments(entry)
        .map(|argument| function.value_type(argument).integer_width(function.ctx()).unwrap_or(64))
        .collect();
    let Some(count_of) = Count::parse(count) else { return Ok(()) };
    let (_, left) = watch(module, name, function, calls)?;
    for (call, left) in calls.iter().zip(left) {
        // Headers are identified only if there is one loop.
        let Some([(_, times)]) = left.as_deref() else { continue };
        if let Some(said) = count_of.evaluate(call, &widths).filter(|said| said != times) {
            return Err(format!(
                "`opt` says {said} for {count}, but {header} goes around {times} times with {call:?}"
            ));
        }
    }
    Ok(())
}

/// An expression in the syntax of `opt`.
#[derive(Clone, Debug)]
enum Count {
    Number(i128),
    Argument(usize),
    Cast(String, Box<Count>, u32),
    Joined(String, Vec<Count>),
}

impl Count {
    fn parse(text: &str) -> Option<Count> {
        let text = text.split_once(' ').filter(|(ty, _)| ty.starts_with('i')).map_or(text, |(_, rest)| rest);
        let tokens = text.replace('(', " ( ").replace(')', " ) ").replace("<nuw>", "").replace("<nsw>", "");
        let mut tokens: Vec<String> = tokens.split_whitespace().rev().map(str::to_owned).collect();
        let count = Count::one(&mut tokens, 0)?;
        tokens.is_empty().then_some(count)
    }

    fn one(tokens: &mut Vec<String>, depth: u32) -> Option<Count> {
        let token = tokens.pop().filter(|_| depth < 64)?;
        if let Ok(number) = token.parse() {
            return Some(Count::Number(number));
        }
        if let Some(argument) = token.strip_prefix('%') {
            return Some(Count::Argument(argument.parse().ok()?));
        }
        if token != "(" {
            return None;
        }
        if let Some(cast) = tokens.pop_if(|next| ["zext", "sext", "trunc"].contains(&next.as_str())) {
            tokens.pop()?;
            let inner = Count::one(tokens, depth + 1)?;
            let (_, to, _) = (tokens.pop()?, tokens.pop()?, tokens.pop()?);
            return Some(Count::Cast(cast, Box::new(inner), to[1..].parse().ok()?));
        }
        let mut parts = vec![Count::one(tokens, depth + 1)?];
        let mut by = String::new();
        while tokens.last()? != ")" {
            by = tokens.pop()?;
            parts.push(Count::one(tokens, depth + 1)?);
        }
        tokens.pop();
        Some(Count::Joined(by, parts))
    }

    fn width(&self, widths: &[u32]) -> Option<u32> {
        match self {
            Count::Number(_) => None,
            Count::Argument(at) => widths.get(*at).copied(),
            Count::Cast(_, _, width) => Some(*width),
            Count::Joined(_, parts) => parts.iter().find_map(|part| part.width(widths)),
        }
    }

    /// Returns its value for these arguments; `None` if it contains anything but arguments.
    fn evaluate(&self, arguments: &[u128], widths: &[u32]) -> Option<u128> {
        let width = self.width(widths).unwrap_or(128);
        self.bits(arguments, widths, width)
    }

    fn bits(&self, arguments: &[u128], widths: &[u32], width: u32) -> Option<u128> {
        let bits = match self {
            Count::Number(number) => *number as u128,
            Count::Argument(at) => *arguments.get(*at)?,
            Count::Cast(cast, inner, _) => {
                let from = inner.width(widths)?;
                let bits = inner.bits(arguments, widths, from)?;
                if cast == "sext" { signed(from, bits) as u128 } else { bits }
            }
            Count::Joined(by, parts) => {
                let parts: Vec<u128> =
                    parts.iter().map(|part| part.bits(arguments, widths, width)).collect::<Option<_>>()?;
                let number = |bits: &u128| signed(width, *bits);
                match by.as_str() {
                    "+" => parts.into_iter().fold(0, u128::wrapping_add),
                    "*" => parts.into_iter().fold(1, u128::wrapping_mul),
                    "/u" => parts[0].checked_div(parts[1])?,
                    "umax" => parts.into_iter().max()?,
                    "umin" | "umin_seq" => parts.into_iter().min()?,
                    "smax" => parts.into_iter().max_by_key(number)?,
                    "smin" => parts.into_iter().min_by_key(number)?,
                    _ => return None,
                }
            }
        };
        Some(bits & mask(width))
    }
}
