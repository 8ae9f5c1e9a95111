//! Loomir: a multi-level compiler framework whose heart is loop transformation.
#![forbid(unsafe_code)]
