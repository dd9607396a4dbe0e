//! A safe subset of HTML: no attributes but an address, a number, a side and a language; everything else escaped.

use crate::doc::{Align, Block, Cell, Doc, Inline, Item};

pub(super) fn write(doc: &Doc) -> String {
    let mut html = String::new();
    blocks(&doc.blocks, &mut html);
    html
}

fn blocks(all: &[Block], html: &mut String) {
    for block in all {
        match block {
            Block::Paragraph(text) => element("p", html, |html| inlines(text, html)),
            Block::Heading { level, text } => {
                let tag = ["h1", "h2", "h3", "h4", "h5", "h6"];
                let tag = tag.get(usize::from(level.saturating_sub(1))).copied().unwrap_or("h6");
                element(tag, html, |html| inlines(text, html));
            }
            Block::Code { language, text } => {
                html.push_str("<pre><code");
                if !language.is_empty() {
                    html.push_str(" class=\"language-");
                    escape(language, html);
                    html.push('"');
                }
                html.push('>');
                escape(text, html);
                html.push_str("</code></pre>");
            }
            Block::Quote(inner) => element("blockquote", html, |html| blocks(inner, html)),
            Block::List { ordered: None, items } => element("ul", html, |html| list(items, html)),
            Block::List { ordered: Some(first), items } => {
                html.push_str(&if *first == 1 {
                    "<ol>".to_owned()
                } else {
                    format!("<ol start=\"{first}\">")
                });
                list(items, html);
                html.push_str("</ol>");
            }
            Block::Table { columns, head, rows } => element("table", html, |html| {
                row("th", columns, head, html);
                rows.iter().for_each(|cells| row("td", columns, cells, html));
            }),
            Block::Rule => html.push_str("<hr>"),
        }
    }
}

fn list(items: &[Item], html: &mut String) {
    for item in items {
        element("li", html, |html| {
            match item.task {
                Some(true) => html.push_str("☑ "),
                Some(false) => html.push_str("☐ "),
                None => {}
            }
            match item.blocks.as_slice() {
                [Block::Paragraph(text), rest @ ..] => {
                    inlines(text, html);
                    blocks(rest, html);
                }
                all => blocks(all, html),
            }
        });
    }
}

fn row(tag: &str, columns: &[Align], cells: &[Cell], html: &mut String) {
    element("tr", html, |html| {
        for (cell, align) in cells.iter().zip(columns) {
            let side = match align {
                Align::Unset | Align::Left => "",
                Align::Center => " align=\"center\"",
                Align::Right => " align=\"right\"",
            };
            html.push_str(&format!("<{tag}{side}>"));
            inlines(cell, html);
            html.push_str(&format!("</{tag}>"));
        }
    });
}

fn inlines(all: &[Inline], html: &mut String) {
    for inline in all {
        match inline {
            Inline::Text(text) => escape(text, html),
            Inline::Code(code) => element("code", html, |html| escape(code, html)),
            Inline::Strong(inner) => element("b", html, |html| inlines(inner, html)),
            Inline::Emphasis(inner) => element("i", html, |html| inlines(inner, html)),
            Inline::Strike(inner) => element("s", html, |html| inlines(inner, html)),
            Inline::Link { url, text } => {
                html.push_str("<a href=\"");
                escape(url, html);
                html.push_str("\">");
                inlines(text, html);
                html.push_str("</a>");
            }
            Inline::Break => html.push_str("<br>"),
        }
    }
}

fn element(tag: &str, html: &mut String, write: impl FnOnce(&mut String)) {
    html.push('<');
    html.push_str(tag);
    html.push('>');
    write(html);
    html.push_str("</");
    html.push_str(tag);
    html.push('>');
}

fn escape(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
}
