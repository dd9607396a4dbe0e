//! Reads one plain shell command: words, quotes and nothing else.
//!
//! Everything a shell gives meaning to beyond words (pipes, lists, redirects, substitutions,
//! variables, globs, comments, assignments, brace and tilde expansion, new lines) makes the text not
//! plain, and so do commands that run other commands. No attempt is made to understand more.

/// A command of words only, quotes taken off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainCommand {
    pub words: Vec<String>,
}

/// Programs that run what their arguments (or a file they name) say: never plain, whatever follows. The
/// list cannot be whole: a rule for a program trusts that program.
const WRAPPERS: &[&str] = &[
    ".",
    "R",
    "Rscript",
    "alias",
    "apt",
    "apt-get",
    "ash",
    "at",
    "awk",
    "bash",
    "batch",
    "builtin",
    "bun",
    "bundle",
    "busybox",
    "bwrap",
    "capsh",
    "cargo",
    "case",
    "catchsegv",
    "cc",
    "cgexec",
    "choom",
    "chroot",
    "chrt",
    "cmake",
    "command",
    "conda",
    "coproc",
    "crontab",
    "csh",
    "daemonize",
    "dash",
    "dbus-launch",
    "dbus-run-session",
    "deno",
    "dnf",
    "do",
    "doas",
    "docker",
    "dotnet",
    "dpkg",
    "ed",
    "elixir",
    "else",
    "emacs",
    "entr",
    "env",
    "erl",
    "eval",
    "ex",
    "exec",
    "expect",
    "fakeroot",
    "find",
    "firejail",
    "fish",
    "flatpak",
    "flock",
    "for",
    "function",
    "gawk",
    "gcc",
    "gdb",
    "gem",
    "ghc",
    "git-shell",
    "gmake",
    "go",
    "gradle",
    "guile",
    "if",
    "inotifywait",
    "install-info",
    "ionice",
    "java",
    "jshell",
    "julia",
    "ksh",
    "kubectl",
    "ld-linux-x86-64.so.2",
    "ld.so",
    "less",
    "login",
    "ltrace",
    "lua",
    "machinectl",
    "make",
    "man",
    "mawk",
    "more",
    "mvn",
    "nc",
    "ncat",
    "newgrp",
    "nice",
    "ninja",
    "nix",
    "nix-shell",
    "node",
    "nohup",
    "npm",
    "npx",
    "nsenter",
    "numactl",
    "nvim",
    "ocaml",
    "octave",
    "openssl",
    "osascript",
    "parallel",
    "perf",
    "perl",
    "php",
    "pip",
    "pip3",
    "pipx",
    "pkexec",
    "pnpm",
    "podman",
    "poetry",
    "prlimit",
    "proot",
    "pwsh",
    "python",
    "python3",
    "racket",
    "rake",
    "rbash",
    "rlwrap",
    "rpm",
    "rsync",
    "ruby",
    "run-parts",
    "runuser",
    "sbcl",
    "scp",
    "screen",
    "script",
    "sed",
    "select",
    "setpriv",
    "setsid",
    "sftp",
    "sg",
    "sh",
    "snap",
    "socat",
    "source",
    "split",
    "ssh",
    "start-stop-daemon",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "swift",
    "systemctl",
    "systemd-run",
    "tar",
    "taskset",
    "tclsh",
    "tcsh",
    "telnet",
    "then",
    "time",
    "timeout",
    "tmux",
    "trap",
    "unbuffer",
    "unshare",
    "until",
    "unzip",
    "uv",
    "uvx",
    "valgrind",
    "vi",
    "vim",
    "watch",
    "watchexec",
    "while",
    "wish",
    "xargs",
    "xvfb-run",
    "yarn",
    "yum",
    "zip",
    "zsh",
];

/// The command, if `text` is one plain command; else `None`.
pub fn plain_command(text: &str) -> Option<PlainCommand> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.trim().chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => quoted(&mut chars, word.get_or_insert_default(), '\'')?,
            '"' => quoted(&mut chars, word.get_or_insert_default(), '"')?,
            // A backslash may hide a new line or anything above.
            '\\' => return None,
            c if has_meaning(c) => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word.take());
    let program = words.first()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    // Assignments before a command change what it does; a version suffix does not make python another program.
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let wraps = WRAPPERS.iter().any(|w| *w == name || (!bare.is_empty() && *w == bare));
    (!program.is_empty() && !wraps).then_some(PlainCommand { words })
}

fn has_meaning(c: char) -> bool {
    c.is_control() || "|&;<>()$`*?[]{}~#!=%^".contains(c)
}

fn quoted(chars: &mut std::str::Chars<'_>, word: &mut String, close: char) -> Option<()> {
    for c in chars.by_ref() {
        if c == close {
            return Some(());
        }
        // Inside double quotes these still mean something.
        if c.is_control() || (close == '"' && matches!(c, '$' | '`' | '\\' | '!')) {
            return None;
        }
        word.push(c);
    }
    None
}
