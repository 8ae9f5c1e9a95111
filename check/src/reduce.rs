//! Shrinks a program while a test keeps holding: delta debugging over the IR.
//!
//! Each *kind* of edit has *sites*, numbered through the whole program. The edits of a
//! kind are tried on all sites at once, then on halves, quarters, down to single ones; an edit that
//! keeps the test is kept. Kinds take turns until a round changes nothing. Every candidate is
//! verified before the test sees it.
//!
//! **Cost.** At most [`Options::tests`] tests; for each a copy of the program, and a walk over it.

use loomir_ir::{Body, verifier};

mod constants;
mod edits;
mod operations;
mod regions;

use edits::Kind;

/// Bounds of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The most candidates that are tested.
    pub tests: usize,
}

impl Default for Options {
    /// Two thousand tests.
    fn default() -> Options {
        Options { tests: 2_000 }
    }
}

/// A program that was shrunk.
#[derive(Debug)]
pub struct Reduced {
    /// The program.
    pub module: Body,
    /// The number of candidates that were tested.
    pub tests: usize,
    /// True if the bound on tests ended the reduction.
    pub stopped: bool,
}

/// Shrinks a verified program for which `holds` is true. `holds` is asked about verified programs
/// only.
pub fn reduce(module: &Body, options: &Options, holds: &mut dyn FnMut(&Body) -> bool) -> Reduced {
    let mut search = Search { best: module.duplicate(), tests: 0, most: options.tests, holds };
    loop {
        let mut changed = false;
        for kind in Kind::ALL {
            changed |= search.with_kind(kind);
        }
        if !changed || search.is_over() {
            break;
        }
    }
    Reduced { stopped: search.is_over(), module: search.best, tests: search.tests }
}

struct Search<'s> {
    best: Body,
    tests: usize,
    most: usize,
    holds: &'s mut dyn FnMut(&Body) -> bool,
}

impl Search<'_> {
    fn is_over(&self) -> bool {
        self.tests >= self.most
    }

    /// Tries the edits of a kind, many at once first. True if some were kept.
    fn with_kind(&mut self, kind: Kind) -> bool {
        let mut kept = false;
        let mut size = self.sites(kind);
        while size > 0 && !self.is_over() {
            // From the end: what uses a value goes before the value.
            let mut end = self.sites(kind);
            while end > 0 && !self.is_over() {
                let start = end.saturating_sub(size);
                kept |= self.try_edits(kind, start..end);
                end = start.min(self.sites(kind));
            }
            size /= 2;
        }
        kept
    }

    fn sites(&mut self, kind: Kind) -> usize {
        edits::edit(&mut self.best, kind, 0..0).sites
    }

    /// Tries the edits of some sites together. True if they were kept.
    fn try_edits(&mut self, kind: Kind, sites: std::ops::Range<usize>) -> bool {
        let mut candidate = self.best.duplicate();
        if edits::edit(&mut candidate, kind, sites).changed == 0 {
            return false;
        }
        if verifier::verify(&candidate).has_errors() {
            return false;
        }
        self.tests += 1;
        let holds = (self.holds)(&candidate);
        if holds {
            self.best = candidate;
        }
        holds
    }
}
