//! Primary election: the state machine of P4Runtime's client arbitration, separate for each device and role.
//!
//! In: the messages of controllers and the ends of their streams. Out: the notifications to send, or the
//! status that ends a stream. Invariants: no clock, no network. The caller protects the state machine with
//! the same lock as writes, so that no write of an old primary is in flight when a new one is announced.

use std::collections::BTreeMap;

use thiserror::Error;
use tonic::{Code, Status};

use crate::election::{DeviceId, ElectionId, RoleName};
use crate::proto::{rpc, v1};

/// Maximum number of roles of a device, including roles without controllers. If a role is forgotten, its highest
/// election id is reset.
const ROLES: usize = 64;

/// Maximum length of a role name, in bytes.
const ROLE_BYTES: usize = 256;

/// A stream, numbered by the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// A message to send on a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    /// The stream.
    pub stream: StreamId,
    /// The result of the arbitration for this stream.
    pub update: v1::MasterArbitrationUpdate,
}

/// The reason why a stream must end or a request fails.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The device is unknown.
    #[error("device id {device} is not known here")]
    UnknownDevice {
        /// The device.
        device: DeviceId,
    },
    /// Another connected controller has the id.
    #[error("election id {election} is used by another controller of device {device}, {role}")]
    ElectionIdInUse {
        /// The id.
        election: ElectionId,
        /// The device.
        device: DeviceId,
        /// The role.
        role: RoleName,
    },
    /// The stream was opened for another device.
    #[error("the stream belongs to device {device}; open another one for device {requested_device}")]
    OtherDevice {
        /// The device of the stream.
        device: DeviceId,
        /// The device of the message.
        requested_device: DeviceId,
    },
    /// The stream was opened for another role.
    #[error("the stream belongs to the {role}; open another one for the {requested_role}")]
    OtherRole {
        /// The role of the stream.
        role: RoleName,
        /// The role of the message.
        requested_role: RoleName,
    },
    /// The role has a configuration, which this server does not support.
    #[error("the configuration of the {role} is not understood")]
    RoleConfig {
        /// The role.
        role: RoleName,
    },
    /// The role has the maximum number of controllers.
    #[error("device {device}, {role} has {limit} controllers, no more are taken")]
    TooMany {
        /// The device.
        device: DeviceId,
        /// The role.
        role: RoleName,
        /// The limit.
        limit: usize,
    },
    /// The device has the maximum number of roles, and each has a controller.
    #[error("device {device} has {limit} roles with controllers, no more are taken")]
    TooManyRoles {
        /// The device.
        device: DeviceId,
        /// The limit.
        limit: usize,
    },
    /// The name of the role is too long.
    #[error("the name of the role has {length} bytes, at most {limit} are taken")]
    LongRole {
        /// The length of the name, in bytes.
        length: usize,
        /// The maximum length, in bytes.
        limit: usize,
    },
    /// No controller has taken the role, or the role was forgotten.
    #[error("device {device} has no {role}")]
    UnknownRole {
        /// The device.
        device: DeviceId,
        /// The role.
        role: RoleName,
    },
    /// The request does not come from the primary.
    #[error("not primary: device {device}, {role}, {}", describe_primary(*primary))]
    NotPrimary {
        /// The device.
        device: DeviceId,
        /// The role.
        role: RoleName,
        /// The election id of the primary, if there is one.
        primary: Option<ElectionId>,
    },
}

fn describe_primary(primary: Option<ElectionId>) -> String {
    primary.map_or("no controller is".to_owned(), |id| format!("the controller with election id {id} is"))
}

impl Refusal {
    /// Returns the status code that the specification requires.
    pub fn code(&self) -> Code {
        match self {
            Refusal::UnknownDevice { .. } | Refusal::UnknownRole { .. } => Code::NotFound,
            Refusal::ElectionIdInUse { .. } | Refusal::RoleConfig { .. } | Refusal::LongRole { .. } => {
                Code::InvalidArgument
            }
            Refusal::OtherDevice { .. } | Refusal::OtherRole { .. } => Code::FailedPrecondition,
            Refusal::TooMany { .. } | Refusal::TooManyRoles { .. } => Code::ResourceExhausted,
            Refusal::NotPrimary { .. } => Code::PermissionDenied,
        }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        Status::new(refusal.code(), refusal.to_string())
    }
}

/// One role of one device.
#[derive(Debug, Default)]
struct Group {
    /// The connected controllers and their election ids.
    controllers: BTreeMap<StreamId, Option<ElectionId>>,
    /// The highest election id received so far. A restart resets it, and so does forgetting the role.
    highest: Option<ElectionId>,
    primary: Option<StreamId>,
    /// The rights of the role, as set by the last primary.
    config: Option<prost_types::Any>,
}

/// The controllers of all devices of a server.
#[derive(Debug)]
pub struct Arbitration {
    devices: BTreeMap<DeviceId, BTreeMap<RoleName, Group>>,
    streams: BTreeMap<StreamId, (DeviceId, RoleName)>,
    /// Maximum number of controllers of one role of one device.
    limit: usize,
    /// Whether a role may have a configuration.
    accept_role_config: bool,
}

impl Arbitration {
    /// Returns the arbitration for some devices, with at most `limit` controllers for each of their roles.
    pub fn new(devices: impl IntoIterator<Item = DeviceId>, limit: usize) -> Self {
        let devices = devices.into_iter().map(|device| (device, BTreeMap::new())).collect();
        Arbitration { devices, streams: BTreeMap::new(), limit, accept_role_config: false }
    }

    /// Accepts every role configuration and includes it in notifications. By default, a role with a configuration is
    /// rejected.
    #[must_use]
    pub fn accept_role_config(mut self) -> Self {
        self.accept_role_config = true;
        self
    }

    /// Handles a `MasterArbitrationUpdate`. If it is rejected, the stream must end; call [`Self::disconnect`] then.
    pub fn update(
        &mut self,
        stream: StreamId,
        message: &v1::MasterArbitrationUpdate,
    ) -> Result<Vec<Notification>, Refusal> {
        let device = DeviceId(message.device_id);
        let role = RoleName::from_message(message.role.as_ref());
        let election = message.election_id.map(ElectionId::from);
        let config = message.role.as_ref().and_then(|role| role.config.clone());
        self.check_claim(stream, device, &role, election, config.is_some())?;
        self.make_room(device, &role)?;

        self.streams.insert(stream, (device, role.clone()));
        let group =
            self.devices.get_mut(&device).expect("its claim was checked").entry(role.clone()).or_default();
        group.controllers.insert(stream, election);
        let was_primary = group.primary == Some(stream);
        let wins = election.is_some_and(|id| group.highest.is_none_or(|highest| id >= highest));
        if wins {
            group.primary = Some(stream);
            group.highest = election;
            group.config = config;
            return Ok(group.notify_all(device, &role));
        }
        if was_primary {
            group.primary = None;
            return Ok(group.notify_all(device, &role));
        }
        Ok(vec![group.notification(stream, device, &role)])
    }

    fn check_claim(
        &self,
        stream: StreamId,
        device: DeviceId,
        role: &RoleName,
        election: Option<ElectionId>,
        has_config: bool,
    ) -> Result<(), Refusal> {
        let length = role.name().len();
        if length > ROLE_BYTES {
            return Err(Refusal::LongRole { length, limit: ROLE_BYTES });
        }
        let known = self.streams.get(&stream);
        if let Some((own, own_role)) = known {
            if *own != device {
                return Err(Refusal::OtherDevice { device: *own, requested_device: device });
            }
            if own_role != role {
                return Err(Refusal::OtherRole { role: own_role.clone(), requested_role: role.clone() });
            }
        }
        let roles = self.devices.get(&device).ok_or(Refusal::UnknownDevice { device })?;
        let group = roles.get(role);
        let mut others =
            group.into_iter().flat_map(|group| &group.controllers).filter(|(id, _)| **id != stream);
        if let Some(election) = election
            && others.any(|(_, other)| *other == Some(election))
        {
            return Err(Refusal::ElectionIdInUse { election, device, role: role.clone() });
        }
        if has_config && !self.accept_role_config {
            return Err(Refusal::RoleConfig { role: role.clone() });
        }
        let n_controllers = group.map_or(0, |group| group.controllers.len());
        if known.is_none() && n_controllers >= self.limit {
            return Err(Refusal::TooMany { device, role: role.clone(), limit: self.limit });
        }
        Ok(())
    }

    /// Forgets a role without controllers if a new role would exceed the limit.
    fn make_room(&mut self, device: DeviceId, role: &RoleName) -> Result<(), Refusal> {
        let roles = self.devices.get_mut(&device).ok_or(Refusal::UnknownDevice { device })?;
        if roles.len() < ROLES || roles.contains_key(role) {
            return Ok(());
        }
        let left = roles.iter().find(|(role, group)| !role.is_default() && group.controllers.is_empty());
        let left = left.map(|(role, _)| role.clone());
        let left = left.ok_or(Refusal::TooManyRoles { device, limit: ROLES })?;
        roles.remove(&left);
        Ok(())
    }

    /// Removes a stream that ended. If it was the primary, the others are notified.
    pub fn disconnect(&mut self, stream: StreamId) -> Vec<Notification> {
        let Some((device, role)) = self.streams.remove(&stream) else { return Vec::new() };
        let Some(group) = self.devices.get_mut(&device).and_then(|roles| roles.get_mut(&role)) else {
            return Vec::new();
        };
        group.controllers.remove(&stream);
        if group.primary != Some(stream) {
            return Vec::new();
        }
        group.primary = None;
        group.notify_all(device, &role)
    }

    /// Checks that a Write or a `SetForwardingPipelineConfig` comes from the primary.
    pub fn authorize(
        &self,
        device: DeviceId,
        role: &RoleName,
        election: Option<ElectionId>,
    ) -> Result<StreamId, Refusal> {
        let roles = self.devices.get(&device).ok_or(Refusal::UnknownDevice { device })?;
        let group = match roles.get(role) {
            Some(group) => group,
            None if role.is_default() => {
                return Err(Refusal::NotPrimary { device, role: role.clone(), primary: None });
            }
            None => return Err(Refusal::UnknownRole { device, role: role.clone() }),
        };
        match group.primary {
            Some(stream) if election.is_some() && election == group.highest => Ok(stream),
            primary => {
                let primary = primary.and(group.highest);
                Err(Refusal::NotPrimary { device, role: role.clone(), primary })
            }
        }
    }

    /// Checks that a device is known, as a Read needs.
    #[cfg(feature = "testing")]
    pub(crate) fn require_device(&self, device: DeviceId) -> Result<(), Refusal> {
        if self.devices.contains_key(&device) { Ok(()) } else { Err(Refusal::UnknownDevice { device }) }
    }

    /// Returns the primary of a role.
    pub fn primary(&self, device: DeviceId, role: &RoleName) -> Option<StreamId> {
        self.devices.get(&device)?.get(role)?.primary
    }

    /// Returns the primaries of all roles of a device; they get packet-ins and other notifications.
    pub fn primaries(&self, device: DeviceId) -> impl Iterator<Item = StreamId> + '_ {
        let roles = self.devices.get(&device).into_iter().flat_map(BTreeMap::values);
        roles.filter_map(|group| group.primary)
    }

    /// Returns whether a stream is the primary of its role, as a packet-out requires.
    pub fn is_primary(&self, stream: StreamId) -> bool {
        let own = self.streams.get(&stream);
        own.is_some_and(|(device, role)| self.primary(*device, role) == Some(stream))
    }

    /// Returns how many controllers there are, over all devices and roles.
    pub fn controllers(&self) -> usize {
        self.streams.len()
    }

    /// Returns how many roles are remembered, over all devices.
    pub fn roles(&self) -> usize {
        self.devices.values().map(BTreeMap::len).sum()
    }

    /// Returns the device that a stream was opened for.
    pub fn device_of(&self, stream: StreamId) -> Option<DeviceId> {
        self.streams.get(&stream).map(|(device, _)| *device)
    }
}

impl Group {
    /// Notifies the backups first and the primary last, as the specification requires.
    fn notify_all(&self, device: DeviceId, role: &RoleName) -> Vec<Notification> {
        let backups = self.controllers.keys().filter(|stream| self.primary != Some(**stream));
        backups.chain(&self.primary).map(|stream| self.notification(*stream, device, role)).collect()
    }

    fn notification(&self, stream: StreamId, device: DeviceId, role: &RoleName) -> Notification {
        let (code, message) = match self.primary {
            Some(primary) if primary == stream => (rpc::Code::Ok, "you are primary"),
            Some(_) => (rpc::Code::AlreadyExists, "you are backup, another controller is primary"),
            None => (rpc::Code::NotFound, "you are backup, no controller is primary"),
        };
        let status = rpc::Status { code: code.into(), message: message.to_owned(), details: Vec::new() };
        let update = v1::MasterArbitrationUpdate {
            device_id: device.0,
            role: role.to_message(self.config.clone()),
            election_id: self.highest.map(Into::into),
            status: Some(status),
        };
        Notification { stream, update }
    }
}

#[cfg(test)]
mod tests;
