//! Arguments of `cables`.

use camino::Utf8PathBuf;
use clap::Subcommand;

use super::number;

/// What can be asked of cables.
#[derive(Debug, Subcommand)]
pub(crate) enum CablesCommand {
    /// Find cables that are missing, wrong or swapped in what devices report of their neighbours (LLDP)
    #[command(
        after_help = "Exit codes: 0 all cables that devices report are as planned, 1 failed, 2 some are not"
    )]
    Check(CheckArgs),
}

/// Arguments of `cables check`.
#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Fabric file
    pub(crate) file: Utf8PathBuf,
    /// Reports: files named after their device, as in `p0-t0-001.json`, or `DEVICE=FILE`, or folders of such files.
    /// Read are `lldpctl -f json` and `json0`, `lldpctl`, SONiC's `show lldp table` and `show lldp neighbors`,
    /// `sonic-db-dump -n APPL_DB -y`, and LLDP frames that P4Runtime switches punt (`PacketIn` as JSON, one a line)
    #[arg(required = true, value_name = "[DEVICE=]FILE|DIR")]
    pub(crate) reports: Vec<String>,
    /// Show at most this many findings; 0 only counts them
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = number::from_0())]
    pub(crate) shown: u32,
}
