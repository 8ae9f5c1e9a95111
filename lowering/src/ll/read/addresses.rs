//! The blocks whose address is taken, with their tags.
//!
//! An address of a block may be used before its function is read, and in other functions. So all of
//! them are found first. The tags of a function count its blocks in the order of their first
//! address in the text. Linear in the tokens.

use hashbrown::HashMap;

use super::lexer::{Kind, Token, name};

/// The tags of blocks, by function and block.
#[derive(Default, Debug)]
pub(in crate::ll) struct TakenBlocks(HashMap<String, HashMap<String, i64>>);

impl TakenBlocks {
    /// Finds all `blockaddress(@f, %block)`.
    pub(super) fn of(source: &str, tokens: &[Token]) -> TakenBlocks {
        let mut taken = TakenBlocks::default();
        let text = |at: usize| &source[tokens[at].start as usize..tokens[at].end as usize];
        for at in 0..tokens.len().saturating_sub(4) {
            let kinds = [Kind::Word, Kind::Sign, Kind::Global, Kind::Sign, Kind::Local];
            let is_address = kinds.iter().zip(&tokens[at..]).all(|(kind, token)| *kind == token.kind)
                && text(at) == "blockaddress";
            if is_address {
                let blocks = taken.0.entry(name(text(at + 2))).or_default();
                let next = blocks.len() as i64;
                blocks.entry(name(text(at + 4))).or_insert(next);
            }
        }
        taken
    }

    /// Returns the tag of a block.
    pub(super) fn tag(&self, function: &str, block: &str) -> Option<i64> {
        self.0.get(function)?.get(block).copied()
    }

    /// Returns the blocks of a function and their tags, by tag.
    pub(super) fn in_function(&self, function: &str) -> Vec<(i64, &str)> {
        let blocks = self.0.get(function).into_iter().flatten();
        let mut blocks: Vec<(i64, &str)> = blocks.map(|(block, tag)| (*tag, &**block)).collect();
        blocks.sort_unstable();
        blocks
    }

    /// Returns all blocks: function, tag and name.
    pub(in crate::ll) fn all(&self) -> impl Iterator<Item = (&str, i64, &str)> {
        self.0.iter().flat_map(|(function, blocks)| {
            blocks.iter().map(move |(block, tag)| (&**function, *tag, &**block))
        })
    }
}
