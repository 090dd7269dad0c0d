//! A headless browser, driven over its debugging pipes: it types, presses keys and reads the page.
//!
//! In: pages as files, keys, expressions. Out: values, and errors of the console. Invariants: no port and no network.
//! The browser ends with the test. Delays are not fixed: each step waits for an answer, with a timeout.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// User id of the unprivileged user `nobody`.
const NOBODY: u32 = 65_534;

/// Timeout for an answer of the browser.
const PATIENCE: Duration = Duration::from_mins(5);

/// Only one browser runs at a time: each one takes several processes and a complete core.
static ONE: Mutex<()> = Mutex::new(());

/// A browser with a single page.
pub struct Browser {
    child: Child,
    commands: File,
    answers: Receiver<Value>,
    session: String,
    next: u64,
    /// Errors and warnings of the console and of scripts, and violations of the content security policy.
    pub complaints: Vec<String>,
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser. Without Chromium, reports the test as skipped and returns `None`.
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
        // On a busy machine the browser may give up before it answers.
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
        // The shell opens both pipes, so a browser that does not start cannot block this process.
        command.args(["-c", "exec 3<\"$1\" 4>\"$2\"; shift 2; exec \"$@\"", "sh"]).args([&to, &from]);
        if nix::unistd::geteuid().is_root() {
            // Chromium does not start its sandbox as root, so it runs as an unprivileged user.
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

    /// Attaches to the page that the browser opens at start.
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

    /// Sends a command and returns its result; `None` if the browser has exited.
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

    /// Sends a command that must succeed.
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

    /// Opens a page from HTML text. Returns the milliseconds until its load event has run, as measured by the browser.
    pub fn open(&mut self, html: &str) -> f64 {
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, html).expect("it can be written");
        if nix::unistd::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(NOBODY), Some(NOBODY)).expect("root gives away");
        }
        self.visit(&format!("file://{}", file.display()))
    }

    /// Opens a page by its address. Returns the same as [`Browser::open`].
    pub fn visit(&mut self, url: &str) -> f64 {
        // Leave the page first: changing only the fragment of an address does not load it again.
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

    /// Returns the value of an expression in the page as text.
    pub fn text(&mut self, expression: &str) -> String {
        self.value(expression).as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression of the page is true, because a new address takes effect in the page only later.
    pub fn wait_for(&mut self, expression: &str) {
        self.value(&format!(
            "new Promise(done => {{ const look = () => ({expression}) ? done(true) : setTimeout(look, 10); look(); }})"
        ));
    }

    /// Returns the serious accessibility problems that axe-core finds on the page.
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

    /// Sets the width, dark mode and print mode of the page.
    pub fn look(&mut self, width: u32, dark: bool, print: bool) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.send("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({ "media": if print { "print" } else { "screen" },
            "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.send("Emulation.setEmulatedMedia", &media);
    }

    /// Saves a screenshot if `CLOSC_PICTURES` names a folder.
    pub fn keep(&mut self, name: &str) {
        if let Some(folder) = std::env::var_os("CLOSC_PICTURES") {
            let file = std::path::Path::new(&folder).join(format!("{name}.png"));
            std::fs::write(file, self.picture()).expect("the folder is there");
        }
    }

    /// Returns a screenshot of the complete page as PNG.
    fn picture(&mut self) -> Vec<u8> {
        use base64::Engine as _;
        let how = json!({ "format": "png", "captureBeyondViewport": true });
        let shot = self.send("Page.captureScreenshot", &how);
        let data = shot["data"].as_str().unwrap_or_default();
        base64::engine::general_purpose::STANDARD.decode(data).expect("it is base64")
    }
}

/// Returns axe-core, which is not part of the repository. If it is missing, reports that accessibility is not tested.
pub fn axe() -> Option<String> {
    let Some(file) = std::env::var_os("CLOSC_AXE") else {
        closc_skip::skip(
            "`CLOSC_AXE` is not set; expected axe.min.js of axe-core, so accessibility is not tested",
        );
        return None;
    };
    Some(std::fs::read_to_string(file).expect("`CLOSC_AXE` names a file"))
}

/// Reads messages, each ended by a zero byte, until the browser exits.
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
