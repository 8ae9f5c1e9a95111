//! Attributes of definitions for all that IRDL lacks. MLIR ignores them.
//!
//! | attribute | of | says |
//! | --- | --- | --- |
//! | `loomir.summary = "text"` | all | documentation |
//! | `loomir.storage = i32` | types | the type that its values have after `lower-loaded`; a string names the parameter that is this type |
//! | `loomir.traits = ["Pure"]` | operations | traits, by their names in [`Trait`] |
//! | `loomir.format = "$x attr-dict"` | operations | the assembly format |
//! | `loomir.effects = {read = ["x"]}` | operations | all memory effects: `read`, `write`, `allocate` and `free` name operands and results, `may_be_undefined` is a unit |
//! | `loomir.meaning = @f` | operations | functions of the file, one for each choice of types, that compute the results |

use loomir_ir::diagnostics::suggest::did_you_mean;
use loomir_ir::opdef::{OpDef, TraitSet};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, AttrKind, Context, Diagnostic, OpRef, Trait};

use super::{OperationOp, TypeOp};
use crate::interfaces::EffectKind;

/// The prefix of the attributes.
const PREFIX: &str = "loomir.";

/// The attributes of operations.
const OF_OPERATIONS: [&str; 5] =
    ["loomir.summary", "loomir.traits", "loomir.format", "loomir.effects", "loomir.meaning"];

/// The attributes of types.
const OF_TYPES: [&str; 2] = ["loomir.summary", "loomir.storage"];

/// The traits that a definition may have. Segment sizes follow from the operands.
const TRAITS: [(&str, Trait); 15] = [
    ("Pure", Trait::Pure),
    ("RecursiveMemoryEffects", Trait::RecursiveMemoryEffects),
    ("Commutative", Trait::Commutative),
    ("ConstantLike", Trait::ConstantLike),
    ("Symbol", Trait::Symbol),
    ("SameOperandsAndResultType", Trait::SameOperandsAndResultType),
    ("SameTypeOperands", Trait::SameTypeOperands),
    ("IsTerminator", Trait::Terminator),
    ("ReturnLike", Trait::ReturnLike),
    ("NoTerminator", Trait::NoTerminator),
    ("IsolatedFromAbove", Trait::IsolatedFromAbove),
    ("AffineScope", Trait::AffineScope),
    ("GraphRegion", Trait::GraphRegion),
    ("DistinctResults", Trait::DistinctResults),
    ("Elementwise", Trait::Elementwise),
];

/// Returns the names of the traits of a definition, in the words of text.
pub fn trait_names(def: &OpDef) -> Vec<&'static str> {
    TRAITS.iter().filter(|(_, t)| def.traits.has(*t)).map(|(name, _)| *name).collect()
}

/// The memory effects that a definition declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredEffects {
    /// Each effect with the operand or result whose object it touches.
    pub effects: Vec<(EffectKind, String)>,
    /// True if some operands make the operation undefined behaviour.
    pub may_be_undefined: bool,
}

/// The attributes of the definition of an operation.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Its documentation.
    pub summary: String,
    /// Its traits.
    pub traits: TraitSet,
    /// Its assembly format.
    pub format: Option<String>,
    /// Its memory effects, if they are declared.
    pub effects: Option<DeclaredEffects>,
    /// The functions that say what it computes.
    pub meaning: Vec<String>,
}

/// The type that the values of a loaded type have after lowering.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A type, as text.
    Type(String),
    /// The parameter of this number.
    Parameter(usize),
}

/// Returns the first attribute that the definition may not have, as an error.
fn unknown(op: OpRef<'_>) -> Option<Diagnostic> {
    let ctx = op.ctx();
    let known: &[&str] = if op.is(OperationOp::DEF) {
        &OF_OPERATIONS
    } else if op.is(TypeOp::DEF) {
        &OF_TYPES
    } else {
        &OF_TYPES[..1]
    };
    let mut names = op.attributes().entries(ctx).iter().map(|(name, _)| ctx.str(*name));
    let name = names.find(|name| name.starts_with(PREFIX) && !known.contains(name))?;
    let error = op_error(op, format!("has no attribute '{name}'"));
    let listed = || format!("there are {}", known.join(", "));
    Some(error.help(did_you_mean(name, known.iter().copied()).unwrap_or_else(listed)))
}

/// Returns the text of a string attribute of a definition.
fn text(op: OpRef<'_>, name: &str) -> Result<Option<String>, Diagnostic> {
    let Some(attr) = op.attr(name) else { return Ok(None) };
    let text = attr.as_str(op.ctx()).map(str::to_owned);
    text.map(Some).ok_or_else(|| op_error(op, format!("'{name}' is no string")))
}

/// Returns the strings of an attribute that is an array of them.
fn texts(ctx: &Context, attr: Attr) -> Option<Vec<&str>> {
    attr.as_array(ctx)?.iter().map(|one| one.as_str(ctx)).collect()
}

/// Returns the summary of a definition of a type or attribute.
///
/// # Errors
/// An attribute that it may not have.
pub(super) fn summary(op: OpRef<'_>) -> Result<String, Diagnostic> {
    match unknown(op) {
        Some(error) => Err(error),
        None => Ok(text(op, "loomir.summary")?.unwrap_or_default()),
    }
}

/// Returns the storage of a type with these parameters.
///
/// # Errors
/// If the attribute names no type and no parameter.
pub(super) fn storage(op: OpRef<'_>, parameters: &[String]) -> Result<Option<Storage>, Diagnostic> {
    let ctx = op.ctx();
    let Some(attr) = op.attr("loomir.storage") else { return Ok(None) };
    if let Some(ty) = attr.as_type(ctx) {
        return Ok(Some(Storage::Type(loomir_ir::text::type_to_string(ctx, ty))));
    }
    let number = attr.as_str(ctx).and_then(|name| parameters.iter().position(|own| own == name));
    let error = || {
        let help = "write a type, or the name of a parameter in quotes";
        op_error(op, "'loomir.storage' is neither a type nor the name of a parameter").help(help)
    };
    number.map(|number| Some(Storage::Parameter(number))).ok_or_else(error)
}

impl Extensions {
    /// Reads the attributes of the definition of an operation.
    ///
    /// # Errors
    /// The first that is wrong.
    pub(super) fn of(op: OpRef<'_>) -> Result<Extensions, Diagnostic> {
        if let Some(error) = unknown(op) {
            return Err(error);
        }
        Ok(Extensions {
            summary: text(op, "loomir.summary")?.unwrap_or_default(),
            traits: traits(op)?,
            format: text(op, "loomir.format")?,
            effects: effects(op)?,
            meaning: meaning(op)?,
        })
    }
}

fn traits(op: OpRef<'_>) -> Result<TraitSet, Diagnostic> {
    let Some(attr) = op.attr("loomir.traits") else { return Ok(TraitSet::NONE) };
    let Some(names) = texts(op.ctx(), attr) else {
        return Err(op_error(op, "'loomir.traits' is no list of strings").help("write [\"Pure\"]"));
    };
    names.into_iter().try_fold(TraitSet::NONE, |set, name| {
        let found = TRAITS.iter().find(|(own, _)| *own == name);
        found.map(|(_, own)| set.with(*own)).ok_or_else(|| {
            let known = TRAITS.iter().map(|(own, _)| *own);
            let listed = || format!("there are {}", known.clone().collect::<Vec<_>>().join(", "));
            let help = did_you_mean(name, known.clone()).unwrap_or_else(listed);
            op_error(op, format!("names an unknown trait '{name}'")).help(help)
        })
    })
}

fn effects(op: OpRef<'_>) -> Result<Option<DeclaredEffects>, Diagnostic> {
    const KINDS: [(&str, EffectKind); 4] = [
        ("read", EffectKind::Read),
        ("write", EffectKind::Write),
        ("allocate", EffectKind::Allocate),
        ("free", EffectKind::Free),
    ];
    let ctx = op.ctx();
    let Some(attr) = op.attr("loomir.effects") else { return Ok(None) };
    let wrong = |what: &str| {
        let help = "write {read = [\"x\"], write = [\"y\"]}, with names of operands and results; \
                    {may_be_undefined} if some operands are not allowed";
        op_error(op, format!("'loomir.effects' {what}")).help(help)
    };
    let AttrKind::Dictionary(dict) = attr.kind(ctx) else { return Err(wrong("is no dictionary")) };
    let mut declared = DeclaredEffects::default();
    for (name, value) in dict.entries(ctx) {
        let name = ctx.str(*name);
        if name == "may_be_undefined" {
            declared.may_be_undefined = true;
            continue;
        }
        let Some((_, kind)) = KINDS.iter().find(|(own, _)| *own == name) else {
            return Err(wrong(&format!("has no effect '{name}'")));
        };
        let Some(values) = texts(ctx, *value) else {
            return Err(wrong(&format!("needs a list of names for '{name}'")));
        };
        declared.effects.extend(values.into_iter().map(|value| (*kind, value.to_owned())));
    }
    Ok(Some(declared))
}

fn meaning(op: OpRef<'_>) -> Result<Vec<String>, Diagnostic> {
    let ctx = op.ctx();
    let Some(attr) = op.attr("loomir.meaning") else { return Ok(Vec::new()) };
    let one = [attr];
    let list = attr.as_array(ctx).unwrap_or(&one);
    let names = list.iter().map(|own| own.as_flat_symbol(ctx).map(|name| ctx.str(name).to_owned()));
    let error = || op_error(op, "'loomir.meaning' names no functions").help("write @f, or [@f, @g]");
    names.collect::<Option<Vec<_>>>().ok_or_else(error)
}
