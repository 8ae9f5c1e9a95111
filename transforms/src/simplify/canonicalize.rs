//! Canonicalization: folds every operation as far as possible, applies the patterns that dialects
//! register, keeps one copy of each constant, and erases operations without effects and uses. In
//! graphs of blocks, branches that a constant decides become jumps, and blocks without need go.
//!
//! Patterns stand with their dialects: `loomir_dialects::arith::patterns` and its like.
//! [`Registry::patterns`](loomir_ir::Registry::patterns) adds those of a dialect of one's own.
//!
//! **Cost.** Linear in the operations and in the changes, up to a limit. At the limit, or if a
//! pattern is defective, the pass stops with a diagnostic that names the pattern.

use loomir_ir::pass::{Options, Pass, PassContext, PassInfo};
use loomir_ir::rewrite::{Greedy, Limits, Pattern, Report, Rewrite};
use loomir_ir::{Body, Context, Diagnostic, Diagnostics, Op, Severity};

use super::blocks;
use crate::effects::is_removable;

/// The pass `canonicalize`, on any operation that owns a body and on all inside.
pub const PASS: PassInfo = PassInfo {
    name: "canonicalize",
    anchor: None,
    summary: "Fold operations, apply the dialects' patterns, and erase what is unused",
    options: &[
        ("top-down", "true", "visit operations from the first to the last"),
        ("region-simplify", "normal", "normal or disabled; patterns simplify graphs of blocks in both"),
        ("max-iterations", "8", "the most rounds, at most 8; with -1, as many as by default"),
        ("max-num-rewrites", "-1", "the most patterns applied in a round; with -1, any number"),
        ("test-convergence", "false", "fail if a limit ends the pass"),
        ("disable-patterns", "", "patterns that are not applied, separated by commas"),
        ("enable-patterns", "", "the only patterns that are applied, separated by commas"),
    ],
    make: |options| Ok(Box::new(Canonicalize(Settings::of(options)?))),
};

/// The most rounds of rewriting. Blocks that go may leave something to fold.
const MAX_ROUNDS: usize = 8;

/// The options of the pass.
struct Settings {
    is_bottom_up: bool,
    rounds: usize,
    rewrites: usize,
    must_converge: bool,
    disabled: Vec<String>,
    /// Empty: all but the disabled ones.
    enabled: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            is_bottom_up: false,
            rounds: MAX_ROUNDS,
            rewrites: usize::MAX,
            must_converge: false,
            disabled: Vec::new(),
            enabled: Vec::new(),
        }
    }
}

impl Settings {
    fn of(options: &Options) -> Result<Settings, String> {
        let regions = options.get("region-simplify").unwrap_or("normal");
        if !["normal", "disabled"].contains(&regions) {
            return Err(format!("region-simplify is 'normal' or 'disabled', not '{regions}'"));
        }
        let limit = |name: &str, none: usize| -> Result<usize, String> {
            Ok(usize::try_from(options.parse(name, -1_i64)?).unwrap_or(none))
        };
        Ok(Settings {
            is_bottom_up: !options.parse("top-down", true)?,
            rounds: limit("max-iterations", MAX_ROUNDS)?.min(MAX_ROUNDS),
            rewrites: limit("max-num-rewrites", usize::MAX)?,
            must_converge: options.parse("test-convergence", false)?,
            disabled: options.list("disable-patterns")?,
            enabled: options.list("enable-patterns")?,
        })
    }

    /// Returns the driver of the patterns of a context that are applied.
    fn driver<'c>(&self, ctx: &'c Context) -> Greedy<'c> {
        let is_applied = |own: &&'static Rewrite| {
            let is_in = |list: &[String]| list.iter().any(|name| name == own.name);
            !is_in(&self.disabled) && (self.enabled.is_empty() || is_in(&self.enabled))
        };
        let patterns: Vec<&dyn Pattern> =
            ctx.patterns().filter(is_applied).map(|own| own as &dyn Pattern).collect();
        let limits = Limits { rewrites: self.rewrites, ..Limits::default() };
        let driver = Greedy::new(&patterns).erases_if(is_removable).limits(limits);
        if self.is_bottom_up { driver.bottom_up() } else { driver }
    }

    /// Canonicalizes a body. A report that stopped says that a limit was reached, or more.
    fn run(&self, driver: &mut Greedy<'_>, body: &mut Body) -> Report {
        let mut total = Report::default();
        if self.rounds > 0 {
            total.rewritten = blocks::erase_unreached(body);
        }
        for _ in 0..self.rounds {
            let report = driver.run(body);
            total.folded += report.folded;
            total.rewritten += report.rewritten;
            total.erased += report.erased;
            total.unified += report.unified;
            total.stopped = report.stopped;
            let blocks = if total.stopped.is_none() { blocks::simplify(body) } else { 0 };
            total.rewritten += blocks;
            if blocks == 0 {
                return total;
            }
        }
        if self.must_converge {
            let warning = "canonicalization stopped before nothing changed any more";
            total.stopped = Some(Diagnostic::new(Severity::Warning, body.loc(body.root()), warning));
        }
        total
    }
}

/// Canonicalizes one body after another: the patterns of the dialects are looked up once.
pub struct Canonicalizer<'c> {
    settings: Settings,
    driver: Greedy<'c>,
}

impl<'c> Canonicalizer<'c> {
    /// One that applies all patterns of a context.
    pub fn new(ctx: &'c Context) -> Canonicalizer<'c> {
        let settings = Settings::default();
        Canonicalizer { driver: settings.driver(ctx), settings }
    }

    /// Canonicalizes a body, without the bodies nested in it. Changed branches and blocks count as
    /// rewritten operations.
    pub fn run(&mut self, body: &mut Body) -> Report {
        self.settings.run(&mut self.driver, body)
    }
}

/// Canonicalizes a single body, as [`Canonicalizer::run`] does.
pub fn canonicalize(body: &mut Body) -> Report {
    let ctx = body.ctx().clone();
    Canonicalizer::new(&ctx).run(body)
}

/// Canonicalizes what is inside an operation, without graphs of blocks.
pub fn canonicalize_within(body: &mut Body, op: Op) -> Report {
    let ctx = body.ctx().clone();
    let inside = body.preorder(op).filter(|own| *own != op).collect();
    Settings::default().driver(&ctx).run_on(body, inside)
}

struct Canonicalize(Settings);

impl Pass for Canonicalize {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics::new();
        let ctx = body.ctx().clone();
        let mut driver = self.0.driver(&ctx);
        body.for_each_body(&mut |body| {
            let report = self.0.run(&mut driver, body);
            cx.count("Operations folded", report.folded as u64);
            cx.count("Operations rewritten", report.rewritten as u64);
            cx.count("Operations erased", report.erased as u64);
            cx.count("Constants unified", report.unified as u64);
            match report.stopped {
                Some(error) if error.severity == Severity::Error => errors.push(error),
                Some(warning) if self.0.must_converge => {
                    errors.push(Diagnostic { severity: Severity::Error, ..warning });
                }
                Some(warning) => cx.remark(warning),
                None => {}
            }
        });
        if errors.has_errors() { Err(errors) } else { Ok(()) }
    }
}
