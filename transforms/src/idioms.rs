//! Idioms: loop nests that do what one operation says become that operation.
//!
//! - A nest that stores one value to every element of a memref becomes `linalg.fill`.
//! - A nest that copies every element of a memref to the same place of another one becomes
//!   `memref.copy`.
//! - With `blas`, a product of two matrices becomes a call of `cblas_dgemm` or `cblas_sgemm`
//!   (`idioms/product.rs`).
//!
//! Nests may consist of `scf.for`, `affine.for`, `scf.parallel` and `affine.parallel`, in any order
//! of the loops. `Whole` says what they look like.
//!
//! # Assumptions
//!
//! - `memref.copy` is undefined if its memrefs overlap or differ in size, and the loops are not. So
//!   both must be known to be apart, and to have the size of the iteration space in each dimension.
//!   Elements of the target must not overlap each other. Tried with `fixtures/idioms/copies.mlir`.
//! - All accesses of the loops are inside of the memrefs, so neither form stops half way.
//!
//! **Cost.** Each loop is looked at as the outermost loop of a nest. Linear in the operations,
//! times their depth.
//!
//! # Limits
//!
//! - A nest that fills or copies a part of a memref stays, and so does one with accesses that
//!   promise something (`nontemporal`, `alignment`).
//! - A product has constant sizes, and its sum stays in memory. Products of vectors, and products
//!   that are scaled, are none.
//!
//! **Never illegal.** What is no such nest is not recognised, and stays.
//!
//! **Not in `.ll`.** The operations are those of memrefs; LLVM's `loop-idiom` makes `memset` there.
//!
//! # Example
//!
//! ```mlir
//! func.func @f(%a: memref<8x8xf32>, %b: memref<8x8xf32> {llvm.noalias}) {
//!   %zero = arith.constant 0.0 : f32
//!   affine.for %i = 0 to 8 {
//!     affine.for %j = 0 to 8 {
//!       %x = affine.load %a[%i, %j] : memref<8x8xf32>
//!       affine.store %x, %b[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   affine.for %i = 0 to 8 {
//!     affine.for %j = 0 to 8 {
//!       affine.store %zero, %a[%i, %j] : memref<8x8xf32>
//!     }
//!   }
//!   return
//! }
//! ```
//!
//! ```console
//! $ loomir opt old.mlir --loop-idioms --remarks=text -o new.mlir
//! $ cat new.mlir
//! $ loomir run old.mlir --entry=f --arg=iota --arg=zeros --order=images/idioms-0.svg
//! ```
//!
//! The order of stores before; afterwards it is up to one operation each:
//!
//! ![The order of stores before](images/idioms-0.svg)
//!
//! A copy is undefined if its memrefs overlap or have different sizes, so both must be known. With
//! `blas=true`, a product of matrices becomes a call of `cblas_dgemm` or `cblas_sgemm`. Its
//! operations need the flags `reassoc`, `contract`, `nnan`, `ninf` and `nsz`, because BLAS adds in
//! an order of its own. The sum must not overlap a factor, and sizes are constants. The call needs
//! BLAS when the program is linked.

use loomir_ir::pass::{Pass, PassContext, PassInfo};
use loomir_ir::{Body, Builder, Diagnostic, Diagnostics, Op, Type, TypeKind, Value};

use crate::access::base::{AliasMode, Bases, Overlap};
use crate::remark::Remarks;
use product::Product;
use whole::{Content, Whole};

mod product;
pub(crate) mod whole;

/// The pass `loop-idioms` on `builtin.module`.
pub const PASS: PassInfo = PassInfo {
    name: "loop-idioms",
    anchor: Some("builtin.module"),
    summary: "Write loops that fill, copy or multiply whole memrefs as one operation or call",
    options: &[
        AliasMode::UNTESTED,
        ("blas", "false", "call cblas_dgemm and cblas_sgemm for products of matrices"),
    ],
    make: |options| {
        let (alias, blas) = (AliasMode::untested_of(options)?, options.parse("blas", false)?);
        Ok(Box::new(Idioms { alias, blas }))
    },
};

struct Idioms {
    alias: AliasMode,
    blas: bool,
}

impl Pass for Idioms {
    fn name(&self) -> &str {
        PASS.name
    }

    fn run(&self, body: &mut Body, cx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
        for remark in recognise(body, self.alias, self.blas) {
            cx.remark(remark);
        }
        Ok(())
    }
}

/// Replaces the nests of a module that are idioms; products only with `blas`. Returns a remark for
/// each, and for each nest that would be one, were more known.
pub fn recognise(module: &mut Body, alias: AliasMode, blas: bool) -> Diagnostics {
    let functions: Vec<Op> = module.all_ops().filter(|op| module.nested(*op).is_some()).collect();
    let is_free = |product: &Product| {
        let callee = product.callee(module.ctx())?;
        Product::may_declare(module, callee, product.element).then_some(callee)
    };
    let mut found: Vec<Vec<Judged>> = Vec::new();
    for op in &functions {
        let inside = module.nested(*op).map(|body| judged(body, body.root(), alias, blas, &is_free));
        found.push(inside.unwrap_or_default());
    }
    let mut said = Diagnostics::default();
    for (op, judged) in functions.into_iter().zip(found) {
        let called = judged.iter().filter(|own| own.refusal.is_none()).filter_map(|own| own.kind.called());
        called.for_each(|(element, callee)| Product::declare(module, callee, element));
        if let Some(body) = module.nested_mut(op) {
            said.append(replace(body, judged));
        }
    }
    said
}

/// Replaces the nests inside of an operation, or the operation itself, that fill or copy whole
/// memrefs. Returns a remark for each, as [`recognise`] does.
pub(crate) fn recognise_within(body: &mut Body, around: Op, alias: AliasMode) -> Diagnostics {
    let judged = judged(body, around, alias, false, &|_| None);
    replace(body, judged)
}

/// A nest that one operation may replace, or the reason why it may not.
struct Judged {
    nest: Op,
    kind: Kind,
    refusal: Option<Refusal>,
}

/// The operation.
enum Kind {
    Whole(Whole),
    Product(Product, &'static str),
}

impl Kind {
    /// Returns the called function, and the type of its elements.
    fn called(&self) -> Option<(Type, &'static str)> {
        match self {
            Kind::Whole(_) => None,
            Kind::Product(product, callee) => Some((product.element, callee)),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Kind::Whole(Whole { content: Content::Fill(_), .. }) => "linalg.fill",
            Kind::Whole(Whole { content: Content::Copy(_), .. }) => "memref.copy",
            Kind::Product(_, callee) => callee,
        }
    }
}

/// Returns the nests inside of an operation that are idioms, or would be one, were more known. In
/// the order of the text.
fn judged(
    body: &Body,
    around: Op,
    alias: AliasMode,
    blas: bool,
    is_free: &dyn Fn(&Product) -> Option<&'static str>,
) -> Vec<Judged> {
    let mut bases = Bases::new(body, alias);
    let mut found: Vec<Judged> = Vec::new();
    for nest in body.preorder(around) {
        if found.last().is_some_and(|last| body.is_within(nest, last.nest)) {
            continue;
        }
        let product = || {
            let product = Product::of(body, nest).filter(|_| blas)?;
            Some(Kind::Product(product, is_free(&product)?))
        };
        if let Some(kind) = Whole::of(body, nest).map(Kind::Whole).or_else(product) {
            let refusal = refusal(body, &mut bases, &kind);
            found.push(Judged { nest, kind, refusal });
        }
    }
    found
}

/// Replaces the nests that are what the operation says. Returns a remark for each nest.
fn replace(body: &mut Body, judged: Vec<Judged>) -> Diagnostics {
    let mut said = Diagnostics::default();
    for Judged { nest, kind, refusal } in judged {
        said.push(remark(body, nest, &kind, refusal.as_ref()));
        if refusal.is_none() {
            let mut builder = Builder::before(body, nest);
            match kind {
                Kind::Whole(whole) => _ = whole.write(&mut builder, false),
                Kind::Product(product, callee) => product.write(&mut builder, callee),
            }
            body.erase(nest);
        }
    }
    said
}

/// The reason why a nest stays.
enum Refusal {
    Sizes,
    Layout,
    Overlap,
}

/// Returns the reason why a nest is not what the operation says.
fn refusal(body: &Body, bases: &mut Bases<'_>, kind: &Kind) -> Option<Refusal> {
    let mut overlap = |a: Value, b: Value| {
        let [a, b] = [a, b].map(|memref| bases.of(memref).0);
        matches!(bases.overlap(a, b), Overlap::Same | Overlap::May).then_some(Refusal::Overlap)
    };
    match kind {
        Kind::Product(product, _) => {
            product.factors.into_iter().find_map(|(factor, _)| overlap(factor, product.sum))
        }
        Kind::Whole(whole) if !(whole.fits_source && whole.fits_target) => Some(Refusal::Sizes),
        Kind::Whole(whole) => match whole.content {
            Content::Fill(_) => None,
            Content::Copy(source) => overlap(source, whole.target)
                .or_else(|| has_layout(body, whole.target).then_some(Refusal::Layout)),
        },
    }
}

/// True if a memref has another layout than rows one behind the other.
pub(crate) fn has_layout(body: &Body, memref: Value) -> bool {
    !matches!(body.value_type(memref).kind(body.ctx()), TypeKind::MemRef { layout: None, .. })
}

fn remark(body: &Body, nest: Op, kind: &Kind, refusal: Option<&Refusal>) -> Diagnostic {
    let (remarks, loc, of) = (Remarks { body, pass: PASS.name }, body.loc(nest), kind.name());
    let missed = |why| remarks.missed("NoIdiom", loc, &format!("Loops are not {of}"), why);
    match refusal {
        None => remarks.passed("Idiom", loc, &format!("Loops became {of}")).arg("operation", of),
        Some(Refusal::Sizes) => missed("a size of a memref may differ from the number of iterations"),
        Some(Refusal::Layout) => missed("elements of the target may overlap by its layout"),
        Some(Refusal::Overlap) => missed("what is read and what is written may overlap").help(
            "if they are arguments that never overlap, say so with alias=distinct or the attribute \
             llvm.noalias",
        ),
    }
}
