//! Arguments of `cables`.

use camino::Utf8PathBuf;
use clap::Subcommand;

use super::number;

/// Subcommands of `cables`.
#[derive(Debug, Subcommand)]
pub(crate) enum CablesCommand {
    /// Find missing, wrong and swapped cables in LLDP reports
    #[command(after_help = "Exit codes: 0 all reported cables match the plan, 1 failure, 2 differences")]
    Check(CheckArgs),
}

/// Arguments of `cables check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Fabric file
    pub(crate) file: Utf8PathBuf,
    /// LLDP reports: `DEVICE=FILE`, files named after their device (`p0-t0-001.json`), or folders. Formats: `lldpctl`
    /// (text, json, json0), SONiC's `show lldp table|neighbors`, `sonic-db-dump -n APPL_DB -y`, P4Runtime `PacketIn`
    /// as JSON lines
    #[arg(required = true, value_name = "[DEVICE=]FILE|DIR")]
    pub(crate) reports: Vec<String>,
    /// Maximum number of causes to print; 0 prints only counts
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::from_0())]
    pub(crate) shown: u32,
    /// Print every finding below its cause
    #[arg(long)]
    pub(crate) list: bool,
}
