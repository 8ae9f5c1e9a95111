//! `loomir cc` does what clang does: the same files, diagnostics and exit status.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns clang's program, if LLVM's folder is known.
fn clang() -> Option<PathBuf> {
    let folder = std::env::var_os("LOOMIR_LLVM")?;
    Some(Path::new(&folder).join("bin/clang")).filter(|program| program.exists())
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A program of three files. Loomir fuses loops of the second.
const FILES: [(&str, &str); 4] = [
    (
        "main.c",
        "#include <stdio.h>\n#include \"image.h\"\nint main(void) {\n  static float a[100], b[100];\n  scale(100, a, b);\n  return printf(\"%g %d\\n\", b[99], count(\"a b c\")) < 0;\n}\n",
    ),
    (
        "image.c",
        "#include \"image.h\"\nvoid scale(int n, float *restrict a, float *restrict b) {\n  int unused;\n  for (int i = 0; i < n; i++) a[i] += i;\n  for (int i = 0; i < n; i++) b[i] = a[i] * 2;\n}\n",
    ),
    (
        "count.c",
        "#include \"image.h\"\nint count(const char *s) {\n  int n = 0;\n  for (; *s; s++) n += *s == ' ';\n  while (n > 9) n -= 10;\n  return n;\n}\n",
    ),
    ("image.h", "void scale(int n, float *restrict a, float *restrict b);\nint count(const char *s);\n"),
];

const MAKEFILE: &str = "CFLAGS = -O2 -Wall -MMD
prog: main.o image.o count.o
\t$(CC) $(CFLAGS) $^ -o $@
";

/// Runs the command in a folder, with the same environment for clang and Loomir.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env("LOOMIR_REPORT", "report")
        .env("LC_ALL", "C")
        .output();
    output.unwrap_or_else(|error| panic!("{program}: {error}"))
}

fn write_files(folder: &Path) {
    for (name, text) in FILES.into_iter().chain([("Makefile", MAKEFILE)]) {
        std::fs::write(folder.join(name), text).expect("the file is written");
    }
}

/// Returns the files in a folder with their contents, but for the report.
fn contents(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
    let files = std::fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file"));
    let mut all: Vec<_> = files
        .filter(|file| file.file_name() != "report")
        .map(|file| (file.file_name(), std::fs::read(file.path()).unwrap_or_default()))
        .collect();
    all.sort();
    all
}

#[test]
fn a_program_of_three_files_is_made() {
    let (Some(clang), true) = (clang(), Command::new("make").arg("--version").output().is_ok()) else {
        return;
    };
    let loomir = format!("{} cc", env!("CARGO_BIN_EXE_loomir"));
    let made = [("clang", clang.to_str().expect("text")), ("loomir", &loomir)].map(|(name, compiler)| {
        let folder = folder(&format!("cc-{name}"));
        write_files(&folder);
        let output = run(&folder, "make", &["-s", &format!("CC={compiler}")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let ran = run(&folder, "./prog", &[]);
        assert!(ran.status.success());
        (folder, output.stderr, ran.stdout)
    });
    let [(theirs, their_warnings, their_result), (ours, warnings, result)] = &made;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(text(warnings).contains("unused variable"));
    assert_eq!(text(warnings), text(their_warnings));
    assert_eq!(text(result), "198 2\n");
    assert_eq!(result, their_result);
    // Files that Loomir does not change have clang's own objects.
    for ((name, ours), (their_name, theirs)) in contents(ours).iter().zip(&contents(theirs)) {
        assert_eq!(name, their_name);
        let is_changed = name == "image.o" || name == "prog";
        assert_eq!(ours != theirs, is_changed, "{}", name.display());
    }
    let report = std::fs::read_to_string(ours.join("report")).expect("a report");
    insta::assert_snapshot!(report);
}

#[test]
fn loops_behind_a_search_fuse_and_the_search_stays() {
    let Some(_) = clang() else { return };
    let folder = folder("search");
    let text = "int find(int *restrict a, int *restrict b, int x) {\n  int i = 0;\n  for (; i < 50; i++)\n    if (a[i] == x)\n      goto found;\n  return -1;\nfound:\n  for (int k = 0; k < 50; k++) a[k] += x;\n  for (int k = 0; k < 50; k++) b[k] = a[k] * 2;\n  return i;\n}\n";
    std::fs::write(folder.join("find.c"), text).expect("the file is written");
    let done = run(&folder, env!("CARGO_BIN_EXE_loomir"), &["cc", "-O2", "-c", "find.c"]);
    assert!(done.status.success(), "{done:?}");
    let report = std::fs::read_to_string(folder.join("report")).expect("there is a report");
    assert!(report.contains("1 fused") && report.contains("1 function raised in part"), "{report}");
}

#[test]
fn pages_show_the_loops_with_their_lines_of_c() {
    let Some(_) = clang() else { return };
    let folder = folder("cc-pages");
    write_files(&folder);
    let loomir = env!("CARGO_BIN_EXE_loomir");
    let object = |options: &[&str]| {
        let done = run(&folder, loomir, &[&["cc", "-O2", "-c", "image.c"], options].concat());
        assert!(done.status.success(), "{done:?}");
        std::fs::read(folder.join("image.o")).expect("an object")
    };
    let without = object(&[]);
    assert_eq!(without, object(&["--report=pages"]), "a page changes the object");
    let page = std::fs::read_to_string(folder.join("pages/image.c.html")).expect("a page");
    for text in
        ["loomir cc", "Fused", "image.c:4", "image.c:5", "#0 is <code>n</code>", "'loomir cc' has none"]
    {
        assert!(page.contains(text), "{text}");
    }
    object(&["--report=one.html"]);
    assert_eq!(std::fs::read_to_string(folder.join("one.html")).expect("a page"), page);

    // A page that cannot be written is said, and the object is there.
    let done = run(&folder, loomir, &["cc", "-O2", "-c", "image.c", "--report=image.c/page.html"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("no page: cannot write 'image.c/page.html'"), "{said}");
    let done = run(&folder, loomir, &["cc", "-c", "image.c", "--report=pages"]);
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && said.contains("image.c: no page: left to clang: nothing is"), "{said}");
    let done = run(&folder, loomir, &["cc", "-O2", "-c", "image.c", "count.c", "--report=one.html"]);
    assert_eq!(done.status.code(), Some(2));
}

#[test]
fn diagnostics_and_status_are_those_of_clang() {
    let Some(clang) = clang() else { return };
    let clang = clang.to_str().expect("text").to_owned();
    let commands: [&[&str]; 13] = [
        &["-O2", "-Wall", "main.c", "image.c", "count.c", "-o", "prog"],
        &["-O2", "-Wall", "-Werror", "-c", "image.c"],
        &["-O2", "-c", "missing.c"],
        &["-O2", "-c", "main.c", "image.c", "-o", "both.o"],
        &["-O2", "-DX=", "-c", "count.c", "-lm", "-MD", "-MT", "x", "-MF", "count.dep"],
        &["-O2", "-S", "image.c", "-o", "-", "-Dscale=1"],
        &["-O2", "-c", "image.c", "-o", "no/folder/image.o"],
        &["-O2", "image.c"],
        &["-O2", "-Werror", "-Wa,--noexecstack", "-x", "c", "main.c", "count.c", "image.c", "-o", "prog"],
        &["-O2", "-c", "image.c", "-object-file-name=x.o"],
        &["-O2", "-c", "image.c", "missing.c"],
        &["-O2", "-c", "image.c", "--prefix", "."],
        &["-O2", "-Wp,-MD,x.d,-MT,zz", "-c", "image.c"],
    ];
    for (number, command) in commands.into_iter().enumerate() {
        let all =
            [(clang.as_str(), None), (env!("CARGO_BIN_EXE_loomir"), Some("cc"))].map(|(program, first)| {
                let folder =
                    folder(&format!("cc-{number}-{}", if first.is_some() { "loomir" } else { "clang" }));
                write_files(&folder);
                let arguments: Vec<&str> = first.into_iter().chain(command.iter().copied()).collect();
                let output = run(&folder, program, &arguments);
                let names: Vec<OsString> = contents(&folder).into_iter().map(|(name, _)| name).collect();
                let said = String::from_utf8_lossy(&output.stderr)
                    .lines()
                    .filter(|line| !line.contains("ld:"))
                    .collect::<Vec<_>>()
                    .join("\n");
                (output.status.code(), said.replace("/tmp/", ""), names, output.stdout)
            });
        if number == 7 {
            // The linker names a temporary file.
            assert_eq!((all[0].0, &all[0].2), (all[1].0, &all[1].2));
        } else {
            assert_eq!(all[0], all[1], "{command:?}");
        }
    }
}

#[test]
fn the_machine_of_costs_has_a_name() {
    if clang().is_none() {
        return;
    }
    let loomir = env!("CARGO_BIN_EXE_loomir");
    let folder = folder("cc-machine");
    write_files(&folder);
    let compile = |machine: &[&str], level: &str| {
        run(&folder, loomir, &[&["cc", level, "--loomir-optimize", "-c", "image.c"], machine].concat())
    };
    let object = || std::fs::read(folder.join("image.o")).expect("an object");
    assert!(compile(&[], "-O2").status.success());
    let usual = object();
    for (machine, level) in [("generic", "-O2"), ("host", "-O2"), ("x86-64-v4", "-O0")] {
        let output = compile(&[&format!("--loomir-machine={machine}")], level);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && !said.contains("loomir-machine"), "{machine}: {said}");
        assert!(machine != "generic" || object() == usual);
    }
    let output = compile(&["--loomir-machine=znver44"], "-O2");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("there is no machine 'znver44'"), "{said}");
}

#[test]
fn without_clang_the_command_says_so() {
    let output = Command::new(env!("CARGO_BIN_EXE_loomir"))
        .args(["cc", "-c", "a.c"])
        .env_remove("LOOMIR_LLVM")
        .env_remove("LOOMIR_CLANG")
        .env("PATH", "")
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stderr));
}
