//! Files of a git directory or checkout at a revision, with symbolic links resolved.
//!
//! In: a folder. Out: paths and texts. Invariants: nothing is written, and the work tree is not read.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, ensure};
use closc_hwsku::Files;

const LINK: &str = "120000";

/// A repository at a revision.
pub(super) struct Repository {
    objects: Mutex<Objects>,
    /// Blobs by path.
    blobs: BTreeMap<String, String>,
    /// Blobs of symbolic links by path.
    links: BTreeMap<String, String>,
    pub(super) commit: String,
}

impl Repository {
    /// Lists the files below a folder of the repository at `HEAD`.
    pub(super) fn open(folder: &Path, below: &str) -> anyhow::Result<Self> {
        Self::open_at(folder, &["HEAD".to_owned()], below)
    }

    /// Lists the files below a folder of the repository, at the first of these revisions that it has.
    pub(super) fn open_at(folder: &Path, revisions: &[String], below: &str) -> anyhow::Result<Self> {
        let read = |revision: &String| {
            git(folder, &["rev-parse", "--verify", "--quiet", "--short=8", &format!("{revision}^{{commit}}")])
                .ok()
        };
        let commit = revisions.iter().find_map(read);
        let commit = commit.with_context(|| format!("the repository lacks {}", revisions.join(" and ")))?;
        let commit = commit.trim().to_owned();
        let listed = git(folder, &["ls-tree", "-r", &commit, below])?;
        let objects = Mutex::new(Objects::open(folder)?);
        let mut own = Repository { objects, blobs: BTreeMap::new(), links: BTreeMap::new(), commit };
        for line in listed.lines() {
            let (kind, path) = line.split_once('\t').context("a line of ls-tree has a path")?;
            let mut words = kind.split(' ');
            let (mode, blob) = (words.next().unwrap_or_default(), words.nth(1).unwrap_or_default());
            if mode == LINK {
                own.links.insert(path.to_owned(), blob.to_owned());
            }
            own.blobs.insert(path.to_owned(), blob.to_owned());
        }
        Ok(own)
    }

    /// Returns the text of a blob.
    fn object(&self, blob: &str) -> Option<String> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner).read(blob).ok()
    }

    /// Follows links in every part of a path.
    fn resolve(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..16 {
            let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
            let link = { ends }.find_map(|end| Some((end, self.links.get(&path[..end])?)));
            let Some((end, blob)) = link else { return Some(path) };
            let target = self.object(blob)?;
            let folder = path[..end].rsplit_once('/').map_or("", |(folder, _)| folder);
            path = normal(&format!("{folder}/{target}{}", &path[end..]));
        }
        None
    }
}

impl Files for Repository {
    fn text(&self, path: &str) -> Option<String> {
        self.object(self.blobs.get(&self.resolve(path)?)?)
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let Some(folder) = self.resolve(folder) else { return Vec::new() };
        let prefix = format!("{folder}/");
        let below = self.blobs.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix));
        let mut names: Vec<String> =
            below.filter_map(|(path, _)| path[prefix.len()..].split('/').next().map(str::to_owned)).collect();
        names.dedup();
        names
    }
}

/// One `git cat-file --batch` for all blobs of a repository.
struct Objects {
    child: Child,
    names: ChildStdin,
    texts: BufReader<ChildStdout>,
}

impl Objects {
    fn open(folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("git");
        command.arg("-C").arg(folder).args(["cat-file", "--batch"]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot run git")?;
        let names = child.stdin.take().context("git has an input")?;
        let texts = BufReader::new(child.stdout.take().context("git has an output")?);
        Ok(Objects { child, names, texts })
    }

    /// Reads a blob. The answer is a line with its size, the blob and a line end; or a line with `missing`.
    fn read(&mut self, blob: &str) -> anyhow::Result<String> {
        writeln!(self.names, "{blob}")?;
        self.names.flush()?;
        let mut head = String::new();
        self.texts.read_line(&mut head)?;
        let size: usize =
            head.rsplit(' ').next().unwrap_or_default().trim().parse().context("no such blob")?;
        let mut bytes = vec![0; size + 1];
        self.texts.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // The process would also end with its input, but not before the fields of this value are dropped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Removes `.` and `..` from a path.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn git(folder: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let out = Command::new("git").arg("-C").arg(folder).args(arguments).output().context("cannot run git")?;
    ensure!(out.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    Ok(String::from_utf8_lossy(&out.stdout).into_owned())
}
