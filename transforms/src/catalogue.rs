//! The catalogue of loop transformations: for each the file whose header is its page in the book.
//!
//! A header says in this order: what the transformation does, its reference, assumptions, cost and
//! limits, and an example of a program and commands. Options and remarks are added from the tables
//! of the pass. [Transformations](crate::transform) of single loops name their file themselves.

use loomir_ir::pass::PassInfo;

use crate::{
    contraction, distribution, fusion, idioms, nest_sinking, packing, padding, prefetch, privatization,
    promotion, transform,
};

/// A transformation of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its pass.
    pub pass: &'static PassInfo,
    /// The text of its file.
    pub source: &'static str,
}

/// The transformations that are passes of their own.
const OTHERS: &[Entry] = &[
    Entry { pass: &contraction::PASS, source: include_str!("contraction.rs") },
    Entry { pass: &distribution::PASS, source: include_str!("distribution.rs") },
    Entry { pass: &fusion::PASS, source: include_str!("fusion/pass.rs") },
    Entry { pass: &idioms::PASS, source: include_str!("idioms.rs") },
    Entry { pass: &nest_sinking::PASS, source: include_str!("nest_sinking.rs") },
    Entry { pass: &packing::PASS, source: include_str!("packing.rs") },
    Entry { pass: &padding::PASS, source: include_str!("padding.rs") },
    Entry { pass: &prefetch::PASS, source: include_str!("prefetch.rs") },
    Entry { pass: &privatization::PASS, source: include_str!("privatization.rs") },
    Entry { pass: &promotion::PASS, source: include_str!("promotion.rs") },
    Entry { pass: &transform::tile_by::PASS, source: include_str!("transform/tile_by.rs") },
];

/// Returns all transformations, sorted by the name of the pass.
pub fn all() -> Vec<Entry> {
    let singles = transform::ALL.iter().map(|(pass, info)| Entry { pass, source: info.source });
    let mut all: Vec<Entry> = singles.chain(OTHERS.iter().copied()).collect();
    all.retain(|own| !own.source.is_empty());
    all.sort_by_key(|own| own.pass.name);
    all
}

impl Entry {
    /// Returns the lines of the header, without the marks of comments.
    pub fn header(&self) -> impl Iterator<Item = &'static str> {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line))
    }
}
