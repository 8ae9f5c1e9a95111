//! Checks a function and a call before inlining.

use loomir_dialects::interfaces::{
    BranchLike, CallLike, Conditional, FunctionLike, Inlinable, Inlining, LoopLike, MemoryAccess,
    MemoryEffects, ReturnAsBranch, StackAllocation,
};
use loomir_dialects::scf;
use loomir_ir::opdef::RegionKind;
use loomir_ir::pass::LeftAlone;
use loomir_ir::rewrite::constant_of;
use loomir_ir::{Block, Body, Op, OpRef, Region, Trait, Type, Value};

/// The reason why a call stays.
#[derive(Clone, Debug)]
pub(super) struct Missed {
    /// The name of the remark.
    pub(super) name: &'static str,
    /// The reason.
    pub(super) reason: String,
}

impl Missed {
    pub(super) fn new(name: &'static str, reason: impl Into<String>) -> Missed {
        Missed { name, reason: reason.into() }
    }

    fn never(reason: impl Into<String>) -> Missed {
        Missed::new("NeverInline", reason)
    }

    pub(super) fn recursive() -> Missed {
        Missed::never("the function calls itself, directly or through others")
    }

    pub(super) fn too_large(size: usize, most: usize) -> Missed {
        Missed::new("TooCostly", format!("it has {size} operations; max-callee-ops is {most}"))
    }

    pub(super) fn no_budget() -> Missed {
        Missed::new("TooCostly", "inlining has grown the module as far as max-growth allows")
    }
}

/// Stack memory that a function allocates until it returns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allocation {
    /// The operation.
    pub(super) op: Op,
    /// True if it can stand at the start of another scope: it runs whenever the function does, and
    /// its size is constant.
    can_move: bool,
    /// True if the end of any scope releases it.
    ends_with_scope: bool,
}

/// The properties of a function that are the same for all its calls.
#[derive(Clone, Debug)]
pub(super) struct Callee {
    /// The number of operations in the body.
    pub(super) size: usize,
    /// The body.
    pub(super) region: Region,
    /// True if the body is one block that returns.
    pub(super) is_one_block: bool,
    /// The types of the arguments, and of the results of each return.
    arguments: Vec<Type>,
    returns: Vec<Vec<Type>>,
    can_branch: bool,
    allocations: Vec<Allocation>,
    obstacle: Option<Missed>,
}

/// A call that may be inlined.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// The call.
    pub(super) call: Op,
    /// The values that the function gets.
    pub(super) arguments: Vec<Value>,
    /// Allocations of the callee, each with the block at whose start they have to stand.
    pub(super) moved: Vec<(Op, Block)>,
    /// True if the call or the function asks for inlining.
    pub(super) is_wanted: bool,
}

impl Callee {
    pub(super) fn of(function: OpRef<'_>) -> Callee {
        let body = function.body();
        let model = function.info().interface::<dyn FunctionLike>();
        let region = model.map_or_else(|| function.region(0), |model| model.body(function));
        let mut callee = Callee {
            size: body.all_ops().count(),
            region,
            is_one_block: false,
            arguments: Vec::new(),
            returns: Vec::new(),
            can_branch: true,
            allocations: Vec::new(),
            obstacle: None,
        };
        if model.is_none_or(|model| model.is_variadic(function)) {
            callee.obstacle = Some(Missed::never("the function has a variable number of arguments"));
        }
        if function.info().interface::<dyn LeftAlone>().is_some_and(|model| model.is_left_alone(function)) {
            callee.obstacle = Some(Missed::never("the function must not be optimized"));
        }
        if let Some(entry) = body.entry_block(region) {
            callee.arguments = body.arguments(entry).map(|value| body.value_type(value)).collect();
        }
        for op in body.all_ops().filter(|op| *op != body.root()) {
            if callee.obstacle.is_none() {
                callee.obstacle = obstacle(body, op);
            }
            callee.allocations.extend(allocation(body, region, op));
        }
        callee.read_ends(body);
        callee
    }

    /// Reads the terminators of the body.
    fn read_ends(&mut self, body: &Body) {
        for block in body.blocks(self.region) {
            let Some(end) = body.terminator(block) else {
                self.obstacle = Some(Missed::never("a block of the function has no terminator"));
                return;
            };
            if body.has_trait(end, Trait::ReturnLike) {
                self.returns.push(body.operands(end).map(|value| body.value_type(value)).collect());
                self.can_branch &= body.info(end).interface::<dyn ReturnAsBranch>().is_some();
            }
        }
        self.is_one_block = body.single_block(self.region).is_some() && !self.returns.is_empty();
    }

    /// Checks a call of this function. `body` is the body of the function.
    pub(super) fn site(&self, body: &Body, caller: &Body, call: Op) -> Result<Site, Missed> {
        if let Some(obstacle) = &self.obstacle {
            return Err(obstacle.clone());
        }
        let view = caller.op_ref(call);
        let (function, root) = (body.root_ref(), caller.root_ref());
        let model = view.info().interface::<dyn CallLike>();
        let own = model.map_or(Inlining::Allowed, |model| model.inlining(view));
        let model = function.info().interface::<dyn FunctionLike>();
        let others = model.map_or(Inlining::Allowed, |model| model.inlining(function, root));
        if let (Inlining::Never(reason), _) | (_, Inlining::Never(reason)) = (own, others) {
            return Err(Missed::never(reason));
        }
        let arguments =
            view.info().interface::<dyn CallLike>().map(|model| model.arguments(view)).unwrap_or_default();
        self.has_same_types(caller, call, &arguments)?;
        self.has_room(caller, call)?;
        let mut moved = Vec::new();
        for allocation in &self.allocations {
            moved.extend(allocation.place(caller, call)?.map(|block| (allocation.op, block)));
        }
        let is_wanted = own == Inlining::Always || others == Inlining::Always;
        Ok(Site { call, arguments, moved, is_wanted })
    }

    fn has_same_types(&self, caller: &Body, call: Op, arguments: &[Value]) -> Result<(), Missed> {
        let results: Vec<Type> = caller.results(call).map(|value| caller.value_type(value)).collect();
        let given = arguments.iter().map(|value| caller.value_type(*value));
        if !given.eq(self.arguments.iter().copied()) || self.returns.iter().any(|own| *own != results) {
            return Err(Missed::never("the call and the function have different types"));
        }
        // In code that never runs, a call may use its own result.
        if self.is_one_block && arguments.iter().any(|value| caller.defining_op(*value) == Some(call)) {
            return Err(Missed::never("the call never runs"));
        }
        Ok(())
    }

    /// Checks the operations around a call.
    fn has_room(&self, caller: &Body, call: Op) -> Result<(), Missed> {
        let plain = !caller.has_trait(call, Trait::Terminator)
            && caller.own_regions(call).len() == 0
            && caller.successors(call).len() == 0;
        let (true, Some(region), Some(_)) = (plain, caller.region_of(call), caller.next_op(call)) else {
            return Err(Missed::never("the call ends its block"));
        };
        let parents = std::iter::successors(caller.parent_op(call), |op| caller.parent_op(*op));
        for around in parents.filter(|around| *around != caller.root()) {
            if caller.info(around).def().is_none() {
                return Err(Missed::never("an operation around the call is not registered"));
            }
            if caller.has_trait(around, Trait::SymbolTable) || caller.has_trait(around, Trait::GraphRegion) {
                return Err(Missed::never("the call does not stand in the code of a function"));
            }
        }
        if self.is_one_block {
            return Ok(());
        }
        let parent = caller.region_parent(region);
        if !may_hold_blocks(caller, region) {
            let parent = caller.ctx().op_str(caller.op_name(parent));
            let reason = format!("it has several blocks, and a region of '{parent}' holds one only");
            return Err(Missed::new("NotInlined", reason));
        }
        match self.can_branch {
            true => Ok(()),
            false => Err(Missed::new("NotInlined", "a return of it can't become a branch")),
        }
    }
}

/// True if a region may hold several blocks.
fn may_hold_blocks(body: &Body, region: Region) -> bool {
    let Some(def) = body.info(body.region_parent(region)).def() else { return false };
    let index = body.region_index(region).min(def.regions.len().saturating_sub(1));
    let kind = def.regions.get(index).map(|own| &own.kind);
    matches!(kind, Some(RegionKind::Any | RegionKind::NonEmpty))
}

/// Returns the reason why an operation can't be in a copy of its function.
fn obstacle(body: &Body, op: Op) -> Option<Missed> {
    let view = body.op_ref(op);
    let info = view.info();
    let name = || view.name().to_owned();
    if body.nested(op).is_some() || info.has_trait(Trait::SymbolTable) {
        return Some(Missed::never(format!("it contains '{}', which has names of its own", name())));
    }
    if let Some(model) = info.interface::<dyn Inlinable>() {
        return match model.inlining(view) {
            Inlining::Never(reason) => Some(Missed::never(reason)),
            Inlining::Allowed | Inlining::Always => None,
        };
    }
    let says = info.def().is_some()
        && (info.has_trait(Trait::Pure)
            || info.has_trait(Trait::RecursiveMemoryEffects)
            || info.has_trait(Trait::Terminator)
            || info.interface::<dyn MemoryEffects>().is_some()
            || info.interface::<dyn MemoryAccess>().is_some()
            || info.interface::<dyn CallLike>().is_some()
            || info.interface::<dyn BranchLike>().is_some());
    (!says).then(|| Missed::never(format!("it contains '{}', which does not declare its effects", name())))
}

/// Returns the stack memory that `op` allocates, if it lives until the function returns.
fn allocation(body: &Body, region: Region, op: Op) -> Option<Allocation> {
    let view = body.op_ref(op);
    let ends_with_scope = view.info().interface::<dyn StackAllocation>()?.ends_with_scope(view);
    if ends_with_scope && scope(body, op) != Some(body.root()) {
        return None;
    }
    let is_constant = body.operands(op).all(|value| constant_of(body, value).is_some());
    let can_move = is_constant && body.block_of(op) == body.entry_block(region);
    Some(Allocation { op, can_move, ends_with_scope })
}

/// Returns the operation that ends the life of stack memory made at `op`.
fn scope(body: &Body, op: Op) -> Option<Op> {
    let mut around = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
    around.find(|op| body.has_trait(*op, Trait::AutomaticAllocationScope))
}

impl Allocation {
    /// Returns the block at whose start the memory has to be allocated, if it can't stay in its
    /// place because the call may be repeated.
    fn place(&self, caller: &Body, call: Op) -> Result<Option<Block>, Missed> {
        let scope = if self.ends_with_scope { scope(caller, call) } else { Some(caller.root()) };
        let Some(scope) = scope else {
            return Err(Missed::never("it allocates stack memory, and no scope around the call ends"));
        };
        let (mut at, mut repeats) = (call, false);
        loop {
            let block = caller.block_of(at);
            let region = caller.region_of(at);
            let entry = region.and_then(|region| caller.entry_block(region));
            repeats |= block != entry;
            let Some(parent) = caller.parent_op(at) else { break };
            if parent == scope {
                return match (repeats, self.can_move, entry) {
                    (false, ..) => Ok(None),
                    (true, true, Some(entry)) => Ok(Some(entry)),
                    _ => Err(Missed::never("it takes stack memory that each repetition would take again")),
                };
            }
            let info = caller.info(parent);
            if info.interface::<dyn Conditional>().is_none() {
                repeats = true;
                let is_sequential =
                    info.interface::<dyn LoopLike>().is_some() || caller.is(parent, scf::WhileOp::DEF);
                if !is_sequential {
                    break;
                }
            }
            at = parent;
        }
        Err(Missed::never("it takes stack memory, and the call may run in parallel"))
    }
}
