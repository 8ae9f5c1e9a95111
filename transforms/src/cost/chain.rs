//! The wait of an iteration of an innermost loop for the one before.
//!
//! ```text
//!     for k { z = a[k] * b[k] + z }    one addition, not the product
//!     for i { x[i] = x[i - 1] / y }    one division
//!     for i { s += f(x[i]) }           one addition, and a store and a load around the call
//! ```
//!
//! Some loads, and the values that a loop carries, wait for earlier iterations. The *chain* is the
//! longest way through operations from one of them to a store or a carried value that a later
//! iteration waits for, in cycles. If that is `d` iterations later, each of these has the `d`-th
//! part. Copies of an iteration that add to one sum wait for each other, so their chain is longer.
//!
//! # Limits
//!
//! - Loops that were jammed carry values in copies of their own. Their chain is that of one copy.
//! - A load from an unknown place waits for nothing.

use hashbrown::HashMap;
use loomir_ir::{Body, Op, Value};

use super::Machine;
use super::operation::{Call, latency};
use super::streams::{Place, Streams};

/// An operation of an iteration, in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) access: Option<Access>,
}

/// The load or store that an operation is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// The number of the stream.
    pub(super) stream: usize,
    pub(super) place: Place,
    pub(super) writes: bool,
}

/// Cycles of a store and of a load that waits for it, in units of the latency of an addition.
const THROUGH_MEMORY: f64 = 2.0;

/// The operations of an iteration, as those wait for each other that earlier iterations keep
/// waiting.
pub(super) struct Chain<'a> {
    ir: &'a Body,
    machine: &'a Machine,
    steps: &'a [Step],
    streams: &'a Streams,
    /// The cycles after which a value is there, if it waits for an earlier iteration.
    values: HashMap<Value, f64>,
    /// The same for elements that were stored in the iteration.
    places: HashMap<(usize, Place), Option<f64>>,
}

impl<'a> Chain<'a> {
    /// Returns the chain of a loop's steps.
    pub(super) fn of(
        ir: &'a Body,
        machine: &'a Machine,
        steps: &'a [Step],
        streams: &'a Streams,
    ) -> Chain<'a> {
        Chain { ir, machine, steps, streams, values: HashMap::new(), places: HashMap::new() }
    }

    /// Returns the cycles that each iteration waits for the one before, if it does. `around` are
    /// the operations whose carried values the loop has. Sums that are `in_memory`, or that a call
    /// leaves no register for, are stored and loaded in each iteration. Linear in the steps.
    pub(super) fn wait(mut self, around: &[Op], in_memory: bool) -> f64 {
        let ir = self.ir;
        let blocks = || {
            around.iter().filter_map(|op| {
                let block = ir.own_regions(*op).next().and_then(|region| ir.entry_block(region))?;
                Some((block, ir.terminator(block)?))
            })
        };
        for (block, _) in blocks() {
            self.values.extend(ir.arguments(block).skip(1).map(|own| (own, 0.0)));
        }
        let mut longest = self.steps.iter().map(|step| self.step(*step)).fold(0.0, f64::max);
        for (_, end) in blocks() {
            let carried = ir.operands(end).filter_map(|own| self.values.get(&own).copied());
            longest = carried.fold(longest, f64::max);
        }
        let has_calls = self.steps.iter().any(|step| Call::of(ir, step.op) == Some(Call::Single));
        if has_calls || in_memory { longest + self.machine.latency * THROUGH_MEMORY } else { longest }
    }

    /// Runs an operation. Returns how long iterations that wait for it wait for one another.
    fn step(&mut self, Step { op, access }: Step) -> f64 {
        let waits = self.ir.operands(op).filter_map(|own| self.values.get(&own).copied());
        let ready = waits.reduce(f64::max);
        let (done, wait) = match access {
            Some(Access { stream, place, writes: true }) => {
                self.places.insert((stream, place), ready);
                (None, ready.map_or(0.0, |ready| ready / self.distance(stream, place)))
            }
            Some(Access { stream, place, writes: false }) => {
                let stored = self.places.get(&(stream, place)).copied();
                (stored.unwrap_or_else(|| self.streams.all[stream].is_awaited(place).then_some(0.0)), 0.0)
            }
            None => (ready.map(|ready| ready + latency(self.ir, self.machine, op)), 0.0),
        };
        for result in self.ir.results(op) {
            match done {
                Some(done) => _ = self.values.insert(result, done),
                None => _ = self.values.remove(&result),
            }
        }
        wait
    }

    /// Returns the number of iterations until a stored element is loaded.
    fn distance(&self, stream: usize, place: Place) -> f64 {
        self.streams.all[stream].until_read(place).map_or(f64::INFINITY, |iterations| iterations as f64)
    }
}
