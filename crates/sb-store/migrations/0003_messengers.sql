-- Messengers: channels and what they keep, what came and was not taken, what goes out, who is let in.

alter table conversations add column ask_closed bigint not null default 0;

create table channels (
    slug text not null primary key,
    body text not null
) {keyed};

-- What an adapter keeps across starts.
create table channel_states (
    channel text not null primary key,
    words text not null
) {keyed};

-- How far each feed of a channel was taken in.
create table cursors (
    channel text not null,
    feed text not null,
    cursor text not null,
    primary key (channel, feed)
) {keyed};

-- What came by a channel and is not a message, or not yet.
create table inbox (
    number {number},
    channel text not null,
    at bigint not null,
    why text not null,
    key text,
    conversation text,
    detail text not null,
    raw text not null
);
create index inbox_held on inbox (conversation, number) where why = 'held';
create index inbox_kept on inbox (channel, number) where why <> 'held';
create index inbox_keys on inbox (key) where key is not null;

-- Numbered in the order of writing.
create table posts (
    number {number},
    key text not null unique,
    conversation text not null references conversations (id),
    channel text not null,
    chat text not null,
    thread text,
    sort text not null,
    at bigint not null,
    body text not null,
    -- It asks something: kept until it is answered.
    asks bigint not null,
    state text not null,
    due bigint not null,
    tries bigint not null default 0,
    why text,
    revised bigint not null default 0
);
-- Its size is that of what is still to be sent.
create index posts_open on posts (channel, number) where state = 'open';
create index posts_over on posts (at) where state in ('done', 'dropped') and asks = 0;

-- Not bound to posts: a reply is shown while it is written, before its post is decided.
create table parts (
    key text not null,
    part bigint not null,
    text text not null,
    state text not null,
    message text,
    tries bigint not null,
    at bigint not null,
    revised bigint not null,
    primary key (key, part)
) {keyed};
create index parts_by_age on parts (at);

create table chats (
    channel text not null,
    chat text not null,
    known_as text,
    moved_to text,
    gone text,
    primary key (channel, chat)
) {keyed};

create table guests (
    channel text not null,
    id text not null,
    name text not null,
    since bigint not null,
    primary key (channel, id)
) {keyed};

create table pairings (
    code text not null primary key,
    channel text not null,
    id text not null,
    name text not null,
    chat text not null,
    asked bigint not null,
    until bigint not null
) {keyed};

-- How often somebody guessed wrong within the hour that began with the first.
create table guesses (
    at_what text not null primary key,
    since bigint not null,
    wrong bigint not null
) {keyed};
