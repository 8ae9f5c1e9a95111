//! Functions that become arithmetic, in the interpreter and compiled. Approximated ones are close
//! to the exact results; others have those of the C library.

use loomir::dialects::interp::Limits;
use loomir::{Engine, Pipeline, execute};

/// Arguments in which formulas change, or have to be exact, as bits of `f32`: zeros, the least
/// numbers, one, where `tanh` changes, where `exp` and `exp2` become infinite, subnormal and zero,
/// infinities and NaNs.
const EDGES: [u32; 24] = [
    0x0000_0000,
    0x0000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x3f0c_cccd,
    0x3f7f_ffff,
    0x3f80_0000,
    0x4120_0000,
    0x42b1_7218,
    0x42b2_0000,
    0x4300_0000,
    0x7f7f_ffff,
    0x7f80_0000,
    0x7fc0_0000,
    0x8000_0000,
    0x8000_0001,
    0xbf0c_cccd,
    0xc2ae_ac50,
    0xc2cf_f1b5,
    0xc2fc_0000,
    0xc315_0000,
    0xff7f_ffff,
    0xff80_0000,
    0xffc0_0000,
];

/// Arithmetic for a function, and what its results are compared with.
struct Compared {
    /// The pass, with its options.
    pass: &'static str,
    /// A function that the program declares.
    declared: &'static str,
    /// The function of `%x`, and the result `%rounded` that it should have.
    own: String,
    rounded: String,
    /// The most numbers of the format between both.
    most: i64,
}

/// An approximated function, and the exact result, rounded.
fn approximate(function: &str) -> Compared {
    Compared {
        pass: "math-polynomial-approximation",
        declared: "",
        own: format!("math.{function} %x fastmath<afn>"),
        rounded: format!(
            "%wide = arith.extf %x : f32 to f64
             %exact = math.{function} %wide : f64
             %rounded = arith.truncf %exact : f64 to f32"
        ),
        most: 2,
    }
}

/// A function with the results of the C library, which is called.
fn exact(function: &str, declared: &'static str) -> Compared {
    Compared {
        pass: "math-polynomial-approximation{exact=true}",
        declared,
        own: format!("math.{function} %x"),
        rounded: format!("%rounded = func.call @{function}f(%x) : (f32) -> f32"),
        most: 0,
    }
}

impl Compared {
    /// Returns a program with a function that returns the greatest distance of so many results.
    fn program(&self) -> String {
        let Compared { declared, own, rounded, .. } = self;
        format!(
            "{declared}
             func.func @worst(%start: i32, %step: i32, %count: index) -> i32 {{
               %c0 = arith.constant 0 : index
               %c1 = arith.constant 1 : index
               %zero = arith.constant 0 : i32
               %0:2 = scf.for %i = %c0 to %count step %c1 iter_args(%at = %start, %most = %zero) -> (i32, i32) {{
                 %x = arith.bitcast %at : i32 to f32
                 {rounded}
                 %own = {own} : f32
                 %a = arith.bitcast %rounded : f32 to i32
                 %b = arith.bitcast %own : f32 to i32
                 %gap = arith.subi %a, %b : i32
                 %distance = math.absi %gap : i32
                 %no_a = arith.cmpf uno, %rounded, %rounded : f32
                 %no_b = arith.cmpf uno, %own, %own : f32
                 %both = arith.andi %no_a, %no_b : i1
                 %far = arith.select %both, %zero, %distance : i32
                 %next = arith.addi %at, %step : i32
                 %more = arith.maxui %most, %far : i32
                 scf.yield %next, %more : i32, i32
               }}
               return %0#1 : i32
             }}"
        )
    }

    /// Returns the greatest distance.
    fn worst(&self, [start, step, count]: [u32; 3], engine: Engine) -> i64 {
        let pipeline = Pipeline::new().passes(self.pass);
        let mut program = pipeline.run(&self.program(), "worst.mlir").unwrap_or_else(|why| panic!("{why}"));
        let printed = program.to_mlir();
        assert!(!printed.contains(&self.own), "{printed}");
        let arguments = [(start as i32).to_string(), (step as i32).to_string(), count.to_string()];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let outcome = execute(program.module_mut(), "worst", &arguments, engine, &Limits::default());
        let text = outcome.expect("it returns").to_text();
        let number =
            text.split(|letter: char| !letter.is_ascii_digit() && letter != '-').rfind(|own| !own.is_empty());
        number.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no number: {text}"))
    }

    fn check(&self) {
        let near = 0..=self.most;
        for edge in EDGES {
            let around = self.worst([edge.wrapping_sub(8), 1, 17], Engine::Interpreter);
            assert!(near.contains(&around), "{} around {edge:#x}: {around}", self.own);
        }
        let sample = self.worst([0, 1_073_741, 4_000], Engine::Interpreter);
        assert!(near.contains(&sample), "{}: {sample}", self.own);
        if cfg!(feature = "llvm") {
            let sample = self.worst([0, 10_007, 429_197], Engine::Jit(2));
            assert!(near.contains(&sample), "{}, compiled: {sample}", self.own);
        }
    }
}

#[test]
fn exp_is_close() {
    approximate("exp").check();
}

#[test]
fn exp2_is_close() {
    approximate("exp2").check();
}

#[test]
fn log_is_close() {
    approximate("log").check();
}

#[test]
fn tanh_is_close() {
    approximate("tanh").check();
}

#[test]
fn exp_is_exact() {
    exact("exp", "func.func private @expf(f32) -> f32").check();
}

#[test]
fn exp2_is_exact() {
    exact("exp2", "func.func private @exp2f(f32) -> f32").check();
}
