//! No fabric file takes much time or memory, even a hostile one.
//!
//! In: hostile files, many small ones and a large one of each kind. Out: each takes less memory than the budget, and
//! less CPU time than quadratic work would. `CLOSC_HOSTILE=COUNT,BYTES` tries COUNT files of BYTES and prints the
//! worst of each kind.

#[path = "support/hostile.rs"]
mod hostile;

use std::collections::BTreeMap;
use std::time::Duration;

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;

/// Additional memory that a file of up to a megabyte may take.
const MEMORY_MAX: usize = 256 << 20;

/// Maximum length of the messages for one file, because findings quote little of it.
const SHOWN_MAX: usize = 256 << 10;

/// Maximum CPU time for a file of up to a megabyte. A build without optimisation takes about ten times as long.
const TIME_MAX: Duration = Duration::from_secs(if cfg!(debug_assertions) { 5 } else { 1 });

fn processor_time() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process knows its own usage");
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(micros).expect("time does not run backwards"))
}

/// Loads, checks and shows a file; returns the time and memory taken, and the length of what is shown.
fn measure(catalogue: &Catalogue, text: &str) -> (Duration, usize, usize) {
    ALLOCATED.reset_peak_usage();
    let (before, start) = (ALLOCATED.current_usage(), processor_time());
    let mut sources = Sources::new();
    let found = match closc_topology::load(&mut sources, "hostile.yaml", text.as_bytes()) {
        Ok(document) => closc_topology::lower(&document, catalogue, &sources).1,
        Err(found) => found,
    };
    let shown = show::text::all(&found, &sources, show::text::Colour::Plain);
    (processor_time().saturating_sub(start), ALLOCATED.peak_usage() - before, shown.len())
}

#[test]
fn no_file_takes_much() {
    let catalogue = Catalogue::builtin();
    let asked = std::env::var("CLOSC_HOSTILE").ok();
    let asked = asked.as_ref().and_then(|asked| asked.split_once(','));
    let (count, size) = asked.map_or((5 * hostile::KINDS.len(), 4_000), |(count, size)| {
        (count.parse().expect("a number of files"), size.parse().expect("a number of bytes"))
    });
    // A quarter of a megabyte is enough to reveal quadratic work.
    let large = if asked.is_some() { 0 } else { hostile::KINDS.len() };
    let mut worst: BTreeMap<&str, (Duration, usize)> = BTreeMap::new();
    let mut broken = Vec::new();
    for number in 0..count + large {
        let (kind, text) = hostile::file(number, if number < count { size } else { 250_000 });
        let (time, memory, shown) = measure(&catalogue, &text);
        if time > TIME_MAX || memory > MEMORY_MAX || shown > SHOWN_MAX {
            let (length, memory) = (text.len(), memory >> 20);
            let line =
                format!("file {number}, {kind}, {length} bytes: {time:?}, {memory} MiB, shows {shown} bytes");
            println!("{line}");
            broken.push(line);
        }
        if std::env::var_os("CLOSC_HOSTILE").is_some() && time > TIME_MAX / 4 {
            println!("{number} {kind}: {time:?}");
        }
        let entry = worst.entry(kind).or_default();
        *entry = (entry.0.max(time), entry.1.max(memory));
    }
    for (kind, (time, memory)) in &worst {
        println!("{kind:30} {:>8.3} s {:>5} MiB", time.as_secs_f64(), memory >> 20);
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
