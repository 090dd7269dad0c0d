//! V05: own segments.

use std::collections::HashMap;

use closc_diagnostics::Rule;

use crate::attach::Attach;
use crate::finding::{Findings, Violation};
use crate::model::cabling::SwitchId;
use crate::model::fabric::{About, Fabric};
use crate::model::segment::{GIB_MAX, Layout, Tier, Usid};

/// A segment is a uN.
pub(crate) static UN: Rule = Rule {
    code: "V0501",
    title: "a segment is no uN of this fabric",
    what: "Every own segment of a switch is a uN: a /48 behind the block of the path tables, bound to the \
           right locator and device, with 32 bits of block, 16 of uSID and none of function.",
    why: "Anything else takes the outer header off, cuts the list at another place, or is dropped by hardware \
          that knows uN only.",
    example: "\"SRV6_MY_SIDS\": { \"loc1|fcbb:bbbb:1::/48\": { \"action\": \"uA\" } }",
    fix: "Compile again.",
};

/// A uSID says what it names.
pub(crate) static VALUE: Rule = Rule {
    code: "V0502",
    title: "a uSID has wrong bits",
    what: "The uSID of a switch is in 0x0001-0xDFFF, its plane bits are the switch's plane and its role bits \
           the switch's tier.",
    why: "0x0000 ends a list; values above 0xDFFF are local on other switches; with wrong plane bits a cable \
          in the wrong plane delivers packets instead of losing them.",
    example: "fcbb:bbbb:2001::/48 as segment of a T0 of plane 3",
    fix: "Compile again; widths are set in `srv6.widths`.",
};

/// A uSID has one owner.
pub(crate) static OWNER: Rule = Rule {
    code: "V0503",
    title: "a uSID has two owners in a plane",
    what: "No two switches of a plane own the same uSID.",
    why: "The same list would lead to either, depending on the neighbour.",
    example: "fcbb:bbbb:1801::/48 on p3-t0-001 and on p3-t0-002",
    fix: "Compile again.",
};

/// A switch has as many uNs as it needs.
pub(crate) static COUNT: Rule = Rule {
    code: "V0504",
    title: "a switch has too many or too few segments",
    what: "A switch owns exactly one uN, or with parallel cables one for each cable to the neighbour it has \
           most of them to, with consecutive values.",
    why: "More segments than needed are more ways into a switch, and some switch software programs only one \
          of several (sonic-buildimage issue 24938); with fewer a cable cannot be named.",
    example: "two rows in \"SRV6_MY_SIDS\" of a switch without parallel cables",
    fix: "Compile again.",
};

/// The family, in the order of codes.
pub(crate) const RULES: &[&Rule] = &[&UN, &VALUE, &OWNER, &COUNT];

/// Returns the own uSIDs of a switch, rising, and reports what is none.
pub(crate) fn own(attach: &mut Attach<'_, '_>) -> Vec<Usid> {
    let Some(layout) = attach.context.layout else { return Vec::new() };
    let mut usids = Vec::with_capacity(attach.device.segments.len());
    let device = attach.device;
    for segment in &device.segments {
        attach.findings.checked(&UN, 1);
        let about = About::Segment(&segment.text);
        if let Some(usid) = layout.usid(segment.prefix) {
            value(attach, layout, usid, about);
            usids.push(usid);
        } else {
            let message = format!("segment `{}` is no /48 in the block `{}`", segment.text, layout.block);
            attach.broken(&UN, about, &message);
        }
    }
    usids.sort_unstable();
    let count = usids.len();
    usids.dedup();
    if usids.len() != count {
        attach.broken(&COUNT, About::Device, "one of its segments is there twice");
    }
    usids
}

fn value(attach: &mut Attach<'_, '_>, layout: &Layout, usid: Usid, about: About<'_>) {
    attach.findings.checked(&VALUE, 1);
    if usid.0 == 0 || usid.0 > GIB_MAX {
        let message = format!("uSID {usid} is not in 0001-{GIB_MAX:04x}");
        return attach.broken(&VALUE, about, &message);
    }
    // A switch without a cable has no position, and no packet reaches it.
    let Some((tier, plane)) = attach.context.positions.get(&attach.id).copied() else { return };
    if layout.plane(usid) != u16::from(plane) {
        let message =
            format!("uSID {usid} has plane bits {}, and the switch is in plane {plane}", layout.plane(usid));
        attach.broken(&VALUE, about, &message);
    }
    if layout.role(usid) != layout.code(tier) {
        let message = format!(
            "uSID {usid} has role {}, and a {tier} has role {}",
            layout.role(usid),
            layout.code(tier)
        );
        attach.broken(&VALUE, about, &message);
    }
}

/// Checks owners and numbers of segments over the whole fabric.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let Some(layout) = &fabric.layout else { return };
    let mut owners: HashMap<(u8, Usid), SwitchId> = HashMap::new();
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id) else { continue };
        count(fabric, layout, id, findings);
        let Some(plane) = switch.plane else { continue };
        for usid in &switch.usids {
            findings.checked(&OWNER, 1);
            if let Some(other) = owners.insert((plane, *usid), id) {
                let message = format!(
                    "uSID {usid} is a segment of `{}` and of `{}`, both in plane {plane}",
                    fabric.cabling.switch(other),
                    fabric.cabling.switch(id)
                );
                let prefix = layout.prefix(*usid).to_string();
                let place = |id| fabric.place(id, About::Segment(&prefix));
                findings.broken(Violation::new(&OWNER, place(id), message).and(place(other)));
            }
        }
    }
}

fn count(fabric: &Fabric, layout: &Layout, id: SwitchId, findings: &mut Findings) {
    let Some(switch) = fabric.switch(id) else { return };
    let Some(tier) = switch.tier else { return };
    let needed = per_switch(layout, tier);
    let rising = switch.usids.windows(2).all(|pair| pair[1].0 - pair[0].0 == 1);
    findings.expect(switch.usids.len() == usize::from(needed) && rising, &COUNT, || {
        let list: Vec<String> = switch.usids.iter().map(Usid::to_string).collect();
        let message = format!(
            "`{}` has {} ({}) and needs {needed}",
            fabric.cabling.switch(id),
            segments(list.len()),
            list.join(", ")
        );
        Violation::new(&COUNT, fabric.place(id, About::Segment("")), message)
    });
}

fn segments(count: usize) -> String {
    if count == 1 { "1 segment".to_owned() } else { format!("{count} segments") }
}

/// How many uSIDs a switch of a tier owns: one for every cable to one neighbour.
pub(crate) fn per_switch(layout: &Layout, tier: Tier) -> u16 {
    let (lower, upper) = (layout.parallel_t0_t1.max(1), layout.parallel_t1_t2.max(1));
    match tier {
        Tier::T0 => lower,
        Tier::T1 => layout.usids_per_t1.max(1),
        Tier::T2 => upper,
    }
}
