//! Strip-mining: an innermost loop becomes a loop over blocks of iterations, around a loop over the
//! iterations of one block.
//!
//! `for i in 0..n` becomes `for b in 0..n step size` around `for i in b..min(b + size, n)`. The order
//! of iterations does not change. It is a building block of tiling (strip-mine, then interchange) and
//! of vectorization.
//!
//! **Assumptions.**
//! - None about legality: the judge is asked of the whole block. Tried with the campaign `hazards`.
//!
//! **Cost.** Linear in a block, once more for each loop that cannot be written.
//!
//! Reference: Wolfe, *High Performance Compilers for Parallel Computing*, §9.9.

use hashbrown::HashMap;
use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op};

use crate::analyses::Analyses;
use crate::dependence::base::AliasMode;
use crate::dependence::callees::{self, Callees};
use crate::legality::{Checker, QUESTION};
use crate::regenerate::{Rewrite, regenerate};
use crate::remark::Remarks;
use crate::tree::raise::{raise_by, roots};
use crate::tree::{Forest, Green, Node, Program};

/// The pass `loop-strip-mine` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-strip-mine",
    anchor: Some("func.func"),
    summary: "Split innermost loops into blocks of iterations",
    options: &[("size", "32", "iterations of one block, at least 1")],
    make: |options| match options.parse("size", 32)? {
        size @ 1.. => Ok(Box::new(StripMine { size })),
        size => Err(format!("'{size}' iterations are no block; 'size' is 1 or more")),
    },
};

struct StripMine {
    size: i64,
}

impl Pass for StripMine {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        callees::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let analyses = Analyses::default().knowing(&Callees::around(cx.surveys));
        for remark in strip_mine(body, self.size, &analyses) {
            cx.remark(remark);
        }
        Ok(())
    }
}

/// Splits the innermost loops of a function into blocks of `size` iterations. Returns a remark for
/// each. The result is well formed if `body` was, and computes the same.
pub fn strip_mine(body: &mut Body, size: i64, analyses: &Analyses) -> Diagnostics {
    let mut remarks = Diagnostics::default();
    // Blocks inside statements first: a statement is copied with all that was done in it.
    for block in roots(body, analyses).into_iter().rev() {
        let mut missed = HashMap::new();
        while let Err((of, why)) = in_block(body, block, size, analyses, &mut missed, &mut remarks) {
            missed.insert(of, why);
        }
    }
    remarks
}

const NOT_WRITTEN: &str = "the variable may leave its type at the end of the last block";

/// Strip-mines the loops of a block, but for some. The error is a loop that cannot be written, and
/// why; the block is as it was then.
fn in_block(
    body: &mut Body,
    block: Block,
    size: i64,
    analyses: &Analyses,
    missed: &mut HashMap<Op, &'static str>,
    remarks: &mut Diagnostics,
) -> Result<(), (Op, &'static str)> {
    let mut forest = Forest::default();
    let program = raise_by(analyses, body, block, &mut forest, AliasMode::May);
    let mut walk = Walk { program: &program, forest: &mut forest, size, missed, done: Vec::new() };
    let root = walk.tree(program.root);
    let done = walk.done;
    let checker = Checker::new(body, &program, AliasMode::May, QUESTION);
    let own = Remarks { body, pass: PASS.name };
    let approved = match checker.told_by(&*analyses.dependence).judge(&forest, root) {
        Ok(approved) => approved,
        Err(verdict) => {
            remarks.push(verdict.not_approved(own, block, "strip-mined"));
            return Ok(());
        }
    };
    let mut said: Vec<(Op, Diagnostic)> = Vec::new();
    for op in done {
        let text = format!("Loop split into blocks of {size} iterations");
        said.push((op, own.passed("StripMined", body.loc(op), &text).arg("size", size)));
    }
    for (op, why) in missed.iter() {
        said.push((*op, own.missed("NotStripMined", body.loc(*op), "Loop not split into blocks", why)));
    }
    regenerate(body, &program, &forest, &approved, Rewrite::Changed).map_err(|op| (op, NOT_WRITTEN))?;
    said.sort_by_key(|(op, _)| op.index());
    said.into_iter().for_each(|(_, remark)| remarks.push(remark));
    Ok(())
}

struct Walk<'a> {
    program: &'a Program,
    forest: &'a mut Forest,
    size: i64,
    missed: &'a mut HashMap<Op, &'static str>,
    done: Vec<Op>,
}

impl Walk<'_> {
    /// Returns the tree with its innermost loops strip-mined. Recurses once a loop or guard, and these
    /// nest at most as deep as they are raised.
    fn tree(&mut self, tree: Green) -> Green {
        match self.forest.get(tree) {
            Node::Sequence { .. } => {
                let items: Vec<Green> = self.forest.items(tree).collect();
                let items: Vec<Green> = items.into_iter().map(|item| self.tree(item)).collect();
                self.forest.sequence(&items)
            }
            Node::Guard { of, map, holds, body } => {
                let body = self.tree(body);
                self.forest.guard(of, map, holds, body)
            }
            Node::Loop { header, body } if self.has_loops(body) => {
                let body = self.tree(body);
                self.forest.with_header(header, body)
            }
            Node::Loop { header, .. } => {
                let of = self.forest.header(header).origins.first().map(|origin| origin.of);
                of.map_or(tree, |of| {
                    let info = self.program.loop_info(of);
                    self.innermost(tree, info.op, info.carried > 0, info.dimension.is_some())
                })
            }
            Node::Empty | Node::Leaf { .. } | Node::Versioned { .. } => tree,
        }
    }

    fn innermost(&mut self, tree: Green, op: Op, carries: bool, is_dimension: bool) -> Green {
        let why = if is_dimension {
            "it is a dimension of a parallel loop"
        } else if carries {
            "it carries values from one iteration to the next"
        } else if self.missed.contains_key(&op) {
            return tree;
        } else {
            match self.forest.strip_mined(self.program, tree, self.size) {
                Some(blocks) => {
                    self.done.push(op);
                    return blocks;
                }
                None => "its bounds or its step are not known before it",
            }
        };
        self.missed.insert(op, why);
        tree
    }

    fn has_loops(&self, body: Green) -> bool {
        self.forest.items(body).any(|item| match self.forest.get(item) {
            Node::Loop { .. } => true,
            Node::Guard { body, .. } => self.has_loops(body),
            _ => false,
        })
    }
}
