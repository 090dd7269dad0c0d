//! Fabric files: the shipped ones, and hostile ones.

use std::path::Path;

/// Small fabrics with various operating systems and routing modes.
pub(crate) const SMALL: &[&str] = &[
    include_str!("../../../../topologies/lab/two-planes.yaml"),
    include_str!("../../../../topologies/lab/two-planes-p4.yaml"),
    include_str!("../../../../topologies/lab/bgp-unnumbered.yaml"),
];

/// A fabric of 131,072 NICs.
pub(crate) const MRC: &str = include_str!("../../../../topologies/reference/mrc-8x512.yaml");

/// Every shipped fabric file: name and text.
pub(crate) fn shipped_files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../topologies");
    let mut found = Vec::new();
    for folder in ["examples", "lab", "reference"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("the folder exists").flatten() {
            if entry.path().extension().is_some_and(|ending| ending == "yaml") {
                let text = std::fs::read_to_string(entry.path()).expect("a file can be read");
                found.push((format!("{folder}/{}", entry.file_name().display()), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 30, "{}", found.len());
    found
}

/// Texts that take long to process: deep, wide, long, repeated, many exceptions.
pub(crate) fn hostile() -> Vec<(&'static str, String)> {
    let level = |level: usize| {
        let one = if level == 0 { "x".to_owned() } else { format!("*a{}", level - 1) };
        format!("a{level}: &a{level} [{}]\n", vec![one; 9].join(", "))
    };
    let bomb: Vec<String> = (0..12).map(level).collect();
    let deep_keys: Vec<String> = (0..5000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    let wide: Vec<String> = (0..200_000).map(|index| format!("key{index}: 1\n")).collect();
    let absent: Vec<String> =
        (1..=60_000).map(|index| format!("p0-t0-{index:03}--p0-t1-{index:03}")).collect();
    let many = MRC.to_owned() + &format!("\nexceptions: {{ absent: [{}] }}\n", absent.join(", "));
    vec![
        ("deep", "[".repeat(200_000)),
        ("deep keys", deep_keys.concat()),
        ("wide", wide.concat()),
        ("long", format!("fabric: {}", "x".repeat(8 << 20))),
        ("bomb", bomb.concat()),
        ("many exceptions", many),
    ]
}
