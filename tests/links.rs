//! Links in documents: the linked file and heading exist.
//!
//! In: every Markdown file that git tracks or would track. Out: the broken links, with file and line.
//! Addresses on the network are not checked, because tests do not use the network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("tests/ is a folder of the tree").to_owned()
}

fn documents() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"])
        .current_dir(root())
        .output();
    let Some(output) = listed.ok().filter(|output| output.status.success()) else {
        closc_skip::skip("git does not list the files of the tree");
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let paths = text.split('\0').filter(|path| !path.is_empty()).map(|path| root().join(path));
    paths.filter(|path| path.is_file()).collect()
}

/// Lines of text with their numbers, without code blocks and text in backticks.
fn prose(markdown: &str) -> Vec<(usize, String)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (at, line) in markdown.lines().enumerate() {
        let start = line.trim_start();
        match fence {
            Some(mark) if start.starts_with(mark) => fence = None,
            Some(_) => {}
            None if start.starts_with("```") => fence = Some("```"),
            None if start.starts_with("~~~") => fence = Some("~~~"),
            None => lines.push((at + 1, line.to_owned())),
        }
    }
    lines
}

/// A line without the text in backticks.
fn strip_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// Targets of links and pictures in a line.
fn targets(line: &str) -> Vec<String> {
    let inline = strip_code(line);
    let mut found: Vec<String> = inline
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| {
            target.split_whitespace().next().unwrap_or_default().trim_matches(['<', '>']).to_owned()
        })
        .collect();
    let defined = line.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
    found.extend(defined.map(|(_, target)| target.trim().to_owned()));
    found
}

/// The anchors that sites derive from the headings of a document.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = BTreeSet::new();
    for (_, line) in prose(markdown) {
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor = slug(heading.trim());
        let count = seen.entry(anchor.clone()).or_default();
        found.insert(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    found
}

fn slug(heading: &str) -> String {
    // Only the text of a link in a heading counts.
    let mut text = String::new();
    let mut rest = heading;
    while let Some((before, after)) = rest.split_once("](") {
        text.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let kept = text
        .to_lowercase()
        .chars()
        .filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c))
        .collect::<String>();
    kept.replace(' ', "-")
}

/// The reason why a link in a document is broken.
fn fault(document: &Path, target: &str) -> Option<String> {
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = document.parent().expect("a file is in a folder");
    let place = if path.is_empty() { document.to_owned() } else { folder.join(path) };
    if !place.exists() {
        return Some(format!("`{target}`: there is no such file"));
    }
    let inside = place
        .canonicalize()
        .is_ok_and(|place| place.starts_with(root().canonicalize().expect("it is there")));
    if !inside {
        return Some(format!("`{target}` is outside of the tree"));
    }
    if anchor.is_empty() || place.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    let text = fs::read_to_string(&place).expect("a document can be read");
    (!anchors(&text).contains(anchor)).then(|| format!("`{target}`: there is no such heading"))
}

#[test]
fn links_lead_somewhere() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for document in documents() {
        let text = fs::read_to_string(&document).expect("a document can be read");
        for (line, text) in prose(&text) {
            for target in targets(&text) {
                count += 1;
                if let Some(fault) = fault(&document, &target) {
                    let name = document.strip_prefix(root()).expect("it is below the root").display();
                    wrong.push(format!("{name}:{line}: {fault}"));
                }
            }
        }
    }
    println!("{count} links");
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

/// A page that is not in the table of contents is not part of the site.
#[test]
fn the_site_has_every_page() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("there is a summary");
    let named: BTreeSet<PathBuf> =
        prose(&summary).iter().flat_map(|(_, line)| targets(line)).map(|target| docs.join(target)).collect();
    for page in documents().into_iter().filter(|page| page.starts_with(&docs)) {
        // Pages of codes and decisions are linked from their lists, and added when the site is built.
        let is_listed = ["errors", "decisions"].iter().any(|folder| page.starts_with(docs.join(folder)));
        let is_summary = page.ends_with("SUMMARY.md");
        assert!(
            named.contains(&page) || is_listed || is_summary,
            "docs/SUMMARY.md does not name {}",
            page.display()
        );
    }
}

/// mdBook turns `a/README.md` into `a/index.html`, and a link to `a/x.md` into one to `a/x.html`.
#[test]
fn the_site_has_what_its_pages_lead_to() {
    let place = tempfile::tempdir().expect("a folder of the test");
    let made = Command::new(root().join("packaging/site")).arg("--prepare").arg(place.path()).output();
    let made = made.expect("the script runs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let docs = place.path().join("docs").canonicalize().expect("it was written");
    let summary = docs.join("SUMMARY.md");
    let summary = fs::read_to_string(summary).expect("there is a summary");
    let pages = prose(&summary).into_iter().flat_map(|(_, line)| targets(&line));
    let pages: BTreeMap<PathBuf, PathBuf> = pages
        .map(|page| docs.join(page))
        .map(|page| {
            let is_list = page.ends_with("README.md");
            (if is_list { page.with_file_name("index.md") } else { page.clone() }, page)
        })
        .collect();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for page in pages.values() {
        let text = fs::read_to_string(page).unwrap_or_else(|error| panic!("{}: {error}", page.display()));
        for target in prose(&text).iter().flat_map(|(_, line)| targets(line)) {
            let path = target.split('#').next().unwrap_or_default();
            if path.is_empty()
                || target.contains("://")
                || Path::new(path).extension().is_none_or(|ending| ending != "md")
            {
                continue;
            }
            count += 1;
            let mut place = page.parent().expect("a file is in a folder").to_owned();
            for step in Path::new(path).components() {
                if step.as_os_str() == ".." {
                    place.pop();
                } else {
                    place.push(step);
                }
            }
            if !pages.contains_key(&place) {
                wrong.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(count > 200, "{count}");
    assert!(wrong.is_empty(), "pages that the site does not have:\n{}", wrong.join("\n"));
}

#[test]
fn links_and_headings_are_found() {
    assert_eq!(targets("see [a](b.md#c) and ![d](e.svg \"f\"), not `[g](h)`"), ["b.md#c", "e.svg"]);
    assert_eq!(targets("[x]: y.md"), ["y.md"]);
    let text = "# One two\n```\n# none\n```\n## One two\n### `a`, [b](c.md): d_e!\n";
    let expected = ["a-b-d_e", "one-two", "one-two-1"];
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), expected);
    let here = root().join("README.md");
    assert!(fault(&here, "docs/absent.md").is_some() && fault(&here, "#no-such-heading").is_some());
    assert!(
        fault(&here, "docs/glossary.md#the-fabric").is_none()
            && fault(&here, "https://example.org").is_none()
    );
}
