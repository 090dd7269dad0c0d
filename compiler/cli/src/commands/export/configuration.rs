//! The files of single switches as in a tree, merged with the overlay of the site.
//!
//! In: a plan, an overlay. Out: artefacts of one switch at a time. Invariants: without an overlay the bytes are those
//! of the tree.

use std::collections::BTreeMap;

use anyhow::Context as _;
use camino::Utf8Path;
use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_artefacts::paths;
use closc_compile::Unit;
use closc_plan::Plan;
use closc_platform::{FactorySetting, Os};
use closc_provision::site_text::{self, SiteText};
use closc_provision::site_tree::{MergedConfig, SiteTree};
use closc_render::{Artefact, Templates};
use closc_sonic::{ConfigDb, Overlay};
use closc_topology::Switch;

use crate::commands::control;

/// Inputs from which files of switches are rendered.
pub(super) struct Source<'p> {
    plan: &'p Plan,
    templates: Templates,
    overlay: Option<Overlay>,
    site: SiteTree,
    lines: SiteText,
}

/// The files of a switch.
pub(super) struct Files {
    /// Name and content of each file.
    pub(super) entries: Vec<(String, Vec<u8>)>,
    /// Whether the switch runs SONiC.
    pub(super) is_sonic: bool,
    /// Missing factory settings, if a file replaces the complete configuration of the switch.
    pub(super) absent: Vec<&'static FactorySetting>,
}

impl Files {
    /// Returns the names of the files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the files that a transport carries.
    pub(super) fn of(self, transport: Transport) -> impl Iterator<Item = (String, Vec<u8>)> {
        let carried = move |name: &str| SwitchFile::of_name(name).is_some_and(|file| transport.carries(file));
        self.entries.into_iter().filter(move |(name, _)| carried(name))
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.entries.iter().any(|(name, _)| name == file)
    }
}

impl<'p> Source<'p> {
    pub(super) fn new(plan: &'p Plan, overlay: Option<&Utf8Path>) -> anyhow::Result<Self> {
        let site = overlay.map(control::site_tree).transpose()?.unwrap_or_default();
        let lines = overlay.map(control::site_text).transpose()?.unwrap_or_default();
        let mut source = Source { plan, templates: Templates::builtin(), overlay: None, site, lines };
        if let Some(folder) = overlay {
            source.overlay = Some(source.overlay_for(folder)?);
        }
        Ok(source)
    }

    fn overlay_for(&self, folder: &Utf8Path) -> anyhow::Result<Overlay> {
        let sonic = self.plan.switches();
        let sonic = sonic.filter(|switch| self.plan.topology().hardware(*switch).1.has_hwskus());
        let sonic: BTreeMap<String, Switch> =
            sonic.map(|switch| (self.plan.switch_name(switch).to_string(), switch)).collect();
        let names: Vec<&str> = sonic.keys().map(String::as_str).collect();
        control::overlay_for(folder, &names, |name| self.config_db(sonic[name]))
    }

    /// Renders the CONFIG_DB of a switch, without the overlay.
    fn config_db(&self, switch: Switch) -> anyhow::Result<ConfigDb> {
        let files = Unit::Switch(switch).render(self.plan, &self.templates)?;
        let config = files.iter().find(|file| file.path.file_name() == Some(paths::CONFIG_DB));
        parse_config_db(&config.context("a switch that runs SONiC has a CONFIG_DB")?.bytes)
    }

    /// Renders the files of a switch.
    pub(super) fn files(&self, switch: Switch) -> anyhow::Result<Files> {
        let device = self.plan.switch_name(switch);
        let mut files = Vec::new();
        let os = self.plan.os(switch);
        let release = self.plan.topology().release(os);
        let (mut is_sonic, mut absent) = (false, Vec::new());
        let mut compare = |places: &[String]| absent = FactorySetting::absent(os, release, places).collect();
        for Artefact { path, bytes } in Unit::Switch(switch).render(self.plan, &self.templates)? {
            let name = path.file_name().context("a file has a name")?;
            let is_config = name == paths::CONFIG_DB;
            is_sonic |= is_config;
            let bytes = match &self.overlay {
                overlay if is_config => {
                    let config = match overlay {
                        Some(overlay) => {
                            closc_provision::initial_config(&device, &parse_config_db(&bytes)?, overlay)?
                        }
                        None => parse_config_db(&bytes)?,
                    };
                    compare(&config.tables().keys().cloned().collect::<Vec<_>>());
                    if overlay.is_some() { config.to_json().into_bytes() } else { bytes }
                }
                _ if name == paths::NVUE_YAML => {
                    let merged = self.site.merge(&device, std::str::from_utf8(&bytes)?);
                    let MergedConfig { text, places } =
                        merged.map_err(anyhow::Error::msg).context("overlay")?;
                    compare(&places);
                    text.into_bytes()
                }
                _ if name == paths::EOS_CONF => {
                    let merged = self.lines.merge(&device, std::str::from_utf8(&bytes)?);
                    let text = merged.map_err(anyhow::Error::msg).context("overlay")?;
                    compare(&site_text::commands(&text).map(str::to_owned).collect::<Vec<_>>());
                    text.into_bytes()
                }
                _ => bytes,
            };
            files.push((name.to_owned(), bytes));
        }
        Ok(Files { entries: files, is_sonic, absent })
    }
}

/// Counts the switches whose files lack a factory setting.
pub(super) fn count_absent<'f>(
    files: impl IntoIterator<Item = (Os, &'f [&'static FactorySetting])>,
) -> Vec<String> {
    let mut found: BTreeMap<(Os, &str), (&FactorySetting, usize)> = BTreeMap::new();
    for (os, absent) in files {
        for setting in absent {
            found.entry((os, &setting.place)).or_insert((setting, 0)).1 += 1;
        }
    }
    let lines = found.into_iter().map(|((os, _), (setting, switches))| {
        let skeleton = if setting.skeleton.is_some() {
            format!("; `closc platforms --skeleton {}` prints the site's part for `--overlay`", os.keyword())
        } else {
            "; set `addresses.management` in the fabric file".to_owned()
        };
        let of = if switches == 1 {
            "the file of 1 switch lacks".to_owned()
        } else {
            format!("the files of {switches} switches lack")
        };
        format!("{of} {}{skeleton}", setting.sentence())
    });
    lines.collect()
}

fn parse_config_db(bytes: &[u8]) -> anyhow::Result<ConfigDb> {
    ConfigDb::parse(std::str::from_utf8(bytes)?).context("what was rendered is JSON")
}
