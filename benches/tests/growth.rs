//! Reading, verifying, printing, copying and rewriting take time in proportion to the program,
//! whatever its shape. Judging an edit takes time in proportion to the nests that it concerns.

use loomir_benches::nests;
use loomir_benches::round_trip::{STAGES, least_of};
use loomir_benches::shapes::Shape;

/// Eight times the operations would cost sixty-four times as much if anything were quadratic. What
/// is linear stays below half of that, even where the smaller program fits a cache and the larger
/// one doesn't.
#[test]
fn work_grows_linearly_with_the_operations() {
    for shape in Shape::ALL {
        let mut failure = None;
        // Where something else ran in between, another try.
        for _ in 0..4 {
            let [some, more] = [4000, 32000].map(|count| least_of(3, &shape.program(count)));
            let grows = |stage: usize| more[stage].as_secs_f64() / some[stage].as_secs_f64();
            failure = (0..STAGES.len()).find(|stage| grows(*stage) > 32.0).map(|stage| (stage, grows(stage)));
            if failure.is_none() {
                break;
            }
        }
        if let Some((stage, factor)) = failure {
            let (name, stage) = (shape.name(), STAGES[stage]);
            panic!("{name}: eight times the operations cost {factor:.1} times the time to {stage}");
        }
    }
}

/// An edit concerns one nest or two. Eight times the nests cost eight times as much to raise, and
/// the edits not much more than before.
#[test]
fn edits_are_judged_in_proportion_to_the_nests_that_they_concern() {
    let functions = [50, 400].map(nests::function);
    let least = |function| (0..3).map(|_| nests::judge(function, 1_000).time).min().unwrap_or_default();
    let grows = || least(&functions[1]).as_secs_f64() / least(&functions[0]).as_secs_f64();
    // Where something else ran in between, another try.
    let factor = (0..4).map(|_| grows()).find(|factor| *factor < 8.0);
    assert!(factor.is_some(), "eight times the nests cost eight times the time to judge an edit");
    let judged = nests::judge(&functions[0], 1_000);
    assert!(judged.legal > 300 && judged.illegal > 50, "{judged:?}");
}
