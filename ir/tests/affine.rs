//! Affine expressions simplify as they are built; whatever the rules do, the value stays.

use loomir_ir::affine::{ceil_div, floor_div};
use loomir_ir::{AffineExpr, AffineMap, Context, DYNAMIC, Registry};

/// A deterministic stream of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

const DIMS: [i64; 3] = [-7, 5, 12];
const SYMBOLS: [i64; 2] = [3, -4];

/// A random expression, and its value worked out beside it without any rule.
fn random_expr(ctx: &Context, random: &mut Random, depth: u32) -> (AffineExpr, i64) {
    if depth == 0 || random.below(5) == 0 {
        return match random.below(3) {
            0 => {
                let d = random.below(3) as usize;
                (AffineExpr::dim(ctx, d as u32), DIMS[d])
            }
            1 => {
                let s = random.below(2) as usize;
                (AffineExpr::symbol(ctx, s as u32), SYMBOLS[s])
            }
            _ => {
                let c = random.below(9) as i64 - 4;
                (AffineExpr::constant(ctx, c), c)
            }
        };
    }
    let (a, x) = random_expr(ctx, random, depth - 1);
    match random.below(5) {
        0 | 1 => {
            let (b, y) = random_expr(ctx, random, depth - 1);
            (a.add(ctx, b), x + y)
        }
        2 => {
            let k = random.below(9) as i64 - 4;
            (a.mul(ctx, AffineExpr::constant(ctx, k)), x * k)
        }
        op => {
            let k = 1 + random.below(6) as i64;
            let divisor = AffineExpr::constant(ctx, k);
            match op {
                3 if k % 2 == 0 => (a.floordiv(ctx, divisor), floor_div(x, k).expect("no overflow")),
                3 => (a.ceildiv(ctx, divisor), ceil_div(x, k).expect("no overflow")),
                _ => (a.modulo(ctx, divisor), x.rem_euclid(k)),
            }
        }
    }
}

#[test]
fn simplification_keeps_the_value() {
    let ctx = Context::new(Registry::new());
    let mut random = Random(7);
    for _ in 0..20_000 {
        let (expr, value) = random_expr(&ctx, &mut random, 5);
        assert_eq!(expr.evaluate(&ctx, &DIMS, &SYMBOLS), Some(value));
        let divisor = expr.largest_known_divisor(&ctx);
        assert!(if divisor == 0 { value == 0 } else { value.unsigned_abs() % divisor == 0 });
        // Replacing dimensions by constants evaluates.
        let dims: Vec<AffineExpr> = DIMS.iter().map(|d| AffineExpr::constant(&ctx, *d)).collect();
        let symbols: Vec<AffineExpr> = SYMBOLS.iter().map(|s| AffineExpr::constant(&ctx, *s)).collect();
        assert_eq!(expr.replace(&ctx, &dims, &symbols).as_constant(&ctx), Some(value));
    }
}

#[test]
fn equal_expressions_are_one() {
    let ctx = Context::new(Registry::new());
    let (d0, s0) = (AffineExpr::dim(&ctx, 0), AffineExpr::symbol(&ctx, 0));
    let c = |value| AffineExpr::constant(&ctx, value);
    assert_eq!(c(1).add(&ctx, d0).add(&ctx, c(2)), d0.add(&ctx, c(3)));
    assert_eq!(s0.add(&ctx, d0), d0.add(&ctx, s0));
    assert_eq!(d0.mul(&ctx, c(4)).floordiv(&ctx, c(2)), d0.mul(&ctx, c(2)));
    assert_eq!(d0.mul(&ctx, c(4)).modulo(&ctx, c(2)), c(0));
    assert_eq!(d0.sub(&ctx, d0.floordiv(&ctx, c(8)).mul(&ctx, c(8))), d0.modulo(&ctx, c(8)));
    assert_eq!(d0.sub(&ctx, d0), c(0));
}

#[test]
fn numbers_too_large_are_left_as_they_stand() {
    let ctx = Context::new(Registry::new());
    let max = AffineExpr::constant(&ctx, i64::MAX);
    let sum = max.add(&ctx, AffineExpr::constant(&ctx, 1));
    assert_eq!(sum.as_constant(&ctx), None);
    assert_eq!(sum.evaluate(&ctx, &[], &[]), None);
    assert_eq!(
        AffineExpr::constant(&ctx, i64::MIN).floordiv(&ctx, AffineExpr::constant(&ctx, -1)).as_constant(&ctx),
        None
    );
    let zero = AffineExpr::constant(&ctx, 0);
    assert_eq!(max.modulo(&ctx, zero).evaluate(&ctx, &[], &[]), None);
}

#[test]
fn a_layout_map_has_strides_where_it_is_a_sum_of_multiples() {
    let ctx = Context::new(Registry::new());
    let (d0, d1, s0) = (AffineExpr::dim(&ctx, 0), AffineExpr::dim(&ctx, 1), AffineExpr::symbol(&ctx, 0));
    let row =
        d0.mul(&ctx, AffineExpr::constant(&ctx, 8)).add(&ctx, d1).add(&ctx, AffineExpr::constant(&ctx, 3));
    let map = |expr| AffineMap::new(&ctx, 2, 1, &[expr]);
    assert_eq!(map(row).strides_and_offset(&ctx, &[4, 8]), Some((vec![8, 1], 3)));
    let symbolic = d0.mul(&ctx, s0).add(&ctx, d1).add(&ctx, s0);
    assert_eq!(map(symbolic).strides_and_offset(&ctx, &[4, 8]), Some((vec![DYNAMIC, 1], DYNAMIC)));
    let folded = d0.floordiv(&ctx, AffineExpr::constant(&ctx, 2)).add(&ctx, d1);
    assert_eq!(map(folded).strides_and_offset(&ctx, &[4, 8]), None);
}

/// Were a step as long as the sum so far, or one call inside another for each term, this would not
/// end well.
#[test]
fn long_sums_are_built_and_divided_term_by_term() {
    let ctx = Context::new(Registry::new());
    let four = AffineExpr::constant(&ctx, 4);
    let term = |i: usize| AffineExpr::dim(&ctx, i as u32 % 2);
    let sum = |scale: AffineExpr| {
        (1..200_000).fold(term(0).mul(&ctx, scale), |sum, i| sum.add(&ctx, term(i).mul(&ctx, scale)))
    };
    let long = sum(four);
    assert_eq!(long.floordiv(&ctx, four), sum(AffineExpr::constant(&ctx, 1)));
    assert_eq!(long.modulo(&ctx, four), AffineExpr::constant(&ctx, 0));
    let three = AffineExpr::constant(&ctx, 3);
    assert_eq!(long.add(&ctx, three).modulo(&ctx, four), three);
}

#[test]
fn constants_that_do_not_fit_together_stay_apart() {
    let ctx = Context::new(Registry::new());
    let (x, most) = (AffineExpr::dim(&ctx, 0), AffineExpr::constant(&ctx, i64::MAX));
    let twice = [x.add(&ctx, most).add(&ctx, most), x.mul(&ctx, most).mul(&ctx, most)];
    let map = AffineMap::new(&ctx, 1, 0, &twice);
    assert_eq!(
        loomir_ir::text::map_to_string(&ctx, map),
        "(d0) -> (d0 + 9223372036854775807 + 9223372036854775807, (d0 * 9223372036854775807) * 9223372036854775807)"
    );
}
