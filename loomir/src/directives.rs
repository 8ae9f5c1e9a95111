//! Directives: the pass `obey-directives`, and the same for a whole program.

use loomir_dialects::{llvm, scf};
use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::symbols::{SymbolTable, symbol_name};
use loomir_ir::{Body, Diagnostic, Diagnostics, Loc, Name, Op};
use loomir_lowering::raising::{self, Facts, Opaque, Uncounted};
use loomir_transforms::access::base::AliasMode;
use loomir_transforms::directive::{DIRECTIVE, Directives};
use loomir_transforms::schedule::{OBEY_DIRECTIVES, obey};

use crate::schedule::{lower_functions, raise_functions};

/// The results of obeying the directives of a program.
#[derive(Debug, Default)]
pub struct Obeyed {
    /// A remark for each directive, or for the directives of one loop.
    pub remarks: Diagnostics,
    /// The functions with directives, in the order of the program.
    pub changed: Vec<Name>,
}

/// Obeys the [directives](loomir_transforms::directive) of all loops of a module, and removes them.
///
/// Functions of the `llvm` dialect are raised for that, and lowered afterwards.
///
/// ```
/// use loomir::{AliasMode, context, obey_directives, parse, print};
///
/// let ctx = context();
/// let source = "
///     func.func @f(%a: memref<8xf32>, %x: f32) {
///       affine.for %i = 0 to 8 {
///         affine.store %x, %a[%i] : memref<8xf32>
///       } {loomir.directive = \"unroll partial(2)\"}
///       return
///     }";
/// let mut module = parse(&ctx, source, "f.mlir").map_err(|d| d.to_text(&ctx))?;
/// obey_directives(&mut module, AliasMode::May).map_err(|d| d.to_text(&ctx))?;
/// assert!(print(&module).contains("affine.for %arg2 = 0 to 8 step 2"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// All directives that cannot be read or obeyed, each with the reason. The module computes the same
/// then, and has no directives either.
pub fn obey_directives(module: &mut Body, alias: AliasMode) -> Result<Obeyed, Diagnostics> {
    obey_with(module, alias, Facts::Omitted)
}

/// [`obey_directives`] with a use of facts about new code in LLVM IR.
pub(crate) fn obey_with(module: &mut Body, alias: AliasMode, facts: Facts) -> Result<Obeyed, Diagnostics> {
    let mut changed = Vec::new();
    module.for_each_body(&mut |body| {
        if has_directives(body) {
            changed.extend(symbol_name(body, body.root()));
        }
    });
    if changed.is_empty() {
        return Ok(Obeyed::default());
    }
    let mut raised = raise_functions(module, &has_directives);
    let mut errors = Diagnostics::new();
    for own in &mut raised {
        directed(&own.original).into_iter().for_each(|op| own.original.remove_attr(op, DIRECTIVE));
        if let Some(function) = module.nested_mut(own.function) {
            errors.append(refuse_uncounted(function, &own.uncounted));
        }
    }
    errors.append(refuse_branches(module));
    let obeyed = obey(module, alias);
    let is_obeyed = obeyed.is_ok() && !errors.has_errors();
    lower_functions(module, raised, (is_obeyed, facts))?;
    match obeyed {
        Ok(remarks) if is_obeyed => Ok(Obeyed { remarks, changed }),
        Ok(_) => Err(errors),
        Err(more) => {
            errors.append(more);
            Err(errors)
        }
    }
}

/// [`obey_directives`] with a use of facts, of a program that was read from `source`: if that is
/// LLVM IR perhaps in part, with remarks on what was not read.
///
/// # Errors
/// As for [`obey_directives`], and if directives are in functions that were not read.
#[cfg(feature = "cli")]
pub(crate) fn obey_all(
    module: &mut Body,
    (source, unread): (&str, &Diagnostics),
    (alias, facts): (AliasMode, Facts),
) -> Result<Obeyed, Diagnostics> {
    let mut seen = 0;
    module.for_each_body(&mut |body| seen += directed(body).len());
    if loomir_lowering::is_ll(source) && seen < loomir_lowering::ll::directed_branches(source) {
        let mut errors = Diagnostics::new();
        for own in unread.iter() {
            let error = Diagnostic::error(own.loc, "directives of this function cannot be obeyed");
            errors.push(error.note(own.loc, own.message.clone()));
        }
        if errors.is_empty() {
            errors.push(Diagnostic::error(Loc::UNKNOWN, "a loop with directives is none in LLVM IR"));
        }
        return Err(errors);
    }
    obey_with(module, alias, facts)
}

/// Returns the operations of a body that have directives. Linear.
fn directed(body: &Body) -> Vec<Op> {
    body.all_ops().filter(|op| body.attr(*op, DIRECTIVE).is_some()).collect()
}

/// True if an operation of a body has directives.
fn has_directives(body: &Body) -> bool {
    !directed(body).is_empty()
}

/// Removes the directives of loops that are not counted, with an error for each.
fn refuse_uncounted(function: &mut Body, uncounted: &[(Loc, Uncounted)]) -> Diagnostics {
    let mut errors = Diagnostics::new();
    for op in directed(function) {
        if function.is(op, scf::WhileOp::DEF) {
            let loc = function.loc(op);
            let why = uncounted.iter().find(|(own, _)| *own == loc).map(|(_, why)| why.reason());
            errors.push(refusal(function, op, why.unwrap_or(Uncounted::Structured.reason())));
        }
    }
    errors
}

/// Removes the directives of loops that are still branches, with an error for each.
fn refuse_branches(module: &mut Body) -> Diagnostics {
    let mut errors = Diagnostics::new();
    let symbols = SymbolTable::of(module);
    for function in module.all_ops().collect::<Vec<_>>() {
        let own = module.nested_mut(function).filter(|own| own.root_ref().is(llvm::FuncOp::DEF));
        let Some(own) = own else { continue };
        let branches: Vec<Op> = directed(own).into_iter().filter(|op| is_branch(own, *op)).collect();
        if branches.is_empty() {
            continue;
        }
        let why = raising::raise(own, &symbols).err().map_or("it is no loop", Opaque::reason);
        branches.into_iter().for_each(|op| errors.push(refusal(own, op, why)));
    }
    errors
}

/// True if an operation is a branch to another block.
fn is_branch(body: &Body, op: Op) -> bool {
    body.op_ref(op).successors().next().is_some()
}

/// Removes the directives of a loop. Returns an error with the reason why they cannot be obeyed.
fn refusal(body: &mut Body, op: Op, why: &str) -> Diagnostic {
    let text = body.attr(op, DIRECTIVE).and_then(|own| own.as_str(body.ctx())).unwrap_or_default();
    // The name of a sequence may not be in the user's program.
    let said = Directives::read(text).map_or(text.to_owned(), |own| {
        let all: Vec<&str> = own.of_sequence.iter().chain(&own.of_loop).map(|own| &*own.text).collect();
        all.join("; ")
    });
    let text = match &*said {
        "" => "a sequence needs loops that count their iterations before they run".to_owned(),
        said => format!("'{said}' needs a loop that counts its iterations before it runs"),
    };
    body.remove_attr(op, DIRECTIVE);
    let loc = body.loc(op);
    Diagnostic::error(loc, text).note(loc, format!("this loop does not: {why}"))
}

/// The pass that obeys the directives of a module.
pub(crate) const PASS: PassInfo = PassInfo {
    name: OBEY_DIRECTIVES,
    anchor: Some("builtin.module"),
    summary: "Transform loops as their directives say, such as loomir.directive = \"tile sizes(4, 8)\"",
    options: &[AliasMode::UNTESTED],
    make: |options| Ok(Box::new(ObeyPass { alias: AliasMode::untested_of(options)? })),
};

struct ObeyPass {
    alias: AliasMode,
}

impl Pass for ObeyPass {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let obeyed = obey_directives(body, self.alias)?;
        obeyed.remarks.iter().for_each(|remark| cx.remark(remark.clone()));
        Ok(())
    }
}
