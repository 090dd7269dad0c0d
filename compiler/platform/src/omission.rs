//! SONiC's switch models of 12.8 Tb/s and more that the catalogue lacks, and hwskus that its entries lack.
//!
//! In: `omissions.yaml`, which `cargo xtask platforms` writes. Out: [`Omissions`]. Invariants: every omission has the
//! reason why no entry could be derived.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A switch model or a hwsku without an entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Omission {
    /// SONiC's name of the model.
    pub platform: String,
    /// The hwsku, if the model has an entry that lacks only this one.
    #[serde(default)]
    pub hwsku: Option<String>,
    /// Reason why SONiC's files do not suffice for an entry.
    pub reason: String,
}

/// The omissions, and the files that they were derived from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Omissions {
    /// Repository and commit.
    pub source: String,
    /// The omissions, by model.
    pub omissions: Vec<Omission>,
}

impl Omissions {
    /// Returns the register.
    pub fn published() -> &'static Omissions {
        static ALL: LazyLock<Omissions> = LazyLock::new(|| {
            serde_saphyr::from_str(include_str!("../omissions.yaml")).expect("a test reads the register")
        });
        &ALL
    }

    /// Returns the omission of a model, or of a hwsku.
    pub fn find(&self, name: &str) -> Option<&Omission> {
        self.omissions.iter().find(|own| own.hwsku.as_deref().unwrap_or(&own.platform) == name)
    }
}
