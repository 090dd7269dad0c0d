//! Arguments of `demo`.

use camino::Utf8PathBuf;

use super::number;

/// Arguments of `demo`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A tour breaks a T1, a cable, a NIC port and a plane, one after the other. A click on the page ends the tour, \
                  and the demo then runs until Ctrl-C.\n\n\
                  Exit codes: 0 only the injected faults were named, 1 otherwise"
)]
pub struct DemoArgs {
    /// Also narrate the tour on the terminal
    #[arg(long)]
    pub tour: bool,
    /// Port of the page on 127.0.0.1; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// Run without a page, as fast as possible
    #[arg(long, conflicts_with = "port")]
    pub no_page: bool,
    /// Fabric time until the end [default: the length of the tour]
    #[arg(long = "for", value_name = "SECONDS", value_parser = number::seconds())]
    pub seconds: Option<u64>,
    /// Write a plot of goodput over time (SVG)
    #[arg(long, value_name = "FILE")]
    pub plot: Option<Utf8PathBuf>,
}
