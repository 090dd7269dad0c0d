//! Messages of an editor, read by `closc lsp`.

use serde_json::{Value, json};

use crate::common::Place;
use crate::surfaces::kinds::{self, Numbers};
use crate::surfaces::measure::{self, Usage};
use crate::surfaces::{Kind, Reader, Surface, make_input};

pub(crate) static SURFACE: Surface = Surface {
    name: "LSP",
    kinds: KINDS.len(),
    make: |number, size| make_input(KINDS, number, size),
    open: || Some(Box::new(Server(Place::new()))),
};

const GOOD: &str = "fabric: good\nplanes: 2\nhosts: { groups: 4, per_group: 4, nics_per_node: 1, nic: { speed: 200G, lanes: 2 } }\n\
                    tiers:\n  t0: { platform: linux, os: linux, up: 4 }\n  t1: { platform: linux, os: linux }\n";

const KINDS: &[Kind] = &[
    ("a hostile file", |n, size| session(open_text(&hostile(n, size / 2)))),
    ("many hostile files", |n, size| {
        let mut messages = Vec::new();
        for at in 0..20 {
            messages.extend(open(&format!("file:///hostile-{at}.yaml"), &hostile(n, size / 40)));
        }
        session(messages)
    }),
    ("changes of a small file", |n, size| flood(n, size, GOOD, insertion)),
    ("changes of a large file", |n, size| flood(n, size, &large(size / 2), insertion)),
    ("whole texts", |n, size| {
        flood(n, size, GOOD, |n| json!([{ "text": GOOD.replace("up: 4", &format!("up: {}", n.up_to(9))) }]))
    }),
    ("many changes in one message", |n, size| {
        let changes: Vec<Value> = (0..size / 150).map(|_| insertion(n)[0].clone()).collect();
        let mut messages = open_text(&large(size / 10));
        messages.push(change_text(2, &json!(changes)));
        session(messages)
    }),
    ("changes outside of the text", |n, size| {
        flood(n, size, GOOD, |n| {
            let at =
                json!({ "line": n.up_to(u64::from(u32::MAX)), "character": n.up_to(u64::from(u32::MAX)) });
            json!([{ "range": { "start": at, "end": { "line": 0, "character": 0 } }, "text": "x" }])
        })
    }),
    ("deletions", |n, size| {
        flood(n, size, &large(size / 2), |n| {
            let line = n.up_to(9);
            json!([{ "range": { "start": { "line": line, "character": 0 }, "end": { "line": line + 1, "character": 0 } }, "text": "" }])
        })
    }),
    ("changes and questions", |n, size| {
        let mut messages = open_text(&large(size / 4));
        while bytes(&messages) < size {
            let version = messages.len();
            messages.push(change_text(version, &insertion(n)));
            messages.push(question("textDocument/hover", version, n.up_to(9)));
        }
        session(messages)
    }),
    ("questions of a large file", |n, size| questions(n, size, "textDocument/hover")),
    ("completions", |n, size| questions(n, size, "textDocument/completion")),
    ("definitions", |n, size| questions(n, size, "textDocument/definition")),
    ("fixes", |n, size| {
        let text = GOOD.to_owned() + &"plannes: 2\n".repeat(size / 400);
        let mut messages = open_text(&text);
        while bytes(&messages) < size / 8 {
            let range =
                json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 9_999, "character": 0 } });
            let params =
                json!({ "textDocument": { "uri": FILE }, "range": range, "context": { "diagnostics": [] } });
            messages.push(json!({ "jsonrpc": "2.0", "id": n.next(), "method": "textDocument/codeAction", "params": params }));
        }
        session(messages)
    }),
    ("formatting", |n, size| {
        let mut messages = open_text(&large(size / 2));
        for _ in 0..8 {
            let params =
                json!({ "textDocument": { "uri": FILE }, "options": { "tabSize": 2, "insertSpaces": true } });
            messages.push(json!({ "jsonrpc": "2.0", "id": n.next(), "method": "textDocument/formatting", "params": params }));
        }
        session(messages)
    }),
    ("open and closed", |n, size| {
        let mut messages = Vec::new();
        while bytes(&messages) < size {
            let uri = format!("file:///x{}.yaml", n.up_to(9));
            messages.extend(open(&uri, GOOD));
            messages.push(json!({ "jsonrpc": "2.0", "method": "textDocument/didClose", "params": { "textDocument": { "uri": uri } } }));
        }
        session(messages)
    }),
    ("unknown methods", |n, size| {
        let mut messages = Vec::new();
        while bytes(&messages) < size {
            messages.push(json!({ "jsonrpc": "2.0", "id": n.next(), "method": format!("x/{}", n.next()), "params": {} }));
        }
        session(messages)
    }),
    ("deep JSON", |_, size| frame_message(&"[".repeat(size / 2))),
    ("JSON of small lists", |_, size| frame_message(&format!("[{}[]]", "[],".repeat(size / 3)))),
    ("small messages that are none", |_, size| frame_message("7").repeat(size / 24)),
    ("long headers", |_, size| format!("X: {}\r\n", "x".repeat(8_000)).repeat(size / 8_000).into_bytes()),
    ("many headers", |_, size| "X: x\r\n".repeat(size / 6).into_bytes()),
    ("announced lengths", |n, _| {
        format!("Content-Length: {}\r\n\r\n{{}}", (64 << 20) - n.up_to(9)).into_bytes()
    }),
    ("noise", |n, size| (0..size / 8).flat_map(|_| n.next().to_le_bytes()).collect()),
];

const FILE: &str = "file:///hostile.yaml";

fn hostile(numbers: &mut Numbers, size: usize) -> String {
    // Quotes and line ends are escaped in JSON, with two bytes.
    kinds::file(numbers.up_to(999) as usize, size).1
}

/// A valid file with many comments.
fn large(size: usize) -> String {
    GOOD.to_owned() + &"# a comment about the fabric\n".repeat(size / 29)
}

fn frame_message(text: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes()
}

fn bytes(messages: &[Value]) -> usize {
    // Estimate based on the assumption that all messages of a flood have about the same length.
    let first = messages.first().map_or(0, |message| message.to_string().len());
    first + messages.last().map_or(0, |message| message.to_string().len() + 25) * messages.len()
}

/// A session from its first message to its last.
fn session(messages: Vec<Value>) -> Vec<u8> {
    let start =
        json!({ "jsonrpc": "2.0", "id": "start", "method": "initialize", "params": { "capabilities": {} } });
    let ready = json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} });
    let end = json!({ "jsonrpc": "2.0", "id": "end", "method": "shutdown" });
    let exit = json!({ "jsonrpc": "2.0", "method": "exit" });
    let mut out = Vec::new();
    let close = [frame_message(&end.to_string()), frame_message(&exit.to_string())].concat();
    for message in [start, ready].into_iter().chain(messages) {
        let frame = frame_message(&message.to_string());
        if out.len() + frame.len() + close.len() > crate::surfaces::SIZE_MAX {
            break;
        }
        out.extend(frame);
    }
    [out, close].concat()
}

fn open(uri: &str, text: &str) -> Vec<Value> {
    let document = json!({ "uri": uri, "languageId": "yaml", "version": 1, "text": text });
    vec![
        json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": { "textDocument": document } }),
    ]
}

fn open_text(text: &str) -> Vec<Value> {
    open(FILE, text)
}

fn change_text(version: usize, changes: &Value) -> Value {
    let params = json!({ "textDocument": { "uri": FILE, "version": version }, "contentChanges": changes });
    json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params })
}

fn insertion(numbers: &mut Numbers) -> Value {
    let at = json!({ "line": numbers.up_to(5), "character": numbers.up_to(12) });
    let text = ["x", "\n", " ", "{", "#"][numbers.up_to(4) as usize];
    json!([{ "range": { "start": at, "end": at }, "text": text }])
}

fn question(method: &str, id: usize, line: u64) -> Value {
    let at = json!({ "line": line, "character": 3 });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": { "textDocument": { "uri": FILE }, "position": at } })
}

fn questions(numbers: &mut Numbers, size: usize, method: &str) -> Vec<u8> {
    let mut messages = open_text(&large(size / 2));
    for id in 0..size / 400 {
        messages.push(question(method, id, numbers.up_to(9)));
    }
    session(messages)
}

fn flood(numbers: &mut Numbers, size: usize, text: &str, change: impl Fn(&mut Numbers) -> Value) -> Vec<u8> {
    let mut messages = open_text(text);
    let mut left = size.saturating_sub(text.len());
    while left > 0 {
        let message = change_text(messages.len() + 1, &change(numbers));
        left = left.saturating_sub(message.to_string().len() + 24);
        messages.push(message);
    }
    session(messages)
}

struct Server(Place);

impl Reader for Server {
    fn read(&mut self, _: &str, input: &[u8]) -> Usage {
        self.0.write("messages", input);
        let words = [env!("CARGO_BIN_EXE_closc"), "lsp"];
        measure::command(&words.map(str::to_owned), &self.0, Some("messages"))
    }
}
