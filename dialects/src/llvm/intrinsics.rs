//! Intrinsics: the operations called `llvm.intr.…`.

pub mod float;
pub mod integer;
pub mod memory;

pub use float::*;
pub use integer::*;
pub use memory::*;
