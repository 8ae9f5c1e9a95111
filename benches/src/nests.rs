//! Programs of many loop nests, and the cost of proposing and judging edits of them.

use std::fmt::Write;
use std::time::{Duration, Instant};

use loomir::AliasMode;
use loomir::ir::{Body, text};
use loomir::transforms::affine::AffineForm;
use loomir::transforms::legality::{Checker, Verdict};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Change, Green, Node, Separation, TreeStore};

/// The arrays that all nests share.
const ARRAYS: usize = 8;

/// The outcome of judged edits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Judged {
    /// The time for raising the program, for the edits, and for the judge.
    pub time: Duration,
    /// The edits that are possible.
    pub edits: usize,
    /// The legal edits.
    pub legal: usize,
    /// The edits that are illegal for certain.
    pub illegal: usize,
}

/// Returns a function of nests over shared arrays: products of matrices, stencils, transpositions
/// and triangles, in turn.
///
/// # Panics
/// If the program is not well formed: a defect.
pub fn function(nests: usize) -> Body {
    let arguments: Vec<String> = (0..ARRAYS).map(|a| format!("%a{a}: memref<64x64xf64>")).collect();
    let mut source = format!("func.func @nests({}) {{\n", arguments.join(", "));
    for nest in 0..nests {
        let [a, b, c] = [0, 3, 5].map(|more| (nest / 4 + more) % ARRAYS);
        let at = |value: &str, array: usize, subscripts: &str| {
            format!("{value} = affine.load %a{array}[{subscripts}] : memref<64x64xf64>\n")
        };
        let (loops, body, subscripts) = match nest % 4 {
            0 => (
                ["0 to 64", "0 to 64", "0 to 64"],
                at("%x", a, "%i, %k") + &at("%y", b, "%k, %j") + &at("%z", c, "%i, %j"),
                "%i, %j",
            ),
            1 => (
                ["1 to 63", "1 to 63", ""],
                at("%x", c, "%i - 1, %j + 1") + &at("%y", c, "%i, %j - 1") + &at("%z", b, "%i, %j"),
                "%i, %j",
            ),
            2 => (
                ["0 to 64", "0 to 64", ""],
                at("%x", a, "%j, %i") + &at("%y", b, "%i, %j") + &at("%z", b, "%j, %i"),
                "%i, %j",
            ),
            _ => (
                ["0 to 64", "0 to affine_map<(d) -> (d)>(%i)", ""],
                at("%x", a, "%i, %j") + &at("%y", c, "%j, %i") + &at("%z", b, "%i, %i"),
                "%i, %j",
            ),
        };
        let loops = loops.into_iter().zip(["%i", "%j", "%k"]).filter(|(bounds, _)| !bounds.is_empty());
        let depth = loops.clone().count();
        loops.for_each(|(bounds, name)| _ = writeln!(source, "affine.for {name} = {bounds} {{"));
        let _ = write!(
            source,
            "{body}%p = arith.mulf %x, %y : f64\n%s = arith.addf %p, %z : f64\n\
             affine.store %s, %a{c}[{subscripts}] : memref<64x64xf64>\n{}",
            "}\n".repeat(depth)
        );
    }
    source += "return\n}\n";
    let ctx = loomir::context();
    let mut module = text::parse(&ctx, &source, "nests.mlir").expect("the program is well formed");
    let bodies = module.nested_in_order();
    bodies.first().map(|body| body.duplicate()).expect("there is a function")
}

/// Proposes `count` edits of a function of nests, one of each kind in turn, and judges each by
/// itself.
///
/// # Panics
/// If the function has no block.
pub fn judge(function: &Body, count: usize) -> Judged {
    let start = Instant::now();
    let mut trees = TreeStore::default();
    let block = function.entry_block(function.region(function.root(), 0)).expect("a function has a block");
    let program = raise(function, block, &mut trees, AliasMode::Distinct);
    let checker = Checker::new(function, &program, AliasMode::Distinct, Default::default());
    let items: Vec<Green> = trees.items(program.root).collect();
    let is_loop = |at: &usize| matches!(trees.get(items[*at]), Node::Loop { .. });
    let nests: Vec<usize> = (0..items.len()).filter(is_loop).collect();
    let mut judged = Judged::default();
    for number in 0..count {
        let at = nests[number * 7 % nests.len()];
        let change = match number % 11 {
            0 => Change::Reverse,
            1 => Change::Permute { order: Box::new([1, 0]) },
            2 => Change::Tile { sizes: Box::new([16, 16]), separate: Separation::Nowhere },
            3 => Change::StripMine { size: 8 },
            4 => Change::Unroll { count: 4 },
            5 => Change::UnrollAndJam { count: 2 },
            6 => Change::Peel { first: 1, last: 1 },
            7 => Change::Fuse { shift: 0 },
            8 => Change::Skew { by: 1 },
            9 => Change::SplitRange { at: AffineForm::constant(20) },
            _ => Change::Move { to: at + 1 },
        };
        let Some(tree) = change.at([at]).apply(&program, &mut trees, program.root) else { continue };
        judged.edits += 1;
        match checker.check(&mut trees, tree) {
            Verdict::Legal { .. } => judged.legal += 1,
            Verdict::Illegal(_) => judged.illegal += 1,
            _ => {}
        }
    }
    judged.time = start.elapsed();
    judged
}
