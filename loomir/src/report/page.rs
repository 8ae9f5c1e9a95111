//! The page as a whole.

use serde_json::Value;

use super::card::{self, Outcome};
use super::html::Html;
use super::listing::Listing;
use super::{Function, Shown, grid, tree};

const STYLE: &str = include_str!("assets/report.css");
const SCRIPT: &str = include_str!("assets/report.js");

/// The digests by which the policy of a page lets in its style and its script.
const STYLE_DIGEST: &str = "+3xJ4Yv7AKNj9w7iZ7ZwB0hKIaJdZTu9svEOE0crdDU=";
const SCRIPT_DIGEST: &str = "r+luHKY8K2nsZNDxyw9v6Of1nKmLxJO9xHolofcOaE4=";

/// A page ends with a note instead of further functions from this size on, in bytes.
const MAX_SIZE: usize = 4 << 20;

/// Functions with remarks or loops are shown, at most so many.
const MAX_FUNCTIONS: usize = 400;

/// From this size on pictures, tables of dependences and trees between edits are left out.
const RICH_SIZE: usize = 640 << 10;

/// Returns the text of the page.
pub(super) fn text(shown: &Shown<'_>) -> String {
    let mut html = Html::default();
    head(&mut html, shown);
    html.markup("<body>\n<a class=\"skip\" href=\"#main\">Skip to the program</a>\n");
    html.markup("<svg class=\"defs\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"head\" d=\"M0 1L8 4L0 7Z\"/></marker><marker id=\"head-back\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"5\" markerHeight=\"5\" orient=\"auto\"><path class=\"head back\" d=\"M0 1L8 4L0 7Z\"/></marker></defs></svg>\n");
    banner(&mut html, shown);
    let functions: Vec<(usize, &Function)> =
        shown.functions.iter().enumerate().filter(|(_, own)| is_worth(own)).collect();
    let (first, rest) = functions.split_at(functions.len().min(MAX_FUNCTIONS));
    html.markup("<div class=\"columns\">\n");
    contents(&mut html, shown, first);
    html.markup("<main id=\"main\" tabindex=\"-1\">\n");
    if functions.is_empty() {
        html.markup(
            "<p class=\"empty\">No function has a loop, and there is nothing to say about the program.</p>\n",
        );
    }
    general(&mut html, shown);
    let mut left_out = rest.len();
    let mut listing = Listing::new(shown);
    for (at, function) in first {
        if html.len() > MAX_SIZE {
            left_out += 1;
            continue;
        }
        section(&mut html, shown, &mut listing, *at, function);
    }
    if html.len() >= RICH_SIZE {
        html.markup("<p class=\"cut\" role=\"note\">The program is large: pictures, dependences and the trees between edits of later functions are left out. A page on these functions alone has them.</p>\n");
    }
    if shown.left_out > 0 {
        html.markup("<p class=\"cut\" role=\"note\">The program is large: ");
        tree::count(&mut html, shown.left_out, "decision is", "decisions are");
        html.markup(" left out. With --remarks=json a command prints all of them.</p>\n");
    }
    if left_out > 0 {
        html.markup("<p class=\"cut\" role=\"note\">The program is large: ");
        tree::count(&mut html, left_out, "function is", "functions are");
        html.markup(" left out.</p>\n");
    }
    control_flow(&mut html, shown);
    html.markup("<section class=\"source\" id=\"source\" tabindex=\"-1\" aria-labelledby=\"source-title\"><h2 id=\"source-title\">Rest of the source</h2>\n").piece(&listing.rest()).markup("</section>\n");
    html.markup("</main>\n</div>\n");
    footer(&mut html);
    html.markup("<script type=\"application/json\" id=\"remarks\">")
        .data(&Value::Array(shown.remarks.clone()))
        .markup("</script>\n");
    html.markup("<script>").markup(SCRIPT).markup("</script>\n</body>\n</html>\n");
    html.into_string()
}

fn head(html: &mut Html, shown: &Shown<'_>) {
    html.markup("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.markup("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-");
    html.markup(STYLE_DIGEST).markup("'; script-src 'sha256-").markup(SCRIPT_DIGEST).markup("'\">\n");
    html.markup("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.within("<title>", file_name(shown), " · loops</title>\n<style>")
        .markup(STYLE)
        .markup("</style>\n</head>\n");
}

/// Returns the name of the source without its folder.
fn file_name<'s>(shown: &Shown<'s>) -> &'s str {
    shown.source.name.rsplit('/').next().unwrap_or(shown.source.name)
}

/// True if a function has something to show.
fn is_worth(function: &Function) -> bool {
    !function.remarks.is_empty() || function.before.loops() > 0
}

fn banner(html: &mut Html, shown: &Shown<'_>) {
    html.within("<header class=\"banner\"><p class=\"muted\">loomir ", shown.command, "</p>");
    html.within("<h1>", file_name(shown), "</h1><p class=\"lead\">");
    let named = |name: &str| shown.remarks.iter().filter(|own| own["name"] == name).count();
    let fused = named("Fused");
    let apart = shown
        .remarks
        .iter()
        .filter(|own| Outcome::of(own) == Outcome::Refused && own["args"]["first"].is_object());
    let apart = apart.count();
    let has_loops = shown.functions.iter().any(|own| own.before.loops() > 0);
    match (fused, apart) {
        (0, 0) if !has_loops => _ = html.markup("There are no loops."),
        (0, 0) => _ = html.markup("No loops stand beside each other that could have been fused."),
        (_, 0) => tree::count(html, fused, "pair of loops was fused.", "pairs of loops were fused."),
        (0, _) => {
            tree::count(html, apart, "pair of loops was kept apart.", "pairs of loops were kept apart.")
        }
        _ => {
            tree::count(html, fused, "pair of loops was fused, and ", "pairs of loops were fused, and ");
            html.shown(apart).markup(if apart == 1 { " was kept apart." } else { " were kept apart." });
        }
    }
    html.markup("</p><ul class=\"totals\">");
    for (outcome, one, many) in [
        (Outcome::Done, "change", "changes"),
        (Outcome::Refused, "refusal", "refusals"),
        (Outcome::Tested, "test or assumption", "tests or assumptions"),
        (Outcome::Noted, "note", "notes"),
    ] {
        let number = shown.remarks.iter().filter(|remark| Outcome::of(remark) == outcome).count();
        if number > 0 {
            html.markup("<li>").piece(&outcome.mark());
            tree::count(html, number, one, many);
            html.markup("</li>");
        }
    }
    html.markup("<li class=\"muted\">");
    tree::count(html, shown.functions.len(), "function", "functions");
    html.markup(", ");
    tree::count(html, shown.ops, "operation", "operations");
    html.markup("</li></ul>");
    if shown.command == "cc" {
        html.markup("<p class=\"options\">Options that decisions name are those of 'loomir fuse', which reads LLVM IR. 'loomir cc' has none of them.</p>");
    }
    html.markup("</header>\n");
}

/// Adds the list of decisions.
fn contents(html: &mut Html, shown: &Shown<'_>, functions: &[(usize, &Function)]) {
    html.markup("<nav class=\"contents\" aria-label=\"Decisions\"><label class=\"search\"><span class=\"visually-hidden\">Search decisions</span><input type=\"search\" id=\"search\" placeholder=\"Search ( / )\" autocomplete=\"off\"></label>\n<p class=\"visually-hidden\" id=\"found\" role=\"status\"></p>\n");
    for (at, function) in functions {
        html.markup("<section><h2><a href=\"#f")
            .shown(at)
            .markup("\">@")
            .text(&function.before.name)
            .markup("</a></h2><ol>");
        for remark in &function.remarks {
            let own = &shown.remarks[*remark];
            html.markup("<li><a class=\"decision\" href=\"#r")
                .shown(remark)
                .markup("\">")
                .piece(&Outcome::of(own).mark());
            html.within("<span>", card::headline(own), "</span>");
            let places = [shown.source.place_in(&own["args"]["first"]), shown.source.place_in(own)];
            html.markup("<span class=\"where\">");
            for (at, place) in places.into_iter().flatten().enumerate() {
                html.markup(if at > 0 { ", " } else { "" }).shown(place.line);
            }
            html.markup("</span></a></li>");
        }
        html.markup("</ol></section>\n");
    }
    html.markup("<section><h2>Program</h2><ol><li><a href=\"#source\">Rest of the source</a></li>");
    if shown.control_flow.is_some() {
        html.markup("<li><a href=\"#control-flow\">Control flow</a></li>");
    }
    html.markup("</ol></section><p class=\"keys muted\"><kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>/</kbd> search</p></nav>\n");
}

/// Adds the remarks that are about no function.
fn general(html: &mut Html, shown: &Shown<'_>) {
    let of_functions: hashbrown::HashSet<usize> =
        shown.functions.iter().flat_map(|own| own.remarks.iter().copied()).collect();
    let others: Vec<usize> = (0..shown.remarks.len()).filter(|at| !of_functions.contains(at)).collect();
    if others.is_empty() {
        return;
    }
    let nothing = Function::default();
    html.markup("<section class=\"function\" aria-labelledby=\"general\"><h2 id=\"general\">About the program</h2><div class=\"cards\">");
    for at in others {
        html.piece(&card::card(&shown.source, &nothing, (at, &shown.remarks[at]), None, true));
    }
    html.markup("</div></section>\n");
}

fn section(html: &mut Html, shown: &Shown<'_>, listing: &mut Listing<'_>, at: usize, function: &Function) {
    html.markup("<section class=\"function\" id=\"f")
        .shown(at)
        .markup("\" tabindex=\"-1\" aria-labelledby=\"n")
        .shown(at);
    html.markup("\"><h2 id=\"n").shown(at).markup("\">@").text(&function.before.name).markup("</h2>\n");
    let names = &function.names;
    if !names.is_empty() {
        html.markup("<p class=\"arguments muted\">In remarks ");
        for (at, name) in names.iter().enumerate() {
            html.markup(if at > 0 { ", " } else { "" })
                .markup("#")
                .shown(at)
                .markup(" is <code>")
                .text(name)
                .markup("</code>");
        }
        html.markup(".</p>");
    }
    let is_rich = html.len() < RICH_SIZE;
    html.markup("<h3>Loops</h3>").piece(&tree::trees(function, is_rich));
    html.markup("<div class=\"beside\"><div class=\"listing\"><h3>Source</h3>");
    if let Some(lines) = listing.function(&function.before) {
        html.piece(&lines);
    }
    html.markup("</div><div class=\"decisions\"><h3>Decisions</h3><div class=\"cards\">");
    if function.remarks.is_empty() {
        html.markup("<p class=\"muted\">Nothing was tried: no two loops stand beside each other.</p>");
    }
    for (own, remark) in function.remarks.iter().enumerate() {
        let picture = function.pictures.get(own).and_then(Option::as_ref).filter(|_| html.len() < RICH_SIZE);
        let picture = picture.map(|pair| grid::pair(function, pair, *remark, &shown.remarks[*remark]));
        html.piece(&card::card(
            &shown.source,
            function,
            (*remark, &shown.remarks[*remark]),
            picture,
            is_rich,
        ));
    }
    html.markup("</div></div></div>\n");
    if html.len() < RICH_SIZE {
        dependences(html, at, function, shown.functions.len() <= FEW);
    }
    html.markup("</section>\n");
}

/// Adds the dependences of a function, open on small pages.
fn dependences(html: &mut Html, at: usize, function: &Function, is_open: bool) {
    if function.dependences.is_empty() && function.nests.is_empty() {
        return;
    }
    html.markup(if is_open {
        "<details open class=\"dependences\">"
    } else {
        "<details class=\"dependences\">"
    });
    html.markup("<summary><h3>Dependences</h3> <span class=\"muted\">");
    tree::count(html, function.dependences.len(), "order to be kept", "orders to be kept");
    html.markup("</span></summary><div class=\"grids\">");
    for (own, nest) in function.nests.iter().enumerate() {
        html.piece(&grid::nest(function, nest, NEST_TITLES + at * 100 + own));
    }
    html.markup("</div>").piece(&function.dependences.table(&function.names)).markup("</details>\n");
}

/// The dependences of so many functions are open.
const FEW: usize = 10;

/// The number of the first title of a nest, behind those of remarks.
const NEST_TITLES: usize = 10_000_000;

fn control_flow(html: &mut Html, shown: &Shown<'_>) {
    if let Some(drawing) = &shown.control_flow {
        html.markup("<section class=\"control-flow\" id=\"control-flow\" tabindex=\"-1\" aria-labelledby=\"flow-title\"><h2 id=\"flow-title\">Control flow</h2><p class=\"muted\">The blocks of each function, in the boxes of their loops. Roles of blocks are those of LLVM.</p><div class=\"scroll drawing\">");
        html.drawing(drawing).markup("</div></section>\n");
    }
}

fn footer(html: &mut Html) {
    html.markup("<footer class=\"muted\"><p>Written by Loomir ").markup(env!("CARGO_PKG_VERSION"));
    html.markup(". Nothing is loaded from a network, and nothing is sent.</p></footer>\n");
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        for (text, digest) in [(STYLE, STYLE_DIGEST), (SCRIPT, SCRIPT_DIGEST)] {
            assert_eq!(BASE64_STANDARD.encode(Sha256::digest(text)), digest, "the digest is the left one");
        }
    }
}
