//! The analysis of a function: its loops with their trip counts, and the dependences they carry.
//!
//! Functions of the `llvm` dialect are raised to structured control flow first, as all commands do.
//! Made once for each function and version of the text.

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_ir::text::outline::{NameKind, Span};
use loomir_ir::{Body, Op, Value, ValueDef};
use loomir_lowering::raising;
use loomir_transforms::access::Analyses;
use loomir_transforms::listing::loops::{LoopDependences, carried_by, trip_counts};

use super::index::{Part, Settings};
use super::lines::Seen;
use super::loops::{FunctionLoops, LoopAt};
use crate::{AliasMode, Around};

impl Part {
    /// Returns the loops of a function. The first question about a version costs as much as raising
    /// the function, and a survey of its module.
    pub(super) fn loops_of(
        &mut self,
        seen: Seen<'_>,
        settings: &Settings,
        function: usize,
    ) -> Option<&FunctionLoops> {
        if self.loops.around.is_none() {
            self.loops.around = Some(Around::of(&self.module));
        }
        if !self.loops.known.contains_key(&function) {
            let found = self.find_loops(seen, settings.alias, function);
            self.loops.known.insert(function, found);
        }
        self.known_loops(function)
    }

    /// Returns the loops of a function that something asked about before.
    pub(super) fn known_loops(&self, function: usize) -> Option<&FunctionLoops> {
        self.loops.known.get(&function)?.as_ref()
    }

    /// Returns the analyses, which know the module, once something asked about its loops.
    pub(super) fn analyses(&self) -> Analyses {
        let own = Analyses::default();
        self.loops.around.as_ref().map_or(own.clone(), |around| around.known_to(&own))
    }

    fn find_loops(&self, seen: Seen<'_>, alias: AliasMode, function: usize) -> Option<FunctionLoops> {
        let own = self.op_ref(seen.lines, function)?;
        let around = self.loops.around.as_ref()?;
        let raised = match own.is(llvm::FuncOp::DEF) {
            true => Some(raising::raise(own.body(), &around.symbols).ok()?.body),
            false => None,
        };
        let body = raised.as_ref().unwrap_or(own.body());
        let handles: HashMap<Op, usize> = match &raised {
            None => self.handles(function),
            Some(_) => HashMap::new(),
        };
        let mut all: Vec<LoopAt> = Vec::new();
        for (op, count) in trip_counts(body, alias.untested(), &self.analyses().for_one_function()) {
            match all.last_mut() {
                Some(last) if last.op == op => last.counts.push(count),
                _ => {
                    let start = match raised.is_some() {
                        true => self.label_before(function, self.offset_of(seen, body.loc(op))),
                        false => handles.get(&op).map(|at| self.outline.ops[*at].name.start),
                    };
                    all.extend(start.map(|start| LoopAt { op, start, counts: vec![count] }));
                }
            }
        }
        Some(FunctionLoops { raised, all })
    }

    /// Returns the first byte of the last label of a function up to a byte, or that byte.
    fn label_before(&self, function: usize, offset: Option<u32>) -> Option<u32> {
        let offset = offset?;
        let behind = self.outline.names.partition_point(|name| name.span.start <= offset);
        let first = self.outline.ops[function].span.start;
        let inside = self.outline.names[..behind].iter().rev().take_while(|name| name.span.start > first);
        let label = inside.into_iter().find(|name| name.kind == NameKind::Block);
        Some(label.map_or(offset, |name| name.span.start))
    }

    /// Returns the places in the outline of the operations of a function.
    pub(super) fn handles(&self, function: usize) -> HashMap<Op, usize> {
        let end = self.outline.ops[function].span.end;
        let inside = self.outline.ops[function..].iter().zip(function..);
        let inside = inside.take_while(|(own, _)| own.span.start < end).skip(1);
        inside.filter_map(|(own, at)| own.op.map(|op| (op, at))).collect()
    }

    /// Returns the function that loops were found in: raised, or the one of the module.
    pub(super) fn looked_through<'p>(
        &'p self,
        seen: Seen<'_>,
        function: usize,
        loops: &'p FunctionLoops,
    ) -> Option<&'p Body> {
        match &loops.raised {
            Some(raised) => Some(raised),
            None => self.op_ref(seen.lines, function).map(|own| own.body()),
        }
    }

    /// Returns the dependences that a loop carries.
    pub(super) fn carried(&self, body: &Body, of: &LoopAt, alias: AliasMode) -> LoopDependences {
        carried_by(body, of.op, alias.untested(), &self.analyses().for_one_function())
    }

    /// Returns the trip count of a loop as a text, with the names of the document.
    pub(super) fn count_text(&self, seen: Seen<'_>, body: &Body, of: &LoopAt) -> Option<String> {
        let name = |value| self.name_of(seen, body, value);
        let all: Option<Vec<String>> = of.counts.iter().map(|count| count.text(&name)).collect();
        all.map(|all| all.join(" × "))
    }

    /// Returns the name that the document gives to a value.
    fn name_of(&self, seen: Seen<'_>, body: &Body, value: Value) -> Option<String> {
        let ValueDef::OpResult { op, index } = body.def(value) else {
            let offset = self.offset_of(seen, body.argument_loc(value))?;
            let own = self.outline.occurrence_at(offset).filter(|own| own.span.start == offset)?;
            return Some(seen.slice(&own.span).to_owned());
        };
        let at = self.outline.op_at(self.offset_of(seen, body.loc(op))?)?;
        let mut left = index;
        for (name, count) in self.results_of(at) {
            if left < count {
                let name = seen.slice(&name).to_owned();
                return Some(if count > 1 { format!("{name}#{left}") } else { name });
            }
            left -= count;
        }
        None
    }

    /// Returns the names of the results of an operation, each with the number of values.
    pub(super) fn results_of(&self, at: usize) -> Vec<(Span, usize)> {
        let own = &self.outline.ops[at];
        let first = self.outline.names.partition_point(|name| name.span.start < own.span.start);
        let names = self.outline.names[first..].iter().take_while(|name| name.span.end <= own.name.start);
        let values = names.filter(|name| name.kind == NameKind::Value);
        values.map(|name| (name.span.clone(), name.types.len().max(1))).collect()
    }
}
