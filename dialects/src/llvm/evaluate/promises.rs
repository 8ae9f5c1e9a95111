//! Promises about values: attributes of parameters, arguments and results, metadata of loads,
//! bundles of assumptions.
//!
//! As in LLVM, a value that breaks a promise is poison, and poison with `noundef` is undefined
//! behaviour. A broken `dereferenceable` is immediate undefined behaviour. Checked are `noundef`,
//! `nonnull`, `align`, `range`, `dereferenceable` and `dereferenceable_or_null`; no others are.

use loomir_ir::attributes::AttrKind;
use loomir_ir::{Attr, Context, Loc, OpRef};

use crate::interp::elementwise::map;
use crate::interp::integer::mask;
use crate::interp::layout::Repr;
use crate::interp::{
    Action, Cause, Datum, Decoded, Decoder, Execute, Fault, Flow, Machine, Slot, Step, action,
};
use crate::llvm::METADATA;
use crate::llvm::types::LlvmType;

/// The promises about a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Promises {
    defined: bool,
    non_null: bool,
    align: Option<u64>,
    /// Ranges from the first number of a pair up to the second, exclusive. A range wraps around if
    /// the second is the lesser.
    ranges: Vec<(u128, u128)>,
    reach: Option<u64>,
    /// True if null needs no bytes.
    or_null: bool,
}

impl Promises {
    /// Returns the promises in a dictionary of a parameter or result. `None` if none is checked.
    fn of(ctx: &Context, dict: Attr) -> Option<Promises> {
        let range = promised_range(ctx, dict);
        let AttrKind::Dictionary(dict) = dict.kind(ctx) else { return None };
        let number =
            |name: &str| dict.get(ctx, name).and_then(|n| n.as_int(ctx)).and_then(|n| u64::try_from(n).ok());
        let or_null = number("llvm.dereferenceable_or_null");
        let reach = number("llvm.dereferenceable");
        let promises = Promises {
            defined: dict.get(ctx, "llvm.noundef").is_some(),
            non_null: dict.get(ctx, "llvm.nonnull").is_some(),
            align: number("llvm.align"),
            ranges: range.into_iter().collect(),
            reach: reach.or(or_null),
            or_null: reach.is_none(),
        };
        promises.is_any().then_some(promises)
    }

    fn is_any(&self) -> bool {
        self.defined
            || self.non_null
            || self.align.is_some()
            || !self.ranges.is_empty()
            || self.reach.is_some()
    }

    /// Returns the promises in the metadata of a load.
    pub(super) fn of_load(op: OpRef<'_>, d: &Decoder<'_>) -> Option<Promises> {
        let ctx = d.ctx();
        let text = |dict: Attr, name: &str| match dict.kind(ctx) {
            AttrKind::Dictionary(dict) => dict.get(ctx, name)?.as_str(ctx),
            _ => None,
        };
        let attached = op.attr(METADATA)?;
        let nodes = d.module().attr(METADATA);
        let node = |kind: &str| {
            let own = text(attached, kind)?;
            match own.strip_prefix('!') {
                Some(number) if !own.contains('{') => nodes.and_then(|nodes| text(nodes, number)),
                _ => Some(own),
            }
        };
        let numbers = |kind: &str| node(kind).map(numbers).unwrap_or_default();
        let number = |kind: &str| numbers(kind).first().and_then(|n| u64::try_from(*n).ok());
        let (reach, or_null) = (number("dereferenceable"), number("dereferenceable_or_null"));
        let promises = Promises {
            defined: node("noundef").is_some(),
            non_null: node("nonnull").is_some(),
            align: number("align"),
            ranges: numbers("range").chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            reach: reach.or(or_null),
            or_null: reach.is_none(),
        };
        promises.is_any().then_some(promises)
    }

    /// Returns the value, or poison if the value breaks a promise. `what` names the value.
    ///
    /// # Errors
    /// Poison where `noundef` is promised, and a broken `dereferenceable`, are undefined behaviour.
    pub(super) fn keep(&self, m: &Machine, datum: &Datum, what: &str, loc: Loc) -> Result<Datum, Box<Fault>> {
        let kept = map([datum], |[one]| {
            Ok(self.broken(one).map_or(one.clone(), |cause| Datum::poison(cause, loc)))
        })?;
        if self.defined
            && let Some(poison) = kept.find_poison()
        {
            return Err(Fault::poison(&format!("{what}, said to be `noundef`,"), poison));
        }
        let Some(reach) = self.reach else { return Ok(kept) };
        match &kept {
            Datum::Pointer { address: 0, .. } if self.or_null => Ok(kept),
            Datum::Pointer { .. } => {
                let place = kept.as_pointer().unwrap_or(crate::interp::Pointer::NULL);
                m.memory.check(place, reach, false).map_err(|mut fault| {
                    let said = format!("{what} is said to be dereferenceable for {reach} bytes");
                    fault.diagnostic.message = format!("{said}, but that {}", fault.diagnostic.message);
                    fault
                })?;
                Ok(kept)
            }
            other => match other.find_poison() {
                Some(poison) => Err(Fault::poison(&format!("{what}, said to be dereferenceable,"), poison)),
                None => Ok(kept),
            },
        }
    }

    /// Returns the promise that a number or address breaks.
    fn broken(&self, datum: &Datum) -> Option<Cause> {
        match datum {
            Datum::Pointer { address: 0, .. } if self.non_null => Some(Cause::Null),
            Datum::Pointer { address, .. } => {
                let is_aligned = self.align.is_none_or(|align| address.is_multiple_of(align.max(1)));
                (!is_aligned).then_some(Cause::NotAligned)
            }
            _ => {
                let bits = datum.as_bits().filter(|_| !self.ranges.is_empty())?;
                let is_in = |(low, high): &(u128, u128)| match low < high {
                    true => (*low..*high).contains(&bits),
                    false => bits >= *low || bits < *high,
                };
                (!self.ranges.iter().any(is_in)).then_some(Cause::OutsideRange)
            }
        }
    }
}

/// Returns the range that a dictionary of a parameter or result promises for an integer. The value
/// is poison outside of the range. The first number is included, the second is not. The range wraps
/// around if the second number is the smaller one.
pub fn promised_range(ctx: &Context, dict: Attr) -> Option<(u128, u128)> {
    let AttrKind::Dictionary(dict) = dict.kind(ctx) else { return None };
    match dict.get(ctx, "llvm.range")?.kind(ctx) {
        AttrKind::String(text) => std::str::from_utf8(text).ok().and_then(range),
        AttrKind::Opaque { body, .. } => range(body),
        _ => None,
    }
}

/// Returns the two ends in `range(i32 0, 5)` or `constant_range<i32, 0, 5>`.
fn range(text: &str) -> Option<(u128, u128)> {
    let inside = text.split_once(['(', '<'])?.1.trim_end_matches([')', '>']);
    match numbers(inside)[..] {
        [low, high] => Some((low, high)),
        _ => None,
    }
}

/// Returns the numbers of a list, such as `!{i32 0, i32 5}`. A type also applies to later numbers.
fn numbers(text: &str) -> Vec<u128> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').filter(|word| !word.is_empty());
    let (mut width, mut all) = (64, Vec::new());
    for word in words {
        if let Some(bits) = word.strip_prefix('i').and_then(|bits| bits.parse().ok()) {
            width = bits;
        } else if let Ok(number) = word.parse::<i128>() {
            all.push(number as u128 & mask(width));
        }
    }
    all
}

/// Returns the promises of a call about its arguments, by their position.
pub(super) fn of_arguments(op: OpRef<'_>, d: &Decoder<'_>) -> Vec<(usize, Promises)> {
    let dicts = op.attr("arg_attrs").and_then(|dicts| dicts.as_array(d.ctx())).unwrap_or_default();
    let promises = dicts.iter().enumerate();
    promises.filter_map(|(at, dict)| Some((at, Promises::of(d.ctx(), *dict)?))).collect()
}

/// Returns the promises of a call or a function about its result.
pub(super) fn of_result(op: OpRef<'_>, d: &Decoder<'_>) -> Option<Promises> {
    let dicts = op.attr("res_attrs").and_then(|dicts| dicts.as_array(d.ctx())).unwrap_or_default();
    Promises::of(d.ctx(), *dicts.first()?)
}

/// Decodes the entry of a function: checks the promises about parameters against the arguments, and
/// copies the arguments passed by value.
pub(super) fn decode_entry(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let region = op.regions().next().and_then(|region| op.body().entry_block(region));
    let slots = region.map(|block| d.slots(op.body().arguments(block))).unwrap_or_default();
    let promises: Vec<(usize, Promises)> =
        of_arguments(op, d).into_iter().filter(|(at, _)| *at < slots.len()).collect();
    let dicts = op.attr("arg_attrs").and_then(|dicts| dicts.as_array(d.ctx())).unwrap_or_default();
    let mut copies = Vec::new();
    for (slot, dict) in slots.iter().zip(dicts) {
        let AttrKind::Dictionary(dict) = dict.kind(d.ctx()) else { continue };
        let Some(ty) = dict.get(d.ctx(), "llvm.byval").and_then(|ty| ty.as_type(d.ctx())) else { continue };
        let layout = d.layout(ty)?;
        let align = dict.get(d.ctx(), "llvm.align").and_then(|n| n.as_int(d.ctx())).unwrap_or(1);
        copies.push((*slot, layout.size, layout.align.max(align.cast_unsigned())));
    }
    let (loc, scope) = (op.loc(), d.function_scope());
    Ok(action(move |m| {
        for (at, promises) in &promises {
            let what = format!("argument {at}");
            let kept = promises.keep(m, m.get(slots[*at]), &what, loc).map_err(|fault| fault.at(loc))?;
            m.set(slots[*at], kept);
        }
        for (slot, size, align) in &copies {
            let from = m.pointer(*slot, "an argument that is passed by value")?;
            let to = m.allocate_on_stack(*size, *align, scope)?;
            m.memory.copy(to, from, *size)?;
            m.set(*slot, to.into());
        }
        Ok(Flow::Next)
    }))
}

/// Decodes a return. It checks the promises about the result, and that the function may return.
pub(super) fn decode_return(op: OpRef<'_>, d: &mut Decoder<'_>) -> Decoded {
    let function = d.function();
    let words = function.attr("passthrough").and_then(|words| words.as_array(d.ctx())).unwrap_or_default();
    if words.iter().any(|word| word.as_str(d.ctx()) == Some("noreturn")) {
        return Ok(action(|_| Err(Fault::undefined("a function that is said not to return does"))));
    }
    let returns = crate::func::evaluate::decode_return(op, d)?;
    let Some(promises) = of_result(function, d).filter(|_| op.num_operands() > 0) else { return Ok(returns) };
    let (result, loc) = (d.operand(op, 0)?, op.loc());
    Ok(action(move |m| {
        let flow = returns.execute(m)?;
        let kept = promises.keep(m, m.get(result), "the result of a function", loc)?;
        m.transfer.clear();
        m.transfer.push(kept);
        Ok(flow)
    }))
}

/// A call that checks its promises about arguments and result.
struct Call {
    call: Action,
    arguments: Vec<(Slot, usize, Promises)>,
    result: Option<(Slot, Promises)>,
    loc: Loc,
}

impl Execute for Call {
    fn execute(&self, m: &mut Machine) -> Step {
        // Arguments that break a promise are passed as poison. The registers themselves stay
        // unchanged.
        let mut own = Vec::with_capacity(self.arguments.len());
        for (slot, at, promises) in &self.arguments {
            let what = format!("argument {at} of a call");
            let kept = promises.keep(m, m.get(*slot), &what, self.loc)?;
            own.push((*slot, std::mem::replace(m.get_mut(*slot), kept)));
        }
        let flow = self.call.execute(m);
        for (slot, datum) in own.into_iter().rev() {
            m.set(slot, datum);
        }
        let flow = flow?;
        if flow == Flow::Next {
            self.returned(m)?;
        }
        Ok(flow)
    }

    fn returned(&self, m: &mut Machine) -> Step {
        if let Some((slot, promises)) = &self.result {
            let kept = promises.keep(m, m.get(*slot), "the result of a call", self.loc)?;
            m.set(*slot, kept);
        }
        Ok(Flow::Next)
    }
}

/// Wraps `call`, made by `op` with arguments in these registers, with the checks of its promises
/// about arguments and result.
pub(super) fn kept(op: OpRef<'_>, d: &Decoder<'_>, arguments: &[Slot], call: Action) -> Decoded {
    let promises = of_arguments(op, d).into_iter();
    let arguments: Vec<_> =
        promises.filter_map(|(at, promises)| Some((*arguments.get(at)?, at, promises))).collect();
    let result = match of_result(op, d) {
        Some(promises) if op.num_results() > 0 => Some((d.result(op, 0)?, promises)),
        _ => None,
    };
    if arguments.is_empty() && result.is_none() {
        return Ok(call);
    }
    Ok(Box::new(Call { call, arguments, result, loc: op.loc() }))
}

/// Wraps `call`, made by `op`. Arguments passed by value to a variadic function without a parameter
/// for them are passed as the words they consist of.
pub(super) fn in_words(op: OpRef<'_>, d: &Decoder<'_>, call: Action) -> Decoded {
    let dicts = op.attr("arg_attrs").and_then(|dicts| dicts.as_array(d.ctx())).unwrap_or_default();
    let variadic = op.attr("var_callee_type").and_then(|ty| ty.as_type(d.ctx()));
    let Some(LlvmType::Function { params, .. }) = variadic.and_then(|ty| LlvmType::of(d.ctx(), ty)) else {
        return Ok(call);
    };
    let mut words = Vec::new();
    for (at, dict) in dicts.iter().enumerate().skip(params.len()) {
        let AttrKind::Dictionary(dict) = dict.kind(d.ctx()) else { continue };
        if let Some(ty) = dict.get(d.ctx(), "llvm.byval").and_then(|ty| ty.as_type(d.ctx())) {
            words.push((at, d.layout(ty)?.size.div_ceil(8)));
        }
    }
    if words.is_empty() {
        return Ok(call);
    }
    let loc = op.loc();
    Ok(action(move |m| {
        let flow = call.execute(m)?;
        for (at, count) in words.iter().rev() {
            let from = m.transfer[*at].as_pointer();
            let from =
                from.ok_or_else(|| Fault::unsupported("an argument passed by value has no address"))?;
            let word = |i| m.memory.load(from.offset(8 * i as i64), &WORD, loc);
            let values = (0..*count).map(word).collect::<Result<Vec<Datum>, _>>()?;
            m.transfer.splice(*at..=*at, values);
        }
        Ok(flow)
    }))
}

/// Eight bytes of a number.
const WORD: Repr = Repr::Scalar { bits: 64, bytes: 8 };

/// A bundle of an assumption: the promise, and the registers of its values.
pub(super) type Bundle = (String, Box<[Slot]>);

/// Returns the bundles of an assumption.
pub(super) fn decode_bundles(op: OpRef<'_>, d: &Decoder<'_>) -> Result<Vec<Bundle>, Box<Fault>> {
    let sizes = op.attr("op_bundle_sizes").and_then(|a| a.as_dense_ints(d.ctx())).unwrap_or_default();
    let tags = op.attr("op_bundle_tags").and_then(|a| a.as_array(d.ctx())).unwrap_or_default();
    let mut values = op.operands().skip(1);
    let bundle = |(size, tag): (&i64, &Attr)| {
        let values = values.by_ref().take(usize::try_from(*size).unwrap_or(0));
        (tag.as_str(d.ctx()).unwrap_or_default().to_owned(), d.slots(values))
    };
    Ok(sizes.iter().zip(tags).map(bundle).collect())
}

/// Faults unless the promise of a bundle of an assumption holds.
pub(super) fn assume(m: &Machine, tag: &str, values: &[Slot], loc: Loc) -> Result<(), Box<Fault>> {
    let Some(value) = values.first() else { return Ok(()) };
    let number = |at: usize| match values.get(at) {
        Some(slot) => m.index(*slot, "a number of an assumption").map(|n| Some(n.cast_unsigned())),
        None => Ok(None),
    };
    let mut promises = Promises::default();
    let mut datum = m.get(*value).clone();
    match tag {
        "noundef" => {}
        "nonnull" => promises.non_null = true,
        "align" => {
            promises.align = number(1)?;
            if let (Some(place), Some(offset)) = (datum.as_pointer(), number(2)?) {
                datum = place.offset(offset.cast_signed().wrapping_neg()).into();
            }
        }
        "dereferenceable" | "dereferenceable_or_null" => {
            promises.reach = number(1)?;
            promises.or_null = tag.ends_with("null");
        }
        // Of others nothing is known.
        _ => return Ok(()),
    }
    match promises.keep(m, &datum, "the condition of an assumption", loc)?.find_poison() {
        Some(poison) => Err(Fault::poison("the condition of an assumption", poison)),
        None => Ok(()),
    }
}
