//! The remarks that `loomir doc --remarks` lists: by pass, each with its meaning.
//!
//! Transformations have theirs in their tables ([`transform::ALL`]). All other passes are here.
//! A test compares the names with those of all snapshots.

use std::fmt::Write;

use loomir_transforms::transform;

use super::wrap;

/// A remark: its name, and what it says.
type Remark = (&'static str, &'static str);

/// The remarks of passes that are no transformations of single loops, below headings.
const OF_PASSES: &[(&str, &[Remark])] = &[
    (
        "All passes",
        &[
            ("Versioned", "changed loops run if a condition holds, the original ones if it does not"),
            ("Assumed", "arguments were taken not to overlap, because `alias=distinct` says so"),
            ("NotConfirmed", "a change was dropped, because the judge could not confirm the result"),
        ],
    ),
    (
        "`loop-fusion`",
        &[
            ("Fused", "two loops became one"),
            ("Merged", "two conditionals of one condition became one"),
            ("Concatenated", "two loops with equal bodies became one over both ranges"),
            ("Regrouped", "other loops were fused than the first that could be, which saves more"),
            (
                "UnrolledAndJammed",
                "two iterations of a fused loop run at a time, because its sums wait for each other",
            ),
            ("Reshaped", "the loops fuse only with iterations shifted, cut off or reversed"),
            ("InvalidDependencies", "an iteration would read or write too early; a note names two"),
            ("NonEqualTripCount", "the loops run different numbers of iterations"),
            ("NonEqualStep", "the steps of the loops differ"),
            ("UnknownTripCount", "a loop has no step or count that is known to be positive"),
            ("UnknownOffset", "the lower bounds differ by a number known only at run time"),
            ("NoCommonIterations", "one loop begins where the other has ended"),
            ("NonAdjacent", "an operation between the loops cannot move"),
            ("DifferentKinds", "one loop is parallel, or of another dialect"),
            ("CombinesValues", "a parallel loop combines values of its iterations"),
            ("FusionNotBeneficial", "the fused loop is estimated to be slower"),
            ("UnknownOrder", "equal bodies, and an order of iterations that is not known"),
            ("MayNotReturn", "an operation of the first loop may not return"),
            ("NonIdenticalGuards", "in a graph: the conditions around the loops differ"),
            ("OnlySecondCandidateIsGuarded", "in a graph: only the second loop has a condition"),
            ("NonEmptyPreheader", "in a graph: operations before the second loop cannot move"),
            ("NonEmptyExitBlock", "in a graph: operations behind the first loop cannot move"),
            ("NonEmptyGuardBlock", "in a graph: operations beside the condition cannot move"),
            ("MayThrowException", "in a graph: an operation may throw"),
            ("NotSimplifiedForm", "in a graph: the loop is not in simplified form"),
            ("NotRotated", "in a graph: the loop tests its condition at the top"),
            ("ContainsConvergentOp", "in a graph: an operation must stay with the same threads"),
        ],
    ),
    (
        "`array-privatization`",
        &[
            ("Privatized", "each iteration of a loop has a buffer of its own"),
            ("NotPrivatized", "iterations share the buffer, for the reason given"),
        ],
    ),
    (
        "`array-padding`",
        &[
            ("Padded", "the rows of a local array became longer"),
            ("NotPadded", "the array stays, for the reason given"),
        ],
    ),
    (
        "`loop-distribute`",
        &[
            ("Distributed", "a loop became several"),
            ("Expanded", "a value is handed from one new loop to the next in an array"),
            ("InvalidDependencies", "all parts of the loop depend on each other"),
            ("ValuesCross", "values would have to be handed on, and `expand` does not allow it"),
        ],
    ),
    (
        "`array-contraction`",
        &[
            ("Contracted", "an array became values"),
            ("Erased", "an array that nothing reads is gone"),
            ("Shrunk", "an array has as many elements as are alive at a time"),
            ("Escapes", "the array is known outside of the function"),
            ("OtherUse", "an operation uses the array as a whole"),
            ("FullSize", "most elements of the array are alive at a time"),
            ("Unbounded", "the number of elements alive at a time has no known bound"),
            ("TooHard", "a limit on the work was reached"),
        ],
    ),
    (
        "`loop-tile-by`",
        &[
            ("TiledBy", "the nest was tiled by sizes that are known when the program runs"),
            ("NotTiledBy", "loops not tiled, for the reason given"),
        ],
    ),
    ("`scalar-promotion`", &[("Promoted", "an element stays in a register while a loop runs")]),
    (
        "`loop-idioms`",
        &[
            ("Idiom", "loops became an operation that does the same"),
            ("NoIdiom", "loops look like an operation, and may do something else"),
        ],
    ),
    (
        "`loop-pack`",
        &[
            ("Packed", "elements are copied to a local array in the order of reading"),
            ("NotPacked", "elements are not copied, for the reason given"),
        ],
    ),
    (
        "`inline`",
        &[
            ("NotInlined", "the call cannot be replaced by the function"),
            ("NeverInline", "the function or the call forbids it"),
            ("TooCostly", "the function is larger than the threshold"),
        ],
    ),
    (
        "`loop-unroll`, in a graph",
        &[
            ("FullyUnrolled", "the loop is gone: its iterations stand one after the other"),
            ("PartialUnrolled", "several iterations stand in the loop"),
            ("Peeled", "the first iterations stand before the loop"),
            ("NotUnrolled", "the loop stays, for the reason given"),
            ("UnrollDecision", "the numbers behind the decision"),
            ("FullUnrollAsDirectedTooLarge", "the loop would become too large, as directed"),
            ("UnrollAsDirectedTooLarge", "the loop would become too large, with the count as directed"),
            (
                "CantFullUnrollAsDirectedRuntimeTripCount",
                "the loop was to be unrolled fully, and its trip count is not constant",
            ),
            ("DifferentUnrollCountFromDirected", "another count than the directed one is used"),
        ],
    ),
    (
        "`loop-unroll-and-jam`, in a graph",
        &[
            ("NotCandidate", "the loop has no single loop inside, or another form"),
            ("InvalidDependencies", "an iteration would run too early"),
            ("NotUnrolled", "the loop stays, for the reason given"),
        ],
    ),
    (
        "`check-rewiring`",
        &[
            ("Equal", "fused on the tree and on the graph, the loops do the same"),
            ("Open", "the two ways were not compared"),
        ],
    ),
    (
        "`scf-parallel-to-threads`",
        &[
            ("Threaded", "a parallel loop is divided between threads"),
            ("NotThreaded", "the loop stays on one thread, for the reason given"),
        ],
    ),
    ("`obey-directives`", &[("Obeyed", "a directive was carried out")]),
    (
        "The command `optimize`",
        &[
            ("Optimized", "the function became the one that is estimated to be fastest"),
            ("Approximated", "a function that may be approximate became arithmetic"),
            ("NotOptimized", "the function is estimated to be fastest as it is"),
        ],
    ),
    (
        "Raising of graphs",
        &[
            ("FunctionKept", "the function stays a graph, and its loops are not counted"),
            ("Endless", "nothing leaves the loop"),
            ("SeveralExits", "the loop is left in several places"),
            ("LeavesInTheMiddle", "the loop is left behind operations with an effect"),
            ("DependsOnData", "the condition depends on what the loop computes or reads"),
            ("BoundChanges", "the bound changes while the loop runs"),
            ("CounterMayWrap", "the counter may go past the largest number"),
            ("TooLong", "the count is more than numbers of 64 bits hold"),
            ("NoExpression", "the count cannot be written as operations before the loop"),
            ("NotAffine", "accesses whose subscripts are no affine forms, and their number"),
            ("NoCounter", "no value of the loop is a counter"),
        ],
    ),
];

/// Returns the reference of remarks.
pub(super) fn page() -> String {
    let mut text = "# Remarks\n\n".to_owned();
    wrap(
        &mut text,
        "A remark has a name. Refusals show theirs in brackets; `--remarks=yaml` and `json` show all. \
         Names are those of LLVM if it has one for the reason.",
    );
    text.push('\n');
    for (pass, remarks) in OF_PASSES {
        let _ = writeln!(text, "## {pass}\n");
        list(&mut text, remarks);
        text.push('\n');
    }
    let mut own: Vec<_> = transform::ALL.iter().map(|(_, own)| own).collect();
    own.sort_by_key(|own| own.name);
    text += "## Transformations of single loops\n\n";
    for info in own {
        wrap(
            &mut text,
            &format!("- `{}`: `{}`, and `{}`: {}", info.name, info.passed, info.missed, info.what_missed),
        );
    }
    text.push('\n');
    text
}

/// Returns the list of the remarks of a pass. Empty if it has none of its own.
pub(super) fn of(pass: &str) -> String {
    let mut text = String::new();
    let heading = format!("`{pass}`");
    if let Some((_, remarks)) = OF_PASSES.iter().find(|(own, _)| *own == heading) {
        list(&mut text, remarks);
    }
    if let Some((_, info)) = transform::ALL.iter().find(|(_, info)| info.name == pass) {
        wrap(&mut text, &format!("- `{}`: the loop was {}", info.passed, info.then));
        wrap(
            &mut text,
            &format!("- `{}`: {}, for the reason given", info.missed, info.what_missed.to_lowercase()),
        );
    }
    text
}

/// Adds remarks as entries of a list.
fn list(text: &mut String, remarks: &[Remark]) {
    for (name, says) in remarks {
        wrap(text, &format!("- `{name}`: {says}"));
    }
}
