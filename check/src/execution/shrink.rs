//! A smaller input with a difference: fewer shared buffers, smaller sizes and numbers, simpler
//! contents.
//!
//! Each step changes one thing and keeps the change if the functions still differ for certain. The
//! number of steps is bounded.

use super::difference::{Difference, Place};
use super::input::{Argument, Contents, Input};
use super::{Pair, Ran, doubts};

/// The most inputs that are executed to shrink one.
const MOST_STEPS: usize = 300;

/// Returns a smaller input on which the two functions differ, and the difference there.
pub(super) fn shrink(pair: &mut Pair<'_>, input: Input) -> (Input, Difference) {
    let mut best = (input.clone(), difference(pair, &input));
    let mut left = MOST_STEPS;
    loop {
        let candidates = smaller(&best.0);
        let mut found = None;
        for candidate in candidates {
            if left == 0 {
                break;
            }
            left -= 1;
            pair.left = pair.left.max(pair.steps);
            if let Ran::Different(difference) = pair.run(&candidate)
                && keeps_kind(best.1.as_ref(), &difference)
                && doubts::about(pair.before, &candidate, &difference).is_none()
            {
                found = Some((candidate, Some(difference)));
                break;
            }
        }
        match found {
            Some(found) => best = found,
            None => break,
        }
    }
    let unknown = Difference { place: Place::Ending, before: String::new(), after: String::new() };
    (best.0, best.1.unwrap_or(unknown))
}

/// True unless a difference of values would become one of how the program ends: values tell more.
fn keeps_kind(known: Option<&Difference>, found: &Difference) -> bool {
    found.place != Place::Ending || known.is_none_or(|known| known.place == Place::Ending)
}

fn difference(pair: &mut Pair<'_>, input: &Input) -> Option<Difference> {
    pair.left = pair.left.max(pair.steps);
    match pair.run(input) {
        Ran::Different(difference) => Some(difference),
        _ => None,
    }
}

/// Returns the inputs that are one step smaller, the most promising first.
fn smaller(input: &Input) -> Vec<Input> {
    let mut all = Vec::new();
    together(input, &mut all);
    for i in 0..input.arguments.len() {
        let mut with = |argument: Argument| {
            let mut arguments = input.arguments.clone();
            arguments[i] = argument;
            all.push(Input { arguments });
        };
        match &input.arguments[i] {
            Argument::Number(text) => simpler(text).into_iter().for_each(|n| with(Argument::Number(n))),
            Argument::Buffer(buffer) => {
                if let Contents::Shared(of, shift) = buffer.contents {
                    let mut alone = buffer.clone();
                    alone.contents = Contents::Iota(100 * (i as u32 + 1));
                    with(Argument::Buffer(alone));
                    if shift > 0 {
                        let mut nearer = buffer.clone();
                        nearer.contents = Contents::Shared(of, shift - 1);
                        with(Argument::Buffer(nearer));
                    }
                }
                for (d, size) in buffer.sizes.iter().enumerate() {
                    for size in fewer(*size) {
                        let mut changed = buffer.clone();
                        changed.sizes[d] = size;
                        with(Argument::Buffer(changed));
                    }
                }
                for contents in plainer(&buffer.contents, i as u32) {
                    let mut changed = buffer.clone();
                    changed.contents = contents;
                    with(Argument::Buffer(changed));
                }
            }
        }
    }
    all
}

/// Adds inputs in which all numbers and sizes of one value become a smaller one: sizes that belong
/// together stay together.
fn together(input: &Input, all: &mut Vec<Input>) {
    let mut values: Vec<i64> = Vec::new();
    for argument in &input.arguments {
        match argument {
            Argument::Number(text) => values.extend(text.parse::<i64>().ok()),
            Argument::Buffer(buffer) => values.extend(&buffer.sizes),
        }
    }
    values.sort_unstable();
    values.dedup();
    for value in values.into_iter().rev() {
        for less in fewer(value) {
            let mut changed = input.clone();
            for argument in &mut changed.arguments {
                match argument {
                    Argument::Number(text) if *text == value.to_string() => *text = less.to_string(),
                    Argument::Number(_) => {}
                    Argument::Buffer(buffer) => {
                        buffer.sizes.iter_mut().filter(|size| **size == value).for_each(|size| *size = less);
                    }
                }
            }
            all.push(changed);
        }
    }
}

/// Returns smaller sizes, the smallest first.
fn fewer(size: i64) -> Vec<i64> {
    let mut all: Vec<i64> =
        [0, 1, 2, 3, size / 2, size.saturating_sub(1)].into_iter().filter(|n| *n < size && *n >= 0).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns simpler numbers, the simplest first.
fn simpler(text: &str) -> Vec<String> {
    if let Ok(number) = text.parse::<i64>() {
        let small = |n: &i64| n.unsigned_abs() < number.unsigned_abs();
        let all = [0, 1, 2, 3, -1, number / 2, number - number.signum()];
        let mut all: Vec<i64> = all.into_iter().filter(small).collect();
        all.sort_by_key(|n| (n.unsigned_abs(), *n < 0));
        all.dedup();
        return all.iter().map(i64::to_string).collect();
    }
    let plain = ["0.0", "1.0", "1.5"];
    let rank = |text: &str| plain.iter().position(|own| *own == text).unwrap_or(plain.len());
    match text.parse::<f64>() {
        Ok(_) => plain[..rank(text)].iter().map(|own| (*own).into()).collect(),
        Err(_) => Vec::new(),
    }
}

/// Returns simpler contents. Zeros say least of which element is which, so distinct numbers are
/// simpler than random ones and no less simple than zeros.
fn plainer(contents: &Contents, index: u32) -> Vec<Contents> {
    let distinct = Contents::Iota(100 * (index + 1));
    match contents {
        Contents::Random(_) | Contents::Repeated(..) => vec![distinct, Contents::Iota(0), Contents::Zeros],
        _ => Vec::new(),
    }
}
