//! Decision diagrams: values that depend on conditions.

use super::store::{FALSE, Node, Run, Store, TRUE, TermId, UNWRITTEN, refused};

/// The deepest nesting of conditions.
const MAX_DEPTH: usize = 1_200;

impl Store {
    /// Returns the first term where a condition holds, else the second.
    pub(super) fn ite(&mut self, condition: TermId, yes: TermId, no: TermId) -> Run<TermId> {
        self.ite_within(condition, yes, no, 0)
    }

    fn ite_within(&mut self, condition: TermId, yes: TermId, no: TermId, depth: usize) -> Run<TermId> {
        match condition {
            TRUE => return Ok(yes),
            FALSE => return Ok(no),
            _ if yes == no => return Ok(yes),
            _ if (yes, no) == (TRUE, FALSE) => return Ok(condition),
            _ => {}
        }
        let key = [condition, yes, no];
        if let Some(known) = self.choices.get(&key) {
            return Ok(*known);
        }
        self.spend(1)?;
        if depth > MAX_DEPTH {
            return refused("executing both programs with all values open nests conditions too deep");
        }
        let tops = key.map(|term| self.variable(term));
        let Some(top) = tops.into_iter().flatten().max() else {
            return refused("a condition is not a truth value");
        };
        let mut numbers: Vec<i64> = Vec::new();
        for (term, own) in key.iter().zip(tops) {
            if let Node::Choice { cases, .. } = self.node(*term)
                && own == Some(top)
            {
                numbers.extend(cases.iter().map(|(number, _)| *number));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let [c, y, n] = key.map(|term| self.cofactor(term, top, None));
        let default = self.ite_within(c, y, n, depth + 1)?;
        let mut cases = Vec::with_capacity(numbers.len());
        for number in numbers {
            let [c, y, n] = key.map(|term| self.cofactor(term, top, Some(number)));
            let value = self.ite_within(c, y, n, depth + 1)?;
            if value != default {
                cases.push((number, value));
            }
        }
        let result = match cases.is_empty() {
            true => default,
            false => self.term(Node::Choice { variable: top, cases: cases.into(), default })?,
        };
        self.choices.insert(key, result);
        Ok(result)
    }

    /// The variable that a diagram decides first.
    fn variable(&self, term: TermId) -> Option<TermId> {
        match self.node(term) {
            Node::Choice { variable, .. } => Some(*variable),
            _ => None,
        }
    }

    /// Returns a diagram where a variable has a number, or none of those that it is compared with.
    fn cofactor(&self, term: TermId, top: TermId, number: Option<i64>) -> TermId {
        match self.node(term) {
            Node::Choice { variable, cases, default } if *variable == top => {
                let case = cases.iter().find(|(own, _)| Some(*own) == number);
                case.map_or(*default, |(_, value)| *value)
            }
            _ => term,
        }
    }

    /// Returns a term that is equal to another one where a condition holds.
    pub(super) fn assuming(&mut self, condition: TermId, term: TermId) -> Run<TermId> {
        self.assuming_within(condition, term, 0)
    }

    fn assuming_within(&mut self, condition: TermId, term: TermId, depth: usize) -> Run<TermId> {
        let tops = [condition, term].map(|own| self.variable(own));
        let [Some(_), Some(_)] = tops else { return Ok(term) };
        let key = [condition, term];
        if let Some(known) = self.assumed.get(&key) {
            return Ok(*known);
        }
        self.spend(1)?;
        if depth > MAX_DEPTH {
            return refused("executing both programs with all values open nests conditions too deep");
        }
        let top = tops.into_iter().flatten().max().unwrap_or(TRUE);
        let mut numbers: Vec<i64> = Vec::new();
        for own in [condition, term] {
            if let Node::Choice { variable, cases, .. } = self.node(own)
                && *variable == top
            {
                numbers.extend(cases.iter().map(|(number, _)| *number));
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        let mut default = None;
        let mut cases = Vec::new();
        for number in std::iter::once(None).chain(numbers.into_iter().map(Some)) {
            let [own, value] = [condition, term].map(|own| self.cofactor(own, top, number));
            if own == FALSE {
                continue;
            }
            let value = self.assuming_within(own, value, depth + 1)?;
            match (number, default) {
                (None, _) => default = Some(value),
                // Where the condition leaves no other case the first one is as good.
                (Some(_), None) => default = Some(value),
                (Some(number), Some(other)) if value != other => cases.push((number, value)),
                _ => {}
            }
        }
        let Some(default) = default else { return Ok(term) };
        let result = match cases.is_empty() {
            true => default,
            false => self.term(Node::Choice { variable: top, cases: cases.into(), default })?,
        };
        self.assumed.insert(key, result);
        Ok(result)
    }

    pub(super) fn not(&mut self, term: TermId) -> Run<TermId> {
        self.ite(term, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, a: TermId, b: TermId) -> Run<TermId> {
        self.ite(a, b, FALSE)
    }

    pub(super) fn or(&mut self, a: TermId, b: TermId) -> Run<TermId> {
        self.ite(a, TRUE, b)
    }

    /// Returns a diagram with each value at its ends replaced.
    pub(super) fn mapped(
        &mut self,
        term: TermId,
        map: &mut dyn FnMut(&mut Store, TermId) -> Run<TermId>,
    ) -> Run<TermId> {
        self.mapped_within(term, map, &mut hashbrown::HashMap::new(), 0)
    }

    fn mapped_within(
        &mut self,
        term: TermId,
        map: &mut dyn FnMut(&mut Store, TermId) -> Run<TermId>,
        known: &mut hashbrown::HashMap<TermId, TermId>,
        depth: usize,
    ) -> Run<TermId> {
        let Node::Choice { variable, cases, default } = self.node(term).clone() else {
            return map(self, term);
        };
        if let Some(known) = known.get(&term) {
            return Ok(*known);
        }
        self.spend(1 + cases.len())?;
        if depth > MAX_DEPTH {
            return refused("executing both programs with all values open nests conditions too deep");
        }
        let mut result = self.mapped_within(default, map, known, depth + 1)?;
        for (number, value) in cases {
            let value = self.mapped_within(value, map, known, depth + 1)?;
            let case = Node::Choice { variable, cases: [(number, TRUE)].into(), default: FALSE };
            let condition = self.term(case)?;
            result = self.ite(condition, value, result)?;
        }
        known.insert(term, result);
        Ok(result)
    }

    /// Returns the condition under which a value is an element that was never written.
    pub(super) fn unwritten(&mut self, term: TermId) -> Run<TermId> {
        if !self.traits(term).may_be_unwritten {
            return Ok(FALSE);
        }
        self.mapped(term, &mut |_, end| Ok(if end == UNWRITTEN { TRUE } else { FALSE }))
    }
}
