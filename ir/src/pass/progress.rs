//! The work that is under way, for a person who waits for it.
//!
//! Whoever works says so by [`Progress::begin`]; whoever shows it asks [`Progress::now`], from
//! another thread. Nothing is kept without a watcher.

use std::sync::{Arc, Mutex, PoisonError};

use hashbrown::HashMap;

use crate::Op;
use crate::body::Body;
use crate::symbols::symbol_name;

/// The work that is under way, shared by all that do it and one that watches.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    state: Option<Arc<Mutex<State>>>,
}

#[derive(Debug, Default)]
struct State {
    now: Work,
    /// The numbers of the functions, from 1.
    numbers: HashMap<String, usize>,
}

/// A piece of work.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// The pass, or the work in a few words.
    pub pass: String,
    /// The name of the function that it works on, or empty.
    pub function: String,
    /// The number of the function, from 1, if it was there at the start.
    pub number: Option<usize>,
    /// The number of all functions.
    pub of: usize,
}

impl Progress {
    /// Work that somebody watches.
    pub fn watched() -> Progress {
        Progress { state: Some(Arc::default()) }
    }

    /// True if somebody watches.
    pub fn is_watched(&self) -> bool {
        self.state.is_some()
    }

    /// Numbers the functions of a module. Linear.
    pub fn number(&self, module: &Body) {
        self.change(|state| {
            module.walk(&mut |body, op| {
                let is_function = op == body.root() && body.own_regions(op).any(|own| has_code(body, own));
                if let Some(name) = symbol_name(body, op).filter(|_| is_function) {
                    let name = body.ctx().str(name);
                    let next = state.numbers.len() + 1;
                    state.numbers.entry(name.to_owned()).or_insert(next);
                }
            });
        });
    }

    /// Says that a pass begins with a function, which is an operation of a body.
    pub fn begin(&self, pass: &str, body: &Body, function: Op) {
        self.change(|state| {
            let name = symbol_name(body, function);
            let function = name.map_or("", |name| body.ctx().str(name)).to_owned();
            let (number, of) = (state.numbers.get(&function).copied(), state.numbers.len());
            state.now = Work { pass: pass.to_owned(), function, number, of };
        });
    }

    /// Says that other work begins, in a few words.
    pub fn tell(&self, work: &str) {
        self.change(|state| state.now = Work { pass: work.to_owned(), ..Work::default() });
    }

    /// Returns the work that began last.
    pub fn now(&self) -> Work {
        let state = self.state.as_ref().map(|state| state.lock().unwrap_or_else(PoisonError::into_inner));
        state.map(|state| state.now.clone()).unwrap_or_default()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        if let Some(state) = &self.state {
            change(&mut state.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

fn has_code(body: &Body, region: crate::Region) -> bool {
    body.entry_block(region).is_some()
}
