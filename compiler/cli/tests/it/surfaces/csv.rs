//! CSV tables: pins and management ports of a fabric file, demands, and cable lists.
//!
//! The first word of a kind names the reader.

use std::fmt::Write as _;

use crate::common::Place;
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

pub(crate) static SURFACE: Surface = Surface {
    name: "CSV",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Tables::new())),
};

const PINS: &str = "switch,nic,uplink\n";
const PORTS: &str = "switch,address,gateway\n";
const DEMANDS: &str = "source,destination,gbps\n";
const CABLES: &str = "a_device,a_port,b_device,b_port\n";

const KINDS: &[Kind] = &[
    ("pins: good lines", |n, size| lines(PINS, n, size, pin)),
    ("pins: one line", |n, size| lines(PINS, n, size, |_| "p0-t0-001,su002-n001/nic0,0".to_owned())),
    ("pins: unknown names", |n, size| lines(PINS, n, size, |n| format!("x{},y{},3", n.next(), n.next()))),
    ("pins: names almost right", |n, size| {
        lines(PINS, n, size, |n| format!("p0-t0-{},su{}-n1/nic0,0", n.up_to(9_999), n.up_to(9_999)))
    }),
    ("pins: huge numbers", |n, size| {
        lines(PINS, n, size, |n| format!("p0-t0-001,su002-n001/nic0,{}{}", n.next(), n.next()))
    }),
    ("pins: other columns", |n, size| lines(PINS, n, size, |n| ",".repeat(n.up_to(40) as usize))),
    ("pins: one wide line", |_, size| format!("{PINS}{}\n", "a,".repeat(size / 2)).into_bytes()),
    ("pins: open quote", |_, size| format!("{PINS}\"{}", "x\n".repeat(size / 2)).into_bytes()),
    ("pins: long cell", |_, size| format!("{PINS}{},b,1\n", "p0-".repeat(size / 3)).into_bytes()),
    ("pins: empty lines", |_, size| format!("{PINS}{}", "\n".repeat(size)).into_bytes()),
    ("pins: no text", |n, size| [PINS.as_bytes(), &noise(n, size)].concat()),
    ("ports: one address", |n, size| {
        lines(PORTS, n, size, |n| format!("p0-t0-{:03},10.64.0.9/24,10.64.0.1", 1 + n.up_to(3)))
    }),
    ("ports: many switches", |n, size| {
        lines(PORTS, n, size, |n| format!("s{},10.{}.0.9/24,10.64.0.1", n.next(), n.up_to(255)))
    }),
    ("ports: no addresses", |n, size| lines(PORTS, n, size, |n| format!("p0-t0-001,{},::", n.next()))),
    ("ports: wide lines", |n, size| lines(PORTS, n, size, |_| ",".repeat(5_000))),
    ("demand: good lines", |n, size| lines(DEMANDS, n, size, demand)),
    ("demand: one line", |n, size| lines(DEMANDS, n, size, |_| "group-0001,group-0002,0.001".to_owned())),
    ("demand: unknown names", |n, size| {
        lines(DEMANDS, n, size, |n| format!("su{},nic{},1", n.next(), n.next()))
    }),
    ("demand: odd numbers", |n, size| lines(DEMANDS, n, size, odd_rate)),
    ("demand: wide head", |_, size| format!("{}\n1,2,3\n", "source,".repeat(size / 7)).into_bytes()),
    ("demand: comments", |n, size| lines(DEMANDS, n, size, |_| "#".to_owned())),
    ("demand: comments between", |n, size| {
        lines(DEMANDS, n, size, |n| if n.up_to(1) == 0 { "#".into() } else { "a,b,c".into() })
    }),
    ("cables: many devices", |n, size| {
        lines(CABLES, n, size, |n| format!("d{},p{},d{},p1", n.next(), n.up_to(9), n.next()))
    }),
    ("cables: a full mesh", |n, size| {
        lines(CABLES, n, size, |n| {
            format!("d{},p{},d{},p{}", n.up_to(99), n.up_to(999), n.up_to(99), n.up_to(999))
        })
    }),
    ("cables: one port", |n, size| lines(CABLES, n, size, |n| format!("a,1,b{},1", n.next()))),
    ("cables: one cable", |n, size| lines(CABLES, n, size, |_| "a,1,b,1".to_owned())),
    ("cables: a chain", |n, size| {
        let mut next = 0;
        let mut text = CABLES.to_owned();
        while text.len() < size {
            let _ = writeln!(text, "d{next},1,d{},2", next + 1);
            next += 1 + n.up_to(0);
        }
        text.into_bytes()
    }),
    ("cables: a star", |n, size| {
        lines(CABLES, n, size, |n| format!("leaf{},1,spine,Ethernet{}", n.next(), n.next()))
    }),
    ("cables: a Clos network", clos),
];

/// Writes a header and lines, until the table has its size.
fn lines(head: &str, numbers: &mut Numbers, size: usize, line: impl Fn(&mut Numbers) -> String) -> Vec<u8> {
    let mut text = head.to_owned();
    while text.len() < size {
        text.push_str(&line(numbers));
        text.push('\n');
    }
    text.into_bytes()
}

fn pin(numbers: &mut Numbers) -> String {
    let (t0, group) = (1 + numbers.up_to(3), 1 + numbers.up_to(3));
    format!("p0-t0-{t0:03},su{group:03}-n{:03}/nic0,{}", 1 + numbers.up_to(3), numbers.up_to(3))
}

fn demand(numbers: &mut Numbers) -> String {
    let mut nic = || format!("su{:03}-n{:03}/nic0", 1 + numbers.up_to(3), 1 + numbers.up_to(3));
    let (from, to) = (nic(), nic());
    format!("{from},{to},{}.{}", numbers.up_to(3), numbers.up_to(999))
}

fn odd_rate(numbers: &mut Numbers) -> String {
    let rates = ["nan", "inf", "-inf", "1e308", "-0", "1e-320", "0x1", "1_0", "9e999"];
    format!("group-0001,group-0002,{}", rates[numbers.up_to(rates.len() as u64 - 1) as usize])
}

fn noise(numbers: &mut Numbers, size: usize) -> Vec<u8> {
    (0..size / 8).flat_map(|_| numbers.next().to_le_bytes()).collect()
}

/// A Clos network with as many leaves as fit into `size`, and with some missing cables.
fn clos(numbers: &mut Numbers, size: usize) -> Vec<u8> {
    let (mut text, mut leaf) = (CABLES.to_owned(), 0);
    while text.len() < size {
        for spine in 0..16 {
            if numbers.up_to(30) > 0 {
                let _ = writeln!(text, "leaf{leaf},{spine},spine{spine},{leaf}");
            }
        }
        leaf += 1;
    }
    text.into_bytes()
}

/// A fabric with four groups that refers to a file.
fn fabric(more: &str) -> String {
    format!(
        "fabric: tables\nplanes: 1\nhosts: {{ groups: 4, per_group: 4, nic: {{ speed: 100G, lanes: 1 }} }}\n\
         tiers:\n  t0: {{ platform: th5-512x100g, os: sonic, up: 4 }}\n  t1: {{ platform: th5-512x100g, os: sonic }}\n{more}"
    )
}

struct Tables(Place);

impl Tables {
    fn new() -> Self {
        let place = Place::new();
        place.write("pins.yaml", fabric("routing: ecmp-static\necmp: { pins: hostile.csv }\naddresses: { management: 10.64.0.0/14 }\n"));
        place.write(
            "ports.yaml",
            fabric("addresses: { management: 10.64.0.0/14, management_list: hostile.csv }\n"),
        );
        place.write("demand.yaml", fabric("addresses: { management: 10.64.0.0/14 }\n"));
        let tables = Tables(place);
        // The other files are valid, so that the reader under test is reached.
        tables.0.write("hostile.csv", DEMANDS.to_owned() + "group-0001,group-0002,1\n");
        tables.0.ends(0, &["te", "demand.yaml", "--demand", "hostile.csv"]);
        tables.0.write("hostile.csv", PORTS);
        tables.0.ends(0, &["check", "ports.yaml"]);
        tables.0.write("hostile.csv", PINS.to_owned() + "p0-t0-001,su002-n001/nic0,0\n");
        tables.0.ends(0, &["check", "pins.yaml"]);
        tables
    }
}

impl Reader for Tables {
    fn read(&mut self, kind: &str, input: &[u8]) -> Usage {
        self.0.write("hostile.csv", input);
        let arguments: &[&str] = match kind.split(':').next() {
            Some("pins") => &["check", "pins.yaml"],
            Some("ports") => &["check", "ports.yaml"],
            Some("demand") => &["te", "demand.yaml", "--demand", "hostile.csv"],
            _ => &["import", "hostile.csv"],
        };
        let words: Vec<String> =
            [&[env!("CARGO_BIN_EXE_closc")], arguments].concat().into_iter().map(str::to_owned).collect();
        measure::command(&words, &self.0, None)
    }
}
