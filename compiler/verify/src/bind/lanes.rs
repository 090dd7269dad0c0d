//! Lanes and cages of the ports of a switch, stored once for all switches with equal ports.
//!
//! In: ports. Out: port names, sorted, each with its lanes, alias and cage. Invariants: the ports are first
//! compared, as written and in order, with those of recent switches. A new list is made only if they differ from each
//! of these.

use std::sync::{Arc, Mutex, PoisonError};

use smol_str::SmolStr;

use crate::model::device::{Device, Port};
use crate::model::switch::{NamedValues, Pool};

/// Number of recent lists to compare with: a fabric has few kinds of switches.
const KEPT: usize = 8;

/// Lists of earlier switches.
#[derive(Debug, Default)]
pub(crate) struct Lanes(Mutex<Vec<Arc<List>>>);

/// The ports of a switch in their original order, and sorted.
#[derive(Debug)]
struct List {
    ports: NamedValues,
    sorted_ports: Arc<NamedValues>,
}

impl Lanes {
    /// Returns the lanes, alias and cage of every port whose lanes are configured.
    pub(super) fn of(&self, device: &Device<'_>, pool: &Pool<NamedValues>) -> Arc<NamedValues> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(list) = recent.iter().find(|list| list.is_of(device)) {
            return Arc::clone(&list.sorted_ports);
        }
        let pair = |port: &Port<'_>| {
            let words: Vec<&str> = port_values(port)?.collect();
            Some((SmolStr::from(&*port.name), SmolStr::from(words.join(" "))))
        };
        let ports: NamedValues = device.ports.iter().filter_map(pair).collect();
        let mut sorted = ports.clone();
        sorted.sort_unstable();
        let sorted = pool.intern(&sorted).1;
        let mut recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.truncate(KEPT - 1);
        recent.insert(0, Arc::new(List { ports, sorted_ports: Arc::clone(&sorted) }));
        sorted
    }
}

impl List {
    fn is_of(&self, device: &Device<'_>) -> bool {
        let mut known = self.ports.iter();
        let stated = device.ports.iter().filter_map(|port| Some((port, port_values(port)?)));
        for (port, mut words) in stated {
            let Some((name, text)) = known.next() else { return false };
            if *name != *port.name || !reads(text, &mut words) {
                return false;
            }
        }
        known.next().is_none()
    }
}

/// Returns the words of a port: its lanes, alias, cage number and position in the cage. Returns `None` if its
/// lanes are not configured.
fn port_values<'p>(port: &'p Port<'_>) -> Option<impl Iterator<Item = &'p str>> {
    let lanes = port.lanes.as_deref()?;
    let cage = port.cage.iter().flatten().map(|word| &**word);
    // An empty word if the cage is not configured.
    let none = port.cage.is_none().then_some("");
    Some(std::iter::once(lanes).chain(cage).chain(none))
}

/// Returns whether a text consists of these words, separated by single spaces.
fn reads<'w>(text: &str, words: &mut impl Iterator<Item = &'w str>) -> bool {
    let mut rest = Some(text);
    for (at, word) in words.enumerate() {
        let behind = if at == 0 { rest } else { rest.and_then(|rest| rest.strip_prefix(' ')) };
        rest = behind.and_then(|rest| rest.strip_prefix(word));
    }
    rest == Some("")
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use crate::read::sonic;

    fn device(ports: &[(&'static str, &'static str, &'static str)]) -> Device<'static> {
        let mut device = Device::new(&sonic::LANGUAGE);
        for (name, lanes, alias) in ports {
            device.ports.push(Port {
                name: Cow::Borrowed(name),
                lanes: Some(Cow::Borrowed(lanes)),
                cage: Some([alias, "1", ""].map(Cow::Borrowed)),
                ..Port::default()
            });
        }
        device
    }

    #[test]
    fn equal_ports_share_a_list_and_others_do_not() {
        let (lanes, pool) = (Lanes::default(), Pool::<NamedValues>::default());
        let first = lanes.of(&device(&[("b", "1,2", "etp1"), ("a", "3", "etp2")]), &pool);
        assert_eq!(*first, [("a".into(), "3 etp2 1 ".into()), ("b".into(), "1,2 etp1 1 ".into())]);
        let again = lanes.of(&device(&[("b", "1,2", "etp1"), ("a", "3", "etp2")]), &pool);
        assert!(Arc::ptr_eq(&first, &again));
        let turned = lanes.of(&device(&[("a", "3", "etp2"), ("b", "1,2", "etp1")]), &pool);
        assert!(Arc::ptr_eq(&first, &turned), "the order of ports says nothing");
        for other in [
            &[("b", "1,2", "etp1")][..],
            &[("b", "1,2", "etp1"), ("a", "3", "etp3")],
            &[("b", "1,2", "etp1"), ("a", "4", "etp2")],
            &[("b", "1,2", "etp1"), ("c", "3", "etp2")],
            &[("b", "1,2", "etp1"), ("a", "3", "etp2"), ("c", "5", "etp5")],
        ] {
            assert_ne!(lanes.of(&device(other), &pool), first);
        }
    }
}
