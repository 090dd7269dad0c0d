//! Connections to switches: names with addresses, certificates and election ids.
//!
//! In: YAML or JSON, written by the lab or by hand. Out: [`Inventory`], plain data that can be written again.
//! Invariants: unknown keys are rejected; paths are relative to the inventory, and the caller reads the files.

mod addresses;
mod plane;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub(crate) use plane::{KnownPlane, RuleList};

/// The switches of a fabric, and how a controller connects to them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inventory {
    /// The fabric; a tree of another fabric is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// The lowest sequence number that a signed tree may have to be pushed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_sequence: Option<u64>,
    /// Defaults of every device.
    #[serde(default, skip_serializing_if = "Defaults::is_default")]
    pub defaults: Defaults,
    /// The devices by name.
    #[serde(default)]
    pub devices: BTreeMap<String, Device>,
    /// Connections to P4Runtime switches, by patterns. A switch listed in `devices` uses that entry, any other the
    /// first pattern that matches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) p4runtime: Vec<ConnectionPattern>,
    /// Connections to SONiC switches, by patterns; the first that matches a switch applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sonic: Vec<Sonic>,
    /// Connections to switches that are configured by files (EOS, Cumulus Linux, FRRouting, Linux), by patterns; the
    /// first that matches a switch applies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ssh: Vec<SshRule>,
    /// Path of the site's list of switches, from which `{address}` in a pattern is filled: CSV with a header (NetBox),
    /// or an Ansible inventory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub addresses: Option<String>,
    /// Contents of that list.
    #[serde(skip)]
    listed: BTreeMap<String, String>,
    /// The text of this inventory, for messages with a position.
    #[serde(skip)]
    text: plane::Text,
}

/// Connections to P4Runtime switches, by a pattern of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionPattern {
    /// The names: `*` is any text, `?` any character.
    pub(crate) devices: String,
    /// Connection of each. In its endpoint and the name of its certificate, `{name}` is the name of the switch.
    pub(crate) device: Device,
}

/// Connections to SONiC switches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sonic {
    /// The names: `*` is any text, `?` any character.
    pub(crate) devices: String,
    /// Transport: `sonic-ssh` or `sonic-gnmi`.
    pub(crate) transport: Transport,
    /// The host. `{name}` is replaced by the name of the switch, `{address}` by its address in the list of addresses.
    pub(crate) address: String,
    /// The port. Default over SSH: from the configuration of `ssh`; over gNMI: 8080.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<u16>,
    /// The user. Over SSH it needs `sudo` without a password, and the default comes from the configuration of
    /// `ssh`. Over gNMI, set it if the switch requires a password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// Over gNMI, the path of a file with the password in its first line. Other users must not be able to read the
    /// file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) password_file: Option<String>,
    /// Over gNMI, certificates; missing ones come from the defaults. In `server_name`, `{name}` is the name of the
    /// switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tls: Option<Tls>,
    /// The plane, for a tree that does not contain it; a tree that contradicts it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plane: Option<u8>,
    /// Over SSH, the folder on the switch for unconfirmed changes; `/etc/sonic/closc` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
    /// Over SSH, the folder on the switch that its `bgp` container mounts as `/etc/frr`; `/etc/sonic/frr` by
    /// default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) frr: Option<String>,
}

/// Connections to switches that are configured by files, by a pattern of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SshRule {
    /// The names: `*` is any text, `?` any character.
    pub(crate) devices: String,
    /// The host. `{name}` is replaced by the name of the switch, `{address}` by its address in the list of addresses.
    pub(crate) address: String,
    /// The port; by default from the configuration of `ssh`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) port: Option<u16>,
    /// The user; by default from the configuration of `ssh`. On Linux systems it needs `sudo` without a
    /// password; on EOS it must be able to enter privileged mode without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// The plane, for a tree that does not contain it; a tree that contradicts it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) plane: Option<u8>,
    /// On Linux systems, the folder for unconfirmed changes and backups; `/var/lib/closc` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
    /// On Linux systems, the folder of configuration files; `/etc` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) etc: Option<String>,
}

/// Protocol of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// The system's `ssh`.
    SonicSsh,
    /// gNMI, as SONiC's own server implements it.
    SonicGnmi,
}

/// Defaults of every device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    /// Certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The pipeline; `fabric` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Program of switches that is not in the tree (Tofino): the path of the SDE compiler's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_config: Option<String>,
    /// The election id; 1 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub election_id: Option<u64>,
    /// The role; by default the default role of P4Runtime, which may write everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Defaults {
    fn is_default(&self) -> bool {
        *self == Defaults::default()
    }
}

/// One device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// `host:port`, an IPv6 host in brackets.
    pub endpoint: String,
    /// The device id of P4Runtime.
    pub device_id: u64,
    /// The plane, for a tree that does not contain it; a tree that contradicts it is rejected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u8>,
    /// Certificates; missing ones come from the defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// The pipeline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipeline: Option<String>,
    /// Program to load instead of the pipeline's own artefacts, for targets that do not run BMv2 JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artefacts: Option<Artefacts>,
    /// Program file, if the tree does not have the program (Tofino): the path of the SDE compiler's output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_config: Option<String>,
    /// Whether the switch keeps the program that it runs: closc does not set a pipeline, and binds entries by
    /// name to the P4Info that the switch returns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_program: bool,
    /// Path of a file that maps tables to their names in the switch's own program, if those differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roles: Option<String>,
    /// The election id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub election_id: Option<u64>,
    /// The role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Device {
    /// Returns a device at an address, with default values for everything else.
    pub fn at(endpoint: impl Into<String>, device_id: u64) -> Self {
        Device {
            endpoint: endpoint.into(),
            device_id,
            plane: None,
            tls: None,
            pipeline: None,
            artefacts: None,
            device_config: None,
            keeps_program: false,
            roles: None,
            election_id: None,
            role: None,
        }
    }
}

/// Paths of certificates, in PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The authority that signs targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
    /// The certificate of this controller, for targets that authenticate clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cert: Option<String>,
    /// Its private key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name in the target's certificate, if it is not the host of the endpoint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_name: Option<String>,
}

impl Tls {
    /// Fills missing paths from the defaults.
    #[must_use]
    pub fn or(&self, defaults: &Tls) -> Tls {
        let either = |one: &Option<String>, other: &Option<String>| one.clone().or_else(|| other.clone());
        Tls {
            ca: either(&self.ca, &defaults.ca),
            cert: either(&self.cert, &defaults.cert),
            key: either(&self.key, &defaults.key),
            server_name: either(&self.server_name, &defaults.server_name),
        }
    }
}

/// Files that a target loads instead of the pipeline's own artefacts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Artefacts {
    /// Path of the P4Info, in protobuf text.
    pub p4info: String,
    /// Path of the device configuration, whose format is known only to the target.
    pub device_config: String,
}

/// An inventory that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InventoryError {
    /// It is not YAML or JSON of this form.
    #[error("{}{reason}", place.map(|(line, column)| format!("{line}:{column}: ")).unwrap_or_default())]
    Syntax {
        /// Line and column, from 1.
        place: Option<(u64, u64)>,
        /// The error there.
        reason: String,
    },
    /// The list of addresses cannot be used.
    #[error("`{path}`: {reason}")]
    Addresses {
        /// Its path.
        path: String,
        /// The error.
        reason: String,
    },
    /// `plane` contradicts the compiled tree.
    #[error("{place}: `plane: {plane}`: {reason}")]
    Plane {
        /// File, line and column.
        place: String,
        /// The value.
        plane: u8,
        /// The contradiction.
        reason: String,
    },
    /// An address, or its certificates, cannot be used.
    #[error("`{device}`: {reason}")]
    Device {
        /// The device.
        device: String,
        /// The error.
        reason: String,
    },
    /// A file that an entry names cannot be read.
    #[error("`{device}`: {purpose} `{path}`: {reason}")]
    File {
        /// The device.
        device: String,
        /// Purpose of the file.
        purpose: &'static str,
        /// Its path.
        path: String,
        /// The error of the system.
        reason: String,
    },
}

impl Inventory {
    /// Reads an inventory from YAML, which includes JSON.
    pub fn parse(text: &str) -> Result<Self, InventoryError> {
        let read = Inventory::read(text)?;
        Ok(Inventory { text: plane::Text { path: None, text: text.to_owned() }, ..read })
    }

    /// Sets the path of its file, for messages.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        self.text.path = Some(path.to_owned());
        self
    }

    fn read(text: &str) -> Result<Self, InventoryError> {
        if text.trim_start().starts_with('{') {
            return serde_json::from_str(text).map_err(|error| InventoryError::Syntax {
                place: Some((error.line() as u64, error.column() as u64)),
                reason: strip_position(&error.to_string()),
            });
        }
        let options = serde_saphyr::options! {
            strict_booleans: true,
            budget: serde_saphyr::budget! { max_nodes: 4_000_000, max_events: 16_000_000 },
        };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| InventoryError::Syntax {
            place: error.location().map(|place| (place.line(), place.column())),
            reason: rewrite_message(&strip_position(&first_line(&error.without_snippet().to_string()))),
        })
    }

    /// Reads the list of addresses that it names.
    pub fn with_addresses(mut self, text: &str) -> Result<Self, InventoryError> {
        let path = self.addresses.clone().unwrap_or_default();
        self.listed = addresses::read(&path, text)
            .map_err(|reason| InventoryError::Addresses { path: path.clone(), reason })?;
        Ok(self)
    }

    /// Returns the text of a pattern, filled in for a switch.
    pub(crate) fn fill_pattern(
        &self,
        text: &str,
        name: &str,
        is_endpoint: bool,
    ) -> Result<String, InventoryError> {
        let text = text.replace("{name}", name);
        let fault = |reason| Err(InventoryError::Device { device: name.to_owned(), reason });
        let other = text.find('{').filter(|at| !text[*at..].starts_with("{address}"));
        if let Some(at) = other {
            let end = text[at..].find('}').map_or(text.len(), |length| at + length + 1);
            let reason =
                format!("`{}` is not a placeholder: use `{{name}}` or `{{address}}`", &text[at..end]);
            return fault(reason);
        }
        if let Some((host, port)) =
            text.split_once(':').filter(|(_, port)| !is_endpoint && port.parse::<u16>().is_ok())
        {
            return fault(format!("`{text}` has a port: write `address: {host}` and `port: {port}`"));
        }
        if !text.contains("{address}") {
            return Ok(text);
        }
        let missing = || InventoryError::Device {
            device: name.to_owned(),
            reason: match &self.addresses {
                Some(path) => format!("`{path}` has no address for it"),
                None => "`{address}` needs `addresses: FILE`, the site's list of switches".to_owned(),
            },
        };
        let address = self.listed.get(name).ok_or_else(missing)?;
        let is_bare_v6 = is_endpoint && address.parse::<std::net::Ipv6Addr>().is_ok();
        let address = if is_bare_v6 { format!("[{address}]") } else { address.clone() };
        Ok(text.replace("{address}", &address))
    }

    /// Returns the P4Runtime connection of a switch; `None` if the inventory has none.
    pub fn device(&self, name: &str) -> Result<Option<Device>, InventoryError> {
        if let Some(device) = self.devices.get(name) {
            return Ok(Some(device.clone()));
        }
        let Some(rule) = self.p4runtime_rule(name) else { return Ok(None) };
        let mut device = rule.device.clone();
        device.endpoint = self.fill_pattern(&device.endpoint, name, true)?;
        if let Some(server) = device.tls.as_mut().and_then(|tls| tls.server_name.as_mut()) {
            *server = server.replace("{name}", name);
        }
        Ok(Some(device))
    }

    /// Returns the inventory with a device entry for each of these switches that a pattern matches.
    pub fn expand_devices<'n>(&self, names: impl Iterator<Item = &'n str>) -> Result<Self, InventoryError> {
        let mut made = self.clone();
        for name in names {
            if let Some(device) = self.device(name)? {
                made.devices.insert(name.to_owned(), device);
            }
        }
        Ok(made)
    }

    /// Returns whether all addresses that a pattern matches are on this machine, according to the list of
    /// addresses.
    fn is_of_this_machine(&self, rule: &ConnectionPattern) -> bool {
        let fitting = self.listed.keys().filter(|name| closc_sonic::fits(&rule.devices, name));
        let mut endpoints =
            fitting.filter_map(|name| self.fill_pattern(&rule.device.endpoint, name, true).ok()).peekable();
        rule.device.endpoint.contains("{address}")
            && endpoints.peek().is_some()
            && endpoints.all(|each| is_local(&each))
    }

    fn p4runtime_rule(&self, name: &str) -> Option<&ConnectionPattern> {
        self.p4runtime.iter().find(|rule| closc_sonic::fits(&rule.devices, name))
    }

    /// Returns whether the inventory has a P4Runtime connection for a switch of this name.
    pub fn programs(&self, name: &str) -> bool {
        self.devices.contains_key(name) || self.p4runtime_rule(name).is_some()
    }

    /// Returns whether the inventory has rules for SONiC switches.
    pub fn has_sonic(&self) -> bool {
        !self.sonic.is_empty()
    }

    /// Returns the connection of a SONiC switch.
    pub(crate) fn sonic_of(&self, name: &str) -> Option<&Sonic> {
        self.sonic.iter().find(|rule| closc_sonic::fits(&rule.devices, name))
    }

    /// Returns whether a rule for SONiC switches matches a name.
    pub fn has_rule_for(&self, name: &str) -> bool {
        self.sonic_of(name).is_some()
    }

    /// Returns the rule with the connection of a switch that is configured by files.
    pub(crate) fn ssh_of(&self, name: &str) -> Option<&SshRule> {
        self.ssh.iter().find(|rule| closc_sonic::fits(&rule.devices, name))
    }

    /// Returns whether the inventory has rules for switches that are configured by files.
    pub fn has_ssh(&self) -> bool {
        !self.ssh.is_empty()
    }

    /// Returns whether a rule for SONiC switches, or for switches that are configured by files, matches a name.
    pub fn configures(&self, name: &str) -> bool {
        self.sonic_of(name).is_some() || self.ssh_of(name).is_some()
    }

    /// Returns whether a device or a rule of the inventory matches this name.
    pub fn knows(&self, name: &str) -> bool {
        self.programs(name) || self.configures(name)
    }

    /// Returns the plane of a switch, if the inventory sets it.
    pub fn plane_of(&self, name: &str) -> Option<u8> {
        let own = self.devices.get(name).or_else(|| Some(&self.p4runtime_rule(name)?.device));
        let own = own.and_then(|device| device.plane);
        own.or_else(|| self.sonic_of(name)?.plane).or_else(|| self.ssh_of(name)?.plane)
    }

    /// Returns why no rule of a list applies to switches: their rule is in another list, or no pattern matches them.
    pub(crate) fn explain_no_rule(&self, list: RuleList, devices: &[String]) -> String {
        let p4runtime = self.p4runtime.iter().map(|rule| (RuleList::P4Runtime, rule.devices.as_str()));
        let sonic = self.sonic.iter().map(|rule| (RuleList::Sonic, rule.devices.as_str()));
        let ssh = self.ssh.iter().map(|rule| (RuleList::Ssh, rule.devices.as_str()));
        let rules: Vec<_> = p4runtime.chain(sonic).chain(ssh).collect();
        let fits = |pattern: &str| devices.iter().any(|name| closc_sonic::fits(pattern, name));
        if let Some((other, _)) = rules.iter().find(|(own, pattern)| *own != list && fits(pattern)) {
            return format!(
                "; the rule under `{}` is for other operating systems: write one under `{}`",
                other.key(),
                list.key()
            );
        }
        match rules.iter().find(|(_, pattern)| !fits(pattern)) {
            Some((_, pattern)) => {
                format!("; `{pattern}` matches none of them: `*` matches any text and `?` any character")
            }
            None => String::new(),
        }
    }

    /// Returns the number of patterns.
    pub fn n_patterns(&self) -> usize {
        self.p4runtime.len() + self.sonic.len() + self.ssh.len()
    }

    /// Returns the devices and patterns that are reached over a network without TLS, so that an attacker on the path
    /// can read and change the traffic.
    pub fn in_the_clear(&self) -> impl Iterator<Item = &str> {
        let tls = self.defaults.tls.is_some();
        let open = move |device: &&Device| !tls && device.tls.is_none() && !is_local(&device.endpoint);
        let devices = self.devices.iter().filter(move |(_, device)| open(device));
        let rules =
            self.p4runtime.iter().filter(move |rule| open(&&rule.device) && !self.is_of_this_machine(rule));
        let devices = devices.chain(rules.map(|rule| (&rule.devices, &rule.device)));
        let gnmi = self.sonic.iter().filter(|rule| rule.transport == Transport::SonicGnmi);
        let gnmi = gnmi.filter(move |rule| !tls && rule.tls.is_none() && !is_local_host(&rule.address));
        devices.map(|(name, _)| name.as_str()).chain(gnmi.map(|rule| rule.devices.as_str()))
    }

    /// Returns the paths of all private keys and passwords, each once.
    pub fn keys(&self) -> BTreeSet<&str> {
        let rules = self.p4runtime.iter().map(|rule| &rule.device);
        let own = self.devices.values().chain(rules).filter_map(|device| device.tls.as_ref());
        let sonic = self.sonic.iter().filter_map(|rule| rule.tls.as_ref());
        let passwords = self.sonic.iter().filter_map(|rule| rule.password_file.as_deref());
        let tls = own.chain(sonic).chain(&self.defaults.tls);
        tls.filter_map(|tls| tls.key.as_deref()).chain(passwords).collect()
    }

    /// Writes the inventory as JSON, which any YAML reader accepts too.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("strings and numbers have a form in JSON");
        text.push('\n');
        text
    }
}

/// Returns whether an address belongs to this machine.
fn is_local(endpoint: &str) -> bool {
    if endpoint.starts_with("unix:") {
        return true;
    }
    let host = endpoint.rsplit_once(':').map_or(endpoint, |(host, _)| host);
    let host = host.rsplit_once('/').map_or(host, |(_, host)| host);
    is_local_host(host.trim_start_matches('[').trim_end_matches(']'))
}

/// Returns whether text has the form of an IPv4 address but is not a valid one, such as `192.0.2.300`.
pub(crate) fn is_wrong_ipv4(text: &str) -> bool {
    let has_form = text.contains('.') && text.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit());
    has_form && text.parse::<std::net::Ipv4Addr>().is_err()
}

/// Returns whether a host is this machine.
pub(crate) fn is_local_host(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Drops the position that `serde_json` appends to its messages.
fn strip_position(message: &str) -> String {
    message.split(" at line ").next().unwrap_or(message).to_owned()
}

/// Replaces names of types by the values that are accepted.
fn rewrite_message(message: &str) -> String {
    if let Some(key) = message.strip_prefix("duplicate mapping key: ") {
        return format!("`{}` appears twice: remove one", key.split(", set ").next().unwrap_or(key));
    }
    match message {
        "invalid u8" => "expected a number from 0 to 255",
        "invalid u16" => "expected a number from 0 to 65535",
        "invalid u64" => "expected a number from 0",
        "expected mapping start" => "expected `key: value`",
        "expected sequence start" => "expected a list of `- { devices: PATTERN, ... }`",
        other => other,
    }
    .to_owned()
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or(message).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "
defaults:
  tls: { ca: pki/ca.pem, cert: pki/closc.pem, key: pki/closc.key }
  election_id: 100
devices:
  p0-t0-001: { endpoint: '127.0.0.1:9559', device_id: 1, plane: 0 }
  p1-t0-001:
    endpoint: '[2001:db8::1]:9559'
    device_id: 7
    tls: { server_name: p1-t0-001.example }
    artefacts: { p4info: hw/fabric.p4info.txtpb, device_config: hw/fabric.bin }
";

    #[test]
    fn yaml_and_json_are_read_alike() {
        let inventory = Inventory::parse(EXAMPLE).expect("the example is right");
        assert_eq!(inventory.devices["p0-t0-001"].plane, Some(0));
        let own = inventory.devices["p1-t0-001"].tls.clone().expect("given");
        let tls = own.or(inventory.defaults.tls.as_ref().expect("given"));
        assert_eq!(tls.ca.as_deref(), Some("pki/ca.pem"));
        assert_eq!(tls.server_name.as_deref(), Some("p1-t0-001.example"));
        assert_eq!(Inventory::parse(&inventory.to_json()), Ok(inventory));
    }

    #[test]
    fn devices_in_the_clear_and_keys_are_found() {
        let text = "
devices:
  a: { endpoint: '127.0.0.1:1', device_id: 1 }
  b: { endpoint: '[::1]:1', device_id: 1 }
  c: { endpoint: 'unix:/run/c.sock', device_id: 1 }
  d: { endpoint: '10.0.0.1:1', device_id: 1 }
  e: { endpoint: 'grpc://e.example:1', device_id: 1, tls: { ca: ca.pem, cert: e.pem, key: e.key } }
  f: { endpoint: 'grpc://f.example:1', device_id: 1 }
";
        let inventory = Inventory::parse(text).expect("right");
        assert_eq!(inventory.in_the_clear().collect::<Vec<_>>(), ["d", "f"]);
        assert_eq!(inventory.keys().into_iter().collect::<Vec<_>>(), ["e.key"]);
        let example = Inventory::parse(EXAMPLE).expect("the example is right");
        assert_eq!(example.in_the_clear().count(), 0);
        let text = "
sonic:
- { devices: 'p0-*', transport: sonic-gnmi, address: '{name}.mgmt', tls: { ca: ca, cert: c, key: p0.key } }
- { devices: 'p1-*', transport: sonic-gnmi, address: '{name}.mgmt', user: admin, password_file: pki/password }
- { devices: 'p2-*', transport: sonic-ssh, address: '{name}.mgmt' }
- { devices: 'p3-*', transport: sonic-gnmi, address: '127.0.0.1' }
";
        let sonic = Inventory::parse(text).expect("right");
        assert_eq!(sonic.in_the_clear().collect::<Vec<_>>(), ["p1-*"]);
        assert_eq!(sonic.keys().into_iter().collect::<Vec<_>>(), ["p0.key", "pki/password"]);
        assert_eq!(Inventory::parse(&sonic.to_json()), Ok(sonic));
    }

    #[test]
    fn switches_with_two_transports_are_reached_by_patterns() {
        let text = "
addresses: netbox.csv
devices:
  p0-t0-001: { endpoint: 'own:9', device_id: 7 }
p4runtime:
- { devices: 'p0-*', device: { endpoint: '{address}:9559', device_id: 1, plane: 0, tls: { server_name: '{name}.example' } } }
- { devices: 'p1-*', device: { endpoint: '{name}.mgmt:9559', device_id: 1, plane: 1 } }
sonic:
- { devices: '*', transport: sonic-ssh, address: '{address}' }
";
        let listed = "name,primary_ip\np0-t0-002,2001:db8::2/64\n";
        let inventory = Inventory::parse(text).expect("right").with_addresses(listed).expect("right");
        let endpoint = |name: &str| inventory.device(name).map(|device| device.map(|device| device.endpoint));
        assert_eq!(endpoint("p0-t0-001"), Ok(Some("own:9".to_owned())), "its own comes first");
        assert_eq!(endpoint("p0-t0-002"), Ok(Some("[2001:db8::2]:9559".to_owned())));
        assert_eq!(endpoint("p1-t0-001"), Ok(Some("p1-t0-001.mgmt:9559".to_owned())));
        assert_eq!(endpoint("p2-t0-001"), Ok(None));
        let error = endpoint("p0-t0-003").expect_err("it is not in the list");
        assert_eq!(error.to_string(), "`p0-t0-003`: `netbox.csv` has no address for it");
        assert_eq!((inventory.plane_of("p0-t0-002"), inventory.plane_of("p1-t0-001")), (Some(0), Some(1)));
        assert!(
            inventory.programs("p1-t0-009")
                && !inventory.programs("p2-t0-001")
                && inventory.knows("p2-t0-001")
        );
        assert_eq!(inventory.in_the_clear().collect::<Vec<_>>(), ["p0-t0-001", "p1-*"]);
        let all = inventory.expand_devices(["p0-t0-002", "p2-t0-001"].into_iter()).expect("both are known");
        assert_eq!(all.devices.len(), 2);
        let tls = all.devices["p0-t0-002"].tls.as_ref().expect("given");
        assert_eq!(tls.server_name.as_deref(), Some("p0-t0-002.example"));
    }

    #[test]
    fn mistakes_have_a_place() {
        let place = |text: &str| match Inventory::parse(text) {
            Err(InventoryError::Syntax { place, reason }) => (place.map(|(line, _)| line), reason),
            other => panic!("{other:?}"),
        };
        let (line, reason) = place("devices:\n  a: { endpoint: 'h:1', device_id: 1, planet: 3 }\n");
        assert_eq!(line, Some(2));
        assert!(reason.contains("planet"), "{reason}");
        let (line, reason) = place("{\"devices\": {\n \"a\": {\"endpoint\": 1}}}");
        assert_eq!(line, Some(2));
        assert!(reason.contains("expected a string"), "{reason}");
        assert_eq!(place("devices:\n  a: {device_id: 1}\n").0, Some(2));
        let plane = "sonic:\n- { devices: a, transport: sonic-ssh, address: a, plane: zero }\n";
        assert_eq!(place(plane), (Some(2), "expected a number from 0 to 255".to_owned()));
        assert_eq!(place("- devices: a\n"), (Some(1), "expected `key: value`".to_owned()));
        assert_eq!(place("sonic: 1\n").1, "expected a list of `- { devices: PATTERN, ... }`");
        for text in ["nope: 1\n", "{\"nope\": 1}", "- 1\n", "devices: {a: {nope: 1}}\n"] {
            let said = Inventory::parse(text).unwrap_err().to_string();
            assert!(!said.contains("at line"), "its place is said once: {said}");
        }
    }

    #[test]
    fn thousands_of_devices_are_no_bomb() {
        use std::fmt::Write as _;
        let mut text = String::from("devices:\n");
        for number in 0..20_000 {
            writeln!(text, "  s{number}: {{ endpoint: 'h:1', device_id: {number} }}").expect("a string");
        }
        assert_eq!(Inventory::parse(&text).expect("right").devices.len(), 20_000);
    }
}
