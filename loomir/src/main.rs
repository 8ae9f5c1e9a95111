//! The loomir command.
fn main() {}
