//! `loomir cc` obeys OpenMP's loop transformations: programs compute the same, and transformations
//! that would change this are refused.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns clang's program, if LLVM's folder is known.
fn clang() -> Option<PathBuf> {
    let folder = std::env::var_os("LOOMIR_LLVM")?;
    Some(Path::new(&folder).join("bin/clang")).filter(|program| program.exists())
}

/// Returns the folder of the programs.
fn inputs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/inputs/directives")
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(program).args(arguments).current_dir(inputs()).env("LC_ALL", "C").output();
    output.unwrap_or_else(|error| panic!("{}: {error}", program.display()))
}

/// Runs `loomir cc`.
fn cc(arguments: &[&str]) -> Output {
    run(Path::new(env!("CARGO_BIN_EXE_loomir")), &[&["cc"], arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns a place for a file that a test makes.
fn made(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("directives-{name}")).display().to_string()
}

/// The files of programs, with the number of their directives.
const PROGRAMS: [(&str, usize); 10] = [
    ("tile", 11),
    ("stripe", 10),
    ("unroll", 11),
    ("reverse", 12),
    ("interchange", 11),
    ("fuse", 12),
    ("split", 12),
    ("flatten", 10),
    ("places", 8),
    ("types", 56),
];

/// The files of programs whose directives are refused.
const REFUSED: [&str; 2] = ["refused", "doubtful"];

/// Returns the number of pragmas of a transformation in these files.
fn pragmas<'f>(name: &str, files: impl Iterator<Item = &'f str>) -> usize {
    let pragma = format!("#pragma omp {name}");
    let is_own = |line: &str| {
        let rest = line.trim_start().strip_prefix(&pragma);
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    };
    let number = |file: &str| {
        let text = std::fs::read_to_string(inputs().join(file).with_extension("c"));
        text.unwrap_or_else(|error| panic!("{file}: {error}")).lines().filter(|line| is_own(line)).count()
    };
    files.map(number).sum()
}

#[test]
fn each_directive_has_ten_programs_that_run_and_two_that_are_refused() {
    for name in ["tile", "stripe", "unroll", "reverse", "interchange", "fuse", "split", "flatten"] {
        let [run, refused] =
            [pragmas(name, PROGRAMS.iter().map(|(file, _)| *file)), pragmas(name, REFUSED.into_iter())];
        assert!(run >= 10 && refused >= 2, "{name}: {run} run, {refused} are refused");
    }
}

#[test]
fn programs_with_directives_compute_the_same() {
    let Some(clang) = clang() else { return };
    for (name, number) in PROGRAMS {
        let source = format!("{name}.c");
        let [plain, obeyed] = ["plain", "obeyed"].map(|how| made(&format!("{name}-{how}")));
        let output = run(&clang, &["-O1", "-w", &source, "-o", &plain]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let output = cc(&["-O2", "-fopenmp-simd", "--loomir-report", &source, "-o", &obeyed]);
        let said = text(&output.stderr);
        assert!(output.status.success() && said.contains(&format!(": {number} directives obeyed")), "{said}");
        let [plain, obeyed] = [plain, obeyed].map(|program| text(&run(Path::new(&program), &[]).stdout));
        assert!(plain.lines().count() > 5);
        assert_eq!(plain, obeyed, "{name}");
    }
}

#[test]
fn wrong_directives_are_refused_with_two_iterations() {
    if clang().is_none() {
        return;
    }
    for name in REFUSED {
        let source = format!("{name}.c");
        let output = cc(&["-O2", "-fopenmp-simd", "-c", &source, "-o", &made(&format!("{name}.o"))]);
        assert_eq!(output.status.code(), Some(1));
        let said = text(&output.stderr);
        let pragmas = std::fs::read_to_string(inputs().join(&source)).unwrap_or_default();
        assert_eq!(said.matches(": error: ").count(), pragmas.matches("#pragma omp").count(), "{said}");
        insta::assert_snapshot!(name, said);
    }
}

#[test]
fn directives_need_openmp() {
    if clang().is_none() {
        return;
    }
    let output = cc(&["-O2", "-c", "refused.c", "-o", &made("ignored.o")]);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", text(&output.stderr));
}

#[test]
fn no_label_is_left_in_an_object() {
    if clang().is_none() {
        return;
    }
    for options in [&["-O2"][..], &["-O2", "-g"], &["-Os"]] {
        let assembly = made("places.s");
        let output = cc(&[options, &["-fopenmp-simd", "-S", "places.c", "-o", &assembly]].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        let assembly = std::fs::read_to_string(&assembly).expect("the assembly");
        assert!(!assembly.contains("loomir") && !assembly.contains("10737418"));
    }
}

#[test]
fn pragmas_beside_others_are_kept_apart_with_a_warning() {
    if clang().is_none() {
        return;
    }
    let output = cc(&["-O2", "-fopenmp", "-c", "left.c", "-o", &made("left.o")]);
    insta::assert_snapshot!(text(&output.stderr));
    assert!(output.status.success());
    let output = cc(&["-O2", "-fopenmp-simd", "-c", "wrong.c", "-o", &made("wrong.o")]);
    insta::assert_snapshot!(text(&output.stderr));
    assert_eq!(output.status.code(), Some(1));
}
