//! The counts of the fusion campaign.

use std::collections::BTreeMap;

/// The statistics of a campaign. All counts follow from the seed and the number of cases.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs.
    pub cases: u64,
    /// Programs with a fused pair.
    pub fused: u64,
    /// Programs with a refused pair.
    pub refused: u64,
    /// Programs with both fused and refused pairs.
    pub mixed: u64,
    /// Programs that are undefined on every input and so require nothing.
    pub undefined: u64,
    /// Fused pairs, in all modes together.
    pub pairs_fused: u64,
    /// Fused pairs whose second loop is shifted.
    pub pairs_shifted: u64,
    /// Fused pairs with one reversed loop, not counted above.
    pub pairs_reversed: u64,
    /// Fused pairs whose loops run different iterations.
    pub pairs_cut: u64,
    /// Pairs fused after one nest was interchanged. Not counted as delayed or cut.
    pub pairs_interchanged: u64,
    /// Programs that `optimize` changes by other edits than fusion, counted once for each option.
    pub optimized: u64,
    /// Pairs fused after one loop was distributed; only a part of it was fused. Not counted as
    /// delayed or cut.
    pub pairs_distributed: u64,
    /// Pairs fused with several iterations of one loop at a time. Not counted as delayed or cut.
    pub pairs_in_blocks: u64,
    /// Pairs fused at equal values of the induction variables, or concatenated. Not counted as
    /// delayed or cut.
    pub pairs_moved: u64,
    /// Fused pairs with one loop that filled a conditional. The condition was moved into the fused
    /// loop.
    pub pairs_guarded: u64,
    /// Programs with a fused pair of each kind: shifted, cut, reversed, interchanged,
    /// distributed, in blocks, at equal values.
    pub reshaped: [u64; 7],
    /// Programs with a pair that was refused for a dependence.
    pub refused_by_dependence: u64,
    /// Pairs fused in a version under assumptions about numbers. Counted above as pairs only.
    pub pairs_versioned: u64,
    /// Programs with such a pair.
    pub versioned: u64,
    /// Joined conditionals, in all modes together.
    pub merged: u64,
    /// Pairs refused, by reason.
    pub reasons: BTreeMap<String, u64>,
    /// Loads replaced by values, in all modes together.
    pub loads_forwarded: u64,
    /// Erased stores.
    pub stores_erased: u64,
    /// Erased allocations.
    pub arrays_erased: u64,
    /// Folded allocations.
    pub arrays_folded: u64,
    /// Distributed loops, with or without arrays that pass values on.
    pub loops_distributed: u64,
    /// Arrays that distribution added to pass values on.
    pub values_expanded: u64,
    /// Blocks that the final check could not confirm and that stay unchanged.
    pub unconfirmed: u64,
    /// Programs with such a block.
    pub programs_unconfirmed: u64,
    /// Unconfirmed blocks, by the doubtful property.
    pub doubts: BTreeMap<&'static str, u64>,
    /// The cases and remarks of unconfirmed blocks.
    pub doubtful: Vec<(u64, String)>,
    /// Fused programs that the checker was asked about. [`proved`](Tally::proved) counts those it
    /// proved equal.
    pub asked: u64,
    /// See [`asked`](Tally::asked).
    pub proved: u64,
    /// Runs compared.
    pub runs: u64,
    /// Runs that were compared with integers instead of floats, not counted above.
    pub twins: u64,
    /// Refusals by dependence in programs where an exact test can be right about every pair. A run
    /// showed each of these dependences.
    pub affine_refusals: u64,
    /// Refusals in such programs because operations between the loops certainly cannot move. A run
    /// showed elements that prevent the move.
    pub affine_in_the_way: u64,
    /// Blocks of such programs that the final check confirmed.
    pub affine_confirmed: u64,
}

impl Tally {
    /// Returns the fused pairs of each kind in [`Tally::reshaped`].
    pub(super) fn reshaped_pairs(&self) -> [u64; 7] {
        [
            self.pairs_shifted,
            self.pairs_cut,
            self.pairs_reversed,
            self.pairs_interchanged,
            self.pairs_distributed,
            self.pairs_in_blocks,
            self.pairs_moved,
        ]
    }

    pub(super) fn pairs_refused_by_dependence(&self) -> u64 {
        self.reasons.get("InvalidDependencies").copied().unwrap_or_default()
    }

    /// Lines `key=value`.
    pub fn to_text(&self) -> String {
        let mut lines = vec![
            format!("cases={}", self.cases),
            format!("fused={}", self.fused),
            format!("refused={}", self.refused),
            format!("mixed={}", self.mixed),
            format!("faults_before={}", self.undefined),
            format!("pairs_fused={}", self.pairs_fused),
            format!("pairs_shifted={}", self.pairs_shifted),
            format!("pairs_cut={}", self.pairs_cut),
            format!("pairs_reversed={}", self.pairs_reversed),
            format!("pairs_interchanged={}", self.pairs_interchanged),
            format!("optimized={}", self.optimized),
            format!("pairs_distributed={}", self.pairs_distributed),
            format!("pairs_in_blocks={}", self.pairs_in_blocks),
            format!("pairs_moved={}", self.pairs_moved),
            format!("pairs_guarded={}", self.pairs_guarded),
            format!("pairs_versioned_by_range={}", self.pairs_versioned),
            format!("versioned_by_range={}", self.versioned),
            format!("refused_by_dependence={}", self.refused_by_dependence),
            format!("conditionals_merged={}", self.merged),
        ];
        let ways = ["shifted", "cut", "backwards", "interchanged", "distributed", "in_blocks", "moved"];
        lines.extend(ways.iter().zip(self.reshaped).map(|(way, programs)| format!("{way}={programs}")));
        lines.extend(self.reasons.iter().map(|(reason, count)| format!("pairs_refused_{reason}={count}")));
        lines.extend([
            format!("loads_forwarded={}", self.loads_forwarded),
            format!("stores_erased={}", self.stores_erased),
            format!("arrays_erased={}", self.arrays_erased),
            format!("arrays_folded={}", self.arrays_folded),
            format!("loops_distributed={}", self.loops_distributed),
            format!("values_expanded={}", self.values_expanded),
            format!("blocks_not_confirmed={}", self.unconfirmed),
            format!("programs_not_confirmed={}", self.programs_unconfirmed),
        ]);
        lines.extend(self.doubts.iter().map(|(what, count)| format!("blocks_not_confirmed_{what}={count}")));
        lines.extend([
            format!("programs_checked={}", self.asked),
            format!("proved_equal={}", self.proved),
            format!("runs_compared={}", self.runs),
            format!("twins_compared={}", self.twins),
            format!("affine_refusals={}", self.affine_refusals),
            format!("affine_in_the_way={}", self.affine_in_the_way),
            format!("affine_blocks_confirmed={}", self.affine_confirmed),
        ]);
        lines.join("\n") + "\n"
    }
}
