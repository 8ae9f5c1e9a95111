//! A line of a function while it is written: everything goes straight to the end of the text.

use std::fmt;

use hashbrown::HashMap;
use loomir_ir::{Block, Diagnostic, Dict, OpName, OpRef, Type, Value};

use super::beside::Label;
use super::numbering::Function;
use super::{Module, constants, type_text};

/// The result of writing something: nothing, or the reason why it has no text.
pub(super) type Written = Result<(), Diagnostic>;

/// A part of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    /// The mnemonic and its flags.
    Mnemonic,
    /// The text behind the operands of an access.
    Access,
    /// Attachments that were read with it.
    Attached,
}

/// The parts of instructions that were written, see [`Line::once`].
pub(super) type Parts = HashMap<(Part, OpName, Dict, Dict), Box<str>>;

/// More than a module without debug locations has. With them, most instructions are alone.
const MOST_PARTS: usize = 1 << 12;

/// The end of the text of a function. `write!` works too, and takes longer than the methods.
pub(super) struct Line<'w> {
    pub(super) m: &'w mut Module,
    pub(super) f: &'w Function<'w>,
    pub(super) text: &'w mut String,
}

impl fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl Line<'_> {
    /// Writes a text as it is.
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Writes a part of an instruction that depends on its name and its attributes alone. `write`
    /// writes it for the first one, and the others have a copy.
    pub(super) fn once(&mut self, part: Part, op: OpRef<'_>, write: impl FnOnce(&mut Self)) {
        let key = (part, op.body().op_name(op.op()), op.properties(), op.attributes());
        if let Some(known) = self.m.parts.get(&key) {
            return self.text.push_str(known);
        }
        let start = self.text.len();
        write(self);
        if self.m.parts.len() < MOST_PARTS {
            self.m.parts.insert(key, self.text[start..].into());
        }
    }

    /// Writes a number in decimal digits.
    pub(super) fn number(&mut self, number: impl itoa::Integer) {
        self.text.push_str(itoa::Buffer::new().format(number));
    }

    /// Writes `%` and a label.
    pub(super) fn name(&mut self, label: &Label) {
        self.text.push('%');
        label.write(self.text);
    }

    /// Writes a type.
    pub(super) fn ty(&mut self, op: OpRef<'_>, ty: Type) -> Written {
        let text = type_text(self.m, op, ty)?;
        self.text.push_str(&text);
        Ok(())
    }

    /// Writes an operand without its type: a name, a number or a literal.
    pub(super) fn operand(&mut self, value: Value) -> Written {
        let label = self.f.value(value);
        if *label != Label::None {
            self.name(label);
            return Ok(());
        }
        match self.f.body.defining_op(value) {
            Some(op) => constants::write_literal(self.m, self.text, self.f.body.op_ref(op)),
            None => Ok(()),
        }
    }

    /// Writes an operand behind its type.
    pub(super) fn typed(&mut self, op: OpRef<'_>, value: Value) -> Written {
        self.ty(op, self.f.body.value_type(value))?;
        self.text.push(' ');
        self.operand(value)
    }

    /// Writes operands behind their types, separated by commas.
    pub(super) fn all_typed(&mut self, op: OpRef<'_>, values: impl IntoIterator<Item = Value>) -> Written {
        for (index, value) in values.into_iter().enumerate() {
            self.put(if index == 0 { "" } else { ", " });
            self.typed(op, value)?;
        }
        Ok(())
    }

    /// Writes `label %n` of a successor.
    pub(super) fn target(&mut self, op: OpRef<'_>, index: usize, block: Block) {
        self.put("label ");
        self.name(self.f.target(op, index, block));
    }
}
