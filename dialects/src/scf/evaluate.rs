//! Execution of the operations of `scf`. Each is an action that enters its regions and is resumed
//! when they yield.
//!
//! Induction variables and accumulators are in the registers of block arguments and results, so the
//! operations need next to no state of their own.

use loomir_ir::{OpRef, Registry};

use crate::interp::code::malformed;
use crate::interp::elementwise::bit_width;
use crate::interp::integer::{fits_signed, mask, signed};
use crate::interp::mixed::Mixed;
use crate::interp::{
    Datum, Decoded, Decoder, Entry, Evaluate, Execute, Fault, Flow, Machine, Slot, Span, Step, action,
};

/// Attaches the models.
pub(super) fn register(registry: &mut Registry) {
    let mut attach = |name: &str, model: fn(OpRef<'_>, &mut Decoder<'_>) -> Decoded| {
        registry.attach::<dyn Evaluate>(&format!("scf.{name}"), Box::new(model));
    };
    attach("for", decode_for);
    attach("if", decode_if);
    attach("while", decode_while);
    attach("parallel", decode_parallel);
    attach("reduce", decode_reduce);
    attach("forall", decode_forall);
    attach("execute_region", decode_execute_region);
    attach("index_switch", decode_index_switch);
    for terminator in ["yield", "condition", "reduce.return", "forall.in_parallel"] {
        attach(terminator, decode_yield);
    }
}

/// Decodes a terminator that passes its operands to the operation around.
pub(crate) fn decode_yield(_op: OpRef<'_>, _d: &mut Decoder<'_>) -> Decoded {
    Ok(action(|_| Ok(Flow::Yield)))
}

/// `scf.for`.
struct For {
    lower: Slot,
    upper: Slot,
    step: Slot,
    inits: Box<[Slot]>,
    body: Entry,
    variable: Slot,
    carried: Box<[Slot]>,
    results: Box<[Slot]>,
    width: u32,
    unsigned: bool,
}

fn decode_for(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let body = d.region_of(op, 0)?;
    let Some((variable, carried)) = body.arguments.split_first() else {
        return Err(malformed("an induction variable"));
    };
    Ok(Box::new(For {
        lower: d.operand(op, 0)?,
        upper: d.operand(op, 1)?,
        step: d.operand(op, 2)?,
        inits: d.slots(op.operands().skip(3)),
        variable: *variable,
        carried: carried.into(),
        results: d.slots(op.results()),
        width: bit_width(d.ctx(), op.operand_type(0))?,
        unsigned: op.attr("unsignedCmp").is_some(),
        body,
    }))
}

impl For {
    /// Reads a bound as a number in the comparison order of the loop.
    #[inline]
    fn number(&self, m: &Machine, slot: Slot, what: &str) -> Result<i128, Box<Fault>> {
        match m.get(slot) {
            Datum::Bits(bits) if self.unsigned => Ok((*bits).into()),
            Datum::Bits(bits) => Ok(signed(self.width, (*bits).into())),
            Datum::Wide(bits) if !self.unsigned => Ok(signed(self.width, **bits)),
            other => Err(crate::interp::unusable(other, what)),
        }
    }
}

impl Execute for For {
    fn execute(&self, m: &mut Machine) -> Step {
        let lower = self.number(m, self.lower, "the lower bound of a loop")?;
        let upper = self.number(m, self.upper, "the upper bound of a loop")?;
        let step = self.number(m, self.step, "the step of a loop")?;
        if step <= 0 {
            return Err(Fault::undefined(format!("the step of a loop is {step}, and must be positive")));
        }
        if lower >= upper {
            m.copy(&self.inits, &self.results)?;
            return Ok(Flow::Next);
        }
        m.copy(&self.inits, &self.carried)?;
        m.set(self.variable, Datum::bits(self.width, lower as u128));
        Ok(Flow::Goto(self.body.target))
    }

    #[inline]
    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        let current = self.number(m, self.variable, "the induction variable")?;
        let upper = self.number(m, self.upper, "the upper bound of a loop")?;
        let step = self.number(m, self.step, "the step of a loop")?;
        let Some(next) = current.checked_add(step) else { return Err(overflow(current, step, self.width)) };
        if next < upper {
            m.copy(yielded, &self.carried)?;
            m.set(self.variable, Datum::bits(self.width, next as u128));
            return Ok(Flow::Goto(self.body.target));
        }
        let fits =
            if self.unsigned { next as u128 <= mask(self.width) } else { fits_signed(self.width, next) };
        if !fits {
            return Err(overflow(current, step, self.width));
        }
        m.copy(yielded, &self.results)?;
        Ok(Flow::Next)
    }
}

/// Returns the fault of an induction variable that leaves its type.
#[cold]
pub(crate) fn overflow(current: i128, step: i128, width: u32) -> Box<Fault> {
    Fault::undefined(format!("the induction variable of a loop overflows {width} bits: {current} + {step}"))
}

/// An operation that runs at most one of its regions, once. Its results are the values yielded.
pub(crate) struct Choice<F> {
    /// Picks the entry.
    pub(crate) pick: F,
    /// The registers of the yielded values.
    pub(crate) results: Box<[Slot]>,
}

impl<F: Fn(&Machine) -> Result<Option<crate::interp::code::Target>, Box<Fault>>> Execute for Choice<F> {
    fn execute(&self, m: &mut Machine) -> Step {
        Ok(match (self.pick)(m)? {
            Some(target) => Flow::Goto(target),
            None => Flow::Next,
        })
    }

    fn resume(&self, m: &mut Machine, _region: usize, yielded: &[Slot]) -> Step {
        m.copy(yielded, &self.results)?;
        Ok(Flow::Next)
    }
}

/// Returns the start of region `index`, if it has blocks.
pub(crate) fn optional_region(
    op: OpRef<'_>,
    d: &Decoder<'_>,
    index: usize,
) -> Result<Option<crate::interp::code::Target>, Box<Fault>> {
    let region = op.regions().nth(index).filter(|r| op.body().entry_block(*r).is_some());
    region.map(|r| Ok(d.region(r)?.target)).transpose()
}

fn decode_if(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let condition = d.operand(op, 0)?;
    let (yes, no) = (d.region_of(op, 0)?.target, optional_region(op, d, 1)?);
    let pick = move |m: &Machine| {
        Ok(if m.condition(condition, "the condition of a branch")? { Some(yes) } else { no })
    };
    Ok(Box::new(Choice { pick, results: d.slots(op.results()) }))
}

/// Decodes an operation that runs its only region once.
pub(crate) fn decode_execute_region(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let target = d.region_of(op, 0)?.target;
    Ok(Box::new(Choice { pick: move |_: &Machine| Ok(Some(target)), results: d.slots(op.results()) }))
}

fn decode_index_switch(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let flag = d.operand(op, 0)?;
    let cases = op.attr("cases").and_then(|a| a.as_dense_ints(d.ctx())).ok_or_else(|| malformed("cases"))?;
    let default = d.region_of(op, 0)?.target;
    let target = |(i, case): (usize, &i64)| Ok((*case, d.region_of(op, i + 1)?.target));
    let targets: Vec<_> = cases.iter().enumerate().map(target).collect::<Result<_, Box<Fault>>>()?;
    let pick = move |m: &Machine| {
        let value = m.index(flag, "the flag of a switch")?;
        Ok(Some(targets.iter().find(|(case, _)| *case == value).map_or(default, |(_, target)| *target)))
    };
    Ok(Box::new(Choice { pick, results: d.slots(op.results()) }))
}

/// `scf.while`.
struct While {
    inits: Box<[Slot]>,
    before: Entry,
    after: Entry,
    results: Box<[Slot]>,
}

fn decode_while(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    Ok(Box::new(While {
        inits: d.slots(op.operands()),
        before: d.region_of(op, 0)?,
        after: d.region_of(op, 1)?,
        results: d.slots(op.results()),
    }))
}

impl Execute for While {
    fn execute(&self, m: &mut Machine) -> Step {
        m.enter(&self.before, &self.inits)
    }

    fn resume(&self, m: &mut Machine, region: usize, yielded: &[Slot]) -> Step {
        if region == 1 {
            return m.enter(&self.before, yielded);
        }
        let Some((condition, arguments)) = yielded.split_first() else {
            return Err(malformed("a condition"));
        };
        if m.condition(*condition, "the condition of a loop")? {
            return m.enter(&self.after, arguments);
        }
        m.copy(arguments, &self.results)?;
        Ok(Flow::Next)
    }
}

/// A nest of loops without carried values, run in lexicographic order or interleaved. The results
/// are accumulators that operations inside update.
struct Nest {
    bounds: [Mixed; 3],
    body: Entry,
    inits: Box<[Slot]>,
    results: Box<[Slot]>,
}

fn decode_parallel(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 4)?;
    let dynamic = |i: usize| {
        let constants = vec![loomir_ir::types::DYNAMIC; groups[i].len()];
        Mixed::fill(d, &constants, groups[i].iter().copied())
    };
    let bounds = [dynamic(0)?, dynamic(1)?, dynamic(2)?];
    nest(op, d, bounds, d.slots(groups[3].iter().copied()))
}

fn decode_forall(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let groups = d.segments(op, 4)?;
    if !groups[3].is_empty() {
        return Err(Fault::unsupported("`scf.forall` with tensors"));
    }
    let mixed = |name: &str, i: usize| Mixed::new(op, d, name, groups[i].iter().copied());
    let bounds = [mixed("staticLowerBound", 0)?, mixed("staticUpperBound", 1)?, mixed("staticStep", 2)?];
    nest(op, d, bounds, Box::default())
}

fn nest(op: OpRef<'_>, d: &Decoder<'_>, bounds: [Mixed; 3], inits: Box<[Slot]>) -> Decoded {
    let body = d.region_of(op, 0)?;
    let rank = body.arguments.len();
    if bounds.iter().any(|b| b.len() != rank) {
        return Err(malformed("bounds and a step for each induction variable"));
    }
    Ok(Box::new(Nest { bounds, body, inits, results: d.slots(op.results()) }))
}

impl Execute for Nest {
    fn execute(&self, m: &mut Machine) -> Step {
        m.copy(&self.inits, &self.results)?;
        let mut empty = false;
        for (d, variable) in self.body.arguments.iter().enumerate() {
            let lower = self.bounds[0].get(m, d, "the lower bound of a loop")?;
            let upper = self.bounds[1].get(m, d, "the upper bound of a loop")?;
            let step = self.bounds[2].get(m, d, "the step of a loop")?;
            if step <= 0 {
                return Err(Fault::undefined(format!("the step of a loop is {step}, and must be positive")));
            }
            empty |= lower >= upper;
            m.set(*variable, Datum::index(lower));
        }
        if empty {
            return Ok(Flow::Next);
        }
        m.begin_parallel(&self.body, |m| {
            let span = |d: usize| {
                let lower = self.bounds[0].get(m, d, "the lower bound of a loop")?;
                let upper = self.bounds[1].get(m, d, "the upper bound of a loop")?;
                span(lower, upper, self.bounds[2].get(m, d, "the step of a loop")?)
            };
            (0..self.body.arguments.len()).map(span).collect()
        })
    }

    fn resume(&self, m: &mut Machine, _region: usize, _yielded: &[Slot]) -> Step {
        if m.runs_strands() {
            m.share(&self.results);
            return Ok(Flow::Join);
        }
        for (d, variable) in self.body.arguments.iter().enumerate().rev() {
            let current = m.index(*variable, "the induction variable")?;
            let step = self.bounds[2].get(m, d, "the step of a loop")?;
            let next = current.checked_add(step).ok_or_else(|| overflow(current.into(), step.into(), 64))?;
            if next < self.bounds[1].get(m, d, "the upper bound of a loop")? {
                m.set(*variable, Datum::index(next));
                m.begin_iteration(&self.body.arguments)?;
                return Ok(Flow::Goto(self.body.target));
            }
            let lower = self.bounds[0].get(m, d, "the lower bound of a loop")?;
            m.set(*variable, Datum::index(lower));
        }
        m.end_parallel();
        Ok(Flow::Next)
    }
}

/// Returns the values of an induction variable from `lower` to below `upper`, of which there is one
/// at least.
pub(crate) fn span(lower: i64, upper: i64, step: i64) -> Result<Span, Box<Fault>> {
    let count = (i128::from(upper) - i128::from(lower) - 1) / i128::from(step) + 1;
    let last = i128::from(lower) + (count - 1) * i128::from(step);
    if last + i128::from(step) > i64::MAX.into() {
        return Err(overflow(last, step.into(), 64));
    }
    Ok(Span { first: lower, step, count: count as u64 })
}

/// `scf.reduce`. Folds its operands one after the other into the results of the loop around.
struct Reduce {
    operands: Box<[Slot]>,
    accumulators: Box<[Slot]>,
    reductions: Box<[Entry]>,
}

fn decode_reduce(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let around = op.parent().ok_or_else(|| malformed("a loop around it"))?;
    let (operands, accumulators) = (d.slots(op.operands()), d.slots(around.results()));
    let reductions: Result<Box<[Entry]>, _> = op.regions().map(|r| d.region(r)).collect();
    let reductions = reductions?;
    if accumulators.len() != operands.len() || reductions.len() != operands.len() {
        return Err(malformed("a region and a result of its loop for each operand"));
    }
    Ok(Box::new(Reduce { operands, accumulators, reductions }))
}

impl Reduce {
    fn start(&self, m: &mut Machine, k: usize) -> Step {
        match self.reductions.get(k) {
            Some(entry) => m.enter(entry, &[self.accumulators[k], self.operands[k]]),
            None => {
                m.end_atomic();
                Ok(Flow::Yield)
            }
        }
    }
}

impl Execute for Reduce {
    fn execute(&self, m: &mut Machine) -> Step {
        if m.runs_strands() {
            m.fetch(&self.accumulators);
        }
        m.begin_atomic();
        self.start(m, 0)
    }

    fn resume(&self, m: &mut Machine, region: usize, yielded: &[Slot]) -> Step {
        m.copy(yielded, &self.accumulators[region..=region])?;
        self.start(m, region + 1)
    }
}
