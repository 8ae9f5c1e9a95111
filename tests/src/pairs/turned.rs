//! Detection of reversed dependences by execution: two loops, fused, would touch some byte in
//! another order. This shows in a run of the program and relies on no analysis.
//!
//! No dependence analysis may then fuse the loops if one of the accesses writes. The results may
//! still be the same, if the values happen to hide the difference.
//!
//! Cost: linear in a run, and quadratic in the accesses of both loops.

use loomir::dialects::interp::{self, ArgSpec, Event, Limits};
use loomir::dialects::llvm;
use loomir::ir::symbols::{SymbolTable, lookup};
use loomir::ir::{Body, Op};
use loomir::lowering::cfg::Analysis;

use crate::behaviour::Input;

/// The longest run to examine.
const MAX_STEPS: u64 = 100_000;

/// An access in one of two loops.
struct Access {
    of: usize,
    iteration: u64,
    bytes: std::ops::Range<u64>,
    writes: bool,
}

/// Two loops of a function.
struct Loops<'m> {
    module: &'m Body,
    function: &'m Body,
    symbols: SymbolTable,
    analysis: Analysis,
    latches: [Op; 2],
}

/// True if, in some of these calls, fusion would reverse a dependence: an iteration of the first
/// loop and an earlier one of the second touch one byte, and one of them writes. The loops are
/// outermost, with latches in these lines. If the first may be made shorter, iterations count from
/// the end of its longer part.
pub fn turns_around(module: &Body, entry: &str, lines: [u32; 2], calls: &[Input], shorter: bool) -> bool {
    let Some(loops) = Loops::of(module, entry, lines) else { return false };
    calls.iter().any(|input| loops.turned_in(entry, input, shorter))
}

impl Loops<'_> {
    fn of<'m>(module: &'m Body, entry: &str, lines: [u32; 2]) -> Option<Loops<'m>> {
        let function = lookup(module, entry).and_then(|op| module.nested(op))?;
        let analysis = Analysis::of(function);
        let latch = |line: u32| {
            let is_own = |op: &Op| {
                let place = function.loc(*op).file_line_col(function.ctx());
                place.is_some_and(|(_, own, _)| own == line) && function.is(*op, llvm::CondBrOp::DEF)
            };
            let op = function.preorder(function.root()).find(is_own)?;
            (analysis.loops_around(analysis.number_at(function, op)?).count() == 1).then_some(op)
        };
        let latches = [latch(lines[0])?, latch(lines[1])?];
        Some(Loops { module, function, symbols: SymbolTable::of(module), analysis, latches })
    }

    fn turned_in(&self, entry: &str, input: &Input, shorter: bool) -> bool {
        let specs: Result<Vec<ArgSpec>, _> =
            input.iter().map(|text| ArgSpec::parse(self.module.ctx(), text)).collect();
        let Ok(specs) = specs else { return false };
        let limits = Limits { steps: MAX_STEPS, ..Limits::default() };
        let Ok((_, trace)) = interp::run_tracing(self.module, entry, &specs, &limits) else { return false };
        let (accesses, counts) = self.accesses(&trace);
        let ahead = if shorter { counts[0].saturating_sub(counts[1]) } else { 0 };
        let of = |which: usize| accesses.iter().filter(move |access| access.of == which);
        of(0).any(|x| {
            of(1).any(|y| {
                let meet = x.bytes.start < y.bytes.end && y.bytes.start < x.bytes.end;
                meet && (x.writes || y.writes) && x.iteration > y.iteration + ahead
            })
        })
    }

    /// Returns the accesses of both loops, and their trip counts.
    fn accesses(&self, trace: &[Event]) -> (Vec<Access>, [u64; 2]) {
        let (mut found, mut counts) = (Vec::new(), [0; 2]);
        let mut called: Option<&Body> = None;
        for event in trace {
            // Operations of called functions have numbers of their own.
            if let Some(body) = called {
                called = (!body.is(event.op, llvm::ReturnOp::DEF)).then_some(body);
                continue;
            }
            called = self.called(event.op);
            if let Some(of) = self.latches.iter().position(|latch| *latch == event.op) {
                counts[of] += 1;
            }
            let Some(of) = self.loop_of(event.op) else { continue };
            found.extend(self.access(event, of, counts[of]));
        }
        (found, counts)
    }

    /// Returns the body of a called function.
    fn called(&self, op: Op) -> Option<&Body> {
        let callee = self.function.attr(op, "callee").filter(|_| self.function.is(op, llvm::CallOp::DEF))?;
        let body = self.module.nested(self.symbols.resolve(self.function.ctx(), callee)?.op)?;
        body.entry_block(body.region(body.root(), 0)).map(|_| body)
    }

    fn loop_of(&self, op: Op) -> Option<usize> {
        let node = self.analysis.number_at(self.function, op)?;
        let around = self.analysis.loops_around(node).last()?;
        self.latches.iter().position(|latch| {
            let node = self.analysis.number_at(self.function, *latch);
            node.and_then(|node| self.analysis.loops_around(node).last()) == Some(around)
        })
    }

    fn access(&self, event: &Event, of: usize, iteration: u64) -> Option<Access> {
        let function = self.function;
        let writes = function.is(event.op, llvm::StoreOp::DEF);
        let reads = function.is(event.op, llvm::LoadOp::DEF) && function.has_used_results(event.op);
        if !writes && !reads {
            return None;
        }
        let touched =
            if writes { function.operand(event.op, 0) } else { function.results(event.op).next()? };
        let width = function.value_type(touched).integer_width(function.ctx())?;
        let start = event.operands.get(usize::from(writes))?.as_pointer()?.address;
        Some(Access { of, iteration, bytes: start..start + u64::from(width / 8), writes })
    }
}
