-- What agents note for themselves, found again by its words; and what a home drew by lot once.

create table memos (
    number {number},
    profile text not null,
    at bigint not null,
    words text not null,
    -- Noted in a session that had read content from outside.
    outside bigint not null
);
create index memos_of on memos (profile, number);
{search memos words}

create table draws (
    name text not null primary key,
    value text not null
) {keyed};

create index records_outside on records (session, seq) where kind = 'outside';
