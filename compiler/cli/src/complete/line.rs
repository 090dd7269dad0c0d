//! The command line that is completed: its words and its fabric.

use std::path::{Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use closc_compile::front::{self, Options, Source};
use closc_fabric::Fabric;
use closc_files::TEXT_MAX;
use closc_plan::Plan;

/// File name extensions of fabric files.
const ENDINGS: [&str; 2] = ["yaml", "yml"];
/// The environment variable of `--platforms`.
const PLATFORMS: &str = "CLOSC_PLATFORMS";

/// The words of a line.
pub(super) struct Line {
    words: Vec<String>,
    /// The word under the cursor.
    at: usize,
}

impl Line {
    /// Reads the line to complete: the words after `--`, and the index of the current word from a variable of
    /// the script.
    pub(super) fn from_environment() -> Self {
        let words: Vec<String> = std::env::args_os()
            .skip_while(|word| word != "--")
            .skip(1)
            .map(|word| word.to_string_lossy().into())
            .collect();
        let index = std::env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok());
        let last = words.len().saturating_sub(1);
        Line { words, at: index.unwrap_or(last) }
    }

    /// Returns the words before the one under the cursor, last first.
    pub(super) fn preceding_words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().take(self.at).rev().map(String::as_str)
    }

    /// Returns the words except the program and the one under the cursor.
    fn other_words(&self) -> impl Iterator<Item = &str> {
        let others = self.words.iter().enumerate().skip(1).filter(|(at, _)| *at != self.at);
        others.map(|(_, word)| word.as_str())
    }

    /// Returns the fabric file on the line. Without one, and without a tree on the line, returns the only
    /// fabric file in the current folder.
    fn file(&self) -> Option<Source> {
        let given = self.other_words().map(PathBuf::from).find(|path| is_fabric_file(path));
        let has_tree = || self.other_words().any(is_tree);
        let path = given.or_else(|| if has_tree() { None } else { single_fabric_file() })?;
        Source::parse(path.to_str()?).ok()
    }

    /// Returns the plan of the fabric file, if it has no errors.
    pub(super) fn plan(&self) -> Option<Plan> {
        let options = Options { platforms: self.platforms(), ..Options::default() };
        front::read(&self.file()?, &options).ok()?.plan
    }

    /// Returns the devices that follow from the counts of the fabric file, independent of its other errors.
    pub(super) fn fabric(&self) -> Option<Fabric> {
        front::outline(&self.file()?.read().ok()?)
    }

    /// Returns the platforms of the site, from the same option and variable as for the command.
    pub(super) fn platforms(&self) -> Vec<Utf8PathBuf> {
        let pairs = self.words.iter().zip(self.words.iter().skip(1));
        let given: Vec<Utf8PathBuf> = pairs
            .filter(|(option, _)| *option == "--platforms")
            .map(|(_, path)| Utf8PathBuf::from(path))
            .collect();
        if !given.is_empty() {
            return given;
        }
        std::env::var(PLATFORMS).ok().into_iter().map(Utf8PathBuf::from).collect()
    }

    /// Returns the names of the switches of the compiled tree on the line.
    pub(super) fn switches_of_tree(&self) -> Vec<String> {
        let Some(tree) = self.other_words().find(|word| is_tree(word)) else { return Vec::new() };
        let folder = Utf8Path::new(tree).join("switches");
        let entries = folder.read_dir_utf8().into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_owned()).collect();
        names.sort_unstable();
        names
    }
}

/// Returns whether a path may be a fabric file. Pipes are excluded, because reading one may block forever.
pub(super) fn is_fabric_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
        && path.metadata().is_ok_and(|file| file.is_file() && file.len() <= TEXT_MAX)
}

fn is_tree(word: &str) -> bool {
    Path::new(word).join(closc_artefacts::paths::MANIFEST).is_file()
}

/// Returns the fabric file of the current folder, if there is exactly one.
fn single_fabric_file() -> Option<PathBuf> {
    let entries = std::fs::read_dir(".").ok()?.flatten();
    let mut files = entries.map(|entry| entry.path()).filter(|path| is_fabric_file(path));
    let file = files.find(|path| is_fabric(path))?;
    let is_only = !files.any(|path| is_fabric(&path));
    is_only.then_some(file)
}

/// Returns whether a file has the key that every fabric file has.
fn is_fabric(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.lines().any(|line| line.starts_with("fabric:")))
}
