//! The page in Chromium: what a reader sees after clicks and keys is what the remarks say.

use serde_json::{Value, json};

use super::chromium::Browser;
use super::{PROGRAM, page, peers, remarks, scratch};

/// Returns the shown texts of the selected decision. Waits until this one is selected.
fn selected(browser: &mut Browser, id: &str) -> Value {
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
    browser.run(&script.replace("ID", &format!("'{id}'")))
}

#[test]
fn a_reader_sees_what_the_remarks_say() {
    let Some(program) = peers::chromium() else { return };
    let (source, text) = page("browser.mlir", PROGRAM);
    let expected = remarks(&source);
    let file = scratch("browser.html");
    std::fs::write(&file, text).expect("the file is written");
    let profile = scratch(&format!("chromium-{}", std::process::id()));
    let mut browser = Browser::open(&program, &profile, &file);
    for (at, remark) in expected.iter().enumerate() {
        let id = format!("r{at}");
        browser.run(&format!("document.querySelector('.decision[href=\"#{id}\"]').click()"));
        let shown = selected(&mut browser, &id);
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
    assert_eq!(selected(&mut browser, "r2")["current"], "#r2");
    browser.press("j");
    assert_eq!(selected(&mut browser, "r3")["current"], "#r3");
    browser.press("/");
    assert_eq!(browser.run("document.activeElement.id"), "search");
    let found = "document.getElementById('search').value = 'prevent';
        document.getElementById('search').dispatchEvent(new Event('input'));
        [...document.querySelectorAll('.decision')].filter(own => !own.parentElement.hidden).map(own => own.hash)";
    assert_eq!(browser.run(found), json!(["#r1"]));
    browser.run("document.activeElement.blur(); location.hash = ''");
    let mut tabbed = std::collections::BTreeSet::new();
    for _ in 0..12 {
        browser.press("Tab");
        tabbed.insert(browser.run("document.activeElement.hash ?? document.activeElement.id").to_string());
    }
    assert!(tabbed.len() > 8, "the key Tab goes from link to link: {tabbed:?}");
    let unreachable =
        "[...document.querySelectorAll('a[href], summary, input')].filter(own => own.tabIndex < 0)
        .map(own => own.outerHTML)";
    assert_eq!(browser.run(unreachable), json!([]), "keys do not reach these");
    // On a telephone nothing is wider than the screen.
    let narrow = json!({ "width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": true });
    browser.send("Emulation.setDeviceMetricsOverride", narrow);
    assert_eq!(browser.run("document.documentElement.scrollWidth"), 400);
    browser.close();
}
