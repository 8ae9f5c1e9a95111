//! The source as numbered lines, with the remarks at their lines.
//!
//! Each function has its own lines; all others follow in an order of their own.

use std::ops::RangeInclusive;

use hashbrown::HashMap;

use super::card::{self, Outcome};
use super::html::Html;
use super::outline::Outline;
use super::source::{Place, Source};
use super::{Shown, tree};

/// The most lines between the last operation of a function and its end.
const FARTHEST_END: usize = 64;

/// The lines of the source, and what stands at each.
pub(super) struct Listing<'s> {
    shown: &'s Shown<'s>,
    /// The remarks at each line.
    remarks: HashMap<usize, Vec<usize>>,
    /// The loops that begin at each line.
    loops: HashMap<usize, Vec<usize>>,
    /// The first line that no function before has.
    next: usize,
    /// The lines that no function has.
    others: Vec<RangeInclusive<usize>>,
}

impl<'s> Listing<'s> {
    /// Finds the remarks and loops of each line. Linear.
    pub(super) fn new(shown: &'s Shown<'s>) -> Listing<'s> {
        let mut remarks: HashMap<usize, Vec<usize>> = HashMap::new();
        for (at, remark) in shown.remarks.iter().enumerate() {
            if let Some(place) = shown.source.place_in(remark) {
                remarks.entry(place.line as usize).or_default().push(at);
            }
        }
        let mut loops: HashMap<usize, Vec<usize>> = HashMap::new();
        for function in &shown.functions {
            for (at, node) in function.before.nodes.iter().filter(|node| node.is_loop()).enumerate() {
                if let Some(place) = node.place {
                    loops.entry(place.line as usize).or_default().push(at + 1);
                }
            }
        }
        Listing { shown, remarks, loops, next: 1, others: Vec::new() }
    }

    /// Returns the lines of the next function, with comments before it. `None` if it has none.
    pub(super) fn function(&mut self, outline: &Outline) -> Option<Html> {
        let start = outline.place?.line as usize;
        let line = |number: usize| self.shown.source.line(number).0.trim();
        let is_comment = |number: &usize| line(*number).starts_with("//") || line(*number).starts_with(';');
        let comments = (self.next..start).rev().take_while(is_comment).count();
        let first = start - comments.min(start);
        // The function ends with a brace below its first word.
        let (text, _) = self.shown.source.line(start);
        let end = format!("{}}}", &text[..text.len() - text.trim_start().len()]);
        let mut last = (outline.last_line as usize).max(start);
        let behind = last + 1..=last + FARTHEST_END;
        let is_one_line = last == start && text.trim_end().ends_with('}');
        if !is_one_line && let Some(found) = behind.clone().find(|at| self.shown.source.line(*at).0 == end) {
            last = found;
        }
        if first < self.next || last > self.shown.source.lines.len() {
            return None;
        }
        if self.next < first {
            self.others.push(self.next..=first - 1);
        }
        self.next = last + 1;
        Some(self.lines(first..=last))
    }

    /// Returns the lines that no function had.
    pub(super) fn rest(mut self) -> Html {
        let end = self.shown.source.lines.len();
        if self.next <= end {
            self.others.push(self.next..=end);
        }
        let others = std::mem::take(&mut self.others);
        let is_blank = |lines: &RangeInclusive<usize>| {
            lines.clone().all(|number| self.shown.source.line(number).0.trim().is_empty())
        };
        let mut html = Html::default();
        for lines in others.into_iter().filter(|lines| !is_blank(lines)) {
            html.piece(&self.lines(lines));
        }
        let left_out = self.shown.source.left_out;
        if left_out > 0 {
            html.markup("<p class=\"cut\" role=\"note\">The program is large: its last ");
            tree::count(&mut html, left_out, "line is", "lines are");
            html.markup(" left out.</p>");
        }
        html
    }

    fn lines(&self, lines: RangeInclusive<usize>) -> Html {
        let mut html = Html::default();
        html.markup("<div class=\"code\" tabindex=\"0\" role=\"group\" aria-label=\"Source\">");
        // A browser lays out the lists that it shows.
        let mut start = *lines.start();
        while start <= *lines.end() {
            let end = (start + CHUNK - 1).min(*lines.end());
            html.markup("<ol start=\"").shown(start).markup("\">\n");
            (start..=end).for_each(|number| self.line(&mut html, number));
            html.markup("</ol>");
            start = end + 1;
        }
        html.markup("</div>");
        html
    }

    fn line(&self, html: &mut Html, number: usize) {
        let (line, has_more) = self.shown.source.line(number);
        html.markup("<li id=\"s").shown(number).markup("\">").text(line);
        html.markup(if has_more { "…" } else { "" });
        for of in self.loops.get(&number).into_iter().flatten() {
            html.markup(" ").piece(&card::chip(*of));
            let place = Place { line: number as u32, column: 1 };
            if let Some(origin) = self.shown.source.origin(place) {
                html.within("<span class=\"origin\">", &origin, "</span>");
            }
        }
        for at in self.remarks.get(&number).into_iter().flatten() {
            let remark = &self.shown.remarks[*at];
            let outcome = Outcome::of(remark);
            html.markup("<a class=\"said ")
                .markup(outcome.class())
                .markup("\" href=\"#r")
                .shown(at)
                .markup("\">");
            html.piece(&outcome.mark()).text(card::message(remark)).markup("</a>");
        }
        html.markup("</li>\n");
    }
}

/// The number of lines of a list.
const CHUNK: usize = 200;

/// Returns the names that the source gives to the arguments of a function, if it has that many.
pub(super) fn argument_names(source: &Source<'_>, outline: &Outline) -> Vec<String> {
    let Some(place) = outline.place else { return Vec::new() };
    let told = source.arguments(place, outline.arguments);
    if !told.is_empty() {
        return told;
    }
    let Some(line) = source.lines.get(place.line as usize - 1) else { return Vec::new() };
    let name = format!("@{}(", outline.name);
    let Some((_, arguments)) = line.split_once(&name) else { return Vec::new() };
    let (mut depth, mut names, mut last) = (0, Vec::new(), None);
    for (at, c) in arguments.char_indices() {
        match c {
            '(' | '[' | '<' | '{' => depth += 1,
            ')' if depth == 0 => {
                names.extend(last.take());
                return if names.len() == outline.arguments { names } else { Vec::new() };
            }
            ')' | ']' | '}' => depth -= 1,
            '>' if !arguments[..at].ends_with('-') => depth -= 1,
            ',' if depth == 0 => names.extend(last.take()),
            '%' if depth == 0 => {
                let is_part = |c: &char| c.is_alphanumeric() || "_.$-".contains(*c);
                let word: String = arguments[at + 1..].chars().take_while(is_part).collect();
                last = Some(format!("%{word}"));
            }
            _ => {}
        }
    }
    Vec::new()
}
