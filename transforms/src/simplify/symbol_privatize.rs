//! Privatization of symbols: no other module refers to them, the user promises.
//!
//! All symbols of a symbol table become private, except those that the option `exclude` names, and
//! LLVM's own, such as `llvm.global_ctors`: the loader and the linker read them.
//! Passes such as [`symbol_dce`](super::symbol_dce) and `inline` can do more with them.
//!
//! **Cost.** Linear in the symbols of the table.

use loomir_ir::pass::{Options, Pass, PassContext, PassInfo};
use loomir_ir::symbols::{SYMBOL_VISIBILITY, symbol_name};
use loomir_ir::{Body, Diagnostics, Op, Trait};

use super::symbol_dce::{is_private, top_level};

/// The pass `symbol-privatize`, on one symbol table.
pub const PASS: PassInfo = PassInfo {
    name: "symbol-privatize",
    anchor: None,
    summary: "Make all symbols private",
    options: &[("exclude", "", "the symbols that keep their visibility, separated by commas")],
    make: |options| Ok(Box::new(SymbolPrivatize::of(options)?)),
};

struct SymbolPrivatize {
    exclude: Vec<String>,
}

impl SymbolPrivatize {
    fn of(options: &Options) -> Result<SymbolPrivatize, String> {
        Ok(SymbolPrivatize { exclude: options.list("exclude")? })
    }
}

impl Pass for SymbolPrivatize {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        cx.unchanged = true;
        if !body.has_trait(body.root(), Trait::SymbolTable) {
            return Ok(());
        }
        let is_meant = |op: &Op| {
            let name = symbol_name(body, *op).map(|name| body.ctx().str(name));
            let is_own = |name: &str| name.starts_with("llvm.") || self.exclude.iter().any(|own| own == name);
            name.is_some_and(|name| !is_own(name)) && !is_private(body, *op)
        };
        let changed: Vec<Op> = top_level(body).into_iter().filter(is_meant).collect();
        cx.count("Symbols made private", changed.len() as u64);
        cx.unchanged = changed.is_empty();
        let private = body.ctx().string_attr("private");
        changed.into_iter().for_each(|op| body.set_attr(op, SYMBOL_VISIBILITY, private));
        Ok(())
    }
}
