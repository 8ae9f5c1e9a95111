//! Calls: custom forms, operand bundles, the requirements on the callee.

use loomir_ir::symbols::{SymbolTable, SymbolUser};
use loomir_ir::text::{Delimiter, OpParser, OpPrinter, ParseResult, UnresolvedOperand, type_to_string};
use loomir_ir::verifier::op_error;
use loomir_ir::{
    AttrKind, Context, Diagnostic, Diagnostics, Dict, EnumDef, OpRef, OperationState, Type, Value,
};

use crate::checks::types_of;
use crate::func::syntax::{dict_at, parse_dict, parse_results, print_dict, set_dicts};
use crate::llvm::InvokeOp;
use crate::llvm::attributes::{CCONV, TAIL_CALL_KIND};
use crate::llvm::globals::{FuncOp, IFuncOp};
use crate::llvm::types::{LlvmType, is_pointer};

/// Operand bundles during parsing: `["tag"(%a : i32), "other"()]`.
#[derive(Default)]
pub(crate) struct Bundles {
    tags: Vec<loomir_ir::Attr>,
    sizes: Vec<i64>,
    values: Vec<Value>,
}

impl Bundles {
    /// Reads bundles if a bracket is next.
    pub(crate) fn parse(p: &mut OpParser<'_, '_>) -> ParseResult<Bundles> {
        let mut bundles = Bundles::default();
        p.parse_list(Delimiter::OptionalSquare, |p| {
            let tag = p.parse_string()?;
            bundles.tags.push(p.ctx().string_attr(&tag));
            p.expect("(")?;
            let loc = p.loc();
            let operands = p.parse_operand_list(Delimiter::None)?;
            bundles.sizes.push(operands.len() as i64);
            if !operands.is_empty() {
                p.expect(":")?;
                let types = p.parse_type_list()?;
                bundles.values.extend(p.resolve_all(&operands, &types, loc)?);
            }
            p.expect(")")
        })?;
        Ok(bundles)
    }

    /// Adds the bundles' operands and attributes. Returns the number of operands.
    pub(crate) fn finish(self, ctx: &Context, state: &mut OperationState) -> i64 {
        state.set_attr(ctx, "op_bundle_sizes", ctx.dense_ints_attr(Type::I32, &self.sizes));
        if !self.tags.is_empty() {
            state.set_attr(ctx, "op_bundle_tags", ctx.array_attr(&self.tags));
        }
        let count = self.values.len();
        state.operands.extend(self.values);
        count as i64
    }
}

/// Writes ` ["tag"(%a : i32)]`, or nothing if there are no bundles.
pub(crate) fn print_bundles(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    let sizes = op.attr("op_bundle_sizes").and_then(|a| a.as_dense_ints(ctx)).unwrap_or_default();
    let tags = op.attr("op_bundle_tags").and_then(|a| a.as_array(ctx)).unwrap_or_default();
    let mut values = op.operand_group("op_bundle_operands").into_iter();
    for (i, size) in sizes.iter().enumerate() {
        p.write(if i == 0 { " [" } else { ", " });
        if let Some(tag) = tags.get(i) {
            p.attr(*tag);
        }
        let values: Vec<Value> = values.by_ref().take(usize::try_from(*size).unwrap_or(0)).collect();
        p.write("(");
        p.operands(values.iter().copied());
        if !values.is_empty() {
            p.write(" : ");
            p.types(values.iter().map(|v| op.type_of(*v)));
        }
        p.write(")");
    }
    if !sizes.is_empty() {
        p.write("]");
    }
}

/// Checks that the sizes of the bundles add up to the number of operands, and that each has a tag.
pub(crate) fn verify_bundles(op: OpRef<'_>, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let sizes = op.attr("op_bundle_sizes").and_then(|a| a.as_dense_ints(ctx)).unwrap_or_default();
    let total: i64 = sizes.iter().sum();
    let count = op.operand_group("op_bundle_operands").len();
    if total != count as i64 || sizes.iter().any(|size| *size < 0) {
        let message = format!(
            "op_bundle_operands count ({count}) does not match with the total size ({total}) specified in attribute 'op_bundle_sizes'"
        );
        out.push(op_error(op, message));
        return;
    }
    let tags = op.attr("op_bundle_tags").and_then(|a| a.as_array(ctx)).unwrap_or_default();
    if tags.len() != sizes.len() {
        let (tags, sizes) = (tags.len(), sizes.len());
        let message = format!("expected {sizes} operand bundle tags, but actually got {tags}");
        out.push(Diagnostic::error(op.loc(), message));
    } else if tags.iter().any(|tag| !matches!(tag.kind(ctx), AttrKind::String(_))) {
        out.push(op_error(op, "operand bundle tag must be a StringAttr"));
    }
}

/// Reads a case of an enumeration as a keyword, if one is next.
pub(crate) fn parse_optional_case(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    name: &str,
    cases: &EnumDef,
) -> bool {
    let found = cases.cases.iter().find(|(text, _)| !text.is_empty() && p.accept_keyword(text));
    if let Some((_, value)) = found {
        state.set_attr(p.ctx(), name, cases.attr(p.ctx(), *value));
    }
    found.is_some()
}

/// Reads `(i32 {…}, f32) -> (f32 {…})` and resolves the operands.
fn parse_signature(
    p: &mut OpParser<'_, '_>,
    state: &mut OperationState,
    operands: &[UnresolvedOperand],
) -> ParseResult<()> {
    let loc = p.loc();
    let inputs = p.parse_list(Delimiter::Paren, |p| Ok((p.parse_type()?, parse_dict(p, state)?)))?;
    let (types, attrs): (Vec<Type>, Vec<Dict>) = inputs.into_iter().unzip();
    let arrow = p.loc();
    if !p.is_next("->") {
        return Err(p.error(arrow, "expected '->' and the type of the result"));
    }
    let (results, result_attrs) = parse_results(p, state)?;
    if results.len() > 1 {
        return Err(p.error(arrow, "expected function with 0 or 1 result"));
    }
    let ctx = p.ctx();
    set_dicts(ctx, state, "arg_attrs", &attrs);
    set_dicts(ctx, state, "res_attrs", &result_attrs);
    let values = p.resolve_all(operands, &types, loc)?;
    state.operands.extend(values);
    state.result_types = results;
    Ok(())
}

fn print_signature(p: &mut OpPrinter<'_>, op: OpRef<'_>, arguments: &[Value]) {
    let ctx = op.ctx();
    p.write("(");
    for (i, argument) in arguments.iter().enumerate() {
        if i > 0 {
            p.write(", ");
        }
        p.ty(op.type_of(*argument));
        print_dict(p, dict_at(ctx, op.attr("arg_attrs"), i));
    }
    p.write(") -> ");
    let attrs = dict_at(ctx, op.attr("res_attrs"), 0);
    match op.results().next().map(|result| op.type_of(result)) {
        Some(ty) if attrs.is_empty() => p.ty(ty),
        Some(ty) => {
            p.write("(");
            p.ty(ty);
            print_dict(p, attrs);
            p.write(")");
        }
        None => p.write("()"),
    }
}

/// `llvm.call fastcc @f(%a) vararg(!llvm.func<…>) ["tag"()] {…} : (i32) -> f32`, or with a pointer
/// as callee and its type before the signature.
pub(super) fn parse_call(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    parse_optional_case(p, state, "CConv", &CCONV);
    parse_optional_case(p, state, "TailCallKind", &TAIL_CALL_KIND);
    let callee = Callee::parse(p, state)?;
    let bundles = callee.parse_rest(p, state)?;
    let arguments = state.operands.len() as i64;
    let bundled = bundles.finish(ctx, state);
    state.set_segments(ctx, &[arguments, bundled]);
    Ok(())
}

/// A callee as it is read, with the arguments.
pub(super) struct Callee {
    /// The pointer, if one is called.
    pointer: Option<UnresolvedOperand>,
    arguments: Vec<UnresolvedOperand>,
}

impl Callee {
    /// Reads `@f(%a)` or `%p(%a)`.
    pub(super) fn parse(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<Callee> {
        let ctx = p.ctx();
        let pointer = p.parse_optional_operand()?;
        if pointer.is_none() {
            let name = p.parse_symbol_name()?;
            let callee = ctx.symbol_attr(name.as_str(ctx).unwrap_or_default());
            state.set_attr(ctx, "callee", callee);
        }
        Ok(Callee { pointer, arguments: p.parse_operand_list(Delimiter::Paren)? })
    }

    /// Reads `vararg(…) ["tag"()] {…} : !llvm.ptr, (i32) -> f32`. Adds what is called as operands.
    pub(super) fn parse_rest(
        self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
    ) -> ParseResult<Bundles> {
        let ctx = p.ctx();
        if p.accept_keyword("vararg") {
            p.expect("(")?;
            let ty = p.parse_type()?;
            p.expect(")")?;
            state.set_attr(ctx, "var_callee_type", ctx.type_attr(ty));
        }
        let bundles = Bundles::parse(p)?;
        p.parse_optional_attr_dict(state)?;
        p.expect(":")?;
        if let Some(pointer) = self.pointer {
            let ty = p.parse_type()?;
            state.operands.push(p.resolve(pointer, ty)?);
            p.expect(",")?;
        }
        parse_signature(p, state, &self.arguments)?;
        Ok(bundles)
    }
}

const CALL_SAID: &[&str] = &[
    "TailCallKind",
    "callee",
    "var_callee_type",
    "CConv",
    "operandSegmentSizes",
    "op_bundle_sizes",
    "op_bundle_tags",
    "arg_attrs",
    "res_attrs",
];

/// The same without the kind of tail call, which an invoke does not have.
pub(super) const INVOKE_SAID: &[&str] = CALL_SAID.split_at(1).1;

pub(super) fn print_call(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let ctx = op.ctx();
    p.write(" ");
    for (name, cases) in [("CConv", &CCONV), ("TailCallKind", &TAIL_CALL_KIND)] {
        match op.attr(name).and_then(|attr| cases.value(ctx, attr)) {
            Some(value) if value != 0 => {
                p.write(&cases.text_of(value).unwrap_or_default());
                p.write(" ");
            }
            _ => {}
        }
    }
    let (pointer, arguments) = print_callee(p, op);
    print_rest(p, op, (pointer, &arguments), CALL_SAID);
}

/// Writes what [`Callee::parse_rest`] reads, without the attributes that were said.
pub(super) fn print_rest(
    p: &mut OpPrinter<'_>,
    op: OpRef<'_>,
    (pointer, arguments): (Option<Value>, &[Value]),
    said: &[&str],
) {
    if let Some(ty) = op.attr("var_callee_type").and_then(|ty| ty.as_type(op.ctx())) {
        p.write(" vararg(");
        p.ty(ty);
        p.write(")");
    }
    print_bundles(p, op);
    p.attr_dict(op, said);
    p.write(" : ");
    if let Some(pointer) = pointer {
        p.ty(op.type_of(pointer));
        p.write(", ");
    }
    print_signature(p, op, arguments);
}

/// Writes `@f(%a)` or `%p(%a)`. Returns the pointer, if one is called, and the arguments.
pub(super) fn print_callee(p: &mut OpPrinter<'_>, op: OpRef<'_>) -> (Option<Value>, Vec<Value>) {
    let ctx = op.ctx();
    let callee = op.attr("callee").and_then(|callee| callee.as_flat_symbol(ctx));
    let pointer = op.operand_group("callee_operands").first().copied().filter(|_| callee.is_none());
    match (callee, pointer) {
        (Some(callee), _) => p.symbol_name(ctx.str(callee)),
        (None, Some(pointer)) => p.operand(pointer),
        _ => {}
    }
    let arguments = arguments(op);
    p.write("(");
    p.operands(arguments.iter().copied());
    p.write(")");
    (pointer, arguments)
}

/// `llvm.call_intrinsic "llvm.abs.i32"(%a) {…} : (i32) -> i32`.
pub(super) fn parse_intrinsic(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let ctx = p.ctx();
    let name = p.parse_string()?;
    state.set_attr(ctx, "intrin", ctx.string_attr(&name));
    let operands = p.parse_operand_list(Delimiter::Paren)?;
    let bundles = Bundles::parse(p)?;
    p.parse_optional_attr_dict(state)?;
    p.expect(":")?;
    parse_signature(p, state, &operands)?;
    let arguments = state.operands.len() as i64;
    let bundled = bundles.finish(ctx, state);
    state.set_segments(ctx, &[arguments, bundled]);
    Ok(())
}

pub(super) fn print_intrinsic(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let arguments = op.operand_group("args");
    p.write(" ");
    if let Some(name) = op.attr("intrin") {
        p.attr(name);
    }
    p.write("(");
    p.operands(arguments.iter().copied());
    p.write(")");
    print_bundles(p, op);
    p.attr_dict(
        op,
        &["intrin", "operandSegmentSizes", "op_bundle_sizes", "op_bundle_tags", "arg_attrs", "res_attrs"],
    );
    p.write(" : ");
    print_signature(p, op, &arguments);
}

/// Requires a callee by name or by pointer, a variadic type for a variadic callee, and complete
/// bundles.
pub(super) fn verify_call(op: OpRef<'_>, out: &mut Diagnostics) {
    verify_bundles(op, out);
    let ctx = op.ctx();
    if op.attr("callee").is_none() {
        match op.operand_group("callee_operands").first() {
            None => {
                out.push(op_error(op, "must have either a `callee` attribute or at least an operand"));
                return;
            }
            Some(callee) if !is_pointer(ctx, op.type_of(*callee)) => {
                let ty = type_to_string(ctx, op.type_of(*callee));
                out.push(op_error(op, format!("indirect call expects a pointer as callee: '{ty}'")));
                return;
            }
            Some(_) => {}
        }
    }
    if let Some(ty) = op.attr("var_callee_type").and_then(|ty| ty.as_type(ctx)) {
        match LlvmType::of(ctx, ty) {
            Some(LlvmType::Function { variadic: true, .. }) if op.attr("callee").is_none() => {
                verify_types(op, ty, out);
            }
            Some(LlvmType::Function { variadic: true, .. }) => {}
            _ => out.push(op_error(op, "expected var_callee_type to be a variadic function type")),
        }
    }
}

/// Returns the arguments of a call, without the pointer of an indirect one.
pub(crate) fn arguments(op: OpRef<'_>) -> Vec<Value> {
    let mut operands = op.operand_group("callee_operands");
    if op.attr("callee").is_none() && !operands.is_empty() {
        operands.remove(0);
    }
    operands
}

/// Reports operands and results that do not match a function type.
fn verify_types(op: OpRef<'_>, ty: Type, out: &mut Diagnostics) {
    let ctx = op.ctx();
    let name = |ty| type_to_string(ctx, ty);
    let Some(LlvmType::Function { result, params, variadic }) = LlvmType::of(ctx, ty) else { return };
    let arguments = types_of(op, arguments(op));
    let (given, expected) = (arguments.len(), params.len());
    if given < expected || (given > expected && !variadic) {
        let message = format!("incorrect number of operands ({given}) for callee (expecting: {expected})");
        out.push(op_error(op, message));
        return;
    }
    for (i, (argument, param)) in arguments.iter().zip(&params).enumerate() {
        if argument != param {
            let (argument, param) = (name(*argument), name(*param));
            out.push(op_error(
                op,
                format!("operand type mismatch for operand {i}: '{argument}' != '{param}'"),
            ));
        }
    }
    let is_void = LlvmType::of(ctx, result) == Some(LlvmType::Void);
    match op.results().next().map(|r| op.type_of(r)) {
        Some(_) if is_void => {
            out.push(op_error(op, "calling function with void result must not produce values"));
        }
        None if !is_void => out.push(op_error(op, "expected function call to produce a value")),
        Some(own) if own != result => {
            let (own, result) = (name(own), name(result));
            out.push(op_error(op, format!("result type mismatch: '{own}' != '{result}'")));
        }
        _ => {}
    }
}

/// A call of an existing function, with its type.
pub(crate) struct Call;

impl SymbolUser for Call {
    fn verify_symbols(&self, op: OpRef<'_>, table: &SymbolTable, out: &mut Diagnostics) {
        let ctx = op.ctx();
        let Some(callee) = op.attr("callee") else { return };
        let name = callee.as_flat_symbol(ctx).map_or("", |name| ctx.str(name));
        let Some(symbol) = table.resolve(ctx, callee) else {
            if op.is(InvokeOp::DEF) && name.starts_with("llvm.") {
                // Intrinsics need no declaration.
                return;
            }
            out.push(op_error(op, format!("'{name}' does not reference a symbol in the current scope")));
            return;
        };
        let info = ctx.op_info(symbol.name);
        let ty = match (info.is(FuncOp::DEF), info.is(IFuncOp::DEF)) {
            (true, _) => symbol.attr(ctx, "function_type"),
            (_, true) => symbol.attr(ctx, "i_func_type"),
            _ => {
                out.push(op_error(op, format!("'{name}' does not reference a valid LLVM function or IFunc")));
                return;
            }
        };
        let Some(ty) = ty.and_then(|ty| ty.as_type(ctx)) else { return };
        let variadic = matches!(LlvmType::of(ctx, ty), Some(LlvmType::Function { variadic: true, .. }));
        if variadic && op.attr("var_callee_type").is_none() {
            out.push(op_error(op, "missing var_callee_type attribute for vararg call"));
            return;
        }
        verify_types(op, ty, out);
    }
}
