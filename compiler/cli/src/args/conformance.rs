//! Arguments of `conformance`.

use camino::Utf8PathBuf;

use super::number;

/// The server to test, and the program to test it with.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes: 0 no corner failed, 1 a corner failed or the server cannot be tested")]
pub(crate) struct ConformanceArgs {
    /// Address of the server: `HOST:PORT` or `unix:PATH`
    pub address: String,
    /// Device id, from 0
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub device_id: u64,
    /// First election id, above 0 [default: from the clock]
    #[arg(long, value_name = "N")]
    pub election_id: Option<u64>,
    /// Replace the pipeline that the device runs
    #[arg(long)]
    pub replace: bool,
    /// Test only these sections, for example `9.1`
    #[arg(long, value_name = "NUMBER", value_delimiter = ',')]
    pub section: Vec<String>,
    /// Test only these rules of the specification (corners), by name
    #[arg(long, value_name = "ID", value_delimiter = ',', conflicts_with = "section")]
    pub corner: Vec<String>,
    /// Print all corners (tested rules), with the sentences of the specification
    #[arg(long)]
    pub all: bool,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = number::seconds())]
    pub timeout: u64,
    /// Program in the format of the target, instead of BMv2 JSON
    #[arg(long, value_name = "FILE")]
    pub device_config: Option<Utf8PathBuf>,
    /// P4Info of that program, as text
    #[arg(long, value_name = "FILE", requires = "device_config")]
    pub p4info: Option<Utf8PathBuf>,
    /// Authority that signs the certificate of the server
    #[arg(long, value_name = "PEM")]
    pub tls_ca: Option<Utf8PathBuf>,
    /// Client certificate chain
    #[arg(long, value_name = "PEM", requires_all = ["tls_ca", "tls_key"])]
    pub tls_cert: Option<Utf8PathBuf>,
    /// Private key of that certificate
    #[arg(long, value_name = "PEM", requires = "tls_cert")]
    pub tls_key: Option<Utf8PathBuf>,
    /// Name in the certificate of the server
    #[arg(long, value_name = "NAME", requires = "tls_ca")]
    pub tls_name: Option<String>,
}
