//! Changes of text by the token.
//!
//! Bytes changed at random seldom get past a lexer. Here a text is cut into words, strings and
//! punctuation, and the change is one of whole tokens: deleted, repeated, swapped, replaced by
//! others of their kind, or spliced in from another text. Brackets and what is between them often
//! move as one, so nesting survives. All choices follow from a seed.

/// The first byte says which kind a token is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    /// `%0`, `@f`, `^bb0`, `#map`, `!t`.
    Sigil(u8),
    String,
    Open,
    Close,
    Punctuation,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    /// Behind it and the blanks that follow.
    end: usize,
}

/// A small generator of pseudo-random numbers (xorshift).
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u32) -> Random {
        Random((u64::from(seed) ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xd129_0d3a_2c1b_88b5) | 1)
    }

    /// A number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % n as u64) as usize
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$' | b'-')
}

/// Cuts a text into tokens.
fn tokens(text: &[u8]) -> Vec<Token> {
    let behind = |from: usize, part: &dyn Fn(u8) -> bool| {
        text[from..].iter().position(|b| !part(*b)).map_or(text.len(), |n| from + n)
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let (kind, end) = match text[start] {
            b'"' => {
                let mut end = start + 1;
                while end < text.len() && text[end] != b'"' && text[end] != b'\n' {
                    end += if text[end] == b'\\' { 2 } else { 1 };
                }
                (Kind::String, (end + 1).min(text.len()))
            }
            sigil @ (b'%' | b'@' | b'^' | b'#' | b'!') => (Kind::Sigil(sigil), behind(start + 1, &is_part)),
            b'0'..=b'9' => (Kind::Number, behind(start, &|b| b.is_ascii_alphanumeric() || b == b'.')),
            b if is_part(b) && b != b'-' => (Kind::Word, behind(start, &|b| is_part(b) && b != b'-')),
            b'(' | b'[' | b'{' | b'<' => (Kind::Open, start + 1),
            b'-' if text.get(start + 1) == Some(&b'>') => (Kind::Punctuation, start + 2),
            b')' | b']' | b'}' | b'>' => (Kind::Close, start + 1),
            _ => (Kind::Punctuation, start + 1),
        };
        let end = behind(end, &|b| b.is_ascii_whitespace());
        tokens.push(Token { kind, start, end });
        start = end;
    }
    tokens
}

/// A run of tokens: one, some, or from an opening bracket to what closes it.
fn run(tokens: &[Token], random: &mut Random) -> (usize, usize) {
    let first = random.below(tokens.len());
    let mut last = first;
    if tokens[first].kind == Kind::Open {
        let mut open = 0;
        for (i, token) in tokens.iter().enumerate().skip(first) {
            open += match token.kind {
                Kind::Open => 1,
                Kind::Close => -1,
                _ => 0,
            };
            if open == 0 {
                last = i;
                break;
            }
        }
    } else if random.below(3) == 0 {
        last = (first + random.below(12)).min(tokens.len() - 1);
    }
    (tokens[first].start, tokens[last].end)
}

/// Tokens of MLIR that a text may not have by itself.
pub const MLIR: &[&str] = &[
    "-1",
    "0",
    "1",
    "9223372036854775807",
    "0xFFFFFFFFFFFFFFFF",
    "1.0",
    "0x7FC00000",
    "i1",
    "i0",
    "si8",
    "ui64",
    "i16777215",
    "f80",
    "f4E2M1FN",
    "index",
    "none",
    "?",
    "*",
    "...",
    "dense<>",
    "dense<0>",
    "dense<\"0x00\">",
    "array<i8>",
    "array<i64: 1>",
    "sparse<>",
    "loc(unknown)",
    "loc(\"a\":1:2)",
    "loc(fused<1>[unknown])",
    "tensor<0xi1>",
    "vector<[4]xf32>",
    "memref<*xf32>",
    "!d.t<[>",
    "#d<\"\">",
    "affine_map<() -> ()>",
    "affine_set<() : ()>",
    "distinct[0]<>",
    "strided<[?], offset: ?>",
    "@a::@b",
    "unit",
    "true",
    "{}",
    "<{}>",
    "()",
    "->",
    "::",
    ": ",
    "^bb0",
    "^bb0(%x: i1):",
    "%0",
    "%0:2",
    "%0#1",
    "\"t.op\"() : () -> ()",
];

/// Tokens of LLVM IR that a text may not have by itself.
pub const LLVM_IR: &[&str] = &[
    "-1",
    "0",
    "1",
    "9223372036854775808",
    "u0xFFFFFFFFFFFFFFFF",
    "1.0",
    "-0.0",
    "0x7FF8000000000001",
    "0xK3FFF8000000000000000",
    "0xH7C00",
    "true",
    "null",
    "none",
    "undef",
    "poison",
    "zeroinitializer",
    "splat (i32 1)",
    "blockaddress(@f, %a)",
    "getelementptr (i8, ptr null, i64 1)",
    "i1",
    "i0",
    "i8388607",
    "half",
    "bfloat",
    "x86_fp80",
    "ppc_fp128",
    "ptr",
    "ptr addrspace(1)",
    "token",
    "metadata",
    "label",
    "void",
    "opaque",
    "[0 x i8]",
    "[18446744073709551615 x i64]",
    "<2 x i1>",
    "<vscale x 4 x i32>",
    "{}",
    "<{ i8, i32 }>",
    "target(\"t\")",
    "i32 (...)",
    "c\"\\00\"",
    "asm \"\", \"=r\"()",
    "nsw",
    "nuw",
    "exact",
    "disjoint",
    "fast",
    "inbounds",
    "volatile",
    "atomic",
    "seq_cst",
    "syncscope(\"s\")",
    "align 1",
    "align 4294967296",
    "unreachable",
    "ret void",
    "br label %a",
    "a:",
    "phi i32 [ 0, %a ]",
    "switch i32 0, label %a [ ]",
    "freeze i32 poison",
    "!0",
    "!{}",
    "distinct !{!0}",
    "!{!\"llvm.loop.mustprogress\"}",
    ", !llvm.loop !0",
    "#0",
    "noalias",
    "sret(i32)",
    "memory(none)",
    "range(i32 0, 1)",
    "nofpclass(nan)",
    "vscale_range(1,2)",
    "unnamed_addr",
    "thread_local(localexec)",
    "comdat($c)",
    "section \"s\"",
    "dso_local",
    "@llvm.umin.i32",
];

/// The tokens' text in which a run is replaced.
fn replaced(text: &[u8], (start, end): (usize, usize), by: &[u8]) -> Vec<u8> {
    [&text[..start], by, &text[end..]].concat()
}

/// The text changed in one to four places, here and there by words of `dictionary`.
pub fn mutate(text: &[u8], seed: u32, dictionary: &[&str]) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = text.to_vec();
    for _ in 0..=random.below(4) {
        let tokens = tokens(&text);
        if tokens.is_empty() {
            text = dictionary[random.below(dictionary.len())].into();
            continue;
        }
        let place = run(&tokens, &mut random);
        let other = run(&tokens, &mut random);
        let taken = text[other.0..other.1].to_vec();
        text = match random.below(7) {
            0 => replaced(&text, place, b""),
            1 => replaced(&text, (place.0, place.0), &taken),
            2 => replaced(&text, place, &taken),
            3 if place.1 <= other.0 => {
                let own = text[place.0..place.1].to_vec();
                replaced(&replaced(&text, other, &own), place, &taken)
            }
            4 => {
                let word = dictionary[random.below(dictionary.len())];
                let place = if random.below(2) == 0 { place } else { (place.0, place.0) };
                replaced(&text, place, format!("{word} ").as_bytes())
            }
            _ => {
                let one = tokens[random.below(tokens.len())];
                let same: Vec<&Token> = tokens.iter().filter(|t| t.kind == one.kind).collect();
                let by = same[random.below(same.len())];
                let by = text[by.start..by.end].to_vec();
                replaced(&text, (one.start, one.end), &by)
            }
        };
    }
    text
}

/// A run of one text in the place of a run of the other, or in front of it.
pub fn splice(into: &[u8], from: &[u8], seed: u32) -> Vec<u8> {
    let mut random = Random::new(seed);
    let (to, source) = (tokens(into), tokens(from));
    if to.is_empty() || source.is_empty() {
        return from.to_vec();
    }
    let (start, end) = run(&source, &mut random);
    let place = run(&to, &mut random);
    let place = if random.below(2) == 0 { place } else { (place.0, place.0) };
    replaced(into, place, &from[start..end])
}

/// Copies as much of `text` as there is room for; how much that is.
pub fn put(text: &[u8], out: &mut [u8]) -> usize {
    let size = text.len().min(out.len());
    out[..size].copy_from_slice(&text[..size]);
    size
}
