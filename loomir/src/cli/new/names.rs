//! Names of what `loomir new` writes: checked, and in the spellings that files need.

use crate::cli::Failure;

/// A name in several spellings.
pub(super) struct Names {
    /// The name as it is written on the command line.
    pub(super) plain: String,
    /// The name of a module or crate: `my_pass`.
    pub(super) module: String,
    /// The name of a type: `MyPass`.
    pub(super) ty: String,
    /// The name of a table: `MY_PASS`.
    pub(super) constant: String,
}

/// The longest name.
const MAX_LENGTH: usize = 64;

/// Words of Rust, and modules and crates that files refer to.
const TAKEN: [&str; 67] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "insta",
    "let",
    "lib",
    "loomir",
    "loomir_testing",
    "loop",
    "macro",
    "main",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "bool",
    "char",
    "f32",
    "i32",
    "str",
];

impl Names {
    /// Checks a name whose words are separated by `separator`.
    ///
    /// # Errors
    /// A name that is no identifier.
    pub(super) fn of(name: &str, separator: char) -> Result<Names, Failure> {
        Names::with(name, &[separator])
    }

    /// Checks the name of a package.
    ///
    /// # Errors
    /// As for [`of`](Names::of).
    pub(super) fn of_package(name: &str) -> Result<Names, Failure> {
        Names::with(name, &['-', '_'])
    }

    fn with(name: &str, separators: &[char]) -> Result<Names, Failure> {
        let wrong = |what: &str, help: &str| {
            Err(Failure::input(format!("'{}' {what}\nhelp: {help}", name.escape_debug())))
        };
        if name.len() > MAX_LENGTH {
            return wrong("is too long for a name", &format!("use at most {MAX_LENGTH} characters"));
        }
        let is_word = |word: &str| {
            let is_inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
            !word.is_empty() && word.chars().all(is_inside)
        };
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
        if !starts || !name.split(separators).all(is_word) {
            let signs: Vec<String> = separators.iter().map(|sign| format!("'{sign}'")).collect();
            let help = format!("use small letters, digits and {} between words", signs.join(" or "));
            return wrong("is no name", &help);
        }
        let module = name.replace('-', "_");
        if TAKEN.contains(&module.as_str()) {
            return wrong("means something else in Rust or here", "choose another name");
        }
        let capital = |word: &str| word[..1].to_ascii_uppercase() + &word[1..];
        Ok(Names {
            plain: name.to_owned(),
            ty: name.split(separators).map(capital).collect(),
            constant: module.to_ascii_uppercase(),
            module,
        })
    }

    /// Fills in a template. Lines that begin with `@crate` are for crates on top of Loomir, those
    /// with `@tree` for Loomir's own tree.
    pub(super) fn fill(&self, template: &str, in_tree: bool) -> String {
        let (kept, dropped) = if in_tree { ("@tree", "@crate") } else { ("@crate", "@tree") };
        let mut text = String::new();
        for line in template.lines().filter(|line| !line.starts_with(dropped)) {
            let line = line.strip_prefix(kept).map_or(line, |rest| rest.strip_prefix(' ').unwrap_or(rest));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        let spellings = [
            ("{{name}}", &self.plain),
            ("{{package}}", &self.plain),
            ("{{crate}}", &self.module),
            ("{{Type}}", &self.ty),
            ("{{CONST}}", &self.constant),
        ];
        spellings.into_iter().fold(text, |text, (mark, name)| text.replace(mark, name))
    }
}
