//! Reading by a format, and inferring the types that the text leaves out.

use std::borrow::Cow;

use super::{
    Argument, ArgumentElement, Clause, DirectiveArg, Element, Format, Optional, Spaced, Values, attributes,
};
use crate::builder::OperationState;
use crate::context::Context;
use crate::entity::Block;
use crate::location::Loc;
use crate::opdef::{
    Arity, OPERAND_SEGMENTS, OpDef, OperandDef, RESULT_SEGMENTS, RegionKind, Trait, TypeConstraint,
};
use crate::text::op_parser::Delimiter;
use crate::text::{OpParser, ParseResult, UnresolvedOperand};
use crate::types::Type;

/// What has been read so far.
struct Reader<'f> {
    def: &'f OpDef,
    shown: &'f [Cow<'static, str>],
    operands: Vec<Vec<UnresolvedOperand>>,
    operand_types: Vec<Option<Vec<Type>>>,
    result_types: Vec<Option<Vec<Type>>>,
    all_operands: Option<Vec<UnresolvedOperand>>,
    all_operand_types: Option<Vec<Type>>,
    all_result_types: Option<Vec<Type>>,
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
        let loc = p.loc();
        let mut reader = Reader {
            def,
            shown: &self.shown,
            operands: vec![Vec::new(); def.operands.len()],
            operand_types: vec![None; def.operands.len()],
            result_types: vec![None; def.results.len()],
            all_operands: None,
            all_operand_types: None,
            all_result_types: None,
            successors: vec![Vec::new(); def.successors.len()],
            regions: 0,
        };
        reader.elements(p, state, &self.elements)?;
        reader.finish(p, state, loc)
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
            Element::Punctuation(text) => p.expect(text),
            Element::Keyword(text) => p.expect_keyword(text),
            Element::Space(_) | Element::LineBreak => Ok(()),
            Element::Operand(index) => self.operand(p, *index).map(|_| ()),
            Element::Attr { index, .. } => self.attr(p, state, *index, false).map(|_| ()),
            Element::Region(index) => self.region(p, state, *index, false).map(|_| ()),
            Element::Successor(index) => self.successor(p, *index, false).map(|_| ()),
            Element::AllOperands => {
                self.all_operands = Some(p.parse_operand_list(Delimiter::None)?);
                Ok(())
            }
            Element::AllRegions => {
                while p.is_next("{") {
                    p.parse_region(state, &[])?;
                    self.regions += 1;
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
            Element::AttrDict { keyword: false } => p.parse_optional_attr_dict(state),
            Element::AttrDict { keyword: true } => p.parse_optional_attr_dict_with_keyword(state),
            Element::Types { of, .. } => self.types(p, *of).map(|_| ()),
            Element::FunctionalType(inputs, results) => {
                let loc = p.loc();
                let ty = p.parse_type()?;
                let Some((i, r)) = ty.function(p.ctx()) else {
                    return Err(p.error(loc, "expected function type"));
                };
                self.set_types(*inputs, i.to_vec());
                self.set_types(*results, r.to_vec());
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
        self.operands[index] = match self.def.operands[index].arity {
            Arity::One => vec![p.parse_operand()?],
            Arity::Optional => p.parse_optional_operand()?.into_iter().collect(),
            Arity::Variadic => p.parse_operand_list(Delimiter::None)?,
        };
        Ok(!self.operands[index].is_empty())
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
        state.set_attr(p.ctx(), &def.name, attr);
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
            p.parse_region(state, &[])?;
            if matches!(def.kind, RegionKind::SingleBlock | RegionKind::NonEmpty) {
                p.ensure_block(self.regions);
            }
            self.regions += 1;
            if !def.variadic || !p.accept(",") {
                break;
            }
        }
        Ok(true)
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
            self.set_types(of, vec![ty]);
            return Ok(true);
        }
        let mut types = Vec::new();
        match self.arity(of) {
            Arity::One => types.push(p.parse_type()?),
            Arity::Optional => types.extend(p.parse_optional_type()?),
            Arity::Variadic => {
                if let Some(first) = p.parse_optional_type()? {
                    types.push(first);
                    while p.accept(",") {
                        types.push(p.parse_type()?);
                    }
                }
            }
        }
        let any = !types.is_empty();
        self.set_types(of, types);
        Ok(any)
    }

    fn set_types(&mut self, of: Values, types: Vec<Type>) {
        match of {
            Values::Operand(index) => self.operand_types[index] = Some(types),
            Values::Result(index) => self.result_types[index] = Some(types),
            Values::AllOperands => self.all_operand_types = Some(types),
            Values::AllResults => self.all_result_types = Some(types),
        }
    }

    /// What a custom directive gets for an argument.
    fn argument(&self, ctx: &Context, state: &OperationState, argument: &Argument) -> DirectiveArg {
        match &argument.element {
            ArgumentElement::Operand(index) => DirectiveArg::Operands(self.operands[*index].clone()),
            ArgumentElement::Attr(index) => {
                DirectiveArg::Attr(state.properties.get(ctx, &self.def.attrs[*index].name))
            }
            ArgumentElement::Types(of) => DirectiveArg::Types(
                match of {
                    Values::Operand(index) => self.operand_types[*index].clone(),
                    Values::Result(index) => self.result_types[*index].clone(),
                    Values::AllOperands => self.all_operand_types.clone(),
                    Values::AllResults => self.all_result_types.clone(),
                }
                .unwrap_or_default(),
            ),
            ArgumentElement::Successor(index) => DirectiveArg::Successors(self.successors[*index].clone()),
            ArgumentElement::Region(index) => DirectiveArg::Region(*index),
            ArgumentElement::AttrDict => DirectiveArg::AttrDict(self.shown.to_vec()),
            ArgumentElement::Text(text) => DirectiveArg::Text(text.clone()),
        }
    }

    /// What a custom directive made of an argument.
    fn take_argument(
        &mut self,
        ctx: &Context,
        state: &mut OperationState,
        argument: &Argument,
        value: DirectiveArg,
    ) {
        match (&argument.element, value) {
            (ArgumentElement::Operand(index), DirectiveArg::Operands(operands)) => {
                self.operands[*index] = operands;
            }
            (ArgumentElement::Attr(index), DirectiveArg::Attr(Some(attr))) => {
                state.set_attr(ctx, &self.def.attrs[*index].name, attr);
            }
            (ArgumentElement::Types(of), DirectiveArg::Types(types)) => self.set_types(*of, types),
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
            state.set_attr(p.ctx(), &self.def.attrs[attr].name, crate::Attr::UNIT);
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
            Element::Punctuation(text) => Ok(p.accept(text)),
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
            Element::Types { of, .. } => match p.parse_optional_type()? {
                None => Ok(false),
                Some(first) => {
                    let mut types = vec![first];
                    while self.arity(*of) == Arity::Variadic && p.accept(",") {
                        types.push(p.parse_type()?);
                    }
                    self.set_types(*of, types);
                    Ok(true)
                }
            },
            Element::AllOperands => {
                self.element(p, state, element)?;
                Ok(self.all_operands.as_ref().is_some_and(|o| !o.is_empty()))
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
                Element::Punctuation(text) => p.accept(text),
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
                state.set_attr(p.ctx(), &self.def.attrs[*index].name, crate::Attr::UNIT);
                continue;
            }
            self.elements(p, state, elements)?;
        }
    }

    /// Infers what is missing and fills in the state.
    fn finish(mut self, p: &mut OpParser<'_, '_>, state: &mut OperationState, loc: Loc) -> ParseResult<()> {
        let def = self.def;
        let required = def.regions.iter().filter(|r| !r.variadic).count();
        while self.regions < required {
            p.add_empty_region(state);
            self.regions += 1;
        }
        state.successors.extend(self.successors.drain(..).flatten());
        // Operands written as one list belong to the definitions in order.
        if let Some(all) = self.all_operands.take() {
            let types = match self.all_operand_types.take() {
                Some(types) => types,
                None => self.types_of_all_operands(p, state, &all, loc)?,
            };
            state.operands = p.resolve_all(&all, &types, loc)?;
        } else {
            if let Some(types) = self.all_operand_types.take() {
                self.distribute(types);
            }
            self.infer(p.ctx(), state);
            self.resolve_operands(p, state, loc)?;
        }
        self.result_types(p, state, loc)
    }

    /// Types of operands written as one list, without types of their own.
    fn types_of_all_operands(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &OperationState,
        all: &[UnresolvedOperand],
        loc: Loc,
    ) -> ParseResult<Vec<Type>> {
        let mut at = 0;
        for (index, def) in self.def.operands.iter().enumerate() {
            let fixed = self.def.operands.iter().filter(|d| d.arity == Arity::One).count();
            let count = if def.arity == Arity::One { 1 } else { all.len().saturating_sub(fixed) };
            let end = (at + count).min(all.len());
            self.operands[index] = all[at..end].to_vec();
            at = end;
        }
        self.infer(p.ctx(), state);
        let mut types = Vec::new();
        for index in 0..self.def.operands.len() {
            types.extend(self.known_operand_types(p, index, loc)?);
        }
        Ok(types)
    }

    /// Gives types of all operands to the definitions in order.
    fn distribute(&mut self, types: Vec<Type>) {
        let mut rest = types.into_iter();
        for index in 0..self.operands.len() {
            let count = self.operands[index].len();
            self.operand_types[index] = Some(rest.by_ref().take(count).collect());
        }
        let left: Vec<Type> = rest.collect();
        if let Some(Some(last)) = self.operand_types.last_mut() {
            last.extend(left);
        }
    }

    fn known_operand_types(
        &mut self,
        p: &mut OpParser<'_, '_>,
        index: usize,
        loc: Loc,
    ) -> ParseResult<Vec<Type>> {
        let count = self.operands[index].len();
        match &self.operand_types[index] {
            Some(types) if types.len() == count => Ok(types.clone()),
            // One type for all of a list whose types are all the same.
            Some(types) if types.len() == 1 && self.is_uniform(index) => Ok(vec![types[0]; count]),
            Some(types) => {
                let m = types.len();
                let message =
                    format!("number of operands and types do not match: got {count} operands and {m} types");
                Err(p.error(loc, message))
            }
            None if count == 0 => Ok(Vec::new()),
            None => {
                let message =
                    format!("type of operand '{}' can't be inferred", self.def.operands[index].name);
                Err(p.error(loc, message))
            }
        }
    }

    /// Whether the types of an operand's values were inferred from one type.
    fn is_uniform(&self, index: usize) -> bool {
        self.def.traits.has(Trait::SameTypeOperands)
            || self.def.traits.has(Trait::SameOperandsAndResultType)
            || !matches!(self.def.operands[index].ty, TypeConstraint::Any)
    }

    fn resolve_operands(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        loc: Loc,
    ) -> ParseResult<()> {
        for index in 0..self.operands.len() {
            let types = self.known_operand_types(p, index, loc)?;
            for (operand, ty) in self.operands[index].iter().zip(types) {
                let value = p.resolve(*operand, ty)?;
                state.operands.push(value);
            }
        }
        if self.def.traits.has(Trait::AttrSizedOperandSegments) {
            let sizes: Vec<i64> = self.operands.iter().map(|o| o.len() as i64).collect();
            let ctx = p.ctx();
            state.set_attr(ctx, OPERAND_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        }
        Ok(())
    }

    fn result_types(
        &mut self,
        p: &mut OpParser<'_, '_>,
        state: &mut OperationState,
        loc: Loc,
    ) -> ParseResult<()> {
        if let Some(types) = self.all_result_types.take() {
            state.result_types = types;
            return Ok(());
        }
        let mut sizes = Vec::new();
        for (index, def) in self.def.results.iter().enumerate() {
            let before = state.result_types.len();
            match self.result_types[index].take() {
                Some(types) => state.result_types.extend(types),
                None if def.arity != Arity::One => {}
                None => {
                    return Err(p.error(loc, format!("type of result '{}' can't be inferred", def.name)));
                }
            }
            sizes.push((state.result_types.len() - before) as i64);
        }
        if self.def.traits.has(Trait::AttrSizedResultSegments) {
            let ctx = p.ctx();
            state.set_attr(ctx, RESULT_SEGMENTS, ctx.dense_ints_attr(Type::I32, &sizes));
        }
        Ok(())
    }

    /// Fills in types that follow from others, until nothing more does. Each round fills at least one, so it ends.
    fn infer(&mut self, ctx: &Context, state: &OperationState) {
        if let Some(types) = &self.all_result_types
            && self.def.results.len() == 1
        {
            self.result_types[0] = Some(types.clone());
        }
        while self.infer_from_constraints(ctx, state) || self.infer_from_traits() {}
    }

    fn infer_from_constraints(&mut self, ctx: &Context, state: &OperationState) -> bool {
        let mut changed = false;
        for slot in 0..self.def.operands.len() + self.def.results.len() {
            let def = self.value_def(slot);
            let name_known = self.first_type(slot).is_some() || !self.types_at(slot).is_none();
            if !name_known {
                let inferred = def.ty.infer(ctx, &|name| self.type_of(ctx, state, name));
                if let Some(ty) = inferred {
                    self.fill(slot, ty);
                    changed = true;
                }
            } else if let (TypeConstraint::SameAs(other), Some(ty)) = (&def.ty, self.first_type(slot))
                && let Some(other) = self.slot_of(other)
                && self.types_at(other).is_none()
            {
                self.fill(other, ty);
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
        let missing: Vec<usize> = (0..count).filter(|slot| self.types_at(*slot).is_none()).collect();
        missing.iter().for_each(|slot| self.fill(*slot, ty));
        !missing.is_empty()
    }

    // A slot is an operand definition, or behind them a result definition.

    fn value_def(&self, slot: usize) -> &OperandDef {
        let operands = self.def.operands.len();
        if slot < operands { &self.def.operands[slot] } else { &self.def.results[slot - operands] }
    }

    fn types_at(&self, slot: usize) -> &Option<Vec<Type>> {
        let operands = self.def.operands.len();
        if slot < operands { &self.operand_types[slot] } else { &self.result_types[slot - operands] }
    }

    fn first_type(&self, slot: usize) -> Option<Type> {
        self.types_at(slot).as_ref().and_then(|types| types.first().copied())
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
        let operands = self.def.operands.len();
        if slot < operands {
            let count = self.operands[slot].len();
            self.operand_types[slot] = Some(vec![ty; count]);
            // Others may need the type though no value of this operand is there.
            if count == 0 && self.def.operands[slot].arity == Arity::One {
                self.operand_types[slot] = Some(vec![ty]);
            }
        } else {
            let index = slot - operands;
            let count = usize::from(self.def.results[index].arity == Arity::One);
            self.result_types[index] = Some(vec![ty; count]);
        }
    }
}
