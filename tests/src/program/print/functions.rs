//! Text of the module's own functions, and of calls that access an element.

use super::Writer;
use crate::program::{Expr, MemRefId, Operator, ValueId, row_major};

impl Writer<'_> {
    /// Writes a function of the module. Fill and bump know the sizes from the type.
    pub(super) fn function(&mut self, k: usize, name: &str, ty: &str) {
        if name == "same" {
            self.line(&format!("func.func private @same{k}(%m: {ty}) -> {ty} {{"));
            self.line(&format!("  return %m : {ty}"));
            return self.line("}");
        }
        if matches!(name, "get" | "put") {
            return self.function_at(k, name, ty);
        }
        let element = self.program.element;
        let shape = ty.trim_start_matches("memref<").split([',', '>']).next().unwrap_or_default();
        let sizes: Vec<i64> = shape.split('x').filter_map(|part| part.parse().ok()).collect();
        self.line(&format!("func.func private @{name}{k}(%m: {ty}) {{"));
        self.depth += 1;
        self.line("%c0 = arith.constant 0 : index");
        if name == "bump" {
            let at = vec!["%c0"; sizes.len()].join(", ");
            self.line(&format!("%old = memref.load %m[{at}] : {ty}"));
            self.line(&format!(
                "%new = {} %old, %old : {}",
                element.operation(Operator::Add),
                element.name()
            ));
            self.line(&format!("memref.store %new, %m[{at}] : {ty}"));
        } else {
            self.line("%c1 = arith.constant 1 : index");
            let mut linear = "%c1".to_owned();
            let mut at = Vec::new();
            for (d, size) in sizes.iter().enumerate() {
                self.line(&format!("%size{d} = arith.constant {size} : index"));
                self.line(&format!("%stride{d} = arith.constant {} : index", row_major(&sizes)[d]));
                self.line(&format!("scf.for %i{d} = %c0 to %size{d} step %c1 {{"));
                self.depth += 1;
                self.line(&format!("%scaled{d} = arith.muli %i{d}, %stride{d} : index"));
                self.line(&format!("%sum{d} = arith.addi {linear}, %scaled{d} : index"));
                linear = format!("%sum{d}");
                at.push(format!("%i{d}"));
            }
            let value = self.index_to_element(&linear);
            self.line(&format!("memref.store {value}, %m[{}] : {ty}", at.join(", ")));
            for _ in &sizes {
                self.depth -= 1;
                self.line("}");
            }
        }
        self.line("return");
        self.depth -= 1;
        self.line("}");
    }

    /// Returns the call of a function that reads an element, or writes a value to it, without its
    /// results.
    pub(super) fn call_at(
        &mut self,
        name: &'static str,
        memref: MemRefId,
        at: &[Expr],
        stored: Option<ValueId>,
    ) -> String {
        let mut operands = vec![self.memref(memref)];
        let mut types = vec![self.ty(memref)];
        let k = self.callee(name, types[0].clone());
        for expr in at {
            operands.push(self.index(expr));
            types.push("index".to_owned());
        }
        if let Some(value) = stored {
            operands.push(format!("%v{value}"));
            types.push(self.program.element.name().to_owned());
        }
        format!("func.call @{name}{k}({}) : ({})", operands.join(", "), types.join(", "))
    }

    /// Writes a function that reads an element, or writes it. Some use `affine` operations, others
    /// pass the value that they read through an array of their own.
    fn function_at(&mut self, k: usize, name: &str, ty: &str) {
        let element = self.program.element.name();
        let shape = ty.trim_start_matches("memref<").split([',', '>']).next().unwrap_or_default();
        let indices: Vec<String> = (1..shape.split('x').count()).map(|d| format!("%i{d}")).collect();
        let mut arguments = vec![format!("%m: {ty}")];
        arguments.extend(indices.iter().map(|index| format!("{index}: index")));
        let reads = name == "get";
        let results = if reads { format!(" -> {element}") } else { String::new() };
        arguments.extend((!reads).then(|| format!("%v: {element}")));
        self.line(&format!("func.func private @{name}{k}({}){results} {{", arguments.join(", ")));
        self.depth += 1;
        let is_affine = k.is_multiple_of(2);
        let (prefix, at) = match is_affine {
            true => ("affine", indices.iter().map(|index| format!("symbol({index})")).collect()),
            false => ("memref", indices),
        };
        let at = at.join(", ");
        if !reads {
            self.line(&format!("{prefix}.store %v, %m[{at}] : {ty}"));
            self.line("return");
        } else {
            self.line(&format!("%v = {prefix}.load %m[{at}] : {ty}"));
            let mut read = "%v";
            if !is_affine {
                self.line(&format!("%own = memref.alloc() : memref<{element}>"));
                self.line(&format!("memref.store %v, %own[] : memref<{element}>"));
                self.line(&format!("%w = memref.load %own[] : memref<{element}>"));
                self.line(&format!("memref.dealloc %own : memref<{element}>"));
                read = "%w";
            }
            self.line(&format!("return {read} : {element}"));
        }
        self.depth -= 1;
        self.line("}");
    }
}
