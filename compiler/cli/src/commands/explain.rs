//! `closc explain`: the page of a diagnostic code, the list of codes, the capabilities of targets, a device, or a
//! headroom.

pub(crate) mod device;
pub(crate) mod headroom;

use std::fmt::Write as _;

use anyhow::bail;
use closc_diagnostics::Rule;
use closc_platform::Os;
use closc_platform::capability::{Capability, Support};
use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{Args, ExplainArgs};
use crate::output::{self, Document, Items, Outcome, Usage};

/// A diagnostic code, with its page.
pub(crate) const CODE: Document<Page> = Document::new("closc-code/1");

/// Every diagnostic code.
pub(crate) const CODES: Document<Items<Page>> = Document::new("closc-codes/1");

/// Capabilities of each target.
pub(crate) const TARGETS: Document<Items<TargetPage>> = Document::new("closc-targets/1");

#[derive(Serialize, JsonSchema)]
pub(crate) struct Page {
    code: &'static str,
    title: &'static str,
    what: &'static str,
    why: &'static str,
    example: &'static str,
    fix: &'static str,
}

/// Explains a code, a device or a headroom.
pub fn run(args: &Args, command: &ExplainArgs) -> anyhow::Result<Outcome> {
    let words: Vec<&str> = command.what.iter().map(String::as_str).collect();
    match words[..] {
        ["codes"] => codes(args),
        ["targets"] => targets(args),
        ["device", file, switch] => device::run(args, file.into(), switch),
        ["headroom", file, switch, port] => headroom::run(args, file.into(), switch, port),
        ["device" | "headroom", ..] => {
            bail!(Usage("write `device FILE SWITCH` or `headroom FILE SWITCH PORT`"))
        }
        [code] => explain_code(args, code),
        _ => bail!(Usage(
            "write one code, `codes`, `targets`, `device FILE SWITCH` or `headroom FILE SWITCH PORT`"
        )),
    }
}

fn codes(args: &Args) -> anyhow::Result<Outcome> {
    let pages: Vec<Page> = rules().into_iter().map(page).collect();
    output::results(args.format, &CODES, &pages, |pages| {
        pages.iter().fold(String::new(), |mut text, page| {
            let _ = writeln!(text, "{}  {}", page.code, page.title);
            text
        })
    })?;
    Ok(Outcome::Fine)
}

/// Output for one target.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TargetPage {
    target: &'static str,
    renders: Vec<CapabilitySupport>,
}

/// Extent to which a capability is rendered (`whole`, `part` or `none`), with the reason.
#[derive(Serialize, JsonSchema)]
struct CapabilitySupport {
    what: &'static str,
    settings: &'static str,
    support: &'static str,
    why: Option<&'static str>,
}

fn targets(args: &Args) -> anyhow::Result<Outcome> {
    let rendered = |os: Os, capability: &Capability| {
        let (support, why) = match os.support(*capability) {
            Support::Whole => ("whole", None),
            Support::Part(why) => ("part", Some(why)),
            Support::Not(why) => ("none", Some(why)),
        };
        CapabilitySupport { what: capability.description(), settings: capability.settings(), support, why }
    };
    let pages: Vec<TargetPage> = Os::ALL
        .into_iter()
        .map(|os| {
            let renders = Capability::ALL.iter().map(|capability| rendered(os, capability)).collect();
            TargetPage { target: os.title(), renders }
        })
        .collect();
    output::results(args.format, &TARGETS, &pages, |pages| pages.iter().map(target_text).collect())?;
    Ok(Outcome::Fine)
}

fn target_text(page: &TargetPage) -> String {
    let mut text = format!("{}\n", page.target);
    for CapabilitySupport { what, support, why, .. } in &page.renders {
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let _ = writeln!(text, "  {support:5}  {what}{why}");
    }
    text
}

fn explain_code(args: &Args, code: &str) -> anyhow::Result<Outcome> {
    let rules = rules();
    let Some(rule) = rules.iter().find(|rule| rule.code.eq_ignore_ascii_case(code)) else {
        let device = if code.contains('-') {
            format!("; for a switch, use `closc explain device FILE {code}`")
        } else {
            String::new()
        };
        bail!("`{code}` is not a code; `closc explain codes` lists them{device}");
    };
    output::result(args.format, &CODE, &page(rule), |_| rule.page())?;
    Ok(Outcome::Fine)
}

/// Returns the rules of all stages, sorted by code.
fn rules() -> Vec<&'static Rule> {
    let mut rules = closc_compile::front::rules();
    rules.extend(closc_verify::rules());
    rules.sort_by_key(|rule| rule.code);
    rules
}

fn page(rule: &'static Rule) -> Page {
    let Rule { code, title, condition: what, impact: why, example, fix } = rule;
    Page { code, title, what, why, example, fix }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_code_is_used_twice() {
        let mut codes: Vec<&str> = super::rules().iter().map(|rule| rule.code).collect();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
    }
}
