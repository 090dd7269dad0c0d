//! The switches of one command, and the target state of each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use closc_artefacts::Files;
use closc_artefacts::carriers::{self, Transport, UndeliveredFile};
use closc_runtime::RoleName;
use thiserror::Error;

use crate::carrier::{CarriedGoal, CarriedSwitch, CarrierOptions, has_carrier, has_folders};
use crate::inventory::{Defaults, Device, Inventory, InventoryError, RuleList, is_local_host, is_wrong_ipv4};
use crate::links::Links;
use crate::member::Member;
use crate::pair::Pair;
use crate::skipped_switches::{SkippedSwitches, find_skipped};
use crate::sonic::{SonicGoal, SonicOptions, SonicSwitch};
use crate::switch::Switch;
use crate::target::{Program, Programs, Target};
use crate::tree::{TargetState, Tree, TreeError, foreign_program, is_without_program, roles};
use crate::unsupported_files::{UnsupportedFile, group_unsupported};

/// The switches of one command.
#[derive(Clone, Default)]
pub struct Fleet {
    /// Name of the fabric.
    pub fabric: String,
    /// The P4Runtime switches.
    pub members: Vec<Member>,
    /// The switches with a CONFIG_DB to push. A switch that is also a member has two transports.
    pub(crate) sonic: Vec<SonicSwitch>,
    /// The switches that are configured by files.
    pub(crate) carried_switches: Vec<CarriedSwitch>,
    /// The names of the switches with a CONFIG_DB to push.
    pub configured: Vec<String>,
    /// Files of members that no transport of the inventory carries, by member.
    pub(crate) undelivered_files: BTreeMap<String, Vec<UndeliveredFile>>,
    /// Switches of the tree that the command skips.
    pub skipped_switches: Vec<SkippedSwitches>,
}

/// Inventory and tree do not match.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum FleetError {
    /// An entry of the inventory cannot be used.
    #[error("inventory: {0}")]
    Inventory(#[from] InventoryError),
    /// A file of the tree cannot be used.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Switches without a connection in the inventory.
    #[error("the inventory lacks {} of the tree: {}{reason}", some(devices), list_names(devices))]
    NoAddress {
        /// The switches.
        devices: Vec<String>,
        /// The reason why no rule applies to them.
        reason: String,
    },
    /// Devices of the inventory that have no entries.
    #[error("the tree has no entries for {} of the inventory: {}{}", some(devices), list_names(devices), advice(*rules))]
    NoEntries {
        /// The devices.
        devices: Vec<String>,
        /// The list of rules for the operating system of the first device.
        rules: Option<&'static str>,
    },
    /// Several switches with the same address.
    #[error(
        "inventory: {} have the address {address}: {}; write `{{name}}` or `{{address}}` in it",
        some(devices),
        list_names(devices)
    )]
    OneAddress {
        /// The switches.
        devices: Vec<String>,
        /// Their address.
        address: String,
    },
    /// Two devices with the same endpoint and device id.
    #[error("`{one}` and `{other}` are both device {device_id} at {endpoint}")]
    Same {
        /// The first.
        one: String,
        /// The second.
        other: String,
        /// Their address.
        endpoint: String,
        /// Their device id.
        device_id: u64,
    },
}

fn no_address(inventory: &Inventory, list: RuleList, devices: Vec<String>) -> FleetError {
    let why = inventory.explain_no_rule(list, &devices);
    FleetError::NoAddress { devices, reason: why }
}

fn some(devices: &[String]) -> String {
    if devices.len() == 1 { "a switch".to_owned() } else { format!("{} switches", devices.len()) }
}

fn advice(rules: Option<&str>) -> String {
    match rules {
        Some(rules) => format!("; `devices` is for P4Runtime, so write a rule under `{rules}` instead"),
        None => String::new(),
    }
}

fn list_names(devices: &[String]) -> String {
    let mut text = devices.iter().take(5).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if devices.len() > 5 {
        text.push_str(", ...");
    }
    text
}

impl Fleet {
    /// Returns the plane of each switch that has one, regardless of its transport.
    pub fn planes(&self) -> HashMap<&str, u8> {
        let members = self.members.iter().map(|member| (&member.target.name, member.target.plane));
        let sonic = self.sonic.iter().map(|switch| (&switch.name, switch.plane));
        let carried = self.carried_switches.iter().map(|switch| (&switch.name, switch.plane));
        let all = members.chain(sonic).chain(carried);
        all.filter_map(|(name, plane)| Some((name.as_str(), plane?))).collect()
    }

    /// Combines inventory and tree. `beside` reads the files that the inventory names; `select` returns whether a
    /// switch takes part.
    ///
    /// The entries of a switch are read only when the switch is processed, so even a large fleet keeps only
    /// programs and addresses in memory.
    pub fn new(
        inventory: &Inventory,
        beside: &dyn Files,
        tree: &Arc<Tree>,
        select: impl Fn(&str) -> bool,
    ) -> Result<Self, FleetError> {
        let inventory = &inventory
            .expand_devices(tree.devices().keys().map(String::as_str).filter(|name| select(name)))?;
        check(inventory, tree, &select)?;
        let mut programs = Programs::new();
        let mut members = Vec::new();
        for (name, device) in inventory.devices.iter().filter(|(name, _)| select(name)) {
            let mut target = Target::from_inventory(name, device, &inventory.defaults, beside)?;
            let known = tree.known_plane(name);
            target.plane = inventory.plane_in(RuleList::P4Runtime, name, device.plane, known)?;
            let compiled = tree.devices().get(name).copied().unwrap_or(PIPELINE);
            let own = device.pipeline.as_ref().or(inventory.defaults.pipeline.as_ref());
            let own = own.map_or(compiled, String::as_str);
            if device.role.is_none() && inventory.defaults.role.is_none() {
                target.controller.role = role_of(own);
            }
            check_program(name, device, own)?;
            let program = match chip(name, device, &inventory.defaults, own)? {
                None => load(&mut programs, own, || tree.program(own))?,
                Some(path) => {
                    let key = format!("{own} {path}");
                    load(&mut programs, &key, || tree.program_with(own, path, beside))?
                }
            };
            let other = match &device.artefacts {
                None => None,
                Some(artefacts) => {
                    let key = format!("{} {}", artefacts.p4info, artefacts.device_config);
                    Some(load(&mut programs, &key, || foreign_program(artefacts, beside))?)
                }
            };
            let roles = Arc::new(roles(device.roles.as_ref(), beside)?);
            let kept = device.keeps_program.then(|| roles.clone());
            let (tree, name) = (tree.clone(), name.clone());
            let wanted = move || {
                let desired = tree.target_state(&name, program.clone())?;
                let desired = match &other {
                    Some(other) => desired.bound(other.clone(), &roles)?,
                    None => TargetState { kept_roles: kept.clone(), ..desired },
                };
                Ok(Arc::new(desired))
            };
            members.push(Member { target, target_state: Arc::new(wanted) });
        }
        let names = members.iter().map(|member| member.target.name.clone());
        let missed = names.map(|name| (undelivered_files(tree, &name, &[Transport::P4Runtime]), name));
        let missed = missed.filter(|(missed, _)| !missed.is_empty()).map(|(missed, name)| (name, missed));
        Ok(Fleet {
            fabric: tree.fabric().to_owned(),
            undelivered_files: missed.collect(),
            members,
            ..Fleet::default()
        })
    }

    /// Adds the SONiC switches of a tree, if the inventory has rules for any. A switch without a connection is then an
    /// error. `beside` reads the files that the inventory names. A switch that has both entries and a CONFIG_DB
    /// receives its CONFIG_DB too, if a rule matches it.
    pub fn with_sonic(
        mut self,
        inventory: &Inventory,
        beside: &dyn Files,
        tree: &Arc<Tree>,
        options: SonicOptions,
        select: impl Fn(&str) -> bool,
    ) -> Result<Self, FleetError> {
        if inventory.sonic.is_empty() {
            return Ok(self);
        }
        let options = Arc::new(options);
        let mut links = Links::new(inventory, beside);
        let mut devices = Vec::new();
        for name in tree.sonic().iter().filter(|name| select(name)) {
            let Some((link, plane)) = links.of(name, tree.known_plane(name))? else {
                devices.push(name.clone());
                continue;
            };
            let (name, goal, options) = (name.clone(), SonicGoal::Tree(tree.clone()), options.clone());
            let missed = undelivered_files(tree, &name, &[link.transport()]);
            self.sonic.push(SonicSwitch {
                name,
                plane,
                link,
                goal,
                wave: 0,
                options,
                undelivered_files: missed,
            });
        }
        for member in
            self.members.iter_mut().filter(|member| tree.dual_switches().contains(&member.target.name))
        {
            let name = member.target.name.clone();
            let Some((link, plane)) = links.of(&name, tree.known_plane(&name))? else { continue };
            member.target.plane = member.target.plane.or(plane);
            let (plane, goal) = (member.target.plane, SonicGoal::Tree(tree.clone()));
            let options = options.clone();
            self.undelivered_files.remove(&name);
            let missed = undelivered_files(tree, &name, &[Transport::P4Runtime, link.transport()]);
            self.sonic.push(SonicSwitch {
                name,
                plane,
                link,
                goal,
                wave: 0,
                options,
                undelivered_files: missed,
            });
        }
        self.configured = self.sonic.iter().map(|switch| switch.name.clone()).collect();
        if devices.is_empty() { Ok(self) } else { Err(no_address(inventory, RuleList::Sonic, devices)) }
    }

    /// Adds the switches of a tree that are configured by files, if the inventory has rules for any. A switch without a
    /// connection is then an error.
    pub fn with_carried(
        mut self,
        inventory: &Inventory,
        beside: &dyn Files,
        tree: &Arc<Tree>,
        options: CarrierOptions,
        select: impl Fn(&str) -> bool,
    ) -> Result<Self, FleetError> {
        if !inventory.has_ssh() {
            return Ok(self);
        }
        let options = Arc::new(options);
        let links = Links::new(inventory, beside);
        let mut devices = Vec::new();
        let reached = tree.other_switches().iter().filter(|(name, os)| has_carrier(os) && select(name));
        for (name, os) in reached {
            let known = tree.known_plane(name);
            let Some((ssh, place, plane)) = links.ssh_connection((name, os), has_folders(os), known)? else {
                devices.push(name.clone());
                continue;
            };
            let (name, os, goal) = (name.clone(), *os, CarriedGoal::Tree(tree.clone()));
            let options = options.clone();
            self.carried_switches.push(CarriedSwitch { name, plane, os, ssh, place, goal, wave: 0, options });
        }
        if devices.is_empty() { Ok(self) } else { Err(no_address(inventory, RuleList::Ssh, devices)) }
    }

    /// Adds the switches of the tree that are skipped. `instead` returns the advice for an operating system that closc
    /// does not push to.
    #[must_use]
    pub fn with_left_alone(
        mut self,
        inventory: &Inventory,
        tree: &Tree,
        instead: impl Fn(&str) -> String,
        select: impl Fn(&str) -> bool,
    ) -> Self {
        let carried: BTreeSet<&str> =
            self.carried_switches.iter().map(|switch| switch.name.as_str()).collect();
        let is_carried = |name: &str| carried.contains(name);
        self.skipped_switches = find_skipped(tree, inventory, &instead, &select, &is_carried);
        self
    }

    /// Returns the fleet with only the configurations of selected switches, without entries.
    #[must_use]
    pub fn select_configurations(&self, select: impl Fn(&str) -> bool) -> Self {
        let sonic: Vec<SonicSwitch> =
            self.sonic.iter().filter(|switch| select(&switch.name)).cloned().collect();
        let configured = sonic.iter().map(|switch| switch.name.clone()).collect();
        let carried = self.carried_switches.iter().filter(|switch| select(&switch.name)).cloned().collect();
        Fleet {
            fabric: self.fabric.clone(),
            sonic,
            configured,
            carried_switches: carried,
            ..Fleet::default()
        }
    }

    /// Returns the switches that keep no backups of earlier pushes.
    pub fn unbacked_switches(&self) -> impl Iterator<Item = &str> {
        let members = self.members.iter().map(|member| member.target.name.as_str());
        members.chain(self.sonic.iter().map(|switch| switch.name.as_str()))
    }

    /// Returns whether the fleet has switches that keep backups of earlier pushes.
    pub fn has_backups(&self) -> bool {
        !self.carried_switches.is_empty()
    }

    /// Returns whether the fleet has switches with a configuration to push, and not only entries.
    pub fn has_configurations(&self) -> bool {
        !(self.sonic.is_empty() && self.carried_switches.is_empty())
    }

    /// Returns the files of its switches that no transport carries.
    pub fn unsupported_files(&self) -> Vec<UnsupportedFile> {
        let members = self.undelivered_files.iter().map(|(name, missed)| (name.as_str(), missed.as_slice()));
        group_unsupported(members.chain(
            self.sonic.iter().map(|switch| (switch.name.as_str(), switch.undelivered_files.as_slice())),
        ))
    }

    /// Returns the fleet without its files that no transport carries: the switches of a lab need only entries.
    #[must_use]
    pub fn of_lab(self) -> Self {
        Fleet { undelivered_files: BTreeMap::new(), ..self }
    }

    /// Returns the number of switches.
    pub fn n_switches(&self) -> usize {
        let members: BTreeSet<&str> = self.members.iter().map(|member| member.target.name.as_str()).collect();
        self.carried_switches.len()
            + members.len()
            + self.sonic.iter().filter(|switch| !members.contains(switch.name.as_str())).count()
    }

    /// Returns every switch, regardless of its protocol.
    pub(crate) fn switches(&self) -> Vec<Arc<dyn Switch>> {
        let mut sonic: BTreeMap<&str, &SonicSwitch> =
            self.sonic.iter().map(|switch| (switch.name.as_str(), switch)).collect();
        let mut switches: Vec<Arc<dyn Switch>> = Vec::new();
        for member in &self.members {
            switches.push(match sonic.remove(member.target.name.as_str()) {
                Some(sonic) => {
                    let (member, sonic) = (member.clone(), sonic.clone());
                    Arc::new(Pair { member, sonic, saved_plan: None })
                }
                None => Arc::new(member.clone()),
            });
        }
        let others = self.sonic.iter().filter(|switch| sonic.contains_key(switch.name.as_str()));
        switches.extend(others.map(|switch| Arc::new(switch.clone()) as Arc<dyn Switch>));
        let carried = self.carried_switches.iter().map(|switch| Arc::new(switch.clone()) as Arc<dyn Switch>);
        switches.extend(carried);
        switches
    }
}

impl Fleet {
    /// Makes every new connection reload the certificates of the inventory, for long-running programs.
    #[must_use]
    pub fn with_certificate_renewal(mut self, inventory: &Inventory, files: &Arc<dyn Files>) -> Self {
        for member in &mut self.members {
            if let Ok(Some(device)) = inventory.device(&member.target.name) {
                member.target.renew_certificates(&device, &inventory.defaults, files);
            }
        }
        self
    }
}

/// Returns the files of a switch that some transports do not carry.
fn undelivered_files(tree: &Tree, name: &str, transports: &[Transport]) -> Vec<UndeliveredFile> {
    carriers::undelivered_files(tree.files_of(name), transports)
}

/// Checks the settings of the inventory for the program of a switch.
fn check_program(name: &str, device: &Device, pipeline: &str) -> Result<(), InventoryError> {
    let reason = match (device.keeps_program, &device.artefacts, &device.roles, &device.device_config) {
        (true, Some(_), ..) => "`artefacts` cannot be set with `keeps_program`".to_owned(),
        (true, _, _, Some(_)) => "`device_config` cannot be set with `keeps_program`".to_owned(),
        (_, Some(_), _, Some(_)) => {
            "`device_config` cannot be set together with `artefacts`, which contain their own".to_owned()
        }
        (_, _, _, Some(_)) if !is_without_program(pipeline) => {
            format!(
                "the tree contains the program of pipeline `{pipeline}`; move `device_config` into \
                 `artefacts`"
            )
        }
        (false, None, Some(_), _) => {
            "`roles` need the program of the switch: set `artefacts` or `keeps_program: true`".to_owned()
        }
        _ => return Ok(()),
    };
    Err(InventoryError::Device { device: name.to_owned(), reason })
}

/// Returns the path of the file that the switch's chip loads, if trees do not contain the program of its
/// pipeline.
fn chip<'i>(
    name: &str,
    device: &'i Device,
    defaults: &'i Defaults,
    pipeline: &str,
) -> Result<Option<&'i str>, InventoryError> {
    if !is_without_program(pipeline) || device.keeps_program || device.artefacts.is_some() {
        return Ok(None);
    }
    let found = device.device_config.as_deref().or(defaults.device_config.as_deref());
    found.map(Some).ok_or_else(|| InventoryError::Device {
        device: name.to_owned(),
        reason: format!(
            "no tree contains the program of pipeline `{pipeline}`: set `device_config`, the output of the \
             compiler of the switch's SDE, or `keeps_program: true`"
        ),
    })
}

/// The default pipeline.
const PIPELINE: &str = "fabric";

/// Pipelines whose tables belong to a role other than the default one, by `@p4runtime_role` of their P4Infos.
const ROLES: [(&str, &str); 1] = [("sai", "sdn_controller")];

/// Returns the role that writes the tables of a pipeline, if the inventory sets none.
fn role_of(pipeline: &str) -> RoleName {
    let found = ROLES.iter().find(|(of, _)| *of == pipeline);
    RoleName::new(found.map_or("", |(_, role)| role))
}

fn load(
    programs: &mut Programs,
    key: &str,
    load: impl FnOnce() -> Result<Program, TreeError>,
) -> Result<Arc<Program>, TreeError> {
    if let Some(program) = programs.get(key) {
        return Ok(program.clone());
    }
    let program = Arc::new(load()?);
    programs.insert(key.to_owned(), program.clone());
    Ok(program)
}

/// Rejects a rule that assigns the same network address to several switches.
fn one_address(inventory: &Inventory, tree: &Tree, select: &impl Fn(&str) -> bool) -> Result<(), FleetError> {
    let mut seen: BTreeMap<(String, Option<u16>), Vec<String>> = BTreeMap::new();
    let names = tree.sonic().iter().chain(tree.other_switches().keys()).filter(|name| select(name));
    for name in names {
        let sonic = inventory.sonic_of(name).map(|rule| (&rule.address, rule.port));
        let Some((address, port)) =
            sonic.or_else(|| inventory.ssh_of(name).map(|rule| (&rule.address, rule.port)))
        else {
            continue;
        };
        // An address that cannot be used is reported with the connection of its switch.
        let Ok(host) = inventory.fill_pattern(address, name, false) else { continue };
        if !is_local_host(&host) && !is_wrong_ipv4(&host) {
            seen.entry((host, port)).or_default().push(name.clone());
        }
    }
    match seen.into_iter().find(|(_, devices)| devices.len() > 1) {
        Some(((address, _), devices)) => Err(FleetError::OneAddress { devices, address }),
        None => Ok(()),
    }
}

fn check(inventory: &Inventory, tree: &Tree, select: &impl Fn(&str) -> bool) -> Result<(), FleetError> {
    let listed: BTreeSet<&String> = inventory.devices.keys().filter(|name| select(name)).collect();
    let compiled: BTreeSet<&String> = tree.devices().keys().filter(|name| select(name)).collect();
    let names =
        |difference: Vec<&&String>| difference.into_iter().map(|name| (*name).clone()).collect::<Vec<_>>();
    let devices = names(compiled.difference(&listed).collect());
    if !devices.is_empty() {
        return Err(no_address(inventory, RuleList::P4Runtime, devices));
    }
    let devices = names(listed.difference(&compiled).collect());
    if !devices.is_empty() {
        let first = &devices[0];
        let rules = match (tree.sonic().contains(first), tree.other_switches().get(first)) {
            (true, _) => Some("sonic"),
            (false, Some(os)) if has_carrier(os) => Some("ssh"),
            (false, Some(_) | None) => None,
        };
        return Err(FleetError::NoEntries { devices, rules });
    }
    one_address(inventory, tree, select)?;
    let mut seen: BTreeMap<(&str, u64), &String> = BTreeMap::new();
    for (name, device) in &inventory.devices {
        if let Some(one) = seen.insert((&device.endpoint, device.device_id), name) {
            return Err(FleetError::Same {
                one: one.clone(),
                other: name.clone(),
                endpoint: device.endpoint.clone(),
                device_id: device.device_id,
            });
        }
    }
    Ok(())
}
