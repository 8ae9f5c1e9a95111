//! Dialect conversion: a dialect with types of its own becomes `arith` on integers, through
//! functions, calls, branches and loops. Beside it stand conversions that fail, and change nothing.

use loomir_dialects::interp::{ArgSpec, Limits, run};
use loomir_dialects::{arith, cf, func, scf};
use loomir_ir::opdef::TypeDef;
use loomir_ir::rewrite::{
    ConversionPattern, ConversionReport, ConversionRule, ConversionTarget, Retype, TypeConverter,
    apply_full_conversion, apply_partial_conversion,
};
use loomir_ir::text::{self, PrintOptions};
use loomir_ir::{
    Body, Builder, Context, Diagnostics, OperationState, Registry, Type, TypeKind, Value, conversion,
    dialect, verifier,
};

const fn plain(name: &'static str) -> TypeDef {
    TypeDef { name, parse: |_| Ok(Vec::new()), print: |_, _| {} }
}

static TYPES: &[TypeDef] = &[plain("toy.int"), plain("toy.pair"), plain("toy.unit"), plain("toy.odd")];

dialect! {
    /// Integers, pairs of integers, and the type of one value.
    pub TOY = "toy" {
        types [TYPES[0], TYPES[1], TYPES[2], TYPES[3]]
    }

    /// A number.
    ConstantOp = "constant" {
        results { result: One Any }
        attrs { value: Required Integer(32) }
        traits [Pure]
        format "$value `:` type($result) attr-dict"
    }

    /// A sum.
    AddOp = "add" {
        operands { lhs: One Any, rhs: One SameAs("lhs") }
        results { sum: One SameAs("lhs") }
        traits [Pure]
        format "$lhs `,` $rhs `:` type($sum) attr-dict"
    }

    /// A double, which is the sum of a number and itself.
    TwiceOp = "twice" {
        operands { x: One Any }
        results { twice: One SameAs("x") }
        traits [Pure]
        format "$x `:` type($x) attr-dict"
    }

    /// A pair of two numbers.
    PackOp = "pack" {
        operands { first: One Any, second: One SameAs("first") }
        results { pair: One Any }
        traits [Pure]
        format "$first `,` $second `:` type($first) `to` type($pair) attr-dict"
    }

    /// The two numbers of a pair.
    UnpackOp = "unpack" {
        operands { pair: One Any }
        results { first: One Any, second: One Any }
        traits [Pure]
        format "$pair `:` type($pair) `to` type($first) `,` type($second) attr-dict"
    }

    /// The one value of its type.
    UnitOp = "unit" {
        results { unit: One Any }
        traits [Pure]
        format "`:` type($unit) attr-dict"
    }

    /// Does something with a number.
    UseOp = "use" {
        operands { x: One Any }
        format "$x `:` type($x) attr-dict"
    }

    /// A function.
    FuncOp = "func" {
        attrs { sym_name: Required String, function_type: Required FunctionType }
        regions { body: Any }
        traits [IsolatedFromAbove, Symbol]
    }

    /// Ends a function.
    ReturnOp = "return" {
        operands { values: Variadic Any }
        traits [Terminator]
        format "($values^ `:` type($values))? attr-dict"
    }

    /// Words about a program, and the values that they are about.
    NoteOp = "note" {
        regions { body: Any }
        traits [IsolatedFromAbove, NoTerminator]
        format "$body attr-dict"
    }

    /// Leads back to itself.
    SpinOp = "spin" {
        operands { x: One Any }
        results { y: One SameAs("x") }
        format "$x `:` type($x) attr-dict"
    }
}

conversion! {
    /// From `toy` to `arith`.
    TO_ARITH;

    /// A number is a constant.
    constant: ConstantOp = |rewriter, op, _| {
        let ctx = rewriter.ctx();
        let ty = rewriter.convert_type(rewriter.body().op_ref(op).result_type(0))?;
        let value = rewriter.body().attr(op, "value").and_then(|own| own.as_int(&ctx)).ok_or("no value")?;
        let state = OperationState::of(&ctx, arith::ConstantOp::DEF, rewriter.body().loc(op));
        rewriter.replace_with(op, state.attr(&ctx, "value", ctx.int_attr(ty, value)).results(&[ty]));
        Ok(())
    };

    /// A sum is a sum.
    add: AddOp = |rewriter, op, operands| {
        let (lhs, rhs) = (operands.one(0)?, operands.one(1)?);
        let sum = rewriter.build(op, |builder| arith_add(builder, lhs, rhs));
        rewriter.replace(op, &[sum]);
        Ok(())
    };

    /// A double is a sum in `toy`, which is converted in turn.
    twice: TwiceOp = |rewriter, op, _| {
        let x = rewriter.body().operand(op, 0);
        let sum = rewriter.build(op, |builder| {
            let state = builder.state(AddOp::DEF).operands(&[x, x]);
            builder.value(state)
        });
        rewriter.replace(op, &[sum]);
        Ok(())
    };

    /// A pair is its two numbers.
    pack: PackOp = |rewriter, op, operands| {
        rewriter.replace_many(op, &[operands.all()]);
        Ok(())
    };

    /// The numbers of a pair are those it became.
    unpack: UnpackOp = |rewriter, op, operands| {
        let [first, second] = operands.get(0) else { return Err("no pair".into()) };
        let (first, second) = (*first, *second);
        rewriter.replace(op, &[first, second]);
        Ok(())
    };

    /// A function is a function.
    function: FuncOp = |rewriter, op, _| {
        let ctx = rewriter.ctx();
        let body = rewriter.body();
        let ty = body.attr(op, "function_type").and_then(|own| own.as_type(&ctx)).ok_or("no type")?;
        let ty = rewriter.types().convert_attribute(ty).ok_or("a type without counterpart")?;
        let name = body.attr(op, "sym_name").ok_or("no name")?;
        let state = OperationState::of(&ctx, func::FuncOp::DEF, body.loc(op))
            .attr(&ctx, "sym_name", name)
            .attr(&ctx, "function_type", ctx.type_attr(ty));
        let region = body.region(op, 0);
        rewriter.convert_region_types(region)?;
        rewriter.replace_root(&state);
        Ok(())
    };

    /// A return is a return.
    ret: ReturnOp = |rewriter, op, operands| {
        let state = OperationState::of(&rewriter.ctx(), func::ReturnOp::DEF, rewriter.body().loc(op));
        rewriter.replace_with(op, state.operands(&operands.all()));
        Ok(())
    };

    /// A note is dropped.
    note: NoteOp = |rewriter, op, _| {
        rewriter.erase(op);
        Ok(())
    };

    /// A unit is nothing.
    unit: UnitOp = |rewriter, op, _| {
        rewriter.replace_many(op, &[Vec::new()]);
        Ok(())
    };
}

conversion! {
    /// Patterns with defects, and one that never matches.
    WRONG;

    /// Makes itself again.
    spin: SpinOp = |rewriter, op, operands| {
        let x = operands.one(0)?;
        let ty = rewriter.body().value_type(x);
        let state = OperationState::of(&rewriter.ctx(), SpinOp::DEF, rewriter.body().loc(op));
        rewriter.replace_with(op, state.operands(&[x]).results(&[ty]));
        Ok(())
    };

    /// Says that it matched, and did nothing.
    idle: UnitOp = |_, _, _| Ok(());

    /// Changes something, and then does not match.
    half: TwiceOp = |rewriter, op, operands| {
        let x = operands.one(0)?;
        rewriter.build(op, |builder| arith_add(builder, x, x));
        Err("changed its mind".into())
    };

    /// Does not match.
    picky: AddOp[3] = |_, _, _| Err("the sum is not to its taste".into());
}

fn arith_add(builder: &mut Builder<'_>, lhs: Value, rhs: Value) -> Value {
    let state = builder.state(arith::AddIOp::DEF).operands(&[lhs, rhs]);
    builder.value(state)
}

fn context() -> Context {
    let mut registry = Registry::new();
    loomir_dialects::register_all(&mut registry);
    registry.dialect(&TOY);
    Context::new(registry)
}

fn read(ctx: &Context, source: &str) -> Body {
    let body = text::parse(ctx, source, "t.mlir").unwrap_or_else(|d| panic!("{}", d.to_text(ctx)));
    let wrong = verifier::verify(&body);
    assert!(wrong.is_empty(), "{}", wrong.to_text(ctx));
    body
}

fn print(body: &Body) -> String {
    text::print(body, &PrintOptions::default())
}

fn is_toy(ctx: &Context, ty: Type, name: &str) -> bool {
    matches!(ty.kind(ctx), TypeKind::Dialect { name: own, .. } if ctx.str(*own) == name)
}

/// Returns the conversion of types: `!toy.int` to i32, `!toy.pair` to two, `!toy.unit` to nothing.
fn to_integers(ctx: &Context) -> TypeConverter<'static> {
    let mut types = TypeConverter::new(ctx);
    types.keep_others();
    types.rule(|types, ty| is_toy(types.ctx(), ty, "toy.int").then_some(Type::I32));
    types.rule_many(|types, ty| is_toy(types.ctx(), ty, "toy.pair").then(|| vec![Type::I32, Type::I32]));
    types.rule_many(|types, ty| is_toy(types.ctx(), ty, "toy.unit").then(Vec::new));
    types.refuse(|types, ty| is_toy(types.ctx(), ty, "toy.odd"));
    types
}

/// Returns the target: `arith`, and the dialects of control flow where their types are legal.
fn arith_target<'a>(types: &'a TypeConverter<'_>) -> ConversionTarget<'a> {
    let mut target = ConversionTarget::new();
    target.legal_dialect("arith").legal_op("builtin.module").illegal_dialect("toy");
    for name in ["func", "cf", "scf"] {
        target.dynamic_dialect(name, |op| types.is_legal_op(op));
    }
    target
}

const STRUCTURE: &[Retype] = &[
    Retype(func::FuncOp::DEF),
    Retype(func::CallOp::DEF),
    Retype(func::ReturnOp::DEF),
    Retype(cf::BranchOp::DEF),
    Retype(cf::CondBranchOp::DEF),
    Retype(scf::ForOp::DEF),
    Retype(scf::IfOp::DEF),
    Retype(scf::WhileOp::DEF),
    Retype(scf::ConditionOp::DEF),
    Retype(scf::YieldOp::DEF),
];

fn all<'p>(tables: &[&'p [ConversionRule]]) -> Vec<&'p dyn ConversionPattern> {
    let rules = tables.iter().flat_map(|table| table.iter()).map(|own| own as &dyn ConversionPattern);
    rules.chain(STRUCTURE.iter().map(|own| own as &dyn ConversionPattern)).collect()
}

type Converted = Result<ConversionReport, Diagnostics>;

fn full(body: &mut Body, tables: &[&[ConversionRule]]) -> Converted {
    let types = to_integers(&body.ctx().clone());
    apply_full_conversion(body, &arith_target(&types), &types, &all(tables))
}

/// Converts a program, which must fail and change nothing. Returns the diagnostics.
fn fails(source: &str, convert: impl Fn(&mut Body) -> Converted) -> String {
    let ctx = context();
    let mut body = read(&ctx, source);
    let before = print(&body);
    let root = body.root();
    let errors = convert(&mut body).expect_err("it fails");
    assert_eq!(print(&body), before);
    assert!(verifier::verify(&body).is_empty());
    // Handles from before are still good.
    assert_eq!(body.op_ref(root).name(), "builtin.module");
    errors.to_text(&ctx)
}

const EVERYTHING: &str = "
func.func private @twice(%x: !toy.int, %u: !toy.unit, %p: !toy.pair) -> (!toy.pair, !toy.int, !toy.unit) {
  %0 = toy.twice %x : !toy.int
  return %p, %0, %u : !toy.pair, !toy.int, !toy.unit
}
func.func @main(%n: index, %flag: i1) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = toy.constant 1 : !toy.int
  %two = toy.constant 2 : !toy.int
  %unit = toy.unit : !toy.unit
  %start = toy.pack %one, %two : !toy.int to !toy.pair
  %sum:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %start, %u = %unit) -> (!toy.pair, !toy.unit) {
    %a, %b = toy.unpack %p : !toy.pair to !toy.int, !toy.int
    %c = toy.add %a, %b : !toy.int
    %q = toy.pack %b, %c : !toy.int to !toy.pair
    scf.yield %q, %u : !toy.pair, !toy.unit
  }
  cf.cond_br %flag, ^then(%sum#0, %sum#1 : !toy.pair, !toy.unit), ^join(%one, %sum#0 : !toy.int, !toy.pair)
^then(%p: !toy.pair, %u: !toy.unit):
  %r:3 = call @twice(%two, %u, %p) : (!toy.int, !toy.unit, !toy.pair) -> (!toy.pair, !toy.int, !toy.unit)
  cf.br ^join(%r#1, %r#0 : !toy.int, !toy.pair)
^join(%k: !toy.int, %l: !toy.pair):
  %a, %b = toy.unpack %l : !toy.pair to !toy.int, !toy.int
  %s = toy.add %a, %k : !toy.int
  %t = scf.if %flag -> (!toy.int) {
    scf.yield %s : !toy.int
  } else {
    %v = toy.add %s, %b : !toy.int
    scf.yield %v : !toy.int
  }
  %result = builtin.unrealized_conversion_cast %t : !toy.int to i32
  return %result : i32
}";

#[test]
fn functions_calls_branches_and_loops_are_converted() {
    let ctx = context();
    let mut body = read(&ctx, EVERYTHING);
    let types = to_integers(&ctx);
    let mut target = arith_target(&types);
    target.illegal_op("builtin.unrealized_conversion_cast");
    let mut patterns = all(&[TO_ARITH]);
    struct Cast;
    impl ConversionPattern for Cast {
        fn convert(
            &self,
            rewriter: &mut loomir_ir::rewrite::ConversionRewriter<'_>,
            op: loomir_ir::Op,
            operands: &loomir_ir::rewrite::Operands,
        ) -> Result<(), loomir_ir::rewrite::NoMatch> {
            let value = operands.one(0)?;
            rewriter.replace(op, &[value]);
            Ok(())
        }
        fn root(&self) -> Option<&'static loomir_ir::OpDef> {
            Some(loomir_dialects::builtin::UnrealizedConversionCastOp::DEF)
        }
    }
    patterns.push(&Cast);
    let report = apply_full_conversion(&mut body, &target, &types, &patterns)
        .unwrap_or_else(|errors| panic!("{}", errors.to_text(&ctx)));
    assert_eq!(report.materialized, 0);
    let wrong = verifier::verify(&body);
    assert!(wrong.is_empty(), "{}\n{}", wrong.to_text(&ctx), print(&body));
    insta::assert_snapshot!(print(&body));
    // After 4 steps the pair is (8, 13).
    for (flag, expected) in [("true", "12"), ("false", "22")] {
        let arguments = ["4", flag].map(|own| ArgSpec::parse(&ctx, own).expect("an argument"));
        let limits = Limits { steps: 10_000, call_depth: 10, memory: 1 << 16 };
        let outcome = run(&body, "main", &arguments, &limits).expect("it runs");
        assert_eq!(outcome.to_text(), format!("result 0: {expected}\n"));
    }
}

#[test]
fn operations_that_own_a_body_get_another_name_or_go() {
    let ctx = context();
    let mut body = read(
        &ctx,
        r#"
        "toy.func"() <{sym_name = "f", function_type = (!toy.pair) -> !toy.int}> ({
        ^bb0(%p: !toy.pair):
          toy.note {
            %0 = toy.constant 1 : !toy.int
            toy.note {}
          }
          %a, %b = toy.unpack %p : !toy.pair to !toy.int, !toy.int
          toy.return %b : !toy.int
        }) : () -> ()"#,
    );
    let report = full(&mut body, &[TO_ARITH]).unwrap_or_else(|d| panic!("{}", d.to_text(&ctx)));
    assert_eq!(report, ConversionReport { converted: 4, materialized: 0 });
    let wrong = verifier::verify(&body);
    assert!(wrong.is_empty(), "{}", wrong.to_text(&ctx));
    let expected = "module {
  func.func @f(%arg0: i32, %arg1: i32) -> i32 {
    return %arg1 : i32
  }
}
";
    assert_eq!(print(&body), expected);
}

#[test]
fn a_use_before_its_definition_in_the_text_is_converted() {
    let ctx = context();
    let mut body = read(
        &ctx,
        "func.func @f() -> !toy.int {
           cf.br ^last
         ^first:
           return %x : !toy.int
         ^last:
           %x = toy.constant 7 : !toy.int
           cf.br ^first
         }",
    );
    let report = full(&mut body, &[TO_ARITH]).expect("it converts");
    assert_eq!(report, ConversionReport { converted: 3, materialized: 0 });
    assert!(verifier::verify(&body).is_empty());
    assert!(!print(&body).contains("toy"), "{}", print(&body));
    assert!(!print(&body).contains("cast"), "{}", print(&body));
}

const USES: &str = "func.func @f(%x: i32) {
  %0 = toy.constant 1 : !toy.int
  %1 = toy.add %0, %0 : !toy.int
  toy.use %1 : !toy.int
  toy.use %1 : !toy.int
  return
}";

/// Converts sums and constants only.
fn partial(body: &mut Body, with: impl Fn(&mut TypeConverter<'_>)) -> Converted {
    let mut types = to_integers(&body.ctx().clone());
    with(&mut types);
    let mut target = ConversionTarget::new();
    target.legal_dialect("arith").illegal_op("toy.constant").illegal_op("toy.add");
    apply_partial_conversion(body, &target, &types, &all(&[TO_ARITH]))
}

#[test]
fn a_partial_conversion_keeps_casts_if_it_may() {
    let ctx = context();
    let mut body = read(&ctx, USES);
    let report = partial(&mut body, |types| {
        types.keep_casts();
    })
    .expect("it converts");
    assert_eq!(report.materialized, 1);
    insta::assert_snapshot!(print(&body));
}

#[test]
fn a_partial_conversion_materializes_what_users_need() {
    let ctx = context();
    let mut body = read(&ctx, USES);
    let report = partial(&mut body, |types| {
        types.source_materialization(|builder, values, types| {
            let state = OperationState::new(&builder.ctx(), "toy.pack", builder.loc());
            let op = builder.insert(state.operands(&[values[0], values[0]]).results(types));
            Some(vec![builder.body().result(op, 0)])
        });
    });
    assert_eq!(report.expect("it converts").materialized, 1);
    assert_eq!(print(&body).matches("toy.pack").count(), 1);
    assert!(!print(&body).contains("cast"));
}

#[test]
fn a_cast_that_nothing_makes_is_an_error() {
    insta::assert_snapshot!(fails(USES, |body| partial(body, |_| ())));
}

#[test]
fn the_other_direction_is_an_error_too() {
    let source = "func.func @f(%x: !toy.int) -> i1 {
      %0 = toy.add %x, %x : !toy.int
      %t = arith.constant true
      return %t : i1
    }";
    // The sum is unused and needs its operand all the same.
    insta::assert_snapshot!(fails(source, |body| {
        let types = to_integers(&body.ctx().clone());
        let mut target = ConversionTarget::new();
        target.legal_dialect("arith").legal_dialect("func").illegal_op("toy.add");
        apply_partial_conversion(body, &target, &types, &all(&[TO_ARITH]))
    }));
}

#[test]
fn what_no_pattern_converts_is_named() {
    insta::assert_snapshot!(fails(USES, |body| full(body, &[TO_ARITH])));
}

#[test]
fn the_patterns_that_were_tried_are_named() {
    let source = "func.func @f(%x: !toy.int, %o: !toy.odd) -> !toy.int {
      %0 = toy.add %x, %x : !toy.int
      %1 = toy.twice %o : !toy.odd
      return %0 : !toy.int
    }";
    insta::assert_snapshot!(fails(source, |body| full(body, &[&TO_ARITH[2..], &WRONG[3..]])));
}

#[test]
fn the_next_pattern_is_tried_if_one_does_not_match() {
    let ctx = context();
    let mut body = read(&ctx, "func.func @f(%x: !toy.int) { %0 = toy.add %x, %x : !toy.int return }");
    assert!(full(&mut body, &[&WRONG[3..], TO_ARITH]).is_ok());
}

#[test]
fn patterns_with_defects_are_named() {
    let mut said = String::new();
    for source in [
        "func.func @f(%x: !toy.int) { %0 = toy.spin %x : !toy.int return }",
        "func.func @f() { %0 = toy.unit : !toy.unit return }",
        "func.func @f(%x: !toy.int) { %0 = toy.twice %x : !toy.int return }",
    ] {
        said += &fails(source, |body| full(body, &[WRONG]));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn values_that_become_several_must_be_variadic() {
    let source = "func.func @f(%c: i1, %p: !toy.pair) {
      %0 = arith.select %c, %p, %p : !toy.pair
      return
    }";
    let select = Retype(arith::SelectOp::DEF);
    insta::assert_snapshot!(fails(source, |body| {
        let types = to_integers(&body.ctx().clone());
        let mut target = arith_target(&types);
        target.dynamic_dialect("arith", |op| types.is_legal_op(op));
        let mut patterns = all(&[TO_ARITH]);
        patterns.push(&select);
        apply_full_conversion(body, &target, &types, &patterns)
    }));
}

#[test]
fn attributes_of_arguments_are_not_torn_from_them() {
    let ctx = context();
    let one = "func.func private @f(!toy.int {llvm.noundef})";
    let mut body = read(&ctx, one);
    full(&mut body, &[TO_ARITH]).expect("it converts");
    assert!(print(&body).contains("@f(i32 {llvm.noundef})"), "{}", print(&body));
    let two = "func.func private @f(!toy.pair {llvm.noundef})";
    assert!(fails(two, |body| full(body, &[TO_ARITH])).contains("attribute 'arg_attrs' may depend"));
}

#[test]
fn what_is_legal_with_all_inside_stays() {
    let ctx = context();
    let mut body = read(&ctx, USES);
    let before = print(&body);
    let types = to_integers(&ctx);
    let mut target = arith_target(&types);
    target.recursively_legal_op("func.func");
    let report = apply_full_conversion(&mut body, &target, &types, &all(&[TO_ARITH])).expect("it converts");
    assert_eq!((report.converted, print(&body)), (0, before));
}

#[test]
fn ten_thousand_operations_are_converted_in_one_sweep() {
    let ctx = context();
    let mut source = "func.func @f(%0: !toy.int) -> !toy.int {\n".to_owned();
    for i in 1..=10_000 {
        source += &format!("%{i} = toy.twice %{} : !toy.int\n", i - 1);
    }
    source += "return %10000 : !toy.int }";
    let mut body = read(&ctx, &source);
    let report = full(&mut body, &[TO_ARITH]).expect("it converts");
    assert_eq!(report, ConversionReport { converted: 20_002, materialized: 0 });
    assert!(verifier::verify(&body).is_empty());
}
