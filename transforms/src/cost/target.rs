//! The machine that a function is compiled for, as far as its attributes tell: the target features
//! that clang writes with `-march`.

use loomir_dialects::llvm;
use loomir_ir::{Attr, Body};

use super::Machine;
use super::machine::BY_AMD;

impl Machine {
    /// Returns this machine as a function uses it: with the vector registers that its target
    /// features name, if it names any. AMD's processors do not wait for stores to other pages.
    ///
    /// LLVM prefers vectors of 32 bytes on most machines that have 64; a function may ask for them.
    #[must_use]
    pub fn of_function(&self, body: &Body) -> Machine {
        let same_place = if is_by_amd(body) { 0.0 } else { self.same_place };
        let asks = || match asked_width(body) {
            Some(width) => width == "512",
            None => is_by_amd(body),
        };
        let Some(features) = passed_on(body, FEATURES) else {
            let vector = if asks() { self.vector } else { self.vector.min(32) };
            return Machine { vector, same_place, ..self.clone() };
        };
        let has = |feature: &str| has(features, feature);
        let vector = match () {
            () if has("avx512f") && asks() => 64,
            () if has("avx") => 32,
            () => 16,
        };
        let registers = if has("avx512vl") || has("neon") { 32 } else { 16 };
        Machine { vector, registers, same_place, ..self.clone() }
    }
}

/// The features of a function's target, among what is passed on to LLVM.
const FEATURES: &str = "target-features";

/// The attribute with the width of vectors, in bits, that a function of the `llvm` dialect asks
/// for.
const PREFERRED: &str = "prefer_vector_width";

/// Its name in LLVM IR, by which functions of other dialects pass it on.
const PASSED_ON: &str = "prefer-vector-width";

/// Machines that compute more slowly after each vector of 64 bytes.
const THROTTLED: [&str; 3] = ["skylake-avx512", "cascadelake", "cooperlake"];

/// Asks for vectors of 64 bytes if the target of a function has them, or the machine where the
/// function names none, and the function does not ask for another width. It computes the same.
pub fn widen(body: &mut Body, machine: &Machine) {
    let root = body.root();
    let features = passed_on(body, FEATURES);
    let is_wide = features.map_or(machine.vector >= 64, |all| has(all, "avx512f"));
    let is_throttled = ["target_cpu", "tune_cpu"].iter().any(|name| {
        let own = body.attr(root, name).and_then(|own| own.as_str(body.ctx()));
        own.is_some_and(|own| THROTTLED.contains(&own))
    });
    if !is_wide || is_throttled || asked_width(body).is_some() {
        return;
    }
    let ctx = body.ctx();
    let width = ctx.string_attr("512");
    if body.is(root, llvm::FuncOp::DEF) {
        body.set_attr(root, PREFERRED, width);
    } else {
        let pair = ctx.array_attr(&[ctx.string_attr(PASSED_ON), width]);
        let known = body.attr(root, "passthrough").and_then(|own| own.as_array(ctx)).unwrap_or_default();
        let all: Vec<Attr> = known.iter().copied().chain([pair]).collect();
        let all = ctx.array_attr(&all);
        body.set_attr(root, "passthrough", all);
    }
}

/// The features of LLVM that say that gathering is slow: processors by AMD gather elements of
/// vectors one by one, and more slowly than loads do.
const NO_GATHERS: &str = "prefer-no-gather";

/// Says that a function had better not gather, if its target is such a machine. LLVM would gather
/// the elements of several rows for sums that are made side by side. It computes the same.
pub fn avoid_gathers(body: &mut Body) {
    let (root, ctx) = (body.root(), body.ctx());
    let is_slow = is_by_amd(body);
    let Some(features) = passed_on(body, FEATURES).filter(|own| is_slow && !own.contains(NO_GATHERS)) else {
        return;
    };
    let features = ctx.string_attr(&format!("{features},+{NO_GATHERS}"));
    let key = ctx.string_attr(FEATURES);
    let known = body.attr(root, "passthrough").and_then(|own| own.as_array(ctx)).unwrap_or_default();
    let changed = |own: &Attr| match own.as_array(ctx) {
        Some([first, _]) if *first == key => ctx.array_attr(&[key, features]),
        _ => *own,
    };
    let all: Vec<Attr> = known.iter().map(changed).collect();
    let all = ctx.array_attr(&all);
    body.set_attr(root, "passthrough", all);
}

/// True if a function is compiled for a processor by AMD. LLVM makes vectors of 64 bytes for those
/// that have them, unasked.
fn is_by_amd(body: &Body) -> bool {
    let named = |name: &str| body.attr(body.root(), name).and_then(|own| own.as_str(body.ctx()));
    named("tune_cpu").or(named("target_cpu")).is_some_and(|own| own.starts_with(BY_AMD))
}

/// Returns the width of vectors that a function asks for.
fn asked_width(body: &Body) -> Option<&str> {
    let own = body.attr(body.root(), PREFERRED).and_then(|own| own.as_str(body.ctx()));
    own.or_else(|| passed_on(body, PASSED_ON))
}

/// True if a list of features has one.
fn has(features: &str, feature: &str) -> bool {
    features.split(',').any(|own| own.strip_prefix('+') == Some(feature))
}

/// Returns the value of an attribute that LLVM knows and the dialect does not.
fn passed_on<'b>(body: &'b Body, name: &str) -> Option<&'b str> {
    let ctx = body.ctx();
    let all = body.attr(body.root(), "passthrough")?.as_array(ctx)?;
    all.iter().find_map(|own| match own.as_array(ctx)? {
        [key, value] if key.as_str(ctx) == Some(name) => value.as_str(ctx),
        _ => None,
    })
}
