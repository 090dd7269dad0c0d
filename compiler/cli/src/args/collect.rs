//! Arguments of `collect`.

use std::net::SocketAddr;

use camino::Utf8PathBuf;

use super::number;
use super::serve::ServeArgs;

/// Arguments of `collect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without `--apply` nothing is denied: denials are proposed and shown.\n\n\
                  Exit codes: 0 stopped, or with `--for` nothing is broken; 1 failed, or with `--for` something is")]
pub struct CollectArgs {
    /// Fabric file, or `-` for standard input
    pub file: Utf8PathBuf,
    /// Sockets of agents: a path, or a pattern with `*` and `?` that is looked at anew each time
    #[arg(long, value_name = "SOCKET", required = true)]
    pub nic: Vec<String>,
    /// Ask agents to deny what is broken, and take orders on the page
    #[arg(long, requires = "state")]
    pub apply: bool,
    /// Where denials are kept, so that none is forgotten
    #[arg(long, value_name = "FILE")]
    pub state: Option<Utf8PathBuf>,
    /// Where the switches are, to read their counters: YAML or JSON, one entry a switch; `lab` for those of the lab
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Option<Utf8PathBuf>,
    /// Where metrics, JSON and the page are served; others than this machine need certificates
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9561")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub serve: ServeArgs,
    /// Serve a page for people too
    #[arg(long)]
    pub web: bool,
    /// Milliseconds between two questions to an agent
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=600_000))]
    pub poll: u64,
    /// Good probes in a row after which a denial ends; more where little was lost
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number::from_1())]
    pub good_probes: u32,
    /// Seconds after which a denial ends by itself
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = number::seconds())]
    pub deny_for: u64,
    /// Percent of a plane that may be denied; 0 denies nothing
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    pub plane_share: f64,
    /// Stop after so many seconds and print what is broken; exit 1 if anything is, or nobody answers
    #[arg(long = "for", value_name = "SECONDS", value_parser = number::seconds())]
    pub seconds: Option<u64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("`{text}` is no number"))?;
    if (0.0..=100.0).contains(&share) { Ok(share) } else { Err("it is from 0 to 100".to_owned()) }
}
