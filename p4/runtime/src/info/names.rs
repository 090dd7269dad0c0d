//! Finds an object by its full name, its alias, or a suffix that starts at a dot and is unique.

use std::collections::{BTreeMap, HashMap};

use super::error::{LookupError, ObjectKind};

/// The names of the objects of one kind.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// Full names and aliases; they take precedence over suffixes.
    exact: BTreeMap<Box<str>, u32>,
    /// Suffixes, each with all objects that have it.
    suffixes: HashMap<Box<str>, Vec<u32>>,
    full: Vec<Box<str>>,
}

impl Names {
    /// Adds an object, or returns the position of the object that already has the name.
    pub(super) fn add(&mut self, name: &str, alias: &str) -> Result<(), u32> {
        let position = self.full.len() as u32;
        if let Some(other) = self.exact.get(name).filter(|other| *self.full[**other as usize] == *name) {
            return Err(*other);
        }
        self.exact.insert(name.into(), position);
        if !alias.is_empty() {
            self.exact.entry(alias.into()).or_insert(position);
        }
        for (dot, _) in name.match_indices('.') {
            self.suffixes.entry(name[dot + 1..].into()).or_default().push(position);
        }
        self.full.push(name.into());
        Ok(())
    }

    /// Returns the position of the object with this name.
    pub(super) fn find(
        &self,
        kind: ObjectKind,
        within: Option<&str>,
        name: &str,
    ) -> Result<u32, LookupError> {
        if let Some(position) = self.exact.get(name) {
            return Ok(*position);
        }
        match self.suffixes.get(name).map(Vec::as_slice) {
            Some([position]) => Ok(*position),
            Some(several) => Err(LookupError::Ambiguous {
                kind,
                name: name.to_owned(),
                candidates: several
                    .iter()
                    .map(|position| self.full[*position as usize].to_string())
                    .collect(),
            }),
            None => Err(LookupError::Unknown {
                kind,
                scope: within.map(str::to_owned),
                name: name.to_owned(),
                suggestion: self.closest(name).map(str::to_owned),
            }),
        }
    }

    /// Returns the known name that is most similar to a misspelled one, if it is similar enough.
    fn closest(&self, name: &str) -> Option<&str> {
        let limit = 1.max(name.chars().count() / 3);
        let last = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
        let distance = |known: &str| {
            // The last part of a name is enough: `ingress.my_sd` matches `my_sid`, and `egress.my_sid` matches
            // `ingress.my_sid`.
            let whole = strsim::osa_distance(name, known);
            (whole.min(strsim::osa_distance(&last(name), &last(known))), whole)
        };
        let known = self.full.iter().map(|known| (distance(known), known));
        known.min().filter(|((distance, _), _)| *distance <= limit).map(|(_, known)| &**known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::default();
        for (name, alias) in [
            ("ingress.my_sid", "my_sid"),
            ("ingress.route.ipv6", "route.ipv6"),
            ("egress.route.ipv6", "egress.route.ipv6"),
            ("egress.mark", "mark"),
        ] {
            names.add(name, alias).expect("the names differ");
        }
        names
    }

    fn find(name: &str) -> Result<u32, LookupError> {
        names().find(ObjectKind::Table, None, name)
    }

    #[test]
    fn full_names_aliases_and_unique_suffixes_are_found() {
        assert_eq!(find("ingress.my_sid"), Ok(0));
        assert_eq!(find("my_sid"), Ok(0));
        assert_eq!(find("route.ipv6"), Ok(1), "an alias wins over a suffix");
        assert_eq!(find("mark"), Ok(3));
    }

    #[test]
    fn a_suffix_of_several_names_is_refused_with_all_of_them() {
        let error = find("ipv6").expect_err("two tables end so").to_string();
        assert_eq!(error, "table `ipv6` is ambiguous: `ingress.route.ipv6` or `egress.route.ipv6`");
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_closest() {
        let error = find("ingress.my_sd").expect_err("no such table").to_string();
        assert_eq!(error, "no table `ingress.my_sd`; did you mean `ingress.my_sid`?");
        assert_eq!(find("zebra").expect_err("no such table").to_string(), "no table `zebra`");
    }

    #[test]
    fn a_name_twice_is_reported() {
        assert_eq!(names().add("egress.mark", ""), Err(3));
    }
}
