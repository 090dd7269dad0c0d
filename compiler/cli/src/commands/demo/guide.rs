//! The tour: time and location of each fault, and a caption for each step.
//!
//! In: the fabric. Out: steps in the order of time. Invariants: there is one fault at a time, so each has its own
//! interval of measurements.

use closc_lab::Fault;
use closc_lab::job::Action;

use super::GRAY_PPM;
use super::fabric::View;
use super::stage::Wish;

/// Fabric time of the complete tour.
pub(super) const LENGTH_MS: u64 = 25_000;

/// A step.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) at_ms: u64,
    pub(super) caption: String,
    pub(super) wish: Option<Wish>,
}

/// The caption before anything breaks.
pub(super) const OPENING: &str =
    "8 NICs send over 8 planes. `spray` uses all paths of all planes, `flow` one path for each pair.";

/// Time at which the steps are chosen, when flows have their paths.
pub(super) const CHOSEN_MS: u64 = 1_500;

/// Returns the steps. Faults are placed on paths of flows, which are given by their NICs and planes.
pub(super) fn steps(view: &View, flows: &[(usize, usize)]) -> Vec<Step> {
    let on = |plane: usize| flows.iter().filter(|(_, own)| *own == plane).count();
    let plane = |behind: usize| {
        let busiest = (0..view.planes.len()).rev().max_by_key(|plane| on(*plane)).unwrap_or(0);
        (busiest + behind) % view.planes.len()
    };
    let elsewhere = flows.iter().find(|(_, own)| *own != plane(0)).copied();
    let (nic, of_port) = elsewhere.unwrap_or((0, plane(1)));
    let (cut, gray) = (&view.planes[plane(0)].t1s[1], &view.planes[plane(3)].cables[2].name);
    let (port, drained) = (&view.planes[of_port].ports[nic].name, &view.planes[plane(5)].t1s[0]);
    let (dead, other) = (plane(0), plane(6));
    let step = |at_ms, caption: String, wish| Step { at_ms, caption, wish };
    let breaks = |fault| Some(Wish::Act(Action::Break(fault)));
    let repairs = || Some(Wish::Act(Action::Restore(None)));
    let gray_fault = Fault::Loss { cable: gray.clone(), ppm: GRAY_PPM };
    vec![
        step(2_000, format!("T1 `{cut}` loses power."), breaks(Fault::Cut(cut.clone()))),
        step(5_000, format!("`{cut}` is back."), repairs()),
        step(
            6_500,
            format!("Cable `{gray}` loses {} % of its packets. Its link stays up.", GRAY_PPM / 10_000),
            breaks(gray_fault),
        ),
        step(10_000, format!("`{gray}` is replaced."), repairs()),
        step(
            11_500,
            format!("NIC port `{port}` fails. Its NIC has 7 planes left."),
            breaks(Fault::NicPort(port.clone())),
        ),
        step(14_500, "The port is back.".into(), repairs()),
        step(16_000, format!("Plane {dead} fails as a whole."), breaks(Fault::Plane(dead as u8))),
        step(19_000, format!("Plane {dead} is back."), repairs()),
        step(
            20_500,
            format!("An operator drains `{drained}`: agents leave it before it is unplugged."),
            Some(Wish::Drain(drained.clone())),
        ),
        step(
            21_500,
            format!("An operator tries to drain plane {other}. The guard refuses."),
            Some(Wish::Drain(format!("plane {other}"))),
        ),
        step(23_000, "The drain is lifted.".into(), Some(Wish::LiftAll)),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::fabric::{CableView, PlaneView, View};
    use super::*;

    #[test]
    fn parts_break_that_carry_flows() {
        let cable = |name: String| CableView { name, lower: String::new(), upper: String::new() };
        let plane = |number: usize| PlaneView {
            t0s: Vec::new(),
            t1s: (0..2).map(|t1| format!("p{number}-t1-{t1}")).collect(),
            cables: (0..3).map(|n| cable(format!("p{number}-c{n}"))).collect(),
            ports: (0..2).map(|nic| cable(format!("nic{nic}.p{number}"))).collect(),
        };
        let view = View { planes: (0..8).map(plane).collect(), ..View::default() };
        let steps = steps(&view, &[(0, 4), (1, 2), (0, 4)]);
        let has = |fault: Fault| {
            steps.iter().any(|step| step.wish == Some(Wish::Act(Action::Break(fault.clone()))))
        };
        assert!(has(Fault::Plane(4)) && has(Fault::Cut("p4-t1-1".into())), "most flows use plane 4");
        assert!(has(Fault::NicPort("nic1.p2".into())), "another flow leaves by this port");
        assert!(steps.is_sorted_by_key(|step| step.at_ms) && steps.iter().all(|step| step.at_ms < LENGTH_MS));
    }
}
