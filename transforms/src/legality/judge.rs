//! The judge: the only way from an edited tree to a changed program.
//!
//! [`Checker::judge`] examines a whole tree and knows nothing about its origin. Searches ask
//! quicker questions on their way, about pairs of loops. Those answers select trees but approve
//! nothing: [`regenerate`](crate::regenerate::regenerate) takes an [`Approved`] tree, and this
//! module alone can make one.
//!
//! **Assumptions.**
//! - Two arguments are distinct objects only if the user says so, with [`AliasMode::Distinct`]. All
//!   other assumptions must be tested in the tree. Tried with `fixtures/fusion/version*.mlir`.

use loomir_ir::{Block, Diagnostic};

use super::{Checker, Verdict};
use crate::access::base::AliasMode;
use crate::assumption::Assumption;
use crate::remark::Remarks;
use crate::tree::{Green, Program, Reordered, TreeStore};

/// A tree that may run instead of a program.
///
/// **Invariant.** The judge found every instance to run once, every value to be computed before its
/// uses, and every dependence to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Approved {
    /// The root of the program's own tree.
    original: Green,
    root: Green,
    /// The same tree with [copies](crate::tree::Mark::Copies) one after the other.
    written: Green,
    reordered: Reordered,
    assumed: Vec<Assumption>,
}

impl Approved {
    /// Returns the program's own tree, which needs no judgement.
    pub fn unchanged(program: &Program) -> Approved {
        let original = program.root;
        let (reordered, assumed) = (Reordered::default(), Vec::new());
        Approved { original, root: original, written: original, reordered, assumed }
    }

    /// Returns the root of the approved tree.
    pub fn root(&self) -> Green {
        self.root
    }

    /// Returns the root of the tree to write: the same, with copies one after the other.
    pub(crate) fn written(&self) -> Green {
        self.written
    }

    /// Returns the updates that run in another order than the program's, and so lose some flags.
    pub fn reordered(&self) -> &Reordered {
        &self.reordered
    }

    /// Returns the facts that the user vouches for and that no run-time check tests.
    pub fn assumed(&self) -> &[Assumption] {
        &self.assumed
    }

    /// Returns true if the tree may run instead of this program.
    pub(crate) fn is_of(&self, program: &Program) -> bool {
        self.original == program.root
    }
}

impl Checker<'_> {
    /// Judges if `tree`, a sequence, may replace the program.
    ///
    /// Cost: see [`Checker::check`].
    ///
    /// # Errors
    ///
    /// The verdict, if the tree is not legal, or is legal only under assumptions that are neither
    /// tested in it nor made by the user.
    pub fn judge(&self, trees: &mut TreeStore, tree: Green) -> Result<Approved, Verdict> {
        let is_given =
            |own: &Assumption| self.alias == AliasMode::Distinct && matches!(own, Assumption::Apart(..));
        let (verdict, written) = self.check_written(trees, tree);
        match verdict {
            Verdict::Legal { assumed } if assumed.iter().all(is_given) => {
                let reordered = self.reordered(trees, tree);
                Ok(Approved { original: self.program.root, root: tree, written, reordered, assumed })
            }
            verdict => Err(verdict),
        }
    }
}

impl Verdict {
    /// Returns the diagnostic for a block whose new tree was not approved and that stays unchanged:
    /// an error if the tree is certainly wrong. `then` names the change, such as "fused".
    pub(crate) fn not_approved(&self, remarks: Remarks<'_>, block: Block, then: &str) -> Diagnostic {
        let body = remarks.body;
        let place = body.loc(body.region_parent(body.block_region(block)));
        let left = "the loops stay as they were";
        let diagnostic = match self {
            Verdict::Illegal(_) => {
                let text = format!("{}Loops {then} would compute something else; {left}", remarks.function());
                Diagnostic::error(place, text)
            }
            _ => remarks.left("NotConfirmed", place, &format!("Loops {then} are not proved legal; {left}")),
        };
        self.explain(body, diagnostic, then)
    }
}
