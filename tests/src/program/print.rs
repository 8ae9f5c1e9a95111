//! Writing a [`Program`] as MLIR.
//!
//! Affine index arithmetic in `affine` operations becomes their maps. Elsewhere it becomes `arith`
//! operations or `affine.apply`, according to the program's style. Unused definitions are not
//! written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::execute::global_value;
use super::{
    Callee, Condition, Element, Expr, Item, Kind, Loop, LoopId, MemRef, MemRefId, Operator, Program,
    Relation, Source, Test, ValueId, results_of, row_major,
};

mod functions;

/// A program as text.
#[derive(Clone, Debug)]
pub struct Text {
    /// The module.
    pub mlir: String,
    /// The line, counted from 1, of each loop.
    pub lines: BTreeMap<LoopId, u32>,
}

impl Program {
    /// Returns the program as a module with a function `kernel`. Its arguments are the parameters,
    /// then the memrefs.
    pub fn to_mlir(&self) -> Text {
        let mut writer = Writer {
            program: self,
            out: String::new(),
            depth: 2,
            constants: BTreeSet::new(),
            used: BTreeSet::new(),
            callees: Vec::new(),
            loops: Vec::new(),
            lines: BTreeMap::new(),
            tested: BTreeSet::new(),
            next: 0,
        };
        tested_values(&self.body, &mut writer.tested);
        writer.body();
        writer.module()
    }
}

struct Writer<'p> {
    program: &'p Program,
    out: String,
    depth: usize,
    /// Index constants that are written at the top.
    constants: BTreeSet<i64>,
    used: BTreeSet<MemRefId>,
    callees: Vec<(&'static str, String)>,
    /// The loops around.
    loops: Vec<(LoopId, Kind)>,
    lines: BTreeMap<LoopId, u32>,
    /// Values that decide something.
    tested: BTreeSet<ValueId>,
    next: usize,
}

impl Element {
    /// Returns the type.
    pub fn name(self) -> &'static str {
        match self {
            Element::I32 => "i32",
            Element::I64 => "i64",
            Element::F32 => "f32",
        }
    }

    /// Returns a value as a literal.
    pub fn literal(self, value: i64) -> String {
        match self {
            Element::F32 => format!("{:?}", f32::from_bits(value as u32)),
            Element::I32 | Element::I64 => value.to_string(),
        }
    }

    fn operation(self, operator: Operator) -> &'static str {
        match (self, operator) {
            (Element::F32, Operator::Add) => "arith.addf",
            (Element::F32, Operator::Sub) => "arith.subf",
            (Element::F32, Operator::Mul) => "arith.mulf",
            (Element::F32, Operator::Max) => "arith.maximumf",
            (_, Operator::Add) => "arith.addi",
            (_, Operator::Sub) => "arith.subi",
            (_, Operator::Mul) => "arith.muli",
            (_, Operator::Max) => "arith.maxsi",
        }
    }
}

impl MemRef {
    /// Its type.
    pub fn type_text(&self, element: Element) -> String {
        let mut text = "memref<".to_owned();
        for size in &self.shape {
            let _ = match self.dynamic {
                true => write!(text, "?x"),
                false => write!(text, "{size}x"),
            };
        }
        text += element.name();
        if self.offset != 0 || self.strides != row_major(&self.shape) {
            let strides: Vec<String> = self.strides.iter().map(i64::to_string).collect();
            let _ = write!(text, ", strided<[{}]", strides.join(", "));
            if self.offset != 0 {
                let _ = write!(text, ", offset: {}", self.offset);
            }
            text.push('>');
        }
        text.push('>');
        text
    }
}

impl Writer<'_> {
    fn ty(&self, memref: MemRefId) -> String {
        self.program.memrefs[memref].type_text(self.program.element)
    }

    fn line(&mut self, text: &str) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%x{}", self.next - 1)
    }

    /// Marks a memref, and the sources of its views, as used.
    fn memref(&mut self, memref: MemRefId) -> String {
        let mut pending = vec![memref];
        while let Some(m) = pending.pop() {
            if self.used.insert(m) {
                match &self.program.memrefs[m].source {
                    Source::Cast(of) | Source::Reinterpret(of) | Source::SubView { of, .. } => {
                        pending.push(*of)
                    }
                    Source::Returned(of) => {
                        pending.push(*of);
                        let ty = self.ty(*of);
                        self.callee("same", ty);
                    }
                    Source::Select(a, b) => pending.extend([*a, *b]),
                    Source::Argument { .. } | Source::Allocation | Source::Global(_) => {}
                }
            }
        }
        format!("%m{memref}")
    }

    fn callee(&mut self, name: &'static str, ty: String) -> usize {
        let entry = (name, ty);
        self.callees.iter().position(|own| *own == entry).unwrap_or_else(|| {
            self.callees.push(entry);
            self.callees.len() - 1
        })
    }

    /// Writes the function's body into `out`. The text before it is known only afterwards.
    fn body(&mut self) {
        self.items(&self.program.body);
        let returns: Vec<String> = self.program.returns.iter().map(|v| format!("%v{v}")).collect();
        let text = match returns.is_empty() {
            true => "return".to_owned(),
            false => {
                let types = vec![self.program.element.name(); returns.len()];
                format!("return {} : {}", returns.join(", "), types.join(", "))
            }
        };
        self.line(&text);
    }

    fn module(mut self) -> Text {
        let program = self.program;
        let body = std::mem::take(&mut self.out);
        self.out.push_str("module {\n");
        self.depth = 1;
        let mut globals = BTreeSet::new();
        for m in self.used.clone() {
            if let Source::Global(name) = program.memrefs[m].source
                && globals.insert(name)
            {
                let value = program.element.literal(program.element.of_number(global_value(name)));
                let ty = self.ty(m);
                self.line(&format!("memref.global \"private\" @g{name} : {ty} = dense<{value}>"));
            }
        }
        for (k, (name, ty)) in self.callees.clone().into_iter().enumerate() {
            self.function(k, name, &ty);
        }
        self.kernel_header();
        self.depth = 2;
        for (value, constant) in &program.constants {
            let (literal, ty) = (program.element.literal(*constant), program.element.name());
            self.line(&format!("%v{value} = arith.constant {literal} : {ty}"));
            self.defined(*value);
        }
        // The condition of selections also needs a constant.
        let selects = self.used.iter().any(|m| matches!(program.memrefs[*m].source, Source::Select(..)));
        if selects {
            self.constants.insert(0);
        }
        for constant in self.constants.clone() {
            let name = constant_name(constant);
            self.line(&format!("{name} = arith.constant {constant} : index"));
        }
        if selects {
            self.line("%flag = arith.cmpi sgt, %n0, %c0 : index");
        }
        for m in self.used.clone() {
            self.definition(m);
        }
        let before = self.out.lines().count() as u32;
        self.out.push_str(&body);
        self.out.push_str("  }\n}\n");
        let lines = self.lines.iter().map(|(id, line)| (*id, line + before)).collect();
        Text { mlir: self.out, lines }
    }

    fn kernel_header(&mut self) {
        let program = self.program;
        let mut arguments: Vec<String> =
            (0..program.parameters.len()).map(|p| format!("%n{p}: index")).collect();
        for m in program.argument_memrefs() {
            let noalias = matches!(program.memrefs[m].source, Source::Argument { noalias: true });
            let attribute = if noalias { " {llvm.noalias}" } else { "" };
            arguments.push(format!("%m{m}: {}{attribute}", self.ty(m)));
        }
        let results = match program.returns.len() {
            0 => String::new(),
            n => format!(" -> ({})", vec![program.element.name(); n].join(", ")),
        };
        self.line(&format!("func.func @kernel({}){results} {{", arguments.join(", ")));
    }

    fn definition(&mut self, m: MemRefId) {
        let memref = &self.program.memrefs[m];
        let ty = self.ty(m);
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let text = match &memref.source {
            Source::Argument { .. } => return,
            Source::Allocation => format!("%m{m} = memref.alloc() : {ty}"),
            Source::Global(name) => format!("%m{m} = memref.get_global @g{name} : {ty}"),
            Source::Cast(of) => format!("%m{m} = memref.cast %m{of} : {} to {ty}", self.ty(*of)),
            Source::Select(a, b) => format!("%m{m} = arith.select %flag, %m{a}, %m{b} : {ty}"),
            Source::Returned(of) => {
                let k = self.callee("same", self.ty(*of));
                format!("%m{m} = func.call @same{k}(%m{of}) : ({ty}) -> {ty}")
            }
            Source::Reinterpret(of) => format!(
                "%m{m} = memref.reinterpret_cast %m{of} to offset: [{}], sizes: [{}], strides: [{}] : {} to {ty}",
                memref.offset,
                list(&memref.shape),
                list(&memref.strides),
                self.ty(*of)
            ),
            Source::SubView { of, offsets, steps, dropped } => {
                let mut sizes = memref.shape.clone();
                if *dropped {
                    sizes.insert(0, 1);
                }
                format!(
                    "%m{m} = memref.subview %m{of}[{}] [{}] [{}] : {} to {ty}",
                    list(offsets),
                    list(&sizes),
                    list(steps),
                    self.ty(*of)
                )
            }
        };
        self.line(&text);
    }

    fn index_to_element(&mut self, index: &str) -> String {
        let value = self.fresh();
        match self.program.element {
            Element::F32 => {
                let integer = self.fresh();
                self.line(&format!("{integer} = arith.index_cast {index} : index to i64"));
                self.line(&format!("{value} = arith.sitofp {integer} : i64 to f32"));
            }
            element => {
                self.line(&format!("{value} = arith.index_cast {index} : index to {}", element.name()))
            }
        }
        value
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        let element = self.program.element;
        match item {
            Item::Loop(l) => self.write_loop(l),
            Item::If(condition, then, otherwise) => self.write_if(condition, then, otherwise),
            Item::Load(value, memref, at) if self.program.is_called(*value) => {
                let call = self.call_at("get", *memref, at, None);
                self.line(&format!("%v{value} = {call} -> {}", element.name()));
                self.defined(*value);
            }
            Item::Store(value, memref, at) if self.program.is_called(*value) => {
                let call = self.call_at("put", *memref, at, Some(*value));
                self.line(&format!("{call} -> ()"));
            }
            Item::Load(value, memref, at) => {
                let (prefix, at) = self.subscripts(at);
                let (name, ty) = (self.memref(*memref), self.ty(*memref));
                self.line(&format!("%v{value} = {prefix}.load {name}[{at}] : {ty}"));
                self.defined(*value);
            }
            Item::Store(value, memref, at) => {
                let (prefix, at) = self.subscripts(at);
                let (name, ty) = (self.memref(*memref), self.ty(*memref));
                self.line(&format!("{prefix}.store %v{value}, {name}[{at}] : {ty}"));
            }
            Item::Compute(value, operator, a, b) => {
                let (operation, ty) = (element.operation(*operator), element.name());
                let flags = match element {
                    _ if *operator == Operator::Max || !self.program.has_flags(*value) => "",
                    Element::F32 => " fastmath<reassoc>",
                    Element::I32 | Element::I64 => " overflow<nsw>",
                };
                self.line(&format!("%v{value} = {operation} %v{a}, %v{b}{flags} : {ty}"));
                self.defined(*value);
            }
            Item::Index(value, expr) => {
                let index = self.index(expr);
                match element {
                    Element::F32 => {
                        let integer = self.fresh();
                        self.line(&format!("{integer} = arith.index_cast {index} : index to i64"));
                        self.line(&format!("%v{value} = arith.sitofp {integer} : i64 to f32"));
                    }
                    _ => self
                        .line(&format!("%v{value} = arith.index_cast {index} : index to {}", element.name())),
                }
                self.defined(*value);
            }
            Item::Call(callee, memref) => {
                let (name, ty) = (self.memref(*memref), self.ty(*memref));
                let function = match callee {
                    Callee::Fill => "fill",
                    Callee::Bump => "bump",
                };
                let k = self.callee(function, ty.clone());
                self.line(&format!("func.call @{function}{k}({name}) : ({ty}) -> ()"));
            }
            Item::Copy(from, to) => {
                let (source, target) = (self.memref(*from), self.memref(*to));
                let (from, to) = (self.ty(*from), self.ty(*to));
                self.line(&format!("memref.copy {source}, {target} : {from} to {to}"));
            }
            // Written with the conditional around it.
            Item::Yield(..) => {}
            Item::Dealloc(memref) => {
                let (name, ty) = (self.memref(*memref), self.ty(*memref));
                self.line(&format!("memref.dealloc {name} : {ty}"));
            }
        }
    }

    /// Compares a new value with zero if something depends on its sign.
    fn defined(&mut self, value: ValueId) {
        if self.tested.contains(&value) {
            let (element, zero) = (self.program.element, self.fresh());
            let (literal, ty) = (element.literal(element.of_number(0)), element.name());
            self.line(&format!("{zero} = arith.constant {literal} : {ty}"));
            let compare = if element == Element::F32 { "arith.cmpf ogt" } else { "arith.cmpi sgt" };
            self.line(&format!("%p{value} = {compare}, %v{value}, {zero} : {ty}"));
        }
    }

    fn write_loop(&mut self, l: &Loop) {
        let ty = self.program.element.name();
        let (header, close) = match l.kind {
            Kind::While => return self.write_while(l),
            Kind::Parallel => {
                let (lower, upper) = (self.scf_bound(&l.lower, "maxsi"), self.scf_bound(&l.upper, "minsi"));
                let step = self.index(&Expr::Constant(l.step));
                (format!("scf.parallel (%i{}) = ({lower}) to ({upper}) step ({step})", l.id), "scf.reduce")
            }
            Kind::Affine => {
                let (lower, upper) = (self.affine_bound(&l.lower, "max"), self.affine_bound(&l.upper, "min"));
                let step = if l.step == 1 { String::new() } else { format!(" step {}", l.step) };
                (format!("affine.for %i{} = {lower} to {upper}{step}", l.id), "affine.yield")
            }
            Kind::Scf | Kind::ScfUnsigned => {
                let (lower, upper) = (self.scf_bound(&l.lower, "maxsi"), self.scf_bound(&l.upper, "minsi"));
                let step = self.index(&Expr::Constant(l.step));
                let unsigned = if l.kind == Kind::ScfUnsigned { "unsigned " } else { "" };
                (format!("scf.for {unsigned}%i{} = {lower} to {upper} step {step}", l.id), "scf.yield")
            }
        };
        self.lines.insert(l.id, self.out.lines().count() as u32 + 1);
        match &l.carried {
            None => self.line(&format!("{header} {{")),
            Some(c) => self.line(&format!(
                "%v{} = {header} iter_args(%v{} = %v{}) -> ({ty}) {{",
                c.result, c.argument, c.init
            )),
        }
        self.loop_body(l);
        if let Some(c) = &l.carried {
            self.line(&format!("  {close} %v{} : {ty}", c.next));
        }
        self.line("}");
        if let Some(c) = &l.carried {
            self.defined(c.result);
        }
    }

    fn loop_body(&mut self, l: &Loop) {
        self.loops.push((l.id, l.kind));
        self.depth += 1;
        if let Some(c) = &l.carried {
            self.defined(c.argument);
        }
        self.items(&l.body);
        self.depth -= 1;
        self.loops.pop();
    }

    /// Writes a loop as `scf.while`. It carries the induction variable, then the carried value. The
    /// condition is before the body, the increment after it.
    fn write_while(&mut self, l: &Loop) {
        let ty = self.program.element.name();
        let (lower, upper) = (self.scf_bound(&l.lower, "maxsi"), self.scf_bound(&l.upper, "minsi"));
        let step = self.index(&Expr::Constant(l.step));
        let (id, last, flag, next) = (l.id, self.fresh(), self.fresh(), self.fresh());
        let (mut results, mut inits, mut types) = (last, format!("%i{id} = {lower}"), "index".to_owned());
        let (mut passed, mut arguments) = (format!("%i{id}"), format!("%i{id}: index"));
        let mut yielded = next.clone();
        if let Some(c) = &l.carried {
            results += &format!(", %v{}", c.result);
            inits += &format!(", %v{} = %v{}", c.argument, c.init);
            types += &format!(", {ty}");
            passed += &format!(", %v{}", c.argument);
            arguments += &format!(", %v{}: {ty}", c.argument);
            yielded += &format!(", %v{}", c.next);
        }
        self.lines.insert(id, self.out.lines().count() as u32 + 1);
        self.line(&format!("{results} = scf.while ({inits}) : ({types}) -> ({types}) {{"));
        self.line(&format!("  {flag} = arith.cmpi slt, %i{id}, {upper} : index"));
        self.line(&format!("  scf.condition({flag}) {passed} : {types}"));
        self.line("} do {");
        self.line(&format!("^bb0({arguments}):"));
        self.loop_body(l);
        let nsw = if self.program.style.nsw { " overflow<nsw>" } else { "" };
        self.line(&format!("  {next} = arith.addi %i{id}, {step}{nsw} : index"));
        self.line(&format!("  scf.yield {yielded} : {types}"));
        self.line("}");
        if let Some(c) = &l.carried {
            self.defined(c.result);
        }
    }

    fn write_if(&mut self, condition: &Condition, then: &[Item], otherwise: &[Item]) {
        let head = match condition {
            Condition::Positive(value) => format!("scf.if %p{value}"),
            Condition::All(tests) => self.test(tests),
        };
        let results = results_of(then, otherwise);
        let close = if head.starts_with("affine") { "affine.yield" } else { "scf.yield" };
        let types = vec![self.program.element.name(); results.len()].join(", ");
        match list(&results) {
            none if none.is_empty() => self.line(&format!("{head} {{")),
            names => self.line(&format!("{names} = {head} -> ({types}) {{")),
        }
        for (number, side) in [then, otherwise].into_iter().enumerate().filter(|(_, side)| !side.is_empty()) {
            if number == 1 {
                self.line("} else {");
            }
            self.depth += 1;
            self.items(side);
            if !results.is_empty() {
                let yielded = |result: &ValueId| {
                    side.iter().find_map(|item| match item {
                        Item::Yield(own, value) if own == result => Some(*value),
                        _ => None,
                    })
                };
                let values: Vec<ValueId> = results.iter().filter_map(yielded).collect();
                self.line(&format!("{close} {} : {types}", list(&values)));
            }
            self.depth -= 1;
        }
        self.line("}");
        results.into_iter().for_each(|result| self.defined(result));
    }

    /// Returns a conditional on comparisons, without its regions: as an integer set where possible.
    fn test(&mut self, tests: &[Test]) -> String {
        let in_affine = self.loops.last().is_some_and(|(_, kind)| *kind == Kind::Affine);
        let fits = |test: &Test| test.relation != Relation::UnsignedBelow && self.is_affine(&test.expr);
        if in_affine && tests.iter().all(fits) {
            let (set, operands) = set_of(tests);
            return format!("affine.if affine_set<{set}>({operands})");
        }
        let flags: Vec<String> = tests
            .iter()
            .map(|test| {
                let (index, limit) = (self.index(&test.expr), self.index(&Expr::Constant(test.number)));
                let predicate = match test.relation {
                    Relation::Below => "slt",
                    Relation::UnsignedBelow => "ult",
                    Relation::AtLeast => "sge",
                    Relation::Equal => "eq",
                };
                let flag = self.fresh();
                self.line(&format!("{flag} = arith.cmpi {predicate}, {index}, {limit} : index"));
                flag
            })
            .collect();
        let all = flags.into_iter().reduce(|a, b| {
            let both = self.fresh();
            self.line(&format!("{both} = arith.andi {a}, {b} : i1"));
            both
        });
        format!("scf.if {}", all.unwrap_or_default())
    }

    /// True if an index is an affine expression here: sums, multiples and quotients of induction
    /// variables of `affine` loops and of parameters.
    fn is_affine(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Constant(_) | Expr::Parameter(_) => true,
            Expr::Variable(id) => self.loops.contains(&(*id, Kind::Affine)),
            Expr::Add(a, b) => self.is_affine(a) && self.is_affine(b),
            Expr::Scale(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => self.is_affine(a),
            Expr::Product(..) | Expr::Wrapped(..) => false,
        }
    }

    /// Returns the dialect of an access with these subscripts, and the subscripts as text.
    fn subscripts(&mut self, at: &[Expr]) -> (&'static str, String) {
        let in_affine = self.loops.last().is_some_and(|(_, kind)| *kind == Kind::Affine);
        let affine = in_affine && at.iter().all(|e| self.is_affine(e));
        let texts: Vec<String> = at
            .iter()
            .map(|e| if affine { affine_text(e, &mut |atom| atom_name(atom)) } else { self.index(e) })
            .collect();
        (if affine { "affine" } else { "memref" }, texts.join(", "))
    }

    fn affine_bound(&mut self, exprs: &[Expr], combine: &str) -> String {
        if let [Expr::Constant(number)] = exprs {
            return number.to_string();
        }
        let (map, operands) = map_of(exprs);
        let combine = if exprs.len() > 1 { format!("{combine} ") } else { String::new() };
        format!("{combine}affine_map<{map}>({operands})")
    }

    fn scf_bound(&mut self, exprs: &[Expr], combine: &str) -> String {
        let names: Vec<String> = exprs.iter().map(|e| self.index(e)).collect();
        let reduced = names.into_iter().reduce(|a, b| {
            let name = self.fresh();
            self.line(&format!("{name} = arith.{combine} {a}, {b} : index"));
            name
        });
        reduced.unwrap_or_default()
    }

    /// Computes an index before the current line and returns its value.
    fn index(&mut self, expr: &Expr) -> String {
        let nsw = if self.program.style.nsw { " overflow<nsw>" } else { "" };
        let two = |this: &mut Self, operation: &str, a: &Expr, b: &Expr, flags: &str| {
            let (a, b) = (this.index(a), this.index(b));
            let name = this.fresh();
            this.line(&format!("{name} = arith.{operation} {a}, {b}{flags} : index"));
            name
        };
        match expr {
            Expr::Constant(number) if self.program.style.local_constants => {
                let name = self.fresh();
                self.line(&format!("{name} = arith.constant {number} : index"));
                name
            }
            Expr::Constant(number) => {
                self.constants.insert(*number);
                constant_name(*number)
            }
            Expr::Variable(_) | Expr::Parameter(_) => atom_name(expr),
            Expr::Wrapped(value, size) => {
                let cast = self.fresh();
                let ty = self.program.element.name();
                self.line(&format!("{cast} = arith.index_cast %v{value} : {ty} to index"));
                let limit = self.index(&Expr::Constant(*size));
                let name = self.fresh();
                self.line(&format!("{name} = arith.remui {cast}, {limit} : index"));
                name
            }
            Expr::Product(a, b) => two(self, "muli", a, b, nsw),
            _ if self.program.style.apply && !has_product(expr) => {
                let (map, operands) = map_of(std::slice::from_ref(expr));
                let name = self.fresh();
                self.line(&format!("{name} = affine.apply affine_map<{map}>({operands})"));
                name
            }
            Expr::Add(a, b) => two(self, "addi", a, b, nsw),
            Expr::Scale(a, factor) => two(self, "muli", a, &Expr::Constant(*factor), nsw),
            Expr::FloorDiv(a, divisor) => two(self, "floordivsi", a, &Expr::Constant(*divisor), ""),
            Expr::Mod(a, divisor) => {
                // a - ⌊a / d⌋ · d
                let quotient = Expr::Scale(Box::new(Expr::FloorDiv(a.clone(), *divisor)), *divisor);
                two(self, "subi", a, &quotient, nsw)
            }
        }
    }
}

fn constant_name(number: i64) -> String {
    if number < 0 { format!("%c_{}", number.unsigned_abs()) } else { format!("%c{number}") }
}

fn atom_name(atom: &Expr) -> String {
    match atom {
        Expr::Variable(id) => format!("%i{id}"),
        Expr::Parameter(index) => format!("%n{index}"),
        _ => String::new(),
    }
}

fn has_product(expr: &Expr) -> bool {
    match expr {
        Expr::Product(..) | Expr::Wrapped(..) => true,
        Expr::Constant(_) | Expr::Variable(_) | Expr::Parameter(_) => false,
        Expr::Add(a, b) => has_product(a) || has_product(b),
        Expr::Scale(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => has_product(a),
    }
}

/// Returns `(d0, d1) -> (…)` and its operands.
fn map_of(exprs: &[Expr]) -> (String, String) {
    let (dims, operands, results) = in_dimensions(exprs.iter());
    (format!("({dims}) -> ({})", results.join(", ")), operands)
}

/// Returns `(d0, d1) : (… >= 0)` and its operands.
fn set_of(tests: &[Test]) -> (String, String) {
    let (dims, operands, sides) = in_dimensions(tests.iter().map(|test| &test.expr));
    let constraints: Vec<String> = tests
        .iter()
        .zip(sides)
        .map(|(test, side)| match test.relation {
            Relation::Below | Relation::UnsignedBelow => format!("{} - ({side}) >= 0", test.number - 1),
            Relation::AtLeast => format!("{side} - {} >= 0", test.number),
            Relation::Equal => format!("{side} - {} == 0", test.number),
        })
        .collect();
    (format!("({dims}) : ({})", constraints.join(", ")), operands)
}

/// Returns `d0, d1`, their operands, and the expressions over them.
fn in_dimensions<'e>(exprs: impl Iterator<Item = &'e Expr>) -> (String, String, Vec<String>) {
    let mut operands: Vec<String> = Vec::new();
    let mut name = |atom: &Expr| {
        let operand = atom_name(atom);
        let index = operands.iter().position(|own| *own == operand).unwrap_or_else(|| {
            operands.push(operand);
            operands.len() - 1
        });
        format!("d{index}")
    };
    let texts: Vec<String> = exprs.map(|e| affine_text(e, &mut name)).collect();
    let dims: Vec<String> = (0..operands.len()).map(|d| format!("d{d}")).collect();
    (dims.join(", "), operands.join(", "), texts)
}

fn affine_text(expr: &Expr, name: &mut dyn FnMut(&Expr) -> String) -> String {
    match expr {
        Expr::Constant(number) => number.to_string(),
        Expr::Variable(_) | Expr::Parameter(_) => name(expr),
        Expr::Add(a, b) => format!("{} + {}", affine_text(a, name), factor_text(b, name)),
        Expr::Scale(a, factor) => format!("{} * {factor}", factor_text(a, name)),
        Expr::FloorDiv(a, divisor) => format!("{} floordiv {divisor}", factor_text(a, name)),
        Expr::Mod(a, divisor) => format!("{} mod {divisor}", factor_text(a, name)),
        // Not affine. Callers check this first.
        Expr::Product(..) | Expr::Wrapped(..) => String::new(),
    }
}

fn factor_text(expr: &Expr, name: &mut dyn FnMut(&Expr) -> String) -> String {
    match expr {
        Expr::Variable(_) | Expr::Parameter(_) => affine_text(expr, name),
        Expr::Constant(number) if *number >= 0 => number.to_string(),
        _ => format!("({})", affine_text(expr, name)),
    }
}

/// Values as operands, or results.
fn list(values: &[ValueId]) -> String {
    values.iter().map(|value| format!("%v{value}")).collect::<Vec<_>>().join(", ")
}

/// The values that decide conditions.
fn tested_values(items: &[Item], values: &mut BTreeSet<ValueId>) {
    for item in items {
        match item {
            Item::Loop(l) => tested_values(&l.body, values),
            Item::If(condition, then, otherwise) => {
                if let Condition::Positive(value) = condition {
                    values.insert(*value);
                }
                tested_values(then, values);
                tested_values(otherwise, values);
            }
            _ => {}
        }
    }
}

/// Calls `f` with the values that an index needs.
pub(super) fn values_of(expr: &Expr, f: &mut dyn FnMut(ValueId)) {
    match expr {
        Expr::Wrapped(value, _) => f(*value),
        Expr::Constant(_) | Expr::Variable(_) | Expr::Parameter(_) => {}
        Expr::Add(a, b) | Expr::Product(a, b) => {
            values_of(a, f);
            values_of(b, f);
        }
        Expr::Scale(a, _) | Expr::FloorDiv(a, _) | Expr::Mod(a, _) => values_of(a, f),
    }
}
