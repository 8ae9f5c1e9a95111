//! The places in C, or another language, that loops of LLVM IR come from.
//!
//! Debug information has them, as `clang -gline-tables-only` writes it: the branch back to the
//! header of a loop names a list, whose first location is the word that begins the loop. Without
//! one the first operation with a location counts.
//!
//! With `-g` also the names of arguments are there.
//!
//! The text is read, not the program, so that pages need no more than lines. Linear.

use hashbrown::{HashMap, HashSet};

/// The most scopes around a location that are followed to its file.
const MAX_SCOPES: usize = 64;

/// The locations of a text in LLVM IR.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins<'s> {
    /// The definitions of metadata with places, by number.
    metadata: HashMap<u32, &'s str>,
    /// The lists of loops, by the line of their function and the label of their header.
    loops: HashMap<(usize, &'s str), u32>,
    /// The variables that are arguments, by the number of their function: position and name.
    variables: HashMap<u32, Vec<(u32, &'s str)>>,
    /// The line of its function and the last label, of each line.
    around: Vec<(usize, &'s str)>,
}

impl<'s> Origins<'s> {
    /// Reads the lines of a program.
    pub(crate) fn of(lines: &[&'s str]) -> Origins<'s> {
        let mut origins = Origins::default();
        let (mut around, mut above) = ((0, ""), HashSet::new());
        for (at, line) in lines.iter().copied().enumerate() {
            if line.starts_with("define ") {
                around = (at, "");
            } else if let Some(label) = label(line) {
                around.1 = label;
                above.insert(around);
            } else if let Some((number, list)) = definition(line) {
                origins.metadata.insert(number, list);
                if let Some((scope, variable)) = argument(list) {
                    origins.variables.entry(scope).or_default().push(variable);
                }
            } else if let Some(list) = number_after(line, "!llvm.loop !") {
                // A branch back leads to a block above it.
                let targets = line.split("label %").skip(1).map(|target| (around.0, word(target)));
                let back = targets.filter(|target| above.contains(target));
                origins.loops.extend(back.map(|target| (target, list)));
            }
            origins.around.push(around);
        }
        origins
    }

    /// Returns the file and the line that the loop at a line of the text, from 1, comes from.
    pub(crate) fn of_loop(&self, lines: &[&str], line: usize) -> Option<String> {
        let around = *self.around.get(line.checked_sub(1)?)?;
        let list = self.loops.get(&around).and_then(|list| self.metadata.get(list));
        let numbers = list.into_iter().flat_map(|list| list.split('!').skip(2)).filter_map(leading_number);
        let own = numbers.filter_map(|number| self.place(number)).next();
        own.or_else(|| self.place(number_after(lines.get(line - 1)?, "!dbg !")?))
    }

    /// Returns the file, the line and the column that an instruction comes from, given its line of
    /// the text, from 1.
    pub(crate) fn of_instruction(&self, lines: &[&str], line: usize) -> Option<String> {
        let number = number_after(lines.get(line.checked_sub(1)?)?, "!dbg !")?;
        let column = self.metadata.get(&number).and_then(|text| number_after(text, "column: "));
        Some(format!("{}:{}", self.place(number)?, column.unwrap_or(1)))
    }

    /// Returns the names that the function at a line gives to its arguments in its own language.
    /// Empty if there are not as many names as arguments, as when a compiler splits or drops some.
    pub(super) fn arguments(&self, lines: &[&str], line: usize, arguments: usize) -> Vec<String> {
        let text = line.checked_sub(1).and_then(|at| lines.get(at)).copied().unwrap_or_default();
        let Some(variables) = number_after(text, "!dbg !").and_then(|own| self.variables.get(&own)) else {
            return Vec::new();
        };
        let mut names: Vec<(u32, &str)> = variables.clone();
        names.sort_unstable();
        let are_all = names.len() == arguments && names.iter().zip(1..).all(|((at, _), own)| *at == own);
        if are_all { names.into_iter().map(|(_, name)| name.to_owned()).collect() } else { Vec::new() }
    }

    /// Returns the file and the line of a location.
    fn place(&self, number: u32) -> Option<String> {
        let mut text = self.metadata.get(&number).filter(|text| text.contains("!DILocation("))?;
        let line = number_after(text, "line: ")?;
        for _ in 0..MAX_SCOPES {
            if let Some(file) = number_after(text, "file: !") {
                let name = self.metadata.get(&file)?.split("filename: \"").nth(1)?.split('"').next()?;
                return Some(format!("{}:{line}", name.rsplit('/').next().unwrap_or(name)));
            }
            text = self.metadata.get(&number_after(text, "scope: !")?)?;
        }
        None
    }
}

/// Returns the number and the text of a definition of metadata.
fn definition(line: &str) -> Option<(u32, &str)> {
    let (number, text) = line.strip_prefix('!')?.split_once(" = ")?;
    Some((number.parse().ok()?, text))
}

/// Returns the function of a variable that is an argument, its position from 1, and its name.
fn argument(text: &str) -> Option<(u32, (u32, &str))> {
    let rest = text.strip_prefix("!DILocalVariable(name: \"")?;
    let (name, rest) = rest.split_once('"')?;
    Some((number_after(rest, "scope: !")?, (number_after(rest, "arg: ")?, name)))
}

/// Returns the label that a line begins with.
fn label(line: &str) -> Option<&str> {
    let first = line.split([' ', '\t']).next()?;
    first.strip_suffix(':').filter(|label| !label.is_empty()).map(|label| label.trim_matches('"'))
}

/// Returns the name at the start of a text.
fn word(text: &str) -> &str {
    match text.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next().unwrap_or_default(),
        None => text.split([',', ' ']).next().unwrap_or_default(),
    }
}

/// Returns the number behind a mark.
fn number_after(text: &str, mark: &str) -> Option<u32> {
    text.split_once(mark).and_then(|(_, rest)| leading_number(rest))
}

fn leading_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_have_the_places_of_their_first_words() {
        let text = "define void @f(i32 %0) !dbg !2 {
3:
  %4 = phi i32 [ 0, %2 ], !dbg !8
  br i1 %5, label %6, label %3, !dbg !9, !llvm.loop !10
6:
  %7 = add i32 1, 1, !dbg !9
}
!1 = !DIFile(filename: \"src/a.c\", directory: \"/\")
!2 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 4)
!8 = !DILocation(line: 6, column: 5, scope: !2)
!9 = !DILocation(line: 7, column: 3, scope: !2)
!10 = distinct !{!10, !11, !8, !12}
!11 = !DILocation(line: 5, column: 3, scope: !2)
!12 = !{!\"llvm.loop.mustprogress\"}
!13 = !DILocalVariable(name: \"n\", arg: 1, scope: !2, file: !1, line: 4)";
        let lines: Vec<&str> = text.lines().collect();
        let origins = Origins::of(&lines);
        assert_eq!(origins.of_loop(&lines, 3).as_deref(), Some("a.c:5"));
        assert_eq!(origins.of_loop(&lines, 6).as_deref(), Some("a.c:7"));
        assert_eq!(origins.of_loop(&lines, 2).as_deref(), Some("a.c:5"));
        assert_eq!(origins.of_loop(&lines, 99), None);
        assert_eq!(origins.of_instruction(&lines, 6).as_deref(), Some("a.c:7:3"));
        assert_eq!(origins.of_instruction(&lines, 5), None);
        assert_eq!(origins.arguments(&lines, 1, 1), ["n"]);
        assert!(origins.arguments(&lines, 1, 2).is_empty() && origins.arguments(&lines, 2, 1).is_empty());
        let cyclic = ["!1 = !DILocation(line: 1, scope: !2)", "!2 = !DILocation(scope: !2)"];
        assert_eq!(Origins::of(&cyclic).place(1), None);
    }
}
