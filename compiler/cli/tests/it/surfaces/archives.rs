//! Archives of trees, read by `closc verify`: damaged trees, and tar records that a tree never contains.

use std::fs;
use std::sync::OnceLock;

use crate::common::Place;
use crate::surfaces::kinds::Numbers;
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

pub(crate) static SURFACE: Surface = Surface {
    name: "archives",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Archives(Place::new()))),
};

/// Files of a tree by name.
type Tree = Vec<(String, Vec<u8>)>;

const KINDS: &[Kind] = &[
    ("small records", |n, size| {
        pack(good().iter().cloned().chain((0..size).map(|_| (format!("p4/{}", n.next()), vec![b'x']))), size)
    }),
    ("empty records", |_, size| {
        pack(
            (0..size).map(|at| (format!("switches/s{at}/x"), Vec::new())).chain(good().iter().cloned()),
            size,
        )
    }),
    ("one name many times", |_, size| {
        pack((0..size).map(|_| ("manifest.json".to_owned(), b"{}".to_vec())), size)
    }),
    ("zeros before the manifest", |n, _| {
        let zeros = ("cables/plane-0.csv".to_owned(), vec![0; 32 << (20 + n.up_to(2))]);
        compress(&archive(std::iter::once(zeros).chain(good().iter().cloned())))
    }),
    ("a manifest of spaces", |n, _| replace_file("manifest.json", &vec![b' '; 32 << (20 + n.up_to(2))])),
    ("a signature of zeros", |_, _| {
        compress(&archive(
            std::iter::once(("manifest.json.sig".to_owned(), vec![0; 64 << 20]))
                .chain(good().iter().cloned()),
        ))
    }),
    ("a manifest of lists", |_, size| {
        replace_file("manifest.json", format!("[{}[]]", "[],".repeat(4 * size)).as_bytes())
    }),
    ("a deep manifest", |_, size| replace_file("manifest.json", "{\"a\":".repeat(size).as_bytes())),
    ("a manifest of files", |n, size| {
        let file = |n: &mut Numbers| {
            format!("\"switches/s{}/x\":{{\"size\":{},\"blake3\":\"\"}}", n.next(), n.next())
        };
        let files: Vec<String> = (0..size / 40).map(|_| file(n)).collect();
        replace_file(
            "manifest.json",
            format!("{{\"schema\":\"closc-tree/1\",\"files\":{{{}}}}}", files.join(",")).as_bytes(),
        )
    }),
    ("cables without end", |n, size| {
        let line = |n: &mut Numbers| {
            format!("p0-t0-{},Ethernet{},p0-t1-{},Ethernet0,t0-t1,,,\n", n.next(), n.up_to(9), n.next())
        };
        let lines: String = (0..size / 20).map(|_| line(n)).collect();
        alter_tree("cables/plane-0.csv", |text| [text, lines.as_bytes()].concat())
    }),
    ("a switch of lists", |_, size| {
        alter_tree("config_db.json", |_| format!("{{\"A\":[{}[]]}}", "[],".repeat(size)).into_bytes())
    }),
    ("a switch of small tables", |n, size| {
        let rows: Vec<String> = (0..size / 16).map(|_| format!("\"{}\":{{\"a\":\"b\"}}", n.next())).collect();
        alter_tree("config_db.json", |_| format!("{{\"VLAN\":{{{}}}}}", rows.join(",")).into_bytes())
    }),
    ("a switch of many routes", |n, size| {
        let rows: Vec<String> = (0..size / 40)
            .map(|_| {
                format!(
                    "\"{:x}:{:x}::/48\":{{\"nexthop\":\"fe80::1\",\"ifname\":\"Ethernet0\"}}",
                    n.up_to(65_535),
                    n.up_to(65_535)
                )
            })
            .collect();
        alter_tree("config_db.json", |_| format!("{{\"STATIC_ROUTE\":{{{}}}}}", rows.join(",")).into_bytes())
    }),
    ("damaged bytes", |n, _| {
        let files = good().iter().cloned().map(|(name, mut bytes)| {
            for _ in 0..=bytes.len() / 500 {
                let at = n.up_to(bytes.len().max(1) as u64 - 1) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = n.up_to(255) as u8;
                }
            }
            (name, bytes)
        });
        let files: Tree = files.collect();
        compress(&archive(files.into_iter()))
    }),
    ("damaged bytes with digests", |n, _| {
        let at = n.next() as usize;
        alter_tree("config_db.json", |text| {
            let mut text = text.to_vec();
            let at = at % text.len();
            text.drain(at..(at + 40).min(text.len()));
            text
        })
    }),
    ("other links", links),
    ("long names", |n, size| {
        pack((0..size).map(|_| (format!("switches/{}/{}", "a".repeat(90), n.next()), b"x".to_vec())), size)
    }),
    ("sizes without contents", sizes),
    ("sparse files", |_, _| sparse()),
    ("an archive in an archive", |_, _| {
        (0..6).fold(archive(good().iter().cloned()), |inner, _| {
            compress(&archive(std::iter::once(("manifest.json".to_owned(), inner))))
        })
    }),
    ("many frames", |n, _| {
        let tar = archive(good().iter().cloned());
        let step = 1 + n.up_to(600) as usize;
        tar.chunks(step).flat_map(compress).collect()
    }),
    ("skippable frames", |_, size| {
        let empty = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
        empty.iter().copied().cycle().take(size / 8 * 8).collect()
    }),
    ("a window of 2 GiB", |_, _| vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00]),
    ("cut off", |n, _| {
        let mut whole = compress(&archive(good().iter().cloned()));
        whole.truncate(n.up_to(whole.len() as u64) as usize);
        whole
    }),
    ("noise", |n, size| (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect()),
    ("noise in a frame", |n, size| {
        let noise: Vec<u8> = (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect();
        compress(&noise)
    }),
];

/// A small valid tree.
fn good() -> &'static Tree {
    static GOOD: OnceLock<Tree> = OnceLock::new();
    GOOD.get_or_init(|| {
        let place = Place::new();
        let fabric = "fabric: hostile\nplanes: 1\nhosts: { groups: 2, per_group: 2, nic: { speed: 100G, lanes: 1 } }\n\
                      tiers:\n  t0: { platform: th5-512x100g, os: sonic, up: 2 }\n  t1: { platform: th5-512x100g, os: sonic }\n\
                      addresses: { management: 10.64.0.0/14 }\n";
        place.write("fabric.yaml", fabric);
        place.ends(0, &["compile", "--quiet", "fabric.yaml", "--out", "tree"]);
        let (mut tree, mut folders) = (Tree::new(), vec![place.path("tree")]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("it was compiled") {
                let path = entry.expect("it can be read").path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(place.path("tree")).expect("it is below").to_string_lossy().into_owned();
                    tree.push((name, fs::read(&path).expect("it can be read")));
                }
            }
        }
        tree.sort_by_key(|(name, _)| (name != "manifest.json", name.clone()));
        tree
    })
}

fn header(name: &str, size: u64, kind: tar::EntryType) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.set_path(name).unwrap_or_default();
    header.set_size(size);
    header.set_mode(0o644);
    header.set_entry_type(kind);
    header.set_cksum();
    header
}

fn archive(files: impl Iterator<Item = (String, Vec<u8>)>) -> Vec<u8> {
    let mut out = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let header = header(&name, bytes.len() as u64, tar::EntryType::Regular);
        out.append(&header, bytes.as_slice()).expect("memory takes all");
    }
    out.into_inner().expect("memory takes all")
}

fn compress(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).expect("memory takes all")
}

/// A compressed archive of the first files. Its size before compression is at most 20 times `size`.
fn pack(files: impl Iterator<Item = (String, Vec<u8>)>, size: usize) -> Vec<u8> {
    let mut left = 20 * size;
    compress(&archive(files.take_while(|(_, bytes)| {
        left = left.saturating_sub(512 + bytes.len().next_multiple_of(512));
        left > 0
    })))
}

/// The valid tree with other content in one file.
fn replace_file(name: &str, bytes: &[u8]) -> Vec<u8> {
    let files = good()
        .iter()
        .map(|(other, own)| (other.clone(), if other == name { bytes.to_vec() } else { own.clone() }));
    compress(&archive(files))
}

/// The valid tree with a changed file, and the matching digest in the manifest.
fn alter_tree(end: &str, change: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
    let mut tree = good().clone();
    let mut digests = Vec::new();
    if let Some((_, bytes)) = tree.iter_mut().find(|(name, _)| name.ends_with(end)) {
        let before = bytes.clone();
        *bytes = change(&before);
        digests.push((before, bytes.clone()));
    }
    for (before, after) in digests {
        let manifest = &mut tree[0].1;
        let text = String::from_utf8_lossy(manifest).into_owned();
        let [old, new] = [&before, &after].map(|bytes| blake3::hash(bytes).to_hex().to_string());
        let text = text.replace(&old, &new);
        let sizes = |bytes: &[u8]| format!("\"size\": {}", bytes.len());
        *manifest = text.replace(&sizes(&before), &sizes(&after)).into_bytes();
    }
    compress(&archive(tree.into_iter()))
}

fn links(numbers: &mut Numbers, size: usize) -> Vec<u8> {
    let kinds = [
        tar::EntryType::Symlink,
        tar::EntryType::Link,
        tar::EntryType::Char,
        tar::EntryType::Fifo,
        tar::EntryType::Directory,
    ];
    let mut out = tar::Builder::new(Vec::new());
    for _ in 0..size / 100 {
        let mut header = header(&format!("p4/{}", numbers.next()), 0, kinds[numbers.up_to(4) as usize]);
        header.set_link_name("../../etc/passwd").expect("it is short");
        header.set_cksum();
        out.append(&header, &[][..]).expect("memory takes all");
    }
    compress(&out.into_inner().expect("memory takes all"))
}

/// Records with sizes far beyond their content.
fn sizes(numbers: &mut Numbers, size: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while out.len() < size {
        let announced = [1 << 30, 1 << 33, 511, u64::from(u32::MAX)][numbers.up_to(3) as usize];
        out.extend_from_slice(header("manifest.json", announced, tar::EntryType::Regular).as_bytes());
    }
    compress(&out)
}

/// A GNU sparse file of 8 GiB with one block.
fn sparse() -> Vec<u8> {
    let mut header = tar::Header::new_gnu();
    header.set_path("manifest.json").expect("it is short");
    header.set_size(512);
    header.set_entry_type(tar::EntryType::GNUSparse);
    if let Some(gnu) = header.as_gnu_mut() {
        gnu.sparse[0].offset.copy_from_slice(b"77777777000\0");
        gnu.sparse[0].numbytes.copy_from_slice(b"00000001000\0");
        gnu.realsize.copy_from_slice(b"77777777777\0");
    }
    header.set_cksum();
    compress(&[header.as_bytes(), &[b'x'; 512][..], &[0; 1024]].concat())
}

struct Archives(Place);

impl Reader for Archives {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        self.0.write("hostile.tar.zst", input);
        let words = [env!("CARGO_BIN_EXE_closc"), "verify", "hostile.tar.zst"];
        measure::command(&words.map(str::to_owned), &self.0, None)
    }
}
