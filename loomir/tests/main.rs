//! Tests of the command. They are one program, because each one more has to be linked.

mod bad_input;
mod cc;
mod check;
mod cli;
mod directives;
mod exceptions;
mod facts;
mod interleave;
mod limit;
mod new;
mod opt;
#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;
mod progress;
mod reduce;
mod reference;
mod remarks;
mod splice;
mod support;
mod text_dialect;
