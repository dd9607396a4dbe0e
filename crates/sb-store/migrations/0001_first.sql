-- The first tables. `{number}` and `{keyed}` stand for what each database calls a self-numbering key
-- and a table kept in the order of its key: see dialect.rs.

create table conversations (
    id text not null primary key,
    profile text not null,
    -- Moved by every commit of the conversation's actor, and by nothing else.
    version bigint not null default 0,
    session text,
    choices text,
    wake_at bigint,
    newest bigint not null default 0
) {keyed};
create index conversations_to_wake on conversations (wake_at) where wake_at is not null;

create table sessions (
    id text not null primary key,
    conversation text not null references conversations (id),
    title text,
    began bigint not null,
    last_active bigint not null,
    tainted bigint not null default 0,
    allowed text,
    usage text,
    last_seq bigint not null default 0,
    -- The number of the last turn that counts as an exchange.
    newest_exchange bigint
) {keyed};
create index sessions_of_conversation on sessions (conversation);

create table records (
    session text not null references sessions (id),
    seq bigint not null,
    at bigint not null,
    turn text,
    kind text not null,
    body text not null,
    primary key (session, seq)
) {keyed};
-- What decides how much of a log the agent still remembers word for word.
create index records_of_memory on records (session, seq) where kind in ('summary', 'undone');

create table messages (
    id {number},
    conversation text not null references conversations (id),
    at bigint not null,
    body text not null,
    turn text,
    turn_from bigint,
    ending text
);
-- Its size is that of the work in hand, however many conversations lie dormant.
create index messages_unfinished on messages (conversation) where ending is null;

create table keys (
    key text not null primary key,
    body text not null,
    message bigint not null references messages (id),
    until bigint not null
) {keyed};

-- Numbered in the order of beginning, so that the newest lie side by side. Not indexed by id: the one
-- that has not ended is found by its conversation, those that count by following `previous`.
create table turns (
    number {number},
    id text not null,
    conversation text not null references conversations (id),
    session text not null references sessions (id),
    phase text not null,
    body text not null,
    first_seq bigint not null,
    last_seq bigint,
    first_message bigint,
    ended bigint not null default 0,
    undone bigint not null default 0,
    -- Of a turn that counts as an exchange: the one before it in its session.
    previous bigint
);
-- One turn at a time in a conversation.
create unique index turns_unfinished on turns (conversation) where ended = 0;

create table profiles (
    name text not null primary key,
    body text not null
) {keyed};

create table tokens (
    id text not null primary key,
    profile text not null references profiles (name) on delete cascade,
    hash text not null unique,
    decide bigint not null,
    created bigint not null
) {keyed};

create table secrets (
    name text not null primary key,
    sealed text not null
) {keyed};
