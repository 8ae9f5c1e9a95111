//! The blocks of a module that are raised to trees.

use loomir::ir::{Block, Body};

/// Calls `f` with every block with a terminator of the functions of a module.
pub fn each_block(module: &mut Body, f: &mut dyn FnMut(&mut Body, Block)) {
    module.for_each_body(&mut |body| {
        let blocks: Vec<Block> = body
            .own_regions(body.root())
            .flat_map(|region| body.blocks(region).collect::<Vec<_>>())
            .filter(|block| body.terminator(*block).is_some())
            .collect();
        for block in blocks {
            f(body, block);
        }
    });
}
