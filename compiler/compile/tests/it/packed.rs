//! Trees in archives: archives that closc wrote can be read, and malformed ones are rejected with the
//! position of the error.

use std::io::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use closc_artefacts::{Files as _, paths};
use closc_compile::{Job, PackedError, PackedTree, Part, archive, compile_in_memory};
use closc_files::disk::SyncMode;
use closc_render::Templates;
use closc_tests::shape::Shape;

struct Place {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(folder.path()).expect("its name is text").to_owned();
    Place { _folder: folder, root }
}

#[test]
fn what_is_packed_is_read_and_any_program_unpacks_it() {
    let (place, plan) = (place(), Shape { groups: 12, per_group: 12, ..Shape::SMALL }.plan());
    let file = place.root.join("tree.tar.zst");
    let templates = Templates::builtin();
    let job = Job::new(&plan, &templates, blake3::hash(b""), Part::default()).unwrap();
    archive(&job, &file, SyncMode::No, &|_| {}).unwrap();
    let (packed, memory) = (PackedTree::open(&file).unwrap(), compile_in_memory(&plan).unwrap());
    assert_eq!(packed.list(), memory.list());
    for (path, bytes) in memory.files.iter().filter(|(path, _)| *path != paths::MANIFEST) {
        assert_eq!(&packed.read(path.as_str()).unwrap(), bytes, "`{path}`");
    }
    for (path, bytes) in memory.files.iter().rev().filter(|(path, _)| *path != paths::MANIFEST) {
        assert_eq!(&packed.read(path.as_str()).unwrap(), bytes, "`{path}`, read before what is before it");
    }
    assert_eq!(packed.read("nothing").unwrap_err().kind(), std::io::ErrorKind::NotFound);
    let bytes = std::fs::read(&file).unwrap();
    let frames = bytes.windows(4).filter(|bytes| *bytes == [0x28, 0xb5, 0x2f, 0xfd]).count();
    assert!(frames > 1, "{} bytes are one frame", bytes.len());
    let plain = zstd::decode_all(bytes.as_slice()).unwrap();
    assert_eq!(tar::Archive::new(plain.as_slice()).entries().unwrap().count(), memory.files.len());
}

/// Returns an entry with the given name, kind and size in its header.
fn entry(name: &str, kind: tar::EntryType, size: u64, data: &[u8]) -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mode(0o644);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn pack_frames(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Vec::new();
    for frame in frames {
        all.extend(zstd::encode_all(frame.as_slice(), 3).unwrap());
    }
    all
}

#[test]
fn what_a_stranger_packs_is_refused_with_its_place() {
    use tar::EntryType::{Directory, Fifo, GNULongName, Link, Regular, Symlink};
    let honest = entry("a", Regular, 1, b"x");
    let cases: [(&str, Vec<u8>, &str); 12] = [
        ("a way out", entry("../a", Regular, 1, b"x"), "`../a` is not a path inside a tree"),
        ("a path from the root", entry("/etc/passwd", Regular, 1, b"x"), "`/etc/passwd` is not a path"),
        ("a link", entry("b", Symlink, 0, b""), "`b` is not a regular file"),
        ("a hard link", entry("b", Link, 0, b""), "`b` is not a regular file"),
        ("a folder", entry("b", Directory, 0, b""), "`b` is not a regular file"),
        ("a pipe", entry("b", Fifo, 0, b""), "`b` is not a regular file"),
        ("a file again", entry("a", Regular, 1, b"y"), "`a` is there again"),
        ("a huge file", entry("b", Regular, 1 << 33, b""), "an entry has 8589934592 bytes"),
        ("a huge name", entry("b", GNULongName, 1 << 16, &vec![b'n'; 1 << 16]), "a name has 65536 bytes"),
        ("more than was packed", entry("b", Regular, 1 << 28, b""), "unpack to 268435457 and more"),
        ("a name without a file", entry("b", GNULongName, 2, b"c\0"), "a name has no file"),
        ("a broken head", vec![1; 512], "cannot read the archive"),
    ];
    let place = place();
    for (what, bytes, part) in cases {
        let file = place.root.join("tree.tar.zst");
        let whole = pack_frames(&[honest.clone(), bytes]);
        let at = pack_frames(std::slice::from_ref(&honest)).len();
        std::fs::write(&file, whole).unwrap();
        let error = PackedTree::open(&file).unwrap_err().to_string();
        assert!(error.contains(part), "{what}: {error}");
        assert!(error.contains(&format!("at byte {at}")), "{what}: {error}");
    }
}

/// An archive that unpacks from kilobytes to gigabytes of zeros is rejected before it is unpacked.
#[test]
fn a_bomb_is_refused() {
    let place = place();
    let file = place.root.join("tree.tar.zst");
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.write_all(&entry("a", tar::EntryType::Regular, 64 << 20, b"")).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&zeros).unwrap();
    }
    std::fs::write(&file, encoder.finish().unwrap()).unwrap();
    let error = PackedTree::open(&file).unwrap_err();
    assert!(matches!(error, PackedError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("unpack to 67108864 and more"), "{error}");
    let whole = pack_frames(&[entry("a", tar::EntryType::Regular, 600, &[7; 600])]);
    for end in [1, whole.len() / 2, whole.len() - 1] {
        std::fs::write(&file, &whole[..end]).unwrap();
        assert!(PackedTree::open(&file).is_err(), "{end} of {} bytes", whole.len());
    }
}

/// A manifest or signature of gigabytes is rejected after its header, and a file above its reader's limit is
/// not unpacked.
#[test]
fn a_file_of_gigabytes_is_refused_at_its_head() {
    let place = place();
    let file = place.root.join("tree.tar.zst");
    for name in ["manifest.json", "manifest.json.sig", "switches/p0-t0-001/entries.txtpb"] {
        std::fs::write(&file, pack_frames(&[entry(name, tar::EntryType::Regular, 3 << 30, &[7; 600])]))
            .unwrap();
        let error = PackedTree::open(&file).unwrap_err().to_string();
        assert!(error.contains("an entry has 3221225472 bytes, and files have at most 268435456"), "{error}");
    }
    std::fs::write(&file, pack_frames(&[entry("a", tar::EntryType::Regular, 600, &[7; 600])])).unwrap();
    let (opened, mut bytes) = (PackedTree::open(&file).unwrap(), Vec::new());
    let error = opened.read_within("a".into(), 599, &mut bytes).unwrap_err();
    assert_eq!((error.to_string().as_str(), bytes.capacity()), ("is larger than 599 bytes", 0));
    opened.read_within("a".into(), 600, &mut bytes).unwrap();
}
