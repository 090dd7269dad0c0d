//! Kubernetes objects for network operators, so that pods get the NICs with the planned addresses.
//!
//! In: a [`ClusterIntent`] and the addresses of nodes. Out: JSON for `kubectl apply -f`, below `kubernetes/`:
//!
//! - `agents.json`: the DaemonSet that runs `closc-nic`, one container per NIC, if NICs write paths into packets;
//! - `nic-cluster-policy.json`: the parts of the NVIDIA network operator that the other objects need. `host-device/`
//!   has its own version, whose device plugin counts ports, so that a port is assigned to at most one pod;
//! - `cidr-pools/<name>.json`: one `CIDRPool` of nv-ipam per port (`nic0p3`: the subnet of its cable) and per NIC
//!   (`nic0`: its address), with a static allocation for every node, so that a pod has the node's addresses;
//! - three alternatives to assign NICs to pods: `sriov/` (policies and networks of the SR-IOV operator), `host-device/`
//!   (attachments that move the complete port into the pod) or `spectrum-x/` (one rail of several planes per NIC, with
//!   dynamic resource allocation also the claims of pods).
//!
//! Invariants: objects have only fields of their definitions. An object for a port or a NIC is named after it.

mod agents;
mod claim;
mod objects;

use closc_artefacts::Prefix;
use closc_plan::{AddressPlan, Allocation, ClusterIntent, ClusterNic, ClusterPort};
use serde::Serialize;

use crate::Artefact;
use agents::DaemonSet;
use claim::ClaimTemplate;
use objects::{
    CidrPool, Component, DevicePlugin, Global, HostDevice, Ipam, NetworkAttachment, NicClusterPolicy,
    NodePolicy, Object, Rail, RailPool, Resource, Resources, Route, Secondary, Selector, SriovNetwork,
    StaticAllocation,
};

/// The label that nodes of the fabric must have; its value is the fabric's name.
const LABEL: &str = "closc.dev/fabric";

/// Namespaces of objects, and the installed release of the operator.
#[derive(Debug, Clone)]
pub struct Options {
    /// Namespace of the network operator and its objects.
    pub operator_namespace: String,
    /// Namespace of the pods, in which attachments are created.
    pub namespace: String,
    /// Release of the network operator, which determines the versions of its components; `None` for its own defaults.
    pub release: Option<String>,
    /// Image with `closc-nic` and `ip`, for agents; `None` omits the agents.
    pub agent_image: Option<String>,
    /// Dynamic resource allocation: the GPU in the claim of each rail; `None` for the device plugin.
    pub dra: Option<ClaimedGpu>,
}

/// The GPU in the claim of a rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimedGpu {
    /// No GPU.
    None,
    /// Any GPU of the node.
    Any,
    /// A GPU with the PCIe root of the NIC.
    PcieRoot,
}

/// Renders every object except the address pools.
pub fn cluster(intent: &ClusterIntent<'_>, options: &Options) -> Vec<Artefact> {
    let ports = || intent.nics.iter().flat_map(|nic| nic.ports.iter().map(move |port| (nic, port)));
    let policies: Vec<_> = ports().map(|(_, port)| policy(intent, options, port)).collect();
    let networks: Vec<_> = ports().map(|(nic, port)| network(options, nic, port)).collect();
    let attachments: Vec<_> = ports().map(|(nic, port)| attachment(intent, options, nic, port)).collect();
    let ports = ports().map(|(_, port)| Resource::port(&port.interface)).collect();
    let plugin = DevicePlugin {
        image: "sriov-network-device-plugin",
        config: compact(&Resources { resource_list: ports }),
    };
    let agents = options.agent_image.as_ref().map(|image| file("agents", &agents(intent, options, image)));
    let common = vec![
        file("nic-cluster-policy", &nic_cluster_policy(options, None)),
        file("sriov/policies", &list(policies)),
        file("sriov/networks", &list(networks)),
        file("host-device/nic-cluster-policy", &nic_cluster_policy(options, Some(plugin))),
        file("host-device/attachments", &list(attachments)),
        file("spectrum-x/rails", &rails(intent, options)),
    ];
    let claims = options.dra.map(|gpu| file("spectrum-x/claims", &claims(intent, options, gpu)));
    common.into_iter().chain(claims).chain(agents).collect()
}

/// Renders the address pool of a port.
pub fn port_pool(
    intent: &ClusterIntent<'_>,
    options: &Options,
    port: &ClusterPort,
    nodes: impl Iterator<Item = Allocation>,
) -> Artefact {
    let pool = CidrPool {
        cidr: port.pool.to_string(),
        per_node_network_prefix: Prefix::new_assert(port.pool.addr(), AddressPlan::LINK_PREFIX).length(),
        // The T0 has the second of the two addresses of the subnet.
        gateway_index: Some(1),
        routes: vec![Route { dst: port.reach.to_string() }],
        static_allocations: nodes.map(allocation).collect(),
        node_selector: Selector::label(LABEL, intent.fabric),
    };
    pool_file(options, &port.interface, pool)
}

/// Renders the address pool of a NIC.
pub fn nic_pool(
    intent: &ClusterIntent<'_>,
    options: &Options,
    nic: &ClusterNic,
    nodes: impl Iterator<Item = Allocation>,
) -> Artefact {
    let pool = CidrPool {
        cidr: intent.reach.to_string(),
        per_node_network_prefix: Prefix::from(intent.reach.addr()).length(),
        gateway_index: None,
        routes: Vec::new(),
        static_allocations: nodes.map(allocation).collect(),
        node_selector: Selector::label(LABEL, intent.fabric),
    };
    pool_file(options, &nic_name(nic), pool)
}

fn pool_file(options: &Options, name: &str, pool: CidrPool) -> Artefact {
    let object = Object::new("nv-ipam.nvidia.com/v1alpha1", "CIDRPool", name, pool)
        .in_namespace(&options.operator_namespace);
    file(&format!("cidr-pools/{name}"), &object)
}

fn allocation(allocation: Allocation) -> StaticAllocation {
    let Allocation { node, prefix, gateway } = allocation;
    StaticAllocation {
        node_name: node.to_string(),
        prefix: prefix.to_string(),
        gateway: gateway.map(|gateway| gateway.to_string()),
    }
}

fn nic_name(nic: &ClusterNic) -> String {
    format!("nic{}", nic.number)
}

/// The addresses of a port and of its NIC.
fn ipam(nic: &ClusterNic, port: &ClusterPort) -> Ipam {
    Ipam {
        kind: "nv-ipam",
        pool_name: format!("{},{}", port.interface, nic_name(nic)),
        pool_type: "cidrpool",
    }
}

fn policy(intent: &ClusterIntent<'_>, options: &Options, port: &ClusterPort) -> Object<NodePolicy> {
    let policy = NodePolicy::whole_port(&port.interface, intent.mtu, (LABEL, intent.fabric));
    Object::new("sriovnetwork.openshift.io/v1", "SriovNetworkNodePolicy", &port.interface, policy)
        .in_namespace(&options.operator_namespace)
}

fn network(options: &Options, nic: &ClusterNic, port: &ClusterPort) -> Object<SriovNetwork> {
    let network = SriovNetwork {
        resource_name: port.interface.to_string(),
        network_namespace: options.namespace.clone(),
        ipam: compact(&ipam(nic, port)),
        link_state: "auto",
        trust: "on",
        spoof_chk: "off",
        meta_plugins: r#"{"type":"rdma"}"#,
    };
    Object::new("sriovnetwork.openshift.io/v1", "SriovNetwork", &port.interface, network)
        .in_namespace(&options.operator_namespace)
}

fn attachment(
    intent: &ClusterIntent<'_>,
    options: &Options,
    nic: &ClusterNic,
    port: &ClusterPort,
) -> Object<NetworkAttachment> {
    let config = HostDevice::new(&port.interface, intent.mtu, ipam(nic, port));
    let attachment = NetworkAttachment { config: compact(&config) };
    Object::new("k8s.cni.cncf.io/v1", "NetworkAttachmentDefinition", &port.interface, attachment)
        .in_namespace(&options.namespace)
        .with_annotation("k8s.v1.cni.cncf.io/resourceName", Resource::name(&port.interface))
}

fn rails(intent: &ClusterIntent<'_>, options: &Options) -> Object<RailPool> {
    let rail = |nic: &ClusterNic| Rail {
        name: nic_name(nic),
        mtu: intent.mtu,
        nic_selector: objects::PortNames {
            pf_names: nic.ports.iter().map(|port| port.interface.to_string()).collect(),
        },
        cidr_pool_ref: nic_name(nic),
    };
    let pool = RailPool {
        dra_enabled: options.dra.is_some(),
        num_vfs: 1,
        network_namespace: options.namespace.clone(),
        node_selector: [(LABEL.to_owned(), intent.fabric.to_owned())].into(),
        rail_topology: intent.nics.iter().map(rail).collect(),
    };
    Object::new("spectrumx.nvidia.com/v1alpha2", "SpectrumXRailPoolConfig", intent.fabric, pool)
        .in_namespace(&options.operator_namespace)
}

/// Renders the claim of each rail, from which pods get its NIC.
fn claims(intent: &ClusterIntent<'_>, options: &Options, gpu: ClaimedGpu) -> List<Object<ClaimTemplate>> {
    let claim = |nic: &ClusterNic| {
        let name = nic_name(nic);
        let template = ClaimTemplate::new(&name, nic.ports.len(), gpu);
        Object::new("resource.k8s.io/v1", "ResourceClaimTemplate", &name, template)
            .in_namespace(&options.namespace)
    };
    list(intent.nics.iter().map(claim).collect())
}

/// Renders the agents of all NICs of a node. Settings that differ between nodes are in files from `closc export host
/// --only agent`, so one object serves all nodes.
fn agents(intent: &ClusterIntent<'_>, options: &Options, image: &str) -> DaemonSet {
    let names: Vec<String> = intent.nics.iter().map(nic_name).collect();
    DaemonSet::new(&options.namespace, (LABEL, intent.fabric), image, &names)
}

fn nic_cluster_policy(options: &Options, plugin: Option<DevicePlugin>) -> Object<NicClusterPolicy> {
    let component = |image: &'static str| Component { image };
    let policy = NicClusterPolicy {
        global: options.release.as_ref().map(|release| Global {
            repository: "nvcr.io/nvidia/mellanox",
            version: format!("network-operator-{release}"),
        }),
        nv_ipam: component("nvidia-k8s-ipam"),
        secondary_network: Secondary { cni_plugins: component("plugins"), multus: component("multus-cni") },
        sriov_device_plugin: plugin,
    };
    Object::new("mellanox.com/v1alpha1", "NicClusterPolicy", "nic-cluster-policy", policy)
}

/// Several objects in one file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<T> {
    api_version: &'static str,
    kind: &'static str,
    items: Vec<T>,
}

fn list<T>(items: Vec<T>) -> List<T> {
    List { api_version: "v1", kind: "List", items }
}

fn compact(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("objects have text keys and no floats")
}

fn file(name: &str, value: &impl Serialize) -> Artefact {
    let mut bytes = serde_json::to_vec_pretty(value).expect("objects have text keys and no floats");
    bytes.push(b'\n');
    Artefact::new(format!("kubernetes/{name}.json"), bytes)
}
