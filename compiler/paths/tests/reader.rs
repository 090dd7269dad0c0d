//! Tables are written, read back, corrupted and truncated. The C header is compared with the Rust reader.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::Ipv6Addr;
use std::process::{Command, Stdio};

use closc_paths::write::{Body, write};
use closc_paths::{Choice, Fault, Header, Kind, PlaneAt, Reason, Scope, Table, TableDenial};
use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng as _;

fn address(text: &str) -> u128 {
    u128::from(text.parse::<Ipv6Addr>().unwrap())
}

/// Returns a table of two zones with three groups each, below T2s. There are two parallel cables everywhere,
/// so that every term of the formula matters.
fn sample() -> (Header, Body) {
    let header = Header {
        planes: 4,
        plane: PlaneAt::Usids { shift: 11 },
        uplink_bits: 8,
        plane_bits: 3,
        t1_uplink_bits: 11,
        pool_len: 48,
        pool: address("2001:db8:1000::"),
        parallel0: 2,
        parallel1: 2,
        per_t1: 2,
        t0_uplinks: 8,
        t1_uplinks: 4,
        t2_step: 8,
        t2_row: 2,
        t2_rows: 0,
        zone_bits: 4,
        zone: 0,
        group: 0,
        zones: 2,
        groups: 3,
        nics: 5,
        active: 2,
        backup: 2,
        min_active: 4,
        udp_port: 4791,
        mtu: 9000,
        t1_start: 1,
        t2_usid: 0xc001,
    };
    let body = Body {
        destinations: vec![
            (Some(Kind::Local), address("fcbb:bbbb:1:8001::")),
            (Some(Kind::Zone), address("fcbb:bbbb:1:4001:3:8001::")),
            (Some(Kind::Zone), address("fcbb:bbbb:1:4001:5:8001::")),
            (Some(Kind::Far), address("fcbb:bbbb:1:4001:c001:4101:101:8001")),
            (Some(Kind::Far), address("fcbb:bbbb:1:4001:c001:4101:103:8001")),
            (None, 0),
        ],
        orders: vec![vec![3, 1, 0, 2, 7, 5, 4, 6]; 4],
        denied: vec![
            TableDenial {
                plane: 1,
                reason: Reason::Drained,
                scope: Scope { uplinks: Some((2, 3)), ..Scope::default() },
            },
            TableDenial {
                plane: 2,
                reason: Reason::Absent,
                scope: Scope { zone: Some(0), group: Some(1), downlink: Some(4), ..Scope::default() },
            },
        ],
        t0_probe: address("fcbb:bbbb:1:8001::"),
        t1_probe: address("fcbb:bbbb:1:4001:1:8001::"),
        fabric: "clos-é".into(),
    };
    (header, body)
}

fn bytes() -> Vec<u8> {
    let (header, body) = sample();
    write(&header, &body)
}

fn inner(text: &str) -> [u8; 16] {
    text.parse::<Ipv6Addr>().unwrap().octets()
}

fn entropy(plane: u32, t0: u32, t1: u32) -> u32 {
    (t1 << 3 | plane) << 8 | t0
}

#[test]
fn every_term_of_the_formula_counts() {
    let bytes = bytes();
    let table = Table::open(&bytes).unwrap();
    let outer = |to: &str, ev: u32| {
        let to = table.destination(inner(to)).unwrap();
        Ipv6Addr::from(table.outer(&to, ev).address).to_string()
    };
    assert_eq!(outer("2001:db8:1000:1::3", entropy(2, 7, 0)), "fcbb:bbbb:1001:9003::");
    // With two parallel cables, uplink 5 is cable 1 to T1 2. The uSID of T1 2 is 1 + 2 * 2 + 1, and that of
    // the last T0 is 3 + 1.
    assert_eq!(outer("2001:db8:1000:2::1", entropy(0, 5, 0)), "fcbb:bbbb:1:4006:4:8001::");
    // T1 uplink 3 is cable 1 of step 1. The T2 has uSID 1 + 8 + 2 * 2 + 1.
    // The T1 of the far zone has uSID 1 + 2 * 2 + 1.
    assert_eq!(outer("2001:db8:1000:1002::2", entropy(1, 5, 3)), "fcbb:bbbb:801:4806:c80e:4906:904:8802");
    assert_eq!(Ipv6Addr::from(table.t0_probe(1, 2)).to_string(), "fcbb:bbbb:801:8803::");
    assert_eq!(Ipv6Addr::from(table.t1_probe(1, 5, 2)).to_string(), "fcbb:bbbb:801:4806:802:8803::");
    // Up as above; down by cable 1 of the T1 and cable 1 of the T0.
    let t2 = table.t2_probe(1, 5, 3, 2).map(|probe| Ipv6Addr::from(probe).to_string());
    assert_eq!(t2.as_deref(), Some("fcbb:bbbb:801:4806:c80e:4806:802:8803"));
}

#[test]
fn a_table_says_its_fabric_and_which_table_it_is() {
    let (header, body) = sample();
    let opened = |body: &Body| write(&header, body);
    let named = opened(&body);
    let table = Table::open(&named).unwrap();
    assert_eq!((table.fabric(), table.checksum()), (Some("clos-é"), crc32(&named[16..])));
    // Tables of older compilers end with the denials.
    let nameless = opened(&Body { fabric: String::new(), ..body.clone() });
    assert_eq!(Table::open(&nameless).unwrap().fabric(), None);
    assert_eq!((nameless.len() % 4, named.len() - nameless.len()), (0, 8));
    assert_ne!(Table::open(&nameless).unwrap().checksum(), table.checksum());
    // The length field has one byte. A longer name is truncated at a character boundary.
    let long = opened(&Body { fabric: "é".repeat(200), ..body });
    assert_eq!(Table::open(&long).unwrap().fabric(), Some(&*"é".repeat(127)));
}

/// A table, and its name or the reason why it cannot be opened.
type Tail = (Vec<u8>, Result<Option<&'static str>, Fault>);

/// Returns tables with different bytes after the denials. Each has a name, no name (`None`), or an error.
fn tails() -> Vec<Tail> {
    let (header, body) = sample();
    let nameless = write(&header, &Body { fabric: String::new(), ..body });
    let with = |tail: &[u8]| {
        let mut bytes = [&nameless[..], tail].concat();
        let total = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&total.to_le_bytes());
        let crc = crc32(&bytes[16..]).to_le_bytes();
        bytes[12..16].copy_from_slice(&crc);
        bytes
    };
    let good: [(&[u8], Option<&str>); 4] =
        [(b"", None), (b"\x03abc", Some("abc")), (b"\x02ab\0", Some("ab")), (b"\x03\xe2\x82\xac", Some("€"))];
    let bad: [&[u8]; 10] = [
        b"\0\0\0\0",
        b"\0abc",
        b"\x04abc",
        b"\x85abc",
        b"\x02abc",
        b"\x03abc\0\0\0\0",
        b"\x03a\xf3c",
        b"\x03\xed\xa0\x80",
        b"\x02\xc0\x80\0",
        b"\x04\xf4\x90\x80\x80\0\0\0",
    ];
    let good = good.into_iter().map(|(tail, name)| (with(tail), Ok(name)));
    good.chain(bad.into_iter().map(|tail| (with(tail), Err(Fault::Name)))).collect()
}

/// After the denials, a table contains either a complete name in UTF-8, or no further bytes. Any other table
/// is corrupt, and is not read as a table without a name.
#[test]
fn a_name_that_is_none_is_a_damaged_table() {
    for (bytes, wanted) in tails() {
        assert_eq!(
            Table::open(&bytes).map(|table| table.fabric()),
            wanted,
            "{:?}",
            &bytes[bytes.len() - 8..]
        );
    }
}

#[test]
fn two_tiers_are_version_1_and_three_are_2() {
    let (header, body) = sample();
    let two = Header { t1_uplinks: 0, t1_uplink_bits: 0, t1_start: 0, t2_usid: 0, ..header };
    let three = write(&header, &body);
    let mut two = write(&two, &body);
    assert_eq!((two[4], three[4]), (1, 2));
    assert_eq!(two[120..128], [0; 8]);
    assert_eq!(Table::open(&two).unwrap().t2_probe(0, 0, 0, 0), None);
    // A three-tier table of version 1 does not contain the first T1 uplink of entropy sets, so it is
    // rejected.
    two[30] = 4;
    let crc = crc32(&two[16..]).to_le_bytes();
    two[12..16].copy_from_slice(&crc);
    assert_eq!(Table::open(&two).unwrap_err(), Fault::Version(1));
}

/// Each table can be opened with only one version. Cases are two tiers, three tiers, separate blocks, shared
/// rows, and another zone width.
#[test]
fn each_table_has_one_version() {
    let (three, body) = sample();
    let two = Header { t1_uplinks: 0, t1_uplink_bits: 0, t1_start: 0, t2_usid: 0, ..three };
    let rows = Header { t2_rows: 2, ..three };
    let in_block = Header { plane: PlaneAt::Block, ..three };
    let [wide, wide_blocks] = [two, in_block].map(|header| Header { zone_bits: 7, ..header });
    for (header, expected) in [(two, 1), (three, 2), (rows, 3), (in_block, 3), (wide, 4), (wide_blocks, 4)] {
        let whole = write(&header, &body);
        assert_eq!(whole[4], expected);
        for version in 0..=5 {
            let mut bytes = whole.clone();
            bytes[4] = version;
            let opened = Table::open(&bytes).map(|table| *table.header());
            let is = if version == expected { Ok(header) } else { Err(Fault::Version(version.into())) };
            assert_eq!(opened, is);
        }
    }
}

/// Returns the same fabric with a block for every plane, and with T1s that share two rows.
fn blocks() -> (Header, Body) {
    let (header, body) = sample();
    (Header { plane: PlaneAt::Block, t2_rows: 2, ..header }, body)
}

#[test]
fn a_block_says_the_plane_and_rows_are_shared() {
    let (header, body) = blocks();
    let bytes = write(&header, &body);
    assert_eq!((bytes[4], bytes[17], bytes[124], bytes[125], bytes[126]), (3, 0, 1, 0, 2));
    let table = Table::open(&bytes).unwrap();
    assert_eq!(*table.header(), header);
    let outer = |to: &str, ev: u32| {
        let to = table.destination(inner(to)).unwrap();
        Ipv6Addr::from(table.outer(&to, ev).address).to_string()
    };
    assert_eq!(outer("2001:db8:1000:1::3", entropy(2, 7, 0)), "fcbb:bbbd:1:8003::");
    assert_eq!(outer("2001:db8:1000:2::1", entropy(3, 5, 0)), "fcbb:bbbe:1:4006:4:8001::");
    // T1 2 is in row 0 of two rows, so the uSID of the T2 is 1 + 8 + 0 * 2 + 1.
    assert_eq!(table.choice(entropy(1, 5, 3)).t0_uplink / header.parallel0, 2);
    let t2 = table.t2_probe(1, 5, 3, 2).map(|probe| Ipv6Addr::from(probe).to_string());
    assert_eq!(t2.as_deref(), Some("fcbb:bbbc:1:4006:c00a:4006:2:8003"));
    assert_eq!(Ipv6Addr::from(table.t0_probe(1, 2)).to_string(), "fcbb:bbbc:1:8003::");
    assert_eq!(Ipv6Addr::from(table.t1_probe(1, 5, 2)).to_string(), "fcbb:bbbc:1:4006:2:8003::");
    // An unknown position of the plane.
    let mut other = bytes.clone();
    other[124] = 2;
    let crc = crc32(&other[16..]).to_le_bytes();
    other[12..16].copy_from_slice(&crc);
    assert_eq!(Table::open(&other).unwrap_err(), Fault::Layout);
}

/// A fabric of 128 zones with up to 511 T0 groups each. Zone and group share a hextet of the NIC address.
#[test]
fn a_stated_width_moves_zone_and_group() {
    let (header, body) = sample();
    let header = Header { zone_bits: 7, ..header };
    let bytes = write(&header, &body);
    assert_eq!((bytes[4], bytes[125]), (4, 7));
    let table = Table::open(&bytes).unwrap();
    assert_eq!(*table.header(), header);
    for (zone, group, text) in [(0, 1, "2001:db8:1000:2::5"), (1, 0, "2001:db8:1000:201::5")] {
        let address = header.nic((zone, group), 4);
        assert_eq!(Ipv6Addr::from(address).to_string(), text);
        let to = table.destination(address).unwrap();
        assert_eq!((to.zone, to.group, to.downlink), (zone, group, 4));
    }
    assert!(table.destination(inner("2001:db8:1000:1001::5")).is_none());
    for (bits, fault) in
        [(0, Fault::Version(4)), (4, Fault::Layout), (9, Fault::Layout), (255, Fault::Layout)]
    {
        let mut other = bytes.clone();
        other[125] = bits;
        let crc = crc32(&other[16..]).to_le_bytes();
        other[12..16].copy_from_slice(&crc);
        assert_eq!(Table::open(&other).unwrap_err(), fault, "{bits} bits");
    }
}

/// The error for a later version contains only the version number, not contents of the table.
#[test]
fn a_later_version_is_refused_by_its_number() {
    let (header, body) = blocks();
    let mut bytes = write(&header, &body);
    bytes[4] = 5;
    let fault = Table::open(&bytes).unwrap_err();
    assert_eq!(fault, Fault::Version(5));
    assert_eq!(fault.to_string(), "version 5 is not known here, or not the version of such a table");
}

#[test]
fn addresses_outside_the_fabric_are_not_found() {
    let bytes = bytes();
    let table = Table::open(&bytes).unwrap();
    for other in [
        "2001:db8:1001:1::1",
        "2001:db8:1000::1",
        "2001:db8:1000:1::",
        "2001:db8:1000:1::6",
        "2001:db8:1000:4::1",
        "2001:db8:1000:2001::1",
        "2001:db8:1000:1:1::1",
        "2001:db8:1000:1003::1",
    ] {
        assert!(table.destination(inner(other)).is_none(), "{other}");
    }
}

#[test]
fn denials_are_as_narrow_as_their_reason() {
    let bytes = bytes();
    let table = Table::open(&bytes).unwrap();
    let near = table.destination(inner("2001:db8:1000:1::3")).unwrap();
    let other = table.destination(inner("2001:db8:1000:2::5")).unwrap();
    assert!(table.is_denied(0, &other, entropy(1, 2, 0)));
    assert!(!table.is_denied(0, &other, entropy(1, 4, 0)));
    assert!(!table.is_denied(0, &near, entropy(1, 2, 0)), "local paths have no uplink");
    assert!(table.is_denied(0, &other, entropy(2, 0, 0)));
    assert_eq!(table.denials().count(), 2);
}

#[test]
fn entropy_sets_are_windows_of_the_order() {
    let bytes = bytes();
    let table = Table::open(&bytes).unwrap();
    let values: Vec<u32> = table.entropy_values(1, 3).collect();
    let choices: Vec<(u8, u16, u16)> =
        values.iter().map(|v| table.choice(*v)).map(|c| (c.plane, c.t0_uplink, c.t1_uplink)).collect();
    // Positions 6 to 9 in an order of 8 uplinks. The T1 uplinks are 1 + 0 + 4 and 1 + 0 + 6, and in the second round
    // 1 + 1 + 3 and 1 + 1 + 1, modulo 4.
    assert_eq!(choices, [(1, 4, 1), (1, 6, 3), (1, 3, 1), (1, 1, 3)]);
    assert!(values.iter().all(|v| table.in_range(table.choice(*v))));
}

#[test]
fn damage_is_found() {
    let whole = bytes();
    assert_eq!(Table::open(&[]).unwrap_err(), Fault::Short);
    assert_eq!(Table::open(&whole[..whole.len() - 1]).unwrap_err(), Fault::Short);
    let mut longer = whole.clone();
    longer.push(0);
    assert_eq!(Table::open(&longer).unwrap_err(), Fault::Long);
    for at in 16..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x10;
        assert_eq!(Table::open(&damaged).unwrap_err(), Fault::Checksum, "byte {at}");
    }
    let mut other = whole.clone();
    other[4] = 9;
    assert_eq!(Table::open(&other).unwrap_err(), Fault::Version(9));
    other[0] = b'X';
    assert_eq!(Table::open(&other).unwrap_err(), Fault::Magic);
}

#[test]
fn the_c_header_agrees_with_the_rust_reader() {
    let folder = std::env::temp_dir().join(format!("closc-paths-c-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (source, program) = (folder.join("walk.c"), folder.join("walk"));
    std::fs::write(&source, include_str!("walk.c")).unwrap();
    let compile = |more: &[&str]| {
        let mut cc = Command::new("cc");
        cc.args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1"]).args(more).arg("-I");
        cc.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/include")).arg("-o").args([&program, &source]);
        cc.stderr(Stdio::null()).status()
    };
    let sanitized = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    match compile(&sanitized) {
        Err(error) => {
            closc_skip::skip(format_args!("no C compiler `cc` ({error})"));
            return;
        }
        Ok(status) if status.success() => {}
        Ok(_) => {
            closc_skip::skip(format_args!("`cc` has no sanitizers: the C reader is compiled without"));
            assert!(compile(&[]).unwrap().success(), "the C reader does not compile");
        }
    }
    let run = |bytes: &[u8]| {
        let mut child = Command::new(&program);
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for sanitizer in ["ASAN_OPTIONS", "UBSAN_OPTIONS"] {
            child.env(sanitizer, format!("exitcode={UNDEFINED}"));
        }
        let mut child = child.spawn().unwrap();
        child.stdin.take().unwrap().write_all(bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // The program exits with 1 if it rejects a table.
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {said}", output.status);
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    };
    let whole = bytes();
    assert_eq!(run(&whole), (true, walk(&Table::open(&whole).unwrap())));
    let (header, body) = blocks();
    let in_blocks = write(&header, &body);
    assert_eq!(run(&in_blocks), (true, walk(&Table::open(&in_blocks).unwrap())));
    let wide = write(&Header { zone_bits: 7, ..header }, &body);
    assert_eq!(run(&wide), (true, walk(&Table::open(&wide).unwrap())));
    one_version(&run, [&whole, &in_blocks, &wide]);
    names(&run);
    let wild = wild();
    assert!(Table::open(&wild).is_ok());
    assert!(run(&wild).0, "the C reader does something undefined");
    assert!(!run(&whole[..whole.len() - 1]).0);
    let mut opened = 0u64;
    for seed in 0..CORRUPT {
        let corrupt = corrupt([&whole, &in_blocks, &wide][(seed % 3) as usize], seed);
        let is_table = Table::open(&corrupt).is_ok();
        opened += u64::from(is_table);
        assert_eq!(run(&corrupt).0, is_table, "table {seed}");
    }
    assert!((1..CORRUPT).contains(&opened), "{opened} of {CORRUPT} are tables: some should be, and some not");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The reader in C accepts and rejects the same tables as the reader in Rust.
fn names(run: &dyn Fn(&[u8]) -> (bool, String)) {
    for (bytes, wanted) in tails() {
        let (is_table, said) = run(&bytes);
        assert_eq!((is_table, said == "fault 7\n"), (wanted.is_ok(), wanted.is_err()), "{said}");
    }
}

/// The reader in C accepts a table only with its own version.
fn one_version(run: &dyn Fn(&[u8]) -> (bool, String), tables: [&Vec<u8>; 3]) {
    for version in 0..=5 {
        for table in tables {
            let mut other = table.clone();
            other[4] = version;
            assert_eq!(run(&other).0, version == table[4], "version {version} of {}", table[4]);
        }
    }
}

/// A table with extreme numbers in its header. Its results do not matter, but nothing may overflow, and nothing outside
/// the table may be read.
fn wild() -> Vec<u8> {
    let (header, body) = sample();
    let wild = Header { per_t1: u16::MAX, t2_step: u16::MAX, t2_row: u16::MAX, uplink_bits: 16, ..header };
    let wild = Header {
        parallel0: 1,
        parallel1: 1,
        active: 999,
        plane: PlaneAt::Usids { shift: 15 },
        t2_usid: 0xffff,
        ..wild
    };
    write(&wild, &body)
}

/// Number of corrupt tables for the reader in C.
const CORRUPT: u64 = 30;

/// Exit code of a program in which a sanitizer finds an error.
const UNDEFINED: u8 = 99;

/// Changes some bytes of a table, or truncates it, then corrects its length and checksum.
fn corrupt(whole: &[u8], seed: u64) -> Vec<u8> {
    let mut random = SplitMix64::seed_from_u64(seed);
    let mut below = |limit: usize| (random.next_u64() % limit as u64) as usize;
    let mut bytes = whole.to_vec();
    for _ in 0..=below(4) {
        // Half of the changes are in the header, whose numbers determine the offsets of all other data.
        let end = if below(2) == 0 { 128 } else { bytes.len() };
        let at = 16 + below(end - 16);
        bytes[at] = [0, 1, 0x7f, 0x80, 0xff, below(256) as u8][below(6)];
    }
    if below(4) == 0 {
        bytes.truncate(128 + below(bytes.len() - 128));
    }
    let length = (bytes.len() as u32).to_le_bytes();
    bytes[8..12].copy_from_slice(&length);
    let crc = crc32(&bytes[16..]).to_le_bytes();
    bytes[12..16].copy_from_slice(&crc);
    bytes
}

/// Returns the same output as `walk.c`: the fabric's name, entropy sets and probes of every NIC, and every
/// destination with a range of entropy values.
fn walk(table: &Table<'_>) -> String {
    let mut out = String::new();
    for byte in table.fabric().unwrap_or_default().bytes() {
        let _ = write!(out, "{byte:02x}");
    }
    out.push('\n');
    for plane in 0..5u8 {
        for downlink in 0..7u16 {
            for (n, ev) in table.entropy_values(plane, downlink).enumerate() {
                let Choice { t0_uplink, t1_uplink, .. } = table.choice(ev);
                let hex = u128::from_be_bytes;
                let t0 = hex(table.t0_probe(plane, downlink));
                let t1 = hex(table.t1_probe(plane, t0_uplink, downlink));
                let t2 = hex(table.t2_probe(plane, t0_uplink, t1_uplink, downlink).unwrap());
                let _ = writeln!(out, "{plane} {downlink} {n} {ev} {t0:032x} {t1:032x} {t2:032x}");
            }
        }
    }
    for zone in 0..3u16 {
        for group in 0..5u16 {
            for downlink in 0..7u16 {
                let place = zone << (16 - table.header().zone_bits) | group;
                let inner = address("2001:db8:1000::") | u128::from(place) << 64 | u128::from(downlink);
                let Some(to) = table.destination(inner.to_be_bytes()) else { continue };
                for ev in (0..0x20_0000u32).step_by(4099) {
                    let outer = table.outer(&to, ev);
                    let hex = u128::from_be_bytes(outer.address);
                    let denied = u8::from(table.is_denied(1, &to, ev));
                    let _ =
                        writeln!(out, "{zone} {group} {downlink} {ev} {} {hex:032x} {denied}", outer.port);
                }
            }
        }
    }
    out
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..400), ev: u32, inner: [u8; 16]) {
        // Valid magic, version, length and checksum pass the first checks of the reader.
        if bytes.len() >= 128 {
            bytes[..8].copy_from_slice(b"CLPT\x01\x00\x80\x00");
            bytes[4] += u8::from(bytes[30] > 0 || bytes[31] > 0);
            let total = (bytes.len() as u32).to_le_bytes();
            bytes[8..12].copy_from_slice(&total);
            // The table has neither denials nor a name.
            bytes[80..84].copy_from_slice(&total);
            bytes[84..88].fill(0);
            let crc = crc32(&bytes[16..]);
            bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        }
        if let Ok(table) = Table::open(&bytes) {
            let _ = table.order(1).count();
            let _ = table.entropy_values(0, 3).take(9).count();
            let _ = table.denials().count();
            let _ = table.t1_probe(1, 2, 3);
            let _ = table.t2_probe(1, 2, 3, 4);
            if let Some(to) = table.destination(inner) {
                let _ = table.outer(&to, ev);
                let _ = table.is_denied(0, &to, ev);
            }
        }
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |mut crc, byte| {
        crc ^= u32::from(*byte);
        (0..8).for_each(|_| crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 });
        crc
    })
}
