//! The tests of the Python package, run by `python3` on the library that cargo has built.
//!
//! The package's files and the library are put beside each other in a folder of their own, as a
//! wheel holds them. Where there is no `python3`, the test is skipped. Machine code is made by the
//! clang of `LOOMIR_LLVM`, if that is set. Without NumPy, xDSL or mypy their tests are skipped.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[allow(dead_code, unreachable_pub)]
#[path = "../../testing/src/peers.rs"]
mod peers;

#[test]
fn python_tests_pass() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(python) = peers::python3() else { return };
    let site = package(here);
    let mut command = Command::new(python);
    if let Some(clang) = peers::tool("clang") {
        command.env("CLANG", clang);
    }
    let done = command
        .args(["-B", "-m", "unittest", "discover", "--start-directory"])
        .arg(here.join("tests"))
        // Python looks for packages in its working folder first.
        .current_dir(&site)
        .env("PYTHONPATH", &site)
        .env("LOOMIR_PROJECT", here.join(".."))
        .output()
        .expect("python3 can be started");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{}{said}", String::from_utf8_lossy(&done.stdout));
}

/// Makes a folder with the package and the library in it.
fn package(here: &Path) -> PathBuf {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python");
    let _ = fs::remove_dir_all(&site);
    let package = site.join("loomir");
    fs::create_dir_all(&package).expect("a folder can be made");
    for file in fs::read_dir(here.join("loomir")).expect("the package is there").flatten() {
        if file.path().is_file() {
            fs::copy(file.path(), package.join(file.file_name())).expect("a file can be copied");
        }
    }
    fs::copy(library(), package.join("_loomir.abi3.so")).expect("the library can be copied");
    site
}

/// Returns the library that was built with this test.
fn library() -> PathBuf {
    let test = env::current_exe().expect("the test has a path");
    let name = format!("{DLL_PREFIX}_loomir{DLL_SUFFIX}");
    let folders = test.ancestors().skip(1).take(2);
    let newest = folders
        .filter_map(|folder| {
            let path = folder.join(&name);
            Some((fs::metadata(&path).and_then(|data| data.modified()).ok()?, path))
        })
        .max();
    newest.map(|(_, path)| path).expect("cargo builds the library before its tests")
}
