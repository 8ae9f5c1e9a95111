//! The names of results in the printed text, for operations that define them: `%alloc`,
//! `%sum, %overflow`.

use loomir_ir::text::AsmNames;
use loomir_ir::{OpRef, Registry, Value};

/// One name for the first result.
pub(crate) struct Named(pub(crate) &'static str);

impl AsmNames for Named {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        op.results().take(1).map(|v| (v, self.0.to_owned())).collect()
    }
}

/// The names of results in the definition, for operations with several results.
pub(crate) struct AsDefined;

impl AsmNames for AsDefined {
    fn result_names(&self, op: OpRef<'_>) -> Vec<(Value, String)> {
        let Some(def) = op.def() else { return Vec::new() };
        let groups =
            def.results.iter().map(|r| (op.result_group(&r.name).into_iter().next(), r.name.to_string()));
        groups.filter_map(|(first, name)| Some((first?, name))).collect()
    }
}

/// A dialect whose prefix is omitted for the operations inside.
pub(crate) struct Inside(pub(crate) &'static str);

impl AsmNames for Inside {
    fn default_dialect(&self) -> &'static str {
        self.0
    }
}

/// Attaches one name to each operation's result.
pub(crate) fn name_results(registry: &mut Registry, names: &[(&str, &'static str)]) {
    for (op, name) in names {
        registry.attach::<dyn AsmNames>(op, Box::new(Named(name)));
    }
}
