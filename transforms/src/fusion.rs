//! Loop fusion: neighbouring counted loops become one.
//!
//! Level by level from the outside: in each sequence of the loop tree, a loop is tried with the next one; where
//! [`legality`] finds every dependence kept, the second loop's body is put behind the first's, and the fused loop is tried with the next (a
//! cascade). Then the bodies are treated the same way. What stands between two loops is moved before the first, if it may be.
//! If a dependence would be turned around, the second loop runs as many iterations later as keeps it. Iterations that not all loops have run
//! by themselves, before and after the fused loop (see [`group`]).
//! Whatever is not fused gets a remark that says why, under the names LLVM's `loop-fusion` uses.
//!
//! **Cost.** Each loop is summarised once a level; a pair costs its pairs of access classes on objects that may overlap (see [`nest`]).
//! Joining two bodies is logarithmic; the changed part of a block is written once, at the end.

use loomir_dialects::interfaces::MemoryEffects;
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Block, Body, Diagnostics, Op, Trait, Value};
use loomir_polyhedra::Limits;

use crate::dependence::base::{AliasMode, Bases};
use crate::dependence::nest::{Frame, Nest};
use crate::legality::{self, Verdict};
use crate::tree::raise::{MAX_DEPTH, is_loop, raise};
use crate::tree::regenerate::{Rewrite, regenerate};
use crate::tree::{Forest, Green, Node, Program};
use group::{Group, Joined};
use remarks::Missed;

mod group;
mod remarks;

/// How to fuse.
#[derive(Clone, Debug)]
pub struct Options {
    /// What to assume of memrefs about which nothing is known.
    pub alias: AliasMode,
    /// What one question of legality may cost.
    pub limits: Limits,
    /// By how many iterations the second of two loops may be delayed to keep a dependence.
    pub max_delay: i64,
}

impl Default for Options {
    fn default() -> Self {
        Options { alias: AliasMode::default(), limits: Limits::default(), max_delay: 8 }
    }
}

/// What was done.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// A remark for each pair that was fused or refused, in the order they were tried.
    pub remarks: Diagnostics,
    /// How many pairs were fused.
    pub fused: usize,
    /// How many pairs were refused.
    pub refused: usize,
}

/// Fuses the loops of a function. The result is well formed if `body` was, and computes the same.
pub fn fuse(body: &mut Body, options: &Options) -> Report {
    let mut report = Report::default();
    let mut assumed: Vec<(Value, Value)> = Vec::new();
    let mut blocks: Vec<Block> =
        body.own_regions(body.root()).flat_map(|region| body.blocks(region)).collect();
    blocks.reverse();
    while let Some(block) = blocks.pop() {
        let mut forest = Forest::default();
        let program = raise(body, block, &mut forest, options.alias);
        let mut fusion = Fusion {
            body,
            program: &program,
            forest: &mut forest,
            bases: Bases::new(body, options.alias),
            options,
            report: &mut report,
            assumed: &mut assumed,
        };
        let surroundings = &program.surroundings;
        let frame = Frame::outside(surroundings.constraints.clone(), surroundings.exact);
        let root = fusion.sequence(program.root, &frame);
        regenerate(body, &program, &forest, root, Rewrite::Changed);
        blocks.extend(opaque_blocks(body, block).into_iter().rev());
    }
    if !assumed.is_empty() {
        assumed.sort_by_key(|(a, b)| (a.index(), b.index()));
        report.remarks.push(remarks::assumed(body, &assumed));
    }
    report
}

/// The blocks inside statements of the tree that `block` is raised to: each is the root of a tree of its own.
fn opaque_blocks(body: &Body, block: Block) -> Vec<Block> {
    let mut found = Vec::new();
    let mut stack = vec![(block, 0)];
    while let Some((block, depth)) = stack.pop() {
        for op in body.ops(block) {
            let inside = body.own_regions(op).flat_map(|region| body.blocks(region));
            if depth < MAX_DEPTH && is_loop(body, op) {
                stack.extend(inside.map(|block| (block, depth + 1)));
            } else {
                found.extend(inside);
            }
        }
    }
    found
}

/// Fusion of the loops of one program.
struct Fusion<'a> {
    body: &'a Body,
    program: &'a Program,
    forest: &'a mut Forest,
    bases: Bases<'a>,
    options: &'a Options,
    report: &'a mut Report,
    /// Pairs of arguments taken not to overlap.
    assumed: &'a mut Vec<(Value, Value)>,
}

impl Fusion<'_> {
    /// Fuses the loops that stand in a sequence, then those inside them. Recurses once a loop, and loops nest at most as deep as they are
    /// raised.
    fn sequence(&mut self, sequence: Green, frame: &Frame) -> Green {
        let items: Vec<Green> = self.forest.items(sequence).collect();
        let mut done: Vec<Green> = Vec::new();
        let mut current: Option<Group> = None;
        let mut between: Vec<Green> = Vec::new();
        for item in items {
            let Some(second) = Group::of(self.program, self.forest, item, frame) else {
                between.push(item);
                continue;
            };
            let Some(mut first) = current.take() else {
                done.append(&mut between);
                current = Some(second);
                continue;
            };
            let ops = (first.op(self.program), second.op(self.program));
            match self.plan(&first, &second, &between, frame) {
                Ok(plan) => {
                    self.report.fused += 1;
                    self.report.remarks.push(remarks::fused(
                        self.body,
                        ops.0,
                        ops.1,
                        plan.delay,
                        plan.joined.whole,
                    ));
                    for pair in plan.assumed_apart {
                        if !self.assumed.contains(&pair) {
                            self.assumed.push(pair);
                        }
                    }
                    done.append(&mut between);
                    first.join(self.forest, plan.joined);
                    current = Some(first);
                }
                Err(missed) => {
                    self.report.refused += 1;
                    self.report.remarks.push(remarks::missed(self.body, ops.0, ops.1, &missed));
                    self.finish(first, frame, &mut done);
                    done.append(&mut between);
                    current = Some(second);
                }
            }
        }
        if let Some(last) = current {
            self.finish(last, frame, &mut done);
        }
        done.append(&mut between);
        self.forest.sequence(&done)
    }

    /// Adds the loops of a group to `done`, with what is inside the fused one fused. What runs before and after it runs few times, and is left
    /// as it is.
    fn finish(&mut self, group: Group, frame: &Frame, done: &mut Vec<Green>) {
        let parts = group.into_parts(self.forest);
        done.extend(parts.before);
        if let Node::Loop { header, body } = self.forest.get(parts.fused) {
            let frame = frame.inside(self.program, self.forest, header);
            let body = self.sequence(body, &frame);
            done.push(self.forest.with_header(header, body));
        }
        done.extend(parts.after);
    }

    /// How a pair may be fused.
    fn plan(
        &mut self,
        first: &Group,
        second: &Group,
        between: &[Green],
        frame: &Frame,
    ) -> Result<Plan, Missed> {
        let (x, y) = (first.op(self.program), second.op(self.program));
        if self.body.op_name(x) != self.body.op_name(y) {
            return Err(Missed::DifferentKinds);
        }
        if let Some(unsigned) = [first, second].into_iter().find(|group| group.is_unsigned(self.program)) {
            return Err(Missed::Unsigned(unsigned.op(self.program)));
        }
        let mut fit = first.fit(second, self.program, frame)?;
        if let Some(user) = self.user_of(first, y) {
            return Err(Missed::UsesResult(user));
        }
        let mut assumed_apart = Vec::new();
        for item in between {
            self.may_move_before(*item, first, frame, &mut assumed_apart)?;
        }
        let delay = match self.merged(first, second, 0, frame) {
            Verdict::Legal { assumed_apart: more } => {
                assumed_apart.extend(more);
                0
            }
            verdict if !fit.may_be_delayed => return Err(Missed::Dependences(verdict)),
            verdict => {
                fit.same = false;
                let found = self.least_delay(first, second, frame, &mut assumed_apart);
                found.ok_or(Missed::Dependences(verdict))?
            }
        };
        let joined =
            first.align(second, fit, delay, self.forest, frame).ok_or(Missed::TripCounts(None, None))?;
        Ok(Plan { delay, assumed_apart, joined })
    }

    fn merged(&self, first: &Group, second: &Group, delay: i64, frame: &Frame) -> Verdict {
        legality::merged(&first.nest, &second.nest, delay, frame, &self.bases, &self.options.limits)
    }

    /// The least delay of the second loop with which the pair may be fused. What may run later may run later still, so it is found
    /// by halving.
    fn least_delay(
        &self,
        first: &Group,
        second: &Group,
        frame: &Frame,
        assumed: &mut Vec<(Value, Value)>,
    ) -> Option<i64> {
        let mut legal = |delay| match self.merged(first, second, delay, frame) {
            Verdict::Legal { assumed_apart } => {
                assumed.extend(assumed_apart);
                true
            }
            _ => false,
        };
        let (mut short, mut enough) = (0, self.options.max_delay.min(first.max_delay(second)));
        if enough <= 0 || !legal(enough) {
            return None;
        }
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if legal(middle) {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Some(enough)
    }

    /// An operation inside `second` that uses a result of a loop of `first`.
    fn user_of(&self, first: &Group, second: Op) -> Option<Op> {
        self.body.preorder(second).find(|op| self.uses_result(first, *op))
    }

    fn uses_result(&self, first: &Group, op: Op) -> bool {
        self.body.operands(op).any(|v| self.body.defining_op(v).is_some_and(|op| first.loops.contains(&op)))
    }

    /// Whether a statement between two loops may run before the first; arguments taken not to overlap for that go to `assumed`.
    fn may_move_before(
        &self,
        item: Green,
        first: &Group,
        frame: &Frame,
        assumed: &mut Vec<(Value, Value)>,
    ) -> Result<(), Missed> {
        let Node::Leaf { statement, .. } = self.forest.get(item) else { return Ok(()) };
        let op = self.program.statement(statement).op;
        let body = self.body;
        let stays = Err(Missed::NonAdjacent(op));
        if self.uses_result(first, op) || body.own_regions(op).len() > 0 || body.nested(op).is_some() {
            return stays;
        }
        if body.has_trait(op, Trait::Pure) {
            return Ok(());
        }
        // What may be undefined, or fail, must not come before something that may not return.
        let view = body.op_ref(op);
        let known =
            view.info().interface::<dyn MemoryEffects>().is_some_and(|model| !model.may_not_return(view));
        let nest = Nest::of(self.program, self.forest, item, frame);
        let free = known && first.nest.world.is_none() && nest.world.is_none();
        if free && legality::independent(&first.nest, &nest, &self.bases, assumed) { Ok(()) } else { stays }
    }
}

/// How a pair will be fused.
struct Plan {
    /// How much later the second runs.
    delay: i64,
    /// Arguments taken not to overlap.
    assumed_apart: Vec<(Value, Value)>,
    /// The second, as it joins the first.
    joined: Joined,
}

/// The pass `loop-fusion` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-fusion",
    anchor: Some("func.func"),
    summary: "Fuse neighbouring loops where every dependence is kept",
    options: &[
        ("alias", "may", "what to assume of memrefs nothing is known of: may, distinct"),
        ("max-delay", "8", "by how many iterations the second loop may be delayed to keep a dependence"),
    ],
    make: |options| {
        let default = Options::default();
        let alias = options.parse("alias", default.alias)?;
        let max_delay = options.parse("max-delay", default.max_delay)?;
        Ok(Box::new(LoopFusion { options: Options { alias, max_delay, ..default } }))
    },
};

struct LoopFusion {
    options: Options,
}

impl Pass for LoopFusion {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let report = fuse(body, &self.options);
        cx.count("Loops fused", report.fused as u64);
        cx.count("Pairs refused", report.refused as u64);
        for remark in report.remarks {
            cx.remark(remark);
        }
        Ok(())
    }
}
