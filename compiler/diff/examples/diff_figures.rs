//! Measures a comparison of two fabric files: `cargo run --release -p closc-diff --example diff_figures -- OLD NEW`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use closc_diagnostics::Sources;
use closc_diff::{Options, Report, Side, show};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;

fn plan(path: &str) -> Option<Plan> {
    let bytes = std::fs::read(path).ok()?;
    let mut sources = Sources::new();
    let document = closc_topology::load(&mut sources, path, &bytes).ok()?;
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    Some(Plan::new(Fabric::new(Arc::new(topology?))))
}

fn main() -> ExitCode {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let start = Instant::now();
    let plans: Option<Vec<Plan>> = paths.iter().map(|path| plan(path)).collect();
    let Some([old, new]) = plans.as_deref() else {
        eprintln!("name two valid fabric files");
        return ExitCode::FAILURE;
    };
    println!("{:>10.3} s  read both", start.elapsed().as_secs_f64());
    let start = Instant::now();
    let side = |plan: &Plan, path: &str| Side {
        source: path.to_owned(),
        fabric: plan.topology().name.to_string(),
        digest: String::new(),
    };
    let (a, b) = (side(old, &paths[0]), side(new, &paths[1]));
    let report = Report::of_plans((old, a), (new, b), Options::default());
    println!("{:>10.3} s  compare", start.elapsed().as_secs_f64());
    print!("{}", show::markdown::draw(&report));
    ExitCode::SUCCESS
}
