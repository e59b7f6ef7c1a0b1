"""Operation of an arena: the coordinator's lease, daily tasks, responses to repeated requests, and backups."""
