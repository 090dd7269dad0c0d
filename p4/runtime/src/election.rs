//! Identity of a controller for a target: device, role and election id.

use std::fmt;

use crate::proto::v1;

/// An election id; the controller with the highest one is primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElectionId(pub u128);

impl ElectionId {
    /// Returns the id plus one, or the same id if it is the highest possible.
    #[must_use]
    pub fn next(self) -> Self {
        ElectionId(self.0.saturating_add(1))
    }
}

impl From<v1::Uint128> for ElectionId {
    fn from(id: v1::Uint128) -> Self {
        ElectionId(u128::from(id.high) << 64 | u128::from(id.low))
    }
}

impl From<ElectionId> for v1::Uint128 {
    fn from(id: ElectionId) -> Self {
        v1::Uint128 { high: (id.0 >> 64) as u64, low: id.0 as u64 }
    }
}

impl fmt::Display for ElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number by which a target knows a device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(pub u64);

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A role of a controller: a name, or a number for older controllers. The default role has all rights.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoleName {
    name: String,
    number: u64,
}

impl RoleName {
    /// Returns the role with a name; the empty name is the default role.
    pub fn new(name: impl Into<String>) -> Self {
        RoleName { name: name.into(), number: 0 }
    }

    /// Returns the role from the fields of a request; a name takes precedence over a number.
    pub fn from_fields(name: &str, number: u64) -> Self {
        RoleName { name: name.to_owned(), number: if name.is_empty() { number } else { 0 } }
    }

    /// Returns whether this is the default role, which has all rights.
    pub fn is_default(&self) -> bool {
        self.name.is_empty() && self.number == 0
    }

    /// Returns the name for the `role` field of a request.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number for the `role_id` field of a request.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the role that a message names; without a message it is the default role.
    #[expect(deprecated, reason = "older controllers still name roles by number")]
    pub fn from_message(role: Option<&v1::Role>) -> Self {
        role.map(|role| RoleName::from_fields(&role.name, role.id)).unwrap_or_default()
    }

    /// Returns the message that names the role, or `None` for the default role without a configuration.
    #[expect(deprecated, reason = "older controllers still name roles by number")]
    pub(crate) fn to_message(&self, config: Option<prost_types::Any>) -> Option<v1::Role> {
        let needed = !self.is_default() || config.is_some();
        needed.then(|| v1::Role { id: self.number, name: self.name.clone(), config })
    }
}

impl fmt::Display for RoleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.name.as_str(), self.number) {
            ("", 0) => f.write_str("default role"),
            ("", number) => write!(f, "role {number}"),
            (name, _) => write!(f, "role `{name}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn election_ids_are_one_number() {
        let id = ElectionId(1 << 64 | 7);
        assert_eq!(v1::Uint128::from(id), v1::Uint128 { high: 1, low: 7 });
        assert_eq!(ElectionId::from(v1::Uint128 { high: 1, low: 7 }), id);
        assert!(ElectionId(u128::MAX).next() == ElectionId(u128::MAX));
    }

    #[test]
    fn a_role_without_name_and_number_is_the_default_one() {
        assert!(RoleName::from_message(None).is_default());
        assert_eq!(RoleName::default().to_message(None), None);
        assert_eq!(RoleName::from_fields("", 3).to_string(), "role 3");
        assert_eq!(RoleName::from_fields("routing", 3), RoleName::new("routing"));
    }
}
