//! Platforms by name.
//!
//! In: the files built into the program, and the files that a site adds. Out: [`Platform`]s by name. Invariants: names
//! are unique and always listed in the same order. A faulty file adds nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use closc_diagnostics::show::text;
use closc_diagnostics::{Diagnostics, SourceId, Sources, Span};
use smol_str::SmolStr;

use crate::file::File;
use crate::nearest::nearest;
use crate::{Os, Platform, Release, builtin, checks, lower, read};

/// Platforms by name.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    platforms: BTreeMap<SmolStr, Arc<Platform>>,
    /// Where the site defines its platforms; built-in platforms are not included.
    definitions: BTreeMap<SmolStr, Span>,
    /// Texts of the site's files.
    texts: BTreeMap<SmolStr, Arc<str>>,
    /// Names in faulty files of the site.
    rejected_names: BTreeSet<SmolStr>,
}

/// Returns the part of a name that identifies the ASIC or the vendor: `th5` of `th5-64x800g`.
fn family(id: &str) -> String {
    id.split(['-', '_', ' ']).next().unwrap_or_default().to_lowercase()
}

impl Catalogue {
    /// Returns the built-in platforms. The files are read once per process.
    pub fn builtin() -> Self {
        static BUILTIN: LazyLock<Catalogue> = LazyLock::new(builtin);
        BUILTIN.clone()
    }

    /// Returns a platform by its name.
    pub fn get(&self, id: &str) -> Option<&Arc<Platform>> {
        self.platforms.get(id)
    }

    /// Returns the file of a platform, for a site to copy and change. The first line is omitted, because it contains
    /// the path of the schema for editors.
    pub fn text(&self, id: &str) -> Option<&str> {
        let own = self.texts.get(id).map(|text| &**text);
        let builtin = || builtin::FILES.iter().find(|(name, ..)| *name == id).map(|(_, text, _)| *text);
        let text = own.or_else(builtin)?;
        let rest = text.strip_prefix("# yaml-language-server:").and_then(|rest| rest.split_once('\n'));
        Some(rest.map_or(text, |(_, rest)| rest))
    }

    /// Returns the name that is nearest to an unknown one, or the first name that contains it.
    pub fn suggest(&self, id: &str) -> Option<&str> {
        let part = id.to_lowercase();
        let holds = |known: &&str| part.len() >= 4 && known.contains(&*part);
        let is_plausible = self.plausible(id);
        let usual = || self.usual().map(|platform| platform.id.as_str()).filter(|known| is_plausible(known));
        let ids = || self.ids().filter(|known| is_plausible(known));
        nearest(id, usual())
            .or_else(|| usual().find(holds))
            .or_else(|| nearest(id, ids()))
            .or_else(|| ids().find(holds))
    }

    /// Returns a predicate: whether an unknown name may be a misspelling of a known one. `th5-64x400g` cannot stand for
    /// `th4-64x400g`, because the catalogue has other names with `th5`.
    pub fn plausible(&self, id: &str) -> impl Fn(&str) -> bool + use<> {
        let asked = family(id);
        let is_open = !self.ids().any(|known| family(known) == asked);
        move |known| is_open || family(known) == asked
    }

    /// Returns the names in ascending order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.platforms.keys().map(SmolStr::as_str)
    }

    /// Returns the platforms in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Platform>> {
        self.platforms.values()
    }

    /// Returns the platforms that `cargo xtask platforms` did not generate. Generated ones are numerous, and named
    /// after their hardware.
    pub fn usual(&self) -> impl Iterator<Item = &Arc<Platform>> {
        self.iter().filter(|platform| !platform.derived)
    }

    /// Returns the entry that has all cages of a switch. Several entries can describe one switch, and some of them have
    /// only every second cage. For an entry with all cages, returns the entry itself.
    pub fn chassis<'a>(&'a self, platform: &'a Arc<Platform>) -> &'a Arc<Platform> {
        let cages = |platform: &Platform| platform.panel.cages;
        let same = self.usual().filter(|other| other.hardware() == platform.hardware());
        same.filter(|other| cages(other) > cages(platform))
            .max_by_key(|other| cages(other))
            .unwrap_or(platform)
    }

    /// Adds the platform in a file of the site, or replaces a built-in one with it.
    ///
    /// `name` is the name of the file in messages. Returns the name of the platform in the catalogue.
    pub fn add_yaml(
        &mut self,
        sources: &mut Sources,
        name: &str,
        text: &str,
    ) -> Result<SmolStr, Diagnostics> {
        let source = sources.add(name, text);
        let file = accept(source, text).inspect_err(|_| self.rejected_names.extend(stated_id(text)))?;
        let id = SmolStr::from(file.id.value.as_str());
        let place = file.id.span(source);
        if let Some(first) = self.definitions.get(&id) {
            let mut found = Diagnostics::new();
            found.push(checks::twice::duplicate_error(&id, place, *first));
            return Err(found);
        }
        self.definitions.insert(id.clone(), place);
        self.texts.insert(id.clone(), text.into());
        self.platforms.insert(id.clone(), Arc::new(lower::lower(file)));
        Ok(id)
    }

    /// Returns the catalogue with the port names that apply to these releases of operating systems.
    pub fn with_releases(&self, releases: &[(Os, Release)]) -> Cow<'_, Catalogue> {
        let older = |platform: &Arc<Platform>| {
            let of = |own: Option<Platform>, (os, release): &(Os, Release)| {
                own.as_ref().unwrap_or(platform).with_release(*os, *release).or(own)
            };
            releases.iter().fold(None, of)
        };
        let changed: Vec<Platform> = self.iter().filter_map(older).collect();
        if changed.is_empty() {
            return Cow::Borrowed(self);
        }
        let mut own = self.clone();
        for platform in changed {
            own.insert(platform);
        }
        Cow::Owned(own)
    }

    /// Returns whether a faulty file of the site defines a platform with this name.
    pub fn is_rejected(&self, id: &str) -> bool {
        self.rejected_names.contains(id)
    }

    /// Adds a platform, or replaces the one of this name.
    fn insert(&mut self, platform: Platform) {
        self.platforms.insert(platform.id.clone(), Arc::new(platform));
    }
}

/// Returns the `id` in a file that is rejected, without parsing the file.
fn stated_id(text: &str) -> Option<SmolStr> {
    let value = text.lines().find_map(|line| line.strip_prefix("id:"))?;
    let value = value.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| value.into())
}

/// Reads and checks a file.
fn accept(source: SourceId, text: &str) -> Result<File, Diagnostics> {
    let mut found = Diagnostics::new();
    match read::read(source, text) {
        Ok(file) => {
            found.extend(checks::all(&file, source));
            found.sort();
            if found.has_errors() { Err(found) } else { Ok(file) }
        }
        Err(faults) => {
            for fault in faults {
                found.push(fault);
            }
            Err(found)
        }
    }
}

/// Reads the built-in files.
fn builtin() -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (name, yaml, derived) in builtin::FILES {
        let mut sources = Sources::new();
        let source = sources.add(format!("catalogue/{name}.yaml"), *yaml);
        match accept(source, yaml) {
            Ok(file) => catalogue.insert(Platform { derived: *derived, ..lower::lower(file) }),
            Err(found) => panic!(
                "a built-in platform file is rejected; this is a bug of closc:\n{}",
                text::all(&found, &sources, text::Colour::Plain)
            ),
        }
    }
    catalogue
}
