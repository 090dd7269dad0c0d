//! Faults made on purpose: swapped and cut cables, and putting them right again.
//!
//! In: names of cables. Out: what that did to packets, and what it looks like from the data plane. Always: those
//! who look for the cause are not told what was done.

use std::collections::BTreeSet;

use serde::Serialize;

use super::state::Change;
use super::{Lab, LinkLayer};
use crate::LabError;
use crate::backend::linux::{self, Files, Namespace, Plug};
use crate::model::{CableId, PortId};
use crate::probe::ProbeReport;
use crate::progress::Watch;
use crate::test::TestReport;
use crate::trace::{self, Finding};

/// What swapping two cables did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MiswireReport {
    /// The cables that changed places.
    pub swapped: (String, String),
    /// What the test found.
    pub test: TestReport,
    /// What the data plane says about the cause.
    pub findings: Vec<Finding>,
}

/// What cutting a cable did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CutReport {
    /// The cable.
    pub cut: String,
    /// What self-probes found.
    pub probes: ProbeReport,
}

impl Lab {
    /// Swaps two cables at their upper ends, tests, and finds out from the data plane which they are. The cables
    /// stay swapped until [`Lab::restore`].
    pub fn miswire(
        &mut self,
        first: &str,
        second: &str,
        link_layer: LinkLayer,
        watch: &Watch<'_>,
    ) -> Result<MiswireReport, LabError> {
        let (a, b) = (self.untouched(first)?, self.untouched(second)?);
        let name = |cable: CableId| self.model.cable_name(cable).to_owned();
        let swapped = (name(a), name(b));
        if a == b {
            return Err(LabError::CableInUse { name: swapped.0, why: "is named twice" });
        }
        watch.check()?;
        self.remember(Change::Swapped(swapped.0.clone(), swapped.1.clone()))?;
        let pairs = [(a.lower(), b.upper()), (b.lower(), a.upper())];
        let ends = [a, b].map(|cable| [cable.lower(), cable.upper()]).concat();
        self.rewire(&ends, &pairs.map(|(x, y)| (self.plug_of(x), self.plug_of(y))), watch)?;
        if link_layer == LinkLayer::Open {
            let both: Vec<_> = pairs.iter().flat_map(|(x, y)| [(*x, *y), (*y, *x)]).collect();
            linux::open_link_layer(&self.tree, &self.model, &self.namespaces, &both)?;
        }
        let (test, findings) = self.diagnose(watch)?;
        Ok(MiswireReport { swapped, test, findings })
    }

    /// Sends packets over every path and looks for the cause of what is lost.
    pub fn diagnose(&mut self, watch: &Watch<'_>) -> Result<(TestReport, Vec<Finding>), LabError> {
        trace::run(&self.tree, &self.model, &mut self.backend, watch)
    }

    /// Cuts a cable so that both ports stay up and nothing arrives, and lets self-probes find it. The cable
    /// stays cut until [`Lab::restore`].
    pub fn cut(&mut self, cable: &str, watch: &Watch<'_>) -> Result<CutReport, LabError> {
        let cable = self.untouched(cable)?;
        let cut = self.model.cable_name(cable).to_owned();
        watch.check()?;
        let nowhere = self.state.nowhere();
        if !self.state.has_nowhere() {
            self.state.with_nowhere();
            self.state.save(&self.options.runtime)?;
            linux::create(std::slice::from_ref(&nowhere))?;
        }
        self.remember(Change::Cut(cut.clone()))?;
        let loose =
            |side: char| Plug { namespace: nowhere.clone(), interface: format!("cut{}{side}", cable.0) };
        let pairs = [(self.plug_of(cable.lower()), loose('a')), (self.plug_of(cable.upper()), loose('b'))];
        self.rewire(&[cable.lower(), cable.upper()], &pairs, watch)?;
        Ok(CutReport { cut, probes: self.probe(watch)? })
    }

    /// Puts every cable back where it belongs.
    pub fn restore(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        let names = self.state.changes.iter().flat_map(|change| match change {
            Change::Swapped(a, b) => vec![a.clone(), b.clone()],
            Change::Cut(cable) => vec![cable.clone()],
        });
        let cables: Vec<CableId> = names.map(|name| self.model.cable(&name)).collect::<Result<_, _>>()?;
        if cables.is_empty() {
            return Ok(());
        }
        let ends: Vec<PortId> = cables.iter().flat_map(|cable| [cable.lower(), cable.upper()]).collect();
        let pairs: Vec<(Plug, Plug)> =
            cables.iter().map(|c| (self.plug_of(c.lower()), self.plug_of(c.upper()))).collect();
        self.rewire(&ends, &pairs, watch)?;
        self.state.changes.clear();
        self.state.save(&self.options.runtime)
    }

    /// Finds a cable that is where it belongs.
    fn untouched(&self, name: &str) -> Result<CableId, LabError> {
        let cable = self.model.cable(name)?;
        let name = self.model.cable_name(cable);
        let touched = self.state.changes.iter().any(|change| match change {
            Change::Swapped(a, b) => a == name || b == name,
            Change::Cut(cable) => cable == name,
        });
        if touched {
            let why = "was moved or cut before: put it back first";
            return Err(LabError::CableInUse { name: name.to_owned(), why });
        }
        Ok(cable)
    }

    /// Writes a change down before it is made.
    fn remember(&mut self, change: Change) -> Result<(), LabError> {
        self.state.changes.push(change);
        self.state.save(&self.options.runtime)
    }

    /// Unplugs ports, plugs pairs, and configures the devices again that this concerns.
    fn rewire(&mut self, ends: &[PortId], pairs: &[(Plug, Plug)], watch: &Watch<'_>) -> Result<(), LabError> {
        self.backend.rewired();
        for port in ends {
            let (device, name) = self.model.end(*port);
            self.namespaces[device.0].run(|| linux::unplug(name, &self.namespaces[device.0].device))?;
        }
        linux::plug(pairs)?;
        self.raise_loose(pairs)?;
        let devices: BTreeSet<usize> = ends.iter().map(|port| self.model.end(*port).0.0).collect();
        let namespaces: Vec<Namespace> = devices.iter().map(|at| self.namespaces[*at].clone()).collect();
        let files: Vec<Files> = devices.iter().map(|at| self.files[*at].clone()).collect();
        linux::configure(&namespaces, &files, self.options.jobs, watch)?;
        linux::spread_routes(&namespaces, &files, self.options.jobs)?;
        self.settle(watch)
    }

    /// Gives the loose ends of cut cables a carrier, so that the ports at the other ends notice nothing.
    fn raise_loose(&self, pairs: &[(Plug, Plug)]) -> Result<(), LabError> {
        let nowhere = self.state.nowhere();
        for (_, plug) in pairs.iter().filter(|(_, plug)| plug.namespace == nowhere) {
            let namespace = Namespace { name: nowhere.clone(), device: nowhere.clone() };
            namespace.run(|| linux::raise(&plug.interface))?;
        }
        Ok(())
    }
}
