//! `mtu`, `ecmp`, `entropy` and `naming`.

use schemars::JsonSchema;
use smol_str::SmolStr;

use crate::model::Pin;
use crate::read::{Spanned, mapping, word};

/// The largest packets, in bytes.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Mtu", deny_unknown_fields)]
pub struct MtuDoc {
    /// On fabric and NIC cables. Default: 9216.
    pub link: Option<Spanned<u16>>,
    /// What hosts may send inside the outer header. Default: 9000, or `link` less 40 where that is smaller.
    pub payload: Option<Spanned<u16>>,
}

mapping!(MtuDoc { link = "link", payload = "payload" });

/// How traffic is spread over uplinks where switches choose the path: with `routing: ecmp-static` and
/// `bgp-unnumbered`.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Ecmp", deny_unknown_fields)]
pub struct EcmpDoc {
    /// What takes one uplink as long as that leads there, and the group of all uplinks else. `downlink`: packets to
    /// the NIC on downlink d of another T0 take uplink d, counted around, which costs a T0 a route for every NIC of
    /// the fabric. Needs `ecmp-static`. Default: `none`.
    pub pin: Option<Spanned<Pin>>,
    /// A CSV file of single pins, by its path from the folder of the fabric file, with the columns `switch` (a T0),
    /// `nic` and `uplink` (from 0): packets of that T0 to that NIC take that uplink as long as it leads there, and
    /// the group of all uplinks else. It goes before `pin`; `closc te` writes such files. Needs `ecmp-static`.
    pub pins: Option<Spanned<SmolStr>>,
    /// Queue pairs that hosts open for each connection, so that a hash has something to spread; 1 to 128. Default:
    /// as many as a T0 has uplinks, at most 16.
    #[schemars(range(min = 1, max = 128))]
    pub qps_per_connection: Option<Spanned<u16>>,
}

mapping!(EcmpDoc { pin = "pin", pins = "pins", qps_per_connection = "qps_per_connection" });

word!(Pin, "kind of pin" {
    "none" => Pin::None,
    "downlink" => Pin::Downlink,
});

/// Entropy values of the host path tables; the numbers are over all planes, equally many in each.
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Entropy", deny_unknown_fields)]
pub struct EntropyDoc {
    /// Values in use at a time. Default: 16 for each plane, or as many as there are uplinks.
    #[schemars(range(min = 1))]
    pub active: Option<Spanned<u16>>,
    /// Values held in reserve. Default: as many as are in use, or as many as there are uplinks left.
    pub backup: Option<Spanned<u16>>,
    /// Values below which a NIC stops retiring more. Default: half of `active`.
    pub min_active: Option<Spanned<u16>>,
    /// Seed of the choice, so that it can be repeated. Default: 0.
    pub seed: Option<Spanned<u64>>,
    /// UDP destination port of the transport. Default: 4791 (RoCEv2).
    pub udp_port: Option<Spanned<u16>>,
}

mapping!(EntropyDoc {
    active = "active",
    backup = "backup",
    min_active = "min_active",
    seed = "seed",
    udp_port = "udp_port",
});

/// Patterns of device names: text with holes such as `{plane}`, `{index:03}` (three digits at least) or
/// `{plane+1}` (counted from 1 instead of 0).
#[derive(Debug, Clone, Default, JsonSchema)]
#[schemars(rename = "Naming", deny_unknown_fields)]
pub struct NamingDoc {
    /// T0s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t0-{index:03}`; with a T2 tier
    /// `z{zone}-p{plane}-t0-{index:03}`.
    pub t0: Option<Spanned<SmolStr>>,
    /// T1s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t1-{index:03}`; with a T2 tier
    /// `z{zone}-p{plane}-t1-{index:03}`.
    pub t1: Option<Spanned<SmolStr>>,
    /// T2s, with `{plane}` and `{index}`. Default: `p{plane}-t2-{index:03}`.
    pub t2: Option<Spanned<SmolStr>>,
    /// Nodes, with `{zone}`, `{unit}` and `{node}`. Default: `su{unit:03}-n{node:03}`; with a T2 tier
    /// `z{zone}-su{unit:03}-n{node:03}`.
    pub node: Option<Spanned<SmolStr>>,
}

mapping!(NamingDoc { t0 = "t0", t1 = "t1", t2 = "t2", node = "node" });
