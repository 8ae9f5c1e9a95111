//! Interchange: runs the loops of a perfect nest in the order that is estimated to be fastest.
//!
//! All orders of up to four loops are proposed; of a deeper nest those with another loop innermost.
//! The [cost](crate::cost) of a nest chooses: neighbouring elements in neighbouring iterations of
//! the innermost loop, vector instructions, and lines that stay in a cache. `i, j, k` of a matrix
//! product becomes `i, k, j`.
//!
//! Reference: Allen and Kennedy, *Optimizing Compilers for Modern Architectures*, §5.2 and §9.2.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>, %x: f32) {
//!   affine.for %i = 0 to 8 {
//!     affine.for %j = 0 to 8 {
//!       affine.store %x, %a[%j, %i] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-interchange --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=zeros --arg=1 --order=images/interchange-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --order=images/interchange-1.svg
//! ```
//!
//! The order of stores, before and after:
//!
//! ![The order of stores before](images/interchange-0.svg)
//! ![The order of stores after](images/interchange-1.svg)
//!
//! If bounds of an inner loop depend on an outer one, they change places too: a lower triangle by
//! columns becomes a lower triangle by rows. Where two arguments may overlap, the pass says which
//! two iterations would swap if they did:
//!
//! ```mlir
//! func.func @product(%a: memref<64x64xf64>, %b: memref<64x64xf64>, %c: memref<64x64xf64>) {
//!   affine.for %i = 0 to 64 {
//!     affine.for %j = 0 to 64 {
//!       affine.for %k = 0 to 64 {
//!         %x = affine.load %a[%i, %k] : memref<64x64xf64>
//!         %y = affine.load %b[%k, %j] : memref<64x64xf64>
//!         %z = affine.load %c[%i, %j] : memref<64x64xf64>
//!         %m = arith.mulf %x, %y : f64
//!         %s = arith.addf %z, %m : f64
//!         affine.store %s, %c[%i, %j] : memref<64x64xf64>
//!       }
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt --remarks=text other.mlir --loop-interchange=alias=distinct -o fast.mlir
//! $ loomir opt --remarks=text other.mlir --loop-interchange -o same.mlir
//! ```
//!
//! Each element of `c` still adds its products in the order of `k`, so the result is the same, bit
//! for bit.

use loomir_ir::pass::Options;
use loomir_ir::{Diagnostic, Loc};

use super::{Info, LoopRef, Proposals, Transformation};
use crate::access::base::AliasMode;
use crate::remark::Remarks;
use crate::tree::Change;

/// The most loops all of whose orders are compared.
const MAX_PERMUTED: usize = 4;

/// Proposes other orders of the loops of perfect nests.
pub struct Interchange;

impl Transformation for Interchange {
    const INFO: Info = Info {
        name: "loop-interchange",
        source: include_str!("interchange.rs"),
        summary: "Run the loops of perfect nests in the fastest order",
        options: &[AliasMode::UNTESTED],
        samples: &[""],
        passed: "Interchanged",
        missed: "NotInterchanged",
        what_missed: "Loops not interchanged",
        then: "interchanged",
    };

    fn of(_: &Options) -> Result<Interchange, String> {
        Ok(Interchange)
    }

    fn propose(&self, loops: &mut dyn Iterator<Item = LoopRef<'_>>, out: &mut Proposals) {
        for target in LoopRef::nests(loops) {
            let depth = target.nest_depth();
            if depth == 1 {
                if !target.is_innermost() {
                    out.missed(&target, "it is no perfect nest: something stands beside its inner loop");
                }
            } else if target.nest_carries_values() {
                out.missed(&target, "a loop of the nest carries values from one iteration to the next");
            } else if target.nest_is_parallel() {
                out.missed(&target, "a loop of the nest is parallel, and would become sequential");
            } else {
                let permute = |order: Vec<usize>| Change::Permute { order: order.into() };
                out.cheapest(&target, orders(depth).into_iter().map(permute));
            }
        }
    }

    fn remark(&self, remarks: Remarks<'_>, loc: Loc, change: &Change) -> Diagnostic {
        let Change::Permute { order } = change else {
            return remarks.passed(Self::INFO.passed, loc, "Loops interchanged");
        };
        let order: Vec<String> = order.iter().map(|own| (own + 1).to_string()).collect();
        let text = format!("Loops interchanged: their order is now {}", order.join(", "));
        remarks.passed(Self::INFO.passed, loc, &text)
    }
}

/// Returns the orders of the loops of a nest that are worth a comparison, without the present one.
fn orders(depth: usize) -> Vec<Vec<usize>> {
    let present: Vec<usize> = (0..depth).collect();
    if depth > MAX_PERMUTED {
        let with_innermost = |last: usize| {
            let others = present.iter().copied().filter(|own| *own != last);
            others.chain([last]).collect()
        };
        return (0..depth - 1).map(with_innermost).collect();
    }
    let mut all: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..depth {
        let longer = |order: &Vec<usize>| {
            let left: Vec<usize> = present.iter().copied().filter(|own| !order.contains(own)).collect();
            let order = order.clone();
            left.into_iter().map(move |next| [&order[..], &[next]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all.retain(|order| *order != present);
    all
}
