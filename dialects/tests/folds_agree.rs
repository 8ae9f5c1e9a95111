//! Agreement of folds with execution. Folds of constants must equal the interpreter's results;
//! where it reports undefined behaviour or poison, folds are free. Integers are checked for all
//! pairs of a small width, floats for all pairs of numbers at the edges of their formats.

use std::fmt::Write;

use crate::support;
use loomir_dialects::interp::{self, FaultKind, Limits, Output};

/// Returns a program with a function for each tuple of operands, `@f0`, `@f1`, …. Each function
/// returns the results of one operation.
fn program(operands: &[Vec<String>], operation: &str, types: &str) -> String {
    let mut text = String::new();
    for (i, tuple) in operands.iter().enumerate() {
        let _ = writeln!(text, "func.func @f{i}() -> ({types}) {{");
        for (name, constant) in ["a", "b"].iter().zip(tuple) {
            let _ = writeln!(text, "  %{name} = arith.constant {constant}");
        }
        let results: Vec<String> = (0..types.split(',').count()).map(|r| format!("%r#{r}")).collect();
        let count = results.len();
        let _ = writeln!(text, "  %r:{count} = {operation}\n  return {} : {types}\n}}", results.join(", "));
    }
    text
}

/// Returns the results of each function of a module. `None` if they are undefined.
fn execute(ctx: &loomir_ir::Context, source: &str, count: usize) -> Vec<Option<Vec<Output>>> {
    let body = support::read(ctx, source).unwrap_or_else(|message| panic!("{message}"));
    let run = |i| match interp::run(&body, &format!("f{i}"), &[], &Limits::default()) {
        Ok(outcome) => Some(outcome.results),
        Err(fault) => {
            assert_eq!(fault.kind, FaultKind::Undefined, "{fault:?}");
            None
        }
    };
    (0..count).map(run).collect()
}

/// Checks one operation on all these operands. If the result is defined, it must have been folded.
fn check(operands: &[Vec<String>], operation: &str, types: &str) {
    let ctx = loomir_dialects::context();
    let source = program(operands, operation, types);
    let folded = support::folded(&source);
    let (before, after) = (execute(&ctx, &source, operands.len()), execute(&ctx, &folded, operands.len()));
    let functions: Vec<&str> = folded.split("func.func ").skip(1).collect();
    let name = operation.split(' ').next().unwrap_or_default();
    for (i, (before, after)) in before.iter().zip(&after).enumerate() {
        if let Some(before) = before {
            assert_eq!(after.as_ref(), Some(before), "{operation} on {:?}\n{}", operands[i], functions[i]);
            assert!(
                !functions[i].contains(name),
                "{operation} on {:?} is left:\n{}",
                operands[i],
                functions[i]
            );
        }
    }
}

/// Returns all integers of a width as constants.
fn integers(width: u32) -> Vec<String> {
    if width == 1 {
        return vec!["false".into(), "true".into()];
    }
    (-(1i64 << (width - 1))..1 << (width - 1)).map(|n| format!("{n} : i{width}")).collect()
}

fn pairs(values: &[String]) -> Vec<Vec<String>> {
    values.iter().flat_map(|a| values.iter().map(|b| vec![a.clone(), b.clone()])).collect()
}

fn singles(values: &[String]) -> Vec<Vec<String>> {
    values.iter().map(|a| vec![a.clone()]).collect()
}

#[test]
fn integers_of_one_and_three_bits() {
    let binary = [
        "addi",
        "subi",
        "muli",
        "divsi",
        "divui",
        "ceildivsi",
        "ceildivui",
        "floordivsi",
        "remsi",
        "remui",
        "andi",
        "ori",
        "xori",
        "shli",
        "shrsi",
        "shrui",
        "minsi",
        "maxsi",
        "minui",
        "maxui",
    ];
    for width in [1, 3] {
        let operands = pairs(&integers(width));
        let ty = format!("i{width}");
        for op in binary {
            check(&operands, &format!("arith.{op} %a, %b : {ty}"), &ty);
        }
        for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
            check(&operands, &format!("arith.cmpi {predicate}, %a, %b : {ty}"), "i1");
        }
        check(&operands, &format!("arith.addui_extended %a, %b : {ty}, i1"), &format!("{ty}, i1"));
        for op in ["mulsi_extended", "mului_extended"] {
            check(&operands, &format!("arith.{op} %a, %b : {ty}"), &format!("{ty}, {ty}"));
        }
        check(&operands, &format!("math.ipowi %a, %b : {ty}"), &ty);
        for op in ["absi", "ctlz", "cttz", "ctpop"] {
            check(&singles(&integers(width)), &format!("math.{op} %a : {ty}"), &ty);
        }
    }
}

#[test]
fn integers_at_the_edges_of_64_and_128_bits() {
    let edges = |width: u32| -> Vec<String> {
        let (least, greatest) = (i128::MIN >> (128 - width), i128::MAX >> (128 - width));
        [least, least + 1, -2, -1, 0, 1, 2, 63, 64, greatest - 1, greatest]
            .iter()
            .map(|n| format!("{n} : i{width}"))
            .collect()
    };
    for width in [64, 128] {
        let operands = pairs(&edges(width));
        let ty = format!("i{width}");
        for op in
            ["addi", "muli", "divsi", "divui", "ceildivsi", "floordivsi", "remsi", "shli", "shrsi", "minui"]
        {
            check(&operands, &format!("arith.{op} %a, %b : {ty}"), &ty);
        }
        for op in ["mulsi_extended", "mului_extended"] {
            check(&operands, &format!("arith.{op} %a, %b : {ty}"), &format!("{ty}, {ty}"));
        }
    }
}

#[test]
fn indices_at_their_edges() {
    let edges = [i64::MIN, i64::MIN + 1, -2, -1, 0, 1, 2, 63, 64, i64::MAX - 1, i64::MAX];
    let operands = pairs(&edges.map(|n| format!("{n} : index")));
    let binary = [
        "add",
        "sub",
        "mul",
        "divs",
        "divu",
        "ceildivs",
        "ceildivu",
        "floordivs",
        "rems",
        "remu",
        "maxs",
        "maxu",
        "mins",
        "minu",
        "shl",
        "shrs",
        "shru",
        "and",
        "or",
        "xor",
    ];
    for op in binary {
        check(&operands, &format!("index.{op} %a, %b"), "index");
    }
    for predicate in ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"] {
        check(&operands, &format!("index.cmp {predicate}(%a, %b)"), "i1");
    }
    for op in ["casts", "castu"] {
        check(
            &singles(&edges.map(|n| format!("{n} : index"))),
            &format!("index.{op} %a : index to i7"),
            "i7",
        );
        check(&singles(&integers(3)), &format!("index.{op} %a : i3 to index"), "index");
    }
}

#[test]
fn integer_conversions() {
    let values = singles(&integers(3));
    for op in ["extsi", "extui"] {
        check(&values, &format!("arith.{op} %a : i3 to i7"), "i7");
    }
    check(&values, "arith.trunci %a : i3 to i2", "i2");
    for op in ["index_cast", "index_castui"] {
        check(&values, &format!("arith.{op} %a : i3 to index"), "index");
    }
    for ty in ["f16", "bf16", "f32", "f64"] {
        for op in ["sitofp", "uitofp"] {
            check(&values, &format!("arith.{op} %a : i3 to {ty}"), ty);
            let wide: Vec<String> =
                [i64::MIN, i64::MAX, -1, (1 << 53) + 1, (1 << 24) + 1, (1 << 24) + 3, 65520, 2049]
                    .iter()
                    .map(|n| format!("{n} : i64"))
                    .collect();
            check(&singles(&wide), &format!("arith.{op} %a : i64 to {ty}"), ty);
        }
    }
}

/// Returns numbers at the edges of a format: zeros, ones, denormals, the greatest, infinities, NaN,
/// and some between.
fn floats(ty: &str) -> Vec<String> {
    let special: &[&str] = match ty {
        "f16" => &["0x0001", "0x03FF", "0x0400", "0x7BFF", "0x7C00", "0xFC00", "0x7E00"],
        "bf16" => &["0x0001", "0x007F", "0x0080", "0x7F7F", "0x7F80", "0xFF80", "0x7FC0"],
        "f32" => &[
            "0x00000001",
            "0x007FFFFF",
            "0x00800000",
            "0x7F7FFFFF",
            "0x7F800000",
            "0xFF800000",
            "0x7FC00000",
        ],
        _ => &[
            "0x0000000000000001",
            "0x000FFFFFFFFFFFFF",
            "0x0010000000000000",
            "0x7FEFFFFFFFFFFFFF",
            "0x7FF0000000000000",
            "0xFFF0000000000000",
            "0x7FF8000000000000",
        ],
    };
    let plain = ["0.0", "-0.0", "1.0", "-1.0", "2.5", "-3.5", "0.1", "100.7"];
    plain.iter().chain(special).map(|n| format!("{n} : {ty}")).collect()
}

#[test]
fn floats_at_the_edges_of_their_formats() {
    for ty in ["f16", "bf16", "f32", "f64"] {
        let operands = pairs(&floats(ty));
        for op in ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"] {
            check(&operands, &format!("arith.{op} %a, %b : {ty}"), ty);
        }
        for predicate in
            ["oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"]
        {
            check(&operands, &format!("arith.cmpf {predicate}, %a, %b : {ty}"), "i1");
        }
        check(&operands, &format!("math.copysign %a, %b : {ty}"), ty);
        let operands = singles(&floats(ty));
        check(&operands, &format!("arith.negf %a : {ty}"), ty);
        for op in ["absf", "ceil", "floor", "round", "roundeven", "trunc"] {
            check(&operands, &format!("math.{op} %a : {ty}"), ty);
        }
        for op in ["fptosi", "fptoui"] {
            check(&operands, &format!("arith.{op} %a : {ty} to i8"), "i8");
        }
    }
    for (from, to) in [("f16", "f32"), ("bf16", "f64"), ("f32", "f64")] {
        check(&singles(&floats(from)), &format!("arith.extf %a : {from} to {to}"), to);
    }
    for (from, to) in [("f32", "i32"), ("f16", "i16")] {
        check(&singles(&floats(from)), &format!("arith.bitcast %a : {from} to {to}"), to);
    }
}

/// The upper halves of products, for words wider than the pairs that are all tried.
#[test]
fn products_of_256_bits() {
    let halves = |op: &str, x: &str, y: &str| {
        let text = support::folded(&format!(
            "func.func @f() -> (i128, i128) {{
               %x = arith.constant {x} : i128
               %y = arith.constant {y} : i128
               %low, %high = arith.{op} %x, %y : i128
               return %low, %high : i128, i128
             }}"
        ));
        let value = |line: &str| line.trim().split_once("arith.constant ").map(|(_, own)| own.to_owned());
        text.lines().filter_map(value).collect::<Vec<_>>()
    };
    // 2^127 times 2, (2^128 - 1)^2, (2^64 - 1)^2.
    let (top, all) = ("-170141183460469231731687303715884105728", "18446744073709551615");
    assert_eq!(halves("mului_extended", top, "2"), ["0 : i128", "1 : i128"]);
    assert_eq!(halves("mului_extended", "-1", "-1"), ["1 : i128", "-2 : i128"]);
    let square = u128::from(u64::MAX).pow(2) as i128;
    assert_eq!(halves("mului_extended", all, all), [format!("{square} : i128"), "0 : i128".to_owned()]);
    // -1, and the least number with itself: 2^254.
    assert_eq!(halves("mulsi_extended", "-1", "1"), ["-1 : i128", "-1 : i128"]);
    assert_eq!(halves("mulsi_extended", top, top), ["0 : i128", format!("{} : i128", 1i128 << 126).as_str()]);
}
