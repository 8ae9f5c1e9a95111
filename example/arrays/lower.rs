//! Lowering: the tree becomes a module. Each array expression is a loop over its elements.

use std::collections::BTreeMap;

use loomir::dialects::builtin::ModuleOp;
use loomir::dialects::func::{self, FuncOp};
use loomir::dialects::scf::ForOp;
use loomir::dialects::{arith, memref};
use loomir::ir::{Attr, Body, Builder, Context, Diagnostics, InsertPoint, Loc, Type, Value};

use crate::lexer::{Token, error};
use crate::parser::{Expr, Function};

/// Lowers a program.
pub(crate) fn module(ctx: &Context, program: &[Function<'_>]) -> Result<Body, Diagnostics> {
    let mut module = ModuleOp::create(ctx, Loc::UNKNOWN);
    for own in program {
        ModuleOp::append(&mut module, function(ctx, own)?);
    }
    Ok(module)
}

fn function(ctx: &Context, own: &Function<'_>) -> Result<Body, Diagnostics> {
    let array = |length: i64| ctx.memref_type(&[length], Type::F64);
    let types: Vec<Type> = own.parameters.iter().map(|(_, length)| array(*length)).collect();
    let (mut body, entry) = FuncOp::create(ctx, own.name.loc, own.name.text, &types, &[]);
    // C passes plain pointers.
    body.set_attr(body.root(), "llvm.bareptr", Attr::UNIT);
    let arguments: Vec<Value> = body.arguments(entry).collect();
    let b = Builder::new(&mut body, InsertPoint::End(entry));
    let mut lowering = Lowering { b, known: BTreeMap::new(), locals: Vec::new() };
    for ((name, length), memref) in own.parameters.iter().zip(arguments) {
        let variable = Variable { value: memref, length: Some(*length) };
        if lowering.known.insert(name.text, variable).is_some() {
            return Err(error(name.loc, format!("'{}' is there twice", name.text), "rename one"));
        }
    }
    for (target, value) in &own.statements {
        lowering.statement(*target, value)?;
    }
    let Lowering { mut b, locals, .. } = lowering;
    for memref in locals {
        memref::DeallocOp::build(&mut b, memref);
    }
    func::ReturnOp::build(&mut b, &[]);
    Ok(body)
}

/// A number, or the memref of an array with its length.
#[derive(Clone, Copy)]
struct Variable {
    value: Value,
    length: Option<i64>,
}

/// An expression whose names are known and whose sums are computed.
enum Ready<'s> {
    Constant(f64),
    Variable(Variable),
    Binary(Token<'s>, Box<[Ready<'s>; 2]>),
}

struct Lowering<'b, 's> {
    b: Builder<'b>,
    known: BTreeMap<&'s str, Variable>,
    /// The arrays to free at the end.
    locals: Vec<Value>,
}

impl<'s> Lowering<'_, 's> {
    fn statement(&mut self, target: Token<'s>, value: &Expr<'s>) -> Result<(), Diagnostics> {
        let (value, length) = self.ready(value)?;
        let old = self.known.get(target.text).copied();
        let length = common(target, old.and_then(|own| own.length), length)?;
        let b = &mut self.b;
        b.set_loc(target.loc);
        let new = match (length, old) {
            (None, _) => element(b, &value, &[]),
            (Some(length), Some(Variable { value: memref, length: Some(_) })) => {
                store(b, memref, length, &value);
                memref
            }
            (Some(length), _) => {
                let ty = b.ctx().memref_type(&[length], Type::F64);
                let memref = memref::AllocOp::build_as(b, &[], &[], &[ty]).memref(b.body());
                self.locals.push(memref);
                store(b, memref, length, &value);
                memref
            }
        };
        self.known.insert(target.text, Variable { value: new, length });
        Ok(())
    }

    /// Looks up names, and computes the sums in an expression. Returns its length too.
    fn ready(&mut self, value: &Expr<'s>) -> Result<(Ready<'s>, Option<i64>), Diagnostics> {
        match value {
            Expr::Number(number) => Ok((Ready::Constant(*number), None)),
            Expr::Name(name) => match self.known.get(name.text) {
                Some(own) => Ok((Ready::Variable(*own), own.length)),
                None => {
                    let message = format!("'{}' is not known here", name.text);
                    Err(error(name.loc, message, "give it a value, or make it a parameter"))
                }
            },
            Expr::Sum(word, inner) => {
                let (inner, length) = self.ready(inner)?;
                let Some(length) = length else {
                    return Err(error(word.loc, "'sum' of a number", "write 'sum' around an array"));
                };
                self.b.set_loc(word.loc);
                let zero = element(&mut self.b, &Ready::Constant(0.0), &[]);
                let target = each(&mut self.b, length, &[zero], |b, i, carried| {
                    let next = element(b, &inner, &[i]);
                    let sum = arith::AddFOp::build(b, carried[0], next);
                    vec![sum.result(b.body())]
                });
                let total = target.results(self.b.body())[0];
                Ok((Ready::Variable(Variable { value: total, length: None }), None))
            }
            Expr::Binary(sign, sides) => {
                let [left, right] = &**sides;
                let (left, left_length) = self.ready(left)?;
                let (right, right_length) = self.ready(right)?;
                let length = common(*sign, left_length, right_length)?;
                Ok((Ready::Binary(*sign, Box::new([left, right])), length))
            }
        }
    }
}

/// Returns the length of two values that stand together. A number goes with every element.
fn common(at: Token<'_>, left: Option<i64>, right: Option<i64>) -> Result<Option<i64>, Diagnostics> {
    match (left, right) {
        (Some(left), Some(right)) if left != right => {
            let message = format!("arrays of {left} and {right} elements at '{}'", at.text);
            Err(error(at.loc, message, "use arrays of one length"))
        }
        _ => Ok(left.or(right)),
    }
}

/// Makes a loop over the elements of arrays.
fn each(
    b: &mut Builder<'_>,
    length: i64,
    inits: &[Value],
    fill: impl FnOnce(&mut Builder<'_>, Value, &[Value]) -> Vec<Value>,
) -> ForOp {
    let bounds = [0, length, 1].map(|bound| {
        let bound = b.ctx().index_attr(bound);
        arith::ConstantOp::build_as(b, bound, &[Type::INDEX]).result(b.body())
    });
    ForOp::build_with(b, bounds, inits, fill)
}

/// Makes a loop that stores each element of a value.
fn store(b: &mut Builder<'_>, memref: Value, length: i64, value: &Ready<'_>) {
    each(b, length, &[], |b, i, _| {
        let element = element(b, value, &[i]);
        memref::StoreOp::build(b, element, memref, &[i]);
        Vec::new()
    });
}

/// Computes one element of a value. A number needs no indices.
fn element(b: &mut Builder<'_>, value: &Ready<'_>, indices: &[Value]) -> Value {
    match value {
        Ready::Constant(number) => {
            let number = b.ctx().float_attr(Type::F64, *number);
            arith::ConstantOp::build_as(b, number, &[Type::F64]).result(b.body())
        }
        Ready::Variable(Variable { value, length: None }) => *value,
        Ready::Variable(Variable { value, .. }) => memref::LoadOp::build(b, *value, indices).result(b.body()),
        Ready::Binary(sign, sides) => {
            let [left, right] = [&sides[0], &sides[1]].map(|side| element(b, side, indices));
            match sign.text {
                "+" => arith::AddFOp::build(b, left, right).result(b.body()),
                "-" => arith::SubFOp::build(b, left, right).result(b.body()),
                "*" => arith::MulFOp::build(b, left, right).result(b.body()),
                _ => arith::DivFOp::build(b, left, right).result(b.body()),
            }
        }
    }
}
