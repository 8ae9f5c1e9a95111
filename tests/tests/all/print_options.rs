//! Printing options shared with `mlir-opt` 22: the same program, the same text.

use loomir::ir::text::{self, PrintOptions};
use loomir_tests::peers::Peer;

const PROGRAM: &str = r#"
func.func @names(%m: memref<4x4xf32, strided<[?, 1], offset: ?>> loc("m"), %n: index loc("n"("x":1:1))) -> index {
  %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<4x4xf32, strided<[?, 1], offset: ?>>
    -> memref<f32>, index, index, index, index, index loc("meta")
  %c = arith.constant 5 : index loc("five 5")
  %d = arith.constant 6 : index loc("five 5")
  %e = arith.constant 6 : index loc("")
  %g = arith.addi %c, %d : index loc("9e'")
  scf.for %i = %n to %n step %n {
    %x = arith.constant 1.0 : f32 loc(callsite("callee" at "caller"))
    affine.for %j loc("jay") = 0 to 4 {
      affine.store %x, %m[%j, %j] : memref<4x4xf32, strided<[?, 1], offset: ?>>
    }
  }
  %y = arith.constant 1.0 : f32 loc(fused<"meta">["z":1:1, "nn"("deep")])
  cf.br ^a(%c : index)
^a(%q: index loc("blk")):
  return %o : index
}
func.func @data(%a: i32 loc("arg0")) {
  %0 = arith.constant dense<[1, 2, 3]> : tensor<3xi8>
  %1 = arith.constant dense<7> : tensor<100xi8>
  %2 = arith.constant sparse<[[0], [1], [2]], [1, 2, 3]> : tensor<4xi8>
  %3 = arith.constant dense_resource<long> : tensor<6xi8>
  %4 = arith.constant dense_resource<short> : tensor<1xi8>
  %5:2 = "t.two"() ({
  ^bb0(%p: i32):
    %6 = "t.one"() : () -> i32 loc(fused<loc("metadata")>["f":1:2])
  }, {
  }) {v = array<i8: 1, 2, 3>} : () -> (i32, i32) loc("pair")
  return
}
{-#
  dialect_resources: {
    builtin: {
      long: "0x08000000010203040506",
      short: "0x0800000001"
    }
  }
#-}
"#;

#[test]
fn every_way_to_print() {
    let plain = PrintOptions::default;
    let ways: Vec<(&str, PrintOptions)> = vec![
        ("--mlir-print-unique-ssa-ids", PrintOptions { unique_ssa_ids: true, ..plain() }),
        ("--mlir-use-nameloc-as-prefix", PrintOptions { nameloc_as_prefix: true, ..plain() }),
        (
            "--mlir-use-nameloc-as-prefix --mlir-print-op-generic",
            PrintOptions { nameloc_as_prefix: true, generic: true, ..plain() },
        ),
        (
            "--mlir-use-nameloc-as-prefix --mlir-print-unique-ssa-ids",
            PrintOptions { nameloc_as_prefix: true, unique_ssa_ids: true, ..plain() },
        ),
        ("--mlir-print-skip-regions", PrintOptions { skip_regions: true, ..plain() }),
        (
            "--mlir-print-skip-regions --mlir-print-op-generic",
            PrintOptions { skip_regions: true, generic: true, ..plain() },
        ),
        ("--mlir-print-local-scope", PrintOptions { local_scope: true, ..plain() }),
        (
            "--mlir-print-local-scope --mlir-print-debuginfo",
            PrintOptions { local_scope: true, debug_info: true, ..plain() },
        ),
        ("--mlir-print-debuginfo", PrintOptions { debug_info: true, ..plain() }),
        (
            "--mlir-elide-elementsattrs-if-larger=2",
            PrintOptions { elide_elements_larger_than: Some(2), ..plain() },
        ),
        (
            "--mlir-elide-elementsattrs-if-larger=3",
            PrintOptions { elide_elements_larger_than: Some(3), ..plain() },
        ),
        (
            "--mlir-elide-resource-strings-if-larger=15",
            PrintOptions { elide_resources_longer_than: Some(15), ..plain() },
        ),
    ];
    let ctx = loomir::dialects::context();
    let body = text::parse(&ctx, PROGRAM, "<stdin>").map_err(|d| d.to_text(&ctx)).expect("it reads");
    let mut report = String::new();
    for (names, options) in ways {
        let ours = text::print(&body, &options);
        if let Some(peer) = Peer::find("mlir-opt") {
            let mut arguments = vec!["--allow-unregistered-dialect"];
            arguments.extend(names.split(' '));
            let theirs = peer.run(PROGRAM, &arguments).expect("mlir-opt accepts it");
            assert_eq!(ours.trim_end(), theirs.trim_end(), "{names}");
        }
        report.push_str(&format!("== {names}\n{ours}\n"));
    }
    insta::assert_snapshot!(report);
}
