"""The foundation of the store: engine, transactions, errors, tables, pages of long lists and the schema's revision."""
