//! The accesses through pointers in the counted loops of a function: which are affine, and why
//! others are not.
//!
//! **Cost.** That of reading the accesses once.

use loomir_ir::{Block, Body, Op};

use crate::access::base::AliasMode;
use crate::access::structure::{MAX_DEPTH, Structure};
use crate::access::{Analyses, Entered, IsAffine, NotAffine, Reader};
use crate::tree::raise::roots;

/// A load or store through a pointer in a counted loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    /// The load or store.
    pub op: Op,
    /// The innermost counted loop around.
    pub of: Op,
    /// An affine class, or the reason why it is none.
    pub is_affine: Result<IsAffine, NotAffine>,
}

/// Returns the accesses through pointers whose innermost loop counts, in the order of the text.
/// Accesses beside the loops inside an unsigned loop are left out: that loop is a statement.
pub fn accesses(body: &Body, analyses: &Analyses) -> Vec<Access> {
    let mut found = Vec::new();
    for block in roots(body, analyses) {
        let reader = Reader::new(body, block, AliasMode::May, analyses);
        let mut walk = Walk { body, analyses, reader, entered: Vec::new(), found: &mut found };
        walk.block(block, Place { of: None, depth: 0, nesting: 0 });
    }
    found
}

#[derive(Clone, Copy)]
struct Place {
    of: Option<Op>,
    /// The number of loops around.
    depth: u32,
    /// The number of loops and conditionals around.
    nesting: u32,
}

struct Walk<'a> {
    body: &'a Body,
    analyses: &'a Analyses,
    reader: Reader<'a>,
    /// The bodies of the loops around.
    entered: Vec<Block>,
    found: &'a mut Vec<Access>,
}

impl Walk<'_> {
    /// Recurses once for each loop or conditional, at most [`MAX_DEPTH`] times.
    fn block(&mut self, block: Block, place: Place) {
        let body = self.body;
        for op in body.ops(block) {
            let fits = |structure: &Structure<'_>| place.nesting + structure.levels() <= MAX_DEPTH;
            let nesting = place.nesting + 1;
            match self.analyses.structure(body, op).filter(fits) {
                Some(Structure::Loop { model, block }) => {
                    self.reader.space(op, model, place.depth);
                    self.reader.enter(block);
                    self.entered.push(block);
                    self.block(block, Place { of: Some(op), depth: place.depth + 1, nesting });
                    self.entered.pop();
                }
                Some(Structure::If { blocks, .. }) => {
                    for block in blocks.into_iter().flatten() {
                        self.reader.enter(block);
                        self.block(block, Place { nesting, ..place });
                    }
                }
                Some(Structure::Parallel { .. }) => {}
                None => {
                    let Some(of) = place.of else { continue };
                    let entered = Entered(&self.entered);
                    if let Some(is_affine) = self.reader.is_affine(op, place.depth, &entered) {
                        self.found.push(Access { op, of, is_affine });
                    }
                }
            }
        }
    }
}
