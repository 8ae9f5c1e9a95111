//! A client of the server: the real command, talked to as an editor does.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// The document of all tests.
pub(crate) const URI: &str = "file:///test.mlir";

/// A running server.
pub(crate) struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: i32,
    version: i32,
    /// The text of the document, to read places in it.
    text: String,
}

impl Client {
    /// Starts a server, without a word to it.
    pub(crate) fn silent() -> Client {
        let mut child = Command::new(env!("CARGO_BIN_EXE_loomir"))
            .arg("lsp")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Client { child, input, output, next: 0, version: 0, text: String::new() }
    }

    /// Starts a server that may show disabled actions.
    pub(crate) fn start() -> Client {
        let mut client = Client::silent();
        let capabilities = json!({ "textDocument": { "codeAction": { "disabledSupport": true } } });
        client.request("initialize", &json!({ "capabilities": capabilities }));
        client.notify("initialized", &json!({}));
        client
    }

    /// Starts a server with a document. Returns what is wrong with the document.
    pub(crate) fn open(text: &str) -> (Client, String) {
        let mut client = Client::start();
        client.text = text.to_owned();
        let document = json!({ "uri": URI, "languageId": "mlir", "version": 0, "text": text });
        client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        let found = client.diagnostics();
        (client, found)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it is open");
        input.write_all(bytes).and_then(|()| input.flush()).expect("the server reads");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.write(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Reads the next message.
    pub(crate) fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).expect("a line");
            assert!(read > 0, "the server has ended");
            match line.trim().split_once(": ") {
                Some((_, value)) => length = value.parse().expect("a length"),
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.output.read_exact(&mut bytes).expect("a message");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    /// Asks and waits for the answer: the result, or the error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.next, "method": method, "params": params }));
        loop {
            let answer = self.read();
            if answer["id"] == self.next {
                return answer.get("result").cloned().unwrap_or_else(|| answer["error"].clone());
            }
        }
    }

    /// Asks about a place of the document, which is that of a text, or of its part behind `|`.
    pub(crate) fn at(&mut self, method: &str, place: &str) -> Value {
        let position = self.position(place);
        let context = json!({ "includeDeclaration": true, "diagnostics": [], "triggerKind": 1 });
        let range = json!({ "start": position, "end": position });
        let document = json!({ "uri": URI });
        self.request(
            &format!("textDocument/{method}"),
            &json!({ "textDocument": document, "position": position, "range": range, "context": context }),
        )
    }

    /// Asks about the whole document.
    pub(crate) fn about(&mut self, method: &str) -> Value {
        let range =
            json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99999, "character": 0 } });
        let options = json!({ "tabSize": 2, "insertSpaces": true });
        let params = json!({ "textDocument": { "uri": URI }, "range": range, "options": options });
        self.request(&format!("textDocument/{method}"), &params)
    }

    fn position(&self, place: &str) -> Value {
        let behind = place.find('|').unwrap_or(0);
        let offset = self.text.find(&place.replacen('|', "", 1)).expect("the place is there") + behind;
        let before = &self.text[..offset];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        json!({ "line": before.matches('\n').count(), "character": before[start..].encode_utf16().count() })
    }

    /// Replaces the first occurrence of a text. Returns what is wrong then.
    pub(crate) fn replace(&mut self, old: &str, new: &str) -> String {
        let (start, end) = (self.position(old), self.position(&format!("{old}|")));
        self.version += 1;
        self.text = self.text.replacen(old, new, 1);
        let change = json!({ "range": { "start": start, "end": end }, "text": new });
        let document = json!({ "uri": URI, "version": self.version });
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": [change] }),
        );
        self.diagnostics()
    }

    /// Waits for the diagnostics of the present version: a line each.
    fn diagnostics(&mut self) -> String {
        loop {
            let message = self.read();
            let params = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics" && params["version"] == self.version {
                let all = params["diagnostics"].as_array().expect("a list");
                let line = |own: &Value| {
                    format!("{}: {}\n", shown(&own["range"]), own["message"].as_str().unwrap_or_default())
                };
                return all.iter().map(line).collect();
            }
        }
    }

    /// Ends the server as an editor does. Returns its exit status.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.request("shutdown", &Value::Null);
        self.notify("exit", &Value::Null);
        self.close()
    }

    /// Ends the input. Returns the exit status.
    pub(crate) fn close(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().expect("the server ends").code()
    }

    /// Applies edits to the document's text.
    pub(crate) fn edited(&self, edits: &Value) -> String {
        let mut text = self.text.clone();
        let mut all: Vec<&Value> = edits.as_array().expect("a list").iter().collect();
        all.sort_by_key(|own| {
            (own["range"]["start"]["line"].as_u64(), own["range"]["start"]["character"].as_u64())
        });
        for own in all.into_iter().rev() {
            let offset = |place: &Value| {
                let line = place["line"].as_u64().expect("a line") as usize;
                let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
                start + place["character"].as_u64().expect("a column") as usize
            };
            let (start, end) = (offset(&own["range"]["start"]), offset(&own["range"]["end"]));
            text.replace_range(start..end, own["newText"].as_str().expect("a text"));
        }
        text
    }
}

/// A range as `line:column-line:column`, from 1.
pub(crate) fn shown(range: &Value) -> String {
    let place = |own: &Value| {
        let number = |key: &str| own[key].as_u64().unwrap_or_default() + 1;
        format!("{}:{}", number("line"), number("character"))
    };
    format!("{}-{}", place(&range["start"]), place(&range["end"]))
}

impl Drop for Client {
    fn drop(&mut self) {
        // A server that a failed test leaves.
        self.input = None;
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
