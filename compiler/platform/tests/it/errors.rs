//! Messages for faulty platform files of a site.

use std::fmt::Write;

use closc_diagnostics::show::text;
use closc_diagnostics::{Diagnostics, Sources};
use closc_platform::{Catalogue, RULES};

const GOOD: &str = "\
id: site-switch
title: A switch of the site
sources: [data sheet]
os: [sonic]
panel:
  cages: 2
  lanes: 4
  lane_speed: 25G
  breakouts: [1x100G, 4x25G]
  default: 1x100G
  naming: sonic_lane
  serial_lanes: { first: [1, 5] }
sonic: { hwsku: Site-Switch, platform: x86_64-site }
buffer: { total: 16MB, cell: 208, headroom: broadcom-tomahawk-2 }
limits: { my_sids: 0, ipv6_routes: 1000, ecmp_width: 64, ecmp_groups: 128, neighbours: 64 }
features: [pfc, ecn]
";

fn add(yaml: &str) -> (Sources, Result<smol_str::SmolStr, Diagnostics>) {
    let mut sources = Sources::new();
    let result = Catalogue::builtin().add_yaml(&mut sources, "site.yaml", yaml);
    (sources, result)
}

/// Replaces parts of a valid file, and returns the code, message and place of each error.
fn faults(changes: &[(&str, &str)]) -> Vec<(&'static str, String, String)> {
    let mut yaml = GOOD.to_owned();
    for (from, to) in changes {
        assert!(yaml.contains(from), "{from}");
        yaml = yaml.replacen(from, to, 1);
    }
    let (sources, result) = add(&yaml);
    let found = result.expect_err(&yaml);
    found
        .iter()
        .map(|d| {
            let place = d.span().map_or_else(String::new, |span| sources.text(span).to_owned());
            (d.rule.code, d.message.clone(), place)
        })
        .collect()
}

fn one(from: &str, to: &str) -> (&'static str, String, String) {
    let mut found = faults(&[(from, to)]);
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn expect(from: &str, to: &str, code: &str, message: &str, place: &str) {
    let (found, said, at) = one(from, to);
    assert_eq!((found, said.as_str(), at.trim_end()), (code, message, place));
}

#[test]
fn a_good_file_is_added() {
    let mut sources = Sources::new();
    let mut catalogue = Catalogue::builtin();
    let before = catalogue.ids().count();
    let id = catalogue.add_yaml(&mut sources, "site.yaml", GOOD).unwrap();
    assert_eq!(id, "site-switch");
    assert_eq!(catalogue.ids().count(), before + 1);
    assert_eq!(catalogue.get("site-switch").unwrap().ports_max("4x25G".parse().unwrap()), 8);
}

#[test]
fn a_name_in_a_file_with_an_error_is_known() {
    for (from, to) in [("cages: 2", "cages: two"), ("default: 1x100G", "default: 3x7G")] {
        assert!(GOOD.contains(from), "{from}");
        let mut catalogue = Catalogue::builtin();
        catalogue.add_yaml(&mut Sources::new(), "site.yaml", &GOOD.replace(from, to)).unwrap_err();
        assert!(catalogue.get("site-switch").is_none() && catalogue.is_rejected("site-switch"));
        assert!(!catalogue.is_rejected("another"));
    }
}

#[test]
fn a_site_replaces_a_platform_of_the_program() {
    let mut sources = Sources::new();
    let mut catalogue = Catalogue::builtin();
    let before = catalogue.ids().count();
    catalogue.add_yaml(&mut sources, "site.yaml", &GOOD.replace("site-switch", "th5-512x100g")).unwrap();
    assert_eq!(catalogue.ids().count(), before);
    assert_eq!(catalogue.get("th5-512x100g").unwrap().panel.cages, 2);
    assert_eq!(Catalogue::builtin().get("th5-512x100g").unwrap().panel.cages, 64);
}

#[test]
fn a_refused_file_adds_nothing() {
    let mut catalogue = Catalogue::builtin();
    let before: Vec<String> = catalogue.ids().map(str::to_owned).collect();
    catalogue.add_yaml(&mut Sources::new(), "site.yaml", &GOOD.replace("cages: 2", "cages: 3")).unwrap_err();
    assert_eq!(catalogue.ids().collect::<Vec<_>>(), before);
}

#[test]
fn unreadable_text() {
    for bad in
        ["", "\0\u{1}", "- a\n- b\n", "id: [", "id: a\n---\nid: b\n", "&a [*a]", "{{{{", "id: !!binary x"]
    {
        let (_, result) = add(bad);
        let found = result.expect_err(bad);
        assert_eq!(found.errors(), 1, "{bad:?}");
        assert!(matches!(found.iter().next().unwrap().rule.code, "E1001" | "E1002"), "{bad:?}");
    }
    let (_, result) = add(&"# filler\n".repeat(20_000));
    assert_eq!(result.unwrap_err().iter().next().unwrap().rule.code, "E1001");
    expect(
        "title: A switch",
        "id: again\ntitle: A switch",
        "E1001",
        "key `id` is set twice in this mapping",
        "id",
    );
}

#[test]
fn deep_nesting_and_alias_bombs_end_in_an_error() {
    let deep = format!("id: {}{}", "[".repeat(5_000), "]".repeat(5_000));
    add(&deep).1.unwrap_err();
    let mut bomb = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (this, last) in [("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "e"), ("g", "f"), ("h", "g")] {
        writeln!(bomb, "{this}: &{this} [{}]", vec![format!("*{last}"); 10].join(", ")).unwrap();
    }
    add(&bomb).1.unwrap_err();
}

#[test]
fn shape() {
    expect("cages: 2", "cagse: 2", "E1002", "`cagse` is not a key known here", "cagse");
    expect("features: [pfc, ecn]", "features: [pcf, ecn]", "E1002", "`pcf` is not a word known here", "pcf");
    expect("os: [sonic]", "os: [ios]", "E1002", "`ios` is not a word known here", "ios");
    let (code, message, _) = one("title: A switch of the site\n", "");
    assert_eq!((code, message.as_str()), ("E1002", "key `title` is missing"));
    let lacking = [("title: A switch of the site\n", ""), ("  lanes: 4\n", ""), ("my_sids: 0, ", "")];
    let found = faults(&lacking);
    let found: Vec<_> = found.iter().map(|(_, message, place)| (message.as_str(), place.as_str())).collect();
    for (key, place) in [("title", None), ("lanes", Some("panel")), ("my_sids", Some("limits"))] {
        let message = format!("key `{key}` is missing");
        let fault = found.iter().find(|(said, _)| *said == message);
        let (_, at) = fault.unwrap_or_else(|| panic!("{key}: {found:?}"));
        // The first error is where the parser stopped.
        assert!(place.is_none_or(|place| *at == place || *at == found[0].1), "{key}: {found:?}");
    }
    assert_eq!(found.len(), lacking.len(), "{found:?}");
    let (code, message, place) = one("1x100G, 4x25G", "1x100G, 4by25");
    assert_eq!((code, place.as_str()), ("E1002", "4by25"));
    assert!(message.contains("`4by25` is not a breakout"), "{message}");
    let (code, message, place) = one("lane_speed: 25G", "lane_speed: 25");
    assert_eq!((code, place.as_str()), ("E1002", "25"));
    assert!(message.contains("25G"), "{message}");
    for bad in ["cages: -1", "cages: 99999999999", "cages: many", "cages: [2]", "cages: 1.5", "cages:"] {
        assert_eq!(one("cages: 2", bad).0, "E1002", "{bad}");
    }
}

#[test]
fn shape_says_what_stands_there() {
    let message = |to: &str| one("cages: 2", to).1;
    let expected = "expected a whole number from 0 to 65535, found";
    assert_eq!(message("cages: many"), format!("{expected} `many`"));
    assert_eq!(message("cages:"), format!("{expected} nothing"));
    assert_eq!(message("cages: [2]"), "expected a word or number, found a list");
    assert_eq!(one("[data sheet]", "data sheet").1, "expected a list, found `data sheet`");
}

#[test]
fn names() {
    expect(
        "id: site-switch",
        "id: My Switch",
        "E1003",
        "platform name `My Switch` is malformed",
        "My Switch",
    );
    for bad in ["-a", "a-", "a--b", "9a", "ä", "'1'", "a_b"] {
        assert_eq!(one("id: site-switch", &format!("id: {bad}")).0, "E1003", "{bad}");
    }
}

#[test]
fn breakouts() {
    expect("4x25G", "3x25G", "E1004", "`3x25G` cannot split 4 lanes into 3 ports", "3x25G");
    expect("4x25G", "8x10G", "E1004", "`8x10G` cannot split 4 lanes into 8 ports", "8x10G");
    expect("4x25G", "4x50G", "E1004", "`4x50G` does not fit the speed of the lanes", "4x50G");
    expect("4x25G", "1x100G", "E1004", "breakout `1x100G` is listed twice", "1x100G");
    let message = "default breakout `2x50G` is not one of `breakouts`";
    expect("default: 1x100G", "default: 2x50G", "E1005", message, "2x50G");
    let (code, _, place) =
        one("platform: x86_64-site", "platform: p, hwskus: [{breakouts: [2x50G], hwsku: x}]");
    assert_eq!((code, place.as_str()), ("E1005", "2x50G"));
}

#[test]
fn lanes_and_panel() {
    let text = "{ first: [1, 5, 9] }";
    expect("{ first: [1, 5] }", text, "E1006", "`serial_lanes` has 3 entries for 2 cages", "{");
    let text = "{ first: [1, 3] }";
    expect("{ first: [1, 5] }", text, "E1006", "lane 3 is in cage 1 and in cage 2", "{");
    let text = "{ each: [[1, 2, 3, 4], [5, 6]] }";
    expect("{ first: [1, 5] }", text, "E1006", "entry 2 of `serial_lanes` has 2 lanes", "{");
    let text = "{ from: 65530 }";
    expect("{ first: [1, 5] }", text, "E1006", "`serial_lanes` counts past lane 65535", "{");
    let codes: Vec<_> = faults(&[("cages: 2", "cages: 0")]).into_iter().map(|f| f.0).collect();
    assert_eq!(codes, ["E1007", "E1006"]);
    let codes: Vec<_> = faults(&[("lanes: 4", "lanes: 0")]).into_iter().map(|f| f.0).collect();
    assert!(codes.contains(&"E1007"), "{codes:?}");
    let found = faults(&[("cages: 2", "cages: 65535"), ("{ first: [1, 5] }", "{ from: 0 }")]);
    assert!(found.iter().any(|f| f.0 == "E1007"), "{found:?}");
    let step = "naming: sonic_lane\n  numbers: { first: 1, step: 0 }";
    assert_eq!(one("naming: sonic_lane", step).0, "E1007");
}

#[test]
fn power_has_a_figure_and_a_source() {
    let power = |power: &str| one("panel:\n", &format!("power: {{ {power} }}\npanel:\n"));
    for (text, message) in [
        ("source: { published: sheet }", "`power` has no value"),
        ("typical_watts: 0, source: { published: sheet }", "the switch draws 0 W"),
        (
            "typical_watts: 900, maximum_watts: 800, source: { published: sheet }",
            "the typical power, 900 W, is above the maximum, 800 W",
        ),
    ] {
        let found = power(text);
        assert_eq!((found.0, &*found.1), ("E1007", message));
    }
    assert_eq!(power("typical_watts: 900").0, "E1002");
    let both = "power: { typical_watts: 900, maximum_watts: 1200, source: { measured: rack 1 } }\npanel:\n";
    assert!(add(&GOOD.replace("panel:\n", both)).1.is_ok());
}

#[test]
fn texts_can_stand_in_artefacts() {
    for (from, to) in [
        ("hwsku: Site-Switch", "hwsku: ../../etc"),
        ("hwsku: Site-Switch", "hwsku: \"a\\nb\""),
        ("hwsku: Site-Switch", "hwsku: \"\""),
        ("platform: x86_64-site", "platform: \"x86 64\""),
        ("platform: x86_64-site", "platform: a/b"),
        ("title: A switch of the site", "title: \"a\\e[2Jb\""),
        ("sources: [data sheet]", "sources: [\"a\\u202eb\"]"),
    ] {
        let codes: Vec<_> = faults(&[(from, to)]).into_iter().map(|(code, ..)| code).collect();
        assert_eq!(codes, ["E1013"], "{to}");
    }
}

#[test]
fn sonic_buffer_limits_features() {
    assert_eq!(one("sonic: { hwsku: Site-Switch, platform: x86_64-site }\n", "").0, "E1008");
    let codes: Vec<_> = faults(&[("os: [sonic]", "os: [frr]")]).into_iter().map(|f| f.0).collect();
    assert_eq!(codes, ["E1008"]);
    assert_eq!(one("naming: sonic_lane", "naming: eth").0, "E1008");
    let codes: Vec<_> = faults(&[("os: [sonic]", "os: []")]).into_iter().map(|f| f.0).collect();
    assert_eq!(codes, ["E1008", "E1008"]);

    expect("total: 16MB", "total: 16KB", "E1009", "a buffer of 16KB holds 76 cells of 208B", "16KB");
    assert_eq!(one("cell: 208", "cell: 0").0, "E1009");
    let message = "`broadcom-tomahawk2` is not a headroom model";
    expect("broadcom-tomahawk-2", "broadcom-tomahawk2", "E1009", message, "broadcom-tomahawk2");

    expect("ecmp_width: 64", "ecmp_width: 0", "E1010", "`ecmp_width` is 0", "0");
    assert_eq!(one("features: [pfc, ecn]", "features: [un]").0, "E1010");

    expect("[pfc, ecn]", "[pfc, ua]", "E1011", "feature `ua` needs `un` in `features`", "ua");
    expect("[pfc, ecn]", "[pfc, ecn, pfc]", "E1011", "feature `pfc` is listed twice", "pfc");
    let buffer = "buffer: { total: 16MB, cell: 208, headroom: broadcom-tomahawk-2 }\n";
    expect(buffer, "", "E1011", "feature `pfc` needs a `buffer` section", "pfc");
    // orchagent: "value(9) is out of range: 0 <= index <= 7" (sonic-mgmt 26172).
    let trimming = "features: [trimming, pfc, ecn]\ntrimming: { size_min: 206, queue: 9 }";
    let found = one("features: [pfc, ecn]", trimming);
    assert_eq!((found.0, &*found.1), ("E1011", "`trimming` has queue 9, expected 0 to 7 with SONiC"));
}

#[test]
fn a_site_defines_a_name_once() {
    let mut sources = Sources::new();
    let mut catalogue = Catalogue::builtin();
    catalogue.add_yaml(&mut sources, "a.yaml", GOOD).unwrap();
    let found = catalogue.add_yaml(&mut sources, "b.yaml", GOOD).unwrap_err();
    let shown = text::all(&found, &sources, text::Colour::Plain);
    assert!(shown.contains("error[E1012]: platform `site-switch` is defined twice"), "{shown}");
    assert!(shown.contains("a.yaml:1") && shown.contains("b.yaml:1"), "{shown}");
}

#[test]
fn every_fault_of_a_file_comes_in_one_run() {
    let found = faults(&[
        ("id: site-switch", "id: X"),
        ("4x25G", "3x25G"),
        ("default: 1x100G", "default: 2x50G"),
        ("{ first: [1, 5] }", "{ first: [1, 1] }"),
        ("cell: 208", "cell: 0"),
        ("ipv6_routes: 1000", "ipv6_routes: 0"),
        ("[pfc, ecn]", "[ua]"),
    ]);
    let codes: Vec<_> = found.iter().map(|f| f.0).collect();
    assert_eq!(codes, ["E1003", "E1004", "E1005", "E1006", "E1009", "E1010", "E1011"]);
}

#[test]
fn rules_are_numbered_and_explained() {
    for (at, rule) in RULES.iter().enumerate() {
        assert_eq!(rule.code, format!("E10{:02}", at + 1));
        for part in [rule.title, rule.condition, rule.impact, rule.example, rule.fix] {
            assert!(!part.trim().is_empty(), "{}", rule.code);
        }
    }
}

#[test]
fn a_port_map_numbers_every_lane_once() {
    let map = |map: &str| {
        let os = ("os: [sonic]", "os: [p4]");
        let names = ("naming: sonic_lane\n", &*format!("naming: device\n{map}"));
        let sonic = ("sonic: { hwsku: Site-Switch, platform: x86_64-site }\n", "");
        faults(&[os, names, sonic])
    };
    let said = |text: &str| {
        let found = map(text);
        assert!(found.iter().all(|(code, ..)| *code == "E1014") && found.len() == 1, "{found:?}");
        found[0].1.clone()
    };
    assert_eq!(said(""), "naming `device` needs `device_ports`");
    assert_eq!(said("  device_ports: [136]\n"), "`device_ports` has 1 entries for 2 cages");
    assert_eq!(said("  device_ports: [136, 138]\n"), "device port 138 is in cage 1 and in cage 2");
    assert_eq!(
        said("  device_ports: [136, 509]\n"),
        "device port 512 of cage 2 exceeds 9 bits, expected at most 511"
    );
    let (code, message, _) = one("os: [sonic]\n", "os: [sonic]\npipeline: fabric_tna\n");
    assert_eq!(
        (code, message.as_str()),
        ("E1014", "pipeline `fabric_tna` is set, but `os` lists only systems that do not support `pipeline`")
    );
}

/// Cages that are never split can have consecutive port numbers (Accton-AS9726-32D: `Ethernet1` to `Ethernet32`).
#[test]
fn port_numbers_of_complete_cages() {
    let numbered = |breakouts: &str| {
        let serial = "serial_lanes: { first: [1, 5] }";
        let yaml = GOOD
            .replace("breakouts: [1x100G, 4x25G]", &format!("breakouts: {breakouts}"))
            .replace(serial, &format!("port_numbers: {{ first: [1, 2] }}\n  {serial}"));
        add(&yaml).1.map_err(|found| found.iter().map(|found| found.message.clone()).collect::<Vec<_>>())
    };
    assert!(numbered("[1x100G]").is_ok());
    assert_eq!(numbered("[1x100G, 4x25G]"), Err(vec!["port 2 is in cage 1 and in cage 2".to_owned()]));
}

/// An unknown SONiC release is rejected in every field that contains a release.
#[test]
fn releases_of_sonic_are_known() {
    let section = "sonic: { hwsku: Site-Switch, platform: x86_64-site }";
    let with = |text: &str| format!("sonic: {{ hwsku: Site-Switch, platform: x86_64-site, {text} }}");
    let of = |text: &str| faults(&[(section, &with(text))]);
    for (text, key) in [
        ("since: \"202612\"", "sonic.since"),
        ("facts: { Site-Switch: { since: \"202612\" } }", "sonic.facts.Site-Switch.since"),
        ("facts: { Site-Switch: { trimming_since: \"202612\" } }", "sonic.facts.Site-Switch.trimming_since"),
        (
            "facts: { Site-Switch: { ecmp_width: { members: 64, since: \"202612\", source: { measured: x } } } }",
            "sonic.facts.Site-Switch.ecmp_width.since",
        ),
    ] {
        let found = of(text);
        assert_eq!((found.len(), found[0].0), (1, "E1016"), "{found:?}");
        assert_eq!(found[0].1, format!("unknown SONiC release `202612` in `{key}`"));
        assert!(add(&GOOD.replace(section, &with(&text.replace("202612", "202605")))).1.is_ok(), "{text}");
    }
    let (code, message, _) = one("total: 16MB", "older: [{ until: \"202612\", total: 15MB }], total: 16MB");
    assert_eq!((code, message.contains("buffer.older.until")), ("E1016", true));
    let (code, ..) = one("cages: 2", "cages: 2\n  older_naming: { until: \"10.5\", naming: sonic_slash }");
    assert_eq!(code, "E1016");
}

#[test]
fn cages_of_a_hwsku_are_on_the_panel() {
    let section = "platform: x86_64-site";
    let of = |cages: &str| {
        let hwsku = format!("{{ breakouts: [1x100G, 4x25G], hwsku: Two, cages: {{ {cages} }} }}");
        add(&GOOD.replace(section, &format!("{section}, hwskus: [{hwsku}]")))
            .1
            .map(drop)
            .map_err(|found| found.iter().map(|one| (one.rule.code, one.message.clone())).collect::<Vec<_>>())
    };
    assert_eq!(of("1x100G: \"0\", 4x25G: \"1\""), Ok(()));
    let said = |message: &str| Err(vec![("E1015", message.to_owned())]);
    assert_eq!(
        of("1x100G: \"0-2\""),
        said("hwsku `Two` uses cage 2, but the panel has 2 cages, numbered from 0")
    );
    assert_eq!(of("1x100G: \"0-1\", 4x25G: \"1\""), said("hwsku `Two` lists cage 1 for two breakouts"));
    let other = "hwsku `Two` lists cages for `2x50G`, which is not one of its breakouts";
    assert_eq!(of("2x50G: \"0\""), said(other));
}

#[test]
fn lanes_of_port_names_and_lists() {
    let of = |text: &str| {
        let (code, message, _) = one("cages: 2", &format!("cages: 2\n  {text}"));
        (code, message)
    };
    assert_eq!(of("listed_lanes: 0"), ("E1007", "`listed_lanes` is 0".to_owned()));
    assert_eq!(of("lanes_per_number: 0"), ("E1007", "`lanes_per_number` is 0".to_owned()));
    let several = "several ports of `4x25G` have the same number in their names";
    assert_eq!(of("lanes_per_number: 2"), ("E1007", several.to_owned()));
    assert!(add(&GOOD.replace("cages: 2", "cages: 2\n  listed_lanes: 2")).1.is_ok());
}

#[test]
fn buffers_of_hwskus() {
    let with = |text: &str| format!("total: 16MB, totals: {{ {text} }}");
    let (code, message, _) = one("total: 16MB", &with("Other: 15MB"));
    let unknown = "`totals` of `buffer` names Other, which is not a hwsku of the platform";
    assert_eq!((code, &*message), ("E1009", unknown));
    let (code, message, _) = one("total: 16MB", &with("Site-Switch: 1000"));
    assert_eq!((code, &*message), ("E1009", "a buffer of 1KB on Site-Switch is too small"));
    assert!(add(&GOOD.replace("total: 16MB", &with("Site-Switch: 15MB"))).1.is_ok());
}

/// Facts about a hwsku that the file lacks would be ignored, and facts without a source cannot be checked.
#[test]
fn facts_have_a_hwsku_and_a_source() {
    let section = "platform: x86_64-site";
    let of = |facts: &str| one(section, &format!("{section}, facts: {{ {facts} }}"));
    let (code, message, _) = of("Site-switch: { un: { lacking: tested } }");
    assert_eq!(
        (code, message.as_str()),
        ("E1017", "`facts` of `Site-switch`: the file has no hwsku of this name")
    );
    let (code, message, _) = of("Site-Switch: { trimming: { assumed: \" \" } }");
    assert_eq!((code, message.as_str()), ("E1017", "`trimming` of `Site-Switch` has no source"));
    let (code, message, _) = of("Site-Switch: { ecmp_width: { members: 64, source: { measured: \"\" } } }");
    assert_eq!((code, message.as_str()), ("E1017", "`ecmp_width` of `Site-Switch` has no source"));
    let (code, message, _) =
        one("neighbours: 64 }", "neighbours: 64, provenance: { my_sids: { assumed: \"\" } } }");
    assert_eq!((code, message.as_str()), ("E1017", "`provenance` of `my_sids` has no source"));
    let fact = "facts: { Site-Switch: { un: { lacking: tested } } }";
    assert!(add(&GOOD.replace(section, &format!("{section}, {fact}"))).1.is_ok());
}

/// A configuration with the port names of another system would be rejected by the switch.
#[test]
fn every_system_has_its_port_names() {
    for (os, naming) in [("nvue", "swp"), ("eos", "slash")] {
        let list = format!("os: [sonic, {os}]");
        let (code, message, _) = one("os: [sonic]", &list);
        assert_eq!(
            (code, message),
            ("E1008", format!("`{os}` does not name its ports as `sonic_lane` does"))
        );
        let names = ("naming: sonic_lane", &*format!("naming: sonic_lane\n  namings: {{ {os}: {naming} }}"));
        let yaml = GOOD.replace("os: [sonic]", &list).replace(names.0, names.1);
        assert!(add(&yaml).1.is_ok(), "{os}");
        let (code, message, _) = one(names.0, names.1);
        let unused = format!("`namings` has port names for `{os}`, but `os` does not list `{os}`");
        assert_eq!((code, message), ("E1008", unused));
    }
}

#[test]
fn aliases_contain_only_known_placeholders() {
    let of = |whole: &str| {
        let aliases = format!(
            "naming: sonic_lane\n  aliases: {{ whole: \"{whole}\", split: \"Eth{{cage}}/{{part}}\" }}"
        );
        one("naming: sonic_lane", &aliases)
    };
    for (whole, unknown) in [("Eth{cag}{cage}", "{cag}"), ("Eth{cage}{", "{"), ("Eth{cage}}", "}")] {
        let (code, message, _) = of(whole);
        assert_eq!(code, "E1013");
        assert!(
            message.starts_with(&format!("`{unknown}` in an alias is not one of `{{cage}}`, ")),
            "{message}"
        );
    }
}

#[test]
fn single_cages_of_breakouts() {
    let of = |text: &str| {
        let (code, message, _) = one("cages: 2", &format!("cages: 2\n  {text}"));
        (code, message)
    };
    let missing = "`breakout_cages` has cages of `2x50G`, which the panel does not offer";
    assert_eq!(of("breakout_cages: { 2x50G: 0 }"), ("E1004", missing.to_owned()));
    let beyond = "`4x25G` is in cage 2, which the panel does not have";
    assert_eq!(of("breakout_cages: { 4x25G: 1-2 }"), ("E1004", beyond.to_owned()));
    let missing = "`disables_next` has `2x50G`, which the panel does not offer";
    assert_eq!(of("disables_next: [2x50G]"), ("E1004", missing.to_owned()));
    let good = "cages: 2\n  breakout_cages: { 4x25G: 1 }\n  disables_next: [4x25G]";
    let mut catalogue = Catalogue::builtin();
    catalogue.add_yaml(&mut Sources::new(), "site.yaml", &GOOD.replace("cages: 2", good)).unwrap();
    assert_eq!(catalogue.get("site-switch").unwrap().ports_max("4x25G".parse().unwrap()), 4);
}
