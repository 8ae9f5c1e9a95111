//! Chromium without a window, driven through the DevTools protocol. The benchmarks use it too.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A browser that shows one page, driven through the DevTools protocol.
pub struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
}

impl Browser {
    /// Starts a browser, with a folder for what it keeps, and opens a page of a file.
    pub fn open(program: &Path, profile: &Path, file: &Path) -> Browser {
        // The protocol has the descriptors 3 and 4. Each message ends with a zero.
        let script = "exec \"$0\" --headless --no-sandbox --disable-gpu --remote-debugging-pipe \
                      --user-data-dir=\"$1\" \"$2\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .arg(program)
            .arg(profile)
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a browser");
        let commands = child.stdin.take().expect("a pipe");
        let answers = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Browser { child, commands, answers, session: None, number: 0 };
        let targets = browser.send("Target.getTargets", json!({}));
        let targets = targets["targetInfos"].as_array().expect("targets");
        let page = targets.iter().find(|own| own["type"] == "page").expect("a page");
        let attach = json!({ "targetId": page["targetId"], "flatten": true });
        let attached = browser.send("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        browser.show(file);
        browser
    }

    /// Opens another page, and waits until it is loaded.
    pub fn show(&mut self, file: &Path) {
        self.send("Page.navigate", json!({ "url": "about:blank" }));
        self.send("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        // Scripts run in the page that is there at the time, which may be the one before.
        let is_loaded = "document.readyState === 'complete' && location.protocol === 'file:'";
        for _ in 0..3000 {
            if self.run(is_loaded) == true {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the page does not load");
    }

    /// Sends a command of the protocol, and returns its result.
    pub fn send(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).expect("the browser reads");
        loop {
            let mut answer = Vec::new();
            self.answers.read_until(0, &mut answer).expect("the browser answers");
            assert_eq!(answer.pop(), Some(0), "the browser ended");
            let answer: Value = serde_json::from_slice(&answer).expect("JSON");
            if answer["id"] == self.number {
                return answer["result"].clone();
            }
        }
    }

    /// Runs a script in the page, and returns its value.
    pub fn run(&mut self, script: &str) -> Value {
        let how = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let done = self.send("Runtime.evaluate", how);
        assert!(done["exceptionDetails"].is_null(), "{done}");
        done["result"]["value"].clone()
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        // Keys without a sign are known by their codes.
        let code = if key == "Tab" { 9 } else { 0 };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" && code == 0 { key } else { "" };
            let event = json!({ "type": kind, "key": key, "text": text, "windowsVirtualKeyCode": code });
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    /// Ends the browser.
    pub fn close(mut self) {
        self.session = None;
        self.send("Browser.close", json!({}));
        self.child.wait().expect("the browser ends");
    }
}
