//! A function: numbers for unnamed values and blocks, blocks, phi nodes.

use std::fmt::Write;

use hashbrown::HashMap;
use loomir_dialects::llvm::attributes::{CCONV, LINKAGE, UNNAMED_ADDR};
use loomir_dialects::llvm::types::{LlvmType, void};
use loomir_dialects::{branch, llvm};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, OpRef, Value};

use crate::ll::as_read::{Named, is_literal};
use crate::ll::{CALLING_CONVENTION, CONSTANTS, DLL_STORAGE, PARTITION};

use super::beside::{Beside, Label, Part};
use super::names::quoted;
use super::{Module, attributes, constants, globals, instructions, metadata, no_text};

/// An edge into a block: its source, and its operands.
struct Edge {
    from: Label,
    operands: Vec<Value>,
}

/// The function being written.
pub(super) struct Function<'b> {
    pub(super) body: &'b Body,
    /// Labels of values, by index.
    values: Vec<Label>,
    /// Labels of blocks, by index.
    blocks: Vec<Label>,
    /// Edges into each block, by index, in the order of the text.
    edges: Vec<Vec<Edge>>,
    /// The labels of blocks that split an edge.
    detours: HashMap<(Op, usize), Label>,
    /// The additional parts of the text, if the function is unchanged.
    beside: Beside,
}

impl<'b> Function<'b> {
    /// Returns an operand without its type: a number or a literal.
    pub(super) fn operand(&self, m: &mut Module, value: Value) -> Result<String, Diagnostic> {
        match self.body.defining_op(value) {
            Some(op) if is_literal(self.body, op) => constants::literal(m, OpRef::new(self.body, op)),
            _ => Ok(format!("%{}", self.values[value.index()])),
        }
    }

    /// Returns an operand behind its type.
    pub(super) fn typed_operand(
        &self,
        m: &mut Module,
        op: OpRef<'_>,
        value: Value,
    ) -> Result<String, Diagnostic> {
        let ty = type_text(m, op, self.body.value_type(value))?;
        Ok(format!("{ty} {}", self.operand(m, value)?))
    }

    /// Returns the labels of the blocks, by index.
    pub(super) fn into_block_labels(self) -> Vec<Label> {
        self.blocks
    }

    /// `label %n` of a successor.
    pub(super) fn label(&self, op: OpRef<'_>, index: usize, block: Block) -> String {
        let label = self.detours.get(&(op.op(), index)).unwrap_or(&self.blocks[block.index()]);
        format!("label %{label}")
    }

    /// Numbers arguments, blocks and results without a name in LLVM's order.
    pub(super) fn new(body: &'b Body) -> Self {
        let (mut labels, beside) = Beside::of(body);
        let mut f = Function {
            body,
            values: vec![Label::default(); body.num_value_slots()],
            blocks: vec![Label::default(); body.num_block_slots()],
            edges: (0..body.num_block_slots()).map(|_| Vec::new()).collect(),
            detours: HashMap::new(),
            beside,
        };
        let region = body.region(body.root(), 0);
        if let Some(entry) = body.entry_block(region) {
            for argument in body.arguments(entry) {
                f.values[argument.index()] = labels.of(Named::Value(argument));
            }
        }
        for block in body.blocks(region) {
            f.blocks[block.index()] = labels.of(Named::Block(block));
            if !body.is_entry(block) {
                for argument in body.arguments(block) {
                    f.values[argument.index()] = labels.of(Named::Value(argument));
                }
            }
            for op in body.ops(block) {
                if !is_literal(body, op) {
                    for result in body.results(op) {
                        f.values[result.index()] = labels.of(Named::Value(result));
                    }
                }
            }
            let Some(terminator) = body.last_op(block) else { continue };
            // The first edge to each target. Later ones are compared with it.
            let mut first: HashMap<Block, usize> = HashMap::new();
            let all = branch::successor_operands(body, terminator);
            let all = all.unwrap_or_else(|| vec![Vec::new(); body.successors(terminator).len()]);
            for (index, (target, operands)) in body.successors(terminator).zip(&all).enumerate() {
                let differs = match first.get(&target) {
                    Some(earlier) => all[*earlier] != *operands,
                    None => {
                        first.insert(target, index);
                        false
                    }
                };
                let mut from = f.blocks[block.index()].clone();
                if differs {
                    from = labels.number();
                    f.detours.insert((terminator, index), from.clone());
                }
                f.edges[target.index()].push(Edge { from, operands: operands.clone() });
            }
        }
        f
    }
}

/// Returns the text of a type, or the reason why it has none.
pub(super) fn type_text(
    m: &mut Module,
    op: OpRef<'_>,
    ty: loomir_ir::Type,
) -> Result<std::rc::Rc<str>, Diagnostic> {
    m.types.get(ty).ok_or_else(|| no_text(op, "with a type that is not one of LLVM IR"))
}

/// Writes a definition or declaration.
pub(super) fn write_function(m: &mut Module, op: OpRef<'_>, text: &mut String) -> Result<(), Diagnostics> {
    let Some(entry) = op.body().entry_block(op.region(0)) else {
        let _ = writeln!(text, "\n{}", head(m, op, None)?);
        return Ok(());
    };
    let f = Function::new(op.body());
    let arguments: Vec<Label> =
        f.body.arguments(entry).map(|argument| f.values[argument.index()].clone()).collect();
    let _ = writeln!(text, "\n{} {{", head(m, op, Some(&arguments))?);
    // Without a name it has a number that need not be written.
    if let Label::Name(_) = &f.blocks[entry.index()] {
        let _ = writeln!(text, "{}:", f.blocks[entry.index()]);
    }
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
                for record in f.beside.records(op) {
                    let _ = writeln!(text, "    {}", record_text(f, record));
                }
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

/// Returns the line of an operation with its attachments, unless it is a literal.
fn line(m: &mut Module, f: &Function<'_>, op: Op) -> Result<Option<String>, Diagnostic> {
    if is_literal(f.body, op) {
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

/// Returns a debug record with the names and numbers of values.
fn record_text(f: &Function<'_>, record: &[Part]) -> String {
    let part = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Value(value) => format!("%{}", f.values[value.index()]),
    };
    record.iter().map(part).collect()
}

/// Returns the block arguments and operation results, with their labels and lines.
pub(super) fn results(m: &mut Module, body: &Body) -> Result<Vec<(Value, Label, String)>, Diagnostics> {
    let f = Function::new(body);
    let mut results = Vec::new();
    for argument in
        body.entry_block(body.region(body.root(), 0)).iter().flat_map(|entry| body.arguments(*entry))
    {
        results.push((argument, f.values[argument.index()].clone(), String::new()));
    }
    for block in body.blocks(body.region(body.root(), 0)) {
        if !body.is_entry(block) {
            let mut lines = String::new();
            write_phis(m, &f, block, &mut lines)?;
            let arguments = body.arguments(block).zip(lines.lines());
            results.extend(
                arguments.map(|(value, line)| {
                    (value, f.values[value.index()].clone(), line.trim_start().to_owned())
                }),
            );
        }
        for op in body.ops(block) {
            let line = line(m, &f, op)?;
            if let (Some(line), Some(result)) = (line, body.results(op).next()) {
                results.push((result, f.values[result.index()].clone(), line));
            }
        }
    }
    Ok(results)
}

fn write_phis(m: &mut Module, f: &Function<'_>, block: Block, text: &mut String) -> Result<(), Diagnostic> {
    let at = OpRef::new(f.body, f.body.root());
    for (index, argument) in f.body.arguments(block).enumerate() {
        let ty = type_text(m, at, f.body.value_type(argument))?;
        let label = &f.values[argument.index()];
        let (flags, attached) = f.beside.of_phi(argument);
        let mut entries = Vec::new();
        for edge in &f.edges[block.index()] {
            let value =
                edge.operands.get(index).ok_or_else(|| no_text(at, "with a branch short of operands"))?;
            entries.push(format!("[ {}, %{} ]", f.operand(m, *value)?, edge.from));
        }
        if entries.is_empty() {
            // The block has no predecessor, so any value will do. A phi node needs an edge.
            let _ = writeln!(text, "  %{label} = freeze {ty} poison");
        } else {
            let _ = writeln!(text, "  %{label} = phi {flags}{ty} {}{attached}", entries.join(", "));
        }
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
    head.push_str(&globals::comdat(m, op, " "));
    if let Some(alignment) = op.attr("alignment").and_then(|a| a.as_int(&ctx)) {
        let _ = write!(head, " align {alignment}");
    }
    if let Some(collector) = op.attr("garbageCollector").and_then(|s| s.as_str(&ctx)) {
        let _ = write!(head, " gc {}", quoted(collector.as_bytes()));
    }
    for (name, word) in CONSTANTS {
        if let Some(constant) = op.attr(name).and_then(|text| text.as_str(&ctx)) {
            let _ = write!(head, " {word} {constant}");
        }
    }
    if let Some(personality) = op.attr("personality").and_then(|s| s.as_flat_symbol(&ctx)) {
        let _ = write!(head, " personality ptr {}", m.symbol(ctx.str(personality)));
    }
    if !is_declaration {
        head.push_str(&attached);
    }
    Ok(head)
}

/// Returns linkage, preemption and visibility of a symbol.
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
    words.extend(op.attr(DLL_STORAGE).and_then(|word| word.as_str(&m.ctx)).map(str::to_owned));
    words
}

/// `unnamed_addr` or `local_unnamed_addr`.
pub(super) fn unnamed_addr(m: &Module, op: OpRef<'_>) -> Option<String> {
    let value = UNNAMED_ADDR.value(&m.ctx, op.attr("unnamed_addr")?)?;
    UNNAMED_ADDR.text_of(value).filter(|word| !word.is_empty())
}

/// Returns the keyword of a calling convention other than C's.
pub(super) fn calling_convention(m: &Module, op: OpRef<'_>) -> Option<String> {
    if let Some(number) = op.attr(CALLING_CONVENTION).and_then(|number| number.as_int(&m.ctx)) {
        return Some(format!("cc {number}"));
    }
    match CCONV.value(&m.ctx, op.attr("CConv")?)? {
        0 => None,
        number => match CCONV.text_of(number)?.as_str() {
            // The dialect lacks some of LLVM's words; numbers always work.
            word @ ("fastcc" | "coldcc" | "anyregcc" | "preserve_mostcc" | "preserve_allcc" | "swiftcc"
            | "tailcc" | "swifttailcc" | "cxx_fast_tlscc" | "cfguard_checkcc") => Some(word.to_owned()),
            _ => Some(format!("cc {number}")),
        },
    }
}
