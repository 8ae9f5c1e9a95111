//! The way out of a refusal: what in the program, or on the command line, would have to change.
//!
//! It comes from the data of the remark alone.

use serde_json::Value;

/// A refusal in plain words, and the ways out.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Advice {
    /// The reason, in words that need no knowledge of compilers.
    pub(super) why: Option<String>,
    /// The changes, any of which may help.
    pub(super) changes: Vec<String>,
}

/// Returns the advice on a remark. Empty if nothing was refused.
pub(super) fn of(remark: &Value) -> Advice {
    let args = &remark["args"];
    let is_refusal = remark["kind"] != "passed" && remark["name"].is_string();
    if !is_refusal {
        return Advice::default();
    }
    if let Some(fault) = args["faults"].get(0) {
        let mut advice = of_fault(fault, args);
        let is_between = args["between"].is_object();
        if is_between {
            let op = args["between"]["op"].as_str().unwrap_or("the operation");
            advice.changes.insert(
                0,
                format!("Move '{op}' before the first loop or behind the second, if that is what you mean."),
            );
        }
        advice.changes.extend(remark["help"].as_str().map(sentence));
        return advice;
    }
    let (why, changes) = of_name(remark["name"].as_str().unwrap_or_default(), args);
    let mut changes: Vec<String> = changes.iter().map(|change| (*change).to_owned()).collect();
    changes.extend(remark["help"].as_str().map(sentence));
    Advice { why: why.map(str::to_owned), changes }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// Returns the advice on two operations whose order would change, or on another fault.
fn of_fault(fault: &Value, args: &Value) -> Advice {
    let certain = fault["certain"].as_bool().unwrap_or_default();
    let (why, change) = match (fault["kind"].as_str(), fault["cause"].as_str()) {
        (Some("order"), Some("element")) => return of_element(fault, args),
        (Some("order"), Some("object")) => (
            "Both loops touch one array, but at places that cannot be computed beforehand. They may be the same element in the wrong order.",
            "Write subscripts as sums of loop variables, their multiples and values from before the loops. Then it is known which elements they name.",
        ),
        (Some("order"), Some("overlap")) => (
            "The two arrays may be one and the same memory. Then one loop would see what the other one writes, in another order than before.",
            "Let a test decide when the program runs (--alias=version), or promise that they are distinct (--alias=distinct, or the attribute llvm.noalias).",
        ),
        (Some("order"), Some("world")) => (
            "One of the operations may do anything, such as printing or ending the program. Its order must not change.",
            "Move the operation out of one of the two loops, if the program means the same then.",
        ),
        (Some("unknown"), _) => (
            "The question which iterations touch one element was too hard to be decided within the limits.",
            "Simplify the subscripts: large multipliers, remainders and quotients make them hard.",
        ),
        (Some("extent"), _) => (
            "How often a loop runs, or which way a condition goes, is known only when the program runs.",
            "Compute bounds and conditions before the loops.",
        ),
        (Some("carried"), _) => (
            "The loop hands a value from each iteration to the next one, so its iterations have to stay whole and in order.",
            "Keep the value in memory instead, or split the loop by hand.",
        ),
        (Some("unavailable"), _) => (
            "A value would be used before it is computed.",
            "Compute the value before the first of the two loops.",
        ),
        _ => {
            let why = if certain {
                "The program would do something else."
            } else {
                "The program might do something else."
            };
            return Advice { why: Some(why.to_owned()), changes: Vec::new() };
        }
    };
    Advice { why: Some(why.to_owned()), changes: vec![change.to_owned()] }
}

/// Returns the advice on one element that both loops touch.
fn of_element(fault: &Value, args: &Value) -> Advice {
    let would = if fault["certain"] == true { "would" } else { "could" };
    let (first, second) = (&fault["first"], &fault["second"]);
    let does = |end: &Value, writes: &'static str, reads: &'static str| {
        if end["writes"] == true { writes } else { reads }
    };
    let element = element(fault);
    let which = |end: &Value| iteration(&end["iteration"]);
    let why = format!(
        "{} of the second loop {} {element}. {} of the first loop {} it, and has to come first. In the fused loop it {would} come too late.",
        which(second),
        does(second, "writes", "reads"),
        which(first),
        does(first, "writes", "reads"),
    );
    let mut changes = Vec::new();
    match (args["shift"].as_i64(), args["max_shift"].as_i64()) {
        (Some(shift), Some(most)) => changes.push(format!(
            "Let the second loop run {shift} iterations later: --max-shift={shift}. The limit is {most} now."
        )),
        _ => changes.push("Let the second loop touch the element in the same iteration as the first or in a later one, or only a few iterations earlier. Then a shift keeps the order.".to_owned()),
    }
    changes.push(match (first["writes"] == true, second["writes"] == true) {
        (true, false) => "Or run the loop that reads in the order in which the other one writes.",
        (false, true) => "Or write the results of the second loop to another array. The first loop then still reads the old values.",
        _ => "Or let the two loops write to different arrays.",
    }.to_owned());
    Advice { why: Some(why), changes }
}

/// Returns the name of the element of a fault.
pub(super) fn element(fault: &Value) -> String {
    let numbers = fault["element"].as_array().map(|all| all.iter().map(Value::to_string).collect::<Vec<_>>());
    let of = fault["memref"].as_str().map(|name| format!(" of {name}")).unwrap_or_default();
    format!("element [{}]{of}", numbers.unwrap_or_default().join(", "))
}

/// Returns the name of an iteration: the values of the loops' variables.
pub(super) fn iteration(iteration: &Value) -> String {
    let one = |own: &Value| match own["number"].as_i64() {
        Some(number) => format!("number {number}"),
        None => own.to_string(),
    };
    let all: Vec<String> = iteration.as_array().into_iter().flatten().map(one).collect();
    match all.as_slice() {
        [] => "Some iteration".to_owned(),
        [one] => format!("Iteration {one}"),
        all => format!("Iteration ({})", all.join(", ")),
    }
}

/// Returns the reason and the ways out for the name of a refusal without a fault.
fn of_name(name: &str, args: &Value) -> (Option<&'static str>, &'static [&'static str]) {
    match name {
        "FusionNotBeneficial" => (
            Some("Fusing is allowed here, but the estimate says that the program would be slower."),
            &[
                "Fuse anyway with --fusion-profitability=always, and measure. If loops run much shorter or longer than assumed, measure the counts: 'loomir run --profile', then --cost=profile.",
            ],
        ),
        "NonEqualTripCount" if args["trip_counts"].is_array() => (
            Some(
                "The loops run a different number of times, and the iterations that only one has cannot be split off.",
            ),
            &["Give both loops the same bounds, or run the additional iterations in a loop of their own."],
        ),
        "NonEqualTripCount" => (
            Some(
                "The loops run a different number of times. Fusing them would save little, or the additional iterations cannot be split off.",
            ),
            &["Give both loops the same bounds."],
        ),
        "NonEqualStep" => (
            Some("The loops advance by different steps, and their trip counts are not the same number."),
            &[
                "Let both loops advance by the same step, for example by one with a multiple of the variable in the subscripts.",
            ],
        ),
        "UnknownTripCount" => (
            Some("How often a loop runs is not known when it begins."),
            &["Write it as a counted loop, with a positive constant step: scf.for or affine.for."],
        ),
        "NoCommonIterations" => (
            Some("One loop begins where the other has ended, so no iteration of one meets one of the other."),
            &["Let both loops run the whole range, with a condition where they differ, and measure."],
        ),
        "UnknownOffset" => (
            Some(
                "Which iterations run together depends on a number that is only known when the program runs, and the steps are not one.",
            ),
            &["Let both loops begin at the same number, or at numbers with a constant difference."],
        ),
        "DifferentKinds" => (
            Some("A parallel loop and one that runs in order cannot be one operation."),
            &["Write both loops with the same operation."],
        ),
        "NonAdjacent" => (
            Some(
                "An operation between the loops can be moved neither before the first nor behind the second.",
            ),
            &["Move the operation yourself, if its order does not matter to you."],
        ),
        "InvalidDependencies" if args["use"].is_object() => (
            Some("The second loop uses a result that the first one has only at its end."),
            &[
                "Write the part of the second loop that does not need the result as a loop of its own, before the rest. That part can be fused.",
            ],
        ),
        "InvalidDependencies" if args["tests"].is_number() => (
            Some("Many conditions would have to be tested before the loop."),
            &["Raise --max-tests, or promise that arrays are distinct: llvm.noalias, or --alias=distinct."],
        ),
        "CombinesValues" => (
            Some(
                "The iterations of the parallel loop combine their values. Fusion keeps such a loop in one operation, and reads 'scf.parallel' whose values are combined by one operation each.",
            ),
            &["Give both loops the same dimensions, or write a sequential loop with iter_args."],
        ),
        _ => of_loop(name),
    }
}

/// Returns the same for a loop by itself, as LLVM IR has it.
fn of_loop(name: &str) -> (Option<&'static str>, &'static [&'static str]) {
    match name {
        "SeveralExits" | "LeavesInTheMiddle" => (
            Some("The loop can be left early, so it is not known beforehand how often it runs."),
            &["Test for the end in one place, at the end of an iteration."],
        ),
        "DependsOnData" => (
            Some("The data decides when the loop ends, as in a search."),
            &["Compute the number of iterations before the loop, if it can be known."],
        ),
        "CounterMayWrap" | "TooLong" => (
            Some("The counter may exceed its type, and then the loop would run differently."),
            &[
                "Count in a signed type of the width of a pointer, such as 'long' or 'ptrdiff_t', or with '!=' instead of '<='.",
            ],
        ),
        "BoundChanges" => (
            Some("The bound of the loop changes while it runs."),
            &["Copy the bound to a local variable before the loop."],
        ),
        "NotAffine" => (
            Some("Some elements are named by subscripts that are not sums of multiples of loop variables."),
            &["Write these subscripts as such sums, with values from before the loops."],
        ),
        _ => (None, &[]),
    }
}
