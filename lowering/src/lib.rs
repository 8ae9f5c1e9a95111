//! Lowering to LLVM-IR control flow graphs, .ll text, and LLVM itself behind the feature llvm.
#![deny(unsafe_code)]

#[cfg(feature = "llvm")]
pub mod jit;
