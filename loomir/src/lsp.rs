//! The language server: editors ask about `.mlir` and `.ll` files while they are written.
//!
//! One thread reads messages and another answers them in order. A change marks a document; its
//! index is made when something asks, or when no message waits, and then diagnostics are sent. So a
//! burst of changes is read once. Nothing is written anywhere but to the client.
//!
//! | module | holds |
//! | --- | --- |
//! | `transport` | frames of the protocol, and what to do with malformed ones |
//! | `lines`, `document` | text, places, changes |
//! | `index`, `loops`, `analysis` | what is known of a version: names, operations, loops |
//! | `diagnostics` … `actions` | one kind of request each |
//! | `fusion` | the edit that fuses two loops |
//!
//! **Invariant.** No message ends the server but `exit`, and the end of its input. A request that
//! fails has an error as its answer.
//!
//! # Limits
//!
//! - Formatting changes blanks alone. A text that cannot be read stays as it is.
//! - Fusing two loops writes the lines that change anew: comments behind code in them go. A
//!   function of blocks gets new names of values and blocks.
//! - Requests are answered one after the other; a cancelled one is answered too.

use std::io::{BufRead, BufReader, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use loomir_ir::Context;
use loomir_ir::text::ParseOptions;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use lsp_types::{
    ClientCapabilities, DidChangeTextDocumentParams, DidCloseTextDocumentParams, DidOpenTextDocumentParams,
    PublishDiagnosticsParams, Uri,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::AliasMode;
use actions::ShowsDisabled;
use document::Document;
use index::Settings;
use lines::Encoding;
use transport::Incoming;

mod actions;
mod analysis;
mod capabilities;
mod completion;
mod diagnostics;
mod document;
mod folding;
mod formatting;
mod fusion;
mod hints;
mod hover;
mod index;
mod lines;
mod loops;
mod navigation;
mod symbols;
mod transport;

/// The options of the server.
pub(crate) struct Options {
    /// True if operations, types and attributes that nobody registered are no errors.
    pub(crate) allow_unregistered: bool,
    /// The alias assumption about memrefs of which nothing is known.
    pub(crate) alias: AliasMode,
}

/// Answers messages until the client ends. Returns the exit status: 0 behind a request to shut
/// down, as the protocol says, otherwise 1.
pub(crate) fn serve(
    ctx: &Context,
    options: &Options,
    input: impl Read + Send + 'static,
    output: &mut dyn Write,
) -> u8 {
    let (sender, receiver) = channel();
    // Ends with its input, or when nobody receives.
    std::thread::spawn(move || {
        let mut input: Box<dyn BufRead> = Box::new(BufReader::new(input));
        while let Some(incoming) = transport::read(&mut *input) {
            if sender.send(incoming).is_err() {
                return;
            }
        }
    });
    let parse =
        ParseOptions { allow_unregistered_dialects: options.allow_unregistered, ..ParseOptions::default() };
    let settings = Settings { ctx: ctx.clone(), options: parse, alias: options.alias };
    let mut server = Server {
        settings,
        output,
        documents: Vec::new(),
        state: State::New,
        encoding: Encoding::default(),
        shows_disabled: ShowsDisabled(false),
        is_open: true,
    };
    server.run(&receiver)
}

/// The stages of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

struct Server<'o> {
    settings: Settings,
    output: &'o mut dyn Write,
    documents: Vec<Open>,
    state: State,
    encoding: Encoding,
    shows_disabled: ShowsDisabled,
    /// False if nobody reads what is written.
    is_open: bool,
}

struct Open {
    uri: Uri,
    document: Document,
    /// True if the client has the diagnostics of this version.
    is_shown: bool,
}

/// An error as the answer to a request.
struct Refused(ErrorCode, String);

impl Server<'_> {
    fn run(&mut self, receiver: &Receiver<Incoming>) -> u8 {
        while self.is_open {
            let incoming = match receiver.try_recv() {
                Ok(incoming) => incoming,
                Err(TryRecvError::Disconnected) => return 1,
                Err(TryRecvError::Empty) => {
                    self.show_diagnostics();
                    match receiver.recv() {
                        Ok(incoming) => incoming,
                        Err(_) => return 1,
                    }
                }
            };
            match incoming {
                Incoming::Malformed(answer) => self.send(&answer),
                Incoming::Message(Message::Request(request)) => self.request(request),
                Incoming::Message(Message::Notification(own)) if own.method == "exit" => {
                    return u8::from(self.state != State::ShutDown);
                }
                Incoming::Message(Message::Notification(own)) => self.notification(own),
                Incoming::Message(Message::Response(_)) => {}
            }
        }
        1
    }

    fn send(&mut self, message: &str) {
        self.is_open &= transport::write(self.output, message);
    }

    /// Sends the diagnostics of all versions whose diagnostics the client does not have.
    fn show_diagnostics(&mut self) {
        for at in 0..self.documents.len() {
            let Open { uri, document, is_shown } = &mut self.documents[at];
            if std::mem::replace(is_shown, true) {
                continue;
            }
            let settings = &self.settings;
            let found = catch_unwind(AssertUnwindSafe(|| diagnostics::of(settings, document, uri)));
            if let Ok(found) = found {
                self.publish(&found);
            }
        }
    }

    fn publish(&mut self, found: &PublishDiagnosticsParams) {
        let method = "textDocument/publishDiagnostics";
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": found }).to_string());
    }

    fn request(&mut self, Request { id, method, params }: Request) {
        // A defect of one request must not take the others with it.
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer(&method, params)));
        let defect = || Refused(ErrorCode::InternalError, format!("'{method}' failed: this is a defect"));
        let answer = answer.unwrap_or_else(|_| Err(defect()));
        self.respond(&id, answer);
    }

    fn respond(&mut self, id: &RequestId, answer: Result<String, Refused>) {
        let id = json!(id);
        let (key, value) = match answer {
            Ok(result) => ("result", result),
            Err(Refused(code, message)) => {
                ("error", json!({ "code": code as i32, "message": message }).to_string())
            }
        };
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"{key}":{value}}}"#));
    }

    /// Returns the answer to a request, as JSON.
    fn answer(&mut self, method: &str, params: Value) -> Result<String, Refused> {
        match (self.state, method) {
            (State::New, "initialize") => return Ok(self.initialize(params)?.to_string()),
            (State::New, _) => {
                return Err(Refused(ErrorCode::ServerNotInitialized, "'initialize' comes first".to_owned()));
            }
            (State::ShutDown, _) => {
                return Err(Refused(ErrorCode::InvalidRequest, "the server is shut down".to_owned()));
            }
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                return Ok(Value::Null.to_string());
            }
            (State::Running, _) => {}
        }
        let disabled = self.shows_disabled;
        match method {
            "textDocument/hover" => self.ask(params, hover::answer),
            "textDocument/definition" => self.ask(params, navigation::definition),
            "textDocument/references" => self.ask(params, navigation::references),
            "textDocument/documentHighlight" => self.ask(params, navigation::highlights),
            "textDocument/completion" => self.ask(params, completion::answer),
            "textDocument/inlayHint" => self.ask(params, hints::answer),
            "textDocument/codeAction" => self.ask(params, |settings, document, params| {
                actions::answer(settings, document, params, disabled)
            }),
            "textDocument/formatting" => {
                self.ask(params, |settings, document, _: &Value| formatting::answer(settings, document))
            }
            "textDocument/foldingRange" => {
                self.ask(params, |settings, document, _: &Value| folding::answer(settings, document))
            }
            "textDocument/documentSymbol" => {
                self.ask(params, |settings, document, _: &Value| symbols::answer(settings, document))
            }
            _ => {
                let text = format!("'{method}' is not a request that is answered here");
                Err(Refused(ErrorCode::MethodNotFound, text))
            }
        }
    }

    /// Answers a request about a document.
    fn ask<P: DeserializeOwned, R: serde::Serialize>(
        &mut self,
        params: Value,
        answer: impl FnOnce(&Settings, &mut Document, &P) -> R,
    ) -> Result<String, Refused> {
        let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).unwrap_or_default();
        let at = self.documents.iter().position(|own| own.uri.as_str() == uri);
        let unknown = format!("the document '{uri}' is not open");
        let params: P = parsed(params)?;
        let at = at.ok_or(Refused(ErrorCode::InvalidParams, unknown))?;
        let document = &mut self.documents[at].document;
        let text = serde_json::to_string(&answer(&self.settings, document, &params));
        text.map_err(|why| Refused(ErrorCode::InternalError, why.to_string()))
    }

    fn initialize(&mut self, params: Value) -> Result<Value, Refused> {
        let client: ClientCapabilities = match params.get("capabilities") {
            Some(own) => parsed(own.clone())?,
            None => ClientCapabilities::default(),
        };
        self.encoding = capabilities::encoding(&client);
        self.shows_disabled = capabilities::shows_disabled(&client);
        self.state = State::Running;
        Ok(capabilities::of_server(self.encoding))
    }

    /// Takes in a notification. One that makes no sense is ignored, as the protocol says.
    fn notification(&mut self, Notification { method, params }: Notification) {
        if self.state != State::Running {
            return;
        }
        match &*method {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: own }) = parsed(params) else { return };
                self.documents.retain(|known| known.uri != own.uri);
                let document = Document::new(own.text, own.version, self.encoding);
                self.documents.push(Open { uri: own.uri, document, is_shown: false });
            }
            "textDocument/didChange" => {
                let Ok(DidChangeTextDocumentParams { text_document: own, content_changes }) = parsed(params)
                else {
                    return;
                };
                let known = self.documents.iter_mut().find(|known| known.uri == own.uri);
                if let Some(known) = known {
                    known.document.change(own.version, content_changes);
                    known.is_shown = false;
                }
            }
            "textDocument/didClose" => {
                let Ok(DidCloseTextDocumentParams { text_document: own }) = parsed(params) else { return };
                self.documents.retain(|known| known.uri != own.uri);
                self.publish(&PublishDiagnosticsParams::new(own.uri, Vec::new(), None));
            }
            _ => {}
        }
    }
}

/// Reads parameters.
fn parsed<P: DeserializeOwned>(params: Value) -> Result<P, Refused> {
    serde_json::from_value(params).map_err(|why| Refused(ErrorCode::InvalidParams, why.to_string()))
}
