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
        let has = |feature: &str| features.split(',').any(|own| own.strip_prefix('+') == Some(feature));
        let preferred = body.attr(body.root(), "prefer_vector_width").and_then(|own| own.as_str(body.ctx()));
        let vector = match () {
            () if has("avx512f") && preferred == Some("512") => 64,
            () if has("avx") => 32,
            () => 16,
        };
        let registers = if has("avx512vl") || has("neon") { 32 } else { 16 };
        Machine { vector, registers, ..self.clone() }
    }
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
