//! A layout in layers (Sugiyama, Tagawa, Toda, *Methods for Visual Understanding of Hierarchical
//! System Structures*, 1981).
//!
//! Each item is in a layer below all its predecessors, except for links that close a cycle of a
//! depth-first walk. Links that pass layers have places of their own there. Layers are ordered by
//! the mean places of neighbours, in sweeps downwards and upwards. Items are then moved sideways,
//! as near to their neighbours as their order allows: in each layer this minimises the sum of
//! squares ([`spread`]). Backward links go up at the right, each at a place of its own.
//!
//! **Cost.** Each of a fixed number of sweeps is linear in items and in links times the layers they
//! pass, plus sorting.

/// The number of sweeps that order layers.
const ORDERINGS: usize = 8;
/// The number of sweeps that move items.
const MOVES: usize = 24;
/// The space between items of a layer.
const BESIDE: i64 = 22;
/// Room between layers.
const BETWEEN: i64 = 34;
/// Room that a link takes.
const LANE: i64 = 12;

/// An item with a place in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) width: i64,
    pub(super) height: i64,
    /// True if it is placed below all items without this flag.
    pub(super) is_last: bool,
}

/// A link from the lower side of an item to the upper side of another item. Each end is an item and
/// a distance from its left side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: (usize, i64),
    pub(super) to: (usize, i64),
}

/// The places of all items. Coordinates go right and down.
pub(super) struct Layout {
    /// The upper left corners of the items.
    pub(super) places: Vec<(i64, i64)>,
    /// The points that each link passes. Between two points it is straight if one is below or
    /// beside the other.
    pub(super) routes: Vec<Vec<(i64, i64)>>,
    pub(super) width: i64,
    pub(super) height: i64,
}

/// A vertex of a layer: an item, or a link that passes.
#[derive(Clone, Copy)]
struct Vertex {
    width: i64,
    item: Option<usize>,
}

/// A segment of a link, from a vertex of a layer to a vertex of the next layer.
#[derive(Clone, Copy)]
struct Step {
    from: (usize, i64),
    to: (usize, i64),
}

/// Lays out items. The first item is in the first layer. `None` if the links would pass more than
/// `limit` layers in total.
pub(super) fn lay_out(items: &[Item], links: &[Link], limit: usize) -> Option<Layout> {
    let leads_back = back_links(items.len(), links);
    let layer_of = layers(items, links, &leads_back);
    let count = layer_of.iter().max().map_or(0, |last| last + 1);
    let span = |link: &Link| layer_of[link.to.0].saturating_sub(layer_of[link.from.0]);
    let forward = || links.iter().enumerate().filter(|(at, _)| !leads_back[*at]);
    if forward().map(|(_, link)| span(link)).sum::<usize>() > limit {
        return None;
    }
    let mut vertices: Vec<Vertex> =
        items.iter().enumerate().map(|(at, item)| Vertex { width: item.width, item: Some(at) }).collect();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (at, layer) in layer_of.iter().enumerate() {
        rows[*layer].push(at);
    }
    // The vertices of each forward link, including its ends.
    let mut passed: Vec<Vec<usize>> = vec![Vec::new(); links.len()];
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); count];
    for (at, link) in forward() {
        let mut from = link.from;
        passed[at].push(from.0);
        for layer in layer_of[link.from.0] + 1..=layer_of[link.to.0] {
            let to = match layer == layer_of[link.to.0] {
                true => link.to,
                false => {
                    vertices.push(Vertex { width: LANE, item: None });
                    rows[layer].push(vertices.len() - 1);
                    (vertices.len() - 1, LANE / 2)
                }
            };
            steps[layer - 1].push(Step { from, to });
            passed[at].push(to.0);
            from = to;
        }
    }
    order(&mut rows, &steps, &vertices);
    let mut x = places_beside(&rows, &steps, &vertices);
    let left = x.iter().copied().min().unwrap_or(0);
    x.iter_mut().for_each(|x| *x -= left);
    Some(finish(items, links, &Rows { rows, x, vertices, passed, leads_back }))
}

/// Returns, for each link, true if it closes a cycle of a walk from the first item. Linear.
fn back_links(items: usize, links: &[Link]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); items];
    for (at, link) in links.iter().enumerate() {
        out[link.from.0].push(at);
    }
    let (mut is_open, mut seen, mut leads_back) =
        (vec![false; items], vec![false; items], vec![false; links.len()]);
    for root in 0..items {
        let mut stack = if std::mem::replace(&mut seen[root], true) { Vec::new() } else { vec![(root, 0)] };
        while let Some((at, next)) = stack.last_mut() {
            is_open[*at] = true;
            match out[*at].get(*next) {
                Some(link) => {
                    *next += 1;
                    let to = links[*link].to.0;
                    if is_open[to] {
                        leads_back[*link] = true;
                    } else if !std::mem::replace(&mut seen[to], true) {
                        stack.push((to, 0));
                    }
                }
                None => {
                    is_open[*at] = false;
                    stack.pop();
                }
            }
        }
    }
    leads_back
}

/// Returns the layer of each item, which is below all its predecessors. Linear.
fn layers(items: &[Item], links: &[Link], leads_back: &[bool]) -> Vec<usize> {
    let forward = || links.iter().zip(leads_back).filter(|(_, back)| !**back).map(|(link, _)| link);
    let mut into = vec![0usize; items.len()];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); items.len()];
    for link in forward() {
        into[link.to.0] += 1;
        out[link.from.0].push(link.to.0);
    }
    let mut layer = vec![0; items.len()];
    let mut pending: Vec<usize> = (0..items.len()).filter(|at| into[*at] == 0).collect();
    while let Some(at) = pending.pop() {
        for to in &out[at] {
            layer[*to] = layer[*to].max(layer[at] + 1);
            into[*to] -= 1;
            if into[*to] == 0 {
                pending.push(*to);
            }
        }
    }
    let last = (0..items.len()).filter(|at| !items[*at].is_last).map(|at| layer[at]).max().unwrap_or(0) + 1;
    (0..items.len()).for_each(|at| {
        if items[at].is_last {
            layer[at] = last
        }
    });
    layer
}

/// Orders the vertices of each layer alternately by the mean places of the vertices above and
/// below.
fn order(rows: &mut [Vec<usize>], steps: &[Vec<Step>], vertices: &[Vertex]) {
    let mut place = vec![0usize; vertices.len()];
    let number = |row: &[usize], place: &mut [usize]| {
        row.iter().enumerate().for_each(|(at, vertex)| place[*vertex] = at);
    };
    rows.iter().for_each(|row| number(row, &mut place));
    for sweep in 0..ORDERINGS {
        let is_down = sweep % 2 == 0;
        let mut sequence: Vec<usize> = (0..rows.len()).collect();
        if !is_down {
            sequence.reverse();
        }
        for layer in sequence.into_iter().skip(1) {
            let between = if is_down { &steps[layer - 1] } else { &steps[layer] };
            let mut sums: Vec<(usize, (f64, f64))> = Vec::new();
            for step in between {
                let (own, (other, offset)) =
                    if is_down { (step.to.0, step.from) } else { (step.from.0, step.to) };
                // A wide item has links along its whole side.
                let along = offset as f64 / vertices[other].width.max(1) as f64;
                sums.push((own, (place[other] as f64 + along, 1.0)));
            }
            let means = means(sums);
            let key = |vertex: &usize| means.get(vertex).copied().unwrap_or(place[*vertex] as f64 + 0.5);
            let mut keyed: Vec<(f64, usize)> =
                rows[layer].iter().map(|vertex| (key(vertex), *vertex)).collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[layer] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
            number(&rows[layer], &mut place);
        }
    }
}

/// Returns the weighted mean of the values of each vertex.
fn means(said: Vec<(usize, (f64, f64))>) -> hashbrown::HashMap<usize, f64> {
    let mut sums: hashbrown::HashMap<usize, (f64, f64)> = hashbrown::HashMap::new();
    for (vertex, (value, weight)) in said {
        let sum = sums.entry(vertex).or_default();
        *sum = (sum.0 + value * weight, sum.1 + weight);
    }
    sums.into_iter().map(|(vertex, (sum, weight))| (vertex, sum / weight)).collect()
}

/// Returns the left sides of vertices, near their neighbours and in their order.
fn places_beside(rows: &[Vec<usize>], steps: &[Vec<Step>], vertices: &[Vertex]) -> Vec<i64> {
    let mut x = vec![0i64; vertices.len()];
    for row in rows {
        let mut next = 0;
        for vertex in row {
            x[*vertex] = next;
            next += vertices[*vertex].width + BESIDE;
        }
    }
    for sweep in 0..MOVES {
        let mut sequence: Vec<usize> = (0..rows.len()).collect();
        if sweep % 2 == 1 {
            sequence.reverse();
        }
        for layer in sequence {
            let mut wanted = Vec::new();
            // A passing link should be straight.
            let weight = |step: &Step| match (vertices[step.from.0].item, vertices[step.to.0].item) {
                (Some(_), Some(_)) => 1.0,
                (None, None) => 8.0,
                _ => 2.0,
            };
            for step in layer.checked_sub(1).map_or(&[][..], |above| &steps[above]) {
                let place = x[step.from.0] + step.from.1 - step.to.1;
                wanted.push((step.to.0, (place as f64, weight(step))));
            }
            for step in &steps[layer] {
                let place = x[step.to.0] + step.to.1 - step.from.1;
                wanted.push((step.from.0, (place as f64, weight(step))));
            }
            let means = means(wanted);
            let row = &rows[layer];
            let wanted: Vec<f64> =
                row.iter().map(|vertex| means.get(vertex).copied().unwrap_or(x[*vertex] as f64)).collect();
            let widths: Vec<i64> = row.iter().map(|vertex| vertices[*vertex].width).collect();
            for (vertex, place) in row.iter().zip(spread(&wanted, &widths)) {
                x[*vertex] = place;
            }
        }
    }
    x
}

/// Returns places from left to right without overlaps, as near to the wanted ones as possible.
/// Vertices that would overlap form a group at their mean. Linear.
fn spread(wanted: &[f64], widths: &[i64]) -> Vec<i64> {
    // Groups of adjacent vertices: the sum of the wanted places of the group's start, and the
    // number of members.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    let mut offset = 0;
    for (place, width) in wanted.iter().zip(widths) {
        groups.push((place - offset as f64, 1));
        offset += width + BESIDE;
        while let [.., before, last] = groups[..]
            && before.0 / before.1 as f64 > last.0 / last.1 as f64
        {
            groups.pop();
            groups.pop();
            groups.push((before.0 + last.0, before.1 + last.1));
        }
    }
    let starts = groups.into_iter().flat_map(|(sum, count)| std::iter::repeat_n(sum / count as f64, count));
    let mut offset = 0;
    let mut places = Vec::with_capacity(widths.len());
    for (start, width) in starts.zip(widths) {
        places.push(start.round() as i64 + offset);
        offset += width + BESIDE;
    }
    places
}

/// Everything but heights.
struct Rows {
    rows: Vec<Vec<usize>>,
    x: Vec<i64>,
    vertices: Vec<Vertex>,
    passed: Vec<Vec<usize>>,
    leads_back: Vec<bool>,
}

/// Assigns the heights of layers and the routes of links.
fn finish(items: &[Item], links: &[Link], laid: &Rows) -> Layout {
    let Rows { rows, x, vertices, passed, leads_back } = laid;
    let height_of = |vertex: &usize| vertices[*vertex].item.map_or(0, |item| items[item].height);
    let goes_back = leads_back.contains(&true);
    // The upper and the lower side of each layer, and the layer of each vertex.
    let mut sides = Vec::new();
    let mut layer_of = vec![0; vertices.len()];
    let mut y = if goes_back { BETWEEN / 2 } else { 0 };
    for (layer, row) in rows.iter().enumerate() {
        row.iter().for_each(|vertex| layer_of[*vertex] = layer);
        let height = row.iter().map(height_of).max().unwrap_or(0);
        sides.push((y, y + height));
        y += height + BETWEEN;
    }
    let height = y - BETWEEN + if goes_back { BETWEEN / 2 } else { 0 };
    let right = rows.iter().flatten().map(|vertex| x[*vertex] + vertices[*vertex].width).max().unwrap_or(0);
    let mut lane = right;
    let mut routes = Vec::with_capacity(links.len());
    for (at, link) in links.iter().enumerate() {
        let start =
            (x[link.from.0] + link.from.1, sides[layer_of[link.from.0]].0 + items[link.from.0].height);
        let end = (x[link.to.0] + link.to.1, sides[layer_of[link.to.0]].0);
        let mut route = vec![start];
        if leads_back[at] {
            lane += LANE;
            let (below, above) = (sides[layer_of[link.from.0]].1 + BETWEEN / 4, end.1 - BETWEEN / 4);
            route.extend([(start.0, below), (lane, below), (lane, above), (end.0, above)]);
        } else {
            for (place, vertex) in passed[at].iter().enumerate() {
                let (upper, lower) = sides[layer_of[*vertex]];
                let passes = vertices[*vertex].item.is_none();
                if passes {
                    route.extend([(x[*vertex] + LANE / 2, upper), (x[*vertex] + LANE / 2, lower)]);
                } else if place == 0 {
                    route.push((start.0, lower));
                }
            }
        }
        route.push(end);
        route.dedup();
        routes.push(route);
    }
    let places = (0..items.len()).map(|at| (x[at], sides[layer_of[at]].0)).collect();
    Layout { places, routes, width: lane, height }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_overlap_stands_together() {
        assert_eq!(spread(&[0.0, 0.0], &[10, 10]), [-16, 16]);
        assert_eq!(spread(&[5.0, 500.0], &[10, 10]), [5, 500]);
        assert_eq!(spread(&[], &[]), [0i64; 0]);
    }

    #[test]
    fn items_stand_below_what_leads_to_them_and_apart() {
        let item = Item { width: 40, height: 20, is_last: false };
        let items = [item, item, item, item, Item { is_last: true, ..item }];
        let link = |from, to| Link { from: (from, 20), to: (to, 20) };
        let links = [link(0, 1), link(0, 2), link(1, 3), link(2, 3), link(0, 3), link(3, 0), link(1, 4)];
        let laid = lay_out(&items, &links, 100).expect("it is small");
        for (at, link) in links.iter().enumerate().filter(|(at, _)| *at != 5) {
            assert!(laid.places[link.to.0].1 >= laid.places[link.from.0].1 + 20, "link {at}");
        }
        for (a, first) in laid.places.iter().enumerate() {
            for second in &laid.places[..a] {
                let apart = (first.0 - second.0).abs() >= 40 || (first.1 - second.1).abs() >= 20;
                assert!(apart && first.0 >= 0 && first.0 + 40 <= laid.width);
            }
        }
        assert!(laid.routes[5].iter().any(|(x, _)| *x == laid.width), "it goes back at the right");
        assert!(lay_out(&items, &links, 3).is_none());
    }
}
