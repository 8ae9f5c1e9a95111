//! `convert-scf-to-cf`: structured control flow as branches between blocks.
//!
//! A structured operation splits its block. The blocks of its regions move between the two halves,
//! their terminators become branches, and the yielded values become block arguments. `scf.parallel`
//! and `scf.forall` become nests of `scf.for` first: one order of the many they allow. Discardable
//! attributes of a loop go to the branch that closes it, where MLIR and LLVM look for loop
//! annotations.
//!
//! Stack memory allocated inside a loop lives for one iteration. Branches have no such scopes, so a
//! loop that allocates saves the stack pointer at the start of an iteration and restores it at the
//! end. `memref.alloca_scope` is lowered in the same way.
//!
//! **Cost.** Linear in time and memory. Outer operations go first, so that each block moves once
//! and not once a level. The operations of a block are taken from the last to the first, so that
//! splitting moves each operation once and not once for each loop before it.

use hashbrown::HashSet;
use loomir_dialects::llvm::types::pointer;
use loomir_dialects::{arith, cf, llvm, memref, scf};
use loomir_ir::attributes::AttrKind;
use loomir_ir::opdef::{OPERAND_SEGMENTS, RegionKind};
use loomir_ir::rewrite::constant_of;
use loomir_ir::{
    Block, Body, Builder, Diagnostic, Diagnostics, Dict, InsertPoint, Op, Region, Trait, Type, TypeKind,
    Value,
};
use loomir_transforms::marks::CHECK;

use crate::emit::{Emit, NSW, NUW, Predicate, malformed, replace};

pub(crate) mod parallel;

/// Replaces every structured operation of the `scf` dialect in `body` and in the bodies inside it.
///
/// # Errors
/// A structured operation in a region that may hold one block only, and `scf.forall` on tensors.
/// Everything else is lowered.
pub fn convert_scf_to_cf(body: &mut Body) -> Result<(), Diagnostics> {
    convert(body, false)
}

/// [`convert_scf_to_cf`], where additions to induction variables have the flags that the bounds
/// prove.
///
/// # Errors
/// As for [`convert_scf_to_cf`].
pub(crate) fn convert_scf_to_cf_with_flags(body: &mut Body) -> Result<(), Diagnostics> {
    convert(body, true)
}

fn convert(body: &mut Body, with_flags: bool) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    body.for_each_body(&mut |body| lower_body(body, with_flags, &mut diagnostics));
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Returns the overflow flags that hold where the induction variable of an `scf.for` goes on: it is
/// below its upper bound, so one more is at most that.
pub(crate) fn counter_flags(body: &Body, op: Op) -> u64 {
    let old = scf::ForOp(op);
    let number = |value| constant_of(body, value).and_then(|own| own.as_int(body.ctx()));
    match (number(old.step(body)), body.attr(op, "unsignedCmp")) {
        (Some(1), Some(_)) => NUW,
        (Some(1), None) if number(old.lowerBound(body)).is_some_and(|least| least >= 0) => NSW | NUW,
        (Some(1), None) => NSW,
        _ => 0,
    }
}

type Lowered = Result<(), Diagnostic>;

fn lower_body(body: &mut Body, with_flags: bool, diagnostics: &mut Diagnostics) {
    let mut lowering = Lowering { blocks: Vec::new(), scopes: HashSet::new(), with_flags, body };
    lowering.survey();
    while let Some(block) = lowering.blocks.pop() {
        lowering.scan(block, diagnostics);
    }
}

fn is_scf(body: &Body, op: Op) -> bool {
    let ctx = body.ctx();
    ctx.str(body.info(op).dialect()) == "scf"
}

/// The operation that releases, at its end, the stack memory that `alloca` allocates.
fn scope_of(body: &Body, alloca: Op) -> Option<Op> {
    let mut around = std::iter::successors(body.parent_op(alloca), |op| body.parent_op(*op));
    around.find(|op| body.has_trait(*op, Trait::AutomaticAllocationScope))
}

struct Lowering<'b> {
    body: &'b mut Body,
    /// Blocks still to scan. The blocks of a structured operation are added when it is lowered.
    blocks: Vec<Block>,
    /// Operations that release stack memory at their end and directly contain an allocation of it.
    scopes: HashSet<Op>,
    /// True if additions to induction variables get flags.
    with_flags: bool,
}

impl Lowering<'_> {
    /// Finds the blocks to begin with and the scopes that allocate.
    fn survey(&mut self) {
        let (body, blocks) = (&*self.body, &mut self.blocks);
        for op in body.preorder(body.root()) {
            let regions = body.own_regions(op);
            if regions.len() == 0 {
                if body.is(op, memref::AllocaOp::DEF) {
                    self.scopes.extend(scope_of(body, op));
                }
            } else if !is_scf(body, op) && !is_structured(body, op) {
                blocks.extend(regions.flat_map(|region| body.blocks(region)));
            }
        }
        blocks.reverse();
    }

    /// Lowers the structured operations in `block`, from the last to the first.
    fn scan(&mut self, block: Block, diagnostics: &mut Diagnostics) {
        let ops: Vec<Op> = self.body.ops(block).filter(|op| is_structured(self.body, *op)).collect();
        for op in ops.into_iter().rev() {
            if let Err(diagnostic) = self.may_hold_blocks(op).and_then(|()| self.lower(op)) {
                diagnostics.push(diagnostic);
            }
        }
    }

    fn lower(&mut self, op: Op) -> Lowered {
        let info = self.body.info(op);
        if info.is(scf::ForOp::DEF) {
            self.lower_for(op)
        } else if info.is(scf::IfOp::DEF) {
            self.lower_if(op)
        } else if info.is(scf::WhileOp::DEF) {
            self.lower_while(op)
        } else if info.is(scf::ExecuteRegionOp::DEF) {
            self.lower_execute_region(op)
        } else if info.is(scf::IndexSwitchOp::DEF) {
            self.lower_index_switch(op)
        } else if info.is(memref::AllocaScopeOp::DEF) {
            self.lower_alloca_scope(op)
        } else {
            let is_parallel = info.is(scf::ParallelOp::DEF);
            let allocates = self.scopes.remove(&op);
            let make_nest = if is_parallel { parallel::parallel_to_for } else { parallel::forall_to_for };
            let nest = make_nest(self.body, op)?;
            if allocates {
                self.scopes.insert(nest.innermost);
            }
            self.lower_for(nest.outermost)
        }
    }

    /// Checks that the region around `op` may hold several blocks.
    fn may_hold_blocks(&self, op: Op) -> Lowered {
        let Some(region) = self.body.region_of(op) else { return Ok(()) };
        let parent = self.body.region_parent(region);
        let Some(def) = self.body.info(parent).def() else { return Ok(()) };
        let index = self.body.region_index(region).min(def.regions.len().saturating_sub(1));
        match def.regions.get(index).map(|r| &r.kind) {
            Some(RegionKind::SingleBlock | RegionKind::AtMostOneBlock) => {
                let (name, parent) = (self.name(op), self.name(parent));
                Err(Diagnostic::error(
                    self.body.loc(op),
                    format!(
                        "'{name}' cannot become branches here: a region of '{parent}' holds one block only"
                    ),
                )
                .help(format!("lower '{parent}' first")))
            }
            _ => Ok(()),
        }
    }

    fn name(&self, op: Op) -> &str {
        self.body.ctx().op_str(self.body.op_name(op))
    }

    // Steps that several operations share.

    /// Splits the block of `op` behind `op`. Returns the first half, which ends with `op`, and the
    /// second.
    fn split(&mut self, op: Op) -> Result<(Block, Block), Diagnostic> {
        let block = self.body.block_of(op).ok_or_else(|| malformed(self.body, op))?;
        let next = self.body.next_op(op).ok_or_else(|| malformed(self.body, op))?;
        let tail = self.body.split_block(next).ok_or_else(|| malformed(self.body, op))?;
        Ok((block, tail))
    }

    /// Moves the blocks of `region` behind `after` and adds them to the scan. Returns the first and
    /// the last block.
    fn take_blocks(&mut self, region: Region, after: Block) -> Option<(Block, Block)> {
        let target = self.body.block_region(after);
        let moved: Vec<Block> = self.body.blocks(region).collect();
        let mut last = after;
        for block in &moved {
            self.body.move_block(*block, target, Some(last));
            last = *block;
        }
        self.blocks.extend(moved.iter().rev());
        Some((*moved.first()?, last))
    }

    /// Returns a builder at the end of `block`, with the location of `op`.
    fn at_end(&mut self, block: Block, op: Op) -> Builder<'_> {
        let loc = self.body.loc(op);
        let mut b = Builder::new(self.body, InsertPoint::End(block));
        b.set_loc(loc);
        b
    }

    /// Replaces the terminator of `block` by a branch with its operands, if it is an `scf.yield`.
    fn yield_to(&mut self, block: Block, dest: Block) {
        let Some(terminator) = self.body.last_op(block).filter(|op| self.body.is(*op, scf::YieldOp::DEF))
        else {
            return;
        };
        let operands: Vec<Value> = self.body.operands(terminator).collect();
        self.at_end(block, terminator).branch(dest, &operands);
        self.body.erase(terminator);
    }

    /// Makes `tail` receive the results of `op`, which is erased.
    fn results_to_arguments(&mut self, op: Op, tail: Block) {
        let results: Vec<Value> = self.body.results(op).collect();
        for result in results {
            let ty = self.body.value_type(result);
            let argument = self.body.add_argument(tail, ty);
            self.body.replace_all_uses(result, argument);
        }
        self.body.erase(op);
    }

    /// Saves the stack in front of the operations of `block`, if `scope` allocates.
    fn save_stack(&mut self, block: Block, scope: Op) -> Option<Value> {
        if !self.scopes.contains(&scope) {
            return None;
        }
        let loc = self.body.loc(scope);
        let mut b = Builder::new(self.body, InsertPoint::Start(block));
        b.set_loc(loc);
        let ty = pointer(&b.ctx());
        let state = b.state(llvm::StackSaveOp::DEF).results(&[ty]);
        Some(b.value(state))
    }

    /// Releases stack memory allocated since the stack pointer was saved, before the last operation
    /// of `block`.
    fn restore_stack(&mut self, block: Block, saved: Option<Value>) {
        if let (Some(saved), Some(last)) = (saved, self.body.last_op(block)) {
            let mut b = Builder::before(self.body, last);
            let state = b.state(llvm::StackRestoreOp::DEF).operands(&[saved]);
            b.insert(state);
        }
    }

    // One operation each.

    fn lower_for(&mut self, op: Op) -> Lowered {
        let old = scf::ForOp(op);
        let (lower, upper, step) =
            (old.lowerBound(self.body), old.upperBound(self.body), old.step(self.body));
        let inits = old.initArgs(self.body);
        let unsigned = self.body.attr(op, "unsignedCmp").is_some();
        let annotations = self.body.attributes(op);
        let flags = if self.with_flags { counter_flags(self.body, op) } else { 0 };
        let region = self.body.region(op, 0);
        let entry = self.body.single_block(region).ok_or_else(|| malformed(self.body, op))?;
        let types: Vec<Type> = self.body.arguments(entry).map(|v| self.body.value_type(v)).collect();
        let terminator = self.body.last_op(entry).filter(|t| self.body.is(*t, scf::YieldOp::DEF));
        let (Some(terminator), true) = (terminator, types.len() == inits.len() + 1) else {
            return Err(malformed(self.body, op));
        };
        let (before, tail) = self.split(op)?;

        let target = self.body.block_region(before);
        let header = self.body.create_block(target, Some(before), &types);
        for index in (0..types.len()).rev() {
            let (old, new) = (self.body.argument(entry, index), self.body.argument(header, index));
            self.body.replace_all_uses(old, new);
            self.body.erase_argument(entry, index);
        }
        self.take_blocks(region, header);

        let starts: Vec<Value> = [lower].into_iter().chain(inits).collect();
        self.at_end(before, op).branch(header, &starts);
        let variable = self.body.argument(header, 0);
        let mut b = self.at_end(header, op);
        let predicate = if unsigned { Predicate::Ult } else { Predicate::Slt };
        let goes_on = b.compare(predicate, variable, upper);
        b.cond_branch(goes_on, (entry, &[]), (tail, &[]));

        let saved = self.save_stack(entry, op);
        self.restore_stack(entry, saved);
        let yielded: Vec<Value> = self.body.operands(terminator).collect();
        let mut b = self.at_end(entry, op);
        let next = b.wrapping(arith::AddIOp::DEF, variable, step, flags);
        let nexts: Vec<Value> = [next].into_iter().chain(yielded).collect();
        b.branch(header, &nexts);
        self.annotate_last(entry, annotations);
        self.body.erase(terminator);

        let carried: Vec<Value> = self.body.arguments(header).skip(1).collect();
        replace(self.body, op, &carried);
        Ok(())
    }

    /// Attaches the discardable attributes of a loop to the branch that closes it.
    fn annotate_last(&mut self, block: Block, annotations: Dict) {
        if let Some(branch) = self.body.last_op(block)
            && !annotations.is_empty()
        {
            self.body.set_attributes(branch, annotations);
        }
    }

    fn lower_if(&mut self, op: Op) -> Lowered {
        let condition = scf::IfOp(op).condition(self.body);
        let (then_region, else_region) = (self.body.region(op, 0), self.body.region(op, 1));
        let (before, tail) = self.split(op)?;
        let (then_entry, then_end) = match self.take_blocks(then_region, before) {
            Some(blocks) => blocks,
            None => return Err(malformed(self.body, op)),
        };
        self.yield_to(then_end, tail);
        let else_entry = match self.take_blocks(else_region, then_end) {
            Some((entry, end)) => {
                self.yield_to(end, tail);
                entry
            }
            None => tail,
        };
        self.at_end(before, op).cond_branch(condition, (then_entry, &[]), (else_entry, &[]));
        if let (Some(mark), Some(branch)) = (self.body.attr(op, CHECK), self.body.last_op(before)) {
            self.body.set_attr(branch, CHECK, mark);
        }
        self.results_to_arguments(op, tail);
        Ok(())
    }

    fn lower_while(&mut self, op: Op) -> Lowered {
        let inits = scf::WhileOp(op).inits(self.body);
        let annotations = self.body.attributes(op);
        let (test_region, body_region) = (self.body.region(op, 0), self.body.region(op, 1));
        let ends = |body: &Body, region, def| {
            let block = body.single_block(region)?;
            let terminator = body.last_op(block).filter(|t| body.is(*t, def))?;
            Some((block, terminator))
        };
        let Some((test, condition)) = ends(self.body, test_region, scf::ConditionOp::DEF) else {
            return Err(malformed(self.body, op));
        };
        let Some((inside, terminator)) = ends(self.body, body_region, scf::YieldOp::DEF) else {
            return Err(malformed(self.body, op));
        };
        let (before, tail) = self.split(op)?;
        self.take_blocks(test_region, before);
        self.at_end(before, op).branch(test, &inits);

        let operands: Vec<Value> = self.body.operands(condition).collect();
        let Some((goes_on, handed_on)) = operands.split_first() else { return Err(malformed(self.body, op)) };
        let only_forwards = self.body.operands(terminator).eq(self.body.arguments(inside))
            && self.body.first_op(inside) == Some(terminator);
        if only_forwards {
            // `do … while`: the second region does nothing, and the first closes the loop.
            self.at_end(test, condition).cond_branch(*goes_on, (test, handed_on), (tail, &[]));
            self.annotate_last(test, annotations);
        } else {
            self.at_end(test, condition).cond_branch(*goes_on, (inside, handed_on), (tail, &[]));
            self.take_blocks(body_region, test);
            self.yield_to(inside, test);
            self.annotate_last(inside, annotations);
        }
        self.body.erase(condition);
        let handed_on = handed_on.to_vec();
        replace(self.body, op, &handed_on);
        Ok(())
    }

    fn lower_execute_region(&mut self, op: Op) -> Lowered {
        let region = self.body.region(op, 0);
        let (before, tail) = self.split(op)?;
        let inside: Vec<Block> = self.body.blocks(region).collect();
        let Some((entry, _)) = self.take_blocks(region, before) else { return Err(malformed(self.body, op)) };
        for block in inside {
            self.yield_to(block, tail);
        }
        self.at_end(before, op).branch(entry, &[]);
        self.results_to_arguments(op, tail);
        Ok(())
    }

    fn lower_alloca_scope(&mut self, op: Op) -> Lowered {
        let region = self.body.region(op, 0);
        let block = self.body.single_block(region).ok_or_else(|| malformed(self.body, op))?;
        let returns = self.body.last_op(block).filter(|t| self.body.is(*t, memref::AllocaScopeReturnOp::DEF));
        let returns = returns.ok_or_else(|| malformed(self.body, op))?;
        let (before, tail) = self.split(op)?;
        self.take_blocks(region, before);
        let saved = self.save_stack(block, op);
        self.restore_stack(block, saved);
        let operands: Vec<Value> = self.body.operands(returns).collect();
        self.at_end(block, returns).branch(tail, &operands);
        self.body.erase(returns);
        self.at_end(before, op).branch(block, &[]);
        self.results_to_arguments(op, tail);
        Ok(())
    }

    fn lower_index_switch(&mut self, op: Op) -> Lowered {
        let ctx = self.body.ctx().clone();
        let flag = scf::IndexSwitchOp(op).arg(self.body);
        let cases = self.body.attr(op, "cases").and_then(|a| a.as_dense_ints(&ctx));
        let regions: Vec<Region> = self.body.own_regions(op).collect();
        let (Some(cases), Some((default, case_regions))) = (cases, regions.split_first()) else {
            return Err(malformed(self.body, op));
        };
        if cases.len() != case_regions.len() {
            return Err(malformed(self.body, op));
        }
        let (before, tail) = self.split(op)?;
        let mut entries = Vec::with_capacity(regions.len());
        let mut last = before;
        for region in case_regions.iter().chain([default]) {
            let Some((entry, end)) = self.take_blocks(*region, last) else {
                return Err(malformed(self.body, op));
            };
            self.yield_to(end, tail);
            entries.push(entry);
            last = end;
        }
        // The default comes first among successors.
        entries.rotate_right(1);
        let mut b = self.at_end(before, op);
        // The flag is as wide as an index, so that all cases stay distinct.
        let cast = b.state(arith::IndexCastOp::DEF).operands(&[flag]).results(&[Type::I64]);
        let flag = b.value(cast);
        let counts = vec![0; cases.len()];
        let mut switch = b
            .state(cf::SwitchOp::DEF)
            .operands(&[flag])
            .successors(&entries)
            .attr(&ctx, "case_operand_segments", ctx.dense_ints_attr(Type::I32, &counts))
            .attr(&ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &[1, 0, 0]));
        if !cases.is_empty() {
            switch.set_attr(&ctx, "case_values", case_values(&ctx, &cases));
        }
        b.insert(switch);
        self.results_to_arguments(op, tail);
        Ok(())
    }
}

/// `dense<[…]> : vector<nxi64>`.
fn case_values(ctx: &loomir_ir::Context, cases: &[i64]) -> loomir_ir::Attr {
    let ty = ctx.ty(TypeKind::Vector {
        shape: [cases.len() as i64].into(),
        scalable: [false].into(),
        element: Type::I64,
    });
    let splat = cases.windows(2).all(|pair| pair[0] == pair[1]);
    let kept = if splat { &cases[..1] } else { cases };
    let bytes: Vec<u8> = kept.iter().flat_map(|case| case.to_le_bytes()).collect();
    ctx.attr(AttrKind::DenseElements { ty, splat, bytes: bytes.into() })
}

/// True if this conversion replaces an operation.
fn is_structured(body: &Body, op: Op) -> bool {
    let info = body.info(op);
    let defs = [
        scf::ForOp::DEF,
        scf::IfOp::DEF,
        scf::WhileOp::DEF,
        scf::ExecuteRegionOp::DEF,
        scf::IndexSwitchOp::DEF,
        scf::ParallelOp::DEF,
        scf::ForallOp::DEF,
        memref::AllocaScopeOp::DEF,
    ];
    body.own_regions(op).len() > 0 && defs.into_iter().any(|def| info.is(def))
}
