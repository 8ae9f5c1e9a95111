//! The lexer: bytes to tokens, on demand, without allocation.
//!
//! A [`Token`] is a kind and a range of bytes; its text is a slice of the source. The lexer keeps
//! no state but its position, so the parser can set it back: `4x8xf32` is a number and an
//! identifier to the lexer, and a shape to who reads it piece by piece. Each byte is looked at
//! once, save for such pieces.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Eof,
    /// Bytes that begin no token.
    Unknown,
    /// A string that lacks its closing quote.
    OpenString,
    /// `add`, `arith.addi`, `i32`, `x`.
    Bare,
    /// `@name` or `@"name"`.
    At,
    /// `^bb0`.
    Caret,
    /// `%0`.
    Percent,
    /// `#map`, `#dialect.attr`, `#1`.
    Hash,
    /// `!alias`, `!dialect.type`.
    Exclaim,
    /// `12`, `0x1F`.
    Integer,
    /// `1.5e-3`.
    Float,
    /// `"…"`.
    String,
    Arrow,
    Colon,
    ColonColon,
    Comma,
    Ellipsis,
    Equal,
    Greater,
    LBrace,
    LParen,
    LSquare,
    Less,
    Minus,
    Plus,
    Question,
    RBrace,
    RParen,
    RSquare,
    Slash,
    Star,
    VBar,
    /// `{-#`.
    MetadataBegin,
    /// `#-}`.
    MetadataEnd,
}

impl Kind {
    /// The kind of a piece of punctuation given as text.
    pub(crate) fn of_punctuation(text: &str) -> Option<Kind> {
        Some(match text {
            "->" => Kind::Arrow,
            ":" => Kind::Colon,
            "::" => Kind::ColonColon,
            "," => Kind::Comma,
            "..." => Kind::Ellipsis,
            "=" => Kind::Equal,
            ">" => Kind::Greater,
            "{" => Kind::LBrace,
            "(" => Kind::LParen,
            "[" => Kind::LSquare,
            "<" => Kind::Less,
            "-" => Kind::Minus,
            "+" => Kind::Plus,
            "?" => Kind::Question,
            "}" => Kind::RBrace,
            ")" => Kind::RParen,
            "]" => Kind::RSquare,
            "/" => Kind::Slash,
            "*" => Kind::Star,
            "|" => Kind::VBar,
            "{-#" => Kind::MetadataBegin,
            "#-}" => Kind::MetadataEnd,
            _ => return None,
        })
    }
}

/// A kind and a range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

/// A position in a source of less than 4 GiB.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'s> {
    source: &'s str,
    pos: usize,
}

/// Sets of bytes: bits of [`CLASSES`].
#[derive(Clone, Copy)]
#[repr(u8)]
enum Class {
    /// Space between tokens.
    Blank = 1,
    Digit = 2,
    HexDigit = 4,
    /// The first byte of an identifier.
    Letter = 8,
    /// A byte of an identifier behind the first: letters, digits, `_`, `$`, `.`.
    Bare = 16,
    /// A byte of a name behind `%`, `#`, `!`, `^`.
    Suffix = 32,
}

/// The classes of each byte: one look where the comparisons would be many.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0u8;
    while byte < 128 {
        let bare = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        let members = [
            (Class::Blank, matches!(byte, b' ' | b'\n' | b'\r' | b'\t')),
            (Class::Digit, byte.is_ascii_digit()),
            (Class::HexDigit, byte.is_ascii_hexdigit()),
            (Class::Letter, byte.is_ascii_alphabetic() || byte == b'_'),
            (Class::Bare, bare),
            (Class::Suffix, bare || byte == b'-'),
        ];
        let mut i = 0;
        while i < members.len() {
            if members[i].1 {
                classes[byte as usize] |= members[i].0 as u8;
            }
            i += 1;
        }
        byte += 1;
    }
    classes
};

impl Class {
    #[inline]
    fn has(self, byte: u8) -> bool {
        CLASSES[byte as usize] & self as u8 != 0
    }
}

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Lexer { source, pos: 0 }
    }

    /// Goes to a byte, which the next token starts at or behind.
    pub(crate) fn set_pos(&mut self, pos: u32) {
        self.pos = pos as usize;
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.source.as_bytes().get(self.pos + ahead).copied().unwrap_or(0)
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Token {
        self.skip_blank();
        let start = self.pos;
        let kind = self.kind();
        Token { kind, start: start as u32, end: self.pos as u32 }
    }

    fn skip_blank(&mut self) {
        let bytes = self.source.as_bytes();
        loop {
            match bytes.get(self.pos) {
                Some(byte) if Class::Blank.has(*byte) => self.pos += 1,
                Some(b'/') if bytes.get(self.pos + 1) == Some(&b'/') => {
                    let rest = &bytes[self.pos..];
                    self.pos += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    fn kind(&mut self) -> Kind {
        let Some(&first) = self.source.as_bytes().get(self.pos) else { return Kind::Eof };
        self.pos += 1;
        match first {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                self.skip(Class::Bare);
                Kind::Bare
            }
            b'%' => self.suffix(Kind::Percent),
            b'^' => self.suffix(Kind::Caret),
            b'!' => self.suffix(Kind::Exclaim),
            b'#' if self.peek(0) == b'-' && self.peek(1) == b'}' => self.take(2, Kind::MetadataEnd),
            b'#' => self.suffix(Kind::Hash),
            b'0'..=b'9' => self.number(first),
            b'"' => self.string(Kind::String),
            b'@' => match self.peek(0) {
                b'"' => self.take(1, Kind::At).then_string(self),
                b if Class::Letter.has(b) => {
                    self.skip(Class::Bare);
                    Kind::At
                }
                _ => Kind::Unknown,
            },
            b'-' if self.peek(0) == b'>' => self.take(1, Kind::Arrow),
            b'-' => Kind::Minus,
            b':' if self.peek(0) == b':' => self.take(1, Kind::ColonColon),
            b':' => Kind::Colon,
            b'.' if self.peek(0) == b'.' && self.peek(1) == b'.' => self.take(2, Kind::Ellipsis),
            b'{' if self.peek(0) == b'-' && self.peek(1) == b'#' => self.take(2, Kind::MetadataBegin),
            b'{' => Kind::LBrace,
            b'}' => Kind::RBrace,
            b'(' => Kind::LParen,
            b')' => Kind::RParen,
            b'[' => Kind::LSquare,
            b']' => Kind::RSquare,
            b'<' => Kind::Less,
            b'>' => Kind::Greater,
            b',' => Kind::Comma,
            b'=' => Kind::Equal,
            b'+' => Kind::Plus,
            b'*' => Kind::Star,
            b'?' => Kind::Question,
            b'|' => Kind::VBar,
            b'/' => Kind::Slash,
            _ => {
                // A whole character, so that positions stay on boundaries.
                while !self.source.is_char_boundary(self.pos) {
                    self.pos += 1;
                }
                Kind::Unknown
            }
        }
    }

    fn take(&mut self, bytes: usize, kind: Kind) -> Kind {
        self.pos += bytes;
        kind
    }

    fn skip(&mut self, class: Class) {
        let rest = &self.source.as_bytes()[self.pos..];
        self.pos += rest.iter().position(|b| !class.has(*b)).unwrap_or(rest.len());
    }

    /// Digits, or a letter or punctuation and more of both.
    fn suffix(&mut self, kind: Kind) -> Kind {
        match self.peek(0) {
            b'0'..=b'9' => self.skip(Class::Digit),
            b if Class::Suffix.has(b) => self.skip(Class::Suffix),
            _ => return Kind::Unknown,
        }
        kind
    }

    fn number(&mut self, first: u8) -> Kind {
        if first == b'0' && self.peek(0) == b'x' && self.peek(1).is_ascii_hexdigit() {
            self.pos += 1;
            self.skip(Class::HexDigit);
            return Kind::Integer;
        }
        self.skip(Class::Digit);
        if self.peek(0) != b'.' {
            return Kind::Integer;
        }
        self.pos += 1;
        self.skip(Class::Digit);
        if matches!(self.peek(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
            if self.peek(1 + sign).is_ascii_digit() {
                self.pos += 1 + sign;
                self.skip(Class::Digit);
            }
        }
        Kind::Float
    }

    /// The rest of a string, behind its opening quote.
    fn string(&mut self, kind: Kind) -> Kind {
        let bytes = self.source.as_bytes();
        loop {
            let rest = &bytes[self.pos..];
            match rest.iter().position(|b| matches!(b, b'"' | b'\\' | b'\n' | b'\r' | 0x0b | 0x0c)) {
                Some(at) if rest[at] == b'"' => {
                    self.pos += at + 1;
                    return kind;
                }
                Some(at) if rest[at] == b'\\' => {
                    self.pos += at + 1;
                    let hex = self.peek(0).is_ascii_hexdigit() && self.peek(1).is_ascii_hexdigit();
                    match self.peek(0) {
                        b'"' | b'\\' | b'n' | b't' => self.pos += 1,
                        _ if hex => self.pos += 2,
                        _ => return Kind::OpenString,
                    }
                }
                at => {
                    self.pos += at.unwrap_or(rest.len());
                    return Kind::OpenString;
                }
            }
        }
    }
}

impl Kind {
    /// Goes on with a string of this kind, behind its opening quote.
    fn then_string(self, lexer: &mut Lexer<'_>) -> Kind {
        lexer.string(self)
    }
}

/// The bytes a string token (with its quotes, and with or without `@`) stands for.
pub(crate) fn unescape(text: &str) -> std::borrow::Cow<'_, [u8]> {
    let text = text.strip_prefix('@').unwrap_or(text);
    let inner = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text).as_bytes();
    if !inner.contains(&b'\\') {
        return inner.into();
    }
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.iter().copied();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(b'n') => bytes.push(b'\n'),
            Some(b't') => bytes.push(b'\t'),
            Some(quoted @ (b'"' | b'\\')) => bytes.push(quoted),
            Some(high) => {
                let low = rest.next().unwrap_or(b'0');
                let digit = |b: u8| (b as char).to_digit(16).unwrap_or(0) as u8;
                bytes.push(digit(high) << 4 | digit(low));
            }
            None => {}
        }
    }
    bytes.into()
}
