//! Exponential functions as arithmetic, compared with the C library for every `f32`.
//!
//! `clang` compiles what Loomir writes, and a program that calls both, for any processor and for
//! this one: products that are added are rounded in one program, and are not in the other, where
//! the processor can. Bits have to be equal; every NaN equals every other.

use std::path::Path;
use std::process::Command;

use loomir::Pipeline;

use crate::peers::Peer;

/// The number of cases that have all arguments. Those of a case are as many apart.
pub const CASES: u64 = 2048;

/// The functions, as `optimize` writes them.
const FUNCTIONS: &str = "func.func @own_exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}
func.func @own_exp2(%x: f32) -> f32 {
  %0 = math.exp2 %x : f32
  return %0 : f32
}";

const DRIVER: &str = r#"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

float own_exp(float), own_exp2(float);

static int differ(const char *name, float x, float own, float library) {
  if (memcmp(&own, &library, 4) == 0 || (isnan(own) && isnan(library))) return 0;
  printf("%s of %a is %a, and %a in the C library\n", name, x, own, library);
  return 1;
}

int main(int argc, char **argv) {
  uint64_t first = strtoull(argv[1], 0, 10), behind = first + strtoull(argv[2], 0, 10);
  for (uint64_t own = first; own < behind && own < CASES; own++)
    for (uint64_t bits = own; bits < UINT64_C(1) << 32; bits += CASES) {
      uint32_t low = (uint32_t)bits;
      float x;
      memcpy(&x, &low, 4);
      if (differ("exp", x, own_exp(x), expf(x)) | differ("exp2", x, own_exp2(x), exp2f(x))) return 0;
    }
  puts("equal");
}
"#;

/// The targets: all processors of this kind, and this one.
const TARGETS: [&[&str]; 2] = [&[], &["-march=native"]];

/// The counts of a campaign.
#[derive(Debug, Default)]
pub struct Tally {
    /// The cases compared.
    pub cases: u64,
    /// The results compared, of both functions for both targets.
    pub results: u64,
}

/// Compares the results of `count` cases from `first` on, with programs in `folder`.
///
/// # Errors
///
/// A result that differs, or what a tool says.
pub fn run((first, count): (u64, u64), clang: &Peer, folder: &Path, tally: &mut Tally) -> Result<(), String> {
    let pipeline = Pipeline::new().passes("math-polynomial-approximation{exact=true}");
    let written = pipeline.run(FUNCTIONS, "functions.mlir").map_err(|why| why.to_string())?;
    if written.to_mlir().contains("math.exp") {
        return Err("a function stays".to_owned());
    }
    let (functions, driver) = (folder.join("functions.ll"), folder.join("driver.c"));
    let program = folder.join("program");
    let text = written.to_ll().map_err(|why| why.to_string())?;
    for (path, text) in [(&functions, text.as_str()), (&driver, DRIVER)] {
        std::fs::write(path, text).map_err(|error| error.to_string())?;
    }
    let cases = format!("-DCASES={CASES}");
    let [functions, driver, built] = [&functions, &driver, &program].map(|path| path.to_string_lossy());
    for target in TARGETS {
        let options = ["-O2", "-w", "-fno-builtin", "-ffp-contract=off", &cases, &functions, &driver];
        let options = [&options[..], target, &["-o", &built, "-lm"]].concat();
        clang.run("", &options)?;
        let range = [first, count].map(|own| own.to_string());
        let output = Command::new(&program).args(range).output().map_err(|error| error.to_string())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if said.trim() != "equal" {
            return Err(format!("{said}compiled with {target:?}"));
        }
    }
    tally.cases += count;
    tally.results += count * (1 << 32) / CASES * 2 * TARGETS.len() as u64;
    Ok(())
}
