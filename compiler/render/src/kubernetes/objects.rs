//! The objects, with the field names of their definitions.
//!
//! In: values. Out: a value that serializes to an object. Invariants: only fields of the definitions:
//! sriov-network-operator (SriovNetworkNodePolicy, SriovNetwork), Mellanox/nvidia-k8s-ipam (CIDRPool),
//! Mellanox/spectrum-x-operator (SpectrumXRailPoolConfig v1alpha2), Mellanox/network-operator (NicClusterPolicy), and
//! the NetworkAttachmentDefinition of the Network Plumbing Working Group.

use std::collections::BTreeMap;

use serde::Serialize;

/// An object of any kind.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Object<T> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    spec: T,
}

#[derive(Serialize)]
struct Metadata {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, String>,
}

impl<T> Object<T> {
    pub(super) fn new(api_version: &'static str, kind: &'static str, name: &str, spec: T) -> Self {
        let metadata = Metadata { name: name.to_owned(), namespace: None, annotations: BTreeMap::new() };
        Object { api_version, kind, metadata, spec }
    }

    pub(super) fn with_annotation(mut self, key: &'static str, value: String) -> Self {
        self.metadata.annotations.insert(key, value);
        self
    }

    pub(super) fn in_namespace(mut self, namespace: &str) -> Self {
        self.metadata.namespace = Some(namespace.to_owned());
        self
    }
}

/// `CIDRPool`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CidrPool {
    pub(super) cidr: String,
    pub(super) per_node_network_prefix: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gateway_index: Option<u8>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) routes: Vec<Route>,
    pub(super) node_selector: Selector,
    pub(super) static_allocations: Vec<StaticAllocation>,
}

#[derive(Serialize)]
pub(super) struct Route {
    pub(super) dst: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StaticAllocation {
    pub(super) node_name: String,
    pub(super) prefix: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) gateway: Option<String>,
}

/// Nodes with a label, in the long form.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Selector {
    node_selector_terms: [Term; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    match_expressions: [Expression; 1],
}

#[derive(Serialize)]
struct Expression {
    key: String,
    operator: &'static str,
    values: [String; 1],
}

impl Selector {
    pub(super) fn label(key: &str, value: &str) -> Self {
        let expression = Expression { key: key.to_owned(), operator: "In", values: [value.to_owned()] };
        Selector { node_selector_terms: [Term { match_expressions: [expression] }] }
    }
}

/// `SriovNetworkNodePolicy`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NodePolicy {
    resource_name: String,
    node_selector: BTreeMap<String, String>,
    priority: u8,
    num_vfs: u8,
    nic_selector: NicSelector,
    device_type: &'static str,
    e_switch_mode: &'static str,
    is_rdma: bool,
    link_type: &'static str,
    mtu: u16,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NicSelector {
    vendor: &'static str,
    pf_names: [String; 1],
}

/// PCI vendor of NVIDIA (Mellanox) NICs.
const MELLANOX: &str = "15b3";

impl NodePolicy {
    /// One virtual function that has the complete port, with RDMA.
    pub(super) fn whole_port(interface: &str, mtu: u16, (key, value): (&str, &str)) -> Self {
        NodePolicy {
            resource_name: interface.to_owned(),
            node_selector: [(key.to_owned(), value.to_owned())].into(),
            priority: 99,
            num_vfs: 1,
            nic_selector: NicSelector { vendor: MELLANOX, pf_names: [interface.to_owned()] },
            device_type: "netdevice",
            e_switch_mode: "legacy",
            is_rdma: true,
            link_type: "eth",
            mtu,
        }
    }
}

/// `SriovNetwork`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SriovNetwork {
    pub(super) resource_name: String,
    pub(super) network_namespace: String,
    pub(super) ipam: String,
    pub(super) link_state: &'static str,
    pub(super) trust: &'static str,
    pub(super) spoof_chk: &'static str,
    #[serde(rename = "metaPlugins")]
    pub(super) meta_plugins: &'static str,
}

/// The `ipam` part of a network's configuration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ipam {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) pool_name: String,
    pub(super) pool_type: &'static str,
}

/// `NetworkAttachmentDefinition`.
#[derive(Serialize)]
pub(super) struct NetworkAttachment {
    pub(super) config: String,
}

/// The configuration of an attachment: a list of CNI plugins.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HostDevice {
    cni_version: &'static str,
    name: String,
    plugins: (MoveDevice, Tuning),
}

#[derive(Serialize)]
struct MoveDevice {
    #[serde(rename = "type")]
    kind: &'static str,
    device: String,
    ipam: Ipam,
}

#[derive(Serialize)]
struct Tuning {
    #[serde(rename = "type")]
    kind: &'static str,
    mtu: u16,
}

impl HostDevice {
    /// Creates an attachment that moves a port into the pod.
    pub(super) fn new(interface: &str, mtu: u16, ipam: Ipam) -> Self {
        let device = MoveDevice { kind: "host-device", device: interface.to_owned(), ipam };
        HostDevice {
            cni_version: "1.0.0",
            name: interface.to_owned(),
            plugins: (device, Tuning { kind: "tuning", mtu }),
        }
    }
}

/// `SpectrumXRailPoolConfig`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RailPool {
    // The default of the definition is `true`.
    pub(super) dra_enabled: bool,
    pub(super) num_vfs: u8,
    pub(super) network_namespace: String,
    pub(super) node_selector: BTreeMap<String, String>,
    pub(super) rail_topology: Vec<Rail>,
}

/// A rail: one NIC, whose ports are its planes.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Rail {
    pub(super) name: String,
    pub(super) mtu: u16,
    pub(super) nic_selector: PortNames,
    pub(super) cidr_pool_ref: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PortNames {
    pub(super) pf_names: Vec<String>,
}

/// `NicClusterPolicy`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NicClusterPolicy {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) global: Option<Global>,
    pub(super) nv_ipam: Component,
    pub(super) secondary_network: Secondary,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) sriov_device_plugin: Option<DevicePlugin>,
}

/// Image source of all components.
#[derive(Serialize)]
pub(super) struct Global {
    pub(super) repository: &'static str,
    pub(super) version: String,
}

/// A component of the operator.
#[derive(Serialize)]
pub(super) struct Component {
    pub(super) image: &'static str,
}

/// The component that reports the resources of a node to Kubernetes. Its configuration is text.
#[derive(Serialize)]
pub(super) struct DevicePlugin {
    pub(super) image: &'static str,
    pub(super) config: String,
}

/// Resources of a device plugin.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resources {
    pub(super) resource_list: Vec<Resource>,
}

/// A resource that pods request: one port.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the plugin names its fields so")]
pub(super) struct Resource {
    resource_prefix: &'static str,
    resource_name: String,
    selectors: Devices,
}

/// The devices of a resource.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Devices {
    vendors: [&'static str; 1],
    pf_names: [String; 1],
    is_rdma: bool,
}

/// Prefix of resources that are complete ports.
const RESOURCE_PREFIX: &str = "nvidia.com";

impl Resource {
    /// Creates the resource of a port, with RDMA.
    pub(super) fn port(interface: &str) -> Self {
        Resource {
            resource_prefix: RESOURCE_PREFIX,
            resource_name: interface.to_owned(),
            selectors: Devices { vendors: [MELLANOX], pf_names: [interface.to_owned()], is_rdma: true },
        }
    }

    /// Returns the name under which pods and attachments request it.
    pub(super) fn name(interface: &str) -> String {
        format!("{RESOURCE_PREFIX}/{interface}")
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Secondary {
    pub(super) cni_plugins: Component,
    pub(super) multus: Component,
}
