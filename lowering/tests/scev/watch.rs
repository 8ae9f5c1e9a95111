//! Watching a run: checks that all predictions about a function are true in it.

use hashbrown::HashMap;

use loomir_dialects::interfaces::BranchLike;
use loomir_dialects::interp::integer::{fits_signed, mask, signed};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::interp::{self, ArgSpec, Datum, Event, Limits};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Block, Body, Type, Value};
use loomir_lowering::cfg::Analysis;
use loomir_lowering::cfg::guards::{bounds, guard};
use loomir_lowering::cfg::roles::Roles;
use loomir_lowering::cfg::scev::ScalarEvolution;
use loomir_lowering::cfg::scev::expr::{Expr, ExprId};

/// The numbers of checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Watched {
    /// Runs that terminated.
    pub(crate) runs: usize,
    /// Values compared with expressions that say more than the value itself.
    pub(crate) values: usize,
    /// Loops that were left, with an exact count.
    pub(crate) exact: usize,
    /// Loops that were left.
    pub(crate) left: usize,
    /// Values used outside of a loop that was left.
    pub(crate) scoped: usize,
    /// Loops with a guard that were entered.
    pub(crate) guards: usize,
    /// Decisions of latches with bounds.
    pub(crate) bounds: usize,
}

/// The backedge counts of loops, by the numbers of their headers, each time they were left.
pub(crate) type Left = Vec<(u32, u128)>;

impl Watched {
    pub(crate) fn add(&mut self, other: Watched) {
        self.runs += other.runs;
        self.values += other.values;
        self.exact += other.exact;
        self.left += other.left;
        self.scoped += other.scoped;
        self.guards += other.guards;
        self.bounds += other.bounds;
    }
}

/// The state of a run so far.
struct Watch<'s, 'f> {
    scev: &'s mut ScalarEvolution<'f>,
    analysis: &'f Analysis,
    function: &'f Body,
    values: HashMap<Value, u128>,
    /// The time at which a value was computed, in executed headers.
    times: HashMap<Value, u64>,
    time: u64,
    /// The number of taken backedges since the entry of each loop.
    iterations: HashMap<LoopId, u128>,
    at: Block,
    done: Watched,
    left: Left,
}

/// Returns the arguments of a call for the interpreter: numbers, and a buffer for an address.
fn arguments(module: &Body, name: &str, arguments: &[u128]) -> Result<Vec<ArgSpec>, String> {
    let ctx = module.ctx();
    let (parameters, _) = interp::signature(module, name).ok_or("no signature")?;
    let spec = |(ty, bits): (&Type, &u128)| {
        let text = match ty.integer_width(ctx) {
            Some(width) => signed(width, bits & mask(width)).to_string(),
            None => "iota : memref<256xi8>".to_owned(),
        };
        let mut spec = ArgSpec::parse(ctx, &text).map_err(|fault| fault.diagnostic.message.clone())?;
        spec.ty = spec.ty.or(Some(*ty));
        Ok(spec)
    };
    parameters.iter().zip(arguments).map(spec).collect()
}

/// Runs a function on each of these arguments and compares its predictions with the computed
/// values. Returns the backedge counts of each run. Runs that fail, or take too long, count for
/// nothing.
pub(crate) fn watch(
    module: &Body,
    name: &str,
    function: &Body,
    calls: &[Vec<u128>],
) -> Result<(Watched, Vec<Option<Left>>), String> {
    let ctx = module.ctx();
    let analysis = Analysis::of(function);
    let mut scev = ScalarEvolution::new(function, &analysis, &DataLayout::default());
    let (mut watched, mut all) = (Watched::default(), Vec::new());
    for call in calls {
        let limits = Limits { steps: 2500, ..Limits::default() };
        let specs = arguments(module, name, call)?;
        let Ok((_, trace)) = interp::run_tracing(module, name, &specs, &limits) else {
            all.push(None);
            continue;
        };
        let entry = analysis.block(0);
        let widths =
            function.arguments(entry).map(|argument| function.value_type(argument).integer_width(ctx));
        let given = function.arguments(entry).zip(call).zip(widths);
        let mut watch = Watch {
            scev: &mut scev,
            analysis: &analysis,
            function,
            values: given
                .filter_map(|((argument, bits), width)| Some((argument, bits & mask(width?))))
                .collect(),
            times: HashMap::new(),
            time: 0,
            iterations: HashMap::new(),
            at: entry,
            done: Watched { runs: 1, ..Watched::default() },
            left: Vec::new(),
        };
        for event in &trace {
            watch.event(event).map_err(|error| format!("{error}\nwith {call:?}"))?;
        }
        watched.add(watch.done);
        all.push(Some(watch.left));
    }
    Ok((watched, all))
}

fn bits(datum: &Datum) -> Option<u128> {
    match datum {
        Datum::Bits(bits) => Some(u128::from(*bits)),
        Datum::Wide(bits) => Some(**bits),
        Datum::Pointer { address, .. } => Some(u128::from(*address)),
        _ => None,
    }
}

impl Watch<'_, '_> {
    fn evaluate(&self, id: ExprId) -> Option<u128> {
        self.scev
            .evaluate(id, &|value| self.values.get(&value).copied(), &|of| self.iterations.get(&of).copied())
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        for (result, datum) in self.function.results(event.op).zip(&event.results) {
            self.computed(result, datum)?;
        }
        let view = self.function.op_ref(event.op);
        let Some(model) = view.info().interface::<dyn BranchLike>() else { return Ok(()) };
        let index = self.taken(event);
        let to = self.function.successors(event.op).nth(index).ok_or("a successor")?;
        let range = model.successor_operands(view, index);
        self.go(to)?;
        for (argument, datum) in self.function.arguments(to).zip(&event.operands[range]) {
            // All are assigned at once, and examined afterwards.
            match bits(datum) {
                Some(bits) => _ = self.values.insert(argument, bits),
                None => _ = self.values.remove(&argument),
            }
        }
        let arguments: Vec<Value> = self.function.arguments(to).collect();
        for argument in arguments {
            self.times.insert(argument, self.time);
            self.check_value(argument)?;
        }
        Ok(())
    }

    /// Returns the index of the successor that a branch goes to.
    fn taken(&self, event: &Event) -> usize {
        if self.function.is(event.op, llvm::CondBrOp::DEF) {
            return usize::from(bits(&event.operands[0]) == Some(0));
        }
        if self.function.is(event.op, llvm::SwitchOp::DEF) {
            let flag = bits(&event.operands[0]);
            let cases = self.scev.case_values(event.op);
            return cases.iter().position(|case| Some(*case) == flag).map_or(0, |case| case + 1);
        }
        0
    }

    fn computed(&mut self, value: Value, datum: &Datum) -> Result<(), String> {
        match bits(datum) {
            Some(bits) => {
                self.values.insert(value, bits);
                self.times.insert(value, self.time);
                self.check_value(value)
            }
            None => {
                self.values.remove(&value);
                Ok(())
            }
        }
    }

    /// Checks that a value equals its expression and is in its range, and that flags hold.
    fn check_value(&mut self, value: Value) -> Result<(), String> {
        let Some(bits) = self.values.get(&value).copied() else { return Ok(()) };
        if self.scev.expr_type(value).is_none() {
            return Ok(());
        }
        let id = self.scev.expr(value);
        let width = self.scev.width(id);
        let what = format!("{:?} of {value:?}", self.scev.get(id));
        if let Some(said) = self.evaluate(id) {
            if said != bits {
                return Err(format!("{what}: is {bits}, not {said}"));
            }
            self.done.values += usize::from(!matches!(self.scev.get(id), Expr::Unknown(_)));
        }
        let range = self.scev.range(id);
        if !range.contains(width, bits) {
            return Err(format!("{what}: {bits} is not in {range:?}"));
        }
        self.check_flags(id).map_err(|error| format!("{what}: {error}"))
    }

    fn check_flags(&mut self, id: ExprId) -> Result<(), String> {
        let flags = self.scev.flags(id);
        if !flags.nuw && !flags.nsw && !flags.nw {
            return Ok(());
        }
        let width = self.scev.width(id);
        let operands = match self.scev.get(id).clone() {
            Expr::Add(operands) | Expr::Mul(operands) => operands,
            Expr::AddRec(_, operands) if operands.len() == 2 => operands,
            _ => return Ok(()),
        };
        let Some(parts) =
            operands.iter().map(|operand| self.evaluate(*operand)).collect::<Option<Vec<u128>>>()
        else {
            return Ok(());
        };
        let number = |bits: &u128| signed(width, *bits);
        let (unsigned, exact) = match self.scev.get(id) {
            Expr::Add(_) => (
                parts.iter().try_fold(0u128, |sum, part| sum.checked_add(*part)),
                parts.iter().map(number).try_fold(0i128, i128::checked_add),
            ),
            Expr::Mul(_) => (
                parts.iter().try_fold(1u128, |product, part| product.checked_mul(*part)),
                parts.iter().map(number).try_fold(1i128, i128::checked_mul),
            ),
            Expr::AddRec(of, _) => {
                let Some(n) = self.iterations.get(of).copied() else { return Ok(()) };
                (
                    parts[1].checked_mul(n).and_then(|way| way.checked_add(parts[0])),
                    number(&parts[1])
                        .checked_mul(n as i128)
                        .and_then(|way| way.checked_add(number(&parts[0]))),
                )
            }
            _ => return Ok(()),
        };
        if flags.nuw && unsigned.is_none_or(|exact| exact > mask(width)) {
            return Err(format!("wraps unsigned with {parts:?}"));
        }
        if flags.nsw && exact.is_none_or(|exact| !fits_signed(width, exact)) {
            return Err(format!("wraps signed with {parts:?}"));
        }
        Ok(())
    }

    /// Moves control to a block: loops are left, entered, or continued.
    fn go(&mut self, to: Block) -> Result<(), String> {
        let (from, to) = (self.analysis.number(self.at), self.analysis.number(to));
        let loops = self.analysis.loops();
        let mut around = loops.innermost(from);
        while let Some(of) = around {
            around = loops.get(of).parent;
            if !loops.contains(of, to) {
                self.left(of, from)?;
            }
        }
        self.at = self.analysis.block(to);
        let mut entered = loops.innermost(to);
        while let Some(of) = entered {
            entered = loops.get(of).parent;
            if loops.get(of).header() == to {
                if loops.contains(of, from) {
                    self.check_bounds(of, true)?;
                    *self.iterations.entry(of).or_default() += 1;
                } else {
                    self.check_facts(of)?;
                    self.check_guard(of)?;
                    self.iterations.insert(of, 0);
                }
                self.time += 1;
            }
        }
        Ok(())
    }

    fn latch(&self, of: LoopId) -> Option<u32> {
        Roles::of(self.analysis, of).latch()
    }

    fn check_facts(&mut self, of: LoopId) -> Result<(), String> {
        for fact in self.scev.facts(of).iter() {
            if let (Some(a), Some(b)) = (self.evaluate(fact.a), self.evaluate(fact.b))
                && !fact.predicate.holds(self.scev.width(fact.a), a, b)
            {
                return Err(format!("{fact:?} does not hold of {a} and {b} where {of:?} is entered"));
            }
        }
        Ok(())
    }

    /// Checks that a loop with a known guard is entered as the guard decides.
    fn check_guard(&mut self, of: LoopId) -> Result<(), String> {
        let Some(guard) = guard(self.function, self.analysis, of) else { return Ok(()) };
        self.done.guards += 1;
        let condition = self.values.get(&guard.condition).map(|bits| *bits == 1);
        if condition.is_some_and(|condition| condition != guard.enters_if) {
            return Err(format!("{of:?} is entered against {guard:?}"));
        }
        Ok(())
    }

    /// Checks that the latch continues as long as the comparison of the next value holds.
    fn check_bounds(&mut self, of: LoopId, goes_on: bool) -> Result<(), String> {
        let Some(bounds) = bounds(self.scev, of) else { return Ok(()) };
        let (next, last) = (self.values.get(&bounds.next), self.values.get(&bounds.last));
        let width = self.scev.expr_type(bounds.next).map_or(64, |ty| ty.width());
        if let (Some(predicate), Some(next), Some(last)) = (bounds.predicate, next, last) {
            self.done.bounds += 1;
            if predicate.holds(width, *next, *last) != goes_on {
                return Err(format!("{of:?} goes on: {goes_on}, with {next} and {last}: {bounds:?}"));
            }
        }
        Ok(())
    }

    /// Checks the predicted count and the predicted final values when a loop is left.
    fn left(&mut self, of: LoopId, from: u32) -> Result<(), String> {
        let count = self.iterations.get(&of).copied().ok_or("a loop that was entered")?;
        self.left.push((self.analysis.loops().get(of).header(), count));
        let counts = self.scev.counts(of);
        let what = format!("{of:?} goes around {count} times");
        self.done.left += 1;
        let exactly = |this: &Self, id: Option<ExprId>, which: &str| match id.and_then(|id| this.evaluate(id))
        {
            Some(said) if said != count => Err(format!("{what}, not {said}: {which}")),
            _ => Ok(()),
        };
        let at_most = |this: &Self, id: Option<ExprId>, which: &str| match id.and_then(|id| this.evaluate(id))
        {
            Some(said) if said < count => Err(format!("{what}, more than {said}: {which}")),
            _ => Ok(()),
        };
        exactly(self, counts.exact, "exact")?;
        self.done.exact += usize::from(counts.exact.is_some());
        at_most(self, counts.symbolic_max, "symbolic maximum")?;
        at_most(self, counts.constant_max, "constant maximum")?;
        for exit in &counts.exits {
            if exit.from == from {
                if exit.limit.never {
                    return Err(format!("{what} and is left where it never is"));
                }
                exactly(self, exit.limit.exact, "exit that is taken")?;
            } else {
                at_most(self, exit.limit.exact, "another exit")?;
            }
            at_most(self, exit.limit.symbolic_max, "symbolic maximum of an exit")?;
            at_most(self, exit.limit.constant_max, "constant maximum of an exit")?;
        }
        if self.latch(of) == Some(from) {
            self.check_bounds(of, false)?;
        }
        if let Some(trips) = self.scev.trip_count(of) {
            if let Some(said) = self.evaluate(trips).filter(|said| *said != count + 1) {
                return Err(format!("{what}, header {said} times"));
            }
            let multiple = self.scev.trip_multiple(of);
            if !(count + 1).is_multiple_of(multiple) {
                return Err(format!("{what}, not one less than a multiple of {multiple}"));
            }
        }
        self.check_scope(of)
    }

    /// Checks that values of the last iteration equal their predicted values outside.
    fn check_scope(&mut self, of: LoopId) -> Result<(), String> {
        let own = self.analysis.loops().get(of);
        let parent = own.parent;
        let last: Vec<(Value, u128)> = self
            .values
            .iter()
            .filter(|(value, _)| self.times.get(*value) == Some(&self.time))
            .map(|(value, bits)| (*value, *bits))
            .collect();
        for (value, bits) in last {
            let inside = self
                .function
                .value_block(value)
                .is_some_and(|block| self.analysis.loops().contains(of, self.analysis.number(block)));
            if !inside || self.scev.expr_type(value).is_none() {
                continue;
            }
            let id = self.scev.expr(value);
            let seen = self.scev.at_scope(id, parent);
            if let Some(said) = self.evaluate(seen)
                && said != bits
            {
                return Err(format!(
                    "{value:?} seen from outside is {bits}, not {said}: {:?}",
                    self.scev.get(seen)
                ));
            }
            self.done.scoped += usize::from(seen != id);
        }
        Ok(())
    }
}
