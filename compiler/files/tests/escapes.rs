//! A path that is read from a file never leaves its folder, and opening it never blocks. Tests absolute
//! paths, `..`, links of every kind, pipes, devices and kernel files.
//!
//! In: at least 500 generated names beside a secret. Out: none of them reads the secret, and every legitimate file is
//! read.

#[path = "support/names.rs"]
mod support;

use camino::Utf8Path;
use closc_files::{Folder, Reason, TEXT_MAX, text_beside};

use support::{Place, SECRET, escapes};

#[test]
fn no_name_leaves_its_folder() {
    let place = Place::new();
    let names = escapes(&place);
    assert!(names.len() >= 500, "{}", names.len());
    let fabric = place.inside("fabric.yaml");
    let folder = closc_files::open_folder_of(&fabric).expect("the folder is there");
    for name in &names {
        let read = text_beside(&fabric, name, TEXT_MAX);
        assert!(read.is_err(), "`{name}` was read: {:?}", read.map(|text| text.len()));
        let said = read.expect_err("it was refused").to_string();
        assert!(!said.contains(SECRET), "`{name}`: {said}");
        assert!(folder.secret(name, TEXT_MAX).is_err(), "`{name}` was read as a key");
    }
}

#[test]
fn legitimate_names_are_read() {
    let place = Place::new();
    let folder = Folder::open(&place.root.join("fabric")).expect("the folder is there");
    for (name, text) in [
        ("pins.csv", "switch,nic,uplink\n"),
        ("./pins.csv", "switch,nic,uplink\n"),
        ("deep/pins.csv", "deep\n"),
        ("deep/./pins.csv", "deep\n"),
    ] {
        assert_eq!(folder.text(name, TEXT_MAX).expect("a legitimate name"), text, "{name}");
    }
}

#[test]
fn a_pipe_is_rejected_as_a_folder_without_waiting() {
    let place = Place::new();
    let pipe = place.inside("tree");
    nix::unistd::mkfifo(pipe.as_std_path(), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    assert!(matches!(Folder::open(&pipe).expect_err("a pipe").reason, Reason::File));
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
    assert_eq!(folder.read("large", 101).expect("exactly at the limit").len(), 101);
    assert!(matches!(folder.read("deep", 100).expect_err("a folder").reason, Reason::Folder));
    std::fs::write(place.inside("binary"), [0xff, 0xfd]).expect("a file can be written");
    assert!(matches!(folder.text("binary", 100).expect_err("no text").reason, Reason::NotText));
    std::fs::write(place.inside("wide"), [0xff, 0xfe, b'a', 0]).expect("a file can be written");
    assert!(matches!(folder.text("wide", 100).expect_err("UTF-16").reason, Reason::Utf16));
    assert!(
        closc_files::read_user_file(Utf8Path::new("/dev/zero"), 1 << 20).is_err(),
        "a device is read to the limit"
    );
}
