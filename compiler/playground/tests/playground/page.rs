//! The page in a browser: typical use, and answers that equal those of the native build.
//!
//! In: the compiler for WebAssembly, which `CLOSC_PLAYGROUND` names. Invariants: no test waits for a fixed
//! time; an endless loop simulates a compiler that never answers.

use closc_browser::Browser;
use serde_json::{Value, json};

use crate::texts::{MRC, SMALL, hostile};

/// Maximum size of the compressed page, in bytes. Servers send it compressed.
const COMPRESSED_MAX: usize = 4 << 20;

/// Compresses a file as `cargo xtask playground` does.
fn compress(file: impl AsRef<std::ffi::OsStr>) -> Option<Vec<u8>> {
    let Ok(zipped) = std::process::Command::new("gzip").args(["-9", "-n", "-c"]).arg(file).output() else {
        closc_skip::skip("gzip is not installed, so the page is not built");
        return None;
    };
    assert!(zipped.status.success(), "{}", String::from_utf8_lossy(&zipped.stderr));
    Some(zipped.stdout)
}

/// Returns the page of the module.
fn html() -> Option<String> {
    let Some(file) = std::env::var_os("CLOSC_PLAYGROUND") else {
        closc_skip::skip(
            "`CLOSC_PLAYGROUND` is not set; expected the module that `cargo xtask playground` compiles",
        );
        return None;
    };
    Some(closc_playground::page(&compress(file)?))
}

/// Opens the page and waits for its first results.
fn open() -> Option<Browser> {
    let html = html()?;
    let mut browser = Browser::start()?;
    browser.look(1440, false, false);
    browser.open(&html);
    idle(&mut browser);
    Some(browser)
}

fn idle(browser: &mut Browser) {
    browser.wait_for("at('results').getAttribute('aria-busy') === 'false'");
}

fn write(browser: &mut Browser, text: &str) {
    browser.value(&format!("at('text').value = {}, changed()", json!(text)));
    idle(browser);
}

fn submit(browser: &mut Browser, form: &str) {
    browser.value(&format!("at('{form}').requestSubmit()"));
    idle(browser);
}

fn verdict(browser: &mut Browser) -> String {
    browser.text("at('verdict').textContent")
}

#[test]
fn the_page_is_small_enough_to_send() {
    let Some(html) = html() else { return };
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("page.html");
    std::fs::write(&file, &html).expect("it can be written");
    let Some(sent) = compress(file) else { return };
    println!("{} bytes, {} compressed", html.len(), sent.len());
    assert!(sent.len() < COMPRESSED_MAX, "{}", sent.len());
}

#[test]
fn a_reader_writes_a_fabric_and_asks_about_it() {
    let Some(mut browser) = open() else { return };
    assert!(verdict(&mut browser).starts_with("pod is valid"), "{}", verdict(&mut browser));
    assert!(browser.value("at('drawing').naturalWidth").as_u64() > Some(100));
    assert_eq!(
        browser.text("at('files').querySelector('summary code').textContent.split('/')[0]"),
        "switches"
    );
    assert!(browser.text("at('whatif').textContent").contains("cut off"));
    browser.keep("playground");
    browser.value("at('device').value = 'p1-t1-002'");
    submit(&mut browser, "device-form");
    assert!(browser.text("at('files').textContent").contains("p1-t1-002"));
    browser.value("at('fail').value = 'p0-t1-001, p1-t1-001'");
    submit(&mut browser, "whatif-form");
    assert!(browser.text("at('whatif').textContent").contains("p0-t1-001, p1-t1-001 fail"));
    browser.value("at('fail').value = 'leaf1'");
    submit(&mut browser, "whatif-form");
    assert!(browser.text("at('whatif-error').textContent").contains("leaf1"));
    submit(&mut browser, "verify-form");
    assert_eq!(browser.text("at('verify-verdict').textContent"), "Everything holds");
    browser.value("at('subject').value = 'plane 1', at('subject').dispatchEvent(new Event('change'))");
    idle(&mut browser);
    assert_eq!(browser.text("at('drawing').alt"), "Drawing of plane 1");
    browser.keep("playground-asked");
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn an_error_leads_to_its_line_and_an_edit_repairs_it() {
    let Some(mut browser) = open() else { return };
    write(&mut browser, &SMALL[0].replace("planes: 2", "plains: 2"));
    assert!(verdict(&mut browser).contains("error"), "{}", verdict(&mut browser));
    browser.keep("playground-error");
    assert_eq!(browser.text("getComputedStyle(document.querySelector('.valid')).display"), "none");
    browser.value("document.querySelector('#findings .line').click()");
    let selected = "at('text').value.slice(at('text').selectionStart, at('text').selectionEnd)";
    assert_eq!(browser.text(selected), "plains");
    let line = browser.text("document.querySelector('#lines .bad').textContent.trim()");
    let wanted =
        SMALL[0].lines().position(|line| line.starts_with("planes: 2")).expect("the text has this line") + 1;
    assert_eq!(line, wanted.to_string());
    browser.value("document.querySelector('#findings [aria-label^=\"Apply\"]').click()");
    idle(&mut browser);
    assert!(verdict(&mut browser).starts_with("two-planes is valid"), "{}", verdict(&mut browser));
    assert_eq!(browser.text("at('text').value"), SMALL[0]);
    assert_eq!(browser.complaints, [""; 0]);
}

/// In the page, sizes have 32 bits, and there is only one thread.
#[test]
fn answers_of_the_page_equal_those_of_this_machine() {
    let Some(mut browser) = open() else { return };
    let mut requests = vec![
        json!({ "check": { "text": MRC } }),
        json!({ "drawing": { "text": MRC, "subject": "" } }),
        json!({ "device": { "text": MRC, "name": "p7-t0-512" } }),
        json!({ "whatif": { "text": MRC, "fail": ["p3-t1-017"] } }),
    ];
    for text in SMALL {
        requests.extend([
            json!({ "check": { "text": text } }),
            json!({ "drawing": { "text": text, "subject": "plane 0" } }),
            json!({ "device": { "text": text, "name": "p0-t0-002" } }),
            json!({ "whatif": { "text": text, "fail": [] } }),
            json!({ "verify": { "text": text } }),
        ]);
    }
    for request in requests {
        let theirs = browser.value(&format!("compiler.ask({request})"));
        let ours = closc_playground::answer(request.to_string().as_bytes());
        let ours: Value = serde_json::from_slice(&ours).expect("an answer is JSON");
        assert!(ours["error"].is_null(), "{ours}");
        assert_eq!(theirs, ours);
    }
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn a_hostile_text_does_not_stop_the_page() {
    let Some(mut browser) = open() else { return };
    for (name, text) in hostile() {
        write(&mut browser, &text);
        let verdict = verdict(&mut browser);
        assert!(verdict.contains("error") || verdict.contains("stopped"), "{name}: {verdict}");
        println!("{name}: {verdict}");
    }
    // A compiler that never answers.
    browser
        .value("compiler.stop(), compiler.source = 'onmessage = () => { for (;;); }', compiler.limit = 10");
    write(&mut browser, SMALL[0]);
    assert!(verdict(&mut browser).starts_with("stopped after"), "{}", verdict(&mut browser));
    browser.value("compiler.source = WORKER, compiler.limit = LIMIT_MS");
    write(&mut browser, SMALL[0]);
    assert!(verdict(&mut browser).starts_with("two-planes is valid"), "{}", verdict(&mut browser));
    assert_eq!(browser.complaints, [""; 0]);
}

#[test]
fn the_page_fits_and_is_accessible_at_every_width_in_light_and_dark() {
    let Some(mut browser) = open() else { return };
    let axe = closc_browser::axe();
    for (width, dark) in [(1440, false), (1440, true), (1000, false), (400, true)] {
        browser.look(width, dark, false);
        let wide = browser.value("document.documentElement.scrollWidth").as_u64();
        assert!(wide <= Some(width.into()), "{wide:?} of {width}");
        if let Some(axe) = &axe {
            assert_eq!(browser.barriers(axe), json!([]), "{width} {dark}");
        }
        browser.keep(&format!("playground-{width}{}", if dark { "-dark" } else { "" }));
    }
}
