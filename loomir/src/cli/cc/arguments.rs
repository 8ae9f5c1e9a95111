//! A command line of clang, split into options and inputs.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::super::fuse::Task;
use super::options::{Role, role};

/// An option with its value, or an input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Argument {
    /// One word, or two if the value is a word of its own.
    pub(super) words: Vec<OsString>,
    pub(super) what: What,
}

/// The kinds of arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// An input. True if it is C.
    Input(bool),
    /// An option.
    Option(Role),
}

/// The level of optimisation, as the last option says. Without one it is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Level {
    /// `-O0`.
    None,
    /// `-O1`.
    Little,
    /// `-O2`, `-O3` or `-O4`.
    Speed,
    /// `-Ofast`.
    Fast,
    /// `-Os` or `-Oz`.
    Size,
    /// `-Og`.
    Debug,
}

/// The last step of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    Assembly,
    Object,
    Link,
}

/// A command line of clang without its name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct CommandLine {
    pub(super) arguments: Vec<Argument>,
    /// The reason why the command is left to clang, if an option is one.
    pub(super) for_clang: Option<&'static str>,
    pub(super) level: Level,
    pub(super) last: Last,
    pub(super) output: Option<OsString>,
    /// True if a report was asked for.
    pub(super) reports: bool,
    /// The task of Loomir.
    pub(super) task: Task,
    /// The name of the machine that costs are estimated for, if the command says it.
    pub(super) machine: Option<String>,
    /// The page or the folder of pages, if they were asked for.
    pub(super) page: Option<String>,
}

impl CommandLine {
    /// Splits a command line. Never fails: clang says what is wrong with it.
    pub(super) fn of(words: impl IntoIterator<Item = OsString>) -> CommandLine {
        let mut line = CommandLine {
            arguments: Vec::new(),
            for_clang: None,
            level: Level::None,
            last: Last::Link,
            output: None,
            reports: false,
            task: Task::Fuse,
            machine: None,
            page: None,
        };
        let mut language = None;
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy().into_owned();
            if !text.starts_with('-') || text == "-" {
                line.arguments.push(Argument {
                    what: What::Input(is_c(&word, language.as_deref())),
                    words: vec![word],
                });
                continue;
            }
            let (role, takes_next) = role(&text);
            let value = if takes_next { words.next() } else { None };
            line.note(role, &text, value.as_deref(), &mut language);
            let words = std::iter::once(word).chain(value).collect();
            line.arguments.push(Argument { words, what: What::Option(role) });
        }
        line
    }

    /// True if an option may ask for debug information.
    pub(super) fn has_debug_information(&self) -> bool {
        let asks = |argument: &Argument| {
            matches!(argument.what, What::Option(_))
                && argument.words[0].to_str().is_some_and(|word| word.starts_with("-g") && word != "-g0")
        };
        self.arguments.iter().any(asks)
    }

    /// True if pragmas of OpenMP that transform loops mean something.
    pub(super) fn has_openmp(&self) -> bool {
        let (mut whole, mut simd) = (false, false);
        for argument in self.arguments.iter().filter(|own| matches!(own.what, What::Option(_))) {
            match argument.words[0].to_str() {
                Some("-fopenmp-simd") => simd = true,
                Some("-fno-openmp-simd") => simd = false,
                Some("-fno-openmp") => whole = false,
                Some(word) => whole |= word == "-fopenmp" || word.starts_with("-fopenmp="),
                None => {}
            }
        }
        whole || simd
    }

    /// Notes the effect of an option on the whole command.
    fn note(&mut self, role: Role, text: &str, value: Option<&OsStr>, language: &mut Option<String>) {
        // The value of an option of one word, as in `-xc` and `--language=c`.
        let own = || match text.split_once('=') {
            Some((_, value)) if text.starts_with("--") => value.to_owned(),
            _ => text.get(2..).unwrap_or_default().to_owned(),
        };
        let value = || value.map_or_else(|| own().into(), OsStr::to_os_string);
        match role {
            Role::Output => self.output = Some(value()),
            Role::Language => *language = Some(value().to_string_lossy().into_owned()),
            Role::Level => self.level = level(text),
            // The earliest step wins.
            Role::Assembly => self.last = Last::Assembly,
            Role::Compile if self.last == Last::Link => self.last = Last::Object,
            Role::Report => self.reports = true,
            Role::Optimize => self.task = Task::Optimize,
            Role::Page => self.page = Some(own()),
            Role::Machine => self.machine = Some(own()),
            Role::Clang(reason) => self.for_clang = self.for_clang.or(Some(reason)),
            _ => {}
        }
    }

    /// Returns the reason why files are in the way, if they are: what can be read only once, and
    /// words that are no inputs, because they belong to an option that is not known here.
    pub(super) fn not_files(&self) -> Option<&'static str> {
        let is_special = |name: &OsStr| std::fs::metadata(name).is_ok_and(|own| !own.is_file());
        if self.output.as_deref().is_some_and(|name| name == "-" || is_special(name)) {
            return Some("the output is no file");
        }
        let inputs = self.arguments.iter().filter(|argument| matches!(argument.what, What::Input(_)));
        let are_files = inputs.map(|input| &input.words[0]).all(|name| Path::new(name).is_file());
        (!are_files).then_some("an input is no file")
    }

    /// Returns the places of the inputs in C.
    pub(super) fn c_inputs(&self) -> impl Iterator<Item = usize> {
        let inputs = self.arguments.iter().enumerate();
        inputs.filter(|(_, argument)| argument.what == What::Input(true)).map(|(at, _)| at)
    }

    /// Returns the arguments with this role.
    pub(super) fn with(&self, role: Role) -> impl Iterator<Item = &Argument> {
        self.arguments.iter().filter(move |argument| argument.what == What::Option(role))
    }
}

/// True if an input is C: by the language that was set, or by its name.
fn is_c(name: &OsStr, language: Option<&str>) -> bool {
    match language {
        Some("c" | "cpp-output") => name != "-",
        None | Some("none") => matches!(Path::new(name).extension().and_then(OsStr::to_str), Some("c" | "i")),
        _ => false,
    }
}

fn level(text: &str) -> Level {
    match &text[2..] {
        "0" => Level::None,
        "" | "1" => Level::Little,
        "fast" => Level::Fast,
        "s" | "z" => Level::Size,
        "g" => Level::Debug,
        _ => Level::Speed,
    }
}
