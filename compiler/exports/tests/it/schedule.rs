//! Inputs of schedulers: every node at one place of each level, with any absences.

use std::collections::{BTreeMap, BTreeSet};

use closc_exports::schedule::labels::{Keys, KeysError};
use closc_exports::schedule::{Levels, kueue, labels, slurm, topograph};
use closc_exports::{File, Refusal};
use closc_plan::Plan;

/// Two zones of two units of three nodes with two NICs on two rails; a node of one unit is absent.
const ZONES: &str = "\
fabric: zoned
planes: 2
zones: 2
hosts: { groups: 4, per_group: 3, nics_per_node: 2, rails: 2, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 2 }
  t1: { platform: linux, os: linux, up: 4 }
  t2: { platform: linux, os: linux, count: 4 }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
  t1-t2: { length: 1m, medium: virtual }
exceptions:
  absent: [z1-su002-n003]
";

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

fn text(file: &File<'_>) -> String {
    let mut out = Vec::new();
    file.write(&mut out).expect("memory takes everything");
    String::from_utf8(out).expect("text")
}

#[test]
fn slurm_is_given_a_tree_and_blocks_that_no_zone_has_a_rest_of() {
    let plan = plan(ZONES);
    let levels = Levels::of(&plan);
    let tree = text(&slurm::tree(&levels));
    assert!(tree.contains("SwitchName=zone1-unit002 Nodes=z1-su002-n[001-002]\n"), "{tree}");
    assert!(tree.ends_with("SwitchName=zoned Switches=zone[0-1]\n"), "{tree}");
    let block = text(&slurm::block(&levels));
    // The smallest unit has 2 nodes, and a zone 2 units: larger blocks are of 2 units, not of 4.
    assert!(block.ends_with("BlockSizes=2,4\n"), "{block}");
    assert_eq!(block.lines().filter(|line| line.starts_with("BlockName=")).count(), 4);
    let yaml = text(&slurm::yaml(&levels));
    assert!(yaml.contains("    block_sizes:\n      - 2\n      - 4\n    blocks:\n"), "{yaml}");
    assert!(yaml.contains("      - {block: zone0-unit001, nodes: \"z0-su001-n[001-003]\"}\n"), "{yaml}");
}

/// Slurm allocates no job over leaves without a common switch above them.
#[test]
fn with_one_tier_units_are_trees_of_their_own() {
    let plan = plan(
        "fabric: rails\nplanes: 1\nrouting: ecmp-static\nhosts: { groups: 4, per_group: 3, nics_per_node: 2, rails: 2, nic: { speed: \
         100G, lanes: 1 } }\ntiers: { t0: { platform: linux, os: linux } }\ncables: { nic-t0: { length: 1m, medium: virtual } }\n",
    );
    let levels = Levels::of(&plan);
    let tree = text(&slurm::tree(&levels));
    assert!(tree.contains("SwitchName=zone0-unit001 Nodes=su001-n[001-003]\n"), "{tree}");
    assert!(tree.contains("SwitchName=zone0-unit002 ") && !tree.contains(" Switches="), "{tree}");
    let block = text(&slurm::block(&levels));
    assert!(block.ends_with("BlockSizes=3\n"), "{block}");
}

#[test]
fn every_node_is_labelled_once_and_kueue_asks_for_the_same_keys() {
    let plan = plan(ZONES);
    let levels = Levels::of(&plan);
    let text_of = |keys: &Keys| text(&labels::nodes(&levels, keys).expect("three levels"));
    let all = text_of(&Keys::Topograph);
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for line in all.lines().filter(|line| line.contains("/tier-0: ")) {
        *places.entry(line.trim()).or_default() += 1;
    }
    let counts: Vec<usize> = places.values().copied().collect();
    assert_eq!(counts, [3, 3, 3, 2], "{places:?}");
    let names: BTreeSet<&str> = all.lines().filter(|line| line.starts_with("  name: ")).collect();
    assert_eq!(names.len(), plan.nodes().count());
    assert!(all.contains(
        "    fabric.topograph.run/tier-1: \"zone1\"\n    fabric.topograph.run/tier-2: \"zoned\"\n"
    ));
    assert!(text_of(&Keys::Nvidia).contains("    network.topology.nvidia.com/leaf: \"zone0-unit001\"\n"));
    let kueue = text(&kueue::objects(&levels, &Keys::Topograph).expect("three levels"));
    let asked: Vec<&str> =
        kueue.lines().filter_map(|line| line.trim().strip_prefix("- nodeLabel: ")).collect();
    let tier = |tier: u8| format!("fabric.topograph.run/tier-{tier}");
    assert_eq!(asked, [&tier(2), &tier(1), &tier(0), "kubernetes.io/hostname"]);
    assert!(
        kueue.contains(
            "  nodeLabels:\n    fabric.topograph.run/tier-2: \"zoned\"\n  topologyName: \"zoned\"\n"
        )
    );
    assert_eq!("a,a".parse::<Keys>(), Err(KeysError::Twice("a".to_owned())));
    let two: Keys = "a,b".parse().expect("two keys");
    let refused = kueue::objects(&levels, &two).err().map(|refusal: Refusal| refusal.to_string());
    let refused = refused.expect("three levels need three keys");
    assert!(refused.contains("are 2 keys for 3 levels: unit, zone, fabric"), "{refused}");
}

#[test]
fn topograph_has_a_parent_for_each_switch_and_a_block_for_each_unit() {
    let plan = plan(ZONES);
    let levels = Levels::of(&plan);
    let model = text(&topograph::model(&levels));
    assert!(model.contains("    switches: [\"zone0\", \"zone1\"]\n"), "{model}");
    assert!(
        model.contains("  - switch: \"zone1-unit002\"\n    nodes: [\"z1-su002-n[001-002]\"]\n"),
        "{model}"
    );
    assert_eq!(model.matches("- switch: ").count(), 4);
}

#[test]
fn a_fabric_that_is_called_like_a_zone_is_another_switch() {
    let plan = plan(&ZONES.replace("fabric: zoned", "fabric: zone1"));
    let levels = Levels::of(&plan);
    let tree = text(&slurm::tree(&levels));
    assert!(tree.ends_with("SwitchName=zone1-fabric Switches=zone[0-1]\n"), "{tree}");
}
