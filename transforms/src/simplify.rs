//! What integer expressions compute: which operations there are, and when two values are one number.
//!
//! | module | holds |
//! | --- | --- |
//! | [`operation`] | the integer operations, whatever dialect they are written in |
//! | [`word`] | expressions over words of one width |
//! | [`rules`] | the rules by which they are equal |
//! | [`saturation`] | all that is equal by them, with `egg` |
//!
//! Most questions never get here: [`form`](crate::dependence::form) has a normal form of what is affine, or a polynomial, and
//! [`classes`](crate::dependence::form::classes) a key of what is not. What both leave open is asked here, if it computes the same for a few numbers.

pub mod operation;
pub mod rules;
pub mod saturation;
pub mod word;
