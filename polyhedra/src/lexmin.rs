//! Parametric integer programming: the lexicographically least point as a function of parameters.
//!
//! The unknowns are minimised in order, for all values of the parameters at once. A tableau whose
//! right-hand sides are affine in the parameters is pivoted by the lexicographic dual simplex
//! method. Where the sign of a right-hand side depends on the parameters, the parameter space is
//! split; where the minimum is not an integer, a cut is added, whose right-hand side may need a new
//! parameter `⌊f(p)/d⌋` (Feautrier). The result is a list of disjoint pieces of parameter space
//! with an affine minimum on each, and a list of the parts that have no point.

mod context;
mod node;
mod root;

use crate::limits::{Budget, Exact};
use crate::rows::System;
use crate::scalar::Scalar;
use context::Context;
use node::{Node, Outcome};

/// A question about all values of the parameters at once.
#[derive(Clone, Debug)]
pub(crate) struct Parametric<T> {
    /// Constraints that the parameters are known to meet.
    pub(crate) context: System<T>,
    /// Constraints over the parameters and then the unknowns.
    pub(crate) system: System<T>,
    /// The first unknowns whose minimum is asked for; of the others only that they exist.
    pub(crate) wanted: usize,
}

impl<T: Scalar> Parametric<T> {
    /// The problem of constraints over `params` parameters and then unknowns: those on parameters
    /// alone are known to hold, so that values which violate them are in no part of the answer.
    pub(crate) fn within(system: System<T>, params: usize, wanted: usize) -> Parametric<T> {
        let mut problem =
            Parametric { context: System::new(params), system: System::new(system.vars()), wanted };
        let System { eqs, ins } = &mut problem.system;
        for (from, known, other) in
            [(&system.eqs, &mut problem.context.eqs, eqs), (&system.ins, &mut problem.context.ins, ins)]
        {
            for row in from.iter() {
                if row[params + 1..].iter().all(T::is_zero) {
                    known.push(&row[..=params]);
                } else {
                    other.push(row);
                }
            }
        }
        problem
    }
}

/// A piece of parameter space and the minimum on it.
#[derive(Clone, Debug)]
pub(crate) struct Piece<T> {
    /// Constraints over the parameters and the new ones, in which each new one is determined.
    pub(crate) context: System<T>,
    pub(crate) minimum: Minimum<T>,
}

/// For each wanted unknown the row `r` and `d` with `d · unknown = r(parameters)`; `None` if it is
/// unbounded below.
pub(crate) type Minimum<T> = Vec<Option<(Vec<T>, T)>>;

/// The answer: disjoint parts of the context, together all of it.
#[derive(Clone, Debug)]
pub(crate) struct Parts<T> {
    /// Where there is a point, by pieces on which the minimum is affine.
    pub(crate) pieces: Vec<Piece<T>>,
    /// Where there is none.
    pub(crate) empty: Vec<System<T>>,
}

/// The lexicographic minimum of the unknowns of `problem`; one point of its context must be known.
pub(crate) fn lexmin<T: Scalar>(problem: Parametric<T>, point: &[T], budget: &mut Budget) -> Exact<Parts<T>> {
    let (mut found, mut empty) = (Vec::new(), Vec::new());
    let mut work = vec![Work::Node(Node::root(problem, point, budget)?)];
    while let Some(next) = work.pop() {
        match next {
            Work::Node(mut node) => match node.run(&mut empty, budget)? {
                Outcome::Split(row) => {
                    work.push(Work::Join {
                        context: Box::new(node.context.clone()),
                        whole: node.whole,
                        first: found.len(),
                    });
                    let [node, other] = node.split(&row, budget)?;
                    work.push(Work::Node(other));
                    work.push(Work::Node(node));
                }
                Outcome::Infeasible => empty.push(node.context.into_stated(budget)?),
                Outcome::Optimum => {
                    found.push(Found { minimum: node.minimum(), whole: node.whole, context: node.context })
                }
            },
            Work::Join { context, whole, first } => join(&mut found, first, *context, whole, budget)?,
        }
    }
    let mut pieces = Vec::with_capacity(found.len());
    for Found { context, minimum, .. } in found {
        pieces.push(Piece { context: context.into_stated(budget)?, minimum });
    }
    Ok(Parts { pieces, empty })
}

/// A step that is left to do, on a stack that walks the tree of splits in depth.
enum Work<T> {
    Node(Box<Node<T>>),
    /// The pieces from `first` on are those of a part that was split.
    Join {
        context: Box<Context<T>>,
        whole: bool,
        first: usize,
    },
}

/// A piece while the search goes on.
struct Found<T> {
    context: Context<T>,
    minimum: Minimum<T>,
    /// True if the context is all of the part of parameter space that the last split left to it.
    whole: bool,
}

/// Makes the two halves of a split one piece again if both have the same minimum throughout: the
/// split was needed on the way or for unwanted unknowns only.
fn join<T: Scalar>(
    found: &mut Vec<Found<T>>,
    first: usize,
    context: Context<T>,
    whole: bool,
    budget: &mut Budget,
) -> Exact<()> {
    if let [left, right] = &found[first..]
        && left.whole
        && right.whole
        && let Some(minimum) = common_minimum(left, right, context.params(), budget)?
    {
        found.truncate(first);
        found.push(Found { context, minimum, whole });
    } else {
        for piece in &mut found[first..] {
            piece.whole = false;
        }
    }
    Ok(())
}

/// The minimum on both, if it is one function of the first `params` parameters.
fn common_minimum<T: Scalar>(
    left: &Found<T>,
    right: &Found<T>,
    params: usize,
    budget: &mut Budget,
) -> Exact<Option<Minimum<T>>> {
    let mut common = Vec::with_capacity(left.minimum.len());
    for pair in left.minimum.iter().zip(&right.minimum) {
        let (Some(a), Some(b)) = pair else {
            if pair.0.is_some() || pair.1.is_some() {
                return Ok(None);
            }
            common.push(None);
            continue;
        };
        let mut both = None;
        for ((value, d), other, place) in [(a, b, right), (b, a, left)] {
            if value[1 + params..].iter().all(T::is_zero)
                && place.context.is_same((value, d), other, budget)?
            {
                both = Some((value[..=params].to_vec(), d.clone()));
                break;
            }
        }
        let Some(both) = both else { return Ok(None) };
        common.push(Some(both));
    }
    Ok(Some(common))
}
