//! Whoever types in `talk`: a person with line editing and history, or a pipe.
//!
//! Both block while they read, so they read on the pool for that; an interrupted read ends with the
//! program.

use std::io::{self, BufRead};
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};
use sb_doors::terminal::{Person, Typed};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Lines that are remembered.
const REMEMBERED: usize = 1000;

/// A person at a terminal.
pub struct Keyboard {
    /// Lent to the thread that reads, in between.
    editor: Option<Editor<(), FileHistory>>,
    history: PathBuf,
    interrupts: Signal,
}

impl Keyboard {
    /// `history` is the file that keeps what was typed.
    pub fn new(history: PathBuf) -> io::Result<Self> {
        let remembered = Config::builder().max_history_size(REMEMBERED).map_err(io::Error::other)?;
        let config = remembered.auto_add_history(true).build();
        let mut editor = Editor::with_config(config).map_err(io::Error::other)?;
        // The first time there is none.
        drop(editor.load_history(&history));
        Ok(Self { editor: Some(editor), history, interrupts: signal(SignalKind::interrupt())? })
    }
}

impl Person for Keyboard {
    async fn read(&mut self, prompt: &str) -> io::Result<Typed> {
        let mut editor = self.editor.take().ok_or_else(|| io::Error::other("the line editor is in use"))?;
        let (prompt, history) = (prompt.to_owned(), self.history.clone());
        let reading = tokio::task::spawn_blocking(move || {
            let read = editor.readline(&prompt);
            // A history that cannot be kept is no reason to stop talking.
            drop(editor.save_history(&history));
            (editor, read)
        });
        let (editor, read) = reading.await.map_err(io::Error::other)?;
        self.editor = Some(editor);
        match read {
            Ok(line) => Ok(Typed::Line(line)),
            Err(ReadlineError::Interrupted) => Ok(Typed::Interrupt),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(ReadlineError::Io(why)) => Err(why),
            Err(why) => Err(io::Error::other(why)),
        }
    }

    async fn interrupted(&mut self) {
        self.interrupts.recv().await;
    }
}

/// A pipe or a file.
pub struct Pipe;

impl Person for Pipe {
    async fn read(&mut self, _: &str) -> io::Result<Typed> {
        let line = tokio::task::spawn_blocking(|| {
            let mut line = Vec::new();
            io::stdin().lock().read_until(b'\n', &mut line).map(|read| (read > 0).then_some(line))
        });
        Ok(match line.await.map_err(io::Error::other)?? {
            None => Typed::End,
            Some(line) => {
                Typed::Line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
            }
        })
    }

    async fn interrupted(&mut self) {
        std::future::pending().await
    }
}
