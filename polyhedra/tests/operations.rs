//! The operations one by one, on sets small enough to check by eye.

use loomir_polyhedra::{Affine, Direction, Int, Limits, Order, Relation, Set, Tuple};

const LIMITS: Limits = Limits::steps(10_000_000);

fn set(text: &str) -> Set {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn relation(text: &str) -> Relation {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn same(found: &Set, expected: &str) {
    assert!(found.is_equal(&set(expected), &LIMITS).unwrap(), "{found} is not {expected}");
}

#[track_caller]
fn alike(found: &Relation, expected: &str) {
    assert!(found.is_equal(&relation(expected), &LIMITS).unwrap(), "{found} is not {expected}");
}

/// Compares a set that was read with what is printed of it.
#[track_caller]
fn printed(text: &str, expected: &str) {
    let found = if text.split_once('{').is_some_and(|(_, body)| body.contains("->")) {
        relation(text).to_string()
    } else {
        set(text).to_string()
    };
    assert_eq!(found, expected);
}

#[test]
fn texts_are_printed_for_reading() {
    printed("[n]->{S[i,j]:0<=i&&i<n&&j=2*i+1}", "[n] -> { S[i, 1 + 2i] : 0 <= i < n }");
    printed("{ [i] : i mod 3 = 1 and 0 <= i <= 10 }", "{ [i] : (-1 + i) mod 3 = 0 and 0 <= i <= 10 }");
    printed(
        "{ S[i] -> A[floor(i/4), i % 4] : i >= 0 }",
        "{ S[i] -> A[o0, o1] : (i - o1) mod 4 = 0 and 4o0 <= i <= 3 + 4o0 and i >= 0 and 0 <= o1 <= 3 }",
    );
    printed(
        "[n] -> { S[i] -> A[a] : 2a >= floor(i/4) and 3a <= floor((i + n)/3) }",
        "[n] -> { S[i] -> A[a] : floor((i)/4) <= 2a and floor((n + i)/3) >= 3a }",
    );
    printed("{ [i, j] : 2*floor(i/4) <= 3j <= 7 }", "{ [i, j] : j <= 2 and 3j >= 2*floor((i)/4) }");
    // A quotient of a quotient has a name.
    printed(
        "{ [i, j] : floor((i + floor(i/4))/3) <= 2j }",
        "{ [i, j] : exists (e1: -i + 3e1 <= floor((i)/4) <= 2 - i + 3e1 and e1 <= 2j) }",
    );
    // One stride, however it is stated.
    printed("{ [i] : exists (a, b: i = 3a - 1 and i = -3b - 1) }", "{ [i] : (1 + i) mod 3 = 0 }");
    printed("{ S[i] : false }", "{ S[i] : false }");
    printed("{ S[] }", "{ S[] }");
    printed("{ [i, j] : i != j }", "{ [i, j] : j > i; [i, j] : j < i }");
    printed("{ [x] : x >= 9223372036854775808 }", "{ [x] : x >= 9223372036854775808 }");
}

#[test]
fn chains_lists_and_words_mean_what_they_say() {
    same(&set("{ [i, j] : 0 <= i, j < 3 }"), "{ [i, j] : 0 <= i and i < 3 and 0 <= j and j < 3 }");
    same(&set("{ [i] : not (i >= 3 or i < 0) }"), "{ [i] : 0 <= i <= 2 }");
    same(&set("{ [i] : i >= 0 implies i >= 5 }"), "{ [i] : i < 0 or i >= 5 }");
    same(&set("{ [i, j] : i, j << 1, 2 }"), "{ [i, j] : i < 1 or (i = 1 and j < 2) }");
    same(&set("{ [i] : i <= min(3, 7) and i >= max(1, -1) }"), "{ [i] : 1 <= i <= 3 }");
    same(&set("{ [i] : exists (e0 = floor(i/2), e1: i = 2e0 and e0 = 2e1) }"), "{ [i] : i mod 4 = 0 }");
    same(&set("{ [i] : -7 <= i <= 7 and floor(i/3) = -2 }"), "{ [i] : -6 <= i <= -4 }");
    same(&set("{ [i] : ceil(i/3) = -1 }"), "{ [i] : -5 <= i <= -3 }");
    same(&set("{ [i] : i = [7/2] + floord(-7, 2) + ceild(7, 2) }"), "{ [3] }");
}

#[test]
fn mistakes_are_placed() {
    let fails = |text: &str, offset: usize, message: &str| {
        let error = text.parse::<Set>().unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    };
    fails("{ [i] : i > k }", 12, "`k` is not a parameter or dimension here");
    fails("{ [i] : i*i > 0 }", 12, "a product of variables is not affine");
    fails("{ [i] : i > 0", 13, "expected `;` or `}`");
    fails("{ [i] -> [j] }", 13, "this is a relation, a set was expected");
    fails("{ [i] : i mod 0 = 0 }", 16, "expected a positive constant");
    fails("{ [i]; [i, j] }", 7, "all parts must have the same tuples");
    fails("{ [i] : i } ", 10, "expected a comparison");
    fails("{ [i] } x", 8, "nothing may follow the closing brace");
}

#[test]
fn difference_keeps_strides_exact() {
    let even = set("{ [i] : 0 <= i <= 10 and i mod 2 = 0 }");
    let third = set("{ [i] : i mod 3 = 0 }");
    same(&even.subtract(&third, &LIMITS).unwrap(), "{ [i] : i = 2 or i = 4 or i = 8 or i = 10 }");
    same(&even.complement(&LIMITS).unwrap().complement(&LIMITS).unwrap(), &even.to_string());
    assert_eq!(even.count(&LIMITS), Ok(Int::from(6)));
}

#[test]
fn difference_from_a_shadow_is_what_has_no_witness() {
    let all = set("{ [x] : 0 <= x <= 100 }");
    let coins = set("{ [x] : exists (a, b: x = 3a + 5b and a >= 0 and b >= 0) }");
    same(&all.subtract(&coins, &LIMITS).unwrap(), "{ [x] : 1 <= x <= 2 or x = 4 or x = 7 }");
    let few = set("[n] -> { [x] : exists (a, b: x = 3a + 5b and 0 <= a <= n and 0 <= b <= 1) }");
    let rest = set("[n] -> { [x] : 3n <= x <= 3n + 5 and n >= 1 }").subtract(&few, &LIMITS).unwrap();
    same(&rest, "[n] -> { [x] : n >= 1 and 3n < x < 3n + 5 and (x - 3n) mod 3 != 2 }");
    assert!(all.subtract(&all.union(&coins).unwrap(), &LIMITS).unwrap().is_empty(&LIMITS).is_empty());
}

#[test]
fn projection_leaves_no_phantom_points() {
    // The shadow of 2x = 3y, 1 <= x <= 7 on x holds the multiples of three only.
    let line = set("{ [x, y] : 2x = 3y and 1 <= x <= 7 }");
    same(&line.project_out(1..2).unwrap(), "{ [x] : x = 3 or x = 6 }");
    // The dark shadow misses points here, the rational one invents some.
    let gaps = set("{ [x, y] : 0 <= 3y - x <= 7 and 1 <= x - 2y <= 5 }");
    same(&gaps.project_out(1..2).unwrap(), "{ [x] : x = 3 or 5 <= x <= 27 or x = 29 }");
    same(&set("[n] -> { [i] : 0 <= i < n }").project_out_param("n"), "{ [i] : i >= 0 }");
}

#[test]
fn optima_depend_on_parameters() {
    let half = relation("[n] -> { S[i] -> A[a] : 2a >= i and 0 <= i <= n and a <= n }");
    alike(
        &half.lexmin(&LIMITS).unwrap(),
        "[n] -> { S[i] -> A[a] : a = ceil(i/2) and 0 <= i <= n and a <= n }",
    );
    alike(&half.lexmax(&LIMITS).unwrap(), "[n] -> { S[i] -> A[n] : 0 <= i <= n }");
    let both = set("[n] -> { [i] : i = n; [i] : i = 2n - 3 }");
    same(&both.lexmin(&LIMITS).unwrap(), "[n] -> { [i] : (i = n and n >= 3) or (i = 2n - 3 and n <= 3) }");
    let triangle = set("{ [i, j] : 0 <= i <= 5 and i <= 2j <= 7 }");
    assert_eq!(
        triangle.minimum(&(Affine::from(triangle.space().dim(0)) * -1), &LIMITS),
        Ok(Some(Int::from(-5)))
    );
    assert_eq!(triangle.maximum(&triangle.space().dim(1).into(), &LIMITS), Ok(Some(Int::from(3))));
}

#[test]
fn samples_are_small() {
    let point = |text: &str| set(text).sample(&LIMITS).unwrap().map(|point| point.to_i64s().unwrap());
    assert_eq!(point("{ [i, j] : i >= -100 and j >= i - 7 }"), Some(vec![0, 0]));
    assert_eq!(point("{ [i, j] : 3i + 5j = 1 }"), Some(vec![2, -1]));
    assert_eq!(point("[n] -> { [i] : 5 <= i < n }"), Some(vec![6, 5]));
    assert_eq!(point("{ [i] : 2i = 1 }"), None);
}

#[test]
fn relations_compose_and_invert() {
    let next = relation("[n] -> { S[i] -> S[i + 1] : 0 <= i < n }");
    alike(&next.then(&next).unwrap(), "[n] -> { S[i] -> S[i + 2] : 0 <= i < n - 1 }");
    alike(&next.inverse(), "[n] -> { S[i] -> S[i - 1] : 1 <= i <= n }");
    same(&next.domain(), "[n] -> { S[i] : 0 <= i < n }");
    same(&next.range(), "[n] -> { S[i] : 1 <= i <= n }");
    same(&next.image(&set("{ S[i] : i = 3 }")).unwrap(), "[n] -> { S[4] : n > 3 }");
    alike(&set("{ S[i] : i > 2 }").identity(), "{ S[i] -> S[i] : i > 2 }");
    alike(
        &Relation::lexicographic(&[], &Tuple::unnamed("S", 2), Order::LessOrEqual),
        "{ S[i, j] -> S[a, b] : i < a or (i = a and j <= b) }",
    );
}

#[test]
fn parameters_meet_by_name() {
    let a = set("[n] -> { [i] : 0 <= i < n }");
    let b = set("[m, n] -> { [i] : i >= m and i >= n - 2 }");
    same(&a.intersect(&b).unwrap(), "[n, m] -> { [i] : 0 <= i < n and i >= m and i >= n - 2 }");
}

#[test]
fn gist_and_coalesce_simplify() {
    let domain = set("[n] -> { [i, j] : 0 <= i < n and 0 <= j < n and j <= i }");
    let context = set("[n] -> { [i, j] : 0 <= j <= i < n }");
    assert_eq!(domain.gist(&context, &LIMITS).unwrap().to_string(), "[n] -> { [i, j] }");
    let pieces = set("{ [i] : 0 <= i < 4; [i] : i = 4; [i] : 5 <= i <= 9; [i] : 2 <= i <= 6 }");
    assert_eq!(pieces.coalesce(&LIMITS).unwrap().to_string(), "{ [i] : 0 <= i <= 9 }");
    let apart = set("{ [i] : 0 <= i < 4; [i] : 6 <= i <= 9 }");
    assert_eq!(apart.coalesce(&LIMITS).unwrap().conjunctions().len(), 2);
}

#[test]
fn counts_are_exact_and_fast() {
    let count = |text: &str| set(text).count(&LIMITS).unwrap().to_string();
    assert_eq!(count("{ [i, j] : 0 <= i < 1000000000 and 0 <= j <= i }"), "500000000500000000");
    assert_eq!(
        count("{ [i, j, k] : 0 <= i, j, k < 1000000000000 }"),
        "1000000000000000000000000000000000000"
    );
    assert_eq!(count("{ [i, j] : 0 <= i <= 1000000 and 0 <= 7j <= 3i }"), "214286500001");
    assert_eq!(count("{ [i] : 0 <= i < 100 and i mod 2 = 0; [i] : 0 <= i < 100 and i mod 3 = 0 }"), "67");
    assert_eq!(count("{ [i, j, k] : 0 <= i <= j <= k <= 10 }"), "286");
}

#[test]
fn dependences_have_distances_and_directions() {
    // for i, j: A[i][j] = A[i - 1][j + 1]
    let flow = relation("[n] -> { S[i, j] -> S[i + 1, j - 1] : 0 <= i < n - 1 and 1 <= j < n }");
    use Direction::{Backward, Equal, Forward};
    assert_eq!(flow.direction_vectors(&LIMITS).unwrap(), vec![vec![Forward, Backward]]);
    let distances = flow.distances(&LIMITS).unwrap().unwrap();
    let constants: Vec<_> = distances.iter().map(|distance| distance.constant().cloned()).collect();
    assert_eq!(constants, [Some(Int::from(1)), Some(Int::from(-1))]);
    let any = relation("{ S[i, j] -> S[i, b] : 0 <= i < 5 and 0 <= j < 5 and 0 <= b < 5 }");
    assert_eq!(
        any.direction_vectors(&LIMITS).unwrap(),
        [[Equal, Forward], [Equal, Equal], [Equal, Backward]]
    );
    let taken = any.directions(&LIMITS).unwrap();
    assert!(taken[0].equal && !taken[0].forward && taken[1].forward && taken[1].backward);
}
