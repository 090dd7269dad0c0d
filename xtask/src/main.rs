//! The closc command.

fn main() {}
