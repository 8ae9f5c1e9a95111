//! Faults in tiles (their separation, sizes known at run time, Morton and Hilbert order), in
//! results of parallel loops, and in small numbers.

use super::{FIXTURES, Fault, INSTANCES, Place, TRANSFORMATIONS};

pub(super) const FAULTS: &[Place] = &[
    Place {
        file: "transforms/src/tree/edit/separate.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault(
                "the first partial tile counts as full",
                "(&mut self.upper, «rest.floor_div(size)?.plus(&one, 1)?», rest",
                "rest.floor_div(size)?.plus(&one, 1)?.plus(&one, 1)?",
            ),
            Fault(
                "tiles before the full ones are lost",
                "let all = «before.into_iter()».chain([whole])",
                "Vec::new().into_iter()",
            ),
            Fault(
                "the only partial tile is taken for the last of several",
                "let is_one = begins_at_zero && «own.is_exact» &&",
                "!own.is_exact",
            ),
            Fault(
                "a bound is least at the other end of a loop",
                "constant(if «coefficient > 0» { first }",
                "coefficient < 0",
            ),
            Fault(
                "partial tiles stay whole inside",
                "if «!all» {\n                return Some(trees.nested",
                "true",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/permutable.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault("a tiled loop is not judged", "filter(|own| «*own > 0»)", "*own > 1"),
            Fault(
                "updates in tiles keep what they promise",
                "«reordered.extend(fast.iter().chain(fallback));»",
                "()",
            ),
        ],
    },
    Place {
        file: "transforms/src/transform/tile_by/write.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault("a size may be nothing", "&[given, «Index::Number(1)»]", "Index::Number(i64::MIN)"),
            Fault(
                "a size may be more than all iterations",
                "MinSIOp::DEF, &[Index::Value(at_least_one), «Index::Value(most)»]",
                "Index::Number(i64::MAX)",
            ),
            Fault(
                "the last tile is as long as the others",
                "let length = compute(arith::MinSIOp::DEF, «left», Index",
                "Index::Value(size)",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/band.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[
            Fault("digits may overlap", "let is_above = «*weight > inner»;", "true"),
            Fault("a dependence may go back in an inner loop", "!«(from..depth)».any(|back|", "(from..from)"),
            Fault(
                "the order of the text may be turned",
                "let turns_text = «first.statement < second.statement && other_place < place»;",
                "false",
            ),
        ],
    },
    Place {
        file: "transforms/src/legality/scheduled.rs",
        tests: &[FIXTURES, INSTANCES, TRANSFORMATIONS],
        faults: &[Fault(
            "loops along a curve keep their order",
            "in_any_order: «own.in_any_order()»,",
            "*parallel",
        )],
    },
    Place {
        file: "transforms/src/regenerate/curve.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[
            Fault("squares that stand out run whole", "bounds.extend((«!holds»).then_some", "false"),
            Fault(
                "the last row of a square is not compared",
                "{ most <= 0 } else { «least > last» }",
                "least >= last",
            ),
            Fault("rows are columns", "self.along(&[(outer, numbers[«0»]), (inner", "1"),
        ],
    },
    Place {
        file: "transforms/src/regenerate/curve/hilbert.rs",
        tests: &[FIXTURES, TRANSFORMATIONS],
        faults: &[Fault("the row is the column", "let row = «bits.odd(&[column, b], false)»;", "column")],
    },
    Place {
        file: "transforms/src/legality/scope/reduced.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "what an iteration contributes need not be there",
            "«self.handed_on(info.block, &map)»",
            "Ok(())",
        )],
    },
    Place {
        file: "transforms/src/regenerate/reductions.rs",
        tests: &[FIXTURES],
        faults: &[Fault(
            "each result begins with the first one's value",
            "let own = scf::ParallelOp(«self.program.loop_info(origin.of).op»).initVals",
            "self.program.loop_info(header.origins[0].of).op",
        )],
    },
    Place {
        file: "transforms/src/affine/small.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault("no number is tested to be small", "if «certain.1 > most» {", "false"),
            Fault("no number is tested to be positive", "if «certain.0 < least» {", "false"),
            Fault(
                "the numbers behind a bound are not tested",
                "Bound::Value(value) => «pending.push(value)»,",
                "()",
            ),
        ],
    },
    Place {
        file: "transforms/src/packing/rows.rs",
        tests: &[FIXTURES],
        faults: &[
            Fault(
                "all rows are copied to the first part of a tile",
                "let all = [number(«place / PART»), AffineExpr",
                "0",
            ),
            Fault("the counter is that of the tile", "body.set_operand(sum, 1, «column»);", "tile"),
        ],
    },
];
