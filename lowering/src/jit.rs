//! LLVM itself, behind feature `llvm`: a module of MLIR's `llvm` dialect goes in as text and is
//! verified, translated to LLVM IR, compiled to an object file or run in this process.
//!
//! Text is the whole interface: no type of LLVM or of melior is visible here, so nothing above this
//! module changes when LLVM does. One call does one job from start to end (parse, verify, work) and
//! keeps nothing behind, except [`JitEngine`], which owns the compiled code.
//!
//! All `unsafe` code of the project lives in `jit/ffi.rs`; this file and `jit/layout.rs` are
//! ordinary safe Rust.
//!
//! # Trust
//! Compiled code is as powerful as a program one starts from a shell: it is not checked for bounds,
//! it may loop for ever, and a wild store damages this process. Run a program in the interpreter
//! first if you don't trust it. LLVM also ends the process by itself on a few inputs that verify
//! but can't be compiled, such as malformed inline assembly.
//!
//! # Cost
//! A call sets up a fresh MLIR context (about a millisecond) and parses the text once. The JIT
//! translates twice: once to learn the functions' types, once inside LLVM's engine. Compilation
//! dwarfs both.
//!
//! ```no_run
//! use loomir_lowering::jit::{JitEngine, JitValue, OptLevel};
//! let text = "llvm.func @twice(%x: i64) -> i64 { %y = llvm.add %x, %x : i64  llvm.return %y : i64 }";
//! let mut engine = JitEngine::new(text, OptLevel::O2)?;
//! assert_eq!(engine.call("twice", &[JitValue::int(64, 21)])?, [JitValue::int(64, 42)]);
//! # Ok::<(), loomir_lowering::jit::JitError>(())
//! ```

mod ffi;
mod layout;

use std::fmt;

use crate::to_llvm::threads;

pub use layout::{JitType, JitValue, Signature, memref_arguments};

/// The optimisation level of LLVM, as `-O0` to `-O3` of its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OptLevel {
    /// No optimisation, fastest compilation.
    O0,
    /// Little optimisation.
    O1,
    /// The usual level.
    #[default]
    O2,
    /// All optimizations, including vectorization and aggressive inlining.
    O3,
}

impl OptLevel {
    /// Returns the level with this number, from 0 to 3.
    pub fn from_number(number: u32) -> Option<OptLevel> {
        [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3].get(number as usize).copied()
    }

    /// Returns the number behind `-O`.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// The severity of an [`LlvmDiagnostic`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The module is wrong.
    Error,
    /// The module is suspicious.
    Warning,
    /// A detail of the previous diagnostic.
    Note,
    /// Said for information.
    Remark,
}

/// The place in the text that a diagnostic points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file a `loc(…)` in the text names, `-` for the text itself.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

/// A diagnostic of MLIR's parser, verifier or translation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmDiagnostic {
    /// The severity.
    pub severity: Severity,
    /// The place it points to, if any.
    pub place: Option<Place>,
    /// The message.
    pub message: String,
    /// Further details.
    pub notes: Vec<LlvmDiagnostic>,
}

impl fmt::Display for LlvmDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Place { file, line, column }) = &self.place {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
            Severity::Remark => "remark",
        };
        write!(f, "{severity}: {}", self.message)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

/// The reason of a failure in LLVM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitError {
    /// The text is not a valid module, or holds something that has no LLVM IR.
    Rejected(Vec<LlvmDiagnostic>),
    /// LLVM's code generator failed with this message.
    CodeGeneration(String),
    /// Functions or variables that the module uses and nothing defines.
    UndefinedSymbols(Vec<String>),
    /// A defined function of this name takes the name of the wrapper that calls go through.
    ReservedName(String),
    /// The module defines no function of this name.
    NoSuchFunction(String),
    /// The function exists but can't be called with plain values.
    NotCallable {
        /// Its name.
        function: String,
        /// The obstacle.
        reason: String,
    },
    /// The arguments given don't fit the function.
    Arguments {
        /// Its name.
        function: String,
        /// The types of its parameters.
        expected: Vec<JitType>,
        /// The types of the arguments.
        given: Vec<JitType>,
    },
}

impl fmt::Display for JitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JitError::Rejected(diagnostics) => {
                write!(f, "LLVM rejects the module")?;
                diagnostics.iter().try_for_each(|diagnostic| write!(f, "\n{diagnostic}"))
            }
            JitError::CodeGeneration(words) => write!(f, "LLVM can't compile the module: {words}"),
            JitError::UndefinedSymbols(names) => {
                write!(f, "undefined symbols: {}", names.join(", "))?;
                match names.iter().any(|name| threads::RUN_TIME.contains(&name.as_str())) {
                    true => write!(f, "; parallel loops need an OpenMP run-time: install libomp"),
                    false => Ok(()),
                }
            }
            JitError::ReservedName(name) => {
                write!(
                    f,
                    "`{name}` is the name of the wrapper that calls another function of the module; rename it"
                )
            }
            JitError::NoSuchFunction(name) => write!(f, "the module defines no function `{name}`"),
            JitError::NotCallable { function, reason } => write!(f, "`{function}` can't be called: {reason}"),
            JitError::Arguments { function, expected, given } => write!(
                f,
                "`{function}` takes {}, given {}",
                layout::TypeList(expected),
                layout::TypeList(given)
            ),
        }
    }
}

impl std::error::Error for JitError {}

/// Parses and verifies `text`, a module in any of MLIR's own dialects.
pub fn verify_module(text: &str) -> Result<(), Vec<LlvmDiagnostic>> {
    ffi::with_module(text, |_| Some(()))
}

/// Translates `text`, a module of the `llvm` dialect, to LLVM IR as LLVM prints it.
pub fn translate_to_llvm_ir(text: &str) -> Result<String, JitError> {
    ffi::with_module(text, |module| Some(ffi::LlvmModule::translate(module)?.text()))
        .map_err(JitError::Rejected)
}

/// Returns the object file of `text`, a module of the `llvm` dialect: optimised and position
/// independent. The target is the module's `llvm.target_triple` or else the triple of this machine,
/// without a specific processor, so the bytes don't depend on the machine.
pub fn object_file(text: &str, level: OptLevel) -> Result<Vec<u8>, JitError> {
    ffi::with_module(text, |module| Some(ffi::LlvmModule::translate(module)?.object_file(level)))
        .map_err(JitError::Rejected)?
        .map_err(JitError::CodeGeneration)
}

/// A module compiled into this process, ready to be called.
///
/// Calls take `&mut self`: compiled functions may share global variables.
#[derive(Debug)]
pub struct JitEngine {
    engine: ffi::Engine,
}

impl JitEngine {
    /// Compiles `text`, a module of the `llvm` dialect, for this machine, and runs its global
    /// constructors. Functions it declares but doesn't define are looked for in this process (the C
    /// library, above all).
    pub fn new(text: &str, level: OptLevel) -> Result<JitEngine, JitError> {
        let engine = ffi::with_module(text, |module| ffi::Engine::new(module, level))
            .map_err(JitError::Rejected)??;
        Ok(JitEngine { engine })
    }

    /// Returns the functions that the module defines, in its order: each with its signature, or the
    /// reason why it can't be called from here.
    pub fn functions(&self) -> impl Iterator<Item = (&str, Result<&Signature, &str>)> {
        self.engine.functions()
    }

    /// Returns the signature of `function`.
    pub fn signature(&self, function: &str) -> Result<&Signature, JitError> {
        self.engine.signature(function)
    }

    /// Calls `function` and returns its results: none, one, or one for each scalar of a struct or
    /// array, in order. An argument that is a struct takes its scalars one after another in the
    /// same way; a memref argument of the source program is made by [`memref_arguments`].
    ///
    /// Pointers among `arguments` must stay valid during the call; see the module's note on trust.
    pub fn call(&mut self, function: &str, arguments: &[JitValue]) -> Result<Vec<JitValue>, JitError> {
        self.engine.call(function, arguments)
    }
}
