//! The zero touch provisioning of SONiC (`sonic-ztp`): the files that a new switch fetches, and their order.
//!
//! In: the address of the web server, and a switch. Out: `ztp.json`. Invariants: only keys that `sonic-ztp`
//! reads are written. Sections run in the order of their names. All files that a switch fetches are below one
//! address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use closc_artefacts::paths;
use closc_render::Artefact;
use serde::Serialize;
use thiserror::Error;

use crate::hardware::Serial;
use crate::json;

/// The file that directs each switch to its own.
pub const REDIRECT: &str = "ztp/ztp.json";

/// Maximum length of the address. Followed by the path of the switch with the longest name, it fits into the 255
/// bytes of a DHCP option.
const ADDRESS_MAX: usize = 160;

/// The URL at which the exported files are served: `http://192.0.2.80/ztp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(String);

/// Error for a text that is not the address of a web server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{0}` is not the URL of a folder from which switches can fetch, such as `http://192.0.2.80/ztp`; \
     expected `http://`, `https://`, `ftp://` or `tftp://`, then letters, digits and `-._~%+=:@/[]`, at most \
     {ADDRESS_MAX} characters in all"
)]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let refused = || AddressError(text.escape_debug().to_string());
        let rest =
            ["http://", "https://", "ftp://", "tftp://"].iter().find_map(|begin| text.strip_prefix(begin));
        let rest = rest.ok_or_else(refused)?.trim_end_matches('/');
        let plain = |sign: char| sign.is_ascii_alphanumeric() || "-._~%+=:@/[]".contains(sign);
        if rest.is_empty() || rest.starts_with('/') || text.len() > ADDRESS_MAX || !rest.chars().all(plain) {
            return Err(refused());
        }
        Ok(Address(text.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Address {
    /// Returns the URL of an exported file. Its path begins with the folder of the export.
    pub fn of(&self, path: &str) -> String {
        format!("{}/{}", self.0, path.strip_prefix("ztp/").unwrap_or(path))
    }
}

/// A switch, with the values that its `ztp.json` needs.
#[derive(Debug, Clone, Copy)]
pub struct Device<'a> {
    /// Name of the switch.
    pub name: &'a str,
    /// Whether routing has a separate file, `frr.conf`.
    pub has_frr: bool,
    /// The gateway of the management network, if there is one.
    pub gateway: Option<IpAddr>,
}

/// Returns the path of a switch's file.
pub fn path(device: &str, file: &str) -> String {
    format!("ztp/{}", paths::switch(device, file))
}

/// Returns the path of the copy of a switch's `ztp.json` that the switch finds by its serial number.
fn by_serial(serial: &Serial) -> String {
    format!("{BY_SERIAL}{serial}{ENDING}")
}

const BY_SERIAL: &str = "ztp/serials/";
const ENDING: &str = ".json";

#[derive(Serialize)]
struct Root<T> {
    ztp: T,
}

#[derive(Serialize)]
struct Redirect {
    #[serde(rename = "dynamic-url")]
    dynamic_url: DynamicUrl,
}

#[derive(Serialize)]
struct DynamicUrl {
    source: DynamicSource,
}

#[derive(Serialize)]
struct DynamicSource {
    prefix: String,
    identifier: &'static str,
    suffix: &'static str,
}

/// The sections of a switch.
#[derive(Serialize)]
struct Sections<'a> {
    #[serde(rename = "01-download", skip_serializing_if = "Option::is_none")]
    download: Option<Download>,
    #[serde(rename = "02-configdb-json")]
    config: ConfigSection,
    #[serde(rename = "03-connectivity-check", skip_serializing_if = "Option::is_none")]
    check: Option<CheckSection<'a>>,
}

#[derive(Serialize)]
struct Download {
    files: [File; 1],
}

#[derive(Serialize)]
struct File {
    url: Url,
    permissions: &'static str,
}

#[derive(Serialize)]
struct Url {
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct ConfigSection {
    url: Url,
    /// Whether a reload removes the factory configuration.
    clear_config: bool,
    save_config: bool,
    /// Without this key, the switch would keep its own MAC address, but its neighbours have the planned one
    /// in their tables.
    overwrite_device_metadata: bool,
}

#[derive(Serialize)]
struct CheckSection<'a> {
    #[serde(rename = "ping-hosts", skip_serializing_if = "Option::is_none")]
    ping: Option<[&'a IpAddr; 1]>,
    #[serde(rename = "ping6-hosts", skip_serializing_if = "Option::is_none")]
    ping6: Option<[&'a IpAddr; 1]>,
}

/// Writes the `ztp.json` of a switch, and the copy under its serial number.
pub fn device(address: &Address, device: &Device<'_>, serial: Option<&Serial>) -> Vec<Artefact> {
    let url = |file: &str, destination| Url { source: address.of(&path(device.name, file)), destination };
    let sections = Sections {
        // FRR reads this file at the reload, so it is downloaded first.
        download: device.has_frr.then(|| Download {
            files: [File { url: url(paths::FRR_CONF, Some("/etc/sonic/frr/frr.conf")), permissions: "644" }],
        }),
        config: ConfigSection {
            url: url(paths::CONFIG_DB, None),
            clear_config: true,
            save_config: true,
            overwrite_device_metadata: true,
        },
        check: device.gateway.as_ref().map(|gateway| CheckSection {
            ping: gateway.is_ipv4().then_some([gateway]),
            ping6: gateway.is_ipv6().then_some([gateway]),
        }),
    };
    let own = json(&path(device.name, "ztp.json"), &Root { ztp: sections });
    let copy = serial.map(|serial| Artefact::new(by_serial(serial), own.bytes.clone()));
    [own].into_iter().chain(copy).collect()
}

/// Writes the `ztp.json` that directs every switch to the one of its serial number.
pub fn redirect(address: &Address) -> Artefact {
    let source = DynamicSource { prefix: address.of(BY_SERIAL), identifier: "serial-number", suffix: ENDING };
    json(REDIRECT, &Root { ztp: Redirect { dynamic_url: DynamicUrl { source } } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_plain_and_short() {
        let address: Address = "http://[2001:db8::80]:8080/ztp//".parse().expect("right");
        assert_eq!(address.of(&path("a", "x")), "http://[2001:db8::80]:8080/ztp/switches/a/x");
        let long = format!("http://{}", "a".repeat(ADDRESS_MAX));
        for text in [
            "192.0.2.1",
            "http://",
            "http:///x",
            "file:///etc",
            "http://a b",
            "http://a\"",
            "http://a?x",
            "http://a,b",
            "http://a\n",
            &long,
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
