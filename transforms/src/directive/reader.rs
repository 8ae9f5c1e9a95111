//! Reading one directive with its clauses.

use super::{Apply, Directive, Factor, Part, Transformation};

/// The deepest nesting of `apply`.
const MOST_NESTED: usize = 8;

/// The maximal number of numbers in a list.
const MOST_NUMBERS: usize = 64;

/// The directives, for suggestions.
const NAMES: [&str; 9] =
    ["tile", "stripe", "unroll", "reverse", "interchange", "fuse", "split", "flatten", "nothing"];

/// A text, and how far it was read.
pub(super) struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str) -> Reader<'t> {
        Reader { text, at: 0 }
    }

    /// Returns the unread text behind blanks.
    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    /// True if nothing is left.
    pub(super) fn is_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    /// Reads a sign, if it is next.
    fn is_sign(&mut self, sign: char) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len_utf8() } else { 0 };
        found
    }

    /// Reads a sign.
    pub(super) fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.is_sign(sign) {
            return Ok(());
        }
        Err(format!("'{sign}' is expected, not {}", self.next_in_words()))
    }

    /// Returns what is next, for messages.
    fn next_in_words(&mut self) -> String {
        let rest = self.rest();
        let word = word_of(rest);
        match (word, rest.chars().next()) {
            ("", None) => "the end".to_owned(),
            ("", Some(sign)) => format!("'{sign}'"),
            (word, _) => format!("'{word}'"),
        }
    }

    /// Reads this word, if it is next.
    pub(super) fn is_word(&mut self, word: &str) -> bool {
        let found = word_of(self.rest()) == word;
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Reads a word.
    pub(super) fn word(&mut self) -> Result<String, String> {
        let word = word_of(self.rest());
        self.at += word.len();
        match word {
            "" => Err(format!("a word is expected, not {}", self.next_in_words())),
            word => Ok(word.to_owned()),
        }
    }

    /// Reads something in parentheses.
    pub(super) fn parenthesized<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.expect('(')?;
        let own = read(self)?;
        self.expect(')')?;
        Ok(own)
    }

    /// Reads a list, separated by commas, at most [`MOST_NUMBERS`] long.
    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, String>) -> Result<Vec<T>, String> {
        let mut all = vec![read(self)?];
        while self.is_sign(',') {
            if all.len() == MOST_NUMBERS {
                return Err(format!("a list has more than {MOST_NUMBERS} items"));
            }
            all.push(read(self)?);
        }
        Ok(all)
    }

    /// Reads a literal of C that is at least `least`.
    fn number(&mut self, clause: &str, least: i64) -> Result<i64, String> {
        let word = word_of(self.rest());
        let Some(number) = literal(word) else {
            return Err(format!("'{clause}' needs numbers, not {}", self.next_in_words()));
        };
        self.at += word.len();
        match number < least {
            true => Err(format!("'{clause}' needs numbers of {least} or more, not {number}")),
            false => Ok(number),
        }
    }

    /// Reads the numbers of a clause, each at least `least`.
    fn numbers(&mut self, clause: &str, least: i64) -> Result<Vec<i64>, String> {
        self.parenthesized(|reader| reader.list(|reader| reader.number(clause, least)))
    }

    /// Reads numbers that count from 1. Returns them counted from 0.
    fn ordinals(&mut self, clause: &str) -> Result<Vec<usize>, String> {
        let all = self.numbers(clause, 1)?;
        Ok(all.into_iter().filter_map(|own| usize::try_from(own - 1).ok()).collect())
    }

    /// Reads a directive with its clauses. Recurses once for each `apply` in an `apply`, at most
    /// [`MOST_NESTED`] times.
    pub(super) fn directive(&mut self, depth: usize) -> Result<Directive, String> {
        self.rest();
        let start = self.at;
        let name = self.word()?;
        let mut change = named(&name)?;
        let (mut is_said, mut apply) = (false, Vec::new());
        loop {
            // A comma may stand between clauses, and separates directives of 'apply' too.
            let before = self.at;
            let comma = self.is_sign(',');
            let clause = word_of(self.rest()).to_owned();
            let is_clause = match comma {
                true => is_clause(&clause),
                false => !clause.is_empty(),
            };
            if !is_clause {
                self.at = before;
                break;
            }
            self.at += clause.len();
            if clause == "apply" {
                apply.push(self.apply(&change, depth)?);
            } else if is_said {
                return Err(format!("'{name}' has no second clause '{clause}'"));
            } else {
                change = self.clause(&name, &clause)?;
                is_said = true;
            }
        }
        if !is_said && let Some(needed) = needed(&change) {
            return Err(format!("'{name}' needs the clause '{needed}'"));
        }
        let text = self.text[start..self.at].trim_end().to_owned();
        Ok(Directive { change, apply, text })
    }

    /// Reads the rest of a clause. Returns the transformation that it makes of a directive.
    fn clause(&mut self, name: &str, clause: &str) -> Result<Transformation, String> {
        Ok(match (name, clause) {
            ("tile", "sizes") => Transformation::Tile(self.numbers(clause, 1)?),
            ("stripe", "sizes") => Transformation::Stripe(self.numbers(clause, 1)?),
            ("unroll", "full") => Transformation::Unroll(Factor::Full),
            ("unroll", "partial") => {
                let has_number = self.rest().starts_with('(');
                let number = has_number.then(|| self.parenthesized(|own| own.number("partial", 1)));
                Transformation::Unroll(Factor::Partial(number.transpose()?))
            }
            ("interchange", "permutation") => {
                let order = self.ordinals(clause)?;
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if order.len() < 2 || sorted.iter().enumerate().any(|(index, own)| index != *own) {
                    return Err("'permutation' needs each number from 1 to that of its loops once".to_owned());
                }
                Transformation::Interchange(order)
            }
            ("fuse", "looprange") => match self.numbers(clause, 1)?[..] {
                [first, count] => {
                    let [first, count] =
                        [first - 1, count].map(|own| usize::try_from(own).unwrap_or(usize::MAX));
                    Transformation::Fuse(Some([first, count]))
                }
                _ => return Err("'looprange' needs the number of the first loop, and a count".to_owned()),
            },
            ("split", "counts") => {
                let counts = self.parenthesized(|own| {
                    own.list(|own| match own.is_word("omp_fill") {
                        true => Ok(None),
                        false => own.number("counts", 0).map(Some),
                    })
                })?;
                if counts.iter().filter(|own| own.is_none()).count() != 1 {
                    return Err("'counts' needs 'omp_fill' once, for the iterations left over".to_owned());
                }
                Transformation::Split(counts)
            }
            ("flatten", "depth") => match self.numbers(clause, 2)?[..] {
                [depth] => Transformation::Flatten(usize::try_from(depth).unwrap_or(usize::MAX)),
                _ => return Err("'depth' needs one number".to_owned()),
            },
            _ => return Err(format!("'{name}' has no clause '{clause}'")),
        })
    }

    /// Reads the rest of a clause `apply`.
    fn apply(&mut self, change: &Transformation, depth: usize) -> Result<Apply, String> {
        if depth == MOST_NESTED {
            return Err(format!("'apply' is nested more than {MOST_NESTED} deep"));
        }
        self.expect('(')?;
        let before = self.at;
        let word = self.word()?;
        let part = parts(change).iter().zip([Part::First, Part::Second]).find(|(own, _)| **own == word);
        let (part, numbers) = match (part, parts(change)) {
            (Some((_, part)), _) => {
                let is_some = self.rest().starts_with('(');
                let numbers = if is_some { Some(self.ordinals(&word)?) } else { None };
                self.expect(':')?;
                (part, numbers)
            }
            (None, [_]) => {
                self.at = before;
                (Part::First, None)
            }
            (None, []) => return Err("'apply' needs a loop that the directive makes".to_owned()),
            (None, all) => return Err(format!("'apply' begins with '{}:'", all.join(":' or '"))),
        };
        let directives = self.list(|reader| reader.directive(depth + 1))?;
        self.expect(')')?;
        if numbers.as_ref().is_some_and(|numbers| numbers.len() != directives.len()) {
            return Err("'apply' needs a directive for each loop that it numbers".to_owned());
        }
        Ok(Apply { part, numbers, directives })
    }
}

/// Returns the directive of a name, as it is without clauses.
fn named(name: &str) -> Result<Transformation, String> {
    Ok(match name {
        "tile" => Transformation::Tile(Vec::new()),
        "stripe" => Transformation::Stripe(Vec::new()),
        "unroll" => Transformation::Unroll(Factor::Any),
        "reverse" => Transformation::Reverse,
        "interchange" => Transformation::Interchange(vec![1, 0]),
        "fuse" => Transformation::Fuse(None),
        "split" => Transformation::Split(Vec::new()),
        "flatten" => Transformation::Flatten(2),
        "nothing" => Transformation::Nothing,
        _ => return Err(format!("'{name}' is no directive; there are {}", NAMES.join(", "))),
    })
}

/// Returns the clause without which a directive means nothing.
fn needed(change: &Transformation) -> Option<&'static str> {
    match change {
        Transformation::Tile(_) | Transformation::Stripe(_) => Some("sizes"),
        Transformation::Split(_) => Some("counts"),
        _ => None,
    }
}

/// Returns the names of the parts of the loops that a transformation makes.
fn parts(change: &Transformation) -> &'static [&'static str] {
    match change {
        Transformation::Tile(_) => &["grid", "intratile"],
        Transformation::Stripe(_) => &["offsets", "grid"],
        Transformation::Unroll(Factor::Full | Factor::Any) | Transformation::Nothing => &[],
        Transformation::Unroll(Factor::Partial(_)) => &["unrolled"],
        Transformation::Reverse => &["reversed"],
        Transformation::Interchange(_) => &["interchanged"],
        Transformation::Fuse(_) => &["fused"],
        Transformation::Split(_) => &["split"],
        Transformation::Flatten(_) => &["flattened"],
    }
}

/// True if a word begins a clause.
fn is_clause(word: &str) -> bool {
    let all = ["sizes", "full", "partial", "permutation", "looprange", "counts", "depth", "apply"];
    all.contains(&word)
}

/// Returns the word at the beginning of a text.
fn word_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// Returns the value of a literal of C.
fn literal(word: &str) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    let digits = word.trim_end_matches(['u', 'l']);
    let suffix = &word[digits.len()..];
    if !["", "u", "l", "ul", "lu", "ll", "ull", "llu"].contains(&suffix) {
        return None;
    }
    let (digits, radix) =
        match (digits.strip_prefix("0x"), digits.strip_prefix("0b"), digits.strip_prefix('0')) {
            (Some(own), ..) => (own, 16),
            (_, Some(own), _) => (own, 2),
            (.., Some(own)) if !own.is_empty() => (own, 8),
            _ => (digits, 10),
        };
    // A sign is no part of a literal.
    let is_digits = digits.chars().all(|c| c.is_digit(radix));
    i64::from_str_radix(digits, radix).ok().filter(|_| is_digits)
}
