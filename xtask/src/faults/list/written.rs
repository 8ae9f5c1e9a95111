//! Faults in what proposes, reads and writes.

use super::{
    FIXTURES, Fault, GRAPHS, INSTANCES, PROMOTION, Place, REWIRING, TRANSFORMATIONS, TRAPS, TREES, WRITTEN,
};

pub(super) const FAULTS: &[Place] = &[
    Place {
        file: "transforms/src/promotion.rs",
        tests: &[PROMOTION, FIXTURES],
        faults: &[
            Fault(
                "a loop without iterations stores what it did not compute",
                "if «!runs && !changed.is_empty()» {",
                "false",
            ),
            Fault(
                "a loop without iterations loads an element",
                "let read = «if runs { read } else { Vec::new() }»;",
                "read",
            ),
            Fault(
                "a loop that loads first does not need the value before it",
                "let begins_with_store =\n                «promoted.accesses().first()».is_some_and(",
                "promoted.accesses().last()",
            ),
        ],
    },
    Place {
        file: "transforms/src/access/updates/reduction.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[Fault(
            "sums of floats need no leave to be associated otherwise",
            "(flags & needed == needed)",
            "(flags | needed == flags | needed)",
        )],
    },
    Place {
        file: "transforms/src/tree/access_summary.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault(
                "a part of a loop is one iteration longer",
                "let last = «absolute(form, depth).and_then(|f| f.plus(&AffineForm::constant(1), -1))»;",
                "absolute(form, depth)",
            ),
            Fault(
                "a condition counts for its opposite",
                "let outcome = program.if_info(of).condition.outcome(«holds»);",
                "!holds",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/order.rs",
        tests: &[FIXTURES, TREES, INSTANCES],
        faults: &[
            Fault(
                "a loop run backwards is one iteration off",
                "let mirror = «first.plus(&last, 1)?»",
                "first.plus(&last, 1)?.plus(&AffineForm::constant(1), 1)?",
            ),
            Fault(
                "loops that were further in keep their number",
                "Ordering::Greater => «at.checked_sub(1)»,",
                "Some(*at)",
            ),
            Fault(
                "a loop that moves outwards keeps its iterations in any order",
                "parallel: «inner.parallel && outer.parallel»,",
                "inner.parallel",
            ),
            Fault(
                "a loop whose range depends on the outer one moves out of it",
                "if «!space.variable.iter().chain(&space.domain.constraints).all(is_free)» {",
                "false",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/skew.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "a skewed loop has the range it had",
                "form.plus(&AffineForm::level(0), «scale.checked_mul(by)?»)",
                "0",
            ),
            Fault(
                "a skewed loop runs the iterations in the wrong direction",
                "plus(&AffineForm::level(1), «by.checked_neg()?»)",
                "by",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/swap.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "the new outer loop ends one iteration early",
                "side.push((scale, «around.times(*outer_scale)?.plus(&end, factor)?»));",
                "around.times(*outer_scale)?.plus(&end, factor)?.plus(&AffineForm::constant(-1), 1)?",
            ),
            Fault(
                "the new inner loop runs iterations that its bound forbids",
                "(true, true) => x.upper.push((positive, «gap.plus(&one, 1)?»)),",
                "gap.plus(&one, 2)?",
            ),
            Fault(
                "bounds of unequal scales are not made equal",
                "bounds.iter().map(|(own, form)| form.times(«scale / own»))",
                "scale / scale * own / own",
            ),
            Fault(
                "rows and diagonals are interchanged",
                "let tree = match «self.dependence_on_outer(program, tree)» {",
                "None",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/tile.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault("a loop that is left whole has a loop over blocks", "if «*size != 0» {", "true"),
            Fault("the loops over blocks come last", "&«[blocks, points]».concat())", "[points, blocks]"),
            Fault("only the outermost loop is tiled", "if «!inner.is_empty()» {", "false"),
        ],
    },
    Place {
        file: "transforms/src/transform/choice.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault("no order is dearer", "retain(|(own, ..)| «*own < least * (1.0 - NOISE)»)", "*own > 0.0"),
            Fault(
                "the first proposal is the cheapest",
                "position(|(other, ..)| «own < other * (1.0 - NOISE)»)",
                "*other < 0.0",
            ),
        ],
    },
    Place {
        file: "transforms/src/fusion/blocks.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "a parallel loop runs in blocks",
                "filter(|(_, group, size)| *size <= MAX_BLOCK && «!group.parallel»)",
                "size > &0",
            ),
            Fault("blocks are never worth it", "if «levels <= most» {", "true"),
        ],
    },
    Place {
        file: "transforms/src/cost/estimate.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault("every line is fetched once", "«least + beyond * (most - least)» + lost\n", "least"),
            Fault(
                "an inner loop computes once",
                "false => «work.trips * (one.computing + self.machine.counting())»,",
                "one.computing",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/range.rs",
        tests: &[FIXTURES, TREES, INSTANCES],
        faults: &[
            Fault(
                "the second part of a loop begins one iteration late",
                "let from = Span::range(scale, «with(&lower)», upper.to_vec());",
                "with(&lower).iter().map(|form| form.plus(&AffineForm::constant(scale), 1)).collect::<Option<Vec<_>>>()?",
            ),
            Fault("blocks begin one iteration late", "|form| «form.minus(&last)»", "Some(form.clone())"),
            Fault(
                "the first block begins before the first iteration",
                "if «!(begins_at_zero && form.as_constant() == Some(0))» {",
                "false",
            ),
            Fault(
                "the last block is a whole one",
                "if «form.as_constant().is_none_or(|end| end % block != 0)» {",
                "false",
            ),
            Fault(
                "the iterations of a block are said to be those of the first",
                "let within = «AffineForm::level(0).plus(&AffineForm::level(1), size)?»;",
                "AffineForm::level(0)",
            ),
            Fault(
                "one first iteration less is peeled",
                "for number in «1..=first» {",
                "1..=first.saturating_sub(1)",
            ),
            Fault(
                "the last iteration is not peeled",
                "for number in «(0..last).rev()» {",
                "(1..last.max(1)).rev()",
            ),
            Fault(
                "a peeled last iteration runs the one before as well",
                "&[value(&end, «-number»)?]].concat(), before(number)?));",
                "-number - 1",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/unroll.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "an unrolled loop runs a block that is not whole",
                "let ends = «all.iter().map(|behind| behind.times(scale)).collect::<Option<_>>()?»;",
                "upper.to_vec()",
            ),
            Fault(
                "iterations left over begin one too late",
                "let [_, left] = «self.range_split(program, tree, first)»?;",
                "self.range_split(program, tree, &first.plus(&AffineForm::constant(1), 1)?)",
            ),
            Fault(
                "all copies run the iteration of the first",
                "AffineForm::constant(«copy»).plus(&AffineForm::level(0), self.count)",
                "copy.min(0)",
            ),
            Fault(
                "an inner loop may run other iterations in each copy",
                "«span.forms().all(|form| form.all_atoms(&|atom| *atom != Atom::Level(depth)))»",
                "true",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/flatten.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "a flattened loop runs one iteration less",
                "vec![«outer_count.times(inner_count)?»]",
                "outer_count.times(inner_count)?.plus(&AffineForm::constant(-1), 1)?",
            ),
            Fault("the inner iteration is the outer one", "0 => Some(«rest.clone()»),", "quotient.clone()"),
        ],
    },
    Place {
        file: "transforms/src/regenerate/instances.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "every copy uses the values of the last one",
                "self.instances.values.insert((old, «map»), new);",
                "Box::from([])",
            ),
            Fault(
                "a later copy begins with what the loop begins with",
                "own = self.body.operand(end, «index.checked_sub(1)?»);",
                "0",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_flatten/nest.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "rows with gaps are numbered as if there were none",
                "let is_row = |this: &mut Self, trips: ExprId| «this.scev.mul(&[step, trips]) == row_step»;",
                "this.scev.mul(&[step, trips]) != step",
            ),
            Fault(
                "a number is chosen anew in each iteration",
                "if «function.is(op, llvm::FreezeOp::DEF)» {",
                "false",
            ),
            Fault(
                "what comes back an iteration late goes on at once",
                "if «function.value_block(around) == Some(self.outer.header)» {",
                "false",
            ),
            Fault(
                "a number of iterations that fits no word is counted",
                "() if «fits(natural)» => Ok((natural, false)),",
                "true",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_unroll/reductions.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "an intermediate result that somebody sees is made another one",
                "let seen = function.uses(function.result(step, 0)).all(|own| «own.op == ends»);",
                "own.op != step",
            ),
            Fault(
                "promises about intermediate results stay",
                "steps.for_each(|step| «drop_poison_flags(function, step)»);",
                "{ let _ = step; }",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_unroll_and_jam/order.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "the judge is asked about the order of the program",
                "let new = [«together.clone()», place(part)]",
                "i.clone()",
            ),
            Fault(
                "what runs before the inner loop is said to run behind it",
                "_ = place(block, «FORE»));",
                "AFT",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_unroll_and_jam/nest.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "inner loops that run more and more often are jammed",
                "if !exact.is_some_and(|exact| «scev.is_invariant(exact, id)») {",
                "true",
            ),
            Fault(
                "what may not return is jammed",
                "if «calls::may_not_return(function, op, symbols)» {",
                "false",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_unroll_and_jam/rewire.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "a copy starts with what the loop hands out",
            "let operands = successor_operands(function, branch).swap_remove(«back»);",
            "out",
        )],
    },
    Place {
        file: "transforms/src/fusion/versioned_region.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "what changes places for what is assumed is in no version",
            "if «line.swapped.is_empty() || !is_versioned» {",
            "true",
        )],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/rewire.rs",
        tests: &[REWIRING],
        faults: &[
            Fault(
                "the second latch leads back to its own header",
                "next = Target { block: «first.header», operands };",
                "second.header",
            ),
            Fault(
                "a loop starts with what another of its arguments does",
                "enters.push(initial[«index»]);",
                "0",
            ),
            Fault(
                "the back edge hands on what it did in another order",
                "= arguments.iter().zip(«next.operands»)",
                "next.operands.into_iter().rev().collect::<Vec<_>>()",
            ),
            Fault(
                "what the first loop hands out is not handed on",
                "        if «uses.is_empty()» {\n            continue;\n        }\n        let new = match",
                "true",
            ),
            Fault(
                "what the first loop hands out is what it is handed first",
                "leaves.operands.push(«value»);",
                "function.argument(first.header, 0)",
            ),
            Fault(
                "the latch goes on where it should leave",
                "let both = if «goes_on_if_false» {",
                "!goes_on_if_false",
            ),
            Fault(
                "the guard's edges are swapped",
                "all[«usize::from(own.enters_if)»] = Target",
                "usize::from(!own.enters_if)",
            ),
            Fault(
                "the guard leads to the exit instead of around it",
                "= Target { block: «join», operands };",
                "second.exit",
            ),
            Fault(
                "the second preheader is kept",
                "plan.between.blocks().for_each(|block| analysis.erase_block(function, block));",
                "plan.between.blocks().filter(|block| *block != second.preheader).for_each(|block| analysis.erase_block(function, block));",
            ),
            Fault(
                "nobody hears of the second latch's new edges",
                "for block in «[first.latch, second.latch, first.preheader]» {",
                "[first.latch, first.latch, first.preheader]",
            ),
            Fault(
                "the second loop is not absorbed",
                "analysis.loops_mut().absorb(first.id, second.id);",
                ";",
            ),
            Fault(
                "what is hoisted stands above its operands",
                "motion.hoisted.iter().for_each(|op| function.move_before(*op, branch));",
                "motion.hoisted.iter().rev().for_each(|op| function.move_before(*op, branch));",
            ),
            Fault(
                "around both loops goes what only comes out of them",
                "operands.push(«brought[argument]»);",
                "arrives",
            ),
            Fault(
                "what the loops bring and what goes around them are swapped",
                "if is_on_way { arrives } else { new }",
                "arrives",
            ),
            Fault(
                "the target that leads back is taken for the other",
                "if «a.block == block» { Some((a, b)) }",
                "a.block != block",
            ),
            Fault(
                "arguments of the second header are the first's own",
                "function.add_argument(first.header, function.value_type(«*argument»))",
                "arguments[0]",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/plan.rs",
        tests: &[REWIRING],
        faults: &[Fault(
            "counters that start elsewhere are merged",
            "|counter| «counter.counts_like(variable)»",
            "true",
        )],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/remainder.rs",
        tests: &[GRAPHS],
        faults: &[
            Fault(
                "a condition to leave is taken for one to go on",
                "goes_on = decisions.map(|decision| match «decision.stays» {\n        0 =>",
                "1 - decision.stays",
            ),
            Fault(
                "a loop that may run longer is taken for one that does not",
                "behind: [first > second, «first < second»]",
                "false",
            ),
            Fault(
                "the rest of the second starts again",
                "let parts = «of_second.renamed(rest_arguments)»;",
                "{ let mut parts = of_second.renamed(rest_arguments); parts.back = initial.to_vec(); parts }",
            ),
            Fault(
                "what is kept between runs in front of the iteration",
                "let branch = «function.terminator(copy.latch)?»;\n        motion.kept",
                "function.first_op(copy.header)?",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/def_use.rs",
        tests: &[FIXTURES, TRAPS, GRAPHS],
        faults: &[
            Fault(
                "what is loaded in front of a loop that writes there is what it loads later",
                "runs_anyway() && self.is_apart(op, summary)",
                "runs_anyway()",
            ),
            Fault(
                "what waits for the end stands above its operands",
                "for op in «&plan.sunk» {",
                "&*Box::leak(Box::new(plan.sunk.iter().rev().copied().collect::<Vec<_>>()))",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/motion.rs",
        tests: &[FIXTURES, TRAPS, GRAPHS],
        faults: &[
            Fault(
                "what is kept between runs before any iteration that comes later",
                "&& «self.never_meets(op, &later.nest)»\n",
                "true",
            ),
            Fault(
                "what is kept between passes what waits for the end",
                "            && «self.is_apart_from(op, &moved.left)»\n",
                "true",
            ),
            Fault(
                "what goes in front passes what is kept between",
                "«[&moved.left, &moved.kept]».into_iter()",
                "[&moved.left, &moved.left]",
            ),
        ],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/exit_values.rs",
        tests: &[GRAPHS],
        faults: &[Fault(
            "a counter ends with one more",
            "numbers.insert(value, «signed(width, bits)»)",
            "signed(width, bits) + 1",
        )],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/version.rs",
        tests: &[FIXTURES, TRAPS, GRAPHS],
        faults: &[
            Fault("it is tested that a loop does not run", "all.push(if «*holds» {", "!*holds"),
            Fault(
                "the copies hand out what the fused loops do",
                "if is_copy { «mapping.value(*value)» } else { *value }",
                "*value",
            ),
        ],
    },
    Place {
        file: "transforms/src/regenerate/extents.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "the last element that a loop accesses is left out of its range",
                "&mut { MAX_TRIED })?.plus(&AffineForm::constant(«1»), 1)?;",
                "0",
            ),
            Fault(
                "of two bounds the one further inside is kept",
                "if «gap.signum() == outwards» {",
                "gap.signum() != outwards",
            ),
        ],
    },
    Place {
        file: "transforms/src/regenerate/extents_apart.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "only one of two ranges is compared",
            "let behind = «self.is_out_of_reach(b, a.start, at)»;",
            "self.is_out_of_reach(a, b.start, at)",
        )],
    },
    Place {
        file: "lowering/src/cfg/loop_fusion/proposal.rs",
        tests: &[FIXTURES, TRAPS, GRAPHS],
        faults: &[Fault(
            "the second loop runs as late as it did",
            "level.plus(&AffineForm::constant(«i64::from(late)»), 1)",
            "0",
        )],
    },
    Place {
        file: "transforms/src/tree/edit.rs",
        tests: &[FIXTURES, TREES],
        faults: &[
            Fault(
                "the second of two fused loops runs one iteration later",
                "trees.fused(program, item, second, «*shift»)?",
                "*shift + 1",
            ),
            Fault("two loops are fused, and the second runs once more", "range.end += 1;", ";"),
            Fault("a loop is distributed one item too late", "trees.distributed(item, «*at»)?", "*at + 1"),
            Fault(
                "blocks have one iteration more",
                "trees.strip_mined(program, item, «*size»)?",
                "*size + 1",
            ),
            Fault(
                "first and last iterations are mixed up",
                "trees.peeled(program, item, «*first», *last)?",
                "*last",
            ),
            Fault("an item moves behind the one it should stand before", "if «at < *to» {", "at > *to"),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/fuse.rs",
        tests: &[FIXTURES, TREES],
        faults: &[
            Fault(
                "what the first loop runs before the second is lost",
                "parts.before.extend(«self.part(own, lower.clone(), upper, trees)»);",
                "None",
            ),
            Fault("what the second loop runs behind is lost", "parts.after.append(&mut after);", ";"),
            Fault("what runs behind the fused loop runs in another order", "after.reverse();", ";"),
            Fault(
                "the second loop begins when the first does",
                "body: behind, starts: «starts?», ends: ends? };",
                "first.starts.clone()",
            ),
            Fault(
                "the second loop ends when the first does",
                "body: behind, starts: starts?, ends: «ends?» };",
                "first.ends.clone()",
            ),
            Fault(
                "the iterations of the second loop are said to be the first's",
                "|origin| «origin.shifted(shift)»",
                "Some(origin.clone())",
            ),
            Fault(
                "the body of the second loop does not run later",
                "let behind = «self.shifted(behind, shift)?»;",
                "behind",
            ),
        ],
    },
    Place {
        file: "transforms/src/tree/edit/substitute.rs",
        tests: &[FIXTURES, TREES],
        faults: &[
            Fault(
                "a body runs earlier instead of later",
                "AffineForm::level(0).plus(&AffineForm::constant(shift), «-1»)?",
                "1",
            ),
            Fault(
                "inner loops take forms for outer ones as they are",
                "Some(outer) => «with(outer)?.raised(depth)»,",
                "with(outer)",
            ),
        ],
    },
    Place {
        file: "transforms/src/regenerate.rs",
        tests: &[FIXTURES, TREES, WRITTEN, TRANSFORMATIONS],
        faults: &[
            Fault(
                "the counter of a flattened loop is as narrow as those before",
                "match «is_flattened(lead) && ty != Type::INDEX» {",
                "false",
            ),
            Fault(
                "steps that run in another order keep their flags",
                "let steps = self.body.preorder(original).filter(|op| «reordered.contains(*op, arm)»);",
                "{ let _ = (op, arm, reordered); false }",
            ),
            Fault(
                "steps that stay where they are keep their flags",
                "let moved: Vec<Op> =\n            kept.iter().flat_map(inside).filter(|op| «reordered.contains(*op, None)»)",
                "{ let _ = op; false }",
            ),
            Fault(
                "a variable is what the new loop's is",
                "let own = «map.get(info.depth as usize)».and_then",
                "map.first()",
            ),
            Fault(
                "variables of other loops are not computed",
                "if coefficient != 0 && «coefficient % scale == 0» {",
                "coefficient == *scale",
            ),
            Fault(
                "a part of a loop runs all of its iterations",
                "if «header.span == Span::Whole» && is_as_first && in_order {",
                "true",
            ),
            Fault(
                "a loop that leaps runs as its bounds say",
                "header.span == Span::Whole && is_as_first && «in_order» {",
                "true",
            ),
            Fault(
                "a loop that counts down is not written",
                "let (form, scale) = match «scale < 0» {",
                "scale < 0 && false",
            ),
            Fault(
                "what was stated of one loop is stated of all of it",
                "let same = «header.origins.len() == 1 && header.span == Span::Whole»;",
                "true",
            ),
        ],
    },
    Place {
        file: "transforms/src/regenerate/apply.rs",
        tests: &[WRITTEN, FIXTURES],
        faults: &[Fault("affine operations use any value", "«errors.has_errors()»", "false")],
    },
    Place {
        file: "transforms/src/scf_to_affine/plan.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault("an unsigned loop becomes affine", "«body.attr(op, \"unsignedCmp\").is_none()»", "true"),
            Fault("a part of a condition is all of it", "if «!holds.exact» || holds", "false"),
            Fault("any value is a dimension", "«is_valid_dim(user, value)»", "true"),
            Fault("equations are inequalities", "is_equality = «others.first()»", "None::<&AffineForm>"),
        ],
    },
    Place {
        file: "transforms/src/affine/expression.rs",
        tests: &[WRITTEN, FIXTURES],
        faults: &[
            Fault("a map may overflow on the way", "(fits_as_last || «is_in_range(&with)»)", "true"),
            Fault("a map may overflow", "if «value.is_none() && !fits(operands.range(form), 64)» {", "false"),
        ],
    },
    Place {
        file: "transforms/src/regenerate/reach.rs",
        tests: &[WRITTEN, FIXTURES],
        faults: &[
            Fault(
                "a variable is never as much as one less than its bound",
                "(&scope.between.upper, «-1»)",
                "-2",
            ),
            Fault(
                "every loop begins early",
                "«i64::try_from(begin).ok().filter(|begin| *begin <= EARLY)?»;",
                "i64::try_from(begin).unwrap_or(0).min(EARLY)",
            ),
        ],
    },
    Place {
        file: "transforms/src/regenerate/bounds.rs",
        tests: &[FIXTURES, TREES, WRITTEN, TRANSFORMATIONS],
        faults: &[
            Fault(
                "the first iteration is that below the bound",
                "rest.plus(&«absolute(form, depth)?.ceil_div(*scale)?», *step)",
                "absolute(form, depth)?.plus(&AffineForm::constant(-1), 1)?.ceil_div(*scale)?",
            ),
            Fault(
                "one iteration too many is written",
                "true => «rest.plus(&absolute(form, depth)?, 1)»,",
                "rest.plus(&absolute(form, depth)?, 1)?.plus(&AffineForm::constant(1), 1)",
            ),
            Fault("a loop over blocks has the step of the loop it was", "step: «*step»,", "1"),
            Fault("a range of one step has one value, whatever the step", "extent <= «self.step»", "1"),
            Fault("a variable may leave its type", "(«!is_sound»).then_some(Reason::StepMayWrap)", "false"),
            Fault(
                "a bound is cut off where it would not wrap",
                "End::Lower => «offset <= 0»,",
                "offset >= 0",
            ),
            Fault(
                "a sum may wrap",
                "(«self.pick(side, value, limit, at)», number)",
                "{ let _ = (side, limit); value }",
            ),
            Fault(
                "a loop may begin elsewhere than in its step",
                "if range.step > 1 && «!starts_in_type» {",
                "false",
            ),
            Fault(
                "a loop is reached wherever it stands",
                "let is_reached = «self.is_reached_as_before(lead.of)»;",
                "true",
            ),
            Fault("no bound is poison", "if !is_reached && «self.may_be_poison(range)» {", "false"),
            Fault("a wide bound is not cut off below", "if «range.0 < least.into()» {", "false"),
            Fault("a wide bound is not cut off above", "if «range.1 > greatest.into()» {", "false"),
            Fault("a dividend has 64 bits", "_ if «fits(range, 64)» => Some(64),", "range.0 <= range.1"),
            Fault(
                "the lesser of two lower bounds counts",
                "End::Lower => «arith::MaxSIOp::DEF»,",
                "arith::MinSIOp::DEF",
            ),
        ],
    },
];
