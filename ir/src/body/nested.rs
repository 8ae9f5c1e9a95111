//! Bodies inside bodies: the operations that own an arena of their own.

use super::Body;
use crate::context::OpName;
use crate::entity::Op;

impl Body {
    /// The body an operation of this body owns; `None` for all others, the root of this body
    /// included.
    #[inline]
    pub fn nested(&self, op: Op) -> Option<&Body> {
        self.extra(op)?.nested.as_deref()
    }

    /// The body an operation of this body owns, to change.
    pub fn nested_mut(&mut self, op: Op) -> Option<&mut Body> {
        let extra = self.data(op).extra;
        if extra == crate::entity::NONE { None } else { self.extras[extra as usize].nested.as_deref_mut() }
    }

    /// The bodies of two different operations, the first to change. `None` if either owns none.
    pub fn nested_pair(&mut self, change: Op, read: Op) -> Option<(&mut Body, &Body)> {
        let indices = [change, read].map(|op| self.data(op).extra as usize);
        let [change, read] = self.extras.get_disjoint_mut(indices).ok()?;
        Some((change.nested.as_deref_mut()?, read.nested.as_deref()?))
    }

    /// Takes the body out of an operation, which is erased.
    pub fn take_nested(&mut self, op: Op) -> Option<Body> {
        let extra = self.data(op).extra;
        if extra == crate::entity::NONE {
            return None;
        }
        let body = self.extras[extra as usize].nested.take()?;
        self.erase(op);
        Some(*body)
    }

    /// Gives the root another name, keeping everything else. Both names own bodies. The operation
    /// around this body keeps the old name until [`Body::refresh_slots`].
    pub(crate) fn rename_root(&mut self, name: OpName) {
        debug_assert!(self.ctx.op_info(name).owns_arena());
        self.ops[0].name = name;
    }

    /// Gives each operation that owns a body the name of the root of that body. Linear.
    pub(crate) fn refresh_slots(&mut self) {
        for op in &mut self.ops {
            let extra = self.extras.get(op.extra as usize);
            if let Some(nested) = extra.and_then(|extra| extra.nested.as_deref()) {
                op.name = nested.op_name(nested.root());
            }
        }
    }

    /// True if there are bodies inside this one. Linear in the operations that have regions.
    pub fn has_nested(&self) -> bool {
        self.extras.iter().any(|extra| extra.nested.is_some())
    }

    /// Every body directly inside this one, in the order of the text.
    pub fn nested_in_order(&mut self) -> Vec<&mut Body> {
        if !self.has_nested() {
            return Vec::new();
        }
        let order: Vec<u32> = self
            .all_ops()
            .map(|op| self.ops[op.index()].extra)
            .filter(|extra| *extra != crate::entity::NONE && self.extras[*extra as usize].nested.is_some())
            .collect();
        let mut bodies: Vec<Option<&mut Body>> =
            self.extras.iter_mut().map(|extra| extra.nested.as_deref_mut()).collect();
        order.into_iter().filter_map(|extra| bodies[extra as usize].take()).collect()
    }

    /// Calls `f` on this body and on every body inside it, this one first.
    pub fn for_each_body(&mut self, f: &mut dyn FnMut(&mut Body)) {
        let mut stack = vec![self];
        while let Some(body) = stack.pop() {
            f(body);
            let mark = stack.len();
            stack.extend(body.nested_in_order());
            stack[mark..].reverse();
        }
    }
}
