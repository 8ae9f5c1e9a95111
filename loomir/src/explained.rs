//! The loops of functions of the `llvm` dialect that do not count, and the accesses in counted
//! loops that are not affine, with the reasons.

use hashbrown::HashSet;
use loomir_ir::diagnostics::{Remark, RemarkKind};
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc};
use loomir_transforms::access::{Analyses, IsAffine, NotAffine};
use loomir_transforms::inventory;

use crate::{FuseReport, GoneLoop, Raised, UncountedLoop};

/// The results of [`explain`](crate::explain).
#[derive(Debug, Default)]
pub struct Explained {
    /// The report of fusion.
    pub fusion: FuseReport,
    /// The functions of the `llvm` dialect.
    pub raised: Raised,
    /// The accesses through pointers in counted loops, loop by loop.
    pub accesses: Accesses,
}

impl Explained {
    /// Returns a remark for each loop that does not count, and one for each loop that counts but
    /// has accesses that are not affine.
    pub fn remarks(&self) -> Diagnostics {
        let mut all = Diagnostics::new();
        for UncountedLoop { function, place, why } in &self.raised.uncounted {
            let text = format!("Loop not counted [{}]: {}", why.name(), why.reason());
            all.push(remark(function, why.name(), *place, &text));
        }
        for LoopAccesses { function, place, affine, others, .. } in &self.accesses.loops {
            if others.is_empty() {
                continue;
            }
            let number = affine + others.len();
            let text = format!("Accesses not affine [NotAffine]: {} of {number}", others.len());
            let remark = remark(function, "NotAffine", *place, &text);
            all.push(others.iter().fold(remark, |remark, (place, why)| remark.note(*place, why.reason())));
        }
        all
    }
}

/// Returns the remarks of fusion behind one for each loop that was gone before.
pub(crate) fn with_gone(raised: &Raised, said: Diagnostics) -> Diagnostics {
    let mut all = Diagnostics::new();
    for GoneLoop { function, place, why } in &raised.gone {
        let text = format!("Loop is not a candidate for fusion [{}]: {}", why.name(), why.reason());
        all.push(remark(function, why.name(), *place, &text));
    }
    all.append(said);
    all
}

/// The name of fusion's remark on a loop that does not count.
const UNKNOWN: &str = "UnknownTripCount";

/// Leaves out remarks of fusion on loops that do not count, which have remarks of their own.
pub(crate) fn without_uncounted(raised: &Raised, said: Diagnostics) -> Diagnostics {
    let places: HashSet<Loc> = raised.uncounted.iter().map(|own| own.place).collect();
    let is_known = |own: &Diagnostic| {
        own.remark.as_ref().is_some_and(|remark| remark.name == UNKNOWN) && places.contains(&own.loc)
    };
    let mut rest = Diagnostics::new();
    said.into_iter().filter(|own| !is_known(own)).for_each(|own| rest.push(own));
    rest
}

fn remark(function: &str, name: &'static str, place: Loc, text: &str) -> Diagnostic {
    let function = function.to_owned();
    let message = format!("[{function}]: {text}");
    let (kind, pass) = (RemarkKind::Analysis, "lift-cf-to-scf");
    Diagnostic::remark(place, message).telling(Remark { kind, pass, name, function, args: Vec::new() })
}

/// The accesses of all functions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Accesses {
    /// The loops with accesses of their own, in the order of the text.
    pub loops: Vec<LoopAccesses>,
}

/// The accesses whose innermost loop is this one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopAccesses {
    /// The name of the function.
    pub function: String,
    /// The place of the loop.
    pub place: Loc,
    /// The number of accesses that are affine classes.
    pub affine: usize,
    /// The number of these that are so only if a run-time test before the nest holds.
    pub tested: usize,
    /// The place of each other access, and the reason why it is none.
    pub others: Vec<(Loc, NotAffine)>,
}

impl Accesses {
    /// Returns the number of affine accesses that need a run-time test.
    pub fn tested(&self) -> usize {
        self.loops.iter().map(|own| own.tested).sum()
    }

    /// Returns the number of affine accesses, and the number of all.
    pub fn counts(&self) -> (usize, usize) {
        let affine = self.loops.iter().map(|own| own.affine).sum();
        let others: usize = self.loops.iter().map(|own| own.others.len()).sum();
        (affine, affine + others)
    }

    /// Adds the accesses of a function with structured control flow.
    pub(crate) fn add(&mut self, function: &Body, analyses: &Analyses) {
        let name = function.attr(function.root(), "sym_name").and_then(|name| name.as_str(function.ctx()));
        let mut last = None;
        for access in inventory::accesses(function, analyses) {
            if last.replace(access.of) != Some(access.of) {
                self.loops.push(LoopAccesses {
                    function: name.unwrap_or_default().to_owned(),
                    place: function.loc(access.of),
                    affine: 0,
                    tested: 0,
                    others: Vec::new(),
                });
            }
            let Some(own) = self.loops.last_mut() else { continue };
            match access.is_affine {
                Ok(is_affine) => {
                    own.affine += 1;
                    own.tested += usize::from(is_affine == IsAffine::Tested);
                }
                Err(why) => own.others.push((function.loc(access.op), why)),
            }
        }
    }
}
