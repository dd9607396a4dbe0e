-- Where other agents are told how their tasks stand; the addresses themselves are among the secrets.

create table task_hooks (
    task bigint not null,
    id text not null,
    profile text not null,
    -- The wire's version they are told in.
    version text not null,
    -- What was told last; empty: nothing yet.
    told text not null,
    -- How often telling it failed in a row.
    tries bigint not null,
    -- When it is told next, at the earliest; none: there is nothing more to tell.
    due bigint,
    primary key (task, id)
) {keyed};
create index task_hooks_open on task_hooks (task, id) where due is not null;

-- What other agents sent, for their lists of tasks.
create index messages_of_agents on messages (conversation, id)
    where conversation >= 'a2a:' and conversation < 'a2a;';
