//! Already computed values, by block. Values of surrounding blocks may be reused too.

use hashbrown::HashMap;
use loomir_ir::{Type, Value};

use super::expression::Sum;

/// A computation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Computed {
    /// A sum, as a value of a type.
    Sum(Sum, Type),
    /// A value that is no longer poison.
    Frozen(Value),
    /// The tighter of two values that bound a loop.
    Bound(End, [Value; 2]),
}

/// The end of a range.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum End {
    Lower,
    Upper,
}

type Values = HashMap<Computed, Value>;

/// The computations that are available at the current position.
pub(super) struct Known {
    /// The blocks under construction, from the outside. At least one.
    blocks: Vec<Values>,
    /// The block without open new operations with blocks.
    outside: usize,
}

impl Known {
    pub(super) fn new() -> Known {
        Known { blocks: vec![Values::new()], outside: 0 }
    }

    /// Enters a new block.
    pub(super) fn open(&mut self) {
        self.blocks.push(Values::new());
    }

    /// Enters a new block. Values may also be placed before its operations with blocks. Returns the
    /// argument for [`Known::close_outside`].
    pub(super) fn open_outside(&mut self) -> usize {
        self.open();
        std::mem::replace(&mut self.outside, self.blocks.len() - 1)
    }

    /// Leaves the block entered last.
    pub(super) fn close(&mut self) {
        self.blocks.pop();
    }

    pub(super) fn close_outside(&mut self, outside: usize) {
        self.close();
        self.outside = outside;
    }

    pub(super) fn get(&self, key: &Computed) -> Option<Value> {
        self.blocks.iter().rev().find_map(|block| block.get(key)).copied()
    }

    /// Records a value computed in the innermost open block, or before the outermost new operation
    /// with blocks.
    pub(super) fn insert(&mut self, key: Computed, value: Value, is_outside: bool) {
        let at = if is_outside { self.outside } else { self.blocks.len() - 1 };
        if let Some(block) = self.blocks.get_mut(at) {
            block.insert(key, value);
        }
    }
}
