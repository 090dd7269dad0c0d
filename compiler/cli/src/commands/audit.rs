//! `closc audit verify`: follows the chain of digests of an audit log.
//!
//! In: files of one log, oldest first. Out: the number of lines and the digest of the last. The first line that breaks
//! the chain is a failure.

use std::fs::File;
use std::io::BufReader;

use anyhow::{Context as _, bail};
use closc_audit::{Chain, ChainFault};
use closc_diagnostics::figures::format_count;

use crate::args::Args;
use crate::args::audit::{AuditCommand, VerifyArgs};
use crate::output::{self, Document, Outcome};

/// Checked lines of an audit log.
pub(crate) const AUDIT: Document<Chain> = Document::new("closc-audit/1");

/// Runs the subcommand.
pub fn run(args: &Args, command: &AuditCommand) -> anyhow::Result<Outcome> {
    match command {
        AuditCommand::Verify(command) => verify(args, command),
    }
}

fn verify(args: &Args, command: &VerifyArgs) -> anyhow::Result<Outcome> {
    let mut chain = Chain::new();
    for path in &command.files {
        let file = closc_files::open_own_file(path, File::options().read(true))
            .with_context(|| format!("`{path}`"))?;
        let before = chain.lines;
        match chain.follow(BufReader::new(file)) {
            Err(ChainFault::Foreign(line)) => bail!("{path}:{line}: this is not an audit record"),
            followed => followed.with_context(|| format!("`{path}`"))?,
        }
        if chain.lines == before {
            tracing::warn!(
                "`{path}` has no record; `--last DIGEST` detects records that were removed at the end"
            );
        }
    }
    if let Some(last) = command.last.as_ref().filter(|last| **last != chain.last) {
        bail!(
            "the last line has digest {}, but `--last` is {last}: lines were removed or added at the end",
            chain.last
        );
    }
    output::result(args.format, &AUDIT, &chain, human)?;
    Ok(Outcome::Fine)
}

fn human(chain: &Chain) -> String {
    let continues =
        chain.continues.as_ref().map(|digest| format!("continues an older file after {digest}\n"));
    let cut_off = (chain.cut_off > 0)
        .then(|| format!("cut off, as by a power failure: {}\n", format_count(chain.cut_off, "line")));
    format!(
        "{}{}{} in sequence; the last has digest {}\n",
        continues.unwrap_or_default(),
        cut_off.unwrap_or_default(),
        format_count(chain.lines, "line"),
        chain.last
    )
}
