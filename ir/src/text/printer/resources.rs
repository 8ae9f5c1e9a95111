//! The resource section at the end, and text of dialects nobody registered.

use crate::attributes::AttrKind;
use crate::body::OpRef;
use crate::text::OpPrinter;

impl OpPrinter<'_> {
    /// Writes the blobs that the operation's attributes refer to.
    pub(crate) fn file_metadata(&mut self, op: OpRef<'_>) {
        let ctx = self.ctx;
        let mut keys = Vec::new();
        let mut seen = hashbrown::HashSet::new();
        let mut pending = vec![op];
        while let Some(op) = pending.pop() {
            for dict in [op.properties(), op.attributes()] {
                let mut attrs: Vec<_> = dict.entries(ctx).iter().map(|(_, attr)| *attr).collect();
                while let Some(attr) = attrs.pop() {
                    match attr.kind(ctx) {
                        AttrKind::DenseResource { key, .. } if seen.insert(*key) => keys.push(*key),
                        AttrKind::Array(elements) => attrs.extend(elements),
                        AttrKind::Dictionary(dict) => attrs.extend(dict.entries(ctx).iter().map(|e| e.1)),
                        _ => {}
                    }
                }
            }
            for region in op.regions() {
                for block in op.body().blocks(region) {
                    pending.extend(op.body().ops(block).map(|o| op.body().op_ref(o)));
                }
            }
        }
        let mut blobs: Vec<_> =
            keys.into_iter().filter_map(|key| Some((ctx.str(key), ctx.resource("builtin", key)?))).collect();
        if blobs.is_empty() {
            return;
        }
        blobs.sort_by(|a, b| a.0.cmp(b.0));
        self.write("\n{-#\n  dialect_resources: {\n    builtin: {\n");
        for (i, (key, blob)) in blobs.iter().enumerate() {
            self.write(if i == 0 { "      " } else { ",\n      " });
            self.keyword_or_string(key);
            self.write(": \"0x");
            self.hex(blob);
            self.write("\"");
        }
        self.write("\n    }\n  }\n#-}\n");
    }

    /// Writes text of a dialect nobody registered, with aliases for what has them.
    pub(crate) fn opaque_body(&mut self, body: &str) {
        self.write(body);
    }
}
