-- Where an agent elsewhere opened a session of its own: looked for at each of its turns, however long the log is.
update records set kind = 'opened' where kind = 'other' and body like '{"kind":"opened",%';
create index records_of_openings on records (session, seq) where kind = 'opened';
