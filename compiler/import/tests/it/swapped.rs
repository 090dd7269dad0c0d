//! Imports of networks with swapped cables, whose devices and ports have names other than closc's. Either
//! findings or notes name both cables of a swap, or a note states that swaps cannot be recognised, or the
//! import is rejected.

use std::fmt::Write as _;

use closc_import::{ExistingNetwork, ImportError, ImportResult, Options, import, read};
use closc_plan::Plan;
use closc_platform::Catalogue;
use closc_tests::shape::{Shape, T2, try_plan};
use proptest::prelude::*;
use proptest::sample::Index;

/// Site-specific names of devices and ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Site {
    /// All switches are numbered in one series, as in `leaf17`.
    Counted,
    /// Names of switches contain plane, zone and number, as in `leaf-0-1-3`.
    Placed,
    /// Like `Counted`, with port names that do not exist on any platform.
    Ported,
}

/// Two ends of a cable: device and port.
type Cable = [(String, String); 2];

impl Site {
    fn device(self, plan: &Plan, name: &str) -> String {
        let at = plan.switches().position(|switch| plan.switch_name(switch) == name);
        let word = |tier: &str| match tier {
            "t0" => "leaf",
            "t1" => "spine",
            _ => "core",
        };
        match at {
            Some(at) => {
                let switch = plan.switches().nth(at).expect("it was found");
                let word = word(switch.tier.keyword());
                match self {
                    Site::Counted | Site::Ported => format!("{word}{}", at + 1),
                    Site::Placed => {
                        format!("{word}-{}-{}-{}", switch.plane.0, switch.zone.0, switch.index + 1)
                    }
                }
            }
            None => format!(
                "gpu{}",
                plan.fabric().nodes().position(|node| plan.node_name(node) == name).expect("a node") + 1
            ),
        }
    }

    fn port(self, device: &str, port: &str) -> String {
        match (self, port.strip_prefix("nic").and_then(|nic| nic.split_once('p'))) {
            (_, Some((nic, plane))) => format!("mlx{nic}_{plane}"),
            (Site::Ported, None) => {
                let tier = if device.starts_with("leaf") { "xe" } else { "et" };
                format!("{tier}-0/0/{}", port.trim_start_matches("eth"))
            }
            (_, None) => port.to_owned(),
        }
    }

    fn cables(self, plan: &Plan) -> Vec<Cable> {
        let end = |(device, port): (String, String)| {
            let device = self.device(plan, &device);
            let port = self.port(&device, &port);
            (device, port)
        };
        let links = plan.fabric().links().map(|link| plan.cable_ends(link));
        let own = links.map(|ends| [ends.lower, ends.upper].map(|(a, b)| (a.to_string(), b.to_string())));
        own.map(|ends| ends.map(end)).collect()
    }
}

fn table(cables: &[Cable]) -> String {
    let mut text = "a_device,a_port,b_device,b_port\n".to_owned();
    for [a, b] in cables {
        let _ = writeln!(text, "{},{},{},{}", a.0, a.1, b.0, b.1);
    }
    text
}

fn import_cables(cables: &[Cable]) -> Result<ImportResult, ImportError> {
    let mut network = ExistingNetwork::default();
    read::file(&mut network, "site.csv", &table(cables));
    let options = Options { name: "site".to_owned(), ..Options::default() };
    import(&network.finish()?, &options, &Catalogue::builtin(), &mut |text| try_plan(text))
}

/// Returns the kind of a cable, according to its upper end.
fn kind(cable: &Cable) -> char {
    cable[1].0.chars().next().expect("a name")
}

/// Exchanges the upper ends of two cables of the same kind. Returns their indices.
fn swap(cables: &mut [Cable], first: Index, second: Index) -> Option<[usize; 2]> {
    let first = first.index(cables.len());
    let others: Vec<usize> =
        (0..cables.len()).filter(|at| *at != first && kind(&cables[*at]) == kind(&cables[first])).collect();
    let second = *others.get(second.index(others.len().max(1)))?;
    let end = cables[first][1].clone();
    cables[first][1] = std::mem::replace(&mut cables[second][1], end);
    Some([first, second])
}

/// Returns whether a finding, or a note about swapped cables, names the row of a cable.
fn is_reported(found: &ImportResult, row: usize) -> bool {
    let place = format!("site.csv:{}: ", row + 2);
    let note = format!("(site.csv:{})", row + 2);
    found.findings.iter().any(|finding| finding.starts_with(&place))
        || found.notes.iter().any(|text| text.contains("swapped") && text.contains(&note))
}

fn shape() -> impl Strategy<Value = Shape> {
    let t2 = prop_oneof![
        2 => Just(None),
        1 => (2..4_u16, 1..3_u16, any::<bool>()).prop_map(|(zones, steps, rows)| {
            Some(T2 { zones, steps, parallel: 1, rows: if rows { 8 } else { 0 }, node_zones: 1 })
        }),
    ];
    (1..4_u8, 3..6_u16, 2..5_u16, 1..3_u8, 3..5_u16, 1..3_u16, t2).prop_map(
        |(planes, groups, per_group, rails, t1, parallel, t2)| Shape {
            planes,
            groups: groups * u16::from(rails),
            per_group,
            rails,
            t1,
            parallel,
            t2,
            ..Shape::SMALL
        },
    )
}

fn site() -> impl Strategy<Value = Site> {
    prop_oneof![Just(Site::Counted), Just(Site::Placed), Just(Site::Ported)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_swap_is_found(shape in shape(), site in site(), first: Index, second: Index) {
        let plan = shape.plan();
        let mut cables = site.cables(&plan);
        let whole = import_cables(&cables).map_err(|refused| TestCaseError::fail(refused.to_string()))?;
        prop_assert_eq!(&whole.findings, &Vec::<String>::new(), "{}", whole.text);
        prop_assert_eq!(whole.absent, 0, "{}", whole.text);
        let rows = swap(&mut cables, first, second);
        prop_assume!(rows.is_some());
        let rows = rows.expect("it is there");
        let swapped = rows.map(|row| format!("{}: {:?}", row + 2, cables[row]));
        match import_cables(&cables) {
            Ok(found) => {
                let is_unknown = |note: &String| note.contains("swapped cables cannot be recognised there");
                let is_named =
                    rows.iter().all(|row| is_reported(&found, *row)) || found.notes.iter().any(is_unknown);
                prop_assert!(is_named, "{swapped:#?}\n{:#?}\n{:#?}\n{}", found.findings, found.notes, found.text);
            }
            Err(refused) => {
                prop_assert!(refused.to_string().contains("not a Clos"), "{swapped:#?}\n{refused}");
            }
        }
    }
}

/// A finding about a swapped cable uses the names of the site, and contains the expected far end for each
/// end.
#[test]
fn the_expected_ends_are_named() {
    let shape = Shape { groups: 3, t1: 3, ..Shape::SMALL };
    let mut cables = Site::Counted.cables(&shape.plan());
    let row = |device: &str, at: usize| {
        let uplinks = (0..cables.len()).filter(|row| cables[*row][0].0 == device).collect::<Vec<_>>();
        uplinks[at]
    };
    let rows = [row("leaf1", 0), row("leaf2", 1)];
    let [first, second] = rows.map(|row| cables[row].clone());
    (cables[rows[0]][1], cables[rows[1]][1]) = (second[1].clone(), first[1].clone());
    let found = import_cables(&cables).expect("most cables follow the pattern");
    let end = |(device, port): &(String, String)| format!("{device} {port}");
    let [a, b, c, d] = [&first[0], &first[1], &second[0], &second[1]].map(end);
    let expected = format!(
        "site.csv:{}: {a} -- {d} does not match a cable of the fabric: expected {a} -- {b} and {d} -- {c}",
        rows[0] + 2
    );
    assert!(found.findings.contains(&expected), "{expected}\n{:#?}", found.findings);
    assert!(!found.text.contains("parallel") && found.absent == 0, "{}", found.text);
}
