//! Releases of SONiC that contain a hwsku, from the branches of a clone.
//!
//! In: a git directory with a branch for every supported release. Out: the first release with each hwsku and
//! its lanes, and claims of the catalogue that do not hold on a branch. Invariants: `master` is the commit
//! that is checked out.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use closc_hwsku::{Files as _, Sdk, Switch};
use closc_platform::{Catalogue, Claim, Limit, Os, Platform, Release};

use super::git::Repository;

/// The branches of all supported releases, the oldest first.
pub(super) struct Branches(Vec<(Release, Repository)>);

/// Claims of the catalogue about a hwsku that a branch can confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fact {
    /// The first release of the entry has its files and lanes, and no older one. Later ones have its files.
    Files,
    /// Its ports are ports of the entry.
    Ports,
    /// uN is enabled or disabled as in the entry.
    Segments,
    /// ECMP groups have the members of the entry.
    EcmpWidth,
}

impl Fact {
    const ALL: [Fact; 4] = [Fact::Files, Fact::Ports, Fact::Segments, Fact::EcmpWidth];

    fn description(self) -> &'static str {
        match self {
            Fact::Files => "files and first release",
            Fact::Ports => "ports",
            Fact::Segments => "uN",
            Fact::EcmpWidth => "ECMP width",
        }
    }
}

/// Whether each branch confirms a claim about a hwsku; `None` if the branch has no value for it.
pub(super) struct Row {
    pub(super) platform: String,
    pub(super) hwsku: String,
    pub(super) fact: Fact,
    pub(super) confirmed: Vec<(Release, Option<bool>)>,
}

impl Branches {
    /// Opens the branch of every supported release. `folder` is a clone, or a git directory with local branches.
    pub(super) fn open(folder: &Path) -> anyhow::Result<Self> {
        let known = Os::Sonic.releases().map(|releases| releases.known.clone()).unwrap_or_default();
        let open = |release: Release| {
            let names = match release {
                Release::Master => vec!["HEAD".to_owned()],
                branch => ["heads", "remotes/origin"].map(|kind| format!("refs/{kind}/{branch}")).to_vec(),
            };
            Ok((release, Repository::open_at(folder, &names, "device/")?))
        };
        known.into_iter().map(open).collect::<anyhow::Result<_>>().map(Branches)
    }

    /// Returns the newest files of a box. If they lack ports of a hwsku, its ports are those of an older release.
    pub(super) fn newest(&self, folder: &str, platform: &str) -> Option<Switch> {
        self.read(folder, platform).pop().map(|(_, switch)| switch)
    }

    /// Returns the first release with a box, if the oldest one lacks it.
    pub(super) fn platform_since(&self, folder: &str) -> Option<Release> {
        let at = self.0.iter().position(|(_, files)| !files.names(folder).is_empty())?;
        (at > 0).then(|| self.0[at].0)
    }

    /// Returns the first release with each hwsku of a box and the lanes of its ports. Hwskus that the oldest
    /// release has are omitted.
    pub(super) fn since(&self, folder: &str, platform: &str) -> BTreeMap<String, Release> {
        let boxes = self.read(folder, platform);
        let Some((_, newest)) = boxes.last() else { return BTreeMap::new() };
        let first = |hwsku: &str| {
            let at = boxes.iter().position(|(_, own)| has_lanes(own, newest, hwsku))?;
            (at > 0).then(|| (hwsku.to_owned(), boxes[at].0))
        };
        newest.hwskus().filter_map(first).collect()
    }

    fn read(&self, folder: &str, platform: &str) -> Vec<(Release, Switch)> {
        let read = |(release, files): &(Release, Repository)| {
            (*release, Switch::read(files, folder.to_owned(), platform.to_owned()))
        };
        let mut boxes: Vec<(Release, Switch)> = self.0.iter().map(read).collect();
        for at in 1..boxes.len() {
            let (older, newer) = boxes.split_at_mut(at);
            newer[0].1.restore_ports(&older[at - 1].1);
        }
        boxes
    }

    /// Compares the claims of an entry about its hwskus with every branch.
    pub(super) fn rows(&self, platform: &Arc<Platform>, folder: &str) -> Vec<Row> {
        let Some(sonic) = &platform.sonic else { return Vec::new() };
        let boxes = self.read(folder, &sonic.platform);
        let (Some((oldest, _)), Some((_, newest))) = (boxes.first(), boxes.last()) else { return Vec::new() };
        let mut rows = Vec::new();
        for hwsku in hwskus(platform) {
            let since = sonic.facts.get(hwsku).and_then(|facts| facts.since).unwrap_or(*oldest);
            for fact in Fact::ALL {
                let confirmed =
                    |((release, files), (_, switch)): (&(Release, Repository), &(Release, Switch))| {
                        let sdk = Sdk::read(files, &format!("{folder}/{hwsku}"));
                        let confirmed = match fact {
                            Fact::Files => Some(match release.cmp(&since) {
                                Ordering::Less => !has_lanes(switch, newest, hwsku),
                                Ordering::Equal => has_lanes(switch, newest, hwsku),
                                Ordering::Greater => switch.ports(hwsku).is_some(),
                            }),
                            Fact::Ports => {
                                let older = platform.with_release(Os::Sonic, *release).map(Arc::new);
                                let own = older.as_ref().unwrap_or(platform).under(Os::Sonic);
                                switch.differing_port(&own, hwsku).map(|found| found.is_none())
                            }
                            Fact::Segments => sdk.tunnels().map(|(_, has)| has == claims_un(platform, hwsku)),
                            Fact::EcmpWidth => {
                                let claimed = platform.group_width_of(Some(hwsku), Some(*release));
                                let is_published =
                                    claimed.assumption.is_none() && claims_profile(platform, hwsku);
                                match sdk.ecmp_width {
                                    Some(width) => Some(width == claimed.members),
                                    // The catalogue claims a number that the branch lacks.
                                    None if is_published && switch.ports(hwsku).is_some() => Some(false),
                                    None => None,
                                }
                            }
                        };
                        (*release, confirmed)
                    };
                let confirmed = self.0.iter().zip(&boxes).map(confirmed).collect();
                rows.push(Row {
                    platform: platform.id.to_string(),
                    hwsku: hwsku.to_owned(),
                    fact,
                    confirmed,
                });
            }
        }
        rows
    }

    /// Compares all entries with the branches: a line for each claim that some branch contradicts, then counts.
    pub(super) fn report(&self, catalogue: &Catalogue, folders: &BTreeMap<String, String>) -> String {
        let mut text = String::new();
        let folder = |platform: &Arc<Platform>| folders.get(&platform.sonic.as_ref()?.platform);
        let with_folder = |platform| Some((platform, folder(platform)?));
        let rows: Vec<Row> = { catalogue.iter() }
            .filter_map(with_folder)
            .flat_map(|(platform, folder)| self.rows(platform, folder))
            .collect();
        for Row { platform, hwsku, fact, confirmed } in &rows {
            let wrong = confirmed.iter().filter(|(_, confirmed)| *confirmed == Some(false));
            let wrong: Vec<String> = wrong.map(|(release, _)| release.to_string()).collect();
            if !wrong.is_empty() {
                let _ = writeln!(
                    text,
                    "# {platform} {hwsku}: {} differ on {}",
                    fact.description(),
                    wrong.join(", ")
                );
            }
        }
        for (at, (release, repository)) in self.0.iter().enumerate() {
            let of = |fact: Fact, value: bool| {
                rows.iter().filter(|row| row.fact == fact && row.confirmed[at].1 == Some(value)).count()
            };
            let counts = Fact::ALL.map(|fact| {
                format!("{} {} confirmed, {} not", fact.description(), of(fact, true), of(fact, false))
            });
            let _ = writeln!(text, "# {release} ({}): {}", repository.commit, counts.join("; "));
        }
        text
    }
}

/// Returns whether a release has the files of a hwsku, with the names, lanes and speeds of the newest release.
fn has_lanes(own: &Switch, newest: &Switch, hwsku: &str) -> bool {
    let lanes = |switch: &Switch| {
        let of = |row: &closc_hwsku::Row| (row.number, row.lanes.clone(), row.mbps);
        switch.ports(hwsku).map(|rows| rows.iter().map(of).collect::<Vec<_>>())
    };
    own.ports(hwsku).is_some() && lanes(own) == lanes(newest)
}

/// The hwskus of a platform.
pub(super) fn hwskus(platform: &Platform) -> Vec<&str> {
    let Some(sonic) = &platform.sonic else { return Vec::new() };
    let names: BTreeSet<&str> =
        sonic.hwskus.iter().map(|(_, name)| name.as_str()).chain([sonic.hwsku.as_str()]).collect();
    names.into_iter().collect()
}

/// Returns whether the catalogue cites `sai.profile` for the members of an ECMP group of a hwsku.
fn claims_profile(platform: &Platform, hwsku: &str) -> bool {
    let facts = platform.sonic.as_ref().and_then(|sonic| sonic.facts.get(hwsku));
    let own = facts.and_then(|facts| facts.ecmp_width.as_ref()).map(|width| &width.source);
    let source = own.or_else(|| platform.limits.provenance.get(&Limit::EcmpWidth));
    source.is_some_and(|source| source.parts().1.contains("SAI_NUM_ECMP_MEMBERS="))
}

/// Returns whether the catalogue claims uN for a hwsku.
pub(super) fn claims_un(platform: &Platform, hwsku: &str) -> bool {
    let facts = platform.sonic.as_ref().and_then(|sonic| sonic.facts.get(hwsku));
    let claim = facts.and_then(|facts| facts.un.as_ref());
    platform.features.un && !matches!(claim, Some(Claim::Lacking(_)))
}
