//! OpenMP's loop transformations in preprocessed C, kept from clang and found again in LLVM IR.
//!
//! Clang would apply these pragmas without a check. So each loop with such pragmas gets a label
//! instead, `#pragma clang loop pipeline_initiation_interval(NUMBER)`. It may stand wherever the
//! pragma may, and clang attaches the number to the branch back of this loop. In LLVM IR the
//! number becomes the [directives](crate::transforms::directive) of the loop. A call as a mark
//! would have to be found from the loop, and would stand in a nest.
//!
//! The text is what `clang -E` prints. There macros are expanded, `_Pragma` is a line, lines are
//! joined, and headers are part of it. Line markers stay, so clang's messages have the lines of
//! the user's files.
//!
//! **Invariant.** Every such pragma that gets no label is left as it is, with a warning.
//! **Cost.** Linear in the text.

use std::ops::Range;

use hashbrown::HashSet;
use statements::{Member, next_statement, sequence};
use tokens::{Kind, Tokens};

use crate::transforms::directive::{DIRECTIVE, Directives};

mod statements;
mod tokens;

/// The number of the first label. No real interval is as large.
const FIRST: usize = 1 << 30;

/// The pragma that carries a label.
const CARRIER: &str = "clang loop pipeline_initiation_interval";

/// The property in LLVM IR that a label becomes.
const PROPERTY: &str = "!{!\"llvm.loop.pipeline.initiationinterval\", i32 ";

/// Directives of OpenMP that transform loops.
const NAMES: [&str; 8] = ["tile", "stripe", "unroll", "reverse", "interchange", "fuse", "split", "flatten"];

/// Words of other pragmas in front of loops.
const HINTS: [&str; 5] = ["loop", "unroll", "nounroll", "unroll_and_jam", "nounroll_and_jam"];

/// The place of a pragma in the user's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) line: usize,
}

/// A loop with directives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Label {
    /// The directives, as the attribute of a loop has them.
    pub(super) directives: String,
    pub(super) place: Place,
}

/// A preprocessed text with labels in place of pragmas.
#[derive(Debug)]
pub(super) struct Labelled {
    pub(super) text: String,
    pub(super) labels: Vec<Label>,
    /// Warnings about pragmas that are left to clang, or left out.
    pub(super) left: Vec<(Place, String)>,
}

/// Replaces pragmas by labels.
///
/// # Errors
/// The first pragma that is wrong, and the reason.
pub(super) fn label(source: &str) -> Result<Labelled, (Place, String)> {
    let tokens = Tokens::of(source);
    let mut work = Work::of(&tokens);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at = if token.kind == Kind::Pragma { work.pragmas(at)? } else { at + 1 };
    }
    let Work { mut edits, labels, left, .. } = work;
    edits.sort_by_key(|(range, _)| range.start);
    let (mut text, mut end) = (String::with_capacity(source.len()), 0);
    for (range, new) in edits {
        text.push_str(&source[end..range.start]);
        text.push_str(&new);
        end = range.end;
    }
    text.push_str(&source[end..]);
    Ok(Labelled { text, labels, left })
}

impl Labelled {
    /// Returns LLVM IR with directives in place of labels, and the labels that it does not have.
    pub(super) fn named(&self, ir: &str) -> (String, Vec<&Label>) {
        let mut is_found = vec![false; self.labels.len()];
        let mut text = String::with_capacity(ir.len());
        for line in ir.split_inclusive('\n') {
            let number = line.split_once(PROPERTY).and_then(|(before, rest)| {
                let digits = rest.split('}').next().unwrap_or_default();
                Some((before, digits.parse::<usize>().ok()?.checked_sub(FIRST)?))
            });
            match number.and_then(|(before, own)| Some((before, own, self.labels.get(own)?))) {
                Some((before, own, label)) => {
                    is_found[own] = true;
                    text += &format!("{before}!{{!\"{DIRECTIVE}\", !\"{}\"}}\n", label.directives);
                }
                None => text.push_str(line),
            }
        }
        let lost = self.labels.iter().zip(is_found).filter(|(_, is_found)| !is_found);
        (text, lost.map(|(label, _)| label).collect())
    }
}

/// The state of replacing pragmas.
struct Work<'t, 's> {
    tokens: &'t Tokens<'s>,
    edits: Vec<(Range<usize>, String)>,
    labels: Vec<Label>,
    left: Vec<(Place, String)>,
    /// The pragmas that were replaced in a sequence.
    done: HashSet<usize>,
    /// The number of sequences so far.
    sequences: usize,
}

impl<'t, 's> Work<'t, 's> {
    fn of(tokens: &'t Tokens<'s>) -> Work<'t, 's> {
        Work {
            tokens,
            edits: Vec::new(),
            labels: Vec::new(),
            left: Vec::new(),
            done: HashSet::new(),
            sequences: 0,
        }
    }

    /// Replaces the pragmas in front of one statement. Returns the token behind them.
    fn pragmas(&mut self, at: usize) -> Result<usize, (Place, String)> {
        let end = next_statement(self.tokens, at);
        let own: Vec<usize> = self.own(at..end).filter(|at| !self.done.contains(at)).collect();
        let Some(last) = own.last().copied() else { return Ok(end) };
        let directives: Vec<&'s str> = own.iter().map(|at| self.omp(*at)).collect();
        let place = self.place(last);
        // Clang needs the loops that it makes for the others.
        if let Some(other) = self.foreign(at..end) {
            return Ok(self.leave(&own, end, &format!("it stands beside 'omp {other}'")));
        }
        let text = directives.join("; ");
        self.check(&own)?;
        let is_loop = self.tokens.is_word(end, "for");
        let fuses = directives.last().is_some_and(|own| own.starts_with("fuse"));
        match (fuses, is_loop) {
            (false, true) => {
                let label = self.label(text, place);
                self.remove_hints(at..end);
                self.replace(last, &own, &label);
            }
            (true, false) if self.tokens.is_sign(end, '{') => match sequence(self.tokens, end) {
                Some(all) if all.iter().all(|own| self.foreign(own.pragmas.clone()).is_none()) => {
                    self.fuse(&own, &all, &text)?;
                }
                _ => return Ok(self.leave(&own, end, "its braces hold more than loops")),
            },
            _ => {
                let what = if fuses { "no braces are behind it" } else { "no 'for' is behind it" };
                return Ok(self.leave(&own, end, what));
            }
        }
        Ok(end)
    }

    /// Labels the loops of a sequence. Their own pragmas are part of their labels.
    fn fuse(&mut self, own: &[usize], members: &[Member], text: &str) -> Result<(), (Place, String)> {
        self.sequences += 1;
        let name = format!("sequence(s{})", self.sequences);
        let first_place = own.last().map(|at| self.place(*at));
        for (number, member) in members.iter().enumerate() {
            let pragmas: Vec<usize> = self.own(member.pragmas.clone()).collect();
            self.check(&pragmas)?;
            let directives = pragmas.iter().map(|at| self.omp(*at));
            let of_sequence = (number == 0).then_some(text);
            let all = of_sequence.into_iter().chain([&*name]).chain(directives);
            let all: Vec<&str> = all.collect();
            let place = first_place.clone().unwrap_or_else(|| self.place(member.at));
            let label = self.label(all.join("; "), place);
            self.done.extend(&pragmas);
            self.remove_hints(member.pragmas.clone());
            match pragmas.last() {
                Some(last) => self.replace(*last, &pragmas, &label),
                None => {
                    let token = &self.tokens[member.at];
                    let Place { file, line } = self.place(member.at);
                    let flags = self.tokens.flags(member.at);
                    let column = " ".repeat(token.column);
                    let marker = format!("\n{label}\n# {line} \"{file}\"{flags}\n{column}");
                    self.edits.push((token.start..token.start, marker));
                }
            }
        }
        own.iter().for_each(|at| self.edits.push((self.tokens[*at].range(), String::new())));
        Ok(())
    }

    /// Makes a label. Returns its pragma.
    fn label(&mut self, directives: String, place: Place) -> String {
        self.labels.push(Label { directives, place });
        format!("#pragma {CARRIER}({})", FIRST + self.labels.len() - 1)
    }

    /// Writes a label in place of one pragma, and removes the others.
    fn replace(&mut self, place: usize, all: &[usize], label: &str) {
        for at in all {
            let new = if *at == place { label.to_owned() } else { String::new() };
            self.edits.push((self.tokens[*at].range(), new));
        }
    }

    /// Leaves pragmas to clang.
    fn leave(&mut self, own: &[usize], end: usize, why: &str) -> usize {
        let left = own
            .iter()
            .map(|at| (self.place(*at), format!("'{}' is left to clang, unchecked: {why}", self.omp(*at))));
        let left: Vec<(Place, String)> = left.collect();
        self.left.extend(left);
        end
    }

    fn place(&self, at: usize) -> Place {
        let (file, line) = self.tokens.place(at);
        Place { file: file.to_owned(), line }
    }

    /// Checks the texts of pragmas.
    fn check(&self, pragmas: &[usize]) -> Result<(), (Place, String)> {
        for at in pragmas {
            let text = self.omp(*at);
            Directives::read(text)
                .map_err(|why| (self.place(*at), format!("'{text}' is no directive: {why}")))?;
        }
        Ok(())
    }

    /// Returns the pragmas among tokens that transform loops.
    fn own(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        range.filter(|at| self.is_own(*at))
    }

    /// Returns the name of the first other pragma of OpenMP among tokens.
    fn foreign(&self, mut range: Range<usize>) -> Option<&'s str> {
        let other = range.find(|at| !self.is_own(*at) && !self.omp(*at).is_empty())?;
        self.omp(other).split([' ', '(']).next()
    }

    /// Removes hints about a loop that gets a label: clang would move the label to the loops that
    /// the hint makes.
    fn remove_hints(&mut self, range: Range<usize>) {
        for at in range {
            let text = self.tokens[at].pragma();
            let own = text.strip_prefix("clang ").or(text.strip_prefix("GCC ")).unwrap_or(text);
            if HINTS.contains(&own.split([' ', '(']).next().unwrap_or_default()) {
                self.edits.push((self.tokens[at].range(), String::new()));
                let why = format!("'{text}' is left out: the loop is transformed before clang sees it");
                self.left.push((self.place(at), why));
            }
        }
    }

    /// Returns a pragma of OpenMP without `#pragma omp`; empty for others.
    fn omp(&self, at: usize) -> &'s str {
        self.tokens[at].omp()
    }

    /// True if a token is a pragma that transforms loops.
    fn is_own(&self, at: usize) -> bool {
        let text = self.omp(at);
        let end = text.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(text.len());
        NAMES.contains(&&text[..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a text with labels, one a line, and warnings.
    fn shown(source: &str) -> String {
        match label(source) {
            Ok(Labelled { text, labels, left }) => {
                let labels = labels.iter().map(|own| format!("{:?}\n", own));
                let left = left.iter().map(|(place, why)| format!("{}: {why}\n", place.line));
                format!("{text}---\n{}{}", labels.collect::<String>(), left.collect::<String>())
            }
            Err((place, why)) => format!("{}: {why}", place.line),
        }
    }

    #[test]
    fn pragmas_become_labels() {
        insta::assert_snapshot!(shown(
            "# 1 \"a.c\"
void f(int n) {
  if (n)
#pragma omp interchange
#pragma omp tile sizes(4, 8)
# 7 \"b.h\" 3 4
    for (int i = 0; i < n; i++) ;
  else
#pragma omp fuse
  { for (int i = 0; i < n; i++) if (i) g(\";}\"); else { ; } {
#pragma omp reverse
      for (;;) do { } while (';');
    }
    x: y: for (;;) ;
  }
#pragma omp tile sizes(2)
#pragma omp fuse
  { for (;;) ; {{ for (;;) for (;;) switch (1) { case 2: ; } }} }
}
"
        ));
    }

    #[test]
    fn texts_that_look_like_pragmas_stay() {
        let same = [
            "char *s = R\"x(\n#pragma omp reverse\nfor)\" )x\"; for (;;) ;\n",
            "/*\n#pragma omp reverse\n*/ for (;;) ;\n",
            "// \\\n#pragma omp reverse\nfor (;;) ;\n",
            "char *s = \"\\\n#pragma omp reverse\"; char c = '\"'; for (;;) ;\n",
            "#pragma omp parallel\n#pragma GCC ivdep\n# pragma once\nfor (;;) ;\n",
            "#pragma omp\n#pragma\n#\n",
            "",
        ];
        for source in same {
            let own = label(source).expect("no pragma is wrong");
            assert_eq!((&*own.text, own.labels.len(), own.left.len()), (source, 0, 0));
        }
    }

    #[test]
    fn no_text_is_too_strange() {
        for source in [
            "#pragma omp fuse\n{",
            "#pragma omp fuse\n{ for",
            "#pragma omp fuse\n{ for (;;) do x; }",
            "#pragma omp fuse\n{{{{{{{{ } for (;;)",
            "#pragma omp reverse",
            "#pragma omp reverse\nwhile (1) ;",
            "#pragma omp fuse\n{ for (;;) ; for (;;) \u{e9}\\",
            "1.5e+3'0 \"\\\u{e9}",
            "R\"( ' \" /*",
            &format!("#pragma omp fuse\n{{ for (;;) {} }}", "if (1) ".repeat(10_000)),
        ] {
            let own = label(source).expect("no pragma is wrong");
            assert_eq!((&*own.text, own.labels.len()), (source, 0));
        }
        let wrong = "2: 'tile sizes(x)' is no directive: 'sizes' needs numbers, not 'x'";
        assert_eq!(shown("\n#pragma omp tile sizes(x)\nfor (;;) ;"), wrong);
    }
}
