"""What keeps an arena running: the coordinator's lease, daily tasks, answers to repeated requests, and backups."""
