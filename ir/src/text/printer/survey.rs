//! What occurs in an operation: which dictionaries of attributes and which types, each once.
//!
//! Programs repeat a few of both. Whoever asks whether something occurs anywhere looks at these instead of going through all operations. One walk, linear.

use crate::attributes::Dict;
use crate::body::OpRef;
use crate::types::Type;

/// The dictionaries and types in an operation, in the order of the text within a body.
#[derive(Default)]
pub(crate) struct Survey {
    pub(crate) dicts: Vec<Dict>,
    pub(crate) types: Vec<Type>,
}

impl Survey {
    /// What occurs in `root` and in all it holds.
    pub(crate) fn of(root: OpRef<'_>) -> Survey {
        let mut survey = Survey::default();
        let (mut dicts, mut types) = (Met::default(), Met::default());
        let mut bodies = vec![(root.body(), root.op())];
        while let Some((body, root)) = bodies.pop() {
            for op in body.preorder(root) {
                if let Some(nested) = body.nested(op) {
                    bodies.push((nested, nested.root()));
                    continue;
                }
                let own = [body.properties(op), body.attributes(op)];
                survey.dicts.extend(own.into_iter().filter(|dict| dicts.is_new(dict.0)));
                let blocks = body.own_regions(op).flat_map(|region| body.blocks(region));
                let values = body.results(op).chain(blocks.flat_map(|block| body.arguments(block)));
                survey
                    .types
                    .extend(values.map(|value| body.value_type(value)).filter(|ty| types.is_new(ty.0)));
            }
        }
        survey
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
