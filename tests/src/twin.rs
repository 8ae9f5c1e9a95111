//! The integer twin of a program: the same program with integers in place of its floats.
//!
//! Sums of floats in any order of association have no single result to compare with; sums of
//! integers have. If the twins of two programs agree bit for bit, the programs differ only in the
//! order of such sums.

/// Text about floats, and its replacement for integers.
const WORDS: [(&str, &str); 10] = [
    (" fastmath<reassoc>", ""),
    ("arith.addf", "arith.addi"),
    ("arith.subf", "arith.subi"),
    ("arith.mulf", "arith.muli"),
    ("arith.maximumf", "arith.maxsi"),
    // The neutral element of vectors.
    ("0xFF800000", "-2147483648"),
    ("<maximumf>", "<maxsi>"),
    ("arith.cmpf ogt", "arith.cmpi sgt"),
    ("arith.sitofp", "arith.trunci"),
    ("f32", "i32"),
];

/// Returns the twin of a module of [`Program`](crate::program::Program)s, or of a transformed one:
/// `f32` becomes `i32`.
///
/// ```
/// # use loomir_tests::twin::integers;
/// assert_eq!(integers("%0 = arith.constant -2.000000e+00 : f32"), "%0 = arith.constant -2 : i32");
/// assert_eq!(integers("%2 = arith.addf %0, %1 fastmath<reassoc> : f32"), "%2 = arith.addi %0, %1 : i32");
/// ```
pub fn integers(text: &str) -> String {
    let words = WORDS.iter().fold(text.to_owned(), |text, (float, integer)| text.replace(float, integer));
    let is_part = |c: char| c.is_ascii_digit() || "+-.e".contains(c);
    let mut twin = String::new();
    let mut rest = &words[..];
    while !rest.is_empty() {
        let other = rest.find(is_part).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(other);
        let end = behind.find(|c| !is_part(c)).unwrap_or(behind.len());
        let (word, behind) = behind.split_at(end);
        twin.push_str(before);
        match word.parse::<f64>() {
            Ok(number) if word.contains('.') => twin.push_str(&(number as i64).to_string()),
            _ => twin.push_str(word),
        }
        rest = behind;
    }
    twin
}

/// Returns the programs to execute for comparing a module with its transformation: both unchanged,
/// or their twins if sums may be reassociated.
pub fn compared(before: &str, after: &str) -> [String; 2] {
    let flags = |flags: &str| before.matches(flags).count();
    let has_twin = flags("fastmath<reassoc>") > 0 && flags("fastmath<reassoc>") == flags("fastmath<");
    [before, after].map(|text| if has_twin { integers(text) } else { text.to_owned() })
}
