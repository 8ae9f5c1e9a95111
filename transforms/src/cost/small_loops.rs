//! Loops that LLVM unrolls completely: those with a small constant number of iterations.
//!
//! ```text
//!     for j { for k in 0..8 { z[j] += a[k] * b[k][j] } }
//! ```
//!
//! LLVM copies the inner loop eight times before it makes vectors. So the outer loop is innermost
//! for it: it computes several `j` at once, and each keeps its sum in a register. The cost model
//! looks at such loops in the same way.
//!
//! # Limits
//!
//! - LLVM counts the instructions that are left when copies are simplified. Here operations count.
//! - Loops that carry values stay loops.

use loomir_ir::Body;

use super::operation::is_counted;
use crate::affine::AffineForm;
use crate::tree::{Green, Header, Node, Program, Span, TreeStore};

/// The most operations of all copies. LLVM's threshold is 300 instructions, with those that compute
/// addresses.
const MOST: f64 = 100.0;

/// A loop that is unrolled completely.
pub(super) struct Small {
    /// The number of iterations.
    pub(super) trips: i64,
    /// The first value of its level, a form over the loops around counted outwards. `None` if that
    /// is zero.
    pub(super) first: Option<AffineForm>,
    /// The operations of all copies.
    operations: f64,
}

/// Returns how a loop is unrolled completely, if it is. Recurses once for each loop inside, up to
/// the size that is small. Linear in the operations of small loops.
pub(super) fn small(
    (ir, program, trees): (&Body, &Program, &TreeStore),
    header: &Header,
    body: Green,
) -> Option<Small> {
    if header.origins.iter().any(|own| program.loop_info(own.of).has_results()) {
        return None;
    }
    let lead = program.loop_info(header.origins.first()?.of);
    let (trips, first) = match &header.span {
        Span::Whole => {
            let space = &lead.space;
            let mut extents = space.distances()?.into_iter();
            let (extent, None) = (extents.next()?, extents.next()) else { return None };
            let trips = (extent.as_constant()? as u64).div_ceil(space.step? as u64);
            (space.is_counted() && extent.as_constant()? >= 0).then_some((trips as i64, None))?
        }
        Span::Range { scale: 1, lower, upper } => {
            let ([lower], [upper]) = (&**lower, &**upper) else { return None };
            (upper.minus(lower)?.as_constant()?, Some(lower.clone()))
        }
        Span::Range { .. } => return None,
    };
    let mut operations = 0.0;
    for item in trees.items(body) {
        operations += match trees.get(item) {
            Node::Leaf { statement, .. } => {
                let ops = program.statement(statement).ops.iter();
                let is_flat = ops.clone().all(|op| ir.own_regions(*op).next().is_none());
                is_flat.then(|| ops.filter(|op| is_counted(ir, **op)).count() as f64)?
            }
            Node::Loop { header, body } => {
                small((ir, program, trees), trees.header(header), body)?.operations
            }
            _ => return None,
        };
        if operations > MOST {
            return None;
        }
    }
    // A loop may have no operation that counts.
    let operations = operations.max(1.0) * trips as f64;
    (trips > 0 && operations <= MOST).then_some(Small { trips, first, operations })
}
