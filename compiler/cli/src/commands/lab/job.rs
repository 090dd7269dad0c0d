//! `closc lab job`: traffic between the NICs of a lab while a scenario breaks and repairs elements.

use std::time::Duration;

use anyhow::Context as _;
use camino::{Utf8Path, Utf8PathBuf};
use closc_lab::job::{self, BYTES_MAX, JobError, Orders, Report, Scenario, Transport};
use closc_lab::tree::{Software, Tree};
use closc_lab::{Lab, LabError, Options, Watch};
use closc_plan::Plan;
use schemars::JsonSchema;
use serde::Serialize;

use super::trees::Purpose;
use super::with_tree_for;
use crate::args::lab::{JobArgs, JobTarget};
use crate::args::{Args, Format};
use crate::labs;
use crate::output::{self, Document, Outcome};

/// Results of jobs.
pub(crate) const JOBS: Document<Jobs<'static>> = Document::new("closc-lab-job/1");

/// Line rate of a NIC port with target `linux`, low enough that the CPU is not the bottleneck.
const LINUX_MBPS: u32 = 1;
/// Line rate of every port in virtual time. A packet takes a tenth of a millisecond, so queueing delays are in the
/// range that agents expect.
const VIRTUAL_MBPS: u32 = 100;

/// Jobs of one scenario.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Jobs<'a> {
    fabric: &'a str,
    title: &'a str,
    /// Whether the first job meets the expectations of the scenario.
    met: bool,
    #[serde(rename = "jobs")]
    reports: &'a [Report],
}

/// Runs a job, and another for comparison if requested.
pub fn run(args: &Args, command: &JobArgs, options: &Options, watch: &Watch<'_>) -> anyhow::Result<Outcome> {
    if let Some(path) = &command.plot {
        output::check_extension(path, &["svg"], "plots are SVG: use `.svg`")?;
    }
    let scenario = scenario(command)?;
    let transports: Vec<Transport> = std::iter::once(command.transport).chain(command.beside).collect();
    let ahead = |plan: &Plan| ahead(plan, command);
    with_tree_for(args, &command.lab, (options, watch), ahead, |tree, options| {
        let read = Tree::read_with(tree, options.digests)?;
        let target = command.target.unwrap_or(match read.switch_of(Software::P4) {
            Some(_) => JobTarget::Embedded,
            None => JobTarget::Linux,
        });
        let fabric = read.fabric.to_string();
        // If switches choose the path, nodes do not use agents.
        let has_agents = read.is_source_routed();
        drop(read);
        let reports = match target {
            JobTarget::Embedded => run_simulated(tree, options, command, &scenario, &transports, watch),
            JobTarget::Linux => {
                let program = if has_agents { program(command)? } else { Utf8PathBuf::new() };
                run_on_linux((tree, &program), options, command, &scenario, &transports, watch)?
            }
        };
        let reports = reports.map_err(|error| add_file_name(error, command))?;
        if let Some(path) = &command.plot {
            output::replace(path, &job::svg(&scenario.title, &reports))?;
        }
        let met = reports.first().is_some_and(Report::is_met);
        if output::is_standard(command.plot.as_ref()) {
            output::say(job::human(&scenario.title, &reports).trim_end());
            return Ok(if met { Outcome::Fine } else { Outcome::Failed });
        }
        let jobs = Jobs { fabric: &fabric, title: &scenario.title, met, reports: &reports };
        let outcome = if met { Outcome::Fine } else { Outcome::Failed };
        output::print_outcome(args, outcome, &JOBS, &jobs, |jobs| match args.format {
            Format::Markdown => job::markdown(jobs.title, jobs.reports),
            Format::Human | Format::Json | Format::Github | Format::Html | Format::Rows(_) => {
                job::human(jobs.title, jobs.reports)
            }
        })
    })
}

/// Returns the purpose for which a plan is compiled. Without `--target`, a job runs in virtual time if the fabric has
/// P4 switches. Rejects jobs that cannot run, before anything is compiled.
fn ahead(plan: &Plan, command: &JobArgs) -> anyhow::Result<Purpose> {
    let is_virtual = match command.target {
        Some(target) => target == JobTarget::Embedded,
        None => plan.switches().any(|switch| plan.os(switch).is_programmed()),
    };
    let nics = plan.fabric().counts().nics;
    if !plan.is_source_routed() {
        return hashed_purpose(plan, command, is_virtual);
    }
    if is_virtual {
        let rate = command.port_mbps.unwrap_or(VIRTUAL_MBPS);
        job::fits_virtual_time(nics, &orders(command, Utf8PathBuf::new(), command.transport, rate))?;
        return Ok(Purpose::Process);
    }
    job::fits_kernel(nics)?;
    reject_stalls(command)?;
    program(command)?;
    Ok(Purpose::Lab)
}

/// Like [`ahead`], for a fabric whose switches choose the path.
fn hashed_purpose(plan: &Plan, command: &JobArgs, is_virtual: bool) -> anyhow::Result<Purpose> {
    let (fabric, routing) = (plan.name().parse()?, plan.routing());
    if is_virtual {
        let what = "`lab job` on target `embedded`";
        return Err(LabError::Routing { fabric, routing, operation: what }.into());
    }
    job::fits_kernel(plan.fabric().counts().nics)?;
    reject_stalls(command)?;
    for transport in std::iter::once(command.transport).chain(command.beside) {
        job::fits_flows(&orders(command, Utf8PathBuf::new(), transport, LINUX_MBPS), &fabric, routing)?;
    }
    Ok(Purpose::Lab)
}

/// Rejects `--stall`, which needs virtual time.
fn reject_stalls(command: &JobArgs) -> anyhow::Result<()> {
    anyhow::ensure!(
        command.stall.is_none(),
        "`--stall` needs virtual time (`--target embedded`): on `linux` the kernel schedules agents"
    );
    Ok(())
}

/// Reports of jobs, or the error of the job that failed.
type Reports = Result<Vec<Report>, JobError>;

fn run_simulated(
    tree: &Utf8Path,
    options: &Options,
    command: &JobArgs,
    scenario: &Scenario,
    transports: &[Transport],
    watch: &Watch<'_>,
) -> Reports {
    let rate = command.port_mbps.unwrap_or(VIRTUAL_MBPS);
    let one = |transport: &Transport| {
        let orders = orders(command, Utf8PathBuf::new(), *transport, rate);
        job::simulate(tree, options.digests, scenario, &orders, watch)
    };
    transports.iter().map(one).collect()
}

fn run_on_linux(
    (tree, program): (&Utf8Path, &Utf8Path),
    options: &Options,
    command: &JobArgs,
    scenario: &Scenario,
    transports: &[Transport],
    watch: &Watch<'_>,
) -> anyhow::Result<Reports> {
    reject_stalls(command)?;
    let (mut lab, was_up) = match Lab::open(tree, options) {
        Ok(lab) => (lab, true),
        Err(LabError::NotUp { .. }) => (Lab::up(tree, options, watch)?.0, false),
        Err(error) => return Err(error.into()),
    };
    let rate = command.port_mbps.unwrap_or(LINUX_MBPS);
    let one = |transport: &Transport| {
        job::run(&mut lab, scenario, &orders(command, program.to_owned(), *transport, rate), watch)
    };
    let reports: Reports = transports.iter().map(one).collect();
    let keeps = was_up || (command.keep && reports.is_ok());
    if !keeps {
        lab.down()?;
    }
    Ok(reports)
}

fn scenario(command: &JobArgs) -> anyhow::Result<Scenario> {
    let Some(path) = &command.scenario else {
        return Ok(Scenario::quiet(Duration::from_secs(command.seconds)));
    };
    let text = output::read(path, BYTES_MAX)?;
    Scenario::parse(&text).map_err(|fault| anyhow::anyhow!("{path}:{fault}"))
}

/// Adds the file name to an error in the scenario.
fn add_file_name(error: JobError, command: &JobArgs) -> anyhow::Error {
    match (&error, &command.scenario) {
        (JobError::Scenario(fault), Some(path)) => anyhow::anyhow!("{path}:{fault}"),
        _ => error.into(),
    }
}

fn orders(command: &JobArgs, program: Utf8PathBuf, transport: Transport, port_mbps: u32) -> Orders {
    Orders {
        program,
        transport,
        pattern: command.pattern,
        message_bytes: command.bytes,
        unit: command.unit,
        max_in_flight: usize::from(command.outstanding),
        messages: command.messages,
        port_mbps,
        seed: command.seed,
        patience: Duration::from_secs(command.patience),
        burst_interval: command.every.map(Duration::from_millis),
        stall: command.stall.map(Duration::from_millis),
    }
}

/// Returns the path of the agent's program.
fn program(command: &JobArgs) -> anyhow::Result<Utf8PathBuf> {
    let program = match &command.nic_binary {
        Some(program) => program.clone(),
        None => Utf8PathBuf::from(labs::program()?).with_file_name("closc-nic"),
    };
    let found = program.is_file();
    anyhow::ensure!(
        found,
        "target `linux` runs the host agent, but `{program}` does not exist: install `closc-nic` there \
         (`cargo build -p closc-nic`), or name it by `--nic-binary`; fabrics with `os: p4` need none on \
         target `embedded`"
    );
    program.canonicalize_utf8().with_context(|| format!("cannot find `{program}`"))
}
