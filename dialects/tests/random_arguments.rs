//! Random elements of arguments.

use loomir_dialects::interp::arguments::SplitMix64;

/// Compares with the generator's published reference values, so that programs in other
/// languages can create the same buffers.
#[test]
fn random_numbers_are_those_of_splitmix64() {
    let mut random = SplitMix64(1_234_567);
    let first: Vec<u64> = (0..3).map(|_| random.next_bits()).collect();
    assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
}
