//! Markup that text of a program cannot change.
//!
//! Markup comes from literals of this crate only, which the types enforce: [`Html::markup`] takes a
//! `&'static str`. Everything else is escaped by [`escaped`], the one place for this.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use serde_json::Value;

/// A piece of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct Html(String);

impl Html {
    /// Adds markup.
    pub(super) fn markup(&mut self, markup: &'static str) -> &mut Html {
        self.0.push_str(markup);
        self
    }

    /// Adds a text.
    pub(super) fn text(&mut self, text: &str) -> &mut Html {
        self.0.push_str(&escaped(text));
        self
    }

    /// Adds a number, or anything else that is shown as a text.
    pub(super) fn shown(&mut self, value: impl Display) -> &mut Html {
        self.text(&value.to_string())
    }

    /// Adds a text between a start and an end.
    pub(super) fn within(&mut self, start: &'static str, text: &str, end: &'static str) -> &mut Html {
        self.markup(start).text(text).markup(end)
    }

    /// Adds another piece.
    pub(super) fn piece(&mut self, piece: &Html) -> &mut Html {
        self.0.push_str(&piece.0);
        self
    }

    /// Adds a drawing of control flow, whose writer escapes the names in it.
    pub(super) fn drawing(&mut self, drawing: &ControlFlowDrawing) -> &mut Html {
        self.0.push_str(&drawing.0);
        self
    }

    /// Adds data as the content of a script element.
    pub(super) fn data(&mut self, data: &Value) -> &mut Html {
        // Neither `</script` nor `<!--` can be in it. U+2028 and U+2029 are fine in JSON.
        self.0.push_str(&data.to_string().replace('<', "\\u003c"));
        self
    }

    /// The number of bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The text of the page.
    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// A drawing by [`picture`](crate::lowering::cfg::picture::picture).
#[derive(Clone, Debug)]
pub(super) struct ControlFlowDrawing(String);

impl ControlFlowDrawing {
    /// Draws the functions of a module of the `llvm` dialect. `None` if they are too large.
    pub(super) fn of(module: &crate::ir::Body) -> Option<ControlFlowDrawing> {
        use crate::lowering::cfg::picture::{Format, picture};
        picture(module, Format::Svg).ok().map(ControlFlowDrawing)
    }
}

/// Escapes a text, for content and for values of attributes in double quotes. Characters that
/// nobody sees, or that turn the direction of what follows, become a sign.
pub(super) fn escaped(text: &str) -> Cow<'_, str> {
    let is_special = |c: char| matches!(c, '&' | '<' | '>' | '"' | '\'') || is_hidden(c);
    if !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c if is_hidden(c) => {
                let _ = write!(escaped, "\u{fffd}");
            }
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// True for control characters but tabs and line ends, and for marks of direction.
fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n'))
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_no_markup() {
        let mut html = Html::default();
        html.within("<b title=\"", "\"><script>alert('&')</script>", "\">");
        html.text("\u{202e}a\0b\n");
        let expected =
            "<b title=\"&quot;&gt;&lt;script&gt;alert(&#39;&amp;&#39;)&lt;/script&gt;\">\u{fffd}a\u{fffd}b\n";
        assert_eq!(html.into_string(), expected);
    }

    #[test]
    fn data_does_not_end_its_script() {
        let mut html = Html::default();
        html.data(&serde_json::json!({ "a": "</script><!--" }));
        assert_eq!(html.0, r#"{"a":"\u003c/script>\u003c!--"}"#);
        let back: Value = serde_json::from_str(&html.0).expect("JSON");
        assert_eq!(back["a"], "</script><!--");
    }
}
