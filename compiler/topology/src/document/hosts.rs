//! `hosts`: the NICs, and how they are attached to the T0s.

use closc_qos::units::Speed;
use smol_str::SmolStr;

use crate::choice::{HostOs, HostOutput};
use crate::pci::PciAddress;
use crate::read::{Named, Spanned, document, word};

document! {
    /// The NICs, and how they are attached to the T0s. A T0 group is the T0s of one number in all planes; they serve the
    /// same NICs, each NIC on the same downlink number of all of them.
    pub struct HostsDoc as "Hosts" {
        /// T0 groups in each zone, which is the number of T0s in each plane and zone.
        #[schemars(range(min = 1))]
        pub groups: Spanned<u16> = "groups" => [T1, HOSTS, LISTS],
        /// T0 groups of single zones that have fewer, by zone. Their T0s and NICs are those that come first; what is
        /// missing leaves holes, so that a zone can grow to `groups` and nothing moves.
        pub groups_by_zone: Option<Named<u16, Spanned<u16>>> = "groups_by_zone" => [NAMED],
        /// NICs on each T0 group, at most the downlinks of a T0.
        #[schemars(range(min = 1))]
        pub per_group: Spanned<u16> = "per_group" => [T0, HOSTS, LISTS],
        /// NICs on each T0 group of single zones that have fewer, by zone. They are those that come first; the other
        /// downlinks are kept, so that a zone can grow to `per_group` and nothing moves.
        pub per_group_by_zone: Option<Named<u16, Spanned<u16>>> = "per_group_by_zone" => [NAMED],
        /// NICs in a node. Default: 1.
        #[schemars(range(min = 1))]
        pub nics_per_node: Option<Spanned<u8>> = "nics_per_node" => [ALL],
        /// T0 groups that the NICs of a node are spread over. NIC k of a node is attached to group `k % rails` of its
        /// unit; a unit is `rails` consecutive groups. Divides `nics_per_node` and `groups`. Default: 1.
        #[schemars(range(min = 1))]
        pub rails: Option<Spanned<u8>> = "rails" => [ALL],
        /// The NIC.
        pub nic: NicDoc = "nic" => [ALL],
        /// The NIC of single zones that have another, by zone.
        pub nic_by_zone: Option<Named<u16, NicDoc>> = "nic_by_zone" => [ALL],
        /// Generated files for nodes besides path tables. Default: `none`.
        pub os: Option<Spanned<HostOs>> = "os" => [NODES],
        /// Files that are generated for every node too; `closc export host` writes them for single nodes of any
        /// fabric. Default: none, because a folder for each node is more than the rest of a large tree.
        pub outputs: Option<Vec<Spanned<HostOutput>>> = "outputs" => [NODES],
        /// Where the NICs are plugged in, one entry for each NIC of a node, in order. Names of interfaces and RDMA
        /// devices and the topology file of NCCL are generated from it.
        pub slots: Option<Vec<SlotDoc>> = "slots" => [NODES],
    }
}

document! {
    /// Where a NIC is plugged in, the same in every node.
    pub struct SlotDoc as "Slot" {
        /// PCI address of the NIC's first port, the one of plane 0; the port of plane k is k functions behind it.
        pub pci: Spanned<PciAddress> = "pci",
        /// NUMA node. Default: 0.
        pub numa: Option<Spanned<u8>> = "numa",
        /// PCI address of the GPU that uses the NIC.
        pub gpu: Option<Spanned<PciAddress>> = "gpu",
        /// The power domain that feeds the NIC; a backup port is in another one.
        pub power: Option<Spanned<SmolStr>> = "power",
    }
}

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
        /// Speed of the whole NIC; each plane gets an equal share.
        pub speed: Spanned<Speed> = "speed",
        /// Serial lanes of the NIC; `planes` must divide it. Default: one for each 100G.
        #[schemars(range(min = 1))]
        pub lanes: Option<Spanned<u8>> = "lanes",
    }
}

word!(HostOs, "host target" {
    "none" => HostOs::None,
    "linux" => HostOs::Linux,
});
