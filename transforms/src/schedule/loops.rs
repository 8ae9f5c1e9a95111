//! Operations of schedules that transform loops, as edits of trees.

use loomir_dialects::{loomir, transform};
use loomir_ir::{DYNAMIC, Diagnostic, Loc, OpRef};

use super::edits::{
    OVERFLOW, coalesce, edit, fuse, fuse_whole, hilbert, in_any_order, in_order, interchange, jam, last,
    morton, nested_fors, next, peel, peel_ends, promote, reverse, separate, skew, split, strip_mine, tile,
    unroll, unswitch,
};
use super::failure::Failure;
use super::interpreter::{Frame, Handle, Interpreter, Outcome, Table, failed, wrong};
use super::payload::{Entity, OnTree, Payload, Step};
use super::site::{Place, Sketch};
use crate::affine::AffineForm;
use crate::tree::{Change, Separation};

/// The participle for loops that may run in any order, and no longer do.
const IN_ORDER: &str = "run in order";

/// A loop transformation of one loop: its edits, and the places of the new loops. Results without
/// a place are empty handles.
type Make<'m> = dyn Fn(&mut Sketch<'_>, &[usize]) -> Result<Vec<Place>, String> + 'm;

/// The same with a number.
type MakeWith<'m> = dyn Fn(&mut Sketch<'_>, &[usize], i64) -> Result<Vec<Place>, String> + 'm;

/// Returns the operations that transform loops, and what runs them.
pub(super) fn operations<'a>() -> Table<'a> {
    vec![
        (transform::UnrollOp::DEF, |run, frame, op| {
            let factor = factor(op);
            run.each(frame, op, "unrolled", &|sketch, place| unroll(sketch, place, factor))
        }),
        (transform::UnrollAndJamOp::DEF, |run, frame, op| {
            let factor = factor(op);
            run.each(frame, op, "unrolled and jammed", &|sketch, place| jam(sketch, place, factor))
        }),
        (transform::PeelOp::DEF, |run, frame, op| {
            let front = op.attr("peel_front") == Some(loomir_ir::Attr::TRUE);
            run.each(frame, op, "peeled", &|sketch, place| peel(sketch, place, front))
        }),
        (transform::CoalesceOp::DEF, |run, frame, op| run.each(frame, op, "coalesced", &coalesce)),
        (transform::ForallToForOp::DEF, |run, frame, op| run.each(frame, op, IN_ORDER, &nested_fors)),
        (transform::ParallelToForsOp::DEF, |run, frame, op| match op.num_results() {
            1 => run.each(frame, op, IN_ORDER, &|sketch, place| {
                nested_fors(sketch, place)?;
                Ok(vec![place.to_vec()])
            }),
            own => Err(wrong(op, &format!("expects one result, given {own}"))),
        }),
        (transform::PromoteOp::DEF, |run, frame, op| run.each(frame, op, "replaced by its body", &promote)),
        (transform::FuseSiblingOp::DEF, |run, frame, op| run.fuse_sibling(frame, op)),
        (loomir::StripMineOp::DEF, |run, frame, op| {
            run.with_number(frame, op, ("size", 1), "strip-mined", &strip_mine)
        }),
        (loomir::SplitOp::DEF, |run, frame, op| {
            run.with_number(frame, op, ("at", 1), "split", &|sketch, place, at| {
                split(sketch, place, AffineForm::constant(at))
            })
        }),
        (loomir::SkewOp::DEF, |run, frame, op| run.with_number(frame, op, ("by", 1), "skewed", &skew)),
        (loomir::TileOp::DEF, |run, frame, op| run.tile(frame, op)),
        (loomir::InterchangeOp::DEF, |run, frame, op| {
            let order = op.attr("permutation").and_then(|attr| attr.as_dense_ints(op.ctx()));
            let order = order.unwrap_or_default().into_iter().filter_map(|own| usize::try_from(own).ok());
            let order: Vec<usize> = order.collect();
            run.each(frame, op, "interchanged", &|sketch, place| interchange(sketch, place, &order))
        }),
        (loomir::ParallelizeOp::DEF, |run, frame, op| run.each(frame, op, "made parallel", &in_any_order)),
        (loomir::SeparateOp::DEF, |run, frame, op| {
            let depth = op.attr("depth").and_then(|attr| attr.as_int(op.ctx())).unwrap_or(1);
            let how = (usize::try_from(depth).unwrap_or(1), op.attr("all").is_some());
            let make =
                |sketch: &mut Sketch<'_>, place: &[usize]| separate(sketch, place, how, op.num_results());
            run.each(frame, op, "with full tiles apart", &make)
        }),
        (loomir::HilbertOp::DEF, |run, frame, op| {
            let levels = attribute(op, "levels").unwrap_or(3);
            run.each(frame, op, "run in Hilbert order", &|sketch, place| hilbert(sketch, place, levels))
        }),
        (loomir::MortonOp::DEF, |run, frame, op| {
            let number = |name, default| attribute(op, name).unwrap_or(default);
            let numbers = (number("depth", 2), number("levels", 3));
            run.each(frame, op, "run in Morton order", &|sketch, place| morton(sketch, place, numbers))
        }),
        (loomir::UnswitchOp::DEF, |run, frame, op| {
            let conditions = attribute(op, "conditions").unwrap_or(1);
            run.each(frame, op, "unswitched", &|sketch, place| unswitch(sketch, place, conditions))
        }),
        (loomir::ReverseOp::DEF, |run, frame, op| run.each(frame, op, "reversed", &reverse)),
        (loomir::PeelOp::DEF, |run, frame, op| {
            let count = |name| attribute(op, name).unwrap_or(0);
            let counts = [count("first"), count("last")];
            run.each(frame, op, "peeled", &|sketch, place| peel_ends(sketch, place, counts))
        }),
        (loomir::DistributeOp::DEF, |run, frame, op| run.distribute(frame, op)),
        (loomir::FuseOp::DEF, |run, frame, op| run.fuse(frame, op)),
    ]
}

fn factor(op: OpRef<'_>) -> i64 {
    attribute(op, "factor").unwrap_or(1)
}

/// Returns the value of an integer attribute.
pub(super) fn attribute(op: OpRef<'_>, name: &str) -> Option<i64> {
    op.attr(name)?.as_int(op.ctx())
}

impl Interpreter<'_> {
    /// Transforms each loop of the first operand. Result `i` has the loops `i` of all.
    fn each(&mut self, frame: &Frame<'_>, op: OpRef<'_>, then: &'static str, make: &Make<'_>) -> Outcome {
        let mut results = vec![Vec::new(); op.num_results()];
        for target in self.ops(frame, op, 0)? {
            let on_tree = self.on_tree(op, target)?;
            let step = Step { loc: op.loc(), name: op.name(), then, consumed: &[target] };
            let place = on_tree.place.clone();
            let made = self.payload.step(&on_tree, &step, |sketch, _| {
                let loops = make(sketch, &place)?;
                match loops.len() == op.num_results() {
                    true => Ok(loops),
                    false => Err(format!("becomes {} loops, not {}", loops.len(), op.num_results())),
                }
            })?;
            results.iter_mut().zip(made).for_each(|(all, own)| all.push(own));
        }
        Ok(results.into_iter().map(Handle::Ops).collect())
    }

    /// The same with a number that is an attribute or a parameter.
    fn with_number(
        &mut self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
        (name, index): (&str, usize),
        then: &'static str,
        make: &MakeWith<'_>,
    ) -> Outcome {
        let number = self.number(frame, op, name, index)?;
        self.each(frame, op, then, &|sketch, place| make(sketch, place, number))
    }

    /// Returns a loop on the trees of its function.
    pub(super) fn on_tree(&mut self, op: OpRef<'_>, target: Entity) -> Result<OnTree, Failure> {
        if let Some(found) = self.payload.on_tree(target) {
            return Ok(found);
        }
        Err(not_on_tree(&self.payload, op.loc(), op.name(), target))
    }

    /// Returns the loops of two operands, on one tree and in one body.
    fn siblings(&mut self, op: OpRef<'_>, [a, b]: [Entity; 2]) -> Result<[OnTree; 2], Failure> {
        let first = self.on_tree(op, a)?;
        let second = self.on_tree(op, b)?;
        // Raising moves entities to the tree, so the first is looked up again.
        let first = self.payload.on_tree(a).unwrap_or(first);
        let parent = |own: &OnTree| own.place.split_last().map(|(_, parent)| parent.to_vec());
        if !first.is_with(&second) || parent(&first) != parent(&second) || first.place == second.place {
            let error = Diagnostic::error(op.loc(), format!("'{}' needs two loops in one body", op.name()));
            let error =
                error.note(self.payload.loc(a), "one loop").note(self.payload.loc(b), "the other loop");
            return Err(Failure::silenceable(error));
        }
        Ok([first, second])
    }

    fn tile(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        for operand in 1..op.num_operands() {
            if let Handle::Values(_) = self.handle(frame, op, operand)? {
                return self.tile_by(frame, op);
            }
        }
        let mut dynamic = 1;
        let mut sizes = op.attr("sizes").and_then(|attr| attr.as_dense_ints(op.ctx())).unwrap_or_default();
        for size in &mut sizes {
            if *size == DYNAMIC {
                *size = self.param_number(frame, op, dynamic)?;
                dynamic += 1;
                if *size < 1 {
                    return Err(failed(op, &format!("needs positive sizes as parameters, not {size}")));
                }
            }
        }
        let separate = match op.attr("separate") {
            Some(_) => Separation::FullTiles,
            None => Separation::Nowhere,
        };
        self.each(frame, op, "tiled", &|sketch, place| tile(sketch, place, (&sizes, separate)))
    }

    fn fuse_sibling(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let both = [self.only(frame, op, 0)?, self.only(frame, op, 1)?];
        let [target, source] = self.siblings(op, both)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "fused", consumed: &both };
        let (place, from, to) = (target.place.clone(), last(&target.place), last(&source.place));
        let to = if from < to { to - 1 } else { to };
        let pair = [place.clone(), source.place.clone()];
        let made = self.step_or_in_order(&target, &step, &pair, &|sketch| fuse_whole(sketch, &place, to))?;
        Ok(vec![Handle::Ops(made)])
    }

    fn fuse(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let both = [self.only(frame, op, 0)?, self.only(frame, op, 1)?];
        let has_shift = op.attr("shift").is_some() || op.num_operands() > 2;
        let shift = if has_shift { self.number(frame, op, "shift", 2)? } else { 0 };
        let [first, second] = self.siblings(op, both)?;
        let (from, to) = (last(&first.place), last(&second.place));
        if from > to {
            return Err(failed(op, "needs the loop that runs first as its first operand"));
        }
        let step = Step { loc: op.loc(), name: op.name(), then: "fused", consumed: &both };
        let (first_place, second_place) = (first.place.clone(), second.place.clone());
        let pair = [first_place.clone(), second_place.clone()];
        // The items between the loops run behind the fused loop, or else before it.
        let early = self.step_or_in_order(&first, &step, &pair, &|sketch| {
            Ok(vec![fuse(sketch, &second_place, from + 1, from, shift)?])
        });
        let made = match early {
            Err(failure) if failure.is_silenceable() && to > from + 1 => {
                self.step_or_in_order(&first, &step, &pair, &|sketch| {
                    Ok(vec![fuse(sketch, &first_place, to - 1, to - 1, shift)?])
                })
            }
            made => made,
        };
        Ok(vec![Handle::Ops(made?)])
    }

    /// Makes a step with two loops. If it is refused and both are parallel, runs them in order.
    fn step_or_in_order(
        &mut self,
        target: &OnTree,
        step: &Step<'_>,
        pair: &[Place; 2],
        make: &dyn Fn(&mut Sketch<'_>) -> Result<Vec<Place>, String>,
    ) -> Result<Vec<Entity>, Failure> {
        let parallel = self.payload.step(target, step, |sketch, _| make(sketch));
        let Err(refused) = parallel else { return parallel };
        let ordered = self.payload.step(target, step, |sketch, _| {
            for place in pair {
                in_order(sketch, place)?;
            }
            make(sketch)
        });
        ordered.map_err(|_| refused)
    }

    /// Returns a loop and the number of an item of its body.
    pub(super) fn cut(
        &mut self,
        frame: &Frame<'_>,
        op: OpRef<'_>,
    ) -> Result<(Entity, OnTree, usize), Failure> {
        let (target, at) = (self.only(frame, op, 0)?, self.only(frame, op, 1)?);
        let on_tree = self.on_tree(op, target)?;
        match self.payload.item_in(&on_tree, at) {
            None => {
                let error =
                    Diagnostic::error(op.loc(), format!("'{}' needs an operation in the loop", op.name()));
                let error = error.note(self.payload.loc(at), "this operation is not in the body of the loop");
                Err(Failure::silenceable(error.note(self.payload.loc(target), "the loop")))
            }
            Some(0) => {
                Err(failed(op, "would leave nothing in the first part: the operation begins the body"))
            }
            Some(item) => Ok((target, on_tree, item)),
        }
    }

    fn distribute(&mut self, frame: &Frame<'_>, op: OpRef<'_>) -> Outcome {
        let (target, on_tree, item) = self.cut(frame, op)?;
        let step = Step { loc: op.loc(), name: op.name(), then: "distributed", consumed: &[target] };
        let place = on_tree.place.clone();
        let made = self.payload.step(&on_tree, &step, |sketch, _| {
            edit(sketch, &place, Change::Distribute { at: item }, OVERFLOW)?;
            Ok(vec![place.clone(), next(&place)])
        })?;
        Ok(made.into_iter().map(|own| Handle::Ops(vec![own])).collect())
    }
}

/// Returns the failure of a step, at `user` and called `step`, whose target is no loop of a tree.
pub(super) fn not_on_tree(payload: &Payload<'_>, user: Loc, step: &str, target: Entity) -> Failure {
    let text = format!("'{step}' needs a loop that Loomir can transform");
    let name = payload.name(target).unwrap_or("an operation");
    let note = format!("this is '{name}', no 'scf.for', 'affine.for' or parallel loop without results");
    Failure::silenceable(Diagnostic::error(user, text).note(payload.loc(target), note))
}
