//! Published fabrics: their files have the published counts, and small ones compile and verify.
//!
//! Constants come from the documents that the files cite, or follow from choices in the file. They never come from
//! output of closc.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Place, root};

/// Published counts of a fabric.
struct PublishedFabric {
    file: &'static str,
    gpus: u64,
    t0: u64,
    /// `None` if the document counts only leaves.
    t1: Option<u64>,
    t2: Option<u64>,
    host_links: u64,
    fabric_links: Option<u64>,
}

const fn two_tiers(
    file: &'static str,
    gpus: u64,
    [t0, t1]: [u64; 2],
    [host_links, fabric_links]: [u64; 2],
) -> PublishedFabric {
    PublishedFabric {
        file,
        gpus,
        t0,
        t1: Some(t1),
        t2: Some(0),
        host_links,
        fabric_links: Some(fabric_links),
    }
}

/// Three tiers, with as many cables between adjacent tiers as NICs.
const fn fat_tree(file: &'static str, gpus: u64, [t0, t1, t2]: [u64; 3]) -> PublishedFabric {
    PublishedFabric {
        file,
        gpus,
        t0,
        t1: Some(t1),
        t2: Some(t2),
        host_links: gpus,
        fabric_links: Some(gpus + gpus),
    }
}

const PUBLISHED: [PublishedFabric; 24] = [
    two_tiers("asterfusion-256", 256, [4, 2], [256, 4 * 32]),
    two_tiers("deepseek-ft2", 2_048, [64, 32], [2_048, 2_048]),
    // 5,120 switches and 131,072 cables between them.
    fat_tree("deepseek-ft3", 65_536, [2_048, 2_048, 1_024]),
    // 768 switches in eight planes by NIC.
    two_tiers("deepseek-mpft", 16_384, [512, 256], [16_384, 16_384]),
    two_tiers("hpn-7-pod", 15_360, [240, 120], [240 * 128, 120 * 120]),
    two_tiers("juniper-qpp-400g", 64, [16, 4], [64, 25_600 / 400]),
    two_tiers("juniper-qpp-800g", 64, [16, 4], [64, 51_200 / 800]),
    // Eight ToRs for each 512 GPUs.
    PublishedFabric {
        file: "megascale-10k",
        gpus: 10_240,
        t0: 10_240 / 512 * 8,
        t1: None,
        t2: None,
        host_links: 10_240,
        fabric_links: None,
    },
    // 64 pods of 32 T0s and 32 T1s (arXiv 2605.04333, figure 1).
    fat_tree("mrc-three-tier-64-pods", 65_536, [64 * 32, 64 * 32, 1_024]),
    // The number of GPUs is published; the number of switches follows from 64 ports up and 64 down.
    fat_tree("oracle-131k", 131_072, [2_048, 2_048, 1_024]),
    two_tiers("simai-spectrum-x-4096", 4_096, [64, 64], [4_096, 64 * 64]),
    two_tiers("superpod-b200-2su", 512, [16, 8], [512, 512]),
    two_tiers("superpod-b200-4su", 1_024, [32, 16], [1_024, 1_024]),
    two_tiers("superpod-b200-8su", 2_048, [64, 32], [2_048, 2_048]),
    fat_tree("superpod-b200-16su", 4_096, [128, 128, 64]),
    fat_tree("superpod-b200-32su", 8_192, [256, 256, 128]),
    fat_tree("superpod-b200-64su", 16_384, [512, 512, 256]),
    // The document counts cables of 800G. A cable to a NIC counts as two links of 400G; with 16 SU, so does every
    // cable.
    two_tiers("superpod-b300-1su", 512, [16, 8], [2 * 512, 512]),
    two_tiers("superpod-b300-2su", 1_024, [32, 16], [2 * 1_024, 1_024]),
    two_tiers("superpod-b300-4su", 2_048, [64, 32], [2 * 2_048, 2_048]),
    two_tiers("superpod-b300-8su", 4_096, [128, 64], [2 * 4_096, 4_096]),
    two_tiers("superpod-b300-16su", 8_192, [256, 128], [2 * 8_192, 2 * 8_192]),
    // Only the numbers of GPUs and tiers are published.
    PublishedFabric {
        file: "xai-100k",
        gpus: 100_000,
        t0: 24 * 64 + 32,
        t1: None,
        t2: None,
        host_links: 100_000,
        fabric_links: None,
    },
    // The table of endpoints is from the paper (arXiv 2605.04333). It has 8 planes of 512 T0s and 256 T1s.
    two_tiers("../mrc-8x512", 131_072, [8 * 512, 8 * 256], [1_048_576, 1_048_576]),
];

fn file(name: &str) -> String {
    format!("topologies/reference/published/{name}.yaml")
}

#[test]
fn files_have_the_published_counts() {
    let place = Place::new();
    for published in &PUBLISHED {
        let counts = place.json(0, &["check", &file(published.file)])["counts"].take();
        let wanted = [
            ("nics", Some(published.gpus)),
            ("t0", Some(published.t0)),
            ("t1", published.t1),
            ("t2", published.t2),
            ("host_links", Some(published.host_links)),
            ("fabric_links", published.fabric_links),
        ];
        for (key, wanted) in wanted {
            let Some(wanted) = wanted else { continue };
            assert_eq!(counts[key].as_u64(), Some(wanted), "{}: {key}", published.file);
        }
    }
}

#[test]
fn every_published_file_is_compared() {
    let folder = root().join("topologies/reference/published");
    let files: BTreeSet<String> = fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    let compared = PUBLISHED.iter().filter(|published| !published.file.contains('/'));
    assert_eq!(files, compared.map(|published| format!("{}.yaml", published.file)).collect());
}

/// Switches are counted by folders, and cables by lines of cable lists.
#[test]
fn small_published_fabrics_compile_and_verify() {
    let small = PUBLISHED.iter().filter(|published| published.gpus <= 512);
    assert_eq!(small.clone().count(), 5);
    for published in small {
        let place = Place::new();
        place.ends(0, &["compile", "--quiet", &file(published.file), "--out", "out"]);
        place.ends(0, &["verify", "--quiet", "out"]);
        let switches = fs::read_dir(place.path("out/switches")).expect("a tree has switches").count() as u64;
        assert_eq!(Some(switches - published.t0), published.t1, "{}", published.file);
        let cables: usize = fs::read_dir(place.path("out/cables"))
            .expect("a tree has cable lists")
            .map(|entry| fs::read_to_string(entry.expect("it can be read").path()).expect("it is text"))
            .map(|text| text.lines().count() - 1)
            .sum();
        let wanted = published.fabric_links.map(|links| links + published.host_links);
        assert_eq!(Some(cables as u64), wanted, "{}", published.file);
    }
}
