//! Explicit entropy value profiles of MRC NICs, as set by a node's controller (`mrc_ctl` of the OCP project).
//!
//! In: the compact path table of a sender's group, the sender, its receivers, and the limits of its device. Out: one
//! JSON file per NIC, `closc-mrc/1`. It contains a profile for each receiver, the probes to send before a job starts,
//! and the ports that must not be used.
//!
//! Facts of the interface (OCP "Multipath Reliable Connection" 1.0 and its control header): a value has 32 bytes and a
//! port that counts from 1. The bytes are the destination address and that of a segment routing header with one
//! segment. A profile is populated completely before it goes online. A device limits the number of values of a profile
//! and has an alignment for that number. A probe has a 16-bit request number, both NICs, a value and a port.
//!
//! Invariants: the values come from the reader that senders use ([`Table`]), not from the plan. No value is denied.
//! All planes in use have the same number of values. Every segment list fits into one address, so packets have no
//! segment routing header.

use std::collections::BTreeSet;
use std::net::Ipv6Addr;

use camino::Utf8PathBuf;
use closc_paths::{Fault, Kind, Scope, Table};
use serde::Serialize;
use thiserror::Error;

use crate::Artefact;

/// A sending NIC.
#[derive(Debug, Clone)]
pub struct Sender {
    /// The NIC.
    pub end: End,
    /// Its node, the folder of its file.
    pub node: String,
    /// Its number in the node, the name of its file.
    pub number: u8,
    /// Its downlink, from 0.
    pub downlink: u16,
    /// Its interface in each plane.
    pub interfaces: Vec<String>,
    /// Number of planes that are not absent.
    pub planes: u8,
}

/// A NIC by name and address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct End {
    /// Name in the fabric.
    pub nic: String,
    /// Inner address, the same in every plane.
    pub address: Ipv6Addr,
}

/// Limits of a device, as it reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Limit of values in a profile (`ev_max_count_profile`).
    pub values: u32,
    /// Alignment: the number of values is a multiple of this (`ev_count_align`).
    pub align: u32,
    /// Limit of values in all profiles together (`ev_max_count`).
    pub all_values: u32,
    /// Limit of profiles (`ev_max_profiles`).
    pub profiles: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { values: u32::MAX, align: 1, all_values: u32::MAX, profiles: u32::MAX }
    }
}

/// Reason for a missing file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MrcError {
    /// The bytes are not a table.
    #[error(transparent)]
    Table(#[from] Fault),
    /// A receiver is not in the table.
    #[error("`{0}` is not a destination of this path table")]
    Unknown(String),
    /// All values from the sender to a receiver are denied.
    #[error("no path from `{from}` to `{to}` is left: every value that the NIC has is denied")]
    NoPath {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
    },
    /// The limits of the device do not allow an equal number of values for all planes.
    #[error(
        "from `{from}` to `{to}` {planes} planes can be used with up to {values_per_plane} values each, and no count that is the same for \
         all of them is a multiple of {} and at most {}: a device that takes less cannot use all planes equally",
        limits.align, limits.values
    )]
    Count {
        /// Sender.
        from: String,
        /// Receiver.
        to: String,
        /// Planes with a value.
        planes: u32,
        /// Values of each.
        values_per_plane: u32,
        /// Limits of the device.
        limits: Limits,
    },
    /// More profiles than the device supports.
    #[error(
        "`{from}` needs {needed} profiles, one for each receiver, and its device takes {maximum}: name fewer receivers"
    )]
    Profiles {
        /// Sender.
        from: String,
        /// Receivers.
        needed: usize,
        /// Limit of the device.
        maximum: u32,
    },
    /// More values than the device supports.
    #[error(
        "the profiles of `{from}` have {needed} values together, and its device takes {maximum}: name fewer receivers"
    )]
    Values {
        /// Sender.
        from: String,
        /// Values of all profiles.
        needed: u64,
        /// Limit of the device.
        maximum: u32,
    },
    /// Request numbers of probes have 16 bits.
    #[error(
        "`{from}` would have {0} probes, and a request number has 16 bits (65,536 probes): name fewer receivers",
        needed
    )]
    Probes {
        /// Sender.
        from: String,
        /// Probes.
        needed: usize,
    },
}

#[derive(Serialize)]
struct File<'a> {
    schema: &'static str,
    from: &'a End,
    /// Ports. In the mask, bit `n - 1` is set if port `n` may be used.
    ports: Vec<Port<'a>>,
    port_mask: u32,
    mode: &'static str,
    udp_port: u16,
    profiles: Vec<Profile<'a>>,
    probes: Vec<Probe<'a>>,
}

#[derive(Serialize)]
struct Port<'a> {
    #[serde(rename = "port")]
    number: u8,
    plane: u8,
    interface: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    denied: Option<&'static str>,
}

#[derive(Serialize)]
struct Profile<'a> {
    id: u32,
    to: &'a End,
    ev_count: u32,
    ev_min_active: u32,
    values_per_plane: u32,
    /// Planes without a usable value; the others share the traffic equally.
    planes_left_out: Vec<u8>,
    /// Number of active values per plane that the path table has and the profile omits, because of limits of the
    /// device or denials.
    left_out_per_plane: u32,
    values: Vec<Value>,
}

#[derive(Serialize, Clone, Copy)]
struct Value {
    entropy: u32,
    #[serde(rename = "value", serialize_with = "hex")]
    outer: [u8; 16],
    port: u8,
}

#[derive(Serialize)]
struct Probe<'a> {
    req_id: u16,
    kind: &'static str,
    sgid: Ipv6Addr,
    dgid: Ipv6Addr,
    to: &'a str,
    #[serde(serialize_with = "hex")]
    value: [u8; 16],
    port: u8,
}

/// Writes a value in the form of the interface: the destination address, and 16 zero bytes for the missing header.
fn hex<S: serde::Serializer>(address: &[u8; 16], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:032x}{:032x}", u128::from_be_bytes(*address), 0))
}

/// Renders the file of one NIC from the compact path table of its group.
pub fn render(table: &[u8], from: &Sender, to: &[End], limits: Limits) -> Result<Artefact, MrcError> {
    let table = &Table::open(table)?;
    let name = || from.end.nic.clone();
    if to.len() as u64 > u64::from(limits.profiles) {
        return Err(MrcError::Profiles { from: name(), needed: to.len(), maximum: limits.profiles });
    }
    let profiles: Vec<Profile<'_>> =
        (0..).zip(to).map(|(id, to)| profile(table, from, id, to, limits)).collect::<Result<_, _>>()?;
    let needed: u64 = profiles.iter().map(|profile| u64::from(profile.ev_count)).sum();
    if needed > u64::from(limits.all_values) {
        return Err(MrcError::Values { from: name(), needed, maximum: limits.all_values });
    }
    let ports: Vec<Port<'_>> = ports(table, from);
    let usable = ports.iter().filter(|port| port.denied.is_none());
    let port_mask = usable.fold(0, |mask, port| mask | 1 << port.plane);
    let probes = probes(table, from, &ports, &profiles)?;
    let file = File {
        schema: "closc-mrc/1",
        from: &from.end,
        port_mask,
        ports,
        mode: "explicit",
        udp_port: table.header().udp_port,
        profiles,
        probes,
    };
    let place = Utf8PathBuf::from(format!("mrc/{}/nic{}.json", from.node, from.number));
    let mut bytes = serde_json::to_vec_pretty(&file).expect("the keys of a profile are text");
    bytes.push(b'\n');
    Ok(Artefact::new(place, bytes))
}

/// Returns the ports. A port is denied if the table denies its complete plane to this sender.
fn ports<'a>(table: &Table<'_>, from: &'a Sender) -> Vec<Port<'a>> {
    let whole = |scope: Scope| {
        let own = scope.source.is_none_or(|downlink| downlink == from.downlink);
        own && Scope { source: None, ..scope } == Scope::default()
    };
    (0..table.header().planes)
        .zip(&from.interfaces)
        .map(|(plane, interface)| Port {
            number: plane + 1,
            plane,
            interface,
            denied: table.denials().find(|d| d.plane == plane && whole(d.scope)).map(|d| match d.reason {
                closc_paths::Reason::Absent => "absent",
                closc_paths::Reason::Drained => "drained",
            }),
        })
        .collect()
}

fn profile<'a>(
    table: &Table<'_>,
    from: &Sender,
    id: u32,
    to: &'a End,
    limits: Limits,
) -> Result<Profile<'a>, MrcError> {
    let header = table.header();
    let there = table.destination(to.address.octets()).ok_or_else(|| MrcError::Unknown(to.nic.clone()))?;
    // Denied values are replaced by backup values, in order.
    let usable = |plane: u8| -> Vec<u32> {
        let values = table.entropy_values(plane, from.downlink);
        values
            .filter(|value| !table.is_denied(from.downlink, &there, *value))
            .take(usize::from(header.active))
            .collect()
    };
    let planes: Vec<(u8, Vec<u32>)> = (0..header.planes).map(|plane| (plane, usable(plane))).collect();
    let planes_left_out: Vec<u8> =
        planes.iter().filter(|(_, values)| values.is_empty()).map(|(plane, _)| *plane).collect();
    let used: Vec<&Vec<u32>> = planes.iter().map(|(_, values)| values).filter(|v| !v.is_empty()).collect();
    let Some(most) = used.iter().map(|values| values.len() as u32).min() else {
        return Err(MrcError::NoPath { from: from.end.nic.clone(), to: to.nic.clone() });
    };
    let count = used.len() as u32;
    let fits = |each: &u32| {
        let all = u64::from(count) * u64::from(*each);
        all <= u64::from(limits.values) && all.is_multiple_of(u64::from(limits.align.max(1)))
    };
    let each = (1..=most).rev().find(fits).ok_or_else(|| MrcError::Count {
        from: from.end.nic.clone(),
        to: to.nic.clone(),
        planes: count,
        values_per_plane: most,
        limits,
    })?;
    let values: Vec<Value> = used
        .iter()
        .flat_map(|values| &values[..each as usize])
        .map(|entropy| {
            let outer = table.outer(&there, *entropy);
            Value { entropy: *entropy, outer: outer.address, port: outer.port + 1 }
        })
        .collect();
    let ev_count = values.len() as u32;
    Ok(Profile {
        id,
        to,
        ev_count,
        // The minimum of the table applies to complete sets. For a smaller set, it is reduced in proportion.
        ev_min_active: floor(u32::from(header.min_active), from.planes, header.active, ev_count),
        values_per_plane: each,
        planes_left_out,
        left_out_per_plane: u32::from(header.active) - each,
        values,
    })
}

/// Scales `min_active` from all active values to `count` values, rounded up.
fn floor(min_active: u32, planes: u8, active: u16, count: u32) -> u32 {
    let all = u64::from(planes) * u64::from(active);
    let share = (u64::from(min_active) * u64::from(count)).div_ceil(all.max(1));
    share.min(u64::from(count)) as u32
}

/// Returns the probes to send before a job starts: to the T0s and back, to each T1 (and T2) of a value and back, and
/// over the path of every value.
fn probes<'a>(
    table: &Table<'_>,
    from: &'a Sender,
    ports: &[Port<'_>],
    profiles: &[Profile<'a>],
) -> Result<Vec<Probe<'a>>, MrcError> {
    let own = from.end.address;
    let to_self =
        |kind: &'static str, value: [u8; 16], plane: u8| (kind, own, from.end.nic.as_str(), value, plane + 1);
    let mut listed = Vec::new();
    for port in ports.iter().filter(|port| port.denied.is_none()) {
        listed.push(to_self("t0", table.t0_probe(port.plane, from.downlink), port.plane));
    }
    let mut over: BTreeSet<(u8, u16, u16)> = BTreeSet::new();
    for profile in profiles {
        let kind = table.destination(profile.to.address.octets()).map(|to| to.kind);
        let away = profile.values.iter().filter(|_| kind != Some(Kind::Local));
        over.extend(away.map(|value| {
            let choice = table.choice(value.entropy);
            let t1_uplink = if kind == Some(Kind::Far) { choice.t1_uplink } else { u16::MAX };
            (choice.plane, choice.t0_uplink, t1_uplink)
        }));
    }
    let mut t1: BTreeSet<(u8, u16)> = BTreeSet::new();
    for (plane, uplink, t1_uplink) in over {
        if t1.insert((plane, uplink)) {
            listed.push(to_self("t1", table.t1_probe(plane, uplink, from.downlink), plane));
        }
        if t1_uplink != u16::MAX {
            let around = table.t2_probe(plane, uplink, t1_uplink, from.downlink);
            listed.extend(around.map(|value| to_self("t2", value, plane)));
        }
    }
    for profile in profiles {
        let pair =
            |value: &Value| ("pair", profile.to.address, profile.to.nic.as_str(), value.outer, value.port);
        listed.extend(profile.values.iter().map(pair));
    }
    if listed.len() > usize::from(u16::MAX) + 1 {
        return Err(MrcError::Probes { from: from.end.nic.clone(), needed: listed.len() });
    }
    let number =
        |(req_id, (kind, dgid, to, value, port))| Probe { req_id, kind, sgid: own, dgid, to, value, port };
    Ok((0..=u16::MAX).zip(listed).map(number).collect())
}
