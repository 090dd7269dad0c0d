//! `closc whatif` on the command line.

use crate::common::Place;

const SMALL: &str = "\
fabric: small
planes: 2
hosts: { groups: 4, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 200G, lanes: 2 } }
tiers:
  t0: { platform: linux, os: linux, up: 4 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: { length: 1m, medium: virtual }
  t0-t1: { length: 1m, medium: virtual }
";

/// A folder with the small fabric.
struct Whatif(Place);

impl Whatif {
    fn new() -> Self {
        let place = Place::new();
        place.write("small.yaml", SMALL);
        Whatif(place)
    }

    fn ends(&self, code: i32, args: &[&str]) -> String {
        self.0.ends(code, &[&["whatif"], args].concat())
    }

    fn json(&self, code: i32, args: &[&str]) -> serde_json::Value {
        self.0.json(code, &[&["whatif"], args].concat())
    }
}

#[test]
fn a_named_failure() {
    let place = Whatif::new();
    let text = place.ends(0, &["small.yaml", "--fail", "p1-t0-001--p1-t1-002", "--worst", "1"]);
    assert!(
        text.starts_with(
            "small: p1-t0-001--p1-t1-002 fails\n28 pairs of NICs: 12 (42.9 %) lose paths, 0 are cut off\n"
        ),
        "{text}"
    );
    assert!(text.contains("7 of 8 paths, 175 Gb/s, and 11 more like it"), "{text}");
    let json = place.json(0, &["small.yaml", "--fail", "p1-t0-001--p1-t1-002"]);
    assert_eq!(json["left"]["pairs_touched"], 12);
    assert_eq!(json["left"]["gbps_loaded"]["minimum"], 175.0);
    assert_eq!(json["left"]["gbps_alone"]["minimum"], 200.0);
    assert_eq!(json["left"]["apart"][1]["histogram"], serde_json::json!([[7, 12], [8, 12]]));
}

#[test]
fn who_is_cut_off_is_named_and_ends_with_1() {
    let place = Whatif::new();
    // Ranges as in `exceptions`, and a group by its number.
    for name in ["p[0-1]-t0-003", "group 3"] {
        let json = place.json(1, &["small.yaml", "--fail", name]);
        assert_eq!(
            json["left"]["nics_cut_off_names"],
            serde_json::json!(["su002-n001/nic0", "su002-n002/nic0"])
        );
        assert_eq!(json["left"]["nodes_cut_off"], 0, "the other rail of both nodes works");
    }
    let text = place.ends(1, &["small.yaml", "--fail", "group 3", "--fail", "group 4"]);
    assert!(
        text.contains("4 NICs reach no other NIC, among them all NICs of 2 nodes: su002-n001/nic0, "),
        "{text}"
    );
}

#[test]
fn names_that_mean_nothing_say_what_would() {
    let place = Whatif::new();
    for (name, wanted) in [
        ("p0-t0-1", "did you mean `p0-t0-001`?"),
        ("p0-t0-009", "the last T0 there is `p0-t0-004`"),
        ("p0-t1-001--p0-t0-001", "write the lower switch first"),
        ("plane 2", "the last plane is 1"),
        ("group 5", "numbered from 1 to 4"),
        ("p0-t0-001/cage99", "holds no cable"),
        ("p0-t0-001/cage60000", "`p0-t0-001` has no cage 60000; cages of `"),
        ("domain feed", "neither the fabric file nor a list defines any"),
    ] {
        let text = place.ends(1, &["small.yaml", "--fail", name]);
        assert!(text.contains(wanted), "{name}: {text}");
    }
    let absent = format!("{SMALL}exceptions: {{ absent: [p0-t1-001] }}\n");
    place.0.write("absent.yaml", &absent);
    assert!(place.ends(1, &["absent.yaml", "--fail", "p0-t1-001"]).contains("is declared absent"));
}

#[test]
fn exceptions_of_the_file_are_the_baseline() {
    let place = Whatif::new();
    place.0.write("drained.yaml", format!("{SMALL}exceptions: {{ drained: [plane 1] }}\n"));
    let json = place.json(0, &["drained.yaml", "--fail", "p1-t0-001"]);
    assert_eq!(json["left"]["pairs_touched"], 0, "what is drained carries nothing");
    assert_eq!(json["left"]["gbps_loaded"]["maximum"], serde_json::Value::Null);
    assert_eq!(json["left"]["gbps_loaded"]["median"], 100.0);
    place.json(1, &["drained.yaml", "--fail", "p0-t0-001"]);
}

#[test]
fn random_failures_repeat() {
    let place = Whatif::new();
    let random = ["whatif", "small.yaml", "--random", "t0-t1=20%,nic-t0=1", "--format", "json", "--seed"];
    let run = |seed| place.0.closc(&[&random[..], &[seed]].concat()).stdout;
    assert_eq!(run("7"), run("7"));
    assert_ne!(run("7"), run("8"));
    let json = place.json(0, &["small.yaml", "--random", "t0-t1=3", "--trials", "4", "--seed", "10"]);
    let seeds: Vec<_> = json["draws"].as_array().unwrap().iter().map(|draw| draw["seed"].clone()).collect();
    assert_eq!(seeds, [10, 11, 12, 13]);
    assert!(json["draws"].as_array().unwrap().iter().all(|draw| draw["failed"] == 3));
    place.ends(64, &["small.yaml", "--random", "t0-t1=x"]);
    for draw in ["t2=1", "t2=10%"] {
        let text = place.ends(1, &["small.yaml", "--random", draw]);
        assert!(text.contains(&format!("`{draw}`: the fabric has no elements of kind `t2`")), "{text}");
    }
}

#[test]
fn every_failure_is_counted() {
    let place = Whatif::new();
    let text = place.ends(0, &["small.yaml"]);
    assert!(text.starts_with("small: one failure at a time; 28 pairs of NICs\n"), "{text}");
    for start in ["  t0-t1 ", "  nic-t0 ", "  transceiver ", "  node ", "  t1 ", "  group ", "  plane "] {
        assert_eq!(text.lines().filter(|line| line.starts_with(start)).count(), 1, "{start}\n{text}");
    }
    let json = place.json(1, &["small.yaml", "--each", "t0,nic-t0", "-k", "2"]);
    let counts = json["classes"].as_array().unwrap().iter().map(|class| class["failures"].as_u64().unwrap());
    // 8 T0s and 16 cables.
    assert_eq!(counts.sum::<u64>(), 24 * 23 / 2);
    assert_eq!(json["classes"][0]["nics_cut_off"], 2, "both T0s of a group, the worst, come first");
    let given = place.json(1, &["small.yaml", "--fail", "plane 0", "--each", "t0"]);
    assert_eq!(given["classes"][0]["failures"], 4, "after plane 0, a T0 of plane 1 cuts its group off");
    assert_eq!(given["given"]["names"], serde_json::json!(["plane 0"]));
}

#[test]
fn a_trace_is_followed_and_its_faults_have_lines() {
    let place = Whatif::new();
    place.0.write(
        "trace.csv",
        "time,event,element\n# a port flaps while a T1 reboots\n10,down,p0-t1-001\n\
         15,down,su001-n001/nic0.p1\n15,down,p0-t0-001\n20,up,su001-n001/nic0.p1\n70,up,p0-t1-001\n",
    );
    let text = place.ends(1, &["small.yaml", "--trace", "trace.csv"]);
    assert!(text.starts_with("small: 4 moments in 60 s; planned: 200 Gb/s and 8 paths\n"), "{text}");
    assert!(text.contains("at least one pair was cut off for 5 s"), "{text}");
    let json = place.json(1, &["small.yaml", "--trace", "trace.csv"]);
    let of = |key: &str| -> Vec<u64> {
        let moments = json["moments"].as_array().unwrap().iter();
        moments.map(|moment| moment[key].as_f64().unwrap() as u64).collect()
    };
    assert_eq!(of("down"), [1, 3, 2, 1]);
    assert_eq!(of("paths_min"), [7, 0, 4, 4]);
    assert_eq!(of("pairs_cut_off"), [0, 7, 0, 0]);
    assert_eq!(of("gbps_alone_min"), [200, 0, 100, 100]);

    place.0.write(
        "bad.csv",
        "5,down,p0-t1-001\n4,down,p0-t1-002\n6,off,p0-t1-002\n7,up,p0-t1-003\n8,down,p0-t1-001\n9,down,stranger\n10,down\nsoon,up,p0-t1-001\n",
    );
    let text = place.ends(1, &["small.yaml", "--trace", "bad.csv"]);
    for wanted in [
        "bad.csv:2: `4` is before `5`, the time of the previous event",
        "bad.csv:3: `off` is not an event: write `down` or `up`",
        "bad.csv:4: `p0-t1-003` is not down",
        "bad.csv:5: `p0-t1-001` is down already, since line 1",
        "bad.csv:6: `stranger` is not a name in this fabric",
        "bad.csv:7: has 2 fields; expected 3",
        "bad.csv:8: `soon` is not a time",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
}

#[test]
fn domains_are_what_the_fabric_file_does_not_know() {
    let place = Whatif::new();
    place.0.write("power.csv", "domain,element\nfeed-a,plane 0\nfeed-b,p1-t0-[001-002]\nfeed-b,p1-t0-003\n");
    let json = place.json(0, &["small.yaml", "--domains", "power.csv", "--each", "domain"]);
    let classes = json["classes"].as_array().unwrap();
    assert_eq!(classes.len(), 2);
    assert!(classes.iter().all(|class| class["nics_cut_off"] == 0));
    let both = ["small.yaml", "--domains", "power.csv", "--fail", "domain feed-a", "--fail", "domain feed-b"];
    assert_eq!(place.json(1, &both)["left"]["nics_cut_off"], 6);
    place.0.write("bad.csv", "feed-a,p9-t0-001\n");
    assert!(place.ends(1, &["small.yaml", "--domains", "bad.csv"]).contains("bad.csv:1: "));
}

#[test]
fn designs_are_compared_for_each_nic() {
    let place = Whatif::new();
    let (two, three) =
        ("topologies/reference/mrc-4x256.yaml", "topologies/reference/three-tier-64x800g.yaml");
    let text = place.ends(0, &[two, "--against", three]);
    let line = |start: &str| {
        let found = text.lines().find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("{start}\n{text}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("switches"), "switches 1,536 1,280 3/5 per NIC");
    assert_eq!(line("modules"), "modules in cages and NICs 131,072 98,304 2/3 per NIC");
    assert_eq!(line("switches on"), "switches on the longest path 3 5 3/5");
    assert_eq!(line("nic-t0"), "nic-t0 mrc-4x256 25 % 100 % 0.0015 % 600 0 0");
    let json = place.json(0, &[two, "--against", three]);
    assert_eq!(json["figures"][2]["ratio"], serde_json::json!([3, 5]));
}

const FEEDS: &str = "\
domains:
  rack: { by: [tier, index], run: 2 }
  power: { by: [plane, index], count: 2 }
  shelf: { members: [su001-n001, p0-t1-001] }
";

/// Domains of the fabric file can fail: by name, one at a time, and together with domains of a list.
#[test]
fn domains_of_the_fabric_file() {
    let place = Whatif::new();
    place.0.write("feeds.yaml", format!("{SMALL}{FEEDS}"));
    // T0s 1 and 3 and T1s 1 and 3 of plane 0 fail, so half of the groups lose the plane.
    let json = place.json(0, &["feeds.yaml", "--fail", "domain:power-p0-1", "--quiet"]);
    let same =
        place.json(0, &["small.yaml", "--fail", "p0-t0-00[1,3]", "--fail", "p0-t1-00[1,3]", "--quiet"]);
    assert_eq!(json["left"], same["left"]);
    // A rack contains all T0s of two groups.
    let text = place.ends(1, &["feeds.yaml", "--fail", "domain rack-t0-1", "--quiet"]);
    assert!(text.contains("cut off"), "{text}");
    let json = place.json(1, &["feeds.yaml", "--each", "domain", "--quiet"]);
    let listed = json.to_string();
    for name in ["rack-t0-1", "rack-t1-1", "power-p0-1", "shelf"] {
        assert!(listed.contains(name), "no {name} in {json:#}");
    }
    let text = place.ends(1, &["feeds.yaml", "--fail", "domain:power-3", "--quiet"]);
    assert!(text.contains("`power-3` is not a domain; expected one of `power-p0-1`"), "{text}");
    place.0.write("more.csv", "domain,element\nduct,p0-t0-001--p0-t1-001\n");
    place.ends(0, &["feeds.yaml", "--domains", "more.csv", "--fail", "domain:duct", "--quiet"]);
    place.0.write("twice.csv", "domain,element\nshelf,p0-t0-001\n");
    let text = place.ends(1, &["feeds.yaml", "--domains", "twice.csv", "--quiet"]);
    assert!(text.contains("the fabric file has a domain `shelf`, too"), "{text}");
}

/// A warning names a domain that contains all T0s of a group or all T1s of a plane, once for each kind, with the
/// impact.
#[test]
fn domains_that_take_a_whole_are_pointed_at() {
    let place = Whatif::new();
    let check = |domains: &str| {
        place.0.write("feeds.yaml", format!("{SMALL}domains:\n{domains}qos: none\n"));
        let output = place.0.closc(&["check", "feeds.yaml"]);
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8(output.stderr).expect("messages are text")
    };
    let text = check("  rack: { by: [tier, index], run: 2 }\n  feed: { by: [plane] }\n");
    assert_eq!(
        text,
        "warning[W0303]: `rack-t0-1` holds all 2 T0s of group 1, in all planes\n  --> feeds.yaml:11:3\n   |\n11 |   \
         rack: { by: [tier, index], run: 2 }\n   |   ^^^^ its loss cuts off 2 NICs\n   |\n   = note: other \
         domains of this kind with the same effect: 1\nhelp: assign planes or adjacent switch \
         numbers to different domains\n\nwarning[W0303]: `feed-1` holds all 4 T1s of plane 0\n  --> feeds.yaml:12:3\n   |\n12 |   feed: { by: [plane] }\n   |   ^^^^ its loss removes 1 \
         of 2 planes, 50.0 % of the paths of every pair of NICs in different groups\n   |\n   \
         = note: other domains of this kind with the same effect: 1\nhelp: assign planes or adjacent switch \
         numbers to different domains\n\n"
    );
    // Racks of a plane alternate between feeds. The first rack of each plane is on feed 1, so feed 1 has all T0s of
    // its groups.
    let text = check("  rack: { by: [plane, tier, index], run: 2 }\n  feed: { by: [rack], count: 2 }\n");
    assert!(text.starts_with("warning[W0303]: `feed-1` holds all 2 T0s of group 1, in all planes"), "{text}");
    let text = check(
        "  rack: { by: [plane, tier, index], run: 2 }\n  leaf-feed: { by: [plane], count: 2, tiers: [t0] }\n  \
         spine-feed: { by: [index], count: 2, tiers: [t1] }\n",
    );
    assert_eq!(text, "");
    // The fabric has only two tiers.
    let text = check("  hall: { by: [index], tiers: [t2] }\n");
    assert!(
        text.starts_with("warning[W0305]: no switch is in a domain of kind `hall`\n  --> feeds.yaml:11:3"),
        "{text}"
    );
}

/// Every failure is in exactly one shard, and the merged result of the shards equals the result without shards.
#[test]
fn shards_of_a_question_are_merged() {
    let place = Whatif::new();
    let kinds = ["--each", "t0-t1,nic-t0,transceiver,t0,t1,nic,node,group,plane", "--fail", "p0-t0-001"];
    let ask = |code: i32, more: &[&str]| place.json(code, &[&["small.yaml"], &kinds[..], more].concat());
    let whole = place.0.ends_with_output(1, &[&["whatif", "small.yaml"], &kinds[..]].concat());
    for n in [1, 2] {
        let mut names = Vec::new();
        for index in 0..n {
            // With two shards, each has one plane. There cannot be more shards than planes.
            let shard = format!("{index}/{n}");
            let answer = ask(1, &["--shard", &shard]);
            assert_eq!(answer["part"]["selection"], format!("shard={shard}"));
            let name = format!("{index}-of-{n}.json");
            place.0.write(&name, answer.to_string());
            names.push(name);
        }
        names.reverse();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(place.0.ends_with_output(1, &[&["merge"], &names[..]].concat()), whole);
    }
    let why = place.0.ends(1, &["merge", "1-of-2.json"]);
    assert!(why.contains("shard 0/2 is missing"), "{why}");
    let why = place.0.ends(1, &["merge", "1-of-2.json", "1-of-2.json"]);
    assert!(why.contains("shard 1/2 is in `1-of-2.json` and in `1-of-2.json`"), "{why}");
    let why = place.0.ends(1, &["merge", "0-of-1.json", "1-of-2.json"]);
    assert!(why.contains("have different parameters"), "{why}");
    // A different `--fail` is a different question.
    let other = place.json(0, &["small.yaml", "--each", "t0", "--fail", "p0-t0-002", "--shard", "0/2"]);
    place.0.write("other.json", other.to_string());
    let why = place.0.ends(1, &["merge", "1-of-2.json", "other.json"]);
    assert!(why.contains("have different parameters"), "{why}");
}

#[test]
fn what_is_selected_fails_and_nothing_else() {
    let place = Whatif::new();
    let failures = |args: &[&str]| -> u64 {
        let json = place.json(0, &[&["small.yaml", "--each"], args].concat());
        json["classes"].as_array().unwrap().iter().map(|class| class["failures"].as_u64().unwrap()).sum()
    };
    assert_eq!(failures(&["t0-t1", "--select", "plane=1"]), 16);
    assert_eq!(failures(&["t0-t1", "--select", "device=p1-t0-001"]), 4);
    assert_eq!(failures(&["t0-t1", "-k", "2", "--select", "device=p1-t0-001"]), 6);
    for (args, why) in [
        (&["--each", "nic", "--select", "plane=1"][..], "`plane=1` of `small` has no element of this kind"),
        (&["--each", "t0", "--select", "plane=2"], "the last plane of this fabric is 1"),
        (&["--each", "t0", "-k", "2", "--shard", "0/2"], "failures across 2 shards would be in none"),
        (&["--each", "t0", "--shard", "0/3"], "3 shards"),
    ] {
        let text = place.ends(1, &[&["small.yaml"], args].concat());
        assert!(text.contains(why), "{args:?}: {text}");
    }
    let text = place.ends(64, &["small.yaml", "--fail", "p0-t0-001", "--select", "plane=1"]);
    assert!(text.contains("divide failures that are tried one by one"), "{text}");
}
