//! Words of the field: no file contains a word of the list below, which network engineers would not search for.
//!
//! In: every text file that git tracks. Out: the lines with a word of the list, each with the replacement.

use std::process::Command;

use super::{files, root};

/// Words and phrases that the project does not use, with their replacements (docs/glossary.md).
///
/// A word in lower case is searched in upper and lower case and in every name, where `_` separates words.
/// Anything else is searched exactly as it is written here, as complete words.
const WORDS: &[(&[&str], &str)] = &[
    (&["told"], "receives, has, is given, reported"),
    (&["heard", "hear", "hears"], "received, receives"),
    (&["learned", "learns"], "received, of BGP, resolved"),
    (&["admit", "admits", "admitted"], "accepts, ingress filter"),
    (&["leads over", "lead over", "led over", "leading over"], "uses, goes over"),
    (&["hang on", "hangs on", "hung on", "hanging on", "hangs where"], "is attached to"),
    (&["held against", "hold against", "holds against", "Held against"], "compared with"),
    (&["stands in", "stand in", "standing in"], "is in"),
    (&["reckon", "reckons", "reckoned", "reckoning"], "compute"),
    (&["brim"], "full, completely"),
    (&["thousand million"], "billion"),
    (&["Always:"], "Invariants:"),
    (&["journey", "journeys"], "packet trace, path"),
    (&["trip", "trips"], "packet trace, path (of a round trip it is allowed)"),
    (&["nonsense"], "invalid, malformed"),
    (&["OddRoute", "OddRoutes"], "other routes"),
    (&["Way"], "NextHop, Path"),
    (&["struct Ways", "type Ways", "GroupWays", "ZoneWays"], "NextHops, Paths, Cables"),
    (&["hello"], "neighbour discovery"),
    (&["enum Why", "struct Why", "Why::"], "Reason"),
    (&["enum What", "struct What", "What::"], "EventKind"),
    (&["enum Good", "struct Good"], "PushSummary"),
    (&["Aim"], "Destination, Goal"),
    (&["manner"], "RolloutMode, Spreading"),
    (&["teller", "tellers"], "reader, received, converged"),
    (&["fn takes", "takes_own", "longest_taken"], "accepts"),
    (&["Doing"], "Operation"),
    (&["pourer"], "WaterFilling"),
    (&["starve", "starves", "starved"], "no usable entropy value, gets nothing"),
    (&["workshop"], "Scratch"),
    (&["parked"], "QueuedPacket"),
    (
        &[
            "fn said",
            "fn told",
            "fn made",
            "fn held",
            "fn left",
            "fn own",
            "fn ways",
            "fn what",
            "fn found",
            "fn seen",
            "fn given",
            "fn asked",
            "fn taken",
            "fn kept",
            "fn gone",
            "fn known",
            "fn refused",
            "fn planned",
            "fn wanted",
            "fn alone",
            "fn alike",
            "fn whole",
            "fn beside",
            "fn shown",
            "fn routed",
            "fn changed",
            "fn stated",
            "fn once",
            "fn turn",
            "fn arrived",
            "fn broken",
            "fn placed",
            "fn joined",
        ],
        "a verb with its object, or a noun of the field",
    ),
];

/// Files that may contain a word, each with the reason; an empty word allows all of them.
const KEPT: &[(&str, &str, &str)] = &[
    ("docs/glossary.md", "", "names the words of others"),
    ("tests/tidy/words.rs", "", "the list itself"),
    ("Cargo.lock", "", "names of other projects"),
    (
        "compiler/cli/src/commands/explain/device/bgp.rs",
        "longest_taken",
        "a field of JSON, which tools know by this name",
    ),
    ("docs/schemas/closc-device-1.json", "longest_taken", "a field of JSON, which tools know by this name"),
];

/// Returns whether a line contains a word or a phrase.
pub(crate) fn has_phrase(line: &str, phrase: &str) -> bool {
    find(line, phrase, |c| c.is_alphanumeric() || c == '_')
}

/// Returns whether a line in lower case contains a word, alone or as a part of a name.
fn has_word(line: &str, word: &str) -> bool {
    find(line, word, char::is_alphabetic)
}

fn find(line: &str, phrase: &str, is_word: impl Fn(char) -> bool) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + phrase.len()..].chars().next();
        let goes_on = after.is_some_and(&is_word) && phrase.ends_with(&is_word);
        !(before.is_some_and(&is_word) || goes_on)
    })
}

/// The words of a name in camel case: `FirstTold` as `first_told`. Round trips, a term of the field, and
/// `l3_admit`, a name of SAI, are exempt.
fn plain(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 8);
    let mut last = ' ';
    for c in line.chars() {
        if c.is_uppercase() && last.is_lowercase() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
        last = c;
    }
    for round in ["round trip", "round-trip", "round_trip"] {
        text = text.replace(round, "rtt");
    }
    // Names of the interface of SAI.
    for name in ["l3_admit", "admit_to_l3"] {
        text = text.replace(name, "sai");
    }
    text
}

/// Returns the first word of the list that a line contains, and its replacement.
fn unfit(line: &str) -> Option<(&'static str, &'static str)> {
    let words = plain(line);
    WORDS.iter().find_map(|(phrases, instead)| {
        let is_there = |phrase: &&&str| {
            let is_plain = phrase.chars().all(|c| c.is_ascii_lowercase());
            if is_plain { has_word(&words, phrase) } else { has_phrase(line, phrase) }
        };
        phrases.iter().find(is_there).map(|phrase| (*phrase, *instead))
    })
}

#[test]
fn words_are_found_in_sentences_and_names() {
    for line in [
        "a route leads over it",
        "//! In: x. Always: y.",
        "fn way() -> Way {",
        "fn hosts_are_told() {",
        "let FirstTold = HEARD_NS;",
        "on a trip",
        "the scanner is told",
    ] {
        assert_eq!(unfit(line).is_some(), line != "the image is", "{line}");
    }
    for line in [
        "GroupsWay and UnderWay",
        "the scanner understands in",
        "a round trip, RoundTrip, rtt",
        "overheard",
        "`l3_admit_table` with admit_to_l3",
    ] {
        assert_eq!(unfit(line), None, "{line}");
    }
}

/// Lines with the letters of any phrase, found by git. Only these are checked word by word.
fn candidates() -> Vec<(String, String, String)> {
    let mut grep = Command::new("git");
    grep.args(["grep", "--untracked", "-I", "-n", "-z", "-i", "-F"]);
    grep.args(WORDS.iter().flat_map(|(phrases, _)| *phrases).flat_map(|phrase| ["-e", phrase]));
    let output = grep.current_dir(root()).output().expect("git listed the files of the tree");
    assert!(output.status.success(), "git searches the tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\0').map(str::to_owned);
        Some((parts.next()?, parts.next()?, parts.next()?))
    };
    text.lines().filter_map(line).collect()
}

#[test]
fn words_are_those_of_the_field() {
    if files(".rs").is_empty() {
        return;
    }
    let candidates = candidates();
    assert!(candidates.iter().any(|(path, _, _)| path == "tests/tidy/words.rs"), "git finds the list itself");
    let mut found = Vec::new();
    for (path, number, line) in &candidates {
        let Some((phrase, instead)) = unfit(line) else { continue };
        if !KEPT.iter().any(|(kept, word, _)| kept == path && (word.is_empty() || *word == phrase)) {
            found.push(format!("{path}:{number}: `{phrase}`: say {instead}"));
        }
    }
    assert!(found.is_empty(), "words that the field does not use:\n{}", found.join("\n"));
}
