//! Reads the QoS configuration of EOS: maps of the switch, QoS profiles of ports, and shares of the buffer.
//!
//! In: commands with their modes. Out: a [`QosConfig`] in which names are resolved. Invariants: a PFC pause of priority
//! n stops queue n, and class n uses priority group n. If a setting is repeated, the last one counts.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::device::Port;
use crate::model::place::Target;
use crate::model::qos::{PortQos, QosConfig};
use crate::read::undefined;
use crate::read::value::parse;

/// Reason why a command is rejected.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The command is unknown.
    Unknown,
    /// A value is invalid.
    Value(String),
}

impl From<String> for Refusal {
    fn from(message: String) -> Self {
        Refusal::Value(message)
    }
}

/// A mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode<'a> {
    /// `qos profile`.
    Profile(&'a str),
    /// `tx-queue` or `uc-tx-queue` in a profile.
    Queue(&'a str, u8),
    /// `platform trident mmu queue profile`.
    Shares(&'a str),
}

/// All statements.
#[derive(Debug, Default)]
pub(super) struct QosReader<'a> {
    dscp_to_class: BTreeMap<u8, u8>,
    class_to_queue: BTreeMap<u8, u8>,
    profiles: BTreeMap<&'a str, Profile>,
    shares: BTreeMap<&'a str, BTreeMap<String, String>>,
    applied_profile: Option<&'a str>,
    pool: Option<u64>,
    port_profiles: Vec<(u16, &'a str)>,
}

/// A QoS profile.
#[derive(Debug, Default)]
struct Profile {
    trusts: bool,
    pauses: bool,
    priorities: BTreeSet<u8>,
    marks: BTreeMap<u8, (u64, u64, u64)>,
    settings: BTreeMap<String, String>,
    /// Whether the profile has queues with the keyword of Jericho and Qumran (`tx-queue`), and with that of Tomahawk
    /// (`uc-tx-queue`).
    words: [bool; 2],
}

impl<'a> QosReader<'a> {
    /// Assigns a profile to a port, replacing an earlier one.
    pub(super) fn attach(&mut self, port: u16, profile: &'a str) {
        self.port_profiles.retain(|(known, _)| *known != port);
        self.port_profiles.push((port, profile));
    }

    /// Processes a command at the top level.
    pub(super) fn top(&mut self, words: &[&'a str]) -> Result<Option<Mode<'a>>, Refusal> {
        match words {
            ["qos", "map", "dscp", codes @ .., "to", "traffic-class", class] => {
                let class = small(class, 7)?;
                for code in codes {
                    self.dscp_to_class.insert(small(code, 63)?, class);
                }
            }
            ["qos", "map", "traffic-class", classes @ .., "to", "tx-queue" | "uc-tx-queue", queue] => {
                let queue = small(queue, 7)?;
                for class in classes {
                    self.class_to_queue.insert(small(class, 7)?, queue);
                }
            }
            ["qos", "profile", name] => {
                self.profiles.entry(name).or_default();
                return Ok(Some(Mode::Profile(name)));
            }
            ["platform", "trident", "mmu", "queue", "profile", name, "apply"] => {
                self.applied_profile = Some(name);
            }
            ["platform", "trident", "mmu", "queue", "profile", name] => {
                self.shares.entry(name).or_default();
                return Ok(Some(Mode::Shares(name)));
            }
            ["platform", "trident", "mmu", "headroom-pool", "limit", "bytes", bytes] => {
                self.pool = Some(parse(bytes)?);
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(None)
    }

    /// Processes a command inside a mode.
    pub(super) fn inside(&mut self, mode: Mode<'a>, words: &[&'a str]) -> Result<Option<Mode<'a>>, Refusal> {
        match mode {
            Mode::Profile(name) => {
                let profile = self.profiles.entry(name).or_default();
                if let [word @ ("tx-queue" | "uc-tx-queue"), queue] = words {
                    profile.words[usize::from(*word == "uc-tx-queue")] = true;
                    let queue = small(queue, 7)?;
                    // Strict priority is the default.
                    profile.settings.entry(format!("queue {queue}")).or_insert_with(|| "strict".to_owned());
                    return Ok(Some(Mode::Queue(name, queue)));
                }
                profile.take(words)?;
            }
            Mode::Queue(name, queue) => self.profiles.entry(name).or_default().queue(queue, words)?,
            Mode::Shares(name) => share(self.shares.entry(name).or_default(), words)?,
        }
        Ok(None)
    }

    /// Resolves the names and sets the index of each port. Also returns faults with their targets.
    pub(super) fn finish(&self, ports: &mut [Port<'a>]) -> (Option<QosConfig>, Vec<(Target, String)>) {
        let mut faults = Vec::new();
        let mut lost = |kind: &str, name: &str| {
            faults.push((
                undefined::target(kind, name),
                format!("{kind} `{name}` is referenced but not defined"),
            ));
        };
        let shares = self.applied_profile.and_then(|name| {
            let shares = self.shares.get(name);
            if shares.is_none() {
                lost("MMU profile", name);
            }
            shares
        });
        let mut config = QosConfig::default();
        let mut known: BTreeMap<&str, u16> = BTreeMap::new();
        for (name, profile) in &self.profiles {
            known.insert(name, config.ports.len() as u16);
            config.ports.push(self.port(profile, shares));
        }
        for (port, name) in &self.port_profiles {
            let Some(at) = known.get(name) else {
                lost("QoS profile", name);
                continue;
            };
            if let Some(port) = ports.get_mut(usize::from(*port)) {
                port.qos = Some(*at);
            }
        }
        for (name, profile) in &self.profiles {
            if let [true, true] = profile.words {
                let message = format!("QoS profile `{name}` has queues of two kinds of chips");
                faults.push((vec![format!("qos profile {name}")].into(), message));
            }
            if profile.words[0] && (self.applied_profile.is_some() || self.pool.is_some()) {
                let message = format!("QoS profile `{name}` has queues of a chip without MMU profiles");
                faults.push((vec![format!("qos profile {name}")].into(), message));
            }
        }
        (Some(config).filter(|config| !config.ports.is_empty()), faults)
    }

    fn port(&self, profile: &Profile, shares: Option<&BTreeMap<String, String>>) -> PortQos {
        let pauses: Vec<u8> = profile.priorities.iter().copied().filter(|_| profile.pauses).collect();
        // Marking thresholds and headroom depend on the cables of the switch.
        let of_cables = |name: &str| name.starts_with("marks of queue");
        let (mut sized, mut settings): (BTreeMap<_, _>, BTreeMap<_, _>) =
            profile.settings.clone().into_iter().partition(|(name, _)| of_cables(name));
        let on_tomahawk = profile.words[1];
        if on_tomahawk {
            settings.insert("shares".to_owned(), self.applied_profile.unwrap_or("none").to_owned());
            let of_room = |name: &str| name == "headroom";
            let (some, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
                shares.cloned().unwrap_or_default().into_iter().partition(|(name, _)| of_room(name));
            sized.extend(some);
            settings.extend(rest);
            sized.extend(self.pool.map(|pool| ("headroom pool".to_owned(), pool.to_string())));
        }
        // Jericho and Qumran manage headroom by themselves.
        let has_headroom = !on_tomahawk || sized.contains_key("headroom");
        let identity = |class: &u8| (*class, *class);
        let marks = self
            .class_to_queue
            .iter()
            .filter_map(|(class, queue)| Some((*class, *profile.marks.get(queue)?)));
        PortQos {
            dscp_to_class: if profile.trusts { self.dscp_to_class.clone() } else { BTreeMap::new() },
            class_to_queue: self.class_to_queue.clone(),
            class_to_group: self.class_to_queue.keys().map(identity).collect(),
            pause_queues: pauses.iter().map(identity).collect(),
            headroom: if has_headroom { pauses.clone() } else { Vec::new() },
            marks: marks.collect(),
            pauses,
            settings,
            buffer_settings: sized,
            ..PortQos::default()
        }
    }
}

impl Profile {
    fn take(&mut self, words: &[&str]) -> Result<(), Refusal> {
        let mut set = |name: &str, value: &str| {
            self.settings.insert(name.to_owned(), value.to_owned());
        };
        match words {
            ["qos", "trust", "dscp"] => self.trusts = true,
            ["qos", "trust", "cos"] | ["no", "qos", "trust"] => self.trusts = false,
            ["priority-flow-control", "on"] => self.pauses = true,
            ["no", "priority-flow-control"] => self.pauses = false,
            ["priority-flow-control", "priority", priority, "no-drop"] => {
                self.priorities.insert(small(priority, 7)?);
            }
            ["priority-flow-control", "priority", priority, "drop"] => {
                self.priorities.remove(&small(priority, 7)?);
            }
            ["priority-flow-control", "pause", "watchdog"] => set("watchdog", "on"),
            ["priority-flow-control", "pause", "watchdog", "port", "action", action] => {
                set("watchdog action", action);
            }
            [
                "priority-flow-control",
                "pause",
                "watchdog",
                "port",
                "timer",
                "timeout",
                timeout,
                "polling-interval",
                polling,
                "recovery-time",
                recovery,
            ] => {
                set("watchdog timeout", &millis(timeout)?);
                set("watchdog recovery-time", &millis(recovery)?);
                set(
                    "watchdog polling-interval",
                    &if *polling == "auto" { "auto".to_owned() } else { millis(polling)? },
                );
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    fn queue(&mut self, queue: u8, words: &[&str]) -> Result<(), Refusal> {
        let name = format!("queue {queue}");
        match words {
            ["priority", "strict"] => {
                self.settings.insert(name, "strict".to_owned());
            }
            ["no", "priority"] => {
                let own = self.settings.entry(name).or_default();
                if own == "strict" {
                    "percent 0".clone_into(own);
                }
            }
            ["bandwidth", "percent", share] => self.share(name, "percent", share)?,
            ["bandwidth", "guaranteed", "percent", share] => self.share(name, "guaranteed", share)?,
            [
                "random-detect",
                "ecn",
                "minimum-threshold",
                least,
                "bytes",
                "maximum-threshold",
                most,
                "bytes",
                "max-mark-probability",
                percent,
                "weight",
                "0",
            ] => {
                self.marks.insert(queue, (parse(least)?, parse(most)?, parse(percent)?));
                let marks = format!("{least} to {most} bytes, {percent} percent");
                self.settings.insert(format!("marks of queue {queue}"), marks);
            }
            ["random-detect", "ecn", "count"] => {
                self.settings.insert(format!("counter of queue {queue}"), "on".to_owned());
            }
            _ => return Err(Refusal::Unknown),
        }
        Ok(())
    }

    /// Sets the bandwidth share of a queue. If the queue is still strict, its value keeps that keyword, so that it
    /// differs from the value of a weighted queue.
    fn share(&mut self, name: String, kind: &str, share: &str) -> Result<(), Refusal> {
        let share: u8 = parse(share)?;
        let own = self.settings.entry(name).or_default();
        *own = if own == "strict" { format!("strict {kind} {share}") } else { format!("{kind} {share}") };
        Ok(())
    }
}

fn share(shares: &mut BTreeMap<String, String>, words: &[&str]) -> Result<(), Refusal> {
    let (name, value) = match words {
        ["ingress", "headroom", "bytes", bytes] => ("headroom".to_owned(), parse::<u64>(bytes)?.to_string()),
        ["ingress", "priority-group", group, "threshold", ratio] => {
            (format!("ingress of group {}", small(group, 7)?), (*ratio).to_owned())
        }
        ["egress", "unicast", "queue", queue, "threshold", ratio] => {
            (format!("egress of queue {}", small(queue, 7)?), (*ratio).to_owned())
        }
        _ => return Err(Refusal::Unknown),
    };
    shares.insert(name, value);
    Ok(())
}

/// Parses a number up to a limit.
fn small(text: &str, most: u8) -> Result<u8, Refusal> {
    let number: u8 = parse(text)?;
    if number > most {
        return Err(Refusal::Value(format!("`{text}` is above {most}")));
    }
    Ok(number)
}

/// Parses seconds with up to three decimals, as milliseconds.
fn millis(text: &str) -> Result<String, Refusal> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    if part.len() > 3 {
        return Err(Refusal::Unknown);
    }
    let part = format!("{part:0<3}");
    Ok((parse::<u64>(whole)?.saturating_mul(1_000) + parse::<u64>(&part)?).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_milliseconds() {
        for (text, meant) in [("0.2", "200"), ("3", "3000"), ("1.05", "1050"), ("0.005", "5")] {
            assert_eq!(millis(text).as_deref(), Ok(meant), "{text}");
        }
        assert!(millis("0.0001").is_err() && millis("x").is_err() && millis("1.x").is_err());
    }
}
