//! Routing policy rules: `ip rule`, which selects the table of routes before any route is looked up.
//!
//! In: the output of `ip rule show`, the ports, addresses and destinations of the fabric. Out: facts, each
//! the arguments of an `ip` command. Invariants: a rule that no packet of the fabric can match belongs to the
//! site. So does a rule after the lookup of the main table, which has a route or a blackhole for every
//! destination of the fabric.

use serde_json::Value;

use super::{Facts, Family, KernelTarget, covers, text};

/// Last line of a complete output. A kernel without policy routing prints an error and not this line.
pub(super) const COMPLETE: &str = "complete";

/// Tables for which a rule changes nothing, because every packet is looked up there anyway. The last one is
/// that of the VRF of a port.
const USUAL: [&str; 3] = ["local", "main", "[l3mdev-table]"];

/// Preference of the lookup of the main table in every kernel. Rules with a higher one belong to the site.
const MAIN: u32 = 32766;

/// Rules of a family.
pub(super) struct Rules {
    /// Rules that can select another route for packets of the fabric.
    pub(super) unexpected: Facts,
    /// Rules that every kernel starts with and that were removed.
    pub(super) missing: Facts,
}

/// Returns the name of the section with the rules of a family.
pub(super) fn section(family: Family) -> String {
    format!("rule {}", family.option())
}

/// The addresses of a switch and its fabric that rules are compared with.
pub(super) struct Scope<'a> {
    pub(super) target: &'a KernelTarget,
    /// Output of `ip -json address`.
    pub(super) addresses: &'a [Value],
    /// Prefixes of the fabric.
    pub(super) destinations: &'a [String],
}

impl Scope<'_> {
    /// Returns the rules that differ from those of a kernel without policy routing.
    pub(super) fn rules(&self, output: &str, family: Family) -> Rules {
        let mut rules = Rules { unexpected: Facts::new(), missing: Facts::new() };
        let Some(printed) = output.trim_end().strip_suffix(COMPLETE) else { return rules };
        let read: Vec<(&str, Vec<&str>)> = printed.lines().filter_map(split_rule).collect();
        let fact = |preference: &str, words: &[&str]| {
            format!("{} rule add pref {preference} {}", family.option(), words.join(" "))
        };
        let is_all =
            |rule: &(&str, Vec<&str>), table: &str| selection(&rule.1) == ["from", "all", "lookup", table];
        let local = read.iter().position(|rule| is_all(rule, "local"));
        // Without a rule that looks up local addresses, such a rule is missing in first position.
        let start = local.map_or(0, |at| at + 1);
        let main = read.iter().skip(start).position(|rule| is_all(rule, "main")).map(|at| start + at);
        let is_later = |preference: &str| preference.parse().is_ok_and(|number: u32| number > MAIN);
        let end = main.or_else(|| read.iter().position(|(preference, _)| is_later(preference)));
        for (at, rule) in read.iter().enumerate().take(end.unwrap_or(read.len())) {
            // With such a rule, local addresses are looked up after the routes to their subnets.
            let is_early_main = is_all(rule, "main") && at < start;
            if is_early_main || !self.is_of_site(&rule.1, family) {
                rules.unexpected.insert(fact(rule.0, &rule.1));
            }
        }
        for (is_there, preference, table) in [(local.is_some(), 0, "local"), (main.is_some(), MAIN, "main")] {
            if !is_there {
                rules.missing.insert(fact(&preference.to_string(), &["from", "all", "lookup", table]));
            }
        }
        rules
    }

    /// Returns whether no forwarded packet of the fabric can match a rule, or the rule has no effect.
    fn is_of_site(&self, words: &[&str], family: Family) -> bool {
        let value = |key: &str| words.windows(2).find(|pair| pair[0] == key).map(|pair| pair[1]);
        if words.contains(&"nop") || value("lookup").is_some_and(|table| USUAL.contains(&table)) {
            return true;
        }
        let is_other_port = |key: &str| value(key).is_some_and(|port| !self.target.ports.contains(port));
        let prefix =
            |key: &str| value(key).filter(|prefix| *prefix != "all").map(|prefix| family.prefix(prefix));
        let matches_mark = value("fwmark").is_some_and(has_mark);
        let is_other = is_other_port("iif")
            || is_other_port("oif")
            || matches_mark
            || prefix("from").is_some_and(|from| self.is_in_subnet_of_site(&from))
            || prefix("to").is_some_and(|to| self.is_in_subnet_of_site(&to) || !self.is_destination(&to));
        is_other && !words.contains(&"not")
    }

    /// Returns whether a prefix is in the subnet of a port that the tree does not name.
    fn is_in_subnet_of_site(&self, prefix: &str) -> bool {
        let others = self.addresses.iter().filter(|link| !self.target.ports.contains(text(link, "ifname")));
        let addresses =
            others.flat_map(|link| link.get("addr_info").and_then(Value::as_array).into_iter().flatten());
        let subnet = |address: &Value| {
            let length = address.get("prefixlen").and_then(Value::as_u64)?;
            Some(format!("{}/{length}", text(address, "local")))
        };
        addresses.filter_map(subnet).any(|subnet| covers(&subnet, prefix))
    }

    fn is_destination(&self, prefix: &str) -> bool {
        self.destinations.iter().any(|other| covers(other, prefix) || covers(prefix, other))
    }
}

/// Returns whether a selector such as `0x5/0xff` matches only packets with a mark, which a packet filter sets.
fn has_mark(selector: &str) -> bool {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let (mark, mask) = selector.split_once('/').unwrap_or((selector, "0xffffffff"));
    number(mark).zip(number(mask)).is_some_and(|(mark, mask)| mark & mask != 0)
}

/// Returns the preference of a rule and its other words. `[detached]` and `[unresolved]` are remarks of `ip`.
fn split_rule(line: &str) -> Option<(&str, Vec<&str>)> {
    let (preference, rest) = line.split_once(':')?;
    let is_remark = |word: &&str| ["[detached]", "[unresolved]"].contains(word);
    Some((preference.trim(), rest.split_whitespace().filter(|word| !is_remark(word)).collect()))
}

/// Returns the words of a rule without its protocol, which only names the program that added it.
fn selection<'w, 's>(words: &'s [&'w str]) -> &'s [&'w str] {
    match words {
        [rest @ .., "proto", _] => rest,
        all => all,
    }
}

/// Returns the command that removes a rule.
pub(super) fn removal(fact: &str) -> String {
    fact.replacen(" rule add ", " rule del ", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORTS: [&str; 3] = ["lo", "eth1", "sr0"];
    const DESTINATIONS: [&str; 2] = ["fcbb:bbbb::/32", "10.0.0.0/12"];
    const ADDRESSES: &str = r#"[{"ifname":"mgmt","addr_info":[{"local":"2001:db8::1","prefixlen":64}]},
        {"ifname":"eth1","addr_info":[{"local":"fd00::1","prefixlen":127}]}]"#;

    /// Returns the rules that differ. Missing rules begin with `+`.
    fn rule_differences(output: &str, family: Family) -> Vec<String> {
        let ports = PORTS.map(str::to_owned).into();
        let asked = KernelTarget { ports, ..KernelTarget::default() };
        let addresses: Vec<Value> = serde_json::from_str(ADDRESSES).expect("JSON");
        let destinations = DESTINATIONS.map(str::to_owned);
        let scope = Scope { target: &asked, addresses: &addresses, destinations: &destinations };
        let Rules { unexpected, missing } = scope.rules(output, family);
        unexpected.into_iter().chain(missing.into_iter().map(|fact| format!("+{fact}"))).collect()
    }

    fn check_extra_rule(rule: &str) -> Vec<String> {
        let output =
            format!("0:\tfrom all lookup local\n9:\t{rule}\n32766:\tfrom all lookup main\ncomplete\n");
        rule_differences(&output, Family::V6)
    }

    #[test]
    fn rules_that_packets_of_the_fabric_can_match_are_compared() {
        for rule in [
            "from all lookup 77",
            "from all blackhole proto 186",
            "from all goto 32767",
            "from all iif eth1 lookup 77",
            "from fd00::/16 lookup 77",
            "from 2001:db8::/32 lookup 77",
            "from all to fcbb:bbbb:1::/48 lookup 77",
            "from all to fc00::/7 lookup 77",
            "from all fwmark 0/0x1 lookup 77",
            "not from all fwmark 0xca6c lookup 51820",
            "from all ipproto udp dport 4791 lookup 77",
            "from all lookup default",
        ] {
            assert_eq!(check_extra_rule(rule), [format!("-6 rule add pref 9 {rule}")]);
        }
        let detached = check_extra_rule("from all iif eth1 [detached] lookup 77");
        assert_eq!(detached, ["-6 rule add pref 9 from all iif eth1 lookup 77"]);
    }

    #[test]
    fn rules_of_the_site_are_kept() {
        for rule in [
            "from all lookup [l3mdev-table]",
            "from all iif mgmt lookup 10",
            "from all oif mgmt [detached] lookup 10",
            "from 2001:db8::1 lookup 10",
            "from 2001:db8::/64 lookup 10",
            "from all to 2001:db8::/64 lookup 10",
            "from all to 2001:db9::/32 lookup 10",
            "from all fwmark 0x80000/0xff0000 lookup 10",
            "from all lookup main suppress_prefixlength 0",
            "from all nop",
        ] {
            assert_eq!(check_extra_rule(rule), [""; 0], "{rule}");
        }
        let moved = "1000:\tfrom all lookup [l3mdev-table]\n32765:\tfrom all lookup local\n\
                     32766:\tfrom all lookup main\n40000:\tfrom all blackhole\ncomplete\n";
        assert_eq!(rule_differences(moved, Family::V6), [""; 0]);
    }

    #[test]
    fn lookups_of_every_kernel_are_required() {
        let main = "32766:\tfrom all lookup main\n";
        let local = "0:\tfrom all lookup local\n";
        let later = "40000:\tfrom all blackhole\n";
        let of = |parts: &[&str]| rule_differences(&(parts.concat() + "complete\n"), Family::V4);
        assert_eq!(of(&[main]), ["+-4 rule add pref 0 from all lookup local"]);
        assert_eq!(of(&[local, later]), ["+-4 rule add pref 32766 from all lookup main"]);
        assert_eq!(of(&[]).len(), 2);
        let early = "0:\tfrom all lookup main\n32765:\tfrom all lookup local\n";
        assert_eq!(of(&[early, main]), ["-4 rule add pref 0 from all lookup main"]);
        // A kernel without policy routing prints nothing.
        assert_eq!(rule_differences("", Family::V6), [""; 0]);
    }
}
