//! Products of matrices, as calls of BLAS.
//!
//! `c[i, j] += a[i, k] * b[k, j]` in three loops, in any order, is `cblas_dgemm` or `cblas_sgemm`.
//! Either factor may be transposed.
//!
//! # Assumptions
//!
//! - BLAS adds in an order of its own, may fuse products with sums, and may leave out products with
//!   zero. So both operations need the flags `reassoc`, `contract`, `nnan`, `ninf` and `nsz`.
//! - The sum overlaps neither factor. All three are rows one behind the other, of constant sizes
//!   that fit 32 bits, in ordinary memory. Tried with `fixtures/idioms/products.mlir`.
//!
//! **Cost.** Constant.

use loomir_dialects::interfaces::Access;
use loomir_dialects::{arith, func, llvm, memref};
use loomir_ir::symbols::{SYMBOL_NAME, lookup};
use loomir_ir::{Attr, Body, Builder, Context, FloatKind, Op, OperationState, Type, TypeKind, Value};

use super::has_layout;
use super::whole::{Nest, without_results};

/// The flags that both operations need.
const FLAGS: [&str; 5] = ["reassoc", "contract", "nnan", "ninf", "nsz"];

/// BLAS's numbers for rows one behind the other, for a factor as it is, and for a transposed one.
const ROW_MAJOR: i64 = 101;
const AS_IT_IS: i64 = 111;
const TRANSPOSED: i64 = 112;

/// A factor: its memref, and true if it is transposed.
type Factor = (Value, bool);

/// A product of two matrices that is added to a third one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Product {
    /// The type of the elements.
    pub(super) element: Type,
    pub(super) factors: [Factor; 2],
    pub(super) sum: Value,
    /// The rows and columns of the sum, and the number of products for each of its elements.
    sizes: [i64; 3],
}

impl Product {
    /// Recognises a product by the outermost loop of its nest.
    pub(super) fn of(body: &Body, op: Op) -> Option<Product> {
        let nest = Nest::of(body, op).filter(|nest| nest.levels.len() == 3)?;
        let [loads @ .., (_, store)] = &nest.accesses[..] else { return None };
        let load_of = |value: Value| {
            let from = body.defining_op(value)?;
            loads.iter().find(|(load, own)| *load == from && own.stored.is_none()).map(|(_, own)| own)
        };
        let [x, y] = operands(body, store.stored.filter(|_| loads.len() == 3)?, arith::AddFOp::DEF)?;
        // Either operand of the sum is what was there.
        let was_there = |value: Value| {
            load_of(value).is_some_and(|own| own.memref == store.memref && own.subscripts == store.subscripts)
        };
        let added = if was_there(x) { y } else { was_there(y).then_some(x)? };
        let [x, y] = operands(body, added, arith::MulFOp::DEF)?.map(load_of);
        let [row, column] = nest.variables(body, &store.subscripts)?[..] else { return None };
        let inner = 3 - row - column;
        // The access of the places [at, to], and true if they are the other way round.
        let factor = |own: &Access, [at, to]: [usize; 2]| {
            let found = nest.variables(body, &own.subscripts)?;
            (found == [at, to] || found == [to, at]).then_some((own.memref, found == [to, at]))
        };
        let both = |x: &Access, y: &Access| Some([factor(x, [row, inner])?, factor(y, [inner, column])?]);
        let factors = both(x?, y?).or_else(|| both(y?, x?))?;
        let size =
            |level: usize| nest.trip_count(body, level).filter(|n| (1..=i64::from(i32::MAX)).contains(n));
        let sizes = [size(row)?, size(column)?, size(inner)?];
        let element = body.value_type(store.memref).element(body.ctx())?;
        let product = Product { element, factors, sum: store.memref, sizes };
        product.is_dense(body, op).then_some(product)
    }

    /// True if the matrices are rows one behind the other, at least of the sizes that are accessed,
    /// and come from outside of the nest.
    fn is_dense(&self, body: &Body, nest: Op) -> bool {
        let [rows, columns, inner] = self.sizes;
        let turned = |turn: bool, [a, b]: [i64; 2]| if turn { [b, a] } else { [a, b] };
        let [x, y] = self.factors;
        let needed = [
            (x.0, turned(x.1, [rows, inner])),
            (y.0, turned(y.1, [inner, columns])),
            (self.sum, [rows, columns]),
        ];
        needed.into_iter().all(|(memref, needed)| {
            let shape = body.value_type(memref).shape(body.ctx()).unwrap_or_default();
            let is_plain = matches!(
                body.value_type(memref).kind(body.ctx()),
                TypeKind::MemRef { memory_space: None, .. }
            );
            let fits = shape.len() == 2
                && shape.iter().zip(needed).all(|(size, needed)| *size >= needed)
                && shape.iter().all(|size| i32::try_from(*size).is_ok());
            fits && is_plain && !has_layout(body, memref) && !body.is_defined_within(memref, nest)
        })
    }

    /// Returns the name of the function of BLAS.
    pub(super) fn callee(&self, ctx: &Context) -> Option<&'static str> {
        match self.element.kind(ctx) {
            TypeKind::Float(FloatKind::F64) => Some("cblas_dgemm"),
            TypeKind::Float(FloatKind::F32) => Some("cblas_sgemm"),
            _ => None,
        }
    }

    /// Writes the call.
    pub(super) fn write(&self, b: &mut Builder<'_>, callee: &str) {
        let ctx = b.ctx();
        let pointer = llvm::types::pointer(&ctx);
        let address = |b: &mut Builder<'_>, memref: Value| {
            let place =
                b.build(memref::ExtractAlignedPointerAsIndexOp::DEF, &[&[memref]], &[], &[Type::INDEX]);
            let place = b.body().result(place, 0);
            let number = b.build(arith::IndexCastOp::DEF, &[&[place]], &[], &[Type::I64]);
            let number = b.body().result(number, 0);
            let pointer = b.build(llvm::IntToPtrOp::DEF, &[&[number]], &[], &[pointer]);
            b.body().result(pointer, 0)
        };
        let constant = |b: &mut Builder<'_>, ty: Type, value: Attr| {
            let state = b.state(arith::ConstantOp::DEF).results(&[ty]).attr(&ctx, "value", value);
            b.value(state)
        };
        let number = |b: &mut Builder<'_>, value: i64| constant(b, Type::I32, ctx.int_attr(Type::I32, value));
        let row = |b: &Builder<'_>, memref: Value| {
            b.type_of(memref).shape(&ctx).and_then(|shape| shape.last().copied()).unwrap_or(1)
        };
        let mut arguments = vec![number(b, ROW_MAJOR)];
        for (_, turned) in self.factors {
            arguments.push(number(b, if turned { TRANSPOSED } else { AS_IT_IS }));
        }
        self.sizes.into_iter().for_each(|size| arguments.push(number(b, size)));
        let one = constant(b, self.element, ctx.float_attr(self.element, 1.0));
        arguments.push(one);
        for memref in [self.factors[0].0, self.factors[1].0] {
            let stride = row(b, memref);
            arguments.extend([address(b, memref), number(b, stride)]);
        }
        let stride = row(b, self.sum);
        arguments.extend([one, address(b, self.sum), number(b, stride)]);
        without_results(b, func::CallOp::DEF, &[&arguments], &[("callee", ctx.symbol_attr(callee))]);
    }

    /// Returns the type of the function of BLAS.
    fn function_type(ctx: &Context, element: Type) -> Attr {
        let (i, p) = (Type::I32, llvm::types::pointer(ctx));
        let e = element;
        ctx.type_attr(ctx.function_type(&[i, i, i, i, i, i, e, p, i, p, i, e, p, i], &[]))
    }

    /// True if a module has no function of this name, or only a declaration of the one of BLAS. A
    /// definition may compute something else, or be what the loops are in.
    pub(super) fn may_declare(module: &Body, callee: &str, element: Type) -> bool {
        let ctx = module.ctx();
        lookup(module, callee).is_none_or(|op| {
            module.nested(op).is_some_and(|function| {
                let own = function.op_ref(function.root());
                own.is(func::FuncOp::DEF)
                    && function.entry_block(function.region(function.root(), 0)).is_none()
                    && own.attr("function_type") == Some(Product::function_type(ctx, element))
            })
        })
    }

    /// Declares the function of BLAS in a module, unless it is there.
    pub(super) fn declare(module: &mut Body, callee: &str, element: Type) {
        if lookup(module, callee).is_some() {
            return;
        }
        let (ctx, root) = (module.ctx().clone(), module.root());
        let state = OperationState::of(&ctx, func::FuncOp::DEF, module.loc(root)).regions(1);
        let state = state
            .attr(&ctx, SYMBOL_NAME, ctx.string_attr(callee))
            .attr(&ctx, "sym_visibility", ctx.string_attr("private"))
            .attr(&ctx, "function_type", Product::function_type(&ctx, element));
        let function = Body::new(&ctx, state);
        let function = module.adopt(function);
        if let Some(block) = module.entry_block(module.region(root, 0)) {
            module.prepend_op(block, function);
        }
    }
}

/// Returns the operands of an operation that may be done in another order.
fn operands(body: &Body, value: Value, def: &'static loomir_ir::OpDef) -> Option<[Value; 2]> {
    let op = body.defining_op(value).filter(|op| body.is(*op, def))?;
    let flags = body.attr(op, "fastmath").and_then(|attr| arith::FASTMATH.value(body.ctx(), attr))?;
    let has = |name: &&str| arith::FASTMATH.value_of(name).is_some_and(|flag| flags & flag == flag);
    FLAGS.iter().all(has).then(|| [body.operand(op, 0), body.operand(op, 1)])
}
