//! Expressions and counts in the form of `opt`: `print<scalar-evolution>`.
//!
//! Values and blocks have the numbers of [`to_ll`](crate::to_ll). Facts are printed where they are
//! known. This differs from LLVM in both directions, and equal expressions may be written
//! differently. Dispositions of loops are not printed.

use std::fmt::Write;

use hashbrown::HashMap;
use loomir_dialects::interp::integer::{mask, signed};
use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::graph::loops::LoopId;
use loomir_ir::{Body, Diagnostics, OpRef, Value};

use super::ScalarEvolution;
use super::expr::{Cast, Expr, ExprId, ExprType, Flags, MinMax};
use super::range::Range;
use crate::cfg::Analysis;
use crate::ll::{Label, block_labels, results};

/// Names of values and blocks.
pub(crate) struct Names {
    values: HashMap<Value, Label>,
    /// The names of blocks, by number in the analysis.
    blocks: Vec<Label>,
}

impl Names {
    /// Returns the names of a function of a module.
    pub(crate) fn of(module: &Body, function: &Body, analysis: &Analysis) -> Result<Names, Diagnostics> {
        Ok(Names::with(&results(module, function)?, function, analysis))
    }

    fn with(results: &[(Value, Label, String)], function: &Body, analysis: &Analysis) -> Names {
        let numbers = block_labels(function);
        let blocks = 0..analysis.graph().len() as u32;
        Names {
            values: results.iter().map(|(value, number, _)| (*value, number.clone())).collect(),
            blocks: blocks.map(|node| numbers[analysis.block(node).index()].clone()).collect(),
        }
    }

    /// Returns the name of a block, given its number in the analysis.
    pub(crate) fn block(&self, node: u32) -> String {
        format!("%{}", self.blocks[node as usize])
    }

    /// Returns the text of a value. Values without a number are written in place: an address of a
    /// global, or a constant.
    pub(crate) fn value(&self, function: &Body, value: Value) -> String {
        if let Some(number) = self.values.get(&value) {
            return format!("%{number}");
        }
        let global = function.defining_op(value).and_then(|op| function.attr(op, "global_name"));
        match global.and_then(|name| name.as_flat_symbol(function.ctx())) {
            Some(name) => format!("@{}", function.ctx().str(name)),
            None => "poison".to_owned(),
        }
    }
}

/// Prints the expressions and counts of a function of a module.
///
/// # Errors
/// If something has no text.
pub fn print(module: &Body, function: &Body, text: &mut String) -> Result<(), Diagnostics> {
    let analysis = Analysis::of(function);
    let mut scev = ScalarEvolution::new(function, &analysis, &DataLayout::of(module.root_ref()));
    let results = results(module, function)?;
    let names = Names::with(&results, function, &analysis);
    let name = OpRef::new(function, function.root()).attr("sym_name");
    let name = name.and_then(|name| name.as_str(function.ctx())).unwrap_or_default();
    let _ = writeln!(text, "Printing analysis 'Scalar Evolution Analysis' for function '{name}':");
    let _ = writeln!(text, "Classifying expressions for: @{name}");
    let mut printer = Printer { scev: &mut scev, names, text };
    for (value, _, line) in results.iter().filter(|(_, _, line)| !line.is_empty()) {
        printer.value(*value, line);
    }
    let _ = writeln!(printer.text, "Determining loop execution counts for: @{name}");
    // The order is LLVM's: inner loops first, the last outermost loop first.
    let mut pending: Vec<(LoopId, bool)> =
        analysis.loops().top().iter().rev().map(|of| (*of, false)).collect();
    while let Some((of, is_done)) = pending.pop() {
        if is_done {
            printer.counts(of);
        } else {
            pending.push((of, true));
            pending.extend(analysis.loops().get(of).children.iter().rev().map(|inner| (*inner, false)));
        }
    }
    Ok(())
}

struct Printer<'p, 'f> {
    scev: &'p mut ScalarEvolution<'f>,
    names: Names,
    text: &'p mut String,
}

impl Printer<'_, '_> {
    fn value(&mut self, value: Value, line: &str) {
        let Some(ty) = self.scev.expr_type(value) else { return };
        // Comparisons are conditions, not numbers.
        if line.contains(" = icmp ") || line.contains(" = fcmp ") {
            return;
        }
        let _ = ty;
        let id = self.scev.expr(value);
        let own = self.scev.function.value_block(value);
        let own =
            own.and_then(|block| self.scev.analysis.loops().innermost(self.scev.analysis.number(block)));
        let seen = self.scev.at_scope(id, own);
        let _ = write!(self.text, "  {line}\n  -->  ");
        self.with_ranges(id);
        if seen != id {
            self.text.push_str("  -->  ");
            self.with_ranges(seen);
        }
        if let Some(own) = own {
            let parent = self.scev.analysis.loops().get(own).parent;
            let outside = self.scev.at_scope(seen, parent);
            self.text.push_str("\t\tExits: ");
            if self.scev.is_invariant(outside, own) {
                self.expr(outside);
            } else {
                self.text.push_str("<<Unknown>>");
            }
        }
        self.text.push('\n');
    }

    fn with_ranges(&mut self, id: ExprId) {
        self.expr(id);
        let (range, width) = (self.scev.range(id), self.scev.width(id));
        let end = |bits: u128| signed(width, bits & mask(width));
        let full = Range::full(width);
        let part = |first: u128, last: u128, is_full: bool| {
            if is_full {
                "full-set".to_owned()
            } else {
                format!("[{},{})", end(first), end(last.wrapping_add(1)))
            }
        };
        let unsigned = part(range.unsigned.0, range.unsigned.1, range.unsigned == full.unsigned);
        let signed = part(range.signed.0 as u128, range.signed.1 as u128, range.signed == full.signed);
        let _ = write!(self.text, " U: {unsigned} S: {signed}");
    }

    /// Writes an expression in LLVM's syntax.
    fn expr(&mut self, id: ExprId) {
        let width = self.scev.width(id);
        let expr = self.scev.get(id).clone();
        match expr {
            Expr::Constant(1, bits) => self.text.push_str(if bits == 1 { "true" } else { "false" }),
            Expr::Constant(width, bits) => {
                let _ = write!(self.text, "{}", signed(width, bits));
            }
            Expr::Unknown(value) => self.name(value),
            Expr::PtrToInt(operand) => {
                self.text.push_str("(ptrtoint ptr ");
                self.expr(operand);
                let _ = write!(self.text, " to i{})", self.scev.width(operand));
            }
            Expr::Cast(cast, operand, _) => {
                let word = match cast {
                    Cast::Truncate => "trunc",
                    Cast::ZeroExtend => "zext",
                    Cast::SignExtend => "sext",
                };
                let from = self.type_name(operand);
                let _ = write!(self.text, "({word} {from} ");
                self.expr(operand);
                let _ = write!(self.text, " to i{width})");
            }
            Expr::Add(operands) => self.joined(id, &operands, " + "),
            Expr::Mul(operands) => self.joined(id, &operands, " * "),
            Expr::UDiv(a, b) => self.joined(id, &[a, b], " /u "),
            Expr::MinMax(kind, operands) => {
                let word = match kind {
                    MinMax::UMax => " umax ",
                    MinMax::SMax => " smax ",
                    MinMax::UMin => " umin ",
                    MinMax::SMin => " smin ",
                    MinMax::SequentialUMin => " umin_seq ",
                };
                self.joined(id, &operands, word);
            }
            Expr::AddRec(of, operands) => {
                for (index, operand) in operands.iter().enumerate() {
                    self.text.push_str(if index == 0 { "{" } else { ",+," });
                    self.expr(*operand);
                }
                let flags = self.scev.flags(id);
                self.text.push('}');
                self.flags(Flags { nw: flags.nw && !flags.nuw && !flags.nsw, ..flags });
                let header = self.scev.analysis.loops().get(of).header();
                let _ = write!(self.text, "<%{}>", self.names.blocks[header as usize]);
            }
        }
    }

    fn joined(&mut self, id: ExprId, operands: &[ExprId], by: &str) {
        self.text.push('(');
        for (index, operand) in operands.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { by });
            self.expr(*operand);
        }
        self.text.push(')');
        let flags = self.scev.flags(id);
        self.flags(Flags { nw: false, ..flags });
    }

    fn flags(&mut self, flags: Flags) {
        for (is, word) in [(flags.nuw, "<nuw>"), (flags.nsw, "<nsw>"), (flags.nw, "<nw>")] {
            self.text.push_str(if is { word } else { "" });
        }
    }

    fn name(&mut self, value: Value) {
        let name = self.names.value(self.scev.function, value);
        self.text.push_str(&name);
    }

    fn type_name(&self, id: ExprId) -> String {
        match self.scev.type_of(id) {
            ExprType::Integer(width) => format!("i{width}"),
            ExprType::Pointer(_) => "ptr".to_owned(),
        }
    }

    /// Writes a count. A constant gets its type.
    fn count(&mut self, id: ExprId) {
        if self.scev.as_constant(id).is_some() {
            let ty = self.type_name(id);
            let _ = write!(self.text, "{ty} ");
        }
        self.expr(id);
    }

    fn counts(&mut self, of: LoopId) {
        let counts = self.scev.counts(of);
        let header = self.names.blocks[self.scev.analysis.loops().get(of).header() as usize].clone();
        let several = if counts.exits.len() == 1 { "" } else { "<multiple exits> " };
        let _ = write!(self.text, "Loop %{header}: {several}");
        match counts.exact {
            Some(exact) => {
                self.text.push_str("backedge-taken count is ");
                self.count(exact);
            }
            None => self.text.push_str("Unpredictable backedge-taken count."),
        }
        self.text.push('\n');
        if counts.exits.len() > 1 {
            for exit in &counts.exits {
                self.exit("  exit count for ", exit.from, exit.limit.exact);
            }
        }
        let _ = write!(self.text, "Loop %{header}: ");
        match counts.constant_max {
            Some(most) => {
                self.text.push_str("constant max backedge-taken count is ");
                self.count(most);
            }
            None => self.text.push_str("Unpredictable constant max backedge-taken count. "),
        }
        let _ = write!(self.text, "\nLoop %{header}: ");
        match counts.symbolic_max {
            Some(most) => {
                self.text.push_str("symbolic max backedge-taken count is ");
                self.count(most);
            }
            None => self.text.push_str("Unpredictable symbolic max backedge-taken count. "),
        }
        self.text.push('\n');
        if counts.exits.len() > 1 {
            for exit in &counts.exits {
                self.exit("  symbolic max exit count for ", exit.from, exit.limit.symbolic_max);
            }
        }
        if counts.exact.is_some() {
            let multiple = self.scev.trip_multiple(of);
            // LLVM's has 32 bits.
            let shown = if multiple > u128::from(u32::MAX) {
                1 << multiple.trailing_zeros().min(31)
            } else {
                multiple
            };
            let _ = writeln!(self.text, "Loop %{header}: Trip multiple is {shown}");
        }
    }

    fn exit(&mut self, what: &str, from: u32, count: Option<ExprId>) {
        let _ = write!(self.text, "{what}{}: ", self.names.blocks[from as usize]);
        match count {
            Some(count) => self.count(count),
            None => self.text.push_str("***COULDNOTCOMPUTE***"),
        }
        self.text.push('\n');
    }
}
