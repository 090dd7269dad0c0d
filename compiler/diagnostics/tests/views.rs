//! Compares the three views of a finding with the expected text.

use closc_diagnostics::show::{github, json, text};
use closc_diagnostics::{Diagnostic, Diagnostics, Rule, Sources, Span};

static RULE: Rule = Rule {
    code: "E0203",
    title: "ports needed exceed ports present",
    condition: "w",
    impact: "y",
    example: "e",
    fix: "f",
};

const YAML: &str = "platform: th5-512x100g\nuplinks: 264\n";

fn finding() -> (Sources, Diagnostics) {
    let mut sources = Sources::new();
    let id = sources.add("pod.yaml", YAML);
    let platform = Span::new(id, 10..22);
    let uplinks = Span::new(id, 32..35);
    let mut diagnostics = Diagnostics::new();
    diagnostics.push(
        Diagnostic::error(&RULE, "T0 needs 520 ports, `th5-512x100g` has 512")
            .at(uplinks, "264 uplinks + 256 downlinks")
            .and(platform, "512 ports at 100G")
            .note("256 + 264 = 520 > 512")
            .help("lower `uplinks` to 256"),
    );
    (sources, diagnostics)
}

#[test]
fn text_points_at_both_lines() {
    let (sources, diagnostics) = finding();
    let shown = text::all(&diagnostics, &sources, text::Colour::Plain);
    let expected = "\
error[E0203]: T0 needs 520 ports, `th5-512x100g` has 512
 --> pod.yaml:2:10
  |
1 | platform: th5-512x100g
  |           ------------ 512 ports at 100G
2 | uplinks: 264
  |          ^^^ 264 uplinks + 256 downlinks
  |
  = note: 256 + 264 = 520 > 512
help: lower `uplinks` to 256

";
    assert_eq!(shown, expected);
}

#[test]
fn json_carries_places_and_arithmetic() {
    let (sources, diagnostics) = finding();
    let value = serde_json::to_value(json::all(&diagnostics, &sources)).unwrap();
    assert_eq!(value[0]["code"], "E0203");
    assert_eq!(value[0]["labels"][0]["line"], 2);
    assert_eq!(value[0]["labels"][0]["column"], 10);
    assert_eq!(value[0]["labels"][1]["primary"], false);
    assert_eq!(value[0]["notes"][0], "256 + 264 = 520 > 512");
}

#[test]
fn github_escapes_line_breaks() {
    let (sources, diagnostics) = finding();
    assert_eq!(
        github::all(&diagnostics, &sources),
        "::error file=pod.yaml,line=2,col=10,title=E0203::T0 needs 520 ports, `th5-512x100g` has 512%0A\
         256 + 264 = 520 > 512%0Alower `uplinks` to 256\n"
    );
}

#[test]
fn a_page_has_its_four_parts() {
    let page = RULE.page();
    for part in ["## What it checks", "## Why it matters", "## Example", "## Fix"] {
        assert!(page.contains(part), "{part} missing in {page}");
    }
}
