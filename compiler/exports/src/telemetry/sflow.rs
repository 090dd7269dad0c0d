//! sFlow: samples of packets, from switches that send them.
//!
//! In: a plan and collectors. Out: site additions per operating system. `overlay/sflow.json` (CONFIG_DB) and
//! `overlay/sflow.yaml` (Cumulus Linux) are for `--overlay`; `eos/sflow-PLATFORM.conf` contains lines for
//! EOS. Invariants: files that closc compiles contain none of these lines. A port of N Mb/s samples one in N
//! packets, which is SONiC's own default. If all ports of a switch share one rate, it is that of the fastest.
//! If samples leave through a management port in another VRF, the configuration names its VRF or interface.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use closc_plan::Plan;
use closc_platform::Platform;
use closc_platform::telemetry::Sflow;
use closc_topology::Switch;
use serde_json::{Map, Value, json};

use crate::{File, Refusal};

/// Maximum number of collectors: the limit of SONiC's model `sonic-sflow`, the lowest.
const COLLECTORS: u64 = 2;

/// Speeds that NVUE has a rate for (`system.sflow.sampling-rate`), in Mb/s.
const NVUE_SPEEDS: [(&str, u32); 8] = [
    ("speed-10g", 10_000),
    ("speed-25g", 25_000),
    ("speed-40g", 40_000),
    ("speed-50g", 50_000),
    ("speed-100g", 100_000),
    ("speed-200g", 200_000),
    ("speed-400g", 400_000),
    ("speed-800g", 800_000),
];

/// Returns one file for each format that the switches of a plan need.
///
/// # Errors
///
/// Rejects more collectors than a switch supports.
pub fn files<'a>(plan: &'a Plan, collectors: &'a [SocketAddr]) -> Result<Vec<File<'a>>, Refusal> {
    let count = collectors.len() as u64;
    if count > COLLECTORS {
        return Err(Refusal::TooMany {
            format: "sFlow",
            subject: "collectors",
            arithmetic: format!("{count} options `--sflow`"),
            count,
            maximum: COLLECTORS,
            help: "use the nearest two",
        });
    }
    let (mut has_config_db, mut has_nvue) = (false, false);
    let mut eos: BTreeMap<&str, Boxes<'_>> = BTreeMap::new();
    for switch in plan.switches() {
        let platform = plan.topology().hardware(switch).0;
        match &plan.os(switch).telemetry().sflow {
            Sflow::ConfigDb => has_config_db = true,
            Sflow::Nvue => has_nvue = true,
            Sflow::Eos => {
                let boxes = eos.entry(&platform.id).or_insert(Boxes { platform, count: 0, mbps: 0 });
                boxes.count += 1;
                boxes.mbps = boxes.mbps.max(fastest_port(plan, switch));
            }
            Sflow::Not(_) => {}
        }
    }
    let mut files = Vec::new();
    if has_config_db {
        files.push(config_db(collectors));
    }
    // Switches without a management address are reached through the fabric.
    let is_managed =
        plan.switches().next().is_some_and(|switch| plan.addresses().management(switch).is_some());
    if has_nvue {
        files.push(nvue(collectors, is_managed));
    }
    files.extend(eos.into_values().map(|boxes| eos_lines(boxes, collectors, is_managed)));
    Ok(files)
}

/// Switches of a platform.
struct Boxes<'a> {
    platform: &'a Platform,
    count: usize,
    mbps: u32,
}

/// The speed of the fastest port that a switch has.
fn fastest_port(plan: &Plan, switch: Switch) -> u32 {
    let blocks = plan.topology().blocks(switch).into_iter().filter(|block| block.count > 0);
    blocks.map(|block| block.breakout.speed.mbps()).max().unwrap_or_default()
}

fn config_db(collectors: &[SocketAddr]) -> File<'_> {
    let row = |(number, to): (u32, &SocketAddr)| {
        let row = json!({ "collector_ip": to.ip(), "collector_port": to.port().to_string() });
        (format!("collector{number}"), row)
    };
    File::new("overlay/sflow.json", move |out| {
        let rows: Map<String, Value> = (1..).zip(collectors).map(row).collect();
        let tables = json!({
            "FEATURE": { "sflow": { "state": "enabled" } },
            "SFLOW": { "global": { "admin_state": "up", "agent_id": "Loopback0" } },
            "SFLOW_COLLECTOR": rows,
            "SFLOW_SESSION": { "all": { "admin_state": "up" } },
        });
        writeln!(out, "{:#}", json!({ "tables": tables }))
    })
}

fn nvue(collectors: &[SocketAddr], is_managed: bool) -> File<'_> {
    File::new("overlay/sflow.yaml", move |out| {
        let interface = if is_managed { "eth0" } else { "lo" };
        writeln!(
            out,
            "set:\n  system:\n    sflow:\n      state: enabled\n      agent: {{ interface: {interface} }}\n      collector:"
        )?;
        for to in collectors {
            let by = if is_managed { ", interface: eth0" } else { "" };
            writeln!(out, "        \"{}\": {{ port: {}{by} }}", to.ip(), to.port())?;
        }
        writeln!(out, "      sampling-rate:")?;
        NVUE_SPEEDS.into_iter().try_for_each(|(key, mbps)| writeln!(out, "        {key}: {mbps}"))
    })
}

/// Every port of a switch is sampled as soon as `sflow run` is set.
fn eos_lines<'a>(
    Boxes { platform, count, mbps }: Boxes<'a>,
    collectors: &'a [SocketAddr],
    is_managed: bool,
) -> File<'a> {
    File::new(format!("eos/sflow-{}.conf", platform.id), move |out| {
        let (vrf, source) = if is_managed {
            ("vrf MGMT ", platform.panel.naming.eos_management())
        } else {
            ("", "Loopback0")
        };
        writeln!(out, "! {count} switches of platform {}.\nsflow sample {mbps}", platform.id)?;
        for to in collectors {
            // EOS omits its default port, so it is omitted here too.
            let port = if to.port() == PORT { String::new() } else { format!(" {}", to.port()) };
            writeln!(out, "sflow {vrf}destination {}{port}", to.ip())?;
        }
        writeln!(out, "sflow {vrf}source-interface {source}\nsflow run")
    })
}

/// The port of sFlow (IANA).
pub const PORT: u16 = 6343;
