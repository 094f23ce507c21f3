"""The tables of what is true: memories' files and journal lines, and who runs which job.

A file is a row with the same bytes that it would have on a disk, and a line of the journal is a
row with the same bytes too, so that a folder of files can be had back from them byte for byte.
What a file said before stands in `former_files` until the memory is purged. `leases` say which
server runs a job of a tenant, until when, and when it is due next; they hold nothing of a memory.
"""

from __future__ import annotations

TRUTH_TABLES = """
CREATE SEQUENCE file_versions;

CREATE TABLE files (
    truth   integer NOT NULL,
    path    text COLLATE "C" NOT NULL,
    memory  text COLLATE "C",
    version bigint NOT NULL DEFAULT nextval('file_versions'),
    written timestamptz NOT NULL DEFAULT clock_timestamp(),
    data    bytea NOT NULL,
    PRIMARY KEY (truth, path)
);
CREATE INDEX files_memory ON files (truth, memory) WHERE memory IS NOT NULL;

CREATE TABLE former_files (
    truth   integer NOT NULL,
    path    text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    memory  text COLLATE "C",
    written timestamptz NOT NULL,
    until   timestamptz NOT NULL DEFAULT clock_timestamp(),
    data    bytea NOT NULL,
    PRIMARY KEY (truth, path, version)
);
CREATE INDEX former_memory ON former_files (truth, memory) WHERE memory IS NOT NULL;

-- `change` names what a line is looked up by: a change, or the scores of one.
CREATE TABLE journal (
    truth  integer NOT NULL,
    name   text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    change text COLLATE "C",
    line   bytea NOT NULL,
    PRIMARY KEY (truth, name, number)
);
CREATE INDEX journal_change ON journal (truth, change) WHERE change IS NOT NULL;

-- `number` counts who took the lease: a run that lost it is told apart from the next by it. It is
-- part of a key, so that whoever writes under a lease can keep it from being taken meanwhile.
-- `doing` is what its holder says about the work, `stop` that somebody wants it to end.
CREATE TABLE leases (
    name   text COLLATE "C" NOT NULL,
    job    text COLLATE "C" NOT NULL,
    number bigint NOT NULL DEFAULT 0,
    holder text COLLATE "C",
    until  timestamptz,
    doing  text COLLATE "C" NOT NULL DEFAULT '',
    stop   boolean NOT NULL DEFAULT FALSE,
    due    timestamptz,
    PRIMARY KEY (name, job),
    UNIQUE (name, job, number)
);
CREATE INDEX leases_due ON leases (due) WHERE due IS NOT NULL;
"""
