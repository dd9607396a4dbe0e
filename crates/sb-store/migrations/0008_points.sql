-- Places in talks that are sent whole each time, by a digest of all that was said up to there: one where a
-- message ends, one where its answer does.
create table points (
    number {number},
    digest text not null,
    owner text not null,
    conversation text not null references conversations (id),
    message bigint not null references messages (id),
    session text not null,
    -- Where the session's log stood; none where it is a message that waits for its answer.
    seq bigint,
    -- What the message held, its files included; none for an answer.
    body text,
    -- When the message had its answer.
    ended bigint,
    -- Nothing was said in the conversation after it.
    tip bigint not null
);
create index points_own on points (digest, owner, tip, number);
create index points_all on points (digest, tip, number);
create index points_of_message on points (message);
create index points_at_tip on points (conversation) where tip = 1;
