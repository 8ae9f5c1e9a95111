//! Parametric integer programming: the lexicographically least point as a function of parameters.
//!
//! The unknowns are minimised in order, for all values of the parameters at once. A tableau whose right-hand sides
//! are affine in the parameters is pivoted by the lexicographic dual simplex method. Where the sign of a right-hand
//! side depends on the parameters, the parameter space is split; where the minimum is not an integer, a cut is added,
//! whose right-hand side may need a new parameter `⌊f(p)/d⌋` (Feautrier). The result is a list of disjoint pieces of
//! parameter space with an affine minimum on each; parameter values without a point are in no piece.

mod context;
mod node;
mod root;

use crate::limits::{Budget, Exact};
use crate::rows::System;
use crate::scalar::Scalar;
use node::{Node, Outcome};

/// Constraints over parameters and then unknowns.
#[derive(Clone, Debug)]
pub(crate) struct Parametric<T> {
    pub(crate) params: usize,
    /// The first unknowns whose minimum is asked for; of the others only that they exist.
    pub(crate) wanted: usize,
    pub(crate) system: System<T>,
}

/// A piece of parameter space and the minimum on it.
#[derive(Clone, Debug)]
pub(crate) struct Piece<T> {
    /// Constraints over the parameters and the new ones, in which each new one is determined.
    pub(crate) context: System<T>,
    /// For each wanted unknown the row `r` and `d` with `d · unknown = r(parameters)`; `None` if it is unbounded below.
    pub(crate) minimum: Vec<Option<(Vec<T>, T)>>,
    /// Whether the context is all of the part of parameter space that the last split left to it.
    whole: bool,
}

/// The lexicographic minimum of the unknowns of `problem`, by disjoint pieces of parameter space.
pub(crate) fn lexmin<T: Scalar>(problem: Parametric<T>, budget: &mut Budget) -> Exact<Vec<Piece<T>>> {
    let mut pieces: Vec<Piece<T>> = Vec::new();
    let mut work: Vec<Work<T>> = Vec::new();
    work.extend(Node::root(problem, budget)?.map(Work::Node));
    while let Some(next) = work.pop() {
        match next {
            Work::Node(mut node) => match node.run(budget)? {
                Outcome::Split(row) => {
                    work.push(Work::Join {
                        context: node.context.stated().clone(),
                        whole: node.whole,
                        first: pieces.len(),
                    });
                    let [node, other] = node.split(&row, budget)?;
                    work.push(Work::Node(other));
                    work.push(Work::Node(node));
                }
                Outcome::Infeasible => {}
                Outcome::Optimum => pieces.push(node.piece(budget)?),
            },
            Work::Join { context, whole, first } => join(&mut pieces, first, context, whole),
        }
    }
    Ok(pieces)
}

/// What is left to do, a stack that walks the tree of splits in depth.
enum Work<T> {
    Node(Box<Node<T>>),
    /// The pieces from `first` on are those of a part that was split.
    Join {
        context: System<T>,
        whole: bool,
        first: usize,
    },
}

/// Makes the two halves of a split one piece again if both have the same minimum throughout: the split was needed on
/// the way or for unwanted unknowns only.
fn join<T: Scalar>(pieces: &mut Vec<Piece<T>>, first: usize, context: System<T>, whole: bool) {
    if let [left, right] = &pieces[first..]
        && left.whole
        && right.whole
        && same_minimum(left, right, context.vars())
    {
        pieces.truncate(first + 1);
        let params = context.ins.width();
        for (row, _) in pieces[first].minimum.iter_mut().flatten() {
            row.truncate(params);
        }
        pieces[first] = Piece { context, minimum: std::mem::take(&mut pieces[first].minimum), whole };
    } else {
        for piece in &mut pieces[first..] {
            piece.whole = false;
        }
    }
}

/// Whether two minima are one function of the first `params` parameters.
fn same_minimum<T: Scalar>(left: &Piece<T>, right: &Piece<T>, params: usize) -> bool {
    let over = |row: &[T]| row[1 + params..].iter().all(T::is_zero);
    left.minimum.iter().zip(&right.minimum).all(|(left, right)| match (left, right) {
        (Some((left, d)), Some((right, e))) => {
            d == e && over(left) && over(right) && left[..=params] == right[..=params]
        }
        (left, right) => left.is_none() && right.is_none(),
    })
}

