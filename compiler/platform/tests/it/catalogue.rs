//! Built-in platforms: each of them loads, and has the ports of a real switch.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use closc_diagnostics::Sources;
use closc_platform::{
    Breakout, Catalogue, FeatureSupport, Limit, Omission, Omissions, Os, Platform, SkuFeature, Slot,
};

fn slots(platform: &Platform, breakout: Breakout) -> impl Iterator<Item = Slot> {
    let cages = platform.panel.cages;
    (0..cages).flat_map(move |cage| (0..breakout.ports).map(move |part| Slot { cage, part, breakout }))
}

#[test]
fn every_file_is_built_in_under_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalogue");
    let entries = fs::read_dir(&folder).unwrap().chain(fs::read_dir(folder.join("sonic")).unwrap());
    let files: BTreeSet<String> = entries
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "yaml"))
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let catalogue = Catalogue::builtin();
    assert_eq!(catalogue.ids().map(str::to_owned).collect::<BTreeSet<_>>(), files);
    assert!(files.len() >= 20, "{files:?}");
    assert!(catalogue.ids().is_sorted());
}

/// The counts in the documentation match the catalogue.
#[test]
fn documented_counts_are_those_of_the_catalogue() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, table) = page.split_once("\n## Switch catalogue\n").expect("a chapter about the catalogue");
    let documented = |label: &str| -> Vec<usize> {
        let row = table.lines().find(|line| line.starts_with(&format!("| {label} |"))).expect(label);
        let after = row.trim_end_matches('|').rsplit('|').next().unwrap();
        after.split(|sign: char| !sign.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    let catalogue = Catalogue::builtin();
    let sonic = || catalogue.iter().filter_map(|platform| platform.sonic.as_ref());
    let models: BTreeSet<&str> = sonic().map(|sonic| sonic.platform.as_str()).collect();
    let hwskus = sonic().map(|sonic| {
        let named = sonic.hwskus.iter().map(|(_, hwsku)| hwsku).chain([&sonic.hwsku]);
        named.collect::<BTreeSet<_>>().len()
    });
    let later = sonic().map(|sonic| sonic.facts.values().filter(|facts| facts.since.is_some()).count());
    let layouts: usize = catalogue.iter().map(|platform| platform.layouts.len()).sum();
    let limits = |keyword: &str| {
        let of = |platform: &Platform| {
            platform.limits.provenance.values().filter(|own| own.parts().0 == keyword).count()
        };
        let counts: Vec<usize> = catalogue.iter().map(|platform| of(platform)).collect();
        [counts.iter().sum::<usize>(), counts.iter().filter(|count| **count > 0).count()]
    };
    let [assumed, files] = limits("assumed");
    for (label, counted) in [
        ("entries", vec![catalogue.ids().count()]),
        ("switch models of SONiC", vec![models.len()]),
        ("hwskus", vec![hwskus.sum()]),
        ("hwskus that a supported release lacks", vec![later.sum()]),
        ("named port layouts", vec![layouts]),
        ("limits with a published source", vec![limits("published")[0]]),
        ("limits that are assumed", vec![assumed, files]),
        ("limits that are measured", vec![limits("measured")[0]]),
    ] {
        assert_eq!(documented(label)[..counted.len()], counted, "{label}");
    }
}

/// Systems that vendors sell or support on these switches.
#[test]
fn systems_of_switches_with_several_vendors() {
    let catalogue = Catalogue::builtin();
    for (id, os) in [
        ("th4-64x400g", Os::Eos),
        ("th4-64x400g", Os::Sonic),
        ("spectrum3-sn4700", Os::Nvue),
        ("spectrum3-sn4700", Os::Sonic),
        ("spectrum6-sn6600", Os::Nvue),
        ("spectrum6-sn6600", Os::Sonic),
    ] {
        assert!(catalogue.get(id).unwrap().supports(os), "{id} {}", os.keyword());
    }
}

#[test]
fn every_breakout_takes_all_listed_lanes_of_the_panel_once() {
    for platform in Catalogue::builtin().iter() {
        let lanes = usize::from(platform.panel.cages) * usize::from(platform.panel.lanes);
        assert_eq!(platform.panel.serial_lanes.len(), lanes, "{}", platform.id);
        for &breakout in &platform.panel.breakouts {
            let used: Vec<u16> =
                slots(platform, breakout).flat_map(|slot| platform.port(slot).lanes).collect();
            let once: BTreeSet<u16> = used.iter().copied().collect();
            let width = breakout.width(platform.panel.lanes);
            let listed = platform.panel.listed_lanes.map_or(width, |most| most.min(width));
            let lanes = lanes / usize::from(width) * usize::from(listed);
            assert_eq!(used.len(), lanes, "{} {breakout}", platform.id);
            assert_eq!(once.len(), lanes, "{} {breakout}", platform.id);
        }
    }
}

#[test]
fn names_aliases_and_numbers_are_unique() {
    for platform in Catalogue::builtin().iter() {
        for &breakout in &platform.panel.breakouts {
            let ports: Vec<_> = slots(platform, breakout).map(|slot| platform.port(slot)).collect();
            let count = usize::from(platform.panel.cages) * usize::from(breakout.ports);
            assert_eq!(ports.len(), count, "{} {breakout}", platform.id);
            assert_eq!(ports.iter().map(|p| &p.name).collect::<BTreeSet<_>>().len(), count);
            assert_eq!(ports.iter().map(|p| &p.alias).collect::<BTreeSet<_>>().len(), count);
            assert_eq!(ports.iter().map(|p| p.number).collect::<BTreeSet<_>>().len(), count);
            assert!(ports.iter().all(|p| p.number >= 1 && !p.lanes.is_empty()), "{}", platform.id);
        }
    }
}

#[test]
fn splitting_one_cage_renames_no_port_of_another() {
    for platform in Catalogue::builtin().iter() {
        // If cage 0 has one breakout and all other cages another, ports never share a name, number or lane.
        for &one in &platform.panel.breakouts {
            for &other in &platform.panel.breakouts {
                let first: Vec<_> =
                    slots(platform, one).filter(|s| s.cage == 0).map(|s| platform.port(s)).collect();
                for port in slots(platform, other).filter(|s| s.cage == 1).map(|s| platform.port(s)) {
                    for near in &first {
                        assert_ne!(near.name, port.name, "{} {one} {other}", platform.id);
                        assert_ne!(near.number, port.number, "{} {one} {other}", platform.id);
                        assert!(near.lanes.iter().all(|lane| !port.lanes.contains(lane)));
                    }
                }
            }
        }
    }
}

#[test]
fn no_lane_is_asked_for_more_than_it_has() {
    for platform in Catalogue::builtin().iter() {
        for &breakout in &platform.panel.breakouts {
            let width = u32::from(platform.panel.lanes / breakout.ports);
            assert!(breakout.speed.mbps() / width <= platform.panel.lane_speed.mbps(), "{}", platform.id);
        }
        assert!(platform.ports_max(platform.panel.default_breakout) > 0, "{}", platform.id);
    }
}

#[test]
fn names_that_carry_a_shape_keep_it() {
    // `th5-512x100g`: the last word contains ports and speed of the default breakout.
    let mut seen = 0;
    for platform in Catalogue::builtin().iter() {
        let shape = platform.id.rsplit('-').next().unwrap().to_uppercase();
        let Ok(shape) = shape.parse::<Shape>() else { continue };
        let breakout = platform.panel.default_breakout;
        assert_eq!((platform.ports_max(breakout), breakout.speed.to_string()), (shape.ports, shape.speed));
        seen += 1;
    }
    assert!(seen >= 12, "{seen}");
}

struct Shape {
    ports: u16,
    speed: String,
}

impl std::str::FromStr for Shape {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (ports, speed) = text.split_once('X').ok_or(())?;
        Ok(Shape { ports: ports.parse().map_err(|_| ())?, speed: speed.to_owned() })
    }
}

#[test]
fn sonic_platforms_have_sonic_names() {
    for platform in Catalogue::builtin().iter() {
        assert_eq!(platform.supports(Os::Sonic), platform.sonic.is_some(), "{}", platform.id);
        if platform.supports(Os::Sonic) {
            let first = Slot { cage: 0, part: 0, breakout: platform.panel.default_breakout };
            let number = platform.panel.port_numbers.as_ref().map_or(0, |numbers| numbers[0]);
            assert_eq!(platform.port(first).name, format!("Ethernet{number}"), "{}", platform.id);
        }
        assert!(!platform.sources.is_empty() && !platform.title.is_empty(), "{}", platform.id);
    }
}

#[test]
fn headroom_models_are_known() {
    for platform in Catalogue::builtin().iter() {
        if let Some(buffer) = &platform.buffer {
            let model: closc_qos::headroom::Model = buffer.headroom_model.parse().unwrap();
            let cell = model.cell();
            if buffer.headroom_model.starts_with("nvidia") || buffer.headroom_model == "sonic-vs" {
                assert_eq!(cell, Some(buffer.cell), "{}", platform.id);
            }
        }
    }
}

#[test]
fn every_limit_has_a_source() {
    for platform in Catalogue::builtin().iter() {
        for limit in Limit::ALL {
            let provenance = platform.limits.provenance.get(&limit);
            let source = provenance.map(|provenance| provenance.parts().1);
            assert!(source.is_some_and(|source| source.len() > 8), "{} {limit:?}", platform.id);
        }
    }
}

/// sonic-mgmt b4ba9de3, `packet_trimming` in tests_mark_conditions.yaml: four hwskus, and only these are published.
#[test]
fn hwskus_that_trim_are_those_that_are_tested() {
    let catalogue = Catalogue::builtin();
    let mut published = BTreeSet::new();
    for platform in catalogue.iter().filter(|platform| platform.supports(Os::Sonic)) {
        let sonic = platform.sonic.as_ref().expect("SONiC runs on it");
        let names = sonic.hwskus.iter().map(|(_, hwsku)| hwsku).chain([&sonic.hwsku]);
        for hwsku in names.filter(|_| platform.features.trimming && platform.id != "sonic-vs") {
            let claim = sonic.facts.get(hwsku).and_then(|facts| facts.trimming.as_ref());
            let (word, source) = claim.unwrap_or_else(|| panic!("{hwsku}")).parts();
            assert!(["published", "assumed"].contains(&word) && !source.is_empty(), "{hwsku}");
            if word == "published" {
                published.insert(hwsku.as_str());
            }
            // A hwsku without a fixed queue uses the queue of the class, whose number a check limits.
            let queue = platform.trim_queue(hwsku);
            assert!(queue.is_none_or(|queue| queue.get() <= 7), "{hwsku}");
        }
        for hwsku in sonic.facts.keys() {
            assert!(
                sonic.hwsku == *hwsku || sonic.hwskus.iter().any(|(_, known)| known == hwsku),
                "{}: facts of {hwsku}, which it does not name",
                platform.id
            );
        }
    }
    let listed = [
        "Arista-7060X6-64PE-B-C448O16",
        "Arista-7060X6-64PE-B-C512S2",
        "Mellanox-SN5640-C448O16",
        "Mellanox-SN5640-C512S2",
    ];
    assert_eq!(published, BTreeSet::from(listed));
}

/// `SAI_NUM_ECMP_MEMBERS` differs between hwskus of one switch, and Spectrum has larger groups of some sizes.
#[test]
fn members_of_groups_are_those_of_the_hwsku() {
    let catalogue = Catalogue::builtin();
    let width = |id: &str, os, breakouts: &[&str]| {
        let platform = catalogue.get(id).expect("it ships");
        let [down, up] = [0, 1].map(|at| breakouts.get(at).map(|split| split.parse().expect("a breakout")));
        platform.group_width((os, None), platform.cages_for(os, down.expect("one of them"), up))
    };
    for id in ["th5-512x100g", "th5-128x400g", "th5-64x800g"] {
        let of = |breakouts: &[&str]| width(id, Os::Sonic, breakouts).members;
        assert_eq!((of(&["8x100G"]), of(&["2x400G"]), of(&["1x800G"])), (512, 128, 64), "{id}");
        assert_eq!((of(&["2x400G", "1x800G"]), of(&["8x100G", "2x400G"])), (96, 512), "{id}");
    }
    // A hwsku of SONiC does not limit other operating systems.
    assert_eq!(width("th5-64x800g", Os::Eos, &["8x100G"]).members, 64);
    let sn5640 = width("spectrum5-sn5640", Os::Sonic, &["8x100G"]);
    let taken: Vec<u64> =
        [128, 129, 200, 256, 257, 512, 8192].into_iter().filter(|at| sn5640.accepts(*at)).collect();
    assert_eq!(taken, [128, 256, 512]);
    assert_eq!([64, 129, 256, 4097].map(|needed| sn5640.max_width(needed)), [128, 256, 256, 128]);
}

/// A hwsku that is listed with two breakouts does not apply if all cages have one of them.
#[test]
fn a_hwsku_of_two_breakouts_is_not_for_one() {
    let catalogue = Catalogue::builtin();
    let has = |id: &str, breakouts: &[&str]| {
        let platform = catalogue.get(id).expect("it ships");
        let [down, up] = [0, 1].map(|at| breakouts.get(at).map(|split| split.parse().expect("a breakout")));
        platform.has_hwsku(platform.cages_for(Os::Sonic, down.expect("one of them"), up))
    };
    assert!(has("nvidia-sn5610n-256x100g", &["8x100G"]));
    assert!(has("nvidia-sn5610n-256x100g", &["8x100G", "2x400G"]));
    assert!(!has("arista-7060dx5-32", &["2x200G"]));
    assert!(!has("marvell-db98cx8580-32cd", &["8x50G"]));
    assert!(has("spectrum4-sn5600-256x100g", &["8x100G"]) && has("th5-512x100g", &["8x100G"]));
}

/// Cumulus Linux 5.14, Segment Routing: only on the Spectrum-4 switch. sonic-mgmt tests it on Spectrum-4 and later.
#[test]
fn segments_of_spectrum_6_are_assumed_with_sonic_only() {
    let catalogue = Catalogue::builtin();
    let standing = |id: &str, os| {
        let platform = catalogue.get(id).expect("it ships");
        platform.feature_support(
            SkuFeature::Segments,
            os,
            platform.all_cages(platform.panel.default_breakout),
        )
    };
    assert!(matches!(standing("spectrum6-sn6600", Os::Sonic), FeatureSupport::Assumed(..)));
    assert_eq!(standing("spectrum6-sn6600", Os::Nvue), FeatureSupport::Missing);
    assert_eq!(standing("spectrum4-sn5600", Os::Nvue), FeatureSupport::Has);
}

/// The register of omissions names no model and no hwsku of the catalogue, and nothing twice.
#[test]
fn omitted_models_and_hwskus_are_not_in_the_catalogue() {
    let catalogue = Catalogue::builtin();
    let register = &Omissions::published().omissions;
    assert!(register.len() > 20, "{}", register.len());
    assert!(register.is_sorted_by(|one, next| one < next));
    for Omission { platform, hwsku, reason } in register {
        let sonic = catalogue.iter().filter_map(|own| own.sonic.as_ref());
        let entries: Vec<_> = sonic.filter(|sonic| sonic.platform == *platform).collect();
        assert!(!reason.is_empty(), "{platform}");
        match hwsku {
            None => assert!(entries.is_empty(), "{platform}"),
            Some(hwsku) => {
                let is_known = entries
                    .iter()
                    .any(|sonic| sonic.hwsku == *hwsku || sonic.hwskus.iter().any(|(_, name)| name == hwsku));
                assert!(!entries.is_empty() && !is_known, "{platform} {hwsku}");
            }
        }
    }
    let found = |name: &str| Omissions::published().find(name).map(|own| own.reason.as_str());
    assert!(
        found("x86_64-supermicro_sse_t8196-r0")
            .is_some_and(|reason| reason.contains("32 cages have 8 lanes"))
    );
    assert!(found("Mellanox-SN4280-C48").is_some() && found("x86_64-nvidia_sn6810_ld-r0").is_none());
}

/// Breakouts of a share of a cage are in `partial`, start at the first lane and leave lanes unused.
#[test]
fn breakouts_of_a_share_are_in_a_list_of_their_own() {
    let codes = |breakouts: &str, partial: &str| {
        let text =
            include_str!("../../catalogue/th3-32x400g.yaml").replace("id: th3-32x400g", "id: box-32x400g");
        let at = text.find("  breakouts: [").expect("the panel has breakouts");
        let end = at + text[at..].find('\n').expect("the line ends");
        let own =
            format!("{}  breakouts: [{breakouts}]\n  partial: [{partial}]{}", &text[..at], &text[end..]);
        let found = Catalogue::builtin().add_yaml(&mut Sources::new(), "box.yaml", &own).err();
        found.map(|all| all.iter().map(|one| one.rule.code).collect::<Vec<_>>()).unwrap_or_default()
    };
    assert_eq!(codes("1x400G, 4x100G", "1x100G(4), 4x25G(4)"), Vec::<&str>::new());
    assert_eq!(codes("1x400G, 4x100G", "1x100G"), ["E1004"], "all lanes");
    assert_eq!(codes("1x400G, 4x100G", "1x400G(8)"), ["E1004"], "all lanes");
    assert_eq!(codes("1x400G, 4x100G", "1x400G(4)"), ["E1004"], "100G per lane");
    assert_eq!(codes("1x400G, 4x100G", "3x25G(4)"), ["E1004"], "a part of a lane");
    assert_eq!(codes("1x400G, 4x100G", "1x100G(4), 1x100G(4)"), ["E1004"], "twice");
    assert_eq!(codes("1x400G, 4x100G, 1x100G(4)", ""), ["E1005"], "a share among whole cages");
}
