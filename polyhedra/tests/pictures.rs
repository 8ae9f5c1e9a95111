//! The pictures of the book are what the crate draws. `LOOMIR_BLESS=1` draws them anew.

use std::path::Path;

use loomir_polyhedra::{Limits, Relation, Set};

const LIMITS: Limits = Limits::steps(10_000_000);

/// Compares with the committed picture, or replaces it.
#[track_caller]
fn check(name: &str, svg: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/images").join(name);
    if std::env::var_os("LOOMIR_BLESS").is_some() {
        std::fs::write(&path, svg).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == svg, "{name} is not what is drawn now; LOOMIR_BLESS=1 replaces it");
}

fn relation(text: &str, size: i64) -> String {
    let relation: Relation = text.parse().unwrap();
    let n = relation.space().param("n").unwrap();
    relation.fix(n, size).to_svg(&LIMITS).unwrap()
}

#[test]
fn sets() {
    let triangle: Set = "{ S[i, j] : 0 <= i < 6 and 0 <= j <= i }".parse().unwrap();
    check("triangle.svg", &triangle.to_svg(&LIMITS).unwrap());
    let board: Set = "{ [i, j] : 0 <= i, j < 8 and (i + j) mod 2 = 0 }".parse().unwrap();
    let corner: Set = "{ [i, j] : i >= 3 and j >= 3 and floor(i/3) = floor(j/3) }".parse().unwrap();
    let rest = board.subtract(&corner, &LIMITS).unwrap().coalesce(&LIMITS).unwrap();
    check("board.svg", &rest.to_svg(&LIMITS).unwrap());
}

#[test]
fn relations() {
    check("flow.svg", &relation("[n] -> { S[i] -> T[-3 + 2i] : 0 <= i < n and 3 <= 2i < n + 3 }", 6));
    let text = "[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n - 1 and 1 <= j < n }";
    check("dependence.svg", &relation(text, 4));
}

#[test]
fn what_cannot_be_drawn_is_refused() {
    let unbounded: Set = "{ [i] : i >= 0 }".parse().unwrap();
    assert!(unbounded.to_svg(&LIMITS).is_err());
    let solid: Set = "{ [i, j, k] : 0 <= i, j, k < 3 }".parse().unwrap();
    assert!(solid.to_svg(&LIMITS).is_err());
    let empty: Set = "{ [i, j] : i < j < i }".parse().unwrap();
    assert!(empty.to_svg(&LIMITS).unwrap().ends_with("</svg>\n"));
}
