//! Several iterations of one loop of the program in one iteration of a new loop.
//!
//! A new loop with several origins of one loop runs copies of its body, each in an iteration of its
//! own. A value of the program then has several replacements at once. They are told apart by the
//! iteration that computes them. Elsewhere a value has one replacement, and nothing is recorded.
//!
//! If the copies run consecutive iterations of a loop that carries values, each copy begins with
//! the values that the one before yields.
//!
//! **Cost.** A table entry for each value and copy.

use hashbrown::HashMap;
use loomir_ir::{InsertPoint, Value};

use super::Emit;
use crate::affine::AffineForm;
use crate::tree::levels::absolute;
use crate::tree::runs::{number_in_run, one_before};
use crate::tree::{Header, LoopId};

/// The replacements of values in several iterations.
#[derive(Default)]
pub(super) struct Instances {
    /// The surrounding new loops with several origins of one loop.
    open: usize,
    /// The replacement of a value in an iteration of the loops around it, over levels.
    values: HashMap<(Value, Box<[AffineForm]>), Value>,
    /// The surrounding loops that run several consecutive iterations.
    chains: Vec<Chain>,
}

/// A loop of the program whose consecutive iterations one iteration of a new loop runs.
struct Chain {
    of: LoopId,
    /// The first of these iterations.
    first: Box<[AffineForm]>,
    /// The values that later iterations begin with, as far as they were asked for.
    passed_on: HashMap<(Value, Box<[AffineForm]>), Value>,
}

impl Instances {
    /// True if values may have several replacements.
    pub(super) fn is_open(&self) -> bool {
        self.open > 0
    }
}

impl Emit<'_> {
    /// Enters a new loop, inside `depth` loops with itself. Returns a mark for
    /// [`close_instances`](Emit::close_instances).
    pub(super) fn open_instances(&mut self, header: &Header, depth: u32) -> Option<usize> {
        let mark = self.instances.chains.len();
        if !header.runs_several() {
            return None;
        }
        self.instances.open += 1;
        for (origin, last) in header.runs() {
            let map = (origin != last).then(|| levels(&origin.map, depth)).flatten();
            let chain = |first| Chain { of: origin.of, first, passed_on: HashMap::new() };
            self.instances.chains.extend(map.map(chain));
        }
        Some(mark)
    }

    /// Leaves a new loop.
    pub(super) fn close_instances(&mut self, mark: Option<usize>) {
        let Some(mark) = mark else { return };
        self.instances.chains.truncate(mark);
        self.instances.open -= 1;
        if !self.instances.is_open() {
            self.instances.values.clear();
        }
    }

    /// Records the replacement of a value in the iteration `map`, at a place inside `depth` loops.
    pub(super) fn define(&mut self, old: Value, new: Value, map: &[AffineForm], depth: u32) {
        self.mapping.map(old, new);
        if self.instances.is_open()
            && let Some(map) = levels(map, depth)
        {
            self.instances.values.insert((old, map), new);
        }
    }

    /// Returns the replacement of a value, no induction variable, in the iteration `map` of the
    /// loops around its use.
    pub(super) fn instance(&mut self, value: Value, map: &[AffineForm], at: InsertPoint) -> Value {
        let found = levels(map, self.scopes.len() as u32).and_then(|map| self.found(value, &map, at));
        found.unwrap_or_else(|| self.mapping.value(value))
    }

    /// Returns the replacement of a value that has several.
    fn found(&mut self, value: Value, map: &[AffineForm], at: InsertPoint) -> Option<Value> {
        let (mut own, mut iteration) = (value, self.iteration_of(value, map)?);
        let asked = (value, iteration.clone());
        let mut begun = None;
        let found = loop {
            let key = (own, iteration);
            if let Some(known) = self.instances.values.get(&key) {
                break *known;
            }
            // A later copy begins with the values that the one before yields. A yielded value of a
            // loop around has one replacement.
            let Some((chain, of, index)) = self.chain_of(own, &key.1) else {
                if own == value {
                    return None;
                }
                break self.mapping.value(own);
            };
            if let Some(known) = self.instances.chains[chain].passed_on.get(&key) {
                break *known;
            }
            begun.get_or_insert(chain);
            let end = self.body.terminator(self.program.loop_info(of).block)?;
            own = self.body.operand(end, index.checked_sub(1)?);
            let before = one_before(&key.1)?;
            if let Some((_, 0)) = self.program.loop_of_argument(self.body, own) {
                let map = levels(&before, self.scopes.len() as u32)?;
                return Some(self.resolve(own, &map, at));
            }
            let Some(around) = self.iteration_of(own, &before) else { break self.mapping.value(own) };
            iteration = around;
        };
        if let Some(chain) = begun {
            self.instances.chains[chain].passed_on.insert(asked, found);
        }
        Some(found)
    }

    /// Returns the chain whose later copies begin with a value that its loop carries, in this
    /// iteration, with the loop and the index of the value among the loop's arguments.
    fn chain_of(&self, value: Value, iteration: &[AffineForm]) -> Option<(usize, LoopId, usize)> {
        let (of, index) = self.program.loop_of_argument(self.body, value)?;
        let is_it = |chain: &Chain| chain.of == of && number_in_run(&chain.first, iteration).is_some();
        Some((self.instances.chains.iter().rposition(is_it)?, of, index))
    }

    /// Returns the iteration of the loops around the computation of a value. `None` if it is
    /// computed outside of all loops.
    fn iteration_of(&self, value: Value, map: &[AffineForm]) -> Option<Box<[AffineForm]>> {
        let depth = match self.program.loop_of_argument(self.body, value) {
            Some((of, _)) => self.program.loop_info(of).depth + 1,
            None => self.program.depth_of(self.body, self.body.defining_op(value)?)?,
        };
        map.get(..depth as usize).filter(|map| !map.is_empty()).map(Box::from)
    }
}

/// Renumbers the loops around from outwards to levels, or back.
fn levels(map: &[AffineForm], depth: u32) -> Option<Box<[AffineForm]>> {
    map.iter().map(|form| absolute(form, depth)).collect()
}
