//! `loomir doc`: a reference of the operations, types and attributes of dialects, of the passes, of
//! one loop transformation or of the remarks, as Markdown. The pages of the book's reference are
//! what it prints.

use std::fmt::Write;

use clap::{Arg, ArgMatches, Command};
use loomir_ir::pass::PassInfo;
use loomir_transforms::catalogue::{self as transformations, Entry};
use loomir_transforms::transform;

use crate::dialects::irdl::extensions::trait_names;
use crate::ir::diagnostics::suggest::did_you_mean;
use crate::ir::opdef::{Arity, DialectDef, EnumDef, OpDef, OperandDef, Presence};

use super::flags::{flag, is_on};
use super::{Failure, Tools};

mod catalogue;
mod remarks;

/// The widest line, except for names that are longer.
const COLUMNS: usize = 100;

/// The option that asks for the passes.
const PASSES: &str = "passes";

/// The option that asks for the catalogue of loop transformations.
const CATALOGUE: &str = "catalogue";

/// The option that asks for the remarks.
const REMARKS: &str = "remarks";

pub(super) fn command() -> Command {
    Command::new("doc")
        .about("Prints the page of a dialect or of a loop transformation, the passes or the remarks")
        .arg(
            Arg::new("name")
                .value_name("NAME")
                .conflicts_with_all([PASSES, CATALOGUE, REMARKS])
                .help("A dialect, or a loop transformation; all loaded dialects if absent, or else a list"),
        )
        .arg(flag(PASSES, "Print the passes with their options"))
        .arg(flag(CATALOGUE, "List the loop transformations that have pages"))
        .arg(flag(REMARKS, "Print the remarks with their meaning"))
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    if is_on(matches, PASSES) {
        return tools.console.print(&passes(tools.passes.infos()));
    }
    if is_on(matches, REMARKS) {
        return tools.console.print(&remarks::page());
    }
    if is_on(matches, CATALOGUE) {
        let line = |own: Entry| format!("{:24}{}\n", own.name, own.summary);
        return tools.console.print(&transformations::all().into_iter().map(line).collect::<String>());
    }
    let ctx = &tools.ctx;
    let loaded = tools.files.as_ref().map(|files| files.names()).unwrap_or_default();
    let compiled: Vec<&str> = ctx.dialects().iter().map(|own| &*own.name).collect();
    let asked = matches.get_one::<String>("name").map(String::as_str);
    if let Some(own) = transformations::all().iter().find(|own| asked == Some(own.name)) {
        return tools.console.print(&catalogue::page(own));
    }
    let names: Vec<&str> = match asked {
        Some(name) if loaded.contains(&name) || compiled.contains(&name) => vec![name],
        Some(name) => {
            let passes = transformations::all().into_iter().map(|own| own.name);
            let help = did_you_mean(name, loaded.iter().chain(&compiled).copied().chain(passes));
            let lists = "'loomir doc' lists the dialects, and 'loomir doc --catalogue' the transformations";
            let help = help.unwrap_or_else(|| lists.to_owned());
            return Err(Failure::input(format!(
                "there is no dialect or transformation '{name}'\nhelp: {help}"
            )));
        }
        None if !loaded.is_empty() => loaded,
        None => {
            let mut list = compiled;
            list.sort_unstable();
            list.dedup();
            return tools.console.print(&(list.join("\n") + "\n"));
        }
    };
    let mut text = String::new();
    for name in names {
        let mut ops: Vec<&OpDef> = ctx.registered_ops().filter(|def| dialect_of(def) == name).collect();
        ops.sort_by(|a, b| a.name.cmp(&b.name));
        let _ = writeln!(text, "# `{name}`\n");
        for own in ctx.dialects().iter().filter(|own| own.name == name) {
            dialect(&mut text, own);
        }
        ops.into_iter().for_each(|def| operation(&mut text, def));
    }
    tools.console.print(&text)
}

/// Adds the documentation of a compiled dialect, with its types and attributes.
fn dialect(text: &mut String, def: &DialectDef) {
    prose(text, &def.doc);
    let mut types: Vec<&str> = def.types.iter().map(|own| own.name).collect();
    let mut attributes: Vec<&str> = def.attrs.iter().map(|own| own.name).collect();
    types.sort_unstable();
    attributes.sort_unstable();
    let mut enums: Vec<&EnumDef> = def.enums.to_vec();
    enums.sort_by_key(|own| own.name);
    types.iter().for_each(|name| wrap(text, &format!("- type `!{name}`")));
    attributes.iter().for_each(|name| wrap(text, &format!("- attribute `#{name}`")));
    for own in &enums {
        let cases: Vec<String> = own.cases.iter().map(|(name, _)| format!("`{name}`")).collect();
        let kind = if own.flags { "any of" } else { "one of" };
        wrap(text, &format!("- attribute `#{}`: {kind} {}", own.name, cases.join(", ")));
    }
    if types.len() + attributes.len() + enums.len() > 0 {
        text.push('\n');
    }
}

/// Returns a line of a doc comment without links to items of Rust: their names stay.
fn without_items(line: &str) -> String {
    let (mut text, mut rest) = (String::new(), line);
    while let Some((before, name, behind)) = item(rest) {
        text += &format!("{before}`{name}`");
        let path = behind.strip_prefix('(').and_then(|own| own.split_once(')'));
        rest = path.filter(|(path, _)| path.contains("::")).map_or(behind, |(_, behind)| behind);
    }
    text + rest
}

/// Returns the text before the first name of code in brackets, the name, and the text behind.
fn item(line: &str) -> Option<(&str, &str, &str)> {
    let (before, inside) = line.split_once("[`")?;
    let (name, behind) = inside.split_once("`]")?;
    Some((before, name, behind))
}

/// Returns the reference of passes, sorted by name.
fn passes(infos: &[PassInfo]) -> String {
    let mut text = "# Passes\n\n".to_owned();
    let mut infos: Vec<&PassInfo> = infos.iter().collect();
    infos.sort_by_key(|own| (own.name, own.anchor));
    for info in infos {
        let anchor = info.anchor.map_or("any operation".to_owned(), |anchor| format!("`{anchor}`"));
        let _ = writeln!(text, "## `{}`\n", info.name);
        wrap(&mut text, &format!("{}. On {anchor}.", info.summary.trim_end_matches('.')));
        text.push('\n');
        options(&mut text, info);
        let own = transform::ALL.iter().map(|(_, own)| own).find(|own| own.name == info.name);
        if let Some(own) = own {
            wrap(
                &mut text,
                &format!("- remarks `{}`, and `{}`: {}", own.passed, own.missed, own.what_missed),
            );
        }
        if !info.options.is_empty() || own.is_some() {
            text.push('\n');
        }
    }
    text
}

/// Adds the options of a pass as entries of a list.
fn options(text: &mut String, info: &PassInfo) {
    for (name, default, help) in info.options {
        let default = if default.is_empty() { String::new() } else { format!(", `{default}` by default") };
        wrap(text, &format!("- option `{name}`{default}: {help}"));
    }
}

/// Adds the text of a doc comment, whose lines begin with a space.
fn prose(text: &mut String, doc: &str) {
    for line in doc.trim().lines() {
        let _ = writeln!(text, "{}", without_items(line.strip_prefix(' ').unwrap_or(line)));
    }
    if !doc.trim().is_empty() {
        text.push('\n');
    }
}

/// Adds an entry, in lines of at most so many columns.
fn wrap(text: &mut String, entry: &str) {
    let mut column = 0;
    let indent = if entry.starts_with("- ") { "  " } else { "" };
    for (number, word) in entry.split(' ').enumerate() {
        let width = word.chars().count();
        if number > 0 && column + 1 + width > COLUMNS {
            let _ = write!(text, "\n{indent}{word}");
            column = indent.len() + width;
        } else {
            let _ = write!(text, "{}{word}", if number > 0 { " " } else { "" });
            column += width + usize::from(number > 0);
        }
    }
    text.push('\n');
}

fn dialect_of(def: &OpDef) -> &str {
    def.name.split_once('.').map_or("", |(dialect, _)| dialect)
}

/// Adds the section of an operation.
fn operation(text: &mut String, def: &OpDef) {
    let _ = writeln!(text, "## `{}`\n", def.name);
    prose(text, &def.doc);
    values(text, "operand", &def.operands);
    values(text, "result", &def.results);
    for attr in def.attrs.iter() {
        let presence = match &attr.presence {
            Presence::Required => String::new(),
            Presence::Optional => ", optional".to_owned(),
            Presence::Default(value) | Presence::Implied(value) => format!(", `{value}` if absent"),
        };
        wrap(text, &format!("- attribute `{}`: {}{presence}", attr.name, attr.constraint.describe()));
    }
    for region in def.regions.iter() {
        let _ = writeln!(text, "- region `{}`", region.name);
    }
    let traits = trait_names(def);
    if !traits.is_empty() {
        wrap(text, &format!("- traits: {}", traits.join(", ")));
    }
    if let Some(format) = &def.format {
        let format = format.split_whitespace().collect::<Vec<_>>().join(" ");
        // The quotes of code are longer than those in it.
        let quotes = if format.contains("``") { "```" } else { "``" };
        wrap(text, &format!("- format: {quotes} {} {format} {quotes}", def.name));
    }
    text.push('\n');
}

fn values(text: &mut String, what: &str, list: &[OperandDef]) {
    for value in list {
        let arity = match value.arity {
            Arity::One => "",
            Arity::Optional => ", optional",
            Arity::Variadic => ", any number",
        };
        wrap(text, &format!("- {what} `{}`: {}{arity}", value.name, value.ty.describe()));
    }
}
