//! Connection data of switches over SSH and gNMI, checked: names, ports, users and certificates of an inventory.
//!
//! In: an inventory and the files that it names. Out: a [`Link`] for each switch. Invariants: values for `ssh` and the
//! switch's shell contain no special characters. A password is sent only over TLS, or to this machine. Settings that a
//! transport does not use are rejected. Each file is read once per rule.

use std::collections::BTreeMap;

use closc_artefacts::Files;
use closc_runtime::client::{ClientTls, Endpoint};
use closc_runtime::gnmi::Login;

use crate::folders::Place;
use crate::inventory::{
    Inventory, InventoryError, KnownPlane, RuleList, Sonic, SshRule, Tls, Transport, is_local_host,
};
use crate::sonic::{GnmiLink, Link, Ssh, SshLink, is_host, is_state, is_user};
use crate::target::read_tls;

/// The folder of a switch for unconfirmed changes: `/etc/sonic` survives reboots and new images.
const STATE: &str = "/etc/sonic/closc";

/// The folder of a switch that its `bgp` container mounts as `/etc/frr` (`docker_image_ctl.j2` of sonic-buildimage).
const FRR: &str = "/etc/sonic/frr";

/// The default port of SONiC's gNMI server.
const GNMI_PORT: u16 = 8080;

/// Size limit of a password file.
const PASSWORD_MAX: usize = 4 << 10;

/// Common data of the switches of one rule.
#[derive(Clone)]
struct RuleCredentials {
    tls: Option<ClientTls>,
    login: Option<Login>,
}

/// Links of the switches of an inventory.
pub(crate) struct Links<'a> {
    inventory: &'a Inventory,
    files: &'a dyn Files,
    /// By the pattern of the rule; the first that matches applies.
    rule_credentials: BTreeMap<&'a str, RuleCredentials>,
}

fn fault(name: &str, what: &str, text: &str, why: &str) -> InventoryError {
    InventoryError::Device { device: name.to_owned(), reason: format!("{what} `{text}` {why}") }
}

impl<'a> Links<'a> {
    pub(crate) fn new(inventory: &'a Inventory, beside: &'a dyn Files) -> Self {
        Links { inventory, files: beside, rule_credentials: BTreeMap::new() }
    }

    /// Returns the connection of a switch, and its plane; `None` if the inventory has none.
    pub(crate) fn of(
        &mut self,
        name: &str,
        known: KnownPlane,
    ) -> Result<Option<(Link, Option<u8>)>, InventoryError> {
        let Some(rule) = self.inventory.sonic_of(name) else { return Ok(None) };
        let host = self.inventory.fill_pattern(&rule.address, name, false)?;
        if !is_host(&host) {
            return Err(fault(name, "address", &host, "is neither a host name nor an address"));
        }
        let link = match rule.transport {
            Transport::SonicSsh => Link::Ssh(ssh(name, rule, host)?),
            Transport::SonicGnmi => Link::Gnmi(self.gnmi(name, rule, &host)?),
        };
        Ok(Some((link, self.inventory.plane_in(RuleList::Sonic, name, rule.plane, known)?)))
    }

    /// Returns the `ssh` connection of a switch that runs `os`, and its plane; `None` if the inventory has none.
    pub(crate) fn ssh_connection(
        &self,
        (name, os): (&str, &str),
        has_folders: bool,
        known: KnownPlane,
    ) -> Result<Option<(Ssh, Place, Option<u8>)>, InventoryError> {
        let Some(rule) = self.inventory.ssh_of(name) else { return Ok(None) };
        let host = self.inventory.fill_pattern(&rule.address, name, false)?;
        if !is_host(&host) {
            return Err(fault(name, "address", &host, "is neither a host name nor an address"));
        }
        check_user(name, rule.user.as_ref())?;
        let ssh = Ssh { host, port: rule.port, user: rule.user.clone() };
        let plane = self.inventory.plane_in(RuleList::Ssh, name, rule.plane, known)?;
        Ok(Some((ssh, place((name, os), has_folders, rule)?, plane)))
    }

    fn gnmi(&mut self, name: &str, rule: &'a Sonic, host: &str) -> Result<GnmiLink, InventoryError> {
        if let Some(state) = &rule.state {
            return Err(fault(
                name,
                "state",
                state,
                "is only for `sonic-ssh`: changes over gNMI are not confirmed",
            ));
        }
        if let Some(folder) = &rule.frr {
            return Err(fault(
                name,
                "frr",
                folder,
                "is only for `sonic-ssh`: gNMI does not carry `frr.conf`",
            ));
        }
        let shared = match self.rule_credentials.get(rule.devices.as_str()) {
            Some(shared) => shared.clone(),
            None => self.share(name, rule)?,
        };
        if shared.login.is_some() && shared.tls.is_none() && !is_local_host(host) {
            return Err(fault(
                name,
                "user",
                rule.user.as_deref().unwrap_or_default(),
                "with a password needs `tls`",
            ));
        }
        let port = rule.port.unwrap_or(GNMI_PORT);
        let address = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let endpoint = match shared.tls {
            None => Endpoint::plain(&address),
            Some(mut tls) => {
                tls.server_name = tls.server_name.map(|text| text.replace("{name}", name));
                Endpoint::tls(&address, tls)
            }
        };
        let endpoint = endpoint
            .map_err(|error| InventoryError::Device { device: name.to_owned(), reason: error.to_string() })?;
        Ok(GnmiLink { endpoint, login: shared.login })
    }

    /// Reads the common data of the switches of a rule.
    fn share(&mut self, name: &str, rule: &'a Sonic) -> Result<RuleCredentials, InventoryError> {
        let nothing = Tls::default();
        let tls = match (&rule.tls, &self.inventory.defaults.tls) {
            (None, None) => None,
            (own, all) => {
                let tls = own.as_ref().unwrap_or(&nothing).or(all.as_ref().unwrap_or(&nothing));
                Some(read_tls(name, &tls, self.files)?)
            }
        };
        let login = match (&rule.user, &rule.password_file) {
            (None, None) => None,
            (Some(user), Some(path)) => Some(self.login(name, user, path)?),
            (Some(user), None) => return Err(fault(name, "user", user, "needs `password_file`")),
            (None, Some(path)) => return Err(fault(name, "password_file", path, "needs `user`")),
        };
        let shared = RuleCredentials { tls, login };
        self.rule_credentials.insert(&rule.devices, shared.clone());
        Ok(shared)
    }

    fn login(&self, name: &str, user: &str, path: &str) -> Result<Login, InventoryError> {
        let failed = |reason: String| InventoryError::File {
            device: name.to_owned(),
            purpose: "password",
            path: path.to_owned(),
            reason,
        };
        let bytes = self.files.read(path).map_err(|error| failed(error.to_string()))?;
        if bytes.len() > PASSWORD_MAX {
            return Err(failed(format!("has more than {PASSWORD_MAX} bytes")));
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| failed("is not text".to_owned()))?;
        Login::new(user, text.lines().next().unwrap_or_default()).map_err(|why| failed(why.to_owned()))
    }
}

/// The folder of a switch for unconfirmed changes and for backups.
const FOLDER: &str = "/var/lib/closc";

/// The folder of configuration files.
const ETC: &str = "/etc";

/// Returns the folders that closc uses on a switch.
fn place((name, os): (&str, &str), has_folders: bool, rule: &SshRule) -> Result<Place, InventoryError> {
    let mut found = [FOLDER.to_owned(), ETC.to_owned()];
    for (place, (field, given)) in found.iter_mut().zip([("state", &rule.state), ("etc", &rule.etc)]) {
        let Some(folder) = given else { continue };
        if !has_folders {
            return Err(fault(
                name,
                field,
                folder,
                &format!("is only for Linux systems; switches that run `{os}` have no such folder"),
            ));
        }
        let folder = folder.replace("{name}", name);
        check_folder(name, field, &folder)?;
        *place = folder;
    }
    let [state, etc] = found;
    Ok(Place { state, etc })
}

fn check_user(name: &str, user: Option<&String>) -> Result<(), InventoryError> {
    match user.filter(|user| !is_user(user)) {
        Some(user) => Err(fault(name, "user", user, "is not a user name")),
        None => Ok(()),
    }
}

fn check_folder(name: &str, field: &str, folder: &str) -> Result<(), InventoryError> {
    if is_state(folder) {
        return Ok(());
    }
    Err(fault(name, field, folder, "is not an absolute path of letters, digits, `.`, `_`, `-` and `/`"))
}

/// Checks the values for `ssh` and the switch's shell.
fn ssh(name: &str, rule: &Sonic, host: String) -> Result<SshLink, InventoryError> {
    let state = rule.state.clone().unwrap_or_else(|| STATE.to_owned());
    let frr = rule.frr.clone().unwrap_or_else(|| FRR.to_owned());
    check_user(name, rule.user.as_ref())?;
    check_folder(name, "state", &state)?;
    check_folder(name, "frr", &frr)?;
    if let Some(path) = &rule.password_file {
        return Err(fault(name, "password_file", path, "is only for `sonic-gnmi`: `ssh` uses your keys"));
    }
    if rule.tls.is_some() {
        return Err(fault(
            name,
            "field",
            "tls",
            "is only for `sonic-gnmi`: `ssh` uses your keys and known hosts",
        ));
    }
    Ok(SshLink { ssh: Ssh { host, port: rule.port, user: rule.user.clone() }, state, frr })
}
