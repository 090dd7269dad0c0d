//! A compilation job: everything that is compiled, but not where the output is written.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use closc_artefacts::manifest::{Entry, Manifest};
use closc_artefacts::{Release, StatedSwitch};
use closc_entries::Pipeline;
use closc_plan::{DeviceIntent, Plan};
use closc_render::Templates;

use crate::{CompileError, Fingerprints, Part, Unit, plan_digest};
#[cfg(feature = "disk")]
use crate::{SignatureError, Signer};

/// A compilation job: a plan, templates, and the part of the fabric to compile.
pub struct Job<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) templates: &'a Templates,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) part: Part,
    pub(crate) units: Vec<Unit>,
    #[cfg(feature = "disk")]
    signers: &'a [Signer],
    release: Option<Release>,
}

impl<'a> Job<'a> {
    /// Creates a job from a plan, the templates, the digest of the site's own templates, and the part to compile.
    pub fn new(
        plan: &'a Plan,
        templates: &'a Templates,
        overlay: blake3::Hash,
        part: impl Into<Part>,
    ) -> Result<Self, CompileError> {
        let part = part.into();
        part.check_fits(plan)?;
        let units = Unit::all(plan, &part);
        if units.is_empty() {
            return Err(CompileError::Nothing);
        }
        Ok(Job {
            plan,
            templates,
            fingerprints: Fingerprints::new(plan, overlay),
            part,
            units,
            #[cfg(feature = "disk")]
            signers: &[],
            release: None,
        })
    }

    /// Signs the output with each of these keys, and records `release` in the manifest.
    #[cfg(feature = "disk")]
    #[must_use]
    pub fn with_signers(self, signers: &'a [Signer], release: Option<Release>) -> Self {
        Job { signers, release, ..self }
    }

    /// Returns the signatures of a manifest; `None` without keys.
    #[cfg(feature = "disk")]
    pub(crate) fn signatures(&self, manifest: &[u8]) -> Result<Option<String>, SignatureError> {
        if self.signers.is_empty() {
            return Ok(None);
        }
        self.signers.iter().map(|signer| signer.sign(manifest)).collect::<Result<String, _>>().map(Some)
    }

    /// Returns the number of units, for a progress bar.
    pub fn units(&self) -> u64 {
        self.units.len() as u64
    }

    /// Returns the units to render into a complete tree. Such a tree has one cable list per plane. So a part
    /// that has only a zone of a plane still renders the plane's complete list.
    pub(crate) fn units_of_whole(&self) -> Vec<Unit> {
        let whole = |unit: &Unit| match unit {
            Unit::ZoneCables(plane, _) => Unit::Cables(*plane),
            other => *other,
        };
        let mut found = BTreeSet::new();
        self.units.iter().map(whole).filter(|unit| found.insert(*unit)).collect()
    }

    /// Returns whether only a part of the fabric is compiled.
    pub(crate) fn is_partial(&self) -> bool {
        !self.part.is_whole()
    }

    /// Returns the manifest of `files`; `partial` states whether the tree contains only this part of the
    /// fabric.
    pub(crate) fn manifest(
        &self,
        files: BTreeMap<Utf8PathBuf, Entry>,
        partial: bool,
    ) -> Result<Manifest, CompileError> {
        Ok(Manifest {
            source: plan_digest(self.plan).to_string(),
            inputs: self.fingerprints.common().to_string(),
            selection: partial.then(|| self.part.to_string()),
            part: partial.then(|| self.part.stated_part(self.plan)),
            counts: self.plan.fabric().counts(),
            absent_planes: absent_planes(self.plan),
            profile: Some(
                self.plan.stated_values(|intent, switch| add_pipeline_values(self.plan, intent, switch))?,
            ),
            uncabled: (self.plan.uncabled_switches())
                .map(|switch| (self.plan.switch_name(switch).to_string(), switch.plane.0))
                .collect(),
            release: self.release,
            files,
            ..Manifest::new(self.plan.name(), self.plan.routing())
        })
    }
}

/// Returns the planes that are numbered but not built.
fn absent_planes(plan: &Plan) -> Vec<u8> {
    let numbered = (0..plan.fabric().counts().planes).map(|plane| plane as u8);
    numbered.filter(|number| plan.planes().all(|plane| plane.0 != *number)).collect()
}

/// Adds to a switch in the manifest the values that are known only from the entries of its pipeline.
fn add_pipeline_values(
    plan: &Plan,
    intent: &DeviceIntent<'_>,
    switch: &mut StatedSwitch,
) -> Result<(), CompileError> {
    if let Some(pipeline) = Pipeline::of(plan, intent.switch) {
        pipeline.add_stated_values(intent, switch)?;
    }
    Ok(())
}
