//! Names, numbers, shapes and strings of a text end where MLIR's do.

use loomir_ir::text::{PrintOptions, parse, print};
use loomir_ir::{Context, Registry};

/// Returns a program as it is printed, or what is wrong with it.
fn printed(source: &str) -> String {
    let ctx = Context::new(Registry::new());
    match parse(&ctx, source, "it") {
        Ok(body) => print(&body, &PrintOptions::default()),
        Err(errors) => errors.to_text(&ctx),
    }
}

/// Asserts that an operation with these attributes is printed with those.
#[track_caller]
fn check_attributes(written: &str, expected: &str) {
    let text = printed(&format!("\"x.a\"() {{{written}}} : () -> ()"));
    assert!(text.contains(&format!("\"x.a\"() {{{expected}}} : () -> ()")), "{text}");
}

#[test]
fn names_take_what_belongs_to_them() {
    let text = printed("%a-b:2 = \"x.a\"() : () -> (i32, i64)  \"x.b\"(%a-b#1,%a-b#0) : (i64, i32) -> ()");
    assert!(text.contains("\"x.b\"(%0#1, %0#0) : (i64, i32) -> ()"), "{text}");
    check_attributes("s = @f::@\"a b\", t = !t.u<4>", "s = @f::@\"a b\", t = !t.u<4>");
    let text = printed("#m = affine_map<(d0) -> (d0)>\n\"x.a\"() {m = #m} : () -> ()");
    assert!(text.contains("\"x.a\"() {m = #map} : () -> ()"), "{text}");
}

#[test]
fn numbers_and_shapes() {
    check_attributes("t = tensor<4x8xf32>, u = tensor<0x1xf32>", "t = tensor<4x8xf32>, u = tensor<0x1xf32>");
    check_attributes("i = 0x1F : i64", "i = 31 : i64");
    check_attributes("f = 1. : f64, g = 1.5e-3 : f64", "f = 1.000000e+00 : f64, g = 1.500000e-03 : f64");
    let wrong = printed("\"x.a\"() {f = 1e5 : f64} : () -> ()");
    assert_eq!(wrong, "it:1:15: error: expected '}' in attribute dictionary\n");
}

#[test]
fn strings_end_at_their_quote_or_line() {
    check_attributes(r#"s = "a\"b\0A""#, r#"s = "a\22b\0A""#);
    let wrong = printed("\"x.a() : () -> ()\n\"");
    assert_eq!(wrong, "it:1:1: error: expected '\"' in string literal\n");
}

#[test]
fn what_begins_no_token_is_one_character() {
    assert_eq!(printed("é;"), "it:1:1: error: unexpected character\n");
}
