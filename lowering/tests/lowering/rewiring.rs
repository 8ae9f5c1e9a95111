//! The decisions of the rewiring check's comparison: each kind of difference separately.

use loomir_ir::Body;
use loomir_ir::symbols::SymbolTable;
use loomir_lowering::rewiring::compare::{Comparison, compare};
use loomir_lowering::rewiring::normal::normalise;

use crate::fixture::{context, read};

/// A loop that sums the values it loads, stores them doubled elsewhere, and returns the sum.
const PROGRAM: &str = r#"
llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr, %n: i64) -> i64 {
  %zero = llvm.mlir.constant(0 : i64) : i64
  %one = llvm.mlir.constant(1 : i64) : i64
  %two = llvm.mlir.constant(2 : i64) : i64
  llvm.br ^header(%zero, %zero : i64, i64)
^header(%i: i64, %s: i64):
  %p = llvm.getelementptr %a[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %q = llvm.getelementptr %b[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i64
  %x = llvm.load %p : !llvm.ptr -> i64
  %y = llvm.load %b : !llvm.ptr -> i64
  %z = llvm.xor %x, %y : i64
  llvm.store %z, %q : i64, !llvm.ptr
  llvm.store %x, %a : i64, !llvm.ptr
  %t = llvm.add %s, %z : i64
  %next = llvm.add %i, %one : i64
  %more = llvm.icmp "slt" %next, %n : i64
  llvm.cond_br %more, ^header(%next, %t : i64, i64), ^exit
^exit:
  llvm.return %t : i64
}
"#;

/// Returns the comparison after a text is replaced on one side. Both are in normal form first if
/// `normal`.
fn compared(text: &str, replacement: &str, normal: bool) -> Comparison {
    assert_eq!(PROGRAM.matches(text).count(), 1, "{text}");
    let ctx = context();
    let mut modules = [PROGRAM.to_owned(), PROGRAM.replacen(text, replacement, 1)]
        .map(|text| read(&ctx, &text).unwrap_or_else(|errors| panic!("{errors}\n{text}")));
    let [a, b] = modules.each_mut().map(|module: &mut Body| {
        let mut functions = module.nested_in_order();
        let mut function = functions.swap_remove(0).duplicate();
        if normal {
            normalise(&mut function, &SymbolTable::default())
                .unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
        }
        function
    });
    compare(&a, &b)
}

#[test]
fn what_differs_in_writing_alone_is_equal() {
    let loads = "  %x = llvm.load %p : !llvm.ptr -> i64\n  %y = llvm.load %b : !llvm.ptr -> i64\n";
    let other = "  %y = llvm.load %b : !llvm.ptr -> i64\n  %x = llvm.load %p : !llvm.ptr -> i64\n";
    for (what, text, replacement) in [
        ("operands that may be swapped", "llvm.xor %x, %y", "llvm.xor %y, %x"),
        ("loads that may change places", loads, other),
        ("where what is pure stands", "  %z = llvm.xor", "  %w = llvm.add %i, %two : i64\n  %z = llvm.xor"),
        (
            "how a sum is written",
            "%next = llvm.add %i, %one",
            "%m = llvm.add %i, %two : i64\n  %next = llvm.sub %m, %one",
        ),
    ] {
        assert_eq!(compared(text, replacement, false), Comparison::Equal(0), "{what}");
    }
    let promised = compared("%t = llvm.add %s, %z", "%t = llvm.add %s, %z overflow<nsw>", false);
    assert_eq!(promised, Comparison::Equal(1));
}

#[test]
fn normal_form_hides_how_loops_count_and_how_blocks_lie() {
    for (text, replacement) in [
        (
            "llvm.br ^header(%zero, %zero : i64, i64)\n",
            "llvm.br ^way\n^way:\n  llvm.br ^header(%zero, %zero : i64, i64)\n",
        ),
        ("llvm.return %t : i64", "llvm.br ^end(%t : i64)\n^end(%r: i64):\n  llvm.return %r : i64"),
    ] {
        assert_eq!(compared(text, replacement, true), Comparison::Equal(0), "{replacement}");
        assert_ne!(compared(text, replacement, false), Comparison::Equal(0), "{replacement}");
    }
}

#[test]
fn what_does_something_else_is_different() {
    let stores = "  llvm.store %z, %q : i64, !llvm.ptr\n  llvm.store %x, %a : i64, !llvm.ptr\n";
    let other = "  llvm.store %x, %a : i64, !llvm.ptr\n  llvm.store %z, %q : i64, !llvm.ptr\n";
    for (what, text, replacement) in [
        ("stores that may overlap, in another order", stores, other),
        ("a store that is lost", "  llvm.store %x, %a : i64, !llvm.ptr\n", ""),
        ("what is stored", "llvm.store %z, %q", "llvm.store %x, %q"),
        ("where to", "llvm.store %z, %q", "llvm.store %z, %p"),
        (
            "a load behind a store",
            "  %z = llvm.xor %x, %y : i64\n  llvm.store %z, %q : i64, !llvm.ptr\n",
            "  llvm.store %x, %q : i64, !llvm.ptr\n  %l = llvm.load %p : !llvm.ptr -> i64\n  %z = llvm.xor %l, %y : i64\n",
        ),
        ("volatile", "llvm.load %p", "llvm.load volatile %p"),
        (
            "atomic",
            "llvm.load %b : !llvm.ptr -> i64",
            "llvm.load %b atomic monotonic {alignment = 8 : i64} : !llvm.ptr -> i64",
        ),
        ("what an argument starts with", "^header(%zero, %zero", "^header(%zero, %one"),
        ("what it is handed again", "^header(%next, %t", "^header(%next, %s"),
        ("two that are swapped", "^header(%next, %t", "^header(%t, %next"),
        ("the step", "%next = llvm.add %i, %one", "%next = llvm.add %i, %two"),
        ("the bound", "%next, %n : i64\n", "%i, %n : i64\n"),
        ("the predicate", "\"slt\"", "\"sle\""),
        (
            "the ways of a branch",
            "%more, ^header(%next, %t : i64, i64), ^exit",
            "%more, ^exit, ^header(%next, %t : i64, i64)",
        ),
        (
            "what is said at a branch",
            "^header(%next, %t : i64, i64), ^exit\n",
            "^header(%next, %t : i64, i64), ^exit {loop_annotation = #llvm.loop_annotation<mustProgress = true>}\n",
        ),
        ("an operation", "llvm.xor", "llvm.or"),
        ("what is returned", "llvm.return %t", "llvm.return %s"),
        ("a block more", "llvm.return %t : i64", "llvm.br ^end\n^end:\n  llvm.return %t : i64"),
    ] {
        let outcome = compared(text, replacement, false);
        assert!(matches!(outcome, Comparison::Different(_)), "{what}: {outcome:?}");
    }
}
