//! The machine that a function is compiled for, as far as its attributes tell: the target features
//! that clang writes with `-march`.

use loomir_ir::Body;

use super::Machine;

impl Machine {
    /// Returns this machine with the vector registers of a function's target. It stays as it is if
    /// the function names no features.
    ///
    /// LLVM prefers vectors of 32 bytes on most machines that have 64; a function may ask for them.
    #[must_use]
    pub fn of_function(&self, body: &Body) -> Machine {
        let Some(features) = passed_on(body, "target-features") else { return self.clone() };
        let has = |feature: &str| has(features, feature);
        let preferred = body.attr(body.root(), PREFERRED).and_then(|own| own.as_str(body.ctx()));
        let vector = match () {
            () if has("avx512f") && preferred == Some("512") => 64,
            () if has("avx") => 32,
            () => 16,
        };
        let registers = if has("avx512vl") || has("neon") { 32 } else { 16 };
        Machine { vector, registers, ..self.clone() }
    }
}

/// The attribute with the width of vectors, in bits, that a function asks for.
const PREFERRED: &str = "prefer_vector_width";

/// Machines that compute more slowly after each vector of 64 bytes.
const THROTTLED: [&str; 3] = ["skylake-avx512", "cascadelake", "cooperlake"];

/// Asks for vectors of 64 bytes if the target of a function has them, and the function does not ask
/// for another width. It computes the same.
pub fn widen(body: &mut Body) {
    let root = body.root();
    let is_wide = passed_on(body, "target-features").is_some_and(|all| has(all, "avx512f"));
    let is_throttled = ["target_cpu", "tune_cpu"].iter().any(|name| {
        let own = body.attr(root, name).and_then(|own| own.as_str(body.ctx()));
        own.is_some_and(|own| THROTTLED.contains(&own))
    });
    if is_wide && !is_throttled && body.attr(root, PREFERRED).is_none() {
        let width = body.ctx().string_attr("512");
        body.set_attr(root, PREFERRED, width);
    }
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
