//! Random entries and packets. Keys are taken from actual look-ups, so that entries are hit.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use closc_runtime::info::{ActionRef, Info, MatchField, MatchKind, Scope, Table};
use closc_runtime::proto::v1;
use closc_runtime::value::{Width, bits};
use tracing::field::{Field, Visit};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt as _};
use v1::field_match::{Exact, FieldMatchType, Lpm, Optional, Range, Ternary};

/// A reproducible source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Returns the source of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below another.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() >> 16) as usize % end.max(1)
    }

    /// Returns a small number, at least `from`.
    pub fn small(&mut self, from: i32, end: u8) -> i32 {
        from + i32::from((self.number() >> 16) as u8 % end.max(1))
    }

    /// Returns true with a probability of one in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn bytes(&mut self, width: u32) -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..width.div_ceil(8)).map(|_| self.number() as u8).collect();
        if self.once_in(2) {
            // Small numbers collide more often.
            let last = bytes.len() - 1;
            bytes[..last].fill(0);
            bytes[last] &= 7;
        }
        clip(&mut bytes, width);
        bytes
    }
}

/// Clears the bits above a width.
fn clip(bytes: &mut [u8], width: u32) {
    if !width.is_multiple_of(8)
        && let Some(first) = bytes.first_mut()
    {
        *first &= (1 << (width % 8)) - 1;
    }
}

/// A key that was looked up: one value for each field.
type Key = Vec<Vec<u8>>;

/// Keys that were looked up, by table.
#[derive(Clone, Debug, Default)]
pub struct Keys(Arc<Mutex<BTreeMap<String, Vec<Key>>>>);

/// Maximum number of recorded keys per table.
const KEPT: usize = 256;

#[derive(Default)]
struct Lookup {
    table: Option<String>,
    key: Option<String>,
}

impl Visit for Lookup {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "table" {
            self.table = Some(value.to_owned());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "table" => self.table = Some(format!("{value:?}").trim_matches('"').to_owned()),
            "key" => self.key = Some(format!("{value:?}")),
            _ => {}
        }
    }
}

impl<S: tracing::Subscriber> Layer<S> for Keys {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        let mut lookup = Lookup::default();
        event.record(&mut lookup);
        let (Some(table), Some(key)) = (lookup.table, lookup.key) else { return };
        let field = |text: &str| {
            let digits = text.trim_start_matches("0x").as_bytes();
            digits
                .chunks(2)
                .filter_map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok())
                .collect()
        };
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = tables.entry(table).or_default();
        if keys.len() < KEPT {
            keys.push(key.split(',').map(field).collect());
        }
    }
}

impl Keys {
    /// Runs a function and records the keys that it looks up.
    pub fn training(&self, work: impl FnOnce()) {
        tracing::subscriber::with_default(tracing_subscriber::registry().with(self.clone()), work);
    }

    fn pick(&self, random: &mut Random, table: &str) -> Option<Key> {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let keys = tables.get(table)?;
        keys.get(random.below(keys.len())).cloned()
    }
}

/// Names of entries.
pub struct Names {
    /// Members by profile.
    pub members: BTreeMap<u32, Vec<u32>>,
    /// Groups by profile.
    pub groups: BTreeMap<u32, Vec<u32>>,
}

/// Returns a random entry of a table; `None` if it accepts none.
pub fn entry(random: &mut Random, keys: &Keys, table: &Table, names: &Names) -> Option<v1::TableEntry> {
    if table.is_const || table.fields().is_empty() {
        return None;
    }
    let known = keys.pick(random, &table.preamble.name).filter(|_| !random.once_in(5));
    let mut found = Vec::new();
    for (place, field) in table.fields().iter().enumerate() {
        let Width::Bits(width) = field.width else { return None };
        let looked_up = known.as_ref().and_then(|known| known.get(place)).cloned();
        let value = looked_up.filter(|_| !random.once_in(8)).unwrap_or_else(|| random.bytes(width));
        if let Some(kind) = field_match(random, field, width, value) {
            found.push(v1::FieldMatch { field_id: field.id, field_match_type: Some(kind) });
        }
    }
    let priority = if table.needs_priority() { random.small(1, 6) } else { 0 };
    let action = table_action(random, table, names)?;
    let action = Some(v1::TableAction { r#type: Some(action) });
    let table_id = table.preamble.id;
    let metered = table.direct_meter.is_some() && random.once_in(2);
    let meter_config = metered.then(|| never_refilled(random));
    Some(v1::TableEntry { table_id, r#match: found, priority, action, meter_config, ..Default::default() })
}

/// Occasionally returns another default action; `None` if it is fixed.
pub fn default_entry(random: &mut Random, table: &Table) -> Option<v1::TableEntry> {
    if table.const_default_action.is_some() || table.profile.is_some() || !random.once_in(4) {
        return None;
    }
    let usable = |action: &ActionRef| matches!(action.scope, Scope::Everywhere | Scope::DefaultOnly);
    let action = v1::table_action::Type::Action(call(random, table.actions(), usable)?);
    let action = Some(v1::TableAction { r#type: Some(action) });
    let table_id = table.preamble.id;
    Some(v1::TableEntry { table_id, is_default_action: true, action, ..Default::default() })
}

fn field_match(
    random: &mut Random,
    field: &MatchField,
    width: u32,
    mut value: Vec<u8>,
) -> Option<FieldMatchType> {
    value.resize(width.div_ceil(8) as usize, 0);
    clip(&mut value, width);
    let short = |bytes: &[u8]| bits::strip(bytes).to_vec();
    Some(match field.kind {
        MatchKind::Exact => FieldMatchType::Exact(Exact { value: short(&value) }),
        MatchKind::Optional if random.once_in(3) => return None,
        MatchKind::Optional => FieldMatchType::Optional(Optional { value: short(&value) }),
        MatchKind::Lpm => {
            let prefix = if random.once_in(2) { width } else { random.below(width as usize + 1) as u32 };
            if prefix == 0 {
                return None;
            }
            mask(&mut value, &prefix_mask(prefix, width));
            FieldMatchType::Lpm(Lpm { value: short(&value), prefix_len: prefix.cast_signed() })
        }
        MatchKind::Ternary => {
            let bits = match random.below(4) {
                0 => return None,
                1 => prefix_mask(width, width),
                2 => prefix_mask(1 + random.below(width as usize) as u32, width),
                _ => random.bytes(width),
            };
            mask(&mut value, &bits);
            if bits.iter().all(|byte| *byte == 0) {
                return None;
            }
            FieldMatchType::Ternary(Ternary { value: short(&value), mask: short(&bits) })
        }
        MatchKind::Range => {
            let other = random.bytes(width);
            let (low, high) = if random.once_in(2) { (value.clone(), value) } else { order(value, other) };
            let all = prefix_mask(width, width);
            if low.iter().all(|byte| *byte == 0) && high == all {
                return None;
            }
            FieldMatchType::Range(Range { low: short(&low), high: short(&high) })
        }
        MatchKind::Other(_) => return None,
    })
}

fn order(a: Vec<u8>, b: Vec<u8>) -> (Vec<u8>, Vec<u8>) {
    if a <= b { (a, b) } else { (b, a) }
}

fn mask(value: &mut [u8], mask: &[u8]) {
    for (byte, mask) in value.iter_mut().zip(mask) {
        *byte &= mask;
    }
}

fn prefix_mask(prefix: u32, width: u32) -> Vec<u8> {
    let bytes = width.div_ceil(8);
    let skipped = bytes * 8 - width;
    let bit = |at: u32| at >= skipped && at < skipped + prefix;
    (0..bytes).map(|byte| (0..8).fold(0, |sum, at| sum << 1 | u8::from(bit(byte * 8 + at)))).collect()
}

/// Returns whether entries may use an action.
fn in_entries(action: &ActionRef) -> bool {
    matches!(action.scope, Scope::Everywhere | Scope::EntriesOnly)
}

/// Returns a random call of one of the allowed actions.
fn call(
    random: &mut Random,
    actions: &[ActionRef],
    usable: impl Fn(&ActionRef) -> bool,
) -> Option<v1::Action> {
    let usable: Vec<&ActionRef> = actions.iter().filter(|action| usable(action)).collect();
    let action = &usable.get(random.below(usable.len()))?.action;
    let mut params = Vec::new();
    for param in action.params() {
        let Width::Bits(width) = param.width else { return None };
        let value = bits::strip(&random.bytes(width)).to_vec();
        params.push(v1::action::Param { param_id: param.id, value });
    }
    Some(v1::Action { action_id: action.preamble.id, params })
}

fn table_action(random: &mut Random, table: &Table, names: &Names) -> Option<v1::table_action::Type> {
    use v1::table_action::Type;
    let Some(profile) = &table.profile else {
        return call(random, table.actions(), in_entries).map(Type::Action);
    };
    let id = profile.preamble.id;
    let mut pick = |ids: Option<&Vec<u32>>| ids.and_then(|ids| ids.get(random.below(ids.len()))).copied();
    match pick(names.groups.get(&id)) {
        Some(group) => Some(Type::ActionProfileGroupId(group)),
        None => pick(names.members.get(&id)).map(Type::ActionProfileMemberId),
    }
}

/// Returns random members and groups of all profiles, as updates, and their names.
pub fn profiles(random: &mut Random, info: &Info) -> (Vec<v1::Update>, Names) {
    let mut updates = Vec::new();
    let mut names = Names { members: BTreeMap::new(), groups: BTreeMap::new() };
    for profile in info.profiles() {
        let Some(table) = profile.table_ids.iter().find_map(|id| info.table_by_id(*id)) else { continue };
        let action_profile_id = profile.preamble.id;
        let members = names.members.entry(action_profile_id).or_default();
        for member_id in 1..=6 {
            let Some(action) = call(random, table.actions(), in_entries) else { continue };
            let member = v1::ActionProfileMember { action_profile_id, member_id, action: Some(action) };
            updates.push(v1::Update::insert(member));
            members.push(member_id);
        }
        if !profile.with_selector {
            continue;
        }
        for group_id in 1..=3 {
            let part = |member_id: &u32| v1::action_profile_group::Member {
                member_id: *member_id,
                weight: random.small(1, 3),
                watch_kind: None,
            };
            let members = members.iter().skip(group_id as usize - 1).take(4).map(part).collect();
            let group = v1::ActionProfileGroup { action_profile_id, group_id, members, max_size: 16 };
            updates.push(v1::Update::insert(group));
            names.groups.entry(action_profile_id).or_default().push(group_id);
        }
    }
    (updates, names)
}

/// Returns multicast groups and clone sessions 1 to 6.
pub fn replication(random: &mut Random) -> Vec<v1::Update> {
    let mut updates = Vec::new();
    for id in 1..=6 {
        let mut copies: Vec<closc_runtime::entry::Copy> = (0..=random.below(3))
            .map(|instance| closc_runtime::entry::Copy {
                port: 1 + random.below(8) as u32,
                instance: instance as u32,
            })
            .collect();
        let group = closc_runtime::entry::multicast_group(id, &copies).expect("a group");
        updates.push(v1::Update::insert(group));
        copies.truncate(1);
        let session = closc_runtime::entry::clone_session(id, &copies, 0, 0).expect("a session");
        updates.push(v1::Update::insert(session));
    }
    updates
}

/// Returns a meter that does not depend on time, because it is never refilled. The remaining tokens decide the colour
/// of a packet.
pub fn never_refilled(random: &mut Random) -> v1::MeterConfig {
    let (burst, more): (i64, i64) = (random.small(0, 40).into(), random.small(0, 40).into());
    v1::MeterConfig { cir: 0, cburst: burst, pir: 0, pburst: burst + more, ..Default::default() }
}

/// Returns settings of meters.
pub fn meters(random: &mut Random, info: &Info) -> Vec<v1::Update> {
    let mut updates = Vec::new();
    for meter in info.meters() {
        for index in 0..8 {
            if random.once_in(3) {
                continue;
            }
            let config = never_refilled(random);
            let index = Some(v1::Index { index });
            let meter_id = meter.preamble.id;
            let entry = v1::MeterEntry { meter_id, index, config: Some(config), counter_data: None };
            updates.push(v1::Update::modify(entry));
        }
    }
    updates
}

/// Returns a packet similar to one of the given ones.
pub fn packet(random: &mut Random, seeds: &[(u32, Vec<u8>)]) -> (u32, Vec<u8>) {
    let (mut port, mut frame) = seeds[random.below(seeds.len())].clone();
    if random.once_in(3) {
        port = random.below(8) as u32;
    }
    for _ in 0..random.below(4) {
        let at = random.below(frame.len());
        if let Some(byte) = frame.get_mut(at) {
            *byte = if random.once_in(2) { random.number() as u8 } else { random.below(8) as u8 };
        }
    }
    match random.below(12) {
        0 => frame.truncate(1 + random.below(frame.len())),
        1 => frame.extend((0..random.below(40)).map(|at| at as u8)),
        _ => {}
    }
    if frame.is_empty() {
        frame.push(0);
    }
    (port, frame)
}
