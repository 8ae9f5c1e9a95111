//! Random programs on vectors: the interpreter at every stage of lowering, `lli` on our text, and
//! `lli` on what MLIR makes of the program, compute the same.
//!
//! `LOOMIR_VECTOR_CASES` is the number of programs, and `LOOMIR_VECTOR_FIRST` the first one.

use std::fmt::Write;

use loomir_dialects::interp::arguments::SplitMix64;

use crate::fixture::{Fixture, accepts, context, read, tool};
use crate::vectors::PASSES;
use crate::{llvm, say};

/// The sizes of the memrefs.
const ROWS: usize = 5;
const COLUMNS: usize = 12;
/// The maximal number of elements of a vector.
const MAX_ELEMENTS: usize = 48;

/// A program being written.
struct Program {
    random: SplitMix64,
    text: String,
    element: &'static str,
    /// The vectors so far: names and sizes.
    vectors: Vec<(String, Vec<usize>)>,
    next: usize,
}

fn joined<T: ToString>(all: &[T], between: &str) -> String {
    all.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}

impl Program {
    fn below(&mut self, count: usize) -> usize {
        (self.random.next_bits() % count.max(1) as u64) as usize
    }

    fn is_float(&self) -> bool {
        self.element.starts_with('f')
    }

    fn ty(&self, sizes: &[usize]) -> String {
        self.ty_of(sizes, self.element)
    }

    fn ty_of(&self, sizes: &[usize], element: &str) -> String {
        let sizes: String = sizes.iter().map(|size| format!("{size}x")).collect();
        format!("vector<{sizes}{element}>")
    }

    fn memref(&self) -> String {
        format!("memref<{ROWS}x{COLUMNS}x{}>", self.element)
    }

    fn name(&mut self) -> String {
        self.next += 1;
        format!("%v{}", self.next)
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    /// Defines a value.
    fn define(&mut self, line: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {line}"));
        name
    }

    /// Defines a vector.
    fn vector(&mut self, sizes: &[usize], line: &str) -> String {
        let name = self.define(line);
        self.vectors.push((name.clone(), sizes.to_vec()));
        name
    }

    fn index(&mut self, value: usize) -> String {
        self.define(&format!("arith.constant {value} : index"))
    }

    fn number(&mut self) -> String {
        let (value, element) = (self.below(9) as i64 - 4, self.element);
        let dot = if self.is_float() { ".0" } else { "" };
        self.define(&format!("arith.constant {value}{dot} : {element}"))
    }

    /// Returns a vector whose sizes pass, or one of the first one's sizes if there is none.
    fn any(&mut self, test: impl Fn(&[usize]) -> bool) -> Option<(String, Vec<usize>)> {
        let fit: Vec<_> = self.vectors.iter().filter(|(_, sizes)| test(sizes)).cloned().collect();
        // The newest come first.
        let turn = self.below(fit.len()).min(self.below(fit.len()));
        fit.len().checked_sub(turn + 1).map(|at| fit[at].clone())
    }

    /// Returns another vector of these sizes, maybe the same.
    fn like(&mut self, sizes: &[usize]) -> String {
        self.any(|own| own == sizes).map(|(name, _)| name).unwrap_or_default()
    }

    fn mask(&mut self, sizes: &[usize]) -> String {
        let ty = self.ty_of(sizes, "i1");
        if self.below(2) == 0 && sizes.len() == 1 {
            let bits: Vec<&str> = (0..sizes[0]).map(|_| ["true", "false"][self.below(2)]).collect();
            return self.define(&format!("arith.constant dense<[{}]> : {ty}", bits.join(", ")));
        }
        let bounds: Vec<String> = sizes
            .iter()
            .map(|size| {
                let bound = self.below(size + 2);
                self.index(bound)
            })
            .collect();
        self.define(&format!("vector.create_mask {} : {ty}", bounds.join(", ")))
    }

    fn sizes(&mut self) -> Vec<usize> {
        match self.below(4) {
            0 => vec![1 + self.below(3), 1 + self.below(4)],
            1 => vec![1 + self.below(2), 1 + self.below(3), 1 + self.below(4)],
            _ => vec![1 + self.below(8)],
        }
    }

    /// Returns names of a place from which a vector of these sizes is inside.
    fn inside(&mut self, sizes: &[usize]) -> String {
        let column = self.below(COLUMNS + 1 - sizes.last().copied().unwrap_or(1));
        let row = self.below(ROWS + 1 - sizes.len().checked_sub(2).map_or(1, |d| sizes[d]));
        let (row, column) = (self.index(row), self.index(column));
        format!("{row}, {column}")
    }

    /// Reads a vector from memory.
    fn read(&mut self) {
        let mut sizes = self.sizes();
        sizes.truncate(2);
        let (memref, from) = (self.memref(), ["%a", "%b"][self.below(2)]);
        let ty = self.ty(&sizes);
        match self.below(5) {
            0 => {
                let place = self.inside(&sizes[sizes.len() - 1..]);
                let row = self.ty(&sizes[sizes.len() - 1..]);
                let last = sizes[sizes.len() - 1];
                self.vector(&[last], &format!("vector.load {from}[{place}] : {memref}, {row}"));
            }
            1 => {
                let Some((other, sizes)) = self.any(|sizes| sizes.len() == 1 && sizes[0] <= COLUMNS) else {
                    return;
                };
                let (mask, place, ty) = (self.mask(&sizes), self.inside(&sizes), self.ty(&sizes));
                let mask_ty = self.ty_of(&sizes, "i1");
                let op = ["maskedload", "expandload"][self.below(2)];
                let line = format!(
                    "vector.{op} {from}[{place}], {mask}, {other} : {memref}, {mask_ty}, {ty} into {ty}"
                );
                self.vector(&sizes, &line);
            }
            2 => {
                let Some((other, sizes)) = self.any(|sizes| sizes.len() == 1) else { return };
                let mask = self.mask(&sizes);
                let (ty, mask_ty) = (self.ty(&sizes), self.ty_of(&sizes, "i1"));
                let places: Vec<usize> = (0..sizes[0]).map(|_| self.below(COLUMNS)).collect();
                let kind = ["i32", "index"][self.below(2)];
                let place_ty = self.ty_of(&sizes, kind);
                let places =
                    self.define(&format!("arith.constant dense<[{}]> : {place_ty}", joined(&places, ", ")));
                let row = self.below(ROWS);
                let (row, column) = (self.index(row), self.index(0));
                let line = format!(
                    "vector.gather {from}[{row}, {column}] [{places}], {mask}, {other} : {memref}, \
                     {place_ty}, {mask_ty}, {ty} into {ty}"
                );
                self.vector(&sizes, &line);
            }
            _ => {
                let (access, mask) = self.transfer(&sizes);
                let pad = self.number();
                let line = format!(
                    "vector.transfer_read {from}[{}], {pad}{mask} {{{}}} : {memref}, {ty}",
                    access.0, access.1
                );
                self.vector(&sizes, &line);
            }
        }
    }

    /// Returns a place, attributes and maybe a mask of a transfer of a vector of these sizes.
    fn transfer(&mut self, sizes: &[usize]) -> ((String, String), String) {
        let maps: &[(&str, &[usize])] = match sizes.len() {
            1 => &[("(i, j) -> (j)", &[1]), ("(i, j) -> (j)", &[1]), ("(i, j) -> (i)", &[0])],
            _ => &[("(i, j) -> (i, j)", &[0, 1]), ("(i, j) -> (j, i)", &[1, 0])],
        };
        let (map, dims) = maps[self.below(maps.len())];
        let bounds = [ROWS, COLUMNS];
        let mut place = [self.below(ROWS), self.below(COLUMNS)];
        let mut in_bounds = Vec::new();
        for (size, dim) in sizes.iter().zip(dims) {
            let is_inside = self.below(2) == 0 && *size <= bounds[*dim];
            place[*dim] =
                if is_inside { self.below(bounds[*dim] + 1 - size) } else { self.below(bounds[*dim] + 3) };
            in_bounds.push(is_inside);
        }
        let is_moved = !matches!(dims, [1] | [0, 1]);
        let mask = if self.below(3) == 0 && !is_moved {
            let mask = self.mask(sizes);
            format!(", {mask}")
        } else {
            String::new()
        };
        let place = place.map(|at| self.index(at));
        let attributes =
            format!("in_bounds = [{}], permutation_map = affine_map<{map}>", joined(&in_bounds, ", "));
        ((place.join(", "), attributes), mask)
    }

    /// Writes a vector to memory.
    fn write(&mut self) {
        let Some((value, sizes)) = self.any(|sizes| sizes.len() <= 2) else { return };
        let (memref, ty, mask_ty) = (self.memref(), self.ty(&sizes), self.ty_of(&sizes, "i1"));
        match self.below(4) {
            0 if sizes.len() == 1 && sizes[0] <= COLUMNS => {
                let place = self.inside(&sizes);
                self.line(&format!("vector.store {value}, %b[{place}] : {memref}, {ty}"));
            }
            1 if sizes.len() == 1 && sizes[0] <= COLUMNS => {
                let (mask, place) = (self.mask(&sizes), self.inside(&sizes));
                let op = ["maskedstore", "compressstore"][self.below(2)];
                self.line(&format!("vector.{op} %b[{place}], {mask}, {value} : {memref}, {mask_ty}, {ty}"));
            }
            2 if sizes.len() == 1 => {
                let mask = self.mask(&sizes);
                let places: Vec<usize> = (0..sizes[0]).map(|_| self.below(COLUMNS)).collect();
                let place_ty = self.ty_of(&sizes, "i64");
                let places =
                    self.define(&format!("arith.constant dense<[{}]> : {place_ty}", joined(&places, ", ")));
                let row = self.below(ROWS);
                let (row, column) = (self.index(row), self.index(0));
                self.line(&format!(
                    "vector.scatter %b[{row}, {column}] [{places}], {mask}, {value} : {memref}, \
                     {place_ty}, {mask_ty}, {ty}"
                ));
            }
            _ => {
                let (access, mask) = self.transfer(&sizes);
                self.line(&format!(
                    "vector.transfer_write {value}, %b[{}]{mask} {{{}}} : {ty}, {memref}",
                    access.0, access.1
                ));
            }
        }
    }

    /// Moves elements.
    fn rearrange(&mut self) {
        let Some((value, sizes)) = self.any(|_| true) else { return };
        let (ty, count) = (self.ty(&sizes), sizes.iter().product::<usize>());
        match self.below(10) {
            0 => {
                let mut order: Vec<usize> = (0..sizes.len()).collect();
                let by = self.below(sizes.len());
                order.rotate_left(by);
                let to: Vec<usize> = order.iter().map(|d| sizes[*d]).collect();
                let to_ty = self.ty(&to);
                let order = joined(&order, ", ");
                self.vector(&to, &format!("vector.transpose {value}, [{order}] : {ty} to {to_ty}"));
            }
            1 => {
                let first = (1..=count).filter(|size| count % size == 0).nth(self.below(4)).unwrap_or(1);
                let to = [vec![count], vec![first, count / first]][self.below(2)].clone();
                let to_ty = self.ty(&to);
                self.vector(&to, &format!("vector.shape_cast {value} : {ty} to {to_ty}"));
            }
            2 => {
                let other = self.like(&sizes);
                let len = 1 + self.below(6);
                let picks: Vec<usize> = (0..len).map(|_| self.below(2 * sizes[0])).collect();
                let mut to = sizes.clone();
                to[0] = len;
                if to.iter().product::<usize>() <= MAX_ELEMENTS {
                    let picks = joined(&picks, ", ");
                    self.vector(&to, &format!("vector.shuffle {value}, {other} [{picks}] : {ty}, {ty}"));
                }
            }
            3 if count * 2 <= MAX_ELEMENTS => {
                let other = self.like(&sizes);
                let mut to = sizes.clone();
                *to.last_mut().expect("a dimension") *= 2;
                let to_ty = self.ty(&to);
                self.vector(&to, &format!("vector.interleave {value}, {other} : {ty} -> {to_ty}"));
            }
            4 if sizes[sizes.len() - 1] % 2 == 0 => {
                let mut to = sizes.clone();
                *to.last_mut().expect("a dimension") /= 2;
                let (to_ty, names) = (self.ty(&to), [self.name(), self.name()]);
                let names_text = names.join(", ");
                self.line(&format!("{names_text} = vector.deinterleave {value} : {ty} -> {to_ty}"));
                self.vectors.extend(names.map(|name| (name, to.clone())));
            }
            5 | 6 => self.slice(&value, &sizes),
            7 => {
                let lead = 1 + self.below(3);
                let to = [vec![lead], sizes].concat();
                if to.iter().product::<usize>() <= MAX_ELEMENTS && to.len() < 4 {
                    let to_ty = self.ty(&to);
                    self.vector(&to, &format!("vector.broadcast {value} : {ty} to {to_ty}"));
                }
            }
            _ => self.part(&value, &sizes),
        }
    }

    /// Takes a slice out of a vector, and puts it back elsewhere.
    fn slice(&mut self, value: &str, sizes: &[usize]) {
        let ty = self.ty(sizes);
        let to: Vec<usize> = sizes.iter().map(|size| 1 + self.below(*size)).collect();
        let mut offsets = || -> Vec<usize> {
            sizes.iter().zip(&to).map(|(size, own)| self.below(size - own + 1)).collect()
        };
        let (from, back) = (joined(&offsets(), ", "), joined(&offsets(), ", "));
        let (ones, to_ty) = (joined(&vec![1; sizes.len()], ", "), self.ty(&to));
        let part = self.vector(
            &to,
            &format!(
                "vector.extract_strided_slice {value} {{offsets = [{from}], sizes = [{}], strides = \
                 [{ones}]}} : {ty} to {to_ty}",
                joined(&to, ", ")
            ),
        );
        self.vector(
            sizes,
            &format!(
                "vector.insert_strided_slice {part}, {value} {{offsets = [{back}], strides = [{ones}]}} : \
                 {to_ty} into {ty}"
            ),
        );
    }

    /// Takes a part out of a vector, and puts it back elsewhere.
    fn part(&mut self, value: &str, sizes: &[usize]) {
        let (ty, depth) = (self.ty(sizes), 1 + self.below(sizes.len()));
        let mut place =
            || -> Vec<String> { sizes[..depth].iter().map(|size| self.below(*size).to_string()).collect() };
        let (from, mut back) = (place(), place());
        let (rest, element) = (sizes[depth..].to_vec(), self.element);
        let part_ty = if rest.is_empty() { element.to_owned() } else { self.ty(&rest) };
        let from = from.join(", ");
        let part = self.define(&format!("vector.extract {value}[{from}] : {part_ty} from {ty}"));
        if sizes.len() == 1 && self.below(2) == 0 {
            let at = self.below(sizes[0]);
            back = vec![self.index(at)];
        }
        let back = back.join(", ");
        self.vector(sizes, &format!("vector.insert {part}, {value} [{back}] : {part_ty} into {ty}"));
        if !rest.is_empty() {
            self.vectors.push((part, rest));
        }
    }

    /// Computes.
    fn compute(&mut self) {
        let Some((value, sizes)) = self.any(|_| true) else { return };
        let (ty, other) = (self.ty(&sizes), self.like(&sizes));
        let suffix = if self.is_float() { "f" } else { "i" };
        let kind = match (self.is_float(), self.below(4)) {
            (_, 0) => "add",
            (true, 1) => "maxnumf",
            (true, 2) => "minimumf",
            (true, _) => "mul",
            (false, 1) => "maxsi",
            (false, 2) => "xor",
            (false, _) => "minui",
        };
        match self.below(8) {
            0 | 1 => {
                let op = ["add", "sub", "mul"][self.below(3)];
                self.vector(&sizes, &format!("arith.{op}{suffix} {value}, {other} : {ty}"));
            }
            2 => {
                let bools = self.ty_of(&sizes, "i1");
                let predicate = if self.is_float() { "olt" } else { "slt" };
                let less = self.define(&format!("arith.cmp{suffix} {predicate}, {value}, {other} : {ty}"));
                self.vector(&sizes, &format!("arith.select {less}, {other}, {value} : {bools}, {ty}"));
            }
            3 if self.is_float() => {
                let third = self.like(&sizes);
                self.vector(&sizes, &format!("vector.fma {value}, {other}, {third} : {ty}"));
            }
            3 | 4 => {
                let Some((line, sizes)) = self.any(|sizes| sizes.len() == 1) else { return };
                let (ty, element) = (self.ty(&sizes), self.element);
                let acc = if self.below(2) == 0 { format!(", {}", self.number()) } else { String::new() };
                let sum =
                    self.define(&format!("vector.reduction <{kind}>, {line}{acc} : {ty} into {element}"));
                let to = self.sizes();
                let to_ty = self.ty(&to);
                self.vector(&to, &format!("vector.broadcast {sum} : {element} to {to_ty}"));
            }
            5 if sizes.len() > 1 => {
                let dim = self.below(sizes.len());
                let mut to = sizes.clone();
                to.remove(dim);
                let number = self.number();
                let (to_ty, element) = (self.ty(&to), self.element);
                let acc = self.vector(&to, &format!("vector.broadcast {number} : {element} to {to_ty}"));
                let line =
                    format!("vector.multi_reduction <{kind}>, {value}, {acc} [{dim}] : {ty} to {to_ty}");
                self.vector(&to, &line);
            }
            _ => {
                let (Some((a, m)), Some((b, n))) =
                    (self.any(|sizes| sizes.len() == 1), self.any(|sizes| sizes.len() == 1))
                else {
                    return;
                };
                let to = [m[0], n[0]];
                if m[0] * n[0] <= MAX_ELEMENTS {
                    let types = format!("{}, {}", self.ty(&m), self.ty(&n));
                    self.vector(&to, &format!("vector.outerproduct {a}, {b} : {types}"));
                }
            }
        }
    }
}

/// Returns the program of a seed.
fn program(seed: u64) -> String {
    let mut p =
        Program { random: SplitMix64(seed), text: String::new(), element: "", vectors: Vec::new(), next: 0 };
    p.element = ["i32", "f32", "i16", "f64", "i64"][p.below(5)];
    let memref = p.memref();
    let _ = writeln!(p.text, "// CALL: f ; iota : {memref} ; zeros : {memref}");
    let _ = writeln!(p.text, "func.func @f(%a: {memref}, %b: {memref}) {{");
    for len in [4, 3, 8] {
        let (ty, zero) = (p.ty(&[len]), p.index(0));
        p.vector(&[len], &format!("vector.load %a[{zero}, {zero}] : {memref}, {ty}"));
    }
    for _ in 0..8 + p.below(12) {
        match p.below(10) {
            0..=2 => p.read(),
            3..=5 => p.rearrange(),
            6 | 7 => p.compute(),
            _ => p.write(),
        }
    }
    p.write();
    p.write();
    p.text.push_str("  return\n}\n");
    p.text
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn random_programs_compute_the_same() {
    let (first, cases) = (number("LOOMIR_VECTOR_FIRST", 1), number("LOOMIR_VECTOR_CASES", 12));
    let mut beside = 0;
    for seed in first..first + cases {
        let source = program(seed);
        let fixture = Fixture::read(&source);
        let ctx = context();
        let original = read(&ctx, &source).unwrap_or_else(|errors| panic!("{seed}: {errors}\n{source}"));
        say(&format!("case {seed}"));
        fixture.check(None);
        let Some(folder) = llvm() else { continue };
        if !accepts(&folder, "mlir-opt", PASSES, &source) {
            continue;
        }
        let text = |tool: Vec<u8>| String::from_utf8(tool).expect("text");
        let lowered = text(tool(&folder, "mlir-opt", PASSES, &source));
        if accepts(&folder, "mlir-translate", &["--mlir-to-llvmir"], &lowered) {
            let ll = text(tool(&folder, "mlir-translate", &["--mlir-to-llvmir"], &lowered));
            fixture.check_compiled(&folder, &original, "f", &ll);
            beside += 1;
        }
    }
    say(&format!("{beside} of {cases} programs beside MLIR"));
}
