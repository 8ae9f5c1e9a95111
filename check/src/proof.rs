//! Proves that two functions compute the same, for all sizes and inputs.
//!
//! Each function is read by itself (`read`) into statements with iteration domains (`model`).
//! Its loops are operations, or natural loops of a control-flow graph (`read/graph.rs`).
//! Elements of a buffer that is viewed with other extents are numbered in one row (`linear`).
//! Exact array data flow tells which store each load reads from (`flow`). Computations are
//! matched backwards from what the functions leave behind (`matching`). Last, the other function
//! must not be undefined where the original is defined (`obligations`).
//!
//! # Assumptions
//! - A loop variable counts in the integers and does not leave its type, as in the interpreter.
//! - Arithmetic on `index` that is shown neither by flags nor by ranges to be exact is assumed not
//!   to wrap; the answer names that ([`Assumption::IndexArithmetic`]). Other integers wrap.
//! - Arithmetic of 64 bits in `llvm` that serves addresses alone is assumed not to wrap where
//!   neither flags nor ranges show it ([`Assumption::SubscriptArithmetic`]).
//! - A loop of the original that compares its counter as unsigned with a number of 64 bits is
//!   assumed to run less than 2^63 times ([`Assumption::UnsignedBounds`]).
//! - Arguments are not poison. Where LLVM IR says otherwise and the functions freeze or branch
//!   differently, the answer names that ([`Assumption::DefinedArguments`]).
//! - Counted loops end.
//! - A parameter that only a loop computes has its value where the loop runs. Elsewhere any value
//!   will do, so goals take it to be what its definition says.
//! - Sizes of buffers are not negative.
//! - Where a function with a body is called, functions of one name are assumed to be equal
//!   ([`Assumption::EqualCallees`]). Whoever proves all of them has shown that.
//!
//! # Bounds
//! All questions about sets together are bounded by [`ProofOptions::questions`], each by
//! [`ProofOptions::steps`]. Where a bound is met the answer is [`Proof::Undecided`].

mod alias;
mod flow;
mod form;
mod hull;
mod isomorphic;
mod linear;
mod matching;
pub(crate) mod metadata;
mod model;
mod obligations;
mod order;
pub(crate) mod poison;
mod read;
mod sets;

use loomir_dialects::interp::layout::DataLayout;
use loomir_ir::{AttrKind, Body, Loc, Name, Op, OpRef, symbols};
use loomir_polyhedra::Conjunction;

use alias::Overlap;
use matching::{Goal, Matcher, Mismatch, Stuck, Widening};
use model::{ObjectKey, Output, Params, Program};
pub(crate) use read::{flag_bits, is_alone_argument, is_computation, says_of_values};
use sets::{OutOfReach, Pieces, Solver, var};

/// The assumptions that a proof may make, and its bounds.
#[derive(Clone, Debug)]
pub struct ProofOptions {
    /// Buffers among the arguments do not overlap each other.
    pub distinct: bool,
    /// The most sets that are looked at.
    pub questions: u64,
    /// The most steps of one question.
    pub steps: u64,
}

impl Default for ProofOptions {
    fn default() -> ProofOptions {
        ProofOptions { distinct: false, questions: 400_000, steps: 20_000_000 }
    }
}

/// A condition under which two functions are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Assumption {
    /// Buffers among the arguments do not overlap.
    DistinctArguments,
    /// Arguments without `noundef` are not poison.
    DefinedArguments,
    /// Arithmetic on `index` does not wrap.
    IndexArithmetic,
    /// Arithmetic of 64 bits that makes addresses does not wrap.
    SubscriptArithmetic,
    /// Bounds of 64 bits that are compared as unsigned are less than 2^63.
    UnsignedBounds,
    /// Elements of a buffer lie apart, though its strides are known at run time only.
    OwnElements,
    /// Functions of one name that are called compute the same in both programs.
    EqualCallees,
    /// Iterations of `scf.parallel` in the original do not race. Races are undefined.
    NoRaces,
    /// Floats are combined in another order where their flags allow it. Results may be
    /// rounded otherwise.
    Reassociation,
}

impl Assumption {
    /// Returns the condition as a sentence.
    pub fn message(self) -> &'static str {
        match self {
            Assumption::DistinctArguments => "buffers among the arguments do not overlap",
            Assumption::DefinedArguments => "arguments are not poison",
            Assumption::IndexArithmetic => "arithmetic on 'index' does not wrap",
            Assumption::SubscriptArithmetic => "64-bit arithmetic on subscripts does not wrap",
            Assumption::UnsignedBounds => "bounds compared as unsigned are less than 2^63",
            Assumption::OwnElements => "strides that are known at run time keep elements apart",
            Assumption::EqualCallees => "functions of one name do the same in both programs",
            Assumption::NoRaces => "iterations of 'scf.parallel' of the first program do not race",
            Assumption::Reassociation => "floats may be rounded otherwise, as their flags allow",
        }
    }
}

const OUT_OF_REACH: &str = "the bound on questions was reached";

/// One of the two programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Which {
    /// The original.
    Before,
    /// The other one.
    After,
}

/// A cause for which equality is not decided.
#[derive(Clone, Debug)]
pub struct Reason {
    /// The program that the place belongs to.
    pub program: Which,
    /// The place.
    pub loc: Loc,
    /// The operation there.
    pub op: String,
    /// The cause, as a sentence without its end.
    pub message: String,
    /// A place in the other program that belongs to it.
    pub other: Option<Loc>,
}

/// The answer of the prover.
#[derive(Clone, Debug)]
pub enum Proof {
    /// The functions compute the same, under these assumptions.
    Equal {
        /// The assumptions.
        under: Vec<Assumption>,
    },
    /// The prover does not know.
    Undecided {
        /// The causes.
        reasons: Vec<Reason>,
    },
}

impl Proof {
    /// True if the functions are equal.
    pub fn is_equal(&self) -> bool {
        matches!(self, Proof::Equal { .. })
    }
}

/// Proves that the function `after` of one program does what `before` of another one does.
///
/// Both programs share one context.
pub fn prove(before: &Body, f: Op, after: &Body, g: Op, options: &ProofOptions) -> Proof {
    let functions = [OpRef::new(before, f), OpRef::new(after, g)];
    if let Some(message) = targets_differ([before, after]) {
        return Proof::Undecided { reasons: vec![*reason(1, functions[1], message.to_string())] };
    }
    let has_own_metadata = || metadata::differs([before, after]) && metadata::is_used(functions[0]);
    if isomorphic::alike(functions)
        && !has_own_metadata()
        && let Some(under) = under_symbols([before, after], functions[0])
    {
        return Proof::Equal { under };
    }
    match attempt([before, after], functions, options) {
        Ok(under) => Proof::Equal { under },
        Err(reason) => Proof::Undecided { reasons: vec![*reason] },
    }
}

/// Returns why two modules are not compiled for one target that is known.
pub(crate) fn targets_differ(modules: [&Body; 2]) -> Option<&'static str> {
    let differ = |names: &[&str]| {
        let [a, b] = modules.map(|module| {
            let attrs = names.iter().map(|name| module.root_ref().attr(name));
            attrs.collect::<Vec<_>>()
        });
        a != b
    };
    match (differ(&["llvm.data_layout", "dlti.dl_spec"]), differ(&["llvm.target_triple"])) {
        (true, _) => Some("the modules lay out types differently"),
        (_, true) => Some("the modules are for different targets"),
        _ if !DataLayout::of(modules[0].root_ref()).is_known() => {
            Some("the layout of types is not known, or 'index' has not 64 bits")
        }
        _ => None,
    }
}

pub(crate) fn reason(side: usize, op: OpRef<'_>, message: String) -> Box<Reason> {
    let program = if side == 0 { Which::Before } else { Which::After };
    Box::new(Reason { program, loc: op.loc(), op: op.name().to_string(), message, other: None })
}

/// The relation of what a name stands for in both programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    Same,
    /// Functions with bodies: the same if these are.
    Function,
    Different,
}

/// Returns what is to be assumed of functions that two functions written alike name; `None` if a
/// name stands for different things.
fn under_symbols(modules: [&Body; 2], function: OpRef<'_>) -> Option<Vec<Assumption>> {
    let ctx = function.ctx();
    let body = function.body();
    let mut under = Vec::new();
    for op in body.all_ops().filter(|op| *op != body.root()) {
        for (_, attr) in body.properties(op).entries(ctx) {
            let AttrKind::Symbol { root, .. } = attr.kind(ctx) else { continue };
            match symbol(modules, *root) {
                Symbol::Same => {}
                Symbol::Function => under = vec![Assumption::EqualCallees],
                Symbol::Different => return None,
            }
        }
    }
    Some(under)
}

pub(crate) fn symbol(modules: [&Body; 2], name: Name) -> Symbol {
    let ctx = modules[0].ctx();
    let [a, b] = modules.map(|module| symbols::lookup(module, ctx.str(name)).map(|op| module.op_ref(op)));
    let is_alike = |a: OpRef<'_>, b: OpRef<'_>| {
        let promises = |own: OpRef<'_>| own.attributes().without(ctx, "llvm.as_read");
        a.properties() == b.properties() && promises(a) == promises(b)
    };
    match (a, b) {
        (None, None) => Symbol::Same,
        (Some(a), Some(b)) if a.name() == b.name() && is_alike(a, b) => {
            let has_body = |op: OpRef<'_>| op.regions().any(|region| op.body().entry_block(region).is_some());
            if has_body(a) || has_body(b) { Symbol::Function } else { Symbol::Same }
        }
        _ => Symbol::Different,
    }
}

/// Returns what two functions take, give or promise differently.
pub(crate) fn signatures_differ(functions: [OpRef<'_>; 2]) -> Option<&'static str> {
    let differ = |name: &str| functions[0].attr(name) != functions[1].attr(name);
    if differ("function_type") {
        return Some("the types of the functions differ");
    }
    let [a, b] = functions.map(|function| function.name() == "llvm.func");
    let is_unlike = match (a, b) {
        (true, true) => read::promises(functions[0]) != read::promises(functions[1]),
        (a, _) => a,
    };
    if is_unlike || functions[1].name() == "func.func" && read::new_promises(functions) {
        return Some("the attributes of the functions differ");
    }
    ["arg_attrs", "res_attrs"]
        .into_iter()
        .any(differ)
        .then_some("the attributes of arguments or results differ")
}

fn attempt(
    modules: [&Body; 2],
    functions: [OpRef<'_>; 2],
    options: &ProofOptions,
) -> Result<Vec<Assumption>, Box<Reason>> {
    let whole = |side: usize, message: &str| reason(side, functions[side], message.to_string());
    if let Some(message) = signatures_differ(functions) {
        return Err(whole(1, message));
    }
    let mut solver = Solver::new(options.questions, options.steps);
    let mut params = Params::default();
    let (programs, may_overlap) = read_both(modules, functions, options, &mut params, &mut solver)?;
    let programs = [&programs[0], &programs[1]];
    let overlap = Overlap::new(programs[1], &params);
    let mut last = whole(0, OUT_OF_REACH);
    let Ok(known) = params.known(&mut solver) else { return Err(last) };
    // What widening makes too large may hold for less.
    for widening in Widening::ALL {
        let mut matcher = Matcher::new(programs, &known, &overlap, &mut solver, widening);
        let goals = goals(&programs, &known).map_err(|message| whole(1, message))?;
        match matcher.show(goals) {
            Ok(()) => {}
            Err(Stuck::OutOfReach) if matcher.solver.is_exhausted() => break,
            // One question was too hard; another way asks others.
            Err(Stuck::OutOfReach) => {
                last = whole(0, OUT_OF_REACH);
                continue;
            }
            Err(Stuck::Mismatch(mismatch)) => {
                last = described(mismatch);
                continue;
            }
        }
        let unmet = match obligations::unmet(&mut matcher) {
            Ok(None) if may_overlap && !options.distinct => obligations::misplaced(&mut matcher, &overlap),
            other => other,
        };
        match unmet {
            Ok(None) => {}
            Ok(Some(unmet)) => return Err(reason(unmet.side, unmet.op, unmet.message)),
            Err(OutOfReach) => break,
        }
        let relies = [may_overlap && options.distinct, matcher.rounds_otherwise, poison::matters(functions)];
        return Ok(assumed(programs, relies));
    }
    Err(last)
}

/// Reads both functions; tells whether buffers among their arguments may overlap.
fn read_both<'b>(
    modules: [&'b Body; 2],
    functions: [OpRef<'b>; 2],
    options: &ProofOptions,
    params: &mut Params,
    solver: &mut Solver,
) -> Result<([Program<'b>; 2], bool), Box<Reason>> {
    let whole = |side: usize, message: &str| reason(side, functions[side], message.to_string());
    let mut read = |side: usize| {
        read::read(modules[side], functions[side], params, solver, side == 0, options.distinct)
            .map_err(|refusal| reason(side, refusal.op, refusal.message))
    };
    let mut programs = [read(0)?, read(1)?];
    for object in programs.iter().flat_map(|program| &program.objects) {
        if let ObjectKey::Global(name) = object.key
            && symbol(modules, name) != Symbol::Same
        {
            return Err(whole(1, "a global is not the same in both programs"));
        }
    }
    if let Some(message) = read_differently(&programs) {
        return Err(whole(1, message));
    }
    if !linear::number_elements(&mut programs) {
        return Err(whole(0, "a buffer has too many elements to number them"));
    }
    programs.iter_mut().for_each(|program| program.finish(params));
    let may_overlap = alias::mark(&mut programs);
    if options.distinct {
        programs.iter_mut().flat_map(|program| &mut program.objects).for_each(|own| own.is_ordered = false);
    }
    Ok((programs, may_overlap))
}

/// Returns the assumptions of a proof that was found. Three are known: distinct arguments, other
/// rounding, and defined arguments.
fn assumed(programs: [&Program<'_>; 2], [distinct, rounds_otherwise, defined]: [bool; 3]) -> Vec<Assumption> {
    let ctx = programs[0].body.ctx();
    let any = |holds: fn(&Program<'_>) -> bool| programs.iter().any(|program| holds(program));
    let mut objects = programs.iter().flat_map(|program| &program.objects);
    let all = [
        (distinct, Assumption::DistinctArguments),
        (defined, Assumption::DefinedArguments),
        (any(|program| program.assumed_exact.is_some()), Assumption::IndexArithmetic),
        (any(|program| program.assumed_bounds), Assumption::UnsignedBounds),
        (any(|program| program.assumed_subscripts), Assumption::SubscriptArithmetic),
        (objects.any(|object| read::has_unknown_strides(ctx, object.ty)), Assumption::OwnElements),
        (rounds_otherwise, Assumption::Reassociation),
    ];
    all.into_iter().filter(|(is_made, _)| *is_made).map(|(_, assumption)| assumption).collect()
}

/// Returns why elements of a buffer cannot be compared by their numbers.
fn read_differently(programs: &[Program<'_>; 2]) -> Option<&'static str> {
    let ctx = programs[0].body.ctx();
    let is_row = |ty: loomir_ir::Type| ty.shape(ctx).is_none();
    for own in programs[0].objects.iter().filter(|own| own.is_visible()) {
        let Some(other) = programs[1].object(own.key).map(|other| &programs[1].objects[other]) else {
            continue;
        };
        let is_used = |ty: loomir_ir::Type| !loomir_dialects::llvm::types::is_pointer(ctx, ty);
        let is_compared = is_used(own.ty) && is_used(other.ty) && (is_row(own.ty) || is_row(other.ty));
        if is_compared && own.ty != other.ty {
            return Some("a pointer is accessed with elements of different types");
        }
    }
    None
}

/// Returns the goals: results and buffers that others see are the same at the end.
fn goals(programs: &[&Program<'_>; 2], known: &[Conjunction]) -> Result<Vec<Goal>, &'static str> {
    // What the outermost scopes say of parameters.
    let roots = sets::intersect(&programs[0].domains[0], &programs[1].domains[0]);
    let roots = sets::intersect(&roots, known);
    let params = known.first().map_or(0, Conjunction::visible);
    let mut goals = Vec::new();
    let mut buffers: Vec<[usize; 2]> = Vec::new();
    for (a, b) in programs[0].outputs.iter().zip(&programs[1].outputs) {
        match (a, b) {
            (Output::Value(x), Output::Value(y)) => {
                goals.push(Goal { terms: [*x, *y], pairs: roots.clone() });
            }
            (Output::Buffer(x), Output::Buffer(y)) => buffers.push([*x, *y]),
            _ => return Err("the results of the functions differ"),
        }
    }
    for [x, y] in &buffers {
        let keys = [programs[0].objects[*x].key, programs[1].objects[*y].key];
        let is_new = |key: &ObjectKey| matches!(key, ObjectKey::Allocation(_));
        if keys[0] != keys[1] && !keys.iter().all(is_new) {
            return Err("different buffers are returned");
        }
        // A buffer returned twice is one buffer in both programs.
        let clashes = buffers.iter().any(|[u, v]| (u == x) != (v == y));
        if clashes || programs[0].objects[*x].sizes != programs[1].objects[*y].sizes {
            return Err("different buffers are returned");
        }
    }
    for side in [0, 1] {
        for (object, _) in &programs[side].finals {
            let own = &programs[side].objects[*object];
            let other = programs[1 - side].object(own.key);
            if !matches!(own.key, ObjectKey::Allocation(_)) {
                match other {
                    Some(other) if side == 0 => buffers.push([*object, other]),
                    None if !own.stores.is_empty() => {
                        return Err("a buffer is written by one of the functions only");
                    }
                    _ => {}
                }
            }
        }
    }
    for [x, y] in buffers {
        if programs[0].objects[x].stores.is_empty() && programs[1].objects[y].stores.is_empty() {
            continue;
        }
        let find = |program: &Program<'_>, object: usize| {
            program.finals.iter().find(|(own, _)| *own == object).map(|(_, term)| *term)
        };
        let (Some(a), Some(b)) = (find(programs[0], x), find(programs[1], y)) else {
            return Err("a buffer is seen in one of the functions only");
        };
        let pairs = same_elements(programs, [a, b], params);
        let vars = pairs.first().map_or(params, Conjunction::visible);
        let roots: Pieces = roots.iter().map(|set| sets::moved(set, vars, |v| v)).collect();
        goals.push(Goal { terms: [a, b], pairs: sets::intersect(&pairs, &roots) });
    }
    Ok(goals)
}

/// Returns the pairs of equal elements of two buffers.
fn same_elements(programs: &[&Program<'_>; 2], terms: [usize; 2], params: usize) -> Pieces {
    let rank = programs[0].depth(terms[0]);
    let pair = |set: &Conjunction| {
        let mut pair = sets::moved(set, params + 2 * rank, |v| v);
        (0..rank).for_each(|k| pair.add_eq(var(params + k), var(params + rank + k)));
        pair
    };
    programs[0].domains[programs[0].terms[terms[0]].scope].iter().map(pair).collect()
}

fn described(mismatch: Mismatch<'_>) -> Box<Reason> {
    let mut message = mismatch.message;
    if let Some([x, y]) = mismatch.instance {
        let list = |values: Vec<i64>| values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        message.push_str(&format!(", in iteration ({}) before and ({}) after", list(x), list(y)));
    }
    let mut reason = reason(1, mismatch.ops[1], message);
    reason.other = Some(mismatch.ops[0].loc());
    reason
}
