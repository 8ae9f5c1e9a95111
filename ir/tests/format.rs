//! Declarative formats: a use of each element that `text.rs` has none of, and what is said of
//! formats that are wrong.

use insta::assert_snapshot;
use loomir_ir::opdef::AttrConstraint;
use loomir_ir::text::{self, Format, PrintOptions};
use loomir_ir::{Context, OpDef, Registry, Type, dialect};

static WIDTH: AttrConstraint = AttrConstraint::Integer(32);

dialect! {
    /// Operations to read and print by their formats.
    pub FORM = "form" {}

    /// The end of a region.
    EndOp = "end" {
        operands { values: Variadic Any }
        traits [Terminator]
        format "($values^ `:` type($values))? attr-dict"
    }
    /// A region whose end is implied.
    OneOp = "one" {
        regions { body: SingleBlock = EndOp }
        format "$body attr-dict"
    }
    /// Any number of them.
    ManyOp = "many" {
        regions { first: SingleBlock = EndOp, rest: Any variadic }
        format "regions attr-dict"
    }
    /// A region that may be absent.
    MaybeOp = "maybe" {
        regions { body: AtMostOneBlock }
        format "(`do` $body^)? attr-dict-with-keyword"
    }
    /// Any number of places to go.
    SwitchOp = "switch" {
        successors { default, cases variadic }
        traits [Terminator]
        format "$default `[` $cases `]` attr-dict"
    }
    /// The same, as one list.
    JumpOp = "jump" {
        successors { targets variadic }
        traits [Terminator]
        format "successors attr-dict"
    }
    /// Inherent attributes apart from others.
    PropsOp = "props" {
        operands { value: One Any }
        attrs { width: Required Confined(&WIDTH, "positive number", |ctx, attr| attr.as_int(ctx) > Some(0)), scale: Optional Float(Type::F32), note: Optional String }
        format "$value `width` `=` $width (`scale` $scale^)? prop-dict attr-dict `:` type($value)"
    }
    /// A second group where the first is absent, and the mark in the second.
    ElseOp = "else" {
        operands { value: Optional Index }
        attrs { all: Optional Unit }
        format "(`of` $value^) : (`none`)? (`some`) : (`all` $all^)? attr-dict"
    }
    /// Types and spaces.
    TypesOp = "types" {
        operands { a: One Any, b: One Any }
        results { r: Variadic Any }
        attrs { kind: Required TypeAttr }
        format "`<` $kind `>` `` `(` operands `)` ` ` `:` `\n` functional-type(operands, $r) attr-dict"
    }
}

fn context() -> Context {
    let mut registry = Registry::new();
    registry.dialect(&FORM);
    Context::new(registry)
}

/// The custom form of a program, which reads back as itself, and what is against it.
fn through(source: &str, generic: bool) -> String {
    let ctx = context();
    let options = PrintOptions { generic, ..PrintOptions::default() };
    let body = match text::parse(&ctx, source, "in") {
        Ok(body) => body,
        Err(diagnostics) => return diagnostics.to_text(&ctx),
    };
    let errors = loomir_ir::verifier::verify(&body);
    if !errors.is_empty() {
        return errors.to_text(&ctx);
    }
    let printed = text::print(&body, &options);
    let again = text::parse(&ctx, &printed, "again").map_err(|d| d.to_text(&ctx)).expect("it reads back");
    assert_eq!(text::print(&again, &options), printed);
    printed
}

const PROGRAM: &str = r#"
form.one {
} {tag}
form.one {
  form.end
}
form.one {
^bb0(%a: i32):
  form.end %a : i32
}
form.one {
  form.end {kept}
}
form.many {
}, {
  form.end
^bb1:
  form.end
}, {
}
form.maybe
form.maybe do {
  form.end
} attributes {a = 1 : i8}
form.one {
  form.switch ^bb1 []
^bb1:
  form.switch ^bb1 [^bb1, ^bb2] {b}
^bb2:
  form.jump ^bb1, ^bb2
^bb3:
  form.jump
}
%v:3 = "t.v"() : () -> (index, f32, i1)
form.props %v#0 width = 4 : index
form.props %v#1 width = 0x10 scale 1.5 <{note = "n"}> {other = 2 : i8} : f32
form.else none all
form.else of %v#0 some {a}
%r:2 = form.types <i32>(%v#0, %v#1) :
  (index, f32) -> (i1, i8)
form.types <(i1) -> ()>(%v#0, %v#0) :
  (index, index) -> () {c}
"#;

#[test]
fn every_element_both_ways() {
    // One block a region is said of most of them.
    let program = PROGRAM.replace("form.one {\n  form.switch", "\"t.region\"() ({\n  form.switch");
    let program = program.replace("  form.jump\n}", "  form.jump\n}) : () -> ()");
    let custom = through(&program, false);
    assert_snapshot!("elements", custom);
    let generic = through(&program, true);
    assert_snapshot!("elements-generic", generic);
    assert_eq!(through(&generic, false), custom);
}

#[test]
fn wrong_uses_are_refused() {
    let programs = [
        "form.one",
        "form.maybe do",
        "form.maybe {b}",
        "%v = \"t.v\"() : () -> index\nform.props %v width = 0 : index",
        "%v = \"t.v\"() : () -> index\nform.props %v width = 1.5 : index",
        "%v = \"t.v\"() : () -> index\nform.props %v width = 1 <{unknown = 1}> : index",
        "%v = \"t.v\"() : () -> index\nform.props %v width = 1 <{width = 2 : i32}> : index",
        "%v = \"t.v\"() : () -> index\nform.props %v width = 1 scale 2 : index",
        "form.else",
        "form.else of none some",
        "%v = \"t.v\"() : () -> index\nform.types <i32>(%v) : (index) -> ()",
        "%v = \"t.v\"() : () -> index\nform.types <i32>(%v, %v) : (index, i1) -> ()",
    ];
    let report: String = programs.iter().map(|p| format!("{p}\n  => {}\n", through(p, false))).collect();
    assert_snapshot!(report);
}

/// Returns the complaints about a format of an operation with two operands (the second optional), a
/// result, an attribute, a region and a successor.
fn said_of(format: &'static str) -> String {
    dialect! {
        /// Formats to judge.
        JUDGED = "judged" {}

        /// One of each.
        AllOp = "all" {
            operands { a: One Any, b: Optional Any }
            results { r: One Any }
            attrs { x: Required String, y: Optional Unit }
            regions { body: Any }
            successors { next }
            traits [Terminator]
        }
    }
    let def = OpDef { format: Some(format.into()), ..AllOp::DEF.clone() };
    match Format::parse(&def, &[]) {
        Ok(_) => format!("{format}\n  fine\n"),
        Err(message) => format!("{format}\n  ! {message}\n"),
    }
}

#[test]
fn wrong_formats_are_refused() {
    let formats = [
        "$a $b $body $next attr-dict type($a) type($b) type($r)",
        "$a $b $body $next type($a) type($b) type($r)",
        "$a $body $next attr-dict",
        "operands regions successors attr-dict",
        "$a $b $next attr-dict",
        "$a $b $body attr-dict",
        "$a $a $b $body $next attr-dict",
        "$x $x operands $body $next attr-dict",
        "operands $body $next attr-dict attr-dict",
        "operands $body $next attr-dict $none",
        "operands $body $next attr-dict $r",
        "operands $body $next attr-dict type($x)",
        "operands $body $next attr-dict custom<Nothing>($x)",
        "operands $body $next attr-dict nothing",
        "operands $body $next attr-dict `lit",
        "operands $body $next attr-dict `1+`",
        "operands $body $next attr-dict (`x` $y)?",
        "operands $body $next attr-dict (`x` $x^)?",
        "$a (`x` $a^)? $b $body $next attr-dict",
        "$a (`x` $b^ $y^)? $body $next attr-dict",
        "$a (`x` $b^) $body $next attr-dict",
        "$a (attr-dict `x` $b^)? $body $next",
        "$a (`x` $b^)? : $body $next attr-dict",
        "$a ($b^ `:` type($b))? : (`none`)? $body $next attr-dict",
        "operands $body $next attr-dict oilist($x)",
        "operands $body $next attr-dict qualified(attr-dict)",
        "operands $body $next attr-dict functional-type(operands)",
        "operands $body $next attr-dict )",
        "operands $body $next attr-dict {",
        "operands $body $next prop-dict attr-dict",
    ];
    assert_snapshot!(formats.map(said_of).concat());
}
