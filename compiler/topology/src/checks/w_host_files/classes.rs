//! Roles and priorities of classes that affect only files of nodes.
//!
//! In: a profile as it is written. Out: each such setting that does not change any file of the tree. Invariants: the
//! data of files is computed from the profile with and without the setting, and compared.

use closc_diagnostics::{Diagnostic, Diagnostics, Span};
use closc_qos::host::HostQos;
use closc_qos::profile::{self, ClassName, ClassSpec, Profile, ProfileSpec};

use super::RULE;
use crate::choice::HostOutput;
use crate::draft::Draft;
use crate::field;

/// Files of nodes that depend on a setting.
struct DependentFiles {
    nic: bool,
    nccl: bool,
}

/// Checks every class that is written down.
pub(super) fn check(draft: &Draft<'_>, outputs: &[HostOutput], out: &mut Diagnostics) {
    let (Ok(profile), Some(doc)) = (&draft.qos, &draft.doc.qos) else { return };
    for (name, class) in &doc.spec.classes {
        let role = ("role", field!("qos.classes.*.role"), ClassSpec { role: None, ..class.clone() });
        let lossy = profile.class(name).is_some_and(|class| !class.pfc);
        let priority =
            ("priority", field!("qos.classes.*.priority"), ClassSpec { priority: None, ..class.clone() });
        for (key, field, without) in [Some(role), Some(priority).filter(|_| lossy)].into_iter().flatten() {
            let Some(span) = draft.stated_span(field.with_key(name)) else { continue };
            let Some(follow) = follow(&doc.spec, profile, name, without) else { continue };
            let is_written = follow.nic && outputs.contains(&HostOutput::Nic)
                || follow.nccl && outputs.contains(&HostOutput::Nccl);
            if !is_written {
                out.push(finding(key, name, &follow, span));
            }
        }
    }
}

/// Compares the data for hosts with and without a setting; `None` if the setting is required or has no effect.
fn follow(
    spec: &ProfileSpec,
    with: &Profile,
    name: &ClassName,
    without: ClassSpec,
) -> Option<DependentFiles> {
    let mut spec = spec.clone();
    spec.classes.insert(name.clone(), without);
    let without = profile::lower(spec).ok().filter(|without| without != with)?;
    let (with, without) = (HostQos::of(with), HostQos::of(&without));
    let drivers = |qos: &HostQos| {
        (qos.dscp_to_priority.clone(), qos.priorities, qos.rdma.connection_tos, qos.dcqcn.clone())
    };
    let marks = |qos: &HostQos| (qos.rdma.nccl_tc, qos.rdma.nccl_fifo_tc);
    Some(DependentFiles { nic: drivers(&with) != drivers(&without), nccl: marks(&with) != marks(&without) })
}

fn finding(key: &str, name: &ClassName, follow: &DependentFiles, span: Span) -> Diagnostic {
    let (missing, help) = match (follow.nic, follow.nccl) {
        (true, true) => ("`hosts.outputs` has neither `nic` nor `nccl`", "add `nic` or `nccl` to"),
        (true, false) => ("`hosts.outputs` has no `nic`", "add `nic` to"),
        (false, true) => ("`hosts.outputs` has no `nccl`", "add `nccl` to"),
        (false, false) => ("no node file depends on it", ""),
    };
    let help = if help.is_empty() {
        "remove the setting".to_owned()
    } else {
        format!("{help} `hosts.outputs`, set it to `[]` to export such files only, or remove the setting")
    };
    Diagnostic::warning(&RULE, format!("`{key}` of class `{name}` has no effect on the tree: {missing}"))
        .at(span, "")
        .note("switches use code points and traffic classes")
        .help(help)
}

#[cfg(test)]
mod tests {
    use crate::testing::{codes, message};

    fn fabric(outputs: &str, base: &str, classes: &str) -> String {
        format!("{{ hosts: {{ {outputs} }}, qos: {{ base: {base}, classes: {{ {classes} }} }} }}")
    }

    #[test]
    fn what_only_senders_are_given_needs_their_files() {
        for (outputs, base, classes, is_used) in [
            ("", "lossless", "cnp: { role: other }", false),
            ("outputs: [nic]", "lossless", "cnp: { role: other }", true),
            ("outputs: []", "lossless", "cnp: { role: other }", true),
            ("outputs: [nccl]", "lossless", "cnp: { priority: 7 }", false),
            ("outputs: [nic]", "lossless", "cnp: { priority: 7 }", true),
            ("outputs: [nic]", "lossless", "cts: { role: other }", false),
            ("outputs: [nccl]", "lossless", "cts: { role: other }", true),
            ("outputs: [nic, nccl]", "lossy-trim", "control: { role: other }", false),
            // Same as the default.
            ("", "lossless", "cnp: { role: cnp }", true),
            // The priority of a lossless class, which PFC pauses.
            ("", "lossless", "data: { priority: 4 }", true),
        ] {
            let found = codes(&fabric(outputs, base, classes));
            assert_eq!(!found.contains(&"W0804"), is_used, "{outputs} {base} {classes}: {found:?}");
        }
        assert_eq!(
            message(&fabric("", "lossless", "cnp: { priority: 7 }"), "W0804"),
            "`priority` of class `cnp` has no effect on the tree: `hosts.outputs` has no `nic`"
        );
    }
}
