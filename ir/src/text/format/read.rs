//! Reading by a format, and inferring the types that the text leaves out.
//!
//! What is read goes into [`Scratch`], a few vectors that the parser keeps between operations, so
//! that reading one allocates little.

use std::ops::Range;

use super::{
    Argument, ArgumentElement, Clause, DirectiveArg, Element, Format, Optional, Spaced, Values, attributes,
};
use crate::builder::OperationState;
use crate::context::Context;
use crate::entity::Block;
use crate::opdef::{
    Arity, OPERAND_SEGMENTS, OpDef, OperandDef, RESULT_SEGMENTS, RegionKind, Trait, TypeConstraint,
};
use crate::text::lexer::Kind;
use crate::text::{OpParser, ParseResult, UnresolvedOperand};
use crate::types::Type;

/// Operands and types that have been read so far, one behind the other.
#[derive(Default)]
pub(crate) struct Scratch {
    operands: Vec<UnresolvedOperand>,
    types: Vec<Type>,
    slots: Vec<Slot>,
}

/// The known parts of an entry of the definition: ranges of [`Scratch`]. Operand definitions come
/// first, then result definitions, then all operands together and all results together.
#[derive(Clone, Default)]
struct Slot {
    operands: Range<usize>,
    types: Option<Range<usize>>,
}

struct Reader<'f> {
    format: &'f Format,
    def: &'f OpDef,
    scratch: Scratch,
    /// The operands are written as one list.
    as_one_list: bool,
    successors: Vec<Vec<Block>>,
    regions: usize,
}

impl Format {
    /// Reads an operation behind its name.
    pub(crate) fn read(
        &self,
        def: &OpDef,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
    ) -> ParseResult<()> {
        let start = p.position();
        let mut scratch = p.parser.take_scratch();
        scratch.slots.resize(def.operands.len() + def.results.len() + 2, Slot::default());
        let mut reader = Reader {
            format: self,
            def,
            scratch,
            as_one_list: false,
            successors: def.successors.iter().map(|_| Vec::new()).collect(),
            regions: 0,
        };
        reader.elements(p, state, &self.elements)?;
        reader.finish(p, state, start)?;
        let mut scratch = reader.scratch;
        scratch.operands.clear();
        scratch.types.clear();
        scratch.slots.clear();
        p.parser.give_back_scratch(scratch);
        Ok(())
    }
}

impl Reader<'_> {
    fn elements(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        elements: &[Spaced],
    ) -> ParseResult<()> {
        elements.iter().try_for_each(|spaced| self.element(p, state, &spaced.element))
    }

    fn element(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        element: &Element,
    ) -> ParseResult<()> {
        match element {
            Element::Punctuation { text, kind } => p.expect_kind(*kind, text),
            Element::Keyword(text) => p.expect_keyword(text),
            Element::Space(_) | Element::LineBreak => Ok(()),
            Element::Operand(index) => self.operand(p, *index).map(|_| ()),
            Element::Attr { index, .. } => self.attr(p, state, *index, false).map(|_| ()),
            Element::Region(index) => self.region(p, state, *index, false).map(|_| ()),
            Element::Successor(index) => self.successor(p, *index, false).map(|_| ()),
            Element::AllOperands => {
                self.as_one_list = true;
                self.operand_list(p, self.slot(Values::AllOperands))
            }
            Element::AllRegions => {
                let mut index = 0;
                while p.is_next("{") {
                    let last = self.def.regions.len().saturating_sub(1);
                    self.one_region(p, state, index.min(last))?;
                    index += 1;
                    if !p.accept(",") {
                        break;
                    }
                }
                Ok(())
            }
            Element::AllSuccessors => {
                while let Some(block) = p.parse_optional_successor()? {
                    state.successors.push(block);
                    if !p.accept(",") {
                        break;
                    }
                }
                Ok(())
            }
            Element::PropDict => p.parse_optional_prop_dict(state),
            Element::AttrDict { keyword: false } => p.parse_optional_attr_dict(state),
            Element::AttrDict { keyword: true } => p.parse_optional_attr_dict_with_keyword(state),
            Element::Types { of, .. } => self.types(p, *of).map(|_| ()),
            Element::FunctionalType(inputs, results) => {
                let loc = p.loc();
                let ty = p.parse_type()?;
                let Some((i, r)) = ty.function(p.ctx()) else {
                    return Err(p.error(loc, "expected function type"));
                };
                self.set_types(*inputs, i);
                self.set_types(*results, r);
                Ok(())
            }
            Element::Custom { directive, arguments } => {
                let mut values: Vec<DirectiveArg> =
                    arguments.iter().map(|a| self.argument(p.ctx(), state, a)).collect();
                (directive.parse)(p, state, &mut values)?;
                for (argument, value) in arguments.iter().zip(values).filter(|(a, _)| !a.is_ref) {
                    self.take_argument(p.ctx(), state, argument, value);
                }
                self.regions = self.regions.max(state.num_regions);
                Ok(())
            }
            Element::Optional(optional) => self.optional(p, state, optional),
            Element::AnyOrder(clauses) => self.any_order(p, state, clauses),
        }
    }

    /// Reads an operand by its arity; whether there was any.
    fn operand(&mut self, p: &mut OpParser<'_, '_>, index: usize) -> ParseResult<bool> {
        match self.def.operands[index].arity {
            Arity::One => self.set_operands(index, &[p.parse_operand()?]),
            Arity::Optional => self.set_operands(index, p.parse_optional_operand()?.as_slice()),
            Arity::Variadic => self.operand_list(p, index)?,
        }
        Ok(!self.operands(index).is_empty())
    }

    /// Reads operands separated by commas, if any is next.
    fn operand_list(&mut self, p: &mut OpParser<'_, '_>, slot: usize) -> ParseResult<()> {
        let start = self.scratch.operands.len();
        if p.is_operand_next() {
            loop {
                self.scratch.operands.push(p.parse_operand()?);
                if !p.accept_kind(Kind::Comma) {
                    break;
                }
            }
        }
        self.scratch.slots[slot].operands = start..self.scratch.operands.len();
        Ok(())
    }

    fn attr(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        index: usize,
        optional: bool,
    ) -> ParseResult<bool> {
        let def = &self.def.attrs[index];
        let Some(attr) = attributes::read(p, def, optional)? else { return Ok(false) };
        state.set_property(p.ctx(), index, attr);
        Ok(true)
    }

    fn region(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        index: usize,
        optional: bool,
    ) -> ParseResult<bool> {
        let def = &self.def.regions[index];
        if optional && !p.is_next("{") {
            return Ok(false);
        }
        // Regions the text left out before this one.
        while self.regions < index {
            p.add_empty_region(state);
            self.regions += 1;
        }
        loop {
            if def.variadic && !p.is_next("{") {
                break;
            }
            self.one_region(p, state, index)?;
            if !def.variadic || !p.accept(",") {
                break;
            }
        }
        Ok(true)
    }

    /// Reads one region of a definition and adds what its text may leave out.
    fn one_region(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        index: usize,
    ) -> ParseResult<()> {
        p.parse_region(state, &[])?;
        let def = self.def.regions.get(index);
        if let Some(terminator) = def.and_then(|def| def.terminator) {
            p.ensure_terminator(state, self.regions, terminator);
        } else if def.is_some_and(|def| matches!(def.kind, RegionKind::SingleBlock | RegionKind::NonEmpty)) {
            p.ensure_block(self.regions);
        }
        self.regions += 1;
        Ok(())
    }

    fn successor(&mut self, p: &mut OpParser<'_, '_>, index: usize, optional: bool) -> ParseResult<bool> {
        if !self.def.successors[index].variadic && !optional {
            self.successors[index].push(p.parse_successor()?);
            return Ok(true);
        }
        while let Some(block) = p.parse_optional_successor()? {
            self.successors[index].push(block);
            if !self.def.successors[index].variadic || !p.accept(",") {
                break;
            }
        }
        Ok(!self.successors[index].is_empty())
    }

    fn arity(&self, values: Values) -> Arity {
        match values {
            Values::Operand(index) => self.def.operands[index].arity,
            Values::Result(index) => self.def.results[index].arity,
            Values::AllOperands | Values::AllResults => Arity::Variadic,
        }
    }

    /// Reads the types of values by their arity; whether there was any.
    fn types(&mut self, p: &mut OpParser<'_, '_>, of: Values) -> ParseResult<bool> {
        let stripped = match of {
            Values::Operand(index) => Some(&self.def.operands[index].ty),
            Values::Result(index) => Some(&self.def.results[index].ty),
            _ => None,
        };
        if let Some(TypeConstraint::Dialect(name)) = stripped
            && self.arity(of) == Arity::One
            && let Some(ty) = p.parse_stripped_type(name)?
        {
            self.set_types(of, &[ty]);
            return Ok(true);
        }
        let first = match self.arity(of) {
            Arity::One => Some(p.parse_type()?),
            Arity::Optional | Arity::Variadic => p.parse_optional_type()?,
        };
        self.set_types(of, first.as_slice());
        if first.is_some() && self.arity(of) == Arity::Variadic {
            self.more_types(p, of)?;
        }
        Ok(first.is_some())
    }

    /// Reads the types behind the first of a list.
    fn more_types(&mut self, p: &mut OpParser<'_, '_>, of: Values) -> ParseResult<()> {
        let start = self.scratch.types.len() - 1;
        while p.accept(",") {
            self.scratch.types.push(p.parse_type()?);
        }
        let slot = self.slot(of);
        self.scratch.slots[slot].types = Some(start..self.scratch.types.len());
        Ok(())
    }

    /// Returns the value that a custom directive gets for an argument.
    fn argument(&self, ctx: &Context, state: &OperationState, argument: &Argument) -> DirectiveArg {
        match &argument.element {
            ArgumentElement::Operand(index) => DirectiveArg::Operands(self.operands(*index).to_vec()),
            ArgumentElement::Attr(index) => {
                DirectiveArg::Attr(state.properties.get(ctx, &self.def.attrs[*index].name))
            }
            ArgumentElement::Types(of) => {
                DirectiveArg::Types(self.types_at(self.slot(*of)).unwrap_or_default().to_vec())
            }
            ArgumentElement::Successor(index) => DirectiveArg::Successors(self.successors[*index].clone()),
            ArgumentElement::Region(index) => DirectiveArg::Region(*index),
            ArgumentElement::AttrDict => DirectiveArg::AttrDict(self.format.shown_or_inherent.clone()),
            ArgumentElement::Text(text) => DirectiveArg::Text(text.clone()),
        }
    }

    /// Takes the value that a custom directive made of an argument.
    fn take_argument(
        &mut self,
        ctx: &Context,
        state: &mut OperationState,
        argument: &Argument,
        value: DirectiveArg,
    ) {
        match (&argument.element, value) {
            (ArgumentElement::Operand(index), DirectiveArg::Operands(operands)) => {
                self.set_operands(*index, &operands);
            }
            (ArgumentElement::Attr(index), DirectiveArg::Attr(Some(attr))) => {
                state.set_property(ctx, *index, attr);
            }
            (ArgumentElement::Types(of), DirectiveArg::Types(types)) => self.set_types(*of, &types),
            (ArgumentElement::Successor(index), DirectiveArg::Successors(blocks)) => {
                self.successors[*index] = blocks;
            }
            _ => {}
        }
    }

    fn optional(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        optional: &Optional,
    ) -> ParseResult<()> {
        let first =
            optional.then.iter().position(|s| !matches!(s.element, Element::Space(_) | Element::LineBreak));
        let Some(first) = first else { return Ok(()) };
        let found = self.optional_element(p, state, &optional.then[first].element)?;
        let is_unit =
            |s: &&Spaced| !matches!(s.element, Element::Attr { index, .. } if Some(index) == optional.unit);
        let rest = if found { &optional.then[first + 1..] } else { &optional.otherwise[..] };
        for spaced in rest.iter().filter(is_unit) {
            self.element(p, state, &spaced.element)?;
        }
        if let Some(attr) = optional.unit
            && found != optional.inverted
        {
            state.set_property(p.ctx(), attr, crate::Attr::UNIT);
        }
        Ok(())
    }

    /// Reads the element that a group begins with, if it is there.
    fn optional_element(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        element: &Element,
    ) -> ParseResult<bool> {
        match element {
            Element::Punctuation { kind, .. } => Ok(p.accept_kind(*kind)),
            Element::Keyword(text) => Ok(p.accept_keyword(text)),
            Element::Operand(index) => {
                if p.is_operand_next() {
                    self.operand(p, *index)
                } else {
                    Ok(false)
                }
            }
            Element::Attr { index, .. } => self.attr(p, state, *index, true),
            Element::Region(index) => self.region(p, state, *index, true),
            Element::Successor(index) => self.successor(p, *index, true),
            Element::Types { of, .. } => {
                let Some(first) = p.parse_optional_type()? else { return Ok(false) };
                self.set_types(*of, &[first]);
                if self.arity(*of) == Arity::Variadic {
                    self.more_types(p, *of)?;
                }
                Ok(true)
            }
            Element::AllOperands => {
                self.element(p, state, element)?;
                Ok(!self.operands(self.slot(Values::AllOperands)).is_empty())
            }
            // What begins otherwise says by itself whether it is there: it reads nothing if not.
            _ => {
                let before = p.position();
                self.element(p, state, element)?;
                Ok(p.position() != before)
            }
        }
    }

    fn any_order(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        clauses: &[Clause],
    ) -> ParseResult<()> {
        let mut seen = vec![false; clauses.len()];
        loop {
            let loc = p.loc();
            let next = clauses.iter().position(|clause| match &clause.keyword.element {
                Element::Keyword(text) => p.accept_keyword(text),
                Element::Punctuation { kind, .. } => p.accept_kind(*kind),
                _ => false,
            });
            let Some(index) = next else { return Ok(()) };
            if std::mem::replace(&mut seen[index], true) {
                return Err(
                    p.error(loc, "clause can appear at most once in the expansion of the oilist directive")
                );
            }
            let elements = &clauses[index].elements;
            // A unit attribute alone is what the keyword stands for.
            if let [Spaced { element: Element::Attr { index, .. }, .. }] = elements.as_slice()
                && matches!(self.def.attrs[*index].constraint, crate::opdef::AttrConstraint::Unit)
            {
                state.set_property(p.ctx(), *index, crate::Attr::UNIT);
                continue;
            }
            self.elements(p, state, elements)?;
        }
    }

    /// Infers what is missing and fills in the state.
    fn finish(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        start: u32,
    ) -> ParseResult<()> {
        let def = self.def;
        let required = def.regions.iter().filter(|r| !r.variadic).count();
        while self.regions < required {
            p.add_empty_region(state);
            self.regions += 1;
        }
        state.successors.extend(self.successors.drain(..).flatten());
        // Operands written as one list belong to the definitions in order.
        if self.as_one_list {
            let all = self.operands(self.slot(Values::AllOperands)).to_vec();
            let types = match self.types_at(self.slot(Values::AllOperands)) {
                Some(types) => types.to_vec(),
                None => self.types_of_all_operands(p, state, start)?,
            };
            let loc = p.loc_at(start);
            state.operands = p.resolve_all(&all, &types, loc)?;
        } else {
            self.distribute_types();
            self.infer(p.ctx(), state);
            self.resolve_operands(p, state, start)?;
        }
        self.result_types(p, state, start)
    }

    /// Types of operands written as one list, without types of their own.
    fn types_of_all_operands(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &OperationState,
        start: u32,
    ) -> ParseResult<Vec<Type>> {
        let all = self.scratch.slots[self.slot(Values::AllOperands)].operands.clone();
        let fixed = self.def.operands.iter().filter(|d| d.arity == Arity::One).count();
        let mut at = all.start;
        for (index, def) in self.def.operands.iter().enumerate() {
            let count = if def.arity == Arity::One { 1 } else { all.len().saturating_sub(fixed) };
            let end = (at + count).min(all.end);
            self.scratch.slots[index].operands = at..end;
            at = end;
        }
        self.infer(p.ctx(), state);
        let mut types = Vec::new();
        for index in 0..self.def.operands.len() {
            self.check_operand_types(p, index, start)?;
            types.extend((0..self.operands(index).len()).filter_map(|i| self.operand_type(index, i)));
        }
        Ok(types)
    }

    /// Gives types of all operands, if they are written as one list, to the definitions in order.
    fn distribute_types(&mut self) {
        let Some(all) = self.scratch.slots[self.slot(Values::AllOperands)].types.clone() else { return };
        let mut at = all.start;
        for index in 0..self.def.operands.len() {
            // What is too much goes to the last, where it is an error.
            let is_last = index + 1 == self.def.operands.len();
            let end = if is_last { all.end } else { (at + self.operands(index).len()).min(all.end) };
            self.scratch.slots[index].types = Some(at..end);
            at = end;
        }
    }

    /// An error unless every operand of a definition has a type.
    fn check_operand_types(&mut self, p: &mut OpParser<'_, '_>, index: usize, start: u32) -> ParseResult<()> {
        let n = self.operands(index).len();
        let message = match self.types_at(index) {
            Some(types) if types.len() == n => return Ok(()),
            // One type for all of a list whose types are all the same.
            Some([_]) if self.is_uniform(index) => return Ok(()),
            Some(types) => {
                format!(
                    "number of operands and types do not match: got {n} operands and {} types",
                    types.len()
                )
            }
            None if n == 0 => return Ok(()),
            None => format!("type of operand '{}' can't be inferred", self.def.operands[index].name),
        };
        Err(p.error_at(start, message))
    }

    /// The type of operand `i` of a definition, whose types were checked.
    fn operand_type(&self, index: usize, i: usize) -> Option<Type> {
        match self.types_at(index)? {
            [one] => Some(*one),
            types => types.get(i).copied(),
        }
    }

    /// True if the types of an operand's values were inferred from one type.
    fn is_uniform(&self, index: usize) -> bool {
        self.def.traits.has(Trait::SameTypeOperands)
            || self.def.traits.has(Trait::SameOperandsAndResultType)
            || !matches!(self.def.operands[index].ty, TypeConstraint::Any)
    }

    fn resolve_operands(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        start: u32,
    ) -> ParseResult<()> {
        for index in 0..self.def.operands.len() {
            self.check_operand_types(p, index, start)?;
            let operands = self.scratch.slots[index].operands.clone();
            for at in operands.clone() {
                if let Some(ty) = self.operand_type(index, at - operands.start) {
                    state.operands.push(p.resolve(self.scratch.operands[at], ty)?);
                }
            }
        }
        if self.def.traits.has(Trait::AttrSizedOperandSegments) {
            let sizes: Vec<i64> =
                (0..self.def.operands.len()).map(|index| self.operands(index).len() as i64).collect();
            let ctx = p.ctx();
            state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        }
        Ok(())
    }

    fn result_types(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        start: u32,
    ) -> ParseResult<()> {
        if let Some(types) = self.types_at(self.slot(Values::AllResults)) {
            state.result_types.extend_from_slice(types);
            return Ok(());
        }
        let mut sizes = Vec::new();
        let segmented = self.def.traits.has(Trait::AttrSizedResultSegments);
        for (index, def) in self.def.results.iter().enumerate() {
            let types = match self.types_at(self.slot(Values::Result(index))) {
                Some(types) => types,
                None if def.arity != Arity::One => &[],
                None => {
                    return Err(p.error_at(start, format!("type of result '{}' can't be inferred", def.name)));
                }
            };
            state.result_types.extend_from_slice(types);
            if segmented {
                sizes.push(types.len() as i64);
            }
        }
        if segmented {
            let ctx = p.ctx();
            state.set_attr(ctx, RESULT_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        }
        Ok(())
    }

    /// Fills in types that follow from others, until nothing more does. Each round fills at least
    /// one, so it ends.
    fn infer(&mut self, ctx: &Context, state: &OperationState) {
        if let Some(types) = self.scratch.slots[self.slot(Values::AllResults)].types.clone()
            && self.def.results.len() == 1
        {
            let slot = self.slot(Values::Result(0));
            self.scratch.slots[slot].types = Some(types);
        }
        let known = self.def.operands.len() + self.def.results.len();
        while self.scratch.slots[..known].iter().any(|slot| slot.types.is_none())
            && (self.infer_from_traits() || self.infer_from_constraints(ctx, state))
        {}
    }

    fn infer_from_constraints(&mut self, ctx: &Context, state: &OperationState) -> bool {
        let mut changed = false;
        for (slot, same) in self.format.same_type_as.iter().enumerate() {
            let (slot, inferred) = match (self.types_at(slot), same) {
                (None, Some(other)) => (slot, self.first_type(*other)),
                (None, None) => {
                    let of = |name: &str| self.type_of(ctx, state, name);
                    (slot, self.value_def(slot).ty.infer(ctx, &of))
                }
                (Some(own), Some(other)) if self.types_at(*other).is_none() => (*other, own.first().copied()),
                (Some(_), _) => continue,
            };
            if let Some(ty) = inferred {
                self.fill(slot, ty);
                changed = true;
            }
        }
        changed
    }

    fn infer_from_traits(&mut self) -> bool {
        let all = self.def.traits.has(Trait::SameOperandsAndResultType);
        if !all && !self.def.traits.has(Trait::SameTypeOperands) {
            return false;
        }
        let operands = self.def.operands.len();
        let count = if all { operands + self.def.results.len() } else { operands };
        let Some(ty) = (0..count).find_map(|slot| self.first_type(slot)) else { return false };
        let mut changed = false;
        for slot in 0..count {
            if self.types_at(slot).is_none() {
                self.fill(slot, ty);
                changed = true;
            }
        }
        changed
    }

    // A slot is an operand definition, or behind them a result definition.

    /// The slot of an entry.
    fn slot(&self, of: Values) -> usize {
        let (operands, results) = (self.def.operands.len(), self.def.results.len());
        match of {
            Values::Operand(index) => index,
            Values::Result(index) => operands + index,
            Values::AllOperands => operands + results,
            Values::AllResults => operands + results + 1,
        }
    }

    fn operands(&self, slot: usize) -> &[UnresolvedOperand] {
        &self.scratch.operands[self.scratch.slots[slot].operands.clone()]
    }

    fn set_operands(&mut self, slot: usize, operands: &[UnresolvedOperand]) {
        let start = self.scratch.operands.len();
        self.scratch.operands.extend_from_slice(operands);
        self.scratch.slots[slot].operands = start..self.scratch.operands.len();
    }

    fn types_at(&self, slot: usize) -> Option<&[Type]> {
        self.scratch.slots[slot].types.clone().map(|range| &self.scratch.types[range])
    }

    fn set_types(&mut self, of: Values, types: &[Type]) {
        let start = self.scratch.types.len();
        self.scratch.types.extend_from_slice(types);
        let slot = self.slot(of);
        self.scratch.slots[slot].types = Some(start..self.scratch.types.len());
    }

    fn value_def(&self, slot: usize) -> &OperandDef {
        let operands = self.def.operands.len();
        if slot < operands { &self.def.operands[slot] } else { &self.def.results[slot - operands] }
    }

    fn first_type(&self, slot: usize) -> Option<Type> {
        self.types_at(slot).and_then(|types| types.first().copied())
    }

    fn slot_of(&self, name: &str) -> Option<usize> {
        let mut all = self.def.operands.iter().chain(self.def.results.iter());
        all.position(|d| d.name == name)
    }

    /// The type of what has a name: an operand, a result, or an attribute with a type.
    fn type_of(&self, ctx: &Context, state: &OperationState, name: &str) -> Option<Type> {
        match self.slot_of(name) {
            Some(slot) => self.first_type(slot),
            None => state.properties.get(ctx, name)?.ty(ctx),
        }
    }

    fn fill(&mut self, slot: usize, ty: Type) {
        let count = match self.value_def(slot).arity {
            // Others may need the type though no value of this operand is there.
            Arity::One => self.operands(slot).len().max(1),
            // Of results no number is known.
            _ => self.operands(slot).len(),
        };
        let start = self.scratch.types.len();
        self.scratch.types.extend(std::iter::repeat_n(ty, count));
        self.scratch.slots[slot].types = Some(start..self.scratch.types.len());
    }
}
