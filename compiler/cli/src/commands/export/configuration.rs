//! The files of single switches, as a tree has them, with what the site adds to them.
//!
//! In: a plan, an overlay. Out: artefacts of one switch at a time. Invariants: without an overlay the bytes are those of
//! the tree.

use anyhow::Context as _;
use camino::Utf8Path;
use closc_artefacts::paths;
use closc_compile::Unit;
use closc_plan::Plan;
use closc_provision::site_tree::{Merged, SiteTree};
use closc_render::{Artefact, Templates};
use closc_sonic::{ConfigDb, Overlay};
use closc_topology::Switch;

use crate::commands::control;

/// What the files of switches are made of.
pub(super) struct Source<'p> {
    plan: &'p Plan,
    templates: Templates,
    overlay: Option<Overlay>,
    site: SiteTree,
}

/// The files of a switch.
pub(super) struct Files {
    /// The name of each and its bytes.
    pub(super) named: Vec<(String, Vec<u8>)>,
    /// Whether the switch runs SONiC.
    pub(super) is_sonic: bool,
    /// Whether its file replaces all that it has and names no user accounts.
    pub(super) lacks_users: bool,
}

impl Files {
    pub(super) fn has(&self, file: &str) -> bool {
        self.named.iter().any(|(name, _)| name == file)
    }
}

impl<'p> Source<'p> {
    pub(super) fn new(plan: &'p Plan, overlay: Option<&Utf8Path>) -> anyhow::Result<Self> {
        let site = overlay.map(control::site_tree).transpose()?.unwrap_or_default();
        let folder = overlay;
        let overlay = overlay.map(control::overlay).transpose()?;
        if let (Some(folder), Some(overlay)) = (folder, &overlay) {
            let sonic = plan.switches().filter(|switch| plan.topology().hardware(*switch).1.has_hwskus());
            let names: Vec<String> = sonic.map(|switch| plan.switch_name(switch).to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            control::say_idle(folder, &overlay.idle(&names));
        }
        Ok(Source { plan, templates: Templates::shipped(), overlay, site })
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
    let tree = ConfigDb::parse(std::str::from_utf8(bytes)?).context("what was rendered is JSON")?;
    Ok(closc_provision::whole(device, &tree, overlay)?.to_json().into_bytes())
}
