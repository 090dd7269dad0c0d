//! Switches of a tree that are not pushed to are counted, with advice.

use std::sync::Arc;

use closc_deploy::{Fleet, Inventory, SonicOptions, Tree, WatchOptions, drift, plan, push, silent, watch};

use crate::support::{Files, Lab, T0, add_manifest, options, reader, small_tree};

/// A tree of two P4 switches, one of SONiC, two of FRR and one of EOS.
fn mixed_tree() -> Files {
    let mut files = small_tree(1, 1, 1);
    for (name, file) in [
        ("p0-t0-002", "config_db.json"),
        ("p0-t0-003", "frr.conf"),
        ("p0-t0-003", "ip.batch"),
        ("p0-t0-004", "frr.conf"),
        ("p0-t0-005", "eos.conf"),
    ] {
        files.insert(format!("switches/{name}/{file}"), b"{}".to_vec());
    }
    add_manifest(&mut files);
    files
}

fn fleet(lab: &Lab, inventory: &Inventory, select: impl Fn(&str) -> bool + Copy) -> Fleet {
    let tree = Arc::new(Tree::open(reader(lab.files.clone())).expect("the tree is right"));
    let files = reader(Files::new());
    let fleet = Fleet::new(inventory, &*files, &tree, select).expect("they go together");
    let fleet = fleet.with_sonic(inventory, &*files, &tree, SonicOptions::default(), select);
    fleet.expect("they go together").with_left_alone(inventory, &tree, |os| format!("do {os}"), select)
}

fn lines(fleet: &Fleet) -> Vec<String> {
    fleet.skipped_switches.iter().map(closc_deploy::SkippedSwitches::line).collect()
}

#[tokio::test]
async fn they_are_in_every_report() {
    let lab = Lab::start(mixed_tree()).await;
    let fleet = fleet(&lab, &lab.inventory, |_| true);
    let rest = "skipped (first:";
    assert_eq!(
        lines(&fleet),
        [
            format!("1 switch runs `eos` and is {rest} `p0-t0-005` with `eos.conf`): do eos"),
            format!("2 switches run `frr` and are {rest} `p0-t0-003` with `frr.conf`, `ip.batch`): do frr"),
            format!(
                "1 switch runs `sonic` and is {rest} `p0-t0-002` with `config_db.json`): add a rule under `sonic` to the inventory"
            ),
        ]
    );
    let json = serde_json::to_value(&fleet.skipped_switches).expect("JSON");
    assert_eq!(json[1]["os"], "frr");
    assert_eq!(json[1]["switches"], 2);
    let preview = plan(&fleet, &options(), silent()).await.expect("they answer").preview();
    assert_eq!(serde_json::to_value(preview).expect("JSON")["left_alone"], json);
    let pushed = push(&fleet, &options(), silent(), closc_deploy::open_gate()).await;
    assert!(pushed.is_good());
    assert_eq!(serde_json::to_value(pushed).expect("JSON")["left-alone"], json);
    let found = drift(&fleet, &options(), silent()).await;
    assert!(found.is_clean());
    assert_eq!(serde_json::to_value(found).expect("JSON")["left-alone"], json);
    let status =
        watch(&fleet, WatchOptions::default(), silent(), async {}).await.expect("the watch opens no port");
    assert_eq!(serde_json::to_value(status).expect("JSON")["left-alone"], json);
}

#[tokio::test]
async fn what_is_not_selected_is_not_counted() {
    let lab = Lab::start(mixed_tree()).await;
    assert_eq!(lines(&fleet(&lab, &lab.inventory, |name| name == T0)), [""; 0]);
    let rules = "devices: {}\nsonic:\n- { devices: 'p0-*', transport: sonic-ssh, address: '{name}' }\n";
    let mut inventory = Inventory::parse(rules).expect("right");
    inventory.devices.clone_from(&lab.inventory.devices);
    let said = lines(&fleet(&lab, &inventory, |_| true));
    assert!(said.len() == 2 && said.iter().all(|line| !line.contains("`sonic`")), "{said:?}");
}
