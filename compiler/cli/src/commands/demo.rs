//! `closc demo`: a fabric of 8 planes in this process, with sprayed traffic next to single-path flows, and faults.
//!
//! ```text
//! fabric file (built in) --compile--> tree --> two jobs in virtual time: spray, flow   (course)
//! tour, clicks on the page ---actions---> both jobs
//! agents of the sprayed job ---reports--> collector ---verdicts, denials--> page
//! both jobs --finish--> reports --> verdict on the terminal, SVG
//! ```
//!
//! In: arguments. Out: a page on loopback, a verdict. Invariants: neither root nor another program is needed. The
//! collector derives its verdicts from reports of agents, never from the list of faults.

mod course;
mod fabric;
mod guide;
mod page;
mod stage;

use std::sync::Arc;

use anyhow::Context as _;
use camino::Utf8Path;
use closc_compile::front::{self, Reading, Source};
use closc_lab::job::{self, Orders, Pattern, Transport};
use closc_lab::tree::Digests;
use closc_lab::{Interrupt, Progress, Watch};
use closc_plan::Plan;
use indicatif::ProgressBar;

use crate::args::Args;
use crate::args::demo::DemoArgs;
use crate::commands::compile;
use crate::commands::lab::trees::{Place, Purpose};
use crate::input::{self, Input};
use crate::labs;
use crate::output::{self, Outcome};
use crate::progress;
use course::{Course, End};
use stage::Stage;

/// The fabric: 8 planes of 4 T0s and 4 T1s, and 8 NICs.
const FABRIC: &str = include_str!("../../../../topologies/lab/eight-planes-p4.yaml");
/// Rate of every port. A packet takes about 0.4 ms, almost the maximum that agents expect.
const PORT_MBPS: u32 = 24;
/// Bytes of a packet.
const UNIT: u32 = 1024;
/// Packet loss of a gray cable, per million. Few NICs probe it, so with a lower loss the verdict would take longer
/// than a second.
const GRAY_PPM: u32 = 200_000;
const TITLE: &str = "8 planes, 8 NICs: spray beside flow";

/// Runs the demo until its end time, or until the page or Ctrl-C ends it.
pub(crate) fn run(args: &Args, command: &DemoArgs) -> anyhow::Result<Outcome> {
    if let Some(path) = &command.plot {
        output::check_extension(path, &["svg"], "plots are SVG: use `.svg`")?;
    }
    let interrupt = Interrupt::from_signals(|| {}).context("cannot listen for signals")?;
    let silent = |_: Progress| {};
    let watch = Watch::new(&silent, &interrupt);
    let Some(input) = fabric(args)? else { return Ok(Outcome::Failed) };
    let stage = Arc::new(Stage::default());
    let page =
        if command.no_page { None } else { Some(page::Server::start(command.port, Arc::clone(&stage))?) };
    if let Some(page) = &page
        && !args.quiet
    {
        output::say(format_args!("open http://{} in a browser; Ctrl-C ends the demo", page.address()));
    }
    let seconds = course::length_ms(command) / 1000;
    if command.no_page && !command.tour && !args.quiet {
        output::say(format_args!("running {seconds} s of fabric time; `--tour` narrates them"));
    }
    // Narration and a bar would overwrite each other.
    let bar = progress::bar(args.quiet || command.tour || !command.no_page, seconds, "seconds");
    let (options, name) = (labs::options()?, input.plan.name().to_owned());
    let place = Place::take(&options, &name, Purpose::Process)?;
    let stop = || watch.check().is_err();
    let compiled = compile::compile_to_cache(args, &input, &place.tree, &stop);
    let plan = Arc::new(input.plan);
    let ended = compiled.and_then(|_| perform((&place.tree, &plan), command, &stage, (&watch, &bar)));
    place.clear()?;
    let end = ended?;
    stage.end(end.line());
    if let Some(path) = &command.plot {
        output::replace(path, &job::svg(TITLE, &end.reports))?;
    }
    if output::is_standard(command.plot.as_ref()) {
        output::say(end.text(TITLE).trim_end());
    } else {
        output::print(&end.text(TITLE))?;
    }
    Ok(if end.is_met() { Outcome::Fine } else { Outcome::Failed })
}

/// Reads the built-in fabric.
fn fabric(args: &Args) -> anyhow::Result<Option<Input>> {
    let source = Source::File("demo.yaml".into());
    let Reading { plan, diagnostics, sources } =
        front::read_text(&source, FABRIC.as_bytes(), &front::Options::default())?;
    if plan.is_none() {
        input::show(args, &diagnostics, &sources);
    }
    Ok(plan.map(|plan| Input { plan, warnings: diagnostics.warnings(), known_faults: Vec::new() }))
}

/// Runs both jobs, and advances their time together.
fn perform(
    (tree, plan): (&Utf8Path, &Arc<Plan>),
    command: &DemoArgs,
    stage: &Stage,
    (watch, bar): (&Watch<'_>, &ProgressBar),
) -> anyhow::Result<End> {
    let (spray, flow) = (orders(Transport::Spray), orders(Transport::Flow));
    job::live(tree, Digests::Ignored, &spray, watch, |spray| {
        job::live(tree, Digests::Ignored, &flow, watch, |flow| {
            Course::new(Arc::clone(plan), [spray, flow], stage, command).drive(watch, bar)
        })
    })
}

fn orders(transport: Transport) -> Orders {
    Orders {
        program: camino::Utf8PathBuf::new(),
        transport,
        pattern: Pattern::Permutation,
        message_bytes: 64 << 10,
        unit: UNIT,
        max_in_flight: 8,
        messages: None,
        port_mbps: PORT_MBPS,
        seed: 1,
        patience: std::time::Duration::from_secs(5),
        burst_interval: None,
        stall: None,
    }
}
