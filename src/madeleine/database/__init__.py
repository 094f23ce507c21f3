"""What vault and index share where they stand in PostgreSQL.

connection   connections to one database, and PostgreSQL's errors in our words
address      where a database is, without credentials
transactions  one tenant's rows: reading, and writing in one transaction
schema       the tables, as append-only scripts
tenants      whose rows are whose
adapters     how texts, arrays and vectors travel

One process has one pool of connections (`ConnectionPool`), however many tenants it answers for;
what belongs to a tenant (`DatabaseTenant`) is light. psycopg is an extra: nobody imports this room
who was not asked for a database.
"""
