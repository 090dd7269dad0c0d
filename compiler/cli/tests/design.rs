//! `closc design`: published fabrics are found or beaten, and each design is a fabric that compiles.

mod common;

use serde_json::Value;

use common::Place;

/// Runs `design` and returns its document.
fn designs(place: &Place, flags: &str) -> Value {
    let words: Vec<&str> = ["design", "--format", "json"].into_iter().chain(flags.split(' ')).collect();
    let text = place.ends(0, &words);
    serde_json::from_str(&text).expect("one document")
}

fn all(found: &Value) -> &Vec<Value> {
    found["designs"].as_array().expect("a list")
}

/// Published counts: switches, cables between switches.
#[test]
fn a_published_fabric_is_found_or_beaten() {
    let place = Place::new();
    let superpod =
        "--speed 800G --planes 2 --rails 8 --routing bgp-unnumbered --os nvue --platform spectrum4-sn5600";
    for (flags, switches, cables) in [
        // NVIDIA DGX SuperPOD B300, table 3; cables of 800G.
        (format!("--nics 512 {superpod}"), 24, 512),
        (format!("--nics 1024 {superpod}"), 48, 1024),
        (format!("--nics 2048 {superpod}"), 96, 2048),
        (format!("--nics 4096 {superpod}"), 192, 4096),
        // 16 units use all ports of T1s at 2x400G.
        (format!("--nics 8192 {superpod}"), 384, 16_384),
        // Alibaba HPN 7.0, a pod: 240 ToRs and 120 aggregation switches, 16:15.
        (
            "--nics 15360 --speed 400G --planes 2 --rails 8 --oversubscription 16:15 --os eos --tiers 2 --routing \
             bgp-unnumbered --platform th5-64x800g,th5-128x400g"
                .to_owned(),
            360,
            14_400,
        ),
        // MRC, arXiv 2605.04333: 4,096 T0s and 2,048 T1s.
        (
            "--nics 131072 --speed 800G --planes 8 --nics-per-node 4 --rails 4 --routing srv6-static --tiers 2".to_owned(),
            6144,
            1_048_576,
        ),
        // Arista: 128 leaves and 64 spines.
        ("--nics 8192 --planes 1 --rails 8 --routing bgp-unnumbered --os eos --platform th5-128x400g".to_owned(), 192, 8192),
        // DeepSeek, arXiv 2505.09343, table 3: eight planes of FT2 with 64 ports.
        (
            "--nics 2048 --speed 3200G --nics-per-node 1 --planes 8 --routing bgp-unnumbered --tiers 2 --os eos --platform \
             th4-64x400g"
                .to_owned(),
            768,
            16_384,
        ),
        // The three tiers that MRC is compared with: 64 pods, 5,120 switches.
        (
            "--nics 65536 --speed 800G --planes 1 --nics-per-node 4 --rails 4 --routing srv6-static --platform \
             spectrum4-sn5600 --os nvue"
                .to_owned(),
            5120,
            131_072,
        ),
        // 128 ports carry 128^3 / 4 NICs in three tiers.
        (
            "--nics 524288 --speed 400G --planes 1 --rails 8 --routing ecmp-static --platform th5-128x400g".to_owned(),
            20_480,
            1_048_576,
        ),
        // Tomahawk 6, 512 ports of 200G: 512 leaves and 256 spines.
        (
            "--nics 131072 --speed 200G --nics-per-node 1 --planes 1 --routing bgp-unnumbered --platform th6-512x200g".to_owned(),
            768,
            131_072,
        ),
    ] {
        let found = designs(&place, &format!("{flags} --objective switches"));
        let is_as_good = |row: &&Value| {
            row["switches"].as_u64() <= Some(switches) && row["cables_switch"].as_u64() <= Some(cables)
        };
        assert!(all(&found).iter().any(|row| is_as_good(&row)), "{flags}: {found}");
    }
}

#[test]
fn each_design_is_a_fabric_without_a_finding() {
    let place = Place::new();
    for (at, flags) in [
        "--nics 64",
        "--nics 512 --speed 800G --rails 8",
        "--nics 1000 --rails 4 --oversubscription 2:1",
        "--nics 1016 --rails 8 --nics-per-node 8",
        "--nics 8192 --tiers 3 --planes 2,4",
        "--nics 65536 --speed 800G --planes 1 --rails 4 --platform spectrum4-sn5600",
        "--nics 256 --grow-to 1024 --planes 2",
        "--nics 64 --speed 200G --planes 2 --platform linux --os linux --routing ecmp-static",
    ]
    .into_iter()
    .enumerate()
    {
        let found = designs(&place, &format!("{flags} --show 8"));
        assert!(!all(&found).is_empty(), "{flags}");
        for (index, row) in all(&found).iter().enumerate() {
            let name = format!("{at}-{index}.yaml");
            place.write(&name, row["file"].as_str().expect("a text"));
            place.ends(0, &["check", &name, "-D", "warnings", "--allow", "W0203"]);
            assert_eq!(place.ends(0, &["fmt", "--check", &name]), "", "{}", row["file"]);
        }
    }
    place.ends(0, &["compile", "0-0.yaml", "--out", "tree", "-D", "warnings", "--allow", "W0203"]);
    place.ends(0, &["verify", "tree"]);
}

#[test]
fn limits_hold_and_the_picked_design_is_written() {
    let place = Place::new();
    let found = designs(&place, "--nics 512 --fail t0<=25%,t1<=5% --planes 1,2,4,8");
    for row in all(&found) {
        assert!(row["planes"].as_u64() >= Some(4), "{row}");
        assert!(row["t1_loss_percent"].as_f64() <= Some(5.0), "{row}");
    }
    let found = designs(&place, "--nics 512 --grow-to 2048 --planes 2");
    assert!(all(&found).iter().all(|row| row["largest"].as_u64() >= Some(2048)), "{found}");
    place.ends(0, &["design", "--nics", "512", "--pick", "2", "--out", "two.yaml", "--name", "second"]);
    assert!(place.read("two.yaml").contains("fabric: second\n"));
    let page = place.ends(0, &["design", "--nics", "512"]);
    assert!(page.contains("\n 1  ") && page.contains("Fewest switches: "), "{page}");
    assert!(
        page.lines().filter(|line| !line.contains("known fault: ")).all(|line| line.chars().count() <= 110),
        "{page}"
    );
}

#[test]
fn a_cost_is_the_sum_of_given_prices() {
    let place = Place::new();
    place.write(
        "prices.csv",
        "item,price\nspectrum4-sn5600,100\ncable nic-t0,1\ncable switch-switch,2\nmodule switch-switch,3\n",
    );
    let flags = "--nics 512 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --prices prices.csv --objective cost";
    let found = designs(&place, flags);
    let first = &all(&found)[0];
    assert_eq!(
        (first["switches"].as_u64(), first["cost"].as_u64()),
        (Some(24), Some(2400 + 1024 + 2 * 512 + 3 * 1024))
    );
}

#[test]
fn a_need_without_a_design_is_refused_with_a_reason() {
    let place = Place::new();
    for (flags, wanted) in [
        ("--nics 1001", "1001 is not a whole number of nodes of 8 NICs: use `--nics 1008`"),
        ("--nics 64 --rails 3", "3 rails do not divide the 8 NICs of a node"),
        ("--nics 64 --planes 1 --speed 10G", "no switch of the catalogue has ports of 10G"),
        ("--nics 64 --platform sn9999", "no platform `sn9999`"),
        ("--nics 8 --planes 1 --platform spectrum4-sn5600", "one T0 holds 8 NICs"),
        ("--nics 400000000 --planes 4", "no design keeps these limits"),
        ("--nics 64 --objective cost", "needs `--prices FILE`"),
        ("--nics 64 --pick 9 --show 2 --out x.yaml", "`--pick 9`: there are 2 designs"),
    ] {
        let words: Vec<&str> = ["design"].into_iter().chain(flags.split(' ')).collect();
        let said = place.ends(1, &words);
        assert!(said.contains(wanted), "{flags}: {said}");
    }
    let said = place.ends(64, &["design", "--nics", "64", "--fail", "t2<=5%"]);
    assert!(said.contains("is not a limit"), "{said}");
}
