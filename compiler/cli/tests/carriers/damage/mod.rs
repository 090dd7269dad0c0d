//! Damages: something that a file of the tree is about changes on a switch, past closc.
//!
//! In: switches that hold a tree. Out: [`Damage`], and the words by which a report has to name it. Invariants: which files there are, and
//! what brings them, is the compiler's own table; each has a damage in every place where a switch keeps it; what is the site's is not
//! touched.

mod config_db;
mod entries;
mod kernel;
mod nvue;
mod queues;
mod text;

use closc_artefacts::carriers::{SwitchFile, Transport};

use crate::fleet::Fleet;

/// Picks a number below another one.
pub(crate) type Pick<'p> = dyn FnMut(usize) -> usize + 'p;

/// Where a switch keeps what a file says.
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
    /// All of it is gone.
    Emptied,
}

/// Something that was changed.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) act: Act,
    /// The thing itself, for messages of this test.
    #[allow(dead_code, reason = "it is printed as a part of the damage")]
    what: String,
    /// Words that one line of a report has together: any of these sets.
    pub(crate) named: Vec<Vec<String>>,
}

impl Damage {
    fn new(act: Act, what: impl Into<String>, named: &[&[&str]]) -> Self {
        let words = |words: &&[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Damage { act, what: what.into(), named: named.iter().map(words).collect() }
    }

    /// Tells whether the lines of a switch name it.
    pub(crate) fn is_named(&self, lines: &[&str]) -> bool {
        let has = |words: &Vec<String>| {
            lines.iter().any(|line| words.iter().all(|word| line.contains(word.as_str())))
        };
        self.named.iter().any(has)
    }
}

/// The places where a switch keeps a file that a transport brings.
pub(crate) fn places(file: SwitchFile, transport: Transport) -> &'static [Place] {
    match (transport, file) {
        (Transport::Ssh, SwitchFile::Daemons) => &[Place::Startup],
        // The saved configuration cannot be read over gNMI, and a target saves nothing.
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
    /// The file of tree `a`.
    fn wanted(&self, file: SwitchFile) -> String {
        self.fleet.place.read(&format!("a/switches/{}/{file}", self.name))
    }

    fn read(&self, file: &str) -> String {
        self.fleet.read(self.name, file)
    }

    fn write(&self, file: &str, text: &str) {
        self.fleet.put(&format!("fleet/{}/{file}", self.name), text, 0o644);
    }

    /// Damages what one file is about, in one place; nothing where the switch has nothing of it.
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
            (SwitchFile::NvueYaml, Place::Running) => nvue::applied(self, pick),
            (SwitchFile::NvueYaml, Place::Startup) => nvue::saved(self, pick),
            (SwitchFile::FrrConf, place) if transport == Transport::SonicSsh => {
                text::frr_of_sonic(self, place, pick)
            }
            (SwitchFile::FrrConf, Place::Running) => text::frr(self, pick),
            (SwitchFile::FrrConf, Place::Startup) => text::saved(self, file, "etc/frr/frr.conf", pick),
            (SwitchFile::Daemons, _) => text::saved(self, file, "etc/frr/daemons", pick),
            (SwitchFile::IpBatch, Place::Running) => kernel::addresses(self, pick),
            (SwitchFile::DevicesBatch, Place::Running) => kernel::device(self, pick),
            (SwitchFile::SysctlConf, Place::Running) => kernel::setting(self, pick),
            (SwitchFile::TcBatch, Place::Running) => queues::queue(self, pick),
            (
                SwitchFile::IpBatch | SwitchFile::DevicesBatch | SwitchFile::SysctlConf | SwitchFile::TcBatch,
                Place::Startup,
            ) => text::saved(self, file, &format!("etc/closc/{file}"), pick),
            (SwitchFile::ConfigDb, Place::Running) => config_db::running(self, pick),
            (SwitchFile::ConfigDb, Place::Startup) => config_db::saved(self, pick),
            (SwitchFile::Entries | SwitchFile::PinsEntries | SwitchFile::TnaEntries, _) => {
                entries::entity(self, file, pick)
            }
        }
    }
}
