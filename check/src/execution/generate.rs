//! The inputs of a function, in the order in which they are tried.
//!
//! An input comes from a *scene*: a value for each number, sizes for each buffer, contents and
//! sharing. Small sizes around powers of two come first, then overlapping buffers, then
//! combinations of unequal numbers, unusual contents, and the limits of types. Equal inputs are
//! tried once.

use hashbrown::HashSet;
use loomir_dialects::interp::arguments::SplitMix64;
use loomir_ir::FloatKind;

use super::input::{Argument, Buffer, Contents, Input};
use super::parameters::{BufferType, Parameter};

/// Values of the numbers that are sizes, in the order in which they are tried.
const NUMBERS: [i64; 15] = [3, 8, 1, 2, 0, 5, 7, 9, 17, -1, 4, 16, 33, -5, 20];
/// Elements that a dimension has beyond the number.
const SLACK: [i64; 4] = [0, 1, 2, 9];
/// Elements of the memory behind a bare pointer.
const BARE: i64 = 96;
/// Elements of a dimension that no number limits.
const ROOMY: i64 = 40;
/// The first numbers of buffers lie so far apart.
const APART: u32 = 100;
/// Pairs of buffers that are made to overlap.
const MOST_PAIRS: usize = 12;
/// Scenes of several buffers in one.
const PILED: u64 = 24;
/// Scenes of unequal numbers.
const MIXED: usize = 48;

const FLOATS: [&str; 10] = ["-0.0", "1.5", "NaN", "inf", "0.1", "-inf", "-3.0", "1e-40", "65504.0", "0.0"];
const INTEGERS: [&str; 8] = ["0", "1", "127", "2", "64", "3", "100", "5"];
const BITS: [&str; 5] = ["1", "0", "0", "1", "1"];

/// One plan of an input.
#[derive(Clone, Copy)]
struct Scene<'s> {
    /// The value of each number: of parameter `i` the one at `i`, again and again.
    numbers: &'s [i64],
    /// The least size of each open dimension, in the order of the parameters.
    sizes: &'s [i64],
    contents: Plan,
    /// Buffers, the one that each shares memory with, and by how many elements it is later.
    shared: &'s [(usize, usize, u32)],
    /// All buffers of one element type are one.
    all_one: bool,
    /// The value of each float, again and again.
    floats: &'s [&'static str],
}

/// A way to fill buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// No two elements hold the same number.
    Distinct,
    /// Each buffer holds 0, 1, 2, …: numbers that may be subscripts.
    Iota,
    /// Small numbers other than zero, whose products are exact.
    Small,
    Random(u64),
    Zeros,
    Special,
    /// The same, where elements of one place in two buffers differ.
    Staggered,
}

/// Returns inputs of a function with these parameters. With `distinct` no two buffers overlap.
pub fn inputs(parameters: &[Parameter], distinct: bool) -> Vec<Input> {
    let mut maker = Maker { parameters, seen: HashSet::new(), inputs: Vec::new() };
    let plain = Scene {
        numbers: &[3],
        sizes: &[3],
        contents: Plan::Distinct,
        shared: &[],
        all_one: false,
        floats: &["1.5"],
    };
    maker.boundaries(plain);
    if !distinct {
        maker.overlaps(plain);
    }
    maker.mixed(plain);
    maker.fillings(plain);
    maker.limits(plain);
    maker.inputs
}

struct Maker<'m> {
    parameters: &'m [Parameter],
    seen: HashSet<Vec<String>>,
    inputs: Vec<Input>,
}

impl Maker<'_> {
    /// All numbers equal, and buffers of that size or a little larger.
    fn boundaries(&mut self, plain: Scene<'_>) {
        for slack in SLACK {
            for number in NUMBERS {
                self.push(Scene { numbers: &[number], sizes: &[number.max(0) + slack], ..plain });
            }
        }
        for number in NUMBERS {
            self.push(Scene { numbers: &[number], sizes: &[ROOMY], ..plain });
        }
    }

    /// Buffers that overlap, two at a time and all together.
    fn overlaps(&mut self, plain: Scene<'_>) {
        let parameters = self.parameters;
        let buffers = || (0..parameters.len()).filter_map(|i| Some((i, buffer(parameters, i)?)));
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        for (i, first) in buffers() {
            let others = buffers().filter(|(j, second)| {
                *j > i && first.element == second.element && !(first.is_alone || second.is_alone)
            });
            pairs.extend(others.map(|(j, _)| (i, j)));
        }
        pairs.truncate(MOST_PAIRS);
        for contents in [Plan::Distinct, Plan::Iota, Plan::Small] {
            for number in [3, 8, 9] {
                for slack in [0, 9] {
                    let scene = Scene { numbers: &[number], sizes: &[number + slack], contents, ..plain };
                    for &(i, j) in &pairs {
                        for shift in [0, 1, 2] {
                            self.push(Scene { shared: &[(j, i, shift)], ..scene });
                            self.push(Scene { shared: &[(i, j, shift)], ..scene });
                        }
                    }
                    if pairs.len() > 1 {
                        self.push(Scene { all_one: true, ..scene });
                    }
                }
            }
        }
        if pairs.len() > 1 {
            self.piled(&pairs, plain);
        }
    }

    /// Several buffers that lie in one, each further by some elements.
    fn piled(&mut self, pairs: &[(usize, usize)], plain: Scene<'_>) {
        let mut random = SplitMix64(22);
        let mut draw = |below: u64| (random.next_bits() >> 32) % below;
        for scene in 0..PILED {
            let mut shared: Vec<(usize, usize, u32)> = Vec::new();
            for &(of, own) in pairs {
                // Below lies a buffer with memory of its own.
                let is_free = shared.iter().all(|other| other.0 != of && other.0 != own && other.1 != own);
                if is_free && draw(4) > 0 {
                    shared.push((own, of, draw(3) as u32));
                }
            }
            let number = [3, 8, 2, 4][draw(4) as usize];
            let contents = [Plan::Small, Plan::Random(scene)][draw(2) as usize];
            let (numbers, sizes) = ([number, draw(4) as i64], [number + 9]);
            self.push(Scene { numbers: &numbers, sizes: &sizes, contents, shared: &shared, ..plain });
        }
    }

    /// Numbers and sizes that differ from each other.
    fn mixed(&mut self, plain: Scene<'_>) {
        let few = [3, 1, 0, 2, 8, 5, 4, -1];
        let is_number = |own: &&Parameter| matches!(own, Parameter::Integer { .. });
        let count = self.parameters.iter().filter(is_number).count();
        if count == 2 {
            for (one, other) in few.iter().flat_map(|one| few.map(|other| (*one, other))) {
                self.push(Scene { numbers: &[one, other], sizes: &[ROOMY], ..plain });
            }
        }
        let mut random = SplitMix64(21);
        for scene in 0..MIXED {
            let mut draw = |_| few[(random.next_bits() >> 32) as usize % few.len()];
            let numbers: Vec<i64> = (0..count.max(1)).map(&mut draw).collect();
            self.push(Scene { numbers: &numbers, sizes: &[ROOMY], ..plain });
            let sizes: Vec<i64> = (0..8).map(|i| draw(i).max(0)).collect();
            let numbers = if scene % 2 == 0 { &sizes } else { &numbers };
            self.push(Scene { numbers, sizes: &sizes, ..plain });
        }
    }

    /// Other contents than numbers that all differ.
    fn fillings(&mut self, plain: Scene<'_>) {
        let plans = [
            Plan::Small,
            Plan::Iota,
            Plan::Random(1),
            Plan::Special,
            Plan::Staggered,
            Plan::Zeros,
            Plan::Random(2),
        ];
        for contents in plans {
            for (number, slack) in [(3, 0), (8, 0), (8, 9), (17, 9), (2, ROOMY)] {
                self.push(Scene { numbers: &[number], sizes: &[number + slack], contents, ..plain });
            }
        }
    }

    /// Numbers at the limits of types, and floats that are no ordinary numbers.
    fn limits(&mut self, plain: Scene<'_>) {
        for floats in FLOATS {
            for contents in [Plan::Distinct, Plan::Special] {
                self.push(Scene { numbers: &[8], sizes: &[8], contents, floats: &[floats], ..plain });
            }
        }
        for by in [1, 4] {
            for first in 0..FLOATS.len() {
                let floats: [&str; 3] = std::array::from_fn(|i| FLOATS[(first + i * by) % FLOATS.len()]);
                self.push(Scene { numbers: &[8], sizes: &[8], floats: &floats, ..plain });
            }
        }
        for number in [i64::MIN, i64::MAX, i64::MIN + 1, i64::MAX - 1, 127, 255, 64, -2, -128] {
            self.push(Scene { numbers: &[number], sizes: &[ROOMY], ..plain });
            for other in [1, 3, 8] {
                self.push(Scene { numbers: &[number, other], sizes: &[ROOMY], ..plain });
                self.push(Scene { numbers: &[other, number], sizes: &[ROOMY], ..plain });
            }
        }
    }

    /// Adds the input of a scene, unless it is known.
    fn push(&mut self, scene: Scene<'_>) {
        let (mut place, mut number, mut real) = (0, 0, 0);
        let mut arguments = Vec::with_capacity(self.parameters.len());
        for (i, parameter) in self.parameters.iter().enumerate() {
            arguments.push(match parameter {
                Parameter::Integer { width } => {
                    number += 1;
                    Argument::Number(integer(*width, scene.numbers[(number - 1) % scene.numbers.len()]))
                }
                Parameter::Float(kind) => {
                    real += 1;
                    Argument::Number(float(*kind, scene.floats[(real - 1) % scene.floats.len()]).into())
                }
                Parameter::Buffer(ty) => Argument::Buffer(self.buffer(i, ty, &scene, &mut place)),
            });
        }
        let input = Input { arguments };
        if self.seen.insert(input.to_texts()) {
            self.inputs.push(input);
        }
    }

    fn buffer(&self, i: usize, ty: &BufferType, scene: &Scene<'_>, place: &mut usize) -> Buffer {
        let open = ty.shape.iter().filter(|size| size.is_none()).count();
        let mut sizes: Vec<i64> = Vec::with_capacity(open);
        for _ in 0..open {
            sizes.push(if ty.is_bare { BARE } else { scene.sizes[*place % scene.sizes.len()] });
            *place += 1;
        }
        // The buffer that lies below another one has room for it.
        let above = scene.shared.iter().filter(|(_, owner, _)| *owner == i).map(|(.., shift)| *shift);
        if let Some(first) = sizes.first_mut() {
            *first += i64::from(above.max().unwrap_or(0));
        }
        let mut contents = filling(ty, scene.contents, i as u32);
        if let Some((_, of, shift)) = scene.shared.iter().find(|(own, ..)| *own == i) {
            contents = Contents::Shared(*of, *shift);
        }
        if scene.all_one
            && !ty.is_alone
            && let Some(of) = (0..i).find(|j| {
                buffer(self.parameters, *j)
                    .is_some_and(|other| other.element == ty.element && !other.is_alone)
            })
        {
            contents = Contents::Shared(of, 0);
        }
        Buffer { ty: ty.ty.clone(), sizes, shape: ty.shape.clone(), contents, typed: ty.typed }
    }
}

fn buffer(parameters: &[Parameter], index: usize) -> Option<&BufferType> {
    match parameters.get(index) {
        Some(Parameter::Buffer(ty)) => Some(ty),
        _ => None,
    }
}

fn filling(ty: &BufferType, plan: Plan, index: u32) -> Contents {
    match plan {
        Plan::Distinct if ty.width >= 16 => Contents::Iota(APART * (index + 1)),
        Plan::Distinct if ty.width >= 8 => Contents::Iota(37 * (index + 1) % 128),
        Plan::Distinct => Contents::Random(u64::from(index) + 7),
        Plan::Iota => Contents::Iota(0),
        Plan::Small => Contents::Iota(index + 1),
        Plan::Random(seed) => Contents::Random(seed * 1000 + u64::from(index)),
        Plan::Zeros => Contents::Zeros,
        Plan::Special => Contents::Repeated(special(ty), 0),
        Plan::Staggered => Contents::Repeated(special(ty), index as usize),
    }
}

/// Returns numbers of a type that programs often treat in their own ways.
fn special(ty: &BufferType) -> &'static [&'static str] {
    match (ty.is_float, ty.width) {
        (true, _) => &FLOATS,
        (false, 8..) => &INTEGERS,
        (false, _) => &BITS,
    }
}

/// Writes a number as an integer of a width: the nearest that the type has.
fn integer(width: u32, number: i64) -> String {
    if width == 1 {
        return (number & 1 != 0).to_string();
    }
    if width >= 64 {
        return number.to_string();
    }
    let limit = 1i64 << (width - 1);
    number.clamp(-limit, limit - 1).to_string()
}

/// Writes a float so that its format can hold it.
fn float(kind: FloatKind, text: &'static str) -> &'static str {
    match (kind, text) {
        (FloatKind::F16 | FloatKind::BF16, "1e-40") => "1e-7",
        _ => text,
    }
}
