//! Applies the files of devices in their required order.
//!
//! In: devices and their namespaces. Out: configured devices. Invariants: files are parsed into settings and commands
//! before they are applied, with network capabilities only.

use std::fs;
use std::sync::Once;

use super::command::{ip_batch, ip_batch_make, tc_batch};
use super::features::lacking_queues;
use super::namespace::{Namespace, run_in_namespaces};
use crate::LabError;
use crate::model::{Model, PortId};
use crate::progress::Watch;
use crate::tree::{Command, KernelFiles, Queueing, Sysctl, Tree};

/// A device: its namespace, and its name in the tree.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) namespace: &'a Namespace,
}

impl Place<'_> {
    fn files(&self) -> KernelFiles<'_> {
        KernelFiles::of(self.tree, &self.tree.devices[&self.namespace.device])
    }
}

/// Applies the files of the given devices: `sysctl.conf`, `devices.batch`, `ip.batch` and, if supported, `tc.batch`.
pub(crate) fn configure(places: &[Place<'_>], jobs: usize, watch: &Watch<'_>) -> Result<(), LabError> {
    let done = std::sync::atomic::AtomicU64::new(0);
    let takes_queues = takes_queues(places);
    run_in_namespaces(places.iter().map(|place| place.namespace), jobs, |at| {
        watch.check()?;
        let (device, files) = (&places[at].namespace.device, places[at].files());
        sysctls(&files.sysctls()?, device)?;
        ip_batch_make(&Command::write_all(&files.devices()?), device)?;
        ip_batch(&Command::write_all(&files.batch()?), device)?;
        let queues = files.queues()?;
        if takes_queues && !queues.is_empty() {
            tc_batch(&Queueing::write_all(&queues), device)?;
        }
        let number = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        watch.step("configure devices", number, places.len() as u64);
        Ok(())
    })?;
    Ok(())
}

/// Applies the routes to other nodes, for nodes that have a file with them. All ports must have carrier.
pub(crate) fn apply_node_routes(places: &[Place<'_>], jobs: usize) -> Result<(), LabError> {
    run_in_namespaces(places.iter().map(|place| place.namespace), jobs, |at| {
        let routes = places[at].files().routes()?;
        if routes.is_empty() {
            return Ok(());
        }
        ip_batch(&Command::write_all(&routes), &places[at].namespace.device)
    })?;
    Ok(())
}

/// Returns whether this machine supports the queues of devices, if there are any. A missing feature is reported once,
/// and the lab then runs without queues. The check needs capabilities that this process drops later.
fn takes_queues(places: &[Place<'_>]) -> bool {
    static SAID: Once = Once::new();
    // An unreadable file is reported elsewhere.
    let asks = |place: &Place<'_>| place.files().queues().is_ok_and(|queues| !queues.is_empty());
    if !places.iter().any(asks) {
        return false;
    }
    let lacking = lacking_queues();
    if let Some(lacking) = lacking {
        SAID.call_once(|| tracing::warn!("no queues in this lab: this machine has no {lacking}"));
    }
    lacking.is_none()
}

/// Writes settings below `/proc/sys/net`, which belongs to the namespace of the calling thread.
fn sysctls(settings: &[Sysctl], device: &str) -> Result<(), LabError> {
    for setting in settings {
        fs::write(setting.path(), setting.value.to_string())
            .map_err(LabError::io(format!("set `{}` of `{device}`", setting.name())))?;
    }
    Ok(())
}

/// Lets every frame pass the ends of moved cables. Static neighbours there get the MAC address of the connected
/// device, as if from neighbour discovery. Then only segments can cause losses.
pub(crate) fn open_link_layer(
    tree: &Tree,
    model: &Model,
    namespaces: &[Namespace],
    ends: &[(PortId, PortId)],
) -> Result<(), LabError> {
    for (near, far) in ends {
        let (device, port) = model.end(*near);
        let (other, other_port) = model.end(*far);
        let batch = |name: &str| tree.devices.get(name).map(|device| &device.batch);
        let near_name = &model.devices[device.0].name;
        let neighbour = batch(near_name).and_then(|batch| batch.neighbours.get(port));
        let mac = batch(&model.devices[other.0].name).and_then(|batch| batch.macs.get(other_port));
        if let (Some(neighbour), Some(mac)) = (neighbour, mac) {
            let line =
                format!("neighbour replace {} lladdr {mac} dev {port} nud permanent\n", neighbour.address);
            namespaces[device.0].run(|| ip_batch(&line, near_name))?;
        }
    }
    Ok(())
}
