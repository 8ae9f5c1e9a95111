//! Handles of locations.

use loomir_ir::{Context, LocKind, Registry};

/// Every location is what it was made of, and made again it is itself: in the handle, beyond
/// its bounds, and in more files than it has room for.
#[test]
fn equal_places_have_equal_handles() {
    let ctx = Context::new(Registry::new());
    let mut seen = Vec::new();
    for file in 0..10 {
        let file = ctx.name(&format!("{file}.mlir"));
        for line in [0, 1, (1 << 20) - 1, 1 << 20, u32::MAX] {
            for column in [0, 255, 256, u32::MAX] {
                let kind = LocKind::File { file, line, column };
                let loc = ctx.loc(kind.clone());
                assert_eq!(*loc.kind(&ctx), kind);
                assert_eq!(ctx.loc(kind), loc);
                assert!(!seen.contains(&loc), "{loc:?} stands for two places");
                seen.push(loc);
            }
        }
    }
}
