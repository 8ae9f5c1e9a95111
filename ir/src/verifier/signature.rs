//! The numbers, attributes and types that a definition allows, each signature checked once.
//!
//! The signature of an operation ([`Signatures`]) alone decides if it has them: it is enough to
//! check one of those that look alike.

use std::ops::Range;

use super::op_error;
use crate::body::{OpRef, Signatures};
use crate::context::Name;
use crate::diagnostics::Diagnostics;
use crate::opdef::{
    Arity, AttrConstraint, OPERAND_SEGMENTS, OpDef, OperandDef, Presence, RESULT_SEGMENTS, Trait,
    TypeConstraint as C,
};
use crate::types::Type;

/// Checks the numbers, attributes and types of an operation, unless its signature is known to be
/// `valid`.
pub(super) fn verify(op: OpRef<'_>, def: &OpDef, valid: &mut Signatures<()>, out: &mut Diagnostics) {
    if valid.get(op).is_some() {
        return;
    }
    let before = out.len();
    let hook = |op: OpRef<'_>, def: &OpDef, out: &mut Diagnostics| {
        if let Some(verify) = def.verify_signature {
            verify(op, out);
        }
    };
    for check in [verify_counts, verify_attributes, verify_types, hook] {
        check(op, def, out);
        if out.len() > before {
            return;
        }
    }
    valid.add(());
}

/// True if there are as many operands, results, regions and successors as the definition says: what
/// hooks take for granted.
pub(crate) fn counts_hold(op: OpRef<'_>, def: &OpDef) -> bool {
    if has_one_each(op, def) {
        return true;
    }
    let mut out = Diagnostics::new();
    verify_counts(op, def, &mut out);
    out.is_empty()
}

/// True if there is one value, region and successor for each entry of the definition, and nothing
/// else says how many there are: right whatever the arities, and what most operations are.
pub(crate) fn has_one_each(op: OpRef<'_>, def: &OpDef) -> bool {
    let segmented = [Trait::AttrSizedOperandSegments, Trait::AttrSizedResultSegments];
    op.num_operands() == def.operands.len()
        && op.num_results() == def.results.len()
        && op.regions().len() == def.regions.len()
        && op.successors().len() == def.successors.len()
        && !segmented.into_iter().any(|t| def.traits.has(t))
}

fn verify_counts(op: OpRef<'_>, def: &OpDef, out: &mut Diagnostics) {
    if has_one_each(op, def) {
        return;
    }
    count_values(
        op,
        &def.operands,
        op.num_operands(),
        "operand",
        def.traits.has(Trait::AttrSizedOperandSegments),
        out,
    );
    count_values(
        op,
        &def.results,
        op.num_results(),
        "result",
        def.traits.has(Trait::AttrSizedResultSegments),
        out,
    );
    let regions = op.regions().len();
    if let Some(fixed) = wrong_count(&def.regions, |own| own.variadic, regions) {
        out.push(op_error(op, format!("requires {}", counted(fixed, "region"))));
    }
    let successors = op.successors().len();
    if let Some(fixed) = wrong_count(&def.successors, |own| own.variadic, successors) {
        out.push(op_error(op, format!("requires {} but found {successors}", counted(fixed, "successor"))));
    }
}

/// The number of entries of a definition that stand for one each, if there are too few or too many
/// of them. Only the last entry may be variadic.
fn wrong_count<D>(defs: &[D], is_variadic: fn(&D) -> bool, count: usize) -> Option<usize> {
    let variadic = defs.last().is_some_and(is_variadic);
    let fixed = defs.len() - usize::from(variadic);
    (count < fixed || (!variadic && count > fixed)).then_some(fixed)
}

/// `one operand`, `2 operands`.
fn counted(count: usize, what: &str) -> String {
    match count {
        0 => format!("zero {what}s"),
        1 => format!("one {what}"),
        n => format!("{n} {what}s"),
    }
}

fn count_values(
    op: OpRef<'_>,
    defs: &[OperandDef],
    count: usize,
    what: &str,
    segmented: bool,
    out: &mut Diagnostics,
) {
    if segmented {
        return count_segments(op, defs, count, what, out);
    }
    let required = defs.iter().filter(|d| d.arity == Arity::One).count();
    let is_fixed = required == defs.len();
    if is_fixed && count != required {
        let found =
            if required == 0 && what == "operand" { String::new() } else { format!(", but found {count}") };
        let message = match (required, what) {
            (0, _) => format!("requires zero {what}s"),
            (1, _) => format!("requires a single {what}{found}"),
            (n, _) => format!("expected {n} {what}s{found}"),
        };
        out.push(op_error(op, message));
    } else if count < required {
        out.push(op_error(op, format!("expected {required} or more {what}s, but found {count}")));
    } else if count > required + 1
        && defs.len() == required + 1
        && defs.iter().any(|d| d.arity == Arity::Optional)
    {
        out.push(op_error(op, format!("expected at most {} {what}s, but found {count}", required + 1)));
    }
}

/// Checks that the sizes of segments are of the right type, as many as entries, and add up.
fn count_segments(op: OpRef<'_>, defs: &[OperandDef], count: usize, what: &str, out: &mut Diagnostics) {
    let (name, uniqued) = match what {
        "operand" => (OPERAND_SEGMENTS, Name::OPERAND_SEGMENTS),
        _ => (RESULT_SEGMENTS, Name::RESULT_SEGMENTS),
    };
    let Some(attr) = op.body().attr_named(op.op(), uniqued) else {
        return out.push(op_error(op, format!("requires attribute '{name}'")));
    };
    let is_valid = AttrConstraint::DenseArray(Type::I32).accepts(op.ctx(), attr);
    let Some(sizes) = attr.dense_ints(op.ctx()).filter(|_| is_valid) else {
        let message = format!("attribute '{name}' failed to satisfy constraint: i32 dense array attribute");
        return out.push(op_error(op, message));
    };
    if sizes.len() != defs.len() {
        let message = format!(
            "'{name}' attribute for specifying {what} segments must have {} elements, but got {}",
            defs.len(),
            sizes.len()
        );
        return out.push(op_error(op, message));
    }
    let fits = |def: &OperandDef, size: i64| match def.arity {
        Arity::One => size == 1,
        Arity::Optional => size <= 1,
        Arity::Variadic => true,
    };
    let (mut total, mut all_fit) = (0, true);
    for (def, size) in defs.iter().zip(sizes) {
        if size < 0 {
            return out.push(op_error(op, format!("'{name}' attribute cannot have negative elements")));
        }
        all_fit &= fits(def, size);
        total += size;
    }
    if total != count as i64 {
        let message = format!(
            "{what} count ({count}) does not match with the total size ({total}) specified in attribute '{name}'"
        );
        out.push(op_error(op, message));
    } else if !all_fit {
        let sizes = attr.dense_ints(op.ctx()).into_iter().flatten();
        for (def, size) in defs.iter().zip(sizes).filter(|(def, size)| !fits(def, *size)) {
            out.push(op_error(op, format!("{what} group '{}' has {size} values", def.name)));
        }
    }
}

fn verify_attributes(op: OpRef<'_>, def: &OpDef, out: &mut Diagnostics) {
    for (index, attr) in def.attrs.iter().enumerate() {
        match op.properties().get_named(op.ctx(), op.info().attr_name(index)) {
            None if matches!(attr.presence, Presence::Required) => {
                out.push(op_error(op, format!("requires attribute '{}'", attr.name)));
            }
            Some(value) if !attr.constraint.accepts(op.ctx(), value) => {
                let message = format!(
                    "attribute '{}' failed to satisfy constraint: {}",
                    attr.name,
                    attr.constraint.describe()
                );
                out.push(op_error(op, message));
            }
            _ => {}
        }
    }
}

/// Operands and results by the entries of a definition.
struct Values<'o> {
    op: OpRef<'o>,
    def: &'o OpDef,
}

impl<'o> Values<'o> {
    fn operands(&self, index: usize) -> Range<usize> {
        self.op.body().operand_group(self.op.op(), self.def, index)
    }

    fn results(&self, index: usize) -> Range<usize> {
        self.op.body().result_group(self.op.op(), self.def, index)
    }

    /// The type of the first value of the entry of a name.
    fn type_of(&self, name: &str) -> Option<Type> {
        if let Some(index) = self.def.operands.iter().position(|d| d.name == name) {
            return self.operands(index).next().map(|i| self.op.operand_type(i));
        }
        let index = self.def.results.iter().position(|d| d.name == name)?;
        self.results(index).next().map(|i| self.op.result_type(i))
    }

    /// Calls `f` for each value: which of the two it is, its number, its entry and its type.
    fn for_each(&self, mut f: impl FnMut(&str, usize, &OperandDef, Type)) {
        for (index, entry) in self.def.operands.iter().enumerate() {
            self.operands(index).for_each(|i| f("operand", i, entry, self.op.operand_type(i)));
        }
        for (index, entry) in self.def.results.iter().enumerate() {
            self.results(index).for_each(|i| f("result", i, entry, self.op.result_type(i)));
        }
    }
}

fn verify_types(op: OpRef<'_>, def: &OpDef, out: &mut Diagnostics) {
    let values = Values { op, def };
    let of = |name: &str| values.type_of(name);
    // First each type by itself, then traits, then what ties one type to another: an error there
    // follows from one before.
    let before = out.len();
    let mut has_ties = false;
    values.for_each(|what, i, entry, ty| {
        let alone = match &entry.ty {
            C::SameAs(_) | C::ElementOf(_) => {
                has_ties = true;
                return;
            }
            C::BoolShapedAs(_) => {
                has_ties = true;
                &C::BoolLike
            }
            alone => alone,
        };
        if !alone.accepts(op.ctx(), ty, &of) {
            let message = format!(
                "{what} #{i} must be {}{}, but got '{}'",
                if entry.arity == Arity::Variadic { "variadic of " } else { "" },
                alone.describe(),
                crate::text::type_to_string(op.ctx(), ty),
            );
            out.push(op_error(op, message));
        }
    });
    let mut operand_types = op.operands().map(|v| op.type_of(v));
    let mut result_types = op.results().map(|v| op.type_of(v));
    if def.traits.has(Trait::SameOperandsAndResultType)
        && let Some(first) = result_types.next()
        && (result_types.any(|t| t != first) || operand_types.clone().any(|t| t != first))
    {
        out.push(op_error(op, "requires the same type for all operands and results"));
    }
    if def.traits.has(Trait::SameTypeOperands)
        && let Some(first) = operand_types.next()
        && operand_types.any(|t| t != first)
    {
        out.push(op_error(op, "requires all operands to have the same type"));
    }
    if out.len() > before || !has_ties {
        return;
    }
    values.for_each(|_, _, entry, ty| {
        let is_tie = matches!(entry.ty, C::SameAs(_) | C::ElementOf(_) | C::BoolShapedAs(_));
        if is_tie && out.len() == before && !entry.ty.accepts(op.ctx(), ty, &of) {
            out.push(op_error(op, format!("failed to verify that {}", tie(def, entry))));
        }
    });
}

/// Describes the tie of an entry's type to that of another one, in MLIR's words.
fn tie(def: &OpDef, entry: &OperandDef) -> String {
    match &entry.ty {
        C::ElementOf(of) if entry.name == "result" => format!("result type matches element type of '{of}'"),
        C::ElementOf(of) => format!("type of '{}' matches element type of '{of}'", entry.name),
        C::SameAs(of) => {
            let tied = |d: &&OperandDef| d.name == *of || matches!(&d.ty, C::SameAs(name) if name == of);
            let names: Vec<&str> =
                def.operands.iter().chain(def.results.iter()).filter(tied).map(|d| &*d.name).collect();
            format!("all of {{{}}} have same type", names.join(", "))
        }
        _ => "result type has i1 element type and same shape as operands".into(),
    }
}
