//! Types by their storage: loaded types in a module become the types that stand for them.

use hashbrown::{HashMap, HashSet};
use loomir_ir::text::parse_type;
use loomir_ir::{Attr, AttrKind, Body, Context, Diagnostic, Dict, Loc, Op, Type, TypeKind, Value};

use crate::builtin;
use crate::irdl::extensions::Storage;

/// The deepest nesting of types that is looked through.
const MAX_DEPTH: usize = 32;

/// The most types that one storage consists of, after those in it are replaced by their storages.
const MAX_TYPES: usize = 1_000;

/// The storage of each loaded type that has one.
///
/// **Invariant.** Stored types contain no type with a storage.
#[derive(Clone, Debug, Default)]
pub(super) struct Storages(HashMap<String, Stored>);

#[derive(Clone, Copy, Debug)]
enum Stored {
    Type(Type, Size),
    Parameter(usize),
    /// A storage that is not yet looked at.
    Open(Type),
}

/// The types that a type consists of: their number, and how deep they nest.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    types: usize,
    depth: usize,
}

impl Size {
    /// Adds a part below `depth` others.
    fn add(&mut self, part: Size, depth: usize) {
        self.types = self.types.saturating_add(part.types);
        self.depth = self.depth.max(part.depth + depth);
    }

    fn is_too_large(self) -> bool {
        self.types > MAX_TYPES || self.depth > MAX_DEPTH
    }
}

/// The reason why a type has no storage.
enum Stop {
    /// It contains a type whose storage is still open.
    Needs(String),
    /// It nests too deeply, or has too many parts.
    TooLarge,
}

/// A storage that cannot be used.
pub(super) struct WrongStorage {
    /// The name of the type.
    pub(super) name: String,
    problem: Problem,
}

enum Problem {
    NoType(String),
    ContainsItself,
    TooLarge,
}

impl WrongStorage {
    /// Returns the error at the definition of the type.
    pub(super) fn diagnostic(&self, loc: Loc) -> Diagnostic {
        let (what, help) = match &self.problem {
            Problem::NoType(text) => {
                (format!("is no type: '{text}'"), "write a type, such as i32".to_owned())
            }
            Problem::ContainsItself => (
                "contains itself".to_owned(),
                "store it as a type without a storage of its own: loomir.storage = i32".to_owned(),
            ),
            Problem::TooLarge => (
                "is too large".to_owned(),
                format!("a storage has at most {MAX_TYPES} types in all, nested at most {MAX_DEPTH} deep"),
            ),
        };
        Diagnostic::error(loc, format!("the storage of '!{}' {what}", self.name)).help(help)
    }
}

impl Storages {
    /// Reads storages in the context that knows the types.
    ///
    /// # Errors
    /// The first storage that cannot be used.
    pub(super) fn of(ctx: &Context, list: &[(String, Storage)]) -> Result<Storages, WrongStorage> {
        let mut storages = Storages::default();
        for (name, storage) in list {
            let stored = match storage {
                Storage::Parameter(number) => Stored::Parameter(*number),
                Storage::Type(text) => match parse_type(ctx, text) {
                    Ok(ty) => Stored::Open(ty),
                    Err(_) => {
                        let problem = Problem::NoType(text.clone());
                        return Err(WrongStorage { name: name.clone(), problem });
                    }
                },
            };
            storages.0.insert(name.clone(), stored);
        }
        for (name, _) in list {
            storages.close(ctx, name)?;
        }
        Ok(storages)
    }

    /// Replaces the types in an open storage by their storages, and before those the types in them.
    ///
    /// An attempt that fails closes one more storage, so all attempts together are linear.
    fn close(&mut self, ctx: &Context, name: &str) -> Result<(), WrongStorage> {
        let mut stack = vec![name.to_owned()];
        let mut on_stack: HashSet<String> = stack.iter().cloned().collect();
        while let Some(name) = stack.pop() {
            let Some(Stored::Open(ty)) = self.0.get(&name) else { continue };
            let mut size = Size::default();
            let problem = match self.lower_nested(ctx, *ty, 0, &mut size) {
                Ok(_) if size.is_too_large() => Problem::TooLarge,
                Ok(ty) => {
                    self.0.insert(name, Stored::Type(ty, size));
                    continue;
                }
                Err(Stop::Needs(inner)) if on_stack.insert(inner.clone()) => {
                    stack.extend([name, inner]);
                    continue;
                }
                Err(Stop::Needs(name)) => {
                    return Err(WrongStorage { name, problem: Problem::ContainsItself });
                }
                Err(Stop::TooLarge) => Problem::TooLarge,
            };
            return Err(WrongStorage { name, problem });
        }
        Ok(())
    }

    /// Returns the type that stands for a type. Types nested too deeply stay.
    pub(super) fn lower(&self, ctx: &Context, ty: Type) -> Type {
        if self.0.is_empty() {
            return ty;
        }
        self.lower_nested(ctx, ty, 0, &mut Size::default()).unwrap_or(ty)
    }

    /// Lowers a type below `depth` others, and adds up the size of the result.
    fn lower_nested(&self, ctx: &Context, ty: Type, depth: usize, size: &mut Size) -> Result<Type, Stop> {
        if depth > MAX_DEPTH {
            return Err(Stop::TooLarge);
        }
        let kind = ty.kind(ctx);
        if let TypeKind::Dialect { name, params } = kind {
            match self.0.get(ctx.str(*name)) {
                Some(Stored::Type(ty, own)) => {
                    size.add(*own, depth);
                    return Ok(*ty);
                }
                Some(Stored::Open(_)) => return Err(Stop::Needs(ctx.str(*name).to_owned())),
                Some(Stored::Parameter(number)) => {
                    let stored = params.get(*number).and_then(|own| own.as_type(ctx));
                    return stored.map_or(Ok(ty), |own| self.lower_nested(ctx, own, depth + 1, size));
                }
                None => {}
            }
        }
        size.add(Size { types: 1, depth: 0 }, depth);
        let mut low = |ty: Type| self.lower_nested(ctx, ty, depth + 1, size);
        let mut all = |types: &[Type]| types.iter().map(|ty| low(*ty)).collect::<Result<Box<[Type]>, Stop>>();
        Ok(ctx.ty(match kind {
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
            _ => return Ok(ty),
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
