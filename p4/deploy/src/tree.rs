//! Target state of each switch, from the compiled tree.
//!
//! In: the bytes of `manifest.json`, `p4/` and `switches/`. Out: files of switches, and [`TargetState`],
//! checked against the P4Info. Invariants: a file that differs from the manifest is rejected. Only programs
//! are kept in memory, so a tree of thousands of switches is read one switch at a time.

mod planes;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Entry, FILE_MAX, Files, Manifest, paths};
use closc_runtime::check::{self, Violation};
use closc_runtime::client::Pipeline;
use closc_runtime::info::InfoError;
use closc_runtime::proto::v1;
use closc_runtime::text::{self, TextError};
use closc_runtime::{Info, render};
use closc_sonic::ConfigDb;
use thiserror::Error;
use v1::entity::Entity;

use crate::bind::{BindError, Binding, OmittedEntries};
use crate::invalid::InvalidState;
use crate::inventory::{Artefacts, KnownPlane};
use crate::roles::{Roles, RolesError};
use crate::state::State;
use crate::target::Program;

/// Target state of a switch.
#[derive(Debug, Clone)]
pub struct TargetState {
    /// The program to run.
    pub program: Arc<Program>,
    /// The wanted entities.
    pub state: State,
    /// Entries that are omitted because its program has no table for them.
    pub(crate) omissions: Vec<OmittedEntries>,
    /// Names of the tables in the program that the switch keeps. Until that program is known, `program` and `state`
    /// have the ids of the tree.
    pub(crate) kept_roles: Option<Arc<Roles>>,
}

impl TargetState {
    /// Creates the target state of a switch whose program closc sets.
    pub fn new(program: Arc<Program>, state: State) -> Self {
        TargetState { program, state, omissions: Vec::new(), kept_roles: None }
    }

    /// Translates it to the ids of another program.
    pub(crate) fn bound(&self, program: Arc<Program>, roles: &Roles) -> Result<TargetState, TreeError> {
        let own = Roles::of(self.program.name());
        let binding = Binding::new(self.program.info(), program.info(), (&own, roles));
        let bound = binding.bind(self.state.entities().cloned()).map_err(Box::new)?;
        let state = State::new(program.info(), bound.entities)
            .map_err(|invalid| TreeError::InvalidState { path: paths::ENTRIES.to_owned(), invalid })?;
        Ok(TargetState { omissions: bound.omissions, ..TargetState::new(program, state) })
    }
}

/// Returns the target state of a switch; called when the switch is processed, and again for each comparison.
pub type TargetStateSource = Arc<dyn Fn() -> Result<Arc<TargetState>, TreeError> + Send + Sync>;

/// A file of the tree, or of the inventory, that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeError {
    /// It cannot be read.
    #[error("`{path}`: {reason}")]
    Read {
        /// Its path in the tree.
        path: String,
        /// The error of the system.
        reason: String,
    },
    /// It is not text.
    #[error("`{path}`: it is not UTF-8")]
    Utf8 {
        /// Its path in the tree.
        path: String,
    },
    /// The manifest is missing or cannot be used.
    #[error("{0}")]
    Manifest(String),
    /// The file is not the one that was compiled.
    #[error("`{path}` differs from the manifest: it was changed after it was compiled")]
    Changed {
        /// Its path in the tree.
        path: String,
    },
    /// The file is in the tree and not in the manifest.
    #[error("`{path}` is not in the manifest: it was added after the tree was compiled")]
    Unlisted {
        /// Its path in the tree.
        path: String,
    },
    /// It is not protobuf text.
    #[error("`{path}`:{fault}")]
    Text {
        /// Its path in the tree.
        path: String,
        /// Line, column and reason.
        fault: TextError,
    },
    /// A file that the inventory names is not a P4Info. The message omits its contents, which may be confidential.
    #[error("`{path}`:{line}:{column}: it is not a P4Info in protobuf text")]
    Foreign {
        /// Its path.
        path: String,
        /// The line, from 1.
        line: u32,
        /// The character in the line, from 1.
        column: u32,
    },
    /// The P4Info is inconsistent.
    #[error("`{path}`: {fault}")]
    Info {
        /// Its path in the tree.
        path: String,
        /// The error.
        fault: InfoError,
    },
    /// It is not CONFIG_DB.
    #[error("`{path}`:{fault}")]
    ConfigDb {
        /// Its path in the tree.
        path: String,
        /// The error.
        fault: closc_sonic::ParseError,
    },
    /// An update does not fit the P4Info.
    #[error("`{path}`: `{update}`: {fault}")]
    Entry {
        /// Its path in the tree.
        path: String,
        /// The update, by names.
        update: String,
        /// The error.
        fault: Box<Violation>,
    },
    /// An update is not part of a persistent state.
    #[error("`{path}`: `{update}`: {reason}")]
    NotState {
        /// Its path in the tree.
        path: String,
        /// The update, by names.
        update: String,
        /// The reason.
        reason: &'static str,
    },
    /// Entries cannot be bound to the P4Info of the switch.
    #[error(transparent)]
    Bind(#[from] Box<BindError>),
    /// The program that a switch runs cannot be used.
    #[error("the inventory sets `keeps_program` for this switch: {reason}")]
    Kept {
        /// The reason.
        reason: String,
    },
    /// A file of roles cannot be used.
    #[error("`{path}`: {fault}")]
    Roles {
        /// Its path.
        path: String,
        /// The error.
        fault: RolesError,
    },
    /// An entity occurs twice, or has no key.
    #[error("`{path}`: {invalid}")]
    InvalidState {
        /// Its path in the tree.
        path: String,
        /// The error.
        invalid: InvalidState,
    },
}

/// A compiled tree.
pub struct Tree {
    files: Arc<dyn Files>,
    fabric: String,
    /// Files of the manifest; `None` for a tree without a manifest, whose files are generated on demand.
    manifest_files: Option<BTreeMap<Utf8PathBuf, Entry>>,
    /// The switches that have entries, each with the pipeline of the entries.
    devices: BTreeMap<String, &'static str>,
    /// The switches that have a CONFIG_DB and no entries.
    sonic: BTreeSet<String>,
    /// The switches that have both.
    dual_switches: BTreeSet<String>,
    /// The switches that have neither, each with the keyword of its operating system.
    other_switches: BTreeMap<String, &'static str>,
    /// The switches of a fabric file that are configured by files, each with the keyword of its operating system. The
    /// files exist only in a compiled tree.
    fileless_switches: BTreeMap<String, &'static str>,
    /// The plane of each switch, unless the tree has no cable list.
    planes: BTreeMap<String, u8>,
    /// The number of planes of the fabric; 0 if unknown.
    n_planes: u64,
}

impl Tree {
    /// Reads the manifest of a tree.
    pub fn open(files: Arc<dyn Files>) -> Result<Self, TreeError> {
        let manifest = Manifest::read(&*files).map_err(|error| TreeError::Manifest(error.to_string()))?;
        let (mut devices, mut sonic, mut both) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut others = BTreeMap::new();
        for (device, files) in manifest.folders(paths::SWITCHES) {
            let has = |name: &str| files.iter().any(|file| file.file_name() == Some(name));
            if let Some((_, pipeline)) = paths::ENTRIES_OF.iter().find(|(file, _)| has(file)) {
                devices.insert(device.to_owned(), *pipeline);
                both.extend(has(paths::CONFIG_DB).then(|| device.to_owned()));
            } else if has(paths::CONFIG_DB) {
                sonic.insert(device.to_owned());
            } else if let Some((_, os)) = paths::CONFIGURATION_OF.iter().find(|(file, _)| has(file)) {
                others.insert(device.to_owned(), *os);
            }
        }
        let planes = planes::of(&*files, &manifest)?;
        Ok(Tree {
            files,
            devices,
            sonic,
            dual_switches: both,
            other_switches: others,
            fileless_switches: BTreeMap::new(),
            planes,
            n_planes: manifest.counts.planes,
            fabric: manifest.fabric,
            manifest_files: Some(manifest.files),
        })
    }

    /// Returns a tree that exists only in memory: `files` generates files on demand, so there are no digests
    /// to compare them with. `without_files` has the switches that are configured by files, because `files`
    /// does not generate these; `planes` has the plane of every switch.
    pub fn in_memory(
        fabric: String,
        devices: BTreeMap<String, &'static str>,
        without_files: BTreeMap<String, &'static str>,
        planes: BTreeMap<String, u8>,
        files: Arc<dyn Files>,
    ) -> Self {
        let (sonic, both, others) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
        Tree {
            files,
            fabric,
            manifest_files: None,
            devices,
            sonic,
            dual_switches: both,
            other_switches: others,
            fileless_switches: without_files,
            planes,
            n_planes: 0,
        }
    }

    /// Returns the plane of a switch; `None` if the tree has no cable list, such as a partial tree by tier or
    /// device.
    pub fn plane(&self, device: &str) -> Option<u8> {
        self.planes.get(device).copied()
    }

    /// Returns the source of planes that takes precedence over the inventory.
    pub(crate) fn known_plane(&self, device: &str) -> KnownPlane {
        KnownPlane { of_switch: self.plane(device), n_planes: self.n_planes }
    }

    /// Returns the name of the fabric.
    pub fn fabric(&self) -> &str {
        &self.fabric
    }

    /// Returns the switches that have entries, each with the pipeline of the entries.
    pub fn devices(&self) -> &BTreeMap<String, &'static str> {
        &self.devices
    }

    /// Returns the switches that have a CONFIG_DB and no entries.
    pub(crate) fn sonic(&self) -> &BTreeSet<String> {
        &self.sonic
    }

    /// Returns the switches that have entries and a CONFIG_DB.
    pub(crate) fn dual_switches(&self) -> &BTreeSet<String> {
        &self.dual_switches
    }

    /// Returns the switches that have neither entries nor a CONFIG_DB, each with the keyword of its operating system.
    pub(crate) fn other_switches(&self) -> &BTreeMap<String, &'static str> {
        &self.other_switches
    }

    /// Returns the switches that have a CONFIG_DB, each with a function that reads it.
    pub fn config_dbs(&self) -> BTreeMap<&str, impl Fn() -> Result<ConfigDb, TreeError>> {
        let switches = self.sonic.iter().chain(&self.dual_switches);
        switches.map(|switch| (switch.as_str(), || self.config_db(switch))).collect()
    }

    /// Returns the switches that are configured by other files.
    pub fn carried_switches(&self) -> impl Iterator<Item = &str> {
        self.other_switches.keys().map(String::as_str)
    }

    /// Returns the switches that are configured by files which a tree in memory lacks, each with the keyword
    /// of its operating system.
    pub fn fileless_switches(&self) -> &BTreeMap<String, &'static str> {
        &self.fileless_switches
    }

    /// Reads every file of a switch, by name.
    pub(crate) fn texts(&self, device: &str) -> Result<BTreeMap<String, String>, TreeError> {
        let text = |name: &str| self.text(paths::switch(device, name).as_str());
        self.files_of(device).map(|name| Ok((name.to_owned(), text(name)?))).collect()
    }

    /// Reads the CONFIG_DB of a switch.
    pub(crate) fn config_db(&self, device: &str) -> Result<ConfigDb, TreeError> {
        let path = paths::switch(device, paths::CONFIG_DB);
        let text = self.text(path.as_str())?;
        ConfigDb::parse(&text).map_err(|fault| TreeError::ConfigDb { path: path.to_string(), fault })
    }

    /// Returns whether a switch has a file.
    pub(crate) fn has(&self, device: &str, file: &str) -> bool {
        self.files_of(device).any(|name| name == file)
    }

    /// Returns the names of the files of a switch; none if there is no manifest.
    pub(crate) fn files_of(&self, device: &str) -> impl Iterator<Item = &str> {
        let folder = Utf8Path::new(paths::SWITCHES).join(device);
        // The files of a folder are consecutive in the list.
        let listed = self.manifest_files.iter().flat_map(move |listed| {
            let folder = folder.clone();
            let own = listed.range(folder.join("")..).map(|(path, _)| path);
            own.take_while(move |path| path.starts_with(&folder))
        });
        listed.filter_map(|path| path.file_name())
    }

    /// Reads the `frr.conf` of a switch.
    pub(crate) fn frr_conf(&self, device: &str) -> Result<String, TreeError> {
        self.text(paths::switch(device, paths::FRR_CONF).as_str())
    }

    /// Reads a pipeline of the tree; its program is empty if trees do not contain one.
    pub fn program(&self, name: &str) -> Result<Program, TreeError> {
        let config =
            if is_without_program(name) { Vec::new() } else { self.read(paths::bmv2(name).as_str())? };
        self.program_of(name, config)
    }

    /// Reads a pipeline of the tree, with a program from another file.
    pub(crate) fn program_with(
        &self,
        name: &str,
        path: &str,
        files: &dyn Files,
    ) -> Result<Program, TreeError> {
        let config = files
            .read(path)
            .map_err(|error| TreeError::Read { path: path.to_owned(), reason: error.to_string() })?;
        self.program_of(name, config)
    }

    fn program_of(&self, name: &str, config: Vec<u8>) -> Result<Program, TreeError> {
        let info = paths::p4info(name);
        let p4info = self.text(info.as_str())?;
        program(name, info.as_str(), &p4info, config)
    }

    /// Reads the target state of a switch.
    pub fn target_state(&self, device: &str, program: Arc<Program>) -> Result<TargetState, TreeError> {
        let own = self.devices.get(device);
        let file = paths::ENTRIES_OF.iter().find(|(_, pipeline)| Some(pipeline) == own);
        let path = paths::switch(device, file.map_or(paths::ENTRIES, |(file, _)| file));
        let text = self.text(path.as_str())?;
        parse_target_state(path.as_str(), &text, program)
    }

    fn text(&self, path: &str) -> Result<String, TreeError> {
        String::from_utf8(self.read(path)?).map_err(|_| TreeError::Utf8 { path: path.to_owned() })
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, TreeError> {
        let entry = self.manifest_files.as_ref().map(|listed| listed.get(Utf8Path::new(path)));
        let (mut bytes, max) = (Vec::new(), entry.flatten().map_or(FILE_MAX, |entry| entry.size));
        self.files
            .read_within(Utf8Path::new(path), max, &mut bytes)
            .map_err(|error| TreeError::Read { path: path.to_owned(), reason: error.to_string() })?;
        let Some(entry) = entry else { return Ok(bytes) };
        match entry {
            Some(entry) if entry.fits(&bytes) => Ok(bytes),
            Some(_) => Err(TreeError::Changed { path: path.to_owned() }),
            None => Err(TreeError::Unlisted { path: path.to_owned() }),
        }
    }
}

/// Returns whether trees contain the pipeline without its program.
pub(crate) fn is_without_program(pipeline: &str) -> bool {
    paths::WITHOUT_PROGRAM.contains(&pipeline)
}

/// Reads a program from outside the tree.
pub(crate) fn foreign_program(artefacts: &Artefacts, files: &dyn Files) -> Result<Program, TreeError> {
    let read = |path: &String| {
        files.read(path).map_err(|error| TreeError::Read { path: path.clone(), reason: error.to_string() })
    };
    let p4info = String::from_utf8(read(&artefacts.p4info)?)
        .map_err(|_| TreeError::Utf8 { path: artefacts.p4info.clone() })?;
    let path = artefacts.p4info.as_str();
    program(path, path, &p4info, read(&artefacts.device_config)?).map_err(|error| match error {
        TreeError::Text { path, fault } => {
            TreeError::Foreign { path, line: fault.line, column: fault.column }
        }
        error => error,
    })
}

/// Reads a file of roles; without one, tables have the names of the tree's pipeline.
pub(crate) fn roles(path: Option<&String>, files: &dyn Files) -> Result<Roles, TreeError> {
    let Some(path) = path else { return Ok(Roles::default()) };
    let bytes = files
        .read(path)
        .map_err(|error| TreeError::Read { path: path.clone(), reason: error.to_string() })?;
    let text = String::from_utf8(bytes).map_err(|_| TreeError::Utf8 { path: path.clone() })?;
    Roles::parse(&text).map_err(|fault| TreeError::Roles { path: path.clone(), fault })
}

fn program(name: &str, path: &str, p4info: &str, config: Vec<u8>) -> Result<Program, TreeError> {
    let message =
        text::read_p4info(p4info).map_err(|fault| TreeError::Text { path: path.to_owned(), fault })?;
    let pipeline = Pipeline::from_message(message, config.into())
        .map_err(|fault| TreeError::Info { path: path.to_owned(), fault })?;
    Ok(Program::new(name, pipeline))
}

/// Reads the entries of a switch; `path` is for messages.
pub fn parse_target_state(path: &str, text: &str, program: Arc<Program>) -> Result<TargetState, TreeError> {
    let updates =
        text::read_entries(text).map_err(|fault| TreeError::Text { path: path.to_owned(), fault })?;
    let info = program.info().clone();
    let mut entities = Vec::with_capacity(updates.len());
    for update in updates {
        check_wanted(&info, path, &update)?;
        entities.extend(update.entity);
    }
    let state = State::new(&info, entities)
        .map_err(|invalid| TreeError::InvalidState { path: path.to_owned(), invalid })?;
    Ok(TargetState::new(program, state))
}

/// Checks that an update fits the P4Info and adds a persistent entity.
fn check_wanted(info: &Info, path: &str, update: &v1::Update) -> Result<(), TreeError> {
    let shown = || render::update(info, update).to_string();
    check::update(info, update).map(drop).map_err(|fault| TreeError::Entry {
        path: path.to_owned(),
        update: shown(),
        fault: Box::new(fault),
    })?;
    let reason = match update.entity.as_ref().and_then(|entity| entity.entity.as_ref()) {
        _ if update.r#type() == v1::update::Type::Delete => "a state contains no deletions",
        Some(Entity::CounterEntry(_) | Entity::DirectCounterEntry(_) | Entity::RegisterEntry(_)) => {
            "the data plane changes it, so it is not part of a state"
        }
        Some(Entity::DirectMeterEntry(_)) => "the meter of an entry is set in the entry",
        Some(Entity::ExternEntry(_)) => "externs cannot be compared",
        Some(
            Entity::TableEntry(_)
            | Entity::ActionProfileMember(_)
            | Entity::ActionProfileGroup(_)
            | Entity::MeterEntry(_)
            | Entity::PacketReplicationEngineEntry(_)
            | Entity::ValueSetEntry(_)
            | Entity::DigestEntry(_),
        )
        | None => return Ok(()),
    };
    Err(TreeError::NotState { path: path.to_owned(), update: shown(), reason })
}
