"""Users, their sessions and tokens, log-in attempts, trusted devices, follows, notices and the audit log."""
