//! The effects of one function.

use std::sync::Arc;

use hashbrown::HashMap;
use loomir_ir::{Body, Diagnostic, Loc, Name, Value};

use crate::access::base::{Base, Bases};
use crate::access::class::{Class, Domain};
use crate::access::structure::MAX_DEPTH;
use crate::affine::{AffineForm, Atom, Forms};

/// The maximal number of classes of a function. A function with more touches whole objects, and at
/// most this many objects.
pub const MAX_CLASSES: usize = 64;
/// The maximal number of constraints on the iterations of a class.
const MAX_CONSTRAINTS: usize = 32;

/// The effects of a function. See the [module](super).
#[derive(Clone, Debug)]
pub struct Summary {
    /// The places of its arguments, as forms name them.
    pub(in crate::access) arguments: Arguments,
    /// The accessed elements, if the function always returns.
    pub(in crate::access) touched: Result<Vec<Touched>, Reason>,
}

/// Maps each argument of a function to its position.
pub(in crate::access) type Arguments = HashMap<Value, usize>;

/// The reason why a function touches the world.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The function has no body.
    Declared,
    /// The linker may replace the function.
    Replaceable,
    /// Its body branches, so it may run forever.
    Branches,
    /// The function, or one of its callees, may be recursive, so it may run forever.
    Recursive,
    /// One of its operations touches the world, or any memory.
    Does(String, Loc),
    /// The function touches too many objects.
    TooMuch,
}

/// An access class in terms that the callers of a function know.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(in crate::access) struct Touched {
    object: Object,
    /// The sizes, as in a [`Class`].
    sizes: Vec<AffineForm>,
    /// The subscripts, as in a [`Class`], relative to the object itself.
    subscripts: Option<Vec<Option<AffineForm>>>,
    /// The unit, as in a [`Class`].
    unit: i64,
    writes: bool,
    /// The iteration domain. Its levels are the loops in the function.
    domain: Domain,
}

/// An object that is known to a function and to its callers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Object {
    /// The object that this argument refers to.
    Argument(usize),
    Global(Name),
    /// No memory: the call may be undefined.
    Exit,
}

/// A call.
pub struct Call<'c, 'b> {
    /// The body it is in.
    pub body: &'b Body,
    /// Its operands.
    pub operands: Vec<Value>,
    /// The forms there.
    pub forms: &'c mut Forms<'b>,
    /// The objects there.
    pub bases: &'c mut Bases<'b>,
    /// When it runs.
    pub domain: &'c Arc<Domain>,
}

impl Summary {
    /// Returns the summary of a function that touches the world.
    pub fn unknown(why: Reason) -> Summary {
        Summary { arguments: Arguments::new(), touched: Err(why) }
    }

    /// Returns the classes of a call of the function, in terms of the caller. `None`: the world.
    pub fn classes_at(&self, mut call: Call<'_, '_>) -> Option<Vec<Class>> {
        let touched = self.touched.as_ref().ok()?;
        let fits = call.operands.len() == self.arguments.len();
        fits.then(|| touched.iter().map(|own| own.at(&self.arguments, &mut call)).collect())
    }

    /// Adds to a remark on a call why the function touches the world.
    pub(super) fn explain(&self, call: Loc, name: &str, remark: Diagnostic) -> Diagnostic {
        let Err(why) = &self.touched else { return remark };
        match why {
            Reason::Declared => remark
                .note(call, format!("{name} has no body, so it may do anything"))
                .help(format!("define {name} in this module")),
            Reason::Replaceable => {
                remark.note(call, format!("the linker may put another function in the place of {name}"))
            }
            Reason::Branches => {
                remark.note(call, format!("the body of {name} branches, so it may not return"))
            }
            Reason::Recursive => {
                remark.note(call, format!("{name} leads to a cycle of calls, so it may not return"))
            }
            Reason::Does(op, place) => {
                remark.note(*place, format!("{name} may do anything, or not return, for this '{op}'"))
            }
            Reason::TooMuch => remark.note(call, format!("{name} touches more objects than are kept of it")),
        }
    }
}

impl Touched {
    /// Translates a class of a function with these arguments into the view of its callers. `None`
    /// if the callers may know the object by another name.
    pub(in crate::access) fn of(class: &Class, arguments: &Arguments) -> Option<Touched> {
        let object = match class.base {
            Base::Argument(argument) => Object::Argument(*arguments.get(&argument)?),
            Base::Global(name) => Object::Global(name),
            // Accesses of its own allocations only count because they may be out of bounds.
            Base::Allocation(_) | Base::Exit => Object::Exit,
            Base::Distinct(_) | Base::Unknown(_) | Base::Carried(_) | Base::World => return None,
        };
        if object == Object::Exit {
            return Some(Touched::anywhere(object, false));
        }
        let is_known = |form: &AffineForm| {
            form.all_atoms(&|atom| match atom {
                Atom::Param(value) => arguments.contains_key(value),
                _ => true,
            })
        };
        let Domain { levels, constraints, exact } = &*class.domain;
        if *levels > MAX_DEPTH {
            return Some(Touched::anywhere(object, class.writes));
        }
        let kept: Vec<AffineForm> =
            constraints.iter().filter(|form| is_known(form)).take(MAX_CONSTRAINTS).cloned().collect();
        let exact = *exact && kept.len() == constraints.len();
        let names_object = match object {
            Object::Argument(at) => class.origin.is_some_and(|origin| arguments.get(&origin) == Some(&at)),
            _ => class.origin.is_none(),
        };
        let are_its = names_object && class.sizes.iter().all(is_known);
        let named = class.subscripts.as_ref().filter(|_| are_its);
        let subscripts = named.map(|all| all.iter().map(|form| form.clone().filter(is_known)).collect());
        let sizes = if are_its { class.sizes.clone() } else { Vec::new() };
        let domain = Domain { levels: *levels, constraints: kept, exact };
        Some(Touched { object, sizes, subscripts, unit: class.unit, writes: class.writes, domain })
    }

    /// Returns an access of unknown elements of an object.
    fn anywhere(object: Object, writes: bool) -> Touched {
        let domain = Domain { levels: 0, constraints: Vec::new(), exact: object == Object::Exit };
        Touched { object, sizes: Vec::new(), subscripts: None, unit: 0, writes, domain }
    }

    /// Returns the class of any access of the object.
    pub(in crate::access) fn whole(&self) -> Touched {
        Touched::anywhere(self.object, self.writes)
    }

    /// Returns the class at a call of the function, given the function's arguments.
    fn at(&self, arguments: &Arguments, call: &mut Call<'_, '_>) -> Class {
        let depth = call.domain.levels;
        let (base, origin, is_one) = match self.object {
            Object::Argument(at) => {
                let (base, origin) = call.bases.of(call.operands[at]);
                // A view that is created in every iteration names other elements each time.
                let is_one = base == Base::Allocation(origin) || call.forms.is_parameter(origin);
                (base, Class::named_origin(call.body, origin), is_one)
            }
            Object::Global(name) => (Base::Global(name), None, true),
            Object::Exit => (Base::Exit, None, true),
        };
        let forms = &mut *call.forms;
        let operands = &call.operands;
        let mut instance = |form: &AffineForm| {
            let mut used = Vec::new();
            let form =
                form.instantiate(&mut |level| Some(AffineForm::level(depth + level)), &mut |value| {
                    let operand = operands[*arguments.get(&value)?];
                    let form = forms.of(operand)?;
                    used.push(Some(form.clone()));
                    Some(form)
                })?;
            let is_followed = used.is_empty() || forms.follows(&form, &used);
            is_followed.then_some(form)
        };
        let sizes: Option<Vec<AffineForm>> = self.sizes.iter().map(&mut instance).collect();
        let is_fixed = |form: &AffineForm| form.all_atoms(&|atom| !matches!(atom, Atom::Level(_)));
        let sizes = sizes.filter(|sizes| is_one && sizes.iter().all(is_fixed));
        let subscripts = match (&sizes, &self.subscripts) {
            (Some(_), Some(all)) => {
                Some(all.iter().map(|form| form.as_ref().and_then(&mut instance)).collect())
            }
            _ => None,
        };
        let own = &self.domain;
        let mut domain = Domain::clone(call.domain);
        domain.levels += own.levels;
        domain.exact &= own.exact;
        for constraint in &own.constraints {
            match instance(constraint) {
                Some(form) => domain.constraints.push(form),
                None => domain.exact = false,
            }
        }
        let domain = if domain == **call.domain { call.domain.clone() } else { Arc::new(domain) };
        let sizes = sizes.unwrap_or_default();
        let whole = Class::whole(base, self.writes, &domain);
        Class { origin, sizes, subscripts, unit: self.unit, ..whole }
    }
}
