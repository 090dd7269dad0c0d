//! Addresses of switches from a list that the site already has.
//!
//! In: the text of a file: CSV with a header, as NetBox exports it, or an Ansible inventory (YAML, JSON or INI). Out:
//! names with addresses. Invariants: a name with two addresses is rejected; other contents of the file are ignored.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Deserialize;

/// Columns that have a name.
const NAMES: [&str; 3] = ["name", "device", "hostname"];

/// Columns with an address; the first that exists applies. The last three are NetBox's names.
const ADDRESSES: [&str; 7] =
    ["address", "ansible_host", "management", "primary_ip", "primary_ip4", "primary_ip6", "ip address"];

/// Reads a file by its extension: `.csv`, `.ini`; all others as YAML.
pub(super) fn read(path: &str, text: &str) -> Result<BTreeMap<String, String>, String> {
    let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let mut made = BTreeMap::new();
    let rows = match ending.as_str() {
        "csv" => of_table(text)?,
        "ini" => of_lines(text),
        _ => of_groups(text)?,
    };
    for (name, address) in rows {
        // A connection needs no prefix length.
        let host = address.split_once('/').map_or(address.as_str(), |(host, _)| host);
        if super::is_wrong_ipv4(host) {
            return Err(format!("`{name}` has address `{host}`, which is not an IPv4 address"));
        }
        let address = if host.parse::<IpAddr>().is_ok() { host.to_owned() } else { address };
        match made.insert(name.clone(), address.clone()) {
            Some(before) if before != address => {
                return Err(format!("`{name}` has two addresses, `{before}` and `{address}`"));
            }
            _ => {}
        }
    }
    if made.is_empty() {
        return Err("no switch in it has an address".to_owned());
    }
    Ok(made)
}

fn of_table(text: &str) -> Result<Vec<(String, String)>, String> {
    let separator = closc_artefacts::separator(text.as_bytes());
    if let Some(line) = closc_artefacts::open_quote(text.as_bytes(), separator) {
        return Err(format!("line {line}: {}", closc_artefacts::OPEN_QUOTE));
    }
    let mut reader = csv::ReaderBuilder::new();
    let mut reader =
        reader.delimiter(separator).flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |names: &[&str]| {
        let place = |name: &&str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        names.iter().find_map(place)
    };
    let name = column(&NAMES).ok_or_else(|| format!("expected a column {}", NAMES.join(" or ")))?;
    let address =
        column(&ADDRESSES).ok_or_else(|| format!("expected a column {}", ADDRESSES.join(" or ")))?;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let of = |place: usize| record.get(place).filter(|text| !text.is_empty()).map(str::to_owned);
        rows.extend(of(name).zip(of(address)));
    }
    Ok(rows)
}

fn of_lines(text: &str) -> Vec<(String, String)> {
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let name = words.next().filter(|name| !name.starts_with(['#', ';', '[']))?;
        let address = words.find_map(|word| word.strip_prefix("ansible_host="))?;
        Some((name.to_owned(), address.trim_matches(['"', '\'']).to_owned()))
    };
    text.lines().filter_map(row).collect()
}

/// A group of an Ansible inventory; its other keys are ignored.
#[derive(Deserialize)]
struct Group {
    hosts: Option<BTreeMap<String, Option<Host>>>,
    children: Option<BTreeMap<String, Option<Group>>>,
}

#[derive(Deserialize)]
struct Host {
    ansible_host: Option<String>,
}

fn of_groups(text: &str) -> Result<Vec<(String, String)>, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: 4_000_000, max_events: 16_000_000 },
    };
    let groups: BTreeMap<String, Option<Group>> = serde_saphyr::from_str_with_options(text, options)
        .map_err(|error| super::first_line(&error.without_snippet().to_string()))?;
    let mut rows = Vec::new();
    let mut left: Vec<Group> = groups.into_values().flatten().collect();
    while let Some(group) = left.pop() {
        let hosts = group.hosts.into_iter().flatten();
        rows.extend(hosts.filter_map(|(name, host)| Some((name, host?.ansible_host?))));
        left.extend(group.children.into_iter().flatten().filter_map(|(_, group)| group));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_a_site_are_read_alike() {
        let wanted = BTreeMap::from(
            [("p0-t0-001", "192.0.2.1"), ("p0-t0-002", "2001:db8::2")]
                .map(|(n, a)| (n.to_owned(), a.to_owned())),
        );
        let table = "Name,Status,Site,IP Address\np0-t0-001,Active,hall,192.0.2.1/24\np0-t0-002,Active,hall,2001:db8::2/64\nspare,Planned,hall,\n";
        assert_eq!(read("netbox.csv", table).as_ref(), Ok(&wanted));
        let groups = "all:\n  children:\n    tier_t0:\n      hosts:\n        p0-t0-001:\n    leaf:\n      children:\n        deep:\n          hosts:\n            p0-t0-001: { ansible_host: 192.0.2.1, closc_plane: 0 }\n            p0-t0-002: { ansible_host: '2001:db8::2' }\n  vars: { a: b }\n";
        assert_eq!(read("hosts.yaml", groups).as_ref(), Ok(&wanted));
        let lines = "[t0]\np0-t0-001 ansible_host=192.0.2.1 plane=0\n# p9 ansible_host=x\np0-t0-002 ansible_host='2001:db8::2'\n[t0:vars]\nansible_user=admin\n";
        assert_eq!(read("hosts.ini", lines).as_ref(), Ok(&wanted));
    }

    #[test]
    fn lists_that_say_nothing_or_two_things_are_refused() {
        let why = |path: &str, text: &str| read(path, text).expect_err("refused");
        assert!(why("a.csv", "name,slot\na,1\n").contains("expected a column address or"));
        assert!(why("a.csv", "name,address\na,192.0.2.1\na,192.0.2.2\n").contains("two addresses"));
        for wrong in ["192.0.2.300", "192.0.2", "192.0.2.300/24", "10.0.0.1.2"] {
            let said = why("a.csv", &format!("name,address\na,{wrong}\n"));
            assert!(said.contains("which is not an IPv4 address"), "{said}");
        }
        assert!(read("a.csv", "name,address\na,leaf-1.example\n").is_ok());
        assert!(why("a.yaml", "all: {}\n").contains("no switch in it has an address"));
        assert!(!why("a.yaml", "- 1\n").is_empty());
    }
}
