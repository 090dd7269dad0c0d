//! Names and lanes of single ports, as in SONiC's `port_config.ini` (sonic-buildimage 086b03bd, `device/`).

use closc_diagnostics::Sources;
use closc_platform::{Catalogue, Platform, Slot, SplitCages};

/// Compares one port. Arguments: platform, breakout, cage and part from 0, then name, alias, index, lanes, number.
#[allow(clippy::too_many_arguments)]
fn port(
    id: &str,
    breakout: &str,
    at: (u16, u8),
    name: &str,
    alias: &str,
    panel: u16,
    lanes: &[u16],
    number: u16,
) {
    let catalogue = Catalogue::builtin();
    let platform = catalogue.get(id).unwrap();
    let breakout = platform.breakout(breakout).unwrap();
    let slot = Slot { cage: at.0, part: at.1, breakout };
    let port = platform.port(slot);
    assert_eq!((port.name.as_str(), port.alias.as_str(), port.panel), (name, alias, panel), "{id}");
    assert_eq!((port.lanes.as_slice(), port.number), (lanes, number), "{id}");
    assert_eq!(port.subport, if breakout.ports == 1 { 0 } else { at.1 + 1 });
    assert_eq!(port.speed, breakout.speed);
    assert_eq!(platform.port_name(slot), port.name);
    assert_eq!(platform.port_number(slot), port.number);
}

#[test]
fn arista_7060x6() {
    // Arista-7060X6-64PE-B-C512S2.
    port("th5-512x100g", "8x100G", (0, 0), "Ethernet0", "etp1a", 1, &[17], 1);
    port("th5-512x100g", "8x100G", (0, 7), "Ethernet7", "etp1h", 1, &[24], 8);
    port("th5-512x100g", "8x100G", (1, 0), "Ethernet8", "etp2a", 2, &[1], 9);
    port("th5-512x100g", "8x100G", (63, 7), "Ethernet511", "etp64h", 64, &[504], 512);
    // Arista-7060X6-64PE-256x200G.
    port("th5-256x200g", "4x200G", (0, 1), "Ethernet2", "etp1b", 1, &[19, 20], 3);
    port("th5-256x200g", "4x200G", (63, 3), "Ethernet510", "etp64d", 64, &[503, 504], 511);
    // Arista-7060X6-64PE-B-O128.
    port("th5-128x400g", "2x400G", (2, 1), "Ethernet20", "etp3b", 3, &[13, 14, 15, 16], 21);
    // Arista-7060X6-64PE-B-P64.
    port(
        "th5-64x800g",
        "1x800G",
        (61, 0),
        "Ethernet488",
        "etp62",
        62,
        &[489, 490, 491, 492, 493, 494, 495, 496],
        489,
    );
}

/// For this switch, SONiC lists four of the eight lanes of a port of 400G, and all lanes of slower ports.
#[test]
fn lanes_that_sonic_omits() {
    // Delta-et-c032if and Delta-et-c032if_64x200.
    let id = "delta-et-c032if";
    port(id, "1x400G", (1, 0), "Ethernet8", "Ethernet8", 1, &[241, 242, 243, 244], 9);
    port(id, "2x200G", (1, 1), "Ethernet12", "Ethernet12", 1, &[245, 246, 247, 248], 13);
}

/// Silverstone-128x100: ports of two lanes are numbered without gaps.
#[test]
fn numbers_of_several_lanes() {
    let id = "cel-silverstone-128x100g";
    port(id, "4x100G", (0, 3), "Ethernet3", "QSFP1/4", 1, &[39, 40], 7);
    port(id, "4x100G", (4, 0), "Ethernet16", "QSFP5/1", 5, &[65, 66], 33);
}

/// DellEMC-Z9332f-C32, Wistron_sw_to3200k_28x400_4x100 and Mellanox-SN4700-A96C8V8 leave lanes of cages unused. A
/// single port has the alias of the cage, and subport 0.
#[test]
fn ports_that_leave_lanes_of_a_cage_unused() {
    port("dellemc-z9332f-d1508", "1x100G(4)", (6, 0), "Ethernet48", "etp7", 7, &[81, 82, 83, 84], 49);
    port("dellemc-z9332f-d1508", "2x100G", (6, 0), "Ethernet48", "etp7a", 7, &[81, 82, 83, 84], 49);
    port("wistron-sw-to3200k", "1x100G(4)", (4, 0), "Ethernet32", "Eth5", 4, &[57, 58, 59, 60], 33);
    port("spectrum3-sn4700", "4x25G(4)", (1, 1), "Ethernet9", "etp2b", 2, &[9], 10);
    port("nexthop-5010", "1x100G(2)", (1, 0), "Ethernet4", "etp2", 2, &[100, 101], 5);
    port("delta-et-c032if", "1x200G(4)", (0, 0), "Ethernet0", "Ethernet0", 0, &[249, 250, 251, 252], 1);
}

#[test]
fn hwskus_of_cages_with_unused_lanes() {
    let catalogue = Catalogue::builtin();
    let hwsku = |id: &str, used: &[(&str, &str)]| {
        let platform = catalogue.get(id).unwrap();
        let used: Vec<SplitCages> = used.iter().map(|(split, cages)| on(platform, split, cages)).collect();
        platform.has_hwsku(used.iter().copied()).then(|| platform.hwsku(used).unwrap().to_owned())
    };
    let is = |name: &str| Some(name.to_owned());
    assert_eq!(hwsku("dellemc-z9332f-d1508", &[("1x100G(4)", "0-31")]), is("DellEMC-Z9332f-C32"));
    let wistron = |used: &[(&str, &str)]| hwsku("wistron-sw-to3200k", used);
    assert_eq!(wistron(&[("1x100G(4)", "0-31")]), is("Wistron_sw_to3200k_32x100"));
    assert_eq!(wistron(&[("1x100G(4)", "24-31")]), is("Wistron_sw_to3200k_32x100"));
    let split = |slow: &'static str, fast: &'static str| wistron(&[("1x100G(4)", slow), ("1x400G", fast)]);
    assert_eq!(split("24-31", "0-23"), is("Wistron_sw_to3200k_24x400_8x100"));
    assert_eq!(split("4, 10, 18, 30", "0-3"), is("Wistron_sw_to3200k_28x400_4x100"));
    assert_eq!(split("0-3", "4-31"), None);
    let sn4700 = [("4x25G(4)", "0-23"), ("2x100G", "24-27"), ("2x200G", "28-31")];
    assert_eq!(hwsku("spectrum3-sn4700", &sn4700), is("Mellanox-SN4700-A96C8V8"));
}

/// ACS-SN6810_LD: eight ports have the number of their optical engine.
#[test]
fn cages_with_the_same_number() {
    let id = "nvidia-sn6810-ld";
    port(id, "1x800G", (7, 0), "Ethernet28", "etp8", 1, &[28, 29, 30, 31], 29);
    port(id, "1x800G", (8, 0), "Ethernet32", "etp9", 2, &[32, 33, 34, 35], 33);
    port(id, "2x400G", (127, 1), "Ethernet510", "etp128b", 16, &[510, 511], 511);
}

/// On these switches, SONiC's `index` starts at 0, and aliases start at 1.
#[test]
fn aliases_by_position() {
    // M2-W6940-64OC: Ethernet1 and Ethernet505 of port_config.ini, and modes of platform.json.
    let lanes: Vec<u16> = (41..=48).collect();
    port("micas-m2-w6940-64oc", "1x800G", (0, 0), "Ethernet1", "Eth1", 0, &lanes, 1);
    port("micas-m2-w6940-64oc", "4x200G", (0, 3), "Ethernet7", "Eth1/4", 0, &[47, 48], 7);
    let lanes: Vec<u16> = (465..=472).collect();
    port("micas-m2-w6940-64oc", "1x800G", (63, 0), "Ethernet505", "Eth64", 63, &lanes, 505);
    // Accton-AS9716-32D.
    let lanes: Vec<u16> = (241..=248).collect();
    port("accton-as9716-32d", "1x400G", (31, 0), "Ethernet248", "fourHundredGigE32", 31, &lanes, 249);
}

/// Mellanox-SN5610N-C224O8: the eight ports of a cage use the port numbers of two cages.
#[test]
fn every_other_cage_is_used() {
    port("nvidia-sn5610n-256x100g", "8x100G", (0, 7), "Ethernet7", "etp1h", 1, &[7], 8);
    port("nvidia-sn5610n-256x100g", "2x400G", (6, 1), "Ethernet100", "etp13b", 13, &[100, 101, 102, 103], 53);
    port("nvidia-sn5610n-256x100g", "8x100G", (31, 7), "Ethernet503", "etp63h", 63, &[503], 256);
}

/// The port map has cages in the order of the panel, and MAC blocks in the order of the board.
#[test]
fn tofino_has_the_ports_of_its_sde() {
    let catalogue = Catalogue::builtin();
    let platform = catalogue.get("tofino2-32x400g").unwrap();
    let port = |breakout: &str, cage: u16, part: u8| {
        let slot = Slot { cage, part, breakout: platform.breakout(breakout).unwrap() };
        let port = platform.port(slot);
        (port.name.to_string(), port.alias.to_string(), port.number, port.device)
    };
    let named = |name: &str, alias: &str, number, device| (name.to_owned(), alias.to_owned(), number, device);
    assert_eq!(port("1x400G", 0, 0), named("port136", "1/0", 1, 136));
    assert_eq!(port("4x100G", 0, 3), named("port142", "1/6", 7, 142));
    assert_eq!(port("1x400G", 31, 0), named("port16", "32/0", 249, 16));
    for platform in catalogue.iter().filter(|platform| platform.panel.device_ports.is_none()) {
        assert!(platform.ports().all(|port| port.device == port.number), "{}", platform.id);
    }
}

#[test]
fn nvidia() {
    // ACS-SN5600, Mellanox-SN5600-V256, -O128.
    port("spectrum4-sn5600", "1x800G", (1, 0), "Ethernet8", "etp2", 2, &[8, 9, 10, 11, 12, 13, 14, 15], 9);
    port("spectrum4-sn5600", "4x200G", (63, 3), "Ethernet510", "etp64d", 64, &[510, 511], 511);
    port("spectrum4-sn5600", "2x400G", (0, 1), "Ethernet4", "etp1b", 1, &[4, 5, 6, 7], 5);
    // Mellanox-SN5600-C256S1: the second cage in use is number 3 and begins with Ethernet16.
    port("spectrum4-sn5600-256x100g", "8x100G", (0, 1), "Ethernet1", "etp1b", 1, &[1], 2);
    port("spectrum4-sn5600-256x100g", "8x100G", (1, 0), "Ethernet16", "etp3a", 3, &[16], 9);
    port("spectrum4-sn5600-256x100g", "8x100G", (31, 7), "Ethernet503", "etp63h", 63, &[503], 256);
    // Mellanox-SN5640-C512S2.
    port("spectrum5-sn5640", "8x100G", (63, 6), "Ethernet510", "etp64g", 64, &[510], 511);
    // Mellanox-SN6600_LD-P128C2.
    port("spectrum6-sn6600", "2x800G", (62, 1), "Ethernet500", "etp63b", 63, &[500, 501, 502, 503], 501);
    // Mellanox-SN4700-C128.
    port("spectrum3-sn4700", "4x100G", (31, 3), "Ethernet254", "etp32d", 32, &[254, 255], 255);
    // ACS-MSN2700.
    port("spectrum1-msn2700", "1x100G", (31, 0), "Ethernet124", "etp32", 32, &[124, 125, 126, 127], 125);
}

#[test]
fn others() {
    // Arista-7260CX3-C64.
    port("th2-64x100g", "1x100G", (63, 0), "Ethernet252", "Ethernet64/1", 64, &[177, 178, 179, 180], 253);
    // Arista-7060DX5-64S: platform.json names the second 200G half of cage 1 Ethernet1/5.
    port("th4-64x400g", "2x200G", (0, 1), "Ethernet4", "Ethernet1/5", 1, &[21, 22, 23, 24], 5);
    port("th4-64x400g", "4x100G", (0, 3), "Ethernet6", "Ethernet1/7", 1, &[23, 24], 7);
    // Arista-7060PX4-O32.
    let lanes = [249, 250, 251, 252, 253, 254, 255, 256];
    port("th3-32x400g", "1x400G", (31, 0), "Ethernet248", "Ethernet32/1", 32, &lanes, 249);
    // Nokia-IXR7220-H6-O256.
    port("th6-256x400g", "2x400G", (127, 1), "Ethernet1020", "etp128b", 128, &[933, 934, 935, 936], 1021);
    // Arista-7280R4-32QF-32DF-64O: lanes in the order of the file.
    port("q3d-7280r4-64x400g", "1x400G", (0, 0), "Ethernet0", "etp1", 1, &[35, 34, 33, 32], 1);
    // Force10-S6000, the virtual switch: index from 0.
    port("sonic-vs", "1x40G", (31, 0), "Ethernet124", "fortyGigE0/124", 31, &[97, 98, 99, 100], 125);
    // Numbered targets.
    port("bmv2", "1x100G", (0, 0), "eth1", "eth1", 1, &[1], 1);
    port("linux", "1x400G", (15, 0), "eth16", "eth16", 16, &[16], 16);
    port("minipack2-128x200g", "2x100G", (15, 1), "swp16s1", "swp16s1", 16, &[63, 64], 63);
}

fn on(platform: &Platform, split: &str, cages: &str) -> SplitCages {
    SplitCages { breakout: platform.breakout(split).unwrap(), cages: cages.parse().unwrap() }
}

#[test]
fn hwsku_follows_the_breakouts_in_use() {
    let catalogue = Catalogue::builtin();
    let th5 = catalogue.get("th5-512x100g").unwrap();
    let [hundred, two, eight] = ["8x100G", "4x200G", "1x800G"].map(|split| on(th5, split, "0-63"));
    let halves = [on(th5, "1x800G", "0-31"), on(th5, "4x200G", "32-63"), on(th5, "1x800G", "3")];
    assert_eq!(th5.hwsku([hundred, hundred]), Some("Arista-7060X6-64PE-B-C512S2"));
    assert_eq!(th5.hwsku(halves), Some("Arista-7060X6-64PE-B-P32V128"));
    assert_eq!(th5.hwsku([eight]), Some("Arista-7060X6-64PE-B-P64"));
    assert_eq!(th5.hwsku([]), Some("Arista-7060X6-64PE-B-C512S2"));
    let other = catalogue.get("th5-256x200g").unwrap();
    assert_eq!(other.hwsku([two]), Some("Arista-7060X6-64PE-256x200G"));
    assert_eq!(other.hwsku([eight]), Some("Arista-7060X6-64PE"));
    assert_eq!(other.hwsku(halves), Some("Arista-7060X6-64PE-P32V128"));
    assert_eq!(catalogue.get("linux").unwrap().hwsku([hundred]), None);
}

/// port_config.ini of 7060X6-64PE-B, SN5640, SN4280 and Z9332F in sonic-buildimage 086b03bd: cages 13, 14, 17, 18, 45,
/// 46, 49 and 50 of C448O16 are split 2x400G. Cages 1 to 32 of P32O64 and 1 to 28 of P28O72 are not split.
#[test]
fn a_hwsku_splits_every_cage_in_use_in_the_same_way() {
    let catalogue = Catalogue::builtin();
    let found = |id: &str, used: &[(&str, &str)]| {
        let platform = catalogue.get(id).unwrap();
        let used: Vec<SplitCages> = used.iter().map(|(split, cages)| on(platform, split, cages)).collect();
        let hwsku = platform.hwsku(used.iter().copied()).unwrap().to_owned();
        platform.has_hwsku(used).then_some(hwsku)
    };
    let up = "12-13, 16-17, 44-45, 48-49";
    for (id, hwsku) in
        [("th5-64x800g", "Arista-7060X6-64PE-B-C448O16"), ("spectrum5-sn5640", "Mellanox-SN5640-C448O16")]
    {
        assert_eq!(found(id, &[("8x100G", "0-11"), ("2x400G", up)]).as_deref(), Some(hwsku));
        assert_eq!(found(id, &[("8x100G", "0-11"), ("2x400G", "12-13")]).as_deref(), Some(hwsku));
        assert_eq!(found(id, &[("8x100G", "0-15"), ("2x400G", "32-47")]), None);
        assert_eq!(found(id, &[("8x100G", "0-12"), ("2x400G", "16")]), None);
    }
    let th5 = |used: &[(&str, &str)]| found("th5-64x800g", used);
    let is = |name: &str| Some(format!("Arista-7060X6-64PE-B-{name}"));
    assert_eq!(th5(&[("2x400G", "32-63"), ("1x800G", "0-31")]), is("P32O64"));
    assert_eq!(th5(&[("2x400G", "28-63"), ("1x800G", "0-27")]), is("P28O72"));
    assert_eq!(th5(&[("2x400G", "0-31"), ("1x800G", "32-63")]), None);
    let even = "0, 2, 4, 6, 8, 10, 12, 14";
    assert_eq!(found("th5-256x200g", &[("8x100G", even)]).as_deref(), Some("Arista-7060X6-64PE-C256S2"));
    assert_eq!(
        found("th5-256x200g", &[("8x100G", "0, 2"), ("2x400G", "12")]).as_deref(),
        Some("Arista-7060X6-64PE-C224O8")
    );
    assert_eq!(found("th5-256x200g", &[("8x100G", "0-3")]), None);
    assert_eq!(found("th5-256x200g", &[("1x400G", "0-63")]).as_deref(), Some("Arista-7060X6-64PE-64x400G"));
    let sn4280 = |used: &[(&str, &str)]| found("nvidia-sn4280", used);
    assert_eq!(sn4280(&[("2x100G", "0-11"), ("1x400G", "12-19")]).as_deref(), Some("Mellanox-SN4280-O8C40"));
    assert_eq!(sn4280(&[("1x400G", "0-11"), ("2x100G", "12-19")]), None);
    let dell = |used: &[(&str, &str)]| found("dellemc-z9332f-d1508", used);
    assert_eq!(
        dell(&[("4x100G", "0-11, 16-19"), ("1x400G", "12-15, 20-31")]).as_deref(),
        Some("DellEMC-Z9332f-M-O16C64")
    );
    assert_eq!(dell(&[("4x100G", "0-15"), ("1x400G", "16-31")]), None);
}

#[test]
fn breakouts_not_offered_are_refused_with_the_list() {
    let catalogue = Catalogue::builtin();
    let error = catalogue.get("th5-64x800g").unwrap().breakout("16x50G").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`th5-64x800g` does not offer `16x50G`; it offers `8x100G`, `4x200G`, `2x400G`, `1x800G`, `1x400G`"
    );
}

#[test]
fn suggestions_are_near() {
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.suggest("th5-512x100"), Some("th5-512x100g"));
    assert_eq!(catalogue.suggest("TH5_512x100G"), Some("th5-512x100g"));
    assert_eq!(catalogue.suggest("SN5600"), Some("spectrum4-sn5600"));
    assert_eq!(catalogue.suggest("spectrum4-sn560"), Some("spectrum4-sn5600"));
    assert_eq!(catalogue.suggest("catalyst"), None);
    // Generated entries are suggested only if no other entry fits.
    assert_eq!(catalogue.suggest("dell-z9864"), Some("dell-z9864f"));
}

/// Micas, among others: `port_config.ini` begins with `Ethernet1`, or lists cages in a different order.
#[test]
fn port_numbers_are_those_of_the_box() {
    let named = |numbers: &str| {
        let text = include_str!("../../catalogue/th3-32x400g.yaml")
            .replace("id: th3-32x400g", "id: box-32x400g")
            .replace("  serial_lanes:", &format!("  port_numbers: {numbers}\n  serial_lanes:"));
        let mut catalogue = Catalogue::builtin();
        let added = catalogue.add_yaml(&mut Sources::new(), "box.yaml", &text);
        added.map(|id| {
            let platform = catalogue.get(&id).unwrap();
            let breakout = platform.panel.default_breakout;
            [0, 1, 31].map(|cage| platform.port(Slot { cage, part: 0, breakout }).name.to_string())
        })
    };
    assert_eq!(named("{ from: 1 }").unwrap(), ["Ethernet1", "Ethernet9", "Ethernet249"]);
    let turned: Vec<String> = (0..32).rev().map(|cage| (cage * 8).to_string()).collect();
    assert_eq!(
        named(&format!("{{ first: [{}] }}", turned.join(", "))).unwrap(),
        ["Ethernet248", "Ethernet240", "Ethernet0"]
    );
    let codes =
        |numbers: &str| named(numbers).unwrap_err().iter().map(|found| found.rule.code).collect::<Vec<_>>();
    assert_eq!(codes("{ first: [0, 8] }"), ["E1007"]);
    let twice = turned.join(", ").replace("248", "236");
    assert_eq!(codes(&format!("{{ first: [{twice}] }}")), ["E1007"]);
    assert_eq!(codes("{ from: 32700 }"), ["E1007"]);
}
