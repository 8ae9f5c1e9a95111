//! Cost models defined outside of Loomir: trip counts and a machine.

use std::sync::Arc;

use loomir::FuseOptions;
use loomir::ir::{Body, Op};
use loomir::transforms::cost::{Cache, Cost, Machine};

/// A custom cost model: an assumed trip count for loops with an unknown one, and a machine with one
/// cache.
#[derive(Debug)]
struct Own {
    trips: f64,
    machine: Machine,
}

impl Own {
    fn new(trips: f64, cache: u64) -> Arc<Own> {
        let caches = vec![Cache { name: "only".to_owned(), bytes: cache, cycles: 0.0 }];
        Arc::new(Own { trips, machine: Machine { caches, ..Machine::default() } })
    }
}

impl Cost for Own {
    fn trips(&self, _: &Body, _: Op, known: Option<i64>) -> f64 {
        known.map_or(self.trips, |known| known as f64)
    }

    fn likelihood(&self, _: &Body, _: Op) -> f64 {
        1.0
    }

    fn machine(&self) -> &Machine {
        &self.machine
    }
}

/// Each of two nests adds up a row of its own table.
const TABLES: &str = "
func.func @f(%n: index, %f: memref<?xf32>, %g: memref<?xf32>, %a: memref<64xf32>, %b: memref<64xf32>) {
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to %n {
      %0 = affine.load %f[%j] : memref<?xf32>
      %1 = affine.load %a[%i] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %a[%i] : memref<64xf32>
    }
  }
  affine.for %i = 0 to 64 {
    affine.for %j = 0 to %n {
      %0 = affine.load %g[%j] : memref<?xf32>
      %1 = affine.load %b[%i] : memref<64xf32>
      %2 = arith.addf %0, %1 : f32
      affine.store %2, %b[%i] : memref<64xf32>
    }
  }
  return
}";

/// Returns the remark about the two nests.
fn said(cost: Arc<dyn Cost>) -> String {
    let ctx = loomir::context();
    let mut module =
        loomir::parse(&ctx, TABLES, "tables.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let report = loomir::fuse(&mut module, &FuseOptions { cost, ..FuseOptions::default() });
    report.remarks.iter().next().map(|remark| remark.message.clone()).unwrap_or_default()
}

#[test]
fn a_cost_from_outside_decides() {
    // A table of 8 KiB: two fit a cache of 16 KiB and something, but not one of 12 KiB.
    assert_eq!(said(Own::new(2048.0, 20 << 10)), "[f]: Loops fused");
    let refused = said(Own::new(2048.0, 12 << 10));
    assert!(refused.contains("[FusionNotBeneficial]"), "{refused}");
    assert!(refused.contains("more than the 12 KiB that the only cache holds"), "{refused}");
    // Rows that are short.
    assert_eq!(said(Own::new(256.0, 12 << 10)), "[f]: Loops fused");
}

#[test]
fn the_machine_and_the_counts_may_be_anything() {
    let numbers = [0.0, 1.0, 1e300, f64::INFINITY, f64::NAN, -3.0];
    for trips in numbers {
        for cache in [0, 1, u64::MAX] {
            let said = said(Own::new(trips, cache));
            assert!(said.contains("fused"), "{trips}, {cache}: {said}");
        }
    }
}
