//! Exact integer sets and relations.
#![forbid(unsafe_code)]
