//! The parts of an operation: which dictionaries of attributes and which types, each once.
//!
//! Programs repeat a few of both. Whoever asks whether something occurs anywhere looks at these
//! instead of going through all operations. A survey is made by the walk that names values
//! ([`Names::of`](super::names::Names::of)): on large programs, walking is what costs.

use crate::attributes::Dict;
use crate::body::OpRef;
use crate::types::Type;

/// The dictionaries and types that were met, each once.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) dicts: Vec<Dict>,
    pub(crate) types: Vec<Type>,
    /// The number of operations.
    pub(crate) operations: usize,
    met_dicts: Met,
    met_types: Met,
}

impl Survey {
    /// Adds the attributes of an operation and the types of its results.
    pub(crate) fn operation(&mut self, op: OpRef<'_>) {
        self.operations += 1;
        for dict in [op.properties(), op.attributes()] {
            if self.met_dicts.is_new(dict.0) {
                self.dicts.push(dict);
            }
        }
        for value in op.results() {
            self.ty(op.type_of(value));
        }
    }

    /// Adds a type.
    pub(crate) fn ty(&mut self, ty: Type) {
        if self.met_types.is_new(ty.0) {
            self.types.push(ty);
        }
    }
}

/// Handles that were met: a flag for each, for they are small numbers.
#[derive(Default)]
struct Met(Vec<bool>);

impl Met {
    fn is_new(&mut self, handle: u32) -> bool {
        let index = handle as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, false);
        }
        !std::mem::replace(&mut self.0[index], true)
    }
}
