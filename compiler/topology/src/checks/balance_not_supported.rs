//! E0910: a switch does not support the balancing of `ecmp.balance`.

use std::collections::{BTreeMap, BTreeSet};

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Support;
use closc_platform::{Balance, Catalogue, Os};
use closc_qos::units::Speed;

use crate::checks::words::{self, count};
use crate::draft::{Draft, Hardware};

/// A switch does not support the balancing of `ecmp.balance`.
pub(crate) static RULE: Rule = Rule {
    code: "E0910",
    title: "the switch does not support the load-balancing mode",
    condition: "Every kind of switch that chooses among next hops supports the `ecmp.balance` of its tier. Its \
           operating system renders it, its platform supports it at the speeds of all ports between \
           switches, and its next-hop groups fit. In the built-in catalogue, `adaptive` needs Cumulus Linux \
           (`nvue`) on Spectrum-4 at 200G or 400G. `flowlet` needs Arista EOS on Tomahawk. No system renders \
           `spray`.",
    impact: "A switch that rejects the setting, or ignores it, hashes flows. A next-hop group whose ports are \
           only partly balanced distributes packets unpredictably.",
    example: "routing: ecmp-static\n\
              ecmp: { balance: adaptive }",
    fix: "Use a platform and an operating system that the message names, or set `balance_by_tier` to `hash` \
           for the tier.",
};

/// Checks every kind of switch that has several next hops and does not choose among them by hash.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    for hardware in &draft.hardware {
        let balance = draft.balance(hardware.tier);
        if balance == Balance::Hash || !hardware.platform.supports(hardware.os) {
            continue;
        }
        let Some((message, note)) = fault(draft, hardware, balance) else { continue };
        let finding = Diagnostic::error(&RULE, message)
            .at(draft.balance_span(hardware.tier), format!("`{}` is not supported", balance.keyword()))
            .and(hardware.platform_span, format!("for {}", hardware.subject));
        let finding = match note {
            Some(note) => finding.note(note),
            None => finding,
        };
        let hash = format!("set `ecmp.balance_by_tier: {{ {}: hash }}`", hardware.tier.keyword());
        out.push(match able(draft.catalogue, balance) {
            Some(able) => finding.note(able).help(format!("use one of these, or {hash}")),
            None => finding
                .note(format!(
                    "no operating system renders `{}`; with `routing: srv6-static`, hosts spray",
                    balance.keyword()
                ))
                .help(hash),
        });
    }
}

/// Returns the fault and its reason.
fn fault(draft: &Draft<'_>, hardware: &Hardware, balance: Balance) -> Option<(String, Option<String>)> {
    let release = draft.release(hardware.os).map(|(release, _)| format!(" {release}")).unwrap_or_default();
    let (os, platform, word) = (hardware.os.keyword(), &hardware.platform.id, balance.keyword());
    let who = &hardware.subject;
    if let Support::Not(why) = hardware.os.support(balance.capability()?) {
        let message = format!("{who}: `{os}`{release} does not support `balance: {word}`");
        return Some((message, Some(format!("`{os}`: {why}"))));
    }
    let Some(fact) = hardware.platform.balance(balance, hardware.os) else {
        return Some((
            format!("{who}: `{os}`{release} on `{platform}` does not support `balance: {word}`"),
            None,
        ));
    };
    let odd = |speed: &Speed| fact.speeds.as_ref().is_some_and(|speeds| !speeds.contains(speed));
    if let Some(speed) = hardware.fabric_speeds().into_iter().find(odd) {
        let message = format!(
            "{who}: `{os}`{release} on `{platform}` does not support `balance: {word}` on ports of {speed}"
        );
        return Some((message, Some(fact.source.parts().1.to_owned())));
    }
    let most = u64::from(hardware.os.balanced_groups_max()?);
    let (needed, _) = draft.choices().groups(hardware.tier);
    (needed > most).then(|| {
        let message = format!(
            "{who} needs {}, but `{os}`{release} balances at most {most}",
            count(needed, "next-hop group")
        );
        (message, None)
    })
}

/// Names the systems and platforms that support a kind of balancing, if there are any.
fn able(catalogue: &Catalogue, balance: Balance) -> Option<String> {
    let on = |os: Os| {
        // Platforms by the speeds at which they support it.
        let mut platforms: BTreeMap<Option<&BTreeSet<Speed>>, Vec<String>> = BTreeMap::new();
        for platform in catalogue.usual() {
            if let Some(fact) = platform.balance(balance, os) {
                platforms.entry(fact.speeds.as_ref()).or_default().push(format!("`{}`", platform.id));
            }
        }
        let of_speeds = |(speeds, names): (Option<&BTreeSet<Speed>>, Vec<String>)| {
            let names = words::and(names.iter().map(String::as_str));
            match speeds {
                Some(speeds) => format!("{names} with ports of {}", words::choice(speeds)),
                None => names,
            }
        };
        let names: Vec<String> = platforms.into_iter().map(of_speeds).collect();
        (!names.is_empty()).then(|| format!("`{}` on {}", os.keyword(), names.join(", and on ")))
    };
    let all: Vec<String> = Os::ALL.into_iter().filter_map(on).collect();
    (!all.is_empty()).then(|| format!("`{}` is supported by {}", balance.keyword(), all.join(", and ")))
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    /// A fabric of two tiers with the given balancing, platform and breakout.
    fn fabric(balance: &str, platform: &str, os: &str, breakout: &str, up: u32) -> String {
        format!(
            "{{ routing: ecmp-static, qos: none, ecmp: {{ balance: {balance} }}, hosts: {{ groups: {up}, \
             per_group: {up}, packet_order: any, nic: {{ speed: 800G, lanes: 8 }} }}, tiers: {{ t0: {{ platform: \
             {platform}, os: {os}, up: {{ count: {up}, breakout: {breakout} }}, down: {{ breakout: {breakout} }} }}, \
             t1: {{ platform: {platform}, os: {os}, down: {{ breakout: {breakout} }} }} }} }}"
        )
    }

    #[test]
    fn systems_without_it_are_named_with_their_release() {
        assert!(codes(RULE.example).contains(&"E0910"));
        assert_eq!(
            message(RULE.example, "E0910"),
            "each T0: `sonic` 202511 does not support `balance: adaptive`"
        );
        for balance in ["flowlet", "adaptive", "spray"] {
            for (platform, os) in
                [("linux", "linux"), ("linux", "frr"), ("bmv2", "p4"), ("box-256x200g", "sonic")]
            {
                let tier = format!("{{ platform: {platform}, os: {os}, up: 128 }}");
                let fragment = format!(
                    "{{ routing: ecmp-static, ecmp: {{ balance: {balance} }}, tiers: {{ t0: {tier} }} }}"
                );
                assert!(codes(&fragment).contains(&"E0910"), "{balance} {os}: {:?}", codes(&fragment));
            }
        }
        assert!(!codes("{ routing: ecmp-static, ecmp: { balance: hash } }").contains(&"E0910"));
    }

    #[test]
    fn speeds_of_ports_count() {
        let of = |breakout: &str, up: u32| fabric("adaptive", "spectrum4-sn5600", "nvue", breakout, up);
        assert!(!codes(&of("2x400G", 64)).contains(&"E0910"), "{:?}", codes(&of("2x400G", 64)));
        assert_eq!(
            message(&of("1x800G", 32), "E0910"),
            "each T0: `nvue` 5.16 on `spectrum4-sn5600` does not support `balance: adaptive` on ports of 800G"
        );
        assert_eq!(
            message(&fabric("adaptive", "spectrum3-sn4700", "nvue", "1x400G", 16), "E0910"),
            "each T0: `nvue` 5.16 on `spectrum3-sn4700` does not support `balance: adaptive`"
        );
    }

    #[test]
    fn only_switches_with_a_choice_are_asked() {
        let sonic_above = "{ routing: ecmp-static, ecmp: { balance_by_tier: { t1: adaptive } } }";
        assert!(!codes(sonic_above).contains(&"E0910"), "T1s have one link to each T0");
        assert!(!codes("ecmp: { balance: spray }").contains(&"E0910"), "NICs choose the path");
    }

    #[test]
    fn groups_fit() {
        let fragment = "{ routing: ecmp-static, qos: none, ecmp: { balance: flowlet }, hosts: { groups: 256, per_group: \
                        128 }, tiers: { t0: { platform: th5-256x200g, os: eos, up: { count: 128 }, parallel: 2 }, \
                        t1: { platform: th5-512x100g, os: eos } } }";
        assert_eq!(
            message(fragment, "E0910"),
            "each T1 needs 256 next-hop groups, but `eos` 4.35 balances at most 128"
        );
    }
}
