//! Emptiness and points of random bounded conjunctions against enumeration.

use loomir_polyhedra::{Affine, Conjunction, Emptiness, Limits, Var};

/// A small deterministic generator (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }
}

fn brute(vars: usize, size: i64, rows: &[(Vec<i64>, i64, bool)]) -> bool {
    let mut point = vec![-size; vars];
    loop {
        let ok = rows.iter().all(|(coefs, c, eq)| {
            let v: i64 = coefs.iter().zip(&point).map(|(a, b)| a * b).sum::<i64>() + c;
            if *eq { v == 0 } else { v >= 0 }
        });
        if ok {
            return true;
        }
        let mut k = 0;
        loop {
            if k == vars {
                return false;
            }
            point[k] += 1;
            if point[k] <= size {
                break;
            }
            point[k] = -size;
            k += 1;
        }
    }
}

#[test]
fn random_conjunctions_agree_with_enumeration() {
    let cases: u64 = std::env::var("CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(20000);
    let (mut empty, mut nonempty) = (0, 0);
    for seed in 0..cases {
        let mut r = Random(seed);
        let vars = r.range(1, 5) as usize;
        let size = [20, 10, 6, 3, 2][vars - 1];
        let bounded = r.range(0, 3) > 0;
        let mut rows = Vec::new();
        let n_rows = r.range(1, 2 + vars as i64);
        for _ in 0..n_rows {
            let coefs: Vec<i64> =
                (0..vars).map(|_| if r.range(0, 3) == 0 { 0 } else { r.range(-12, 12) }).collect();
            let c = r.range(-20, 20);
            let eq = r.range(0, 5) == 0;
            rows.push((coefs.clone(), c, eq));
            if r.range(0, 2) == 0 && !eq {
                let width = r.range(0, 8);
                rows.push((coefs.iter().map(|v| -v).collect(), width - c, false));
            }
        }
        let mut set = Conjunction::new(vars);
        for (coefs, c, eq) in &rows {
            let terms: Vec<(Var, i64)> = coefs.iter().enumerate().map(|(i, v)| (Var(i as u32), *v)).collect();
            if *eq { set.add_terms_eq(&terms, *c) } else { set.add_terms_ge(&terms, *c) }
        }
        if bounded {
            for v in 0..vars {
                set.add_ge(Var(v as u32), -size);
                set.add_le(Var(v as u32), size);
            }
        }
        let answer = set.is_empty(&Limits::default());
        let expected = brute(vars, size, &rows);
        match &answer {
            Emptiness::Empty => {
                assert!(!expected, "seed {seed}: said empty {rows:?}");
                empty += 1;
            }
            Emptiness::NonEmpty(p) => {
                nonempty += 1;
                let p = p.to_i64s().unwrap();
                for (coefs, c, eq) in &rows {
                    let v: i128 =
                        coefs.iter().zip(&p).map(|(a, b)| (*a as i128) * (*b as i128)).sum::<i128>()
                            + *c as i128;
                    assert!(if *eq { v == 0 } else { v >= 0 }, "seed {seed}: wrong point");
                }
                assert!(!bounded || expected, "seed {seed}: said nonempty");
            }
            Emptiness::Unknown(_) => panic!("seed {seed} unknown: {rows:?}"),
        }
    }
    eprintln!("empty {empty} nonempty {nonempty}");
    let _ = Affine::from(1);
}
