//! Running a function: in the interpreter, or compiled by LLVM. Arguments and outcome are the same
//! for both.

use loomir_dialects::interp::{self, ArgSpec, Fault, Interleaving, Limits, Outcome};
use loomir_dialects::irdl::meaning;
use loomir_ir::{Body, Diagnostic, Diagnostics};
use loomir_transforms::cost::COUNTS;

/// An engine that executes the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// The reference interpreter, which reports undefined behaviour.
    #[default]
    Interpreter,
    /// LLVM, at this optimisation level (0 to 3), in this process. It needs the feature `llvm`.
    Jit(u32),
}

/// Executes the function `entry` of a verified module and returns its results and the final
/// contents of its buffers. Compiling lowers the module, in place.
///
/// ```
/// use loomir::{Engine, execute, parse};
/// let ctx = loomir::context();
/// let source = "func.func @square(%x: i32) -> i32 { %0 = arith.muli %x, %x : i32  return %0 : i32 }";
/// let mut module = parse(&ctx, source, "square.mlir").map_err(|d| d.to_text(&ctx))?;
/// let outcome = execute(&mut module, "square", &["7"], Engine::Interpreter, &Default::default());
/// assert_eq!(outcome.map_err(|d| d.to_text(&ctx))?.to_text(), "result 0: 49\n");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// What is wrong with the arguments, undefined behaviour the interpreter met, or what keeps the
/// program from being compiled.
pub fn execute(
    module: &mut Body,
    entry: &str,
    arguments: &[&str],
    engine: Engine,
    limits: &Limits,
) -> Result<Outcome, Diagnostics> {
    let specs = specifications(module, arguments)?;
    match engine {
        Engine::Interpreter => {
            with_meanings(module, |module| interp::run(module, entry, &specs, limits).map_err(fault))
        }
        Engine::Jit(level) => compiled::run(module, entry, &specs, level),
    }
}

/// Executes a function in the interpreter, and reports iterations of a parallel loop that race.
///
/// # Errors
/// As those of [`execute`], and a race.
pub fn find_races(
    module: &Body,
    entry: &str,
    arguments: &[&str],
    limits: &Limits,
) -> Result<Outcome, Diagnostics> {
    let specs = specifications(module, arguments)?;
    with_meanings(module, |module| interp::run_finding_races(module, entry, &specs, limits).map_err(fault))
}

/// Executes a function in the interpreter, with a random interleaving of the iterations of parallel
/// loops.
///
/// ```
/// use loomir::dialects::interp::Interleaving;
/// use loomir::{interleave, parse};
/// let ctx = loomir::context();
/// let source = "func.func @last(%a: memref<1xindex>) {
///   affine.parallel (%i) = (0) to (8) { affine.store %i, %a[0] : memref<1xindex> }
///   return
/// }";
/// let module = parse(&ctx, source, "last.mlir").map_err(|d| d.to_text(&ctx))?;
/// let last = |seed| {
///     let interleaving = Interleaving { seed, finds_races: false };
///     interleave(&module, "last", &["zeros"], &Default::default(), interleaving)
/// };
/// let outcomes: Vec<_> = (0..20).filter_map(|seed| last(seed).ok()).collect();
/// assert!(outcomes.iter().any(|outcome| *outcome != outcomes[0]));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// As those of [`execute`], and a race if races are reported.
pub fn interleave(
    module: &Body,
    entry: &str,
    arguments: &[&str],
    limits: &Limits,
    interleaving: Interleaving,
) -> Result<Outcome, Diagnostics> {
    let specs = specifications(module, arguments)?;
    with_meanings(module, |module| {
        interp::run_interleaving(module, entry, &specs, limits, interleaving).map_err(fault)
    })
}

/// Executes a function in the interpreter, and draws the order in which it stores elements of
/// memrefs, as SVG text.
///
/// # Errors
/// As those of [`execute`], and the reason why there is no picture.
pub fn picture_of_order(
    module: &Body,
    entry: &str,
    arguments: &[&str],
    limits: &Limits,
) -> Result<String, Diagnostics> {
    let specs = specifications(module, arguments)?;
    with_meanings(module, |module| {
        let (_, stores) = interp::run_recording_stores(module, entry, &specs, limits).map_err(fault)?;
        let loc = module.root_ref().loc();
        crate::order::draw_stores(&stores).map_err(|why| Diagnostic::error(loc, why).into())
    })
}

/// Executes a function in the interpreter, and writes into the module how often each loop and
/// branch ran, for [`CostSource::Profile`](crate::CostSource::Profile).
///
/// # Errors
/// As those of [`execute`].
pub fn profile(
    module: &mut Body,
    entry: &str,
    arguments: &[&str],
    limits: &Limits,
) -> Result<Outcome, Diagnostics> {
    let specs = specifications(module, arguments)?;
    meaning::lower(module)?;
    interp::run_counting(module, entry, &specs, limits, COUNTS).map_err(fault)
}

/// Calls `f` with a module without operations of loaded dialects that have a meaning.
pub(crate) fn with_meanings<R>(
    module: &Body,
    f: impl FnOnce(&Body) -> Result<R, Diagnostics>,
) -> Result<R, Diagnostics> {
    if !meaning::has_meanings(module.ctx()) {
        return f(module);
    }
    let mut copy = module.duplicate();
    meaning::lower(&mut copy)?;
    f(&copy)
}

/// Returns the arguments that texts stand for.
fn specifications(module: &Body, arguments: &[&str]) -> Result<Vec<ArgSpec>, Diagnostics> {
    arguments.iter().map(|text| ArgSpec::parse(module.ctx(), text)).collect::<Result<_, _>>().map_err(fault)
}

fn fault(fault: Box<Fault>) -> Diagnostics {
    Diagnostic::from(fault).into()
}

#[cfg(not(feature = "llvm"))]
mod compiled {
    use super::*;

    pub(super) fn run(module: &Body, _: &str, _: &[ArgSpec], _: u32) -> Result<Outcome, Diagnostics> {
        let loc = module.root_ref().loc();
        let error = Diagnostic::error(loc, "this build has no LLVM in it, so nothing can be compiled");
        Err(error.help("build with `--features llvm`, or use the interpreter").into())
    }
}

#[cfg(feature = "llvm")]
mod compiled {
    use loomir_dialects::interp::{Arguments, Flat};
    use loomir_ir::{FloatKind, Loc, Type};
    use loomir_lowering::jit::{JitEngine, JitError, JitValue, OptLevel};

    use super::*;

    pub(super) fn run(
        module: &mut Body,
        entry: &str,
        specs: &[ArgSpec],
        level: u32,
    ) -> Result<Outcome, Diagnostics> {
        let ctx = module.ctx().clone();
        let loc = module.root_ref().loc();
        let error = |message: String| Diagnostics::from(Diagnostic::error(loc, message));
        let Some((parameters, results)) = interp::signature(module, entry) else {
            return Err(error(format!("the module has no function `@{entry}`")));
        };
        let level =
            OptLevel::from_number(level).ok_or_else(|| error(format!("there is no level -O{level}")))?;
        let arguments = Arguments::materialise(&ctx, &parameters, specs).map_err(fault)?;
        let mut buffers: Vec<Aligned> =
            arguments.buffers.iter().map(|b| Aligned::new(&b.bytes, b.align as usize)).collect();
        let values = arguments
            .flattened()
            .map_err(fault)?
            .into_iter()
            .map(|flat| {
                value(flat, &mut buffers).ok_or_else(|| error("an argument has no compiled form".into()))
            })
            .collect::<Result<Vec<_>, _>>()?;
        loomir_lowering::lower_to_llvm(module)?;
        let text = crate::print(module);
        let jit_error = |e: JitError| Diagnostics::from(Diagnostic::error(Loc::UNKNOWN, e.to_string()));
        let mut engine = JitEngine::new(&text, level).map_err(jit_error)?;
        let returned = engine.call(entry, &values).map_err(jit_error)?;
        let numbers: Vec<(Type, u128)> = results.into_iter().zip(returned.iter().map(bits)).collect();
        let contents: Vec<&[u8]> = buffers.iter().map(Aligned::bytes).collect();
        Outcome::from_bytes(&ctx, &arguments, &contents, &numbers).map_err(fault)
    }

    fn value(flat: Flat, buffers: &mut [Aligned]) -> Option<JitValue> {
        Some(match flat {
            Flat::Integer { width, bits } => JitValue::int(width, bits as i64),
            Flat::Float { kind: FloatKind::F32, bits } => JitValue::F32(f32::from_bits(bits as u32)),
            Flat::Float { kind: FloatKind::F64, bits } => JitValue::F64(f64::from_bits(bits as u64)),
            Flat::Float { .. } => return None,
            Flat::Address { buffer, offset } => {
                JitValue::Pointer(buffers.get_mut(buffer)?.address().wrapping_add(offset as usize))
            }
        })
    }

    fn bits(value: &JitValue) -> u128 {
        match value {
            JitValue::Int { bits, .. } => u128::from(*bits),
            JitValue::F32(value) => value.to_bits().into(),
            JitValue::F64(value) => value.to_bits().into(),
            JitValue::Pointer(_) => 0,
        }
    }

    /// Bytes that begin at a multiple of an alignment.
    struct Aligned {
        storage: Vec<u8>,
        start: usize,
        len: usize,
    }

    impl Aligned {
        fn new(bytes: &[u8], align: usize) -> Aligned {
            let mut storage = vec![0; bytes.len() + align];
            let start = storage.as_ptr().align_offset(align).min(align);
            storage[start..start + bytes.len()].copy_from_slice(bytes);
            Aligned { storage, start, len: bytes.len() }
        }

        fn address(&mut self) -> *mut u8 {
            self.storage[self.start..].as_mut_ptr()
        }

        fn bytes(&self) -> &[u8] {
            &self.storage[self.start..self.start + self.len]
        }
    }
}
