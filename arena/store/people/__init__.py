"""Users, their sessions and tokens, log-in attempts, trusted devices, notices and the audit log."""
