//! Pipelines as text, and what a manager does with them.

use loomir_ir::pass::{Instrumentation, Options, Pass, PassContext, PassInfo, PassRegistry, Report};
use loomir_ir::{Body, Context, Diagnostic, Diagnostics, Loc, OperationState, Registry, dialect};

dialect! {
    /// A module and a function, as far as pipelines care.
    pub MINI = "mini" {}

    /// Holds functions.
    ModuleOp = "module" {
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, NoTerminator, SymbolTable]
    }

    /// Holds nothing.
    FnOp = "fn" {
        attrs { sym_name: Required String }
        regions { body: Any }
        traits [IsolatedFromAbove, Symbol]
    }
}

/// Counts its runs, remarks on the body's name, and fails on a function of the name it is told.
struct Visit {
    fail_on: Option<String>,
}

impl Pass for Visit {
    fn name(&self) -> &str {
        "visit"
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let name = body.attr(body.root(), "sym_name").and_then(|a| a.as_str(body.ctx()).map(str::to_owned));
        let name = name.unwrap_or_else(|| "module".into());
        cx.count("visits", 1);
        cx.remark(Diagnostic::remark(Loc::UNKNOWN, format!("visited {name}")));
        match &self.fail_on {
            Some(wanted) if *wanted == name => {
                Err(Diagnostic::error(Loc::UNKNOWN, format!("{name} fails")).into())
            }
            _ => Ok(()),
        }
    }
}

fn registry() -> PassRegistry {
    let mut registry = PassRegistry::new();
    registry.add(PassInfo {
        name: "visit",
        anchor: None,
        summary: "",
        options: &[("fail-on", "", "a function's name")],
        make: |options: &Options| Ok(Box::new(Visit { fail_on: options.get("fail-on").map(str::to_owned) })),
    });
    registry.add(PassInfo {
        name: "only-fn",
        anchor: Some("mini.fn"),
        summary: "",
        options: &[("count", "1", "a number")],
        make: |options: &Options| {
            options.parse("count", 1u32)?;
            Ok(Box::new(Visit { fail_on: None }))
        },
    });
    registry
}

fn module() -> Body {
    let mut dialects = Registry::new();
    dialects.dialect(&MINI);
    let ctx = Context::new(dialects);
    let mut body = Body::new(&ctx, OperationState::of(&ctx, ModuleOp::DEF, Loc::UNKNOWN));
    let region = body.region(body.root(), 0);
    let block = body.append_block(region, &[]);
    for name in ["a", "b", "c", "d", "e"] {
        let state = OperationState::of(&ctx, FnOp::DEF, Loc::UNKNOWN);
        let op = body.create(state.attr(&ctx, "sym_name", ctx.string_attr(name)));
        body.append_op(block, op);
    }
    body
}

fn run(pipeline: &str) -> Report {
    let manager = registry().parse(pipeline).expect("a pipeline");
    manager.run(&mut module(), &Instrumentation { verify_each: true, ..Instrumentation::default() })
}

fn lines(report: &Report) -> Vec<&str> {
    report.diagnostics.iter().map(|d| d.message.as_str()).collect()
}

#[test]
fn what_passes_say_comes_in_the_order_of_the_bodies() {
    for _ in 0..20 {
        let report = run("mini.module(visit,mini.fn(visit))");
        assert_eq!(
            lines(&report),
            ["visited module", "visited a", "visited b", "visited c", "visited d", "visited e"]
        );
        assert_eq!(report.statistics, [("visit".to_owned(), "visits", 6)]);
    }
}

#[test]
fn the_pipeline_stops_where_a_pass_fails() {
    let report = run("mini.module(mini.fn(visit{fail-on=c},only-fn),visit)");
    assert!(!report.succeeded());
    let said = lines(&report);
    assert!(said.contains(&"c fails"));
    assert!(!said.contains(&"visited module"), "what comes after is not run");
    assert_eq!(said.iter().filter(|line| **line == "visited c").count(), 1);
}

#[test]
fn a_pipeline_for_another_operation_is_refused() {
    let report =
        registry().parse("visit").expect("a pipeline").run(&mut module(), &Instrumentation::default());
    assert_eq!(lines(&report), ["can't run a pipeline for 'builtin.module' on 'mini.module'"]);
}

#[test]
fn mistakes_in_pipelines_are_named_with_their_place() {
    let error = |text: &str| match registry().parse(text) {
        Ok(_) => panic!("'{text}' is accepted"),
        Err(error) => format!("{}: {}", error.offset, error.message),
    };
    insta::assert_snapshot!(error("mini.module(visti)"), @"12: there is no pass called 'visti'");
    insta::assert_snapshot!(error("mini.module(only-fn)"), @"12: pass 'only-fn' runs on mini.fn, not on 'mini.module'");
    insta::assert_snapshot!(error("mini.module(visit{x=1})"), @"12: pass 'visit' has no option 'x'");
    insta::assert_snapshot!(error("mini.fn(only-fn{count=many})"), @"8: 'many' is no value for option 'count'");
    insta::assert_snapshot!(error("mini.module(visit"), @"17: expected ')'");
    insta::assert_snapshot!(error("mini.module(visit{fail-on=c"), @"27: expected '}'");
    insta::assert_snapshot!(error("mini.module(visit) visit"), @"19: expected the end of the pipeline");
    insta::assert_snapshot!(error("mini.module(,)"), @"12: expected the name of a pass or operation");
    insta::assert_snapshot!(error(&"a(".repeat(100_000)), @"130: a pipeline nests at most 64 deep");
}

#[test]
fn option_values_may_stand_in_braces_or_quotes() {
    let report = run("mini.module( mini.fn( visit{ fail-on={c} }, visit{fail-on='no one'} ) )");
    assert!(lines(&report).contains(&"c fails"));
}
