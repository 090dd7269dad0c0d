//! `closc te`: places a traffic matrix on the plan, and compares the result with ECMP and the optimum.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_artefacts::Routing;
use closc_fabric::Fabric;
use closc_files::disk;
use closc_plan::Plan;
use closc_te::{Matrix, Options, Outcome as Placed, PINS_FORMAT, Pin, PinLine, Report, engineer, human};

use crate::args::te::TeArgs;
use crate::args::{Args, Format};
use crate::input;
use crate::output::{self, Document, Outcome};

/// Placed demands.
pub(crate) const TE: Document<Report> = Document::new("closc-te/1");

/// Places the demands.
pub fn run(args: &Args, command: &TeArgs) -> anyhow::Result<Outcome> {
    let Some(input) = input::read_again(args, &command.file)? else { return Ok(Outcome::Failed) };
    let plan = remove_elements(input.plan, &command.fail)?;
    if command.out.is_some() && plan.topology().routing.speaks_bgp() {
        bail!("`--out`: a fabric with `routing: bgp-unnumbered` does not support pins; `ecmp-static` does");
    }
    let matrix = matrix(&plan, &command.demand)?;
    let options = Options {
        seed: command.seed,
        flows: command.flows,
        tolerance: command.tolerance / 100.0,
        slices: command.slices,
        ..Options::default()
    };
    let placed = engineer(&plan, &matrix, &options)?;
    let report = placed.report(&plan, &command.fail);
    let outcome = if report.fits { Outcome::Fine } else { Outcome::Failed };
    if let Some(out) = &command.out {
        output::check_extension(out, &["csv", "json"], "use `.csv` or `.json`")?;
        write(&plan, &placed, out)?;
    }
    if output::is_standard(command.out.as_ref()) {
        output::say(human(&report).trim_end());
        return Ok(outcome);
    }
    match args.format {
        Format::Human | Format::Json | Format::Markdown | Format::Html | Format::Rows(_) => {
            output::result(args.format, &TE, &report, human)?;
        }
        Format::Github => output::print(&annotations(&report))?,
    }
    Ok(outcome)
}

/// Removes the elements of `--fail`.
fn remove_elements(plan: Plan, fail: &[String]) -> anyhow::Result<Plan> {
    if fail.is_empty() {
        return Ok(plan);
    }
    let mut topology = plan.topology().clone();
    for name in fail {
        closc_te::fail(&mut topology, name).context("`--fail`")?;
    }
    Ok(Plan::new(Fabric::new(Arc::new(topology))))
}

/// Maximum size of a traffic matrix in bytes: a billion pairs in Parquet.
const DEMANDS_MAX: u64 = 16 << 30;

/// Reads the demands; the error lists all faults.
fn matrix(plan: &Plan, file: &Utf8Path) -> anyhow::Result<Matrix> {
    let bytes = closc_files::read_user_file(output::input_path(file), DEMANDS_MAX)?;
    let read = if file.extension() == Some("parquet") {
        Matrix::from_parquet(plan, bytes)
    } else {
        Matrix::from_csv(plan, &bytes)
    };
    read.or_else(|faults| {
        let lines: Vec<String> = faults.iter().map(|fault| format!("{file}:{fault}")).collect();
        bail!("{}", lines.join("\n       "))
    })
}

/// Writes the pins; atomically, except to stdout.
fn write(plan: &Plan, placed: &Placed, out: &Utf8Path) -> anyhow::Result<()> {
    let done = if out == output::STANDARD {
        pins(plan, placed, out, std::io::stdout().lock())
    } else {
        disk::replace_with(out, disk::SyncMode::Yes, |file| pins(plan, placed, out, file))
    };
    match done {
        // A reader may close the pipe early.
        Err(error) if out == output::STANDARD && error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done.with_context(|| format!("cannot write `{out}`")),
    }
}

/// Writes the pins as CSV if the file name ends in `.csv`, otherwise as JSON.
fn pins(plan: &Plan, placed: &Placed, out: &Utf8Path, file: impl std::io::Write) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(file);
    match (out.extension(), plan.topology().routing) {
        (Some("csv"), Routing::EcmpStatic) => {
            file.write_all(PinLine::HEADER.as_bytes())?;
            for line in placed.pin_lines(plan) {
                write!(file, "{line}")?;
            }
        }
        (Some("csv"), Routing::Srv6Static | Routing::BgpUnnumbered) => {
            file.write_all(Pin::CSV_HEADER.as_bytes())?;
            for pin in placed.pins(plan) {
                file.write_all(pin.csv().as_bytes())?;
            }
        }
        _ => json(plan, placed, &mut file).map_err(std::io::Error::other)?,
    }
    file.flush()
}

/// Writes the pins as JSON, one per line.
fn json(plan: &Plan, placed: &Placed, file: &mut impl std::io::Write) -> anyhow::Result<()> {
    let topology = plan.topology();
    let head = serde_json::json!({
        "format": PINS_FORMAT,
        "fabric": topology.name.as_str(),
        "routing": topology.routing.keyword(),
    });
    let head = head.to_string();
    write!(file, "{},\"pins\":[", head.trim_end_matches('}'))?;
    for (at, pin) in placed.pins(plan).enumerate() {
        write!(file, "{}\n{}", if at == 0 { "" } else { "," }, serde_json::to_string(&pin)?)?;
    }
    writeln!(file, "\n]}}")?;
    Ok(())
}

/// Returns an annotation for each demand that is not carried, and one for the results.
fn annotations(report: &Report) -> String {
    let escape = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let lost = report.unplaced.iter().map(|left| {
        let line = format!("{} to {}: {:.1} Gb/s not carried: {}", left.from, left.to, left.gbps, left.why);
        format!("::warning title=traffic engineering::{}\n", escape(&line))
    });
    let max = report.methods.iter().map(|method| format!("{} {:.2} %", method.name, method.max * 100.0));
    let line = format!("{}, bound {:.2} %", max.collect::<Vec<_>>().join(", "), report.bound * 100.0);
    lost.chain([format!("::notice title=traffic engineering::{}\n", escape(&line))]).collect()
}
