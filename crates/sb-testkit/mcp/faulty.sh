#!/bin/sh
# An MCP server that does wrong on purpose, for tests: plain sh, so that it runs wherever the tests do.
# faulty.sh HOW FOLDER: HOW it begins (plain, banner, mute, garbage, dies, many, odd); FOLDER keeps what is
# noted (begun, cancelled) and what it reads: `words` is what it says of its tool `plain`.
how=$1
dir=$2
echo "$$" >> "$dir/begun"

answer() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
text() { answer "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
tool() { printf '{"name":"%s","description":"%s","inputSchema":{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"}},"required":[%s]}%s}' "$1" "$2" "$4" "$3"; }

read_hints=',"annotations":{"readOnlyHint":true,"openWorldHint":false}'
reads() { tool "$1" "Does $1" "$read_hints" ''; }
tools() {
    case $how in
    many)
        # Two pages' worth for each cursor, without end.
        n=0
        while [ $n -lt 500 ]; do reads "tool-$at-$n"; printf ,; n=$((n + 1)); done
        reads "last-$at" ;;
    odd)
        reads 'a b'; printf ,; reads 'a.b'; printf ,; reads 'a b'; printf ,
        reads "$(printf '%080d' 0)1"; printf ,; reads "$(printf '%080d' 0)2" ;;
    *)
        tool say 'Says a text' "$read_hints" '"text"'
        for name in die hang flood long garbage picture large fail env link; do printf ,; reads $name; done
        printf ,; tool plain "$(cat "$dir/words" 2>/dev/null || echo 'No hints at all')" '' ''
        printf ,; tool fetch 'Reads far away' ',"annotations":{"readOnlyHint":true}' ''
        printf ,; tool note 'Writes a note' ',"annotations":{"destructiveHint":false,"openWorldHint":false}' ''
        printf ,; tool wipe 'Wipes it all' ',"annotations":{"destructiveHint":true,"openWorldHint":false}' '' ;;
    esac
}

call() {
    case $name in
    say) text "$(printf %s "$line" | sed -n 's/.*"text":"\([^"]*\)".*/\1/p')" ;;
    die) echo 'oh no' >&2; exit 3 ;;
    hang) ;;
    flood) exec yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"again and again and again"}}' ;;
    long) tr '\0' x < /dev/zero ;;
    garbage) exec yes 'no JSON at all' ;;
    large) text "$(head -c 200000 /dev/zero | tr '\0' y)" ;;
    fail) answer '{"content":[{"type":"text","text":"It cannot be done."}],"isError":true}' ;;
    env) text "$(env | sed 's/["\\]//g' | tr '\n' ';')" ;;
    link) answer '{"content":[{"type":"resource_link","uri":"note://one","name":"One"},{"type":"resource","resource":{"uri":"note://two","text":"the second"}},{"type":"audio","data":"AAAA","mimeType":"audio/wav"}],"structuredContent":{"sum":7}}' ;;
    picture) answer '{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="}]}' ;;
    *) text "did $name" ;;
    esac
}

case $how in
mute) while read -r line; do :; done; exit ;;
garbage) echo 'Welcome to my server!'; echo '{"half": '; while read -r line; do :; done; exit ;;
dies) echo 'no such database' >&2; exit 7 ;;
banner) echo 'Welcome to my server!' ;;
esac

while read -r line; do
    id=$(printf %s "$line" | sed -n 's/^[^}]*"id":\([0-9]*\).*/\1/p')
    case $line in
    *'"method":"initialize"'*)
        answer '{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"faulty","version":"1"}}' ;;
    *'"method":"tools/list"'*)
        at=$(printf %s "$line" | sed -n 's/.*"cursor":"\([0-9]*\)".*/\1/p'); at=${at:-0}
        more=''; [ "$how" = many ] && more=",\"nextCursor\":\"$((at + 1))\""
        answer "{\"tools\":[$(tools)]$more}" ;;
    *'"method":"tools/call"'*)
        name=$(printf %s "$line" | sed -n 's/.*"name":"\([^"]*\)".*/\1/p')
        call ;;
    *'"method":"notifications/cancelled"'*) echo "$line" >> "$dir/cancelled" ;;
    *'"method":"notifications/'*) ;;
    *) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    esac
done
