//! Functions executed with all values open: right pairs, and wrong ones close by.

use crate::support::{functions, parse, told};
use loomir_check::proof::ProofOptions;
use loomir_check::symbolic;

/// Says what comes of the functions `@f` of two programs.
fn answer(before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let [before, after] = [before, after].map(|text| parse(&ctx, text));
    let find = |module| functions(module).into_iter().find(|(name, _)| name == "f").expect("@f").1;
    let options = ProofOptions::default();
    told(&ctx, &symbolic::prove(&before, find(&before), &after, find(&after), &options))
}

/// A program with a function `@f`.
fn program(arguments: &str, result: &str, body: &str) -> String {
    let (end, result) = match result {
        "" => ("return", String::new()),
        _ => ("", format!(" -> {result}")),
    };
    format!(
        "memref.global constant @k : memref<2xi32> = dense<[1, 2]>
         func.func private @outside(i32)
         func.func private @twice(%x: i32) -> i32 {{
           %r = arith.addi %x, %x : i32
           return %r : i32
         }}
         func.func @f({arguments}){result} {{
           %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
           %c2 = arith.constant 2 : index %c4 = arith.constant 4 : index
           %c8 = arith.constant 8 : index %k1 = arith.constant 1 : i32
           {body}
           {end}
         }}"
    )
}

const BUFFERS: &str = "%a: memref<8xi32>, %b: memref<8xi32> {llvm.noalias}, %n: index, %x: i32, %y: i32";

/// Checks that the second body does what the first does, until a text in it is changed.
fn only_right(arguments: &str, result: &str, before: &str, after: &str, changes: &[[&str; 2]]) {
    let before = program(arguments, result, before);
    let right = answer(&before, &program(arguments, result, after));
    assert!(right.starts_with("equal"), "{right}\n{after}");
    for [from, to] in changes {
        let wrong = after.replacen(from, to, 1);
        assert_ne!(wrong, after, "{from}");
        let said = answer(&before, &program(arguments, result, &wrong));
        assert!(said.starts_with("undecided"), "{from} -> {to}: {said}");
    }
}

/// Checks that nothing is proved of two bodies, and that the first one is equal to itself.
fn refused(arguments: &str, result: &str, before: &str, after: &str, why: &str) {
    let [before, after] = [before, after].map(|body| program(arguments, result, body));
    let own = answer(&before, &before);
    assert!(own.starts_with("equal"), "{own}");
    let said = answer(&before, &after);
    assert!(said.starts_with("undecided") && said.contains(why), "{said}");
}

#[test]
fn values_of_arguments_make_cases() {
    let of = |upper: &str| {
        format!(
            "scf.for %i = %c0 to {upper} step %c1 {{
               memref.store %x, %a[%i] : memref<8xi32>
             }}"
        )
    };
    // For more than eight iterations the original is undefined.
    let twice = "%m = arith.minsi %n, %c2 : index
        scf.for %i = %c0 to %m step %c1 {
          memref.store %x, %a[%i] : memref<8xi32>
        }
        %p = arith.maxsi %m, %c0 : index
        scf.for %i = %p to %n step %c1 {
          memref.store %x, %a[%i] : memref<8xi32>
        }";
    let changes = [["minsi", "maxsi"], ["%p to %n", "%c4 to %n"], ["store %x", "store %y"]];
    only_right(BUFFERS, "", &of("%n"), twice, &changes);
    refused(BUFFERS, "", &of("%c8"), &of("%n"), "element");
}

#[test]
fn trip_counts_without_an_end_are_given_up() {
    let body = "scf.for %i = %c0 to %n step %c1 { memref.store %x, %a[%c0] : memref<8xi32> }";
    let [one, other] = [body.to_string(), body.replace("store %x", "store %y")];
    let said = answer(&program(BUFFERS, "", &one), &program(BUFFERS, "", &other));
    assert!(said.contains("too many cases"), "{said}");
}

#[test]
fn branches_on_values_are_choices() {
    let before = "scf.for %i = %c0 to %c8 step %c1 {
          %v = memref.load %b[%i] : memref<8xi32>
          %c = arith.cmpi slt, %v, %x : i32
          scf.if %c { memref.store %v, %a[%i] : memref<8xi32> }
          else { memref.store %y, %a[%i] : memref<8xi32> }
        }";
    let after = "scf.for %i = %c0 to %c8 step %c1 {
          %v = memref.load %b[%i] : memref<8xi32>
          %c = arith.cmpi sge, %v, %x : i32
          scf.if %c { memref.store %y, %a[%i] : memref<8xi32> }
        }
        scf.for %i = %c0 to %c8 step %c1 {
          %v = memref.load %b[%i] : memref<8xi32>
          %c = arith.cmpi sgt, %x, %v : i32
          scf.if %c {
            %w = memref.load %b[%i] : memref<8xi32>
            memref.store %w, %a[%i] : memref<8xi32>
          }
        }";
    let changes = [["sge", "sgt"], ["sgt", "sge"], ["store %y", "store %x"], ["%a[%i]", "%a[%c1]"]];
    only_right(BUFFERS, "", before, after, &changes);
}

#[test]
fn subscripts_may_be_values() {
    let body = |first: &str, second: &str| {
        format!(
            "%p = memref.load %j[%c0] : memref<2xindex>
             %q = memref.load %j[%c1] : memref<2xindex>
             {first}
             {second}
             %r = memref.load %b[%p] : memref<4xi32>
             return %r : i32"
        )
    };
    let arguments = "%b: memref<4xi32> {llvm.noalias}, %j: memref<2xindex>, %x: i32, %y: i32";
    let [one, other] = ["memref.store %x, %b[%p] : memref<4xi32>", "memref.store %y, %b[%q] : memref<4xi32>"];
    let known = format!("{one}\n{other}");
    only_right(arguments, "i32", &body(one, other), &body(&known, ""), &[["store %x", "store %y"]]);
    refused(arguments, "i32", &body(one, other), &body(other, one), "not seen to be the same");
    // The access of the second one is no access of the first.
    refused(arguments, "i32", &body(one, ""), &body(one, other), "a subscript may be poison");
}

#[test]
fn buffers_that_may_overlap_keep_the_order_of_writes() {
    let arguments = "%a: memref<8xi32>, %b: memref<8xi32>, %x: i32, %y: i32";
    let [a, b] = ["memref.store %x, %a[%c0] : memref<8xi32>", "memref.store %y, %b[%c1] : memref<8xi32>"];
    refused(arguments, "", &format!("{a}\n{b}"), &format!("{b}\n{a}"), "not seen to be the same");
    // Two elements of one buffer have no order, nor has a write that is written over.
    let c = "memref.store %y, %a[%c2] : memref<8xi32>";
    only_right(arguments, "", &format!("{a}\n{c}\n{b}"), &format!("{c}\n{a}\n{b}"), &[["%c2", "%c1"]]);
    only_right(arguments, "", &format!("{a}\n{b}\n{a}"), &format!("{b}\n{a}"), &[["%b[", "%a["]]);
    // A load between is of one of the two.
    let load = "%v = memref.load %b[%c0] : memref<8xi32>\nmemref.store %v, %b[%c4] : memref<8xi32>";
    refused(arguments, "", &format!("{load}\n{a}"), &format!("{a}\n{load}"), "not seen to be the same");
}

#[test]
fn the_second_program_may_not_be_undefined_where_the_first_is_defined() {
    let outside = "%v = memref.load %a[%c8] : memref<8xi32>";
    refused(BUFFERS, "", "", outside, "outside of the buffer");
    let guarded = "%v = memref.load %b[%c0] : memref<8xi32>
        %c = arith.cmpi slt, %v, %x : i32
        scf.if %c { %w = arith.divsi %x, %y : i32 }";
    let hoisted =
        guarded.replace("scf.if %c { %w = arith.divsi %x, %y : i32 }", "%w = arith.divsi %x, %y : i32");
    refused(BUFFERS, "", guarded, &hoisted, "divide by zero");
    let written = "%m = memref.alloc() : memref<2xi32>
        memref.store %x, %m[%c0] : memref<2xi32>
        %v = memref.load %m[%c0] : memref<2xi32>
        memref.store %v, %a[%c0] : memref<8xi32>
        memref.dealloc %m : memref<2xi32>";
    let changes = [["%x, %m[%c0]", "%x, %m[%c1]"], ["%v = memref.load %m[%c0]", "%v = memref.load %m[%c1]"]];
    only_right(BUFFERS, "", "memref.store %x, %a[%c0] : memref<8xi32>", written, &changes);
    let freed = format!("{written}\n%w = memref.load %m[%c0] : memref<2xi32>");
    refused(BUFFERS, "", written, &freed, "may have been freed");
    let constant = "%g = memref.get_global @k : memref<2xi32>\n%v = memref.load %g[%c0] : memref<2xi32>";
    let kept = format!("{constant}\nmemref.store %v, %g[%c0] : memref<2xi32>");
    refused(BUFFERS, "", constant, &kept, "constant global");
}

#[test]
fn poison_stays_where_it_was() {
    let sum = |flags: &str, end: &str| format!("%s = arith.addi %x, %y {flags} : i32\n{end}");
    let left = "memref.store %s, %a[%c0] : memref<8xi32>";
    let nsw = "overflow<nsw>";
    only_right(BUFFERS, "", &sum(nsw, left), &sum("", left), &[["addi", "subi"]]);
    refused(BUFFERS, "", &sum("", left), &sum(nsw, left), "not seen to be the same");
    let branch = "%c = arith.cmpi slt, %s, %k1 : i32\nscf.if %c { }";
    refused(BUFFERS, "", &sum(nsw, ""), &sum(nsw, branch), "may be poison");
    only_right(BUFFERS, "", &sum(nsw, branch), &sum(nsw, ""), &[]);
    // What memory holds at first may be poison, too.
    let loaded = "%s = memref.load %a[%c0] : memref<8xi32>";
    refused(BUFFERS, "", loaded, &format!("{loaded}\n{branch}"), "may be poison");
    let select = "%c = arith.cmpi slt, %s, %k1 : i32
        %t = arith.select %c, %x, %x : i32
        memref.store %t, %a[%c0] : memref<8xi32>";
    let plain = "memref.store %x, %a[%c0] : memref<8xi32>";
    refused(BUFFERS, "", plain, &sum(nsw, select), "not seen to be the same");
    only_right(BUFFERS, "", &sum(nsw, select), plain, &[["%x", "%y"]]);
}

#[test]
fn integers_wrap_and_floats_round() {
    let stored = |body: &str| format!("{body}\nmemref.store %r, %a[%c0] : memref<8xi32>");
    only_right(
        BUFFERS,
        "",
        &stored("%s = arith.addi %x, %y : i32\n%r = arith.muli %s, %s : i32"),
        &stored(
            "%u = arith.muli %x, %x : i32\n%v = arith.muli %y, %x : i32\n%w = arith.muli %y, %y : i32
             %t = arith.addi %v, %v : i32\n%q = arith.addi %u, %t : i32\n%r = arith.addi %q, %w : i32",
        ),
        &[["%y, %y", "%y, %x"], ["addi %v, %v", "addi %v, %u"]],
    );
    // The comparison of a sum is no comparison of its parts: the sum wraps.
    let compared = |line: &str| stored(&format!("{line}\n%r = arith.extui %c : i1 to i32"));
    refused(
        BUFFERS,
        "",
        &compared("%c = arith.cmpi slt, %x, %y : i32"),
        &compared(
            "%d = arith.subi %x, %y : i32\n%z = arith.constant 0 : i32\n%c = arith.cmpi slt, %d, %z : i32",
        ),
        "not seen to be the same",
    );
    let floats = "%p: f32, %q: f32, %s: f32";
    let of = |body: &str| format!("%z = arith.constant 0.0 : f32\n{body}\nreturn %r : f32");
    refused(
        floats,
        "f32",
        &of("%r = arith.addf %p, %z : f32"),
        &of("%r = arith.mulf %p, %p : f32"),
        "result 0",
    );
    refused(floats, "f32", &of("%r = arith.subf %z, %p : f32"), &of("%r = arith.negf %p : f32"), "result 0");
    let sums = [
        "%t = arith.addf %p, %q {F} : f32\n%r = arith.addf %t, %s {F} : f32",
        "%t = arith.addf %q, %s {F} : f32\n%r = arith.addf %p, %t {F} : f32",
    ];
    let [one, other] = sums.map(|text| of(&text.replace("{F}", "")));
    refused(floats, "f32", &one, &other, "result 0");
    let [one, other] = sums.map(|text| of(&text.replace("{F}", "fastmath<reassoc>")));
    let said = answer(&program(floats, "f32", &one), &program(floats, "f32", &other));
    assert_eq!(said, "equal if floats may be rounded otherwise, as their flags allow");
    let greatest = |first: &str, second: &str| {
        of(&format!("%t = arith.maximumf {first} : f32\n%r = arith.maximumf {second} : f32"))
    };
    only_right(floats, "f32", &greatest("%p, %q", "%t, %s"), &greatest("%s, %q", "%p, %t"), &[["%s", "%p"]]);
}

#[test]
fn calls_run_in_place_or_not_at_all() {
    let store = "memref.store %r, %a[%c0] : memref<8xi32>";
    let called = format!("%r = func.call @twice(%x) : (i32) -> i32\n{store}");
    only_right(BUFFERS, "", &called, &format!("%r = arith.addi %x, %x : i32\n{store}"), &[["addi", "muli"]]);
    let outside = |value: &str| format!("func.call @outside({value}) : (i32) -> ()");
    let said = answer(&program(BUFFERS, "", &outside("%x")), &program(BUFFERS, "", &outside("%y")));
    assert!(said.contains("no body"), "{said}");
}

#[test]
fn parallel_iterations_of_the_second_program_do_not_race() {
    let of = |kind: &str, at: &str| {
        let (open, close) = match kind {
            "scf.for" => ("scf.for %i = %c0 to %c4 step %c1 {", "}"),
            _ => ("scf.parallel (%i) = (%c0) to (%c4) step (%c1) {", "scf.reduce }"),
        };
        format!("{open}\nmemref.store %x, %a[{at}] : memref<8xi32>\n{close}")
    };
    only_right(BUFFERS, "", &of("scf.for", "%i"), &of("scf.parallel", "%i"), &[["%a[%i]", "%a[%c1]"]]);
    refused(BUFFERS, "", &of("scf.for", "%c1"), &of("scf.parallel", "%c1"), "may access one element");
    // Races of the first are undefined; that is said.
    let racing = of("scf.parallel", "%c1");
    let said = answer(&program(BUFFERS, "", &racing), &program(BUFFERS, "", &racing));
    assert!(said.contains("do not race"), "{said}");
    // Of two accesses in one iteration the second waits for the first.
    let nested = |value: &str| {
        format!(
            "scf.parallel (%i) = (%c0) to (%c4) step (%c1) {{
               memref.store %x, %a[%i] : memref<8xi32>
               scf.parallel (%j) = (%c0) to (%c2) step (%c1) {{
                 scf.reduce
               }}
               memref.store {value}, %a[%i] : memref<8xi32>
               scf.reduce
             }}"
        )
    };
    refused(BUFFERS, "", &nested("%x"), &nested("%y"), "not seen to be the same");
}

#[test]
fn parts_of_a_buffer_stay_inside() {
    let shown = |offset: &str| {
        let layout = format!("strided<[1], offset: {offset}>");
        format!(
            "%v = memref.subview %a[{offset}] [4] [1] : memref<8xi32> to memref<4xi32, {layout}>
             scf.for %i = %c0 to %c4 step %c1 {{
               memref.store %x, %v[%i] : memref<4xi32, {layout}>
             }}"
        )
    };
    let plain = "scf.for %i = %c0 to %c4 step %c1 {
          %j = arith.addi %i, %c4 : index
          memref.store %x, %a[%j] : memref<8xi32>
        }";
    only_right(BUFFERS, "", plain, &shown("4"), &[["%c4 step", "%c8 step"]]);
    refused(BUFFERS, "", plain, &shown("3"), "not seen to be the same");
    let copied = |arguments: &str, from: &str| {
        let copy = format!("memref.copy {from} : memref<8xi32> to memref<8xi32>");
        answer(&program(arguments, "", ""), &program(arguments, "", &copy))
    };
    assert!(copied("%a: memref<8xi32>, %b: memref<8xi32>", "%a, %b").contains("may overlap"));
    assert_eq!(copied("%a: memref<8xi32>", "%a, %a"), "equal");
}

#[test]
fn memory_never_written_gives_no_licence() {
    let of = |read: &str, value: &str| {
        format!(
            "%t = memref.alloc() : memref<8xi32>
             memref.store %y, %t[%c1] : memref<8xi32>
             %v = memref.load %t[{read}] : memref<8xi32>
             memref.store {value}, %a[%c0] : memref<8xi32>"
        )
    };
    only_right(BUFFERS, "", &of("%c1", "%v"), &of("%c1", "%y"), &[["store %y, %a", "store %x, %a"]]);
    let said = |value: &str, other: &str| {
        answer(&program(BUFFERS, "", &of("%c0", value)), &program(BUFFERS, "", &of("%c1", other)))
    };
    // The load is used for nothing, so the rest counts.
    assert!(said("%x", "%y").contains("not seen to be the same"));
    // Any bits times zero are zero.
    assert!(said("%v", "%x").contains("an operand is not understood"));
    let reads = [of("%c1", "%x"), of("%c0", "%x")].map(|body| program(BUFFERS, "", &body));
    assert!(answer(&reads[0], &reads[1]).contains("never written"));
}

#[test]
fn variables_of_loops_stay_in_their_types() {
    let of = |end: i64| {
        format!(
            "%s = arith.constant 20 : i8  %l = arith.constant 100 : i8  %u = arith.constant {end} : i8
             scf.for %i = %l to %u step %s : i8 {{ memref.store %x, %a[%c0] : memref<8xi32> }}"
        )
    };
    // Behind 120 is 140, even if no iteration begins there.
    let right = of(107);
    let [one, other] = [107, 127].map(|end| program(BUFFERS, "", &of(end)));
    assert_eq!(answer(&one, &program(BUFFERS, "", &right)), "equal");
    assert!(answer(&one, &other).contains("may leave its type"));
    assert!(answer(&other, &one).contains("may leave its type"));
}

#[test]
fn whole_buffers_race_too() {
    let of = |kind: &str, body: &str| {
        let (open, close) = match kind {
            "scf.for" => ("scf.for %i = %c0 to %c4 step %c1 {", "}"),
            _ => ("scf.parallel (%i) = (%c0) to (%c4) step (%c1) {", "scf.reduce }"),
        };
        format!(
            "%t = memref.alloc() : memref<8xi32>
             memref.store %y, %t[%c1] : memref<8xi32>
             {open}\n{body}\n{close}"
        )
    };
    // In another order the buffer is freed before it is read.
    let freed = "%e = arith.cmpi eq, %i, %c2 : index
        scf.if %e { memref.dealloc %t : memref<8xi32> }
        %b0 = arith.cmpi slt, %i, %c2 : index
        scf.if %b0 {
          %v = memref.load %t[%c1] : memref<8xi32>
          memref.store %v, %a[%i] : memref<8xi32>
        }";
    refused(BUFFERS, "", &of("scf.for", freed), &of("scf.parallel", freed), "may access one element");
    // A copy onto itself writes what it has read before.
    let copied = "memref.store %x, %a[%i] : memref<8xi32>
        memref.copy %a, %a : memref<8xi32> to memref<8xi32>";
    refused(BUFFERS, "", &of("scf.for", copied), &of("scf.parallel", copied), "may access one element");
}

#[test]
fn elements_of_vectors_are_not_poison_together() {
    let of = |lane: &str| {
        format!(
            "%s = arith.addi %v, %v overflow<nsw> : vector<2xi32>
             %l = llvm.mlir.constant({lane} : i32) : i32
             %e = llvm.extractelement %s[%l : i32] : vector<2xi32>
             %c = arith.cmpi slt, %e, %k1 : i32
             scf.if %c {{ }}"
        )
    };
    let [one, other] = ["0", "1"].map(|lane| program("%v: vector<2xi32>", "", &of(lane)));
    assert!(answer(&one, &other).contains("elements of a vector may be poison"));
}

#[test]
fn numbers_of_type_index_have_64_bits() {
    let of = |bits: u32| {
        format!(
            "module attributes {{dlti.dl_spec = #dlti.dl_spec<index = {bits} : i64>}} {{
               func.func @f(%n: i64) -> i64 {{
                 %i = arith.index_cast %n : i64 to index
                 %r = arith.index_cast %i : index to i64
                 return %r : i64
               }}
             }}"
        )
    };
    let plain = |text: &str| text.replace("%r : i64\n", "%n : i64\n");
    assert_eq!(answer(&of(64), &plain(&of(64))), "equal");
    assert!(answer(&of(32), &plain(&of(32))).contains("'index' has not 64 bits"));
}
