//! `mtu`, `ecmp`, `entropy` and `naming`.

use smol_str::SmolStr;

use crate::choice::Pin;
use crate::read::{Spanned, document, word};

document! {
    /// The largest packets, in bytes.
    #[derive(Default)]
    pub struct MtuDoc as "Mtu" {
        /// On fabric and NIC cables. Default: 9216, or 9214 where EOS runs on a switch.
        pub link: Option<Spanned<u16>> = "link" => [ALL],
        /// Maximum packet inside the outer header. Default: 9000, or `link` less 40 where that is smaller.
        pub payload: Option<Spanned<u16>> = "payload" => [HOSTS],
    }
}

document! {
    /// Spreading of traffic over uplinks where switches choose the path: with `routing: ecmp-static` and
    /// `bgp-unnumbered`.
    #[derive(Default)]
    pub struct EcmpDoc as "Ecmp" {
        /// Destinations that use one uplink as long as it leads there, and the group of all uplinks else. `downlink`: packets to
        /// the NIC on downlink d of another T0 take uplink d, counted around, which costs a T0 a route for every NIC of
        /// the fabric. Needs `ecmp-static`. Default: `none`.
        pub pin: Option<Spanned<Pin>> = "pin" => [T0],
        /// A CSV file of single pins, by its path from the folder of the fabric file, with the columns `switch` (a T0),
        /// `nic` and `uplink` (from 0): packets of that T0 to that NIC take that uplink as long as it leads there, and
        /// the group of all uplinks else. It goes before `pin`; `closc te` writes such files. Needs `ecmp-static`.
        pub pins: Option<Spanned<SmolStr>> = "pins" => [NAMED],
        /// Queue pairs that hosts open for each connection, so that a hash has something to spread; 1 to 128. Default:
        /// as many as a T0 has uplinks, at most 16.
        #[schemars(range(min = 1, max = 128))]
        pub qps_per_connection: Option<Spanned<u16>> = "qps_per_connection" => [HOSTS],
    }
}

word!(Pin, "kind of pin" {
    "none" => Pin::None,
    "downlink" => Pin::Downlink,
});

document! {
    /// Entropy values of the host path tables; the numbers are over all planes, equally many in each. Which values a NIC has,
    /// and how one becomes an address, is said in [hosts.md](hosts.md#path-tables).
    #[derive(Default)]
    pub struct EntropyDoc as "Entropy" {
        /// Values in use at a time. Default: 16 for each plane, or as many as there are uplinks.
        #[schemars(range(min = 1))]
        pub active: Option<Spanned<u16>> = "active" => [HOSTS],
        /// Values held in reserve. Default: as many as are in use, or as many as there are uplinks left.
        pub backup: Option<Spanned<u16>> = "backup" => [HOSTS],
        /// Values below which a NIC stops retiring more. Default: half of `active`.
        pub min_active: Option<Spanned<u16>> = "min_active" => [HOSTS],
        /// Seed of the choice, so that it can be repeated. Default: 0.
        pub seed: Option<Spanned<u64>> = "seed" => [HOSTS],
        /// UDP destination port of the transport. Default: 4791 (RoCEv2).
        pub udp_port: Option<Spanned<u16>> = "udp_port" => [ALL],
    }
}

document! {
    /// Patterns of device names: text with holes such as `{plane}`, `{index:03}` (three digits at least) or
    /// `{plane+1}` (counted from 1 instead of 0).
    #[derive(Default)]
    pub struct NamingDoc as "Naming" {
        /// T0s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t0-{index:03}`; with a T2 tier
        /// `z{zone}-p{plane}-t0-{index:03}`.
        pub t0: Option<Spanned<SmolStr>> = "t0" => [T0, T1, HOSTS, LISTS],
        /// T1s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t1-{index:03}`; with a T2 tier
        /// `z{zone}-p{plane}-t1-{index:03}`.
        pub t1: Option<Spanned<SmolStr>> = "t1" => [SWITCHES, TABLES, LISTS],
        /// T2s, with `{plane}` and `{index}`. Default: `p{plane}-t2-{index:03}`.
        pub t2: Option<Spanned<SmolStr>> = "t2" => [T1, T2, TABLES, LISTS],
        /// Nodes, with `{zone}`, `{unit}` and `{node}`. Default: `su{unit:03}-n{node:03}`; with a T2 tier
        /// `z{zone}-su{unit:03}-n{node:03}`.
        pub node: Option<Spanned<SmolStr>> = "node" => [T0, HOSTS, LISTS],
    }
}
