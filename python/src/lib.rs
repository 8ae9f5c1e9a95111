//! The native module of the Python package `loomir`.
//!
//! The package's Python files are what users see; they hold handles as numbers and ask the
//! functions here. `module` owns programs, `handles` knows which numbers are alive, `read`
//! and `edit` look at operations and change them, `transform`, `compare` and `run` do
//! the long work, which `work` takes to a thread of its own without Python's lock.
//!
//! **Invariants.** A number of an erased operation is refused. A long piece of work changes a copy;
//! the module gets it if all went well, and is as before otherwise. A panic becomes an exception.
#![forbid(unsafe_code)]

mod compare;
mod context;
mod edit;
mod error;
mod handles;
mod module;
mod read;
mod run;
mod transform;
mod types;
mod work;

use pyo3::prelude::pymodule;

/// The functions and classes that the Python files use.
#[pymodule]
mod _loomir {
    #[pymodule_export]
    use crate::compare::check;
    #[pymodule_export]
    use crate::context::Context;
    #[pymodule_export]
    use crate::edit::{
        add_block, create_op, erase_op, move_op, remove_attribute, replace_all_uses, replace_op,
        set_attribute, set_operand,
    };
    #[pymodule_export]
    use crate::module::Module;
    #[pymodule_export]
    use crate::read::{
        block_arguments, block_ops, block_parent, op_attributes, op_block, op_location, op_name, op_operands,
        op_regions, op_results, op_successors, op_text, region_blocks, root, symbol, value_type, value_uses,
    };
    #[pymodule_export]
    use crate::run::{interpret, signature};
    #[pymodule_export]
    use crate::transform::{explain, fuse, run_passes, run_schedule};
    #[pymodule_export]
    use crate::types::{Attribute, Type};
}
