//! Helpers to test passes and dialects through text, and Loomir's own test harness.
#![forbid(unsafe_code)]
