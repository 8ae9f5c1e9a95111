//! Small changes of programs as text: a number, an operand, a comparison, the place of a line.
//!
//! Many of them turn a right program into a wrong one. A checker of programs must detect that.

use super::random::Random;

/// Returns a copy of a text with one change. `None` if there is nothing to change. The result may
/// be invalid, or may behave the same.
pub fn changed(text: &str, random: &mut Random) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let index = random.below(lines.len());
    let line = lines[index].clone();
    let new = match random.below(9) {
        0 | 1 => with_number(&line, random)?,
        2 if line.contains("load") || line.contains("store") => {
            let end = line.find(']')?;
            let sign = if random.chance(50) { "+" } else { "-" };
            format!("{} {sign} 1{}", &line[..end], &line[end..])
        }
        3 => swapped_operands(&line)?,
        4 => {
            let renamed = [
                ("slt", "sle"),
                ("sle", "slt"),
                ("sgt", "sge"),
                ("sge", "sgt"),
                ("eq,", "ne,"),
                ("addi", "subi"),
                ("subi", "addi"),
                ("addf", "mulf"),
                ("mulf", "addf"),
                ("muli", "addi"),
                ("minsi", "maxsi"),
            ];
            let at = random.below(renamed.len());
            let (from, to) =
                renamed.iter().cycle().skip(at).take(renamed.len()).find(|(from, _)| line.contains(from))?;
            line.replacen(from, to, 1)
        }
        5 if line.contains("store") => {
            lines.remove(index);
            return Some(lines.join("\n"));
        }
        6 => {
            lines.swap(index, index.checked_sub(1)?);
            return Some(lines.join("\n"));
        }
        7 => with_other_value(&line, text, random)?,
        _ => {
            // A line moves down.
            let line = lines.remove(index);
            let to = (index + 1 + random.below(4)).min(lines.len());
            lines.insert(to, line);
            return Some(lines.join("\n"));
        }
    };
    lines[index] = new;
    Some(lines.join("\n"))
}

/// Adds one to, or subtracts one from, a separate number.
fn with_number(line: &str, random: &mut Random) -> Option<String> {
    let bytes = line.as_bytes();
    let is_own = |at: usize| {
        bytes[at].is_ascii_digit()
            && at > 0
            && (b" -(,[".contains(&bytes[at - 1]))
            && line[at..]
                .find(|c: char| !c.is_ascii_digit())
                .is_none_or(|end| b" )],".contains(&bytes[at + end]))
    };
    let places: Vec<usize> = (0..bytes.len()).filter(|at| is_own(*at)).collect();
    let at = *places.get(random.below(places.len()))?;
    let end = line[at..].find(|c: char| !c.is_ascii_digit()).map_or(line.len(), |end| at + end);
    let number: i64 = line[at..end].parse().ok()?;
    let number = if random.chance(50) { number.saturating_add(1) } else { (number - 1).max(0) };
    Some(format!("{}{number}{}", &line[..at], &line[end..]))
}

fn swapped_operands(line: &str) -> Option<String> {
    let at = line.find("arith.")?;
    let first = at + line[at..].find('%')?;
    let middle = first + line[first..].find(", %")?;
    let end = middle + 2 + line[middle + 2..].find([' ', ','])?;
    let (a, b) = (&line[first..middle], &line[middle + 2..end]);
    Some(format!("{}{b}, {a}{}", &line[..first], &line[end..]))
}

/// Replaces one use of a value by another value.
fn with_other_value(line: &str, text: &str, random: &mut Random) -> Option<String> {
    let names = |text: &str| -> Vec<(usize, usize)> {
        let starts = text.match_indices('%').map(|(at, _)| at);
        let end = |at: usize| {
            text[at + 1..]
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(text.len(), |end| at + 1 + end)
        };
        starts.map(|at| (at, end(at))).collect()
    };
    let all = names(text);
    let own = names(line);
    let (from, to) = *own.get(random.below(own.len()))?;
    let (a, b) = *all.get(random.below(all.len()))?;
    Some(format!("{}{}{}", &line[..from], &text[a..b], &line[to..]))
}
