//! A line of a function while it is written: everything goes straight to the end of the text.
//!
//! Instructions that look alike differ only in the names of their values and blocks. The line of
//! the first one is kept as a [`Stencil`], and the others fill its holes.

use std::fmt;
use std::rc::Rc;

use loomir_ir::{Diagnostic, OpRef, Signatures, Type, Value};

use super::beside::Label;
use super::numbering::Function;
use super::{Module, constants, no_text, type_text};
use crate::ll::as_read::is_constant_op;

/// The result of writing something: nothing, or the reason why it has no text.
pub(super) type Written = Result<(), Diagnostic>;

/// The lines of instructions that were written, by what these look like.
pub(super) type Stencils = Signatures<Rc<Stencil>>;

/// A line with holes.
pub(super) struct Stencil {
    /// The text without what is in the holes.
    text: String,
    /// The holes, each with its place in the text.
    holes: Vec<(usize, Hole)>,
}

/// A part of a line that each instruction has of its own.
#[derive(Clone, Copy)]
pub(super) enum Hole {
    /// The name of the result.
    Result,
    /// This operand, without its type.
    Operand(usize),
    /// The name of the block that this successor is.
    Target(usize),
}

/// The end of the text of a function. `write!` works too, and takes longer than the methods.
pub(super) struct Line<'w> {
    pub(super) m: &'w mut Module,
    pub(super) f: &'w Function<'w>,
    pub(super) text: &'w mut String,
    /// The line so far, if it is to be kept.
    kept: Option<Stencil>,
    /// The end of what `kept` has of the text.
    end: usize,
}

impl fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        Ok(())
    }
}

impl<'w> Line<'w> {
    /// Returns the end of a text.
    pub(super) fn at_end_of(m: &'w mut Module, f: &'w Function<'w>, text: &'w mut String) -> Line<'w> {
        Line { m, f, text, kept: None, end: 0 }
    }

    /// Writes what belongs to an instruction: as others that look alike, or by `write`.
    pub(super) fn alike(&mut self, op: OpRef<'_>, write: impl FnOnce(&mut Self) -> Written) -> Written {
        if let Some(known) = self.m.stencils.get(op).cloned() {
            return self.copy(&known, op);
        }
        self.end = self.text.len();
        self.kept = Some(Stencil { text: String::new(), holes: Vec::new() });
        let written = write(self);
        if let (Some(mut stencil), Ok(())) = (self.kept.take(), &written)
            && !self.m.stencils.is_full()
        {
            stencil.text.push_str(&self.text[self.end..]);
            self.m.stencils.add(Rc::new(stencil));
        }
        written
    }

    /// Says that no other instruction has this line, although it may look alike.
    pub(super) fn is_unlike_others(&mut self) {
        self.kept = None;
    }

    fn copy(&mut self, stencil: &Stencil, op: OpRef<'_>) -> Written {
        let mut from = 0;
        for (place, hole) in &stencil.holes {
            self.text.push_str(&stencil.text[from..*place]);
            self.fill(op, *hole)?;
            from = *place;
        }
        self.text.push_str(&stencil.text[from..]);
        Ok(())
    }

    fn fill(&mut self, op: OpRef<'_>, hole: Hole) -> Written {
        match hole {
            Hole::Result => self.name(self.f.value(op.result(0))),
            Hole::Operand(index) => self.value(op.operand(index))?,
            Hole::Target(index) => self.name(self.f.target(op, index)),
        }
        Ok(())
    }

    /// Writes what an instruction has of its own.
    fn own(&mut self, op: OpRef<'_>, hole: Hole) -> Written {
        if let Some(kept) = &mut self.kept {
            kept.text.push_str(&self.text[self.end..]);
            kept.holes.push((kept.text.len(), hole));
        }
        let written = self.fill(op, hole);
        self.end = self.text.len();
        written
    }

    /// Writes a text as it is.
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
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

    /// Writes a value without its type: a name, a number or a literal.
    pub(super) fn value(&mut self, value: Value) -> Written {
        let label = self.f.value(value);
        if *label != Label::None {
            self.name(label);
            return Ok(());
        }
        match self.f.body.defining_op(value) {
            Some(op) if is_constant_op(self.f.body.op_ref(op)) => {
                constants::write_literal(self.m, self.text, self.f.body.op_ref(op))
            }
            Some(op) => {
                let text = constants::constant_value(self.m, self.f.body.op_ref(op), value)?;
                self.text.push_str(&text);
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Writes the name of the result of an instruction.
    pub(super) fn result(&mut self, op: OpRef<'_>) -> Written {
        self.own(op, Hole::Result)
    }

    /// Writes operand `index` of an instruction, without its type.
    pub(super) fn operand(&mut self, op: OpRef<'_>, index: usize) -> Written {
        self.own(op, Hole::Operand(index))
    }

    /// Writes operand `index` of an instruction behind its type.
    pub(super) fn typed(&mut self, op: OpRef<'_>, index: usize) -> Written {
        self.ty(op, op.operand_type(index))?;
        self.text.push(' ');
        self.operand(op, index)
    }

    /// Writes operands of an instruction behind their types, separated by commas.
    pub(super) fn all_typed(&mut self, op: OpRef<'_>, operands: impl IntoIterator<Item = usize>) -> Written {
        for (place, index) in operands.into_iter().enumerate() {
            self.put(if place == 0 { "" } else { ", " });
            self.typed(op, index)?;
        }
        Ok(())
    }

    /// Writes `label %n` of successor `index`.
    pub(super) fn target(&mut self, op: OpRef<'_>, index: usize) -> Written {
        if index >= op.successors().len() {
            return Err(no_text(op, "without a target"));
        }
        self.put("label ");
        self.own(op, Hole::Target(index))
    }
}
