//! Kernel settings that a tree may change: a list of names, for IPv6 and IPv4, each limited to one namespace.
//!
//! In: the text of a `sysctl.conf`. Out: [`Sysctl`]s. Invariants: the path of a setting contains only names from this
//! module and the name of an interface.

use camino::Utf8PathBuf;

use crate::error::TreeFault;
use crate::name::Interface;

/// Settings of interfaces, below `net.ipv6.conf.NAME`.
const OF_INTERFACES: [&str; 12] = [
    "accept_dad",
    "accept_ra",
    "accept_redirects",
    "addr_gen_mode",
    "autoconf",
    "disable_ipv6",
    "forwarding",
    "keep_addr_on_down",
    "mldv1_unsolicited_report_interval",
    "mldv2_unsolicited_report_interval",
    "ndisc_notify",
    "router_solicitations",
];
/// Settings of a namespace, below `net.ipv6`.
const OF_NAMESPACES: [&str; 3] = ["fib_multipath_hash_fields", "fib_multipath_hash_policy", "seg6_flowlabel"];

/// Settings of interfaces, below `net.ipv4.conf.NAME`.
const OF_INTERFACES_IPV4: [&str; 3] = ["accept_redirects", "rp_filter", "send_redirects"];
/// Settings of a namespace, below `net.ipv4`.
const OF_NAMESPACES_IPV4: [&str; 2] = ["fib_multipath_hash_policy", "ip_forward"];

/// A setting and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sysctl {
    family: &'static str,
    key: Key,
    /// The value.
    pub(crate) value: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    /// A setting of a namespace.
    Namespace(&'static str),
    /// A setting of every current and future interface.
    Every(&'static str, &'static str),
    /// A setting of one interface.
    Interface(Interface, &'static str),
}

impl Sysctl {
    /// Reads a file.
    pub(crate) fn read_all(text: &str) -> Result<Vec<Sysctl>, TreeFault> {
        let mut settings = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let setting = Sysctl::read(line);
            settings.push(setting.map_err(|what| TreeFault::Line { line: number + 1, message: what })?);
        }
        Ok(settings)
    }

    fn read(line: &str) -> Result<Sysctl, String> {
        let (key, value) = line.split_once('=').ok_or("not a setting: it has no `=`")?;
        let (key, value) = (key.trim(), value.trim());
        let shown = || key.chars().take(64).flat_map(char::escape_debug).collect::<String>();
        let (family, found) = Key::read(key).ok_or_else(|| format!("a lab does not set `{}`", shown()))?;
        let number = value.parse().map_err(|_| format!("the value of `{}` is not a number", shown()))?;
        Ok(Sysctl { family, key: found, value: number })
    }

    /// Returns the path of the setting in `/proc`.
    pub(crate) fn path(&self) -> Utf8PathBuf {
        let base = Utf8PathBuf::from("/proc/sys/net").join(self.family);
        match &self.key {
            Key::Namespace(name) => base.join(name),
            Key::Every(which, name) => base.join("conf").join(which).join(name),
            Key::Interface(interface, name) => base.join("conf").join(&**interface).join(name),
        }
    }

    /// Returns its name for `sysctl`.
    pub(crate) fn name(&self) -> String {
        match &self.key {
            Key::Namespace(name) => format!("net.{}.{name}", self.family),
            Key::Every(which, name) => format!("net.{}.conf.{which}.{name}", self.family),
            Key::Interface(interface, name) => format!("net.{}.conf.{interface}.{name}", self.family),
        }
    }
}

impl Key {
    /// Parses a name into the family and the setting.
    fn read(key: &str) -> Option<(&'static str, Key)> {
        let (family, rest) = key.strip_prefix("net.")?.split_once('.')?;
        match family {
            "ipv4" => Some(("ipv4", Key::parse_suffix(rest, &OF_NAMESPACES_IPV4, &OF_INTERFACES_IPV4)?)),
            "ipv6" => Some(("ipv6", Key::parse_suffix(rest, &OF_NAMESPACES, &OF_INTERFACES)?)),
            _ => None,
        }
    }

    fn parse_suffix(
        rest: &str,
        of_namespaces: &[&'static str],
        of_interfaces: &[&'static str],
    ) -> Option<Key> {
        let known = |names: &[&'static str], name: &str| names.iter().find(|known| **known == name).copied();
        let Some(rest) = rest.strip_prefix("conf.") else {
            return known(of_namespaces, rest).map(Key::Namespace);
        };
        // An interface name may contain dots.
        let (interface, name) = rest.rsplit_once('.')?;
        let name = known(of_interfaces, name)?;
        match known(&["all", "default"], interface) {
            Some(which) => Some(Key::Every(which, name)),
            None => Some(Key::Interface(interface.parse().ok()?, name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_a_namespace_are_read() {
        let text = "# a comment\nnet.ipv6.conf.all.forwarding = 1\nnet.ipv6.conf.eth0.100.accept_ra=0\n\
                    net.ipv6.fib_multipath_hash_policy = 1\nnet.ipv4.ip_forward = 1\n";
        let all: Vec<_> =
            Sysctl::read_all(text).unwrap().iter().map(|s| (s.path().into_string(), s.value)).collect();
        assert_eq!(
            all,
            [
                ("/proc/sys/net/ipv6/conf/all/forwarding".to_owned(), 1),
                ("/proc/sys/net/ipv6/conf/eth0.100/accept_ra".to_owned(), 0),
                ("/proc/sys/net/ipv6/fib_multipath_hash_policy".to_owned(), 1),
                ("/proc/sys/net/ipv4/ip_forward".to_owned(), 1),
            ]
        );
    }

    #[test]
    fn nothing_else_is() {
        for line in [
            "kernel.hostname = x",
            "kernel.core_pattern = |/bin/sh",
            "net.ipv6.conf.../../../kernel.hostname = x",
            "net.ipv6.conf.all.forwarding/../../../../../kernel/hostname = 1",
            "net.ipv6.conf../../all.forwarding = 1",
            "net/ipv6/conf/all/forwarding = 1",
            "../../tmp/x = 1",
            "net.ipv6.conf.all.stable_secret = ::1",
            "net.ipv6.conf.all.forwarding = 1; reboot",
            "net.ipv6.conf.all.forwarding",
            "net.ipv4.tcp_congestion_control = 1",
            "net.ipv4.conf.all.log_martians = 1",
            "fs.file-max = 1",
        ] {
            let error = Sysctl::read_all(line).unwrap_err();
            assert!(matches!(error, TreeFault::Line { line: 1, .. }), "{line}: {error}");
        }
    }
}
