//! Runs one stage of the compiler once, at one of three sizes, to count instructions or measure the time:
//! `cargo run --release -p closc-render --example stages -- render large`.
//!
//! Stages: `load` (text to topology), `expand` (graph of devices and cables), `allocate` (intents of a plane's
//! switches), `render` (SONiC configurations of a plane), `tables` (path tables as JSON and binary). Sizes:
//! `small` 512 NICs, `medium` 8,192, `large` 131,072. The measured work is in a function whose name contains
//! `measured`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use closc_diagnostics::Sources;
use closc_fabric::{Fabric, FabricGraph};
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_render::{Templates, path_table, targets};
use closc_topology::{PlaneId, Topology};

fn yaml(size: &str) -> Option<String> {
    let (groups, ports) = match size {
        "small" => (32, 16),
        "medium" => (128, 64),
        "large" => (512, 256),
        _ => return None,
    };
    Some(format!(
        "fabric: {size}\nplanes: 8\nhosts: {{ groups: {groups}, per_group: {ports}, nic: {{ speed: 800G, lanes: 8 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: {ports} }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n"
    ))
}

fn load(text: &str, catalogue: &Catalogue) -> Topology {
    let mut sources = Sources::new();
    let document =
        closc_topology::load(&mut sources, "bench.yaml", text.as_bytes()).expect("the text is valid");
    closc_topology::lower(&document, catalogue, &sources).0.expect("the fabric is valid")
}

/// Runs the measured stage. It is never inlined, so that a profiler can separate it from the preparation.
#[inline(never)]
fn run_measured(work: &mut dyn FnMut()) {
    work();
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (stage, size) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let Some(text) = yaml(&size) else {
        eprintln!("usage: stages load|expand|allocate|render|tables small|medium|large");
        std::process::exit(2);
    };
    let catalogue = Catalogue::builtin();
    let fabric = Fabric::new(Arc::new(load(&text, &catalogue)));
    let plan = Plan::new(fabric.clone());
    let templates = Templates::builtin();
    let plane = || plan.fabric().plane_switches(PlaneId(0));
    let mut work: Box<dyn FnMut()> = match stage.as_str() {
        "load" => Box::new(|| drop(black_box(load(&text, &catalogue)))),
        "expand" => Box::new(|| drop(black_box(FabricGraph::of(&fabric)))),
        "allocate" => Box::new(|| plane().for_each(|switch| drop(black_box(plan.device(switch))))),
        "render" => Box::new(|| {
            for switch in plane() {
                let intent = plan.device(switch);
                let target = targets::target(intent.os).expect("SONiC is a target");
                drop(black_box(target.device(&intent, &templates).expect("shipped templates render")));
            }
        }),
        "tables" => Box::new(|| {
            for (zone, group) in plan.groups() {
                drop(black_box(path_table::render(&plan.path_table(zone, group))));
            }
        }),
        other => {
            eprintln!("`{other}` is not a stage");
            std::process::exit(2);
        }
    };
    let start = Instant::now();
    run_measured(&mut *work);
    println!("{stage} {size}: {:.1} ms", start.elapsed().as_secs_f64() * 1000.0);
}
