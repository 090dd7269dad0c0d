//! Reports of neighbours in all forms, read by `closc cables check`.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::common::{Place, small_fabric};
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

pub(crate) static SURFACE: Surface = Surface {
    name: "LLDP",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Reports::new())),
};

const KINDS: &[Kind] = &[
    ("json: many ports", |n, size| {
        interfaces(n, size, |n| format!("{{\"Ethernet{}\": {}}}", n.next(), neighbour(n, "x")))
    }),
    ("json: one port", |n, size| interfaces(n, size, |n| format!("{{\"eth0\": {}}}", neighbour(n, "x")))),
    ("json: devices of the fabric", |n, size| {
        interfaces(n, size, |n| format!("{{\"eth{}\": {}}}", n.up_to(3), neighbour(n, "p0-t1-001")))
    }),
    ("json: names without end", |n, size| {
        interfaces(n, size, |n| format!("{{\"eth0\": {}}}", neighbour(n, &"p0-t1-".repeat(900))))
    }),
    ("json: empty objects", |n, size| interfaces(n, size, |_| "{\"\":{}}".to_owned())),
    ("json: lists in lists", |n, size| {
        interfaces(n, size, |_| format!("{{\"eth0\":{{\"port\":[{}[]]}}}}", "[],".repeat(4_000)))
    }),
    ("json: one key many times", |n, size| {
        interfaces(n, size, |n| {
            format!("{{\"eth0\":{{{}\"a\":1}}}}", "\"chassis\":{},".repeat(1 + n.up_to(900) as usize))
        })
    }),
    ("json: ports of a neighbour", |n, size| {
        let port = "{\"id\":{\"value\":\"p0-t1-001\"},\"descr\":\"eth0\"},";
        interfaces(n, size, |_| format!("{{\"eth0\":{{\"port\":[{}{{}}]}}}}", port.repeat(1_000)))
    }),
    ("json: deep", |n, size| {
        let open = ["[", "{\"lldp\":", "{\"interface\":["][n.up_to(2) as usize];
        format!("{{\"lldp\":{}", open.repeat(size / open.len())).into_bytes()
    }),
    ("json: numbers", |n, size| {
        list(n, size, "{\"lldp\":[", |n| format!("{}e{}", n.next(), n.up_to(400)), "]}")
    }),
    ("json: small lists", |n, size| list(n, size, "{\"lldp\":[", |_| "[]".to_owned(), "]}")),
    ("json: small lists at the top", |n, size| list(n, size, "[", |_| "[]".to_owned(), "]")),
    ("json: long text", |_, size| format!("{{\"lldp\":\"{}\"}}", "\\u00e4".repeat(size / 6)).into_bytes()),
    ("json0: many ports", |n, size| interfaces(n, size, stable)),
    ("tables: many ports", |n, size| list(n, size, "{", |n| row(n.next(), n), "}")),
    ("tables: few ports", |n, size| list(n, size, "{", |n| row(n.up_to(4), n), "}")),
    ("tables: routes", |n, size| {
        list(
            n,
            size,
            "{",
            |n| format!("\"ROUTE_TABLE:{}\":{{\"type\":\"hash\",\"value\":{{\"a\":\"b\"}}}}", n.next()),
            "}",
        )
    }),
    ("tables: fields", |n, size| {
        list(n, size, "{\"LLDP_ENTRY_TABLE:Ethernet0\":{", |n| format!("\"{}\":[]", n.next()), "}}")
    }),
    ("text: many ports", |n, size| block(n, size, Numbers::next)),
    ("text: one port", |n, size| block(n, size, |_| 0)),
    ("text: one line", |_, size| format!("Interface: {}", "eth0,".repeat(size / 5)).into_bytes()),
    ("text: lines of a port", |_, size| {
        format!("Interface: eth0,\n{}", "PortID: mac 1\nSysName: x\n".repeat(size / 25)).into_bytes()
    }),
    ("table: many lines", |n, size| table(n, size, 11)),
    ("table: wide columns", |n, size| table(n, size, 40_000)),
    ("packets: many neighbours", |n, size| packets(n, size, |n| vec![field(1, n), field(5, n), field(0, n)])),
    ("packets: many fields", |n, size| {
        packets(n, size, |n| (0..4_000).map(|_| field(2 + n.up_to(2) as u8 * 2, n)).collect())
    }),
    ("packets: cut off", |n, size| packets(n, size, |n| vec![field(1, n)])),
    ("packets: a long line", |_, size| {
        format!("{{\"packet\":{{\"payload\":\"\",\"metadata\":[{}{{}}]}}}}\n", "[],".repeat(size / 3))
            .into_bytes()
    }),
    ("packets: noise", |n, size| {
        let noise: Vec<u8> = (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect();
        [b"{\"packet\":{\"payload\":\"\",\"metadata\":[]}}\n", noise.as_slice()].concat()
    }),
];

fn list(
    numbers: &mut Numbers,
    size: usize,
    open: &str,
    item: impl Fn(&mut Numbers) -> String,
    close: &str,
) -> Vec<u8> {
    let mut text = format!("{open}{}", item(numbers));
    while text.len() + close.len() < size {
        text.push(',');
        text.push_str(&item(numbers));
    }
    (text + close).into_bytes()
}

fn interfaces(numbers: &mut Numbers, size: usize, item: impl Fn(&mut Numbers) -> String) -> Vec<u8> {
    list(numbers, size, "{\"lldp\":{\"interface\":[", item, "]}}")
}

fn neighbour(numbers: &mut Numbers, system: &str) -> String {
    let (mac, port) = (numbers.next(), numbers.up_to(9));
    format!(
        "{{\"chassis\":{{\"{system}\":{{\"id\":{{\"type\":\"mac\",\"value\":\"{mac:x}\"}}}}}},\
         \"port\":{{\"id\":{{\"type\":\"ifname\",\"value\":\"eth{port}\"}},\"descr\":\"{port}\"}}}}"
    )
}

fn stable(numbers: &mut Numbers) -> String {
    format!(
        "{{\"name\":\"eth{}\",\"chassis\":[{{\"id\":[{{\"value\":\"{}\"}}],\"name\":[{{\"value\":\"p0-t1-00{}\"}}]}}],\"port\":[{{\"id\":[{{\"value\":\"eth1\"}}]}}]}}",
        numbers.up_to(99),
        numbers.next(),
        numbers.up_to(9)
    )
}

fn row(port: u64, numbers: &mut Numbers) -> String {
    let names = ["LLDP_ENTRY_TABLE", "PORT_TABLE"];
    let name = names[numbers.up_to(1) as usize];
    format!(
        "\"{name}:Ethernet{port}\":{{\"value\":{{\"speed\":\"{}\",\"lldp_rem_sys_name\":\"x{}\"}}}}",
        numbers.up_to(800_000),
        numbers.next()
    )
}

fn block(numbers: &mut Numbers, size: usize, port: impl Fn(&mut Numbers) -> u64) -> Vec<u8> {
    let mut text = String::from("LLDP neighbors:\n");
    while text.len() < size {
        let (port, name) = (port(numbers), numbers.next());
        let _ = write!(
            text,
            "Interface:    eth{port}, via: LLDP\n  SysName: p0-t1-{name}\n  PortID: local eth{name}\n"
        );
    }
    text.into_bytes()
}

fn table(numbers: &mut Numbers, size: usize, width: usize) -> Vec<u8> {
    let dashes = vec!["-".repeat(width); 5].join("  ");
    let mut text = format!("LocalPort RemoteDevice RemotePortID Capability RemotePortDescr\n{dashes}\n");
    while text.len() < size {
        let _ = writeln!(
            text,
            "eth{:<8}  p0-t1-{:03}  eth{:<20} BR eth0",
            numbers.up_to(99_999),
            numbers.up_to(999),
            numbers.up_to(9)
        );
    }
    text.into_bytes()
}

/// A TLV of an LLDP frame.
fn field(kind: u8, numbers: &mut Numbers) -> Vec<u8> {
    let value = if kind == 0 { Vec::new() } else { format!("\x07x{}", numbers.next()).into_bytes() };
    [&[kind << 1, value.len() as u8], value.as_slice()].concat()
}

fn packets(numbers: &mut Numbers, size: usize, fields: impl Fn(&mut Numbers) -> Vec<Vec<u8>>) -> Vec<u8> {
    let mut text = String::new();
    while text.len() < size {
        let mut frame = vec![1, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 0, 0, 1, 0x88, 0xcc];
        frame.extend(fields(numbers).concat());
        let [payload, port] = [&frame[..], &[numbers.up_to(3) as u8][..]].map(|bytes| STANDARD.encode(bytes));
        let _ = writeln!(
            text,
            "{{\"packet\":{{\"payload\":\"{payload}\",\"metadata\":[{{\"metadataId\":1,\"value\":\"{port}\"}}]}}}}"
        );
    }
    text.into_bytes()
}

struct Reports(Place);

impl Reports {
    fn new() -> Self {
        let place = Place::new();
        place.write("fabric.yaml", small_fabric("hostile", 1, "linux", "linux"));
        place.write("report", "{\"lldp\": {\"interface\": []}}");
        place.ends(2, &["cables", "check", "fabric.yaml", "p0-t0-001=report"]);
        Reports(place)
    }
}

impl Reader for Reports {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        self.0.write("report", input);
        let words = [env!("CARGO_BIN_EXE_closc"), "cables", "check", "fabric.yaml", "p0-t0-001=report"];
        measure::command(&words.map(str::to_owned), &self.0, None)
    }
}
