//! Lines out of a stream: bounded, whatever their bytes are.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Tags may have 8191 bytes, the rest 512.
const LONGEST: usize = 16 * 1024;

/// See the module.
pub struct Lines<R> {
    from: BufReader<R>,
    line: Vec<u8>,
    too_long: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub fn new(from: R) -> Self {
        Self { from: BufReader::new(from), line: Vec::new(), too_long: false }
    }

    /// The next line without its end; none when there is no more. What is too long is passed over, and what is no
    /// UTF-8 is shown as far as it is. Dropping it loses nothing.
    pub async fn next(&mut self) -> io::Result<Option<String>> {
        loop {
            let piece = self.from.fill_buf().await?;
            if piece.is_empty() {
                return Ok(None);
            }
            let end = piece.iter().position(|b| *b == b'\n');
            let (of_line, used) = end.map_or((piece.len(), piece.len()), |at| (at, at + 1));
            self.too_long |= self.line.len() + of_line > LONGEST;
            if !self.too_long {
                self.line.extend_from_slice(&piece[..of_line]);
            }
            self.from.consume(used);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.too_long) {
                    return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_that_is_too_long_is_passed_over_and_bytes_that_are_no_text_are_borne() {
        let mut bytes = b"one\r\n".to_vec();
        bytes.extend(vec![b'x'; LONGEST + 1]);
        bytes.extend(b"\ncaf\xe9\nunfinished");
        let mut lines = Lines::new(bytes.as_slice());
        assert_eq!(lines.next().await.expect("reads").as_deref(), Some("one\r"));
        assert_eq!(lines.next().await.expect("reads").as_deref(), Some("caf\u{fffd}"));
        assert_eq!(lines.next().await.expect("reads"), None);
    }
}
