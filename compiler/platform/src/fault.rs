//! The register of known faults: output of closc that certain releases of an operating system handle incorrectly.
//!
//! In: `faults.yaml`, built into the program. Out: [`Fault`]s, and which of them concern a switch. Invariants: every
//! row has a public source. Whether a row concerns a switch depends only on the release, the ASIC and the output.

use std::sync::LazyLock;

use closc_qos::headroom::{Chip, Model};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::capability::{Capability, Support};
use crate::{Maker, Os, Platform, Release};

/// A fault that a public source describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Repository and number of the issue or pull request.
    pub source: String,
    /// Operating systems with the fault.
    pub oses: Vec<Os>,
    /// First release with the fault; the oldest one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Release>,
    /// Last release with the fault. If absent, the newest release still has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Release>,
    /// Images of these releases that have the fault, if not all do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    images: Option<String>,
    /// Maker of the ASICs with the fault, if not all ASICs have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    asics: Option<Maker>,
    /// The output for which the fault matters.
    when: Condition,
    /// The affected area.
    pub impact: Impact,
    /// Description of the fault, which follows the name of the release in messages.
    pub effect: String,
    /// A workaround for the operator.
    pub workaround: String,
    /// The rule that reports the fault, if there is a separate one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// Condition on the output for a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Condition {
    /// Any output.
    Always,
    /// Local segments.
    Segments,
    /// Several locators.
    SeveralLocators,
    /// Static routes that the operating system installs from its own configuration.
    StaticRoutes,
    /// BGP sessions over unnumbered ports.
    Bgp,
    /// Fields of the ECMP hash.
    HashFields,
    /// ECN marking.
    Marking,
    /// More front-panel ports than this number.
    PortsOver(u64),
}

/// Area that a fault affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Impact {
    /// Packets are forwarded differently from the configuration.
    Forwarding,
    /// A change takes longer, or needs another method.
    Delivery,
    /// None, because closc writes its output so that the fault has no effect.
    Avoided,
}

/// Facts about the output for a switch. The facts are independent, and each condition tests one of them.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputFacts {
    /// Local segments.
    pub segments: bool,
    /// More than one locator.
    pub several_locators: bool,
    /// Static routes.
    pub static_routes: bool,
    /// BGP.
    pub bgp: bool,
    /// Fields of the ECMP hash.
    pub hash_fields: bool,
    /// ECN marking.
    pub marking: bool,
    /// Number of front-panel ports.
    pub ports: u64,
}

impl Condition {
    fn holds(self, rendered: &OutputFacts) -> bool {
        match self {
            Condition::Always => true,
            Condition::Segments => rendered.segments,
            Condition::SeveralLocators => rendered.several_locators,
            Condition::StaticRoutes => rendered.static_routes,
            Condition::Bgp => rendered.bgp,
            Condition::HashFields => rendered.hash_fields,
            Condition::Marking => rendered.marking,
            Condition::PortsOver(most) => rendered.ports > most,
        }
    }

    /// Describes the condition for messages.
    fn description(self) -> String {
        match self {
            Condition::Always => "every configuration".to_owned(),
            Condition::Segments => "uN segments".to_owned(),
            Condition::SeveralLocators => "several locators".to_owned(),
            Condition::StaticRoutes => "static routes".to_owned(),
            Condition::Bgp => "BGP over unnumbered ports".to_owned(),
            Condition::HashFields => "fields of the ECMP hash".to_owned(),
            Condition::Marking => "ECN marking".to_owned(),
            Condition::PortsOver(most) => format!("more than {most} ports"),
        }
    }
}

impl Impact {
    /// Returns the keyword.
    pub fn keyword(self) -> &'static str {
        match self {
            Impact::Forwarding => "forwarding",
            Impact::Delivery => "delivery",
            Impact::Avoided => "avoided",
        }
    }
}

impl Fault {
    /// Returns every known fault, in the order of the register.
    pub fn all() -> &'static [Fault] {
        static ALL: LazyLock<Vec<Fault>> = LazyLock::new(|| {
            serde_saphyr::from_str(include_str!("../faults.yaml")).expect("a test reads the register")
        });
        &ALL
    }

    /// Returns whether a switch of a platform can have the fault with any operating system and release.
    pub fn concerns_platform(&self, platform: &Platform) -> bool {
        self.oses.iter().any(|os| platform.supports(*os))
            && self.asics.is_none_or(|asics| maker(platform) == Some(asics))
    }

    /// Returns whether a release has the fault.
    fn concerns_release(&self, os: Os, release: Release) -> bool {
        self.oses.contains(&os)
            && self.from.is_none_or(|from| from <= release)
            && self.until.is_none_or(|until| release <= until)
    }

    /// Returns whether the fault concerns a switch.
    pub fn concerns(
        &self,
        (os, release): (Os, Release),
        platform: &Platform,
        rendered: &OutputFacts,
    ) -> bool {
        self.concerns_release(os, release) && self.concerns_platform(platform) && self.when.holds(rendered)
    }

    /// Returns the faults of a release that change how a switch forwards packets.
    pub fn of_forwarding(
        on: (Os, Release),
        platform: &Platform,
        rendered: &OutputFacts,
    ) -> impl Iterator<Item = &'static Fault> {
        let changes = |fault: &&Fault| fault.impact == Impact::Forwarding;
        Fault::all().iter().filter(changes).filter(move |fault| fault.concerns(on, platform, rendered))
    }

    /// Returns whether a release programs fewer locators than the configuration contains.
    pub fn drops_locators(os: Os, release: Release) -> bool {
        let drops = |fault: &Fault| matches!(fault.when, Condition::SeveralLocators);
        Fault::all().iter().any(|fault| drops(fault) && fault.concerns_release(os, release))
    }

    /// Describes the ASICs and the output that the fault affects, for messages.
    pub fn scope(&self) -> [String; 2] {
        let asics = self.asics.map_or("all", Maker::name);
        [asics.to_owned(), self.when.description()]
    }

    /// Formats the releases with the fault for messages: `202505 to 202511`.
    pub fn releases(&self) -> String {
        let range = match (self.from, self.until) {
            (Some(from), Some(until)) if from == until => from.to_string(),
            (Some(from), Some(until)) => format!("{from} to {until}"),
            (Some(Release::Master), None) => Release::Master.to_string(),
            (Some(from), None) => format!("{from} and later"),
            (None, Some(until)) => format!("up to {until}"),
            (None, None) => "all releases".to_owned(),
        };
        match &self.images {
            Some(images) => format!("{range}; {images}"),
            None => range,
        }
    }
}

/// Returns the maker of a platform's ASIC, if the platform states it, or if it follows from the headroom model.
fn maker(platform: &Platform) -> Option<Maker> {
    let stated = platform.sonic.as_ref().and_then(|sonic| sonic.asic);
    if stated.is_some() {
        return stated;
    }
    let model: Model = platform.buffer.as_ref()?.headroom_model.parse().ok()?;
    match model {
        Model::Chip(Chip::Teralynx10) | Model::Ieee | Model::Tofino2 => None,
        Model::Chip(_) => Some(Maker::Broadcom),
        Model::Spectrum(_) | Model::Classic(_) => model.is_nvidia().then_some(Maker::Nvidia),
    }
}

impl Os {
    /// Returns whether the assumed release or a later one programs every locator of a switch.
    pub fn programs_locators(self) -> bool {
        match self.support(Capability::SeveralLocators) {
            Support::Whole => true,
            Support::Part(_) => self.releases().is_some_and(|releases| {
                releases.from_default().any(|release| !Fault::drops_locators(self, release))
            }),
            Support::Not(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_sourced_and_of_an_accepted_form() {
        for fault in Fault::all() {
            let (repository, number) = fault.source.split_once('#').expect("a number");
            assert!(repository.contains('/') && number.parse::<u32>().is_ok(), "{}", fault.source);
            assert!(!fault.effect.ends_with('.') && !fault.workaround.ends_with('.'), "{}", fault.source);
            assert!(fault.from.is_none_or(|from| fault.until.is_none_or(|until| from <= until)));
            for os in &fault.oses {
                let releases = os.releases().expect("rows are of systems with releases");
                for release in fault.from.iter().chain(&fault.until) {
                    assert!(release.has_form_of(releases.default), "{}: {release}", fault.source);
                }
            }
        }
    }

    /// Public reports about output that closc renders are registered.
    #[test]
    fn reports_are_registered_for_their_systems() {
        for (os, source) in [
            (Os::Sonic, "FRRouting/frr#21742"),
            (Os::Frr, "FRRouting/frr#21742"),
            (Os::Sonic, "sonic-net/sonic-swss#3986"),
            (Os::Sonic, "sonic-net/sonic-utilities#4226"),
            (Os::Sonic, "sonic-net/sonic-buildimage#27547"),
            (Os::Sonic, "sonic-net/sonic-buildimage#26959"),
            (Os::Sonic, "sonic-net/sonic-buildimage#22344"),
            (Os::Sonic, "sonic-net/sonic-buildimage#21423"),
            (Os::Sonic, "sonic-net/sonic-buildimage#22370"),
            (Os::Sonic, "sonic-net/sonic-buildimage#24457"),
            (Os::Sonic, "sonic-net/sonic-buildimage#23585"),
        ] {
            let has = Fault::all().iter().any(|fault| fault.source == source && fault.oses.contains(&os));
            assert!(has, "{source}");
        }
    }

    /// Dates of commits in sonic-buildimage: 4011f600 (202505), 98f71509 (master; 202605 starts on 3 June 2026),
    /// 2e1a5630 (202605) and 392079e0 (master), a732689e (202511, the first one with sonic-utilities 667f4b32).
    #[test]
    fn images_with_a_fault_are_named_by_branch_and_day() {
        let of = |number: &str| {
            let fault = Fault::all().iter().find(|fault| fault.source.ends_with(number)).unwrap();
            let releases = ["202411", "202505", "202511", "202605", "master"];
            let has = |release: &&str| fault.concerns_release(Os::Sonic, release.parse().unwrap());
            let concerned = releases.into_iter().filter(has).collect::<Vec<_>>().join(" ");
            (concerned, fault.images.clone().unwrap_or_default(), fault.impact)
        };
        let (releases, images, _) = of("#21423");
        assert!(releases == "202411 202505" && images.contains("202505 before 15 June 2025"), "{images}");
        let (releases, images, _) = of("#26959");
        assert!(releases == "master" && images.contains("28 March to 14 May 2026"), "{images}");
        let (releases, images, _) = of("#28463");
        assert!(releases == "202605 master" && images.contains("202605 before 31 July 2026"), "{images}");
        assert!(images.contains("master before 3 August 2026"), "{images}");
        let (releases, images, _) = of("sonic-utilities#4226");
        assert!(releases == "202411 202505 202511" && images.contains("20 February 2026"), "{images}");
        // closc writes `frr_mgmt_framework_config: false`, so SONiC does not treat the routing mode `separated` as
        // `unified`.
        assert_eq!(of("#27547").2, Impact::Avoided);
    }

    #[test]
    fn a_fault_is_of_releases_asics_and_output() {
        let catalogue = crate::Catalogue::builtin();
        let hash = Fault::all().iter().find(|fault| fault.source == "sonic-net/sonic-swss#3986").unwrap();
        let (broadcom, nvidia) =
            (catalogue.get("th5-512x100g").unwrap(), catalogue.get("spectrum4-sn5600").unwrap());
        let rendered = OutputFacts { hash_fields: true, ..OutputFacts::default() };
        let on = (Os::Sonic, Release::Branch(202_511));
        assert!(hash.concerns(on, broadcom, &rendered));
        assert!(!hash.concerns(on, nvidia, &rendered));
        // In entries without a buffer, the maker is stated explicitly.
        for (id, is_concerned) in
            [("nokia-ixr7220-h5-64d", true), ("nvidia-sn5400", false), ("marvell-d64p512t", false)]
        {
            assert_eq!(hash.concerns(on, catalogue.get(id).unwrap(), &rendered), is_concerned, "{id}");
        }
        assert!(!hash.concerns(on, broadcom, &OutputFacts::default()));
        assert!(!hash.concerns((Os::Frr, Release::version(10, 5)), broadcom, &rendered));
        // Branch 202505 has had the fix since 15 June 2025 (sonic-buildimage 22944), so older images have the fault.
        let kept = Fault::all().iter().find(|fault| fault.source.ends_with("#21423")).unwrap();
        assert!(kept.concerns_release(Os::Sonic, Release::Branch(202_411)));
        assert!(kept.concerns_release(Os::Sonic, Release::Branch(202_505)));
        assert!(!kept.concerns_release(Os::Sonic, Release::Branch(202_511)));
        let ignored = Fault::all().iter().find(|fault| fault.source.ends_with("#23585")).unwrap();
        assert!(ignored.concerns_release(Os::Sonic, Release::Branch(202_505)));
        assert!(!ignored.concerns_release(Os::Sonic, Release::Branch(202_511)));
        assert!(!ignored.concerns_release(Os::Sonic, Release::Master));
        assert!(Fault::drops_locators(Os::Sonic, Release::Branch(202_511)));
        assert!(!Fault::drops_locators(Os::Sonic, Release::Branch(202_605)));
        assert!(!Fault::drops_locators(Os::Nvue, Release::version(5, 16)));
    }
}
