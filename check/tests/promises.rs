//! Programs that promise what the original does not: none may be called equal.

use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

/// A program with a function `@f`.
fn program(arguments: &str, result: &str, body: &str) -> String {
    let constant = "memref.global constant @g : memref<2xi32> = dense<[1, 2]>";
    let numbers = "%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index";
    let end = if result.is_empty() { "return" } else { "" };
    let result = if result.is_empty() { String::new() } else { format!(" -> {result}") };
    let stack = "func.func private @stack(%x: f32) -> memref<1xf32> {
        %m = memref.alloca() : memref<1xf32>
        return %m : memref<1xf32>
    }";
    format!("{constant}\n{stack}\nfunc.func @f({arguments}){result} {{\n{numbers}\n{body}\n{end}\n}}")
}

/// Checks that the second function is not proved to do what the first one does, and that the first
/// one is the same as itself.
fn refused([arguments, result]: [&str; 2], before: &str, after: &str) {
    let ctx = loomir_dialects::context();
    let [before, after] = [before, after].map(|body| parse(&ctx, &program(arguments, result, body)));
    let prove =
        |other| prove_named(&before, other, "f", &ProofOptions::default()).expect("functions called f");
    assert!(prove(&before).is_equal());
    let answer = told(&ctx, &prove(&after));
    assert!(answer.starts_with("undecided"), "{answer}");
}

#[test]
fn negative_numbers_wrap_as_unsigned() {
    refused(
        ["%a: memref<16xi32>", ""],
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant -1 : i32
         %w = arith.addi %v, %m  : i32
         memref.store %w, %a[%i] : memref<16xi32>
         }",
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant -1 : i32
         %w = arith.addi %v, %m overflow<nuw> : i32
         memref.store %w, %a[%i] : memref<16xi32>
         }",
    );
}

#[test]
fn an_exact_division_leaves_no_rest() {
    refused(
        ["%a: memref<16xi32>", ""],
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant 2 : i32
         %w = arith.divsi %v, %m  : i32
         memref.store %w, %a[%i] : memref<16xi32>
         }",
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant 2 : i32
         %w = arith.divsi %v, %m exact : i32
         memref.store %w, %a[%i] : memref<16xi32>
         }",
    );
}

#[test]
fn a_truncated_negative_number_wraps_as_unsigned() {
    refused(
        ["%a: memref<16xi16>", ""],
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant -5 : i32
         %w = arith.addi %v, %m : i32
         %t = arith.trunci %w  : i32 to i16
         memref.store %t, %a[%i] : memref<16xi16>
         }",
        "scf.for %i = %c0 to %c16 step %c1 {
         %v = arith.index_cast %i : index to i32
         %m = arith.constant -5 : i32
         %w = arith.addi %v, %m : i32
         %t = arith.trunci %w overflow<nuw> : i32 to i16
         memref.store %t, %a[%i] : memref<16xi16>
         }",
    );
}

#[test]
fn poison_less_poison_is_not_zero() {
    refused(
        ["%x: i32, %y: i32", "i32"],
        "%r = arith.constant 0 : i32
         return %r : i32",
        "%p = arith.addi %x, %y overflow<nsw> : i32
         %r = arith.subi %p, %p : i32
         return %r : i32",
    );
}

#[test]
fn a_shift_by_too_much_is_poison() {
    refused(
        ["%x: i32, %y: i32", "i32"],
        "%r = arith.constant 0 : i32
         return %r : i32",
        "%p = arith.shli %x, %y : i32
         %r = arith.subi %p, %p : i32
         return %r : i32",
    );
}

#[test]
fn undefined_less_undefined_is_not_zero() {
    refused(
        ["%x: i32", "i32"],
        "%r = arith.constant 0 : i32
         return %r : i32",
        "%p = llvm.mlir.undef : i32
         %r = arith.subi %p, %p : i32
         return %r : i32",
    );
}

#[test]
fn parts_of_other_extents_are_returned() {
    refused(
        ["%a: memref<?xf32>, %n: index, %m: index", "memref<?xf32, strided<[1]>>"],
        "%s = memref.subview %a[0][%n][1] : memref<?xf32> to memref<?xf32, strided<[1]>>
         return %s : memref<?xf32, strided<[1]>>",
        "%s = memref.subview %a[0][%m][1] : memref<?xf32> to memref<?xf32, strided<[1]>>
         return %s : memref<?xf32, strided<[1]>>",
    );
}

#[test]
fn a_freed_buffer_is_returned() {
    refused(
        ["%x: f32", "memref<4xf32>"],
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         return %m : memref<4xf32>",
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         memref.dealloc %m : memref<4xf32>
         return %m : memref<4xf32>",
    );
}

#[test]
fn a_buffer_on_the_stack_is_returned() {
    refused(
        ["%x: f32", "memref<4xf32>"],
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         return %m : memref<4xf32>",
        "%m = memref.alloca() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         return %m : memref<4xf32>",
    );
}

#[test]
fn a_buffer_on_the_stack_is_freed() {
    refused(
        ["%x: f32", "f32"],
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         %v = memref.load %m[%c0] : memref<4xf32>
         return %v : f32",
        "%m = memref.alloca() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         %v = memref.load %m[%c0] : memref<4xf32>
         memref.dealloc %m : memref<4xf32>
         return %v : f32",
    );
}

#[test]
fn a_part_of_a_buffer_is_freed() {
    refused(
        ["%x: f32", "f32"],
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         %v = memref.load %m[%c0] : memref<4xf32>
         return %v : f32",
        "%m = memref.alloc() : memref<4xf32>
         memref.store %x, %m[%c0] : memref<4xf32>
         memref.store %x, %m[%c1] : memref<4xf32>
         %v = memref.load %m[%c0] : memref<4xf32>
         %s = memref.subview %m[1][2][1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
         memref.dealloc %s : memref<2xf32, strided<[1], offset: 1>>
         return %v : f32",
    );
}

#[test]
fn a_copy_of_buffers_of_other_extents() {
    refused(
        ["%a: memref<?xf32>{llvm.noalias}, %b: memref<?xf32>{llvm.noalias}", ""],
        "%n = memref.dim %a, %c0 : memref<?xf32>
         scf.for %i = %c0 to %n step %c1 { %v = memref.load %a[%i] : memref<?xf32>
         memref.store %v, %b[%i] : memref<?xf32> }",
        "memref.copy %a, %b : memref<?xf32> to memref<?xf32>",
    );
}

#[test]
fn a_copy_within_a_buffer() {
    refused(
        ["%a: memref<17xf32>", ""],
        "scf.for %i = %c0 to %c16 step %c1 { %v = memref.load %a[%i] : memref<17xf32>
         %j = arith.addi %i, %c1 : index
         memref.store %v, %a[%j] : memref<17xf32> }",
        "%s = memref.subview %a[0][16][1] : memref<17xf32> to memref<16xf32, strided<[1]>>
         %t = memref.subview %a[1][16][1] : memref<17xf32> to memref<16xf32, strided<[1], offset: 1>>
         memref.copy %s, %t : memref<16xf32, strided<[1]>> to memref<16xf32, strided<[1], offset: 1>>",
    );
}

#[test]
fn a_copy_of_buffers_that_may_overlap() {
    refused(
        ["%a: memref<16xf32>, %b: memref<16xf32>", ""],
        "scf.for %i = %c0 to %c16 step %c1 { %v = memref.load %a[%i] : memref<16xf32>
         memref.store %v, %b[%i] : memref<16xf32> }",
        "memref.copy %a, %b : memref<16xf32> to memref<16xf32>",
    );
}

#[test]
fn iterations_at_once_that_depend_on_each_other() {
    refused(
        ["%a: memref<17xf32>", ""],
        "scf.for %i = %c0 to %c16 step %c1 { %v = memref.load %a[%i] : memref<17xf32>
         %j = arith.addi %i, %c1 : index
         memref.store %v, %a[%j] : memref<17xf32> }",
        "scf.parallel (%i) = (%c0) to (%c16) step (%c1) { %v = memref.load %a[%i] : memref<17xf32>
         %j = arith.addi %i, %c1 : index
         memref.store %v, %a[%j] : memref<17xf32> }",
    );
}

#[test]
fn iterations_at_once_that_share_a_temporary() {
    refused(
        ["%a: memref<16xf32>", ""],
        "%t = memref.alloc() : memref<1xf32>
         scf.for %i = %c0 to %c16 step %c1 { %v = memref.load %a[%i] : memref<16xf32>
         memref.store %v, %t[%c0] : memref<1xf32>
         %w = memref.load %t[%c0] : memref<1xf32>
         %z = arith.addf %w, %w : f32
         memref.store %z, %a[%i] : memref<16xf32> }",
        "%t = memref.alloc() : memref<1xf32>
         scf.parallel (%i) = (%c0) to (%c16) step (%c1) { %v = memref.load %a[%i] : memref<16xf32>
         memref.store %v, %t[%c0] : memref<1xf32>
         %w = memref.load %t[%c0] : memref<1xf32>
         %z = arith.addf %w, %w : f32
         memref.store %z, %a[%i] : memref<16xf32> }",
    );
}

#[test]
fn an_allocation_of_a_loaded_size() {
    refused(
        ["%p: memref<1xindex>", "index"],
        "%s = memref.load %p[%c0] : memref<1xindex>
         return %s : index",
        "%s = memref.load %p[%c0] : memref<1xindex>
         %t = memref.alloc(%s) : memref<?xf32>
         return %s : index",
    );
}

#[test]
fn an_access_claims_an_alignment() {
    refused(
        ["%a: memref<4xf32>", "f32"],
        "%r = memref.load %a[%c1] : memref<4xf32>
         return %r : f32",
        "%r = memref.load %a[%c1] {alignment = 64 : i64} : memref<4xf32>
         return %r : f32",
    );
}

#[test]
fn elements_of_stride_zero_are_one_element() {
    refused(
        ["%a: memref<16xi32, strided<[0]>>", ""],
        "scf.for %i = %c0 to %c16 step %c1 { %v = arith.index_cast %i : index to i32
         memref.store %v, %a[%i] : memref<16xi32, strided<[0]>> }",
        "%c15 = arith.constant 15 : index
         scf.for %j = %c0 to %c16 step %c1 { %i = arith.subi %c15, %j : index
         %v = arith.index_cast %i : index to i32
         memref.store %v, %a[%i] : memref<16xi32, strided<[0]>> }",
    );
}

#[test]
fn a_constant_global_is_written() {
    refused(
        ["%a: memref<2xi32>{llvm.noalias}", "i32"],
        "%g = memref.get_global @g : memref<2xi32>
         %v = memref.load %g[%c0] : memref<2xi32>
         return %v : i32",
        "%g = memref.get_global @g : memref<2xi32>
         %v = memref.load %g[%c0] : memref<2xi32>
         memref.store %v, %g[%c0] : memref<2xi32>
         return %v : i32",
    );
}

#[test]
fn an_access_beyond_a_subview() {
    refused(
        ["%a: memref<16xf32>", "f32"],
        "%v = memref.load %a[%c1] : memref<16xf32>
         return %v : f32",
        "%s = memref.subview %a[0][1][1] : memref<16xf32> to memref<1xf32, strided<[1]>>
         %v = memref.load %s[%c1] : memref<1xf32, strided<[1]>>
         return %v : f32",
    );
}

#[test]
fn an_access_beyond_a_subview_of_unknown_size() {
    refused(
        ["%a: memref<16xf32>, %n: index", "f32"],
        "%v = memref.load %a[%c1] : memref<16xf32>
         return %v : f32",
        "%s = memref.subview %a[0][%n][1] : memref<16xf32> to memref<?xf32, strided<[1]>>
         %v = memref.load %s[%c1] : memref<?xf32, strided<[1]>>
         return %v : f32",
    );
}

#[test]
fn a_subview_beyond_its_buffer() {
    refused(
        ["%a: memref<16xf32>, %n: index", "f32"],
        "%v = memref.load %a[%c1] : memref<16xf32>
         return %v : f32",
        "%s = memref.subview %a[%n][1][1] : memref<16xf32> to memref<1xf32, strided<[1], offset: ?>>
         %v = memref.load %a[%c1] : memref<16xf32>
         return %v : f32",
    );
}

#[test]
fn a_cast_to_another_stride() {
    refused(
        ["%a: memref<?xf32>", "f32"],
        "%v = memref.load %a[%c1] : memref<?xf32>
         return %v : f32",
        "%s = memref.cast %a : memref<?xf32> to memref<?xf32, strided<[?], offset: ?>>
         %q = memref.cast %s : memref<?xf32, strided<[?], offset: ?>> to memref<?xf32, strided<[2], offset: 3>>
         %v = memref.load %q[%c1] : memref<?xf32, strided<[2], offset: 3>>
         return %v : f32",
    );
}

#[test]
fn poison_is_frozen_to_another_number_each_time() {
    refused(
        ["%x: i32, %y: i32", "i32"],
        "%p = arith.addi %x, %y overflow<nsw> : i32
         %a = llvm.freeze %p : i32
         %r = arith.subi %a, %a : i32
         return %r : i32",
        "%p = arith.addi %x, %y overflow<nsw> : i32
         %a = llvm.freeze %p : i32
         %b = llvm.freeze %p : i32
         %r = arith.subi %a, %b : i32
         return %r : i32",
    );
}

#[test]
fn floats_are_frozen_like_integers() {
    refused(
        ["%x: f32, %y: f32", "f32"],
        "%p = arith.addf %x, %y fastmath<nnan> : f32
         %a = llvm.freeze %p : f32
         %r = arith.subf %a, %a : f32
         return %r : f32",
        "%p = arith.addf %x, %y fastmath<nnan> : f32
         %a = llvm.freeze %p : f32
         %b = llvm.freeze %p : f32
         %r = arith.subf %a, %b : f32
         return %r : f32",
    );
    refused(
        ["%x: f32, %y: f32", "f32"],
        "%p = arith.addf %x, %y fastmath<nnan> : f32
         %a = llvm.freeze %p : f32
         return %a : f32",
        "%p = arith.addf %x, %y fastmath<nnan> : f32
         return %p : f32",
    );
}

#[test]
fn a_buffer_on_the_stack_of_a_callee_is_used_behind_the_call() {
    refused(
        ["%x: f32", "f32"],
        "return %x : f32",
        "%m = func.call @stack(%x) : (f32) -> memref<1xf32>
         memref.store %x, %m[%c0] : memref<1xf32>
         %v = memref.load %m[%c0] : memref<1xf32>
         return %v : f32",
    );
}

#[test]
fn poison_that_the_original_does_not_use_is_not_zero() {
    refused(
        ["%x: i32, %y: i32", "i32"],
        "%p = arith.addi %x, %y overflow<nsw> : i32
         %r = arith.constant 0 : i32
         return %r : i32",
        "%p = arith.addi %x, %y overflow<nsw> : i32
         %r = arith.subi %p, %p : i32
         return %r : i32",
    );
}

#[test]
fn truths_that_may_be_poison_are_not_put_together() {
    const COMPARED: &str = "%d = arith.cmpf olt, %x, %y fastmath<nnan> : f32
         %f = arith.constant false";
    let types = ["%c: i1, %x: f32, %y: f32", "i1"];
    let body = |result: &str| format!("{COMPARED}\n{result}\nreturn %r : i1");
    let choice = body("%r = arith.select %c, %d, %f : i1");
    refused(types, &choice, &body("%r = arith.andi %c, %d : i1"));
    // A choice of poison is poison; a branch on it is undefined.
    let branch = body("%r = scf.if %d -> i1 { scf.yield %c : i1 } else { scf.yield %f : i1 }");
    refused(types, &body("%r = arith.select %d, %c, %f : i1"), &branch);
}

#[test]
fn strides_known_at_run_time_are_named() {
    const SHOWN: &str = "memref<15xi32, strided<[?]>>";
    let stores = |place: &str| {
        format!(
            "func.func @f(%a: {SHOWN}) {{ affine.for %i = 0 to 15 {{
               %n = arith.index_cast %i : index to i32
               affine.store %n, %a[{place}] : {SHOWN} }} return }}"
        )
    };
    let turned = "func.func @f(%a: memref<15xi32, strided<[?]>>) { affine.for %i = 0 to 15 {
           %k = affine.apply affine_map<(d0) -> (14 - d0)>(%i)
           %n = arith.index_cast %k : index to i32
           affine.store %n, %a[14 - %i] : memref<15xi32, strided<[?]>> } return }";
    let ctx = loomir_dialects::context();
    let [before, after] = [stores("%i"), turned.to_owned()].map(|text| parse(&ctx, &text));
    let proof = prove_named(&before, &after, "f", &ProofOptions::default()).expect("functions called f");
    let answer = told(&ctx, &proof);
    assert!(!proof.is_equal() || answer.contains("strides that are known at run time"), "{answer}");
}

/// Operations that yield poison, which the original keeps in a buffer.
const POISON: &str = "%p = arith.shli %x, %k : index
     memref.store %p, %a[%c0] : memref<8xindex>";

#[test]
fn a_choice_between_equal_values_keeps_the_poison_of_its_condition() {
    let types = ["%x: f32, %y: f32, %v: i32", "i32"];
    let choice = "%d = arith.cmpf olt, %x, %y fastmath<nnan> : f32
         %r = arith.select %d, %v, %v : i32
         return %r : i32";
    refused(types, "return %v : i32", choice);
    let known = "%d = arith.cmpf olt, %x, %y fastmath<nnan> : f32
         %b = arith.extui %d : i1 to i32
         return %v : i32";
    refused(types, known, choice);
    let types = ["%x: index, %k: index, %a: memref<8xindex>", "index"];
    let body = |end: &str| format!("{POISON}\n{end}\nreturn %r : index");
    refused(
        types,
        &body("%r = arith.addi %x, %c0 : index"),
        &body(
            "%t = arith.cmpi eq, %p, %x : index
             %r = arith.select %t, %x, %x : index",
        ),
    );
}

#[test]
fn a_branch_of_the_original_allows_no_other_branch_on_poison() {
    let body = |choice: &str| {
        format!(
            "%x = memref.load %a[%c0] : memref<8xf32>
             %y = memref.load %a[%c1] : memref<8xf32>
             %d = arith.cmpf olt, %x, %y fastmath<nnan> : f32
             scf.if %k {{ memref.store %x, %a[%c0] : memref<8xf32> }}
             %r = {choice}
             return %r : i32"
        )
    };
    refused(
        ["%c: i32, %e: i32, %k: i1, %a: memref<8xf32>", "i32"],
        &body("arith.select %d, %c, %e : i32"),
        &body("scf.if %d -> i32 { scf.yield %c : i32 } else { scf.yield %e : i32 }"),
    );
}

#[test]
fn a_remainder_of_poison_is_not_zero() {
    let types = ["%x: index, %k: index, %a: memref<8xindex>", "index"];
    let body = |end: &str| format!("{POISON}\n{end}\nreturn %r : index");
    for end in [
        "%r = affine.apply affine_map<(d0) -> (d0 mod 1)>(%p)",
        "%r = arith.remsi %p, %c1 : index",
        "%c3 = arith.constant 3 : index
         %c4 = arith.constant 4 : index
         %q = arith.andi %p, %c3 : index
         %r = arith.divsi %q, %c4 : index",
    ] {
        refused(types, &body("%r = arith.constant 0 : index"), &body(end));
    }
}

#[test]
fn bounds_sizes_and_subscripts_are_no_poison() {
    let types = ["%x: index, %k: index, %a: memref<8xindex>, %b: memref<4xindex>", ""];
    let mask = "%c3 = arith.constant 3 : index
         %q = arith.andi %p, %c3 : index";
    for end in [
        "scf.for %i = %c0 to %p step %c1 { %z = arith.addi %i, %i : index }",
        "%z = memref.load %b[%q] : memref<4xindex>",
        "%z = memref.alloc(%q) : memref<?xindex>
         memref.dealloc %z : memref<?xindex>",
    ] {
        refused(types, POISON, &format!("{POISON}\n{mask}\n{end}"));
    }
}

#[test]
fn flags_of_what_nobody_uses_say_nothing() {
    let unused = "%big = arith.constant 100 : i32
         %small = arith.constant -100 : i32
         %d = arith.addi %n, %n overflow<nsw> : i32
         %e = arith.maxsi %d, %big : i32
         %g = arith.minsi %d, %small : i32";
    refused(
        ["%n: i32", "i64"],
        &format!(
            "{unused}
             %s = arith.addi %n, %n : i32
             %w = arith.extsi %s : i32 to i64
             return %w : i64"
        ),
        "%m = arith.extsi %n : i32 to i64
         %w = arith.addi %m, %m : i64
         return %w : i64",
    );
}

#[test]
fn iterations_at_once_that_write_one_element() {
    // Two writes race, though both write the same value.
    refused(
        ["%a: memref<16xf32>, %x: f32", ""],
        "memref.store %x, %a[%c0] : memref<16xf32>",
        "scf.parallel (%i) = (%c0) to (%c16) step (%c1) { memref.store %x, %a[%c0] : memref<16xf32> }",
    );
}

#[test]
fn an_iteration_at_once_frees_what_others_read() {
    let body = "%e = arith.cmpi eq, %i, %c1 : index
        scf.if %e { memref.dealloc %t : memref<16xf32> }
        %f = arith.cmpi slt, %i, %c1 : index
        scf.if %f { %v = memref.load %t[%c0] : memref<16xf32>
        memref.store %v, %a[%i] : memref<16xf32> }";
    let made = "%t = memref.alloc() : memref<16xf32>
        memref.store %x, %t[%c0] : memref<16xf32>";
    refused(
        ["%a: memref<16xf32>, %x: f32", ""],
        &format!("{made}\nscf.for %i = %c0 to %c16 step %c1 {{ {body} }}"),
        &format!("{made}\nscf.parallel (%i) = (%c0) to (%c16) step (%c1) {{ {body} }}"),
    );
}

#[test]
fn a_loop_ends_beyond_its_type() {
    refused(
        ["%a: memref<16xf32>, %x: f32", ""],
        "memref.store %x, %a[%c0] : memref<16xf32>",
        "%l = arith.constant 100 : i8
         %u = arith.constant 120 : i8
         %s = arith.constant 28 : i8
         scf.for %i = %l to %u step %s : i8 { memref.store %x, %a[%c0] : memref<16xf32> }",
    );
}
