//! The colours of a page can be read: WCAG 2.2, level AA, in the light and in the dark.
//!
//! Reference: <https://www.w3.org/TR/WCAG22/#contrast-minimum>.

use std::collections::BTreeMap;

const STYLE: &str = include_str!("../../src/report/assets/report.css");

/// The backgrounds, each with the colours of texts on it.
const TEXTS: [(&str, &[&str]); 9] = [
    ("paper", &["ink", "soft", "link"]),
    ("card", &["ink", "soft", "link", "tested", "c0", "c1", "c2", "c3", "c4", "c5"]),
    ("wash", &["ink", "soft", "link", "c0", "c1", "c2", "c3", "c4", "c5"]),
    ("done-wash", &["ink", "link", "done"]),
    ("refused-wash", &["ink", "link", "refused"]),
    ("tested-wash", &["ink", "soft", "link", "tested", "c0", "c1", "c2", "c3", "c4", "c5"]),
    ("noted-wash", &["ink", "noted"]),
    ("paper", &["done", "refused", "tested", "noted"]),
    ("card", &["done", "refused", "noted"]),
];

/// The backgrounds of drawings, with the colours of their lines.
const LINES: [(&str, &[&str]); 2] =
    [("card", &["arrow", "refused"]), ("wash", &["arrow", "refused", "link"])];

type Colors = BTreeMap<&'static str, [f64; 3]>;

/// Reads the variables of a block of the style.
fn colors(block: &'static str) -> Colors {
    let declarations =
        block.split([';', '{']).filter_map(|own| own.trim().strip_prefix("--")?.split_once(": #"));
    let number = |digits: &str| i64::from_str_radix(digits, 16).expect("digits") as f64 / 255.0;
    let channel = |text: &str, at: usize| match text.len() {
        3 => number(&text[at..=at].repeat(2)),
        _ => number(&text[2 * at..2 * at + 2]),
    };
    declarations.map(|(name, text)| (name, [0, 1, 2].map(|at| channel(text, at)))).collect()
}

fn luminance(color: [f64; 3]) -> f64 {
    let linear =
        color.map(|own| if own <= 0.040_45 { own / 12.92 } else { ((own + 0.055) / 1.055).powf(2.4) });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn texts_and_lines_stand_out() {
    assert!((contrast([0.0; 3], [1.0; 3]) - 21.0).abs() < 1e-9);
    let (light, rest) =
        STYLE.split_once("@media screen and (prefers-color-scheme: dark)").expect("a dark mode");
    let (dark, _) = rest.split_once("* {").expect("an end");
    let mut faint = Vec::new();
    for (mode, block) in [("light", light), ("dark", dark)] {
        let colors = colors(block);
        let pairs = [(TEXTS.as_slice(), 4.5), (LINES.as_slice(), 3.0)];
        for (behind, front, least) in pairs.iter().flat_map(|(all, least)| {
            all.iter()
                .flat_map(move |(behind, fronts)| fronts.iter().map(move |front| (*behind, *front, *least)))
        }) {
            let ratio = contrast(colors[behind], colors[front]);
            if ratio < least {
                faint.push(format!("{mode}: {front} on {behind} is {ratio:.2}, less than {least}"));
            }
        }
    }
    assert_eq!(faint, [""; 0]);
}
