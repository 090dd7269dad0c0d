//! V0105: switch settings that affect forwarding. They are compared with fixed values, not with the majority.

use crate::finding::{Findings, Violation};
use crate::model::fabric::Fabric;
use crate::model::fact::FactKind;
use crate::model::switch::Switch;
use crate::read::sonic::metadata::MEANT;
use crate::rules::files::SETTINGS;

/// Fields that distinguish flows. RoCE has its entropy in the UDP source port.
const HASHED: [&str; 3] = ["SRC_IP", "DST_IP", "L4_SRC_PORT"];

/// The setting that lists these fields.
const HASH: &str = "ecmp_hash";

/// Hash fields of SONiC (`sonic-hash.yang`): orchagent rejects a hash if a single field of it is not listed here.
const HASH_FIELDS: [&str; 19] = [
    "IN_PORT",
    "DST_MAC",
    "SRC_MAC",
    "ETHERTYPE",
    "VLAN_ID",
    "IP_PROTOCOL",
    "DST_IP",
    "SRC_IP",
    "L4_DST_PORT",
    "L4_SRC_PORT",
    "INNER_DST_MAC",
    "INNER_SRC_MAC",
    "INNER_ETHERTYPE",
    "INNER_IP_PROTOCOL",
    "INNER_DST_IP",
    "INNER_SRC_IP",
    "INNER_L4_DST_PORT",
    "INNER_L4_SRC_PORT",
    "IPV6_FLOW_LABEL",
];

/// Checks the settings of all switches whose language has them.
pub(crate) fn check(fabric: &Fabric, findings: &mut Findings) {
    let chooses = fabric.layout.is_none();
    let speaks = fabric.switches.iter().flatten().any(|switch| switch.speaker.is_some());
    for id in fabric.cabling.switch_ids() {
        let Some(switch) = fabric.switch(id).filter(|switch| switch.language.states_peers) else { continue };
        findings.count_facts(&SETTINGS, 1);
        for (name, message) in faults(switch, chooses, speaks) {
            let message = format!("`{}`: {message}", fabric.cabling.switch(id));
            findings.report(Violation::new(&SETTINGS, fabric.place(id, FactKind::Global(name)), message));
        }
    }
}

/// Returns wrong settings by name, each with a message.
fn faults(switch: &Switch, chooses: bool, speaks: bool) -> Vec<(&'static str, String)> {
    let setting =
        |name: &str| switch.settings.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
    let mut faults = Vec::new();
    // Without these settings, SONiC does not detect its hardware, or generates its own address.
    for (name, there) in [
        ("hwsku", switch.hardware.is_some()),
        ("platform", switch.platform.is_some()),
        ("mac", switch.mac.is_some()),
        ("type", switch.kind.is_some()),
    ] {
        if !there {
            faults.push((name, format!("`{name}` is not set")));
        }
    }
    // See docker_init.sh of SONiC's FRR: any other value generates a different `frr.conf`, or none.
    let modes: &[Option<&str>] = if speaks {
        &[Some("split"), Some("split-unified")]
    } else {
        &[None, Some("separated"), Some("unified")]
    };
    let mut expect = |name: &'static str, meant: &[Option<&str>]| {
        if !meant.contains(&setting(name)) {
            let words: Vec<&str> = meant.iter().map(|word| word.unwrap_or("nothing")).collect();
            let found = setting(name).unwrap_or("not set");
            faults.push((name, format!("`{name}` is {found}; expected {}", words.join(" or "))));
        }
    };
    expect("docker_routing_config_mode", modes);
    for (name, meant) in MEANT {
        expect(name, meant);
    }
    let hashed = setting(HASH).unwrap_or_default();
    let lacks = HASHED.iter().find(|field| !hashed.split(',').any(|other| other == **field));
    if let Some(field) = lacks.filter(|_| chooses) {
        faults.push((HASH, format!("hashes `{hashed}`, without {field}")));
    }
    let mut fields = hashed.split(',').filter(|field| !field.is_empty());
    if let Some(field) = fields.find(|field| !HASH_FIELDS.contains(field)) {
        faults.push((HASH, format!("hashes `{hashed}`, but SONiC has no `{field}`")));
    }
    faults
}
