//! Random programs and random rewritings of them, right and wrong, with the interpreter as judge.
//!
//! Each rewriting is one that a compiler makes: interchange, strip-mining, reversal, shift, fusion,
//! distribution, peeling, a statement moved, a reduction in memory. None is checked for legality,
//! so many are wrong. A program called equal must do the same on all inputs that are tried.

use std::fmt::Write;

use crate::support::random::Random;
use crate::support::run::difference;
use crate::support::{prove_named, told, try_parse};
use loomir_check::proof::ProofOptions;

/// A sum of multiples of loop variables and a constant. Variable 0 is the parameter `%n`.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(usize, i64)>,
    constant: i64,
}

impl Sum {
    fn constant(constant: i64) -> Sum {
        Sum { terms: Vec::new(), constant }
    }

    fn var(id: usize) -> Sum {
        Sum { terms: vec![(id, 1)], constant: 0 }
    }

    fn plus(&self, other: &Sum, factor: i64) -> Sum {
        let mut sum = self.clone();
        sum.constant += other.constant * factor;
        for (id, value) in &other.terms {
            match sum.terms.iter_mut().find(|(own, _)| own == id) {
                Some((_, own)) => *own += value * factor,
                None => sum.terms.push((*id, value * factor)),
            }
        }
        sum.terms.retain(|(_, value)| *value != 0);
        sum
    }

    fn with(&self, id: usize, value: &Sum) -> Sum {
        let Some((_, factor)) = self.terms.iter().find(|(own, _)| *own == id).copied() else {
            return self.clone();
        };
        self.plus(&Sum::var(id), -factor).plus(value, factor)
    }
}

impl std::fmt::Display for Sum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (id, factor) in &self.terms {
            write!(f, "{} * {factor} + ", name(*id))?;
        }
        write!(f, "{}", self.constant)
    }
}

fn name(id: usize) -> String {
    if id == 0 { "%n".to_string() } else { format!("%i{id}") }
}

#[derive(Clone)]
enum Value {
    Load(usize, Vec<Sum>),
    Argument,
    Number(i64),
    Binary(&'static str, Box<Value>, Box<Value>),
}

#[derive(Clone)]
enum Item {
    For {
        id: usize,
        lower: Sum,
        uppers: Vec<Sum>,
        step: i64,
        body: Vec<Item>,
    },
    If {
        at_least_zero: Sum,
        body: Vec<Item>,
    },
    Store {
        buffer: usize,
        at: Vec<Sum>,
        value: Value,
    },
    /// A reduction in a carried value, stored at the end.
    Reduce {
        id: usize,
        lower: Sum,
        upper: Sum,
        operation: &'static str,
        value: Value,
        buffer: usize,
        at: Vec<Sum>,
    },
}

/// The ranks of the buffers `%b0`, `%b1`, …; the last one is allocated.
const RANKS: [usize; 4] = [1, 1, 2, 1];
const OPERATIONS: [&str; 4] = ["arith.addi", "arith.muli", "arith.subi", "arith.xori"];

struct Generator<'r> {
    random: &'r mut Random,
    next: usize,
}

impl Generator<'_> {
    fn sum(&mut self, around: &[usize]) -> Sum {
        let mut sum = Sum::constant(self.random.range(0, 4));
        if !around.is_empty() && self.random.chance(90) {
            sum = sum.plus(&Sum::var(around[self.random.below(around.len())]), 1);
            if self.random.chance(15) {
                sum = sum.plus(&Sum::var(around[self.random.below(around.len())]), 1);
            }
        }
        sum
    }

    fn element(&mut self, around: &[usize]) -> (usize, Vec<Sum>) {
        let buffer = self.random.below(RANKS.len());
        (buffer, (0..RANKS[buffer]).map(|_| self.sum(around)).collect())
    }

    fn value(&mut self, around: &[usize], depth: usize) -> Value {
        match self.random.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Number(self.random.range(-2, 3)),
            1 => Value::Argument,
            2..5 => {
                let (buffer, at) = self.element(around);
                Value::Load(buffer, at)
            }
            _ => {
                let operation = OPERATIONS[self.random.below(4)];
                let [a, b] = [0, 1].map(|_| Box::new(self.value(around, depth - 1)));
                Value::Binary(operation, a, b)
            }
        }
    }

    fn item(&mut self, around: &mut Vec<usize>, depth: usize) -> Item {
        match self.random.below(if depth == 0 { 3 } else { 9 }) {
            0..2 => {
                let (buffer, at) = self.element(around);
                Item::Store { buffer, at, value: self.value(around, 2) }
            }
            2 if !around.is_empty() => {
                let at_least_zero = self.sum(around).plus(&Sum::constant(self.random.range(3, 6)), -1);
                Item::If { at_least_zero, body: self.items(around, 0) }
            }
            2 | 3 => {
                let id = self.fresh();
                let (buffer, at) = self.element(around);
                around.push(id);
                let value = self.value(around, 1);
                around.pop();
                let operation = ["arith.addi", "arith.xori", "arith.maxsi"][self.random.below(3)];
                let (lower, upper) = (Sum::constant(self.random.range(0, 1)), self.upper(around));
                Item::Reduce { id, lower, upper, operation, value, buffer, at }
            }
            _ => {
                let id = self.fresh();
                let lower = match around.last() {
                    Some(outer) if self.random.chance(20) => Sum::var(*outer),
                    _ => Sum::constant(self.random.range(0, 2)),
                };
                let uppers = vec![self.upper(around)];
                let step = if self.random.chance(20) { 2 } else { 1 };
                around.push(id);
                let body = self.items(around, depth - 1);
                around.pop();
                Item::For { id, lower, uppers, step, body }
            }
        }
    }

    fn upper(&mut self, around: &[usize]) -> Sum {
        match self.random.below(8) {
            0 => Sum::var(0),
            1 if !around.is_empty() => Sum::var(around[0]).plus(&Sum::constant(1), 1),
            _ => Sum::constant(self.random.range(3, 6)),
        }
    }

    fn fresh(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn items(&mut self, around: &mut Vec<usize>, depth: usize) -> Vec<Item> {
        (0..self.random.range(1, 3)).map(|_| self.item(around, depth)).collect()
    }

    /// Reverses, strip-mines, interchanges or shifts a loop; false if it has not the form for that.
    fn rewrite_loop(&mut self, own: &mut Item, kind: usize) -> bool {
        match (&mut *own, kind) {
            (Item::For { id, lower, uppers, step: 1, body }, 0) => {
                // Reversal: i becomes lower + upper - 1 - i.
                let turned = lower.plus(&uppers[0], 1).plus(&Sum::constant(1), -1).plus(&Sum::var(*id), -1);
                if uppers.len() > 1 {
                    return false;
                }
                body.iter_mut().for_each(|item| substitute(item, *id, &turned));
            }
            (Item::For { id, lower, uppers, step: 1, body }, 1) => {
                let outer = self.next + 1;
                let size = self.random.range(2, 4);
                let mut inner = uppers.clone();
                inner.push(Sum::var(outer).plus(&Sum::constant(size), 1));
                let body = vec![Item::For {
                    id: *id,
                    lower: Sum::var(outer),
                    uppers: inner,
                    step: 1,
                    body: std::mem::take(body),
                }];
                let (lower, uppers) = (lower.clone(), uppers.clone());
                self.next = outer;
                *own = Item::For { id: outer, lower, uppers, step: size, body };
            }
            (Item::For { id, lower, uppers, step, body }, 2) => {
                let [Item::For { id: i, lower: l, uppers: u, step: s, body: b }] = &mut body[..] else {
                    return false;
                };
                let bounds = [l.clone(), u[0].clone()];
                if u.len() > 1 || bounds.iter().any(|sum| sum.terms.iter().any(|(own, _)| own == id)) {
                    return false;
                }
                std::mem::swap(id, i);
                std::mem::swap(lower, l);
                std::mem::swap(uppers, u);
                std::mem::swap(step, s);
                let _ = b;
            }
            (Item::For { id, lower, uppers, body, .. }, 3) => {
                // Shift by a constant.
                let by = Sum::constant(self.random.range(1, 3));
                *lower = lower.plus(&by, 1);
                uppers.iter_mut().for_each(|upper| *upper = upper.plus(&by, 1));
                let back = Sum::var(*id).plus(&by, -1);
                body.iter_mut().for_each(|item| substitute(item, *id, &back));
            }
            _ => return false,
        }
        true
    }

    /// Rewrites some place of a list of items; false if nothing was found to rewrite.
    fn rewrite(&mut self, items: &mut Vec<Item>) -> bool {
        let index = self.random.below(items.len());
        if self.random.chance(55)
            && let Item::For { body, .. } | Item::If { body, .. } = &mut items[index]
            && self.rewrite(body)
        {
            return true;
        }
        let count = items.len();
        let (before, rest) = items.split_at_mut(index + 1);
        let own = &mut before[index];
        match (own, self.random.below(8)) {
            (own @ Item::For { .. }, kind @ 0..4) => return self.rewrite_loop(own, kind),
            (Item::For { id, body, .. }, 4) => {
                let Some(Item::For { id: other, body: more, .. }) = rest.first_mut() else { return false };
                let same = Sum::var(*id);
                more.iter_mut().for_each(|item| substitute(item, *other, &same));
                body.append(more);
                items.remove(index + 1);
            }
            (Item::For { id, lower, uppers, step, body }, 5) if body.len() > 1 => {
                let fresh = self.next + 1;
                self.next = fresh;
                let mut behind = body.split_off(1);
                behind.iter_mut().for_each(|item| substitute(item, *id, &Sum::var(fresh)));
                let second = Item::For {
                    id: fresh,
                    lower: lower.clone(),
                    uppers: uppers.clone(),
                    step: *step,
                    body: behind,
                };
                items.insert(index + 1, second);
            }
            (Item::For { id, lower, uppers, body, step }, 6)
                if uppers[0].terms.is_empty() && lower.terms.is_empty() =>
            {
                // Peeling, right if the loop runs.
                let mut first = body.clone();
                first.iter_mut().for_each(|item| substitute(item, *id, lower));
                *lower = lower.plus(&Sum::constant(*step), 1);
                for item in first.into_iter().rev() {
                    items.insert(index, item);
                }
            }
            (Item::Reduce { id, lower, upper, operation, value, buffer, at }, _) => {
                // In memory, if nobody else reads it.
                let old = Box::new(Value::Load(*buffer, at.clone()));
                let sum = Value::Binary(operation, old, Box::new(value.clone()));
                let store = Item::Store { buffer: *buffer, at: at.clone(), value: sum };
                let body = vec![store];
                let reset = Item::Store { buffer: *buffer, at: at.clone(), value: Value::Number(0) };
                let memory =
                    Item::For { id: *id, lower: lower.clone(), uppers: vec![upper.clone()], step: 1, body };
                items[index] = reset;
                items.insert(index + 1, memory);
            }
            (_, 7) if count > index + 1 => items.swap(index, index + 1),
            (Item::Store { value: Value::Binary(operation, a, b), .. }, _) if *operation != "arith.subi" => {
                std::mem::swap(a, b);
            }
            _ => return false,
        }
        true
    }
}

fn substitute(item: &mut Item, id: usize, by: &Sum) {
    let in_sum = |sum: &mut Sum| *sum = sum.with(id, by);
    fn in_value(value: &mut Value, id: usize, by: &Sum) {
        match value {
            Value::Load(_, at) => at.iter_mut().for_each(|sum| *sum = sum.with(id, by)),
            Value::Binary(_, a, b) => {
                in_value(a, id, by);
                in_value(b, id, by);
            }
            _ => {}
        }
    }
    match item {
        Item::For { lower, uppers, body, .. } => {
            in_sum(lower);
            uppers.iter_mut().for_each(in_sum);
            body.iter_mut().for_each(|item| substitute(item, id, by));
        }
        Item::If { at_least_zero, body } => {
            in_sum(at_least_zero);
            body.iter_mut().for_each(|item| substitute(item, id, by));
        }
        Item::Store { at, value, .. } => {
            at.iter_mut().for_each(in_sum);
            in_value(value, id, by);
        }
        Item::Reduce { lower, upper, value, at, .. } => {
            in_sum(lower);
            in_sum(upper);
            at.iter_mut().for_each(in_sum);
            in_value(value, id, by);
        }
    }
}

/// Prints programs.
#[derive(Default)]
struct Printer {
    text: String,
    values: usize,
}

impl Printer {
    fn map(&self, sums: &[Sum]) -> String {
        let mut ids: Vec<usize> = sums.iter().flat_map(|sum| sum.terms.iter().map(|(id, _)| *id)).collect();
        ids.sort_unstable();
        ids.dedup();
        let place = |id: &usize| format!("d{}", ids.iter().position(|own| own == id).unwrap_or(0));
        let sum = |sum: &Sum| {
            let terms: Vec<String> =
                sum.terms.iter().map(|(id, factor)| format!("{} * {factor} + ", place(id))).collect();
            format!("{}{}", terms.concat(), sum.constant)
        };
        let dims: Vec<String> = ids.iter().map(place).collect();
        let results: Vec<String> = sums.iter().map(sum).collect();
        let operands: Vec<String> = ids.iter().map(|id| name(*id)).collect();
        format!("affine_map<({}) -> ({})>({})", dims.join(", "), results.join(", "), operands.join(", "))
    }

    fn ty(buffer: usize) -> &'static str {
        if RANKS[buffer] == 1 { "memref<24xi32>" } else { "memref<24x24xi32>" }
    }

    fn subscripts(at: &[Sum]) -> String {
        at.iter().map(Sum::to_string).collect::<Vec<_>>().join(", ")
    }

    fn value(&mut self, value: &Value) -> String {
        let line = match value {
            Value::Argument => return "%x".to_string(),
            Value::Number(number) => format!("arith.constant {number} : i32"),
            Value::Load(buffer, at) => {
                format!("affine.load %b{buffer}[{}] : {}", Self::subscripts(at), Self::ty(*buffer))
            }
            Value::Binary(operation, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                format!("{operation} {a}, {b} : i32")
            }
        };
        self.values += 1;
        let _ = writeln!(self.text, "%v{} = {line}", self.values);
        format!("%v{}", self.values)
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::For { id, lower, uppers, step, body } => {
                    let (lower, upper) = (self.map(std::slice::from_ref(lower)), self.map(uppers));
                    let least = if uppers.len() > 1 { "min " } else { "" };
                    let _ = writeln!(
                        self.text,
                        "affine.for {} = {lower} to {least}{upper} step {step} {{",
                        name(*id)
                    );
                    self.items(body);
                    self.text.push_str("}\n");
                }
                Item::If { at_least_zero, body } => {
                    let map = self.map(std::slice::from_ref(at_least_zero));
                    let set = map.replacen("affine_map<", "affine_set<", 1).replacen(" -> (", " : (", 1);
                    let set = set.replacen(")>(", " >= 0)>(", 1);
                    let _ = writeln!(self.text, "affine.if {set} {{");
                    self.items(body);
                    self.text.push_str("}\n");
                }
                Item::Store { buffer, at, value } => {
                    let value = self.value(value);
                    let (at, ty) = (Self::subscripts(at), Self::ty(*buffer));
                    let _ = writeln!(self.text, "affine.store {value}, %b{buffer}[{at}] : {ty}");
                }
                Item::Reduce { id, lower, upper, operation, value, buffer, at } => {
                    let [lower, upper] = [lower, upper].map(|sum| self.map(std::slice::from_ref(sum)));
                    let result = format!("%r{id}");
                    let _ = writeln!(
                        self.text,
                        "%z{id} = arith.constant 0 : i32\n{result} = affine.for {} = {lower} to {upper} \
                         iter_args(%s{id} = %z{id}) -> (i32) {{",
                        name(*id)
                    );
                    let value = self.value(value);
                    let _ = writeln!(
                        self.text,
                        "%t{id} = {operation} %s{id}, {value} : i32\naffine.yield %t{id} : i32\n}}\n\
                         affine.store {result}, %b{buffer}[{}] : {}",
                        Self::subscripts(at),
                        Self::ty(*buffer)
                    );
                }
            }
        }
    }

    fn program(items: &[Item]) -> String {
        let mut printer = Printer::default();
        printer.text.push_str(
            "func.func @f(%b0: memref<24xi32>, %b1: memref<24xi32>, %b2: memref<24x24xi32>, %x: i32, %n: index) {\n\
             %b3 = memref.alloc() : memref<24xi32>\naffine.for %k = 0 to 24 {\n\
             affine.store %x, %b3[%k] : memref<24xi32>\n}\n",
        );
        printer.items(items);
        printer.text + "memref.dealloc %b3 : memref<24xi32>\nreturn\n}\n"
    }
}

#[test]
fn what_is_called_equal_does_the_same() {
    let variable = |name: &str, otherwise: u64| {
        std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
    };
    let (seed, cases) = (variable("LOOMIR_CHECK_SEED", 1), variable("LOOMIR_CHECK_CASES", 100));
    let (mut right, mut proved, mut wrong) = (0, 0, 0);
    let mut open = String::new();
    for case in 0..cases {
        let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001) ^ case);
        let mut generator = Generator { random: &mut random, next: 0 };
        let items = generator.items(&mut Vec::new(), 3);
        let mut other = items.clone();
        let rewritings = generator.random.range(1, 3);
        let mut made = 0;
        for _ in 0..20 {
            made += i64::from(generator.rewrite(&mut other));
            if made == rewritings {
                break;
            }
        }
        if made == 0 {
            continue;
        }
        let texts = [Printer::program(&items), Printer::program(&other)];
        let ctx = loomir_dialects::context();
        let before = try_parse(&ctx, &texts[0]).unwrap_or_else(|errors| panic!("{errors}\n{}", texts[0]));
        let Ok(after) = try_parse(&ctx, &texts[1]) else { continue };
        let distinct = case % 2 == 0;
        let options = ProofOptions { distinct, ..ProofOptions::default() };
        let proof = prove_named(&before, &after, "f", &options).expect("both functions");
        match difference(&before, &after, "f", distinct, &mut random) {
            Some(different) => {
                wrong += 1;
                assert!(!proof.is_equal(), "case {case}: {different}\n{}\n{}", texts[0], texts[1]);
            }
            None => {
                right += 1;
                proved += i64::from(proof.is_equal());
                if !proof.is_equal() {
                    let _ =
                        writeln!(open, "// case {case}: {}\n{}\n{}", told(&ctx, &proof), texts[0], texts[1]);
                }
            }
        }
    }
    if let Ok(path) = std::env::var("LOOMIR_CHECK_RANDOM") {
        std::fs::write(path, format!("// {proved} of {right} proved, {wrong} wrong\n{open}"))
            .expect("the list is written");
    }
    assert!(wrong * 5 > right && proved * 2 > right, "{proved} of {right} proved, {wrong} wrong");
}
