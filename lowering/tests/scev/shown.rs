//! Snapshots of loops with their printed expressions and counts. The text states the subject of
//! each.

use crate::opt::printed;
use crate::watch::watch;
use crate::{context, functions, read};

#[test]
fn terms() {
    let ctx = context();
    let module = read(&ctx, include_str!("fixtures/terms.ll"));
    for (name, function) in functions(&module) {
        let calls: Vec<Vec<u128>> = [0, 1, 2, 8, 15, 100].map(|word| vec![word, word / 2]).to_vec();
        let (watched, _) =
            watch(&module, &name, function, &calls).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(watched.left > 0, "{name} is never left");
    }
    insta::assert_snapshot!(printed(&module));
}
