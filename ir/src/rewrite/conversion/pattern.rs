//! Patterns of conversions, and tables of them.

use super::rewriter::{ConversionRewriter, NoMatch, Operands};
use crate::entity::Op;
use crate::opdef::OpDef;
use crate::rewrite::Ranked;

/// The conversion of one kind of operation.
pub trait ConversionPattern: Send + Sync {
    /// Converts `op`, whose operands with converted types are `operands`.
    ///
    /// A pattern that matches replaces, erases or [updates](ConversionRewriter::update) `op`.
    ///
    /// # Errors
    /// The reason why the pattern does not match. Nothing may have been changed then.
    fn convert(
        &self,
        rewriter: &mut ConversionRewriter<'_>,
        op: Op,
        operands: &Operands,
    ) -> Result<(), NoMatch>;

    /// Returns the name for diagnostics.
    fn name(&self) -> &str {
        "unnamed"
    }

    /// Returns the definition of the operations that it converts, or `None` for any operation.
    fn root(&self) -> Option<&'static OpDef> {
        None
    }

    /// Returns the benefit. Of two patterns for one operation, the one with the larger benefit is
    /// tried first.
    fn benefit(&self) -> u16 {
        1
    }
}

impl Ranked for dyn ConversionPattern + '_ {
    fn ranked_root(&self) -> Option<&'static OpDef> {
        self.root()
    }

    fn ranked_benefit(&self) -> u16 {
        self.benefit()
    }
}

/// A pattern without state, as data. [`conversion!`](crate::conversion!) makes tables of them.
#[derive(Clone, Copy, Debug)]
pub struct ConversionRule {
    /// Its name.
    pub name: &'static str,
    /// Its documentation, in Markdown.
    pub doc: &'static str,
    /// The operations that it converts.
    pub root: &'static OpDef,
    /// Its [benefit](ConversionPattern::benefit).
    pub benefit: u16,
    /// Converts an operation, or returns the reason why it does not match.
    pub apply: fn(&mut ConversionRewriter<'_>, Op, &Operands) -> Result<(), NoMatch>,
}

impl ConversionPattern for ConversionRule {
    fn convert(
        &self,
        rewriter: &mut ConversionRewriter<'_>,
        op: Op,
        operands: &Operands,
    ) -> Result<(), NoMatch> {
        (self.apply)(rewriter, op, operands)
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

/// Writes a table of conversion patterns.
///
/// Each pattern has a doc comment, a name, the operation that it converts, and a function of the
/// [`ConversionRewriter`], the operation and its converted [`Operands`]. A number behind the
/// operation is the benefit, if it is not 1.
///
/// ```
/// use loomir_ir::{conversion, dialect, OperationState};
///
/// dialect! {
///     /// Toy arithmetic.
///     pub TOY = "toy" {}
///
///     /// Negation.
///     NegOp = "neg" {
///         operands { x: One Any }
///         results { y: One SameAs("x") }
///     }
/// }
///
/// conversion! {
///     /// From `toy` to `other`.
///     pub TO_OTHER;
///
///     /// A negation is one in the other dialect, on the converted type.
///     neg: NegOp = |rewriter, op, operands| {
///         let x = operands.one(0)?;
///         let ty = rewriter.body().value_type(x);
///         let state = OperationState::new(&rewriter.ctx(), "other.neg", rewriter.body().loc(op));
///         rewriter.replace_with(op, state.operands(&[x]).results(&[ty]));
///         Ok(())
///     };
/// }
///
/// assert_eq!(TO_OTHER[0].name, "neg");
/// ```
#[macro_export]
macro_rules! conversion {
    (
        $(#[doc = $doc:literal])*
        $vis:vis $table:ident;
        $(
            $(#[doc = $pdoc:literal])*
            $name:ident : $root:path $([$benefit:literal])? = $apply:expr;
        )*
    ) => {
        $(#[doc = $doc])*
        $vis static $table: &[$crate::rewrite::ConversionRule] = {
            &[$($crate::rewrite::ConversionRule {
                name: stringify!($name),
                doc: concat!($($pdoc, "\n",)* ""),
                root: <$root>::DEF,
                benefit: $crate::rewrite_benefit!($($benefit)?),
                apply: $apply,
            }),*]
        };
    };
}
