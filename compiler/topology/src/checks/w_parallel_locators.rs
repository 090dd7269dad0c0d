//! W0402: switches on SONiC get more than one locator, in a release that programs only one.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::Fault;

use crate::checks::words::count;
use crate::coordinate::TierId;
use crate::draft::{Draft, Hardware};
use crate::field;

/// Switches on SONiC get more than one locator.
pub(crate) static RULE: Rule = Rule {
    code: "W0402",
    title: "parallel links need several locators on SONiC",
    condition: "On SONiC up to 202511, no tier has parallel links with `routing: srv6-static`.",
    impact: "A switch has one uSID per parallel link, and therefore several locators. SONiC 202511 passes only \
           one of them to the hardware (sonic-buildimage 24938). Images from 31 January 2026 on and the \
           branch 202605 pass all of them (sonic-buildimage 25137).",
    example: "tiers: { t0: { parallel: 2 } }\n\
           hosts: { groups: 128 }",
    fix: "Run 202605 and write `releases: { sonic: 202605 }`, or read the SIDs back after a push. Or \
           avoid parallel cables (`parallel: 1`), so that every switch has one locator.",
};

/// Checks the tiers at both ends of parallel links.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return;
    }
    let paths = [
        (field!("tiers.t0.parallel"), draft.t0.parallel, [TierId::T0, TierId::T1]),
        (field!("tiers.t1.parallel"), draft.t1.parallel, [TierId::T1, TierId::T2]),
    ];
    for (path, locators, tiers) in paths {
        let limited =
            |hardware: &&Hardware| tiers.contains(&hardware.tier) && drops_locators(draft, hardware);
        let Some(hardware) = draft.hardware.iter().find(limited).filter(|_| locators > 1) else { continue };
        let Some((release, _)) = draft.release(hardware.os) else { continue };
        let [lower, upper] = tiers.map(TierId::label);
        let message = format!(
            "{lower}s and {upper}s get {} each, of which SONiC {release} may program only one",
            count(locators, "locator")
        );
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(path), format!("one uSID for each of {locators} parallel links"))
                .and(hardware.os_span, "SONiC")
                .note("sonic-buildimage 24938: of several locators only one reaches the hardware")
                .help(
                    "read the SIDs back after a push, or avoid parallel cables (`parallel: 1`), so that \
                     every switch has one locator",
                ),
        );
    }
}

/// Returns whether a switch programs fewer locators than its configuration has, in the release of the file.
pub(super) fn drops_locators(draft: &Draft<'_>, hardware: &Hardware) -> bool {
    draft.release(hardware.os).is_some_and(|(release, _)| Fault::drops_locators(hardware.os, release))
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    #[test]
    fn several_locators_are_reported() {
        let fragment = "{ tiers: { t0: { parallel: 2 } }, hosts: { groups: 128 } }";
        assert_eq!(codes(fragment), ["W0402"]);
        assert_eq!(
            message(fragment, "W0402"),
            "T0s and T1s get 2 locators each, of which SONiC 202511 may program only one"
        );
        let on = |release: &str| {
            codes(&format!(
                "{{ releases: {{ sonic: {release} }}, tiers: {{ t0: {{ parallel: 2 }} }}, hosts: {{ groups: 128 }} }}"
            ))
        };
        assert!(on("202511").contains(&"W0402"));
        assert!(!on("202605").contains(&"W0402"), "the branch has the fix");
    }
}
