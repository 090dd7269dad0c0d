//! The switch operating systems that closc renders for: a list, and a file of facts for each.
//!
//! In: `templates/<os>/os.yaml`, at compile time. Out: [`Os`], and the facts about each. Invariants: every file
//! contains all facts declared here (a test reads all files), so other code need not compare names.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use closc_qos::profile::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::{Capability, Row, Support, required_capabilities};
use crate::release::Release;
use crate::telemetry::Telemetry;

/// Generates the enum, its keywords and its facts from one list, in the order of listings.
macro_rules! oses {
    ($($(#[$doc:meta])* $name:ident, $word:literal;)+) => {
        /// A switch operating system or target that closc renders for.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
        )]
        pub enum Os {
            $($(#[$doc])* #[serde(rename = $word)] $name,)+
        }

        impl Os {
            /// All targets, in the order of listings.
            pub const ALL: [Os; [$($word),+].len()] = [$(Os::$name),+];

            /// Returns the keyword in YAML and in artefact paths.
            pub fn keyword(self) -> &'static str {
                match self {
                    $(Os::$name => $word,)+
                }
            }
        }

        /// Facts of all targets, in the order of the list.
        static FACTS: LazyLock<[Facts; Os::ALL.len()]> = LazyLock::new(|| {
            [$(include_str!(concat!("../../../templates/", $word, "/os.yaml"))),+].map(facts)
        });
    };
}

oses! {
    /// SONiC: `config_db.json`.
    Sonic, "sonic";
    /// SONiC hardware with P4Runtime (PINS): table entries, and `config_db.json` for everything except routes.
    Pins, "pins";
    /// FRRouting on Linux: `frr.conf`.
    Frr, "frr";
    /// SRv6 of the Linux kernel: an `ip -batch` file and sysctls.
    Linux, "linux";
    /// A P4Runtime target: pipeline and table entries.
    P4, "p4";
    /// Arista EOS: `eos.conf`.
    Eos, "eos";
    /// NVIDIA Cumulus Linux, configured by NVUE: `nvue.yaml`.
    Nvue, "nvue";
}

/// The releases of an operating system.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Releases {
    /// The release that closc assumes if a fabric file states none.
    pub default: Release,
    /// Supported releases in ascending order; empty if `oldest` and all later releases are supported.
    #[serde(default)]
    pub known: Vec<Release>,
    /// The oldest supported release, if releases are not listed.
    pub oldest: Option<Release>,
    /// The first release with each capability, by the key of the capability.
    #[serde(default)]
    since: BTreeMap<String, Release>,
    /// The FRRouting version in each release of the operating system; if absent, the two versions are equal.
    #[serde(default)]
    frr: BTreeMap<Release, Release>,
}

/// Behaviour of copper ports with the rendered configuration.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Negotiation {
    /// Ports force the speed.
    Forced,
    /// Ports negotiate, starting with a release.
    Since(Release),
}

impl Releases {
    /// Returns whether a release is supported.
    pub fn supports(&self, release: Release) -> bool {
        match self.oldest {
            Some(oldest) => release.has_form_of(oldest) && oldest <= release,
            None => self.known.contains(&release),
        }
    }

    /// Describes the supported releases, for messages and pages.
    pub fn description(&self) -> String {
        if let Some(oldest) = self.oldest {
            return format!("`{oldest}` or later");
        }
        let known: Vec<String> = self.known.iter().map(|release| format!("`{release}`")).collect();
        known.join(", ")
    }

    /// Returns the assumed release and the later ones, in ascending order. Branches from which releases are created are
    /// not included.
    pub fn from_default(&self) -> impl Iterator<Item = Release> {
        let later = self.known.iter().copied().filter(|release| *release > self.default);
        std::iter::once(self.default).chain(later).filter(|release| *release != Release::Master)
    }

    /// Returns the FRRouting version in a release of the operating system.
    pub fn frr(&self, release: Release) -> Release {
        self.frr.get(&release).copied().unwrap_or(release)
    }

    /// Returns the first release with a capability, if not all known releases have it.
    pub fn since(&self, capability: Capability) -> Option<Release> {
        self.since.get(capability.key()).copied()
    }
}

/// Facts about one operating system. Its file explains each fact.
// These are independent facts, not states of one value.
#[allow(clippy::struct_excessive_bools)]
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    title: String,
    pipeline: Option<String>,
    #[serde(default)]
    takes_pipelines: bool,
    #[serde(default)]
    leaves_queues: bool,
    has_hwskus: bool,
    has_static_neighbours: bool,
    has_own_macs: bool,
    has_play: bool,
    #[serde(default)]
    port_names: Vec<String>,
    port_mtu_max: Option<u16>,
    port_number_max: Option<u16>,
    multipath_max: Option<u16>,
    balanced_groups_max: Option<u32>,
    thresholds_taken: Option<(i8, i8)>,
    watchdog_poll_millis: Option<(u32, u32)>,
    trim_size: Option<(u32, u32)>,
    trim_priority_max: Option<u8>,
    #[serde(default)]
    shares_thresholds: bool,
    queue_packets: Option<u32>,
    covering_split: Option<u8>,
    pools_at_reload: Option<String>,
    negotiation: Option<Negotiation>,
    #[serde(default)]
    segments_on: Vec<String>,
    releases: Option<Releases>,
    telemetry: Telemetry,
    capabilities: Row,
}

fn facts(text: &str) -> Facts {
    serde_saphyr::from_str(text).expect("a test reads the facts of every operating system")
}

impl Os {
    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }

    /// Returns the display name: the keyword, and the pipeline if there is one.
    pub fn title(self) -> &'static str {
        &self.facts().title
    }

    /// Returns whether a controller writes the tables of switches, over P4Runtime.
    pub fn is_programmed(self) -> bool {
        self.facts().pipeline.is_some()
    }

    /// Returns the P4 pipeline whose tables a controller writes, if there is one.
    pub fn pipeline(self) -> Option<&'static str> {
        self.facts().pipeline.as_deref()
    }

    /// Returns whether a platform may have a pipeline other than the default.
    pub fn takes_pipelines(self) -> bool {
        self.facts().takes_pipelines
    }

    /// Returns whether the site, and not closc, configures schedulers and buffer shares of hardware queues.
    pub fn leaves_queues(self) -> bool {
        self.facts().leaves_queues
    }

    /// Returns the capabilities that a profile requires of hardware and that closc does not render: those that the site
    /// configures, and those that are lost.
    pub fn lost_hardware_capabilities(self, profile: &Profile) -> (Vec<Capability>, Vec<Capability>) {
        let of_queues = |capability: &Capability| {
            self.leaves_queues() && matches!(capability, Capability::Weights | Capability::Thresholds)
        };
        self.lost_chip_capabilities(profile).into_iter().partition(of_queues)
    }

    /// Returns whether switches read lanes, SAI profile and buffers from the folder of a hwsku.
    pub fn has_hwskus(self) -> bool {
        self.facts().has_hwskus
    }

    /// Returns whether a switch has static neighbours on its NIC ports, so that NICs must have the expected MAC
    /// addresses.
    pub fn has_static_neighbours(self) -> bool {
        self.facts().has_static_neighbours
    }

    /// Returns whether a switch keeps its factory MAC address, so that neighbours must resolve it.
    pub fn has_own_macs(self) -> bool {
        self.facts().has_own_macs
    }

    /// Returns the values of `naming` that give ports names of the operating system; empty if it accepts all.
    pub fn port_names(self) -> &'static [String] {
        &self.facts().port_names
    }

    /// Returns whether the playbook of `closc export ansible` delivers the files of switches.
    pub fn has_play(self) -> bool {
        self.facts().has_play
    }

    /// Returns the largest MTU that the operating system accepts on a port, if it has a limit.
    pub fn port_mtu_max(self) -> Option<u16> {
        self.facts().port_mtu_max
    }

    /// Returns the maximum number of BGP paths per prefix, if there is a limit in addition to that of the platform.
    pub fn multipath_max(self) -> Option<u16> {
        self.facts().multipath_max
    }

    /// Returns the maximum number of ECMP groups that are balanced by load, if there is a limit.
    pub fn balanced_groups_max(self) -> Option<u32> {
        self.facts().balanced_groups_max
    }

    /// Returns the largest number that a front-panel port can have, if there is a limit.
    pub fn port_number_max(self) -> Option<u16> {
        self.facts().port_number_max
    }

    /// Returns whether forwarding of uSIDs is documented for an ASIC, which is identified by its headroom formula.
    pub fn forwards_segments_on(self, headroom_model: &str) -> bool {
        let documented = &self.facts().segments_on;
        documented.is_empty() || documented.iter().any(|model| model == headroom_model)
    }

    /// Returns the exponents that are accepted for buffer thresholds, if not all are.
    pub fn thresholds_taken(self) -> Option<RangeInclusive<i8>> {
        self.facts().thresholds_taken.map(|(least, most)| least..=most)
    }

    /// Returns the accepted polling intervals of the watchdog in milliseconds, if the watchdog counts polls instead of
    /// time.
    pub fn watchdog_poll_millis(self) -> Option<RangeInclusive<u32>> {
        self.facts().watchdog_poll_millis.map(|(least, most)| least..=most)
    }

    /// Returns the accepted sizes of trimmed packets in bytes, if there are limits in addition to those of the
    /// platform.
    pub fn trim_size(self) -> Option<RangeInclusive<u32>> {
        self.facts().trim_size.map(|(least, most)| least..=most)
    }

    /// Returns the highest switch priority that can identify trimmed packets, if there is a limit.
    pub fn trim_priority_max(self) -> Option<u8> {
        self.facts().trim_priority_max
    }

    /// Returns whether lossless classes share one ingress and one egress threshold, and all other classes share one
    /// ingress threshold.
    pub fn shares_thresholds(self) -> bool {
        self.facts().shares_thresholds
    }

    /// Returns the number of ports of a split that disables the next cage, if there is such a split.
    pub(crate) fn covering_split(self) -> Option<u8> {
        self.facts().covering_split
    }

    /// Returns the number of full-size packets that a queue holds, if queues are those of a kernel. Each queue then has
    /// its own length, and no ASIC is involved.
    pub fn queue_packets(self) -> Option<u32> {
        self.facts().queue_packets
    }

    /// Returns the reason why a change of buffer pool sizes needs a reload, if sizes are configured but read only at a
    /// reload.
    pub fn pools_at_reload(self) -> Option<&'static str> {
        self.facts().pools_at_reload.as_deref()
    }

    /// Returns whether ports negotiate speed and train their links in a release, with the rendered configuration;
    /// `None` if a driver decides.
    pub fn negotiates(self, release: Option<Release>) -> Option<bool> {
        match self.facts().negotiation? {
            Negotiation::Forced => Some(false),
            Negotiation::Since(since) => Some(release.is_some_and(|release| since <= release)),
        }
    }

    /// Returns the release that closc assumes if a fabric file states none.
    pub fn default_release(self) -> Option<Release> {
        self.releases().map(|releases| releases.default)
    }

    /// Returns the releases of the operating system, if closc distinguishes them.
    pub fn releases(self) -> Option<&'static Releases> {
        self.facts().releases.as_ref()
    }

    /// Returns the telemetry settings, by which counters of a running switch are read.
    pub fn telemetry(self) -> &'static Telemetry {
        &self.facts().telemetry
    }

    /// Returns the support for a capability.
    pub fn support(self, capability: Capability) -> Support {
        self.facts().capabilities.get(capability)
    }

    /// Returns whether closc renders a capability, completely or with a limit that has a separate warning.
    pub fn renders(self, capability: Capability) -> bool {
        match self.support(capability) {
            Support::Whole | Support::Part(_) => true,
            Support::Not(_) => false,
        }
    }

    /// Returns the capabilities that a profile requires of a switch and that closc does not render.
    pub fn lost_capabilities(self, profile: &Profile) -> Vec<Capability> {
        required_capabilities(profile).into_iter().filter(|capability| !self.renders(*capability)).collect()
    }

    /// As [`Os::lost_capabilities`], for a switch whose ASIC queues packets, so that settings of kernel queues have no
    /// effect.
    pub(crate) fn lost_chip_capabilities(self, profile: &Profile) -> Vec<Capability> {
        match self.queue_packets() {
            Some(_) => required_capabilities(profile),
            None => self.lost_capabilities(profile),
        }
    }
}

#[cfg(test)]
mod tests {
    use closc_qos::profile::Preset;

    use super::*;

    #[test]
    fn what_is_not_whole_has_a_reason() {
        for os in Os::ALL {
            assert!(os.title().starts_with(os.keyword()), "{os:?}");
            for capability in Capability::ALL {
                match os.support(*capability) {
                    Support::Whole => {}
                    Support::Part(why) | Support::Not(why) => {
                        assert!(why.len() > 10 && !why.ends_with('.'), "{os:?} {capability:?}: `{why}`");
                    }
                }
            }
        }
    }

    #[test]
    fn subscriptions_have_names_of_their_own_and_paths() {
        let mut ports = 0;
        for gnmi in Os::ALL.into_iter().filter_map(|os| os.telemetry().gnmi.as_ref()) {
            let names: BTreeMap<&str, usize> =
                gnmi.subscriptions.iter().map(|one| (one.name.as_str(), one.paths.len())).collect();
            assert_eq!(names.len(), gnmi.subscriptions.len(), "{names:?}");
            assert!(names.values().all(|paths| *paths > 0), "{names:?}");
            ports += usize::from(names.contains_key("ports"));
        }
        assert!(ports >= 4, "{ports}");
    }

    #[test]
    fn releases_are_in_order_and_say_what_came_when() {
        for releases in Os::ALL.into_iter().filter_map(Os::releases) {
            assert!(releases.known.is_sorted() && releases.supports(releases.default));
            assert_ne!(releases.known.is_empty(), releases.oldest.is_none());
            for (key, release) in &releases.since {
                assert!(Capability::ALL.iter().any(|capability| capability.key() == key), "{key}");
                assert!(releases.supports(*release), "{key}");
            }
            let has_frr = releases.known.iter().all(|release| releases.frr.contains_key(release));
            assert!(releases.frr.is_empty() || has_frr, "each release has an FRRouting version");
        }
    }

    #[test]
    fn facts_say_everything_and_nothing_else() {
        let text = include_str!("../../../templates/linux/os.yaml");
        for broken in
            [format!("{text}colour: blue\n"), text.replace("  bgp:", "  bgb:"), text.replace("title", "#")]
        {
            assert!(serde_saphyr::from_str::<Facts>(&broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn sonic_renders_every_preset_whole() {
        for preset in Preset::ALL {
            assert_eq!(Os::Sonic.lost_capabilities(&preset.profile()), [], "{preset}");
        }
    }

    #[test]
    fn no_qos_asks_for_nothing() {
        assert_eq!(required_capabilities(&Preset::None.profile()), []);
        for preset in Preset::ALL.into_iter().filter(|preset| *preset != Preset::None) {
            let lost = Os::Frr.lost_chip_capabilities(&preset.profile());
            assert!(lost.contains(&Capability::Classes), "{preset}: {lost:?}");
            assert!(!Os::Frr.lost_capabilities(&preset.profile()).contains(&Capability::Classes), "{preset}");
        }
    }

    #[test]
    fn a_pipeline_neither_pauses_nor_weighs() {
        let lossless = Os::P4.lost_capabilities(&Preset::Lossless.profile());
        assert!(lossless.contains(&Capability::Pauses) && lossless.contains(&Capability::Weights));
        let trim = Os::P4.lost_capabilities(&Preset::LossyTrim.profile());
        assert_eq!(trim, [Capability::Weights, Capability::Thresholds]);
    }
}
