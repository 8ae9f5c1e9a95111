//! Equality saturation within limits of nodes and iterations, never of time.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use egg::{Id, RecExpr, Runner};

use super::Forms;
use super::range::Range;
use super::rules::{Graph, Ranges, rules};
use super::word::{Expression, Word};

/// Most nodes of a graph.
const MAX_NODES: usize = 4_000;
/// The maximal number of rounds. Each round applies every rule wherever possible.
const MAX_ROUNDS: usize = 12;

/// Equality saturation of expressions over the same leaves.
#[derive(Default)]
pub struct Saturation {
    /// Parsed for the first question.
    rules: OnceLock<Vec<egg::Rewrite<Word, Ranges>>>,
}

impl fmt::Debug for Saturation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saturation").finish_non_exhaustive()
    }
}

impl Forms<'_> {
    /// Returns the same forms, which share the rules of this saturation.
    #[must_use]
    pub(crate) fn with_saturation(mut self, saturation: &Arc<Saturation>) -> Self {
        self.classes.saturation = saturation.clone();
        self
    }
}

impl Saturation {
    /// True if two expressions over leaves of these ranges are proved equal. They must have the
    /// same width and share the numbering of leaves.
    pub fn are_equal(&self, a: &Expression, b: &RecExpr<Word>, leaves: Vec<Range>) -> bool {
        let (graph, roots) = self.grown(a.width, &[&a.nodes, b], leaves, true);
        matches!(roots[..], [x, y] if graph.find(x) == graph.find(y))
    }

    /// Returns the expressions that are equal to this one, and its class.
    pub fn equals_of(&self, expression: &Expression, leaves: Vec<Range>) -> (Graph, Id) {
        let (graph, roots) = self.grown(expression.width, &[&expression.nodes], leaves, false);
        let root = graph.find(roots[0]);
        (graph, root)
    }

    /// Applies the rules to expressions until nothing is new or a limit is reached. On request,
    /// stops once all expressions are in one class.
    fn grown(
        &self,
        width: u32,
        expressions: &[&RecExpr<Word>],
        leaves: Vec<Range>,
        until_equal: bool,
    ) -> (Graph, Vec<Id>) {
        let mut runner = Runner::new(Ranges { width, leaves })
            .with_node_limit(MAX_NODES)
            .with_iter_limit(MAX_ROUNDS)
            .with_time_limit(Duration::MAX);
        for expression in expressions {
            runner = runner.with_expr(expression);
        }
        let is_done = move |runner: &mut Runner<Word, Ranges>| {
            let mut classes = runner.roots.iter().map(|root| runner.egraph.find(*root));
            let first = classes.next();
            if until_equal && classes.all(|class| Some(class) == first) {
                return Err("equal".to_owned());
            }
            Ok(())
        };
        let runner = runner.with_hook(is_done).run(self.rules.get_or_init(rules));
        (runner.egraph, runner.roots)
    }
}
