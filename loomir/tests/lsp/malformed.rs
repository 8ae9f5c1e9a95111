//! Clients with defects: no message but `exit` ends the server.

use serde_json::{Value, json};

use crate::client::{Client, URI};

#[test]
fn malformed_messages_have_errors_as_answers() {
    let mut client = Client::start();
    let frames: [&[u8]; 5] = [
        b"Content-Length: 3\r\n\r\n{{{",
        b"Content-Length: 2\r\n\r\n\xff\xfe",
        b"Content-Length: 10\r\n\r\n{\"id\":\"a\"}",
        b"junk: 1\r\n\r\nContent-Length: 2\r\n\r\n[]",
        b"Content-Length: 4\r\nContent-Type: x\r\n\r\nnull",
    ];
    for frame in frames {
        client.write(frame);
        let code = client.read()["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32700 | -32600)), "{code:?}");
    }
    assert_eq!(client.end(), Some(0));
}

#[test]
fn wrong_requests_have_errors_as_answers() {
    let mut client = Client::silent();
    let early = client.request("textDocument/hover", &json!({}));
    assert_eq!(early["code"], -32002);
    client.request("initialize", &json!({ "capabilities": {} }));
    let document = json!({ "uri": URI, "languageId": "mlir", "version": 1, "text": "func.func @f()" });
    client.notify("textDocument/didOpen", &json!({ "textDocument": document }));
    let far = json!({ "line": u32::MAX, "character": u32::MAX });
    for method in
        ["hover", "definition", "references", "completion", "codeAction", "inlayHint", "documentHighlight"]
    {
        let method = format!("textDocument/{method}");
        for params in
            [Value::Null, json!([]), json!({ "textDocument": { "uri": URI } }), json!({ "textDocument": 3 })]
        {
            assert_eq!(client.request(&method, &params)["code"], -32602, "{method} {params}");
        }
        let range = json!({ "start": far, "end": { "line": 0, "character": 0 } });
        let context = json!({ "includeDeclaration": false, "diagnostics": [], "triggerKind": 1 });
        let params =
            json!({ "textDocument": { "uri": URI }, "position": far, "range": range, "context": context });
        assert!(client.request(&method, &params).get("code").is_none(), "{method}");
    }
    assert_eq!(client.request("textDocument/unknown", &json!({}))["code"], -32601);
    let other = json!({ "textDocument": { "uri": "file:///other" }, "position": far });
    assert_eq!(client.request("textDocument/hover", &other)["code"], -32602);
    assert_eq!(client.end(), Some(0));
}

#[test]
fn wrong_notifications_are_ignored() {
    let mut client = Client::start();
    for method in ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose", "$/unknown"] {
        for params in [Value::Null, json!({}), json!({ "textDocument": { "uri": 1 } })] {
            client.notify(method, &params);
        }
    }
    let change = json!({ "text": "x", "range": { "start": { "line": 9, "character": 9 }, "end": { "line": 0, "character": 0 } } });
    let document = json!({ "uri": URI, "version": 1 });
    client.notify("textDocument/didChange", &json!({ "textDocument": document, "contentChanges": [change] }));
    assert_eq!(client.end(), Some(0));
}

#[test]
fn the_end_of_the_input_ends_the_server() {
    let ended = |bytes: &[u8]| {
        let mut client = Client::silent();
        client.write(bytes);
        client.close()
    };
    assert_eq!(ended(b"Content-Length: 100\r\n\r\n{"), Some(1));
    assert_eq!(ended(b"Content-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"exit\"}"), Some(1));
}
