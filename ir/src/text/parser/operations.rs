//! Operations, in generic and custom form.

use super::Parser;
use crate::builder::OperationState;
use crate::context::{OpInfo, OpName};
use crate::diagnostics::suggest::nearest;
use crate::entity::{Block, Op};
use crate::text::lexer::{Kind, unescape};
use crate::text::op_parser::{OpParser, Pending, UnresolvedOperand};
use crate::text::{AsmNames, ParseResult};
use crate::types::{Type, TypeKind};

/// A name for consecutive results of an operation: `%r:2`.
#[derive(Clone, Copy)]
pub(crate) struct ResultGroup {
    pub(crate) name: UnresolvedOperand,
    pub(crate) count: u32,
}

impl<'s> Parser<'s> {
    /// Reads an operation and puts it at the end of a block.
    pub(super) fn operation(&mut self, block: Block) -> ParseResult<()> {
        let mut groups = self.spare.groups.pop().unwrap_or_default();
        self.outline_op();
        let result = self.result_names(&mut groups).and_then(|()| self.operation_proper(block, &groups));
        self.outline_op_end(result.is_ok());
        if result.is_err() {
            groups.iter().for_each(|group| self.lose(group.name));
        }
        groups.clear();
        self.spare.groups.push(groups);
        result
    }

    /// Reads `%a, %b:2 =`, if a percent sign is next.
    fn result_names(&mut self, groups: &mut Vec<ResultGroup>) -> ParseResult<()> {
        if !self.is(Kind::Percent) {
            return Ok(());
        }
        self.list(|p| {
            if !p.is(Kind::Percent) {
                return Err(p.missing("expected valid ssa identifier"));
            }
            let name = UnresolvedOperand { start: p.token.start + 1, end: p.token.end, number: 0 };
            p.advance();
            let mut count = 1;
            if p.accept(Kind::Colon) {
                let number = if p.is(Kind::Integer) { p.text().parse().ok() } else { None };
                count = match number {
                    Some(n) if n > 0 => n,
                    _ => return Err(p.missing("expected named operation to have at least 1 result")),
                };
                p.advance();
            }
            groups.push(ResultGroup { name, count });
            Ok(())
        })?;
        self.expect(Kind::Equal, "expected '=' after SSA name")
    }

    fn operation_proper(&mut self, block: Block, groups: &[ResultGroup]) -> ParseResult<()> {
        let start = self.token.start;
        let mut state = self.spare_state();
        let pending = match self.token.kind {
            Kind::String => self.generic_operation(groups, &mut state)?,
            Kind::Bare => self.custom_operation(groups, &mut state)?,
            _ => return Err(self.error_here("expected operation name in quotes")),
        };
        if let Some(loc) = self.optional_trailing_loc()? {
            state.loc = loc;
        }
        state.set_defaults(self.ctx);
        let count = state.result_types.len();
        if !groups.is_empty() {
            let named: u64 = groups.iter().map(|g| u64::from(g.count)).sum();
            if count == 0 {
                return Err(self.error_at(start, "cannot name an operation with no results"));
            }
            if named != count as u64 {
                let message = format!("operation defines {count} results but was provided {named} to bind");
                return Err(self.error_at(groups[0].name.start - 1, message));
            }
        }
        let op = self.finish_operation(&state, pending, start)?;
        self.spare.states.push(state);
        self.body.append_op(block, op);
        self.outline_result(op);
        let mut first = 0;
        for group in groups {
            let value = self.body.result(op, first as usize);
            self.define(group.name, value, group.count)?;
            first += group.count;
        }
        Ok(())
    }

    fn finish_operation(&mut self, state: &OperationState, pending: Pending, start: u32) -> ParseResult<Op> {
        let info = self.ctx.op_info(state.name);
        if info.owns_arena() {
            let extra = [
                ("operands", state.operands.len()),
                ("results", state.result_types.len()),
                ("successors", state.successors.len()),
            ];
            if let Some((what, _)) = extra.iter().find(|(_, count)| *count > 0) {
                let message = format!("'{}' op requires zero {what}", self.ctx.op_str(state.name));
                return Err(self.error_at(start, message));
            }
        }
        Ok(match pending {
            Pending::None => self.body.create_from(state),
            Pending::Op { first, more } => {
                self.body.finish(first, state, &more);
                first
            }
            Pending::Body { mut body, more } => {
                let root = body.root();
                body.finish(root, state, &more);
                let read = body.take();
                self.spare.bodies.push(body);
                self.body.adopt(read)
            }
        })
    }

    /// Reads `"name"(operands)[successors] <{…}> (regions) {…} : type`.
    fn generic_operation(
        &mut self,
        groups: &[ResultGroup],
        state: &mut OperationState,
    ) -> ParseResult<Pending> {
        let start = self.token.start;
        let name = unescape(self.text());
        let Ok(name) = std::str::from_utf8(&name) else {
            return Err(self.error_here("operation name is not UTF-8"));
        };
        if name.is_empty() {
            return Err(self.error_here("empty operation name is invalid"));
        }
        if name.contains('\0') {
            return Err(self.error_here("null character not allowed in operation name"));
        }
        let name = self.ctx.op_name(name);
        let info: &'s OpInfo = self.ctx.op_info(name);
        if info.def().is_none() {
            let what = format!("operation '{}'", self.ctx.op_str(name));
            self.unregistered(start, self.ctx.str(info.dialect()), &what)?;
        }
        state.restart(name, self.loc_at(start));
        self.outline_name(name);
        self.advance();
        self.expect(Kind::LParen, "expected '(' to start operand list")?;
        let mut operands = Vec::new();
        self.list_until(Kind::RParen, "expected ')' to end operand list", |p| {
            operands.push(p.operand()?);
            Ok(())
        })?;
        if self.accept(Kind::LSquare) {
            if self.is(Kind::RSquare) {
                return Err(self.missing("expected block name"));
            }
            self.list_until(Kind::RSquare, "expected ']' to end successor list", |p| {
                let successor = p.successor()?;
                state.successors.push(successor);
                Ok(())
            })?;
        }
        if self.accept(Kind::Less) {
            if !self.is(Kind::LBrace) {
                return Err(self.missing("expected '{' to begin the properties"));
            }
            state.properties = self.dictionary()?;
            self.expect(Kind::Greater, "expected '>' to close properties")?;
        }
        let mut reader = OpParser::of_operation(self, groups);
        if reader.accept("(") {
            loop {
                reader.parse_region(state, &[])?;
                if !reader.accept(",") {
                    break;
                }
            }
            reader.expect(")")?;
        }
        reader.parse_optional_attr_dict(state)?;
        let pending = reader.into_pending();
        self.expect(Kind::Colon, "expected ':' followed by operation type")?;
        let at = self.token.start;
        let mut inputs = Vec::new();
        self.signature(&mut inputs, &mut state.result_types)?;
        if inputs.len() != operands.len() {
            let plural = if operands.len() == 1 { "" } else { "s" };
            let (expected, found) = (operands.len(), inputs.len());
            let message = format!("expected {expected} operand type{plural} but had {found}");
            return Err(self.error_at(at, message));
        }
        for (operand, ty) in operands.into_iter().zip(inputs) {
            let value = self.resolve(operand, ty)?;
            state.operands.push(value);
        }
        Ok(pending)
    }

    /// Reads `(inputs) -> results`, or an alias of it.
    fn signature(&mut self, inputs: &mut Vec<Type>, results: &mut Vec<Type>) -> ParseResult<()> {
        if self.is(Kind::LParen) {
            return self.function_signature(inputs, results);
        }
        let at = self.token.start;
        let ty = self.ty()?;
        match ty.kind(self.ctx) {
            TypeKind::Function { inputs: i, results: r } => {
                inputs.extend_from_slice(i);
                results.extend_from_slice(r);
                Ok(())
            }
            _ => Err(self.error_at(at, "expected function type")),
        }
    }

    /// Reads an operation that begins with its bare name.
    fn custom_operation(
        &mut self,
        groups: &[ResultGroup],
        state: &mut OperationState,
    ) -> ParseResult<Pending> {
        let start = self.token.start;
        let name = self.custom_name()?;
        let info: &'s OpInfo = self.ctx.op_info(name);
        state.restart(name, self.loc_at(start));
        self.outline_name(name);
        self.advance();
        let Some(def) = info.def() else { return Err(self.error_at(start, "operation is not registered")) };
        let format = if def.parse.is_none() { info.format(self.ctx) } else { None };
        let mut reader = OpParser::of_operation(self, groups);
        if let Some(hook) = def.parse {
            hook(&mut reader, state)?;
        } else if let Some(format) = format {
            format.read(def, &mut reader, state)?;
        } else {
            let message = format!("'{}' op has no custom assembly form", def.name);
            return Err(self.error_at(start, message));
        }
        Ok(reader.into_pending())
    }

    /// The operation a bare name stands for; the name is not read.
    fn custom_name(&mut self) -> ParseResult<OpName> {
        let text = self.text();
        let default = self.default_dialects.last().copied().unwrap_or("builtin");
        if let Some((known, missing)) = self.op_names.get(text)
            && missing.is_none_or(|missing| missing == default)
        {
            return Ok(*known);
        }
        let is_full = text.contains('.');
        let found = if is_full {
            self.ctx.registered_op(text)
        } else {
            let of = |dialect: &str| self.ctx.registered_op(&format!("{dialect}.{text}"));
            of(default).or_else(|| of("builtin"))
        };
        if let Some(name) = found {
            self.op_names.insert(text, (name, (!is_full).then_some(default)));
            return Ok(name);
        }
        let message = match text.split_once('.') {
            Some((dialect, _)) if !self.ctx.is_registered_dialect(dialect) => {
                format!("Dialect `{dialect}' not found for custom op '{text}'")
            }
            Some(_) => format!("custom op '{text}' is unknown"),
            None => {
                let tried = if default.is_empty() { "builtin" } else { default };
                format!("custom op '{text}' is unknown (tried '{tried}.{text}' as well)")
            }
        };
        let error = *self.error_here(message);
        let full = if is_full { text.to_owned() } else { format!("{default}.{text}") };
        Err(Box::new(match self.nearest_op(&full) {
            Some(help) => error.help(help),
            None => error,
        }))
    }

    /// Returns what to do about an operation that is not registered, given its full name.
    fn nearest_op(&self, full: &str) -> Option<String> {
        let (dialect, name) = full.split_once('.')?;
        let dialects = self.ctx.dialects().iter().filter(|own| own.name == dialect);
        let names = dialects.flat_map(|own| own.ops.iter()).filter_map(|op| op.name.split_once('.'));
        let similar = nearest(name, names.map(|(_, name)| name));
        let similar = similar.map(|found| format!("did you mean '{dialect}.{found}'?"));
        similar.or_else(|| self.way_out(dialect))
    }

    /// The dialect whose prefix may be missing in regions of an operation.
    pub(crate) fn default_dialect_of(&self, info: &'s OpInfo) -> &'s str {
        info.interface::<dyn AsmNames>().map_or("", |names| names.default_dialect())
    }
}
