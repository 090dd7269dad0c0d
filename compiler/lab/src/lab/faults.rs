//! Deliberate faults: swapping, cutting and restoring cables.
//!
//! In: names of cables. Out: the effect on packets, and the findings from the data plane. Invariants: detection has no
//! knowledge of the changes.

use schemars::JsonSchema;
use serde::Serialize;

use super::Lab;
use super::fault::Fault;
use super::state::Change;
use crate::LabError;
use crate::backend::Routes;
use crate::backend::site::{LinkLayer, Moves};
use crate::model::{CableId, PortId};
use crate::probe::ProbeReport;
use crate::progress::Watch;
use crate::routed_test;
use crate::test::TestReport;
use crate::trace::{self, Finding};

/// Effect of swapping two cables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MiswireReport {
    /// Whether the lab was repaired afterwards.
    pub restored: bool,
    /// The swapped cables.
    pub swapped: (String, String),
    /// Result of the test.
    pub test: TestReport,
    /// Findings from the data plane.
    pub findings: Vec<Finding>,
}

impl MiswireReport {
    /// Returns whether the findings name exactly the two swapped cables, and packets were never misdelivered.
    pub fn is_found(&self) -> bool {
        let mut named: Vec<&str> = self.findings.iter().flat_map(Finding::cables).collect();
        named.sort_unstable();
        let mut swapped = [self.swapped.0.as_str(), self.swapped.1.as_str()];
        swapped.sort_unstable();
        named == swapped && self.test.misdelivered == 0
    }
}

/// Effect of cutting a cable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CutReport {
    /// Whether the lab was repaired afterwards.
    pub restored: bool,
    /// The cable.
    pub cut: String,
    /// Whether both ends lost their carrier.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub down: bool,
    /// Results of self-probes, if hosts choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probes: Option<ProbeReport>,
    /// Results of flows, if switches choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<TestReport>,
    /// Findings from flows and routes, if switches choose the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

impl CutReport {
    /// Returns whether self-probes, or flows and routes, point at exactly this cable.
    pub fn is_found(&self) -> bool {
        if let Some(probes) = &self.probes {
            return probes.accuses(&self.cut);
        }
        let named: Vec<&str> = self.findings.iter().flat_map(Finding::cables).collect();
        named == [self.cut.as_str()] && self.test.as_ref().is_some_and(TestReport::keeps_weights)
    }
}

/// Visibility of a cut at the ends of the cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Not visible: both ports stay up, but packets do not arrive.
    Up,
    /// Both ports go down.
    Down,
}

impl Lab {
    /// Swaps two cables at their upper ends, runs the test, and locates the swapped cables from the data plane. The
    /// cables stay swapped until [`Lab::restore`]. After an error or interruption, every cable is put back.
    pub fn miswire(
        &mut self,
        first: &str,
        second: &str,
        link_layer: LinkLayer,
        watch: &Watch<'_>,
    ) -> Result<MiswireReport, LabError> {
        let outcome = self.swap(first, second, link_layer, watch);
        self.or_undo(outcome, watch)
    }

    fn swap(
        &mut self,
        first: &str,
        second: &str,
        link_layer: LinkLayer,
        watch: &Watch<'_>,
    ) -> Result<MiswireReport, LabError> {
        let (a, b) = (self.unchanged_cable(first)?, self.unchanged_cable(second)?);
        let name = |cable: CableId| self.model.cable_name(cable).to_owned();
        let swapped = (name(a), name(b));
        if a == b {
            return Err(LabError::CableInUse { name: swapped.0, reason: "is named twice" });
        }
        watch.check()?;
        let before = self.routes()?;
        self.remember(Change::Swapped(swapped.0.clone(), swapped.1.clone()))?;
        let ends = [a, b].map(|cable| [cable.lower(), cable.upper()]).concat();
        let pairs = vec![(a.lower(), Some(b.upper())), (b.lower(), Some(a.upper()))];
        self.site.rewire(&Moves { ends, pairs, link_layer }, watch)?;
        self.reroute(&[a, b], watch)?;
        let (test, findings) = self.look(before.as_deref(), watch)?;
        Ok(MiswireReport { restored: false, swapped, test, findings })
    }

    /// Returns the routes of all devices, if switches choose the path.
    fn routes(&mut self) -> Result<Option<Vec<Routes>>, LabError> {
        let routed = if self.tree.is_source_routed() { None } else { self.site.routed_backend() };
        routed.map(crate::backend::RoutedBackend::routes).transpose()
    }

    /// Waits until routers avoid dead cables, if there are routers.
    fn reroute(&mut self, dead: &[CableId], watch: &Watch<'_>) -> Result<(), LabError> {
        let routed = if self.tree.is_source_routed() { None } else { self.site.routed_backend() };
        routed.map_or(Ok(()), |routed| routed.reroute(&dead.iter().copied().collect(), watch))
    }

    /// Puts cables back after an error or interruption.
    fn or_undo<T>(&mut self, outcome: Result<T, LabError>, watch: &Watch<'_>) -> Result<T, LabError> {
        let error = match outcome {
            Ok(done) => return Ok(done),
            Err(error) => watch.reason(error),
        };
        let changes = self.state.changes_in_words();
        if changes.is_empty() || matches!(error, LabError::CableInUse { .. } | LabError::NoCable { .. }) {
            return Err(error);
        }
        match self.restore(watch) {
            Ok(()) => Err(LabError::Undone { error: Box::new(error) }),
            Err(cause) => Err(LabError::NotUndone {
                error: Box::new(error),
                changes: changes.join(", "),
                cause: Box::new(cause),
            }),
        }
    }

    /// Sends packets over every path, or flows between all NICs, and locates the cause of losses.
    pub fn diagnose(&mut self, watch: &Watch<'_>) -> Result<(TestReport, Vec<Finding>), LabError> {
        self.look(None, watch)
    }

    fn look(
        &mut self,
        before: Option<&[Routes]>,
        watch: &Watch<'_>,
    ) -> Result<(TestReport, Vec<Finding>), LabError> {
        if !self.tree.is_source_routed()
            && let Some(routed) = self.site.routed_backend()
        {
            return routed_test::search(&self.tree, &self.model, routed, before, watch);
        }
        trace::run(&self.tree, &self.model, &mut *self.site, watch)
    }

    /// Cuts a cable, with or without loss of carrier at both ends. Locates it with self-probes, or with flows and
    /// routes if switches choose the path. The cable stays cut until [`Lab::restore`]. After an error or
    /// interruption, every cable is put back.
    pub fn cut(&mut self, cable: &str, ends: Ends, watch: &Watch<'_>) -> Result<CutReport, LabError> {
        let outcome = self.sever(cable, ends, watch);
        self.or_undo(outcome, watch)
    }

    fn sever(&mut self, cable: &str, ends: Ends, watch: &Watch<'_>) -> Result<CutReport, LabError> {
        let cable = self.unchanged_cable(cable)?;
        let cut = self.model.cable_name(cable).to_owned();
        watch.check()?;
        let before = self.routes()?;
        match ends {
            Ends::Up => {
                self.remember(Change::Cut(cut.clone()))?;
                let ends = vec![cable.lower(), cable.upper()];
                let pairs = ends.iter().map(|end| (*end, None)).collect();
                self.site.rewire(&Moves { ends, pairs, link_layer: LinkLayer::Open }, watch)?;
            }
            Ends::Down => {
                let target = self.state.target;
                if self.site.breakable().is_none() {
                    return Err(LabError::NoCarrier { target });
                }
                self.inject(&Fault::Cut(cut.clone()), watch)?;
            }
        }
        let down = ends == Ends::Down;
        if before.is_none() {
            let probes = Some(self.probe(watch)?);
            return Ok(CutReport { restored: false, cut, down, probes, test: None, findings: Vec::new() });
        }
        self.reroute(&[cable], watch)?;
        let (test, findings) = self.look(before.as_deref(), watch)?;
        Ok(CutReport { restored: false, cut, down, probes: None, test: Some(test), findings })
    }

    /// Repairs every fault and puts every cable back. It cannot be interrupted, so that cables are never half restored.
    pub fn restore(&mut self, watch: &Watch<'_>) -> Result<(), LabError> {
        let watch = &watch.to_the_end();
        if self.repair(None, watch)? {
            self.reroute(&[], watch)?;
        }
        let names = self.state.changes.iter().flat_map(|change| match change {
            Change::Swapped(a, b) => vec![a.clone(), b.clone()],
            Change::Cut(cable) => vec![cable.clone()],
            Change::Struck(_) => Vec::new(),
        });
        let cables: Vec<CableId> = names.map(|name| self.model.cable(&name)).collect::<Result<_, _>>()?;
        if cables.is_empty() {
            return Ok(());
        }
        let ends: Vec<PortId> = cables.iter().flat_map(|cable| [cable.lower(), cable.upper()]).collect();
        let pairs = cables.iter().map(|cable| (cable.lower(), Some(cable.upper()))).collect();
        self.site.rewire(&Moves { ends, pairs, link_layer: LinkLayer::AsConfigured }, watch)?;
        self.state.changes.clear();
        self.state.save(&self.options.runtime)?;
        self.reroute(&[], watch)
    }

    /// Returns a cable by name, or an error if it was already moved or cut.
    fn unchanged_cable(&self, name: &str) -> Result<CableId, LabError> {
        let cable = self.model.cable(name)?;
        let name = self.model.cable_name(cable);
        let touched = self.state.changes.iter().any(|change| match change {
            Change::Swapped(a, b) => a == name || b == name,
            Change::Cut(cable) => cable == name,
            Change::Struck(fault) => fault.harm(&self.model).is_ok_and(|harm| harm.cables().contains(&cable)),
        });
        if touched {
            let why = "is already moved or cut: restore it first";
            return Err(LabError::CableInUse { name: name.to_owned(), reason: why });
        }
        Ok(cable)
    }

    /// Records a change before it is made.
    pub(super) fn remember(&mut self, change: Change) -> Result<(), LabError> {
        self.state.changes.push(change);
        self.state.save(&self.options.runtime)
    }
}
