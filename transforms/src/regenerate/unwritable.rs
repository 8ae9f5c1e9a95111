//! The reasons why a loop of a tree cannot be written as IR.

use loomir_ir::{Diagnostic, Op};

use crate::remark::Remarks;

/// A loop that cannot be written, and the reason.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unwritable {
    /// The loop of the program that gives the new loop its form.
    pub op: Op,
    /// The first reason found.
    pub reason: Reason,
}

/// A reason why a loop cannot be written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Reason {
    /// Only a part of it would run, or it would run in another order, but its trip count is not
    /// affine.
    NotCounted,
    /// The value of an induction variable is no affine form over the new loops, or its numbers
    /// leave 64 bits.
    NotAffine,
    /// The loop fuses loops of different operations whose trip count is not affine.
    TwoKinds,
    /// An operand of an `affine` operation would be neither a dimension nor a symbol.
    NoOperand,
    /// A bound may be beyond 64 bits, and an `affine` map may not compute that.
    BoundMayWrap,
    /// The loop may run where the program did not reach it, and a bound may be poison there.
    BoundMayBePoison,
    /// The induction variable plus the step may leave the type of the variable.
    StepMayWrap,
    /// The first value may be below the least number of its type. Clamping would change the other
    /// values.
    StartMayWrap,
    /// A bound may be beyond 128 bits, or the induction variable has more than 64 bits.
    TooWide,
}

impl Unwritable {
    /// Returns the remark about a block that stays unchanged. `then` names the change, such as
    /// "fused".
    pub(crate) fn remark(self, remarks: Remarks<'_>, then: &str) -> Diagnostic {
        let text = format!("The loop was not {then}: {}", self.reason.text());
        remarks.left("NotWritten", remarks.body.loc(self.op), &text)
    }
}

impl Reason {
    /// All reasons.
    pub const ALL: [Reason; 9] = [
        Reason::NotCounted,
        Reason::NotAffine,
        Reason::TwoKinds,
        Reason::NoOperand,
        Reason::BoundMayWrap,
        Reason::BoundMayBePoison,
        Reason::StepMayWrap,
        Reason::StartMayWrap,
        Reason::TooWide,
    ];

    /// Returns the reason as a clause whose subject "it" is the loop.
    pub fn text(self) -> &'static str {
        match self {
            Reason::NotCounted => "its trip count is not known before it",
            Reason::NotAffine => "its values are no affine function of the new variables",
            Reason::TwoKinds => "it would be made of two kinds of loops",
            Reason::NoOperand => "its affine operations would use a value that is no dimension or symbol",
            Reason::BoundMayWrap => "a new bound may overflow in an affine map",
            Reason::BoundMayBePoison => "a bound may be poison where it was not reached before",
            Reason::StepMayWrap => "its last value plus the new step may overflow",
            Reason::StartMayWrap => "its first value may overflow",
            Reason::TooWide => "its new bounds may not fit in 128 bits",
        }
    }
}
