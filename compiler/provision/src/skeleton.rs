//! The site's part of a configuration, as a file for `--overlay` that keeps the factory settings.
//!
//! In: an operating system and its release. Out: the text of the file. Invariants: values that only the site knows are
//! words between `<` and `>`; a file that still contains one is rejected ([`open_value`]).

use std::fmt::Write as _;

use closc_platform::{FactorySetting, Os, Release};
use serde_json::{Map, Value};

use crate::site_tree::write;

/// Values that the site fills in.
const OPEN: [&str; 3] = ["<HASH>", "<ADDRESS/LENGTH>", "<FILE>"];

/// Returns the file; `None` for an operating system whose configuration is not replaced completely.
pub fn skeleton(os: Os, release: Option<Release>) -> Option<String> {
    let parts = || {
        FactorySetting::of(os, release).filter_map(|setting| Some((setting, setting.skeleton.as_deref()?)))
    };
    let objects = || {
        let mut whole = Map::new();
        for (_, part) in parts() {
            let part = serde_saphyr::from_str(part).expect("a test reads every skeleton");
            merge(&mut whole, part);
        }
        whole
    };
    match os {
        Os::Nvue => {
            let mut text = head('#', os, release, parts().map(|(setting, _)| setting));
            text.push_str("set:\n");
            write(&mut text, &objects(), 2);
            Some(text)
        }
        Os::Sonic | Os::Pins => {
            let tables = serde_json::json!({ "devices": ["*"], "tables": objects() });
            Some(format!("{tables:#}\n"))
        }
        Os::Eos => {
            let mut text = head('!', os, release, parts().map(|(setting, _)| setting));
            for (_, part) in parts() {
                let _ = writeln!(text, "!\n{part}");
            }
            Some(text)
        }
        Os::Frr | Os::Linux | Os::P4 => None,
    }
}

/// Returns the comment at the top of a file.
fn head<'s>(
    sign: char,
    os: Os,
    release: Option<Release>,
    settings: impl Iterator<Item = &'s FactorySetting>,
) -> String {
    let release = release.or(os.releases().map(|releases| releases.default));
    let release = release.map(|release| format!(" {release}")).unwrap_or_default();
    let mut text =
        format!("{sign} The site's part for `{}`{release}. Replace the values in <>.\n", os.keyword());
    for setting in settings {
        let _ = writeln!(text, "{sign} {}: without it, {}", setting.place, setting.effect);
    }
    text
}

fn merge(whole: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (whole.get_mut(&key), value) {
            (Some(Value::Object(own)), Value::Object(more)) => merge(own, more),
            (_, value) => drop(whole.insert(key, value)),
        }
    }
}

/// Returns a value that the site has not filled in, and its line.
pub fn open_value(text: &str) -> Option<(usize, &'static str)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim_start().starts_with(['#', '!']));
    lines.into_iter().find_map(|(at, line)| Some((at, *OPEN.iter().find(|open| line.contains(**open))?)))
}
