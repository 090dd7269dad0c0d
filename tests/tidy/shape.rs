//! The shape of sources: the length of functions, the beginning of files, the order of imports, the place of
//! modules.

use std::fs;
use std::path::PathBuf;

use super::{files, root};

/// Maximum number of lines of a function, with its signature and the closing brace.
const FUNCTION_LINES_MAX: usize = 60;

/// Every source with its path below the root.
fn all() -> Vec<(String, String)> {
    let path =
        |file: &PathBuf| file.strip_prefix(root()).expect("it is below the root").display().to_string();
    let read = |file: &PathBuf| fs::read_to_string(file).expect("a tracked file can be read");
    files(".rs").iter().map(|file| (path(file), read(file))).collect()
}

/// The name of the function that a line begins, if it begins one.
fn function(line: &str) -> Option<&str> {
    const BEFORE: [&str; 8] =
        ["pub", "pub(crate)", "pub(super)", "async", "const", "unsafe", "extern", "\"C\""];
    let mut words =
        line.split_whitespace().skip_while(|word| BEFORE.contains(word) || word.starts_with("pub("));
    (words.next()? == "fn").then_some(())?;
    words.next()?.split(|sign: char| !(sign.is_alphanumeric() || sign == '_')).next()
}

/// Names of functions, the line at which each begins, and its lines; for sources that rustfmt has formatted.
fn functions(text: &str) -> Vec<(&str, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let indent = |line: &str| line.len() - line.trim_start().len();
    let begin = lines.iter().enumerate().filter_map(|(at, line)| Some((at, function(line)?)));
    let long = begin.filter_map(|(at, name)| {
        // A signature ends with the line that opens the body or, without one, with a semicolon.
        let signature = lines[at..].iter().position(|line| line.ends_with(['{', ';', '}']))? + at;
        if !lines[signature].ends_with('{') {
            return None;
        }
        let closes = |line: &&str| line.trim() == "}" && indent(line) == indent(lines[at]);
        let end = lines[signature..].iter().position(closes)? + signature;
        Some((name, at + 1, end - at + 1))
    });
    long.collect()
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut wrong = Vec::new();
    let mut longest = (0, String::new());
    for (path, text) in all() {
        for (name, line, lines) in functions(&text) {
            longest = longest.max((lines, format!("{path}:{line}: {name}")));
            if lines > FUNCTION_LINES_MAX {
                wrong.push(format!("{path}:{line}: `{name}` has {lines} lines: split it"));
            }
        }
    }
    println!("the longest function has {} lines: {}", longest.0, longest.1);
    assert!(wrong.is_empty(), "functions of more than {FUNCTION_LINES_MAX} lines:\n{}", wrong.join("\n"));
}

#[test]
fn functions_are_measured() {
    let text = "impl X {\n    pub(crate) fn a(\n        b: u8,\n    ) -> u8 {\n        if b {\n        }\n        b\n    }\n\n    fn c();\n}\nfn d() {}\n";
    assert_eq!(functions(text), [("a", 2, 7)]);
}

/// Origin of an import: the standard library, other crates, this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Of {
    Standard,
    Others,
    Own,
}

/// The names that an import of this crate brings in, and through which others are imported.
fn imported_names(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let own = ["crate::", "super::", "self::"];
    let begins = text.match_indices("\nuse ").map(|(at, _)| &text[at + 5..]);
    for import in begins.filter(|import| own.iter().any(|own| import.starts_with(own))) {
        let path = import.split(';').next().unwrap_or_default();
        let names = path.split(|sign: char| !(sign.is_alphanumeric() || sign == '_'));
        out.extend(names.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    out
}

/// The blocks of imports of a file, separated by empty lines: the origin of each import.
fn imports(text: &str) -> Vec<Vec<Of>> {
    let mut own = imported_names(text);
    own.extend(text.lines().filter_map(|line| {
        let (_, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
        Some(name.to_owned())
    }));
    let mut blocks = vec![Vec::new()];
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("use ") {
            let first = path.split([':', ';', ' ']).next().unwrap_or_default();
            let of = match first {
                "std" | "core" | "alloc" => Of::Standard,
                "crate" | "super" | "self" => Of::Own,
                name if own.iter().any(|own| own == name) => Of::Own,
                _ => Of::Others,
            };
            blocks.last_mut().expect("there is one").push(of);
        } else if line.is_empty() {
            blocks.push(Vec::new());
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// The standard library first, then other crates, then this one, with an empty line between.
#[test]
fn imports_come_in_one_order() {
    let mut wrong = Vec::new();
    for (path, text) in all() {
        let blocks = imports(&text);
        let is_mixed = blocks.iter().any(|block| block.iter().any(|of| *of != block[0]));
        let firsts: Vec<Of> = blocks.iter().map(|block| block[0]).collect();
        if is_mixed || !firsts.is_sorted() {
            wrong.push(path);
        }
    }
    assert!(wrong.is_empty(), "imports out of order (standard, others, own):\n{}", wrong.join("\n"));
}

/// A module is a file with the folder of its name; only modules that several test binaries share are a
/// `mod.rs`.
#[test]
fn modules_are_files_with_the_folder_of_their_name() {
    for (path, _) in all() {
        let is_shared = path.split('/').any(|folder| folder == "tests");
        assert!(!path.ends_with("/mod.rs") || is_shared, "{path}: call it by the name of its folder");
    }
}

/// The words for inputs and outputs are the same everywhere.
#[test]
fn heads_say_in_out_and_invariants() {
    for (path, text) in all() {
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
        for words in [["Comes ", "in:"], ["Goes ", "out:"], ["always ", "holds:"]].map(|words| words.concat())
        {
            assert!(
                !head.iter().any(|line| line.contains(&words)),
                "{path}: say `In:`, `Out:`, `Invariants:`"
            );
        }
    }
}

/// The print macros of the standard library panic if the output is closed, for example by a pager. The command would
/// then not do its work.
#[test]
fn programs_print_through_what_survives_a_closed_pipe() {
    const MACROS: [&str; 4] = ["println!", "eprintln!", "print!", "eprint!"];
    let ends = |code: &str| {
        MACROS.iter().any(|name| {
            code.match_indices(name)
                .any(|(at, _)| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_'))
        })
    };
    let mut wrong = Vec::new();
    for (path, text) in all() {
        if !path.contains("/src/") || path.starts_with("xtask/") || path.starts_with("tests/") {
            continue;
        }
        // The rest belongs to tests, whose harness captures all output.
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines =
            code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//") && ends(line));
        wrong.extend(lines.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
    }
    assert!(wrong.is_empty(), "write and look at the result instead:\n{}", wrong.join("\n"));
}
