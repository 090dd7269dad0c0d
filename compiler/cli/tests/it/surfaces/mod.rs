//! Hostile inputs for every surface that reads untrusted bytes. For each input of up to 1 MB, CPU time and memory are
//! limited.
//!
//! In: generators with a seed, one module for each surface. Out: the highest CPU time and memory of each surface.
//! Invariants: the same number gives the same input. Limits apply to CPU time, not elapsed time. A process that ends
//! by a signal or a panic fails the test.
//!
//! `CLOSC_HOSTILE=1000` tries a thousand inputs of each surface: every kind once with 1 MB, then sizes between 1 kB and
//! 1 MB. Without it each surface gets a few small inputs. `--nocapture` prints one row per surface.

mod agent;
mod archives;
mod csv;
mod fabric;
mod gnmi;
mod http;
#[path = "../../../../topology/tests/support/hostile.rs"]
mod kinds;
mod lldp;
mod lsp;
mod measure;
mod ssh;

use std::time::Duration;

use kinds::Numbers;
use measure::Usage;

use crate::common;

/// Limit of CPU time for one input in an optimised build.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Factor for a build without optimisation.
const DEBUG_FACTOR: u32 = 10;

/// Limit of peak resident memory for one input.
const MEMORY_MAX_KIB: u64 = 256 << 10;

/// Maximum size of an input.
const SIZE_MAX: usize = 1_000_000;

/// Number of inputs per surface, and their size, if `CLOSC_HOSTILE` is not set.
const SAMPLE: (usize, usize) = (8, 20_000);

/// An input of one kind.
type Kind = (&'static str, fn(&mut Numbers, usize) -> Vec<u8>);

/// A surface: a generator of inputs and a reader.
struct Surface {
    name: &'static str,
    /// Number of kinds of inputs.
    kinds: usize,
    /// Returns the input with a number and an approximate size, with its kind.
    make: fn(usize, usize) -> (&'static str, Vec<u8>),
    /// Prepares the reader; `None` after printing why it cannot run on this machine.
    open: fn() -> Option<Box<dyn Reader>>,
}

/// A program or library that reads inputs of a surface.
trait Reader {
    /// Reads an input.
    fn read(&mut self, kind: &str, input: &[u8]) -> Usage;
}

/// Returns the input with a number from a table of kinds.
fn make_input(kinds: &[Kind], number: usize, size: usize) -> (&'static str, Vec<u8>) {
    let (kind, make) = kinds[number % kinds.len()];
    let mut input = make(&mut Numbers::new(number as u64), size);
    input.truncate(SIZE_MAX);
    (kind, input)
}

/// Returns the size of the input with a number: almost the maximum size once for every kind, then random
/// sizes on a logarithmic scale.
fn size(number: usize, kinds: usize) -> usize {
    if number < kinds {
        return SIZE_MAX - 1_000;
    }
    let thousandths = Numbers::new(!(number as u64)).up_to(999) as f64;
    (1_000.0 * 1_000_f64.powf(thousandths / 1_000.0)) as usize
}

fn attack(surface: &Surface) {
    let Some(mut reader) = (surface.open)() else { return };
    let tries = std::env::var("CLOSC_HOSTILE").ok().and_then(|text| text.split(',').next()?.parse().ok());
    let time_max = if cfg!(debug_assertions) { TIME_MAX * DEBUG_FACTOR } else { TIME_MAX };
    let (mut time, mut memory) = ((Duration::ZERO, ""), (0, ""));
    let mut broken = Vec::new();
    for number in 0..tries.unwrap_or(SAMPLE.0) {
        // The sample is spread over all kinds of the table.
        let (number, size) = match tries {
            Some(_) => (number, size(number, surface.kinds)),
            None => (number * surface.kinds / SAMPLE.0, SAMPLE.1),
        };
        let (kind, input) = (surface.make)(number, size);
        let usage = reader.read(kind, &input);
        let ends_well = matches!(usage.code, 0 | 1 | 2 | 64);
        if usage.time > time_max || usage.memory_kib > MEMORY_MAX_KIB || !ends_well {
            let line = format!("{} {number}, {kind}, {} bytes: {usage:?}", surface.name, input.len());
            println!("{line}");
            broken.push(line);
        }
        time = time.max((usage.time, kind));
        memory = memory.max((usage.memory_kib, kind));
    }
    println!(
        "| {} | {:.2} ({}) | {} ({}) |",
        surface.name,
        time.0.as_secs_f64(),
        time.1,
        memory.0 >> 10,
        memory.1
    );
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn fabric_files_stay_within_the_limits() {
    attack(&fabric::SURFACE);
}

#[test]
fn tables_stay_within_the_limits() {
    attack(&csv::SURFACE);
}

#[test]
fn reports_of_neighbours_stay_within_the_limits() {
    attack(&lldp::SURFACE);
}

#[test]
fn archives_stay_within_the_limits() {
    attack(&archives::SURFACE);
}

#[test]
fn answers_over_ssh_stay_within_the_limits() {
    attack(&ssh::SURFACE);
}

#[test]
fn answers_over_gnmi_stay_within_the_limits() {
    attack(&gnmi::SURFACE);
}

#[test]
fn packets_for_agents_stay_within_the_limits() {
    attack(&agent::SURFACE);
}

#[test]
fn requests_over_http_stay_within_the_limits() {
    attack(&http::SURFACE);
}

#[test]
fn messages_of_editors_stay_within_the_limits() {
    attack(&lsp::SURFACE);
}

#[test]
fn a_process_over_a_limit_is_measured() {
    let place = common::Place::new();
    let spins = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let usage = measure::command(&["sh", "-c", spins].map(str::to_owned), &place, None);
    assert!(usage.time > Duration::from_millis(20) && usage.code == 0, "{usage:?}");
    let large = "x=$(head -c 40000000 /dev/zero | tr '\\0' x); exit 3";
    let usage = measure::command(&["sh", "-c", large].map(str::to_owned), &place, None);
    assert!(usage.memory_kib > 30_000 && usage.code == 3, "{usage:?}");
}

/// Regression: a template with a few steps could double a text until the machine ran out of memory.
#[test]
fn templates_that_double_a_text_are_ended() {
    let place = common::Place::new();
    let text = "{% set all = namespace(text=\"a\") %}{% for _ in range(40) %}{% set all.text = all.text ~ all.text %}{% endfor %}{{ all.text }}\n";
    place.write("fabric.yaml", common::small_fabric("doubled", 1, "linux", "linux"));
    std::fs::create_dir_all(place.path("templates/linux")).expect("a folder");
    place.write("templates/linux/switch.sysctl.j2", text);
    let closc = env!("CARGO_BIN_EXE_closc");
    let words = [closc, "compile", "fabric.yaml", "--out", "tree", "--templates", "templates", "--jobs", "1"];
    let usage = measure::command(&words.map(str::to_owned), &place, None);
    assert!(usage.code != 0 && usage.memory_kib < 1 << 20, "{usage:?} {}", place.read("said"));
    assert!(place.read("said").contains("memory allocation"), "{}", place.read("said"));
}
