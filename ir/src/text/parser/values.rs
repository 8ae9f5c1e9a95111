//! Names of values: what they stand for where, and uses that come before the definition.
//!
//! Names are looked up in one table for each operation that is isolated from above. A region inside
//! removes the names it defined when it ends, by a log, so entering and leaving a region costs
//! nothing but its own names. Numbers (`%12`) are looked up by index. A use before its definition
//! gets a *placeholder*: the result of an operation that stands nowhere, replaced when the
//! definition comes.

use hashbrown::HashMap;

use super::Parser;
use crate::body::ValueDef;
use crate::builder::OperationState;
use crate::diagnostics::Diagnostic;
use crate::entity::{Op, Value};
use crate::location::Loc;
use crate::text::lexer::Kind;
use crate::text::op_parser::UnresolvedOperand;
use crate::text::{ParseResult, type_to_string};
use crate::types::Type;

/// The meaning of a name.
#[derive(Clone, Copy)]
enum Slot {
    Unknown,
    /// `count` consecutive values, the first being `value`.
    Defined {
        value: Value,
        count: u32,
        offset: u32,
    },
    /// Used, not defined yet: the first of a list of placeholders.
    Forward(u32),
    /// Would have been defined by an operation that could not be read.
    Lost,
}

/// A use before the definition.
struct Placeholder {
    name: (u32, u32),
    number: u32,
    value: Value,
    op: Op,
    next: Option<u32>,
    resolved: bool,
}

/// The names of one isolated operation.
#[derive(Default)]
pub(super) struct ValueScope<'s> {
    /// The values that numbers stand for, if they are not far above the others.
    numbers: Vec<Slot>,
    names: HashMap<&'s str, Slot, foldhash::fast::FixedState>,
    /// True if there are numbers among them.
    has_far_numbers: bool,
    /// Names defined, oldest first.
    log: Vec<&'s str>,
    placeholders: Vec<Placeholder>,
}

/// The number a name is, written the one way numbers are.
fn number_of(name: &str) -> Option<usize> {
    // The lexer lets digits be followed by digits alone.
    let bytes = name.as_bytes();
    let plain = bytes[0].is_ascii_digit() && bytes.len() <= 9 && (bytes.len() == 1 || bytes[0] != b'0');
    plain.then(|| bytes.iter().fold(0, |number, digit| 10 * number + usize::from(digit - b'0')))
}

impl<'s> ValueScope<'s> {
    fn get(&self, name: &'s str) -> Slot {
        if let Some(n) = number_of(name) {
            let slot = self.numbers.get(n).copied().unwrap_or(Slot::Unknown);
            if !self.has_far_numbers || !matches!(slot, Slot::Unknown) {
                return slot;
            }
        }
        self.names.get(name).copied().unwrap_or(Slot::Unknown)
    }

    fn set(&mut self, name: &'s str, slot: Slot) {
        let is_far = |scope: &Self| scope.has_far_numbers && scope.names.contains_key(name);
        let number = number_of(name);
        match number {
            Some(n) if n <= 2 * self.numbers.len() + 64 && !is_far(self) => {
                if n >= self.numbers.len() {
                    self.numbers.resize(n + 1, Slot::Unknown);
                }
                self.numbers[n] = slot;
            }
            _ => {
                self.has_far_numbers |= number.is_some();
                self.names.insert(name, slot);
            }
        }
    }

    /// Forgets everything but where it was kept.
    fn clear(&mut self) {
        self.numbers.clear();
        self.names.clear();
        self.has_far_numbers = false;
        self.log.clear();
        self.placeholders.clear();
    }

    /// A mark to return to with [`ValueScope::leave`].
    pub(super) fn enter(&self) -> usize {
        self.log.len()
    }

    /// Forgets the names defined since a mark.
    pub(super) fn leave(&mut self, mark: usize) {
        for name in self.log.drain(mark..) {
            if let Some(slot) = number_of(name).and_then(|n| self.numbers.get_mut(n)) {
                *slot = Slot::Unknown;
            }
            self.names.remove(name);
        }
    }
}

impl<'s> Parser<'s> {
    /// Reads `%name` or `%name#number`.
    pub(crate) fn operand(&mut self) -> ParseResult<UnresolvedOperand> {
        if !self.is(Kind::Percent) {
            return Err(self.missing("expected SSA operand"));
        }
        let (start, end) = (self.token.start + 1, self.token.end);
        self.advance();
        let mut number = 0;
        if self.is(Kind::Hash) {
            match self.text()[1..].parse() {
                Ok(n) => number = n,
                Err(_) => return Err(self.error_here("invalid SSA value result number")),
            }
            self.advance();
        }
        Ok(UnresolvedOperand { start, end, number })
    }

    /// The place of an operand.
    pub(crate) fn operand_loc(&mut self, operand: UnresolvedOperand) -> Loc {
        self.loc_at(operand.start - 1)
    }

    /// The value an operand names; a placeholder if it has not been defined yet.
    pub(crate) fn resolve(&mut self, operand: UnresolvedOperand, ty: Type) -> ParseResult<Value> {
        let name = self.slice(operand.start, operand.end);
        let slot = self.scope.get(name);
        if let Slot::Defined { value, count, offset } = slot {
            if operand.number >= count {
                let error = self.error_at(operand.start - 1, "reference to invalid result number");
                return Err(Box::new(error.note(self.loc_at(offset), "defined here")));
            }
            let value = self.nth(value, operand.number);
            let known = self.body.value_type(value);
            return if known == ty { Ok(value) } else { Err(self.type_conflict(operand, ty, known, offset)) };
        }
        let first = if let Slot::Forward(first) = slot { Some(first) } else { None };
        let mut next = first;
        while let Some(index) = next {
            let placeholder = &self.scope.placeholders[index as usize];
            if placeholder.number == operand.number {
                let (value, offset) = (placeholder.value, placeholder.name.0 - 1);
                let known = self.body.value_type(value);
                return if known == ty {
                    Ok(value)
                } else {
                    Err(self.type_conflict(operand, ty, known, offset))
                };
            }
            next = placeholder.next;
        }
        let state = OperationState::new(self.ctx, "builtin.unrealized_conversion_cast", Loc::UNKNOWN);
        let op = self.body.create(state.results(&[ty]));
        let value = self.body.result(op, 0);
        let lost = matches!(slot, Slot::Lost);
        if !lost {
            self.scope.set(name, Slot::Forward(self.scope.placeholders.len() as u32));
        }
        self.scope.placeholders.push(Placeholder {
            name: (operand.start, operand.end),
            number: operand.number,
            value,
            op,
            next: first,
            resolved: lost,
        });
        Ok(value)
    }

    pub(super) fn nth(&self, first: Value, number: u32) -> Value {
        if number == 0 {
            return first;
        }
        match self.body.def(first) {
            ValueDef::OpResult { op, index } => self.body.result(op, index + number as usize),
            ValueDef::BlockArgument { .. } => first,
        }
    }

    fn type_conflict(
        &mut self,
        operand: UnresolvedOperand,
        ty: Type,
        known: Type,
        offset: u32,
    ) -> Box<Diagnostic> {
        let name = self.slice(operand.start - 1, operand.end);
        let (ty, known) = (type_to_string(self.ctx, ty), type_to_string(self.ctx, known));
        let message =
            format!("use of value '{name}' expects different type than prior uses: '{ty}' vs '{known}'");
        let error = self.error_at(operand.start - 1, message);
        Box::new(error.note(self.loc_at(offset), "prior use here"))
    }

    /// Gives a name to `count` consecutive values, of which `value` is the first.
    pub(crate) fn define(&mut self, operand: UnresolvedOperand, value: Value, count: u32) -> ParseResult<()> {
        let (name, offset) = (self.slice(operand.start, operand.end), operand.start - 1);
        let mut next = match self.scope.get(name) {
            Slot::Defined { offset: first, .. } => {
                let error = self.error_at(offset, format!("redefinition of SSA value '%{name}'"));
                return Err(Box::new(error.note(self.loc_at(first), "previously defined here")));
            }
            Slot::Forward(first) => Some(first),
            Slot::Unknown | Slot::Lost => None,
        };
        self.scope.set(name, Slot::Defined { value, count, offset });
        self.scope.log.push(name);
        self.outline_values(operand, Some((value, count)));
        let mut failure = None;
        while let Some(index) = next {
            let placeholder = &mut self.scope.placeholders[index as usize];
            placeholder.resolved = true;
            next = placeholder.next;
            let (number, used, from, op) =
                (placeholder.number, placeholder.name.0 - 1, placeholder.value, placeholder.op);
            if number >= count {
                failure = Some(self.error_at(used, "reference to invalid result number"));
                continue;
            }
            let to = self.nth(value, number);
            let (expected, actual) = (self.body.value_type(from), self.body.value_type(to));
            if expected != actual {
                let (expected, actual) =
                    (type_to_string(self.ctx, expected), type_to_string(self.ctx, actual));
                let message = format!("definition of SSA value '%{name}#{number}' has type '{actual}'");
                let note = format!("previously used here with type '{expected}'");
                let error = self.error_at(offset, message);
                failure = Some(Box::new(error.note(self.loc_at(used), note)));
                continue;
            }
            self.body.replace_all_uses(from, to);
            self.body.erase(op);
        }
        failure.map_or(Ok(()), Err)
    }

    /// Marks a name as one whose definition could not be read, so that its uses are no errors.
    pub(super) fn lose(&mut self, operand: UnresolvedOperand) {
        let name = self.slice(operand.start, operand.end);
        let mut next = match self.scope.get(name) {
            Slot::Forward(first) => Some(first),
            Slot::Unknown => None,
            Slot::Defined { .. } | Slot::Lost => return,
        };
        while let Some(index) = next {
            let placeholder = &mut self.scope.placeholders[index as usize];
            placeholder.resolved = true;
            next = placeholder.next;
        }
        self.scope.set(name, Slot::Lost);
        self.scope.log.push(name);
        self.outline_values(operand, None);
    }

    /// Opens the scope of an isolated operation; returns the one around it.
    pub(super) fn begin_scope(&mut self) -> ValueScope<'s> {
        let inner = self.spare.scopes.pop().unwrap_or_default();
        std::mem::replace(&mut self.scope, inner)
    }

    /// Says which names used in the scope have no definition.
    pub(super) fn finish_scope(&mut self) {
        let placeholders = std::mem::take(&mut self.scope.placeholders);
        if self.fatal {
            return;
        }
        for placeholder in placeholders.iter().filter(|p| !p.resolved) {
            let (start, end) = placeholder.name;
            let name = self.slice(start - 1, end);
            let error = self.error_at(start - 1, format!("use of undeclared SSA value name '{name}'"));
            self.report(*error);
        }
    }

    /// Ends the scope of an isolated operation and returns to the one around it.
    pub(super) fn end_scope(&mut self, outer: ValueScope<'s>) {
        self.finish_scope();
        let mut inner = std::mem::replace(&mut self.scope, outer);
        inner.clear();
        self.spare.scopes.push(inner);
    }
}
