//! Loomir's intermediate representation: context, storage, text, verifier, rewriter and pass manager.
#![forbid(unsafe_code)]
