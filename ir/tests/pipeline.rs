//! Pipelines as text, and what a manager does with them.

use std::sync::Arc;

use insta::assert_snapshot;
use loomir_ir::pass::{
    Options, Pass, PassContext, PassInfo, PassInstrumentor, PassRegistry, PassSelection, PrintIr, Record,
    Report, Survey, VerifyEach,
};
use loomir_ir::{Attr, Body, Context, Diagnostic, Diagnostics, Loc, OperationState, Registry, dialect};

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

/// Counts its runs, remarks on the body's name, and does something bad on functions of the names it
/// is told.
#[derive(Default)]
struct Visit {
    name: &'static str,
    fail_on: Vec<String>,
    panic_on: Option<String>,
    damage: Option<String>,
    mark: Option<String>,
}

impl Pass for Visit {
    fn name(&self) -> &str {
        self.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let name = body.attr(body.root(), "sym_name").and_then(|a| a.as_str(body.ctx()).map(str::to_owned));
        let name = name.unwrap_or_else(|| "module".into());
        cx.count("visits", 1);
        cx.remark(Diagnostic::remark(Loc::UNKNOWN, format!("visited {name}")));
        assert!(self.panic_on.as_ref() != Some(&name), "no one expected {name}");
        if self.damage.as_ref() == Some(&name) {
            body.remove_attr(body.root(), "sym_name");
        }
        if self.mark.as_ref() == Some(&name) {
            body.set_attr(body.root(), "mini.marked", Attr::UNIT);
        }
        match self.fail_on.contains(&name) {
            true => Err(Diagnostic::error(Loc::UNKNOWN, format!("{name} fails")).into()),
            false => Ok(()),
        }
    }
}

/// The number of functions inside that are marked.
static MARKED: Survey = Survey {
    name: "marked",
    take: |body| {
        let functions = body.all_ops().filter_map(|op| body.nested(op));
        Arc::new(functions.filter(|own| own.attr(own.root(), "mini.marked").is_some()).count())
    },
};
static SURVEYS: &[&Survey] = &[&MARKED];

/// Says what was found around the body.
struct Census;

impl Pass for Census {
    fn name(&self) -> &str {
        "census"
    }

    fn surveys(&self) -> &[&'static Survey] {
        SURVEYS
    }

    fn run(&self, _: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        let found = cx.surveys.get::<usize>(&MARKED);
        let found = found.map_or("nothing".into(), |count| format!("{count} marked"));
        cx.remark(Diagnostic::remark(Loc::UNKNOWN, found));
        Ok(())
    }
}

fn registry() -> PassRegistry {
    let mut registry = PassRegistry::new();
    registry.add(PassInfo {
        name: "census",
        anchor: None,
        summary: "",
        options: &[],
        make: |_| Ok(Box::new(Census)),
    });
    registry.add(PassInfo {
        name: "visit",
        anchor: None,
        summary: "",
        options: &[
            ("fail-on", "", "names"),
            ("panic-on", "", "a name"),
            ("damage", "", "a name"),
            ("mark", "", "a name"),
        ],
        make: |options: &Options| {
            Ok(Box::new(Visit {
                name: "visit",
                fail_on: options.list("fail-on")?,
                panic_on: options.get("panic-on").map(str::to_owned),
                damage: options.get("damage").map(str::to_owned),
                mark: options.get("mark").map(str::to_owned),
            }))
        },
    });
    registry.add(PassInfo {
        name: "only-fn",
        anchor: Some("mini.fn"),
        summary: "",
        options: &[("count", "1", "a number")],
        make: |options: &Options| {
            options.parse("count", 1u32)?;
            Ok(Box::new(Visit { name: "only-fn", ..Visit::default() }))
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
    manager.run(&mut module(), &PassInstrumentor::new().with(VerifyEach))
}

/// Names and counts of records.
fn shape(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        let counts: Vec<_> =
            record.statistics.iter().map(|(name, count)| format!("{name}={count}")).collect();
        text += &format!("{}({}) ", record.name, counts.join(","));
        if !record.children.is_empty() {
            text += &format!("[{}] ", shape(&record.children));
        }
    }
    text
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
        assert_eq!(
            shape(&report.records),
            "visit(visits=1) (V) verifier() 'mini.fn' Pipeline() [visit(visits=5) (V) verifier() ] "
        );
    }
}

#[test]
fn a_survey_says_how_bodies_were_before_the_pipeline_entered_them() {
    let report = run("mini.module(census,mini.fn(visit{mark=b},census),mini.fn(census))");
    let found: Vec<&str> = lines(&report).into_iter().filter(|line| !line.starts_with("visited")).collect();
    assert_eq!(found, [&["nothing"][..], &["0 marked"; 5], &["1 marked"; 5]].concat());
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
    let report = registry().parse("visit").expect("a pipeline").run(&mut module(), &PassInstrumentor::new());
    assert_eq!(lines(&report), ["can't run a pipeline for 'builtin.module' on 'mini.module'"]);
}

#[test]
fn mistakes_in_pipelines_are_named_with_their_place() {
    let error = |text: &str| match registry().parse(text) {
        Ok(_) => panic!("'{text}' is accepted"),
        Err(error) => format!("{}: {}", error.offset, error.message),
    };
    assert_snapshot!(error("mini.module(visti)"), @"12: there is no pass called 'visti'; did you mean 'visit'?");
    assert_snapshot!(error("mini.module(only-fn)"), @"12: pass 'only-fn' runs on mini.fn, not on 'mini.module'");
    assert_snapshot!(error("mini.module(visit{x=1})"), @"18: pass 'visit' has no option 'x'; it has: fail-on, panic-on, damage, mark");
    assert_snapshot!(error("mini.fn(only-fn{count=many})"), @"8: 'many' is no value for option 'count': invalid digit found in string");
    assert_snapshot!(error("mini.module(visit"), @"17: expected ')'");
    assert_snapshot!(error("mini.module(visit{fail-on=c"), @"27: expected '}'");
    assert_snapshot!(error("mini.module(visit) visit"), @"19: expected the end of the pipeline");
    assert_snapshot!(error("mini.module(,)"), @"12: expected the name of a pass or operation");
    assert_snapshot!(error("any(only-fn)"), @"4: pass 'only-fn' runs on mini.fn, not on 'any'");
    assert_snapshot!(error("visit{mark='a}"), @"11: unterminated string");
    assert_snapshot!(error("visit{mark={a}"), @"14: expected '}'");
    assert_snapshot!(error("visit{mark={a"), @"11: this '{' is not closed");
    assert_snapshot!(error("visit{mark={a}b}"), @"14: expected a blank or '}' behind the value");
    assert_snapshot!(error("only-fn{count=1}"), @"0: pass 'only-fn' runs on mini.fn, not on 'builtin.module'");
    assert_snapshot!(error(&"a(".repeat(100_000)), @"130: a pipeline nests at most 64 deep");
}

#[test]
fn a_mistake_is_shown_in_the_line_of_the_pipeline() {
    let text = "mini.module(\n  visit, visti)";
    let Err(error) = registry().parse(text) else { panic!("it is accepted") };
    assert_snapshot!(error.to_text(text), @"
    there is no pass called 'visti'; did you mean 'visit'?
        visit, visti)
               ^
    ");
}

#[test]
fn option_values_may_stand_in_braces_or_quotes() {
    let report = run("mini.module( mini.fn( visit{ fail-on={c} }, visit{fail-on='no one'} ) )");
    assert!(lines(&report).contains(&"c fails"));
}

#[test]
fn options_may_be_lists_and_hold_anything() {
    let report = run("mini.module(mini.fn(visit{fail-on=b,d fail-on={ e , }}))");
    let failed: Vec<&str> = lines(&report).into_iter().filter(|line| line.ends_with("fails")).collect();
    assert_eq!(failed, ["b fails", "d fails", "e fails"], "all bodies are tried, in order");
    let pipeline = |text: &str| registry().parse(text).expect("a pipeline").to_string();
    for text in [
        "mini.module(visit,mini.fn(only-fn{count=2},visit{fail-on=a,b panic-on={x {y} z}}),any(visit))",
        "mini.module(visit{panic-on=\"}\" damage='\"{' fail-on={'}'}})",
        "builtin.module()",
    ] {
        assert_eq!(pipeline(text), text, "a pipeline is printed as it is read");
    }
    assert_eq!(pipeline("visit"), "builtin.module(visit)");
}

#[test]
fn a_pass_that_panics_fails() {
    for threads in [true, false] {
        let how = PassInstrumentor::new().with(VerifyEach);
        let how = if threads { how } else { how.without_threads() };
        let manager = registry().parse("mini.module(mini.fn(visit{panic-on=b}),visit)").expect("a pipeline");
        let report = manager.run(&mut module(), &how);
        let said: Vec<String> = lines(&report).into_iter().map(str::to_owned).collect();
        assert_eq!(
            said,
            [
                "visited a",
                "pass 'visit' panicked on 'mini.fn' @b: no one expected b",
                "visited c",
                "visited d",
                "visited e"
            ]
        );
    }
}

#[test]
fn what_a_pass_leaves_is_verified() {
    assert_snapshot!(lines(&run("mini.module(mini.fn(visit{damage=d},visit))")).join("\n"), @"
visited a
visited a
visited b
visited b
visited c
visited c
visited d
pass 'visit' left IR that is not well formed
'mini.fn' op requires attribute 'sym_name'
visited e
visited e
");
}

/// Titles of dumps, and how many functions each shows.
fn dumps(pipeline: &str, print: PrintIr, threads: bool) -> String {
    let how = PassInstrumentor::new().with(print).with(VerifyEach);
    let how = if threads { how } else { how.without_threads() };
    let report = registry().parse(pipeline).expect("a pipeline").run(&mut module(), &how);
    let dumps = report.dumps.iter();
    dumps.map(|(title, text)| format!("{title}: {}\n", text.matches("mini.fn").count())).collect()
}

#[test]
fn the_program_is_printed_around_passes() {
    let all = PrintIr { before: PassSelection::All, after: PassSelection::All, ..PrintIr::default() };
    assert_snapshot!(dumps("mini.module(visit,mini.fn(only-fn{count=2}))", all.clone(), true), @"
    IR Dump Before visit: 5
    IR Dump After visit: 5
    IR Dump Before only-fn: 1
    IR Dump After only-fn: 1
    IR Dump Before only-fn: 1
    IR Dump After only-fn: 1
    IR Dump Before only-fn: 1
    IR Dump After only-fn: 1
    IR Dump Before only-fn: 1
    IR Dump After only-fn: 1
    IR Dump Before only-fn: 1
    IR Dump After only-fn: 1
    ");
    let named = PrintIr { after: PassSelection::Named(vec!["only-fn".into()]), ..PrintIr::default() };
    assert_snapshot!(dumps("mini.module(visit,mini.fn(only-fn))", named, true), @"
    IR Dump After only-fn: 1
    IR Dump After only-fn: 1
    IR Dump After only-fn: 1
    IR Dump After only-fn: 1
    IR Dump After only-fn: 1
    ");
    let changed = PrintIr { only_on_change: true, ..all.clone() };
    assert_snapshot!(dumps("mini.module(mini.fn(visit{mark=c}))", PrintIr { before: PassSelection::None, ..changed }, true), @"IR Dump After visit: 1");
    let failed = PrintIr { only_on_failure: true, after: PassSelection::All, ..PrintIr::default() };
    assert_snapshot!(dumps("mini.module(visit,mini.fn(visit{damage=b}))", failed, true), @"IR Dump After visit Failed: 1");
    let module = PrintIr { module_scope: true, ..all };
    assert_snapshot!(dumps("mini.module(visit,mini.fn(visit{fail-on=e}))", module, false), @"
    IR Dump Before visit ('mini.module' operation): 5
    IR Dump After visit ('mini.module' operation): 5
    IR Dump Before visit ('mini.fn' operation: @a): 5
    IR Dump After visit ('mini.fn' operation: @a): 5
    IR Dump Before visit ('mini.fn' operation: @b): 5
    IR Dump After visit ('mini.fn' operation: @b): 5
    IR Dump Before visit ('mini.fn' operation: @c): 5
    IR Dump After visit ('mini.fn' operation: @c): 5
    IR Dump Before visit ('mini.fn' operation: @d): 5
    IR Dump After visit ('mini.fn' operation: @d): 5
    IR Dump Before visit ('mini.fn' operation: @e): 5
    IR Dump After visit Failed ('mini.fn' operation: @e): 5
    ");
}
