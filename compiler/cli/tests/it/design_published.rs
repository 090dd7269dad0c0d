//! Published fabrics: for each, `closc design` finds a design that needs no more switches, cables and modules. If the
//! published fabric is not on the Pareto front, `--explain` lists better designs.

use serde_json::Value;

use crate::common::Place;

/// A published fabric of two tiers. Cables are counted as links between ports, so a cable with two ports per plug is
/// two links.
struct PublishedFabric {
    name: &'static str,
    /// Options that describe the need.
    need: &'static str,
    planes: u64,
    /// T0s and T1s of a plane, and cables between each pair of them.
    t0s: u64,
    t1s: u64,
    parallel: u64,
    per_group: u64,
    /// `hosts` of the file.
    hosts: &'static str,
    /// Platform and operating system, and the breakouts of T0 downlinks, T0 uplinks and T1 downlinks.
    t0: &'static str,
    t1: &'static str,
    splits: [&'static str; 3],
    /// The rest of the file.
    rest: &'static str,
}

const BGP: &str =
    "routing: bgp-unnumbered\nqos: none\nwarnings: { W0901: allow, W0904: allow, W0906: allow }\n";

/// NVIDIA DGX SuperPOD B300, Ethernet, table 3: 1 to 16 scalable units of 512 NICs, in two planes of 400G.
const SUPERPOD: PublishedFabric = PublishedFabric {
    name: "SuperPOD B300",
    need: "--speed 800G --planes 2 --rails 8 --routing bgp-unnumbered --os nvue --platform spectrum4-sn5600",
    planes: 2,
    t0s: 8,
    t1s: 4,
    parallel: 16,
    per_group: 64,
    hosts: "nics_per_node: 8, rails: 8, nic: { speed: 800G, lanes: 8 }",
    t0: "platform: spectrum4-sn5600, os: nvue",
    t1: "platform: spectrum4-sn5600, os: nvue",
    splits: ["2x400G", "2x400G", "2x400G"],
    rest: BGP,
};

const OTHERS: &[PublishedFabric] = &[
    // Alibaba HPN 7.0, SIGCOMM 2024: a pod of 15 segments, 240 ToRs and 120 aggregation switches, 16:15.
    PublishedFabric {
        name: "HPN 7.0",
        need: "--nics 15360 --speed 400G --planes 2 --rails 8 --oversubscription 16:15 --os eos --tiers 2 --routing \
               bgp-unnumbered --platform th5-64x800g,th5-128x400g",
        planes: 2,
        t0s: 120,
        t1s: 60,
        parallel: 1,
        per_group: 128,
        hosts: "nics_per_node: 8, rails: 8, nic: { speed: 400G, lanes: 4 }",
        t0: "platform: th5-64x800g, os: eos, oversubscription: \"16:15\"",
        t1: "platform: th5-128x400g, os: eos",
        splits: ["4x200G", "2x400G", "2x400G"],
        rest: BGP,
    },
    // MRC, arXiv 2605.04333: 4,096 T0s and 2,048 T1s in 8 planes.
    PublishedFabric {
        name: "MRC",
        need: "--nics 131072 --speed 800G --planes 8 --nics-per-node 4 --routing srv6-static --tiers 2 --os sonic",
        planes: 8,
        t0s: 512,
        t1s: 256,
        parallel: 1,
        per_group: 256,
        hosts: "nics_per_node: 4, nic: { speed: 800G, lanes: 8 }",
        t0: "platform: th5-512x100g, os: sonic",
        t1: "platform: th5-512x100g, os: sonic",
        splits: ["8x100G", "8x100G", "8x100G"],
        rest: "routing: srv6-static\nqos: lossy-trim\nwarnings: { W0904: allow, W0202: allow }\n",
    },
    // Arista: 128 leaves and 64 spines with 128 ports of 400G.
    PublishedFabric {
        name: "Arista",
        need: "--nics 8192 --planes 1 --rails 8 --routing bgp-unnumbered --os eos --platform th5-128x400g",
        planes: 1,
        t0s: 128,
        t1s: 64,
        parallel: 1,
        per_group: 64,
        hosts: "nics_per_node: 8, rails: 8, nic: { speed: 400G, lanes: 4 }",
        t0: "platform: th5-128x400g, os: eos",
        t1: "platform: th5-128x400g, os: eos",
        splits: ["2x400G", "2x400G", "2x400G"],
        rest: BGP,
    },
    // DeepSeek, arXiv 2505.09343, table 3: 16,384 NICs of 400G in eight planes; each of 2,048 nodes has one NIC per
    // plane.
    PublishedFabric {
        name: "DeepSeek",
        need: "--nics 2048 --speed 3200G --nics-per-node 1 --planes 8 --routing bgp-unnumbered --tiers 2 --os eos --platform \
               th4-64x400g",
        planes: 8,
        t0s: 64,
        t1s: 32,
        parallel: 1,
        per_group: 32,
        hosts: "nics_per_node: 1, nic: { speed: 3200G, lanes: 64 }",
        t0: "platform: th4-64x400g, os: eos",
        t1: "platform: th4-64x400g, os: eos",
        splits: ["1x400G", "1x400G", "1x400G"],
        rest: BGP,
    },
    // Broadcom Tomahawk 6, 512 ports of 200G: 512 leaves and 256 spines.
    PublishedFabric {
        name: "Tomahawk 6",
        need: "--nics 131072 --speed 200G --nics-per-node 1 --planes 1 --routing bgp-unnumbered --platform th6-512x200g --os sonic",
        planes: 1,
        t0s: 512,
        t1s: 256,
        parallel: 1,
        per_group: 256,
        hosts: "nics_per_node: 1, nic: { speed: 200G, lanes: 2 }",
        t0: "platform: th6-512x200g, os: sonic",
        t1: "platform: th6-512x200g, os: sonic",
        splits: ["4x200G", "4x200G", "4x200G"],
        rest: BGP,
    },
];

impl PublishedFabric {
    fn file(&self) -> String {
        let PublishedFabric { planes, t0s, per_group, parallel, hosts, t0, t1, rest, .. } = self;
        let [down, up, below] = self.splits;
        let (ups, downs) = (self.uplinks(), t0s * parallel);
        format!(
            "fabric: published\nplanes: {planes}\nhosts: {{ groups: {t0s}, per_group: {per_group}, {hosts} }}\n\
             tiers:\n  t0: {{ {t0}, down: {{ count: {per_group}, breakout: {down} }}, \
             up: {{ count: {ups}, breakout: {up} }}, parallel: {parallel} }}\n  \
             t1: {{ {t1}, down: {{ count: {downs}, breakout: {below} }} }}\n\
             cables:\n  nic-t0: {{ length: 2m, medium: dac }}\n  t0-t1: {{ length: 30m, medium: dr4 }}\n{rest}"
        )
    }

    fn uplinks(&self) -> u64 {
        self.t1s * self.parallel
    }

    /// Switches, links between them, and cages with modules for these links.
    fn counts(&self) -> [u64; 3] {
        let ports =
            |split: &str| split.split('x').next().and_then(|ports| ports.parse().ok()).unwrap_or(1_u64);
        let [_, up, below] = self.splits;
        let switches = self.planes * (self.t0s + self.t1s);
        let links = self.planes * self.t0s * self.uplinks();
        let modules = self.t0s * self.uplinks().div_ceil(ports(up))
            + self.t1s * (self.t0s * self.parallel).div_ceil(ports(below));
        [switches, links, self.planes * modules]
    }

    fn need(&self) -> Vec<&str> {
        self.need.split_whitespace().collect()
    }
}

fn counts(row: &Value) -> [u64; 3] {
    ["switches", "cables_switch", "modules"].map(|name| row[name].as_u64().expect("a count"))
}

/// Maximum number of NICs for which modules are also counted in an order, because an order lists every cable.
const ORDERED: u64 = 20_000;

/// The same numbers, read from the file of a design by `check` and `export order`.
fn counts_of_file(place: &Place, row: &Value) -> [u64; 3] {
    place.write("found.yaml", row["file"].as_str().expect("a file"));
    let checked = place.json(0, &["check", "found.yaml"])["counts"].take();
    let count = |name: &str| checked[name].as_u64().expect("a count");
    let [switches, links] = [count("t0") + count("t1") + count("t2"), count("fabric_links")];
    if count("nics") > ORDERED {
        return [switches, links, counts(row)[2]];
    }
    place.ends(0, &["export", "order", "found.yaml", "--out", "order"]);
    let cables = place.read("order/order/cables.csv");
    let between = cables.lines().filter(|line| !line.starts_with("ends,") && !line.starts_with("nic-t0,"));
    let cages = between.flat_map(|line| line.split(',').skip(6)).map(str::parse::<u64>);
    let modules = cages.sum::<Result<u64, _>>().expect("counts");
    std::fs::remove_dir_all(place.path("order")).expect("the folder of the order");
    [switches, links, modules]
}

/// Parses the ratio of downward to upward bandwidth, such as `16:15`.
fn ratio(text: &str) -> (u64, u64) {
    let (down, up) = text.split_once(':').expect("a ratio");
    (down.parse().expect("a number"), up.parse().expect("a number"))
}

/// Asserts that each design meets the need, and has the numbers of its file.
fn reread(place: &Place, name: &str, (need, rows): (&[&str], &[Value])) {
    let after = |flag: &str| need.iter().position(|word| *word == flag).map(|at| need[at + 1]);
    let nics = after("--nics").and_then(|nics| nics.parse::<u64>().ok());
    let (down, up) = ratio(after("--oversubscription").unwrap_or("1:1"));
    for row in rows {
        assert_eq!(counts_of_file(place, row), counts(row), "{name}: {row:#}");
        let has = ratio(row["oversubscription"].as_str().expect("a ratio"));
        assert!(row["places"].as_u64() >= nics && has.0 * up <= down * has.1, "{name}: {row:#}");
    }
}

/// Compares a published fabric with the designs for its need, and with the expected counts of the best design.
fn compare(place: &Place, published: &PublishedFabric, more: &[&str], best: [u64; 3]) {
    let name = published.name;
    let wanted = published.counts();
    let need: Vec<&str> = published.need().into_iter().chain(more.iter().copied()).collect();
    let design: Vec<&str> = ["design", "--show", "32"].into_iter().chain(need.iter().copied()).collect();
    let found = place.json(0, &design);
    let rows = found["designs"].as_array().expect("a list");
    let is_as_good = |row: &&Value| counts(row).iter().zip(wanted).all(|(has, wanted)| *has <= wanted);
    assert!(rows.iter().any(|row| is_as_good(&row)), "{name} {more:?}: {wanted:?}");
    assert!(rows.iter().any(|row| counts(row) == best), "{name} {more:?}: {best:?} is not found");
    assert!(rows.iter().all(|row| row["switches"].as_u64() >= Some(best[0])), "{name} {more:?}: {found:#}");
    reread(place, name, (&need, rows));

    place.write("published.yaml", published.file());
    let explain: Vec<&str> =
        ["design", "--explain", "published.yaml"].into_iter().chain(need.iter().copied()).collect();
    let explained = place.json(0, &explain);
    assert_eq!(counts(&explained["named"]), wanted, "{name} {more:?}");
    assert_eq!(explained["outside"], serde_json::json!([]), "{name} {more:?}");
    let beaten_by = explained["beaten_by"].as_array().expect("a list");
    let is_on_front = explained["on_front"] == true;
    assert!(is_on_front == beaten_by.is_empty(), "{name} {more:?}: {explained:#}");
    assert_eq!(is_on_front, best == wanted, "{name} {more:?}: {explained:#}");
    for better in beaten_by {
        let numbers = better["numbers"].as_array().expect("a list");
        let is_less = |number: &Value| number["design"].as_u64() < number["named"].as_u64();
        assert!(!numbers.is_empty() && numbers.iter().all(is_less), "{name} {more:?}: {better:#}");
    }
}

#[test]
fn each_size_of_the_superpod_is_found_or_beaten() {
    let place = Place::new();
    for (units, switches) in [(1, 24), (2, 48), (4, 96), (8, 192), (16, 384)] {
        let published = PublishedFabric { t0s: 8 * units, t1s: 4 * units, parallel: 16 / units, ..SUPERPOD };
        assert_eq!(published.counts()[0], switches);
        let nics = (512 * units).to_string();
        // With up to 8 units, uplinks of 800G need half the cables between switches. With 16, a T1 has one port per
        // T0.
        let cables = if units == 16 { 16_384 } else { 512 * units };
        compare(&place, &published, &["--nics", &nics], [switches, cables, 1024 * units]);
    }
}

#[test]
fn other_published_fabrics_are_found_or_beaten() {
    let place = Place::new();
    for (published, switches) in OTHERS.iter().zip([360, 6144, 192, 768, 768]) {
        assert_eq!(published.counts()[0], switches, "{}", published.name);
        compare(&place, published, &[], published.counts());
    }
}

/// Planes by NIC: sixteen thousand NICs of 400G in eight planes that only nodes connect.
#[test]
fn planes_by_nic_are_found_as_deepseek_has_them() {
    let place = Place::new();
    let need = "--nics 16384 --speed 400G --rails 8 --planes 1 --routing bgp-unnumbered --os sonic --platform th4-64x400g \
                --planes-by-nic";
    let words = |more: &[&'static str]| -> Vec<&'static str> {
        ["design"].into_iter().chain(need.split_whitespace()).chain(more.iter().copied()).collect()
    };
    let found = place.json(0, &words(&["8"]));
    let design = &found["designs"][0];
    let counts = ["planes_by_nic", "switches", "places", "cables_nic", "cables_switch"];
    let counts = counts.map(|name| design[name].as_u64().expect("a count"));
    assert_eq!(counts, [8, 768, 16_384, 16_384, 16_384], "{design:#}");
    place.write("found.yaml", design["file"].as_str().expect("a file"));
    let published = "topologies/reference/published/deepseek-mpft.yaml";
    let checked = |file: &str| place.json(0, &["check", file])["counts"].take();
    assert_eq!(checked("found.yaml"), checked(published));
    let explained = place.json(0, &words(&["8", "--explain", published]));
    assert!(explained["on_front"] == true && explained["outside"] == serde_json::json!([]), "{explained:#}");
    // A fabric whose switches connect all NICs is not beaten by one whose switches do not.
    let both = place.json(0, &words(&["1,8", "--show", "32"]));
    let rows = both["designs"].as_array().expect("a list");
    let has = |zones: u64| rows.iter().any(|row| row["planes_by_nic"] == zones);
    assert!(has(1) && has(8), "{both:#}");
    let explained = place.json(0, &words(&["1", "--explain", published]));
    assert!(
        explained["outside"].to_string().contains("`--planes-by-nic` does not include 8"),
        "{explained:#}"
    );
}
