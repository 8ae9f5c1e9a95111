//! Answers against all numbers of few bits.

use super::super::facts::{Fact, Facts};
use super::super::numbers::{Binary, Cast, DISJOINT, EXACT};
use super::super::terms::{Store, TermId};
use super::{Cone, Model, Questions};

/// A sequence of numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}

const CODES: [Binary; 17] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::And,
    Binary::Or,
    Binary::Xor,
    Binary::Shl,
    Binary::ShrS,
    Binary::ShrU,
    Binary::DivS,
    Binary::DivU,
    Binary::RemS,
    Binary::RemU,
    Binary::MinS,
    Binary::MaxS,
    Binary::MinU,
    Binary::MaxU,
];

/// Returns an integer over some unknown ones.
fn integer(store: &mut Store, random: &mut Numbers, width: u32, unknowns: &[TermId], depth: usize) -> TermId {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(3) {
            0 => store.int(width, random.below(1 << width) as u64).unwrap(),
            _ => unknowns[random.below(unknowns.len())],
        };
    }
    let mut next = |store: &mut Store| integer(store, random, width, unknowns, depth - 1);
    let [a, b] = [next(store), next(store)];
    match random.below(10) {
        0 => {
            let condition = condition(store, random, width, unknowns, depth - 1);
            store.select([condition, a, b]).unwrap()
        }
        1 => {
            let code = if random.below(2) == 0 { Cast::Sign } else { Cast::Zero };
            let flags = random.below(2) as u64 * 16;
            let wide = store.cast(code, if code == Cast::Zero { flags } else { 0 }, [width, width + 2], a);
            store.cast(Cast::Cut, random.below(4) as u64, [width + 2, width], wide.unwrap()).unwrap()
        }
        _ => {
            let code = CODES[random.below(CODES.len())];
            let flags = match code {
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Shl => random.below(4) as u64,
                Binary::Or => random.below(2) as u64 * DISJOINT,
                Binary::DivS | Binary::DivU | Binary::ShrS | Binary::ShrU => random.below(2) as u64 * EXACT,
                _ => 0,
            };
            store.binary(code, flags, width, [a, b]).unwrap()
        }
    }
}

fn condition(
    store: &mut Store,
    random: &mut Numbers,
    width: u32,
    unknowns: &[TermId],
    depth: usize,
) -> TermId {
    let [a, b] = [0; 2].map(|_| integer(store, random, width, unknowns, depth));
    match random.below(3) {
        0 => store.equal(width, a, b).unwrap(),
        own => store.less(own == 1, width, [a, b]).unwrap(),
    }
}

/// Returns the values of a condition for which all facts hold, over all numbers: true if it may be
/// false, and true if it may be true.
fn possible(store: &Store, facts: &Facts, condition: TermId, unknowns: &[TermId], width: u32) -> [bool; 2] {
    let mut cone = Cone::default();
    for own in facts.known.iter().map(|fact| fact.condition).chain([condition]) {
        cone.add(store, own, 1).unwrap();
    }
    let terms = cone.in_order();
    let mut found = [false; 2];
    for number in 0..1u64 << (width * unknowns.len() as u32) {
        let parts = (0..).map(|place| number >> (place * width) & ((1 << width) - 1));
        let values = Model::new(unknowns.iter().copied().zip(parts)).values(store, &terms);
        let hold = facts.known.iter().all(|own| values.get(&own.condition) == Some(&u64::from(own.holds)));
        if let Some(value) = values.get(&condition).filter(|_| hold) {
            found[*value as usize] = true;
        }
    }
    found
}

#[test]
fn answers_are_right_for_all_numbers() {
    let mut random = Numbers(7);
    let (mut decided, mut open) = (0, 0);
    for _ in 0..4_000 {
        let mut store = Store::new(Some(Box::new(Questions::new(10_000))));
        let width = 2 + random.below(2) as u32;
        let unknowns = [0; 2].map(|_| store.symbol(true).unwrap());
        let mut facts = Facts::default();
        for _ in 0..random.below(4) {
            let condition = condition(&mut store, &mut random, width, &unknowns, 2);
            let holds = random.below(2) == 0;
            facts.add(&store, Fact { condition, holds, is_certain: true, ahead: None, follows: false });
        }
        let asked = condition(&mut store, &mut random, width, &unknowns, 2);
        let found = possible(&store, &facts, asked, &unknowns, width);
        match facts.decide(&mut store, asked, false).unwrap() {
            Some(value) => assert!(!found[usize::from(!value)], "{asked} is not always {value}: {facts:?}"),
            None => open += usize::from(found != [true, true] && found != [false, false]),
        }
        decided += usize::from(found == [true, false] || found == [false, true]);
    }
    // Most of what all numbers decide is found.
    assert!(decided > 500 && open * 5 < decided, "{open} of {decided} are open");
}
