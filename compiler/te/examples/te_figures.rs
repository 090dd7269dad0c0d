//! Measures the placement of demands on a fabric:
//! `cargo run --release -p closc-te --example te_figures -- FABRIC.yaml [FAILED...]`.
//!
//! Two matrices between all T0 groups: uniform, and skewed (each group sends 20 times as much to a group of its own
//! block of four as to any other).

use std::sync::Arc;
use std::time::Instant;

use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_te::{Demand, Matrix, Options, Place, engineer, fail};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().expect("name a fabric file");
    let text = std::fs::read_to_string(&file).expect("the fabric file can be read");
    let plan = closc_tests::shape::plan(&text);
    let mut topology = plan.topology().clone();
    for name in arguments {
        fail(&mut topology, &name).expect("the fabric has what is to break");
    }
    let plan = Plan::new(Fabric::new(Arc::new(topology)));
    let groups: Vec<_> = plan.groups().collect();
    let topology = plan.topology();
    let nic = f64::from(topology.hosts.nic_speed.mbps()) / 1000.0;
    // Half of what the NICs could send.
    let each = 0.5 * nic * f64::from(topology.hosts.per_group);
    let matrix = |weight: &dyn Fn(usize, usize) -> f64| {
        let mut demands = Vec::new();
        for (a, from) in groups.iter().enumerate() {
            let sum: f64 = (0..groups.len()).filter(|b| *b != a).map(|b| weight(a, b)).sum();
            for (b, to) in groups.iter().enumerate().filter(|(b, _)| *b != a) {
                let gbps = each * weight(a, b) / sum;
                let (from, to) = (Place::Group(from.0, from.1), Place::Group(to.0, to.1));
                demands.push(Demand { from, to, gbps, line: demands.len() as u64 + 2 });
            }
        }
        Matrix { demands }
    };
    let near = |a: usize, b: usize| if a / 4 == b / 4 { 20.0 } else { 1.0 };
    for (name, matrix) in [("uniform", matrix(&|_, _| 1.0)), ("skewed", matrix(&near))] {
        let start = Instant::now();
        let placed = engineer(&plan, &matrix, &Options::default()).expect("there are not too many pairs");
        let seconds = start.elapsed().as_secs_f64();
        println!(
            "{name}: {} demands, {seconds:.1} s, {} MiB; te {:.4}, ecmp fluid {:.4}, hashed {:.4}, bound {:.4}, {} pins",
            matrix.demands.len(),
            peak_mib(),
            placed.max(),
            placed.ecmp_max(),
            placed.hashed_max(),
            placed.bound(),
            placed.pin_count()
        );
    }
}

/// Returns the peak memory of this process in MiB; 0 if the kernel does not report it.
fn peak_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok()).map_or(0, |kib| kib / 1024)
}
