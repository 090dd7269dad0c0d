//! Measures the run time of `whatif` on a fabric file: `cargo run --release -p closc-whatif --example whatif_figures --
//! FILE`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use closc_diagnostics::Sources;
use closc_fabric::Fabric;
use closc_platform::Catalogue;
use closc_whatif::{Elements, Kind, WhatIf, draw};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("name a fabric file");
        return ExitCode::FAILURE;
    };
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("cannot read `{path}`");
        return ExitCode::FAILURE;
    };
    let start = Instant::now();
    let mut sources = Sources::new();
    let document = closc_topology::load(&mut sources, &path, &bytes).ok();
    let lowered = document.map(|document| closc_topology::lower(&document, &Catalogue::builtin(), &sources));
    let Some((Some(topology), _)) = lowered else {
        eprintln!("`{path}` is not valid; run `closc check` to list the errors");
        return ExitCode::FAILURE;
    };
    let fabric = Fabric::new(Arc::new(topology));
    let elements = Elements::of(&fabric);
    let whatif = WhatIf::new(elements);
    println!("{:>10.3} s  read", start.elapsed().as_secs_f64());

    let start = Instant::now();
    let draws = ["t0-t1=1%", "nic-t0=1%"].map(|text| text.parse().expect("a draw"));
    let failed = draw(&elements, &draws, 7).expect("a rate cannot exceed the number of elements");
    let outcome = whatif.fail(&failed, 5);
    let (seconds, pairs) = (start.elapsed().as_secs_f64(), outcome.pairs());
    println!("{seconds:>10.3} s  1 % of all cables of T0s: {} failures, {pairs} pairs", failed.len());

    for (kind, together) in [(Kind::T0, 1), (Kind::T0T1, 1), (Kind::Cage, 1), (Kind::T0T1, 2)] {
        let start = Instant::now();
        let classes = whatif.fail_combinations(&[kind], together);
        let count: u128 = classes.iter().map(|class| class.count).sum();
        let seconds = start.elapsed().as_secs_f64();
        println!("{seconds:>10.3} s  {count} failures of {}, {together} at a time", kind.keyword());
    }
    ExitCode::SUCCESS
}
