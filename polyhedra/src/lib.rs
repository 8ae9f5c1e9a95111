//! Exact integer sets and relations.
//!
//! This crate answers questions about sets of integer points that affine constraints describe: is
//! there a point at all, is one set part of another, what is the least point as a function of
//! parameters, what is left of one set without another. Answers are exact over the integers, for
//! coefficients of any size, unbounded sets included. It is the mathematics under the dependence
//! tests of a compiler, and depends on nothing of one.
//!
//! # A first set
//!
//! A *set* holds integer tuples; a *relation* holds pairs of them. Both are read and printed in
//! isl's notation: a tuple such as `S[i, j]`, with a name and *dimensions*, and a condition.
//!
//! ```
//! use loomir_polyhedra::{Limits, Relation, Set};
//!
//! let limits = Limits::default();
//! let domain: Set = "[n] -> { S[i, j] : 0 <= i < n and 0 <= j <= i }".parse()?;
//! let access: Relation = "{ S[i, j] -> A[i + j] }".parse()?;
//!
//! // The elements that the iterations in `domain` touch.
//! let touched = access.image(&domain)?;
//! let expected: Set = "[n] -> { A[a] : 0 <= a <= 2n - 2 }".parse()?;
//! assert!(touched.is_equal(&expected, &limits)?);
//!
//! // The last iteration that touches each element.
//! let last = access.intersect_domain(&domain)?.inverse().lexmax(&limits)?;
//! let expected: Relation = "[n] -> { A[a] -> S[i, a - i] : 0 <= a <= 2n - 2 and i = min(a, n - 1) }".parse()?;
//! assert!(last.is_equal(&expected, &limits)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `n` is a *parameter*: a number that is the same for all points and not known. A question is
//! about all of its values at once. "Is it empty" asks whether it is so for every `n`, and an
//! optimum is a function of `n`; where for some `n` there is no point, the optimum has none for it
//! either. The book's chapter on sets goes on from here, with pictures.
//!
//! # Two levels
//!
//! A [`Set`] or a [`Relation`] is a union of conjunctions in a [`Space`], which names parameters,
//! tuples and dimensions. A [`Conjunction`] is one list of equalities and inequalities over
//! numbered variables, [`Var`]: first the parameters, then the dimensions, then *existential* ones.
//! These are integers that must exist for a point to be in the set, such as the quotient in
//! `i mod 4 = 1`, that is: `i = 4e + 1` for some `e`.
//!
//! A compiler builds conjunctions directly. They are flat in memory, and answer the question asked
//! most, [`Conjunction::is_empty`], without names in the way:
//!
//! ```
//! use loomir_polyhedra::{Conjunction, Limits, Set, Space, Tuple, Var};
//!
//! // Do `A[2*i]` and `A[2*j + 1]` ever meet for 0 <= i, j < n?
//! let (n, i, j) = (Var(0), Var(1), Var(2));
//! let mut meet = Conjunction::new(3);
//! for var in [i, j] {
//!     meet.add_ge(var, 0);
//!     meet.add_lt(var, n);
//! }
//! let mut halves = meet.clone();
//! meet.add_eq(i * 2, j * 2 + 1);
//! assert!(meet.is_empty(&Limits::default()).is_empty());
//!
//! // With names it is a set.
//! halves.add_eq(i * 2, j);
//! let space = Space::set(&["n"], Tuple::new("S", &["i", "j"]));
//! let set = Set::from_conjunctions(space, vec![halves]);
//! assert_eq!(set.to_string(), "[n] -> { S[i, 2i] : 0 <= i < n and n >= 1 + 2i }");
//! ```
//!
//! # What is asked, and where
//!
//! | question | answered by |
//! | --- | --- |
//! | is there a point, and which | [`is_empty`](Set::is_empty), [`sample`](Set::sample), [`meets`](Set::meets) |
//! | algebra | [`intersect`](Set::intersect), [`union`](Set::union), [`subtract`](Set::subtract), [`complement`](Set::complement), [`project_out`](Set::project_out) |
//! | comparison | [`is_subset`](Set::is_subset), [`is_equal`](Set::is_equal), [`contains`](Set::contains) |
//! | optima | [`lexmin`](Set::lexmin), [`lexmax`](Set::lexmax), [`minimum`](Set::minimum), [`maximum`](Set::maximum), [`bounding_box`](Set::bounding_box) |
//! | relations | [`then`](Relation::then), [`inverse`](Relation::inverse), [`domain`](Relation::domain), [`range`](Relation::range), [`image`](Relation::image) |
//! | dependences | [`deltas`](Relation::deltas), [`directions`](Relation::directions), [`direction_vectors`](Relation::direction_vectors), [`distances`](Relation::distances), [`lexicographic`](Relation::lexicographic) |
//! | simpler forms | [`gist`](Set::gist), [`coalesce`](Set::coalesce), [`disjoint`](Set::disjoint) |
//! | how many | [`count`](Set::count) |
//! | a picture | [`Set::to_svg`], [`Relation::to_svg`] |
//!
//! # Coming from isl
//!
//! There is no context: values own what they hold, may be sent between threads, and errors are
//! results.
//!
//! | isl | here |
//! | --- | --- |
//! | `isl_basic_set`, `isl_basic_map` | [`Conjunction`], without a space |
//! | `isl_set`, `isl_map` | [`Set`], [`Relation`]; tuples of one name and arity each |
//! | `isl_set_read_from_str`, `isl_set_to_str` | [`str::parse`], [`to_string`](ToString::to_string) |
//! | `isl_set_is_empty`, `isl_set_sample_point` | [`Set::is_empty`], which yields a point at once; [`Set::sample`], which finds a small one |
//! | `isl_map_apply_range`, `isl_map_reverse` | [`Relation::then`], [`Relation::inverse`] |
//! | `isl_set_apply`, `isl_map_intersect_domain` | [`Relation::image`], [`Relation::intersect_domain`] |
//! | `isl_map_lexmin`, `isl_set_min_val` | [`Relation::lexmin`], [`Set::minimum`] |
//! | `isl_map_lex_lt` | [`Relation::lexicographic`] |
//! | `isl_map_deltas` | [`Relation::deltas`] |
//! | `isl_set_make_disjoint`, `isl_set_compute_divs` | [`Set::disjoint`] does both |
//! | `isl_set_fix_si`, `isl_set_equate` | [`Set::fix`], [`Set::equate`] |
//! | `isl_ctx_set_max_operations` | [`Limits`], for each question |
//!
//! # Limits
//!
//! Whatever may have to search takes [`Limits`], a number of steps. A limit that is reached is an
//! error, or [`Emptiness::Unknown`]; it is never replaced by a guess. Time plays no part, so
//! answers depend on the input alone.
//!
//! # How it works
//!
//! - Rows of `i64`s are normalised by their gcd; equalities are substituted away by unimodular
//!   steps; variables whose bounds meet exactly are eliminated. This decides nearly every
//!   dependence test, in about a microsecond.
//! - The rest goes to a complete method: rational simplex, elimination of unbounded directions, and
//!   branching along the thin directions of a reduced lattice basis, so that large coefficients do
//!   not mean many branches.
//! - Arithmetic never wraps: every algorithm is written once and run over `i64`, over `i128` if a
//!   number does not fit, and over integers of any size if it still does not.
//! - Parametric optima come from the lexicographic dual simplex method with cuts whose right-hand
//!   sides are functions of the parameters. The same method turns existential variables into
//!   `floor`s of the others where a set must be negated, so differences and complements are exact.
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
mod parametric;
mod relation;
mod resolved;
mod rows;
mod scalar;
mod set;
mod shadow;
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

/// The chapter of the book; its examples are tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../book/src/polyhedra.md")]
struct Book;
