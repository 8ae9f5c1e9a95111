//! Conditions that are known by their value only, bits, products and selected buffers: right pairs
//! and wrong ones close by.

use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

/// Proves the functions `@f` of two bodies, with buffers that do not overlap.
fn proof(arguments: &str, result: &str, before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let program = |body: &str| {
        let numbers = "%c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c4 = arith.constant 4 : index
            %c8 = arith.constant 8 : index";
        let end = if result.is_empty() { "return" } else { "" };
        let result = if result.is_empty() { String::new() } else { format!(" -> {result}") };
        format!("func.func @f({arguments}){result} {{\n{numbers}\n{body}\n{end}\n}}")
    };
    let [before, after] = [before, after].map(|body| parse(&ctx, &program(body)));
    let options = ProofOptions { distinct: true, ..ProofOptions::default() };
    told(&ctx, &prove_named(&before, &after, "f", &options).expect("functions called f"))
}

/// Checks that one change makes the second program wrong, and that the prover sees it is another.
fn only_right([arguments, result]: [&str; 2], before: &str, after: &str, changes: &[[&str; 2]]) {
    let answer = proof(arguments, result, before, after);
    assert!(answer.starts_with("equal"), "{answer}\n{after}");
    for [from, to] in changes {
        let wrong = after.replacen(from, to, 1);
        assert_ne!(wrong, after, "{from}");
        let answer = proof(arguments, result, before, &wrong);
        assert!(answer.starts_with("undecided"), "{from} -> {to}: {answer}");
    }
}

const BUFFERS: [&str; 2] = ["%p: memref<8xi32>, %a: memref<8xi32>, %b: memref<8xi32>, %x: i32, %y: i32", ""];

#[test]
fn one_condition_chooses_in_both_programs() {
    only_right(
        BUFFERS,
        "scf.for %i = %c0 to %c8 step %c1 {
           %0 = memref.load %p[%i] : memref<8xi32>
           %c = arith.cmpi slt, %0, %x : i32
           scf.if %c {
             memref.store %x, %a[%i] : memref<8xi32>
           } else {
             memref.store %y, %a[%i] : memref<8xi32>
           }
           scf.if %c {
             memref.store %x, %b[%i] : memref<8xi32>
           }
         }",
        "scf.for %i = %c0 to %c8 step %c1 {
           %0 = memref.load %p[%i] : memref<8xi32>
           %c = arith.cmpi slt, %0, %x : i32
           %s = arith.select %c, %x, %y : i32
           memref.store %s, %a[%i] : memref<8xi32>
           scf.if %c {
             %t = memref.load %a[%i] : memref<8xi32>
             memref.store %t, %b[%i] : memref<8xi32>
           }
         }",
        &[
            ["select %c, %x, %y", "select %c, %y, %x"],
            ["slt", "sle"],
            ["%p[%i]", "%p[%c1]"],
            ["%s, %a[%i]", "%x, %a[%i]"],
            ["scf.if %c {", "scf.if %c {\n} else {"],
        ],
    );
}

#[test]
fn a_condition_kept_in_a_buffer_is_that_of_its_own_iteration() {
    only_right(
        BUFFERS,
        "scf.for %i = %c0 to %c8 step %c1 {
           %0 = memref.load %p[%i] : memref<8xi32>
           %c = arith.cmpi slt, %0, %x : i32
           scf.if %c {
             %1 = arith.muli %0, %y : i32
             memref.store %1, %a[%i] : memref<8xi32>
             memref.store %1, %b[%i] : memref<8xi32>
           }
         }",
        "%k = memref.alloc() : memref<8xi1>
         %v = memref.alloc() : memref<8xi32>
         scf.for %i = %c0 to %c8 step %c1 {
           %0 = memref.load %p[%i] : memref<8xi32>
           %c = arith.cmpi slt, %0, %x : i32
           memref.store %c, %k[%i] : memref<8xi1>
           scf.if %c {
             %1 = arith.muli %0, %y : i32
             memref.store %1, %a[%i] : memref<8xi32>
             memref.store %1, %v[%i] : memref<8xi32>
           }
         }
         scf.for %i = %c0 to %c8 step %c1 {
           %c = memref.load %k[%i] : memref<8xi1>
           scf.if %c {
             %1 = memref.load %v[%i] : memref<8xi32>
             memref.store %1, %b[%i] : memref<8xi32>
           }
         }
         memref.dealloc %k : memref<8xi1>
         memref.dealloc %v : memref<8xi32>",
        &[
            ["load %k[%i]", "load %k[%c1]"],
            ["load %v[%i]", "load %v[%c1]"],
            ["store %c, %k[%i]", "store %c, %k[%c4]"],
        ],
    );
}

#[test]
fn a_sum_under_a_condition_is_a_selection() {
    only_right(
        ["%n: index, %a: memref<8xi32>, %x: i32", "i32"],
        "%r = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x) -> i32 {
           %v = memref.load %a[%i] : memref<8xi32>
           %low = arith.cmpi slt, %i, %n : index
           %t = scf.if %low -> i32 {
             %u = arith.addi %s, %v : i32
             scf.yield %u : i32
           } else {
             scf.yield %s : i32
           }
           scf.yield %t : i32
         }
         return %r : i32",
        "%r = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %x) -> i32 {
           %v = memref.load %a[%i] : memref<8xi32>
           %low = arith.cmpi slt, %i, %n : index
           %u = arith.addi %s, %v : i32
           %t = arith.select %low, %u, %s : i32
           scf.yield %t : i32
         }
         return %r : i32",
        &[["slt", "sle"], ["%low, %u, %s", "%low, %s, %u"], ["addi %s, %v", "addi %v, %v"]],
    );
}

#[test]
fn bits_are_remainders_of_any_sign() {
    let before = "%c3 = arith.constant 3 : i32
         %m = arith.constant -4 : i32
         return %x : i32";
    only_right(
        ["%x: i32", "i32"],
        before,
        "%c3 = arith.constant 3 : i32
         %m = arith.constant -4 : i32
         %low = arith.andi %x, %c3 : i32
         %high = arith.andi %m, %x : i32
         %r = arith.ori %low, %high : i32
         return %r : i32",
        &[["constant -4", "constant -2"], ["constant 3", "constant 7"], ["andi %x, %c3", "remsi %x, %c3"]],
    );
    let two = "%m = arith.constant -2 : i32
         %c3 = arith.constant 3 : i32
         %low = arith.andi %x, %c3 : i32
         %high = arith.andi %m, %x : i32
         %r = arith.ori %low, %high : i32
         return %r : i32";
    let sum = two.replace("ori", "addi");
    assert!(proof("%x: i32", "i32", two, &sum).starts_with("undecided"));
}

#[test]
fn a_quotient_without_rest_is_not_rounded() {
    only_right(
        ["%a: memref<?xi32>, %n: index", "index"],
        "return %n : index",
        "%m = arith.muli %n, %c4 : index
         %r = arith.divsi %m, %c4 : index
         return %r : index",
        &[
            ["divsi %m, %c4", "divsi %m, %c8"],
            ["%r = arith.divsi %m", "%o = arith.addi %m, %c1 : index\n%r = arith.divsi %o"],
            ["divsi", "divui"],
        ],
    );
}

#[test]
fn products_of_sums_are_sums_of_products() {
    only_right(
        ["%n: index, %m: index", "index"],
        "%n1 = arith.addi %n, %c1 overflow<nsw> : index
         %r = arith.muli %n1, %m overflow<nsw> : index
         return %r : index",
        "%p = arith.muli %m, %n : index
         %r = arith.addi %p, %m : index
         return %r : index",
        &[["addi %p, %m", "addi %p, %n"], ["muli %m, %n", "muli %m, %m"]],
    );
}

#[test]
fn flags_of_one_product_are_not_those_of_another() {
    let arguments = "%n: index, %m: index, %a: memref<1xindex>, %b: memref<1xindex>";
    let both = "%p = arith.muli %n, %m overflow<nsw> : index
         %q = arith.muli %n, %m : index
         memref.store %p, %a[%c0] : memref<1xindex>
         memref.store %q, %b[%c0] : memref<1xindex>";
    let poison = both.replace("%q, %b", "%p, %b");
    assert!(proof(arguments, "", both, &poison).starts_with("undecided"));
    let one = "%p = arith.muli %n, %m overflow<nsw> : index
         memref.store %p, %a[%c0] : memref<1xindex>";
    let plain = one.replace(" overflow<nsw>", "");
    assert!(proof(arguments, "", one, &plain).starts_with("equal"));
    assert!(proof(arguments, "", &plain, one).starts_with("undecided"));
    // Plain first, then with flags: the other program may not use one for the other.
    let reversed = "%q = arith.muli %n, %m : index
         %p = arith.muli %n, %m overflow<nsw> : index
         memref.store %p, %a[%c0] : memref<1xindex>
         memref.store %q, %b[%c0] : memref<1xindex>";
    assert!(proof(arguments, "", reversed, &reversed.replace("%q, %b", "%p, %b")).starts_with("undecided"));
}

#[test]
fn a_number_in_a_loop_that_does_not_run_says_nothing() {
    // Where the loop runs twice the number does not wrap; elsewhere it may.
    let arguments = "%n: i32, %k: index, %a: memref<8xi32>, %b: memref<8xi64>";
    let body = |flags: &str| {
        format!(
            "%big = arith.constant 100 : i32
             scf.for %i = %c0 to %k step %c1 {{
               %d = arith.addi %n, %n overflow<nsw> : i32
               %e = arith.maxsi %d, %big : i32
               memref.store %e, %a[%i] : memref<8xi32>
             }}
             %d = arith.addi %n, %n {flags} : i32
             %w = arith.extsi %d : i32 to i64
             memref.store %w, %b[%c0] : memref<8xi64>"
        )
    };
    let wide = body("").replace(
        "%w = arith.extsi %d : i32 to i64",
        "%m = arith.extsi %n : i32 to i64
         %w = arith.addi %m, %m : i64",
    );
    assert!(proof(arguments, "", &body(""), &wide).starts_with("undecided"));
    assert!(proof(arguments, "", &body(""), &body("overflow<nsw>")).starts_with("undecided"));
}

#[test]
fn unsigned_comparisons_count_negative_numbers_as_large() {
    let before = "%first = arith.constant -2 : index
         scf.for %i = %first to %c8 step %c1 {
           %low = arith.cmpi ult, %i, %c4 : index
           scf.if %low {
             memref.store %x, %a[%i] : memref<8xi32>
           }
         }";
    only_right(
        BUFFERS,
        before,
        "scf.for %i = %c0 to %c4 step %c1 {
           memref.store %x, %a[%i] : memref<8xi32>
         }",
        &[["%c4 step", "%c8 step"], ["%c0 to", "%c1 to"]],
    );
    let signed = before.replace("ult", "slt");
    assert!(proof(BUFFERS[0], "", before, &signed).starts_with("undecided"));
}

#[test]
fn a_load_of_a_selected_buffer_is_one_of_two() {
    only_right(
        ["%c: i1, %a: memref<8xi32>, %b: memref<8xi32>", "i32"],
        "%v = arith.select %c, %a, %b : memref<8xi32>
         %r = memref.load %v[%c4] : memref<8xi32>
         return %r : i32",
        "%0 = memref.load %a[%c4] : memref<8xi32>
         %1 = memref.load %b[%c4] : memref<8xi32>
         %r = arith.select %c, %0, %1 : i32
         return %r : i32",
        &[["%c, %0, %1", "%c, %1, %0"], ["%a[%c4]", "%a[%c1]"], ["%a[%c4]", "%b[%c4]"]],
    );
    let arguments = "%c: i1, %n: index, %a: memref<8xi32>, %b: memref<8xi32>";
    // The buffer that is not selected may be too short for the subscript.
    let load = "%v = arith.select %c, %a, %b : memref<8xi32>
         %r = memref.load %v[%n] : memref<8xi32>
         return %r : i32";
    assert!(proof(arguments, "i32", load, load).starts_with("equal"));
    let other = load.replace("%v[%n]", "%a[%n]");
    assert!(proof(arguments, "i32", load, &other).starts_with("undecided"));
}

#[test]
fn a_region_in_place_is_what_stands_there() {
    only_right(
        BUFFERS,
        "scf.for %i = %c0 to %c8 step %c1 {
           %0 = memref.load %a[%i] : memref<8xi32>
           memref.store %0, %b[%i] : memref<8xi32>
         }",
        "scf.for %i = %c0 to %c8 step %c1 {
           %0 = scf.execute_region -> i32 {
             %1 = memref.load %a[%i] : memref<8xi32>
             scf.yield %1 : i32
           }
           memref.store %0, %b[%i] : memref<8xi32>
         }",
        &[["yield %1", "yield %x"], ["load %a[%i]", "load %a[%c0]"]],
    );
}

#[test]
fn the_greatest_number_is_left_out_only_if_it_is_never_the_greatest() {
    only_right(
        ["%a: memref<16xindex>", ""],
        "scf.for %i = %c0 to %c8 step %c1 {
           memref.store %c8, %a[%i] : memref<16xindex>
         }",
        "scf.for %i = %c0 to %c8 step %c1 {
           %m = arith.maxsi %c8, %i : index
           memref.store %m, %a[%i] : memref<16xindex>
         }",
        &[["maxsi %c8, %i", "maxsi %c4, %i"], ["maxsi", "minsi"]],
    );
}

#[test]
fn a_stencil_over_time_is_followed_to_its_first_step() {
    let stencil = |first: &str, loops: &str| {
        format!(
            "affine.for %s = {first} to %n {{
               {loops}
             }}"
        )
    };
    let sweep = |from: &str, lower: &str| {
        format!(
            "affine.for %i = {lower} to 7 {{
               %0 = affine.load %a[{from}] : memref<8xi32>
               %1 = affine.load %a[%i + 1] : memref<8xi32>
               %2 = arith.muli %0, %1 : i32
               affine.store %2, %a[%i] : memref<8xi32>
             }}"
        )
    };
    let arguments = ["%n: index, %a: memref<8xi32>", ""];
    let peeled = "%u = affine.load %a[0] : memref<8xi32>
         %v = affine.load %a[2] : memref<8xi32>
         %w = arith.muli %u, %v : i32
         affine.store %w, %a[1] : memref<8xi32>";
    only_right(
        arguments,
        &stencil("0", &sweep("%i - 1", "1")),
        &stencil("0", &format!("{peeled}\n{}", sweep("%i - 1", "2"))),
        &[["%s = 0", "%s = 1"], ["%a[2]", "%a[3]"], ["%i - 1", "%i"], ["%i = 2", "%i = 3"]],
    );
}

#[test]
fn a_loop_that_counts_through_its_bound_is_counted() {
    let before = "scf.while (%i = %c0) : (index) -> index {
           %last = arith.constant 5 : index
           %next = arith.addi %i, %c1 : index
           %more = arith.cmpi ule, %i, %last : index
           scf.condition(%more) %next : index
         } do {
         ^bb0(%next: index):
           memref.store %x, %a[%next] : memref<8xi32>
           scf.yield %next : index
         }";
    only_right(
        BUFFERS,
        before,
        "%c6 = arith.constant 6 : index
         scf.for %i = %c0 to %c6 step %c1 {
           %next = arith.addi %i, %c1 : index
           memref.store %x, %a[%next] : memref<8xi32>
         }",
        &[["constant 6", "constant 5"], ["constant 6", "constant 7"], ["addi %i, %c1", "addi %i, %c0"]],
    );
    let strict = before.replace("ule", "ult");
    assert!(proof(BUFFERS[0], "", before, &strict).starts_with("undecided"));
    // A negative start is a large number without its sign, and the loop does not run.
    let negative = before.replace("= %c0)", "= %m)");
    let [negative, signed] = [negative.clone(), negative.replace("ule", "sle")]
        .map(|text| format!("%m = arith.constant -1 : index\n{text}"));
    assert!(proof(BUFFERS[0], "", &negative, &signed).starts_with("undecided"));
}
