//! Measures the rendering time and the size of switch configurations.
//!
//! In: a fabric file, and optionally a folder to write to. Out: for each tier the number of switches, the average
//! bytes per configuration, and the minimum microseconds per configuration, separately for intent and text. Run it in
//! release mode:
//!
//! ```text
//! cargo run --release -p closc-render --example measure -- topologies/reference/mrc-8x512.yaml
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use closc_diagnostics::{Sources, show};
use closc_fabric::Fabric;
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_render::{Artefact, Templates, targets};
use closc_topology::TierId;

/// Switches of a tier that are measured; more switches give the same result.
const SAMPLE: usize = 64;

/// Result of one tier.
struct Sum {
    switches: usize,
    bytes: usize,
    intent: Duration,
    text: Duration,
}

impl Default for Sum {
    fn default() -> Self {
        Sum { switches: 0, bytes: 0, intent: Duration::MAX, text: Duration::MAX }
    }
}

fn main() {
    let mut arguments = env::args().skip(1);
    let Some(file) = arguments.next() else {
        eprintln!("usage: measure FABRIC [FOLDER]");
        process::exit(1);
    };
    let folder = arguments.next();
    let plan = plan(&file);
    let templates = Templates::builtin();
    let mut sums: BTreeMap<TierId, Sum> = BTreeMap::new();
    for switch in plan.switches() {
        let sum = sums.entry(switch.tier).or_default();
        sum.switches += 1;
        if sum.switches > SAMPLE {
            continue;
        }
        let start = Instant::now();
        let intent = plan.device(switch);
        sum.intent = sum.intent.min(start.elapsed());
        let Some(target) = targets::target(intent.os) else { continue };
        let start = Instant::now();
        let artefacts = target.device(&intent, &templates).unwrap_or_else(|error| panic!("{error}"));
        sum.text = sum.text.min(start.elapsed());
        sum.bytes += artefacts.iter().map(|artefact| artefact.bytes.len()).sum::<usize>();
        if let Some(folder) = &folder {
            for artefact in &artefacts {
                write(Path::new(folder), artefact);
            }
        }
    }
    for (tier, Sum { switches, bytes, intent, text }) in sums {
        let bytes = bytes / switches.clamp(1, SAMPLE);
        let (intent, text) = (intent.as_micros(), text.as_micros());
        println!("{tier}: {switches} switches, for one: {bytes} bytes, intent {intent} us, text {text} us");
    }
}

fn write(folder: &Path, artefact: &Artefact) {
    let path = folder.join(&artefact.path);
    let parent = path.parent().expect("an artefact has a folder");
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(&path, &artefact.bytes))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn plan(file: &str) -> Plan {
    let bytes = fs::read(file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut sources = Sources::new();
    let loaded = closc_topology::load(&mut sources, file, &bytes);
    let lowered = loaded.map(|document| closc_topology::lower(&document, &Catalogue::builtin(), &sources));
    match lowered {
        Ok((Some(topology), _)) => Plan::new(Fabric::new(Arc::new(topology))),
        Ok((None, faults)) | Err(faults) => {
            panic!("{}", show::text::all(&faults, &sources, show::text::Colour::Plain))
        }
    }
}
