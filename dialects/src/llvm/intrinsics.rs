//! Intrinsics: the operations called `llvm.intr.…`.

pub mod float;
pub mod integer;
pub mod memory;
pub mod vector;

pub use float::*;
pub use integer::*;
pub use memory::*;
pub use vector::*;
