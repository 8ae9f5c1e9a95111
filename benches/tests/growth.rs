//! Reading, verifying, printing, copying and rewriting take time in proportion to the program,
//! whatever its shape.

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
