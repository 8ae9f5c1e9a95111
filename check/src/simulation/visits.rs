//! All states of a proof: which ones there are, which ones follow from which, and which ones wait.
//!
//! **Forgetting.** Where someone is asked, a state that changes forgets states that are reached
//! only by way of it: those on the way back to it, and if the visit came from there, all of them.
//! They come again, in terms of the values that the state has now. So a loop inside another one
//! keeps what the values of the outer one tell, and facts that are guessed where a loop begins
//! reach all places inside. All visits of a forgotten state are forgotten or made again: they come
//! from other forgotten states, or from the one that changed, whose paths are followed again.

use hashbrown::{HashMap, HashSet};

use super::side::Side;
use super::states::{Key, State, Visit};
use super::terms::{Store, Try};

/// The states of a proof.
#[derive(Default)]
pub(super) struct States {
    /// States by number. A forgotten one is gone.
    all: Vec<Option<State>>,
    numbers: HashMap<Key, usize>,
    /// The number of states of each pair of blocks, forgotten ones too.
    counts: HashMap<[loomir_ir::Block; 2], usize>,
    /// The states from which each state was reached.
    sources: Vec<HashSet<usize>>,
    /// The states whose paths have to be followed.
    pending: Vec<usize>,
}

impl States {
    /// Returns a state whose paths have to be followed.
    pub(super) fn pop(&mut self) -> Option<usize> {
        while let Some(number) = self.pending.pop() {
            if let Some(state) = &mut self.all[number] {
                state.is_pending = false;
                return Some(number);
            }
        }
        None
    }

    /// Returns a state, unless it is forgotten.
    pub(super) fn get(&self, number: usize) -> Option<&State> {
        self.all[number].as_ref()
    }

    /// Adds a visit to its state. It follows from another state, or from the start. Of each pair of
    /// blocks, visits that differ by their constants have states of their own, up to a number.
    pub(super) fn arrive(
        &mut self,
        store: &mut Store,
        sides: [&Side<'_>; 2],
        visit: Visit,
        from: Option<usize>,
        (constants, most): (Box<[Option<u64>]>, usize),
    ) -> Try<()> {
        let blocks = visit.cursors.each_ref().map(|cursor| cursor.block);
        let count = self.counts.entry(blocks).or_insert(0);
        let mut key: Key = (blocks, visit.cursors[1].thawed.clone(), Some(constants));
        if !self.numbers.contains_key(&key) && *count >= most {
            key.2 = None;
        }
        let Some(number) = self.numbers.get(&key).copied() else {
            *count += 1;
            let number = self.all.len();
            self.all.push(Some(State::new(store, sides, visit, from)));
            self.sources.push(from.into_iter().collect());
            self.numbers.insert(key, number);
            self.pending.push(number);
            return Ok(());
        };
        self.sources[number].extend(from);
        let (mut behind, mut inside) = (HashSet::new(), HashSet::new());
        if store.asks() {
            behind = self.behind(number);
            inside = self.leading_to(number, &behind);
        }
        let Some(state) = &mut self.all[number] else { return Err("a state is gone") };
        if state.join(store, sides, &visit, from, &inside)? {
            if !state.is_pending {
                state.is_pending = true;
                self.pending.push(number);
            }
            let is_from_inside = from.is_some_and(|from| inside.contains(&from));
            self.forget(number, if is_from_inside { behind } else { inside });
        }
        Ok(())
    }

    /// Returns the states that are reached only by way of a state, itself too.
    fn behind(&self, number: usize) -> HashSet<usize> {
        let mut next = vec![Vec::new(); self.all.len()];
        for (to, sources) in self.sources.iter().enumerate() {
            sources.iter().for_each(|from| next[*from].push(to));
        }
        let (mut others, mut open) = (HashSet::new(), Vec::new());
        if number != 0 {
            others.insert(0);
            open.push(0);
        }
        while let Some(from) = open.pop() {
            open.extend(next[from].iter().copied().filter(|to| *to != number && others.insert(*to)));
        }
        (0..self.all.len()).filter(|own| self.all[*own].is_some() && !others.contains(own)).collect()
    }

    /// Returns those of some states that lead to a state, itself too.
    fn leading_to(&self, number: usize, all: &HashSet<usize>) -> HashSet<usize> {
        let (mut found, mut open) = (HashSet::from([number]), vec![number]);
        while let Some(to) = open.pop() {
            let sources = self.sources[to].iter().filter(|from| all.contains(*from));
            open.extend(sources.filter(|from| found.insert(**from)));
        }
        found
    }

    /// Forgets states, one of which changed and stays. What they visit is visited again.
    fn forget(&mut self, changed: usize, mut which: HashSet<usize>) {
        if which.is_empty() {
            return;
        }
        self.all.iter_mut().flatten().for_each(|state| state.forget_visits(&which));
        which.remove(&changed);
        for number in &which {
            self.all[*number] = None;
            self.sources[*number].clear();
        }
        self.sources.iter_mut().for_each(|sources| sources.retain(|from| !which.contains(from)));
        self.numbers.retain(|_, number| !which.contains(number));
    }
}
