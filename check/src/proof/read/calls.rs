//! Calls of functions with a body: the body is read in place.
//!
//! Each program is read with its own functions, so nothing is assumed of what is called.

use loomir_dialects::interfaces::{CallLike, FunctionLike};
use loomir_ir::{Attr, AttrKind, OpRef, Trait, symbols};

use super::super::model::ScopeId;
use super::{Binding, Read, Reader};

/// The most calls in each other; recursion ends there.
const MAX_CALLS: usize = 8;
/// The most accesses and loops of a function with all it calls.
const MAX_ORDER: usize = 20_000;

impl<'b> Reader<'b, '_> {
    pub(super) fn call(&mut self, op: OpRef<'b>, model: &dyn CallLike, scope: ScopeId) -> Read<'b, ()> {
        let ctx = op.ctx();
        let name = model.callee(op).and_then(|callee| callee.as_flat_symbol(ctx));
        let callee = name.and_then(|name| symbols::lookup(self.module, ctx.str(name)));
        let Some(callee) = callee.map(|callee| self.module.op_ref(callee)) else {
            return self.refuse(op, "the function called is not known");
        };
        if !self.is_original && [op, callee].into_iter().any(says_of_values) {
            return self.refuse(op, "the call promises something of its arguments or results");
        }
        let function = callee.info().interface::<dyn FunctionLike>();
        let block = function.and_then(|function| callee.body().single_block(function.body(callee)));
        let Some(block) = block else {
            return self.refuse(op, "the function called has no body, or more than one block");
        };
        if self.calls >= MAX_CALLS || self.order > MAX_ORDER {
            return self.refuse(op, "calls are nested too deep, or the functions called are too large");
        }
        let arguments: Vec<Binding> =
            model.arguments(op).iter().map(|value| self.bindings[value.index()].clone()).collect();
        let inside = callee.body();
        let parameters: Vec<_> = inside.arguments(block).collect();
        if parameters.len() != arguments.len() {
            return self.refuse(op, "the function called takes other arguments");
        }
        let mut bindings = vec![Binding::Unknown; inside.num_value_slots()];
        for (parameter, argument) in parameters.iter().zip(arguments) {
            bindings[parameter.index()] = argument;
        }
        let outer = std::mem::replace(&mut self.bindings, bindings);
        let body = std::mem::replace(&mut self.body, inside);
        let known = self.program.objects.len();
        self.calls += 1;
        self.block(block, scope)?;
        self.calls -= 1;
        let end = inside.terminator(block).filter(|end| inside.has_trait(*end, Trait::ReturnLike));
        let Some(end) = end else { return self.refuse(op, "the function called does not return") };
        let results: Vec<Binding> =
            inside.operands(end).map(|value| self.bindings[value.index()].clone()).collect();
        for result in &results {
            if matches!(result, Binding::Selected(..)) {
                return self.refuse(op, "the function called returns one of two buffers");
            }
            if let Binding::View(view) = result {
                self.outlives_call(view.object, known, op)?;
            }
        }
        (self.bindings, self.body) = (outer, body);
        if results.len() != op.num_results() {
            return self.refuse(op, "the function called has other results");
        }
        for (result, binding) in op.results().zip(results) {
            self.bindings[result.index()] = binding;
        }
        Ok(())
    }
}

/// True if attributes of arguments or results say something.
pub(crate) fn says_of_values(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let is_empty =
        |attr: &Attr| matches!(attr.kind(ctx), AttrKind::Dictionary(dict) if dict.entries(ctx).is_empty());
    let says = |name: &str| {
        op.attr(name).is_some_and(|attr| !attr.as_array(ctx).unwrap_or_default().iter().all(is_empty))
    };
    ["arg_attrs", "res_attrs"].into_iter().any(says)
}
