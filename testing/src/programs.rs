//! Random programs of a dialect, made from its definition alone.
//!
//! The tables say which types operands, results and attributes may have. What they cannot say, the
//! verifier decides: an operation that it refuses is left out. So a dialect needs no generator of
//! its own, whether it is written in Rust or loaded from a file.
//!
//! Operations with regions or successors and those that end a block are left out, and so are
//! operations whose attributes the table does not describe well enough to be found by trying.
//!
//! **Invariant.** Programs verify. A seed always gives the same program.
//!
//! **Cost.** Each operation takes at most 20 attempts, each in a program of its own.

use std::fmt::Write;

use loomir::ir::opdef::{Arity, AttrConstraint, AttrDef, OpDef, OperandDef, Presence, TypeConstraint};
use loomir::ir::text::{attr_to_string, parse_attr, parse_type, type_to_string};
use loomir::ir::{Attr, Context, Trait, Type};

use crate::random::Random;

/// The most attempts to make one operation.
const ATTEMPTS: usize = 20;

/// The most values of a variadic operand or result.
const MAX_VARIADIC: usize = 3;

/// Types that values may have, beside those of the dialect.
const TYPES: [&str; 20] = [
    "i1",
    "i8",
    "i32",
    "i64",
    "index",
    "f32",
    "f64",
    "vector<4xi32>",
    "vector<4xf32>",
    "vector<4xi1>",
    "memref<4xi32>",
    "memref<4xf32>",
    "memref<2x?xf32>",
    "tensor<4xi32>",
    "tensor<4xf32>",
    "complex<f32>",
    "none",
    "tuple<i32, f32>",
    "!llvm.ptr",
    "!llvm.struct<(i32, f32)>",
];

/// Attributes that operations and types may have.
const ATTRIBUTES: [&str; 26] = [
    "unit",
    "true",
    "false",
    "1 : i8",
    "3 : i32",
    "5 : i64",
    "0 : i64",
    "2 : index",
    "1.5 : f32",
    "2.5 : f64",
    "\"text\"",
    "i32",
    "f32",
    "(i32) -> f32",
    "[]",
    "[1, 2]",
    "{}",
    "array<i32: 0, 1>",
    "array<i64: 0, 1>",
    "array<i1: true>",
    "affine_map<(d0) -> (d0)>",
    "affine_set<(d0) : (d0 >= 0)>",
    "@name",
    "@outer::@name",
    "dense<1> : vector<4xi32>",
    "dense<1.0> : vector<4xf32>",
];

/// A source of random programs of one dialect.
pub struct Programs<'c> {
    ctx: &'c Context,
    ops: Vec<&'c OpDef>,
    types: Vec<Type>,
    attributes: Vec<Attr>,
}

/// A value of a program that is being made: its name and its type.
#[derive(Clone)]
struct Known {
    name: String,
    ty: Type,
}

/// An operation that was made.
struct Made {
    text: String,
    /// The arguments that the function gets for it.
    arguments: Vec<Known>,
    results: Vec<Known>,
}

impl<'c> Programs<'c> {
    /// Returns the source of programs of a dialect. The order of operations does not depend on the
    /// order of registration.
    pub fn of(ctx: &'c Context, dialect: &str) -> Programs<'c> {
        let is_own = |def: &&OpDef| {
            let is_of_dialect = def.name.split_once('.').is_some_and(|(own, _)| own == dialect);
            let ends = def.traits.has(Trait::Terminator) || def.traits.has(Trait::Symbol);
            is_of_dialect && !ends && def.regions.is_empty() && def.successors.is_empty()
        };
        let mut ops: Vec<&OpDef> = ctx.registered_ops().filter(is_own).collect();
        ops.sort_by(|a, b| a.name.cmp(&b.name));
        let mut programs = Programs { ctx, ops, types: Vec::new(), attributes: Vec::new() };
        programs.attributes = ATTRIBUTES.iter().filter_map(|text| parse_attr(ctx, text).ok()).collect();
        programs.types = TYPES.iter().filter_map(|text| parse_type(ctx, text).ok()).collect();
        programs.types.extend(programs.own_types());
        programs
    }

    /// Returns types of the dialect that its operations name.
    fn own_types(&self) -> Vec<Type> {
        let entries = self.ops.iter().flat_map(|def| def.operands.iter().chain(def.results.iter()));
        let mut constraints: Vec<&TypeConstraint> = entries.map(|entry| &entry.ty).collect();
        let mut names = Vec::new();
        while let Some(constraint) = constraints.pop() {
            match constraint {
                TypeConstraint::Dialect(name) | TypeConstraint::Plain(name) => names.push(format!("!{name}")),
                TypeConstraint::AnyOf(choices) => constraints.extend(choices.iter()),
                _ => {}
            }
        }
        names.sort();
        names.dedup();
        let parameters = ["", "<i32>", "<f32>", "<4 : i32>", "<8 : i64>", "<\"text\">", "<f32, f32>"];
        let texts = names.iter().flat_map(|name| parameters.map(|own| format!("{name}{own}")));
        texts.filter_map(|text| parse_type(self.ctx, &text).ok()).collect()
    }

    /// Returns the names of the operations that programs may have.
    pub fn operations(&self) -> impl Iterator<Item = &str> {
        self.ops.iter().map(|def| &*def.name)
    }

    /// Returns a program of at most `size` operations: a function `@random` that returns the last
    /// values. Operations that no attempt makes are left out.
    pub fn program(&self, random: &mut Random, size: usize) -> String {
        let (mut lines, mut arguments, mut known) = (String::new(), Vec::<Known>::new(), Vec::<Known>::new());
        for number in 0..size {
            if self.ops.is_empty() {
                break;
            }
            let made = (0..ATTEMPTS).find_map(|_| {
                let def = *random.pick(&self.ops);
                let made = self.operation(def, &known, arguments.len(), number, random)?;
                self.verifies(&known, &made).then_some(made)
            });
            let Some(made) = made else { continue };
            let _ = writeln!(lines, "  {}", made.text);
            arguments.extend(made.arguments.iter().cloned());
            known.extend(made.arguments.into_iter().chain(made.results));
        }
        let is_result = |own: &&Known| !arguments.iter().any(|argument| argument.name == own.name);
        let returned: Vec<Known> = known.iter().rev().filter(is_result).take(2).cloned().collect();
        self.function(&arguments, &lines, &returned)
    }

    /// Returns the text of a function.
    fn function(&self, arguments: &[Known], lines: &str, returned: &[Known]) -> String {
        let list = |values: &[Known], show: &dyn Fn(&Known) -> String| {
            values.iter().map(show).collect::<Vec<_>>().join(", ")
        };
        let ty = |own: &Known| type_to_string(self.ctx, own.ty);
        let parameters = list(arguments, &|own| format!("{}: {}", own.name, ty(own)));
        let (names, types) = (list(returned, &|own| own.name.clone()), list(returned, &ty));
        let end = if returned.is_empty() { "return".to_owned() } else { format!("return {names} : {types}") };
        format!("func.func @random({parameters}) -> ({types}) {{\n{lines}  {end}\n}}\n")
    }

    /// True if an operation verifies in a function whose arguments are all values before it.
    fn verifies(&self, known: &[Known], made: &Made) -> bool {
        let used: Vec<Known> =
            known.iter().chain(&made.arguments).filter(|own| made.uses(own)).cloned().collect();
        let text = self.function(&used, &format!("  {}\n", made.text), &[]);
        loomir::parse(self.ctx, &text, "random.mlir").is_ok()
    }

    /// Makes an operation of this definition, if values for its operands can be found.
    fn operation(
        &self,
        def: &OpDef,
        known: &[Known],
        num_arguments: usize,
        number: usize,
        random: &mut Random,
    ) -> Option<Made> {
        let mut arguments: Vec<Known> = Vec::new();
        let mut types: Vec<(&str, Type)> = Vec::new();
        let (mut operands, mut sizes) = (Vec::new(), Vec::new());
        for entry in def.operands.iter() {
            let count = count_of(entry, random);
            sizes.push(count);
            for _ in 0..count {
                let fits = |ty: Type| self.accepts(entry, ty, &types);
                let scope: Vec<&Known> = known.iter().chain(&arguments).filter(|own| fits(own.ty)).collect();
                let chosen = match scope.is_empty() || random.chance(20) {
                    false => (*random.pick(&scope)).clone(),
                    true => {
                        let ty = self.random_type(entry, &types, random)?;
                        let name = format!("%a{}", num_arguments + arguments.len());
                        arguments.push(Known { name: name.clone(), ty });
                        Known { name, ty }
                    }
                };
                types.push((&entry.name, chosen.ty));
                operands.push(chosen);
            }
        }
        let (mut results, mut result_sizes) = (Vec::new(), Vec::new());
        for entry in def.results.iter() {
            let count = count_of(entry, random);
            result_sizes.push(count);
            for _ in 0..count {
                let ty = self.random_type(entry, &types, random)?;
                types.push((&entry.name, ty));
                results.push(Known { name: format!("%v{number}_{}", results.len()), ty });
            }
        }
        let mut attributes = Vec::new();
        for attr in def.attrs.iter() {
            if let Some(value) = self.attribute(attr, random)? {
                attributes.push(format!("{} = {}", attr.name, attr_to_string(self.ctx, value)));
            }
        }
        attributes.extend(segments(def, Trait::AttrSizedOperandSegments, "operandSegmentSizes", &sizes));
        attributes.extend(segments(def, Trait::AttrSizedResultSegments, "resultSegmentSizes", &result_sizes));
        let text = self.text(def, &operands, &results, &attributes);
        Some(Made { text, arguments, results })
    }

    /// Returns an operation in generic form.
    fn text(&self, def: &OpDef, operands: &[Known], results: &[Known], attributes: &[String]) -> String {
        let names = |list: &[Known]| list.iter().map(|own| own.name.as_str()).collect::<Vec<_>>().join(", ");
        let types = |list: &[Known]| {
            list.iter().map(|own| type_to_string(self.ctx, own.ty)).collect::<Vec<_>>().join(", ")
        };
        let left = if results.is_empty() { String::new() } else { format!("{} = ", names(results)) };
        let inherent = match attributes.is_empty() {
            true => String::new(),
            false => format!(" <{{{}}}>", attributes.join(", ")),
        };
        let (inputs, outputs) = (types(operands), types(results));
        format!("{left}\"{}\"({}){inherent} : ({inputs}) -> ({outputs})", def.name, names(operands))
    }

    fn accepts(&self, entry: &OperandDef, ty: Type, types: &[(&str, Type)]) -> bool {
        entry.ty.accepts(self.ctx, ty, &|name| type_of(types, name))
    }

    /// Returns a type that an operand or result may have, given those before it.
    fn random_type(&self, entry: &OperandDef, types: &[(&str, Type)], random: &mut Random) -> Option<Type> {
        let inferred = entry.ty.infer(self.ctx, &|name| type_of(types, name));
        inferred.or_else(|| {
            let fitting: Vec<Type> =
                self.types.iter().copied().filter(|ty| self.accepts(entry, *ty, types)).collect();
            (!fitting.is_empty()).then(|| *random.pick(&fitting))
        })
    }

    /// Returns a value of an attribute, or `None` to leave it out. Without any that fits there is
    /// no operation.
    fn attribute(&self, def: &AttrDef, random: &mut Random) -> Option<Option<Attr>> {
        if !matches!(def.presence, Presence::Required) && random.chance(50) {
            return Some(None);
        }
        let cases = match &def.constraint {
            AttrConstraint::Enum(own) => {
                own.cases.iter().map(|(_, value)| own.attr(self.ctx, *value)).collect()
            }
            _ => Vec::new(),
        };
        let all = self.attributes.iter().copied().chain(cases);
        let fitting: Vec<Attr> = all.filter(|attr| def.constraint.accepts(self.ctx, *attr)).collect();
        match fitting.is_empty() {
            true => matches!(def.presence, Presence::Optional).then_some(None),
            false => Some(Some(*random.pick(&fitting))),
        }
    }
}

impl Made {
    /// True if the operation uses a value.
    fn uses(&self, value: &Known) -> bool {
        let words = self.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '%' || c == '_'));
        words.into_iter().any(|word| word == value.name)
    }
}

/// Returns a number of values for an operand or result.
fn count_of(entry: &OperandDef, random: &mut Random) -> usize {
    match entry.arity {
        Arity::One => 1,
        Arity::Optional => random.below(2),
        Arity::Variadic => random.below(MAX_VARIADIC + 1),
    }
}

/// Returns the type of the value of this name that was chosen first.
fn type_of(types: &[(&str, Type)], name: &str) -> Option<Type> {
    types.iter().find(|(own, _)| *own == name).map(|(_, ty)| *ty)
}

/// Returns the attribute with the sizes of segments, if the definition has it.
fn segments(def: &OpDef, of: Trait, name: &str, sizes: &[usize]) -> Option<String> {
    let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
    def.traits.has(of).then(|| format!("{name} = array<i32: {}>", sizes.join(", ")))
}
