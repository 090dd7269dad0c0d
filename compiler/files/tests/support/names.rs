//! Names that lead out of their folder, or that do not name a regular file.
//!
//! In: a folder that is created for the test. Out: at least 500 names of files that must not be read.

use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};

/// Contents that must never be read.
pub(crate) const SECRET: &str = "the secret of another user";

/// A folder that contains the folder of a fabric, and a secret file beside that folder.
pub(crate) struct Place {
    _kept: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let kept = tempfile::tempdir().expect("a folder can be made");
        let root = Utf8Path::from_path(kept.path()).expect("paths of tests are text").to_owned();
        std::fs::create_dir_all(root.join("fabric/deep/er")).expect("a folder can be made");
        std::fs::write(root.join("secret"), SECRET).expect("a file can be written");
        std::fs::write(root.join("fabric/pins.csv"), "switch,nic,uplink\n").expect("a file can be written");
        std::fs::write(root.join("fabric/deep/pins.csv"), "deep\n").expect("a file can be written");
        Place { _kept: kept, root }
    }

    pub(crate) fn inside(&self, name: &str) -> Utf8PathBuf {
        self.root.join("fabric").join(name)
    }
}

/// Returns at least 500 names that lead out of the folder or do not name regular files.
pub(crate) fn escapes(place: &Place) -> Vec<String> {
    let mut names = Vec::new();
    upwards(place, &mut names);
    through_links(place, &mut names);
    names.extend(ODD.map(str::to_owned));
    for name in ["socket", "deep/socket"] {
        let (kind, mode) = (nix::sys::stat::SFlag::S_IFSOCK, nix::sys::stat::Mode::S_IRWXU);
        nix::sys::stat::mknod(place.inside(name).as_std_path(), kind, mode, 0).expect("a socket can be made");
        names.push(name.to_owned());
    }
    for length in [256, 4_095, 4_096, 70_000] {
        names.extend(["x".repeat(length), "deep/../".repeat(length / 8) + "../secret"]);
    }
    let circle = place.inside("circle");
    symlink("circle", &circle).expect("a link can be made");
    names.push("circle".to_owned());
    pipes_and_root_links(place, &mut names);
    names
}

/// Adds paths with `..`, both spelled out and behind a link.
fn upwards(place: &Place, names: &mut Vec<String>) {
    let depths = ["", "deep/", "deep/er/", "./", ".//", "deep/./er/", "deep/../"];
    for (depth, below) in depths.iter().enumerate() {
        for up in 1..=12 {
            names.push(format!("{below}{}secret", "../".repeat(up)));
            names.push(format!("{below}{}etc/passwd", "../".repeat(up)));
            names.push(format!("{below}{}proc/self/environ", "../".repeat(up)));
            // A link that goes up by `up` folders, and a file reached through it.
            let link = format!("up-{depth}-{up}");
            symlink("../".repeat(up), place.inside(&link)).expect("a link can be made");
            names.push(format!("{below}{link}/secret"));
            names.push(format!("{link}/etc/passwd"));
        }
    }
}

/// Adds absolute names, and links to them.
fn through_links(place: &Place, names: &mut Vec<String>) {
    let secret = place.root.join("secret");
    for target in [secret.as_str(), "/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin", "/"] {
        names.push(target.to_owned());
        names.push(format!("/{target}"));
        names.push(format!("///{target}"));
        for at in ["", "deep/", "deep/er/"] {
            let link = format!("{at}link-{}", names.len());
            symlink(target, place.inside(&link)).expect("a link can be made");
            let second = format!("{at}second-{}", names.len());
            symlink(place.inside(&link), place.inside(&second)).expect("a link can be made");
            let relative = format!("relative-{}", names.len());
            symlink(&link, place.inside(&relative)).expect("a link can be made");
            names.extend([link, second, relative]);
        }
    }
}

/// Names that do not name files of this folder.
const ODD: [&str; 16] = [
    concat!("/proc/self/", "root", "/etc/passwd"),
    "/proc/self/cwd/secret",
    "/proc/self/fd/0",
    "/proc/self/maps",
    "a\0b",
    "\0",
    "pins.csv\0",
    "pins.csv\0/../../secret",
    "pins.csv/",
    "pins.csv/../../secret",
    "",
    ".",
    "..",
    "../",
    "deep",
    "deep/er",
];

/// Adds pipes, and links to the root.
fn pipes_and_root_links(place: &Place, names: &mut Vec<String>) {
    let secret = place.root.join("secret");
    for number in 0..20 {
        let pipe = format!("pipe-{number}");
        nix::unistd::mkfifo(place.inside(&pipe).as_std_path(), nix::sys::stat::Mode::S_IRWXU)
            .expect("a pipe can be made");
        names.push(pipe);
        let link = format!("root-{number}");
        symlink("/", place.inside(&link)).expect("a link can be made");
        names.push(format!("{link}{secret}"));
    }
}
