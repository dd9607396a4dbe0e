-- Whether a token's holder may change what a chat chose. Until now that came with deciding.
alter table tokens add column instruct bigint not null default 0;
update tokens set instruct = decide;
