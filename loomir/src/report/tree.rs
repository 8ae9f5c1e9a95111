//! The loop trees of a function: before, after each edit, and after all.

use hashbrown::HashMap;

use super::html::Html;
use super::outline::{Kind, Node, Outline};
use super::{Function, card};

/// Returns the trees beside each other.
pub(super) fn trees(function: &Function, is_rich: bool) -> Html {
    let mut html = Html::default();
    let loops = LoopsOf::new(function);
    html.markup("<div class=\"trees\">");
    panel(&mut html, &loops, "Before", &function.before, true);
    if is_rich && function.steps.len() > 1 {
        html.markup("<details class=\"steps\"><summary>The ").shown(function.steps.len());
        html.markup(" edits, one after the other</summary><ol>");
        for (edit, pass, outline) in &function.steps {
            html.markup("<li><h5>Edit ")
                .shown(edit)
                .markup(" <span class=\"muted\">by ")
                .text(pass)
                .markup("</span></h5>");
            list(&mut html, &loops, outline, false);
            html.markup("</li>");
        }
        html.markup("</ol></details>");
    }
    if function.is_unchanged() {
        html.markup("<section class=\"panel\"><h4>After</h4><p class=\"muted\">The same: nothing was changed.</p></section>");
    } else {
        panel(&mut html, &loops, "After", &function.after, false);
    }
    html.markup("</div>");
    html
}

fn panel(html: &mut Html, loops: &LoopsOf, title: &'static str, outline: &Outline, is_before: bool) {
    html.markup("<section class=\"panel\"><h4>").markup(title).markup(" <span class=\"muted\">");
    count(html, outline.loops(), "loop", "loops");
    html.markup(" in ");
    count(html, outline.nests(), "nest", "nests");
    html.markup("</span></h4>");
    list(html, loops, outline, is_before);
    html.markup("</section>");
}

/// Adds a number with its noun.
pub(super) fn count(html: &mut Html, number: usize, one: &'static str, many: &'static str) {
    html.shown(number).markup(" ").markup(if number == 1 { one } else { many });
}

fn list(html: &mut Html, loops: &LoopsOf, outline: &Outline, is_before: bool) {
    html.markup("<ul class=\"tree\">");
    let mut open: Vec<usize> = Vec::new();
    let mut number = 0;
    for (at, node) in outline.nodes.iter().enumerate() {
        while open.last().is_some_and(|depth| *depth >= node.depth) {
            html.markup("</ul></li>");
            open.pop();
        }
        let of = match (node.is_loop(), is_before) {
            (false, _) => Vec::new(),
            (true, true) => {
                number += 1;
                vec![number]
            }
            (true, false) => loops.inside(outline, at),
        };
        item(html, node, &of, !is_before && loops.is_test(outline, at));
        if outline.nodes.get(at + 1).is_some_and(|next| next.depth > node.depth) {
            html.markup("<ul>");
            open.push(node.depth);
        } else {
            html.markup("</li>");
        }
    }
    open.iter().for_each(|_| {
        html.markup("</ul></li>");
    });
    html.markup("</ul>");
    if outline.nodes.is_empty() {
        html.markup("<p class=\"muted\">Nothing but computations.</p>");
    }
    if outline.is_cut {
        html.markup("<p class=\"muted\">The rest is left out.</p>");
    }
}

fn item(html: &mut Html, node: &Node, of: &[usize], is_test: bool) {
    let class = match node.kind {
        Kind::Loop => "loop",
        Kind::Region => "loop uncounted",
        Kind::If | Kind::Else => "if",
        Kind::Op => "",
    };
    html.markup("<li");
    if !class.is_empty() {
        html.markup(" class=\"").markup(class).markup("\"");
    }
    if !of.is_empty() {
        let numbers: Vec<String> = of.iter().map(usize::to_string).collect();
        html.markup(" data-loops=\"").text(&numbers.join(" ")).markup("\"");
    }
    html.markup("><span class=\"node\">");
    of.iter().for_each(|number| {
        html.piece(&card::chip(*number));
    });
    match node.place {
        Some(place) => {
            html.markup("<a href=\"#s").shown(place.line).markup("\">").text(&node.text).markup("</a>");
        }
        None => {
            html.text(&node.text);
        }
    }
    if let Some(origin) = &node.origin {
        html.within(" <span class=\"origin\">", origin, "</span>");
    }
    if is_test {
        html.markup(match node.kind {
            Kind::Else => " <span class=\"aside\">otherwise, the original loops</span>",
            _ => " <span class=\"aside\">if the tests hold when the program runs</span>",
        });
    }
    html.markup("</span>");
}

/// The loops of the source that statements are in, by the line and column of a statement.
struct LoopsOf {
    of: HashMap<super::Place, Vec<usize>>,
    /// The conditionals, which are no tests.
    conditionals: hashbrown::HashSet<super::Place>,
    is_tested: bool,
}

impl LoopsOf {
    fn new(function: &Function) -> LoopsOf {
        let (mut of, mut around, mut number) = (HashMap::new(), Vec::<(usize, usize)>::new(), 0);
        for node in &function.before.nodes {
            while around.last().is_some_and(|(depth, _)| *depth >= node.depth) {
                around.pop();
            }
            if node.is_loop() {
                number += 1;
                around.push((node.depth, number));
            }
            if let Some(place) = node.place {
                of.insert(place, around.iter().map(|(_, number)| *number).collect());
            }
        }
        let ifs = function.before.nodes.iter().filter(|node| node.kind == Kind::If);
        let conditionals = ifs.filter_map(|node| node.place).collect();
        LoopsOf { of, conditionals, is_tested: function.is_tested }
    }

    /// True if a node of a transformed program tests assumptions, or is what runs if they fail.
    fn is_test(&self, outline: &Outline, at: usize) -> bool {
        let node = &outline.nodes[at];
        let of = match node.kind {
            Kind::If => Some(node),
            Kind::Else => {
                let before = outline.nodes[..at].iter().rev();
                before.into_iter().find(|own| own.depth == node.depth && own.kind == Kind::If)
            }
            _ => None,
        };
        let is_new = |own: &Node| own.place.is_none_or(|place| !self.conditionals.contains(&place));
        self.is_tested && of.is_some_and(is_new)
    }

    /// Returns the loops of the source that a loop of the result runs: those around its statements
    /// at its own depth.
    fn inside(&self, outline: &Outline, at: usize) -> Vec<usize> {
        let own = &outline.nodes[at];
        let mut level = 0;
        let mut depth = own.depth;
        for node in outline.nodes[..at].iter().rev() {
            if node.depth < depth {
                depth = node.depth;
                level += usize::from(node.is_loop());
            }
        }
        let below = outline.nodes[at + 1..].iter().take_while(|node| node.depth > own.depth);
        let places = std::iter::once(own).chain(below).filter_map(|node| node.place);
        let mut found: Vec<usize> =
            places.filter_map(|place| self.of.get(&place)?.get(level).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
