//! Calls of functions with a body: the body is read in place.
//!
//! Each program is read with its own functions, so nothing is assumed of what is called. What is
//! read ends, so a call of it returns.
//!
//! **Promises.** The original may break what a call or its function promises: then it is undefined.
//! A call of the other program may promise only what holds of all that is read.

use loomir_dialects::interfaces::{CallLike, FunctionLike, Inlining};
use loomir_ir::{Attr, AttrKind, OpRef, Trait, Value, symbols};

use super::super::model::{ObjectKey, ScopeId};
use super::words::bits;
use super::{Binding, Read, Reader};

/// The most calls in each other; recursion ends there.
const MAX_CALLS: usize = 8;
/// The most accesses and loops of a function with all it calls.
const MAX_ORDER: usize = 20_000;
/// The most terms of a function with all it calls.
const MAX_TERMS: usize = 100_000;

/// Attributes of functions of LLVM that promise nothing, or what holds of all that is read: it
/// ends, throws nothing, and stays in its thread.
const OF_FUNCTIONS: [&str; 21] = [
    "sym_name",
    "sym_visibility",
    "function_type",
    "linkage",
    "dso_local",
    "CConv",
    "passthrough",
    "arg_attrs",
    "res_attrs",
    "visibility_",
    "unnamed_addr",
    "frame_pointer",
    "function_entry_count",
    "target_cpu",
    "target_features",
    "tune_cpu",
    "always_inline",
    "inline_hint",
    "no_unwind",
    "will_return",
    "llvm.as_read",
];
/// The same of calls.
const OF_CALLS: [&str; 12] = [
    "callee",
    "CConv",
    "TailCallKind",
    "fastmathFlags",
    "op_bundle_sizes",
    "operandSegmentSizes",
    "arg_attrs",
    "res_attrs",
    "always_inline",
    "inline_hint",
    "no_unwind",
    "will_return",
];
/// The value of `TailCallKind` for calls that must not see memory of their function's frame.
const TAIL: u64 = 1;

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
        let inside = callee.body();
        let Some((function, entry)) =
            function.and_then(|own| Some((own, inside.entry_block(own.body(callee))?)))
        else {
            return self.refuse(op, "the function called has no body");
        };
        if self.calls >= MAX_CALLS || self.order > MAX_ORDER || self.program.terms.len() > MAX_TERMS {
            return self.refuse(op, "calls are nested too deep, or the functions called are too large");
        }
        let passed = model.arguments(op);
        let parameters: Vec<Value> = inside.arguments(entry).collect();
        let given = passed.iter().map(|value| self.body.value_type(*value));
        if !given.eq(parameters.iter().map(|value| inside.value_type(*value))) {
            return self.refuse(op, "the function called takes other arguments");
        }
        let arguments: Vec<Binding> =
            passed.iter().map(|value| self.bindings[value.index()].clone()).collect();
        if callee.name() == "llvm.func" {
            self.call_of_words(op, callee, (model, function), &arguments)?;
        }
        let mut bindings = vec![Binding::Unknown; inside.num_value_slots()];
        for (parameter, argument) in parameters.iter().zip(&arguments) {
            bindings[parameter.index()] = argument.clone();
        }
        let outer = std::mem::replace(&mut self.bindings, bindings);
        let body = std::mem::replace(&mut self.body, inside);
        let known = self.program.objects.len();
        self.calls += 1;
        let end = self.called(op, callee, function, arguments, scope)?;
        self.calls -= 1;
        let results: Vec<Binding> =
            end.operands().map(|value| self.bindings[value.index()].clone()).collect();
        for result in &results {
            match result {
                Binding::Selected(..) => {
                    return self.refuse(op, "the function called returns one of two buffers");
                }
                Binding::Pointer(pointer) if pointer.object >= known => {
                    return self.refuse(op, "the function called returns a pointer to its own memory");
                }
                Binding::View(view) => self.outlives_call(view.object, known, op)?,
                _ => {}
            }
        }
        let given = end.operands().map(|value| inside.value_type(value));
        let is_typed = given.eq(op.results().map(|value| op.type_of(value)));
        (self.bindings, self.body) = (outer, body);
        if !is_typed {
            return self.refuse(op, "the function called has other results");
        }
        for (result, binding) in op.results().zip(results) {
            self.bindings[result.index()] = binding;
        }
        Ok(())
    }

    /// Reads the body of a function that is called. Returns the operation that ends it.
    fn called(
        &mut self,
        op: OpRef<'b>,
        callee: OpRef<'b>,
        function: &dyn FunctionLike,
        arguments: Vec<Binding>,
        scope: ScopeId,
    ) -> Read<'b, OpRef<'b>> {
        let (inside, region) = (callee.body(), function.body(callee));
        let Some(block) = inside.single_block(region) else {
            return self.walked(callee, region, arguments, scope);
        };
        self.block(block, scope)?;
        match inside.terminator(block).filter(|end| inside.has_trait(*end, Trait::ReturnLike)) {
            Some(end) => Ok(inside.op_ref(end)),
            None => self.refuse(op, "the function called does not return"),
        }
    }

    /// Refuses a call of a function of LLVM that does not mean the same as its body, or that
    /// promises more.
    fn call_of_words(
        &self,
        op: OpRef<'b>,
        callee: OpRef<'b>,
        (model, function): (&dyn CallLike, &dyn FunctionLike),
        arguments: &[Binding],
    ) -> Read<'b, ()> {
        let ctx = op.ctx();
        for inlining in [model.inlining(op), function.inlining(callee, self.body.root_ref())] {
            if let Inlining::Never(reason) = inlining {
                return self.refuse(op, format!("the call is not read: {reason}"));
            }
        }
        if function.is_variadic(callee) || op.attr("var_callee_type").is_some() {
            return self.refuse(op, "the function called takes any number of arguments");
        }
        if op.attr("CConv") != callee.attr("CConv") {
            return self.refuse(op, "the call and its function pass arguments differently");
        }
        if self.is_original {
            return Ok(());
        }
        let is_other = |op: OpRef<'_>, known: &[&str]| {
            let dicts = [op.properties(), op.attributes()];
            let mut names = dicts.iter().flat_map(|dict| dict.entries(ctx)).map(|(name, _)| ctx.str(*name));
            names.any(|name| !known.contains(&name))
        };
        let is_on_stack = |argument: &Binding| {
            matches!(argument, Binding::Pointer(pointer)
                if matches!(self.program.objects[pointer.object].key, ObjectKey::Allocation(_)))
        };
        let is_kept = match bits(op, "TailCallKind") {
            0 => true,
            TAIL => !arguments.iter().any(is_on_stack),
            _ => false,
        };
        let is_free = is_kept && bits(op, "fastmathFlags") == 0;
        match is_free && !is_other(op, &OF_CALLS) && !is_other(callee, &OF_FUNCTIONS) {
            true => Ok(()),
            false => self.refuse(op, "the call promises something that is not known to hold"),
        }
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
