//! Straight-line programs of a given number of operations, in the shapes that storage, names and
//! look-ups may find hard.

use std::fmt::Write;

/// The shape of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One function; operands come from a few lines above.
    One,
    /// One function; every value is used far from where it is defined.
    Far,
    /// One function; one constant is an operand of every operation.
    Constant,
    /// Functions of ten operations each.
    Functions,
    /// One function of loads and stores, with types that are long to read.
    Memory,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Shape; 5] = [Shape::One, Shape::Far, Shape::Constant, Shape::Functions, Shape::Memory];

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Shape::One => "one function",
            Shape::Far => "uses far apart",
            Shape::Constant => "one constant everywhere",
            Shape::Functions => "functions of 10",
            Shape::Memory => "loads and stores",
        }
    }

    /// A program of about `count` operations.
    pub fn program(self, count: usize) -> String {
        let mut text = String::new();
        // Writing to a string doesn't fail.
        let _ = match self {
            Shape::One => one(&mut text, count),
            Shape::Far => far(&mut text, count),
            Shape::Constant => constant(&mut text, count),
            Shape::Functions => functions(&mut text, count),
            Shape::Memory => memory(&mut text, count),
        };
        text
    }
}

fn one(text: &mut String, count: usize) -> std::fmt::Result {
    const NAMES: [&str; 5] = ["addi", "muli", "subi", "xori", "andi"];
    writeln!(text, "func.func @f(%a: i32, %b: i32) -> i32 {{\n  %0 = arith.addi %a, %b : i32")?;
    for i in 1..count - 1 {
        writeln!(text, "  %{i} = arith.{} %{}, %{} : i32", NAMES[i % 5], i - 1, i.saturating_sub(7))?;
    }
    writeln!(text, "  return %{} : i32\n}}", count - 2)
}

fn far(text: &mut String, count: usize) -> std::fmt::Result {
    let half = count / 2;
    writeln!(text, "func.func @f(%a: i32, %b: i32) -> i32 {{")?;
    for i in 0..half {
        writeln!(text, "  %{i} = arith.addi %a, %b : i32")?;
    }
    for i in half..count - 1 {
        writeln!(text, "  %{i} = arith.addi %{}, %{} : i32", 2 * half - 1 - i, i - half)?;
    }
    writeln!(text, "  return %{} : i32\n}}", count - 2)
}

fn constant(text: &mut String, count: usize) -> std::fmt::Result {
    writeln!(text, "func.func @f(%a: i32) -> i32 {{\n  %c = arith.constant 7 : i32")?;
    writeln!(text, "  %0 = arith.addi %a, %c : i32")?;
    for i in 1..count - 2 {
        writeln!(text, "  %{i} = arith.addi %{}, %c : i32", i - 1)?;
    }
    writeln!(text, "  return %{} : i32\n}}", count - 3)
}

fn functions(text: &mut String, count: usize) -> std::fmt::Result {
    for f in 0..count / 10 {
        writeln!(text, "func.func @f{f}(%a: i32, %b: i32) -> i32 {{\n  %0 = arith.addi %a, %b : i32")?;
        for i in 1..9 {
            writeln!(text, "  %{i} = arith.muli %{}, %a : i32", i - 1)?;
        }
        writeln!(text, "  return %8 : i32\n}}")?;
    }
    Ok(())
}

fn memory(text: &mut String, count: usize) -> std::fmt::Result {
    writeln!(text, "func.func @f(%m: memref<?xf32>, %i: index) {{")?;
    for i in 0..count / 3 {
        let (load, sum, before) = (2 * i, 2 * i + 1, (2 * i).saturating_sub(1));
        writeln!(text, "  %{load} = memref.load %m[%i] : memref<?xf32>")?;
        writeln!(text, "  %{sum} = arith.addf %{load}, %{before} fastmath<fast> : f32")?;
        writeln!(text, "  memref.store %{sum}, %m[%i] : memref<?xf32>")?;
    }
    writeln!(text, "  return\n}}")
}
