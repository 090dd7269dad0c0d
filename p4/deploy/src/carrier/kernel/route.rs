//! Routes in canonical form, from the words of a command and from the output of `ip -json route`.
//!
//! In: words, or JSON. Out: a text that begins with the key of the route (type, destination, `from`, `tos`,
//! `metric`). Next hops and metrics follow. Invariants: `of_words` returns the output of `of_json` unchanged.

use serde_json::Value;

use super::{Facts, Family, text};

/// Types of routes without a next hop.
const DROPS: [&str; 4] = ["blackhole", "unreachable", "prohibit", "throw"];

/// Types with a next hop, besides `unicast`.
const TYPES: [&str; 4] = ["local", "broadcast", "anycast", "multicast"];

/// Words of the key, besides the destination, each with a value.
const SELECTORS: [&str; 3] = ["from", "tos", "metric"];

/// Words of a next hop, each with a value. Those from `mode` to `ttl` belong to a tunnel, in the order of `ip`.
const HOP: [&str; 22] = [
    "encap", "mode", "segs", "action", "nh4", "nh6", "table", "vrftable", "iif", "oif", "flavors", "lblen",
    "nflen", "id", "src", "dst", "hoplimit", "tc", "ttl", "via", "dev", "weight",
];

/// Metrics of a route: words of a command, and names in JSON if they differ. Any of them changes the packets or the
/// connections that use the route.
const METRICS: [(&str, &str); 16] = [
    ("advmss", "advmss"),
    ("congctl", "congestion"),
    ("cwnd", "cwnd"),
    ("fastopen_no_cookie", "fastopen_no_cookie"),
    ("features", "ecn"),
    ("hoplimit", "hoplimit"),
    ("initcwnd", "initcwnd"),
    ("initrwnd", "initrwnd"),
    ("mtu", "mtu"),
    ("quickack", "quickack"),
    ("reordering", "reordering"),
    ("rto_min", "rto_min"),
    ("rtt", "rtt"),
    ("rttvar", "rttvar"),
    ("ssthresh", "ssthresh"),
    ("window", "window"),
];

/// Returns whether a route of this type has no next hop.
pub(super) fn drops(kind: &str) -> bool {
    DROPS.contains(&kind)
}

/// Returns a route in canonical form, with its next hops sorted.
pub(super) fn of_words(words: &[&str]) -> Option<String> {
    let n_words = n_destination(words);
    let (destination, rest) = words.split_at_checked(n_words)?;
    let mut groups = rest.split(|word| *word == "nexthop");
    let (mut selectors, mut metrics, mut hop) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in pairs(groups.next()?)? {
        let pair = format!("{key} {value}");
        if SELECTORS.contains(&key) {
            selectors.push(pair);
        } else if is_metric(key) && !hop.iter().any(|word: &String| word.starts_with("encap ip")) {
            metrics.push(pair);
        } else {
            HOP.contains(&key).then(|| hop.push(pair))?;
        }
    }
    let mut hops = Vec::new();
    for group in groups {
        let all = pairs(group)?;
        all.iter().all(|(key, _)| HOP.contains(key)).then_some(())?;
        hops.push(
            all.iter().fold("nexthop".to_owned(), |text, (key, value)| format!("{text} {key} {value}")),
        );
    }
    hops.sort();
    (drops(destination[0]) || !hop.is_empty() || !hops.is_empty()).then_some(())?;
    selectors.sort_by_key(|pair| SELECTORS.iter().position(|key| pair.starts_with(key)));
    metrics.sort();
    let head = destination.iter().map(|word| (*word).to_owned());
    let all: Vec<String> = head.chain(selectors).chain(hop).chain(metrics).chain(hops).collect();
    Some(all.join(" "))
}

fn is_metric(key: &str) -> bool {
    METRICS.iter().any(|(word, _)| *word == key)
}

/// Returns the number of words of a destination with its type.
fn n_destination(words: &[&str]) -> usize {
    let has_type = words.first().is_some_and(|word| drops(word) || TYPES.contains(word));
    1 + usize::from(has_type)
}

/// Returns words as pairs. `via` may have a family, and `count` has no value. `count` is dropped, because it
/// does not affect forwarding.
fn pairs<'w>(words: &[&'w str]) -> Option<Vec<(&'w str, String)>> {
    let mut found = Vec::new();
    let mut rest = words;
    loop {
        rest = match rest {
            [] => return Some(found),
            ["count", rest @ ..] => rest,
            ["via", family @ ("inet" | "inet6"), address, rest @ ..] => {
                found.push(("via", format!("{family} {address}")));
                rest
            }
            [key, value, rest @ ..] => {
                found.push((*key, (*value).to_owned()));
                rest
            }
            [_] => return None,
        };
    }
}

/// Returns a route that `ip` printed.
pub(super) fn of_json(route: &Value, family: Family) -> Option<String> {
    let kind = text(route, "type");
    let mut words: Vec<String> = Vec::new();
    if !["", "unicast"].contains(&kind) {
        words.push(kind.to_owned());
    }
    words.push(family.prefix(text(route, "dst")));
    let usual = default_metric(family);
    for key in SELECTORS {
        let value = route.get(key).and_then(format_value);
        words.extend(
            value.filter(|value| key != "metric" || *value != usual.to_string()).into_iter().flat_map(
                |value| [key.to_owned(), if key == "from" { family.prefix(&value) } else { value }],
            ),
        );
    }
    if let Some(hops) = route.get("nexthops").and_then(Value::as_array) {
        for one in hops {
            words.push("nexthop".to_owned());
            hop(one, &mut words);
            if one.get("weight").is_none() {
                words.extend(["weight".to_owned(), "1".to_owned()]);
            }
        }
    } else if !drops(kind) {
        hop(route, &mut words);
    }
    // The words of metrics come before those of several next hops.
    let at = words.iter().position(|word| word == "nexthop").unwrap_or(words.len());
    words.splice(at..at, metrics(route));
    of_words(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Appends the words of a next hop.
fn hop(hop: &Value, words: &mut Vec<String>) {
    let is_tunnel = hop.get("encap").is_some();
    for key in HOP {
        let value = match key {
            "via" => match hop.get("via") {
                Some(via) => Some(format!("{} {}", text(via, "family"), text(via, "host"))),
                None => hop.get("gateway").and_then(format_value),
            },
            "dev" | "weight" => hop.get(key).and_then(format_value),
            // The destination of a route has the same name as that of a tunnel.
            _ => hop
                .get(key)
                .filter(|_| is_tunnel && (key != "dst" || hop.get("type").is_none()))
                .and_then(format_value),
        };
        words.extend(value.into_iter().flat_map(|value| [key.to_owned(), value]));
    }
}

fn metrics(route: &Value) -> Vec<String> {
    let all = route.get("metrics").and_then(Value::as_array).into_iter().flatten();
    let of = |metrics: &Value| -> Vec<String> {
        let value = |(key, name): &(&str, &str)| {
            let value = match metrics.get(name)? {
                Value::Null => (*name).to_owned(),
                value if key.starts_with("rt") => format!("{}ms", format_value(value)?),
                value => format_value(value)?,
            };
            Some([(*key).to_owned(), value])
        };
        METRICS.iter().filter_map(value).flatten().collect()
    };
    all.flat_map(of).collect()
}

/// Returns a value as a word of a command.
fn format_value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(all) => Some(all.iter().filter_map(format_value).collect::<Vec<_>>().join(",")),
        _ => None,
    }
    .filter(|text| !text.is_empty())
}

/// Returns the command that removes a route; `None` if a route of the target state replaces it.
pub(super) fn removal(route: &[&str], to: &Facts) -> Option<String> {
    let mut n_words = n_destination(route);
    let is_drop = route.first().is_some_and(|word| drops(word));
    while route.get(n_words).is_some_and(|word| SELECTORS.contains(word)) {
        n_words += 2;
    }
    let key = route.get(..n_words)?.join(" ");
    // The kernel can hold both a drop and a next hop for one destination.
    let is_replaced = |fact: &String| {
        let rest = fact.strip_prefix("route replace ").and_then(|rest| rest.strip_prefix(key.as_str()));
        rest.is_some_and(|rest| {
            let next = rest.strip_prefix(' ').map(|rest| rest.split(' ').next().unwrap_or_default());
            next.map_or(rest.is_empty(), |next| !SELECTORS.contains(&next))
        })
    };
    if !is_drop && to.iter().any(is_replaced) {
        return None;
    }
    // A command without a metric removes the route with the lowest one.
    let is_other = to.iter().any(|fact| fact.starts_with(&format!("route replace {key} metric ")));
    let metric = if is_other && key.contains(':') { default_metric(Family::V6) } else { 0 };
    Some(if metric == 0 { format!("route del {key}") } else { format!("route del {key} metric {metric}") })
}

/// The metric that the kernel assigns to a route without one: 1024 for IPv6, none for IPv4.
fn default_metric(family: Family) -> u64 {
    if family == Family::V6 { 1024 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Routes in the words of a command, and as `ip -json` 6.1.0 prints them.
    const ROUTES: [(&str, &str); 9] = [
        (
            "fcbb:1::/48 encap seg6local action End flavors next-csid lblen 32 nflen 16 dev sr0",
            r#"{"type":"unicast","dst":"fcbb:1::/48","encap":"seg6local","action":"End","flavors":["next-csid"],"lblen":32,
                "nflen":16,"dev":"sr0","metric":1024,"flags":[],"pref":"medium"}"#,
        ),
        (
            "fd05::/64 from fd09::/64 via fd00::2 dev d",
            r#"{"type":"unicast","dst":"fd05::/64","from":"fd09::/64","gateway":"fd00::2","dev":"d","metric":1024}"#,
        ),
        (
            "fd05::/64 metric 5 via fd00::2 dev d mtu 1280",
            r#"{"type":"unicast","dst":"fd05::/64","gateway":"fd00::2","dev":"d","metric":5,"metrics":[{"mtu":1280}]}"#,
        ),
        (
            "fd06::/64 encap seg6 mode encap segs fd00::5,fd00::6 via fd00::7 dev d",
            r#"{"type":"unicast","dst":"fd06::/64","encap":"seg6","mode":"encap","segs":["fd00::5","fd00::6"],
                "gateway":"fd00::7","dev":"d","metric":1024}"#,
        ),
        ("unreachable fd08::/64", r#"{"type":"unreachable","dst":"fd08::/64","dev":"lo","metric":1024}"#),
        ("blackhole fd0a::/64 metric 3", r#"{"type":"blackhole","dst":"fd0a::/64","dev":"lo","metric":3}"#),
        (
            "fd0e::/64 mtu 1300 nexthop via fd00::7 dev d weight 1 nexthop via fd00::8 dev d weight 3",
            r#"{"type":"unicast","dst":"fd0e::/64","metric":1024,"metrics":[{"mtu":1300}],"nexthops":[
                {"gateway":"fd00::8","dev":"d","weight":3},{"gateway":"fd00::7","dev":"d","weight":1}]}"#,
        ),
        (
            "10.0.0.0/8 tos 0x10 dev d advmss 1000 congctl reno features ecn mtu 1400 rto_min 3ms",
            r#"{"type":"unicast","dst":"10.0.0.0/8","tos":"0x10","dev":"d","prefsrc":"127.0.0.1",
                "metrics":[{"mtu":1400,"advmss":1000,"ecn":null,"rto_min":3,"congestion":"reno"}]}"#,
        ),
        (
            "10.5.0.0/16 via inet6 fd00::2 dev d",
            r#"{"type":"unicast","dst":"10.5.0.0/16","via":{"family":"inet6","host":"fd00::2"},"dev":"d"}"#,
        ),
    ];

    #[test]
    fn commands_and_output_give_one_text() {
        for (command, printed) in ROUTES {
            let family = if command.contains("10.") { Family::V4 } else { Family::V6 };
            let printed: Value = serde_json::from_str(printed).expect("JSON");
            assert_eq!(of_json(&printed, family).as_deref(), Some(command));
            assert_eq!(of_words(&command.split(' ').collect::<Vec<_>>()).as_deref(), Some(command));
        }
        let count = "fcbb:1::/48 encap seg6local action End count dev sr0";
        let without = of_words(&count.split(' ').collect::<Vec<_>>()).expect("a route");
        assert_eq!(without, count.replace(" count", ""));
        assert_eq!(of_words(&["fd00::/64", "via", "fd00::1", "dev", "d", "unknown", "1"]), None);
        assert_eq!(of_words(&["fd00::/64"]), None);
        assert_eq!(of_words(&[]), None);
    }

    #[test]
    fn a_removal_names_the_key_of_a_route() {
        let to = Facts::from(["route replace fd05::/64 metric 7 via fd00::2 dev d".to_owned()]);
        let of = |route: &str| removal(&route.split(' ').collect::<Vec<_>>(), &to);
        assert_eq!(of("fd05::/64 metric 7 via fd00::3 dev d"), None);
        assert_eq!(of("fd05::/64 via fd00::3 dev d").as_deref(), Some("route del fd05::/64 metric 1024"));
        assert_eq!(
            of("fd05::/64 from fd09::/64 metric 7 via fd00::3 dev d").as_deref(),
            Some("route del fd05::/64 from fd09::/64 metric 7")
        );
        assert_eq!(of("unreachable fd05::/64").as_deref(), Some("route del unreachable fd05::/64"));
        assert_eq!(of("fd06::/64 dev d").as_deref(), Some("route del fd06::/64"));
    }
}
