//! Base objects: the memory that a memref value can refer to.
//!
//! Two SSA values are not two buffers. A value is followed through casts and views to its object.
//! Two objects are distinct only if this is known: different allocations, different globals, an
//! allocation and any older object, arguments that are declared not to overlap. The [`AliasMode`]
//! adds assumptions.
//!
//! # Assumptions
//!
//! - An allocation is distinct from every older object, whatever its memory space.
//! - Results of `memref.distinct_objects` are distinct in one execution; results of different
//!   iterations may overlap. Tried in `fixtures/distribution/cuts.mlir`.
//! - Variables of the `llvm` dialect are distinct, as LLVM assumes, even if a linker may give one
//!   place two names. An argument with `noalias` does not overlap a global.
//! - A cast with sizes of its own may exceed its argument; then nothing is known about it.
//! - Arguments of a function that a pass made are none that a user speaks of. Tried in
//!   `fixtures/schedules/outlined.mlir`.

use std::sync::Arc;

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::{Conditional, EffectKind, MemoryEffects, Resource, ViewLike};
use loomir_dialects::llvm::types::LlvmType;
use loomir_dialects::{llvm, memref};
use loomir_ir::pass::Options;
use loomir_ir::{AttrKind, Body, Context, Name, Op, Type, TypeKind, Value, ValueDef};

use crate::marks;

/// The assumption about memrefs that nothing is known about.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AliasMode {
    /// Two memref arguments of a function do not overlap. A run-time check guards this assumption,
    /// and the fallback is the original code.
    #[default]
    Version,
    /// They may overlap.
    May,
    /// Two memref arguments of a function do not overlap.
    Distinct,
}

impl AliasMode {
    /// Returns the mode for a place where nothing can be tested.
    pub fn untested(self) -> AliasMode {
        if self == AliasMode::Version { AliasMode::May } else { self }
    }

    /// Returns the mode for a function whose arguments the user says nothing of.
    fn without_promise(self) -> AliasMode {
        if self == AliasMode::Distinct { AliasMode::May } else { self }
    }

    /// The option `alias` of passes that add no run-time checks.
    pub const UNTESTED: (&'static str, &'static str, &'static str) =
        ("alias", "may", "may arguments of functions overlap: may, or distinct");

    /// Reads the option [`UNTESTED`](AliasMode::UNTESTED).
    ///
    /// # Errors
    ///
    /// A value that is neither `may` nor `distinct`.
    pub fn untested_of(options: &Options) -> Result<AliasMode, String> {
        match options.parse("alias", AliasMode::May)? {
            AliasMode::Version => Err("'version' is not possible; 'may' and 'distinct' are".to_owned()),
            alias => Ok(alias),
        }
    }
}

impl std::str::FromStr for AliasMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "version" => Ok(AliasMode::Version),
            "may" => Ok(AliasMode::May),
            "distinct" => Ok(AliasMode::Distinct),
            _ => Err(format!("'{text}' is none of 'version', 'may' and 'distinct'")),
        }
    }
}

/// The origin of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Base {
    /// Made by this allocation. Each execution makes another object.
    Allocation(Value),
    /// The global of this name.
    Global(Name),
    /// Passed in as this argument of the function.
    Argument(Value),
    /// A result of a `memref.distinct_objects` in no loop: distinct from its other results.
    Distinct(Value),
    /// Unknown origin or extent.
    Unknown(Value),
    /// Not memory: the loop-carried values of a loop.
    Carried(Op),
    /// Not memory: the fact that control continues. Read by operations that may be undefined.
    /// Written, like everything else, by operations that touch the world.
    Exit,
    /// Anything, and the world outside.
    World,
}

impl Base {
    /// Returns the name of the object, if it is memory and has one.
    pub(crate) fn named_by(self) -> Option<Named> {
        match self {
            Base::Allocation(value)
            | Base::Argument(value)
            | Base::Distinct(value)
            | Base::Unknown(value) => Some(Named::Value(value)),
            Base::Global(name) => Some(Named::Global(name)),
            Base::Carried(_) | Base::Exit | Base::World => None,
        }
    }
}

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Named {
    /// A memref, or a pointer.
    Value(Value),
    /// A global.
    Global(Name),
}

impl Named {
    /// Returns the value that is the name.
    pub fn value(self) -> Option<Value> {
        match self {
            Named::Value(value) => Some(value),
            Named::Global(_) => None,
        }
    }

    /// Returns a key by which names can be sorted. Globals come last; all are equal, because two
    /// globals are never compared.
    pub(crate) fn order(self) -> (bool, usize) {
        match self {
            Named::Value(value) => (false, value.index()),
            Named::Global(_) => (true, 0),
        }
    }
}

/// The relation of two objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overlap {
    /// One object.
    Same,
    /// They may overlap.
    May,
    /// Accesses of the two objects are assumed not to overlap.
    AssumedApart,
    /// Distinct.
    Apart,
}

/// Returns the size in bytes of an element of a memref, if it is the same on every target: numbers
/// of 8, 16, 32 and 64 bits.
pub fn bytes_of_element(ctx: &Context, ty: Type) -> Option<i64> {
    let bits = match ty.kind(ctx) {
        TypeKind::Index => 64,
        TypeKind::Integer { width, .. } => *width,
        TypeKind::Float(kind) => kind.width(),
        _ => return None,
    };
    matches!(bits, 8 | 16 | 32 | 64).then(|| i64::from(bits / 8))
}

/// The most values that [`may_overlap`] compares.
const MAX_COMPARED: usize = 64;

/// True if two of these memrefs or pointers may overlap although no two arguments of the function
/// do. Other values do not matter.
pub fn may_overlap(body: &Body, values: &[Value]) -> bool {
    let ctx = body.ctx();
    let is_address = |value: &&Value| {
        let ty = body.value_type(**value);
        matches!(ty.kind(ctx), TypeKind::MemRef { .. })
            || matches!(LlvmType::of(ctx, ty), Some(LlvmType::Pointer { .. }))
    };
    let mut bases = Bases::new(body, AliasMode::Distinct);
    let all: Vec<Base> = values.iter().filter(is_address).map(|value| bases.of(*value).0).collect();
    let overlap = |a: Base, b: Base| matches!(bases.overlap(a, b), Overlap::Same | Overlap::May);
    all.len() > MAX_COMPARED
        || all.iter().enumerate().any(|(at, a)| all[..at].iter().any(|b| overlap(*a, *b)))
}

/// True if a value is a pointer to the address space of ordinary memory.
fn is_plain_pointer(body: &Body, value: Value) -> bool {
    LlvmType::of(body.ctx(), body.value_type(value)) == Some(LlvmType::Pointer { space: 0 })
}

/// Finds base objects, each value once.
pub struct Bases<'b> {
    body: &'b Body,
    mode: AliasMode,
    /// For each value its base, and the value that it renames. Casts that keep subscripts are
    /// renamings.
    memo: HashMap<Value, (Base, Value)>,
    /// The names of variables of the `llvm` dialect, which are objects of their own.
    variables: Arc<HashSet<Name>>,
    /// True if accesses through two pointers may be tested at run time.
    tests_pointers: bool,
}

impl<'b> Bases<'b> {
    /// Bases in a body. A user speaks of arguments of the user's own functions only.
    pub fn new(body: &'b Body, mode: AliasMode) -> Self {
        let is_own = body.attr(body.root(), marks::OVERLAPPING).is_none();
        let mode = if is_own { mode } else { mode.without_promise() };
        Bases { body, mode, memo: HashMap::new(), variables: Arc::default(), tests_pointers: false }
    }

    /// Returns the same bases, where accesses through pointers may be tested at run time too.
    /// Whoever assumes two pointers apart must know the [extents](crate::regenerate::extents) of
    /// their accesses.
    #[must_use]
    pub(crate) fn testing_pointers(self) -> Self {
        Bases { tests_pointers: true, ..self }
    }

    /// Returns the same bases, where these names are variables of the `llvm` dialect. Other names,
    /// such as aliases, may be other names of an object.
    #[must_use]
    pub fn with_variables(self, variables: &Arc<HashSet<Name>>) -> Self {
        Bases { variables: variables.clone(), ..self }
    }

    /// Returns the base of a memref value, and the value that its subscripts are relative to:
    /// itself, or the source of a cast.
    pub fn of(&mut self, value: Value) -> (Base, Value) {
        if let Some(known) = self.memo.get(&value) {
            return *known;
        }
        let mut current = value;
        let mut renaming = true;
        let mut origin = value;
        let mut reaches_further = false;
        let base = loop {
            if let Some((base, known)) = self.memo.get(&current) {
                if renaming {
                    origin = *known;
                }
                break *base;
            }
            let ValueDef::OpResult { op, .. } = self.body.def(current) else {
                break self.argument_base(current);
            };
            if self.body.is(op, memref::DistinctObjectsOp::DEF) {
                break if self.runs_once(op) { Base::Distinct(current) } else { Base::Unknown(current) };
            }
            let view = self.body.op_ref(op);
            let Some(next) = view.info().interface::<dyn ViewLike>().map(|model| model.source(view)) else {
                break self.result_base(op, current);
            };
            // It has sizes of its own and may exceed its source.
            reaches_further |= self.body.is(op, memref::ReinterpretCastOp::DEF);
            if !self.body.is(op, memref::CastOp::DEF) {
                renaming = false;
            } else if renaming {
                origin = next;
            }
            current = next;
        };
        let base = match base {
            Base::Argument(value) | Base::Distinct(value) if reaches_further => Base::Unknown(value),
            base => base,
        };
        // Only `value` itself is remembered. Its sources have the same base, but origins of their
        // own.
        self.memo.insert(value, (base, origin));
        (base, origin)
    }

    fn argument_base(&self, value: Value) -> Base {
        let ValueDef::BlockArgument { block, .. } = self.body.def(value) else { return Base::Unknown(value) };
        let region = self.body.block_region(block);
        if self.body.region_parent(region) == self.body.root() && self.body.is_entry(block) {
            Base::Argument(value)
        } else {
            Base::Unknown(value)
        }
    }

    /// True if an operation runs at most once in an execution of the function's block: it is in no
    /// loop. Facts about its results then hold for one execution.
    fn runs_once(&self, op: Op) -> bool {
        let body = self.body;
        let mut around = std::iter::successors(body.parent_op(op), |op| body.parent_op(*op));
        around
            .all(|op| body.parent_op(op).is_none() || body.info(op).interface::<dyn Conditional>().is_some())
    }

    fn result_base(&self, op: Op, value: Value) -> Base {
        let view = self.body.op_ref(op);
        if self.body.is(op, memref::GetGlobalOp::DEF)
            && let Some(name) = view.attr("name").and_then(|a| a.as_flat_symbol(self.body.ctx()))
        {
            return Base::Global(name);
        }
        if self.body.is(op, llvm::AddressOfOp::DEF)
            && let Some(name) = view.attr("global_name").and_then(|a| a.as_flat_symbol(self.body.ctx()))
            && self.variables.contains(&name)
            && is_plain_pointer(self.body, value)
        {
            return Base::Global(name);
        }
        let allocates = view.info().interface::<dyn MemoryEffects>().is_some_and(|model| {
            let effects = model.effects(view);
            effects.iter().any(|e| e.kind == EffectKind::Allocate && e.on == Resource::Value(value))
        });
        if allocates { Base::Allocation(value) } else { Base::Unknown(value) }
    }

    /// Returns the relation of two objects.
    pub fn overlap(&self, a: Base, b: Base) -> Overlap {
        let sure = self.known_overlap(a, b);
        let is_assumed = || match (self.mode, a, b) {
            (AliasMode::Distinct, Base::Argument(_), Base::Argument(_)) => true,
            (AliasMode::Version, a, b) => self.can_be_tested(a, b),
            _ => false,
        };
        if sure == Overlap::May && is_assumed() { Overlap::AssumedApart } else { sure }
    }

    /// Returns the relation of two objects without assumptions.
    fn known_overlap(&self, a: Base, b: Base) -> Overlap {
        use Base::{Allocation, Argument, Carried, Distinct, Exit, Global, Unknown, World};
        if a == b && a != World {
            return Overlap::Same;
        }
        match (a, b) {
            (Carried(_), _) | (_, Carried(_)) => Overlap::Apart,
            (World, _) | (_, World) => Overlap::May,
            (Exit, _) | (_, Exit) => Overlap::Apart,
            (Unknown(_), _) | (_, Unknown(_)) => Overlap::May,
            (Distinct(x), Distinct(y)) => {
                let same_op = self.body.defining_op(x) == self.body.defining_op(y);
                if same_op { Overlap::Apart } else { Overlap::May }
            }
            (Distinct(_), _) | (_, Distinct(_)) => Overlap::May,
            (Allocation(_), _) | (_, Allocation(_)) => Overlap::Apart,
            (Global(_), Global(_)) => Overlap::Apart,
            (Argument(x), Argument(y)) if self.is_noalias(x) || self.is_noalias(y) => Overlap::Apart,
            (Argument(x), Global(_)) | (Global(_), Argument(x)) if self.is_noalias(x) => Overlap::Apart,
            (Argument(_), Argument(_) | Global(_)) | (Global(_), Argument(_)) => Overlap::May,
        }
    }

    /// True if a run-time check can tell that accesses of two objects that may overlap are apart.
    fn can_be_tested(&self, a: Base, b: Base) -> bool {
        let (Some(x), Some(y)) = (a.named_by(), b.named_by()) else { return false };
        let is_pointer = |named| match named {
            Named::Value(value) => is_plain_pointer(self.body, value),
            // Memory of a memref behind it has no known extent.
            Named::Global(_) => true,
        };
        match (a, b) {
            _ if self.tests_pointers && is_pointer(x) && is_pointer(y) => true,
            (Base::Argument(x), Base::Argument(y)) => self.has_range(x) && self.has_range(y),
            _ => false,
        }
    }

    /// True if the address range of a memref, from its address on, can be computed at run time.
    fn has_range(&self, value: Value) -> bool {
        let ctx = self.body.ctx();
        match self.body.value_type(value).kind(ctx) {
            TypeKind::MemRef { shape: Some(_), layout: None, element, memory_space: None } => {
                bytes_of_element(ctx, *element).is_some()
            }
            _ => false,
        }
    }

    fn is_noalias(&self, argument: Value) -> bool {
        let ctx = self.body.ctx();
        let ValueDef::BlockArgument { index, .. } = self.body.def(argument) else { return false };
        let attrs = self.body.attr(self.body.root(), "arg_attrs").and_then(|attrs| attrs.as_array(ctx));
        let Some(attr) = attrs.and_then(|attrs| attrs.get(index)) else { return false };
        match attr.kind(ctx) {
            AttrKind::Dictionary(dict) => dict.get(ctx, "llvm.noalias").is_some(),
            _ => false,
        }
    }
}
