//! What integer expressions compute: which operations there are, and when two values are one number.
//!
//! [`operation`] names the integer operations whatever dialect they are written in.

pub mod operation;
