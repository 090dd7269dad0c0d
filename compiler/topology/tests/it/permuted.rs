//! The order of keys in a file has no meaning.
//!
//! In: a fabric that uses nearly every key. Out: for any order of the keys of any mapping, the same topology except
//! for the places in the text.

use closc_diagnostics::{Sources, show};
use closc_platform::Catalogue;
use closc_topology::{Spans, Topology};
use proptest::prelude::*;

/// A YAML value whose mappings can be shuffled.
#[derive(Debug, Clone)]
enum Tree {
    Leaf(&'static str),
    List(Vec<Tree>),
    Mapping(Vec<(&'static str, Tree)>),
}

impl Tree {
    fn write(&self, out: &mut String) {
        let comma = |out: &mut String, at: usize| {
            if at > 0 {
                out.push_str(", ");
            }
        };
        match self {
            Tree::Leaf(text) => out.push_str(text),
            Tree::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    comma(out, at);
                    item.write(out);
                }
                out.push(']');
            }
            Tree::Mapping(entries) => {
                out.push('{');
                for (at, (key, value)) in entries.iter().enumerate() {
                    comma(out, at);
                    out.push_str(key);
                    out.push_str(": ");
                    value.write(out);
                }
                out.push('}');
            }
        }
    }

    /// Shuffles every mapping with a stream of random numbers.
    fn shuffle(&self, random: &mut impl FnMut(usize) -> usize) -> Tree {
        match self {
            Tree::Leaf(text) => Tree::Leaf(text),
            Tree::List(items) => Tree::List(items.iter().map(|item| item.shuffle(random)).collect()),
            Tree::Mapping(entries) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (*key, value.shuffle(random))).collect();
                for at in (1..entries.len()).rev() {
                    entries.swap(at, random(at + 1));
                }
                Tree::Mapping(entries)
            }
        }
    }
}

fn leaf(text: &'static str) -> Tree {
    Tree::Leaf(text)
}

fn map<const N: usize>(entries: [(&'static str, Tree); N]) -> Tree {
    Tree::Mapping(entries.into())
}

fn fabric() -> Tree {
    map([
        ("fabric", leaf("whole")),
        ("description", leaf("\"every key\"")),
        ("planes", leaf("2")),
        ("routing", leaf("srv6-static")),
        ("zones", leaf("2")),
        (
            "sites",
            Tree::List(vec![
                map([("name", leaf("north")), ("zones", Tree::List(vec![leaf("0")]))]),
                map([("name", leaf("south")), ("zones", Tree::List(vec![leaf("1")]))]),
            ]),
        ),
        ("hosts", hosts()),
        ("tiers", tiers()),
        ("srv6", srv6()),
        ("addresses", addresses()),
        ("cables", cables()),
        ("mtu", map([("link", leaf("9216")), ("payload", leaf("4096"))])),
        ("entropy", map([("active", leaf("64")), ("backup", leaf("32")), ("seed", leaf("7"))])),
        ("qos", leaf("none")),
        (
            "naming",
            map([
                ("t0", leaf("\"z{zone}-leaf-{plane}-{index:02}\"")),
                ("node", leaf("\"z{zone}-r{unit}-h{node}\"")),
            ]),
        ),
        (
            "services",
            map([
                ("ntp", Tree::List(vec![leaf("192.0.2.1")])),
                ("snmp", map([("contact", leaf("noc")), ("location", leaf("north"))])),
            ]),
        ),
        ("exceptions", exceptions()),
    ])
}

fn hosts() -> Tree {
    map([
        ("groups", leaf("64")),
        ("per_group", leaf("128")),
        ("nics_per_node", leaf("8")),
        ("rails", leaf("4")),
        ("nic", map([("speed", leaf("400G")), ("lanes", leaf("4"))])),
        ("os", leaf("linux")),
        ("outputs", Tree::List(vec![leaf("nic"), leaf("netplan")])),
    ])
}

fn tiers() -> Tree {
    let t2 = map([
        ("platform", leaf("spectrum4-sn5600-256x200g")),
        ("os", leaf("frr")),
        ("ports_per_zone", leaf("64")),
        ("wiring", leaf("full")),
        ("count", leaf("64")),
    ]);
    map([
        (
            "t0",
            map([
                ("platform", leaf("spectrum4-sn5600-256x200g")),
                ("os", leaf("sonic")),
                ("down", map([("count", leaf("128")), ("breakout", leaf("4x200G"))])),
                ("up", map([("count", leaf("64")), ("spare", leaf("8")), ("first_cage", leaf("40"))])),
                ("parallel", leaf("1")),
                ("oversubscription", leaf("\"2:1\"")),
                ("by_plane", map([("1", map([("platform", leaf("th5-512x100g")), ("os", leaf("frr"))]))])),
            ]),
        ),
        (
            "t1",
            map([("platform", leaf("spectrum4-sn5600-256x200g")), ("up", leaf("64")), ("count", leaf("64"))]),
        ),
        ("t2", t2),
    ])
}

fn srv6() -> Tree {
    map([
        ("block", leaf("\"fcbb:bbbb::/32\"")),
        (
            "widths",
            map([("role", leaf("2")), ("plane", leaf("3")), ("zone", leaf("2")), ("index", leaf("9"))]),
        ),
        ("roles", map([("t0", leaf("1")), ("t1", leaf("0"))])),
    ])
}

fn addresses() -> Tree {
    map([
        ("hosts", leaf("\"2001:db8:1000::/36\"")),
        ("links", leaf("\"2001:db8:f000::/36\"")),
        ("management", leaf("10.64.0.0/14")),
        ("management_gateway", leaf("10.67.0.1")),
    ])
}

fn cables() -> Tree {
    map([
        ("nic-t0", map([("length", leaf("2.5m")), ("medium", leaf("dac"))])),
        ("t0-t1", map([("length", leaf("30m")), ("medium", leaf("dr4"))])),
        ("t1-t2", map([("length", leaf("300m"))])),
        ("by_zone", map([("1", map([("length", leaf("80km")), ("medium", leaf("zr"))]))])),
    ])
}

fn exceptions() -> Tree {
    map([
        ("absent", Tree::List(vec![leaf("z0-leaf-1-03"), leaf("z1-r1-h1"), leaf("z0-r2-h2/nic7")])),
        ("drained", Tree::List(vec![leaf("plane 1")])),
        ("isolated", Tree::List(vec![leaf("z0-leaf-0-01--z0-p0-t1-002")])),
        (
            "cables",
            map([
                ("z0-leaf-0-01--z0-p0-t1-002", map([("length", leaf("45m"))])),
                ("z0-leaf-0-01--z0-p0-t1-003", map([("length", leaf("46m")), ("medium", leaf("fr4"))])),
            ]),
        ),
        ("devices", map([("p0-t2-001", map([("os", leaf("sonic"))]))])),
    ])
}

fn topology(tree: &Tree) -> Topology {
    let mut text = String::new();
    tree.write(&mut text);
    let mut sources = Sources::new();
    let (found, sources) = match closc_topology::load(&mut sources, "fabric.yaml", text.as_bytes()) {
        Ok(document) => match closc_topology::lower(&document, &Catalogue::builtin(), &sources) {
            (Some(topology), _) => return Topology { spans: Spans::default(), ..topology },
            (None, found) => (found, sources),
        },
        Err(found) => (found, sources),
    };
    panic!("{}", show::text::all(&found, &sources, show::text::Colour::Plain));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn order_means_nothing(numbers in prop::collection::vec(any::<usize>(), 200)) {
        let mut at = 0;
        let mut random = |below: usize| {
            at += 1;
            numbers[at % numbers.len()] % below
        };
        let tree = fabric();
        let expected = format!("{:?}", topology(&tree));
        prop_assert_eq!(format!("{:?}", topology(&tree.shuffle(&mut random))), expected);
    }
}
