//! Loads and stores of one element.

use loomir_ir::{OpRef, Type};

use super::super::form::Form;
use super::super::model::{Access, Kind, Promise, ScopeId, TermId};
use super::{Binding, Read, Reader, View};

impl<'b> Reader<'b, '_> {
    /// Reads an access of one element.
    pub(super) fn element_access(
        &mut self,
        op: OpRef<'b>,
        access: &loomir_dialects::interfaces::Access,
        scope: ScopeId,
    ) -> Read<'b, ()> {
        if let (Binding::Selected(condition, views), None) =
            (self.bindings[access.memref.index()].clone(), access.stored)
        {
            return self.selected_load(op, access, (condition, &views), scope);
        }
        let view = self.view(access.memref, op)?;
        let subscripts = self.subscripts(op, &access.subscripts, scope)?;
        let subscripts = self.of_buffer(&view, subscripts, scope, op);
        self.accesses(&view, &subscripts, access.stored.is_some(), op)?;
        match access.stored {
            None => {
                let loaded = self.load(&view, subscripts, scope, op, op.result_type(0));
                self.bind(op.result(0), loaded);
            }
            Some(stored) => {
                let stored = self.value(stored, op)?;
                self.store(&view, subscripts, stored, scope, op);
            }
        }
        Ok(())
    }

    /// Returns the subscripts of a view with zero for each dimension that it drops.
    pub(super) fn of_buffer(
        &mut self,
        view: &View,
        mut subscripts: Vec<TermId>,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> Vec<TermId> {
        for dim in &view.dropped {
            let zero = self.term(Kind::Number(Form::default()), scope, Type::INDEX, op);
            subscripts.insert((*dim).min(subscripts.len()), zero);
        }
        subscripts
    }

    /// Reads the selection of one of two buffers. The other program branches on its condition.
    pub(super) fn selected_buffer(&mut self, op: OpRef<'b>, scope: ScopeId) -> Read<'b, ()> {
        self.may_branch(op.operand(0), op, scope)?;
        let condition = self.value(op.operand(0), op)?;
        let views = Box::new([self.view(op.operand(1), op)?, self.view(op.operand(2), op)?]);
        self.bindings[op.result(0).index()] = Binding::Selected(condition, views);
        Ok(())
    }

    /// Reads a load of one of two buffers as a load of each, where it is the one selected.
    fn selected_load(
        &mut self,
        op: OpRef<'b>,
        access: &loomir_dialects::interfaces::Access,
        (condition, views): (TermId, &[View; 2]),
        scope: ScopeId,
    ) -> Read<'b, ()> {
        let subscripts = self.subscripts(op, &access.subscripts, scope)?;
        let mut loaded = Vec::new();
        for (index, view) in views.iter().enumerate() {
            let inside = self.arm(condition, index == 0, scope, op)?;
            let subscripts = self.of_buffer(view, subscripts.clone(), inside, op);
            self.accesses(view, &subscripts, false, op)?;
            loaded.push(self.load(view, subscripts, inside, op, op.result_type(0)));
        }
        let kind = Kind::Choice { condition, yes: loaded[0], no: loaded[1] };
        let term = self.term(kind, scope, op.result_type(0), op);
        self.bind(op.result(0), term);
        Ok(())
    }

    /// Adds a load, and the term of the element as the function found it behind that of the load.
    pub(super) fn load(
        &mut self,
        view: &View,
        subscripts: Vec<TermId>,
        scope: ScopeId,
        op: OpRef<'b>,
        ty: Type,
    ) -> TermId {
        let access = self.access(view, subscripts, None, scope, op);
        let loaded = self.term(Kind::Load(access), scope, ty, op);
        self.term(Kind::Initial(access), scope, ty, op);
        loaded
    }

    pub(super) fn store(
        &mut self,
        view: &View,
        subscripts: Vec<TermId>,
        stored: TermId,
        scope: ScopeId,
        op: OpRef<'b>,
    ) {
        let ty = self.program.terms[stored].ty;
        let mut stored = stored;
        let guards = self.scope(scope).guards.clone();
        if !guards.is_empty() {
            let old = self.load(view, subscripts.clone(), scope, op, ty);
            self.make_virtual(old);
            for (condition, value) in guards.into_iter().rev() {
                let (yes, no) = if value { (stored, old) } else { (old, stored) };
                stored = self.term(Kind::Choice { condition, yes, no }, scope, ty, op);
            }
        }
        let object = &self.program.objects[view.object];
        if self.distinct || object.is_alone {
            let access = self.access(view, subscripts, Some(stored), scope, op);
            self.program.objects[view.object].stores.push(access);
            return;
        }
        let old = self.load(view, subscripts.clone(), scope, op, ty);
        self.make_virtual(old);
        let access = self.access(view, subscripts, None, scope, op);
        let written = self.term(Kind::Stored { access, old, value: stored }, scope, ty, op);
        self.program.accesses[access].stored = Some(written);
        self.program.objects[view.object].stores.push(access);
    }

    /// Marks the access of a load as one that the program does not have.
    pub(super) fn make_virtual(&mut self, load: TermId) {
        if let Kind::Load(access) = self.program.terms[load].kind {
            self.program.accesses[access].is_virtual = true;
        }
    }

    pub(super) fn access(
        &mut self,
        view: &View,
        subscripts: Vec<TermId>,
        stored: Option<TermId>,
        scope: ScopeId,
        op: OpRef<'b>,
    ) -> usize {
        let depth = self.program.objects[view.object].depth;
        let affine = subscripts
            .iter()
            .zip(&view.dims)
            .map(|(term, (offset, stride))| self.form_of(*term)?.times(*stride)?.plus(offset));
        let mut inside = Vec::new();
        if view.origin.is_some() || view.sizes != self.program.objects[view.object].sizes {
            for (term, size) in subscripts.iter().zip(&view.sizes) {
                inside.extend(self.form_of(*term).map(|index| (index.clone(), size.clone())));
            }
        }
        let own: Option<Vec<Form>> = match &view.origin {
            None => affine.collect(),
            Some(origin) => {
                let sum = |sum: Form, form: Option<Form>| sum.plus(&form?);
                let number = affine.into_iter().try_fold(origin.clone(), sum);
                number.map(|number| vec![number])
            }
        };
        let outer = (0..depth).map(Form::dim);
        let element = own.map(|own| outer.chain(own).collect());
        let order = self.next_order();
        self.program.accesses.push(Access {
            object: view.object,
            element,
            subscripts,
            axes: view.dims.clone(),
            origin: view.origin.clone(),
            extents: view.sizes.clone(),
            inside,
            scope,
            order,
            stored,
            state: None,
            update: None,
            is_virtual: false,
            promise: Promise::default(),
            op,
        });
        self.program.accesses.len() - 1
    }
}
