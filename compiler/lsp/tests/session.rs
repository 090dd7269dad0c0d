//! An editor's session, from the first message to the last.

use std::thread::{self, JoinHandle};

use closc_compile::front::Options;
use closc_lsp::LspError;
use lsp_server::{Connection, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

const FILE: &str = "file:///fabrics/pod%201.yaml";

const FABRIC: &str = "fabric: pod
planes: 2
hosts:
  groups: 4
  per_group: 8
  nic: { speed: 200G, lanes: 2 }
tiers:
  t0: { platform: linux, os: linux, up: 8 }
  t1: { platform: linux, os: linux }
cables:
  nic-t0: &short { length: 2m, medium: dac }
  t0-t1: *short
exceptions:
  drained: [p0-t1-003]
qos: none
";

/// The editor's end of a session.
struct Editor {
    connection: Connection,
    server: JoinHandle<Result<(), LspError>>,
    asked: i32,
}

impl Editor {
    fn start() -> Self {
        let (connection, server) = Connection::memory();
        let server = thread::spawn(move || closc_lsp::run(&server, &Options::default()));
        let mut editor = Editor { connection, server, asked: 0 };
        let answer = editor.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["capabilities"]["positionEncoding"], "utf-16");
        editor.tell("initialized", json!({}));
        editor
    }

    fn send(&self, message: Message) {
        self.connection.sender.send(message).expect("the server is there");
    }

    fn tell(&self, method: &str, params: Value) {
        self.send(Notification::new(method.to_owned(), params).into());
    }

    /// Sends a request, and waits for the answer.
    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        let id = RequestId::from(self.asked);
        self.send(Request::new(id.clone(), method.to_owned(), params).into());
        loop {
            match self.connection.receiver.recv().expect("an answer") {
                Message::Response(response) if response.id == id => {
                    return response.response_result.unwrap_or_else(|error| json!({ "error": error.code }));
                }
                Message::Response(_) | Message::Notification(_) | Message::Request(_) => {}
            }
        }
    }

    /// Opens a text, and returns its findings.
    fn open(&self, text: &str) -> Value {
        let document = json!({ "uri": FILE, "languageId": "yaml", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
        self.findings()
    }

    /// Waits for findings.
    fn findings(&self) -> Value {
        loop {
            if let Message::Notification(found) = self.connection.receiver.recv().expect("findings")
                && found.method == "textDocument/publishDiagnostics"
            {
                return found.params;
            }
        }
    }

    /// Sends a request about the place of `piece` in the text.
    fn at(&mut self, method: &str, text: &str, piece: &str) -> Value {
        let offset = text.find(piece).expect("it is in the text") + 1;
        let line = text[..offset].matches('\n').count();
        let character = offset - text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let position = json!({ "line": line, "character": character });
        let mut params = json!({ "textDocument": { "uri": FILE } });
        params["position"] = position;
        self.ask(method, params)
    }

    fn end(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null), Value::Null);
        self.tell("exit", Value::Null);
        self.server.join().expect("no panic").expect("the session ends well");
    }
}

fn codes(found: &Value) -> Vec<&str> {
    let all = found["diagnostics"].as_array().expect("a list").iter();
    all.map(|finding| finding["code"].as_str().expect("a code")).collect()
}

fn labels(answer: &Value) -> Vec<&str> {
    let items = answer["items"].as_array().expect("items").iter();
    items.map(|item| item["label"].as_str().expect("a label")).collect()
}

#[test]
fn findings_come_with_every_change() {
    let editor = Editor::start();
    assert_eq!(codes(&editor.open(FABRIC)), Vec::<&str>::new());
    let range = json!({ "start": { "line": 3, "character": 2 }, "end": { "line": 3, "character": 8 } });
    let change = |text: &str, version: i32, range: &Value| json!({ "textDocument": { "uri": FILE, "version": version }, "contentChanges": [{ "range": range, "text": text }] });
    editor.tell("textDocument/didChange", change("grops", 2, &range));
    let found = editor.findings();
    assert_eq!((codes(&found), &found["version"]), (vec!["E0107"], &json!(2)));
    assert_eq!(found["diagnostics"][0]["range"]["end"], json!({ "line": 3, "character": 7 }));
    let range = json!({ "start": { "line": 3, "character": 2 }, "end": { "line": 3, "character": 7 } });
    editor.tell("textDocument/didChange", change("groups", 3, &range));
    assert_eq!(codes(&editor.findings()), Vec::<&str>::new());
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": FILE } }));
    assert_eq!(codes(&editor.findings()), Vec::<&str>::new());
    editor.end();
}

#[test]
fn what_is_computed_is_shown() {
    let mut editor = Editor::start();
    editor.open(FABRIC);
    let mut shown = |piece: &str| {
        let answer = editor.at("textDocument/hover", FABRIC, piece);
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let device = shown("p0-t1-003");
    assert!(device.contains("**p0-t1-003** T1 of plane 0") && device.contains("loopback"), "{device}");
    let size = shown("hosts");
    assert!(size.contains("| NICs | 32 |") && size.contains("| T1 switches | 16 |"), "{size}");
    let platform = shown("linux, os");
    assert!(platform.contains("| cages |"), "{platform}");
    assert!(shown("planes").contains("`planes`"));
    editor.end();
}

#[test]
fn what_may_be_written_is_proposed() {
    let mut editor = Editor::start();
    editor.open(FABRIC);
    let keys = editor.at("textDocument/completion", FABRIC, "os: linux }");
    assert!(labels(&keys).contains(&"breakout") || labels(&keys).contains(&"down"), "{keys}");
    assert!(!labels(&keys).contains(&"platform"), "it is there already");
    let platforms = editor.at("textDocument/completion", FABRIC, "linux, os");
    assert!(labels(&platforms).contains(&"th5-512x100g"));
    let systems = editor.at("textDocument/completion", FABRIC, "linux }");
    assert!(labels(&systems).contains(&"sonic"), "{systems}");
    let names = editor.at("textDocument/completion", FABRIC, "p0-t1-003");
    assert!(labels(&names).contains(&"p0-t1-001") && labels(&names).contains(&"plane 1"), "{names}");
    // An incomplete file does not have a plan, but keys are still proposed.
    let half = "fabric: pod\nhosts: { gr";
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": FILE } }));
    editor.open(half);
    let keys = editor.at("textDocument/completion", half, "gr");
    assert!(labels(&keys).contains(&"groups"), "{keys}");
    editor.end();
}

#[test]
fn definitions_fixes_and_form() {
    let mut editor = Editor::start();
    editor.open(FABRIC);
    let anchor = editor.at("textDocument/definition", FABRIC, "short\nexceptions");
    assert_eq!(anchor["range"]["start"], json!({ "line": 10, "character": 10 }));
    let tier = editor.at("textDocument/definition", FABRIC, "p0-t1-003");
    assert_eq!(tier["range"]["start"]["line"], 8);
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": FILE } }));

    let wrong = FABRIC.replace("groups: 4", "grops:   4");
    editor.open(&wrong);
    let range = json!({ "start": { "line": 3, "character": 4 }, "end": { "line": 3, "character": 4 } });
    let params = json!({ "textDocument": { "uri": FILE }, "range": range, "context": { "diagnostics": [] } });
    let actions = editor.ask("textDocument/codeAction", params);
    assert_eq!(actions[0]["title"], "E0107: did you mean `groups`?");
    assert_eq!(actions[0]["isPreferred"], true);
    assert_eq!(actions[0]["edit"]["changes"][FILE][0]["newText"], "groups");
    let all = actions.as_array().and_then(|all| all.last()).expect("actions");
    assert_eq!(all["kind"], "source.fixAll");
    let options =
        json!({ "textDocument": { "uri": FILE }, "options": { "tabSize": 2, "insertSpaces": true } });
    let edits = editor.ask("textDocument/formatting", options);
    assert!(edits[0]["newText"].as_str().is_some_and(|text| text.contains("  grops: 4\n")), "{edits}");
    editor.end();
}

#[test]
fn what_cannot_be_read_is_answered() {
    let mut editor = Editor::start();
    assert_eq!(codes(&editor.open("a: [1\n\u{feff}]: }{")).len(), 1);
    assert_eq!(editor.ask("textDocument/hover", json!({ "no": 1 }))["error"], -32602);
    assert_eq!(editor.ask("workspace/unheardOf", json!({}))["error"], -32601);
    editor.tell("textDocument/didChange", json!({ "no": 1 }));
    let nowhere =
        json!({ "textDocument": { "uri": "file:///not/open" }, "position": { "line": 9, "character": 9 } });
    assert_eq!(editor.ask("textDocument/hover", nowhere), Value::Null);
    editor.end();
}

/// All messages of a flood are queued. The text is read only once for them, and a request about an earlier
/// state of it is rejected.
#[test]
fn a_flood_of_changes_is_read_once() {
    let (client, server) = Connection::memory();
    let tell = |method: &str, params: Value| {
        client.sender.send(Notification::new(method.to_owned(), params).into()).expect("it is there");
    };
    let ask = |id: i32, method: &str, params: Value| {
        client
            .sender
            .send(Request::new(RequestId::from(id), method.to_owned(), params).into())
            .expect("it is there");
    };
    ask(0, "initialize", json!({ "capabilities": {} }));
    tell("initialized", json!({}));
    let document = json!({ "uri": FILE, "languageId": "yaml", "version": 1, "text": FABRIC });
    tell("textDocument/didOpen", json!({ "textDocument": document }));
    for n in 1..100 {
        let at = json!({ "line": 0, "character": 0 });
        let change = json!({ "range": { "start": at, "end": at }, "text": "#" });
        let identified = json!({ "uri": FILE, "version": n + 1 });
        tell("textDocument/didChange", json!({ "textDocument": identified, "contentChanges": [change] }));
        ask(n, "textDocument/hover", json!({ "textDocument": { "uri": FILE }, "position": at }));
    }
    ask(100, "shutdown", Value::Null);
    tell("exit", Value::Null);
    // All messages are queued before the server starts, so the test does not depend on timing.
    thread::spawn(move || closc_lsp::run(&server, &Options::default()))
        .join()
        .expect("no panic")
        .expect("it ends well");
    let (mut refused, mut published) = (0, 0);
    for message in client.receiver.try_iter() {
        match message {
            Message::Response(answer) => {
                refused += usize::from(answer.response_result.is_err_and(|error| error.code == -32_801));
            }
            Message::Notification(_) => published += 1,
            Message::Request(_) => {}
        }
    }
    assert_eq!((refused, published), (98, 1));
}

/// The rejection of an early request does not repeat the request. In earlier versions, the answer was three
/// times as large as the request.
#[test]
fn requests_before_the_first_one_are_refused_in_a_short_answer() {
    let (connection, server) = Connection::memory();
    let server = thread::spawn(move || closc_lsp::run(&server, &Options::default()));
    let mut editor = Editor { connection, server, asked: 0 };
    editor.tell("textDocument/didOpen", json!({}));
    let id = RequestId::from("early".to_owned());
    let params = json!({ "text": "x".repeat(1 << 20) });
    editor.send(Request::new(id.clone(), "textDocument/hover".to_owned(), params).into());
    let Message::Response(refused) = editor.connection.receiver.recv().expect("an answer") else {
        panic!("a request has an answer")
    };
    assert_eq!(refused.id, id);
    let error = refused.response_result.expect_err("it is early");
    assert_eq!((error.code, error.message.as_str()), (-32002, "expected `initialize` first"));
    editor.ask("initialize", json!({ "capabilities": {} }));
    editor.tell("initialized", json!({}));
    editor.end();
}
