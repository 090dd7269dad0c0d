//! The table of carriers covers every file that a tree has for a switch.

use std::collections::{BTreeMap, BTreeSet};

use closc_artefacts::Routing;
use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_compile::Unit;
use closc_platform::Os;
use closc_render::Templates;
use closc_tests::shape::try_plan;

/// A platform, the speed and lanes of its NICs, and a QoS profile that it supports.
const PLATFORMS: [(&str, &str, &str); 5] = [
    ("linux", "speed: 100G", "lossy-trim"),
    ("sonic-vs", "speed: 40G", "lossy-trim"),
    ("bmv2", "speed: 100G", "lossy-trim"),
    ("th5-128x400g", "speed: 400G, lanes: 4", "sonic-ai-lossy"),
    ("spectrum4-sn5600", "speed: 800G, lanes: 8", "lossless"),
];

/// The pipeline of Tofino needs a profile without trimming.
const TOFINO: (&str, &str, &str) = (
    "tofino2-32x400g",
    "speed: 400G, lanes: 8",
    "{ base: sonic-ai-lossy, classes: { data-1: { ecn: { thresholds: { min: 200KB, max: 400KB, probability: 5 } } } } }",
);

fn fabric(os: Os, routing: Routing, (platform, nic, qos): (&str, &str, &str)) -> String {
    let (os, routing) = (os.keyword(), routing.keyword());
    let medium = if nic.contains("lanes") { ["dac", "dr4"] } else { ["virtual"; 2] };
    format!(
        "fabric: f\nplanes: 1\nrouting: {routing}\nhosts: {{ groups: 2, per_group: 2, nic: {{ {nic} }} }}\ntiers:\n  \
         t0: {{ platform: {platform}, os: {os}, up: 2 }}\n  t1: {{ platform: {platform}, os: {os} }}\n\
         addresses: {{ management: 10.64.0.0/14 }}\ncables:\n  nic-t0: {{ length: 2m, medium: {} }}\n  \
         t0-t1: {{ length: 30m, medium: {} }}\nqos: {qos}\n",
        medium[0], medium[1]
    )
}

#[test]
fn every_kind_of_file_of_a_switch_has_an_answer_in_the_table_of_carriers() {
    let mut seen: BTreeMap<SwitchFile, BTreeSet<&str>> = BTreeMap::new();
    let mut rendered = BTreeSet::new();
    let templates = Templates::builtin();
    let routings = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];
    for os in Os::ALL {
        for routing in routings {
            for platform in PLATFORMS.into_iter().chain([TOFINO]) {
                let Ok(plan) = try_plan(&fabric(os, routing, platform)) else { continue };
                let files = plan.switches().map(|switch| Unit::Switch(switch).render(&plan, &templates));
                for file in files.flat_map(|files| files.expect("it is rendered")) {
                    let name = file.path.file_name().expect("a file has a name");
                    let kind = SwitchFile::of_name(name)
                        .unwrap_or_else(|| panic!("`{}` has no row in the table of carriers", file.path));
                    seen.entry(kind).or_default().insert(os.keyword());
                    rendered.insert(os);
                }
            }
        }
    }
    assert_eq!(rendered.into_iter().collect::<Vec<_>>(), Os::ALL, "every operating system is rendered");
    let idle: Vec<&SwitchFile> = SwitchFile::ALL.iter().filter(|file| !seen.contains_key(file)).collect();
    assert!(idle.is_empty(), "rows of files that no tree has: {idle:?}");
    // A play delivers every file of its operating system. Without a play, Ansible does not deliver files.
    for os in Os::ALL.into_iter().filter(|os| !os.is_programmed()) {
        for (file, _) in seen.iter().filter(|(_, of)| of.contains(os.keyword())) {
            assert_eq!(Transport::Ansible.carries(*file), os.has_play(), "{file} of {}", os.keyword());
        }
    }
    // SONiC can configure routing in two files.
    assert!(seen[&SwitchFile::FrrConf].contains("sonic") && seen[&SwitchFile::ConfigDb].contains("sonic"));
}

#[test]
fn the_page_on_provisioning_has_the_table_of_carriers() {
    let page = include_str!("../../../../docs/provisioning.md");
    for file in SwitchFile::ALL {
        let carriers: Vec<String> = file.carriers().iter().map(|carrier| format!("`{carrier}`")).collect();
        let row = format!("| `{file}` | {} |", carriers.join(", "));
        assert!(page.lines().any(|line| line == row), "docs/provisioning.md has no row `{row}`");
    }
}
