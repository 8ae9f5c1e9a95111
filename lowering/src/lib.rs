//! Lowering to LLVM-IR control flow graphs, .ll text, and LLVM itself behind the feature llvm.
#![forbid(unsafe_code)]
