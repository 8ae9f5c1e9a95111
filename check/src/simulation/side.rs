//! One of the two programs: its graph, and its execution with terms for values.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::arith::constant::Numbers;
use loomir_dialects::branch::successor_operands;
use loomir_dialects::interfaces::{EffectKind, MemoryEffects};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::llvm::memory::address::{INBOUNDS, Index, NUSW, NUW, steps};
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::graph::ControlFlow;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Attr, AttrKind, Block, Body, Op, OpRef, Type, Value};

use super::facts::Facts;
use super::numbers::{self, Binary, Cast};
use super::terms::{Inside, Known, Node, Operation, Store, TermId, Try, decided};
use crate::proof::poison::solid_arguments;
use crate::proof::{flag_bits, is_computation};

/// The most words of all sets of live values.
const MAX_LIVE: usize = 4_000_000;

/// A function as a graph of blocks.
pub(super) struct Side<'b> {
    pub(super) body: &'b Body,
    pub(super) entry: Block,
    /// For each argument: true if the function says that it is not poison.
    solid_arguments: Vec<bool>,
    /// True if values are what they are where nothing is poison. Only for the first program.
    folds_poison: bool,
    /// True for the first program, whose poison may become any value.
    is_original: bool,
    /// The sizes of types in memory.
    target: DataLayout,
    /// The values that a block or one behind it uses, without those that it defines itself.
    live: HashMap<Block, Vec<Value>>,
    /// The blocks that several edges lead to.
    meetings: HashSet<Block>,
    /// The blocks that an edge from a block behind them leads to.
    pub(super) headers: HashSet<Block>,
    num_blocks: usize,
}

/// A place at the start of a block, with the values that are known there.
#[derive(Clone)]
pub(super) struct Cursor {
    pub(super) block: Block,
    /// A term for each value of the body.
    pub(super) values: Vec<TermId>,
    pub(super) memory: TermId,
    /// True if the operations of the block ran, and its branch did not.
    pub(super) is_at_end: bool,
    /// The operation to go on with, if it is not the first one of the block.
    pub(super) resumes: Option<Op>,
    /// The results of `llvm.freeze` whose operand was poison the last time.
    pub(super) thawed: Vec<Value>,
}

/// The place of a step that some operands make undefined: its term and the memory before it.
pub(super) type Risk = (TermId, TermId);

/// The end of a run.
pub(super) enum Event {
    /// It entered a block. Facts of the path may have decided that.
    Entered(Decided),
    /// It depends on a condition that nothing decides.
    Open(TermId),
    /// It freezes a value that may be poison.
    Freezes(TermId),
    /// It returned these values.
    Returned(Vec<TermId>),
    /// It reached a place that is undefined.
    Unreachable,
}

/// The reason why a run enters a block.
pub(super) enum Decided {
    /// By the program alone.
    Plainly,
    /// By facts of the path, with the condition of the branch and its value, if it has one.
    ByFacts(Option<Known>),
}

/// The term of a value that nothing was assigned to.
pub(super) const UNSET: TermId = TermId::MAX;

impl<'b> Side<'b> {
    pub(super) fn new(
        module: &Body,
        function: OpRef<'b>,
        is_original: bool,
        folds_poison: bool,
    ) -> Try<Side<'b>> {
        let body = function.body();
        let region = function.regions().next().ok_or("a function has no body")?;
        let entry = body.entry_block(region).ok_or("a function has no body")?;
        let flow = ControlFlow::of(body, region);
        for block in flow.blocks() {
            for op in body.ops(*block) {
                if body.op_ref(op).regions().len() > 0 || body.nested(op).is_some() {
                    return Err("an operation has regions");
                }
            }
            let end = body.terminator(*block).ok_or("a block has no end")?;
            successor_operands(body, end).ok_or("a branch is not known")?;
        }
        let graph = flow.graph();
        let order = graph.post_order(0);
        let mut places = vec![0; graph.len()];
        order.iter().zip(0..).for_each(|(node, place)| places[*node as usize] = place);
        let (mut meetings, mut headers) = (HashSet::new(), HashSet::new());
        let mut entered = vec![0; graph.len()];
        for (from, to) in
            order.iter().flat_map(|from| graph.successors(*from).iter().map(move |to| (*from, *to)))
        {
            entered[to as usize] += 1;
            if entered[to as usize] == 2 {
                meetings.insert(flow.block(to));
            }
            if places[to as usize] >= places[from as usize] {
                headers.insert(flow.block(to));
                meetings.insert(flow.block(to));
            }
        }
        let live = live_values(body, &flow, &order)?;
        let target = DataLayout::of(module.root_ref());
        if target.pointer(0).index_bits != 64 {
            return Err("addresses are not computed in 64 bits");
        }
        let solid_arguments = solid_arguments(function);
        Ok(Side {
            body,
            entry,
            solid_arguments,
            folds_poison,
            is_original,
            target,
            live,
            meetings,
            headers,
            num_blocks: graph.len(),
        })
    }

    /// Returns the values that matter at the start of a block.
    pub(super) fn live(&self, block: Block) -> &[Value] {
        self.live.get(&block).map_or(&[], |live| live)
    }

    pub(super) fn is_meeting(&self, block: Block) -> bool {
        self.meetings.contains(&block)
    }

    /// True if several edges leave a block.
    pub(super) fn has_choice(&self, block: Block) -> bool {
        self.body.terminator(block).is_some_and(|end| self.body.successors(end).nth(1).is_some())
    }

    /// Returns the number of blocks that are reached.
    pub(super) fn num_blocks(&self) -> usize {
        self.num_blocks
    }

    /// Returns the place at which the function begins.
    pub(super) fn start(&self, store: &mut Store) -> Try<Cursor> {
        let memory = store.term(Node::Start)?;
        let mut values = vec![UNSET; self.body.num_value_slots()];
        for (index, argument) in self.body.arguments(self.entry).enumerate() {
            let is_solid = self.solid_arguments.get(index).copied().unwrap_or(false);
            values[argument.index()] = store.term(Node::Argument { index, is_solid })?;
        }
        Ok(Cursor { block: self.entry, values, memory, is_at_end: false, resumes: None, thawed: Vec::new() })
    }

    /// Runs to the next block, or to a branch that is not decided.
    pub(super) fn advance(
        &self,
        store: &mut Store,
        cursor: &mut Cursor,
        facts: &mut Facts,
        risks: &mut Vec<Risk>,
    ) -> Try<Event> {
        let end = self.body.terminator(cursor.block).ok_or("a block has no end")?;
        if !cursor.is_at_end {
            let (start, all) = (cursor.resumes.take(), self.body.ops(cursor.block));
            let rest = all.skip_while(|op| start.is_some_and(|start| start != *op));
            for op in rest.take_while(|op| *op != end) {
                if let Some(open) = self.execute(store, cursor, self.body.op_ref(op), facts, risks)? {
                    cursor.resumes = Some(op);
                    return Ok(Event::Freezes(open));
                }
            }
            cursor.is_at_end = true;
        }
        let end_ref = self.body.op_ref(end);
        let mut by = Decided::Plainly;
        let taken = match end_ref.name() {
            "llvm.br" | "cf.br" => 0,
            "llvm.cond_br" | "cf.cond_br" => {
                let condition = self.value(cursor, end_ref.operand(0))?;
                if self.is_undefined(store, facts, condition) {
                    return Ok(Event::Unreachable);
                }
                let Some(holds) = self.decide(store, facts, condition)? else {
                    return Ok(Event::Open(condition));
                };
                if decided(condition).is_none() {
                    if self.is_original && facts.is_impossible(store, condition) {
                        return Ok(Event::Unreachable);
                    }
                    by = Decided::ByFacts(Some((condition, holds)));
                }
                usize::from(!holds)
            }
            "llvm.switch" | "cf.switch" => {
                let value = self.value(cursor, end_ref.operand(0))?;
                if self.is_undefined(store, facts, value) {
                    return Ok(Event::Unreachable);
                }
                if store.constant(value).is_none() {
                    by = Decided::ByFacts(None);
                }
                match self.switch(store, cursor, facts, end_ref)? {
                    Ok(taken) => taken,
                    Err(open) => return Ok(Event::Open(open)),
                }
            }
            "llvm.unreachable" => return Ok(Event::Unreachable),
            "llvm.return" | "func.return" => {
                let values = end_ref.operands().map(|value| self.value(cursor, value));
                return Ok(Event::Returned(values.collect::<Try<_>>()?));
            }
            _ => return Err("a branch is not known"),
        };
        self.enter(cursor, end, taken)?;
        Ok(Event::Entered(by))
    }

    /// True if a branch on a value is undefined in the first program.
    fn is_undefined(&self, store: &Store, facts: &Facts, value: TermId) -> bool {
        self.is_original && facts.is_poison(store, value)
    }

    /// Returns the edge that a switch takes, or a condition that decides about it.
    fn switch(
        &self,
        store: &mut Store,
        cursor: &Cursor,
        facts: &Facts,
        end: OpRef<'b>,
    ) -> Try<Result<usize, TermId>> {
        let value = self.value(cursor, end.operand(0))?;
        let width = width(end, end.operand_type(0)).ok_or("a switch is too wide")?;
        let cases = end.attr("case_values").and_then(|cases| Numbers::of(end.ctx(), cases));
        let count = end.successors().len().saturating_sub(1);
        let cases = match cases {
            None => Vec::new(),
            Some(Numbers::Many(cases)) => cases,
            Some(Numbers::One(case)) => vec![case; count],
        };
        if cases.len() != count {
            return Err("a switch has other cases than edges");
        }
        if count == 0 {
            // Any condition will do, to ask if the value may be poison.
            let zero = store.int(width, 0)?;
            let condition = store.equal(width, value, zero)?;
            return Ok(self.decide(store, facts, condition)?.map(|_| 0).ok_or(condition));
        }
        for (index, case) in cases.into_iter().enumerate() {
            let case = store.int(width, case as u64)?;
            let condition = store.equal(width, value, case)?;
            match self.decide(store, facts, condition)? {
                Some(true) => return Ok(Ok(index + 1)),
                Some(false) => {}
                None => return Ok(Err(condition)),
            }
        }
        Ok(Ok(0))
    }

    fn enter(&self, cursor: &mut Cursor, end: Op, taken: usize) -> Try<()> {
        let to = self.body.successors(end).nth(taken).ok_or("a branch leads nowhere")?;
        let mut passed = successor_operands(self.body, end).ok_or("a branch is not known")?;
        let passed = passed.swap_remove(taken);
        let values = passed.into_iter().map(|value| self.value(cursor, value)).collect::<Try<Vec<_>>>()?;
        for (argument, value) in self.body.arguments(to).zip(values) {
            cursor.values[argument.index()] = value;
        }
        (cursor.block, cursor.is_at_end) = (to, false);
        Ok(())
    }

    fn value(&self, cursor: &Cursor, value: Value) -> Try<TermId> {
        match cursor.values[value.index()] {
            UNSET => Err("a value is not known"),
            term => Ok(term),
        }
    }

    /// Returns the value of a condition, if it is known. A condition of the second program must be
    /// seen to be no poison. Where one of the first program is poison, any value will do.
    fn decide(&self, store: &mut Store, facts: &Facts, condition: TermId) -> Try<Option<bool>> {
        facts.decide(store, condition, !self.is_original)
    }

    /// Returns the operand that a choice between two values is, if facts decide it.
    fn chosen(&self, store: &mut Store, facts: &Facts, term: TermId) -> Try<TermId> {
        let (condition, yes, no) = match *store.node(term) {
            Node::Select([condition, yes, no]) => (condition, yes, no),
            Node::Binary { code, flags: 0, width, operands: [a, b] } if width > 1 => match code {
                Binary::MinS | Binary::MinU => (store.less(code == Binary::MinU, width, [a, b])?, a, b),
                Binary::MaxS | Binary::MaxU => (store.less(code == Binary::MaxU, width, [a, b])?, b, a),
                _ => return Ok(term),
            },
            _ => return Ok(term),
        };
        Ok(match self.decide(store, facts, condition)? {
            Some(true) => yes,
            Some(false) => no,
            None => term,
        })
    }

    /// Settles values by facts, which may have become known later than the values. Makes all
    /// choices inside that are decided, and forgets poison that is none.
    pub(super) fn settle<'v>(
        &self,
        store: &mut Store,
        facts: &Facts,
        values: impl Iterator<Item = &'v mut TermId>,
    ) -> Try<()> {
        let (free, mut known) = (facts.free(store), HashMap::new());
        for value in values.filter(|value| **value != UNSET) {
            for own in store.inside(*value, &known, Inside::Numbers) {
                let mut new = store.rebuilt_from(own, &known)?;
                if !self.is_original && free.has_operands(store, new) {
                    new = store.without_poison(new)?;
                }
                new = self.chosen(store, facts, new)?;
                known.insert(own, new);
            }
            *value = known.get(value).copied().unwrap_or(*value);
        }
        Ok(())
    }

    /// Executes an operation. Returns the value that it freezes, if it has to be known first if
    /// that is poison.
    fn execute(
        &self,
        store: &mut Store,
        cursor: &mut Cursor,
        op: OpRef<'b>,
        facts: &mut Facts,
        risks: &mut Vec<Risk>,
    ) -> Try<Option<TermId>> {
        if op.num_results() == 1
            && let Some(attr) = constant_of(self.body, op.result(0))
        {
            cursor.values[op.result(0).index()] = constant(store, op, attr)?;
            return Ok(None);
        }
        if op.name() == "llvm.mlir.undef" {
            return Err("a value is undefined");
        }
        let operands = op.operands().map(|value| self.value(cursor, value)).collect::<Try<Vec<_>>>()?;
        if op.name() == "llvm.freeze" {
            return self.freeze(store, cursor, op, operands[0], facts);
        }
        let model = op.info().interface::<dyn MemoryEffects>();
        let is_pure = is_computation(op);
        let result = match op.name() {
            "llvm.getelementptr" => self.address(store, cursor, op)?,
            _ if is_pure => computed(store, op, &operands, self.folds_poison)?,
            _ => None,
        };
        if let Some(mut result) = result {
            if self.folds_poison {
                result = store.without_poison(result)?;
            }
            let result = self.chosen(store, facts, result)?;
            cursor.values[op.result(0).index()] = result;
            if let Node::Binary { code, width, operands, .. } = *store.node(result)
                && code.is_division()
                && !numbers::is_defined(code, width, store.constant(operands[1]))
            {
                risks.push((result, cursor.memory));
            }
            return Ok(None);
        }
        let effects = model.map(|model| model.effects(op));
        let reads_only = |kind: &EffectKind| *kind == EffectKind::Read;
        let may_end = model.is_none_or(|model| model.may_not_return(op)) && !is_pure;
        let changes = match &effects {
            Some(effects) => may_end || !effects.iter().all(|effect| reads_only(&effect.kind)),
            None => !is_pure,
        } || op.attr("volatile_").is_some()
            || flag_bits(op, "ordering") != 0;
        let reads = !is_pure || effects.is_some_and(|effects| !effects.is_empty());
        let mut node = Operation {
            name: self.body.op_name(op.op()),
            attributes: [op.properties(), op.attributes()],
            operands: operands.into(),
            memory: reads.then_some(cursor.memory),
            types: op.operands().chain(op.results()).map(|value| op.type_of(value)).collect(),
            result: None,
        };
        if !changes && model.is_some_and(|model| model.may_be_undefined(op)) {
            let term = store.term(Node::Operation(Box::new(node.clone())))?;
            risks.push((term, cursor.memory));
        }
        for (index, result) in op.results().enumerate() {
            node.result = Some(index);
            cursor.values[result.index()] = store.term(Node::Operation(Box::new(node.clone())))?;
        }
        if changes {
            node.result = None;
            cursor.memory = store.term(Node::Operation(Box::new(node)))?;
            if !self.is_original {
                facts.reach(cursor.memory);
            }
        }
        Ok(None)
    }

    /// Freezes a value: it stays if it is no poison, and is any number if it is.
    ///
    /// The number that the first program takes is not chosen, so its value may be no poison.
    fn freeze(
        &self,
        store: &mut Store,
        cursor: &mut Cursor,
        op: OpRef<'b>,
        operand: TermId,
        facts: &Facts,
    ) -> Try<Option<TermId>> {
        let result = op.result(0);
        let is_thawed = !self.is_original && facts.is_poison(store, operand);
        let value = match is_thawed {
            true => store.symbol(true)?,
            false if store.is_solid(operand) => operand,
            false if self.is_original => return Err("a value that may be poison is frozen"),
            false => return Ok(Some(operand)),
        };
        cursor.values[result.index()] = value;
        cursor.thawed.retain(|own| *own != result);
        if is_thawed {
            cursor.thawed.push(result);
            cursor.thawed.sort_unstable_by_key(|own| own.index());
        }
        Ok(None)
    }
}

impl Side<'_> {
    /// Returns an address as a number; `None` if it is not computed in 64 bits.
    ///
    /// Flags also forbid that the scaling of an index wraps, and sums of several offsets. So with
    /// flags there is one offset, and its product has flags.
    fn address(&self, store: &mut Store, cursor: &Cursor, op: OpRef<'_>) -> Try<Option<TermId>> {
        let is_plain =
            matches!(LlvmType::of(op.ctx(), op.operand_type(0)), Some(LlvmType::Pointer { space: 0 }));
        let Some(steps) = steps(op, &self.target).ok().filter(|_| is_plain) else { return Ok(None) };
        if !op.attributes().is_empty() {
            return Ok(None);
        }
        let flags = flag_bits(op, "noWrapFlags");
        let [no_signed, no_unsigned] = [INBOUNDS | NUSW, NUW].map(|bits| flags & bits as u64 != 0);
        let scaling = if no_signed { numbers::NO_SIGNED_WRAP } else { 0 }
            | if no_unsigned { numbers::NO_UNSIGNED_WRAP } else { 0 };
        let zero = store.int(64, 0)?;
        let mut offset = zero;
        for (index, bytes) in steps {
            let index = match index {
                Index::Constant(number) => store.int(64, number as u64)?,
                Index::Value(value) => {
                    let term = self.value(cursor, value)?;
                    let Some(width) = width(op, op.type_of(value)) else { return Ok(None) };
                    if width == 64 { term } else { store.cast(Cast::Sign, 0, [width, 64], term)? }
                }
            };
            if flags == 0 {
                offset = store.plus(64, offset, index, bytes as u64)?;
                continue;
            }
            let scale = store.int(64, bytes as u64)?;
            let scaled = store.binary(Binary::Mul, scaling, 64, [index, scale])?;
            if scaled != zero && offset != zero {
                return Ok(None);
            }
            offset = if scaled == zero { offset } else { scaled };
        }
        let base = self.value(cursor, op.operand(0))?;
        Ok(Some(store.binary(Binary::Address, flags, 64, [base, offset])?))
    }
}

/// Returns the width of an integer of at most 64 bits.
fn width(op: OpRef<'_>, ty: Type) -> Option<u32> {
    let width = if ty.is_index() { 64 } else { ty.integer_width(op.ctx())? };
    (1..=64).contains(&width).then_some(width)
}

fn constant(store: &mut Store, op: OpRef<'_>, attr: Attr) -> Try<TermId> {
    let ty = op.result_type(0);
    if let AttrKind::Opaque { .. } = attr.kind(op.ctx()) {
        return Err("a constant may be undefined");
    }
    match (width(op, ty), Numbers::of(op.ctx(), attr)) {
        (Some(width), Some(Numbers::One(bits))) => store.int(width, bits as u64),
        _ => store.term(Node::Constant { attr, ty }),
    }
}

/// Returns the flags of an operation on integers.
fn flags(op: OpRef<'_>) -> u64 {
    let has = |name: &str, bit: u64| if op.attr(name).is_some() { bit } else { 0 };
    flag_bits(op, "overflowFlags") & 3
        | has("isExact", numbers::EXACT)
        | has("isDisjoint", numbers::DISJOINT)
        | has("nonNeg", numbers::NOT_NEGATIVE)
}

/// Returns the result of an operation on integers; `None` if it is another one.
///
/// If so asked, flags of constants say nothing.
fn computed(
    store: &mut Store,
    op: OpRef<'_>,
    operands: &[TermId],
    folds_poison: bool,
) -> Try<Option<TermId>> {
    let Some(own) = op.operands().next().and_then(|value| width(op, op.type_of(value))) else {
        return Ok(None);
    };
    // Other attributes may promise something.
    if !op.attributes().is_empty() || op.num_results() != 1 {
        return Ok(None);
    }
    let name = op.name();
    let is_constant = operands.iter().all(|operand| store.constant(*operand).is_some());
    let flags = if folds_poison && is_constant { 0 } else { flags(op) };
    let result = match (operands, width(op, op.result_type(0))) {
        ([operand], Some(to)) => match Cast::of(name) {
            Some(code) => store.cast(code, flags, [own, to], *operand)?,
            None => return Ok(None),
        },
        ([a, b], Some(_)) if matches!(name, "llvm.icmp" | "arith.cmpi") => {
            let term = comparison(store, flag_bits(op, "predicate"), own, [*a, *b])?;
            return Ok(Some(term));
        }
        ([a, b], Some(to)) if to == own => match Binary::of(name) {
            Some(code) => store.binary(code, flags, own, [*a, *b])?,
            None => return Ok(None),
        },
        ([condition, yes, no], _)
            if own == 1
                && matches!(name, "llvm.select" | "arith.select")
                && flag_bits(op, "fastmathFlags") == 0 =>
        {
            store.select([*condition, *yes, *no])?
        }
        _ => return Ok(None),
    };
    Ok(Some(result))
}

fn comparison(store: &mut Store, predicate: u64, width: u32, [a, b]: [TermId; 2]) -> Try<TermId> {
    let (is_negated, term) = match predicate {
        0 => (false, store.equal(width, a, b)?),
        1 => (true, store.equal(width, a, b)?),
        2 | 6 => (false, store.less(predicate == 6, width, [a, b])?),
        3 | 7 => (true, store.less(predicate == 7, width, [b, a])?),
        4 | 8 => (false, store.less(predicate == 8, width, [b, a])?),
        5 | 9 => (true, store.less(predicate == 9, width, [a, b])?),
        _ => return Err("a comparison is not known"),
    };
    if is_negated { store.not(term) } else { Ok(term) }
}

/// Returns the values that each block or one behind it uses, without those that it defines.
fn live_values(body: &Body, flow: &ControlFlow, order: &[u32]) -> Try<HashMap<Block, Vec<Value>>> {
    let words = body.num_value_slots().div_ceil(64);
    if words.saturating_mul(flow.blocks().len()) > MAX_LIVE {
        return Err("the function is too large");
    }
    let mut sets = vec![vec![0u64; words]; flow.blocks().len()];
    let mut values: HashMap<usize, Value> = HashMap::new();
    let mut changed = true;
    while changed {
        changed = false;
        for node in order {
            let block = flow.block(*node);
            let mut live = vec![0u64; words];
            for next in flow.graph().successors(*node) {
                let to = flow.block(*next);
                let mut inner = sets[*next as usize].clone();
                body.arguments(to).for_each(|own| inner[own.index() / 64] &= !(1 << (own.index() % 64)));
                live.iter_mut().zip(inner).for_each(|(own, other)| *own |= other);
            }
            for op in body.ops(block).collect::<Vec<_>>().into_iter().rev() {
                for own in body.results(op) {
                    live[own.index() / 64] &= !(1 << (own.index() % 64));
                }
                for value in body.operands(op) {
                    values.insert(value.index(), value);
                    live[value.index() / 64] |= 1 << (value.index() % 64);
                }
            }
            if live != sets[*node as usize] {
                changed = true;
                sets[*node as usize] = live;
            }
        }
    }
    let listed = |set: &Vec<u64>| {
        let places = (0..words * 64).filter(|place| set[place / 64] >> (place % 64) & 1 == 1);
        places.filter_map(|place| values.get(&place).copied()).collect::<Vec<_>>()
    };
    Ok(flow.blocks().iter().copied().zip(sets.iter().map(listed)).collect())
}
