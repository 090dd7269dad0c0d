//! Reports as text, from the same data as the JSON.

use std::fmt;

use crate::error::count;
use crate::lab::{CutReport, DownReport, MiswireReport, Status, UpReport};
use crate::probe::{ProbeReport, SuspectElement};
use crate::target::Target;
use crate::test::{ShareMismatch, Spread, TestReport};
use crate::trace::Finding;

/// Maximum number of listed faults per kind. The JSON contains more of them.
const SHOWN: usize = 10;

impl fmt::Display for UpReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UpReport { fabric, target, switches, nodes, cables, seconds, again, repaired, inventory } = self;
        let word = if *again { "configured again" } else { "up" };
        let on = if *target == Target::Linux { String::new() } else { format!(" on target {target}") };
        let switches = count(*switches, "switch", "switches");
        let (nodes, cables) = (count(*nodes, "node", "nodes"), count(*cables, "cable", "cables"));
        writeln!(f, "{fabric} is {word}{on}: {switches}, {nodes}, {cables} in {seconds:.2} s")?;
        repaired.iter().try_for_each(|fault| writeln!(f, "repaired: {fault}"))?;
        inventory.iter().try_for_each(|path| writeln!(f, "inventory: {path}"))
    }
}

impl fmt::Display for DownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let namespaces = count(self.namespaces, "namespace removed", "namespaces removed");
        let processes = count(self.processes, "process ended", "processes ended");
        let removed = match (self.namespaces, self.processes) {
            (0, 0) => String::new(),
            (_, 0) => format!(": {namespaces}"),
            (0, _) => format!(": {processes}"),
            (_, _) => format!(": {namespaces}, {processes}"),
        };
        writeln!(f, "{} is down{removed} in {:.2} s", self.fabric, self.seconds)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switches = count(self.switches, "switch", "switches");
        let word = match (self.complete && self.missing.is_empty(), self.changes.is_empty()) {
            (true, true) => "up",
            (true, false) => "up with deliberate faults",
            (false, _) => "broken",
        };
        writeln!(f, "{} is {word}: {switches} on target {}, from {}", self.fabric, self.target, self.tree)?;
        if !self.complete {
            writeln!(f, "  it is only partly up: take it down")?;
        }
        write_items(f, &self.missing, |name| format!("{name} is gone"))?;
        write_items(f, &self.changes, Clone::clone)?;
        if !self.changes.is_empty() {
            writeln!(f, "  `closc lab restore` repairs them")?;
        }
        self.inventory.iter().try_for_each(|path| writeln!(f, "  inventory: {path}"))
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {}: {} have a share that does not match their weight",
            count(self.groups as usize, "next-hop group", "next-hop groups"),
            count(self.ports as usize, "port", "ports"),
            self.mismatches.len()
        )?;
        write_items(f, &self.mismatches, |m| {
            let ShareMismatch { device, destination, port, weight, weights, flows, expected, of } = m;
            format!(
                "{device} to {destination}: {port} (weight {weight} of {weights}) got {flows} of {of} flows, \
                 not {expected}"
            )
        })
    }
}

/// Returns a line if the test has no pairs of NICs. Such a test proves nothing and counts as failed.
fn nothing(report: &TestReport) -> &'static str {
    if report.pairs == 0 { "nothing was tested: no NIC has a path to another\n" } else { "" }
}

/// Writes the packets that switches dropped under load, which is not a fault of the fabric.
fn resent(report: &TestReport) -> String {
    match report.resent {
        0 => String::new(),
        resent => format!(
            "{resent} of {} packets were lost and retransmitted (switch processes drop packets under load): \
             {} are lost for good\n",
            report.packets, report.lost
        ),
    }
}

fn write_routed_report(report: &TestReport, spread: &Spread, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    writeln!(
        f,
        "{} pairs{}, {} flows: {} delivered, {} lost, {} misdelivered",
        report.pairs,
        if report.apart > 0 { format!(" ({} more have no path)", report.apart) } else { String::new() },
        report.packets,
        report.delivered,
        report.lost,
        report.misdelivered
    )?;
    f.write_str(&resent(report))?;
    if report.strayed + report.damaged > 0 {
        writeln!(
            f,
            "{} took a path that routes and cables do not allow, {} damaged",
            report.strayed, report.damaged
        )?;
    }
    f.write_str(nothing(report))?;
    write_items(f, &report.failed_flows, |flow| {
        format!("{} port {} -> {}: {}", flow.from, flow.source_port, flow.to, flow.what)
    })?;
    write!(f, "{spread}")
}

impl fmt::Display for TestReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.faults.iter().try_for_each(|fault| writeln!(f, "deliberate fault: {fault}"))?;
        if !self.faults.is_empty() {
            writeln!(f, "`closc lab restore` repairs the lab")?;
        }
        if let Some(spread) = &self.spread {
            return write_routed_report(self, spread, f);
        }
        let absent =
            if self.absent > 0 { format!(" ({} more are absent)", self.absent) } else { String::new() };
        let drawn = self.drawn.map_or_else(String::new, |d| format!(" of {} (seed {})", d.of, d.seed));
        writeln!(
            f,
            "{} pairs, {}{drawn} paths{absent}, {} packets: {} delivered, {} lost, {} misdelivered",
            self.pairs, self.paths, self.packets, self.delivered, self.lost, self.misdelivered
        )?;
        f.write_str(nothing(self))?;
        f.write_str(&resent(self))?;
        if self.strayed + self.damaged > 0 {
            writeln!(
                f,
                "{} arrived at the wrong port of their node, {} damaged",
                self.strayed, self.damaged
            )?;
        }
        if self.unnamed > 0 {
            writeln!(f, "the addresses of {} paths lead to no device in the cable list", self.unnamed)?;
        }
        write_items(f, &self.failed, |path| {
            let to = &path.destination;
            format!("{} -> {} via {to} in plane {}: {}", path.from, path.to, path.plane, path.what)
        })?;
        let (ports, segments) = (self.port_mismatches.len(), self.segment_mismatches.len());
        writeln!(
            f,
            "{} port counters, {} segment counters: {} differ from the expected values",
            self.ports,
            self.segments,
            ports + segments
        )?;
        write_items(f, &self.port_mismatches, |m| {
            format!(
                "{} sent {} of {}, received {} of {}",
                m.port, m.sent, m.sent_expected, m.received, m.received_expected
            )
        })?;
        write_items(f, &self.segment_mismatches, |m| {
            format!("{} {} handled {} of {}, {} errors", m.device, m.segment, m.packets, m.expected, m.errors)
        })
    }
}

impl fmt::Display for MiswireReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "swapped {} and {}", self.swapped.0, self.swapped.1)?;
        write!(f, "{}", self.test)?;
        if self.findings.is_empty() {
            writeln!(f, "found: nothing")?;
        }
        self.findings.iter().try_for_each(|finding| write!(f, "{finding}"))?;
        f.write_str(if self.restored { RESTORED_SWAP } else { KEPT })
    }
}

/// Last lines in the output of commands that change cables.
const RESTORED_CUT: &str = "the cable is repaired; `--keep` leaves it cut\n";
const RESTORED_SWAP: &str = "the cables are restored; `--keep` leaves them swapped\n";
const KEPT: &str = "this lasts until `closc lab restore`\n";

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let evidence = match self {
            Finding::Swapped { first, second, evidence } => {
                writeln!(f, "found: {first} and {second} are swapped")?;
                evidence
            }
            Finding::Misplugged { cable, found_at, evidence } => {
                writeln!(f, "found: {cable} is plugged into {found_at}")?;
                evidence
            }
            Finding::Cut { cable, evidence } => {
                writeln!(f, "found: {cable} is cut")?;
                evidence
            }
            Finding::Silent { device, evidence } => {
                writeln!(f, "found: {device} receives packets and does not forward them")?;
                evidence
            }
            Finding::Unused { cable, evidence } => {
                writeln!(f, "found: no route uses {cable} any longer")?;
                evidence
            }
        };
        write_items(f, evidence, Clone::clone)
    }
}

impl fmt::Display for CutReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.down { ", both ports down" } else { "" };
        writeln!(f, "cut {}{how}", self.cut)?;
        self.probes.iter().try_for_each(|probes| write!(f, "{probes}"))?;
        self.test.iter().try_for_each(|test| write!(f, "{test}"))?;
        self.findings.iter().try_for_each(|finding| write!(f, "{finding}"))?;
        if !self.is_found() {
            writeln!(f, "not found: {} ({})", self.cut, self.reason())?;
        }
        f.write_str(if self.restored { RESTORED_CUT } else { KEPT })
    }
}

impl CutReport {
    /// Returns why the cable was not found.
    fn reason(&self) -> &'static str {
        let Some(probes) = &self.probes else {
            return match (self.findings.is_empty(), self.test.as_ref().is_some_and(TestReport::keeps_weights))
            {
                (true, _) => "no flow uses it",
                (false, true) => "flows and routes do not identify this cable alone",
                (false, false) => "shares of next hops differ from their weights",
            };
        };
        match (probes.is_fine(), probes.accused.is_empty()) {
            (true, _) => "every probe returned: no NIC on its side probes it",
            (false, true) => "probes are lost, but they have more than one cable in common",
            (false, false) => "the losses indicate another element",
        }
    }
}

impl fmt::Display for ProbeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (t0, t1, t2) = (self.t0, self.t1, self.t2);
        write!(
            f,
            "T0 probes: {} of {} returned; T1 probes: {} of {}",
            t0.returned, t0.sent, t1.returned, t1.sent
        )?;
        if t2.sent > 0 {
            write!(f, "; T2 probes: {} of {}", t2.returned, t2.sent)?;
        }
        writeln!(f)?;
        for accused in &self.accused {
            match accused {
                SuspectElement::Cable { cable, evidence } => writeln!(f, "found: {cable} ({evidence})")?,
                SuspectElement::Switch { switch, evidence } => {
                    writeln!(f, "found: switch {switch} ({evidence})")?;
                }
                SuspectElement::CableOrSwitch { cable, switch, evidence } => {
                    writeln!(f, "found: {cable} or switch {switch} ({evidence})")?;
                }
            }
        }
        Ok(())
    }
}

fn write_items<T>(f: &mut fmt::Formatter<'_>, items: &[T], line: impl Fn(&T) -> String) -> fmt::Result {
    for item in items.iter().take(SHOWN) {
        writeln!(f, "  {}", line(item))?;
    }
    if items.len() > SHOWN {
        writeln!(f, "  and {} more", items.len() - SHOWN)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_of_nothing_says_so() {
        let said = "nothing was tested: no NIC has a path to another\n";
        let routed = TestReport { spread: Some(Spread::default()), ..TestReport::default() };
        for report in [TestReport::default(), routed] {
            assert!(report.to_string().contains(said), "{report}");
            assert!(!TestReport { pairs: 1, ..report }.to_string().contains(said));
        }
    }
}
