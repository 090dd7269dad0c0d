//! Determines which transports deliver which file of a switch.
//!
//! In: the name of a file below `switches/NAME/`. Out: its [`SwitchFile`], and the [`Transport`]s that deliver it.
//! Invariants: every file that a tree contains for a switch is in the list. Only the listed transports deliver a file.
//! A command that uses another transport reports the files that it does not deliver ([`undelivered_files`]).

use std::fmt;

use crate::paths;

/// Defines an enum, the names of its variants and their list from a single table.
macro_rules! named {
    ($(#[$of:meta])* $type:ident: $($(#[$doc:meta])* $name:ident, $text:expr;)+) => {
        $(#[$of])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$doc])* $name,)+
        }

        impl $type {
            /// All variants, in the order of listings.
            pub const ALL: &'static [$type] = &[$($type::$name),+];

            /// Returns the name of the variant.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$name => $text,)+
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

named! {
    /// A kind of file that a tree contains for a switch.
    SwitchFile:
    /// The configuration of SONiC.
    ConfigDb, paths::CONFIG_DB;
    /// The configuration of FRRouting, on Linux and in SONiC's `bgp` container.
    FrrConf, paths::FRR_CONF;
    /// The list of FRRouting daemons that run.
    Daemons, paths::DAEMONS;
    /// The configuration of Arista EOS.
    EosConf, paths::EOS_CONF;
    /// The configuration of NVIDIA Cumulus Linux.
    NvueYaml, paths::NVUE_YAML;
    /// Devices that must exist before `ip.batch` runs.
    DevicesBatch, paths::DEVICES_BATCH;
    /// Addresses, routes and neighbours.
    IpBatch, paths::IP_BATCH;
    /// Queues.
    TcBatch, paths::TC_BATCH;
    /// Kernel settings.
    SysctlConf, paths::SYSCTL_CONF;
    /// Table entries of a P4 switch.
    Entries, paths::ENTRIES;
    /// Table entries of SONiC hardware with P4Runtime.
    PinsEntries, paths::PINS_ENTRIES;
    /// Table entries of a Tofino switch.
    TnaEntries, paths::TNA_ENTRIES;
}

named! {
    /// A transport for files of a switch.
    Transport:
    /// `push`, `drift`, `watch` and `diff live` over P4Runtime.
    P4Runtime, "p4runtime";
    /// The same commands, for SONiC over SSH.
    SonicSsh, "sonic-ssh";
    /// The same commands, for SONiC over gNMI.
    SonicGnmi, "sonic-gnmi";
    /// The same commands, for EOS, Cumulus Linux, FRRouting and Linux over SSH, by the rules under `ssh` in an
    /// inventory.
    Ssh, "ssh";
    /// Files of `closc diff --patches`.
    Patches, "diff --patches";
    /// Files of `closc export ztp`, which a new switch fetches.
    Ztp, "export ztp";
    /// The playbook of `closc export ansible`.
    Ansible, "export ansible";
}

impl Transport {
    /// Returns the command that uses the transport.
    fn command(self) -> String {
        match self {
            Transport::P4Runtime | Transport::SonicSsh | Transport::SonicGnmi | Transport::Ssh => {
                format!("`closc push` over `{self}`")
            }
            Transport::Patches | Transport::Ztp | Transport::Ansible => format!("`closc {self}`"),
        }
    }

    /// Returns whether the transport delivers a kind of file.
    pub fn carries(self, file: SwitchFile) -> bool {
        file.carriers().contains(&self)
    }
}

impl SwitchFile {
    /// Returns the kind of the file with a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|file| file.name() == name)
    }

    /// Returns the transports that deliver the file; those that also read it back come first. If there are none, the
    /// site must apply the file itself.
    pub fn carriers(self) -> &'static [Transport] {
        use Transport::{Ansible, P4Runtime, Patches, SonicGnmi, SonicSsh, Ssh, Ztp};
        match self {
            SwitchFile::ConfigDb => &[SonicSsh, SonicGnmi, Patches, Ztp, Ansible],
            // The gNMI server of SONiC writes databases, not files of the `bgp` container.
            SwitchFile::FrrConf => &[SonicSsh, Ssh, Patches, Ztp, Ansible],
            SwitchFile::Daemons
            | SwitchFile::DevicesBatch
            | SwitchFile::IpBatch
            | SwitchFile::TcBatch
            | SwitchFile::SysctlConf => &[Ssh, Ansible],
            // A push preserves the site's own part of the file. The playbook omits such files, because replacing the
            // complete configuration would remove that part.
            SwitchFile::EosConf | SwitchFile::NvueYaml => &[Ssh],
            SwitchFile::Entries | SwitchFile::PinsEntries | SwitchFile::TnaEntries => &[P4Runtime],
        }
    }

    /// Returns advice on the delivery of the file, for a transport that does not deliver it.
    pub fn instead(self) -> String {
        match self.carriers() {
            [] => "`closc export ansible` writes it; the site applies it with its own tool".to_owned(),
            [first, .., last] if *first != *last => {
                format!("{} or {} delivers it", first.command(), last.command())
            }
            [one, ..] => format!("{} delivers it", one.command()),
        }
    }
}

/// A file of a switch that a command neither delivers nor compares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UndeliveredFile {
    /// Name of the file.
    pub file: String,
    /// Advice on the delivery of the file.
    pub instead: String,
}

/// Returns the files that none of the transports delivers, sorted by name.
pub fn undelivered_files<'n>(
    files: impl IntoIterator<Item = &'n str>,
    transports: &[Transport],
) -> Vec<UndeliveredFile> {
    let of_name = |name: &str| match SwitchFile::of_name(name) {
        Some(file) if transports.iter().any(|transport| transport.carries(file)) => None,
        Some(file) => Some(UndeliveredFile { file: name.to_owned(), instead: file.instead() }),
        // Trees of later versions may contain more files.
        None => Some(UndeliveredFile {
            file: name.to_owned(),
            instead: "it is unknown to this version of closc".to_owned(),
        }),
    };
    let mut found: Vec<UndeliveredFile> = files.into_iter().filter_map(of_name).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_carries_a_file() {
        for transport in Transport::ALL {
            assert!(SwitchFile::ALL.iter().any(|file| transport.carries(*file)), "{transport}");
        }
    }

    #[test]
    fn a_file_that_no_transport_carries_is_named_with_what_brings_it() {
        let files = ["frr.conf", "config_db.json", "later.conf"];
        assert_eq!(undelivered_files(files, &[Transport::SonicSsh]).len(), 1);
        let found = undelivered_files(files, &[Transport::SonicGnmi]);
        let line: Vec<String> = found.iter().map(|each| format!("{}: {}", each.file, each.instead)).collect();
        assert_eq!(
            line,
            [
                "frr.conf: `closc push` over `sonic-ssh` or `closc export ansible` delivers it",
                "later.conf: it is unknown to this version of closc",
            ]
        );
        assert!(undelivered_files(["entries.txtpb"], &[Transport::P4Runtime]).is_empty());
    }
}
