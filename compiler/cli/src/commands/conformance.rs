//! `closc conformance`: tests a P4Runtime server against the sentences of the specification.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use camino::Utf8Path;
use closc_conformance::{Report, Section, Subject, corners, judge, program};
use closc_diagnostics::printable;
use closc_files::{KEY_MAX, TEXT_MAX};
use closc_runtime::DeviceId;
use closc_runtime::client::{Client, ClientTls, Deadlines, Endpoint, Options};
use closc_runtime::text::read_p4info;

use crate::args::Args;
use crate::args::conformance::ConformanceArgs;
use crate::commands::control;
use crate::output::{self, Document, Outcome};
use crate::progress;

/// The verdicts on a server.
pub(crate) const CONFORMANCE: Document<Report> = Document::new("closc-conformance/1");

/// Maximum size of a compiled program for the target, in bytes.
const PROGRAM_MAX: u64 = 256 << 20;

/// Tests a server; exits with 1 if a corner failed.
pub fn run(args: &Args, command: &ConformanceArgs) -> anyhow::Result<Outcome> {
    for number in &command.section {
        if !Section::ALL.iter().any(|section| section.is_in(number)) {
            let known: Vec<&str> = Section::ALL.iter().map(|section| section.number()).collect();
            bail!("section `{number}` has no corner; expected one of {}", known.join(", "));
        }
    }
    let wanted = |section: Section, id: &str| {
        let is_section = |number: &String| section.is_in(number);
        (command.section.is_empty() || command.section.iter().any(is_section))
            && (command.corner.is_empty() || command.corner.iter().any(|corner| corner == id))
    };
    let bar = progress::bar(args.quiet, 0, "judging");
    let report = control::block_on(async {
        let subject = subject(command).await?;
        let known = corners(subject.p4info.clone())?;
        if let Some(corner) = command.corner.iter().find(|corner| !known.contains(&corner.as_str())) {
            bail!("unknown corner `{corner}`; `closc conformance ADDRESS --all` prints the names");
        }
        let show_progress = |done: usize, count: usize| {
            bar.set_length(count as u64);
            bar.set_position(done as u64);
        };
        Ok(judge(subject, wanted, show_progress).await?)
    })?;
    bar.finish_and_clear();
    let outcome = if report.failed == 0 { Outcome::Fine } else { Outcome::Failed };
    let show = |report: &Report| printable::lines(&report.show(command.all));
    output::print_outcome(args, outcome, &CONFORMANCE, &report, show)
}

/// Connects to the server.
async fn subject(command: &ConformanceArgs) -> anyhow::Result<Subject> {
    let patience = Duration::from_secs(command.timeout);
    let endpoint = match tls(command)? {
        Some(tls) => Endpoint::tls(&command.address, tls)?,
        None => Endpoint::plain(&command.address)?,
    };
    let (info, own) = program();
    let info = match &command.p4info {
        Some(path) => output::read(path, TEXT_MAX)?,
        None => info.to_owned(),
    };
    let device_config = match &command.device_config {
        Some(path) => closc_files::read_user_file(path, PROGRAM_MAX)?.into(),
        None => own.into(),
    };
    let p4info = read_p4info(&info).context("the P4Info cannot be read")?;
    let options = Options { deadlines: Deadlines::all(patience), ..Options::default() };
    let client = Client::connect(&endpoint, DeviceId(command.device_id), options).await?;
    let (election, replace) = (command.election_id.unwrap_or_else(by_clock).into(), command.replace);
    Ok(Subject { client, p4info, device_config, election, replace, patience })
}

/// Returns an election id that is greater than those of earlier runs, which a server remembers.
fn by_clock() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_micros()).unwrap_or(1 << 40)
}

/// Reads the certificates if `--tls-ca` is given.
fn tls(command: &ConformanceArgs) -> anyhow::Result<Option<ClientTls>> {
    let Some(authority) = &command.tls_ca else { return Ok(None) };
    let authority = closc_files::read_user_file(authority, KEY_MAX)?;
    let identity = match (&command.tls_cert, &command.tls_key) {
        (Some(certificate), Some(key)) => {
            Some((closc_files::read_user_file(certificate, KEY_MAX)?, secret(key)?))
        }
        (Some(_) | None, _) => None,
    };
    Ok(Some(ClientTls { authority, identity, server_name: command.tls_name.clone() }))
}

/// Reads a private key; rejects one that other users can read.
fn secret(path: &Utf8Path) -> anyhow::Result<Vec<u8>> {
    let name = path.file_name().with_context(|| format!("`{path}` does not name a file"))?;
    Ok(closc_files::open_folder_of(path)?.secret(name, KEY_MAX)?)
}
