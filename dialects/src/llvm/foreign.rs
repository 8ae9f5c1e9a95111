//! Types of this dialect that hold types of others, such as `!llvm.array<2 x index>` on the way to
//! LLVM.
//!
//! Linear in the size of the type.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Context, Name, Type};

use super::types::{self, LlvmType};

/// Returns all parts of a type that are not types of LLVM IR, including the type itself. A type
/// that contains a foreign part is foreign too. A mention of a struct inside itself is foreign if
/// the whole struct is.
pub(super) fn foreign_parts(ctx: &Context, root: Type) -> HashSet<Type> {
    if types::is_compatible(ctx, root) {
        return HashSet::new();
    }
    let parts = Parts::of(ctx, root);
    let mut foreign = HashSet::new();
    let mut work = parts.leaves;
    while let Some(ty) = work.pop() {
        if foreign.insert(ty) {
            work.extend(parts.holders.get(&ty).into_iter().flatten());
        }
    }
    foreign
}

#[derive(Default)]
struct Parts {
    /// Types of other dialects.
    leaves: Vec<Type>,
    /// For each part, the types that are foreign if the part is foreign.
    holders: HashMap<Type, Vec<Type>>,
}

impl Parts {
    fn of(ctx: &Context, root: Type) -> Parts {
        let mut parts = Parts::default();
        let mut wholes: HashMap<Name, Type> = HashMap::new();
        let mut names: Vec<(Name, Type)> = Vec::new();
        let mut work = vec![root];
        let mut seen = HashSet::new();
        while let Some(ty) = work.pop() {
            if !seen.insert(ty) {
                continue;
            }
            let inner = match LlvmType::of(ctx, ty) {
                Some(LlvmType::Array { element, .. }) => vec![element],
                Some(LlvmType::Struct(of)) => {
                    match (of.name, &of.body) {
                        (Some(name), Some(_)) => drop(wholes.insert(name, ty)),
                        (Some(name), None) => names.push((name, ty)),
                        (None, _) => {}
                    }
                    of.body.unwrap_or_default()
                }
                Some(LlvmType::Function { result, mut params, .. }) => {
                    params.push(result);
                    params
                }
                Some(_) => Vec::new(),
                None => {
                    parts.leaves.extend((!types::is_compatible(ctx, ty)).then_some(ty));
                    Vec::new()
                }
            };
            for part in inner {
                parts.holders.entry(part).or_default().push(ty);
                work.push(part);
            }
        }
        for (name, ty) in names {
            if let Some(whole) = wholes.get(&name) {
                parts.holders.entry(*whole).or_default().push(ty);
            }
        }
        parts
    }
}
