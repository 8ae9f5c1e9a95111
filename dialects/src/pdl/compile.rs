//! Patterns are compiled: each value of a `pdl.pattern` becomes a node.

use hashbrown::HashMap;
use loomir_ir::verifier::op_error;
use loomir_ir::{Body, Diagnostic, Diagnostics, OpRef, Value};

use super::pattern::{Action, LoadedPattern, Node, Template};
use super::{
    AttributeOp, EraseOp, OperandOp, OperationOp, PatternOp, ReplaceOp, ResultOp, RewriteOp, TypeOp,
};

/// The most operations in a chain from the root to an operand.
const MAX_DEPTH: usize = 64;

/// Compiles all patterns of a verified module.
///
/// # Errors
/// Patterns that cannot be applied.
pub fn compile(module: &Body) -> Result<Vec<LoadedPattern>, Diagnostics> {
    let mut patterns = Vec::new();
    let mut errors = Diagnostics::new();
    let mut open = vec![module];
    while let Some(body) = open.pop() {
        if body.is(body.root(), PatternOp::DEF) {
            match Compiler::new(body).and_then(Compiler::finish) {
                Ok(pattern) => patterns.push(pattern),
                Err(error) => errors.push(error),
            }
            continue;
        }
        let mark = open.len();
        open.extend(body.all_ops().filter_map(|op| body.nested(op)));
        open[mark..].reverse();
    }
    if errors.has_errors() { Err(errors) } else { Ok(patterns) }
}

struct Compiler<'b> {
    body: &'b Body,
    nodes: Vec<Node>,
    numbers: HashMap<Value, usize>,
    rewrite: OpRef<'b>,
}

fn refused(op: OpRef<'_>, what: &str, help: &str) -> Diagnostic {
    op_error(op, what).help(help)
}

impl<'b> Compiler<'b> {
    /// Reads the operations to match.
    fn new(body: &'b Body) -> Result<Compiler<'b>, Diagnostic> {
        let root = body.root_ref();
        let block = body.entry_block(root.region(0));
        let last = block.and_then(|block| body.last_op(block)).map(|op| body.op_ref(op));
        let Some(rewrite) = last.filter(|op| op.is(RewriteOp::DEF)) else {
            return Err(refused(root, "has no 'pdl.rewrite' at its end", "add one"));
        };
        if rewrite.attr("name").is_some() {
            let help = "write the rewrite in its region";
            return Err(refused(rewrite, "calls a function of another language", help));
        }
        let mut compiler = Compiler { body, nodes: Vec::new(), numbers: HashMap::new(), rewrite };
        for op in block.into_iter().flat_map(|block| body.ops(block)).map(|op| body.op_ref(op)) {
            if op.op() != rewrite.op() {
                compiler.node(op)?;
            }
        }
        Ok(compiler)
    }

    /// Adds the node of an operation.
    fn node(&mut self, op: OpRef<'b>) -> Result<usize, Diagnostic> {
        let ctx = op.ctx();
        let node = if op.is(TypeOp::DEF) {
            Node::Type(op.attr("constantType").and_then(|attr| attr.as_type(ctx)))
        } else if op.is(AttributeOp::DEF) {
            Node::Attribute { value: op.attr("value"), ty: self.optional(op, "valueType")? }
        } else if op.is(OperandOp::DEF) {
            Node::Operand { ty: self.optional(op, "valueType")? }
        } else if op.is(ResultOp::DEF) {
            let index = op.attr("index").and_then(|index| index.as_int(ctx)).unwrap_or_default();
            let of = self.one(op, "parent")?;
            Node::Result { of, index: usize::try_from(index).unwrap_or(usize::MAX) }
        } else if op.is(OperationOp::DEF) {
            let names = crate::syntax::texts(op, "attributeValueNames");
            let names = names.into_iter().map(str::to_owned);
            Node::Operation(Template {
                name: op.attr("opName").and_then(|name| name.as_str(ctx)).map(|name| ctx.op_name(name)),
                operands: self.group(op, "operandValues")?,
                attributes: names.zip(self.group(op, "attributeValues")?).collect(),
                types: self.group(op, "typeValues")?,
            })
        } else {
            let help = "there are operation, operand, result, attribute, type, rewrite, replace and erase";
            return Err(refused(op, "is not supported in patterns", help));
        };
        let number = self.nodes.len();
        self.nodes.push(node);
        self.numbers.insert(op.result(0), number);
        Ok(number)
    }

    /// Returns the numbers of the nodes that an operand of this name stands for.
    fn group(&self, op: OpRef<'b>, name: &str) -> Result<Vec<usize>, Diagnostic> {
        let numbers = op.operand_group(name).into_iter().map(|value| self.numbers.get(&value).copied());
        numbers.collect::<Option<Vec<usize>>>().ok_or_else(|| {
            refused(op, "uses a value that is no part of the pattern", "a pattern has no block arguments")
        })
    }

    /// Returns the node of an operand that may be left out.
    fn optional(&self, op: OpRef<'b>, name: &str) -> Result<Option<usize>, Diagnostic> {
        Ok(self.group(op, name)?.first().copied())
    }

    /// Returns the node of an operand.
    fn one(&self, op: OpRef<'b>, name: &str) -> Result<usize, Diagnostic> {
        self.optional(op, name)?.ok_or_else(|| refused(op, "has no operand", "name one"))
    }

    /// Compiles the rewrite.
    fn finish(mut self) -> Result<LoadedPattern, Diagnostic> {
        let root = self.root()?;
        let matched = self.nodes.len();
        self.check_reached(root)?;
        let mut actions = Vec::new();
        let blocks = self.rewrite.regions().flat_map(|region| self.body.blocks(region));
        let ops: Vec<OpRef<'b>> =
            blocks.flat_map(|block| self.body.ops(block)).map(|op| self.body.op_ref(op)).collect();
        let mut ends_root = false;
        for op in ops {
            if op.is(EraseOp::DEF) {
                let node = self.one(op, "opValue")?;
                self.expect_matched(op, node, matched)?;
                if node == root && ends_root {
                    return Err(refused(op, "erases the root, which is gone", "leave it out"));
                }
                ends_root |= node == root;
                actions.push(Action::Erase(node));
            } else if op.is(ReplaceOp::DEF) {
                if self.one(op, "opValue")? != root || ends_root {
                    let help = "replace the operation that 'pdl.rewrite' names, once";
                    return Err(refused(op, "replaces another operation than the root", help));
                }
                ends_root = true;
                actions.push(match self.optional(op, "replOperation")? {
                    Some(by) if by == root => {
                        return Err(refused(op, "replaces the root by itself", "name another operation"));
                    }
                    Some(by) => Action::ReplaceByOperation(by),
                    None => Action::ReplaceByValues(self.group(op, "replValues")?),
                });
            } else {
                let number = self.node(op)?;
                self.check_made(op, number)?;
                if op.is(OperationOp::DEF) {
                    actions.push(Action::Make(number));
                }
            }
        }
        if actions.is_empty() {
            return Err(refused(self.rewrite, "does nothing", "replace or erase the root"));
        }
        let pattern = self.body.root_ref();
        let ctx = pattern.ctx();
        let text = |name: &str| pattern.attr(name).and_then(|attr| attr.as_str(ctx));
        let benefit = pattern.attr("benefit").and_then(|benefit| benefit.as_int(ctx)).unwrap_or(1);
        Ok(LoadedPattern {
            name: text("sym_name").unwrap_or("pdl.pattern").to_owned(),
            loc: pattern.loc(),
            benefit: u16::try_from(benefit).unwrap_or(1),
            nodes: self.nodes,
            root,
            actions,
        })
    }

    /// Returns the node of the root: the one that the rewrite names, or the only operation.
    fn root(&self) -> Result<usize, Diagnostic> {
        if let Some(root) = self.optional(self.rewrite, "root")? {
            return Ok(root);
        }
        let is_operation = |number: &usize| matches!(self.nodes[*number], Node::Operation(_));
        let mut operations = (0..self.nodes.len()).filter(is_operation);
        match (operations.next(), operations.next()) {
            (Some(root), None) => Ok(root),
            _ => {
                Err(refused(self.rewrite, "names no root", "name the operation to replace: rewrite %op {…}"))
            }
        }
    }

    /// Checks that the root leads to all that is matched.
    fn check_reached(&self, root: usize) -> Result<(), Diagnostic> {
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![(root, 0)];
        while let Some((number, depth)) = open.pop() {
            if depth > MAX_DEPTH {
                let what = format!("follows operands more than {MAX_DEPTH} operations deep");
                return Err(refused(self.body.root_ref(), &what, "split the pattern"));
            }
            if std::mem::replace(&mut reached[number], true) {
                continue;
            }
            match &self.nodes[number] {
                Node::Type(_) => {}
                Node::Attribute { ty, .. } | Node::Operand { ty } => {
                    open.extend(ty.map(|ty| (ty, depth)));
                }
                Node::Result { of, .. } => open.push((*of, depth + 1)),
                Node::Operation(template) => {
                    let attributes = template.attributes.iter().map(|(_, attr)| attr);
                    let all = template.operands.iter().chain(attributes).chain(&template.types);
                    open.extend(all.map(|own| (*own, depth)));
                }
            }
        }
        let is_free = |node: &Node| {
            matches!(node, Node::Type(Some(_)) | Node::Attribute { value: Some(_), .. } | Node::Result { .. })
        };
        let lost = |(_, number): &(&Value, &usize)| !reached[**number] && !is_free(&self.nodes[**number]);
        match self.numbers.iter().filter(lost).min_by_key(|(_, number)| **number) {
            Some((value, _)) => {
                let op = self.body.defining_op(*value).unwrap_or(self.body.root());
                let help = "a pattern is matched from its root through operands, attributes and types";
                Err(refused(self.body.op_ref(op), "is not reached from the root", help))
            }
            None => Ok(()),
        }
    }

    /// Checks that an operation to erase is a matched one.
    fn expect_matched(&self, op: OpRef<'_>, node: usize, matched: usize) -> Result<(), Diagnostic> {
        match node < matched {
            true => Ok(()),
            false => Err(refused(op, "erases an operation that the rewrite makes", "do not make it")),
        }
    }

    /// Checks a part of the rewrite.
    fn check_made(&self, op: OpRef<'_>, number: usize) -> Result<(), Diagnostic> {
        let (what, help): (&str, &str) = match &self.nodes[number] {
            Node::Type(None) => ("has no type", "give the type: type : i32"),
            Node::Attribute { value: None, .. } => {
                ("expected constant value when specified within a `pdl.rewrite`", "give the value")
            }
            Node::Operand { .. } => ("is an operand in a rewrite", "move it in front of 'pdl.rewrite'"),
            Node::Operation(Template { name: None, .. }) => {
                ("must have an operation name when nested within a `pdl.rewrite`", "name the operation")
            }
            _ => return Ok(()),
        };
        Err(refused(op, what, help))
    }
}
