//! The oracle of the fusion campaign, by traces that are written out.

use loomir_tests::oracle::Groups;
use loomir_tests::program::{Access, LoopId, Step};

fn access(id: LoopId, iteration: u64, element: i64, writes: bool) -> Access {
    Access { path: vec![Step { id, iteration }], object: 0, element, writes, update: None }
}

#[test]
fn a_read_ahead_of_its_write_is_turned_around() {
    // for i { A[i] = }  for i { = A[i + 1] }
    let mut trace: Vec<Access> = (0..4).map(|i| access(0, i, i as i64, true)).collect();
    trace.extend((0..3).map(|i| access(1, i, i as i64 + 1, false)));
    assert_eq!(Groups::new().turned_around(&trace, 0, 1, 0), Some((1, 0)));
    assert_eq!(Groups::new().turned_around(&trace, 0, 1, 1), None);
}

#[test]
fn a_read_behind_its_write_is_not() {
    let mut trace: Vec<Access> = (0..4).map(|i| access(0, i, i as i64, true)).collect();
    trace.extend((1..4).map(|i| access(1, i, i as i64 - 1, false)));
    assert_eq!(Groups::new().turned_around(&trace, 0, 1, 0), None);
}

#[test]
fn a_loop_that_was_shifted_stays_so() {
    // for i { A[i] = } for i { = A[i + 1]; B[i] = } for i { = B[i] }, the second one iteration
    // later than the first.
    let mut groups = Groups::new();
    groups.join(0, 1, 1, false);
    let mut trace: Vec<Access> = (0..3).map(|i| access(1, i, i as i64, true)).collect();
    trace.extend((0..3).map(|i| access(2, i, i as i64, false)));
    assert_eq!(groups.turned_around(&trace, 0, 2, 0), Some((1, 0)));
    assert_eq!(groups.turned_around(&trace, 0, 2, 1), None);
}

#[test]
fn what_stands_between_is_in_the_way_where_it_touches_an_element() {
    // for i { A[i] = }  for i { A[i + 4] = }  A[9] =  for i { = A[i] }
    let mut trace: Vec<Access> = (0..4).map(|i| access(0, i, i as i64, true)).collect();
    trace.extend((0..4).map(|i| access(1, i, i as i64 + 4, true)));
    trace.push(Access { path: Vec::new(), ..access(0, 0, 9, true) });
    trace.extend((0..4).map(|i| access(2, i, i as i64, false)));
    assert_eq!(Groups::new().in_the_way(&trace, 0, 2), [false, false]);
    assert_eq!(Groups::new().in_the_way(&trace, 1, 2), [false, true]);
    trace.push(Access { path: Vec::new(), ..access(0, 0, 3, true) });
    assert_eq!(Groups::new().in_the_way(&trace, 0, 2), [true, true]);
}

#[test]
fn two_reads_have_no_order() {
    let mut trace: Vec<Access> = (0..4).map(|i| access(0, i, 0, false)).collect();
    trace.extend((0..4).map(|i| access(1, i, 0, false)));
    assert_eq!(Groups::new().turned_around(&trace, 0, 1, 0), None);
}

#[test]
fn updates_by_one_operation_have_no_order() {
    use loomir_tests::program::Operator::{Add, Max};
    let by = |update: Option<_>, id| {
        let update = update.map(|operator| (operator, false));
        (0..4).map(move |i| Access { update, ..access(id, i, 0, true) })
    };
    let turned = |a, b| {
        let trace: Vec<Access> = by(a, 0).chain(by(b, 1)).collect();
        Groups::new().turned_around(&trace, 0, 1, 0).is_some()
    };
    assert!(!turned(Some(Add), Some(Add)));
    assert!(turned(Some(Add), Some(Max)) && turned(Some(Add), None) && turned(None, None));
}

#[test]
fn inner_loops_are_compared_within_one_outer_iteration() {
    let at = |outer: u64, id, inner: u64, element, writes| Access {
        path: vec![Step { id: 9, iteration: outer }, Step { id, iteration: inner }],
        object: 0,
        element,
        writes,
        update: None,
    };
    // Both inner loops touch the element, but only in different iterations of the outer loop.
    let trace = [at(0, 0, 3, 7, true), at(1, 1, 0, 7, true)];
    assert_eq!(Groups::new().turned_around(&trace, 0, 1, 0), None);
}
