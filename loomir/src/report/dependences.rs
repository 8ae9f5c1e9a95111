//! The dependences of a function, as rows of a table.

use loomir_transforms::access::base::Bases;
use loomir_transforms::legality::QUESTION;
use loomir_transforms::listing::{Dependences, Options, Words};

use super::card;
use super::html::Html;
use super::picture::Programs;
use super::source::{Place, Source};

/// The most statements of a block whose dependences are listed.
const MAX_STATEMENTS: usize = 400;

/// The most dependences of a function that are listed.
const MAX_ROWS: usize = 200;

/// The dependences through memory of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Listed {
    rows: Vec<Row>,
    /// The number of those left out.
    left_out: usize,
    /// True if a block is too large.
    is_cut: bool,
}

#[derive(Clone, Debug)]
struct Row {
    words: Words,
    ends: [End; 2],
    is_certain: bool,
    may_be_reordered: bool,
}

#[derive(Clone, Debug)]
struct End {
    place: Option<Place>,
    name: String,
}

impl Listed {
    /// Lists the dependences of a function through memory.
    pub(super) fn of(programs: &Programs<'_>, source: &Source<'_>) -> Listed {
        let mut listed = Listed::default();
        let body = programs.body;
        let bases = Bases::new(body, programs.alias);
        for (program, trees) in &programs.all {
            if program.statements().count() > MAX_STATEMENTS {
                listed.is_cut = true;
                continue;
            }
            let options =
                Options { bases: &bases, dependence: &*programs.analyses.dependence, limits: &QUESTION };
            for one in Dependences::of(body, program, trees, &options).iter() {
                if !matches!(one.through, loomir_transforms::listing::Through::Memory(_)) {
                    continue;
                }
                if listed.rows.len() >= MAX_ROWS {
                    listed.left_out += 1;
                    continue;
                }
                let end = |op| End {
                    place: source.place(body.ctx(), body.loc(op)),
                    name: body.op_ref(op).name().to_owned(),
                };
                listed.rows.push(Row {
                    words: Words::of(body, one),
                    ends: [end(one.source.op), end(one.sink.op)],
                    is_certain: one.is_certain,
                    may_be_reordered: one.reduction.is_some(),
                });
            }
        }
        listed
    }

    /// True if there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.is_cut
    }

    /// The number of listed dependences.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the table, with the names of the arguments.
    pub(super) fn table(&self, names: &[String]) -> Html {
        let mut html = Html::default();
        html.markup("<div class=\"scroll\"><table><thead><tr><th scope=\"col\">kind</th><th scope=\"col\">first</th><th scope=\"col\">then</th><th scope=\"col\">through</th><th scope=\"col\">distance</th><th scope=\"col\">for example</th></tr></thead><tbody>");
        for row in &self.rows {
            html.markup("<tr><td><span class=\"kind\">").text(&row.words.kinds).markup("</span>");
            if !row.is_certain {
                html.markup(" <span class=\"muted\">perhaps</span>");
            }
            html.markup("</td>");
            for end in &row.ends {
                html.markup("<td>").within("<code>", &end.name, "</code>");
                if let Some(place) = end.place {
                    html.markup(" ").piece(&card::line_link(place));
                }
                html.markup("</td>");
            }
            html.within("<td>", &card::named(&row.words.through, names), "</td>");
            html.within("<td class=\"number\">", &row.words.directions, "</td>");
            html.within("<td>", &row.words.example, "");
            if row.may_be_reordered {
                html.markup(" <span class=\"muted\">updates in any order</span>");
            }
            html.markup("</td></tr>");
        }
        html.markup("</tbody></table></div>");
        if self.left_out > 0 {
            html.markup("<p class=\"muted\">").shown(self.left_out).markup(" more are left out.</p>");
        }
        if self.is_cut {
            html.markup("<p class=\"muted\">A block is too large for its dependences to be listed.</p>");
        }
        html
    }
}
