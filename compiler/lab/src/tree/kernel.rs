//! The files of a device that configure the kernel.
//!
//! In: a device of a tree. Out: settings and commands. They are read again each time, because keeping them for all
//! devices would need a lot of memory. Invariants: only settings and commands that a lab allows are returned.

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::paths;

use super::contents::Contents;
use super::frr::Router;
use super::ip::Command;
use super::sysctl::Sysctl;
use super::tc::Queueing;
use super::{Device, Tree};
use crate::error::{LabError, TreeFault};

/// The files of a device that configure the kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KernelFiles<'a> {
    contents: &'a Contents,
    folder: &'a Utf8Path,
}

impl<'a> KernelFiles<'a> {
    /// Returns the files in a folder.
    pub(super) fn new(contents: &'a Contents, folder: &'a Utf8Path) -> Self {
        KernelFiles { contents, folder }
    }

    /// Returns the files of a device.
    pub(crate) fn of(tree: &'a Tree, device: &'a Device) -> Self {
        KernelFiles { contents: &tree.contents, folder: &device.folder }
    }

    /// Reads the kernel settings, which are applied first.
    pub(crate) fn sysctls(&self) -> Result<Vec<Sysctl>, LabError> {
        self.read(paths::SYSCTL_CONF, Sysctl::read_all)
    }

    /// Reads the commands that create bridges and rules.
    pub(crate) fn devices(&self) -> Result<Vec<Command>, LabError> {
        let commands = self.read(paths::DEVICES_BATCH, Command::read_all)?;
        let makes = |command: &Command| matches!(command, Command::AddBridge(_) | Command::Rule { .. });
        match commands.iter().find(|command| !makes(command)) {
            None => Ok(commands),
            Some(other) => {
                let what = format!("`{other}` does not create a device or rule");
                Err(LabError::tree(self.path(paths::DEVICES_BATCH))(TreeFault::Misplaced(what)))
            }
        }
    }

    /// Reads the commands that configure ports, neighbours, segments and routes.
    pub(crate) fn batch(&self) -> Result<Vec<Command>, LabError> {
        self.read(paths::IP_BATCH, Command::read_all)
    }

    /// Reads the routes of a node to other nodes; empty if the node has no such file.
    pub(crate) fn routes(&self) -> Result<Vec<Command>, LabError> {
        if !self.contents.has(self.folder.join(paths::ROUTES_BATCH)) {
            return Ok(Vec::new());
        }
        self.read(paths::ROUTES_BATCH, Command::read_all)
    }

    /// Reads the queues of a switch; empty if the switch has no such file.
    pub(crate) fn queues(&self) -> Result<Vec<Queueing>, LabError> {
        if !self.contents.has(self.folder.join(paths::TC_BATCH)) {
            return Ok(Vec::new());
        }
        self.read(paths::TC_BATCH, Queueing::read_all)
    }

    /// Reads all files except `ip.batch`, which the caller has read, to check that they are valid.
    pub(super) fn check(&self) -> Result<(), LabError> {
        self.sysctls()?;
        self.devices()?;
        self.router()?;
        self.queues()?;
        self.routes().map(drop)
    }

    /// Reads the FRR configuration of a switch; `None` without an `frr.conf`.
    pub(crate) fn router(&self) -> Result<Option<Router>, LabError> {
        let name = "frr.conf";
        if !self.contents.has(self.folder.join(name)) {
            return Ok(None);
        }
        let daemons = self.contents.text(self.folder.join("daemons"))?;
        self.read(name, |text| Router::read(text, &daemons)).map(Some)
    }

    fn read<T>(&self, name: &str, parse: impl Fn(&str) -> Result<T, TreeFault>) -> Result<T, LabError> {
        let text = self.contents.text(self.folder.join(name))?;
        parse(&text).map_err(LabError::tree(self.path(name)))
    }

    fn path(&self, name: &str) -> Utf8PathBuf {
        self.contents.folder().join(self.folder).join(name)
    }
}
