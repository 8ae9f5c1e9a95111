//! Writing by a format.

use std::ops::Range;

use super::{Anchor, Argument, ArgumentElement, DirectiveArg, Element, Format, Spaced, Values, attributes};
use crate::body::OpRef;
use crate::entity::{Block, Value};
use crate::opdef::{Arity, AttrConstraint, OpDef, TypeConstraint};
use crate::text::OpPrinter;
use crate::types::{Type, TypeKind};
use crate::verifier::has_one_each;

impl Format {
    /// Writes an operation behind its name. Its counts are those of the definition.
    pub(crate) fn write(&self, def: &OpDef, p: &mut OpPrinter<'_>, op: OpRef<'_>) {
        let (has_only_defaults, has_one_each) = (p.has_only_default_attrs(op), has_one_each(op, def));
        Writer { format: self, def, op, has_only_defaults, has_one_each }.elements(p, &self.elements);
    }
}

struct Writer<'f> {
    format: &'f Format,
    def: &'f OpDef,
    op: OpRef<'f>,
    /// True if it has no attribute but those that nothing written stands for.
    has_only_defaults: bool,
    /// True if there is one value for each entry of the definition.
    has_one_each: bool,
}

impl Writer<'_> {
    fn elements(&self, p: &mut OpPrinter<'_>, elements: &[Spaced]) {
        elements.iter().for_each(|spaced| self.element(p, spaced));
    }

    fn element(&self, p: &mut OpPrinter<'_>, spaced: &Spaced) {
        let op = self.op;
        if spaced.space {
            p.space();
        }
        match &spaced.element {
            Element::Punctuation { text, .. } | Element::Keyword(text) => p.write(text),
            Element::Operand(index) => match self.operands(*index) {
                one if one.len() == 1 => p.operand(op.operand(one.start)),
                all => p.operands(all.map(|i| op.operand(i))),
            },
            Element::AttrDict { .. } if self.has_only_defaults => {}
            Element::Types { of, qualified } => self.types(p, *of, *qualified),
            other => self.larger_element(p, other),
        }
    }

    /// Writes what most operations have little of: apart, so that the others need less of a stack.
    #[inline(never)]
    fn larger_element(&self, p: &mut OpPrinter<'_>, element: &Element) {
        let op = self.op;
        match element {
            // Written by the caller.
            Element::Punctuation { .. }
            | Element::Keyword(_)
            | Element::Operand(_)
            | Element::Types { .. } => {}
            Element::Space(written) => p.write(if *written { " " } else { "" }),
            Element::LineBreak => p.newline(),
            Element::Attr { index, qualified } => {
                let def = &self.def.attrs[*index];
                if let Some(attr) = self.attr_or_default(p, *index) {
                    attributes::write(p, def, attr, *qualified);
                }
            }
            Element::Region(index) => {
                let count = op.regions().len();
                let end = if self.def.regions[*index].variadic { count } else { (*index + 1).min(count) };
                p.comma_separated(*index..end, |p, i| self.region(p, i));
            }
            Element::Successor(index) => {
                p.comma_separated(self.successors(*index), |p, block| p.successor(block, &[]));
            }
            Element::AllOperands => p.operands(op.operands()),
            Element::AllRegions => {
                p.comma_separated(0..op.regions().len(), |p, i| self.region(p, i));
            }
            Element::AllSuccessors => p.comma_separated(op.successors(), |p, block| p.successor(block, &[])),
            Element::AttrDict { keyword } => {
                p.attr_dict_behind(
                    if *keyword { " attributes" } else { "" },
                    op,
                    &self.format.shown_or_inherent,
                );
            }
            Element::PropDict => p.prop_dict(op, &self.format.shown),
            Element::FunctionalType(inputs, results) => {
                p.functional_type(self.types_of(*inputs), self.types_of(*results));
            }
            Element::Custom { directive, arguments } => {
                let values: Vec<DirectiveArg> = arguments.iter().map(|a| self.argument(a)).collect();
                (directive.print)(p, op, &values);
            }
            Element::Optional(optional) => {
                let present = self.is_present(p, &optional.anchor);
                let side = if present != optional.inverted { &optional.then } else { &optional.otherwise };
                let is_unit = |s: &Spaced| matches!(s.element, Element::Attr { index, .. } if Some(index) == optional.unit);
                side.iter().filter(|s| !is_unit(s)).for_each(|s| self.element(p, s));
            }
            Element::AnyOrder(clauses) => {
                for clause in clauses {
                    if clause.anchors.iter().any(|anchor| self.is_present(p, anchor)) {
                        self.element(p, &clause.keyword);
                        let only_unit = matches!(
                            clause.elements.as_slice(),
                            [Spaced { element: Element::Attr { index, .. }, .. }]
                                if matches!(self.def.attrs[*index].constraint, AttrConstraint::Unit)
                        );
                        if !only_unit {
                            self.elements(p, &clause.elements);
                        }
                    }
                }
            }
        }
    }

    /// Writes a region. A terminator that reading would add is left out.
    fn region(&self, p: &mut OpPrinter<'_>, index: usize) {
        let (op, body) = (self.op, self.op.body());
        let defs = &self.def.regions;
        let implied = defs.get(index).or(defs.last()).and_then(|def| def.terminator);
        let last = body.single_block(op.region(index)).and_then(|block| body.last_op(block));
        let is_left_out = last.is_some_and(|last| {
            let last = body.op_ref(last);
            implied.is_some_and(|def| last.is(def))
                && last.num_operands() == 0
                && last.num_results() == 0
                && last.attributes().is_empty()
                && last.properties().is_empty()
        });
        p.region(op, index, true, !is_left_out);
    }

    /// The operands of an entry of the definition.
    #[inline]
    fn operands(&self, index: usize) -> Range<usize> {
        match self.has_one_each {
            true => index..index + 1,
            false => self.op.body().operand_group(self.op.op(), self.def, index),
        }
    }

    fn values(&self, of: Values) -> impl ExactSizeIterator<Item = Value> + Clone + use<'_> {
        let op = self.op;
        let range = match of {
            Values::Operand(index) => self.operands(index),
            Values::Result(index) if self.has_one_each => index..index + 1,
            Values::Result(index) => op.body().result_group(op.op(), self.def, index),
            Values::AllOperands => 0..op.num_operands(),
            Values::AllResults => 0..op.num_results(),
        };
        let are_operands = matches!(of, Values::Operand(_) | Values::AllOperands);
        range.map(move |i| if are_operands { op.operand(i) } else { op.result(i) })
    }

    fn types_of(&self, of: Values) -> impl ExactSizeIterator<Item = Type> + Clone + use<'_> {
        let op = self.op;
        self.values(of).map(move |v| op.type_of(v))
    }

    fn types(&self, p: &mut OpPrinter<'_>, of: Values, qualified: bool) {
        let def = match of {
            Values::Operand(index) => Some(&self.def.operands[index]),
            Values::Result(index) => Some(&self.def.results[index]),
            _ => None,
        };
        let types = self.types_of(of);
        if let (Some(def), Some(one)) = (def, types.clone().next())
            && !qualified
            && def.arity == Arity::One
            && matches!(def.ty, TypeConstraint::Dialect(_))
            && let TypeKind::Dialect { name, params } = one.kind(p.ctx())
            && let Some(type_def) = p.ctx().type_def(*name)
            && !p.has_type_alias(one)
        {
            return (type_def.print)(p, params);
        }
        p.types(types);
    }

    fn successors(&self, index: usize) -> impl ExactSizeIterator<Item = Block> + use<'_> {
        let count = self.op.successors().len();
        let end = if self.def.successors[index].variadic { count } else { (index + 1).min(count) };
        self.op.successors().take(end).skip(index)
    }

    fn attr_or_default(&self, p: &OpPrinter<'_>, index: usize) -> Option<crate::Attr> {
        let name = self.op.info().attr_name(index);
        self.attr(index).or_else(|| {
            let defaults = self.op.info().default_attrs(p.ctx());
            defaults.iter().find(|default| default.name == name).map(|default| default.value)
        })
    }

    /// Attribute `index` of the definition.
    fn attr(&self, index: usize) -> Option<crate::Attr> {
        self.op.body().attr_named(self.op.op(), self.op.info().attr_name(index))
    }

    fn argument(&self, argument: &Argument) -> DirectiveArg {
        match &argument.element {
            ArgumentElement::Operand(index) => {
                DirectiveArg::Values(self.values(Values::Operand(*index)).collect())
            }
            ArgumentElement::Attr(index) => DirectiveArg::Attr(self.attr(*index)),
            ArgumentElement::Types(of) => DirectiveArg::Types(self.types_of(*of).collect()),
            ArgumentElement::Successor(index) => DirectiveArg::Successors(self.successors(*index).collect()),
            ArgumentElement::Region(index) => DirectiveArg::Region(*index),
            ArgumentElement::AttrDict => DirectiveArg::AttrDict(self.format.shown_or_inherent.clone()),
            ArgumentElement::Text(text) => DirectiveArg::Text(text.clone()),
        }
    }

    fn is_present(&self, p: &OpPrinter<'_>, anchor: &Anchor) -> bool {
        let op = self.op;
        match anchor {
            Anchor::Values(of) => self.values(*of).len() > 0,
            Anchor::Attr(_) if self.has_only_defaults => false,
            Anchor::Attr(index) => self
                .attr(*index)
                .is_some_and(|attr| !op.info().is_default(p.ctx(), op.info().attr_name(*index), attr)),
            Anchor::Region(index) => {
                op.regions().skip(*index).any(|region| op.body().entry_block(region).is_some())
            }
            Anchor::Successor(index) => self.successors(*index).len() > 0,
            Anchor::Any(anchors) => anchors.iter().any(|anchor| self.is_present(p, anchor)),
        }
    }
}
