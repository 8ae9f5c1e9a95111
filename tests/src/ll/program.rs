//! A random program: variables, functions that call earlier ones, and an entry without parameters
//! that calls them. The entry returns a number that depends on everything computed.

use std::fmt::Write;

use super::function::{Callee, Function, Value};
use super::memory::{ALIGN, Bytes, REACH, Slot};
use super::types::Ty;
use crate::random::Random;

/// The maximal depth of recursion.
const DEPTH: u32 = 4;

/// Returns the text of a program. The function to call is `@name`; all other names begin with it.
pub(super) fn program(random: &mut Random, name: &str) -> String {
    let mut program = Program { name, text: String::new(), bytes: Vec::new(), slots: Vec::new(), table: 0 };
    program.variables(random);
    let mut callees: Vec<Callee> = Vec::new();
    program.family(random, &mut callees);
    for at in 0..random.below(3) {
        let (result, parameters) = signature(random);
        let own = format!("@{name}.f{at}");
        program.function(random, &own, result, parameters, &mut callees);
    }
    if random.chance(60) {
        program.recursive(random, &mut callees);
    }
    program.entry(random, &callees);
    program.text
}

struct Program<'n> {
    name: &'n str,
    text: String,
    bytes: Vec<Bytes>,
    slots: Vec<Slot>,
    /// The number of addresses in the table of pointers.
    table: u64,
}

/// Returns attributes for an argument of a type. They hold for every value in scope.
fn attributes(random: &mut Random, ty: &Ty) -> String {
    let pick = match ty {
        Ty::Int(1 | 8 | 16 | 32) => *random.pick(&["", "noundef", "noundef signext", "noundef zeroext"]),
        Ty::Ptr => *random.pick(&["", "noundef", "nonnull", "noundef nonnull align 1 dereferenceable(16)"]),
        _ => *random.pick(&["", "noundef"]),
    };
    pick.to_owned()
}

fn signature(random: &mut Random) -> (Ty, Vec<(Ty, String)>) {
    let mut parameters = Vec::new();
    for _ in 0..random.below(5) {
        let ty = if random.chance(20) { Ty::Ptr } else { Ty::any(random, 1) };
        let attributes = attributes(random, &ty);
        parameters.push((ty, attributes));
    }
    (Ty::any(random, 1), parameters)
}

impl Program<'_> {
    // Variables.

    fn variables(&mut self, random: &mut Random) {
        for at in 0..1 + random.below(3) {
            let size = REACH + random.below(24) as u64;
            let (kind, writable) =
                if at == 0 || random.chance(50) { ("global", true) } else { ("constant", false) };
            let name = format!("@{}.b{at}", self.name);
            let contents: String = (0..size).map(|_| format!("\\{:02X}", random.below(256))).collect();
            let ty = format!("[{size} x i8]");
            let _ = writeln!(self.text, "{name} = internal {kind} {ty} c\"{contents}\", align {ALIGN}");
            if random.chance(30) {
                let alias = format!("@{}.a{at}", self.name);
                let _ = writeln!(self.text, "{alias} = internal alias {ty}, ptr {name}");
                self.bytes.push(Bytes { name: alias, size, writable });
            }
            self.bytes.push(Bytes { name, size, writable });
        }
        for at in 0..1 + random.below(2) {
            let ty = Ty::any(random, 3);
            let (kind, writable) = *random.pick(&[("global", true), ("constant", false)]);
            let name = format!("@{}.v{at}", self.name);
            let contents = Function::new(random, &[], Ty::Int(64)).initial(&ty);
            let _ = writeln!(self.text, "{name} = internal {kind} {ty} {contents}");
            self.slots.push(Slot { name, ty, writable });
        }
        let writable: Vec<&Bytes> = self.bytes.iter().filter(|bytes| bytes.writable).collect();
        let addresses: Vec<String> = (0..1 + random.below(4))
            .map(|_| {
                let bytes = random.pick(&writable);
                let at = random.below((bytes.size - REACH + 1) as usize);
                match at {
                    0 => format!("ptr {}", bytes.name),
                    _ => format!("ptr getelementptr inbounds (i8, ptr {}, i64 {at})", bytes.name),
                }
            })
            .collect();
        self.table = addresses.len() as u64;
        let (count, addresses) = (self.table, addresses.join(", "));
        let _ = writeln!(self.text, "@{}.p = internal constant [{count} x ptr] [{addresses}]", self.name);
    }

    // Functions.

    /// Begins a function with the visible variables.
    fn begin<'r>(&self, random: &'r mut Random, callees: &'r [Callee], result: Ty) -> Function<'r> {
        let mut function = Function::new(random, callees, result);
        function.bytes.clone_from(&self.bytes);
        function.slots.clone_from(&self.slots);
        if function.random.chance(60) {
            let index = function.index(self.table);
            let place = format!("getelementptr inbounds ptr, ptr @{}.p, i64 {index}", self.name);
            let place = function.make(&place);
            function.keep(&Ty::Ptr, &format!("load ptr, ptr {place}, align 8"));
        }
        function
    }

    fn define(&mut self, name: &str, result: &str, parameters: &str, said: &str, body: &str) {
        let _ = write!(self.text, "define {result} {name}({parameters}){said} {{\nstart:\n{body}}}\n");
    }

    /// Writes a function of a signature, and adds it to the callable functions.
    fn function(
        &mut self,
        random: &mut Random,
        name: &str,
        result: Ty,
        parameters: Vec<(Ty, String)>,
        callees: &mut Vec<Callee>,
    ) {
        let said = *random.pick(&["", " nounwind", " noinline nounwind mustprogress", " alwaysinline"]);
        let mut function = self.begin(random, callees, result.clone());
        let named = |at: usize| format!("%a{at}");
        for (at, (ty, _)) in parameters.iter().enumerate() {
            function.values.push(Value { ty: ty.clone(), name: named(at) });
        }
        let count = 4 + function.random.below(14);
        function.statements(count, 2);
        function.finish();
        let (body, cost) = (std::mem::take(&mut function.text), function.cost);
        let list: Vec<String> = parameters
            .iter()
            .enumerate()
            .map(|(at, (ty, attributes))| format!("{ty} {attributes} {}", named(at)))
            .collect();
        self.define(name, &format!("internal {result}"), &list.join(", "), said, &body);
        callees.push(Callee { name: name.into(), table: None, result, parameters, first_below: None, cost });
    }

    /// Writes a few functions of one signature, and the table for their indirect calls.
    fn family(&mut self, random: &mut Random, callees: &mut Vec<Callee>) {
        let (result, parameters) = signature(random);
        let count = 1 + random.below(3);
        let first = callees.len();
        let names: Vec<String> = (0..count).map(|at| format!("@{}.m{at}", self.name)).collect();
        for name in &names {
            self.function(random, name, result.clone(), parameters.clone(), callees);
        }
        let cost = callees[first..].iter().map(|callee| callee.cost).max().unwrap_or(0);
        let name = format!("@{}.t", self.name);
        let entries: Vec<String> = names.iter().map(|name| format!("ptr {name}")).collect();
        let entries = entries.join(", ");
        let _ = writeln!(self.text, "{name} = internal constant [{count} x ptr] [{entries}]");
        let table = Some(count as u32);
        callees.push(Callee { name, table, result, parameters, first_below: None, cost });
    }

    /// Writes a function that calls itself as often as its first argument says.
    fn recursive(&mut self, random: &mut Random, callees: &mut Vec<Callee>) {
        let (result, mut parameters) = signature(random);
        parameters.insert(0, (Ty::Int(32), format!("noundef range(i32 0, {DEPTH})")));
        let name = format!("@{}.r", self.name);
        let own = Callee {
            name: name.clone(),
            table: None,
            result: result.clone(),
            parameters: parameters.clone(),
            first_below: Some(DEPTH),
            cost: 0,
        };
        let mut function = self.begin(random, callees, result.clone());
        let list: Vec<String> =
            (0..).zip(&parameters).map(|(at, (ty, said))| format!("{ty} {said} %a{at}")).collect();
        for (at, (ty, _)) in parameters.iter().enumerate() {
            function.values.push(Value { ty: ty.clone(), name: format!("%a{at}") });
        }
        let [deep, last] = function.labels(["deep", "last"]);
        let is_last = function.make("icmp eq i32 %a0, 0");
        function.line(&format!("br i1 {is_last}, label %{last}, label %{deep}"));
        function.begin(last);
        let scope = function.enter();
        function.statements(3, 1);
        function.finish();
        function.leave(scope);
        function.begin(deep);
        let less = function.make("sub nuw nsw i32 %a0, 1");
        function.statements(3, 1);
        function.call_of(&own, Some(&less));
        function.statements(4, 1);
        function.finish();
        let (body, cost) = (std::mem::take(&mut function.text), function.cost * u64::from(DEPTH));
        self.define(&name, &format!("internal {result}"), &list.join(", "), "", &body);
        callees.push(Callee { cost, ..own });
    }

    /// Writes the function that calls the others and returns a number that depends on their
    /// results.
    fn entry(&mut self, random: &mut Random, callees: &[Callee]) {
        let mut function = self.begin(random, callees, Ty::Int(64));
        function.may_leave = false;
        let number = function.random.bits() as i64;
        function.keep(&Ty::Int(64), &format!("add i64 {number}, 0"));
        let count = 10 + function.random.below(20);
        function.statements(count, 3);
        for _ in 0..2 {
            function.call();
        }
        let mut sum = "0".to_owned();
        for Value { ty, name } in function.values.clone() {
            let one = function.folded(&ty, &name);
            sum = function.mixed(&sum, &one);
        }
        for Slot { ty, name, .. } in function.slots.clone() {
            let value = function.make(&format!("load {ty}, ptr {name}"));
            let one = function.folded(&ty, &value);
            sum = function.mixed(&sum, &one);
        }
        for Bytes { name, size, .. } in function.bytes.clone() {
            // Words. The last one may overlap the one before.
            for at in (0..size - 8).step_by(8).chain([size - 8]) {
                let place = function.make(&format!("getelementptr i8, ptr {name}, i64 {at}"));
                let word = function.make(&format!("load i64, ptr {place}, align 1"));
                sum = function.mixed(&sum, &word);
            }
        }
        function.line(&format!("ret i64 {sum}"));
        let body = std::mem::take(&mut function.text);
        self.define(&format!("@{}", self.name), "i64", "", "", &body);
    }
}
