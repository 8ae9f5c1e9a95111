//! `loomir doc`: a reference of the operations of dialects, as Markdown.

use std::fmt::Write;

use clap::{Arg, ArgMatches, Command};

use crate::dialects::irdl::extensions::trait_names;
use crate::ir::diagnostics::suggest::did_you_mean;
use crate::ir::opdef::{Arity, OpDef, OperandDef, Presence};

use super::{Failure, Tools};

pub(super) fn command() -> Command {
    Command::new("doc")
        .about("Prints the operations of a dialect: operands, results, attributes, traits")
        .arg(
            Arg::new("dialect")
                .value_name("DIALECT")
                .help("The dialect; all loaded ones if absent, or else a list"),
        )
}

pub(super) fn main(tools: &Tools, matches: &ArgMatches) -> Result<(), Failure> {
    let ctx = &tools.ctx;
    let loaded = tools.files.as_ref().map(|files| files.names()).unwrap_or_default();
    let compiled: Vec<&str> = ctx.dialects().iter().map(|own| &*own.name).collect();
    let asked = matches.get_one::<String>("dialect").map(String::as_str);
    let names: Vec<&str> = match asked {
        Some(name) if loaded.contains(&name) || compiled.contains(&name) => vec![name],
        Some(name) => {
            let help = did_you_mean(name, loaded.iter().chain(&compiled).copied());
            let help = help.unwrap_or_else(|| "'loomir doc' lists the dialects".to_owned());
            return Err(Failure::input(format!("there is no dialect '{name}'\nhelp: {help}")));
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
        let summaries = ctx.dialects().iter().filter(|own| own.name == name).map(|own| own.doc.trim());
        let summary: Vec<&str> = summaries.collect();
        let _ = writeln!(text, "# `{name}`\n");
        if !summary.is_empty() {
            let _ = writeln!(text, "{}\n", summary.join("\n"));
        }
        ops.into_iter().for_each(|def| operation(&mut text, def));
    }
    tools.console.print(&text)
}

fn dialect_of(def: &OpDef) -> &str {
    def.name.split_once('.').map_or("", |(dialect, _)| dialect)
}

/// Adds the section of an operation.
fn operation(text: &mut String, def: &OpDef) {
    let _ = writeln!(text, "## `{}`\n", def.name);
    let doc = def.doc.trim();
    if !doc.is_empty() {
        let _ = writeln!(text, "{doc}\n");
    }
    values(text, "operand", &def.operands);
    values(text, "result", &def.results);
    for attr in def.attrs.iter() {
        let presence = match &attr.presence {
            Presence::Required => String::new(),
            Presence::Optional => ", optional".to_owned(),
            Presence::Default(value) | Presence::Implied(value) => format!(", `{value}` if absent"),
        };
        let _ = writeln!(text, "- attribute `{}`: {}{presence}", attr.name, attr.constraint.describe());
    }
    for region in def.regions.iter() {
        let _ = writeln!(text, "- region `{}`", region.name);
    }
    let traits = trait_names(def);
    if !traits.is_empty() {
        let _ = writeln!(text, "- traits: {}", traits.join(", "));
    }
    if let Some(format) = &def.format {
        let _ = writeln!(text, "- format: `` {} {format} ``", def.name);
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
        let _ = writeln!(text, "- {what} `{}`: {}{arity}", value.name, value.ty.describe());
    }
}
