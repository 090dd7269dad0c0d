//! `closc design --stages` for random needs: if the list states that a stage moves and renumbers nothing,
//! `closc grow` agrees.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use crate::common::Place;

/// Number of needs.
const NEEDS: usize = 24;

/// Platforms with a routing that they support.
const HARDWARE: &[(&str, &str)] = &[
    ("spectrum4-sn5600", "srv6-static"),
    ("spectrum4-sn5600", "bgp-unnumbered"),
    ("spectrum3-sn4700", "ecmp-static"),
    ("spectrum3-sn4700", "bgp-unnumbered"),
    ("th4-64x400g", "bgp-unnumbered"),
];

struct Dice(SplitMix64);

impl Dice {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.0.next_u64() % of.len() as u64) as usize]
    }

    fn need(&mut self) -> Vec<String> {
        let rails = self.pick(&[1_u64, 1, 4]);
        let mut nics = 8 * (2 + self.0.next_u64() % self.pick(&[6, 30, 62]));
        let mut stages = vec![nics.to_string()];
        for _ in 0..self.pick(&[1, 2]) {
            nics *= self.pick(&[2, 3, 4, 8]);
            stages.push(nics.to_string());
        }
        let (platform, routing) = self.pick(HARDWARE);
        vec![
            format!("--stages={}", stages.join(",")),
            format!("--rails={rails}"),
            format!("--planes={}", self.pick(&["1", "2", "1,2"])),
            format!("--routing={routing}"),
            format!("--platform={platform}"),
        ]
    }
}

fn check(place: &Place, stages: &[Value]) -> u64 {
    let mut still = 0;
    for (at, stage) in stages.iter().enumerate() {
        place.write(&format!("stage-{at}.yaml"), stage["file"].as_str().expect("a text"));
    }
    for (at, stage) in stages.iter().enumerate().skip(1) {
        // A stage whose NICs fit into the previous one has the same file.
        let code = if stage["places"] == stages[at - 1]["places"] { 0 } else { 2 };
        let order =
            place.json(code, &["grow", &format!("stage-{}.yaml", at - 1), &format!("stage-{at}.yaml")]);
        let jobs = order["jobs"].as_array().expect("a list");
        let moved = jobs.iter().filter(|job| job["action"] != "add");
        let mut moved: Vec<String> = moved.map(|job| format!("{} {}", job["action"], job["lower"])).collect();
        moved.dedup();
        let moved = moved.len();
        assert_eq!(stage["cables_moved"].as_u64(), Some(moved as u64), "{stage:#}");
        let renumbers = order["renumbers"] != json!([]) || order["renamed"] != json!([]);
        assert_eq!(stage["renumbers"], renumbers, "{stage:#}\n{}", order["renumbers"]);
        still += u64::from(moved == 0);
    }
    still
}

#[test]
fn stages_that_move_nothing_move_nothing() {
    let place = Place::new();
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut dice = Dice(SplitMix64::seed_from_u64(42 + seed.unwrap_or(1)));
    let (mut still, mut third) = (0, 0);
    for _ in 0..NEEDS {
        let need = dice.need();
        let words: Vec<&str> = ["design", "--format", "json", "--show", "2"]
            .into_iter()
            .chain(need.iter().map(String::as_str))
            .collect();
        let output = place.closc(&words);
        let found: Value = serde_json::from_slice(&output.stdout).expect("one document");
        if output.status.code() != Some(0) {
            println!("no design for {}: {}", need.join(" "), found["error"]);
            continue;
        }
        for row in found["designs"].as_array().expect("a list") {
            still += check(&place, row["stages"].as_array().expect("a list"));
            third += usize::from(row["tiers"].as_array().is_some_and(|tiers| tiers.len() == 3));
        }
    }
    println!("{still} stages that move nothing, {third} designs of three tiers");
    assert!(still >= NEEDS as u64 / 2 && third > 0, "{still} {third}");
}

/// All T2s exist from the first stage, with ports for later zones, and addresses have bits for these zones.
#[test]
fn the_first_stage_has_all_t2s_and_the_widths_of_the_last() {
    let place = Place::new();
    for (flags, t2s, bits) in [
        ("--stages 512,8192 --planes 1 --platform spectrum3-sn4700", 256, 5),
        ("--stages 2048,65536 --planes 1 --platform th4-64x400g", 1024, 6),
    ] {
        let words: Vec<&str> = ["design", "--show", "1"].into_iter().chain(flags.split(' ')).collect();
        let found = place.json(0, &words);
        let row = &found["designs"][0];
        assert_eq!(row["tiers"][2]["switches"].as_u64(), Some(t2s), "{row:#}");
        for stage in row["stages"].as_array().expect("a list") {
            assert!(stage["cables_moved"] == 0 && stage["renumbers"] == false, "{stage:#}");
            let file = stage["file"].as_str().expect("a text");
            assert!(file.contains(&format!("widths: {{ zone: {bits} }}")), "{file}");
        }
    }
}

/// The comment about growth in a file is correct: the edits give a valid file, and `closc grow` moves nothing.
#[test]
fn the_comment_about_growth_is_true_for_three_tiers() {
    let place = Place::new();
    let flags =
        "design --nics 512 --grow-to 8192 --planes 1 --platform spectrum3-sn4700 --tiers 3 --out small.yaml";
    place.ends(0, &flags.split(' ').collect::<Vec<_>>());
    let text = place.read("small.yaml");
    assert!(text.contains("raise `zones`, at most to 32"), "{text}");
    assert!(
        text.contains("and `tiers.t2.down.count` by 1 for each of them, lower `spare` by as many"),
        "{text}"
    );
    let large = text
        .replace("zones: 2 ", "zones: 32 ")
        .replace("down: { count: 2, spare: 30 }", "down: { count: 32 }");
    place.write("large.yaml", large);
    place.ends(0, &["check", "large.yaml", "-D", "warnings", "--allow", "W0203"]);
    let order = place.json(2, &["grow", "small.yaml", "large.yaml"]);
    assert!(
        order["jobs"].as_array().is_some_and(|jobs| jobs.iter().all(|job| job["action"] == "add")),
        "{order:#}"
    );
    assert_eq!(order["renumbers"], json!([]), "{order:#}");
}

/// Stages that must move cables are wired for the later ones: `closc grow --minimal` does not find an order with
/// fewer moves.
#[test]
fn stages_that_move_cables_move_the_fewest() {
    let place = Place::new();
    let mut ordered = 0;
    for flags in [
        "--stages 64,8192 --planes 1 --platform spectrum3-sn4700",
        "--stages 64,128,8192 --planes 1 --platform spectrum3-sn4700",
    ] {
        let words: Vec<&str> = ["design", "--show", "3"].into_iter().chain(flags.split(' ')).collect();
        let found = place.json(0, &words);
        for row in found["designs"].as_array().expect("a list") {
            let stages = row["stages"].as_array().expect("a list");
            check(&place, stages);
            for at in 1..stages.len() {
                let (old, new) = (format!("stage-{}.yaml", at - 1), format!("stage-{at}.yaml"));
                let minimal = &place.json(2, &["grow", "--minimal", &old, &new])["minimal"];
                assert_eq!(minimal["as_written"], minimal["bound"], "{flags}: {minimal:#}");
                ordered += usize::from(place.read(&old).contains("port_order: ["));
            }
        }
    }
    assert!(ordered > 0, "no stage has a port order");
}

/// Returns the switches of each stage of each design.
fn switches_of_stages(place: &Place, flags: &str) -> Vec<Vec<u64>> {
    let words: Vec<&str> = ["design", "--show", "255"].into_iter().chain(flags.split(' ')).collect();
    let found = place.json(0, &words);
    let rows = found["designs"].as_array().expect("a list");
    let switches = |row: &Value| -> Vec<u64> {
        let stages = row["stages"].as_array().expect("a list").iter();
        stages.map(|stage| stage["switches"].as_u64().expect("a number")).collect()
    };
    rows.iter().map(switches).collect()
}

/// Regression: only the numbers of the first stage were compared, so that the last one had twice as many switches as
/// necessary.
#[test]
fn every_stage_is_compared() {
    let place = Place::new();
    let flags = "--stages 100,1000 --nics-per-node 4 --planes 2 --platform spectrum4-sn5600 --os nvue";
    let flags = format!("{flags} --routing bgp-unnumbered");
    let found = switches_of_stages(&place, &flags);
    assert!(found[0] == [12, 24], "{found:?}");
    let flags = "--stages 96,480,1200 --planes 2 --platform spectrum4-sn5600 --rails 4 --nics-per-node 4";
    let found = switches_of_stages(&place, flags);
    assert!(found.contains(&vec![20, 20, 36]), "{found:?}");
    assert!(found.iter().map(|stages| stages[2]).min() <= Some(34), "{found:?}");
    let last: Vec<u64> = found.iter().map(|stages| stages[2]).collect();
    assert_eq!(last.first(), last.iter().min(), "the first design is the best in the last stage: {last:?}");
}

/// The first stage of a design that is best in the last stage is on the front, although other first stages are smaller.
#[test]
fn the_first_stage_of_a_design_is_explained_with_all_stages() {
    let place = Place::new();
    let flags = "design --stages 100,1000 --nics-per-node 4 --planes 2 --platform spectrum4-sn5600 --os nvue \
                 --routing bgp-unnumbered";
    let with = |more: &[&'static str]| -> Vec<&str> {
        flags.split_whitespace().chain(more.iter().copied()).collect()
    };
    place.ends(0, &with(&["--out", "first.yaml"]));
    let explained = place.json(0, &with(&["--explain", "first.yaml"]));
    assert!(explained["on_front"] == true && explained["unbeaten"] == true, "{explained:#}");
    let page = place.ends(0, &with(&["--show", "1"]));
    assert!(page.contains("    The numbers above are those of stage 1.\n"), "{page}");
    assert!(page.contains("    stage 2: 1,024 NIC places, 24 switches (+12)"), "{page}");
}
