//! Checking passes through text: a program goes in, and the output is compared with an approved
//! snapshot.
//!
//! A test is written in MLIR and does not look at internals:
//!
//! ```
//! let shown = loomir_testing::check_pass(
//!     "builtin.module(func.func(loop-fusion))",
//!     "func.func @fill(%a: memref<4xi32>, %b: memref<4xi32> {llvm.noalias}) {
//!        %c = arith.constant 7 : i32
//!        affine.for %i = 0 to 4 { affine.store %c, %a[%i] : memref<4xi32> }
//!        affine.for %i = 0 to 4 { affine.store %c, %b[%i] : memref<4xi32> }
//!        return
//!      }",
//! );
//! assert_eq!(shown.matches("affine.for").count(), 1);
//! ```
//!
//! In real tests the text goes to `insta::assert_snapshot!`. Two requirements on every pass are
//! checked as well: its input and output verify, and the printed output reads back as the same
//! text.

use loomir::ir::pass::{PassInstrumentor, PassRegistry, VerifyAnalyses, VerifyEach};
use loomir::ir::{Body, Context, Diagnostics};

/// The file name of source texts in diagnostics.
const FILE_NAME: &str = "input.mlir";

/// A checker with its own context and passes.
pub struct Checker {
    /// The context, with the dialects of the texts.
    pub ctx: Context,
    /// The passes of the pipelines.
    pub passes: PassRegistry,
}

impl Default for Checker {
    /// Returns a checker with all dialects and passes of Loomir.
    fn default() -> Checker {
        Checker { ctx: loomir::context(), passes: loomir::passes() }
    }
}

/// The result of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checked {
    /// The program afterwards; empty if there is none.
    pub program: String,
    /// Remarks and errors, one line each: `line:column: severity: message`.
    pub diagnostics: String,
    /// True if there were no errors.
    pub succeeded: bool,
}

impl Checked {
    /// Returns the program, followed by its diagnostics as comments.
    pub fn to_text(&self) -> String {
        let mut text = self.program.clone();
        for line in self.diagnostics.lines() {
            text.push_str("// ");
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

/// Reads `source`, runs `pipeline` and returns the program with its remarks, or the errors: text
/// for a snapshot.
///
/// # Panics
/// If the printed program does not read back as the same program.
pub fn check_pass(pipeline: &str, source: &str) -> String {
    Checker::default().pass(pipeline, source).to_text()
}

impl Checker {
    /// Reads `source` and runs `pipeline` (none if empty). Verifies before, between and after.
    ///
    /// # Panics
    /// If the printed program does not read back as the same program.
    pub fn pass(&self, pipeline: &str, source: &str) -> Checked {
        let (module, diagnostics) = match self.transformed(pipeline, source) {
            Ok(done) => done,
            Err(errors) => {
                return Checked {
                    program: String::new(),
                    diagnostics: self.lines(&errors),
                    succeeded: false,
                };
            }
        };
        let program = loomir::print(&module);
        self.assert_reads_back(&program);
        Checked { program, diagnostics: self.lines(&diagnostics), succeeded: true }
    }

    /// Returns the module after `pipeline`, with its remarks.
    ///
    /// # Errors
    /// Whatever is wrong with the source, the pipeline or a pass.
    pub fn transformed(&self, pipeline: &str, source: &str) -> Result<(Body, Diagnostics), Diagnostics> {
        let mut module = self.read(source)?;
        let remarks = self.run(pipeline, &mut module)?;
        Ok((module, remarks))
    }

    /// Runs `pipeline` on a module and verifies it between passes and at the end. Returns the
    /// remarks.
    ///
    /// # Errors
    /// Whatever is wrong with the pipeline or a pass.
    pub fn run(&self, pipeline: &str, module: &mut Body) -> Result<Diagnostics, Diagnostics> {
        self.run_under(pipeline, module, &PassInstrumentor::new().with(VerifyAnalyses).with(VerifyEach))
    }

    /// Runs `pipeline` on a module without verification, as commands do by default. Returns the
    /// remarks.
    ///
    /// # Errors
    /// As [`run`](Checker::run).
    pub fn run_unchecked(&self, pipeline: &str, module: &mut Body) -> Result<Diagnostics, Diagnostics> {
        self.run_under(pipeline, module, &PassInstrumentor::new())
    }

    fn run_under(
        &self,
        pipeline: &str,
        module: &mut Body,
        instrumentor: &PassInstrumentor,
    ) -> Result<Diagnostics, Diagnostics> {
        let manager = self.passes.parse(pipeline).map_err(|error| {
            let mut diagnostics = Diagnostics::new();
            let message = format!("pipeline, at character {}: {}", error.offset + 1, error.message);
            diagnostics.error(loomir::ir::Loc::UNKNOWN, message);
            diagnostics
        })?;
        let report = manager.run(module, instrumentor);
        if report.succeeded() { Ok(report.diagnostics) } else { Err(report.diagnostics) }
    }

    /// Reads and verifies a module.
    ///
    /// # Errors
    /// Whatever is wrong with the source.
    pub fn read(&self, source: &str) -> Result<Body, Diagnostics> {
        loomir::parse(&self.ctx, source, FILE_NAME)
    }

    /// Returns diagnostics with line and column only, so that they do not depend on the file.
    pub fn lines(&self, diagnostics: &Diagnostics) -> String {
        diagnostics.to_text(&self.ctx).replace(&format!("{FILE_NAME}:"), "")
    }

    /// Checks that a printed program reads back as the same program.
    ///
    /// # Panics
    /// If it does not.
    pub fn assert_reads_back(&self, printed: &str) {
        match self.read(printed) {
            Ok(again) => assert_eq!(
                loomir::print(&again),
                printed,
                "printed, read and printed again, it is another program"
            ),
            Err(errors) => panic!("what was printed can't be read:\n{}\n{printed}", self.lines(&errors)),
        }
    }
}
