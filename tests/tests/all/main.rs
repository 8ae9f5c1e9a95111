//! Tests of several crates together. They are one program, because each one more has to be linked.

mod analyses;
mod approximation;
mod cfg_fusion;
mod check;
mod contraction;
mod cost;
mod dependences;
mod everyday;
mod forms;
mod fusion;
mod fusion_traps;
mod fusion_written;
mod hazards;
mod interleavings;
mod kernels;
mod legality;
mod library;
mod linalg;
mod literals;
mod ll_proofs;
mod main_job;
mod oracle;
mod patterns;
mod pragmas;
mod print_options;
mod promotion;
mod raised_functions;
mod red;
mod reductions;
mod rewiring;
mod saturate;
mod schedule;
mod test_lines;
mod told;
mod transformations;
mod tree;
mod verdicts;
mod written;

/// The allocator of the command, which is quicker than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
