//! W0203: a known fault of a release affects a setting of the fabric.

use std::collections::BTreeMap;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, required_capabilities};
use closc_platform::{Fault, Impact, OutputFacts};

use crate::checks::words;
use crate::coordinate::TierId;
use crate::draft::{Draft, Hardware};

/// A known fault of a release affects a setting of the fabric.
pub(crate) static RULE: Rule = Rule {
    code: "W0203",
    title: "a known fault of the release affects this fabric",
    condition: "No fault in closc's register affects a switch with its release, ASIC and configuration. A fault \
           that changes forwarding is also reported for the assumed release. A fault in the delivery of \
           configuration is reported only if `releases` states the release. The release also has every hwsku in \
           use, with the same lanes. `closc platforms NAME` lists the faults of a platform, and the first \
           release of its hwskus.",
    impact: "The configuration is valid, but the switch behaves differently. Such a fault is otherwise found in \
           production.",
    example: "releases: { sonic: 202505 }\nqos: none",
    fix: "Follow the workaround in the message, state the release that the switches run, or accept the \
           warning with `warnings: { W0203: allow }`.",
};

/// Reports each fault once, at the first kind of switch with it.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for fault in Fault::all().iter().filter(|fault| fault.rule.is_none()) {
        let mut concerned = draft.hardware.iter().filter(|hardware| concerns(draft, fault, hardware));
        let Some(first) = concerned.next() else { continue };
        let Some((release, stated)) = draft.release(first.os) else { continue };
        let os = first.os.keyword();
        let who: Vec<&str> =
            std::iter::once(first).chain(concerned).map(|hardware| hardware.subject.as_str()).collect();
        let finding = Diagnostic::warning(&RULE, format!("`{os}` {release} {}", fault.effect))
            .at(first.os_span, format!("for {}", words::and(who)))
            .note(format!("{}: {}", fault.source, fault.releases()));
        let finding = match stated {
            Some(span) => finding.and(span, "states the release"),
            None => finding.note(format!("the file states no release of `{os}`: {release} is assumed")),
        };
        out.push(finding.help(fault.workaround.clone()));
    }
    missing_hwskus(draft, out);
}

/// Reports once each hwsku that the release lacks.
fn missing_hwskus(draft: &Draft<'_>, out: &mut Diagnostics) {
    let mut missing: BTreeMap<_, Vec<&Hardware>> = BTreeMap::new();
    for hardware in &draft.hardware {
        let Some((release, _)) = draft.release(hardware.os) else { continue };
        if let Some(found) = hardware.platform.missing_hwsku((hardware.os, release), hardware.cages_in_use())
        {
            missing.entry((hardware.os, found)).or_default().push(hardware);
        }
    }
    for ((os, (hwsku, since)), concerned) in missing {
        let Some((release, stated)) = draft.release(os) else { continue };
        let who: Vec<&str> = concerned.iter().map(|hardware| hardware.subject.as_str()).collect();
        let word = os.keyword();
        let (lacks, has) = match concerned[0].platform.missing_in(os, release) {
            Some(name) => (format!("platform `{name}`"), format!("its hwsku `{hwsku}`")),
            None => (format!("hwsku `{hwsku}` with these lanes"), "it".to_owned()),
        };
        let finding = Diagnostic::warning(&RULE, format!("`{word}` {release} lacks {lacks}"))
            .at(concerned[0].platform_span, format!("for {}", words::and(who)))
            .note(format!(
                "sonic-net/sonic-buildimage contains {has}, in a form that SONiC accepts, from branch {since} on"
            ));
        let finding = match stated {
            Some(span) => finding.and(span, "states the release"),
            None => finding.note(format!("the file states no release of `{word}`: {release} is assumed")),
        };
        out.push(finding.help(format!("install {since}, and write `releases: {{ {word}: {since} }}`")));
    }
}

fn concerns(draft: &Draft<'_>, fault: &Fault, hardware: &Hardware) -> bool {
    let Some((release, stated)) = draft.release(hardware.os) else { return false };
    let is_reported = match fault.impact {
        Impact::Forwarding => true,
        Impact::Delivery => stated.is_some(),
        Impact::Avoided => false,
    };
    is_reported && fault.concerns((hardware.os, release), &hardware.platform, &output_facts(draft, hardware))
}

fn output_facts(draft: &Draft<'_>, hardware: &Hardware) -> OutputFacts {
    let parallel = match hardware.tier {
        TierId::T0 => draft.t0.parallel,
        TierId::T1 => draft.t0.parallel.max(draft.t1.parallel),
        TierId::T2 => draft.t1.parallel,
    };
    let ports =
        [&hardware.down, &hardware.up].into_iter().map(|block| block.count.saturating_add(block.spare));
    OutputFacts {
        segments: draft.routing.is_source_routed(),
        several_locators: draft.routing.is_source_routed() && parallel > 1,
        static_routes: !draft.routing.speaks_bgp(),
        bgp: draft.routing.speaks_bgp(),
        // With a single tier, a switch has one path to each NIC.
        hash_fields: !draft.routing.is_source_routed() && draft.has_t1(),
        marking: draft
            .qos
            .as_ref()
            .is_ok_and(|profile| required_capabilities(profile).contains(&Capability::Marking)),
        ports: ports.fold(0, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, findings, message};

    #[test]
    fn a_fault_of_the_stated_release_is_reported_once() {
        let found = findings(RULE.example);
        let texts: Vec<&str> = found
            .iter()
            .filter(|finding| finding.rule.code == "W0203" && finding.message.contains("SRV6_MY_SIDS"))
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(
            texts,
            [
                "`sonic` 202505 accepts SRV6_MY_SIDS and programs none of them, because interface sr0 is missing"
            ]
        );
        assert!(!codes("releases: { sonic: 202511 }").contains(&"W0201"));
        let later = findings("releases: { sonic: 202511 }");
        assert!(!later.iter().any(|finding| finding.message.contains("SRV6_MY_SIDS")));
    }

    #[test]
    fn delivery_is_reported_for_stated_releases_only() {
        let of = |fragment: &str| {
            findings(fragment).iter().filter(|finding| finding.message.contains("WRED_PROFILE")).count()
        };
        assert_eq!(of("qos: lossy-trim"), 0);
        assert_eq!(of("releases: { sonic: 202511 }"), 1);
        assert_eq!(of("{ releases: { sonic: 202511 }, qos: none }"), 0);
        assert_eq!(of("releases: { sonic: 202605 }"), 0);
    }

    #[test]
    fn hash_fields_are_ignored_by_one_maker() {
        let fabric = |platform: &str| {
            format!(
                "{{ routing: ecmp-static, hosts: {{ groups: 64, per_group: 64, nic: {{ speed: 800G }} }}, \
                 tiers: {{ t0: {{ platform: {platform}, up: 64 }}, t1: {{ platform: {platform} }} }} }}"
            )
        };
        assert_eq!(
            message(&fabric("th5-128x400g"), "W0203"),
            "`sonic` 202511 keeps the hash fields of the ASIC and ignores those of SWITCH_HASH"
        );
        assert!(!codes(&fabric("spectrum4-sn5600")).contains(&"W0203"));
    }

    #[test]
    fn releases_without_the_files_of_a_hwsku_are_reported() {
        let lacks = |fragment: &str| -> Vec<String> {
            let sn6600 = "routing: ecmp-static, qos: none, hosts: { groups: 64, per_group: 64, nic: { speed: 800G } }, \
                          tiers: { t0: { platform: spectrum6-sn6600, up: 64 }, t1: { platform: spectrum6-sn6600 } }";
            let found = findings(&format!("{{ {fragment}{sn6600} }}"));
            let lacks = found.iter().filter(|finding| {
                finding.message.contains("lacks hwsku") || finding.message.contains("lacks platform")
            });
            lacks.map(|finding| format!("{} {}", finding.rule.code, finding.message)).collect()
        };
        let expected = "W0203 `sonic` 202511 lacks hwsku `Mellanox-SN6600_LD-P128C2` with these lanes";
        assert_eq!(lacks("releases: { sonic: 202511 }, "), [expected]);
        assert_eq!(lacks(""), [expected]);
        // The branch has no folder for the SN6600.
        let expected = "W0203 `sonic` 202505 lacks platform `x86_64-nvidia_sn6600_ld-r0`";
        assert_eq!(lacks("releases: { sonic: 202505 }, "), [expected]);
        assert!(lacks("releases: { sonic: 202605 }, ").is_empty());
        assert!(lacks("releases: { sonic: master }, ").is_empty());
    }

    #[test]
    fn releases_of_frr_differ() {
        let frr = |release: &str| {
            let linux =
                "tiers: { t0: { platform: linux, os: frr, up: 4 }, t1: { platform: linux, os: frr } }";
            codes(&format!(
                "{{ releases: {{ frr: {release} }}, hosts: {{ groups: 4, per_group: 4, nic: {{ speed: 2G, lanes: 2 }} }}, {linux} }}"
            ))
            .contains(&"W0203")
        };
        assert!(frr("10.5.0") && !frr("10.5.1") && !frr("10.4.1"));
    }
}
