//! The index of a document: all that requests ask about one version of a text.
//!
//! Made once for each version. Reading, the outline and the verifier's verdict are there at once;
//! what is known of loops is found for one function when something asks for it.
//!
//! **Memory.** All versions share one context. It keeps each name, type and attribute that was
//! ever written, once, so that it grows with what is typed and not with the number of versions.
//!
//! **Cost.** Linear in the text.

use loomir_ir::text::outline::{Outline, Outlined};
use loomir_ir::text::{self, Chunk, ParseOptions, SPLIT_MARKER};
use loomir_ir::{Body, Context, Diagnostics, Loc, OpRef, Severity, Trait, verifier};

use super::lines::{Lines, Seen};
use super::loops::Loops;
use crate::AliasMode;

/// The name that texts have in locations.
pub(super) const FILE: &str = "document";

/// The settings of all documents.
pub(super) struct Settings {
    pub(super) ctx: Context,
    pub(super) options: ParseOptions,
    /// The alias assumption about memrefs of which nothing is known.
    pub(super) alias: AliasMode,
}

/// The index of a document.
pub(super) struct Index {
    /// The programs of the text, in order. One, unless marks divide the text.
    pub(super) parts: Vec<Part>,
    /// True for LLVM IR.
    pub(super) is_ll: bool,
}

/// A program in a document. All its places count from the start of the document.
pub(super) struct Part {
    pub(super) start: u32,
    pub(super) outline: Outline,
    pub(super) module: Body,
    pub(super) diagnostics: Diagnostics,
    pub(super) is_ll: bool,
    /// The loops of functions that were asked about.
    pub(super) loops: Loops,
}

impl Index {
    /// Reads a text and verifies what could be read.
    pub(super) fn of(settings: &Settings, text: &str) -> Index {
        let is_ll = crate::lowering::is_ll(text);
        let chunks = match is_ll {
            true => vec![Chunk { text, first_line: 1 }],
            false => text::split_source(text, SPLIT_MARKER),
        };
        let lines = Lines::of(text);
        let read = |chunk: Chunk<'_>| {
            let start = lines.start(text, chunk.first_line.saturating_sub(1));
            let mut part = if is_ll { of_ll(settings, chunk) } else { of_mlir(settings, chunk) };
            part.start = start;
            part.outline.shift(start);
            part.verify(text, &lines);
            part
        };
        Index { parts: chunks.into_iter().map(read).collect(), is_ll }
    }

    /// Returns the program at a byte.
    pub(super) fn part_at(&mut self, offset: u32) -> Option<&mut Part> {
        let behind = self.parts.partition_point(|part| part.start <= offset);
        self.parts[..behind].last_mut()
    }
}

fn of_mlir(settings: &Settings, chunk: Chunk<'_>) -> Part {
    let options = ParseOptions { first_line: chunk.first_line, ..settings.options.clone() };
    let Outlined { module, diagnostics, outline } =
        text::parse_with_outline(&settings.ctx, chunk.text, FILE, &options);
    Part { start: 0, outline, module, diagnostics, is_ll: false, loops: Loops::default() }
}

fn of_ll(settings: &Settings, chunk: Chunk<'_>) -> Part {
    let outline = crate::lowering::ll_outline(&settings.ctx, chunk.text);
    let (module, diagnostics) = match crate::lowering::from_ll_in_part(&settings.ctx, chunk.text, FILE) {
        Ok((module, unread)) => (module, as_errors(unread)),
        Err(diagnostics) => {
            let nothing = text::parse_with_outline(&settings.ctx, "", FILE, &settings.options);
            (nothing.module, diagnostics)
        }
    };
    Part { start: 0, outline, module, diagnostics, is_ll: true, loops: Loops::default() }
}

/// Returns the remarks on definitions that could not be read as errors.
fn as_errors(remarks: Diagnostics) -> Diagnostics {
    let mut errors = Diagnostics::new();
    for mut own in remarks {
        own.severity = Severity::Error;
        own.help = None;
        errors.push(own);
    }
    errors
}

impl Part {
    /// Adds what the verifier says. References to symbols are right or wrong only if all of the
    /// text was read.
    fn verify(&mut self, text: &str, lines: &Lines) {
        let mut found = Diagnostics::new();
        if !self.diagnostics.has_errors() {
            found = verifier::verify(&self.module);
        } else if !self.is_ll {
            let mut tables = vec![&self.module];
            while let Some(table) = tables.pop() {
                for body in table.all_ops().filter_map(|op| table.nested(op)) {
                    match body.has_trait(body.root(), Trait::SymbolTable) {
                        true => tables.push(body),
                        false => found.append(verifier::verify(body)),
                    }
                }
            }
        }
        for own in found.iter().filter(|own| own.severity == Severity::Error) {
            let place = own.loc.file_line_col(self.module.ctx());
            let offset = place.and_then(|(_, line, column)| lines.offset_of(text, line, column));
            match offset.and_then(|offset| self.outline.op_at(offset)) {
                Some(at) => {
                    let around: Vec<usize> = self.outline.ancestors(at).collect();
                    around.into_iter().for_each(|at| self.outline.ops[at].has_errors = true);
                }
                None => self.outline.ops.iter_mut().for_each(|own| own.has_errors = true),
            }
        }
        self.diagnostics.append(found);
    }

    /// Returns the operation of the module at a place of the outline.
    pub(super) fn op_ref(&self, lines: &Lines, at: usize) -> Option<OpRef<'_>> {
        if !self.is_ll {
            return self.outline.op_ref(&self.module, at);
        }
        let line_of = |own: OpRef<'_>| own.loc().file_line_col(self.module.ctx()).map(|(_, line, _)| line);
        let line = |at: usize| lines.line_of(self.outline.ops[at].name.start) + 1;
        let outermost = self.outline.ancestors(at).last()?;
        let nested = self.module.all_ops().filter_map(|op| self.module.nested(op));
        let function = nested.map(Body::root_ref).find(|own| line_of(*own) == Some(line(outermost)))?;
        if outermost == at {
            return Some(function);
        }
        let body = function.body();
        body.all_ops().map(|op| body.op_ref(op)).find(|own| line_of(*own) == Some(line(at)))
    }

    /// Returns the byte that a location names.
    pub(super) fn offset_of(&self, seen: Seen<'_>, loc: Loc) -> Option<u32> {
        let (file, line, column) = loc.file_line_col(self.module.ctx())?;
        seen.lines.offset_of(seen.text, line, column).filter(|_| file == FILE)
    }

    /// Returns the functions with code that could be read and are well formed, by their places in
    /// the outline.
    pub(super) fn functions(&self) -> impl Iterator<Item = usize> {
        let ops = self.outline.ops.iter().enumerate();
        ops.filter(|(_, own)| self.is_function(own)).map(|(at, _)| at)
    }

    fn is_function(&self, own: &loomir_ir::text::outline::OpSpan) -> bool {
        let is_definition = own.op.is_some() || self.is_ll;
        let name = own.op_name.map(|name| self.module.ctx().op_str(name));
        is_definition && !own.has_errors && matches!(name, Some("func.func" | "llvm.func"))
    }

    /// Returns the innermost function around a byte.
    pub(super) fn function_at(&self, offset: u32) -> Option<usize> {
        let at = self.outline.op_at(offset)?;
        self.outline.ancestors(at).find(|at| self.is_function(&self.outline.ops[*at]))
    }
}
