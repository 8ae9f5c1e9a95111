//! Aliases: which attributes and types get one, and what it is called.
//!
//! Affine maps, integer sets, locations and distinct attributes have aliases, and what dialects
//! define so ([`StructAttrDef`](crate::opdef::StructAttrDef)). They are numbered by how deeply they
//! nest, types first, then by name, then in the order in which they are printed; so the printer
//! goes through the operations once before it writes. An alias whose only uses are locations of
//! operations is defined at the end, any other in front.

use hashbrown::HashMap;

use super::attributes::TypeElision;
use super::survey::Survey;
use crate::attributes::{Attr, AttrKind};
use crate::location::{Loc, LocKind};
use crate::opdef::runtime::ParametricDef;
use crate::text::OpPrinter;
use crate::types::{Type, TypeKind};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Symbol {
    Attr(Attr),
    Type(Type),
}

struct Visited {
    symbol: Symbol,
    /// Its name, if it has an alias.
    name: Option<&'static str>,
    /// 0 without an alias in it, else one more than the deepest inside.
    depth: u32,
    deferrable: bool,
    children: Vec<usize>,
}

/// The aliases of a text.
#[derive(Default)]
pub(crate) struct Aliases {
    index: HashMap<Symbol, usize, foldhash::fast::FixedState>,
    visited: Vec<Visited>,
    /// The nodes being looked into: the children of each so far, and the greatest depth among them.
    open: Vec<(Vec<usize>, u32)>,
    names: HashMap<Symbol, (String, bool), foldhash::fast::FixedState>,
    order: Vec<Symbol>,
    /// True if anything visited has an alias.
    found: bool,
}

/// The alias of an attribute, before its number.
fn name_of(ctx: &crate::Context, attr: Attr) -> Option<&'static str> {
    match attr.kind(ctx) {
        AttrKind::AffineMap(_) => Some("map"),
        AttrKind::IntegerSet(_) => Some("set"),
        AttrKind::Location(_) => Some("loc"),
        AttrKind::Distinct { inner, .. } if *inner != Attr::UNIT => Some("distinct"),
        AttrKind::Opaque { dialect, body, .. } => {
            let end = body.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(body.len());
            foreign_name(ctx.str(*dialect), &body[..end])
        }
        AttrKind::Dialect { name, .. } => ctx.struct_attr_def(*name)?.alias,
        _ => None,
    }
}

/// Attributes of MLIR's dialects that have aliases, and what those are called, where nobody
/// registered them. Definitions say it themselves.
const FOREIGN: &[(&str, &str)] = &[
    ("llvm.access_group", "access_group"),
    ("llvm.alias_scope", "alias_scope"),
    ("llvm.alias_scope_domain", "alias_scope_domain"),
    ("llvm.di_basic_type", "di_basic_type"),
    ("llvm.di_common_block", "di_common_block"),
    ("llvm.di_compile_unit", "di_compile_unit"),
    ("llvm.di_composite_type", "di_composite_type"),
    ("llvm.di_derived_type", "di_derived_type"),
    ("llvm.di_file", "di_file"),
    ("llvm.di_global_variable", "di_global_variable"),
    ("llvm.di_global_variable_expression", "di_global_variable_expression"),
    ("llvm.di_imported_entity", "di_imported_entity"),
    ("llvm.di_label", "di_label"),
    ("llvm.di_lexical_block", "di_lexical_block"),
    ("llvm.di_lexical_block_file", "di_lexical_block_file"),
    ("llvm.di_local_variable", "di_local_variable"),
    ("llvm.di_module", "di_module"),
    ("llvm.di_namespace", "di_namespace"),
    ("llvm.di_null_type", "di_null_type"),
    ("llvm.di_string_type", "di_string_type"),
    ("llvm.di_subprogram", "di_subprogram"),
    ("llvm.di_subroutine_type", "di_subroutine_type"),
    ("llvm.loop_annotation", "loop_annotation"),
    ("llvm.loop_distribute", "loop_distribute"),
    ("llvm.loop_interleave", "loop_interleave"),
    ("llvm.loop_licm", "loop_licm"),
    ("llvm.loop_peeled", "loop_peeled"),
    ("llvm.loop_pipeline", "loop_pipeline"),
    ("llvm.loop_unroll", "loop_unroll"),
    ("llvm.loop_unroll_and_jam", "loop_unroll_and_jam"),
    ("llvm.loop_unswitch", "loop_unswitch"),
    ("llvm.loop_vectorize", "loop_vectorize"),
    ("llvm.mmra_tag", "mmra_tag"),
    ("llvm.tbaa_root", "tbaa_root"),
    ("llvm.tbaa_tag", "tbaa_tag"),
    ("llvm.tbaa_type_desc", "tbaa_type_desc"),
    ("ml_program.extern", "extern"),
    ("sparse_tensor.encoding", "sparse"),
];

fn foreign_name(dialect: &str, mnemonic: &str) -> Option<&'static str> {
    let is_it = |full: &str| {
        full.strip_prefix(dialect).and_then(|rest| rest.strip_prefix('.')).is_some_and(|m| m == mnemonic)
    };
    FOREIGN.iter().find(|(full, _)| is_it(full)).map(|(_, alias)| *alias)
}

/// True if an attribute or type with an alias occurs in what was surveyed.
pub(crate) fn may_occur(ctx: &crate::Context, survey: &Survey) -> bool {
    let options = crate::text::PrintOptions::default();
    let mut probe = OpPrinter::new(ctx, &options);
    for (_, attr) in survey.dicts.iter().flat_map(|dict| dict.entries(ctx)) {
        probe.collect_attr(*attr, false, false);
    }
    survey.types.iter().for_each(|ty| probe.collect_type(*ty, false));
    probe.aliases.found_any()
}

impl Aliases {
    /// True if anything visited has an alias.
    pub(crate) fn found_any(&self) -> bool {
        self.found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub(crate) fn knows_attr(&self, attr: Attr) -> bool {
        !self.is_empty() && self.names.contains_key(&Symbol::Attr(attr))
    }

    pub(crate) fn knows_type(&self, ty: Type) -> bool {
        !self.is_empty() && self.names.contains_key(&Symbol::Type(ty))
    }

    /// Gives every alias its number.
    pub(crate) fn number(&mut self) {
        let mut order: Vec<&Visited> = self.visited.iter().filter(|v| v.name.is_some()).collect();
        order.sort_by_key(|v| (v.depth, matches!(v.symbol, Symbol::Attr(_)), v.name));
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for visited in order {
            let Some(name) = visited.name else { continue };
            let count = counts.entry(name).or_default();
            let sigil = if matches!(visited.symbol, Symbol::Type(_)) { '!' } else { '#' };
            let text = if *count == 0 { format!("{sigil}{name}") } else { format!("{sigil}{name}{count}") };
            *count += 1;
            self.names.insert(visited.symbol, (text, visited.deferrable));
            self.order.push(visited.symbol);
        }
    }

    /// An alias, and those inside it, must be defined in front.
    fn not_deferrable(&mut self, index: usize) {
        if !self.visited[index].deferrable {
            return;
        }
        let mut pending = vec![index];
        while let Some(index) = pending.pop() {
            let visited = &mut self.visited[index];
            if visited.deferrable {
                visited.deferrable = false;
                pending.extend_from_slice(&visited.children);
            }
        }
    }
}

impl OpPrinter<'_> {
    /// Writes the alias of an attribute, if it has one.
    pub(crate) fn attr_alias(&mut self, attr: Attr) -> bool {
        self.alias(Symbol::Attr(attr))
    }

    /// Writes the alias of a type, if it has one.
    pub(crate) fn type_alias(&mut self, ty: Type) -> bool {
        self.alias(Symbol::Type(ty))
    }

    fn alias(&mut self, symbol: Symbol) -> bool {
        if self.aliases.is_empty() {
            return false;
        }
        let Some((name, _)) = self.aliases.names.get(&symbol) else { return false };
        self.out.push_str(name);
        true
    }

    /// Writes the definitions of aliases that stand in front, or those at the end.
    pub(crate) fn alias_definitions(&mut self, deferred: bool) {
        for symbol in self.aliases.order.clone() {
            let Some((name, deferrable)) = self.aliases.names.get(&symbol) else { continue };
            if *deferrable != deferred {
                continue;
            }
            self.out.push_str(name);
            self.write(" = ");
            match symbol {
                Symbol::Attr(attr) => self.attr_itself(attr, TypeElision::Never),
                Symbol::Type(ty) => self.type_itself(ty),
            }
            self.write("\n");
        }
    }

    /// Notes a location and what is inside.
    pub(crate) fn collect_loc(&mut self, loc: Loc, deferrable: bool) {
        let attr = self.ctx.attr(AttrKind::Location(loc));
        self.collect_attr(attr, false, deferrable);
    }

    /// Notes an attribute and what is inside.
    pub(crate) fn collect_attr(&mut self, attr: Attr, without_type: bool, deferrable: bool) {
        // Most attributes have neither an alias nor anything inside.
        match attr.kind(self.ctx) {
            AttrKind::String(_) | AttrKind::Symbol { .. } => return,
            AttrKind::Integer { .. } | AttrKind::Float { .. } => return,
            _ => {}
        }
        let name = name_of(self.ctx, attr);
        self.visit(Symbol::Attr(attr), name, deferrable, |p| p.inside_attr(attr, without_type, deferrable));
    }

    /// Notes a type and what is inside.
    pub(crate) fn collect_type(&mut self, ty: Type, deferrable: bool) {
        let name = match ty.kind(self.ctx) {
            TypeKind::Tuple(types) if types.len() > 16 => Some("tuple"),
            _ => None,
        };
        self.visit(Symbol::Type(ty), name, deferrable, |p| p.inside_type(ty, deferrable));
    }

    fn visit(
        &mut self,
        symbol: Symbol,
        name: Option<&'static str>,
        deferrable: bool,
        inside: impl FnOnce(&mut Self) + Send,
    ) {
        let aliases = &mut self.aliases;
        let index = match aliases.index.get(&symbol).copied() {
            Some(index) => {
                if !deferrable {
                    aliases.not_deferrable(index);
                }
                index
            }
            None => {
                let index = aliases.visited.len();
                aliases.found |= name.is_some();
                aliases.index.insert(symbol, index);
                let depth = u32::from(name.is_some());
                aliases.visited.push(Visited { symbol, name, depth, deferrable, children: Vec::new() });
                aliases.open.push((Vec::new(), 0));
                self.nested(inside);
                let aliases = &mut self.aliases;
                let (children, deepest) = aliases.open.pop().unwrap_or_default();
                if let Some(visited) = aliases.visited.get_mut(index) {
                    visited.children = children;
                    if deepest > 0 {
                        visited.depth = deepest + 1;
                    }
                }
                index
            }
        };
        let depth = self.aliases.visited.get(index).map_or(0, |v| v.depth);
        if let Some((children, deepest)) = self.aliases.open.last_mut() {
            children.push(index);
            *deepest = (*deepest).max(depth);
        }
    }

    fn inside_attr(&mut self, attr: Attr, without_type: bool, deferrable: bool) {
        let ctx = self.ctx;
        match attr.kind(ctx) {
            AttrKind::Distinct { inner, .. } => self.collect_attr(*inner, false, deferrable),
            AttrKind::Dictionary(dict) => {
                for (_, attr) in dict.entries(ctx) {
                    self.collect_attr(*attr, false, deferrable);
                }
            }
            AttrKind::Array(elements) => {
                for element in elements {
                    self.collect_attr(*element, false, deferrable);
                }
            }
            AttrKind::Type(ty) => self.collect_type(*ty, deferrable),
            AttrKind::Location(loc) => match &*loc.kind(ctx) {
                LocKind::Unknown | LocKind::File { .. } | LocKind::FileRange { .. } => {}
                LocKind::Name { child, .. } => {
                    if *child != Loc::UNKNOWN {
                        self.collect_loc(*child, deferrable);
                    }
                }
                LocKind::CallSite { callee, caller } => {
                    self.collect_loc(*callee, deferrable);
                    self.collect_loc(*caller, deferrable);
                }
                LocKind::Fused { metadata, children } => {
                    if let Some(metadata) = metadata {
                        self.collect_attr(*metadata, false, deferrable);
                    }
                    for child in children {
                        self.collect_loc(*child, deferrable);
                    }
                }
            },
            AttrKind::Dialect { name, params } => {
                self.collecting(deferrable, |p| p.parameters(*name, *params));
            }
            AttrKind::Opaque { body, .. } => self.collecting(deferrable, |p| p.opaque_body(body)),
            _ => {}
        }
        let typed = matches!(
            attr.kind(ctx),
            AttrKind::TypedString { .. }
                | AttrKind::DenseElements { .. }
                | AttrKind::DenseStrings { .. }
                | AttrKind::Sparse { .. }
                | AttrKind::DenseResource { .. }
                | AttrKind::Opaque { .. }
        );
        if let Some(ty) = attr.ty(ctx).filter(|ty| typed && !without_type && *ty != Type::NONE) {
            self.collect_type(ty, deferrable);
        }
    }

    fn inside_type(&mut self, ty: Type, deferrable: bool) {
        let ctx = self.ctx;
        match ty.kind(ctx) {
            TypeKind::Dialect { name, params } => {
                self.collecting(deferrable, |p| match ctx.type_def(*name) {
                    Some(def) => (def.print)(p, params),
                    None => ParametricDef::print(p, params.iter().copied()),
                });
            }
            TypeKind::Opaque { body, .. } => self.collecting(deferrable, |p| p.opaque_body(body)),
            TypeKind::MemRef { element, layout, memory_space, .. } => {
                self.collect_type(*element, deferrable);
                for attr in [layout, memory_space].into_iter().flatten() {
                    self.collect_attr(*attr, false, deferrable);
                }
            }
            TypeKind::Tensor { element, encoding, .. } => {
                self.collect_type(*element, deferrable);
                if let Some(encoding) = encoding {
                    self.collect_attr(*encoding, false, deferrable);
                }
            }
            TypeKind::Vector { element, .. } | TypeKind::Complex(element) => {
                self.collect_type(*element, deferrable)
            }
            TypeKind::Tuple(types) => types.iter().for_each(|ty| self.collect_type(*ty, deferrable)),
            TypeKind::Function { inputs, results } => {
                inputs.iter().chain(results).for_each(|ty| self.collect_type(*ty, deferrable));
            }
            _ => {}
        }
    }

    /// Runs a hook for the attributes and types it prints, and drops its text.
    fn collecting(&mut self, deferrable: bool, f: impl FnOnce(&mut Self)) {
        let start = self.out.len();
        let mode = std::mem::replace(&mut self.mode, super::Mode::Collect);
        let deferrable = std::mem::replace(&mut self.deferrable, deferrable);
        f(self);
        (self.mode, self.deferrable) = (mode, deferrable);
        self.out.truncate(start);
    }
}
