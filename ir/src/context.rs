//! The context: everything programs share, uniqued once, and the dialects that are registered.
//!
//! A [`Context`] is a cheap handle (one reference count) and may be used from several threads. It
//! only ever grows: what it uniques lives as long as it does. Dialects are registered explicitly in
//! a [`Registry`] before the context is made, so what an operation means never changes under a
//! running pass.
//!
//! ```
//! use loomir_ir::{Context, Registry, Type, TypeKind};
//! let ctx = Context::new(Registry::new());
//! let vector = TypeKind::Vector { shape: [4].into(), scalable: [false].into(), element: Type::F32 };
//! assert_eq!(ctx.ty(vector.clone()), ctx.ty(vector));
//! ```

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::affine::{
    AffineExpr, AffineExprKind, AffineExprNode, AffineMap, AffineMapData, AffineMapKey, IntegerSet,
    IntegerSetData,
};
use crate::attributes::{Attr, AttrKind, Dict};
use crate::location::{Loc, LocKind, Packed};
use crate::opdef::runtime::{DefRef, RuntimeDialects, RuntimeTables};
use crate::opdef::{DialectDef, EnumDef, OPERAND_SEGMENTS, OpDef, RESULT_SEGMENTS, StructAttrDef, TypeDef};
use crate::symbols::{SYMBOL_NAME, SYMBOL_VISIBILITY};
use crate::types::{FloatKind, Signedness, Type, TypeKind, WELL_KNOWN};
pub(crate) use interner::{AsKey, Interner};
use op_info::Interfaces;
pub use op_info::OpInfo;

mod interner;
mod op_info;

/// A uniqued string.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Name(u32);

/// The name of an operation, registered or not.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OpName(pub(crate) u32);

impl Name {
    // Names that every operation is asked for, in the order in which a context makes them.
    pub(crate) const SYMBOL_NAME: Name = Name(0);
    pub(crate) const SYMBOL_VISIBILITY: Name = Name(1);
    pub(crate) const OPERAND_SEGMENTS: Name = Name(2);
    pub(crate) const RESULT_SEGMENTS: Name = Name(3);
}

impl OpName {
    /// A name to fill vacant records with.
    pub(crate) const FIRST: OpName = OpName(0);
}

/// The dialects and interfaces a [`Context`] is made with.
#[derive(Debug, Default)]
pub struct Registry {
    pub(crate) dialects: Vec<&'static DialectDef>,
    pub(crate) runtime: RuntimeDialects,
    elsewhere: HashMap<&'static str, &'static str>,
    kept_attributes: HashMap<&'static str, fn(&str) -> bool>,
    interfaces: HashMap<String, Interfaces>,
    tables: Vec<Table>,
}

/// A table of another module, by its type.
type Table = Arc<dyn Any + Send + Sync>;

impl Registry {
    /// A registry without dialects. (`builtin.module` comes with the dialect `builtin`.)
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a dialect with the interfaces of its operations. Registering one twice changes
    /// nothing.
    pub fn dialect(&mut self, def: &'static DialectDef) -> &mut Self {
        if !self.dialects.iter().any(|d| std::ptr::eq(*d, def)) {
            self.dialects.push(def);
            (def.interfaces)(self);
        }
        self
    }

    /// Tells how to do without a dialect that is not registered: the way out in diagnostics about
    /// it.
    pub fn elsewhere(&mut self, dialect: &'static str, help: &'static str) -> &mut Self {
        self.elsewhere.insert(dialect, help);
        self
    }

    /// Registers an attribute that is kept as it is written, by its full name. `accepts` is asked
    /// whether what follows the name, without aliases, is well-formed.
    pub fn kept_attribute(&mut self, name: &'static str, accepts: fn(&str) -> bool) -> &mut Self {
        self.kept_attributes.insert(name, accepts);
        self
    }

    /// Keeps a table for a module that contexts know nothing of: [`Context::tables`] finds it.
    pub fn keep_table(&mut self, table: impl Any + Send + Sync) {
        self.tables.push(Arc::new(table));
    }

    /// Attaches an implementation of interface `I` to the operation called `op`, registered or not,
    /// replacing one that is there. Any crate may do so for any operation.
    pub fn attach<I: ?Sized + 'static>(&mut self, op: &str, model: Box<I>) -> &mut Self
    where
        Box<I>: Send + Sync,
    {
        self.interfaces.entry_ref(op).or_default().insert(TypeId::of::<Box<I>>(), Box::new(model));
        self
    }

    /// Attaches an implementation of interface `I` to an operation, given by its definition.
    ///
    /// The section `interfaces` of [`dialect!`](crate::dialect!) does so when the dialect is
    /// registered.
    pub fn attach_to<I: ?Sized + 'static>(&mut self, op: &OpDef, model: Box<I>) -> &mut Self
    where
        Box<I>: Send + Sync,
    {
        self.attach(&op.name, model)
    }
}

/// Everything that programs share. See the [module](self).
#[derive(Clone)]
pub struct Context(Arc<Shared>);

/// Blobs of the resource section, by dialect and key.
type Resources = HashMap<(Name, Name), Arc<[u8]>>;

struct Shared {
    strings: Interner<Box<str>>,
    types: Interner<TypeKind>,
    attrs: Interner<AttrKind>,
    dicts: Interner<Box<[(Name, Attr)]>>,
    exprs: Interner<AffineExprNode>,
    maps: Interner<AffineMapData>,
    sets: Interner<IntegerSetData>,
    /// Locations that are not their own handle.
    locs: Interner<LocKind>,
    /// The first files that locations named.
    files: [OnceLock<Name>; Packed::FILES],
    resources: RwLock<Resources>,
    op_ids: RwLock<HashMap<Name, OpName>>,
    op_infos: boxcar::Vec<OpInfo>,
    compiled_in: OnceLock<HashMap<usize, OpName, FixedState>>,
    dialects: Vec<&'static DialectDef>,
    dialect_names: HashMap<Name, Option<usize>>,
    elsewhere: HashMap<&'static str, &'static str>,
    kept_attributes: HashMap<&'static str, fn(&str) -> bool>,
    enums: HashMap<Name, &'static EnumDef>,
    type_defs: HashMap<Name, TypeDef>,
    runtime: RuntimeTables,
    attr_defs: HashMap<Name, StructAttrDef>,
    tables: Vec<Table>,
    arenas: AtomicU32,
}

impl Shared {
    /// Returns the tables of a context, without the content that the dialects give them.
    fn of(
        dialects: Vec<&'static DialectDef>,
        elsewhere: HashMap<&'static str, &'static str>,
        kept_attributes: HashMap<&'static str, fn(&str) -> bool>,
    ) -> Self {
        Shared {
            strings: Interner::new(),
            types: Interner::new(),
            attrs: Interner::new(),
            dicts: Interner::new(),
            exprs: Interner::new(),
            maps: Interner::new(),
            sets: Interner::new(),
            locs: Interner::new(),
            files: Default::default(),
            resources: RwLock::default(),
            op_ids: RwLock::default(),
            op_infos: boxcar::Vec::new(),
            compiled_in: OnceLock::new(),
            dialects,
            dialect_names: HashMap::new(),
            elsewhere,
            kept_attributes,
            enums: HashMap::new(),
            type_defs: HashMap::new(),
            runtime: RuntimeTables::default(),
            attr_defs: HashMap::new(),
            tables: Vec::new(),
            arenas: AtomicU32::new(0),
        }
    }

    /// Interns what has a constant for its handle, in the order of the constants.
    fn intern_fixed_handles(&self) {
        for name in [SYMBOL_NAME, SYMBOL_VISIBILITY, OPERAND_SEGMENTS, RESULT_SEGMENTS] {
            self.strings.intern(name, Box::from);
        }
        for kind in &WELL_KNOWN {
            self.types.intern(kind.clone(), |k| k);
        }
        self.attrs.intern(AttrKind::Unit, |k| k);
        for value in [0, -1] {
            self.attrs.intern(AttrKind::Integer { value, ty: Type::I1 }, |k| k);
        }
        self.dicts.intern(Box::default(), |k| k);
        self.locs.intern(LocKind::Unknown, |k| k);
    }

    fn intern_name(&self, text: &str) -> Name {
        Name(self.strings.intern(text, Box::from))
    }

    /// Adds the names, enumerations, types and attributes of the dialects. Returns the definitions
    /// of their operations.
    fn add_dialects(&mut self) -> Vec<DefRef> {
        let mut defs = Vec::new();
        for (i, entry) in self.dialects.clone().into_iter().enumerate() {
            let name = self.intern_name(&entry.name);
            self.dialect_names.insert(name, Some(i));
            defs.extend(entry.ops.iter().map(|op| DefRef::Static(op)));
            for def in entry.enums.iter() {
                let name = self.intern_name(def.name);
                self.enums.insert(name, def);
            }
            for def in entry.types.iter() {
                let name = self.intern_name(def.name);
                self.type_defs.insert(name, *def);
            }
            for def in entry.attrs.iter() {
                let name = self.intern_name(def.name);
                self.attr_defs.insert(name, *def);
            }
        }
        defs
    }

    /// Adds the names, types and attributes of dialects that were loaded at run time. Returns the
    /// definitions of their operations.
    fn add_runtime_dialects(&mut self, mut dialects: RuntimeDialects) -> Vec<DefRef> {
        for dialect in dialects.names() {
            let name = self.intern_name(dialect);
            self.dialect_names.entry(name).or_insert(None);
        }
        let ops = dialects.take_ops().into_iter().map(|def| DefRef::Owned(Arc::new(def))).collect();
        self.runtime = dialects.into_tables(|text| self.intern_name(text));
        ops
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Context")
    }
}

const _: () = {
    const fn shared_between_threads<T: Send + Sync>() {}
    shared_between_threads::<Context>();
};

impl Context {
    /// A context that knows the dialects and interfaces of `registry`.
    ///
    /// # Panics
    /// If an interface is attached to an operation that its registered dialect does not have. In a
    /// debug build also if a compiled-in definition has an assembly format that doesn't parse: a
    /// defect of the program that defines the dialect, found the first time it runs. Otherwise the
    /// format is parsed when it is needed.
    pub fn new(registry: Registry) -> Self {
        let Registry { dialects, runtime, elsewhere, kept_attributes, interfaces, tables } = registry;
        let mut shared = Shared::of(dialects, elsewhere, kept_attributes);
        shared.tables = tables;
        shared.intern_fixed_handles();
        let mut defs = shared.add_dialects();
        defs.extend(shared.add_runtime_dialects(runtime));
        let ctx = Context(Arc::new(shared));
        ctx.add_ops(defs, interfaces);
        if cfg!(debug_assertions) {
            for (_, info) in ctx.0.op_infos.iter() {
                info.format(&ctx);
            }
        }
        ctx
    }

    /// Adds the operations with the interfaces attached to them, then the interfaces attached to
    /// operations that no dialect defines.
    fn add_ops(&self, defs: Vec<DefRef>, mut interfaces: HashMap<String, Interfaces>) {
        for def in defs {
            let attached = interfaces.remove(&*def.name).unwrap_or_default();
            self.add_op(&def.name.clone(), Some(def), attached);
        }
        // The order of insertion fixes ids, and nothing reads them.
        #[allow(clippy::iter_over_hash_type)]
        for (name, attached) in interfaces {
            let dialect = name.split_once('.').and_then(|(dialect, _)| self.dialect(dialect));
            let is_known = dialect.is_some_and(|dialect| !dialect.allows_unknown_ops);
            assert!(!is_known, "an interface is attached to '{name}', which its dialect does not have");
            self.add_op(&name, None, attached);
        }
    }

    fn add_op(&self, full_name: &str, def: Option<DefRef>, interfaces: Interfaces) -> OpName {
        let name = self.name(full_name);
        // A poisoned lock: some thread panicked between two whole states of the table.
        let mut ids = self.0.op_ids.write().unwrap_or_else(|e| e.into_inner());
        *ids.entry(name).or_insert_with(|| {
            OpName(self.0.op_infos.push(OpInfo::new(self, full_name, def, interfaces)) as u32)
        })
    }

    // Names.

    /// The handle of a string.
    pub fn name(&self, text: &str) -> Name {
        Name(self.0.strings.intern(text, Box::from))
    }

    /// The string of a handle.
    #[inline]
    pub fn str(&self, name: Name) -> &str {
        self.0.strings.get(name.0)
    }

    /// The handle of an operation's full name, registered or not.
    pub fn op_name(&self, text: &str) -> OpName {
        let name = self.name(text);
        let known = self.0.op_ids.read().unwrap_or_else(|e| e.into_inner()).get(&name).copied();
        known.unwrap_or_else(|| self.add_op(text, None, HashMap::new()))
    }

    /// The handle of a full name that is registered.
    pub fn registered_op(&self, text: &str) -> Option<OpName> {
        let name = self.name(text);
        let known = self.0.op_ids.read().unwrap_or_else(|e| e.into_inner()).get(&name).copied()?;
        self.op_info(known).def().is_some().then_some(known)
    }

    /// The handle of a compiled-in definition's name.
    pub fn op_name_of(&self, def: &OpDef) -> OpName {
        let known = self.0.compiled_in.get_or_init(|| self.compiled_in()).get(&(&raw const *def).addr());
        known.copied().unwrap_or_else(|| self.op_name(&def.name))
    }

    /// The names of compiled-in definitions, by the addresses of these. A definition stays where it
    /// is, and this is quicker than by the text of the name.
    fn compiled_in(&self) -> HashMap<usize, OpName, FixedState> {
        let address = |info: &OpInfo| info.compiled_in().map(|def| (&raw const *def).addr());
        let all = self.0.op_infos.iter();
        all.filter_map(|(name, info)| Some((address(info)?, OpName(name as u32)))).collect()
    }

    /// Returns the registered information about operations of this name.
    #[inline]
    pub fn op_info(&self, name: OpName) -> &OpInfo {
        &self.0.op_infos[name.0 as usize]
    }

    /// The full name of an operation, `arith.addi`.
    pub fn op_str(&self, name: OpName) -> &str {
        self.str(self.op_info(name).name())
    }

    /// The registered dialect called `name`.
    pub fn dialect(&self, name: &str) -> Option<&'static DialectDef> {
        let index = (*self.0.dialect_names.get(&self.name(name))?)?;
        Some(self.0.dialects[index])
    }

    /// True if a dialect of this name is registered, compiled in or loaded at run time.
    pub fn is_registered_dialect(&self, name: &str) -> bool {
        self.0.dialect_names.contains_key(&self.name(name))
    }

    /// Returns what tells whether the text of an attribute that is
    /// [kept as written](Registry::kept_attribute) is well-formed.
    pub(crate) fn kept_attribute(&self, name: &str) -> Option<fn(&str) -> bool> {
        self.0.kept_attributes.get(name).copied()
    }

    /// Returns the way to do without a dialect that is not registered, if one is known.
    pub fn elsewhere(&self, dialect: &str) -> Option<&'static str> {
        self.0.elsewhere.get(dialect).copied()
    }

    /// The definitions of all registered operations.
    pub fn registered_ops(&self) -> impl Iterator<Item = &OpDef> {
        self.0.op_infos.iter().filter_map(|(_, info)| info.def())
    }

    /// All compiled-in dialects in order of registration.
    pub fn dialects(&self) -> &[&'static DialectDef] {
        &self.0.dialects
    }

    /// Returns the tables of one type, in order of registration.
    pub fn tables<T: 'static>(&self) -> impl Iterator<Item = &T> {
        self.0.tables.iter().filter_map(|table| table.downcast_ref())
    }

    /// The enumeration whose attribute has this full name.
    pub fn enum_def(&self, name: Name) -> Option<&'static EnumDef> {
        self.0.enums.get(&name).copied()
    }

    /// The dialect type of this full name.
    pub fn type_def(&self, name: Name) -> Option<TypeDef> {
        self.0.type_defs.get(&name).copied()
    }

    /// The types and attributes that were loaded at run time.
    pub(crate) fn runtime(&self) -> &RuntimeTables {
        &self.0.runtime
    }

    /// The structured attribute of this full name.
    pub fn struct_attr_def(&self, name: Name) -> Option<StructAttrDef> {
        self.0.attr_defs.get(&name).copied()
    }

    // Types.

    /// The handle of a type.
    pub fn ty(&self, kind: TypeKind) -> Type {
        Type(self.0.types.intern(kind, |k| k))
    }

    #[inline]
    pub(crate) fn type_kind(&self, ty: Type) -> &TypeKind {
        match WELL_KNOWN.get(ty.0 as usize) {
            Some(kind) => kind,
            None => self.0.types.get(ty.0),
        }
    }

    /// `i<width>`.
    pub fn int_type(&self, width: u32) -> Type {
        self.ty(TypeKind::Integer { width, signedness: Signedness::Signless })
    }

    /// A floating-point type.
    pub fn float_type(&self, kind: FloatKind) -> Type {
        self.ty(TypeKind::Float(kind))
    }

    /// `(inputs) -> results`.
    pub fn function_type(&self, inputs: &[Type], results: &[Type]) -> Type {
        self.ty(TypeKind::Function { inputs: inputs.into(), results: results.into() })
    }

    /// A memref of the identity layout in the default space.
    pub fn memref_type(&self, shape: &[i64], element: Type) -> Type {
        self.ty(TypeKind::MemRef { shape: Some(shape.into()), element, layout: None, memory_space: None })
    }

    /// A fixed-length vector.
    pub fn vector_type(&self, shape: &[i64], element: Type) -> Type {
        self.ty(TypeKind::Vector { shape: shape.into(), scalable: vec![false; shape.len()].into(), element })
    }

    /// The type of a dialect with this full name (`llvm.array`) and parameters.
    pub fn dialect_type(&self, name: &str, params: &[Attr]) -> Type {
        self.ty(TypeKind::Dialect { name: self.name(name), params: params.into() })
    }

    // Attributes.

    /// The handle of an attribute.
    pub fn attr(&self, kind: AttrKind) -> Attr {
        Attr(self.0.attrs.intern(kind, |k| k))
    }

    #[inline]
    pub(crate) fn attr_kind(&self, attr: Attr) -> &AttrKind {
        self.0.attrs.get(attr.0)
    }

    /// `value : ty`, the value wrapped to the type's width. `ty` is an integer type of at most 128
    /// bits or `index`.
    pub fn int_attr(&self, ty: Type, value: impl Into<i128>) -> Attr {
        let value = self.wrapped(ty, value.into());
        self.attr(AttrKind::Integer { value, ty })
    }

    /// A number wrapped to the width of such a type.
    pub(crate) fn wrapped(&self, ty: Type, value: i128) -> i128 {
        let (width, unsigned) = match ty.kind(self) {
            TypeKind::Integer { width, signedness } => (*width, *signedness == Signedness::Unsigned),
            _ => (64, false),
        };
        let shift = 128 - width.clamp(1, 128);
        if unsigned { (((value as u128) << shift) >> shift) as i128 } else { (value << shift) >> shift }
    }

    /// `value : index`.
    pub fn index_attr(&self, value: i64) -> Attr {
        self.int_attr(Type::INDEX, value)
    }

    /// `true` or `false`.
    pub fn bool_attr(&self, value: bool) -> Attr {
        if value { Attr::TRUE } else { Attr::FALSE }
    }

    /// A float of type `f32` or `f64` nearest to `value`.
    pub fn float_attr(&self, ty: Type, value: f64) -> Attr {
        let bits =
            if ty == Type::F32 { u128::from((value as f32).to_bits()) } else { u128::from(value.to_bits()) };
        self.attr(AttrKind::Float { bits, ty })
    }

    /// `"text"`.
    pub fn string_attr(&self, text: &str) -> Attr {
        self.attr(AttrKind::String(text.as_bytes().into()))
    }

    /// A type as an attribute.
    pub fn type_attr(&self, ty: Type) -> Attr {
        self.attr(AttrKind::Type(ty))
    }

    /// `[…]`.
    pub fn array_attr(&self, elements: &[Attr]) -> Attr {
        self.attr(AttrKind::Array(elements.into()))
    }

    /// `@name`.
    pub fn symbol_attr(&self, name: &str) -> Attr {
        self.attr(AttrKind::Symbol { root: self.name(name), nested: Box::default() })
    }

    /// `array<iN: …>`; each value is cut to the type's width.
    pub fn dense_ints_attr(&self, element: Type, values: &[i64]) -> Attr {
        let width = element.integer_width(self).unwrap_or(64).div_ceil(8).clamp(1, 8) as usize;
        let mut bytes = Vec::with_capacity(values.len() * width);
        for value in values {
            bytes.extend_from_slice(&value.to_le_bytes()[..width]);
        }
        self.attr(AttrKind::DenseArray { element, bytes: bytes.into() })
    }

    /// The handle of a dictionary. Of two entries with one name the later wins.
    pub fn dict(&self, mut entries: Vec<(Name, Attr)>) -> Dict {
        if entries.len() > 1 {
            entries.reverse();
            entries.sort_by(|a, b| self.str(a.0).cmp(self.str(b.0)));
            entries.dedup_by_key(|e| e.0);
        }
        self.sorted_dict(&entries)
    }

    /// The handle of a dictionary of entries sorted by name.
    pub(crate) fn sorted_dict(&self, entries: &[(Name, Attr)]) -> Dict {
        Dict(self.0.dicts.intern(entries, Box::from))
    }

    #[inline]
    pub(crate) fn dict_entries(&self, dict: Dict) -> &[(Name, Attr)] {
        self.0.dicts.get(dict.0)
    }

    // Resources.

    /// Keeps a blob of the resource section (4 bytes of alignment, then the data) under its key. Of
    /// two blobs with one key the first stays.
    pub fn set_resource(&self, owner: &str, key: &str, blob: Box<[u8]>) {
        let key = (self.name(owner), self.name(key));
        let mut resources = self.0.resources.write().unwrap_or_else(|e| e.into_inner());
        resources.entry(key).or_insert_with(|| blob.into());
    }

    /// Returns true if there is a blob of any dialect.
    pub(crate) fn has_resources(&self) -> bool {
        !self.0.resources.read().unwrap_or_else(|e| e.into_inner()).is_empty()
    }

    /// The blob of a key in the resource section of a dialect.
    pub fn resource(&self, owner: &str, key: Name) -> Option<Arc<[u8]>> {
        let key = (self.name(owner), key);
        self.0.resources.read().unwrap_or_else(|e| e.into_inner()).get(&key).cloned()
    }

    // Affine.

    /// The handle of an expression as it stands, unsimplified; use [`AffineExpr`]'s methods to
    /// build.
    pub(crate) fn affine_expr(&self, kind: AffineExprKind) -> AffineExpr {
        AffineExpr(self.0.exprs.intern(AffineExprNode::new(self, kind), |node| node))
    }

    #[inline]
    pub(crate) fn affine_expr_node(&self, expr: AffineExpr) -> &AffineExprNode {
        self.0.exprs.get(expr.0)
    }

    pub(crate) fn affine_map(&self, key: AffineMapKey<'_>) -> AffineMap {
        AffineMap(self.0.maps.intern(key, AffineMapData::from))
    }

    pub(crate) fn affine_map_data(&self, map: AffineMap) -> &AffineMapData {
        self.0.maps.get(map.0)
    }

    pub(crate) fn integer_set(&self, data: IntegerSetData) -> IntegerSet {
        IntegerSet(self.0.sets.intern(data, |k| k))
    }

    pub(crate) fn integer_set_data(&self, set: IntegerSet) -> &IntegerSetData {
        self.0.sets.get(set.0)
    }

    // Locations.

    /// The handle of a location.
    pub fn loc(&self, kind: LocKind) -> Loc {
        if let LocKind::File { file, line, column } = kind
            && let Some(file) = self.file_slot(file)
            && let Some(loc) = (Packed { file, line, column }).pack()
        {
            return loc;
        }
        Loc(self.0.locs.intern(kind, |k| k))
    }

    /// The number by which packed locations know a file, if it is one of the first.
    pub(crate) fn file_slot(&self, file: Name) -> Option<usize> {
        self.0.files.iter().position(|slot| *slot.get_or_init(|| file) == file)
    }

    pub(crate) fn loc_kind(&self, loc: Loc) -> Cow<'_, LocKind> {
        if let Some(Packed { file, line, column }) = Packed::unpack(loc)
            && let Some(file) = self.0.files[file].get()
        {
            return Cow::Owned(LocKind::File { file: *file, line, column });
        }
        Cow::Borrowed(self.0.locs.get(loc.0))
    }

    /// A number that no other arena of this context has.
    pub(crate) fn new_arena(&self) -> u32 {
        self.0.arenas.fetch_add(1, Ordering::Relaxed)
    }
}
