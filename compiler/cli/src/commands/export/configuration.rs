//! The files of single switches as in a tree, merged with the overlay of the site.
//!
//! In: a plan, an overlay. Out: artefacts of one switch at a time. Invariants: without an overlay the bytes are those of
//! the tree.

use std::collections::BTreeMap;

use anyhow::Context as _;
use camino::Utf8Path;
use closc_artefacts::carriers::{SwitchFile, Transport};
use closc_artefacts::paths;
use closc_compile::Unit;
use closc_plan::Plan;
use closc_provision::site_tree::{Merged, SiteTree};
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
}

/// The files of a switch.
pub(super) struct Files {
    /// Name and content of each file.
    pub(super) named: Vec<(String, Vec<u8>)>,
    /// Whether the switch runs SONiC.
    pub(super) is_sonic: bool,
    /// Whether a file replaces the complete configuration of the switch, but defines no user accounts.
    pub(super) lacks_users: bool,
}

impl Files {
    /// Returns the names of the files.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the files that a transport carries.
    pub(super) fn of(self, transport: Transport) -> impl Iterator<Item = (String, Vec<u8>)> {
        let carried = move |name: &str| SwitchFile::of_name(name).is_some_and(|file| transport.carries(file));
        self.named.into_iter().filter(move |(name, _)| carried(name))
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.named.iter().any(|(name, _)| name == file)
    }
}

impl<'p> Source<'p> {
    pub(super) fn new(plan: &'p Plan, overlay: Option<&Utf8Path>) -> anyhow::Result<Self> {
        let site = overlay.map(control::site_tree).transpose()?.unwrap_or_default();
        let mut source = Source { plan, templates: Templates::shipped(), overlay: None, site };
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
        parsed(&config.context("a switch that runs SONiC has a CONFIG_DB")?.bytes)
    }

    /// Renders the files of a switch.
    pub(super) fn files(&self, switch: Switch) -> anyhow::Result<Files> {
        let device = self.plan.switch_name(switch);
        let mut files = Vec::new();
        let (mut is_sonic, mut lacks_users) = (false, false);
        for Artefact { path, bytes } in Unit::Switch(switch).render(self.plan, &self.templates)? {
            let name = path.file_name().context("a file has a name")?;
            let is_config = name == paths::CONFIG_DB;
            is_sonic |= is_config;
            let bytes = match &self.overlay {
                Some(overlay) if is_config => whole(&device, &bytes, overlay)?,
                _ if name == paths::NVUE_YAML => {
                    let merged = self.site.merged(&device, std::str::from_utf8(&bytes)?);
                    let Merged { text, has_users } = merged.map_err(anyhow::Error::msg).context("overlay")?;
                    lacks_users |= !has_users;
                    text.into_bytes()
                }
                _ => bytes,
            };
            files.push((name.to_owned(), bytes));
        }
        Ok(Files { named: files, is_sonic, lacks_users })
    }
}

fn whole(device: &str, bytes: &[u8], overlay: &Overlay) -> anyhow::Result<Vec<u8>> {
    Ok(closc_provision::whole(device, &parsed(bytes)?, overlay)?.to_json().into_bytes())
}

fn parsed(bytes: &[u8]) -> anyhow::Result<ConfigDb> {
    ConfigDb::parse(std::str::from_utf8(bytes)?).context("what was rendered is JSON")
}
