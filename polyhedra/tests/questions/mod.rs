//! Every question about a set or a relation, asked only for an answer or an error to come back:
//! nothing may panic or run away, and what is printed reads back as the same.

use loomir_polyhedra::{Limits, Relation, Set};

/// Asks everything of a set.
pub(crate) fn ask_set(set: &Set, other: &Set, limits: &Limits) {
    let _ = set.is_empty(limits);
    let _ = set.sample(limits);
    let _ = set.is_subset(other, limits);
    let _ = set.lexmin(limits);
    let _ = set.lexmax(limits);
    let _ = set.complement(limits);
    let _ = set.coalesce(limits);
    let _ = set.gist(other, limits);
    let _ = set.bounding_box(limits);
    let _ = set.count(limits);
    let _ = set.to_svg(limits);
    let _ = set.project_out(0..set.tuple().arity().min(1)).map(|set| set.is_empty(limits));
    let again: Set = set.to_string().parse().unwrap_or_else(|error| panic!("{set}: {error}"));
    if let (Ok(same), true) = (again.is_equal(set, limits), again.space().dims() == set.space().dims()) {
        assert!(same, "{set} and {again}");
    }
}

/// Asks everything of a relation.
pub(crate) fn ask_relation(relation: &Relation, limits: &Limits) {
    let _ = relation.is_empty(limits);
    let _ = relation.lexmin(limits);
    let _ = relation.directions(limits);
    let _ = relation.direction_vectors(limits);
    let _ = relation.distances(limits);
    let _ = relation.then(&relation.inverse()).map(|both| both.is_empty(limits));
    let _ = relation.image(&relation.domain());
    let _ = relation.to_svg(limits);
    let again: Relation = relation.to_string().parse().unwrap_or_else(|error| panic!("{relation}: {error}"));
    if let Ok(same) = again.is_equal(relation, limits) {
        assert!(same, "{relation} and {again}");
    }
}

/// Reads a text as a set and as a relation and asks everything of what it is.
pub(crate) fn read(text: &str, limits: &Limits) {
    match text.parse::<Set>() {
        Ok(set) => ask_set(&set, &set.clone(), limits),
        Err(error) => assert!(error.offset <= text.len() && !error.message.is_empty()),
    }
    if let Ok(relation) = text.parse::<Relation>() {
        ask_relation(&relation, limits);
    }
}
