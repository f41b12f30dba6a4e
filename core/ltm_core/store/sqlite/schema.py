"""The tables by version.

Ids of a user's rows are ``user_no << 32 | n`` (`layout`), instants are microseconds since 1970 UTC, ids and
labels are keyed hashes, and ``body`` is a codec envelope. `docs/decisions/0002-schema.md` says why each table
exists.
"""

from __future__ import annotations

APPLICATION_ID = 0x4C544D31
"""The four bytes "LTM1" in the file header."""

VERSION_1: tuple[str, ...] = (
    # store level ---------------------------------------------------------------------------------------
    """CREATE TABLE state (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        key_check BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        embedder INTEGER NOT NULL DEFAULT 0,
        dimension INTEGER NOT NULL DEFAULT 0,
        outbox INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE meta (
        name TEXT PRIMARY KEY,
        value TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE embedders (
        no INTEGER PRIMARY KEY AUTOINCREMENT,
        identity TEXT NOT NULL UNIQUE,
        dimension INTEGER NOT NULL,
        created_at INTEGER NOT NULL)""",
    """CREATE TABLE tombstones (
        user_mac BLOB NOT NULL,
        kind TEXT NOT NULL,
        mac BLOB NOT NULL,
        at INTEGER NOT NULL,
        PRIMARY KEY (user_mac, kind, mac)) WITHOUT ROWID""",
    """CREATE TABLE erasures (
        user_mac BLOB PRIMARY KEY,
        erased_before INTEGER,
        revision INTEGER NOT NULL DEFAULT 0,
        count INTEGER NOT NULL DEFAULT 0,
        last_at INTEGER) WITHOUT ROWID""",
    """CREATE TABLE ghosts (
        user_mac BLOB NOT NULL,
        session INTEGER NOT NULL,
        at INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        role INTEGER NOT NULL,
        caller_id INTEGER NOT NULL,
        content_mac BLOB NOT NULL,
        PRIMARY KEY (user_mac, session, at, sequence)) WITHOUT ROWID""",
    """CREATE TABLE receipts (
        id TEXT PRIMARY KEY,
        user_mac BLOB NOT NULL,
        what TEXT NOT NULL,
        at INTEGER NOT NULL,
        counts TEXT NOT NULL,
        bytes_clean INTEGER NOT NULL,
        files_scanned INTEGER NOT NULL,
        seconds REAL NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        op INTEGER NOT NULL,
        target INTEGER NOT NULL)""",
    "CREATE INDEX outbox_by_target ON outbox (target)",
    # one row per user ----------------------------------------------------------------------------------
    """CREATE TABLE users (
        user_no INTEGER PRIMARY KEY AUTOINCREMENT,
        user_id TEXT NOT NULL UNIQUE,
        revision INTEGER NOT NULL DEFAULT 0,
        shrunk_at INTEGER NOT NULL DEFAULT 0,
        reset_at INTEGER NOT NULL DEFAULT 0,
        next_n INTEGER NOT NULL DEFAULT 1,
        chunk_count INTEGER NOT NULL DEFAULT 0,
        term_total INTEGER NOT NULL DEFAULT 0,
        timezone TEXT,
        paused_at INTEGER,
        created_at INTEGER NOT NULL,
        retention TEXT,
        body BLOB)""",
    """CREATE TABLE user_keys (
        user_no INTEGER PRIMARY KEY,
        master TEXT NOT NULL,
        wrapped BLOB NOT NULL,
        created_at INTEGER NOT NULL)""",
    # conversation --------------------------------------------------------------------------------------
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        session INTEGER NOT NULL,
        started_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        arrived_at INTEGER NOT NULL,
        ended_at INTEGER,
        message_count INTEGER NOT NULL DEFAULT 0,
        body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX sessions_by_label ON sessions (user_no, session)",
    "CREATE INDEX sessions_by_activity ON sessions (user_no, last_at)",
    "CREATE INDEX sessions_open ON sessions (arrived_at) WHERE ended_at IS NULL",
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        id_mac BLOB NOT NULL,
        session INTEGER NOT NULL,
        agent INTEGER NOT NULL DEFAULT 0,
        task INTEGER NOT NULL DEFAULT 0,
        app INTEGER NOT NULL DEFAULT 0,
        sequence INTEGER NOT NULL,
        at INTEGER NOT NULL,
        timezone TEXT NOT NULL,
        recorded_at INTEGER NOT NULL,
        role INTEGER NOT NULL,
        act INTEGER NOT NULL,
        importance INTEGER NOT NULL,
        language TEXT NOT NULL,
        heat INTEGER NOT NULL DEFAULT 0,
        caller_id INTEGER NOT NULL DEFAULT 0,
        in_window INTEGER NOT NULL DEFAULT 1,
        reply_to INTEGER NOT NULL DEFAULT 0,
        doc_type INTEGER,
        expires_at INTEGER,
        archived_at INTEGER,
        redacted_at INTEGER,
        content_mac BLOB NOT NULL,
        body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX messages_by_id ON messages (user_no, id_mac, session)",
    "CREATE INDEX messages_by_time ON messages (user_no, at, sequence)",
    "CREATE INDEX messages_by_session ON messages (user_no, session, at, sequence)",
    "CREATE INDEX messages_window ON messages (user_no, session, at, sequence) WHERE in_window = 1",
    "CREATE INDEX messages_expiring ON messages (expires_at) WHERE expires_at IS NOT NULL",
    """CREATE INDEX messages_unarchived ON messages (doc_type, user_no)
        WHERE doc_type IS NOT NULL AND archived_at IS NULL""",
    """CREATE TABLE slots (
        user_no INTEGER NOT NULL,
        session INTEGER NOT NULL,
        name INTEGER NOT NULL,
        set_at INTEGER NOT NULL,
        expires_at INTEGER,
        body BLOB NOT NULL,
        PRIMARY KEY (user_no, session, name)) WITHOUT ROWID""",
    "CREATE INDEX slots_expiring ON slots (expires_at) WHERE expires_at IS NOT NULL",
    # index ---------------------------------------------------------------------------------------------
    """CREATE TABLE chunks (
        id INTEGER PRIMARY KEY,
        owner INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        at INTEGER NOT NULL,
        session INTEGER NOT NULL,
        agent INTEGER NOT NULL,
        task INTEGER NOT NULL,
        app INTEGER NOT NULL,
        role INTEGER NOT NULL,
        act INTEGER NOT NULL,
        importance INTEGER NOT NULL,
        heat INTEGER NOT NULL DEFAULT 0,
        "start" INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        length INTEGER NOT NULL,
        expires_at INTEGER,
        embedded INTEGER NOT NULL,
        terms BLOB NOT NULL)""",
    "CREATE INDEX chunks_by_owner ON chunks (owner)",
    "CREATE INDEX chunks_by_embedder ON chunks (embedded, id)",
    """CREATE TABLE vectors (
        id INTEGER PRIMARY KEY,
        embedder INTEGER NOT NULL,
        codec INTEGER NOT NULL DEFAULT 0,
        vector BLOB NOT NULL)""",
    """CREATE TABLE postings (
        key INTEGER NOT NULL,
        item INTEGER NOT NULL,
        tf INTEGER NOT NULL,
        PRIMARY KEY (key, item)) WITHOUT ROWID""",
    # facts ---------------------------------------------------------------------------------------------
    """CREATE TABLE facts (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        id_mac BLOB NOT NULL,
        slot INTEGER NOT NULL,
        subject INTEGER NOT NULL,
        relation INTEGER NOT NULL,
        object INTEGER NOT NULL,
        session INTEGER NOT NULL,
        agent INTEGER NOT NULL,
        task INTEGER NOT NULL,
        app INTEGER NOT NULL,
        kind INTEGER NOT NULL,
        modality INTEGER NOT NULL,
        asserted_by INTEGER NOT NULL,
        importance INTEGER NOT NULL,
        heat INTEGER NOT NULL DEFAULT 0,
        is_positive INTEGER NOT NULL,
        is_about_user INTEGER NOT NULL,
        confidence REAL NOT NULL,
        valid_from INTEGER NOT NULL,
        valid_to INTEGER,
        recorded_at INTEGER NOT NULL,
        retracted_at INTEGER,
        suppressed_at INTEGER,
        expires_at INTEGER,
        last_seen_at INTEGER NOT NULL,
        last_access_at INTEGER,
        support_count INTEGER NOT NULL,
        access_count INTEGER NOT NULL,
        superseded_by BLOB,
        doc_type INTEGER,
        body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX facts_by_id ON facts (user_no, id_mac)",
    "CREATE INDEX facts_by_slot ON facts (user_no, slot)",
    "CREATE INDEX facts_by_object ON facts (user_no, object)",
    "CREATE INDEX facts_superseded ON facts (user_no, superseded_by) WHERE superseded_by IS NOT NULL",
    "CREATE INDEX facts_expiring ON facts (expires_at) WHERE expires_at IS NOT NULL",
    """CREATE TABLE fact_versions (
        fact INTEGER NOT NULL,
        known_until INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (fact, known_until)) WITHOUT ROWID""",
    """CREATE TABLE evidence (
        fact INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        user_no INTEGER NOT NULL,
        message_mac BLOB NOT NULL,
        "start" INTEGER,
        "end" INTEGER,
        body BLOB NOT NULL,
        PRIMARY KEY (fact, ordinal)) WITHOUT ROWID""",
    "CREATE INDEX evidence_by_message ON evidence (user_no, message_mac)",
    """CREATE TABLE anchors (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        message_mac BLOB NOT NULL,
        session INTEGER NOT NULL,
        at INTEGER NOT NULL,
        kind TEXT NOT NULL,
        importance INTEGER NOT NULL,
        body BLOB NOT NULL)""",
    "CREATE INDEX anchors_by_message ON anchors (user_no, message_mac)",
    # what happened -------------------------------------------------------------------------------------
    """CREATE TABLE changes (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER NOT NULL,
        at INTEGER NOT NULL,
        op TEXT NOT NULL,
        fact INTEGER,
        previous INTEGER,
        body BLOB NOT NULL)""",
    "CREATE INDEX changes_by_user ON changes (user_no, id)",
    """CREATE TABLE jobs (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER,
        kind TEXT NOT NULL,
        status INTEGER NOT NULL DEFAULT 0,
        run_after INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        error TEXT,
        body BLOB NOT NULL)""",
    "CREATE INDEX jobs_by_time ON jobs (status, run_after)",
    "CREATE INDEX jobs_by_user ON jobs (user_no) WHERE user_no IS NOT NULL",
    """CREATE TABLE audit (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        user_no INTEGER,
        user_mac BLOB NOT NULL,
        at INTEGER NOT NULL,
        action TEXT NOT NULL,
        body BLOB NOT NULL)""",
    "CREATE INDEX audit_by_user ON audit (user_no, id) WHERE user_no IS NOT NULL",
)

VERSION_2: tuple[str, ...] = (
    # documents: application data of a user, apart from what is remembered and recalled -------------------
    """CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        namespace BLOB NOT NULL,
        key_mac BLOB NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        ttl INTEGER,
        expires_at INTEGER,
        path BLOB NOT NULL,
        body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX documents_by_key ON documents (user_no, namespace, key_mac)",
    "CREATE INDEX documents_by_namespace ON documents (user_no, namespace, id)",
    "CREATE INDEX documents_expiring ON documents (expires_at) WHERE expires_at IS NOT NULL",
    """CREATE TABLE document_units (
        id INTEGER PRIMARY KEY,
        document INTEGER NOT NULL,
        "start" INTEGER NOT NULL,
        "end" INTEGER NOT NULL,
        embedded INTEGER NOT NULL,
        codec INTEGER NOT NULL DEFAULT 0,
        vector BLOB)""",
    "CREATE INDEX document_units_by_document ON document_units (document)",
    "CREATE INDEX document_units_by_embedder ON document_units (embedded, id)",
)

VERSION_3: tuple[str, ...] = (
    # summaries of a user's turns, and which turns they rest on ------------------------------------------
    "ALTER TABLE messages ADD COLUMN retired_at INTEGER",
    "CREATE INDEX messages_retired ON messages (user_no, id) WHERE retired_at IS NOT NULL",
    "ALTER TABLE users ADD COLUMN consolidated_at INTEGER",
    """CREATE TABLE summaries (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        id_mac BLOB NOT NULL,
        level INTEGER NOT NULL,
        begins INTEGER NOT NULL,
        ends INTEGER NOT NULL,
        agent INTEGER NOT NULL,
        task INTEGER NOT NULL,
        app INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL,
        recallable_at INTEGER,
        expires_at INTEGER,
        body BLOB NOT NULL)""",
    "CREATE UNIQUE INDEX summaries_by_id ON summaries (user_no, id_mac)",
    "CREATE INDEX summaries_by_period ON summaries (user_no, level, begins)",
    "CREATE INDEX summaries_expiring ON summaries (expires_at) WHERE expires_at IS NOT NULL",
    """CREATE TABLE summary_sources (
        summary INTEGER NOT NULL,
        source INTEGER NOT NULL,
        PRIMARY KEY (summary, source)) WITHOUT ROWID""",
    "CREATE INDEX summary_sources_by_source ON summary_sources (source)",
)

VERSION_4: tuple[str, ...] = (
    # how often, and when last, a turn was recalled: facts have had it from the beginning ----------------
    "ALTER TABLE messages ADD COLUMN access_count INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE messages ADD COLUMN last_access_at INTEGER",
    # turns that were moved to files: which file holds them, and their places in their sessions -----------
    """CREATE TABLE cold_files (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        count INTEGER NOT NULL,
        first_at INTEGER NOT NULL,
        last_at INTEGER NOT NULL,
        body BLOB NOT NULL)""",
    """CREATE TABLE cold_turns (
        id INTEGER PRIMARY KEY,
        user_no INTEGER NOT NULL,
        file INTEGER NOT NULL,
        id_mac BLOB NOT NULL,
        session INTEGER NOT NULL,
        at INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        role INTEGER NOT NULL,
        caller_id INTEGER NOT NULL,
        content_mac BLOB NOT NULL)""",
    "CREATE INDEX cold_turns_by_id ON cold_turns (user_no, id_mac, session)",
    "CREATE INDEX cold_turns_by_session ON cold_turns (user_no, session, at, sequence)",
    "CREATE INDEX cold_turns_by_file ON cold_turns (file)",
)

VERSION_5: tuple[str, ...] = (
    # fingerprint of the present wrapping key; empty in a plain store
    "ALTER TABLE state ADD COLUMN encryption TEXT NOT NULL DEFAULT ''",
    # a second set of vectors while the embedder changes, and after that until the change is final
    "ALTER TABLE state ADD COLUMN second INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE state ADD COLUMN switched INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE state ADD COLUMN generation INTEGER NOT NULL DEFAULT 0",
    """CREATE TABLE second_vectors (
        id INTEGER PRIMARY KEY,
        embedder INTEGER NOT NULL,
        codec INTEGER NOT NULL DEFAULT 0,
        vector BLOB NOT NULL)""",
    # which users an external index covers, and in which collection
    """CREATE TABLE external_vectors (
        user_no INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        is_open INTEGER NOT NULL,
        generation INTEGER NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0)""",
    "ALTER TABLE document_units ADD COLUMN second_codec INTEGER NOT NULL DEFAULT 0",
    "ALTER TABLE document_units ADD COLUMN second_vector BLOB",
)

VERSION_6: tuple[str, ...] = (
    # The turns of a window are the newest of their session, where `messages_by_session` begins to read; what left
    # the window had to leave this index too, a third of the time of a sweep.
    "DROP INDEX IF EXISTS messages_window",
)

VERSIONS = (VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6)
"""Statements number i bring version i to i + 1."""
