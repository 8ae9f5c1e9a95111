//! Chooses the nests to tile by sizes that are values, and asks the judge.

use loomir_ir::{Block, Body, Diagnostic, Diagnostics, Op};
use loomir_polyhedra::Limits;

use super::{PASS, Size, WHAT, write};
use crate::access::Analyses;
use crate::access::base::AliasMode;
use crate::legality::{Checker, Permutable};
use crate::remark::Remarks;
use crate::transform::LoopRef;
use crate::tree::TreeStore;
use crate::tree::raise::{raise_by, roots};

/// Tiles the perfect nests of a function. Returns a remark for each. The result is well formed if
/// `body` was, and computes the same.
pub fn tile_by(body: &mut Body, sizes: &[Size], basis: (&Analyses, AliasMode)) -> Diagnostics {
    let mut remarks = Diagnostics::default();
    for block in roots(body, basis.0).into_iter().rev() {
        let (plans, missed) = plans(body, block, (None, sizes), basis);
        for (nest, permutable) in plans {
            let texts: Vec<String> = sizes.iter().map(|size| size.text(body)).collect();
            let text = format!("Loops tiled by {}", texts.join(" x "));
            remarks.push(Remarks { body, pass: PASS.name }.passed("TiledBy", body.loc(nest[0]), &text));
            write::tiles(body, &nest, sizes, &permutable);
        }
        remarks.append(missed);
    }
    remarks
}

/// Tiles the perfect nest whose outermost loop is `outermost`. Returns the loops over tiles and
/// those inside a tile.
///
/// # Errors
///
/// A remark that says why not.
pub fn tile_nest(
    body: &mut Body,
    outermost: Op,
    sizes: &[Size],
    basis: (&Analyses, AliasMode),
) -> Result<Vec<Op>, Diagnostic> {
    for block in roots(body, basis.0) {
        let (plans, missed) = plans(body, block, (Some(outermost), sizes), basis);
        if let Some((nest, permutable)) = plans.first() {
            let mut loops = write::tiles(body, nest, sizes, permutable);
            loops.extend(&nest[..sizes.len()]);
            return Ok(loops);
        }
        if let Some(why) = missed.into_iter().next() {
            return Err(why);
        }
    }
    let remarks = Remarks { body, pass: PASS.name };
    Err(remarks.missed("NotTiledBy", body.loc(outermost), WHAT, "it is no loop of a tree"))
}

/// A perfect nest.
struct Nest {
    place: Box<[usize]>,
    loops: Vec<Op>,
    /// The reason why it cannot be tiled, if it is not about dependences.
    obstacle: Option<&'static str>,
}

impl Nest {
    fn of(outermost: &LoopRef<'_>, sizes: &[Size]) -> Nest {
        let (place, loops) = (outermost.place().into(), outermost.nest_ops().collect());
        Nest { place, loops, obstacle: write::obstacle(outermost, sizes) }
    }
}

/// Returns the loops of the nests that may be tiled, and remarks about the others. If `only` is
/// set, it is the outermost loop of the only nest.
fn plans(
    body: &Body,
    block: Block,
    (only, sizes): (Option<Op>, &[Size]),
    (analyses, alias): (&Analyses, AliasMode),
) -> (Vec<(Vec<Op>, Permutable)>, Diagnostics) {
    const LIMITS: Limits = Limits::steps(10_000_000);
    let (mut plans, mut missed) = (Vec::new(), Diagnostics::default());
    let mut trees = TreeStore::default();
    let program = raise_by(analyses, body, block, &mut trees, alias);
    let checker = Checker::new(body, &program, alias, LIMITS).with_dependence(&*analyses.dependence);
    let tiled: Vec<usize> = (0..sizes.len()).filter(|at| sizes[*at] != Size::Number(0)).collect();
    let nests: Vec<Nest> = {
        let all = &mut LoopRef::all(body, &program, &trees);
        let targets: Vec<LoopRef<'_>> = match only {
            Some(op) => all.filter(|own| own.op() == op).collect(),
            None => LoopRef::nests(all).collect(),
        };
        targets.iter().map(|own| Nest::of(own, sizes)).collect()
    };
    let remarks = Remarks { body, pass: PASS.name };
    for Nest { place, loops, obstacle } in nests {
        let remark = |why| remarks.missed("NotTiledBy", body.loc(loops[0]), WHAT, why);
        if let Some(why) = obstacle {
            missed.push(remark(why));
            continue;
        }
        match checker.permutable(&mut trees, (&place, loops.len()), &tiled) {
            Ok(permutable) => plans.push((loops, permutable)),
            Err(None) => missed.push(remark("the bounds of a loop depend on another loop of the nest")),
            Err(Some(verdict)) => {
                let why = "tiles of some sizes would not keep a dependence";
                missed.push(verdict.explain(body, remark(why), "tiled"));
            }
        }
    }
    (plans, missed)
}
