//! Lowering by behaviour. Each fixture is lowered stage by stage. Each stage is verified, printed
//! (a snapshot), read back, and executed. If LLVM 22 is installed (`LOOMIR_LLVM` names its folder),
//! `mlir-opt` reads our output, `opt` verifies our `.ll`, and `lli` runs it.

mod agree;
mod conventions;
mod corners;
mod errors;
mod executed;
mod fixture;
mod forms;
mod ll;
mod lli;
mod ordinary;
#[allow(dead_code, unreachable_pub)]
#[path = "../../../testing/src/peers.rs"]
mod peers;
mod programs;
mod random_vectors;
mod rewiring;
mod scale;
mod undefined;
mod vectors;
mod wide;

use fixture::Fixture;
use peers::llvm;

/// The allocator of the command, which is quicker than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Prints a note for readers of the test log.
#[allow(clippy::print_stderr)]
fn say(text: &str) {
    eprintln!("{text}");
}

macro_rules! fixtures {
    ($($name:ident = $path:literal, $snapshots:literal;)*) => {
        $(#[test]
        fn $name() {
            let fixture = Fixture::read(include_str!($path));
            fixture.check($snapshots.then_some(stringify!($name)));
        })*
    };
}

fixtures! {
    affine = "fixtures/affine.mlir", true;
    arith = "fixtures/arith.mlir", true;
    control = "fixtures/control.mlir", true;
    linalg = "fixtures/linalg.mlir", false;
    index = "fixtures/index.mlir", true;
    math = "fixtures/math.mlir", true;
    memref = "fixtures/memref.mlir", true;
    scf = "fixtures/scf.mlir", true;
    vector = "fixtures/vector.mlir", true;
}

/// A dense layer in the output of `mlir-opt`.
const LAYER: &str = "// CALL: mlp_layer ; random:1 : memref<64x128xf32> ; random:2 : memref<128x256xf32> ; random:3 : memref<256xf32> ; random:4 : memref<64x256xf32> ; random:5 : memref<64xf32>\n";

#[test]
fn a_dense_layer_on_structured_loops() {
    let source = include_str!("../../../tests/inputs/mlp.scf.mlir");
    Fixture::read(&format!("{LAYER}{source}")).long().check(None);
}

#[test]
fn a_dense_layer_on_affine_loops() {
    let source = include_str!("../../../tests/inputs/mlp.affine.mlir");
    Fixture::read(&format!("{LAYER}{source}")).long().check(None);
}
