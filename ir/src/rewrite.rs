//! Local rewriting: folds, patterns, and the drivers that apply them.
//!
//! A [`Pattern`] looks at one operation and may replace it. [`rewrite!`](crate::rewrite!) writes a
//! table of patterns, a few lines each; a dialect registers its table
//! ([`Registry::patterns`](crate::Registry::patterns)), and `canonicalize` applies the tables of
//! all dialects.
//!
//! | driver | applies patterns |
//! | --- | --- |
//! | [`Greedy`], [`apply_patterns_greedily`] | until nothing changes, with folding |
//! | [`apply_patterns_once`] | once to each operation, in the order of the text |
//! | [`apply_full_conversion`], [`apply_partial_conversion`] | to illegal operations, with types |
//!
//! The greedy driver keeps a worklist: an operation is visited again when an operand or user of it
//! changes, so the work is proportional to what changes, bounded by [`Limits`]. It also folds
//! (definitions' `fold` hooks, constants made by the dialect), keeps one copy of each constant, and
//! erases operations without effect and use.

use hashbrown::HashMap;

use crate::attributes::{Attr, AttrKind};
use crate::body::Body;
use crate::context::{Context, Registry};
use crate::diagnostics::Diagnostic;
use crate::entity::{Op, Value};
use crate::location::Loc;
use crate::opdef::{OpDef, Trait};

mod constants;
pub mod conversion;
mod fold;
mod greedy;
mod rewriter;

pub use constants::Constants;
pub use conversion::{
    ConversionPattern, ConversionReport, ConversionRewriter, ConversionRule, ConversionTarget, Legality,
    NoMatch, Operands, Retype, TypeConverter, apply_full_conversion, apply_partial_conversion,
    reconcile_casts,
};
pub use greedy::{Greedy, Limits, Report, apply_patterns_greedily, apply_patterns_once};
pub use rewriter::{Listener, Rewriter};

/// A rewrite of one kind of operation.
pub trait Pattern: Send + Sync {
    /// Rewrites `op` if it matches. Returns true if it did.
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> bool;

    /// Returns the name for diagnostics and statistics.
    fn name(&self) -> &str {
        "unnamed"
    }

    /// Returns the definition of the operations that it rewrites, or `None` for any operation.
    fn root(&self) -> Option<&'static OpDef> {
        None
    }

    /// Returns the place of its definition, for diagnostics, if it stands in a file.
    fn loc(&self) -> Option<Loc> {
        None
    }

    /// Returns the benefit. Of two patterns for one operation, the one with the larger benefit is
    /// tried first.
    fn benefit(&self) -> u16 {
        1
    }
}

/// A pattern without state, as data. [`rewrite!`](crate::rewrite!) makes tables of them.
#[derive(Clone, Copy, Debug)]
pub struct Rewrite {
    /// Its name.
    pub name: &'static str,
    /// Its documentation, in Markdown.
    pub doc: &'static str,
    /// The operations that it rewrites.
    pub root: &'static OpDef,
    /// Its [benefit](Pattern::benefit).
    pub benefit: u16,
    /// Rewrites an operation if it matches, and returns true if it did.
    pub apply: fn(&mut Rewriter<'_>, Op) -> bool,
}

impl Pattern for Rewrite {
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        (self.apply)(rewriter, op)
    }

    fn name(&self) -> &str {
        self.name
    }

    fn root(&self) -> Option<&'static OpDef> {
        Some(self.root)
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }
}

impl Registry {
    /// Registers patterns that make programs simpler. The pass `canonicalize` applies them.
    pub fn patterns(&mut self, table: &'static [Rewrite]) -> &mut Self {
        self.keep_table(table);
        self
    }
}

impl Context {
    /// Returns the patterns of all dialects, in order of registration.
    pub fn patterns(&self) -> impl Iterator<Item = &'static Rewrite> {
        self.tables::<&'static [Rewrite]>().flat_map(|table| table.iter())
    }
}

/// Writes a table of patterns.
///
/// Each pattern has a doc comment, a name, the operation that it rewrites, and a function of the
/// [`Rewriter`](crate::rewrite::Rewriter) and the operation that returns true if it matched. A
/// number behind the operation is the benefit, if it is not 1.
///
/// ```
/// use loomir_ir::rewrite::{Limits, Pattern, apply_patterns_greedily};
/// use loomir_ir::{dialect, rewrite};
///
/// dialect! {
///     /// Toy arithmetic.
///     pub TOY = "toy" {}
///
///     /// Negation.
///     NegOp = "neg" {
///         operands { x: One SignlessIntegerLike }
///         results { y: One SameAs("x") }
///         traits [Pure]
///     }
/// }
///
/// rewrite! {
///     /// The patterns of `toy`.
///     pub PATTERNS;
///
///     /// The negation of a negation is the number itself.
///     neg_of_neg: NegOp = |rewriter, op| {
///         let body = rewriter.body();
///         let inner = body.defining_op(body.operand(op, 0)).and_then(|op| NegOp::cast(body, op));
///         let Some(inner) = inner else { return false };
///         let x = inner.x(body);
///         rewriter.replace(op, &[x])
///     };
/// }
///
/// assert_eq!(PATTERNS[0].name, "neg_of_neg");
/// ```
#[macro_export]
macro_rules! rewrite {
    (
        $(#[doc = $doc:literal])*
        $vis:vis $table:ident;
        $(
            $(#[doc = $pdoc:literal])*
            $name:ident : $root:path $([$benefit:literal])? = $apply:expr;
        )*
    ) => {
        $(#[doc = $doc])*
        $vis static $table: &[$crate::rewrite::Rewrite] = {
            &[$($crate::rewrite::Rewrite {
                name: stringify!($name),
                doc: concat!($($pdoc, "\n",)* ""),
                root: <$root>::DEF,
                benefit: $crate::rewrite_benefit!($($benefit)?),
                apply: $apply,
            }),*]
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! rewrite_benefit {
    () => {
        1
    };
    ($benefit:literal) => {
        $benefit
    };
}

/// True if an operation has no effect and no used result.
pub fn is_trivially_dead(body: &Body, op: Op) -> bool {
    let info = body.info(op);
    info.has_trait(Trait::Pure) && !info.has_trait(Trait::Terminator) && !body.has_used_results(op)
}

/// The constant a value is, if it is the result of a constant-like operation.
pub fn constant_of(body: &Body, value: Value) -> Option<Attr> {
    let op = body.defining_op(value)?;
    let attr = if body.has_trait(op, Trait::ConstantLike) { body.attr(op, "value")? } else { return None };
    let (ctx, ty) = (body.ctx(), body.value_type(value));
    match (attr.kind(ctx), ty.integer_width(ctx)) {
        (AttrKind::Integer { value, ty: own }, Some(width @ 1..=128)) if *own != ty => {
            let shift = 128 - width;
            Some(ctx.int_attr(ty, (*value << shift) >> shift))
        }
        _ => Some(attr),
    }
}

/// A pattern with a place in a [`PatternSet`].
trait Ranked {
    /// Returns the definition of the operations that it is for, or `None` for any operation.
    fn ranked_root(&self) -> Option<&'static OpDef>;
    /// Returns the benefit.
    fn ranked_benefit(&self) -> u16;
}

impl Ranked for dyn Pattern + '_ {
    fn ranked_root(&self) -> Option<&'static OpDef> {
        self.root()
    }

    fn ranked_benefit(&self) -> u16 {
        self.benefit()
    }
}

/// Patterns by the operation that they rewrite, most beneficial first.
struct PatternSet<'p, P: ?Sized> {
    by_root: HashMap<*const OpDef, Vec<&'p P>>,
    for_any: Vec<&'p P>,
}

impl<'p, P: Ranked + ?Sized> PatternSet<'p, P> {
    fn new(patterns: &[&'p P]) -> PatternSet<'p, P> {
        let mut set = PatternSet { by_root: HashMap::new(), for_any: Vec::new() };
        for pattern in patterns {
            match pattern.ranked_root() {
                Some(root) => set.by_root.entry(std::ptr::from_ref(root)).or_default().push(*pattern),
                None => set.for_any.push(*pattern),
            }
        }
        for list in set.by_root.values_mut().chain([&mut set.for_any]) {
            // The sort is stable: equal benefits keep the order of registration.
            list.sort_by_key(|pattern| std::cmp::Reverse(pattern.ranked_benefit()));
        }
        set
    }

    fn for_op(&self, body: &Body, op: Op) -> impl Iterator<Item = &'p P> + '_ {
        let own = body.info(op).def().and_then(|def| self.by_root.get(&std::ptr::from_ref(def)));
        own.into_iter().flatten().chain(&self.for_any).copied()
    }
}

/// Returns the diagnostic of a pattern that did something wrong at an operation. The note is at
/// the pattern, if its place is known.
fn defect(loc: Loc, pattern: &str, place: Option<Loc>, what: &str) -> Diagnostic {
    let message = format!("pattern '{pattern}' {what}");
    Diagnostic::error(loc, message).note(place.unwrap_or(loc), "this is a defect in the pattern")
}
