//! Skewing: an inner loop whose iterations run later the later the outer one is.
//!
//! `for i in 0..n { for j in 0..m { … } }` becomes, with a factor of one,
//!
//! ```text
//!     for i in 0..n { for t in i..m + i { … j = t - i … } }
//! ```
//!
//! The order does not change. Interchanged, the iterations of one `t` are a wavefront.
//!
//! Reference: Wolfe, *Loop Skewing: The Wavefront Method Revisited* (1986).

use super::range::counted;
use crate::affine::AffineForm;
use crate::tree::green::{Green, Header, Node, Span, TreeStore};
use crate::tree::program::Program;

impl TreeStore {
    /// Skews the only loop inside of the loop `tree`. `None` if there are no two such loops, one
    /// carries values, or the range of the inner loop is known only when the program runs.
    pub(crate) fn skewed(&mut self, program: &Program, tree: Green, by: i64) -> Option<Green> {
        let Node::Loop { header: outer, body } = self.get(tree) else { return None };
        let only = self.only_item(body)?;
        let Node::Loop { header: inner, body } = self.get(only) else { return None };
        let inner = counted(program, self.header(inner))?;
        let Header { span: Span::Range { scale, lower, upper }, origins, parallel, .. } = inner else {
            return None;
        };
        if origins.iter().any(|origin| program.loop_info(origin.of).has_results()) {
            return None;
        }
        // In the span, level 0 is the outer loop. In the body, level 1 is.
        let later = |form: &AffineForm| form.plus(&AffineForm::level(0), scale.checked_mul(by)?);
        let all = |forms: &[AffineForm]| forms.iter().map(later).collect::<Option<Vec<_>>>();
        let span = Span::range(scale, all(&lower)?, all(&upper)?);
        let earlier = AffineForm::level(0).plus(&AffineForm::level(1), by.checked_neg()?)?;
        let with = |level: u32| Some(if level == 0 { earlier.clone() } else { AffineForm::level(level) });
        let origins = origins.iter().map(|origin| origin.mapped(&|form| form.substitute(&mut |l| with(l))));
        let origins = origins.collect::<Option<_>>()?;
        let body = self.substituted(body, &with)?;
        let inner = self.make_loop(Header { span, origins, parallel, mark: None }, body);
        let body = self.sequence(&[inner]);
        Some(self.with_header(outer, body))
    }
}
