//! Suggestions for misspelt words.

use loomir_ir::diagnostics::suggest::nearest;

#[test]
fn misspelt_words_are_found_and_others_are_not() {
    let known = ["arith.addf", "arith.addi", "arith.mulf"];
    assert_eq!(nearest("arith.adff", known), Some("arith.addf"));
    assert_eq!(nearest("arith.addii", known), Some("arith.addi"));
    assert_eq!(nearest("arith.muf", known), Some("arith.mulf"));
    assert_eq!(nearest("scf.reduce", known), None);
    assert_eq!(nearest("mian", ["main"]), Some("main"));
    assert_eq!(nearest("g", ["f"]), Some("f"));
    assert_eq!(nearest(&"a".repeat(100_000), known), None);
    assert_eq!(nearest("", known), None);
}
