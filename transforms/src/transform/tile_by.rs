//! Tiling by values: runs a perfect nest in tiles whose sizes are known when the program runs.
//!
//! A size is an argument of the function, or a number. `for i in 0..n` becomes a loop over tiles,
//! `for b in 0..⌈n / s⌉`, and `for i in b·s..min(b·s + s, n)`. The loops over tiles move outside.
//! One compiled function can be tried with many sizes, or be called with one that fits a machine.
//!
//! It is legal if and only if each tiled loop may run as the outermost loop of the nest: no
//! dependence is negative in it. Then tiles of all sizes are legal. [Tiling](super::tile) by a
//! number may be legal where this is not, for that number alone.
//!
//! A size below 1 counts as 1, and one above the trip count as the trip count. A comparison before
//! the nest ensures that, so that no size makes a step of zero, and no bound can overflow.
//!
//! Reference: Hartono, Baskaran, Bastoul, Cohen, Krishnamoorthy, Norris, Ramanujam and Sadayappan,
//! *Parametric Multi-Level Tiling of Imperfectly Nested Loops*, ICS 2009.
//!
//! **Cost.** One judgement for each tiled loop.
//!
//! # Limits
//!
//! - A loop begins at a constant that is not negative, and its end is a value computed before the
//!   nest. So each tile is a box, and no bound overflows.
//!
//! **Not in `affine`.** The first iteration of a tile is the product of a variable and a size. That
//! is not affine. `lower-affine` makes such loops `scf.for`.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>, %x: f32, %s: index) {
//!   %c0 = arith.constant 0 : index
//!   %c1 = arith.constant 1 : index
//!   %c8 = arith.constant 8 : index
//!   scf.for %i = %c0 to %c8 step %c1 {
//!     scf.for %j = %c0 to %c8 step %c1 {
//!       memref.store %x, %a[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-tile-by=sizes=arg2,4 --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --arg=2 --order=images/tile-by-0.svg
//! $ loomir run new.mlir --entry=f --arg=zeros --arg=1 --arg=3 --order=images/tile-by-1.svg
//! ```
//!
//! The order of stores with tiles of 2 by 4, and of 3 by 4:
//!
//! ![The order of stores with tiles of 2 by 4](images/tile-by-0.svg)
//! ![The order of stores with tiles of 3 by 4](images/tile-by-1.svg)

use loomir_ir::pass::{Pass, PassContext, PassInfo, Survey};
use loomir_ir::{Body, Diagnostics, Value, ValueDef};

use crate::access::base::AliasMode;
use crate::access::callees::Callees;
use crate::access::{Analyses, survey};
use crate::naming::called;
use crate::remark::Remarks;

mod plan;
mod write;

pub use plan::{tile_by, tile_nest};

/// The pass `loop-tile-by` on `func.func`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-tile-by",
    anchor: Some("func.func"),
    summary: "Tile perfect nests by sizes that are arguments of the function",
    options: &[
        AliasMode::UNTESTED,
        (
            "sizes",
            "",
            "the size for each loop, the outermost first, as arg2,8,0: argument 2, 8 iterations, and whole",
        ),
    ],
    make: |options| {
        let alias = AliasMode::untested_of(options)?;
        let texts = options.get("sizes").unwrap_or_default().split(',').filter(|text| !text.is_empty());
        let sizes: Vec<Given> = texts.map(Given::read).collect::<Result<_, _>>()?;
        match sizes.iter().all(|size| matches!(size, Given::Number(0))) {
            true => Err("no loop has a size; 'sizes' are such as arg2,8,0".to_owned()),
            false => Ok(Box::new(TileBy { sizes, alias })),
        }
    },
};

/// A size as an option of the pass.
enum Given {
    Argument(usize),
    Number(i64),
}

impl Given {
    fn read(text: &str) -> Result<Given, String> {
        let text = text.trim();
        let argument = text.strip_prefix("arg").and_then(|number| number.parse().ok());
        let number = text.parse().ok().filter(|number| *number >= 0);
        let given = argument.map(Given::Argument).or(number.map(Given::Number));
        given.ok_or_else(|| format!("'{text}' is no size of a tile; 'sizes' are such as arg2,8,0"))
    }
}

/// The size of the tiles in one loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A number. 0 leaves the loop whole.
    Number(i64),
    /// A value of the function.
    Value(Value),
}

impl Size {
    fn text(self, body: &Body) -> String {
        match self {
            Size::Number(number) => number.to_string(),
            Size::Value(value) => match body.def(value) {
                ValueDef::BlockArgument { index, .. } => format!("arg{index}"),
                ValueDef::OpResult { .. } => called(body, value),
            },
        }
    }
}

/// The text of a remark about loops that stay, before the reason.
const WHAT: &str = "Loops not tiled";

struct TileBy {
    sizes: Vec<Given>,
    alias: AliasMode,
}

impl Pass for TileBy {
    fn name(&self) -> &str {
        PASS.name
    }

    fn surveys(&self) -> &[&'static Survey] {
        survey::SURVEYS
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let analyses = Analyses::default().with_callees(&Callees::around(cx.surveys));
        let Some(entry) = body.entry_block(body.region(body.root(), 0)) else { return Ok(()) };
        let value = |given: &Given| match given {
            Given::Number(number) => Some(Size::Number(*number)),
            Given::Argument(at) => body.arguments(entry).nth(*at).map(Size::Value),
        };
        let Some(sizes) = self.sizes.iter().map(value).collect::<Option<Vec<_>>>() else {
            let remarks = Remarks { body, pass: PASS.name };
            let why = "the function has fewer arguments than 'sizes' ask for";
            cx.remark(remarks.missed("NotTiledBy", body.loc(body.root()), WHAT, why));
            return Ok(());
        };
        tile_by(body, &sizes, (&analyses, self.alias)).into_iter().for_each(|remark| cx.remark(remark));
        Ok(())
    }
}
