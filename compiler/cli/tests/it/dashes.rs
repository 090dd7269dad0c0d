//! `-` in place of a file, in every command: standard input for an input file, standard output for an output file.
//!
//! Every argument in docs/commands.md that names one file is tested, or listed with the reason why it does not accept
//! `-`. A new argument fails until it is listed.

use std::collections::BTreeSet;
use std::fs::File;
use std::process::Stdio;

use crate::common::{Place, root};

/// Meaning of `-` for an argument that names one file.
#[derive(Clone, Copy)]
enum Dash {
    /// Reads from standard input: the command line with `-`, the piped file, the exit code.
    Reads(&'static str, &'static str, i32),
    /// Writes only the file to standard output: the command line with `-`, the exit code, the beginning of the
    /// output.
    Writes(&'static str, i32, &'static str),
    /// Does not accept `-`, with the reason.
    Not(&'static str),
}

const TREE: Dash = Dash::Not("a tree is a folder or an archive that is read in place");
const LAB: Dash = Dash::Not("a lab that is up is named by its tree, its file or its name");
const SSH: Dash = Dash::Not("`ssh` reads it, once for each switch");
const INVENTORY: Dash = Dash::Reads("push a --dry-run --inventory -", "inventory.yaml", 1);
const KEPT: Dash = Dash::Not("what is kept there is read again");

const SECRET: Dash = Dash::Not("a secret is in a file that its owner alone can read");

/// Every argument that names one file, with its command, in the order of docs/commands.md.
const DASHES: &[(&str, &str, Dash)] = &[
    ("", "--audit-log", KEPT),
    ("check", "FILE", Dash::Reads("check -", "a.yaml", 0)),
    ("compile", "FILE", Dash::Reads("compile - --out c", "a.yaml", 0)),
    ("compile", "--archive", TREE),
    ("verify", "TREE", TREE),
    ("verify", "--tables", TREE),
    ("verify", "--summary", Dash::Writes("verify a --summary -", 0, "{")),
    ("merge", "SUMMARY", Dash::Reads("merge -", "summary.json", 0)),
    ("diff", "OLD", Dash::Reads("diff - b.yaml", "a.yaml", 2)),
    ("diff", "NEW", Dash::Reads("diff b.yaml -", "a.yaml", 2)),
    ("diff", "--inventory", INVENTORY),
    ("diff", "--ssh-config", SSH),
    ("diff", "--out", Dash::Writes("diff a.yaml b.yaml --out -", 2, "{")),
    ("diff", "--show", Dash::Reads("diff --show -", "saved.json", 2)),
    ("diff", "--check", Dash::Reads("diff --check -", "saved.json", 2)),
    ("drain", "FILE", Dash::Reads("drain p0-t1-001 -", "a.yaml", 2)),
    ("undrain", "FILE", Dash::Reads("undrain p0-t1-001 -", "drained.yaml", 2)),
    ("drain", "--token", SECRET),
    ("undrain", "--token", SECRET),
    ("grow", "OLD", Dash::Reads("grow - a.yaml", "a.yaml", 0)),
    ("grow", "NEW", Dash::Reads("grow a.yaml -", "a.yaml", 0)),
    ("cables check", "FILE", Dash::Reads("cables check - p0-t0-001=seen.json", "a.yaml", 2)),
    ("cables check", "[DEVICE=]FILE|DIR", Dash::Reads("cables check a.yaml p0-t0-001=-", "seen.json", 2)),
    ("whatif", "FILE", Dash::Reads("whatif - --fail p0-t1-001", "a.yaml", 0)),
    ("whatif", "--trace", Dash::Reads("whatif a.yaml --trace -", "trace.csv", 0)),
    ("whatif", "--against", Dash::Reads("whatif b.yaml --against -", "a.yaml", 0)),
    ("whatif", "--domains", Dash::Reads("whatif a.yaml --domains -", "domains.csv", 0)),
    ("paths", "FILE", Dash::Reads("paths - su001-n001 su002-n001", "a.yaml", 0)),
    ("conformance", "--device-config", Dash::Not("a program and its P4Info are two files")),
    ("conformance", "--p4info", Dash::Not("a program and its P4Info are two files")),
    ("te", "FILE", Dash::Reads("te - --demand demand.csv", "a.yaml", 0)),
    ("te", "--demand", Dash::Reads("te a.yaml --demand -", "demand.csv", 0)),
    ("te", "--out", Dash::Writes("te a.yaml --demand demand.csv --out -", 0, "{")),
    ("export host", "FILE", Dash::Reads("export host - su001-n001 --out o", "a.yaml", 0)),
    ("export mininet", "SOURCE", Dash::Reads("export mininet - --out mininet.py", "a.yaml", 0)),
    ("export mininet", "--out", Dash::Writes("export mininet a --out -", 0, "#!")),
    ("export kubernetes", "FILE", Dash::Reads("export kubernetes - --out o", "a.yaml", 0)),
    ("export cables", "FILE", Dash::Reads("export cables - --out o", "a.yaml", 0)),
    ("export report", "FILE", Dash::Reads("export report - --out report.html", "a.yaml", 0)),
    ("export report", "--out", Dash::Writes("export report a.yaml --out -", 0, "<!")),
    ("export report", "--since", Dash::Reads("export report b.yaml --since - --out since.html", "a.yaml", 0)),
    (
        "export report",
        "--changes",
        Dash::Reads("export report b.yaml --changes - --out c.html", "saved.json", 0),
    ),
    ("export drawing", "FILE", Dash::Reads("export drawing - --out a.svg", "a.yaml", 0)),
    ("export drawing", "--out", Dash::Writes("export drawing a.yaml --out -", 0, "<svg")),
    ("export tables", "FILE", Dash::Reads("export tables - --out o", "a.yaml", 0)),
    ("export mrc", "FILE", Dash::Reads("export mrc - su001-n001 --to su002-n001 --out o", "a.yaml", 0)),
    ("export ztp", "FILE", Dash::Reads("export ztp - --url http://192.0.2.1 --out o", "sonic.yaml", 0)),
    (
        "export ztp",
        "--serials",
        Dash::Reads("export ztp sonic.yaml --serials - --url http://192.0.2.1 --out p", "serials.csv", 0),
    ),
    ("export ansible", "FILE", Dash::Reads("export ansible - --out o", "sonic.yaml", 0)),
    ("export ranks", "FILE", Dash::Reads("export ranks - --out o --tp 1 --dp 2 --pp 1", "a.yaml", 0)),
    (
        "export ranks",
        "--free",
        Dash::Reads("export ranks a.yaml --free - --out p --tp 1 --dp 2 --pp 1", "free.txt", 0),
    ),
    ("export scheduler", "FILE", Dash::Reads("export scheduler - --out o", "a.yaml", 0)),
    ("export simulation", "FILE", Dash::Reads("export simulation - --for htsim --out o", "a.yaml", 0)),
    (
        "export simulation",
        "--demand",
        Dash::Reads("export simulation a.yaml --for ns3 --demand - --out o", "demand.csv", 0),
    ),
    ("export l8k", "FILE", Dash::Reads("export l8k - --out o", "a.yaml", 0)),
    ("export air", "FILE", Dash::Reads("export air - --out o", "sonic.yaml", 0)),
    ("export sonic-mgmt", "FILE", Dash::Reads("export sonic-mgmt - --out o", "sonic.yaml", 0)),
    ("export containerlab", "FILE", Dash::Reads("export containerlab - --out o", "sonic.yaml", 0)),
    ("export order", "FILE", Dash::Reads("export order - --out o", "a.yaml", 0)),
    ("export order", "--floor", Dash::Reads("export order a.yaml --floor - --out o", "floor.csv", 1)),
    ("export resources", "FILE", Dash::Reads("export resources - --out o", "a.yaml", 0)),
    ("export telemetry", "FILE", Dash::Reads("export telemetry - --domain example.net --out o", "a.yaml", 0)),
    ("platforms", "--ssh-config", SSH),
    ("design", "--out", Dash::Writes("design --nics 64 --planes 1 --out -", 0, "# 64 NICs")),
    ("design", "--compare", Dash::Reads("design --compare - b.yaml", "a.yaml", 0)),
    ("design", "--explain", Dash::Reads("design --nics 64 --planes 2 --explain -", "a.yaml", 0)),
    ("design", "--prices", Dash::Reads("design --nics 64 --planes 1 --prices -", "demand.csv", 1)),
    ("place", "FILE", Dash::Reads("place - --floor floor.csv", "sonic.yaml", 0)),
    ("place", "--floor", Dash::Reads("place sonic.yaml --floor -", "floor.csv", 0)),
    ("place", "--out", Dash::Writes("place sonic.yaml --floor floor.csv --out -", 0, "")),
    ("place", "--placed", Dash::Writes("place sonic.yaml --floor floor.csv --placed - -q", 0, "rack,row")),
    ("init", "--out", Dash::Writes("init --nics 128 --planes 2 --speed 400G --out -", 0, "# 128 NICs")),
    ("import", "[DEVICE=]FILE|DIR", Dash::Reads("import - --out imported.yaml", "cables.csv", 0)),
    ("import", "--out", Dash::Writes("import cables.csv --out -", 0, "")),
    ("import", "--map", Dash::Writes("import cables.csv --out mapped.yaml --map -", 0, "")),
    ("fmt", "FILE", Dash::Reads("fmt -", "a.yaml", 0)),
    ("fix", "FILE", Dash::Reads("fix -", "a.yaml", 0)),
    ("lab run", "SOURCE", Dash::Reads("lab run -", "a.yaml", 0)),
    ("lab up", "SOURCE", Dash::Reads("lab up -", "a.yaml", 0)),
    ("lab test", "SOURCE", LAB),
    ("lab status", "SOURCE", LAB),
    ("lab down", "SOURCE", LAB),
    ("lab miswire", "SOURCE", LAB),
    ("lab cut", "SOURCE", LAB),
    ("lab restore", "SOURCE", LAB),
    ("lab job", "SOURCE", Dash::Reads("lab job - --seconds 1", "a.yaml", 0)),
    ("lab job", "--scenario", Dash::Reads("lab job a.yaml --scenario -", "scenario.yaml", 0)),
    ("demo", "--plot", Dash::Writes("demo --no-page --for 1 --plot -", 0, "<svg")),
    ("lab job", "--plot", Dash::Writes("lab job a.yaml --seconds 1 --plot -", 0, "<svg")),
    ("push", "SOURCE", TREE),
    ("push", "--inventory", INVENTORY),
    ("push", "--ssh-config", SSH),
    ("push", "--out", Dash::Writes("push a --inventory lab --out -", 2, "{")),
    ("drift", "SOURCE", TREE),
    ("drift", "--inventory", INVENTORY),
    ("drift", "--ssh-config", SSH),
    ("watch", "SOURCE", TREE),
    ("watch", "--inventory", INVENTORY),
    ("watch", "--ssh-config", SSH),
    ("collect", "FILE", Dash::Reads("collect - --nic none.sock --listen 127.0.0.1:0 --for 1", "a.yaml", 1)),
    ("collect", "--state", KEPT),
    ("collect", "--order-token", SECRET),
    ("audit verify", "FILE", KEPT),
    ("collect", "--inventory", INVENTORY),
];

/// Value names of these arguments in docs/commands.md.
const FILES: [&str; 8] = ["FILE", "FILE.svg", "TREE", "SUMMARY", "OLD", "NEW", "SOURCE", "[DEVICE=]FILE|DIR"];

/// Every argument that names a file: its command, and its long option, otherwise its value name.
fn file_arguments() -> BTreeSet<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/commands.md")).expect("it is in the tree");
    let (mut verb, mut found) = (String::new(), BTreeSet::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## closc") {
            name.trim().clone_into(&mut verb);
        }
        let Some(words) =
            line.strip_prefix("| `").and_then(|line| line.split_once("` |")).map(|(own, _)| own)
        else {
            continue;
        };
        // The long form of an option comes last.
        let words = words.rsplit("`, `").next().unwrap_or_default();
        let Some((option, name)) = words.split_once('<') else { continue };
        let name = name.trim_end_matches('.').trim_end_matches('>');
        if FILES.contains(&name) {
            let option = option.trim();
            found.insert((verb.clone(), if option.is_empty() { name } else { option }.to_owned()));
        }
    }
    found
}

#[test]
fn every_argument_of_a_file_is_known() {
    let known: BTreeSet<(String, String)> =
        DASHES.iter().map(|(verb, argument, _)| ((*verb).to_owned(), (*argument).to_owned())).collect();
    let listed = file_arguments();
    assert!(listed.len() > 80, "{listed:?}");
    let (new, gone): (Vec<_>, Vec<_>) =
        (listed.difference(&known).collect(), known.difference(&listed).collect());
    assert!(new.is_empty() && gone.is_empty(), "`DASHES` lacks {new:?} and has {gone:?}");
    assert_eq!(known.len(), DASHES.len(), "each is there once");
    for (verb, argument, dash) in DASHES {
        match dash {
            Dash::Reads(words, ..) | Dash::Writes(words, ..) => {
                assert!(words.split(' ').any(|word| word == "-" || word.ends_with("=-")), "{words}");
            }
            Dash::Not(why) => assert!(why.len() > 8, "{verb} {argument}"),
        }
    }
}

/// A folder with the inputs of the commands.
fn place() -> Place {
    let place = Place::new();
    let text = place.read("topologies/lab/two-planes-p4.yaml");
    place.write("a.yaml", &text);
    place.write("b.yaml", text.replace("t0-t1: { length: 1m", "t0-t1: { length: 3m"));
    place.write("drained.yaml", format!("{text}exceptions: {{ drained: [p0-t1-001] }}\n"));
    let sonic = std::fs::read_to_string(root().join("tests/cases/sonic-pod/topology.yaml"));
    place.write("sonic.yaml", sonic.expect("it is in the tree"));
    let racks = (0..64).map(|at| format!("R{at},A,{at},0,48\n")).collect::<Vec<_>>().concat();
    place.write("floor.csv", format!("rack,row,x,y,units\n{racks}"));
    place.write("demand.csv", "source,destination,gbps\nsu001-n001/nic0,su002-n001/nic0,1\n");
    place.write("trace.csv", "10,down,p0-t1-001\n20,up,p0-t1-001\n");
    place.write("domains.csv", "feed-a,p0-t1-001\n");
    place.write("free.txt", "su001-n001\nsu002-n001\n");
    place.write("serials.csv", "name,serial,mac,product\np0-t0-001,A1,02:00:00:00:00:01,x\n");
    place.write("seen.json", "{\"lldp\": {\"interface\": []}}");
    place.write("inventory.yaml", "devices: {}\n");
    place.write("scenario.yaml", "title: nothing breaks\nduration: 1s\nsteps: []\n");
    place.ends(0, &["compile", "a.yaml", "--out", "a"]);
    place.ends(0, &["verify", "a", "--summary", "summary.json"]);
    place.ends(2, &["diff", "a.yaml", "b.yaml", "--out", "saved.json"]);
    place.ends(0, &["export", "cables", "a.yaml", "--out", "network"]);
    let lists = [0, 1].map(|plane| place.read(&format!("network/cables/point-to-point-{plane}.csv")));
    let second = lists[1].split_once('\n').expect("a list has a header").1;
    place.write("cables.csv", format!("{}{second}", lists[0]));
    place
}

#[test]
fn every_verb_takes_a_dash() {
    let place = place();
    place.ends(0, &["lab", "up", "a"]);
    let mut failed = Vec::new();
    for (verb, argument, dash) in DASHES {
        let (words, input, code) = match dash {
            Dash::Reads(words, input, code) => (words, *input, *code),
            Dash::Writes(words, code, _) => (words, "a.yaml", *code),
            Dash::Not(_) => continue,
        };
        let words: Vec<&str> = words.split(' ').collect();
        let input = File::open(place.path(input)).expect("it was written");
        let output = place.command(&words).stdin(Stdio::from(input)).output().expect("closc runs");
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let begins = !matches!(dash, Dash::Writes(_, _, start) if !out.starts_with(start));
        if output.status.code() != Some(code) || !begins || place.path("-").exists() {
            failed.push(format!("{verb} {argument}: {:?} {out:.300}\n{err:.600}", output.status.code()));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
