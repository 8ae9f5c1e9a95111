//! Weights of the branches that unrolling makes, from those of the latch.
//!
//! A loop whose latch goes back with probability `p` runs `n` more iterations with probability
//! `pⁿ`. So do the branches of a loop that is unrolled `n` times:
//!
//! | branch | probability |
//! | --- | --- |
//! | the unrolled loop goes back | `pⁿ` |
//! | there are fewer than `n` iterations | `1 - pⁿ⁻¹` |
//! | iterations are left over | `(1 + … + pⁿ⁻²) / (1 + … + pⁿ⁻¹)` |
//! | the remainder goes back | `(n - 2) / n`: half of `n` iterations, on average |
//!
//! Peeled iterations keep their weights: each goes on with the same probability. Without weights at
//! the latch, no branch gets any.

use loomir_dialects::llvm;
use loomir_ir::{Block, Body, Op, Type};

use super::shape::{Shape, edge_to};

/// The attribute.
const WEIGHTS: &str = "branch_weights";
/// The sum of two weights.
const WHOLE: f64 = 2_147_483_648.0;

/// The probability that a loop goes on at its latch.
#[derive(Clone, Copy, Debug)]
pub(in crate::cfg) struct Odds(f64);

impl Odds {
    /// Reads the weights at the latch of a loop. `None` without weights.
    pub(in crate::cfg) fn of(function: &Body, shape: &Shape) -> Option<Odds> {
        let (branch, back) = shape.backedge(function).filter(|_| shape.is_rotated())?;
        if !function.is(branch, llvm::CondBrOp::DEF) {
            return None;
        }
        let weights = function.attr(branch, WEIGHTS)?.as_dense_ints(function.ctx())?;
        let [a, b] = weights[..] else { return None };
        let [a, b] = [a, b].map(|weight| f64::from(weight as u32));
        let stays = if back == 0 { a } else { b };
        (a + b > 0.0).then(|| Odds(stays / (a + b)))
    }

    /// Sets the weights at the latch of the loop with this header, unrolled `count` times.
    pub(in crate::cfg) fn at_latch(self, function: &mut Body, (latch, header): (Block, Block), count: u64) {
        if let Some((branch, back)) = edge_to(function, latch, header) {
            set(function, branch, back, power(self.0, count));
        }
    }

    /// Returns the probability that one of two nested loops goes on: this one, or the one inside.
    pub(in crate::cfg) fn or(self, inner: Odds) -> Odds {
        Odds(1.0 - (1.0 - self.0) * (1.0 - inner.0))
    }

    /// Sets the weights at the tests of an unrolled loop and its remainder: the block that tests
    /// for few iterations, and the one that tests for iterations left over. The first edges of both
    /// are taken if there are such.
    pub(super) fn at_tests(self, function: &mut Body, [few, left]: [Block; 2], count: u64) {
        let before = geometric(self.0, count - 1);
        let rest = before / (before + power(self.0, count - 1));
        for (block, probability) in [(few, 1.0 - power(self.0, count - 1)), (left, rest)] {
            if let Some(branch) = function.terminator(block) {
                set(function, branch, 0, probability);
            }
        }
    }

    /// Sets the weights at the latch of the remainder.
    pub(super) fn at_remainder(self, function: &mut Body, (latch, header): (Block, Block), count: u64) {
        if let Some((branch, back)) = edge_to(function, latch, header) {
            set(function, branch, back, (count.saturating_sub(2)) as f64 / count as f64);
        }
    }
}

/// Sets the weights of a conditional branch by the probability of one of its edges.
fn set(function: &mut Body, branch: Op, edge: usize, probability: f64) {
    if !function.is(branch, llvm::CondBrOp::DEF) {
        return;
    }
    let taken = (probability.clamp(0.0, 1.0) * WHOLE).round();
    let both = if edge == 0 { [taken, WHOLE - taken] } else { [WHOLE - taken, taken] };
    let ctx = function.ctx().clone();
    let weights = both.map(|weight| i64::from((weight as u32).cast_signed()));
    function.set_attr(branch, WEIGHTS, ctx.dense_ints_attr(Type::I32, &weights));
}

/// Returns a power, the same on every machine.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result *= base;
        }
        base *= base;
        exponent /= 2;
    }
    result
}

/// Returns `1 + p + … + pⁿ⁻¹`.
fn geometric(p: f64, count: u64) -> f64 {
    if p < 1.0 { (1.0 - power(p, count)) / (1.0 - p) } else { count as f64 }
}
