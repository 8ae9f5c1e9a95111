//! Declarative assembly formats: MLIR's format language, parsed when an operation is registered and
//! interpreted in both directions.
//!
//! A format is a list of elements:
//!
//! | element | stands for |
//! | --- | --- |
//! | `` `text` `` | a keyword or punctuation; `` ` ` `` a space, ` `` ` no space, `` `\n` `` a line break |
//! | `$name` | an operand, attribute, region or successor of the definition |
//! | `type($name)` | the type of an operand or result, or of all: `type(operands)`, `type(results)` |
//! | `functional-type(a, b)` | `(types of a) -> types of b` |
//! | `operands`, `regions`, `successors` | all of them |
//! | `attr-dict`, `attr-dict-with-keyword` | the attributes that no other element shows |
//! | `prop-dict` | the inherent ones of those, as `<{…}>`, which `attr-dict` then does not show |
//! | `qualified(x)` | `x`, with the prefix of its dialect |
//! | `(a b^ c)?`, `(a b^ c) : (d e)?` | the first group if the element marked `^` is present, else the second |
//! | ``oilist(`a` x \| `b` y)`` | clauses in any order, each at most once |
//! | `custom<Name>(x, ref(y))` | what a function of the dialect makes of it |
//!
//! **Custom directives.** The dialect lists them,
//! `directives [DirectiveDef { name: "Name", parse, print }]`. The functions get the arguments as
//! [`DirectiveArg`]s in order. When reading, `ref(…)` arguments hold what was read before; the
//! others are empty and the function fills them in ([`DirectiveArg::Operands`] with names that are
//! resolved later, types, an attribute). When writing, all hold what the operation has.
//!
//! **Types** that the text leaves out are inferred: from the constraints of the definition
//! (`SameAs`, `Exactly`, …), in whatever order that works, and from the traits that make types
//! equal.
//!
//! **How attributes look** follows from their constraint: enumerations are keywords (those kept as
//! attributes stand in `<…>`), an attribute called `sym_name` is `@name`, a dense array `[1, 2]`, a
//! number has no type, a dialect's attribute lacks its name unless `qualified`.

use std::borrow::Cow;

use crate::attributes::Attr;
use crate::body::OpRef;
use crate::builder::OperationState;
use crate::entity::{Block, Value};
use crate::opdef::OpDef;
use crate::text::lexer::Kind;
use crate::text::{OpParser, OpPrinter, ParseResult, UnresolvedOperand};
use crate::types::Type;

mod attributes;
mod parse;
mod read;
mod write;

pub(crate) use read::Scratch;

/// A custom directive of a dialect: `custom<Name>(…)` in a format calls it by its name.
#[derive(Clone, Copy, Debug)]
pub struct DirectiveDef {
    /// The name between `<` and `>`.
    pub name: &'static str,
    /// Reads it. Arguments that were read before (`ref(…)`) come filled in, the others are for the
    /// function to fill.
    pub parse: fn(&mut OpParser<'_, '_>, &mut OperationState, &mut [DirectiveArg]) -> ParseResult<()>,
    /// Writes it. All arguments come filled in.
    pub print: fn(&mut OpPrinter<'_>, OpRef<'_>, &[DirectiveArg]),
}

/// An argument of a custom directive, in the order they are written in the format.
#[derive(Clone, Debug)]
pub enum DirectiveArg {
    /// `$operand` when reading: none, one or many.
    Operands(Vec<UnresolvedOperand>),
    /// `$operand` when writing.
    Values(Vec<Value>),
    /// `type($operand)` or `type($result)`.
    Types(Vec<Type>),
    /// `$attr`.
    Attr(Option<Attr>),
    /// `$successor`.
    Successors(Vec<Block>),
    /// `$region`, by its index. To read one, call [`OpParser::parse_region`].
    Region(usize),
    /// `attr-dict`: to read it, call [`OpParser::parse_optional_attr_dict`]; to write it,
    /// [`OpPrinter::attr_dict`] with the names given here left out.
    AttrDict(Vec<Cow<'static, str>>),
    /// A text in quotes.
    Text(String),
}

/// A parsed declarative assembly format.
#[derive(Debug)]
pub struct Format {
    elements: Vec<Spaced>,
    /// Attributes that an element shows, so that `prop-dict` doesn't.
    shown: Vec<Cow<'static, str>>,
    /// And those that `attr-dict` doesn't: with a `prop-dict`, no inherent one.
    shown_or_inherent: Vec<Cow<'static, str>>,
    /// For each operand and then each result of the definition the one whose type is its own, by
    /// its constraint.
    same_type_as: Vec<Option<usize>>,
}

/// An element and whether a space goes before it.
#[derive(Debug)]
struct Spaced {
    space: bool,
    element: Element,
}

#[derive(Debug)]
enum Element {
    Punctuation {
        text: String,
        kind: Kind,
    },
    Keyword(String),
    /// Only of effect on spaces: written if the flag is set.
    Space(bool),
    LineBreak,
    Operand(usize),
    Attr {
        index: usize,
        qualified: bool,
    },
    Region(usize),
    Successor(usize),
    AllOperands,
    AllRegions,
    AllSuccessors,
    AttrDict {
        keyword: bool,
    },
    PropDict,
    Types {
        of: Values,
        qualified: bool,
    },
    FunctionalType(Values, Values),
    Custom {
        directive: DirectiveDef,
        arguments: Vec<Argument>,
    },
    Optional(Box<Optional>),
    /// Clauses: keyword, elements, and what says whether the clause is there.
    AnyOrder(Vec<Clause>),
}

#[derive(Debug)]
struct Clause {
    keyword: Spaced,
    elements: Vec<Spaced>,
    anchors: Vec<Anchor>,
}

/// Operands or results of the definition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Values {
    Operand(usize),
    Result(usize),
    AllOperands,
    AllResults,
}

#[derive(Debug)]
struct Argument {
    element: ArgumentElement,
    /// Read before.
    is_ref: bool,
}

#[derive(Debug)]
enum ArgumentElement {
    Operand(usize),
    Attr(usize),
    Types(Values),
    Successor(usize),
    Region(usize),
    AttrDict,
    Text(String),
}

#[derive(Debug)]
struct Optional {
    then: Vec<Spaced>,
    otherwise: Vec<Spaced>,
    anchor: Anchor,
    /// The anchor stands in the second group.
    inverted: bool,
    /// The anchor is a unit attribute that the group's presence stands for.
    unit: Option<usize>,
}

/// The element whose presence decides on an optional group.
#[derive(Clone, Debug)]
enum Anchor {
    Values(Values),
    Attr(usize),
    Region(usize),
    Successor(usize),
    Any(Vec<Anchor>),
}

impl Format {
    /// Parses the format of a definition.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(def: &OpDef, directives: &[DirectiveDef]) -> Result<Format, String> {
        parse::parse(def, directives)
    }
}
