//! The steps that a command of clang is split into.
//!
//! Each input in C goes through clang's front end, which writes LLVM IR. Loomir changes loops in
//! it. The back end then makes an object of a changed text. Inputs that did not change stay in the
//! command, which clang carries out as it is.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::super::fuse::Task;
use super::arguments::{Argument, CommandLine, Last, Level, What};
use super::options::Role;

/// Passes that would be in the way of loop transformations, or that the back end does again.
///
/// Loops are not unrolled, and stay loops where a call of `memset` would do. `-fno-unroll-loops`
/// is no way to say so: it marks every loop, so that the back end would not unroll it either.
const FRONT_END: [&str; 19] = [
    "-fno-vectorize",
    "-fno-slp-vectorize",
    "-Wno-pass-failed",
    "-mllvm",
    "-unroll-threshold=0",
    "-mllvm",
    "-unroll-partial-threshold=0",
    "-mllvm",
    "-unroll-full-max-count=0",
    "-mllvm",
    "-unroll-max-upperbound=0",
    "-mllvm",
    "-unroll-allow-partial=false",
    "-mllvm",
    "-unroll-runtime=false",
    "-mllvm",
    "-unroll-allow-peeling=false",
    "-mllvm",
    "-disable-loop-idiom-all",
];

/// Returns the reason why a command is left to clang, if it is.
pub(super) fn left_to_clang(line: &CommandLine) -> Option<&'static str> {
    if line.for_clang.is_some() {
        return line.for_clang;
    }
    let inputs = line.c_inputs().count();
    match line.level {
        _ if inputs == 0 => Some("no input is C"),
        Level::None => Some("nothing is optimised"),
        Level::Debug => Some("code is kept for debuggers"),
        // Clang refuses it.
        _ if inputs > 1 && line.last != Last::Link && line.output.is_some() => {
            Some("one output of several inputs")
        }
        _ => None,
    }
}

/// The text that the front end reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    /// The input. Simple passes run on its LLVM IR.
    Input,
    /// The preprocessed input, from standard input. No passes run: directives are about loops as
    /// they are written.
    Preprocessed,
}

/// Returns the arguments of the front end for an input: clang prints LLVM IR, and writes
/// dependencies as the command says, unless the preprocessor did.
pub(super) fn front_end(line: &CommandLine, input: usize, source: Source) -> Vec<OsString> {
    let mut words = unrolling(line);
    words.extend(before_back_end(line, input, source));
    match source {
        Source::Input => {
            words.extend(dependencies(line, input));
            words.extend(simple_passes(line));
        }
        Source::Preprocessed => {
            let own = ["-x", "cpp-output", "-", "-Xclang", "-disable-llvm-passes"];
            words.extend(own.map(OsString::from));
        }
    }
    if line.last == Last::Link || source == Source::Preprocessed {
        words.push("-Wno-unused-command-line-argument".into());
    }
    words.extend(["-S", "-emit-llvm", "-o", "-"].map(OsString::from));
    words
}

/// Returns the arguments for the passes of the front end: clang reads LLVM IR from its standard
/// input, and prints it.
pub(super) fn passes(line: &CommandLine) -> Vec<OsString> {
    let mut words = unrolling(line);
    words.extend(about_back_end(line));
    words.extend(simple_passes(line));
    words.extend(["-Qunused-arguments", "-S", "-emit-llvm", "-x", "ir", "-", "-o", "-"].map(OsString::from));
    words
}

/// Returns the option without which loops are marked as such that are not to be unrolled, unless a
/// later option says so.
fn unrolling(line: &CommandLine) -> Vec<OsString> {
    let is_fast = matches!(line.level, Level::Speed | Level::Fast);
    if is_fast { vec!["-funroll-loops".into()] } else { Vec::new() }
}

/// Returns the options of the passes before Loomir.
fn simple_passes(line: &CommandLine) -> Vec<OsString> {
    // The level of the passes only. The driver keeps the one that was asked for.
    let level: &[&str] = if line.level == Level::Size { &[] } else { &["-Xclang", "-O1"] };
    // A sum in memory belongs to all loops of a nest. In a register it belongs to one.
    let sums: &[&str] = match line.task {
        Task::Fuse => &[],
        Task::Optimize => &["-mllvm", "-disable-licm-promotion"],
    };
    level.iter().chain(&FRONT_END).chain(sums).map(OsString::from).collect()
}

/// Returns the arguments of the preprocessor for an input: clang prints the text, and writes
/// dependencies as the command says.
pub(super) fn preprocessor(line: &CommandLine, input: usize) -> Vec<OsString> {
    let mut words = before_back_end(line, input, Source::Input);
    words.extend(dependencies(line, input));
    words.extend(["-Wno-unused-command-line-argument", "-E", "-o", "-"].map(OsString::from));
    words
}

/// Returns the arguments of a command that are not about the back end, with one of the inputs.
fn before_back_end(line: &CommandLine, input: usize, source: Source) -> Vec<OsString> {
    let is_alone =
        line.arguments.iter().filter(|argument| matches!(argument.what, What::Input(_))).count() == 1;
    let is_preprocessed = source == Source::Preprocessed;
    let mut words = Vec::new();
    for (at, argument) in line.arguments.iter().enumerate() {
        let stays = match argument.what {
            What::Input(_) => at == input && !is_preprocessed,
            // Clang says that nothing uses them.
            What::Option(Role::Linker) => line.last != Last::Link && is_alone,
            What::Option(Role::Output | Role::Compile | Role::Assembly | Role::Assembler) => false,
            What::Option(
                Role::Dependencies
                | Role::DependencyFile
                | Role::DependencyTarget
                | Role::AboutDependencies
                | Role::Language,
            ) => !is_preprocessed,
            What::Option(role) if role.is_own() => false,
            What::Option(_) => !(is_preprocessed && writes_dependencies(argument)),
        };
        if stays {
            words.extend(argument.words.iter().cloned());
        }
    }
    words
}

/// True if an option lets the preprocessor itself write dependencies.
fn writes_dependencies(argument: &Argument) -> bool {
    let word = argument.words[0].to_string_lossy();
    word.starts_with("-Wp,-MD") || word.starts_with("-Wp,-MMD")
}

/// Returns options that name the file and the target of dependencies as if the front end wrote the
/// command's own output.
fn dependencies(line: &CommandLine, input: usize) -> Vec<OsString> {
    let through = line.with(Role::FrontEnd).any(writes_dependencies);
    if !through && line.with(Role::Dependencies).next().is_none() {
        return Vec::new();
    }
    let mut words = Vec::new();
    let output = line.output.as_ref().map_or_else(|| file_name(line, input, "o"), PathBuf::from);
    if !through && line.with(Role::DependencyFile).next().is_none() {
        words.extend(["-MF".into(), output.with_extension("d").into()]);
    }
    if line.with(Role::DependencyTarget).next().is_none() {
        words.extend(["-MQ".into(), output.into()]);
    }
    words
}

/// Returns the name of an input without its folder, with another extension.
fn file_name(line: &CommandLine, input: usize, extension: &str) -> PathBuf {
    let path = Path::new(&line.arguments[input].words[0]);
    Path::new(path.file_name().unwrap_or(OsStr::new("a"))).with_extension(extension)
}

/// Returns the file that the back end writes for an input: the command's own output, or an object
/// for the linker in a folder.
pub(super) fn output(line: &CommandLine, input: usize, folder: &Path) -> PathBuf {
    match line.last {
        Last::Link => folder.join(format!("{input}")).join(file_name(line, input, "o")),
        Last::Object => line.output.as_ref().map_or_else(|| file_name(line, input, "o"), PathBuf::from),
        Last::Assembly => line.output.as_ref().map_or_else(|| file_name(line, input, "s"), PathBuf::from),
    }
}

/// Returns the arguments of the back end: clang reads LLVM IR from its standard input, and writes
/// `output`.
pub(super) fn back_end(line: &CommandLine, output: &Path) -> Vec<OsString> {
    let mut words = about_back_end(line);
    let step = if line.last == Last::Assembly { "-S" } else { "-c" };
    words.extend(["-Qunused-arguments", step, "-x", "ir", "-", "-o"].map(OsString::from));
    words.push(output.into());
    words
}

/// Returns the options of a command that are about the back end.
fn about_back_end(line: &CommandLine) -> Vec<OsString> {
    let mut words = Vec::new();
    for argument in &line.arguments {
        match argument.what {
            // The front end has said that the option is deprecated.
            What::Option(Role::Level) if argument.words[0] == "-Ofast" => {
                words.extend(["-O3", "-ffast-math"].map(OsString::from));
            }
            What::Option(Role::Assembler | Role::Level | Role::Color | Role::Other) => {
                words.extend(argument.words.iter().cloned());
            }
            _ => {}
        }
    }
    words
}

/// Returns the arguments of the command for everything but the back ends of changed inputs: with
/// their objects in their place, if it links, and without them otherwise. `None` if nothing is left
/// to do. The front ends have said which options nothing uses.
pub(super) fn rest(line: &CommandLine, changed: &[(usize, PathBuf)]) -> Option<Vec<OsString>> {
    let mut words = vec![OsString::from("-Qunused-arguments")];
    let mut language: Option<&[OsString]> = None;
    let mut is_left = line.last == Last::Link;
    let is_input = |argument: &Argument| matches!(argument.what, What::Input(_));
    for (at, argument) in line.arguments.iter().enumerate() {
        if argument.what == What::Option(Role::Language) {
            language = Some(&argument.words);
        }
        is_left |= is_input(argument) && changed.iter().all(|(input, _)| *input != at);
        match changed.iter().find(|(input, _)| *input == at) {
            None if matches!(argument.what, What::Option(role) if role.is_own()) => {}
            None => words.extend(argument.words.iter().cloned()),
            Some((_, object)) if line.last == Last::Link => {
                let before = language.map(|_| ["-x", "none"].map(OsString::from));
                words.extend(before.into_iter().flatten());
                words.push(object.into());
                let follows = line.arguments[at + 1..].iter().any(is_input);
                words.extend(language.filter(|_| follows).into_iter().flatten().cloned());
            }
            Some(_) => {}
        }
    }
    is_left.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the steps of a command if all its inputs in C change, one a line.
    fn steps(command: &str) -> String {
        let line = CommandLine::of(command.split_whitespace().map(OsString::from));
        let mut text = format!("$ {command}\n");
        if let Some(reason) = left_to_clang(&line) {
            return text + "  clang: " + reason + "\n";
        }
        let shown = |words: Vec<OsString>| {
            let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
            words.join(" ").replace(&FRONT_END.join(" "), "…")
        };
        let mut changed = Vec::new();
        for input in line.c_inputs() {
            let output = output(&line, input, Path::new("TMP"));
            text += &format!("  front: {}\n", shown(front_end(&line, input, Source::Input)));
            if line.has_openmp() {
                text += &format!("  -E:    {}\n", shown(preprocessor(&line, input)));
                text += &format!("  front: {}\n", shown(front_end(&line, input, Source::Preprocessed)));
                text += &format!("  passes: {}\n", shown(passes(&line)));
            }
            text += &format!("  back:  {}\n", shown(back_end(&line, &output)));
            changed.push((input, output));
        }
        text += &rest(&line, &changed).map_or(String::new(), |words| format!("  rest:  {}\n", shown(words)));
        text
    }

    #[test]
    fn commands_become_steps() {
        let commands = [
            // Objects, assembly, programs.
            "-O2 -c a.c",
            "-O3 -S dir/a.c -Wall -Isome -I other -DX=1 -D Y -std=c99 -g -march=native",
            "-O a.c -o a",
            "-O2 -fno-unroll-loops -c a.c -oa.o",
            "-O2 -c a.c -object-file-name=b.o",
            "-Ofast -c a.i -o b/a.o",
            "-Os -c a.c",
            "-O0 -O3 -c a.c",
            "-O2 -c a.c b.c d.s",
            "-O2 a.c other/a.c b.o c.cc -lm -L. -Wl,-z,now -shared -o lib.so -pthread",
            "-O2 -x c a.txt -x none b.c -o p",
            "-O2 -c -fPIC -Wa,--noexecstack -Xassembler -x -mllvm -inline-threshold=3 a.c -lm",
            "-O2 -o p a.c --param x=3 -Xlinker -s -T script -include b.c",
            // Dependencies.
            "-O2 -MD -c a.c -o out/a.o",
            "-O2 -MMD -MP -MF a.d -MT target -c a.c",
            "-O2 -MD a.c -o p",
            "-O2 -MD a.c",
            "-O2 -Wp,-MD,x.d -c a.c",
            // OpenMP.
            "-O2 -fopenmp-simd -x c -MD -Wp,-MD,x.d -DX=1 -std=c11 -c a.c -o out/a.o",
            // Options of Loomir.
            "-O2 --loomir-report -c a.c",
            "-O2 -Rpass-missed=loomir -c a.c",
        ];
        insta::assert_snapshot!(commands.map(steps).concat());
    }

    #[test]
    fn other_commands_are_left_to_clang() {
        let commands = [
            "",
            "--version",
            "-print-prog-name=ld",
            "-c a.c",
            "-O2 -O0 -c a.c",
            "-Og -c a.c",
            "-O2 a.o b.o -lm -o p",
            "-O2 -c a.s",
            "-O2 -c a.S",
            "-O2 -c a.cc",
            "-O2 -c a.m",
            "-O2 -x c++ -c a.c",
            "-O2 -x c-header a.h",
            "-O2 -x c -",
            "-O2 -E a.c",
            "-O2 -MM a.c",
            "-O2 -fsyntax-only a.c",
            "-O2 -flto -c a.c",
            "-O2 -flto=thin -c a.c",
            "-O2 -S -emit-llvm a.c",
            "-O2 -fsanitize=address -c a.c",
            "-O2 -fprofile-instr-generate -c a.c",
            "-O2 --coverage -c a.c",
            "-O2 -pg -c a.c",
            "-O2 -Wp,-MD,x.d,-MT,zz -c a.c",
            "-O2 -Wp,-MD -Wp,x.d -c a.c",
            "-O2 -save-temps -c a.c",
            "-O2 -save-stats=obj -c a.c",
            "-O2 -gsplit-dwarf -c a.c",
            "-O2 -Xclang -load -c a.c",
            "-O2 -include-pch a.pch -c a.c",
            "-O2 -fmodules -c a.c",
            "-O2 -Rpass=inline -c a.c",
            "-O2 -v -c a.c",
            "-### -O2 -c a.c",
            "-O2 -c a.c b.c -o both.o",
            "-O2 -c -- a.c",
            "-O2 -MJ all.json -c a.c",
        ];
        insta::assert_snapshot!(commands.map(steps).concat());
    }
}
