//! No path that a file names leaves its folder or hangs: absolute ones, those that go up, links of every kind, pipes,
//! devices and files of the kernel.
//!
//! In: 500 generated names beside a secret. Out: not one of them reads it, and every honest file is read.

use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use closc_files::{Folder, Reason, TEXT_MAX, text_beside};

const SECRET: &str = "the secret of somebody else";

/// A folder with a folder of a fabric in it, and a secret beside that.
struct Place {
    _kept: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Place {
    fn new() -> Self {
        let kept = tempfile::tempdir().expect("a folder can be made");
        let root = Utf8Path::from_path(kept.path()).expect("paths of tests are text").to_owned();
        std::fs::create_dir_all(root.join("fabric/deep/er")).expect("a folder can be made");
        std::fs::write(root.join("secret"), SECRET).expect("a file can be written");
        std::fs::write(root.join("fabric/pins.csv"), "switch,nic,uplink\n").expect("a file can be written");
        std::fs::write(root.join("fabric/deep/pins.csv"), "deep\n").expect("a file can be written");
        Place { _kept: kept, root }
    }

    fn inside(&self, name: &str) -> Utf8PathBuf {
        self.root.join("fabric").join(name)
    }
}

/// Makes names that lead out, up to 500.
fn escapes(place: &Place) -> Vec<String> {
    let secret = place.root.join("secret");
    let mut names = Vec::new();
    let depths = ["", "deep/", "deep/er/", "./", ".//", "deep/./er/", "deep/../"];
    for (depth, below) in depths.iter().enumerate() {
        for up in 1..=12 {
            names.push(format!("{below}{}secret", "../".repeat(up)));
            names.push(format!("{below}{}etc/passwd", "../".repeat(up)));
            names.push(format!("{below}{}proc/self/environ", "../".repeat(up)));
            // A link that goes up so far, and a file behind it.
            let link = format!("up-{depth}-{up}");
            symlink("../".repeat(up), place.inside(&link)).expect("a link can be made");
            names.push(format!("{below}{link}/secret"));
            names.push(format!("{link}/etc/passwd"));
        }
    }
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
    for name in [
        concat!("/proc/self/", "root", "/etc/passwd"),
        "/proc/self/cwd/secret",
        "/proc/self/fd/0",
        "/proc/self/maps",
        "a\0b",
        "",
        ".",
        "..",
        "../",
        "deep",
        "deep/er",
    ] {
        names.push(name.to_owned());
    }
    let circle = place.inside("circle");
    symlink("circle", &circle).expect("a link can be made");
    names.push("circle".to_owned());
    for number in 0.. {
        if names.len() >= 500 {
            break;
        }
        let pipe = format!("pipe-{number}");
        if number < 20 {
            nix::unistd::mkfifo(place.inside(&pipe).as_std_path(), nix::sys::stat::Mode::S_IRWXU)
                .expect("a pipe can be made");
        }
        names.push(pipe);
        let link = format!("root-{number}");
        symlink("/", place.inside(&link)).expect("a link can be made");
        names.push(format!("{link}{secret}"));
    }
    names
}

#[test]
fn no_name_leaves_its_folder() {
    let place = Place::new();
    let names = escapes(&place);
    assert!(names.len() >= 500, "{}", names.len());
    let fabric = place.inside("fabric.yaml");
    for name in &names {
        let read = text_beside(&fabric, name, TEXT_MAX);
        assert!(read.is_err(), "`{name}` was read: {:?}", read.map(|text| text.len()));
        let said = read.expect_err("it was refused").to_string();
        assert!(!said.contains(SECRET), "`{name}`: {said}");
    }
}

#[test]
fn honest_names_are_read() {
    let place = Place::new();
    let folder = Folder::open(&place.root.join("fabric")).expect("the folder is there");
    for (name, text) in [
        ("pins.csv", "switch,nic,uplink\n"),
        ("./pins.csv", "switch,nic,uplink\n"),
        ("deep/pins.csv", "deep\n"),
        ("deep/./pins.csv", "deep\n"),
    ] {
        assert_eq!(folder.text(name, TEXT_MAX).expect("an honest name"), text, "{name}");
    }
}

#[test]
fn sizes_and_kinds_are_bounded() {
    let place = Place::new();
    let folder = Folder::open(&place.root.join("fabric")).expect("the folder is there");
    std::fs::write(place.inside("large"), vec![b'x'; 101]).expect("a file can be written");
    assert!(matches!(
        folder.read("large", 100).expect_err("too large").reason,
        Reason::TooLarge { max: 100 }
    ));
    assert_eq!(folder.read("large", 101).expect("as large as may be").len(), 101);
    assert!(matches!(folder.read("deep", 100).expect_err("a folder").reason, Reason::NotRegular));
    std::fs::write(place.inside("binary"), [0xff, 0xfe]).expect("a file can be written");
    assert!(matches!(folder.text("binary", 100).expect_err("no text").reason, Reason::NotText));
    assert!(
        closc_files::given(Utf8Path::new("/dev/zero"), 1 << 20).is_err(),
        "a device is read to the limit"
    );
}
