//! Switches with ten thousand cases: each pass on control flow accepts them, reaches its form, and
//! preserves the results.
//!
//! A case is one branch to a block of its own, out of a loop, around it, or into the middle of a
//! cycle. The output of each pass is verified, printed and read back in both forms of text, and run
//! by the interpreter. `benches/tests/growth.rs` checks that the time is linear in the cases.

use std::fmt::Write;

use loomir_dialects::interp::{ArgSpec, Limits, run};
use loomir_ir::pass::{PassInstrumentor, PassRegistry};
use loomir_ir::symbols::SymbolTable;
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::{Body, Diagnostics};
use loomir_lowering::cfg::FORMS;
use loomir_lowering::{PASSES, from_ll, to_ll};

use crate::fixture::context;

const WAYS: usize = 10_000;

/// Returns the first lines of a switch on `value`, with a block `w` for each case.
fn switch(value: &str, default: &str) -> String {
    let mut text = format!("  switch i32 {value}, label %{default} [\n");
    (0..WAYS).for_each(|way| _ = writeln!(text, "    i32 {way}, label %w{way}"));
    text + "  ]\n"
}

/// Returns the incoming values of the block where the cases meet: from the cases, and from other
/// edges.
fn met(ways: impl Iterator<Item = usize>, value: impl Fn(usize) -> String, others: &str) -> String {
    let mut text = String::new();
    ways.for_each(|way| _ = write!(text, "[ {}, %w{way} ], ", value(way)));
    text + others
}

/// Every case leads to a block of its own, and all of these to one.
fn straight() -> String {
    let mut text = "define i32 @f(i32 %n) {\n  %m = alloca i32\n  store i32 3, ptr %m\n".to_owned();
    text += &switch("%n", "end");
    for way in 0..WAYS {
        let _ = writeln!(text, "w{way}:\n  store i32 {way}, ptr %m\n  br label %end");
    }
    let incoming = met(0..WAYS, |way| (way * 7).to_string(), "[ -1, %0 ]");
    let _ = writeln!(text, "end:\n  %r = phi i32 {incoming}\n  %l = load i32, ptr %m");
    text + "  %s = add i32 %r, %l\n  ret i32 %s\n}\n"
}

/// Returns a loop around the switch. Of a hundred cases, one leaves the loop, one goes back to the
/// header at once, and one is a loop itself.
fn in_a_loop() -> String {
    let is = |kind: usize| (0..WAYS).filter(move |way| way % 100 == kind);
    let mut text =
        "define i32 @f(i32 %n) {\n  %m = alloca i32\n  store i32 3, ptr %m\n  br label %h\n".to_owned();
    let back = met(is(1), |way| (way + 1).to_string(), "[ %n, %0 ], [ %i, %w ], [ %j, %b ]");
    let _ = writeln!(
        text,
        "h:\n  %i = phi i32 {back}\n  %c = icmp ult i32 %i, {WAYS}\n  br i1 %c, label %w, label %out"
    );
    text += "w:\n";
    text += &switch("%i", "h");
    for way in 0..WAYS {
        let _ = match way % 100 {
            0 => writeln!(text, "w{way}:\n  br label %out"),
            1 => writeln!(text, "w{way}:\n  br label %h"),
            2 => writeln!(
                text,
                "w{way}:\n  %k{way} = phi i32 [ 0, %w ], [ %kn{way}, %w{way} ]\n  %kn{way} = add i32 %k{way}, 1\n  \
                 %kc{way} = icmp ult i32 %kn{way}, 3\n  br i1 %kc{way}, label %w{way}, label %b"
            ),
            _ => writeln!(text, "w{way}:\n  store i32 %i, ptr %m\n  br label %b"),
        };
    }
    let others = (0..WAYS).filter(|way| way % 100 > 1);
    let incoming = met(others, |way| if way % 100 == 2 { format!("%kn{way}") } else { way.to_string() }, "");
    let _ = writeln!(
        text,
        "b:\n  %v = phi i32 {}\n  %j = add i32 %i, 17\n  br label %h",
        incoming.trim_end_matches(", ")
    );
    let left = met(is(0), |way| (way * 3).to_string(), "[ %i, %h ]");
    let _ = writeln!(text, "out:\n  %r = phi i32 {left}\n  %l = load i32, ptr %m");
    text + "  %s = add i32 %r, %l\n  ret i32 %s\n}\n"
}

/// Returns a switch whose cases enter a cycle at different blocks.
fn into_a_cycle() -> String {
    let mut text = "define i32 @f(i32 %n) {\n  %m = alloca i32\n  store i32 0, ptr %m\n".to_owned();
    text += &switch("%n", "end");
    for way in 0..WAYS {
        let last = (way + WAYS - 1) % WAYS;
        let _ = writeln!(
            text,
            "w{way}:\n  %p{way} = phi i32 [ {way}, %0 ], [ %q{last}, %w{last} ]\n  %q{way} = add i32 %p{way}, 1"
        );
        let _ = match way % 1000 {
            0 => writeln!(
                text,
                "  %c{way} = icmp ult i32 %q{way}, {}\n  br i1 %c{way}, label %w{}, label %end",
                2 * WAYS,
                way + 1
            ),
            _ => writeln!(text, "  store i32 %q{way}, ptr %m\n  br label %w{}", (way + 1) % WAYS),
        };
    }
    let left = met((0..WAYS).step_by(1000), |way| format!("%q{way}"), "[ 7, %0 ]");
    let _ = writeln!(text, "end:\n  %r = phi i32 {left}\n  %l = load i32, ptr %m");
    text + "  %s = add i32 %r, %l\n  ret i32 %s\n}\n"
}

/// Returns the results of a module for some arguments.
fn computed(module: &Body) -> Vec<String> {
    let ctx = module.ctx();
    let limits = Limits { steps: 10_000_000, ..Limits::default() };
    let call = |argument: &str| {
        let argument = ArgSpec::parse(ctx, argument)?;
        run(module, "f", &[argument], &limits).map(|outcome| outcome.to_text())
    };
    let arguments = ["0", "2", "17", "5001", "10000"];
    arguments
        .into_iter()
        .map(|argument| call(argument).unwrap_or_else(|fault| format!("{:?}", fault.kind)))
        .collect()
}

/// Verifies a module and reads it back from both kinds of text, which must print the same again.
fn check_text(module: &Body, what: &str) {
    let ctx = module.ctx();
    let fail = |errors: Diagnostics| -> ! {
        let text = errors.to_text(ctx);
        panic!("{what}: {}", text.chars().take(2000).collect::<String>())
    };
    let errors = loomir_ir::verifier::verify(module);
    if errors.has_errors() {
        fail(errors);
    }
    let written = to_ll(module).unwrap_or_else(|errors| fail(errors));
    let again = from_ll(ctx, &written, "written.ll").unwrap_or_else(|errors| fail(errors));
    assert!(
        to_ll(&again).unwrap_or_else(|errors| fail(errors)) == written,
        "{what}: .ll written otherwise again"
    );
    let printed = text::print(module, &PrintOptions::default());
    let again = text::parse(ctx, &printed, "printed.mlir").unwrap_or_else(|errors| fail(errors));
    assert!(text::print(&again, &PrintOptions::default()) == printed, "{what}: printed otherwise again");
}

fn take(source: &str) {
    let ctx = context();
    let module = from_ll(&ctx, source, "wide.ll").unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    check_text(&module, "as it is read");
    let expected = computed(&module);
    let mut registry = PassRegistry::new();
    for pass in PASSES.iter().chain(loomir_transforms::passes()) {
        registry.add(*pass);
    }
    for pass in
        FORMS.iter().map(|form| form.name).chain(["simplify-cfg", "simplify-cfg{keep-loops=true}", "mem2reg"])
    {
        let manager = registry.parse(&format!("builtin.module(llvm.func({pass}))")).expect("a pipeline");
        let mut after = module.duplicate();
        let report = manager.run(&mut after, &PassInstrumentor::new());
        assert!(report.succeeded(), "{pass}: {}", report.diagnostics.to_text(&ctx));
        check_text(&after, pass);
        if let Some(form) = FORMS.iter().find(|form| form.name == pass) {
            let function = after.all_ops().find_map(|op| after.nested(op)).expect("a function");
            assert!((form.check)(function, &SymbolTable::default()).is_ok(), "{pass}");
        }
        assert_eq!(computed(&after), expected, "{pass}");
    }
}

#[test]
fn to_as_many_blocks() {
    take(&straight());
}

#[test]
fn inside_a_loop() {
    take(&in_a_loop());
}

#[test]
fn to_as_many_entries_of_a_cycle() {
    take(&into_a_cycle());
}
