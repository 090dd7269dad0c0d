//! Wrong addresses are found in every language and routing mode. Replacements are addresses of another device, a NIC or
//! a cable, addresses outside of pools, and single-bit errors.
//!
//! A run uses a sample; `CLOSC_ALL_DAMAGE=1` uses every address, and `CLOSC_DAMAGE_SEED` another sample.

use std::collections::BTreeMap;
use std::env;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::Memory;
use closc_verify::verify;

use crate::base::{self, Base, Trees};
use crate::common;

/// Number of addresses of a tree that are damaged in a sample.
const SAMPLE: usize = 8;

/// Addresses that are not judged: file, text in the line, and reason.
const HARMLESS: &[(&str, &str, &str)] = &[("", "#", "a comment, for people")];

/// A parsed address, in the form in which it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ParsedAddress {
    Ip(IpAddr),
    Mac([u8; 6]),
}

impl ParsedAddress {
    fn parse(text: &str) -> Option<ParsedAddress> {
        let pairs: Vec<&str> = text.split(':').collect();
        if pairs.len() == 6 && pairs.iter().all(|pair| pair.len() == 2) {
            let bytes: Option<Vec<u8>> = pairs.iter().map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
            return Some(ParsedAddress::Mac(bytes?.try_into().ok()?));
        }
        if text.matches(['.', ':']).count() < 2 {
            return None;
        }
        text.parse().ok().map(ParsedAddress::Ip)
    }

    fn text(self) -> String {
        match self {
            ParsedAddress::Ip(address) => address.to_string(),
            ParsedAddress::Mac(bytes) => bytes.map(|byte| format!("{byte:02x}")).join(":"),
        }
    }

    fn is_alike(self, other: ParsedAddress) -> bool {
        match (self, other) {
            (ParsedAddress::Ip(one), ParsedAddress::Ip(two)) => one.is_ipv4() == two.is_ipv4(),
            (ParsedAddress::Mac(_), ParsedAddress::Mac(_)) => true,
            _ => false,
        }
    }

    fn flip_bit(self, bit: u32) -> ParsedAddress {
        match self {
            ParsedAddress::Ip(IpAddr::V4(own)) => {
                ParsedAddress::Ip(Ipv4Addr::from(u32::from(own) ^ 1 << (bit % 32)).into())
            }
            ParsedAddress::Ip(IpAddr::V6(own)) => {
                ParsedAddress::Ip(Ipv6Addr::from(u128::from(own) ^ 1 << (bit % 128)).into())
            }
            ParsedAddress::Mac(mut bytes) => {
                bytes[bit as usize / 8 % 6] ^= 1 << (bit % 8);
                ParsedAddress::Mac(bytes)
            }
        }
    }
}

/// An address in a file.
#[derive(Debug, Clone)]
struct Place {
    path: Utf8PathBuf,
    range: Range<usize>,
    address: ParsedAddress,
    /// Text before the address on its line, without digits. It is equal for equivalent places.
    kind: String,
    line: String,
    /// Text after the address on its line.
    suffix: String,
}

/// Finds every address in the files of switches.
fn places(tree: &Memory) -> Vec<Place> {
    let mut found = Vec::new();
    for (path, bytes) in tree.files.iter().filter(|(path, _)| path.starts_with("switches")) {
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let is_part = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '.';
            let mut at = 0;
            while at < line.len() {
                let rest = &line[at..];
                let Some(from) = rest.find(is_part) else { break };
                let len = rest[from..].find(|c| !is_part(c)).unwrap_or(rest.len() - from);
                let token = rest[from..from + len].trim_end_matches('.');
                // A YAML key ends with a colon.
                let token = if token.ends_with("::") { token } else { token.trim_end_matches(':') };
                let begins = line[..at + from].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
                if let Some(written) = ParsedAddress::parse(token).filter(|_| begins) {
                    let range = start + at + from..start + at + from + token.len();
                    let kind = line[..at + from].trim().replace(|c: char| c.is_ascii_digit(), "");
                    let behind = line[at + from + token.len()..].to_owned();
                    let (path, line) = (path.clone(), line.trim().to_owned());
                    found.push(Place { path, range, address: written, kind, line, suffix: behind });
                }
                at += from + len;
            }
            start += line.len();
        }
    }
    found
}

fn number(text: &str) -> u64 {
    let hash = blake3::hash(text.as_bytes());
    hash.as_bytes()[..8].iter().fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
}

/// Returns replacements for an address: that of another device at an equivalent place, of a NIC and of a cable, one
/// outside of pools, and one with a changed bit.
fn replacements(trees: &Trees, base: Base, all: &[Place], own: &Place, seed: u64) -> Vec<ParsedAddress> {
    let draw = number(&format!("{seed} {} {:?} {}", own.path, own.range, own.line));
    let alike: Vec<ParsedAddress> = all
        .iter()
        .filter(|other| other.path != own.path && other.address.is_alike(own.address))
        .filter(|other| other.kind == own.kind && other.address != own.address)
        .map(|other| other.address)
        .collect();
    let mut found: Vec<ParsedAddress> =
        alike.get((draw % alike.len().max(1) as u64) as usize).copied().into_iter().collect();
    match own.address {
        ParsedAddress::Ip(IpAddr::V6(_)) => {
            let plan = trees.plan(base);
            let nic = plan.fabric().nics().next().expect("a fabric has NICs");
            found.push(ParsedAddress::Ip(plan.addresses().nic(nic).ip()));
            let link = "fd00:c105:2:0:1:1:0:a".parse::<Ipv6Addr>().expect("an address");
            let of_cable = all.iter().map(|place| place.address).find(|written| match written {
                ParsedAddress::Ip(IpAddr::V6(other)) => other.segments()[7] == 0xa && *written != own.address,
                _ => false,
            });
            found.push(of_cable.unwrap_or(ParsedAddress::Ip(link.into())));
            found.push(ParsedAddress::Ip("2001:db8:dead::1".parse::<Ipv6Addr>().expect("an address").into()));
        }
        ParsedAddress::Ip(IpAddr::V4(_)) => found.push(ParsedAddress::Ip(Ipv4Addr::new(192, 0, 2, 1).into())),
        ParsedAddress::Mac(_) => found.push(ParsedAddress::Mac([2, 0, 0, 0, 0, 9])),
    }
    found.push(own.address.flip_bit((draw >> 32) as u32));
    found.retain(|other| !own.is_same(*other));
    found
}

impl Place {
    /// Returns whether an address is equivalent at this place: bits after the prefix length do not matter.
    fn is_same(&self, other: ParsedAddress) -> bool {
        let length =
            self.suffix.strip_prefix('/').and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let length: Option<u8> = length.and_then(|length| length.parse().ok()).filter(|length| *length <= 64);
        let net = |written: ParsedAddress| match (written, length) {
            (ParsedAddress::Ip(address), Some(length)) => ipnet::IpNet::new(address, length).ok(),
            _ => None,
        };
        // Any address of the loopback network is the device's own.
        let is_loopback = |written| matches!(written, ParsedAddress::Ip(address) if address.is_loopback());
        if is_loopback(self.address) && is_loopback(other) {
            return true;
        }
        // An address with a length is in a subnet; it is not a prefix.
        let own = net(self.address).filter(|own| own.trunc() == *own);
        self.address == other || own.is_some_and(|own| net(other).map(|other| other.trunc()) == Some(own))
    }
}

fn is_harmless(place: &Place) -> bool {
    HARMLESS.iter().any(|(file, text, _)| {
        let of_file = file.is_empty() || place.path.file_name() == Some(file);
        of_file && if *text == "#" { place.line.starts_with('#') } else { place.line.contains(text) }
    })
}

/// Replaces an address, and returns whether verification finds it.
fn is_found(tree: &Memory, place: &Place, other: ParsedAddress, (fabric, routing): (&str, &str)) -> bool {
    let mut tree = tree.clone();
    let bytes = tree.files.get_mut(&place.path).expect("it is there");
    let text = std::str::from_utf8(bytes).expect("it was read as text");
    let text = [&text[..place.range.start], &other.text(), &text[place.range.end..]].concat();
    *bytes = text.into_bytes();
    common::sign(&mut tree, fabric, routing);
    verify(&tree, base::options()).map_or(true, |report| !report.holds())
}

#[test]
fn an_address_that_is_not_the_devices_own_is_found() {
    let all = env::var_os("CLOSC_ALL_DAMAGE").is_some();
    let seed = env::var("CLOSC_DAMAGE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let trees = Trees::new();
    let mut cases = Vec::new();
    for base in Base::ALL {
        let places = places(trees.tree(base));
        let mut wanted: Vec<&Place> = places.iter().filter(|place| !is_harmless(place)).collect();
        assert!(wanted.len() > 10 || trees.tree(base).files.keys().any(|path| is_p4(path)), "{base:?}");
        wanted.sort_by_key(|place| number(&format!("{seed} {base:?} {} {:?}", place.path, place.range)));
        wanted.truncate(if all { usize::MAX } else { SAMPLE });
        for place in wanted {
            let others = replacements(&trees, base, &places, place, seed);
            cases.extend(others.into_iter().map(|other| (base, place.clone(), other)));
        }
    }
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some((base, place, other)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let named = (trees.plan(*base).name(), base.routing());
                    if !is_found(trees.tree(*base), place, *other, named) {
                        let what = format!("{base:?} {}: {}: {}", place.path, place.line, other.text());
                        let key = (place.path.file_name().unwrap_or_default().to_owned(), place.kind.clone());
                        missed
                            .lock()
                            .expect("no thread panics with it")
                            .entry(key)
                            .or_insert_with(Vec::new)
                            .push(what);
                    }
                }
            });
        }
    });
    let missed = missed.into_inner().expect("no thread panics with it");
    let count: usize = missed.values().map(Vec::len).sum();
    println!("{} addresses damaged, {count} not found", cases.len());
    let shown: Vec<String> = missed.values().map(|all| format!("{} like {}", all.len(), all[0])).collect();
    assert!(missed.is_empty(), "{count} of {} are not found:\n{}", cases.len(), shown.join("\n"));
}

fn is_p4(path: &Utf8Path) -> bool {
    path.extension() == Some("txtpb")
}

/// If all switches lack a management port, none differs from the majority. Only a list states which switches have one.
#[test]
fn listed_management_ports_that_all_switches_lack_are_missed() {
    let trees = Trees::of(&[Base::BgpSonic]);
    let mut tree = trees.tree(Base::BgpSonic).clone();
    let mut removed = 0;
    for bytes in tree.files.iter_mut().filter(|(path, _)| path.ends_with("config_db.json")).map(|own| own.1) {
        let text = std::str::from_utf8(bytes).expect("it is text");
        let start = text.find("    \"MGMT_INTERFACE\"").expect("it has one");
        let end = start + text[start..].find("\n    },\n").expect("it ends") + "\n    },\n".len();
        *bytes = [&text[..start], &text[end..]].concat().into_bytes();
        removed += 1;
    }
    common::sign(&mut tree, trees.plan(Base::BgpSonic).name(), Base::BgpSonic.routing());
    let text = verify(&tree, base::options()).expect("it can be read").text();
    assert!(
        text.contains("has no management address; the manifest states 10.20.0.94/25"),
        "{removed}: {text}"
    );
}
