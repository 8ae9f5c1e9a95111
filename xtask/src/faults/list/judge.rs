//! Faults in what decides: the judges of trees, schedules and storage.

use super::{CONTRACTION, FIXTURES, Fault, INSTANCES, PROMOTION, Place, SCHEDULES, TRAPS, TREES};

pub(super) const FAULTS: &[Place] = &[
    Place {
        file: "transforms/src/legality/storage/promoted.rs",
        tests: &[PROMOTION, FIXTURES],
        faults: &[
            Fault(
                "a guarded access runs in every iteration",
                "if «self.body.parent_op(access.op) != Some(loop_op)» || !self.is_invariant(access) {",
                "false",
            ),
            Fault("other accesses may touch the element", "if «group.iter().any(meets)» {", "false"),
        ],
    },
    Place {
        file: "transforms/src/legality/pairs.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[Fault(
            "an access does not depend on itself",
            "if is_one_kind { «&others[i..]» }",
            "&others[i + 1..]",
        )],
    },
    Place {
        file: "transforms/src/legality/cases.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault("copies for both outcomes run", "key == own && «holds != outcome»", "false"),
            Fault("threads never come together", "if «may_be_convergent(part, whole.statement)» {", "false"),
        ],
    },
    Place {
        file: "transforms/src/legality/scope.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "the sides of a frozen condition may be apart",
            "find(|(of, holds)| «!holds && holding.contains(of)»)",
            "false && holding.contains(of) && *holds",
        )],
    },
    Place {
        file: "transforms/src/tree/edit/unswitch.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "conditions of one form are one condition",
            "if «program.if_info(info.alike).has_several_decisions» {",
            "false",
        )],
    },
    Place {
        file: "transforms/src/regenerate/conditional.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "a condition that need not be decided is no poison",
            "let may_be_new = «is_outside && !self.is_certain(old)»;",
            "false && is_outside",
        )],
    },
    Place {
        file: "transforms/src/legality/schedule.rs",
        tests: &[SCHEDULES, TRAPS, FIXTURES],
        faults: &[
            Fault(
                "of two pieces only the first may have run first",
                "if !is_one {\n                    «verdict = verdict.or(self.turned_around(b, a, oracle));»",
                "();",
            ),
            Fault(
                "pieces at one time keep their order",
                "    «found.extend(equal);»\n    found",
                "drop(equal);",
            ),
            Fault(
                "a later place does not count",
                "parted_by(first, second, «Order::Less»).0",
                "Order::Equal",
            ),
            Fault(
                "levels before the one at which instances part are not equal",
                "«equal.push(Relation { first, is: Order::Equal, second });»",
                "();",
            ),
            Fault("a time may forget iterations", "find(|own| «!own.counts_alike()»)", "false"),
            Fault(
                "what may not return is passed by what is late",
                "verdict.or(«ends_early(a, b)»)",
                "Verdict::legal()",
            ),
            Fault(
                "what was seen comes behind what may not return",
                "«a.barrier.zip(b.late).or_else(|| a.seen.zip(b.barrier))»",
                "a.barrier.zip(b.late)",
            ),
            Fault(
                "any store replaces another one",
                "any(|other| «replaces(&other.class, &own.class)»)",
                "other.class.writes",
            ),
            Fault(
                "any store replaces all bytes",
                "«self.replaces && other.replaces && time == others» && places",
                "time == others",
            ),
            Fault(
                "what is not tested is as good as tested",
                "if «assumed.iter().all(|own| tested.contains(own))» =>",
                "true",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/order.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault(
                "only the first of two accesses may come first",
                "if is_one { verdict } else { «verdict.or(turned_around(part, b, a, overlap, tested))» }",
                "verdict",
            ),
            Fault(
                "the order of the program is turned around",
                "let equal = parted(pairs, «Order::Less», &mut found);",
                "Order::Greater",
            ),
            Fault(
                "the order of the tree is turned around",
                "(pair, false)), «Order::Greater», &mut found);",
                "Order::Less",
            ),
            Fault(
                "the place in the tree is turned around",
                "later(levels, around, «b.1 < a.1»)",
                "a.1 < b.1",
            ),
            Fault(
                "the place in the program does not count",
                "if «first.statement < second.statement» {",
                "false",
            ),
            Fault(
                "inner loops are looked at whatever the outer ones do",
                "equal.push(Relation { first, is: Order::Equal, second });",
                ";",
            ),
            Fault(
                "only the outermost loop of the program orders",
                "let loops = «part.loops_around_both(first.statement, second.statement)».into_iter()",
                "{ let mut all = part.loops_around_both(first.statement, second.statement); all.truncate(from + 1); all }",
            ),
            Fault(
                "only the outermost loop of the tree orders",
                "(0..«around.len() as u32»).map(|k|",
                "around.len().min(1) as u32",
            ),
            Fault(
                "iterations in any order keep an order",
                "if «around.iter().any(|own| own.in_any_order)» {",
                "false",
            ),
            Fault(
                "what runs in any order has none with anything else",
                "!(«is_free && behind.in_any_order»)",
                "behind.in_any_order",
            ),
            Fault("iterations share no object", "before.part_within(«made_in»)", "usize::MAX"),
            Fault("a condition goes one way in all iterations", "Some((«map», others))\n", "&map[..0]"),
            Fault("any two conditions are opposite", "== OpaqueCondition::Condition(of, «!holds»))", "holds"),
        ],
    },
    Place {
        file: "transforms/src/legality.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault(
                "flow and anti dependences do not count",
                "(a.writes || b.writes)",
                "(a.writes && b.writes)",
            ),
            Fault("output dependences do not count", "(a.writes || b.writes)", "(a.writes != b.writes)"),
            Fault(
                "updates by different operations may change places",
                "a.update == b.update",
                "b.update.is_some()",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/storage/forward.rs",
        tests: &[FIXTURES, CONTRACTION],
        faults: &[
            Fault(
                "writes between a store and a load are not looked at",
                "clear.then_some(candidate)",
                "Some(candidate)",
            ),
            Fault(
                "a store is overwritten though it is read before",
                "return «none_of(&mut between, |id| flow.may_meet(store, id, until.depth()))»;",
                "true",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/storage/flowing.rs",
        tests: &[FIXTURES, CONTRACTION],
        faults: &[
            Fault("a window is one element too small", "Ok(«window.checked_add(1)»)", "Some(window.max(1))"),
            Fault(
                "a value of another iteration counts as the same",
                "(sure && «self.is_current(value, access, &sources, &clock)»)",
                "true",
            ),
            Fault(
                "a store that somebody sees in the end goes",
                "unseen.retain(|store| «*store != seen»)",
                "true || *store != seen",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/atomic_updates.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[Fault(
            "what is left of a torn update may change places",
            "class.update.filter(|_| whole.contains(&(place, *op)))",
            "class.update",
        )],
    },
    Place {
        file: "transforms/src/legality/reordered.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault(
                "what is promised of updates holds in any order",
                "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal()",
                "updates.len() > MAX_UPDATES",
            ),
            Fault(
                "what is promised of updates holds in no order",
                "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal()",
                "updates.len() > MAX_UPDATES || !either_way(part, a, b, overlap, &[]).is_legal() || !updates.is_empty()",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/changed_region.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault("items that change places are not looked at", "(x < y) != (a.item < b.item)", "false"),
            Fault(
                "nothing is looked at inside a changed item",
                "            _ => «true»,\n",
                "a.item != b.item",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/coverage.rs",
        tests: &[FIXTURES, TREES, INSTANCES],
        faults: &[
            Fault(
                "lost iterations are not missed",
                "Times::Once if verdict.is_legal() => «verdict.or(nothing_lost(part, leaves, whole))»,",
                "verdict",
            ),
            Fault(
                "repeated iterations are not noticed",
                "for other in «leaves[..=i].iter()».filter(|_| times == Times::Once) {",
                "leaves[..0].iter()",
            ),
            Fault("one iteration too many is not noticed", "runs.system.set.add_lt(broken, «0»);", "-1"),
            Fault(
                "a statement of another part is not noticed",
                "&[AffineForm::constant(«-1»)], exact, Witness::Repeated",
                "0",
            ),
            Fault("any loops will do for a statement", "wanted == Some(own)", "wanted.is_some()"),
        ],
    },
    Place {
        file: "transforms/src/legality/merge.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "what runs in later iterations does not stand in the way",
            "apart(first, second, &[], loop_context, oracle)",
            "merged(first, second, 0, loop_context, oracle)",
        )],
    },
    Place {
        file: "transforms/src/legality/judge.rs",
        tests: &[FIXTURES, INSTANCES],
        faults: &[
            Fault("all that is assumed counts as tested", "if «assumed.iter().all(is_given)» =>", "true"),
            Fault(
                "what the user vouches for does not count",
                "«self.alias == AliasMode::Distinct» &&",
                "false",
            ),
            Fault(
                "what could be tested counts as what the user said",
                "«self.alias == AliasMode::Distinct» &&",
                "self.alias != AliasMode::May",
            ),
            Fault(
                "updates that change places keep their flags",
                "let reordered = «self.reordered(trees, tree)»;",
                "Reordered::default()",
            ),
        ],
    },
];
