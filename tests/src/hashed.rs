//! Execution of trees in which every operation is a hash of all that it gets: its operands, the
//! memory that it reads, and itself.
//!
//! Two orders of instances that leave equal memory then compute the same whatever the operations
//! do, as far as 64 bits tell. An order that leaves other memory computes something else for some
//! operations. So this tells which illegal trees can be seen to be wrong.
//!
//! A loop may run the same operations on the same numbers again, such as `a[2] = a[1] + 1`, and no
//! order of its iterations shows. The judge does not know numbers: a statement is a function of its
//! iteration and of what it reads. [`Of::Instances`] hashes the iteration too.

use hashbrown::{HashMap, HashSet};
use loomir::ir::{Body, Op, Trait, Value};
use loomir::transforms::access::base::Base;
use loomir::transforms::access::updates::{Reduction, updates_of};
use loomir::transforms::tree::program::LoopInfo;
use loomir::transforms::tree::{LoopId, Program};

use crate::instances::{Instance, Location, Values, location, rounds};
use crate::random::Random;

/// The memory behind a run: the content of each location that was written.
pub type Memory = HashMap<Location, Content>;

/// The content of a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Content {
    hash: u64,
    /// The last updates, which may run in any order: their reduction and the sum of their hashes.
    updates: Option<(Reduction, u64)>,
}

impl Content {
    fn value(self) -> u64 {
        self.updates.map_or(self.hash, |(_, sum)| mix(self.hash, sum))
    }

    /// Returns the content after another update.
    fn updated(self, by: Reduction, with: u64) -> Content {
        match self.updates {
            Some((last, sum)) if last == by => {
                Content { updates: Some((by, sum.wrapping_add(with))), ..self }
            }
            _ => Content { hash: self.value(), updates: Some((by, with)) },
        }
    }
}

/// The hash of each value in each iteration of the loops around it.
pub type Results = HashMap<usize, HashMap<Vec<i64>, u64>>;

/// The values that a run computed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The memory behind it.
    pub memory: Memory,
    /// All writes of each location, in their order. Updates of one location by one operation have
    /// none. A store hashes the memory that it replaces too, so none is forgotten.
    pub written: Memory,
    /// The results of operations.
    pub results: Results,
}

/// The inputs of the hash of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Itself, its operands and the memory that it reads.
    Operands,
    /// The same and the iteration of the loops around it.
    Instances,
}

/// The names of the objects of runs that are compared.
pub type Objects = Vec<(Base, Option<Value>)>;

/// Runs instances in their order.
///
/// # Errors
/// The reason why they cannot run with hashes.
pub fn outcome(
    body: &Body,
    program: &Program,
    instances: &[Instance],
    (values, of): (Values<'_>, Of),
    objects: &mut Objects,
) -> Result<Outcome, &'static str> {
    let statements = program.statements().flat_map(|statement| statement.ops.iter().map(|op| op.index()));
    let statements = statements.collect();
    let (memory, written) = (Memory::new(), Memory::new());
    let (loaded, results) = (HashMap::new(), Results::new());
    let mut run = Run { body, program, of, statements, memory, written, loaded, results };
    for instance in instances {
        for op in &program.statement(instance.0).ops {
            run.execute(*op, instance, values, objects)?;
        }
    }
    Ok(Outcome { memory: run.memory, written: run.written, results: run.results })
}

struct Run<'a> {
    body: &'a Body,
    program: &'a Program,
    of: Of,
    /// The operations that are statements.
    statements: HashSet<usize>,
    memory: Memory,
    written: Memory,
    /// The contents that updates under way have read, by their loads, locations and iterations.
    loaded: HashMap<(usize, Location, Vec<i64>), Content>,
    results: Results,
}

impl Run<'_> {
    fn execute(
        &mut self,
        op: Op,
        (statement, iteration): &Instance,
        values: Values<'_>,
        objects: &mut Objects,
    ) -> Result<(), &'static str> {
        if self.body.own_regions(op).len() > 0 {
            return Err("a statement with regions");
        }
        let mut hash = op.index() as u64;
        if self.of == Of::Instances {
            hash = iteration.iter().fold(hash, |hash, at| mix(hash, *at as u64));
        }
        let mut operands = Vec::new();
        for operand in self.body.operands(op) {
            let operand = self.value(operand, iteration)?;
            operands.push(operand);
            hash = mix(hash, operand);
        }
        let mut written = Vec::new();
        let classes = &self.program.statement(*statement).effects.classes;
        for (class, _) in classes.iter().filter(|(_, own)| *own == op) {
            let instance = (*statement, iteration.clone());
            let place = location(class, &instance, values, objects).ok_or("an unknown location")?;
            match (class.writes, class.update.filter(|_| !rounds(self.body, op))) {
                (true, update) => written.push((place, update)),
                // An update adds to the content that it read, even if others write in between.
                (false, Some(_)) => {
                    let content = self.memory.get(&place).copied().unwrap_or_default();
                    self.loaded.insert((op.index(), place, iteration.clone()), content);
                }
                (false, None) => {
                    let initial = place.1.iter().fold(place.0 as u64, |hash, at| mix(hash, *at as u64));
                    hash = mix(hash, self.memory.get(&place).map_or(initial, |own| own.value()));
                }
            }
        }
        for (place, update) in written {
            let loads = updates_of(self.body, op).into_iter().map(|update| update.load.index());
            let mut keys = loads.map(|load| (load, place.clone(), iteration.clone()));
            let loaded = keys.find_map(|key| self.loaded.remove(&key));
            let content = self.memory.entry(place.clone()).or_default();
            *content = match update {
                Some(by) => loaded.unwrap_or(*content).updated(by, hash),
                None => Content { hash, updates: None },
            };
            let all = self.written.entry(place).or_default();
            *all = match update {
                Some(by) => all.updated(by, hash),
                None => Content { hash: mix(all.value(), hash), updates: None },
            };
        }
        // The end of a branch gives its operands to the conditional.
        let is_end = self.body.has_trait(op, Trait::Terminator);
        let results: Vec<Value> = match self.body.parent_op(op).filter(|_| is_end) {
            Some(conditional) => self.body.results(conditional).collect(),
            None => self.body.results(op).collect(),
        };
        for (number, result) in results.into_iter().enumerate() {
            let hash =
                if is_end { operands.get(number).copied().unwrap_or(hash) } else { mix(hash, number as u64) };
            self.results.entry(result.index()).or_default().insert(iteration.clone(), hash);
        }
        Ok(())
    }

    /// Returns the hash of a value in an iteration. A value that is not there yet is like no other.
    /// Recurses once for each iteration before, and for each loop around.
    fn value(&self, value: Value, iteration: &[i64]) -> Result<u64, &'static str> {
        let own = value.index() as u64;
        if let Some((of, argument)) = self.program.loop_of_argument(self.body, value) {
            let info = self.program.loop_info(of);
            let depth = info.depth as usize;
            if argument > 0 && info.combines {
                // Iterations are combined in any order: none sees what others contribute.
                return Ok(own);
            }
            let at = *iteration.get(depth).ok_or("a value out of its loop")?;
            return match argument {
                0 => Ok(mix(own, at as u64)),
                _ => self.carried(of, argument - 1, &iteration[..depth], at),
            };
        }
        let Some(op) = self.body.defining_op(value) else { return Ok(own) };
        if let Some(of) = self.program.loops().find(|of| self.program.loop_info(*of).op == op) {
            let info = self.program.loop_info(of);
            let depth = info.depth as usize;
            let around = iteration.get(..depth).ok_or("a value out of its loop")?;
            let number = self.body.results(op).position(|result| result == value).unwrap_or(0);
            let end = self.body.terminator(info.block).ok_or("a loop without an end")?;
            let yielded = self.body.operand(end, number);
            if info.combines {
                let ran = self.results.get(&yielded.index()).into_iter().flatten();
                let ran = ran.filter(|(at, _)| at.starts_with(around) && at.len() > depth);
                let sum = ran.fold(0u64, |sum, (_, hash)| sum.wrapping_add(*hash));
                return Ok(mix(self.init(info, number, around)?, sum));
            }
            // The last iteration that ran.
            let ran = self.results.get(&yielded.index()).into_iter().flat_map(HashMap::keys);
            let ran = ran.filter(|at| at.starts_with(around) && at.len() > depth);
            let last = ran.map(|at| at[depth]).max().ok_or("a loop that passes values on")?;
            return self.carried(of, number, around, last + 1);
        }
        let is_conditional = self.body.own_regions(op).len() > 0;
        if !is_conditional && !self.statements.contains(&op.index()) {
            return Ok(own);
        }
        let depth = self.program.depth_of(self.body, op).ok_or("a value inside of a statement")? as usize;
        let around = iteration.get(..depth).ok_or("a value out of its loop")?;
        let result = self.results.get(&value.index()).and_then(|all| all.get(around));
        Ok(result.copied().unwrap_or(mix(own, u64::MAX)))
    }

    /// Returns the hash of a carried value at the start of an iteration.
    fn carried(&self, of: LoopId, number: usize, around: &[i64], at: i64) -> Result<u64, &'static str> {
        let info = self.program.loop_info(of);
        if !info.space.is_counted() {
            return Err("a loop that does not count");
        }
        if at <= 0 {
            return self.init(info, number, around);
        }
        let end = self.body.terminator(info.block).ok_or("a loop without an end")?;
        let before: Vec<i64> = around.iter().copied().chain([at - 1]).collect();
        self.value(self.body.operand(end, number), &before)
    }

    /// Returns the hash of the first value that a loop carries.
    fn init(&self, info: &LoopInfo, number: usize, around: &[i64]) -> Result<u64, &'static str> {
        let inits = self.body.num_operands(info.op) - self.body.num_results(info.op);
        self.value(self.body.operand(info.op, inits + number), around)
    }
}

/// Returns a hash of two numbers that depends on their order.
fn mix(a: u64, b: u64) -> u64 {
    Random::of_case(a, b).bits()
}
