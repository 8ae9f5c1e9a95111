//! Drivers of patterns: order, ends, and defects of patterns.

use loomir_ir::rewrite::{
    Greedy, Limits, Listener, Pattern, Report, Rewrite, apply_patterns_greedily, apply_patterns_once,
};
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::{Attr, Body, Context, Op, Registry, Type, dialect, rewrite};

dialect! {
    /// Toy arithmetic.
    pub TOY = "toy" {}

    /// Negation.
    NegOp = "neg" {
        operands { x: One SignlessIntegerLike }
        results { y: One SameAs("x") }
        traits [Pure]
    }

    /// The same number, or another one.
    FlipOp = "flip" {
        operands { x: One SignlessIntegerLike }
        results { y: One SameAs("x") }
        traits [Pure]
    }

    /// A number in another type.
    CastOp = "cast" {
        operands { x: One Any }
        results { y: One Any }
        traits [Pure]
    }
}

rewrite! {
    /// A pattern that ends.
    ENDING;

    /// The negation of a negation is the number itself.
    neg_of_neg: NegOp = |rewriter, op| {
        let body = rewriter.body();
        let inner = body.defining_op(body.operand(op, 0)).and_then(|op| NegOp::cast(body, op));
        let Some(inner) = inner else { return false };
        let x = inner.x(body);
        rewriter.replace(op, &[x])
    };
}

rewrite! {
    /// Patterns that undo each other.
    ENDLESS;

    /// A negation is a flip.
    to_flip: NegOp = |rewriter, op| {
        let x = rewriter.body().operand(op, 0);
        rewriter.build(op, |builder| FlipOp::build(builder, x));
        let new = rewriter.body().prev_op(op).map(|new| rewriter.body().result(new, 0));
        new.is_some_and(|new| rewriter.replace(op, &[new]))
    };

    /// A flip is a negation.
    to_neg: FlipOp = |rewriter, op| {
        let x = rewriter.body().operand(op, 0);
        rewriter.build(op, |builder| NegOp::build(builder, x));
        let new = rewriter.body().prev_op(op).map(|new| rewriter.body().result(new, 0));
        new.is_some_and(|new| rewriter.replace(op, &[new]))
    };
}

rewrite! {
    /// A pattern that breaks types.
    BREAKING;

    /// A cast is its operand.
    no_cast: CastOp = |rewriter, op| {
        let x = rewriter.body().operand(op, 0);
        rewriter.replace(op, &[x])
    };
}

rewrite! {
    /// Patterns for one operation.
    RANKED;

    /// Marks with 1.
    first: NegOp = |rewriter, op| mark(rewriter.body_mut(), op, 1);

    /// Marks with 2, and is tried first.
    second: NegOp[5] = |rewriter, op| mark(rewriter.body_mut(), op, 2);
}

fn mark(body: &mut Body, op: Op, number: i64) -> bool {
    let is_new = body.attr(op, "mark").is_none();
    if is_new {
        let attr = body.ctx().int_attr(Type::I64, number);
        body.set_attr(op, "mark", attr);
    }
    is_new
}

const PROGRAM: &str = r#"
    %x = "a.value"() : () -> i8
    %0 = "toy.neg"(%x) : (i8) -> i8
    %1 = "toy.neg"(%0) : (i8) -> i8
    %2 = "toy.cast"(%1) : (i8) -> i16
    "a.use"(%2) : (i16) -> ()
"#;

fn read() -> Body {
    let mut registry = Registry::new();
    registry.dialect(&TOY);
    text::parse(&Context::new(registry), PROGRAM, "t.mlir").expect("it reads")
}

fn all(table: &'static [Rewrite]) -> Vec<&'static dyn Pattern> {
    table.iter().map(|own| own as &dyn Pattern).collect()
}

fn print(body: &Body) -> String {
    text::print(body, &PrintOptions::default())
}

/// Returns the text of the diagnostic that stopped a driver.
fn stopped(body: &Body, report: &Report) -> String {
    report.stopped.clone().map_or(String::new(), |own| loomir_ir::Diagnostics::from(own).to_text(body.ctx()))
}

#[test]
fn patterns_are_applied_until_nothing_changes() {
    let mut body = read();
    let report = apply_patterns_greedily(&mut body, &all(ENDING), Limits::default());
    assert_eq!((report.rewritten, report.erased, report.stopped.is_none()), (1, 1, true));
    assert!(!print(&body).contains("toy.neg"));
}

#[test]
fn an_endless_pattern_is_named() {
    let mut body = read();
    let report =
        apply_patterns_greedily(&mut body, &all(ENDLESS), Limits { visits_per_op: 8, ..Limits::default() });
    let said = stopped(&body, &report);
    assert!(said.contains("stopped before nothing changed"), "{said}");
    assert!(
        said.contains("pattern 'to_flip' was applied") || said.contains("pattern 'to_neg' was applied"),
        "{said}"
    );
}

#[test]
fn a_pattern_that_breaks_types_is_named_and_changes_nothing() {
    let mut body = read();
    let before = print(&body);
    let report = apply_patterns_greedily(&mut body, &all(BREAKING), Limits::default());
    let said = stopped(&body, &report);
    assert!(said.contains("pattern 'no_cast' replaces a value of type i16 by one of type i8"), "{said}");
    assert_eq!(print(&body), before);
}

#[test]
fn the_larger_benefit_comes_first() {
    let mut body = read();
    let applied = apply_patterns_once(&mut body, &all(RANKED)).expect("no defect");
    assert_eq!(applied, 2);
    assert_eq!(print(&body).matches("mark = 2").count(), 2);
}

#[test]
fn a_listener_hears_of_every_change() {
    #[derive(Default)]
    struct Heard([usize; 3]);
    impl Listener for Heard {
        fn inserted(&mut self, _: &Body, _: Op) {
            self.0[0] += 1;
        }
        fn replaced(&mut self, _: &Body, _: Op, _: &[loomir_ir::Value]) {
            self.0[1] += 1;
        }
        fn erased(&mut self, _: &Body, _: Op) {
            self.0[2] += 1;
        }
    }
    let mut heard = Heard::default();
    Greedy::new(&all(ENDING)).listener(&mut heard).run(&mut read());
    assert_eq!(heard.0, [0, 1, 2]);
}

#[test]
fn a_visit_by_itself_changes_nothing() {
    let mut body = read();
    let before = print(&body);
    assert!(!apply_patterns_greedily(&mut body, &[], Limits::default()).changed());
    assert_eq!(print(&body), before);
    assert_eq!(body.attr(body.root(), "mark"), None::<Attr>);
}
