//! Readers, one per kind of artefact, independent of the renderers.
//!
//! `linux` reads nodes; `netplan` and `networkd` read nodes configured by these tools. Each switch language has one
//! module, which is declared and listed here. `language_reader` defines the interface of such a module.

pub(crate) mod bgp;
pub(crate) mod blocks;
pub(crate) mod cables;
pub(crate) mod eos;
pub(crate) mod error;
pub(crate) mod filters;
pub(crate) mod frr;
pub(crate) mod json;
pub(crate) mod language_reader;
pub(crate) mod library;
pub(crate) mod linux;
pub(crate) mod manifest;
mod media;
pub(crate) mod nccl;
pub(crate) mod netplan;
pub(crate) mod networkd;
pub(crate) mod nic_qos;
pub(crate) mod nvue;
pub(crate) mod p4;
pub(crate) mod path_table;
pub(crate) mod pins;
pub(crate) mod sections;
pub(crate) mod site;
pub(crate) mod sonic;
pub(crate) mod text_routes;
pub(crate) mod undefined;
pub(crate) mod unjudged;
pub(crate) mod value;
pub(crate) mod yaml;

use language_reader::{LanguageReader, Pipeline};
use site::{SiteGroup, SiteSetting};

/// All languages of switches. The language of a switch is the first one whose main file is present.
const READERS: [&LanguageReader; 8] =
    [&pins::ROOM, &sonic::ROOM, &frr::ROOM, &p4::ROOM, &p4::tna::ROOM, &linux::ROOM, &eos::ROOM, &nvue::ROOM];

/// Returns the language module of a switch, determined from its files.
pub(crate) fn reader_of(has: impl Fn(&str) -> bool) -> Option<&'static LanguageReader> {
    READERS.into_iter().find(|reader| has(reader.main()))
}

/// Returns the pipelines of all languages that have one, each with the name of the language's main file.
pub(crate) fn pipelines() -> impl Iterator<Item = (&'static Pipeline, &'static str)> {
    READERS.into_iter().filter_map(|reader| Some((reader.pipeline?, reader.main())))
}

/// Returns whether a file of a switch with this name belongs to any language.
pub(crate) fn is_known(name: &str) -> bool {
    READERS.iter().any(|reader| reader.files.iter().any(|file| file.name == name))
}

/// Returns all settings that sites may set freely, in the order of languages.
pub fn site_settings() -> Vec<SiteSetting> {
    let readers = READERS.into_iter().map(|reader| (reader.main(), reader.site));
    let one = |(file, groups): (&'static str, &'static [SiteGroup])| {
        groups.iter().flat_map(move |group| {
            group.settings.iter().map(move |setting| SiteSetting { file, setting, reason: group.reason })
        })
    };
    let of_nodes = [(netplan::FILE, netplan::SITE), (networkd::FOLDER, networkd::SITE)];
    readers.chain(of_nodes).flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::site_settings;

    #[test]
    fn a_setting_of_a_site_is_there_once_and_has_a_reason() {
        let mut seen = BTreeSet::new();
        for own in site_settings() {
            assert!(seen.insert((own.file, own.setting)), "{} of {} is there twice", own.setting, own.file);
            assert!(own.reason.len() > 15, "{} of {}: {}", own.setting, own.file, own.reason);
        }
        assert!(seen.len() > 200, "{} settings", seen.len());
    }
}
