//! Dialect conversion: replaces operations and types that a target does not have.
//!
//! A [`ConversionTarget`] says which operations are legal. A [`TypeConverter`] says what becomes of
//! types. A [`ConversionPattern`] replaces one operation, given its operands with converted types;
//! [`conversion!`](crate::conversion!) writes a table of them, and [`Retype`] is the pattern for
//! operations of which only the types change: functions, calls, branches, loops.
//!
//! | function | operations that are neither legal nor illegal |
//! | --- | --- |
//! | [`apply_full_conversion`] | must be converted |
//! | [`apply_partial_conversion`] | may stay |
//!
//! **Order.** Operations are visited in the order of the text, an operation before its regions. An
//! operation that a pattern makes is visited next. Of the patterns for an operation the most
//! beneficial is tried first, and the first that matches is kept.
//!
//! **Values.** A value may become one value of another type, several, or none. Where converted and
//! unconverted operations meet, a cast stands in (`builtin.unrealized_conversion_cast`). Casts back
//! and forth cancel at the end. A cast that remains is made by the materialisations of the type
//! converter, or the conversion fails.
//!
//! **Failure.** The body is then as it was before. Each diagnostic names an operation that stayed,
//! the patterns that were tried, and the reason each gave.
//!
//! **Bodies.** A conversion covers the bodies inside a body, and the operations that own them. Such
//! an operation can be changed in place, given another name or erased. It cannot be replaced.
//!
//! **Cost.** Linear in the program and in the operations that patterns make, at most 64 visits for
//! each operation of the program. A copy of the program is kept until the conversion has succeeded.
//! Patterns are not undone one by one: of two patterns that match, the second is never tried.

use hashbrown::{HashMap, HashSet};

use super::{Limits, PatternSet, defect};
use crate::body::Body;
use crate::diagnostics::{Diagnostic, Diagnostics};
use crate::entity::Op;

mod casts;
mod pattern;
mod retype;
mod rewriter;
mod target;
mod types;

pub use casts::reconcile_casts;
pub use pattern::{ConversionPattern, ConversionRule};
pub use retype::Retype;
pub use rewriter::{ConversionRewriter, NoMatch, Operands};
pub use target::{ConversionTarget, Legality};
pub use types::TypeConverter;

/// The number of times that a body is searched for operations that became illegal after their
/// visit.
const ROUNDS: usize = 4;

/// The work that a conversion did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConversionReport {
    /// Patterns applied.
    pub converted: usize,
    /// Casts between converted and unconverted values that were materialised.
    pub materialized: usize,
}

/// Converts illegal operations of a body, and all others that a pattern matches. Operations of
/// which the target says nothing may stay.
///
/// # Errors
/// An illegal operation that no pattern converts, a cast that nothing materialises, or a defect of
/// a pattern. The body is then unchanged.
pub fn apply_partial_conversion(
    body: &mut Body,
    target: &ConversionTarget<'_>,
    types: &TypeConverter<'_>,
    patterns: &[&dyn ConversionPattern],
) -> Result<ConversionReport, Diagnostics> {
    apply(body, Conversion { target, types, patterns: PatternSet::new(patterns), is_full: false })
}

/// Converts all operations of a body that are not legal, its root included.
///
/// # Errors
/// As for [`apply_partial_conversion`], and if an operation stays of which the target says nothing.
/// The body is then unchanged.
pub fn apply_full_conversion(
    body: &mut Body,
    target: &ConversionTarget<'_>,
    types: &TypeConverter<'_>,
    patterns: &[&dyn ConversionPattern],
) -> Result<ConversionReport, Diagnostics> {
    apply(body, Conversion { target, types, patterns: PatternSet::new(patterns), is_full: true })
}

/// A conversion to be applied.
struct Conversion<'c> {
    target: &'c ConversionTarget<'c>,
    types: &'c TypeConverter<'c>,
    patterns: PatternSet<'c, dyn ConversionPattern + 'c>,
    is_full: bool,
}

fn apply(body: &mut Body, conversion: Conversion<'_>) -> Result<ConversionReport, Diagnostics> {
    let before = body.snapshot();
    let mut run = Run {
        conversion: &conversion,
        report: ConversionReport::default(),
        errors: Diagnostics::new(),
        kept: HashSet::new(),
        erased: HashSet::new(),
        applied: HashMap::new(),
    };
    body.for_each_body(&mut |body| run.convert_body(body));
    if run.errors.has_errors() {
        *body = before;
        return Err(run.errors);
    }
    if run.erased.contains(&body.arena_number()) {
        let loc = before.loc(before.root());
        *body = before;
        return Err(Diagnostic::error(loc, "a pattern erased the operation under conversion").into());
    }
    body.for_each_body(&mut |body| {
        body.refresh_slots();
        let slots: Vec<Op> = body.all_ops().filter(|op| body.nested(*op).is_some()).collect();
        for slot in slots {
            if body.nested(slot).is_some_and(|own| run.erased.contains(&own.arena_number())) {
                body.erase(slot);
            }
        }
    });
    Ok(run.report)
}

/// One run of a conversion over a body and the bodies inside it.
struct Run<'r> {
    conversion: &'r Conversion<'r>,
    report: ConversionReport,
    errors: Diagnostics,
    /// The bodies inside operations that are legal with all they hold, by number.
    kept: HashSet<u32>,
    /// The bodies whose root was erased, by number.
    erased: HashSet<u32>,
    /// The number of applications of each pattern.
    applied: HashMap<String, usize>,
}

impl Run<'_> {
    /// Converts one body, without the bodies nested in it.
    fn convert_body(&mut self, body: &mut Body) {
        let number = body.arena_number();
        if self.kept.contains(&number) || self.erased.contains(&number) {
            let inside = body.nested_in_order();
            let set = if self.kept.contains(&number) { &mut self.kept } else { &mut self.erased };
            set.extend(inside.iter().map(|own| own.arena_number()));
            return;
        }
        let ops: Vec<Op> = body.preorder(body.root()).collect();
        let mut budget = ops.len().saturating_add(16).saturating_mul(Limits::default().visits_per_op);
        let mut rewriter = ConversionRewriter::new(body, self.conversion.types);
        rewriter.visit_all(ops);
        for round in 0.. {
            if !self.drain(&mut rewriter, &mut budget) {
                return;
            }
            if rewriter.is_root_erased() {
                self.erased.insert(number);
                let inside = rewriter.into_body().nested_in_order();
                self.erased.extend(inside.iter().map(|own| own.arena_number()));
                return;
            }
            let left = self.illegal_ops(&rewriter);
            if left.is_empty() {
                break;
            }
            if round == ROUNDS {
                let loc = rewriter.body().loc(left[0]);
                let name = rewriter.body().op_ref(left[0]).name();
                let text = format!("'{name}' becomes illegal again after it was converted");
                return self.errors.push(Diagnostic::error(loc, text));
            }
            rewriter.visit_all(left);
        }
        match rewriter.finish() {
            Ok(materialized) => self.report.materialized += materialized,
            Err(errors) => self.errors.append(errors),
        }
    }

    /// Visits all queued operations. False if a body cannot be converted.
    fn drain(&mut self, rewriter: &mut ConversionRewriter<'_>, budget: &mut usize) -> bool {
        let errors = self.errors.len();
        while !rewriter.is_root_erased()
            && let Some(op) = rewriter.pop()
        {
            let Some(left) = budget.checked_sub(1) else {
                self.errors.push(self.limit_reached(rewriter.body(), op));
                return false;
            };
            *budget = left;
            if let Err(defect) = self.visit(rewriter, op) {
                self.errors.push(defect);
                return false;
            }
        }
        self.errors.len() == errors
    }

    /// Returns the operations that have to be converted still.
    fn illegal_ops(&self, rewriter: &ConversionRewriter<'_>) -> Vec<Op> {
        let body = rewriter.body();
        let mut left = Vec::new();
        let mut inside_legal = 0;
        for op in body.preorder(body.root()) {
            if inside_legal > 0 {
                inside_legal -= 1;
                continue;
            }
            if rewriter.is_cast(op) || body.nested(op).is_some() {
                continue;
            }
            match self.conversion.target.legality(body.op_ref(op)) {
                Legality::RecursivelyLegal => inside_legal = body.preorder(op).count() - 1,
                Legality::Illegal => left.push(op),
                Legality::Unknown if self.conversion.is_full => left.push(op),
                Legality::Legal | Legality::Unknown => {}
            }
        }
        left
    }

    /// Converts one operation if it is not legal. The error is a defect of a pattern.
    fn visit(&mut self, rewriter: &mut ConversionRewriter<'_>, op: Op) -> Result<(), Diagnostic> {
        // An operation that owns a body is visited as the root of that body.
        if rewriter.body().nested(op).is_some() {
            return Ok(());
        }
        let legality = self.conversion.target.legality(rewriter.body().op_ref(op));
        match legality {
            Legality::Legal => return Ok(()),
            Legality::RecursivelyLegal => {
                rewriter.leave_inside(op);
                let body = rewriter.body();
                let inside = body.preorder(op).filter_map(|op| body.nested(op));
                self.kept.extend(inside.map(Body::arena_number));
                return Ok(());
            }
            Legality::Illegal | Legality::Unknown => {}
        }
        let mut tried = Vec::new();
        if self.apply_patterns(rewriter, op, &mut tried)? {
            self.report.converted += 1;
        } else if legality == Legality::Illegal || self.conversion.is_full {
            self.errors.push(stayed(rewriter.body(), op, legality, &tried));
        }
        Ok(())
    }

    /// Applies the first pattern that matches. Returns false if there is none, with the reasons.
    fn apply_patterns(
        &mut self,
        rewriter: &mut ConversionRewriter<'_>,
        op: Op,
        tried: &mut Vec<(String, String)>,
    ) -> Result<bool, Diagnostic> {
        let patterns: Vec<_> = self.conversion.patterns.for_op(rewriter.body(), op).collect();
        if patterns.is_empty() {
            return Ok(false);
        }
        let operands = match rewriter.remap_operands(op) {
            Ok(operands) => operands,
            Err(why) => {
                tried.extend(patterns.iter().map(|own| (own.name().to_owned(), why.to_string())));
                return Ok(false);
            }
        };
        // The operation may be gone when its location is needed.
        let loc = rewriter.body().loc(op);
        for pattern in patterns {
            rewriter.begin(op);
            let result = pattern.convert(rewriter, op, &operands);
            let what = match (rewriter.take_defect(), &result) {
                (Some(what), _) => Some(what),
                (None, Ok(())) if !rewriter.was_converted() => {
                    Some("matched, but neither replaced nor changed the operation".to_owned())
                }
                (None, Err(_)) if rewriter.has_changed() => {
                    Some("changed the program, and then did not match".to_owned())
                }
                _ => None,
            };
            if let Some(what) = what {
                return Err(defect(loc, pattern.name(), None, &what));
            }
            match result {
                Ok(()) => {
                    *self.applied.entry_ref(pattern.name()).or_default() += 1;
                    return Ok(true);
                }
                Err(why) => tried.push((pattern.name().to_owned(), why.to_string())),
            }
        }
        Ok(false)
    }

    fn limit_reached(&self, body: &Body, op: Op) -> Diagnostic {
        let name = body.op_ref(op).name();
        let loc = body.loc(op);
        let error = Diagnostic::error(loc, format!("the conversion does not end; it is at '{name}'"));
        let busiest = self.applied.iter().max_by(|a, b| (a.1, b.0).cmp(&(b.1, a.0)));
        let Some((pattern, times)) = busiest else { return error };
        error
            .note(loc, format!("pattern '{pattern}' was applied {times} times"))
            .help("no pattern may make an operation that leads back to the one it converts")
    }
}

/// Returns the diagnostic for an operation that no pattern converts.
fn stayed(body: &Body, op: Op, legality: Legality, tried: &[(String, String)]) -> Diagnostic {
    let (name, loc) = (body.op_ref(op).name(), body.loc(op));
    let why = match legality {
        Legality::Illegal => "the target says it is illegal",
        _ => "a full conversion has to convert it",
    };
    let mut error = Diagnostic::error(loc, format!("failed to legalize '{name}': {why}"));
    for (pattern, why) in tried {
        error = error.note(loc, format!("pattern '{pattern}' was tried: {why}"));
    }
    if tried.is_empty() {
        error = error.note(loc, format!("there is no pattern for '{name}'"));
    }
    error.help(format!("add a pattern that converts this '{name}', or make it legal in the target"))
}
