//! Edits of loop trees as text, for fixtures: their result, and the verdict of the judge.
//!
//! A line of edits has options, then edits separated by `;`. Each edit is a place, the change and
//! its numbers:
//!
//! ```text
//! --alias=distinct 0 fuse 1; 0.2 strip-mine 4
//! ```
//!
//! | change | numbers |
//! | --- | --- |
//! | `move` | the place in the sequence afterwards |
//! | `reverse`, `flatten` | none |
//! | `permute` | for each loop, from the outside, the number that it had |
//! | `distribute` | the first item of the second loop |
//! | `split` | the first iteration of the second loop |
//! | `fuse` | by how many iterations the second loop runs later |
//! | `strip-mine` | the iterations of a block |
//! | `unroll`, `jam` | the iterations of a block |
//! | `lanes`, `masked-lanes` | the iterations of a block, with others behind it or a mask |
//! | `unswitch` | how many conditions |
//! | `peel` | how many of the first iterations, how many of the last |
//!
//! A place is the path from the root to an item: the number of the child at each node, with `.`
//! between them.
//!
//! **Cost.** The sum of edits, judge and writing.

use std::fmt::Write;

use loomir::AliasMode;
use loomir::ir::{Body, Diagnostic, Diagnostics, Loc, Value};
use loomir::transforms::affine::{AffineForm, Atom};
use loomir::transforms::legality::{Checker, Verdict};
use loomir::transforms::regenerate::{Rewrite, regenerate};
use loomir::transforms::tree::raise::raise;
use loomir::transforms::tree::{Change, Edit, Green, Header, Node, Program, Span, TreeStore};

use crate::blocks::each_block;

/// Edits, and the check of their tree.
#[derive(Clone, Debug)]
pub struct Script {
    /// The alias assumption about arguments.
    pub alias: AliasMode,
    edits: Vec<Edit>,
}

impl Script {
    /// Reads a line of edits. `None` if it is none.
    pub fn parse(text: &str) -> Option<Script> {
        let (mut alias, mut rest) = (AliasMode::May, text.trim());
        while let Some(option) = rest.strip_prefix("--") {
            let (option, behind) = option.split_once(' ')?;
            alias = option.strip_prefix("alias=")?.parse().ok()?;
            rest = behind.trim();
        }
        let edits = rest.split(';').map(|edit| parse_edit(edit.trim())).collect::<Option<_>>()?;
        Some(Script { alias, edits })
    }

    /// Makes the edits in each block of the functions of a module, if the judge approves.
    ///
    /// Returns the tree as comments, and the reason for each unchanged block.
    pub fn apply(&self, module: &mut Body) -> (String, Diagnostics) {
        let (mut text, mut said) = (String::new(), Diagnostics::new());
        each_block(module, &mut |body, block| {
            let mut trees = TreeStore::default();
            let program = raise(body, block, &mut trees, self.alias);
            if let Err(reason) = self.in_block(body, &program, &mut trees, &mut text) {
                said.push(reason);
            }
        });
        (text, said)
    }

    fn in_block(
        &self,
        body: &mut Body,
        program: &Program,
        trees: &mut TreeStore,
        text: &mut String,
    ) -> Result<(), Diagnostic> {
        let mut tree = program.root;
        for (number, edit) in self.edits.iter().enumerate() {
            let Some(new) = edit.apply(program, trees, tree) else {
                let said = format!("edit {} cannot be made", number + 1);
                return Err(Diagnostic::remark(Loc::UNKNOWN, said));
            };
            tree = new;
        }
        Printer { program, trees, body, depth: 0, parameters: Vec::new(), text }.items(tree, 0);
        let judged = Checker::new(body, program, self.alias, Default::default()).judge(trees, tree);
        let approved = judged.map_err(|verdict| refused(body, &verdict))?;
        for assumption in approved.assumed() {
            let _ = writeln!(text, "// taken not to overlap: {}", assumption.text(body));
        }
        regenerate(body, program, trees, &approved, Rewrite::Changed).map_err(|why| {
            let text = format!("this loop cannot be written: {}", why.reason.text());
            Diagnostic::remark(body.loc(why.op), text)
        })
    }
}

fn parse_edit(text: &str) -> Option<Edit> {
    let mut words = text.split_whitespace();
    let place = words.next()?.split('.').map(|at| at.parse().ok()).collect::<Option<Vec<usize>>>()?;
    let change = words.next()?;
    let numbers = words.map(|word| word.parse().ok()).collect::<Option<Vec<i64>>>()?;
    let place_of = |number: i64| usize::try_from(number).ok();
    let change = match (change, &numbers[..]) {
        ("move", [to]) => Change::Move { to: place_of(*to)? },
        ("flatten", []) => Change::Flatten,
        ("reverse", []) => Change::Reverse,
        ("permute", order) => {
            Change::Permute { order: order.iter().map(|own| place_of(*own)).collect::<Option<_>>()? }
        }
        ("arrange", order) => {
            Change::Arrange { order: order.iter().map(|own| place_of(*own)).collect::<Option<_>>()? }
        }
        ("distribute", [at]) => Change::Distribute { at: place_of(*at)? },
        ("split", [at]) => Change::SplitRange { at: AffineForm::constant(*at) },
        ("fuse", [shift]) => Change::Fuse { shift: *shift },
        ("strip-mine", [size]) => Change::StripMine { size: *size },
        ("unroll", [count]) => Change::Unroll { count: place_of(*count)? },
        ("jam", [count]) => Change::UnrollAndJam { count: place_of(*count)? },
        ("lanes", [count]) => Change::Vectorize { lanes: place_of(*count)?, masked: false },
        ("masked-lanes", [count]) => Change::Vectorize { lanes: place_of(*count)?, masked: true },
        ("unswitch", [conditions]) => Change::Unswitch { conditions: u32::try_from(*conditions).ok()? },
        ("peel", [first, last]) => Change::Peel { first: place_of(*first)?, last: place_of(*last)? },
        _ => return None,
    };
    Some(change.at(place))
}

/// Returns the diagnostic for a tree that the judge does not approve.
fn refused(body: &Body, verdict: &Verdict) -> Diagnostic {
    let remark = |text: String| Diagnostic::remark(Loc::UNKNOWN, text);
    match verdict {
        Verdict::Legal { assumed } => {
            let assumed: Vec<String> = assumed.iter().map(|own| own.text(body)).collect();
            remark(format!("legal only if these do not overlap: {}", assumed.join(", ")))
        }
        Verdict::Illegal(_) => verdict.explain(body, remark("illegal".to_owned()), "edited"),
        Verdict::MayBeIllegal(_) => verdict.explain(body, remark("may be illegal".to_owned()), "edited"),
        Verdict::Unknown { .. } => verdict.explain(body, remark("no answer".to_owned()), "edited"),
    }
}

/// A printer of trees as comments. Induction variables are `i0`, `i1` from the outside, and
/// parameters are `p0`, `p1` in the order of their occurrence. Loops and statements of the program
/// keep the numbers of the raised program.
struct Printer<'a> {
    program: &'a Program,
    trees: &'a TreeStore,
    body: &'a Body,
    depth: u32,
    parameters: Vec<Value>,
    text: &'a mut String,
}

impl Printer<'_> {
    fn line(&mut self, indent: u32, line: &str) {
        let _ = writeln!(self.text, "// {}{line}", "  ".repeat(indent as usize));
    }

    /// Recurses once for each loop, guard or versioned node.
    fn items(&mut self, sequence: Green, indent: u32) {
        let items: Vec<Green> = self.trees.items(sequence).collect();
        items.into_iter().for_each(|item| self.item(item, indent));
    }

    fn item(&mut self, item: Green, indent: u32) {
        let trees = self.trees;
        match trees.get(item) {
            Node::Empty | Node::Sequence { .. } => self.items(item, indent),
            Node::Leaf { statement, map } => {
                let name = self.body.op_ref(self.program.statement(statement).op()).name().to_owned();
                let map = self.forms(trees.map(map));
                self.line(indent, &format!("{}: {name}({map})", statement.0));
            }
            Node::Loop { header, body } => {
                self.depth += 1;
                let header = self.header(trees.header(header));
                self.line(indent, &header);
                self.items(body, indent + 1);
                self.depth -= 1;
            }
            Node::Guard { of, map, holds, body } => {
                let map = self.forms(trees.map(map));
                let word = if holds { "if" } else { "unless" };
                self.line(indent, &format!("{word} condition {}({map})", of.0));
                self.items(body, indent + 1);
            }
            Node::Versioned { fast, fallback, .. } => {
                self.line(indent, "if what is assumed holds");
                self.items(fast, indent + 1);
                self.line(indent, "else");
                self.items(fallback, indent + 1);
            }
        }
    }

    /// Prints a header. The loop's own induction variable is in scope.
    fn header(&mut self, header: &Header) -> String {
        let variable = format!("i{}", self.depth - 1);
        let values = match &header.span {
            Span::Whole => "all".to_owned(),
            Span::Range { scale, lower, upper } => {
                // Bounds are forms over the loops around.
                self.depth -= 1;
                let (lower, upper) = (self.bound("max", lower), self.bound("min", upper));
                self.depth += 1;
                let scaled = if *scale == 1 { variable.clone() } else { format!("{scale}*{variable}") };
                format!("{lower} <= {scaled} < {upper}")
            }
        };
        let origins: Vec<String> = header
            .origins
            .iter()
            .map(|origin| format!("{}({})", origin.of.0, self.forms(&origin.map)))
            .collect();
        let order = if header.parallel { ", in any order" } else { "" };
        format!("for {variable}: {values}{order}: loop {}", origins.join(", "))
    }

    /// Returns the text of one form, or of the minimum or maximum of several.
    fn bound(&mut self, word: &str, forms: &[AffineForm]) -> String {
        let joined = self.forms(forms);
        if forms.len() == 1 { joined } else { format!("{word}({joined})") }
    }

    fn forms(&mut self, forms: &[AffineForm]) -> String {
        let forms: Vec<String> = forms.iter().map(|form| self.form(form)).collect();
        forms.join(", ")
    }

    /// Recurses once a nested quotient.
    fn form(&mut self, form: &AffineForm) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (atom, coefficient) in form.terms() {
            let atom = match atom {
                Atom::Level(level) => match self.depth.checked_sub(level + 1) {
                    Some(number) => format!("i{number}"),
                    None => format!("outside{level}"),
                },
                Atom::Param(value) => self.parameter(*value),
                Atom::Product(values) => {
                    let values: Vec<String> = values.iter().map(|value| self.parameter(*value)).collect();
                    values.join("*")
                }
                Atom::FloorDiv(inner, divisor) => format!("floor(({}) / {divisor})", self.form(inner)),
            };
            parts.push(if *coefficient == 1 { atom } else { format!("{coefficient}*{atom}") });
        }
        if form.constant_part() != 0 || parts.is_empty() {
            parts.push(form.constant_part().to_string());
        }
        parts.join(" + ").replace("+ -", "- ")
    }

    fn parameter(&mut self, value: Value) -> String {
        let known = self.parameters.iter().position(|own| *own == value);
        let number = known.unwrap_or_else(|| {
            self.parameters.push(value);
            self.parameters.len() - 1
        });
        format!("p{number}")
    }
}
