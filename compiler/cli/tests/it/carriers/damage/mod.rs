//! Damage: a change on a switch without closc, to configuration that a file of the tree contains.
//!
//! In: switches that have the configuration of a tree. Out: [`Damage`], with the words that a report must contain.
//! Invariants: files and their transports come from the compiler's own table. Each file can be damaged in every place
//! where a switch stores it. The site's configuration is not touched.

mod config_db;
mod entries;
mod kernel;
mod nvue;
mod queues;
mod text;

use closc_artefacts::carriers::{SwitchFile, Transport};

use crate::carriers::fleet::Fleet;

/// Picks a random number below a limit.
pub(crate) type Pick<'p> = dyn FnMut(usize) -> usize + 'p;

/// Place where a switch stores the content of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// The running configuration.
    Running,
    /// The startup configuration.
    Startup,
}

/// Kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    Removed,
    Changed,
    Added,
    /// Everything is removed.
    Emptied,
}

/// A change.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) act: Act,
    /// The damaged object, for messages of this test.
    #[allow(dead_code, reason = "it is printed as a part of the damage")]
    subject: String,
    /// Alternative sets of words; a line of the report must contain all words of one set.
    pub(crate) word_sets: Vec<Vec<String>>,
}

impl Damage {
    fn new(act: Act, what: impl Into<String>, named: &[&[&str]]) -> Self {
        let words = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Damage { act, subject: what.into(), word_sets: named.iter().map(words).collect() }
    }

    /// Returns whether the report's lines on the switch name the damage.
    pub(crate) fn is_named(&self, lines: &[&str]) -> bool {
        let has = |words: &Vec<String>| {
            lines.iter().any(|line| words.iter().all(|word| line.contains(word.as_str())))
        };
        self.word_sets.iter().any(has)
    }
}

/// Returns the places where a switch stores a file that a transport delivers.
pub(crate) fn places(file: SwitchFile, transport: Transport) -> &'static [Place] {
    match (transport, file) {
        (Transport::Ssh, SwitchFile::Daemons) => &[Place::Startup],
        // The saved configuration cannot be read over gNMI, and a P4Runtime target has none.
        (Transport::SonicSsh, SwitchFile::ConfigDb) | (Transport::SonicGnmi | Transport::P4Runtime, _) => {
            &[Place::Running]
        }
        (Transport::Ssh | Transport::SonicSsh, _) => &[Place::Running, Place::Startup],
        (Transport::Patches | Transport::Ztp | Transport::Ansible, _) => &[],
    }
}

/// A switch to damage.
pub(crate) struct Victim<'f> {
    pub(crate) fleet: &'f Fleet,
    pub(crate) name: &'f str,
}

impl Victim<'_> {
    /// Returns a file of the switch in tree `a`.
    fn target_file(&self, file: SwitchFile) -> String {
        self.fleet.place.read(&format!("a/switches/{}/{file}", self.name))
    }

    fn read(&self, file: &str) -> String {
        self.fleet.read(self.name, file)
    }

    fn write(&self, file: &str, text: &str) {
        self.fleet.put(&format!("fleet/{}/{file}", self.name), text, 0o644);
    }

    /// Damages the configuration of one file in one place; `None` if the switch has none there.
    pub(crate) fn damage(
        &self,
        file: SwitchFile,
        transport: Transport,
        place: Place,
        pick: &mut Pick<'_>,
    ) -> Option<Damage> {
        match (file, place) {
            (SwitchFile::EosConf, Place::Running) => text::eos(self, "running", pick),
            (SwitchFile::EosConf, Place::Startup) => text::eos(self, "startup", pick),
            (SwitchFile::NvueYaml, Place::Running) => nvue::change_applied(self, pick),
            (SwitchFile::NvueYaml, Place::Startup) => nvue::change_saved(self, pick),
            (SwitchFile::FrrConf, place) if transport == Transport::SonicSsh => {
                text::frr_of_sonic(self, place, pick)
            }
            (SwitchFile::FrrConf, Place::Running) => text::frr(self, pick),
            (SwitchFile::FrrConf, Place::Startup) => text::change_saved(self, file, "etc/frr/frr.conf", pick),
            (SwitchFile::Daemons, _) => text::change_saved(self, file, "etc/frr/daemons", pick),
            (SwitchFile::IpBatch, Place::Running) => kernel::addresses(self, pick),
            (SwitchFile::DevicesBatch, Place::Running) => kernel::device(self, pick),
            (SwitchFile::SysctlConf, Place::Running) => kernel::setting(self, pick),
            (SwitchFile::TcBatch, Place::Running) => queues::queue(self, pick),
            (
                SwitchFile::IpBatch | SwitchFile::DevicesBatch | SwitchFile::SysctlConf | SwitchFile::TcBatch,
                Place::Startup,
            ) => text::change_saved(self, file, &format!("etc/closc/{file}"), pick),
            (SwitchFile::ConfigDb, Place::Running) => config_db::change_running(self, pick),
            (SwitchFile::ConfigDb, Place::Startup) => config_db::change_saved(self, pick),
            (SwitchFile::Entries | SwitchFile::PinsEntries | SwitchFile::TnaEntries, _) => {
                entries::entity(self, file, pick)
            }
        }
    }
}
