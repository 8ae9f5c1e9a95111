//! `convert-to-llvm`: converts all remaining operations to the `llvm` dialect.
//!
//! A module is converted symbol by symbol. A function gets a *new* body, built by one walk over the
//! old one with a side table from old values to new ones. Nothing is rewritten in place, so time
//! and memory are linear in the program, and a function's old body is freed before the next
//! function starts.
//!
//! The conversion of an operation is the interface [`ConvertToLlvm`], attached to its name: any
//! crate may add its own. [`register`] attaches those of `arith`, `cf`, `func`, `index`, `math`,
//! `memref`, `ub` and `vector`.
//!
//! | module | holds |
//! | --- | --- |
//! | [`types`] | the conversion of types |
//! | [`function`] | the walk over a function, and the services for a conversion |
//! | [`build`] | shorthands for building `llvm` operations |
//! | [`descriptor`] | memrefs as structs |
//! | `arith` (with `index` and `ub`), `math`, `control`, `memref`, `vector` | the operations |
//! | `c_interface` | wrappers that C can call, and that call C |
//! | `symbols` | functions and globals of a module, and required declarations |
//! | [`threads`] | calls whose range threads share |
//!
//! **Functions.** A memref is passed as the parts of its descriptor. With
//! [`Options::bare_pointers`], or the attribute `llvm.bareptr` of a function, a memref of static
//! shape is one pointer. A function with `llvm.emit_c_interface` gets a wrapper for C.
//!
//! The result equals that of MLIR's corresponding passes, up to dead and repeated constants, with
//! four differences. A copy between memrefs that are not contiguous is a nest of loops, not a call
//! into a run-time library. `dim` with a dynamic dimension selects among the sizes without spilling
//! them. Unreachable blocks are dropped. Attributes of a memref are not put on the pointer to its
//! descriptor that a wrapper takes.

use loomir_dialects::{builtin, func, llvm, memref as memref_dialect};
use loomir_ir::{Body, Diagnostic, Diagnostics, Name, Op, OpRef, Registry};

pub use function::FunctionConverter;
pub use types::TypeConverter;

mod arith;
pub mod build;
mod c_interface;
mod control;
pub mod descriptor;
pub mod function;
mod math;
mod memref;
mod symbols;
pub mod threads;
pub mod types;
mod vector;

/// The result of a conversion: the error is the obstacle.
pub type Converted = Result<(), Diagnostic>;

/// The conversion of one kind of operation to the `llvm` dialect. It makes the new operations and
/// maps each result to a new value, by [`FunctionConverter::set`].
/// Functions of this shape implement it.
pub trait ConvertToLlvm: Send + Sync {
    /// Converts `op`.
    ///
    /// # Errors
    /// The reason why it has no counterpart.
    fn convert(&self, cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted;
}

impl<F> ConvertToLlvm for F
where
    F: Fn(&mut FunctionConverter<'_>, OpRef<'_>) -> Converted + Send + Sync,
{
    fn convert(&self, cx: &mut FunctionConverter<'_>, op: OpRef<'_>) -> Converted {
        self(cx, op)
    }
}

/// Attaches a function as the conversion of the operation called `name`.
pub fn attach(
    registry: &mut Registry,
    name: &str,
    convert: fn(&mut FunctionConverter<'_>, OpRef<'_>) -> Converted,
) {
    registry.attach::<dyn ConvertToLlvm>(name, Box::new(convert));
}

/// Attaches the conversions of this crate.
pub fn register(registry: &mut Registry) {
    arith::register(registry);
    math::register(registry);
    control::register(registry);
    memref::register(registry);
    vector::register(registry);
}

/// Conventions of the functions of a module.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// Passes and returns memrefs of static shape as one pointer, in all functions.
    pub bare_pointers: bool,
}

/// Converts a module, and the modules inside it, to the `llvm` dialect, with default conventions.
///
/// # Errors
/// As for [`convert_to_llvm_with`].
pub fn convert_to_llvm(module: &mut Body) -> Result<(), Diagnostics> {
    convert_to_llvm_with(module, Options::default())
}

/// Converts a module, and the modules inside it, to the `llvm` dialect.
///
/// # Errors
/// Every operation and type without a counterpart. The module is then partly converted.
pub fn convert_to_llvm_with(module: &mut Body, options: Options) -> Result<(), Diagnostics> {
    let mut diagnostics = Diagnostics::new();
    if !module.is(module.root(), builtin::ModuleOp::DEF) {
        let name = module.ctx().op_str(module.op_name(module.root())).to_owned();
        let loc = module.loc(module.root());
        return Err(Diagnostic::error(
            loc,
            format!("expected a 'builtin.module' to convert, found '{name}'"),
        )
        .into());
    }
    module.for_each_body(&mut |body| {
        if body.is(body.root(), builtin::ModuleOp::DEF) {
            convert_module(body, options, &mut diagnostics);
        }
    });
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Converts the functions of a module that `is_wanted`, and calls `then` with each new function.
///
/// # Errors
/// Every operation and type without a counterpart. Functions with one stay as they are.
pub fn convert_functions(
    module: &mut Body,
    options: Options,
    is_wanted: &dyn Fn(&Body) -> bool,
    then: &mut dyn FnMut(&mut Body),
) -> Result<(), Diagnostics> {
    let ctx = module.ctx().clone();
    let (mut types, mut symbols) = (TypeConverter::new(&ctx), symbols::Symbols::of(module));
    let mut diagnostics = Diagnostics::new();
    for op in ops_of(module) {
        let Some(old) = module.nested(op).filter(|old| is_wanted(old) && needs_conversion(old)) else {
            continue;
        };
        match function::convert_function(old, options, &mut types, &mut symbols) {
            Ok(mut new) => {
                then(&mut new);
                let new = module.adopt(new);
                module.insert_before(op, new);
                module.erase(op);
            }
            Err(errors) => diagnostics.append(errors),
        }
    }
    symbols.place(module);
    if diagnostics.has_errors() { Err(diagnostics) } else { Ok(()) }
}

/// Returns the operations directly in a module.
fn ops_of(module: &Body) -> Vec<Op> {
    let regions = module.own_regions(module.root());
    regions.flat_map(|region| module.blocks(region)).flat_map(|block| module.ops(block)).collect()
}

fn convert_module(module: &mut Body, options: Options, diagnostics: &mut Diagnostics) {
    let ctx = module.ctx().clone();
    let mut types = TypeConverter::new(&ctx);
    let mut symbols = symbols::Symbols::of(module);
    let ops = ops_of(module);
    for op in ops {
        let info = module.info(op);
        let converted = if info.is(func::FuncOp::DEF) || info.is(llvm::FuncOp::DEF) {
            match module.nested(op) {
                Some(old) if needs_conversion(old) => {
                    function::convert_function(old, options, &mut types, &mut symbols)
                        .and_then(|new| c_interface::add_to(old, new, options, &mut types, &mut symbols))
                        .map(Some)
                }
                _ => Ok(None),
            }
        } else if info.is(memref_dialect::GlobalOp::DEF) {
            memref::global::convert_global(module.op_ref(op), &mut types)
                .map(|body| Some(vec![body]))
                .map_err(Diagnostics::from)
        } else if is_llvm(module, op, module.ctx().name(LLVM)) || info.is(builtin::ModuleOp::DEF) {
            Ok(None)
        } else {
            Err(function::no_conversion(module.op_ref(op)).into())
        };
        match converted {
            Ok(Some(bodies)) => {
                for body in bodies {
                    let new = module.adopt(body);
                    module.insert_before(op, new);
                }
                module.erase(op);
            }
            Ok(None) => {}
            Err(errors) => diagnostics.append(errors),
        }
    }
    symbols.place(module);
}

/// True if a module has nothing but operations of the `llvm` dialect: no step of lowering changes
/// it. One walk.
pub(crate) fn is_converted(module: &Body) -> bool {
    module.is(module.root(), builtin::ModuleOp::DEF)
        && module.all_ops().all(|op| match module.nested(op) {
            Some(function) => !needs_conversion(function),
            None => is_llvm(module, op, module.ctx().name(LLVM)),
        })
}

/// True if a function is not of the `llvm` dialect, or contains operations of other dialects.
fn needs_conversion(function: &Body) -> bool {
    let llvm = function.ctx().name(LLVM);
    function.preorder(function.root()).any(|op| !is_llvm(function, op, llvm))
}

fn is_llvm(body: &Body, op: Op, llvm: Name) -> bool {
    body.info(op).dialect() == llvm
}

/// The name of the dialect.
const LLVM: &str = "llvm";
