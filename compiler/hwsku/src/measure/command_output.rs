//! Derives the entry of a switch that runs EOS or Cumulus Linux from the JSON output of its own commands.
//!
//! In: the output of [`commands`], and the catalogue. Out: [`MeasuredEntry`]. Invariants: text around JSON is skipped.
//! A number that the switch does not report keeps its provenance and is listed. The catalogue accepts the resulting
//! entry. Memory use is bounded before JSON is decoded.

use std::collections::{BTreeMap, BTreeSet};

use closc_budget::decoded_json_bytes;
use closc_platform::{Catalogue, Limit, Os, Platform, Provenance};
use serde_json::Value;

use super::{Answer, MeasuredEntry, SCRIPT, accept, measure, text};

/// Maximum memory for the JSON of a switch, in bytes.
const MEMORY_MAX: usize = 256 << 20;

/// Maximum number of positions at which the beginning of a JSON document is tried.
const DOCUMENTS_MAX: usize = 64;

/// EOS commands, each of which prints one JSON document.
const EOS: &str = "enable\nterminal length 0\nbash date -u +%F\nshow version | json\nshow inventory | json\n\
    show interfaces hardware | json\nshow hardware capacity | json\nexit\n";

/// Cumulus Linux commands.
const NVUE: &str = "date -u +%F\nfor what in system platform interface 'platform asic resource'; do\n\
    nv show $what -o json </dev/null || :; echo\ndone\n";

/// The operating system of a switch, unless the user states a different one.
pub const USUAL_OS: Os = Os::Sonic;

/// Returns the commands to run on a switch; `None` for operating systems that report too little.
pub fn commands(os: Os) -> Option<&'static str> {
    match os {
        Os::Eos => Some(EOS),
        Os::Nvue => Some(NVUE),
        Os::Sonic | Os::Pins => Some(SCRIPT),
        Os::Frr | Os::Linux | Os::P4 => None,
    }
}

/// Output of the commands.
struct CommandOutput {
    documents: Vec<Value>,
    date: String,
}

impl CommandOutput {
    fn read(output: &str) -> Result<CommandOutput, String> {
        let needed = decoded_json_bytes(output.as_bytes());
        if needed > MEMORY_MAX {
            let [needed, most] = [needed, MEMORY_MAX].map(|bytes| closc_budget::size(bytes as u64));
            return Err(format!("its answer needs {needed} of memory; the limit is {most}"));
        }
        let is_date = |line: &&str| {
            line.len() == 10
                && line.bytes().enumerate().all(|(at, sign)| match at {
                    4 | 7 => sign == b'-',
                    _ => sign.is_ascii_digit(),
                })
        };
        let date = output.lines().map(str::trim).find(is_date).unwrap_or("an unknown day").to_owned();
        Ok(CommandOutput { documents: documents(output), date })
    }

    /// Returns the first text that a document has for a key at the top level.
    fn text(&self, key: &str) -> Option<&str> {
        self.documents.iter().find_map(|document| document.get(key)?.as_str())
    }

    /// Returns the numbers of the cages, from the names of their ports: 7 for `Ethernet7/1` or `swp7s0`. Service ports
    /// of EOS have no slash and are skipped.
    fn cages(&self, os: Os) -> BTreeSet<u16> {
        let number = |name: &str| -> Option<u16> {
            match os {
                Os::Eos => name.strip_prefix("Ethernet")?.split_once('/')?.0.parse().ok(),
                _ => name.strip_prefix("swp")?.split('s').next()?.parse().ok(),
            }
        };
        let maps = self.documents.iter().filter_map(Value::as_object);
        let nested = self.documents.iter().filter_map(|document| document.get("interfaces")?.as_object());
        maps.chain(nested).flat_map(|map| map.keys()).filter_map(|name| number(name)).collect()
    }

    /// Returns the limits that the switch reports, each with its command and name.
    fn limits(&self, os: Os) -> BTreeMap<Limit, (u32, String)> {
        let mut found = BTreeMap::new();
        self.documents.iter().for_each(|document| match os {
            Os::Eos => eos_limits(document, &mut found),
            _ => nvue_limits(document, &mut found),
        });
        found
    }
}

/// Finds JSON documents in lines that also have prompts, banners and errors.
fn documents(output: &str) -> Vec<Value> {
    let (mut found, mut rest, mut tries) = (Vec::new(), output, 0);
    while tries < DOCUMENTS_MAX {
        let Some(at) = start(rest) else { break };
        let text = &rest[at..];
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        tries += 1;
        rest = match stream.next() {
            Some(Ok(document)) => {
                found.push(document);
                &text[stream.byte_offset()..]
            }
            _ => text.split_once('\n').map_or("", |(_, rest)| rest),
        };
    }
    found
}

/// Returns the offset of the first line that may be the beginning of JSON.
fn start(text: &str) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('{') {
            return Some(at + line.len() - line.trim_start().len());
        }
        at += line.len();
    }
    None
}

/// Adds a limit, and keeps the smallest one of several ASICs.
fn add(found: &mut BTreeMap<Limit, (u32, String)>, limit: Limit, value: Option<u64>, source: String) {
    let Some(value) = value.and_then(|value| u32::try_from(value).ok()).filter(|value| *value > 0) else {
        return;
    };
    let entry = found.entry(limit).or_insert((value, source));
    entry.0 = entry.0.min(value);
}

/// Reads the rows of `show hardware capacity`.
fn eos_limits(document: &Value, found: &mut BTreeMap<Limit, (u32, String)>) {
    for row in document["tables"].as_array().into_iter().flatten() {
        let [table, feature] = ["table", "feature"].map(|key| row[key].as_str().unwrap_or_default());
        let limit = match (table, feature) {
            (_, "V6Routes") => Limit::Ipv6Routes,
            (_, "V6Hosts") => Limit::Neighbours,
            ("ECMP", "") => Limit::EcmpGroups,
            _ => continue,
        };
        let source = format!("show hardware capacity, {table} {feature}").trim_end().to_owned();
        add(found, limit, row["maxLimit"].as_u64(), source);
    }
}

/// Reads the rows of `nv show platform asic resource` at any depth, such as `IPv6-route-entries` and its maximum.
fn nvue_limits(document: &Value, found: &mut BTreeMap<Limit, (u32, String)>) {
    for (key, below) in document.as_object().into_iter().flatten() {
        let limit = match key.to_ascii_lowercase().replace([' ', '_'], "-").as_str() {
            "ipv6-route-entries" => Some(Limit::Ipv6Routes),
            "ipv6-host-entries" => Some(Limit::Neighbours),
            _ => None,
        };
        match limit {
            Some(limit) => {
                let most = &below["max"];
                let most = most.as_u64().or_else(|| most.as_str()?.parse().ok());
                add(found, limit, most, format!("nv show platform asic resource, {key}"));
            }
            None => nvue_limits(below, found),
        }
    }
}

/// Returns the entry of a switch from the output of its [`commands`].
///
/// # Errors
///
/// Returns the reason why the output cannot be from such a switch.
pub fn measure_output(
    host: &str,
    os: Os,
    output: &str,
    catalogue: &Catalogue,
) -> Result<MeasuredEntry, String> {
    match os {
        Os::Eos | Os::Nvue => measure_reported(host, os, output, catalogue),
        Os::Sonic | Os::Pins | Os::Frr | Os::Linux | Os::P4 => {
            let answer = Answer::read(output).map_err(|why| format!("its answer is unreadable: {why}"))?;
            measure(&answer, catalogue)
        }
    }
}

/// Returns the entry of a switch with the limits that it reports.
fn measure_reported(
    host: &str,
    os: Os,
    output: &str,
    catalogue: &Catalogue,
) -> Result<MeasuredEntry, String> {
    let reported = CommandOutput::read(output)?;
    let (model, release) = match os {
        Os::Eos => (reported.text("modelName"), reported.text("version")),
        _ => (model_of_nvue(&reported), reported.text("product-release")),
    };
    let model = model.ok_or_else(|| {
        format!(
            "the switch prints no model with the commands of `{}`; set its system with `--os`",
            os.keyword()
        )
    })?;
    let release = release.unwrap_or("of an unknown release");
    let cages = reported.cages(os);
    let platform = find_entry(model, os, &cages, catalogue)?;
    let mut notes = Vec::new();
    if cages.len() < usize::from(platform.panel.cages) {
        let n = cages.len();
        notes.push(format!(
            "the switch reports {n} cages, but `{}` has {}",
            platform.id, platform.panel.cages
        ));
    }
    let base = catalogue.text(&platform.id).unwrap_or_default().to_owned();
    let place = format!("{host}, {model}, {} {release}, {}", os.keyword(), reported.date);
    let measured = reported.limits(os).into_iter();
    let limits: BTreeMap<Limit, (u32, Provenance)> = measured
        .map(|(limit, (value, source))| (limit, (value, Provenance::Measured(format!("{place}: {source}")))))
        .collect();
    let missing = Limit::ALL.into_iter().filter(|limit| !limits.contains_key(limit));
    notes.extend(missing.map(|limit| format!("the switch does not report {}", text::key(limit))));
    let text = text::with_limits(&base, platform, &limits);
    accept(&text)?;
    let head = format!("# Measured by `closc platforms --measure`: {place}.\n");
    Ok(MeasuredEntry { id: platform.id.to_string(), text: head + &text, notes })
}

/// Returns the name of the hardware. In `nv show system`, the same key contains the name of the software.
fn model_of_nvue(reported: &CommandOutput) -> Option<&str> {
    let of_software = |document: &&Value| document.get("product-release").is_none();
    let mut hardware = reported.documents.iter().filter(of_software);
    hardware.find_map(|document| document.get("product-name")?.as_str())
}

/// Returns the letters and digits of a text, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(char::is_ascii_alphanumeric).map(|sign| sign.to_ascii_lowercase()).collect()
}

/// Returns the entry of a model. The model name must begin with the SONiC platform name of the entry, without
/// architecture and vendor; the longest such name wins. If several entries have this name, returns one with the same
/// number of cages.
fn find_entry<'a>(
    model: &str,
    os: Os,
    cages: &BTreeSet<u16>,
    catalogue: &'a Catalogue,
) -> Result<&'a Platform, String> {
    let wanted = plain(model.trim_start_matches("DCS-"));
    let name = |platform: &Platform| {
        let sonic = platform.sonic.as_ref()?;
        let bare = sonic.platform.split_once('-').map_or(&*sonic.platform, |(_, bare)| bare);
        let bare = bare.split_once('_').map_or(bare, |(_, bare)| bare);
        let bare = plain(bare.strip_suffix("-r0").unwrap_or(bare));
        (!bare.is_empty() && wanted.starts_with(&bare)).then_some(bare)
    };
    let all = catalogue.iter().map(|platform| &**platform).filter(|platform| platform.supports(os));
    let mut found: Vec<(String, &Platform)> =
        all.filter_map(|platform| Some((name(platform)?, platform))).collect();
    let longest = found.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    found.retain(|(name, _)| name.len() == longest);
    let whole = |platform: &Platform| {
        let is_default = platform.ports_max(platform.panel.default_breakout) == platform.panel.cages;
        (usize::from(platform.panel.cages) == cages.len(), is_default)
    };
    let found = found.into_iter().max_by_key(|(_, platform)| whole(platform));
    found.map(|(_, platform)| platform).ok_or_else(|| {
        format!(
            "the catalogue has no entry for {model} with `{}`; copy one with `closc platforms NAME --yaml`",
            os.keyword()
        )
    })
}
