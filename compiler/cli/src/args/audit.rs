//! Arguments of `audit`.

use camino::Utf8PathBuf;
use clap::Subcommand;

/// Subcommands of `audit`.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no line was changed, removed or added
    #[command(after_help = "Exit codes: 0 no line was changed, removed or added, 1 failure")]
    Verify(VerifyArgs),
}

/// Arguments of `audit verify`.
#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Files of one audit log, oldest first
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<Utf8PathBuf>,
    /// Expected digest of the last line
    #[arg(long, value_name = "DIGEST")]
    pub(crate) last: Option<String>,
}
