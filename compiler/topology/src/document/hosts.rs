//! `hosts`: the NICs, and how they are attached to the T0s.

use closc_qos::units::Speed;
use smol_str::SmolStr;

use crate::choice::{Bond, HostOs, HostOutput, PacketOrder};
use crate::pci::PciAddress;
use crate::read::{NameMap, Spanned, document, word};

document! {
    /// The NICs, and how they are attached to the T0s. A T0 group consists of the T0s with the same number
    /// in all planes. They serve the same NICs, and each NIC has the same downlink number on all of them.
    pub struct HostsDoc as "Hosts" {
        /// T0 groups per zone. This is also the number of T0s per plane and zone.
        #[schemars(range(min = 1))]
        pub groups: Spanned<u16> = "groups" => [T1, HOSTS, LISTS],
        /// Number of T0 groups in zones with fewer than `groups`, by zone. The first ones exist, and the others are
        /// reserved, so that growth to `groups` renumbers nothing.
        pub groups_by_zone: Option<NameMap<u16, Spanned<u16>>> = "groups_by_zone" => [NAMED],
        /// NICs per T0 group, at most the downlinks of a T0.
        #[schemars(range(min = 1))]
        pub per_group: Spanned<u16> = "per_group" => [T0, HOSTS, LISTS],
        /// NICs per T0 group in zones with fewer than `per_group`, by zone. The first ones exist, and the other
        /// downlinks are reserved, so that growth to `per_group` renumbers nothing.
        pub per_group_by_zone: Option<NameMap<u16, Spanned<u16>>> = "per_group_by_zone" => [NAMED],
        /// NICs per node. Default: 1.
        #[schemars(range(min = 1))]
        pub nics_per_node: Option<Spanned<u8>> = "nics_per_node" => [ALL],
        /// T0 groups that the NICs of a node are distributed over. NIC k of a node is attached to group `k % rails`
        /// of its unit. A unit is `rails` consecutive groups. `rails` must divide `nics_per_node`, and
        /// `rails / zones_per_node` must divide `groups`. Default: 1.
        #[schemars(range(min = 1))]
        pub rails: Option<Spanned<u8>> = "rails" => [ALL],
        /// Zones that the NICs of a node are distributed over, so that the T1s of a zone serve some rails only. Rail
        /// r is in zone `r / (rails / zones_per_node)` of these consecutive zones, and the node is named after the
        /// first. A unit then has `rails / zones_per_node` groups in each of them. `zones_per_node` must divide
        /// `rails` and `zones`. If it equals `zones`, the T2 tier can be omitted, and each zone is a plane by NIC.
        /// Default: 1.
        #[schemars(range(min = 1))]
        pub zones_per_node: Option<Spanned<u8>> = "zones_per_node" => [ALL],
        /// NICs on each adapter: its ports in one plane, each on a T0 of its own (dual ToR). With 2, NICs 2k and 2k+1 of
        /// a node are the ports of adapter k, on two consecutive T0 groups. Each has an address of its own. The NICs of
        /// an adapter share its cages, slot and failure. The number must divide `rails / zones_per_node`. Default: 1.
        #[schemars(range(min = 1))]
        pub nics_per_adapter: Option<Spanned<u8>> = "nics_per_adapter" => [ALL],
        /// Whether the ports of an adapter in a plane are bonded. With `none`, each has its own address. `lacp`, one
        /// address over several T0s, is rejected (E0329). Default: `none`.
        pub bond: Option<Spanned<Bond>> = "bond" => [ALL],
        /// The NIC.
        pub nic: NicDoc = "nic" => [ALL],
        /// Other NICs for single zones, by zone.
        pub nic_by_zone: Option<NameMap<u16, NicDoc>> = "nic_by_zone" => [ALL],
        /// Packet order that NICs need within a flow. Set `any` if NICs and their transport accept packets out of
        /// order, as RoCE NICs that are configured for adaptive routing do. `ecmp.balance: adaptive` and `spray` need
        /// `any` (W0907). `nccl.conf` then enables adaptive routing. Default: `required`.
        pub packet_order: Option<Spanned<PacketOrder>> = "packet_order" => [NODES],
        /// Generated files for nodes besides path tables. Default: `none`.
        pub os: Option<Spanned<HostOs>> = "os" => [NODES],
        /// Additional files for every node. `closc export host` writes them for single nodes of any fabric. Default:
        /// none, because node folders would make up most of a large tree.
        pub outputs: Option<Vec<Spanned<HostOutput>>> = "outputs" => [NODES],
        /// PCI positions of the NICs, one entry per NIC of a node, or per adapter, in order. They determine the names of interfaces
        /// and RDMA devices and the topology file of NCCL.
        pub slots: Option<Vec<SlotDoc>> = "slots" => [NODES],
    }
}

document! {
    /// The PCI position of a NIC, the same in every node.
    pub struct SlotDoc as "Slot" {
        /// PCI address of the NIC's port in plane 0. The port of plane k is k functions higher. On an adapter with
        /// several NICs, the functions of the next NIC follow.
        pub pci: Spanned<PciAddress> = "pci",
        /// NUMA node. Default: 0.
        pub numa: Option<Spanned<u8>> = "numa",
        /// PCI address of the GPU that uses the NIC.
        pub gpu: Option<Spanned<PciAddress>> = "gpu",
        /// The power domain of the NIC. The backup of a port in `backup-ports.json` is in another power domain, if
        /// possible.
        pub power: Option<Spanned<SmolStr>> = "power",
    }
}

word!(PacketOrder, "packet order", PacketOrder::keyword);

word!(Bond, "bond" {
    "none" => Bond::None,
    "lacp" => Bond::Lacp,
});

word!(HostOutput, "host file" {
    "nic" => HostOutput::Nic,
    "netplan" => HostOutput::Netplan,
    "networkd" => HostOutput::Networkd,
    "nccl" => HostOutput::Nccl,
    "agent" => HostOutput::Agent,
});

document! {
    /// The NIC.
    pub struct NicDoc as "Nic" {
        /// Total speed of the NIC; each plane gets an equal share.
        pub speed: Spanned<Speed> = "speed",
        /// Serial lanes of the NIC, a multiple of `planes`. Default: one per 100G.
        #[schemars(range(min = 1))]
        pub lanes: Option<Spanned<u8>> = "lanes",
        /// Cages of the NIC. The ports of the planes are divided over them in order: with 2 cages and 4 planes,
        /// planes 0 and 1 are in the first. Each cage has its own transceiver or cable. With `nics_per_adapter`, these are
        /// the cages of the adapter, and the ports of its second NIC follow those of the first. The number of cages must
        /// divide the ports, and a cage has 1, 2, 4 or 8 ports. Default: 1.
        #[schemars(range(min = 1))]
        pub cages: Option<Spanned<u8>> = "cages",
    }
}

word!(HostOs, "host target" {
    "none" => HostOs::None,
    "linux" => HostOs::Linux,
});
