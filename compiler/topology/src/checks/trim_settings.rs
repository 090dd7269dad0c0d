//! E0717: a platform does not support the trimming settings.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Capability;
use closc_qos::codes::Queue;
use closc_qos::units::Bytes;

use crate::draft::{Draft, Hardware};
use crate::field;

/// A platform does not support the trimming settings.
pub(crate) static RULE: Rule = Rule {
    code: "E0717",
    title: "the platform does not support the trimming settings",
    condition: "Every platform in use supports the size in `trimming`, and that size includes the headers of a \
           packet. Only the class of trimmed packets uses the queue that a platform reserves for them. NVUE \
           trims to 256 to 1024 bytes, a multiple of 4, and needs an unused switch priority from 0 to 7. \
           With SONiC, the queue of trimmed packets is 0 to 7.",
    impact: "SONiC's orchagent stops at the first setting that the ASIC rejects, and packets would be dropped \
           instead of trimmed. A receiver requests the data that the transport header names. If that header \
           is cut off, the sender waits for a timeout. Headers in the queue of another class would wait \
           behind its packets.",
    example: "qos: { base: lossy-trim, trimming: { class: trimmed, size: 128, fabric_dscp: 12, last_hop_dscp: 16 } }",
    fix: "Omit `size`, so that each platform gets one that it supports. Give the class that the message \
           names another queue.",
};

/// Headers up to the last one that a receiver needs: Ethernet, IPv6, an inner IPv6 header if hosts choose the
/// path, UDP, and the base transport header (InfiniBand Architecture Specification 9.2).
const ETHERNET: u64 = 14;
const IPV6: u64 = 40;
const UDP: u64 = 8;
const BTH: u64 = 12;

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let Ok(profile) = &draft.qos else { return };
    let Some(trimming) = profile.trimming() else { return };
    let trims = |hardware: &&Hardware| hardware.os.renders(Capability::Trimming);
    if draft.hardware.iter().any(|hardware| trims(&hardware)) && cuts_headers(draft, trimming.size, out) {
        return;
    }
    for hardware in draft.hardware.iter().filter(trims) {
        let platform = &hardware.platform;
        if refuse_size(draft, hardware, trimming.size, out)
            || refuse_priority(draft, hardware, out)
            || refuse_queue(draft, hardware, out)
        {
            continue;
        }
        let Some(limits) = &platform.trimming else { continue };
        if let Some(size) = trimming.size.filter(|size| !limits.accepts(*size)) {
            let range = range(limits.size_min, limits.size_max);
            let message = format!("`{}` trims packets to {range}, not to {size}", platform.id);
            out.push(
                Diagnostic::error(&RULE, message)
                    .at(draft.at(field!("qos.trimming.size")), "rejected by the switch")
                    .and(hardware.platform_span, format!("for {}", hardware.subject))
                    .help("remove `size`: each platform then gets one that it supports"),
            );
        }
        let Some(queue) =
            platform.hwsku(hardware.cages_in_use()).and_then(|hwsku| platform.trim_queue(hwsku))
        else {
            continue;
        };
        let other = profile.classes().find(|class| class.queue == queue && class.name != trimming.class);
        if let Some(class) = other {
            let message = format!(
                "`{}` puts trimmed packets into queue {queue}, which class `{}` uses",
                platform.id, class.name
            );
            out.push(
                Diagnostic::error(&RULE, message)
                    .at(draft.at(field!("qos.classes.*.queue").with_key(&class.name)), "")
                    .and(hardware.platform_span, format!("for {}", hardware.subject))
                    .help(format!("give `{}` another queue", class.name)),
            );
        }
    }
}

/// Rejects a size that the operating system does not support on any platform, and returns whether it did.
fn refuse_size(draft: &Draft<'_>, hardware: &Hardware, size: Option<Bytes>, out: &mut Diagnostics) -> bool {
    let Some((size, taken)) = size.zip(hardware.os.trim_size()) else { return false };
    if u32::try_from(size.0).is_ok_and(|size| taken.contains(&size)) && size.0 % 4 == 0 {
        return false;
    }
    let (os, least, most) = (hardware.os.keyword(), taken.start(), taken.end());
    let message =
        format!("`{os}` trims packets to a multiple of 4 B from {least} B to {most} B, not to {size}");
    out.push(
        Diagnostic::error(&RULE, message)
            .at(draft.at(field!("qos.trimming.size")), "rejected by the switch")
            .and(hardware.os_span, format!("for {}", hardware.subject))
            .help("remove `size`: each platform then gets one that it supports"),
    );
    true
}

/// Rejects a size that ends inside the headers of a packet, and returns whether it did.
fn cuts_headers(draft: &Draft<'_>, size: Option<Bytes>, out: &mut Diagnostics) -> bool {
    let encapsulated = draft.routing.is_source_routed();
    let least = ETHERNET + IPV6 + if encapsulated { IPV6 } else { 0 } + UDP + BTH;
    let Some(size) = size.filter(|size| size.0 < least) else { return false };
    let inner = if encapsulated { format!(" + {IPV6} inner IPv6") } else { String::new() };
    out.push(
        Diagnostic::error(&RULE, format!("a trimmed packet has {size}, but its headers need {least}B"))
            .at(draft.at(field!("qos.trimming.size")), "cuts the headers")
            .note(format!(
                "{least} B: {ETHERNET} Ethernet + {IPV6} IPv6{inner} + {UDP} UDP + {BTH} base transport header"
            ))
            .help("remove `size`: each platform then gets one that it supports"),
    );
    true
}

/// Rejects a profile whose classes use every traffic class, so that none is left to identify trimmed packets. Returns
/// whether it did.
fn refuse_priority(draft: &Draft<'_>, hardware: &Hardware, out: &mut Diagnostics) -> bool {
    let Ok(profile) = &draft.qos else { return false };
    let most = hardware.os.trim_priority_max();
    let Some(most) = most.filter(|most| profile.trim_priority(*most).is_none()) else { return false };
    let os = hardware.os.keyword();
    let message = format!("`{os}` has no unused switch priority for trimmed packets");
    out.push(
        Diagnostic::error(&RULE, message)
            .at(draft.at(field!("qos.trimming.tc")), format!("classes use all priorities from 0 to {most}"))
            .and(hardware.os_span, format!("for {}", hardware.subject))
            .help(format!("remove a class, so that a priority up to {most} is unused")),
    );
    true
}

/// Rejects a queue of trimmed packets that SONiC does not accept, because orchagent would reject the complete object.
/// Returns whether it did.
fn refuse_queue(draft: &Draft<'_>, hardware: &Hardware, out: &mut Diagnostics) -> bool {
    let Ok(profile) = &draft.qos else { return false };
    let class = profile.trimming().and_then(|trimming| profile.class(&trimming.class));
    let Some(class) = class.filter(|_| hardware.os.has_hwskus()) else { return false };
    let platform = &hardware.platform;
    let own = platform.hwsku(hardware.cages_in_use()).and_then(|hwsku| platform.trim_queue(hwsku));
    if own.is_some() || class.queue.get() <= Queue::UNICAST_MAX {
        return false;
    }
    let (os, most) = (hardware.os.keyword(), Queue::UNICAST_MAX);
    let message = format!(
        "`{os}` trims packets into queues 0 to {most}, but class `{}` uses {}",
        class.name, class.queue
    );
    out.push(
        Diagnostic::error(&RULE, message)
            .at(draft.at(field!("qos.classes.*.queue").with_key(&class.name)), "rejected by the switch")
            .and(hardware.os_span, format!("for {}", hardware.subject))
            .help(format!("give `{}` a queue up to {most}", class.name)),
    );
    true
}

fn range(min: Bytes, max: Option<Bytes>) -> String {
    match max {
        Some(max) if max == min => format!("{min} only"),
        Some(max) => format!("{min} to {max}"),
        None => format!("{min} or more"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn trimming_yaml(size: &str) -> String {
        format!(
            "qos: {{ base: lossy-trim, trimming: {{ class: trimmed, {size}fabric_dscp: 12, last_hop_dscp: 16 }} }}"
        )
    }

    #[test]
    fn settings_are_those_that_the_platform_takes() {
        assert_eq!(codes(&trimming_yaml("size: 128, ")), ["E0717"]);
        assert_eq!(codes(&trimming_yaml("size: 206, ")), Vec::<&str>::new());
        assert_eq!(codes(&trimming_yaml("")), Vec::<&str>::new());
        assert_eq!(
            message(&trimming_yaml("size: 128, "), "E0717"),
            "`box-256x200g` trims packets to 206B only, not to 128B"
        );
        // 14 + 40 + 40 + 8 + 12 if hosts write the path; without source routing there is no inner header.
        let short = "a trimmed packet has 113B, but its headers need 114B";
        assert_eq!(message(&trimming_yaml("size: 113, "), "E0717"), short);
        assert_eq!(codes(&trimming_yaml("size: 114, ")).len(), 1, "the platform has one size");
        let p4 = |routing: &str, size: &str| {
            format!(
                "routing: {routing}\nplanes: 1\nhosts: {{ groups: 4, per_group: 2, nic: {{ speed: 100G, lanes: 1 }} }}\n\
                 tiers: {{ t0: {{ platform: bmv2, os: p4, up: 4 }}, t1: {{ platform: bmv2, os: p4 }} }}\n{}",
                trimming_yaml(size)
            )
        };
        for (routing, size, is_taken) in [
            ("ecmp-static", "size: 40, ", false),
            ("ecmp-static", "size: 73, ", false),
            ("ecmp-static", "size: 74, ", true),
            ("srv6-static", "size: 113, ", false),
            ("srv6-static", "size: 114, ", true),
            ("srv6-static", "size: 65535, ", true),
            ("srv6-static", "size: 65536, ", false),
        ] {
            let found = codes(&p4(routing, size));
            assert_eq!(!found.contains(&"E0717"), is_taken, "{routing} {size}{found:?}");
        }
        let queue = "qos: { base: lossy-trim, classes: { control: { queue: 7 } } }";
        assert_eq!(
            message(queue, "E0717"),
            "`box-256x200g` puts trimmed packets into queue 7, which class `control` uses"
        );
        let queue = "{ hosts: { per_group: 256, nic: { speed: 200G } }, tiers: { t0: { platform: spectrum5-sn5640, up: 256 }, \
                     t1: { platform: spectrum5-sn5640 } }, \
                     qos: { base: lossy-trim, classes: { trimmed: { queue: 8 } } } }";
        assert_eq!(
            message(queue, "E0717"),
            "`sonic` trims packets into queues 0 to 7, but class `trimmed` uses 8"
        );
    }

    #[test]
    fn nvue_has_sizes_of_its_own() {
        let nvue = |size: &str| {
            format!(
                "hosts: {{ groups: 4, per_group: 128, nic: {{ speed: 400G, lanes: 4 }} }}\n\
                 tiers: {{ t0: {{ platform: spectrum4-sn5600, os: nvue, up: 128 }}, \
                 t1: {{ platform: spectrum4-sn5600, os: nvue }} }}\n{}",
                trimming_yaml(size)
            )
        };
        for (size, is_taken) in
            [("252", false), ("256", true), ("258", false), ("1024", true), ("1028", false)]
        {
            let found = codes(&nvue(&format!("size: {size}, ")));
            assert_eq!(!found.contains(&"E0717"), is_taken, "{size} {found:?}");
        }
        assert_eq!(
            message(&nvue("size: 1028, "), "E0717"),
            "`nvue` trims packets to a multiple of 4 B from 256 B to 1024 B, not to 1028B"
        );
    }
}
