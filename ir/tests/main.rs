//! Tests of the crate. They are one program, because each one more has to be linked.

mod affine;
mod files;
mod format;
mod forms;
mod graph;
mod location;
mod names;
mod outline;
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;
mod pipeline;
mod rewriting;
mod storage;
mod suggest;
mod text;
mod tokens;
mod trail;
