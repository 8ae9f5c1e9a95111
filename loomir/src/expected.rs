//! Diagnostics compared with what comments in the source expect, as `mlir-opt --verify-diagnostics`
//! does.
//!
//! ```text
//! // expected-error@+1 {{has 1 operands}}
//! return %0 : i32
//! ```
//!
//! A comment says the severity (`error`, `warning`, `note`, `remark`), where (nothing: on this
//! line; `@+N`, `@-N`: so many lines further down or up; `@above`, `@below`: on the next line that
//! way that expects nothing itself; `@unknown`: at no place), and, to the end of the line, a part
//! of the message. With `-re` behind the severity what stands in `{{…}}` inside the message is a
//! regular expression. Each expectation is met by one diagnostic or note. Help is no diagnostic.
//! Cost: linear in the source; a diagnostic is compared with what is expected on its line.

use hashbrown::HashMap;
use loomir_ir::{Context, Diagnostic, Diagnostics, Loc, LocKind, Severity};
use regex_lite::Regex;

/// Which differences count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ExpectedLevel {
    /// Diagnostics that are not expected, and expected ones that are missing.
    #[default]
    All,
    /// Expected diagnostics that are missing.
    OnlyExpected,
}

/// The way in which a message is recognised.
enum Pattern {
    Part(String),
    Regex(Regex),
}

struct Expectation {
    severity: Severity,
    /// The line it is on; `None`: no place.
    line: Option<u32>,
    /// Between the outer braces.
    text: String,
    pattern: Pattern,
    /// Where it is written.
    loc: Loc,
    met: bool,
}

impl Expectation {
    fn matches(&self, message: &str) -> bool {
        match &self.pattern {
            Pattern::Part(part) => message.contains(part),
            Pattern::Regex(regex) => regex.is_match(message),
        }
    }
}

/// The differences between the diagnostics that were `produced` for `source` and those its comments
/// expect, as errors. `source` begins at `first_line` of the file.
///
/// ```
/// use loomir::{ExpectedLevel, verify_diagnostics};
/// let ctx = loomir::context();
/// let source = "// expected-error@+1 {{is unknown}}\narith.nonsense\n// expected-note {{missing}}\n";
/// let produced = loomir::parse(&ctx, source, "a.mlir").unwrap_err();
/// let differences = verify_diagnostics(&ctx, source, "a.mlir", 1, &produced, ExpectedLevel::All);
/// assert_eq!(differences.to_text(&ctx), "a.mlir:3:4: error: expected note \"missing\" was not produced\n");
/// ```
pub fn verify_diagnostics(
    ctx: &Context,
    source: &str,
    file_name: &str,
    first_line: u32,
    produced: &Diagnostics,
    level: ExpectedLevel,
) -> Diagnostics {
    let mut differences = Diagnostics::new();
    let mut expectations = read(ctx, source, file_name, first_line, &mut differences);
    let mut by_line: HashMap<Option<u32>, Vec<usize>> = HashMap::new();
    for (i, expectation) in expectations.iter().enumerate() {
        by_line.entry(expectation.line).or_default().push(i);
    }
    let mut compare = |severity: Severity, loc: Loc, message: &str| {
        let place = loc.file_line_col(ctx);
        let line = place.map(|(_, line, _)| line);
        let here = place.is_none_or(|(file, ..)| file == file_name);
        let candidates = by_line.get(&line).filter(|_| here).into_iter().flatten();
        let mut near_miss = None;
        for &i in candidates {
            let expectation = &mut expectations[i];
            if expectation.met || !expectation.matches(message) {
                continue;
            }
            if expectation.severity == severity {
                expectation.met = true;
                return;
            }
            near_miss = Some(i);
        }
        if level == ExpectedLevel::OnlyExpected {
            return;
        }
        let kind = severity.name();
        match near_miss {
            Some(i) => {
                let wanted = expectations[i].severity.name();
                let message = format!("'{kind}' diagnostic emitted when expecting a '{wanted}'");
                differences.error(expectations[i].loc, message);
            }
            None => differences.error(loc, format!("unexpected {kind}: {message}")),
        }
    };
    for diagnostic in produced.iter() {
        compare(diagnostic.severity, diagnostic.loc, &diagnostic.message);
        for (loc, note) in &diagnostic.notes {
            compare(Severity::Note, *loc, note);
        }
    }
    for missing in expectations.iter().filter(|expectation| !expectation.met) {
        let kind = missing.severity.name();
        differences.error(missing.loc, format!("expected {kind} \"{}\" was not produced", missing.text));
    }
    differences
}

/// All expectations of a source; what is wrong with them goes to `errors`.
fn read(
    ctx: &Context,
    source: &str,
    file_name: &str,
    first_line: u32,
    errors: &mut Diagnostics,
) -> Vec<Expectation> {
    let file = ctx.name(file_name);
    let mut expectations: Vec<Expectation> = Vec::new();
    // The last line that expects nothing, and the expectations since that wait for the next.
    let (mut above, mut waiting) = (None, Vec::<usize>::new());
    for (number, line) in (first_line..).zip(source.lines()) {
        let Some(found) = Comment::find(line) else {
            above = Some(number);
            for i in waiting.drain(..) {
                expectations[i].line = above;
            }
            continue;
        };
        let loc = ctx.loc(LocKind::File { file, line: number, column: found.column });
        let line = match found.place {
            Place::Offset(by) => number.checked_add_signed(by),
            Place::Above => above,
            Place::Below => {
                waiting.push(expectations.len());
                Some(number)
            }
            Place::Unknown => None,
        };
        match found.pattern() {
            Ok(pattern) => expectations.push(Expectation {
                severity: found.severity,
                line,
                text: found.text.into(),
                pattern,
                loc,
                met: false,
            }),
            Err(reason) => {
                waiting.retain(|i| *i < expectations.len());
                errors.push(Diagnostic::error(loc, reason));
            }
        }
    }
    expectations
}

/// Where a diagnostic is expected, seen from the comment.
enum Place {
    Offset(i32),
    Above,
    Below,
    Unknown,
}

/// `expected-error-re@+1 {{…}}`.
struct Comment<'s> {
    severity: Severity,
    is_regex: bool,
    place: Place,
    text: &'s str,
    column: u32,
}

impl<'s> Comment<'s> {
    /// The first that stands at the end of a line.
    fn find(line: &'s str) -> Option<Comment<'s>> {
        let line = line.trim_end().strip_suffix("}}")?;
        line.match_indices("expected-").find_map(|(at, start)| {
            let comment = Comment::read(&line[at + start.len()..])?;
            Some(Comment { column: at as u32 + 1, ..comment })
        })
    }

    /// Reads behind `expected-`, up to the closing braces.
    fn read(text: &'s str) -> Option<Comment<'s>> {
        let severities = [Severity::Error, Severity::Warning, Severity::Note, Severity::Remark];
        let (severity, rest) = severities
            .into_iter()
            .find_map(|severity| Some((severity, text.strip_prefix(severity.name())?)))?;
        let (is_regex, rest) = rest.strip_prefix("-re").map_or((false, rest), |rest| (true, rest));
        let rest = rest.trim_start_matches(' ');
        let (place, rest) = match rest.strip_prefix('@') {
            None => (Place::Offset(0), rest),
            Some(rest) => Place::read(rest)?,
        };
        let text = rest.trim_start_matches(' ').strip_prefix("{{")?;
        Some(Comment { severity, is_regex, place, text, column: 0 })
    }

    fn pattern(&self) -> Result<Pattern, String> {
        if !self.is_regex {
            return Ok(Pattern::Part(self.text.into()));
        }
        let mut regex = String::new();
        let mut rest = self.text;
        while let Some((literal, behind)) = rest.split_once("{{") {
            let Some((inner, behind)) = behind.split_once("}}") else {
                return Err("found start of regex with no end '}}'".into());
            };
            regex += &format!("{}(?:{inner})", regex_lite::escape(literal));
            rest = behind;
        }
        regex += &regex_lite::escape(rest);
        Regex::new(&regex).map(Pattern::Regex).map_err(|error| format!("invalid regex: {error}"))
    }
}

impl Place {
    /// Reads behind the `@`.
    fn read(text: &str) -> Option<(Place, &str)> {
        let words = [("above", Place::Above), ("below", Place::Below), ("unknown", Place::Unknown)];
        if let Some(found) = words.into_iter().find_map(|(word, p)| Some((p, text.strip_prefix(word)?))) {
            return Some(found);
        }
        let digits = text.strip_prefix(['+', '-'])?;
        let end = 1 + digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        Some((Place::Offset(text[..end].parse().ok()?), &text[end..]))
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// The differences for a source with these diagnostics: severity, line, message.
    fn differences(source: &str, produced: &[(Severity, u32, &str)], level: ExpectedLevel) -> String {
        let ctx = Context::new(loomir_ir::Registry::new());
        let file = ctx.name("f");
        let mut diagnostics = Diagnostics::new();
        for (severity, line, message) in produced {
            let loc = match line {
                0 => Loc::UNKNOWN,
                line => ctx.loc(LocKind::File { file, line: *line, column: 1 }),
            };
            diagnostics.push(Diagnostic::new(*severity, loc, *message));
        }
        verify_diagnostics(&ctx, source, "f", 1, &diagnostics, level).to_text(&ctx)
    }

    use Severity::{Error, Note, Remark, Warning};

    #[test]
    fn every_place_is_found() {
        let source = "x // expected-error {{here}}\n\
                      // expected-warning@+2 {{two down}}\n\
                      // expected-note@-2 {{two up}}\n\
                      y\n\
                      // expected-remark@above {{y}}\n\
                      // expected-error@below {{z}}\n\
                      // expected-error @below {{z again}}\n\
                      z\n\
                      // expected-error@unknown {{nowhere}}\n";
        let produced = [
            (Error, 1, "it is here"),
            (Warning, 4, "two down"),
            (Note, 1, "two up"),
            (Remark, 4, "this is y"),
            (Error, 8, "z again"),
            (Error, 8, "this is z"),
            (Error, 0, "nowhere"),
        ];
        assert_snapshot!(differences(source, &produced, ExpectedLevel::All), @r#"
        f:8:1: error: unexpected error: this is z
        f:7:4: error: expected error "z again" was not produced
        "#);
        assert_snapshot!(differences(source, &[], ExpectedLevel::OnlyExpected), @r#"
        f:1:6: error: expected error "here" was not produced
        f:2:4: error: expected warning "two down" was not produced
        f:3:4: error: expected note "two up" was not produced
        f:5:4: error: expected remark "y" was not produced
        f:6:4: error: expected error "z" was not produced
        f:7:4: error: expected error "z again" was not produced
        f:9:4: error: expected error "nowhere" was not produced
        "#);
    }

    #[test]
    fn each_expectation_is_met_once() {
        let source = "x // expected-error {{a}}\n";
        let twice = [(Error, 1, "a"), (Error, 1, "a"), (Warning, 2, "b")];
        assert_snapshot!(differences(source, &twice, ExpectedLevel::All), @"
        f:1:1: error: unexpected error: a
        f:2:1: error: unexpected warning: b
        ");
        assert_snapshot!(differences(source, &twice, ExpectedLevel::OnlyExpected), @"");
        assert_snapshot!(differences(source, &[(Note, 1, "a")], ExpectedLevel::All), @r#"
        f:1:6: error: 'note' diagnostic emitted when expecting a 'error'
        f:1:6: error: expected error "a" was not produced
        "#);
    }

    #[test]
    fn expressions_stand_in_braces() {
        let source = "// expected-error-re@+1 {{has {{[0-9]+}} operands (not {{one|two}})}}\nx\n";
        for (message, met) in [
            ("it has 12 operands (not two)", true),
            ("it has many operands (not two)", false),
            ("it has 12 operands not two", false),
        ] {
            assert_eq!(differences(source, &[(Error, 2, message)], ExpectedLevel::All).is_empty(), met);
        }
        assert_snapshot!(differences("// expected-error-re {{a {{b}}\n// expected-error-re {{a{{(}}}}\n", &[], ExpectedLevel::All), @"
        f:1:4: error: found start of regex with no end '}}'
        f:2:4: error: invalid regex: found open group without closing ')'
        ");
    }

    #[test]
    fn what_is_no_expectation_is_a_comment() {
        for source in [
            "expected-error: {{a}}",
            "// expected-errors {{a}}",
            "// expected-error {{a}} b",
            "// expected-error@x {{a}}",
        ] {
            assert_eq!(differences(source, &[], ExpectedLevel::All), "", "{source}");
        }
    }
}
