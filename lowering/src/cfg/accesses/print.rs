//! Accesses as text, a line each: kind, number of bytes, location, and iterations.
//!
//! Values and blocks have the numbers of [`to_ll`](crate::to_ll). `i0` is the iteration of the
//! outermost loop around, from zero. Subscripts count elements of the accessed size if all of them
//! are multiples of it, else bytes in the object.

use std::fmt::Write;

use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::symbols::SymbolTable;
use loomir_ir::{Body, Diagnostics, OpRef};
use loomir_transforms::access::base::Base;
use loomir_transforms::affine::{AffineForm, Atom};

use super::{Access, Accesses};
use crate::cfg::Analysis;
use crate::cfg::scev::ScalarEvolution;
use crate::cfg::scev::print::Names;

/// Prints the accesses of a function of a module.
///
/// # Errors
/// If something has no text.
pub(crate) fn print(
    (module, symbols): (&Body, &SymbolTable),
    function: &Body,
    text: &mut String,
) -> Result<(), Diagnostics> {
    let analysis = Analysis::of(function);
    let mut scev = ScalarEvolution::new(function, &analysis, &DataLayout::of(module.root_ref()));
    let accesses = Accesses::of(symbols, &mut scev);
    let names = Names::of(module, function, &analysis)?;
    let name = OpRef::new(function, function.root()).attr("sym_name");
    let name = name.and_then(|name| name.as_str(function.ctx())).unwrap_or_default();
    let _ = writeln!(text, "Accesses of @{name}:");
    let printer = Printer { function, analysis: &analysis, names };
    // A stack allocation touches no memory. It only has to keep its order with calls.
    let is_memory = |access: &&Access| access.classes.iter().any(|class| class.base != Base::Exit);
    for access in accesses.all.iter().filter(is_memory) {
        printer.access(access, text);
    }
    Ok(())
}

struct Printer<'p> {
    function: &'p Body,
    analysis: &'p Analysis,
    names: Names,
}

impl Printer<'_> {
    fn access(&self, access: &Access, text: &mut String) {
        let headers = access.loops.iter().map(|of| self.analysis.loops().get(*of).header());
        let headers: Vec<String> = headers.map(|header| self.names.block(header)).collect();
        let place = if headers.is_empty() { self.names.block(access.block) } else { headers.join(" ") };
        let kind = if access.writes() { "write" } else { "read" };
        let Some(class) = access.classes.first() else { return };
        let _ = write!(text, "  {place}: {kind} ");
        if class.base == Base::World {
            text.push_str("of anything");
        } else if let Some((bytes, subscripts)) = access.bytes.as_ref().zip(class.subscripts.as_ref()) {
            let byte = AffineForm::level(access.loops.len() as u32);
            let digits = subscripts.iter().flatten().cloned();
            let mut digits: Vec<AffineForm> = digits.collect();
            // The last one counts bytes.
            if let Some(last) = digits.last_mut() {
                *last = last.minus(&byte).unwrap_or_default();
            }
            let _ = write!(text, "{} of {}", self.bytes(bytes), self.base(class.base));
            self.subscripts(bytes, digits, &class.sizes, text);
        } else {
            let _ = write!(text, "anywhere in {}", self.base(class.base));
        }
        let piece = |constraints: &[AffineForm]| {
            let shown: Vec<String> = constraints.iter().map(|form| self.constraint(form)).collect();
            shown.join(", ")
        };
        let own = if access.bytes.is_some() { 2 } else { 0 };
        let pieces: Vec<String> = access
            .classes
            .iter()
            .map(|class| &class.domain.constraints)
            .map(|all| piece(&all[..all.len() - own]))
            .collect();
        if pieces.iter().any(|piece| !piece.is_empty()) {
            let _ = write!(text, " for {}", pieces.join(" or "));
        }
        text.push_str(if class.domain.exact { "\n" } else { " at most\n" });
    }

    fn bytes(&self, bytes: &AffineForm) -> String {
        let plural = if bytes.as_constant() == Some(1) { "" } else { "s" };
        format!("{} byte{plural}", self.form(bytes))
    }

    fn subscripts(
        &self,
        bytes: &AffineForm,
        digits: Vec<AffineForm>,
        sizes: &[AffineForm],
        text: &mut String,
    ) {
        let unit = bytes.as_constant().filter(|unit| *unit > 0);
        let elements = |form: &AffineForm| {
            let unit = unit?;
            let quotient = form.floor_div(unit)?;
            (quotient.times(unit)? == *form).then_some(quotient)
        };
        let last = digits.len() - 1;
        let scaled = elements(&digits[last]);
        let size = sizes.last().map(&elements);
        let is_scaled = scaled.is_some() && size.as_ref().is_none_or(Option::is_some);
        for (at, digit) in digits.iter().enumerate() {
            let is_last = at == last;
            let own = if is_last && is_scaled { scaled.as_ref().unwrap_or(digit) } else { digit };
            let size = at.checked_sub(1).map(|before| &sizes[before]);
            let size = match &size {
                Some(size) if is_last && is_scaled => elements(size),
                size => size.cloned(),
            };
            let size = size.map_or(String::new(), |size| format!(" of {}", self.form(&size)));
            let unit = if is_last && !is_scaled { "byte " } else { "" };
            let _ = write!(text, "[{unit}{}{size}]", self.form(own));
        }
    }

    fn base(&self, base: Base) -> String {
        match base {
            Base::Global(name) => format!("@{}", self.function.ctx().str(name)),
            Base::Allocation(value) | Base::Argument(value) | Base::Distinct(value) => {
                self.names.value(self.function, value)
            }
            Base::Unknown(value) => format!("what {} is in", self.names.value(self.function, value)),
            Base::Carried(_) => "what a loop carries".to_owned(),
            Base::Exit | Base::World => "anything".to_owned(),
        }
    }

    /// Returns the constraint that a form is not negative. Added terms are on the right, subtracted
    /// ones on the left.
    fn constraint(&self, form: &AffineForm) -> String {
        let (mut left, mut right) = (AffineForm::default(), AffineForm::default());
        for (atom, coefficient) in form.terms() {
            let side = if *coefficient < 0 { &mut left } else { &mut right };
            let term = AffineForm::atom(atom.clone());
            *side = side.plus(&term, coefficient.saturating_abs()).unwrap_or_default();
        }
        let constant = form.constant_part();
        let is_strict = constant < 0 && !left.terms().is_empty();
        let moved = if is_strict { constant.saturating_add(1) } else { constant };
        let side = if moved < 0 { &mut left } else { &mut right };
        *side = side.plus(&AffineForm::constant(moved.saturating_abs()), 1).unwrap_or_default();
        format!("{} {} {}", self.form(&left), if is_strict { "<" } else { "<=" }, self.form(&right))
    }

    fn form(&self, form: &AffineForm) -> String {
        let mut text = String::new();
        let constant = form.constant_part();
        for (atom, coefficient) in form.terms() {
            let sign = match (*coefficient < 0, text.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            text.push_str(sign);
            if coefficient.unsigned_abs() != 1 {
                let _ = write!(text, "{}*", coefficient.unsigned_abs());
            }
            text.push_str(&self.atom(atom));
        }
        if text.is_empty() {
            return constant.to_string();
        }
        if constant != 0 {
            let _ = write!(text, " {} {}", if constant < 0 { '-' } else { '+' }, constant.unsigned_abs());
        }
        text
    }

    fn atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Level(level) => format!("i{level}"),
            Atom::Param(value) => self.names.value(self.function, *value),
            Atom::Product(values) => {
                let names: Vec<String> =
                    values.iter().map(|value| self.names.value(self.function, *value)).collect();
                names.join("*")
            }
            Atom::FloorDiv(inner, divisor) => format!("floor(({})/{divisor})", self.form(inner)),
        }
    }
}
