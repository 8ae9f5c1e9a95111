//! Scalar evolution against runs: each expression against each computed value, each range, flag and
//! fact, and each count against counted backedges. Also against the output of `opt` for the same
//! loops.

mod accesses;
mod generated;
mod opt;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../testing/src/peers.rs"]
mod peers;
mod programs;
mod random;
mod relations;
mod shown;

mod watch;

use loomir_ir::{Body, Context, Registry};
use loomir_lowering::from_ll;

/// The allocator of the command, which is quicker than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Returns a context with all dialects and their lowering.
fn context() -> Context {
    let mut registry = Registry::new();
    loomir_dialects::register_all(&mut registry);
    loomir_lowering::register(&mut registry);
    Context::new(registry)
}

/// Reads a module from LLVM IR.
fn read(ctx: &Context, source: &str) -> Body {
    let module = from_ll(ctx, source, "loops.ll");
    module.unwrap_or_else(|errors| panic!("{}\n{source}", errors.to_text(ctx)))
}

/// Returns the functions of a module that have a body, with their names.
fn functions(module: &Body) -> Vec<(String, &Body)> {
    let ctx = module.ctx();
    let blocks = module.own_regions(module.root()).flat_map(|region| module.blocks(region));
    let bodies = blocks.flat_map(|block| module.ops(block)).filter_map(|op| module.nested(op));
    bodies
        .filter(|body| body.is(body.root(), loomir_dialects::llvm::FuncOp::DEF))
        .filter(|body| body.entry_block(body.region(body.root(), 0)).is_some())
        .filter_map(|body| Some((body.attr(body.root(), "sym_name")?.as_str(ctx)?.to_owned(), body)))
        .collect()
}
