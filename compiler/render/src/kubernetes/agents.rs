//! The DaemonSet that runs the agent of each NIC, with the field names of `apps/v1`.
//!
//! In: names of NICs, an image, a label. Out: a value that serializes to the object. Invariants: it uses the node's
//! own network. Its only privileges are the capabilities for ports, the TUN device and its routes. It contains
//! nothing specific to one node.

use std::collections::BTreeMap;

use serde::Serialize;

/// Folder of settings and path tables on a node.
const SETTINGS: &str = "/etc/closc";
/// Folder of the agents' control sockets.
const SOCKETS: &str = "/run/closc";
/// Folder in which denials are stored.
const STATE: &str = "/var/lib/closc-nic";
/// The device that receives packets of the node.
const TUN: &str = "/dev/net/tun";
/// Name of the object, value of its label `app.kubernetes.io/name`, and command of its containers.
const NAME: &str = "closc-nic";

/// `DaemonSet`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DaemonSet {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata,
    spec: Spec,
}

#[derive(Serialize)]
struct Metadata {
    name: &'static str,
    namespace: String,
    labels: Labels,
}

#[derive(Clone, Serialize)]
struct Labels {
    #[serde(rename = "app.kubernetes.io/name")]
    name: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    selector: Selector,
    update_strategy: UpdateStrategy,
    template: Template,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: Labels,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpdateStrategy {
    #[serde(rename = "type")]
    kind: &'static str,
    rolling_update: RollingUpdate,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RollingUpdate {
    max_unavailable: u32,
}

#[derive(Serialize)]
struct Template {
    metadata: TemplateMetadata,
    spec: PodSpec,
}

#[derive(Serialize)]
struct TemplateMetadata {
    labels: Labels,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PodSpec {
    host_network: bool,
    node_selector: BTreeMap<String, String>,
    tolerations: [Toleration; 1],
    priority_class_name: &'static str,
    automount_service_account_token: bool,
    termination_grace_period_seconds: u32,
    containers: Vec<Container>,
    volumes: Vec<Volume>,
}

/// Tolerates any taint, because a node without its agent has no paths.
#[derive(Serialize)]
struct Toleration {
    operator: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Container {
    name: String,
    image: String,
    command: [&'static str; 1],
    args: Vec<String>,
    security_context: SecurityContext,
    resources: Resources,
    liveness_probe: Probe,
    volume_mounts: Vec<Mount>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SecurityContext {
    allow_privilege_escalation: bool,
    capabilities: Capabilities,
    read_only_root_filesystem: bool,
    run_as_user: u32,
    seccomp_profile: SeccompProfile,
}

#[derive(Serialize)]
struct Capabilities {
    add: [&'static str; 2],
    drop: [&'static str; 1],
}

#[derive(Serialize)]
struct SeccompProfile {
    #[serde(rename = "type")]
    kind: &'static str,
}

#[derive(Serialize)]
struct Resources {
    limits: Memory,
    requests: Memory,
}

#[derive(Serialize)]
struct Memory {
    memory: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Probe {
    exec: Exec,
    period_seconds: u32,
    timeout_seconds: u32,
}

#[derive(Serialize)]
struct Exec {
    command: Vec<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Mount {
    name: &'static str,
    #[serde(rename = "mountPath")]
    path: &'static str,
    read_only: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Volume {
    name: &'static str,
    host_path: HostPath,
}

#[derive(Serialize)]
struct HostPath {
    path: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
}

impl DaemonSet {
    /// Creates the object for nodes with a label, with an image and one container per NIC.
    pub(super) fn new(namespace: &str, label: (&str, &str), image: &str, nics: &[String]) -> DaemonSet {
        let labels = Labels { name: NAME };
        let spec = PodSpec {
            host_network: true,
            node_selector: [(label.0.to_owned(), label.1.to_owned())].into(),
            tolerations: [Toleration { operator: "Exists" }],
            priority_class_name: "system-node-critical",
            automount_service_account_token: false,
            termination_grace_period_seconds: 5,
            containers: nics.iter().map(|nic| container(nic, image)).collect(),
            volumes: PLACES.iter().map(|(name, path, kind, _)| volume(name, path, kind)).collect(),
        };
        DaemonSet {
            api_version: "apps/v1",
            kind: "DaemonSet",
            metadata: Metadata { name: NAME, namespace: namespace.to_owned(), labels: labels.clone() },
            spec: Spec {
                selector: Selector { match_labels: labels.clone() },
                // During an update, only one node at a time is briefly without its agents.
                update_strategy: UpdateStrategy {
                    kind: "RollingUpdate",
                    rolling_update: RollingUpdate { max_unavailable: 1 },
                },
                template: Template { metadata: TemplateMetadata { labels }, spec },
            },
        }
    }
}

/// Files of the node: name, path, type, and whether it is read-only.
const PLACES: &[(&str, &str, &str, bool)] = &[
    ("settings", SETTINGS, "Directory", true),
    ("sockets", SOCKETS, "DirectoryOrCreate", false),
    ("state", STATE, "DirectoryOrCreate", false),
    ("tun", TUN, "CharDevice", false),
];

fn volume(name: &'static str, path: &'static str, kind: &'static str) -> Volume {
    Volume { name, host_path: HostPath { path, kind } }
}

fn container(nic: &str, image: &str) -> Container {
    let socket = format!("{SOCKETS}/{nic}.sock");
    let args = [
        "--socket",
        &socket,
        "run",
        "--settings",
        &format!("{SETTINGS}/{nic}.env"),
        "--tun",
        &format!("{nic}-closc"),
        "--state",
        &format!("{STATE}/{nic}.json"),
    ];
    let status = [NAME, "--socket", &socket, "status"];
    Container {
        name: nic.to_owned(),
        image: image.to_owned(),
        command: [NAME],
        args: args.map(str::to_owned).into(),
        security_context: SecurityContext {
            allow_privilege_escalation: false,
            capabilities: Capabilities { add: ["NET_ADMIN", "NET_RAW"], drop: ["ALL"] },
            read_only_root_filesystem: true,
            run_as_user: 0,
            seccomp_profile: SeccompProfile { kind: "RuntimeDefault" },
        },
        resources: Resources { limits: Memory { memory: "64Mi" }, requests: Memory { memory: "16Mi" } },
        liveness_probe: Probe {
            exec: Exec { command: status.map(str::to_owned).into() },
            period_seconds: 10,
            timeout_seconds: 5,
        },
        volume_mounts: PLACES
            .iter()
            .map(|(name, path, _, read_only)| Mount { name, path, read_only: *read_only })
            .collect(),
    }
}
