//! Readers, one for each kind of artefact. None of them knows how the artefact was made.
//!
//! Nodes are read in `linux`, and as they are set up by tools of their own in `netplan` and `networkd`.
//! A language of switches is one room, declared and listed here. What a room must offer is in `room`.

pub(crate) mod bgp;
pub(crate) mod cables;
pub(crate) mod eos;
pub(crate) mod error;
pub(crate) mod frr;
pub(crate) mod json;
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
pub(crate) mod room;
pub(crate) mod sections;
pub(crate) mod site;
pub(crate) mod sonic;
pub(crate) mod text_routes;
pub(crate) mod unjudged;
pub(crate) mod value;

use room::{Pipeline, Room};
use site::{SiteGroup, SiteSetting};

/// All languages of switches. A switch speaks the first one whose main file it has.
const ROOMS: [&Room; 8] =
    [&pins::ROOM, &sonic::ROOM, &frr::ROOM, &p4::ROOM, &p4::tna::ROOM, &linux::ROOM, &eos::ROOM, &nvue::ROOM];

/// Returns the room of a switch that has some files.
pub(crate) fn room_of(has: impl Fn(&str) -> bool) -> Option<&'static Room> {
    ROOMS.into_iter().find(|room| has(room.main()))
}

/// Returns the pipelines of languages that have one, each with the main file of the language.
pub(crate) fn pipelines() -> impl Iterator<Item = (&'static Pipeline, &'static str)> {
    ROOMS.into_iter().filter_map(|room| Some((room.pipeline?, room.main())))
}

/// Tells whether a file of a switch has this name in any language.
pub(crate) fn is_known(name: &str) -> bool {
    ROOMS.iter().any(|room| room.files.iter().any(|file| file.name == name))
}

/// Returns every setting that a site makes as it likes, in the order of languages.
pub fn site_settings() -> Vec<SiteSetting> {
    let rooms = ROOMS.into_iter().map(|room| (room.main(), room.site));
    let one = |(file, groups): (&'static str, &'static [SiteGroup])| {
        groups.iter().flat_map(move |group| {
            group.settings.iter().map(move |setting| SiteSetting { file, setting, why: group.why })
        })
    };
    let of_nodes = [(netplan::FILE, netplan::SITE), (networkd::FOLDER, networkd::SITE)];
    rooms.chain(of_nodes).flat_map(one).collect()
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
            assert!(own.why.len() > 15, "{} of {}: {}", own.setting, own.file, own.why);
        }
        assert!(seen.len() > 200, "{} settings", seen.len());
    }
}
