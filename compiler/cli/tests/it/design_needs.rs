//! Random needs: `closc check` accepts each design that `closc design` proposes. Some designs are also compiled and
//! verified.

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde_json::Value;

use crate::common::Place;

/// Number of needs.
const NEEDS: usize = 200;

/// One need in this many is also compiled and verified.
const PROVED: usize = 20;

/// Groups of platforms. A search of the complete catalogue for each need would always test the same few designs.
const PLATFORMS: &[&str] = &[
    "spectrum4-sn5600",
    "spectrum4-sn5600,spectrum3-sn4700",
    "spectrum6-sn6600,spectrum4-sn5600",
    "th5-64x800g,th5-128x400g,th5-256x200g,th5-512x100g",
    "th4-64x400g,th3-32x400g",
    "th6-128x800g,th6-256x400g,th6-512x200g,th6-1024x100g",
    "spectrum5-sn5640,th5-512x100g",
    "q3d-7280r4-64x400g,th4-64x400g",
];

struct Dice(SplitMix64);

impl Dice {
    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.0.next_u64() % of.len() as u64) as usize]
    }

    fn need(&mut self) -> Vec<String> {
        let node = self.pick(&[1_u64, 2, 4, 8]);
        let rails = if self.pick(&[true, false]) { node } else { 1 };
        let nodes = 2 + self.0.next_u64() % self.pick(&[14, 126, 510]);
        let mut need = vec![
            format!("--nics={}", nodes * node),
            format!("--nics-per-node={node}"),
            format!("--rails={rails}"),
            format!("--speed={}", self.pick(&["100G", "200G", "400G", "800G"])),
            format!("--planes={}", self.pick(&["1", "2", "4", "8", "1,2,4,8", "2,4"])),
            format!("--oversubscription={}", self.pick(&["1:1", "1:1", "2:1", "3:2", "1:2"])),
            format!("--platform={}", self.pick(PLATFORMS)),
            format!("--tiers={}", self.pick(&["2", "2,3", "3", "1,2,3"])),
            format!("--objective={}", self.pick(&["capacity", "switches", "cables", "resilience"])),
        ];
        match self.0.next_u64() % 6 {
            0 => need.push(format!("--grow-to={}", nodes * node * 2)),
            1 => need.push("--fail=t0<=50%".to_owned()),
            2 => need.push("--routing=srv6-static".to_owned()),
            3 => need.push(format!("--os={}", self.pick(&["sonic", "nvue", "eos"]))),
            _ => {}
        }
        need
    }
}

/// Accepted reasons why hardware cannot meet a need. Each names ports, routing or limits that the switches do not
/// have.
const IMPOSSIBLE: &[&str] = &[
    "no ports of",
    "is not known to forward uSIDs",
    "does not run",
    "no design keeps these limits",
    "`--fail` needs",
    "does not divide into whole Mb/s",
    "no SKU of SONiC with ports of",
    "one T0 holds",
];

#[test]
fn each_proposal_passes_the_checks() {
    let place = Place::new();
    // As in property tests, another seed gives other needs.
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut dice = Dice(SplitMix64::seed_from_u64(41 + seed.unwrap_or(1)));
    let (mut designs, mut proved, mut met) = (0, 0, 0);
    for at in 0..NEEDS {
        let need = dice.need();
        let words: Vec<&str> = ["design", "--format", "json", "--show", "4"]
            .into_iter()
            .chain(need.iter().map(String::as_str))
            .collect();
        let output = place.closc(&words);
        let text = String::from_utf8(output.stdout).expect("text");
        let found: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{need:?}: {text}"));
        if output.status.code() != Some(0) {
            assert_eq!(found["schema"], "closc-error/1", "{need:?}");
            println!("no design for {}: {}", need.join(" "), found["error"]);
            assert!(IMPOSSIBLE.iter().any(|reason| text.contains(reason)), "{need:?}: {text}");
            continue;
        }
        assert_eq!(found["unchecked"], false, "{need:?}");
        let rows = found["designs"].as_array().expect("a list");
        let names: Vec<String> = (0..rows.len()).map(|row| format!("need-{row}.yaml")).collect();
        for (name, row) in names.iter().zip(rows) {
            place.write(name, row["file"].as_str().expect("a text"));
        }
        let check = ["check", "-D", "warnings", "--allow", "W0203"];
        let words: Vec<&str> = check.into_iter().chain(names.iter().map(String::as_str)).collect();
        place.ends(0, &words);
        designs += rows.len();
        met += 1;
        let is_small = rows.first().is_some_and(|row| row["places"].as_u64() <= Some(512));
        if is_small && at / PROVED >= proved {
            let tree = format!("tree-{at}");
            place.ends(0, &["compile", &names[0], "--out", &tree, "-D", "warnings", "--allow", "W0203"]);
            place.ends(0, &["verify", &tree]);
            let need = need.iter().map(String::as_str);
            let words: Vec<&str> = ["design", "--explain", &names[0]].into_iter().chain(need).collect();
            let explained = place.json(0, &words);
            assert!(
                explained["on_front"] == true && explained["outside"] == Value::Array(Vec::new()),
                "{explained:#}"
            );
            proved += 1;
        }
    }
    println!("{met} needs met, {designs} designs, {proved} proved");
    assert!(
        designs >= NEEDS && proved >= NEEDS / PROVED - 2,
        "{designs} designs, {proved} proved, {met} needs met"
    );
}

/// All designs need more routes than a TH6 is assumed to have, and one of them beats the others. If designs that
/// others beat were checked, these checks would take most of the time of a search.
#[test]
fn designs_that_others_beat_are_not_checked() {
    let place = Place::new();
    let flags =
        "--nics 262144 --routing bgp-unnumbered --os sonic --tiers 3 --planes 1 --platform th6-512x200g";
    let words: Vec<&str> = ["design", "--format", "json"].into_iter().chain(flags.split(' ')).collect();
    let output = place.command(&words).env("RUST_LOG", "closc=debug").output().expect("closc runs");
    let found: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(found["unchecked"], false, "{found:#}");
    let log = String::from_utf8_lossy(&output.stderr);
    let checked = log.lines().filter(|line| line.contains("design::checks")).count() as u64;
    let front = found["front"].as_u64().expect("a number");
    assert!((front..=4 * front).contains(&checked), "{checked} files for {front} designs: {log}");
}

/// A range equals the list of its numbers, and `any` equals the list of all routing modes.
#[test]
fn ranges_and_lists_are_equal() {
    let place = Place::new();
    let found = |flags: &str| {
        let need = "design --nics 256 --platform th4-64x400g".split(' ');
        place.json(0, &need.chain(flags.split(' ')).collect::<Vec<_>>())
    };
    let list = found("--tiers 1,2,3 --planes 1,2 --routing bgp-unnumbered,ecmp-static,srv6-static");
    assert_eq!(found("--tiers 1..3 --planes 1..2 --routing any"), list);
    assert_eq!(found("--tiers 3,1..2,2 --planes 2,1 --routing any,ecmp-static"), list);
    for (flags, reason) in [
        (
            "--tiers 1..4",
            "'1..4' for '--tiers <N>': expected a number from 1 to 3, or a range such as `1..3`",
        ),
        ("--tiers 3..2", "'3..2' for '--tiers <N>'"),
        ("--planes 0..2", "expected a number from 1 to 16, or a range such as `1..16`"),
        ("--routing ospf", "expected one of srv6-static, ecmp-static, bgp-unnumbered, any"),
    ] {
        let words: Vec<&str> = ["design", "--nics", "256"].into_iter().chain(flags.split(' ')).collect();
        let printed = place.ends(64, &words);
        assert!(printed.contains(reason), "{flags}: {printed}");
    }
}

/// Regression: a design that exceeds an assumed limit was the first one, and `--out` and `init` wrote it.
#[test]
fn designs_that_exceed_a_limit_come_last() {
    let place = Place::new();
    let flags =
        "--nics 1000 --speed 800G --rails 8 --platform th6-256x400g,spectrum1-msn2700,spectrum4-sn5600";
    let words: Vec<&str> = ["design", "--show", "255"].into_iter().chain(flags.split(' ')).collect();
    let found = place.json(0, &words);
    let rows = found["designs"].as_array().expect("a list");
    let exceeds: Vec<bool> = rows.iter().map(|row| !row["assumed"].is_null()).collect();
    assert!(exceeds.is_sorted(), "{exceeds:?}");
    assert!(exceeds.contains(&true) && exceeds.contains(&false), "{exceeds:?}");
    let words: Vec<&str> = ["init", "--out", "file.yaml", "--routing", "bgp-unnumbered"]
        .into_iter()
        .chain(flags.split(' '))
        .collect();
    place.ends(0, &words);
    assert!(!place.read("file.yaml").contains("W0904"), "{}", place.read("file.yaml"));
}
