//! `closc design`: each design compiles, limits hold, and every output format lists the same designs.

use serde_json::Value;

use crate::common::Place;

/// Runs `design` and returns its document.
fn designs(place: &Place, flags: &str) -> Value {
    let words: Vec<&str> = ["design", "--format", "json"].into_iter().chain(flags.split(' ')).collect();
    let text = place.ends(0, &words);
    serde_json::from_str(&text).expect("one document")
}

fn all(found: &Value) -> &Vec<Value> {
    found["designs"].as_array().expect("a list")
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
    let found = designs(&place, "--nics 512 --fail t0<=12.5% --planes 4,8");
    assert!(all(&found).iter().all(|row| row["planes"].as_u64() == Some(8)), "{found}");
    let found = designs(&place, "--nics 512 --grow-to 2048 --planes 2");
    assert!(all(&found).iter().all(|row| row["largest"].as_u64() >= Some(2048)), "{found}");
    place.ends(0, &["design", "--nics", "512", "--pick", "2", "--out", "two.yaml", "--name", "second"]);
    assert!(place.read("two.yaml").contains("fabric: second\n"));
    let page = place.ends(0, &["design", "--nics", "512"]);
    assert!(page.contains("\n 1  ") && page.contains("Fewest switches by routing:"), "{page}");
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

const SMALL: &str =
    "--nics 512 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --routing bgp-unnumbered";

fn design_args(flags: &str) -> Vec<&str> {
    ["design"].into_iter().chain(flags.split(' ')).collect()
}

#[test]
fn a_fabric_that_is_not_proposed_is_explained() {
    let place = Place::new();
    place.ends(0, &design_args(&format!("{SMALL} --out best.yaml")));
    let explained = place.json(0, &design_args(&format!("{SMALL} --explain best.yaml")));
    assert!(explained["on_front"] == true && explained["outside"] == serde_json::json!([]), "{explained:#}");
    // There are four times as many T1s, each with a quarter of the cables.
    let worse =
        place.read("best.yaml").replace("up: { count: 32 }, parallel: 8", "up: { count: 32 }, parallel: 2");
    place.write("worse.yaml", worse.replace("down: { count: 64 } }", "down: { count: 16 } }"));
    let explained = place.json(0, &design_args(&format!("{SMALL} --explain worse.yaml")));
    assert!(explained["unbeaten"] == false && explained["on_front"] == false, "{explained:#}");
    let first = &explained["beaten_by"][0]["numbers"][0];
    assert_eq!(
        (&first["number"], first["named"].as_u64(), first["design"].as_u64()),
        (&"switches".into(), Some(48), Some(24))
    );
    assert_eq!(explained["outside"], serde_json::json!([]), "{explained:#}");
    let page = place.ends(0, &design_args(&format!("{SMALL} --explain worse.yaml")));
    assert!(page.contains("switches                               24 instead of 48"), "{page}");
    let page =
        place.ends(0, &design_args("--nics 1024 --speed 400G --planes 4 --os sonic --explain best.yaml"));
    for wanted in [
        "512 NIC places, and the need is 1,024",
        "`--planes` does not include 2",
        "800G over all",
        "8 rails, but",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}

#[test]
fn two_fabrics_are_compared_number_by_number() {
    let place = Place::new();
    place.ends(0, &design_args(&format!("{SMALL} --out a.yaml")));
    place.ends(
        0,
        &design_args(
            "--nics 512 --speed 800G --planes 1 --platform th5-64x800g --os eos --tiers 2 --out b.yaml",
        ),
    );
    let page = place.ends(0, &["design", "--compare", "a.yaml", "b.yaml"]);
    assert!(
        page.contains("* planes") && page.contains("  NIC places  ") && page.contains("- not published"),
        "{page}"
    );
    let compared = place.json(0, &["design", "--compare", "a.yaml", "b.yaml"]);
    let [a, b] = [0, 1].map(|at| &compared["fabrics"][at]["design"]);
    assert_eq!((a["planes"].as_u64(), b["planes"].as_u64()), (Some(2), Some(1)));
    // SN5600: 940 W each, and a module of 16 W in each cage between switches. Copper cables to the NICs draw no
    // power.
    assert_eq!(a["power"]["typical_watts"].as_u64(), Some(24 * 940 + 1024 * 16));
    assert_eq!(a["power"]["maximum_unpublished"], serde_json::json!(["spectrum4-sn5600"]));
    assert_eq!(b["power"]["typical_watts"], Value::Null);
    assert_eq!(a["rack_units"].as_u64(), Some(48));
    let text = place.read("topologies/examples/exceptions.yaml");
    place.write("exceptions.yaml", text);
    let said = place.ends(1, &["design", "--compare", "a.yaml", "exceptions.yaml"]);
    assert!(said.contains("has different switches in one tier"), "{said}");
}

#[test]
fn power_is_compared_where_it_is_published() {
    let place = Place::new();
    let found = designs(&place, "--nics 512 --speed 800G --planes 1,2 --rails 8 --objective power --os nvue");
    assert!(found["unpublished"].as_u64() > Some(0), "{found}");
    let watts: Vec<Option<u64>> =
        all(&found).iter().map(|row| row["power"]["typical_watts"].as_u64()).collect();
    assert!(
        watts.iter().all(Option::is_some) && watts[0] == watts.iter().copied().min().flatten(),
        "{watts:?}"
    );
    let said =
        place.ends(1, &design_args("--nics 512 --platform th5-64x800g,th5-128x400g --objective power"));
    assert!(said.contains("without published power"), "{said}");
}

#[test]
fn stages_move_no_plugged_cable() {
    let place = Place::new();
    let flags = "--stages 512,1024,2048 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --routing bgp-unnumbered";
    let found = designs(&place, flags);
    for row in all(&found) {
        let stages = row["stages"].as_array().expect("a list");
        let nics: Vec<Option<u64>> = stages.iter().map(|stage| stage["nics"].as_u64()).collect();
        assert_eq!(nics, [Some(512), Some(1024), Some(2048)]);
        for (at, stage) in stages.iter().enumerate() {
            assert!(stage["places"].as_u64() >= nics[at], "{stage}");
            place.write(&format!("{at}.yaml"), stage["file"].as_str().expect("a text"));
        }
        for (old, new) in [("0.yaml", "1.yaml"), ("1.yaml", "2.yaml")] {
            let order = place.json(2, &["grow", old, new]);
            let jobs = order["jobs"].as_array().expect("a list");
            assert!(!jobs.is_empty(), "{order:#}");
            for job in jobs {
                assert_eq!(job["action"], "add", "{job:#}");
            }
            assert_eq!(order["renumbers"], serde_json::json!([]), "{order:#}");
        }
    }
    place.ends(0, &design_args(&format!("{flags} --stage 3 --out last.yaml")));
    assert_eq!(place.read("last.yaml"), all(&found)[0]["stages"][2]["file"].as_str().expect("a text"));
    assert!(all(&found).iter().all(|row| row["stages"][1]["cables_moved"] == 0), "{found:#}");
    for (flags, wanted) in [
        ("--stages 2048,1024", "the smallest first"),
        (
            "--stages 512,400000000 --planes 2",
            "no design grows to 400,000,000 NICs with the same T0s in all stages",
        ),
        ("--stages 1025,2048", "1025 is not a whole number of nodes of 8 NICs: write 1032"),
        ("--stages 1024,2049", "2049 is not a whole number of nodes of 8 NICs: write 2056"),
    ] {
        let code = if flags.contains("400000000") { 1 } else { 64 };
        let said = place.ends(code, &design_args(flags));
        assert!(said.contains(wanted), "{flags}: {said}");
    }
}

#[test]
fn the_list_has_the_same_designs_in_every_form() {
    let place = Place::new();
    let flags = "--nics 512 --speed 800G --planes 1,2 --rails 8";
    let found = designs(&place, flags);
    let csv = place.ends(0, &design_args(&format!("{flags} --format csv")));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), all(&found).len() + 1, "{csv}");
    let head: Vec<&str> = lines[0].split(',').collect();
    let at = |name: &str| head.iter().position(|column| *column == name).expect("a column");
    for (line, row) in lines[1..].iter().zip(all(&found)) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[at("switches")], row["switches"].to_string(), "{line}");
        assert_eq!(cells[at("bisection_gbps")], row["bisection_gbps"].to_string(), "{line}");
    }
    let html = place.ends(0, &design_args(&format!("{flags} --format html")));
    assert!(html.starts_with("<!doctype html>") && !html.contains("<script"), "{html}");
    assert_eq!(html.matches("<h2 id=\"design-").count(), all(&found).len());
    assert!(html.contains("Typical power, W and bisection"), "{html}");
    assert!(html.contains("Fewest switches by routing") && !html.contains("stage 1:"), "{html}");
    let stages = "--stages 512,1024 --speed 800G --planes 2 --platform spectrum4-sn5600 --format html";
    let html = place.ends(0, &design_args(stages));
    assert!(
        html.contains("Designs for 512, then 1,024 NICs of 800G") && html.contains("stage 2: 1,024"),
        "{html}"
    );
    for form in ["jsonl", "markdown"] {
        place.ends(64, &design_args(&format!("{flags} --format {form}")));
    }
}

#[test]
fn parallel_cables_under_eos_are_proposed_with_their_weakness() {
    let place = Place::new();
    let found = designs(&place, "--nics 1024 --os eos --routing bgp-unnumbered");
    assert_eq!(found["unchecked"], false);
    let accepts = |row: &&Value| row["file"].as_str().is_some_and(|file| file.contains("W0906: allow"));
    let row = all(&found).iter().find(accepts).expect("a design with parallel cables");
    assert!(row["weaknesses"].to_string().contains("equal shares"), "{row}");
    let all_routings = designs(&place, "--nics 1024");
    assert_eq!(all_routings["unchecked"], false);
    assert!(all_routings["fewest_switches"]["srv6-static"].as_u64().is_some(), "{all_routings}");
}

/// With 64 NICs on T0s of 16, there are too few T0s for two zones, so growth moves cables above the T0s.
#[test]
fn stages_move_the_fewest_cables_where_none_move_nothing() {
    let place = Place::new();
    let flags = "--stages 64,8192 --planes 1 --platform spectrum3-sn4700 --routing bgp-unnumbered --os nvue";
    let found = designs(&place, flags);
    assert!(!all(&found).is_empty(), "{found:#}");
    for row in all(&found) {
        let stages = row["stages"].as_array().expect("a list");
        assert_eq!(stages.len(), 2, "{row:#}");
        for (at, stage) in stages.iter().enumerate() {
            place.write(&format!("{at}.yaml"), stage["file"].as_str().expect("a text"));
            place.ends(0, &["check", &format!("{at}.yaml"), "-D", "warnings", "--allow", "W0203"]);
        }
        let order = place.json(2, &["grow", "0.yaml", "1.yaml"]);
        let jobs = order["jobs"].as_array().expect("a list");
        let mut moved: Vec<String> = jobs
            .iter()
            .filter(|job| job["action"] != "add")
            .map(|job| format!("{} {}", job["action"], job["lower"]))
            .collect();
        assert!(
            jobs.iter().all(|job| job["kind"] != "nic-t0" || job["action"] == "add"),
            "cables to NICs stay"
        );
        moved.dedup();
        assert_eq!(stages[1]["cables_moved"].as_u64(), Some(moved.len() as u64), "{row:#}");
        assert!(stages[0]["cables_moved"] == 0 && !moved.is_empty(), "{row:#}");
        let renumbers = order["renumbers"].as_array().expect("a list");
        let renamed = order["renamed"].as_array().expect("a list");
        assert_eq!(stages[1]["renumbers"], !renumbers.is_empty() || !renamed.is_empty(), "{row:#}");
        assert!(!renumbers.contains(&"addresses.widths".into()), "{order:#}");
    }
    let page = place.ends(0, &design_args(flags));
    assert!(page.contains("plugged cables are moved or removed; names or addresses change\n"), "{page}");
}

/// Planes by NIC compile, pass `verify`, and grow by T0s of each plane.
#[test]
fn planes_by_nic_are_compiled_and_grow() {
    let place = Place::new();
    let flags = "--stages 256,512 --nics-per-node 4 --rails 4 --planes 1,2 --planes-by-nic 2,4 --speed 400G --platform \
                 spectrum4-sn5600 --routing bgp-unnumbered --os nvue";
    let words: Vec<&str> = ["design", "--show", "8"].into_iter().chain(flags.split_whitespace()).collect();
    let found = place.json(0, &words);
    let mut kinds: Vec<(u64, u64)> = Vec::new();
    for row in all(&found) {
        kinds.push((
            row["planes"].as_u64().expect("a count"),
            row["planes_by_nic"].as_u64().expect("a count"),
        ));
        for (at, stage) in row["stages"].as_array().expect("a list").iter().enumerate() {
            place.write(&format!("{at}.yaml"), stage["file"].as_str().expect("a text"));
        }
        // Large T0s can already have places for the second stage.
        let grows = row["stages"][0]["places"] != row["stages"][1]["places"];
        let order = place.json(if grows { 2 } else { 0 }, &["grow", "0.yaml", "1.yaml"]);
        let jobs = order["jobs"].as_array().expect("a list");
        assert!(jobs.iter().all(|job| job["action"] == "add") && jobs.is_empty() != grows, "{order:#}");
    }
    assert!(kinds.iter().any(|kind| kind.1 == 2), "{kinds:?}");
    place.write("first.yaml", all(&found)[0]["file"].as_str().expect("a text"));
    place.ends(0, &["compile", "first.yaml", "--out", "tree"]);
    place.ends(0, &["verify", "tree"]);
}

/// More than sixteen zones: the three tiers that MRC is compared with (64 pods, 5,120 switches), and 128^3 / 4 NICs.
#[test]
fn three_tiers_may_have_many_zones() {
    let place = Place::new();
    for (flags, most) in [
        (
            "--nics 65536 --speed 800G --planes 1 --nics-per-node 4 --rails 4 --routing srv6-static --platform \
             spectrum4-sn5600 --os nvue",
            5_120,
        ),
        (
            "--nics 524288 --speed 400G --planes 1 --rails 8 --routing ecmp-static --platform th5-128x400g",
            20_480,
        ),
    ] {
        let words: Vec<&str> = ["design"].into_iter().chain(flags.split_whitespace()).collect();
        let found = place.json(0, &words);
        let switches = |design: &Value| -> u64 {
            design["tiers"].as_array().unwrap().iter().filter_map(|tier| tier["switches"].as_u64()).sum()
        };
        let least = found["designs"].as_array().unwrap().iter().map(switches).min();
        assert!(least.is_some_and(|least| least <= most), "{flags}: {least:?} switches");
    }
}

/// An unnecessary tier is not proposed. Mostly unused switches are proposed, with the number of their unused cages.
#[test]
fn no_tier_is_needless_and_unused_cages_are_printed() {
    let place = Place::new();
    for flags in ["--nics 128 --show 32", "--nics 256 --planes 4 --show 32"] {
        let found = designs(&place, &format!("{flags} --tiers 2,3"));
        for row in all(&found) {
            let tiers = row["tiers"].as_array().expect("a list");
            assert_eq!(tiers.len(), 2, "{flags}: two tiers hold all NICs: {row:#}");
            let file = row["file"].as_str().expect("a text");
            assert!(!file.contains("W0302") || row["mostly_unused"] == true, "{flags}: {row:#}");
        }
        let unused = all(&found).iter().filter(|row| row["mostly_unused"] == true).count();
        let page = place.ends(0, &design_args(&format!("{flags} --tiers 2,3")));
        assert!(unused > 0 && page.matches(" cages unused\n").count() == unused, "{flags}: {unused}: {page}");
    }
    // `--tiers 3` proposes such a tier, and `--explain` prints the reason against it.
    let flags = "--nics 2048 --planes 1 --platform th4-64x400g --os eos --routing bgp-unnumbered";
    place.ends(0, &[&design_args(flags)[..], &["--tiers", "3", "--out", "three.yaml"]].concat());
    let explained = place.json(0, &[&design_args(flags)[..], &["--explain", "three.yaml"]].concat());
    assert_eq!(
        explained["outside"][0], "its T1s have ports for all T0s, so it needs no T2s",
        "{explained:#}"
    );
    assert_eq!(explained["beaten_by"][0]["design"]["hops"], 3, "{explained:#}");
}

/// Users edit fabric files, so an existing one must not be replaced by accident.
#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let place = Place::new();
    let need = "--nics 64 --planes 2 --platform spectrum3-sn4700 --out a.yaml";
    place.ends(0, &design_args(need));
    let written = place.read("a.yaml");
    place.write("a.yaml", "mine");
    place.write("floor.csv", "rack,row,x,y,units\nr1,a,0,0,48\nr2,a,1,0,48\nr3,a,2,0,48\nr4,a,3,0,48\n");
    place.write("b.yaml", &written);
    let verbs = [
        need.split(' ').fold("design".to_owned(), |line, word| line + " " + word),
        "init --nics 64 --out a.yaml".to_owned(),
        "place b.yaml --floor floor.csv --out a.yaml".to_owned(),
        "place b.yaml --floor floor.csv --placed a.yaml".to_owned(),
    ];
    for verb in verbs {
        place.write("a.yaml", "mine");
        let line: Vec<&str> = verb.split(' ').collect();
        let said = place.ends(1, &line);
        assert!(
            said.contains("`a.yaml` exists: name another file, or replace it with `--force`"),
            "{verb}: {said}"
        );
        assert_eq!(place.read("a.yaml"), "mine", "{verb}");
        place.ends(0, &[&line[..], &["--force"]].concat());
        assert_ne!(place.read("a.yaml"), "mine", "{verb}");
    }
}

/// One switch per plane, or per rail and plane, is proposed if the NICs fit on it.
#[test]
fn a_single_tier_is_proposed_compiled_and_grows() {
    let place = Place::new();
    let found = designs(&place, "--nics 64 --planes 2 --platform spectrum4-sn5600");
    let first = &all(&found)[0];
    let counts = ["switches", "cables_switch", "modules", "hops", "paths"];
    assert_eq!(counts.map(|name| first[name].as_u64()), [2, 0, 0, 1, 2].map(Some), "{first:#}");
    assert!(first["t1_loss_percent"].is_null() && first["uplink_loss_percent"].is_null(), "{first:#}");
    assert_eq!(first["qos"], "lossless", "{first:#}");
    place.write("one.yaml", first["file"].as_str().expect("a file"));
    place.ends(0, &["check", "one.yaml", "-D", "warnings", "--allow", "W0203"]);
    place.ends(0, &["compile", "one.yaml", "--out", "one"]);
    place.ends(0, &["verify", "one"]);
    // All traffic stays on one switch, regardless of the requested oversubscription.
    for ratio in ["1:1", "1:2"] {
        let flags = "--nics 64 --planes 2 --platform spectrum4-sn5600 --explain one.yaml --oversubscription";
        let explained = place.json(0, &design_args(&format!("{flags} {ratio}")));
        assert!(
            explained["on_front"] == true && explained["outside"] == serde_json::json!([]),
            "{explained:#}"
        );
    }
    let page = place.ends(0, &design_args("--nics 64 --planes 1 --platform spectrum4-sn5600 --tiers 1"));
    for wanted in [
        "1 switch, 1 plane of 400G, 1 tier,",
        "none between switches",
        "1 path between far NICs over 1 switch",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
    // A rail has a switch in each plane. Each stage uses more of its ports.
    let rails =
        "--stages 64,256 --rails 8 --planes-by-nic 8 --tiers 1 --planes 2 --platform spectrum4-sn5600";
    let found = designs(&place, rails);
    let first = &all(&found)[0];
    assert_eq!(
        (first["switches"].as_u64(), first["planes_by_nic"].as_u64()),
        (Some(16), Some(8)),
        "{first:#}"
    );
    for (at, stage) in first["stages"].as_array().expect("a list").iter().enumerate() {
        place.write(&format!("{at}.yaml"), stage["file"].as_str().expect("a text"));
    }
    let order = place.json(2, &["grow", "0.yaml", "1.yaml"]);
    let jobs = order["jobs"].as_array().expect("a list");
    assert!(!jobs.is_empty() && jobs.iter().all(|job| job["action"] == "add"), "{order:#}");
    place.ends(0, &["compile", "1.yaml", "--out", "rails"]);
    place.ends(0, &["verify", "rails"]);
}

/// Catalogue entries for the same switch count as one switch in bandwidth, cages, power and price.
#[test]
fn entries_of_one_switch_count_as_that_switch() {
    let place = Place::new();
    place.write(
        "prices.csv",
        "item,price\nspectrum4-sn5600,100\ncable nic-t0,1\ncable switch-switch,2\nmodule switch-switch,3\n",
    );
    let flags = "--nics 256 --planes 4 --platform spectrum4-sn5600-256x100g,spectrum4-sn5600 --prices prices.csv --os sonic \
                 --routing ecmp-static";
    for tiers in ["1", "2"] {
        let words: Vec<&str> =
            ["design", "--tiers", tiers].into_iter().chain(flags.split_whitespace()).collect();
        let found = place.json(0, &words);
        assert_eq!(found["unpriced"], 0, "{found:#}");
        for row in all(&found) {
            let switches = row["switches"].as_u64().expect("a count");
            assert_eq!(row["capacity_gbps"].as_u64(), Some(switches * 51_200), "{row:#}");
            let count = |name: &str| row[name].as_u64().expect("a count");
            let parts = count("cables_nic") + 2 * count("cables_switch") + 3 * count("modules");
            assert_eq!(row["cost"].as_u64(), Some(switches * 100 + parts), "{row:#}");
            for tier in row["tiers"].as_array().expect("a list") {
                assert_eq!(tier["cages"], 64, "{row:#}");
            }
        }
    }
}

/// A design for a lab exists, although the smallest switches with its routing leave most ports unused. The output
/// states this.
#[test]
fn a_small_need_has_designs_with_unused_ports() {
    let place = Place::new();
    let flags = "--nics 64 --planes 2 --routing srv6-static";
    let found = designs(&place, flags);
    let first = &all(&found)[0];
    assert_eq!(
        (first["switches"].as_u64(), &first["mostly_unused"]),
        (Some(8), &Value::Bool(true)),
        "{first:#}"
    );
    let file = first["file"].as_str().expect("a file");
    assert!(file.contains("  W0302: allow  # ") && !file.contains("spare"), "{file}");
    place.write("lab.yaml", file);
    place.ends(0, &["check", "lab.yaml", "-D", "warnings", "--allow", "W0203"]);
    let page = place.ends(0, &design_args(flags));
    assert!(page.contains("a T1 leaves 56 of 64 cages unused\n"), "{page}");
    let explained = place.json(0, &design_args(&format!("{flags} --explain lab.yaml")));
    assert_eq!(explained["outside"], serde_json::json!([]), "{explained:#}");
    // With enough NICs, ports are used, and the file does not allow the warning about unused ones.
    let found = designs(&place, "--nics 1024 --planes 2 --routing srv6-static");
    for row in all(&found) {
        assert_eq!(row["mostly_unused"], false, "{row:#}");
        assert!(!row["file"].as_str().expect("a file").contains("W0302"), "{row:#}");
    }
}

/// Parts, paths, losses and racks of a design match its file and its counts.
#[test]
fn a_design_lists_its_parts_paths_and_losses() {
    let place = Place::new();
    let found = designs(&place, SMALL);
    let row = &all(&found)[0];
    // 2 planes of 8 T0s with 32 uplinks of 800G in 32 cages, and 4 T1s: 2 x 32 ways up, and 8 ways down.
    let counts = ["paths_local", "paths", "racks_least"].map(|name| row[name].as_u64());
    assert_eq!(counts, [2, 512, 2].map(Some), "{row:#}");
    assert!(row["paths_zone"].is_null() && row["t1_uplink_loss_percent"].is_null(), "{row:#}");
    assert_eq!(row["uplink_module_loss_percent"].as_f64(), Some(1.5625), "{row:#}");
    place.write("one.yaml", row["file"].as_str().expect("a file"));
    place.ends(0, &["export", "order", "one.yaml", "--out", "one"]);
    let cables = place.read("one/order/cables.csv");
    for kind in row["cables"].as_array().expect("a list") {
        let [ends, medium, length] =
            ["ends", "medium", "length"].map(|name| kind[name].as_str().expect("a text"));
        let line = cables.lines().find(|line| line.starts_with(&format!("{ends},{medium},{length},")));
        let links = line.and_then(|line| line.split(',').nth(5)).and_then(|links| links.parse().ok());
        assert_eq!(kind["count"].as_u64(), links, "{kind}: {cables}");
    }
    let modules = place.read("one/order/modules.csv");
    let count = |line: &str| line.split(',').nth(4).and_then(|count| count.parse::<u64>().ok());
    let ordered: u64 = modules.lines().filter_map(count).sum();
    assert_eq!(row["optics"], serde_json::json!([{ "kind": "dr4 8 x 100G", "count": ordered }]), "{modules}");

    let high =
        "--nics 8192 --planes 1 --rails 8 --tiers 3 --platform th4-64x400g --os eos --routing bgp-unnumbered";
    let found = designs(&place, high);
    let row = &all(&found)[0];
    // 32 uplinks of a T0, and 32 of a T1. A T2 reaches a T0 over 8 T1s.
    let counts = ["paths_local", "paths_zone", "paths"].map(|name| row[name].as_u64());
    assert_eq!(counts, [1, 32, 8192].map(Some), "{row:#}");
    assert_eq!(row["t1_uplink_loss_percent"].as_f64(), Some(0.0976), "{row:#}");
    let page = place.ends(0, &design_args(&format!("{high} --show 1")));
    assert!(page.contains("near NICs: 1 path on one T0, 32 in one zone\n"), "{page}");
    // Two uplinks of 400G share a cage of 800G, and a module.
    let halves = "--nics 8192 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    let found = designs(&place, halves);
    let losses =
        ["uplink_loss_percent", "uplink_module_loss_percent"].map(|name| all(&found)[0][name].as_f64());
    assert_eq!(losses, [0.7812, 1.5625].map(Some), "{found:#}");
}

/// `--vendor` selects hardware by the vendor in its ONIE name.
#[test]
fn a_vendor_selects_its_hardware() {
    let place = Place::new();
    for (vendor, names) in [("NVIDIA", &["spectrum"][..]), ("arista,nokia", &["th", "q3d", "arista"])] {
        let found = designs(&place, &format!("--nics 1024 --show 8 --vendor {vendor}"));
        for tier in all(&found).iter().flat_map(|row| row["tiers"].as_array().expect("a list")) {
            let platform = tier["platform"].as_str().expect("a name");
            assert!(names.iter().any(|name| platform.starts_with(name)), "{vendor}: {platform}");
        }
    }
    let said = place.ends(64, &design_args("--nics 64 --vendor mellanox"));
    assert!(said.contains("`mellanox`") && said.contains("`nvidia`") && !said.contains("`mlnx`"), "{said}");
    // These are not vendors of switches that run one of the systems.
    assert!(!said.contains("minipack2") && !said.contains("tofino2"), "{said}");
    let said = place
        .ends(1, &design_args("--nics 64 --planes 1 --speed 100G --platform spectrum6-sn6600 --os nvue"));
    assert!(said.contains("`nvue` does not split adjacent cages of `spectrum6-sn6600`"), "{said}");
    let said = place.ends(
        1,
        &design_args("--nics 64 --speed 200G --planes 1,4 --fail t0<=50% --platform spectrum4-sn5600"),
    );
    assert!(said.contains("`spectrum4-sn5600` has no ports of 50G;"), "{said}");
    let said = place.ends(1, &design_args("--nics 64 --vendor nvidia --planes 1 --speed 10G"));
    assert!(
        said.contains("no switch of `nvidia` with `sonic` or `nvue` or `eos` has ports of 10G"),
        "{said}"
    );
    place.ends(64, &design_args("--nics 64 --vendor nvidia --platform th5-64x800g"));
    place.ends(0, &design_args("--nics 64 --planes 2 --platform th5-64x800g --tiers 1 --out th5.yaml"));
    let explained = place.json(0, &design_args("--nics 64 --planes 2 --vendor nvidia --explain th5.yaml"));
    assert!(
        explained["outside"].to_string().contains("`arista`, the vendor of `th5-64x800g`"),
        "{explained:#}"
    );
}

/// EOS does not forward by segment lists, so designs with that routing do not use up the limit of checks.
#[test]
fn a_routing_that_no_system_supports_is_not_tried() {
    let place = Place::new();
    let found = designs(&place, "--nics 760 --speed 200G --oversubscription 1:2 --os eos");
    assert_eq!(found["unchecked"], false, "{found:#}");
    let said = place.ends(64, &design_args("--nics 760 --speed 200G --os eos --routing srv6-static"));
    assert!(said.contains("`eos` does not support `routing: srv6-static`"), "{said}");
}

/// A limit on T1 failures requires more uplinks than the ratio, and small zones have parallel cables. The numbers
/// were computed by hand.
#[test]
fn more_uplinks_and_parallel_cables_save_switches() {
    let place = Place::new();
    for (flags, switches) in [
        ("--nics 64 --fail t1<=3% --routing bgp-unnumbered --platform th4-64x400g --planes 2", 38),
        ("--nics 64 --fail t1<=3% --routing bgp-unnumbered --platform th4-64x400g --planes 1 --os sonic", 37),
        ("--nics 1024 --fail t1<=3% --routing bgp-unnumbered --platform th5-128x400g --planes 1", 53),
        ("--nics 64 --platform th3-32x400g --planes 1 --tiers 3", 10),
        ("--nics 128 --platform th3-32x400g --planes 1 --tiers 3", 20),
    ] {
        let found = designs(&place, flags);
        let fewest = all(&found).iter().filter_map(|row| row["switches"].as_u64()).min();
        assert_eq!(fewest, Some(switches), "{flags}");
    }
}

/// A fabric with more uplinks than the ratio requires also meets the need.
#[test]
fn an_oversubscription_is_a_maximum() {
    let place = Place::new();
    let need = "--nics 64 --routing bgp-unnumbered --platform th4-64x400g --planes 2";
    let written = format!("{need} --fail t1<=3% --out many.yaml");
    place.ends(0, &["design"].into_iter().chain(written.split(' ')).collect::<Vec<_>>());
    let explained = designs(&place, &format!("{need} --explain many.yaml"));
    assert_eq!(explained["outside"], serde_json::json!([]), "{explained:#}");
    assert_eq!(explained["unbeaten"], false, "{explained:#}");
}

/// The example has a price for all hardware, so no design is omitted.
#[test]
fn example_prices_cover_the_catalogue() {
    let place = Place::new();
    let flags = "--nics 1024 --prices topologies/prices-example.csv --objective cost";
    let found = designs(&place, flags);
    assert_eq!(found["unpriced"], 0, "{found}");
    let costs: Vec<Option<u64>> = all(&found).iter().map(|row| row["cost"].as_u64()).collect();
    assert!(costs[0].is_some() && costs[0] == costs.iter().copied().min().flatten(), "{costs:?}");
}

/// Each routing has an advantage, and the reasons for its additional switches depend on this need.
#[test]
fn a_routing_has_the_reasons_for_its_switches() {
    let place = Place::new();
    let loses = |flags: &str, routing: &str| {
        let found = designs(&place, flags);
        let rows = found["routings"].as_array().expect("a list").clone();
        let row = rows.into_iter().find(|row| row["routing"] == routing).expect("a row");
        assert!(row["gains"].as_str().is_some_and(|gains| !gains.is_empty()), "{row}");
        (row["more_switches"].as_u64(), row["loses"].to_string())
    };
    let uplinks = "one tier is not possible";
    let (more, why) = loses("--nics 64", "bgp-unnumbered");
    assert!(more > Some(0) && why.contains(uplinks), "{why}");
    let (more, why) = loses("--nics 64", "ecmp-static");
    assert!(more == Some(0) && !why.contains(uplinks), "{why}");
    let (more, why) = loses("--nics 1024 --speed 800G --planes 8 --tiers 2", "srv6-static");
    assert!(more > Some(0) && why.contains("`th6-1024x100g` is not known to forward uSIDs"), "{why}");
    // Parallel cables need a later release, and no more switches.
    let (more, why) =
        loses("--nics 512 --planes 1 --platform th5-64x800g --os sonic --tiers 2", "srv6-static");
    assert!(more == Some(0), "{why}");
}

/// T0s are added in units of one per rail, and the file states which keys to raise.
#[test]
fn a_fabric_with_rails_grows_by_units() {
    let place = Place::new();
    let need = "--nics 96 --nics-per-node 3 --rails 3 --planes 1 --platform spectrum3-sn4700 --routing bgp-unnumbered --os sonic";
    for row in all(&designs(&place, need)) {
        let largest = row["largest"].as_u64().expect("a number");
        let (places, file) =
            (row["places"].as_u64().expect("a number"), row["file"].as_str().expect("a text"));
        let line = file.lines().find(|line| line.contains("To grow"));
        assert_eq!(line.is_some(), largest > places, "{file}");
        let groups = |text: &str| text.split("groups: ").nth(1)?.split(' ').next()?.parse::<u64>().ok();
        let now = groups(file).expect("it has groups");
        assert_eq!(largest * now / places % 3, 0, "{largest} of {places}: {file}");
        let wanted = "raise `hosts.groups` by 3, one for each rail";
        assert!(line.is_none_or(|line| line.contains(wanted)), "{file}");
        assert!(line.is_none() || file.contains("`tiers.t1.down.count` by"), "{file}");
    }
}

/// Passive copper of 200G lanes reaches 1 m, so NICs on such lanes have active copper.
#[test]
fn nics_on_fast_lanes_have_active_copper() {
    let place = Place::new();
    let flags = "--nics 1024 --speed 800G --tiers 2 --platform spectrum6-sn6600";
    for (planes, switches) in [(1, 24), (2, 24), (4, 24)] {
        let found = designs(&place, &format!("{flags} --planes {planes} --objective switches"));
        let best = &all(&found)[0];
        assert_eq!(best["switches"], switches, "{found:#}");
        let kinds = best["cables"].as_array().expect("a list");
        assert!(kinds[0]["medium"] == "acc" && kinds[0]["length"] == "2m", "{best:#}");
        place.write("fast.yaml", best["file"].as_str().expect("a text"));
        place.ends(0, &["check", "fast.yaml", "-D", "warnings", "--allow", "W0203"]);
    }
}

/// A single tier grows by nodes: 21 nodes of 6 NICs fit on 128 ports.
#[test]
fn one_tier_grows_by_nodes() {
    let place = Place::new();
    let flags = "--nics 36 --nics-per-node 6 --speed 800G --planes 4 --tiers 1 --platform th4-64x400g";
    let found = designs(&place, flags);
    let design = &all(&found)[0];
    let file = design["file"].as_str().expect("a text");
    assert!(design["largest"] == 126 && file.contains("at most to 126;"), "{design:#}");
    place.write(
        "grown.yaml",
        file.replace("per_group: 36", "per_group: 126").replace("count: 36", "count: 126"),
    );
    place.ends(0, &["check", "grown.yaml"]);
}

/// More than eight planes do not fit the default uSIDs of two tiers. Each plane then has its own block.
#[test]
fn segments_number_sixteen_planes() {
    let place = Place::new();
    let need = "--nics 1024 --speed 1.6T --planes 16 --rails 8 --os sonic --platform th5-512x100g";
    let switches = |routing: &str| {
        let found = place.json(0, &design_args(&format!("{need} --routing {routing}")));
        found["fewest_switches"][routing].as_u64().expect("a count")
    };
    assert_eq!(switches("srv6-static"), switches("bgp-unnumbered"));
}

/// `check` prints that copper would need several cages at both ends, as `design` and `export order` do.
#[test]
fn crossed_copper_is_printed_by_check() {
    let place = Place::new();
    let need = "--nics 128 --speed 800G --planes 2 --rails 8 --platform spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    place.ends(0, &design_args(&format!("{need} --out a.yaml")));
    let note =
        "nic-t0: NIC cages have 2 ports and T0 cages 2, but `dac` has a single cage at one end: use fibre";
    let said = place.ends(0, &["check", "a.yaml", "--allow", "W0203"]);
    assert!(said.contains(&format!("\ncables: {note}\n")), "{said}");
    assert_eq!(place.json(0, &["check", "a.yaml"])["summary"]["crossed_copper"], note);
    place.ends(0, &["check", "a.yaml", "-D", "warnings", "--allow", "W0203"]);
}

/// Free places of a first stage have no cable, and a tenth more capacity does not justify more switches.
#[test]
fn free_places_cost_nothing_and_fewer_switches_come_first() {
    let place = Place::new();
    let one = "--nics-per-node 4 --rails 4 --planes 2 --platform spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    let found = designs(&place, &format!("--stages 128,1000 {one}"));
    let first = &all(&found)[0];
    assert!(first["places"].as_u64() > Some(128), "{first:#}");
    assert_eq!(first["cables_nic"], 256, "{first:#}");
    let more = "--nics 1800 --nics-per-node 6 --rails 6 --platform spectrum3-sn4700,spectrum4-sn5600 --os nvue --routing bgp-unnumbered";
    let found = designs(&place, more);
    let switches: Vec<u64> = all(&found).iter().filter_map(|row| row["switches"].as_u64()).collect();
    assert_eq!(switches[0], 45, "{switches:?}");
    let fibre = designs(&place, &format!("--nics 128 {one} --nic-cable 15m"));
    assert_eq!(all(&fibre)[0]["cables"][0]["medium"], "dr4", "{fibre:#}");
}
