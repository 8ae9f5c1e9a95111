//! The first difference of two endings.

use loomir_dialects::interp::Outcome;
use loomir_dialects::interp::outcome::{Contents, Output};

use super::Ending;

/// A difference: its place, and what is there before and after.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Its place.
    pub place: Place,
    /// The value there before, or how the program ended.
    pub before: String,
    /// The value there after, or how the program ended.
    pub after: String,
}

/// The place of a difference.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A result of the function.
    Result(usize),
    /// An element of a buffer.
    Element {
        /// The argument that is the buffer.
        argument: usize,
        /// The number of the element, in row-major order.
        index: usize,
        /// Its subscripts.
        subscripts: Vec<i64>,
    },
    /// A buffer as a whole: its size, or whether it was freed.
    Buffer(usize),
    /// The text that the program prints.
    Printed,
    /// The way in which the program ends.
    Ending,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Result(index) => write!(f, "result {index}"),
            Place::Element { argument, subscripts, .. } => {
                let subscripts: Vec<String> = subscripts.iter().map(i64::to_string).collect();
                write!(f, "element [{}] of argument {argument}", subscripts.join(", "))
            }
            Place::Buffer(argument) => write!(f, "argument {argument}"),
            Place::Printed => write!(f, "the printed text"),
            Place::Ending => write!(f, "the end"),
        }
    }
}

/// Returns a few words for an ending.
pub(super) fn named(ending: &Ending) -> &'static str {
    match ending {
        Ending::Returned(_) => "returns",
        Ending::Trapped(_) => "traps",
    }
}

/// Returns the first difference of two endings, if there is one. Of functions of two levels several
/// results may be one struct, and what a trap prints is not compared.
pub fn between(before: &Ending, after: &Ending, of_two_levels: bool) -> Option<Difference> {
    match (before, after) {
        (Ending::Returned(before), Ending::Returned(after)) => of_outcomes(before, after, true),
        (Ending::Trapped(Some(before)), Ending::Trapped(Some(after))) => {
            of_outcomes(before, after, !of_two_levels)
        }
        // A buffer that is not defined when the program traps cannot be compared.
        (Ending::Trapped(_), Ending::Trapped(_)) => None,
        _ => Some(Difference {
            place: Place::Ending,
            before: named(before).into(),
            after: named(after).into(),
        }),
    }
}

/// Returns the results one by one, if one struct stands for `count` of them.
fn results(outcome: &Outcome, count: usize) -> &[Output] {
    match outcome.results.as_slice() {
        [Output::Aggregate(parts)] if count > 1 && parts.len() == count => parts,
        all => all,
    }
}

fn of_outcomes(before: &Outcome, after: &Outcome, prints: bool) -> Option<Difference> {
    let counts = (before.results.len(), after.results.len());
    let both = results(before, counts.1).iter().zip(results(after, counts.0));
    for (i, (one, other)) in both.enumerate() {
        if one != other {
            return Some(of_outputs(Place::Result(i), one, other));
        }
    }
    for ((argument, one), (_, other)) in before.buffers.iter().zip(&after.buffers) {
        if one != other {
            return Some(of_buffers(*argument, one, other));
        }
    }
    (prints && before.printed != after.printed).then(|| Difference {
        place: Place::Printed,
        before: printed(&before.printed),
        after: printed(&after.printed),
    })
}

fn of_buffers(argument: usize, before: &Output, after: &Output) -> Difference {
    let (Output::Contents(one), Output::Contents(other)) = (before, after) else {
        return of_outputs(Place::Buffer(argument), before, after);
    };
    match first_number(one, other) {
        Some(number) => {
            let parts = one.parts.max(1);
            let index = number / parts;
            let place = Place::Element { argument, index, subscripts: subscripts(&one.sizes, index) };
            let shown = |contents: &Contents| contents.numbers[number].to_string();
            Difference { place, before: shown(one), after: shown(other) }
        }
        None => of_outputs(Place::Buffer(argument), before, after),
    }
}

fn of_outputs(place: Place, before: &Output, after: &Output) -> Difference {
    if let (Output::Contents(one), Output::Contents(other)) = (before, after)
        && let Some(number) = first_number(one, other)
    {
        let shown = |contents: &Contents| {
            let at = subscripts(&contents.sizes, number / contents.parts.max(1));
            format!("{} at {at:?}", contents.numbers[number])
        };
        return Difference { place, before: shown(one), after: shown(other) };
    }
    Difference { place, before: shown(before), after: shown(after) }
}

/// Returns the first number in which two buffers of one shape differ.
fn first_number(before: &Contents, after: &Contents) -> Option<usize> {
    let is_alike = before.sizes == after.sizes && before.parts == after.parts;
    let mut both = before.numbers.iter().zip(&after.numbers);
    is_alike.then(|| both.position(|(one, other)| one != other)).flatten()
}

fn subscripts(sizes: &[i64], index: usize) -> Vec<i64> {
    let mut rest = index as i64;
    let mut all: Vec<i64> = sizes
        .iter()
        .rev()
        .map(|size| {
            let own = rest % (*size).max(1);
            rest /= (*size).max(1);
            own
        })
        .collect();
    all.reverse();
    all
}

/// Shows a value. Aggregates nest as types do.
fn shown(output: &Output) -> String {
    match output {
        Output::Number(number) => number.to_string(),
        Output::Aggregate(parts) => {
            let parts: Vec<String> = parts.iter().map(shown).collect();
            format!("{{{}}}", parts.join(", "))
        }
        Output::Contents(contents) => format!("a buffer of sizes {:?}", contents.sizes),
        Output::Pointer => "a pointer".into(),
        Output::Freed => "freed".into(),
    }
}

/// The most characters of printed text that are shown.
const MOST_PRINTED: usize = 40;

fn printed(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown: String = text.chars().take(MOST_PRINTED).collect();
    format!("{shown:?}")
}
