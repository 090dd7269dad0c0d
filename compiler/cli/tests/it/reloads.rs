//! A rollout drains exactly the SONiC switches that a push reloads.
//!
//! Drawn changes grow a fabric in different ways, on several platforms, releases, profiles and routing modes. The
//! method of each switch in `patches.json` is compared with the verdict and the waves of the same `closc diff`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Place;

/// Number of changes that are drawn and valid.
const DRAWN: usize = 30;

/// A platform with the speed and the lanes of a NIC with two ports.
const PLATFORMS: [(&str, &str); 7] = [
    ("th5-512x100g", "{ speed: 200G, lanes: 2 }"),
    ("th5-128x400g", "{ speed: 800G, lanes: 8 }"),
    ("th5-64x800g", "{ speed: 1600G, lanes: 16 }"),
    ("spectrum4-sn5600", "{ speed: 1600G, lanes: 16 }"),
    ("spectrum4-sn5600-256x200g", "{ speed: 400G, lanes: 4 }"),
    ("th4-64x400g", "{ speed: 800G, lanes: 16 }"),
    ("nvidia-sn5610n-256x100g", "{ speed: 200G, lanes: 4 }"),
];

const RELEASES: [&str; 4] = ["202505", "202511", "202605", "master"];
const PROFILES: [&str; 4] = ["none", "lossy-trim", "lossy-trim", "lossless"];
const ROUTING: [&str; 3] = ["srv6-static", "ecmp-static", "bgp-unnumbered"];

/// The numbers of a fabric that grow.
#[derive(Clone, Default)]
struct Sizes {
    groups: u16,
    per_group: u16,
    uplinks: u16,
    /// Zones, if the fabric has T2s.
    zones: Option<u16>,
    absent: &'static str,
    more: &'static str,
}

/// Returns the sizes before and after a kind of growth.
fn growth(kind: u64, amount: u16) -> (Sizes, Sizes) {
    let base = Sizes { groups: 4, per_group: 4, uplinks: 2, ..Sizes::default() };
    let third = Sizes { zones: Some(2), ..base.clone() };
    match kind {
        0 | 1 => (base.clone(), Sizes { groups: 4 + amount, ..base }),
        2 => (base.clone(), Sizes { per_group: 4 + amount, ..base }),
        3 | 4 => (base.clone(), Sizes { uplinks: 2 + amount, ..base }),
        5 => (base.clone(), Sizes { zones: Some(1), ..base }),
        6 => (third.clone(), Sizes { zones: Some(2 + amount), ..third }),
        7 => (Sizes { absent: "z0-p0-t1-002, z0-p1-t0-003--z0-p1-t1-001", ..base.clone() }, base),
        8 => (Sizes { absent: "z0-p1-t0-004", ..base.clone() }, base),
        9 => (base.clone(), Sizes { more: "services: { ntp: [192.0.2.1] }\n", ..base }),
        _ => (third.clone(), Sizes { groups: 4 + amount, ..third }),
    }
}

/// A sequence of numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % end
    }
}

/// The settings that do not change.
struct Setting {
    platform: (&'static str, &'static str),
    release: &'static str,
    profile: &'static str,
    routing: &'static str,
}

fn file(setting: &Setting, sizes: &Sizes) -> String {
    let (platform, nic) = setting.platform;
    let (groups, per_group, uplinks) = (sizes.groups, sizes.per_group, sizes.uplinks);
    let mut text = format!(
        "fabric: pod\nplanes: 2\nrouting: {}\nreleases: {{ sonic: {} }}\nqos: {}\n",
        setting.routing, setting.release, setting.profile
    );
    let zones = sizes.zones.map(|zones| format!("zones: {zones}\n")).unwrap_or_default();
    let (up, t2, upper) = match sizes.zones {
        Some(_) => {
            let t2 = format!("  t2: {{ platform: {platform}, os: sonic }}\n");
            (", up: 4", t2, ", t1-t2: { length: 100m }")
        }
        None => ("", String::new(), ""),
    };
    // Names contain the zone on both sides, because an added tier of T2s would rename the switches.
    write!(
        text,
        "{zones}hosts: {{ groups: {groups}, per_group: {per_group}, nic: {nic} }}\ntiers:\n  \
         t0: {{ platform: {platform}, os: sonic, up: {uplinks} }}\n  t1: {{ platform: {platform}, os: sonic{up} }}\n{t2}\
         naming: {{ t0: 'z{{zone}}-p{{plane}}-t0-{{index:03}}', t1: 'z{{zone}}-p{{plane}}-t1-{{index:03}}' }}\n\
         cables: {{ nic-t0: {{ length: 2m }}, t0-t1: {{ length: 30m }}{upper} }}\n\
         exceptions: {{ absent: [{}] }}\n{}",
        sizes.absent, sizes.more
    )
    .expect("text can be written");
    text
}

fn names(list: &Value) -> BTreeSet<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|name| name.as_str().expect("a name").to_owned()).collect()
}

/// Compares the methods of a push with the verdict and the waves. Returns the numbers of reloads and patches; `None` if
/// the files are not valid.
fn compare(place: &Place, number: usize, old: &str, new: &str) -> Option<(usize, usize)> {
    place.write("a.yaml", old);
    place.write("b.yaml", new);
    let folder = format!("patches{number}");
    let args = ["diff", "a.yaml", "b.yaml", "--patches", &folder, "--waves", "--format", "json"];
    let output = place.closc(&args);
    if output.status.code() != Some(2) {
        return None;
    }
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let index: Value = serde_json::from_str(&place.read(&format!("{folder}/patches.json"))).expect("JSON");
    let by = |method: &str| -> BTreeSet<String> {
        let groups = index["groups"].as_array().expect("a list").iter();
        groups.filter(|group| group["method"] == method).flat_map(|group| names(&group["switches"])).collect()
    };
    let (reloads, patches) = (by("reload"), by("patch"));
    let case = format!("{old}---\n{new}---\n{:#}\nreloads: {reloads:?}", report["rollout"]);
    let steps: Vec<&str> =
        report["rollout"]["steps"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let of_pools = steps.iter().any(|step| step.contains("BUFFER_POOL"));
    let hitless = report["rollout"]["hitless"].as_bool().expect("a verdict");
    assert_eq!(hitless, reloads.is_empty() && !of_pools, "{case}");
    for tier in ["T0", "T1", "T2"] {
        let reloads = reloads.iter().any(|name| name.contains(&tier.to_lowercase()));
        let drains =
            |step: &&str| step.starts_with("not hitless, drain plane by plane") && step.contains(tier);
        assert!(!reloads || steps.iter().any(drains), "{tier}: {case}");
    }
    let waves = report["waves"].as_array().map(Vec::as_slice).unwrap_or_default();
    assert!(!waves.is_empty(), "{case}\n{}", report["no_waves"]);
    let mut drained = BTreeSet::new();
    for wave in waves {
        let own = names(&wave["drained"]);
        for name in names(&wave["switches"]).intersection(&reloads) {
            // Stages in which a switch only adds next hops follow its reload.
            assert!(own.contains(name) || drained.contains(name), "{name} reloads in use: {case}\n{wave:#}");
        }
        drained.extend(own);
    }
    assert_eq!(drained, reloads, "exactly these are drained: {case}");
    Some((reloads.len(), patches.len()))
}

#[test]
fn drained_switches_are_those_that_reload() {
    let (place, mut numbers) = (Place::new(), Numbers(41));
    let mut counts = Vec::new();
    for number in 0..4 * DRAWN {
        let setting = Setting {
            platform: PLATFORMS[numbers.below(PLATFORMS.len())],
            release: RELEASES[numbers.below(RELEASES.len())],
            profile: PROFILES[numbers.below(PROFILES.len())],
            routing: ROUTING[numbers.below(ROUTING.len())],
        };
        let kind = numbers.below(11) as u64;
        let amount = [1, 1, 2, 4, 8][numbers.below(5)];
        let (old, new) = growth(kind, amount);
        counts.extend(compare(&place, number, &file(&setting, &old), &file(&setting, &new)));
        if counts.len() == DRAWN {
            break;
        }
    }
    let [reloads, patches] = [
        counts.iter().filter(|(reloads, _)| *reloads > 0).count(),
        counts.iter().filter(|(reloads, patches)| *reloads == 0 && *patches > 0).count(),
    ];
    println!("{} changes: {reloads} with reloads, {patches} with patches only", counts.len());
    assert_eq!(counts.len(), DRAWN, "most drawn changes are valid");
    assert!(reloads >= 8 && patches >= 8, "both methods are drawn: {counts:?}");
}
