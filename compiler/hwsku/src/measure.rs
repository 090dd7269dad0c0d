//! The catalogue entry of a switch, with the limits and features that it reports.
//!
//! In: the output of [`SCRIPT`], run on a switch, and the catalogue. Out: [`MeasuredEntry`]. Invariants: a number that
//! the switch does not report keeps its provenance. The catalogue accepts the resulting entry.

mod command_output;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use closc_platform::{Catalogue, Claim, HwskuFacts, Limit, Platform, Provenance};
pub use command_output::{USUAL_OS, commands, measure_output};
use serde_json::Value;

use crate::{DerivedPlatform, Files, Origin, Row, Switch, accept};

/// Prints the files that describe a switch, and the values that its daemons report. Files are encoded in base64.
const SCRIPT: &str = r#"set -u
platform=$(sonic-cfggen -H -v DEVICE_METADATA.localhost.platform </dev/null) || exit 1
hwsku=$(sonic-cfggen -d -v DEVICE_METADATA.localhost.hwsku </dev/null) || exit 1
printf 'name %s\ndate %s\nplatform %s\nhwsku %s\n' "$(hostname)" "$(date -u +%F)" "$platform" "$hwsku"
printf 'version %s\n' "$(sed -n 's/^build_version: *//p' /etc/sonic/sonic_version.yml | tr -d "'\"")"
cd "/usr/share/sonic/device/$platform" || exit 1
for file in platform.json asic.conf default_sku */hwsku.json */port_config.ini */sai.profile* */*.bcm */*.yml */*.yaml; do
[ -f "$file" ] || continue
printf 'file %s ' "$file"; base64 -w 0 <"$file"; echo
done
db() { printf 'db %s ' "$1"; sonic-db-dump -n "$1" -k "$2" -y </dev/null | base64 -w 0; echo; }
db STATE_DB 'SWITCH_CAPABILITY|switch'
db STATE_DB 'BUFFER_MAX_PARAM_TABLE|global'
db COUNTERS_DB 'CRM:STATS'
echo end
"#;

/// Error in the output of the script.
#[derive(Debug, thiserror::Error)]
enum AnswerError {
    /// A line has none of the known forms.
    #[error("line {0} of the answer is not valid")]
    Line(usize),
    /// The last line is missing.
    #[error("the answer ends before its last line")]
    Incomplete,
    /// A value is missing.
    #[error("the switch does not report its {0}")]
    Missing(&'static str),
}

/// Output of the script on a switch.
#[derive(Debug, Default)]
pub struct Answer {
    name: String,
    date: String,
    version: String,
    platform: String,
    hwsku: String,
    files: BTreeMap<String, String>,
    /// Hashes of the databases, by key.
    hashes: BTreeMap<String, BTreeMap<String, String>>,
}

impl Answer {
    /// Reads the output of the script.
    pub fn read(output: &str) -> Result<Answer, String> {
        Answer::parse(output).map_err(|error| error.to_string())
    }

    fn parse(output: &str) -> Result<Answer, AnswerError> {
        let mut answer = Answer::default();
        let mut is_complete = false;
        for (at, line) in output.lines().enumerate() {
            let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
            let of = |rest: &str| -> Option<(String, String)> {
                let (name, bytes) = rest.split_once(' ')?;
                let bytes = STANDARD.decode(bytes.trim()).ok()?;
                Some((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
            };
            match word {
                "name" => rest.trim().clone_into(&mut answer.name),
                "date" => rest.trim().clone_into(&mut answer.date),
                "version" => rest.trim().clone_into(&mut answer.version),
                "platform" => rest.trim().clone_into(&mut answer.platform),
                "hwsku" => rest.trim().clone_into(&mut answer.hwsku),
                "file" => answer.files.extend([of(rest).ok_or(AnswerError::Line(at + 1))?]),
                "db" => answer.add_hashes(&of(rest).ok_or(AnswerError::Line(at + 1))?.1),
                "end" => is_complete = true,
                _ => return Err(AnswerError::Line(at + 1)),
            }
        }
        match () {
            () if !is_complete => Err(AnswerError::Incomplete),
            () if answer.platform.is_empty() => Err(AnswerError::Missing("platform")),
            () if answer.hwsku.is_empty() => Err(AnswerError::Missing("hwsku")),
            () => Ok(answer),
        }
    }

    /// Adds the hashes of a dump. A database without the key prints an empty object, or nothing.
    fn add_hashes(&mut self, dump: &str) {
        let Ok(Value::Object(keys)) = serde_json::from_str::<Value>(dump) else { return };
        for (key, of) in keys {
            let fields = of["value"].as_object().into_iter().flatten();
            let texts = fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
            self.hashes.entry(key).or_default().extend(texts);
        }
    }

    fn field(&self, key: &str, field: &str) -> Option<&str> {
        self.hashes.get(key)?.get(field).map(String::as_str)
    }

    fn number(&self, key: &str, field: &str) -> Option<u32> {
        self.field(key, field)?.parse().ok()
    }

    /// Returns the size of a table: used and available entries together, from Critical Resource Monitoring (CRM).
    fn resource(&self, name: &str) -> Option<u32> {
        let of = |end: &str| self.number("CRM:STATS", &format!("crm_stats_{name}_{end}"));
        of("used")?.checked_add(of("available")?)
    }

    /// Returns the source of a value, preceded by the switch, its release and the day.
    fn source(&self, of: &str) -> String {
        let version = if self.version.is_empty() { "an unknown release" } else { &self.version };
        format!("{}, {version}, {}: {of}", self.name, self.date)
    }

    /// Returns the limits that the switch reports.
    fn limits(&self) -> BTreeMap<Limit, (u32, Provenance)> {
        let crm =
            |name: &'static str| Some((self.resource(name)?, format!("CRM, {name} used and available")));
        let groups = self.number("SWITCH_CAPABILITY|switch", "MAX_NEXTHOP_GROUP_COUNT");
        let profile = format!("{}/sai.profile", self.hwsku);
        let width = crate::Sdk::read(self, &self.hwsku).ecmp_width;
        let all = [
            (Limit::MySids, crm("srv6_my_sid_entry")),
            (Limit::Ipv6Routes, crm("ipv6_route")),
            (Limit::EcmpWidth, width.map(|width| (width, format!("{profile}, SAI_NUM_ECMP_MEMBERS")))),
            (
                Limit::EcmpGroups,
                groups.map(|groups| (groups, "SWITCH_CAPABILITY, MAX_NEXTHOP_GROUP_COUNT".to_owned())),
            ),
            (Limit::Neighbours, crm("ipv6_neighbor")),
        ];
        let reported = all.into_iter().filter_map(|(limit, found)| Some((limit, found?)));
        reported
            .map(|(limit, (number, of))| (limit, (number, Provenance::Measured(self.source(&of)))))
            .collect()
    }

    /// Returns the features that the switch reports as present or missing.
    fn facts(&self) -> HwskuFacts {
        let claim = |has: bool, of: &str| {
            if has { Claim::Measured(self.source(of)) } else { Claim::Lacking(self.source(of)) }
        };
        let trims = self.field("SWITCH_CAPABILITY|switch", "SWITCH_TRIMMING_CAPABLE");
        HwskuFacts {
            since: None,
            un: self.resource("srv6_my_sid_entry").map(|sids| claim(sids > 0, "CRM, srv6_my_sid_entry")),
            trimming: trims.map(|word| claim(word == "true", "SWITCH_TRIMMING_CAPABLE")),
            trimming_since: None,
            ecmp_width: None,
        }
    }
}

/// The answer contains the folder of the box.
impl Files for Answer {
    fn text(&self, path: &str) -> Option<String> {
        self.files.get(path.trim_start_matches("./")).cloned()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let prefix =
            if folder == "." { String::new() } else { format!("{}/", folder.trim_start_matches("./")) };
        let below = self.files.keys().filter_map(|path| path.strip_prefix(&*prefix));
        let names: BTreeSet<&str> = below.filter_map(|path| path.split('/').next()).collect();
        names.into_iter().map(str::to_owned).collect()
    }
}

/// An entry with measured values.
#[derive(Debug)]
pub struct MeasuredEntry {
    /// Name of the entry: that of the catalogue entry that it replaces, or a name derived from that of the box.
    pub id: String,
    /// YAML of the entry.
    pub text: String,
    /// Values that were not measured, and differences from the catalogue.
    pub notes: Vec<String>,
}

/// Returns the entry of a switch with the limits and features that it reports.
pub fn measure(answer: &Answer, catalogue: &Catalogue) -> Result<MeasuredEntry, String> {
    let switch = Switch::read(answer, ".".to_owned(), answer.platform.clone());
    if switch.ports(&answer.hwsku).is_none() {
        let reason = switch.unread(&answer.hwsku).unwrap_or("its folder has no ports");
        return Err(format!("the switch has no readable ports of its hwsku {}: {reason}", answer.hwsku));
    }
    if let Some(count) = crate::several_asics(answer, ".") {
        return Err(format!("{count} ASICs, and closc plans switches of one"));
    }
    let mut notes = Vec::new();
    let (id, text) = if let Some(platform) = find_entry(answer, catalogue) {
        notes.extend(different_port(platform, &switch, &answer.hwsku));
        (platform.id.to_string(), catalogue.text(&platform.id).unwrap_or_default().to_owned())
    } else {
        let source = answer.source(&format!("/usr/share/sonic/device/{}", answer.platform));
        let derived = switch.derive(
            answer,
            &Origin { source: &source, since: &BTreeMap::new(), platform_since: None, spectrum: None },
            &mut BTreeSet::new(),
        )?;
        let reason = undescribed(&derived, &answer.hwsku);
        let lists = |entry: &DerivedPlatform| {
            accept(&entry.text).is_ok_and(|platform| describes(&platform, &answer.platform, &answer.hwsku))
        };
        let derived = derived.into_iter().find(lists).ok_or(reason)?;
        notes.extend(derived.notes);
        let of_others = catalogue.iter().find(|platform| is_box(platform, &answer.platform));
        notes.push(match of_others {
            Some(other) => format!(
                "the entry `{}` of {} lacks hwsku {}: this one is derived",
                other.id, answer.platform, answer.hwsku
            ),
            None => format!("the catalogue has no entry for {}: this one is derived", answer.platform),
        });
        (derived.id, derived.text)
    };
    let base = accept(&text)?;
    let limits = answer.limits();
    let missing = Limit::ALL.into_iter().filter(|limit| !limits.contains_key(limit));
    notes.extend(missing.map(|limit| format!("the switch does not report {}", text::key(limit))));
    let facts = answer.facts();
    if let (Some(Claim::Measured(_)), None) = (&facts.trimming, &base.trimming) {
        notes.push("the switch trims packets: add `trimming` with its sizes by hand".to_owned());
    }
    let mmu = answer.field("BUFFER_MAX_PARAM_TABLE|global", "mmu_size");
    if let (Some(mmu), Some(buffer)) = (mmu, &base.buffer) {
        let total = buffer.total.0;
        if mmu.parse() != Ok(total) {
            notes.push(format!("the switch reports a buffer of {mmu} B, but the entry has {total} B"));
        }
    }
    let measured = text::write_measurements(&text, &base, &answer.hwsku, &limits, &facts);
    accept(&measured)?;
    let head = format!("# Measured by `closc platforms --measure`: {}.\n", answer.source(&answer.hwsku));
    Ok(MeasuredEntry { id, text: head + &measured, notes })
}

/// Returns the reason why no derived entry describes a hwsku.
fn undescribed(derived: &[DerivedPlatform], hwsku: &str) -> String {
    let notes = derived.iter().flat_map(|entry| &entry.notes);
    let own = notes.filter_map(|note| note.strip_prefix(&format!("hwsku {hwsku}")));
    let reason = own.filter_map(|note| note.split_once(": ")).map(|(_, reason)| reason).next();
    format!("no entry describes its hwsku {hwsku}: {}", reason.unwrap_or("its ports are not on the panel"))
}

fn is_box(platform: &Platform, name: &str) -> bool {
    platform.sonic.as_ref().is_some_and(|sonic| sonic.platform == name)
}

/// Returns whether an entry is of a box and describes a hwsku.
fn describes(platform: &Platform, name: &str, hwsku: &str) -> bool {
    let lists = platform
        .sonic
        .as_ref()
        .is_some_and(|sonic| sonic.hwsku == hwsku || sonic.hwskus.iter().any(|(_, named)| named == hwsku));
    lists && is_box(platform, name)
}

/// Returns the catalogue entry that describes the hwsku in use.
fn find_entry<'a>(answer: &Answer, catalogue: &'a Catalogue) -> Option<&'a Platform> {
    let describes = |platform: &&Platform| describes(platform, &answer.platform, &answer.hwsku);
    let usual =
        |platform: &Platform| platform.sonic.as_ref().is_some_and(|sonic| sonic.hwsku == answer.hwsku);
    let found: Vec<&Platform> = catalogue.iter().map(|platform| &**platform).filter(describes).collect();
    found.iter().find(|platform| usual(platform)).or(found.first()).copied()
}

/// Describes the first port of the hwsku that the entry lacks, ignoring service ports.
fn different_port(platform: &Platform, switch: &Switch, hwsku: &str) -> Option<String> {
    let Row { number, alias, index, lanes, .. } = switch.differing_port(platform, hwsku)??;
    Some(format!(
        "`{}` does not have the port Ethernet{number} of the switch, alias {alias}, cage {index}, lanes \
         {lanes:?}",
        platform.id
    ))
}
