//! Terminators: branches, returns, and the ways of exceptions.

use loomir_dialects::llvm;
use loomir_dialects::llvm::types::void;
use loomir_ir::{Attr, AttrKind, OperationState, Type};

use super::constants::as_attr;
use super::function::{FunctionReader, LocalName, Terminator};
use super::{Reader, Result};

/// The name of a block that a terminator leads to, with its token.
type Target<'s> = (LocalName<'s>, usize);

impl<'s> Reader<'s> {
    /// Reads the terminator of a block, if it is here.
    pub(super) fn terminator(&mut self, f: &mut FunctionReader<'s>) -> Result<Option<Terminator<'s>>> {
        let loc = self.loc();
        let here = self.pos;
        let of = |reader: &Self, def| OperationState::of(&reader.ctx, def, loc);
        let (mut state, mut targets) = match self.text() {
            "ret" => {
                self.advance();
                let ty = self.ty()?;
                if ty != f.result {
                    return Err(self.error_at(here, "this is not of the type that the function returns"));
                }
                let mut state = of(self, llvm::ReturnOp::DEF);
                if ty != void(&self.ctx) {
                    state.operands.push(self.value(f, ty)?);
                }
                (state, Vec::new())
            }
            "br" => {
                self.advance();
                if self.is_word("label") {
                    (of(self, llvm::BrOp::DEF), vec![self.label()?])
                } else {
                    let condition = self.typed_value(f)?;
                    if f.body.value_type(condition) != Type::I1 {
                        return Err(self.error_at(here, "the condition of a branch is an i1"));
                    }
                    self.expect(",")?;
                    let yes = self.label()?;
                    self.expect(",")?;
                    (of(self, llvm::CondBrOp::DEF).operands(&[condition]), vec![yes, self.label()?])
                }
            }
            "switch" => {
                self.advance();
                let value = self.typed_value(f)?;
                let ty = f.body.value_type(value);
                self.expect(",")?;
                let mut targets = vec![self.label()?];
                self.expect("[")?;
                let cases = self.cases(ty, &mut targets)?;
                let mut state = of(self, llvm::SwitchOp::DEF).operands(&[value]);
                if let Some(cases) = cases {
                    state.set_attr(&self.ctx, "case_values", cases);
                }
                (state, targets)
            }
            "unreachable" => {
                self.advance();
                (of(self, llvm::UnreachableOp::DEF), Vec::new())
            }
            "resume" => {
                self.advance();
                (of(self, llvm::ResumeOp::DEF).operands(&[self.typed_value(f)?]), Vec::new())
            }
            "indirectbr" => {
                self.advance();
                let address = self.typed_value(f)?;
                self.expect(",")?;
                (of(self, llvm::IndirectBrOp::DEF).operands(&[address]), self.labels()?)
            }
            "invoke" => {
                let mut read = self.invoke(f)?;
                self.attachments(&mut read.state, true)?;
                return Ok(Some(read));
            }
            "callbr" => {
                let mut read = self.branching_assembly(f)?;
                self.attachments(&mut read.state, true)?;
                return Ok(Some(read));
            }
            "catchswitch" | "catchret" | "cleanupret" => self.leaves_pad(f)?,
            _ => return Ok(None),
        };
        self.attachments(&mut state, true)?;
        targets.shrink_to_fit();
        Ok(Some(Terminator { state, targets, behind: Vec::new(), made: None }))
    }

    pub(super) fn token_type(&self) -> Type {
        self.ctx.dialect_type("llvm.token", &[])
    }

    /// Reads `catchswitch within …`, `catchret from …` or `cleanupret from …`.
    fn leaves_pad(&mut self, f: &mut FunctionReader<'s>) -> Result<(OperationState, Vec<Target<'s>>)> {
        let (loc, word) = (self.loc(), self.text());
        self.advance();
        let def = match word {
            "catchswitch" => llvm::CatchSwitchOp::DEF,
            "catchret" => llvm::CatchRetOp::DEF,
            _ => llvm::CleanupRetOp::DEF,
        };
        self.expect_word(if word == "catchswitch" { "within" } else { "from" })?;
        let token = self.token_type();
        let mut state = OperationState::of(&self.ctx, def, loc).operands(&[self.value(f, token)?]);
        let mut targets = Vec::new();
        if word == "catchret" {
            self.expect_word("to")?;
            targets.push(self.label()?);
            return Ok((state, targets));
        }
        if word == "catchswitch" {
            state.result_types.push(token);
            targets = self.labels()?;
        }
        self.expect_word("unwind")?;
        if self.accept_word("to") {
            self.expect_word("caller")?;
        } else {
            targets.push(self.label()?);
            if word == "catchswitch" {
                state.set_attr(&self.ctx, "unwinds", Attr::UNIT);
            }
        }
        Ok((state, targets))
    }

    /// Reads `[label %a, label %b]`.
    pub(super) fn labels(&mut self) -> Result<Vec<Target<'s>>> {
        self.expect("[")?;
        let mut targets = Vec::new();
        while !self.accept("]") {
            if !targets.is_empty() {
                self.expect(",")?;
            }
            targets.push(self.label()?);
        }
        Ok(targets)
    }

    pub(super) fn label(&mut self) -> Result<Target<'s>> {
        self.expect_word("label")?;
        let token = self.pos;
        Ok((self.local_name()?, token))
    }

    /// Reads the cases of a switch up to its bracket. Returns their values, if there are any.
    fn cases(
        &mut self,
        ty: Type,
        targets: &mut Vec<(super::function::LocalName<'s>, usize)>,
    ) -> Result<Option<Attr>> {
        let Some(width) = ty.integer_width(&self.ctx).filter(|width| *width <= 128) else {
            return Err(self.error("a switch on this type is not supported"));
        };
        let width = width.div_ceil(8) as usize;
        let mut bytes = Vec::new();
        let mut seen = hashbrown::HashSet::new();
        while !self.accept("]") {
            let here = self.pos;
            let own = self.ty()?;
            let constant = self.constant(own)?;
            let value = as_attr(&self.ctx, &constant, own).map(|attr| attr.kind(&self.ctx));
            let Some(AttrKind::Integer { value, .. }) = value.filter(|_| own == ty) else {
                return Err(self.error_at(here, "a case is a number of the type that is switched on"));
            };
            if !seen.insert(*value) {
                return Err(self.error_at(here, "this case stands here twice"));
            }
            let value = if ty == Type::I1 { *value & 1 } else { *value };
            bytes.extend_from_slice(&value.to_le_bytes()[..width]);
            self.expect(",")?;
            targets.push(self.label()?);
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let shape: Box<[i64]> = Box::new([targets.len() as i64 - 1]);
        let shaped = self.ctx.vector_type(&shape, ty);
        let splat = bytes.len() == width;
        Ok(Some(self.ctx.attr(AttrKind::DenseElements { ty: shaped, splat, bytes: bytes.into() })))
    }
}
