//! Memoised answers, permanent or provisional.
//!
//! Trip counts need ranges of values, which depend on trip counts. If a question leads back to
//! itself, the answer is "unknown". Answers computed from it are sound, but may be less precise
//! than later ones. They are kept apart, and removed when the outermost question is answered.
//!
//! **Assumptions.**
//! - An expression depends on the current function: after a change of the function scalar evolution
//!   must be recomputed. Tried with the campaign `loop-fusion`.

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
    /// Returns an answer, and true if it is provisional.
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
