//! A pattern that was loaded, and how it is matched and applied.
//!
//! **Cost.** A node is matched at most once, so a match is linear in the pattern.

use loomir_ir::rewrite::{Pattern, Rewriter};
use loomir_ir::{Attr, Body, Loc, Op, OpName, OperationState, Type, Value, ValueDef};

/// A part of a pattern. Other parts are given by their numbers.
#[derive(Clone, Debug)]
pub(super) enum Node {
    /// A type, if it is given.
    Type(Option<Type>),
    Attribute {
        value: Option<Attr>,
        ty: Option<usize>,
    },
    /// A value that is computed anywhere.
    Operand {
        ty: Option<usize>,
    },
    Result {
        of: usize,
        index: usize,
    },
    Operation(Template),
}

/// An operation to match or to make.
#[derive(Clone, Debug)]
pub(super) struct Template {
    pub(super) name: Option<OpName>,
    pub(super) operands: Vec<usize>,
    pub(super) attributes: Vec<(String, usize)>,
    pub(super) types: Vec<usize>,
}

/// A step of a rewrite.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Make(usize),
    Erase(usize),
    /// Replaces the root by the results of an operation.
    ReplaceByOperation(usize),
    /// Replaces the results of the root.
    ReplaceByValues(Vec<usize>),
}

/// The part of a program that a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Bound {
    Type(Type),
    Attr(Attr),
    Value(Value),
    Op(Op),
}

/// A pattern that was loaded from a file.
#[derive(Clone, Debug)]
pub struct LoadedPattern {
    pub(super) name: String,
    pub(super) loc: Loc,
    pub(super) benefit: u16,
    pub(super) nodes: Vec<Node>,
    pub(super) root: usize,
    pub(super) actions: Vec<Action>,
}

impl Pattern for LoadedPattern {
    fn rewrite(&self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let mut found = Match { pattern: self, bound: vec![None; self.nodes.len()] };
        let body = rewriter.body();
        let applies = found.matches(body, self.root, Bound::Op(op))
            && found.can_erase(body)
            && !found.replaces_by_itself(body, op);
        if !applies {
            return false;
        }
        found.apply(rewriter, op)
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn loc(&self) -> Option<Loc> {
        Some(self.loc)
    }

    fn benefit(&self) -> u16 {
        self.benefit
    }
}

/// The parts of a program that a pattern was matched with.
struct Match<'p> {
    pattern: &'p LoadedPattern,
    bound: Vec<Option<Bound>>,
}

impl Match<'_> {
    fn matches(&mut self, body: &Body, number: usize, part: Bound) -> bool {
        if let Some(known) = self.bound[number] {
            return known == part;
        }
        let ctx = body.ctx();
        let pattern = self.pattern;
        let is_match = match (&pattern.nodes[number], part) {
            (Node::Type(ty), Bound::Type(own)) => ty.is_none_or(|ty| ty == own),
            (Node::Attribute { value, ty }, Bound::Attr(own)) => {
                let is_typed =
                    |ty: usize| own.ty(ctx).is_some_and(|own| self.matches(body, ty, Bound::Type(own)));
                value.is_none_or(|value| value == own) && ty.is_none_or(is_typed)
            }
            (Node::Operand { ty }, Bound::Value(own)) => {
                ty.is_none_or(|ty| self.matches(body, ty, Bound::Type(body.value_type(own))))
            }
            (Node::Result { of, index }, Bound::Value(own)) => match body.def(own) {
                ValueDef::OpResult { op, index: at } => {
                    at == *index && self.matches(body, *of, Bound::Op(op))
                }
                ValueDef::BlockArgument { .. } => false,
            },
            (Node::Operation(template), Bound::Op(own)) => self.matches_op(body, template, own),
            _ => false,
        };
        if is_match {
            self.bound[number] = Some(part);
        }
        is_match
    }

    fn matches_op(&mut self, body: &Body, template: &Template, op: Op) -> bool {
        template.name.is_none_or(|name| name == body.op_name(op))
            && body.num_operands(op) == template.operands.len()
            && body.num_results(op) == template.types.len()
            && template.attributes.iter().all(|(name, attr)| {
                body.attr(op, name).is_some_and(|own| self.matches(body, *attr, Bound::Attr(own)))
            })
            && template
                .types
                .iter()
                .enumerate()
                .all(|(at, ty)| self.matches(body, *ty, Bound::Type(body.value_type(body.result(op, at)))))
            && template
                .operands
                .iter()
                .enumerate()
                .all(|(at, own)| self.matches(body, *own, Bound::Value(body.operand(op, at))))
    }

    fn op(&self, number: usize) -> Option<Op> {
        match self.bound[number] {
            Some(Bound::Op(op)) => Some(op),
            _ => None,
        }
    }

    /// True if only operations that the rewrite removes use those that it erases.
    fn can_erase(&self, body: &Body) -> bool {
        let erased = self.pattern.actions.iter().filter_map(|action| match action {
            Action::Erase(number) => self.op(*number),
            _ => None,
        });
        let erased: Vec<Op> = erased.collect();
        let root = self.op(self.pattern.root);
        let goes = |user: Op| erased.contains(&user) || Some(user) == root;
        let is_replaced = |op: Op| {
            let replaces =
                |own: &Action| matches!(own, Action::ReplaceByOperation(_) | Action::ReplaceByValues(_));
            Some(op) == root && self.pattern.actions.iter().any(replaces)
        };
        erased.iter().all(|op| {
            let mut users = body.results(*op).flat_map(|value| body.uses(value)).map(|own| own.op);
            is_replaced(*op) || users.all(|user| user != *op && goes(user))
        })
    }

    /// True if the root is to be replaced by one of its own results.
    fn replaces_by_itself(&self, body: &Body, root: Op) -> bool {
        let is_own = |number: &usize| {
            self.value(body, *number).is_some_and(|value| body.defining_op(value) == Some(root))
        };
        self.pattern
            .actions
            .iter()
            .any(|own| matches!(own, Action::ReplaceByValues(values) if values.iter().any(is_own)))
    }

    /// Returns the value of a node.
    fn value(&self, body: &Body, number: usize) -> Option<Value> {
        match (self.bound[number], &self.pattern.nodes[number]) {
            (Some(Bound::Value(value)), _) => Some(value),
            (None, Node::Result { of, index }) => {
                let op = self.op(*of)?;
                (*index < body.num_results(op)).then(|| body.result(op, *index))
            }
            _ => None,
        }
    }

    fn attr(&self, number: usize) -> Option<Attr> {
        match (self.bound[number], &self.pattern.nodes[number]) {
            (Some(Bound::Attr(attr)), _) => Some(attr),
            (None, Node::Attribute { value, .. }) => *value,
            _ => None,
        }
    }

    fn ty(&self, number: usize) -> Option<Type> {
        match (self.bound[number], &self.pattern.nodes[number]) {
            (Some(Bound::Type(ty)), _) => Some(ty),
            (None, Node::Type(ty)) => *ty,
            _ => None,
        }
    }

    /// Makes and removes operations. Returns true if the program changed.
    fn apply(&mut self, rewriter: &mut Rewriter<'_>, root: Op) -> bool {
        let mut made = Vec::new();
        for action in &self.pattern.actions {
            if let Action::Make(number) = action {
                let Some(state) = self.state(rewriter.body(), *number, root) else {
                    made.into_iter().rev().for_each(|op| rewriter.erase(op));
                    return false;
                };
                let op = rewriter.insert_before(root, state);
                made.push(op);
                self.bound[*number] = Some(Bound::Op(op));
            }
        }
        // The root goes before the operations that it uses.
        let mut erased: Vec<Op> = Vec::new();
        let mut is_replaced = false;
        for action in &self.pattern.actions {
            let values: Option<Vec<Value>> = match action {
                Action::Make(_) => continue,
                Action::Erase(number) => {
                    // Two nodes may stand for one operation.
                    if let Some(op) = self.op(*number).filter(|op| !erased.contains(op)) {
                        erased.push(op);
                    }
                    continue;
                }
                Action::ReplaceByOperation(number) => {
                    self.op(*number).map(|op| rewriter.body().results(op).collect())
                }
                Action::ReplaceByValues(numbers) => {
                    numbers.iter().map(|number| self.value(rewriter.body(), *number)).collect()
                }
            };
            rewriter.replace(root, &values.unwrap_or_default());
            is_replaced = true;
        }
        erased.retain(|op| !(is_replaced && *op == root));
        erased.sort_by_key(|op| *op != root);
        while !erased.is_empty() {
            let body = rewriter.body();
            let Some(at) = erased.iter().position(|op| !body.has_used_results(*op)) else { break };
            rewriter.erase(erased.remove(at));
        }
        true
    }

    /// Returns the operation that a node makes. Types that it does not give are inferred or, if it
    /// replaces the root, the root's.
    fn state(&self, body: &Body, number: usize, root: Op) -> Option<OperationState> {
        let Node::Operation(template) = &self.pattern.nodes[number] else { return None };
        let ctx = body.ctx();
        let mut state = OperationState::named(template.name?, body.loc(root));
        for operand in &template.operands {
            state.operands.push(self.value(body, *operand)?);
        }
        for (name, attr) in &template.attributes {
            state.set_attr(ctx, name, self.attr(*attr)?);
        }
        state.set_defaults(ctx);
        for ty in &template.types {
            state.result_types.push(self.ty(*ty)?);
        }
        let replaces_root = |own: &Action| matches!(own, Action::ReplaceByOperation(by) if *by == number);
        if template.types.is_empty() && self.pattern.actions.iter().any(replaces_root) {
            state.result_types.extend(body.results(root).map(|value| body.value_type(value)));
        } else if template.types.is_empty() && !state.infer_result_types(body) {
            let is_known = ctx.op_info(state.name).def().is_some();
            return (!is_known).then_some(state);
        }
        Some(state)
    }
}
