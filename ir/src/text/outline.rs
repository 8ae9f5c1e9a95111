//! The outline of a text: its operations, regions and names, each with its place.
//!
//! An editor asks what stands at a place, where a name is defined, and where it is used. The
//! outline answers for text with errors too. A reader reports operations, regions and definitions
//! to an [`OutlineBuilder`] as it meets them. Uses are tokens; [`OutlineBuilder::finish`] finds the
//! definition of each by the rules of scope.
//!
//! **Invariants.** Operations and regions are in the order of their first bytes, each behind the
//! one around it. Occurrences of names are in the order of the text and do not overlap.
//!
//! **Cost.** Linear in the text, times the depth of nesting for names.

use std::ops::Range;

use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::body::{Body, OpRef};
use crate::context::OpName;
use crate::diagnostics::Diagnostics;
use crate::entity::Op;
use crate::opdef::Trait;
use crate::types::Type;

/// A range of bytes of a text.
pub type Span = Range<u32>;

/// The types of the values that one name stands for.
pub type Types = SmallVec<[Type; 1]>;

/// A text that was read with its outline.
#[derive(Debug)]
pub struct Outlined {
    /// The module, without isolated operations that hold an error.
    pub module: Body,
    /// Everything that is wrong with the text.
    pub diagnostics: Diagnostics,
    /// The outline of the whole text.
    pub outline: Outline,
}

/// The operations, regions and names of a text. See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The operations.
    pub ops: Vec<OpSpan>,
    /// The regions.
    pub regions: Vec<RegionSpan>,
    /// The definitions of names.
    pub names: Vec<Named>,
    /// The definitions and uses of names, in the order of the text.
    pub occurrences: Vec<Occurrence>,
    /// The operation that is the root of the module, if the text has it.
    pub root: Option<usize>,
}

/// The place of an operation.
#[derive(Clone, Debug)]
pub struct OpSpan {
    /// From the names of its results to its end.
    pub span: Span,
    /// Its name. Empty if the text has none.
    pub name: Span,
    /// The operation that is meant, if there is one of this name.
    pub op_name: Option<OpName>,
    /// The operation in the body that it was read into. `None` if it could not be read, or was
    /// removed because something in it could not.
    pub op: Option<Op>,
    /// The operation around it.
    pub parent: Option<usize>,
    /// The region around it.
    pub region: Option<usize>,
    /// True if the operation owns a body.
    pub owns_body: bool,
    /// True if something inside could not be read.
    pub has_errors: bool,
}

/// The place of a region.
#[derive(Clone, Debug)]
pub struct RegionSpan {
    /// From brace to brace.
    pub span: Span,
    /// The operation it belongs to.
    pub op: Option<usize>,
    /// The region around it.
    pub parent: Option<usize>,
    /// True if names of values outside are unknown inside.
    pub is_isolated: bool,
}

/// The kind of a name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NameKind {
    /// A value.
    Value,
    /// A block.
    Block,
    /// A symbol.
    Symbol,
    /// An alias of an attribute, or a group of them.
    Attribute,
    /// An alias of a type, or a named type.
    Type,
    /// A node of metadata.
    Metadata,
}

/// The definition of a name.
#[derive(Clone, Debug)]
pub struct Named {
    /// The kind of what it names.
    pub kind: NameKind,
    /// Its place, with its sign.
    pub span: Span,
    /// The operation that defines it, or that has the block or region with it.
    pub op: Option<usize>,
    /// The region in which the name is known. `None` for the whole text.
    pub region: Option<usize>,
    /// The types of the values, as far as they are known.
    pub types: Types,
}

/// A name at a place in the text.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The place, with the name's sign.
    pub span: Span,
    /// The definition.
    pub name: usize,
    /// True if this place is the definition.
    pub is_definition: bool,
}

impl Outline {
    /// Moves all places by a number of bytes, for a text that is a piece of another one. Linear.
    pub fn shift(&mut self, by: u32) {
        let spans = self.ops.iter_mut().flat_map(|own| [&mut own.span, &mut own.name]);
        let spans = spans.chain(self.regions.iter_mut().map(|own| &mut own.span));
        let spans = spans.chain(self.names.iter_mut().map(|own| &mut own.span));
        for span in spans.chain(self.occurrences.iter_mut().map(|own| &mut own.span)) {
            *span = span.start + by..span.end + by;
        }
    }

    /// Returns the occurrence of a name at a byte, or one that ends there. Logarithmic.
    pub fn occurrence_at(&self, offset: u32) -> Option<&Occurrence> {
        let behind = self.occurrences.partition_point(|own| own.span.start <= offset);
        self.occurrences[..behind].last().filter(|own| offset <= own.span.end)
    }

    /// Returns the innermost operation around a byte. Logarithmic, and linear in the depth.
    pub fn op_at(&self, offset: u32) -> Option<usize> {
        let behind = self.ops.partition_point(|own| own.span.start <= offset);
        self.ancestors(behind.checked_sub(1)?).find(|at| offset <= self.ops[*at].span.end)
    }

    /// Returns an operation and those around it, from the inside.
    pub fn ancestors(&self, op: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(op), |at| self.ops[*at].parent)
    }

    /// Returns the occurrences of a definition. Linear in all occurrences.
    pub fn occurrences_of(&self, name: usize) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().filter(move |own| own.name == name)
    }

    /// Returns an operation of the module; for one that owns a body, the root of that body.
    pub fn op_ref<'b>(&self, module: &'b Body, at: usize) -> Option<OpRef<'b>> {
        let around: Vec<usize> = self.ancestors(at).filter(|at| self.ops[*at].owns_body).collect();
        let mut body = module;
        for owner in around.into_iter().rev().filter(|owner| !self.is_root(*owner)) {
            body = body.nested(self.ops[owner].op?)?;
        }
        let own = &self.ops[at];
        let op = own.op?;
        Some(if own.owns_body { body.root_ref() } else { body.op_ref(op) })
    }

    fn is_root(&self, at: usize) -> bool {
        self.root == Some(at)
    }

    /// Removes the outermost operations with bodies of their own that hold an error, except tables
    /// of symbols. Operations inside become unknown. Linear, times the depth of bodies.
    pub(super) fn remove_broken(&mut self, module: &mut Body) {
        let mut end = 0;
        for at in 0..self.ops.len() {
            let own = &self.ops[at];
            let is_inside = own.span.start < end;
            let is_table =
                own.op_name.is_some_and(|name| module.ctx().op_info(name).has_trait(Trait::SymbolTable));
            let is_broken = own.has_errors && own.owns_body && !is_table && !self.is_root(at);
            if is_broken && !is_inside {
                end = own.span.end;
                self.take(module, at);
            }
            if is_broken || is_inside {
                self.ops[at].op = None;
            }
        }
    }

    /// Removes an operation that owns a body.
    fn take(&self, module: &mut Body, at: usize) {
        let around: Vec<usize> = self.ancestors(at).skip(1).filter(|at| self.ops[*at].owns_body).collect();
        let mut body = module;
        for owner in around.into_iter().rev().filter(|owner| !self.is_root(*owner)) {
            let Some(inner) = self.ops[owner].op.and_then(|op| body.nested_mut(op)) else { return };
            body = inner;
        }
        if let Some(op) = self.ops[at].op {
            body.take_nested(op);
        }
    }
}

/// A definition that was met.
#[derive(Clone, Debug)]
struct Definition {
    /// The byte that tells what a name can stand for.
    sign: u8,
    /// The name without its sign.
    text: Span,
    named: Named,
}

/// A use, or a definition, of a name.
#[derive(Clone, Debug)]
pub struct NameToken {
    /// The byte that tells what the name can stand for.
    pub sign: u8,
    /// The name without its sign.
    pub text: Span,
    /// The name with its sign.
    pub span: Span,
}

/// Collects the outline of a text while it is read.
#[derive(Debug, Default)]
pub struct OutlineBuilder {
    ops: Vec<OpSpan>,
    regions: Vec<RegionSpan>,
    definitions: Vec<Definition>,
    open_ops: Vec<usize>,
    open_regions: Vec<usize>,
}

impl OutlineBuilder {
    /// Begins an operation.
    pub fn begin_op(&mut self, start: u32) {
        let op = OpSpan {
            span: start..start,
            name: start..start,
            op_name: None,
            op: None,
            parent: self.open_ops.last().copied(),
            region: self.open_regions.last().copied(),
            owns_body: false,
            has_errors: false,
        };
        self.open_ops.push(self.ops.len());
        self.ops.push(op);
    }

    /// Names the innermost open operation.
    pub fn name_op(&mut self, name: Span, op_name: Option<OpName>) {
        if let Some(own) = self.innermost() {
            (own.name, own.op_name) = (name, op_name);
        }
    }

    /// Says what the innermost open operation was read into, and if it owns a body.
    pub fn set_op(&mut self, op: Op, owns_body: bool) {
        if let Some(own) = self.innermost() {
            (own.op, own.owns_body) = (Some(op), owns_body);
        }
    }

    /// Marks all open operations as ones that hold an error.
    pub fn note_error(&mut self) {
        self.open_ops.iter().for_each(|at| self.ops[*at].has_errors = true);
    }

    /// Ends the innermost open operation. If it could not be read, neither could what is inside.
    pub fn end_op(&mut self, end: u32, is_read: bool) {
        let Some(at) = self.open_ops.pop() else { return };
        self.ops[at].span.end = end.max(self.ops[at].name.end);
        if !is_read {
            self.ops[at..].iter_mut().for_each(|own| own.op = None);
        }
    }

    fn innermost(&mut self) -> Option<&mut OpSpan> {
        let at = *self.open_ops.last()?;
        self.ops.get_mut(at)
    }

    /// Begins a region of the innermost open operation.
    pub fn begin_region(&mut self, start: u32, is_isolated: bool) {
        let parent = self.open_regions.last().copied();
        self.open_regions.push(self.regions.len());
        let op = self.open_ops.last().copied();
        self.regions.push(RegionSpan { span: start..start, op, parent, is_isolated });
    }

    /// Ends the innermost open region.
    pub fn end_region(&mut self, end: u32) {
        if let Some(at) = self.open_regions.pop() {
            self.regions[at].span.end = end;
        }
    }

    /// Adds a definition to the innermost open region.
    pub fn define(&mut self, kind: NameKind, name: NameToken, types: Types) {
        let (region, op) = (self.open_regions.last().copied(), self.open_ops.last().copied());
        self.define_in(region, op, kind, name, types);
    }

    /// Adds a definition of an operation to a region, or to the whole text.
    pub fn define_in(
        &mut self,
        region: Option<usize>,
        op: Option<usize>,
        kind: NameKind,
        name: NameToken,
        types: Types,
    ) {
        let named = Named { kind, span: name.span, op, region, types };
        self.definitions.push(Definition { sign: name.sign, text: name.text, named });
    }

    /// Returns the operations that were begun.
    pub fn ops(&self) -> &[OpSpan] {
        &self.ops
    }

    /// Returns the outline, given all names of the text in their order.
    pub fn finish(mut self, source: &str, tokens: &[NameToken]) -> Outline {
        let end = source.len() as u32;
        while !self.open_regions.is_empty() {
            self.end_region(end);
        }
        while !self.open_ops.is_empty() {
            self.end_op(end, false);
        }
        self.definitions.sort_by_key(|own| own.named.span.start);
        self.definitions.dedup_by_key(|own| own.named.span.start);
        let text = |span: &Span| source.get(span.start as usize..span.end as usize).unwrap_or_default();
        let mut known: HashMap<(Option<usize>, u8, &str), usize> = HashMap::new();
        for (at, own) in self.definitions.iter().enumerate() {
            known.entry((own.named.region, own.sign, text(&own.text))).or_insert(at);
        }
        let mut occurrences = Vec::new();
        let mut cursor = Cursor { regions: &self.regions, next: 0, open: Vec::new() };
        let mut next = 0;
        for token in tokens {
            let start = token.span.start;
            while self.definitions.get(next).is_some_and(|own| own.named.span.start < start) {
                next += 1;
            }
            let own = self.definitions.get(next).filter(|own| own.named.span.start == start);
            let name = match own {
                Some(_) => Some(next),
                None => {
                    let regions = cursor.around(start, is_local(token.sign));
                    let name = text(&token.text);
                    regions.into_iter().find_map(|of| known.get(&(of, token.sign, name)).copied())
                }
            };
            if let Some(name) = name {
                occurrences.push(Occurrence { span: token.span.clone(), name, is_definition: own.is_some() });
            }
        }
        let names = self.definitions.into_iter().map(|own| own.named).collect();
        Outline { ops: self.ops, regions: self.regions, names, occurrences, root: None }
    }
}

/// True if names with a sign are unknown in isolated regions further inside.
fn is_local(sign: u8) -> bool {
    matches!(sign, b'%' | b'^')
}

/// The regions around places that are asked for in ascending order.
struct Cursor<'r> {
    regions: &'r [RegionSpan],
    next: usize,
    open: Vec<usize>,
}

impl Cursor<'_> {
    /// Returns the regions around a byte, from the inside, with the whole text last. For local
    /// names they end with an isolated one.
    fn around(&mut self, offset: u32, is_local: bool) -> Vec<Option<usize>> {
        while self.regions.get(self.next).is_some_and(|region| region.span.start <= offset) {
            self.open.push(self.next);
            self.next += 1;
        }
        while self.open.last().is_some_and(|at| self.regions[*at].span.end <= offset) {
            self.open.pop();
        }
        let mut around = Vec::new();
        for at in self.open.iter().rev().filter(|at| offset < self.regions[**at].span.end) {
            around.push(Some(*at));
            if is_local && self.regions[*at].is_isolated {
                return around;
            }
        }
        around.push(None);
        around
    }
}
