//! Checks of entries: a fabric that needs more than a pipeline supports.
//!
//! In: a plan. Out: diagnostics. Invariants: if few switches have a pipeline, the entries of all of them are
//! rendered. If many do, those of one switch of each kind ([`Plan::kinds`]) are rendered.

use std::collections::BTreeSet;

use closc_diagnostics::{Diagnostic, Diagnostics, Rule};
use closc_plan::{DeviceIntent, Plan};
use closc_topology::{FieldPath, Switch, Topology, field, tier_field};

use crate::error::EntriesError;
use crate::pipeline::Pipeline;

/// Every rule of this crate.
pub static RULES: &[&Rule] = &[&FIT, &PIPELINE];

/// Entries that do not fit a pipeline.
static FIT: Rule = Rule {
    code: "E0908",
    title: "a switch needs more than its P4 pipeline supports",
    condition: "Ports, classes, marking thresholds, routes and next-hop groups of every P4 switch are within \
           the limits of its pipeline. The message contains the limit that is exceeded. Switches with `os: \
           pins` use the pipeline `sai`.",
    impact: "A target rejects the first entry that exceeds a limit, and the switch is then only partly \
           configured. A marking threshold above the largest queue depth of the pipeline has no effect.",
    example: "fabric: deep\nplanes: 1\nhosts: { groups: 2, per_group: 2, nic: { speed: 100G, lanes: 1 } }\n\
              tiers:\n  t0: { platform: bmv2, os: p4, up: 2 }\n  t1: { platform: bmv2, os: p4 }\n\
              cables:\n  nic-t0: { length: 3m, medium: virtual }\n  t0-t1: { length: 30m, medium: virtual }\n\
              # queue depths of the pipeline of `bmv2` end at 4.8 GB\n\
              qos: { base: lossy-trim, classes: { data: { ecn: { thresholds: { min: 1GB, max: 9GB, probability: 5 } } } } }",
    fix: "Make the change in the `help` line of the message, or use another operating system or platform.",
};

/// A pipeline that a platform cannot have.
static PIPELINE: Rule = Rule {
    code: "E0909",
    title: "a P4 pipeline that the platform cannot use",
    condition: "The `pipeline` of a platform is one that closc contains. If it uses the port numbers of the \
           switch, the platform has a port map (`device_ports`).",
    impact: "Entries are made for the tables of a pipeline. With panel positions instead of port numbers, \
           packets would leave by ports other than the cabled ones.",
    example: "# site-tofino is a platform of a site's own: `pipeline: fabric_tna` without `device_ports`\nfabric: pod\nplanes: 1\n\
              qos: none\nhosts: { groups: 16, per_group: 16, nic: { speed: 400G, lanes: 8 } }\n\
              tiers:\n\
              \x20 t0: { platform: site-tofino, os: p4, up: 16 }\n\
              \x20 t1: { platform: site-tofino, os: p4 }",
    fix: "Correct `pipeline`, or add `device_ports` to the panel of the platform.",
};

/// Up to this number of switches, the entries of all are rendered.
const FEW: usize = 256;

/// Checks that the entries of every switch with a pipeline can be rendered.
pub fn check(plan: &Plan, diagnostics: &mut Diagnostics) {
    let topology = plan.topology();
    let programmed = |switch: &Switch| topology.hardware(*switch).1.is_programmed();
    let mut switches: BTreeSet<Switch> = plan.switches().filter(programmed).take(FEW + 1).collect();
    if switches.len() > FEW {
        switches = plan.kinds().into_iter().filter(programmed).collect();
    }
    let mut said = BTreeSet::new();
    for switch in switches {
        if let Some(message) = unusable(topology, switch) {
            if said.insert((switch.tier, message.clone())) {
                let path: FieldPath = tier_field!(switch.tier, "platform").into();
                let mut diagnostic = Diagnostic::error(&PIPELINE, message);
                if let Some(span) = topology.spans.get(path) {
                    diagnostic = diagnostic.at(span, format!("for `{}`", plan.switch_name(switch)));
                }
                diagnostics.push(diagnostic);
            }
            continue;
        }
        let Some(pipeline) = Pipeline::of(plan, switch) else { continue };
        let intent = plan.device(switch);
        if let Err(error) = pipeline.entities(&intent) {
            // Identical switches have the same error: report it once.
            let what = error.to_string().replace(intent.name.as_str(), "");
            if said.insert((switch.tier, what)) {
                diagnostics.push(report(topology, &intent, &error));
            }
        }
    }
}

/// Returns why a switch cannot have the pipeline of its platform.
fn unusable(topology: &Topology, switch: Switch) -> Option<String> {
    let (platform, os) = topology.hardware(switch);
    let name = platform.pipeline(os)?;
    match Pipeline::find(name) {
        None => {
            let known: Vec<_> = Pipeline::all().iter().map(|one| format!("`{}`", one.name())).collect();
            Some(format!(
                "unknown pipeline `{name}` of platform `{}`; expected one of {}",
                platform.id,
                known.join(", ")
            ))
        }
        Some(pipeline) if pipeline.uses_port_map() && platform.panel.device_ports.is_none() => Some(format!(
            "platform `{}` has no port map (`device_ports`), and pipeline `{name}` names ports by it",
            platform.id
        )),
        Some(_) => None,
    }
}

fn report(topology: &Topology, intent: &DeviceIntent<'_>, error: &EntriesError) -> Diagnostic {
    let platform: FieldPath = tier_field!(intent.switch.tier, "platform").into();
    let qos: FieldPath = field!("qos").into();
    let (path, help) = match error {
        EntriesError::Classes { max, .. } => (qos, format!("use a profile of at most {max} classes")),
        EntriesError::Qos { .. } => (
            qos,
            "lower the thresholds, use `computed`, or use a platform whose buffer size is in the catalogue"
                .to_owned(),
        ),
        EntriesError::Ramp { .. } => (
            qos,
            "lower `probability`, or set thresholds that differ by a power of two, counted in cells"
                .to_owned(),
        ),
        EntriesError::Port { max, .. } => (platform, format!("use ports up to {max}")),
        // Each parallel cable has a segment with which the segment lists of NICs may begin.
        EntriesError::Full { excess, .. } if excess.object == "ingress.nic_destination" => (
            field!("tiers.t0.parallel").into(),
            "lower `tiers.t0.parallel`: each of its cables takes an entry".to_owned(),
        ),
        EntriesError::Full { excess, .. } => (
            platform,
            format!("build a smaller fabric, so that {} entries are enough, or use another OS", excess.size),
        ),
        EntriesError::Group { max, .. } => {
            (platform, format!("give the platform `limits.ecmp_width: {max}`, or use another OS"))
        }
        EntriesError::Pipeline { .. } | EntriesError::NoMember { .. } => {
            (platform, "use another OS".to_owned())
        }
    };
    let mut diagnostic = Diagnostic::error(&FIT, error.to_string());
    if let Some(span) = topology.spans.get(path) {
        diagnostic = diagnostic.at(span, format!("`{}` runs `{}`", intent.name, intent.os.keyword()));
    }
    diagnostic.help(help)
}
