//! Definitions of operations name their own operands and attributes.

use std::borrow::Cow;

use loomir_ir::opdef::{Arity, OpDef, OperandDef, TraitSet, TypeConstraint};

fn definition(constraint: TypeConstraint, format: Option<&'static str>) -> OpDef {
    let value = |name: &'static str, ty| OperandDef { name: name.into(), arity: Arity::One, ty };
    OpDef {
        name: "test.op".into(),
        doc: "".into(),
        operands: vec![value("lhs", TypeConstraint::Any), value("rhs", constraint)].into(),
        results: Cow::Borrowed(&[]),
        attrs: Cow::Borrowed(&[]),
        regions: Cow::Borrowed(&[]),
        successors: Cow::Borrowed(&[]),
        traits: TraitSet::NONE,
        format: format.map(Cow::Borrowed),
        parse: None,
        print: None,
        verify_signature: None,
        verify: None,
        fold: None,
    }
}

#[test]
fn names_in_constraints_are_those_of_the_definition() {
    let same = |name: &'static str| TypeConstraint::SameAs(name.into());
    assert!(definition(same("lhs"), None).has_known_names());
    assert!(!definition(same("lsh"), None).has_known_names());
    static CHOICES: [TypeConstraint; 1] = [TypeConstraint::ElementOf(Cow::Borrowed("lsh"))];
    assert!(!definition(TypeConstraint::AnyOf(Cow::Borrowed(&CHOICES)), None).has_known_names());
}

#[test]
fn names_in_a_format_are_those_of_the_definition() {
    let format = |text| definition(TypeConstraint::Any, Some(text)).has_known_names();
    assert!(format("$lhs `,` $rhs attr-dict `:` type($lhs)"));
    assert!(format("`$other` $lhs $rhs attr-dict"));
    assert!(!format("$lhs $rhs attr-dict `:` type($lsh)"));
}
