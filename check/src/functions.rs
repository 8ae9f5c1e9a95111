//! Two modules, function by function: which functions are equal, different, or not decided.
//!
//! Functions are matched by name. Four stages answer, each only what those before it left open:
//!
//! 1. *Text*: the two functions and all that they refer to are printed alike, so they are equal.
//! 2. *A few executions* ([`execution`]): most wrong programs differ on one of the first inputs.
//!    That costs less than a proof which fails.
//! 3. *Proof*: a [`Prover`] shows that they compute the same. It takes calls of equal names for
//!    equal, so its proof counts only if what is called is equal too.
//! 4. *Execution* on all inputs: one on which they differ, or none found.

use hashbrown::{HashMap, HashSet};
use loomir_dialects::interfaces::FunctionLike;
use loomir_dialects::interp::signature as signature_of;
use loomir_ir::attributes::AttrKind;
use loomir_ir::symbols::{lookup, symbol_name};
use loomir_ir::text::{PrintOptions, type_to_string};
use loomir_ir::{Attr, Body, Context, Loc, Name, Op, OpRef, Trait, Type, TypeKind};

use crate::execution::parameters::{self, Parameter};
use crate::execution::{self, Compared, Counterexample, Options, Side, Tried};
use crate::{proof, simulation, symbolic};

/// A proof that two functions compute the same, or what was missing for one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// They compute the same under these assumptions.
    Equal(Vec<String>),
    /// Nothing was proved, for these reasons.
    Undecided(Vec<String>),
}

/// Proves two functions equal, given the modules around them.
pub type Prover<'p> = &'p dyn Fn(&Body, Op, &Body, Op) -> Proof;

/// Returns the prover of this crate ([`crate::proof`]). Arguments are `distinct` if that is said.
pub fn prover(distinct: bool) -> impl Fn(&Body, Op, &Body, Op) -> Proof {
    prover_within(proof::ProofOptions { distinct, ..Default::default() })
}

/// Returns the prover of this crate with limits on its work.
pub fn prover_within(options: proof::ProofOptions) -> impl Fn(&Body, Op, &Body, Op) -> Proof {
    move |before, one, after, other| {
        let mut proof = proof::prove(before, one, after, other, &options);
        if let proof::Proof::Undecided { reasons } = &mut proof {
            match symbolic::prove(before, one, after, other, &options) {
                proof::Proof::Undecided { reasons: more } => reasons.extend(more),
                equal => proof = equal,
            }
        }
        if let proof::Proof::Undecided { reasons } = &mut proof
            && simulation::is_graph(before, one)
        {
            match simulation::prove(before, one, after, other) {
                proof::Proof::Undecided { reasons: more } => reasons.extend(more),
                equal => proof = equal,
            }
        }
        match proof {
            proof::Proof::Equal { under } => {
                // That callees are equal is settled once all functions are compared.
                let open = under.into_iter().filter(|own| *own != proof::Assumption::EqualCallees);
                Proof::Equal(open.map(|assumption| assumption.message().into()).collect())
            }
            proof::Proof::Undecided { reasons } => {
                Proof::Undecided(reasons.iter().map(|reason| in_words(reason, before.ctx())).collect())
            }
        }
    }
}

/// Says in a line what kept a proof from being found, and where.
fn in_words(reason: &proof::Reason, ctx: &Context) -> String {
    let program = match reason.program {
        proof::Which::Before => "first",
        proof::Which::After => "second",
    };
    let place = |loc: Loc| loc.file_line_col(ctx).map(|(_, line, column)| format!(" at {line}:{column}"));
    let other = reason.other.and_then(place).map(|place| format!("; see also the other program{place}"));
    format!(
        "{}, at '{}'{} of the {program} program{}",
        reason.message,
        reason.op,
        place(reason.loc).unwrap_or_default(),
        other.unwrap_or_default()
    )
}

/// A function of both modules, or of one.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its place in the first module, or in the second if only that has it.
    pub loc: Loc,
    /// The answer.
    pub verdict: Verdict,
}

/// The answer about one function.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// Both functions have one text, and so has all that they refer to.
    Identical,
    /// A proof says that they compute the same, under these assumptions.
    Proved(Vec<String>),
    /// They differ.
    Different(Box<Counterexample>),
    /// Nothing is certain: the reasons, and what execution tried.
    Undecided(Vec<String>, Tried),
    /// The two cannot be compared.
    Unfit(Unfit),
}

/// Why two functions cannot be compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// The reason.
    pub reason: String,
    /// More about it, with places in either program.
    pub notes: Vec<(Loc, String)>,
    /// A way out.
    pub help: &'static str,
}

/// The two modules as they were, where one of them was lowered so that both are of one level.
///
/// The programs are executed as they were, so a fault of the lowering is found too.
#[derive(Clone, Copy, Debug)]
pub struct Originals<'o> {
    /// The first module.
    pub before: &'o Body,
    /// The second module.
    pub after: &'o Body,
    /// True if it is the second module that was lowered.
    pub after_is_lowered: bool,
}

/// The inputs that are tried before a proof.
const FIRST_INPUTS: usize = 16;
/// The most steps of the runs before a proof, together.
const FIRST_STEPS: u64 = 400_000;

/// The assumption of an answer that rests on the lowering of a program.
const LOWERING: &str = "Loomir's lowering to LLVM's dialect is right";

/// Compares two verified modules of one context function by function, in the order of the first.
///
/// If `only` is given, this function is compared, and what it refers to. `originals` are the
/// modules before one of them was lowered.
pub fn check(
    before: &Body,
    after: &Body,
    only: Option<&str>,
    originals: Option<Originals<'_>>,
    options: &Options,
    prover: Option<Prover<'_>>,
) -> Vec<Function> {
    let (mut one, other) = (Module::of(before), Module::of(after));
    one.compare_texts(&other);
    let all = |_: &str| true;
    let own: Vec<&str> =
        one.symbols.iter().filter(|own| !own.has_twin).map(|own| own.name.as_str()).collect();
    let changed = one.users(own, &all);
    let check = Check { before: &one, after: &other, changed, originals, options, prover };
    let mut functions = Vec::new();
    // What a function refers to decides about it too.
    let mut asked = only.map_or_else(|| (0..one.symbols.len()).collect(), |only| one.reached(only));
    asked.sort_unstable();
    for symbol in asked.into_iter().map(|at| &one.symbols[at]).filter(|symbol| symbol.is_function) {
        let verdict = match other.get(&symbol.name) {
            Some(partner) => check.pair(symbol, partner),
            None if !symbol.has_body => continue,
            None if is_private(symbol.op) => continue,
            None => Verdict::Unfit(Unfit {
                reason: "the second program has no such function".into(),
                notes: Vec::new(),
                help: "name the functions to compare with '--function', or keep the name",
            }),
        };
        if symbol.has_body || other.defines(&symbol.name) {
            functions.push(Function { name: symbol.name.clone(), loc: symbol.op.loc(), verdict });
        }
    }
    check.settle_calls(&mut functions);
    functions.retain(|own| only.is_none_or(|only| own.name == only));
    functions.extend(nested(before, after).filter(|_| only.is_none()));
    functions
}

/// Returns an answer about the modules inside two modules, unless they are equal. Their functions
/// are not compared one by one.
fn nested(before: &Body, after: &Body) -> impl Iterator<Item = Function> + use<> {
    let texts = |body: &Body| -> Vec<(Loc, String)> {
        let top = body.own_regions(body.root()).flat_map(|region| body.blocks(region));
        let inside = top.flat_map(|block| body.ops(block)).filter_map(|op| body.nested(op));
        let modules = inside.map(Body::root_ref).filter(|op| op.info().has_trait(Trait::SymbolTable));
        modules.map(|op| (op.loc(), text(op))).collect()
    };
    let (one, other) = (texts(before), texts(after));
    let is_alike = one.iter().map(|(_, text)| text).eq(other.iter().map(|(_, text)| text));
    let place = one.first().or(other.first()).map(|(loc, _)| *loc).filter(|_| !is_alike);
    let reason = "modules inside modules are compared as texts, and the texts differ";
    let function = move |loc| Function {
        name: "(modules inside)".into(),
        loc,
        verdict: Verdict::Undecided(vec![reason.into()], Tried::default()),
    };
    place.map(function).into_iter()
}

/// Attributes of a module that say how large types are, and for which target it is.
const LAYOUTS: [&str; 3] = ["llvm.data_layout", "dlti.dl_spec", "llvm.target_triple"];

/// A symbol of a module.
struct Symbol<'m> {
    name: String,
    op: OpRef<'m>,
    /// The operation in the module's own body.
    own: Op,
    is_function: bool,
    has_body: bool,
    /// The symbols of the module that it refers to.
    refers: Vec<usize>,
    /// True if the other module has a symbol of this name and of the same text.
    has_twin: bool,
}

struct Module<'m> {
    body: &'m Body,
    symbols: Vec<Symbol<'m>>,
    by_name: HashMap<String, usize>,
}

impl<'m> Module<'m> {
    fn of(body: &'m Body) -> Module<'m> {
        let ctx = body.ctx();
        let top = body.own_regions(body.root()).flat_map(|region| body.blocks(region));
        let mut symbols = Vec::new();
        let mut by_name = HashMap::new();
        for own in top.flat_map(|block| body.ops(block)) {
            let Some(name) = symbol_name(body, own).map(|name| ctx.str(name).to_owned()) else { continue };
            let op = body.nested(own).map_or_else(|| body.op_ref(own), Body::root_ref);
            let is_function = op.info().interface::<dyn FunctionLike>().is_some();
            let has_body = op.regions().any(|region| op.body().entry_block(region).is_some());
            by_name.entry(name.clone()).or_insert(symbols.len());
            symbols.push(Symbol {
                name,
                op,
                own,
                is_function,
                has_body,
                refers: Vec::new(),
                has_twin: false,
            });
        }
        for symbol in &mut symbols {
            let mut named = HashSet::new();
            references(symbol.op, &mut named);
            let mut refers: Vec<usize> =
                named.iter().filter_map(|name| by_name.get(ctx.str(*name)).copied()).collect();
            refers.sort_unstable();
            symbol.refers = refers;
        }
        Module { body, symbols, by_name }
    }

    fn get(&self, name: &str) -> Option<&Symbol<'m>> {
        self.by_name.get(name).map(|index| &self.symbols[*index])
    }

    fn defines(&self, name: &str) -> bool {
        self.get(name).is_some_and(|symbol| symbol.has_body)
    }

    /// Returns the sizes of types that the module states.
    fn layout(&self) -> Vec<Option<String>> {
        let root = self.body.root_ref();
        let text = |attr| loomir_ir::text::attr_to_string(root.ctx(), attr);
        LAYOUTS.iter().map(|name| root.attr(name).map(text)).collect()
    }

    /// Finds the symbols that the other module has too, with the same text. Types have the same
    /// sizes in both.
    fn compare_texts(&mut self, other: &Module<'_>) {
        let has_layout = self.layout() == other.layout();
        let has_own_metadata = proof::metadata::differs([self.body, other.body]);
        for symbol in &mut self.symbols {
            let partner = other.get(&symbol.name).filter(|_| has_layout);
            symbol.has_twin = partner.is_some_and(|partner| {
                let own = text(symbol.op);
                own == text(partner.op) && !(has_own_metadata && proof::metadata::is_named_in(&own))
            });
        }
    }

    /// Returns these symbols, and those that refer to one of them, directly or not. Goes on only
    /// from those of which `passes` holds. Linear.
    fn users<'s>(&'s self, of: Vec<&'s str>, passes: &dyn Fn(&str) -> bool) -> HashSet<&'s str> {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); self.symbols.len()];
        for (index, symbol) in self.symbols.iter().enumerate() {
            symbol.refers.iter().for_each(|to| users[*to].push(index));
        }
        let mut found: HashSet<&str> = of.iter().copied().collect();
        let mut pending = of;
        while let Some(name) = pending.pop() {
            for user in self.by_name.get(name).into_iter().flat_map(|index| &users[*index]) {
                let user = self.symbols[*user].name.as_str();
                if passes(user) && found.insert(user) {
                    pending.push(user);
                }
            }
        }
        found
    }

    /// Returns a symbol and all that it refers to, directly or not.
    fn reached(&self, name: &str) -> Vec<usize> {
        let mut all: Vec<usize> = self.by_name.get(name).copied().into_iter().collect();
        let mut seen: HashSet<usize> = all.iter().copied().collect();
        let mut at = 0;
        while let Some(index) = all.get(at).copied() {
            all.extend(self.symbols[index].refers.iter().copied().filter(|to| seen.insert(*to)));
            at += 1;
        }
        all
    }
}

/// Returns the text of an operation, without places.
fn text(op: OpRef<'_>) -> String {
    let options = PrintOptions { local_scope: true, ..PrintOptions::default() };
    match op.op() == op.body().root() {
        true => loomir_ir::text::print(op.body(), &options),
        // A symbol without a body of its own is its attributes.
        false => {
            let ctx = op.ctx();
            let dicts = [op.properties(), op.attributes()];
            let entries = dicts.iter().flat_map(|dict| dict.entries(ctx));
            let entry = |(name, attr): &(Name, Attr)| {
                format!("{} = {}\n", ctx.str(*name), loomir_ir::text::attr_to_string(ctx, *attr))
            };
            let regions: String = op
                .regions()
                .flat_map(|region| op.body().blocks(region))
                .flat_map(|block| op.body().ops(block))
                .map(|inner| text(op.body().op_ref(inner)))
                .collect();
            format!("{}\n{}{regions}", op.name(), entries.map(entry).collect::<String>())
        }
    }
}

/// Collects the outermost names that the attributes of an operation and of all inside it refer to.
fn references(op: OpRef<'_>, names: &mut HashSet<Name>) {
    let ctx = op.ctx();
    let mut of = |op: OpRef<'_>| {
        let dicts = [op.properties(), op.attributes()];
        let mut pending: Vec<Attr> =
            dicts.iter().flat_map(|dict| dict.entries(ctx).iter().map(|(_, attr)| *attr)).collect();
        while let Some(attr) = pending.pop() {
            match attr.kind(ctx) {
                AttrKind::Symbol { root, .. } => {
                    names.insert(*root);
                }
                AttrKind::Array(all) => pending.extend(all.iter().copied()),
                AttrKind::Dictionary(dict) => pending.extend(dict.entries(ctx).iter().map(|(_, a)| *a)),
                _ => {}
            }
        }
    };
    if op.op() == op.body().root() {
        op.body().walk(&mut |body, inner| of(body.op_ref(inner)));
    } else {
        op.body().preorder(op.op()).for_each(|inner| of(op.body().op_ref(inner)));
    }
}

fn is_private(op: OpRef<'_>) -> bool {
    let ctx = op.ctx();
    let visibility = op.attr(loomir_ir::symbols::SYMBOL_VISIBILITY).and_then(|attr| attr.as_str(ctx));
    let linkage = op.attr("linkage").map(|attr| loomir_ir::text::attr_to_string(ctx, attr));
    visibility == Some("private")
        || linkage.is_some_and(|text| text.contains("internal") || text.contains("private"))
}

struct Check<'c, 'm> {
    before: &'c Module<'m>,
    after: &'c Module<'m>,
    /// The symbols whose texts differ, and those that refer to one of them, directly or not.
    changed: HashSet<&'c str>,
    originals: Option<Originals<'c>>,
    options: &'c Options,
    prover: Option<Prover<'c>>,
}

impl Check<'_, '_> {
    fn pair(&self, one: &Symbol<'_>, other: &Symbol<'_>) -> Verdict {
        let unfit = |reason: &str, [was, is]: [String; 2], help| {
            let notes = vec![(one.op.loc(), was), (other.op.loc(), is)];
            Verdict::Unfit(Unfit { reason: reason.into(), notes, help })
        };
        let types = [signature(one.op), signature(other.op)];
        if types[0] != types[1] {
            let [was, is] = types.map(|ty| format!("its type is {ty} here"));
            let help = "functions are compared only if they take and give the same types";
            return unfit("the types differ", [was, is], help);
        }
        if one.has_body != other.has_body {
            let said = |has_body| if has_body { "it is defined here" } else { "it is only declared here" };
            let notes = [said(one.has_body).into(), said(other.has_body).into()];
            let help = "compare two programs that both define it";
            return unfit("one of the two has no body", notes, help);
        }
        if !one.has_body {
            return Verdict::Identical;
        }
        if !self.changed.contains(one.name.as_str()) {
            return match self.originals {
                None => Verdict::Identical,
                Some(_) => match self.execute(one, Vec::new(), self.options) {
                    Verdict::Different(example) => Verdict::Different(example),
                    _ => Verdict::Proved(vec![LOWERING.into()]),
                },
            };
        }
        let Some(prove) = self.prover else { return self.execute(one, Vec::new(), self.options) };
        let first = Options {
            inputs: self.options.inputs.min(FIRST_INPUTS),
            total_steps: self.options.total_steps.min(FIRST_STEPS),
            ..*self.options
        };
        if let Verdict::Different(example) = self.execute(one, Vec::new(), &first) {
            return Verdict::Different(example);
        }
        match prove(self.before.body, one.own, self.after.body, other.own) {
            Proof::Equal(mut under) => {
                under.extend(self.originals.map(|_| LOWERING.into()));
                Verdict::Proved(under)
            }
            Proof::Undecided(missing) => self.execute(one, missing, self.options),
        }
    }

    /// Returns the parameters that inputs are made for: those of the program that was not lowered,
    /// for a memref says more than the pointers and numbers that it becomes.
    fn parameters(&self, one: &Symbol<'_>) -> Result<Vec<Parameter>, String> {
        let Some(originals) = self.originals else { return parameters::of(self.before.body, one.own) };
        let module = if originals.after_is_lowered { originals.after } else { originals.before };
        let op = lookup(module, &one.name).ok_or("the function is not there before it is lowered")?;
        let mut parameters = parameters::of(module, op)?;
        for parameter in &mut parameters {
            if let Parameter::Buffer(ty) = parameter {
                ty.typed = true;
            }
        }
        Ok(parameters)
    }

    /// Executes both functions on inputs, within bounds; says what else was missing if they agree.
    fn execute(&self, one: &Symbol<'_>, mut reasons: Vec<String>, options: &Options) -> Verdict {
        let parameters = self.parameters(one);
        let parameters = match parameters {
            Ok(parameters) => parameters,
            Err(reason) => {
                reasons.push(reason);
                return Verdict::Undecided(reasons, Tried::default());
            }
        };
        let ops = |module: &Module<'_>| -> Vec<Op> {
            module.reached(&one.name).iter().map(|index| module.symbols[*index].own).collect()
        };
        let (used, changed) = (ops(self.before), ops(self.after));
        let (before, after) = match self.originals {
            None => ((self.before.body, Some(&used[..])), (self.after.body, Some(&changed[..]))),
            Some(originals) => ((originals.before, None), (originals.after, None)),
        };
        let side = |(module, symbols)| Side { module, symbols, name: &one.name };
        let (before, after) = (side(before), side(after));
        if self.originals.is_some() && [before, after].iter().any(|own| returns_memref(own)) {
            reasons.push("a memref that is returned is not compared with what it is lowered to".into());
            return Verdict::Undecided(reasons, Tried::default());
        }
        let options = Options { of_two_levels: self.originals.is_some(), ..*options };
        let (compared, tried) = execution::compare(before, after, &parameters, &options);
        match compared {
            Compared::Different(counterexample) => return Verdict::Different(counterexample),
            Compared::Doubtful(reason) => reasons.push(format!("a difference was found, but {reason}")),
            Compared::Impossible(reason) => reasons.push(format!("execution stops: {reason}")),
            Compared::Alike if tried.executed == 0 => {
                reasons.push("no input that is defined was found".into())
            }
            Compared::Alike => {}
        }
        if reasons.is_empty() {
            reasons.push("no difference was found, and nothing was proved".into());
        }
        Verdict::Undecided(reasons, tried)
    }

    /// Takes back proofs about functions that refer to what is not equal, directly or not. They are
    /// executed instead.
    fn settle_calls(&self, functions: &mut [Function]) {
        let is_proved = |verdict: &Verdict| matches!(verdict, Verdict::Proved(_));
        let by_name: HashMap<String, bool> =
            functions.iter().map(|own| (own.name.clone(), is_proved(&own.verdict))).collect();
        let proved = |name: &str| by_name.get(name).copied().unwrap_or(false);
        let open = self.changed.iter().copied().filter(|name| !proved(name)).collect::<Vec<&str>>();
        // What is identical does not refer to anything that has changed.
        let users = self.before.users(open, &proved);
        for function in functions.iter_mut() {
            if is_proved(&function.verdict)
                && users.contains(function.name.as_str())
                && let Some(own) = self.before.get(&function.name)
            {
                let used = own.refers.iter().map(|index| self.before.symbols[*index].name.as_str());
                let bad = used.filter(|name| users.contains(name)).find(|name| *name != own.name);
                let reason = match bad {
                    Some(bad) => format!("it uses @{bad}, which is not known to be equal"),
                    None => "it uses what is not known to be equal".into(),
                };
                function.verdict = self.execute(own, vec![reason], self.options);
            }
        }
    }
}

/// True if a function returns a memref.
fn returns_memref(side: &Side<'_>) -> bool {
    let results = signature_of(side.module, side.name).map(|(_, results)| results);
    let is_memref = |ty: &Type| matches!(ty.kind(side.module.ctx()), TypeKind::MemRef { .. });
    results.is_some_and(|results| results.iter().any(is_memref))
}

/// Returns the text of a signature: `(index, memref<?xf32>) -> f32`.
fn signature(op: OpRef<'_>) -> String {
    let Some(model) = op.info().interface::<dyn FunctionLike>() else { return String::new() };
    let (parameters, results) = model.signature(op);
    let list = |types: &[loomir_ir::Type]| {
        let texts: Vec<String> = types.iter().map(|ty| type_to_string(op.ctx(), *ty)).collect();
        format!("({})", texts.join(", "))
    };
    format!("{} -> {}", list(&parameters), list(&results))
}
