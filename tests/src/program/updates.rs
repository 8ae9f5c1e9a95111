//! Updates of one element whose order does not matter, found in the text of the program.

use std::collections::BTreeMap;

use super::{Element, Expr, Item, Kind, MemRef, MemRefId, Operator, Program, Source, ValueId};

/// A reorderable update: its operation, and true if a flag allows reassociation.
pub type Update = (Operator, bool);

/// Returns the values that reorderable updates load and store.
///
/// An update loads an element, combines it with something else and stores it back, within one list
/// of items. Nothing else uses the value, and no other write is in between. Updates in loops of any
/// order are left out. Sums and products of floats need a flag; the flags of integers do not
/// matter.
pub(super) fn updates(program: &Program) -> BTreeMap<ValueId, Update> {
    let (mut used, mut found) = (BTreeMap::new(), BTreeMap::new());
    program.returns.iter().for_each(|value| *used.entry(*value).or_insert(0) += 1);
    count(&program.body, &mut used);
    collect(program, &program.body, &used, &mut found);
    found
}

/// Counts the uses of each value.
fn count(items: &[Item], used: &mut BTreeMap<ValueId, usize>) {
    let mut add = |value: &ValueId| *used.entry(*value).or_insert(0) += 1;
    for item in items {
        match item {
            Item::Store(value, ..) | Item::Yield(_, value) => add(value),
            Item::Compute(_, _, a, b) => [a, b].into_iter().for_each(&mut add),
            Item::Loop(l) => l
                .carried
                .iter()
                .for_each(|carried| [&carried.init, &carried.next].into_iter().for_each(&mut add)),
            Item::If(super::Condition::Positive(value), ..) => add(value),
            _ => {}
        }
    }
    for item in items {
        match item {
            Item::Loop(l) => count(&l.body, used),
            Item::If(_, then, otherwise) => {
                [then, otherwise].into_iter().for_each(|items| count(items, used))
            }
            _ => {}
        }
    }
}

fn collect(
    program: &Program,
    items: &[Item],
    used: &BTreeMap<ValueId, usize>,
    found: &mut BTreeMap<ValueId, Update>,
) {
    for (at, item) in items.iter().enumerate() {
        match item {
            Item::Loop(l) if l.kind != Kind::Parallel => collect(program, &l.body, used, found),
            Item::If(_, then, otherwise) => {
                [then, otherwise].into_iter().for_each(|items| collect(program, items, used, found));
            }
            Item::Store(stored, memref, place) if !program.is_called(*stored) => {
                let before = &items[..at];
                let computed = before.iter().find_map(|item| match item {
                    Item::Compute(value, operator, a, b) if value == stored => Some((*operator, *a, *b)),
                    _ => None,
                });
                let Some((operator, a, b)) = computed else { continue };
                // The load reads the same element, and no item behind it writes. A called function
                // may write.
                let writes = |item: &Item| match item {
                    Item::Load(value, ..) => program.is_called(*value),
                    Item::Compute(..) | Item::Index(..) => false,
                    _ => true,
                };
                let loads = |wanted: ValueId| {
                    before.iter().rev().take_while(|item| !writes(item)).any(|item| {
                        matches!(item, Item::Load(value, from, at) if *value == wanted && are_one(program, *from, *memref) && are_equal(program, at, place))
                    })
                };
                let old = match (loads(a), loads(b)) {
                    (true, false) => a,
                    (false, true) if operator != Operator::Sub => b,
                    _ => continue,
                };
                if used.get(&old) == Some(&1) && used.get(stored) == Some(&1) {
                    let is_float = program.element == Element::F32 && operator != Operator::Max;
                    let operator = if operator == Operator::Sub { Operator::Add } else { operator };
                    if !is_float || program.has_flags(*stored) {
                        found.extend([(old, (operator, is_float)), (*stored, (operator, is_float))]);
                    }
                }
            }
            _ => {}
        }
    }
}

/// True if equal subscripts name one element in two memrefs, because both are views of one object,
/// or of one global.
fn are_one(program: &Program, a: MemRefId, b: MemRefId) -> bool {
    let [a, b] = [a, b].map(|id| viewed(program, id));
    let is_global = |source: &Source| matches!(source, Source::Global(_));
    let (x, y) = (&program.memrefs[a].source, &program.memrefs[b].source);
    a == b || (x == y && is_global(x))
}

/// Returns the memref behind views whose elements have the same subscripts as in the view.
fn viewed(program: &Program, mut id: MemRefId) -> MemRefId {
    loop {
        id = match &program.memrefs[id].source {
            Source::Cast(of) => *of,
            Source::Reinterpret(of) if lies_alike(&program.memrefs[id], &program.memrefs[*of]) => *of,
            Source::SubView { of, offsets, steps, dropped: false }
                if offsets.iter().all(|offset| *offset == 0) && steps.iter().all(|step| *step == 1) =>
            {
                *of
            }
            _ => return id,
        };
    }
}

/// Returns true if equal subscripts lead to one place from the start of the object.
fn lies_alike(a: &MemRef, b: &MemRef) -> bool {
    (&a.strides, a.offset) == (&b.strides, b.offset)
}

/// True if two lists of subscripts are equal as sums.
fn are_equal(program: &Program, a: &[Expr], b: &[Expr]) -> bool {
    let sums = |subscripts: &[Expr]| subscripts.iter().map(|expr| sum(program, expr)).collect::<Vec<_>>();
    sums(a) == sums(b)
}

/// Splits an index into a constant and multiples of terms that are no sums. The recursion is as
/// deep as the generator's nesting.
fn sum(program: &Program, expr: &Expr) -> (i64, BTreeMap<String, i64>) {
    match expr {
        Expr::Constant(number) => (*number, BTreeMap::new()),
        Expr::Add(a, b) => {
            let ((number, mut terms), (more, others)) = (sum(program, a), sum(program, b));
            for (term, factor) in others {
                *terms.entry(term).or_insert(0) += factor;
            }
            terms.retain(|_, factor| *factor != 0);
            (number + more, terms)
        }
        Expr::Scale(a, factor) => {
            let (number, terms) = sum(program, a);
            let terms = terms.into_iter().map(|(term, own)| (term, own * factor));
            (number * factor, terms.filter(|(_, own)| *own != 0).collect())
        }
        Expr::Wrapped(value, size) => match program.constant(*value) {
            Some(number) => ((number as u64 % *size as u64) as i64, BTreeMap::new()),
            None => (0, BTreeMap::from([(format!("{expr:?}"), 1)])),
        },
        Expr::FloorDiv(a, by) => (0, BTreeMap::from([(format!("{:?} / {by}", sum(program, a)), 1)])),
        Expr::Mod(a, by) => (0, BTreeMap::from([(format!("{:?} mod {by}", sum(program, a)), 1)])),
        other => (0, BTreeMap::from([(format!("{other:?}"), 1)])),
    }
}
