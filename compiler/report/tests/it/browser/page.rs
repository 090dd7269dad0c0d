//! The page in a browser: its functions, at every width, in light and dark, on paper, and by keyboard.

use closc_browser::Browser;
use closc_diff::{Options, Report, Side};
use closc_plan::Plan;
use serde_json::json;

const MRC: &str = include_str!("../../../../../topologies/reference/mrc-8x512.yaml");
const MILLION: &str = include_str!("../../../../../topologies/reference/million.yaml");
const EXCEPTIONS: &str = include_str!("../../../../../topologies/examples/exceptions.yaml");
const SMALL: &str = include_str!("../../../../../topologies/lab/two-planes.yaml");

/// Maximum size of a page in bytes, for a fabric of any size.
const BYTES_MAX: usize = 1 << 20;

fn plan(text: &str) -> Plan {
    closc_tests::shape::plan(text)
}

/// Waits until the page shows the element with a title.
fn wait_for_title(browser: &mut Browser, title: &str) {
    browser.wait_for(&format!("at('here-title').textContent === {}", json!(title)));
}

fn write(browser: &mut Browser, field: &str, text: &str) {
    browser.value(&format!("at({field:?}).focus(), at({field:?}).select()"));
    browser.type_text(text);
    browser.press("Enter");
}

#[test]
fn search_finds_a_nic_and_a_failure_removes_its_paths() {
    let Some(mut browser) = Browser::start() else { return };
    let html = closc_report::page(&plan(MRC), None);
    assert!(html.len() < BYTES_MAX, "{} bytes", html.len());
    browser.look(1280, false, false);
    let milliseconds = browser.open(&html);
    println!("131,072 NICs: {} bytes, opened in {milliseconds:.0} ms", html.len());
    assert!(browser.text("at('counts').textContent").contains("131,072 NICs"));
    browser.keep("mrc");
    write(&mut browser, "query", "su128-n256/nic3");
    wait_for_title(&mut browser, "NIC su128-n256/nic3");
    assert!(browser.text("at('here').textContent").contains("2001:db8:1000:200::100"));
    write(&mut browser, "query", "2001:db8:1000:200::100");
    assert!(browser.text("at('found').textContent").contains("su128-n256/nic3"));
    write(&mut browser, "from", "su001-n001/nic0");
    write(&mut browser, "to", "su128-n256/nic3");
    assert_eq!(browser.text("at('verdict').textContent"), "2,048 of 2,048 paths are left (100 %)");
    write(&mut browser, "fail-name", "p3-t1-017");
    assert_eq!(browser.text("at('fail-error').textContent"), "");
    assert_eq!(browser.text("at('verdict').textContent"), "2,047 of 2,048 paths are left (99.95 %)");
    // Fail the T1 with the same number in the other planes too: eight of 2,048 paths are lost.
    for plane in [0, 1, 2, 4, 5, 6, 7] {
        write(&mut browser, "fail-name", &format!("p{plane}-t1-017"));
    }
    assert_eq!(browser.text("at('verdict').textContent"), "2,040 of 2,048 paths are left (99.61 %)");
    browser.keep("mrc-failed");
    browser.value("for (const at of failures.keys()) document.querySelectorAll('#failed input')[at].click()");
    assert_eq!(browser.text("at('verdict').textContent"), "2,048 of 2,048 paths are left (100 %)");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_page_of_a_million_nics_is_below_the_maximum_size() {
    let Some(mut browser) = Browser::start() else { return };
    let html = closc_report::page(&plan(MILLION), None);
    assert!(html.len() < BYTES_MAX, "{} bytes", html.len());
    browser.look(1280, true, false);
    let milliseconds = browser.open(&html);
    println!("1,048,576 NICs: {} bytes, opened in {milliseconds:.0} ms", html.len());
    write(&mut browser, "query", "z15-su064-n256/nic3");
    write(&mut browser, "from", "z0-su001-n001");
    write(&mut browser, "to", "z15-su064-n256/nic3");
    assert_eq!(browser.text("at('verdict').textContent"), "524,288 of 524,288 paths are left (100 %)");
    browser.keep("million-dark");
    assert_eq!(browser.complaints, [""; 0]);
}

/// A fabric without T1s and with two rails. NICs and cables have IPv4 addresses.
const RAILS: &str = "
fabric: rails
planes: 1
routing: ecmp-static
hosts: { groups: 2, per_group: 2, nics_per_node: 2, rails: 2, nic: { speed: 400G, lanes: 4 } }
addresses: { hosts: 10.0.0.0/16, links: 100.64.0.0/16, loopbacks: 192.168.0.0/24 }
tiers: { t0: { platform: spectrum4-sn5600, os: nvue, down: { count: 2, breakout: 2x400G } } }
";

#[test]
fn rails_have_no_path_to_each_other_by_design() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open(&closc_report::page(&plan(RAILS), None));
    assert!(browser.text("at('counts').textContent").ends_with("1 paths between the farthest NICs"));
    assert_eq!(browser.text("at('from').value + ' ' + at('to').value"), "su001-n001/nic0 su001-n002/nic0");
    write(&mut browser, "to", "10.0.0.130");
    assert_eq!(browser.text("at('to').value"), "su001-n002/nic1");
    assert_eq!(
        browser.text("at('verdict').textContent"),
        "No path by design: no tier connects their T0 groups"
    );
    write(&mut browser, "to", "su001-n002/nic0");
    write(&mut browser, "fail-name", "p0-t0-001");
    assert_eq!(browser.text("at('verdict').textContent"), "0 of 1 paths are left (0 %)");
    let outcome = browser.text("at('outcome').textContent");
    assert!(outcome.starts_with("1 of 2 pairs of NICs lose paths; pairs that lose all: 1"), "{outcome}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// T0s with 64 cages. Downlinks use the first 8, and uplinks use 4, beginning in the middle of the panel.
const HALF_EMPTY: &str = "
fabric: half-empty
planes: 4
routing: srv6-static
hosts: { groups: 32, per_group: 32, nics_per_node: 8, nic: { speed: 400G, lanes: 8 } }
tiers:
  t0: { platform: spectrum4-sn5600, os: sonic, down: { count: 32, breakout: 4x100G }, up: { count: 4 } }
  t1: { platform: spectrum4-sn5600, os: sonic, down: { count: 32 } }
cables: { nic-t0: { length: 2m, medium: dac }, t0-t1: { length: 30m, medium: dr4 } }
qos: lossless
";

#[test]
fn the_front_panel_has_all_cages_in_their_places() {
    let Some(mut browser) = Browser::start() else { return };
    let html = closc_report::page(&plan(HALF_EMPTY), None);
    browser.look(1280, false, false);
    browser.open(&html);
    write(&mut browser, "query", "p0-t0-001");
    wait_for_title(&mut browser, "p0-t0-001");
    let panel = "document.querySelector('[aria-label^=\"Front panel\"]')";
    let label = browser.text(&format!("{panel}.getAttribute('aria-label')"));
    assert_eq!(label, "Front panel: 12 of 64 cages in use or kept free");
    // A column is 10 units wide. Uplinks begin in column 32.
    let columns = |class: &str| {
        format!(
            "[...new Set([...{panel}.querySelectorAll('.{class}')].map((one) => (one.getAttribute('x') - 0.5) / 10))].join()"
        )
    };
    assert_eq!(browser.text(&columns("linked")), "0,1,2,3,4,5,6,7,32,33,34,35");
    let hollow: Vec<String> = (8..32).chain(36..64).map(|column| column.to_string()).collect();
    assert_eq!(browser.text(&columns("hollow")), hollow.join(","));
    browser.keep("front-panel");
}

#[test]
fn the_page_works_by_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    browser.look(1280, false, false);
    browser.open(&closc_report::page(&plan(EXCEPTIONS), None));
    browser.press("Tab");
    assert_eq!(browser.text("document.activeElement.textContent"), "Skip to the fabric");
    browser.press("Enter");
    assert_eq!(browser.text("document.activeElement.id"), "main");
    browser.value("document.querySelector('[data-arrows] a').focus()");
    browser.press("ArrowRight");
    assert_eq!(browser.text("document.activeElement.textContent"), "Plane 1");
    browser.press("ArrowDown");
    browser.press("Enter");
    wait_for_title(&mut browser, "T1s of plane 1");
    browser.value("document.querySelector('[data-arrows] a').focus()");
    browser.press("ArrowRight");
    browser.press("Enter");
    wait_for_title(&mut browser, "p1-t1-002");
    assert!(browser.text("at('here').textContent").contains("drained"));
    browser.keep("device");
    browser.press("Escape");
    wait_for_title(&mut browser, "T1s of plane 1");
    browser.keep("tier");
    browser.press("Escape");
    browser.wait_for("at('here-title').textContent !== 'T1s of plane 1'");
    browser.press("Escape");
    wait_for_title(&mut browser, "Fabric");
    assert_eq!(browser.complaints, [""; 0]);
}

/// Nothing is wider than the page, at any width and on paper, in light and dark.
#[test]
fn the_page_fits_every_width() {
    let Some(mut browser) = Browser::start() else { return };
    for (name, text) in [("small", SMALL), ("exceptions", EXCEPTIONS), ("million", MILLION)] {
        browser.look(1280, false, false);
        browser.open(&closc_report::page(&plan(text), None));
        browser.value("askPair(new Event('submit'))");
        browser.value("fail(thing('switch', sw(0, 1, 0, 0)))");
        for (kind, width, dark, print) in
            [("wide", 1280, false, false), ("narrow", 360, true, false), ("print", 800, false, true)]
        {
            browser.look(width, dark, print);
            let wide =
                browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
            assert_eq!(wide, json!(0), "{name}, {kind}");
            browser.keep(&format!("{name}-{kind}"));
        }
    }
    assert_eq!(browser.complaints, [""; 0]);
}

/// Text of the file is shown as text, even if it looks like HTML.
#[test]
fn html_in_input_is_shown_as_text() {
    let Some(mut browser) = Browser::start() else { return };
    let hostile = "</script><script>document.title = 'code'</script><!-- ' \\\" {{script}} \u{5d0}&lt;";
    let lines = SMALL.lines().map(|line| match line.split_once(": ") {
        Some(("description", _)) => format!("description: \"{hostile}\"\n"),
        Some(_) | None => format!("{line}\n"),
    });
    let text: String = lines.collect();
    browser.open(&closc_report::page(&plan(&text), None));
    let shown = hostile.replace("\\\"", "\"");
    assert_eq!(browser.text("at('description').textContent"), shown);
    assert_eq!(browser.text("document.title"), format!("{}: fabric report", plan(SMALL).name()));
    assert_eq!(browser.value("document.scripts.length"), json!(2));
    // Text in the fragment of a link is also shown as text.
    browser.value("location.hash = '#/switch/' + encodeURIComponent('<img src=x onerror=alert(1)>')");
    write(&mut browser, "query", "<img src=x onerror=alert(1)>");
    assert_eq!(browser.value("document.images.length"), json!(0));
    assert_eq!(browser.complaints, [""; 0]);
}

/// Changes from one file to another.
fn changes(old: &str, new: &str) -> Report {
    let side = |source: &str, digest: &str| Side {
        source: source.to_owned(),
        fabric: "mrc-8x512".to_owned(),
        digest: digest.repeat(32),
    };
    let (old, new) = (plan(old), plan(new));
    Report::of_plans_with(
        (&old, side("a.yaml", "0a")),
        (&new, side("a.yaml", "1b")),
        Options::default(),
        None,
        None,
    )
}

/// The reference file with an absent T1, a drained T1, a drained plane and fewer NICs.
fn changed_fabric() -> String {
    let exceptions = "exceptions: { absent: [ p2-t1-017 ], drained: [ p3-t1-001, plane 5 ] }\n";
    format!("{}\n{exceptions}", MRC.replace("groups: 512", "groups: 508"))
}

#[test]
fn a_difference_begins_with_its_verdict() {
    let Some(mut browser) = Browser::start() else { return };
    let report = changes(MRC, &changed_fabric());
    let page = closc_report::difference(&report);
    assert!(page.contains("a.yaml</code>, before (0a0a0a0a0a0a) and after (1b1b1b1b1b1b)"), "{page}");
    for (name, width, dark) in [("wide", 1280, false), ("narrow", 360, true)] {
        browser.look(width, dark, false);
        browser.open(&page);
        let first = browser.text("document.querySelector('main').firstElementChild.textContent");
        assert!(
            first.starts_with("Pairs of NICs that lose paths: ") && first.ends_with(". None is cut off."),
            "{first}"
        );
        assert_eq!(browser.value("document.querySelectorAll('svg').length"), json!(1));
        assert!(!browser.text("document.body.textContent").contains('`'));
        let wide =
            browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(wide, json!(0), "{name}");
        browser.keep(&format!("difference-{name}"));
    }
    browser.open(&closc_report::page(&plan(&changed_fabric()), Some(&report)));
    let first = browser.text("document.querySelector('#changes .verdict').textContent");
    assert!(
        first.starts_with("Pairs of NICs that lose paths: ") && first.ends_with(". None is cut off."),
        "{first}"
    );
    let same = closc_report::difference(&changes(SMALL, SMALL));
    assert!(same.contains("No changes: both sides are equivalent."), "{same}");
    assert_eq!(browser.complaints, [""; 0]);
}

/// axe-core, which is not part of this repository, finds nothing serious in any view, light and dark.
#[test]
fn axe_finds_nothing_serious() {
    let Some(axe) = closc_browser::axe() else { return };
    let Some(mut browser) = Browser::start() else { return };
    let pages = [
        closc_report::page(&plan(&changed_fabric()), Some(&changes(MRC, &changed_fabric()))),
        closc_report::difference(&changes(MRC, &changed_fabric())),
    ];
    for (page, dark) in pages.iter().flat_map(|page| [(page, false), (page, true)]) {
        browser.look(1280, dark, false);
        browser.open(page);
        assert_eq!(browser.barriers(&axe), json!([]), "dark: {dark}");
        if !page.contains("id=\"pair-view\"") {
            continue;
        }
        browser.value("askPair(new Event('submit')), fail(thing('switch', sw(0, 1, 0, 0)))");
        for view in [
            "#/plane/3",
            "#/tier/3/1/0",
            "#/switch/p3-t0-017",
            "#/nic/su001-n001%2Fnic0",
            "#/link/p0-t0-001--p0-t1-001",
            "#/group/0/7",
        ] {
            browser.value(&format!("location.hash = {view:?}, showHere()"));
            assert_eq!(browser.barriers(&axe), json!([]), "{view}, dark: {dark}");
        }
    }
}
