//! W0706: the file sets `lossless_traffic`, but headroom does not depend on it.

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_platform::capability::Capability;
use closc_qos::headroom::Model;

use crate::draft::Draft;
use crate::field;

/// The file sets `lossless_traffic`, but headroom does not depend on it.
pub(crate) static RULE: Rule = Rule {
    code: "W0706",
    title: "`lossless_traffic` has no effect on headroom",
    condition: "If `lossless_traffic` is set, every platform in use computes its headroom from it, and a class is \
           lossless.",
    impact: "Headroom of Broadcom and Marvell platforms, and of older NVIDIA platforms, comes from vendor \
           tables for fixed packet sizes. The file cannot change these.",
    example: "qos: { base: lossless, lossless_traffic: { mtu: 1500B, small_packets: 10 } }\n\
              cables: { nic-t0: { length: 3m }, t0-t1: { length: 30m } }",
    fix: "Remove `lossless_traffic`, or use platforms that compute headroom from it.",
};

/// Checks every kind of switch.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let (Ok(profile), Some(span)) = (&draft.qos, draft.stated_span(field!("qos.lossless_traffic"))) else {
        return;
    };
    let warn =
        |message: String| Diagnostic::warning(&RULE, message).at(span, "").help("remove `lossless_traffic`");
    if !profile.is_lossless() {
        out.push(warn("`lossless_traffic` has no effect: no class has `pfc: true`".to_owned()));
        return;
    }
    let mut said = Vec::new();
    for hardware in draft.hardware.iter().filter(|hardware| hardware.os.renders(Capability::Pauses)) {
        let platform = &hardware.platform;
        let Some(model) = platform.buffer.as_ref().and_then(|b| b.headroom_model.parse::<Model>().ok())
        else {
            continue;
        };
        if model.reads_packets() || said.contains(&platform.id) {
            continue;
        }
        said.push(platform.id.clone());
        let message = format!("`lossless_traffic` has no effect on headroom of `{}`", platform.id);
        let note = format!("`{model}` is a vendor table for fixed packet sizes");
        out.push(warn(message).and(hardware.platform_span, format!("for {}", hardware.subject)).note(note));
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::testing::{codes, message};

    #[test]
    fn packets_that_no_headroom_depends_on_are_named() {
        let text = "`lossless_traffic` has no effect on headroom of `box-256x200g`";
        assert_eq!(message(RULE.example, "W0706"), text);
        let lossy = "qos: { base: lossy-trim, lossless_traffic: { mtu: 1500B, small_packets: 10 } }";
        assert_eq!(message(lossy, "W0706"), "`lossless_traffic` has no effect: no class has `pfc: true`");
        assert!(!codes("qos: lossless").contains(&"W0706"));
    }
}
