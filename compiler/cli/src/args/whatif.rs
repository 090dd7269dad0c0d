//! Arguments of `whatif`.

use camino::Utf8PathBuf;
use closc_whatif::{Draw, Kind, unknown_kind};

use super::{PartArgs, number};

/// Arguments of `whatif`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = NAMES)]
pub struct WhatifArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Fail these elements together; repeatable
    #[arg(long, value_name = "NAME")]
    pub fail: Vec<String>,
    /// Fail random elements, for example `t0-t1=1%` or `t1=3`; repeatable
    #[arg(long, value_name = "KIND=RATE", value_delimiter = ',')]
    pub random: Vec<Draw>,
    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random")]
    pub seed: u64,
    /// Repeat with N consecutive seeds
    #[arg(long, value_name = "N", default_value_t = 1, requires = "random",
          value_parser = number::trials())]
    pub trials: u64,
    /// Fail each combination of these kinds, or `all`
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_kinds)]
    pub each: Vec<Kinds>,
    /// Simultaneous failures with `--each`
    #[arg(long, short = 'k', value_name = "N", default_value_t = 1, requires = "each",
          value_parser = clap::value_parser!(u8).range(1..=3))]
    pub together: u8,
    /// Replay failures and repairs: lines of TIME,down|up,NAME
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "against", "trials"])]
    pub trace: Option<Utf8PathBuf>,
    /// Compare with another design
    #[arg(long, value_name = "FILE", conflicts_with_all = ["each", "fail", "random"])]
    pub against: Option<Utf8PathBuf>,
    /// Only failures in this part; the impact covers the complete fabric
    #[command(flatten)]
    pub part: PartArgs,
    /// Additional failure domains: lines of DOMAIN,NAME
    #[arg(long, value_name = "FILE")]
    pub domains: Option<Utf8PathBuf>,
    /// Worst pairs printed, up to 100000; 0 for none
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = number::row_limit_parser())]
    pub worst: u32,
}

impl WhatifArgs {
    /// Returns whether failures are tried one by one.
    pub(crate) fn tries(&self) -> bool {
        let given = self.fail.is_empty() && self.random.is_empty();
        self.trace.is_none() && self.against.is_none() && (!self.each.is_empty() || given)
    }
}

/// One kind, or all.
#[derive(Debug, Clone)]
pub struct Kinds(pub Vec<Kind>);

const NAMES: &str = "\
Names are those of `exceptions` in the fabric file, with ranges in brackets:
  p3-t0-017                  a switch           p3-t0-017--p3-t1-005   a cable
  su017-n004                 a node             plane 3                a plane
  su017-n004/nic2            a NIC              su017-n004/nic2.p3     a NIC port and its cable
Elements that fail as one:
  p3-t0-017/cage9            a transceiver or breakout cable, by its number on the panel
  su017-n004/nic2/cage1      a transceiver of a NIC, and so its ports in that cage
  group 17, zone 1 group 17  a T0 group         zone 1, site north, domain power-1 (or domain:power-1)
  span south                 the cables between a site and the T2s in another; `span south at 50%` leaves half

Kinds: t0-t1, t1-t2, nic-t0, transceiver (or breakout), nic-transceiver, nic, adapter, node, t0, t1, t2, group, plane, zone, site, domain, span

`--shard I/N` and `--select TERMS` divide failures that are tried one by one. `closc merge` adds up the JSON of all shards.

Bandwidth of a pair is given for two cases. While all pairs send, a pair gets its share of the remaining paths. Alone, a pair
gets the speed of its NIC ports in the planes that still have a path.

Exit codes: 0 no pair is cut off, 1 failure or a pair is cut off";

fn parse_kinds(word: &str) -> Result<Kinds, String> {
    if word == "all" {
        return Ok(Kinds(Kind::ALL.to_vec()));
    }
    Kind::parse(word).map(|kind| Kinds(vec![kind])).ok_or_else(|| unknown_kind(word))
}
