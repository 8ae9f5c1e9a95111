//! Executing a [`Program`] by its own definition, with a trace.
//!
//! The execution is independent of the dialects, the interpreter and the analyses, which are
//! checked against it. Undefined behaviour ends it with an error. Nothing is then required of
//! transformations.
//!
//! Cost: linear in the executed operations; the trace keeps a path for each element touched.

use std::collections::BTreeMap;

use super::updates::{Update, updates};
use super::{
    Callee, Condition, Element, Expr, Item, Loop, LoopId, MemRefId, Operator, Program, Relation, Source,
    Test, ValueId,
};

/// The object of each argument: the number of the first argument with the same object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Aliasing(pub Vec<usize>);

/// One iteration of one surrounding loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// The loop.
    pub id: LoopId,
    /// The number of earlier iterations in this run of the loop.
    pub iteration: u64,
}

/// An element touched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// The loops around, outermost first.
    pub path: Vec<Step>,
    /// The object.
    pub object: usize,
    /// The element of the object.
    pub element: i64,
    /// True if it is written.
    pub writes: bool,
    /// The update that the access is part of.
    pub update: Option<Update>,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The final contents of the argument buffers, in order of the arguments.
    pub arguments: Vec<Vec<i64>>,
    /// The returned values.
    pub results: Vec<i64>,
    /// For each element of the arguments, and each result, true if it depends on sums or products
    /// that may be reassociated.
    pub open: (Vec<Vec<bool>>, Vec<bool>),
    /// Every element touched, in order.
    pub trace: Vec<Access>,
}

/// A value became poison. Its consequences depend on its uses, which are not followed.
pub const POISON: &str = "poison";
/// A value that may be rounded differently decides control flow.
pub const ROUNDED: &str = "decided by what may be rounded otherwise";

/// A number, and true if it depends on sums or products that may be reassociated.
type Number = (i64, bool);

struct Object {
    /// `None`: never written.
    cells: Vec<Option<Number>>,
    alive: bool,
}

struct State<'p> {
    program: &'p Program,
    objects: Vec<Object>,
    /// The object of each memref.
    object_of: Vec<usize>,
    variables: Vec<i64>,
    values: Vec<Number>,
    path: Vec<Step>,
    trace: Vec<Access>,
    /// The values that updates load and store.
    updates: BTreeMap<ValueId, Update>,
    parameters: &'p [i64],
}

impl Program {
    /// Runs the program with these parameters. Arguments share buffers according to `aliasing`.
    ///
    /// # Errors
    /// The undefined behaviour of the program.
    pub fn execute(&self, parameters: &[i64], aliasing: &Aliasing) -> Result<Execution, &'static str> {
        let (objects, object_of, arguments) = self.objects(parameters, aliasing);
        let mut state = State {
            program: self,
            objects,
            object_of,
            variables: Vec::new(),
            values: Vec::new(),
            path: Vec::new(),
            trace: Vec::new(),
            updates: updates(self),
            parameters,
        };
        for (value, constant) in &self.constants {
            state.set(*value, (*constant, false));
        }
        state.items(&self.body)?;
        let results = self.returns.iter().map(|v| state.value(*v)).collect::<Result<Vec<_>, _>>()?;
        let read = |object: &usize| {
            state.objects[*object].cells.iter().copied().collect::<Option<Vec<_>>>().ok_or("uninitialised")
        };
        let arguments = arguments.iter().map(read).collect::<Result<Vec<_>, _>>()?;
        let (results, open_results) = results.into_iter().unzip();
        let (arguments, open) = arguments.into_iter().map(|all| all.into_iter().unzip()).unzip();
        Ok(Execution { arguments, results, open: (open, open_results), trace: state.trace })
    }

    /// Returns the initial contents of argument buffer `index` of `len` elements.
    pub fn initial(&self, index: usize, len: i64) -> Vec<i64> {
        (0..len).map(|k| self.element.of_number((index as i64 * 7 + k * 5 + 3) % 23 - 7)).collect()
    }

    /// Returns the arguments that are memrefs.
    pub fn argument_memrefs(&self) -> impl Iterator<Item = MemRefId> + '_ {
        (0..self.memrefs.len()).filter(|m| matches!(self.memrefs[*m].source, Source::Argument { .. }))
    }

    /// Returns the objects, the object of each memref, and the objects of the arguments.
    fn objects(&self, parameters: &[i64], aliasing: &Aliasing) -> (Vec<Object>, Vec<usize>, Vec<usize>) {
        let mut objects: Vec<Object> = Vec::new();
        let mut object_of: Vec<usize> = Vec::new();
        let mut arguments: Vec<usize> = Vec::new();
        let mut globals: Vec<(usize, usize)> = Vec::new();
        for memref in &self.memrefs {
            let len = memref.len();
            let fresh = objects.len();
            let object = match &memref.source {
                Source::Argument { .. } => {
                    let index = arguments.len();
                    let object = match aliasing.0.get(index) {
                        Some(same) if *same < index => arguments[*same],
                        _ => {
                            let cells =
                                self.initial(index, len).into_iter().map(|n| Some((n, false))).collect();
                            objects.push(Object { cells, alive: true });
                            fresh
                        }
                    };
                    arguments.push(object);
                    object
                }
                Source::Allocation => {
                    objects.push(Object { cells: vec![None; len as usize], alive: true });
                    fresh
                }
                Source::Global(name) => match globals.iter().find(|(own, _)| own == name) {
                    Some((_, object)) => *object,
                    None => {
                        let number = self.element.of_number(global_value(*name));
                        let cells = vec![Some((number, false)); len as usize];
                        objects.push(Object { cells, alive: true });
                        globals.push((*name, fresh));
                        fresh
                    }
                },
                Source::Cast(of) | Source::Reinterpret(of) | Source::Returned(of) => object_of[*of],
                Source::SubView { of, .. } => object_of[*of],
                Source::Select(a, b) => {
                    if parameters.first().is_some_and(|p| *p > 0) {
                        object_of[*a]
                    } else {
                        object_of[*b]
                    }
                }
            };
            object_of.push(object);
        }
        (objects, object_of, arguments)
    }
}

/// Returns the initial value of every element of a global.
pub(super) fn global_value(name: usize) -> i64 {
    3 + name as i64
}

impl Element {
    /// Returns a small number as a value.
    pub fn of_number(self, number: i64) -> i64 {
        match self {
            Element::I32 => i64::from(number as i32),
            Element::I64 => number,
            Element::F32 => i64::from((number as f32).to_bits()),
        }
    }

    fn apply(self, operator: Operator, a: i64, b: i64) -> i64 {
        match self {
            Element::F32 => {
                let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
                let result = match operator {
                    Operator::Add => x + y,
                    Operator::Sub => x - y,
                    Operator::Mul => x * y,
                    // The maximum. A positive zero is greater than a negative one, and NaN
                    // prevails.
                    Operator::Max if x.is_nan() || y.is_nan() => f32::NAN,
                    Operator::Max if x == y => {
                        if x.is_sign_negative() {
                            y
                        } else {
                            x
                        }
                    }
                    Operator::Max => x.max(y),
                };
                i64::from(if result.is_nan() { f32::NAN.to_bits() } else { result.to_bits() })
            }
            Element::I32 | Element::I64 => {
                let result = match operator {
                    Operator::Add => a.wrapping_add(b),
                    Operator::Sub => a.wrapping_sub(b),
                    Operator::Mul => a.wrapping_mul(b),
                    Operator::Max => a.max(b),
                };
                if self == Element::I32 { i64::from(result as i32) } else { result }
            }
        }
    }

    /// True if an operation on two integers wraps in this type.
    fn wraps(self, operator: Operator, a: i64, b: i64) -> bool {
        let exact = match operator {
            Operator::Add => i128::from(a) + i128::from(b),
            Operator::Sub => i128::from(a) - i128::from(b),
            Operator::Mul => i128::from(a) * i128::from(b),
            Operator::Max => return false,
        };
        self != Element::F32 && exact != i128::from(self.apply(operator, a, b))
    }

    fn is_positive(self, value: i64) -> bool {
        match self {
            Element::F32 => f32::from_bits(value as u32) > 0.0,
            Element::I32 | Element::I64 => value > 0,
        }
    }
}

type Done = Result<(), &'static str>;

impl State<'_> {
    fn set(&mut self, value: ValueId, to: Number) {
        if self.values.len() <= value {
            self.values.resize(value + 1, (0, false));
        }
        self.values[value] = to;
    }

    fn value(&self, value: ValueId) -> Result<Number, &'static str> {
        self.values.get(value).copied().ok_or("undefined value")
    }

    fn items(&mut self, items: &[Item]) -> Done {
        items.iter().try_for_each(|item| self.item(item))
    }

    fn item(&mut self, item: &Item) -> Done {
        let element = self.program.element;
        match item {
            Item::Loop(l) => self.run_loop(l)?,
            Item::If(condition, then, otherwise) => {
                let holds = match condition {
                    Condition::All(tests) => {
                        let each = tests.iter().map(|test| self.test(test)).collect::<Result<Vec<_>, _>>()?;
                        each.into_iter().all(|holds| holds)
                    }
                    Condition::Positive(value) => match self.value(*value)? {
                        (_, true) => return Err(ROUNDED),
                        (number, false) => element.is_positive(number),
                    },
                };
                self.items(if holds { then } else { otherwise })?;
            }
            Item::Load(value, memref, at) => {
                let (object, cell) = self.cell(*memref, at)?;
                let loaded = self.read(object, cell)?;
                self.mark_update(*value);
                self.set(*value, loaded);
            }
            Item::Store(value, memref, at) => {
                let stored = self.value(*value)?;
                let (object, cell) = self.cell(*memref, at)?;
                self.write(object, cell, stored)?;
                self.mark_update(*value);
            }
            Item::Compute(value, operator, a, b) => {
                let ((a, left), (b, right)) = (self.value(*a)?, self.value(*b)?);
                if self.program.has_flags(*value) && element.wraps(*operator, a, b) {
                    return Err(POISON);
                }
                let is_open = self.updates.get(value).is_some_and(|(_, reassociated)| *reassociated);
                self.set(*value, (element.apply(*operator, a, b), left || right || is_open));
            }
            Item::Yield(result, value) => {
                let value = self.value(*value)?;
                self.set(*result, value);
            }
            Item::Index(value, expr) => {
                let number = self.index(expr)?;
                self.set(*value, (element.of_number(number), false));
            }
            Item::Call(Callee::Fill, memref) => {
                for (k, cell) in self.cells(*memref).into_iter().enumerate() {
                    self.write(self.object_of[*memref], cell, (element.of_number(k as i64 + 1), false))?;
                }
            }
            Item::Call(Callee::Bump, memref) => {
                let (object, cell) = (self.object_of[*memref], self.program.memrefs[*memref].offset);
                let (old, is_open) = self.read(object, cell)?;
                self.write(object, cell, (element.apply(Operator::Add, old, old), is_open))?;
            }
            Item::Copy(from, to) => {
                let (from_cells, to_cells) = (self.cells(*from), self.cells(*to));
                for (source, target) in from_cells.into_iter().zip(to_cells) {
                    let value = self.read(self.object_of[*from], source)?;
                    self.write(self.object_of[*to], target, value)?;
                }
            }
            Item::Dealloc(memref) => {
                let object = &mut self.objects[self.object_of[*memref]];
                if !std::mem::replace(&mut object.alive, false) {
                    return Err("freed twice");
                }
                // For the order of accesses, the end of a life writes every element.
                for cell in self.cells(*memref) {
                    let access = self.access(self.object_of[*memref], cell, true);
                    self.trace.push(access);
                }
            }
        }
        Ok(())
    }

    fn test(&self, test: &Test) -> Result<bool, &'static str> {
        let (index, number) = (self.index(&test.expr)?, test.number);
        Ok(match test.relation {
            Relation::Below => index < number,
            Relation::UnsignedBelow => (index as u64) < number as u64,
            Relation::AtLeast => index >= number,
            Relation::Equal => index == number,
        })
    }

    fn run_loop(&mut self, l: &Loop) -> Done {
        let bound = |state: &Self, exprs: &[Expr]| {
            exprs.iter().map(|e| state.index(e)).collect::<Result<Vec<_>, _>>()
        };
        let lower = bound(self, &l.lower)?.into_iter().max().unwrap_or(0);
        let upper = bound(self, &l.upper)?.into_iter().min().unwrap_or(0);
        if let Some(carried) = &l.carried {
            self.set(carried.argument, self.value(carried.init)?);
        }
        if self.variables.len() <= l.id {
            self.variables.resize(l.id + 1, 0);
        }
        self.path.push(Step { id: l.id, iteration: 0 });
        let mut variable = lower;
        let mut iteration = 0;
        while variable < upper {
            self.variables[l.id] = variable;
            if let Some(step) = self.path.last_mut() {
                step.iteration = iteration;
            }
            self.items(&l.body)?;
            if let Some(carried) = &l.carried {
                self.set(carried.argument, self.value(carried.next)?);
            }
            variable += l.step;
            iteration += 1;
        }
        self.path.pop();
        if let Some(carried) = &l.carried {
            self.set(carried.result, self.value(carried.argument)?);
        }
        Ok(())
    }

    fn index(&self, expr: &Expr) -> Result<i64, &'static str> {
        Ok(match expr {
            Expr::Constant(number) => *number,
            Expr::Variable(id) => self.variables.get(*id).copied().ok_or("undefined variable")?,
            Expr::Parameter(index) => self.parameters.get(*index).copied().ok_or("undefined parameter")?,
            Expr::Add(a, b) => self.index(a)? + self.index(b)?,
            Expr::Scale(a, factor) => self.index(a)? * factor,
            Expr::FloorDiv(a, divisor) => self.index(a)?.div_euclid(*divisor),
            Expr::Mod(a, divisor) => self.index(a)?.rem_euclid(*divisor),
            Expr::Product(a, b) => self.index(a)? * self.index(b)?,
            Expr::Wrapped(value, size) => (self.value(*value)?.0 as u64 % *size as u64) as i64,
        })
    }

    fn cell(&self, memref: MemRefId, at: &[Expr]) -> Result<(usize, i64), &'static str> {
        let view = &self.program.memrefs[memref];
        let mut cell = view.offset;
        for ((expr, size), stride) in at.iter().zip(&view.shape).zip(&view.strides) {
            let index = self.index(expr)?;
            if index < 0 || index >= *size {
                return Err("out of bounds");
            }
            cell += index * stride;
        }
        Ok((self.object_of[memref], cell))
    }

    /// Returns every element of a memref in row-major order.
    fn cells(&self, memref: MemRefId) -> Vec<i64> {
        let view = &self.program.memrefs[memref];
        let mut cells = vec![view.offset];
        for (size, stride) in view.shape.iter().zip(&view.strides) {
            cells = cells.iter().flat_map(|cell| (0..*size).map(move |k| cell + k * stride)).collect();
        }
        cells
    }

    fn access(&self, object: usize, element: i64, writes: bool) -> Access {
        Access { path: self.path.clone(), object, element, writes, update: None }
    }

    /// Marks the last access, which loaded or stored this value, as part of its update, if any.
    fn mark_update(&mut self, value: ValueId) {
        if let (Some(last), Some(update)) = (self.trace.last_mut(), self.updates.get(&value)) {
            last.update = Some(*update);
        }
    }

    fn read(&mut self, object: usize, cell: i64) -> Result<Number, &'static str> {
        let access = self.access(object, cell, false);
        self.trace.push(access);
        let object = self.objects.get(object).filter(|o| o.alive).ok_or("used after its end")?;
        object.cells.get(cell as usize).copied().ok_or("out of bounds")?.ok_or("uninitialised")
    }

    fn write(&mut self, object: usize, cell: i64, value: Number) -> Done {
        let access = self.access(object, cell, true);
        self.trace.push(access);
        let object = self.objects.get_mut(object).filter(|o| o.alive).ok_or("used after its end")?;
        *object.cells.get_mut(cell as usize).ok_or("out of bounds")? = Some(value);
        Ok(())
    }
}
