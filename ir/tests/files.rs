//! Rules for files as a whole: pieces, resources, what may stand at the top, what nobody
//! registered.

use insta::assert_snapshot;
use loomir_ir::resources::ResourceValue;
use loomir_ir::text::{ParseOptions, PrintOptions};
use loomir_ir::{Body, Context, Registry, dialect, text};

dialect! {
    /// A function to stand alone.
    pub TOY = "toy" {}

    /// Holds anything.
    FnOp = "fn" {
        regions { body: Any }
        traits [IsolatedFromAbove]
    }

    /// Is not isolated.
    NopOp = "nop" {}
}

dialect! {
    /// The operation around everything.
    pub BUILTIN = "builtin" {}

    /// Holds what a file holds.
    ModuleOp = "module" {
        regions { body: SingleBlock }
        traits [IsolatedFromAbove, NoTerminator]
    }
}

fn context() -> Context {
    let mut registry = Registry::new();
    registry.dialect(&BUILTIN);
    registry.dialect(&TOY);
    Context::new(registry)
}

fn read(ctx: &Context, source: &str, options: &ParseOptions) -> Result<Body, String> {
    text::parse_with(ctx, source, "in.mlir", options).map_err(|d| d.to_text(ctx))
}

/// Reads and prints; an error is the diagnostics' text.
fn through(source: &str, options: &ParseOptions) -> String {
    match read(&context(), source, options) {
        Ok(body) => text::print(&body, &PrintOptions::default()),
        Err(errors) => errors,
    }
}

const RESOURCES: &str = r#""builtin.module"() ({
}) {toy.a = dense_resource<blob> : tensor<3xi8>} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      blob: "0x0400000001020304"
    }
  },
  external_resources: {
    tool: {
      a: "x\22y",
      b: true,
      "d e": "0x0400000000112233"
    },
    other: {
      c: false
    }
  }
#-}
"#;

#[test]
fn resources_print_as_they_are_read() {
    assert_eq!(through(RESOURCES, &ParseOptions::default()), RESOURCES);
    let scattered =
        "{-# external_resources: { t: { a: true }, u: { k: \"v\" }, t: { a: \"again\" }, empty: {} } #-}";
    assert_snapshot!(through(scattered, &ParseOptions::default()), @r#"
    "builtin.module"() ({
    ^bb0:
    }) : () -> ()

    {-#
      external_resources: {
        t: {
          a: true,
          a: "again"
        },
        u: {
          k: "v"
        }
      }
    #-}
    "#);
}

#[test]
fn long_resources_are_left_out_if_asked() {
    let ctx = context();
    let body = read(&ctx, RESOURCES, &ParseOptions::default()).unwrap();
    let options =
        |limit| PrintOptions { elide_resources_longer_than: Some(limit), ..PrintOptions::default() };
    assert_snapshot!(text::print(&body, &options(6)), @r#"
    "builtin.module"() ({
    }) {toy.a = dense_resource<blob> : tensor<3xi8>} : () -> ()

    {-#
      external_resources: {
        tool: {
          b: true
        },
        other: {
          c: false
        }
      }
    #-}
    "#);
    assert_eq!(text::print(&body, &options(20)), RESOURCES);
}

#[test]
fn an_alias_behind_a_resource_changes_nothing_about_it() {
    let before = r#""t.a"() {a = dense_resource<blob> : tensor<3xi8>} : () -> ()"#;
    let behind = r#""t.b"() {m = affine_map<(d0) -> (d0 + 1)>} : () -> ()"#;
    let file = r#"{-# dialect_resources: { builtin: { blob: "0x0400000001020304" } } #-}"#;
    let printed = through(&format!("{before}\n{behind}\n{file}"), &ParseOptions::default());
    assert_snapshot!(printed, @r#"
    #map = affine_map<(d0) -> (d0 + 1)>
    "builtin.module"() ({
      "t.a"() {a = dense_resource<blob> : tensor<3xi8>} : () -> ()
      "t.b"() {m = #map} : () -> ()
    }) : () -> ()

    {-#
      dialect_resources: {
        builtin: {
          blob: "0x0400000001020304"
        }
      }
    #-}
    "#);
}

#[test]
fn a_group_of_resources_can_be_taken_out() {
    let ctx = context();
    let mut body = read(&ctx, RESOURCES, &ParseOptions::default()).unwrap();
    let resources = body.external_resources_mut();
    let tool = resources.remove("tool").unwrap();
    assert_eq!(tool[1], ("b".to_owned(), ResourceValue::Bool(true)));
    assert_eq!(resources.remove("tool"), None);
    resources.push("other", "d", ResourceValue::Bool(true));
    let left: Vec<_> = resources.groups().map(|(name, entries)| (name, entries.len())).collect();
    assert_eq!(left, [("other", 2)]);
}

#[test]
fn long_elements_are_elided_if_asked() {
    let source = r#""t.x"() {a = dense<[1, 2]> : tensor<2xi8>, b = dense<1> : tensor<9xi8>, c = dense<["a", "b"]> : tensor<2x!t.s>} : () -> ()"#;
    let ctx = context();
    let body = read(&ctx, source, &ParseOptions::default()).unwrap();
    let options = PrintOptions { elide_elements_larger_than: Some(1), ..PrintOptions::default() };
    assert_snapshot!(text::print(&body, &options), @r#"
    "builtin.module"() ({
      "t.x"() {a = dense_resource<__elided__> : tensor<2xi8>, b = dense<1> : tensor<9xi8>, c = dense_resource<__elided__> : tensor<2x!t.s>} : () -> ()
    }) : () -> ()
    "#);
}

#[test]
fn what_nobody_registered_is_refused_if_not_allowed() {
    let options = ParseOptions { allow_unregistered_dialects: false, ..ParseOptions::default() };
    let source = "\"t.op\"() : () -> ()\n\"toy.no\"() : () -> ()\n\"toy.nop\"() {a = #t.b<1>} : () -> ()\n\
                  \"toy.nop\"() {a = !t<\"x\">} : () -> ()\n\"toy.nop\"() {t.discardable} : () -> ()\n";
    assert_snapshot!(through(source, &options), @"
    in.mlir:1:1: error: operation 't.op' is of a dialect that is not registered
    in.mlir:1:1: help: if this is intended, allow it with --allow-unregistered-dialect
    in.mlir:2:1: error: dialect 'toy' has no operation 'toy.no'
    in.mlir:2:1: help: if this is intended, allow it with --allow-unregistered-dialect
    in.mlir:3:18: error: attribute 't.b' is of a dialect that is not registered
    in.mlir:3:18: help: if this is intended, allow it with --allow-unregistered-dialect
    in.mlir:4:18: error: type 't' is of a dialect that is not registered
    in.mlir:4:18: help: if this is intended, allow it with --allow-unregistered-dialect
    ");
}

#[test]
fn one_operation_may_be_the_root() {
    let options = ParseOptions { implicit_module: false, ..ParseOptions::default() };
    assert_snapshot!(through("\"toy.fn\"() ({ \"toy.nop\"() : () -> () }) : () -> ()", &options), @r#"
    "toy.fn"() ({
      "toy.nop"() : () -> ()
    }) : () -> ()
    "#);
    let module = "\"builtin.module\"() ({\n}) : () -> ()\n";
    assert_eq!(through(module, &options), module);
    for (source, message) in [
        ("", "source must contain a single top-level operation, found: 0"),
        (&module.repeat(2), "source must contain a single top-level operation, found: 2"),
        (
            "\"toy.nop\"() : () -> ()",
            "'toy.nop' can't be the top-level operation: it isn't isolated from above",
        ),
    ] {
        assert_eq!(through(source, &options), format!("in.mlir:1:1: error: {message}\n"));
    }
}

#[test]
fn a_piece_of_a_file_knows_its_lines() {
    let source = "\"t.a\"() : () -> ()\n  // -----  \n\n\"t.b\"(%x) : (i32) -> ()\n";
    let chunks = text::split_source(source, text::SPLIT_MARKER);
    assert_eq!(chunks.len(), 2);
    let options = ParseOptions { first_line: chunks[1].first_line, ..ParseOptions::default() };
    assert_snapshot!(through(chunks[1].text, &options), @"in.mlir:4:7: error: use of undeclared SSA value name '%x'");
}
