//! The command line of the host agent.

use std::io::Write as _;
use std::net::{Ipv6Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use closc_nic::agent::{Ban, Dscp, Options};
use closc_nic::api::Request;
use closc_nic::choose::Transport;
use closc_nic::io::ports::Names;
use closc_nic::io::{client, doctor, run};
use serde_json::Value;

mod bench;
mod manual;
mod settings;
mod show;

/// Sprays packets over all planes of a fabric, avoids bad paths, locates faulty cables
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    /// Socket of the agent
    #[arg(long, global = true, default_value = "/run/closc/nic0.sock")]
    socket: PathBuf,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the agent of one NIC
    Run(Box<RunArgs>),
    /// Show planes, remote NICs, findings, denials and counters
    Status {
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Show every path to a NIC and its state
    Paths {
        /// Address of the NIC
        to: Ipv6Addr,
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Show faults found by probes; exit 1 if there are any
    Probe {
        #[command(flatten)]
        view: ViewArgs,
    },
    /// Show recent events
    Events {
        /// Only events after this number
        #[arg(long, default_value_t = 0)]
        after: u64,
        #[command(flatten)]
        view: ViewArgs,
    },
    /// List recently lost packets
    Losses {
        /// Only losses after this number
        #[arg(long, default_value_t = 0)]
        after: u64,
    },
    /// Exclude paths from use
    Deny(DenyArgs),
    /// End a denial
    Allow {
        /// Number of the denial
        id: u64,
    },
    /// Write bytes to the region of another NIC, and wait for completion
    Write {
        /// Address of the NIC
        to: Ipv6Addr,
        /// Number of bytes
        #[arg(long)]
        bytes: u64,
        /// Offset in the local region
        #[arg(long, default_value_t = 0)]
        local: u64,
        /// Offset in the region of the other NIC
        #[arg(long, default_value_t = 0)]
        target: u64,
        /// Bytes per packet
        #[arg(long)]
        unit: Option<u32>,
    },
    /// Print metrics in the text format of Prometheus
    Metrics,
    /// Reload the path table
    Reload,
    /// Check the requirements of an agent; exit 1 if one is missing
    Doctor(DoctorArgs),
    /// Remove kernel state that a killed agent left behind
    Clean(TableArgs),
    /// Measure path selection, send rate of one core, probes and memory
    Bench(BenchArgs),
    /// Print shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write manual pages, or print all of them as one page of Markdown
    Man {
        /// Output folder for `closc-nic.1` and one page per command
        #[arg(long, short, value_name = "DIR", required_unless_present = "markdown")]
        out: Option<PathBuf>,
        /// Print Markdown
        #[arg(long)]
        markdown: bool,
    },
}

#[derive(Debug, Clone, Copy, Args)]
struct ViewArgs {
    /// Print tables for people, or JSON for programs
    #[arg(long, value_enum, default_value = "human")]
    format: show::Format,
}

#[derive(Debug, Args)]
struct TableArgs {
    /// Path table of the NIC's group: `path-tables/group-NNNN.bin`
    #[arg(long)]
    table: PathBuf,
    /// Address of the NIC
    #[arg(long)]
    nic: Ipv6Addr,
    /// Name of the fabric; tables of other fabrics are rejected, and an empty name accepts any fabric
    #[arg(long, value_name = "NAME")]
    fabric: Option<String>,
}

impl TableArgs {
    fn fabric(&self) -> Option<&str> {
        self.fabric.as_deref().filter(|name| !name.is_empty())
    }
}

#[derive(Debug, Args)]
struct PortArgs {
    /// Ports of the NIC: one name with `{plane}`, or one name per plane, empty if absent [default: determined from
    /// addresses and routes]
    #[arg(long, value_name = "NAMES", default_value = "", hide_default_value = true)]
    ports: Names,
}

#[derive(Debug, Args)]
struct DoctorArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    ports: PortArgs,
}

#[derive(Debug, Args)]
struct BenchArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    ports: PortArgs,
    /// Address of the NIC to send to
    #[arg(long)]
    to: Ipv6Addr,
    /// Packet sizes inside the outer headers, in bytes; measured in turn
    #[arg(long, value_delimiter = ',', default_values_t = [100, 1400])]
    size: Vec<usize>,
    /// Number of packets
    #[arg(long, default_value_t = 2_000_000)]
    count: u64,
    /// Measure only sending; skip path selection and probes
    #[arg(long)]
    sending: bool,
    /// Receive timestamps of the kernel: on, off, or compare both
    #[arg(long, value_enum, default_value = "on")]
    stamps: bench::Stamps,
    /// Send over AF_XDP sockets; frames above 2,048 bytes and ports without support use a packet socket
    #[arg(long)]
    xdp: bool,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    table: TableArgs,
    #[command(flatten)]
    ports: PortArgs,
    /// File with one option per line: TABLE=FILE, DSCP_DATA=10, XDP=yes; the command line overrides it
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// TUN device for packets to NICs; empty for none
    #[arg(long, default_value = "closc0")]
    tun: String,
    /// Address for Prometheus metrics, for example 127.0.0.1:9750
    #[arg(long)]
    metrics: Option<SocketAddr>,
    /// Group that may read state over the socket; only root and the agent's user may then change it
    #[arg(long, value_name = "GROUP")]
    socket_group: Option<String>,
    /// Append an audit record of each order to a file, `journald` or `syslog`
    #[arg(long, value_name = "FILE")]
    audit_log: Option<Utf8PathBuf>,
    /// Messages on stderr: a level, or `module=level` pairs
    #[arg(long, value_name = "FILTER", default_value = "info", value_parser = closc_log::parse_filter)]
    log: closc_log::Filter,
    /// File that stores denials; rejected if it belongs to another fabric or NIC
    #[arg(long)]
    state: Option<PathBuf>,
    /// File with the memory region for writes [default: a test pattern that verifies received bytes]
    #[arg(long)]
    region: Option<PathBuf>,
    /// User to switch to after opening sockets and devices
    #[arg(long)]
    user: Option<String>,
    /// Milliseconds between probes of a cable
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    probe_period_ms: u64,
    /// IP length of long probes, at most 9500; 0 sends none [default: table MTU + 40]
    #[arg(long, value_name = "BYTES")]
    long_probe_bytes: Option<u16>,
    /// Maximum microseconds that a packet waits for an earlier one
    #[arg(long, default_value_t = 3000, value_parser = clap::value_parser!(u64).range(..=10_000_000))]
    reorder_us: u64,
    /// Maximum packets of writes in flight to one NIC
    #[arg(long, default_value_t = 192, value_parser = clap::value_parser!(u32).range(1..=512))]
    window: u32,
    /// Remote NICs whose paths are kept; the least recently used is replaced [default: as many as fit in 3 MiB]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    far_nics: Option<u32>,
    /// Path selection: spray (all good paths), flow (one by hash, as ECMP), static (the first)
    #[arg(long, default_value = "spray")]
    transport: Transport,
    /// Rate limit of writes per port, in Mb/s
    #[arg(long, value_name = "MBPS", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    port_mbps: Option<u32>,
    /// DSCP of data packets of writes
    #[arg(long, value_name = "DSCP", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..64))]
    dscp_data: u8,
    /// DSCP of retransmitted data packets
    #[arg(long, value_name = "DSCP", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..64))]
    dscp_again: u8,
    /// DSCP of acknowledgements and probes
    #[arg(long, value_name = "DSCP", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..64))]
    dscp_control: u8,
    /// DSCP of packets that the last switch trimmed
    #[arg(long, value_name = "DSCP", value_parser = clap::value_parser!(u8).range(..64))]
    dscp_cut_at_last_hop: Option<u8>,
    /// Exit when standard input closes, for example when the parent process ends
    #[arg(long)]
    tied: bool,
    /// Send over AF_XDP sockets; frames above 2,048 bytes and ports without support use a packet socket
    #[arg(long)]
    xdp: bool,
    /// UDP port of messages between agents
    #[arg(long, default_value_t = Options::default().udp_port, value_parser = clap::value_parser!(u16).range(1..))]
    port: u16,
    /// File with the secret of all agents of the fabric: 16, 32 or 64 hexadecimal digits
    #[arg(long)]
    cookie: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct DenyArgs {
    /// Plane
    #[arg(long)]
    plane: Option<u8>,
    /// T0 uplink, or first and last: 3 or 3-5
    #[arg(long, value_parser = range)]
    uplink: Option<(u16, u16)>,
    /// T1 uplink, or first and last
    #[arg(long, value_parser = range)]
    t1_uplink: Option<(u16, u16)>,
    /// Destination zone, from 0
    #[arg(long)]
    zone: Option<u16>,
    /// Destination group, from 1
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    group: Option<u16>,
    /// Downlink of the destination on its T0s, from 1
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    downlink: Option<u16>,
    /// Reason: administrator, drain, gray-loss or fault
    #[arg(long, default_value = "administrator")]
    reason: String,
    /// Seconds until the denial ends
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
}

fn range(text: &str) -> Result<(u16, u16), String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |part: &str| part.parse::<u16>().map_err(|error| format!("`{part}`: {error}"));
    let (first, last) = (number(first)?, number(last)?);
    if first <= last { Ok((first, last)) } else { Err(format!("{first} is above {last}")) }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().map_err(|error| error.to_string())?;
    let good = seconds > 0.0 && seconds.is_finite();
    good.then_some(seconds).ok_or_else(|| format!("`{text}` is not a positive number of seconds"))
}

/// Maximum size of a file with a secret, in bytes.
const SECRET_MAX: u64 = 4096;
/// Mode bits that let users other than the owner read or write a file.
const OTHERS: u32 = 0o066;

/// Exit code for a command line that cannot be parsed (`EX_USAGE` of `sysexits.h`), the same as that of `closc`.
const USAGE: u8 = 64;

fn main() -> ExitCode {
    let given = std::env::args_os().collect();
    let words = match settings::with_file(&Cli::command(), given) {
        Ok(words) => words,
        Err(error) => {
            closc_log::print_error("closc-nic", &error);
            return ExitCode::FAILURE;
        }
    };
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(said) => {
            // If the output cannot be written, the exit code still reports the result.
            let _ = said.print();
            return if said.use_stderr() { ExitCode::from(USAGE) } else { ExitCode::SUCCESS };
        }
    };
    match act(&cli) {
        Ok(good) => ExitCode::from(u8::from(!good)),
        Err(error) => {
            closc_log::print_error("closc-nic", &error);
            ExitCode::FAILURE
        }
    }
}

fn act(cli: &Cli) -> Result<bool, Box<dyn std::error::Error>> {
    let request = match &cli.command {
        Command::Run(args) => {
            closc_log::start(args.log.clone(), Some("closc-nic"));
            run::run(&setup(cli, args)?)?;
            return Ok(true);
        }
        Command::Doctor(args) => {
            return examine(args, &cli.socket);
        }
        Command::Clean(args) => {
            run::clean(&args.table, args.nic, args.fabric())?;
            return Ok(true);
        }
        Command::Bench(args) => {
            let bench = bench::Bench {
                table: args.table.table.clone(),
                nic: args.table.nic,
                fabric: args.table.fabric().map(str::to_owned),
                to: args.to,
                sizes: args.size.clone(),
                count: args.count,
                sending: args.sending,
                stamps: args.stamps,
                xdp: args.xdp,
                ports: args.ports.ports.clone(),
            };
            print(format_args!("{}", bench.run()?))?;
            return Ok(true);
        }
        command @ (Command::Completions { .. } | Command::Man { .. }) => return describe(command),
        Command::Status { .. } => Request::Status {},
        Command::Paths { to, .. } => Request::Paths { to: *to },
        Command::Probe { .. } => Request::Findings {},
        Command::Events { after, .. } => Request::Events { after: *after },
        Command::Losses { after } => Request::Losses { after: *after },
        Command::Deny(args) => Request::Deny { ban: ban(args) },
        Command::Allow { id } => Request::Allow { id: *id },
        Command::Write { to, bytes, local, target, unit } => {
            Request::Write { to: *to, bytes: *bytes, local: *local, target: *target, unit: *unit }
        }
        Command::Metrics => Request::Metrics {},
        Command::Reload => Request::Reload {},
    };
    let answer = client::ask(&cli.socket, &request)
        .map_err(|error| format!("no agent answers at `{}`: {error}", cli.socket.display()))?;
    if let Some(error) = answer.get("error").and_then(Value::as_str) {
        return Err(error.into());
    }
    match (&answer, table_of(&cli.command)) {
        (answer, Some(kind)) => print(format_args!("{}", show::human(kind, answer)))?,
        (Value::String(text), None) => print(format_args!("{text}"))?,
        (other, None) => print(format_args!("{}\n", serde_json::to_string_pretty(other)?))?,
    }
    let findings = answer.as_array().is_some_and(|list| !list.is_empty());
    Ok(!(matches!(cli.command, Command::Probe { .. }) && findings))
}

/// Returns the kind of table that a command prints, unless it prints JSON.
fn table_of(command: &Command) -> Option<show::Kind> {
    let (kind, view) = match command {
        Command::Status { view } => (show::Kind::Status, view),
        Command::Paths { view, .. } => (show::Kind::Paths, view),
        Command::Probe { view } => (show::Kind::Findings, view),
        Command::Events { view, .. } => (show::Kind::Events, view),
        _ => return None,
    };
    (view.format == show::Format::Human).then_some(kind)
}

/// Checks everything that an agent needs. Returns whether all of it is present.
fn examine(args: &DoctorArgs, socket: &Path) -> Result<bool, Box<dyn std::error::Error>> {
    let nic = (args.table.nic, args.table.fabric());
    let checks = doctor::examine(&args.table.table, nic, &args.ports.ports, socket);
    for check in &checks {
        let mark = if check.good { "good" } else { "BAD " };
        print(format_args!("{mark}  {}: {}\n", check.what, check.said))?;
    }
    Ok(checks.iter().all(|check| check.good))
}

/// Writes shell completions or manual pages.
fn describe(command: &Command) -> Result<bool, Box<dyn std::error::Error>> {
    if let Command::Completions { shell } = command {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Cli::command(), "closc-nic", &mut script);
        print(format_args!("{}", String::from_utf8_lossy(&script)))?;
    }
    if let Command::Man { out, markdown } = command {
        manual::write(Cli::command(), out.as_deref(), *markdown)?;
    }
    Ok(true)
}

fn print(text: std::fmt::Arguments<'_>) -> std::io::Result<()> {
    match std::io::stdout().write_fmt(text) {
        // The reader has closed the pipe early, as `head` does.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        done => done,
    }
}

fn ban(args: &DenyArgs) -> Ban {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Ban {
        plane: args.plane,
        uplinks: args.uplink,
        t1_uplinks: args.t1_uplink,
        zone: args.zone,
        group: args.group.map(|group| group - 1),
        downlink: args.downlink.map(|downlink| downlink - 1),
        reason: args.reason.clone(),
        until: args.seconds.map(|seconds| now.as_secs_f64() + seconds),
        id: None,
    }
}

fn setup(cli: &Cli, args: &RunArgs) -> Result<run::Setup, Box<dyn std::error::Error>> {
    let secret = args.cookie.as_deref().map(secret).transpose()?;
    Ok(run::Setup {
        table: args.table.table.clone(),
        nic: args.table.nic,
        fabric: args.table.fabric().map(str::to_owned),
        tun: (!args.tun.is_empty()).then(|| args.tun.clone()),
        socket: cli.socket.clone(),
        socket_group: args.socket_group.clone(),
        audit_log: args.audit_log.clone(),
        metrics: args.metrics,
        state: args.state.clone(),
        region: args.region.clone(),
        user: args.user.clone(),
        tied: args.tied,
        xdp: args.xdp,
        ports: args.ports.ports.clone(),
        agent: Options {
            probe_period_ns: args.probe_period_ms * 1_000_000,
            long_probe_bytes: args.long_probe_bytes,
            reorder_ns: args.reorder_us * 1000,
            window: args.window,
            channels: args.far_nics.map(|nics| nics as usize),
            transport: args.transport,
            port_mbps: args.port_mbps,
            udp_port: args.port,
            secret,
            dscp: Dscp {
                data: args.dscp_data,
                retransmit: args.dscp_again,
                control: args.dscp_control,
                cut_at_last_hop: args.dscp_cut_at_last_hop,
            },
            ..Options::default()
        },
    })
}

/// Reads the secret that all agents of a fabric share.
fn secret(path: &Path) -> Result<[u8; 32], Box<dyn std::error::Error>> {
    let text = run::read_text(path, SECRET_MAX).map_err(|error| format!("`{}`: {error}", path.display()))?;
    let mode = std::fs::metadata(path)?.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        let path = path.display();
        return Err(format!(
            "`{path}` is a secret that other users can read or write (mode {mode:03o}); help: run `chmod 600` on it"
        )
        .into());
    }
    let digits = text.trim();
    if !matches!(digits.len(), 16 | 32 | 64) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let path = path.display();
        return Err(format!("`{path}` is not a secret: expected 16, 32 or 64 hexadecimal digits").into());
    }
    Ok(blake3::derive_key("closc-nic 2026-11 cookies of messages", digits.to_ascii_lowercase().as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The command line can express every field that the socket accepts.
    #[test]
    fn a_denial_names_whatever_the_socket_takes() {
        let words = "closc-nic deny --plane 3 --uplink 2-4 --t1-uplink 5 --zone 1 --group 7 --downlink 9 --seconds 60";
        let Command::Deny(args) = Cli::try_parse_from(words.split(' ')).unwrap().command else {
            panic!("{words}")
        };
        let ban = ban(&args);
        let names = (ban.plane, ban.uplinks, ban.t1_uplinks, ban.zone, ban.group, ban.downlink);
        assert_eq!(names, (Some(3), Some((2, 4)), Some((5, 5)), Some(1), Some(6), Some(8)));
        let Value::Object(json) = serde_json::to_value(&ban).unwrap() else { panic!("{ban:?}") };
        // The agent assigns the number. Every other field has a flag.
        let keys: Vec<&str> = json.keys().map(String::as_str).collect();
        assert_eq!(keys, ["downlink", "group", "plane", "reason", "t1_uplinks", "until", "uplinks", "zone"]);
    }

    /// A user who reads the secret of a fabric can forge messages of every NIC.
    #[test]
    fn a_secret_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cookie");
        std::fs::write(&path, "0123456789abcdef").unwrap();
        for (mode, is_good) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)]
        {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let read = secret(&path).map_err(|error| error.to_string());
            assert_eq!(read.is_ok(), is_good, "{mode:o}: {read:?}");
        }
    }
}
