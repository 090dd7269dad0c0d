//! Class settings of NICs (`nic-qos.sh`), and the delays of the longest path (`delay.json`), from which senders set
//! their windows.
//!
//! In: the intent of a node. Out: both files, and kernel settings. Invariants: every value comes from the profile of
//! the switches, by [`HostQos`]. The script sets complete lists, so earlier settings do not matter.

use closc_artefacts::node_delay::{FORMAT, Marks, NodeDelay};
use closc_artefacts::path_table::Delay;
use closc_artefacts::paths::DELAY;
use closc_plan::ZoneDelay;
use closc_qos::host::{HostClass, HostPriority, HostQos, Selection};
use closc_qos::profile::Profile;
use serde::Serialize;

use super::Files;
use crate::targets::linux;
use crate::{Artefact, RenderError};

#[derive(Serialize)]
struct View {
    name: String,
    fabric: String,
    profile: String,
    ports: Vec<Port>,
    /// Lists of eight, by priority or traffic class, in the form of `mlnx_qos`.
    pfc: String,
    prio_tc: String,
    tsa: String,
    tcbw: String,
    prio2buffer: String,
    /// `DSCP,priority` for each of the 64 code points.
    code_points: Vec<String>,
    /// The classes, for a comment.
    classes: Vec<Class>,
    /// Type of service of connections from the RDMA connection manager.
    connection_tos: u8,
    /// Parameters of DCQCN. Its priorities are empty if the profile does not use it.
    dcqcn: Dcqcn,
}

#[derive(Serialize)]
struct Port {
    name: String,
    /// Length of its cable in whole metres.
    cable: u64,
    t0: String,
}

#[derive(Serialize)]
struct Class {
    name: String,
    /// Its code points. For trimmed packets, the text has the meaning of each.
    dscp: String,
    priority: u8,
    kind: &'static str,
}

#[derive(Serialize)]
struct Dcqcn {
    /// The priorities that DCQCN controls.
    on: Vec<u8>,
    /// The other priorities.
    off: Vec<u8>,
    cnp_dscp: u8,
    cnp_priority: u8,
}

pub(super) fn render(files: &Files<'_>) -> Result<Vec<Artefact>, RenderError> {
    let script = files.text("nic-qos.sh", "nic-qos.sh.j2", &view(files))?;
    Ok(vec![script, files.json(DELAY, &delay(files)), linux::host_sysctl(files.intent, files.templates)?])
}

/// Returns the delays, which do not depend on the routing mode. If hosts write the path, path tables contain the same
/// values.
fn delay(files: &Files<'_>) -> NodeDelay {
    let intent = files.intent;
    let ZoneDelay { port, delay, target, marks } = intent.delay;
    NodeDelay {
        format: FORMAT.into(),
        node: intent.name.clone(),
        port_mbps: port.mbps(),
        delay: Delay {
            base_rtt_ns: delay.base_rtt.0,
            bandwidth_delay_bytes: delay.bdp.0,
            target_ns: target.map(|target| target.0),
        },
        marks: marks.as_ref().map(|marks| Marks {
            least_bytes: marks.min().0,
            most_bytes: marks.max().0,
            percent: marks.probability().get().into(),
        }),
    }
}

fn view(files: &Files<'_>) -> View {
    let intent = files.intent;
    let qos = HostQos::of(intent.qos);
    let list = |of: &dyn Fn(&HostPriority) -> String| {
        let values: Vec<String> = qos.priorities.iter().map(of).collect();
        values.join(",")
    };
    let ports = intent.nics.iter().flat_map(|nic| &nic.ports);
    View {
        name: intent.name.to_string(),
        fabric: intent.fabric.to_owned(),
        profile: intent.qos.name().to_string(),
        ports: ports
            .map(|port| Port {
                name: port.interface.to_string(),
                cable: port.cable.length.meters_ceil(),
                t0: format!("{} {}", port.t0, port.t0_port),
            })
            .collect(),
        pfc: list(&|priority| u8::from(priority.pfc).to_string()),
        prio_tc: list(&|priority| priority.tc.to_string()),
        tsa: list(&|priority| match priority.selection {
            Selection::Strict => "strict".to_owned(),
            Selection::Ets(_) => "ets".to_owned(),
        }),
        tcbw: list(&|priority| match priority.selection {
            Selection::Strict => "0".to_owned(),
            Selection::Ets(share) => share.get().to_string(),
        }),
        prio2buffer: list(&|priority| priority.buffer.to_string()),
        code_points: qos
            .dscp_to_priority
            .iter()
            .map(|(dscp, priority)| format!("{},{}", dscp.get(), priority.get()))
            .collect(),
        classes: qos
            .classes
            .iter()
            .map(|class| Class {
                name: class.name.to_string(),
                dscp: code_points(intent.qos, class),
                priority: class.priority.get(),
                kind: if class.pfc { "lossless" } else { "lossy" },
            })
            .collect(),
        connection_tos: qos.rdma.connection_tos,
        dcqcn: dcqcn(&qos),
    }
}

fn code_points(profile: &Profile, class: &HostClass) -> String {
    let of = profile.classes().find(|of| of.name == class.name);
    let all = of.map_or_else(|| vec![class.dscp], |of| of.dscp.clone());
    let trimming = profile.trimming().filter(|trimming| trimming.class == class.name);
    let each = all.into_iter().map(|dscp| {
        let number = dscp.get();
        match trimming {
            Some(trimming) if dscp == trimming.fabric_dscp => {
                format!("{number} (trimmed inside the fabric)")
            }
            Some(trimming) if dscp == trimming.last_hop_dscp => format!("{number} (at the last hop)"),
            Some(_) | None => number.to_string(),
        }
    });
    each.collect::<Vec<_>>().join(" and ")
}

fn dcqcn(qos: &HostQos) -> Dcqcn {
    let on: Vec<u8> =
        qos.dcqcn.iter().flat_map(|dcqcn| &dcqcn.priorities).map(|priority| priority.get()).collect();
    Dcqcn {
        off: (0..8).filter(|priority| !on.contains(priority)).collect(),
        cnp_dscp: qos.dcqcn.as_ref().map_or(0, |dcqcn| dcqcn.cnp_dscp.get()),
        cnp_priority: qos.dcqcn.as_ref().map_or(0, |dcqcn| dcqcn.cnp_priority.get()),
        on,
    }
}
