//! `mtu`, `ecmp`, `entropy` and `naming`.

use closc_platform::Balance;
use smol_str::SmolStr;

use crate::choice::Pin;
use crate::read::{Spanned, document, word};

document! {
    /// Maximum packet sizes, in bytes.
    #[derive(Default)]
    pub struct MtuDoc as "Mtu" {
        /// On fabric and NIC cables. Default: 9216, or 9214 if a switch runs EOS.
        pub link: Option<Spanned<u16>> = "link" => [ALL],
        /// Maximum packet inside the outer header. Default: 9000, or `link` minus 40 if that is smaller.
        pub payload: Option<Spanned<u16>> = "payload" => [HOSTS],
    }
}

document! {
    /// Spreading of traffic over uplinks by switches, with `routing: ecmp-static` and `bgp-unnumbered`.
    #[derive(Default)]
    pub struct EcmpDoc as "Ecmp" {
        /// Pins destinations to one uplink as long as that uplink has a path to them, and no other uplink has more
        /// capacity to them. Otherwise the group of all uplinks is used. With `downlink`, packets to the NIC on downlink d
        /// of another T0 use uplink d modulo the number of uplinks. A T0 then has a route for every NIC of the fabric. Needs `ecmp-static`. Default: `none`.
        pub pin: Option<Spanned<Pin>> = "pin" => [T0],
        /// A CSV file of single pins, as a path relative to the folder of the fabric file. Its columns are `switch`,
        /// `nic` and `uplink`: a T0, a NIC, and an uplink from 0. Packets of that T0 to that NIC use that uplink if it
        /// has a path to the NIC. Otherwise they use the group of all uplinks. It overrides `pin`. `closc te` writes
        /// such files. Needs `ecmp-static`.
        pub pins: Option<Spanned<SmolStr>> = "pins" => [NAMED],
        /// Selection among next hops of equal cost. `hash`: one next hop per flow. `flowlet`: the least loaded one
        /// per burst of a flow, in order. `adaptive`: the least loaded one per packet. `spray`: each in turn, packet
        /// by packet. With the last two, packets arrive out of order (`hosts.packet_order`). It is an error if the
        /// system, release or platform of a switch does not support it (E0910). Default: `hash`.
        pub balance: Option<Spanned<Balance>> = "balance" => [SWITCHES, NODES],
        /// Other balancing in single tiers.
        pub balance_by_tier: Option<BalanceByTierDoc> = "balance_by_tier",
        /// Queue pairs that hosts open per connection, so that a hash can spread them: 1 to 128. Default: the number
        /// of uplinks of a T0, at most 16.
        #[schemars(range(min = 1, max = 128))]
        pub qps_per_connection: Option<Spanned<u16>> = "qps_per_connection" => [HOSTS],
    }
}

word!(Balance, "load-balancing mode", Balance::keyword);

document! {
    /// Balancing tier by tier. Each default is `ecmp.balance`.
    #[derive(Default)]
    pub struct BalanceByTierDoc as "BalanceByTier" {
        /// On T0s: over their uplinks.
        pub t0: Option<Spanned<Balance>> = "t0" => [T0, NODES],
        /// On T1s: over their uplinks, and over parallel links to a T0.
        pub t1: Option<Spanned<Balance>> = "t1" => [T1, NODES],
        /// On T2s: over all links to a zone.
        pub t2: Option<Spanned<Balance>> = "t2" => [T2, NODES],
    }
}

word!(Pin, "kind of pin" {
    "none" => Pin::None,
    "downlink" => Pin::Downlink,
});

document! {
    /// Entropy values of the host path tables. The numbers are totals over all planes. Each plane has an equal share.
    /// [hosts.md](hosts.md#path-tables) describes how values are assigned to NICs and become addresses.
    #[derive(Default)]
    pub struct EntropyDoc as "Entropy" {
        /// Active values. Default: 16 per plane, or the number of uplinks if that is smaller.
        #[schemars(range(min = 1))]
        pub active: Option<Spanned<u16>> = "active" => [HOSTS],
        /// Backup values. Default: the same number as active ones, or the number of remaining uplinks if that is
        /// smaller.
        pub backup: Option<Spanned<u16>> = "backup" => [HOSTS],
        /// Minimum number of values in use. A NIC keeps bad values in use rather than falling below it. Default: half
        /// of `active`.
        pub min_active: Option<Spanned<u16>> = "min_active" => [HOSTS],
        /// Seed of the selection, which makes it reproducible. Default: 0.
        pub seed: Option<Spanned<u64>> = "seed" => [HOSTS],
        /// UDP destination port of the transport. Default: 4791 (RoCEv2).
        pub udp_port: Option<Spanned<u16>> = "udp_port" => [ALL],
    }
}

document! {
    /// Patterns of device names. They contain fields such as `{plane}`. `{index:03}` has at least three digits, and
    /// `{plane+1}` counts from 1 instead of 0.
    #[derive(Default)]
    pub struct NamingDoc as "Naming" {
        /// T0s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t0-{index:03}`; with several zones or a T2
        /// tier `z{zone}-p{plane}-t0-{index:03}`.
        pub t0: Option<Spanned<SmolStr>> = "t0" => [T0, T1, HOSTS, LISTS],
        /// T1s, with `{plane}`, `{zone}` and `{index}`. Default: `p{plane}-t1-{index:03}`; with several zones or a T2
        /// tier `z{zone}-p{plane}-t1-{index:03}`.
        pub t1: Option<Spanned<SmolStr>> = "t1" => [SWITCHES, TABLES, LISTS],
        /// T2s, with `{plane}` and `{index}`. Default: `p{plane}-t2-{index:03}`.
        pub t2: Option<Spanned<SmolStr>> = "t2" => [T1, T2, TABLES, LISTS],
        /// Nodes, with `{zone}`, `{unit}` and `{node}`. Default: `su{unit:03}-n{node:03}`; with several zones or a T2
        /// tier `z{zone}-su{unit:03}-n{node:03}`.
        pub node: Option<Spanned<SmolStr>> = "node" => [T0, HOSTS, LISTS],
    }
}
