//! The estimated time of each function.

use loomir_ir::Body;
use loomir_ir::symbols::symbol_name;
use loomir_transforms::cost::{self, Cost as _, LoopCost, Machine, OnMachine};

use crate::{FuseOptions, for_each_function};

/// The estimated time of a function.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct FunctionCost {
    /// The name of the function.
    pub function: String,
    /// The machine, with the vectors of the function's target.
    pub machine: Machine,
    /// The cycles of all outermost loops.
    pub cycles: f64,
    /// The loops, outer ones before inner ones.
    pub loops: Vec<LoopCost>,
}

/// Estimates the time of every function of a module with loops, as `loomir optimize` does to
/// choose. The module stays as it is.
pub fn costs(module: &mut Body, options: &FuseOptions) -> Vec<FunctionCost> {
    let mut all = Vec::new();
    for_each_function(module, &mut |body, around| {
        let cost = OnMachine::of_function(&*options.cost, body);
        let basis = (&around.known_to(&options.analyses), options.alias.untested());
        let (loops, cycles) = cost::loop_costs(body, basis, &cost);
        if !loops.is_empty() {
            let name = symbol_name(body, body.root());
            let function = name.map_or(String::new(), |name| body.ctx().str(name).to_owned());
            all.push(FunctionCost { function, machine: cost.machine().clone(), cycles, loops });
        }
        false
    });
    all
}
