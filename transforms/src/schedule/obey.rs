//! Obeying directives: the transformations that loops of a program ask for.
//!
//! The directives of one loop, or of one sequence of loops, are one step, like one operation of a
//! schedule. Inner loops come before outer ones. A step that the judge refuses is an error with its
//! witness, and leaves the loops as they are.
//!
//! **Cost.** That of a schedule with a step for each loop that has directives.

use hashbrown::HashMap;
use loomir_ir::{Attr, Body, Diagnostic, Diagnostics, Loc, Op};

use super::directed::{Made, Side, transform};
use super::failure::Failure;
use super::loops::not_on_tree;
use super::payload::{BodyPath, Entity, OnTree, Payload, Step};
use super::site::Place;
use crate::access::base::AliasMode;
use crate::directive::{DIRECTIVE, Directive, Directives, Transformation};
use crate::marks::OBEYED;
use crate::remark::Remarks;

/// The directives of one loop, or of the sequence that it begins.
struct Task {
    loops: Loops,
    directives: Vec<Directive>,
    text: String,
    loc: Loc,
}

/// The loops of a task.
enum Loops {
    One(Entity),
    /// The members of a sequence, by its number.
    Sequence(usize),
}

/// A sequence of loops.
#[derive(Default)]
struct Sequence {
    /// The loops that its members became.
    loops: Vec<Entity>,
    /// True if a member could not be transformed as it should be.
    is_broken: bool,
    /// The directives for the sequence, with the place of their loop.
    task: Option<Task>,
    /// The number of members that are still to come.
    left: usize,
}

/// Obeys the directives of all loops of a module, and removes them. Returns a remark for each.
///
/// # Errors
///
/// All directives that cannot be read or obeyed. The module is then well formed and computes the
/// same, with the other directives obeyed.
pub fn obey(module: &mut Body, alias: AliasMode) -> Result<Diagnostics, Diagnostics> {
    let mut found = Vec::new();
    take(module, &[], &mut found);
    if found.is_empty() {
        return Ok(Diagnostics::new());
    }
    let payload = Payload::new(module, alias);
    let mut run = Run { payload, sequences: Vec::new(), errors: Diagnostics::new(), done: Vec::new() };
    let tasks = run.tasks(found);
    for (task, sequence) in tasks {
        run.member(task, sequence);
    }
    if let Err(failure) = run.payload.flush_below(&[], Loc::UNKNOWN) {
        run.errors.push(failure.into_diagnostic());
    }
    if run.errors.has_errors() { Err(run.errors) } else { Ok(run.remarks()) }
}

/// The name of the pass that obeys directives, for remarks.
pub const PASS: &str = "obey-directives";

/// An operation with directives: the path to its body, and the attribute.
type Found = (BodyPath, Op, Attr);

/// Removes the directives of a body and of those inside. They are listed from the inside outwards,
/// in the order of the text. Recurses once for each body in a body. Reading bounds their nesting
/// depth.
fn take(body: &mut Body, path: &[Op], found: &mut Vec<Found>) {
    for op in body.postorder(body.root()) {
        if let Some(nested) = body.nested_mut(op) {
            take(nested, &[path, &[op]].concat(), found);
        }
        if let Some(attr) = body.attr(op, DIRECTIVE) {
            body.remove_attr(op, DIRECTIVE);
            found.push((path.into(), op, attr));
        }
    }
}

/// The state of obeying.
struct Run<'m> {
    payload: Payload<'m>,
    sequences: Vec<Sequence>,
    errors: Diagnostics,
    /// The directives that were obeyed.
    done: Vec<Done>,
}

/// Directives that were obeyed.
struct Done {
    function: BodyPath,
    loc: Loc,
    text: String,
    /// The loops that they made.
    loops: Vec<Entity>,
}

impl Run<'_> {
    /// Reads directives. Returns a task for each loop, with the sequence that the loop is in.
    fn tasks(&mut self, found: Vec<Found>) -> Vec<(Task, Option<usize>)> {
        // A sequence may have several copies. A member is of the one in its own block, or else of
        // the last one: they are then apart, which is refused later.
        let mut named: HashMap<(BodyPath, Option<Op>, String), usize> = HashMap::new();
        let mut latest: HashMap<(BodyPath, String), usize> = HashMap::new();
        let mut tasks = Vec::new();
        for (path, op, attr) in found {
            let Some(body) = self.payload.body(&path) else { continue };
            let (loc, around) = (body.loc(op), body.parent_op(op));
            let text = attr.as_str(body.ctx()).unwrap_or_default().to_owned();
            let own = match Directives::read(&text) {
                Ok(own) => own,
                Err(why) => {
                    let error = Diagnostic::error(loc, format!("'{text}' is no directive"));
                    self.errors.push(error.note(loc, why));
                    continue;
                }
            };
            let sequence = own.sequence.map(|name| {
                let (beside, anywhere) = ((path.clone(), around, name.clone()), (path.clone(), name));
                let begins = !own.of_sequence.is_empty();
                let known = named.get(&beside).or_else(|| latest.get(&anywhere));
                if let Some(known) = known.filter(|_| !begins) {
                    return *known;
                }
                let number = self.sequences.len();
                self.sequences.push(Sequence::default());
                named.insert(beside, number);
                latest.insert(anywhere, number);
                number
            });
            let entity = self.payload.entity(&path, op);
            let task = |loops: Loops, directives: Vec<Directive>| {
                let texts: Vec<&str> = directives.iter().map(|own| &*own.text).collect();
                let text = texts.join("; ");
                Task { loops, directives, text, loc }
            };
            if let Some(number) = sequence {
                let all = &mut self.sequences[number];
                all.left += 1;
                if !own.of_sequence.is_empty() {
                    all.task = Some(task(Loops::Sequence(number), own.of_sequence));
                }
            }
            tasks.push((task(Loops::One(entity), own.of_loop), sequence));
        }
        tasks
    }

    /// Obeys the directives of one loop, and those of its sequence if it is the last member.
    fn member(&mut self, task: Task, sequence: Option<usize>) {
        let made = self.obeyed(&task);
        let Some(number) = sequence else { return };
        let all = &mut self.sequences[number];
        all.left -= 1;
        match made {
            Some(made) => all.loops.extend(made),
            None => all.is_broken = true,
        }
        if all.left == 0
            && let Some(task) = all.task.take()
        {
            self.obeyed(&task);
        }
    }

    /// Obeys the directives of a task. Returns the loops that they make, or `None` after an error.
    fn obeyed(&mut self, task: &Task) -> Option<Vec<Entity>> {
        let targets = match &task.loops {
            Loops::One(target) => vec![*target],
            Loops::Sequence(number) => {
                let Sequence { loops, is_broken: false, .. } = &self.sequences[*number] else { return None };
                loops.clone()
            }
        };
        if task.directives.is_empty() {
            return Some(targets);
        }
        match self.step(task, &targets) {
            Ok(made) => Some(made),
            Err(failure) => {
                self.errors.push(failure.into_diagnostic());
                None
            }
        }
    }

    /// Makes the edits of a task. Returns the loops that they make.
    fn step(&mut self, task: &Task, targets: &[Entity]) -> Result<Vec<Entity>, Failure> {
        let loops = self.on_one_tree(task, targets)?;
        let places: Vec<Place> = loops.iter().map(|own| own.place.clone()).collect();
        let Some(target) = loops.first() else {
            let text = format!("'{}' is for no loop", task.text);
            return Err(Failure::silenceable(Diagnostic::error(task.loc, text)));
        };
        let then = match &task.directives[..] {
            [only] if only.apply.is_empty() => only.change.then(),
            _ => "transformed",
        };
        let step = Step { loc: task.loc, name: &task.text, then, consumed: targets };
        let mut make = |side: Side| {
            self.payload.step(target, &step, |sketch, _| {
                transform(sketch, places.clone(), &task.directives, side).map(Made::into_sequence)
            })
        };
        let made = match make(Side::Before) {
            Err(failure) if failure.is_silenceable() && is_fusing(&task.directives) => {
                make(Side::Behind).map_err(|_| failure)
            }
            made => made,
        }?;
        let (function, loops) = (target.path().clone(), made.clone());
        self.done.push(Done { function, loc: task.loc, text: task.text.clone(), loops });
        Ok(made)
    }

    /// Marks the loops that directives made. Returns a remark for each task.
    fn remarks(mut self) -> Diagnostics {
        let mut remarks = Diagnostics::new();
        for Done { function, loc, text, loops } in self.done {
            for own in loops {
                // A loop may be gone, or have several copies, after directives of loops around it.
                let Ok((path, op)) = self.payload.op(own, loc) else { continue };
                if let Some(body) = self.payload.body_mut(&path) {
                    body.set_attr(op, OBEYED, Attr::UNIT);
                }
            }
            let Some(body) = self.payload.body(&function) else { continue };
            let remarks_of = Remarks { body, pass: PASS };
            remarks.push(remarks_of.passed("Obeyed", loc, &format!("Obeyed '{text}'")));
        }
        remarks
    }

    /// Returns loops on the tree of their function. They must be in one body, in this order.
    fn on_one_tree(&mut self, task: &Task, targets: &[Entity]) -> Result<Vec<OnTree>, Failure> {
        let mut loops = Vec::new();
        for target in targets {
            match self.payload.on_tree(*target) {
                Some(own) => loops.push(own),
                None => return Err(not_on_tree(&self.payload, task.loc, &task.text, *target)),
            }
        }
        // Raising a function moves the loops that are known of it to its tree.
        let parent = |own: &OnTree| own.place.split_last().map(|(_, parent)| parent.to_vec());
        let is_apart = |pair: &[OnTree]| {
            !pair[0].is_with(&pair[1])
                || parent(&pair[0]) != parent(&pair[1])
                || pair[0].place >= pair[1].place
        };
        if loops.windows(2).any(is_apart) {
            let error = Diagnostic::error(task.loc, format!("'{}' needs loops in one body", task.text))
                .help("if one is behind a test of its trip count, give all loops bounds of one type");
            let error = targets
                .iter()
                .fold(error, |error, own| error.note(self.payload.loc(*own), "a loop of the sequence"));
            return Err(Failure::silenceable(error));
        }
        Ok(loops)
    }
}

/// True if a directive fuses loops.
fn is_fusing(directives: &[Directive]) -> bool {
    directives.iter().any(|own| matches!(own.change, Transformation::Fuse(_)))
}
