//! The page in Chromium: what a reader sees after clicks and keys is what the remarks say.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::{PROGRAM, page, peers, remarks, scratch};

/// A browser that shows one page, driven through the DevTools protocol.
struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
}

impl Browser {
    /// Opens a page of a file.
    fn open(program: &Path, file: &Path) -> Browser {
        // The protocol has the descriptors 3 and 4. Each message ends with a zero.
        let script = "exec \"$0\" --headless --no-sandbox --disable-gpu --remote-debugging-pipe \
                      --user-data-dir=\"$1\" \"$2\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>/dev/null";
        let profile = scratch(&format!("chromium-{}", std::process::id()));
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
        browser.send("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        // Scripts run in the page that is there at the time, which may be the one before.
        let is_loaded = "document.readyState === 'complete' && document.querySelector('.decision') !== null";
        for _ in 0..1000 {
            if browser.run(is_loaded) == true {
                return browser;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("the page does not load");
    }

    fn send(&mut self, method: &str, parameters: Value) -> Value {
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
    fn run(&mut self, script: &str) -> Value {
        let how = json!({ "expression": script, "awaitPromise": true, "returnByValue": true });
        let done = self.send("Runtime.evaluate", how);
        assert!(done["exceptionDetails"].is_null(), "{done}");
        done["result"]["value"].clone()
    }

    fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "text": if kind == "keyDown" { key } else { "" } });
            self.send("Input.dispatchKeyEvent", event);
        }
    }

    /// Returns the shown texts of the selected decision. Waits until this one is selected.
    fn selected(&mut self, id: &str) -> Value {
        let script = "(async () => {
            const own = () => document.querySelector('.card.selected');
            for (let turn = 0; turn < 200 && (!own() || own().id !== ID); turn++) {
              await new Promise(done => setTimeout(done, 10));
            }
            const texts = selector => [...own().querySelectorAll(selector)].map(each => each.innerText);
            return {
              id: own().id,
              current: document.querySelector('[aria-current]').hash,
              said: own().querySelector('.said').innerText,
              notes: texts('.note'),
              conditions: texts('.tests li code'),
              why: texts('.why p'),
              lit: [...document.querySelectorAll('.lit')].length,
              styled: getComputedStyle(own()).borderLeftWidth,
            };
          })()";
        self.run(&script.replace("ID", &format!("'{id}'")))
    }

    fn close(mut self) {
        self.session = None;
        self.send("Browser.close", json!({}));
        self.child.wait().expect("the browser ends");
    }
}

#[test]
fn a_reader_sees_what_the_remarks_say() {
    let Some(program) = peers::chromium() else { return };
    let (source, text) = page("browser.mlir", PROGRAM);
    let expected = remarks(&source);
    let file = scratch("browser.html");
    std::fs::write(&file, text).expect("the file is written");
    let mut browser = Browser::open(&program, &file);
    for (at, remark) in expected.iter().enumerate() {
        let id = format!("r{at}");
        browser.run(&format!("document.querySelector('.decision[href=\"#{id}\"]').click()"));
        let shown = browser.selected(&id);
        assert_eq!(shown["current"], format!("#{id}"));
        let message = remark["message"].as_str().expect("a text").split_once("]: ").expect("a function").1;
        assert_eq!(shown["said"], message);
        let notes: Vec<&Value> =
            remark["notes"].as_array().expect("notes").iter().map(|note| &note["message"]).collect();
        assert_eq!(shown["notes"].as_array().expect("texts").iter().collect::<Vec<_>>(), notes);
        // Styles and scripts are those that the policy lets in.
        assert_eq!(shown["styled"], "4px");
        match remark["name"].as_str() {
            Some("InvalidDependencies") => {
                let fault = &remark["args"]["faults"][0];
                let why = shown["why"][0].as_str().expect("a reason");
                for side in ["first", "second"] {
                    let iteration = format!("Iteration {} of the {side} loop", fault[side]["iteration"][0]);
                    assert!(why.contains(&iteration), "{why}");
                }
            }
            Some("Versioned") => {
                assert_eq!(shown["conditions"], json!(["%x and %z", "%y and %z"]));
                assert_eq!(remark["args"]["apart"], json!(["#0 and #2", "#1 and #2"]));
            }
            // Both loops are lit in the tree before, and the fused one in the tree after.
            _ => assert!(shown["lit"].as_u64() >= Some(3), "{shown}"),
        }
    }
    browser.press("k");
    assert_eq!(browser.selected("r2")["current"], "#r2");
    browser.press("j");
    assert_eq!(browser.selected("r3")["current"], "#r3");
    browser.press("/");
    assert_eq!(browser.run("document.activeElement.id"), "search");
    let found = "document.getElementById('search').value = 'prevent';
        document.getElementById('search').dispatchEvent(new Event('input'));
        [...document.querySelectorAll('.decision')].filter(own => !own.parentElement.hidden).map(own => own.hash)";
    assert_eq!(browser.run(found), json!(["#r1"]));
    browser.close();
}
