//! The queues of one port after all commands.

use std::collections::BTreeMap;

use super::{BANDS_MAX, PRIORITIES, class, red};
use crate::model::qos::PortQos;
use crate::read::value::parse;

/// Kernel state of a port.
#[derive(Debug, Default)]
pub(super) struct Port {
    root: Root,
    /// Queues by band, from 0.
    queues: BTreeMap<usize, Queue>,
    /// Filters, in the order in which they were added.
    filters: Vec<Filter>,
    /// Whether the batch removes filters of an earlier file.
    is_cleared: bool,
}

/// The root queue (`ets`).
#[derive(Debug, Default)]
struct Root {
    bands: usize,
    strict: usize,
    quanta: Vec<u64>,
    priorities: Vec<usize>,
}

/// The queue below a band.
#[derive(Debug)]
struct Queue {
    handle: usize,
    bytes: u64,
    marks: Option<red::Marks>,
}

/// A filter: the code points of a class.
#[derive(Debug)]
pub(super) struct Filter {
    pref: u32,
    byte: u8,
    mask: u8,
    band: usize,
}

impl Port {
    /// Processes `ets`. Queues below removed bands are also removed.
    pub(super) fn root(&mut self, mut rest: &[&str]) -> Result<(), String> {
        let mut root = Root::default();
        while let Some((word, values)) = rest.split_first() {
            let numbers = values.iter().take_while(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
            let (values, others) = values.split_at(numbers.count());
            match (*word, values) {
                ("bands", [bands]) => root.bands = parse(bands)?,
                ("strict", [strict]) => root.strict = parse(strict)?,
                ("quanta", quanta) => {
                    root.quanta = quanta.iter().map(|quantum| parse(quantum)).collect::<Result<_, _>>()?;
                }
                ("priomap", bands) => {
                    root.priorities = bands.iter().map(|band| parse(band)).collect::<Result<_, _>>()?;
                }
                _ => {
                    return Err(format!("`{}` is not a part of `ets` that the proof models", rest.join(" ")));
                }
            }
            rest = others;
        }
        root.check()?;
        self.queues.retain(|band, _| *band < root.bands);
        self.root = root;
        Ok(())
    }

    fn has(&self, band: usize) -> Result<(), String> {
        if band < self.root.bands {
            return Ok(());
        }
        Err(format!("there is no band 1:{:x}; `ets` has {}", band + 1, self.root.bands))
    }

    /// Processes a queue below a band.
    pub(super) fn queue(
        &mut self,
        band: usize,
        handle: usize,
        (kind, rest): (&str, &[&str]),
    ) -> Result<(), String> {
        self.has(band)?;
        let (bytes, marks) = match (kind, rest) {
            ("bfifo", ["limit", bytes]) => (parse(bytes)?, None),
            ("red", rest) => {
                let (bytes, marks) = red::read(rest)?;
                (bytes, Some(marks))
            }
            _ => return Err(format!("`{kind} {}` is not a queue that the proof models", rest.join(" "))),
        };
        match (handle >> 4, marks.is_some()) {
            (1, false) | (2, true) => {}
            (1, true) => {
                return Err(format!("`red` with the handle of one that does not mark: `{handle:x}:`"));
            }
            (2, false) => return Err(format!("`bfifo` with the handle of one that marks: `{handle:x}:`")),
            _ => return Err(format!("`{handle:x}:` is not a queue of the profile")),
        }
        if self.queues.iter().any(|(other, queue)| *other != band && queue.handle == handle) {
            return Err(format!("there are two queues with handle {handle:x}:"));
        }
        self.queues.insert(band, Queue { handle, bytes, marks });
        Ok(())
    }

    /// Removes all filters, including those of an earlier file.
    pub(super) fn clear(&mut self) {
        self.filters.clear();
        self.is_cleared = true;
    }

    /// Processes a filter, starting with its match.
    pub(super) fn filter(&mut self, pref: u32, words: &[&str]) -> Result<(), String> {
        let (byte, mask, to) = match words {
            ["ip6", "priority", byte, mask, to @ ..] => (self::byte(byte)?, self::byte(mask)?, to),
            ["u32", "0", "0", "at", "0", to @ ..] | ["u32", "0", "0", to @ ..] => (0, 0, to),
            _ => return Err(format!("`{}` is not a match that the proof models", words.join(" "))),
        };
        let ["flowid" | "classid", to] = to else {
            return Err(format!("`{}` is not a class that a filter can select", to.join(" ")));
        };
        let band = class(to)?;
        self.has(band)?;
        self.filters.push(Filter { pref, byte: byte & mask, mask, band });
        Ok(())
    }

    /// Returns the treatment of packets, and faults.
    pub(super) fn finish(mut self) -> (PortQos, Vec<String>) {
        let mut faults = Vec::new();
        // Filters with equal `pref` are matched in the order in which they were added.
        self.filters.sort_by_key(|filter| filter.pref);
        let mut qos = PortQos::default();
        for band in 0..self.root.bands {
            self.band(band, &mut qos, &mut faults);
        }
        let mut bands: BTreeMap<u8, usize> = BTreeMap::new();
        for filter in &self.filters {
            Self::judge(filter, &mut bands, &mut faults);
        }
        for (class, band) in &bands {
            let Some(queue) = self.queues.get(band) else { continue };
            qos.class_to_queue.insert(*class, queue.number());
            if let Some(marks) = &queue.marks {
                qos.marks.insert(*class, (marks.min, marks.max, marks.percent));
            }
        }
        for code in 0..64_u8 {
            let first = self.filters.iter().find(|filter| (code << 2) & filter.mask == filter.byte);
            let class = first.and_then(|filter| traffic_class(filter.pref));
            qos.dscp_to_class.extend(class.map(|class| (code, class)));
        }
        let others = self.filters.iter().find(|filter| filter.mask == 0);
        match others {
            None => faults.push("has no class for code points that no filter names".to_owned()),
            Some(others) => {
                let strays = self.root.priorities.iter().find(|band| **band != others.band);
                faults.extend(strays.map(|band| {
                    let meant = others.band;
                    format!("puts packets that are not IPv6 into band {band}; expected {meant}")
                }));
            }
        }
        if !self.is_cleared {
            faults.push("does not remove filters of an earlier file".to_owned());
        }
        faults.dedup();
        (qos, faults)
    }

    fn band(&self, band: usize, qos: &mut PortQos, faults: &mut Vec<String>) {
        let Some(queue) = self.queues.get(&band) else {
            faults.push(format!("leaves band 1:{:x} to the kernel's default", band + 1));
            return;
        };
        let number = queue.number();
        let served = match band.checked_sub(self.root.strict) {
            None => format!("strict {band}"),
            Some(weighted) => format!("quantum {}", self.root.quanta.get(weighted).copied().unwrap_or(0)),
        };
        if qos.settings.insert(format!("queue {number}"), served).is_some() {
            faults.push(format!("has two queues {number}"));
        }
        qos.lengths.insert(number, queue.bytes);
        if let Some(marks) = &queue.marks {
            faults.extend(marks.fault().map(|fault| format!("{fault} in queue {number}")));
        }
    }

    /// Records the band of a filter's class, and the faults of the filter.
    fn judge(filter: &Filter, bands: &mut BTreeMap<u8, usize>, faults: &mut Vec<String>) {
        if filter.mask & 3 != 0 {
            faults.push("matches ECN bits as well as code points".to_owned());
        }
        match traffic_class(filter.pref) {
            None => faults.push(format!("has a filter whose `pref` {} is not a traffic class", filter.pref)),
            Some(class) => {
                if *bands.entry(class).or_insert(filter.band) != filter.band {
                    faults.push(format!("has more than one band for class {class}"));
                }
            }
        }
    }
}

impl Root {
    fn check(&self) -> Result<(), String> {
        if self.bands == 0 || self.bands > BANDS_MAX {
            return Err(format!("`ets` has {} bands; expected 1 to {BANDS_MAX}", self.bands));
        }
        let Some(weighted) = self.bands.checked_sub(self.strict) else {
            return Err(format!("`ets` has {} strict bands of {}", self.strict, self.bands));
        };
        if self.quanta.len() != weighted || self.quanta.contains(&0) {
            return Err(format!("`ets` has {} weights for {weighted} bands", self.quanta.len()));
        }
        if self.priorities.len() != PRIORITIES {
            return Err(format!("`ets` maps {} of {PRIORITIES} priorities", self.priorities.len()));
        }
        match self.priorities.iter().find(|band| **band >= self.bands) {
            Some(band) => Err(format!("`ets` maps a priority to band {band} of {}", self.bands)),
            None => Ok(()),
        }
    }
}

impl Queue {
    /// Returns the number of the queue in the profile, from its handle.
    fn number(&self) -> u8 {
        (self.handle & 0xf) as u8
    }
}

/// Returns the traffic class of a filter, from its `pref`: 1 plus the class, or 101 plus the default class.
fn traffic_class(pref: u32) -> Option<u8> {
    let class = pref.checked_sub(101).or_else(|| pref.checked_sub(1))?;
    u8::try_from(class).ok().filter(|class| *class < 16)
}

fn byte(text: &str) -> Result<u8, String> {
    let digits = text.strip_prefix("0x").unwrap_or_default();
    u8::from_str_radix(digits, 16).map_err(|_| format!("`{text}` is not a byte in hexadecimal digits"))
}
