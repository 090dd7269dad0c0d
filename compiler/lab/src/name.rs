//! Names that a lab gives to namespaces, files and interfaces.
//!
//! In: text of a tree or of the command line. Out: [`FabricName`], [`DeviceName`], [`Interface`]. Invariants: a name is
//! a single word without special characters, so it is safe in paths, on command lines and in scripts.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Maximum length of the name of a fabric or device: that of a DNS label (RFC 1035 section 2.3.4).
const LABEL_MAX: usize = 63;
/// Maximum length of an interface name: `IFNAMSIZ` of `linux/if.h` less the terminator.
const INTERFACE_MAX: usize = 15;

/// Error for a text that is not a valid name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid name for {kind}")]
pub struct NameFault {
    /// The beginning of the text.
    text: String,
    /// Kind of name.
    kind: &'static str,
}

fn fault(text: &str, what: &'static str) -> NameFault {
    NameFault { text: text.chars().take(LABEL_MAX).collect(), kind: what }
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $legal:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl FromStr for $name {
            type Err = NameFault;

            fn from_str(text: &str) -> Result<Self, NameFault> {
                let legal: fn(&str) -> bool = $legal;
                if legal(text) { Ok($name(text.to_owned())) } else { Err(fault(text, $what)) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameFault;

            fn try_from(text: String) -> Result<Self, NameFault> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// The name of a fabric: lower-case letters, digits and `-`.
    FabricName,
    "a fabric",
    is_label
);
name!(
    /// The name of a device: like that of a fabric, but without `--`, which separates the two devices in a cable's
    /// name.
    DeviceName,
    "a device",
    |text| is_label(text) && !text.contains("--")
);
name!(
    /// The name of an interface or port.
    Interface,
    "an interface",
    is_interface
);

fn is_label(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=LABEL_MAX).contains(&text.len())
        && text.bytes().all(legal)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// `all` and `default` are not interfaces. The kernel uses these names for settings of all interfaces.
fn is_interface(text: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=INTERFACE_MAX).contains(&text.len())
        && text.bytes().all(legal)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && !["all", "default"].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words() {
        for text in ["a", "two-planes", "p0-t0-001", "8x512", &"a".repeat(63)] {
            assert!(text.parse::<FabricName>().is_ok() && text.parse::<DeviceName>().is_ok(), "{text}");
        }
        for text in
            ["", "..", ".", "../../x", "a/b", "A", "a b", "a\n", "-a", "a-", "a;b", "$(id)", &"a".repeat(64)]
        {
            assert!(text.parse::<FabricName>().is_err() && text.parse::<DeviceName>().is_err(), "{text}");
        }
        assert!("a--b".parse::<FabricName>().is_ok() && "a--b".parse::<DeviceName>().is_err());
    }

    #[test]
    fn interfaces_fit_the_kernel() {
        for text in ["eth1", "nic0p0", "Ethernet512", "lo", "sr0", "eth0.100", "swp1s0"] {
            assert!(text.parse::<Interface>().is_ok(), "{text}");
        }
        for text in ["", ".", "..", "-a", "eth/1", "eth 1", "sixteen-letters1", "all", "default", "a\tb", "é"]
        {
            assert!(text.parse::<Interface>().is_err(), "{text}");
        }
    }
}
