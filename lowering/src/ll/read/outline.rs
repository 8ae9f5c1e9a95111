//! The outline of a module's text: its function definitions, and the names and numbers it defines.
//!
//! The outline is for putting new text into a module that has been read. It knows nothing of the
//! contents of definitions. Linear in the text.

use std::ops::Range;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::addresses::TakenBlocks;
use super::lexer::{self, Kind, Token, name};

/// The outline of a module's text. Ranges are of bytes.
#[derive(Default, Debug)]
pub(in crate::ll) struct Outline {
    /// The definitions of functions by name: from `define` to the closing brace.
    pub(in crate::ll) definitions: HashMap<String, Range<usize>>,
    /// The names of all symbols.
    pub(in crate::ll) symbols: HashSet<String>,
    /// The numbers of symbols without a name, by the name they have in the dialect.
    pub(in crate::ll) unnamed: HashMap<String, usize>,
    /// The named types as they are written, by the name they have in the dialect.
    pub(in crate::ll) types: HashMap<String, Rc<str>>,
    /// A number that is greater than those of all nodes of metadata.
    pub(in crate::ll) next_node: usize,
    /// The blocks whose address is taken.
    pub(in crate::ll) taken: TakenBlocks,
    /// Orders of uses at the top of the module. They count uses, so they are wrong if one is added.
    pub(in crate::ll) use_orders: Vec<Range<usize>>,
}

impl Outline {
    /// Returns the outline of a text that the reader has accepted.
    pub(in crate::ll) fn of(source: &str) -> Outline {
        let tokens = lexer::tokens(source);
        let scan = Scan { source, tokens: &tokens };
        let mut outline = Outline { taken: TakenBlocks::of(source, &tokens), ..Outline::default() };
        let mut at = 0;
        while tokens[at].kind != Kind::End {
            let end = scan.item_end(at);
            outline.item(&scan, at, end);
            at = end;
        }
        outline
    }

    /// Adds the item of the tokens from `at` up to `end`.
    fn item(&mut self, scan: &Scan<'_>, at: usize, end: usize) {
        let bytes = scan.tokens[at].start as usize..scan.tokens[end - 1].end as usize;
        match (scan.tokens[at].kind, scan.text(at)) {
            (Kind::Word, word @ ("define" | "declare")) => {
                let Some(name) = (at..end).find(|at| scan.tokens[*at].kind == Kind::Global) else { return };
                let name = self.symbol(scan.text(name));
                if word == "define" {
                    self.definitions.insert(name, bytes);
                }
            }
            (Kind::Word, "uselistorder" | "uselistorder_bb") => self.use_orders.push(bytes),
            (Kind::Global, text) => {
                self.symbol(text);
            }
            (Kind::Local, text) => {
                self.types.insert(name(text), text.into());
            }
            (Kind::Metadata, text) => {
                if let Some(number) = number(text) {
                    self.next_node = self.next_node.max(number.saturating_add(1));
                }
            }
            _ => {}
        }
    }

    /// Adds a symbol by its text, and returns its name in the dialect.
    fn symbol(&mut self, text: &str) -> String {
        let name = name(text);
        if let Some(number) = number(text) {
            self.unnamed.insert(name.clone(), number);
        }
        self.symbols.insert(name.clone());
        name
    }
}

/// Returns the number behind a sign, as in `!12`.
fn number(text: &str) -> Option<usize> {
    text[1..].bytes().all(|byte| byte.is_ascii_digit()).then(|| text[1..].parse().ok())?
}

struct Scan<'s> {
    source: &'s str,
    tokens: &'s [Token],
}

impl<'s> Scan<'s> {
    fn text(&self, at: usize) -> &'s str {
        &self.source[self.tokens[at].start as usize..self.tokens[at].end as usize]
    }

    /// Returns the first token of the item behind the one at a token.
    fn item_end(&self, at: usize) -> usize {
        let mut depth = 0usize;
        for at in at..self.tokens.len() {
            match (self.tokens[at].kind, self.text(at)) {
                (Kind::Sign, "(" | "[" | "{") => depth += 1,
                (Kind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                _ => {}
            }
            let next = at + 1;
            if next + 1 >= self.tokens.len() || depth == 0 && self.begins_item(next) {
                return next;
            }
        }
        self.tokens.len() - 1
    }

    /// True if an item begins at a token that is in no bracket.
    fn begins_item(&self, at: usize) -> bool {
        let next = self.text((at + 1).min(self.tokens.len() - 1));
        match self.tokens[at].kind {
            Kind::Global | Kind::Local | Kind::Metadata | Kind::Comdat => next == "=",
            Kind::Word => match self.text(at) {
                "define" | "declare" | "uselistorder" | "uselistorder_bb" => true,
                "source_filename" => next == "=",
                "attributes" => next.starts_with('#'),
                // A type of a target has its name in brackets.
                "target" => matches!(next, "datalayout" | "triple"),
                "module" => next == "asm",
                _ => false,
            },
            kind => kind == Kind::End,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_end_with_their_brace() {
        let source = r#"%0 = type { i32 }
@a = global ptr @"g h"
@1 = private constant [2 x i8] c"}\00", comdat($c)
define target("x") @f(ptr %p) #0 prefix { i32, i32 } { i32 1, i32 2 } !dbg !7 {
  ret target("x") poison ; }
}
; behind
declare !dbg !3 void @"g h"(i32)
define void @2() {
a:
  br label %b
b:
  ret void
  uselistorder label %b, { 0 }
}
uselistorder ptr @a, { 1, 0 }
attributes #0 = { nounwind }
!7 = !{!"}", !3}
!x = !{!7}"#;
        let outline = Outline::of(source);
        let text = |name: &str| &source[outline.definitions[name].clone()];
        assert!(text("f").starts_with("define target") && text("f").ends_with("; }\n}"));
        assert!(text("2").starts_with("define void @2") && text("2").ends_with("{ 0 }\n}"));
        assert_eq!(outline.definitions.len(), 2);
        let mut symbols: Vec<&str> = outline.symbols.iter().map(String::as_str).collect();
        symbols.sort_unstable();
        assert_eq!(symbols, ["1", "2", "a", "f", "g h"]);
        assert_eq!(outline.unnamed.len(), 2);
        assert_eq!(&*outline.types["0"], "%0");
        assert_eq!(outline.next_node, 8);
        assert_eq!(&source[outline.use_orders[0].clone()], "uselistorder ptr @a, { 1, 0 }");
    }

    #[test]
    fn texts_without_items_have_an_empty_outline() {
        for source in ["", ";", "define", "}", "@", "declare void"] {
            assert!(Outline::of(source).definitions.is_empty());
        }
    }
}
