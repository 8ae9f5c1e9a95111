//! Values that may be poison, promises that only the second program makes, and memory that only it
//! writes: nothing wrong is proved about them.

use crate::support::{parse, prove_named, told};
use loomir_check::proof::ProofOptions;

/// Says what comes of a proof about `@f` of two programs.
fn answer(before: &str, after: &str) -> String {
    let ctx = loomir_dialects::context();
    let (before, after) = (parse(&ctx, before), parse(&ctx, after));
    let proof = prove_named(&before, &after, "f", &ProofOptions::default()).expect("both functions");
    told(&ctx, &proof)
}

/// Refuses a pair.
fn refused(before: &str, after: &str) {
    let said = answer(before, after);
    assert!(said.starts_with("undecided"), "{said}\n{after}");
}

/// A function of `%a`, `%b`, `%x`, `%y` and `%p` with a shift and a comparison that may be poison,
/// and another line in front of its return.
fn of_numbers(line: &str, result: &str) -> String {
    format!(
        "llvm.func @f(%a: i32, %b: i32, %x: f32, %y: f32, %p: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.mlir.constant(1 : i32) : i32
  %s = llvm.shl %a, %b : i32
  %c = llvm.fcmp \"olt\" %x, %y {{fastmathFlags = #llvm.fastmath<nnan>}} : f32
  %v = llvm.load %p {{alignment = 4 : i64}} : !llvm.ptr -> i32
  {line}
  llvm.return %{result} : i32
}}"
    )
}

#[test]
fn branches_on_poison() {
    let select = of_numbers("%r = llvm.select %c, %a, %b : i1, i32", "r");
    let branch = of_numbers("llvm.cond_br %c, ^end(%a : i32), ^end(%b : i32)\n^end(%r: i32):", "r");
    refused(&select, &branch);
    assert_eq!(answer(&branch, &select), "equal");
}

#[test]
fn choices_by_poison() {
    let plain = of_numbers("", "a");
    for line in [
        "%r = llvm.select %c, %a, %a : i1, i32",
        "%d = llvm.icmp \"slt\" %s, %one : i32\n  %r = llvm.select %d, %a, %a : i1, i32",
        "%w = llvm.add %v, %one overflow<nsw> : i32
  %d = llvm.icmp \"slt\" %w, %one : i32
  %r = llvm.select %d, %a, %a : i1, i32",
    ] {
        refused(&plain, &of_numbers(line, "r"));
        // A choice by the same condition is poison in both.
        assert_eq!(answer(&of_numbers(line, "r"), &of_numbers(line, "r")), "equal");
        assert_eq!(answer(&of_numbers(line, "r"), &plain), "equal");
    }
    // No number that is shown not to wrap is poison.
    let low = "%k = llvm.and %a, %one : i32
  %w = llvm.add %k, %one overflow<nsw, nuw> : i32
  %d = llvm.icmp \"slt\" %w, %b : i32
  %r = llvm.select %d, %a, %a : i1, i32";
    assert_eq!(answer(&plain, &of_numbers(low, "r")), "equal");
}

#[test]
fn poison_that_is_forgotten() {
    let plain = of_numbers("", "zero");
    for line in [
        "%r = llvm.srem %s, %one : i32",
        "%t = llvm.xor %s, %a : i32\n  %r = llvm.sub %t, %t : i32",
        "%t = llvm.intr.smin(%s, %a) : (i32, i32) -> i32\n  %r = llvm.sub %t, %t : i32",
        "%t = llvm.mul %s, %a : i32\n  %r = llvm.sub %t, %t : i32",
        "llvm.br ^next(%s : i32)
^next(%t: i32):
  %u = llvm.freeze %t : i32
  %w = llvm.freeze %t : i32
  %r = llvm.sub %u, %w : i32",
    ] {
        refused(&plain, &of_numbers(line, "r"));
    }
}

#[test]
fn poison_that_is_frozen() {
    let frozen = of_numbers("%r = llvm.freeze %s : i32", "r");
    let plain = of_numbers("", "s");
    refused(&frozen, &plain);
    // A sum that overflows is any number once it is frozen, so nothing is known of it.
    let sum = |result: &str| {
        let line = "%w = llvm.add %a, %one overflow<nsw> : i32
  %u = llvm.freeze %w : i32
  %d = llvm.icmp \"slt\" %a, %u : i32
  %r = llvm.zext %d : i1 to i32";
        of_numbers(line, result)
    };
    refused(&sum("r"), &sum("one"));
}

#[test]
fn flags_of_the_second_program() {
    let select = of_numbers("%q = llvm.select %c, %x, %y : i1, f32", "a").replace("-> i32", "-> f32");
    let select = select.replace("return %a : i32", "return %q : f32");
    let select = select.replace(" {fastmathFlags = #llvm.fastmath<nnan>}", "");
    assert_eq!(answer(&select, &select), "equal");
    let free = select.replace("%x, %y : i1", "%x, %y {fastmathFlags = #llvm.fastmath<nsz>} : i1");
    assert_ne!(free, select);
    refused(&select, &free);
    let compared = |flag: &str| {
        let line = format!("%d = llvm.icmp \"ult\" %a, %b{flag} : i32\n  %r = llvm.zext %d : i1 to i32");
        of_numbers(&line, "r")
    };
    refused(&compared(""), &compared(" {llvm.samesign}"));
}

/// A function of a buffer that stores, with lines in front and behind.
fn of_buffer(front: &str, line: &str, module: &str) -> String {
    format!(
        "{module}
func.func @f(%a: index, %b: index, %x: i32, %y: i32, %c: i1, %m: memref<4xi32>) {front} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %k = arith.constant 5 : i32
  %s = arith.shli %a, %b : index
  %t = arith.shli %x, %y : i32
  %d = arith.cmpi slt, %t, %k : i32
  memref.store %k, %m[%zero] : memref<4xi32>
  {line}
  return
}}"
    )
}

#[test]
fn poison_in_structured_control() {
    let store = "memref.store %k, %m[%zero] : memref<4xi32>";
    let plain = of_buffer("", &format!("scf.if %c {{\n{store}\n}}"), "");
    for line in [
        // The original branches, but on something else.
        format!("scf.if %c {{\nscf.if %d {{\n{store}\n}} else {{\n{store}\n}}\n}}"),
        format!("scf.for %i = %zero to %s step %one {{\n{store}\n}}"),
        "%size = arith.maxsi %s, %one : index\n%n = memref.alloc(%size) : memref<?xi32>".to_string(),
    ] {
        refused(&plain, &of_buffer("", &line, ""));
    }
}

#[test]
fn promises_of_functions() {
    let plain = of_buffer("", "memref.store %k, %m[%zero] : memref<4xi32>", "");
    refused(&plain, &plain.replace("memref<4xi32>)  {", "memref<4xi32>) attributes {llvm.readnone} {"));
    let callee = |promise: &str| {
        format!(
            "func.func private @g(%p: memref<4xi32>, %q: memref<4xi32>{promise}) {{
  %zero = arith.constant 0 : index
  %k = arith.constant 5 : i32
  memref.store %k, %p[%zero] : memref<4xi32>
  memref.store %k, %q[%zero] : memref<4xi32>
  return
}}"
        )
    };
    let call = "func.call @g(%m, %m) : (memref<4xi32>, memref<4xi32>) -> ()";
    assert_eq!(answer(&plain, &of_buffer("", call, &callee(""))), "equal");
    refused(&plain, &of_buffer("", call, &callee(" {llvm.noalias}")));
}

#[test]
fn arguments_that_may_be_poison() {
    let function = |promise: &str, body: &str| {
        format!("llvm.func @f(%p: i32{promise}, %c: i1{promise}) -> i32 {{\n{body}}}")
    };
    let plain = "  llvm.return %p : i32\n";
    let frozen = "  %a = llvm.freeze %p : i32\n  llvm.return %a : i32\n";
    let selects = "  %k = llvm.mlir.constant(5 : i32) : i32
  %a = llvm.select %c, %p, %k : i1, i32
  llvm.return %a : i32\n";
    let branches = "  %k = llvm.mlir.constant(5 : i32) : i32
  llvm.cond_br %c, ^end(%p : i32), ^end(%k : i32)
^end(%a: i32):
  llvm.return %a : i32\n";
    for [before, after] in [[frozen, plain], [selects, branches]] {
        let told = |promise: &str, [before, after]: [&str; 2]| {
            answer(&function(promise, before), &function(promise, after))
        };
        assert_eq!(told(" {llvm.noundef}", [before, after]), "equal");
        assert_eq!(told("", [after, before]), "equal");
        let own = told("", [before, after]);
        assert!(own.starts_with("equal") && own.contains("arguments are not poison"), "{own}");
    }
}

#[test]
fn targets_that_differ() {
    let module = |layout: &str, triple: &str| {
        format!(
            "module attributes {{llvm.data_layout = \"{layout}\", llvm.target_triple = \"{triple}\"}} {{
  llvm.func @f(%a: i32) -> i32 {{\n    llvm.return %a : i32\n  }}
}}"
        )
    };
    let own = module("e-p:64:64", "x86_64-unknown-linux-gnu");
    assert_eq!(answer(&own, &own), "equal");
    refused(&own, &module("e-p:32:32", "x86_64-unknown-linux-gnu"));
    refused(&own, &module("e-p:64:64", "aarch64-unknown-linux-gnu"));
}

#[test]
fn metadata_of_one_number() {
    let module = |most: u32| {
        format!(
            "module attributes {{llvm.metadata = {{\"0\" = \"!{{i32 0, i32 {most}}}\"}}}} {{
  llvm.func @f(%p: !llvm.ptr) -> i32 {{
    %v = llvm.load %p {{alignment = 4 : i64, llvm.metadata = {{range = \"!0\"}}}} : !llvm.ptr -> i32
    llvm.return %v : i32
  }}
}}"
        )
    };
    assert_eq!(answer(&module(10), &module(10)), "equal");
    refused(&module(10), &module(5));
}

#[test]
fn promises_of_values_that_are_read() {
    let program = |lines: &str| {
        let lines = lines.replace("load", "llvm.load %p {alignment = 4 : i64} : !llvm.ptr -> i32").replace(
            "LOAD",
            "llvm.load %p {alignment = 4 : i64, llvm.metadata = {range = \"!0\"}} : !llvm.ptr -> i32",
        );
        format!(
            "module attributes {{llvm.metadata = {{\"0\" = \"!{{i32 0, i32 10}}\"}}}} {{
  llvm.func @f(%p: !llvm.ptr, %n: i32) -> i32 {{
    {lines}
    llvm.return %w : i32
  }}
}}"
        )
    };
    let store = "llvm.store %n, %p {alignment = 4 : i64} : i32, !llvm.ptr";
    // The original reads the element without the promise, too.
    refused(&program("%v = LOAD\n%w = load"), &program("%w = LOAD"));
    refused(&program(&format!("%v = LOAD\n{store}\n%w = load")), &program(&format!("{store}\n%w = LOAD")));
    assert_eq!(answer(&program("%w = LOAD"), &program("%v = LOAD\n%w = LOAD")), "equal");
    assert_eq!(answer(&program("%w = LOAD"), &program("%w = load")), "equal");
}

#[test]
fn shifts_that_saturate() {
    let shifted = |result: &str| {
        of_numbers(
            "%r = llvm.intr.sshl.sat(%a, %b) : (i32, i32) -> i32\n  %t = llvm.sub %r, %r : i32",
            result,
        )
    };
    refused(&shifted("zero"), &shifted("t"));
}

#[test]
fn stores_where_only_loads_were() {
    let before = "func.func @f(%m: memref<4xi32>) -> i32 {
  %c0 = arith.constant 0 : index
  %w = memref.load %m[%c0] : memref<4xi32>
  return %w : i32
}";
    let store = "memref.store %w, %m[%c0] : memref<4xi32>\n  return";
    let after = before.replace("return", store);
    // The memory may be a constant's.
    refused(before, &after);
    assert_eq!(answer(&after, &after), "equal");
    assert_eq!(answer(&after, before), "equal");
    // What the function allocates may be written.
    let of_local = |line: &str| {
        format!(
            "func.func @f(%x: i32) -> i32 {{
  %c0 = arith.constant 0 : index
  %m = memref.alloca() : memref<4xi32>
  memref.store %x, %m[%c0] : memref<4xi32>
  %w = memref.load %m[%c0] : memref<4xi32>
  {line}
  return %w : i32
}}"
        )
    };
    let local = of_local("%c1 = arith.constant 1 : index\n  memref.store %w, %m[%c1] : memref<4xi32>");
    assert_eq!(answer(&of_local(""), &local), "equal");
}
