//! Writing by a format.

use super::{Anchor, Argument, ArgumentElement, DirectiveArg, Element, Format, Spaced, Values, attributes};
use crate::body::OpRef;
use crate::entity::Value;
use crate::opdef::{Arity, AttrConstraint, OpDef, Presence, TypeConstraint};
use crate::text::OpPrinter;
use crate::types::{Type, TypeKind};

impl Format {
    /// Writes an operation behind its name.
    pub(crate) fn write(&self, def: &OpDef, p: &mut OpPrinter<'_>, op: OpRef<'_>) {
        Writer { format: self, def, op }.elements(p, &self.elements);
    }
}

struct Writer<'f> {
    format: &'f Format,
    def: &'f OpDef,
    op: OpRef<'f>,
}

impl Writer<'_> {
    fn elements(&self, p: &mut OpPrinter<'_>, elements: &[Spaced]) {
        elements.iter().for_each(|spaced| self.element(p, spaced));
    }

    fn element(&self, p: &mut OpPrinter<'_>, spaced: &Spaced) {
        let op = self.op;
        if spaced.space {
            p.write(" ");
        }
        match &spaced.element {
            Element::Punctuation { text, .. } | Element::Keyword(text) => p.write(text),
            Element::Space(written) => p.write(if *written { " " } else { "" }),
            Element::LineBreak => p.newline(),
            Element::Operand(index) => p.operands(self.values(Values::Operand(*index))),
            Element::Attr { index, qualified } => {
                let def = &self.def.attrs[*index];
                if let Some(attr) = self.attr_or_default(p, *index) {
                    attributes::write(p, def, attr, *qualified);
                }
            }
            Element::Region(index) => {
                let count = op.regions().len();
                let end = if self.def.regions[*index].variadic { count } else { (*index + 1).min(count) };
                p.comma_separated(*index..end, |p, i| p.region(op, i, true, true));
            }
            Element::Successor(index) => {
                p.comma_separated(self.successors(*index), |p, block| p.successor(block, &[]));
            }
            Element::AllOperands => p.operands(op.operands()),
            Element::AllRegions => {
                p.comma_separated(0..op.regions().len(), |p, i| p.region(op, i, true, true));
            }
            Element::AllSuccessors => p.comma_separated(op.successors(), |p, block| p.successor(block, &[])),
            Element::AttrDict { keyword } => {
                let shown: Vec<&str> = self.format.shown.iter().map(|s| &**s).collect();
                if *keyword {
                    p.attr_dict_with_keyword(op, &shown);
                } else {
                    p.attr_dict(op, &shown);
                }
            }
            Element::Types { of, qualified } => self.types(p, *of, *qualified),
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

    fn values(&self, of: Values) -> Vec<Value> {
        let (op, body) = (self.op, self.op.body());
        match of {
            Values::Operand(index) => {
                body.operand_group(op.op(), self.def, index).map(|i| op.operand(i)).collect()
            }
            Values::Result(index) => {
                body.result_group(op.op(), self.def, index).map(|i| op.result(i)).collect()
            }
            Values::AllOperands => op.operands().collect(),
            Values::AllResults => op.results().collect(),
        }
    }

    fn types_of(&self, of: Values) -> Vec<Type> {
        self.values(of).into_iter().map(|v| self.op.type_of(v)).collect()
    }

    fn types(&self, p: &mut OpPrinter<'_>, of: Values, qualified: bool) {
        let def = match of {
            Values::Operand(index) => Some(&self.def.operands[index]),
            Values::Result(index) => Some(&self.def.results[index]),
            _ => None,
        };
        let types = self.types_of(of);
        if let (Some(def), [one]) = (def, types.as_slice())
            && !qualified
            && def.arity == Arity::One
            && matches!(def.ty, TypeConstraint::Dialect(_))
            && let TypeKind::Dialect { name, params } = one.kind(p.ctx())
            && let Some(type_def) = p.ctx().type_def(*name)
            && !p.has_type_alias(*one)
        {
            return (type_def.print)(p, params);
        }
        p.types(types);
    }

    fn successors(&self, index: usize) -> Vec<crate::Block> {
        let count = self.op.successors().len();
        let end = if self.def.successors[index].variadic { count } else { (index + 1).min(count) };
        self.op.successors().take(end).skip(index).collect()
    }

    fn attr_or_default(&self, p: &OpPrinter<'_>, index: usize) -> Option<crate::Attr> {
        let name = &self.def.attrs[index].name;
        self.op.attr(name).or_else(|| {
            let defaults = self.op.info().default_attrs(p.ctx());
            defaults.iter().find(|d| p.ctx().str(d.name) == name).map(|d| d.value)
        })
    }

    fn argument(&self, argument: &Argument) -> DirectiveArg {
        match &argument.element {
            ArgumentElement::Operand(index) => DirectiveArg::Values(self.values(Values::Operand(*index))),
            ArgumentElement::Attr(index) => DirectiveArg::Attr(self.op.attr(&self.def.attrs[*index].name)),
            ArgumentElement::Types(of) => DirectiveArg::Types(self.types_of(*of)),
            ArgumentElement::Successor(index) => DirectiveArg::Successors(self.successors(*index)),
            ArgumentElement::Region(index) => DirectiveArg::Region(*index),
            ArgumentElement::AttrDict => DirectiveArg::AttrDict(self.format.shown.clone()),
            ArgumentElement::Text(text) => DirectiveArg::Text(text.clone()),
        }
    }

    fn is_present(&self, p: &OpPrinter<'_>, anchor: &Anchor) -> bool {
        let op = self.op;
        match anchor {
            Anchor::Values(of) => !self.values(*of).is_empty(),
            Anchor::Attr(index) => {
                let def = &self.def.attrs[*index];
                let Some(attr) = op.attr(&def.name) else { return false };
                let may_be_default = matches!(def.presence, Presence::Default(_) | Presence::Implied(_));
                !(may_be_default && p.is_default(op, self.def, &def.name, attr))
            }
            Anchor::Region(index) => {
                op.regions().skip(*index).any(|region| op.body().entry_block(region).is_some())
            }
            Anchor::Successor(index) => !self.successors(*index).is_empty(),
            Anchor::Any(anchors) => anchors.iter().any(|anchor| self.is_present(p, anchor)),
        }
    }
}
