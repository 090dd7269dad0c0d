//! Runs the fuzz target of the loader on a few hundred inputs, even in builds without a fuzzer.

#[path = "../../../../fuzz/entry/inputs.rs"]
mod inputs;
#[path = "../../../../fuzz/entry/loader.rs"]
mod loader;

use std::fs;
use std::path::Path;

/// Number of inputs.
const COUNT: usize = 300;

#[test]
fn the_loader_takes_any_bytes() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../topologies/lab");
    let mut paths: Vec<_> = fs::read_dir(shipped).expect("a folder").flatten().map(|e| e.path()).collect();
    paths.sort();
    let seeds: Vec<Vec<u8>> = paths.iter().filter_map(|path| fs::read(path).ok()).collect();
    assert!(seeds.len() > 3);
    for number in 0..COUNT {
        loader::run(&inputs::Inputs::new(number as u64).next(&seeds));
    }
}
