//! Constants for new branches: the numbers of successors, and poison.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::{Body, Builder, InsertPoint, Type, Value};

/// Constants that new branches pass to blocks, at the start of the function.
///
/// **Invariant.** Each constant is created once and serves all its uses.
#[derive(Default)]
pub(super) struct Constants {
    /// The constants, by type and successor number. Poison has no number.
    known: HashMap<(Type, Option<usize>), Value>,
}

impl Constants {
    /// Returns the constant of type `ty` that selects successor `way`, or poison if `way` is
    /// `None`.
    ///
    /// An `i1` is true for the first successor. Other types hold the successor's number.
    pub(super) fn get(&mut self, function: &mut Body, ty: Type, way: Option<usize>) -> Value {
        *self.known.entry((ty, way)).or_insert_with(|| {
            let region = function.region(function.root(), 0);
            let entry = function.entry_block(region).expect("a function with branches has blocks");
            let mut builder = Builder::new(function, InsertPoint::Start(entry));
            let ctx = builder.ctx();
            let state = match way {
                None => builder.state(llvm::PoisonOp::DEF),
                Some(way) => {
                    let value = match ty {
                        Type::I1 => ctx.bool_attr(way == 0),
                        _ => ctx.int_attr(ty, way as i128),
                    };
                    builder.state(llvm::ConstantOp::DEF).attr(&ctx, "value", value)
                }
            };
            builder.value(state.results(&[ty]))
        })
    }
}
