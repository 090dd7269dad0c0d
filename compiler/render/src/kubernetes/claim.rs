//! Claims of dynamic resource allocation (DRA), from which pods get the devices of a rail.
//!
//! In: a rail, the number of its ports, and the GPU. Out: a value that serializes to a ResourceClaimTemplate of
//! `resource.k8s.io/v1` (Kubernetes 1.34). Invariants: each port of the rail has one virtual function.
//!
//! Requests and selectors are those of NVIDIA/k8s-launch-kit 378fd361, read in November 2026:
//! `profiles/spectrum-x-ra2.4/85-resourceclaimtemplate.yaml`. That profile reads PCIe roots from the nodes. Here, a
//! constraint requires that GPU and virtual functions have the same PCIe root.

use serde::Serialize;

use super::ClaimedGpu;
use super::objects::Resource;

/// `ResourceClaimTemplate`.
#[derive(Serialize)]
pub(super) struct ClaimTemplate {
    spec: Claim,
}

#[derive(Serialize)]
struct Claim {
    devices: Devices,
}

#[derive(Serialize)]
struct Devices {
    requests: Vec<Request>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    constraints: Vec<Constraint>,
}

#[derive(Serialize)]
struct Request {
    name: &'static str,
    exactly: Exactly,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Exactly {
    device_class_name: &'static str,
    count: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    selectors: Vec<DeviceSelector>,
}

#[derive(Serialize)]
struct DeviceSelector {
    cel: Cel,
}

#[derive(Serialize)]
struct Cel {
    expression: String,
}

/// Constraint that devices have the same value of an attribute.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Constraint {
    requests: [&'static str; 2],
    match_attribute: &'static str,
}

impl ClaimTemplate {
    /// Creates the claim of a rail: a virtual function of each of its ports, and a GPU.
    pub(super) fn new(rail: &str, ports: usize, gpu: ClaimedGpu) -> Self {
        let resource = Resource::name(rail);
        let expression = format!("device.attributes[\"k8s.cni.cncf.io\"].resourceName == \"{resource}\"");
        let functions = Request {
            name: "vf",
            exactly: Exactly {
                device_class_name: "sriovnetwork.k8snetworkplumbingwg.io",
                count: ports,
                selectors: vec![DeviceSelector { cel: Cel { expression } }],
            },
        };
        let one = || Request {
            name: "gpu",
            exactly: Exactly { device_class_name: "gpu.nvidia.com", count: 1, selectors: Vec::new() },
        };
        let same =
            || Constraint { requests: ["gpu", "vf"], match_attribute: "resource.kubernetes.io/pcieRoot" };
        let (requests, constraints) = match gpu {
            ClaimedGpu::None => (vec![functions], Vec::new()),
            ClaimedGpu::Any => (vec![one(), functions], Vec::new()),
            ClaimedGpu::PcieRoot => (vec![one(), functions], vec![same()]),
        };
        ClaimTemplate { spec: Claim { devices: Devices { requests, constraints } } }
    }
}
