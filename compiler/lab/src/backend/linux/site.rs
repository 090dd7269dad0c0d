//! A lab of namespaces: creation, configuration, moving cables.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Duration;

use super::Linux;
use super::apply::{Place, apply_node_routes, configure, open_link_layer};
use super::connectivity;
use super::namespace::{Namespace, create, exists};
use super::routers::{self, Frr};
use super::wire::{Plug, plug, raise, unplug};
use crate::LabError;
use crate::backend::site::{LinkLayer, Moves, Site};
use crate::backend::{Backend, FaultInjector, RoutedBackend};
use crate::model::{CableId, PortId};
use crate::progress::Watch;
use crate::tree::KernelFiles;

/// A port counts as silent if its counters are unchanged for this number of readings, at this interval.
const SETTLE: Duration = Duration::from_millis(15);
const SETTLE_SILENT: u32 = 3;
/// Maximum number of readings while waiting for silence.
const SETTLE_TRIES: u32 = 200;

/// Interval and maximum number of checks that routes connect everything. BGP takes seconds on an idle machine.
const CONVERGE: Duration = Duration::from_millis(500);
const CONVERGE_TRIES: u32 = 360;
/// After this number of equal readings, routers are assumed to have converged. 12 s is longer than BGP's hold time of
/// 9 s.
const STILL: u32 = 24;

impl Site for Linux {
    fn foreign(&self) -> Vec<String> {
        self.namespaces.iter().map(|n| n.name.clone()).filter(|name| exists(name)).collect()
    }

    fn make(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.make_namespaces(watch)?;
        self.plug_all(watch)?;
        self.configure(watch)
    }

    fn configure(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        self.configure_some(&(0..self.namespaces.len()).collect::<Vec<_>>(), watch)?;
        if self.tree.is_source_routed() {
            return settle(self, watch);
        }
        self.start_routers(watch)?;
        self.converge(watch)
    }

    fn leave(&mut self) {
        (self.stations, self.watchers, self.sightings) = (None, None, None);
    }

    fn routed_backend(&mut self) -> Option<&mut dyn RoutedBackend> {
        Some(self)
    }

    fn breakable(&mut self) -> Option<&mut dyn FaultInjector> {
        Some(self)
    }

    /// Moves cables, and configures affected devices again.
    fn rewire(&mut self, moves: &Moves, watch: &Watch<'_>) -> Result<(), LabError> {
        // Close sockets, because their interfaces are removed.
        self.leave();
        for port in &moves.ends {
            let (device, name) = self.model.end(*port);
            self.namespaces[device.0].run(|| unplug(name, &self.namespaces[device.0].device))?;
        }
        if moves.pairs.iter().any(|(_, to)| to.is_none()) && !exists(&self.nowhere) {
            create(std::slice::from_ref(&self.nowhere))?;
        }
        let plugs: Vec<(Plug, Plug)> =
            moves.pairs.iter().map(|(from, to)| (self.plug_of(*from), self.peer_plug(*from, *to))).collect();
        plug(&plugs)?;
        self.raise_loose(&plugs)?;
        let devices: BTreeSet<usize> = moves.ends.iter().map(|port| self.model.end(*port).0.0).collect();
        self.configure_some(&devices.into_iter().collect::<Vec<_>>(), watch)?;
        // Routers keep sending, so their ports never settle.
        if self.tree.is_source_routed() {
            settle(self, watch)?;
        }
        if moves.link_layer == LinkLayer::Open {
            let met = moves.pairs.iter().filter_map(|(from, to)| Some((*from, (*to)?)));
            let both: Vec<_> = met.flat_map(|(from, to)| [(from, to), (to, from)]).collect();
            open_link_layer(&self.tree, &self.model, &self.namespaces, &both)?;
        }
        Ok(())
    }
}

impl Linux {
    /// Starts the routers that are not running.
    fn start_routers(&self, watch: &Watch<'_>) -> Result<(), LabError> {
        let mut routers = Vec::new();
        for namespace in &self.namespaces {
            let files = KernelFiles::of(&self.tree, &self.tree.devices[&namespace.device]);
            if let Some(router) = files.router()?
                && !routers::place(&self.folder, &namespace.device).exists()
            {
                routers.push((namespace, router));
            }
        }
        if routers.is_empty() {
            return Ok(());
        }
        Frr::find()?.start(&routers, &self.folder, self.jobs, watch)
    }

    /// Waits until every choice of next hops connects all NICs, and routes are stable.
    fn converge(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        let seats = connectivity::seats(&self.tree, &self.model);
        let mut last = Vec::new();
        for _ in 0..CONVERGE_TRIES {
            watch.check()?;
            let now = self.routes()?;
            let open = connectivity::disconnected_pair(&seats, &self.model, &now, &BTreeSet::new());
            if open.is_none() && now == last {
                return Ok(());
            }
            last = now;
            sleep(CONVERGE);
        }
        let pair = connectivity::disconnected_pair(&seats, &self.model, &last, &BTreeSet::new());
        Err(LabError::Unjoined {
            pair: pair.map(|(from, to)| format!("{from} and {to}")).unwrap_or_default(),
        })
    }

    /// Waits until routers avoid the dead cables, or use every cable if none is dead. Also returns if routes have
    /// been stable for long enough.
    pub(super) fn find_ways(&mut self, dead: &BTreeSet<CableId>, watch: &Watch<'_>) -> Result<(), LabError> {
        if !self.tree.speaks_bgp() {
            return watch.check();
        }
        let seats = connectivity::seats(&self.tree, &self.model);
        let (mut last, mut same) = (Vec::new(), 0);
        for _ in 0..CONVERGE_TRIES {
            watch.check()?;
            let now = self.routes()?;
            same = if now == last { same + 1 } else { 0 };
            let led = || {
                connectivity::disconnected_pair(&seats, &self.model, &now, dead).is_none()
                    && (!dead.is_empty()
                        || self.takes_every_cable(&connectivity::used_ports(&self.model, &seats, &now)))
            };
            if same > 0 && led() || same == STILL {
                return Ok(());
            }
            last = now;
            sleep(CONVERGE);
        }
        Err(LabError::Changing { tries: CONVERGE_TRIES })
    }

    /// Returns whether routes use a port of every cable.
    fn takes_every_cable(&self, used: &BTreeSet<PortId>) -> bool {
        let mut cables = (0..self.model.cables.len()).map(CableId);
        cables.all(|cable| used.contains(&cable.lower()) || used.contains(&cable.upper()))
    }

    /// Creates the namespaces of all devices.
    pub(crate) fn make_namespaces(&self, watch: &Watch<'_>) -> Result<(), LabError> {
        let names: Vec<String> = self.namespaces.iter().map(|n| n.name.clone()).collect();
        watch.step("make namespaces", 0, names.len() as u64);
        for some in names.chunks(256) {
            watch.check()?;
            create(some)?;
        }
        Ok(())
    }

    /// Applies the files of some devices, by their indices in the model.
    pub(crate) fn configure_some(&self, devices: &[usize], watch: &Watch<'_>) -> Result<(), LabError> {
        let place = |at: &usize| Place { tree: &self.tree, namespace: &self.namespaces[*at] };
        let places: Vec<Place<'_>> = devices.iter().map(place).collect();
        configure(&places, self.jobs, watch)?;
        watch.check()?;
        apply_node_routes(&places, self.jobs)
    }

    fn plug_all(&self, watch: &Watch<'_>) -> Result<(), LabError> {
        let cables: Vec<(Plug, Plug)> = (0..self.model.cables.len())
            .map(|at| (self.plug_of(CableId(at).lower()), self.plug_of(CableId(at).upper())))
            .collect();
        let mut done = 0;
        for some in cables.chunks(512) {
            watch.check()?;
            watch.step("plug cables", done, cables.len() as u64);
            plug(some)?;
            done += some.len() as u64;
        }
        Ok(())
    }

    pub(super) fn plug_of(&self, port: PortId) -> Plug {
        let (device, name) = self.model.end(port);
        Plug { namespace: self.namespaces[device.0].name.clone(), interface: name.to_owned() }
    }

    /// Returns the other end of a cable, or an end in the spare namespace if the cable is cut.
    fn peer_plug(&self, from: PortId, to: Option<PortId>) -> Plug {
        to.map_or_else(
            || {
                let side = if from.is_lower() { 'a' } else { 'b' };
                let interface = format!("cut{}{side}", from.cable().0);
                Plug { namespace: self.nowhere.clone(), interface }
            },
            |port| self.plug_of(port),
        )
    }

    /// Sets the spare ends of cut cables up, so the ports at the other ends keep their carrier.
    fn raise_loose(&self, pairs: &[(Plug, Plug)]) -> Result<(), LabError> {
        let nowhere = &self.nowhere;
        for (_, plug) in pairs.iter().filter(|(_, plug)| plug.namespace == *nowhere) {
            let namespace = Namespace { name: nowhere.clone(), device: nowhere.clone() };
            namespace.run(|| raise(&plug.interface))?;
        }
        Ok(())
    }
}

/// Waits until ports stop sending packets of their own. A new address is announced to multicast groups, and these
/// packets must not be counted.
pub(crate) fn settle(backend: &mut dyn Backend, watch: &Watch<'_>) -> Result<(), LabError> {
    let mut silent = 0;
    let mut last = backend.port_counters()?;
    for _ in 0..SETTLE_TRIES {
        watch.check()?;
        sleep(SETTLE);
        let now = backend.port_counters()?;
        silent = if now == last { silent + 1 } else { 0 };
        if silent == SETTLE_SILENT {
            return Ok(());
        }
        last = now;
    }
    tracing::warn!("other programs send packets in this lab: port counters include them");
    Ok(())
}
