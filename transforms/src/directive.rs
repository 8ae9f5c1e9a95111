//! Directives: loop transformations that the source of a program asks for.
//!
//! The attribute [`DIRECTIVE`] of a loop holds directives in the notation of OpenMP 6.0, separated
//! by semicolons: `interchange; tile sizes(4, 8)`. As with pragmas in front of a loop, the last one
//! is the first to be obeyed, and each other one transforms the loop that the next one makes.
//!
//! The pseudo-directive `sequence(NAME)` stands for braces around several loops. All loops in one
//! body that have it, with the same name, are one sequence. Directives in front of it, at the first
//! loop, transform the sequence: `fuse; sequence(a)`. Another loop with such directives begins a
//! sequence of its own.
//!
//! This module only reads the notation. [`schedule::obey`](crate::schedule::obey) obeys it.
//!
//! **Invariant.** Sizes, counts and depths are positive where OpenMP says so, and permutations are
//! permutations.
//! **Cost.** Linear in the text. Nesting of `apply` is bounded.
//!
//! # Limits
//!
//! - Sizes, counts and factors are literals; a list has at most 64. `counts` has one `omp_fill`.
//! - `reverse` and `unroll` need a loop with one first and one last iteration. Loops inside tiles
//!   that are not all whole, and loops over offsets beyond the trip count, have several.
//! - A nest whose inner bounds are computed between its loops, as for `j <= i` in C, is not
//!   perfect.
//! - The iterations that `fuse` leaves over run in loops behind the fused one.

use reader::Reader;

mod reader;

/// The name of the attribute.
pub const DIRECTIVE: &str = "loomir.directive";

/// The directives of one loop, as written: each transforms what those behind it make.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Directives {
    /// The name of the sequence of loops to which the loop belongs.
    pub sequence: Option<String>,
    /// The directives for the sequence.
    pub of_sequence: Vec<Directive>,
    /// The directives for the loop.
    pub of_loop: Vec<Directive>,
}

/// One directive with its clauses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// The transformation.
    pub change: Transformation,
    /// Directives for the loops that the transformation makes.
    pub apply: Vec<Apply>,
    /// The directive as it was written.
    pub text: String,
}

/// A transformation of OpenMP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transformation {
    /// `tile sizes(…)`: runs a nest block by block.
    Tile(Vec<i64>),
    /// `stripe sizes(…)`: runs every `n`th iteration of each loop, from each offset below `n`.
    Stripe(Vec<i64>),
    /// `unroll`: writes several iterations one after the other.
    Unroll(Factor),
    /// `reverse`: runs a loop from its last iteration to its first.
    Reverse,
    /// `interchange permutation(…)`: the former number of each loop of a nest, from 0.
    Interchange(Vec<usize>),
    /// `fuse looprange(first, count)`: runs loops of a sequence as one. The first is number 0.
    Fuse(Option<[usize; 2]>),
    /// `split counts(…)`: runs ranges of iterations in loops of their own. `None` is `omp_fill`.
    Split(Vec<Option<i64>>),
    /// `flatten depth(n)`: runs the loops of a nest as one.
    Flatten(usize),
    /// `nothing`: leaves a loop as it is.
    Nothing,
}

/// The number of iterations that an unrolled loop runs at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// All.
    Full,
    /// As many, or a number of Loomir's choice.
    Partial(Option<i64>),
    /// All of few iterations, else a number of Loomir's choice.
    Any,
}

/// A clause `apply(part(numbers): directives)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Apply {
    /// The part of the loops that the transformation makes.
    pub part: Part,
    /// The numbers of the loops in the part, from 0. `None` for all.
    pub numbers: Option<Vec<usize>>,
    /// A directive for each of these loops.
    pub directives: Vec<Directive>,
}

/// A part of the loops that a transformation makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The first group of loops: all of them, unless a transformation makes two groups.
    First,
    /// The second group: loops inside a tile, or over the beginnings of stripes.
    Second,
}

impl Transformation {
    /// Returns the participle for changed loops, as in "tiled, this would be first".
    pub fn then(&self) -> &'static str {
        match self {
            Transformation::Tile(_) => "tiled",
            Transformation::Stripe(_) => "striped",
            Transformation::Unroll(_) => "unrolled",
            Transformation::Reverse => "reversed",
            Transformation::Interchange(_) => "interchanged",
            Transformation::Fuse(_) => "fused",
            Transformation::Split(_) => "split",
            Transformation::Flatten(_) => "flattened",
            Transformation::Nothing => "unchanged",
        }
    }
}

impl Directives {
    /// Reads directives that are separated by semicolons.
    ///
    /// ```
    /// use loomir_transforms::directive::{Directives, Transformation};
    ///
    /// let own = Directives::read("interchange; tile sizes(4, 8)")?;
    /// assert_eq!(own.of_loop[1].change, Transformation::Tile(vec![4, 8]));
    /// let wrong = Directives::read("tile sizes(0)").unwrap_err();
    /// assert_eq!(wrong, "'sizes' needs numbers of 1 or more, not 0");
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The mistake in the text.
    pub fn read(text: &str) -> Result<Directives, String> {
        let mut reader = Reader::new(text);
        let mut own = Directives::default();
        loop {
            if reader.is_word("sequence") {
                let name = reader.parenthesized(Reader::word)?;
                if own.sequence.replace(name).is_some() {
                    return Err("a loop belongs to one sequence, and this one names two".to_owned());
                }
                own.of_sequence = std::mem::take(&mut own.of_loop);
            } else {
                own.of_loop.push(reader.directive(0)?);
            }
            if reader.is_end() {
                return Ok(own);
            }
            reader.expect(';')?;
        }
    }
}
