//! Parts of factory configurations that are lost when a configuration is replaced or reloaded.
//!
//! In: `factory.yaml`, built into the program. Out: [`FactorySetting`]s of an operating system and release, and the
//! site configuration that keeps them. Invariants: every row has a public source. A place is an NVUE path, the first
//! words of an EOS command, a table of SONiC's CONFIG_DB, or a file on the switch.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Os, Release};

/// A setting of the factory configuration, or a file that restores one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FactorySetting {
    /// Operating systems that have the setting.
    pub oses: Vec<Os>,
    /// First release with the setting; the oldest one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Release>,
    /// Last release with the setting; the newest one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Release>,
    /// Place in the configuration.
    pub place: String,
    /// Display name.
    pub title: String,
    /// Consequence if the setting is absent.
    pub impact: FactoryImpact,
    /// The command or event that removes the setting.
    pub removed_by: String,
    /// State of the switch without the setting.
    pub effect: String,
    /// Site configuration that keeps the setting, in the language of the switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skeleton: Option<String>,
    /// Public source.
    pub source: String,
}

/// Consequence of an absent setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FactoryImpact {
    /// The switch is unreachable, or accounts are missing.
    Access,
    /// The control plane of the switch is unprotected.
    Protection,
    /// The switch loses its routing.
    Routing,
    /// The default of the release applies.
    Default,
}

impl FactoryImpact {
    /// Returns the keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            FactoryImpact::Access => "access",
            FactoryImpact::Protection => "protection",
            FactoryImpact::Routing => "routing",
            FactoryImpact::Default => "default",
        }
    }

    /// Returns whether a configuration without the setting gets a warning.
    fn warns(self) -> bool {
        match self {
            FactoryImpact::Access | FactoryImpact::Protection => true,
            FactoryImpact::Routing | FactoryImpact::Default => false,
        }
    }
}

impl FactorySetting {
    /// Returns every setting, in the order of the register.
    pub fn all() -> &'static [FactorySetting] {
        static ALL: LazyLock<Vec<FactorySetting>> = LazyLock::new(|| {
            serde_saphyr::from_str(include_str!("../factory.yaml")).expect("a test reads the register")
        });
        &ALL
    }

    /// Returns the settings of a release, or of the assumed release if none is given.
    pub fn of(os: Os, release: Option<Release>) -> impl Iterator<Item = &'static FactorySetting> {
        let release = release.or(os.releases().map(|releases| releases.default));
        FactorySetting::all().iter().filter(move |setting| {
            let within = |release: Release| {
                setting.from.is_none_or(|from| from <= release)
                    && setting.until.is_none_or(|until| release <= until)
            };
            setting.oses.contains(&os) && release.is_none_or(within)
        })
    }

    /// Returns the settings whose absence from a configuration needs a warning.
    pub fn absent(
        os: Os,
        release: Option<Release>,
        places: &[String],
    ) -> impl Iterator<Item = &'static FactorySetting> {
        FactorySetting::of(os, release)
            .filter(|setting| setting.impact.warns())
            .filter(|setting| !places.iter().any(|place| setting.is_at(place)))
    }

    /// Returns the files of SONiC that set the routing mode at boot.
    pub fn boot_files() -> impl Iterator<Item = &'static FactorySetting> {
        FactorySetting::all().iter().filter(|setting| setting.is_file())
    }

    /// Returns whether the row is a file of the switch and not a setting.
    pub fn is_file(&self) -> bool {
        self.place.starts_with('/')
    }

    /// Returns whether a path, command or table belongs to the setting.
    pub fn is_at(&self, place: &str) -> bool {
        let place = place.strip_prefix("no ").unwrap_or(place);
        // The number of a management port follows without a space.
        let ends = |rest: &str| {
            rest.is_empty() || rest.starts_with(['.', ' ', '|']) || self.place.ends_with("Management")
        };
        place.strip_prefix(&*self.place).is_some_and(ends)
    }

    /// Formats the releases with the setting for messages: `5.9 and later`.
    pub fn releases(&self) -> String {
        match (self.from, self.until) {
            (Some(from), Some(until)) => format!("{from} to {until}"),
            (Some(from), None) => format!("{from} and later"),
            (None, Some(until)) => format!("up to {until}"),
            (None, None) => "all releases".to_owned(),
        }
    }

    /// Returns a sentence for messages, which does not mention switches.
    pub fn sentence(&self) -> String {
        let FactorySetting { place, title, removed_by, effect, .. } = self;
        let verb = if self.is_file() { "reads it at boot" } else { "removes it" };
        format!("`{place}` ({title}): {removed_by} {verb}, and {effect}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_source_and_releases_of_its_systems() {
        for setting in FactorySetting::all() {
            assert!(setting.source.len() > 20 && !setting.effect.ends_with('.'), "{}", setting.place);
            assert!(!setting.oses.is_empty(), "{}", setting.place);
            // A file is not part of the configuration, so site configuration cannot keep it.
            assert!(setting.skeleton.is_none() || !setting.is_file(), "{}", setting.place);
            assert_eq!(setting.impact == FactoryImpact::Routing, setting.is_file(), "{}", setting.place);
            for os in &setting.oses {
                let releases = os.releases().expect("rows are of systems with releases");
                for release in setting.from.iter().chain(&setting.until) {
                    assert!(release.has_form_of(releases.default), "{}: {release}", setting.place);
                }
            }
        }
    }

    #[test]
    fn settings_are_of_a_release() {
        let dialect = |release: &str| -> Vec<&str> {
            let release = release.parse().expect("a release");
            let found = FactorySetting::of(Os::Nvue, Some(release))
                .filter(|setting| setting.place == "interface.eth0");
            found.filter_map(|setting| setting.skeleton.as_deref()).collect()
        };
        for (release, part) in [("5.14", "ip: {"), ("5.15", "ipv4: {"), ("5.16", "ipv4: {")] {
            let [skeleton] = dialect(release)[..] else { panic!("{release}") };
            assert!(skeleton.contains(part), "{release}: {skeleton}");
        }
        let firewall = |release: &str| {
            let release = release.parse().expect("a release");
            FactorySetting::of(Os::Nvue, Some(release))
                .filter(|row| row.impact == FactoryImpact::Protection)
                .count()
        };
        assert_eq!([firewall("5.8"), firewall("5.9")], [0, 2]);
        // sonic-buildimage, gnmi-native.sh: `--bind_address 127.0.0.1` on master only.
        let server = |release: &str| -> Vec<bool> {
            let release = release.parse().expect("a release");
            let found = FactorySetting::of(Os::Sonic, Some(release)).filter(|row| row.place == "GNMI");
            found.map(|row| row.effect.contains("loopback")).collect()
        };
        assert_eq!(
            [server("202411"), server("202605"), server("master")],
            [vec![false], vec![false], vec![true]]
        );
    }

    #[test]
    fn absent_settings_are_named_by_their_place() {
        let places = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let absent = |os: Os, texts: &[&str]| -> Vec<&str> {
            FactorySetting::absent(os, None, &places(texts)).map(|setting| setting.place.as_str()).collect()
        };
        assert_eq!(
            absent(Os::Eos, &["username ops secret x", "interface Management1", "no aaa root"]),
            ["management"]
        );
        assert_eq!(
            absent(Os::Eos, &["usernames", "interface Management1", "aaa x", "management ssh"]),
            ["username"]
        );
        let firewall =
            ["system.control-plane.acl.acl-default-dos", "system.control-plane.acl.acl-default-whitelist"];
        let kept = [
            "interface.eth0.type",
            "system.aaa.user.cumulus.role",
            "system.control-plane.acl.acl-default-dosx",
        ];
        assert_eq!(absent(Os::Nvue, &kept), firewall);
        assert_eq!(absent(Os::Sonic, &["MGMT_INTERFACE|eth0|192.0.2.1/24"]), [""; 0]);
        assert_eq!(absent(Os::Linux, &[]), [""; 0]);
    }
}
