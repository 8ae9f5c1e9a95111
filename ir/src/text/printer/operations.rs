//! Operations, regions and blocks.

use std::fmt::Write;

use super::names::NameText;
use super::{Mode, all_attributes};
use crate::attributes::{Attr, Dict};
use crate::body::OpRef;
use crate::context::Name;
use crate::entity::{Block, Value};
use crate::opdef::{OpDef, Trait};
use crate::text::OpPrinter;
use crate::text::op_printer::AsmNames;
use crate::types::Type;
use crate::verifier::counts_hold;

const INDENT: usize = 2;

impl OpPrinter<'_> {
    /// Writes an operation with its results in front and its location behind.
    pub(crate) fn full_operation(&mut self, op: OpRef<'_>) {
        let count = op.num_results();
        if count == 1 {
            self.value_name(op.result(0), false);
            self.write(" = ");
        } else if count > 0 {
            let groups = self.names.groups(self.current, op.op()).len();
            self.comma_separated(0..groups, |p, i| {
                let groups = p.names.groups(p.current, op.op());
                let (first, end) = (groups[i], groups.get(i + 1).copied().unwrap_or(count));
                p.value_name(op.result(first), false);
                if end - first > 1 {
                    let _ = write!(p.out, ":{}", end - first);
                }
            });
            self.write(" = ");
        }
        self.operation(op);
        self.trailing_loc(op.loc(), true);
    }

    /// Writes an operation in custom form, if it has one and the counts its definition asks for,
    /// else in generic form.
    pub(crate) fn operation(&mut self, op: OpRef<'_>) {
        if self.mode == Mode::Collect && self.is_collected(op) {
            return self.collect_regions(op);
        }
        let start = self.out.len();
        let info = op.info();
        let outer = self.current;
        if !self.names.body(outer).is_some_and(|body| std::ptr::eq(body, op.body())) {
            self.current = self.names.index_of(op.body());
        }
        let fits = |def: &&OpDef| !self.options.generic && counts_hold(op, def);
        match info.def().filter(fits) {
            Some(def) if def.print.is_some() => {
                self.custom_name(info.name());
                if let Some(print) = def.print {
                    print(self, op);
                }
            }
            Some(def) if info.format(self.ctx).is_some() => {
                self.custom_name(info.name());
                if let Some(format) = info.format(self.ctx) {
                    format.write(def, self, op);
                }
            }
            _ => self.generic_operation(op),
        }
        self.current = outer;
        if self.mode == Mode::Collect {
            self.out.truncate(start);
        }
    }

    /// Notes the location of an operation. Returns true if its attributes and types are noted,
    /// because those of one that looks like it are.
    fn is_collected(&mut self, op: OpRef<'_>) -> bool {
        if self.options.debug_info {
            self.collect_loc(op.loc(), true);
            if op.regions().len() > 0 {
                // Its hook knows of which arguments the locations are printed.
                return false;
            }
        }
        let is_known = self.collected.get(op).is_some();
        if !is_known {
            self.collected.add(());
        }
        is_known
    }

    /// Notes what is in the regions of an operation.
    fn collect_regions(&mut self, op: OpRef<'_>) {
        if op.regions().len() == 0 || self.options.skip_regions {
            return;
        }
        let body = op.body();
        self.nested(|p| {
            for block in op.regions().flat_map(|region| body.blocks(region)) {
                p.block(op, block, true, true);
            }
        });
    }

    fn custom_name(&mut self, name: Name) {
        let text = self.ctx.str(name);
        let default = self.default_dialects.last().copied().unwrap_or("builtin");
        // Most names are of another dialect, whose name has another length.
        let is_dot = text.as_bytes().get(default.len()) == Some(&b'.');
        let short = text.get(default.len() + 1..).filter(|_| is_dot && text.starts_with(default));
        match short {
            Some(short) if !short.contains('.') => self.write(short),
            _ => self.write(text),
        }
    }

    /// Writes `"name"(operands)[successors] <{…}> (regions) {…} : type`.
    pub(crate) fn generic_operation(&mut self, op: OpRef<'_>) {
        if self.mode == Mode::Collect {
            return self.collect_operation(op);
        }
        self.string(op.name().as_bytes());
        self.write("(");
        self.operands(op.operands());
        self.write(")");
        if op.successors().len() > 0 {
            self.write("[");
            self.comma_separated(op.successors(), |p, block| p.block_name(block));
            self.write("]");
        }
        // As in MLIR, operations that were loaded at run time have no properties.
        let (properties, attributes) = match op.info().is_loaded() {
            true => (Dict::EMPTY, all_attributes(op)),
            false => (op.properties(), op.attributes()),
        };
        if !properties.is_empty() {
            self.write(" <");
            self.dictionary(properties);
            self.write(">");
        }
        let regions = op.regions().len();
        if regions > 0 {
            self.write(" (");
            self.comma_separated(0..regions, |p, i| p.whole_region(op, i, true, true, true));
            self.write(")");
        }
        if !attributes.is_empty() {
            self.write(" ");
            self.dictionary(attributes);
        }
        self.write(" : ");
        self.functional_type(op.operands().map(|v| op.type_of(v)), op.results().map(|v| op.type_of(v)));
    }

    fn collect_operation(&mut self, op: OpRef<'_>) {
        for index in 0..op.regions().len() {
            self.whole_region(op, index, true, true, true);
        }
        for value in op.operands().chain(op.results()) {
            self.ty(op.type_of(value));
        }
        let all: Dict = all_attributes(op);
        for (_, attr) in all.entries(self.ctx) {
            self.attr(*attr);
        }
    }

    /// Writes the name of a value; with its number among the values of the name.
    pub(crate) fn value_name(&mut self, value: Value, with_number: bool) {
        let (name, number) = self.names.value(self.current, value);
        match name {
            NameText::Number(n) => {
                self.out.push('%');
                self.number(n);
            }
            NameText::Argument(n) => {
                self.out.push_str("%arg");
                self.number(n);
            }
            NameText::Text(text) => {
                self.out.push('%');
                self.out.push_str(text);
            }
            NameText::None => self.out.push_str("<<UNKNOWN SSA VALUE>>"),
        }
        if let Some(number) = number.filter(|_| with_number) {
            let _ = write!(self.out, "#{number}");
        }
    }

    /// Writes `^bb0`.
    pub(crate) fn block_name(&mut self, block: Block) {
        let position = self.names.block(self.current, block);
        self.write("^bb");
        self.number(position);
    }

    pub(crate) fn new_line(&mut self) {
        const BLANKS: &str = "                                ";
        self.out.push('\n');
        let mut rest = self.indent;
        while rest > 0 {
            let some = rest.min(BLANKS.len());
            self.out.push_str(&BLANKS[..some]);
            rest -= some;
        }
    }

    /// Writes `{…}`.
    pub(crate) fn whole_region(
        &mut self,
        op: OpRef<'_>,
        index: usize,
        entry_arguments: bool,
        terminators: bool,
        empty_block: bool,
    ) {
        if self.options.skip_regions {
            return self.write("{...}");
        }
        let region = op.region(index);
        let dialect = op.info().interface::<dyn AsmNames>().map_or("", |names| names.default_dialect());
        self.default_dialects.push(dialect);
        self.write("{");
        self.nested(|p| {
            for block in op.body().blocks(region) {
                let is_entry = op.body().is_entry(block);
                let is_empty = op.body().first_op(block).is_none();
                let arguments = op.body().num_arguments(block) > 0;
                let label = !is_entry || (empty_block && is_empty) || (entry_arguments && arguments);
                // To the collector, arguments are seen whenever they may be.
                let label = label || (entry_arguments && p.mode == Mode::Collect);
                p.block(op, block, label, terminators || !is_entry);
            }
        });
        self.new_line();
        self.write("}");
        self.default_dialects.pop();
    }

    fn block(&mut self, op: OpRef<'_>, block: Block, label: bool, terminator: bool) {
        let body = op.body();
        if label {
            self.new_line();
            self.block_label(op, block);
        }
        let last = body.last_op(block);
        self.indent += INDENT;
        for o in body.ops(block) {
            if !terminator && Some(o) == last && body.has_trait(o, Trait::Terminator) {
                break;
            }
            let o = body.op_ref(o);
            if self.mode == Mode::Collect {
                self.operation(o);
            } else {
                self.new_line();
                self.full_operation(o);
            }
        }
        self.indent -= INDENT;
    }

    fn note_arguments(&mut self, op: OpRef<'_>, block: Block) {
        let body = op.body();
        for argument in body.arguments(block) {
            self.collect_type(body.value_type(argument), self.deferrable);
            if self.options.debug_info {
                self.collect_loc(body.argument_loc(argument), false);
            }
        }
    }

    fn block_label(&mut self, op: OpRef<'_>, block: Block) {
        let body = op.body();
        if self.mode == Mode::Collect {
            return self.note_arguments(op, block);
        }
        self.block_name(block);
        if body.num_arguments(block) > 0 {
            self.write("(");
            self.comma_separated(body.arguments(block), |p, argument| {
                p.value_name(argument, false);
                p.write(": ");
                p.ty(body.value_type(argument));
                p.trailing_loc(body.argument_loc(argument), false);
            });
            self.write(")");
        }
        self.write(":");
        let mut predecessors: Vec<(u32, Block)> =
            body.predecessors(block).map(|b| (self.names.block(self.current, b), b)).collect();
        match predecessors.as_slice() {
            [] if body.is_entry(block) => {}
            [] => self.write("  // no predecessors"),
            [(_, one)] => {
                self.write("  // pred: ");
                self.block_name(*one);
            }
            all => {
                let _ = write!(self.out, "  // {} preds: ", all.len());
                predecessors.sort_by_key(|(position, _)| *position);
                self.comma_separated(predecessors, |p, (_, block)| p.block_name(block));
            }
        }
    }

    /// Writes ` {…}` of some attributes, or nothing if there are none.
    pub(crate) fn attr_list(&mut self, attrs: &[(Name, Attr)], keyword: &str) {
        if attrs.is_empty() {
            return;
        }
        self.write(keyword);
        self.write(" ");
        self.attr_entries(attrs);
    }

    /// Writes `{…}` of some attributes.
    pub(crate) fn attr_entries(&mut self, attrs: &[(Name, Attr)]) {
        self.write("{");
        self.comma_separated(attrs.iter(), |p, (name, attr)| p.named_attr(*name, *attr));
        self.write("}");
    }

    /// Writes `(inputs) -> results`.
    pub(crate) fn signature(
        &mut self,
        inputs: impl IntoIterator<Item = Type>,
        results: impl IntoIterator<Item = Type>,
    ) {
        self.write("(");
        self.comma_separated(inputs, Self::ty);
        self.write(") -> ");
        let results: Vec<Type> = results.into_iter().collect();
        match results.as_slice() {
            [one] if one.function(self.ctx).is_none() => self.ty(*one),
            _ => {
                self.write("(");
                self.comma_separated(results, Self::ty);
                self.write(")");
            }
        }
    }
}
