//! `closc explain`: the page of a diagnostic code, the list of codes, a device, or a headroom.

mod device;
mod headroom;

use std::fmt::Write as _;

use anyhow::bail;
use closc_diagnostics::Rule;
use serde::Serialize;

use crate::args::{Args, ExplainArgs};
use crate::output::{self, Outcome};

#[derive(Serialize)]
struct Page {
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
        ["device", file, switch] => device::run(args, file.into(), switch),
        ["headroom", file, switch, port] => headroom::run(args, file.into(), switch, port),
        ["device" | "headroom", ..] => bail!("write `device FILE SWITCH` or `headroom FILE SWITCH PORT`"),
        [code] => one(args, code),
        _ => bail!("`{}` is too much: write one code", words.join(" ")),
    }
}

fn codes(args: &Args) -> anyhow::Result<Outcome> {
    let pages: Vec<Page> = rules().into_iter().map(page).collect();
    output::result(args.format, &pages, |pages| {
        pages.iter().fold(String::new(), |mut text, page| {
            let _ = writeln!(text, "{}  {}", page.code, page.title);
            text
        })
    })?;
    Ok(Outcome::Fine)
}

fn one(args: &Args, code: &str) -> anyhow::Result<Outcome> {
    let rules = rules();
    let Some(rule) = rules.iter().find(|rule| rule.code.eq_ignore_ascii_case(code)) else {
        bail!("`{code}` is no code; `closc explain codes` lists them");
    };
    output::result(args.format, &page(rule), |_| rule.page())?;
    Ok(Outcome::Fine)
}

/// Returns every rule of every stage, by code.
fn rules() -> Vec<&'static Rule> {
    let mut rules: Vec<&'static Rule> = closc_topology::checks::rules();
    rules.extend(closc_platform::RULES);
    rules.extend(closc_fabric::checks::RULES);
    rules.extend(closc_plan::checks::RULES);
    rules.extend(closc_verify::rules());
    rules.sort_by_key(|rule| rule.code);
    rules
}

fn page(rule: &'static Rule) -> Page {
    let Rule { code, title, what, why, example, fix } = rule;
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
