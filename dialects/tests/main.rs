//! Tests of the crate. They are one program, because each one more has to be linked.

mod agreement;
mod completeness;
mod control_dialects;
mod conversion;
mod core_dialects;
mod data_layout;
mod float;
mod folds_agree;
mod interp;
mod interp_float;
mod interp_integer;
mod interp_lowered;
mod random_arguments;
mod support;
