//! Applies the files of devices, in the order that the files themselves ask for.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::command::{ip_batch, ip_batch_make};
use super::namespace::{Namespace, each};
use crate::LabError;
use crate::model::{Model, PortId};
use crate::progress::Watch;
use crate::tree::Tree;

/// The files of a device.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) folder: Utf8PathBuf,
}

impl Files {
    fn read(&self, name: &str) -> Result<String, LabError> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(LabError::tree(&path))
    }

    fn read_if_there(&self, name: &str) -> Result<Option<String>, LabError> {
        let path = self.folder.join(name);
        if path.is_file() { self.read(name).map(Some) } else { Ok(None) }
    }
}

/// Applies sysctls, devices and batch of every device given.
pub(crate) fn configure(
    namespaces: &[Namespace],
    files: &[Files],
    jobs: usize,
    watch: &Watch<'_>,
) -> Result<(), LabError> {
    let done = std::sync::atomic::AtomicU64::new(0);
    each(namespaces, jobs, |at| {
        watch.check()?;
        let device = &namespaces[at].device;
        sysctls(&files[at].read("sysctl.conf")?, &files[at].folder)?;
        ip_batch_make(&files[at].read("devices.batch")?, device)?;
        ip_batch(&files[at].read("ip.batch")?, device)?;
        let number = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        watch.step("configure devices", number, namespaces.len() as u64);
        Ok(())
    })?;
    Ok(())
}

/// Applies the routes to other nodes, where a node has such a file. Every port must have its carrier by now.
pub(crate) fn spread_routes(namespaces: &[Namespace], files: &[Files], jobs: usize) -> Result<(), LabError> {
    each(namespaces, jobs, |at| match files[at].read_if_there("routes.batch")? {
        Some(text) => ip_batch(&text, &namespaces[at].device),
        None => Ok(()),
    })?;
    Ok(())
}

/// Writes the lines of a `sysctl.conf` below `/proc/sys`, which shows the namespace of the calling thread.
fn sysctls(text: &str, folder: &Utf8Path) -> Result<(), LabError> {
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let Some((key, value)) = line.split_once('=') else { continue };
        let path = Utf8Path::new("/proc/sys").join(key.trim().replace('.', "/"));
        fs::write(&path, value.trim())
            .map_err(LabError::io(format!("set `{}` of `{folder}/sysctl.conf`", key.trim())))?;
    }
    Ok(())
}

/// Lets every frame through at the ends of moved cables: the static neighbours there get the MAC address of
/// whoever is plugged in, as if they had been learned. Loss is then the work of segments alone.
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
