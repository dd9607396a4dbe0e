-- The ledger: each entry word for word as it was signed, never changed. The keys are among the secrets.

create table ledger (
    number bigint not null primary key,
    entry text not null,
    signature text not null,
    digest text not null,
    -- What a payment is for: none is made twice.
    once text unique
) {keyed};
