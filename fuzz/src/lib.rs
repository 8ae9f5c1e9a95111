//! Code that fuzz targets share: [`tokens`], changes of text that leave most of it well-formed.
#![forbid(unsafe_code)]

pub mod tokens;
