//! The rules of loaded definitions: what their constraints say of parameters and operations.

use loomir_ir::opdef::runtime::{OperationRule, ParameterRule};
use loomir_ir::verifier::op_error;
use loomir_ir::{Attr, Context, Diagnostics, OpRef};

use super::constraints::{Constraints, Search};
use super::meaning::constants;

/// The rule of the parameters of a type or attribute.
pub(super) struct Parameters {
    pub(super) constraints: Constraints,
    /// The constraint of each parameter.
    pub(super) numbers: Vec<usize>,
}

impl ParameterRule for Parameters {
    fn violation(&self, ctx: &Context, parameters: &[Attr]) -> Option<String> {
        let mut search = self.constraints.search(ctx);
        let mut pairs = parameters.iter().zip(&self.numbers);
        pairs.find_map(|(attr, number)| search.check(*attr, *number).err())
    }
}

/// The rule of an operation.
#[derive(Default)]
pub(super) struct Operation {
    pub(super) constraints: Constraints,
    pub(super) attributes: Vec<(String, usize)>,
    /// The constraint of each entry of operands.
    pub(super) operands: Vec<usize>,
    pub(super) results: Vec<usize>,
    pub(super) regions: Vec<RegionRule>,
}

/// The rule of a region.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionRule {
    /// The constraints of the arguments of its entry block, if they are constrained.
    pub(super) arguments: Option<Vec<usize>>,
    pub(super) blocks: Option<usize>,
}

impl OperationRule for Operation {
    fn verify(&self, op: OpRef<'_>, out: &mut Diagnostics) {
        let mut search = self.constraints.search(op.ctx());
        let checked = self
            .check_attributes(op, &mut search)
            .and_then(|()| self.check_values(op, &mut search))
            .and_then(|()| self.check_regions(op, &mut search))
            .and_then(|()| constants::check(op));
        if let Err(message) = checked {
            out.push(op_error(op, message));
        }
    }
}

impl Operation {
    fn check_attributes(&self, op: OpRef<'_>, search: &mut Search<'_>) -> Result<(), String> {
        for (name, number) in &self.attributes {
            let Some(attr) = op.attr(name) else {
                return Err(format!("attribute \"{name}\" is expected but not provided"));
            };
            search.check(attr, *number).map_err(|why| format!("attribute '{name}': {why}"))?;
        }
        Ok(())
    }

    fn check_values(&self, op: OpRef<'_>, search: &mut Search<'_>) -> Result<(), String> {
        let Some(def) = op.def() else { return Ok(()) };
        for (entry, number) in self.operands.iter().enumerate() {
            for at in op.body().operand_group(op.op(), def, entry) {
                let checked = search.check_type(op.operand_type(at), *number);
                checked.map_err(|why| format!("operand #{at}: {why}"))?;
            }
        }
        for (entry, number) in self.results.iter().enumerate() {
            for at in op.body().result_group(op.op(), def, entry) {
                let checked = search.check_type(op.result_type(at), *number);
                checked.map_err(|why| format!("result #{at}: {why}"))?;
            }
        }
        Ok(())
    }

    fn check_regions(&self, op: OpRef<'_>, search: &mut Search<'_>) -> Result<(), String> {
        let body = op.body();
        for (at, (region, rule)) in op.regions().zip(&self.regions).enumerate() {
            if let Some(wanted) = &rule.arguments {
                let entry = body.entry_block(region);
                let found: Vec<_> = entry.into_iter().flat_map(|block| body.arguments(block)).collect();
                if found.len() != wanted.len() {
                    let (wanted, found) = (wanted.len(), found.len());
                    return Err(format!("region #{at} should have {wanted} arguments but has {found}"));
                }
                for (value, number) in found.into_iter().zip(wanted) {
                    let checked = search.check_type(body.value_type(value), *number);
                    checked.map_err(|why| format!("argument of region #{at}: {why}"))?;
                }
            }
            let found = body.blocks(region).count();
            if let Some(wanted) = rule.blocks.filter(|wanted| *wanted != found) {
                return Err(format!("region #{at} should have {wanted} blocks but has {found}"));
            }
        }
        Ok(())
    }
}
