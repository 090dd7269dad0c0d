//! SDK settings that affect packets, from `sai.profile` and the SDK files of a hwsku.
//!
//! In: the folder of a hwsku. Out: [`Sdk`]. Invariants: every property with a value is interpreted, describes the
//! board, or is listed as ignored.

use std::collections::{BTreeMap, BTreeSet};

use crate::Files;

/// Properties with an effect on a catalogue entry.
const INTERPRETED: &[&str] =
    &["sai_tunnel_support", "sai_pkt_trim_queue_index", "sai_pkt_dscp_modification_disable"];

/// Properties of the board, which do not affect packets.
const BOARD: &[&str] =
    &["portmap", "phy_", "serdes", "dport_map", "pcie", "xgxs", "fw_load", "lane_map", "polarity"];

/// SDK settings of a hwsku.
#[derive(Default)]
pub struct Sdk {
    /// Whether there is an SDK file in text form.
    pub(crate) has_file: bool,
    /// Whether there is a Broadcom SDK file.
    pub(crate) has_bcm: bool,
    /// `SAI_NUM_ECMP_MEMBERS`.
    pub ecmp_width: Option<u32>,
    properties: BTreeMap<&'static str, String>,
    pub(crate) ignored_properties: BTreeSet<String>,
}

impl Sdk {
    /// Reads the files of a hwsku.
    pub fn read(files: &dyn Files, folder: &str) -> Self {
        let mut own = Sdk::default();
        for name in files.names(folder) {
            let is_profile = name.starts_with("sai.profile");
            let is_sdk = [".bcm", ".yml", ".yaml"].iter().any(|end| name.ends_with(end));
            if !is_profile && !is_sdk {
                continue;
            }
            let Some(text) = files.text(&format!("{folder}/{name}")) else { continue };
            own.has_file |= is_sdk;
            own.has_bcm |= name.rsplit_once('.').is_some_and(|(_, ending)| ending == "bcm");
            for line in text.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
                own.line(line);
            }
        }
        own
    }

    fn line(&mut self, line: &str) {
        let Some((key, value)) = line.split_once(['=', ':']) else { return };
        if line.starts_with("{%") {
            return;
        }
        let (key, value) = (key.trim().trim_start_matches("- "), value.trim().trim_matches(['"', '\'']));
        if key == "SAI_NUM_ECMP_MEMBERS" {
            self.ecmp_width = value.parse().ok().or(self.ecmp_width);
        }
        let bare = key.split('.').next().unwrap_or(key);
        if let Some(known) = INTERPRETED.iter().find(|known| **known == bare) {
            self.properties.insert(known, value.to_owned());
        } else if !value.is_empty() && !BOARD.iter().any(|board| bare.contains(board)) {
            self.ignored_properties
                .insert(bare.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '_').to_owned());
        }
    }

    /// Returns `sai_tunnel_support`, and whether its SRv6 bit is set.
    pub fn tunnels(&self) -> Option<(&str, bool)> {
        let value = self.properties.get("sai_tunnel_support")?;
        let digits = value.trim_start_matches("0x");
        let number = u32::from_str_radix(digits, if digits.len() < value.len() { 16 } else { 10 }).ok()?;
        Some((value, number & 0x10 != 0))
    }

    /// Describes the properties.
    pub(crate) fn properties(&self) -> String {
        let words: Vec<String> =
            self.properties.iter().map(|(key, value)| format!("{key}={value}")).collect();
        words.join(" ")
    }
}
