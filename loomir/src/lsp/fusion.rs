//! Fusion of two loops as an edit of the document.

use loomir_dialects::llvm;
use loomir_ir::text::outline::Span;
use loomir_ir::text::{PrintOptions, print};
use loomir_ir::{Body, Diagnostic, Loc, LocKind, Op};
use loomir_transforms::fusion::fuse_pair;

use super::index::{FILE, Part, Settings};
use super::lines::Seen;
use crate::{AliasMode, FuseOptions};

/// New text for some bytes of a document.
pub(super) struct Fused {
    pub(super) span: Span,
    pub(super) text: String,
}

/// Fuses two loops of a function, which are given by their numbers among its operations. The
/// program stays as it is.
pub(super) fn fuse(
    part: &Part,
    seen: Seen<'_>,
    settings: &Settings,
    function: usize,
    (pair, alias): ([usize; 2], AliasMode),
) -> Result<Fused, Diagnostic> {
    let analyses = part.analyses().for_one_function();
    let options = FuseOptions { alias, analyses, ..FuseOptions::default() };
    let gone = || Diagnostic::remark(Loc::UNKNOWN, "the loops are not where they were");
    let own = part.op_ref(seen.lines, function).ok_or_else(gone)?;
    let old = part.outline.ops[function].span.clone();
    let new = match own.is(llvm::FuncOp::DEF) {
        true => in_llvm(part, seen, settings, (function, pair), &options)?,
        false => {
            let mut copy = own.body().duplicate();
            part.name_values(seen, function, own.body(), &mut copy);
            let ops: Vec<Op> = copy.all_ops().collect();
            let pair = pair.map(|at| ops.get(at).copied());
            let [Some(first), Some(second)] = pair else { return Err(gone()) };
            fuse_pair(&mut copy, [first, second], &options)?;
            indented(&printed(&copy), seen.line_at(old.start))
        }
    };
    Ok(changed(seen, old, &new))
}

/// Prints a function with the names of its locations.
fn printed(function: &Body) -> String {
    let options = PrintOptions { nameloc_as_prefix: true, local_scope: true, ..PrintOptions::default() };
    print(function, &options)
}

/// Fuses two loops of a function of the `llvm` dialect. Returns the text of the function.
fn in_llvm(
    part: &Part,
    seen: Seen<'_>,
    settings: &Settings,
    (function, pair): (usize, [usize; 2]),
    options: &FuseOptions,
) -> Result<String, Diagnostic> {
    let other = |message: &str| Diagnostic::remark(Loc::UNKNOWN, message);
    let own = part.op_ref(seen.lines, function).ok_or_else(|| other("the function is gone"))?;
    let old = part.outline.ops[function].span.clone();
    let (line, place) = (seen.line_at(old.start), own.loc());
    let mut module = match part.is_ll {
        true => {
            crate::lowering::from_ll_in_part(&settings.ctx, seen.text, FILE).ok().map(|(module, _)| module)
        }
        false => Some(part.module.duplicate()),
    }
    .ok_or_else(|| other("the program cannot be read again"))?;
    let mut done = Err(other("the function cannot be raised to structured control flow"));
    let (_, names) = crate::for_each_function(&mut module, &mut |body, _| {
        if body.root_ref().loc() != place {
            return false;
        }
        let ops: Vec<Op> = body.all_ops().collect();
        let [Some(first), Some(second)] = pair.map(|at| ops.get(at).copied()) else { return false };
        done = fuse_pair(body, [first, second], options);
        done.is_ok()
    });
    done?;
    let unwritten = || other("the fused loops have no form in LLVM IR");
    if names.is_empty() {
        return Err(unwritten());
    }
    if !part.is_ll {
        let all: Vec<Op> = module.all_ops().collect();
        let mut bodies = all.into_iter().filter_map(|op| module.nested(op));
        let function = bodies.find(|body| body.root_ref().loc() == place).ok_or_else(unwritten)?;
        return Ok(indented(&printed(function), line));
    }
    let text = crate::lowering::splice(seen.text, &module, &names).map_err(|_| unwritten())?;
    // The text before the function stays, so the function begins where it did.
    let outline = crate::lowering::ll_outline(&settings.ctx, &text);
    let new = outline.ops.iter().find(|own| own.span.start == old.start).ok_or_else(unwritten)?;
    Ok(text[new.span.start as usize..new.span.end as usize].to_owned())
}

impl Part {
    /// Gives the values of a copy the names that they have in the document, as locations.
    fn name_values(&self, seen: Seen<'_>, function: usize, original: &Body, copy: &mut Body) {
        let ctx = original.ctx();
        let named = |name: &str, child: Loc| {
            let name = name.trim_start_matches('%');
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            (!is_number).then(|| ctx.loc(LocKind::Name { name: ctx.name(name), child }))
        };
        let handles = self.handles(function);
        let pairs: Vec<(Op, Op)> = original.all_ops().zip(copy.all_ops()).collect();
        for (op, twin) in pairs {
            let names = handles.get(&op).map(|at| self.results_of(*at)).unwrap_or_default();
            let loc = names.first().and_then(|(name, _)| named(seen.slice(name), original.loc(op)));
            if let Some(loc) = loc {
                copy.set_loc(twin, loc);
            }
            name_arguments(seen, self, (original, op), (copy, twin), &named);
        }
        let (root, twin) = (original.root(), copy.root());
        name_arguments(seen, self, (original, root), (copy, twin), &named);
    }
}

/// Names the arguments of the blocks of an operation.
fn name_arguments(
    seen: Seen<'_>,
    part: &Part,
    (original, op): (&Body, Op),
    (copy, twin): (&mut Body, Op),
    named: &dyn Fn(&str, Loc) -> Option<Loc>,
) {
    let regions: Vec<_> = original.own_regions(op).zip(copy.own_regions(twin)).collect();
    for (region, other) in regions {
        let blocks: Vec<_> = original.blocks(region).zip(copy.blocks(other)).collect();
        for (block, other) in blocks {
            for index in 0..original.num_arguments(block) {
                let loc = original.argument_loc(original.argument(block, index));
                let offset = part.offset_of(seen, loc);
                let own = offset.and_then(|offset| part.outline.occurrence_at(offset));
                if let Some(loc) = own.and_then(|own| named(seen.slice(&own.span), loc)) {
                    let argument = copy.argument(other, index);
                    copy.set_argument_loc(argument, loc);
                }
            }
        }
    }
}

/// Returns a text as far in as a line, with all lines but the first.
fn indented(text: &str, line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    text.trim_end().replace('\n', &format!("\n{indent}"))
}

/// Returns the edit from an old text to a new one: the lines between those that stay. Comments that
/// stand alone among them are kept before the rest.
fn changed(seen: Seen<'_>, old: Span, new: &str) -> Fused {
    let before: Vec<&str> = seen.slice(&old).split('\n').collect();
    let after: Vec<&str> = new.split('\n').collect();
    let same = |pair: &(&&str, &&str)| pair.0.trim_end() == pair.1.trim_end();
    let head = before.iter().zip(&after).take_while(same).count();
    let most = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(most).take_while(same).count();
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len() as u32 + 1).sum::<u32>();
    let start = old.start + bytes(&before[..head]);
    let removed = &before[head..before.len() - tail];
    let end = (start + bytes(removed)).saturating_sub(1).max(start);
    let is_comment = |line: &&str| line.starts_with("//") || line.starts_with(';');
    let added = &after[head..after.len() - tail];
    let next = added.first().or(after.get(head)).copied().unwrap_or_default();
    let indent = &next[..next.len() - next.trim_start().len()];
    let comments = removed.iter().map(|line| line.trim()).filter(is_comment);
    let comments = comments.map(|line| format!("{indent}{line}"));
    let kept: Vec<String> = comments.chain(added.iter().map(|line| (*line).to_owned())).collect();
    let text = kept.join("\n");
    match (removed.is_empty(), kept.is_empty()) {
        (true, _) => Fused { span: start..start, text: text + "\n" },
        (false, true) => Fused { span: start..(end + 1).min(old.end), text },
        (false, false) => Fused { span: start..end, text },
    }
}
