//! The report on a test.

use std::collections::BTreeMap;
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::Serialize;

use super::inbox::End;
use crate::backend::{Counters, PortCounter, SegmentCounter};
use crate::model::{DeviceId, Model, PortId};
use crate::sample::SampleOrigin;
use crate::traffic::{PathName, PathRef};

/// Maximum number of listed faults; all are counted.
const NAMED_MAX: usize = 20;

/// The report on a test.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TestReport {
    /// Deliberate faults of the lab, which explain losses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// Ordered pairs of NICs.
    pub pairs: u64,
    /// Ordered pairs of NICs that cables do not connect, for example in different T0 groups with one tier. They are
    /// not tested.
    #[serde(skip_serializing_if = "is_zero")]
    pub apart: u64,
    /// Paths that packets were sent over.
    pub paths: u64,
    /// Origin of the sample, if only a sample is tested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drawn: Option<SampleOrigin>,
    /// Packets sent: one per path, or more with parallel cables.
    pub packets: u64,
    /// Packets that switches dropped under load and that were retransmitted. Those that never arrived are also in
    /// `lost`.
    #[serde(skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// Paths that the tables deny as absent.
    pub absent: u64,
    /// Packets that arrived once and intact at the right port, and were accepted.
    pub delivered: u64,
    /// Packets that were not accepted by any node, including those that a NIC rejected.
    pub lost: u64,
    /// Packets that another node accepted.
    pub misdelivered: u64,
    /// Packets that the right node accepted, but that arrived at a wrong port.
    pub strayed: u64,
    /// Packets that arrived at the right port, but were duplicated, changed, or not accepted.
    pub damaged: u64,
    /// Paths whose address is invalid according to the cable lists.
    pub unnamed: u64,
    /// Number of compared port counters.
    pub ports: u64,
    /// Number of compared segment counters.
    pub segments: u64,
    /// Port counters that differ from the expected value.
    pub port_mismatches: Vec<PortMismatch>,
    /// Segment counters that differ from the expected value.
    pub segment_mismatches: Vec<SegmentMismatch>,
    /// The first failed paths.
    pub failed: Vec<PathName>,
    /// The first failed flows, if switches choose the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_flows: Vec<FlowName>,
    /// Shares of next-hop groups, if switches choose the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// A flow that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FlowName {
    /// Address of the sender.
    pub from: IpAddr,
    /// Address of the receiver.
    pub to: IpAddr,
    /// Port of the sender.
    pub source_port: u16,
    /// Result.
    pub what: String,
}

/// Shares of next-hop groups. A flow counts only at the first device of each kind on its path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Spread {
    /// Groups with flows.
    pub groups: u64,
    /// Their next hops.
    pub ports: u64,
    /// Next hops whose share differs from their weight.
    pub mismatches: Vec<ShareMismatch>,
}

/// A next hop whose share differs from its weight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShareMismatch {
    /// The device.
    pub device: String,
    /// Destination of the route.
    pub destination: String,
    /// The port.
    pub port: String,
    /// Its weight.
    pub weight: u32,
    /// The sum of the weights of its group.
    pub weights: u32,
    /// Number of flows over it.
    pub flows: u64,
    /// Expected number of flows over it.
    pub expected: u64,
    /// Number of flows over the group.
    pub of: u64,
}

/// A port counter that differs from the expected value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PortMismatch {
    /// The port.
    pub port: String,
    /// Its cable.
    pub cable: String,
    /// Expected number of sent packets.
    pub sent_expected: u64,
    /// Number of sent packets.
    pub sent: u64,
    /// Expected number of received packets.
    pub received_expected: u64,
    /// Number of received packets.
    pub received: u64,
}

/// A segment counter that differs from the expected value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SegmentMismatch {
    /// The device.
    pub device: String,
    /// The segment.
    pub segment: String,
    /// Packets that it should have handled.
    pub expected: u64,
    /// Packets that it handled.
    pub packets: u64,
    /// Packets that it could not handle.
    pub errors: u64,
}

impl TestReport {
    /// Returns whether every packet arrived and every counter is as expected.
    pub fn is_fine(&self) -> bool {
        self.packets > 0
            && self.delivered == self.packets
            && self.unnamed == 0
            && self.port_mismatches.is_empty()
            && self.segment_mismatches.is_empty()
            && self.keeps_weights()
    }

    /// Returns whether the shares of next hops match their weights.
    pub(crate) fn keeps_weights(&self) -> bool {
        self.spread.as_ref().is_none_or(|spread| spread.mismatches.is_empty())
    }
}

impl TestReport {
    /// Adds a path whose address is invalid.
    pub(super) fn take_unnamed(&mut self, path: &PathRef<'_>) {
        self.unnamed += 1;
        let fault = path.route.as_ref().err().cloned().unwrap_or_default();
        self.failed.extend((self.failed.len() < NAMED_MAX).then(|| path.name(fault)));
    }

    /// Lists a failed flow, up to the limit.
    pub(crate) fn name_flow(&mut self, flow: FlowName) {
        self.failed_flows.extend((self.failed_flows.len() < NAMED_MAX).then_some(flow));
    }

    /// Evaluates one packet; returns whether it was delivered.
    pub(super) fn take(&mut self, path: &PathRef<'_>, end: &End, model: &Model) -> bool {
        self.packets += 1;
        let ports = || -> String {
            let names: Vec<_> = end.wrong.iter().map(|port| model.port_name(*port)).collect();
            names.join(", ")
        };
        let (counter, what) = match end {
            End { thieves, .. } if !thieves.is_empty() => {
                let names: Vec<_> = thieves.iter().map(|at| model.devices[at.0].name.as_str()).collect();
                (&mut self.misdelivered, format!("accepted by {}", names.join(", ")))
            }
            End { correct: 1, changed: 0, accepted: 1, wrong, .. } if wrong.is_empty() => {
                self.delivered += 1;
                return true;
            }
            End { unsent: true, .. } => (&mut self.lost, String::from("its node has no route for it")),
            End { correct: 0, changed: 0, accepted: 0, wrong, .. } if wrong.is_empty() => {
                (&mut self.lost, String::from("lost"))
            }
            End { accepted: 0, wrong, .. } if !wrong.is_empty() => {
                (&mut self.lost, format!("arrived at {}, which rejected it", ports()))
            }
            End { wrong, .. } if !wrong.is_empty() => {
                (&mut self.strayed, format!("accepted, but arrived at {}", ports()))
            }
            End { correct, changed, accepted, .. } => {
                let what = format!(
                    "arrived {correct} times intact, {changed} times changed; accepted {accepted} times"
                );
                (&mut self.damaged, what)
            }
        };
        *counter += 1;
        self.failed.extend((self.failed.len() < NAMED_MAX).then(|| path.name(what)));
        false
    }

    /// Compares counters with the required counts and the permitted excess. Returns ports with a correct counter of
    /// sent packets whose far end has a wrong counter of received packets.
    pub(super) fn compare(
        &mut self,
        model: &Model,
        [expected, more]: &[Counters; 2],
        counted: &Counters,
    ) -> Vec<PortId> {
        let mut leaking = Vec::new();
        for port in model.all_ports() {
            let of = |port: PortId| [expected, more, counted].map(|all| get(&all.ports, &port));
            let (near, far) = (of(port), of(port.peer()));
            if is_within(near.map(|own| own.sent)) && !is_within(far.map(|own| own.received)) {
                leaking.push(port);
            }
            self.compare_port(model, port, near);
        }
        for (at, device) in model.devices.iter().enumerate() {
            for segment in &device.segments {
                let place = (DeviceId(at), *segment);
                let found = [expected, more, counted].map(|all| get(&all.segments, &place));
                self.compare_segment(&device.name, segment.prefix().to_string(), found);
            }
        }
        leaking
    }

    fn compare_port(&mut self, model: &Model, port: PortId, found: [PortCounter; 3]) {
        self.ports += 1;
        let [want, _, have] = found;
        let is_right = is_within(found.map(|own| own.sent)) && is_within(found.map(|own| own.received));
        self.port_mismatches.extend((!is_right).then(|| PortMismatch {
            port: model.port_name(port),
            cable: model.cable_name(port.cable()).to_owned(),
            sent_expected: want.sent,
            sent: have.sent,
            received_expected: want.received,
            received: have.received,
        }));
    }

    fn compare_segment(&mut self, device: &str, segment: String, found: [SegmentCounter; 3]) {
        self.segments += 1;
        let [want, _, have] = found;
        let is_right = is_within(found.map(|own| own.packets)) && want.errors == have.errors;
        self.segment_mismatches.extend((!is_right).then(|| SegmentMismatch {
            device: device.to_owned(),
            segment,
            expected: want.packets,
            packets: have.packets,
            errors: have.errors,
        }));
    }
}

/// Returns whether a count is at least the required one and within the permitted excess.
fn is_within([want, more, have]: [u64; 3]) -> bool {
    (want..=want + more).contains(&have)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn get<K: Ord, V: Copy + Default>(map: &BTreeMap<K, V>, key: &K) -> V {
    map.get(key).copied().unwrap_or_default()
}
