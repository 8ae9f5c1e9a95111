//! A function: numbers for what has no name, blocks, phi nodes.

use std::fmt::Write;

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::{CCONV, LINKAGE, UNNAMED_ADDR};
use loomir_dialects::llvm::types::{LlvmType, void};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, OpRef, Value};

use crate::cfg::branch::successor_operands;
use crate::ll::{CALLING_CONVENTION, NULL_PERSONALITY};

use super::names::{quoted, symbol};
use super::{Module, attributes, constants, globals, instructions, metadata, no_text};

/// An edge into a block: the number of the block it comes from, and what it brings.
struct Edge {
    from: u32,
    operands: Vec<Value>,
}

/// The function being written.
pub(super) struct Function<'b> {
    pub(super) body: &'b Body,
    /// Numbers of values, by index.
    values: Vec<u32>,
    /// Numbers of blocks, by index.
    blocks: Vec<u32>,
    /// Edges into each block, by index, in the order of the text.
    edges: Vec<Vec<Edge>>,
    /// For an edge that goes through a block of its own, that block's number.
    detours: HashMap<(Op, usize), u32>,
}

const NO_NUMBER: u32 = u32::MAX;

impl<'b> Function<'b> {
    /// An operand without its type: a number or a literal.
    pub(super) fn operand(&self, m: &mut Module, value: Value) -> Result<String, Diagnostic> {
        match self.body.defining_op(value) {
            Some(op) if constants::is_literal(self.body, op) => {
                constants::literal(m, OpRef::new(self.body, op))
            }
            _ => Ok(format!("%{}", self.values[value.index()])),
        }
    }

    /// An operand behind its type.
    pub(super) fn typed_operand(
        &self,
        m: &mut Module,
        op: OpRef<'_>,
        value: Value,
    ) -> Result<String, Diagnostic> {
        let ty = type_text(m, op, self.body.value_type(value))?;
        Ok(format!("{ty} {}", self.operand(m, value)?))
    }

    /// The numbers of the blocks, by index.
    pub(super) fn into_block_numbers(self) -> Vec<u32> {
        self.blocks
    }

    /// `label %n` of a successor.
    pub(super) fn label(&self, op: OpRef<'_>, index: usize, block: Block) -> String {
        let number = self.detours.get(&(op.op(), index)).copied().unwrap_or(self.blocks[block.index()]);
        format!("label %{number}")
    }

    /// Numbers arguments, blocks and results in the order LLVM does.
    pub(super) fn new(body: &'b Body) -> Self {
        let mut f = Function {
            body,
            values: vec![NO_NUMBER; body.num_value_slots()],
            blocks: vec![NO_NUMBER; body.num_block_slots()],
            edges: (0..body.num_block_slots()).map(|_| Vec::new()).collect(),
            detours: HashMap::new(),
        };
        let region = body.region(body.root(), 0);
        let mut next = 0;
        let mut number = || {
            next += 1;
            next - 1
        };
        if let Some(entry) = body.entry_block(region) {
            for argument in body.arguments(entry) {
                f.values[argument.index()] = number();
            }
        }
        for block in body.blocks(region) {
            f.blocks[block.index()] = number();
            if !body.is_entry(block) {
                for argument in body.arguments(block) {
                    f.values[argument.index()] = number();
                }
            }
            for op in body.ops(block) {
                if !constants::is_literal(body, op) {
                    for result in body.results(op) {
                        f.values[result.index()] = number();
                    }
                }
            }
            let Some(terminator) = body.last_op(block) else { continue };
            // The first edge to each target, to which later ones are compared.
            let mut first: HashMap<Block, usize> = HashMap::new();
            let all = successor_operands(body, terminator);
            for (index, (target, operands)) in body.successors(terminator).zip(&all).enumerate() {
                let differs = match first.get(&target) {
                    Some(earlier) => all[*earlier] != *operands,
                    None => {
                        first.insert(target, index);
                        false
                    }
                };
                let mut from = f.blocks[block.index()];
                if differs {
                    from = number();
                    f.detours.insert((terminator, index), from);
                }
                f.edges[target.index()].push(Edge { from, operands: operands.clone() });
            }
        }
        f
    }
}

/// The text of a type, or why there is none.
pub(super) fn type_text(
    m: &mut Module,
    op: OpRef<'_>,
    ty: loomir_ir::Type,
) -> Result<std::rc::Rc<str>, Diagnostic> {
    m.types.get(ty).ok_or_else(|| no_text(op, "with a type that is not one of LLVM IR"))
}

/// Writes a definition or declaration.
pub(super) fn write_function(m: &mut Module, op: OpRef<'_>, text: &mut String) -> Result<(), Diagnostics> {
    let is_declaration = op.body().entry_block(op.region(0)).is_none();
    let head = head(m, op, is_declaration)?;
    let _ = write!(text, "\n{head}");
    if is_declaration {
        text.push('\n');
        return Ok(());
    }
    text.push_str(" {\n");
    let f = Function::new(op.body());
    let mut diagnostics = Diagnostics::new();
    for block in f.body.blocks(op.region(0)) {
        if let Err(errors) = write_block(m, &f, block, text) {
            diagnostics.append(errors);
        }
    }
    text.push_str("}\n");
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

fn write_block(m: &mut Module, f: &Function<'_>, block: Block, text: &mut String) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    if !f.body.is_entry(block) {
        let _ = writeln!(text, "\n{}:", f.blocks[block.index()]);
        if let Err(diagnostic) = write_phis(m, f, block, text) {
            diagnostics.push(diagnostic);
        }
    }
    for op in f.body.ops(block) {
        match line(m, f, op) {
            Ok(Some(line)) => {
                let _ = writeln!(text, "  {line}");
            }
            Ok(None) => {}
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    if let Some(terminator) = f.body.last_op(block) {
        for (index, target) in f.body.successors(terminator).enumerate() {
            if let Some(number) = f.detours.get(&(terminator, index)) {
                let _ = writeln!(text, "\n{number}:\n  br label %{}", f.blocks[target.index()]);
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// The line of an operation, unless it is a literal, with what is attached to it.
fn line(m: &mut Module, f: &Function<'_>, op: Op) -> Result<Option<String>, Diagnostic> {
    if constants::is_literal(f.body, op) {
        return Ok(None);
    }
    let view = OpRef::new(f.body, op);
    let line = instructions::instruction(m, f, view)?;
    let attached = metadata::attached(&m.ctx, view, ",");
    Ok(Some(match f.body.results(op).next() {
        Some(result) => format!("%{} = {line}{attached}", f.values[result.index()]),
        None => format!("{line}{attached}"),
    }))
}

/// The values that blocks take or operations compute, with their numbers and lines.
pub(super) fn results(m: &mut Module, body: &Body) -> Result<Vec<(Value, u32, String)>, Diagnostics> {
    let f = Function::new(body);
    let mut results = Vec::new();
    for argument in
        body.entry_block(body.region(body.root(), 0)).iter().flat_map(|entry| body.arguments(*entry))
    {
        results.push((argument, f.values[argument.index()], String::new()));
    }
    for block in body.blocks(body.region(body.root(), 0)) {
        if !body.is_entry(block) {
            let mut lines = String::new();
            write_phis(m, &f, block, &mut lines)?;
            let arguments = body.arguments(block).zip(lines.lines());
            results.extend(
                arguments.map(|(value, line)| (value, f.values[value.index()], line.trim_start().to_owned())),
            );
        }
        for op in body.ops(block) {
            let line = line(m, &f, op)?;
            if let (Some(line), Some(result)) = (line, body.results(op).next()) {
                results.push((result, f.values[result.index()], line));
            }
        }
    }
    Ok(results)
}

fn write_phis(m: &mut Module, f: &Function<'_>, block: Block, text: &mut String) -> Result<(), Diagnostic> {
    let at = OpRef::new(f.body, f.body.root());
    for (index, argument) in f.body.arguments(block).enumerate() {
        let ty = type_text(m, at, f.body.value_type(argument))?;
        let number = f.values[argument.index()];
        let mut entries = Vec::new();
        for edge in &f.edges[block.index()] {
            let value =
                edge.operands.get(index).ok_or_else(|| no_text(at, "with a branch short of operands"))?;
            entries.push(format!("[ {}, %{} ]", f.operand(m, *value)?, edge.from));
        }
        if entries.is_empty() {
            // Nothing comes here: any value will do, and a phi node needs an edge.
            let _ = writeln!(text, "  %{number} = freeze {ty} poison");
        } else {
            let _ = writeln!(text, "  %{number} = phi {ty} {}", entries.join(", "));
        }
    }
    Ok(())
}

/// Everything in front of the body.
fn head(m: &mut Module, op: OpRef<'_>, is_declaration: bool) -> Result<String, Diagnostic> {
    let ctx = m.ctx.clone();
    let name = op.attr("sym_name").and_then(|n| n.as_str(&ctx)).unwrap_or_default();
    let ty = op.attr("function_type").and_then(|t| t.as_type(&ctx)).and_then(|t| LlvmType::of(&ctx, t));
    let Some(LlvmType::Function { result, params, variadic }) = ty else {
        return Err(no_text(op, "without a function type"));
    };
    let mut head = if is_declaration { "declare" } else { "define" }.to_owned();
    let attached = metadata::attached(&ctx, op, "");
    if is_declaration {
        head.push_str(&attached);
    }
    for word in linkage_words(m, op) {
        let _ = write!(head, " {word}");
    }
    if let Some(convention) = calling_convention(m, op) {
        let _ = write!(head, " {convention}");
    }
    for attr in attributes::of_values(m, op, "res_attrs", 0)? {
        let _ = write!(head, " {attr}");
    }
    let result_text = if result == void(&ctx) { "void".into() } else { type_text(m, op, result)? };
    let _ = write!(head, " {result_text} {}(", symbol('@', name));
    for (i, param) in params.iter().enumerate() {
        let ty = type_text(m, op, *param)?;
        let _ = write!(head, "{}{ty}", if i == 0 { "" } else { ", " });
        for attr in attributes::of_values(m, op, "arg_attrs", i)? {
            let _ = write!(head, " {attr}");
        }
        if !is_declaration {
            let _ = write!(head, " %{i}");
        }
    }
    if variadic {
        head.push_str(if params.is_empty() { "..." } else { ", ..." });
    }
    head.push(')');
    if let Some(word) = unnamed_addr(m, op) {
        let _ = write!(head, " {word}");
    }
    for attr in attributes::of_function(m, op) {
        let _ = write!(head, " {attr}");
    }
    if let Some(section) = op.attr("section").and_then(|s| s.as_str(&ctx)) {
        let _ = write!(head, " section {}", quoted(section.as_bytes()));
    }
    head.push_str(&globals::comdat(m, op, " "));
    if let Some(alignment) = op.attr("alignment").and_then(|a| a.as_int(&ctx)) {
        let _ = write!(head, " align {alignment}");
    }
    if let Some(collector) = op.attr("garbageCollector").and_then(|s| s.as_str(&ctx)) {
        let _ = write!(head, " gc {}", quoted(collector.as_bytes()));
    }
    if let Some(personality) = op.attr("personality").and_then(|s| s.as_flat_symbol(&ctx)) {
        let _ = write!(head, " personality ptr {}", symbol('@', ctx.str(personality)));
    } else if op.attr(NULL_PERSONALITY).is_some() {
        head.push_str(" personality ptr null");
    }
    if !is_declaration {
        head.push_str(&attached);
    }
    Ok(head)
}

/// Linkage, preemption and visibility of a symbol.
pub(super) fn linkage_words(m: &Module, op: OpRef<'_>) -> Vec<String> {
    let mut words = Vec::new();
    let linkage = op.attr("linkage").and_then(|l| LINKAGE.value(&m.ctx, l)).and_then(|l| LINKAGE.text_of(l));
    words.extend(linkage.filter(|linkage| linkage != "external"));
    if op.attr("dso_local").is_some() {
        words.push("dso_local".to_owned());
    }
    let visibility = &llvm::attributes::VISIBILITY;
    let seen =
        op.attr("visibility_").and_then(|v| visibility.value(&m.ctx, v)).and_then(|v| visibility.text_of(v));
    words.extend(seen.filter(|word| !word.is_empty()));
    words
}

/// `unnamed_addr` or `local_unnamed_addr`.
pub(super) fn unnamed_addr(m: &Module, op: OpRef<'_>) -> Option<String> {
    let value = UNNAMED_ADDR.value(&m.ctx, op.attr("unnamed_addr")?)?;
    UNNAMED_ADDR.text_of(value).filter(|word| !word.is_empty())
}

/// The word of a calling convention other than C's.
pub(super) fn calling_convention(m: &Module, op: OpRef<'_>) -> Option<String> {
    if let Some(number) = op.attr(CALLING_CONVENTION).and_then(|number| number.as_int(&m.ctx)) {
        return Some(format!("cc {number}"));
    }
    match CCONV.value(&m.ctx, op.attr("CConv")?)? {
        0 => None,
        number => match CCONV.text_of(number)?.as_str() {
            // Not all of LLVM's words are those of the dialect; numbers always are.
            word @ ("fastcc" | "coldcc" | "anyregcc" | "preserve_mostcc" | "preserve_allcc" | "swiftcc"
            | "tailcc" | "swifttailcc" | "cxx_fast_tlscc" | "cfguard_checkcc") => Some(word.to_owned()),
            _ => Some(format!("cc {number}")),
        },
    }
}
