//! A function: its head, blocks, phi nodes.

use std::fmt::Write;

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::{LlvmType, void};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, OpRef, Value};

use crate::ll::{CONSTANTS, PARTITION};

use super::beside::{Label, Piece};
use super::line::{Line, Written};
use super::names::quoted;
use super::numbering::Function;
use super::words::{calling_convention, linkage_words, unnamed_addr};
use super::{Module, attributes, instructions, metadata, no_text, type_text, words};

/// The bytes of a line to make room for. Few have more.
const LINE: usize = 64;

/// Writes a definition or declaration.
pub(super) fn write_function(m: &mut Module, op: OpRef<'_>, text: &mut String) -> Result<(), Diagnostics> {
    let Some(entry) = op.body().entry_block(op.region(0)) else {
        let _ = writeln!(text, "\n{}", head(m, op, None)?);
        return Ok(());
    };
    let f = Function::new(op.body());
    text.reserve(f.body.num_op_slots().saturating_mul(LINE));
    let arguments: Vec<Label> = f.body.arguments(entry).map(|argument| f.value(argument).clone()).collect();
    let _ = writeln!(text, "\n{} {{", head(m, op, Some(&arguments))?);
    // Without a name it has a number that need not be written.
    if let Label::Name(_) = &f.blocks[entry.index()] {
        let _ = writeln!(text, "{}:", f.blocks[entry.index()]);
    }
    let mut diagnostics = Diagnostics::new();
    for block in f.body.blocks(op.region(0)).filter(|block| !f.of_edges.contains(block)) {
        if let Err(errors) = write_block(m, &f, block, text) {
            diagnostics.append(errors);
        }
    }
    text.push_str("}\n");
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

fn write_block(m: &mut Module, f: &Function<'_>, block: Block, text: &mut String) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    let mut line = Line::at_end_of(m, f, text);
    if !f.body.is_entry(block) {
        line.put("\n");
        f.blocks[block.index()].write(line.text);
        line.put(":\n");
        if let Err(diagnostic) = write_phis(&mut line, block) {
            diagnostics.push(diagnostic);
        }
    }
    for op in f.body.ops(block).filter(|op| !f.is_literal(*op)) {
        for record in f.beside.records(op) {
            let _ = writeln!(line, "    {}", record_text(f, record));
        }
        if f.body.is(op, llvm::BlockTagOp::DEF) {
            continue;
        }
        line.put("  ");
        if let Err(diagnostic) = write_operation(&mut line, f.body.op_ref(op)) {
            diagnostics.push(diagnostic);
        }
        line.put("\n");
    }
    if let Some(terminator) = f.body.last_op(block) {
        for (index, target) in f.body.successors(terminator).enumerate() {
            if let Some(number) = f.detours.get(&(terminator, index)) {
                let _ = writeln!(line, "\n{number}:\n  br label %{}", f.blocks[target.index()]);
            }
        }
    }
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Writes an operation with its attachments.
fn write_operation(line: &mut Line<'_>, op: OpRef<'_>) -> Written {
    line.alike(op, |line| {
        if op.num_results() > 0 {
            line.result(op)?;
            line.put(" = ");
        }
        instructions::write(line, op)?;
        metadata::write_attached(line.text, &line.m.ctx, op, ",");
        Ok(())
    })
}

/// Returns a debug record with the names and numbers of values.
fn record_text(f: &Function<'_>, record: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value(value) => format!("%{}", f.value(*value)),
    };
    record.iter().map(piece).collect()
}

/// Returns the block arguments and operation results, with their labels and lines.
pub(super) fn results(m: &mut Module, body: &Body) -> Result<Vec<(Value, Label, String)>, Diagnostics> {
    let f = Function::new(body);
    let mut results = Vec::new();
    for argument in
        body.entry_block(body.region(body.root(), 0)).iter().flat_map(|entry| body.arguments(*entry))
    {
        results.push((argument, f.value(argument).clone(), String::new()));
    }
    for block in body.blocks(body.region(body.root(), 0)).filter(|block| !f.of_edges.contains(block)) {
        if !body.is_entry(block) {
            let mut lines = String::new();
            write_phis(&mut Line::at_end_of(m, &f, &mut lines), block)?;
            let arguments = body.arguments(block).zip(lines.lines());
            results.extend(
                arguments.map(|(value, line)| (value, f.value(value).clone(), line.trim_start().to_owned())),
            );
        }
        let is_line = |op: &Op| !f.is_literal(*op) && !body.is(*op, llvm::BlockTagOp::DEF);
        for op in body.ops(block).filter(is_line) {
            let mut text = String::new();
            write_operation(&mut Line::at_end_of(m, &f, &mut text), body.op_ref(op))?;
            if let Some(result) = body.results(op).next() {
                results.push((result, f.value(result).clone(), text));
            }
        }
    }
    Ok(results)
}

fn write_phis(line: &mut Line<'_>, block: Block) -> Written {
    let f = line.f;
    let at = OpRef::new(f.body, f.body.root());
    for (index, argument) in f.body.arguments(block).enumerate() {
        line.put("  ");
        line.name(f.value(argument));
        let edges = &f.edges[block.index()];
        if edges.is_empty() {
            // The block has no predecessor, so any value will do. A phi node needs an edge.
            line.put(" = freeze ");
            line.ty(at, f.body.value_type(argument))?;
            line.put(" poison\n");
            continue;
        }
        line.put(" = phi ");
        if let Some(flags) = f.beside.flags(argument) {
            line.put(flags);
            line.put(" ");
        }
        line.ty(at, f.body.value_type(argument))?;
        for (number, edge) in edges.iter().enumerate() {
            line.put(if number == 0 { " [ " } else { ", [ " });
            let value =
                edge.operands.get(index).ok_or_else(|| no_text(at, "with a branch short of operands"))?;
            line.value(*value)?;
            line.put(", ");
            line.name(&edge.from);
            line.put(" ]");
        }
        line.put(f.beside.attached(argument));
        line.put("\n");
    }
    Ok(())
}

/// Writes everything in front of the body. A definition has labels for its arguments.
fn head(m: &mut Module, op: OpRef<'_>, arguments: Option<&[Label]>) -> Result<String, Diagnostic> {
    let ctx = m.ctx.clone();
    let is_declaration = arguments.is_none();
    let labels = arguments.unwrap_or_default();
    let name = op.attr("sym_name").and_then(|n| n.as_str(&ctx)).unwrap_or_default();
    let ty = op.attr("function_type").and_then(|t| t.as_type(&ctx)).and_then(|t| LlvmType::of(&ctx, t));
    let Some(LlvmType::Function { result, params, variadic }) = ty else {
        return Err(no_text(op, "without a function type"));
    };
    let mut head = if is_declaration { "declare" } else { "define" }.to_owned();
    if is_declaration {
        metadata::write_attached(&mut head, &ctx, op, "");
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
    let _ = write!(head, " {result_text} {}(", m.symbol(name));
    for (i, param) in params.iter().enumerate() {
        let ty = type_text(m, op, *param)?;
        let _ = write!(head, "{}{ty}", if i == 0 { "" } else { ", " });
        for attr in attributes::of_values(m, op, "arg_attrs", i)? {
            let _ = write!(head, " {attr}");
        }
        if !is_declaration {
            let argument = labels.get(i).map(|label| format!(" %{label}"));
            head.push_str(&argument.unwrap_or_default());
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
    if let Some(partition) = op.attr(PARTITION).and_then(|p| p.as_str(&ctx)) {
        let _ = write!(head, " partition {}", quoted(partition.as_bytes()));
    }
    head.push_str(&words::comdat(m, op, " "));
    if let Some(alignment) = op.attr("alignment").and_then(|a| a.as_int(&ctx)) {
        let _ = write!(head, " align {alignment}");
    }
    if let Some(collector) = op.attr("garbageCollector").and_then(|s| s.as_str(&ctx)) {
        let _ = write!(head, " gc {}", quoted(collector.as_bytes()));
    }
    for (name, word) in CONSTANTS {
        if let Some(constant) = op.attr(name).and_then(|text| text.as_str(&ctx)) {
            let _ = write!(head, " {word} {}", m.current(constant));
        }
    }
    if let Some(personality) = op.attr("personality").and_then(|s| s.as_flat_symbol(&ctx)) {
        let _ = write!(head, " personality ptr {}", m.symbol(ctx.str(personality)));
    }
    if !is_declaration {
        metadata::write_attached(&mut head, &ctx, op, "");
    }
    Ok(head)
}
