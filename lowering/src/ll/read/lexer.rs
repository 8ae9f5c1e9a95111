//! The lexer: splits the text of a module into tokens with their locations.

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// `%name`, `%"name"` or `%12`.
    Local,
    /// `@name`.
    Global,
    /// `$name`.
    Comdat,
    /// `#12`, or the name of a debug record.
    Hash,
    /// `!name`, `!12`, or `!` alone.
    Metadata,
    /// `name:`, `"name":` or `12:`.
    Label,
    /// A keyword, or the type of an integer.
    Word,
    /// `-12`.
    Integer,
    /// `1.0e+00`.
    Float,
    /// `0x…`, with a letter for the format behind the `x` where it is not `double`, or `u0x…`,
    /// `s0x…`.
    Hex,
    /// `"text"`.
    Text,
    /// `c"text"`.
    Bytes,
    /// One of `()[]{}<>,=*|` or `...`.
    Sign,
    /// The end of the text.
    End,
    /// Anything else.
    Unknown,
}

/// A token: its bytes, and where it begins. Lines and columns count from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Returns all tokens, including one for the end. Linear.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { bytes: source.as_bytes(), at: 0, line: 1, line_start: 0 };
    let mut tokens = Vec::with_capacity(source.len() / 4 + 1);
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let (line, column) = (lexer.line, (start - lexer.line_start) as u32 + 1);
        let kind = lexer.token();
        tokens.push(Token { kind, start: start as u32, end: lexer.at as u32, line, column });
        if kind == Kind::End {
            return tokens;
        }
    }
}

struct Lexer<'s> {
    bytes: &'s [u8],
    at: usize,
    line: u32,
    line_start: usize,
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'$' | b'.' | b'_')
}

impl Lexer<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&accept) {
            self.at += 1;
        }
    }

    /// Skips white space and comments.
    fn skip_blank(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    self.line_start = self.at;
                }
                b' ' | b'\t' | b'\r' | 0 => self.at += 1,
                b';' => self.take_while(|b| b != b'\n'),
                _ => return,
            }
        }
    }

    fn token(&mut self) -> Kind {
        let Some(first) = self.peek() else { return Kind::End };
        let rest = &self.bytes[self.at..];
        match first {
            b'%' => self.named(Kind::Local),
            b'@' => self.named(Kind::Global),
            b'$' => self.named(Kind::Comdat),
            b'#' => self.named(Kind::Hash),
            b'!' => {
                self.at += 1;
                // Bytes of names may be escaped.
                self.take_while(|b| is_word(b) || b == b'\\');
                Kind::Metadata
            }
            b'"' => match self.quoted() {
                Kind::Text if self.peek() == Some(b':') => self.label(),
                kind => kind,
            },
            b'c' if rest.get(1) == Some(&b'"') => {
                self.at += 1;
                if self.quoted() == Kind::Text { Kind::Bytes } else { Kind::Unknown }
            }
            b'.' if rest.starts_with(b"...") => {
                self.at += 3;
                Kind::Sign
            }
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b',' | b'=' | b'*' | b'|' => {
                self.at += 1;
                Kind::Sign
            }
            _ if is_word(first) || first == b'+' => self.word_or_number(),
            _ => {
                // Whole characters only, so that the location can be shown.
                self.at += 1;
                self.take_while(|b| b & 0xc0 == 0x80);
                Kind::Unknown
            }
        }
    }

    /// Reads a name behind its sigil.
    fn named(&mut self, kind: Kind) -> Kind {
        self.at += 1;
        if self.peek() == Some(b'"') {
            return if self.quoted() == Kind::Text { kind } else { Kind::Unknown };
        }
        let start = self.at;
        self.take_while(is_word);
        if self.at == start { Kind::Unknown } else { kind }
    }

    fn quoted(&mut self) -> Kind {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => return Kind::Text,
                b'\n' => {
                    self.line += 1;
                    self.line_start = self.at;
                }
                _ => {}
            }
        }
        Kind::Unknown
    }

    fn label(&mut self) -> Kind {
        self.at += 1;
        Kind::Label
    }

    fn word_or_number(&mut self) -> Kind {
        let start = self.at;
        self.at += 1;
        self.take_while(is_word);
        if self.peek() == Some(b':') {
            return self.label();
        }
        let digits = self.bytes[start..self.at].strip_prefix(b"-").unwrap_or(&self.bytes[start..self.at]);
        let all = |bytes: &[u8], accept: fn(&u8) -> bool| !bytes.is_empty() && bytes.iter().all(accept);
        if all(digits, u8::is_ascii_digit) {
            return Kind::Integer;
        }
        let hex = digits.strip_prefix(b"u").or_else(|| digits.strip_prefix(b"s")).unwrap_or(digits);
        if let Some(rest) = hex.strip_prefix(b"0x") {
            let rest = if hex == digits && rest.first().is_some_and(|b| b"HRKLM".contains(b)) {
                &rest[1..]
            } else {
                rest
            };
            return if all(rest, u8::is_ascii_hexdigit) { Kind::Hex } else { Kind::Unknown };
        }
        // `16x` of a type is a number and a word.
        let number = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if number > 0 && &digits[number..] == b"x" {
            self.at -= 1;
            return Kind::Integer;
        }
        if digits.first().is_some_and(u8::is_ascii_digit) || self.bytes[start] == b'+' {
            // The sign of an exponent ends a word.
            let ends_in_e = matches!(self.bytes[self.at - 1], b'e' | b'E');
            if ends_in_e && self.peek() == Some(b'+') {
                self.at += 1;
                self.take_while(|b| b.is_ascii_digit());
            }
            let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
            return if text.parse::<f64>().is_ok() { Kind::Float } else { Kind::Unknown };
        }
        Kind::Word
    }
}

/// Returns the name behind a sign, as in `@"f\22"`.
pub(super) fn name(text: &str) -> String {
    let quoted = text[1..].strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    match quoted {
        Some(quoted) => String::from_utf8_lossy(&unescape(quoted)).into_owned(),
        None => text[1..].to_owned(),
    }
}

/// Returns the bytes of a quoted text, without the quotes. `\41` encodes a byte, `\\` a backslash.
pub(super) fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digit = |at: usize| behind.get(at).and_then(|b| (*b as char).to_digit(16));
        match (first, behind.first(), digit(0), digit(1)) {
            (b'\\', Some(b'\\'), ..) => {
                bytes.push(b'\\');
                rest = &behind[1..];
            }
            (b'\\', _, Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &behind[2..];
            }
            _ => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    bytes
}
