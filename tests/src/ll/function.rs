//! A random function: its values in scope, and its control flow.
//!
//! Every value in scope is free of poison, and every byte of memory in scope is written. Operations
//! are made total (nonzero divisors, shifts in range, flags only where they hold), so their results
//! are free of poison too. Control nests: values made in one branch leave scope at its end, through
//! a phi node or not at all.

use std::fmt::Write;

use super::memory::{Bytes, Slot};
use super::types::{Ty, constant};
use crate::random::Random;

/// A value in scope.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) ty: Ty,
    pub(super) name: String,
}

/// A function that may be called.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The callee between `call` and the arguments: its name, or the name of a table of functions
    /// with as many entries.
    pub(super) name: String,
    pub(super) table: Option<u32>,
    pub(super) result: Ty,
    /// Types with their attributes.
    pub(super) parameters: Vec<(Ty, String)>,
    /// The exclusive upper bound of the first argument, an `i32`.
    pub(super) first_below: Option<u32>,
    /// The approximate number of instructions that a call executes.
    pub(super) cost: u64,
}

/// The approximate maximal number of instructions that a function executes.
const MAX_COST: u64 = 6_000;

/// A function on its way.
pub(super) struct Function<'r> {
    pub(super) random: &'r mut Random,
    pub(super) text: String,
    next: usize,
    /// The label of the current block.
    block: String,
    pub(super) values: Vec<Value>,
    pub(super) slots: Vec<Slot>,
    pub(super) bytes: Vec<Bytes>,
    callees: &'r [Callee],
    result: Ty,
    /// True if the function may return early.
    pub(super) may_leave: bool,
    /// The maximal number of executions of the code written now.
    times: u64,
    pub(super) cost: u64,
}

impl<'r> Function<'r> {
    pub(super) fn new(random: &'r mut Random, callees: &'r [Callee], result: Ty) -> Function<'r> {
        Function {
            random,
            text: String::new(),
            next: 0,
            block: "start".into(),
            values: Vec::new(),
            slots: Vec::new(),
            bytes: Vec::new(),
            callees,
            result,
            may_leave: true,
            times: 1,
            cost: 0,
        }
    }

    // Text.

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Writes an instruction without a result.
    pub(super) fn line(&mut self, instruction: &str) {
        self.cost += self.times;
        let _ = writeln!(self.text, "  {instruction}");
    }

    /// Writes an instruction with a result, and returns its name.
    pub(super) fn make(&mut self, instruction: &str) -> String {
        let name = format!("%v{}", self.fresh());
        self.line(&format!("{name} = {instruction}"));
        name
    }

    /// Like [`Function::make`], but adds the result to the visible values.
    pub(super) fn keep(&mut self, ty: &Ty, instruction: &str) -> String {
        let name = self.make(instruction);
        self.values.push(Value { ty: ty.clone(), name: name.clone() });
        name
    }

    pub(super) fn begin(&mut self, label: String) {
        let _ = writeln!(self.text, "{label}:");
        self.block = label;
    }

    pub(super) fn labels<const N: usize>(&mut self, names: [&str; N]) -> [String; N] {
        let id = self.fresh();
        names.map(|name| format!("{name}{id}"))
    }

    // Values.

    /// Returns a value of a type: a visible one, or a new one.
    pub(super) fn value(&mut self, ty: &Ty) -> String {
        let fitting: Vec<usize> = (0..self.values.len()).filter(|at| self.values[*at].ty == *ty).collect();
        if !fitting.is_empty() && (self.random.chance(85) || matches!(ty, Ty::Ptr)) {
            // Recent values are used most, so that expressions are deep.
            let from = if self.random.chance(60) { fitting.len().saturating_sub(3) } else { 0 };
            let at = fitting[from + self.random.below(fitting.len() - from)];
            return self.values[at].name.clone();
        }
        match ty {
            Ty::Ptr => self.pointer(),
            Ty::Struct(_) | Ty::Array(..) => self.aggregate(ty),
            _ if self.random.chance(40) => self.converted(ty),
            _ => constant(self.random, ty),
        }
    }

    /// Returns a number or vector converted from a visible integer, if there is one.
    fn converted(&mut self, ty: &Ty) -> String {
        let is_other = |value: &&Value| matches!(value.ty, Ty::Int(1..=64)) && value.ty != *ty;
        let others: Vec<Value> = self.values.iter().filter(is_other).cloned().collect();
        if others.is_empty() || ty.bits() > 256 {
            return constant(self.random, ty);
        }
        let Value { ty: from, name } = self.random.pick(&others).clone();
        let scalar = ty.scalar().clone();
        let converted = match &scalar {
            Ty::Int(width) if *width == from.width() => name,
            Ty::Int(width) => {
                let word = if *width < from.width() { "trunc" } else { *self.random.pick(&["zext", "sext"]) };
                self.make(&format!("{word} {from} {name} to {scalar}"))
            }
            _ => self.make(&format!("sitofp {from} {name} to {scalar}")),
        };
        match ty.count() {
            None => converted,
            Some(_) => {
                let whole = constant(self.random, ty);
                self.make(&format!("insertelement {ty} {whole}, {scalar} {converted}, i32 0"))
            }
        }
    }

    /// Returns a type that occurs in scope, sometimes any number type.
    fn some_type(&mut self) -> Ty {
        match self.values.is_empty() || self.random.chance(20) {
            true => Ty::number(self.random),
            false => self.values[self.random.below(self.values.len())].ty.clone(),
        }
    }

    fn condition(&mut self) -> String {
        self.value(&Ty::Int(1))
    }

    // Control.

    /// Writes `count` statements. Control nests at most `depth` deep.
    pub(super) fn statements(&mut self, count: usize, depth: usize) {
        for _ in 0..count {
            if self.cost > MAX_COST {
                return;
            }
            let control = if depth > 0 && self.times < 100 { 8 } else { 0 };
            match self.random.weighted(&[34, 14, 12, 8, 22, 4, control, control, control / 2, control / 4]) {
                0 => self.integers(),
                1 => self.floats(),
                2 => self.vectors(),
                3 => self.aggregates(),
                4 => self.memory(),
                5 => self.call(),
                6 => self.conditional(depth - 1),
                7 => self.repeat(depth - 1),
                8 => self.switch(depth - 1),
                _ if self.may_leave => self.early_return(),
                _ => self.call(),
            }
        }
    }

    /// Returns the sizes of the scope, for [`Function::leave`].
    pub(super) fn enter(&self) -> (usize, usize, usize) {
        (self.values.len(), self.slots.len(), self.bytes.len())
    }

    pub(super) fn leave(&mut self, (values, slots, bytes): (usize, usize, usize)) {
        self.values.truncate(values);
        self.slots.truncate(slots);
        self.bytes.truncate(bytes);
    }

    /// Writes statements in a scope and block of their own. The block ends with a branch to `to`.
    /// Returns the values of these types at the end, and the block they come from.
    fn side(&mut self, label: &str, to: &str, types: &[Ty], depth: usize) -> (Vec<String>, String) {
        self.begin(label.into());
        let scope = self.enter();
        let count = 1 + self.random.below(5);
        self.statements(count, depth);
        let values = types.iter().map(|ty| self.value(ty)).collect();
        self.leave(scope);
        self.line(&format!("br label %{to}"));
        (values, self.block.clone())
    }

    /// Writes a phi node for each type, with the values and the block of each edge.
    fn join(&mut self, types: &[Ty], edges: &[(Vec<String>, String)]) {
        for (at, ty) in types.iter().enumerate() {
            let entry = |(values, from): &(Vec<String>, String)| format!("[ {}, %{from} ]", values[at]);
            let entries: Vec<String> = edges.iter().map(entry).collect();
            self.keep(ty, &format!("phi {ty} {}", entries.join(", ")));
        }
    }

    fn joined_types(&mut self) -> Vec<Ty> {
        (0..self.random.below(4)).map(|_| self.some_type()).collect()
    }

    fn conditional(&mut self, depth: usize) {
        let [yes, no, end] = self.labels(["yes", "no", "end"]);
        let (condition, types) = (self.condition(), self.joined_types());
        if self.random.chance(40) {
            // One side is empty.
            let values = types.iter().map(|ty| self.value(ty)).collect();
            self.line(&format!("br i1 {condition}, label %{yes}, label %{end}"));
            let around = (values, self.block.clone());
            let inside = self.side(&yes, &end, &types, depth);
            self.begin(end);
            return self.join(&types, &[around, inside]);
        }
        self.line(&format!("br i1 {condition}, label %{yes}, label %{no}"));
        let first = self.side(&yes, &end, &types, depth);
        let second = self.side(&no, &end, &types, depth);
        self.begin(end);
        self.join(&types, &[first, second]);
    }

    fn switch(&mut self, depth: usize) {
        let ty = Ty::Int(*self.random.pick(&[8, 16, 32, 64, 3, 33, 128]));
        let value = self.value(&ty);
        let value = self.make(&format!("and {ty} {value}, 3"));
        let [case, default, end] = self.labels(["case", "default", "end"]);
        let types = self.joined_types();
        let here: Vec<String> = types.iter().map(|ty| self.value(ty)).collect();
        let (blocks, from) = (1 + self.random.below(3), self.block.clone());
        let mut edges = Vec::new();
        let all = self.random.chance(50);
        let mut cases = String::new();
        for number in 0..if all { 4 } else { 3 } {
            let to = self.random.below(blocks + 1);
            if to == blocks {
                edges.push((here.clone(), from.clone()));
                let _ = write!(cases, " {ty} {number}, label %{end}");
            } else {
                let _ = write!(cases, " {ty} {number}, label %{case}.{to}");
            }
        }
        self.line(&format!("switch {ty} {value}, label %{default} [{cases} ]"));
        for block in 0..blocks {
            // Some of these blocks belong to no case.
            edges.push(self.side(&format!("{case}.{block}"), &end, &types, depth));
        }
        if all {
            self.begin(default);
            self.line("unreachable");
        } else {
            edges.push(self.side(&default, &end, &types, depth));
        }
        self.begin(end);
        self.join(&types, &edges);
    }

    /// Writes a loop that counts upwards, tested at its top, sometimes with an early exit.
    fn repeat(&mut self, depth: usize) {
        let [head, body, go_on, latch, end] = self.labels(["head", "body", "on", "latch", "end"]);
        let counter = Ty::Int(*self.random.pick(&[32, 64, 8, 48]));
        let most = 1 + self.random.below(5);
        let trips = if self.random.chance(50) {
            most.to_string()
        } else {
            let value = self.value(&counter);
            self.make(&format!("urem {counter} {value}, {}", most + 1))
        };
        let types = self.joined_types();
        let first: Vec<String> = types.iter().map(|ty| self.value(ty)).collect();
        let before = self.block.clone();
        self.line(&format!("br label %{head}"));
        self.begin(head.clone());
        let around = self.times;
        self.times *= most as u64 + 1;
        let scope = self.enter();
        let phis = self.text.len();
        let count = format!("%v{}", self.fresh());
        let carried: Vec<String> = types.iter().map(|_| format!("%v{}", self.fresh())).collect();
        for (ty, name) in types.iter().zip(&carried) {
            self.values.push(Value { ty: ty.clone(), name: name.clone() });
        }
        self.values.push(Value { ty: counter.clone(), name: count.clone() });
        let more = self.make(&format!("icmp ult {counter} {count}, {trips}"));
        self.line(&format!("br i1 {more}, label %{body}, label %{end}"));
        self.begin(body);
        let statements = 1 + self.random.below(5);
        self.statements(statements, depth);
        let mut edges = vec![(carried.clone(), head.clone())];
        if self.random.chance(30) {
            let values = types.iter().map(|ty| self.value(ty)).collect();
            let leaves = self.condition();
            self.line(&format!("br i1 {leaves}, label %{end}, label %{go_on}"));
            edges.push((values, self.block.clone()));
            self.begin(go_on);
            let statements = self.random.below(3);
            self.statements(statements, depth);
        }
        let next: Vec<String> = types.iter().map(|ty| self.value(ty)).collect();
        self.line(&format!("br label %{latch}"));
        self.begin(latch.clone());
        let counted = self.make(&format!("add nuw nsw {counter} {count}, 1"));
        self.line(&format!("br label %{head}"));
        self.leave(scope);
        self.times = around;
        // The values of the backedge are known now.
        let mut text = format!("  {count} = phi {counter} [ 0, %{before} ], [ {counted}, %{latch} ]\n");
        for (at, ty) in types.iter().enumerate() {
            let (name, first, next) = (&carried[at], &first[at], &next[at]);
            let _ = writeln!(text, "  {name} = phi {ty} [ {first}, %{before} ], [ {next}, %{latch} ]");
        }
        self.text.insert_str(phis, &text);
        self.begin(end);
        self.join(&types, &edges);
    }

    fn early_return(&mut self) {
        let [out, go_on] = self.labels(["out", "on"]);
        let condition = self.condition();
        self.line(&format!("br i1 {condition}, label %{out}, label %{go_on}"));
        self.begin(out);
        let scope = self.enter();
        self.finish();
        self.leave(scope);
        self.begin(go_on);
    }

    /// Returns a value.
    pub(super) fn finish(&mut self) {
        let ty = self.result.clone();
        let value = self.value(&ty);
        self.line(&format!("ret {ty} {value}"));
    }

    // Calls.

    /// Writes a call of one of the functions, if it is not too long.
    pub(super) fn call(&mut self) {
        let budget = MAX_COST.saturating_sub(self.cost) / self.times;
        let fitting: Vec<&Callee> = self.callees.iter().filter(|callee| callee.cost < budget).collect();
        if fitting.is_empty() {
            return;
        }
        let callee = (*self.random.pick(&fitting)).clone();
        let first = callee.first_below.map(|bound| {
            let value = self.value(&Ty::Int(32));
            self.make(&format!("urem i32 {value}, {bound}"))
        });
        self.call_of(&callee, first.as_deref());
    }

    /// Writes a call with random arguments. The first one may be given.
    pub(super) fn call_of(&mut self, callee: &Callee, first: Option<&str>) {
        let mut arguments = Vec::new();
        for (at, (ty, attributes)) in callee.parameters.iter().enumerate() {
            let value = match first.filter(|_| at == 0) {
                Some(first) => first.to_owned(),
                None => self.value(ty),
            };
            arguments.push(format!("{ty} {attributes} {value}"));
        }
        let target = match callee.table {
            None => callee.name.clone(),
            Some(count) => {
                let index = self.index(count.into());
                let place =
                    self.make(&format!("getelementptr inbounds ptr, ptr {}, i64 {index}", callee.name));
                self.make(&format!("load ptr, ptr {place}, align 8"))
            }
        };
        self.cost += callee.cost * self.times;
        let word = if self.random.chance(10) { "tail call" } else { "call" };
        let result = callee.result.clone();
        self.keep(&result, &format!("{word} {result} {target}({})", arguments.join(", ")));
    }

    /// Returns a number below `count`, of type `i64`.
    pub(super) fn index(&mut self, count: u64) -> String {
        if self.random.chance(40) {
            return self.random.below(count as usize).to_string();
        }
        let value = self.value(&Ty::Int(64));
        self.make(&format!("urem i64 {value}, {count}"))
    }
}
