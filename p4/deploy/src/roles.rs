//! Roles of the tables of a pipeline.
//!
//! In: YAML, one role per key. Out: [`Roles`]. Invariants: an unknown key is rejected; a table has one role.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

/// The roles of each pipeline that trees are compiled for.
const SHIPPED: [(&str, &str); 3] = [
    ("fabric", include_str!("../../pipelines/fabric/roles.yaml")),
    ("fabric_tna", include_str!("../../pipelines/fabric_tna/roles.yaml")),
    ("sai", include_str!("../../pipelines/sai/roles.yaml")),
];

/// Purpose of a table, and the names of it and its parts.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Role {
    /// The table, by full name, alias or unique suffix.
    pub(crate) table: String,
    /// Function that is missing without the table; if empty, a pipeline must have the table.
    #[serde(default)]
    pub(crate) without: Option<String>,
    /// Names of its match fields, by their names in the tree's pipeline.
    #[serde(default)]
    pub(crate) fields: BTreeMap<String, String>,
    /// Names of its actions, by their names in the tree's pipeline.
    #[serde(default)]
    pub(crate) actions: BTreeMap<String, String>,
    /// Names of the parameters of its actions, by their names in the tree's pipeline.
    #[serde(default)]
    pub(crate) params: BTreeMap<String, String>,
}

/// The roles of the tables of a pipeline, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Roles(BTreeMap<String, Role>);

/// Roles that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RolesError {
    /// They are not YAML of this form.
    #[error("{0}")]
    Syntax(String),
    /// An unknown role.
    #[error("unknown role `{role}`; expected one of {}", known_roles.join(", "))]
    Unknown {
        /// The role.
        role: String,
        /// The known roles.
        known_roles: Vec<String>,
    },
}

impl Roles {
    /// Returns the roles of a pipeline that trees are compiled for; empty for any other.
    pub(crate) fn of(pipeline: &str) -> Roles {
        let found = SHIPPED.iter().find(|(name, _)| *name == pipeline);
        let read = |text| serde_saphyr::from_str(text).expect("a test reads the roles that ship");
        Roles(found.map(|(_, text)| read(*text)).unwrap_or_default())
    }

    /// Reads the roles of a site's own pipeline. A missing role has the names of the tree's pipeline.
    pub(crate) fn parse(text: &str) -> Result<Roles, RolesError> {
        let syntax = |error: serde_saphyr::Error| {
            let text = error.without_snippet().to_string();
            RolesError::Syntax(text.lines().next().unwrap_or_default().to_owned())
        };
        let roles: BTreeMap<String, Role> = serde_saphyr::from_str(text).map_err(syntax)?;
        let known: BTreeMap<String, Role> =
            SHIPPED.iter().flat_map(|(pipeline, _)| Roles::of(pipeline).0).collect();
        match roles.keys().find(|role| !known.contains_key(*role)) {
            Some(role) => {
                Err(RolesError::Unknown { role: role.clone(), known_roles: known.into_keys().collect() })
            }
            None => Ok(Roles(roles)),
        }
    }

    /// Returns a role.
    pub(crate) fn get(&self, role: &str) -> Option<&Role> {
        self.0.get(role)
    }

    /// Returns the role of a table by any of its names, with the role's own name.
    pub(crate) fn of_table(&self, names: [&str; 2]) -> Option<(&str, &Role)> {
        self.0
            .iter()
            .find(|(_, role)| names.contains(&role.table.as_str()))
            .map(|(name, role)| (name.as_str(), role))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use closc_entries::Pipeline;

    use super::*;

    #[test]
    fn every_table_of_the_pipeline_has_one_role() {
        for pipeline in Pipeline::all() {
            let roles = Roles::of(pipeline.name());
            let names = |table: &str| pipeline.info().table(table).map(|table| table.preamble.name.as_str());
            let named: Vec<&str> =
                roles.0.values().map(|role| names(&role.table).expect("a table")).collect();
            let tables: BTreeSet<&str> =
                pipeline.info().tables().iter().map(|table| table.preamble.name.as_str()).collect();
            assert_eq!(named.iter().copied().collect::<BTreeSet<_>>(), tables);
            assert_eq!(named.len(), tables.len());
        }
    }

    #[test]
    fn mistakes_are_named() {
        let says = |text: &str| Roles::parse(text).expect_err("it is refused").to_string();
        assert!(says("rout: { table: x }").starts_with("unknown role `rout`; expected one of class, ecn, "));
        assert!(says("route: { tabel: x }").contains("tabel"), "{}", says("route: { tabel: x }"));
    }
}
