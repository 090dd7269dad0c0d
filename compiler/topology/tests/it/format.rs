//! Formatting keeps the meaning of a file and every comment. Formatting again changes nothing.
//!
//! In: every fabric file of the repository, as it is and with other spaces. Out: the same plan before and after.

use std::path::{Path, PathBuf};

use closc_diagnostics::Sources;
use closc_platform::Catalogue;
use closc_topology::{Spans, Topology, format};

/// Fabric files below a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is in the repository") {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
}

/// Every fabric of the repository: files, and those bad fabrics of test cases that can be parsed.
fn fabrics() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("topologies"), &mut found);
    files(&root.join("tests/cases"), &mut found);
    let read = |path: PathBuf| (path.clone(), std::fs::read_to_string(path).expect("text"));
    let mut fabrics: Vec<_> = found.into_iter().map(read).collect();
    for entry in std::fs::read_dir(root.join("tests/errors")).expect("the cases are there") {
        let path = entry.expect("a folder can be read").path();
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if let Some((yaml, _)) = text.split_once("```yaml\n").and_then(|(_, rest)| rest.split_once("```\n")) {
            fabrics.push((path, yaml.to_owned()));
        }
    }
    fabrics.retain(|(_, text)| text.starts_with("fabric:") || text.contains("\nfabric:"));
    fabrics
}

/// Result of lowering a file, without its places, which depend on the text.
fn meaning(text: &str) -> Option<String> {
    let mut sources = Sources::new();
    let document = closc_topology::load(&mut sources, "fabric.yaml", text.as_bytes()).ok()?;
    let (topology, _) = closc_topology::lower(&document, &Catalogue::builtin(), &sources);
    Some(format!("{:?}", Topology { spans: Spans::default(), ..topology? }))
}

/// Comments, without the spaces around them.
fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find("# ").map(|at| line[at..].trim())).collect()
}

#[test]
fn every_file_of_the_repository_says_the_same_afterwards() {
    let (mut done, mut planned) = (0, 0);
    for (path, text) in fabrics() {
        let Some(formatted) = format(&text) else { continue };
        assert_eq!(format(&formatted).as_deref(), Some(&*formatted), "once is enough: {}", path.display());
        assert_eq!(comments(&formatted), comments(&text), "{}", path.display());
        let said = meaning(&text);
        assert_eq!(meaning(&formatted), said, "{}", path.display());
        done += 1;
        planned += usize::from(said.is_some());
    }
    assert!(done > 150 && planned > 40, "{done} files, {planned} of them valid");
}

/// The same file with every number of spaces doubled, or without any optional spaces.
#[test]
fn other_spaces_make_no_other_file() {
    let mut tried = 0;
    for (path, text) in fabrics() {
        let Some(formatted) = format(&text) else { continue };
        if text.contains('|') || text.contains('>') {
            continue;
        }
        let indented = |line: &str| {
            let own = line.len() - line.trim_start().len();
            format!("{}{}   ", " ".repeat(2 * own), line.trim_start())
        };
        let wide: Vec<String> = text.lines().map(indented).collect();
        let wide = format!("\n\n{}\n\n\n", wide.join("\r\n"));
        // Comments after values stay in their column, which differs here.
        let plain = |text: &str| {
            let lines = text.lines().map(|line| line.split(" #").next().unwrap_or_default().trim_end());
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(format(&wide).as_deref().map(plain), Some(plain(&formatted)), "{}", path.display());
        tried += 1;
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_file_gets_the_spaces_that_belong_there() {
    let text = "\u{feff}\r
# Top.\r
fabric:    x   # a name\r
x-all: &all {platform:   th5-256x200g,os: sonic }



tiers:
    # The first tier.
    t0: {<<: *all ,up: [ 1,2 , 3],  name: 'a  b,{c}' }   
    t1:
          platform: linux
          # Under it.
          list:
          -   a: 1
              b: \"x: {y}\"   # with a quote
          - plain, { text } stays
    long: {
          a: 1,   # inside
       b: [1,
           2] }
    text: |
        two  spaces
          and more
    end: 1
# Behind.

";
    let wanted = "\
# Top.
fabric: x      # a name
x-all: &all { platform: th5-256x200g, os: sonic }

tiers:
  # The first tier.
  t0: { <<: *all, up: [1, 2, 3], name: 'a  b,{c}' }
  t1:
    platform: linux
    # Under it.
    list:
    - a: 1
      b: \"x: {y}\"           # with a quote
    - plain, { text } stays
  long: {
        a: 1,   # inside
     b: [1,
         2] }
  text: |
      two  spaces
        and more
  end: 1
# Behind.
";
    assert_eq!(format(text).as_deref(), Some(wanted));
    assert_eq!(format(wanted).as_deref(), Some(wanted));
}

#[test]
fn what_cannot_be_read_is_not_written() {
    for text in ["", "a: [1", "a: 1\na: 2\n", "a: \"x\n", "a: *b\n"] {
        assert_eq!(format(text), None, "{text:?}");
    }
}
