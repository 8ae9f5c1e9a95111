//! The frames of the protocol: a header with the length, then JSON.
//!
//! A client with a defect must not end the server. Text that is no message is answered with an
//! error, and reading goes on behind the frame. Where even the length is unknown, reading goes on
//! at the next header that has one.

use std::io::{BufRead, Read, Write};

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};

/// The longest message that is read, in bytes.
const MAX_MESSAGE: usize = 256 << 20;

/// The longest line of a header, in bytes.
const MAX_HEADER: u64 = 4096;

/// Something that came from the client.
pub(super) enum Incoming {
    /// A message.
    Message(Message),
    /// Something else: the answer to it, as JSON.
    Malformed(String),
}

/// Reads the next message. `None` at the end of the input.
pub(super) fn read(input: &mut dyn BufRead) -> Option<Incoming> {
    let length = length(input)?;
    if length > MAX_MESSAGE {
        let skipped = std::io::copy(&mut input.take(length as u64), &mut std::io::sink());
        let text = format!("the message has {length} bytes, and at most {MAX_MESSAGE} are read");
        return skipped
            .ok()
            .map(|_| Incoming::Malformed(error(Value::Null, ErrorCode::InvalidRequest, &text)));
    }
    let mut bytes = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut bytes).ok()?;
    if read < length {
        return None;
    }
    Some(message(&bytes))
}

/// Returns the length of the next message, as its header says. Lines without one are skipped.
fn length(input: &mut dyn BufRead) -> Option<usize> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.take(MAX_HEADER).read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            match length {
                Some(length) => return Some(length),
                None => continue,
            }
        }
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().ok();
        }
    }
}

/// Returns the message of a frame.
fn message(bytes: &[u8]) -> Incoming {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(why) => {
            let text = format!("the message is not JSON: {why}");
            return Incoming::Malformed(error(Value::Null, ErrorCode::ParseError, &text));
        }
    };
    let id = value.get("id").filter(|id| id.is_i64() || id.is_string()).cloned();
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => {
            let text = "the message is no request, response or notification of JSON-RPC";
            Incoming::Malformed(error(id.unwrap_or_default(), ErrorCode::InvalidRequest, text))
        }
    }
}

fn error(id: Value, code: ErrorCode, message: &str) -> String {
    let error = json!({ "code": code as i32, "message": message });
    json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// Writes a message, which is JSON. False if nobody reads.
pub(super) fn write(output: &mut dyn Write, text: &str) -> bool {
    let frame = format!("Content-Length: {}\r\n\r\n{text}", text.len());
    output.write_all(frame.as_bytes()).and_then(|()| output.flush()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_goes_on_behind_what_is_no_message() {
        let frame = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let good = r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#;
        let mut bytes = format!("junk\r\n\r\nContent-Length: many\r\n\r\n{}", frame("{")).into_bytes();
        bytes.extend(frame(r#"{"id":7}"#).bytes());
        bytes.extend(b"Content-Length: 2\r\n\r\n\xff\xff");
        bytes.extend(frame(good).bytes());
        bytes.extend(b"Content-Length: 99\r\n\r\n{");
        let mut input = &bytes[..];
        let mut seen = Vec::new();
        while let Some(incoming) = read(&mut input) {
            seen.push(match incoming {
                Incoming::Message(_) => "message".to_owned(),
                Incoming::Malformed(answer) => {
                    let answer: Value = serde_json::from_str(&answer).expect("JSON");
                    format!("{} {}", answer["id"], answer["error"]["code"])
                }
            });
        }
        assert_eq!(seen, ["null -32700", "7 -32600", "null -32700", "message"]);
    }
}
