//! Words that do not depend on a fabric, with descriptions.

use clap_complete::engine::CompletionCandidate;
use closc_artefacts::Routing;
use closc_compile::front;
use closc_diagnostics::{Diagnostics, Rule, Sources};
use closc_platform::{Catalogue, Os};
use closc_tables::Table;
use closc_topology::HostOutput;
use closc_whatif::Kind;

use super::line::Line;

fn plain(word: impl Into<String>) -> CompletionCandidate {
    CompletionCandidate::new(word.into())
}

fn with_help(word: impl Into<String>, help: impl Into<String>) -> CompletionCandidate {
    plain(word).help(Some(help.into().into()))
}

fn of_rule(rule: &'static Rule) -> CompletionCandidate {
    // A shell that evaluates the description would run text in backticks.
    with_help(rule.code, rule.title.replace('`', ""))
}

pub(super) fn codes() -> Vec<CompletionCandidate> {
    let mut rules = front::rules();
    rules.extend(closc_verify::rules());
    rules.sort_by_key(|rule| rule.code);
    rules.into_iter().map(of_rule).collect()
}

pub(super) fn warnings() -> Vec<CompletionCandidate> {
    front::rules().into_iter().filter(|rule| front::warning(rule.code).is_ok()).map(of_rule).collect()
}

pub(super) fn warnings_and_all() -> Vec<CompletionCandidate> {
    let all = with_help("warnings", "All findings that the fabric file leaves as warnings");
    std::iter::once(all).chain(warnings()).collect()
}

pub(super) fn platforms() -> Vec<CompletionCandidate> {
    let (mut sources, mut diagnostics) = (Sources::new(), Diagnostics::new());
    let read = front::catalogue(&Line::from_environment().platforms(), &mut sources, &mut diagnostics);
    let catalogue = read.unwrap_or_else(|_| Catalogue::builtin());
    let all = catalogue.ids().filter_map(|id| catalogue.get(id));
    all.map(|platform| with_help(platform.id.to_string(), platform.title.clone())).collect()
}

pub(super) fn systems() -> Vec<CompletionCandidate> {
    Os::ALL.into_iter().map(|os| with_help(os.keyword(), os.title())).collect()
}

pub(super) fn routings() -> Vec<CompletionCandidate> {
    let all = [Routing::Srv6Static, Routing::EcmpStatic, Routing::BgpUnnumbered];
    all.into_iter().map(|routing| plain(routing.keyword())).collect()
}

pub(super) fn tables() -> Vec<CompletionCandidate> {
    Table::ALL.into_iter().map(|table| plain(table.name())).collect()
}

pub(super) fn host_outputs() -> Vec<CompletionCandidate> {
    HostOutput::ALL.into_iter().map(|output| plain(output.keyword())).collect()
}

pub(super) fn kinds() -> Vec<CompletionCandidate> {
    Kind::ALL.into_iter().map(|kind| plain(kind.keyword())).chain([plain("all")]).collect()
}

pub(super) fn terms() -> Vec<CompletionCandidate> {
    ["plane=", "zone=", "tier=", "device="].map(plain).into()
}

pub(super) fn tiers() -> Vec<CompletionCandidate> {
    ["t0", "t1", "t2", "hosts"].map(plain).into()
}
