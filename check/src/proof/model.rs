//! [`Program`]: a function as scopes, loops, terms and memory accesses, ready to be compared.
//!
//! A *scope* is a place in the loop nest with an iteration domain. Its variables are those of the
//! loops around, outermost first. A *term* is a value as a function of the variables of its scope.
//! An *access* reads or writes one element of an *object* in each iteration of its scope.
//!
//! **Order.** Instances run in the order of their loop variables; within one iteration in the order
//! of their numbers ([`Access::order`]). Two instances share a loop if they are in the same
//! iteration of all loops further out.

use hashbrown::{HashMap, HashSet};
use loomir_ir::{Attr, Body, Dict, Name, OpName, OpRef, Type};
use loomir_polyhedra::{Affine, Conjunction};

use super::form::{Atom, Cases, Condition, Constraint, Form};
use super::sets::{Asked, OutOfReach, Pieces, Solver, intersect, moved, var};

/// The most cases of what parameters are.
const MAX_FACTS: usize = 16;

pub(super) type TermId = usize;
pub(super) type ScopeId = usize;
pub(super) type LoopId = usize;
pub(super) type AccessId = usize;
pub(super) type ObjectId = usize;

/// A place in the loop nest.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    /// The loops around, outermost first.
    pub(super) loops: Vec<LoopId>,
    /// The iteration domain over the variables of these loops.
    pub(super) domain: Cases,
    /// Conditions that are not affine and have to have these values.
    pub(super) guards: Vec<(TermId, bool)>,
}

impl Scope {
    /// The number of loops around.
    pub(super) fn depth(&self) -> usize {
        self.loops.len()
    }
}

/// A counted loop of one variable.
#[derive(Debug)]
pub(super) struct Loop {
    /// The scope around the loop.
    pub(super) outside: ScopeId,
    /// The scope of its body.
    pub(super) inside: ScopeId,
    /// The first value is the greatest of these.
    pub(super) lowers: Vec<Form>,
    pub(super) step: i64,
    /// True if its iterations may run at once.
    pub(super) is_parallel: bool,
    /// The number that orders the loop among what is around it.
    pub(super) order: usize,
    /// Values of carried variables in the first iteration.
    pub(super) inits: Vec<TermId>,
    /// Their values in the next iteration.
    pub(super) yields: Vec<TermId>,
}

/// The kinds of values.
#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// An integer that is an affine form.
    Number(Form),
    /// A truth value that is a condition over forms.
    Truth(Condition),
    /// Any other constant.
    Constant(Attr),
    /// An argument of the function that is neither an integer nor a buffer.
    Argument(usize),
    /// The address of a buffer among the arguments.
    Address(usize),
    /// A result of an operation without effects.
    Operation { operands: Vec<TermId>, result: usize },
    /// The element that an access reads.
    Load(AccessId),
    /// The element of an access as the function found it.
    Initial(AccessId),
    /// A carried variable of a loop, in its body.
    Carried { around: LoopId, index: usize },
    /// A carried variable behind the loop.
    Exit { of: LoopId, index: usize },
    /// The element of a buffer that may overlap others, behind a store: what it was and what is
    /// stored.
    Stored { access: AccessId, old: TermId, value: TermId },
    /// All elements of an accessed buffer before the access.
    State(AccessId),
    /// All elements of an accessed buffer as the function found them.
    InitialState(AccessId),
    /// All elements of a buffer behind a store: as before, but for one.
    Update { access: AccessId, old: TermId, value: TermId },
    /// One of two values.
    Choice { condition: TermId, yes: TermId, no: TermId },
}

/// A value.
#[derive(Debug, Clone)]
pub(super) struct Term<'b> {
    pub(super) kind: Kind,
    pub(super) scope: ScopeId,
    pub(super) ty: Type,
    /// The operation that computes it; the function for its arguments.
    pub(super) op: OpRef<'b>,
}

/// A load or a store of one element in each iteration.
#[derive(Debug)]
pub(super) struct Access<'b> {
    pub(super) object: ObjectId,
    /// The element, preceded by the iteration that allocated the object; `None` if not affine.
    pub(super) element: Option<Vec<Form>>,
    /// The subscripts as values.
    pub(super) subscripts: Vec<TermId>,
    /// For each subscript the element at zero and the distance of one to the next.
    pub(super) axes: Vec<(Form, i64)>,
    /// The number of the element at subscripts zero, if elements are numbered in one row.
    pub(super) origin: Option<Form>,
    /// The extents of the view, where known.
    pub(super) extents: Vec<Option<Form>>,
    /// Indices that stay within an extent beside the element itself.
    pub(super) inside: Vec<(Form, Option<Form>)>,
    pub(super) scope: ScopeId,
    /// The place in the text of the program.
    pub(super) order: usize,
    /// The value that a store writes.
    pub(super) stored: Option<TermId>,
    /// The contents of the buffer before the access, if some access of it is not affine. The term
    /// of what the function found stands behind.
    pub(super) state: Option<TermId>,
    /// The contents behind a store.
    pub(super) update: Option<TermId>,
    /// True for loads that the program does not have: of elements before a store or at the end.
    pub(super) is_virtual: bool,
    /// The promises of the access, if it is through a pointer.
    pub(super) promise: Promise,
    pub(super) op: OpRef<'b>,
}

/// The identity of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ObjectKey {
    /// An argument of the function.
    Argument(usize),
    /// A global.
    Global(Name),
    /// An allocation, by its number in the function.
    Allocation(usize),
}

/// A buffer.
#[derive(Debug)]
pub(super) struct Object<'b> {
    pub(super) key: ObjectKey,
    pub(super) ty: Type,
    /// The number of loops around the allocation: each iteration has a buffer of its own.
    pub(super) depth: usize,
    /// The extents, where known.
    pub(super) sizes: Vec<Option<Form>>,
    /// True if the argument is marked to overlap no other.
    pub(super) is_alone: bool,
    /// The operation that allocates it, with its scope.
    pub(super) made: (OpRef<'b>, ScopeId),
    pub(super) stores: Vec<AccessId>,
    /// True if its elements are numbered in one row.
    pub(super) is_linear: bool,
    /// True if writes to another buffer may change this one, or the reverse.
    pub(super) is_ordered: bool,
}

impl Object<'_> {
    /// True if what the function leaves in the buffer is seen by its caller.
    pub(super) fn is_visible(&self) -> bool {
        !matches!(self.key, ObjectKey::Allocation(_))
    }
}

/// A result of the function.
#[derive(Debug, Clone, Copy)]
pub(super) enum Output {
    Value(TermId),
    Buffer(ObjectId),
}

/// The place where a buffer ends its life.
#[derive(Debug)]
pub(super) struct Free<'b> {
    pub(super) object: ObjectId,
    pub(super) scope: ScopeId,
    pub(super) order: usize,
    pub(super) op: OpRef<'b>,
}

/// A function.
#[derive(Debug)]
pub(super) struct Program<'b> {
    pub(super) body: &'b Body,
    pub(super) scopes: Vec<Scope>,
    pub(super) loops: Vec<Loop>,
    pub(super) terms: Vec<Term<'b>>,
    pub(super) accesses: Vec<Access<'b>>,
    pub(super) objects: Vec<Object<'b>>,
    pub(super) outputs: Vec<Output>,
    pub(super) frees: Vec<Free<'b>>,
    /// First results of operations that are undefined for some operands.
    pub(super) traps: Vec<TermId>,
    /// The elements that the function leaves in each buffer that others see.
    pub(super) finals: Vec<(ObjectId, TermId)>,
    /// The iteration domain of each scope, over the parameters and its variables.
    pub(super) domains: Vec<Pieces>,
    /// The operands and the result of the operations whose terms are parameters.
    pub(super) computed: HashMap<TermId, (Vec<TermId>, usize)>,
    /// The first operation whose index arithmetic is taken not to wrap.
    pub(super) assumed_exact: Option<OpRef<'b>>,
    /// True if subscripts of 64 bits are taken not to wrap.
    pub(super) assumed_subscripts: bool,
    /// True if bounds compared as unsigned are taken to be less than 2^63.
    pub(super) assumed_bounds: bool,
    /// Choices of the other program whose conditions may be poison. They equal choices of the
    /// original alone, of the same condition.
    pub(super) strict: HashSet<TermId>,
    /// Branches on conditions that are not affine, each with the scope in which it runs.
    pub(super) branches: Vec<(TermId, ScopeId)>,
}

impl Program<'_> {
    /// Returns the number of loop variables of a term.
    pub(super) fn depth(&self, term: TermId) -> usize {
        self.scopes[self.terms[term].scope].depth()
    }

    /// Returns the object of a key.
    pub(super) fn object(&self, key: ObjectKey) -> Option<ObjectId> {
        self.objects.iter().position(|object| object.key == key)
    }

    /// Makes the iteration domains, when all parameters are known, and the contents of buffers.
    pub(super) fn finish(&mut self, params: &Params) {
        self.add_states();
        let definitions = vec![params.quotients.iter().flat_map(|own| own.definition.clone()).collect()];
        let defined = cases_over(&definitions, params.len(), 0);
        let domain = |scope: &Scope| {
            let vars = params.len() + scope.depth();
            let defined: Pieces = defined.iter().map(|set| moved(set, vars, |v| v)).collect();
            let domain = cases_over(&scope.domain, params.len(), scope.depth());
            if params.quotients.is_empty() { domain } else { intersect(&domain, &defined) }
        };
        self.domains = self.scopes.iter().map(domain).collect();
    }

    /// Adds the contents of buffers that are written and have an access which is not affine.
    fn add_states(&mut self) {
        let mut has_states = vec![false; self.objects.len()];
        for access in self.accesses.iter().filter(|access| access.element.is_none()) {
            has_states[access.object] = !self.objects[access.object].stores.is_empty();
        }
        for id in 0..self.accesses.len() {
            let access = &self.accesses[id];
            if !has_states[access.object] {
                continue;
            }
            let (scope, op, stored) = (access.scope, access.op, access.stored);
            let ty = self.objects[access.object].ty;
            let mut add = |kind: Kind| {
                self.terms.push(Term { kind, scope, ty, op });
                self.terms.len() - 1
            };
            let old = add(Kind::State(id));
            add(Kind::InitialState(id));
            let update = stored.map(|value| add(Kind::Update { access: id, old, value }));
            self.accesses[id].state = Some(old);
            self.accesses[id].update = update;
        }
    }
}

/// Returns the points at which some case holds.
fn cases_over(cases: &Cases, params: usize, dims: usize) -> Pieces {
    let one = |case: &Vec<Constraint>| {
        let mut set = Conjunction::new(params + dims);
        case.iter().for_each(|constraint| constraint.add_to(&mut set, params));
        set.simplified()
    };
    cases.iter().filter_map(one).collect()
}

/// An operand of the computation of a parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Invariant {
    Number(Form, Type),
    Truth(Condition),
    Constant(Attr),
    Argument(usize),
    Address(usize),
}

/// The computation of a parameter.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum ParamKey {
    /// An integer argument of the function.
    Argument(usize),
    /// The extent of a dimension of a buffer among the arguments.
    Size(usize, usize),
    /// The least (if true) or greatest of some numbers.
    Extreme(bool, Vec<Form>),
    /// The product of two parameters, as integers that do not wrap.
    Product(u32, u32),
    /// The quotient of a number and a positive one, rounded down.
    Quotient(Form, i64),
    /// The result of an operation without effects.
    Computed { name: OpName, properties: Dict, operands: Vec<Invariant>, result: usize, ty: Type },
}

/// The promises of an access through a pointer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Promise {
    /// The address is a multiple of this.
    pub(super) alignment: u64,
    /// Texts that say with what the access does not overlap, and the like.
    pub(super) attributes: Vec<String>,
    /// True if a text is about this program alone, such as a scope of its own.
    pub(super) is_private: bool,
    /// True if a text is about the value that a load yields.
    pub(super) is_of_value: bool,
    /// True if the address may leave the object on the way.
    pub(super) is_plain: bool,
    /// True if the address is promised not to leave the object.
    pub(super) is_inside: bool,
}

impl Promise {
    /// True if nothing is promised that another access does not promise.
    pub(super) fn follows_from(&self, other: &Promise) -> bool {
        let is_said = self.attributes.is_empty() || !self.is_private && self.attributes == other.attributes;
        self.alignment <= other.alignment && is_said && !(self.is_inside && other.is_plain)
    }
}

/// Offsets, strides and extents of a view.
pub(super) type Shown = (Vec<(Form, i64)>, Vec<Option<Form>>);

/// A parameter that is the quotient of a number and a positive one, rounded down. Quotients in the
/// number are parameters with smaller numbers.
#[derive(Debug)]
pub(super) struct Quotient {
    param: u32,
    form: Form,
    /// The remainder is at least zero, and less than the divisor.
    definition: [Constraint; 2],
}

/// The parameters of two functions: equal computations are one parameter.
///
/// **Invariant.** Both functions are read with one table, so a number means the same in both.
#[derive(Debug, Default)]
pub(super) struct Params {
    known: HashMap<ParamKey, u32>,
    /// Computations of the original with flags, by what they are without.
    without_flags: HashMap<ParamKey, u32>,
    /// Least and greatest value of each.
    ranges: Vec<(i128, i128)>,
    /// Parts of buffers that the original shows whenever it runs, each with what it is a part of.
    pub(super) parts: Vec<(ObjectKey, [Shown; 2])>,
    /// Extents of buffers that the original copies whenever it runs.
    pub(super) copies: Vec<[Vec<Option<Form>>; 2]>,
    /// The parameters that are quotients, in the order of their numbers.
    pub(super) quotients: Vec<Quotient>,
    /// The values of parameters computed in loops, where the loops run. Elsewhere any value will
    /// do, so goals may rely on this everywhere. Ranges of types are no part of it.
    pub(super) facts: Vec<Cases>,
    /// True if the original freezes what may be poison.
    pub(super) freezes: bool,
    /// Parameters that are not poison wherever the original is defined.
    pub(super) certain: HashSet<u32>,
    /// Constraints on parameters that hold wherever the original is defined.
    pub(super) promised: Vec<Constraint>,
    /// The flags that some address of the original does not have whose subscript is not affine.
    pub(super) wraps_addresses: u64,
}

impl Params {
    pub(super) fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Returns the points at which the facts hold, of not too many cases.
    pub(super) fn known(&self, solver: &mut Solver) -> Asked<Pieces> {
        let mut sizes = Conjunction::new(self.len());
        for (key, param) in self.all() {
            if matches!(key, ParamKey::Size(..)) {
                self.bound(&mut sizes, param);
            }
        }
        let mut known = vec![sizes];
        let definitions = self.quotients.iter().map(|own| vec![own.definition.to_vec()]);
        for fact in definitions.chain(self.facts.iter().cloned()) {
            let fact = cases_over(&fact, self.len(), 0);
            let more = solver.pruned(intersect(&known, &fact))?;
            if more.is_empty() {
                return Err(OutOfReach);
            }
            if more.len() <= MAX_FACTS {
                known = more;
            }
        }
        Ok(known)
    }

    /// Returns all parameters by what computes them.
    pub(super) fn all(&self) -> impl Iterator<Item = (&ParamKey, u32)> {
        let mut all: Vec<_> = self.known.iter().map(|(key, number)| (key, *number)).collect();
        all.sort_by_key(|(_, number)| *number);
        all.into_iter()
    }

    /// True if a parameter was read before.
    pub(super) fn knows(&self, key: &ParamKey) -> bool {
        self.known.contains_key(key)
    }

    /// Returns the number of a parameter with its range.
    pub(super) fn number(&mut self, key: ParamKey, range: (i128, i128)) -> u32 {
        let next = self.ranges.len() as u32;
        *self.known.entry(key).or_insert_with(|| {
            self.ranges.push(range);
            next
        })
    }

    /// Says that a computation without flags is a parameter that the original computes with flags.
    pub(super) fn drop_flags(&mut self, key: ParamKey, param: u32) {
        self.without_flags.entry(key).or_insert(param);
    }

    /// Returns the parameter that the original computes with flags, if it computes none without.
    pub(super) fn flagged(&self, key: &ParamKey) -> Option<u32> {
        self.without_flags.get(key).copied().filter(|_| !self.knows(key))
    }

    /// Returns the number of the product of two parameters.
    pub(super) fn product(&mut self, a: u32, b: u32) -> Option<u32> {
        let ((a0, a1), (b0, b1)) = (self.ranges[a as usize], self.ranges[b as usize]);
        let mut ends = Vec::new();
        for (x, y) in [(a0, b0), (a0, b1), (a1, b0), (a1, b1)] {
            ends.push(x.checked_mul(y)?);
        }
        let range = (*ends.iter().min()?, *ends.iter().max()?);
        Some(self.number(ParamKey::Product(a.min(b), a.max(b)), range))
    }

    /// Returns a quotient by a positive number as a parameter. `None` if a number overflows.
    pub(super) fn quotient(&mut self, form: &Form, divisor: i64) -> Option<Form> {
        let mut range = (i128::from(form.constant), i128::from(form.constant));
        for (atom, factor) in form.terms() {
            let Atom::Param(param) = atom else { return None };
            let (least, greatest) = self.ranges[*param as usize];
            let ends = [least, greatest].map(|end| end.checked_mul(i128::from(*factor)));
            let [Some(x), Some(y)] = ends else { return None };
            range = (range.0.checked_add(x.min(y))?, range.1.checked_add(x.max(y))?);
        }
        let key = ParamKey::Quotient(form.clone(), divisor);
        if let Some(param) = self.known.get(&key) {
            return Some(Form::atom(Atom::Param(*param)));
        }
        let own = Form::atom(Atom::Param(self.len() as u32));
        let rest = form.minus(&own.times(divisor)?)?;
        let below = Form::constant(divisor - 1).minus(&rest)?;
        let range = (range.0.div_euclid(divisor.into()), range.1.div_euclid(divisor.into()));
        let param = self.number(key, range);
        let definition = [rest, below].map(Constraint::at_least_zero);
        self.quotients.push(Quotient { param, form: form.clone(), definition });
        Some(own)
    }

    /// Calls `visit` on each parameter that a form is computed from. A quotient is computed from
    /// those in it.
    pub(super) fn for_each_source(&self, form: &Form, visit: &mut dyn FnMut(u32)) {
        let mut params = Vec::new();
        form.for_each_param(&mut |param| params.push(param));
        for param in params {
            match self.quotients.binary_search_by_key(&param, |own| own.param) {
                Ok(index) => self.for_each_source(&self.quotients[index].form, visit),
                Err(_) => visit(param),
            }
        }
    }

    /// Returns the constraints that define the quotients among some parameters. Adds the parameters
    /// in them.
    pub(super) fn definitions(&self, params: &mut Vec<u32>) -> Vec<Constraint> {
        let mut all = Vec::new();
        for quotient in self.quotients.iter().rev() {
            if params.contains(&quotient.param) {
                for constraint in &quotient.definition {
                    constraint.form.for_each_param(&mut |param| params.push(param));
                }
                all.extend(quotient.definition.iter().cloned());
            }
        }
        all
    }

    /// Adds the range of a parameter to a set.
    pub(super) fn bound(&self, set: &mut Conjunction, param: u32) {
        let (least, greatest) = self.ranges[param as usize];
        set.add_ge(var(param as usize), Affine::constant(least));
        set.add_le(var(param as usize), Affine::constant(greatest));
    }
}
