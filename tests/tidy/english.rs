//! Plain English: counts of wordings that read like a translation. Each count can only fall.
//!
//! In: every text file that git tracks. Out: wordings that occur more often than their limit.

use std::fs;
use std::process::Command;

use super::{files, root};

/// A wording to avoid.
struct Wording {
    name: &'static str,
    /// An extended regular expression of `git grep`.
    pattern: &'static str,
    files: &'static [&'static str],
    instead: &'static str,
    /// Remaining occurrences. Lower this number when some are replaced.
    limit: usize,
}

const TEXT: &[&str] = &[
    "*.md",
    "*.rs",
    "*.j2",
    "*.p4",
    "*.html",
    "*.js",
    "*.css",
    "*.yaml",
    "*.yml",
    "*.toml",
    "*.py",
    "*.service",
    ".ci/run",
    "justfile",
    "packaging/*",
];

const WORDINGS: &[Wording] = &[
    Wording {
        // `There is no X` and `is no longer` are English. A line that starts with the verb is not examined.
        name: "X is no Y",
        pattern: r"([a-df-z`]|[^r ]e|[^e]re|[^h]ere|[^Tt]here) (is|are|was|were) no ([a-km-z]|l[a-np-z]|lo[a-mo-z])",
        files: TEXT,
        instead: "`is not a Y`, or name what is there",
        limit: 0,
    },
    Wording {
        name: "persons without a name",
        pattern: r"\b([Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody)\b",
        files: TEXT,
        instead: "the operator, controller, kernel or peer, or drop it",
        limit: 4,
    },
    Wording {
        name: "comments that open with What, Who or How",
        pattern: r"//[/!]? (What|Who|How|Whose|Whatever) ",
        files: &["*.rs", "*.p4"],
        instead: "a noun of the field",
        limit: 0,
    },
    Wording {
        name: "comments of settings and scripts that open with What, Who or How",
        pattern: r"(^|[^&])(#|\{#-?) ?(What|Who|How|Whose|Whatever) ",
        files: &[
            "*.yaml",
            "*.yml",
            "*.toml",
            "*.j2",
            "*.py",
            "*.service",
            ".ci/run",
            "justfile",
            "packaging/*",
            "Containerfile",
        ],
        instead: "a noun of the field",
        limit: 0,
    },
    Wording {
        name: "files and programs that say",
        pattern: r"\b(says?|said)\b",
        files: &["*.md"],
        instead: "contains, prints, reports, states",
        limit: 0,
    },
    Wording {
        name: "translated idioms",
        pattern: r"\b([Mm]end(s|ed|ing)?|meanwhile|of before|as they should be|takes? itself back|not begun)\b",
        files: TEXT,
        instead: "fix, repair; in the meantime; from an earlier version; up to date; roll back",
        limit: 0,
    },
];

/// Maximum number of words in a sentence of a document.
const SENTENCE_WORDS: usize = 40;

/// Number of longer sentences.
const LONG_SENTENCES: usize = 35;

fn occurrences(wording: &Wording) -> usize {
    let mut grep = Command::new("git");
    grep.args(["grep", "--untracked", "-I", "-h", "-o", "-E", "-e", wording.pattern, "--"]);
    grep.args(wording.files).args([":!tests/tidy", ":!Cargo.lock"]);
    let output = grep.current_dir(root()).output().expect("git listed the files of the tree");
    String::from_utf8_lossy(&output.stdout).lines().count()
}

/// The sentences of Markdown text, without code, tables and headings.
fn sentences(markdown: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut is_code = false;
    for line in markdown.lines() {
        let text = line.trim();
        is_code ^= text.starts_with("```");
        let is_item =
            text.starts_with("- ") || text.split_once(". ").is_some_and(|(n, _)| n.parse::<u8>().is_ok());
        let is_prose = !(is_code || text.is_empty() || text.starts_with(['|', '#', '`', '<']));
        if is_item || !is_prose {
            paragraphs.push(String::new());
        }
        if is_prose {
            let paragraph = paragraphs.last_mut().expect("there is always one");
            paragraph.push_str(text);
            paragraph.push(' ');
        }
    }
    let split = |paragraph: &String| paragraph.split(". ").map(str::to_owned).collect::<Vec<_>>();
    paragraphs.iter().flat_map(split).filter(|sentence| !sentence.trim().is_empty()).collect()
}

#[test]
fn sentences_are_split() {
    let text = "# A b\n\nOne two. Three\nfour.\n\n- five\n- six\n\n```sh\nseven. eight\n```\n| nine |\n";
    assert_eq!(sentences(text).len(), 4, "{:?}", sentences(text));
}

#[test]
fn wordings_only_get_fewer() {
    if files(".rs").is_empty() {
        return;
    }
    let mut found = Vec::new();
    for wording in WORDINGS {
        let count = occurrences(wording);
        if count > wording.limit {
            let Wording { name, instead, limit, .. } = wording;
            found.push(format!("{name}: {count}, and the limit is {limit}: write {instead}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn sentences_of_documents_are_short() {
    let mut long = Vec::new();
    for path in files(".md") {
        let text = fs::read_to_string(&path).expect("a document can be read");
        let is_long = |sentence: &String| sentence.split_whitespace().count() > SENTENCE_WORDS;
        long.extend(
            sentences(&text).into_iter().filter(is_long).map(|text| format!("{}: {text}", path.display())),
        );
    }
    let count = long.len();
    assert!(
        count <= LONG_SENTENCES,
        "{count} sentences over {SENTENCE_WORDS} words, and the limit is {LONG_SENTENCES}:\n{}",
        long.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n")
    );
}
