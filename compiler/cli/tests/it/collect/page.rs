//! The page of the collector in a browser. It draws the collector's data, its content security policy allows its own
//! script, and the console stays empty. All functions also work with the keyboard alone.

use closc_browser::Browser;
use serde_json::json;

use super::agents::{Agents, eventually};
use super::{Collector, folder};

/// Opens the page of a collector in a browser; `None` if no browser is installed.
fn open_page(collector: &Collector) -> Option<Browser> {
    let mut browser = Browser::start()?;
    browser.look(1280, false, false);
    browser.visit(&format!("http://{}/", collector.address));
    browser.wait_for("document.body.dataset.ready === 'yes'");
    Some(browser)
}

/// Fills in a form, and submits it with a key press in the last field.
fn fill(browser: &mut Browser, fields: &[(&str, &str)]) {
    for (field, text) in fields {
        browser.value(&format!("at({field:?}).focus(), at({field:?}).select()"));
        browser.type_text(text);
    }
    browser.press("Enter");
}

/// Waits until the text of an element contains another text.
fn says(browser: &mut Browser, id: &str, text: &str) {
    browser.wait_for(&format!("at({id:?}).textContent.includes({})", json!(text)));
}

#[test]
fn what_the_collector_knows_is_drawn() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let collector = Collector::start(folder.path(), &["--web"]);
    agents.lose("p3-t0-002--p3-t1-004", 2);
    eventually("it is named", || !collector.says().0.is_empty());
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    let Some(mut browser) = open_page(&collector) else { return };
    for text in ["8 of 8 agents answer", "dry run"] {
        says(&mut browser, "state", text);
    }
    says(&mut browser, "verdicts", "cable p3-t0-002--p3-t1-004, ");
    assert!(!browser.text("at('verdicts').textContent").contains("e+"), "numbers are for people");
    says(&mut browser, "planes", "plane 7");
    let idle = browser.value(
        "[...document.querySelectorAll('#verdicts button, #drain-form button')].every((b) => b.disabled)",
    );
    assert_eq!(idle, json!(true), "a dry run drains nothing");
    // A plane, a switch, a cable, with the keyboard.
    browser.value("document.querySelector('[data-key=\"plane 3\"]').focus()");
    browser.press("Enter");
    browser.wait_for("document.querySelector('[data-key=\"p3-t0-002\"]')");
    assert_eq!(browser.text("document.activeElement.dataset.key"), "plane 3", "the focus stays");
    assert_eq!(browser.text("document.activeElement.getAttribute('aria-expanded')"), "true");
    browser.value("document.querySelector('[data-key=\"p3-t0-002\"]').focus()");
    browser.press("Enter");
    says(&mut browser, "detail-name", "Cables of p3-t0-002");
    says(&mut browser, "detail", "p3-t0-002--p3-t1-004: loses packets");
    browser.value("refresh()");
    assert_eq!(browser.text("document.activeElement.dataset.key"), "p3-t0-002", "the focus stays");
    // Paths and addresses.
    fill(&mut browser, &[("from", "su002-n001/nic0"), ("to", "su003-n001/nic0")]);
    browser.wait_for("at('paths').tBodies[0].rows.length === 32");
    says(&mut browser, "paths", "gray: p3-t0-002--p3-t1-004");
    fill(&mut browser, &[("to", "su999-n001/nic0")]);
    browser.wait_for("at('paths').tBodies[0].rows.length === 1");
    fill(&mut browser, &[("address", "fd00:c105:1:1::1")]);
    says(&mut browser, "decoded", "su001-n001/nic0");
    fill(&mut browser, &[("address", "p0")]);
    browser.wait_for("!at('decoded').textContent.includes('su001-n001/nic0')");
    assert_eq!(
        browser.complaints.iter().filter(|said| !said.contains("404")).count(),
        0,
        "{:?}",
        browser.complaints
    );
}

/// Regression: without agents there are no verdicts, and the page looked as if the fabric was healthy.
#[test]
fn silence_of_all_agents_is_an_alarm() {
    let folder = folder();
    let collector = Collector::start(folder.path(), &["--web"]);
    assert_eq!(collector.summary()["alarms"][0], "no agent answers, so nothing is checked");
    let Some(mut browser) = open_page(&collector) else { return };
    says(&mut browser, "alarms", "no agent answers");
    assert_eq!(browser.text("at('alarms').getAttribute('role')"), "alert");
}

#[test]
fn a_person_drains_and_lifts() {
    let folder = folder();
    let agents = Agents::start(folder.path());
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    eventually("all agents answer", || collector.summary()["agents"]["speaking"] == 8);
    let Some(mut browser) = open_page(&collector) else { return };
    // Text that a user enters is not interpreted as HTML.
    let why = "<img src=x onerror=alert(1)> & \"work\"";
    fill(
        &mut browser,
        &[
            ("token", &super::token(&folder)),
            ("drain-minutes", "5"),
            ("drain-why", why),
            ("drain-name", "p0-t1-001"),
        ],
    );
    says(&mut browser, "ordered", "p0-t1-001: applied");
    says(&mut browser, "denials", why);
    assert_eq!(browser.value("document.querySelectorAll('img').length"), json!(0));
    eventually("every agent denies it", || agents.bans() == [1; 8]);
    fill(&mut browser, &[("drain-name", "plane 0")]);
    says(&mut browser, "ordered", "of plane 0 would be denied");
    fill(&mut browser, &[("drain-name", "p9-t9-999")]);
    browser.wait_for("at('ordered').textContent !== '' && !at('ordered').textContent.includes('plane 0')");
    browser.value("document.querySelector('#denials button').focus()");
    browser.press("Enter");
    browser.wait_for("!document.querySelector('#denials button')");
    eventually("no agent denies it", || agents.bans() == [0; 8]);
}

/// axe-core does not find serious problems in the light and dark themes. It is not part of the repository.
#[test]
fn axe_finds_nothing_serious() {
    let Some(axe) = closc_browser::axe() else { return };
    let folder = folder();
    let agents = Agents::start(folder.path());
    let collector = Collector::start(folder.path(), &["--web", "--apply", "--plane-share", "30"]);
    agents.lose("p3-t0-002--p3-t1-004", 2);
    eventually("it is named", || !collector.says().0.is_empty());
    let Some(mut browser) = open_page(&collector) else { return };
    fill(&mut browser, &[("from", "su002-n001/nic0"), ("to", "su003-n001/nic0")]);
    browser.wait_for("at('paths').tBodies[0].rows.length === 32");
    browser.value("document.querySelector('[data-key=\"plane 3\"]').click()");
    browser.wait_for("document.querySelector('[data-key=\"p3-t0-002\"]')");
    browser.value("document.querySelector('[data-key=\"p3-t0-002\"]').click()");
    says(&mut browser, "detail-name", "Cables of p3-t0-002");
    for (width, dark) in [(1280, false), (1280, true), (400, false)] {
        browser.look(width, dark, false);
        browser.keep(&format!("collector-{width}-{dark}"));
        assert_eq!(browser.barriers(&axe), json!([]), "{width} wide, dark: {dark}");
        let wide = browser.value("document.documentElement.scrollWidth > innerWidth");
        assert_eq!(wide, json!(false), "{width} wide");
    }
}

/// The length of a bar is the share of cables that agents probe: here the cables of all NICs, or the cable of one NIC
/// out of eight.
#[test]
fn a_bar_is_gray_where_nobody_probes() {
    for (silent, width, text) in [(0..0, "100%", ""), (1..8, "12.5%", "7 not probed")] {
        let folder = folder();
        let _agents = Agents::start(folder.path());
        let speaking = 8 - silent.len();
        for nic in silent {
            std::fs::remove_file(folder.path().join(format!("{nic}.sock"))).expect("it is there");
        }
        let collector = Collector::start(folder.path(), &["--web"]);
        eventually("agents answer", || collector.summary()["agents"]["speaking"] == speaking);
        eventually("probes came back", || collector.summary()["planes"][7]["tiers"][0]["probed"] == speaking);
        let Some(mut browser) = open_page(&collector) else { return };
        says(&mut browser, "planes", text);
        let own =
            "[...document.querySelectorAll('.tier')].filter((tier) => tier.textContent.startsWith('t0'))";
        browser.wait_for(&format!(
            "{own}.every((tier) => tier.querySelector('.bar span').style.width === '{width}')"
        ));
        let colours = browser.value(&format!(
            "{own}.map((tier) => tier.querySelector('.bar')).every((bar) => bar.className === 'bar unknown' && \
             bar.firstChild.className === 'good' && bar.firstChild.getBoundingClientRect().width > 0)"
        ));
        assert_eq!(colours, json!(true));
        assert_eq!(browser.text("at('planes').textContent").contains("not probed"), speaking < 8);
        assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    }
}
