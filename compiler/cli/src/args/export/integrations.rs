//! Arguments of the exports for schedulers, simulators, emulators and inventories.

use std::net::{IpAddr, SocketAddr};

use camino::Utf8PathBuf;
use clap::ValueEnum;
use closc_exports::containerlab::CONTAINERS;
use closc_exports::schedule::labels::Keys;
use closc_exports::sonic_mgmt::Generator;
use closc_exports::telemetry::sflow;
use closc_platform::Os;
use closc_qos::units::Bytes;

use super::super::number;

/// Arguments of `export scheduler`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchedulerArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `slurm/`, `kubernetes/`, `topograph/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Only these schedulers
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<Scheduler>,
    /// Node label keys: `topograph`, `nvidia`, or one key per level, nearest first
    #[arg(long, value_name = "KEYS", default_value = "topograph")]
    pub labels: Keys,
}

/// A scheduler, or a program that provides a scheduler with the topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scheduler {
    /// `topology.conf` as tree and as blocks, and `topology.yaml`
    Slurm,
    /// `Topology` and `ResourceFlavor`
    Kueue,
    /// Labels of Kubernetes nodes
    Labels,
    /// A model file
    Topograph,
}

/// Arguments of `export simulation`.
#[derive(Debug, clap::Args)]
pub(crate) struct SimulationArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Simulator
    #[arg(long = "for", value_name = "NAME")]
    pub simulator: Simulator,
    /// Output folder; files go to a folder named after the simulator
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Only these planes; the first is 0
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = number::plane)]
    pub plane: Vec<u8>,
    /// Traffic pattern
    #[arg(long, value_name = "PATTERN", default_value = "permutation", conflicts_with = "demand")]
    pub flows: Flows,
    /// Bytes per flow over all planes, at most 1000GB
    #[arg(long, value_name = "BYTES", default_value = "64MB", conflicts_with = "demand", value_parser = number::flow)]
    pub bytes: Bytes,
    /// Random seed of a permutation
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Traffic matrix (CSV) instead of a pattern, as for `te`
    #[arg(long, value_name = "FILE")]
    pub demand: Option<Utf8PathBuf>,
    /// Duration of the traffic matrix in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 1, value_parser = number::from_1(), requires = "demand")]
    pub milliseconds: u32,
}

/// A simulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Simulator {
    /// Infrastructure as a graph, JSON
    Infragraph,
    /// Network of the analytical backend, graphs of the ns-3 backend
    AstraSim,
    /// Fat tree and connection matrix of csg-htsim
    Htsim,
    /// Graph and flows in the format of the HPCC code
    Ns3,
}

/// A pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Flows {
    /// No traffic
    None,
    /// Every NIC sends to the next
    Ring,
    /// Every NIC sends to a random other NIC
    Permutation,
}

/// Arguments of `export containerlab`.
#[derive(Debug, clap::Args)]
pub(crate) struct ContainerlabArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files are `NAME.clab.yml` and `configs/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Container image of `sonic-vs`, `frr`, `linux` or `node`, for example `frr=quay.io/frrouting/frr:10.5.4`;
    /// repeatable
    #[arg(long, value_name = "NAME=IMAGE", value_parser = parse_image)]
    pub image: Vec<(String, String)>,
    /// Folder with site additions for SONiC, as for `push`
    #[arg(long, value_name = "DIR")]
    pub overlay: Option<Utf8PathBuf>,
}

/// Arguments of `export sonic-mgmt`.
#[derive(Debug, clap::Args)]
pub(crate) struct SonicMgmtArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files go to `ansible/`, as in a checkout of sonic-mgmt
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// Name of the inventory [default: name of the fabric]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub inventory: Option<String>,
    /// Traffic generator with its management address, for example `tg-1=192.0.2.9/24`; repeatable, nodes are divided
    #[arg(long, value_name = "NAME=ADDRESS/BITS", value_parser = parse_generator)]
    pub traffic_generator: Vec<Generator>,
}

/// Reads the name of a namespace: a label of RFC 1123, as Kubernetes requires.
pub(super) fn namespace(text: &str) -> Result<String, String> {
    let is_end = |c: Option<char>| c.is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit());
    let is_inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_label = (1..=63).contains(&text.len())
        && text.chars().all(is_inside)
        && is_end(text.chars().next())
        && is_end(text.chars().next_back());
    is_label.then(|| text.to_owned()).ok_or_else(|| {
        "expected a name of Kubernetes: up to 63 of `a`-`z`, `0`-`9` and `-`, with a letter or digit at both ends"
            .to_owned()
    })
}

/// Reads a release of the network operator, which is part of the tags of its images: `v26.7.0`.
pub(super) fn operator_release(text: &str) -> Result<String, String> {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (numbers, end) = text.split_at(text.find(['-', '+']).unwrap_or(text.len()));
    let parts: Vec<&str> = numbers.strip_prefix('v').unwrap_or_default().split('.').collect();
    let is_end = end.chars().all(|c| c.is_ascii_alphanumeric() || "-.+".contains(c));
    let is_release = parts.len() == 3 && parts.iter().all(|part| number(part)) && is_end;
    is_release.then(|| text.to_owned()).ok_or_else(|| "expected a release such as `v26.7.0`".to_owned())
}

fn parse_name(text: &str) -> Result<String, String> {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let is_name = text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(is_sign);
    is_name.then(|| text.to_owned()).ok_or_else(|| {
        "a name has up to 64 letters, digits, `-`, `_` and `.`, and starts with a letter or digit".to_owned()
    })
}

fn parse_generator(text: &str) -> Result<Generator, String> {
    let wrong = || "it is NAME=ADDRESS/BITS, for example `tg-1=192.0.2.9/24`".to_owned();
    let (name, address) = text.split_once('=').ok_or_else(wrong)?;
    let address = address.parse().map_err(|_| wrong())?;
    Ok(Generator { name: parse_name(name)?, address })
}

/// Arguments of `export resources`.
#[derive(Debug, clap::Args)]
pub(crate) struct ResourcesArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; the file is `resources.json`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
}

/// Arguments of `export telemetry`.
#[derive(Debug, clap::Args)]
pub(crate) struct TelemetryArgs {
    /// Fabric file
    pub file: Utf8PathBuf,
    /// Output folder; files are `gnmic.yaml`, `prometheus/`, `overlay/`, `eos/`
    #[arg(long, short, value_name = "DIR")]
    pub out: Utf8PathBuf,
    /// DNS domain of switches and nodes [default: management addresses]
    #[arg(long, value_name = "DOMAIN", value_parser = parse_domain)]
    pub domain: Option<String>,
    /// Seconds between samples of a counter
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = number::from_1())]
    pub interval: u32,
    /// gNMI port per operating system, for example `sonic=8080`; repeatable
    #[arg(long, value_name = "OS=PORT", value_parser = parse_gnmi_port)]
    pub gnmi_port: Vec<(Os, u16)>,
    /// Port of the node exporter
    #[arg(long, value_name = "PORT", default_value_t = 9100, value_parser = clap::value_parser!(u16).range(1..))]
    pub node_exporter: u16,
    /// Metrics port of the first agent of a node; each further agent has the next port [default: no agents]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub agent_metrics: Option<u16>,
    /// sFlow collector, at most two [default port: 6343]
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = parse_collector)]
    pub sflow: Vec<SocketAddr>,
}

fn parse_collector(text: &str) -> Result<SocketAddr, String> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let plain = || bare.parse::<IpAddr>().ok().map(|address| SocketAddr::new(address, sflow::PORT));
    match text.parse::<SocketAddr>().ok().or_else(plain) {
        Some(to) if to.port() > 0 && !to.ip().is_unspecified() => Ok(to),
        Some(_) | None => {
            Err("expected an address such as `192.0.2.9`, `192.0.2.9:6343` or `[2001:db8::9]:6343`"
                .to_owned())
        }
    }
}

fn parse_domain(text: &str) -> Result<String, String> {
    let is_part = |part: &str| {
        (1..=63).contains(&part.len())
            && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !part.starts_with('-')
            && !part.ends_with('-')
    };
    if text.len() <= 190 && text.split('.').all(is_part) {
        return Ok(text.to_owned());
    }
    Err("expected letters, digits and `-` in parts separated by dots, for example `mgmt.example`".to_owned())
}

fn parse_gnmi_port(text: &str) -> Result<(Os, u16), String> {
    let known = || Os::ALL.into_iter().filter(|os| os.telemetry().gnmi.is_some());
    let wrong = || {
        let words: Vec<&str> = known().map(Os::keyword).collect();
        format!("expected OS=PORT; systems with a gNMI server: {}", words.join(", "))
    };
    let (word, port) = text.split_once('=').ok_or_else(wrong)?;
    let os = known().find(|os| os.keyword() == word).ok_or_else(wrong)?;
    let port = port.parse().ok().filter(|port| *port > 0).ok_or("expected a port from 1 to 65535")?;
    Ok((os, port))
}

/// Name that `--image` uses for nodes.
pub(crate) const NODE: &str = "node";

fn parse_image(text: &str) -> Result<(String, String), String> {
    let words: Vec<&str> = CONTAINERS.iter().map(|container| container.name).chain([NODE]).collect();
    match text.split_once('=') {
        Some((name, image)) if words.contains(&name) && is_image(image) => {
            Ok((name.to_owned(), image.to_owned()))
        }
        Some((name, _)) if words.contains(&name) => {
            Err("expected an image name of letters, digits and `-_./:@`".to_owned())
        }
        Some(_) | None => Err(format!("expected NAME=IMAGE, where NAME is one of {}", words.join(", "))),
    }
}

/// Parses the name of an image.
pub(super) fn image(text: &str) -> Result<String, String> {
    let wrong = || "expected an image name of letters, digits and `-_./:@`".to_owned();
    is_image(text).then(|| text.to_owned()).ok_or_else(wrong)
}

fn is_image(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:@".contains(c))
}
