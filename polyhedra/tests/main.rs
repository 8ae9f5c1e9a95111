//! Tests of the crate. They are one program, because each one more has to be linked.

mod brute_force;
mod campaign;
mod isl;
mod operations;
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;
mod pictures;
mod questions;
mod random;
mod robust;
