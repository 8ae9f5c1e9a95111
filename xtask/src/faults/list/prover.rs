//! Faults in the checker's prover: with each, some wrong program would be called equal.

use super::{CHANGED, Fault, NUMBERS, PAIRS, PROMISES, PROOFS, Place, RANDOM, STEPS};

const TESTS: &[&str] = &[PROOFS, PROMISES, CHANGED, RANDOM, PAIRS];

pub(super) const FAULTS: &[Place] = &[
    Place {
        file: "check/src/proof/flow.rs",
        tests: TESTS,
        faults: &[
            Fault(
                "a load sees the earliest store",
                "groups.sort_by_key(|group| «std::cmp::Reverse(group.key)»);",
                "std::cmp::Reverse((usize::MAX - group.key.0, group.key.1))",
            ),
            Fault("a load sees stores behind it", "if «other.order < access.order» {", "true"),
            Fault(
                "a load sees stores of later iterations",
                "«pair.add_lt(y(group.level), x(group.level));»",
                "pair.add_lt(x(group.level), y(group.level));",
            ),
            Fault(
                "what no store of the function wrote is not compared",
                "found.initial = «rest»;",
                "Pieces::new()",
            ),
        ],
    },
    Place {
        file: "check/src/proof/order.rs",
        tests: TESTS,
        faults: &[Fault(
            "of two places in one iteration the later one runs first",
            "} else if «first.order >= second.order» {",
            "first.order <= second.order",
        )],
    },
    Place {
        file: "check/src/proof/read/numbers.rs",
        tests: TESTS,
        faults: &[
            Fault(
                "sums of machine words never wrap",
                "let range = range_of(self.body().ctx(), ty)?;\n        if «!self.may_leave(&form, scope, range)» {",
                "true",
            ),
            Fault(
                "negative numbers are divided as if rounded down",
                "if «!is_any_sign» && self.may_leave(a, scope, NATURAL) {",
                "false",
            ),
            Fault(
                "each freeze of poison is the same number",
                "if «!self.may_freeze(op.operand(0), scope)» {",
                "false",
            ),
        ],
    },
    Place {
        file: "check/src/proof/obligations.rs",
        tests: TESTS,
        faults: &[
            Fault("the other program may trap", "if «!traps_before(matcher, trap)?» {", "false"),
            Fault(
                "the other program may access any element",
                "is_virtual && «!is_within(matcher, access)?» {",
                "false",
            ),
            Fault(
                "the other program may read what was never written",
                "!access.is_virtual && «!is_written(matcher, id)?» {",
                "false",
            ),
            Fault(
                "iterations of its parallel loops may race",
                "if let Some(op) = «race(matcher)?» {",
                "None",
            ),
            Fault(
                "accesses of buffers that overlap may change their order",
                "let turned = «overlap.turned_around(programs, params, &matcher.joints, matcher.solver)?»;",
                "None::<[OpRef<'_>; 2]>",
            ),
        ],
    },
    Place {
        file: "check/src/proof/matching/operations.rs",
        tests: TESTS,
        faults: &[
            Fault(
                "flags may be added",
                "matches!((bits(x), bits(y)), (Some(x), Some(y)) if «y & !x == 0»);",
                "x == x && y == y",
            ),
            Fault("operations on constants are alike", "if «x != y || a.ty != b.ty» {", "false"),
        ],
    },
    Place {
        file: "check/src/proof/matching/reassociate.rs",
        tests: TESTS,
        faults: &[
            Fault(
                "another order of a sum keeps its flags",
                "if «!first.promises_all_of(&second)» ||",
                "false",
            ),
            Fault("signs in sums do not count", "if «a.is_negative != b.is_negative»", "false"),
        ],
    },
    Place {
        file: "check/src/simulation.rs",
        tests: &[STEPS],
        faults: &[Fault(
            "the first program waits unseen",
            "if «stays» && let Some(state) = self.states.get(number) {",
            "false",
        )],
    },
    Place {
        file: "check/src/simulation/side.rs",
        tests: &[NUMBERS],
        faults: &[Fault(
            "what may be poison is frozen as it is",
            "false if «store.is_solid(operand)» => operand,",
            "true",
        )],
    },
    Place {
        file: "check/src/simulation/facts.rs",
        tests: &[NUMBERS],
        faults: &[Fault(
            "a choice is poison only if both values are",
            "if store.keeps_solid(node) && «!matches!(node, Node::Select(_))» => term = operand,",
            "true",
        )],
    },
    Place {
        file: "check/src/simulation/states.rs",
        tests: &[NUMBERS],
        faults: &[Fault(
            "a guess need not hold at other visits",
            "holds = holds && «other.facts.decide(store, own, false)? == Some(fact.holds)»;",
            "true",
        )],
    },
    Place {
        file: "check/src/simulation/waits.rs",
        tests: &[STEPS],
        faults: &[
            Fault("the first program waits for ever", "if «block == from» {", "false"),
            Fault("where the first program waited is forgotten", "if «!edges.contains(&edge)» {", "false"),
        ],
    },
];
