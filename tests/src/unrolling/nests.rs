//! Random nests of two loops of graphs, which may be jammed or not.
//!
//! Both loops are tested at their ends. The outer one has statements before the inner loop and
//! behind it. All touch one array, at linear functions of both counters, so dependences of many
//! distances occur.

use std::fmt::Write;

use crate::behaviour::Input;
use crate::random::Random;

/// The number of elements of the array.
const LENGTH: i64 = 64;
/// The maximal trip counts.
const MOST: [i64; 2] = [7, 5];

/// A nest to write.
struct Nest<'r> {
    random: &'r mut Random,
    text: String,
    names: usize,
}

/// Returns a function `@kernel(i64 %n, i64 %m) -> i64`, and calls.
pub(super) fn function(random: &mut Random) -> (String, Vec<Input>) {
    let mut nest = Nest { random, text: String::new(), names: 0 };
    nest.write();
    let length = LENGTH;
    let text = nest.text;
    let text = format!(
        "define i64 @kernel(i64 %n, i64 %m) {{\nentry:\n  %a = alloca [{length} x i64]\n  \
         call void @fill(ptr %a)\n  br label %outer\n{text}exit:\n  \
         %out = phi i64 [ %s.out, %latch ]\n  %hash = call i64 @hash(ptr %a)\n  \
         %all = add i64 %hash, %out\n  ret i64 %all\n}}\n{}",
        super::memory(LENGTH)
    );
    let mut calls = Vec::new();
    for _ in 0..8 {
        let [n, m] = MOST.map(|most| nest_count(random, most));
        calls.push(vec![n.to_string(), m.to_string()]);
    }
    (text, calls)
}

fn nest_count(random: &mut Random, most: i64) -> i64 {
    random.range(1, most)
}

impl Nest<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("%t{}", self.names)
    }

    fn write(&mut self) {
        let hands_on = self.random.chance(40);
        let bounds = MOST.map(|most| match self.random.chance(60) {
            true => None,
            false => Some(nest_count(self.random, most).to_string()),
        });
        let [outer, inner] = bounds;
        let [outer, inner] = [outer.unwrap_or("%n".to_owned()), inner.unwrap_or("%m".to_owned())];
        let _ = writeln!(self.text, "outer:");
        self.line("%i = phi i64 [ 0, %entry ], [ %i.next, %latch ]");
        if hands_on {
            self.line("%k = phi i64 [ 1, %entry ], [ %k.next, %latch ]");
        }
        let other = if hands_on { "%k" } else { "%i" };
        self.statements("%i", "0", other);
        self.line("br label %inner");
        let _ = writeln!(self.text, "inner:");
        let latch = if self.random.chance(30) { "join" } else { "inner" };
        self.line(&format!("%j = phi i64 [ 0, %outer ], [ %j.next, %{latch} ]"));
        self.line(&format!("%s = phi i64 [ {other}, %outer ], [ %s.next, %{latch} ]"));
        let mut value = self.statements("%i", "%j", "%s");
        if latch == "join" {
            let condition = self.name();
            let bound = self.random.range(0, 3);
            self.line(&format!("{condition} = icmp eq i64 %j, {bound}"));
            self.line(&format!("br i1 {condition}, label %then, label %join"));
            let _ = writeln!(self.text, "then:");
            let then = self.statements("%i", "%j", &value);
            self.line("br label %join");
            let _ = writeln!(self.text, "join:");
            let joined = self.name();
            self.line(&format!("{joined} = phi i64 [ {value}, %inner ], [ {then}, %then ]"));
            value = joined;
        }
        self.line(&format!("%s.next = add i64 {value}, {other}"));
        self.line("%j.next = add nuw nsw i64 %j, 1");
        self.line(&format!("%j.more = icmp ne i64 %j.next, {inner}"));
        self.line("br i1 %j.more, label %inner, label %latch");
        let _ = writeln!(self.text, "latch:");
        self.line(&format!("%s.out = phi i64 [ %s.next, %{latch} ]"));
        self.statements("%i", "0", "%s.out");
        if hands_on {
            self.line("%k.next = mul i64 %k, 3");
        }
        self.line("%i.next = add nuw nsw i64 %i, 1");
        self.line(&format!("%i.more = icmp ne i64 %i.next, {outer}"));
        self.line("br i1 %i.more, label %outer, label %exit");
    }

    /// Writes loads and stores, at most two. Returns the last value.
    fn statements(&mut self, i: &str, j: &str, value: &str) -> String {
        let mut value = value.to_owned();
        for _ in 0..self.random.below(3) {
            let address = self.address(i, j);
            if self.random.chance(50) {
                let (loaded, sum) = (self.name(), self.name());
                self.line(&format!("{loaded} = load i64, ptr {address}"));
                self.line(&format!("{sum} = add i64 {loaded}, {value}"));
                value = sum;
            } else {
                self.line(&format!("store i64 {value}, ptr {address}"));
            }
        }
        value
    }

    /// Writes the address of an element.
    fn address(&mut self, i: &str, j: &str) -> String {
        let [by_i, by_j] = [self.random.range(-1, 6), self.random.range(-1, 2)];
        // All subscripts are within the array.
        let least = by_i.min(0) * (MOST[0] - 1) + by_j.min(0) * (MOST[1] - 1);
        let most = by_i.max(0) * (MOST[0] - 1) + by_j.max(0) * (MOST[1] - 1);
        let offset = self.random.range(-least, (LENGTH - 1 - most).min(10 - least));
        let names = [0; 4].map(|_| self.name());
        let [x, y, sum, at] = &names;
        let pointer = self.name();
        self.line(&format!("{x} = mul nsw i64 {i}, {by_i}"));
        self.line(&format!("{y} = mul nsw i64 {j}, {by_j}"));
        self.line(&format!("{sum} = add nsw i64 {x}, {y}"));
        self.line(&format!("{at} = add nsw i64 {sum}, {offset}"));
        self.line(&format!("{pointer} = getelementptr inbounds i64, ptr %a, i64 {at}"));
        pointer
    }
}
