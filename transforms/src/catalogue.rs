//! The catalogue of loop transformations: for each the file whose header is its page in the book.
//!
//! A header says in this order: what the transformation does, its reference, assumptions, cost and
//! limits, and an example of a program and commands. Options and remarks are added from the tables
//! of the pass. [Transformations](crate::transform) of single loops name their file themselves. A
//! transformation without a pass is a step of [schedules](crate::schedule), or a part of passes.

use loomir_ir::pass::PassInfo;

use crate::{
    contraction, distribution, fusion, idioms, nest_sinking, packing, padding, prefetch, privatization,
    promotion, transform,
};

/// A transformation of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: that of the pass or of the step, if it is one.
    pub name: &'static str,
    /// A line that says what it does.
    pub summary: &'static str,
    /// The way to ask for it.
    pub by: By,
    /// The text of its file.
    pub source: &'static str,
}

/// The way to ask for a transformation.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// A pass.
    Pass(&'static PassInfo),
    /// An operation of schedules.
    Step,
    /// Passes that do it where they need it.
    Parts(&'static [&'static str]),
}

/// The transformations that are passes of their own.
const OTHERS: &[(&PassInfo, &str)] = &[
    (&contraction::PASS, include_str!("contraction.rs")),
    (&distribution::PASS, include_str!("distribution.rs")),
    (&fusion::PASS, include_str!("fusion/pass.rs")),
    (&idioms::PASS, include_str!("idioms.rs")),
    (&nest_sinking::PASS, include_str!("nest_sinking.rs")),
    (&packing::PASS, include_str!("packing.rs")),
    (&padding::PASS, include_str!("padding.rs")),
    (&prefetch::PASS, include_str!("prefetch.rs")),
    (&privatization::PASS, include_str!("privatization.rs")),
    (&promotion::PASS, include_str!("promotion.rs")),
    (&transform::tile_by::PASS, include_str!("transform/tile_by.rs")),
];

/// The transformations that are no passes.
const WITHOUT_PASS: &[Entry] = &[
    Entry {
        name: "loomir.move_before",
        summary: "Move a loop before another operation of its body",
        by: By::Step,
        source: include_str!("schedule/move_loop.rs"),
    },
    Entry {
        name: "loomir.shift",
        summary: "Run a part of a loop's body some iterations later",
        by: By::Step,
        source: include_str!("schedule/shift.rs"),
    },
    Entry {
        name: "scalar-expansion",
        summary: "Pass a value on in an array, so that a loop may be distributed",
        by: By::Parts(&["loop-distribute"]),
        source: include_str!("expansion.rs"),
    },
    Entry {
        name: "transform.loop.outline",
        summary: "Make a loop a function of its own",
        by: By::Step,
        source: include_str!("schedule/outline.rs"),
    },
    Entry {
        name: "versioning",
        summary: "Run changed loops only where a run-time check allows it",
        by: By::Parts(&["loop-fusion", "loop-distribute"]),
        source: include_str!("regenerate/version.rs"),
    },
];

/// Returns all transformations, sorted by name.
pub fn all() -> Vec<Entry> {
    let singles = transform::ALL.iter().map(|(pass, info)| (pass, info.source));
    let passes = singles.chain(OTHERS.iter().map(|(pass, source)| (*pass, *source)));
    let of_pass = |(pass, source): (&'static PassInfo, &'static str)| Entry {
        name: pass.name,
        summary: pass.summary,
        by: By::Pass(pass),
        source,
    };
    let mut all: Vec<Entry> = passes.map(of_pass).chain(WITHOUT_PASS.iter().copied()).collect();
    all.retain(|own| !own.source.is_empty());
    all.sort_by_key(|own| own.name);
    all
}

impl Entry {
    /// Returns the lines of the header, without the marks of comments.
    pub fn header(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line))
    }
}
