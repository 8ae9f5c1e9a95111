//! Literals: attributes and constant operations as text.
//!
//! An initializer of a global is a small program of constant operations; it is evaluated to one
//! constant expression.

use std::borrow::Cow;
use std::fmt::Write;
use std::rc::Rc;

use hashbrown::HashMap;
use loomir_dialects::llvm;
use loomir_dialects::llvm::attributes::OVERFLOW;
use loomir_dialects::llvm::control::addresses::named_block;
use loomir_dialects::llvm::memory::DYNAMIC_INDEX;
use loomir_dialects::llvm::types::LlvmType;
use loomir_ir::{Attr, AttrKind, Diagnostic, FloatKind, OpRef, Type, TypeKind, Value};

use super::names::{double, quoted, widen};
use super::{Module, no_text};
use crate::ll::IN_RANGE;
use crate::ll::as_read::{MAX_OPERATIONS, is_constant_op};

/// The maximal nesting of constants.
const MAX_DEPTH: usize = 256;

/// Writes a literal operation, without its type.
pub(super) fn write_literal(m: &mut Module, text: &mut String, op: OpRef<'_>) -> Result<(), Diagnostic> {
    let ty = op.result_type(0);
    let written = if op.is(llvm::ConstantOp::DEF) {
        op.attr("value").and_then(|value| write_constant(m, text, value, ty, 0))
    } else if op.is(llvm::AddressOfOp::DEF) {
        let name = op.attr("global_name").and_then(|name| name.as_flat_symbol(&m.ctx));
        name.map(|name| text.push_str(&m.symbol(m.ctx.str(name))))
    } else if op.is(llvm::BlockAddressOp::DEF) {
        named_block(op).and_then(|(function, tag)| {
            let function = m.ctx.str(function);
            let block = m.tagged.get(&(function.to_owned(), tag))?;
            let _ = write!(text, "blockaddress({}, %{block})", m.symbol(function));
            Some(())
        })
    } else {
        let words = [
            (llvm::UndefOp::DEF, "undef"),
            (llvm::PoisonOp::DEF, "poison"),
            (llvm::NoneTokenOp::DEF, "none"),
        ];
        let word = words.into_iter().find(|(def, _)| op.is(def)).map(|(_, word)| word.into());
        let zero = || op.is(llvm::ZeroOp::DEF).then(|| zero(m, ty));
        word.or_else(zero).map(|word| text.push_str(&word))
    };
    written.ok_or_else(|| no_text(op, "with this attribute and type"))
}

/// Returns the text of a constant with all bits zero.
pub(super) fn zero(m: &Module, ty: Type) -> Cow<'static, str> {
    match ty.kind(&m.ctx) {
        TypeKind::Integer { width: 1, .. } => "false".into(),
        TypeKind::Integer { .. } => "0".into(),
        TypeKind::Float(kind) => float(*kind, 0).map_or("zeroinitializer".into(), Cow::from),
        _ => match LlvmType::of(&m.ctx, ty) {
            Some(LlvmType::Pointer { .. }) => "null".into(),
            Some(LlvmType::Token) => "none".into(),
            _ => "zeroinitializer".into(),
        },
    }
}

/// Returns the text of an attribute as a constant of a type. `None` if it is no constant.
pub(super) fn constant(m: &mut Module, value: Attr, ty: Type) -> Option<String> {
    let mut text = String::new();
    write_constant(m, &mut text, value, ty, 0)?;
    Some(text)
}

fn write_constant(m: &mut Module, text: &mut String, value: Attr, ty: Type, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    let ctx = m.ctx.clone();
    match value.kind(&ctx) {
        AttrKind::Integer { value, .. } => {
            // An index represents an integer of any width.
            let bits = ty.integer_width(&ctx)?;
            write_integer(text, *value, bits);
        }
        AttrKind::WideInteger { bytes, .. } => {
            // Bits beyond the width repeat the sign.
            let unused = (bytes.len() as u32 * 8).checked_sub(ty.integer_width(&ctx)?)?;
            text.push_str("u0x");
            for (i, byte) in bytes.iter().rev().enumerate() {
                let byte = if i == 0 { byte & 0xffu8.checked_shr(unused)? } else { *byte };
                let _ = write!(text, "{byte:02X}");
            }
        }
        AttrKind::Float { bits, ty: own } => {
            let TypeKind::Float(kind) = own.kind(&ctx) else { return None };
            text.push_str(&float(*kind, *bits)?);
        }
        AttrKind::String(bytes) => {
            let _ = write!(text, "c{}", quoted(bytes));
        }
        AttrKind::Symbol { root, nested } if nested.is_empty() => text.push_str(&m.symbol(ctx.str(*root))),
        AttrKind::DenseElements { ty: elements, splat, bytes } => {
            let element = elements.element(&ctx)?;
            write_elements(m, text, &Elements { element, splat: *splat, bytes }, ty)?;
        }
        AttrKind::Array(parts) => {
            let (types, open, close) = part_types(m, ty, parts.len())?;
            text.push_str(open);
            for (i, (part, ty)) in parts.iter().zip(types).enumerate() {
                let ty_text = m.types.get(ty)?;
                let _ = write!(text, "{}{ty_text} ", if i == 0 { "" } else { ", " });
                write_constant(m, text, *part, ty, depth + 1)?;
            }
            text.push_str(close);
        }
        AttrKind::Dialect { name, .. } => text.push_str(special(ctx.str(*name))?),
        AttrKind::Opaque { dialect, body, .. } if ctx.str(*dialect) == "llvm" => {
            text.push_str(special(&format!("llvm.{body}"))?);
        }
        _ => return None,
    }
    Some(())
}

/// `#llvm.zero` and the like.
fn special(name: &str) -> Option<&'static str> {
    Some(match name {
        "llvm.mlir.zero" | "llvm.zero" => "zeroinitializer",
        "llvm.undef" => "undef",
        "llvm.poison" => "poison",
        _ => return None,
    })
}

/// Returns the types of the parts of an aggregate of `count` parts, and its brackets.
fn part_types(m: &Module, ty: Type, count: usize) -> Option<(Vec<Type>, &'static str, &'static str)> {
    if let TypeKind::Vector { element, .. } = ty.kind(&m.ctx) {
        return Some((vec![*element; count], "<", ">"));
    }
    match LlvmType::of(&m.ctx, ty)? {
        LlvmType::Array { length, element } if length as usize == count => {
            Some((vec![element; count], "[", "]"))
        }
        LlvmType::Struct(s) => {
            let packed = s.packed;
            let body = s.body.filter(|body| body.len() == count)?;
            Some(match (packed, count) {
                (true, _) => (body, "<{ ", " }>"),
                (false, 0) => (body, "{", "}"),
                (false, _) => (body, "{ ", " }"),
            })
        }
        _ => None,
    }
}

fn write_integer(text: &mut String, value: i128, bits: u32) {
    let shift = 128u32.saturating_sub(bits.max(1));
    let value = (value << shift) >> shift;
    match (bits, value) {
        (1, 0) => text.push_str("false"),
        (1, _) => text.push_str("true"),
        _ => text.push_str(itoa::Buffer::new().format(value)),
    }
}

/// Returns the text of a float of an LLVM format.
fn float(kind: FloatKind, bits: u128) -> Option<String> {
    Some(match kind {
        FloatKind::F16 => format!("0xH{:04X}", bits as u16),
        FloatKind::BF16 => format!("0xR{:04X}", bits as u16),
        FloatKind::F32 => double(widen(bits as u32)),
        FloatKind::F64 => double(bits as u64),
        FloatKind::F80 => format!("0xK{:04X}{:016X}", (bits >> 64) as u16, bits as u64),
        FloatKind::F128 => format!("0xL{:016X}{:016X}", bits as u64, (bits >> 64) as u64),
        _ => return None,
    })
}

/// Dense elements in row-major order.
struct Elements<'a> {
    element: Type,
    splat: bool,
    bytes: &'a [u8],
}

impl Elements<'_> {
    fn width(&self, m: &Module) -> Option<usize> {
        let bits = match self.element.kind(&m.ctx) {
            TypeKind::Index => 64,
            TypeKind::Integer { width, .. } => *width,
            TypeKind::Float(kind) => kind.width(),
            _ => return None,
        };
        Some(bits.div_ceil(8).max(1) as usize)
    }

    fn bits(&self, index: usize, width: usize) -> Option<u128> {
        let start = if self.splat { 0 } else { index.checked_mul(width)? };
        let bytes = self.bytes.get(start..start + width)?;
        let mut wide = [0u8; 16];
        wide.get_mut(..width)?.copy_from_slice(bytes);
        Some(u128::from_le_bytes(wide))
    }
}

fn write_elements(m: &mut Module, text: &mut String, elements: &Elements<'_>, ty: Type) -> Option<()> {
    if elements.bytes.iter().all(|b| *b == 0) {
        text.push_str(&zero(m, ty));
        return Some(());
    }
    let width = elements.width(m)?;
    let mut next = 0;
    write_level(m, text, elements, width, ty, &mut next, 0)
}

fn write_level(
    m: &mut Module,
    text: &mut String,
    elements: &Elements<'_>,
    width: usize,
    ty: Type,
    next: &mut usize,
    depth: usize,
) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    let ctx = m.ctx.clone();
    let (length, inner, open, close) = match ty.kind(&ctx) {
        TypeKind::Vector { shape, scalable, element } => {
            let [size] = **shape else { return None };
            if scalable.first() == Some(&true) || (elements.splat && size > 1) {
                if !elements.splat {
                    return None;
                }
                let inner = m.types.get(*element)?;
                let _ = write!(text, "splat ({inner} ");
                write_level(m, text, elements, width, *element, next, depth + 1)?;
                *next += usize::try_from(size).ok()?.saturating_sub(1);
                text.push(')');
                return Some(());
            }
            (size as u64, *element, '<', '>')
        }
        TypeKind::Integer { width: bits, .. } => {
            let value = elements.bits(*next, width)?;
            *next += 1;
            write_integer(text, value as i128, *bits);
            return Some(());
        }
        TypeKind::Float(kind) => {
            let value = elements.bits(*next, width)?;
            *next += 1;
            text.push_str(&float(*kind, value)?);
            return Some(());
        }
        _ => match LlvmType::of(&ctx, ty)? {
            LlvmType::Array { length, element } => (length, element, '[', ']'),
            _ => return None,
        },
    };
    if inner == Type::I8 && open == '[' && !elements.splat {
        let end = next.checked_add(usize::try_from(length).ok()?)?;
        let bytes = elements.bytes.get(*next..end)?;
        let _ = write!(text, "c{}", quoted(bytes));
        *next = end;
        return Some(());
    }
    let inner_text = m.types.get(inner)?;
    text.push(open);
    for i in 0..length {
        let _ = write!(text, "{}{inner_text} ", if i == 0 { "" } else { ", " });
        write_level(m, text, elements, width, inner, next, depth + 1)?;
    }
    text.push(close);
    Some(())
}

// Initializers.

/// A constant under construction.
#[derive(Clone)]
enum Tree {
    Text(String),
    Parts(Vec<Tree>),
}

/// Returns the constant that the region of a global returns.
pub(super) fn initializer(m: &mut Module, global: OpRef<'_>) -> Result<String, Diagnostic> {
    let body = global.body();
    let fail = || no_text(global, "with an initializer like this");
    let block = body.entry_block(global.region(0)).ok_or_else(fail)?;
    let mut evaluated = Evaluated::default();
    for op in body.ops(block) {
        let op = OpRef::new(body, op);
        if op.is(llvm::ReturnOp::DEF) {
            let value = op.operands().next().ok_or_else(fail)?;
            return evaluated.text(m, value, op.type_of(value)).ok_or_else(fail);
        }
        evaluated.add(m, op)?;
    }
    Err(fail())
}

/// Returns the text of an operand that must be a constant.
pub(super) fn constant_value(m: &mut Module, user: OpRef<'_>, value: Value) -> Result<String, Diagnostic> {
    let body = user.body();
    let fail = || no_text(user, "with an operand that is no constant");
    // What it consists of, users first. An operation may be there several times.
    let (mut pending, mut ops) = (vec![value], Vec::new());
    while let Some(value) = pending.pop() {
        let op = body.defining_op(value).filter(|_| ops.len() < MAX_OPERATIONS).ok_or_else(fail)?;
        pending.extend(body.operands(op));
        ops.push(op);
    }
    let mut evaluated = Evaluated::default();
    while let Some(op) = ops.pop() {
        evaluated.add(m, body.op_ref(op))?;
    }
    evaluated.text(m, value, user.type_of(value)).ok_or_else(fail)
}

/// Constant operations and their values.
#[derive(Default)]
struct Evaluated {
    values: HashMap<Value, Tree>,
    parts: PartTypes,
}

impl Evaluated {
    /// Evaluates an operation, whose operands are known.
    fn add(&mut self, m: &mut Module, op: OpRef<'_>) -> Result<(), Diagnostic> {
        let fail = || no_text(op, "in a constant");
        let tree = if is_constant_op(op) {
            let mut text = String::new();
            write_literal(m, &mut text, op)?;
            Tree::Text(text)
        } else if op.is(llvm::InsertValueOp::DEF) || op.is(llvm::InsertElementOp::DEF) {
            insert(m, op, &mut self.values, &mut self.parts).ok_or_else(fail)?
        } else {
            Tree::Text(expression(m, op, &self.values).ok_or_else(fail)?)
        };
        self.values.insert(op.result(0), tree);
        Ok(())
    }

    /// Returns the text of a value.
    fn text(&mut self, m: &mut Module, value: Value, ty: Type) -> Option<String> {
        let tree = self.values.remove(&value)?;
        let mut text = String::new();
        write_tree(m, &mut text, &tree, ty, 0).map(|()| text)
    }
}

/// The maximal number of parts of an aggregate made by insertions.
const MAX_PARTS: u64 = 1 << 24;

/// The types of the parts of aggregates, computed once for each type: a large one takes many
/// insertions.
type PartTypes = HashMap<Type, Rc<[Type]>>;

fn parts_of(m: &Module, ty: Type, known: &mut PartTypes) -> Option<Rc<[Type]>> {
    if let Some(parts) = known.get(&ty) {
        return Some(parts.clone());
    }
    let parts: Rc<[Type]> = match (ty.kind(&m.ctx), LlvmType::of(&m.ctx, ty)) {
        (TypeKind::Vector { shape, element, .. }, _) => {
            let length =
                usize::try_from(*shape.first()?).ok().filter(|length| *length as u64 <= MAX_PARTS)?;
            vec![*element; length].into()
        }
        (_, Some(LlvmType::Array { length, element })) if length <= MAX_PARTS => {
            vec![element; usize::try_from(length).ok()?].into()
        }
        (_, Some(LlvmType::Struct(s))) => s.body?.into(),
        _ => return None,
    };
    known.insert(ty, parts.clone());
    Some(parts)
}

/// Returns the position at which an insertion puts its value.
fn position(m: &Module, op: OpRef<'_>, values: &HashMap<Value, Tree>) -> Option<Vec<i64>> {
    if op.is(llvm::InsertValueOp::DEF) {
        return op.attr("position")?.as_dense_ints(&m.ctx);
    }
    match values.get(&op.operand(2))? {
        Tree::Text(index) => Some(vec![index.parse().ok()?]),
        Tree::Parts(_) => None,
    }
}

fn insert(
    m: &Module,
    op: OpRef<'_>,
    values: &mut HashMap<Value, Tree>,
    known: &mut PartTypes,
) -> Option<Tree> {
    let (container, value) = (op.operand(0), op.operand(1));
    let position = position(m, op, values)?;
    let inserted = values.get(&value)?.clone();
    // In a chain of insertions, each step has one use.
    let whole = if op.body().has_one_use(container) {
        values.remove(&container)?
    } else {
        values.get(&container)?.clone()
    };
    let mut root = whole;
    let mut place = &mut root;
    let mut ty = op.type_of(container);
    for index in position {
        let types = parts_of(m, ty, known)?;
        let index = usize::try_from(index).ok().filter(|i| *i < types.len())?;
        if let Tree::Text(text) = place {
            // Each part of `undef`, `poison` or zero is the same constant.
            let parts = types
                .iter()
                .map(|ty| match &**text {
                    "zeroinitializer" => Tree::Text(zero(m, *ty).into_owned()),
                    _ => Tree::Text(text.clone()),
                })
                .collect();
            *place = Tree::Parts(parts);
        }
        let Tree::Parts(parts) = place else { return None };
        place = parts.get_mut(index)?;
        ty = types[index];
    }
    *place = inserted;
    Some(root)
}

fn write_tree(m: &mut Module, text: &mut String, tree: &Tree, ty: Type, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match tree {
        Tree::Text(own) => text.push_str(own),
        Tree::Parts(parts) => {
            let (types, open, close) = part_types(m, ty, parts.len())?;
            text.push_str(open);
            for (i, (part, ty)) in parts.iter().zip(types).enumerate() {
                let ty_text = m.types.get(ty)?;
                let _ = write!(text, "{}{ty_text} ", if i == 0 { "" } else { ", " });
                write_tree(m, text, part, ty, depth + 1)?;
            }
            text.push_str(close);
        }
    }
    Some(())
}

/// Returns the flags of an address computation, each before a space.
pub(super) fn gep_flags(value: Option<i64>) -> &'static str {
    let value = value.unwrap_or(0);
    // `inbounds` implies `nusw`.
    match (value & 3, value & 4 != 0) {
        (0, false) => "",
        (0, true) => "nuw ",
        (2, false) => "nusw ",
        (2, true) => "nusw nuw ",
        (_, false) => "inbounds ",
        (_, true) => "inbounds nuw ",
    }
}

/// Returns the flags of a sum or difference, each behind a space.
fn overflow(op: OpRef<'_>) -> String {
    let flags = op.attr("overflowFlags").and_then(|flags| OVERFLOW.value(op.ctx(), flags)).unwrap_or(0);
    let has = |name: &&str| OVERFLOW.value_of(name).is_some_and(|bit| flags & bit != 0);
    ["nuw", "nsw"].iter().filter(|name| has(name)).map(|name| format!(" {name}")).collect()
}

/// Returns the text of a constant expression of LLVM.
fn expression(m: &mut Module, op: OpRef<'_>, values: &HashMap<Value, Tree>) -> Option<String> {
    let ctx = m.ctx.clone();
    let mut operands = Vec::new();
    for operand in op.operands() {
        let Tree::Text(text) = values.get(&operand)? else { return None };
        operands.push(format!("{} {text}", m.types.get(op.type_of(operand))?));
    }
    let mnemonic = op.name().strip_prefix("llvm.")?;
    let result = m.types.get(op.result_type(0))?;
    Some(match mnemonic {
        "ptrtoint" | "inttoptr" | "bitcast" | "addrspacecast" | "trunc" => {
            format!("{mnemonic} ({} to {result})", operands.first()?)
        }
        "add" | "sub" | "xor" => {
            format!("{mnemonic}{} ({})", overflow(op), operands.join(", "))
        }
        "getelementptr" => {
            let element = m.types.get(op.attr("elem_type")?.as_type(&ctx)?)?;
            let flags = gep_flags(op.attr("noWrapFlags").and_then(|a| a.as_int(&ctx)));
            let mut parts = vec![element.to_string(), operands.first()?.clone()];
            let mut dynamic = operands.iter().skip(1);
            for index in op.attr("rawConstantIndices")?.as_dense_ints(&ctx)? {
                parts.push(match index {
                    DYNAMIC_INDEX => dynamic.next()?.clone(),
                    known => format!("i32 {known}"),
                });
            }
            let range = op.attr(IN_RANGE).and_then(|range| range.as_str(&ctx));
            let range = range.map_or_else(String::new, |range| format!("{range} "));
            format!("getelementptr {flags}{range}({})", parts.join(", "))
        }
        _ => return None,
    })
}
