//! Affine forms, ranges and facts of values, compared with all possible values: random expressions
//! at widths where every input is tried.

use loomir::ir::{Body, Value};
use loomir::transforms::affine::Atom;
use loomir::transforms::affine::Forms;
use loomir_tests::expressions::{Expressions, Number};
use loomir_tests::random::Random;

/// Returns every vector of numbers of these many bits.
fn inputs(width: u32, arguments: usize) -> impl Iterator<Item = Vec<i128>> {
    let (count, low) = (1usize << width, -(1i128 << (width - 1)));
    (0..count.pow(arguments as u32)).map(move |index| {
        (0..arguments).map(|at| low + (index / count.pow(at as u32) % count) as i128).collect()
    })
}

/// Returns the arguments and results of the only function, in order.
fn values(function: &Body) -> Vec<Value> {
    let region = function.own_regions(function.root()).next().expect("a function has a region");
    let block = function.blocks(region).next().expect("it has a body");
    let results = function.ops(block).flat_map(|op| function.results(op));
    function.arguments(block).chain(results).collect()
}

#[derive(Default, Debug)]
struct Tally {
    /// Values that are affine in the arguments.
    affine: u32,
    /// Values of other parameters.
    named: u32,
    /// Values that share the name of another value.
    shared: u32,
    /// Ranges that are narrower than the type's.
    narrow: u32,
    relations: u32,
    checked: u64,
}

fn case(index: u64, tally: &mut Tally) {
    let mut random = Random::of_case(17, index);
    let (width, arguments) = *random.pick(&[(3, 3), (4, 2), (5, 2)]);
    let lines = 4 + random.below(12);
    let program = Expressions::generate(&mut random, width, arguments, lines, 40);
    let text = program.to_mlir(&[]);
    let ctx = loomir::context();
    let mut module = loomir::parse(&ctx, &text, "t.mlir").unwrap_or_else(|e| panic!("{}", e.to_text(&ctx)));
    let function: &Body = module.nested_in_order().remove(0);
    let values = values(function);
    let number_of =
        |value: Value| values.iter().position(|v| *v == value).expect("it is one of the function");
    let block = function.value_block(values[0]).expect("an argument has a block");
    let mut forms = Forms::new(function, block);
    let all: Vec<_> = values.iter().map(|value| (forms.of(*value), forms.range_of(*value))).collect();
    let facts = forms.facts();
    let none = Default::default();
    for (at, (form, range)) in all.iter().enumerate() {
        let form = form.as_ref().unwrap_or_else(|| panic!("all values are parameters at least\n{text}"));
        match form.terms() {
            [(Atom::Param(name), 1)] if form.constant_part() == 0 && number_of(*name) >= arguments => {
                tally.named += 1;
                tally.shared += u32::from(number_of(*name) != at);
                tally.relations += facts.relations(&Atom::Param(*name), &none).len() as u32;
            }
            _ => tally.affine += u32::from(at >= arguments),
        }
        tally.narrow += u32::from(range.0 > -(1 << (program.width_of(at) - 1)));
    }
    for input in inputs(width, arguments) {
        let Some(numbers) = program.compute(&input) else { continue };
        let number = |value: Value| match numbers[number_of(value)] {
            Number::Is(number) => i64::try_from(number).ok(),
            Number::Poison => None,
        };
        for (at, (form, range)) in all.iter().enumerate() {
            let Number::Is(own) = numbers[at] else { continue };
            let says = || format!("value {at} is {own} for {input:?}, and its form is {form:?}\n{text}");
            assert!(range.0 <= own && own <= range.1, "not in {range:?}: {}", says());
            let Some(form) = form else { continue };
            // A named value is poison only if the original value is.
            let found = form.evaluate(&|_| None, &number);
            assert_eq!(found.map(i128::from), Some(own), "{}", says());
            form.each_unknown(&mut |unknown| {
                let value = form_of(unknown, &number);
                let range = facts.range(unknown, &none).expect("parameters have facts");
                assert!(range.0 <= value && value <= range.1, "{unknown:?} not in {range:?}: {}", says());
                for relation in facts.relations(unknown, &none) {
                    let value = relation.evaluate(&|_| None, &number);
                    assert!(value.is_none_or(|value| value >= 0), "{relation:?} is negative: {}", says());
                }
            });
            tally.checked += 1;
        }
    }
}

fn form_of(unknown: &Atom, number: &dyn Fn(Value) -> Option<i64>) -> i128 {
    let factors = unknown.factors().into_iter().flatten();
    factors.map(|value| i128::from(number(*value).expect("it is not poison"))).product()
}

#[test]
fn forms_and_facts_say_what_values_are() {
    let cases = std::env::var("LOOMIR_FORM_CASES").map_or(1_000, |n| n.parse().expect("LOOMIR_FORM_CASES"));
    let mut tally = Tally::default();
    for index in 0..cases {
        case(index, &mut tally);
    }
    let Tally { affine, named, shared, narrow, relations, checked } = tally;
    assert!(affine > 300 && named > 300 && shared > 50 && narrow > 300 && relations > 100, "{tally:?}");
    assert!(checked > 100_000, "{tally:?}");
}

/// Returns a loop with `count` operations that each take the result of the one before as `%v`.
fn chain(count: usize, op: &str) -> String {
    let link = |at: usize| op.replace("%v", &format!("%v{at}")).replace("%w", &format!("%v{}", at + 1));
    let links: String = (0..count).map(|at| link(at) + "\n").collect();
    format!(
        "func.func @f(%a: memref<64xi32>, %b: memref<64xi32>, %n: index) {{
           affine.for %v0 = 0 to 16 {{
             {links}
             %x = memref.load %a[%v{count}] : memref<64xi32>
             affine.store %x, %b[%v0] : memref<64xi32>
           }}
           return
         }}"
    )
}

#[test]
fn long_chains_overflow_no_stack() {
    let ops = [
        "%w = arith.addi %v, %n : index",
        "%w = arith.maxsi %v, %n : index",
        "%w = affine.apply affine_map<(d0)[s0] -> (d0 + s0)>(%v)[%n]",
        "%w = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%v, %v)",
        "%w = affine.min affine_map<(d0)[s0] -> (d0, s0)>(%v)[%n]",
    ];
    for op in ops {
        for pass in ["loop-distribute", "loop-vectorize{alias=distinct gathers=all}"] {
            let pipeline = loomir::Pipeline::new().passes(pass);
            let text = chain(6_000, op);
            pipeline.run(&text, "chain.mlir").unwrap_or_else(|why| panic!("{op}, {pass}: {why}"));
        }
    }
}
