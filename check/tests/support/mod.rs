//! Reading programs and proving pairs of functions, for the tests of the prover.
#![allow(dead_code, reason = "each test file uses its part")]

use loomir_check::proof::{Proof, ProofOptions, prove};
use loomir_check::symbolic;
use loomir_ir::{Body, Context, Op, text, verifier};

// The random numbers and changes of the test harness, which stands above this crate.
#[allow(unreachable_pub, reason = "a module of a library there")]
#[path = "../../../tests/src/mutations.rs"]
pub(crate) mod mutations;
pub(crate) mod pairs;
#[allow(unreachable_pub, reason = "a module of a library there")]
#[path = "../../../testing/src/random.rs"]
pub(crate) mod random;
pub(crate) mod run;

/// Parses and verifies a program that is right.
pub(crate) fn parse(ctx: &Context, source: &str) -> Body {
    try_parse(ctx, source).unwrap_or_else(|errors| panic!("{errors}\n{source}"))
}

/// Parses and verifies a program.
pub(crate) fn try_parse(ctx: &Context, source: &str) -> Result<Body, String> {
    let body = text::parse(ctx, source, "input.mlir").map_err(|errors| errors.to_text(ctx))?;
    let errors = verifier::verify(&body);
    if errors.has_errors() { Err(errors.to_text(ctx)) } else { Ok(body) }
}

/// The functions with a body, by name.
pub(crate) fn functions(module: &Body) -> Vec<(String, Op)> {
    let blocks = module.root_ref().regions().flat_map(|region| module.blocks(region));
    let ops = blocks.flat_map(|block| module.ops(block)).map(|op| (op, module.op_ref(op)));
    let is_function = |op: loomir_ir::OpRef<'_>| matches!(op.name(), "func.func" | "llvm.func");
    ops.filter(|(_, op)| is_function(*op) && op.body().entry_block(op.region(0)).is_some())
        .filter_map(|(op, view)| Some((view.attr("sym_name")?.as_str(view.ctx())?.to_string(), op)))
        .collect()
}

/// Prints one function.
pub(crate) fn printed(module: &Body, function: Op) -> String {
    let view = module.op_ref(function);
    text::print(view.body(), &text::PrintOptions::default())
}

/// Proves the function of each program that has a name, by either means.
pub(crate) fn prove_named(before: &Body, after: &Body, name: &str, options: &ProofOptions) -> Option<Proof> {
    let find = |module: &Body| functions(module).into_iter().find(|(own, _)| own == name).map(|(_, op)| op);
    let (f, g) = (find(before)?, find(after)?);
    let proof = prove(before, f, after, g, options);
    let executed = symbolic::prove(before, f, after, g, options);
    Some(if proof.is_equal() || !executed.is_equal() { proof } else { executed })
}

/// Says in a line what came of a proof.
pub(crate) fn told(ctx: &Context, proof: &Proof) -> String {
    match proof {
        Proof::Equal { under } if under.is_empty() => "equal".to_string(),
        Proof::Equal { under } => {
            let under: Vec<_> = under.iter().map(|assumption| assumption.message()).collect();
            format!("equal if {}", under.join(" and "))
        }
        Proof::Undecided { reasons } => {
            let one = |reason: &loomir_check::Reason| {
                let place = |loc: loomir_ir::Loc| {
                    let place = loc.file_line_col(ctx);
                    place.map_or("?".to_string(), |(_, line, column)| format!("{line}:{column}"))
                };
                let other = reason.other.map_or(String::new(), |loc| format!(" (before: {})", place(loc)));
                format!(
                    "{:?} {} '{}': {}{other}",
                    reason.program,
                    place(reason.loc),
                    reason.op,
                    reason.message
                )
            };
            format!("undecided: {}", reasons.iter().map(one).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Checks that a pair is equal by its `answer`, and undecided with each wrong edit of the second
/// program. An edit replaces the first place of a text.
pub(crate) fn equal_but_not_with(
    answer: fn(&str, &str) -> String,
    before: &str,
    after: &str,
    wrong: &[(&str, &str)],
) {
    let said = answer(before, after);
    assert!(said.starts_with("equal"), "{said}\n{after}");
    for (from, to) in wrong {
        let edited = after.replacen(from, to, 1);
        assert_ne!(edited, after, "no place for the edit {from}");
        let said = answer(before, &edited);
        assert!(said.starts_with("undecided"), "proved with {from} => {to}\n{edited}");
    }
}
