//! Arguments of `collect`.

use std::net::SocketAddr;

use camino::Utf8PathBuf;
use closc_collect::io::Operators;

use super::number;
use super::serve::ServeArgs;

/// Arguments of `collect`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without `--apply`, denials are proposed and shown only.\n\n\
                  Exit codes: 0 stopped, or no fault with `--for`; 1 failure, or a fault with `--for`")]
pub struct CollectArgs {
    /// Fabric file, or `-` for stdin
    pub file: Utf8PathBuf,
    /// Agent sockets: a path, a pattern with `*` and `?`, or NIC=PATH
    #[arg(long, value_name = "SOCKET", required = true)]
    pub nic: Vec<String>,
    /// Apply denials on agents, and accept orders on the page
    #[arg(long, requires = "state")]
    pub apply: bool,
    /// File that stores denials
    #[arg(long, value_name = "FILE")]
    pub state: Option<Utf8PathBuf>,
    /// Switch inventory for reading counters (YAML or JSON), or `lab`
    #[arg(long, short, value_name = "FILE")]
    pub inventory: Option<Utf8PathBuf>,
    /// Address of the HTTP server; TLS required beyond loopback
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9561")]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub serve: ServeArgs,
    /// Serve a web page
    #[arg(long)]
    pub web: bool,
    /// Token file for orders, created if missing [default: STATE.token]
    #[arg(long, value_name = "FILE", requires = "web", requires = "apply")]
    pub order_token: Option<Utf8PathBuf>,
    /// Certificate name of an operator who may send orders; repeatable
    #[arg(long, value_name = "NAME", requires = "web", requires = "apply", requires = "tls_client_ca")]
    pub operator: Vec<String>,
    /// Milliseconds between polls of an agent
    #[arg(long, value_name = "MS", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(100..=600_000))]
    pub poll: u64,
    /// Successful probes in a row that end a denial
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = number::from_1())]
    pub good_probes: u32,
    /// Lifetime of a denial in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600, value_parser = number::seconds())]
    pub deny_for: u64,
    /// Maximum share of a plane that can be denied, 0 to 100 percent
    #[arg(long, value_name = "PERCENT", default_value_t = 10.0, value_parser = percent)]
    pub plane_share: f64,
    /// Messages on stderr: a level, or `module=level` pairs
    #[arg(long, value_name = "FILTER", value_parser = closc_log::parse_filter)]
    pub log: Option<closc_log::Filter>,
    /// Stop after N seconds and print faults; exit 1 on any fault or unchecked cable
    #[arg(long = "for", value_name = "SECONDS", value_parser = number::seconds())]
    pub seconds: Option<u64>,
}

impl CollectArgs {
    /// Returns the clients that may give orders, if orders are accepted at all.
    pub fn operators(&self) -> Operators {
        if !self.web || !self.apply {
            return Operators::default();
        }
        let beside_state = || self.state.as_ref().map(|state| Utf8PathBuf::from(format!("{state}.token")));
        Operators {
            token_file: self.order_token.clone().or_else(beside_state),
            names: self.operator.iter().cloned().collect(),
        }
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
    if (0.0..=100.0).contains(&share) { Ok(share) } else { Err("expected 0 to 100".to_owned()) }
}
