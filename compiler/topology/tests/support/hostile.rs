//! Hostile fabric files of any size, one for each number.
//!
//! In: a number and a size in bytes. Out: the name of its kind and a text of about that size. Invariants: the same
//! number and size give the same text.

use std::fmt::Write as _;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// A fabric without a fault, which most hostile files change.
const GOOD: &str = "\
fabric: good
planes: 2
hosts: { groups: 256, per_group: 128, nics_per_node: 4, nic: { speed: 400G, lanes: 4 } }
tiers:
  t0: { platform: spectrum4-sn5600-256x200g, os: sonic, up: 128 }
  t1: { platform: spectrum4-sn5600-256x200g, os: sonic }
";

/// A kind of hostile file.
type Kind = (&'static str, fn(&mut Numbers, usize) -> String);

/// Every kind.
pub(crate) const KINDS: &[Kind] = &[
    ("ranges", ranges),
    ("ranges of everything", ranges_everywhere),
    ("names that mean nothing", |n, size| {
        listed(n, size, "exceptions: { absent: [", |n| format!("x{}", n.up_to(9)), "] }")
    }),
    ("one name many times", |n, size| {
        listed(n, size, "exceptions: { drained: [", |_| "p0-t0-001".into(), "] }")
    }),
    ("links", |n, size| listed(n, size, "exceptions: { absent: [", link, "] }")),
    ("devices", |n, size| listed(n, size, "exceptions: { devices: {", device, "} }")),
    ("cables", |n, size| listed(n, size, "exceptions: { cables: {", cable, "} }")),
    ("unknown keys", |n, size| keyed(n, size, |n| format!("key{}", n.next()))),
    ("unknown keys inside", |n, size| listed(n, size, "mtu: {", |n| format!("key{}: 1", n.next()), "}")),
    ("one key many times", |n, size| keyed(n, size, |_| "x-a".into())),
    ("keys twice in turn", twice),
    ("long keys", long_keys),
    ("long texts", long_texts),
    ("free mappings of long keys", free_mappings),
    ("anchors", anchors),
    ("aliases of a long text", |n, size| aliases(n, size, "\"", "\"")),
    ("aliases of a list", |n, size| aliases(n, size, "[", "]")),
    ("merges", merges),
    ("numbers", numbers),
    ("zones", zones),
    ("planes of other hardware", |n, size| {
        listed(
            n,
            size,
            "tiers: { t0: { by_plane: {",
            |n| format!("{}: {{ os: frr }}", n.up_to(65_535)),
            "} } }",
        )
    }),
    ("cables by zone", |n, size| {
        listed(n, size, "cables: { by_zone: {", |n| format!("{}: {{ length: 1m }}", n.next() % 65_535), "} }")
    }),
    ("domains", |n, size| {
        listed(n, size, "domains: {", |n| format!("d{}: {{ by: [index] }}", n.next()), "}")
    }),
    ("chains of domains", chain),
    ("domains that begin alike", |n, size| {
        listed(n, size, "domains: {", |n| format!("{}a{}: {{ by: [index] }}", "d-".repeat(25), n.next()), "}")
    }),
    ("members", |n, size| {
        listed(n, size, "domains: { d: { members: [", |_| "\"p[0-1]-t0-[001-256]\"".into(), "] } }")
    }),
    ("sites", |n, size| {
        listed(n, size, "sites: [", |n| format!("{{ name: s, zones: [{}] }}", n.up_to(99)), "]")
    }),
    ("slots", |n, size| {
        listed(
            n,
            size,
            "hosts: { slots: [",
            |n| format!("{{ pci: \"0000:{:02x}:00.0\" }}", n.up_to(255)),
            "] }",
        )
    }),
    ("servers", |n, size| {
        listed(n, size, "services: { ntp: [", |n| format!("\"192.0.2.{}\"", n.up_to(254)), "] }")
    }),
    ("classes", |n, size| listed(n, size, "qos: { base: lossless, classes: {", class, "} }")),
    ("code points", |n, size| {
        listed(
            n,
            size,
            "qos: { base: lossless, classes: { a: { dscp: [",
            |n| n.up_to(63).to_string(),
            "] } } }",
        )
    }),
    ("patterns", patterns),
    ("depth", depth),
    ("open brackets", |_, size| GOOD.to_owned() + &"x: [\n".repeat(size / 5)),
    ("tabs", |_, size| GOOD.to_owned() + &"\t\n".repeat(size / 2) + "\tx: 1\n"),
    ("commas", |_, size| format!("{GOOD}zones: [{}]\n", ",".repeat(size))),
    ("brackets in a name", |_, size| {
        format!("{GOOD}exceptions: {{ absent: [\"{}\"] }}\n", "[1]".repeat(size / 3))
    }),
    ("dashes in a name", |_, size| {
        format!("{GOOD}exceptions: {{ absent: [\"{}\"] }}\n", "a--".repeat(size / 3))
    }),
    ("numbers in brackets", |_, size| {
        format!("{GOOD}exceptions: {{ absent: [\"p0-t0-[{}1]\"] }}\n", "1,".repeat(size / 2))
    }),
    ("torn", torn),
];

/// Reproducible pseudo-random numbers.
pub(crate) struct Numbers(SplitMix64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Numbers(SplitMix64::seed_from_u64(seed))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    pub(crate) fn up_to(&mut self, last: u64) -> u64 {
        self.next() % (last + 1)
    }
}

/// Returns a hostile file and its kind.
pub(crate) fn file(number: usize, size: usize) -> (&'static str, String) {
    let (kind, make) = KINDS[number % KINDS.len()];
    (kind, make(&mut Numbers::new(number as u64), size))
}

/// Writes items between brackets until the file has its size. A key that the good fabric has is replaced.
fn listed(
    numbers: &mut Numbers,
    size: usize,
    open: &str,
    item: impl Fn(&mut Numbers) -> String,
    close: &str,
) -> String {
    let inside = open.split_once(": {").map_or("", |(key, _)| key);
    let mut text = GOOD.to_owned();
    let open = match inside {
        "hosts" => {
            text = text.replace("hosts: {", &format!("{open}@{close}, ").replace("] },", "],"));
            String::new()
        }
        "tiers" => {
            text = text.replace("up: 128 }", "up: 128, by_plane: {@} }");
            String::new()
        }
        _ => format!("{open}@{close}\n"),
    };
    text.push_str(&open);
    let (before, after) = text.split_once('@').expect("a place for the items");
    let mut out = before.to_owned();
    while out.len() + after.len() < size {
        out.push_str(&item(numbers));
        out.push_str(", ");
    }
    out + after
}

fn keyed(numbers: &mut Numbers, size: usize, key: impl Fn(&mut Numbers) -> String) -> String {
    let mut text = GOOD.to_owned();
    while text.len() < size {
        writeln!(text, "{}: 1", key(numbers)).expect("a string accepts text");
    }
    text
}

fn range(numbers: &mut Numbers) -> String {
    let ranges = [
        "p0-t0-[001-99000]",
        "p[0-1]-t0-[001-256]",
        "su[001-256]-n[001-032]",
        "su[001-256]-n[001-032]/nic[0-3].p[0-1]",
        "p[0-1]-t0-[001-256]--p[0-1]-t1-[001-128]",
        "plane [0-99999]",
        "[0-9][0-9][0-9][0-9][0-9]",
        "p0-t0-[001-128]--p0-t1-[001-128]",
        "p[0,0,0,0,0,0,0,0,0,0,0,0]-t0-[1-8000]",
    ];
    format!("\"{}\"", ranges[numbers.up_to(ranges.len() as u64 - 1) as usize])
}

fn ranges(numbers: &mut Numbers, size: usize) -> String {
    let list = ["absent", "drained"][numbers.up_to(1) as usize];
    listed(numbers, size, &format!("exceptions: {{ {list}: ["), range, "] }")
}

fn ranges_everywhere(numbers: &mut Numbers, size: usize) -> String {
    let text = listed(numbers, size / 3, "domains: { d: { members: [", range, "] } }");
    let (key, value) = [("cables", "{ length: 1m }"), ("devices", "{ os: frr }")][numbers.up_to(1) as usize];
    let mut out = format!("{text}exceptions:\n  {key}:\n");
    let mut count = 0;
    while out.len() < size {
        count += 1;
        writeln!(out, "    {}: {value}", range(numbers).replace('[', &format!("[{count},")))
            .expect("a string accepts text");
    }
    out
}

fn link(numbers: &mut Numbers) -> String {
    format!("p{}-t0-{:03}--p0-t1-{:03}", numbers.up_to(1), numbers.up_to(300), numbers.up_to(150))
}

fn device(numbers: &mut Numbers) -> String {
    format!("p0-t0-{:03}{}: {{ platform: x{} }}", numbers.up_to(256), numbers.next(), numbers.up_to(9))
}

fn cable(numbers: &mut Numbers) -> String {
    format!("{}#{}: {{ length: 0m, medium: m{} }}", link(numbers), numbers.next() % 60_000, numbers.up_to(9))
}

fn class(numbers: &mut Numbers) -> String {
    format!(
        "c{}: {{ role: data, dscp: [{}], tc: {}, queue: {}, pfc: true }}",
        numbers.next(),
        numbers.up_to(63),
        numbers.up_to(7),
        numbers.up_to(7)
    )
}

/// Duplicate keys, in mappings that look the same.
fn twice(numbers: &mut Numbers, size: usize) -> String {
    let mut text = GOOD.to_owned();
    while text.len() < size {
        writeln!(text, "x-{}: {{ k: 1 }}", numbers.next()).expect("a string accepts text");
    }
    text + "x-last: { k: 1, k: 2 }\n"
}

fn long_keys(numbers: &mut Numbers, size: usize) -> String {
    let keys = 1 + numbers.up_to(400) as usize;
    let mut text = GOOD.to_owned();
    for key in 0..keys {
        writeln!(text, "{}{key}: 1", "planes".repeat(size / keys / 6)).expect("a string accepts text");
    }
    text
}

fn long_texts(numbers: &mut Numbers, size: usize) -> String {
    let long = "ab".repeat(size / 8);
    let word = ["platform: ", "os: ", "breakout: ", "medium: "][numbers.up_to(3) as usize];
    format!(
        "{GOOD}routing: {long}\nservices: {{ snmp: {{ contact: {long} }} }}\ncables: {{ t0-t1: {{ length: {long} }} }}\nx: {{ {word}{long} }}\n"
    )
}

/// Many mappings below one long key, which is a part of each of their paths.
fn free_mappings(_: &mut Numbers, size: usize) -> String {
    let mut text = format!("{GOOD}x-{}:\n", "k".repeat(size / 2));
    for key in 0..size / 20 {
        writeln!(text, "  k{key}: {{}}").expect("a string accepts text");
    }
    text
}

fn anchors(numbers: &mut Numbers, size: usize) -> String {
    let mut text = String::from("x-0: &a0 [x]\n");
    let (mut number, fan) = (1, 1 + numbers.up_to(9) as usize);
    while text.len() < size {
        let alias = format!("*a{}", number - 1);
        writeln!(text, "x-{number}: &a{number} [{}]", vec![alias; fan].join(", "))
            .expect("a string accepts text");
        number += 1;
    }
    text + GOOD
}

fn aliases(_: &mut Numbers, size: usize, open: &str, close: &str) -> String {
    let inner = if open == "[" { "1, ".repeat(size / 8) } else { "x".repeat(size / 2) };
    format!("x-a: &a {open}{inner}{close}\n{GOOD}services: {{ ntp: [{}] }}\n", "*a, ".repeat(size / 10))
}

fn merges(numbers: &mut Numbers, size: usize) -> String {
    let mut text = String::from("x-0: &a0 { k: 1 }\n");
    let mut number = 1;
    while text.len() < size {
        let from = if numbers.up_to(1) == 0 { number - 1 } else { numbers.up_to(number - 1) };
        writeln!(text, "x-{number}: &a{number} {{ <<: *a{from}, k{number}: 1 }}")
            .expect("a string accepts text");
        number += 1;
    }
    text + GOOD
}

/// A small file with numbers at the limits of their ranges.
fn numbers(numbers: &mut Numbers, _: usize) -> String {
    let mut one = |usual: u64| {
        let odd = [0, 1, 2, 16, 255, 256, 1000, 4095, 65_535, u64::from(u32::MAX), u64::MAX];
        if numbers.up_to(2) > 0 { usual } else { odd[numbers.up_to(odd.len() as u64 - 1) as usize] }
    };
    format!(
        "fabric: numbers\nplanes: {}\nzones: {}\nhosts: {{ groups: {}, per_group: {}, nics_per_node: {}, rails: {}, \
         nic: {{ speed: {}G, lanes: {} }} }}\ntiers:\n  t0: {{ platform: linux, up: {{ count: {}, spare: {}, first_cage: {} }}, parallel: {} }}\n  \
         t1: {{ platform: linux, up: {}, parallel: {} }}\n  t2: {{ platform: linux, wiring: rows, rows: {}, ports_per_zone: {} }}\n\
         entropy: {{ active: {}, seed: {} }}\naddresses: {{ asn_base: {} }}\n",
        one(2),
        one(4),
        one(16),
        one(16),
        one(4),
        one(1),
        one(400),
        one(4),
        one(16),
        one(0),
        one(100),
        one(1),
        one(8),
        one(1),
        one(16),
        one(16),
        one(16),
        one(7),
        one(4_200_000_000),
    )
}

/// Zones that are all smaller than their maximum: as many absent NICs as are allowed, or more.
fn zones(numbers: &mut Numbers, _: usize) -> String {
    let per_group = 100 + numbers.up_to(400);
    let smaller: Vec<String> = (0..16).map(|zone| format!("{zone}: {}", 1 + numbers.up_to(1))).collect();
    format!(
        "fabric: zones\nplanes: 1\nrouting: bgp-unnumbered\nzones: 16\nhosts: {{ groups: 500, groups_by_zone: {{ {} }}, \
         per_group: {per_group}, nic: {{ speed: 100G, lanes: 1 }} }}\ntiers:\n  t0: {{ platform: linux, os: frr, up: 16 }}\n  \
         t1: {{ platform: linux, os: frr, up: 16 }}\n  t2: {{ platform: linux, os: frr, ports_per_zone: 16 }}\n",
        smaller.join(", ")
    )
}

fn chain(_: &mut Numbers, size: usize) -> String {
    let mut text = format!("{GOOD}domains:\n");
    let mut number = 0;
    while text.len() < size {
        writeln!(text, "  d{number}: {{ by: [d{}] }}", number + 1).expect("a string accepts text");
        number += 1;
    }
    text
}

fn patterns(_: &mut Numbers, size: usize) -> String {
    let long = "p{plane}-".repeat(size / 9);
    format!(
        "{GOOD}naming: {{ t0: \"{long}\", t1: \"{}\" }}\nexceptions: {{ absent: [p0-t0-001] }}\n",
        "a".repeat(size / 9)
    )
}

fn depth(numbers: &mut Numbers, size: usize) -> String {
    let open = ["[", "{a: ", "- ", "? "][numbers.up_to(3) as usize];
    format!("{GOOD}x-deep:\n  {}", open.repeat(size / open.len()))
}

/// A good file, followed by random pieces of itself.
fn torn(numbers: &mut Numbers, size: usize) -> String {
    let mut text = GOOD.to_owned();
    while text.len() < size {
        let from = numbers.up_to(GOOD.len() as u64 - 40) as usize;
        let length = numbers.up_to(40) as usize;
        text.push_str(&GOOD[from..from + length]);
        text.push_str(["\n", ": ", "  ", "*", "&", "'", "!", "%", "|", "#"][numbers.up_to(9) as usize]);
    }
    text
}
