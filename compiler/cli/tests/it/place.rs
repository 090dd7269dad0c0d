//! `closc place`: racks and cable lengths from a floor plan, and the resulting order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::common::Place;

/// A floor plan with rows of racks. Racks are 0.6 m wide, and rows are 3 m apart.
fn floor(rows: u32, racks: u32, units: u32, watts: &str) -> String {
    grid([rows, racks], [0.6, 3.0], units, watts)
}

/// A floor plan with rows of racks. `pitch` is the distance of racks and of rows, in metres.
fn grid([rows, racks]: [u32; 2], pitch: [f64; 2], units: u32, watts: &str) -> String {
    let mut text = "rack,row,x,y,units,watts\n".to_owned();
    for row in 0..rows {
        for rack in 0..racks {
            let (x, y) = (f64::from(rack) * pitch[0], f64::from(row) * pitch[1]);
            let _ = writeln!(text, "R{row}.{rack:02},R{row},{x},{y},{units},{watts}");
        }
    }
    text
}

fn design(place: &Place, flags: &str, out: &str) {
    let words: Vec<&str> = ["design", "--out", out].into_iter().chain(flags.split_whitespace()).collect();
    place.ends(0, &words);
}

fn split_words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.expect("a row")).collect()
}

const SUPERPOD: &str =
    "--nics 512 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --routing bgp-unnumbered";

/// Asserts that the longest cables in an order have the lengths in the file, and that the order has shorter
/// ones too.
fn order_has_lengths_of(place: &Place, wanted: &[String; 2]) {
    place.ends(0, &split_words("export order b.yaml --floor c.csv --out o"));
    let cables = rows(&place.read("o/order/cables.csv"));
    let meters = |text: &str| text.trim_end_matches('m').parse::<f64>().expect("metres");
    for (wanted, kind) in wanted.iter().zip(["nic-t0", "t0-t1"]) {
        let lengths = cables.iter().filter(|row| row["ends"] == kind).map(|row| meters(&row["length"]));
        let longest = lengths.fold(0.0, f64::max);
        assert!((longest - meters(wanted)).abs() < 1e-9, "{kind}: {longest} {cables:?}");
    }
    let links: u64 = cables.iter().map(|row| row["links"].parse::<u64>().expect("a count")).sum();
    assert_eq!(links, 1_024 + 512);
    assert!(cables.len() > 2, "shorter cables are ordered, too: {cables:?}");
}

/// T0s use half of their cages and T1s all. The power of a rack includes the modules of its own switches.
#[test]
fn the_power_of_a_rack_includes_its_own_modules() {
    let place = Place::new();
    let need = "--nics 256 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    design(&place, need, "a.yaml");
    let watts = |text: &str| text.parse::<u32>().expect("watts");
    for limit in ["9000", "6000"] {
        place.write("floor.csv", floor(4, 10, 42, limit));
        let words = "place a.yaml --floor floor.csv --node-units 4 --node-watts 1500 --out b.yaml --placed c.csv --force";
        place.ends(0, &split_words(words));
        place.ends(0, &["export", "order", "b.yaml", "--floor", "c.csv", "--out", limit]);
        let placed = rows(&place.read("c.csv"));
        let racks = rows(&place.read(&format!("{limit}/order/power.csv")));
        assert!(racks.len() > 1, "{racks:?}");
        for rack in &racks {
            let row =
                placed.iter().find(|row| row["device_rack"] == rack["rack"]).expect("a rack of the floor");
            let (most, typical) = (watts(&row["used_watts"]), watts(&rack["typical_watts"]));
            // The switch has only a typical power, and a module needs 16 W, at most 17 W.
            assert!((typical..typical + typical / 10).contains(&most), "{row:?} {rack:?}");
            assert!(most <= watts(limit), "{row:?}");
        }
    }
}

#[test]
fn racks_and_lengths_follow_from_the_floor() {
    let place = Place::new();
    design(&place, SUPERPOD, "a.yaml");
    place.write("floor.csv", floor(4, 10, 48, "45000"));
    let shown = place.json(
        0,
        &split_words(
            "place a.yaml --floor floor.csv --node-units 10 --node-watts 14500 --out b.yaml --placed c.csv",
        ),
    );
    place.ends(0, &["check", "b.yaml", "-D", "warnings", "--allow", "W0203"]);
    // There are 64 nodes of 14.5 kW, so a rack of 45 kW has three.
    let placed = rows(&place.read("c.csv"));
    assert_eq!(placed.len(), 40, "every rack of the plan is listed");
    let of = |kind: &str| placed.iter().filter(|row| row["kind"] == kind).cloned().collect::<Vec<_>>();
    let sum =
        |kind: &str| of(kind).iter().map(|row| row["devices"].parse::<u32>().expect("a count")).sum::<u32>();
    assert_eq!([sum("nodes"), sum("t0"), sum("t1")], [64, 16, 8]);
    for row in placed.iter().filter(|row| !row["kind"].is_empty()) {
        let number = |column: &str| row[column].parse::<u32>().expect("a number");
        assert!(
            number("used_units") <= number("units") && number("used_watts") <= number("watts"),
            "{row:?}"
        );
    }
    assert!(of("nodes").iter().all(|row| row["devices"].parse::<u32>().expect("a count") <= 3), "{placed:?}");
    // Copper reaches 3 m, and the racks of a unit are farther apart.
    let cable = |at: usize, key: &str| shown["cables"][at][key].as_str().unwrap_or_default().to_owned();
    assert_eq!(
        (cable(0, "kind"), cable(0, "replaces")),
        ("nic-t0".to_owned(), "dac".to_owned()),
        "{shown:#}"
    );
    let text = place.read("b.yaml");
    assert!(
        text.contains(&format!(
            "nic-t0: {{ length: {}, medium: {} }}",
            cable(0, "length"),
            cable(0, "medium")
        )),
        "{text}"
    );
    assert!(
        text.contains("cables:  # length from the floor plan\n") && !text.contains("assumed, the longest"),
        "lengths are not assumed any more: {text}"
    );
    assert!(
        text.starts_with(place.read("a.yaml").lines().next().expect("a comment")),
        "comments stay: {text}"
    );
    order_has_lengths_of(&place, &[cable(0, "length"), cable(1, "length")]);
    let said = place.ends(1, &split_words("place b.yaml --floor floor.csv"));
    assert!(said.contains("has `racks` already"), "{said}");
}

#[test]
fn a_floor_that_does_not_do_is_refused_with_a_reason() {
    let place = Place::new();
    design(&place, SUPERPOD, "a.yaml");
    place.write("small.csv", floor(1, 6, 48, ""));
    place.write("low.csv", floor(4, 10, 6, ""));
    place.write("limited.csv", floor(4, 10, 48, "9000"));
    place.write("wide.csv", "rack,row,x,y,units,wats\nA,A,0,0,48,1\n");
    place.write("b.yaml", place.read("a.yaml").replace("spectrum4-sn5600", "th5-64x800g"));
    for (flags, wanted) in [
        ("a.yaml --floor small.csv", "the floor plan is too small: 6 of "),
        ("a.yaml --floor low.csv", "no rack of the floor plan can hold a node of 8 units"),
        ("a.yaml --floor limited.csv", "set the power of a node with `--node-watts`"),
        (
            "a.yaml --floor limited.csv --node-watts 14500",
            "no rack of the floor plan can hold a node of 8 units and 14500 W",
        ),
        ("a.yaml --floor wide.csv", "unknown column `wats`"),
        ("a.yaml --floor nowhere.csv", "nowhere.csv"),
    ] {
        let line = format!("place {flags} --out never.yaml");
        let said = place.ends(1, &split_words(&line));
        assert!(said.contains(wanted), "{flags}: {said}");
        assert!(!place.path("never.yaml").exists(), "{flags}");
    }
    let said = place.ends(1, &split_words("export order a.yaml --floor small.csv --out o"));
    assert!(said.contains("the floor plan has no position for `p0-t0-001`"), "{said}");
}

/// In fabrics of all shapes, every device has a rack, and the file passes the checks.
#[test]
fn fabrics_of_every_shape_have_a_place() {
    let place = Place::new();
    place.write("floor.csv", floor(40, 60, 48, ""));
    for (at, (flags, kinds)) in [
        ("--nics 64 --platform spectrum4-sn5600 --planes 1", &["nodes", "t0", "t1"][..]),
        ("--nics 1024 --nics-per-node 4 --rails 4 --platform th5-512x100g --speed 800G --planes 8", &["nodes", "t0", "t1"]),
        (
            "--nics 1024 --nics-per-node 8 --rails 8 --platform th4-64x400g --planes 1 --planes-by-nic 8 --routing ecmp-static",
            &["nodes", "t0", "t1"],
        ),
        (
            "--nics 8192 --rails 8 --platform spectrum4-sn5600 --speed 800G --planes 1 --tiers 3 --routing ecmp-static",
            &["nodes", "t0", "t1", "t2"],
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (before, after) = (format!("{at}.yaml"), format!("{at}-placed.yaml"));
        design(&place, flags, &before);
        let shown = place.json(0, &["place", &before, "--floor", "floor.csv", "--out", &after]);
        let racks = shown["racks"].as_array().expect("a list");
        let devices = |kind: &str| {
            let racks = racks.iter().filter(|rack| rack["kind"] == kind);
            racks.map(|rack| rack["devices"].as_u64().expect("a count")).sum::<u64>()
        };
        let counts = place.json(0, &["check", &after])["counts"].take();
        for kind in kinds {
            let key = if *kind == "nodes" { "hosts" } else { kind };
            let wanted = counts[*kind].as_u64().or(counts[key].as_u64());
            assert_eq!(Some(devices(kind)), wanted, "{flags}: {kind} {counts:#}");
        }
        let mut positions: Vec<&str> = racks.iter().filter_map(|rack| rack["rack"].as_str()).collect();
        positions.sort_unstable();
        let all = positions.len();
        positions.dedup();
        assert_eq!(positions.len(), all, "{flags}: two racks have one position");
    }
}

/// The height of this switch is not published, so the user states it.
#[test]
fn an_unpublished_height_is_an_option() {
    let place = Place::new();
    design(
        &place,
        "--nics 64 --planes 1 --platform th3-32x400g --routing bgp-unnumbered --os sonic",
        "a.yaml",
    );
    place.write("floor.csv", floor(2, 10, 48, ""));
    let line = "place a.yaml --floor floor.csv --out b.yaml";
    let said = place.ends(1, &split_words(line));
    assert!(said.contains("height of `th3-32x400g`: use `--switch-units`"), "{said}");
    place.ends(0, &split_words(&format!("{line} --switch-units 1")));
    place.ends(0, &split_words("check b.yaml"));
}

/// No source publishes the power of `aec` plugs, so it is an option if racks have limits.
#[test]
fn unpublished_power_of_modules_is_an_option() {
    let place = Place::new();
    design(&place, SUPERPOD, "a.yaml");
    let text = place.read("a.yaml");
    let aec = text.replace("length: 30m, medium: dr4", "length: 7m, medium: aec");
    assert_ne!(aec, text);
    place.write("aec.yaml", &aec);
    place.write("floor.csv", floor(4, 20, 42, "60000"));
    let line = "place aec.yaml --floor floor.csv --node-watts 9000 --out b.yaml --placed c.csv";
    let said = place.ends(1, &split_words(line));
    assert!(said.contains("`aec` modules with 8 lanes of 100G: use `--module-watts`"), "{said}");
    place.ends(0, &split_words(&format!("{line} --module-watts 12")));
    let placed = rows(&place.read("c.csv"));
    let t1 = placed.iter().find(|row| row["device_rack"].contains("t1-")).expect("a rack of T1s");
    let number = |name: &str| t1[name].parse::<u32>().expect("a number");
    assert_eq!(number("used_watts"), number("devices") * (940 + 64 * 12), "{t1:?}");
}

/// Returns the cables of an order by kind: the sum of their lengths in metres, and the longest.
fn order_lengths(place: &Place, line: &str) -> BTreeMap<String, (f64, f64)> {
    place.ends(0, &split_words(line));
    let mut sums = BTreeMap::<String, (f64, f64)>::new();
    for row in rows(&place.read("o/order/cables.csv")) {
        let meters: f64 = row["length"].trim_end_matches('m').parse().expect("metres");
        let links: f64 = row["links"].parse().expect("a count");
        let known = sums.entry(row["ends"].clone()).or_default();
        *known = (known.0 + meters * links, known.1.max(meters));
    }
    sums
}

/// T1s have cables only to T0s of their zone, so their racks are beside it. The limits are the sums of a placement
/// by hand, with nodes, T0s, T1s and nodes of a zone side by side.
#[test]
fn t1s_are_beside_the_t0s_of_their_zone() {
    let place = Place::new();
    let need = "--nics 1600 --nics-per-node 8 --rails 2 --speed 400G --planes 1 --tiers 3 --platform th4-64x400g --os sonic --routing bgp-unnumbered";
    design(&place, need, "a.yaml");
    place.write("floor.csv", grid([20, 30], [0.75, 3.2], 52, "60000"));
    for (flags, most, longest) in [("", 54_720.0, 10.0), (" --crossings 0m,21.75m", 56_000.0, 20.0)] {
        let line = "place a.yaml --floor floor.csv --node-units 8 --node-watts 9000 --switch-watts 1100 --module-watts 8 --out b.yaml --placed c.csv --force";
        let shown = place.json(0, &split_words(&format!("{line}{flags}")));
        assert_eq!(shown["racks"].as_array().map(Vec::len), Some(102), "{flags}");
        let lengths = order_lengths(&place, "export order b.yaml --floor c.csv --out o");
        let sum: f64 = lengths.values().map(|(sum, _)| sum).sum();
        assert!(sum <= most, "{flags}: {sum} m, {lengths:?}");
        assert!(lengths["t0-t1"].1 <= longest, "{flags}: {lengths:?}");
    }
}

/// If trays cross the rows only at their ends, the middle of a row is far from other rows. The limit is the sum
/// after two racks of T1s were swapped by hand with racks of nodes at the end of their row.
#[test]
fn t1s_are_near_the_trays_that_cross_the_rows() {
    let place = Place::new();
    let need = "--nics 1536 --speed 800G --rails 8 --planes 2 --platform spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    design(&place, need, "a.yaml");
    place.write("floor.csv", grid([8, 24], [0.6, 2.4], 48, "40000"));
    let trays = "--drop 3.2m --crossings 0m,13.8m";
    let line = format!(
        "place a.yaml --floor floor.csv --node-units 8 --node-watts 11000 {trays} --out b.yaml --placed c.csv"
    );
    place.ends(0, &split_words(&line));
    let lengths = order_lengths(&place, &format!("export order b.yaml --floor c.csv {trays} --out o"));
    let (sum, longest) = lengths["t0-t1"];
    assert!(sum <= 512.0 * 15.0 + 1_024.0 * 20.0 && longest <= 20.0, "{lengths:?}");
    // The placed floor plan has the trays, so the order needs no options.
    assert_eq!(order_lengths(&place, "export order b.yaml --floor c.csv --out o"), lengths);
    let other = order_lengths(&place, "export order b.yaml --floor c.csv --drop 4m --out o");
    assert!(other["t0-t1"].0 > sum, "options replace the trays of the plan: {other:?}");
}

/// The power of a switch is that of the box, as data sheets state it. Its modules are added.
#[test]
fn modules_are_added_to_the_stated_power_of_a_switch() {
    let place = Place::new();
    let need = "--nics 1024 --rails 8 --speed 800G --planes 2 --platform th5-64x800g --os eos --routing bgp-unnumbered";
    design(&place, need, "a.yaml");
    place.write("floor.csv", grid([20, 30], [0.75, 3.2], 52, "60000"));
    let line =
        "place a.yaml --floor floor.csv --node-units 8 --node-watts 10000 --switch-watts 1400 --placed c.csv";
    place.ends(0, &split_words(line));
    let t0s: Vec<_> = rows(&place.read("c.csv")).into_iter().filter(|row| row["kind"] == "t0").collect();
    assert!(!t0s.is_empty());
    for row in t0s {
        let number = |column: &str| row[column].parse::<u32>().expect("a number");
        // A switch has 64 modules with 8 lanes, of 17 W each.
        assert_eq!(number("used_watts"), number("devices") * (1_400 + 64 * 17), "{row:?}");
    }
}

#[test]
fn a_tray_may_cross_on_the_other_side_of_the_origin() {
    let place = Place::new();
    design(&place, SUPERPOD, "a.yaml");
    place.write("floor.csv", floor(4, 10, 48, ""));
    place.ends(0, &split_words("place a.yaml --floor floor.csv --crossings -3m,16m --placed c.csv"));
    assert!(rows(&place.read("c.csv")).iter().all(|row| row["crossings"] == "-3 16"));
    let said = place.ends(64, &split_words("place a.yaml --floor floor.csv --crossings -b"));
    assert!(said.contains("invalid value '-b' for '--crossings"), "{said}");
}
