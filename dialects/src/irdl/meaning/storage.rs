//! Types by their storage: loaded types in a module become the types that stand for them.

use hashbrown::HashMap;
use loomir_ir::text::parse_type;
use loomir_ir::{Attr, AttrKind, Body, Context, Dict, Op, Type, TypeKind, Value};

use crate::builtin;
use crate::irdl::extensions::Storage;

/// The deepest nesting of types that is looked through, and the longest chain of storages.
const MAX_DEPTH: usize = 32;

/// The storage of each loaded type that has one.
#[derive(Clone, Debug, Default)]
pub(super) struct Storages(HashMap<String, Stored>);

#[derive(Clone, Copy, Debug)]
enum Stored {
    Type(Type),
    Parameter(usize),
}

impl Storages {
    /// Reads storages in the context that knows the types.
    ///
    /// # Errors
    /// The name of a type whose storage is no type, or contains itself, and what is wrong.
    pub(super) fn of(ctx: &Context, list: &[(String, Storage)]) -> Result<Storages, (String, String)> {
        let mut storages = Storages::default();
        for (name, storage) in list {
            let stored = match storage {
                Storage::Parameter(number) => Stored::Parameter(*number),
                Storage::Type(text) => match parse_type(ctx, text) {
                    Ok(ty) => Stored::Type(ty),
                    Err(_) => {
                        return Err((name.clone(), format!("the storage of '!{name}' is no type: '{text}'")));
                    }
                },
            };
            storages.0.insert(name.clone(), stored);
        }
        for (name, _) in list {
            if let Some(Stored::Type(ty)) = storages.0.get(name)
                && storages.lower_nested(ctx, *ty, 0).is_none()
            {
                return Err((name.clone(), format!("the storage of '!{name}' contains itself")));
            }
        }
        Ok(storages)
    }

    /// Returns the type that stands for a type. Types nested too deeply stay.
    pub(super) fn lower(&self, ctx: &Context, ty: Type) -> Type {
        if self.0.is_empty() { ty } else { self.lower_nested(ctx, ty, 0).unwrap_or(ty) }
    }

    fn lower_nested(&self, ctx: &Context, ty: Type, depth: usize) -> Option<Type> {
        if depth > MAX_DEPTH {
            return None;
        }
        let low = |ty: Type| self.lower_nested(ctx, ty, depth + 1);
        let all = |types: &[Type]| types.iter().map(|ty| low(*ty)).collect::<Option<Box<[Type]>>>();
        Some(ctx.ty(match ty.kind(ctx) {
            TypeKind::Dialect { name, params } => {
                let stored = match self.0.get(ctx.str(*name)) {
                    Some(Stored::Type(ty)) => *ty,
                    Some(Stored::Parameter(number)) => params.get(*number)?.as_type(ctx)?,
                    None => return Some(ty),
                };
                return low(stored);
            }
            TypeKind::Complex(element) => TypeKind::Complex(low(*element)?),
            TypeKind::Function { inputs, results } => {
                TypeKind::Function { inputs: all(inputs)?, results: all(results)? }
            }
            TypeKind::Tuple(types) => TypeKind::Tuple(all(types)?),
            TypeKind::Vector { shape, scalable, element } => {
                TypeKind::Vector { shape: shape.clone(), scalable: scalable.clone(), element: low(*element)? }
            }
            TypeKind::Tensor { shape, element, encoding } => {
                TypeKind::Tensor { shape: shape.clone(), element: low(*element)?, encoding: *encoding }
            }
            TypeKind::MemRef { shape, element, layout, memory_space } => TypeKind::MemRef {
                shape: shape.clone(),
                element: low(*element)?,
                layout: *layout,
                memory_space: *memory_space,
            },
            _ => return Some(ty),
        }))
    }

    /// Replaces the types of all values and attributes of a body, without bodies nested in it, and
    /// removes casts between a type and its storage.
    pub(super) fn lower_body(&self, ctx: &Context, body: &mut Body) {
        if self.0.is_empty() {
            return;
        }
        let ops: Vec<Op> = body.preorder(body.root()).collect();
        for op in &ops {
            if body.nested(*op).is_some() {
                continue;
            }
            let blocks = body.own_regions(*op).flat_map(|region| body.blocks(region));
            let values: Vec<Value> = blocks.flat_map(|block| body.arguments(block)).collect();
            for value in values.into_iter().chain(body.results(*op).collect::<Vec<_>>()) {
                let ty = self.lower(ctx, body.value_type(value));
                body.set_value_type(value, ty);
            }
            let (properties, attributes) = (body.properties(*op), body.attributes(*op));
            body.set_properties(*op, self.lower_dict(ctx, properties, 0));
            body.set_attributes(*op, self.lower_dict(ctx, attributes, 0));
        }
        for op in ops {
            let view = body.op_ref(op);
            let is_cast = view.is(builtin::UnrealizedConversionCastOp::DEF)
                && view.num_operands() == 1
                && view.num_results() == 1
                && view.operand_type(0) == view.result_type(0);
            if is_cast {
                let (value, result) = (view.operand(0), view.result(0));
                body.replace_all_uses(result, value);
                body.erase(op);
            }
        }
    }

    fn lower_dict(&self, ctx: &Context, dict: Dict, depth: usize) -> Dict {
        let entries = dict.entries(ctx).iter();
        ctx.dict(entries.map(|(name, attr)| (*name, self.lower_attr(ctx, *attr, depth))).collect())
    }

    fn lower_attr(&self, ctx: &Context, attr: Attr, depth: usize) -> Attr {
        if depth > MAX_DEPTH {
            return attr;
        }
        match attr.kind(ctx) {
            AttrKind::Type(ty) => ctx.type_attr(self.lower(ctx, *ty)),
            AttrKind::Array(list) => {
                let list: Vec<Attr> = list.iter().map(|own| self.lower_attr(ctx, *own, depth + 1)).collect();
                ctx.array_attr(&list)
            }
            AttrKind::Dictionary(dict) => {
                ctx.attr(AttrKind::Dictionary(self.lower_dict(ctx, *dict, depth + 1)))
            }
            _ => attr,
        }
    }
}
