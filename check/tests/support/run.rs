//! Comparing two functions by execution, as an oracle for proofs.

use loomir_dialects::interp::{self, ArgSpec, FaultKind, Limits};
use loomir_ir::{Body, Context, Type, TypeKind, text};

use super::random::Random;

/// One argument as text; buffers are distinct.
fn argument(ctx: &Context, ty: Type, random: &mut Random, case: usize) -> String {
    let seed = random.bits() >> 1;
    match ty.kind(ctx) {
        TypeKind::MemRef { .. } => {
            let contents = if case == 0 { "iota".to_string() } else { format!("random:{seed}") };
            let shape = text::type_to_string(ctx, ty);
            // Unknown sizes are large enough for most subscripts.
            if shape.contains('?') { format!("{contents} : {}", shape.replace('?', "12")) } else { contents }
        }
        TypeKind::Float(_) => "1.5".into(),
        TypeKind::Index => random.range(-1, 9).to_string(),
        _ if ty.integer_width(ctx) == Some(1) => (seed % 2).to_string(),
        _ => random.range(-2, 9).to_string(),
    }
}

/// Returns how a run ends; `None` if nothing can be said.
fn ending(module: &Body, entry: &str, input: &[String]) -> Option<Result<String, String>> {
    let limits = Limits { steps: 400_000, ..Limits::default() };
    let specs: Result<Vec<ArgSpec>, _> =
        input.iter().map(|text| ArgSpec::parse(module.ctx(), text)).collect();
    match specs.and_then(|specs| interp::run(module, entry, &specs, &limits)) {
        Ok(outcome) => Some(Ok(outcome.to_text())),
        Err(fault) => match fault.kind {
            FaultKind::Trap => Some(Err("trap".to_string())),
            FaultKind::Undefined => {
                let text = loomir_ir::Diagnostics::from(fault.diagnostic).to_text(module.ctx());
                Some(Err(format!("undefined: {text}")))
            }
            _ => None,
        },
    }
}

/// Lets some buffers be others of one type, or begin further on in others.
fn share(before: &Body, parameters: &[Type], alone: &[bool], input: &mut [String], random: &mut Random) {
    let is_buffer =
        |k: usize| matches!(parameters[k].kind(before.ctx()), TypeKind::MemRef { .. }) && !alone[k];
    for k in 1..parameters.len() {
        let j = random.below(k);
        if !is_buffer(k) || !is_buffer(j) || input[j].starts_with('@') || random.chance(30) {
            continue;
        }
        let element = |k: usize| parameters[k].element(before.ctx());
        if parameters[k] == parameters[j] && random.chance(50) {
            input[k] = format!("@{j}");
        } else if element(k) == element(j) {
            let shape = text::type_to_string(before.ctx(), parameters[k]).replace('?', "6");
            input[k] = format!("@{j}+{} : {shape}", random.range(0, 3));
        }
    }
}

/// Returns which arguments are marked to overlap no other.
fn alone(before: &Body, entry: &str) -> Vec<bool> {
    let functions = super::functions(before);
    let Some((_, op)) = functions.into_iter().find(|(name, _)| name == entry) else { return Vec::new() };
    let ctx = before.ctx();
    let attributes =
        before.op_ref(op).attr("arg_attrs").and_then(|attr| attr.as_array(ctx)).unwrap_or_default();
    let is_marked = |attr: &loomir_ir::Attr| loomir_ir::text::attr_to_string(ctx, *attr).contains("noalias");
    attributes.iter().map(is_marked).collect()
}

/// Returns an input on which the second function does not do what the first one does. If they may
/// overlap, buffers do.
pub(crate) fn difference(
    before: &Body,
    after: &Body,
    entry: &str,
    distinct: bool,
    random: &mut Random,
) -> Option<String> {
    let (parameters, _) = interp::signature(before, entry)?;
    let mut alone = alone(before, entry);
    alone.resize(parameters.len(), false);
    for case in 0..if distinct { 8 } else { 24 } {
        let mut input: Vec<String> =
            parameters.iter().map(|ty| argument(before.ctx(), *ty, random, case)).collect();
        if !distinct && case % 4 != 0 {
            share(before, &parameters, &alone, &mut input, random);
        }
        let Some(expected) = ending(before, entry, &input) else { continue };
        if expected.as_ref().is_err_and(|end| end.starts_with("undefined")) {
            continue;
        }
        let Some(actual) = ending(after, entry, &input) else { continue };
        if actual != expected {
            return Some(format!("@{entry}({}): {expected:?} before, {actual:?} after", input.join(", ")));
        }
    }
    None
}
