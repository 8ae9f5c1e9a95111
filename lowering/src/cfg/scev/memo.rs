//! What was computed, for good or for now.
//!
//! To know how often a loop runs one asks for ranges of values, which depend on how often loops
//! run. Where a question leads back to itself the answer is "unknown", and what was computed from
//! that is sound but may be less than what can be known later: it is kept aside, and forgotten when
//! the outermost question is answered.
//!
//! **Assumptions.**
//! - An expression depends on the function as it is: whoever changes the function makes scalar
//!   evolution anew. Tried with the campaign `loop-fusion`.

use std::hash::Hash;

use hashbrown::HashMap;

/// Answers by question.
#[derive(Debug)]
pub(super) struct Memo<K, V> {
    kept: HashMap<K, V>,
    provisional: HashMap<K, V>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Memo { kept: HashMap::new(), provisional: HashMap::new() }
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// An answer, and whether it is only for now.
    pub(super) fn get(&self, key: &K) -> Option<(V, bool)> {
        let kept = self.kept.get(key).map(|answer| (answer.clone(), false));
        kept.or_else(|| self.provisional.get(key).map(|answer| (answer.clone(), true)))
    }

    pub(super) fn insert(&mut self, key: K, answer: V, is_provisional: bool) {
        let table = if is_provisional { &mut self.provisional } else { &mut self.kept };
        table.insert(key, answer);
    }

    pub(super) fn forget_provisional(&mut self) {
        self.provisional.clear();
    }
}
