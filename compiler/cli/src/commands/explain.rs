//! `closc explain`: the page of a diagnostic code, or the list of codes.

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

/// Explains a code.
pub fn run(args: &Args, command: &ExplainArgs) -> anyhow::Result<Outcome> {
    let rules = rules();
    if command.what == "codes" {
        let pages: Vec<Page> = rules.iter().map(|rule| page(rule)).collect();
        output::result(args.format, &pages, |pages| {
            pages.iter().fold(String::new(), |mut text, page| {
                let _ = writeln!(text, "{}  {}", page.code, page.title);
                text
            })
        })?;
        return Ok(Outcome::Fine);
    }
    let Some(rule) = rules.iter().find(|rule| rule.code.eq_ignore_ascii_case(&command.what)) else {
        bail!("`{}` is no code; `closc explain codes` lists them", command.what);
    };
    output::result(args.format, &page(rule), |_| rule.page())?;
    Ok(Outcome::Fine)
}

/// Returns every rule of every stage, by code.
fn rules() -> Vec<&'static Rule> {
    let mut rules: Vec<&'static Rule> = closc_topology::checks::rules();
    rules.extend(closc_platform::RULES);
    rules.extend(closc_fabric::checks::RULES);
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
