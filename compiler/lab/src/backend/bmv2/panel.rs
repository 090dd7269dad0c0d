//! The patch panel: a namespace with a veth pair to every port and a bridge for each cable.
//!
//! Invariants: a bridge floods, does not store addresses, and forwards link-local protocols, so it behaves like a
//! cable. A port whose cable is cut keeps its carrier.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::LabError;
use crate::backend::linux::{self, Namespace, Plug};
use crate::model::{CableId, Model, PortId};
use crate::progress::Watch;

/// The patch panel of a lab.
#[derive(Debug)]
pub(super) struct Panel {
    model: Arc<Model>,
    namespace: Namespace,
}

impl Panel {
    /// Creates the panel for a namespace, which need not exist yet.
    pub(super) fn new(model: Arc<Model>, name: String) -> Self {
        let device = "the patch panel".to_owned();
        Panel { model, namespace: Namespace { name, device } }
    }

    /// Creates the panel and connects every cable as in the cable lists.
    pub(super) fn make(&self, devices: &[Namespace], watch: &Watch<'_>) -> Result<(), LabError> {
        linux::create(std::slice::from_ref(&self.namespace.name))?;
        self.namespace.run(linux::silence)?;
        let ports: Vec<PortId> = self.model.all_ports().collect();
        let plugs: Vec<(Plug, Plug)> = ports
            .iter()
            .map(|port| {
                let (device, name) = self.model.end(*port);
                let plug = |namespace: &Namespace, interface: String| Plug {
                    namespace: namespace.name.clone(),
                    interface,
                };
                (plug(&devices[device.0], name.to_owned()), plug(&self.namespace, socket(*port)))
            })
            .collect();
        let mut done = 0;
        for some in plugs.chunks(512) {
            watch.check()?;
            watch.step("plug cables", done, plugs.len() as u64);
            linux::plug(some)?;
            done += some.len() as u64;
        }
        let mut batch = String::new();
        for at in 0..self.model.cables.len() {
            let cable = CableId(at);
            let bridge = bridge(cable);
            // 65528: every group that a bridge can forward, including LLDP. A bridge with multicast snooping would join
            // the snoopers' group (RFC 4286) and send reports on both ports. No device of the fabric sends these.
            let _ = writeln!(
                batch,
                "link add name {bridge} type bridge forward_delay 0 ageing_time 0 mcast_snooping 0 group_fwd_mask 65528"
            );
            for port in [cable.lower(), cable.upper()].map(socket) {
                let _ = writeln!(batch, "link set dev {port} mtu {} master {bridge} up", linux::MTU);
            }
            let _ = writeln!(batch, "link set dev {bridge} up");
        }
        self.run(&batch)
    }

    /// Pulls cables out of ports and plugs others in.
    pub(super) fn rewire(&self, ends: &[PortId], pairs: &[(PortId, Option<PortId>)]) -> Result<(), LabError> {
        let mut batch = String::new();
        for port in ends {
            let _ = writeln!(batch, "link set dev {} nomaster", socket(*port));
        }
        for (one, other) in pairs.iter().filter_map(|(one, other)| Some((*one, (*other)?))) {
            for port in [one, other].map(socket) {
                let _ = writeln!(batch, "link set dev {port} master {}", bridge(one.cable()));
            }
        }
        self.run(&batch)
    }

    fn run(&self, batch: &str) -> Result<(), LabError> {
        self.namespace.run(|| linux::ip_batch(batch, &self.namespace.device))
    }
}

/// Returns the name of the panel's end of a port's veth pair.
fn socket(port: PortId) -> String {
    format!("p{}", port.number())
}

fn bridge(cable: CableId) -> String {
    format!("b{}", cable.0)
}
