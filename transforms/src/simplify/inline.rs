//! Inlining: a call is replaced by a copy of the called function's body.
//!
//! Functions are visited callees first, so each body is copied in its final form. Before and after
//! calls of a function are inlined, the function is canonicalized, because constant arguments may
//! decide which calls remain. A callee of one block is inlined at any place. A callee of several
//! blocks splits the block of the call, so it is inlined only into regions of any number of blocks.
//! Private functions without references are erased at the end ([`erase_unused`]).
//!
//! Dialects declare what takes part: [`CallLike`], [`FunctionLike`], [`Trait::ReturnLike`],
//! [`ReturnAsBranch`](loomir_dialects::interfaces::ReturnAsBranch) and
//! [`Inlinable`](loomir_dialects::interfaces::Inlinable). An operation of a callee that declares
//! neither effects nor a role in control flow keeps the callee as it is. A copy that does not
//! verify at its new place, such as an affine access whose subscript is no symbol there, is taken
//! back.
//!
//! **Assumptions.**
//! - A function that calls itself, directly or through others, is not inlined. Tried in
//!   `fixtures/simplify/inline.mlir`.
//! - The stack memory of a call ends with the call. A call that may be repeated in one scope gets
//!   memory of constant size at the start of the scope. If the size is not constant, the call
//!   stays. Tried in `fixtures/simplify/inline_stack.mlir`.
//! - The attributes of a call, of arguments and of results are promises. They are dropped.
//!
//! **Cost.** Linear in the operations, times [`Limits::rounds`], and in the copies. The number of
//! copied operations is limited by [`Limits::growth`].

use hashbrown::HashMap;
use loomir_dialects::interfaces::{CallLike, FunctionLike};
use loomir_ir::graph::{Digraph, components};
use loomir_ir::pass::{LeftAlone, Options, Pass, PassContext, PassInfo};
use loomir_ir::symbols::symbol_name;
use loomir_ir::{Body, Diagnostic, Diagnostics, Name, Op, Severity, Trait};

use super::canonicalize::Canonicalizer;
use super::symbol_dce::erase_dead_symbols_if;
use crate::remark::Remarks;
use legality::{Callee, Missed};

mod legality;
mod splice;

/// The pass `inline`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "inline",
    anchor: None,
    summary: "Replace calls by the bodies of the called functions",
    options: &[
        (
            "default-pipeline",
            "canonicalize",
            "Simplifies functions before and after inlining: 'canonicalize', or 'none'",
        ),
        ("max-iterations", "4", "Rounds of simplifying a function and inlining its calls"),
        ("max-callee-ops", "10000", "A larger function is inlined only if it says 'always_inline'"),
        (
            "max-growth",
            "16",
            "Inlining stops after copying this many times the operations of the module, or 10000",
        ),
    ],
    make: |options| Ok(Box::new(Inline(Limits::of(options)?))),
};

/// The least number of operations that may be copied into one module.
const MIN_GROWTH: usize = 10_000;

/// The limits of inlining.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The number of rounds of canonicalizing a function and inlining its calls.
    pub rounds: usize,
    /// The size of the largest callee, in operations.
    pub callee_ops: usize,
    /// The number of copied operations, as a multiple of the operations of the module.
    pub growth: usize,
    /// True if functions are canonicalized.
    pub canonicalizes: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rounds: 4, callee_ops: 10_000, growth: 16, canonicalizes: true }
    }
}

impl Limits {
    fn of(options: &Options) -> Result<Limits, String> {
        let default = Limits::default();
        Ok(Limits {
            rounds: options.parse("max-iterations", default.rounds)?,
            callee_ops: options.parse("max-callee-ops", default.callee_ops)?,
            growth: options.parse("max-growth", default.growth)?,
            canonicalizes: match options.get("default-pipeline") {
                None | Some("canonicalize") => true,
                Some("" | "none") => false,
                Some(_) => return Err("option 'default-pipeline' is 'canonicalize' or 'none'".to_owned()),
            },
        })
    }
}

struct Inline(Limits);

impl Pass for Inline {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        body.for_each_body(&mut |body| {
            if !body.has_trait(body.root(), Trait::SymbolTable) {
                return;
            }
            let done = inline(body, &self.0);
            cx.count("Calls inlined", done.calls as u64);
            cx.count("Operations copied", done.copied as u64);
            for diagnostic in done.diagnostics {
                match diagnostic.severity {
                    Severity::Error => errors.push(diagnostic),
                    _ => cx.remark(diagnostic),
                }
            }
        });
        body.for_each_body(&mut |body| cx.count("Functions erased", erase_unused(body) as u64));
        if errors.has_errors() { Err(errors) } else { Ok(()) }
    }
}

/// Erases the private functions of a symbol table that have a body and no reference. Returns their
/// number.
pub fn erase_unused(table: &mut Body) -> usize {
    let functions = Functions::of(table);
    erase_dead_symbols_if(table, |body, op| functions.number_of(body, op).is_some())
}

/// The statistics of inlining, with its remarks.
#[derive(Clone, Debug, Default)]
pub struct Inlined {
    /// Calls that were replaced.
    pub calls: usize,
    /// The number of operations in copies.
    pub copied: usize,
    /// Remarks about calls that stay, and warnings about limits.
    pub diagnostics: Vec<Diagnostic>,
}

/// Inlines the calls between the functions of a symbol table.
pub fn inline(table: &mut Body, limits: &Limits) -> Inlined {
    let ctx = table.ctx().clone();
    let functions = Functions::of(table);
    let mut inliner = Inliner {
        limits,
        canonicalizer: limits.canonicalizes.then(|| Canonicalizer::new(&ctx)),
        budget: 0,
        is_recursive: vec![false; functions.ops.len()],
        callees: vec![None; functions.ops.len()],
        done: Inlined::default(),
    };
    let mut edges = Vec::new();
    let mut total = 0;
    for (number, op) in functions.ops.iter().enumerate() {
        let Some(body) = table.nested(*op) else { continue };
        total += body.all_ops().count();
        let called = functions.calls(body).into_iter().map(|(_, callee)| (number as u32, callee));
        edges.extend(called);
    }
    for (caller, callee) in &edges {
        inliner.is_recursive[*caller as usize] |= caller == callee;
    }
    inliner.budget = total.saturating_mul(limits.growth).max(MIN_GROWTH);
    for component in components(&Digraph::new(functions.ops.len(), &edges)) {
        if component.len() > 1 {
            component.iter().for_each(|own| inliner.is_recursive[*own as usize] = true);
        }
        for caller in component {
            inliner.visit(table, &functions, caller as usize);
        }
    }
    inliner.done
}

/// The functions of a symbol table that have a body, by number.
struct Functions {
    ops: Vec<Op>,
    numbers: HashMap<Name, u32>,
}

impl Functions {
    fn of(table: &Body) -> Functions {
        let (mut ops, mut numbers) = (Vec::new(), HashMap::new());
        let blocks = table.own_regions(table.root()).flat_map(|region| table.blocks(region));
        for op in blocks.flat_map(|block| table.ops(block)) {
            let Some(name) = symbol_name(table, op) else { continue };
            let view = table.op_ref(op);
            let Some(model) = view.info().interface::<dyn FunctionLike>() else { continue };
            let is_defined = view.body().entry_block(model.body(view)).is_some();
            if table.nested(op).is_some() && is_defined && !numbers.contains_key(&name) {
                numbers.insert(name, ops.len() as u32);
                ops.push(op);
            }
        }
        Functions { ops, numbers }
    }

    fn number_of(&self, table: &Body, op: Op) -> Option<u32> {
        let number = self.numbers.get(&symbol_name(table, op)?)?;
        (self.ops[*number as usize] == op).then_some(*number)
    }

    /// Returns the calls of known functions in a body, each with the number of the callee.
    fn calls(&self, body: &Body) -> Vec<(Op, u32)> {
        let callee = |op: Op| {
            let view = body.op_ref(op);
            let name = view.info().interface::<dyn CallLike>()?.callee(view)?.as_flat_symbol(body.ctx())?;
            Some((op, *self.numbers.get(&name)?))
        };
        body.all_ops().filter(|op| body.nested(*op).is_none()).filter_map(callee).collect()
    }
}

struct Inliner<'l> {
    limits: &'l Limits,
    /// Simplifies functions, if that is wanted.
    canonicalizer: Option<Canonicalizer<'l>>,
    /// The number of operations that may still be copied.
    budget: usize,
    is_recursive: Vec<bool>,
    /// The functions that were called, in their final form.
    callees: Vec<Option<Callee>>,
    done: Inlined,
}

impl Inliner<'_> {
    /// Simplifies a function and inlines its calls.
    fn visit(&mut self, table: &mut Body, functions: &Functions, caller: usize) {
        let op = functions.ops[caller];
        let view = table.op_ref(op);
        if view.info().interface::<dyn LeftAlone>().is_some_and(|model| model.is_left_alone(view)) {
            return;
        }
        let mut missed = Vec::new();
        for _ in 0..self.limits.rounds {
            if let Some((canonicalizer, body)) = self.canonicalizer.as_mut().zip(table.nested_mut(op)) {
                self.done.diagnostics.extend(canonicalizer.run(body).stopped);
            }
            let before = self.done.calls;
            missed = self.inline_calls(table, functions, caller);
            if self.done.calls == before {
                break;
            }
        }
        // A call that was indirect until now may have looked at the function before.
        self.callees[caller] = None;
        let Some(body) = table.nested(op) else { return };
        let remarks = Remarks { body, pass: PASS.name };
        for (call, name, why) in missed.into_iter().rev() {
            let what = format!("Did not inline @{}", body.ctx().str(name));
            self.done.diagnostics.push(remarks.missed(why.name, body.loc(call), &what, &why.reason));
        }
    }

    /// Inlines the calls of a function, from the last to the first. A block that is split several
    /// times is therefore moved once. Returns the calls that stay.
    fn inline_calls(
        &mut self,
        table: &mut Body,
        functions: &Functions,
        caller: usize,
    ) -> Vec<(Op, Name, Missed)> {
        let from = functions.ops[caller];
        let Some(body) = table.nested(from) else { return Vec::new() };
        let calls = functions.calls(body);
        let mut missed = Vec::new();
        for (call, callee) in calls.into_iter().rev() {
            let callee = callee as usize;
            let to = functions.ops[callee];
            let outcome = match callee == caller || self.is_recursive[callee] {
                true => Err(Missed::recursive()),
                false => self.inline_call(table, (from, call), (to, callee)),
            };
            if let (Err(why), Some(name)) = (outcome, symbol_name(table, to)) {
                missed.push((call, name, why));
            }
        }
        missed
    }

    fn inline_call(
        &mut self,
        table: &mut Body,
        (from, call): (Op, Op),
        (to, number): (Op, usize),
    ) -> Result<(), Missed> {
        if self.callees[number].is_none() {
            self.callees[number] = Some(Callee::of(table.op_ref(to)));
        }
        let Some(callee) = &self.callees[number] else { return Ok(()) };
        let (Some(caller), Some(body)) = (table.nested(from), table.nested(to)) else { return Ok(()) };
        let site = callee.site(body, caller, call)?;
        if callee.size > self.limits.callee_ops && !site.is_wanted {
            return Err(Missed::too_large(callee.size, self.limits.callee_ops));
        }
        if callee.size > self.budget {
            return Err(Missed::no_budget());
        }
        let Some((caller, body)) = table.nested_pair(from, to) else { return Ok(()) };
        // A copy that has to be taken back costs as much as one that stays.
        self.budget -= callee.size;
        splice::splice(caller, body, callee, site)?;
        self.done.calls += 1;
        self.done.copied += callee.size;
        Ok(())
    }
}
