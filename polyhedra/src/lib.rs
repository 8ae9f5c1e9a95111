//! Exact integer sets and relations.
//!
//! A [`Conjunction`] is the set of integer solutions of affine equalities and inequalities, existential variables
//! included, so `floor`, `mod` and strides are exact. Constraints are built from numbered [`Var`]s and [`Affine`]
//! expressions, without text:
//!
//! ```
//! use loomir_polyhedra::{Conjunction, Limits, Var};
//!
//! // Do `A[2*i]` and `A[2*j + 1]` ever meet for 0 <= i, j < n?
//! let (i, j, n) = (Var(0), Var(1), Var(2));
//! let mut meet = Conjunction::new(3);
//! meet.add_ge(i, 0);
//! meet.add_lt(i, n);
//! meet.add_ge(j, 0);
//! meet.add_lt(j, n);
//! meet.add_eq(i * 2, j * 2 + 1);
//! assert!(meet.is_empty(&Limits::default()).is_empty());
//! ```
//!
//! [`Conjunction::is_empty`] answers every question exactly: `Empty`, `NonEmpty` with a point, or, only when the
//! [`Limits`] are used up, `Unknown`. Numbers of any size are allowed; nothing wraps.
#![forbid(unsafe_code)]

mod affine;
mod algebra;
mod coalesce;
mod conjunction;
mod count;
mod directions;
mod divs;
mod error;
mod gist;
mod hull;
mod int;
mod lexmin;
mod limits;
mod optimum;
mod relation;
mod rows;
mod scalar;
mod set;
mod simplify;
mod solve;
mod space;
mod svg;
mod text;
mod union;

pub use affine::{Affine, Var};
pub use conjunction::{Conjunction, Emptiness, Point};
pub use directions::{Direction, Directions, Distance};
pub use error::Error;
pub use int::Int;
pub use limits::{LimitReached, Limits};
pub use relation::{Order, Relation};
pub use set::Set;
pub use space::{Space, Tuple};
pub use text::ParseError;
