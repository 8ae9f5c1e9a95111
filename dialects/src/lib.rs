//! Loomir's dialects and the reference interpreter.
#![forbid(unsafe_code)]

pub mod interfaces;
