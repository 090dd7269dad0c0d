//! Damage to text files, line by line, and to the bytes of path tables.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8PathBuf;
use closc_artefacts::Memory;

use crate::base::Base;
use crate::generated::case::{Case, ChangeKind, target_files};

/// Changes of a line.
const LINE: [ChangeKind; 6] = [
    ChangeKind::Lost,
    ChangeKind::Twice,
    ChangeKind::Larger,
    ChangeKind::Foreign,
    ChangeKind::LostEverywhere,
    ChangeKind::LargerEverywhere,
];

/// Returns a line without its numbers. The result is equal for equivalent lines.
pub(crate) fn kind(line: &str) -> String {
    let mut kind = String::new();
    let mut words = line.trim().split_inclusive([' ', '|', '.', '"', ',', '=', ':', '-']);
    words.by_ref().for_each(|word| {
        let (body, end) =
            word.split_at(word.trim_end_matches([' ', '|', '.', '"', ',', '=', ':', '-']).len());
        let letters = body.trim_end_matches(|c: char| c.is_ascii_digit() || c == '/');
        // Hexadecimal numbers also contain letters.
        let hex = body.len() < 5 && body.bytes().all(|byte| byte.is_ascii_hexdigit()) && !body.is_empty();
        let number = body.bytes().any(|byte| byte.is_ascii_digit());
        match (number, hex) {
            (_, true) => kind.push('#'),
            (true, false) => {
                kind.push_str(letters.trim_end_matches(|c: char| c.is_ascii_digit()));
                kind.push('#');
            }
            (false, false) => kind.push_str(body),
        }
        kind.push_str(end);
    });
    for twice in ["#:#", "#,#", "#::#", "#.#", "#:"] {
        while kind.contains(twice) {
            kind = kind.replace(twice, "#");
        }
    }
    kind
}

/// Returns the ends of words with numbers in a line, or the end of the line if there are none.
fn number_ends(line: &str) -> Vec<usize> {
    let end = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize + word.len();
    // A comment after a command has no effect.
    let said = line.split_once(" # ").map_or(line, |(said, _)| said);
    let words = said.split_ascii_whitespace().filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    let ends: Vec<usize> = words.map(end).collect();
    if ends.is_empty() { vec![line.len()] } else { ends }
}

/// Makes the last number within the first bytes of a line much larger.
fn larger(line: &str, within: usize) -> String {
    let end = line[..within.min(line.len())].rfind(|c: char| c.is_ascii_digit()).map(|at| at + 1);
    let Some(end) = end else { return format!("{line}x") };
    let start = line[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    let number: u64 = line[start..end].parse().unwrap_or(0);
    format!("{}{}{}", &line[..start], number.saturating_mul(4).saturating_add(9), &line[end..])
}

/// Damages each kind of line of a text once.
pub(crate) fn text(
    tree: &Memory,
    base: Base,
    [file, donor]: [String; 2],
    section: &str,
    cases: &mut Vec<Case>,
) {
    let path = Utf8PathBuf::from(&file);
    let text = |file: &str| {
        let bytes =
            tree.files.get(camino::Utf8Path::new(file)).unwrap_or_else(|| panic!("no {file}")).clone();
        String::from_utf8(bytes).expect("the file is text")
    };
    let (own, donor) = (text(&file), text(&donor));
    let mut seen = BTreeSet::new();
    for (at, line) in own.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with(['#', '!']) || !seen.insert(kind(line)) {
            continue;
        }
        let foreign = donor.lines().nth(at).filter(|other| *other != line && kind(other) == kind(line));
        let words = 0..number_ends(line).len();
        let each = |how: ChangeKind| if how.is_larger() { words.clone() } else { 0..1 };
        for (how, word) in LINE.into_iter().flat_map(|how| each(how).map(move |word| (how, word))) {
            if how == ChangeKind::Foreign && foreign.is_none() {
                continue;
            }
            let (path, like) = (path.clone(), kind(line));
            let foreign = foreign.map(str::to_owned);
            let number = if how.is_larger() { format!(" number {}", word + 1) } else { String::new() };
            cases.push(Case {
                base,
                section: section.to_owned(),
                field: kind(line),
                change_kind: how,
                at: format!("{file}:{} {}{number}", at + 1, line.trim()),
                damage: Box::new(move |tree| {
                    for path in target_files(tree, &path, how.everywhere()) {
                        let text = String::from_utf8(tree.files[&path].clone()).expect("the file is text");
                        let new = lines(&text, (at, &like), (how, word), foreign.as_deref());
                        tree.files.insert(path, new.into_bytes());
                    }
                }),
            });
        }
    }
}

fn lines(
    text: &str,
    (at, like): (usize, &str),
    (how, word): (ChangeKind, usize),
    foreign: Option<&str>,
) -> String {
    let mut new = String::new();
    for (number, line) in text.lines().enumerate() {
        let meant = if how.everywhere() { kind(line) == like } else { number == at };
        let changed = match how {
            _ if !meant => vec![line.to_owned()],
            ChangeKind::Lost | ChangeKind::LostEverywhere => Vec::new(),
            ChangeKind::Twice => vec![line.to_owned(); 2],
            ChangeKind::Foreign => vec![foreign.unwrap_or(line).to_owned()],
            ChangeKind::Empty
            | ChangeKind::Other
            | ChangeKind::Added
            | ChangeKind::Swapped
            | ChangeKind::Larger
            | ChangeKind::OtherEverywhere
            | ChangeKind::LargerEverywhere
            | ChangeKind::Moved
            | ChangeKind::MovedEverywhere => {
                vec![larger(line, number_ends(line).get(word).copied().unwrap_or(line.len()))]
            }
        };
        for line in &changed {
            new.extend([line, "\n"]);
        }
    }
    new
}

/// Changes single bytes at several places of a file in which every byte matters.
pub(crate) fn places(
    tree: &Memory,
    base: Base,
    (file, count): (&str, usize),
    section: &str,
    cases: &mut Vec<Case>,
) {
    let path = Utf8PathBuf::from(file);
    let length = tree.files[&path].len();
    for at in (0..count).map(|number| number * (length - 1) / (count - 1)) {
        let path = path.clone();
        cases.push(Case {
            base,
            section: section.to_owned(),
            field: "a byte".to_owned(),
            change_kind: ChangeKind::Other,
            at: format!("{file} byte {at}"),
            damage: Box::new(move |tree| tree.files.get_mut(&path).expect("the file is there")[at] ^= 1),
        });
    }
}

/// Changes single bytes of a path table and updates its checksum.
pub(crate) fn bytes(tree: &Memory, base: Base, file: &str, section: &str, cases: &mut Vec<Case>) {
    let path = Utf8PathBuf::from(file);
    for at in (0..tree.files[&path].len()).filter(|at| !(12..16).contains(at)) {
        let path = path.clone();
        cases.push(Case {
            base,
            section: section.to_owned(),
            field: "a byte".to_owned(),
            change_kind: ChangeKind::Other,
            at: format!("{file} byte {at}"),
            damage: Box::new(move |tree| {
                let bytes = tree.files.get_mut(&path).expect("the table is there");
                bytes[at] ^= 1;
                let checksum = crc32fast::hash(&bytes[16..]);
                bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
            }),
        });
    }
}

/// Damages the entries of a P4 target: each kind of entity is removed and duplicated, and each number in it is changed.
pub(crate) fn entries(tree: &Memory, base: Base, file: &str, cases: &mut Vec<Case>) {
    let path = Utf8PathBuf::from(file);
    let language = path.file_name().expect("a file has a name").to_owned();
    let text = String::from_utf8(tree.files[&path].clone()).expect("the file is text");
    // The comment above an entity describes it.
    let named = |block: &str| block.lines().find(|line| line.starts_with("# + ")).map(kind);
    let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, block) in text.split("\n\n").enumerate() {
        if let Some(name) = named(block) {
            kinds.entry(name).or_default().push(at);
        }
    }
    // Of each kind, the first, the second and the last entity are damaged.
    let taken: BTreeSet<usize> =
        kinds.values().flat_map(|all| all.iter().take(2).chain(all.last())).copied().collect();
    for (at, block) in text.split("\n\n").enumerate().filter(|(at, _)| taken.contains(at)) {
        let Some(name) = named(block) else { continue };
        let places: Vec<Option<usize>> = block
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains(": ") && !line.starts_with('#'))
            .map(|(line, _)| Some(line))
            .chain([None])
            .collect();
        for line in places {
            for how in LINE.into_iter().filter(|how| *how != ChangeKind::Foreign) {
                if line.is_none() && how.is_larger() {
                    continue;
                }
                let table = name.split_whitespace().nth(2).unwrap_or_default().to_owned();
                let what = line.and_then(|line| block.lines().nth(line)).map_or("the entity", str::trim);
                let (path, like) = (path.clone(), name.clone());
                cases.push(Case {
                    base,
                    section: format!("{language} {table}"),
                    field: kind(what),
                    change_kind: how,
                    at: format!("{file} {name} ({at})"),
                    damage: Box::new(move |tree| {
                        for path in target_files(tree, &path, how.everywhere()) {
                            let text =
                                String::from_utf8(tree.files[&path].clone()).expect("the file is text");
                            tree.files.insert(path, blocks(&text, (at, line, &like), how).into_bytes());
                        }
                    }),
                });
            }
        }
    }
}

fn blocks(text: &str, (at, line, like): (usize, Option<usize>, &str), how: ChangeKind) -> String {
    let one = |(number, block): (usize, &str)| {
        let name = block.lines().find(|line| line.starts_with("# + ")).map(kind);
        let meant = if how.everywhere() { name.as_deref() == Some(like) } else { number == at };
        match (line, how) {
            _ if !meant => vec![block.to_owned()],
            (Some(line), _) => vec![lines(block, (line, ""), (how.to_single(), usize::MAX), None)],
            (None, ChangeKind::Twice) => vec![block.to_owned(); 2],
            (None, _) => Vec::new(),
        }
    };
    text.split("\n\n").enumerate().flat_map(one).collect::<Vec<_>>().join("\n\n")
}
