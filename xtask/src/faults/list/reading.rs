//! Faults in raising programs and in reading accesses, which the checker has to find.

use super::{FIXTURES, Fault, KERNELS, PAIRS, Place};

pub(super) const FAULTS: &[Place] = &[
    Place {
        file: "transforms/src/access/reader.rs",
        tests: &[KERNELS, PAIRS],
        faults: &[
            Fault(
                "a loop is read as one iteration shorter",
                "push(&mut domain, «last.and_then(|f| f.plus(&AffineForm::constant(1), -1))»);",
                "last.and_then(|f| f.plus(&AffineForm::constant(2), -1))",
            ),
            Fault(
                "the lower bound of a loop is read as zero",
                "(Some(lower), Some(step)) if !unsigned => «lower.plus(&level, step)»,",
                "lower.minus(lower).and_then(|zero| zero.plus(&level, step))",
            ),
            Fault(
                "the step of a loop is read as one",
                "let step = «self.forms.of_step(bounds.step)»;",
                "self.forms.of_step(bounds.step).map(|_| 1)",
            ),
            Fault(
                "stores are read as loads",
                "let (body, analyses, writes) = (self.body, self.analyses, «access.stored.is_some()»);",
                "access.stored.is_some() && access.subscripts.operands.len() > 1",
            ),
            Fault(
                "other effects of operations are not read",
                "let writes = «effect.kind != EffectKind::Read»;",
                "false",
            ),
        ],
    },
    Place {
        file: "transforms/src/affine.rs",
        tests: &[KERNELS, PAIRS],
        faults: &[
            Fault(
                "sums in maps are read as differences",
                "AffineExprKind::Add(..) => «a.plus(&b, 1)»,",
                "a.minus(&b)",
            ),
            Fault(
                "multiples in maps are read as the number itself",
                "(_, Some(factor)) => «a.times(factor)»,",
                "a.times(factor.signum())",
            ),
            Fault(
                "the second of several subscripts is read as the first",
                "data.results.iter().map(|expr| «form(*expr)».filter(followed)).collect()",
                "form(data.results.first().copied().unwrap_or(*expr))",
            ),
        ],
    },
    Place {
        file: "transforms/src/access/base.rs",
        tests: &[KERNELS, PAIRS, FIXTURES],
        faults: &[
            Fault(
                "arguments never overlap",
                "(Argument(_), Argument(_) | Global(_)) | (Global(_), Argument(_)) => «Overlap::May»,",
                "Overlap::Apart",
            ),
            Fault("a call knows no buffer", "(World, _) | (_, World) => «Overlap::May»,", "Overlap::Apart"),
        ],
    },
    Place {
        file: "transforms/src/tree/raise.rs",
        tests: &[KERNELS, PAIRS],
        faults: &[Fault(
            "statements are raised without what they touch",
            "let effects = «self.reader.effects(*op, place.depth)»;",
            "if place.depth > 1 { Effects::default() } else { self.reader.effects(*op, place.depth) }",
        )],
    },
];
