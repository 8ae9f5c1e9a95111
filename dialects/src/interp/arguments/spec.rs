//! An argument as text.

use loomir_ir::{Context, Type};

use crate::interp::fault::Fault;

/// The specification of an argument, parsed from text.
#[derive(Clone, PartialEq, Debug)]
pub struct ArgSpec {
    /// The source of the elements.
    pub contents: Source,
    /// The type, where it is given.
    pub ty: Option<Type>,
}

/// A source of elements.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// All zero.
    Zeros,
    /// Consecutive numbers, beginning with this one.
    Iota(u32),
    /// Pseudo-random numbers of this seed.
    Random(u64),
    /// A number, kept as text until its type is known.
    Number(String),
    /// Nested lists.
    List(Vec<Source>),
    /// The buffer of another argument, starting this many elements further.
    Shared(usize, i64),
}

/// The deepest nesting of a literal.
const MAX_DEPTH: usize = 32;

impl ArgSpec {
    /// Reads an argument.
    pub fn parse(ctx: &Context, text: &str) -> Result<ArgSpec, Box<Fault>> {
        let mut rest = text.trim();
        let contents = parse_source(&mut rest, 0)?;
        rest = rest.trim_start();
        let ty = match rest.strip_prefix(':') {
            Some(ty) => Some(parse_type(ctx, ty)?),
            None if rest.is_empty() => None,
            None => return Err(Fault::arguments(format!("unexpected `{rest}` in argument `{text}`"))),
        };
        Ok(ArgSpec { contents, ty })
    }
}

fn parse_type(ctx: &Context, text: &str) -> Result<Type, Box<Fault>> {
    loomir_ir::text::parse_type(ctx, text.trim()).map_err(|diagnostic| {
        Fault::arguments(format!("`{}` is no type: {}", text.trim(), diagnostic.message))
    })
}

/// Recursion is bounded by `MAX_DEPTH`.
fn parse_source(rest: &mut &str, depth: usize) -> Result<Source, Box<Fault>> {
    *rest = rest.trim_start();
    if let Some(tail) = rest.strip_prefix('[') {
        if depth >= MAX_DEPTH {
            return Err(Fault::arguments("an argument's lists nest too deep"));
        }
        *rest = tail.trim_start();
        let mut parts = Vec::new();
        while !rest.starts_with(']') {
            parts.push(parse_source(rest, depth + 1)?);
            *rest = rest.trim_start();
            match rest.strip_prefix(',') {
                Some(tail) => *rest = tail.trim_start(),
                None if rest.starts_with(']') => {}
                None => return Err(Fault::arguments("expected `,` or `]` in a list of an argument")),
            }
        }
        *rest = &rest[1..];
        return Ok(Source::List(parts));
    }
    let end = rest.find([',', ']', ':', ' ', '\t']).unwrap_or(rest.len());
    let (word, tail) = rest.split_at(end);
    *rest = tail;
    Ok(match word {
        "" => return Err(Fault::arguments("an argument is missing")),
        "zeros" => Source::Zeros,
        "iota" => Source::Iota(0),
        "random" => {
            let tail = rest.strip_prefix(':').unwrap_or("");
            let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
            let seed =
                tail[..end].parse().map_err(|_| Fault::arguments("`random:` needs a seed, a number"))?;
            *rest = &tail[end..];
            Source::Random(seed)
        }
        _ if word.starts_with("iota+") => {
            let first = word["iota+".len()..].parse();
            Source::Iota(first.map_err(|_| Fault::arguments("`iota+` needs the first number"))?)
        }
        _ => match word.strip_prefix('@') {
            Some(place) => {
                let (index, shift) = place.split_once('+').unwrap_or((place, "0"));
                let number = |text: &str| text.parse::<u32>().ok();
                let (Some(index), Some(shift)) = (number(index), number(shift)) else {
                    return Err(Fault::arguments(format!("`{word}` is not `@K` or `@K+N`")));
                };
                Source::Shared(index as usize, shift.into())
            }
            None => Source::Number(word.to_owned()),
        },
    })
}
