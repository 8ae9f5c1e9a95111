//! A function: numbers for unnamed values and blocks, blocks, phi nodes.

use std::fmt::Write;

use hashbrown::HashMap;
use loomir_dialects::llvm::attributes::{CCONV, LINKAGE, UNNAMED_ADDR};
use loomir_dialects::llvm::types::{LlvmType, void};
use loomir_dialects::{branch, llvm};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op, OpRef, Value};

use crate::ll::as_read::{Named, is_literal};
use crate::ll::{CALLING_CONVENTION, CONSTANTS, DLL_STORAGE, PARTITION};

use super::beside::{Beside, Label, Piece};
use super::line::{Line, Part, Written};
use super::names::quoted;
use super::{Module, attributes, globals, instructions, metadata, no_text};

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
    /// True if an operation is written at its uses.
    pub(super) fn is_literal(&self, op: Op) -> bool {
        self.body.results(op).next().is_some_and(|result| *self.value(result) == Label::None)
    }

    /// Returns the label of a value, which a literal has not.
    pub(super) fn value(&self, value: Value) -> &Label {
        &self.values[value.index()]
    }

    /// Returns the label of the block that an edge to a successor leads to.
    pub(super) fn target(&self, op: OpRef<'_>, index: usize, block: Block) -> &Label {
        self.detours.get(&(op.op(), index)).unwrap_or(&self.blocks[block.index()])
    }

    /// Returns the labels of the blocks, by index.
    pub(super) fn into_block_labels(self) -> Vec<Label> {
        self.blocks
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
    let mut line = Line { m, f, text };
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
    if let Some(result) = op.results().next() {
        line.name(line.f.value(result));
        line.put(" = ");
    }
    instructions::write(line, op)?;
    line.once(Part::Attached, op, |line| metadata::write_attached(line.text, &line.m.ctx, op, ","));
    Ok(())
}

/// Returns a debug record with the names and numbers of values.
fn record_text(f: &Function<'_>, record: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value(value) => format!("%{}", f.values[value.index()]),
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
        results.push((argument, f.values[argument.index()].clone(), String::new()));
    }
    for block in body.blocks(body.region(body.root(), 0)) {
        if !body.is_entry(block) {
            let mut lines = String::new();
            write_phis(&mut Line { m, f: &f, text: &mut lines }, block)?;
            let arguments = body.arguments(block).zip(lines.lines());
            results.extend(
                arguments.map(|(value, line)| {
                    (value, f.values[value.index()].clone(), line.trim_start().to_owned())
                }),
            );
        }
        for op in body.ops(block).filter(|op| !f.is_literal(*op)) {
            let mut text = String::new();
            write_operation(&mut Line { m, f: &f, text: &mut text }, body.op_ref(op))?;
            if let Some(result) = body.results(op).next() {
                results.push((result, f.values[result.index()].clone(), text));
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
            line.operand(*value)?;
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
        metadata::write_attached(&mut head, &ctx, op, "");
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
