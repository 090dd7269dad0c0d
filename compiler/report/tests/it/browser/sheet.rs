//! The page of designs in a browser: nothing overlaps and nothing is cut, at every width, in light and dark,
//! and on paper.

use closc_browser::Browser;
use closc_report::{Form, Plot, Remarks, Sheet, SheetDesign, Subject, draw};
use serde_json::json;

const MRC: &str = include_str!("../../../../../topologies/reference/mrc-8x512.yaml");
const SMALL: &str = include_str!("../../../../../topologies/lab/two-planes.yaml");

/// Eight designs: some with equal, some with nearly equal figures.
fn sheet() -> String {
    let drawings = [MRC, SMALL].map(|text| draw(&closc_tests::shape::plan(text), Subject::Fabric, Form::Svg));
    let design = |at: usize| SheetDesign {
        title: format!(
            "{at},072 switches, 8 planes of 100G, 2 tiers, sonic with bgp-unnumbered, qos lossy-trim"
        ),
        cells: vec![
            "1048576 x dac 2m; 1048576 x dr4 30m".to_owned(),
            "32 x arista-7808r3-288x400g".to_owned(),
        ],
        notes: vec!["switches hash flows without their queue pair".to_owned()],
        drawing: drawings[at % 2].clone(),
    };
    let points = [9_830, 9_830, 9_840, 9_900, 10_240, 14_980, 14_990, 15_000];
    let points = points.into_iter().enumerate().map(|(at, figure)| (at + 1, 1_638_400, figure)).collect();
    closc_report::sheet(&Sheet {
        title: "Designs for 131,072 NICs of 800G".to_owned(),
        note: "8 designs".to_owned(),
        columns: vec!["cables by kind and length", "T1s"],
        designs: (0..8).map(design).collect(),
        plots: vec![Plot { figure: "capacity of switches, Gb/s", points, absent: "No prices are given." }],
        remarks: Remarks {
            title: "Fewest switches by routing",
            lines: vec![
                "`bgp-unnumbered`: 9,072 (1,024 more): switches announce routes to each other".to_owned(),
            ],
        },
    })
}

/// Texts of plots that overlap, and texts outside of the plot. The sheet of the tests has one plot.
const OVERLAPS: &str = "(() => { const found = []; \
    const boxes = [...document.querySelectorAll('.plot text')].map(node => [node.textContent, node.getBoundingClientRect()]); \
    boxes.forEach(([name, a], at) => boxes.slice(at + 1).forEach(([other, b]) => { \
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) found.push(name + ' / ' + other); })); \
    const plot = document.querySelector('.plot').getBoundingClientRect(); \
    boxes.forEach(([name, a]) => { if (a.right > plot.right || a.left < plot.left || a.top < plot.top) found.push(name); }); \
    return found; })()";

/// Elements wider than the page, except those in a container that scrolls.
const CUT: &str = "[...document.querySelectorAll('body *')].filter(node => \
    node.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && \
    !(matchMedia('screen').matches && node.closest('.scroll'))).map(node => node.tagName + ' ' + node.textContent.slice(0, 40))";

#[test]
fn nothing_overlaps_and_nothing_is_cut() {
    let Some(mut browser) = Browser::start() else { return };
    let html = sheet();
    assert!(html.contains("1,048,576 x dac 2m; 1,048,576 x dr4 30m"));
    for (width, dark, print) in
        [(1280, false, false), (1280, true, false), (390, false, false), (1000, false, true)]
    {
        browser.look(width, dark, print);
        browser.open(&html);
        browser.keep(&format!("designs-{width}-{dark}-{print}"));
        assert_eq!(browser.value(OVERLAPS), json!([]), "{width}, dark: {dark}, print: {print}");
        assert_eq!(browser.value(CUT), json!([]), "{width}, dark: {dark}, print: {print}");
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn axe_finds_no_barrier_on_designs() {
    let Some(axe) = closc_browser::axe() else { return };
    let Some(mut browser) = Browser::start() else { return };
    for (width, dark) in [(1280, false), (1280, true), (390, false)] {
        browser.look(width, dark, false);
        browser.open(&sheet());
        assert_eq!(browser.barriers(&axe), json!([]), "{width}, dark: {dark}");
    }
}
