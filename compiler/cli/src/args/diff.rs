//! Arguments of the commands that compare fabrics.

use std::net::SocketAddr;

use camino::Utf8PathBuf;

/// Arguments of `diff`.
#[derive(Debug, clap::Args)]
pub struct DiffArgs {
    /// Fabric file, `git:REV:PATH`, compiled tree, or `live` for what switches hold
    #[arg(required_unless_present_any = ["show", "check"])]
    pub old: Option<String>,
    /// The same, after the change
    #[arg(required_unless_present_any = ["show", "check"])]
    pub new: Option<String>,
    /// List every name behind a count, and look into every file of a tree
    #[arg(long)]
    pub list: bool,
    /// Of trees, add the text difference of every file
    #[arg(long)]
    pub text: bool,
    /// Of plans, add the order in which to roll it out
    #[arg(long)]
    pub waves: bool,
    /// Part of any pair's bandwidth that a wave may take, in percent; one plane if not given
    #[arg(long, value_name = "PERCENT", requires = "waves", value_parser = parse_percent)]
    pub share: Option<f64>,
    /// Where the switches of `live` are: YAML or JSON, one entry a switch; `lab` for those of the fabric's lab
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Option<Utf8PathBuf>,
    /// What the site adds to SONiC switches of `live`: a folder of JSON files, as for `push`
    #[arg(long, value_name = "DIR", requires = "inventory")]
    pub overlay: Option<Utf8PathBuf>,
    /// Configuration of `ssh` for SONiC switches of `live`, in place of your own
    #[arg(long, value_name = "FILE", requires = "inventory")]
    pub ssh_config: Option<Utf8PathBuf>,
    /// Save the difference with the digests of both sides
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<Utf8PathBuf>,
    /// Of plans, write what changes on each SONiC switch as patches for `config apply-patch` into this folder, which is new
    /// or empty
    #[arg(long, value_name = "DIR")]
    pub patches: Option<Utf8PathBuf>,
    /// Show a saved difference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["old", "new", "check", "out", "waves", "patches"])]
    pub show: Option<Utf8PathBuf>,
    /// Show a saved difference, and fail if one of its sides is no longer what it was; `push` does the same
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
    /// Socket of a host agent, or a pattern: each is asked at once; may be given several times
    #[arg(long, value_name = "PATH", requires = "write", conflicts_with = "collector")]
    pub nic: Vec<String>,
    /// Where `closc collect --apply --web` serves on this machine: it asks its agents at once; the file is written if it takes the drain
    #[arg(long, value_name = "ADDRESS", requires = "write")]
    pub collector: Option<SocketAddr>,
}

/// Arguments of `grow`.
#[derive(Debug, clap::Args)]
pub struct GrowArgs {
    /// Fabric file of today, or `git:REV:PATH`
    pub old: String,
    /// Fabric file of the larger fabric
    pub new: String,
    /// Print every cable with its ports and length as CSV
    #[arg(long)]
    pub csv: bool,
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.trim_end_matches('%').trim().parse().map_err(|_| format!("`{text}` is no number"))?;
    if number > 0.0 && number <= 100.0 {
        Ok(number / 100.0)
    } else {
        Err(format!("`{text}` is not above 0 and at most 100"))
    }
}
