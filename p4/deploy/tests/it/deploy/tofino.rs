//! Tofino switches, as far as P4Runtime is concerned: targets that accept the P4Info of `fabric_tna` and have no data
//! plane. The chip's program is a file of the site.

use std::collections::BTreeSet;
use std::sync::Arc;

use closc_deploy::{
    Fleet, Plan as PushPlan, SwitchConnections, Tree, drift, open_gate, plan, push, push_plan, silent,
};
use closc_entries::Pipeline;
use closc_runtime::{Info, text};
use closc_tests::shape::{self, Shape};

use crate::deploy::bind::renumber_ids;
use crate::support::{Files, Lab, T0, options, reader, tree_of};

/// A file that looks like the output of a site's compiler.
const CHIP: &[u8] = b"\x0a\x00\x00\x00fabric_tna and what only the chip reads";

fn tofino_tree(routing: &str) -> Files {
    let shape = Shape { groups: 3, ..Shape::SMALL };
    let yaml = format!("routing: {routing}\n{}", shape::tofino_yaml(&shape.yaml()));
    tree_of(&shape::plan(&yaml), |_| {})
}

fn chip_files() -> Files {
    Files::from([("hw/chip.bin".to_owned(), CHIP.to_vec())])
}

fn fleet(lab: &Lab, beside: Files) -> Result<Fleet, String> {
    let tree = Arc::new(Tree::open(reader(lab.files.clone())).expect("the tree is right"));
    Fleet::new(&lab.inventory, &*reader(beside), &tree, |_| true).map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_sets_the_file_of_the_site_and_the_second_sends_nothing() {
    for routing in ["srv6-static", "ecmp-static"] {
        let mut lab = Lab::start(tofino_tree(routing)).await;
        lab.inventory.defaults.device_config = Some("hw/chip.bin".to_owned());
        let fleet = fleet(&lab, chip_files()).expect("they go together");
        let report = push(&fleet, &options(), silent(), open_gate()).await;
        assert!(report.is_good(), "{routing}: {report:#?}");
        assert_eq!(report.omission_notes(), Vec::<String>::new());
        assert!(report.updates().insert > 50, "{:?}", report.updates());
        let wanted = Pipeline::all().iter().find(|one| one.name() == "fabric_tna").expect("it is registered");
        for (name, target) in &lab.targets {
            let set = target.pipeline().expect("it was set");
            assert_eq!(
                (&set.p4_device_config[..], set.p4info.as_ref()),
                (CHIP, Some(wanted.info().message())),
                "{name}"
            );
        }
        let again = push(&fleet, &options(), silent(), open_gate()).await;
        assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
        let found = drift(&fleet, &options(), silent()).await;
        assert!(found.is_clean(), "{}", found.show());
    }
}

/// The board's port map: the first uplinks are in the middle of the panel.
#[test]
fn ports_are_those_of_the_sde() {
    let files = tofino_tree("srv6-static");
    let file = &files[&format!("switches/{T0}/tna.txtpb")];
    let text = std::str::from_utf8(file).expect("text");
    let ports: BTreeSet<u16> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# + ingress.port_role  ingress_port="))
        .map(|rest| rest.split(' ').next().unwrap_or_default().parse().expect("a number"))
        .collect();
    // Cages 1 and 2, 17 and 18.
    assert_eq!(ports, BTreeSet::from([136, 144, 392, 400]));
    assert!(text.contains("# + ingress.nexthop  nexthop_id=129 -> set_nexthop(port=400, "), "{text}");
    assert!(!files.keys().any(|path| path.ends_with(".bmv2.json")));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_file_of_the_site_a_switch_is_refused_by_name() {
    let mut lab = Lab::start(tofino_tree("srv6-static")).await;
    let missing = fleet(&lab, chip_files()).err().expect("no file has the program of the chip");
    assert_eq!(
        missing,
        "inventory: `p0-t0-001`: no tree contains the program of pipeline `fabric_tna`: set `device_config`, the output of the compiler of the switch's SDE, or `keeps_program: true`"
    );
    lab.inventory.defaults.device_config = Some("hw/chip.bin".to_owned());
    assert_eq!(fleet(&lab, Files::new()).err().expect("no such file"), "`hw/chip.bin`: no such file");
    let device = lab.inventory.devices.get_mut(T0).expect("it is there");
    (device.keeps_program, device.device_config) = (true, Some("hw/chip.bin".to_owned()));
    let both = fleet(&lab, chip_files()).err().expect("one or the other");
    assert!(both.ends_with("`device_config` cannot be set with `keeps_program`"), "{both}");
}

/// A switch with a program that another party compiled and set has other ids for the same names.
#[tokio::test(flavor = "multi_thread")]
async fn a_p4info_with_other_numbers_is_bound_by_name() {
    let mut lab = Lab::start(tofino_tree("ecmp-static")).await;
    let own = Pipeline::all().iter().find(|one| one.name() == "fabric_tna").expect("it is registered");
    let other = renumber_ids(own.info().message().clone(), &[]);
    let table = |info: &Info| info.table("ingress.ipv6_route").expect("it is there").preamble.id;
    assert_ne!(table(&Info::new(other.clone()).expect("it holds together")), table(own.info()));
    let mut files = chip_files();
    files.insert("hw/own.p4info.txtpb".to_owned(), text::write(&other).into_bytes());
    for device in lab.inventory.devices.values_mut() {
        let (p4info, device_config) = ("hw/own.p4info.txtpb".to_owned(), "hw/chip.bin".to_owned());
        device.artefacts = Some(closc_deploy::Artefacts { p4info, device_config });
    }
    let bound = fleet(&lab, files).expect("they go together");
    let report = push(&bound, &options(), silent(), open_gate()).await;
    assert!(report.is_good() && report.updates().insert > 50, "{report:#?}");
    for device in lab.inventory.devices.values_mut() {
        (device.artefacts, device.keeps_program) = (None, true);
    }
    let kept = fleet(&lab, Files::new()).expect("nothing is set");
    let again = push(&kept, &options(), silent(), open_gate()).await;
    assert!(again.is_good() && again.updates().total() == 0, "{:?}", again.updates());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saved_plan_carries_the_file_of_the_site() {
    let mut lab = Lab::start(tofino_tree("srv6-static")).await;
    lab.inventory.defaults.device_config = Some("hw/chip.bin".to_owned());
    let fleet = fleet(&lab, chip_files()).expect("they go together");
    let made = plan(&fleet, &options(), silent()).await.expect("it is made");
    let saved = PushPlan::from_json(&made.to_json()).expect("it can be read");
    let report = push_plan(&SwitchConnections::of(&fleet), &saved, &options(), silent(), open_gate()).await;
    let report = report.expect("all have addresses");
    assert!(report.is_good(), "{report:#?}");
    let set = lab.targets[T0].pipeline().expect("it was set");
    assert_eq!(&set.p4_device_config[..], CHIP);
}
