//! Names inside a definition: constraints and the format use only names that the definition has.
//!
//! [`dialect!`](crate::dialect!) asks at compile time, [`Registry::operation`] at registration.
//!
//! [`Registry::operation`]: crate::Registry::operation

use std::borrow::Cow;

use super::{AttrDef, OpDef, OperandDef, RegionDef, Str, SuccessorDef, TypeConstraint, equal};

impl OpDef {
    /// Returns true if constraints and the format use only names that the definition has.
    ///
    /// A constraint such as `SameAs("lhs")` names an operand or a result. A `$name` of the format
    /// is an operand, a result, an attribute, a region or a successor.
    pub const fn has_known_names(&self) -> bool {
        let (operands, results) = (values(&self.operands), values(&self.results));
        if !are_known(operands, operands, results) || !are_known(results, operands, results) {
            return false;
        }
        match &self.format {
            Some(format) => self.has_names_of(text(format)),
            None => true,
        }
    }

    /// Returns true if each `$name` of a format is known. What stands between backticks is literal.
    const fn has_names_of(&self, format: &str) -> bool {
        let bytes = format.as_bytes();
        let mut is_literal = false;
        let mut i = 0;
        while i < bytes.len() {
            if bytes[i] == b'`' {
                is_literal = !is_literal;
            }
            i += 1;
            if is_literal || bytes[i - 1] != b'$' {
                continue;
            }
            let start = i;
            while i < bytes.len() && (bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
                i += 1;
            }
            if !self.has_name(bytes.split_at(i).0.split_at(start).1) {
                return false;
            }
        }
        true
    }

    const fn has_name(&self, name: &[u8]) -> bool {
        has_value(values(&self.operands), name)
            || has_value(values(&self.results), name)
            || has_attr(attrs(&self.attrs), name)
            || has_region(regions(&self.regions), name)
            || has_successor(successors(&self.successors), name)
    }
}

/// Returns true if each name in the constraints of `of` is an operand or a result.
const fn are_known(of: &[OperandDef], operands: &[OperandDef], results: &[OperandDef]) -> bool {
    let mut i = 0;
    while i < of.len() {
        if !is_known(&of[i].ty, operands, results) {
            return false;
        }
        i += 1;
    }
    true
}

const fn is_known(ty: &TypeConstraint, operands: &[OperandDef], results: &[OperandDef]) -> bool {
    match ty {
        TypeConstraint::SameAs(name)
        | TypeConstraint::ElementOf(name)
        | TypeConstraint::BoolShapedAs(name) => {
            let name = text(name).as_bytes();
            has_value(operands, name) || has_value(results, name)
        }
        TypeConstraint::AnyOf(Cow::Borrowed(choices)) => {
            let mut i = 0;
            while i < choices.len() {
                if !is_known(&choices[i], operands, results) {
                    return false;
                }
                i += 1;
            }
            true
        }
        _ => true,
    }
}

const fn text(text: &Str) -> &str {
    match text {
        Cow::Borrowed(text) => text,
        Cow::Owned(text) => text.as_str(),
    }
}

/// Makes a function that returns the entries of a list, and one that looks for a name in them.
macro_rules! list {
    ($list:ident, $has:ident, $entry:ty) => {
        // A `Cow` cannot be dereferenced at compile time.
        #[allow(clippy::ptr_arg)]
        const fn $list<'l>(list: &'l Cow<'static, [$entry]>) -> &'l [$entry] {
            match list {
                Cow::Borrowed(list) => list,
                Cow::Owned(list) => list.as_slice(),
            }
        }

        const fn $has(list: &[$entry], name: &[u8]) -> bool {
            let mut i = 0;
            while i < list.len() {
                if equal(text(&list[i].name).as_bytes(), name) {
                    return true;
                }
                i += 1;
            }
            false
        }
    };
}

list!(values, has_value, OperandDef);
list!(attrs, has_attr, AttrDef);
list!(regions, has_region, RegionDef);
list!(successors, has_successor, SuccessorDef);
