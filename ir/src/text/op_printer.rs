//! Writing the custom form of an operation: what a `syntax (parse, print)` hook, a custom directive
//! or a dialect's type works with.
//!
//! An [`OpPrinter`] stands behind the operation's name. Spaces are the hook's business: nothing
//! here writes one in front unless it says so.

use std::ops::Range;

use hashbrown::HashMap;

use crate::affine::AffineMap;
use crate::attributes::{Attr, Dict};
use crate::body::{OpRef, Signatures};
use crate::context::{Context, Name};
use crate::entity::{Block, Region, Value};
use crate::location::Loc;
use crate::text::PrintOptions;
use crate::text::printer::aliases::Aliases;
use crate::text::printer::attributes::TypeElision;
use crate::text::printer::names::Names;
use crate::text::printer::{Mode, all_attributes};
use crate::types::Type;

/// Suggests names for the values of an operation, as an interface attached to it: `%c0`, `%cst`,
/// `%alloc`.
pub trait AsmNames: Send + Sync {
    /// Names of results, without the percent sign. A name given to result `i` starts a group that
    /// reaches to the next named one.
    fn result_names(&self, _op: OpRef<'_>) -> Vec<(Value, String)> {
        Vec::new()
    }

    /// Names of the arguments of blocks of a region.
    fn argument_names(&self, _op: OpRef<'_>, _region: Region) -> Vec<(Value, String)> {
        Vec::new()
    }

    /// The dialect whose prefix is left out of operations in the regions (`func` in `func.func`).
    fn default_dialect(&self) -> &'static str {
        ""
    }
}

/// Writes the custom form of an operation.
pub struct OpPrinter<'p> {
    pub(super) ctx: &'p Context,
    pub(super) options: &'p PrintOptions,
    pub(super) out: String,
    pub(super) mode: Mode,
    /// Operations whose attributes and types are noted.
    pub(super) collected: Signatures<()>,
    /// Where in the text some types stand, one in each slot: a program writes few, and often.
    pub(super) written_types: [Option<(Type, Range<usize>)>; 16],
    pub(super) names: Names<'p>,
    pub(super) aliases: Aliases,
    /// While attributes are noted: whether their aliases may be defined at the end.
    pub(super) deferrable: bool,
    /// Numbers of distinct attributes, in the order in which they are printed; those they have if
    /// there is no whole text.
    pub(super) distinct: Option<HashMap<Attr, usize>>,
    /// Which body is being printed, as an index into `names`.
    pub(super) current: usize,
    /// Dialects and keys of the resources referred to so far.
    pub(super) resources: Vec<(Name, Name)>,
    pub(super) indent: usize,
    pub(super) depth: u32,
    /// The prefix left out, innermost region last.
    pub(super) default_dialects: Vec<&'static str>,
}

impl std::fmt::Write for OpPrinter<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        self.write(text);
        Ok(())
    }
}

impl<'p> OpPrinter<'p> {
    /// The context.
    pub fn ctx(&self) -> &'p Context {
        self.ctx
    }

    /// Writes text as it is.
    pub fn write(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes a space: what is written most.
    #[inline]
    pub(crate) fn space(&mut self) {
        self.out.push(' ');
    }

    /// Writes a number.
    pub(crate) fn number(&mut self, number: u32) {
        self.out.push_str(itoa::Buffer::new().format(number));
    }

    /// Writes a number with its sign.
    pub(crate) fn signed(&mut self, number: i128) {
        self.out.push_str(itoa::Buffer::new().format(number));
    }

    /// Writes `%x`.
    pub fn operand(&mut self, value: Value) {
        self.value_name(value, true);
    }

    /// Writes `%x, %y`.
    pub fn operands(&mut self, values: impl IntoIterator<Item = Value>) {
        self.comma_separated(values, Self::operand);
    }

    /// Writes a type.
    pub fn ty(&mut self, ty: Type) {
        if self.note(|p| p.collect_type(ty, p.deferrable)) {
            return;
        }
        let slot = ty.0 as usize % self.written_types.len();
        if let Some((written, range)) = &self.written_types[slot]
            && *written == ty
        {
            return self.out.extend_from_within(range.clone());
        }
        let start = self.out.len();
        if !self.type_alias(ty) {
            self.type_itself(ty);
        }
        self.written_types[slot] = Some((ty, start..self.out.len()));
    }

    /// Writes types separated by commas.
    pub fn types(&mut self, types: impl IntoIterator<Item = Type>) {
        self.comma_separated(types, Self::ty);
    }

    /// Writes ` -> type` or ` -> (type, type)`, or nothing if there are none.
    pub fn arrow_types(&mut self, types: &[Type]) {
        match types {
            [] => {}
            [one] if one.function(self.ctx).is_none() => {
                self.write(" -> ");
                self.ty(*one);
            }
            _ => {
                self.write(" -> (");
                self.types(types.iter().copied());
                self.write(")");
            }
        }
    }

    /// Writes `(inputs) -> results`.
    pub fn functional_type(
        &mut self,
        inputs: impl IntoIterator<Item = Type>,
        results: impl IntoIterator<Item = Type>,
    ) {
        self.signature(inputs, results);
    }

    /// Writes an attribute.
    pub fn attr(&mut self, attr: Attr) {
        self.attr_with(attr, TypeElision::Never);
    }

    /// True if an attribute is printed as an alias.
    pub(crate) fn has_alias(&self, attr: Attr) -> bool {
        self.mode == Mode::Collect || self.aliases.knows_attr(attr)
    }

    /// True if a type is printed as an alias.
    pub(crate) fn has_type_alias(&self, ty: Type) -> bool {
        self.mode == Mode::Collect || self.aliases.knows_type(ty)
    }

    /// Writes an attribute without the type behind it.
    pub fn attr_without_type(&mut self, attr: Attr) {
        self.attr_with(attr, TypeElision::Must);
    }

    /// Writes an attribute, its type only if it isn't the default of its kind (`i64`, `f64`): how
    /// elements of arrays are written.
    pub fn attr_eliding_default_type(&mut self, attr: Attr) {
        self.attr_with(attr, TypeElision::May);
    }

    /// Writes `@name`, in quotes where it must be.
    pub fn symbol_name(&mut self, name: &str) {
        self.write("@");
        self.keyword_or_string(name);
    }

    /// Writes `"text"` with escapes.
    pub fn string(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for &byte in bytes {
            match byte {
                b'\\' => self.out.push_str("\\\\"),
                b' '..=b'~' if byte != b'"' => self.out.push(byte as char),
                _ => {
                    self.out.push('\\');
                    self.hex(&[byte]);
                }
            }
        }
        self.out.push('"');
    }

    /// Writes a keyword, in quotes if it is none.
    pub fn keyword_or_string(&mut self, text: &str) {
        let is_part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'.');
        let begins = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if begins && text.bytes().all(is_part) {
            self.write(text);
        } else {
            self.string(text.as_bytes());
        }
    }

    /// Writes ` loc(…)` if locations are printed.
    pub fn optional_loc(&mut self, loc: Loc) {
        self.trailing_loc(loc, true);
    }

    /// Writes `^block` or `^block(%a, %b : i32, f32)`.
    pub fn successor(&mut self, block: Block, operands: &[Value]) {
        self.block_name(block);
        if operands.is_empty() {
            return;
        }
        self.write("(");
        self.operands(operands.iter().copied());
        self.write(" : ");
        self.types_of(operands);
        self.write(")");
    }

    /// Writes the types of values separated by commas.
    pub fn types_of(&mut self, values: &[Value]) {
        let Some(body) = self.names.body(self.current) else { return };
        self.types(values.iter().map(|v| body.value_type(*v)));
    }

    /// Writes an argument of a region, `%i: index`.
    pub fn argument(&mut self, value: Value) {
        self.argument_with_attrs(value, Dict::EMPTY);
    }

    /// Writes an argument of a region, `%i: index {attributes}`.
    pub fn argument_with_attrs(&mut self, value: Value, attrs: Dict) {
        let Some(body) = self.names.body(self.current) else { return };
        self.operand(value);
        self.write(": ");
        self.ty(body.value_type(value));
        self.attr_list(attrs.entries(self.ctx), "");
        self.argument_loc(value);
    }

    /// Writes an argument of a region without its type, ` loc(…)` behind it if locations are
    /// printed. Where MLIR writes no location, call [`OpPrinter::operand`].
    pub fn argument_without_type(&mut self, value: Value) {
        self.operand(value);
        if let Some(body) = self.names.body(self.current) {
            self.note(|p| p.collect_type(body.value_type(value), p.deferrable));
        }
        self.argument_loc(value);
    }

    fn argument_loc(&mut self, value: Value) {
        let Some(body) = self.names.body(self.current).filter(|_| self.options.debug_info) else { return };
        let loc = body.argument_loc(value);
        if self.mode == Mode::Collect {
            self.collect_loc(loc, false);
        } else {
            self.trailing_loc(loc, false);
        }
    }

    /// Writes region `index`, `{…}`. Without `entry_arguments` the entry block's label is left out;
    /// without `terminators` so is a terminator at the end of the entry block.
    pub fn region(&mut self, op: OpRef<'_>, index: usize, entry_arguments: bool, terminators: bool) {
        self.whole_region(op, index, entry_arguments, terminators, false);
    }

    /// Writes region `index` as [`OpPrinter::region`], and the label of an entry block that is
    /// empty.
    pub fn region_with_empty_block(
        &mut self,
        op: OpRef<'_>,
        index: usize,
        entry_arguments: bool,
        terminators: bool,
    ) {
        self.whole_region(op, index, entry_arguments, terminators, true);
    }

    /// Writes an operation of a region on the same line, without its results.
    pub fn bare_operation(&mut self, op: OpRef<'_>) {
        self.operation(op);
        if self.mode != Mode::Collect {
            self.trailing_loc(op.loc(), true);
        }
    }

    /// Begins a line, indented as the operation is.
    pub fn newline(&mut self) {
        self.new_line();
    }

    /// Writes ` {…}`: discardable attributes, and inherent ones that don't have their default
    /// value, except those in `elided`; nothing if none is left.
    pub fn attr_dict(&mut self, op: OpRef<'_>, elided: &[&str]) {
        self.attr_dict_behind("", op, elided);
    }

    /// Writes ` attributes {…}`, as [`OpPrinter::attr_dict`].
    pub fn attr_dict_with_keyword(&mut self, op: OpRef<'_>, elided: &[&str]) {
        self.attr_dict_behind(" attributes", op, elided);
    }

    pub(crate) fn prop_dict<S: AsRef<str>>(&mut self, op: OpRef<'_>, elided: &[S]) {
        let properties = op.properties().entries(self.ctx);
        let attrs = self.left_of(op, properties.iter().copied(), elided);
        self.write(" ");
        if !attrs.is_empty() {
            self.write("<");
            self.attr_entries(&attrs);
            self.write(">");
        }
    }

    pub(crate) fn attr_dict_behind<S: AsRef<str>>(&mut self, keyword: &str, op: OpRef<'_>, elided: &[S]) {
        if self.has_only_default_attrs(op) {
            return;
        }
        let all = all_attributes(op).entries(self.ctx).iter().copied();
        let attrs = self.left_of(op, all, elided);
        self.attr_list(&attrs, keyword);
    }

    /// True if an operation has no attribute but those that nothing written stands for: most have
    /// not.
    pub(crate) fn has_only_default_attrs(&self, op: OpRef<'_>) -> bool {
        op.attributes().is_empty() && op.properties() == op.info().default_properties(self.ctx)
    }

    /// The attributes that neither stand elsewhere nor follow from the definition.
    fn left_of<S: AsRef<str>>(
        &self,
        op: OpRef<'_>,
        attrs: impl Iterator<Item = (Name, Attr)>,
        elided: &[S],
    ) -> Vec<(Name, Attr)> {
        let ctx = self.ctx;
        let info = op.info();
        let is_left_out = |(name, attr): &(Name, Attr)| {
            let text = ctx.str(*name);
            // Sizes of segments are never written.
            let is_segments = || matches!(*name, Name::OPERAND_SEGMENTS | Name::RESULT_SEGMENTS);
            elided.iter().any(|name| name.as_ref() == text)
                || info.is_default(ctx, *name, *attr)
                || (is_segments() && info.def().is_some_and(|def| def.is_inherent(text)))
        };
        attrs.filter(|entry| !is_left_out(entry)).collect()
    }

    /// Writes the results of a map over values: `%i + 1, %j * symbol(%n)`.
    pub fn affine_map_of_ssa_ids(&mut self, map: AffineMap, operands: &[Value]) {
        let dims = map.data(self.ctx).dims as usize;
        self.comma_separated(map.results(self.ctx).iter(), |p, expr| {
            p.expression(*expr, &mut |p, symbol, position| {
                let at = if symbol { dims + position as usize } else { position as usize };
                let Some(value) = operands.get(at) else { return };
                p.write(if symbol { "symbol(" } else { "" });
                p.operand(*value);
                p.write(if symbol { ")" } else { "" });
            });
        });
    }

    /// Writes a map without `affine_map<` and `>`.
    pub fn affine_map(&mut self, map: AffineMap) {
        self.map_itself(map);
    }

    /// Writes a case of an enumeration, or its flags, as keywords.
    pub fn enum_cases(&mut self, def: &crate::opdef::EnumDef, attr: Attr) {
        if let Some(text) = def.value(self.ctx, attr).and_then(|value| def.text_of(value)) {
            self.write(&text);
        }
    }

    /// Writes a dictionary of attributes, `{a = 1}`.
    pub fn dictionary(&mut self, dict: Dict) {
        self.dictionary_itself(dict);
    }
}
