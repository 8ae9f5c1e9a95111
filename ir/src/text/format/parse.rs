//! From the text of a format to its elements, checked against the definition.
//!
//! Spaces are decided here, once: where one goes depends on the elements alone, not on which of the
//! optional ones an operation has.

use super::{
    Anchor, Argument, ArgumentElement, Clause, DirectiveDef, Element, Format, Optional, Spaced, Values,
};
use crate::opdef::{Arity, AttrConstraint, OpDef, Presence, RegionKind, TypeConstraint};
use crate::text::lexer::Kind;

/// The deepest nesting of groups and directives in a format.
const MAX_DEPTH: usize = 32;

pub(super) fn parse(def: &OpDef, directives: &[DirectiveDef]) -> Result<Format, String> {
    let text = def.format.as_deref().unwrap_or_default();
    let tokens = tokens(text)?;
    let mut parser = FormatParser { def, directives, tokens, pos: 0, depth: 0, bound: Bound::default() };
    let mut elements = parser.elements(&[])?;
    if parser.pos != parser.tokens.len() {
        return Err(format!("unexpected {}", text_of(parser.peek())));
    }
    let mut spaces = Spaces { emit: true, after_punctuation: false };
    spaces.decide(&mut elements);
    parser.bound.check(def)?;
    let shown: Vec<_> = parser.bound.attrs.iter().map(|i| def.attrs[*i].name.clone()).collect();
    let mut shown_or_inherent = shown.clone();
    if parser.bound.prop_dict {
        shown_or_inherent = def.attrs.iter().map(|attr| attr.name.clone()).collect();
    }
    let values = || def.operands.iter().chain(def.results.iter());
    let same_type_as = values().map(|value| match &value.ty {
        TypeConstraint::SameAs(name) => values().position(|other| other.name == *name),
        _ => None,
    });
    Ok(Format { elements, shown, shown_or_inherent, same_type_as: same_type_as.collect() })
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Token {
    Literal(String),
    Variable(String),
    Word(String),
    Text(String),
    Sign(char),
}

/// A token as it is written.
fn text_of(token: Option<&Token>) -> String {
    match token {
        None => "the end".to_owned(),
        Some(Token::Literal(text)) => format!("`{text}`"),
        Some(Token::Variable(name)) => format!("${name}"),
        Some(Token::Word(word)) => format!("'{word}'"),
        Some(Token::Text(text)) => format!("{text:?}"),
        Some(Token::Sign(sign)) => format!("'{sign}'"),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        rest = match first {
            _ if first.is_whitespace() => behind,
            '`' => {
                let end = behind.find('`').ok_or("a literal lacks its closing '`'")?;
                tokens.push(Token::Literal(behind[..end].to_owned()));
                &behind[end + 1..]
            }
            '"' => {
                let end = behind.find('"').ok_or("a text lacks its closing quote")?;
                tokens.push(Token::Text(behind[..end].to_owned()));
                &behind[end + 1..]
            }
            '$' => {
                let end = behind.find(|c| !is_word(c) || c == '-').unwrap_or(behind.len());
                tokens.push(Token::Variable(behind[..end].to_owned()));
                &behind[end..]
            }
            _ if first.is_ascii_alphabetic() => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                tokens.push(Token::Word(rest[..end].to_owned()));
                &rest[end..]
            }
            '(' | ')' | '?' | '^' | ':' | ',' | '<' | '>' | '|' => {
                tokens.push(Token::Sign(first));
                behind
            }
            _ => return Err(format!("unexpected character '{first}'")),
        };
    }
    Ok(tokens)
}

struct FormatParser<'f> {
    def: &'f OpDef,
    directives: &'f [DirectiveDef],
    tokens: Vec<Token>,
    pos: usize,
    /// The number of groups and directives that are open.
    depth: usize,
    bound: Bound,
}

/// The parts of a definition that the elements so far stand for. An operand, region or successor
/// must be somewhere, nothing twice.
#[derive(Default)]
struct Bound {
    attrs: Vec<usize>,
    operands: Vec<usize>,
    regions: Vec<usize>,
    successors: Vec<usize>,
    all_operands: bool,
    all_regions: bool,
    all_successors: bool,
    attr_dict: bool,
    prop_dict: bool,
}

impl Bound {
    fn check(&self, def: &OpDef) -> Result<(), String> {
        if !self.attr_dict {
            return Err("'attr-dict' is missing".into());
        }
        let missing = |all: bool, bound: &[usize], count: usize| {
            (0..count).find(|index| !all && !bound.contains(index))
        };
        if let Some(index) = missing(self.all_operands, &self.operands, def.operands.len()) {
            return Err(format!("operand '{}' is missing", def.operands[index].name));
        }
        if let Some(index) = missing(self.all_regions, &self.regions, def.regions.len()) {
            return Err(format!("region '{}' is missing", def.regions[index].name));
        }
        if let Some(index) = missing(self.all_successors, &self.successors, def.successors.len()) {
            return Err(format!("successor '{}' is missing", def.successors[index].name));
        }
        Ok(())
    }
}

/// The part of a definition that `$name` is.
enum Variable {
    Operand(usize),
    Result(usize),
    Attr(usize),
    Region(usize),
    Successor(usize),
}

impl FormatParser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.pos)
    }

    fn accept(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.pos += usize::from(found);
        found
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.accept(sign) {
            Ok(())
        } else {
            Err(format!("expected '{sign}' instead of {}", text_of(self.peek())))
        }
    }

    /// Reads a group or a directive one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        if self.depth >= MAX_DEPTH {
            return Err(format!("groups and directives nest more than {MAX_DEPTH} deep"));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Elements up to one of some signs; a `^` behind one is left to the caller by position.
    fn elements(&mut self, until: &[char]) -> Result<Vec<Spaced>, String> {
        Ok(self.elements_and_anchor(until)?.0)
    }

    /// Elements up to one of some signs, and which of them is marked.
    fn elements_and_anchor(&mut self, until: &[char]) -> Result<(Vec<Spaced>, Option<usize>), String> {
        let (mut elements, mut anchor) = (Vec::new(), None);
        loop {
            match self.peek() {
                None => break,
                Some(Token::Sign(sign)) if until.contains(sign) => break,
                _ => {}
            }
            let element = self.element()?;
            if self.accept('^') && anchor.replace(elements.len()).is_some() {
                return Err("a group has one anchor".into());
            }
            elements.push(Spaced { space: false, element });
        }
        Ok((elements, anchor))
    }

    fn element(&mut self) -> Result<Element, String> {
        let Some(token) = self.peek().cloned() else { return Err("expected an element".into()) };
        self.pos += 1;
        match token {
            Token::Literal(text) => literal(text),
            Token::Variable(name) => self.variable_element(&name, false),
            Token::Sign('(') => self.nested(Self::optional_group),
            Token::Word(word) => self.nested(|parser| parser.directive(&word, false)),
            other => Err(format!("unexpected {}", text_of(Some(&other)))),
        }
    }

    fn variable(&self, name: &str) -> Result<Variable, String> {
        let def = self.def;
        let found = None
            .or_else(|| def.attrs.iter().position(|d| d.name == name).map(Variable::Attr))
            .or_else(|| def.operands.iter().position(|d| d.name == name).map(Variable::Operand))
            .or_else(|| def.regions.iter().position(|d| d.name == name).map(Variable::Region))
            .or_else(|| def.successors.iter().position(|d| d.name == name).map(Variable::Successor))
            .or_else(|| def.results.iter().position(|d| d.name == name).map(Variable::Result));
        found.ok_or_else(|| format!("the definition has no '{name}'"))
    }

    fn variable_element(&mut self, name: &str, qualified: bool) -> Result<Element, String> {
        Ok(match self.variable(name)? {
            Variable::Operand(index) => {
                bind(&mut self.bound.operands, index, name)?;
                Element::Operand(index)
            }
            Variable::Attr(index) => {
                bind(&mut self.bound.attrs, index, name)?;
                Element::Attr { index, qualified }
            }
            Variable::Region(index) => {
                bind(&mut self.bound.regions, index, name)?;
                Element::Region(index)
            }
            Variable::Successor(index) => {
                bind(&mut self.bound.successors, index, name)?;
                Element::Successor(index)
            }
            Variable::Result(_) => return Err(format!("result '{name}' can only be an argument of type(…)")),
        })
    }

    fn directive(&mut self, word: &str, qualified: bool) -> Result<Element, String> {
        Ok(match word {
            "operands" => {
                self.bound.all_operands = true;
                Element::AllOperands
            }
            "regions" => {
                self.bound.all_regions = true;
                Element::AllRegions
            }
            "successors" => {
                self.bound.all_successors = true;
                Element::AllSuccessors
            }
            "attr-dict" => self.attr_dict(false)?,
            "attr-dict-with-keyword" => self.attr_dict(true)?,
            "prop-dict" => {
                self.bound.prop_dict = true;
                Element::PropDict
            }
            "type" => Element::Types { of: self.parenthesised_values()?, qualified },
            "functional-type" => {
                self.expect('(')?;
                let inputs = self.values()?;
                self.expect(',')?;
                let results = self.values()?;
                self.expect(')')?;
                Element::FunctionalType(inputs, results)
            }
            "qualified" => {
                self.expect('(')?;
                let element = match self.peek().cloned() {
                    Some(Token::Variable(name)) => {
                        self.pos += 1;
                        self.variable_element(&name, true)?
                    }
                    Some(Token::Word(word)) if word == "type" => {
                        self.pos += 1;
                        self.directive(&word, true)?
                    }
                    other => {
                        let other = text_of(other.as_ref());
                        return Err(format!("qualified(…) takes an attribute or a type, not {other}"));
                    }
                };
                self.expect(')')?;
                element
            }
            "custom" => self.custom()?,
            "oilist" => self.any_order()?,
            _ => return Err(format!("unknown directive '{word}'")),
        })
    }

    fn attr_dict(&mut self, keyword: bool) -> Result<Element, String> {
        if std::mem::replace(&mut self.bound.attr_dict, true) {
            return Err("'attr-dict' occurs twice".into());
        }
        Ok(Element::AttrDict { keyword })
    }

    fn parenthesised_values(&mut self) -> Result<Values, String> {
        self.expect('(')?;
        let values = self.values()?;
        self.expect(')')?;
        Ok(values)
    }

    /// `$operand`, `$result`, `operands`, `results`, or any of them inside `type(…)`.
    fn values(&mut self) -> Result<Values, String> {
        let token = self.peek().cloned();
        self.pos += 1;
        match token {
            Some(Token::Variable(name)) => match self.variable(&name)? {
                Variable::Operand(index) => Ok(Values::Operand(index)),
                Variable::Result(index) => Ok(Values::Result(index)),
                _ => Err(format!("'{name}' is no operand or result")),
            },
            Some(Token::Word(word)) => match word.as_str() {
                "operands" => Ok(Values::AllOperands),
                "results" => Ok(Values::AllResults),
                "type" => self.nested(Self::parenthesised_values),
                _ => Err(format!("expected operands or results instead of '{word}'")),
            },
            other => Err(format!("expected operands or results instead of {}", text_of(other.as_ref()))),
        }
    }

    fn custom(&mut self) -> Result<Element, String> {
        self.expect('<')?;
        let Some(Token::Word(name)) = self.peek().cloned() else {
            return Err("custom<…> takes a name".into());
        };
        self.pos += 1;
        self.expect('>')?;
        let directive = self.directives.iter().find(|d| d.name == name);
        let directive = *directive.ok_or_else(|| format!("the dialect has no directive '{name}'"))?;
        self.expect('(')?;
        let mut arguments = Vec::new();
        while !self.accept(')') {
            arguments.push(self.argument(false)?);
            self.accept(',');
        }
        Ok(Element::Custom { directive, arguments })
    }

    fn argument(&mut self, is_ref: bool) -> Result<Argument, String> {
        let token = self.peek().cloned();
        self.pos += 1;
        let element = match token {
            Some(Token::Variable(name)) if is_ref => {
                let (bound, index, element) = match self.variable(&name)? {
                    Variable::Operand(i) => (&self.bound.operands, i, ArgumentElement::Operand(i)),
                    Variable::Attr(i) => (&self.bound.attrs, i, ArgumentElement::Attr(i)),
                    Variable::Region(i) => (&self.bound.regions, i, ArgumentElement::Region(i)),
                    Variable::Successor(i) => (&self.bound.successors, i, ArgumentElement::Successor(i)),
                    Variable::Result(_) => {
                        return Err(format!("result '{name}' can only be an argument of type(…)"));
                    }
                };
                if !bound.contains(&index) {
                    return Err(format!("ref({name}) must stand behind '{name}'"));
                }
                element
            }
            Some(Token::Variable(name)) => match self.variable_element(&name, false)? {
                Element::Operand(index) => ArgumentElement::Operand(index),
                Element::Attr { index, .. } => ArgumentElement::Attr(index),
                Element::Region(index) => ArgumentElement::Region(index),
                Element::Successor(index) => ArgumentElement::Successor(index),
                _ => return Err(format!("'{name}' can't be an argument")),
            },
            Some(Token::Text(text)) => ArgumentElement::Text(text),
            Some(Token::Word(word)) => match word.as_str() {
                "type" => ArgumentElement::Types(self.parenthesised_values()?),
                "attr-dict" => {
                    self.attr_dict(false)?;
                    ArgumentElement::AttrDict
                }
                "ref" => {
                    self.expect('(')?;
                    let inner = self.nested(|parser| parser.argument(true))?;
                    self.expect(')')?;
                    return Ok(inner);
                }
                "qualified" => {
                    self.expect('(')?;
                    let inner = self.nested(|parser| parser.argument(is_ref))?;
                    self.expect(')')?;
                    return Ok(inner);
                }
                _ => return Err(format!("unknown argument '{word}'")),
            },
            other => return Err(format!("unexpected argument {}", text_of(other.as_ref()))),
        };
        Ok(Argument { element, is_ref })
    }

    /// `(…)?` or `(…) : (…)?`, behind the first parenthesis.
    fn optional_group(&mut self) -> Result<Element, String> {
        let (then, then_anchor) = self.elements_and_anchor(&[')'])?;
        self.expect(')')?;
        let (mut otherwise, mut other_anchor) = (Vec::new(), None);
        if self.accept(':') {
            self.expect('(')?;
            (otherwise, other_anchor) = self.elements_and_anchor(&[')'])?;
            self.expect(')')?;
        }
        self.expect('?')?;
        let (inverted, index) = match (then_anchor, other_anchor) {
            (Some(index), None) => (false, index),
            (None, Some(index)) => (true, index),
            _ => return Err("a group has one anchor".into()),
        };
        let side = if inverted { &otherwise } else { &then };
        let anchor = anchor_of(&side[index].element)?;
        if !self.may_be_absent(&anchor) {
            return Err("what is marked '^' is always there".into());
        }
        if let Some(first) =
            then.iter().find(|s| !matches!(s.element, Element::Space(_) | Element::LineBreak))
            && let Element::AttrDict { .. } | Element::PropDict | Element::FunctionalType(..) = first.element
        {
            return Err("a group can't begin with a dictionary or a functional type".into());
        }
        // A unit attribute is shown by the group's presence, unless it is what the group begins
        // with.
        let unit = match side[index].element {
            Element::Attr { index: attr, .. } if index > 0 && self.is_unit(attr) => Some(attr),
            _ => None,
        };
        Ok(Element::Optional(Box::new(Optional { then, otherwise, anchor, inverted, unit })))
    }

    /// True if an operation may lack what decides about a group.
    fn may_be_absent(&self, anchor: &Anchor) -> bool {
        let def = self.def;
        match anchor {
            Anchor::Values(Values::Operand(index)) => def.operands[*index].arity != Arity::One,
            Anchor::Values(Values::Result(index)) => def.results[*index].arity != Arity::One,
            Anchor::Values(Values::AllOperands | Values::AllResults) => true,
            Anchor::Attr(index) => !matches!(def.attrs[*index].presence, Presence::Required),
            Anchor::Region(index) => {
                let region = &def.regions[*index];
                region.variadic || matches!(region.kind, RegionKind::Any | RegionKind::AtMostOneBlock)
            }
            Anchor::Successor(index) => def.successors[*index].variadic,
            // The directive's own functions decide.
            Anchor::Any(_) => true,
        }
    }

    fn is_unit(&self, attr: usize) -> bool {
        matches!(self.def.attrs[attr].constraint, AttrConstraint::Unit)
    }

    fn any_order(&mut self) -> Result<Element, String> {
        self.expect('(')?;
        let mut clauses = Vec::new();
        loop {
            let Some(Token::Literal(keyword)) = self.peek().cloned() else {
                return Err("a clause begins with a keyword".into());
            };
            self.pos += 1;
            let elements = self.elements(&['|', ')'])?;
            let anchors: Vec<Anchor> = elements.iter().filter_map(|e| anchor_of(&e.element).ok()).collect();
            let keyword = Spaced { space: false, element: literal(keyword)? };
            clauses.push(Clause { keyword, elements, anchors });
            if !self.accept('|') {
                break;
            }
        }
        self.expect(')')?;
        Ok(Element::AnyOrder(clauses))
    }
}

fn bind(bound: &mut Vec<usize>, index: usize, name: &str) -> Result<(), String> {
    if bound.contains(&index) {
        return Err(format!("'{name}' occurs twice"));
    }
    bound.push(index);
    Ok(())
}

fn literal(text: String) -> Result<Element, String> {
    Ok(match text.as_str() {
        "" => Element::Space(false),
        " " => Element::Space(true),
        "\\n" | "\n" => Element::LineBreak,
        _ => match Kind::of_punctuation(&text) {
            Some(kind) => Element::Punctuation { text, kind },
            None if text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => Element::Keyword(text),
            None => return Err(format!("'{text}' is neither a keyword nor punctuation")),
        },
    })
}

fn anchor_of(element: &Element) -> Result<Anchor, String> {
    Ok(match element {
        Element::Operand(index) => Anchor::Values(Values::Operand(*index)),
        Element::Types { of, .. } => Anchor::Values(*of),
        Element::Attr { index, .. } => Anchor::Attr(*index),
        Element::Region(index) => Anchor::Region(*index),
        Element::Successor(index) => Anchor::Successor(*index),
        Element::AllOperands => Anchor::Values(Values::AllOperands),
        Element::Custom { arguments, .. } => {
            let own = arguments.iter().filter(|a| !a.is_ref);
            Anchor::Any(
                own.filter_map(|a| match a.element {
                    ArgumentElement::Operand(index) => Some(Anchor::Values(Values::Operand(index))),
                    ArgumentElement::Attr(index) => Some(Anchor::Attr(index)),
                    ArgumentElement::Types(values) => Some(Anchor::Values(values)),
                    ArgumentElement::Successor(index) => Some(Anchor::Successor(index)),
                    ArgumentElement::Region(index) => Some(Anchor::Region(index)),
                    ArgumentElement::AttrDict | ArgumentElement::Text(_) => None,
                })
                .collect(),
            )
        }
        _ => return Err("'^' marks an operand, attribute, region, successor, type or directive".into()),
    })
}

/// Where spaces go, as the elements are gone through in the order of the text, optional ones
/// included.
struct Spaces {
    emit: bool,
    after_punctuation: bool,
}

impl Spaces {
    fn decide(&mut self, elements: &mut [Spaced]) {
        for spaced in elements {
            match &mut spaced.element {
                Element::Punctuation { text, .. } | Element::Keyword(text) => {
                    spaced.space = self.literal(text)
                }
                Element::Space(written) => {
                    self.after_punctuation = !*written;
                    self.emit = false;
                }
                Element::LineBreak => {}
                Element::Optional(optional) => {
                    let unit = optional.unit;
                    let elided =
                        |s: &Spaced| matches!(s.element, Element::Attr { index, .. } if Some(index) == unit);
                    for side in [&mut optional.then, &mut optional.otherwise] {
                        for one in side.iter_mut().filter(|s| !elided(s)) {
                            self.decide(std::slice::from_mut(one));
                        }
                    }
                }
                Element::AnyOrder(clauses) => {
                    for clause in clauses {
                        self.decide(std::slice::from_mut(&mut clause.keyword));
                        self.decide(&mut clause.elements);
                    }
                }
                Element::AttrDict { .. } | Element::PropDict => self.after_punctuation = false,
                _ => {
                    spaced.space = self.emit || !self.after_punctuation;
                    self.after_punctuation = false;
                    self.emit = true;
                }
            }
        }
    }

    fn literal(&mut self, text: &str) -> bool {
        let first = text.as_bytes().first().copied().unwrap_or(b' ');
        let before = if text.len() != 1 && text != "->" {
            true
        } else if self.after_punctuation {
            !b">)}],".contains(&first)
        } else {
            !b"<>(){}[],".contains(&first)
        };
        let space = self.emit && before;
        self.emit = text.len() != 1 || !b"<({[".contains(&first);
        self.after_punctuation = first != b'_' && !first.is_ascii_alphabetic();
        space
    }
}
