//! Pairs of functions by kind, right ones and wrong ones.

use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

const DISTINCT: bool = true;

/// Proves the functions `@f` of two programs, with buffers that are distinct or may overlap.
fn proof(distinct: bool, before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let [before, after] = [before, after].map(|text| parse(&ctx, text));
    let options = ProofOptions { distinct, ..ProofOptions::default() };
    told(&ctx, &prove_named(&before, &after, "f", &options).expect("functions called f"))
}

/// A function over `%a` and `%b` of 16 numbers, and `%n`.
fn kernel(body: &str) -> String {
    format!("func.func @f(%a: memref<16xi32>, %b: memref<16xi32>, %n: index) {{\n{body}\nreturn\n}}")
}

/// A function that returns a number.
fn number(body: &str) -> String {
    format!("func.func @f(%a: memref<?xi32>, %n: index, %x: i32) -> i32 {{\n{body}\n}}")
}

const TWO_LOOPS: &str = "
  affine.for %i = 0 to 16 {
    %0 = affine.load %a[%i] : memref<16xi32>
    %1 = arith.addi %0, %0 : i32
    affine.store %1, %b[%i] : memref<16xi32>
  }
  affine.for %i = 0 to 16 {
    %0 = affine.load %b[%i] : memref<16xi32>
    affine.store %0, %a[%i] : memref<16xi32>
  }";

const FUSED: &str = "
  affine.for %i = 0 to 16 {
    %0 = affine.load %a[%i] : memref<16xi32>
    %1 = arith.addi %0, %0 : i32
    affine.store %1, %b[%i] : memref<16xi32>
    affine.store %1, %a[%i] : memref<16xi32>
  }";

#[test]
fn fusion_rests_on_buffers_that_do_not_overlap() {
    let (before, after) = (kernel(TWO_LOOPS), kernel(FUSED));
    assert_eq!(proof(DISTINCT, &before, &after), "equal if buffers among the arguments do not overlap");
    assert!(proof(!DISTINCT, &before, &after).starts_with("undecided"));
    // Marked, they do not overlap.
    let marked = |text: &str| text.replacen("memref<16xi32>,", "memref<16xi32> {llvm.noalias},", 1);
    assert_eq!(proof(!DISTINCT, &marked(&before), &marked(&after)), "equal");
}

#[test]
fn a_load_reads_what_its_own_iteration_stored() {
    let before = "
  affine.for %i = 0 to 16 {
    %0 = arith.index_cast %i : index to i32
    affine.store %0, %a[0] : memref<16xi32>
    %1 = affine.load %a[0] : memref<16xi32>
    affine.store %1, %b[%i] : memref<16xi32>
  }";
    // The number of the iteration before.
    let after = "
  %zero = arith.constant 0 : i32
  affine.store %zero, %a[0] : memref<16xi32>
  affine.for %i = 0 to 16 {
    %1 = affine.load %a[0] : memref<16xi32>
    affine.store %1, %b[%i] : memref<16xi32>
    %0 = arith.index_cast %i : index to i32
    affine.store %0, %a[0] : memref<16xi32>
  }";
    let answer = proof(DISTINCT, &kernel(before), &kernel(after));
    assert!(answer.starts_with("undecided"), "{answer}");
}

#[test]
fn a_subscript_one_too_far_is_seen_with_its_iteration() {
    let wrong = FUSED.replace("affine.store %1, %a[%i]", "affine.store %1, %a[(%i + 1) mod 16]");
    let answer = proof(DISTINCT, &kernel(TWO_LOOPS), &kernel(&wrong));
    assert!(answer.starts_with("undecided: After") && answer.contains("in iteration ("), "{answer}");
}

#[test]
fn tiles_and_interchange_of_symbolic_loops() {
    let function = |body: &str| {
        format!(
            "func.func @f(%m: memref<?x?xf32>, %n: index, %x: f32) {{\n{body}
                 %0 = affine.load %m[%i, %j] : memref<?x?xf32>
                 %1 = arith.mulf %0, %x : f32
                 affine.store %1, %m[%i, %j] : memref<?x?xf32>\n}} }} return }}"
        )
    };
    let plain = function("affine.for %i = 0 to %n { affine.for %j = 0 to %n {");
    let turned = function("affine.for %j = 0 to %n { affine.for %i = 0 to %n {");
    let tiled = function(
        "affine.for %j = 0 to %n { affine.for %t = 0 to %n step 32 {
         affine.for %i = affine_map<(d0) -> (d0)>(%t)
           to min affine_map<(d0)[s0] -> (d0 + 32, s0)>(%t)[%n] {",
    )
    .replace("} } return", "} } } return");
    assert_eq!(proof(DISTINCT, &plain, &turned), "equal");
    // The least of the two bounds may be one too far to the right of all words.
    assert_eq!(proof(DISTINCT, &plain, &tiled), "equal if arithmetic on 'index' does not wrap");
    let short = tiled.replace("d0 + 32, s0", "d0 + 31, s0");
    assert!(proof(DISTINCT, &plain, &short).starts_with("undecided"));
}

/// A sum over `%a`; `combined` computes `%t` from `%s` and the element `%e`.
fn sum(bounds: &str, subscript: &str, combined: &str) -> String {
    number(&format!(
        "%r = affine.for %i = {bounds} iter_args(%s = %x) -> (i32) {{
           %e = affine.load %a[{subscript}] : memref<?xi32>
           {combined}
           affine.yield %t : i32
         }}
         return %r : i32"
    ))
}

#[test]
fn a_sum_runs_backwards_but_a_difference_of_products_does_not() {
    let added = "%t = arith.addi %s, %e : i32";
    let forwards = sum("0 to %n", "%i", added);
    let backwards = sum("0 to %n", "symbol(%n) - 1 - %i", added);
    assert!(proof(DISTINCT, &forwards, &backwards).starts_with("equal"));
    // Promises about partial sums do not hold of others.
    let flagged = "%t = arith.addi %s, %e overflow<nsw> : i32";
    let promised = sum("0 to %n", "symbol(%n) - 1 - %i", flagged);
    assert!(proof(DISTINCT, &sum("0 to %n", "%i", flagged), &promised).starts_with("undecided"));
    assert!(proof(DISTINCT, &forwards, &sum("1 to %n", "%i", added)).starts_with("undecided"));
    let nested = "%p = arith.muli %s, %s : i32 %t = arith.subi %p, %e : i32";
    let [forwards, backwards] =
        ["%i", "symbol(%n) - 1 - %i"].map(|subscript| sum("0 to %n", subscript, nested));
    assert_eq!(proof(DISTINCT, &forwards, &forwards), "equal");
    assert!(proof(DISTINCT, &forwards, &backwards).starts_with("undecided"));
}

#[test]
fn floats_are_summed_in_order_unless_flags_say_otherwise() {
    let sum = |order: &str, flags: &str| {
        format!(
            "func.func @f(%x: f32, %y: f32, %z: f32) -> f32 {{
               %0 = arith.addf %x, {} {flags} : f32
               %1 = arith.addf %0, {} {flags} : f32
               return %1 : f32 }}",
            &order[..2],
            &order[2..]
        )
    };
    let answer = |flags| proof(DISTINCT, &sum("%y%z", flags), &sum("%z%y", flags));
    assert!(answer("").starts_with("undecided"));
    assert_eq!(answer("fastmath<reassoc>"), "equal if floats may be rounded otherwise, as their flags allow");
}

#[test]
fn a_division_does_not_leave_its_condition() {
    let guarded = number(
        "%c0 = arith.constant 0 : i32
         %e = affine.load %a[0] : memref<?xi32>
         %c = arith.cmpi ne, %e, %c0 : i32
         %r = scf.if %c -> (i32) {
           %q = arith.divsi %x, %e : i32
           scf.yield %q : i32
         } else {
           scf.yield %c0 : i32
         }
         return %r : i32",
    );
    let hoisted = number(
        "%c0 = arith.constant 0 : i32
         %e = affine.load %a[0] : memref<?xi32>
         %c = arith.cmpi ne, %e, %c0 : i32
         %q = arith.divsi %x, %e : i32
         %r = arith.select %c, %q, %c0 : i32
         return %r : i32",
    );
    let answer = proof(DISTINCT, &guarded, &hoisted);
    assert!(answer.contains("it may divide by zero"), "{answer}");
    let harmless = |text: &str| text.replace("divsi", "addi");
    assert_eq!(proof(DISTINCT, &harmless(&guarded), &harmless(&hoisted)), "equal");
}

#[test]
fn flags_may_be_dropped_but_not_added() {
    let plain = number("%e = affine.load %a[0] : memref<?xi32> %r = arith.addi %e, %x : i32 return %r : i32");
    let flagged = plain.replace("%x : i32 return", "%x overflow<nsw> : i32 return");
    assert_eq!(proof(DISTINCT, &flagged, &plain), "equal");
    assert!(proof(DISTINCT, &plain, &flagged).starts_with("undecided"));
}

#[test]
fn local_buffers_come_and_go() {
    let through = |rest: &str| {
        kernel(&format!(
            "%t = memref.alloc() : memref<16xi32>
             affine.for %i = 0 to 16 {{
               %0 = affine.load %a[%i] : memref<16xi32>
               affine.store %0, %t[%i] : memref<16xi32>
             }}
             {rest}"
        ))
    };
    let copy = "affine.for %i = 0 to 16 {
        %0 = affine.load %t[%i] : memref<16xi32>
        affine.store %0, %b[%i] : memref<16xi32>
      }";
    let free = "memref.dealloc %t : memref<16xi32>";
    let direct = kernel("memref.copy %a, %b : memref<16xi32> to memref<16xi32>");
    let buffered = through(&format!("{copy}\n{free}"));
    assert_eq!(proof(DISTINCT, &buffered, &direct), "equal if buffers among the arguments do not overlap");
    let early = through(&format!("{free}\n{copy}"));
    let answer = proof(DISTINCT, &direct, &early);
    assert!(answer.contains("it may access a buffer that was freed"), "{answer}");
    let again = through(&format!("{copy}\n{free}\n{free}"));
    assert!(proof(DISTINCT, &direct, &again).contains("it may free a buffer again"));
}

#[test]
fn what_is_not_modelled_is_equal_only_to_itself() {
    let spin = "func.func @f(%c: i1) {
        scf.while : () -> () { scf.condition(%c) } do { scf.yield }
        return }";
    assert_eq!(proof(DISTINCT, spin, spin), "equal");
    let answer = proof(DISTINCT, spin, "func.func @f(%c: i1) { return }");
    assert!(answer.contains("'scf.while' is modelled only where it counts"), "{answer}");
    let returns = "func.func @f(%c: i32) { return }";
    assert!(proof(DISTINCT, spin, returns).contains("the types of the functions differ"));
}

#[test]
fn calls_are_read_in_place() {
    let with = |callee: &str| {
        format!(
            "func.func private @g(%x: i32) -> i32 {{ {callee} }}\n{}",
            number("%r = func.call @g(%x) : (i32) -> i32 return %r : i32")
        )
    };
    let (twice, doubled) = (
        with("%0 = arith.addi %x, %x : i32 return %0 : i32"),
        number("%r = arith.addi %x, %x : i32 return %r : i32"),
    );
    assert_eq!(proof(DISTINCT, &twice, &doubled), "equal");
    assert!(proof(DISTINCT, &with("return %x : i32"), &doubled).starts_with("undecided"));
    // Recursion ends.
    let endless = with("%0 = func.call @g(%x) : (i32) -> i32 return %0 : i32");
    assert!(proof(DISTINCT, &endless, &doubled).contains("nested too deep"));
}

/// A function over 16 numbers with a view of them, `ty` and `how`.
fn viewed(how: &str, ty: &str, body: &str) -> String {
    kernel(&format!("%v = memref.reinterpret_cast %a to {how} : memref<16xi32> to {ty}\n{body}"))
}

#[test]
fn reinterpreted_buffers_are_judged_by_the_number_of_the_element() {
    const ROWS: &str = "memref<4x4xi32, strided<[4, 1]>>";
    let rows = |inner: &str| {
        viewed(
            "offset: [0], sizes: [4, 4], strides: [4, 1]",
            ROWS,
            &format!(
                "affine.for %i = 0 to 4 {{ affine.for %j = 0 to 4 {{
                   %0 = affine.load %b[%i * 4 + %j] : memref<16xi32>
                   affine.store %0, %v[{inner}] : {ROWS}
                 }} }}"
            ),
        )
    };
    let plain = kernel(
        "affine.for %i = 0 to 16 {
           %0 = affine.load %b[%i] : memref<16xi32>
           affine.store %0, %a[%i] : memref<16xi32>
         }",
    );
    assert!(proof(DISTINCT, &plain, &rows("%i, %j")).starts_with("equal"));
    assert!(proof(DISTINCT, &rows("%i, %j"), &plain).starts_with("equal"));
    assert!(proof(DISTINCT, &plain, &rows("%j, %i")).starts_with("undecided"));
    // The number is within the buffer, but the subscript is not.
    let beyond = rows("0, %i * 4 + %j");
    assert!(proof(DISTINCT, &plain, &beyond).starts_with("undecided"), "{beyond}");
}

#[test]
fn rows_that_overlap_are_one_in_memory() {
    const ROWS: &str = "memref<8x8xi32, strided<[1, 1]>>";
    let stores = |[first, second]: [&str; 2]| {
        viewed(
            "offset: [0], sizes: [8, 8], strides: [1, 1]",
            ROWS,
            &format!(
                "%c1 = arith.constant 1 : i32 %c2 = arith.constant 2 : i32
                 affine.store %c1, %v[{first}] : {ROWS}
                 affine.store %c2, %v[{second}] : {ROWS}"
            ),
        )
    };
    let swapped = |text: &str| text.replace("constant 1", "constant 3").replace("constant 2", "constant 1");
    let swapped = |text: &str| swapped(text).replace("constant 3", "constant 2");
    let (apart, turned) = (stores(["0, 1", "0, 2"]), swapped(&stores(["0, 2", "0, 1"])));
    assert!(proof(DISTINCT, &apart, &turned).starts_with("equal"));
    let (one, turned) = (stores(["0, 1", "1, 0"]), swapped(&stores(["1, 0", "0, 1"])));
    assert!(proof(DISTINCT, &one, &turned).starts_with("undecided"));
}

#[test]
fn subscripts_that_are_not_affine_count_from_where_the_view_begins() {
    let read = |offset: i64| {
        let layout =
            if offset == 0 { "strided<[1]>".to_string() } else { format!("strided<[1], offset: {offset}>") };
        format!(
            "func.func @f(%a: memref<16xi32>, %x: i32, %i: memref<1xindex>) -> i32 {{
               %j = affine.load %i[0] : memref<1xindex>
               %v = memref.subview %a[{offset}] [8] [1] : memref<16xi32> to memref<8xi32, {layout}>
               %r = memref.load %v[%j] : memref<8xi32, {layout}>
               %s = arith.addi %r, %x : i32
               return %s : i32 }}"
        )
    };
    let renamed = |text: String| text.replace("%r, %x", "%x, %r");
    // Such an access may be beyond what the view shows, but then in both programs.
    assert!(proof(DISTINCT, &read(1), &renamed(read(1))).starts_with("equal"));
    assert!(proof(DISTINCT, &read(0), &renamed(read(1))).starts_with("undecided"));
}

/// Two loops, or one, that count in `%h` what `%k` says, with `value`, and fill `%b`.
fn histogram(fused: bool, value: &str, fill: &str) -> String {
    let count = format!(
        "%k0 = affine.load %k[%i] : memref<16xindex>
         %old = memref.load %h[%k0] : memref<16xi32>
         %one = arith.constant {value} : i32
         %new = arith.addi %old, %one : i32
         memref.store %new, %h[%k0] : memref<16xi32>"
    );
    let between = if fused { "" } else { "} affine.for %i = 0 to 16 {" };
    format!(
        "func.func @f(%h: memref<16xi32>, %k: memref<16xindex>, %b: memref<16xi32>, %x: i32) {{
           affine.for %i = 0 to 16 {{ {count} {between} {fill} }}
           return }}"
    )
}

#[test]
fn stores_through_subscripts_that_are_loaded_match_in_their_order() {
    let fill = "affine.store %x, %b[%i] : memref<16xi32>";
    let answer = |before: &str, after: &str| proof(DISTINCT, before, after);
    let apart = histogram(false, "1", fill);
    assert!(answer(&apart, &histogram(true, "1", fill)).starts_with("equal"));
    assert!(answer(&apart, &histogram(true, "2", fill)).starts_with("undecided"));
    // A store in between changes what is read.
    let fill = "affine.store %x, %h[%i] : memref<16xi32>";
    assert!(answer(&histogram(false, "1", fill), &histogram(true, "1", fill)).starts_with("undecided"));
    // The keys change while they are read.
    let keys = "%z = arith.constant 0 : index affine.store %z, %k[15 - %i] : memref<16xindex>";
    assert!(answer(&histogram(false, "1", keys), &histogram(true, "1", keys)).starts_with("undecided"));
}

#[test]
fn a_buffer_of_the_function_is_read_only_where_the_original_reads_it() {
    let gather = |condition: bool, order: &str| {
        let (open, close) = if condition { ("scf.if %c {", "}") } else { ("", "") };
        format!(
            "func.func @f(%k: memref<16xindex>, %b: memref<16xi32>, %x: i32, %y: f32) {{
               %t = memref.alloc() : memref<16xi32>
               %c = arith.cmpf olt, %y, %y : f32
               affine.for %i = 0 to 16 {{
                 %k0 = affine.load %k[%i] : memref<16xindex>
                 memref.store %x, %t[%k0] : memref<16xi32>
               }}
               {open}
               affine.for %i = 0 to 16 {{
                 %k0 = affine.load %k[%i] : memref<16xindex>
                 %v = memref.load %t[%k0] : memref<16xi32>
                 %s = arith.addi {order} : i32
                 affine.store %s, %b[%i] : memref<16xi32>
               }}
               {close}
               return }}"
        )
    };
    let (plain, turned) = (gather(false, "%v, %x"), gather(false, "%x, %v"));
    assert!(proof(DISTINCT, &plain, &turned).starts_with("equal"));
    let [plain, turned] = [gather(true, "%v, %x"), gather(false, "%x, %v")];
    assert!(proof(DISTINCT, &plain, &turned).starts_with("undecided"));
}

#[test]
fn unsigned_loops_count_where_their_bounds_are_natural() {
    let filled = |order: &str, upper: &str, at: &str| {
        kernel(&format!(
            "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
             %u = arith.constant {upper} : index %v = arith.constant 7 : i32
             scf.for {order} %i = %c0 to %u step %c1 {{
               memref.store %v, %a[%{at}] : memref<16xi32>
             }}"
        ))
    };
    assert!(proof(DISTINCT, &filled("unsigned", "16", "i"), &filled("", "16", "i")).starts_with("equal"));
    let answer = proof(DISTINCT, &filled("unsigned", "-1", "c0"), &filled("", "-1", "c0"));
    assert!(answer.contains("as unsigned"), "{answer}");
}

/// Reads an element through a loaded subscript in `bounds` for nothing, and fills `%b`.
fn read_for_nothing(nest: &str, inner: &str, close: &str, key: &str) -> String {
    format!(
        "func.func @f(%h: memref<16xi32>, %k: memref<16xindex>, %b: memref<16xi32>, %x: i32) {{
           affine.for %i = {nest} {{ {inner}
             %k0 = affine.load %k[{key}] : memref<16xindex>
             %v = memref.load %h[%k0] : memref<16xi32>
             affine.store %x, %b[%i] : memref<16xi32>
           {close} }}
           return }}"
    )
}

#[test]
fn values_that_nobody_uses_are_read_where_the_original_reads_them() {
    let plain = read_for_nothing("0 to 16", "", "", "%i");
    let tile = "affine.for %i = affine_map<(d0) -> (d0)>(%t) to affine_map<(d0) -> (d0 + 4)>(%t) {";
    let tiled = |key| read_for_nothing("0 to 16 step 4", tile, "}", key).replacen("%i =", "%t =", 1);
    assert!(proof(DISTINCT, &plain, &tiled("%i")).starts_with("equal"));
    let fewer = read_for_nothing("0 to 16", "", "", "%i floordiv 2");
    let answer = proof(DISTINCT, &fewer, &tiled("%i"));
    assert!(answer.contains("does not access"), "{answer}");
}

#[test]
fn an_element_never_written_is_read_only_if_the_original_reads_one() {
    let read = |bound: &str| {
        kernel(&format!(
            "%t = memref.alloc() : memref<16xi32>
             %c = arith.constant 7 : i32
             affine.store %c, %t[0] : memref<16xi32>
             affine.for %i = 0 to {bound} {{
               %0 = affine.load %t[%i] : memref<16xi32>
               affine.store %c, %a[%i] : memref<16xi32>
             }}
             affine.for %i = {bound} to 16 {{
               affine.store %c, %a[%i] : memref<16xi32>
             }}"
        ))
    };
    assert!(proof(DISTINCT, &read("2"), &read("3")).starts_with("equal"));
    assert!(proof(DISTINCT, &read("1"), &read("3")).contains("never written"));
}

/// Loops over a row that a view shows of a buffer with two dimensions.
fn of_a_row(row: i64, end: i64, element: &str) -> String {
    let ty = format!("memref<6xi32, strided<[1], offset: {}>>", 8 * row + 1);
    format!(
        "func.func @f(%m: memref<4x8xi32>, %b: memref<6xi32>, %n: index) {{
           %s = memref.subview %m[{row}, 1] [1, 6] [1, 1] : memref<4x8xi32> to {ty}
           affine.for %i = 0 to min affine_map<(d0) -> (d0, {end})>(%n) {{
             %0 = affine.load %s[{element}] : {ty}
             affine.store %0, %b[%i] : memref<6xi32>
           }}
           return
         }}"
    )
}

#[test]
fn a_view_of_a_row_shows_its_elements() {
    let direct = "
        func.func @f(%m: memref<4x8xi32>, %b: memref<6xi32>, %n: index) {
           affine.for %i = 0 to min affine_map<(d0) -> (d0, 6)>(%n) {
             %0 = affine.load %m[2, %i + 1] : memref<4x8xi32>
             affine.store %0, %b[%i] : memref<6xi32>
           }
           return
        }";
    for (before, after) in [(direct, &*of_a_row(2, 6, "%i")), (&of_a_row(2, 6, "%i"), direct)] {
        assert!(proof(DISTINCT, before, after).starts_with("equal"));
    }
    assert!(!proof(DISTINCT, direct, &of_a_row(1, 6, "%i")).starts_with("equal"));
    assert!(!proof(DISTINCT, direct, &of_a_row(2, 6, "%i - 1")).starts_with("equal"));
    // The last element that the loop reads is of the row, but not shown.
    let beyond = direct.replace("(d0, 6)", "(d0, 7)").replace("memref<6xi32>", "memref<7xi32>");
    let view = of_a_row(2, 7, "%i").replace("%b: memref<6xi32>", "%b: memref<7xi32>");
    let view = view.replace("%b[%i] : memref<6xi32>", "%b[%i] : memref<7xi32>");
    let answer = proof(DISTINCT, &beyond, &view);
    assert!(answer.contains("does not access"), "{answer}");
    // The original may not read it either.
    assert!(
        proof(DISTINCT, &view, &view.replace("affine.load %s[%i]", "memref.load %s[%i]"))
            .starts_with("equal")
    );
}

#[test]
fn quotients_of_negative_numbers_are_told_apart_by_their_rounding() {
    let quotient = |name: &str, from: i64| {
        kernel(&format!(
            "%c = arith.constant 2 : index
             affine.for %i = {from} to 4 {{
               %0 = arith.{name} %i, %c : index
               %1 = arith.index_cast %0 : index to i32
               affine.store %1, %a[%i + 8] : memref<16xi32>
             }}"
        ))
    };
    assert!(proof(DISTINCT, &quotient("divsi", 0), &quotient("floordivsi", 0)).starts_with("equal"));
    assert!(proof(DISTINCT, &quotient("divsi", -4), &quotient("divsi", -4)).starts_with("equal"));
    assert!(!proof(DISTINCT, &quotient("divsi", -4), &quotient("floordivsi", -4)).starts_with("equal"));
}

#[test]
fn constants_are_told_apart() {
    let constant = |number: &str, ty: &str| {
        format!("func.func @f() -> {ty} {{ %0 = arith.constant {number} : {ty}  return %0 : {ty} }}")
    };
    assert!(!proof(DISTINCT, &constant("1.0", "f32"), &constant("2.0", "f32")).starts_with("equal"));
    assert!(!proof(DISTINCT, &constant("0.0", "f32"), &constant("-0.0", "f32")).starts_with("equal"));
    let vectors = ["dense<1> : vector<4xi32>", "dense<2> : vector<4xi32>"].map(|value| {
        format!(
            "func.func @f() -> vector<4xi32> {{ %0 = arith.constant {value}  return %0 : vector<4xi32> }}"
        )
    });
    assert!(!proof(DISTINCT, &vectors[0], &vectors[1]).starts_with("equal"));
}
