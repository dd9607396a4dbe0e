-- Jobs: what agents are asked to do by themselves, and the messages that became of it.

create table jobs (
    name text not null primary key,
    body text not null,
    -- When it is due; none: it is over.
    next bigint
) {keyed};
create index jobs_next on jobs (next) where next is not null;

create table job_runs (
    job text not null,
    due bigint not null,
    message bigint not null,
    -- What the platform called the last message of its reply; written when the reply itself is cleared away.
    sent text,
    primary key (job, due)
) {keyed};

-- What an agent said in a conversation from another one, until the next message there, which it goes with.
create table sent_words (
    number {number},
    conversation text not null,
    at bigint not null,
    words text not null
);
create index sent_words_of on sent_words (conversation, number);

-- What each sender used of a profile in a day, where the profile has a budget for it.
create table spent (
    profile text not null,
    sender text not null,
    -- Days since 1970, UTC.
    day bigint not null,
    tokens bigint not null,
    cost_micros bigint not null,
    tools bigint not null,
    primary key (profile, sender, day)
) {keyed};
