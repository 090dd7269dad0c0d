//! Checks the FRRouting daemons that run, and their options.

use std::collections::BTreeMap;
use std::net::IpAddr;

pub(crate) const FILE: &str = closc_artefacts::paths::DAEMONS;

/// Settings that must not be `no`: `vtysh_enable`, and the daemons that every switch needs.
const QUIET: [&str; 4] = ["vtysh_enable", "zebra", "staticd", "mgmtd"];

/// Checks which daemons run. Other routing protocols would add unproved routes, and BGP needs its own daemon. Only the
/// options for management addresses and for the netlink buffer are allowed.
pub(crate) fn faults(text: &str, bgp: bool) -> Vec<String> {
    let wanted: &[&str] = if bgp { &["bgpd", "bfdd"] } else { &[] };
    let mut faults = Vec::new();
    let mut running = Vec::new();
    let mut managed = Vec::new();
    for (name, value) in settings(text, &mut faults) {
        if let Some(daemon) = name.strip_suffix("_options") {
            faults.extend(options(daemon, value));
            managed.push(daemon);
        } else if value == "yes" {
            running.push(name);
            if !QUIET.contains(&name) && !wanted.contains(&name) {
                faults.push(format!("`{name}` runs, and could add routes that are not proved"));
            }
        } else if value != "no" {
            faults.push(format!("`{name}` is `{value}`, which the proof does not model"));
        } else if QUIET.contains(&name) {
            faults.push(format!("`{name}` does not run"));
        }
    }
    // Without `vtysh_enable`, `frr.conf` is not read. Without options, a daemon listens on all addresses, and zebra
    // loses kernel messages in large fabrics.
    if !running.contains(&"vtysh_enable") {
        faults.push("`vtysh_enable` is not set, so `frr.conf` is not read".to_owned());
    }
    for daemon in ["zebra", "mgmtd", "staticd"].iter().chain(wanted) {
        if !managed.contains(daemon) {
            faults.push(format!("`{daemon}` has no options, so it listens on every address"));
        }
    }
    let missing = wanted.iter().filter(|daemon| !running.contains(daemon));
    faults.extend(missing.map(|daemon| format!("`{daemon}` does not run, so BGP has no routes")));
    faults
}

/// Returns the value of each name. A shell sources the file, so the last value counts. Any line other than an
/// assignment of plain text may be a command, and is a fault.
fn settings<'a>(text: &'a str, faults: &mut Vec<String>) -> BTreeMap<&'a str, &'a str> {
    let mut settings = BTreeMap::new();
    for line in text.split('\n').map(|line| line.trim_matches([' ', '\t'])) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match assignment(line) {
            Some((name, value)) => {
                settings.insert(name, value);
            }
            None => faults.push(format!("`{line}` is not a setting")),
        }
    }
    settings
}

/// Splits `name=value`, in which a shell expands nothing. A comment may follow.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once('=')?;
    let (value, behind) = match rest.split_at_checked(1) {
        Some((quote @ ("\"" | "'"), rest)) => rest.split_once(quote)?,
        _ => rest.split_at(rest.find([' ', '\t']).unwrap_or(rest.len())),
    };
    let is_quoted = rest.starts_with(['"', '\'']);
    let of_name = |sign: u8| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == b'_';
    let of_value =
        |sign: u8| sign.is_ascii_alphanumeric() || b"-_.,:/%+=@".contains(&sign) || is_quoted && sign == b' ';
    let comment = behind.trim_start_matches([' ', '\t']);
    let is_comment = comment.is_empty() || comment.starts_with('#') && comment.len() < behind.len();
    let is_plain = !name.is_empty() && name.bytes().all(of_name) && value.bytes().all(of_value);
    (is_plain && is_comment).then(|| (name, value.trim_matches(' ')))
}

/// Minimum size of the netlink buffer between zebra and the kernel; a smaller buffer loses messages in large fabrics.
const NETLINK_MIN: u64 = 1 << 20;

/// Returns the fault of a daemon's options. An option that is not modelled could stop routing: with `-n`, for example,
/// bgpd installs no routes, and with `-p 0` no peer can connect to it.
fn options(daemon: &str, text: &str) -> Option<String> {
    let asked = |option: &str| text.split_ascii_whitespace().any(|word| word == option);
    if !asked("-A") || daemon == "zebra" && !asked("-s") {
        let message = "does not set its listening address or its buffer size";
        return Some(format!("`{daemon}` {message}"));
    }
    let mut rest: &[&str] = &text.split_ascii_whitespace().collect::<Vec<_>>();
    while !rest.is_empty() {
        rest = match rest {
            ["-A", address, rest @ ..] if address.parse().is_ok_and(|own: IpAddr| own.is_loopback()) => rest,
            ["-A", address, ..] => {
                return Some(format!(
                    "`{daemon}` listens on `{address}`, which is not an address of the loopback network"
                ));
            }
            ["-s", bytes, rest @ ..] if bytes.parse::<u64>().is_ok_and(|bytes| bytes >= NETLINK_MIN) => rest,
            [option, ..] => {
                return Some(format!("`{daemon}` has option `{option}`, which the proof does not model"));
            }
            [] => rest,
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_assignment_of_plain_text() {
        for (line, expected) in [
            ("bgpd=no", Some(("bgpd", "no"))),
            ("bgpd=\"no\"  # comment", Some(("bgpd", "no"))),
            ("zebra_options=' -A 127.0.0.1'", Some(("zebra_options", "-A 127.0.0.1"))),
            ("bgpd=", Some(("bgpd", ""))),
            ("export bgpd=no", None),
            ("readonly bgpd=no", None),
            ("declare bgpd=no", None),
            ("eval bgpd=no", None),
            ("bgpd=no; x", None),
            ("bgpd=no x=yes", None),
            ("bgpd=`no`", None),
            ("bgpd=$(no)", None),
            ("bgpd=\"$x\"", None),
            ("bgpd=no\\", None),
            ("bgpd=\"no", None),
            ("bgpd=\"n\"o", None),
            ("bgpd=\"no\"#x", None),
            ("bgpd=no\r", None),
            ("bgpd =no", None),
            ("PATH=no", None),
            ("=no", None),
        ] {
            assert_eq!(assignment(line), expected, "{line}");
        }
    }
}
