//! Random bounded sets against enumeration: about one in a hundred of the campaign's cases.

use crate::campaign;
#[test]
fn random_sets_agree_with_enumeration() {
    let mut report = campaign::Report::default();
    campaign::run(1, 0, 10_000, &mut report);
    assert!(
        report.failures.is_empty(),
        "{}",
        report.failures.iter().take(5).cloned().collect::<Vec<_>>().join("\n")
    );
    let share = |part: u64| part * 100 / report.cases;
    assert!((30..=70).contains(&share(report.nonempty)));
    assert!(share(report.existentials) >= 20);
    assert!(share(report.rational_only) >= 10);
}
