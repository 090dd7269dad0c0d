//! Answers without a browser are equal to the findings and files of the command line.

use camino::Utf8Path;
use closc_compile::front::{Options, Source, read_text};
use closc_diagnostics::show::json;
use serde_json::{Value, json};

use crate::texts::{MRC, SMALL, hostile, shipped_files};

/// Maximum size of an answer to a hostile text, in bytes.
const ANSWER_MAX: usize = 4 << 20;

fn ask(request: &Value) -> Value {
    let answer = closc_playground::answer(request.to_string().as_bytes());
    serde_json::from_slice(&answer).expect("an answer is JSON")
}

/// The page has only one text, so a reference to another file is an error there.
#[test]
fn findings_equal_those_of_the_command_line() {
    for (name, text) in shipped_files() {
        let answer = ask(&json!({ "check": { "text": text } }));
        let source = Source::File("fabric.yaml".into());
        let reading = read_text(&source, text.as_bytes(), &Options::default()).expect("a text is read");
        let findings = json!(json::all(&reading.diagnostics, &reading.sources));
        assert_eq!(answer["ok"]["fabric"].is_null(), reading.plan.is_none(), "{name}");
        if reading.plan.is_some() {
            assert_eq!(answer["ok"]["findings"], findings, "{name}");
        }
    }
}

#[test]
fn files_of_a_device_equal_those_of_a_tree() {
    for text in SMALL {
        let plan = closc_tests::shape::plan(text);
        let tree = closc_compile::compile_in_memory(&plan).expect("a small fabric compiles");
        let checked = ask(&json!({ "check": { "text": text } }));
        let names = checked["ok"]["fabric"]["names"].as_array().expect("names");
        assert!(names.len() > 4, "{names:?}");
        for name in names {
            let answer = ask(&json!({ "device": { "text": text, "name": name } }));
            let files = answer["ok"].as_array().expect("files");
            assert!(!files.is_empty(), "{name} has files");
            for file in files {
                let path = file["path"].as_str().expect("a path");
                let bytes = &tree.files[Utf8Path::new(path)];
                assert_eq!(file["text"].as_str().map(str::as_bytes), Some(bytes.as_slice()), "{path}");
            }
        }
        let verdict = ask(&json!({ "verify": { "text": text } }));
        assert_eq!(verdict["ok"]["holds"], true, "{verdict}");
    }
}

#[test]
fn a_question_that_has_no_answer_is_an_error() {
    let text = SMALL[0];
    let error = |request: Value| ask(&request)["error"].as_str().expect("an error").to_owned();
    let unknown = error(json!({ "device": { "text": text, "name": "leaf1" } }));
    assert_eq!(unknown, "`leaf1` is not a switch or node of this fabric");
    let plane = error(json!({ "drawing": { "text": text, "subject": "plane 9" } }));
    assert_eq!(plane, "`plane 9` is not a plane of this fabric");
    assert!(error(json!({ "whatif": { "text": text, "fail": ["leaf1"] } })).contains("leaf1"));
    assert!(error(json!({ "verify": { "text": MRC } })).contains("8192"));
    assert_eq!(error(json!({ "verify": { "text": "fabric: x" } })), "the fabric file has errors");
    assert!(error(json!({ "draw": {} })).starts_with("not a request"));
}

#[test]
fn hostile_texts_have_findings_and_no_plan() {
    for (name, text) in hostile() {
        let answer = closc_playground::answer(json!({ "check": { "text": text } }).to_string().as_bytes());
        assert!(answer.len() < ANSWER_MAX, "{name}: {} bytes", answer.len());
        let answer: Value = serde_json::from_slice(&answer).expect("an answer is JSON");
        assert!(answer["ok"]["fabric"].is_null(), "{name}");
        assert!(!answer["ok"]["findings"].as_array().expect("findings").is_empty(), "{name}");
    }
}

/// The page calls only these two functions.
#[test]
fn the_buffer_takes_a_request_and_gives_its_answer() {
    let _ = closc_playground::closc_buffer(3);
    // Three zeros are not a request.
    let length = closc_playground::closc_answer();
    assert_eq!(length, closc_playground::answer(&[0; 3]).len());
}
