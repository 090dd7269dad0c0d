//! Breaking and repairing a lab while packets flow.
//!
//! In: faults. Out: ports and cables with these faults. Invariants: a fault is recorded before it is injected, so
//! `restore`, or the next `up`, finds it after a crash. Injecting or repairing a fault does not test the lab.

use camino::Utf8PathBuf;

use super::Lab;
use super::fault::{Fault, Harm};
use super::state::Change;
use crate::LabError;
use crate::backend::{FaultInjector, Flow, FlowObservations, Routes};
use crate::model::{CableId, DeviceId, PortId};
use crate::progress::Watch;
use crate::tree::Tree;

impl Lab {
    /// Injects a fault.
    pub fn inject(&mut self, fault: &Fault, watch: &Watch<'_>) -> Result<(), LabError> {
        let harm = fault.harm(&self.model)?;
        self.free_for(fault, &harm)?;
        self.remember(Change::Struck(fault.clone()))?;
        let breakable = self.breakable()?;
        match &harm {
            Harm::Down(ports) => breakable.set_ports(ports, false),
            Harm::Lossy(cable, ppm) => breakable.set_loss(&[cable.lower(), cable.upper()], *ppm),
            Harm::Narrow(cable, bytes) => breakable.set_mtu(&[cable.lower(), cable.upper()], Some(*bytes)),
            Harm::Swapped(a, b) => {
                breakable.replug(&[*a, *b], &[(a.lower(), b.upper()), (b.lower(), a.upper())], watch)
            }
        }
    }

    /// Repairs the faults with a name, or all faults. Returns whether there were any.
    pub fn repair(&mut self, name: Option<&str>, watch: &Watch<'_>) -> Result<bool, LabError> {
        let meant = |fault: &Fault| name.is_none_or(|name| fault.names().iter().any(|own| own == name));
        let (repaired, left): (Vec<Fault>, Vec<Fault>) = self.injected_faults().cloned().partition(meant);
        if repaired.is_empty() {
            return Ok(false);
        }
        let harms: Vec<Harm> =
            repaired.iter().map(|fault| fault.harm(&self.model)).collect::<Result<_, _>>()?;
        // An element that is also down for another reason stays down.
        let down = self.ports_down(&left)?;
        let up: Vec<PortId> =
            harms.iter().flat_map(Harm::down).copied().filter(|port| !down.contains(port)).collect();
        let devices: Vec<DeviceId> = harms.iter().flat_map(|harm| self.affected_devices(harm)).collect();
        let breakable = self.breakable()?;
        breakable.set_ports(&up, true)?;
        for harm in &harms {
            match harm {
                Harm::Down(_) => {}
                Harm::Lossy(cable, _) => breakable.set_loss(&[cable.lower(), cable.upper()], 0)?,
                Harm::Narrow(cable, _) => breakable.set_mtu(&[cable.lower(), cable.upper()], None)?,
                Harm::Swapped(a, b) => {
                    let home = |cable: &CableId| (cable.lower(), cable.upper());
                    breakable.replug(&[*a, *b], &[home(a), home(b)], watch)?;
                }
            }
        }
        breakable.configure_again(&devices, watch)?;
        // Configuring a device sets its ports up.
        breakable.set_ports(&down, false)?;
        if left.is_empty() {
            breakable.reapply_node_routes()?;
        }
        let is_repaired =
            |change: &Change| matches!(change, Change::Struck(fault) if repaired.contains(fault));
        self.state.changes.retain(|change| !is_repaired(change));
        self.state.save(&self.options.runtime)?;
        Ok(true)
    }

    /// Sends flows and observes them; `None` if routes changed in the meantime. Sockets of the lab are closed
    /// afterwards, so that nodes can use their ports.
    pub(crate) fn flows(
        &mut self,
        flows: &[Flow],
        watch: &Watch<'_>,
    ) -> Result<(Vec<Routes>, Option<Vec<FlowObservations>>), LabError> {
        let target = self.state.target;
        let routed = self.site.routed_backend().ok_or(LabError::NoJob { target })?;
        let before = routed.routes()?;
        let seen = routed.flows(flows, watch)?;
        let after = routed.routes()?;
        let same = before == after;
        self.site.leave();
        Ok((after, same.then_some(seen)))
    }

    /// Returns the compiled tree.
    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns the folder of the lab's sockets and logs.
    pub(crate) fn folder(&self) -> Utf8PathBuf {
        self.options.folder(&self.tree.fabric)
    }

    /// Returns the interface for injecting faults.
    pub(crate) fn breakable(&mut self) -> Result<&mut dyn FaultInjector, LabError> {
        let target = self.state.target;
        self.site.breakable().ok_or(LabError::NoJob { target })
    }

    fn injected_faults(&self) -> impl Iterator<Item = &Fault> {
        self.state.changes.iter().filter_map(|change| match change {
            Change::Struck(fault) => Some(fault),
            Change::Swapped(..) | Change::Cut(_) => None,
        })
    }

    /// Rejects a fault that excludes an existing one.
    fn free_for(&self, fault: &Fault, harm: &Harm) -> Result<(), LabError> {
        let overlap =
            |standing: String| LabError::Overlap { fault: fault.to_string(), active_faults: standing };
        for other in self.injected_faults() {
            let same = other.names().iter().any(|name| fault.names().contains(name));
            if same || other.harm(&self.model)?.excludes(harm) {
                return Err(overlap(other.to_string()));
            }
        }
        for change in &self.state.changes {
            let names = match change {
                Change::Swapped(a, b) => vec![a, b],
                Change::Cut(cable) => vec![cable],
                Change::Struck(_) => Vec::new(),
            };
            for name in names {
                if harm.cables().contains(&self.model.cable(name)?) {
                    return Err(overlap(format!("{name} was moved")));
                }
            }
        }
        Ok(())
    }

    fn ports_down(&self, faults: &[Fault]) -> Result<Vec<PortId>, LabError> {
        let mut down = Vec::new();
        for fault in faults {
            down.extend_from_slice(fault.harm(&self.model)?.down());
        }
        Ok(down)
    }

    /// Returns the devices at both ends of every affected cable. Their routes were removed with their ports.
    fn affected_devices(&self, harm: &Harm) -> Vec<DeviceId> {
        let ends = harm.cables().into_iter().flat_map(|cable| [cable.lower(), cable.upper()]);
        ends.map(|port| self.model.end(port).0).collect()
    }
}
