//! Answers of SONiC switches over `ssh`, read by `closc drift`. A program that prints the answer replaces `ssh`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::common::Place;
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

pub(crate) static SURFACE: Surface =
    Surface { name: "ssh", kinds: KINDS.len() + CONFIGS.len(), make, open: || Some(Box::new(Switch::new())) };

/// The first two lines of an answer: its state and a digest.
const HEAD: &str = "settled\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  -\n";

/// Generates CONFIG_DB in the form that a switch prints.
pub(crate) type Config = fn(&mut Numbers, usize) -> String;

/// Hostile configurations, for every transport.
pub(crate) const CONFIGS: &[(&str, Config)] = &[
    ("small lists", |_, size| format!("{{\"A\":[{}[]]}}", "[],".repeat(size / 3))),
    ("deep", |n, size| ["{\"a\":", "["][n.up_to(1) as usize].repeat(size / 5)),
    ("small tables", |n, size| object(n, size, |n| format!("\"{}\":{{}}", n.next()))),
    ("tables with a row", |n, size| {
        object(n, size, |n| format!("\"T{}|k\":{{\"type\":\"hash\",\"value\":{{\"a\":\"b\"}}}}", n.next()))
    }),
    ("rows of one table", |n, size| {
        object(n, size, |n| {
            format!(
                "\"VLAN|Vlan{}\":{{\"type\":\"hash\",\"value\":{{\"vlanid\":\"{}\"}}}}",
                n.next(),
                n.up_to(5_000)
            )
        })
    }),
    ("rows of owned tables", |n, size| {
        object(n, size, |n| {
            let tables =
                ["PORT", "STATIC_ROUTE", "INTERFACE", "SRV6_MY_SIDS", "BUFFER_PG", "QUEUE", "DSCP_TO_TC_MAP"];
            let table = tables[n.up_to(tables.len() as u64 - 1) as usize];
            format!(
                "\"{table}|Ethernet{}|{}\":{{\"value\":{{\"mtu\":\"{}\"}}}}",
                n.up_to(600),
                n.next(),
                n.next()
            )
        })
    }),
    ("ports", |n, size| {
        object(n, size, |n| {
            format!(
                "\"PORT|Ethernet{}\":{{\"value\":{{\"lanes\":\"{}\",\"alias\":\"etp{}\",\"speed\":\"x\"}}}}",
                n.up_to(9_999),
                n.up_to(999),
                n.up_to(99)
            )
        })
    }),
    ("one row many times", |n, size| {
        object(n, size, |_| "\"PORT|Ethernet0\":{\"value\":{\"mtu\":\"1\"}}".to_owned())
    }),
    ("one field many times", |n, size| {
        format!("{{\"PORT|Ethernet0\":{{\"value\":{}}}}}", object(n, size, |_| "\"mtu\":\"1\"".to_owned()))
    }),
    ("many fields", |n, size| {
        format!(
            "{{\"PORT|Ethernet0\":{{\"value\":{}}}}}",
            object(n, size, |n| format!("\"f{}\":\"1\"", n.next()))
        )
    }),
    ("long lists", |n, size| {
        object(n, size, |n| {
            format!(
                "\"ACL_TABLE|a{}\":{{\"value\":{{\"ports@\":\"{}\"}}}}",
                n.next(),
                "Ethernet0,".repeat(999)
            )
        })
    }),
    ("long keys", |n, size| {
        object(n, size, |n| format!("\"PORT|{}{}\":{{\"value\":{{}}}}", "Ethernet".repeat(2_000), n.next()))
    }),
    ("bars in keys", |n, size| {
        object(n, size, |n| {
            format!("\"PORT{}{}\":{{\"value\":{{\"a\":\"1\"}}}}", "|".repeat(3_000), n.next())
        })
    }),
    ("pointers in keys", |n, size| {
        object(n, size, |n| format!("\"NEIGH|~1/~0{}\":{{\"value\":{{\"a~/\":\"1\"}}}}", n.next()))
    }),
    ("control characters", |n, size| {
        object(n, size, |n| {
            format!("\"\\u001b]0;x\\u0007{}\":{{\"value\":{{\"\\u0000\":\"\\u001b[2J\"}}}}", n.next())
        })
    }),
    ("numbers", |n, size| {
        object(n, size, |n| {
            format!("\"PORT|Ethernet{}\":{{\"value\":{{\"mtu\":{}e99}}}}", n.up_to(99), n.next())
        })
    }),
    ("other types", |n, size| {
        object(n, size, |n| {
            format!(
                "\"PORT|Ethernet{}\":{}",
                n.next(),
                ["null", "[]", "1", "true", "\"\""][n.up_to(4) as usize]
            )
        })
    }),
    ("a long text", |_, size| format!("\"{}\"", "\\ud83d\\ude00".repeat(size / 12))),
    ("noise", |n, size| {
        (0..size / 3).map(|_| char::from_u32(n.up_to(0xd7ff) as u32).unwrap_or('x')).collect()
    }),
];

const KINDS: &[Kind] = &[
    ("state of a push", |_, size| format!("{}{HEAD}", "pending\n".repeat(size / 8)).into_bytes()),
    ("no digest", |_, size| format!("settled\n{}\n{{}}", "') ; id ; ('*".repeat(size / 13)).into_bytes()),
    ("one line", |_, size| vec![b'x'; size]),
    ("empty lines", |_, size| vec![b'\n'; size]),
    ("control characters", |_, size| "\x1b]0;x\x07\x1b[2J\r".repeat(size / 11).into_bytes()),
    ("zeros", |_, size| vec![0; size]),
];

/// Writes items between braces, until the text has its size.
fn object(numbers: &mut Numbers, size: usize, item: impl Fn(&mut Numbers) -> String) -> String {
    let mut text = format!("{{{}", item(numbers));
    while text.len() < size {
        text.push(',');
        text.push_str(&item(numbers));
    }
    text + "}"
}

/// A hostile configuration after valid first lines, or a hostile answer.
fn make(number: usize, size: usize) -> (&'static str, Vec<u8>) {
    match CONFIGS.get(number % (KINDS.len() + CONFIGS.len())) {
        Some((kind, make)) => {
            let text = make(&mut Numbers::new(number as u64), size.saturating_sub(HEAD.len()));
            (kind, (HEAD.to_owned() + &text).into_bytes())
        }
        None => make_input(KINDS, number, size),
    }
}

/// A folder with a compiled tree, and an inventory for a transport.
pub(crate) fn tree(transport: &str) -> Place {
    let place = Place::new();
    let fabric = "fabric: hostile\nplanes: 1\nhosts: { groups: 1, per_group: 2, nic: { speed: 100G, lanes: 1 } }\n\
                  tiers:\n  t0: { platform: th5-512x100g, os: sonic, up: 1 }\n  t1: { platform: th5-512x100g, os: sonic }\n\
                  addresses: { management: 10.64.0.0/14 }\n";
    place.write("fabric.yaml", fabric);
    place.ends(0, &["compile", "--quiet", "fabric.yaml", "--out", "tree"]);
    place.write("inventory.yaml", format!("sonic:\n- {{ devices: '*', transport: {transport} }}\n"));
    place
}

/// The command that reads one switch of the tree.
pub(crate) fn drift() -> Vec<String> {
    let closc = env!("CARGO_BIN_EXE_closc");
    let words = [closc, "drift", "tree", "--inventory", "inventory.yaml", "--device", "p0-t0-001"];
    words.map(str::to_owned).to_vec()
}

struct Switch(Place);

impl Switch {
    fn new() -> Self {
        let place = tree("sonic-ssh, address: '{name}.mgmt'");
        fs::create_dir_all(place.path("bin")).expect("a folder");
        let client = format!("#!/bin/sh\ncat > /dev/null\nexec cat '{}'\n", place.text("answer"));
        place.write("bin/ssh", client);
        fs::set_permissions(place.path("bin/ssh"), fs::Permissions::from_mode(0o755)).expect("it is ours");
        let switch = Switch(place);
        let text = switch.0.read("tree/switches/p0-t0-001/config_db.json");
        assert_eq!(
            switch.answer((HEAD.to_owned() + &dump(&text)).as_bytes()).code,
            0,
            "{}",
            switch.0.read("said")
        );
        switch
    }

    fn answer(&self, answer: &[u8]) -> Usage {
        self.0.write("answer", answer);
        measure::command(&drift(), &self.0, None)
    }
}

/// Converts a configuration to the form of `sonic-db-dump`.
fn dump(config: &str) -> String {
    let config: serde_json::Map<String, serde_json::Value> = serde_json::from_str(config).expect("an object");
    let mut out = serde_json::Map::new();
    for (table, rows) in config {
        for (key, row) in rows.as_object().into_iter().flatten() {
            let mut value = serde_json::Map::new();
            for (field, content) in row.as_object().into_iter().flatten() {
                match content.as_array() {
                    Some(list) => {
                        let list: Vec<&str> = list.iter().filter_map(serde_json::Value::as_str).collect();
                        value.insert(format!("{field}@"), list.join(",").into());
                    }
                    None => drop(value.insert(field.clone(), content.clone())),
                }
            }
            if value.is_empty() {
                value.insert("NULL".to_owned(), "NULL".into());
            }
            out.insert(format!("{table}|{key}"), serde_json::json!({ "type": "hash", "value": value }));
        }
    }
    serde_json::Value::Object(out).to_string()
}

impl Reader for Switch {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        self.answer(input)
    }
}
