//! ASTRA-sim: the network of its analytical backend, and the logical topology of its ns-3 backend.
//!
//! In: a plan. Out: `network.yml`, with a switch for each dimension (NICs of a T0 group, groups of a zone,
//! zones) and its count, bandwidth and latency; and `logical.json`, next to the graphs of
//! [`ns3`](super::ns3). Invariants: the product of the counts is the number of NICs. The bandwidth is that of
//! a NIC after oversubscription. The latency is half of the one-way delay, because ASTRA-sim adds it twice
//! per switch.

use std::fmt::Write as _;

use closc_plan::{NIC_LATENCY, Plan, SWITCH_LATENCY};
use closc_topology::{PlaneId, TierId};

use super::{light_ns, uniform};
use crate::{File, Refusal};

const FORMAT: &str = "ASTRA-sim (analytical)";

/// ASTRA-sim counts NPUs in an `int`.
const NPUS_MAX: u64 = 2_147_483_647;

/// Bytes of a gigabyte in ASTRA-sim (`bw_GBps_to_Bpns`).
const GIGABYTE: f64 = 1_073_741_824.0;

/// One dimension of the network.
struct Dimension {
    name: &'static str,
    count: u64,
    /// Bits per second.
    bits: f64,
    /// One-way delay, in ns.
    delay_ns: u64,
}

/// Returns `network.yml`: the planes together, each NIC an NPU.
///
/// # Errors
///
/// Rejects a fabric with absent or drained elements, with different cables of one kind, or with zones that
/// are connected only through nodes. Also rejects a single NIC, and more NICs than ASTRA-sim can count.
pub fn network<'p>(plan: &'p Plan, planes: &[PlaneId], folder: &str) -> Result<File<'p>, Refusal> {
    uniform::reject_islands(plan, FORMAT)?;
    uniform::reject_exceptions(plan, FORMAT, planes)?;
    let dimensions = dimensions(plan, planes)?;
    let npus: u64 = dimensions.iter().map(|dimension| dimension.count).product();
    if npus > NPUS_MAX {
        return Err(Refusal::TooMany {
            format: FORMAT,
            subject: "NPUs",
            arithmetic: product(&dimensions),
            count: npus,
            maximum: NPUS_MAX,
            help: "simulate a smaller fabric of the same kind",
        });
    }
    if dimensions.is_empty() {
        return Err(Refusal::Number {
            format: FORMAT,
            rule: "at least two NPUs",
            arithmetic: "there is one NIC".to_owned(),
            help: "simulate a larger fabric of the same kind",
        });
    }
    let header = format!(
        "# {}, {} planes, by closc: {} = {npus} NICs\n",
        plan.name(),
        planes.len(),
        product(&dimensions)
    );
    Ok(File::new(format!("{folder}/network.yml"), move |out| {
        let row = |value: &dyn Fn(&Dimension) -> String| {
            let values: Vec<String> = dimensions.iter().map(value).collect();
            format!("[ {} ]", values.join(", "))
        };
        write!(out, "{header}")?;
        writeln!(out, "topology: {}", row(&|_| "Switch".to_owned()))?;
        writeln!(out, "npus_count: {}", row(&|dimension| dimension.count.to_string()))?;
        // ASTRA-sim counts 2^30 bytes as a gigabyte.
        let rate = |dimension: &Dimension| format!("{:.6}", dimension.bits / 8.0 / GIGABYTE);
        writeln!(out, "bandwidth: {}  # GB/s of 2^30 B", row(&rate))?;
        #[allow(clippy::cast_precision_loss, reason = "a way is microseconds, and f64 counts 10^15 of them")]
        let half = |dimension: &Dimension| format!("{:.1}", dimension.delay_ns as f64 / 2.0);
        writeln!(out, "latency: {}  # ns, half of the path", row(&half))
    }))
}

/// Returns `logical.json`: all NICs of a plane in one dimension.
pub fn logical<'a>(path: String, hosts: usize) -> File<'a> {
    File::new(path, move |out| writeln!(out, "{{\"logical-dims\": [\"{hosts}\"]}}"))
}

fn product(dimensions: &[Dimension]) -> String {
    dimensions.iter().enumerate().fold(String::new(), |mut text, (at, dimension)| {
        let times = if at > 0 { " x " } else { "" };
        let _ = write!(text, "{times}{} {}", dimension.count, dimension.name);
        text
    })
}

fn dimensions(plan: &Plan, planes: &[PlaneId]) -> Result<Vec<Dimension>, Refusal> {
    let topology = plan.topology();
    let many = f64::from(u32::try_from(planes.len()).unwrap_or(u32::MAX));
    let bits = |mbps: u32| f64::from(mbps) * 1e6;
    let nic = uniform::cables(plan, FORMAT, planes, TierId::T0)?;
    let (own, mut way) =
        (bits(nic.speed.mbps()), NIC_LATENCY.0 + SWITCH_LATENCY.0 + 2 * light_ns(nic.length));
    let per_group = u64::from(topology.hosts.per_group);
    let mut found =
        vec![Dimension { name: "NICs of a T0 group", count: per_group, bits: own * many, delay_ns: way }];
    // A NIC's share of the uplink bandwidth of its T0, then of that of its zone.
    let mut share = own;
    if topology.hosts.groups > 1 || topology.t2.is_some() {
        let up = uniform::cables(plan, FORMAT, planes, TierId::T1)?;
        let above = bits(up.speed.mbps()) * f64::from(topology.t0.up.count);
        share = share.min(above / f64::from(topology.hosts.per_group));
        way += 2 * (SWITCH_LATENCY.0 + light_ns(up.length));
        let count = u64::from(topology.hosts.groups);
        found.push(Dimension { name: "groups of a zone", count, bits: share * many, delay_ns: way });
    }
    if topology.t2.is_some() {
        let up = uniform::cables(plan, FORMAT, planes, TierId::T2)?;
        let above = bits(up.speed.mbps()) * f64::from(topology.t1.up.count) * f64::from(topology.t1_count);
        let nics = f64::from(topology.hosts.per_group) * f64::from(topology.hosts.groups);
        share = share.min(above / nics);
        way += 2 * (SWITCH_LATENCY.0 + light_ns(up.length));
        let count = u64::from(topology.zones);
        found.push(Dimension { name: "zones", count, bits: share * many, delay_ns: way });
    }
    // A dimension with one element is omitted.
    found.retain(|dimension| dimension.count > 1);
    Ok(found)
}
