//! First commands: `init`, `fmt`, `fix`, `platforms NAME`.

use crate::common::Place;

#[test]
fn a_file_of_the_size_that_is_asked_for_has_no_findings() {
    let place = Place::new();
    for (at, (flags, nics)) in [
        ("--nics 1024", 1024),
        ("--nics 16 --planes 2 --speed 200G --platform linux", 16),
        ("--nics 16 --planes 2 --speed 200G --platform linux --os frr --routing bgp-unnumbered", 16),
        ("--nics 131072 --planes 8 --speed 800G", 131_072),
        ("--nics 2048 --planes 2 --speed 800G --platform spectrum4-sn5600", 2048),
        ("--nics 64 --planes 2 --speed 200G --platform linux --tiers 3", 64),
        ("--nics 64 --planes 2 --speed 200G --platform linux --tiers 3 --routing ecmp-static", 64),
        ("--nics 262144 --planes 4 --speed 400G", 262_144),
        ("--nics 16384 --planes 1 --speed 800G --tiers 3", 16_384),
        ("--nics 512 --speed 800G --planes 2 --rails 8", 512),
        ("--nics 8192 --planes 1 --platform th5-128x400g,th6-nh4210-128x800g", 8192),
        ("--nics 64 --planes 2", 64),
        ("--nics 16 --planes 4", 16),
        ("--nics 64 --tiers 1 --routing ecmp-static", 64),
    ]
    .into_iter()
    .enumerate()
    {
        let file = format!("{at}.yaml");
        let words: Vec<&str> = flags.split(' ').chain(["--name", "made", "--out", &file]).collect();
        place.ends(0, &[&["init"], &words[..]].concat());
        let text = place.read(&file);
        assert!(text.contains("fabric: made\n") && text.matches('#').count() >= 6, "{text}");
        let found = place.closc(&["check", &file, "--format", "json", "-D", "warnings", "--allow", "W0203"]);
        let said = String::from_utf8_lossy(&found.stdout);
        let json: serde_json::Value = serde_json::from_str(&said).expect("one document");
        assert_eq!(json["counts"]["nics"], nics, "{flags}: {said}");
        assert_eq!(place.ends(0, &["fmt", "--check", &file]), "", "{text}");
    }
    place.ends(0, &["compile", "1.yaml", "--out", "tree", "-D", "warnings", "--allow", "W0203"]);
    place.ends(0, &["verify", "tree"]);
    place.ends(0, &["compile", "5.yaml", "--out", "high", "-D", "warnings", "--allow", "W0203"]);
    place.ends(0, &["verify", "high"]);
    assert!(!place.read("3.yaml").contains("spare"));
    assert!(
        place.read("9.yaml").contains("rails: 8") && place.read("10.yaml").contains("t1: { platform: th6-")
    );
    // Without a terminal, closc asks no questions and writes the file to standard output.
    assert!(place.ends(0, &["init"]).contains("\nhosts:\n"));
}

/// The hwsku of a switch may need a later release than the assumed one. The message then names the switch, and the
/// file states the release.
#[test]
fn a_later_release_is_stated() {
    let place = Place::new();
    let flags = "init --nics 8192 --planes 1 --routing bgp-unnumbered --platform th6-nh4210-128x800g --force";
    let words: Vec<&str> = flags.split(' ').chain(["--out", "th6.yaml"]).collect();
    let output = place.closc(&words);
    let said = String::from_utf8_lossy(&output.stderr);
    let release = "`sonic` master, the first release with hwsku `NH-4210-F-O256`";
    assert!(said.contains(&format!("\nthe file sets the release {release}\n")), "{said}");
    assert!(said.contains("\nwarning[W0203]: `sonic` master "), "{said}");
    let text = place.read("th6.yaml");
    assert!(
        text.contains("\nreleases: { sonic: master }  # the first with hwsku NH-4210-F-O256\n"),
        "{text}"
    );
    let checked = place.ends_with_output(0, &["check", "th6.yaml", "--format", "json"]);
    assert!(!checked.contains("lacks hwsku"), "{checked}");
    let json = place.json(0, &words);
    assert_eq!(json["release"], release);
    assert!(
        json["known_faults"][0].as_str().is_some_and(|fault| fault.starts_with("`sonic` master ")),
        "{json}"
    );
}

/// A design whose switches are in a release of SONiC is preferred to one that requires its branch `master`.
#[test]
fn released_switches_are_preferred() {
    let place = Place::new();
    let output = place.closc(&["init", "--nics", "8192", "--speed", "800G", "--out", "a.yaml"]);
    let said = String::from_utf8_lossy(&output.stderr);
    let first = "`--pick 1` writes a design with 192 switches, which requires `sonic` master, the first release with hwsku `NH-4210-F-P128`";
    assert!(said.lines().any(|line| line == first), "{said}");
    let text = place.read("a.yaml");
    assert!(!text.contains("releases:") && text.contains("routing: srv6-static"), "{text}");
    let checked = place.ends_with_output(0, &["check", "a.yaml", "--format", "json"]);
    assert!(!checked.contains("lacks hwsku") && !checked.contains("lacks platform"), "{checked}");
    place.ends(0, &["init", "--nics", "8192", "--speed", "800G", "--pick", "1", "--out", "b.yaml"]);
    assert!(place.read("b.yaml").contains("\nreleases: { sonic: master }"));
}

/// NICs of 400G have four lanes of 100G, although a port of 400G can also use all eight lanes of a cage.
#[test]
fn nics_have_the_usual_lanes() {
    let place = Place::new();
    let words =
        ["init", "--nics", "64", "--planes", "1", "--platform", "spectrum4-sn5600", "--out", "a.yaml"];
    place.ends(0, &words);
    let text = place.read("a.yaml");
    assert!(text.contains("nic: { speed: 400G, lanes: 4 }") && text.contains("breakout: 2x400G"), "{text}");
}

/// A value is checked before the next prompt.
#[test]
fn the_first_wrong_value_is_reported() {
    let place = Place::new();
    let said = place.ends(64, &["init", "--nics", "1021", "--rails", "3", "--platform", "no"]);
    assert!(said.contains("1021 is not a whole number of nodes"), "{said}");
    let said = place.ends(64, &["init", "--rails", "3", "--platform", "no"]);
    assert!(said.contains("3 rails do not divide"), "{said}");
}

/// Runs `init` with these lines on standard input.
fn run_init(place: &Place, code: i32, words: &[&str], lines: &str) -> String {
    place.write("answers.txt", lines);
    let input = std::fs::File::open(place.path("answers.txt")).expect("a file");
    let output = place.command(words).stdin(std::process::Stdio::from(input)).output().expect("closc runs");
    assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
    let said = if code == 0 { output.stdout } else { output.stderr };
    String::from_utf8(said).expect("text")
}

/// Lines from a pipe are the values if no options are given.
#[test]
fn answers_are_read_from_a_pipe() {
    let place = Place::new();
    let said = run_init(&place, 0, &["init"], "512\n800G\n8\n");
    assert!(said.starts_with("# 512 NICs of 800G") && said.contains("rails: 8"), "{said}");
    let said = run_init(&place, 1, &["init"], "512\n800G\n3\n");
    assert!(said.contains("3 rails do not divide the 8 NICs of a node"), "{said}");
    let said = run_init(&place, 1, &["init"], "0\n");
    assert!(said.contains("`0` is not a number from 1 to 4294967295"), "{said}");
    let said = run_init(&place, 0, &["init", "--nics", "64"], "512\n");
    assert!(said.starts_with("# 64 NICs of 400G"), "{said}");
}

#[test]
fn a_fabric_has_room_to_grow() {
    let place = Place::new();
    let text = place.ends(0, &["init", "--nics", "512", "--grow-to", "2048"]);
    assert!(text.contains("To grow to 2,048 NICs") && text.contains("spare ports are for growth"), "{text}");
    let said = place.ends(64, &["init", "--nics", "512", "--grow-to", "20"]);
    assert!(said.contains("`--grow-to 20` is less than `--nics 512`"), "{said}");
}

/// closc does not support QoS for FRR on hardware, so `init` uses another operating system of the platform.
#[test]
fn hardware_gets_an_operating_system_with_qos() {
    let place = Place::new();
    let flags = ["init", "--nics", "64", "--planes", "2", "--routing", "bgp-unnumbered", "--platform"];
    let text = place.ends(0, &[&flags[..], &["spectrum4-sn5600"]].concat());
    assert!(!text.contains("os: frr") && text.contains("# lanes are assumed"), "{text}");
    let text = place.ends(0, &[&flags[..], &["linux", "--speed", "200G"]].concat());
    assert!(text.contains("os: frr"), "{text}");
}

/// The page prints the fewest switches of each routing, so the design with that number can be picked.
#[test]
fn the_design_with_the_fewest_switches_can_be_picked() {
    let place = Place::new();
    let switches = |flags: &str| {
        let words: Vec<&str> =
            ["init", "--out", "a.yaml", "--force"].into_iter().chain(flags.split(' ')).collect();
        place.json(0, &words)["switches"].as_u64().expect("a count")
    };
    for need in ["--nics 504 --speed 800G --rails 8", "--nics 1024 --speed 800G --rails 8"] {
        let words: Vec<&str> = ["design", "--show", "255", "--routing", "srv6-static"]
            .into_iter()
            .chain(need.split(' '))
            .collect();
        let fewest = place.json(0, &words)["fewest_switches"]["srv6-static"].as_u64().expect("a count");
        let picked: Vec<u64> = (1..=3).map(|pick| switches(&format!("{need} --pick {pick}"))).collect();
        assert!(picked.contains(&fewest), "{need}: {picked:?}, fewest {fewest}");
    }
}

/// Another routing is printed only if it needs fewer switches.
#[test]
fn a_routing_with_fewer_switches_is_printed() {
    let place = Place::new();
    let output = place.closc(&["init", "--nics", "64", "--out", "srv6.yaml"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`ecmp-static` needs 1 switch: use `--routing ecmp-static`"), "{said}");
    let output = place.closc(&["init", "--nics", "64", "--routing", "ecmp-static", "--out", "one.yaml"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("1 switch,") && !said.contains("needs"), "{said}");
    let output = place.closc(&["init", "--nics", "64", "--out", "quiet.yaml", "--quiet"]);
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn what_cannot_be_made_is_said_with_what_can() {
    let place = Place::new();
    place.write("mine.yaml", "mine");
    for (code, flags, wanted) in [
        (1, "--out mine.yaml", "`mine.yaml` exists"),
        (64, "--nics 1021", "`--nics 1024`"),
        (64, "--nics 512 --planes 2 --os eos", "`eos` does not support `routing: srv6-static`"),
        (
            64,
            "--os linux --routing bgp-unnumbered",
            "E0213: `linux` does not support `routing: bgp-unnumbered`; change `--routing` or `--os`",
        ),
        (1, "--nics 400000000", "no design keeps these limits"),
        (1, "--nics 4000000 --tiers 2", "no design keeps these limits"),
        (1, "--nics 1000000 --tiers 2", "use `--tiers 3`"),
        (1, "--nics 256 --speed 401G", "change `--speed`, "),
        (64, "--platform th5-512x10g", "did you mean `th5-512x100g`?"),
        (1, "--platform th2-64x100g --speed 6400G --planes 4", "has no ports of 1.6T"),
        (
            1,
            "--platform linux --os eos --speed 200G --planes 2",
            "`linux` does not run `eos`; it runs `linux`, `frr`",
        ),
        (
            1,
            "--speed 4M --planes 4",
            "no switch of the catalogue with `sonic` or `nvue` or `eos` has ports of 1M",
        ),
        (64, "--nics 64 --rails 3", "3 rails do not divide the 8 NICs of a node"),
        (1, "--nics 512 --planes 1 --pick 3 --platform spectrum4-sn5600", "`--pick 3`: 1 design found"),
        (64, "--nics 64 --tiers 1", "`--tiers 1` needs `--routing ecmp-static`"),
    ] {
        let words: Vec<&str> = ["init"].into_iter().chain(flags.split(' ')).collect();
        let said = place.ends(code, &words);
        assert!(said.contains(wanted), "{flags}: {said}");
    }
    assert_eq!(place.read("mine.yaml"), "mine");
}

#[test]
fn proposed_values_are_accepted() {
    let place = Place::new();
    for flags in [
        "--nics 1 --planes 2 --speed 200G --platform linux",
        "--nics 1021",
        "--nics 100 --planes 2 --nics-per-node 3",
    ] {
        let mut said = flags.to_owned();
        let near = loop {
            let words: Vec<&str> = ["init"].into_iter().chain(said.split(' ')).collect();
            let out = place.closc(&words);
            if out.status.success() {
                break said;
            }
            let why = String::from_utf8_lossy(&out.stderr).into_owned();
            let near = why.split("`--nics ").nth(1).and_then(|rest| rest.split('`').next());
            let near = near.unwrap_or_else(|| panic!("{flags}: {why}"));
            let others: Vec<&str> = said.split(' ').skip(2).collect();
            said = [&["--nics", near], &others[..]].concat().join(" ");
        };
        assert_ne!(near, flags);
    }
    let plain = place.ends(0, &["init", "--nics", "1024"]);
    for nics in ["1,024", "1_024"] {
        assert_eq!(place.ends(0, &["init", "--nics", nics]), plain, "{nics}");
    }
    for nics in ["1k", "1,02", "0", ",024"] {
        let said = place.ends(64, &["init", "--nics", nics]);
        assert!(!said.contains("invalid digit"), "{nics}: {said}");
    }
    place.ends(64, &["init", "--planes", "17"]);
    place.ends(64, &["init", "--os", "ios"]);
    place.ends(64, &["init", "--name", "a: b"]);
}

#[test]
fn certain_slips_are_fixed_and_choices_are_suggested() {
    let place = Place::new();
    let text = place.read("topologies/lab/two-planes.yaml");
    let slips = text.replace("planes: 2", "plans: 2").replace("os: linux", "os: Linux");
    assert!(slips != text && slips.contains("os: Linux"));
    place.write("slips.yaml", &slips);
    let said = place.ends(2, &["fix", "--check", "slips.yaml"]);
    assert!(said.contains(": E0107: did you mean `planes`?") && said.contains("`linux`"), "{said}");
    // A fix that is not certain is not applied.
    place.write("choice.yaml", text.replace("os: linux", "os: linus"));
    place.ends(1, &["fix", "choice.yaml"]);
    assert!(place.read("choice.yaml").contains("os: linus"));
    assert_eq!(place.read("slips.yaml"), slips, "nothing is written");
    place.ends(0, &["fix", "slips.yaml"]);
    assert_eq!(place.read("slips.yaml"), text, "nothing else changes");
    assert_eq!(place.ends(0, &["fix", "slips.yaml"]), "");

    // A quoted number of ports is fixed, even though a mapping is also allowed there.
    let quoted = text.replacen("up: 2", "up: \"2\"", 1);
    assert_ne!(quoted, text);
    place.write("quoted.yaml", &quoted);
    place.ends(0, &["fix", "quoted.yaml"]);
    assert_eq!(place.read("quoted.yaml"), text);

    let choice = text.replace("platform: linux", "platform: linus");
    place.write("choice.yaml", &choice);
    assert!(place.ends(1, &["fix", "choice.yaml"]).contains("E0201"));
    assert_eq!(place.read("choice.yaml"), choice, "no choice was made");
    place.ends(0, &["fix", "--code", "E0201", "choice.yaml"]);
    assert_eq!(place.read("choice.yaml"), text);
    let json: serde_json::Value =
        serde_json::from_str(&place.ends(0, &["fix", "--format", "json", "choice.yaml"]))
            .expect("one document");
    assert_eq!(
        (json["schema"].as_str(), json["items"][0]["errors"].as_u64()),
        (Some("closc-fix/1"), Some(0))
    );
    place.ends(64, &["fix", "--code", "E9999", "choice.yaml"]);
}

#[test]
fn files_are_formatted_in_place() {
    let place = Place::new();
    let text = place.read("topologies/lab/two-planes.yaml");
    let wide = text.replace("  t0: {", "      t0: {  ").replace("  t1: {", "      t1: {");
    assert_ne!(text, wide);
    place.write("wide.yaml", &wide);
    place.write("good.yaml", &text);
    std::os::unix::fs::symlink("wide.yaml", place.path("link.yaml")).expect("a link");
    assert_eq!(place.ends(2, &["fmt", "--check", "wide.yaml", "good.yaml"]), "wide.yaml: would change\n");
    assert_eq!(place.read("wide.yaml"), wide, "nothing is written");
    assert_eq!(place.ends(0, &["fmt", "link.yaml", "good.yaml"]), "link.yaml: formatted\n");
    assert_eq!(place.read("wide.yaml"), text);
    assert!(place.path("link.yaml").is_symlink());
    assert_eq!(place.ends(0, &["fmt", "wide.yaml"]), "");
    place.write("broken.yaml", "fabric: [x\n");
    let said = place.ends(1, &["fmt", "broken.yaml", "good.yaml"]);
    assert!(said.contains("error[E0104]") && place.read("broken.yaml") == "fabric: [x\n", "{said}");
}

#[test]
fn a_platform_is_shown_with_its_sources() {
    let place = Place::new();
    let shown = place.ends(0, &["platforms", "th5-512x100g"]);
    for wanted in [
        "64 of 8 lanes, 100G per lane",
        "8x100G     512 ports, default",
        "165,335,712",
        "256 local SIDs",
        "uN, uA",
        "arXiv 2605.04333",
        "6,400 IPv6 routes (assumed: announce_routes.py",
        "512 members of an ECMP group (published: sai.profile of Arista-7060X6-64PE-B-C512S2",
        "Arista-7060X6-64PE-B-C512S2: trimming published: config.bcm: sai_pkt_trim_queue_index 4",
        "Arista-7060X6-64PE-B-O128: trimming assumed: ",
    ] {
        let plain = shown.replace("165335712B", "165,335,712");
        assert!(plain.contains(wanted), "{wanted}: {shown}");
    }
    let json = place.json(0, &["platforms", "th5-512x100g"]);
    assert_eq!(
        (json["schema"].as_str(), json["panel"]["cages"].as_u64()),
        (Some("closc-platform/1"), Some(64))
    );
    assert!(json["provenance"]["ipv6_routes"]["assumed"].is_string(), "{json}");
    assert!(json["facts"]["Arista-7060X6-64PE-B-C512S2"]["trimming"]["published"].is_string(), "{json}");
    let all = place.json(0, &["platforms"]);
    for entry in all["items"].as_array().expect("a list") {
        let name = entry["id"].as_str().expect("a name");
        assert!(place.ends(0, &["platforms", name]).starts_with(&format!("{name}: ")));
    }
    assert!(place.ends(1, &["platforms", "th5-512x10g"]).contains("did you mean `th5-512x100g`?"));
}

#[test]
fn the_file_of_a_platform_is_printed_and_taken_back() {
    let place = Place::new();
    let all = place.json(0, &["platforms"]);
    std::fs::create_dir(place.path("site")).expect("the folder is new");
    std::fs::create_dir(place.path("copy")).expect("the folder is new");
    for entry in all["items"].as_array().expect("a list") {
        let name = entry["id"].as_str().expect("a name");
        place.write(&format!("site/{name}.yaml"), place.ends(0, &["platforms", name, "--yaml"]));
        let shown = place.ends(0, &["platforms", name, "--platforms", "site"]);
        assert_eq!(shown, place.ends(0, &["platforms", name]), "{name}");
    }
    // A copy with a new name is a site platform, and its file is printed unchanged.
    let copy = place.read("site/th5-512x100g.yaml").replace("id: th5-512x100g", "id: hall-7");
    place.write("copy/hall-7.yaml", &copy);
    assert_eq!(place.ends(0, &["platforms", "hall-7", "--yaml", "--platforms", "copy"]), copy);
}
