//! `closc import`: exported fabrics are restored, and networks with other names are recognised.

use crate::common::{Place, small_fabric};

/// Fabrics that are small enough for an import in a debug build.
const FABRICS: &[&str] = &[
    "topologies/examples/exceptions.yaml",
    "topologies/examples/parallel-links.yaml",
    "topologies/examples/sixteen-planes.yaml",
    "topologies/examples/three-tiers.yaml",
    "topologies/examples/two-generations.yaml",
    "topologies/lab/bgp-unnumbered.yaml",
    "topologies/lab/eight-planes.yaml",
    "topologies/lab/eight-planes-blocks-p4.yaml",
    "topologies/lab/two-planes-p4.yaml",
    "topologies/reference/meta-ai-zone.yaml",
    "topologies/reference/roce-pfc-ecn.yaml",
];

/// The point-to-point lists that `closc export cables` wrote.
fn lists(place: &Place, folder: &str) -> Vec<String> {
    let is_list = |name: &String| name.starts_with("point-to-point");
    let cables = std::fs::read_dir(place.path(&format!("{folder}/cables"))).expect("it was written");
    let names =
        cables.map(|entry| entry.expect("it is ours").file_name().into_string().expect("plain names"));
    let mut found: Vec<String> =
        names.filter(is_list).map(|name| format!("{folder}/cables/{name}")).collect();
    found.sort();
    found
}

#[test]
fn exported_fabrics_come_back() {
    let place = Place::new();
    for fabric in FABRICS {
        let name = fabric.rsplit('/').next().and_then(|file| file.strip_suffix(".yaml")).expect("a file");
        let (before, after, file) =
            (format!("{name}.before"), format!("{name}.after"), format!("{name}.yaml"));
        place.ends(0, &["export", "cables", fabric, "--out", &before]);
        let files = lists(&place, &before);
        let mut words = vec!["import", "--out", &file, "--name", name];
        words.extend(files.iter().map(String::as_str));
        place.ends(0, &words);
        place.ends(0, &["export", "cables", &file, "--out", &after]);
        for list in files {
            let again = list.replacen(".before", ".after", 1);
            assert_eq!(place.read(&list), place.read(&again), "{fabric}: {}", place.read(&file));
        }
    }
}

const LAB: &str = "\
name: dc
topology:
  nodes:
    spine1: { kind: sonic-vs }
    spine2: { kind: sonic-vs }
    leaf1: { kind: sonic-vs }
    leaf2: { kind: sonic-vs }
    client1: { kind: linux }
    client2: { kind: linux }
    client3: { kind: linux }
  links:
    - endpoints: [\"leaf1:eth1\", \"client1:eth1\"]
    - endpoints: [\"leaf1:eth2\", \"client2:eth1\"]
    - endpoints: [\"leaf2:eth1\", \"client3:eth1\"]
    - endpoints: [\"leaf1:eth49\", \"spine1:eth1\"]
    - endpoints: [\"leaf1:eth50\", \"spine2:eth1\"]
    - type: veth
      endpoints:
        - { node: leaf2, interface: eth49 }
        - { node: spine1, interface: eth2 }
    - endpoints: [\"leaf2:eth50\", \"spine2:eth2\"]
    - endpoints: [\"leaf1:eth60\", \"host:veth0\"]
";

/// Names of switches become a pattern, and names of nodes become a map. The link to the host is omitted with a
/// message.
#[test]
fn a_lab_of_others_is_found() {
    let place = Place::new();
    place.write("lab.clab.yml", LAB);
    let why = place.ends(1, &["import", "lab.clab.yml", "--out", "lab.yaml"]);
    assert!(why.contains("`--map FILE` writes old and new names"), "{why}");
    let said = place.ends(0, &["import", "lab.clab.yml", "--out", "lab.yaml", "--map", "map.csv"]);
    assert!(said.contains("7 of 7 cables") && said.contains("omitted: 1 link "), "{said}");
    let file = place.read("lab.yaml");
    assert!(file.contains("t0: \"leaf{index}\"") && file.contains("t1: \"spine{index}\""), "{file}");
    assert!(file.contains("up: { count: 2, first_cage: 48 }"), "{file}");
    let map = place.read("map.csv");
    assert!(map.contains("\nclient3,,su002-n001,\nclient3,eth1,su002-n001,nic0p0\n"), "{map}");
    place.ends(0, &["check", "lab.yaml"]);
    assert!(
        place
            .ends(1, &["import", "lab.clab.yml", "--out", "lab.yaml"])
            .contains("exists: name another file, or replace it with `--force`")
    );
}

const NETBOX: &str = "\
Device A,Termination A,Device B,Termination B,Status,Length
SW_1,Ethernet1/1,box-1,eth0,Connected,3.00 m
SW_1,Ethernet2/1,box-2,eth0,Connected,3 m
SW_2,Ethernet1/1,box-3,eth0,Connected,3 m
SW_2,Ethernet2/1,box-4,eth0,Connected,
SW_1,Ethernet33/1,SW_3,Ethernet1/1,Connected,30 m
SW_1,Ethernet34/1,SW_4,Ethernet1/1,Connected,30 m
SW_2,Ethernet33/1,SW_3,Ethernet2/1,Connected,30 m
SW_2,Ethernet34/1,SW_4,Ethernet2/1,Connected,30 m
";

/// Roles come from NetBox's list of devices, or the command line names the nodes.
#[test]
fn tables_of_netbox_are_read() {
    let place = Place::new();
    place.write("cables.csv", NETBOX);
    place.write("devices.csv", "name,role\nSW_1,Leaf\nSW_2,Leaf\nSW_3,Spine\nSW_4,Spine\n");
    for (number, more) in [["devices.csv"].as_slice(), &["--nodes", "box-*"]].into_iter().enumerate() {
        let (file, map) = (format!("{number}.yaml"), format!("{number}.csv"));
        let words = [&["import", "cables.csv", "--out", &file, "--map", &map], more].concat();
        place.ends(0, &words);
        let map = place.read(&map);
        assert!(map.contains("SW_2,,p0-t0-002,\n") && map.contains("SW_4,,p0-t1-002,\n"), "{map}");
        assert!(!map.contains("Ethernet"), "ports of switches are where the file has them: {map}");
    }
    assert_eq!(place.read("0.yaml"), place.read("1.yaml"));
}

/// In LLDP reports, a cable that both ends report counts once.
#[test]
fn an_existing_network_is_read_by_lldp() {
    let place = Place::new();
    place.ends(0, &["export", "cables", "topologies/lab/two-planes.yaml", "--out", "lists"]);
    let mut blocks = std::collections::BTreeMap::<String, String>::new();
    for list in lists(&place, "lists") {
        for line in place.read(&list).lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            for (own, far) in
                [((cells[2], cells[3]), (cells[8], cells[9])), ((cells[8], cells[9]), (cells[2], cells[3]))]
            {
                let block = format!(
                    "Interface: {}, via: LLDP\n  SysName: {}.dc1\n  PortID: ifname {}\n",
                    own.1, far.0, far.1
                );
                blocks.entry(own.0.to_owned()).or_default().push_str(&block);
            }
        }
    }
    std::fs::create_dir(place.path("lldp")).expect("the folder is ours");
    for (device, text) in &blocks {
        place.write(&format!("lldp/{device}.txt"), text);
    }
    let said = place.ends(0, &["import", "lldp", "--out", "living.yaml"]);
    assert!(said.contains("16 of 16 cables match, 0 more absent; 0 names changed"), "{said}");
}

/// Two cables are swapped, and one is missing. The file marks the missing one as absent, and the report lists the
/// swap with both lines.
#[test]
fn what_is_plugged_wrong_is_said() {
    let place = Place::new();
    place.ends(0, &["export", "cables", "topologies/lab/two-planes.yaml", "--out", "lists"]);
    let text = place.read("lists/cables/point-to-point-0.csv");
    let mut rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let between: Vec<usize> = (1..rows.len()).filter(|row| rows[*row][1] == "t0-t1").collect();
    let (first, second) = (between[0], between[1]);
    let far = rows[first][8..10].to_vec();
    let other = rows[second][8..10].to_vec();
    rows[first].splice(8..10, other);
    rows[second].splice(8..10, far);
    rows.pop();
    let text: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    place.write("plane-0.csv", text.join("\n"));
    let words = ["import", "plane-0.csv", "lists/cables/point-to-point-1.csv", "--out", "found.yaml"];
    let said = place.ends(2, &words);
    assert!(
        said.contains("swapped: p0-t0-001--p0-t1-001") && said.contains("p0-t0-001--p0-t1-002"),
        "{said}"
    );
    assert!(said.contains(&format!("plane-0.csv:{}: ", first + 1)), "{said}");
    assert!(place.read("found.yaml").contains("  absent:\n    - \"p0-t0-002--p0-t1-002\"\n"));
}

/// Devices and ports at both ends, without the columns that containerlab topologies lack.
fn ends_of(place: &Place, folder: &str) -> Vec<String> {
    let rows = |list: &String| -> Vec<String> {
        let text = place.read(list);
        let row = |line: &str| -> Vec<String> { line.split(',').map(str::to_owned).collect() };
        let titles = row(text.lines().next().unwrap_or_default());
        let columns = ["a_device", "a_port", "b_device", "b_port"]
            .map(|title| titles.iter().position(|other| other == title).expect("the column is there"));
        text.lines().skip(1).map(|line| columns.map(|column| row(line)[column].clone()).join(",")).collect()
    };
    lists(place, folder).iter().flat_map(rows).collect()
}

/// A topology of `export containerlab` is imported with the same cables.
#[test]
fn labs_of_containers_come_back() {
    let place = Place::new();
    for name in ["bgp-unnumbered", "two-planes", "eight-planes"] {
        let (fabric, file) = (format!("topologies/lab/{name}.yaml"), format!("{name}.yaml"));
        let (lab, before, after) = (format!("{name}.lab"), format!("{name}.before"), format!("{name}.after"));
        place.ends(0, &["export", "containerlab", &fabric, "--out", &lab, "--quiet"]);
        let topology = format!("{lab}/{name}.clab.yml");
        place.ends(0, &["import", &topology, "--out", &file, "--name", name]);
        place.ends(0, &["export", "cables", &fabric, "--out", &before, "--quiet"]);
        place.ends(0, &["export", "cables", &file, "--out", &after, "--quiet"]);
        let cables = ends_of(&place, &before);
        assert!(!cables.is_empty() && cables == ends_of(&place, &after), "{name}: {}", place.read(&file));
    }
}

/// Drained planes, switches and cables are imported, so the new tree has the same cable lists.
#[test]
fn drained_cables_of_a_tree_come_back() {
    let place = Place::new();
    let fabric = place.read("topologies/lab/two-planes.yaml");
    for (number, drained) in [
        "\"p0-t1-002\"",
        "\"plane 1\"",
        "\"p0-t0-001--p0-t1-002\", \"su002-n001/nic0.p1\"",
        "\"plane 0\", \"p1-t0-001\", \"p1-t0-002--p1-t1-001\"",
    ]
    .into_iter()
    .enumerate()
    {
        let [own, tree, again, file] =
            ["own.yaml", "tree", "again", "yaml"].map(|word| format!("{number}.{word}"));
        place.write(&own, format!("{fabric}exceptions: {{ drained: [{drained}] }}\n"));
        place.ends(0, &["compile", &own, "--out", &tree, "--quiet"]);
        let cables = [0, 1].map(|plane| format!("{tree}/cables/plane-{plane}.csv"));
        place.ends(0, &["import", &cables[0], &cables[1], "--out", &file, "--name", "two-planes"]);
        place.ends(0, &["compile", &file, "--out", &again, "--quiet"]);
        let found = place.read(&file);
        for name in drained.split(", ") {
            assert!(found.contains(&format!("    - {name}\n")), "{drained}: {found}");
        }
        for list in cables {
            let text = place.read(&list);
            assert_eq!(text, place.read(&list.replace(".tree", ".again")), "{drained}: {found}");
        }
    }
    let list = "0.tree/cables/plane-0.csv";
    place.write("odd.csv", place.read(list).replacen(",drained\n", ",half\n", 1));
    let said = place.ends(1, &["import", "odd.csv", "--out", "odd.yaml"]);
    assert!(said.contains("unknown state `half`: expected `up`, `drained` or `isolated`"), "{said}");
}

/// Isolated cables are imported into a list of their own.
#[test]
fn isolated_cables_of_a_tree_come_back() {
    let place = Place::new();
    let fabric = small_fabric("isolated", 2, "spectrum4-sn5600-256x100g", "sonic");
    let names = ["su002-n001/nic0.p1", "p0-t0-001--p0-t1-002"];
    let lists = format!("exceptions: {{ drained: [p1-t1-001], isolated: [{}] }}\n", names.join(", "));
    place.write("own.yaml", format!("{fabric}{lists}"));
    place.ends(0, &["compile", "own.yaml", "--out", "tree", "--quiet"]);
    let cables = [0, 1].map(|plane| format!("tree/cables/plane-{plane}.csv"));
    assert!(cables.iter().all(|list| place.read(list).contains(",isolated\n")));
    place.ends(0, &["import", &cables[0], &cables[1], "--out", "found.yaml", "--name", "isolated"]);
    let found = place.read("found.yaml");
    let expected =
        format!("  drained:\n    - \"p1-t1-001\"\n  isolated:\n    - \"{}\"\n", names.join("\"\n    - \""));
    assert!(found.contains(&expected), "{found}");
    place.ends(0, &["compile", "found.yaml", "--out", "again", "--quiet"]);
    for list in cables {
        assert_eq!(place.read(&list), place.read(&list.replace("tree", "again")));
    }
}

/// Cable types of NetBox map to media. For an ambiguous type, a message names the assumed medium.
#[test]
fn types_of_netbox_become_media() {
    let place = Place::new();
    let mut rows = NETBOX.lines();
    let mut typed = format!("{},Type\n", rows.next().expect("titles"));
    for row in rows {
        let kind = if row.contains("box-1") {
            "CAT6a"
        } else if row.contains("box") {
            "Direct Attach Copper (Passive)"
        } else {
            "Single-mode Fiber (OS2)"
        };
        typed.extend([row, ",", kind, "\n"]);
    }
    place.write("cables.csv", typed);
    let words = ["import", "cables.csv", "--out", "found.yaml", "--map", "map.csv", "--nodes", "box-*"];
    let said = place.ends(0, &words);
    let glass = "cables.csv:6: the type `Single-mode Fiber (OS2)` can mean several media; `dr` is assumed from the \
                 length for 4 cables";
    let other = "cables.csv:2: the type `CAT6a` is not a medium; the default is assumed for 1 cable";
    assert!(said.contains(glass) && said.contains(other), "{said}");
    let file = place.read("found.yaml");
    assert!(file.contains("nic-t0: { length: 3m, medium: dac }"), "{file}");
    assert!(file.contains("t0-t1: { length: 30m, medium: dr }"), "{file}");
}

#[test]
fn networks_other_than_a_clos_are_refused_with_a_place() {
    let place = Place::new();
    let titles = "a_device,a_port,b_device,b_port";
    for (rows, why) in [
        ("a,1,a,2", "cables.csv:2: `a` is cabled to itself"),
        (
            "node1,1,leaf1,1\nnode2,1,leaf1,1",
            "cables.csv:3: `leaf1` port `1` has a cable already, at cables.csv:2",
        ),
        (
            "node1,1,leaf1,1\nleaf1,2,spine1,1\nspine1,2,spine2,2",
            "cables.csv:4: not a Clos: `spine1` is a T1, and `spine2` is a T1; expected cables between \
             neighbouring tiers; devices by tier: 1 node (`node1`), 1 T0 (`leaf1`), 2 T1s (`spine1`, \
             `spine2`)",
        ),
        (
            "node1,1,leaf1,1\nleaf1,2,spine1,1\nnode1,2,spine1,2",
            "cables.csv:4: not a Clos: `node1` is a node, and `spine1` is a T1",
        ),
        ("r1,1,r2,1\nr2,2,r3,1\nr3,2,r1,2", "the tier of `r1` is unknown; devices by tier: "),
        ("leaf1,1,spine1,1", "not a Clos: no device is a node, expected nodes, T0s and T1s"),
        (
            "p0-t0-001,eth1,p0-t1-001,eth1",
            "no device is a node, expected nodes, T0s and T1s; devices by tier: 1 T0",
        ),
        (
            "x,1,y,1",
            "the tier of `x` is unknown; devices by tier: 2 other devices (`x`, `y`); help: set `--nodes",
        ),
        ("leaf1,2,spine1", "cables.csv:2: the line has 3 columns: expected 4, as in the header"),
        ("leaf1,,spine1,2", "cables.csv:2: the name of a port is empty"),
        ("", "the files and reports contain no cables"),
    ] {
        place.write("cables.csv", format!("{titles}\n{rows}\n"));
        let said = place.ends(1, &["import", "cables.csv", "--out", "no.yaml"]);
        assert!(said.contains(why), "{rows}: {said}");
    }
    let two = "kind,a_device,a_port,b_device,b_port\nnic-t0,n,1,x,1\nt0-t1,x,2,y,1\nt1-t2,x,3,z,1\n";
    place.write("cables.csv", two);
    let said = place.ends(1, &["import", "cables.csv", "--out", "no.yaml"]);
    assert!(said.contains("cables.csv:4: `x` is a T1 here and a T0 at cables.csv:2"), "{said}");
    place.write("bad.clab.yml", "topology:\n  nodes: {}\n  links:\n    - endpoints: [\"a:1\", \"b:1\"]\n");
    assert!(
        place
            .ends(1, &["import", "bad.clab.yml", "--out", "no.yaml"])
            .contains("bad.clab.yml:4: `topology.nodes` has no `a`")
    );
    let far = "p0-t0-001,eth501,p0-t1-001,eth1\nsu001-n001,nic0p0,p0-t0-001,eth1\nsu60000-n60000,nic0p0,p15-t0-60000,eth2\n";
    place.write("cables.csv", format!("{titles}\n{far}"));
    let said = place.ends(1, &["import", "cables.csv", "--out", "no.yaml"]);
    assert!(said.contains("names and ports imply 57600960000 cables, but the lists have 3"), "{said}");
    assert!(!place.path("no.yaml").exists());
}

/// A table with other columns is not accepted as a list, and the message shows which columns it has or lacks.
#[test]
fn tables_with_other_columns_are_refused() {
    let place = Place::new();
    for (text, why) in [
        (
            "x,y\n1,2\n",
            "cables.csv:1: the columns `x`, `y` are not those of a list of cables or devices; help: ",
        ),
        (
            "a_device,a_port,b_device\nx,1,y\n",
            "cables.csv:1: the header has no column `b_port`: a list of cables has",
        ),
        (
            "name,model\nx,y\n",
            "cables.csv:1: the header has no column `role`: a list of devices has the columns `name,role`",
        ),
        ("", "cables.csv:1: the file is empty: expected a list of cables or devices with a header line"),
    ] {
        place.write("cables.csv", text);
        let said = place.ends(1, &["import", "cables.csv", "--out", "no.yaml"]);
        assert!(said.contains(why), "{text}: {said}");
    }
}

/// If no platform or fabric fits the options and names, the message names them and the change to make.
#[test]
fn reasons_name_the_options_and_names_that_do_not_fit() {
    let place = Place::new();
    place.ends(0, &["export", "cables", "topologies/lab/bgp-unnumbered.yaml", "--out", "lists"]);
    let list = place.read("lists/cables/point-to-point-0.csv");
    let import = |more: &[&str]| {
        let words = [&["import", "cables.csv", "--out", "no.yaml", "--map", "map.csv"], more].concat();
        place.ends(1, &words)
    };
    place.write("cables.csv", &list);
    let said = import(&["--os", "nvue"]);
    assert!(
        said.contains("no platform has the ports of a T0 such as `")
            && said.contains("and fits `--os nvue`; help: omit"),
        "{said}"
    );
    let said = import(&["--platform", "t0=th3-32x400g"]);
    assert!(
        said.contains("uplinks of a T0 have 400G as `th3-32x400g`, and downlinks of a T1 have 100G as"),
        "{said}"
    );
    // Numbers in names determine the counts. Only errors of the file are printed, because it is not written.
    place.write("cables.csv", list.replace("p0-", "p20-"));
    let said = import(&[]);
    assert!(said.contains("closc counts devices by the numbers in their names; help: "), "{said}");
    assert!(said.contains("error[E0301]: the fabric has 21 planes") && !said.contains("warning["), "{said}");
}

/// A list with cables of a fabric can also contain power and console cables, and planned or decommissioned ones.
#[test]
fn types_of_ends_and_states_of_netbox_count() {
    let place = Place::new();
    let titles = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name,status";
    let cables = [
        ("leaf1", "Ethernet1/1", "node1", "eth0"),
        ("leaf2", "Ethernet1/1", "node2", "eth0"),
        ("leaf1", "Ethernet33/1", "spine1", "Ethernet1/1"),
        ("leaf2", "Ethernet33/1", "spine1", "Ethernet2/1"),
    ];
    let rows = |state: &str| -> String {
        let row = |(a, a_port, b, b_port): (&str, &str, &str, &str)| {
            format!("{a},dcim.interface,{a_port},{b},dcim.interface,{b_port},{state}\n")
        };
        cables.map(row).concat()
    };
    let power = "leaf1,dcim.powerport,PSU0,pdu1,dcim.poweroutlet,1,connected\n";
    let import = |name: &str, text: String, code: i32| {
        place.write("cables.csv", text);
        let [file, map] = ["yaml", "csv"].map(|ending| format!("{name}.{ending}"));
        let said =
            place.ends(code, &["import", "cables.csv", "--out", &file, "--map", &map, "--name", "pod"]);
        (said, if code == 1 { String::new() } else { place.read(&file) })
    };
    let (said, plain) = import("plain", format!("{titles}\n{}", rows("connected")), 0);
    assert!(said.contains("5 devices; 4 of 4 cables"), "{said}");
    let (said, file) = import("power", format!("{titles}\n{}{power}", rows("connected")), 0);
    assert!(said.contains("cables.csv:6: 1 cable skipped: power"), "{said}");
    assert_eq!(file, plain, "a power outlet is not a T1");
    let (_, file) = import("all-planned", format!("{titles}\n{}", rows("planned")), 0);
    assert_eq!(file, plain, "a network to be built");
    let late = "leaf2,dcim.interface,Ethernet34/1,spine2,dcim.interface,Ethernet2/1,planned\n";
    let (said, file) = import("planned", format!("{titles}\n{}{late}", rows("Connected")), 0);
    assert!(said.contains("cables.csv:6: 1 cable skipped: planned, while others are connected"), "{said}");
    assert_eq!(file, plain, "what is planned is not there");
    let going = rows("connected").replacen(
        "spine1,dcim.interface,Ethernet1/1,connected",
        "spine1,dcim.interface,Ethernet1/1,decommissioning",
        1,
    );
    let (_, file) = import("going", format!("{titles}\n{going}"), 0);
    assert!(file.contains("  drained:\n    - \"leaf1--spine1\"\n"), "{file}");
    let (said, _) = import("odd", format!("{titles}\n{}", rows("broken")), 1);
    assert!(
        said.contains("unknown status `broken`: expected `connected`, `planned` or `decommissioning`"),
        "{said}"
    );
    let (said, _) = import(
        "panel",
        format!("{titles}\n{}", rows("connected").replacen("dcim.interface", "dcim.frontport", 1)),
        1,
    );
    assert!(said.contains("cables.csv:2: `dcim.frontport` is a port of a patch panel"), "{said}");
}

/// closc's own names keep their positions despite a management network in the list. A copper cable to that network is
/// omitted; a cable whose type does not show this is rejected.
#[test]
fn devices_beside_the_fabric_move_no_switch() {
    let place = Place::new();
    place.ends(0, &["export", "cables", "topologies/lab/two-planes.yaml", "--out", "lists", "--quiet"]);
    let lists = [0, 1].map(|plane| place.read(&format!("lists/cables/netbox-{plane}.csv")));
    let titles = lists[0].lines().next().expect("titles");
    let rows = |state: &str| -> String {
        let all = lists.concat().replace(",planned,", &format!(",{state},"));
        let kept = all.lines().filter(|line| *line != titles);
        std::iter::once(titles).chain(kept).flat_map(|line| [line, "\n"]).collect()
    };
    let beside = |port: &str, far: &str, kind: &str| {
        let row = |title| match title {
            "side_a_device" => "su001-n001",
            "side_a_name" => port,
            "side_b_device" => far,
            "side_b_name" => "1",
            "side_a_type" | "side_b_type" => "dcim.interface",
            "type" => kind,
            "status" => "connected",
            _ => "",
        };
        format!("{}\n", titles.split(',').map(row).collect::<Vec<_>>().join(","))
    };
    let import = |name: &str, text: String, code: i32, more: &[&str]| {
        place.write("cables.csv", text);
        let [file, map] = ["yaml", "csv"].map(|ending| format!("{name}.{ending}"));
        let words = ["import", "cables.csv", "--out", &file, "--map", &map, "--name", "pod"];
        let said = place.ends(code, &[&words, more].concat());
        (said, if code == 1 { String::new() } else { place.read(&file) })
    };
    let (_, plain) = import("plain", rows("connected"), 0, &[]);
    for (number, (state, kind)) in
        [("connected", "cat6"), ("connected", "CAT5e"), ("planned", "cat6a")].into_iter().enumerate()
    {
        let copper = beside("eth9", "mgmtsw", kind) + &beside("ipmi", "mgmtsw", kind).replace(",1,", ",2,");
        let (said, file) = import(&format!("copper-{number}"), rows(state) + &copper, 0, &[]);
        let note =
            format!("2 cables skipped: `{kind}` to `mgmtsw`, which is not a node or switch of the fabric");
        assert!(said.contains(&note) && said.contains("omitted: 2 links"), "{said}");
        assert!(said.contains("16 of 16 cables") && said.contains("0 names"), "{said}");
        assert!(!said.contains("is not a medium"), "{said}");
        assert_eq!(file, plain, "{state} {kind}");
    }
    for far in ["mgmtsw", "switch-of-management"] {
        let text = rows("connected") + &beside("eth9", far, "");
        let (said, _) = import(far, text, 1, &["lists/cables/netbox-devices.csv"]);
        let line = rows("connected").lines().count() + 1;
        let why = format!("cables.csv:{line}: `{far}` does not have the name of a device of the fabric");
        assert!(said.contains(&why), "{said}");
        assert!(!place.path(&format!("{far}.yaml")).exists());
    }
    let own = rows("connected").replace("p0-t1-002", "leaf-x");
    place.write("cables.csv", own);
    let devices = place.read("lists/cables/netbox-devices.csv").replace("p0-t1-002", "leaf-x");
    place.write("devices.csv", devices);
    let words = ["import", "cables.csv", "devices.csv", "--out", "x.yaml", "--map", "x.csv"];
    let said = place.ends(0, &words);
    assert!(said.contains("1 name changed"), "a switch in its place may have another name: {said}");
}

/// The file and the screen name each value that the lists do not contain.
#[test]
fn assumptions_are_marked() {
    let place = Place::new();
    place.write(
        "cables.csv",
        NETBOX
            .replace(",Length", "")
            .replace(",Connected,3.00 m", ",Connected")
            .replace(",Connected,3 m", ",Connected")
            .replace(",Connected,30 m", ",Connected")
            .replace(",Connected,\n", ",Connected\n"),
    );
    let words = ["import", "cables.csv", "--out", "a.yaml", "--map", "a.csv", "--nodes", "box-*"];
    let said = place.ends(0, &words);
    for part in [
        "routing ecmp-static",
        "platforms of t0, t1",
        "operating systems",
        "NICs per node and rails",
        "of nic-t0 cables",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let file = place.read("a.yaml");
    let marked = |key: &str| {
        let line = file.lines().find(|line| line.trim_start_matches("  # ").trim_start().starts_with(key));
        assert!(line.is_some_and(|line| line.contains("assumed")), "{key}: {file}");
    };
    for key in ["routing:", "nics_per_node:", "rails:", "nic:", "t0:", "t1:", "nic-t0:", "t0-t1:", "qos:"] {
        marked(key);
    }
    let stated =
        [&words[..3], &["b.yaml", "--map", "b.csv", "--nodes", "box-*", "--routing", "bgp-unnumbered"]]
            .concat();
    place.ends(0, &stated);
    assert!(place.read("b.yaml").contains("routing: bgp-unnumbered\n"), "{}", place.read("b.yaml"));
    place.ends(0, &["check", "a.yaml"]);
}

/// If only switches report, the notes name the hosts, and explain how their NICs are counted.
#[test]
fn hosts_without_reports_are_named() {
    let place = Place::new();
    let report = |links: &[(&str, &str, &str)]| -> String {
        let block = |(port, far, far_port): &(&str, &str, &str)| {
            let system = if far.is_empty() { String::new() } else { format!("  SysName: {far}\n") };
            format!("Interface: {port}, via: LLDP\n{system}  PortID: ifname {far_port}\n")
        };
        links.iter().map(block).collect()
    };
    std::fs::create_dir(place.path("lldp")).expect("the folder is ours");
    place.write(
        "lldp/leaf1.txt",
        report(&[("eth1", "gpu1", "ens1"), ("eth2", "gpu2", "ens1"), ("eth501", "spine1", "eth1")]),
    );
    place.write(
        "lldp/leaf2.txt",
        report(&[("eth1", "gpu3", "ens1"), ("eth2", "", "aa:bb"), ("eth501", "spine1", "eth2")]),
    );
    let said = place.ends(0, &["import", "lldp", "--out", "a.yaml", "--map", "a.csv"]);
    for part in [
        "3 nodes sent no LLDP report: `gpu1`, `gpu2`, `gpu3`; ",
        "assumed from the ports of T0s: 1 NIC per node on 1 rail",
        "1 switch sent no LLDP report: `spine1`; ",
        "1 cable skipped: neighbours that send no name or no port",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    for leaf in ["leaf1", "leaf2"] {
        place.write(
            &format!("lldp/{leaf}.txt"),
            report(&[("eth501", "spine1", if leaf == "leaf1" { "eth1" } else { "eth2" })]),
        );
    }
    let said = place.ends(1, &["import", "lldp", "--out", "b.yaml", "--map", "b.csv"]);
    assert!(said.contains("help: add a list of the cables of devices without LLDP"), "{said}");
}

/// A wrong medium is reported with its place in the list.
#[test]
fn a_wrong_medium_has_a_place_in_the_list() {
    let place = Place::new();
    place.write(
        "cables.csv",
        "a_device,a_port,b_device,b_port,medium\nnode1,1,leaf1,1,dac\nleaf1,2,spine1,1,glass\n",
    );
    let said = place.ends(1, &["import", "cables.csv", "--out", "a.yaml", "--map", "a.csv"]);
    assert!(
        said.contains("cables.csv:3: unknown medium `glass` in the column `medium`: expected one of `dac`"),
        "{said}"
    );
    let rows = NETBOX.replace(",Length\n", ",Length,Type\n").replace(",3 m\n", ",300 m,dac-passive\n");
    let rows = rows
        .replace(",3.00 m\n", ",300 m,dac-passive\n")
        .replace(",30 m\n", ",30 m,\n")
        .replace("Connected,\n", "Connected,,\n");
    place.write("cables.csv", rows);
    let said =
        place.ends(1, &["import", "cables.csv", "--out", "a.yaml", "--map", "a.csv", "--nodes", "box-*"]);
    assert!(said.contains("--> a.yaml:") && said.contains("so the file is not written"), "{said}");
}

/// An unclosed quote hides the lines after it, so it is an error with its line.
#[test]
fn open_quotes_have_a_line() {
    let place = Place::new();
    place.ends(0, &["export", "cables", "topologies/lab/two-planes.yaml", "--out", "lists", "--quiet"]);
    let list = place.read("lists/cables/point-to-point-0.csv");
    let last = list.lines().count();
    let head = list.trim_end().rsplit_once('\n').expect("there are lines").0;
    let tail = list.lines().last().expect("there are lines");
    place.write("cables.csv", format!("{head}\n\"{tail}\n"));
    let fabric = "topologies/lab/two-planes.yaml";
    place.write("prices.csv", "item,price\na,5\n\"b,6\n");
    place.write("floor.csv", "rack,row,x,y,units\nr1,a,0,0,48\n\"r2,a,1,0,48\n");
    place.write("demand.csv", "source,destination,gbps\na,b,1\n\"a,c,2\n");
    let design =
        "design --nics 512 --speed 400G --planes 4 --prices prices.csv".split(' ').collect::<Vec<_>>();
    for (line, words) in [
        (last, ["import", "cables.csv", "--out", "a.yaml"].as_slice()),
        (3, &design),
        (3, &["place", fabric, "--floor", "floor.csv"]),
        (3, &["te", fabric, "--demand", "demand.csv"]),
    ] {
        let said = place.ends(1, words);
        assert!(
            said.contains("opens here and is not closed") && said.contains(&line.to_string()),
            "{words:?}: {said}"
        );
    }
}

/// If a table is given in place of a fabric file, the error names the command that reads it.
#[test]
fn tables_are_no_fabric_files() {
    let place = Place::new();
    for (header, command) in [
        ("a_device,a_port,b_device,b_port", "`closc import` reads it"),
        ("item;price", "`closc design --prices FILE` reads it"),
        ("rack,row,x,y,units", "`closc place FABRIC --floor FILE` reads it"),
        ("source,destination,gbps", "`closc te FABRIC --demand FILE` reads it"),
        ("switch,nic,uplink", "`ecmp.pins` of a fabric file names it"),
        ("a,b", "a table with unknown columns"),
    ] {
        place.write("a.csv", format!("{header}\n"));
        for verb in [["check", "a.csv"].as_slice(), &["paths", "a.csv", "x", "y"]] {
            let said = place.ends(1, verb);
            assert!(
                said.contains("`a.csv` is CSV and not a fabric file") && said.contains(command),
                "{said}"
            );
        }
    }
}
