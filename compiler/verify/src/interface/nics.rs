//! The addresses of the NICs of a plane, where switches choose the path. They are stored as runs of consecutive names
//! and addresses.
//!
//! In: NICs of a plane by name. Out: [`Nics`], which can be compared NIC by NIC with those of other planes, even if the
//! planes have different NICs. Invariants: there is usually one run per T0 group, so the size grows with groups and
//! irregularities. After parsing, every NIC occurs once, and there are at most as many NICs as a fabric can have.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use closc_artefacts::Address;
use serde::{Deserialize, Serialize};

/// Maximum number of NICs that a summary may list.
pub(crate) const NICS_MAX: u64 = 1 << 24;

/// Maximum number of digits of a number in a name.
const DIGITS_MAX: usize = 18;

/// The parts that the names in a run have in common: prefix, number of digits, suffix.
type Family = (String, usize, String);

/// Addresses of NICs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub(crate) struct Nics(BTreeMap<Family, Vec<Run>>);

/// NICs with consecutive numbers and equidistant addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Run {
    first: u64,
    count: u64,
    address: u128,
    /// Distance between addresses; 0 for a single NIC.
    step: u128,
}

impl Run {
    fn end(self) -> u64 {
        self.first + self.count
    }

    fn at(self, number: u64) -> u128 {
        self.address.wrapping_add(self.step.wrapping_mul(u128::from(number - self.first)))
    }

    /// Returns the NICs of a run whose numbers are at least `from` and below `to`.
    fn part(self, from: u64, to: u64) -> Run {
        let step = if to - from > 1 { self.step } else { 0 };
        Run { first: from, count: to - from, address: self.at(from), step }
    }

    /// Returns the first number at which two runs differ, within a common range.
    fn differs(self, other: Run, from: u64, to: u64) -> Option<u64> {
        if self.at(from) != other.at(from) {
            return Some(from);
        }
        (to - from > 1 && self.step != other.step).then_some(from + 1)
    }
}

/// A NIC with different addresses in two planes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AddressMismatch {
    pub(crate) nic: String,
    pub(crate) expected: Address,
    pub(crate) actual: Address,
}

/// Splits a name at the last number in the name of the node.
fn cut(name: &str) -> (Family, u64) {
    let node = name.rfind('/').unwrap_or(name.len());
    let is_digit = |c: char| c.is_ascii_digit();
    let end = name[..node].rfind(is_digit).map_or(0, |at| at + 1);
    let start = name[..end]
        .rfind(|c| !is_digit(c))
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    let start = start.max(end.saturating_sub(DIGITS_MAX));
    match name[start..end].parse() {
        Ok(number) => ((name[..start].to_owned(), end - start, name[end..].to_owned()), number),
        Err(_) => ((name.to_owned(), 0, String::new()), 0),
    }
}

/// Joins the parts of a name.
fn name((before, width, behind): &Family, number: u64) -> String {
    if *width == 0 { before.clone() } else { format!("{before}{number:0width$}{behind}") }
}

impl Nics {
    /// Collects NICs by name; of two NICs with the same name, only the first counts.
    pub(crate) fn of(nics: impl Iterator<Item = (String, Address)>) -> Nics {
        let mut families: BTreeMap<Family, Vec<(u64, u128)>> = BTreeMap::new();
        for (name, address) in nics {
            let (family, number) = cut(&name);
            families.entry(family).or_default().push((number, address.into()));
        }
        let runs = |mut all: Vec<(u64, u128)>| {
            all.sort_by_key(|(number, _)| *number);
            all.dedup_by_key(|(number, _)| *number);
            let mut runs: Vec<Run> = Vec::new();
            for (number, address) in all {
                let grown = runs.last_mut().is_some_and(|run| {
                    let step = address.wrapping_sub(run.at(run.end() - 1));
                    let fits = run.end() == number && (run.count == 1 || run.step == step);
                    if fits {
                        (run.count, run.step) = (run.count + 1, step);
                    }
                    fits
                });
                if !grown {
                    runs.push(Run { first: number, count: 1, address, step: 0 });
                }
            }
            runs
        };
        Nics(families.into_iter().map(|(family, all)| (family, runs(all))).collect())
    }

    /// Returns the number of NICs.
    pub(crate) fn count(&self) -> u64 {
        self.0.values().flatten().map(|run| run.count).sum()
    }

    /// Adds the NICs of another plane. Returns NICs with different addresses, at most one for each pair of runs.
    pub(crate) fn join(&mut self, other: &Nics) -> Vec<AddressMismatch> {
        let mut differ = Vec::new();
        for (family, theirs) in &other.0 {
            let own = self.0.entry(family.clone()).or_default();
            if own == theirs {
                continue;
            }
            let mut new: Vec<Run> = Vec::new();
            let mut at = 0;
            for run in theirs {
                while own.get(at).is_some_and(|own| own.end() <= run.first) {
                    at += 1;
                }
                // NICs between known runs are new.
                let mut from = run.first;
                for known in own[at..].iter().take_while(|known| known.first < run.end()) {
                    if from < known.first {
                        new.push(run.part(from, known.first));
                    }
                    let (start, end) = (known.first.max(run.first), known.end().min(run.end()));
                    if let Some(number) = known.differs(*run, start, end) {
                        let [meant, found] = [known.at(number), run.at(number)].map(Address::from);
                        differ.push(AddressMismatch {
                            nic: name(family, number),
                            expected: meant,
                            actual: found,
                        });
                    }
                    from = end;
                }
                if from < run.end() {
                    new.push(run.part(from, run.end()));
                }
            }
            own.extend(new);
            own.sort_by_key(|run| run.first);
        }
        differ
    }

    /// Returns an address that two NICs share, with both names.
    pub(crate) fn duplicate(&self) -> Option<(Address, [String; 2])> {
        let all = || self.0.iter().flat_map(|(family, runs)| runs.iter().map(move |run| (family, *run)));
        let last = |run: Run| run.at(run.end() - 1);
        let mut ranges: Vec<(u128, u128)> =
            all().map(|(_, run)| (run.address.min(last(run)), run.address.max(last(run)))).collect();
        ranges.sort_unstable();
        // Runs without overlap share no address. All others are compared address by address.
        let mut shared: Vec<(u128, u128)> = Vec::new();
        let mut reach: Option<(u128, u128, bool)> = None;
        for (low, high) in ranges {
            reach = match reach {
                Some((start, end, _)) if low <= end => Some((start, end.max(high), true)),
                other => {
                    shared.extend(other.filter(|(.., met)| *met).map(|(start, end, _)| (start, end)));
                    Some((low, high, false))
                }
            };
        }
        shared.extend(reach.filter(|(.., met)| *met).map(|(start, end, _)| (start, end)));
        let is_shared = |run: Run| {
            let at = shared.partition_point(|(_, end)| *end < run.address);
            shared.get(at).is_some_and(|(start, _)| *start <= run.address)
        };
        let named = |(family, run): (&'_ Family, Run)| {
            let family = family.clone();
            (run.first..run.end()).map(move |number| (run.at(number), family.clone(), number))
        };
        let mut owners: Vec<(u128, Family, u64)> =
            all().filter(|(_, run)| is_shared(*run)).flat_map(named).collect();
        owners.sort_unstable();
        let pair = owners.windows(2).find(|pair| pair[0].0 == pair[1].0)?;
        Some((pair[0].0.into(), [0, 1].map(|at| name(&pair[at].1, pair[at].2))))
    }
}

impl From<Nics> for Vec<String> {
    fn from(nics: Nics) -> Self {
        let text = |family: &Family, run: &Run| {
            format!("{} {} {} {:x}", name(family, run.first), run.count, Address::from(run.address), run.step)
        };
        nics.0.iter().flat_map(|(family, runs)| runs.iter().map(move |run| text(family, run))).collect()
    }
}

impl TryFrom<Vec<String>> for Nics {
    type Error = String;

    fn try_from(lines: Vec<String>) -> Result<Self, String> {
        let mut all: BTreeMap<Family, Vec<Run>> = BTreeMap::new();
        let mut total = 0u64;
        for line in lines {
            let (family, run) = parse(&line).ok_or_else(|| format!("`{line}` is not a run of NICs"))?;
            total = total.saturating_add(run.count);
            let runs = all.entry(family).or_default();
            if runs.last().is_some_and(|last| last.end().cmp(&run.first) == Ordering::Greater) {
                return Err(format!("`{line}` does not follow the previous run"));
            }
            runs.push(run);
        }
        if total > NICS_MAX {
            return Err(format!("{total} NICs are more than the {NICS_MAX} that a fabric has at most"));
        }
        Ok(Nics(all))
    }
}

/// Parses name, count, address and step.
fn parse(line: &str) -> Option<(Family, Run)> {
    let mut words = line.rsplitn(4, ' ');
    let step = u128::from_str_radix(words.next()?, 16).ok()?;
    let address: Address = words.next()?.parse().ok()?;
    let count: u64 = words.next()?.parse().ok().filter(|count| (1..=NICS_MAX).contains(count))?;
    let (family, first) = cut(words.next()?);
    let most = 10u64.checked_pow(u32::try_from(family.1).ok()?)?;
    let fits = first.checked_add(count)? <= most.max(1) && (count > 1 || step == 0);
    fits.then_some((family, Run { first, count, address: address.into(), step }))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    fn nics(all: &[(&str, &str)]) -> Nics {
        Nics::of(all.iter().map(|(name, address)| ((*name).to_owned(), address.parse().unwrap())))
    }

    fn lines(nics: &Nics) -> Vec<String> {
        nics.clone().into()
    }

    #[test]
    fn what_rises_together_is_one_run() {
        let group: Vec<(String, Address)> = (1..=256u16)
            .map(|at| (format!("su001-n{at:03}/nic0"), Ipv6Addr::new(0xfd, 0, 0, 1, 0, 0, 0, at).into()))
            .collect();
        let whole = Nics::of(group.iter().cloned());
        assert_eq!(lines(&whole), ["su001-n001/nic0 256 fd:0:0:1::1 1"]);
        assert_eq!(whole.count(), 256);
        let hole = Nics::of(group.iter().filter(|(name, _)| !name.contains("n100")).cloned());
        assert_eq!(lines(&hole), ["su001-n001/nic0 99 fd:0:0:1::1 1", "su001-n101/nic0 156 fd:0:0:1::65 1"]);
        for some in [&whole, &hole, &nics(&[("odd", "::1"), ("n9", "::2"), ("n10", "::3"), ("ü7/x", "::4")])]
        {
            assert_eq!(Nics::try_from(lines(some)).as_ref(), Ok(some));
        }
        let (mut one, mut other) = (whole.clone(), hole.clone());
        assert_eq!((one.join(&hole), other.join(&whole)), (vec![], vec![]));
        assert_eq!((one.count(), other.count()), (256, 256));
        assert_eq!(one.duplicate(), None);
    }

    #[test]
    fn nics_are_compared_one_by_one() {
        let mut one = nics(&[("n1", "::1"), ("n2", "::2"), ("n3", "::3")]);
        let found = one.join(&nics(&[("n1", "::2"), ("n2", "::1")]));
        assert_eq!(found[0].nic, "n1");
        let mut one = nics(&[("n1", "::1"), ("n3", "::3")]);
        assert_eq!(one.join(&nics(&[("n1", "::1"), ("n2", "::2"), ("n3", "::4")])).len(), 1);
        assert_eq!(one.count(), 3);
        let mut steps = nics(&[("n1", "::1"), ("n2", "::2")]);
        let found = steps.join(&nics(&[("n1", "::1"), ("n2", "::3")]));
        assert_eq!(
            found[0],
            AddressMismatch {
                nic: "n2".to_owned(),
                expected: "::2".parse().unwrap(),
                actual: "::3".parse().unwrap()
            }
        );
    }

    #[test]
    fn an_address_of_two_is_found() {
        let mut one = nics(&[("n1", "::1"), ("n2", "::5"), ("n3", "::9")]);
        assert_eq!(one.join(&nics(&[("m1", "::3"), ("m2", "::7")])), vec![]);
        assert_eq!(one.duplicate(), None);
        assert_eq!(one.join(&nics(&[("a", "::5")])), vec![]);
        assert_eq!(one.duplicate(), Some(("::5".parse().unwrap(), ["a".to_owned(), "n2".to_owned()])));
    }

    #[test]
    fn what_is_no_run_is_refused() {
        for line in [
            "",
            "n1 0 ::1 0",
            "n1 2 ::1",
            "n1 1 ::1 1",
            "n8 3 ::1 1",
            "n1 99999999999 ::1 1",
            "x 2 ::1 1",
            "n1 1 1 0",
        ] {
            assert!(Nics::try_from(vec![line.to_owned()]).is_err(), "{line}");
        }
        let twice = ["n1 2 ::1 1", "n2 1 ::9 0"].map(str::to_owned).to_vec();
        assert!(Nics::try_from(twice).is_err());
        let many: Vec<String> = (1..=9).map(|at| format!("n{at}00000000 16000000 ::1 1")).collect();
        assert!(Nics::try_from(many).unwrap_err().contains("a fabric has at most"));
    }
}
