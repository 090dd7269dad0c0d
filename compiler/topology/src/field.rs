//! A field of the language by its path: `tiers.t0.up`.
//!
//! In: a path that is written in the source. Out: a [`Field`]. Invariants: there is a field only for a path that a
//! document declares; a misspelt path, or one whose key was renamed, does not compile.

use std::borrow::Cow;
use std::fmt;

use crate::document::FabricDoc;
use crate::read::{AffectedArtefacts, Read as _};

const _: () = assert!(FabricDoc::KIND.says_what_it_touches(false), "a field does not say what it touches");

/// A field of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(&'static str);

/// Makes a [`Field`] from its path, with `*` for keys that the writer of a file chooses.
///
/// ```
/// assert_eq!(closc_topology::field!("tiers.t0.up").path(), "tiers.t0.up");
/// ```
///
/// ```compile_fail
/// closc_topology::field!("tiers.t0.upwards");
/// ```
#[macro_export]
macro_rules! field {
    ($path:expr) => {
        const { $crate::Field::declared($path) }
    };
}

/// Makes the [`Field`] of a tier (`tiers.t0`, `tiers.t1` or `tiers.t2`), or of a key below it.
#[macro_export]
macro_rules! tier_field {
    ($tier:expr) => {
        match $tier {
            $crate::TierId::T0 => $crate::field!("tiers.t0"),
            $crate::TierId::T1 => $crate::field!("tiers.t1"),
            $crate::TierId::T2 => $crate::field!("tiers.t2"),
        }
    };
    ($tier:expr, $key:literal) => {
        match $tier {
            $crate::TierId::T0 => $crate::field!(concat!("tiers.t0.", $key)),
            $crate::TierId::T1 => $crate::field!(concat!("tiers.t1.", $key)),
            $crate::TierId::T2 => $crate::field!(concat!("tiers.t2.", $key)),
        }
    };
}

impl Field {
    /// Returns the field of a path. Use [`field!`], which rejects a wrong path at compile time.
    #[doc(hidden)]
    #[must_use]
    pub const fn declared(path: &'static str) -> Field {
        assert!(FabricDoc::KIND.find(path).is_some(), "the language has no field of this path");
        Field(path)
    }

    /// Returns the field with this path. In a constant, a path without declared artefacts does not compile.
    pub const fn with_artefacts(path: &'static str) -> Field {
        let is_stated = match FabricDoc::KIND.find(path) {
            Some(value) => value.touches.is_some(),
            None => false,
        };
        assert!(is_stated, "the language does not declare which artefacts a change of the field affects");
        Field(path)
    }

    /// Returns whether the language has a field with this path.
    pub fn is_declared(path: &str) -> bool {
        FabricDoc::KIND.find(path).is_some()
    }

    /// Returns the dotted path, as in messages and schemas.
    pub const fn path(self) -> &'static str {
        self.0
    }

    /// Returns the last key of the path.
    pub fn key(self) -> &'static str {
        self.0.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the path with a key from a file instead of `*`.
    pub fn with_key(self, key: impl fmt::Display) -> FieldPath {
        FieldPath(self.0.replacen('*', &key.to_string(), 1).into())
    }

    /// Returns which artefacts a change of the value may change.
    pub fn touches(self) -> AffectedArtefacts {
        touches(self.0).expect("every value says what it touches")
    }
}

/// Returns which artefacts a change of the value at a path may change; `None` if the language does not have the path.
pub fn touches(path: &str) -> Option<AffectedArtefacts> {
    let tiers = [
        (field!("tiers.t0"), AffectedArtefacts::T0),
        (field!("tiers.t1"), AffectedArtefacts::T1),
        (field!("tiers.t2"), AffectedArtefacts::T2),
    ];
    let tier = tiers.into_iter().find(|(tier, _)| path.starts_with(tier.0)).map(|(_, touches)| touches);
    Some(FabricDoc::KIND.find(path)?.touches?.in_tier(tier))
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The path of a value in a file: a field, with the keys that the file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath(Cow<'static, str>);

impl FieldPath {
    /// Returns the dotted path.
    pub fn path(&self) -> &str {
        &self.0
    }
}

impl From<Field> for FieldPath {
    fn from(field: Field) -> Self {
        FieldPath(Cow::Borrowed(field.0))
    }
}

impl From<&FieldPath> for FieldPath {
    fn from(path: &FieldPath) -> Self {
        path.clone()
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_if_a_document_has_it() {
        for path in [
            "fabric",
            "tiers.t1.up.first_cage",
            "cables.by_zone.*.length",
            "hosts.slots.[].pci",
            "qos.classes.*.queue",
        ] {
            assert!(Field::is_declared(path), "{path}");
        }
        for path in [
            "",
            "fabrics",
            "tiers.t2.up",
            "cables.t1-t2.by_zone",
            "cables.by_zone.length",
            "fabric.name",
            "tiers.",
        ] {
            assert!(!Field::is_declared(path), "{path}");
        }
    }

    #[test]
    fn a_value_touches_what_its_key_or_one_above_says() {
        assert_eq!(field!("tiers.t0.down.count").touches(), field!("tiers.t0.down").touches());
        assert!(field!("tiers.t2.by_plane.*.platform").touches().has(AffectedArtefacts::T1));
        assert!(!field!("tiers.t1.down.spare").touches().has(AffectedArtefacts::T0));
        assert!(field!("description").touches().is_nothing());
        assert!(field!("racks").touches().is_nothing());
    }
}
