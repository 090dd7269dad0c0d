//! Binds the own segments of a switch.

use super::binding::Binding;
use crate::model::fact::FactKind;
use crate::model::segment::{GIB_MAX, Layout, Usid};
use crate::rules::segments::{COUNT, UN, VALUE};

/// Returns the own uSIDs of a switch in ascending order, and reports invalid segments.
pub(crate) fn local_usids(binding: &mut Binding<'_, '_>) -> Vec<Usid> {
    let Some(layout) = binding.context.layout else { return Vec::new() };
    let mut usids = Vec::with_capacity(binding.device.segments.len());
    let (device, plane) = (binding.device, binding.plane());
    for segment in &device.segments {
        binding.findings.count_facts(&UN, 1);
        let about = FactKind::Segment(&segment.text);
        if let Some(usid) = layout.usid(plane, segment.prefix) {
            value(binding, layout, usid, about);
            usids.push(usid);
        } else {
            let block = layout.block(plane);
            let message = format!("segment `{}` is not a /48 in the block `{block}`", segment.text);
            binding.report(&UN, about, &message);
        }
    }
    usids.sort_unstable();
    let count = usids.len();
    usids.dedup();
    if usids.len() != count {
        let texts = || device.segments.iter().map(|segment| &segment.text);
        let twice = texts().enumerate().find(|(at, text)| texts().take(*at).any(|other| other == *text));
        let about = twice.map_or(FactKind::Segments, |(_, text)| FactKind::Segment(text));
        binding.report(&COUNT, about, "one of its segments appears twice");
    }
    usids
}

fn value(binding: &mut Binding<'_, '_>, layout: &Layout, usid: Usid, about: FactKind<'_>) {
    binding.findings.count_facts(&VALUE, 1);
    if usid.0 == 0 || usid.0 > GIB_MAX {
        let message = format!("uSID {usid} is not in 0001-{GIB_MAX:04x}");
        return binding.report(&VALUE, about, &message);
    }
    // A switch without a cable has no position, and no packet reaches it.
    let Some((tier, plane)) = binding.context.positions.get(&binding.id).copied() else { return };
    if !layout.is_of_plane(usid, plane) {
        let message =
            format!("uSID {usid} has plane bits {}, but the switch is in plane {plane}", layout.plane(usid));
        binding.report(&VALUE, about, &message);
    }
    if layout.role(usid) != layout.code(tier) {
        let message = format!(
            "uSID {usid} has role {}, but a {tier} has role {}",
            layout.role(usid),
            layout.code(tier)
        );
        binding.report(&VALUE, about, &message);
    }
}
