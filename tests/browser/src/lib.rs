//! A browser without a window, driven over its debugging pipes: it does what a person does, and says what it shows.
//!
//! In: pages as files, keys, expressions. Out: values, errors of the console. Invariants: no port and no network; the browser ends
//! with the test; nothing waits for a time that passes, but for an answer, and gives up when none comes.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// Somebody who may do nothing.
const NOBODY: u32 = 65_534;

/// After so long without an answer the browser is not expected to give one.
const PATIENCE: Duration = Duration::from_mins(5);

/// One browser at a time: each takes several processes and all of a core.
static ONE: Mutex<()> = Mutex::new(());

/// A browser with one page.
pub struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    session: String,
    next: u64,
    /// Errors and warnings of the console and of scripts, and what a policy forbade.
    pub complaints: Vec<String>,
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser; nothing where there is none, which is said aloud.
    pub fn start() -> Option<Browser> {
        let runs = |name: &&str| {
            Command::new(name)
                .arg("--version")
                .stderr(Stdio::null())
                .output()
                .is_ok_and(|out| out.status.success())
        };
        let Some(program) = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(runs) else {
            closc_skip::skip("there is no Chromium, so the page is not drawn");
            return None;
        };
        // A browser on a busy machine may give up before it answers.
        let found = (0..5).find_map(|_| Browser::try_start(program));
        if found.is_none() {
            closc_skip::skip("Chromium does not start here, so the page is not drawn");
        }
        found
    }

    fn try_start(program: &str) -> Option<Browser> {
        let turn = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().expect("a folder can be made");
        let [to, from] = ["to", "from"].map(|name| folder.path().join(name));
        for pipe in [&to, &from] {
            nix::unistd::mkfifo(pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe can be made");
        }
        let mut command = Command::new("sh");
        // The shell opens both pipes, so that this side is not kept waiting by a browser that does not start.
        command.args(["-c", "exec 3<\"$1\" 4>\"$2\"; shift 2; exec \"$@\"", "sh"]).args([&to, &from]);
        if nix::unistd::geteuid().is_root() {
            // As somebody who may do nothing, or it would not isolate its pages.
            for path in [folder.path(), &to, &from] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root gives away");
            }
            command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]);
        }
        command
            .args([program, "--headless=new", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}/profile", folder.path().display()))
            .arg("about:blank")
            .env("HOME", folder.path())
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().expect("a shell starts");
        let commands = File::options().write(true).open(&to).expect("the shell reads it");
        let answers = listen(File::open(&from).expect("the shell writes it"));
        let session = String::new();
        let complaints = Vec::new();
        let mut browser =
            Browser { child, commands, answers, session, next: 0, complaints, folder, _turn: turn };
        browser.attach().then_some(browser)
    }

    /// Attaches to the page that the browser starts with.
    fn attach(&mut self) -> bool {
        let Some(targets) = self.ask("Target.getTargets", &json!({})) else { return false };
        let pages = targets["targetInfos"].as_array().cloned().unwrap_or_default();
        let Some(page) = pages.iter().find(|target| target["type"] == "page") else { return false };
        let how = json!({ "targetId": page["targetId"], "flatten": true });
        let Some(attached) = self.ask("Target.attachToTarget", &how) else { return false };
        attached["sessionId"].as_str().unwrap_or_default().clone_into(&mut self.session);
        ["Page.enable", "Runtime.enable", "Log.enable"]
            .into_iter()
            .all(|verb| self.ask(verb, &json!({})).is_some())
    }

    /// Asks; nothing where the browser has gone.
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next += 1;
        let mut message = json!({ "id": self.next, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.commands.write_all(format!("{message}\0").as_bytes()).ok()?;
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).ok()?;
            if answer["id"] == self.next {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return Some(answer["result"].clone());
            }
            self.note(&answer);
        }
    }

    /// Does what has to work.
    pub fn send(&mut self, method: &str, params: &Value) -> Value {
        self.ask(method, params).unwrap_or_else(|| panic!("the browser ended, or {method} has no answer"))
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.complaints.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled"
                if ["error", "warning", "assert"].contains(&params["type"].as_str().unwrap_or("")) =>
            {
                self.complaints.push(params["args"].to_string());
            }
            "Log.entryAdded" => self.complaints.push(params["entry"].to_string()),
            _ => {}
        }
    }

    /// Opens a page that is a text; returns the milliseconds from its start until its load event had run, as the browser has
    /// them.
    pub fn open(&mut self, html: &str) -> f64 {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, html).expect("it can be written");
        if nix::unistd::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).expect("root gives away");
        }
        self.visit(&format!("file://{}", file.display()))
    }

    /// Opens the page of an address; returns what [`Browser::open`] does.
    pub fn visit(&mut self, url: &str) -> f64 {
        // From elsewhere, or another address of the same page would not load it again.
        self.send("Page.navigate", &json!({ "url": "about:blank" }));
        self.send("Page.navigate", &json!({ "url": url }));
        let loaded = "new Promise((done) => { const look = () => { \
            const t = performance.getEntriesByType('navigation')[0]; \
            if (location.protocol !== 'about:' && document.readyState === 'complete' && t && t.loadEventEnd > 0) done(t.loadEventEnd); \
            else setTimeout(look, 5); }; look(); })";
        self.value(loaded).as_f64().expect("a time")
    }

    /// Returns the value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let how = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.send("Runtime.evaluate", &how);
        let shown: String = expression.chars().take(400).collect();
        assert!(answer["exceptionDetails"].is_null(), "{shown}\n{}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Returns the text of an expression in the page.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression of the page is true: a change of place reaches the page afterwards.
    pub fn wait_for(&mut self, expression: &str) {
        self.value(&format!(
            "new Promise(done => {{ const look = () => ({expression}) ? done(true) : setTimeout(look, 10); look(); }})"
        ));
    }

    /// Returns what axe-core finds on the page that keeps people out, of the serious kinds.
    pub fn barriers(&mut self, axe: &str) -> Value {
        if self.value("typeof axe") == "undefined" {
            self.value(&format!("{axe}; 0"));
        }
        self.value(
            "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations \
            .filter((one) => ['serious', 'critical'].includes(one.impact)) \
            .map((one) => one.id + ': ' + one.nodes.slice(0, 3).map((node) => node.target + ' ' + node.failureSummary).join('; ')))",
        )
    }

    /// Types text where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.send("Input.insertText", &json!({ "text": text }));
    }

    /// Presses a key such as `Enter`, `Tab`, `Escape` or `ArrowRight`.
    pub fn press(&mut self, name: &str) {
        let code = match name {
            "Enter" => 13,
            "Tab" => 9,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => u32::from(other.chars().next().unwrap_or(' ').to_ascii_uppercase()),
        };
        let mut down =
            json!({ "type": "rawKeyDown", "key": name, "code": name, "windowsVirtualKeyCode": code });
        if name == "Enter" {
            down["type"] = json!("keyDown");
            down["text"] = json!("\r");
        }
        self.send("Input.dispatchKeyEvent", &down);
        down["type"] = json!("keyUp");
        self.send("Input.dispatchKeyEvent", &down);
    }

    /// Sets the width of the page, whether it is dark, and whether it is printed.
    pub fn look(&mut self, width: u32, dark: bool, print: bool) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.send("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "media": if print { "print" } else { "screen" },
            "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.send("Emulation.setEmulatedMedia", &media);
    }

    /// Keeps a picture where `CLOSC_PICTURES` names a folder.
    pub fn keep(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("CLOSC_PICTURES") {
            let file = std::path::Path::new(&folder).join(format!("{name}.png"));
            std::fs::write(file, self.picture()).expect("the folder is there");
        }
    }

    /// Returns a picture of the whole page as PNG.
    fn picture(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let how = json!({ "format": "png", "captureBeyondViewport": true });
        let shot = self.send("Page.captureScreenshot", &how);
        let data = shot["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(data).expect("it is base64")
    }
}

/// Returns axe-core, which is not part of the tree; where nobody has it, a test says that nobody looks.
pub fn axe() -> Option<String> {
    let Some(file) = std::env::var_os("CLOSC_AXE") else {
        closc_skip::skip("`CLOSC_AXE` names no axe.min.js of axe-core, so accessibility is not tested");
        return None;
    };
    Some(std::fs::read_to_string(file).expect("`CLOSC_AXE` names a file"))
}

/// Reads messages, each of which ends in a zero, until the browser ends.
fn listen(pipe: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(pipe).split(0) {
            let Ok(message) = message else { return };
            let Ok(value) = serde_json::from_slice(&message) else { return };
            if sender.send(value).is_err() {
                return;
            }
        }
    });
    receiver
}

impl Drop for Browser {
    fn drop(&mut self) {
        let group = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        let _ = self.child.wait();
    }
}
