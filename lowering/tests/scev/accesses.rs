//! Tests of accesses: printed analyses, and comparison with the addresses of runs. In random
//! programs each access that happens is predicted, and so are each two that meet. If nothing was
//! approximated, nothing else is predicted.

use std::fmt::Write;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::interp::layout::DataLayout;
use loomir_dialects::interp::{self, ArgSpec, Datum, Event, Limits};
use loomir_dialects::llvm;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Value};
use loomir_lowering::cfg::Analysis;
use loomir_lowering::cfg::accesses::dependence::DependenceOracle;
use loomir_lowering::cfg::accesses::{Access, Accesses};
use loomir_lowering::cfg::print::{Printed, print};
use loomir_lowering::cfg::scev::ScalarEvolution;
use loomir_transforms::access::base::{AliasMode, Base, Bases};
use loomir_transforms::access::dependence::Polyhedral;
use loomir_transforms::access::{Answer, Class, Order};
use loomir_transforms::affine::{AffineForm, Atom};
use loomir_transforms::polyhedra;
use proptest::prelude::*;

use crate::programs::translated;
use crate::{context, functions, read};

#[test]
fn shown() {
    let ctx = context();
    let module = read(&ctx, include_str!("fixtures/accesses.ll"));
    insta::assert_snapshot!(print(&module, Printed::Accesses).expect("text"));
}

/// The accesses of programs whose loops have subscripts.
#[test]
fn programs() {
    let ctx = context();
    let (mut shown, mut lines, mut located) = (String::new(), 0, 0);
    for (name, source) in translated("-O1") {
        let module = read(&ctx, &source);
        let text = print(&module, Printed::Accesses).expect("text");
        let is_access = |line: &&str| line.contains(": read ") || line.contains(": write ");
        lines += text.lines().filter(is_access).filter(|line| !line.contains("of anything")).count();
        located += text.lines().filter(is_access).filter(|line| line.contains('[')).count();
        if ["stencil.c", "matmul.c", "structs.c"].contains(&&*name) {
            let _ = writeln!(shown, "{name}\n{text}");
        }
    }
    // Without clang there are none.
    if lines > 0 {
        insta::assert_snapshot!(shown);
        assert!(located * 4 > lines * 3, "{located} of {lines}");
    }
}

/// The maximal nesting depth, and the maximal number of accesses, of a random program.
const MAX_DEPTH: usize = 3;
const MAX_ACCESSES: usize = 7;
/// The maximal number of examined iterations of a loop.
const BOX: i64 = 9;

/// A program under construction from a list of choices.
struct Program<'c> {
    choices: std::slice::Iter<'c, u8>,
    text: String,
    next: usize,
    accesses: usize,
    block: String,
    /// The induction variables of the loops around, of 64 bits.
    variables: Vec<String>,
}

impl Program<'_> {
    fn choose(&mut self, count: usize) -> usize {
        usize::from(self.choices.next().copied().unwrap_or(0)) % count
    }

    fn define(&mut self, line: &str) -> String {
        self.next += 1;
        let name = format!("%v{}", self.next);
        let _ = writeln!(self.text, "  {name} = {line}");
        name
    }

    fn label(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    /// Returns a number, an argument or an induction variable.
    fn operand(&mut self) -> String {
        match self.choose(4) {
            0 => ["%n", "%m"][self.choose(2)].to_owned(),
            1 if !self.variables.is_empty() => {
                let at = self.choose(self.variables.len());
                self.variables[at].clone()
            }
            _ => ["3", "1", "5", "2", "0", "4"][self.choose(6)].to_owned(),
        }
    }

    fn body(&mut self, depth: usize) {
        for _ in 0..=self.choose(3) {
            match self.choose(5) {
                3 | 4 if depth < MAX_DEPTH => self.counting(depth),
                2 => self.conditional(depth),
                _ => self.access(),
            }
        }
    }

    fn access(&mut self) {
        if self.accesses >= MAX_ACCESSES {
            return;
        }
        self.accesses += 1;
        let flags = ["nsw", "nuw nsw", ""][self.choose(3)];
        let mut index = ["0", "20", "40", "7"][self.choose(4)].to_owned();
        let is_row = self.choose(3) == 0;
        let innermost: Vec<String> = self.variables.iter().rev().take(2).cloned().collect();
        if let [column, row] = &innermost[..]
            && is_row
        {
            let row = self.define(&format!("mul nsw i64 {row}, %m"));
            index = self.define(&format!("add nsw i64 {row}, {column}"));
        } else {
            index = self.sum(index, flags);
        }
        if self.choose(6) == 0 {
            index = self.define(&format!("and i64 {index}, 7"));
        }
        self.touch(&index);
    }

    /// Returns the sum of a number and multiples of the induction variables.
    fn sum(&mut self, number: String, flags: &str) -> String {
        let mut index = number;
        for variable in self.variables.clone() {
            let by = ["1", "2", "0", "3", "-1", "%m", "%n"][self.choose(7)];
            let flags = if by == "-1" && flags == "nuw nsw" { "nsw" } else { flags };
            let term = self.define(&format!("mul {flags} i64 {variable}, {by}"));
            index = self.define(&format!("add {flags} i64 {index}, {term}"));
        }
        index
    }

    fn touch(&mut self, index: &str) {
        let object = ["@A", "@A", "@B", "%p"][self.choose(4)];
        let inbounds = ["inbounds", ""][self.choose(2)];
        let ty = ["i32", "i8", "i64", "i16"][self.choose(4)];
        let unit = if self.choose(4) == 0 { "i8" } else { ty };
        let address = self.define(&format!("getelementptr {inbounds} {unit}, ptr {object}, i64 {index}"));
        match self.choose(5) {
            0 | 1 => _ = self.define(&format!("load {ty}, ptr {address}, align 1")),
            2 => {
                let length = self.choose(9);
                let _ = writeln!(
                    self.text,
                    "  call void @llvm.memset.p0.i64(ptr {address}, i8 1, i64 {length}, i1 false)"
                );
            }
            _ => _ = writeln!(self.text, "  store {ty} 1, ptr {address}, align 1"),
        }
    }

    fn compare(&mut self, a: &str, b: &str) -> String {
        let predicate = ["slt", "ne", "ult", "sge", "eq", "ugt"][self.choose(6)];
        self.define(&format!("icmp {predicate} i64 {a}, {b}"))
    }

    fn conditional(&mut self, depth: usize) {
        let own = self.label();
        let (a, b) = (self.operand(), self.operand());
        let mut condition = self.compare(&a, &b);
        if self.choose(3) == 0 {
            let (a, b) = (self.operand(), self.operand());
            let other = self.compare(&a, &b);
            let joined = ["and", "or"][self.choose(2)];
            condition = self.define(&format!("{joined} i1 {condition}, {other}"));
        }
        let _ = writeln!(self.text, "  br i1 {condition}, label %t{own}, label %j{own}\nt{own}:");
        self.block = format!("t{own}");
        self.access();
        if self.choose(2) == 0 {
            self.body(depth);
        }
        let _ = writeln!(self.text, "  br label %j{own}\nj{own}:");
        self.block = format!("j{own}");
    }

    /// Writes a loop, tested at its start or its end, with or without a guard, perhaps with an
    /// early exit.
    fn counting(&mut self, depth: usize) {
        let own = self.label();
        let width = [64, 64, 32][self.choose(3)];
        let (mut start, mut bound) = (self.operand(), self.operand());
        if width == 32 {
            (start, bound) = ("0".to_owned(), ["%k", "4"][self.choose(2)].to_owned());
        } else if self.choose(3) == 0 {
            (start, bound) = ("0".to_owned(), "%m".to_owned());
        }
        let (step, predicate) = [("1", "slt"), ("2", "slt"), ("-1", "sgt"), ("1", "ne")][self.choose(4)];
        let flags = ["nsw", ""][self.choose(2)];
        let shape = self.choose(3);
        if shape == 1 {
            let guard = self.define(&format!("icmp {predicate} i{width} {start}, {bound}"));
            let _ = writeln!(self.text, "  br i1 {guard}, label %h{own}, label %x{own}\nh{own}:");
        } else {
            let _ = writeln!(self.text, "  br label %h{own}\nh{own}:");
        }
        let from = std::mem::replace(&mut self.block, format!("h{own}"));
        let phi = self.text.len();
        if shape == 0 {
            let _ = writeln!(
                self.text,
                "  %c{own} = icmp {predicate} i{width} %i{own}, {bound}\n  br i1 %c{own}, label %b{own}, label %x{own}\nb{own}:"
            );
            self.block = format!("b{own}");
        }
        let variable =
            if width == 32 { self.define(&format!("sext i32 %i{own} to i64")) } else { format!("%i{own}") };
        self.variables.push(variable);
        self.body(depth + 1);
        if self.choose(5) == 0 {
            let (a, b) = (self.operand(), self.operand());
            let condition = self.compare(&a, &b);
            let _ = writeln!(self.text, "  br i1 {condition}, label %x{own}, label %g{own}\ng{own}:");
            self.block = format!("g{own}");
            self.access();
        }
        self.variables.pop();
        let _ = writeln!(self.text, "  %n{own} = add {flags} i{width} %i{own}, {step}");
        if shape == 0 {
            let _ = writeln!(self.text, "  br label %h{own}");
        } else {
            let _ = writeln!(
                self.text,
                "  %c{own} = icmp {predicate} i{width} %n{own}, {bound}\n  br i1 %c{own}, label %h{own}, label %x{own}"
            );
        }
        let back = &self.block;
        let phis = format!("  %i{own} = phi i{width} [ {start}, %{from} ], [ %n{own}, %{back} ]\n");
        self.text.insert_str(phi, &phis);
        let _ = writeln!(self.text, "x{own}:");
        self.block = format!("x{own}");
    }
}

fn program(choices: &[u8]) -> String {
    let text = "@A = global [4096 x i8] zeroinitializer\n@B = global [4096 x i8] zeroinitializer\n\
                declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n\
                define void @f(ptr %p, i64 %n, i64 %m, i32 %k) {\nentry:\n"
        .to_owned();
    let mut program = Program {
        choices: choices.iter(),
        text,
        next: 0,
        accesses: 0,
        block: "entry".to_owned(),
        variables: Vec::new(),
    };
    program.counting(0);
    program.body(0);
    program.text.push_str("  ret void\n}\n");
    program.text
}

/// One execution of an access.
struct Instance<'a> {
    access: &'a Access,
    iteration: Vec<i64>,
    address: u64,
    bytes: u64,
}

/// The numbers of comparisons with runs.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    located: usize,
    taken_apart: usize,
    met: usize,
    exact_iterations: usize,
    exact_directions: usize,
}

/// A run up to some event.
struct Run<'r> {
    function: &'r Body,
    analysis: &'r Analysis,
    values: HashMap<Value, u128>,
    globals: HashMap<Base, u64>,
    iterations: HashMap<LoopId, i64>,
}

fn bits(datum: &Datum) -> Option<u128> {
    match datum {
        Datum::Bits(bits) => Some(u128::from(*bits)),
        Datum::Pointer { address, .. } => Some(u128::from(*address)),
        _ => None,
    }
}

impl Run<'_> {
    fn number(&self, value: Value) -> Option<i64> {
        let width = self.function.value_type(value).integer_width(self.function.ctx())?;
        i64::try_from(signed(width, self.values.get(&value)? & mask(width))).ok()
    }

    /// Records the values of an operation's operands and results, and the target of a branch.
    fn event(&mut self, event: &Event) {
        let function = self.function;
        for (value, datum) in function.operands(event.op).zip(&event.operands) {
            bits(datum).map(|bits| self.values.insert(value, bits));
        }
        for (value, datum) in function.results(event.op).zip(&event.results) {
            let Some(bits) = bits(datum) else { continue };
            self.values.insert(value, bits);
            let name =
                function.attr(event.op, "global_name").and_then(|name| name.as_flat_symbol(function.ctx()));
            name.map(|name| self.globals.insert(Base::Global(name), bits as u64));
        }
        let is_branch = function.is(event.op, llvm::CondBrOp::DEF);
        let way = usize::from(is_branch && bits(&event.operands[0]) == Some(0));
        let (Some(from), Some(to)) = (function.block_of(event.op), function.successors(event.op).nth(way))
        else {
            return;
        };
        let (from, target) = (self.analysis.number(from), self.analysis.number(to));
        let loops = self.analysis.loops();
        if let Some(own) = loops.innermost(target).filter(|own| loops.get(*own).header() == target) {
            let next =
                if loops.contains(own, from) { self.iterations.get(&own).map_or(0, |n| n + 1) } else { 0 };
            self.iterations.insert(own, next);
        }
        // An unconditional branch passes its operands here.
        let brought = event.operands[usize::from(is_branch)..].iter();
        for (argument, datum) in function.arguments(to).zip(brought) {
            bits(datum).map(|bits| self.values.insert(argument, bits));
        }
    }

    fn evaluate(&self, form: &AffineForm, iteration: &[i64]) -> Option<i64> {
        let level = |level: u32| iteration.get(level as usize).copied().or(Some(0));
        form.evaluate(&level, &|value| self.number(value))
    }

    fn is_in(&self, class: &Class, iteration: &[i64]) -> Option<bool> {
        let values: Option<Vec<i64>> =
            class.domain.constraints.iter().map(|form| self.evaluate(form, iteration)).collect();
        Some(values?.iter().all(|value| *value >= 0))
    }

    /// Checks that an access that happens is predicted at its address.
    fn check(&self, access: &Access, iteration: &[i64], address: u64, held: &mut Held) -> Result<(), String> {
        let mut is_said = false;
        for class in &access.classes {
            is_said |= self.is_in(class, iteration).unwrap_or(true);
            let Some(subscripts) = &class.subscripts else { continue };
            let from = match class.origin {
                Some(origin) => self.values.get(&origin).map(|bits| *bits as u64),
                None => self.globals.get(&class.base).copied(),
            };
            let Some(from) = from else { return Err(format!("no address of {:?}", class.base)) };
            let mut bytes = 0i64;
            for (at, form) in subscripts.iter().enumerate() {
                let digit = form.as_ref().and_then(|form| self.evaluate(form, iteration)).ok_or("a digit")?;
                let size = at.checked_sub(1).map_or(Some(0), |at| self.evaluate(&class.sizes[at], iteration));
                let size = size.ok_or("a size")?;
                bytes = bytes * size + digit;
            }
            held.located += 1;
            held.taken_apart += usize::from(!class.sizes.is_empty());
            if from.wrapping_add_signed(bytes) != address {
                return Err(format!("{iteration:?}: {bytes} bytes behind {from}, not at {address}"));
            }
        }
        if is_said { Ok(()) } else { Err(format!("{iteration:?} is not said to touch {address}")) }
    }
}

fn has_no_names(access: &Access) -> bool {
    let is_plain = |form: &AffineForm| form.all_atoms(&|atom| !matches!(atom, Atom::Param(_)));
    access.classes.iter().all(|class| {
        class.domain.constraints.iter().chain(class.subscripts.iter().flatten().flatten()).all(is_plain)
    })
}

fn order(a: i64, b: i64) -> Order {
    match a.cmp(&b) {
        std::cmp::Ordering::Less => Order::Less,
        std::cmp::Ordering::Equal => Order::Equal,
        std::cmp::Ordering::Greater => Order::Greater,
    }
}

fn check(choices: &[u8], held: &mut Held) -> Result<(), String> {
    let source = program(choices);
    let ctx = context();
    let module = read(&ctx, &source);
    let (_, function) = functions(&module)[0];
    let analysis = Analysis::of(function);
    let mut scev = ScalarEvolution::new(function, &analysis, &DataLayout::default());
    let accesses = Accesses::of(&SymbolTable::of(&module), &mut scev);
    let bases = Bases::new(function, AliasMode::May);
    let limits = polyhedra::Limits::default();
    let oracle = DependenceOracle { bases: &bases, dependence: &Polyhedral, limits: &limits };
    for (n, m, k) in [(0, 0, 3), (3, 5, 1), (5, 4, 0), (2, -1, -2), (4, 6, 5)] {
        let spec = |text: &str| ArgSpec::parse(&ctx, text).expect("an argument");
        let specs = [
            spec("iota : memref<256xi8>"),
            spec(&format!("{n} : i64")),
            spec(&format!("{m} : i64")),
            spec(&format!("{k} : i32")),
        ];
        let limits = Limits { steps: 3000, ..Limits::default() };
        let Ok((_, trace)) = interp::run_tracing(&module, "f", &specs, &limits) else { continue };
        one_run(function, &analysis, &accesses, &trace, &oracle, held)
            .map_err(|error| format!("{error}\nwith {n} {m} {k}\n{source}"))?;
    }
    Ok(())
}

fn one_run(
    function: &Body,
    analysis: &Analysis,
    accesses: &Accesses<'_>,
    trace: &[Event],
    oracle: &DependenceOracle<'_>,
    held: &mut Held,
) -> Result<(), String> {
    let mut run = Run {
        function,
        analysis,
        values: HashMap::new(),
        globals: HashMap::new(),
        iterations: HashMap::new(),
    };
    let instances = run.instances(accesses, trace, held)?;
    run.exact_accesses_ran(accesses, &instances, held)?;
    meetings_are_predicted(accesses, &instances, oracle, held)
}

impl Run<'_> {
    /// Follows a run, and checks that each access that touches memory is predicted.
    fn instances<'i>(
        &mut self,
        accesses: &'i Accesses<'_>,
        trace: &[Event],
        held: &mut Held,
    ) -> Result<Vec<Instance<'i>>, String> {
        let function = self.function;
        let mut instances = Vec::new();
        for event in trace {
            self.event(event);
            for access in accesses.all.iter().filter(|access| access.op == event.op) {
                let pointer = usize::from(function.is(event.op, llvm::StoreOp::DEF));
                let address = bits(&event.operands[pointer]).ok_or("an address")? as u64;
                let iteration: Vec<i64> = access.loops.iter().map(|of| self.iterations[of]).collect();
                let accessed = function.results(event.op).next().unwrap_or(function.operand(event.op, 0));
                let width = function.value_type(accessed).integer_width(function.ctx());
                let bytes = match width {
                    Some(width) => u64::from(width / 8),
                    None => bits(&event.operands[2]).ok_or("a length")? as u64,
                };
                // An access of zero bytes touches nothing.
                if bytes == 0 {
                    continue;
                }
                self.check(access, &iteration, address, held).map_err(|error| {
                    format!("{}: {error}", function.ctx().op_str(function.op_name(event.op)))
                })?;
                instances.push(Instance { access, iteration, address, bytes });
            }
        }
        Ok(instances)
    }

    /// Checks that predictions of exact accesses that do not depend on computed values happened.
    fn exact_accesses_ran(
        &self,
        accesses: &Accesses<'_>,
        instances: &[Instance<'_>],
        held: &mut Held,
    ) -> Result<(), String> {
        let is_exact = |access: &&Access| access.classes.iter().all(|class| class.domain.exact);
        for access in accesses.all.iter().filter(is_exact) {
            let levels = access.loops.len();
            // An access of no bytes does not run here, whatever its block does.
            if !self.is_known(access) || levels > 3 || access.bytes.is_none() {
                continue;
            }
            let ran: HashSet<&[i64]> = instances
                .iter()
                .filter(|instance| std::ptr::eq(instance.access, access))
                .map(|instance| &instance.iteration[..])
                .collect();
            for at in 0..BOX.pow(levels as u32) {
                let vector: Vec<i64> = (0..levels as u32).map(|level| at / BOX.pow(level) % BOX).collect();
                let zero = [&vector[..], &[0]].concat();
                if access.classes.iter().any(|class| self.is_in(class, &zero) == Some(true)) {
                    held.exact_iterations += 1;
                    if !ran.contains(&vector[..]) {
                        return Err(format!("{:?} is said to run at {vector:?}, exactly", access.classes));
                    }
                }
            }
        }
        Ok(())
    }

    /// True if the domains of an access depend on no values but arguments.
    fn is_known(&self, access: &Access) -> bool {
        let is_given = |value: Value| {
            self.function.value_block(value).is_some_and(|block| self.function.is_entry(block))
        };
        let is_known = |form: &AffineForm| {
            form.all_atoms(&|atom| !matches!(atom, Atom::Param(value) if !is_given(*value)))
        };
        access.classes.iter().all(|class| class.domain.constraints.iter().all(is_known))
    }
}

/// Checks that accesses that meet are predicted to, and that predictions that depend on no values
/// happened.
fn meetings_are_predicted(
    accesses: &Accesses<'_>,
    instances: &[Instance<'_>],
    oracle: &DependenceOracle<'_>,
    held: &mut Held,
) -> Result<(), String> {
    let mut met = meetings(accesses, instances);
    for (x, a) in accesses.all.iter().enumerate() {
        for (y, b) in accesses.all.iter().enumerate() {
            let said = accesses.directions(a, b, oracle);
            let seen = met.remove(&(x, y)).unwrap_or_default();
            for orders in &seen {
                held.met += 1;
                if !said.contains(orders) {
                    return Err(format!("accesses {x} and {y} meet {orders:?}, not only {said:?}"));
                }
            }
            if !has_no_names(a) || !has_no_names(b) {
                continue;
            }
            for orders in said {
                let order: Vec<(u32, Order)> = (0..).zip(orders.iter().copied()).collect();
                if matches!(accesses.meet(a, b, 0, &order, oracle), Answer::At(_)) {
                    held.exact_directions += 1;
                    if !seen.contains(&orders) {
                        return Err(format!("accesses {x} and {y} do not meet {orders:?}"));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns the directions in which two accesses, given by their places, touched the same byte and
/// one wrote it.
fn meetings(accesses: &Accesses<'_>, instances: &[Instance<'_>]) -> HashMap<(usize, usize), Vec<Vec<Order>>> {
    let mut met: HashMap<(usize, usize), Vec<Vec<Order>>> = HashMap::new();
    let place = |access: &Access| accesses.all.iter().position(|own| std::ptr::eq(own, access)).unwrap_or(0);
    for a in instances {
        for b in instances {
            let overlap = a.address < b.address + b.bytes && b.address < a.address + a.bytes;
            if overlap && (a.access.writes() || b.access.writes()) {
                let common = a.access.common(b.access) as usize;
                let orders = a.iteration.iter().zip(&b.iteration).take(common).map(|(x, y)| order(*x, *y));
                let (seen, orders) =
                    (met.entry((place(a.access), place(b.access))).or_default(), orders.collect());
                if !seen.contains(&orders) {
                    seen.push(orders);
                }
            }
        }
    }
    met
}

#[test]
fn accesses_are_what_runs() {
    let (mut held, mut wrong) = (Held::default(), Vec::new());
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let choices = prop::collection::vec(any::<u8>(), 10..120);
    for _ in 0..150 {
        let tree = choices.new_tree(&mut runner).expect("choices");
        let list = proptest::strategy::ValueTree::current(&tree);
        wrong.extend(check(&list, &mut held).err());
    }
    let shortest = wrong.iter().min_by_key(|error| error.len());
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), shortest.map_or("", |error| error));
    assert!(held.located > 1000 && held.taken_apart > 10 && held.met > 200, "{held:?}");
    assert!(held.exact_iterations > 500 && held.exact_directions > 50, "{held:?}");
}
