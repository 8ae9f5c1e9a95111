//! MLIR's text: what is read prints back, what is wrong is said, nothing panics.
//!
//! `everything.mlir` holds every builtin type, attribute and shape of operation;
//! `everything.generic.mlir` is what `mlir-opt` 22 prints of it. Where the variable `LOOMIR_LLVM`
//! says where that program is, the tests ask it again.

use insta::assert_snapshot;
use loomir_ir::opdef::{EnumDef, EnumStorage, StructAttrDef};
use loomir_ir::text::{
    AsmNames, Delimiter, DirectiveArg, DirectiveDef, OpParser, OpPrinter, ParseResult, PrintOptions,
};
use loomir_ir::{
    AttrKind, Context, Diagnostics, OpRef, OperationState, Registry, Type, Value, dialect, text,
};

use crate::peers::Peer;

static MODE: EnumDef = EnumDef {
    name: "toy.mode",
    cases: &[("slow", 0), ("fast", 1)],
    flags: false,
    separator: ",",
    storage: EnumStorage::Integer(64),
};
static FLAGS: EnumDef = EnumDef {
    name: "toy.flags",
    cases: &[("none", 0), ("a", 1), ("b", 2)],
    flags: true,
    separator: ",",
    storage: EnumStorage::Attribute,
};

static SIZE: StructAttrDef = StructAttrDef {
    name: "toy.size",
    alias: Some("size"),
    parse: |p| {
        p.expect("<")?;
        let inner = p.parse_attr(None)?;
        p.expect(">")?;
        Ok(vec![(p.ctx().name("inner"), inner)])
    },
    print: |p, params| {
        p.write("<");
        params.iter().for_each(|(_, inner)| p.attr(*inner));
        p.write(">");
    },
};

fn parse_scale(
    p: &mut OpParser<'_, '_>,
    _: &mut OperationState,
    args: &mut [DirectiveArg],
) -> ParseResult<()> {
    if p.accept_keyword("times") {
        let factor = p.parse_integer()?;
        args[0] = DirectiveArg::Attr(Some(p.ctx().int_attr(Type::I64, factor)));
    }
    Ok(())
}

fn print_scale(p: &mut OpPrinter<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    if let DirectiveArg::Attr(Some(factor)) = &args[0]
        && let Some(factor) = factor.as_int(op.ctx())
    {
        p.write(&format!("times {factor}"));
    }
}

fn parse_loop(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let mut argument = p.parse_argument(false)?;
    p.expect_keyword("to")?;
    let bound = p.parse_operand()?;
    state.operands.push(p.resolve(bound, Type::INDEX)?);
    argument.ty = Type::INDEX;
    p.parse_region(state, &[argument])?;
    p.ensure_terminator(state, 0, YieldOp::DEF);
    p.parse_optional_attr_dict(state)
}

fn print_loop(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let entry = op.body().entry_block(op.region(0));
    p.write(" ");
    if let Some(entry) = entry {
        p.operand(op.body().argument(entry, 0));
    }
    p.write(" to ");
    p.operand(op.operand(0));
    p.write(" ");
    p.region(op, 0, false, false);
    p.attr_dict(op, &[]);
}

fn parse_at(p: &mut OpParser<'_, '_>, state: &mut OperationState) -> ParseResult<()> {
    let (map, operands, _) = p.parse_affine_map_of_ssa_ids(Delimiter::Square)?;
    let map = p.ctx().attr(AttrKind::AffineMap(map));
    state.set_attr(p.ctx(), "map", map);
    state.operands = p.resolve_same(&operands, Type::INDEX)?;
    Ok(())
}

fn print_at(p: &mut OpPrinter<'_>, op: OpRef<'_>) {
    let operands: Vec<Value> = op.operands().collect();
    p.write(" [");
    if let Some(map) = op.attr("map").and_then(|m| m.as_affine_map(op.ctx())) {
        p.affine_map_of_ssa_ids(map, &operands);
    }
    p.write("]");
}

dialect! {
    /// Operations to read and print.
    pub TOY = "toy" {
        enums [FLAGS]
        attrs [SIZE]
        directives [DirectiveDef { name: "Scale", parse: parse_scale, print: print_scale }]
    }

    /// A function.
    FuncOp = "func" {
        attrs { sym_name: Required String }
        regions { body: Any }
        traits [IsolatedFromAbove, NoTerminator]
        format "$sym_name attr-dict-with-keyword $body"
    }
    /// A number.
    ConstOp = "const" {
        results { result: One Index }
        attrs { value: Required Index }
        format "$value attr-dict"
    }
    /// Types inferred from the result.
    AddOp = "add" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { sum: One SameAs("lhs") }
        attrs { flags: Default = "#toy.flags<none>" Enum(&FLAGS) }
        format "$lhs `,` $rhs (`flags` `` $flags^)? attr-dict `:` type($sum)"
    }
    /// Types inferred by a trait.
    MaxOp = "max" {
        operands { values: Variadic Any }
        results { result: One Any }
        attrs { mode: Required Enum(&MODE) }
        traits [SameOperandsAndResultType]
        format "$mode $values attr-dict `:` type($result)"
    }
    /// Shape of a comparison.
    CmpOp = "cmp" {
        operands { lhs: One SignlessIntegerLike, rhs: One SameAs("lhs") }
        results { result: One BoolShapedAs("lhs") }
        format "$lhs `,` $rhs attr-dict `:` type($lhs)"
    }
    /// Optional groups of all kinds.
    OptionsOp = "options" {
        operands { first: Optional Any, rest: Variadic Any }
        attrs { volatile_: Optional Unit, name: Optional String, scale: Optional Integer(64), at: Optional DenseArray(Type::I64) }
        traits [AttrSizedOperandSegments]
        format "(`volatile` $volatile_^)? (`first` `(` $first^ `:` type($first) `)`)? (`[` $rest^ `:` type($rest) `]`) : (`empty`)? (`named` $name^)? custom<Scale>($scale) (`at` `` $at^)? attr-dict"
    }
    /// Clauses in any order.
    ClausesOp = "clauses" {
        operands { num: Optional Index }
        attrs { nowait: Optional Unit, mode: Optional Enum(&MODE) }
        format "oilist(`num` `(` $num `)` | `nowait` $nowait | `mode` `(` $mode `)`) attr-dict"
    }
    /// Everything by directives.
    CallOp = "call" {
        operands { inputs: Variadic Any }
        results { outputs: Variadic Any }
        attrs { callee: Required FlatSymbol }
        format "$callee `(` $inputs `)` attr-dict `:` functional-type(operands, results)"
    }
    /// A branch.
    BranchOp = "br" {
        operands { values: Variadic Any }
        successors { dest }
        traits [Terminator]
        format "$dest (`(` $values^ `:` type($values) `)`)? attr-dict"
    }
    /// The end of a region.
    YieldOp = "yield" {
        traits [Terminator]
        format "attr-dict"
    }
    /// A loop with a syntax of its own.
    LoopOp = "loop" {
        operands { bound: One Index }
        regions { body: SingleBlock }
        syntax (parse_loop, print_loop);
    }
    /// Subscripts.
    AtOp = "at" {
        operands { values: Variadic Index }
        attrs { map: Required AffineMap }
        syntax (parse_at, print_at);
    }
}

struct ConstNames;

impl AsmNames for ConstNames {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        let value = op.attr("value").and_then(|v| v.as_int(op.ctx())).unwrap_or_default();
        vec![(op.result(0), format!("c{value}"))]
    }
}

struct InFunc;

impl AsmNames for InFunc {
    fn default_dialect(&self) -> &'static str {
        "toy"
    }
}

fn context() -> Context {
    let mut registry = Registry::new();
    registry.dialect(&TOY);
    registry.attach::<dyn AsmNames>("toy.const", Box::new(ConstNames));
    registry.attach::<dyn AsmNames>("toy.func", Box::new(InFunc));
    Context::new(registry)
}

fn options(generic: bool, debug_info: bool) -> PrintOptions {
    PrintOptions { generic, debug_info, ..PrintOptions::default() }
}

/// Reads and prints; an error is the diagnostics' text.
fn through(source: &str, options: &PrintOptions) -> Result<String, String> {
    let ctx = context();
    let text = |d: Diagnostics| d.to_text(&ctx);
    let body = text::parse(&ctx, source, "in.mlir").map_err(text)?;
    Ok(text::print(&body, options))
}

const EVERYTHING: &str = include_str!("fixtures/everything.mlir");
const EVERYTHING_GENERIC: &str = include_str!("fixtures/everything.generic.mlir");

const CUSTOM: &str = r#"
toy.func @f attributes {note = 1 : i8} {
  %c3 = const 3
  %c3_0 = const 3 {x}
  %0 = add %c3, %c3_0 : index
  %1 = add %0, %c3 flags<a,b> : index
  %2 = max fast %0, %1, %c3 : index
  %3 = cmp %2, %1 : index
  options empty
  options volatile first(%0 : index) [%1, %3 : index, i1] named "n" times 4 at[1, -2] {extra}
  clauses num(%c3) nowait mode(slow)
  clauses mode(fast) num(%c3)
  clauses
  %4:2 = call @"g h"(%0, %3) {u = unit} : (index, i1) -> (index, (i32) -> i1)
  call @h() : () -> ()
  loop %arg0 to %c3 {
    toy.loop %arg1 to %arg0 {
      toy.at [%arg0 + %arg1 * 2 - 1, symbol(%c3) mod 4]
    }
  } {tag}
  br ^bb2(%4#0, %0 : index, index)
^bb1:  // no predecessors
  "x.r"() ({
  ^bb0(%a: i32):
    "x.y"(%a, %a) : (i32, i32) -> ()
  }) : () -> ()
  yield
^bb2(%p: index, %q: index):
  br ^bb1
}
toy.func @empty {
}
"#;

#[test]
fn generic_form_prints_as_it_is_read() {
    let printed = through(EVERYTHING_GENERIC, &options(true, false)).unwrap();
    assert_eq!(printed.trim_end(), EVERYTHING_GENERIC.trim_end());
    let printed = through(EVERYTHING, &options(true, false)).unwrap();
    assert_eq!(printed.trim_end(), EVERYTHING_GENERIC.trim_end());
}

#[test]
fn custom_form_prints_as_it_is_read() {
    let printed = through(CUSTOM, &options(false, false)).unwrap();
    assert_snapshot!("custom", printed);
    assert_eq!(through(&printed, &options(false, false)).unwrap(), printed);
    let generic = through(CUSTOM, &options(true, false)).unwrap();
    assert_snapshot!("custom-as-generic", generic);
    assert_eq!(through(&generic, &options(false, false)).unwrap(), printed);
}

#[test]
fn locations_survive() {
    for generic in [false, true] {
        let once = through(CUSTOM, &options(generic, true)).unwrap();
        assert_eq!(through(&once, &options(generic, true)).unwrap(), once);
    }
    let aliases =
        "#b = loc(\"n\"(#a))\n\"t.x\"() : () -> () loc(#c)\n#a = loc(\"f\":1:2)\n#c = loc(fused[#a, #b])\n";
    assert!(through(aliases, &options(true, true)).unwrap_err().contains("never defined"));
    let aliases =
        "\"t.x\"() : () -> () loc(#c)\n#a = loc(\"f\":1:2)\n#b = loc(\"n\"(#a))\n#c = loc(fused[#a, #b])\n";
    assert_snapshot!("locations", through(aliases, &options(true, true)).unwrap());
}

#[test]
fn aliases_are_as_definitions_say() {
    let source = "#a = #toy.size<4 : i8>\n#b = #toy.size<#a>\n\"t.x\"() {b = #b, a = [#a], c = #toy.size<5 : i8>} : () -> ()\n";
    let printed = through(source, &options(true, false)).unwrap();
    assert_snapshot!("aliases", printed);
    assert_eq!(through(&printed, &options(true, false)).unwrap(), printed);
    let local = PrintOptions { local_scope: true, ..options(true, false) };
    assert_snapshot!("no-aliases", through(source, &local).unwrap());
}

#[test]
fn every_error_is_said_where_it_is() {
    let mut report = String::new();
    for source in include_str!("fixtures/errors.mlir").split("// -----\n") {
        let outcome = through(source, &options(true, false));
        let said = outcome.expect_err(source);
        report.push_str(&format!("{}\n{}\n", source.trim_end(), said));
    }
    assert_snapshot!("errors", report);
}

#[test]
fn all_errors_of_a_file_are_found() {
    let source = "%a = \"t.a\"( : () -> i32\n\"t.b\"(%a) : (i32) -> ()\n\"t.r\"() ({\n  \"t.c\"() : () -> i99999999999\n  \
                  \"t.d\"() : () -> ()\n  \"t.e\"(%zz) : (i1) -> ()\n}) : () -> ()\n\"t.f\"(%yy) : (f32) -> ()\nnope\n";
    assert_snapshot!("all-errors", through(source, &options(true, false)).unwrap_err());
}

/// Whatever the end, an answer.
#[test]
fn truncated_files_are_answered() {
    let ctx = context();
    for source in [EVERYTHING, EVERYTHING_GENERIC, CUSTOM] {
        for end in (0..source.len()).filter(|end| source.is_char_boundary(*end)) {
            if let Ok(body) = text::parse(&ctx, &source[..end], "cut.mlir") {
                text::print(&body, &options(false, true));
            }
        }
    }
}

/// Bytes changed at random: an answer, and if it is a module, one that prints and reads back.
#[test]
fn damaged_files_are_answered() {
    let ctx = context();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let pieces = [
        "<", ">", "(", ")", "{", "}", "[", "]", ",", ":", "%0", "^bb0", "#map", "!t", "->", "0x", "-", "\"",
        "@", "loc(", "dense<", "1", "i32", "\n",
    ];
    for source in [EVERYTHING, CUSTOM] {
        for _ in 0..1500 {
            let mut bytes = source.as_bytes().to_vec();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                match random(3) {
                    0 => drop(bytes.remove(at)),
                    1 => bytes[at] = b' ' + random(95) as u8,
                    _ => drop(bytes.splice(at..at, pieces[random(pieces.len())].bytes())),
                }
            }
            let Ok(damaged) = String::from_utf8(bytes) else { continue };
            let Ok(body) = text::parse(&ctx, &damaged, "damaged.mlir") else { continue };
            let printed = text::print(&body, &options(true, false));
            let again = text::parse(&ctx, &printed, "again.mlir");
            let again = again.map_err(|d| format!("{}\n{damaged}\n{printed}", d.to_text(&ctx))).unwrap();
            assert_eq!(text::print(&again, &options(true, false)), printed);
        }
    }
}

/// Modules of random operations, regions, blocks, uses before and after definitions, attributes and
/// types.
struct Generator {
    seed: u64,
    next: usize,
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed % n as u64) as usize
    }

    fn pick<'t>(&mut self, items: &[&'t str]) -> &'t str {
        items[self.below(items.len())]
    }

    fn ty(&mut self) -> &'static str {
        self.pick(&[
            "i32",
            "index",
            "f64",
            "memref<?x4xf32, strided<[4, 1], offset: ?>>",
            "tuple<i1, (f32) -> ()>",
            "!d.t<[1, 2]>",
        ])
    }

    fn attrs(&mut self) -> String {
        let values = [
            "1 : i8",
            "-7",
            "1.5",
            "\"s\\0A\"",
            "[1, @f::@g, unit]",
            "{k = i32}",
            "dense<[1, 2]> : tensor<2xi8>",
            "array<i16: 1>",
            "affine_map<(d0)[s0] -> (d0 + s0 * 3, d0 mod 2)>",
            "affine_set<(d0) : (d0 - 1 >= 0)>",
            "#d.a<x>",
            "loc(\"f\":1:2)",
        ];
        let attrs: Vec<String> =
            (0..self.below(3)).map(|i| format!("a{i} = {}", self.pick(&values))).collect();
        if attrs.is_empty() { String::new() } else { format!(" {{{}}}", attrs.join(", ")) }
    }

    fn region(&mut self, depth: usize, visible: &[(String, &'static str)], out: &mut String) {
        let blocks = 1 + self.below(3);
        let mut visible = visible.to_vec();
        for block in 0..blocks {
            if blocks > 1 {
                let (name, ty) = (format!("%b{}", self.next), self.ty());
                self.next += 1;
                out.push_str(&format!("^bb{block}({name}: {ty}):\n"));
                visible.push((name, ty));
            }
            for _ in 0..=self.below(4) {
                let number = self.next;
                self.next += 1;
                let results: Vec<&str> = (0..self.below(3)).map(|_| self.ty()).collect();
                let operands: Vec<(String, &str)> = (0..self.below(3).min(visible.len()))
                    .map(|_| visible[self.below(visible.len())].clone())
                    .collect();
                if !results.is_empty() {
                    out.push_str(&format!("%r{number}:{} = ", results.len()));
                }
                let names: Vec<&str> = operands.iter().map(|o| o.0.as_str()).collect();
                out.push_str(&format!("\"d.op\"({})", names.join(", ")));
                if blocks > 1 && self.below(4) == 0 {
                    out.push_str(&format!("[^bb{}]", self.below(blocks)));
                }
                if depth > 0 && self.below(3) == 0 {
                    out.push_str(" ({\n");
                    self.region(depth - 1, &visible, out);
                    out.push_str("})");
                }
                let types: Vec<&str> = operands.iter().map(|o| o.1).collect();
                let attrs = self.attrs();
                out.push_str(&format!("{attrs} : ({}) -> ({})\n", types.join(", "), results.join(", ")));
                for (i, ty) in results.iter().enumerate() {
                    visible.push((format!("%r{number}#{i}"), self.same(ty)));
                }
            }
        }
    }

    /// The type, as one that lives on.
    fn same(&self, ty: &str) -> &'static str {
        let all = [
            "i32",
            "index",
            "f64",
            "memref<?x4xf32, strided<[4, 1], offset: ?>>",
            "tuple<i1, (f32) -> ()>",
            "!d.t<[1, 2]>",
        ];
        all.into_iter().find(|t| *t == ty).unwrap_or("i32")
    }
}

#[test]
fn generated_modules_print_and_read_back() {
    let ctx = context();
    let mut generator = Generator { seed: 7, next: 0 };
    for _ in 0..200 {
        let mut source = String::new();
        generator.next = 0;
        generator.region(3, &[], &mut source);
        let source = format!("\"d.outer\"() ({{\n{source}}}) : () -> ()\n");
        for (generic, debug_info) in [(true, false), (false, false), (true, true), (false, true)] {
            let options = options(generic, debug_info);
            let body = text::parse(&ctx, &source, "in.mlir");
            let body = body.map_err(|d| format!("{}{source}", d.to_text(&ctx))).unwrap();
            let once = text::print(&body, &options);
            let again = text::parse(&ctx, &once, "out.mlir");
            let again = again.map_err(|d| format!("{}{once}", d.to_text(&ctx))).unwrap();
            assert_eq!(text::print(&again, &options), once);
        }
    }
}

/// Functions are read one after the other into the same tables: none may meet what the one before
/// left there, whatever the sizes.
#[test]
fn functions_in_one_file_are_as_in_files_of_their_own() {
    let ctx = context();
    let mut generator = Generator { seed: 3, next: 0 };
    let functions: Vec<String> = (0..300)
        .map(|i| {
            let mut source = String::new();
            generator.next = 0;
            generator.region(i % 4, &[], &mut source);
            let early = "\"d.early\"(%late) : (i8) -> ()\n%late = \"d.late\"() : () -> i8\n";
            format!("toy.func @f{i} {{\n{source}{early}}}\n")
        })
        .collect();
    let options = PrintOptions { local_scope: true, ..PrintOptions::default() };
    let print = |source: &str| {
        let body = text::parse(&ctx, source, "in.mlir");
        let printed = text::print(&body.map_err(|d| d.to_text(&ctx)).unwrap(), &options);
        // Without the lines of the module.
        let lines: Vec<&str> = printed.lines().collect();
        lines[1..lines.len() - 1].join("\n") + "\n"
    };
    let apart: String = functions.iter().map(|function| print(function)).collect();
    assert_eq!(print(&functions.concat()), apart);
}

#[test]
fn nesting_is_bounded_and_the_bound_is_named() {
    let regions = |n: usize| format!("{}{}", "\"t.r\"() ({\n".repeat(n), "}) : () -> ()\n".repeat(n));
    let types = |n: usize| format!("\"t.t\"() {{x = {}i32{}}} : () -> ()", "tuple<".repeat(n), ">".repeat(n));
    let attrs = |n: usize| format!("\"t.t\"() {{x = {}{}}} : () -> ()", "[".repeat(n), "]".repeat(n));
    let affine = |n: usize| {
        format!("\"t.t\"() {{x = affine_map<(d0) -> ({}d0{})>}} : () -> ()", "(".repeat(n), ")".repeat(n))
    };
    let loops = |n: usize| {
        format!("toy.func @f {{ %c = const 1 {} {} }}", "toy.loop %x to %c {".repeat(n), "}".repeat(n))
    };
    for make in [&regions as &dyn Fn(usize) -> String, &types, &attrs, &affine] {
        let printed = through(&make(1000), &options(true, false)).unwrap();
        assert_eq!(through(&printed, &options(true, false)).unwrap(), printed);
        for n in [5000, 200_000] {
            let error = through(&make(n), &options(true, false)).unwrap_err();
            assert!(error.contains("nested too deeply: at most 1100 levels"), "{error}");
        }
    }
    assert!(through(&loops(5000), &options(true, false)).is_err());
    let dense = format!(
        "\"t.t\"() {{x = dense<{}1{}> : tensor<1xi32>}} : () -> ()",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(through(&dense, &options(true, false)).unwrap_err().contains("nested too deeply"));
}

#[test]
fn floats_print_as_mlir_prints_them() {
    let ctx = context();
    let cases = [
        ("0.1 : f32", "1.000000e-01 : f32"),
        ("0.7 : f32", "0.699999988 : f32"),
        ("3.14159265358979 : f64", "3.14159265358979 : f64"),
        ("1.0e10 : f64", "1.000000e+10 : f64"),
        ("1.0e-45 : f32", "1.401300e-45 : f32"),
        ("123456789.0 : f64", "0x419D6F3454000000 : f64"),
        ("-0.0 : f16", "-0.000000e+00 : f16"),
        ("0x7FC00000 : f32", "0x7FC00000 : f32"),
        ("1.0e40 : f32", "0x7F800000 : f32"),
        ("0.1 : bf16", "1.000980e-01 : bf16"),
        ("3.5 : f8E5M2FNUZ", "3.500000e+00 : f8E5M2FNUZ"),
    ];
    for (source, expected) in cases {
        let attr = text::parse_attr(&ctx, source).unwrap();
        let printed = text::attr_to_string(&ctx, attr);
        assert_eq!(text::parse_attr(&ctx, &printed).unwrap(), attr, "{source} printed as {printed}");
        assert_eq!(printed, expected);
    }
}

#[test]
fn mlir_opt_prints_the_same() {
    let Some(peer) = Peer::find("mlir-opt") else { return };
    let inputs = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/inputs");
    let mut sources = vec![EVERYTHING.to_owned()];
    for name in [
        "mlp.scf.mlir",
        "mlp.affine.mlir",
        "mlp.linalg.mlir",
        "mlp.llvm.mlir",
        "image.llvm.mlir",
        "mlp.scf.generic.mlir",
    ] {
        sources.extend(std::fs::read_to_string(format!("{inputs}/{name}")));
    }
    for source in sources {
        for debug_info in [false, true] {
            let mut arguments = vec!["--allow-unregistered-dialect", "--mlir-print-op-generic"];
            if debug_info {
                arguments.push("--mlir-print-debuginfo");
            }
            let expected = peer.run(&source, &arguments).unwrap();
            let printed = through(&expected, &options(true, debug_info)).unwrap();
            assert_eq!(printed.trim_end(), expected.trim_end());
        }
    }
}
