//! Layouts of SONiC's own tests: each can be expressed with the same ports, or is refused with a reason.
//!
//! If `CLOSC_SONIC_MGMT` and `CLOSC_SONIC_BUILDIMAGE` name checkouts or git directories of sonic-net's repositories,
//! every `t0-isolated`, `t1-isolated` and `t2-isolated` topology of sonic-mgmt is compared with the catalogue. So are
//! those of hwskus P32O64 and P32V128: `t0-f2`, `t1-f2` and `lt2-p32o64`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

use closc_diagnostics::Sources;
use closc_platform::{Catalogue, Layout, LayoutSide, Platform, Slot, SplitCages};

/// Returns the first `count` slots of a side.
fn slots(side: &LayoutSide, count: u16) -> Vec<Slot> {
    let parts = u16::from(side.breakout.ports);
    let place = |index: u16| {
        let index = index + u16::from(side.first_port);
        Slot { cage: side.cages.nth(index / parts), part: (index % parts) as u8, breakout: side.breakout }
    };
    (0..count).map(place).collect()
}

/// Returns both sides of a layout. In cages that both sides use, the uplinks have the last lanes.
fn in_place(layout: &Layout, lanes: u8) -> [Option<LayoutSide>; 2] {
    let up = layout.up.map(|up| {
        let shares = layout.down.filter(|down| up.cages.iter().any(|cage| down.cages.contains(cage)));
        LayoutSide { breakout: up.breakout.shift_behind(shares.map(|down| down.breakout), lanes), ..up }
    });
    [layout.down, up]
}

fn cages(side: LayoutSide) -> SplitCages {
    SplitCages { breakout: side.breakout, cages: side.cages }
}

fn names(platform: &Platform, layout: &str, counts: [u16; 2]) -> [Vec<String>; 2] {
    let layout = &platform.layouts[layout];
    let sides = in_place(layout, platform.panel.lanes);
    [0, 1].map(|side| {
        let slots = sides[side].as_ref().map(|of| slots(of, counts[side])).unwrap_or_default();
        slots.into_iter().map(|slot| platform.port(slot).name.to_string()).collect()
    })
}

#[test]
fn two_runs_of_uplinks() {
    let catalogue = Catalogue::builtin();
    let th5 = catalogue.get("th5-512x100g").unwrap();
    let [down, up] = names(th5, "d256u256s2", [256, 256]);
    assert_eq!([&down[0], &down[64], &down[255]], ["Ethernet0", "Ethernet192", "Ethernet511"]);
    assert_eq!(
        [&up[0], &up[127], &up[128], &up[255]],
        ["Ethernet64", "Ethernet191", "Ethernet320", "Ethernet447"]
    );
}

/// Mellanox-SN6600_LD-P64O128C2 and Mellanox-SN5640-C508O1X2, as in their port_config.ini (sonic-buildimage 086b03bd).
#[test]
fn ports_of_two_kinds_in_one_cage() {
    let catalogue = Catalogue::builtin();
    let port = |id: &str, layout: &str, side: usize, index: u16| {
        let platform = catalogue.get(id).unwrap();
        let side = in_place(&platform.layouts[layout], platform.panel.lanes)[side].unwrap();
        let port = platform.port(*slots(&side, index + 1).last().unwrap());
        (port.name.to_string(), port.alias.to_string(), port.subport, port.lanes)
    };
    let is = |name: &str, alias: &str, subport, lanes: &[u16]| {
        (name.to_owned(), alias.to_owned(), subport, lanes.to_vec())
    };
    let mixed = |side, index| port("spectrum6-sn6600", "d128u64s2", side, index);
    assert_eq!(mixed(0, 1), is("Ethernet2", "etp1b", 2, &[2, 3]));
    assert_eq!(mixed(0, 126), is("Ethernet504", "etp64a", 1, &[504, 505]));
    assert_eq!(mixed(1, 0), is("Ethernet4", "etp1c", 3, &[4, 5, 6, 7]));
    assert_eq!(mixed(1, 63), is("Ethernet508", "etp64c", 3, &[508, 509, 510, 511]));
    let split = |side, index| port("spectrum5-sn5640", "d508u1s2", side, index);
    assert_eq!(split(0, 507), is("Ethernet507", "etp64d", 4, &[507]));
    assert_eq!(split(1, 0), is("Ethernet508", "etp64e", 5, &[508, 509, 510, 511]));
}

#[test]
fn hwskus_of_layouts() {
    let catalogue = Catalogue::builtin();
    let hwsku = |id: &str, layout: &str| {
        let platform = catalogue.get(id).unwrap();
        let sides = in_place(&platform.layouts[layout], platform.panel.lanes);
        platform.hwsku(sides.into_iter().flatten().map(cages)).unwrap().to_owned()
    };
    assert_eq!(hwsku("spectrum6-sn6600", "d128u64s2"), "Mellanox-SN6600_LD-P64O128C2");
    assert_eq!(hwsku("spectrum5-sn5640", "d508u1s2"), "Mellanox-SN5640-C508O1X2");
    assert_eq!(hwsku("th5-512x100g", "d448u16"), "Arista-7060X6-64PE-B-C448O16");
    assert_eq!(hwsku("spectrum4-sn5600-256x100g", "d224u8"), "Mellanox-SN5600-C224O8");
}

#[test]
fn a_layout_is_on_the_panel() {
    let codes = |layout: &str| {
        let text = include_str!("../../catalogue/th3-32x400g.yaml")
            .replace("id: th3-32x400g", "id: box-32x400g")
            .replace("\nlayouts:\n", &format!("\nlayouts:\n  own: {layout}\n"));
        let found = Catalogue::builtin().add_yaml(&mut Sources::new(), "box.yaml", &text).err();
        found.map(|all| all.iter().map(|one| one.rule.code).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(codes("{ up: { breakout: 1x400G, cages: 0-31 } }"), Vec::<&str>::new());
    assert_eq!(codes("{ up: { breakout: 1x400G, cages: 8-32 } }"), ["E1015"]);
    assert_eq!(codes("{ up: { breakout: 1x800G, cages: 8-9 } }"), ["E1015"]);
    assert_eq!(codes("{}"), ["E1015"]);
    assert_eq!(codes("{ refused: two ASICs, up: { breakout: 1x400G, cages: 8-9 } }"), ["E1015"]);
    assert_eq!(codes("{ up: { breakout: 1x400G, cages: 9-8 } }"), ["E1002"]);
}

/// Returns the downlinks and uplinks of a topology in sonic-mgmt, by their position on the switch.
fn published_ports(text: &str, tier: &str) -> [Vec<u16>; 2] {
    let tree: serde_json::Value = serde_saphyr::from_str(text).expect("a topology is YAML");
    let topology = &tree["topology"];
    let hosts = topology["host_interfaces"].as_array().into_iter().flatten();
    let mut down: Vec<u16> = hosts.map(|port| port.as_u64().expect("a port") as u16).collect();
    let mut up = Vec::new();
    let roles = BTreeMap::from([("t0", ("", "T1")), ("t1", ("T0", "T2")), ("t2", ("T1", ""))]);
    let (below, above) = roles[tier];
    for (name, machine) in topology["VMs"].as_object().into_iter().flatten() {
        let ports = machine["vlans"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|port| port.as_u64().expect("a port") as u16);
        match name.trim_start_matches("ARISTA").trim_start_matches(|sign: char| sign.is_ascii_digit()) {
            role if role == below => down.extend(ports),
            role if role == above => up.extend(ports),
            _ => {} // A service port.
        }
    }
    down.sort_unstable();
    up.sort_unstable();
    [down, up]
}

/// Returns the ports of a hwsku in the order of its port_config.ini.
fn ports_of(git: &dyn Fn(&[&str]) -> String, platform: &Platform, layout: &Layout) -> Vec<String> {
    let sides = in_place(layout, platform.panel.lanes);
    let hwsku = platform.hwsku(sides.into_iter().flatten().map(cages)).expect("SONiC runs on it");
    let end =
        format!("/{}/{hwsku}/port_config.ini", platform.sonic.as_ref().expect("SONiC runs on it").platform);
    let list = git(&["ls-tree", "-r", "--name-only", "HEAD", "device/"]);
    let path =
        list.lines().find(|path| path.ends_with(&end)).unwrap_or_else(|| panic!("no file ends with {end}"));
    let text = git(&["show", &format!("HEAD:{path}")]);
    let lines = text.lines().filter(|line| line.starts_with("Ethernet"));
    lines.map(|line| line.split_whitespace().next().expect("a name").to_owned()).collect()
}

/// Returns the layout of a platform for a topology. The number of service ports may differ.
fn find_layout<'a>(platform: &'a Platform, topology: &str) -> Option<&'a str> {
    let bare = |name: &str| {
        let service = name.rsplit_once('s').filter(|(_, count)| count.parse::<u8>().is_ok());
        service.map_or(name, |(bare, _)| bare).to_owned()
    };
    let names = || platform.layouts.keys().map(|name| &**name);
    names().find(|name| *name == topology).or_else(|| names().find(|name| bare(name) == bare(topology)))
}

/// Returns the tier of a topology and the name of its layout. Topologies with `f2` in their names bundle ports into
/// LAGs.
fn layout_name(topology: &str) -> (&str, String) {
    if let Some((tier, rest)) = topology.split_once("-isolated-") {
        return (tier, rest.trim_start_matches("v6-").to_owned());
    }
    match topology.split_once("-f2-") {
        Some((tier, rest)) => (tier, format!("{}-lag", rest.split('-').next().unwrap_or(rest))),
        None => ("t1", topology.to_owned()),
    }
}

/// Compares every topology. Each equals a layout, or its layout is refused with a reason.
#[test]
fn isolated_topologies_of_sonic_mgmt() {
    let [mgmt, images] = ["CLOSC_SONIC_MGMT", "CLOSC_SONIC_BUILDIMAGE"].map(std::env::var_os);
    let (Some(mgmt), Some(images)) = (mgmt, images) else {
        closc_skip::skip("CLOSC_SONIC_MGMT or CLOSC_SONIC_BUILDIMAGE is not set: layouts are not compared");
        return;
    };
    let (mgmt, images) = (git(mgmt), git(images));
    let catalogue = Catalogue::builtin();
    let (mut equal, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in topologies(&mgmt) {
        let (tier, layout) = layout_name(&name);
        let layout = layout.as_str();
        let [down, up] = published_ports(&text, tier);
        let found = catalogue.iter().find_map(|platform| Some((platform, find_layout(platform, layout)?)));
        let (platform, known) =
            found.unwrap_or_else(|| panic!("{name}: no platform has the layout {layout}"));
        if let Some(reason) = &platform.layouts[known].refused {
            refused.push(format!("{name}: {reason}"));
            continue;
        }
        let order = ports_of(&images, platform, &platform.layouts[known]);
        let wanted = [&down, &up]
            .map(|side| side.iter().map(|at| order[usize::from(*at)].clone()).collect::<Vec<_>>());
        assert_eq!(
            names(platform, known, [down.len() as u16, up.len() as u16]),
            wanted,
            "{name} on {}",
            platform.id
        );
        equal.push(name);
    }
    eprintln!("{} equal, {} refused: {refused:#?}", equal.len(), refused.len());
    assert!(equal.len() >= 40 && refused.len() <= 8, "{} equal, {} refused", equal.len(), refused.len());
}

/// Runs git in a checkout or git directory.
fn git(folder: OsString) -> impl Fn(&[&str]) -> String {
    move |args| {
        let out = Command::new("git").arg("-C").arg(&folder).args(args).output().expect("git runs");
        assert!(out.status.success() || !out.stdout.is_empty(), "git {args:?} in {}", folder.display());
        String::from_utf8(out.stdout).expect("text")
    }
}

/// Reads the topologies of a checkout: names and texts.
fn topologies(git: &dyn Fn(&[&str]) -> String) -> Vec<(String, String)> {
    let list = git(&["ls-tree", "--name-only", "HEAD", "ansible/vars/"]);
    let name = |path: &str| {
        let name = path.strip_prefix("ansible/vars/topo_")?.strip_suffix(".yml")?;
        let kinds = ["t0-isolated-", "t1-isolated-", "t2-isolated-", "t0-f2-", "t1-f2-", "lt2-p32o64"];
        kinds.iter().any(|kind| name.starts_with(kind)).then(|| name.to_owned())
    };
    list.lines().filter_map(|path| Some((name(path)?, git(&["show", &format!("HEAD:{path}")])))).collect()
}
