//! W0903: settings of agents are generated where no agent can run.

use closc_artefacts::Routing;
use closc_diagnostics::{Diagnostic, Diagnostics, Rule};

use crate::checks::or_routing;
use crate::choice::HostOutput;
use crate::draft::Draft;

/// Settings of agents are generated where no agent can run.
pub(crate) static RULE: Rule = Rule {
    code: "W0903",
    title: "`agent` in `hosts.outputs` has no effect",
    condition: "`hosts.outputs` has `agent` only with `routing: srv6-static`.",
    impact: "`closc-nic` reads the path of every packet from a path table. With other routing modes switches \
           choose the path and there are no path tables, so no agent settings are written.",
    example: "{ routing: ecmp-static, hosts: { outputs: [agent] } }",
    fix: "Remove `agent`, or set `routing: srv6-static`.",
};

/// Checks that agents have a path table to read.
pub(crate) fn check(draft: &Draft<'_>, out: &mut Diagnostics) {
    let outputs = draft.doc.hosts.outputs.iter().flatten();
    let Some(agent) = outputs.into_iter().find(|output| output.value == HostOutput::Agent) else { return };
    if draft.routing.is_source_routed() {
        return;
    }
    out.push(
        Diagnostic::warning(&RULE, "agents have no effect: this routing mode has no path tables")
            .at(agent.span, "")
            .help(or_routing("remove `agent`", "set ", draft, &[Routing::Srv6Static])),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::codes;

    #[test]
    fn agents_need_path_tables() {
        assert!(codes(RULE.example).contains(&"W0903"), "{:?}", codes(RULE.example));
        assert!(!codes("hosts: { outputs: [agent] }").contains(&"W0903"));
    }
}
