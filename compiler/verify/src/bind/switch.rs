//! Binds a switch to the cable lists.

use std::sync::Arc;

use smol_str::SmolStr;

use super::binding::{Binding, Context};
use super::{bgp, routes, segments};
use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::device::{Device, Fault, FaultKind};
use crate::model::fact::FactKind;
use crate::model::place::Place;
use crate::model::switch::{Ends, NamedValues, Sizes, Switch};
use crate::rules::files::{COMPLETE, KNOWN, SETTINGS};
use crate::rules::ports::ISOLATION;
use crate::rules::qos::ALIKE;
use crate::rules::segments::UN;

/// Binds a switch to the cable lists.
pub(crate) fn bind(
    context: &Context<'_>,
    id: SwitchId,
    device: Device<'_>,
    findings: &mut Findings,
) -> Switch {
    let mut this = Binding {
        context,
        id,
        device: &device,
        slots: vec![None; device.ports.len()],
        lengths: device.ports.iter().any(|port| port.length_m.is_some()),
        distinct_facts: Vec::new(),
        findings,
    };
    identity(&mut this);
    let mut ends = this.ends();
    this.spare_ports();
    let (segments, routes) = (segments::local_usids(&mut this), routes::sort_routes(&mut this));
    let speaker = bgp::speaker(&mut this);
    this.route_macs().into_iter().for_each(|(slot, mac)| ends[usize::from(slot)].neighbour = Some(mac));
    let mut over = vec![None; ends.len()];
    routes.segments.iter().for_each(|route| over[usize::from(route.slot)] = Some(route.usid));
    let position = context.positions.get(&id);
    let by_segment = || segments.first().and_then(|usid| context.layout?.tier(*usid));
    let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(SmolStr::from);
    let switch = Switch {
        language: device.language,
        tier: position.map(|(tier, _)| *tier).or_else(by_segment),
        plane: position.map(|(_, plane)| *plane),
        stated_plane: context.plane(id),
        usids: segments,
        blackhole: routes.blackhole,
        routes: routes.segments,
        over,
        other_routes: routes.unclassified.into(),
        speaker,
        ends: Ends::of(&ends),
        mac: device.mac,
        kind: text(&device.kind),
        hardware: text(&device.hardware),
        platform: text(&device.platform),
        loopbacks: device.loopbacks.clone(),
        management: device.management.clone(),
        peers: Arc::clone(&device.peers),
        sizes: sizes(&device),
        counters: pairs(context, device.counters.iter().map(|name| (&**name, "enable"))),
        balance: device.balance,
        pools: device.qos.as_ref().and_then(|qos| qos.pools),
        settings: pairs(context, device.settings.iter().map(|(name, value)| (&**name, &**value))),
        lanes: context.lanes.of(&device, context.pairs),
        ingress: this.ingress(),
    };
    if context.layout.is_none() {
        needless_segments(context, id, &device, findings);
    }
    device.not_judged.iter().for_each(|what| findings.not_judged(what));
    device.faults.into_iter().for_each(|fault| self::fault(context.cabling.switch(id), fault, findings));
    switch
}

/// Returns the use of tables that hardware limits.
fn sizes(device: &Device<'_>) -> Sizes {
    Sizes {
        segments: device.segments.len(),
        routes: device.routes.len(),
        neighbours: device.ports.iter().map(|port| port.neighbours.len()).sum(),
    }
}

/// Reports segments of a switch in a fabric whose hosts do not choose the path.
fn needless_segments(context: &Context<'_>, id: SwitchId, device: &Device<'_>, findings: &mut Findings) {
    let slots = Vec::new();
    let mut this =
        Binding { context, id, device, slots, lengths: false, distinct_facts: Vec::new(), findings };
    for segment in &device.segments {
        let message = format!(
            "the switch has segment `{}`, but with this routing mode hosts do not choose paths",
            segment.text
        );
        this.report(&KNOWN, FactKind::Segment(&segment.text), &message);
    }
}

/// Sorts name-value pairs. Switches with equal lists share one.
fn pairs<'a>(context: &Context<'_>, pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Arc<NamedValues> {
    let mut pairs: NamedValues = pairs.map(|(name, value)| (name.into(), value.into())).collect();
    pairs.sort_unstable();
    context.pairs.intern(&pairs).1
}

fn identity(this: &mut Binding<'_, '_>) {
    let Some(hostname) = &this.device.hostname else {
        // Batch files and table entries contain no device name: only their folder identifies the switch.
        if this.device.language.states_peers {
            this.report(&COMPLETE, FactKind::Device, "it does not contain a host name");
        }
        return;
    };
    this.findings.count_facts(&COMPLETE, 1);
    if hostname != this.name() {
        this.report(&COMPLETE, FactKind::Device, &format!("its host name is `{hostname}`"));
    }
}

/// Reports a fault that a reader found.
fn fault(switch: &str, fault: Fault, findings: &mut Findings) {
    let rule = match fault.kind {
        FaultKind::Unknown | FaultKind::Dangling => &KNOWN,
        FaultKind::Identity => &COMPLETE,
        FaultKind::Segment => &UN,
        FaultKind::Setting => &SETTINGS,
        FaultKind::Qos => &ALIKE,
        FaultKind::Isolation => &ISOLATION,
    };
    let place = Place::of(format!("switches/{switch}/{}", fault.file), fault.target);
    findings.report(Violation::new(rule, place, format!("`{switch}`: {}", fault.message)));
}
