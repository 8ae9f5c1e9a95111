//! [`Pipeline`]: a program's way through Loomir, as a builder.

use std::fmt;

use loomir_dialects::interp::{Limits, Outcome};
use loomir_ir::pass::{PassInfo, PassInstrumentor, PassRegistry, VerifyEach};
use loomir_ir::{Body, Context, Diagnostic, Diagnostics, Loc, Registry, verifier};

use crate::{ContractionOptions, DistributeOptions, Engine, FuseOptions};

/// A program's way through Loomir: read, transform, lower, emit.
///
/// Steps run in the order in which they are added. The program is verified after reading and after
/// each step.
///
/// ```
/// use loomir::prelude::*;
///
/// let source = "
///     func.func @twice(%a: memref<8xf32>) {
///       affine.for %i = 0 to 8 {
///         %0 = affine.load %a[%i] : memref<8xf32>
///         %1 = arith.addf %0, %0 : f32
///         affine.store %1, %a[%i] : memref<8xf32>
///       }
///       affine.for %i = 0 to 8 {
///         %0 = affine.load %a[%i] : memref<8xf32>
///         %1 = arith.mulf %0, %0 : f32
///         affine.store %1, %a[%i] : memref<8xf32>
///       }
///       return
///     }";
/// let pipeline = Pipeline::new().fuse(FuseOptions::default()).passes("canonicalize");
/// let program = pipeline.run(source, "twice.mlir")?;
/// assert_eq!(program.to_mlir().matches("affine.for").count(), 1);
/// assert_eq!(program.remarks().len(), 1);
/// assert!(program.to_ll()?.contains("define void @twice"));
/// # Ok::<(), loomir::Failed>(())
/// ```
#[derive(Default)]
pub struct Pipeline {
    /// Dialects besides Loomir's.
    dialects: Vec<Register>,
    /// Passes besides Loomir's.
    infos: Vec<PassInfo>,
    steps: Vec<Step>,
}

/// Registers a dialect.
type Register = Box<dyn Fn(&mut Registry)>;

/// One step, as data.
enum Step {
    Passes(String),
    Fuse(FuseOptions),
    Contract(ContractionOptions),
    Distribute(DistributeOptions),
    Lower,
}

impl Pipeline {
    /// Returns a pipeline without steps: it reads and verifies.
    pub fn new() -> Pipeline {
        Pipeline::default()
    }

    /// Adds a dialect of one's own. Loomir's are known already.
    #[must_use]
    pub fn dialect(mut self, register: impl Fn(&mut Registry) + 'static) -> Pipeline {
        self.dialects.push(Box::new(register));
        self
    }

    /// Lets [`passes`](Self::passes) name a pass of one's own. It does not run the pass.
    #[must_use]
    pub fn register_pass(mut self, info: PassInfo) -> Pipeline {
        self.infos.push(info);
        self
    }

    /// Runs passes, given as text: `builtin.module(func.func(canonicalize,loop-distribute))`, or a
    /// bare list.
    #[must_use]
    pub fn passes(self, text: impl Into<String>) -> Pipeline {
        self.step(Step::Passes(text.into()))
    }

    /// Fuses loops and contracts arrays in turns, as the command `fuse` does.
    #[must_use]
    pub fn fuse(self, options: FuseOptions) -> Pipeline {
        self.step(Step::Fuse(options))
    }

    /// Contracts arrays.
    #[must_use]
    pub fn contract(self, options: ContractionOptions) -> Pipeline {
        self.step(Step::Contract(options))
    }

    /// Distributes loops.
    #[must_use]
    pub fn distribute(self, options: DistributeOptions) -> Pipeline {
        self.step(Step::Distribute(options))
    }

    /// Lowers everything to the `llvm` dialect.
    #[must_use]
    pub fn lower(self) -> Pipeline {
        self.step(Step::Lower)
    }

    fn step(mut self, step: Step) -> Pipeline {
        self.steps.push(step);
        self
    }

    /// Reads a program, MLIR or LLVM IR by its content, and runs all steps.
    ///
    /// # Errors
    /// Whatever is wrong with the text, with the program, or with the text of passes.
    pub fn run(&self, source: &str, file_name: &str) -> Result<Program, Failed> {
        let mut registry = crate::registry();
        self.dialects.iter().for_each(|register| register(&mut registry));
        let ctx = Context::new(registry);
        let failed = |diagnostics| Failed { ctx: ctx.clone(), diagnostics };
        let mut module = crate::parse(&ctx, source, file_name).map_err(failed)?;
        let mut remarks = Diagnostics::new();
        for step in &self.steps {
            self.run_step(step, &mut module, &mut remarks).map_err(failed)?;
            let errors = verifier::verify(&module);
            if errors.has_errors() {
                return Err(failed(errors));
            }
        }
        Ok(Program { module, remarks })
    }

    fn run_step(&self, step: &Step, module: &mut Body, remarks: &mut Diagnostics) -> Result<(), Diagnostics> {
        match step {
            Step::Passes(text) => {
                let known = self.registered_passes();
                let read = known.parse_for(text, module);
                let passes = read.map_err(|error| {
                    Diagnostics::from(Diagnostic::error(Loc::UNKNOWN, error.to_text(text)))
                })?;
                let report = passes.run(module, &PassInstrumentor::new().with(VerifyEach));
                if !report.succeeded() {
                    return Err(report.diagnostics);
                }
                remarks.append(report.diagnostics);
            }
            Step::Fuse(options) => {
                let contraction = ContractionOptions::after(options);
                let (fused, contracted) = crate::fuse_and_contract(module, options, &contraction);
                remarks.append(fused.remarks);
                remarks.append(contracted.remarks);
            }
            Step::Contract(options) => remarks.append(crate::contract(module, options).remarks),
            Step::Distribute(options) => remarks.append(crate::distribute(module, options).remarks),
            Step::Lower => crate::lowering::lower_to_llvm(module)?,
        }
        Ok(())
    }

    fn registered_passes(&self) -> PassRegistry {
        let mut known = crate::passes();
        for info in &self.infos {
            known.add(*info);
        }
        known
    }
}

/// A program behind a [`Pipeline`].
pub struct Program {
    module: Body,
    remarks: Diagnostics,
}

impl Program {
    /// Returns the module.
    pub fn module(&self) -> &Body {
        &self.module
    }

    /// Returns the module, to change it.
    pub fn module_mut(&mut self) -> &mut Body {
        &mut self.module
    }

    /// Returns the remarks of all steps, in order.
    pub fn remarks(&self) -> &Diagnostics {
        &self.remarks
    }

    /// Returns the program as MLIR.
    pub fn to_mlir(&self) -> String {
        crate::print(&self.module)
    }

    /// Returns the program as LLVM IR. What is not lowered yet is lowered in a copy.
    ///
    /// # Errors
    /// An operation without a lowering.
    pub fn to_ll(&self) -> Result<String, Failed> {
        to_ll(&self.module).map_err(|diagnostics| self.failed(diagnostics))
    }

    /// Executes a function in the interpreter; `arguments` are those of `loomir run --arg`.
    ///
    /// # Errors
    /// A function that is not there, arguments that do not fit, or undefined behaviour.
    pub fn execute(&mut self, entry: &str, arguments: &[&str]) -> Result<Outcome, Failed> {
        let limits = Limits::default();
        let done = crate::execute(&mut self.module, entry, arguments, Engine::Interpreter, &limits);
        done.map_err(|diagnostics| self.failed(diagnostics))
    }

    fn failed(&self, diagnostics: Diagnostics) -> Failed {
        Failed { ctx: self.module.ctx().clone(), diagnostics }
    }
}

/// Returns a module as LLVM IR. What is not lowered yet is lowered in a copy.
///
/// # Errors
/// An operation without a lowering.
pub fn to_ll(module: &Body) -> Result<String, Diagnostics> {
    let mut lowered = module.duplicate();
    crate::lowering::lower_to_llvm(&mut lowered)?;
    crate::lowering::to_ll(&lowered)
}

/// Diagnostics with the context that names their files and types. Shown as text.
pub struct Failed {
    ctx: Context,
    diagnostics: Diagnostics,
}

impl Failed {
    /// Returns diagnostics with their context.
    pub(crate) fn new(ctx: &Context, diagnostics: Diagnostics) -> Failed {
        Failed { ctx: ctx.clone(), diagnostics }
    }

    /// Returns the context of the diagnostics.
    pub fn ctx(&self) -> &Context {
        &self.ctx
    }

    /// Returns the diagnostics.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostics.to_text(&self.ctx).trim_end())
    }
}

impl fmt::Debug for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failed {}
