//! Arguments of the commands that compare fabrics.

use std::net::SocketAddr;

use camino::Utf8PathBuf;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Old side: fabric file, `git:REV:PATH`, compiled tree, or `live`
    #[arg(required_unless_present_any = ["show", "check"])]
    pub old: Option<String>,
    /// New side, in the same forms
    #[arg(required_unless_present_any = ["show", "check"])]
    pub new: Option<String>,
    /// List all names instead of counts, and compare all files
    #[arg(long)]
    pub list: bool,
    /// Add the text difference of every file (trees)
    #[arg(long)]
    pub text: bool,
    /// Add the rollout order (fabric files)
    #[arg(long)]
    pub waves: bool,
    /// Maximum bandwidth loss of a pair per wave, in percent [default: one plane]
    #[arg(long, value_name = "PERCENT", requires = "waves", value_parser = parse_percent)]
    pub share: Option<f64>,
    /// Switch inventory of `live` (YAML or JSON), or `lab` for the running lab
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Option<Utf8PathBuf>,
    /// Folder with site additions for SONiC, as for `push`
    #[arg(long, value_name = "DIR", requires = "inventory")]
    pub overlay: Option<Utf8PathBuf>,
    /// OpenSSH client configuration file for `live`
    #[arg(long, value_name = "FILE", requires = "inventory")]
    pub ssh_config: Option<Utf8PathBuf>,
    /// Save the difference, with the digests of both sides
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Write patches for SONiC's `config apply-patch` into a new or empty folder
    #[arg(long, value_name = "DIR")]
    pub patches: Option<Utf8PathBuf>,
    /// Show a saved difference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "new", "check", "out", "waves", "patches"])]
    pub show: Option<Utf8PathBuf>,
    /// Show a saved difference, and fail if a side has changed
    #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "new", "out", "waves", "patches"])]
    pub check: Option<Utf8PathBuf>,
}

/// Arguments of `drain` and `undrain`.
#[derive(Debug, Clone, clap::Args)]
pub struct DrainArgs {
    /// Switch, cable, NIC port, or `plane 3`
    pub name: String,
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Write the file
    #[arg(long, short)]
    pub write: bool,
    /// Agent socket or pattern to notify; repeatable
    #[arg(long, value_name = "PATH", requires = "write", conflicts_with = "collector")]
    pub nic: Vec<String>,
    /// Address of a local `closc collect --apply --web` to notify
    #[arg(long, value_name = "ADDRESS", requires = "write")]
    pub collector: Option<SocketAddr>,
    /// Token file of the collector
    #[arg(long, value_name = "FILE", requires = "collector")]
    pub token: Option<Utf8PathBuf>,
}

/// Arguments of `grow`.
#[derive(Debug, clap::Args)]
pub struct GrowArgs {
    /// Current fabric file, or `git:REV:PATH`
    pub old: String,
    /// Fabric file of the larger fabric
    pub new: String,
    /// Print every cable as CSV, with ports and length
    #[arg(long)]
    pub csv: bool,
    /// Use the port order that moves the fewest cables
    #[arg(long)]
    pub minimal: bool,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| format!("`{text}` is not a number"))?;
    if number > 0.0 && number <= 100.0 {
        Ok(number / 100.0)
    } else {
        Err(format!("`{text}` is out of range; expected above 0, at most 100"))
    }
}
