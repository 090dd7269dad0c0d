//! W0402: switches on SONiC get more than one locator.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::{Capability, Support};

use crate::checks::words::count;
use crate::coordinate::TierId;
use crate::draft::{Draft, Hardware};
use crate::field;

/// Switches on SONiC get more than one locator.
pub(crate) static RULE: Rule = Rule {
    code: "W0402",
    title: "parallel links need several locators on SONiC",
    what: "On SONiC, no tier has parallel links with `routing: srv6-static`.",
    why: "A switch has one uSID per parallel link, and therefore several locators. SONiC 202511 passes only \
           one of them to the hardware (sonic-buildimage 24938).",
    example: "tiers: { t0: { parallel: 2 } }\n\
           hosts: { groups: 128 }",
    fix: "Read the SIDs back after a push, use a release with a fix, or use as many T1s as uplinks.",
};

/// Checks the tiers that parallel links lead to.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    if !draft.routing.is_source_routed() {
        return;
    }
    let paths = [
        (field!("tiers.t0.parallel"), draft.t0.parallel, [TierId::T0, TierId::T1]),
        (field!("tiers.t1.parallel"), draft.t1.parallel, [TierId::T1, TierId::T2]),
    ];
    for (path, locators, tiers) in paths {
        let limited = |hardware: &&Hardware| {
            let support = hardware.os.support(Capability::SeveralLocators);
            tiers.contains(&hardware.tier) && support != Support::Whole
        };
        let Some(hardware) = draft.hardware.iter().find(limited).filter(|_| locators > 1) else { continue };
        let [lower, upper] = tiers.map(TierId::label);
        let message = format!(
            "{lower}s and {upper}s get {} each, of which SONiC 202511 may program one",
            count(locators, "locator")
        );
        out.push(
            Diagnostic::warning(&RULE, message)
                .at(draft.at(path), format!("one uSID for each of {locators} parallel links"))
                .and(hardware.os_span, "SONiC")
                .note("sonic-buildimage 24938: of several locators only one reaches the hardware")
                .help("read the SIDs back after a push, or have as many T1s as uplinks (`parallel: 1`)"),
        );
    }
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
            "T0s and T1s get 2 locators each, of which SONiC 202511 may program one"
        );
    }
}
