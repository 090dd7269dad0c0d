//! Reads `tc.batch`: the queues of a Linux switch.
//!
//! In: the text. Out: the settings of each port, and faults. Invariants: commands are executed one by one, as in the
//! kernel, including removals. Adding to a queue that does not exist is an error. A line with an unknown word is an
//! error.

mod port;
mod red;

use std::borrow::Cow;
use std::collections::BTreeMap;

use self::port::Port;
use crate::model::device::{Device, FaultKind, Ports};
use crate::model::qos::{PortQos, QosConfig};
use crate::read::error::ReadError;
use crate::read::value::parse;

pub(crate) const FILE: &str = closc_artefacts::paths::TC_BATCH;

/// Maximum number of bands of `ets` (`TCQ_ETS_MAX_BANDS`).
const BANDS_MAX: usize = 16;

/// Number of packet priorities in the kernel (`TC_PRIO_MAX` + 1).
const PRIORITIES: usize = 16;

/// Reads the file. Ports are found by name, or added.
pub(crate) fn read<'a>(
    text: &'a str,
    device: &mut Device<'a>,
    ports: &mut Ports<'a>,
) -> Result<(), ReadError> {
    let mut found: BTreeMap<&str, Port> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let words: Vec<&str> = line.split('#').next().unwrap_or_default().split_ascii_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        command(&words, &mut found).map_err(|message| ReadError::at(at + 1, message).with_file(FILE))?;
    }
    let mut config = QosConfig::default();
    let mut known: BTreeMap<PortQos, u16> = BTreeMap::new();
    for (name, port) in found {
        let (qos, faults) = port.finish();
        for message in faults {
            let needles = vec![format!("qdisc replace dev {name} root")];
            device.fault(FaultKind::Qos, FILE, needles, format!("port `{name}` {message}"));
        }
        let at = *known.entry(qos).or_insert_with_key(|qos| {
            config.ports.push(qos.clone());
            (config.ports.len() - 1) as u16
        });
        let port = ports.port(Cow::Borrowed(name));
        // A command for a missing port stops the batch.
        port.commanded = true;
        port.qos = Some(at);
    }
    device.qos = (!config.ports.is_empty()).then(|| config.into());
    Ok(())
}

fn command<'a>(words: &[&'a str], found: &mut BTreeMap<&'a str, Port>) -> Result<(), String> {
    match words {
        ["qdisc", "replace", "dev", name, "root", "handle", "1:", "ets", rest @ ..] => {
            found.entry(name).or_default().root(rest)
        }
        ["qdisc", "replace", "dev", name, "parent", parent, "handle", handle, kind, rest @ ..] => {
            let handle = hexadecimal(handle.strip_suffix(':').unwrap_or_default())?;
            of(found, name)?.queue(class(parent)?, handle, (kind, rest))
        }
        ["filter", "del" | "delete", "dev", name, "parent", "1:"] => {
            of(found, name)?.clear();
            Ok(())
        }
        [
            "filter",
            "add",
            "dev",
            name,
            "parent",
            "1:",
            "protocol",
            "ipv6",
            "pref" | "prio" | "priority",
            pref,
            "u32",
            "match",
            rest @ ..,
        ] => of(found, name)?.filter(parse(pref)?, rest),
        _ => Err(format!("`{}` is not a command that the proof models", words.join(" "))),
    }
}

/// Returns the port to which a command adds a queue.
fn of<'p>(found: &'p mut BTreeMap<&str, Port>, name: &str) -> Result<&'p mut Port, String> {
    found.get_mut(name).ok_or_else(|| format!("port `{name}` has no `ets` yet, to which this is added"))
}

/// Parses a class of `ets` into its band, from 0: `1:2` is the second.
fn class(text: &str) -> Result<usize, String> {
    let minor = text.strip_prefix("1:").ok_or_else(|| format!("`{text}` is not a class of `1:`"))?;
    let number = hexadecimal(minor)?;
    number.checked_sub(1).ok_or_else(|| format!("`{text}` is not a class"))
}

fn hexadecimal(text: &str) -> Result<usize, String> {
    usize::from_str_radix(text, 16).map_err(|_| format!("`{text}` is not a number of a queue"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PORT: &str = "qdisc replace dev eth1 root handle 1: ets bands 3 strict 1 quanta 9216 18432 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1
qdisc replace dev eth1 parent 1:1 handle 16: bfifo limit 9216000
qdisc replace dev eth1 parent 1:2 handle 10: bfifo limit 9216000
qdisc replace dev eth1 parent 1:3 handle 21: red limit 9216000 min 40000 max 160000 avpkt 1000 burst 40 probability 0.20 bandwidth 10000mbit ecn nodrop
filter del dev eth1 parent 1:
filter add dev eth1 parent 1: protocol ipv6 pref 7 u32 match ip6 priority 0xb8 0xfc flowid 1:1
filter add dev eth1 parent 1: protocol ipv6 pref 2 u32 match ip6 priority 0x10 0xf0 flowid 1:3
filter add dev eth1 parent 1: protocol ipv6 pref 101 u32 match u32 0 0 flowid 1:2
";

    fn faults(text: &str) -> Vec<String> {
        let mut device = Device::new(&super::super::LANGUAGE);
        let mut ports = Ports::default();
        match read(text, &mut device, &mut ports) {
            Ok(()) => device.faults.into_iter().map(|fault| fault.message).collect(),
            Err(error) => vec![format!("{}: {}", error.line.unwrap_or_default(), error.message)],
        }
    }

    #[test]
    fn commands_are_followed() {
        let mut device = Device::new(&super::super::LANGUAGE);
        let mut ports = Ports::default();
        read(PORT, &mut device, &mut ports).unwrap();
        assert_eq!(device.faults, []);
        let qos = &device.qos.unwrap().ports[0];
        assert_eq!(qos.dscp_to_class.len(), 64);
        assert_eq!([46, 4, 7, 8, 0].map(|code| qos.dscp_to_class[&code]), [6, 1, 1, 0, 0]);
        assert_eq!(qos.class_to_queue, BTreeMap::from([(0, 0), (1, 1), (6, 6)]));
        assert_eq!(qos.marks, BTreeMap::from([(1, (40_000, 160_000, 20))]));
        assert_eq!(qos.settings["queue 6"], "strict 0");
        assert_eq!(qos.settings["queue 1"], "quantum 18432");
        assert_eq!(faults(&format!("{PORT}{PORT}")), Vec::<String>::new(), "it may be run again");
    }

    #[test]
    fn what_the_kernel_refuses_or_does_otherwise_is_said() {
        for (from, to, meant) in [
            (" 1 1\n", " 1\n", "15 of 16 priorities"),
            ("18432 ", "", "1 weights for 2 bands"),
            ("strict 1", "strict 4", "4 strict bands of 3"),
            ("ets bands 3", "ets bands 17", "17 bands"),
            ("priomap 1", "priomap 0", "puts packets that are not IPv6 into band 0"),
            ("priomap 1", "priomap 3", "band 3 of 3"),
            ("parent 1:3", "parent 1:4", "no band 1:4"),
            ("parent 1:3", "parent 1:0", "`1:0` is not a class"),
            ("handle 21", "handle 11", "`red` with the handle of one that does not mark"),
            ("handle 10", "handle 16", "two queues with handle 16:"),
            ("handle 10", "handle 20", "`bfifo` with the handle of one that marks"),
            ("handle 10", "handle 30", "`30:` is not a queue of the profile"),
            (" ecn", "", "drops early"),
            (" nodrop", "", "drops early"),
            (" harddrop", "", ""),
            ("min 40000", "min 160000", "is not a range"),
            ("burst 40", "burst 39", "rejects"),
            ("burst 40", "burst 400", "averages the queue length"),
            ("0xb8 0xfc", "0xb8 0xff", "ECN bits"),
            ("0xb8 0xfc", "0x1b8 0xfc", "`0x1b8` is not a byte"),
            ("flowid 1:3", "flowid 1:9", "no band 1:9"),
            ("pref 7", "pref 47", "`pref` 47 is not a traffic class"),
            ("pref 7", "pref 2", "more than one band for class 1"),
            ("u32 0 0", "u32 1 1", "not a match"),
            ("filter del dev eth1 parent 1:", "filter del dev eth2 parent 1:", "port `eth2` has no `ets`"),
            ("protocol ipv6 pref 7", "protocol ip pref 7", "not a command"),
            ("pref 101 u32 match u32 0 0", "pref 100 u32 match u32 0 0", "`pref` 100 is not a traffic class"),
        ] {
            let text = PORT.replacen(from, to, 1);
            let found = faults(&text);
            if meant.is_empty() {
                assert_eq!(text, PORT);
                continue;
            }
            assert_ne!(text, PORT, "{from}");
            assert!(found.iter().any(|fault| fault.contains(meant)), "{from} -> {to}: {found:?}");
        }
        let without = |start: &str| {
            let kept: Vec<&str> = PORT.lines().filter(|line| !line.starts_with(start)).collect();
            faults(&kept.join("\n"))
        };
        assert_eq!(
            without("qdisc replace dev eth1 parent 1:2"),
            ["port `eth1` leaves band 1:2 to the kernel's default"]
        );
        assert_eq!(
            without("filter add dev eth1 parent 1: protocol ipv6 pref 101"),
            ["port `eth1` has no class for code points that no filter names"]
        );
        assert_eq!(without("filter del"), ["port `eth1` does not remove filters of an earlier file"]);
        let late = format!("{PORT}filter del dev eth1 parent 1:\n");
        assert_eq!(faults(&late), ["port `eth1` has no class for code points that no filter names"]);
    }
}
