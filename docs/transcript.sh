#!/bin/sh
# A real run of the program, told as Markdown on stdout: `cargo xtask transcript` makes docs/transcript.md of it.
#
# It needs curl, and two variables: SWITCHBOARD, the program, and SWITCHBOARD_HOME, a folder that does not exist
# yet. It ends only what it started. It waits for things to be seen, never for time, so the order is always the same.
set -eu

: "${SWITCHBOARD:?names the program}" "${SWITCHBOARD_HOME:?names a folder that does not exist yet}"
export SWITCHBOARD_HOME
unset SWITCHBOARD_TOKEN SWITCHBOARD_MODEL ANTHROPIC_API_KEY OPENAI_API_KEY OPENAI_BASE_URL
place=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$place"
}
trap finish EXIT
mkdir "$place/bin" "$place/desk"
ln -s "$SWITCHBOARD" "$place/bin/switchboard"
PATH="$place/bin:$PATH"
cd "$place/desk"

# Shortens tokens, names folders as a reader has them, breaks answers into lines, ends with one line's end.
tidy() {
    sed -e 's/sb_\([0-9a-f]\{4\}\)[0-9a-f]\{20,\}/sb_\1…/g' \
        -e "s|$SWITCHBOARD_HOME|\$SWITCHBOARD_HOME|g" -e "s|$SWITCHBOARD|switchboard|g" \
        -e 's/,"said":/,\
 "said":/g' -e 's/,"lines":\["/,\
 "lines":["/g' -e 's/"\],"files":/"],\
 "files":/g' -e 's/","\([→←] \)/",\
  "\1/g' -e 's/","\(agent: \)/",\
  "\1/g' -e 's/","\(session [0-9a-f]\{16\}: \)/",\
  "\1/g' -e 's/","\(file: \)/",\
  "\1/g' -e 's/,"usage":/,\
 "usage":/g' -e 's/,"transcript":/,\
 "transcript":/g' -e 's/,{"at":/,\
  {"at":/g' | awk 'NF { for (; blank > 0; blank--) print ""; print; next } { blank++ }'
}

part() { printf '\n## %s\n' "$1"; }
tell() { printf '\n%s\n' "$1"; }

# Shows and performs the commands on its input, each with what it printed. A line that begins with a space goes
# on with the command before it; one that begins with #until is waited for, and not shown.
run() {
    printf '\n```console\n'
    command=
    while IFS= read -r line; do
        case $line in
        ' '*)
            command="$command
$line"
            ;;
        '#until '*)
            perform
            until_seen "${line#\#until }"
            ;;
        *)
            perform
            command=$line
            ;;
        esac
    done
    perform
    printf '```\n'
}
perform() {
    if [ -z "$command" ]; then return; fi
    printf '$ %s\n' "$command"
    # What it leaves running writes elsewhere, so its output ends with it.
    eval "$command" >"$place/out" 2>&1 </dev/null || true
    tidy <"$place/out"
    command=
}
until_seen() {
    tries=0
    until eval "$1" >/dev/null 2>&1; do
        tries=$((tries + 1))
        if [ "$tries" -gt 30 ]; then
            echo "transcript: waited in vain for: $1" >&2
            exit 1
        fi
        sleep 1
    done
}

cat <<'END'
# A real run

[transcript.sh](transcript.sh) typed what follows into a shell, in an empty home, and the program answered as shown;
`cargo xtask transcript` does it again. Tokens are shortened, `$SWITCHBOARD_HOME` stands for the home's folder, and
long answers are broken into lines. The model is the scripted one: it repeats what it is told, or does what the lines
that begin with `!` say ([its language](models.md#the-scripted-model)), through the real loop, tools and approvals.
END

part 'Start'
tell 'The first start makes a profile and a token that may decide, and prints lines to paste; port 0 takes any free one.'
run <<'END'
switchboard up --listen 127.0.0.1:0 >up.txt 2>log.txt & server=$!
#until grep -q ' talk$' up.txt
cat up.txt
END
tell 'Everything below is asked through this one line of curl, with that token.'
run <<'END'
URL=$(sed -n 's/^Switchboard on \([^ ]*\) .*/\1/p' up.txt)
TOKEN=$(sed -n 's/.*Bearer \(sb_[0-9a-f]*\).*/\1/p' up.txt)
say() { curl -sS -N "$URL/v1/profiles/assistant/messages" -H "Authorization: Bearer $TOKEN" -d "$@"; }
END

part 'Talk'
tell 'A first message begins a session, and the answer names it.'
run <<'END'
say '{"text": "Hello", "conversation": "garden"}'
END
tell 'A follow-up in the same conversation goes on in the same session.'
run <<'END'
say '{"text": "What did I say?", "conversation": "garden"}'
END
tell 'With `stream` the answer comes as server-sent events while it is written.'
run <<'END'
say '{"text": "!stream 4 50", "conversation": "garden", "stream": true}'
END

part 'Files'
tell 'A file that is sent lies in the workspace, where the tools reach it. The agent reads it, and shares it back.'
run <<'END'
say '{"conversation": "shopping",
       "text": "!tool read_file {\"path\": \"inbox/list.txt\"}\n!tool share_file {\"path\": \"inbox/list.txt\"}\n!say Read; here it is again.",
       "files": [{"name": "list.txt", "base64": "bWlsawplZ2dzCg=="}]}' >answer.txt
cat answer.txt
END
tell 'The bytes of the shared file are those that were sent.'
run <<'END'
sed 's/.*"base64":"\([^"]*\)".*/\1/' answer.txt | base64 -d
END

part 'An approval'
tell 'At the level of this profile, L3, a write waits for a person.'
run <<'END'
say '{"conversation": "notes", "text": "!tool write_file {\"path\": \"notes.md\", \"content\": \"milk\"}"}'
END
tell 'An app gets a token that may talk and not decide.'
run <<'END'
switchboard profile token add assistant --json >token.json
APP=$(sed -n 's/.*"token": "\(sb_.*\)".*/\1/p' token.json)
switchboard profile token list
END
tell 'With that token the approval is refused.'
run <<'END'
TOKEN=$APP say '{"text": "/approve", "conversation": "notes"}' -w '\nHTTP %{http_code}\n'
END
tell 'With the deciding one it is given, the call goes ahead, and the lines say who approved.'
run <<'END'
say '{"text": "/approve", "conversation": "notes"}' -w '\nHTTP %{http_code}\n'
END
tell 'Another call waits, and is declined from the terminal; the reason goes to the agent.'
run <<'END'
say '{"conversation": "notes", "text": "!tool shell {\"command\": \"rm notes.md\"}"}' >waiting.txt
SESSION=$(sed 's/.*"session":"\([0-9a-f]*\)".*/\1/' waiting.txt)
switchboard continue $SESSION --decline 'keep that file'
END
tell 'A rule lets calls like it pass unasked for the rest of the session: the second write waits for nobody.'
run <<'END'
say '{"conversation": "notes", "text": "!tool write_file {\"path\": \"notes/a.md\", \"content\": \"a\"}"}' >waiting.txt
say '{"conversation": "notes", "text": "/approve always write_file(notes:*)"}'
say '{"conversation": "notes", "text": "!tool write_file {\"path\": \"notes/b.md\", \"content\": \"b\"}"}'
say '{"conversation": "notes", "text": "/allowed"}'
END
tell 'The trace of the session keeps all of it, in order, with who decided.'
run <<'END'
switchboard trace $SESSION
END

part 'Stop'
tell 'While a long answer is written, a second request stops it at once.'
run <<'END'
say '{"text": "!stream 1000 50", "conversation": "long", "stream": true}' >stream.txt & writing=$!
#until grep -q word9 stream.txt
say '{"text": "/stop", "conversation": "long"}'
#until ! kill -0 $writing
END
tell 'The stream ended there, and what was written is kept.'
run <<'END'
tail -n 6 stream.txt
END

part 'Commands'
tell 'Commands are messages. This says them in the conversation from above:'
run <<'END'
order() { say "{\"text\": \"$1\", \"conversation\": \"garden\"}"; }
order /status
order /retry
order /undo
order /compact
order '/system Answer in French.'
order /system
order '/tools read_file list_files'
order /tools
order '/title Garden'
GARDEN=$(order /usage | sed 's/.*"session":"\([0-9a-f]*\)".*/\1/')
order /new
order /sessions
order "/resume $GARDEN"
order /usage
order /whoami
END
tell 'With two models in the profile, `/model` chooses between them, for this conversation.'
run <<'END'
switchboard profile set assistant --model scripted --model scripted:second
order /model
order '/model 2'
order /model
END
tell 'What cannot be is refused, with a sentence for people and a word for programs.'
run <<'END'
order /approve
order /dance
END

part 'A crash in the middle of a turn'
tell 'A client asks under a key of its own, and the server is killed while it works.'
run <<'END'
say '{"text": "!stream 30 100", "conversation": "crash"}' -H 'Idempotency-Key: order-7' >cut.txt 2>&1 & asking=$!
#until say '{"text": "/status", "conversation": "crash"}' | grep Working
say '{"text": "/status", "conversation": "crash"}'
kill -9 $server; wait $server
#until ! kill -0 $asking
cat cut.txt
END
tell 'The server starts again, and the client repeats its request: the whole answer, and word of the restart.'
run <<'END'
switchboard serve --listen ${URL#http://} >serve.txt 2>log.txt & server=$!
#until curl -sf $URL/readyz
say '{"text": "!stream 30 100", "conversation": "crash"}' -H 'Idempotency-Key: order-7'
END
tell 'It was one turn, not two.'
run <<'END'
say '{"text": "/usage", "conversation": "crash"}'
END

part 'The terminal'
tell 'Through a pipe, `talk` takes a message a line and waits for each answer.'
run <<'END'
printf 'Hello\n!tool shell {"command": "echo hi"}\n/approve\n/whoami\n' | switchboard talk
END
tell 'What was talked about, and how the home is:'
run <<'END'
switchboard session list
switchboard profile show assistant
switchboard doctor
END

part 'End'
tell 'SIGTERM ends it cleanly.'
run <<'END'
kill $server; wait $server; echo "exit code $?"
END
server=
