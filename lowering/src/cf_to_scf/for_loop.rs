//! A loop that counts, as `scf.for`.

use hashbrown::HashSet;
use loomir_dialects::{llvm, scf};
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Attr, Block, Builder, InsertPoint, Type, Value};

use super::Opaque;
use super::counted::{Counted, cast, index_constant, resized};
use super::exits::{Exits, Target, selector_of};
use super::structure::{Structure, poison};
use crate::cfg::arithmetic;
use crate::cfg::expander::{Recipe, Writer};
use crate::cfg::place_of;

/// A value passed to the exit of a loop.
enum Passed {
    /// A value from before the loop.
    Same(Value),
    /// A result of the loop, by its place.
    Result(usize),
    /// The last value of a variable, or the one behind it.
    Final(usize, bool),
}

/// The values that a loop carries.
#[derive(Default)]
struct Carried {
    /// The initial values.
    inits: Vec<Value>,
    /// The values of the next iteration.
    yielded: Vec<Value>,
}

/// A loop that is written before `into` goes on.
struct Header<'c> {
    counted: &'c Counted,
    inits: &'c [Value],
    /// The number of iterations, with 64 bits.
    trips: Value,
    /// The step of each variable.
    steps: Vec<Option<Value>>,
    into: Block,
}

impl Structure<'_> {
    /// Writes a loop that counts, and returns the way out of it.
    pub(super) fn for_loop(
        &mut self,
        counted: &Counted,
        (of, annotation): (LoopId, Vec<(String, Attr)>),
        inits: &[Value],
        into: Block,
        depth: usize,
    ) -> Result<Exits, Opaque> {
        let trips = self.write_recipe(counted, &counted.trips, into);
        let step = |this: &mut Self, at: usize| {
            let variable = counted.variables[at].as_ref()?;
            Some(this.write_recipe(counted, &variable.step, into))
        };
        let steps = (0..inits.len()).map(|at| step(self, at)).collect();
        let header = Header { counted, inits, trips, steps, into };
        let place = place_of(self.body, self.analysis.block(self.analysis.loops().get(of).header()));
        let inside = self.temporary(&[Type::INDEX]);
        let (arguments, positions) = self.arguments(&header, inside);
        let exits = self.body_of(of, arguments, inside, depth)?;
        let again = self.again(of);
        let Some(next) = exits.values(again) else { return Err(Opaque::Branch) };
        let mut carried = Carried {
            inits: positions.iter().map(|at| inits[*at]).collect(),
            yielded: positions.iter().map(|at| next[*at]).collect(),
        };
        let left = exits.without(again);
        let union: Vec<Target> = left.targets().collect();
        let selector = (union.len() > 1).then(|| {
            let mut builder = Builder::new(self.body, InsertPoint::End(inside));
            left.selector_among(&union, &mut builder)
        });
        let selector = selector.map(|value| self.passed(value, None, (inside, into), &mut carried));
        let mut passed = Vec::with_capacity(union.len());
        for target in &union {
            let finals = self.block(*target).and_then(|block| counted.finals.get(&block));
            let values = left.values(*target).unwrap_or_default().iter().enumerate();
            let values = values.map(|(at, value)| {
                let own = finals.and_then(|finals| *finals.get(at)?);
                self.passed(*value, own, (inside, into), &mut carried)
            });
            passed.push(values.collect::<Vec<Passed>>());
        }
        let mut builder = Builder::new(self.body, InsertPoint::End(inside));
        builder.set_loc(place);
        let state = builder.state(scf::YieldOp::DEF).operands(&carried.yielded);
        builder.insert(state);
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        builder.set_loc(place);
        let [zero, one] = [0, 1].map(|number| index_constant(&mut builder, number));
        let end = cast(&mut builder, trips, Type::INDEX);
        let types: Vec<Type> = carried.yielded.iter().map(|value| builder.type_of(*value)).collect();
        let operands: Vec<Value> = [zero, end, one].into_iter().chain(carried.inits).collect();
        let mut state = builder.state(scf::ForOp::DEF).operands(&operands).results(&types).regions(1);
        if counted.unsigned {
            state.set_attr(&builder.ctx(), "unsignedCmp", Attr::UNIT);
        }
        let op = builder.insert(state);
        let region = self.body.region(op, 0);
        self.body.move_block(inside, region, None);
        self.annotate(op, annotation);
        let mut left_with = |passed: Passed| match passed {
            Passed::Same(value) => Some(value),
            Passed::Result(place) => Some(self.body.result(op, place)),
            Passed::Final(at, is_next) => self.final_value(&header, at, is_next),
        };
        let selector = selector.and_then(&mut left_with);
        let values = passed.into_iter().map(|own| own.into_iter().map(&mut left_with).collect());
        let values: Option<Vec<Vec<Value>>> = values.collect();
        let exits = union.iter().copied().zip(values.ok_or(Opaque::Branch)?).collect();
        Ok(Exits::several(selector_of(&union, selector), exits))
    }

    /// Writes the variables at the start of an iteration. Returns the values of all header
    /// arguments, and the positions of those that are carried.
    fn arguments(&mut self, header: &Header<'_>, inside: Block) -> (Vec<Value>, Vec<usize>) {
        let index = self.body.argument(inside, 0);
        let count = cast(&mut Builder::new(self.body, InsertPoint::End(inside)), index, Type::I64);
        let (mut arguments, mut carried) = (Vec::new(), Vec::new());
        for (at, init) in header.inits.iter().enumerate() {
            arguments.push(match (&header.counted.variables[at], header.steps[at]) {
                (Some(variable), Some(step)) => {
                    let mut builder = Builder::new(self.body, InsertPoint::End(inside));
                    variable.at(&mut builder, *init, step, count, false)
                }
                _ => {
                    carried.push(at);
                    let ty = self.body.value_type(*init);
                    self.body.add_argument(inside, ty)
                }
            });
        }
        (arguments, carried)
    }

    /// Returns the way in which a value leaves a loop. A value of its own is carried.
    fn passed(
        &mut self,
        value: Value,
        own: Option<(usize, bool)>,
        (inside, into): (Block, Block),
        carried: &mut Carried,
    ) -> Passed {
        if let Some((at, is_next)) = own {
            return Passed::Final(at, is_next);
        }
        if self.body.value_block(value) != Some(inside) {
            return Passed::Same(value);
        }
        let known = carried.yielded.iter().position(|known| *known == value);
        Passed::Result(known.unwrap_or_else(|| {
            let ty = self.body.value_type(value);
            self.body.add_argument(inside, ty);
            carried.inits.push(poison(&mut Builder::new(self.body, InsertPoint::End(into)), ty));
            carried.yielded.push(value);
            carried.yielded.len() - 1
        }))
    }

    /// Writes the last value of a variable behind the loop, or the value of one more step.
    fn final_value(&mut self, header: &Header<'_>, at: usize, is_next: bool) -> Option<Value> {
        let mut builder = Builder::new(self.body, InsertPoint::End(header.into));
        let mut count = header.trips;
        if !is_next {
            let one = arithmetic::constant(&mut builder, 64, 1);
            count = arithmetic::binary(&mut builder, llvm::SubOp::DEF, count, one);
        }
        let (variable, step) = (header.counted.variables[at].as_ref()?, header.steps[at]?);
        Some(variable.at(&mut builder, header.inits[at], step, count, is_next))
    }

    /// Writes an expression of at most 64 bits as a number of 64 bits.
    fn write_recipe(&mut self, counted: &Counted, recipe: &Recipe, into: Block) -> Value {
        let settled: HashSet<Value> = counted.settled.iter().map(|value| self.current(*value)).collect();
        let mut recipe = recipe.clone();
        recipe.rename(&|value| self.current(value));
        let width = recipe.width();
        let mut builder = Builder::new(self.body, InsertPoint::End(into));
        let value = Writer::trusting(&mut builder, &|value| settled.contains(&value)).write(&recipe);
        if width < 64 { resized(&mut builder, llvm::ZExtOp::DEF, value, 64) } else { value }
    }
}
