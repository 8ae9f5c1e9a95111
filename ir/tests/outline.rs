//! The outline of a text: where names are defined and used, with errors in the text too.

use std::fmt::Write;

use loomir_ir::text::outline::{Outline, Outlined};
use loomir_ir::text::{ParseOptions, parse_with_outline};
use loomir_ir::{Context, Registry, dialect};

dialect! {
    /// The outermost operations.
    pub BUILTIN = "builtin" {}

    /// A module.
    ModuleOp = "module" {
        attrs { sym_name: Optional String }
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, SymbolTable, NoTerminator]
        format "attr-dict-with-keyword $body"
    }
}

dialect! {
    /// Operations for tests.
    pub TEST = "t" {}

    /// A function.
    FuncOp = "func" {
        attrs { sym_name: Required String }
        regions { body: Any }
        traits [IsolatedFromAbove, Symbol, NoTerminator]
        format "$sym_name attr-dict-with-keyword $body"
    }

    /// A region.
    ScopeOp = "scope" {
        regions { body: Any }
        traits [NoTerminator]
        format "$body attr-dict"
    }

    /// A value.
    MakeOp = "make" {
        results { value: One Any }
        format "attr-dict `:` type($value)"
    }

    /// A use.
    UseOp = "use" {
        operands { value: One Any }
        attrs { callee: Optional FlatSymbol }
        format "$value (`of` $callee^)? attr-dict `:` type($value)"
    }

    /// A branch.
    BranchOp = "br" {
        successors { target }
        traits [Terminator]
        format "$target attr-dict"
    }
}

fn outlined(source: &str) -> (Context, Outlined) {
    let mut registry = Registry::new();
    registry.dialect(&BUILTIN).dialect(&TEST);
    let ctx = Context::new(registry);
    let outlined = parse_with_outline(&ctx, source, "test", &ParseOptions::default());
    (ctx, outlined)
}

fn place(source: &str, offset: u32) -> String {
    let before = &source[..offset as usize];
    let line = before.matches('\n').count() + 1;
    format!("{line}:{}", before.len() - before.rfind('\n').map_or(0, |at| at + 1) + 1)
}

/// A line for each name: its text, the place of its definition, its types, and its uses.
fn names(source: &str) -> String {
    let (ctx, Outlined { outline, .. }) = outlined(source);
    let mut text = String::new();
    for (at, own) in outline.names.iter().enumerate() {
        let name = &source[own.span.start as usize..own.span.end as usize];
        let _ = write!(text, "{name} at {}", place(source, own.span.start));
        for ty in &own.types {
            let _ = write!(text, " {}", loomir_ir::text::type_to_string(&ctx, *ty));
        }
        for used in outline.occurrences_of(at).filter(|own| !own.is_definition) {
            let _ = write!(text, ", {}", place(source, used.span.start));
        }
        text.push('\n');
    }
    text
}

#[test]
fn names_are_found_in_their_scopes() {
    let source = "#map = affine_map<() -> (0)>
t.func @f {
^entry(%a: i8):
  %r:2 = \"t.two\"() {m = #map} : () -> (i8, i16)
  t.scope {
    %x = t.make : i8
    t.use %x of @g : i8
    t.use %r#1 : i16
  }
  %x = t.make : i16
  t.use %x of @f : i16
  t.br ^entry
}
t.func @g {
  %a = t.make : i1
  t.use %a : i1
}
";
    assert_eq!(
        names(source),
        "#map at 1:1, 4:25
@f at 2:8, 11:15
^entry at 3:1, 12:8
%a at 3:8 i8
%r at 4:3 i8 i16, 8:11
%x at 6:5 i8, 7:11
%x at 10:3 i16, 11:9
@g at 14:8, 7:17
%a at 15:3 i1, 16:9
"
    );
}

#[test]
fn names_in_text_with_errors_are_found() {
    let source = "t.func @f {
  %a = t.make : i8
  %b = t.mak : i8
  t.use %b of
  t.use %a : i8
}
t.func @g {
  t.use %a : i8
}
";
    assert_eq!(names(source), "@f at 1:8\n%a at 2:3 i8, 5:9\n%b at 3:3, 4:9\n@g at 7:8\n");
}

#[test]
fn the_module_has_what_could_be_read() {
    let source = "module {
  t.func @good {
    %a = t.make : i8
  }
  t.func @bad {
    %a = t.make : i8
    t.use %b : i8
  }
  t.func @worse {
    t.what
  }
}
junk
";
    let (ctx, Outlined { module, outline, diagnostics }) = outlined(source);
    let shown = |at: usize| {
        let op = outline.op_ref(&module, at)?;
        Some((op.name().to_owned(), outline.ops[at].has_errors))
    };
    let known: Vec<_> = (0..outline.ops.len()).filter_map(shown).collect();
    let expected = [("builtin.module", true), ("t.func", false), ("t.make", false)];
    assert_eq!(known, expected.map(|(name, is_broken)| (name.to_owned(), is_broken)));
    let places: Vec<_> = diagnostics.iter().filter_map(|own| own.loc.file_line_col(&ctx)).collect();
    assert_eq!(places, [("test", 7, 11), ("test", 10, 5), ("test", 13, 1)]);
}

#[test]
fn places_are_found_and_nest() {
    let source = "t.func @f { t.scope { %a = t.make : i8 } }";
    let (_, Outlined { outline, .. }) = outlined(source);
    let text = |outline: &Outline, at: usize| {
        let span = &outline.ops[at].span;
        source[span.start as usize..span.end as usize].to_owned()
    };
    let at = outline.op_at(source.find("make").expect("it is there") as u32).expect("an operation");
    let around: Vec<String> = outline.ancestors(at).map(|at| text(&outline, at)).collect();
    assert_eq!(around, ["%a = t.make : i8", "t.scope { %a = t.make : i8 }", source]);
    assert!(outline.op_at(source.len() as u32 + 1).is_none());
    let used = outline.occurrence_at(source.find("%a").expect("it is there") as u32 + 1).expect("a name");
    assert!(used.is_definition && outline.names[used.name].span == used.span);
}
